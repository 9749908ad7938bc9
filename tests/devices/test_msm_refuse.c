/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that pool_msm and pool_msm_workspace refuse, without writing anything. */
#include "support/msm.h"
#include "support/pool.h"

enum { COUNT = 12 };

static pool_device *other;
static struct msm_problem problem;

/* A call as it would be right, for changes. */
struct call {
    pool_msm_params params;
    pool_exec exec;
    pool_span points, scalars, results;
    const pool_span *points_given;
    uint8_t result[4 * 64];
};

static void init(struct call *call)
{
    memset(call, 0, sizeof(*call));
    call->params = (pool_msm_params){.struct_size = sizeof(call->params), .curve = problem.curve};
    call->exec = exec_here();
    call->points = msm_span(problem.points, COUNT);
    call->scalars = msm_span(problem.scalars, COUNT);
    call->results = msm_span(call->result, 1);
    call->points_given = &call->points;
    memset(call->result, 7, sizeof(call->result));
}

static void refused(struct call *call, pool_status status, const char *text)
{
    assert_int_equal(
        pool_msm(&call->params, &call->exec, call->points_given, &call->scalars, &call->results),
        status);
    if (!strstr(pool_last_error()->message, text))
        fail_msg("\"%s\" does not contain \"%s\"", pool_last_error()->message, text);
    for (size_t i = 0; i < sizeof(call->result); i++)
        assert_int_equal(call->result[i], 7);
}

#define REFUSE_AS(status, change, text)                                                            \
    do {                                                                                           \
        struct call call;                                                                          \
        init(&call);                                                                               \
        change;                                                                                    \
        refused(&call, status, text);                                                              \
    } while (0)
#define REFUSE(change, text) REFUSE_AS(POOL_ERR_INVALID_ARGUMENT, change, text)

static void test_params(void **state)
{
    pool_stream *stream = NULL;

    (void)state;
    REFUSE(call.params.struct_size = 0, "struct_size");
    REFUSE(call.params.curve = NULL, "one of them is required");
    REFUSE(call.params.point_layout = (pool_point_layout)5,
        "pool_msm: unsupported value 5 for `point_layout`; it must be 0 to 4");
    REFUSE(call.params.result_layout = (pool_point_layout)-1, "for `result_layout`");
    REFUSE(call.params.shared_bases = 2, "value 2 for `shared_bases`");
    REFUSE(call.exec.is_async = 2, "value 2 for `is_async`");
    REFUSE(call.exec.checks = 16, "value 0x10 for `checks`; the supported flags are");
    REFUSE(call.exec.checks = POOL_CHECK_CANONICAL | POOL_CHECK_REDUCE, "exclude each other");
    REFUSE(call.exec.checks = 4, "value 0x4 for `checks`; POOL_CHECK_SUBGROUP is 0x6");
    REFUSE_AS(POOL_ERR_UNSUPPORTED, call.exec.on_host = 1, "`on_host` is not supported");
    REFUSE(call.params.window_bits = 1, "value 1 for `window_bits`; it must be 2 to 24");
    REFUSE(call.params.window_bits = 25, "value 25 for `window_bits`");
    REFUSE(call.params.affine_passes = 3, "value 3 for `affine_passes`; it must be 0 to 2");
    REFUSE(call.params.affine_passes = POOL_AFFINE_NONE - 1, "for `affine_passes`");
    REFUSE((call.params.scalar_bits = 9, call.exec.checks = POOL_CHECK_REDUCE),
        "value 9 for `scalar_bits`");
    REFUSE(call.params.scalar_bits = 257, "value 257 for `scalar_bits`; it must be 0 to 256");
    REFUSE(call.params.scalar_bits = 5000, "value 5000 for `scalar_bits`");
    REFUSE(call.params.first_base = 3, "value 3 for `first_base`; it must be 0 without `bases`");
    REFUSE_AS(POOL_ERR_NOT_BOUND, call.exec.device = NULL, "");
    assert_ok(pool_stream_create(other, NULL, &stream));
    REFUSE_AS(POOL_ERR_WRONG_DEVICE, call.exec.stream = stream, "");
    assert_ok(pool_stream_destroy(&stream));
}

static void test_spans(void **state)
{
    (void)state;
    REFUSE(call.points_given = NULL, "are both NULL");
    REFUSE(call.scalars.count = COUNT - 1, "the span of points has 12 points; the scalars need 11");
    REFUSE(call.points.count = COUNT + 1, "the span of points has 13 points; the scalars need 12");
    REFUSE(call.params.batch = 5, "12 scalars are not a multiple of a batch of 5 MSMs");
    REFUSE(call.params.batch = 2, "has room for 1 points; 2 MSMs have 2 results");
    REFUSE((call.params.batch = 2, call.params.shared_bases = 1, call.results.count = 2),
        "the span of points has 12 points; the scalars need 6");
    REFUSE(call.results.count = 0, "has room for 0 points; 1 MSMs have 1 results");
    REFUSE(call.points.stride = 60, "the span of points has a stride of 60 bytes");
    REFUSE(call.scalars.stride = 34, "the span of scalars has a stride of 34 bytes");
    REFUSE(call.results.stride = 32, "the span of results has a stride of 32 bytes");
    REFUSE(call.params.point_layout = POOL_POINT_JACOBIAN;
           call.points.stride = 64, "points of bn254_g1 have 96");
    REFUSE(call.points.data = NULL, "the data of the span of points must not be NULL");
    REFUSE(call.scalars.data = NULL, "the data of the span of scalars must not be NULL");
    REFUSE(call.results.data = NULL, "the data of the span of results must not be NULL");
    REFUSE(call.scalars.form = (pool_form)2, "unsupported value 2 for `form`");
    REFUSE(call.points.space = (pool_memory_space)2, "unsupported value 2 for `space`");
    REFUSE(call.points.space = POOL_MEMORY_DEVICE, "not device memory");
    REFUSE((call.scalars.data = (uint8_t *)problem.scalars + 2,
               call.scalars.space = POOL_MEMORY_DEVICE),
        "not aligned to 4 bytes");
    REFUSE((call.scalars.count = call.points.count = UINT64_MAX / 8), "too many");
    REFUSE(call.results.data = problem.scalars, "the results overlap");
    REFUSE(call.results.data = problem.points + 64, "the results overlap");
}

