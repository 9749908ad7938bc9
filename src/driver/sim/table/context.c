/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creation and destruction of the simulated driver's contexts.
 */
#include "base/alloc.h"
#include "base/math.h"
#include "driver/sim/table/state.h"

/* A real context uses 524 MiB (H200, driver 580); on a device with little memory a simulated one
 * uses less. */
#define CONTEXT_BYTES ((uint64_t)524 << 20)
#define CONTEXT_SHARE 16u
#define GREEN_BYTES ((uint64_t)6 << 20)

/* Represents a current context that was destroyed; calls return 709. */
static struct sim_context destroyed = {.root = &destroyed};

struct sim_context *sim_context_current(void)
{
    CUcontext handle = sim_stack_top();
    struct sim_context *context;

    if (!handle)
        return NULL;
    context = sim_handle_get(SIM_HANDLE_CONTEXT, handle);
    return context ? context : &destroyed;
}

pool_cu_result sim_context_of(CUcontext handle, struct sim_context **context)
{
    struct sim_context *found = sim_handle_get(SIM_HANDLE_CONTEXT, handle);

    if (!found)
        return sim_handle_was_valid(SIM_HANDLE_CONTEXT, handle) ? POOL_CU_CONTEXT_IS_DESTROYED
                                                                : POOL_CU_INVALID_CONTEXT;
    *context = found;
    return found->is_alive ? POOL_CU_SUCCESS : POOL_CU_CONTEXT_IS_DESTROYED;
}

/* ---- life ------------------------------------------------------------------------------------ */

static uint64_t context_cost(int device)
{
    uint64_t share = sim_config_of(device)->memory_bytes / CONTEXT_SHARE;

    return base_min(share, CONTEXT_BYTES);
}

/* Activates the context: charges its memory and creates its default stream. */
static pool_cu_result activate_context(struct sim_context *context)
{
    struct sim_device *device = &sim_state.devices[context->device];
    struct sim_stream *stream;
    pool_cu_result code;

    context->cost = context_cost(context->device);
    if (context->root != context)
        context->cost = base_min(context->cost, GREEN_BYTES);
    if (context->cost > sim_memory_free_bytes(context->device))
        return POOL_CU_OUT_OF_MEMORY;
    code = sim_stream_create(context, 0, 0, &stream);
    if (code)
        return code;
    context->null_stream = stream;
    context->limits[0] = 1024;
    context->limits[1] = 1 << 20;
    context->limits[2] = 8 << 20;
    context->local_bytes = context->limits[0];
    context->is_alive = true;
    context->id = ++sim_state.last_context_id;
    device->used_bytes += context->cost;
    context->next = device->contexts;
    device->contexts = context;
    return POOL_CU_SUCCESS;
}

/* Root NULL: the context is its own. */
static pool_cu_result create_context(
    int device, bool is_primary, unsigned flags, struct sim_context *root, struct sim_context **out)
{
    struct sim_context *context = base_calloc(1, sizeof(*context));
    pool_cu_result code = POOL_CU_OUT_OF_MEMORY;

    if (!context)
        return code;
    context->device = device;
    context->is_primary = is_primary;
    context->flags = flags;
    context->root = root ? root : context;
    context->handle = sim_handle_create(SIM_HANDLE_CONTEXT, context);
    if (context->handle)
        code = activate_context(context);
    if (code) {
        if (context->handle)
            sim_handle_release(context->handle);
        base_free(context);
        return code;
    }
    *out = context;
    return POOL_CU_SUCCESS;
}

pool_cu_result sim_context_create_green(
    struct sim_context *primary, const struct partition *partition, struct sim_context **out)
{
    const unsigned count = partition_size(partition);
    struct sim_context *made;
    pool_cu_result code = create_context(primary->device, false, primary->flags, primary, &made);

    if (code)
        return code;
    primary->greens++;
    made->partition = *partition;
    made->green = sim_handle_create(SIM_HANDLE_GREEN, made);
    made->multiprocessors = base_calloc(count, sizeof(*made->multiprocessors));
    if (!made->green || !made->multiprocessors) {
        sim_context_end(made, true);
        return POOL_CU_OUT_OF_MEMORY;
    }
    for (unsigned i = 0, filled = 0; filled < count; i++)
        if (partition->multiprocessors[i / 64] >> i % 64 & 1)
            made->multiprocessors[filled++] = (uint16_t)i;
    *out = made;
    return POOL_CU_SUCCESS;
}

