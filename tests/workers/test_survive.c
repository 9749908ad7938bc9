/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident objects outlive the worker process of their device: they are there in the replacement,
 * verified, without their sources being read again. What has changed, or could not be kept, is
 * loaded again.
 *
 *   test_survive [DEVICES [TESTS]]: those whose names match, with * as in a shell
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <devicepool/metrics.h>

#include "left_behind.h"
#include "pool/memory/durable.h"
#include "support/assert.h"
#include "support/msm_reference.h"
#include "driver/worker/worker.h"

enum { COUNT = 64, ELEMENT = 32, POINT = 64, BYTES = 100000, PATIENCE_S = 600, SMALL = 1 << 20 };

#define LARGE (UINT64_C(4) << 30)

static const char *devices = "workers:sim:2,mem=1G";

static struct {
    const pool_curve *curve;
    unsigned char points[COUNT * POINT], scalars[COUNT * ELEMENT], sum[POINT];
} work;

static int create_work(void **state)
{
    (void)state;
    work.curve = pool_curve_by_name("bn254_g1");
    assert_ok(pool_random_points(work.curve, 1, COUNT, NULL, work.points, NULL));
    assert_ok(pool_random_scalars(
        pool_curve_scalar_field(work.curve), 2, COUNT, POOL_FORM_STANDARD, work.scalars));
    return msm_reference_buckets(work.curve, COUNT, work.points, work.scalars, work.sum) ? 1 : 0;
}

/* ---- objects -----------------------------------------------------------------------------------
 */

/* A source that counts how often it is read. */
struct source {
    uint32_t flags; /* of the buffers */
    unsigned char seed;
    int reads;
};

static void expected_bytes(const struct source *source, unsigned char *bytes)
{
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(source->seed + i * 7 + i / 251);
}

static pool_status read_source(void *user, const pool_exec *exec, pool_buffer **buffer)
{
    struct source *source = user;
    pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = BYTES, .flags = source->flags};
    static unsigned char bytes[BYTES];
    pool_status status = pool_buffer_create(exec->device, &params, buffer);

    source->reads++;
    expected_bytes(source, bytes);
    return status ? status : pool_copy_to_device(*buffer, 0, bytes, BYTES, NULL);
}

static pool_resident *create_buffer(device_pool *pool, struct source *source, uint32_t flags)
{
    const pool_resident_params params = {.struct_size = sizeof(params),
        .name = "table",
        .flags = flags,
        .source = read_source,
        .user = source,
        .bytes = BYTES};
    pool_resident *resident = NULL;

    assert_ok(pool_resident_create(pool, &params, &resident));
    return resident;
}

/* `points` must stay unchanged, officially: a test changes them to see that nobody reads them. */
static pool_resident *create_bases(device_pool *pool, unsigned char *points)
{
    const pool_bases_params bases = {.struct_size = sizeof(bases), .curve = work.curve};
    const pool_span span = {.data = points, .count = COUNT};
    const pool_resident_params params = {
        .struct_size = sizeof(params), .name = "key", .bases = &bases, .points = &span};
    pool_resident *resident = NULL;

    assert_ok(pool_resident_create(pool, &params, &resident));
    return resident;
}

/* Uses the object, and sees that it has what its source gave. */
static pool_status try_buffer(
    pool_resident *resident, pool_device *device, const struct source *source)
{
    static unsigned char expected[BYTES], bytes[BYTES];
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_resident_use *use = NULL;
    pool_status status = pool_resident_open(resident, &exec, &use);

    if (!status)
        status = pool_copy_to_host(bytes, pool_resident_buffer(use), 0, BYTES, NULL);
    assert_ok(pool_resident_close(&use));
    expected_bytes(source, expected);
    if (!status)
        assert_memory_equal(bytes, expected, BYTES);
    return status;
}

