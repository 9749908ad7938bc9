/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of pinned memory: blocks for the users' pinned memory and for staging rings. Pinning
 * takes about 0.3 ms per MB and cuMemFreeHost waits for all work of the device, so freed blocks are
 * kept, up to a threshold, and reused once the work that was unfinished when they were freed has
 * finished (pool/deferred.c).
 */
#include "base/math.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "pool/memory/memory.h"
#include "pool/memory/numa.h"
#include "pool/device/release.h"

/*
 * Size classes: eight per power of two, at least a page and at most 2 MiB apart, so that requests
 * of similar sizes find each other's blocks and at most an eighth is wasted.
 */
static uint64_t capacity_of(uint64_t bytes)
{
    const uint64_t page = 4096, step_max = UINT64_C(2) << 20;
    uint64_t step = UINT64_C(1) << (63 - __builtin_clzll(bytes | page));

    step = base_min(base_max(step / 8, page), step_max);
    return bytes > UINT64_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

/* The flags that a block must share with the next request. */
static uint32_t kind_of(uint32_t flags)
{
    return flags & POOL_PINNED_WRITE_COMBINED;
}

static pool_status pin(
    struct device_memory *memory, uint32_t flags, struct memory_host_block *block)
{
    struct driver *driver = memory->driver;
    unsigned how = DRIVER_MEMHOSTALLOC_PORTABLE;
    struct memory_numa_policy before;
    bool is_near = memory_numa_prefer(device_properties(memory->device)->numa_node, &before);
    pool_cu_result code;

    if (flags & POOL_PINNED_WRITE_COMBINED)
        how |= DRIVER_MEMHOSTALLOC_WRITECOMBINED;
    code = driver->api.MemHostAlloc(&block->data, (size_t)block->bytes, how);
    if (is_near)
        memory_numa_restore(&before);
    if (code == POOL_CU_OUT_OF_MEMORY)
        return base_fail_driver(POOL_ERR_OUT_OF_HOST_MEMORY, (int)code, driver_code_name(code),
            "cuMemHostAlloc", "the host cannot pin %s", base_size_text(block->bytes).text);
    return DRIVER_CHECK_FOR(
        driver, code, "cuMemHostAlloc", "%s", base_size_text(block->bytes).text);
}

static bool reuse(
    struct device_memory *memory, uint64_t bytes, uint32_t flags, struct memory_host_block *block)
{
    struct device_deferred *record =
        device_reuse_deferred_pinned(memory->device, bytes, kind_of(flags));

    if (!record)
        return false;
    *block = (struct memory_host_block){
        .data = record->handle, .bytes = record->bytes, .flags = flags, .record = record};
    atomic_fetch_add_explicit(&memory->pinned_reuses, 1, memory_order_relaxed);
    return true;
}

pool_status memory_host_allocate(
    struct device_memory *memory, uint64_t bytes, uint32_t flags, struct memory_host_block *block)
{
    struct memory_host_block made = {.bytes = capacity_of(bytes), .flags = flags};
    pool_status status;

    if (reuse(memory, bytes, flags, block))
        return POOL_OK;
    device_try_release_deferred(memory->device); /* notices finished work */
    status = driver_usable(memory->driver);      /* that may be where a fault shows */
    if (status)
        return status;
    if (reuse(memory, bytes, flags, block))
        return POOL_OK;
    made.record = device_deferred_new(memory->device, DEVICE_DEFERRED_PINNED);
    if (!made.record)
        return base_fail_memory("pinned memory");
    status = pin(memory, flags, &made);
    if (status == POOL_ERR_OUT_OF_HOST_MEMORY && device_has_deferred_pinned(memory->device)) {
        status = device_release_deferred(memory->device, DEVICE_RELEASE_ALL);
        if (!status)
            status = pin(memory, flags, &made);
    }
    if (status) {
        device_deferred_free(made.record);
        return status;
    }
    atomic_fetch_add_explicit(&memory->pinned_allocations, 1, memory_order_relaxed);
    *block = made;
    return POOL_OK;
}

void memory_host_release(
    struct device_memory *memory, struct memory_host_block *block, bool is_secret)
{
    struct device_deferred *record = block->record;

    record->handle = block->data;
    record->bytes = block->bytes;
    record->flags = kind_of(block->flags);
    record->is_secret = is_secret;
    device_defer(memory->device, record);
    *block = (struct memory_host_block){0};
}
