/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between devices of different workers: every size through windows and through pinned
 * memory, by several threads, and with each call of either worker failing or ending its process.
 *
 *   test_exchange copies: where no process ends
 *   test_exchange [STRIDE]: processes end at every STRIDE-th count of a step
 *   test_exchange workers:…: copies between these devices, and rates; exit 77 unless there are two
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <devicepool.h>

#include "base/clock.h"
#include "driver/driver.h"
#include "driver/worker/worker.h"
#include "left_behind.h"
#include "support/assert.h"
#include "support/sample.h"

#define MIB ((size_t)1 << 20)
/* A window of a device of 1 GiB has two of these. */
#define SLOT (2 * MIB)
#define DEVICES "sim:3,mem=1G"

/* ---- through the table of driver functions ----------------------------------------------------
 */

static const pool_cuda_api *cu;

#define CODE(expected, call) assert_int_equal(cu->call, expected)

enum { MOST_DEVICES = 3, GUARD = 64 };

static CUcontext contexts[MOST_DEVICES];
static CUdeviceptr memory[MOST_DEVICES];

/* A sanitizer's checks of each byte took most of the time of these tests. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void fill_values(
    unsigned char *values, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        values[i] = (unsigned char)((i * 2654435761u >> 13) + seed);
}

static void open_devices(const char *devices, size_t bytes, bool has_own_contexts)
{
    int count;

    assert_ok(worker_open(devices, &cu));
    CODE(0, Init(0));
    CODE(0, DeviceGetCount(&count));
    for (int i = 0; i < MOST_DEVICES && i < count; i++) {
        if (has_own_contexts) {
            CODE(0, CtxCreate(&contexts[i], 0, i));
        } else {
            CODE(0, DevicePrimaryCtxRetain(&contexts[i], i));
            CODE(0, CtxPushCurrent(contexts[i]));
        }
        CODE(0, MemAlloc(&memory[i], bytes + 2 * GUARD));
        CODE(0, CtxPopCurrent(NULL));
    }
}

static void put(int device, size_t offset, const void *from, size_t bytes)
{
    CODE(0, CtxPushCurrent(contexts[device]));
    CODE(0, MemcpyHtoD(memory[device] + offset, from, bytes));
    CODE(0, CtxPopCurrent(NULL));
}

static void get(int device, size_t offset, void *to, size_t bytes)
{
    CODE(0, CtxPushCurrent(contexts[device]));
    CODE(0, MemcpyDtoH(to, memory[device] + offset, bytes));
    CODE(0, CtxPopCurrent(NULL));
}

static struct worker_status status_of(int ordinal)
{
    struct worker_status status;

    assert_true(worker_get_status(ordinal, &status));
    return status;
}

/* On a stream of `current`. */
static pool_cu_result copy(int to, int from, size_t offset, size_t bytes, int current)
{
    pool_cu_result code, popped;

    code = cu->CtxPushCurrent(contexts[current]);
    if (code)
        return code;
    code = cu->MemcpyPeerAsync(memory[to] + GUARD + offset, contexts[to],
        memory[from] + GUARD + offset, contexts[from], bytes, NULL);
    popped = cu->CtxPopCurrent(NULL);
    return code ? code : popped;
}

/* The bytes arrive, and nothing around them changes. */
static void copy_and_compare(int to, int from, size_t offset, size_t bytes, unsigned seed)
{
    size_t whole = offset + bytes + 2 * GUARD;
    unsigned char *sent = malloc(whole), *before = malloc(whole), *after = malloc(whole);

    fill_values(sent, whole, seed);
    fill_values(before, whole, seed + 77);
    put(from, 0, sent, whole);
    put(to, 0, before, whole);
    assert_int_equal(copy(to, from, offset, bytes, seed % 2 ? to : from), 0);
    get(to, 0, after, whole);
    memcpy(before + GUARD + offset, sent + GUARD + offset, bytes);
    assert_memory_equal(after, before, whole);
    get(from, 0, after, whole);
    assert_memory_equal(after, sent, whole);
    free(sent);
    free(before);
    free(after);
}

