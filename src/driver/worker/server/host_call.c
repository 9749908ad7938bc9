/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host functions in the worker: a stream that reaches one stores its token in the control block and
 * waits until the client has run the function.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "driver/worker/futex.h"
#include "driver/worker/ring.h"
#include "driver/worker/server/server.h"

/* Until the client's thread is assumed to sleep. */
#define SPIN_NS 20000u

struct pending_call {
    struct worker_shared *shared;
    uint64_t token;
};

/* Waits while all are in use: the client empties them. */
static struct worker_host_call *claim_call(struct worker_shared *shared)
{
    for (;;) {
        for (unsigned i = 0; i < WORKER_HOST_CALLS; i++) {
            unsigned free_state = WORKER_HOST_FREE;

            if (atomic_compare_exchange_strong(
                    &shared->host_calls[i].state, &free_state, WORKER_HOST_FILLED))
                return &shared->host_calls[i];
        }
        base_sleep_ns(50000);
    }
}

/* Runs on the driver's thread, in the order of the stream. */
static void run_in_client(void *user)
{
    struct pending_call pending = *(struct pending_call *)user;
    struct worker_host_call *call = claim_call(pending.shared);
    uint64_t start = base_clock_ns();
    unsigned state;

    base_free(user);
    server_take_step(SERVER_STEP_HOST_CALL);
    call->token = pending.token;
    atomic_store(&call->state, WORKER_HOST_REQUESTED);
    atomic_fetch_add(&pending.shared->host_requests, 1);
    worker_futex_wake(&pending.shared->host_requests);
    while ((state = atomic_load(&call->state)) != WORKER_HOST_DONE) {
        if (base_clock_ns() - start < SPIN_NS)
            worker_pause();
        else
            worker_futex_wait(&call->state, state, WORKER_SLEEP_NS);
    }
    server_take_step(SERVER_STEP_HOST_DONE);
    atomic_store(&call->state, WORKER_HOST_FREE);
}

pool_cu_result server_launch_host_call(struct execution *execution, CUstream stream, uint64_t token)
{
    struct pending_call *pending = base_calloc(1, sizeof(*pending));
    pool_cu_result code;

    if (!pending || !execution->server->shared) {
        base_free(pending);
        return POOL_CU_OUT_OF_MEMORY;
    }
    pending->shared = execution->server->shared;
    pending->token = token;
    code = execution->server->api->LaunchHostFunc(stream, run_in_client, pending);
    if (code)
        base_free(pending);
    return code;
}
