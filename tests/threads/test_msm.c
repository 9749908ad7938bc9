/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSMs from many threads at once on two simulated devices, first use included: asynchronous ones on
 * a stream per thread, bases shared by all threads, and bases that are found, retained and released
 * concurrently.
 */
#include "support/msm.h"

#include <pthread.h>

#include "driver/nvrtc.h"
#include "support/pool.h"

enum { THREADS = 6, CALLS = 2, COUNT = 24 };

static struct msm_problem problem;
static uint8_t wanted[CALLS][MSM_POINT_MAX];
static pool_bases *handles[2];
static uint8_t fingerprint[POOL_FINGERPRINT_BYTES];

struct worker {
    pthread_t thread;
    unsigned number;
    int wrong;
};

/* MSM i omits the first i products; every second one uses the handle. */
static pool_status run_call(
    pool_device *device, pool_stream *stream, pool_bases *points, uint64_t i, pool_buffer *result)
{
    pool_msm_params params = {.struct_size = sizeof(params), .curve = problem.curve};
    pool_exec exec = {
        .struct_size = sizeof(exec), .device = device, .stream = stream, .is_async = 1};
    pool_span in = msm_span(msm_point(&problem, i), COUNT - i);
    pool_span by = msm_span(msm_scalar(&problem, i), COUNT - i);
    CUdeviceptr address = 0;
    pool_status status = pool_buffer_address(result, &address);
    pool_span out = {.data = (uint8_t *)(uintptr_t)address + i * problem.point_bytes,
        .count = 1,
        .space = POOL_MEMORY_DEVICE};

    if (i % 2) {
        params.bases = points;
        params.first_base = i;
    }
    return status ? status : pool_msm(&params, &exec, i % 2 ? NULL : &in, &by, &out);
}

/* No assertion here: only the main thread may fail. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    pool_device *device = NULL;
    pool_stream *stream = NULL;
    pool_bases *points = NULL;
    pool_buffer *result = NULL;
    uint8_t got[CALLS * MSM_POINT_MAX];

    worker->wrong = pool_device_at(pool, worker->number % 2, &device) != POOL_OK ||
                    pool_stream_create(device, NULL, &stream) != POOL_OK ||
                    pool_bases_find(device, fingerprint, 2, &points) != POOL_OK ||
                    pool_buffer_alloc(device, CALLS * problem.point_bytes, &result) != POOL_OK;
    for (uint64_t i = 0; i < CALLS && !worker->wrong; i++)
        worker->wrong = run_call(device, stream, points, i, result) != POOL_OK;
    worker->wrong |= pool_bases_destroy(&points) != POOL_OK;
    worker->wrong |= pool_copy_to_host(got, result, 0, CALLS * problem.point_bytes, stream) != 0;
    worker->wrong |= pool_stream_synchronize(stream) != POOL_OK;
    for (size_t i = 0; i < CALLS; i++)
        worker->wrong |= memcmp(got + i * problem.point_bytes, wanted[i], problem.point_bytes) != 0;
    worker->wrong |= pool_buffer_destroy(&result) != POOL_OK;
    worker->wrong |= pool_stream_destroy(&stream) != POOL_OK;
    return NULL;
}

static void make_handles(void)
{
    for (size_t i = 0; i < 2; i++) {
        pool_bases_params params = {
            .struct_size = sizeof(params), .curve = problem.curve, .precompute_factor = 2};
        pool_exec exec = {.struct_size = sizeof(exec)};
        pool_span span = msm_span(problem.points, COUNT);

        assert_ok(pool_device_at(pool, i, &exec.device));
        assert_ok(pool_bases_create(&params, &exec, &span, &handles[i]));
        assert_ok(pool_bases_fingerprint(handles[i], fingerprint));
    }
}

static void test_threads(void **state)
{
    struct worker workers[THREADS];

    (void)state;
    problem = msm_problem_random(pool_curve_by_name("bn254_g1"), COUNT, 4);
    for (uint64_t i = 0; i < CALLS; i++) {
        struct msm_problem part = problem;

        part.points = msm_point(&problem, i);
        part.scalars = msm_scalar(&problem, i);
        part.count = COUNT - i;
        msm_expect(&part, wanted[i]);
    }
    make_handles();
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_false(workers[i].wrong);
    }
    assert_ok(pool_bases_destroy(&handles[0]));
    assert_ok(pool_bases_destroy(&handles[1]));
    msm_problem_free(&problem);
}

/* Threads find a handle, or not, while its owner releases it. */
static void *seek(void *argument)
{
    struct worker *worker = argument;
    pool_device *device = NULL;

    worker->wrong = pool_device_at(pool, 0, &device) != POOL_OK;
    for (int i = 0; i < 300 && !worker->wrong; i++) {
        pool_bases *points = NULL;
        pool_status status = pool_bases_find(device, fingerprint, 1, &points);

        worker->wrong = status != POOL_OK && status != POOL_ERR_NOT_FOUND;
        if (points)
            worker->wrong |= pool_bases_count(points) != 3;
        worker->wrong |= pool_bases_destroy(&points) != POOL_OK;
    }
    return NULL;
}

static void test_race(void **state)
{
    struct worker workers[THREADS];
    pool_bases_params params = {
        .struct_size = sizeof(params), .curve = pool_curve_by_name("bn254_g1")};
    pool_exec exec = {.struct_size = sizeof(exec)};
    struct msm_problem three = msm_problem_random(params.curve, 3, 4);
    pool_span span = msm_span(three.points, 3);
    pool_bases *points = NULL;

    (void)state;
    assert_ok(pool_device_at(pool, 0, &exec.device));
    assert_ok(pool_bases_create(&params, &exec, &span, &points));
    assert_ok(pool_bases_fingerprint(points, fingerprint));
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, seek, &workers[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        assert_ok(pool_bases_destroy(&points));
        assert_ok(pool_bases_create(&params, &exec, &span, &points));
        assert_ok(pool_bases_fingerprint(points, fingerprint));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_false(workers[i].wrong);
    }
    assert_ok(pool_bases_destroy(&points));
    msm_problem_free(&three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_race)};
    const struct nvrtc *nvrtc;

    device_text = "sim:2";
    if (driver_nvrtc_open(&nvrtc))
        return 77;
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
