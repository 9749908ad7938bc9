/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short jobs beside a long one: what is measured, that a single wrong byte of either is counted,
 * and that a failure ends the measurement.
 */
#include "tools/bench/share.h"

#include "support/assert.h"

enum { CLIENTS = 2, ARRIVALS = 30, RATE = 200 };

static device_pool *pool;
static pool_device *device;

static int open_pool(void **state)
{
    const pool_params params = {
        .struct_size = sizeof(params), .devices = "sim:1", .slots = CLIENTS + 1};

    (void)state;
    return pool_create(&pool, &params) || pool_device_at(pool, 0, &device);
}

static int close_pool(void **state)
{
    (void)state;
    return pool_destroy(&pool);
}

static void open_task(struct share_task *task, const struct bench_operation *operation,
    const struct bench_case *spec, uint64_t window)
{
    *task = (struct share_task){.window = window,
        .run = {.operation = operation, .spec = *spec, .pool = pool, .device = device}};
    assert_ok(share_open(task));
    assert_true(task->run.is_correct);
}

static void open_ntt(struct share_task *task, uint64_t size, uint64_t window)
{
    open_task(task, &bench_ntt, &(struct bench_case){.subject = "babybear", .size = size}, window);
}

static void open_cell(struct share_cell *cell, struct share_task *clients, struct share_task *task)
{
    for (size_t i = 0; i < CLIENTS; i++)
        open_ntt(&clients[i], 16, 0);
    open_ntt(task, 64, 100);
    *cell = (struct share_cell){.clients = clients,
        .client_count = CLIENTS,
        .neighbour = task,
        .priority = 100,
        .arrivals = ARRIVALS,
        .rate = RATE,
        .seed = 1};
}

static void close_cell(struct share_cell *cell)
{
    for (size_t i = 0; i < CLIENTS; i++)
        share_close(&cell->clients[i]);
    share_close(cell->neighbour);
}

static void test_right_results(void **state)
{
    struct share_task clients[CLIENTS], task;
    struct share_cell cell;
    double begin;

    (void)state;
    open_cell(&cell, clients, &task);
    begin = bench_now();
    assert_ok(share_measure(&cell));
    /* Thirty gaps of 5 ms on average: the sum of so many is below a third of that once in 10^7. */
    assert_true(bench_now() - begin > 0.05);
    assert_true(cell.p50 > 0 && cell.p50 <= cell.p99 && cell.p99 <= cell.p999);
    assert_true(cell.p999 == cell.max); /* of 30 values */
    assert_int_equal(cell.wrong, 0);
    assert_int_equal(cell.neighbour_wrong, 0);
    assert_true(cell.neighbour_calls > 0 && cell.neighbour_ms > 0);
    /* The long job alone, as often as it fits, but at least three times. */
    cell.clients = NULL;
    cell.seconds = 0;
    assert_ok(share_measure(&cell));
    assert_int_equal(cell.neighbour_calls, 3);
    cell.clients = clients;
    close_cell(&cell);
}

static void test_wrong_results(void **state)
{
    struct share_task clients[CLIENTS], task;
    struct share_cell cell;

    (void)state;
    open_cell(&cell, clients, &task);
    for (size_t i = 0; i < CLIENTS; i++)
        clients[i].expected[16 * 4 - 1] ^= 1;
    assert_ok(share_measure(&cell));
    assert_int_equal(cell.wrong, ARRIVALS);
    assert_int_equal(cell.neighbour_wrong, 0);
    for (size_t i = 0; i < CLIENTS; i++)
        clients[i].expected[16 * 4 - 1] ^= 1;
    /* 256 bytes in windows of 100: the last one is read by every third call, and at the end. */
    task.expected[64 * 4 - 1] ^= 1;
    cell.clients = NULL;
    cell.seconds = 0;
    task.offset = 0;
    assert_ok(share_measure(&cell));
    assert_int_equal(cell.neighbour_calls, 3);
    assert_int_equal(cell.neighbour_wrong, 2);
    cell.clients = clients;
    close_cell(&cell);
}

/* Every kind of job, once on the host's memory and once on that of the device. */
static void test_jobs(void **state)
{
    static const struct {
        const struct bench_operation *operation;
        struct bench_case spec;
    } jobs[] = {
        {&bench_msm, {.subject = "bn254_g1", .size = 9, .precompute_factor = 1}},
        {&bench_msm,
            {.subject = "bn254_g1", .size = 9, .precompute_factor = 1, .from_pageable = true}},
        {&bench_poseidon, {.subject = "circom-bn254-t3", .size = 5}},
        {&bench_open, {.subject = "circom-bn254-t3", .size = 9}},
        {&bench_open, {.subject = "circom-bn254-t3", .size = 1}},
        {&bench_tree, {.subject = "circom-bn254-t3", .size = 9, .on_device = true}},
        {&bench_extend, {.subject = "babybear", .size = 4, .batch = 3, .log_blowup = 1}},
        {&bench_extend,
            {.subject = "babybear", .size = 4, .batch = 3, .log_blowup = 1, .commits = true}},
    };

    (void)state;
    for (size_t i = 0; i < BENCH_COUNT_OF(jobs); i++) {
        struct share_task task;
        struct share_cell cell = {.neighbour = &task, .arrivals = 1, .rate = 1};

        open_task(&task, jobs[i].operation, &jobs[i].spec, 0);
        assert_ok(share_measure(&cell));
        assert_int_equal(cell.neighbour_wrong, 0);
        if (task.result.bytes) {
            task.expected[task.result.bytes - 1] ^= 1;
            assert_ok(share_measure(&cell));
            assert_int_equal(cell.neighbour_wrong, 3);
        }
        share_close(&task);
    }
}

static void test_failure(void **state)
{
    struct share_task clients[CLIENTS], task;
    struct share_cell cell;

    (void)state;
    open_cell(&cell, clients, &task);
    task.lease_bytes = UINT64_C(1) << 60;
    assert_int_equal(share_measure(&cell), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(task.status, POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_non_null(strstr(task.run.failure, "bytes"));
    close_cell(&cell);
    task = (struct share_task){.run = {.operation = &bench_extend,
                                   .spec = {.subject = "bn254_fr", .size = 4, .commits = true},
                                   .pool = pool,
                                   .device = device}};
    assert_status(share_open(&task), POOL_ERR_NOT_FOUND);
    assert_non_null(strstr(task.run.failure, "poseidon2-plonky3-bn254_fr-t16"));
    share_close(&task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_results),
        cmocka_unit_test(test_wrong_results), cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_failure)};

    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