static void copy_sizes(void)
{
    static const struct {
        size_t offset, bytes;
    } sizes[] = {{3, 1}, {0, 4096}, {5, MIB - 1}, {0, MIB}, {0, SLOT - 1}, {1, SLOT}, {0, SLOT + 1},
        {9, 2 * SLOT}, {0, 2 * SLOT + 3}, {4, 3 * SLOT}, {0, 4 * SLOT + 17}, {7, 100}};

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        copy_and_compare(0, 1, sizes[i].offset, sizes[i].bytes, i);
        copy_and_compare(1, 0, sizes[i].offset, sizes[i].bytes, i);
    }
}

static void test_windows(void **state)
{
    struct left_behind before = look();

    (void)state;
    open_devices(DEVICES, 5 * SLOT, false);
    copy_sizes();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(status_of(i).pinned_bytes, 1 + 4096 + MIB - 1);
        assert_int_equal(status_of(i).window_bytes, 14 * SLOT + MIB + 120);
    }
    worker_close();
    assert_nothing_left(before);
}

static void test_pinned(void **state)
{
    /* No device addresses another one's memory; a device is too small for windows. */
    static const char *const devices[] = {"sim:2,mem=1G,p2p=0", "sim:2,mem=512M"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct left_behind before = look();

        open_devices(devices[i], 5 * SLOT, false);
        copy_sizes();
        assert_int_equal(status_of(0).window_bytes, 0);
        assert_int_equal(status_of(0).pinned_bytes, 14 * SLOT + 2 * MIB + 4216);
        worker_close();
        assert_nothing_left(before);
    }
}

/* No device has a primary context. */
static void test_own_contexts(void **state)
{
    (void)state;
    open_devices(DEVICES, 3 * SLOT, true);
    copy_and_compare(0, 1, 0, 3 * SLOT, 1);
    copy_and_compare(1, 2, 0, 100, 2);
    CODE(0, CtxPushCurrent(contexts[0]));
    CODE(0, MemcpyDtoD(memory[2], memory[0], 2 * SLOT));
    CODE(0, CtxPopCurrent(NULL));
    worker_close();
}

/* ---- threads ----------------------------------------------------------------------------------
 */

enum { THREADS = 6, ROUNDS = 6 };
#define PART (2 * SLOT + 1000)

/* Each thread has a part of all memory, and copies it around. */
static void *copy_around(void *user)
{
    unsigned index = (unsigned)(uintptr_t)user;
    unsigned char *values = malloc(PART), *back = malloc(PART);
    size_t offset = index * PART;
    int at = (int)index % MOST_DEVICES, step = index < THREADS / 2 ? 1 : 2;

    fill_values(values, PART, index);
    put(at, GUARD + offset, values, PART);
    for (int round = 0; round < ROUNDS; round++) {
        int to = (at + step) % MOST_DEVICES;

        assert_int_equal(copy(to, at, offset, PART, round % 2 ? to : at), 0);
        at = to;
    }
    get(at, GUARD + offset, back, PART);
    if (memcmp(values, back, PART) != 0)
        abort();
    free(values);
    free(back);
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    open_devices(DEVICES, THREADS * PART, false);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, copy_around, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(status_of(0).pinned_bytes, 0);
    worker_close();
}

/* ---- failing calls ----------------------------------------------------------------------------
 */

/* Whether memory of the device is as much as before. */
static size_t free_bytes_of(int device)
{
    size_t free_bytes = 0, total_bytes;

    CODE(0, CtxPushCurrent(contexts[device]));
    CODE(0, MemGetInfo(&free_bytes, &total_bytes));
    CODE(0, CtxPopCurrent(NULL));
    return free_bytes;
}

/* A window that cannot be opened leaves nothing, and pinned memory takes its place: for good, or
 * where memory is short once. Each process has the fault: the owner's and then the writer's. */
