/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts and the thread's stack of them. The stack is the client's, because its contexts belong
 * to several processes; each message names the context that is current.
 */
#include <stdint.h>

#include "base/alloc.h"
#include "driver/worker/client/client.h"

/* --- contexts --------------------------------------------------------------------------------- */

/* A context's id: its number and how often that was reused. */
static uint32_t context_id(unsigned number, unsigned serial)
{
    return (serial / 2) << 8 | number;
}

CUcontext client_context_handle(const struct client_worker *worker, unsigned number)
{
    unsigned serial = atomic_load(&worker->contexts[number].serial);

    /* The primary context keeps its handle, as the driver does. */
    return client_handle_make(WORKER_CONTEXT, (unsigned)worker->ordinal,
        atomic_load(&worker->generation), context_id(number, number ? serial : 0));
}

pool_cu_result client_context_find(
    CUcontext context, struct client_worker **worker, unsigned *number)
{
    struct client_handle read = client_handle_read(context);
    struct client_worker *found;
    unsigned serial;

    if (read.kind != WORKER_CONTEXT || read.worker >= client->count ||
        (read.id & 0xff) >= WORKER_CONTEXTS)
        return POOL_CU_INVALID_CONTEXT;
    found = &client->workers[read.worker];
    *worker = found;
    *number = read.id & 0xff;
    if (read.generation !=
        (atomic_load_explicit(&found->generation, memory_order_relaxed) & 0xffff))
        return client_lost_code(found);
    serial = atomic_load_explicit(&found->contexts[*number].serial, memory_order_acquire);
    if (serial % 2 == 0 || (*number && read.id >> 8 != serial / 2))
        return read.id >> 8 <= serial / 2 ? POOL_CU_CONTEXT_IS_DESTROYED : POOL_CU_INVALID_CONTEXT;
    return POOL_CU_SUCCESS;
}

static void set_alive(struct client_context *context, bool is_alive)
{
    unsigned serial = atomic_load(&context->serial);

    if ((serial % 2 == 1) != is_alive)
        atomic_fetch_add(&context->serial, 1);
}

void client_contexts_end(struct client_worker *worker)
{
    for (unsigned i = 0; i < WORKER_CONTEXTS; i++)
        set_alive(&worker->contexts[i], false);
}

/* --- the stack -------------------------------------------------------------------------------- */

CUcontext client_current(void)
{
    const struct client_thread *thread = client_thread();

    return thread && thread->depth ? thread->contexts[thread->depth - 1] : NULL;
}

pool_cu_result client_current_worker(struct client_worker **worker)
{
    CUcontext current;
    unsigned number;
    pool_cu_result code = call_check();

    if (code)
        return code;
    current = client_current();
    return current ? client_context_find(current, worker, &number) : POOL_CU_INVALID_CONTEXT;
}

static pool_cu_result push(CUcontext context)
{
    struct client_thread *thread = client_thread();

    if (!thread)
        return POOL_CU_OUT_OF_MEMORY;
    if (thread->depth == thread->capacity) {
        size_t capacity = thread->capacity ? thread->capacity * 2 : 8;
        CUcontext *contexts = base_realloc(thread->contexts, capacity, sizeof(*contexts));

        if (!contexts)
            return POOL_CU_OUT_OF_MEMORY;
        thread->contexts = contexts;
        thread->capacity = capacity;
    }
    thread->contexts[thread->depth++] = context;
    return POOL_CU_SUCCESS;
}

static void pop(void)
{
    client_thread()->depth--;
}

/* As a context that may become current: a lost worker's context may, so that scopes stay balanced,
 * and an ended green one, as with a driver. */
static pool_cu_result check_context(CUcontext context)
{
    struct client_worker *worker;
    unsigned number;
    struct client_handle read = client_handle_read(context);
    pool_cu_result code = client_context_find(context, &worker, &number);

    if (read.kind == WORKER_CONTEXT && code != POOL_CU_INVALID_CONTEXT &&
        (code != POOL_CU_CONTEXT_IS_DESTROYED || atomic_load(&worker->contexts[number].is_green)))
        return POOL_CU_SUCCESS;
    return code;
}

pool_cu_result client_cu_CtxPushCurrent(CUcontext context)
{
    pool_cu_result code = call_check();

    if (!code)
        code = context ? check_context(context) : POOL_CU_INVALID_VALUE;
    return code ? code : push(context);
}

pool_cu_result client_cu_CtxPopCurrent(CUcontext *context)
{
    pool_cu_result code = call_check();
    CUcontext top;

    if (code)
        return code;
    top = client_current();
    if (!top)
        return POOL_CU_INVALID_CONTEXT;
    pop();
    if (context)
        *context = top;
    return POOL_CU_SUCCESS;
}

