/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that the groups of a KZG setup are what they are called, without a pairing. With G the
 * generator and w the root of unity of order n, a setup of n points has M_k = tau^k G (monomial)
 * and L_i with M_k = sum w^(ik) L_i (Lagrange), so that
 *
 *   M_0 = G, sum L_i = G and, for each polynomial f of n coefficients, sum f(w^i) L_i = sum f_k
 * M_k.
 *
 * The last equation, for a random f with coefficients of 128 bits, fails with a probability of
 * 1 - 2^-128 if it is false for any k and the points are in the subgroup. That all M_k are powers
 * of one tau, and the points of G2 behind the first, remain unchecked.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/curve/curve.h"
#include "zk/formats/formats.h"

enum {
    COEFFICIENT_LIMBS = 2, /* of f */
    /* 2^8 buckets are few beside 4096 points, the setup that is used. */
    WINDOW_BITS = 8,
    BUCKETS = (1 << WINDOW_BITS) - 1,
    WINDOWS_PER_LIMB = 64 / WINDOW_BITS,
};

static const char *const names[FORMATS_GROUPS] = {
    "the Lagrange points", "the monomial points of G1", "the monomial points of G2"};

static void load_point(const struct formats_setup *setup, enum formats_group group, uint64_t index,
    struct curve_jacobian *point)
{
    static const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_MONTGOMERY, 0};
    const pool_curve *curve = formats_setup_curve(group);

    /* Cannot fail: the points were decoded. */
    (void)curve_load(curve, point, &format,
        setup->points[group] + index * pool_point_bytes(curve, POOL_POINT_AFFINE));
}

/* Of a point that is not infinity. */
static void load_affine(const struct formats_setup *setup, enum formats_group group, uint64_t index,
    struct curve_affine *point)
{
    const pool_curve *curve = formats_setup_curve(group);
    const uint32_t limbs = curve->coordinates.limbs;
    const uint8_t *memory =
        setup->points[group] + index * pool_point_bytes(curve, POOL_POINT_AFFINE);

    memset(point, 0, sizeof(*point));
    memcpy(point->x, memory, limbs * sizeof(uint64_t));
    memcpy(point->y, memory + limbs * sizeof(uint64_t), limbs * sizeof(uint64_t));
}

static bool is_generator(
    const struct formats_setup *setup, enum formats_group group, uint64_t index)
{
    const pool_curve *curve = formats_setup_curve(group);
    struct curve_jacobian point, generator;

    load_point(setup, group, index, &point);
    curve_jacobian_from_affine(curve, &generator, &curve->generator);
    return curve_jacobian_equal(curve, &point, &generator);
}

/* Whether the points add up to the generator, as those in Lagrange form do. */
static bool is_partition(const struct formats_setup *setup, enum formats_group group)
{
    const pool_curve *curve = formats_setup_curve(group);
    struct curve_jacobian sum, generator;
    struct curve_affine point;

    curve_jacobian_set_infinity(curve, &sum);
    for (uint64_t i = 0; i < setup->count[group]; i++) {
        load_affine(setup, group, i, &point);
        curve_jacobian_add_affine(curve, &sum, &sum, &point);
    }
    curve_jacobian_from_affine(curve, &generator, &curve->generator);
    return curve_jacobian_equal(curve, &sum, &generator);
}

static pool_status check_counts(const pool_file *file, const struct formats_setup *setup)
{
    const uint64_t *count = setup->count;

    for (size_t group = FORMATS_LAGRANGE; group <= FORMATS_MONOMIAL; group++) {
        if (count[group] && !base_is_power_of_two(count[group]))
            return base_fail(POOL_ERR_BAD_DATA,
                "%s: %" PRIu64 " is not a power of two: %s of a KZG setup are 2^k", file->path,
                count[group], names[group]);
    }
    if (count[FORMATS_LAGRANGE] && count[FORMATS_MONOMIAL] &&
        count[FORMATS_LAGRANGE] != count[FORMATS_MONOMIAL])
        return base_fail(POOL_ERR_BAD_DATA,
            "%s: %" PRIu64 " Lagrange points and %" PRIu64
            " monomial points of G1 are not one setup",
            file->path, count[FORMATS_LAGRANGE], count[FORMATS_MONOMIAL]);
    return POOL_OK;
}

