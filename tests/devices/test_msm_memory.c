/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an MSM's memory comes from: workspaces that are exact to the byte, memory limits that
 * divide the call into chunks, host memory that is uploaded while the previous chunk is computed,
 * devices that are nearly full. And how a call ends: asynchronously, cancelled, with progress, and
 * with results on success only.
 */
#include "support/assert.h"
#include "support/msm.h"
#include "support/sample.h"

#include "support/pool.h"
#include "zk/msm/call.h"

static const struct msm_shape_of_call plain;

static pool_msm_params params_of(const char *name)
{
    return (pool_msm_params){
        .struct_size = sizeof(pool_msm_params), .curve = pool_curve_by_name(name)};
}

static uint64_t used_bytes(void)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(device, &info));
    return info.used_bytes;
}

static uint64_t used_high(void)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(device, &info));
    return info.used_high_water_bytes;
}

static uint64_t workspace_of(const struct msm_problem *problem, const pool_msm_params *params,
    const pool_exec *exec, pool_point_layout result_layout)
{
    uint64_t batch = params->batch ? params->batch : 1, bytes = 0;
    uint64_t points = params->shared_bases ? problem->count / batch : problem->count;
    pool_msm_params with = *params;
    pool_span in = msm_span(NULL, points), by = msm_span(NULL, problem->count);
    pool_span out = msm_span(NULL, batch);

    with.result_layout = result_layout;
    assert_ok(pool_msm_workspace(&with, exec, params->bases ? NULL : &in, &by, &out, &bytes));
    return bytes;
}

/* What the query says is what the call allocates, and a workspace of that size is enough. */
static void test_workspace(void **state)
{
    (void)state;
    for (int n = 0; n < 16; n++) {
        if (!is_sampled((size_t)n, 5))
            continue;
        pool_msm_params params = params_of(n % 3 ? "bn254_g1" : "bls12_381_g2");
        pool_exec exec = exec_here();
        struct msm_problem problem = msm_problem_random(params.curve, 60, 3);
        uint64_t before, bytes;
        pool_buffer *workspace = NULL;

        params.batch = n % 4 == 1 ? 6 : n % 4 == 2 ? 2 : 1;
        params.shared_bases = n % 2;
        exec.checks = (n % 5 == 0 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE) |
                      (n % 7 == 0 ? POOL_CHECK_ON_CURVE : POOL_CHECK_NONE);
        bytes = workspace_of(&problem, &params, &exec, POOL_POINT_AFFINE);
        before = used_bytes();
        assert_ok(pool_memory_reset_high_water(device));
        msm_compare(&problem, &params, &exec, NULL);
        assert_int_equal(used_high() - before, bytes);
        assert_int_equal(used_bytes(), before);
        assert_ok(pool_buffer_alloc(device, bytes, &workspace));
        exec.workspace = workspace;
        assert_ok(pool_memory_reset_high_water(device));
        msm_compare(&problem, &params, &exec, NULL);
        assert_int_equal(used_high() - before, bytes);
        assert_ok(pool_buffer_destroy(&workspace));
        assert_ok(pool_buffer_alloc(device, bytes - 1, &workspace));
        exec.workspace = workspace;
        uint8_t *unused = calloc(6, problem.point_bytes);
        assert_int_equal(msm_call_shaped(&problem, &params, &exec, &plain,
                             params.shared_bases ? 60 / params.batch : 60, unused),
            POOL_ERR_INVALID_ARGUMENT);
        assert_says("`workspace` has");
        free(unused);
        assert_ok(pool_buffer_destroy(&workspace));
        msm_problem_free(&problem);
    }
}

/* Budgets from all that is wanted down to where not even the smallest part fits; a sample of those
 * between. */
static int check_budgets(pool_msm_params params, const struct msm_problem *problem,
    const struct msm_shape_of_call *shape)
{
    uint64_t batch = params.batch ? params.batch : 1;
    uint64_t points = params.shared_bases ? problem->count / batch : problem->count;
    pool_exec exec = exec_here();
    uint64_t full = workspace_of(problem, &params, &exec, POOL_POINT_AFFINE), before = used_bytes();
    uint8_t *got = calloc(batch, problem->point_bytes);
    int fitted = 0;

    exec.memory_limit = full;
    for (size_t n = 0;; n++, exec.memory_limit = exec.memory_limit / 8 * 5) {
        pool_status status;

        if (n > 0 && !is_sampled(n, 2) && exec.memory_limit > full / 10)
            continue;
        assert_ok(pool_memory_reset_high_water(device));
        status = msm_call_shaped(problem, &params, &exec, shape, points, got);
        if (status == POOL_ERR_OUT_OF_DEVICE_MEMORY)
            break;
        assert_ok(status);
        if (shape->space == POOL_MEMORY_HOST && shape->scalar_place == POOL_MEMORY_HOST)
            assert_between(used_high() - before, 1, exec.memory_limit);
        msm_compare(problem, &params, &exec, shape);
        fitted++;
    }
    assert_says("the smallest chunk of the MSM takes");
    free(got);
    return fitted;
}

