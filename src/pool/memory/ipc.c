/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers of other processes: handles of shareable memory, and buffers that are opened by them.
 */
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/device/release.h"
#include "pool/memory/memory.h"

static pool_status check_supported(const struct driver *driver)
{
    const pool_cuda_api *api = &driver->api;

    if (!api->IpcGetMemHandle || !api->IpcOpenMemHandle || !api->IpcCloseMemHandle)
        return base_fail(
            POOL_ERR_UNSUPPORTED, "this driver has no handles of memory (cuIpcGetMemHandle)");
    return POOL_OK;
}

static pool_status share_inside(
    struct device_scope *scope, const pool_buffer *buffer, pool_shared_buffer *shared)
{
    pool_cu_ipc_handle handle;
    CUdeviceptr base = 0;
    size_t bytes = 0;
    pool_status status = DRIVER_CALL(scope->driver, IpcGetMemHandle(&handle, buffer->address));

    if (!status)
        status = DRIVER_CALL(scope->driver, MemGetAddressRange(&base, &bytes, buffer->address));
    if (status)
        return status;
    memcpy(shared->handle, handle.bytes, sizeof(shared->handle));
    shared->offset = buffer->address - base;
    shared->bytes = buffer->bytes;
    return POOL_OK;
}

pool_status pool_buffer_share(pool_buffer *buffer, pool_shared_buffer *shared)
{
    pool_shared_buffer made = {{0}, 0, 0};
    struct device_scope scope;
    pool_status status = memory_check_range(__func__, buffer, 0, 0, "buffer");

    if (!status && !shared)
        status = base_fail_null(__func__, "shared");
    if (status)
        return status;
    if (!buffer->bytes || buffer->block->range || buffer->block->is_opened ||
        !(buffer->block->adopted || buffer->block->flags & POOL_BUFFER_SHAREABLE))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_buffer_share: the buffer was created without POOL_BUFFER_SHAREABLE, or is empty");
    status = check_supported(device_driver(buffer->device));
    if (!status)
        status = memory_enter(buffer, buffer->device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, share_inside(&scope, buffer, &made));
    if (!status)
        *shared = made;
    return status;
}

/* The sender says where the buffer is; the driver, where it can. */
static pool_status check_extent(
    struct driver *driver, CUdeviceptr opened, const pool_shared_buffer *shared)
{
    CUdeviceptr base = 0;
    size_t bytes = 0;
    pool_cu_result code;

    code = driver->api.MemGetAddressRange(&base, &bytes, opened);
    if (code && code != POOL_CU_INVALID_VALUE && code != POOL_CU_NOT_FOUND)
        return driver_check(driver, code, "cuMemGetAddressRange");
    if (code || base != opened)
        bytes = SIZE_MAX; /* the driver does not know memory of other processes */
    if (!shared->bytes || shared->offset > bytes || shared->bytes > bytes - shared->offset ||
        shared->offset > UINT64_MAX - opened)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_buffer_open: %llu bytes from offset %llu are not in the shared memory of %llu "
            "bytes",
            (unsigned long long)shared->bytes, (unsigned long long)shared->offset,
            (unsigned long long)bytes);
    return POOL_OK;
}

static pool_status open_inside(
    struct device_scope *scope, const pool_shared_buffer *shared, pool_buffer **buffer)
{
    struct device_memory *memory;
    pool_cu_ipc_handle handle;
    CUdeviceptr opened = 0;
    pool_status status = memory_of(scope, &memory);

    if (status)
        return status;
    memcpy(handle.bytes, shared->handle, sizeof(handle.bytes));
    status = DRIVER_CALL(
        scope->driver, IpcOpenMemHandle(&opened, handle, DRIVER_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    if (status)
        return status;
    status = check_extent(scope->driver, opened, shared);
    if (!status)
        status = memory_buffer_opened(
            scope->device, memory, opened, shared->offset, shared->bytes, buffer);
    if (status)
        DRIVER_CLEANUP_QUIETLY(scope->driver, IpcCloseMemHandle(opened));
    return status;
}

pool_status pool_buffer_open(
    pool_device *device, const pool_shared_buffer *shared, pool_buffer **buffer)
{
    struct device_scope scope;
    pool_buffer *created = NULL;
    pool_status status;

    status =
        base_check_pointers(__func__, {"device", device}, {"shared", shared}, {"buffer", buffer});
    if (!status)
        status = check_supported(device_driver(device));
    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, open_inside(&scope, shared, &created));
    if (status && created)
        memory_discard(created);
    if (!status)
        *buffer = created;
    return status;
}
