/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of a call over several devices that has a place in one stream: see devices.h. */
#include "base/status.h"
#include "lease/lease.h"
#include "memory/devices.h"
#include "stream/capture.h"

/* The stream of the first device on which the call has its place. */
static pool_status find_origin(const char *call, const struct memory_devices *devices,
    const pool_exec *exec, pool_stream **origin)
{
    struct lease_budget *budget;
    CUstream handle;
    pool_status status;

    if (exec->stream) {
        status = stream_handle_of_work(exec->stream, devices->device[0], &handle);
        if (!status)
            status = stream_check_uncaptured(call, exec->stream, "work on several devices");
        if (!status)
            *origin = exec->stream;
        return status;
    }
    if (!exec->lease)
        return pool_stream_default(devices->device[0], origin);
    status = lease_budget_of(call, exec->lease, devices->device[0], &budget);
    return status ? status : lease_stream_of(budget, origin);
}

static pool_status take_streams(const struct memory_devices *devices, struct memory_fork *fork)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 1; i < devices->count && !status; i++) {
        status = stream_set_take(devices->device[i], 1, 0, &fork->set[i]);
        if (!status)
            fork->stream[i] = fork->set[i]->stream[0];
    }
    return status;
}

static void return_streams(struct memory_fork *fork)
{
    for (uint32_t i = 1; i < fork->count; i++)
        if (fork->set[i])
            stream_set_return(fork->set[i]);
    fork->count = 0;
}

pool_status memory_fork_open(const char *call, const struct memory_devices *devices,
    const pool_exec *exec, struct memory_fork *fork)
{
    pool_status status;

    *fork = (struct memory_fork){.count = 0};
    if (!exec->stream && !exec->is_async)
        return POOL_OK;
    fork->count = devices->count;
    status = find_origin(call, devices, exec, &fork->stream[0]);
    if (!status)
        status = take_streams(devices, fork);
    if (!status)
        status = pool_stream_fork(fork->stream[0], fork->stream + 1, fork->count - 1);
    return status ? memory_fork_close(fork, 0, status) : POOL_OK;
}

pool_status memory_fork_close(struct memory_fork *fork, int is_async, pool_status status)
{
    struct base_error_copy first;

    if (!fork->count)
        return status;
    if (!status && is_async)
        status = pool_stream_join(fork->stream[0], fork->stream + 1, fork->count - 1);
    if (status) {
        base_error_save(&first);
        for (uint32_t i = 0; i < fork->count; i++)
            if (fork->stream[i])
                (void)pool_stream_synchronize(fork->stream[i]);
        base_error_restore(&first);
    }
    return_streams(fork);
    return status;
}