static pool_status try_bases(pool_resident *resident, pool_device *device)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_msm_params msm = {.struct_size = sizeof(msm)};
    const pool_span scalars = {.data = work.scalars, .count = COUNT};
    unsigned char result[POINT] = {0};
    const pool_span sum = {.data = result, .count = 1};
    pool_resident_use *use = NULL;
    pool_status status = pool_resident_open(resident, &exec, &use);

    if (!status) {
        msm.bases = pool_resident_bases(use);
        status = pool_msm(&msm, &exec, NULL, &scalars, &sum);
    }
    assert_ok(pool_resident_close(&use));
    if (!status)
        assert_memory_equal(result, work.sum, POINT);
    return status;
}

static pool_resident_info info_of(pool_resident *resident, pool_device *device)
{
    pool_resident_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_resident_get_info(resident, device, &info));
    return info;
}

static void assert_copy(
    pool_resident *resident, pool_device *device, uint64_t loads, uint64_t survivals)
{
    pool_resident_info info = info_of(resident, device);

    assert_int_equal(info.is_resident, 1);
    assert_int_equal(info.loads, loads);
    assert_int_equal(info.survivals, survivals);
}

/* ---- devices -----------------------------------------------------------------------------------
 */

static device_pool *create_pool(const char *devices)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};
    device_pool *pool = NULL;

    assert_ok(pool_create(&pool, &params));
    return pool;
}

static pool_device *device_at(device_pool *pool, uint32_t index)
{
    pool_device *device = NULL;

    assert_ok(pool_device_at(pool, index, &device));
    return device;
}

static unsigned generation_of(int ordinal)
{
    struct worker_status status;

    assert_true(worker_get_status(ordinal, &status));
    return status.generation;
}

static void kill_worker(int ordinal)
{
    struct worker_status status;

    assert_true(worker_get_status(ordinal, &status));
    assert_true(status.pid > 0);
    assert_int_equal(kill(status.pid, SIGKILL), 0);
}

static pool_device_state state_of(pool_device *device)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_device_get_info(device, &info);

    if (status == POOL_ERR_DEVICE_LOST)
        return POOL_DEVICE_UNUSABLE;
    assert_ok(status);
    return info.state;
}

static void wait_for_state(pool_device *device, unsigned generation, pool_device_state state)
{
    time_t end = time(NULL) + PATIENCE_S;

    while (generation_of(pool_device_ordinal(device)) <= generation || state_of(device) != state) {
        if (time(NULL) > end)
            fail_msg("device %d does not become %d", pool_device_ordinal(device), (int)state);
        usleep(2000);
    }
}

static void kill_and_wait(pool_device *device)
{
    unsigned generation = generation_of(pool_device_ordinal(device));

    kill_worker(pool_device_ordinal(device));
    wait_for_state(device, generation, POOL_DEVICE_READY);
}

static bool is_simulated(void)
{
    return strncmp(devices, "workers:sim", 11) == 0;
}

static double milliseconds(const struct timespec *start, const struct timespec *end)
{
    return (double)(end->tv_sec - start->tv_sec) * 1e3 +
           (double)(end->tv_nsec - start->tv_nsec) * 1e-6;
}

/* The parts of a return, of which INFO reports the ends. */
static void print_record(void *user, const pool_log_record *record)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("  %6.0f ms: %s\n", milliseconds(user, &now), record->message);
}

