/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lease has its bytes: threads whose leases share all memory of a GPU allocate and free theirs,
 * or half of it, again and again while fills run, so that the memory is full of pending frees, on
 * streams and by pool_buffer_destroy. Nobody runs out of memory.
 *
 *   test_budgets [DEVICES]
 */
#include "support/assert.h"
#include "support/sample.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 6, ROUNDS = 25, PARTS_MAX = 2 };

#define UNIT (UINT64_C(128) << 10) /* halves are whole units of the driver, too */

static const char *devices;
static device_pool *pool;
static uint64_t budget;

struct member {
    pthread_t thread;
    unsigned seed;
    pool_device *device;
    char failure[1024]; /* empty: none */
};

static bool has_failed(struct member *member, pool_status status, const char *call)
{
    if (status)
        snprintf(member->failure, sizeof(member->failure), "%s is %s: %s", call,
            pool_status_name(status), pool_last_error()->message);
    return status != POOL_OK;
}
#define FAILS(call) has_failed(member, (call), #call)

/* Ordered by a stream of the lease or not, and freed likewise. */
static bool use_bytes(struct member *member, pool_lease *lease, pool_stream *stream)
{
    pool_buffer *buffer = NULL;
    pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = budget >> rand_r(&member->seed) % 2,
        .lease = lease};

    if (rand_r(&member->seed) % 2)
        params.stream = stream;
    if (FAILS(pool_buffer_create(member->device, &params, &buffer)))
        return false;
    for (int i = rand_r(&member->seed) % 8; i >= 0; i--)
        if (FAILS(pool_buffer_fill8(buffer, 0, params.bytes, 1, stream)))
            return false;
    return rand_r(&member->seed) % 2 ? !FAILS(pool_buffer_destroy(&buffer))
                                     : !FAILS(pool_buffer_destroy_on(&buffer, stream));
}

static void *use_budget(void *user)
{
    struct member *member = user;
    const pool_request request = {.struct_size = sizeof(request),
        .bytes = budget,
        .device = member->device,
        .timeout_ns = POOL_WAIT_FOREVER};
    const int rounds = takes_a_sample() ? ROUNDS / 2 : ROUNDS;
    pool_stream *stream = NULL;
    pool_lease *lease = NULL;

    if (FAILS(pool_acquire(pool, &request, &lease)) || FAILS(pool_lease_stream(lease, 0, &stream)))
        return NULL;
    for (int round = 0; round < rounds && use_bytes(member, lease, stream); round++)
        ;
    if (!member->failure[0])
        (void)FAILS(pool_release(&lease));
    return NULL;
}

/* The threads use the devices of the pool, parts of one GPU, in turn. */
static void check(const char *spec, uint64_t limit)
{
    const pool_params params = {
        .struct_size = sizeof(params), .devices = spec, .slots = THREADS, .memory_limit = limit};
    pool_memory_info info = {.struct_size = sizeof(info)};
    static struct member members[THREADS];
    pool_device *device[PARTS_MAX];
    size_t count;

    assert_ok(pool_create(&pool, &params));
    count = pool_device_count(pool);
    assert_between(count, 1, PARTS_MAX);
    for (size_t i = 0; i < count; i++)
        assert_ok(pool_device_at(pool, i, &device[i]));
    assert_ok(pool_memory_get_info(device[0], &info));
    budget = info.available_bytes / THREADS / UNIT * UNIT;
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] = (struct member){.seed = i + 1, .device = device[i % count]};
        assert_int_equal(pthread_create(&members[i].thread, NULL, use_budget, &members[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        if (members[i].failure[0])
            fail_msg("thread %u of %s: %s", i, spec, members[i].failure);
    assert_ok(pool_memory_get_info(device[0], &info));
    assert_int_equal(info.used_bytes, 0);
    assert_int_equal(info.lease_reserved_bytes, 0);
    assert_ok(pool_destroy(&pool));
}

static void test_device(void **state)
{
    (void)state;
    check(devices ? devices : "sim:1,sms=132,mem=48M", 0);
}

static void test_parts(void **state)
{
    (void)state;
    if (devices)
        skip();
    check("sim:1,sms=132,mem=48M/16+116", 0);
}

static void test_limit(void **state)
{
    (void)state;
    if (devices)
        skip();
    check("sim:1,sms=132,mem=48M", 36 << 20);
}

/* What is in a pending free on one stream is allocated as soon as that stream has freed it: before
 * the work on another one ends. */
static void test_beside_hang(void **state)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "sim:1,sms=132,mem=48M"};
    pool_request request = {.struct_size = sizeof(request)};
    pool_buffer_params of_lease = {.struct_size = sizeof(of_lease), .bytes = 40 << 20};
    pool_buffer *small = NULL, *large = NULL;
    pool_stream *hung = NULL, *stream = NULL;
    pool_lease *lease = NULL;
    pool_device *device = NULL;

    (void)state;
    if (devices)
        skip();
    assert_ok(pool_create(&pool, &params));
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_buffer_alloc(device, 4096, &small));
    assert_ok(pool_stream_create(device, NULL, &hung));
    request.bytes = of_lease.bytes;
    assert_ok(pool_acquire(pool, &request, &lease));
    assert_ok(pool_lease_stream(lease, 0, &stream));
    of_lease.lease = lease;
    assert_ok(pool_buffer_create(device, &of_lease, &large));
    assert_ok(pool_sim_set_faults("cuMemsetD8Async@1=hang"));
    assert_ok(pool_buffer_fill8(small, 0, 4096, 1, hung));
    assert_ok(pool_sim_set_faults(NULL));
    for (int i = 0; i < 20; i++)
        assert_ok(pool_buffer_fill8(large, 0, of_lease.bytes, 1, stream));
    assert_ok(pool_buffer_destroy_on(&large, stream));
    assert_ok(pool_buffer_create(device, &of_lease, &large));
    assert_status(pool_stream_query(hung), POOL_ERR_NOT_READY);
    assert_ok(pool_sim_resume());
    assert_ok(pool_buffer_destroy(&large));
    assert_ok(pool_buffer_destroy(&small));
    assert_ok(pool_stream_destroy(&hung));
    assert_ok(pool_release(&lease));
    assert_ok(pool_destroy(&pool));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_beside_hang),
    };

    devices = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
