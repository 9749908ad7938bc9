/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reproducible points of known discrete logarithm. Point i is A[i mod TABLE] + B[i / TABLE], where
 * A and B are random multiples of the generator: one affine addition per point, with batched
 * inversions, instead of one scalar multiplication.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/curve/curve.h"

enum {
    TABLE = 1024, /* 2^20 points take 2048 scalar multiplications. Determines the results, so it
                     must not change. */
    CHUNK = 32,
};

/*
 * The scalars of the tables are the seed's elements at indices that no array reaches, so that they
 * are independent of pool_random_scalars with the same seed.
 */
static const uint64_t index_a = (uint64_t)1 << 62;
static const uint64_t index_b = (uint64_t)1 << 63;

static void table_entry(const pool_curve *curve, uint64_t seed, uint64_t index,
    struct curve_jacobian *p, uint64_t *scalar)
{
    struct curve_jacobian generator;

    field_random(curve->scalar_field, seed, index, scalar);
    curve_jacobian_from_affine(curve, &generator, &curve->generator);
    curve_multiply(curve, p, &generator, scalar, curve->scalar_field->limbs);
}

struct table {
    struct curve_affine *points;
    uint64_t *scalars; /* standard form, limbs of the scalar field each */
    struct curve_affine high;
    uint64_t high_scalar[FIELD_MAX_LIMBS];
};

static void fill_table(const pool_curve *curve, struct table *table, uint64_t seed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct curve_jacobian p;

        table_entry(curve, seed, index_a + i, &p, table->scalars + i * curve->scalar_field->limbs);
        curve_jacobian_to_affine(curve, &table->points[i], &p);
    }
}

/* sums[i] = low[i] + high, with a common inversion for all slopes; equal x and infinity are handled
 * by the general addition. */
static void add_chunk(const pool_curve *curve, struct curve_affine *sums,
    const struct curve_affine *low, const struct curve_affine *high, size_t count)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t inverses[CHUNK * CURVE_MAX_LIMBS];
    uint64_t scratch[CHUNK * CURVE_MAX_LIMBS];
    uint64_t slope[CURVE_MAX_LIMBS];
    uint64_t x[CURVE_MAX_LIMBS];

    for (size_t i = 0; i < count; i++)
        field_extension_sub(f, inverses + i * f->limbs, low[i].x, high->x);
    field_extension_batch_inverse(f, inverses, count, scratch);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *inverse = inverses + i * f->limbs;
        struct curve_jacobian p;

        if (low[i].infinity || high->infinity || field_extension_is_zero(f, inverse)) {
            curve_jacobian_from_affine(curve, &p, high);
            curve_jacobian_add_affine(curve, &p, &p, &low[i]);
            curve_jacobian_to_affine(curve, &sums[i], &p);
            continue;
        }
        field_extension_sub(f, slope, low[i].y, high->y);
        field_extension_mul(f, slope, slope, inverse);
        field_extension_sqr(f, x, slope);
        field_extension_sub(f, x, x, low[i].x);
        field_extension_sub(f, sums[i].x, x, high->x);
        field_extension_sub(f, x, high->x, sums[i].x);
        field_extension_mul(f, x, x, slope);
        field_extension_sub(f, sums[i].y, x, high->y);
        sums[i].infinity = false;
    }
}

static void store_point(const pool_curve *curve, void *memory, const pool_point_format *format,
    const struct curve_affine *p)
{
    struct curve_jacobian q;

    if (format->layout == POOL_POINT_AFFINE || format->layout == POOL_POINT_AFFINE_FLAG) {
        curve_store_affine(curve, format, memory, p);
        return;
    }
    curve_jacobian_from_affine(curve, &q, p);
    curve_store(curve, format, memory, &q);
}

static void make_points(const pool_curve *curve, struct table *table, uint64_t seed, size_t count,
    uint8_t *points, const pool_point_format *format, uint8_t *scalars)
{
    const pool_field *scalar_field = curve->scalar_field;
    size_t stride = curve_point_stride(curve, format);

    for (size_t i = 0; i < count; i += CHUNK) {
        size_t chunk = count - i < CHUNK ? count - i : CHUNK;
        size_t low = i % TABLE;
        struct curve_affine sums[CHUNK];

        if (low == 0) {
            struct curve_jacobian p;

            table_entry(curve, seed, index_b + i / TABLE, &p, table->high_scalar);
            curve_jacobian_to_affine(curve, &table->high, &p);
        }
        add_chunk(curve, sums, table->points + low, &table->high, chunk);
        for (size_t j = 0; j < chunk; j++) {
            uint64_t scalar[FIELD_MAX_LIMBS];

            store_point(curve, points + (i + j) * stride, format, &sums[j]);
            if (!scalars)
                continue;
            field_add(scalar_field, scalar, table->scalars + (low + j) * scalar_field->limbs,
                table->high_scalar);
            field_store(scalar_field, scalars + (i + j) * scalar_field->bytes, scalar);
        }
    }
}

pool_status pool_random_points(const pool_curve *curve, uint64_t seed, size_t count,
    const pool_point_format *format, void *points, void *scalars)
{
    struct table table = {0};
    size_t entries = base_min(count, TABLE);
    pool_point_format given;
    pool_status status;

    if (!curve)
        return base_fail_null("pool_random_points", "curve");
    status = curve_read_format("pool_random_points", curve, format, &given);
    if (!status)
        status = curve_validate_array("pool_random_points", curve, &given, points, count);
    if (!status && scalars)
        status = base_check_array("pool_random_points", "scalars", count,
            curve->scalar_field->bytes, curve->scalar_field->bytes);
    if (status || !count)
        return status;
    table.points = base_calloc(entries, sizeof(*table.points));
    table.scalars = base_calloc(entries, curve->scalar_field->limbs * sizeof(*table.scalars));
    if (!table.points || !table.scalars) {
        status = base_fail_memory("random points");
        goto free_table;
    }
    fill_table(curve, &table, seed, entries);
    make_points(curve, &table, seed, count, points, &given, scalars);

free_table:
    base_free(table.scalars);
    base_free(table.points);
    return status;
}
