/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts: primary contexts and their references, created contexts, each thread's context stack,
 * limits, peers.
 */
#include "driver/mock/mock.h"

#include <stdlib.h>
#include <string.h>

#define CTX_FLAGS_MASK 0xffu
#define COMPUTE_MODE_PROHIBITED 2
#define MAX_STACK 4096 /* a deeper stack is a push without a pop in a loop */

static bool push_context(struct mock_thread *thread, CUcontext context)
{
    if (thread->depth == thread->capacity) {
        size_t capacity = thread->capacity ? thread->capacity * 2 : 8;
        CUcontext *larger;

        if (capacity > MAX_STACK)
            return false;
        larger = realloc(thread->stack, capacity * sizeof(*larger));
        if (!larger)
            return false;
        thread->stack = larger;
        thread->capacity = capacity;
    }
    thread->stack[thread->depth++] = context;
    return true;
}

/* What a context has from its beginning: a primary one each time it becomes active. */
static void begin_context(pool_mock *mock, struct mock_context *context)
{
    static const size_t limits[MOCK_LIMITS] = {1024, 7340032, 8388608, 2, 2048, 64, 0,
        0}; /* stack, printf, heap, depth, launches, L2, … */

    memcpy(context->limits, limits, sizeof(limits));
    context->active = true;
    context->id = ++mock->context_ids;
}

/* Charges the context's memory to the device; false: not enough free memory. */
static bool charge_context(pool_mock *mock, int device)
{
    if (mock_device_free(&mock->devices[device]) < mock->context_bytes)
        return false;
    mock->devices[device].used += mock->context_bytes;
    return true;
}

/* ---- primary contexts ------------------------------------------------------------------------ */

pool_cu_result mock_cu_DevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_DevicePrimaryCtxRetain, MOCK_WORK, device, "i", device))
        return call.code;
    if (!context)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (device < 0 || device >= call.mock->device_count)
        return mock_leave(&call, POOL_CU_INVALID_DEVICE);
    struct mock_device *of = &call.mock->devices[device];
    if (of->attributes[POOL_CU_ATTRIBUTE_COMPUTE_MODE] == COMPUTE_MODE_PROHIBITED)
        return mock_leave(&call, POOL_CU_DEVICE_UNAVAILABLE);
    if (!of->primary->active) {
        if (!charge_context(call.mock, device))
            return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
        of->primary->failed_releases = 0;
        begin_context(call.mock, of->primary);
    }
    of->primary->references++;
    *context = mock_object_handle(call.mock, &of->primary->object);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* No-op while it is not active. */
static void end_primary(pool_mock *mock, int device)
{
    struct mock_context *primary = mock->devices[device].primary;

    if (!primary->active)
        return;
    mock_release_context(mock, primary);
    primary->active = false;
    primary->flags = 0;
    mock->devices[device].used -= mock->context_bytes;
}

pool_cu_result mock_cu_DevicePrimaryCtxRelease(CUdevice device)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_DevicePrimaryCtxRelease, MOCK_WORK, device, "i", device)) {
        if (call.on_demand && device >= 0 && device < call.mock->device_count) {
            pthread_mutex_lock(&call.mock->lock);
            struct mock_context *primary = call.mock->devices[device].primary;
            if (primary->failed_releases < primary->references)
                primary->failed_releases++;
            pthread_mutex_unlock(&call.mock->lock);
        }
        return call.code;
    }
    if (device < 0 || device >= call.mock->device_count)
        return mock_leave(&call, POOL_CU_INVALID_DEVICE);
    struct mock_context *primary = call.mock->devices[device].primary;
    if (primary->references == 0)
        return mock_leave(&call, POOL_CU_INVALID_CONTEXT);
    if (--primary->references == 0)
        end_primary(call.mock, device);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_status pool_mock_reset_device(pool_mock *mock, int device)
{
    if (!mock_device_lock(mock, device, "pool_mock_reset_device"))
        return POOL_ERR_NOT_FOUND;
    end_primary(mock, device);
    pthread_mutex_unlock(&mock->lock);
    return POOL_OK;
}

pool_cu_result mock_cu_DevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_DevicePrimaryCtxGetState, MOCK_QUERY, device, "i", device))
        return call.code;
    if (!flags || !active)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (device < 0 || device >= call.mock->device_count)
        return mock_leave(&call, POOL_CU_INVALID_DEVICE);
    *flags = call.mock->devices[device].primary->flags;
    *active = call.mock->devices[device].primary->active ? 1 : 0;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_DevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    struct mock_call call;

    if (!mock_enter(
            &call, MOCK_FN_DevicePrimaryCtxSetFlags, MOCK_WORK, device, "iu", device, flags))
        return call.code;
    if (device < 0 || device >= call.mock->device_count)
        return mock_leave(&call, POOL_CU_INVALID_DEVICE);
    if (flags & ~CTX_FLAGS_MASK)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    call.mock->devices[device].primary->flags = flags;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* ---- created contexts ------------------------------------------------------------------------ */

