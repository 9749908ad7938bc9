/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies where the driver has to be scripted or inspected: staging memory that cannot be allocated,
 * fails, is too small or is still in use.
 */
#include "support/memory.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/processors.h"
#include "pool/memory/memory.h"

#define MIB ((size_t)1 << 20)

/* An asynchronous copy of pinned memory returns while the device is busy. */
static void test_enqueue_only(void **state)
{
    pool_device *device = memory_device(0);
    pool_pinned *pinned = NULL;
    pool_stream *stream = NULL;
    pool_buffer *buffer = NULL;
    unsigned char *pageable = calloc(1, 3 * MIB);

    (void)state;
    assert_ok(pool_pinned_create(device, MIB, 0, &pinned));
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_buffer_alloc(device, 3 * MIB, &buffer));
    assert_ok(pool_copy_to_device(buffer, 0, pageable, 3 * MIB, NULL));
    pool_mock_stall(memory_mock);
    assert_ok(pool_copy_to_device(buffer, 0, pool_pinned_data(pinned), MIB, stream));
    assert_ok(pool_copy_to_host(pool_pinned_data(pinned), buffer, 0, MIB, stream));
    assert_ok(pool_copy_device(buffer, 0, buffer, MIB, MIB, stream));
    assert_ok(pool_buffer_fill32(buffer, 0, 4, 1, stream));
    /* Pageable memory that fits into the ring: staged, not waited for. */
    assert_ok(pool_copy_to_device(buffer, 0, pageable, 3 * MIB, stream));
    assert_status(pool_stream_query(stream), POOL_ERR_NOT_READY);
    pool_mock_resume(memory_mock);
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_pinned_destroy(&pinned));
    free(pageable);
}

/* The driver calls of a staged copy: one copy per chunk, one event, one query of the ring after a
 * copy that was only enqueued, and nothing per slot. Short copies have chunks of 256 KiB and more.
 */
static void test_driver_calls(void **state)
{
    static const struct {
        size_t bytes;
        unsigned chunks;
    } sizes[] = {
        {200 << 10, 1}, {MIB, 4}, {MIB + 1, 5}, {4 * MIB, 8}, {8 * MIB, 8}, {16 * MIB, 16}};
    pool_device *device = memory_device(0);
    unsigned char *data = calloc(1, 20 * MIB);
    pool_stream *stream = NULL;
    pool_buffer *buffer = NULL;

    (void)state;
    assert_non_null(data);
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_buffer_alloc(device, 20 * MIB, &buffer));
    assert_ok(pool_copy_to_device(buffer, 0, data, MIB, stream)); /* creates the rings */
    assert_ok(pool_copy_to_device(buffer, 0, data, 200 << 10, stream));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        pool_mock_reset_calls(memory_mock);
        assert_ok(pool_copy_to_device(buffer, 0, data, sizes[i].bytes, stream));
        assert_int_equal(memory_calls("cuMemcpyHtoDAsync"), sizes[i].chunks);
        assert_int_equal(memory_calls("cuEventRecord"), 1);
        assert_int_equal(memory_calls("cuEventQuery"), 1);
        assert_int_equal(memory_calls("cuEventSynchronize"), 0);
        assert_int_equal(memory_calls("cuStreamSynchronize"), 0);
    }
    /* Slots are used again: their copies have to be completed. */
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_copy_to_device(buffer, 0, data, 20 * MIB, stream));
    assert_int_equal(memory_calls("cuMemcpyHtoDAsync"), 20);
    assert_true(memory_calls("cuEventQuery") + memory_calls("cuEventSynchronize") > 4);
    /* A small copy to the host: a copy, an event and a wait for it. */
    assert_ok(pool_copy_to_host(data, buffer, 0, 32, stream));
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_copy_to_host(data, buffer, 0, 32, stream));
    assert_int_equal(memory_calls("cuMemcpyDtoHAsync"), 1);
    assert_int_equal(memory_calls("cuEventRecord"), 1);
    assert_int_equal(memory_calls("cuEventQuery"), 0);
    assert_int_equal(memory_calls("cuEventSynchronize"), 1);
    assert_int_equal(memory_calls("cuStreamSynchronize"), 0);
    /* To the host each chunk is waited for, so the ring is idle afterwards. */
    assert_ok(pool_copy_to_host(data, buffer, 0, 4 * MIB, stream));
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_copy_to_device(buffer, 0, data, 4 * MIB, stream));
    assert_int_equal(memory_calls("cuEventQuery"), 0);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    free(data);
}