static uint64_t free_bytes(pool_device *device)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_trim(device, 0));
    assert_ok(pool_memory_get_info(device, &info));
    return info.free_bytes;
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void test_kill(void **state)
{
    struct left_behind before = look();
    device_pool *pool = create_pool(devices);
    pool_device *device = device_at(pool, pool_device_count(pool) - 1);
    pool_device *other = device_at(pool, 0); /* the same one where there is only one */
    struct source durable = {.flags = POOL_BUFFER_DURABLE, .seed = 1};
    struct source pinned = {.flags = POOL_BUFFER_DURABLE, .seed = 2};
    struct source ordinary = {.seed = 3};
    unsigned char points[sizeof(work.points)];
    pool_resident *key, *kept, *pinned_kept, *loaded;
    char *text = NULL;

    (void)state;
    memcpy(points, work.points, sizeof(points));
    key = create_bases(pool, points);
    kept = create_buffer(pool, &durable, 0);
    pinned_kept = create_buffer(pool, &pinned, POOL_RESIDENT_PINNED);
    loaded = create_buffer(pool, &ordinary, 0);
    assert_ok(try_bases(key, device));
    assert_ok(try_bases(key, other));
    memset(points, 0xff, sizeof(points));
    for (int round = 0; round < 6; round++) { /* more often than there are ranges of addresses */
        assert_ok(try_bases(key, device));
        assert_ok(try_buffer(kept, device, &durable));
        assert_ok(try_buffer(pinned_kept, device, &pinned));
        assert_ok(try_buffer(loaded, device, &ordinary));
        assert_copy(key, device, 1, (uint64_t)round);
        assert_copy(kept, device, 1, (uint64_t)round);
        assert_copy(pinned_kept, device, 1, (uint64_t)round);
        assert_copy(loaded, device, (uint64_t)round + 1, 0);
        kill_and_wait(device);
    }
    assert_int_equal(durable.reads, 1);
    assert_int_equal(pinned.reads, 1);
    assert_int_equal(ordinary.reads, 6);
    assert_copy(key, other, 1, other == device ? 6 : 0);
    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    assert_non_null(strstr(text, "devicepool_resident_survivals_total{"));
    assert_non_null(strstr(text, "} 18\n")); /* three objects, six times */
    pool_text_free(&text);
    assert_ok(pool_device_describe(device, POOL_TEXT_JSON, &text));
    assert_non_null(strstr(text, "\"survivals\":"));
    assert_int_equal(
        strtol(strstr(text, "\"survivals\":") + strlen("\"survivals\":"), NULL, 10), 6);
    pool_text_free(&text);
    /* Survivors are evicted and loaded again like others. */
    assert_ok(pool_resident_evict(kept, device));
    assert_ok(try_buffer(kept, device, &durable));
    assert_copy(kept, device, 2, 0);
    kill_and_wait(device);
    assert_copy(kept, device, 2, 1);
    assert_ok(pool_resident_destroy(&key));
    assert_ok(pool_resident_destroy(&kept));
    assert_ok(pool_resident_destroy(&pinned_kept));
    assert_ok(pool_resident_destroy(&loaded));
    assert_ok(pool_destroy(&pool));
    assert_nothing_left(before);
}

/* A fault of a kernel ends the process; the device's memory is given back when it is not used. */
static void test_fault(void **state)
{
    static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                              ".visible .entry bad() { .reg .u64 a; .reg .u32 v; mov.u64 a, 16;"
                              " mov.u32 v, 1; st.global.u32 [a], v; ret; }\n";
    const pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct left_behind before = look();
    device_pool *pool = create_pool(devices);
    pool_device *device = device_at(pool, 0);
    struct source source = {.flags = POOL_BUFFER_DURABLE, .seed = 9};
    pool_resident *resident = create_buffer(pool, &source, 0);
    uint64_t at_first;

    (void)state;
    assert_ok(try_buffer(resident, device, &source));
    assert_ok(pool_resident_evict(resident, device));
    at_first = free_bytes(device);
    assert_ok(try_buffer(resident, device, &source));
    assert_true(at_first - free_bytes(device) >= BYTES);
    for (int round = 0; round < 3; round++) {
        unsigned generation = generation_of(0);
        pool_module *module = NULL;
        pool_kernel *kernel = NULL;

        assert_ok(pool_module_load(device, ptx, sizeof(ptx) - 1, &module));
        assert_ok(pool_kernel_get(module, "bad", &kernel));
        (void)pool_launch(kernel, &shape, NULL, NULL);
        assert_status(pool_device_synchronize(device), POOL_ERR_DEVICE_LOST);
        assert_ok(pool_module_destroy(&module));
        wait_for_state(device, generation, POOL_DEVICE_READY);
        assert_ok(try_buffer(resident, device, &source));
    }
    assert_int_equal(source.reads, 2);
    assert_copy(resident, device, 2, 3);
    assert_ok(pool_resident_destroy(&resident));
    if (is_simulated())
        assert_true(at_first - free_bytes(device) < SMALL); /* of probes and digests */
    assert_ok(pool_destroy(&pool));
    assert_nothing_left(before);
}