static pool_cu_result create_context(
    struct mock_call *call, CUcontext *context, unsigned flags, CUdevice device)
{
    pool_mock *mock = call->mock;
    struct mock_context *made;

    if (!context || (flags & ~CTX_FLAGS_MASK))
        return POOL_CU_INVALID_VALUE;
    if (device < 0 || device >= mock->device_count)
        return POOL_CU_INVALID_DEVICE;
    if (mock->devices[device].attributes[POOL_CU_ATTRIBUTE_COMPUTE_MODE] == COMPUTE_MODE_PROHIBITED)
        return POOL_CU_DEVICE_UNAVAILABLE;
    if (!charge_context(mock, device))
        return POOL_CU_OUT_OF_MEMORY;
    made = calloc(1, sizeof(*made));
    if (!made || !mock_object_add(mock, &made->object, MOCK_CONTEXT, device, NULL)) {
        mock->devices[device].used -= mock->context_bytes;
        free(made);
        return POOL_CU_OUT_OF_MEMORY;
    }
    made->flags = flags;
    begin_context(mock, made);
    if (!push_context(call->thread, mock_object_handle(mock, &made->object))) {
        mock->devices[device].used -= mock->context_bytes;
        mock_object_release(mock, &made->object);
        return POOL_CU_OUT_OF_MEMORY;
    }
    call->thread->unpopped++;
    *context = mock_object_handle(mock, &made->object);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_cu_CtxCreate(CUcontext *context, unsigned int flags, CUdevice device)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxCreate, MOCK_WORK, device, "ui", flags, device))
        return call.code;
    return mock_leave(&call, create_context(&call, context, flags, device));
}

pool_cu_result mock_cu_CtxDestroy(CUcontext context)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxDestroy, MOCK_WORK, -1, "h", context)) {
        mock_release_failed(&call, context);
        return call.code;
    }
    struct mock_context *ended = mock_object_of_kind(call.mock, context, MOCK_CONTEXT);
    if (!ended)
        return mock_leave(&call, context ? POOL_CU_INVALID_CONTEXT : POOL_CU_INVALID_VALUE);
    struct mock_thread *thread = call.thread;
    if (thread->depth > 0 && thread->stack[thread->depth - 1] == context) {
        thread->depth--;
        thread->unpopped--;
    }
    mock_release_context(call.mock, ended);
    call.mock->devices[ended->object.device].used -= call.mock->context_bytes;
    mock_object_release(call.mock, &ended->object);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* ---- the thread's stack ---------------------------------------------------------------------- */

pool_cu_result mock_cu_CtxPushCurrent(CUcontext context)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxPushCurrent, MOCK_STACK, -1, "h", context))
        return call.code;
    if (!mock_context_get(call.mock, context))
        return mock_leave(&call, POOL_CU_INVALID_CONTEXT);
    if (!push_context(call.thread, context))
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    call.thread->unpopped++;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_CtxPopCurrent(CUcontext *context)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxPopCurrent, MOCK_STACK, -1, "")) {
        if (call.on_demand)
            call.thread->unpopped--;
        return call.code;
    }
    if (call.thread->depth == 0)
        return mock_leave(&call, POOL_CU_INVALID_CONTEXT);
    CUcontext top = call.thread->stack[--call.thread->depth];
    call.thread->unpopped--;
    if (context)
        *context = top;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_CtxSetCurrent(CUcontext context)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxSetCurrent, MOCK_STACK, -1, "h", context))
        return call.code;
    struct mock_thread *thread = call.thread;
    if (!context) {
        if (thread->depth > 0) {
            thread->depth--;
            thread->unpopped--;
        }
        return mock_leave(&call, POOL_CU_SUCCESS);
    }
    if (!mock_context_get(call.mock, context))
        return mock_leave(&call, POOL_CU_INVALID_CONTEXT);
    if (thread->depth > 0) {
        thread->stack[thread->depth - 1] = context;
    } else {
        if (!push_context(thread, context))
            return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
        thread->unpopped++;
    }
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_CtxGetCurrent(CUcontext *context)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxGetCurrent, MOCK_STACK, -1, ""))
        return call.code;
    if (!context)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *context = call.thread->depth > 0 ? call.thread->stack[call.thread->depth - 1] : NULL;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

CUcontext pool_mock_current_context(pool_mock *mock)
{
    CUcontext current = NULL;

    if (!mock)
        return NULL;
    pthread_mutex_lock(&mock->lock);
    struct mock_thread *thread = mock_thread_of(mock);
    if (thread && thread->depth > 0)
        current = thread->stack[thread->depth - 1];
    pthread_mutex_unlock(&mock->lock);
    return current;
}

size_t pool_mock_depth(pool_mock *mock)
{
    if (!mock)
        return 0;
    pthread_mutex_lock(&mock->lock);
    struct mock_thread *thread = mock_thread_of(mock);
    size_t depth = thread ? thread->depth : 0;
    pthread_mutex_unlock(&mock->lock);
    return depth;
}

