/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding: bind pushes the device's context and unbind pops it. A record per thread of the devices
 * that it has bound detects unbalanced pairs and the bindings that prevent a pool's destruction.
 *
 * A pair makes two driver calls, push and pop, but for a query now and then: the popped context is
 * compared afterwards and pushed back if it is another one. A pair makes no atomic addition, for
 * which threads that bind the same device would contend: each thread writes only its own record,
 * and device_pool_bindings reads all records.
 */
#include <pthread.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/pool.h"

/* The record grows beyond this depth; no known program nests deeper than three. */
#define FIRST_CAPACITY 8

/* The devices that one thread has bound, the last one on top. Only that thread writes it. */
struct binding_stack {
    _Atomic(pool_device *) *devices; /* replaced under stacks_lock */
    atomic_uint depth;
    unsigned capacity;
    atomic_uint generation; /* a forked child starts with nothing bound */
    struct binding_stack *next;
    struct binding_stack **link; /* the pointer to this record */
};

static _Thread_local struct binding_stack *thread_stack __attribute__((tls_model("initial-exec")));
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t stack_key;
static int has_key;
static struct base_lock stacks_lock = BASE_LOCK_INIT;
static struct binding_stack *stacks; /* guarded by stacks_lock */

static unsigned depth_of(const struct binding_stack *stack)
{
    return atomic_load_explicit(&stack->depth, memory_order_relaxed);
}

static pool_device *entry_of(const struct binding_stack *stack, unsigned index)
{
    return atomic_load_explicit(&stack->devices[index], memory_order_relaxed);
}

static int is_of_this_process(const struct binding_stack *stack)
{
    return atomic_load_explicit(&stack->generation, memory_order_relaxed) ==
           driver_fork_generation();
}

/* Thread exit: the driver discards the thread's context stack, so only the record is removed. */
static void close_stack(void *value)
{
    struct binding_stack *stack = value;

    base_lock(&stacks_lock);
    *stack->link = stack->next;
    if (stack->next)
        stack->next->link = stack->link;
    base_unlock(&stacks_lock);
    thread_stack = NULL;
    base_free(stack->devices);
    base_free(stack);
}

static void create_key(void)
{
    has_key = pthread_key_create(&stack_key, close_stack) == 0;
}

static pool_status open_stack(void)
{
    struct binding_stack *stack;

    pthread_once(&key_once, create_key);
    stack = base_calloc(1, sizeof(*stack));
    if (!has_key || !stack || pthread_setspecific(stack_key, stack)) {
        base_free(stack);
        return base_fail_memory("the thread's record of bindings");
    }
    atomic_store(&stack->generation, driver_fork_generation());
    base_lock(&stacks_lock);
    stack->next = stacks;
    stack->link = &stacks;
    if (stacks)
        stacks->link = &stack->next;
    stacks = stack;
    base_unlock(&stacks_lock);
    thread_stack = stack;
    return POOL_OK;
}

static pool_status grow_stack(struct binding_stack *stack)
{
    unsigned capacity = stack->capacity ? 2 * stack->capacity : FIRST_CAPACITY;
    _Atomic(pool_device *) *devices;

    base_lock(&stacks_lock);
    devices = base_realloc(stack->devices, capacity, sizeof(*devices));
    if (devices) {
        stack->devices = devices;
        stack->capacity = capacity;
    }
    base_unlock(&stacks_lock);
    return devices ? POOL_OK : base_fail_memory("the thread's record of bindings");
}

/* Allocates the entry of one more binding, before anything is pushed. */
static pool_status reserve_entry(void)
{
    pool_status status = thread_stack ? POOL_OK : open_stack();

    if (status)
        return status;
    if (!is_of_this_process(thread_stack)) {
        atomic_store(&thread_stack->depth, 0);
        atomic_store(&thread_stack->generation, driver_fork_generation());
    }
    return depth_of(thread_stack) < thread_stack->capacity ? POOL_OK : grow_stack(thread_stack);
}

