/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of a context: flags, limits, stream priorities, peers, profiler.
 */
#include "base/math.h"
#include "driver/sim/table/state.h"

#define LAST_LIMIT 9 /* CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED, CUDA 13.0 */

#define LEAST_PRIORITY 0
#define GREATEST_PRIORITY (1 - SIM_PRIORITIES)

pool_cu_result sim_cu_CtxGetFlags(unsigned int *flags)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxGetFlags, SIM_NEED_CONTEXT_ONLY, -1);

    if (code)
        return code;
    if (!flags)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *flags = call.context->flags;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_CtxGetApiVersion(CUcontext context, unsigned int *version)
{
    struct sim_context *found = NULL;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxGetApiVersion, SIM_NEED_INIT, -1);

    if (code)
        return code;
    if (!version)
        return sim_leave(POOL_CU_INVALID_VALUE);
    code = context ? sim_context_of(context, &found)
                   : (sim_stack_top() ? POOL_CU_SUCCESS : POOL_CU_INVALID_CONTEXT);
    if (code)
        return sim_leave(code);
    *version = 3020;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_CtxGetId(CUcontext context, unsigned long long *id)
{
    CUcontext asked = context ? context : sim_stack_top();
    struct sim_context *found = NULL;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxGetId, SIM_NEED_INIT, -1);

    if (code)
        return code;
    if (!id)
        return sim_leave(POOL_CU_INVALID_VALUE);
    code = asked ? sim_context_of(asked, &found) : POOL_CU_INVALID_CONTEXT;
    if (code)
        return sim_leave(code);
    *id = found->id;
    return sim_leave(POOL_CU_SUCCESS);
}

/* The code for a limit that these devices lack: one defined by cuda.h, or an invalid one. */
static pool_cu_result unsupported_limit_code(pool_cu_enum limit)
{
    return limit <= LAST_LIMIT ? POOL_CU_UNSUPPORTED_LIMIT : POOL_CU_INVALID_VALUE;
}

pool_cu_result sim_cu_CtxGetLimit(size_t *value, pool_cu_enum limit)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxGetLimit, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    if (!value)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (limit >= SIM_LIMITS)
        return sim_leave(unsupported_limit_code(limit));
    *value = call.context->limits[limit];
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_CtxSetLimit(pool_cu_enum limit, size_t value)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxSetLimit, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    if (limit >= SIM_LIMITS)
        return sim_leave(unsupported_limit_code(limit));
    /* A thread can have at most 512 KiB of local memory. */
    if (limit == DRIVER_LIMIT_STACK_SIZE && value > 512u << 10)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (limit == DRIVER_LIMIT_STACK_SIZE && value != call.context->limits[limit])
        code = sim_context_wait_for_work(call.context, false);
    if (code)
        return sim_leave(code);
    call.context->limits[limit] = value;
    if (limit == DRIVER_LIMIT_STACK_SIZE)
        call.context->local_bytes = base_max(call.context->local_bytes, value);
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_CtxGetStreamPriorityRange(int *least, int *greatest)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxGetStreamPriorityRange, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    if (least)
        *least = LEAST_PRIORITY;
    if (greatest)
        *greatest = GREATEST_PRIORITY;
    return sim_leave(POOL_CU_SUCCESS);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static unsigned find_peer(const struct sim_context *context, const struct sim_context *peer)
{
    unsigned at = 0;

    while (at < context->peer_count && context->peers[at] != peer)
        at++;
    return at;
}

pool_cu_result sim_cu_CtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    struct sim_context *found;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxEnablePeerAccess, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    if (flags)
        return sim_leave(POOL_CU_INVALID_VALUE);
    code = sim_context_of(peer, &found);
    if (code)
        return sim_leave(code);
    found = found->root;
    if (!sim_are_peers(call.context->device, found->device))
        return sim_leave(POOL_CU_PEER_ACCESS_UNSUPPORTED);
    unsigned place = find_peer(call.context, found);
    if (place < call.context->peer_count)
        return sim_leave(POOL_CU_PEER_ACCESS_ALREADY_ENABLED);
    if (place == SIM_MAX_PEERS)
        return sim_leave(POOL_CU_TOO_MANY_PEERS);
    sim_memory_write_lock();
    call.context->peers[call.context->peer_count++] = found;
    sim_memory_write_unlock();
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_CtxDisablePeerAccess(CUcontext peer)
{
    struct sim_context *found;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxDisablePeerAccess, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    code = sim_context_of(peer, &found);
    if (code)
        return sim_leave(code);
    found = found->root;
    unsigned place = find_peer(call.context, found);
    if (place == call.context->peer_count)
        return sim_leave(POOL_CU_PEER_ACCESS_NOT_ENABLED);
    sim_memory_write_lock();
    call.context->peers[place] = call.context->peers[--call.context->peer_count];
    sim_memory_write_unlock();
    return sim_leave(POOL_CU_SUCCESS);
}

/* ---- profiler -------------------------------------------------------------------------------- */

/* No profiler observes a simulated device: the calls are valid and have no effect. */
pool_cu_result sim_cu_ProfilerStart(void)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_ProfilerStart, SIM_NEED_CONTEXT, -1);

    return code ? code : sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_ProfilerStop(void)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_ProfilerStop, SIM_NEED_CONTEXT, -1);

    return code ? code : sim_leave(POOL_CU_SUCCESS);
}
