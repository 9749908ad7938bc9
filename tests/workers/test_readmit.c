/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices come back into service of the same pool after their worker process was killed: operations
 * then give right answers there, and until then nothing of the ended process is in use.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "driver/worker/client/client.h"
#include "driver/worker/worker.h"
#include "left_behind.h"
#include "support/assert.h"
#include "support/msm_reference.h"
#include "support/needs_compiler.h"
#include "support/ntt_reference.h"

enum { LOG_COUNT = 6, COUNT = 1 << LOG_COUNT, ELEMENT = 32, POINT = 64, DEVICES = 4 };

/* Far more than any of this takes. */
enum { PATIENCE_S = 600 };

/* Problems and their answers, computed by the host. */
static struct {
    const pool_curve *curve;
    pool_poseidon *set;
    pool_ntt_domain *domain;
    unsigned char points[COUNT * POINT], scalars[COUNT * ELEMENT];
    unsigned char sum[POINT], transform[COUNT * ELEMENT], digests[COUNT * ELEMENT];
} work;

static pool_span span_of(const void *data, uint64_t count)
{
    return (pool_span){.data = (void *)(uintptr_t)data, .count = count};
}

/* Its tables belong to a pool. */
static void create_domain(void)
{
    const pool_ntt_domain_params params = {.struct_size = sizeof(params),
        .field = pool_curve_scalar_field(work.curve),
        .log_size = LOG_COUNT};

    assert_ok(pool_ntt_domain_create(&params, &work.domain));
}

static int create_work(void **state)
{
    const pool_exec on_host = {.struct_size = sizeof(on_host), .on_host = 1};
    const pool_field *field;
    pool_span in, out;

    (void)state;
    work.curve = pool_curve_by_name("bn254_g1");
    field = pool_curve_scalar_field(work.curve);
    assert_int_equal(pool_point_bytes(work.curve, POOL_POINT_AFFINE), POINT);
    assert_ok(pool_random_points(work.curve, 1, COUNT, NULL, work.points, NULL));
    assert_ok(pool_random_scalars(field, 2, COUNT, POOL_FORM_STANDARD, work.scalars));
    assert_ok(msm_reference_buckets(work.curve, COUNT, work.points, work.scalars, work.sum));
    create_domain();
    assert_ok(ntt_reference_run(
        &(struct ntt_reference){.domain = work.domain, .batch = 1}, work.scalars, work.transform));
    pool_ntt_domain_destroy(&work.domain);
    assert_ok(pool_poseidon_by_name("circom-bn254-t2", &work.set));
    in = span_of(work.scalars, COUNT);
    out = span_of(work.digests, COUNT);
    assert_ok(pool_poseidon_hash(work.set, &on_host, &in, 1, &out));
    return 0;
}

static int destroy_work(void **state)
{
    (void)state;
    pool_poseidon_destroy(&work.set);
    return 0;
}

static pool_status compare(pool_status status, const void *got, const void *wanted, size_t bytes)
{
    if (!status && memcmp(got, wanted, bytes) != 0) {
        fprintf(stderr, "a result is wrong\n");
        abort();
    }
    return status;
}

/* An MSM, over the resident bases if there are any, a transform and hashes. */
static pool_status compute(const pool_exec *exec, pool_resident *resident)
{
    unsigned char result[COUNT * ELEMENT] = {0};
    pool_msm_params msm = {.struct_size = sizeof(msm), .curve = work.curve};
    const pool_ntt_params ntt = {.struct_size = sizeof(ntt), .domain = work.domain};
    const pool_span points = span_of(work.points, COUNT), in = span_of(work.scalars, COUNT);
    const pool_span out = span_of(result, COUNT), sum = span_of(result, 1);
    pool_resident_use *use = NULL;
    pool_status status = POOL_OK, closed;

    if (resident)
        status = pool_resident_open(resident, exec, &use);
    if (use) {
        msm.curve = NULL;
        msm.bases = pool_resident_bases(use);
    }
    if (!status)
        status = pool_msm(&msm, exec, use ? NULL : &points, &in, &sum);
    closed = pool_resident_close(&use);
    status = compare(status ? status : closed, result, work.sum, sizeof(work.sum));
    if (!status)
        status = compare(
            pool_ntt(&ntt, exec, &in, &out), result, work.transform, sizeof(work.transform));
    if (!status)
        status = compare(pool_poseidon_hash(work.set, exec, &in, 1, &out), result, work.digests,
            sizeof(work.digests));
    return status;
}

static pool_status compute_on(pool_device *device, pool_resident *resident)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};

    return compute(&exec, resident);
}

/* ---- pools -------------------------------------------------------------------------------------
 */

