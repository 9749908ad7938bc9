/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of a call over several devices that has a place in one stream: see devices.h. */
#include "base/status.h"
#include "pool/lease/lease.h"
#include "pool/stream/capture.h"
#include "zk/operation/devices.h"

/* The caller's stream, and one of the library on each of the other devices. */
static pool_status use_stream(
    const char *call, const struct devices *devices, pool_stream *stream, struct fork *fork)
{
    CUstream handle;
    pool_status status = stream_handle_of_work(stream, devices->device[0], &handle);

    if (!status)
        status = stream_check_uncaptured(call, stream, "work on several devices");
    if (!status)
        fork->stream[0] = stream;
    for (uint32_t i = 1; i < devices->count && !status; i++) {
        status = stream_set_take(devices->device[i], stream, 1, 0, &fork->set[i]);
        if (!status)
            fork->stream[i] = fork->set[i]->stream[0];
    }
    return status;
}

/* Those of the lease, or the default ones. */
static pool_status use_own_streams(
    const char *call, const struct devices *devices, pool_lease *lease, struct fork *fork)
{
    struct lease_budget *budget;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < devices->count && !status; i++) {
        if (!lease) {
            status = pool_stream_default(devices->device[i], &fork->stream[i]);
            continue;
        }
        status = lease_budget_of(call, lease, devices->device[i], &budget);
        if (!status)
            status = lease_stream_of(budget, &fork->stream[i]);
    }
    return status;
}

static void return_streams(struct fork *fork)
{
    for (uint32_t i = 1; i < fork->count; i++)
        if (fork->set[i])
            stream_set_return(fork->set[i]);
    fork->count = 0;
}

pool_status fork_open(const char *call, const struct devices *devices, const pool_exec *exec,
    bool parts_meet, struct fork *fork)
{
    pool_status status;

    *fork = (struct fork){.joins = exec->is_async || parts_meet};
    if (!exec->stream && !fork->joins)
        return POOL_OK;
    fork->count = devices->count;
    status = exec->stream ? use_stream(call, devices, exec->stream, fork)
                          : use_own_streams(call, devices, exec->lease, fork);
    if (!status)
        status = pool_stream_fork(fork->stream[0], fork->stream + 1, fork->count - 1);
    return status ? fork_close(fork, status) : POOL_OK;
}

pool_status fork_close(struct fork *fork, pool_status status)
{
    struct base_error_copy first;

    if (!fork->count)
        return status;
    if (!status && fork->joins)
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