int64_t pool_mock_unpopped(pool_mock *mock)
{
    if (!mock)
        return 0;
    pthread_mutex_lock(&mock->lock);
    struct mock_thread *thread = mock_thread_of(mock);
    int64_t unpopped = thread ? thread->unpopped : 0;
    pthread_mutex_unlock(&mock->lock);
    return unpopped;
}

/* ---- the current context --------------------------------------------------------------------- */

pool_cu_result mock_cu_CtxGetDevice(CUdevice *device)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxGetDevice, MOCK_STACK, -1, ""))
        return call.code;
    if (!call.context)
        return mock_leave(&call, POOL_CU_INVALID_CONTEXT);
    if (!device)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *device = call.context->object.device;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_CtxSynchronize(void)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxSynchronize, MOCK_INSIDE, -1, ""))
        return call.code;
    pool_cu_result code = mock_context_uncaptured(&call);
    if (code)
        return mock_leave(&call, code);
    mock_stall_wait(call.mock, call.context->stall_number);
    mock_pools_trim(call.mock, call.device);
    return mock_leave(&call, call.mock->sticky);
}

pool_cu_result mock_cu_CtxGetFlags(unsigned int *flags)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxGetFlags, MOCK_INSIDE, -1, ""))
        return call.code;
    if (!flags)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *flags = call.context->flags;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_CtxGetApiVersion(CUcontext context, unsigned int *version)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxGetApiVersion, MOCK_STACK, -1, "h", context))
        return call.code;
    if (!version)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (context ? !mock_context_get(call.mock, context) : !call.context)
        return mock_leave(&call, POOL_CU_INVALID_CONTEXT);
    *version = 3020;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_CtxGetId(CUcontext context, unsigned long long *id)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxGetId, MOCK_STACK, -1, "h", context))
        return call.code;
    const struct mock_context *asked =
        context ? mock_context_get(call.mock, context) : call.context;
    if (!asked)
        return mock_leave(&call, POOL_CU_INVALID_CONTEXT);
    if (!id)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *id = asked->id;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_CtxGetLimit(size_t *value, pool_cu_enum limit)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxGetLimit, MOCK_INSIDE, -1, "u", limit))
        return call.code;
    if (!value)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (limit >= MOCK_LIMITS)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *value = call.context->limits[limit];
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_CtxSetLimit(pool_cu_enum limit, size_t value)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxSetLimit, MOCK_INSIDE, -1, "uz", limit, value))
        return call.code;
    if (limit >= MOCK_LIMITS)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    call.context->limits[limit] = value;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_ProfilerStart(void)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_ProfilerStart, MOCK_INSIDE, -1, ""))
        return call.code;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_ProfilerStop(void)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_ProfilerStop, MOCK_INSIDE, -1, ""))
        return call.code;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_CtxGetStreamPriorityRange(int *least, int *greatest)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxGetStreamPriorityRange, MOCK_INSIDE, -1, ""))
        return call.code;
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static size_t find_peer(const struct mock_context *context, uint64_t serial)
{
    size_t at = 0;

    while (at < context->peer_count && context->peers[at] != serial)
        at++;
    return at;
}

pool_cu_result mock_cu_CtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxEnablePeerAccess, MOCK_INSIDE, -1, "hu", peer, flags))
        return call.code;
    struct mock_context *of = call.context;
    const struct mock_context *to = mock_context_get(call.mock, peer);
    if (flags != 0)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (!to || to == of)
        return mock_leave(&call, POOL_CU_INVALID_CONTEXT);
    if (to->object.device == of->object.device ||
        !call.mock->devices[of->object.device].peers[to->object.device].access)
        return mock_leave(&call, POOL_CU_PEER_ACCESS_UNSUPPORTED);
    if (find_peer(of, to->object.serial) < of->peer_count)
        return mock_leave(&call, POOL_CU_PEER_ACCESS_ALREADY_ENABLED);
    uint64_t *larger = realloc(of->peers, (of->peer_count + 1) * sizeof(*larger));
    if (!larger)
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    of->peers = larger;
    of->peers[of->peer_count++] = to->object.serial;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_CtxDisablePeerAccess(CUcontext peer)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_CtxDisablePeerAccess, MOCK_INSIDE, -1, "h", peer))
        return call.code;
    struct mock_context *of = call.context;
    const struct mock_context *to = mock_context_get(call.mock, peer);
    if (!to)
        return mock_leave(&call, POOL_CU_INVALID_CONTEXT);
    size_t at = find_peer(of, to->object.serial);
    if (at == of->peer_count)
        return mock_leave(&call, POOL_CU_PEER_ACCESS_NOT_ENABLED);
    of->peers[at] = of->peers[--of->peer_count];
    return mock_leave(&call, POOL_CU_SUCCESS);
}