static device_pool *create_pool(const char *devices)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};
    device_pool *pool = NULL;

    assert_ok(pool_create(&pool, &params));
    create_domain();
    return pool;
}

static void destroy_pool(device_pool *pool)
{
    pool_ntt_domain_destroy(&work.domain);
    assert_ok(pool_destroy(&pool));
}

static pool_device *device_at(device_pool *pool, uint32_t index)
{
    pool_device *device = NULL;

    assert_ok(pool_device_at(pool, index, &device));
    return device;
}

static pool_resident *create_resident(device_pool *pool, uint32_t flags)
{
    const pool_bases_params bases = {.struct_size = sizeof(bases), .curve = work.curve};
    const pool_span points = span_of(work.points, COUNT);
    const pool_resident_params params = {.struct_size = sizeof(params),
        .name = "key",
        .flags = flags,
        .bases = &bases,
        .points = &points};
    pool_resident *resident = NULL;

    assert_ok(pool_resident_create(pool, &params, &resident));
    return resident;
}

static struct worker_status worker_of(int ordinal)
{
    struct worker_status status;

    assert_true(worker_get_status(ordinal, &status));
    return status;
}

static void kill_worker(int ordinal)
{
    pid_t pid = worker_of(ordinal).pid;

    if (pid > 0)
        kill(pid, SIGKILL);
}

static pool_device_state state_of(pool_device *device)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_device_get_info(device, &info);

    if (status == POOL_ERR_DEVICE_LOST) /* while it read the free memory */
        return POOL_DEVICE_UNUSABLE;
    assert_ok(status);
    return info.state;
}

/* Until the device is in service, in a process after `generation`. */
static void wait_for_service(pool_device *device, unsigned generation)
{
    time_t end = time(NULL) + PATIENCE_S;

    while (worker_of(pool_device_ordinal(device)).generation <= generation ||
           state_of(device) != POOL_DEVICE_READY) {
        if (time(NULL) > end) {
            pool_device_info info = {.struct_size = sizeof(info)};

            assert_ok(pool_device_get_info(device, &info));
            fail_msg("the device is not in service: state %d: %s", info.state, info.reason);
        }
        usleep(2000);
    }
}

static void wait_for_process(int ordinal, unsigned generation)
{
    time_t end = time(NULL) + PATIENCE_S;

    while (worker_of(ordinal).generation <= generation) {
        if (time(NULL) > end)
            fail_msg("no process replaces the worker: %s", worker_of(ordinal).cause);
        usleep(100);
    }
}

static void kill_and_wait(pool_device *device)
{
    int ordinal = pool_device_ordinal(device);
    unsigned generation = worker_of(ordinal).generation;

    kill_worker(ordinal);
    wait_for_service(device, generation);
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void test_comes_back(void **state)
{
    struct left_behind before = look();
    device_pool *pool = create_pool("workers:sim:4,mem=1G");
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_resident *pinned = create_resident(pool, POOL_RESIDENT_PINNED);
    pool_resident *resident = create_resident(pool, 0);

    (void)state;
    for (uint32_t i = 0; i < DEVICES; i++)
        assert_ok(compute_on(device_at(pool, i), i % 2 ? pinned : resident));
    /* More often than there are devices: each loss publishes another set of ready ones. */
    for (uint32_t i = 0; i < 2 * DEVICES; i++) {
        pool_device *device = device_at(pool, i % DEVICES);

        kill_and_wait(device);
        assert_ok(compute_on(device, i % 2 ? pinned : resident));
        assert_ok(compute_on(device, NULL));
    }
    assert_ok(pool_get_health(pool, &health));
    assert_int_equal(health.harmed, POOL_CLASS_NONE);
    assert_int_equal(health.usable_devices, DEVICES);
    assert_ok(pool_resident_destroy(&pinned));
    assert_ok(pool_resident_destroy(&resident));
    destroy_pool(pool);
    assert_nothing_left(before);
}

static void wait_for_loss(pool_device *device)
{
    time_t end = time(NULL) + PATIENCE_S;

    while (state_of(device) != POOL_DEVICE_UNUSABLE) {
        assert_true(time(NULL) <= end);
        usleep(1000);
    }
}

/* Until the device returns, its objects answer that it is lost, and can be destroyed. A binding
 * keeps it out of service. Pinned memory stays. */
static void test_objects(void **state)
{
    device_pool *pool = create_pool("workers:sim:2,mem=1G");
    pool_device *device = device_at(pool, 1);
    unsigned char data[4096], back[4096] = {0};
    pool_buffer *buffer = NULL, *other = NULL;
    pool_pinned *pinned = NULL;
    pool_stream *stream = NULL;
    pool_event *event = NULL;
    unsigned generation = worker_of(1).generation;

    (void)state;
    memset(data, 0x5a, sizeof(data));
    assert_ok(pool_buffer_from_host(device, data, sizeof(data), &buffer));
    assert_ok(pool_pinned_create(device, sizeof(data), 0, &pinned));
    memcpy(pool_pinned_data(pinned), data, sizeof(data));
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_event_create(device, 0, &event));
    assert_ok(pool_event_record(event, stream));
    assert_ok(pool_bind(device));
    kill_worker(1);
    wait_for_loss(device);
    wait_for_process(1, generation);
    assert_status(pool_copy_to_host(back, buffer, 0, sizeof(back), NULL), POOL_ERR_DEVICE_LOST);
    assert_status(pool_stream_synchronize(stream), POOL_ERR_DEVICE_LOST);
    assert_status(pool_event_synchronize(event), POOL_ERR_DEVICE_LOST);
    assert_status(compute_on(device, NULL), POOL_ERR_DEVICE_LOST);
    assert_says("signal 9");
    assert_ok(compute_on(device_at(pool, 0), NULL));
    assert_ok(pool_event_destroy(&event));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(state_of(device), POOL_DEVICE_UNUSABLE); /* it is still bound */
    assert_ok(pool_unbind(device));
    wait_for_service(device, generation);
    assert_ok(pool_buffer_alloc(device, sizeof(data), &other));
    assert_ok(pool_copy_to_device(other, 0, pool_pinned_data(pinned), sizeof(data), NULL));
    assert_ok(pool_copy_to_host(back, other, 0, sizeof(back), NULL));
    assert_memory_equal(back, data, sizeof(data));
    assert_ok(pool_buffer_destroy(&other));
    assert_ok(pool_pinned_destroy(&pinned));
    destroy_pool(pool);
}

