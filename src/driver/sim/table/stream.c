/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of the simulated driver: each has a queue and a thread, so that work is as asynchronous
 * as on a GPU and missing synchronisation shows.
 *
 * Every operation gets a sequence number when it is enqueued. The first operation of a stream
 * starts when its dependencies have completed: an event, or, between the default stream and the
 * blocking streams, all operations with a lower number. Dependencies always have lower numbers, so
 * there are no cycles.
 */
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/mix.h"
#include "base/thread.h"
#include "driver/sim/table/state.h"

#define LEGACY_STREAM ((CUstream)(uintptr_t)1)
#define PER_THREAD_STREAM ((CUstream)(uintptr_t)2)

/* ---- what may start -------------------------------------------------------------------------- */

static bool has_passed(const struct sim_stream *stream, uint64_t sequence)
{
    return !stream->head || stream->head->sequence > sequence;
}

/* The default stream and the blocking streams wait for each other. */
static bool is_in_order(const struct sim_stream *stream, uint64_t sequence)
{
    const struct sim_context *context = stream->context;

    if (stream->flags & DRIVER_STREAM_NON_BLOCKING)
        return true;
    if (stream != context->null_stream)
        return has_passed(context->null_stream, sequence);
    for (const struct sim_stream *other = context->streams; other; other = other->next) {
        if (other != stream && !(other->flags & DRIVER_STREAM_NON_BLOCKING) &&
            !has_passed(other, sequence))
            return false;
    }
    return true;
}

/* Whether the remaining work is dropped instead of executed. */
static bool is_work_dropped(void)
{
    return sim_state.poison || sim_state.is_closing;
}

static bool could_start(const struct sim_stream *stream, const struct sim_work *work)
{
    if (is_work_dropped())
        return true;
    if (!is_in_order(stream, work->sequence))
        return false;
    if (work->kind == SIM_WORK_WAIT)
        return work->u.marker->is_done;
    if (work->kind == SIM_WORK_HANG)
        return work->u.hang_epoch != sim_state.hang_epoch || !stream->context->is_alive;
    return true;
}

/* Whether one launch is to start before the other; both could. */
static bool is_before(const struct sim_work *one, const struct sim_work *other)
{
    const int difference = one->u.launch.priority - other->u.launch.priority;

    return difference < 0 || (difference == 0 && one->sequence < other->sequence);
}

/* What the stream would launch next, as nothing precedes it that takes time; NULL: nothing. */
static const struct sim_work *next_launch(const struct sim_stream *stream)
{
    const struct sim_work *work = stream->head;

    while (work && work->kind == SIM_WORK_NO_OP)
        work = work->next;
    return work && work->kind == SIM_WORK_LAUNCH ? work : NULL;
}

/* With `serial`: of the launches of a device that could start, the most urgent one does, once the
 * one before it has ended. */
static bool is_next_launch(const struct sim_stream *stream, const struct sim_work *work)
{
    const struct sim_device *device = &sim_state.devices[stream->context->device];

    if (device->is_launching)
        return false;
    for (const struct sim_context *context = device->contexts; context; context = context->next)
        for (const struct sim_stream *at = context->streams; at; at = at->next) {
            const struct sim_work *other = next_launch(at);

            if (other && is_before(other, work) && could_start(at, other))
                return false;
        }
    return true;
}

static bool is_serial(const struct sim_work *work)
{
    return sim_state.config.is_serial && work->kind == SIM_WORK_LAUNCH;
}

