/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releases of device memory: what was used before ends, secrets are overwritten, and the memory
 * goes back to where it came from.
 *
 * Frees that no stream orders run on the registry's reclaim stream, which first waits for every
 * other stream, so that frees never delay the caller's work.
 */
#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/cleanup.h"
#include "pool/device/counters.h"
#include "pool/memory/allocator.h"
#include "pool/memory/durable.h"
#include "pool/memory/virtual.h"
#include "pool/stream/capture.h"

/* Waits for the work of one part of a GPU. */
static pool_status wait_for_part(pool_device *part)
{
    struct device_scope scope;
    pool_status status = device_enter_to_release(part, &scope);

    return status ? status : device_leave(&scope, DRIVER_CLEANUP(scope.driver, CtxSynchronize()));
}

/* Waits for all work of the GPU. Not while a stream is captured: the driver would refuse that,
 * and end the capture. */
static pool_status wait_for_context(struct device_memory *memory)
{
    pool_status status = stream_check_no_captures(memory->device);

    if (!status && !device_properties(memory->device)->partitions)
        return DRIVER_CLEANUP(memory->driver, CtxSynchronize());
    /* A part without streams has no work. */
    for (pool_device *part = NULL; !status && (part = device_next_part(memory->device, part));)
        if (stream_registry_find(part))
            status = wait_for_part(part);
    return status;
}

pool_status memory_wait_for_streams(struct device_memory *memory)
{
    pool_status status = stream_join_all(memory->driver, memory->streams);

    if (!status)
        return DRIVER_CALL(memory->driver, StreamSynchronize(memory->streams->reclaim));
    /* The order could not be enqueued; unless nothing can be, the host waits for everything. */
    return pool_status_class(status) == POOL_CLASS_CALL ? wait_for_context(memory) : status;
}

/* Overwrites a secret in the order of `stream`, on which its last use precedes. */
static pool_status overwrite(
    struct device_memory *memory, CUdeviceptr address, uint64_t bytes, CUstream stream)
{
    struct driver *driver = memory->driver;
    pool_status status = memory_fill(
        memory, &(struct memory_fill){.to = address, .count = bytes, .width = 1, .stream = stream});

    if (!status || pool_status_class(status) == POOL_CLASS_PROCESS)
        return status;
    /* Retried synchronously before the memory is quarantined. */
    status = wait_for_context(memory);
    if (!status)
        status = DRIVER_CALL_FOR(
            driver, MemsetD8(address, 0, (size_t)bytes), "%s", base_size_text(bytes).text);
    if (!status)
        status = wait_for_context(memory);
    return status;
}

static pool_status free_waiting(struct device_memory *memory, CUdeviceptr address)
{
    const uint64_t start = base_clock_ns();

    return device_count_wait(
        memory->device, COUNTER_WAIT_FREE, start, DRIVER_CALL(memory->driver, MemFree(address)));
}

/* MemFree waits for all work on the device; a secret must be unused before it is overwritten. */
static pool_status release_plain(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    pool_status status = POOL_OK;

    if (request->secret) {
        status = wait_for_context(memory);
        if (!status)
            status = overwrite(memory, address, request->bytes, NULL);
        if (!status)
            status = DRIVER_CALL(memory->driver, StreamSynchronize(NULL));
        if (status) {
            memory_quarantine_request(memory, request, address);
            return status;
        }
    }
    return free_waiting(memory, address);
}

/* Where the driver takes memory away at once, what may still use it has to end first. */
static pool_status wait_for_last_use(
    struct device_memory *memory, const struct memory_request *request)
{
    return request->ordered ? DRIVER_CALL(memory->driver, StreamSynchronize(request->stream))
                            : memory_wait_for_streams(memory);
}

/* The device or the process has not ended, so that the memory may still be in use. */
static bool may_be_in_use(pool_status status)
{
    return status != POOL_ERR_DEVICE_LOST && pool_status_class(status) != POOL_CLASS_PROCESS;
}

static pool_status release_durable(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    pool_status status = wait_for_last_use(memory, request);

    if (!status)
        return memory_durable_release(memory, request->durable);
    if (may_be_in_use(status)) {
        memory_quarantine_request(memory, request, address);
        return status;
    }
    memory_durable_close(memory, request->durable);
    return status == POOL_ERR_DEVICE_LOST ? POOL_OK : status; /* it ended with the process */
}

static pool_status release_to_pool(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    CUstream stream = request->ordered ? request->stream : memory->streams->reclaim;
    struct driver *driver = memory->driver;
    pool_status first = POOL_OK, status;

    if (!request->ordered) {
        first = stream_join_all(driver, memory->streams);
        if (first == POOL_ERR_DEVICE_LOST)
            return POOL_OK; /* it ended with the process */
        if (first) {        /* the order could not be enqueued, so the host waits */
            status = wait_for_context(memory);
            if (status == POOL_ERR_DEVICE_LOST)
                return POOL_OK;
            if (status) {
                memory_quarantine_request(memory, request, address);
                return first;
            }
        }
    }
    if (request->secret) {
        status = overwrite(memory, address, request->bytes, stream);
        if (status == POOL_ERR_DEVICE_LOST)
            return POOL_OK;
        if (status) {
            memory_quarantine_request(memory, request, address);
            return first ? first : status;
        }
    }
    status = DRIVER_CALL(driver, MemFreeAsync(address, stream));
    atomic_fetch_add(&memory->frees, 1);
    if (status && pool_status_class(status) != POOL_CLASS_PROCESS) {
        /* The plain free also frees pool memory, after all work of the device. */
        if (!wait_for_context(memory))
            (void)free_waiting(memory, address);
    }
    return first ? first : status;
}

/* It is no part of the account. */
static pool_status release_opened(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr opened)
{
    pool_status status;

    if (driver_is_poisoned(memory->driver))
        return POOL_OK;
    status = wait_for_last_use(memory, request);
    if (!status)
        return DRIVER_CALL(memory->driver, IpcCloseMemHandle(opened));
    if (may_be_in_use(status))
        memory_quarantine_request(memory, request, opened);
    return status == POOL_ERR_DEVICE_LOST ? POOL_OK : status;
}

pool_status memory_release(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    pool_status status = POOL_OK;

    if (request->is_opened)
        return release_opened(memory, request, address);
    if (memory_is_foreign(request))
        return driver_is_poisoned(memory->driver)
                   ? POOL_OK
                   : memory_physical_release(memory, request->physical);
    memory_end_use(memory, request);
    if (driver_is_poisoned(memory->driver))
        memory_durable_close(memory, request->durable);
    else if (request->physical)
        status = memory_physical_release(memory, request->physical);
    else if (memory_durable_is(request->durable))
        status = release_durable(memory, request, address);
    else
        status = memory->pool && !request->is_shareable ? release_to_pool(memory, request, address)
                                                        : release_plain(memory, request, address);
    memory_uncharge(memory, request);
    return status;
}

void memory_release_none(struct device_memory *memory, const struct memory_request *request)
{
    if (memory_is_foreign(request))
        return;
    memory_durable_close(memory, request->durable);
    memory_end_use(memory, request);
    memory_uncharge(memory, request);
}