/* The device that this thread bound last, or NULL. */
static pool_device *top_of_stack(void)
{
    const struct binding_stack *stack = thread_stack;

    if (!stack || !depth_of(stack) || !is_of_this_process(stack))
        return NULL;
    return entry_of(stack, depth_of(stack) - 1);
}

static void push_entry(struct binding_stack *stack, pool_device *device)
{
    unsigned depth = depth_of(stack);

    atomic_store_explicit(&stack->devices[depth], device, memory_order_relaxed);
    atomic_store_explicit(&stack->depth, depth + 1, memory_order_release);
}

static void pop_entry(void)
{
    atomic_store_explicit(&thread_stack->depth, depth_of(thread_stack) - 1, memory_order_release);
}

/*
 * On a GPU the push of a context that another part of the process has ended succeeds. The query of
 * its id would nearly double the time of a pair, so one thread makes it per tick of the coarse
 * clock (a few milliseconds).
 */
static pool_status verify_now_and_then(pool_device *device, CUcontext context)
{
    uint64_t now = base_clock_coarse_ns();

    if (device->driver->api.flags & POOL_CUDA_ISOLATED_DEVICES ||
        now == atomic_load_explicit(&device->verified_ns, memory_order_relaxed))
        return POOL_OK;
    atomic_store_explicit(&device->verified_ns, now, memory_order_relaxed);
    return device_verify_context(device, context);
}

static pool_status unbind_ended(pool_device *device)
{
    CUcontext popped;

    (void)device->driver->api.CtxPopCurrent(&popped);
    pop_entry();
    return device_refuse(device, DEVICE_USE_CALLS);
}

static pool_status bind(pool_device *device)
{
    CUcontext context;
    pool_cu_result code;
    pool_status status = device_context_get(device, &context);

    if (!status)
        status = verify_now_and_then(device, context);
    if (status)
        return status;
    if (__builtin_expect(!thread_stack || depth_of(thread_stack) == thread_stack->capacity ||
                             !is_of_this_process(thread_stack),
            0)) {
        status = reserve_entry();
        if (status)
            return status;
    }
    code = device->driver->api.CtxPushCurrent(context);
    if (__builtin_expect(code != POOL_CU_SUCCESS, 0))
        return device_classify(device, DRIVER_CHECK_FOR(device->driver, code, "cuCtxPushCurrent",
                                           "device %d", device->properties.ordinal));
    push_entry(thread_stack, device);
    /* The device was lost and came back meanwhile, which it does not while bindings exist. */
    if (__builtin_expect(
            atomic_load_explicit(&device->context, memory_order_acquire) != context, 0))
        return unbind_ended(device);
    return POOL_OK;
}

pool_status pool_bind(pool_device *device)
{
    pool_status status;
    int is_inside;

    if (!device)
        return base_fail_null("pool_bind", "device");
    /* Only the context itself is used in a process of its own: a pair makes no atomic addition. */
    device_expect_use(device);
    is_inside =
        device->driver->api.flags & POOL_CUDA_ISOLATED_DEVICES ? device_count_inside(device) : 0;
    status = bind(device);
    device_count_outside(device, is_inside);
    return status;
}

/* In a poisoned process the driver's results are ignored; the record is updated all the same. */
static pool_status unbind_poisoned(pool_device *device)
{
    CUcontext popped = NULL;
    pool_status status = device_pool_check(device->pool, DEVICE_USE_DRIVER);

    if (status == POOL_ERR_FORKED)
        return status;
    device->driver->api.CtxPopCurrent(&popped);
    if (popped && popped != atomic_load(&device->context))
        device->driver->api.CtxPushCurrent(popped);
    pop_entry();
    return status;
}