static void change_byte(pool_resident *resident, pool_device *device, uint64_t at)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_resident_use *use = NULL;
    unsigned char byte;

    assert_ok(pool_resident_open(resident, &exec, &use));
    assert_ok(pool_copy_to_host(&byte, pool_resident_buffer(use), at, 1, NULL));
    byte ^= 1;
    assert_ok(pool_copy_to_device(pool_resident_buffer(use), at, &byte, 1, NULL));
    assert_ok(pool_device_synchronize(device));
    assert_ok(pool_resident_close(&use));
}

/* One bit of one object has changed: that object is loaded again, the others are not. */
static void test_changed(void **state)
{
    static const uint64_t places[] = {0, BYTES / 2, BYTES - 1};
    struct left_behind before = look();
    device_pool *pool = create_pool(devices);
    pool_device *device = device_at(pool, 0);
    struct source first = {.flags = POOL_BUFFER_DURABLE, .seed = 4};
    struct source second = {.flags = POOL_BUFFER_DURABLE, .seed = 5};
    pool_resident *kept = create_buffer(pool, &first, 0);
    pool_resident *changed = create_buffer(pool, &second, POOL_RESIDENT_PINNED);
    uint64_t used = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        assert_ok(try_buffer(kept, device, &first));
        assert_ok(try_buffer(changed, device, &second));
        used = used ? used : free_bytes(device);
        if (is_simulated()) /* what was unmapped is free again */
            assert_true(used - free_bytes(device) < SMALL);
        change_byte(changed, device, places[i]);
        kill_and_wait(device);
        assert_int_equal(info_of(changed, device).is_resident, 0);
        assert_copy(kept, device, 1, i + 1);
        assert_ok(try_buffer(changed, device, &second));
        assert_int_equal(second.reads, (int)i + 2);
    }
    assert_int_equal(first.reads, 1);
    assert_ok(pool_resident_destroy(&kept));
    assert_ok(pool_resident_destroy(&changed));
    assert_ok(pool_destroy(&pool));
    assert_nothing_left(before);
}

/* An open use keeps the device out of service until it is closed; the object survives. */
static void test_in_use(void **state)
{
    struct left_behind before = look();
    device_pool *pool = create_pool(devices);
    pool_device *device = device_at(pool, 0);
    struct source source = {.flags = POOL_BUFFER_DURABLE, .seed = 6};
    pool_resident *resident = create_buffer(pool, &source, 0);
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_resident_use *use = NULL, *second = NULL;
    unsigned char byte;

    (void)state;
    assert_ok(pool_resident_open(resident, &exec, &use));
    kill_worker(0);
    wait_for_state(device, 1, POOL_DEVICE_UNUSABLE);
    assert_status(
        pool_copy_to_host(&byte, pool_resident_buffer(use), 0, 1, NULL), POOL_ERR_DEVICE_LOST);
    assert_status(pool_resident_open(resident, &exec, &second), POOL_ERR_DEVICE_LOST);
    assert_status(pool_resident_destroy(&resident), POOL_ERR_BUSY);
    assert_ok(pool_resident_close(&use));
    wait_for_state(device, 1, POOL_DEVICE_READY);
    assert_ok(try_buffer(resident, device, &source));
    assert_int_equal(source.reads, 1);
    /* Destroyed, or evicted, while the device is lost. */
    kill_worker(0);
    assert_ok(pool_resident_destroy(&resident));
    wait_for_state(device, 2, POOL_DEVICE_READY);
    assert_ok(pool_destroy(&pool));
    assert_nothing_left(before);
}

/* Destroys a buffer while the device is given back what it had, when it has been mapped already. */
struct release {
    pool_buffer *buffer;
    pool_device *device;
};

static void destroy_meanwhile(void *user, const pool_log_record *record)
{
    struct release *release = user;

    if (!release->buffer || !strstr(record->message, "has changed when the process"))
        return;
    (void)pool_buffer_destroy(&release->buffer);
}