/* Removes the context from all peer lists, so that no other context can access its memory. */
static void remove_from_peers(struct sim_context *context)
{
    sim_memory_write_lock();
    for (uint32_t at = 0; at < sim_state.config.device_count; at++) {
        for (struct sim_context *other = sim_state.devices[at].contexts; other;
             other = other->next) {
            for (unsigned peer = 0; peer < other->peer_count; peer++) {
                if (other->peers[peer] == context)
                    other->peers[peer--] = other->peers[--other->peer_count];
            }
        }
    }
    context->peer_count = 0;
    sim_memory_write_unlock();
}

static void unlink_context(struct sim_context *context)
{
    struct sim_context **link = &sim_state.devices[context->device].contexts;

    while (*link != context)
        link = &(*link)->next;
    *link = context->next;
}

/* One of its green contexts; NULL: there is none. */
static struct sim_context *green_of(const struct sim_context *context)
{
    struct sim_context *found = sim_state.devices[context->device].contexts;

    while (found && (found == context || found->root != context))
        found = found->next;
    return found;
}

/* What only a green context has. Its handle stays that of an ended one. */
static void end_green(struct sim_context *context)
{
    struct sim_device *device = &sim_state.devices[context->device];

    if (context->green)
        sim_handle_release(context->green);
    context->green = NULL;
    context->event_stream = context->gate_stream = NULL;
    sim_marker_release(context->gate);
    context->gate = NULL;
    context->root->greens--;
    context->next = device->ended;
    device->ended = context;
}

/*
 * The handles are released first, so that no thread enqueues more work. Work in the streams then
 * runs to completion, except that a hang is ended, as destroying a context ends its work.
 */
void sim_context_end(struct sim_context *context, bool is_gone)
{
    struct sim_context *green;

    context->is_alive = false;
    while ((green = green_of(context)) != NULL)
        sim_context_end(green, false);
    unlink_context(context);
    pthread_cond_broadcast(&sim_state.changed);
    for (struct sim_stream *stream = context->streams, *next; stream; stream = next) {
        next = stream->next;
        if (stream != context->null_stream && !stream->is_destroyed)
            sim_stream_retire(stream);
    }
    /* The default stream is removed last, because the blocking streams synchronise with it. */
    while (context->streams != context->null_stream || context->null_stream->next)
        pthread_cond_wait(&sim_state.changed, &sim_state.lock);
    sim_stream_retire(context->null_stream);
    while (context->streams)
        pthread_cond_wait(&sim_state.changed, &sim_state.lock);
    context->null_stream = NULL;
    remove_from_peers(context);
    while (context->graphs)
        sim_graph_free(context->graphs);
    while (context->modules)
        sim_module_free(context->modules);
    while (context->events)
        sim_event_free(context->events);
    sim_memory_release_context(context);
    sim_state.devices[context->device].used_bytes -= context->cost;
    context->cost = 0;
    pthread_cond_broadcast(&sim_state.changed);
    if (context->root != context) {
        end_green(context);
    } else if (is_gone) {
        if (sim_state.devices[context->device].primary == context)
            sim_state.devices[context->device].primary = NULL;
        sim_handle_release(context->handle);
        base_free(context);
    }
}

bool sim_is_device(CUdevice device)
{
    return device >= 0 && (uint32_t)device < sim_state.config.device_count;
}

static bool are_valid_flags(unsigned flags)
{
    unsigned schedule = flags & DRIVER_CTX_SCHED_MASK;

    return (flags & ~(unsigned)DRIVER_CTX_FLAGS_MASK) == 0 &&
           (schedule == 0 || schedule == 1 || schedule == 2 || schedule == 4);
}

pool_cu_result sim_primary_retain(int device, struct sim_context **primary)
{
    struct sim_device *on = &sim_state.devices[device];
    pool_cu_result code = POOL_CU_SUCCESS;

    /* Another thread has released it and waits for its work. */
    while (on->primary && !on->primary->is_alive && on->primary->null_stream)
        if (!sim_wait())
            return POOL_CU_DEINITIALIZED;
    if (!on->primary)
        code = create_context(device, true, on->primary_flags, NULL, &on->primary);
    else if (!on->primary->is_alive)
        code = activate_context(on->primary);
    if (code)
        return code;
    on->primary->flags = on->primary_flags;
    on->primary->retained++;
    *primary = on->primary;
    return POOL_CU_SUCCESS;
}