/* No staging memory: the driver's own way is slower, and better than an error. */
static void test_no_staging(void **state)
{
    size_t bytes = 2 * MIB;
    unsigned char *data = malloc(bytes), *back = malloc(bytes);
    pool_buffer_params hidden = {
        .struct_size = sizeof(hidden), .bytes = bytes, .flags = POOL_BUFFER_SECRET};
    pool_buffer *buffer = NULL, *secret = NULL;

    (void)state;
    memory_pattern(data, bytes, 4);
    pool_mock_fail(memory_mock, "cuMemHostAlloc", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_FROM_THEN_ON);
    assert_ok(pool_buffer_from_host(memory_device(0), data, bytes, &buffer));
    assert_ok(pool_copy_to_host(back, buffer, 0, bytes, NULL));
    memory_check_pattern(back, bytes, 4);
    memset(back, 0, 100);
    assert_ok(pool_copy_to_host(back, buffer, 0, 100, NULL));
    memory_check_pattern(back, 100, 4);
    memset(back, 0, 100);
    assert_ok(pool_copy_2d(&(pool_pitched){.host = back, .pitch = 20},
        &(pool_pitched){.buffer = buffer, .pitch = 20}, 19, 5, NULL));
    memory_check_pattern(back, 19, 4);
    assert_int_equal(back[19], 0);
    assert_memory_equal(back + 80, data + 80, 19);
    assert_ok(pool_buffer_create(memory_device(0), &hidden, &secret));
    assert_status(pool_copy_to_device(secret, 0, data, bytes, NULL), POOL_ERR_OUT_OF_HOST_MEMORY);
    assert_status(pool_copy_to_device(secret, 0, data, 32, NULL), POOL_ERR_OUT_OF_HOST_MEMORY);
    assert_status(pool_copy_2d(&(pool_pitched){.buffer = secret, .pitch = 20},
                      &(pool_pitched){.host = data, .pitch = 20}, 19, 5, NULL),
        POOL_ERR_OUT_OF_HOST_MEMORY);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_buffer_destroy(&secret));
    free(data);
    free(back);
}

/* A failed copy leaves staging that works, and the first failure as the thread's detail. */
static void test_copy_fails(void **state)
{
    size_t bytes = 18 * MIB;
    unsigned char *data = malloc(bytes), *back = malloc(bytes);
    pool_buffer *buffer = NULL;

    (void)state;
    memory_pattern(data, bytes, 6);
    assert_ok(pool_buffer_alloc(memory_device(0), bytes, &buffer));
    for (uint64_t n = 1; n <= 18; n += 4) {
        pool_mock_fail(memory_mock, "cuMemcpyHtoDAsync", n, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
        assert_status(pool_copy_to_device(buffer, 0, data, bytes, NULL), POOL_ERR_INVALID_ARGUMENT);
        assert_non_null(strstr(pool_last_error()->call, "cuMemcpyHtoDAsync("));
        assert_non_null(strstr(pool_last_error()->call, "iB)"));
        pool_mock_fail(memory_mock, "cuEventRecord", n, POOL_CU_NOT_PERMITTED, POOL_MOCK_ONCE);
        assert_status(pool_copy_to_host(back, buffer, 0, bytes, NULL), POOL_ERR_DRIVER);
        assert_ok(pool_copy_to_device(buffer, 0, data, bytes, NULL));
        assert_ok(pool_copy_to_host(back, buffer, 0, bytes, NULL));
        memory_check_pattern(back, bytes, 6);
        assert_int_equal(pool_mock_depth(memory_mock), 0);
    }
    assert_ok(pool_buffer_destroy(&buffer));
    free(data);
    free(back);
}

/* Staging that the device may still use is never used again. */
static void test_ring_is_given_up(void **state)
{
    unsigned char *data = calloc(1, 2 * MIB);
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_mock_balance balance;
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), 2 * MIB, &buffer));
    pool_mock_fail(memory_mock, "cuEventRecord", 1, POOL_CU_NOT_PERMITTED, POOL_MOCK_ONCE);
    pool_mock_fail(
        memory_mock, "cuStreamSynchronize", 1, POOL_CU_NOT_PERMITTED, POOL_MOCK_FROM_THEN_ON);
    assert_status(pool_copy_to_device(buffer, 0, data, 2 * MIB, NULL), POOL_ERR_DRIVER);
    assert_non_null(strstr(pool_last_error()->call, "EventRecord"));
    pool_mock_clear_failures(memory_mock);
    assert_ok(pool_memory_get_info(memory_device(0), &info));
    assert_int_equal(info.staging_bytes, 0);
    pool_mock_get_balance(memory_mock, &balance);
    assert_int_equal(balance.host_allocations, 1);
    assert_ok(pool_copy_to_device(buffer, 0, data, 2 * MIB, NULL));
    assert_ok(pool_buffer_destroy(&buffer));
    free(data);
}