pool_cu_result client_cu_CtxSetCurrent(CUcontext context)
{
    pool_cu_result code = call_check();

    if (!code && context)
        code = check_context(context);
    if (code)
        return code;
    if (client_current())
        pop();
    return context ? push(context) : POOL_CU_SUCCESS;
}

pool_cu_result client_cu_CtxGetCurrent(CUcontext *context)
{
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!context)
        return POOL_CU_INVALID_VALUE;
    *context = client_current();
    return POOL_CU_SUCCESS;
}

pool_cu_result client_cu_CtxGetDevice(CUdevice *device)
{
    pool_cu_result code = call_check();
    CUcontext current;

    if (code)
        return code;
    current = client_current();
    if (!current)
        return POOL_CU_INVALID_CONTEXT;
    code = check_context(current);
    if (code)
        return code;
    if (!device)
        return POOL_CU_INVALID_VALUE;
    *device = (CUdevice)client_handle_read(current).worker;
    return POOL_CU_SUCCESS;
}

/* The process, the number and how often that was reused. */
pool_cu_result client_cu_CtxGetId(CUcontext context, unsigned long long *id)
{
    CUcontext asked = context ? context : client_current();
    struct client_worker *worker;
    unsigned number;
    pool_cu_result code = call_check();

    if (!code)
        code = asked ? client_context_find(asked, &worker, &number) : POOL_CU_INVALID_CONTEXT;
    if (code)
        return code;
    if (!id)
        return POOL_CU_INVALID_VALUE;
    *id = (unsigned long long)(worker->ordinal + 1) << 56 |
          (unsigned long long)(atomic_load(&worker->generation) & 0xffff) << 40 |
          context_id(number, atomic_load(&worker->contexts[number].serial));
    return POOL_CU_SUCCESS;
}

/* --- creation and destruction ----------------------------------------------------------------- */

/* Runs a call that retains or releases the primary context. Threads do so one after another:
 * whether it is alive is what the last of their calls in the worker has left. */
static pool_cu_result run_primary(struct client_call *call)
{
    struct client_worker *worker = call->worker; /* NULL: the device is none */
    pool_cu_result code;

    if (!worker)
        return call_run(call);
    pthread_mutex_lock(&worker->primary_lock);
    code = call_run(call);
    if (!code) {
        bool is_alive = call->function == WORKER_DevicePrimaryCtxRetain || call_result(call);

        pthread_mutex_lock(&worker->lock);
        if (atomic_load(&worker->generation) == call->generation) /* its process has not ended */
            set_alive(&worker->contexts[0], is_alive);
        pthread_mutex_unlock(&worker->lock);
    }
    pthread_mutex_unlock(&worker->primary_lock);
    return code;
}

pool_cu_result client_cu_DevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    struct client_call call;
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!context)
        return POOL_CU_INVALID_VALUE;
    call_begin(&call, WORKER_DevicePrimaryCtxRetain, CLIENT_WAIT);
    call_device(&call, device);
    call.message.words[call.count - 1] = 1;
    code = run_primary(&call);
    if (code)
        return code;
    *context = client_handle_make(
        WORKER_CONTEXT, (unsigned)call.worker->ordinal, call.generation, context_id(0, 0));
    return POOL_CU_SUCCESS;
}

pool_cu_result client_cu_DevicePrimaryCtxRelease(CUdevice device)
{
    struct client_call call;
    pool_cu_result code = call_check();

    if (code)
        return code;
    call_begin(&call, WORKER_DevicePrimaryCtxRelease, CLIENT_END);
    call_device(&call, device);
    /* The worker's predecessor had the context. */
    if (call.worker && call.generation > 1 &&
        atomic_load(&call.worker->contexts[0].serial) % 2 == 0)
        return POOL_CU_SUCCESS;
    return run_primary(&call);
}

/* Ends a context, unless its process has ended, and with it all its contexts. */
static void end_context(struct client_worker *worker, unsigned number, unsigned generation)
{
    pthread_mutex_lock(&worker->lock);
    if ((atomic_load(&worker->generation) & 0xffff) == (generation & 0xffff))
        set_alive(&worker->contexts[number], false);
    pthread_mutex_unlock(&worker->lock);
}

/* A number that no context of the worker has. With its lock held, as all numbers are free again
 * when another process of the worker becomes ready. */
static unsigned find_number(const struct client_worker *worker)
{
    unsigned number = 1;

    while (number < WORKER_CONTEXTS && atomic_load(&worker->contexts[number].serial) % 2)
        number++;
    return number;
}

/* The number of a context to be created by this process of the worker. */
static pool_cu_result claim_number(
    struct client_worker *worker, unsigned generation, unsigned *number)
{
    pool_cu_result code = POOL_CU_SUCCESS;

