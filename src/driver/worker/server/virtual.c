/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors of virtual memory and of memory and events of other processes whose arguments are
 * no plain values.
 */
#include <string.h>
#include <unistd.h>

#include "driver/attributes.h"
#include "driver/worker/pass.h"
#include "driver/worker/server/server.h"

/* The properties of an allocation; NULL: the client has none. */
static const pool_cu_mem_allocation_prop *read_prop(
    struct execution *execution, pool_cu_mem_allocation_prop *prop)
{
    uint64_t has_prop = execution_word(execution);

    *prop = (pool_cu_mem_allocation_prop){.type = (pool_cu_enum)execution_word(execution)};
    prop->handle_types = (pool_cu_enum)execution_word(execution);
    execution_location(execution, &prop->location);
    prop->compression = (unsigned char)execution_word(execution);
    prop->gpu_direct_rdma = (unsigned char)execution_word(execution);
    prop->usage = (unsigned short)execution_word(execution);
    return has_prop ? prop : NULL;
}

pool_cu_result server_MemGetAllocationGranularity(struct execution *execution)
{
    const pool_cuda_api *api = execution->server->api;
    pool_cu_mem_allocation_prop prop;
    const pool_cu_mem_allocation_prop *given = read_prop(execution, &prop);
    uint64_t has_bytes = execution_word(execution);
    pool_cu_enum option = (pool_cu_enum)execution_word(execution);
    size_t bytes = 0;
    pool_cu_result code = execution_check(execution);

    if (code)
        return code;
    if (!api->MemGetAllocationGranularity)
        return POOL_CU_NOT_SUPPORTED;
    code = api->MemGetAllocationGranularity(has_bytes ? &bytes : NULL, given, option);
    execution_reply(execution, bytes);
    return code;
}

static pool_cu_result reply_allocation(
    struct execution *execution, CUmemGenericAllocationHandle allocation)
{
    pool_cu_result code =
        execution_reply_new(execution, WORKER_ALLOCATION, (void *)(uintptr_t)allocation);

    if (code)
        execution->server->api->MemRelease(allocation);
    return code;
}

pool_cu_result server_MemCreate(struct execution *execution)
{
    const pool_cuda_api *api = execution->server->api;
    pool_cu_mem_allocation_prop prop;
    const pool_cu_mem_allocation_prop *given = read_prop(execution, &prop);
    uint64_t has_allocation = execution_word(execution), bytes = execution_word(execution);
    uint64_t flags = execution_word(execution);
    CUmemGenericAllocationHandle allocation = 0;
    pool_cu_result code = execution_check(execution);

    if (code)
        return code;
    if (!api->MemCreate)
        return POOL_CU_NOT_SUPPORTED;
    code = api->MemCreate(has_allocation ? &allocation : NULL, (size_t)bytes, given, flags);
    return code ? code : reply_allocation(execution, allocation);
}

pool_cu_result server_MemSetAccess(struct execution *execution)
{
    const pool_cuda_api *api = execution->server->api;
    CUdeviceptr address = execution_word(execution);
    uint64_t bytes = execution_word(execution);
    pool_cu_mem_access access[WORKER_MAX_DEVICES] = {{{0, 0}, 0}};
    bool has_access;
    uint64_t count = execution_accesses(execution, access, &has_access);
    pool_cu_result code;

    code = execution_check(execution);
    if (code)
        return code;
    return api->MemSetAccess ? api->MemSetAccess(address, (size_t)bytes, has_access ? access : NULL,
                                   (size_t)count)
                             : POOL_CU_NOT_SUPPORTED;
}

/* The descriptor is sent before the reply. */
pool_cu_result server_MemExportToShareableHandle(struct execution *execution)
{
    const pool_cuda_api *api = execution->server->api;
    void *allocation = execution_handle(execution, WORKER_ALLOCATION);
    uint64_t flags = execution_word(execution), number = execution_word(execution);
    int descriptor = -1;
    pool_cu_result code = execution_check(execution);

    if (code)
        return code;
    if (!api->MemExportToShareableHandle)
        return POOL_CU_NOT_SUPPORTED;
    code = api->MemExportToShareableHandle(
        &descriptor, (uintptr_t)allocation, DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, flags);
    if (code)
        return code;
    if (!pass_send(execution->server->passing, number, descriptor))
        code = POOL_CU_OPERATING_SYSTEM;
    close(descriptor);
    return code;
}

pool_cu_result server_MemImportFromShareableHandle(struct execution *execution)
{
    const pool_cuda_api *api = execution->server->api;
    uint64_t number = execution_word(execution);
    CUmemGenericAllocationHandle allocation = 0;
    int descriptor;
    pool_cu_result code = execution_check(execution);

    if (code)
        return code;
    if (!api->MemImportFromShareableHandle)
        return POOL_CU_NOT_SUPPORTED;
    descriptor = pass_receive(execution->server->passing, number);
    if (descriptor < 0)
        return POOL_CU_INVALID_VALUE;
    code = api->MemImportFromShareableHandle(
        &allocation, (void *)(intptr_t)descriptor, DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    close(descriptor);
    return code ? code : reply_allocation(execution, allocation);
}

static bool read_ipc_handle(struct execution *execution, pool_cu_ipc_handle *handle)
{
    uint64_t bytes = 0;
    const void *given = execution_bytes(execution, &bytes);

    if (!given || bytes != sizeof(*handle))
        return false;
    memcpy(handle, given, sizeof(*handle));
    return true;
}

/* The size tells the client which addresses are in use. */
pool_cu_result server_IpcOpenMemHandle(struct execution *execution)
{
    const pool_cuda_api *api = execution->server->api;
    uint64_t has_address = execution_word(execution);
    pool_cu_ipc_handle handle = {{0}};
    bool is_valid = read_ipc_handle(execution, &handle);
    unsigned flags = (unsigned)execution_word(execution);
    CUdeviceptr address = 0, base = 0;
    size_t bytes = 0;
    pool_cu_result code = execution_check(execution);

    if (code)
        return code;
    if (!api->IpcOpenMemHandle || !api->IpcCloseMemHandle)
        return POOL_CU_NOT_SUPPORTED;
    code = is_valid ? api->IpcOpenMemHandle(has_address ? &address : NULL, handle, flags)
                    : POOL_CU_INVALID_VALUE;
    if (!code)
        code = api->MemGetAddressRange(&base, &bytes, address);
    if (code && address)
        (void)api->IpcCloseMemHandle(address);
    execution_reply(execution, address);
    execution_reply(execution, bytes);
    return code;
}

pool_cu_result server_IpcOpenEventHandle(struct execution *execution)
{
    const pool_cuda_api *api = execution->server->api;
    uint64_t has_event = execution_word(execution);
    pool_cu_ipc_handle handle = {{0}};
    bool is_valid = read_ipc_handle(execution, &handle);
    CUevent event = NULL;
    pool_cu_result code = execution_check(execution);

    if (code)
        return code;
    if (!api->IpcOpenEventHandle)
        return POOL_CU_NOT_SUPPORTED;
    code = is_valid ? api->IpcOpenEventHandle(has_event ? &event : NULL, handle)
                    : POOL_CU_INVALID_VALUE;
    if (!code)
        code = execution_reply_new(execution, WORKER_EVENT, event);
    if (code && event)
        (void)api->EventDestroy(event);
    return code;
}
