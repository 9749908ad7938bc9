/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSMs against the reference on simulated devices: every curve, every layout of operands in memory,
 * batches, operands with exceptional additions, short scalars, window bits; and algebraic laws that
 * need no reference.
 */
#include "support/curve.h"
#include "support/msm.h"
#include "support/pool.h"
#include "support/sample.h"

static pool_msm_params params_of(const pool_curve *curve)
{
    return (pool_msm_params){.struct_size = sizeof(pool_msm_params), .curve = curve};
}

static const pool_curve *curve_of(const char *name)
{
    const pool_curve *curve = pool_curve_by_name(name);

    assert_non_null(curve);
    return curve;
}

/* Infinities, equal and opposite neighbours, zeros, ones, order - 1 and equal scalars. */
static void make_hard(const struct msm_problem *problem)
{
    const pool_field *order = pool_curve_scalar_field(problem->curve);
    uint64_t last[FIELD_MAX_LIMBS];

    field_copy(order, last, order->modulus);
    last[0]--;
    for (uint64_t i = 0; i < problem->count; i++) {
        if (i % 11 == 3)
            memset(msm_point(problem, i), 0, problem->point_bytes);
        if (i % 7 == 1)
            memcpy(msm_point(problem, i), msm_point(problem, i - 1), problem->point_bytes);
        if (i % 7 == 5) {
            const pool_point_format plain = {0};
            struct curve_jacobian p;

            assert_null(curve_load(problem->curve, &p, &plain, msm_point(problem, i - 1)));
            curve_jacobian_neg(problem->curve, &p, &p);
            curve_store(problem->curve, &plain, msm_point(problem, i), &p);
        }
        if (i % 13 < 2)
            msm_set_scalar(problem, i, i % 13);
        if (i % 13 == 4)
            field_store(order, msm_scalar(problem, i), last);
        if (i % 7 == 1 || i % 7 == 5)
            memcpy(msm_scalar(problem, i), msm_scalar(problem, i - 1), problem->scalar_bytes);
    }
}

/* By default only larger MSMs than these are split. */
static const struct msm_shape_of_call split = {.splitting = MSM_SPLITS_ALWAYS};

/* A sample has one of the small sums for each curve, and for the next curve the next one; one or
 * several sums at once. */
static void check_curve(const pool_curve *curve, uint64_t count)
{
    static size_t curves;
    const size_t number = curves++;
    pool_msm_params params = params_of(curve);
    pool_exec exec = exec_here();

    if (msm_is_left_out(curve, device))
        return;
    for (uint64_t n = 0; n < 5; n++) {
        if (!is_sampled(n + number, 5))
            continue;
        struct msm_problem problem = msm_problem_random(curve, n, n);

        msm_compare(&problem, &params, &exec, NULL);
        make_hard(&problem);
        msm_compare(&problem, &params, &exec, NULL);
        msm_compare(&problem, &params, &exec, &split);
        msm_problem_free(&problem);
    }
    for (params.batch = 1; params.batch < 4; params.batch += 2) {
        if (!is_sampled(params.batch / 2 + number, 2))
            continue;
        struct msm_problem problem = msm_problem_random(curve, count * params.batch, 5);

        make_hard(&problem);
        msm_compare(&problem, &params, &exec, NULL);
        msm_compare(&problem, &params, &exec, &split);
        msm_problem_free(&problem);
    }
}

static void test_builtin_curves(void **state)
{
    (void)state;
    for (size_t i = 0; i < pool_curve_count(); i++)
        if (is_sampled(i + 1, 2)) /* test_msm_small.c has others */
            check_curve(pool_curve_at(i), 100);
}

/* Over fields that the device computes in other ways: one word, standard form. */
static pool_curve *small_curve(const char *field, const char *b, const char *order,
    const char *cofactor, const char *x, const char *y)
{
    pool_curve_params params = {.struct_size = sizeof(params)};
    pool_curve *curve = NULL;

    params.field = pool_field_by_name(field);
    params.b[0] = b;
    params.order = order;
    params.cofactor = cofactor;
    params.generator_x[0] = x;
    params.generator_y[0] = y;
    assert_ok(pool_curve_create(&params, &curve));
    return curve;
}

static void test_custom_curves(void **state)
{
    pool_curve *curve;

    (void)state;
    for (size_t i = 0; i < CUSTOM_CURVES; i++) {
        curve = make_custom_curve(&custom_curves[i]);
        check_curve(curve, 60);
        pool_curve_destroy(&curve);
    }
    curve = small_curve("mersenne31", "5", "165188041", "13", "2014353682", "1938853545");
    check_curve(curve, 300);
    pool_curve_destroy(&curve);
    curve = small_curve("babybear", "1", "1133641", "1776", "1019565696", "1805119881");
    check_curve(curve, 300);
    pool_curve_destroy(&curve);
}

