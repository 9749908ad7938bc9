/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSMs of few terms whose plan has one launch for each of sort, accumulation and reduction
 * (src/zk/msm/small_plan.c): the number of launches, results of the reference for every curve,
 * skewed digits, windows, batches, precomputed bases and ranges of them, and exact forecasts.
 *
 *   test_devices_msm_small [DEVICES]
 */
#include "support/msm.h"
#include "support/pool.h"
#include "support/sample.h"

enum { MOST = 8192, LAUNCHES = 3 };

static const struct msm_shape_of_call plain;

static pool_msm_params params_of(const char *curve)
{
    return (pool_msm_params){
        .struct_size = sizeof(pool_msm_params), .curve = pool_curve_by_name(curve)};
}

/* All launches of kernels on the device so far. */
static uint64_t count_launches(void)
{
    static const char name[] = "\ndevicepool_launches_total{device=\"0\"} ";
    const char *at;
    char *text = NULL;
    uint64_t count;

    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    at = strstr(text, name);
    assert_non_null(at);
    count = strtoull(at + strlen(name), NULL, 10);
    pool_text_free(&text);
    return count;
}

/* Scalar `index` becomes minus scalar `of`. */
static void set_negative(const struct msm_problem *problem, uint64_t index, uint64_t of)
{
    const pool_field *order = pool_curve_scalar_field(problem->curve);
    uint64_t value[FIELD_MAX_LIMBS] = {0};

    field_load(order, value, msm_scalar(problem, of));
    field_neg(order, value, value);
    field_store(order, msm_scalar(problem, index), value);
}

/* Infinity, a point twice and its negative, scalars 0, 1, order - 1 and equal ones. */
static void make_hard(const struct msm_problem *problem)
{
    const pool_field *order = pool_curve_scalar_field(problem->curve);
    uint64_t last[FIELD_MAX_LIMBS];

    field_copy(order, last, order->modulus);
    last[0]--;
    for (uint64_t i = 4; i + 4 < problem->count; i += 9) {
        memset(msm_point(problem, i), 0, problem->point_bytes);
        memcpy(msm_point(problem, i + 1), msm_point(problem, i - 1), problem->point_bytes);
        memcpy(msm_scalar(problem, i + 1), msm_scalar(problem, i - 1), problem->scalar_bytes);
        memcpy(msm_point(problem, i + 2), msm_point(problem, i - 1), problem->point_bytes);
        set_negative(problem, i + 2, i - 1);
        msm_set_scalar(problem, i + 3, i % 2);
        if (i % 4 == 0)
            field_store(order, msm_scalar(problem, i + 4), last);
    }
}

/* In a sample the device with few multiprocessors has what its plans depend on besides: sizes,
 * windows, skew and batches. */
static bool is_left_to_many(void)
{
    return takes_a_sample() && !strstr(device_text, "sms=");
}

static void compare_all(const struct msm_problem *problem, pool_msm_params params)
{
    pool_exec exec = exec_here();

    msm_compare(problem, &params, &exec, NULL);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Of a call whose operands are on the device; results are combined on the host. */
static uint64_t launches_of(const char *curve, uint64_t count, uint32_t affine_passes)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name(curve), count, 3);
    pool_bases_params bases = {.struct_size = sizeof(bases), .curve = problem.curve};
    pool_msm_params params = {.struct_size = sizeof(params), .affine_passes = affine_passes};
    pool_exec exec = exec_here();
    pool_span points = msm_span(problem.points, count), scalars = msm_span(problem.scalars, count);
    uint8_t result[MSM_POINT_MAX], wanted[MSM_POINT_MAX];
    pool_span out = msm_span(result, 1);
    uint64_t before;

    exec.slice_ns = UINT64_MAX; /* few multiprocessors take longer than a slice */
    assert_ok(pool_bases_create(&bases, &exec, &points, &params.bases));
    before = count_launches();
    assert_ok(pool_msm(&params, &exec, NULL, &scalars, &out));
    before = count_launches() - before;
    msm_expect(&problem, wanted);
    assert_memory_equal(result, wanted, problem.point_bytes);
    assert_ok(pool_bases_destroy(&params.bases));
    msm_problem_free(&problem);
    return before;
}

static void test_launches(void **state)
{
    (void)state;
    assert_int_equal(launches_of("bn254_g1", 1, 0), LAUNCHES);
    assert_int_equal(launches_of("bn254_g1", 1 << 10, 0), LAUNCHES);
    assert_int_equal(launches_of("bn254_g1", MOST, POOL_AFFINE_NONE), LAUNCHES);
    assert_int_equal(launches_of("bls12_381_g1", 1 << 10, 0), LAUNCHES);
    assert_int_equal(launches_of("bn254_g2", 1 << 9, 0), LAUNCHES);
    assert_true(launches_of("bn254_g1", MOST + 1, 0) > LAUNCHES);
    assert_true(launches_of("bn254_g1", 1 << 10, 1) > LAUNCHES);
}

