/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of the client: the message, the choice of the worker, the ring of the calling thread,
 * and the order of calls that several threads post.
 */
#include <limits.h>
#include <sched.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "driver/worker/client/client.h"
#include "driver/worker/futex.h"

/* --- the message ------------------------------------------------------------------------------ */

pool_cu_result call_check(void)
{
    if (client_in_host_function())
        return POOL_CU_NOT_PERMITTED;
    if (!client || client->fork_generation != driver_fork_generation() ||
        !atomic_load_explicit(&client->is_initialised, memory_order_relaxed))
        return POOL_CU_NOT_INITIALIZED;
    return POOL_CU_SUCCESS;
}

void call_begin(struct client_call *call, enum worker_function function, enum client_mode mode)
{
    call->function = function;
    call->mode = mode;
    call->worker = NULL;
    call->generation = 0;
    call->code = POOL_CU_SUCCESS;
    call->count = sizeof(struct worker_header) / 8;
    call->next = 0;
    call->reply.bytes = 0;
}

void call_word(struct client_call *call, uint64_t word)
{
    if (call->count < WORKER_MESSAGE_BYTES / 8)
        call->message.words[call->count++] = word;
    else if (!call->code)
        call->code = POOL_CU_NOT_SUPPORTED;
}

void call_bytes(struct client_call *call, const void *data, size_t bytes)
{
    size_t words = bytes / 8 + (bytes % 8 != 0);

    if (call->count + 1 + words > WORKER_MESSAGE_BYTES / 8 || bytes > WORKER_MESSAGE_BYTES) {
        if (!call->code)
            call->code = POOL_CU_NOT_SUPPORTED;
        return;
    }
    call_word(call, bytes);
    if (words)
        call->message.words[call->count + words - 1] = 0;
    if (bytes)
        memcpy(call->message.words + call->count, data, bytes);
    call->count += words;
}

void call_text(struct client_call *call, const char *text)
{
    call_bytes(call, text, text ? strlen(text) + 1 : 0);
}

void call_worker(struct client_call *call, struct client_worker *worker, unsigned generation)
{
    if (call->worker)
        return;
    call->worker = worker;
    call->generation = generation;
}

void call_device(struct client_call *call, CUdevice device)
{
    call_word(call, 0);
    if (device < 0 || (unsigned)device >= client->count) {
        if (!call->code)
            call->code = POOL_CU_INVALID_DEVICE;
        return;
    }
    call_worker(call, &client->workers[device],
        atomic_load_explicit(&client->workers[device].generation, memory_order_relaxed));
    if (call->worker != &client->workers[device] && !call->code) /* than that of a handle */
        call->code = POOL_CU_INVALID_VALUE;
}

void call_handle(struct client_call *call, enum worker_kind kind, const void *handle)
{
    uint64_t value = (uint64_t)(uintptr_t)handle;
    struct client_handle read;

    if (kind == WORKER_KERNEL)
        call->kernel = (CUfunction)(uintptr_t)handle;
    if (value == 0 || (kind == WORKER_STREAM && value <= 2)) { /* the default streams */
        call_word(call, value);
        return;
    }
    read = client_handle_read(handle);
    if (read.kind != kind || read.worker >= client->count) {
        call_word(call, 0);
        if (!call->code)
            call->code = kind == WORKER_GREEN           ? POOL_CU_INVALID_CONTEXT
                         : kind == WORKER_RESOURCE_DESC ? POOL_CU_INVALID_VALUE
                                                        : POOL_CU_INVALID_HANDLE;
        return;
    }
    call_worker(call, &client->workers[read.worker], read.generation);
    /* An object of another device, where the call concerns one device. */
    if (call->worker != &client->workers[read.worker] && !call->code)
        call->code = POOL_CU_INVALID_HANDLE;
    call_word(call, read.id);
}

void call_context(struct client_call *call, CUcontext context)
{
    struct client_worker *worker;
    unsigned number;
    pool_cu_result code;

    if (!context) {
        call_word(call, 0);
        return;
    }
    code = client_context_find(context, &worker, &number);
    if (code) {
        if (!call->code)
            call->code = code;
        return;
    }
    call_worker(call, worker, client_handle_read(context).generation);
    if (call->worker != worker && !call->code)
        call->code = POOL_CU_PEER_ACCESS_UNSUPPORTED;
    call_word(call, number + 1);
}

uint64_t call_result(struct client_call *call)
{
    return call->next < call->reply.bytes / 8 ? call->reply.words[call->next++] : 0;
}