static void test_shapes(void **state)
{
    static const char *const names[] = {"bn254_g1", "bls12_381_g2"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        pool_msm_params params = params_of(curve_of(names[i]));
        pool_exec exec = exec_here();
        struct msm_problem problem = msm_problem_random(params.curve, 45, 3);

        make_hard(&problem);
        for (int n = 0; n < 40; n++) {
            if (!is_sampled((size_t)n, 7))
                continue;
            const struct msm_shape_of_call shape = {.layout = (pool_point_layout)(n % 5),
                .form = (pool_form)(n / 5 % 2),
                .gap = n % 3 ? 0 : 12,
                .space = (pool_memory_space)(n / 2 % 2),
                .scalar_form = (pool_form)(n / 4 % 2),
                .scalar_gap = n % 4 ? 0 : 20,
                .scalar_place = (pool_memory_space)(n % 2),
                .result_layout = (pool_point_layout)(n / 3 % 5),
                .result_form = (pool_form)(n / 7 % 2),
                .result_gap = n % 5 ? 0 : 4,
                .result_place = (pool_memory_space)(n / 11 % 2),
                .splitting = n / 13 % 2 ? MSM_SPLITS_ALWAYS : MSM_SPLITS_NEVER};

            params.batch = n % 2 ? 5 : n % 4 ? 3 : 1;
            params.shared_bases = n % 3 == 0;
            if (problem.count % params.batch == 0)
                msm_compare(&problem, &params, &exec, &shape);
        }
        msm_problem_free(&problem);
    }
}

/* Every window that there is, for full and for short scalars. */
static void test_windows(void **state)
{
    pool_msm_params params = params_of(curve_of("bn254_g1"));
    pool_exec exec = exec_here();
    struct msm_problem problem = msm_problem_random(params.curve, 33, 8);

    (void)state;
    make_hard(&problem);
    for (params.window_bits = 2; params.window_bits <= 14; params.window_bits++) {
        msm_compare(&problem, &params, &exec, NULL);
        msm_compare(&problem, &params, &exec, &split);
    }
    for (uint64_t i = 0; i < problem.count; i++)
        msm_set_scalar(&problem, i, i % 5 ? (UINT64_MAX >> 7) - i : i);
    exec.checks = POOL_CHECK_CANONICAL;
    for (params.window_bits = 0; params.window_bits <= 12; params.window_bits += 3)
        for (params.scalar_bits = 57; params.scalar_bits <= 64; params.scalar_bits += 7)
            msm_compare(&problem, &params, &exec, NULL);
    for (uint64_t i = 0; i < problem.count; i++)
        msm_set_scalar(&problem, i, i % 2);
    params.window_bits = 0;
    params.scalar_bits = 1;
    msm_compare(&problem, &params, &exec, NULL);
    msm_problem_free(&problem);
}

/* All the same, zeros, ones, one hot window, and one point again and again. */
static void test_skew(void **state)
{
    enum { COUNT = 2000 };
    pool_msm_params params = params_of(curve_of("bn254_g1"));
    pool_exec exec = exec_here();
    struct msm_problem problem = msm_problem_random(params.curve, COUNT, 21);

    (void)state;
    for (uint64_t i = 1; i < COUNT; i++)
        memcpy(msm_scalar(&problem, i), msm_scalar(&problem, 0), 32);
    msm_compare(&problem, &params, &exec, NULL);
    for (uint64_t i = 1; i < COUNT; i++)
        memcpy(msm_point(&problem, i), msm_point(&problem, 0), 64);
    msm_compare(&problem, &params, &exec, NULL);
    msm_problem_free(&problem);
    problem = msm_problem_random(params.curve, COUNT, 22);
    for (uint64_t i = 0; i < COUNT; i++)
        if (i % 100)
            memset(msm_scalar(&problem, i), 0, 32);
    msm_compare(&problem, &params, &exec, NULL);
    for (uint64_t i = 0; i < COUNT; i++)
        msm_set_scalar(&problem, i, i % 3 == 0);
    msm_compare(&problem, &params, &exec, NULL);
    for (uint64_t i = 0; i < COUNT; i++)
        msm_set_scalar(&problem, i, (i * 2654435761u) << 24);
    msm_compare(&problem, &params, &exec, NULL);
    memset(problem.scalars, 0, COUNT * 32);
    msm_compare(&problem, &params, &exec, NULL);
    msm_problem_free(&problem);
}