/* The last reference ends it; green contexts keep it, too. */
static void end_if_unused(struct sim_context *primary)
{
    if (primary->retained || primary->greens)
        return;
    sim_context_end(primary, false);
    sim_state.devices[primary->device].primary_flags = 0;
}

void sim_primary_release(struct sim_context *primary)
{
    end_if_unused(primary);
}

pool_cu_result sim_cu_DevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    struct sim_context *primary;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_DevicePrimaryCtxRetain, SIM_NEED_HEALTHY, device);

    if (code)
        return code;
    if (!context)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (!sim_is_device(device))
        return sim_leave(POOL_CU_INVALID_DEVICE);
    code = sim_primary_retain(device, &primary);
    if (!code)
        *context = primary->handle;
    return sim_leave(code);
}

pool_cu_result sim_cu_DevicePrimaryCtxRelease(CUdevice device)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_DevicePrimaryCtxRelease, SIM_NEED_INIT, device);

    if (code)
        return code;
    if (!sim_is_device(device))
        return sim_leave(POOL_CU_INVALID_DEVICE);
    struct sim_context *primary = sim_state.devices[device].primary;
    if (!primary || !primary->is_alive || primary->retained == 0)
        return sim_leave(POOL_CU_INVALID_CONTEXT);
    primary->retained--;
    end_if_unused(primary);
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_DevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_DevicePrimaryCtxGetState, SIM_NEED_INIT, device);

    if (code)
        return code;
    if (!flags || !active)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (!sim_is_device(device))
        return sim_leave(POOL_CU_INVALID_DEVICE);
    struct sim_context *primary = sim_state.devices[device].primary;
    *flags = sim_state.devices[device].primary_flags;
    *active = primary && primary->is_alive;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_DevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    struct sim_call call;
    pool_cu_result code =
        sim_enter(&call, SIM_CU_DevicePrimaryCtxSetFlags, SIM_NEED_HEALTHY, device);

    if (code)
        return code;
    if (!sim_is_device(device))
        return sim_leave(POOL_CU_INVALID_DEVICE);
    if (!are_valid_flags(flags))
        return sim_leave(POOL_CU_INVALID_VALUE);
    sim_state.devices[device].primary_flags = flags;
    if (sim_state.devices[device].primary)
        sim_state.devices[device].primary->flags = flags;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_CtxCreate(CUcontext *context, unsigned int flags, CUdevice device)
{
    struct sim_call call;
    struct sim_context *made;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxCreate, SIM_NEED_HEALTHY, device);

    if (code)
        return code;
    if (!context || !are_valid_flags(flags))
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (!sim_is_device(device))
        return sim_leave(POOL_CU_INVALID_DEVICE);
    code = create_context(device, false, flags, NULL, &made);
    if (code)
        return sim_leave(code);
    code = sim_stack_push(made->handle);
    if (code) {
        sim_context_end(made, true);
        return sim_leave(code);
    }
    *context = made->handle;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_CtxDestroy(CUcontext context)
{
    struct sim_context *found;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxDestroy, SIM_NEED_INIT, -1);

    if (code)
        return code;
    code = context ? sim_context_of(context, &found) : POOL_CU_INVALID_VALUE;
    if (code)
        return sim_leave(code);
    if (found->is_primary || found->root != found)
        return sim_leave(POOL_CU_INVALID_CONTEXT);
    if (sim_stack_top() == context)
        sim_stack_pop();
    sim_context_end(found, true);
    return sim_leave(sim_state.poison);
}

pool_cu_result sim_cu_CtxGetDevice(CUdevice *device)
{
    struct sim_call call;
    struct sim_context *current;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxGetDevice, SIM_NEED_INIT, -1);

    if (code)
        return code;
    current = sim_context_current();
    if (!current)
        code = POOL_CU_INVALID_CONTEXT;
    else if (!current->is_alive && !sim_context_is_ended_green(current))
        code = POOL_CU_CONTEXT_IS_DESTROYED;
    else if (!device)
        code = POOL_CU_INVALID_VALUE;
    else
        *device = current->device;
    return sim_leave(code);
}

pool_cu_result sim_cu_CtxSynchronize(void)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxSynchronize, SIM_NEED_CONTEXT, -1);

    return code ? code : sim_leave(sim_context_drain(call.scope));
}