/* What is released during the renewal of the device is unmapped in the new process. */
static void test_released_meanwhile(void **state)
{
    struct left_behind before = look();
    device_pool *pool = create_pool(devices);
    struct release release = {.device = device_at(pool, 0)};
    struct source source = {.flags = POOL_BUFFER_DURABLE, .seed = 11};
    const pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = 64 << 20, .flags = POOL_BUFFER_DURABLE};
    pool_resident *changed = create_buffer(pool, &source, 0);
    pool_memory_info info = {.struct_size = sizeof(info)};
    struct device_scope scope;
    uint64_t unused;

    (void)state;
    assert_ok(try_buffer(changed, release.device, &source));
    change_byte(changed, release.device, 5);
    unused = free_bytes(release.device);
    assert_ok(pool_buffer_create(release.device, &params, &release.buffer));
    assert_ok(device_enter(release.device, &scope));
    memory_seal(release.buffer);
    assert_ok(device_leave(&scope, POOL_OK));
    assert_true(memory_is_sealed(release.buffer));
    pool_log_set(destroy_meanwhile, &release, POOL_LOG_WARN);
    kill_and_wait(release.device);
    pool_log_set(NULL, NULL, POOL_LOG_WARN);
    assert_null(release.buffer);
    assert_ok(pool_memory_get_info(release.device, &info));
    assert_int_equal(info.used_bytes, 0);
    if (is_simulated()) {
        assert_true(info.reserved_bytes < SMALL * 4);
        assert_true(info.free_bytes + 4 * SMALL >= unused);
    }
    assert_ok(try_buffer(changed, release.device, &source));
    assert_ok(pool_resident_destroy(&changed));
    assert_ok(pool_destroy(&pool));
    assert_nothing_left(before);
}

/* Memory that could not be unmapped has ended with its process, and counts no longer. */
static void test_quarantined(void **state)
{
    const pool_params params = {
        .struct_size = sizeof(params), .devices = devices, .memory_limit = 64 << 20};
    pool_buffer_params durable = {
        .struct_size = sizeof(durable), .bytes = 48 << 20, .flags = POOL_BUFFER_DURABLE};
    struct left_behind before = look();
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_buffer *buffer = NULL;
    device_pool *pool = NULL;
    pool_device *device;

    (void)state;
    if (!is_simulated())
        skip();
    setenv("DEVICEPOOL_SIM_FAULTS", "dev0.cuStreamSynchronize=1", 1);
    assert_ok(pool_create(&pool, &params));
    unsetenv("DEVICEPOOL_SIM_FAULTS");
    device = device_at(pool, 0);
    assert_ok(pool_stream_create(device, NULL, &durable.stream));
    assert_ok(pool_buffer_create(device, &durable, &buffer));
    assert_int_not_equal(pool_buffer_destroy(&buffer), POOL_OK);
    assert_null(buffer);
    assert_ok(pool_memory_get_info(device, &info));
    assert_int_equal(info.quarantined_bytes, durable.bytes);
    assert_ok(pool_stream_destroy(&durable.stream));
    kill_and_wait(device);
    assert_ok(pool_memory_get_info(device, &info));
    assert_int_equal(info.quarantined_bytes, 0);
    assert_int_equal(info.used_bytes, 0);
    assert_ok(pool_buffer_create(device, &durable, &buffer)); /* within the limit */
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_destroy(&pool));
    assert_nothing_left(before);
}

static pool_status fill_large(void *user, const pool_exec *exec, pool_buffer **buffer)
{
    pool_buffer_params params = {.struct_size = sizeof(params), .flags = POOL_BUFFER_DURABLE};
    pool_status status;

    params.bytes = LARGE;
    ++*(int *)user;
    status = pool_buffer_create(exec->device, &params, buffer);
    return status ? status : pool_buffer_fill32(*buffer, 0, LARGE / 4, 0x12345678, NULL);
}

