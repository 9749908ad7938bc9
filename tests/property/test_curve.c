/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group laws on every built-in curve and some custom ones, in all coordinate systems; conversion to
 * all layouts and back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "support/curve.h"
#include "support/plain_products.h"

enum { ROUNDS = 6 };

static void random_point(
    const pool_curve *curve, uint64_t seed, struct curve_jacobian *p, uint64_t *scalar)
{
    struct curve_jacobian generator;

    field_random(curve->scalar_field, seed, 0, scalar);
    curve_jacobian_from_affine(curve, &generator, &curve->generator);
    curve_multiply(curve, p, &generator, scalar, curve->scalar_field->limbs);
    rescale_jacobian(curve, p, seed + 1000);
}

/* Every way to add p and q gives `expected`. */
static void assert_sum(const pool_curve *curve, const struct curve_jacobian *p,
    const struct curve_jacobian *q, const struct curve_jacobian *expected)
{
    struct curve_affine q_affine;
    struct curve_jacobian sum;

    curve_jacobian_to_affine(curve, &q_affine, q);
    curve_jacobian_add(curve, &sum, p, q);
    assert_true(curve_jacobian_equal(curve, &sum, expected));
    assert_true(curve_jacobian_is_on_curve(curve, &sum));
    sum = *q;
    curve_jacobian_add(curve, &sum, p, &sum);
    assert_true(curve_jacobian_equal(curve, &sum, expected));
    sum = *p;
    curve_jacobian_add_affine(curve, &sum, &sum, &q_affine);
    assert_true(curve_jacobian_equal(curve, &sum, expected));
}

static void test_group_laws(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_curve_count(); i++) {
        pool_curve *curve = tested_curve(i);

        for (uint64_t round = 0; round < ROUNDS; round++) {
            struct curve_jacobian p, q, pq, generator, infinity, negative;
            uint64_t a[FIELD_MAX_LIMBS], b[FIELD_MAX_LIMBS], c[FIELD_MAX_LIMBS];

            random_point(curve, 2 * round + 1, &p, a);
            random_point(curve, 2 * round + 2, &q, b);
            curve_jacobian_from_affine(curve, &generator, &curve->generator);
            curve_jacobian_set_infinity(curve, &infinity);
            curve_jacobian_neg(curve, &negative, &p);
            /* a G + b G = (a + b) G */
            field_add(curve->scalar_field, c, a, b);
            curve_multiply(curve, &pq, &generator, c, curve->scalar_field->limbs);
            assert_sum(curve, &p, &q, &pq);
            assert_sum(curve, &q, &p, &pq);
            /* equal, opposite, infinite */
            field_double(curve->scalar_field, c, a);
            curve_multiply(curve, &pq, &generator, c, curve->scalar_field->limbs);
            assert_sum(curve, &p, &p, &pq);
            assert_sum(curve, &p, &negative, &infinity);
            assert_sum(curve, &p, &infinity, &p);
            assert_sum(curve, &infinity, &p, &p);
            assert_sum(curve, &infinity, &infinity, &infinity);
            assert_true(curve_is_in_subgroup(curve, &p));
        }
        pool_curve_destroy(&curve);
    }
}

static void test_doubling(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_curve_count(); i++) {
        pool_curve *curve = tested_curve(i);
        struct curve_jacobian p, twice, sum, from_xyzz;
        struct curve_affine affine;
        struct curve_xyzz x;
        uint64_t a[FIELD_MAX_LIMBS];

        random_point(curve, 77, &p, a);
        for (int k = 0; k < 20; k++) {
            curve_jacobian_double(curve, &twice, &p);
            curve_jacobian_to_affine(curve, &affine, &p);
            curve_jacobian_add_affine(curve, &sum, &p, &affine);
            assert_true(curve_jacobian_equal(curve, &twice, &sum));
            curve_xyzz_from_jacobian(curve, &x, &twice);
            curve_xyzz_to_jacobian(curve, &from_xyzz, &x);
            assert_true(curve_jacobian_equal(curve, &twice, &from_xyzz));
            assert_true(curve_jacobian_is_on_curve(curve, &twice));
            p = twice;
        }
        curve_jacobian_set_infinity(curve, &p);
        curve_jacobian_double(curve, &p, &p);
        assert_true(curve_jacobian_is_infinity(curve, &p));
        curve_xyzz_from_jacobian(curve, &x, &p);
        curve_xyzz_to_jacobian(curve, &from_xyzz, &x);
        assert_true(curve_jacobian_is_infinity(curve, &from_xyzz));
        pool_curve_destroy(&curve);
    }
}

/* A point of the curve by its first x with a y; times the cofactor it must be in the subgroup. */
static void test_cofactors(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_curve_count(); i++) {
        pool_curve *curve = tested_curve(i);
        const struct field_extension *f = &curve->coordinates;
        int outside = 0;
        uint64_t cofactor[CURVE_MAX_LIMBS] = {0};

        assert_int_equal(
            pool_curve_cofactor(curve, sizeof(cofactor), (uint8_t *)cofactor), POOL_OK);
        for (uint64_t k = 0, found = 0; found < 4; k++) {
            struct curve_affine p = {.infinity = false};
            struct curve_jacobian q;
            uint64_t square[CURVE_MAX_LIMBS];

            for (uint32_t part = 0; part < f->degree; part++)
                field_random(f->field, 5 + part, k, p.x + part * f->field->limbs);
            curve_y_squared(curve, square, p.x);
            if (!field_extension_sqrt(f, p.y, square))
                continue;
            found++;
            assert_true(curve_affine_is_on_curve(curve, &p));
            curve_jacobian_from_affine(curve, &q, &p);
            outside += !curve_is_in_subgroup(curve, &q);
            curve_multiply(curve, &q, &q, cofactor, CURVE_MAX_LIMBS);
            assert_true(curve_is_in_subgroup(curve, &q));
            field_add(f->field, p.x, p.x, f->field->one);
            field_extension_add(f, p.y, p.y, p.x);
            assert_false(curve_affine_is_on_curve(curve, &p));
        }
        /* with a large cofactor a random point is outside, with cofactor 1 never */
        assert_int_equal(outside, cofactor[0] == 1 && !cofactor[1] ? 0 : 4);
        pool_curve_destroy(&curve);
    }
}

