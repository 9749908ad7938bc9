/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding: push on bind, pop on unbind, and for each thread a record of what it bound, so that
 * pairs that do not match are noticed and a pool knows what keeps it from being destroyed.
 *
 * A record costs no driver call: bind is the driver's push, unbind its pop. What came off is looked
 * at afterwards and put back when it was not ours.
 */
#include <pthread.h>

#include "base/alloc.h"
#include "base/status.h"
#include "pool/pool.h"

/* Nesting deeper than this takes more memory; nothing known nests deeper than three. */
#define FIRST_ROOM 8

/* What one thread has bound, the last one on top. */
struct binding_stack {
    pool_device **devices;
    unsigned depth;
    unsigned room;
    unsigned generation; /* a forked child starts with nothing bound */
};

static _Thread_local struct binding_stack *thread_stack __attribute__((tls_model("initial-exec")));
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t stack_key;
static int has_key;

/*
 * Thread exit: the thread's context stack ends with it, so only the books are put right. Pools with
 * bindings are never destroyed, so the devices are still there; in a forked child they may not be.
 */
static void close_stack(void *value)
{
    struct binding_stack *stack = value;

    if (stack->generation == driver_fork_generation())
        for (unsigned i = 0; i < stack->depth; i++)
            atomic_fetch_sub_explicit(&stack->devices[i]->bindings, 1, memory_order_release);
    base_free(stack->devices);
    base_free(stack);
    thread_stack = NULL;
}

static void make_key(void)
{
    has_key = pthread_key_create(&stack_key, close_stack) == 0;
}

static pool_status open_stack(void)
{
    struct binding_stack *stack;

    pthread_once(&key_once, make_key);
    stack = base_calloc(1, sizeof(*stack));
    if (!has_key || !stack || pthread_setspecific(stack_key, stack)) {
        base_free(stack);
        return base_fail_memory("the thread's record of bindings");
    }
    stack->generation = driver_fork_generation();
    thread_stack = stack;
    return POOL_OK;
}

/* Room for one more binding, made before anything is pushed. */
static pool_status make_room(void)
{
    pool_device **devices;
    unsigned room;
    pool_status status = thread_stack ? POOL_OK : open_stack();

    if (status)
        return status;
    if (thread_stack->generation != driver_fork_generation()) {
        thread_stack->generation = driver_fork_generation();
        thread_stack->depth = 0;
    }
    if (thread_stack->depth < thread_stack->room)
        return POOL_OK;
    room = thread_stack->room ? 2 * thread_stack->room : FIRST_ROOM;
    devices = base_realloc(thread_stack->devices, room, sizeof(*devices));
    if (!devices)
        return base_fail_memory("the thread's record of bindings");
    thread_stack->devices = devices;
    thread_stack->room = room;
    return POOL_OK;
}

/* The device that this thread bound last, or NULL. */
static pool_device *top_of_stack(void)
{
    const struct binding_stack *stack = thread_stack;

    if (!stack || !stack->depth || stack->generation != driver_fork_generation())
        return NULL;
    return stack->devices[stack->depth - 1];
}

static void forget_top(void)
{
    pool_device *device = thread_stack->devices[--thread_stack->depth];

    atomic_fetch_sub_explicit(&device->bindings, 1, memory_order_release);
}

pool_status pool_bind(pool_device *device)
{
    CUcontext context;
    pool_cu_result code;
    pool_status status;

    if (!device)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_bind: the device is NULL");
    status = device_context_get(device, &context);
    if (status)
        return status;
    if (__builtin_expect(!thread_stack || thread_stack->depth == thread_stack->room ||
                             thread_stack->generation != device->pool->generation,
            0)) {
        status = make_room();
        if (status)
            return status;
    }
    code = device->driver->api.CtxPushCurrent(context);
    if (__builtin_expect(code != POOL_CU_SUCCESS, 0))
        return device_judge(
            device, driver_check(device->driver, code, "cuCtxPushCurrent(context)"));
    thread_stack->devices[thread_stack->depth++] = device;
    atomic_fetch_add_explicit(&device->bindings, 1, memory_order_relaxed);
    return POOL_OK;
}

