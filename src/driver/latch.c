/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault latch. A sticky fault poisons every context of the process on every device for good, so
 * the first one is stored with its cause, listeners are notified once, and every later call fails.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/status.h"
#include "driver/internal.h"
#include "driver/work.h"

struct driver_listener {
    driver_fault_listener call;
    void *user;
    bool is_notified;
    struct driver_listener *next;
};

static pthread_cond_t listener_returned = PTHREAD_COND_INITIALIZER; /* a listener has returned */

static void reinit_listeners(void)
{
    listener_returned = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

static struct base_lock state_lock = BASE_LOCK_INIT_REINIT(reinit_listeners);

void driver_state_lock(void)
{
    base_lock(&state_lock);
}

void driver_state_unlock(void)
{
    base_unlock(&state_lock);
}

static pool_status poisoned_failure(const struct driver *driver, const char *call)
{
    return base_fail_driver(POOL_ERR_PROCESS_POISONED, driver->fault.code,
        driver_code_name((pool_cu_result)driver->fault.code), call,
        "a sticky fault has ended this process's use of every GPU, only a new process can "
        "continue; "
        "the first cause: %s",
        driver->fault.message);
}

static pool_status forked_failure(const char *call)
{
    return base_fail_driver(POOL_ERR_FORKED, 0, "", call,
        "CUDA does not work in a child of fork(): the driver was opened by the parent process; "
        "create pools after exec, or fork before the first pool is created");
}

pool_status driver_unusable(struct driver *driver)
{
    if (driver->generation != driver_fork_generation())
        return forked_failure("");
    if (atomic_load_explicit(&driver->poisoned, memory_order_acquire))
        return poisoned_failure(driver, "");
    return POOL_OK;
}

/* The name and explanation of a code, from the driver if the library's list lacks it. */
static const char *code_name(struct driver *driver, pool_cu_result code, const char **hint)
{
    const char *name = driver_code_name(code);
    const char *text = NULL;

    *hint = driver_code_hint(code);
    if (strchr(name, '?') && driver->api.GetErrorName(code, &text) == POOL_CU_SUCCESS && text) {
        name = text;
        text = NULL;
        if (driver->api.GetErrorString(code, &text) == POOL_CU_SUCCESS && text)
            *hint = text;
    }
    return name;
}

/* A driver call as a string, "cuMemAlloc(2 GiB)", and the device whose context it used. */
struct call_text {
    char call[128];
    int device; /* ordinal, -1: not known, or the call needs no context */
    char where[32];
};

/* Calls whose failure does not concern the device whose context is current. */
static int is_without_context(const char *call)
{
    static const char *const prefixes[] = {"cuInit", "cuDriver", "cuDevice", "cuPointer",
        "cuCtxCreate", "cuCtxPush", "cuCtxPop", "cuCtxGet", "cuCtxSet"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(call, prefixes[i], strlen(prefixes[i])) == 0)
            return 1;
    return 0;
}

/* The device is queried later: a forked or poisoned process must not call the driver. */
static void describe_call(
    struct call_text *text, const char *call, const char *values, va_list arguments)
{
    int length = (int)strcspn(call, "(");

    text->device = -1;
    text->where[0] = '\0';
    snprintf(text->call, sizeof(text->call), "%.*s", length, call);
    if (values) {
        size_t used = strlen(text->call);
        char list[sizeof(text->call)];

        vsnprintf(list, sizeof(list), values, arguments);
        snprintf(text->call + used, sizeof(text->call) - used, "(%.*s)",
            (int)(sizeof(text->call) - used - 3), list);
    }
}

static void describe_device(struct driver *driver, struct call_text *text)
{
    CUdevice device;

    if (is_without_context(text->call) || driver->api.CtxGetDevice(&device) != POOL_CU_SUCCESS)
        return;
    text->device = device;
    snprintf(text->where, sizeof(text->where), " on device %d", device);
}

static void fill_fault(struct driver *driver, pool_cu_result code, const struct call_text *call)
{
    struct driver_fault *fault = &driver->fault;
    const char *hint = driver_code_hint(code);

    fault->code = (int)code;
    fault->device = call->device;
    fault->unix_time = (uint64_t)time(NULL);
    snprintf(fault->name, sizeof(fault->name), "%s", driver_code_name(code));
    snprintf(fault->call, sizeof(fault->call), "%s", call->call);
    snprintf(fault->message, sizeof(fault->message), "%s%s failed: %s (%u)%s%s", fault->call,
        call->where, fault->name, code, hint[0] ? ": " : "", hint);
    driver_work_explain(driver, fault);
}

/* Calls the listeners one after another; the list may change between two of them. */
static void notify_listeners(struct driver *driver)
{
    struct driver_listener *listener;

    driver_state_lock();
    driver->caller = pthread_self();
    for (;;) {
        for (listener = driver->listeners; listener && listener->is_notified;)
            listener = listener->next;
        if (!listener)
            break;
        driver_fault_listener call = listener->call;
        void *user = listener->user;

        listener->is_notified = true;
        driver->calling = listener;
        driver_state_unlock();
        call(user, &driver->fault);
        driver_state_lock();
        driver->calling = NULL;
        pthread_cond_broadcast(&listener_returned);
    }
    driver_state_unlock();
}

static void latch(struct driver *driver, pool_cu_result code, const struct call_text *call)
{
    int is_first;

    driver_state_lock();
    is_first = !atomic_load_explicit(&driver->poisoned, memory_order_relaxed);
    if (is_first) {
        fill_fault(driver, code, call);
        atomic_store_explicit(&driver->poisoned, 1, memory_order_release);
    }
    driver_state_unlock();
    if (is_first)
        notify_listeners(driver);
}

/*
 * The code that sets the latch: `code` itself if its class is PROCESS; for UNKNOWN the code that a
 * probe of the current context returns; SUCCESS if the latch is not set.
 */
static pool_cu_result latching_code(struct driver *driver, pool_cu_result code)
{
    size_t free_bytes, total_bytes;

    if (code == POOL_CU_UNKNOWN) {
        code = driver->api.MemGetInfo(&free_bytes, &total_bytes);
        if (code == POOL_CU_UNKNOWN)
            return code;
    }
    return driver_status_of(code) == POOL_ERR_PROCESS_POISONED ? code : POOL_CU_SUCCESS;
}

/* --- devices in processes of their own -------------------------------------------------------- */

/* Whether the code means that the device's process has ended or is going to. */
static bool is_loss(pool_cu_result code)
{
    return code == DRIVER_CODE_LOST || driver_code_class(code) == POOL_CLASS_PROCESS;
}

static pool_status lost_failure(
    struct driver *driver, pool_cu_result code, const struct call_text *call)
{
    const char *name = code == DRIVER_CODE_LOST ? "POOL_WORKER_LOST" : driver_code_name(code);
    void (*explain)(int device, char *text, size_t size) = atomic_load(&driver->explain_loss);
    char cause[1024] = "";

    /* Not always the current device's: a copy has two. */
    if (explain)
        explain(-1, cause, sizeof(cause));
    if (explain && !cause[0])
        explain(call->device, cause, sizeof(cause));
    return base_fail_driver(POOL_ERR_DEVICE_LOST, (int)code, name, call->call,
        "%s%s failed: the worker process of the device is lost%s%s", call->call, call->where,
        cause[0] ? ": " : "", cause);
}

/* The device's process cannot use it any more, as after a fault: ends that process only. */
static pool_status end_process(
    struct driver *driver, pool_cu_result code, const struct call_text *call)
{
    void (*end)(int device, const char *cause) = atomic_load(&driver->end_process);
    char cause[320];

    snprintf(cause, sizeof(cause), "%s failed: %s (%u), as do other calls since", call->call,
        driver_code_name(code), code);
    if (end)
        end(call->device, cause);
    return lost_failure(driver, code, call);
}

static pool_status check_failed(struct driver *driver, pool_cu_result code, struct call_text *call)
{
    bool is_isolated = driver->api.flags & POOL_CUDA_ISOLATED_DEVICES;
    pool_cu_result latching;
    const char *name, *hint;

    driver_fork_check();
    if (driver->generation != driver_fork_generation())
        return forked_failure(call->call);
    if (atomic_load_explicit(&driver->poisoned, memory_order_acquire))
        return poisoned_failure(driver, call->call);
    describe_device(driver, call);
    if (is_isolated && is_loss(code))
        return lost_failure(driver, code, call);
    latching = latching_code(driver, code);
    if (latching != POOL_CU_SUCCESS && is_isolated)
        return end_process(driver, latching, call);
    if (latching != POOL_CU_SUCCESS) {
        latch(driver, latching, call);
        return poisoned_failure(driver, call->call);
    }
    name = code_name(driver, code, &hint);
    return base_fail_driver(driver_status_of(code), (int)code, name, call->call,
        "%s%s failed: %s (%u)%s%s", call->call, call->where, name, code, hint[0] ? ": " : "", hint);
}

pool_status driver_check_failed_for(
    struct driver *driver, pool_cu_result code, const char *call, const char *values, ...)
{
    struct call_text text;
    va_list arguments;

    va_start(arguments, values);
    describe_call(&text, call, values, arguments);
    va_end(arguments);
    return check_failed(driver, code, &text);
}

pool_status driver_check_failed(struct driver *driver, pool_cu_result code, const char *call)
{
    return driver_check_failed_for(driver, code, call, NULL);
}

pool_status driver_listen(struct driver *driver, driver_fault_listener listener, void *user)
{
    struct driver_listener *added = base_calloc(1, sizeof(*added));
    int is_late;

    if (!added)
        return base_fail_memory("a fault listener");
    added->call = listener;
    added->user = user;
    driver_state_lock();
    is_late = atomic_load_explicit(&driver->poisoned, memory_order_relaxed);
    if (!is_late) {
        added->next = driver->listeners;
        driver->listeners = added;
    }
    driver_state_unlock();
    if (!is_late)
        return POOL_OK;
    base_free(added);
    return poisoned_failure(driver, "");
}

void driver_unlisten(struct driver *driver, driver_fault_listener listener, void *user)
{
    struct driver_listener **link, *removed;

    driver_fork_check();
    driver_state_lock();
    for (;;) {
        link = &driver->listeners;
        while (*link && ((*link)->call != listener || (*link)->user != user))
            link = &(*link)->next;
        removed = *link;
        if (!removed || removed != driver->calling ||
            driver->generation != driver_fork_generation() ||
            pthread_equal(driver->caller, pthread_self()))
            break;
        pthread_cond_wait(&listener_returned, &state_lock.mutex);
    }
    if (removed)
        *link = removed->next;
    driver_state_unlock();
    base_free(removed);
}