static bool may_start(const struct sim_stream *stream, const struct sim_work *work)
{
    return could_start(stream, work) &&
           (is_work_dropped() || !is_serial(work) || is_next_launch(stream, work));
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void execute_first(struct sim_stream *stream)
{
    struct sim_device *device = &sim_state.devices[stream->context->device];
    const bool is_alone = is_serial(stream->head);

    if (is_work_dropped())
        return;
    device->is_launching |= is_alone;
    sim_work_execute(stream, stream->head);
    if (is_alone)
        device->is_launching = false;
}

/* Completes the first operation and notifies waiting threads. */
static void complete_first(struct sim_stream *stream)
{
    struct sim_work *work = stream->head;

    if (work->kind == SIM_WORK_RECORD) {
        work->u.marker->time_ns = base_clock_ns();
        work->u.marker->is_done = true;
        if (work->u.marker->shared)
            sim_shared_event_end(work->u.marker);
    }
    stream->head = work->next;
    if (!stream->head)
        stream->tail = NULL;
    sim_work_free(work);
    pthread_cond_broadcast(&sim_state.changed);
}

/* Frees a stream that was destroyed, is empty and has no thread; otherwise a no-op. */
static void free_if_done(struct sim_stream *stream)
{
    struct sim_stream **link = &stream->context->streams;

    if (!stream->is_destroyed || stream->head || stream->has_thread || stream->waiters)
        return;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    pthread_cond_destroy(&stream->arrived);
    base_free(stream);
    pthread_cond_broadcast(&sim_state.changed);
}

/*
 * With jitter= about half of the work starts late: up to 200 us, a fourth of it up to 2 ms. The
 * delay depends on the seed and on when the work was enqueued, so that the same calls are delayed
 * alike.
 */
static uint64_t delay_of(const struct sim_work *work)
{
    const uint64_t mixed = base_mix((uint64_t)sim_state.config.jitter << 32 ^ work->sequence);

    if (mixed & 1)
        return 0;
    return (mixed >> 8) % (mixed & 6 ? 200000 : 2000000);
}

/* Once for each work, without the lock; it may not be startable any more afterwards. */
static bool delay_first(struct sim_stream *stream)
{
    struct sim_work *work = stream->head;
    uint64_t ns;

    if (!sim_state.config.jitter || work->is_delayed || is_work_dropped())
        return false;
    work->is_delayed = true;
    ns = delay_of(work);
    pthread_mutex_unlock(&sim_state.lock);
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
    pthread_mutex_lock(&sim_state.lock);
    return true;
}

static void *run_stream(void *argument)
{
    struct sim_stream *stream = argument;

    pthread_mutex_lock(&sim_state.lock);
    while (stream->head || !stream->is_destroyed) {
        if (!stream->head) {
            pthread_cond_wait(&stream->arrived, &sim_state.lock);
        } else if (!may_start(stream, stream->head)) {
            pthread_cond_wait(&sim_state.changed, &sim_state.lock);
        } else if (!delay_first(stream)) {
            execute_first(stream);
            complete_first(stream);
        }
    }
    stream->has_thread = false;
    free_if_done(stream);
    sim_state.threads--;
    pthread_cond_broadcast(&sim_state.changed);
    pthread_mutex_unlock(&sim_state.lock);
    return NULL;
}

static bool start_thread(struct sim_stream *stream)
{
    pthread_t thread;

    if (!base_thread_start(&thread, run_stream, stream))
        return false;
    pthread_detach(thread);
    stream->has_thread = true;
    sim_state.threads++;
    return true;
}

/* The default stream would be ordered with a blocking one that is captured. */
static struct sim_capture *captured_beside(const struct sim_stream *stream)
{
    const struct sim_context *context = stream->context;

    for (struct sim_stream *at = context->streams; stream == context->null_stream && at;
         at = at->next)
        if (at->capture && !(at->flags & DRIVER_STREAM_NON_BLOCKING))
            return at->capture;
    return NULL;
}

pool_cu_result sim_stream_enqueue(struct sim_stream *stream, struct sim_work *work)
{
    struct sim_capture *beside = captured_beside(stream);

    if (stream->capture)
        return sim_capture_add(stream, work, 0);
    if (beside) {
        sim_work_free(work);
        return sim_capture_violated(beside, POOL_CU_STREAM_CAPTURE_IMPLICIT);
    }
    if (!stream->has_thread && !start_thread(stream)) {
        sim_work_free(work);
        return POOL_CU_OUT_OF_MEMORY;
    }
    work->sequence = ++sim_state.sequence;
    work->next = NULL;
    if (stream->tail)
        stream->tail->next = work;
    else
        stream->head = work;
    stream->tail = work;
    pthread_cond_signal(&stream->arrived);
    return POOL_CU_SUCCESS;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool is_default(const struct sim_stream *stream)
{
    return stream == stream->context->null_stream;
}

static bool is_idle(const struct sim_stream *stream)
{
    if (stream->head)
        return false;
    return !is_default(stream) || is_in_order(stream, sim_state.sequence);
}

static bool is_drained(const struct sim_stream *stream, uint64_t sequence)
{
    return has_passed(stream, sequence) && (!is_default(stream) || is_in_order(stream, sequence));
}

pool_cu_result sim_stream_drain(struct sim_stream *stream)
{
    const uint64_t sequence = sim_state.sequence;
    const int device = stream->context->device;
    bool is_open = true;

    if (stream->capture)
        return sim_capture_violated(stream->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    stream->waiters++;
    while (is_open && !is_drained(stream, sequence))
        is_open = sim_wait();
    stream->waiters--;
    free_if_done(stream);
    if (!is_open)
        return POOL_CU_DEINITIALIZED;
    sim_memory_pools_trim(device);
    return sim_state.poison;
}

static bool is_context_drained(const struct sim_context *context, uint64_t sequence)
{
    for (const struct sim_stream *stream = context->streams; stream; stream = stream->next) {
        if (!has_passed(stream, sequence))
            return false;
    }
    return true;
}

/* The context and its green ones. */
static bool are_drained(const struct sim_context *context, uint64_t sequence)
{
    const struct sim_context *at = sim_state.devices[context->device].contexts;

    for (; at; at = at->next)
        if (at != context && at->root == context && !is_context_drained(at, sequence))
            return false;
    return is_context_drained(context, sequence);
}

static bool wait_for_context(struct sim_context *context,
    bool (*is_ready)(const struct sim_context *context, uint64_t value), uint64_t value)
{
    struct sim_stream *hold = context->null_stream; /* keeps the context alive during the wait */
    bool is_open = true;

    hold->waiters++;
    while (is_open && !is_ready(context, value))
        is_open = sim_wait();
    hold->waiters--;
    free_if_done(hold);
    return is_open;
}

pool_cu_result sim_context_wait(struct sim_context *context,
    bool (*is_ready)(const struct sim_context *context, uint64_t value), uint64_t value)
{
    if (!wait_for_context(context, is_ready, value))
        return POOL_CU_DEINITIALIZED;
    return context->is_alive ? sim_state.poison : POOL_CU_CONTEXT_IS_DESTROYED;
}

pool_cu_result sim_context_drain(struct sim_context *context)
{
    const int device = context->device;

    for (const struct sim_stream *at = context->streams; at; at = at->next)
        if (at->capture)
            return sim_capture_violated(at->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    if (!wait_for_context(context, are_drained, sim_state.sequence))
        return POOL_CU_DEINITIALIZED;
    sim_memory_pools_trim(device);
    return sim_state.poison;
}

pool_cu_result sim_context_drain_alone(struct sim_context *context)
{
    pool_cu_result code;

    /* The context exists until the lock is released after the wait. */
    context->launch_blocks++;
    code = sim_context_drain(context);
    context->launch_blocks--;
    pthread_cond_broadcast(&sim_state.changed);
    return code;
}

pool_cu_result sim_context_wait_for_work(struct sim_context *context, bool blocks_launches)
{
    pool_cu_result code;

    if (!sim_state.config.has_waits)
        return POOL_CU_SUCCESS;
    context->launch_blocks += blocks_launches;
    code = sim_context_wait(context, are_drained, sim_state.sequence);
    context->launch_blocks -= blocks_launches;
    pthread_cond_broadcast(&sim_state.changed);
    return code;
}

static bool is_all_drained(uint64_t sequence)
{
    for (uint32_t at = 0; at < sim_state.config.device_count; at++)
        for (struct sim_context *context = sim_state.devices[at].contexts; context;
             context = context->next)
            if (!is_context_drained(context, sequence))
                return false;
    return true;
}

pool_cu_result sim_drain(void)
{
    const uint64_t sequence = sim_state.sequence;

    while (!is_all_drained(sequence))
        if (!sim_wait())
            return POOL_CU_DEINITIALIZED;
    return sim_state.poison;
}

/* ---- life ------------------------------------------------------------------------------------ */

pool_cu_result sim_stream_await(struct sim_stream *stream, struct sim_marker *marker)
{
    struct sim_work *work = sim_work_create(SIM_WORK_WAIT);

    if (!work)
        return POOL_CU_OUT_OF_MEMORY;
    work->u.marker = marker;
    marker->references++;
    return sim_stream_enqueue(stream, work);
}

pool_cu_result sim_stream_create(
    struct sim_context *context, unsigned flags, int priority, struct sim_stream **out)
{
    struct sim_stream *stream = base_calloc(1, sizeof(*stream));

    if (!stream)
        return POOL_CU_OUT_OF_MEMORY;
    if (pthread_cond_init(&stream->arrived, NULL)) {
        base_free(stream);
        return POOL_CU_OUT_OF_MEMORY;
    }
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority;
    stream->next = context->streams;
    context->streams = stream;
    *out = stream;
    if (!context->gate || context->gate->is_done || !sim_stream_await(stream, context->gate))
        return POOL_CU_SUCCESS;
    sim_stream_retire(stream);
    return POOL_CU_OUT_OF_MEMORY;
}

void sim_stream_retire(struct sim_stream *stream)
{
    if (stream->handle)
        sim_handle_release(stream->handle);
    stream->handle = NULL;
    sim_capture_stream_ends(stream);
    stream->is_destroyed = true;
    pthread_cond_signal(&stream->arrived);
    free_if_done(stream);
}

/* A number of the calling thread that no other one ever has. */
static uint64_t thread_number(void)
{
    static atomic_uint_least64_t used;
    static _Thread_local uint64_t own;

    if (!own)
        own = atomic_fetch_add(&used, 1) + 1;
    return own;
}

/* The calling thread's default stream, which is created at its first use and lives as long as the
 * context. */
static pool_cu_result per_thread_stream(struct sim_context *context, struct sim_stream **stream)
{
    uint64_t thread = thread_number();
    pool_cu_result code;

    for (struct sim_stream *at = context->streams; at; at = at->next)
        if (at->thread == thread && !at->is_destroyed) {
            *stream = at;
            return POOL_CU_SUCCESS;
        }
    code = sim_stream_create(context, 0, 0, stream);
    if (!code)
        (*stream)->thread = thread;
    return code;
}

pool_cu_result sim_stream_of(
    struct sim_context *context, CUstream handle, struct sim_stream **stream)
{
    struct sim_stream *found;

    if (!handle || handle == LEGACY_STREAM) {
        *stream = context->null_stream;
        return POOL_CU_SUCCESS;
    }
    if (handle == PER_THREAD_STREAM) /* green contexts have none */
        return context->root == context ? per_thread_stream(context, stream)
                                        : POOL_CU_INVALID_HANDLE;
    found = sim_handle_get(SIM_HANDLE_STREAM, handle);
    if (!found || found->context->root != context->root)
        return POOL_CU_INVALID_HANDLE;
    *stream = found;
    return POOL_CU_SUCCESS;
}

/* ---- the table's functions ------------------------------------------------------------------- */

pool_cu_result sim_stream_create_handle(
    struct sim_context *context, unsigned flags, int priority, CUstream *stream)
{
    struct sim_stream *made;
    pool_cu_result code;

    if (!stream || flags > DRIVER_STREAM_NON_BLOCKING)
        return POOL_CU_INVALID_VALUE;
    /* In a green context no stream is ordered with another, whatever its flags (H200, driver
     * 580.159). */
    if (context->green)
        flags = DRIVER_STREAM_NON_BLOCKING;
    /* Values outside the range are clamped, as cuda.h specifies. */
    code = sim_stream_create(context, flags, sim_clamp_priority(priority), &made);
    if (code)
        return code;
    made->handle = sim_handle_create(SIM_HANDLE_STREAM, made);
    if (!made->handle) {
        sim_stream_retire(made);
        return POOL_CU_OUT_OF_MEMORY;
    }
    *stream = made->handle;
    return POOL_CU_SUCCESS;
}

pool_cu_result sim_cu_StreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_StreamCreateWithPriority, SIM_NEED_CONTEXT, -1);

    return code ? code : sim_leave(sim_stream_create_handle(call.scope, flags, priority, stream));
}

pool_cu_result sim_stream_enter(struct sim_call *call, enum sim_driver_function function,
    enum sim_need need, CUstream handle, struct sim_stream **stream)
{
    pool_cu_result code = sim_enter(call, function, need, -1);

    if (code)
        return code;
    *stream = NULL;
    code = sim_stream_of(call->scope, handle, stream);
    /* The stream's own context applies, whatever context is current. */
    struct sim_stream *found = sim_handle_get(SIM_HANDLE_STREAM, handle);
    if (code && found) {
        *stream = found;
        code = POOL_CU_SUCCESS;
    }
    return code ? sim_leave(code) : POOL_CU_SUCCESS;
}

pool_cu_result sim_cu_StreamDestroy(CUstream handle)
{
    struct sim_stream *stream;
    struct sim_call call;
    pool_cu_result code =
        sim_stream_enter(&call, SIM_CU_StreamDestroy, SIM_NEED_CONTEXT_ONLY, handle, &stream);

    if (code)
        return code;
    if (!stream->handle)
        return sim_leave(POOL_CU_INVALID_HANDLE);
    sim_stream_retire(stream);
    return sim_leave(sim_state.poison);
}

pool_cu_result sim_cu_StreamSynchronize(CUstream handle)
{
    struct sim_stream *stream;
    struct sim_call call;
    pool_cu_result code =
        sim_stream_enter(&call, SIM_CU_StreamSynchronize, SIM_NEED_CONTEXT, handle, &stream);

    return code ? code : sim_leave(sim_stream_drain(stream));
}

pool_cu_result sim_cu_StreamQuery(CUstream handle)
{
    struct sim_stream *stream;
    struct sim_call call;
    pool_cu_result code =
        sim_stream_enter(&call, SIM_CU_StreamQuery, SIM_NEED_CONTEXT, handle, &stream);

    if (code)
        return code;
    if (stream->capture)
        return sim_leave(sim_capture_violated(stream->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED));
    return sim_leave(is_idle(stream) ? POOL_CU_SUCCESS : POOL_CU_NOT_READY);
}

pool_cu_result sim_cu_StreamGetPriority(CUstream handle, int *priority)
{
    struct sim_stream *stream;
    struct sim_call call;
    pool_cu_result code =
        sim_stream_enter(&call, SIM_CU_StreamGetPriority, SIM_NEED_CONTEXT, handle, &stream);

    if (code)
        return code;
    if (!priority)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *priority = stream->priority;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_StreamGetFlags(CUstream handle, unsigned int *flags)
{
    struct sim_stream *stream;
    struct sim_call call;
    pool_cu_result code =
        sim_stream_enter(&call, SIM_CU_StreamGetFlags, SIM_NEED_CONTEXT, handle, &stream);

    if (code)
        return code;
    if (!flags)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *flags = stream->flags;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_StreamGetCtx(CUstream handle, CUcontext *context)
{
    struct sim_stream *stream;
    struct sim_call call;
    pool_cu_result code =
        sim_stream_enter(&call, SIM_CU_StreamGetCtx, SIM_NEED_CONTEXT, handle, &stream);

    if (code)
        return code;
    if (!context)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *context = stream->context->handle;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_LaunchHostFunc(CUstream handle, pool_cu_host_function function, void *user)
{
    struct sim_stream *stream;
    struct sim_call call;
    struct sim_work *work;
    pool_cu_result code =
        sim_stream_enter(&call, SIM_CU_LaunchHostFunc, SIM_NEED_CONTEXT, handle, &stream);

    if (code)
        return code;
    if (!function)
        return sim_leave(POOL_CU_INVALID_VALUE);
    work = sim_work_create(SIM_WORK_HOST);
    if (!work)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    work->u.host.function = function;
    work->u.host.user = user;
    return sim_leave(sim_enqueue(&call, stream, work));
}
