/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory of the workers' devices: the client's side. The client chooses the addresses, from
 * a range of the device's that no process of it uses otherwise: a replacement can map what the
 * ended process has left at the same addresses. Descriptors of allocations cross by a socket
 * (pass.h).
 */
#include <string.h>

#include "base/math.h"
#include "driver/attributes.h"
#include "driver/worker/client/client_calls.h"
#include "driver/worker/pass.h"

/* The driver returns another address where the requested one is in use, as happens once the range
 * has been used up. */
#define ADDRESS_TRIES 64

static const void *pointer(CUmemGenericAllocationHandle allocation)
{
    return (const void *)(uintptr_t)allocation;
}

/* --- addresses -------------------------------------------------------------------------------- */

/* The next addresses of the worker's range, in a cycle; 0: it is too small. */
static uint64_t next_address(struct client_worker *worker, uint64_t bytes, uint64_t alignment)
{
    uint64_t start, end = worker->virtual_base + worker->virtual_bytes;

    if (!worker->virtual_bytes || bytes > worker->virtual_bytes / 2 ||
        alignment > worker->virtual_bytes / 4)
        return 0;
    pthread_rwlock_wrlock(&client->memory_lock);
    start = base_round_up(base_max(worker->virtual_next, worker->virtual_base), alignment);
    if (start > end || bytes > end - start)
        start = base_round_up(worker->virtual_base, alignment);
    worker->virtual_next = start + bytes;
    pthread_rwlock_unlock(&client->memory_lock);
    return start;
}

static pool_cu_result reserve_at(
    CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted)
{
    pool_cu_result code = remote_MemAddressReserve(address, bytes, alignment, wanted, 0);

    if (!code && *address != wanted) {
        (void)remote_MemAddressFree(*address, bytes);
        code = POOL_CU_OUT_OF_MEMORY;
    }
    return code;
}

pool_cu_result client_cu_MemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment,
    CUdeviceptr wanted, unsigned long long flags)
{
    struct client_worker *worker;
    CUdeviceptr reserved = 0;
    pool_cu_result code = client_current_worker(&worker);

    if (code)
        return code;
    if (!address || !bytes || flags || (alignment & (alignment - 1)))
        return POOL_CU_INVALID_VALUE;
    if (bytes > SIZE_MAX - (CLIENT_ADDRESS_BLOCK - 1))
        return POOL_CU_OUT_OF_MEMORY;
    bytes = (size_t)base_round_up(bytes, CLIENT_ADDRESS_BLOCK);
    if (wanted && wanted - worker->virtual_base < worker->virtual_bytes &&
        bytes <= worker->virtual_bytes - (wanted - worker->virtual_base))
        code = reserve_at(&reserved, bytes, alignment, wanted);
    else
        code = POOL_CU_OUT_OF_MEMORY;
    for (unsigned tries = 0; code == POOL_CU_OUT_OF_MEMORY && tries < ADDRESS_TRIES; tries++) {
        wanted = next_address(worker, bytes, base_max(alignment, CLIENT_ADDRESS_BLOCK));
        if (!wanted)
            return POOL_CU_OUT_OF_MEMORY;
        code = reserve_at(&reserved, bytes, alignment, wanted);
    }
    if (!code)
        *address = reserved;
    return code;
}

pool_cu_result client_cu_MemAddressFree(CUdeviceptr address, size_t bytes)
{
    struct client_call call;
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!bytes || bytes > SIZE_MAX - (CLIENT_ADDRESS_BLOCK - 1))
        return POOL_CU_INVALID_VALUE;
    call_begin(&call, WORKER_MemAddressFree, CLIENT_END);
    call_owned(&call, address);
    call_word(&call, base_round_up(bytes, CLIENT_ADDRESS_BLOCK));
    return call_run(&call);
}

/* --- descriptors ------------------------------------------------------------------------------ */

/* Before the socket is used: the worker's number of the next descriptor. */
static uint64_t begin_passing(struct client_worker *worker)
{
    pthread_mutex_lock(&worker->pass_lock);
    return ++worker->passed;
}

pool_cu_result client_cu_MemExportToShareableHandle(void *shareable,
    CUmemGenericAllocationHandle allocation, pool_cu_enum type, unsigned long long flags)
{
    struct client_handle handle = client_handle_read(pointer(allocation));
    struct client_worker *worker;
    struct client_call call;
    uint64_t number;
    int descriptor = -1;
    pool_cu_result code = call_check();

    if (code)
        return code;
    /* A handle without generation would wait for the process while others wait for the socket. */
    if (!shareable || type != DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || !handle.generation ||
        handle.kind != WORKER_ALLOCATION || handle.worker >= client->count)
        return POOL_CU_INVALID_VALUE;
    worker = &client->workers[handle.worker];
    number = begin_passing(worker);
    call_begin(&call, WORKER_MemExportToShareableHandle, CLIENT_WAIT);
    call_handle(&call, WORKER_ALLOCATION, pointer(allocation));
    call_word(&call, flags);
    call_word(&call, number);
    code = call_run(&call);
    if (!code) {
        descriptor = pass_receive(worker->passing, number);
        code = descriptor < 0 ? POOL_CU_OPERATING_SYSTEM : POOL_CU_SUCCESS;
    }
    pthread_mutex_unlock(&worker->pass_lock);
    if (!code)
        *(int *)shareable = descriptor;
    return code;
}

pool_cu_result client_cu_MemImportFromShareableHandle(
    CUmemGenericAllocationHandle *allocation, void *shareable, pool_cu_enum type)
{
    struct client_worker *worker;
    struct client_call call;
    uint64_t number;
    pool_cu_result code = client_current_worker(&worker);

    if (code)
        return code;
    if (!allocation || type != DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return POOL_CU_INVALID_VALUE;
    number = begin_passing(worker);
    call_begin(&call, WORKER_MemImportFromShareableHandle, CLIENT_WAIT);
    call_word(&call, number);
    if (!pass_send(worker->passing, number, (int)(intptr_t)shareable))
        code = client_worker_runs(worker) ? POOL_CU_INVALID_VALUE : client_lost_code(worker);
    else
        code = call_run(&call);
    pthread_mutex_unlock(&worker->pass_lock);
    if (!code)
        *allocation = (uintptr_t)call_result_handle(&call, WORKER_ALLOCATION);
    return code;
}