/* More helpers than slots: no thread may fill a slot before its copy has finished, or read one too
 * early. */
static void test_tight_ring(void **state)
{
    static const uint32_t slots[] = {1, 2, 3};
    size_t bytes = 3 * MIB + 17;
    unsigned char *data = malloc(bytes), *back = malloc(bytes);
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), bytes, &buffer));
    for (uint32_t i = 0; i < 9; i++) {
        const struct memory_staging_shape shape = {
            .helpers = 3, .slots = slots[i % 3], .chunk_bytes = 4096};

        assert_ok(memory_staging_reshape(memory_device(0), &shape));
        memory_pattern(data, bytes, i);
        assert_ok(pool_copy_to_device(buffer, 0, data, bytes, NULL));
        memset(back, 0, bytes);
        assert_ok(pool_copy_to_host(back, buffer, 0, bytes, NULL));
        memory_check_pattern(back, bytes, i);
    }
    assert_ok(pool_buffer_destroy(&buffer));
    free(data);
    free(back);
}

static unsigned count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned count = 0;

    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* The helpers of a copy wait for the next one, also of another ring. They end with the pool, as
 * every other test shows under a sanitizer. A forked child has none. */
static void test_helpers_stay(void **state)
{
    size_t bytes = 16 * MIB;
    unsigned char *data = calloc(1, bytes);
    unsigned before = count_threads(), with_helpers;
    pool_buffer *buffer = NULL;
    int ended;
    pid_t child;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), bytes, &buffer));
    assert_ok(pool_copy_to_device(buffer, 0, data, bytes, NULL));
    with_helpers = count_threads();
    assert_int_equal(with_helpers > before, base_processors() > 1);
    assert_ok(pool_copy_to_device(buffer, 0, data, bytes, NULL));
    assert_ok(pool_copy_to_host(data, buffer, 0, bytes, NULL));
    assert_int_equal(count_threads(), with_helpers);
    child = fork();
    if (child == 0)
        _exit(pool_destroy(&memory_pool) != POOL_OK);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_ok(pool_memory_trim(memory_device(0), 0));
    assert_ok(pool_copy_to_device(buffer, 0, data, bytes, NULL));
    assert_int_equal(count_threads(), with_helpers);
    assert_ok(pool_buffer_destroy(&buffer));
    free(data);
}

static void *let_go_later(void *argument)
{
    struct timespec pause = {.tv_nsec = 30000000};

    (void)argument;
    nanosleep(&pause, NULL);
    pool_mock_resume(memory_mock);
    return NULL;
}

/* Copies in progress hold their rings; when there is none left the next copy waits for one. */
static void test_rings_under_way(void **state)
{
    unsigned char *data = calloc(1, MIB);
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_stream *stream = NULL;
    pool_buffer *buffer = NULL;
    uint64_t start;
    pthread_t thread;

    (void)state;
    assert_ok(pool_stream_create(memory_device(0), NULL, &stream));
    assert_ok(pool_buffer_alloc(memory_device(0), MIB, &buffer));
    pool_mock_stall(memory_mock);
    for (int i = 0; i < 4; i++)
        assert_ok(pool_copy_to_device(buffer, 0, data, MIB, stream));
    assert_ok(pool_memory_get_info(memory_device(0), &info));
    assert_int_equal(info.staging_bytes, 4 * 16 * MIB);
    start = base_clock_ns();
    assert_int_equal(pthread_create(&thread, NULL, let_go_later, NULL), 0);
    assert_ok(pool_copy_to_device(buffer, 0, data, MIB, stream));
    assert_true(base_clock_ns() - start >= 30000000);
    pthread_join(thread, NULL);
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_memory_get_info(memory_device(0), &info));
    assert_int_equal(info.staging_bytes, 4 * 16 * MIB);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    free(data);
}

