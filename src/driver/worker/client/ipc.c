/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and events of other processes.
 */
#include "driver/worker/client/client_calls.h"

/* Memory that is opened again has the same address. `change`: 1, or -1, which fails where it is
 * open once; false also where it is not open. */
static bool reopen_range(unsigned worker, uint64_t base, int change)
{
    bool is_open = false;

    pthread_rwlock_wrlock(&client->memory_lock);
    for (size_t i = 0; i < client->range_count && !is_open; i++) {
        struct client_range *range = &client->ranges[i];

        is_open = range->base == base && range->worker == worker &&
                  client_range_is_present(range) && (change > 0 || range->opened);
        if (is_open)
            range->opened += (unsigned)change;
    }
    pthread_rwlock_unlock(&client->memory_lock);
    return is_open;
}

pool_cu_result client_cu_IpcOpenMemHandle(
    CUdeviceptr *address, pool_cu_ipc_handle handle, unsigned int flags)
{
    struct client_worker *worker;
    struct client_call call;
    uint64_t opened, bytes;
    pool_cu_result code = client_current_worker(&worker);

    if (code)
        return code;
    call_begin(&call, WORKER_IpcOpenMemHandle, CLIENT_WAIT);
    call_word(&call, address != NULL);
    call_bytes(&call, &handle, sizeof(handle));
    call_word(&call, flags);
    code = call_run(&call);
    if (code || !address)
        return code;
    opened = call_result(&call);
    bytes = call_result(&call);
    if (!reopen_range((unsigned)worker->ordinal, opened, 1) &&
        !client_range_claim(worker, opened, bytes)) {
        (void)remote_IpcCloseMemHandle(opened);
        return POOL_CU_OUT_OF_MEMORY;
    }
    *address = opened;
    return POOL_CU_SUCCESS;
}

pool_cu_result client_cu_IpcCloseMemHandle(CUdeviceptr address)
{
    struct client_worker *worker;
    struct client_call call;
    pool_cu_result code = call_check();

    if (code)
        return code;
    worker = client_address_worker(address);
    if (!worker)
        return POOL_CU_INVALID_VALUE;
    call_begin(&call, WORKER_IpcCloseMemHandle, CLIENT_END);
    call_address(&call, worker, address);
    call_word(&call, address);
    code = call_run(&call);
    if (!code && !reopen_range((unsigned)worker->ordinal, address, -1))
        client_range_release(worker, address);
    return code;
}