static void refuse(const char *function, unsigned code, unsigned attempts)
{
    size_t before[2];
    char text[80];

    snprintf(text, sizeof(text), "%s@1=%u", function, code);
    setenv("DEVICEPOOL_SIM_FAULTS", text, 1);
    open_devices("sim:2,mem=1G", 2 * SLOT, false);
    for (int device = 0; device < 2; device++)
        before[device] = free_bytes_of(device);
    for (unsigned i = 0; i < attempts; i++) {
        copy_and_compare(1, 0, 0, 2 * SLOT, i);
        assert_int_equal(status_of(1).window_bytes, 0);
        for (int device = 0; device < 2; device++)
            assert_int_equal(free_bytes_of(device), before[device]);
    }
    copy_and_compare(1, 0, 0, 2 * SLOT, attempts);
    assert_int_equal(status_of(1).window_bytes, code == POOL_CU_OUT_OF_MEMORY ? 2 * SLOT : 0);
    worker_close();
    unsetenv("DEVICEPOOL_SIM_FAULTS");
}

static void test_refused(void **state)
{
    static const struct {
        const char *function;
        unsigned attempts; /* without a window: one per process that calls it */
    } calls[] = {{"cuMemCreate", 1}, {"cuMemExportToShareableHandle", 1},
        {"cuMemImportFromShareableHandle", 1}, {"cuMemAddressReserve", 0 /* of other addresses */},
        {"cuMemMap", 2}, {"cuMemSetAccess", 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        refuse(calls[i].function, POOL_CU_OUT_OF_MEMORY, calls[i].attempts);
        refuse(calls[i].function, POOL_CU_NOT_SUPPORTED, 1);
    }
}

/* A copy that fails on either side reports its code, and both sides copy afterwards. */
static void fail_copies(const char *spec, const char *fault, int failures)
{
    setenv("DEVICEPOOL_SIM_FAULTS", fault, 1);
    open_devices(spec, 5 * SLOT, false);
    for (int i = 0; i < failures; i++)
        assert_int_equal(copy(1, 0, 0, 5 * SLOT, 0), POOL_CU_INVALID_VALUE);
    copy_and_compare(1, 0, 0, 5 * SLOT, 2);
    copy_and_compare(0, 1, 0, 5 * SLOT, 3);
    worker_close();
    unsetenv("DEVICEPOOL_SIM_FAULTS");
}

static void test_failed_copies(void **state)
{
    static const struct {
        const char *spec, *function;
    } cases[] = {{"sim:2,mem=1G", "dev0.cuMemcpyDtoDAsync"},
        {"sim:2,mem=1G", "dev1.cuMemcpyDtoDAsync"},
        {"sim:2,mem=1G,p2p=0", "dev0.cuMemcpyDtoHAsync"},
        {"sim:2,mem=1G,p2p=0", "dev1.cuMemcpyHtoDAsync"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int count = 1; count <= 3; count++) {
            char text[80];

            if (!is_sampled(i + (size_t)count, 3))
                continue;
            snprintf(text, sizeof(text), "%s@%d=1", cases[i].function, count);
            fail_copies(cases[i].spec, text, 1);
        }
    }
    /* in either process */
    fail_copies("sim:2,mem=1G,p2p=0", "cuMemHostRegister@1=1", 2);
}

/* ---- processes that end ------------------------------------------------------------------------
 */

static device_pool *pool;

static pool_device *device_at(uint32_t index)
{
    pool_device *device = NULL;

    assert_ok(pool_device_at(pool, index, &device));
    return device;
}

static unsigned char values[3 * SLOT], received[3 * SLOT];

/* Uploads, copies from one device to another one, downloads. */
static pool_status relay(uint32_t to, uint32_t from)
{
    pool_buffer *source = NULL, *target = NULL;
    pool_status status, destroyed;

    memset(received, 0, sizeof(received));
    status = pool_buffer_from_host(device_at(from), values, sizeof(values), &source);
    if (!status)
        status = pool_buffer_alloc(device_at(to), sizeof(values), &target);
    if (!status)
        status = pool_copy_device(target, 0, source, 0, sizeof(values), NULL);
    if (!status)
        status = pool_copy_to_host(received, target, 0, sizeof(values), NULL);
    if (!status)
        assert_memory_equal(received, values, sizeof(values));
    destroyed = pool_buffer_destroy(&source);
    status = status ? status : destroyed;
    destroyed = pool_buffer_destroy(&target);
    return status ? status : destroyed;
}

static void wait_for_service(uint32_t index)
{
    pool_device_info info = {.struct_size = sizeof(info)};

    /* far longer than it takes */
    for (int i = 0; i < 60000; i++) {
        pool_status status = pool_device_get_info(device_at(index), &info);

        if (!status && info.state == POOL_DEVICE_READY && status_of((int)index).generation > 1)
            return;
        usleep(10000);
    }
    fail_msg("device %u is not in service: %s", index, info.reason);
}

static unsigned failed; /* copies */

/* The worker of `victim` ends at a step, of a copy from device 0 to 1 if not before. Whether it
 * did. */
static bool end_during_copy(int victim, const char *step, unsigned count)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "workers:" DEVICES};
    struct left_behind before;
    char text[64];
    pool_status status;
    bool is_lost;

    snprintf(text, sizeof(text), "dev%d.gen1.%s@%u", victim, step, count);
    setenv("DEVICEPOOL_WORKER_ABORT", text, 1);
    before = look();
    assert_ok(pool_create(&pool, &params));
    status = relay(1, 0);
    is_lost = status_of(victim).losses > 0;
    if (status) {
        assert_true(is_lost);
        failed++;
        uint32_t other = victim ? 0 : 1;

        assert_status(status, POOL_ERR_DEVICE_LOST);
        assert_says("signal 9");
        assert_ok(relay(2, other));
        assert_ok(relay(other, 2));
        assert_int_equal(status_of((int)other).generation, 1);
        wait_for_service((uint32_t)victim);
        assert_ok(relay(1, 0));
        assert_ok(relay(0, 1));
        assert_int_equal(status_of(1).window_bytes >= sizeof(values), 1);
    }
    assert_ok(pool_destroy(&pool));
    assert_nothing_left(before);
    return is_lost;
}

