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
void mock_context_begin(pool_mock *mock, struct mock_context *context)
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

bool mock_primary_retain(struct mock_call *call, int device)
{
    struct mock_context *primary = call->mock->devices[device].primary;

    if (!primary->active) {
        if (!charge_context(call->mock, device))
            return false;
        primary->failed_releases = 0;
        mock_context_begin(call->mock, primary);
    }
    primary->references++;
    return true;
}

pool_cu_result mock_do_DevicePrimaryCtxRetain(
    struct mock_call *call, CUcontext *context, CUdevice device)
{
    struct mock_context *primary = call->mock->devices[device].primary;

    if (call->mock->devices[device].attributes[POOL_CU_ATTRIBUTE_COMPUTE_MODE] ==
        COMPUTE_MODE_PROHIBITED)
        return POOL_CU_DEVICE_UNAVAILABLE;
    if (!mock_primary_retain(call, device))
        return POOL_CU_OUT_OF_MEMORY;
    *context = mock_object_handle(call->mock, &primary->object);
    return POOL_CU_SUCCESS;
}

/* No-op while it is not active. */
static void end_primary(pool_mock *mock, int device)
{
    struct mock_context *primary = mock->devices[device].primary;

    if (!primary->active)
        return;
    mock_release_context(mock, primary);
    primary->active = false;
    primary->greens = 0;
    primary->flags = 0;
    mock->devices[device].used -= mock->context_bytes;
}

void mock_primary_release(pool_mock *mock, int device)
{
    const struct mock_context *primary = mock->devices[device].primary;

    if (primary->references == 0 && primary->greens == 0)
        end_primary(mock, device);
}

pool_cu_result mock_do_DevicePrimaryCtxRelease(struct mock_call *call, CUdevice device)
{
    struct mock_context *primary = call->mock->devices[device].primary;
    if (primary->references == 0)
        return POOL_CU_INVALID_CONTEXT;
    primary->references--;
    mock_primary_release(call->mock, device);
    return POOL_CU_SUCCESS;
}

void mock_primary_release_failed(struct mock_call *call, int device)
{
    if (!call->on_demand || device < 0 || device >= call->mock->device_count)
        return;
    pthread_mutex_lock(&call->mock->lock);
    struct mock_context *primary = call->mock->devices[device].primary;
    if (primary->failed_releases < primary->references)
        primary->failed_releases++;
    pthread_mutex_unlock(&call->mock->lock);
}

pool_status pool_mock_reset_device(pool_mock *mock, int device)
{
    if (!mock_device_lock(mock, device, "pool_mock_reset_device"))
        return POOL_ERR_NOT_FOUND;
    end_primary(mock, device);
    pthread_mutex_unlock(&mock->lock);
    return POOL_OK;
}

pool_cu_result mock_do_DevicePrimaryCtxGetState(
    struct mock_call *call, CUdevice device, unsigned int *flags, int *active)
{
    *flags = call->mock->devices[device].primary->flags;
    *active = call->mock->devices[device].primary->active ? 1 : 0;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DevicePrimaryCtxSetFlags(
    struct mock_call *call, CUdevice device, unsigned int flags)
{
    if (flags & ~CTX_FLAGS_MASK)
        return POOL_CU_INVALID_VALUE;
    call->mock->devices[device].primary->flags = flags;
    return POOL_CU_SUCCESS;
}

/* ---- created contexts ------------------------------------------------------------------------ */

pool_cu_result mock_do_CtxCreate(
    struct mock_call *call, CUcontext *context, unsigned int flags, CUdevice device)
{
    pool_mock *mock = call->mock;
    struct mock_context *made;

