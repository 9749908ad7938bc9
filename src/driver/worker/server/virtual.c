/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors of descriptors of virtual memory, and of memory of other processes.
 */
#include <unistd.h>

#include "driver/attributes.h"
#include "driver/worker/pass.h"
#include "driver/worker/server/server.h"

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
    if (code)
        return code;
    code = execution_reply_new(execution, WORKER_ALLOCATION, (void *)(uintptr_t)allocation);
    if (code)
        api->MemRelease(allocation);
    return code;
}

/* The size tells the client which addresses are in use. */
pool_cu_result server_IpcOpenMemHandle(struct execution *execution)
{
    const pool_cuda_api *api = execution->server->api;
    uint64_t has_address = execution_word(execution);
    pool_cu_ipc_handle handle = {{0}};
    bool is_valid = execution_struct(execution, &handle, sizeof(handle)) != NULL;
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