static unsigned stride;

/* Every stride-th count, until the copy does not reach the count. */
static void walk(const char *step, unsigned first)
{
    for (int victim = 0; victim < 2; victim++) {
        unsigned count = first;

        failed = 0;
        while (end_during_copy(victim, step, count))
            count += stride;
        printf("device %d, %-8s %u failed with counts to %u\n", victim, step, failed, count);
        assert_true(failed > 0);
    }
}

/* More calls than these are in the creation of the pool. */
enum { FIRST_CALL = 40 };

static void test_ends_in_calls(void **state)
{
    (void)state;
    walk("call", FIRST_CALL);
    walk("executed", FIRST_CALL);
    walk("reply", FIRST_CALL);
}

static void test_ends_in_posted_calls(void **state)
{
    (void)state;
    walk("posted", 1);
    walk("done", 1);
}

/* ---- devices of the caller's choice -----------------------------------------------------------
 */

static const char *devices = "workers:" DEVICES;

/* Copies a part of a buffer at odd offsets; what is around it stays. */
static void copy_part(uint32_t to, uint32_t from, uint64_t offset, uint64_t bytes, bool has_stream)
{
    const uint64_t whole = offset + bytes + GUARD;
    unsigned char *sent = malloc(whole), *before = malloc(whole), *after = malloc(whole);
    pool_buffer *source = NULL, *target = NULL;
    pool_stream *stream = NULL;
    uint64_t start, ns;

    fill_values(sent, whole, (unsigned)bytes);
    fill_values(before, whole, (unsigned)bytes + 77);
    assert_ok(pool_buffer_from_host(device_at(from), sent, whole, &source));
    assert_ok(pool_buffer_from_host(device_at(to), before, whole, &target));
    if (has_stream)
        assert_ok(pool_stream_create(device_at(from), NULL, &stream));
    start = base_clock_ns();
    assert_ok(pool_copy_device(target, offset, source, offset, bytes, stream));
    if (has_stream)
        assert_ok(pool_stream_synchronize(stream));
    ns = base_clock_ns() - start;
    assert_ok(pool_copy_to_host(after, target, 0, whole, NULL));
    memcpy(before + offset, sent + offset, bytes);
    assert_memory_equal(after, before, whole);
    printf("%u to %u %10llu bytes %9.1f us %7.2f GB/s\n", from, to, (unsigned long long)bytes,
        (double)ns / 1e3, (double)bytes / (double)ns);
    assert_ok(pool_buffer_destroy(&source));
    assert_ok(pool_buffer_destroy(&target));
    assert_ok(pool_stream_destroy(&stream));
    free(sent);
    free(before);
    free(after);
}

