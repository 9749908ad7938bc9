/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture of memory and streams: buffers, staged copies, secrets, peers, pinned memory, statistics,
 * drivers without memory pools, streams and events.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pool/memory/memory.h"
#include "torture/torture.h"

enum {
    POOL,
    FIRST,
    SECOND,
    THIRD,
    PINNED,
    STREAM,
    EVENT,
    OTHER_EVENT,
    MODULE,
    OTHER_POOL,
    GRAPH,
    RANGE,
    PHYSICAL,
    IMPORTED
};

#define AT(type, index) ((type **)&torture->objects[index])

static unsigned char data[40000], back[40000];

/* A pool of `devices`, with staging so small that a few thousand bytes go round its
 * ring, and without helpers, whose timing would change the number of calls. */
static pool_status open_pool(struct torture *torture, uint32_t devices, pool_device **device)
{
    static const struct memory_staging_shape shape = {
        .helpers = 0, .slots = 4, .chunk_bytes = 4096, .small_bytes = 1024, .direct_bytes = 64};
    pool_params params = {.struct_size = sizeof(params),
        .driver = torture->table,
        .devices = torture->devices,
        .min_devices = devices};
    pool_status status = pool_create(AT(device_pool, POOL), &params);

    for (uint32_t i = devices; !status && i-- > 0;) {
        status = pool_device_at(*AT(device_pool, POOL), i, device);
        if (!status)
            status = memory_staging_reshape(*device, &shape);
    }
    return status;
}

static pool_status finish(struct torture *torture)
{
    pool_status results[] = {
        pool_graph_destroy(AT(pool_graph, GRAPH)),
        pool_buffer_destroy(AT(pool_buffer, FIRST)),
        pool_buffer_destroy_on(AT(pool_buffer, SECOND), NULL),
        pool_buffer_destroy(AT(pool_buffer, THIRD)),
        pool_pinned_destroy(AT(pool_pinned, PINNED)),
        pool_event_destroy(AT(pool_event, EVENT)),
        pool_event_destroy(AT(pool_event, OTHER_EVENT)),
        pool_stream_destroy(AT(pool_stream, STREAM)),
        pool_destroy(AT(device_pool, POOL)),
        pool_destroy(AT(device_pool, OTHER_POOL)),
    };

    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        if (results[i])
            return results[i];
    return POOL_OK;
}

/* The first that fails ends the scenario, as in a careful user's code. */
#define STEP(call)                                                                                 \
    do {                                                                                           \
        pool_status step_status = (call);                                                          \
        if (step_status)                                                                           \
            return step_status;                                                                    \
    } while (0)

static pool_status buffers(struct torture *torture)
{
    pool_device *device;
    unsigned char few[16] = {1, 2, 3};

    STEP(open_pool(torture, 1, &device));
    STEP(pool_buffer_from_host(device, few, sizeof(few), AT(pool_buffer, FIRST)));
    STEP(pool_buffer_zeroed(device, 4096, AT(pool_buffer, SECOND)));
    STEP(pool_buffer_slice(*AT(pool_buffer, SECOND), 64, 1024, AT(pool_buffer, THIRD)));
    STEP(pool_buffer_fill8(*AT(pool_buffer, SECOND), 1, 3, 1, NULL));
    STEP(pool_buffer_fill16(*AT(pool_buffer, SECOND), 2, 3, 1, NULL));
    STEP(pool_buffer_fill32(*AT(pool_buffer, THIRD), 4, 3, 1, NULL));
    STEP(pool_copy_device(
        *AT(pool_buffer, THIRD), 0, *AT(pool_buffer, FIRST), 0, sizeof(few), NULL));
    STEP(pool_copy_device(*AT(pool_buffer, SECOND), 0, *AT(pool_buffer, SECOND), 1000, 2000, NULL));
    STEP(pool_copy_device(*AT(pool_buffer, SECOND), 1, *AT(pool_buffer, SECOND), 0, 500, NULL));
    STEP(pool_copy_2d(&(pool_pitched){.buffer = *AT(pool_buffer, SECOND), .pitch = 8},
        &(pool_pitched){.host = few}, 4, 4, NULL));
    STEP(pool_copy_to_host(few, *AT(pool_buffer, THIRD), 0, sizeof(few), NULL));
    return pool_buffer_destroy(AT(pool_buffer, FIRST));
}