pool_status pool_unbind(pool_device *device)
{
    pool_device *top = top_of_stack();
    pool_status status;
    int is_off;

    if (!device)
        return base_fail_null("pool_unbind", "device");
    if (__builtin_expect(top != device, 0)) {
        status = device_check(device, DEVICE_USE_HOST);
        if (status)
            return status;
        if (!top)
            return base_fail(POOL_ERR_UNBALANCED,
                "pool_unbind of device %d (%s): this thread has nothing bound",
                device->properties.ordinal, device->properties.uuid);
        return base_fail(POOL_ERR_UNBALANCED,
            "pool_unbind of device %d (%s): this thread bound device %d (%s) last, which must be "
            "unbound first",
            device->properties.ordinal, device->properties.uuid, top->properties.ordinal,
            top->properties.uuid);
    }
    if (__builtin_expect(!device_pool_usable(device->pool, DEVICE_USE_DRIVER), 0))
        return unbind_poisoned(device);
    status = device_context_pop(
        device->driver, atomic_load_explicit(&device->context, memory_order_relaxed), &is_off);
    if (__builtin_expect(status != POOL_OK, 0))
        status = device_classify(device, status);
    /* An ended context may have left the stack without us. */
    if (is_off || device_has_lost_context(device))
        pop_entry();
    return status;
}

pool_status device_or_bound(pool_device *wanted, pool_device **device)
{
    pool_device *found = wanted ? wanted : top_of_stack();

    if (!found)
        return base_fail(POOL_ERR_NOT_BOUND,
            "device is NULL and this thread has no device bound: call pool_bind first");
    *device = found;
    return POOL_OK;
}

/* Bindings that the task did not undo would leave the wrong device current on the thread. */
static pool_status unbind_leftovers(unsigned depth)
{
    unsigned left = 0;

    while (depth_of(thread_stack) > depth) {
        unsigned before = depth_of(thread_stack);

        pool_unbind(top_of_stack());
        if (depth_of(thread_stack) == before)
            break;
        left++;
    }
    return left ? base_fail(POOL_ERR_UNBALANCED,
                      "pool_run_on: the task returned without unbinding %u of its bindings; they "
                      "were unbound",
                      left)
                : POOL_OK;
}

pool_status pool_run_on(pool_device *device, pool_task task, void *arg)
{
    struct base_error_copy first;
    pool_status status, unbound;
    unsigned depth;

    status = base_check_pointers("pool_run_on", {"device", device}, {"task", task});
    if (status)
        return status;
    status = pool_bind(device);
    if (status)
        return status;
    depth = depth_of(thread_stack);
    status = task(device, arg);
    if (status < 0 && pool_last_error()->status != status)
        (void)base_fail_quietly(status, "pool_run_on: the task returned %s without a message",
            pool_status_name(status));
    if (status)
        base_error_save(&first);
    unbound = unbind_leftovers(depth);
    if (depth_of(thread_stack) == depth) {
        pool_status last = pool_unbind(device);

        unbound = unbound ? unbound : last;
    } else if (!unbound) {
        unbound = base_fail(POOL_ERR_UNBALANCED,
            "pool_run_on: the task unbound device %d (%s), which pool_run_on had bound",
            device->properties.ordinal, device->properties.uuid);
    }
    if (!status)
        return unbound;
    base_error_restore(&first);
    return status;
}

unsigned device_pool_bindings(const device_pool *pool, uint32_t *by_device)
{
    uintptr_t first = (uintptr_t)pool->devices, end = (uintptr_t)(pool->devices + pool->count);
    unsigned count = 0;

    base_lock(&stacks_lock);
    for (const struct binding_stack *stack = stacks; stack; stack = stack->next) {
        unsigned depth = atomic_load_explicit(&stack->depth, memory_order_acquire);

        for (unsigned i = 0; i < depth && is_of_this_process(stack); i++) {
            const pool_device *device = entry_of(stack, i); /* once: the thread may replace it */

            if ((uintptr_t)device < first || (uintptr_t)device >= end)
                continue;
            count += !device_is_abandoned(device);
            if (by_device)
                by_device[device - pool->devices]++;
        }
    }
    base_unlock(&stacks_lock);
    return count;
}