static pool_status check_infinity(const pool_file *file, const struct formats_setup *setup)
{
    for (size_t group = 0; group < FORMATS_GROUPS; group++) {
        for (uint64_t i = 0; i < setup->count[group]; i++) {
            struct curve_jacobian point;

            load_point(setup, (enum formats_group)group, i, &point);
            if (curve_jacobian_is_infinity(formats_setup_curve((enum formats_group)group), &point))
                return base_fail(POOL_ERR_BAD_DATA,
                    "%s: point %" PRIu64 " of %s is infinity, which no KZG setup has", file->path,
                    i, names[group]);
        }
    }
    return POOL_OK;
}

/* The first monomial points are generators, and the Lagrange points add up to one. */
static pool_status check_generators(const pool_file *file, const struct formats_setup *setup)
{
    const uint64_t *count = setup->count;
    const bool has_monomial = count[FORMATS_MONOMIAL] > 0;

    if (count[FORMATS_LAGRANGE] && !is_partition(setup, FORMATS_LAGRANGE)) {
        if (!is_generator(setup, FORMATS_LAGRANGE, 0))
            return base_fail(POOL_ERR_BAD_DATA,
                "%s: %s do not add up to the generator: one is damaged, or they are something else",
                file->path, names[FORMATS_LAGRANGE]);
        return base_fail(POOL_ERR_BAD_DATA, "%s: %s: %s", file->path,
            has_monomial && is_partition(setup, FORMATS_MONOMIAL)
                ? "its groups of G1 are exchanged"
                : "its Lagrange points are monomial",
            "the first one is the generator, and they do not add up to it");
    }
    for (size_t group = FORMATS_MONOMIAL; group < FORMATS_GROUPS; group++) {
        if (count[group] && !is_generator(setup, (enum formats_group)group, 0))
            return base_fail(POOL_ERR_BAD_DATA, "%s: the first of %s is not the generator: %s",
                file->path, names[group], "it is damaged, or they are something else");
    }
    return POOL_OK;
}

/* Adds the window sum of window `window`, the 8-bit digits of the scalars times the points. */
static void add_window(const struct formats_setup *setup, enum formats_group group,
    const uint64_t *scalars, size_t limbs, uint32_t window, struct curve_jacobian *sum)
{
    const pool_curve *curve = formats_setup_curve(group);
    const uint32_t shift = window % WINDOWS_PER_LIMB * WINDOW_BITS;
    struct curve_jacobian buckets[BUCKETS], running;
    struct curve_affine point;

    for (size_t i = 0; i < BUCKETS; i++)
        curve_jacobian_set_infinity(curve, &buckets[i]);
    for (uint64_t i = 0; i < setup->count[group]; i++) {
        uint64_t digit = scalars[i * limbs + window / WINDOWS_PER_LIMB] >> shift & BUCKETS;

        if (!digit)
            continue;
        load_affine(setup, group, i, &point);
        curve_jacobian_add_affine(curve, &buckets[digit - 1], &buckets[digit - 1], &point);
    }
    curve_jacobian_set_infinity(curve, &running);
    for (size_t i = BUCKETS; i-- > 0;) {
        curve_jacobian_add(curve, &running, &running, &buckets[i]);
        curve_jacobian_add(curve, sum, sum, &running);
    }
}

/* The MSM of a group with integers of `limbs` limbs, by buckets. */
static void multiply_group(const struct formats_setup *setup, enum formats_group group,
    const uint64_t *scalars, size_t limbs, struct curve_jacobian *sum)
{
    const pool_curve *curve = formats_setup_curve(group);

    curve_jacobian_set_infinity(curve, sum);
    for (uint32_t window = (uint32_t)limbs * WINDOWS_PER_LIMB; window-- > 0;) {
        for (int i = 0; i < WINDOW_BITS; i++)
            curve_jacobian_double(curve, sum, sum);
        add_window(setup, group, scalars, limbs, window, sum);
    }
}

static uint64_t reverse_bits(uint64_t index, uint32_t bits)
{
    uint64_t reversed = 0;

    for (uint32_t i = 0; i < bits; i++)
        reversed |= (index >> i & 1) << (bits - 1 - i);
    return reversed;
}