static pool_status staged(struct torture *torture)
{
    pool_device *device;

    STEP(open_pool(torture, 1, &device));
    STEP(pool_stream_create(device, NULL, AT(pool_stream, STREAM)));
    STEP(pool_buffer_alloc(device, sizeof(data), AT(pool_buffer, FIRST)));
    STEP(pool_copy_to_device(
        *AT(pool_buffer, FIRST), 0, data, sizeof(data), *AT(pool_stream, STREAM)));
    STEP(pool_copy_to_host(back, *AT(pool_buffer, FIRST), 0, sizeof(data), NULL));
    return pool_stream_synchronize(*AT(pool_stream, STREAM));
}

static pool_status secrets(struct torture *torture)
{
    pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = 9000,
        .flags = POOL_BUFFER_SECRET | POOL_BUFFER_ZEROED};
    pool_device *device;

    STEP(open_pool(torture, 1, &device));
    STEP(pool_stream_create(device, NULL, AT(pool_stream, STREAM)));
    STEP(pool_buffer_create(device, &params, AT(pool_buffer, FIRST)));
    params.stream = *AT(pool_stream, STREAM);
    STEP(pool_buffer_create(device, &params, AT(pool_buffer, THIRD)));
    STEP(pool_pinned_create(device, 100, POOL_PINNED_SECRET, AT(pool_pinned, PINNED)));
    STEP(pool_copy_to_device(*AT(pool_buffer, FIRST), 0, data, 9000, params.stream));
    STEP(pool_copy_to_host(back, *AT(pool_buffer, FIRST), 0, 9000, params.stream));
    return pool_buffer_destroy_on(AT(pool_buffer, THIRD), params.stream);
}

static pool_status peers(struct torture *torture)
{
    pool_device *devices[2];

    STEP(open_pool(torture, 2, &devices[0]));
    STEP(pool_device_at(*AT(device_pool, POOL), 1, &devices[1]));
    STEP(pool_buffer_zeroed(devices[0], 4096, AT(pool_buffer, FIRST)));
    STEP(pool_buffer_alloc(devices[1], 4096, AT(pool_buffer, SECOND)));
    STEP(pool_copy_device(*AT(pool_buffer, SECOND), 0, *AT(pool_buffer, FIRST), 0, 4096, NULL));
    return pool_device_enable_peer(devices[1], devices[0]);
}

#define MIB (UINT64_C(1) << 20)

/* Two mappings of one range, access for a second device, a buffer in it, export and import. */
static pool_status virtual_memory(struct torture *torture)
{
    pool_range **range = AT(pool_range, RANGE);
    pool_physical **physical = AT(pool_physical, PHYSICAL);
    pool_device *devices[2] = {NULL, NULL};
    unsigned char few[16] = {1, 2, 3};
    int descriptor = -1;
    pool_status status;

    STEP(open_pool(torture, 2, &devices[0]));
    STEP(pool_device_at(*AT(device_pool, POOL), 1, &devices[1]));
    STEP(pool_range_reserve(devices[0], 16 * MIB, range));
    STEP(pool_physical_create(devices[0], 4 * MIB, POOL_PHYSICAL_EXPORTABLE, physical));
    STEP(pool_range_map(*range, 0, *physical));
    STEP(pool_range_grant_access(*range, &devices[1], 1));
    STEP(pool_physical_export(*physical, &descriptor));
    status = pool_physical_import(devices[0], descriptor, 4 * MIB, AT(pool_physical, IMPORTED));
    close(descriptor);
    STEP(status);
    STEP(pool_range_map(*range, 4 * MIB, *AT(pool_physical, IMPORTED)));
    STEP(pool_range_buffer(*range, 2 * MIB, 4 * MIB, AT(pool_buffer, FIRST)));
    STEP(pool_copy_to_device(*AT(pool_buffer, FIRST), 0, few, sizeof(few), NULL));
    STEP(pool_buffer_destroy(AT(pool_buffer, FIRST)));
    STEP(pool_range_unmap(*range, 0, 4 * MIB));
    return pool_physical_destroy(physical);
}

