/* SPDX-License-Identifier: Apache-2.0 */
/* The endomorphism of curves with a = 0: see endomorphism.h. */
#include "zk/curve/endomorphism.h"

#include "base/lock.h"

#include <string.h>

#include "zk/field/integer.h"

enum { LIMBS = FIELD_MAX_LIMBS, MIN_BITS = 128 };

/* ---- integers of LIMBS limbs ----------------------------------------------------------------- */

static void add(uint64_t *x, const uint64_t *y)
{
    uint64_t carry = 0;

    for (int i = 0; i < LIMBS; i++) {
        field_wide sum = (field_wide)x[i] + y[i] + carry;

        x[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
}

static void negate(uint64_t *x)
{
    static const uint64_t zero[LIMBS];

    (void)field_integer_sub(x, zero, x, LIMBS);
}

static void shift_left(uint64_t *shifted, const uint64_t *x, uint32_t bits)
{
    for (uint32_t i = LIMBS; i-- > 0;) {
        uint32_t from = i - bits / 64;
        uint64_t high = i >= bits / 64 ? x[from] : 0;
        uint64_t low = i > bits / 64 ? x[from - 1] : 0;

        shifted[i] = bits % 64 ? high << bits % 64 | low >> (64 - bits % 64) : high;
    }
}

static uint32_t bits_of(const uint64_t *x)
{
    return field_integer_bits(x, LIMBS);
}

/* ---- roots ----------------------------------------------------------------------------------- */

/* A primitive cube root of unity in Montgomery form; false where there is none. */
static bool find_cube_root(const pool_field *field, uint64_t *root)
{
    uint64_t exponent[FIELD_MAX_LIMBS] = {0}, one[FIELD_MAX_LIMBS] = {0};

    memcpy(exponent, field->modulus, field->limbs * sizeof(*exponent));
    (void)field_integer_sub_small(exponent, 1, field->limbs);
    if (field_integer_div_small(exponent, 3, field->limbs) != 0)
        return false;
    field_set_one(field, one);
    for (int64_t base = 2;; base++) { /* two of three elements are no cubes */
        field_set_integer(field, root, base);
        field_pow(field, root, root, exponent, field->limbs);
        if (!field_equal(field, root, one))
            return true;
    }
}

/* Whether lambda times the generator is (beta x, y). */
static bool is_eigenvalue(const pool_curve *curve, const uint64_t *beta, const uint64_t *lambda)
{
    const struct field_extension *coordinates = &curve->coordinates;
    const pool_field *order = curve->scalar_field;
    struct curve_affine image = curve->generator;
    struct curve_jacobian left, right;
    uint64_t scalar[FIELD_MAX_LIMBS] = {0};

    for (uint32_t i = 0; i < coordinates->degree; i++)
        field_mul(coordinates->field, image.x + i * coordinates->field->limbs,
            image.x + i * coordinates->field->limbs, beta);
    curve_jacobian_from_affine(curve, &left, &image);
    curve_jacobian_from_affine(curve, &right, &curve->generator);
    field_from_montgomery(order, scalar, lambda);
    curve_multiply(curve, &right, &right, scalar, order->limbs);
    return curve_jacobian_equal(curve, &left, &right);
}

/* ---- the lattice ----------------------------------------------------------------------------- */

/* A remainder of Euclid's algorithm for r and lambda: value = ... + |t| lambda with the sign of t
 * alternating. */
struct remainder {
    uint64_t value[LIMBS];
    uint64_t t[LIMBS]; /* absolute value */
};

/* The remainder after `last`, in `first`: first - q last. */
static void divide(struct remainder *first, const struct remainder *last)
{
    uint64_t shifted[LIMBS];

    while (field_integer_compare(first->value, last->value, LIMBS) >= 0) {
        uint32_t shift = bits_of(first->value) - bits_of(last->value);

        shift_left(shifted, last->value, shift);
        if (field_integer_compare(shifted, first->value, LIMBS) > 0)
            shift_left(shifted, last->value, --shift);
        (void)field_integer_sub(first->value, first->value, shifted, LIMBS);
        shift_left(shifted, last->t, shift);
        add(first->t, shifted);
    }
}

/* floor(x 2^shift / r) for x < r. */
static void set_reciprocal(
    const pool_field *order, const uint64_t *x, uint32_t shift, uint64_t *reciprocal)
{
    uint64_t rest[LIMBS + 1] = {0}, modulus[LIMBS + 1] = {0};

    memcpy(rest, x, LIMBS * sizeof(*x));
    memcpy(modulus, order->modulus, LIMBS * sizeof(*modulus));
    memset(reciprocal, 0, (LIMBS + 1) * sizeof(*reciprocal));
    for (uint32_t i = 0; i < shift; i++) {
        bool is_larger;

        (void)field_integer_mul_small(rest, 2, 0, LIMBS + 1);
        is_larger = field_integer_compare(rest, modulus, LIMBS + 1) >= 0;
        if (is_larger)
            (void)field_integer_sub(rest, rest, modulus, LIMBS + 1);
        (void)field_integer_mul_small(reciprocal, 2, is_larger, LIMBS + 1);
    }
}

/*
 * The bits of a sum of two numbers of at most half the given sizes: the quotients are off by at
 * most 1/2 and a rounding error, here 2^-20 of the sum.
 */
static uint32_t bits_of_half_sum(const uint64_t *x, const uint64_t *y)
{
    uint64_t half[LIMBS], error[LIMBS];

    memcpy(half, x, sizeof(half));
    add(half, y);
    memcpy(error, half, sizeof(error));
    field_integer_shift_right(half, 1, LIMBS);
    field_integer_shift_right(error, 20, LIMBS);
    add(half, error);
    (void)field_integer_add_small(half, 2, LIMBS);
    return bits_of(half);
}

/* Pairs of successive remainders are bases; takes the one with the shortest halves. */
static void find_lattice(const pool_field *order, struct curve_endomorphism *e)
{
    const uint32_t shift = 32 * (order->words + 1);
    struct remainder pair[2] = {0}, best[2] = {0};
    bool t_is_positive = true, best_t_is_positive = true; /* of pair[1] and best[1] */

    memcpy(pair[0].value, order->modulus, order->limbs * sizeof(uint64_t));
    field_from_montgomery(order, pair[1].value, e->lambda);
    pair[1].t[0] = 1;
    e->bits = UINT32_MAX;
    while (!field_integer_is_zero(pair[1].value, LIMBS)) {
        uint32_t a = bits_of_half_sum(pair[0].value, pair[1].value);
        uint32_t b = bits_of_half_sum(pair[0].t, pair[1].t);
        struct remainder next = pair[0];

        if ((a > b ? a : b) < e->bits) {
            e->bits = a > b ? a : b;
            memcpy(best, pair, sizeof(best));
            best_t_is_positive = t_is_positive;
        }
        divide(&next, &pair[1]);
        pair[0] = pair[1];
        pair[1] = next;
        t_is_positive = !t_is_positive;
    }
    /* value = t lambda modulo r, so that b = -t. */
    for (int i = 0; i < 2; i++) {
        memcpy(e->a[i], best[i].value, sizeof(e->a[i]));
        memcpy(e->b[i], best[i].t, sizeof(e->b[i]));
        if ((i == 1) == best_t_is_positive)
            negate(e->b[i]);
        set_reciprocal(order, best[1 - i].t, shift, e->reciprocal[i]);
    }
}

bool curve_endomorphism_find(const pool_curve *curve, struct curve_endomorphism *endomorphism)
{
    const pool_field *order = curve->scalar_field;

    memset(endomorphism, 0, sizeof(*endomorphism));
    if (curve->a_kind != CURVE_A_ZERO || order->bits < MIN_BITS ||
        !find_cube_root(curve->coordinates.field, endomorphism->beta) ||
        !find_cube_root(order, endomorphism->lambda))
        return false;
    if (!is_eigenvalue(curve, endomorphism->beta, endomorphism->lambda)) {
        field_sqr(order, endomorphism->lambda, endomorphism->lambda);
        if (!is_eigenvalue(curve, endomorphism->beta, endomorphism->lambda))
            return false;
    }
    find_lattice(order, endomorphism);
    return endomorphism->bits < order->bits;
}

enum { UNKNOWN, NONE, FOUND };

const struct curve_endomorphism *curve_endomorphism_of(const pool_curve *curve)
{
    static struct base_lock lock = BASE_LOCK_INIT;
    /* Only what is derived from a shared curve changes. */
    pool_curve *changed = (pool_curve *)(uintptr_t)curve;
    int state = atomic_load_explicit(&changed->endomorphism_state, memory_order_acquire);

    if (state == UNKNOWN) {
        base_lock(&lock);
        state = atomic_load_explicit(&changed->endomorphism_state, memory_order_relaxed);
        if (state == UNKNOWN) {
            state = curve_endomorphism_find(curve, &changed->endomorphism) ? FOUND : NONE;
            atomic_store_explicit(&changed->endomorphism_state, state, memory_order_release);
        }
        base_unlock(&lock);
    }
    return state == FOUND ? &curve->endomorphism : NULL;
}

/* ---- scalars --------------------------------------------------------------------------------- */

/* (k reciprocal + 2^(S - 1)) / 2^S */
static void round_quotient(
    const pool_field *order, const uint64_t *k, const uint64_t *reciprocal, uint64_t *quotient)
{
    const uint32_t shift = 32 * (order->words + 1);
    uint64_t product[2 * LIMBS + 1], half[2 * LIMBS + 1] = {0}, carry = 0;

    field_integer_mul(product, k, LIMBS, reciprocal, LIMBS + 1);
    half[(shift - 1) / 64] = UINT64_C(1) << (shift - 1) % 64;
    for (int i = 0; i < 2 * LIMBS + 1; i++) {
        field_wide sum = (field_wide)product[i] + half[i] + carry;

        product[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    field_integer_shift_right(product, shift, 2 * LIMBS + 1);
    memcpy(quotient, product, LIMBS * sizeof(*quotient));
}

static void subtract_product(uint64_t *x, const uint64_t *y, const uint64_t *z)
{
    uint64_t product[2 * LIMBS];

    field_integer_mul(product, y, LIMBS, z, LIMBS);
    (void)field_integer_sub(x, x, product, LIMBS);
}

void curve_endomorphism_split(const pool_curve *curve,
    const struct curve_endomorphism *endomorphism, const uint64_t *scalar,
    struct curve_halves *halves)
{
    const pool_field *order = curve->scalar_field;
    uint64_t k[LIMBS] = {0}, quotient[LIMBS];

    memcpy(k, scalar, order->limbs * sizeof(*k));
    memset(halves, 0, sizeof(*halves));
    memcpy(halves->value[0], k, sizeof(k));
    for (int i = 0; i < 2; i++) {
        round_quotient(order, k, endomorphism->reciprocal[i], quotient);
        subtract_product(halves->value[0], quotient, endomorphism->a[i]);
        subtract_product(halves->value[1], quotient, endomorphism->b[i]);
    }
    for (int i = 0; i < 2; i++) {
        halves->is_negative[i] = halves->value[i][LIMBS - 1] >> 63;
        if (halves->is_negative[i])
            negate(halves->value[i]);
    }
}