    if (flags & ~CTX_FLAGS_MASK)
        return POOL_CU_INVALID_VALUE;
    if (mock->devices[device].attributes[POOL_CU_ATTRIBUTE_COMPUTE_MODE] == COMPUTE_MODE_PROHIBITED)
        return POOL_CU_DEVICE_UNAVAILABLE;
    if (!charge_context(mock, device))
        return POOL_CU_OUT_OF_MEMORY;
    made = mock_object_new(mock, sizeof(*made), MOCK_CONTEXT, device, NULL);
    if (!made) {
        mock->devices[device].used -= mock->context_bytes;
        return POOL_CU_OUT_OF_MEMORY;
    }
    made->flags = flags;
    mock_context_begin(mock, made);
    if (!push_context(call->thread, mock_object_handle(mock, &made->object))) {
        mock->devices[device].used -= mock->context_bytes;
        mock_object_release(mock, &made->object);
        return POOL_CU_OUT_OF_MEMORY;
    }
    call->thread->unpopped++;
    *context = mock_object_handle(mock, &made->object);
    return POOL_CU_SUCCESS;
}

static CUcontext top_of(const struct mock_thread *thread)
{
    return thread->depth > 0 ? thread->stack[thread->depth - 1] : NULL;
}

pool_cu_result mock_do_CtxDestroy(struct mock_call *call, struct mock_context *context)
{
    struct mock_thread *thread = call->thread;

    if (!context)
        return POOL_CU_INVALID_VALUE;
    if (context->object.kind != MOCK_CONTEXT || context->object.context)
        return POOL_CU_INVALID_CONTEXT; /* also a green one */
    if (top_of(thread) == mock_object_handle(call->mock, &context->object)) {
        thread->depth--;
        thread->unpopped--;
    }
    mock_release_context(call->mock, context);
    call->mock->devices[context->object.device].used -= call->mock->context_bytes;
    mock_object_release(call->mock, &context->object);
    return POOL_CU_SUCCESS;
}

/* ---- the thread's stack ---------------------------------------------------------------------- */

pool_cu_result mock_do_CtxPushCurrent(struct mock_call *call, struct mock_context *context)
{
    if (!context)
        return POOL_CU_INVALID_CONTEXT;
    if (!push_context(call->thread, mock_object_handle(call->mock, &context->object)))
        return POOL_CU_OUT_OF_MEMORY;
    call->thread->unpopped++;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_CtxPopCurrent(struct mock_call *call, CUcontext *context)
{
    if (call->thread->depth == 0)
        return POOL_CU_INVALID_CONTEXT;
    CUcontext top = call->thread->stack[--call->thread->depth];
    call->thread->unpopped--;
    if (context)
        *context = top;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_CtxSetCurrent(struct mock_call *call, struct mock_context *context)
{
    struct mock_thread *thread = call->thread;
    if (!context) {
        if (thread->depth > 0) {
            thread->depth--;
            thread->unpopped--;
        }
        return POOL_CU_SUCCESS;
    }
    CUcontext handle = mock_object_handle(call->mock, &context->object);
    if (thread->depth > 0) {
        thread->stack[thread->depth - 1] = handle;
        return POOL_CU_SUCCESS;
    }
    if (!push_context(thread, handle))
        return POOL_CU_OUT_OF_MEMORY;
    thread->unpopped++;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_CtxGetCurrent(struct mock_call *call, CUcontext *context)
{
    *context = top_of(call->thread);
    return POOL_CU_SUCCESS;
}

CUcontext pool_mock_current_context(pool_mock *mock)
{
    CUcontext current = NULL;

    if (!mock)
        return NULL;
    pthread_mutex_lock(&mock->lock);
    struct mock_thread *thread = mock_thread_of(mock);
    if (thread)
        current = top_of(thread);
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

pool_cu_result mock_do_CtxGetDevice(struct mock_call *call, CUdevice *device)
{
    if (!call->scope) /* an ended green one has it, as with a GPU's driver */
        return POOL_CU_INVALID_CONTEXT;
    *device = call->scope->object.device;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_CtxSynchronize(struct mock_call *call)
{
    pool_cu_result code = mock_context_uncaptured(call);
    if (code)
        return code;
    mock_stall_wait(call->mock, call->scope->stall_number);
    mock_pools_trim(call->mock, call->device);
    return call->mock->sticky;
}

pool_cu_result mock_do_CtxGetFlags(struct mock_call *call, unsigned int *flags)
{
    *flags = call->context->flags;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_CtxGetApiVersion(
    struct mock_call *call, struct mock_context *context, unsigned int *version)
{
    if (!context && !call->context)
        return POOL_CU_INVALID_CONTEXT;
    *version = 3020;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_CtxGetId(
    struct mock_call *call, struct mock_context *context, unsigned long long *id)
{
    const struct mock_context *asked = context ? context : call->scope;

    if (!asked)
        return POOL_CU_INVALID_CONTEXT;
    *id = asked->id;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_CtxGetLimit(struct mock_call *call, size_t *value, pool_cu_enum limit)
{
    if (limit >= MOCK_LIMITS)
        return POOL_CU_INVALID_VALUE;
    *value = call->context->limits[limit];
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_CtxSetLimit(struct mock_call *call, pool_cu_enum limit, size_t value)
{
    if (limit >= MOCK_LIMITS)
        return POOL_CU_INVALID_VALUE;
    call->context->limits[limit] = value;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_ProfilerStart(struct mock_call *call)
{
    (void)call;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_ProfilerStop(struct mock_call *call)
{
    (void)call;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_CtxGetStreamPriorityRange(struct mock_call *call, int *least, int *greatest)
{
    (void)call;
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return POOL_CU_SUCCESS;
}

/* ---- peers ----------------------------------------------------------------------------------- */

static size_t find_peer(const struct mock_context *context, uint64_t serial)
{
    size_t at = 0;

    while (at < context->peer_count && context->peers[at] != serial)
        at++;
    return at;
}

pool_cu_result mock_do_CtxEnablePeerAccess(
    struct mock_call *call, struct mock_context *peer, unsigned int flags)
{
    struct mock_context *of = call->context;

    peer = mock_root(peer);
    if (flags != 0)
        return POOL_CU_INVALID_VALUE;
    if (!peer || peer == of)
        return POOL_CU_INVALID_CONTEXT;
    if (peer->object.device == of->object.device ||
        !call->mock->devices[of->object.device].peers[peer->object.device].access)
        return POOL_CU_PEER_ACCESS_UNSUPPORTED;
    if (find_peer(of, peer->object.serial) < of->peer_count)
        return POOL_CU_PEER_ACCESS_ALREADY_ENABLED;
    uint64_t *larger = realloc(of->peers, (of->peer_count + 1) * sizeof(*larger));
    if (!larger)
        return POOL_CU_OUT_OF_MEMORY;
    of->peers = larger;
    of->peers[of->peer_count++] = peer->object.serial;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_CtxDisablePeerAccess(struct mock_call *call, struct mock_context *peer)
{
    struct mock_context *of = call->context;

    peer = mock_root(peer);
    if (!peer)
        return POOL_CU_INVALID_CONTEXT;
    size_t at = find_peer(of, peer->object.serial);
    if (at == of->peer_count)
        return POOL_CU_PEER_ACCESS_NOT_ENABLED;
    of->peers[at] = of->peers[--of->peer_count];
    return POOL_CU_SUCCESS;
}