static void test_thousands(void **state)
{
    static const struct {
        const char *name;
        uint64_t count;
    } sums[] = {{"bn254_g1", 4096}, {"bls12_381_g1", 4095}, {"bn254_g2", 1025}, {"bw6_761_g1", 513},
        {"secp256k1", 2049}}; /* a sample has the first and the fourth */

    (void)state;
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        if (!is_sampled(i, 3) || msm_is_left_out(curve_of(sums[i].name), device))
            continue;
        pool_msm_params params = params_of(curve_of(sums[i].name));
        pool_exec exec = exec_here();
        struct msm_problem problem = msm_problem_random(params.curve, sums[i].count, i);

        msm_compare(&problem, &params, &exec, NULL);
        msm_problem_free(&problem);
    }
}

static void sum_of(const struct msm_problem *problem, uint8_t *result)
{
    static const struct msm_shape_of_call plain;
    const pool_msm_params params = params_of(problem->curve);
    const pool_exec exec = exec_here();

    assert_ok(msm_call_shaped(problem, &params, &exec, &plain, problem->count, result));
}

/* sum (a_i + b_i) P_i = sum a_i P_i + sum b_i P_i, and the order does not matter. */
static void test_laws(void **state)
{
    enum { COUNT = 700 };
    const pool_curve *curve = curve_of("bn254_g1");
    const pool_field *field = pool_curve_scalar_field(curve);
    struct msm_problem a = msm_problem_random(curve, COUNT, 1);
    struct msm_problem b = msm_problem_random(curve, COUNT, 1);
    uint8_t left[64], right[64], both[64], sum[64];

    (void)state;
    assert_ok(pool_random_scalars(field, 99, COUNT, POOL_FORM_STANDARD, b.scalars));
    sum_of(&a, left);
    sum_of(&b, right);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t x[FIELD_MAX_LIMBS], y[FIELD_MAX_LIMBS];

        field_load(field, x, msm_scalar(&a, i));
        field_load(field, y, msm_scalar(&b, i));
        field_add(field, x, x, y);
        field_store(field, msm_scalar(&b, i), x);
    }
    sum_of(&b, both);
    assert_ok(pool_point_add(curve, NULL, left, right, sum));
    assert_memory_equal(both, sum, 64);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t j = i * 267 % COUNT; /* prime to 700 */

        memcpy(msm_point(&b, i), msm_point(&a, j), 64);
        memcpy(msm_scalar(&b, i), msm_scalar(&a, j), 32);
    }
    sum_of(&b, both);
    assert_memory_equal(both, left, 64);
    msm_problem_free(&a);
    msm_problem_free(&b);
}

/* Scalars at and above the order: reduced, refused, and without harm where they are trusted. */
static void test_large_scalars(void **state)
{
    static const struct msm_shape_of_call plain;
    static const char *const names[] = {"bn254_g1", "secp256k1", "bls12_377_g1", "bw6_761_g1"};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        if (msm_is_left_out(curve_of(names[k]), device))
            continue;
        pool_msm_params params = params_of(curve_of(names[k]));
        pool_exec exec = exec_here();
        struct msm_problem problem = msm_problem_random(params.curve, 40, 4);
        uint8_t got[MSM_POINT_MAX];

        memset(msm_scalar(&problem, 17), 255, problem.scalar_bytes);
        memcpy(msm_scalar(&problem, 30), params.curve->scalar_field->modulus, problem.scalar_bytes);
        exec.checks = POOL_CHECK_REDUCE;
        msm_compare(&problem, &params, &exec, NULL);
        exec.checks = POOL_CHECK_CANONICAL;
        assert_int_equal(
            msm_call_shaped(&problem, &params, &exec, &plain, 40, got), POOL_ERR_BAD_DATA);
        assert_says("scalar 17 is not below the order");
        exec.checks = POOL_CHECK_NONE;
        memset(problem.scalars, 255, 40 * problem.scalar_bytes);
        assert_ok(msm_call_shaped(&problem, &params, &exec, &plain, 40, got));
        params.scalar_bits = 20;
        assert_ok(msm_call_shaped(&problem, &params, &exec, &plain, 40, got));
        msm_problem_free(&problem);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_builtin_curves),
        cmocka_unit_test(test_custom_curves), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_windows), cmocka_unit_test(test_skew),
        cmocka_unit_test(test_thousands), cmocka_unit_test(test_laws),
        cmocka_unit_test(test_large_scalars)};

    tuning_text = POOL_NO_SMALL_MSMS;
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