/* The mock opens what it has shared itself. */
static pool_status shared_memory(struct torture *torture)
{
    const pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = 4096, .flags = POOL_BUFFER_SHAREABLE};
    pool_shared_buffer shared_buffer;
    pool_shared_event shared_event;
    unsigned char few[16];
    pool_device *device;

    STEP(open_pool(torture, 1, &device));
    STEP(pool_buffer_create(device, &params, AT(pool_buffer, FIRST)));
    STEP(pool_buffer_share(*AT(pool_buffer, FIRST), &shared_buffer));
    STEP(pool_event_create(device, POOL_EVENT_SHAREABLE, AT(pool_event, EVENT)));
    STEP(pool_event_share(*AT(pool_event, EVENT), &shared_event));
    STEP(pool_event_open(device, &shared_event, AT(pool_event, OTHER_EVENT)));
    STEP(pool_buffer_open(device, &shared_buffer, AT(pool_buffer, THIRD)));
    STEP(pool_copy_to_host(few, *AT(pool_buffer, THIRD), 0, sizeof(few), NULL));
    STEP(pool_stream_create(device, NULL, AT(pool_stream, STREAM)));
    STEP(pool_event_record(*AT(pool_event, EVENT), *AT(pool_stream, STREAM)));
    STEP(pool_stream_wait_event(*AT(pool_stream, STREAM), *AT(pool_event, OTHER_EVENT)));
    STEP(pool_event_query(*AT(pool_event, OTHER_EVENT)));
    STEP(pool_buffer_open(device, &shared_buffer, AT(pool_buffer, SECOND)));
    return pool_buffer_destroy(AT(pool_buffer, THIRD));
}

static pool_status finish_virtual(struct torture *torture)
{
    pool_status results[] = {
        pool_buffer_destroy(AT(pool_buffer, FIRST)),
        pool_range_destroy(AT(pool_range, RANGE)),
        pool_physical_destroy(AT(pool_physical, PHYSICAL)),
        pool_physical_destroy(AT(pool_physical, IMPORTED)),
    };

    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        if (results[i])
            return results[i];
    return finish(torture);
}

/* Two devices that do not reach each other, and a secret. */
static void part_devices(struct torture *torture)
{
    pool_mock_set_peer(torture->mock, 0, 1, 0, 0, 0);
    pool_mock_set_peer(torture->mock, 1, 0, 0, 0, 0);
}

static pool_status parted_secret(struct torture *torture)
{
    pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = 4096, .flags = POOL_BUFFER_SECRET};
    pool_device *devices[2];

    STEP(open_pool(torture, 2, &devices[0]));
    STEP(pool_device_at(*AT(device_pool, POOL), 1, &devices[1]));
    STEP(pool_buffer_create(devices[0], &params, AT(pool_buffer, FIRST)));
    STEP(pool_buffer_alloc(devices[1], 4096, AT(pool_buffer, SECOND)));
    STEP(pool_stream_create(devices[0], NULL, AT(pool_stream, STREAM)));
    STEP(pool_copy_device(
        *AT(pool_buffer, SECOND), 0, *AT(pool_buffer, FIRST), 0, 4096, *AT(pool_stream, STREAM)));
    return pool_copy_device(*AT(pool_buffer, FIRST), 0, *AT(pool_buffer, SECOND), 0, 4096, NULL);
}

static void remove_pools(struct torture *torture)
{
    pool_mock_remove_function(torture->mock, "cuMemAllocFromPoolAsync");
}

static pool_status pinned(struct torture *torture)
{
    static unsigned char own[8192] __attribute__((aligned(4096)));
    pool_device *device;

    STEP(open_pool(torture, 1, &device));
    STEP(pool_pinned_create(device, 4096, POOL_PINNED_WRITE_COMBINED, AT(pool_pinned, PINNED)));
    STEP(pool_buffer_alloc(device, 4096, AT(pool_buffer, FIRST)));
    STEP(pool_stream_create(device, NULL, AT(pool_stream, STREAM)));
    STEP(pool_copy_to_device(*AT(pool_buffer, FIRST), 0, pool_pinned_data(*AT(pool_pinned, PINNED)),
        4096, *AT(pool_stream, STREAM)));
    STEP(pool_stream_wait(*AT(pool_stream, STREAM), 1000000000));
    STEP(pool_pinned_destroy(AT(pool_pinned, PINNED)));
    return pool_pinned_register(device, own, sizeof(own), 0, AT(pool_pinned, PINNED));
}