static void test_budgets(void **state)
{
    static const struct msm_shape_of_call mixed = {.layout = POOL_POINT_JACOBIAN,
                                              .scalar_place = POOL_MEMORY_DEVICE},
                                          there = {.form = POOL_FORM_MONTGOMERY,
                                              .space = POOL_MEMORY_DEVICE,
                                              .scalar_place = POOL_MEMORY_DEVICE,
                                              .result_place = POOL_MEMORY_DEVICE};
    pool_msm_params params = params_of("bn254_g1");
    struct msm_problem problem = msm_problem_random(params.curve, 5000, 6);
    int fitted = 0;

    (void)state;
    fitted += check_budgets(params, &problem, &plain);
    fitted += check_budgets(params, &problem, &mixed);
    params.batch = 2;
    params.shared_bases = 1;
    fitted += check_budgets(params, &problem, &plain);
    params.batch = 10;
    fitted += check_budgets(params, &problem, &there);
    params.shared_bases = 0;
    fitted += check_budgets(params, &problem, &mixed);
    assert_true(fitted > (takes_a_sample() ? 6 : 12));
    msm_problem_free(&problem);
}

struct watch {
    uint64_t calls, done, total;
    pool_cancel *cancel;
    uint64_t cancel_at;
};

static void watch_progress(void *user, uint64_t done, uint64_t total)
{
    struct watch *watch = user;

    assert_true(done > watch->done && done <= total);
    watch->calls++;
    watch->done = done;
    watch->total = total;
    if (watch->cancel && watch->calls == watch->cancel_at)
        pool_cancel_request(watch->cancel);
}

/* Smaller first chunks, for all combinations of operands in host memory. */
static void test_ramp(void **state)
{
    (void)state;
    for (int n = 0; n < 24; n++) {
        if (!is_sampled((size_t)n, 5))
            continue;
        const struct msm_shape_of_call shape = {.ramps_up = true,
            .layout = n % 5 == 0 ? POOL_POINT_PROJECTIVE : POOL_POINT_AFFINE,
            .form = (pool_form)(n / 2 % 2),
            .space = (pool_memory_space)(n % 3 == 1),
            .scalar_place = (pool_memory_space)(n % 3 == 2),
            .result_place = (pool_memory_space)(n % 4 == 3)};
        pool_msm_params params = params_of("bn254_g1");
        pool_exec exec = exec_here();
        struct watch watch = {0};
        struct msm_problem problem = msm_problem_random(params.curve, 4200, (uint64_t)n);

        params.batch = n % 6 == 1 ? 3 : n % 6 == 4 ? 7 : 1;
        params.shared_bases = n % 4 == 1;
        exec.progress = watch_progress;
        exec.user = &watch;
        msm_compare(&problem, &params, &exec, &shape);
        assert_int_equal(watch.done, 4200);
        assert_int_equal(watch.total, 4200);
        assert_true(watch.calls >= 3);
        msm_problem_free(&problem);
    }
}

static void test_cancel(void **state)
{
    static const struct msm_shape_of_call there = {
        .ramps_up = true, .result_place = POOL_MEMORY_DEVICE};
    static const struct msm_shape_of_call host = {.ramps_up = true};
    pool_msm_params params = params_of("bn254_g1");
    pool_exec exec = exec_here();
    struct msm_problem problem = msm_problem_random(params.curve, 3000, 1);
    struct watch watch = {.cancel_at = 1};
    uint64_t before = used_bytes();
    uint8_t got[64] = {7};

    (void)state;
    assert_ok(pool_cancel_create(&watch.cancel));
    exec.cancel = watch.cancel;
    exec.progress = watch_progress;
    exec.user = &watch;
    assert_int_equal(
        msm_call_shaped(&problem, &params, &exec, &host, 3000, got), POOL_ERR_CANCELLED);
    assert_int_equal(watch.calls, 1);
    assert_int_equal(got[0], 7);
    params.batch = 10;
    assert_int_equal(
        msm_call_shaped(&problem, &params, &exec, &there, 3000, got), POOL_ERR_CANCELLED);
    assert_int_equal(used_bytes(), before);
    pool_cancel_destroy(&watch.cancel);
    msm_problem_free(&problem);
}

/* A bad scalar in the last chunk: none of the results before it is written. */
static void test_nothing_written(void **state)
{
    static const struct msm_tuning tuning = {.min_ramp_bytes = 1};
    pool_msm_params params = params_of("bn254_g1");
    pool_exec exec = exec_here();
    struct msm_problem problem = msm_problem_random(params.curve, 64, 2);
    pool_span in = msm_span(problem.points, 64), by = msm_span(problem.scalars, 64);
    uint8_t got[8 * 64], untouched[8 * 64];
    pool_span out = msm_span(got, 8);

    (void)state;
    memset(got, 7, sizeof(got));
    memset(untouched, 7, sizeof(untouched));
    params.batch = 8;
    exec.checks = POOL_CHECK_CANONICAL;
    memset(msm_scalar(&problem, 60), 255, 32);
    assert_int_equal(msm_compute(&tuning, &params, &exec, &in, &by, &out), POOL_ERR_BAD_DATA);
    assert_says("scalar 60 is not below");
    assert_memory_equal(got, untouched, sizeof(got));
    msm_problem_free(&problem);
}

