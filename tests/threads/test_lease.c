/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases under 64 threads: nothing is over-committed, every wait ends, also while devices are
 * drained and resumed, requests are cancelled and, at last, the process is lost. Threads count what
 * is wrong; only the main thread asserts.
 */
#include "support/assert.h"
#include "support/mock_pool.h"

#include <time.h>

#include "base/alloc.h"
#include "pool/lease/admission.h"

#define THREADS 64
#define DEVICES 4
#define ROUNDS 200
#define CAPACITY (100 * GIB)

struct gang {
    struct world world;
    pthread_barrier_t start;
    atomic_int wrong;
    atomic_int granted;
    atomic_int ended; /* threads */
    atomic_uint_fast64_t bytes[DEVICES];
    atomic_uint slots[DEVICES];
    atomic_int may_be_poisoned;
};

struct member {
    struct gang *gang;
    uint64_t random;
    pthread_t thread;
};

static uint64_t roll(struct member *member)
{
    member->random ^= member->random << 13;
    member->random ^= member->random >> 7;
    member->random ^= member->random << 17;
    return member->random;
}

static void note(struct gang *gang, int is_right, const char *what)
{
    if (!is_right && atomic_fetch_add(&gang->wrong, 1) == 0)
        fprintf(stderr, "wrong: %s (%s)\n", what, pool_last_error()->message);
}

static pool_request random_request(struct member *member)
{
    pool_request request = {.struct_size = sizeof(request),
        .bytes = roll(member) % 3 ? roll(member) % (CAPACITY / 2) : 0,
        .slots = 1 + (uint32_t)(roll(member) % 2),
        .devices = roll(member) % 8 ? 1 : 1 + (uint32_t)(roll(member) % DEVICES),
        .priority = (int32_t)(roll(member) % 3),
        .label = "thread"};

    request.timeout_ns = roll(member) % 4   ? POOL_WAIT_FOREVER
                         : roll(member) % 2 ? roll(member) % 2000000
                                            : 0;
    return request;
}

/* Counts the reservation, uses the lease for a moment, and releases it. */
static void use_lease(struct member *member, const pool_request *request, pool_lease *lease)
{
    struct gang *gang = member->gang;
    uint32_t indices[DEVICES], count = pool_lease_device_count(lease);
    pool_stream *stream = NULL;

    note(gang, count == request->devices, "number of devices");
    for (uint32_t i = 0; i < count; i++) {
        pool_device *device = NULL;

        note(gang, !pool_lease_device(lease, i, &device), "pool_lease_device");
        indices[i] = pool_device_index(device);
        note(gang,
            atomic_fetch_add(&gang->bytes[indices[i]], request->bytes) + request->bytes <= CAPACITY,
            "bytes are over-committed");
        note(gang,
            atomic_fetch_add(&gang->slots[indices[i]], request->slots) + request->slots <=
                POOL_LEASE_SLOTS,
            "slots are over-committed");
    }
    if (roll(member) % 4 == 0)
        note(gang, !pool_lease_stream(lease, 0, &stream) || gang->may_be_poisoned, "stream");
    if (roll(member) % 4 == 0)
        sched_yield();
    for (uint32_t i = 0; i < count; i++) {
        atomic_fetch_sub(&gang->bytes[indices[i]], request->bytes);
        atomic_fetch_sub(&gang->slots[indices[i]], request->slots);
    }
    note(gang, !pool_release(&lease), "pool_release");
    atomic_fetch_add(&gang->granted, 1);
}

static int is_expected(const struct gang *gang, const pool_request *request, pool_status status)
{
    return (status == POOL_ERR_TIMEOUT && request->timeout_ns != POOL_WAIT_FOREVER) ||
           (status == POOL_ERR_CANCELLED && request->cancel) ||
           (status == POOL_ERR_PROCESS_POISONED && gang->may_be_poisoned);
}

static void *cancel_soon(void *cancel)
{
    sched_yield();
    pool_cancel_request(cancel);
    return NULL;
}

static void acquire_blocking(struct member *member, pool_request *request)
{
    pool_lease *lease = NULL;
    pthread_t canceller;
    pool_status status;

    if (roll(member) % 16 == 0) {
        note(member->gang, !pool_cancel_create(&request->cancel), "cancel");
        note(member->gang, !pthread_create(&canceller, NULL, cancel_soon, request->cancel),
            "thread");
    }
    status = pool_acquire(member->gang->world.pool, request, &lease);
    if (!status)
        use_lease(member, request, lease);
    else
        note(member->gang, is_expected(member->gang, request, status), "pool_acquire");
    if (request->cancel) {
        pthread_join(canceller, NULL);
        pool_cancel_destroy(&request->cancel);
    }
}

static void count_hook(void *user, pool_ticket *ticket)
{
    (void)ticket;
    atomic_fetch_add((atomic_int *)user, 1);
}