/* Pinned memory and a module are destroyed while work is unfinished, and released afterwards. */
static pool_status deferred(struct torture *torture)
{
    static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry other()\n{\n\tret;\n}\n";
    pool_module *module = NULL;
    pool_device *device;

    STEP(open_pool(torture, 1, &device));
    STEP(pool_pinned_create(device, 4096, POOL_PINNED_SECRET, AT(pool_pinned, PINNED)));
    STEP(pool_buffer_alloc(device, 4096, AT(pool_buffer, FIRST)));
    STEP(pool_stream_create(device, NULL, AT(pool_stream, STREAM)));
    STEP(pool_module_load(device, ptx, sizeof(ptx), &module));
    pool_mock_stall(torture->mock);
    torture->objects[MODULE] = module;
    STEP(pool_copy_to_device(*AT(pool_buffer, FIRST), 0, pool_pinned_data(*AT(pool_pinned, PINNED)),
        4096, *AT(pool_stream, STREAM)));
    STEP(pool_pinned_destroy(AT(pool_pinned, PINNED)));
    pool_module_destroy(AT(pool_module, MODULE));
    pool_mock_resume(torture->mock);
    STEP(pool_stream_synchronize(*AT(pool_stream, STREAM)));
    STEP(pool_pinned_create(device, 4096, 0, AT(pool_pinned, PINNED)));
    return pool_pinned_destroy(AT(pool_pinned, PINNED));
}

static pool_status finish_deferred(struct torture *torture)
{
    pool_mock_resume(torture->mock);
    pool_module_destroy(AT(pool_module, MODULE));
    return finish(torture);
}

static pool_status adopted(struct torture *torture)
{
    pool_device *device;
    CUdeviceptr address;

    STEP(open_pool(torture, 1, &device));
    STEP(pool_buffer_alloc(device, 4096, AT(pool_buffer, FIRST)));
    STEP(pool_buffer_address(*AT(pool_buffer, FIRST), &address));
    return pool_buffer_adopt(device, address, 4096, AT(pool_buffer, SECOND));
}

/* The memory pool of another device_pool serves as the caller's memory pool. */
static pool_status adopted_pool(struct torture *torture)
{
    pool_params params = {.struct_size = sizeof(params), .driver = torture->table};
    pool_device *device, *owner;
    CUmemoryPool handle;

    if (!torture->table) /* worker processes, whose handles nobody else can use */
        return POOL_OK;
    STEP(open_pool(torture, 1, &device));
    STEP(pool_create(AT(device_pool, OTHER_POOL), &params));
    STEP(pool_device_at(*AT(device_pool, OTHER_POOL), 0, &owner));
    STEP(pool_memory_handle(owner, &handle));
    STEP(pool_buffer_alloc(device, 4096, AT(pool_buffer, FIRST)));
    STEP(pool_memory_adopt(device, handle));
    STEP(pool_buffer_alloc(device, 4096, AT(pool_buffer, THIRD)));
    STEP(pool_memory_trim(device, 0));
    return pool_memory_adopt(device, NULL);
}

static pool_status statistics(struct torture *torture)
{
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_device *device;

    STEP(open_pool(torture, 1, &device));
    STEP(pool_buffer_from_host(device, data, sizeof(data), AT(pool_buffer, FIRST)));
    STEP(pool_memory_get_info(device, &info));
    if (info.memory_pool)
        STEP(pool_memory_set_threshold(device, 1 << 20));
    STEP(pool_pinned_set_threshold(device, 1 << 12));
    STEP(pool_memory_trim(device, 0));
    return pool_memory_reset_high_water(device);
}

static void nothing(void *user)
{
    (void)user;
}