/* Replaces coefficients, in Montgomery form, by the values at the powers of w, in place. */
static void transform(const pool_field *field, uint64_t *values, uint32_t log_size)
{
    const size_t n = (size_t)1 << log_size, limbs = field->limbs;
    uint64_t root[FIELD_MAX_LIMBS], twiddle[FIELD_MAX_LIMBS], product[FIELD_MAX_LIMBS];

    for (size_t i = 0; i < n; i++) {
        size_t j = (size_t)reverse_bits(i, log_size);

        for (size_t k = 0; k < limbs && i < j; k++) {
            uint64_t kept = values[i * limbs + k];

            values[i * limbs + k] = values[j * limbs + k];
            values[j * limbs + k] = kept;
        }
    }
    for (uint32_t stage = 1; stage <= log_size; stage++) {
        const size_t half = (size_t)1 << (stage - 1);

        field_root_of_unity(field, root, stage);
        field_set_one(field, twiddle);
        for (size_t j = 0; j < half; j++) {
            for (size_t i = j; i < n; i += 2 * half) {
                uint64_t *even = values + i * limbs, *odd = values + (i + half) * limbs;

                field_mul(field, product, odd, twiddle);
                field_sub(field, odd, even, product);
                field_add(field, even, even, product);
            }
            field_mul(field, twiddle, twiddle, root);
        }
    }
}

static pool_status draw_coefficients(uint64_t *coefficients, uint64_t count)
{
    uint8_t *bytes = (uint8_t *)coefficients;
    size_t left = (size_t)count * COEFFICIENT_LIMBS * sizeof(uint64_t);

    while (left) {
        ssize_t drawn = getrandom(bytes, left, 0);

        if (drawn < 0 && errno == EINTR)
            continue;
        if (drawn < 0)
            return base_fail(POOL_ERR_IO, "getrandom: %s", strerror(errno));
        bytes += drawn;
        left -= (size_t)drawn;
    }
    return POOL_OK;
}

/* Compares both sides of the equation for f; `values` has room for a scalar per point. */
static bool groups_agree(
    const struct formats_setup *setup, const uint64_t *coefficients, uint64_t *values)
{
    const pool_curve *curve = formats_setup_curve(FORMATS_LAGRANGE);
    const pool_field *field = curve->scalar_field;
    const uint64_t n = setup->count[FORMATS_LAGRANGE];
    struct curve_jacobian left, right;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t *value = values + i * field->limbs;

        field_set_zero(field, value);
        memcpy(value, coefficients + i * COEFFICIENT_LIMBS, COEFFICIENT_LIMBS * sizeof(uint64_t));
        field_to_montgomery(field, value, value);
    }
    transform(field, values, base_log2_ceil(n));
    for (uint64_t i = 0; i < n; i++)
        field_from_montgomery(field, values + i * field->limbs, values + i * field->limbs);
    multiply_group(setup, FORMATS_LAGRANGE, values, field->limbs, &left);
    multiply_group(setup, FORMATS_MONOMIAL, coefficients, COEFFICIENT_LIMBS, &right);
    return curve_jacobian_equal(curve, &left, &right);
}

static pool_status check_agreement(const pool_file *file, const struct formats_setup *setup)
{
    const uint64_t n = setup->count[FORMATS_LAGRANGE];
    const size_t limbs = formats_setup_curve(FORMATS_LAGRANGE)->scalar_field->limbs;
    uint64_t *scalars = base_calloc((size_t)n, (COEFFICIENT_LIMBS + limbs) * sizeof(uint64_t));
    pool_status status =
        scalars ? draw_coefficients(scalars, n) : base_fail_memory("the check of a KZG setup");

    if (!status && !groups_agree(setup, scalars, scalars + n * COEFFICIENT_LIMBS))
        status = base_fail(POOL_ERR_BAD_DATA,
            "%s: its Lagrange points and its monomial points of G1 are not of the same "
            "polynomials: %s",
            file->path,
            "a point is damaged or misplaced, or one of the groups is in another order");
    base_free(scalars);
    return status;
}

pool_status formats_setup_check(const pool_file *file, const struct formats_setup *setup)
{
    pool_status status = check_counts(file, setup);

    if (!status)
        status = check_infinity(file, setup);
    if (!status)
        status = check_generators(file, setup);
    if (!status && setup->count[FORMATS_LAGRANGE] && setup->count[FORMATS_MONOMIAL])
        status = check_agreement(file, setup);
    return status;
}