static void acquire_by_ticket(struct member *member, const pool_request *request)
{
    struct gang *gang = member->gang;
    pool_ticket *ticket = NULL;
    pool_lease *lease = NULL;
    atomic_int called = 0;
    pool_status status =
        pool_acquire_async(gang->world.pool, request, count_hook, &called, &ticket);

    if (status) {
        note(gang, is_expected(gang, request, status), "pool_acquire_async");
        return;
    }
    if (roll(member) % 4 == 0) { /* whether it waits, was granted or runs its hook */
        note(gang, !pool_ticket_destroy(&ticket), "pool_ticket_destroy");
        return;
    }
    do {
        sched_yield();
        status = pool_ticket_take(ticket, &lease);
    } while (status == POOL_ERR_NOT_READY);
    if (!status)
        use_lease(member, request, lease);
    else
        note(gang, is_expected(gang, request, status), "pool_ticket_take");
    while (!atomic_load(&called))
        sched_yield();
    note(gang, !pool_ticket_destroy(&ticket), "pool_ticket_destroy");
    note(gang, atomic_load(&called) == 1, "calls of a hook");
}

/* Reads everything that monitoring reads; leases and requests come and go meanwhile. */
static void read_views(struct gang *gang)
{
    struct lease_views *views = lease_views_read(gang->world.pool);
    struct lease_statistics statistics;

    assert_non_null(views);
    assert_true(views->held_count <= LEASE_VIEWS && views->waiting_count <= LEASE_VIEWS);
    for (uint32_t i = 0; i < views->held_count; i++) {
        const struct lease_view *view = &views->held[i];

        assert_string_equal(view->label, "thread");
        assert_between(view->devices, 1, DEVICES);
        for (uint32_t d = 0; d < view->devices; d++)
            assert_true(
                view->indices[d] < DEVICES && (!d || view->indices[d - 1] < view->indices[d]));
    }
    for (uint32_t i = 0; i < views->waiting_count; i++)
        assert_string_equal(views->waiting[i].label, "thread");
    base_free(views);
    lease_statistics_read(gang->world.pool, &statistics);
    assert_true(statistics.held <= statistics.granted);
}

static void *work(void *user)
{
    struct member *member = user;

    pthread_barrier_wait(&member->gang->start);
    for (int i = 0; i < ROUNDS && !atomic_load(&member->gang->wrong); i++) {
        pool_request request = random_request(member);

        if (roll(member) % 8 == 0)
            acquire_by_ticket(member, &request);
        else
            acquire_blocking(member, &request);
    }
    atomic_fetch_add(&member->gang->ended, 1);
    return NULL;
}

static void start_gang(struct gang *gang, struct member *members)
{
    pool_mock_params params = {
        .struct_size = sizeof(params), .devices = DEVICES, .memory_bytes = CAPACITY, .no_log = 1};

    memset(gang, 0, sizeof(*gang));
    assert_ok(pool_mock_create(&gang->world.mock, &params));
    pool_params_init(&gang->world.params, sizeof(gang->world.params));
    gang->world.params.driver = pool_mock_table(gang->world.mock);
    assert_ok(pool_create(&gang->world.pool, &gang->world.params));
    pthread_barrier_init(&gang->start, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        members[i] =
            (struct member){.gang = gang, .random = 88172645463325252u + (uint64_t)i * 7919};
        assert_int_equal(pthread_create(&members[i].thread, NULL, work, &members[i]), 0);
    }
    pthread_barrier_wait(&gang->start);
}

static void join_gang(struct gang *gang, struct member *members)
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    pthread_barrier_destroy(&gang->start);
    assert_int_equal(gang->wrong, 0);
    for (int i = 0; i < DEVICES; i++) {
        assert_int_equal(gang->bytes[i], 0);
        assert_int_equal(gang->slots[i], 0);
    }
}

static void test_many_threads(void **state)
{
    static struct member members[THREADS];
    static struct gang gang;
    pool_lease_counts counts = {.struct_size = sizeof(counts)};

    (void)state;
    start_gang(&gang, members);
    /* Devices come and go meanwhile, and end in service. */
    for (size_t i = 0; atomic_load(&gang.ended) < THREADS; i++) {
        pool_device *device = device_of(&gang.world, i % DEVICES);

        assert_ok(pool_device_drain(device));
        sched_yield();
        assert_ok(pool_device_resume(device));
        read_views(&gang);
        sched_yield();
    }
    join_gang(&gang, members);
    assert_ok(pool_get_lease_counts(gang.world.pool, &counts));
    assert_int_equal(counts.leases, 0);
    assert_int_equal(counts.waiting, 0);
    assert_true(gang.granted > THREADS);
    world_end(&gang.world);
}

/* A fault in the midst of it: every wait ends and every lease can be released. */
static void test_poison_under_load(void **state)
{
    static struct member members[THREADS];
    static struct gang gang;
    pool_buffer *buffer = NULL;

    (void)state;
    start_gang(&gang, members);
    atomic_store(&gang.may_be_poisoned, 1);
    while (atomic_load(&gang.granted) < 200)
        sched_yield();
    assert_ok(pool_mock_poison(gang.world.mock, 700));
    assert_status(
        pool_buffer_alloc(device_of(&gang.world, 0), 64, &buffer), POOL_ERR_PROCESS_POISONED);
    join_gang(&gang, members);
    assert_ok(pool_destroy(&gang.world.pool));
    pool_mock_destroy(&gang.world.mock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_poison_under_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