/* ---- results --------------------------------------------------------------------------------- */

static void test_curves(void **state)
{
    (void)state;
    if (is_left_to_many())
        return;
    for (size_t i = 0; i < pool_curve_count(); i++) {
        const pool_curve *curve = pool_curve_at(i);
        pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};

        if (msm_is_left_out(curve, device) || !is_sampled(i, 6))
            continue;
        for (uint64_t count = 1; count < 200; count = 3 * count + 8) {
            struct msm_problem problem = msm_problem_random(curve, count, i + count);

            compare_all(&problem, params);
            make_hard(&problem);
            compare_all(&problem, params);
            msm_problem_free(&problem);
        }
    }
}

/* Two rounds of the reduction from 2^8 buckets of a set on; 12 bits have the most that are small.
 */
static void test_windows(void **state)
{
    pool_msm_params params = params_of("bn254_g1");
    struct msm_problem problem = msm_problem_random(params.curve, 300, 1);

    (void)state;
    make_hard(&problem);
    for (params.window_bits = 2; params.window_bits <= 14; params.window_bits++)
        if (is_sampled(params.window_bits, 2))
            compare_all(&problem, params);
    params.window_bits = 0;
    for (uint64_t i = 0; i < problem.count; i++)
        msm_set_scalar(&problem, i, 0xffff - i);
    for (params.scalar_bits = 16; params.scalar_bits < 19; params.scalar_bits++)
        compare_all(&problem, params);
    msm_problem_free(&problem);
}

/* All digits of a window in one bucket, in two, in none, and in an arithmetic progression, in as
 * many entries as several blocks of a set have. */
static void test_skew(void **state)
{
    static const uint64_t steps[] = {0, 0x8000000000000001, 3};
    pool_msm_params params = params_of("bn254_g1");
    struct msm_problem problem = msm_problem_random(params.curve, 3000, 2);

    (void)state;
    for (uint64_t i = 1; i < problem.count; i++)
        memcpy(msm_scalar(&problem, i), msm_scalar(&problem, 0), problem.scalar_bytes);
    compare_all(&problem, params);
    for (uint64_t i = 1; i < problem.count; i += 2)
        set_negative(&problem, i, 0);
    compare_all(&problem, params);
    for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
        for (uint64_t i = 0; i < problem.count; i++)
            msm_set_scalar(&problem, i, i * steps[k]);
        compare_all(&problem, params);
    }
    msm_problem_free(&problem);
}

/* Sums of equal points are doublings, in the merge and in the reduction too. */
static void test_equal_points(void **state)
{
    pool_msm_params params = params_of("bls12_381_g1");
    struct msm_problem problem = msm_problem_random(params.curve, 1500, 4);

    (void)state;
    for (uint64_t i = 1; i < problem.count; i++)
        memcpy(msm_point(&problem, i), msm_point(&problem, 0), problem.point_bytes);
    compare_all(&problem, params);
    for (uint64_t i = 1; i < problem.count; i++)
        memcpy(msm_scalar(&problem, i), msm_scalar(&problem, 0), problem.scalar_bytes);
    compare_all(&problem, params);
    msm_problem_free(&problem);
}

static void test_batches(void **state)
{
    pool_msm_params params = params_of("bn254_g1");

    (void)state;
    for (params.batch = 2; params.batch < 8; params.batch += 5)
        for (params.shared_bases = 0; params.shared_bases < 2; params.shared_bases++) {
            struct msm_problem problem =
                msm_problem_random(params.curve, 150 * params.batch, params.batch);

            make_hard(&problem);
            compare_all(&problem, params);
            msm_problem_free(&problem);
        }
}

/* Scalars that are not below the order, nor as short as promised, do no harm. */
static void check_trusted(const struct msm_problem *problem, pool_msm_params params)
{
    pool_exec exec = exec_here();
    uint8_t got[MSM_POINT_MAX];

    exec.checks = POOL_CHECK_NONE;
    memset(problem->scalars, 0xff, problem->count * problem->scalar_bytes);
    assert_ok(msm_call_shaped(problem, &params, &exec, &plain, problem->count, got));
    params.scalar_bits = 20;
    assert_ok(msm_call_shaped(problem, &params, &exec, &plain, problem->count, got));
}