/* ---- objects of an ended process ---------------------------------------------------------------
 */

struct objects {
    pool_device *device;
    pool_buffer *buffer, *slice, *durable;
    pool_stream *stream, *captured;
    pool_event *event;
    pool_module *module;
    pool_kernel *kernel;
    pool_bases *bases;
    pool_graph *graph;
    pool_range *range;
    pool_physical *physical; /* mapped to the range, and free addresses behind it */
    pool_buffer *mapped;
};

static const char nothing_ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                                  ".visible .global .u32 counter;\n"
                                  ".visible .entry nothing() { ret; }\n";

static void create_virtual(struct objects *made)
{
    uint64_t granularity = 0;
    pool_physical *other = NULL;

    assert_ok(pool_virtual_granularity(made->device, &granularity));
    assert_ok(pool_range_reserve(made->device, 3 * granularity, &made->range));
    assert_ok(
        pool_physical_create(made->device, granularity, POOL_PHYSICAL_EXPORTABLE, &made->physical));
    assert_ok(pool_range_map(made->range, 0, made->physical));
    assert_ok(pool_physical_create(made->device, granularity, 0, &other));
    assert_ok(pool_range_map(made->range, granularity, other));
    assert_ok(pool_physical_destroy(&other)); /* the mapping remains */
    assert_ok(pool_range_buffer(made->range, granularity - 4096, 8192, &made->mapped));
}

static struct objects create_objects(pool_device *device)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    const pool_bases_params bases = {.struct_size = sizeof(bases), .curve = work.curve};
    const pool_buffer_params durable = {
        .struct_size = sizeof(durable), .bytes = 4096, .flags = POOL_BUFFER_DURABLE};
    const pool_span points = span_of(work.points, COUNT);
    struct objects made = {.device = device};

    assert_ok(pool_buffer_zeroed(device, 1 << 20, &made.buffer));
    assert_ok(pool_buffer_slice(made.buffer, 1024, 1024, &made.slice));
    assert_ok(pool_buffer_create(device, &durable, &made.durable));
    assert_ok(pool_stream_create(device, NULL, &made.stream));
    assert_ok(pool_stream_create(device, NULL, &made.captured));
    assert_ok(pool_event_create(device, 0, &made.event));
    assert_ok(pool_event_record(made.event, made.stream));
    assert_ok(pool_module_load(device, nothing_ptx, sizeof(nothing_ptx) - 1, &made.module));
    assert_ok(pool_kernel_get(made.module, "nothing", &made.kernel));
    assert_ok(pool_bases_create(&bases, &exec, &points, &made.bases));
    assert_ok(pool_stream_begin_capture(made.captured));
    assert_ok(pool_buffer_fill8(made.buffer, 0, 4096, 1, made.captured));
    assert_ok(pool_stream_end_capture(made.captured, &made.graph));
    assert_ok(pool_stream_begin_capture(made.captured)); /* and does not end */
    create_virtual(&made);
    return made;
}