static pool_stream *stream_with(int32_t priority)
{
    const pool_stream_params params = {.struct_size = sizeof(params), .priority = priority};
    pool_stream *stream = NULL;

    assert_ok(pool_stream_create(memory_device(0), &params, &stream));
    return stream;
}

struct waiting_copy {
    struct device_memory *memory;
    int priority;
    struct memory_ring *ring;
    pool_status status;
    atomic_int has_ended;
};

static void *take_ring(void *user)
{
    struct waiting_copy *copy = user;

    copy->status = memory_ring_acquire(
        copy->memory, MIB, (CUstream)(uintptr_t)99, copy->priority, &copy->ring);
    atomic_store(&copy->has_ended, 1);
    return NULL;
}

static unsigned count_waiters(struct device_memory *memory)
{
    unsigned count = 0;

    pthread_mutex_lock(&memory->staging.lock);
    for (struct memory_ring_waiter *at = memory->staging.large.waiters; at; at = at->next)
        count++;
    pthread_mutex_unlock(&memory->staging.lock);
    return count;
}

static void wait_for_waiters(struct device_memory *memory, unsigned wanted)
{
    while (count_waiters(memory) != wanted)
        usleep(1000);
}

/* Copies of more urgent streams do not wait for the rings of less urgent ones, which do not take
 * over the rings beyond the usual number: four are in use in the second round as in the first. */
static void test_urgent_copy(void **state)
{
    enum { ROUNDS = 4, RINGS = 4, URGENT = 2 };
    struct memory_ring *rings[RINGS], *urgent[URGENT];
    struct waiting_copy ordinary = {0};
    pool_memory_info info = {.struct_size = sizeof(info)};
    struct device_memory *memory;
    struct device_scope scope;
    pthread_t thread;

    (void)state;
    assert_ok(pool_memory_trim(memory_device(0), 0));
    assert_ok(device_enter(memory_device(0), &scope));
    assert_ok(memory_of(&scope, &memory));
    ordinary.memory = memory;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < RINGS; i++)
            assert_ok(memory_ring_acquire(memory, MIB, NULL, 0, &rings[i]));
        atomic_store(&ordinary.has_ended, 0);
        assert_int_equal(pthread_create(&thread, NULL, take_ring, &ordinary), 0);
        wait_for_waiters(memory, 1);
        for (int i = 0; i < URGENT; i++)
            assert_ok(memory_ring_acquire(memory, MIB, NULL, -5, &urgent[i]));
        for (int i = 0; i < URGENT; i++)
            memory_ring_release(memory, urgent[i]);
        assert_int_equal(atomic_load(&ordinary.has_ended), 0);
        memory_ring_release(memory, rings[0]);
        pthread_join(thread, NULL);
        assert_ok(ordinary.status);
        memory_ring_release(memory, ordinary.ring);
        for (int i = 1; i < RINGS; i++)
            memory_ring_release(memory, rings[i]);
        assert_ok(pool_memory_get_info(memory_device(0), &info));
        assert_int_equal(info.staging_bytes, (RINGS + URGENT) * 16 * MIB);
    }
    assert_ok(device_leave(&scope, POOL_OK));
}

/* The same with copies that are only enqueued: of four rounds none waits for the stalled device. */
static void test_urgent_enqueued_copy(void **state)
{
    unsigned char *data = calloc(1, MIB);
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_stream *stream = stream_with(0), *urgent[] = {stream_with(-5), stream_with(-5)};
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_memory_trim(memory_device(0), 0));
    assert_ok(pool_buffer_alloc(memory_device(0), MIB, &buffer));
    for (int round = 0; round < 4; round++) {
        pool_mock_stall(memory_mock);
        for (int i = 0; i < 4; i++)
            assert_ok(pool_copy_to_device(buffer, 0, data, MIB, stream));
        for (int i = 0; i < 2; i++)
            assert_ok(pool_copy_to_device(buffer, 0, data, MIB, urgent[i]));
        assert_ok(pool_memory_get_info(memory_device(0), &info));
        assert_int_equal(info.staging_bytes, 6 * 16 * MIB);
        pool_mock_resume(memory_mock);
        assert_ok(pool_stream_synchronize(stream));
        for (int i = 0; i < 2; i++)
            assert_ok(pool_stream_synchronize(urgent[i]));
    }
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_stream_destroy(&urgent[0]));
    assert_ok(pool_stream_destroy(&urgent[1]));
    free(data);
}