void call_result_bytes(struct client_call *call, void *to, size_t bytes)
{
    size_t words = (bytes + 7) / 8;

    if (call->next + words > call->reply.bytes / 8) {
        if (to)
            memset(to, 0, bytes);
        return;
    }
    if (to)
        memcpy(to, call->reply.words + call->next, bytes);
    call->next += words;
}

void *call_result_handle(struct client_call *call, enum worker_kind kind)
{
    return client_handle_make(
        kind, (unsigned)call->worker->ordinal, call->generation, (uint32_t)call_result(call));
}

/* --- the rings of a thread -------------------------------------------------------------------- */

static _Thread_local struct client_thread *current_thread
    __attribute__((tls_model("initial-exec")));
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static bool has_thread_key;
/* Orders the end of threads with the end of workers. */
static pthread_mutex_t thread_lock = PTHREAD_MUTEX_INITIALIZER;

void call_lock_threads(void)
{
    pthread_mutex_lock(&thread_lock);
}

void call_unlock_threads(void)
{
    pthread_mutex_unlock(&thread_lock);
}

static void end_thread(void *value)
{
    struct client_thread *thread = value;

    pthread_mutex_lock(&thread_lock);
    if (client && client->number == thread->client &&
        client->fork_generation == driver_fork_generation()) {
        for (unsigned i = 0; i < client->count; i++) {
            struct client_worker *worker = &client->workers[i];

            if (!thread->rings[i])
                continue;
            pthread_mutex_lock(&worker->lock);
            worker->rings[thread->rings[i] - 1].is_owned = false;
            pthread_mutex_unlock(&worker->lock);
        }
    }
    pthread_mutex_unlock(&thread_lock);
    current_thread = NULL;
    base_free(thread->contexts);
    base_free(thread);
}

static void create_thread_key(void)
{
    has_thread_key = pthread_key_create(&thread_key, end_thread) == 0;
}

struct client_thread *client_thread(void)
{
    struct client_thread *thread = current_thread;

    if (__builtin_expect(!thread, 0)) {
        pthread_once(&thread_once, create_thread_key);
        thread = has_thread_key ? base_calloc(1, sizeof(*thread)) : NULL;
        if (!thread || pthread_setspecific(thread_key, thread)) {
            base_free(thread);
            return NULL;
        }
        current_thread = thread;
    }
    if (__builtin_expect(client && thread->client != client->number, 0)) {
        memset(thread->rings, 0, sizeof(thread->rings));
        thread->depth = 0;
        thread->client = client->number;
    }
    return thread;
}

int client_last_lost(void)
{
    return current_thread ? (int)current_thread->last_lost - 1 : -1;
}

bool client_in_host_function(void)
{
    return current_thread && current_thread->is_in_host_function;
}

static struct client_ring *claim_ring(struct client_thread *thread, struct client_worker *worker)
{
    struct client_ring *found = NULL;
    unsigned index;

    pthread_mutex_lock(&worker->lock);
    for (index = 0; index < WORKER_RINGS && !found; index++) {
        if (worker->rings[index].is_owned)
            continue;
        found = &worker->rings[index];
        found->is_owned = true;
        thread->rings[worker->ordinal] = (uint8_t)(index + 1);
        if (index >= atomic_load(&worker->ring_count))
            atomic_store(&worker->ring_count, index + 1);
        if (worker->shared && !atomic_load(&worker->shared->rings[index].is_active)) {
            atomic_store(&worker->shared->rings[index].is_active, 1);
            atomic_fetch_add(&worker->shared->activations, 1);
            worker_futex_wake(&worker->shared->activations);
        }
    }
    pthread_mutex_unlock(&worker->lock);
    return found;
}

static struct client_ring *ring_of_thread(struct client_worker *worker)
{
    struct client_thread *thread = client_thread();

    if (!thread)
        return NULL;
    return thread->rings[worker->ordinal] ? &worker->rings[thread->rings[worker->ordinal] - 1]
                                          : claim_ring(thread, worker);
}

void worker_wake(int ordinal)
{
    const struct client_thread *thread = current_thread;

    if (!thread || !client || client->fork_generation != driver_fork_generation() ||
        thread->client != client->number || (unsigned)ordinal >= client->count ||
        !thread->rings[ordinal] || !client_worker_runs(&client->workers[ordinal]))
        return;
    ring_expect(&client->workers[ordinal].shared->rings[thread->rings[ordinal] - 1]);
}

/* --- sending ---------------------------------------------------------------------------------- */

static void note_loss(const struct client_worker *worker)
{
    if (current_thread)
        current_thread->last_lost = (unsigned)worker->ordinal + 1;
}

pool_cu_result client_lost_code(const struct client_worker *worker)
{
    unsigned code = atomic_load(&worker->lost_code);

    note_loss(worker);
    return code ? code : DRIVER_CODE_LOST;
}