    pthread_mutex_lock(&worker->lock);
    *number = find_number(worker);
    if (atomic_load(&worker->generation) != generation)
        code = client_lost_code(worker);
    else if (*number == WORKER_CONTEXTS)
        code = POOL_CU_OUT_OF_MEMORY;
    else {
        atomic_store(&worker->contexts[*number].is_green, false);
        set_alive(&worker->contexts[*number], true);
    }
    pthread_mutex_unlock(&worker->lock);
    return code;
}

pool_cu_result client_cu_CtxCreate(CUcontext *context, unsigned int flags, CUdevice device)
{
    struct client_worker *worker;
    struct client_call call;
    CUcontext created;
    unsigned number;
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!context)
        return POOL_CU_INVALID_VALUE;
    if (device < 0 || (unsigned)device >= client->count)
        return POOL_CU_INVALID_DEVICE;
    worker = &client->workers[device];
    if (!atomic_load(&worker->generation) && client_wait_ready(worker))
        return client_lost_code(worker);
    call_begin(&call, WORKER_CtxCreate, CLIENT_WAIT);
    call_device(&call, device);
    code = claim_number(worker, call.generation, &number);
    if (code)
        return code;
    call.message.words[call.count - 1] = 1;
    call_word(&call, number);
    call_word(&call, flags);
    code = call_run(&call);
    if (code) {
        end_context(worker, number, call.generation);
        return code;
    }
    created = client_handle_make(WORKER_CONTEXT, (unsigned)device, call.generation,
        context_id(number, atomic_load(&worker->contexts[number].serial)));
    code = push(created);
    if (code)
        (void)client_cu_CtxDestroy(created);
    else
        *context = created;
    return code;
}

pool_cu_result client_cu_CtxDestroy(CUcontext context)
{
    struct client_worker *worker;
    struct client_call call;
    unsigned number;
    pool_cu_result code = call_check();

    if (code)
        return code;
    code = context ? client_context_find(context, &worker, &number) : POOL_CU_INVALID_VALUE;
    if (code)
        return code;
    call_begin(&call, WORKER_CtxDestroy, CLIENT_END);
    call_context(&call, context);
    code = call_run(&call);
    if (code)
        return code;
    end_context(worker, number, call.generation);
    if (client_current() == context)
        pop();
    return POOL_CU_SUCCESS;
}

/* --- green contexts --------------------------------------------------------------------------- */

bool client_in_ended_green(void)
{
    CUcontext current = client_current();
    struct client_worker *worker;
    unsigned number;

    return current &&
           client_context_find(current, &worker, &number) == POOL_CU_CONTEXT_IS_DESTROYED &&
           atomic_load(&worker->contexts[number].is_green);
}

/* A number is claimed for the context; that of an earlier call for the same one is used instead. */
pool_cu_result client_cu_CtxFromGreenCtx(CUcontext *context, CUgreenCtx green)
{
    const struct client_handle handle = client_handle_read(green);
    struct client_worker *worker;
    struct client_call call;
    unsigned generation, number;
    uint64_t used;
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (handle.kind != WORKER_GREEN || handle.worker >= client->count)
        return POOL_CU_INVALID_CONTEXT;
    if (!context)
        return POOL_CU_INVALID_VALUE;
    worker = &client->workers[handle.worker];
    generation = atomic_load(&worker->generation);
    if ((generation & 0xffff) != handle.generation)
        return client_lost_code(worker);
    code = claim_number(worker, generation, &number);
    if (code)
        return code;
    call_begin(&call, WORKER_CtxFromGreenCtx, CLIENT_WAIT);
    call_handle(&call, WORKER_GREEN, green);
    call_word(&call, number);
    code = call_run(&call);
    used = code ? WORKER_CONTEXTS : call_result(&call);
    if (used != number)
        end_context(worker, number, generation);
    if (used >= WORKER_CONTEXTS)
        return code ? code : POOL_CU_INVALID_CONTEXT;
    atomic_store(&worker->contexts[used].is_green, true);
    *context = client_context_handle(worker, (unsigned)used);
    return POOL_CU_SUCCESS;
}

/* The primary context ends with it if nothing else keeps that. */
pool_cu_result client_cu_GreenCtxDestroy(CUgreenCtx green)
{
    struct client_call call;
    uint64_t number;
    pool_cu_result code = call_check();

    if (code)
        return code;
    call_begin(&call, WORKER_GreenCtxDestroy, CLIENT_END);
    call_handle(&call, WORKER_GREEN, green);
    if (!call.worker || call.code)
        return POOL_CU_INVALID_CONTEXT;
    pthread_mutex_lock(&call.worker->primary_lock);
    code = call_run(&call);
    number = code ? 0 : call_result(&call);
    if (number && number <= WORKER_CONTEXTS)
        end_context(call.worker, (unsigned)number - 1, call.generation);
    if (!code && call.reply.bytes && !call_result(&call))
        end_context(call.worker, 0, call.generation);
    pthread_mutex_unlock(&call.worker->primary_lock);
    return code;
}