/* Without memory for a ring beyond the usual number an urgent copy waits for one of these. */
static void test_urgent_copy_without_memory(void **state)
{
    enum { RINGS = 4 };
    struct waiting_copy urgent = {.priority = -5};
    struct memory_ring *rings[RINGS];
    struct device_memory *memory;
    struct device_scope scope;
    pthread_t thread;

    (void)state;
    assert_ok(pool_memory_trim(memory_device(0), 0));
    assert_ok(device_enter(memory_device(0), &scope));
    assert_ok(memory_of(&scope, &memory));
    urgent.memory = memory;
    for (int i = 0; i < RINGS; i++)
        assert_ok(memory_ring_acquire(memory, MIB, NULL, 0, &rings[i]));
    pool_mock_reset_calls(memory_mock);
    pool_mock_fail(memory_mock, "cuMemHostAlloc", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_FROM_THEN_ON);
    assert_int_equal(pthread_create(&thread, NULL, take_ring, &urgent), 0);
    while (!atomic_load(&urgent.has_ended) && !count_waiters(memory))
        usleep(1000);
    assert_true(memory_calls("cuMemHostAlloc") > 0);
    assert_int_equal(atomic_load(&urgent.has_ended), 0);
    memory_ring_release(memory, rings[2]);
    pthread_join(thread, NULL);
    pool_mock_clear_failures(memory_mock);
    assert_ok(urgent.status);
    assert_ptr_equal(urgent.ring, rings[2]);
    memory_ring_release(memory, urgent.ring);
    for (int i = 0; i < RINGS; i++)
        if (i != 2)
            memory_ring_release(memory, rings[i]);
    assert_ok(device_leave(&scope, POOL_OK));
}

/* Of the copies that wait for a ring the most urgent one has the next, also if it came last. */
static void test_order_of_waiting_copies(void **state)
{
    enum { RINGS = 4, COPIES = 3 };
    static const int priorities[COPIES] = {0, -2, -4};
    struct waiting_copy copies[COPIES] = {{0}};
    struct memory_ring *rings[RINGS];
    struct device_memory *memory;
    struct device_scope scope;
    pthread_t threads[COPIES];

    (void)state;
    assert_ok(pool_memory_trim(memory_device(0), 0));
    assert_ok(device_enter(memory_device(0), &scope));
    assert_ok(memory_of(&scope, &memory));
    for (int i = 0; i < RINGS; i++)
        assert_ok(memory_ring_acquire(memory, MIB, NULL, -5, &rings[i]));
    for (unsigned i = 0; i < COPIES; i++) {
        copies[i] = (struct waiting_copy){.memory = memory, .priority = priorities[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, take_ring, &copies[i]), 0);
        wait_for_waiters(memory, i + 1);
    }
    for (unsigned i = COPIES; i-- > 0;) {
        memory_ring_release(memory, rings[i]);
        wait_for_waiters(memory, i);
        pthread_join(threads[i], NULL);
        assert_ok(copies[i].status);
        for (unsigned k = 0; k < i; k++)
            assert_int_equal(atomic_load(&copies[k].has_ended), 0);
    }
    for (unsigned i = 0; i < COPIES; i++)
        memory_ring_release(memory, copies[i].ring);
    memory_ring_release(memory, rings[RINGS - 1]);
    assert_ok(device_leave(&scope, POOL_OK));
}