#define assert_lost(call) assert_status(call, POOL_ERR_DEVICE_LOST)

static void assert_buffers_lost(const struct objects *of, pool_buffer *present)
{
    pool_buffer *const lost[] = {of->buffer, of->slice, of->durable, of->mapped};
    unsigned char bytes[64] = {0};
    pool_buffer *slice = NULL;
    CUdeviceptr address;

    for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
        const pool_pitched from = {.buffer = lost[i], .pitch = 64},
                           to = {.host = bytes, .pitch = 64};

        assert_lost(pool_copy_to_host(bytes, lost[i], 0, sizeof(bytes), NULL));
        assert_lost(pool_copy_to_device(lost[i], 0, bytes, sizeof(bytes), NULL));
        assert_lost(pool_copy_2d(&to, &from, 64, 1, NULL));
        assert_lost(pool_copy_device(present, 0, lost[i], 0, 64, NULL));
        assert_lost(pool_copy_device(lost[i], 0, present, 0, 64, NULL));
        assert_lost(pool_buffer_fill8(lost[i], 0, 64, 1, NULL));
        assert_lost(pool_buffer_slice(lost[i], 0, 64, &slice));
        assert_lost(pool_buffer_address(lost[i], &address));
        assert_says("earlier worker process of device 1");
        assert_ptr_equal(pool_buffer_device(lost[i]), of->device);
    }
}

static void assert_work_lost(const struct objects *of, pool_stream *present)
{
    const pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {1, 1, 1}, .block = {1, 1, 1}};
    pool_kernel_info info = {.struct_size = sizeof(info)};
    pool_kernel *kernel = NULL;
    pool_graph *graph = NULL;
    CUdeviceptr address;
    uint64_t bytes;

    assert_lost(pool_stream_query(of->stream));
    assert_lost(pool_stream_synchronize(of->stream));
    assert_lost(pool_stream_wait(of->stream, 1));
    assert_lost(pool_stream_fork(present, (pool_stream *const *)&of->stream, 1));
    assert_lost(pool_stream_join(present, (pool_stream *const *)&of->stream, 1));
    assert_lost(pool_stream_begin_capture(of->stream));
    assert_lost(pool_stream_end_capture(of->captured, &graph));
    assert_lost(pool_event_query(of->event));
    assert_lost(pool_event_synchronize(of->event));
    assert_lost(pool_event_record(of->event, present));
    assert_lost(pool_stream_wait_event(present, of->event));
    assert_lost(pool_launch(of->kernel, &shape, NULL, present));
    assert_lost(pool_launch(of->kernel, &shape, NULL, of->stream));
    assert_lost(pool_kernel_get_info(of->kernel, &info));
    assert_lost(pool_kernel_get(of->module, "nothing", &kernel));
    assert_lost(pool_module_variable(of->module, "counter", &address, &bytes));
    assert_lost(pool_graph_launch(of->graph, present));
    assert_lost(pool_graph_launch(of->graph, NULL));
    assert_ok(pool_stream_begin_capture(present));
    assert_lost(pool_graph_update(of->graph, present));
    assert_ok(pool_stream_end_capture(present, NULL));
    assert_ptr_equal(pool_graph_device(of->graph), of->device);
}

static void assert_virtual_lost(const struct objects *of, const struct objects *present)
{
    uint64_t granularity = pool_physical_bytes(of->physical);
    CUmemGenericAllocationHandle handle;
    pool_buffer *buffer = NULL;
    int descriptor = -1;

    assert_lost(pool_physical_export(of->physical, &descriptor));
    assert_int_equal(descriptor, -1);
    assert_lost(pool_physical_handle(of->physical, &handle));
    assert_lost(pool_range_map(of->range, 2 * granularity, present->physical));
    assert_lost(pool_range_map(present->range, 2 * granularity, of->physical));
    assert_lost(pool_range_grant_access(of->range, (pool_device *const[]){of->device}, 1));
    assert_lost(pool_range_buffer(of->range, 0, granularity, &buffer));
    assert_null(buffer);
    assert_lost(pool_range_unmap(of->range, 2 * granularity, granularity));
}