static void test_devices(void **state)
{
    pool_bases_params make = {.struct_size = sizeof(make), .curve = problem.curve};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_span span = msm_span(problem.points, COUNT);
    pool_bases *points = NULL;
    pool_buffer *buffer = NULL, *slice = NULL;
    CUdeviceptr address = 0;

    (void)state;
    assert_ok(pool_bases_create(&make, &exec, &span, &points));
    REFUSE(call.params.bases = points, "are both given");
    REFUSE((call.points_given = NULL, call.params.bases = points,
               call.params.curve = pool_curve_by_name("bn254_g2")),
        "`bases` are points of bn254_g1 and `curve` is bn254_g2");
    REFUSE_AS(POOL_ERR_WRONG_DEVICE,
        (call.points_given = NULL, call.params.bases = points, call.exec.device = other),
        "`bases` are on device 0 and `device` is 1");
    REFUSE((call.points_given = NULL, call.params.bases = points,
               call.exec.checks = POOL_CHECK_ON_CURVE),
        "value 0x2 for `checks`; with `params->bases`");
    REFUSE((call.points_given = NULL, call.params.bases = points, call.params.first_base = 1),
        "12 bases from 1 on are more than the 12 of `bases`");
    REFUSE(
        (call.points_given = NULL, call.params.bases = points, call.params.first_base = UINT64_MAX),
        "are more than the 12 of `bases`");
    REFUSE((call.points_given = NULL, call.params.bases = points,
               call.params.point_layout = POOL_POINT_XYZZ),
        "for `point_layout`; it must be 0 with `bases`");
    assert_ok(pool_bases_destroy(&points));
    assert_ok(pool_buffer_alloc(other, 1 << 20, &buffer));
    assert_ok(pool_buffer_address(buffer, &address));
    REFUSE_AS(POOL_ERR_WRONG_DEVICE, call.exec.workspace = buffer,
        "`workspace` is memory of device 1, not of 0");
    REFUSE_AS(POOL_ERR_WRONG_DEVICE,
        (call.points.data = (void *)(uintptr_t)address, call.points.space = POOL_MEMORY_DEVICE),
        "is memory of device 1, not of 0");
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_buffer_alloc(device, 8 << 20, &buffer));
    assert_ok(pool_buffer_slice(buffer, 16, (8 << 20) - 16, &slice));
    REFUSE(call.exec.workspace = slice, "aligned to 256 bytes");
    assert_ok(pool_buffer_destroy(&slice));
    assert_ok(pool_buffer_slice(buffer, 0, 4096, &slice));
    REFUSE(call.exec.workspace = slice, "pool_msm: `workspace` has 4");
    assert_ok(pool_buffer_destroy(&slice));
    assert_ok(pool_buffer_address(buffer, &address));
    REFUSE((call.exec.workspace = buffer, call.scalars.space = POOL_MEMORY_DEVICE,
               call.scalars.data = (void *)(uintptr_t)(address + 4096)),
        "pool_msm: `workspace`, 8388608 bytes at ");
    assert_says("overlaps the span of scalars");
    REFUSE((call.exec.workspace = buffer, call.points.space = POOL_MEMORY_DEVICE,
               call.points.data = (void *)(uintptr_t)(address + (8 << 20) - COUNT * 64)),
        "overlaps the span of points");
    REFUSE((call.exec.workspace = buffer, call.results.space = POOL_MEMORY_DEVICE,
               call.results.data = (void *)(uintptr_t)address),
        "overlaps the span of results");
    assert_ok(pool_buffer_destroy(&buffer));
    REFUSE_AS(POOL_ERR_OUT_OF_DEVICE_MEMORY, call.exec.memory_limit = 1, "the smallest chunk");
}

static void test_workspace(void **state)
{
    struct call call;
    uint64_t bytes = 7;

    (void)state;
    init(&call);
    assert_int_equal(pool_msm_workspace(&call.params, &call.exec, &call.points, &call.scalars,
                         &call.results, NULL),
        POOL_ERR_INVALID_ARGUMENT);
    call.params.batch = 7;
    assert_int_equal(pool_msm_workspace(&call.params, &call.exec, &call.points, &call.scalars,
                         &call.results, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(bytes, 7);
    assert_int_equal(pool_msm(&call.params, &call.exec, &call.points, NULL, &call.results),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_msm(&call.params, &call.exec, &call.points, &call.scalars, NULL),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(
        pool_msm_warm_up(NULL, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}),
        POOL_ERR_INVALID_ARGUMENT);
}

static int open_all(void **state)
{
    problem = msm_problem_random(pool_curve_by_name("bn254_g1"), COUNT, 1);
    device_text = "sim:2";
    return open_pool(state) || pool_device_at(pool, 1, &other);
}

static int close_all(void **state)
{
    msm_problem_free(&problem);
    return close_pool(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_params), cmocka_unit_test(test_spans),
        cmocka_unit_test(test_devices), cmocka_unit_test(test_workspace)};

    return cmocka_run_group_tests(tests, open_all, close_all);
}
