/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a service tests its own code without a GPU: cmocka and the mock driver.
 *
 *     cc service_test.c $(pkg-config --cflags --libs devicepool-mock cmocka) -o service_test
 *
 * The service's code comes first; it does not depend on the mock. The tests create its pool on a
 * mock driver, script the driver's behaviour, and check the service's reaction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include <devicepool.h>
#include <devicepool/mock.h>

/* ---- the service ---------------------------------------------------------------------------- */

enum outcome { JOB_PLACED, JOB_TRY_LATER, SERVICE_MUST_RESTART };

/* Runs a job on the next device, round robin. The class of a failure decides what to do. */
static enum outcome place_job(device_pool *pool, int *ordinal)
{
    pool_device *device;
    pool_status status = pool_next_device(pool, &device);

    if (status == POOL_OK)
        status = pool_bind(device);
    if (status == POOL_OK) {
        *ordinal = pool_device_ordinal(device); /* a real job would compute here */
        status = pool_unbind(device);
    }
    switch (pool_status_class(status)) {
    case POOL_CLASS_NONE:
        return JOB_PLACED;
    case POOL_CLASS_PROCESS:
        fprintf(stderr, "restarting: %s\n", pool_last_error()->message);
        return SERVICE_MUST_RESTART;
    default:
        return JOB_TRY_LATER;
    }
}

/* ---- its tests ------------------------------------------------------------------------------ */

struct fixture {
    pool_mock *mock;
    device_pool *pool;
};

static void start(struct fixture *fixture, uint32_t devices)
{
    const pool_mock_params params = {.struct_size = sizeof(params), .devices = devices};

    assert_int_equal(pool_mock_create(&fixture->mock, &params), POOL_OK);
}

static void make_pool(struct fixture *fixture)
{
    const pool_params params = {
        .struct_size = sizeof(params), .devices = "all", .driver = pool_mock_table(fixture->mock)};

    assert_int_equal(pool_create(&fixture->pool, &params), POOL_OK);
}

static void end(struct fixture *fixture)
{
    assert_int_equal(pool_destroy(&fixture->pool), POOL_OK);
    assert_string_equal(pool_mock_verify(fixture->mock), "");
    pool_mock_destroy(&fixture->mock);
}

static void jobs_go_round(void **state)
{
    struct fixture fixture = {0};
    int ordinal = -1;

    (void)state;
    start(&fixture, 3);
    make_pool(&fixture);
    for (int job = 0; job < 6; job++) {
        assert_int_equal(place_job(fixture.pool, &ordinal), JOB_PLACED);
        assert_int_equal(ordinal, job % 3);
    }
    assert_int_equal(pool_mock_calls(fixture.mock, "cuCtxPushCurrent"), 6);
    /* Nothing has leaked: contexts, memory, streams, the thread's current context. */
    assert_int_equal(pool_destroy(&fixture.pool), POOL_OK);
    assert_string_equal(pool_mock_leaks(fixture.mock), "");
    end(&fixture);
}

static void a_broken_device_is_left_out(void **state)
{
    struct fixture fixture = {0};
    int ordinal = -1;

    (void)state;
    start(&fixture, 2);
    pool_mock_fail_on(fixture.mock, 0, "cuDevicePrimaryCtxRetain", 1, POOL_CU_DEVICE_UNAVAILABLE,
        POOL_MOCK_FROM_THEN_ON);
    make_pool(&fixture);
    for (int job = 0; job < 3; job++) {
        assert_int_equal(place_job(fixture.pool, &ordinal), JOB_PLACED);
        assert_int_equal(ordinal, 1);
    }
    end(&fixture);
}

static void a_passing_failure_is_tried_again(void **state)
{
    struct fixture fixture = {0};
    int ordinal = -1;

    (void)state;
    start(&fixture, 1);
    make_pool(&fixture);
    pool_mock_fail(fixture.mock, "cuCtxPushCurrent", 1, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
    assert_int_equal(place_job(fixture.pool, &ordinal), JOB_TRY_LATER);
    assert_int_equal(place_job(fixture.pool, &ordinal), JOB_PLACED);
    end(&fixture);
}

static void a_sticky_fault_ends_the_process(void **state)
{
    struct fixture fixture = {0};
    int ordinal = -1;

    (void)state;
    start(&fixture, 2);
    make_pool(&fixture);
    pool_mock_fail(fixture.mock, "cuCtxPushCurrent", 1, POOL_CU_ILLEGAL_ADDRESS, POOL_MOCK_ONCE);
    assert_int_equal(place_job(fixture.pool, &ordinal), SERVICE_MUST_RESTART);
    assert_int_equal(place_job(fixture.pool, &ordinal), SERVICE_MUST_RESTART);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_go_round),
        cmocka_unit_test(a_broken_device_is_left_out),
        cmocka_unit_test(a_passing_failure_is_tried_again),
        cmocka_unit_test(a_sticky_fault_ends_the_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