static void assert_operations_lost(const struct objects *of)
{
    pool_msm_params msm = {.struct_size = sizeof(msm), .bases = of->bases};
    pool_exec exec = {.struct_size = sizeof(exec), .device = of->device};
    unsigned char result[COUNT * ELEMENT] = {0}, fingerprint[POOL_FINGERPRINT_BYTES];
    const pool_span points = span_of(work.points, COUNT), scalars = span_of(work.scalars, COUNT);
    const pool_span sum = span_of(result, 1), out = span_of(result, COUNT);

    assert_lost(pool_msm(&msm, &exec, NULL, &scalars, &sum));
    assert_lost(pool_bases_fingerprint(of->bases, fingerprint));
    assert_lost(pool_bases_save(of->bases, "/dev/null"));
    msm.bases = NULL;
    msm.curve = work.curve;
    exec.workspace = of->buffer;
    assert_lost(pool_msm(&msm, &exec, &points, &scalars, &sum));
    exec.workspace = NULL;
    exec.stream = of->stream;
    assert_lost(pool_msm(&msm, &exec, &points, &scalars, &sum));
    assert_lost(pool_poseidon_hash(work.set, &exec, &scalars, 1, &out));
}

static void destroy_objects(struct objects *of)
{
    assert_status(pool_range_destroy(&of->range), POOL_ERR_BUSY);
    assert_ok(pool_buffer_destroy(&of->mapped));
    assert_ok(pool_range_destroy(&of->range));
    assert_ok(pool_physical_destroy(&of->physical));
    assert_ok(pool_graph_destroy(&of->graph));
    assert_ok(pool_bases_destroy(&of->bases));
    assert_ok(pool_module_destroy(&of->module));
    assert_ok(pool_event_destroy(&of->event));
    assert_ok(pool_stream_destroy(&of->captured));
    assert_ok(pool_stream_destroy(&of->stream));
    assert_ok(pool_buffer_destroy(&of->durable));
    assert_ok(pool_buffer_destroy_on(&of->slice, NULL));
    assert_ok(pool_buffer_destroy(&of->buffer));
}

/* The device comes back although objects of the ended process exist. They answer that they are
 * lost, harm nobody, and can be destroyed. */
static void test_objects_stay(void **state)
{
    struct left_behind before = look();
    device_pool *pool = create_pool("workers:sim:2,mem=1G");
    pool_device *device = device_at(pool, 1);
    pool_resident *resident = create_resident(pool, 0);
    pool_memory_info info = {.struct_size = sizeof(info)};
    struct objects objects = create_objects(device), again;
    pool_buffer *buffer = NULL;
    pool_stream *stream = NULL;

    (void)state;
    assert_ok(compute_on(device, NULL));      /* the domain has tables on the device */
    for (int round = 0; round < 5; round++) { /* more often than there are ranges of addresses */
        kill_and_wait(device);
        assert_ok(pool_memory_get_info(device, &info));
        assert_true(info.used_bytes <= 8192); /* what is lost counts no longer */
        assert_ok(pool_buffer_zeroed(device, 4096, &buffer));
        assert_ok(pool_stream_create(device, NULL, &stream));
        assert_buffers_lost(&objects, buffer);
        assert_work_lost(&objects, stream);
        assert_operations_lost(&objects);
        /* The device computes, also with the domain, which is of no process. */
        assert_ok(compute_on(device, NULL));
        assert_ok(compute_on(device, resident));
        again = create_objects(device);
        assert_virtual_lost(&objects, &again);
        assert_ok(pool_graph_launch(again.graph, stream));
        assert_ok(pool_stream_synchronize(stream));
        assert_ok(pool_stream_end_capture(again.captured, NULL));
        destroy_objects(&again);
        assert_ok(pool_device_synchronize(device));
        assert_ok(pool_stream_destroy(&stream));
        assert_ok(pool_buffer_destroy(&buffer));
    }
    assert_int_equal(pool_destroy(&pool), POOL_ERR_BUSY);
    destroy_objects(&objects);
    assert_ok(compute_on(device, resident));
    assert_ok(pool_resident_destroy(&resident));
    destroy_pool(pool);
    assert_nothing_left(before);
}

/* Threads that use objects of their own, and create others when these are lost. */
static pool_status use_objects(
    pool_buffer *buffer, pool_stream *stream, pool_event *event, unsigned char value)
{
    unsigned char back[4096] = {0};
    pool_status status = pool_buffer_fill8(buffer, 0, sizeof(back), value, stream);

    if (!status)
        status = pool_event_record(event, stream);
    if (!status)
        status = pool_event_synchronize(event);
    if (!status)
        status = pool_copy_to_host(back, buffer, 0, sizeof(back), NULL);
    for (size_t i = 0; i < sizeof(back) && !status; i++)
        if (back[i] != value)
            abort();
    return status;
}

struct owner {
    pool_device *device;
    atomic_bool stops;
    atomic_uint done, lost, other;
};

