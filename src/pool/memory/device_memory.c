/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's memory as a resource of the pool: its stream-ordered pool of the driver, creation,
 * renewal after the loss of the device, trim and destruction.
 */
#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/device/release.h"
#include "pool/memory/allocator.h"
#include "pool/memory/durable.h"
#include "pool/memory/virtual.h"
#include "pool/tuning/tuning.h"

/* Each part takes 0.3 to 1.3 ms on an H200 (55 GB/s to and from the host, 400 GB/s to another
 * device, 2 TB/s inside), which is many times the gap between two copies of a stream. */
static const struct memory_parts parts = {
    .link = UINT64_C(64) << 20, .peer = UINT64_C(256) << 20, .device = UINT64_C(1) << 30};

/* Creates the device's pool, if driver and device support stream-ordered allocation. */
static pool_status create_pool(struct device_memory *memory)
{
    const pool_cuda_api *api = &memory->driver->api;
    pool_cu_mem_pool_props props = {.allocation_type = DRIVER_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = DRIVER_MEM_LOCATION_TYPE_DEVICE, .id = memory->handle}};
    uint64_t keep_all = UINT64_MAX;
    pool_cu_result code;
    pool_status status;

    memory->own_pool = NULL;
    if (!device_properties(memory->device)->memory_pools || !api->MemPoolCreate ||
        !api->MemPoolDestroy || !api->MemPoolTrimTo || !api->MemPoolSetAttribute ||
        !api->MemPoolGetAttribute || !api->MemAllocFromPoolAsync || !api->MemFreeAsync)
        return POOL_OK;
    code = api->MemPoolCreate(&memory->own_pool, &props);
    if (code == POOL_CU_NOT_SUPPORTED) {
        memory->own_pool = NULL;
        return POOL_OK;
    }
    status = driver_check(memory->driver, code, "cuMemPoolCreate");
    if (status)
        return status;
    status = DRIVER_CALL(memory->driver,
        MemPoolSetAttribute(memory->own_pool, DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all));
    if (status)
        DRIVER_CLEANUP_QUIETLY(memory->driver, MemPoolDestroy(memory->own_pool));
    else
        atomic_store(&memory->threshold, keep_all);
    atomic_store(&memory->pool, status ? NULL : memory->own_pool);
    return status;
}

/* Drivers round the size up, so that the largest ones wrap around to 0 (seen with 580.159). */
static pool_status trim_pool(struct device_memory *memory, CUmemoryPool pool, uint64_t keep_bytes)
{
    if (keep_bytes > SIZE_MAX / 2)
        return POOL_OK;
    return DRIVER_CALL_FOR(memory->driver, MemPoolTrimTo(pool, (size_t)keep_bytes), "%s",
        base_size_text(keep_bytes).text);
}