static pool_status streams(struct torture *torture)
{
    pool_stream_params params = {
        .struct_size = sizeof(params), .priority = -1, .flags = POOL_STREAM_BLOCKING};
    pool_stream *stream, *main_stream;
    pool_device *device;
    int32_t number;
    uint32_t flags;
    double ms;

    STEP(open_pool(torture, 1, &device));
    STEP(pool_stream_create(device, &params, AT(pool_stream, STREAM)));
    stream = *AT(pool_stream, STREAM);
    STEP(pool_stream_get_priority(stream, &number));
    STEP(pool_stream_get_flags(stream, &flags));
    STEP(pool_event_create(device, POOL_EVENT_TIMING, AT(pool_event, EVENT)));
    STEP(pool_event_create(device, POOL_EVENT_TIMING, AT(pool_event, OTHER_EVENT)));
    STEP(pool_event_record(*AT(pool_event, EVENT), stream));
    STEP(pool_stream_call(stream, nothing, NULL));
    STEP(pool_stream_wait_event(stream, *AT(pool_event, EVENT)));
    STEP(pool_stream_default(device, &main_stream));
    STEP(pool_stream_fork(stream, &main_stream, 1));
    STEP(pool_stream_join(stream, &main_stream, 1));
    STEP(pool_event_record(*AT(pool_event, OTHER_EVENT), stream));
    STEP(pool_event_wait(*AT(pool_event, OTHER_EVENT), 1000000000));
    STEP(pool_event_synchronize(*AT(pool_event, EVENT)));
    STEP(pool_event_query(*AT(pool_event, EVENT)));
    STEP(pool_event_elapsed(*AT(pool_event, EVENT), *AT(pool_event, OTHER_EVENT), &ms));
    STEP(pool_stream_query(stream));
    STEP(pool_device_synchronize(device));
    STEP(pool_device_wait(device, 1000000000));
    STEP(pool_stream_adopt(device, NULL, AT(pool_stream, FIRST)));
    STEP(pool_stream_destroy(AT(pool_stream, FIRST)));
    return pool_stream_synchronize(stream);
}

static pool_status graphs(struct torture *torture)
{
    pool_stream *stream;
    pool_device *device;

    STEP(open_pool(torture, 1, &device));
    STEP(pool_stream_create(device, NULL, AT(pool_stream, STREAM)));
    stream = *AT(pool_stream, STREAM);
    STEP(pool_buffer_alloc(device, 4096, AT(pool_buffer, FIRST)));
    for (int round = 0; round < 2; round++) {
        STEP(pool_stream_begin_capture(stream));
        STEP(pool_buffer_fill8(*AT(pool_buffer, FIRST), 0, 4096, 1, stream));
        STEP(pool_stream_fork(stream, &stream, 1));
        if (round == 0)
            STEP(pool_stream_end_capture(stream, AT(pool_graph, GRAPH)));
        else
            STEP(pool_graph_update(*AT(pool_graph, GRAPH), stream));
        STEP(pool_graph_launch(*AT(pool_graph, GRAPH), stream));
    }
    return pool_stream_synchronize(stream);
}

/* A capture that a failed call has left. */
static pool_status finish_graphs(struct torture *torture)
{
    if (*AT(pool_stream, STREAM))
        (void)pool_stream_end_capture(*AT(pool_stream, STREAM), NULL);
    return finish(torture);
}

/* The adopted stream first: nothing else may have its index. */
static pool_status finish_streams(struct torture *torture)
{
    pool_status status = pool_stream_destroy(AT(pool_stream, FIRST));

    return status ? status : finish(torture);
}

/* A full device is tried again, and where nothing can be pinned the driver stages by itself. */
static const char *const memory_absorbs[] = {"cuDeviceGetAttribute", "cuMemAllocFromPoolAsync",
    "cuMemAlloc", "cuMemHostAlloc", "cuCtxGetCurrent", "cuCtxGetId", "cuCtxPushCurrent", "malloc",
    NULL};

/* A release that fails now is deferred, and the destruction of a module has no status. */
static const char *const deferred_absorbs[] = {"cuDeviceGetAttribute", "cuMemAllocFromPoolAsync",
    "cuMemAlloc", "cuMemHostAlloc", "cuCtxGetCurrent", "cuCtxGetId", "cuCtxPushCurrent",
    "cuCtxPopCurrent", "cuStreamQuery", "cuMemFreeHost", "cuModuleLoadDataEx", "cuModuleUnload",
    "malloc", NULL};