static void test_layouts(void **state)
{
    enum { COUNT = 70, WIDEST = 4 * 192 + 24 };
    static uint8_t affine[COUNT * 384], memory[COUNT * WIDEST], back[COUNT * 384];

    (void)state;
    for (size_t i = 0; i < tested_curve_count(); i++) {
        pool_curve *curve = tested_curve(i);
        size_t size = pool_point_bytes(curve, POOL_POINT_AFFINE);
        const pool_point_format plain = {POOL_POINT_AFFINE, POOL_FORM_STANDARD, 0};

        assert_int_equal(pool_random_points(curve, 4, COUNT, NULL, affine, NULL), POOL_OK);
        memset(affine + 3 * size, 0, size);
        memset(affine + 69 * size, 0, size);
        for (int layout = 0; layout <= POOL_POINT_XYZZ; layout++) {
            for (int form = 0; form < 2; form++) {
                for (size_t extra = 0; extra < 32; extra += 24) {
                    pool_point_format format = {(pool_point_layout)layout, (pool_form)form, 0};
                    size_t bad = 0;

                    if (extra)
                        format.stride = pool_point_bytes(curve, format.layout) + extra;
                    memset(memory, 0xee, sizeof(memory));
                    assert_int_equal(pool_points_convert(curve, &plain, affine, COUNT,
                                         POOL_CHECK_ON_CURVE, &format, memory),
                        POOL_OK);
                    assert_int_equal(
                        pool_points_check(curve, &format, memory, COUNT, POOL_CHECK_ON_CURVE, &bad),
                        POOL_OK);
                    assert_int_equal(pool_points_convert(curve, &format, memory, COUNT,
                                         POOL_CHECK_CANONICAL, NULL, back),
                        POOL_OK);
                    assert_memory_equal(affine, back, COUNT * size);
                    if (extra) /* the bytes between points stay unchanged */
                        assert_int_equal(memory[format.stride - 1], 0xee);
                    /* a coordinate that is p, seen and placed */
                    field_store(curve->coordinates.field,
                        memory + 5 * curve_point_stride(curve, &format),
                        curve->coordinates.field->modulus);
                    assert_int_equal(pool_points_check(
                                         curve, &format, memory, COUNT, POOL_CHECK_CANONICAL, &bad),
                        POOL_ERR_BAD_DATA);
                    assert_int_equal(bad, 5);
                    memset(back, 0x11, sizeof(back));
                    assert_int_equal(pool_points_convert(curve, &format, memory, COUNT,
                                         POOL_CHECK_CANONICAL, NULL, back),
                        POOL_ERR_BAD_DATA);
                    assert_int_equal(back[0], 0x11);
                }
            }
        }
        pool_curve_destroy(&curve);
    }
}

/* The scalars that are returned with random points are their discrete logarithms, and points depend
 * on seed and index only. */
static void test_random_points(void **state)
{
    enum { COUNT = 40, FAR = 1030 };
    static uint8_t points[FAR * 384], few[3 * 384], scalars[FAR * 96];

    (void)state;
    for (size_t i = 0; i < tested_curve_count(); i++) {
        pool_curve *curve = tested_curve(i);
        size_t size = pool_point_bytes(curve, POOL_POINT_AFFINE);
        size_t width = pool_field_element_bytes(curve->scalar_field);
        size_t count = i == 0 ? FAR : COUNT; /* past the first table once is enough */
        uint8_t generator[384], product[384];

        assert_int_equal(pool_random_points(curve, 9, count, NULL, points, scalars), POOL_OK);
        assert_int_equal(pool_random_points(curve, 9, 3, NULL, few, NULL), POOL_OK);
        assert_memory_equal(points, few, 3 * size);
        assert_int_equal(pool_random_points(curve, 10, 3, NULL, few, NULL), POOL_OK);
        assert_memory_not_equal(points, few, size);
        assert_int_equal(pool_curve_generator(curve, NULL, generator), POOL_OK);
        for (size_t k = 0; k < count; k += count / 8) {
            assert_int_equal(
                pool_point_mul(curve, NULL, generator, scalars + k * width, width, product),
                POOL_OK);
            assert_memory_equal(product, points + k * size, size);
        }
        assert_int_equal(
            pool_points_check(curve, NULL, points, 4, POOL_CHECK_SUBGROUP, NULL), POOL_OK);
        pool_curve_destroy(&curve);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group_laws),
        cmocka_unit_test(test_doubling),
        cmocka_unit_test(test_cofactors),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_random_points),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    if (!failed && make_products_plain())
        failed = cmocka_run_group_tests_name("tests, products in C", tests, NULL, NULL);
    return failed;
}