static void test_shapes(void **state)
{
    static const char *const names[] = {"bn254_g1", "bls12_381_g2"};

    (void)state;
    if (is_left_to_many())
        return;
    for (size_t i = 0; i < 2; i++) {
        pool_msm_params params = params_of(names[i]);
        pool_exec exec = exec_here();
        struct msm_problem problem = msm_problem_random(params.curve, 45, 3);

        make_hard(&problem);
        for (int n = 0; n < 8; n++) {
            const struct msm_shape_of_call shape = {.layout = (pool_point_layout)(n % 5),
                .form = (pool_form)(n / 2 % 2),
                .space = (pool_memory_space)(n / 3 % 2),
                .scalar_form = (pool_form)(n % 2),
                .scalar_gap = n % 4 ? 0 : 20,
                .scalar_place = (pool_memory_space)(n / 2 % 2),
                .result_layout = (pool_point_layout)(n / 3 % 5),
                .result_place = (pool_memory_space)(n / 4)};

            msm_compare(&problem, &params, &exec, &shape);
        }
        exec.checks = POOL_CHECK_REDUCE;
        memset(msm_scalar(&problem, 3), 0xff, problem.scalar_bytes);
        msm_compare(&problem, &params, &exec, NULL);
        check_trusted(&problem, params);
        msm_problem_free(&problem);
    }
}

/* ---- precomputed bases ----------------------------------------------------------------------- */

static void check_bases(const char *curve, uint64_t count, uint32_t factor)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name(curve), count, factor);
    pool_bases_params bases = {
        .struct_size = sizeof(bases), .curve = problem.curve, .precompute_factor = factor};
    pool_msm_params params = {.struct_size = sizeof(params)};
    pool_exec exec = exec_here();
    pool_span points = msm_span(problem.points, count);
    uint8_t got[MSM_POINT_MAX], wanted[MSM_POINT_MAX];

    make_hard(&problem);
    assert_ok(pool_bases_create(&bases, &exec, &points, &params.bases));
    msm_compare(&problem, &params, &exec, NULL);
    params.batch = 3;
    params.shared_bases = 1;
    msm_compare(&problem, &params, &exec, NULL);
    params.batch = 1;
    params.first_base = count / 3;
    struct msm_problem part = problem;
    part.count = count / 3;
    part.points = msm_point(&problem, count / 3);
    msm_expect(&part, wanted);
    assert_ok(msm_call_shaped(&part, &params, &exec, &plain, 0, got));
    assert_memory_equal(got, wanted, problem.point_bytes);
    assert_ok(pool_bases_destroy(&params.bases));
    msm_problem_free(&problem);
}

static void test_bases(void **state)
{
    static const uint32_t factors[] = {1, 2, 3, 7, POOL_PRECOMPUTE_ALL};

    (void)state;
    if (is_left_to_many())
        return;
    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
        check_bases("bn254_g1", 300, factors[i]);
    check_bases("bls12_381_g2", 30, 3);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A workspace of exactly the forecast is enough, and one of a byte less is refused. */
static void test_forecasts(void **state)
{
    static const uint64_t counts[] = {1, 100, 1000};
    pool_msm_params params = params_of("bn254_g1");

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct msm_problem problem = msm_problem_random(params.curve, counts[i], 6);
        pool_exec exec = exec_here();
        pool_span points = msm_span(problem.points, counts[i]);
        pool_span scalars = msm_span(problem.scalars, counts[i]);
        uint8_t result[MSM_POINT_MAX], wanted[MSM_POINT_MAX];
        pool_span out = msm_span(result, 1);
        pool_buffer *workspace = NULL;
        uint64_t bytes = 0;

        msm_expect(&problem, wanted);
        assert_ok(pool_msm_workspace(&params, &exec, &points, &scalars, &out, &bytes));
        assert_ok(pool_buffer_alloc(device, bytes, &workspace));
        exec.workspace = workspace;
        assert_ok(pool_msm(&params, &exec, &points, &scalars, &out));
        assert_memory_equal(result, wanted, problem.point_bytes);
        assert_ok(pool_buffer_destroy(&workspace));
        assert_ok(pool_buffer_alloc(device, bytes - 1, &workspace));
        exec.workspace = workspace;
        assert_status(pool_msm(&params, &exec, &points, &scalars, &out), POOL_ERR_INVALID_ARGUMENT);
        assert_ok(pool_buffer_destroy(&workspace));
        msm_problem_free(&problem);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_launches),
        cmocka_unit_test(test_curves), cmocka_unit_test(test_windows), cmocka_unit_test(test_skew),
        cmocka_unit_test(test_equal_points), cmocka_unit_test(test_batches),
        cmocka_unit_test(test_shapes), cmocka_unit_test(test_bases),
        cmocka_unit_test(test_forecasts)};
    int failed;

    device_text = argc > 1 ? argv[1] : "sim:1,mem=512M,sms=132";
    if (open_pool(NULL))
        return 77;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    return close_pool(NULL) || failed;
}