/* Overwriting is tried a second time in another way. */
static const char *const secret_absorbs[] = {"cuDeviceGetAttribute", "cuMemAllocFromPoolAsync",
    "cuMemAlloc", "cuMemHostAlloc", "cuMemsetD8Async", "cuCtxGetCurrent", "cuCtxGetId",
    "cuCtxPushCurrent", "malloc", NULL};

static const char *const stream_absorbs[] = {
    "cuDeviceGetAttribute", "cuCtxGetCurrent", "cuCtxGetId", "cuCtxPushCurrent", NULL};

/* Where the driver cannot say how large opened memory is, its owner has. */
static const char *const shared_absorbs[] = {"cuDeviceGetAttribute", "cuCtxGetCurrent",
    "cuCtxGetId", "cuCtxPushCurrent", "cuMemHostAlloc", "cuMemAlloc", "cuMemAllocFromPoolAsync",
    "cuStreamQuery", "cuEventRecord", "cuStreamWaitEvent", "cuMemGetAddressRange", "malloc", NULL};

/* A full device is tried again, and where streams cannot be ordered the host waits for all. */
static const char *const virtual_absorbs[] = {"cuDeviceGetAttribute", "cuCtxGetCurrent",
    "cuCtxGetId", "cuCtxPushCurrent", "cuMemHostAlloc", "cuMemCreate", "cuStreamQuery",
    "cuEventRecord", "cuStreamWaitEvent", "malloc", NULL};

/* Graphs are complete before what they were made from is destroyed. */
static const char *const graph_absorbs[] = {"cuDeviceGetAttribute", "cuCtxGetCurrent", "cuCtxGetId",
    "cuCtxPushCurrent", "cuMemAllocFromPoolAsync", "cuGraphDestroy", "malloc", NULL};

int main(int argument_count, char **arguments)
{
#define SCENARIO(text, count, before, body, end, absorbed)                                         \
    {                                                                                              \
        .name = text, .devices = count, .prepare = before, .run = body, .finish = end,             \
        .absorbs = absorbed                                                                        \
    }
#define MOCK_SCENARIO(text, count, before, body, end, absorbed)                                    \
    {                                                                                              \
        .name = text, .devices = count, .prepare = before, .run = body, .finish = end,             \
        .absorbs = absorbed, .needs_mock = 1                                                       \
    }
    static const struct torture_scenario scenarios[] = {
        SCENARIO("buffers", 1, NULL, buffers, finish, memory_absorbs),
        MOCK_SCENARIO("buffers, no memory pools", 1, remove_pools, buffers, finish, memory_absorbs),
        SCENARIO("staged copies", 1, NULL, staged, finish, memory_absorbs),
        SCENARIO("secrets", 1, NULL, secrets, finish, secret_absorbs),
        MOCK_SCENARIO("secrets, no memory pools", 1, remove_pools, secrets, finish, secret_absorbs),
        MOCK_SCENARIO("peers", 2, NULL, peers, finish, memory_absorbs),
        SCENARIO("secret, parted devices", 2, part_devices, parted_secret, finish, memory_absorbs),
        MOCK_SCENARIO("pinned memory", 1, NULL, pinned, finish, memory_absorbs),
        SCENARIO("deferred frees", 1, NULL, deferred, finish_deferred, deferred_absorbs),
        SCENARIO("adopted memory", 1, NULL, adopted, finish, memory_absorbs),
        MOCK_SCENARIO("adopted memory pool", 1, NULL, adopted_pool, finish, memory_absorbs),
        SCENARIO("statistics", 1, NULL, statistics, finish, memory_absorbs),
        SCENARIO("streams and events", 1, NULL, streams, finish_streams, stream_absorbs),
        MOCK_SCENARIO("shared memory", 1, NULL, shared_memory, finish, shared_absorbs),
        MOCK_SCENARIO("virtual memory", 2, NULL, virtual_memory, finish_virtual, virtual_absorbs),
        SCENARIO("graphs", 1, NULL, graphs, finish_graphs, graph_absorbs),
    };

    return torture_main(
        argument_count, arguments, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