pool_status memory_trim_unused(struct device_memory *memory, uint64_t keep_bytes)
{
    CUmemoryPool pool = atomic_load(&memory->pool);
    uint64_t threshold = 0;
    pool_status status;

    if (!pool)
        return POOL_OK;
    keep_bytes = base_min(keep_bytes, SIZE_MAX);
    if (pool == memory->own_pool)
        return trim_pool(memory, pool, keep_bytes);
    status = trim_pool(memory, memory->own_pool, 0);
    if (!status)
        status = DRIVER_CALL(memory->driver,
            MemPoolGetAttribute(pool, DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    return status ? status : trim_pool(memory, pool, base_max(keep_bytes, threshold));
}

pool_status memory_trim_pools(struct device_memory *memory, uint64_t keep_bytes)
{
    pool_status status = DRIVER_CALL(memory->driver, StreamSynchronize(memory->streams->reclaim));

    return status ? status : memory_trim_unused(memory, keep_bytes);
}

static void destroy_locks(struct device_memory *memory)
{
    device_lock_destroy(memory->device, &memory->virtual.lock);
    device_lock_destroy(memory->device, &memory->charged_lock);
    device_lock_destroy(memory->device, &memory->digester.lock);
    device_lock_destroy(memory->device, &memory->durable_lock);
    device_lock_destroy(memory->device, &memory->limit_lock);
    device_lock_destroy(memory->device, &memory->full_lock);
    device_lock_destroy(memory->device, &memory->quarantined_lock);
}

static pool_status create_memory(pool_device *device, void **object)
{
    struct device_memory *memory = base_calloc(1, sizeof(*memory));
    pool_status status;

    if (!memory)
        return base_fail_memory("the memory of a device");
    memory->device = device;
    memory->driver = device_driver(device);
    memory->parts = parts;
    /* The streams are created before, and therefore destroyed after, the memory that waits on them.
     */
    status = stream_registry_of(device, &memory->streams);
    if (!status)
        status = memory_staging_init(&device_tuning(device)->copy, &memory->staging);
    if (status)
        goto free_memory;
    if (pthread_mutex_init(&memory->quarantined_lock, NULL)) {
        status = base_fail_memory("a lock");
        goto free_staging;
    }
    if (pthread_mutex_init(&memory->limit_lock, NULL)) {
        status = base_fail_memory("a lock");
        goto destroy_quarantined_lock;
    }
    pthread_mutex_init(&memory->full_lock, NULL);
    pthread_mutex_init(&memory->durable_lock, NULL);
    pthread_mutex_init(&memory->charged_lock, NULL);
    pthread_mutex_init(&memory->digester.lock, NULL);
    pthread_mutex_init(&memory->virtual.lock, NULL);
    DRIVER_TRY(memory->driver, status, destroy_lock, CtxGetCurrent(&memory->context));
    DRIVER_TRY(memory->driver, status, destroy_lock, CtxGetDevice(&memory->handle));
    DRIVER_TRY(memory->driver, status, destroy_lock,
        StreamCreateWithPriority(&memory->alloc_order, DRIVER_STREAM_NON_BLOCKING, 0));
    status = create_pool(memory);
    if (status)
        goto destroy_stream;
    memory->held = (struct device_held){.measure = memory_measure_held, .object = memory};
    device_set_held(device, &memory->held);
    *object = memory;
    return POOL_OK;
destroy_stream:
    DRIVER_CLEANUP_QUIETLY(memory->driver, StreamDestroy(memory->alloc_order));
destroy_lock:
    pthread_mutex_destroy(&memory->virtual.lock);
    pthread_mutex_destroy(&memory->digester.lock);
    pthread_mutex_destroy(&memory->charged_lock);
    pthread_mutex_destroy(&memory->durable_lock);
    pthread_mutex_destroy(&memory->full_lock);
    pthread_mutex_destroy(&memory->limit_lock);
destroy_quarantined_lock:
    pthread_mutex_destroy(&memory->quarantined_lock);
free_staging:
    memory_staging_free(memory, 0);
free_memory:
    base_free(memory);
    return status;
}

static void destroy_memory(pool_device *device, void *object, int driver_alive)
{
    struct device_memory *memory = object;

    device_set_held(device, NULL);
    memory_staging_free(memory, driver_alive);
    memory_close_peers(memory, driver_alive);
    memory_digest_free(memory, driver_alive);
    memory_ranges_free(memory, driver_alive);
    if (driver_alive) {
        memory_release_quarantined(memory);
        memory_durable_unmap_closed(memory);
        if (memory->own_pool)
            (void)DRIVER_CLEANUP(memory->driver, MemPoolDestroy(memory->own_pool));
        (void)DRIVER_CLEANUP(memory->driver, StreamDestroy(memory->alloc_order));
    }
    memory_free_quarantined(memory);
    memory_durable_forget_closed(memory);
    destroy_locks(memory);
    base_free(memory);
}

/* A pool of the caller's has ended, too: the library's own takes its place. */
static pool_status renew_memory(pool_device *device, void **object)
{
    struct device_memory *memory = *object;
    uint64_t threshold = atomic_load(&memory->threshold);
    pool_status status;

    memory_lose_blocks(memory);
    memory_lose_physical(memory);
    memory_forget_quarantined(memory);
    memory_staging_renew(memory);
    if (device_has_lost_context(device))
        memory_close_peers(memory, 0);
    memory_digest_free(memory, 0);
    memory_ranges_free(memory, 0);
    status = DRIVER_CALL(memory->driver, CtxGetCurrent(&memory->context));
    if (!status)
        status = DRIVER_CALL(memory->driver,
            StreamCreateWithPriority(&memory->alloc_order, DRIVER_STREAM_NON_BLOCKING, 0));
    if (!status)
        status = create_pool(memory);
    if (!status && memory->own_pool)
        status =
            DRIVER_CALL(memory->driver, MemPoolSetAttribute(memory->own_pool,
                                            DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    if (!status)
        atomic_store(&memory->threshold, threshold);
    return status ? status : memory_durable_renew(memory);
}

/* After the resident objects: those that were released meanwhile leave their mappings. */
static pool_status restore_memory(pool_device *device, void *object)
{
    (void)device;
    memory_durable_unmap_closed(object);
    return POOL_OK;
}

static const struct device_resource_type memory_type = {.name = "memory",
    .is_of_gpu = true,
    .create = create_memory,
    .destroy = destroy_memory,
    .renew = renew_memory,
    .restore = restore_memory};

struct device_memory *memory_find(pool_device *device)
{
    return device_resource_find(device, &memory_type);
}

pool_status memory_of(struct device_scope *scope, struct device_memory **memory)
{
    void *object;
    pool_status status = device_resource_get(scope->device, &memory_type, &object);

    if (!status)
        *memory = object;
    return status;
}

pool_status pool_memory_trim(pool_device *device, uint64_t keep_bytes)
{
    struct device_memory *memory;
    struct device_scope scope;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    status = memory_of(&scope, &memory);
    if (!status) {
        status = memory_staging_trim(memory);
        memory_ranges_free(memory, 1);
        memory_release_quarantined(memory);
        memory_durable_unmap_closed(memory);
    }
    if (!status) {
        struct base_error_copy first;
        pool_status released;

        status = memory_trim_pools(memory, keep_bytes);
        if (status)
            base_error_save(&first);
        /* after the streams that have been destroyed */
        released = device_release_deferred(memory->device, DEVICE_RELEASE_ALL);
        if (status)
            base_error_restore(&first);
        else
            status = released;
    }
    return device_leave(&scope, status);
}