static void count_status(struct owner *owner, pool_status status)
{
    if (status == POOL_ERR_DEVICE_LOST)
        atomic_fetch_add(&owner->lost, 1);
    else if (status && atomic_fetch_add(&owner->other, 1) == 0)
        fprintf(stderr, "%s: %s\n", pool_status_name(status), pool_last_error()->message);
}

static void *own_objects(void *user)
{
    struct owner *owner = user;

    while (!atomic_load(&owner->stops)) {
        pool_buffer *buffer = NULL;
        pool_stream *stream = NULL;
        pool_event *event = NULL;
        pool_status status = pool_buffer_alloc(owner->device, 4096, &buffer);

        if (!status)
            status = pool_stream_create(owner->device, NULL, &stream);
        if (!status)
            status = pool_event_create(owner->device, 0, &event);
        for (unsigned value = 1; !status && !atomic_load(&owner->stops); value++) {
            status = use_objects(buffer, stream, event, (unsigned char)value);
            atomic_fetch_add(&owner->done, !status);
        }
        count_status(owner, status);
        /* One that meets the loss reports it, and is done all the same. */
        count_status(owner, pool_event_destroy(&event));
        count_status(owner, pool_stream_destroy(&stream));
        count_status(owner, pool_buffer_destroy(&buffer));
        atomic_fetch_add(&owner->other, event || stream || buffer);
    }
    return NULL;
}

static void wait_for_more(const atomic_uint *count)
{
    unsigned before = atomic_load(count);
    time_t end = time(NULL) + PATIENCE_S;

    while (atomic_load(count) == before) {
        assert_true(time(NULL) <= end);
        usleep(1000);
    }
}

static void test_objects_of_threads(void **state)
{
    enum { THREADS = 3, ROUNDS = 4 };
    struct left_behind before = look();
    device_pool *pool = create_pool("workers:sim:1,mem=1G");
    struct owner owners[THREADS] = {{0}};
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        owners[i].device = device_at(pool, 0);
        assert_int_equal(pthread_create(&threads[i], NULL, own_objects, &owners[i]), 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < THREADS; i++)
            wait_for_more(&owners[i].done);
        kill_and_wait(device_at(pool, 0));
    }
    for (int i = 0; i < THREADS; i++)
        wait_for_more(&owners[i].done);
    for (int i = 0; i < THREADS; i++)
        atomic_store(&owners[i].stops, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&owners[i].other), 0);
    }
    destroy_pool(pool);
    assert_nothing_left(before);
}

/* Replacements are killed as soon as they run, wherever the device's return is by then. */
static void test_dies_again(void **state)
{
    device_pool *pool = create_pool("workers:sim:2,mem=1G");
    pool_device *device = device_at(pool, 0);
    unsigned generation = 0;

    (void)state;
    assert_ok(compute_on(device, NULL));
    for (int i = 0; i < 4; i++) {
        generation = worker_of(0).generation;
        kill_worker(0);
        wait_for_process(0, generation);
        usleep((useconds_t)i * 3000);
    }
    kill_worker(0);
    wait_for_service(device, generation + 1);
    assert_ok(compute_on(device, NULL));
    assert_ok(compute_on(device_at(pool, 1), NULL));
    /* A pool can be destroyed while a device comes back. */
    kill_worker(0);
    destroy_pool(pool);
}

/* When the replacement may start that has started, or will. */
static uint64_t restart_time(void)
{
    struct client_worker *worker = &client->workers[0];
    uint64_t restart_ns;

    pthread_mutex_lock(&worker->lock);
    restart_ns = worker->restart_ns;
    pthread_mutex_unlock(&worker->lock);
    return restart_ns;
}

/* A process that has computed something is replaced at once, whatever it has replaced itself. Of
 * processes that have not, the second one in a row is replaced after a pause, which does not delay
 * pool_destroy. */
static void test_pause(void **state)
{
    device_pool *pool;
    pool_device *device;
    unsigned useless = 0;

    (void)state;
    setenv("DEVICEPOOL_WORKER_PAUSE_MS", "1000000", 1); /* as long as can be */
    pool = create_pool("workers:sim:1,mem=1G");
    device = device_at(pool, 0);
    for (int i = 0; i < 4; i++) {
        assert_ok(compute_on(device, NULL));
        kill_and_wait(device);
        assert_true(i == 0 || restart_time() == 0); /* the first one has replaced no other */
    }
    for (bool is_delayed = false; !is_delayed; useless++) {
        assert_true(useless < 4);
        if (useless > 0)
            wait_for_service(device, 4 + useless);
        kill_worker(0);
        wait_for_loss(device);
        is_delayed = restart_time() > base_clock_ns();
    }
    assert_true(useless > 1);
    destroy_pool(pool);
    setenv("DEVICEPOOL_WORKER_PAUSE_MS", "1", 1);
}