/* The driver's copy does not take overlap: it is given pieces, or the way over other memory. */
static void test_overlap_is_cut(void **state)
{
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), 3000, &buffer));
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_copy_device(buffer, 1000, buffer, 0, 1000, NULL)); /* they only touch */
    assert_int_equal(memory_calls("cuMemcpyDtoDAsync"), 1);
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_copy_device(buffer, 999, buffer, 0, 1998, NULL));
    assert_int_equal(memory_calls("cuMemcpyDtoDAsync"), 2);
    assert_int_equal(memory_calls("cuMemAllocFromPoolAsync"), 0);
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_copy_device(buffer, 0, buffer, 1, 2000, NULL));
    assert_int_equal(memory_calls("cuMemcpyDtoDAsync"), 2);
    assert_int_equal(memory_calls("cuMemAllocFromPoolAsync"), 1);
    assert_int_equal(memory_calls("cuMemFreeAsync"), 1);
    assert_ok(pool_buffer_destroy(&buffer));
}

static void set_parts(const struct memory_parts *parts)
{
    for (size_t i = 0; i < 2; i++) {
        struct device_memory *memory;
        struct device_scope scope;

        assert_ok(device_enter(memory_device(i), &scope));
        assert_ok(memory_of(&scope, &memory));
        memory->parts = *parts;
        assert_ok(device_leave(&scope, POOL_OK));
    }
}

/* Long copies and fills are several of the driver's, so that those of other streams come in
 * between. */
static void test_parts(void **state)
{
    enum { COUNT = 10000 };
    const struct memory_parts parts = {.link = 4096, .peer = 3000, .device = 2500};
    pool_device *device = memory_device(0);
    pool_pinned *pinned = NULL;
    pool_buffer *buffer = NULL, *other = NULL;
    unsigned char *data;

    (void)state;
    assert_ok(pool_pinned_create(device, 2 * COUNT, 0, &pinned));
    assert_ok(pool_buffer_alloc(device, 2 * COUNT, &buffer));
    assert_ok(pool_buffer_alloc(memory_device(1), COUNT, &other));
    data = pool_pinned_data(pinned);
    memory_pattern(data, COUNT, 5);
    set_parts(&parts);
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_copy_to_device(buffer, 0, data, COUNT, NULL));
    assert_int_equal(memory_calls("cuMemcpyHtoDAsync"), 3);
    assert_ok(pool_copy_device(buffer, 7000, buffer, 0, COUNT, NULL)); /* overlaps */
    assert_int_equal(memory_calls("cuMemcpyDtoDAsync"), 4);
    assert_ok(pool_copy_device(other, 0, buffer, 7000, COUNT, NULL));
    assert_int_equal(memory_calls("cuMemcpyPeerAsync"), 4);
    assert_ok(pool_copy_to_host(data + COUNT, other, 0, COUNT, NULL));
    assert_int_equal(memory_calls("cuMemcpyDtoHAsync"), 3);
    memory_check_pattern(data + COUNT, COUNT, 5);

    assert_ok(pool_buffer_fill16(buffer, 2, COUNT / 2 - 1, 0x5a5a, NULL));
    assert_int_equal(memory_calls("cuMemsetD16Async"), 4);
    assert_ok(pool_copy_to_host(data, buffer, 0, COUNT, NULL));
    assert_true(memory_all(data + 2, COUNT - 2, 0x5a));
    assert_int_not_equal(data[0] << 8 | data[1], 0x5a5a);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_buffer_zeroed(device, COUNT, &buffer));
    assert_int_equal(memory_calls("cuMemsetD8Async"), 4);
    assert_ok(pool_copy_to_host(data, buffer, 0, COUNT, NULL));
    assert_true(memory_all(data, COUNT, 0));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_buffer_destroy(&other));
    assert_ok(pool_pinned_destroy(&pinned));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_helpers_stay), /* first: joined threads are listed in /proc for a while */
        TEST(test_enqueue_only),
        TEST(test_driver_calls),
        TEST(test_no_staging),
        TEST(test_copy_fails),
        TEST(test_ring_is_given_up),
        TEST(test_tight_ring),
        TEST(test_rings_under_way),
        TEST(test_urgent_copy),
        TEST(test_urgent_enqueued_copy),
        TEST(test_urgent_copy_without_memory),
        TEST(test_order_of_waiting_copies),
        TEST(test_overlap_is_cut),
        TEST(test_parts),
    };

    return cmocka_run_group_tests_name("copies on the mock", tests, NULL, NULL);
}