/* Whether the call's worker is still the one that the call is for. */
static bool is_current(const struct client_call *call)
{
    const struct client_worker *worker = call->worker;

    return client_worker_runs(worker) &&
           (atomic_load_explicit(&worker->generation, memory_order_relaxed) & 0xffff) ==
               (call->generation & 0xffff);
}

/*
 * A worker that sleeps for 2 s although a message waits is as good as lost. It is seen to sleep
 * this often, as much apart: a clock alone would also count the time in which the whole host stood
 * still.
 */
#define NEGLECTS 20
#define NEGLECT_NS 100000000u

static bool is_neglected(struct client_call *call)
{
    uint64_t now;

    if (!atomic_load_explicit(&call->awaited->worker_sleeps, memory_order_relaxed)) {
        call->neglects = 0;
        return false;
    }
    now = base_clock_ns();
    if (call->neglects && now - call->neglected_ns < NEGLECT_NS)
        return false;
    call->neglected_ns = now;
    if (++call->neglects < NEGLECTS)
        return false;
    note_loss(call->worker);
    client_lose(call->worker, call->generation, DRIVER_CODE_LOST,
        "the worker has not executed a message for 2 s, although it waits for one");
    return true;
}

static bool is_over(void *user)
{
    struct client_call *call = user;

    return !is_current(call) || is_neglected(call);
}

static void await_ring(struct client_call *call, const struct worker_ring *ring)
{
    call->awaited = ring;
    call->neglects = 0;
}

/* Without an answer of the device after so many tries, 5 ms and more, it is that the work of others
 * has not ended: a query that waited would not see that a device hangs. */
enum { QUERY_TRIES = 650 };

static bool is_query(const struct client_call *call)
{
    return call->function == WORKER_StreamQuery || call->function == WORKER_EventQuery;
}

/*
 * A call that this thread makes after another thread's call has returned must be executed after it,
 * although the other one may only have been posted. Waits for what other threads have posted so
 * far. `is_late`: a query that has waited for long enough.
 */
static enum ring_result wait_for_others(
    struct client_call *call, const struct client_ring *own, bool *is_late)
{
    struct client_worker *worker = call->worker;
    unsigned count = atomic_load_explicit(&worker->ring_count, memory_order_acquire);

    for (unsigned i = 0; i < count; i++) {
        struct client_ring *ring = &worker->rings[i];
        unsigned last = atomic_load_explicit(&ring->last_posted, memory_order_acquire);

        if (ring == own && !is_query(call)) /* whose messages are executed in order */
            continue;
        await_ring(call, &worker->shared->rings[i]);
        for (unsigned tries = 0;; tries++) {
            enum ring_result result =
                ring_has_executed(call->awaited, &ring->writer.executed, last);

            if (result == RING_OK)
                break;
            if (is_over(call) || result == RING_INVALID)
                return is_over(call) ? RING_OVER : result;
            if (tries == QUERY_TRIES && is_query(call)) {
                *is_late = true;
                return RING_OK;
            }
            if (tries < 200)
                worker_pause();
            else if (tries < 400)
                sched_yield();
            else
                base_sleep_ns(20000);
        }
    }
    return RING_OK;
}

/* The worker of the call and the context that it runs in. */
static pool_cu_result select_worker(struct client_call *call)
{
    CUcontext current = client_current();
    struct client_worker *worker = NULL;
    unsigned number = 0;
    pool_cu_result code = POOL_CU_INVALID_CONTEXT;

    if (current)
        code = client_context_find(current, &worker, &number);
    call->message.header.context = 0;
    if (!call->worker) {
        if (call->code == POOL_CU_INVALID_DEVICE || call->code == POOL_CU_INVALID_VALUE ||
            (call->code && !code))
            return call->code;
        if (code)
            return code;
        call_worker(call, worker, client_handle_read(current).generation);
    }
    if (call->code)
        return current || call->code != POOL_CU_INVALID_HANDLE ? call->code
                                                               : POOL_CU_INVALID_CONTEXT;
    if (!code && worker == call->worker)
        call->message.header.context = number + 1;
    else if (current && atomic_load(&call->worker->contexts[0].serial) % 2)
        call->message.header.context = 1; /* the device is another one than the current */
    return POOL_CU_SUCCESS;
}

static pool_cu_result start_worker(struct client_call *call)
{
    unsigned state = atomic_load(&call->worker->state);

    /* What has a generation belongs to a process that ran once. */
    if (!call->generation && (state == WORKER_STATE_ABSENT || state == WORKER_STATE_STARTING)) {
        if (client_wait_ready(call->worker))
            return client_lost_code(call->worker);
        call->generation = atomic_load(&call->worker->generation);
    }
    return is_current(call) ? POOL_CU_SUCCESS : client_lost_code(call->worker);
}