/* As large as a proving key; prints how long the device was out of service. */
static void test_large(void **state)
{
    int reads = 0;
    const pool_resident_params params = {.struct_size = sizeof(params),
        .name = "large",
        .source = fill_large,
        .user = &reads,
        .bytes = LARGE};
    pool_resident *resident = NULL;
    pool_resident_use *use = NULL;
    static struct timespec start; /* a late record may still need it */
    struct timespec end;
    pool_device *device;
    device_pool *pool;
    uint32_t last = 0;

    (void)state;
    if (is_simulated())
        skip();
    pool = create_pool(devices);
    device = device_at(pool, 0);
    assert_ok(pool_resident_create(pool, &params, &resident));
    for (int round = 0; round < 4; round++) {
        const pool_exec exec = {.struct_size = sizeof(exec), .device = device};

        clock_gettime(CLOCK_MONOTONIC, &start);
        assert_ok(pool_resident_open(resident, &exec, &use));
        clock_gettime(CLOCK_MONOTONIC, &end);
        printf("opened in %.1f ms\n", milliseconds(&start, &end));
        assert_ok(pool_copy_to_host(&last, pool_resident_buffer(use), LARGE - 4, 4, NULL));
        assert_int_equal(last, 0x12345678);
        assert_ok(pool_resident_close(&use));
        clock_gettime(CLOCK_MONOTONIC, &start);
        pool_log_set(print_record, &start, POOL_LOG_INFO);
        kill_and_wait(device);
        clock_gettime(CLOCK_MONOTONIC, &end);
        pool_log_set(NULL, NULL, POOL_LOG_WARN);
        printf("in service again after %.0f ms\n", milliseconds(&start, &end));
    }
    assert_int_equal(reads, 1);
    assert_copy(resident, device, 1, 4);
    assert_ok(pool_resident_destroy(&resident));
    assert_ok(pool_destroy(&pool));
}

/* Two pools have the same worker: each restores its own objects. */
static void test_two_pools(void **state)
{
    struct left_behind before = look();
    device_pool *pools[2];
    struct source sources[2] = {
        {.flags = POOL_BUFFER_DURABLE, .seed = 7}, {.flags = POOL_BUFFER_DURABLE, .seed = 8}};
    pool_resident *residents[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        pools[i] = create_pool(devices);
        residents[i] = create_buffer(pools[i], &sources[i], 0);
        assert_ok(try_buffer(residents[i], device_at(pools[i], 0), &sources[i]));
    }
    for (unsigned round = 1; round <= 2; round++) {
        kill_worker(0);
        for (int i = 0; i < 2; i++)
            wait_for_state(device_at(pools[i], 0), round, POOL_DEVICE_READY);
        for (int i = 0; i < 2; i++)
            assert_ok(try_buffer(residents[i], device_at(pools[i], 0), &sources[i]));
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sources[i].reads, 1);
        assert_ok(pool_resident_destroy(&residents[i]));
        assert_ok(pool_destroy(&pools[i]));
    }
    assert_nothing_left(before);
}

/* ---- failures ----------------------------------------------------------------------------------
 */