/* Each process faults at its first launch: the probe finds that out, and no other is started after
 * some of them. */
static void test_crash_loop(void **state)
{
    device_pool *pool;
    pool_device_info info = {.struct_size = sizeof(info)};
    time_t end = time(NULL) + PATIENCE_S;
    unsigned generation;

    (void)state;
    setenv("DEVICEPOOL_SIM_FAULTS", "dev0.cuLaunchKernel*@1=700", 1);
    pool = create_pool("workers:sim:2,mem=1G");
    assert_status(compute_on(device_at(pool, 0), NULL), POOL_ERR_DEVICE_LOST);
    while (worker_of(0).state != WORKER_STATE_FAILED) {
        assert_true(time(NULL) <= end);
        usleep(2000);
    }
    wait_for_loss(device_at(pool, 0));
    /* The reason is replaced a moment after the state. */
    do
        assert_ok(pool_device_get_info(device_at(pool, 0), &info));
    while (!strstr(info.reason, "pool_device_readmit") && time(NULL) <= end);
    assert_non_null(strstr(info.reason, "9 worker processes in a row"));
    assert_non_null(strstr(info.reason, "ILLEGAL_ADDRESS"));
    assert_status(compute_on(device_at(pool, 0), NULL), POOL_ERR_DEVICE_LOST);
    assert_says("pool_device_readmit");
    assert_ok(compute_on(device_at(pool, 1), NULL));
    /* Earlier losses count no more: nine others give it up again, then its processes work. */
    generation = worker_of(0).generation;
    assert_ok(pool_device_readmit(device_at(pool, 0)));
    while (worker_of(0).generation < generation + 9 || worker_of(0).state != WORKER_STATE_FAILED) {
        assert_true(time(NULL) <= end);
        usleep(2000);
    }
    unsetenv("DEVICEPOOL_SIM_FAULTS");
    generation = worker_of(0).generation;
    assert_ok(pool_device_readmit(device_at(pool, 0)));
    wait_for_service(device_at(pool, 0), generation);
    assert_ok(compute_on(device_at(pool, 0), NULL));
    assert_ok(pool_device_readmit(device_at(pool, 0))); /* no-op */
    assert_int_equal(worker_of(0).generation, generation + 1);
    destroy_pool(pool);
}

/* Pinned memory that is destroyed while its device is lost is used again after the return. */
static void test_pinned_of_lost(void **state)
{
    enum { BYTES = 5 << 20 };
    device_pool *pool = create_pool("workers:sim:2,mem=1G");
    pool_device *device = device_at(pool, 1);
    unsigned generation = worker_of(1).generation;
    pool_memory_info before = {.struct_size = sizeof(before)}, after = before;
    pool_pinned *pinned = NULL;

    (void)state;
    assert_ok(pool_pinned_create(device, BYTES, 0, &pinned));
    assert_ok(pool_bind(device)); /* keeps the device out of service */
    assert_ok(pool_memory_get_info(device, &before));
    kill_worker(1);
    wait_for_process(1, generation); /* the pool was notified of the loss before */
    assert_ok(pool_pinned_destroy(&pinned));
    assert_ok(pool_unbind(device));
    wait_for_service(device, generation);
    assert_ok(pool_pinned_create(device, BYTES, 0, &pinned));
    assert_ok(pool_memory_get_info(device, &after));
    assert_int_equal(after.pinned_reuses, before.pinned_reuses + 1);
    assert_ok(pool_pinned_destroy(&pinned));
    destroy_pool(pool);
}

/* A device that was not in service does not get there by a loss. */
static void test_quarantined(void **state)
{
    device_pool *pool = create_pool("workers:sim:2,mem=1G");
    pool_device *device = device_at(pool, 1);
    time_t end = time(NULL) + PATIENCE_S;

    (void)state;
    assert_ok(pool_device_quarantine(device, "under suspicion"));
    kill_worker(1);
    wait_for_loss(device);
    while (state_of(device) != POOL_DEVICE_QUARANTINED || pool_device_resume(device)) {
        assert_true(time(NULL) <= end);
        usleep(2000);
    }
    assert_ok(compute_on(device, NULL));
    destroy_pool(pool);
}