/* A sticky fault of the worker is the end of it. */
static pool_cu_result check_fault(struct client_call *call, pool_cu_result code)
{
    struct worker_shared *shared = call->worker->shared;
    unsigned fault = atomic_load_explicit(&shared->fault, memory_order_acquire);

    if (!fault && driver_code_class(code) != POOL_CLASS_PROCESS)
        return code;
    fault = fault ? fault : code;
    client_lose(call->worker, call->generation, fault, NULL);
    return client_lost_code(call->worker);
}

static pool_cu_result violated(struct client_call *call)
{
    note_loss(call->worker);
    client_lose(call->worker, call->generation, DRIVER_CODE_LOST,
        "the worker has written a message that violates the protocol");
    return DRIVER_CODE_LOST;
}

static pool_cu_result finish(struct client_call *call, enum ring_result result)
{
    if (result == RING_OK)
        return POOL_CU_SUCCESS;
    return result == RING_OVER ? client_lost_code(call->worker) : violated(call);
}

/*
 * A thread that waits for the device spins for this long, as it does in the driver's own functions:
 * on an H200 it is awake 60 us later if it sleeps, 2 % of an MSM of 2^20 terms. Only so many
 * threads do so at the same time, and none in a wait for an event, which may have been created to
 * sleep for.
 */
#define DEVICE_SPIN_NS 10000000u

static enum ring_result wait_for_reply(struct client_call *call, struct client_ring *ring)
{
    bool is_counted = client->spinners && call->function != WORKER_EventSynchronize;

    if (is_counted) { /* only while it spins: those that wait for long jobs sleep meanwhile */
        if (atomic_fetch_add(&client->spinning, 1) < client->spinners)
            (void)ring_spin(&ring->writer, DEVICE_SPIN_NS, is_over, call);
        atomic_fetch_sub(&client->spinning, 1);
    }
    return ring_wait(&ring->writer, &call->reply, ring->writer.spin_ns, is_over, call);
}

/* Called with the ring's mutex held. */
static pool_cu_result send(
    struct client_call *call, struct client_ring *ring, const struct call_stage *stage)
{
    unsigned char *staged = ring->writer.ring->stage;
    bool waits = client->is_synchronous || stage || client_mode_waits(call->mode);
    bool is_late = false;
    pool_cu_result code;

    if (!is_current(call))
        return client_lost_code(call->worker);
    code = finish(call, wait_for_others(call, ring, &is_late));
    if (code || is_late)
        return code ? code : POOL_CU_NOT_READY;
    await_ring(call, ring->writer.ring);
    if (stage && stage->from)
        memcpy(staged, stage->from, stage->bytes);
    call->message.header.bytes = (uint32_t)(call->count * 8);
    call->message.header.function = (uint16_t)call->function;
    call->message.header.flags = waits ? WORKER_FLAG_WAITS : 0;
    call->message.header.unused = 0;
    code = finish(call, ring_post(&ring->writer, &call->message.header, is_over, call));
    if (code)
        return code;
    if (!waits) {
        atomic_store_explicit(&ring->last_posted, ring->writer.posted, memory_order_release);
        return atomic_load_explicit(&call->worker->shared->fault, memory_order_relaxed)
                   ? check_fault(call, POOL_CU_SUCCESS)
                   : POOL_CU_SUCCESS;
    }
    code = finish(call, wait_for_reply(call, ring));
    if (code)
        return code;
    if (stage && stage->to && !call->reply.code)
        memcpy(stage->to, staged, stage->bytes);
    if (stage && stage->after)
        stage->after(call, staged, stage->user);
    return call->reply.code;
}

pool_cu_result call_run_staged(struct client_call *call, const struct call_stage *stage)
{
    struct client_ring *ring;
    pool_cu_result code = select_worker(call);

    if (!code && !is_current(call))
        code = start_worker(call);
    if (!code) {
        ring = ring_of_thread(call->worker);
        if (!ring)
            return POOL_CU_OUT_OF_MEMORY;
        pthread_mutex_lock(&ring->mutex);
        code = send(call, ring, stage);
        pthread_mutex_unlock(&ring->mutex);
        if (code)
            code = check_fault(call, code);
    }
    /* What has ended with its worker is destroyed. */
    return code && (call->mode == CLIENT_END || call->mode == CLIENT_END_LATER) && call->worker &&
                   !call->code && !is_current(call)
               ? POOL_CU_SUCCESS
               : code;
}

pool_cu_result call_run(struct client_call *call)
{
    return call_run_staged(call, NULL);
}