/* Where memory cannot be kept, or cannot be mapped again, objects are loaded again. */
static void test_failing_calls(void **state)
{
    static const struct {
        const char *faults;
        int in_first; /* process; else in its replacements */
    } cases[] = {{"cuMemGetAllocationGranularity=801", 1}, {"cuMemCreate=801", 1},
        {"cuMemExportToShareableHandle=304", 1}, {"cuMemAddressReserve=1", 1}, {"cuMemMap=1", 1},
        {"cuMemSetAccess=1", 1}, {"cuModuleLoadData@1=2", 1}, {"cuMemCreate@1=2", 1},
        {"cuMemImportFromShareableHandle=1", 0}, {"cuMemAddressReserve=2", 0}, {"cuMemMap=1", 0},
        {"cuMemSetAccess=1", 0}, {"cuModuleLoadData@1=2", 0}};
    struct left_behind before = look();

    (void)state;
    if (!is_simulated())
        skip();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct source source = {.flags = POOL_BUFFER_DURABLE, .seed = (unsigned char)i};
        pool_resident *resident;
        pool_device *device;
        device_pool *pool;

        if (cases[i].in_first)
            setenv("DEVICEPOOL_SIM_FAULTS", cases[i].faults, 1);
        pool = create_pool(devices);
        device = device_at(pool, 0);
        resident = create_buffer(pool, &source, 0);
        assert_ok(try_buffer(resident, device, &source));
        if (cases[i].in_first)
            unsetenv("DEVICEPOOL_SIM_FAULTS");
        else
            setenv("DEVICEPOOL_SIM_FAULTS", cases[i].faults, 1);
        kill_and_wait(device);
        assert_ok(try_buffer(resident, device, &source));
        /* Without memory the allocation is repeated. */
        assert_int_equal(source.reads, strcmp(cases[i].faults, "cuMemCreate@1=2") == 0 ? 1 : 2);
        assert_ok(pool_resident_destroy(&resident));
        assert_ok(pool_destroy(&pool));
        unsetenv("DEVICEPOOL_SIM_FAULTS");
        assert_nothing_left(before);
    }
}

/* The replacement ends, too, at each of its first calls: during the return, the verification, the
 * probe or the next use. */
static void test_dies_again(void **state)
{
    struct left_behind before = look();
    char step[64];

    (void)state;
    for (int call = 1; call < 60; call += call < 30 ? 2 : 5) {
        struct source source = {.flags = POOL_BUFFER_DURABLE, .seed = (unsigned char)call};
        pool_resident *resident;
        pool_device *device;
        device_pool *pool;
        pool_status status;

        snprintf(step, sizeof(step), "dev0.gen2.call@%d", call);
        setenv("DEVICEPOOL_WORKER_ABORT", step, 1);
        setenv("DEVICEPOOL_WORKER_PAUSE_MS", "1", 1);
        pool = create_pool(devices);
        device = device_at(pool, 0);
        resident = create_buffer(pool, &source, 0);
        assert_ok(try_buffer(resident, device, &source));
        kill_worker(0);
        wait_for_state(device, 1, POOL_DEVICE_READY);
        status = try_buffer(resident, device, &source);
        if (status) {
            assert_int_equal(status, POOL_ERR_DEVICE_LOST);
            wait_for_state(device, 2, POOL_DEVICE_READY);
            assert_ok(try_buffer(resident, device, &source));
        }
        assert_true(source.reads <= 2);
        assert_ok(pool_resident_destroy(&resident));
        assert_ok(pool_destroy(&pool));
        assert_nothing_left(before);
    }
    unsetenv("DEVICEPOOL_WORKER_ABORT");
    unsetenv("DEVICEPOOL_WORKER_PAUSE_MS");
}

/* With its first program NVRTC may start a thread of the driver in this process. */
static void use_compiler(void)
{
    device_pool *pool = create_pool(devices);
    pool_resident *key = create_bases(pool, work.points);

    assert_ok(try_bases(key, device_at(pool, 0)));
    assert_ok(pool_resident_destroy(&key));
    assert_ok(pool_destroy(&pool));
}

static int prepare(void **state)
{
    int failed = create_work(state);

    if (!failed && !is_simulated())
        use_compiler();
    return failed;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_in_use),
        cmocka_unit_test(test_released_meanwhile),
        cmocka_unit_test(test_quarantined),
        cmocka_unit_test(test_two_pools),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_failing_calls),
        cmocka_unit_test(test_dies_again),
    };

    pool_params params = {.struct_size = sizeof(params)};
    device_pool *pool = NULL;
    pool_status status;

    if (count > 2)
        cmocka_set_test_filter(arguments[2]);
    if (count > 1) {
        params.devices = devices = arguments[1];
        status = pool_create(&pool, &params);
        if (status == POOL_ERR_NO_DRIVER || status == POOL_ERR_NO_DEVICE)
            return 77;
        assert_ok(pool_destroy(&pool));
    }
    return cmocka_run_group_tests(tests, prepare, NULL);
}