/* A pool that ends while a device of it is lost leaves the successor's context to other pools. */
static void test_other_pool_ends(void **state)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:2,mem=1G"};
    device_pool *pool = create_pool(params.devices), *other = NULL;
    pool_device *device = device_at(pool, 1);
    unsigned generation = worker_of(1).generation;

    (void)state;
    assert_ok(pool_create(&other, &params));
    assert_ok(pool_bind(device_at(other, 1))); /* keeps it out of service there */
    assert_ok(compute_on(device, NULL));
    kill_worker(1);
    wait_for_service(device, generation);
    assert_int_equal(state_of(device_at(other, 1)), POOL_DEVICE_UNUSABLE);
    assert_ok(pool_unbind(device_at(other, 1)));
    assert_ok(pool_destroy(&other));
    assert_ok(compute_on(device, NULL));
    destroy_pool(pool);
}

/* A worker that ends while the pool is created, at whatever call, is noticed and replaced. */
static void test_dies_in_create(void **state)
{
    static const char *const steps[] = {"executed", "reply"};
    static const unsigned counts[] = {1, 2, 14, 24, 25, 26, 27, 28, 29, 30, 31, 32};
    char text[64];

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(counts) / sizeof(counts[0]); i++) {
        device_pool *pool;
        pool_device *device;

        snprintf(text, sizeof(text), "dev0.%s@%u", steps[i % 2], counts[i / 2]);
        setenv("DEVICEPOOL_WORKER_ABORT", text, 1);
        pool = create_pool("workers:sim:2,mem=1G");
        device = device_at(pool, 0);
        (void)compute_on(device, NULL); /* it ends there at the latest */
        wait_for_service(device, 1);
        assert_ok(compute_on(device, NULL));
        destroy_pool(pool);
    }
    unsetenv("DEVICEPOOL_WORKER_ABORT");
}

/* Jobs with leases on all devices while workers are killed. */
struct jobs {
    device_pool *pool;
    pool_resident *resident;
    atomic_bool stops;
    atomic_uint done[DEVICES];
    atomic_uint lost, other;
};

static void run_job(struct jobs *jobs)
{
    const pool_request request = {
        .struct_size = sizeof(request), .bytes = 64 << 20, .timeout_ns = POOL_WAIT_FOREVER};
    pool_device *device = NULL;
    pool_lease *lease = NULL;
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_status status = pool_acquire(jobs->pool, &request, &lease);

    if (!status)
        status = pool_lease_device(lease, 0, &device);
    exec.lease = lease;
    exec.device = device;
    if (!status)
        status = pool_lease_stream(lease, 0, &exec.stream);
    if (!status)
        status = compute(&exec, jobs->resident);
    if (!status)
        atomic_fetch_add(&jobs->done[pool_device_index(device)], 1);
    else if (status == POOL_ERR_DEVICE_LOST)
        atomic_fetch_add(&jobs->lost, 1);
    else if (atomic_fetch_add(&jobs->other, 1) == 0)
        fprintf(stderr, "%s: %s\n", pool_status_name(status), pool_last_error()->message);
    (void)pool_release(&lease);
}

static void *run_jobs(void *user)
{
    struct jobs *jobs = user;

    while (!atomic_load(&jobs->stops))
        run_job(jobs);
    return NULL;
}

static void test_under_load(void **state)
{
    enum { THREADS = 6, ROUNDS = 6 };
    struct left_behind before = look();
    device_pool *pool = create_pool("workers:sim:4,mem=1G");
    struct jobs jobs = {.pool = pool, .resident = create_resident(pool, 0)};
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_jobs, &jobs), 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        time_t end = time(NULL) + PATIENCE_S;
        pool_device *device = device_at(pool, i % DEVICES);
        unsigned done;

        kill_and_wait(device);
        done = atomic_load(&jobs.done[i % DEVICES]);
        while (atomic_load(&jobs.done[i % DEVICES]) == done) {
            assert_true(time(NULL) <= end);
            usleep(1000);
        }
    }
    atomic_store(&jobs.stops, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&jobs.other), 0);
    assert_ok(pool_resident_destroy(&jobs.resident));
    destroy_pool(pool);
    assert_nothing_left(before);
}

/* test_readmit [TESTS]: those whose names match, with * as in a shell. */
int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_comes_back),
        cmocka_unit_test(test_objects), cmocka_unit_test(test_objects_stay),
        cmocka_unit_test(test_objects_of_threads), cmocka_unit_test(test_dies_again),
        cmocka_unit_test(test_pause), cmocka_unit_test(test_crash_loop),
        cmocka_unit_test(test_quarantined), cmocka_unit_test(test_pinned_of_lost),
        cmocka_unit_test(test_other_pool_ends), cmocka_unit_test(test_dies_in_create),
        cmocka_unit_test(test_under_load)};

    setenv("DEVICEPOOL_WORKER_PAUSE_MS", "1", 1);
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    if (simulated_compiler_is_missing())
        return 77;
    return cmocka_run_group_tests(tests, create_work, destroy_work);
}
