/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Primality of a modulus: trial division, then Baillie-PSW (a strong test to base 2 and a strong
 * Lucas test with Selfridge's parameters, which no known composite passes), then strong tests to
 * bases derived from the SHA-256 of the modulus, so that no composite can be constructed against a
 * fixed list of bases.
 *
 * R. Baillie, S. S. Wagstaff, Lucas pseudoprimes, Math. Comp. 35 (1980).
 */
#include <string.h>

#include "base/sha256.h"
#include "base/status.h"
#include "zk/field/field.h"
#include "zk/field/integer.h"

enum {
    TRIAL_LIMIT = 2048, /* decides every modulus below 2^22 */
    DRAWN_BASES = 32,   /* a composite passes one with probability below 1/4: 2^-64 for all */
};

/* Both positive, modulus odd. */
static int jacobi(uint64_t value, uint64_t modulus)
{
    int sign = 1;

    value %= modulus;
    while (value) {
        uint64_t next;

        while (!(value & 1)) {
            value >>= 1;
            if ((modulus & 7) == 3 || (modulus & 7) == 5)
                sign = -sign;
        }
        if ((value & 3) == 3 && (modulus & 3) == 3)
            sign = -sign;
        next = modulus % value;
        modulus = value;
        value = next;
    }
    return modulus == 1 ? sign : 0;
}

int field_jacobi_small(const pool_field *field, int64_t value)
{
    uint64_t low = field->modulus[0];
    uint64_t odd = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int sign = 1;

    if (odd == 0)
        return 0;
    if (value < 0 && (low & 3) == 3)
        sign = -sign;
    while (!(odd & 1)) {
        odd >>= 1;
        if ((low & 7) == 3 || (low & 7) == 5)
            sign = -sign;
    }
    if ((odd & 3) == 3 && (low & 3) == 3)
        sign = -sign;
    return sign * jacobi(field_integer_mod_small(field->modulus, odd, field->limbs), odd);
}

bool field_passes_strong(const pool_field *field, const uint64_t *base)
{
    uint64_t exponent[FIELD_MAX_LIMBS];
    uint64_t power[FIELD_MAX_LIMBS];
    uint64_t minus_one[FIELD_MAX_LIMBS];
    uint32_t twos;

    memcpy(exponent, field->modulus, sizeof(exponent));
    exponent[0] -= 1;
    twos = field_integer_trailing_zeros(exponent, field->limbs);
    field_integer_shift_right(exponent, twos, field->limbs);
    field_neg(field, minus_one, field->one);
    field_pow(field, power, base, exponent, field->limbs);
    if (field_equal(field, power, field->one))
        return true;
    for (uint32_t i = 0; i < twos; i++) {
        if (field_equal(field, power, minus_one))
            return true;
        field_sqr(field, power, power);
    }
    return false;
}

/* U and V of the Lucas sequence with P = 1, and Q^k, at index k. */
struct lucas {
    uint64_t u[FIELD_MAX_LIMBS];
    uint64_t v[FIELD_MAX_LIMBS];
    uint64_t q_power[FIELD_MAX_LIMBS];
};

/* k -> 2k: U = U V, V = V^2 - 2 Q^k. */
static void lucas_double(const pool_field *field, struct lucas *state)
{
    field_mul(field, state->u, state->u, state->v);
    field_sqr(field, state->v, state->v);
    field_sub(field, state->v, state->v, state->q_power);
    field_sub(field, state->v, state->v, state->q_power);
    field_sqr(field, state->q_power, state->q_power);
}

/* k -> k + 1: U = (U + V) / 2, V = (D U + V) / 2 of the old U. */
static void lucas_step(
    const pool_field *field, struct lucas *state, const uint64_t *d, const uint64_t *q)
{
    uint64_t scaled[FIELD_MAX_LIMBS];

    field_mul(field, scaled, d, state->u);
    field_add(field, state->u, state->u, state->v);
    field_halve(field, state->u, state->u);
    field_add(field, state->v, scaled, state->v);
    field_halve(field, state->v, state->v);
    field_mul(field, state->q_power, state->q_power, q);
}

/* D is the first of 5, -7, 9, -11, … with Jacobi symbol -1. */
bool field_passes_lucas(const pool_field *field)
{
    uint64_t index[FIELD_MAX_LIMBS + 1] = {0};
    uint64_t d[FIELD_MAX_LIMBS];
    uint64_t q[FIELD_MAX_LIMBS];
    struct lucas state;
    int64_t small_d = 5;
    uint32_t twos;

    while (field_jacobi_small(field, small_d) != -1)
        small_d = small_d > 0 ? -small_d - 2 : -small_d + 2;
    field_set_integer(field, d, small_d);
    field_set_integer(field, q, (1 - small_d) / 4);
    memcpy(index, field->modulus, field->limbs * sizeof(*index));
    field_integer_add_small(index, 1, field->limbs + 1);
    twos = field_integer_trailing_zeros(index, field->limbs + 1);
    field_integer_shift_right(index, twos, field->limbs + 1);

    field_set_one(field, state.u);
    field_set_one(field, state.v);
    field_copy(field, state.q_power, q);
    for (uint32_t bit = field_integer_bits(index, field->limbs + 1) - 1; bit-- > 0;) {
        lucas_double(field, &state);
        if (field_integer_bit(index, bit))
            lucas_step(field, &state, d, q);
    }
    if (field_is_zero(field, state.u))
        return true;
    for (uint32_t i = 0; i < twos; i++) {
        if (field_is_zero(field, state.v))
            return true;
        lucas_double(field, &state);
    }
    return false;
}

static pool_status passes_drawn_bases(const pool_field *field, bool *passes)
{
    struct {
        uint64_t modulus[FIELD_MAX_LIMBS];
        uint64_t round;
        uint64_t part;
    } seed = {{0}, 0, 0};
    uint64_t base[FIELD_MAX_LIMBS + 4];

    memcpy(seed.modulus, field->modulus, sizeof(seed.modulus));
    for (seed.round = 0; seed.round < DRAWN_BASES; seed.round++) {
        for (seed.part = 0; seed.part * 4 < field->limbs; seed.part++) {
            uint8_t digest[BASE_SHA256_BYTES];
            pool_status status = base_sha256_of(&seed, sizeof(seed), digest);

            if (status)
                return status;
            memcpy(base + seed.part * 4, digest, sizeof(digest));
        }
        /* Below 2^(bits - 1), so below the modulus. The bases are uniform, hence also as Montgomery
         * forms. */
        for (uint32_t bit = field->bits - 1; bit < 64 * field->limbs; bit++)
            base[bit / 64] &= ~((uint64_t)1 << (bit % 64));
        if (field_is_zero(field, base) || field_equal(field, base, field->one))
            continue;
        if (!field_passes_strong(field, base)) {
            *passes = false;
            return POOL_OK;
        }
    }
    *passes = true;
    return POOL_OK;
}

pool_status field_is_prime(const pool_field *field, bool *prime)
{
    uint64_t two[FIELD_MAX_LIMBS];

    for (uint64_t divisor = 3; divisor < TRIAL_LIMIT; divisor += 2) {
        if (field_integer_mod_small(field->modulus, divisor, field->limbs) == 0) {
            *prime = field->bits <= 11 && field->modulus[0] == divisor;
            return POOL_OK;
        }
    }
    if (field->bits <= 22) {
        *prime = true;
        return POOL_OK;
    }
    field_double(field, two, field->one);
    if (!field_passes_strong(field, two) || field_integer_is_square(field->modulus, field->limbs) ||
        !field_passes_lucas(field)) {
        *prime = false;
        return POOL_OK;
    }
    return passes_drawn_bases(field, prime);
}