/* The public query takes spans without data. */
static void test_query(void **state)
{
    pool_msm_params params = params_of("bn254_g1");
    pool_exec exec = exec_here();
    pool_span points = msm_span(NULL, (uint64_t)1 << 33);
    pool_span scalars = msm_span(NULL, (uint64_t)1 << 33), results = msm_span(NULL, 1);
    uint64_t bytes = 0;

    (void)state;
    assert_ok(pool_msm_workspace(&params, &exec, &points, &scalars, &results, &bytes));
    assert_true(bytes > (uint64_t)1 << 32);
    exec.memory_limit = (uint64_t)4 << 30;
    assert_ok(pool_msm_workspace(&params, &exec, &points, &scalars, &results, &bytes));
    assert_between(bytes, (uint64_t)1 << 30, exec.memory_limit);
    exec.memory_limit = 1000;
    assert_int_equal(pool_msm_workspace(&params, &exec, &points, &scalars, &results, &bytes),
        POOL_ERR_OUT_OF_DEVICE_MEMORY);
}

static void test_async(void **state)
{
    static const struct msm_shape_of_call there = {
        .result_place = POOL_MEMORY_DEVICE, .result_layout = POOL_POINT_JACOBIAN, .result_gap = 8};
    pool_msm_params params = params_of("bn254_g1");
    pool_exec exec = exec_here();
    struct msm_problem problem = msm_problem_random(params.curve, 90, 2);
    pool_span in = msm_span(problem.points, 90), by = msm_span(problem.scalars, 90);
    pool_pinned *pinned = NULL;
    uint8_t got[6 * 72], *wanted = msm_expect_batch(&problem, 6, 0);

    (void)state;
    assert_ok(pool_stream_create(device, NULL, &exec.stream));
    exec.is_async = 1;
    params.batch = 6;
    msm_compare(&problem, &params, &exec, &there);
    params.batch = 1;
    msm_compare(&problem, &params, &exec, &there);
    params.batch = 6;
    pool_span out = msm_span(got, 6);
    /* pageable results are there when the call returns */
    for (int gap = 0; gap < 2; gap++) {
        out.stride = gap ? 72 : 0;
        assert_ok(pool_msm(&params, &exec, &in, &by, &out));
        for (size_t b = 0; b < 6; b++)
            assert_memory_equal(got + b * (gap ? 72 : 64), wanted + b * 64, 64);
    }
    assert_ok(pool_pinned_create(device, 6 * 72, 0, &pinned));
    for (int gap = 0; gap < 2; gap++) {
        out.data = pool_pinned_data(pinned);
        out.stride = gap ? 72 : 0;
        assert_ok(pool_msm(&params, &exec, &in, &by, &out));
        assert_ok(pool_stream_synchronize(exec.stream));
        for (size_t b = 0; b < 6; b++)
            assert_memory_equal((uint8_t *)out.data + b * (gap ? 72 : 64), wanted + b * 64, 64);
    }
    assert_ok(pool_pinned_destroy(&pinned));
    assert_ok(pool_stream_destroy(&exec.stream));
    free(wanted);
    msm_problem_free(&problem);
}

/* A device that is nearly full: the call makes itself fit, or says that it cannot. */
static void test_full_device(void **state)
{
    pool_msm_params params = params_of("bn254_g1");
    pool_exec exec = exec_here();
    struct msm_problem problem = msm_problem_random(params.curve, 8000, 2);
    pool_memory_info info = {.struct_size = sizeof(info)};
    uint64_t needed = workspace_of(&problem, &params, &exec, POOL_POINT_AFFINE);
    pool_buffer *filler = NULL;
    uint8_t got[64];

    (void)state;
    assert_ok(pool_msm_warm_up(
        params.curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    assert_ok(pool_memory_trim(device, 0));
    assert_ok(pool_memory_get_info(device, &info));
    assert_ok(pool_buffer_alloc(device, info.free_bytes - needed / 4 * 3, &filler));
    msm_compare(&problem, &params, &exec, NULL);
    assert_ok(pool_buffer_destroy(&filler));
    assert_ok(pool_memory_trim(device, 0));
    assert_ok(pool_memory_get_info(device, &info));
    assert_ok(pool_buffer_alloc(device, info.free_bytes - 4096, &filler));
    assert_int_equal(msm_call_shaped(&problem, &params, &exec, &plain, 8000, got),
        POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_ok(pool_buffer_destroy(&filler));
    msm_problem_free(&problem);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_budgets), cmocka_unit_test(test_ramp), cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_nothing_written), cmocka_unit_test(test_query),
        cmocka_unit_test(test_async), cmocka_unit_test(test_full_device)};

    tuning_text = POOL_NO_SMALL_MSMS;
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