static void copy_parts(void)
{
    static const uint64_t sizes[] = {1, 4096, MIB - 1, MIB, 32 * MIB, 32 * MIB + 1, 64 * MIB + 3,
        200 * MIB + 17, 100, 4096, MIB};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        copy_part(1, 0, i, sizes[i], i % 2);
        copy_part(0, 1, i, sizes[i], i % 2);
    }
}

static void test_devices(void **state)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};
    struct left_behind before = look();

    (void)state;
    assert_ok(pool_create(&pool, &params));
    copy_parts();
    for (int victim = 0; victim < 2; victim++) {
        uint64_t start = base_clock_ns();
        pool_status status = POOL_OK;

        assert_int_equal(kill(status_of(victim).pid, SIGKILL), 0);
        while (!status && status_of(victim).generation == 1)
            status = relay(1, 0);
        if (status && status != POOL_ERR_DEVICE_UNUSABLE)
            assert_status(status, POOL_ERR_DEVICE_LOST);
        wait_for_service((uint32_t)victim);
        printf("device %d in service after %.1f ms\n", victim,
            (double)(base_clock_ns() - start) / 1e6);
        assert_ok(relay(1, 0));
        assert_ok(relay(0, 1));
        copy_part(0, 1, 5, 64 * MIB + 3, true);
        copy_part(1, 0, 5, 64 * MIB + 3, false);
    }
    for (int i = 0; i < 2; i++)
        printf("device %d: %llu bytes through device memory, %llu through pinned memory\n", i,
            (unsigned long long)status_of(i).window_bytes,
            (unsigned long long)status_of(i).pinned_bytes);
    assert_ok(pool_destroy(&pool));
    assert_nothing_left(before);
}

/* 77: there are no two devices. */
static int run_on_devices(const char *given)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = given};
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_devices)};
    size_t count = 0;

    devices = given;
    if (!pool_create(&pool, &params))
        count = pool_device_count(pool);
    else
        printf("%s\n", pool_last_error()->message);
    pool_destroy(&pool);
    return count < 2 ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}

static int close_pool(void **state)
{
    (void)state;
    unsetenv("DEVICEPOOL_WORKER_ABORT");
    return pool_destroy(&pool) != POOL_OK;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest copies[] = {cmocka_unit_test(test_windows),
        cmocka_unit_test(test_pinned), cmocka_unit_test(test_own_contexts),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failed_copies)};
    const struct CMUnitTest ends[] = {cmocka_unit_test_teardown(test_ends_in_calls, close_pool),
        cmocka_unit_test_teardown(test_ends_in_posted_calls, close_pool)};

    fill_values(values, sizeof(values), 1);
    if (count > 1 && strncmp(arguments[1], "workers:", 8) == 0)
        return run_on_devices(arguments[1]);
    if (count > 1 && strcmp(arguments[1], "copies") == 0)
        return cmocka_run_group_tests(copies, NULL, NULL);
    stride = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 19;
    return cmocka_run_group_tests(ends, NULL, NULL);
}