/* Once the process is lost the driver's answers do not count: the books are closed all the same. */
static pool_status unbind_lost(pool_device *device)
{
    CUcontext popped = NULL;
    pool_status status = device_pool_refusal(device->pool);

    if (status == POOL_ERR_FORKED)
        return status;
    device->driver->api.CtxPopCurrent(&popped);
    if (popped && popped != atomic_load(&device->context))
        device->driver->api.CtxPushCurrent(popped);
    forget_top();
    return status;
}

pool_status pool_unbind(pool_device *device)
{
    pool_device *top = top_of_stack();
    pool_status status;
    int is_off;

    if (!device)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_unbind: the device is NULL");
    if (__builtin_expect(top != device, 0)) {
        status = device->pool->generation == driver_fork_generation()
                     ? POOL_OK
                     : device_pool_refusal(device->pool);
        if (status)
            return status;
        if (!top)
            return base_fail(POOL_ERR_UNBALANCED,
                "pool_unbind of device %d (%s): this thread has nothing bound",
                device->facts.ordinal, device->facts.uuid);
        return base_fail(POOL_ERR_UNBALANCED,
            "pool_unbind of device %d (%s): this thread bound device %d (%s) last, which has to be "
            "unbound first",
            device->facts.ordinal, device->facts.uuid, top->facts.ordinal, top->facts.uuid);
    }
    if (__builtin_expect(!device_pool_is_fit(device->pool), 0))
        return unbind_lost(device);
    status = device_context_pop(
        device->driver, atomic_load_explicit(&device->context, memory_order_relaxed), &is_off);
    if (is_off)
        forget_top();
    return status;
}

pool_status device_or_bound(pool_device *wanted, pool_device **device)
{
    pool_device *found = wanted ? wanted : top_of_stack();

    if (!found)
        return base_fail(POOL_ERR_NOT_BOUND,
            "no device was named and this thread has none bound: pool_bind comes first");
    *device = found;
    return POOL_OK;
}

/* What the task bound and did not unbind would leave the thread on the wrong device. */
static pool_status take_off_leftovers(unsigned depth)
{
    unsigned left = 0;

    while (thread_stack->depth > depth) {
        unsigned before = thread_stack->depth;

        pool_unbind(top_of_stack());
        if (thread_stack->depth == before)
            break;
        left++;
    }
    return left ? base_fail(POOL_ERR_UNBALANCED,
                      "pool_run_on: the task returned with %u bindings of its own, now taken off",
                      left)
                : POOL_OK;
}

pool_status pool_run_on(pool_device *device, pool_task task, void *arg)
{
    struct base_error_copy first;
    pool_status status, unbound;
    unsigned depth;

    if (!device || !task)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_run_on: device or task is NULL");
    status = pool_bind(device);
    if (status)
        return status;
    depth = thread_stack->depth;
    status = task(device, arg);
    if (status)
        base_error_save(&first);
    unbound = take_off_leftovers(depth);
    if (thread_stack->depth == depth) {
        pool_status last = pool_unbind(device);

        unbound = unbound ? unbound : last;
    } else if (!unbound) {
        unbound = base_fail(POOL_ERR_UNBALANCED,
            "pool_run_on: the task took the binding of device %d (%s) off", device->facts.ordinal,
            device->facts.uuid);
    }
    if (!status)
        return unbound;
    base_error_restore(&first);
    return status;
}

unsigned device_pool_bindings(const device_pool *pool)
{
    unsigned count = 0;

    for (size_t i = 0; i < pool->count; i++)
        count += atomic_load_explicit(&pool->devices[i].bindings, memory_order_acquire);
    return count;
}
