/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault latch. A sticky fault poisons every context of the process on every device for good, so
 * the first one is kept with its cause, everybody is told once, and every later call is refused.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/status.h"
#include "driver/internal.h"

struct driver_listener {
    driver_fault_listener call;
    void *user;
    int told;
    struct driver_listener *next;
};

static pthread_cond_t told_one = PTHREAD_COND_INITIALIZER; /* a listener has come back */

static void renew(void)
{
    told_one = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

static struct base_lock state_lock = BASE_LOCK_INIT_RENEW(renew);

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
    return base_fail_driver(POOL_ERR_PROCESS_POISONED, driver->fault.code, driver->fault.name, call,
        "a sticky fault has ended this process's use of every GPU, only a new process can go on; "
        "the first cause: %s",
        driver->fault.message);
}

static pool_status forked_failure(const char *call)
{
    return base_fail_driver(POOL_ERR_FORKED, 0, "", call,
        "CUDA does not work in a child of fork(): the driver was opened by the parent process; "
        "make pools after exec, or fork before the first pool is made");
}

pool_status driver_unusable(struct driver *driver)
{
    if (driver->generation != driver_fork_generation())
        return forked_failure("");
    if (atomic_load_explicit(&driver->poisoned, memory_order_acquire))
        return poisoned_failure(driver, "");
    return POOL_OK;
}

/* The names of a code, from the driver where our list does not know it. */
static const char *name_of(struct driver *driver, pool_cu_result code, const char **hint)
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

static void fill_fault(struct driver *driver, pool_cu_result code, const char *call, int device)
{
    struct driver_fault *fault = &driver->fault;
    const char *hint = driver_code_hint(code);
    char where[32] = "";

    fault->code = (int)code;
    fault->device = device;
    fault->unix_time = (uint64_t)time(NULL);
    snprintf(fault->name, sizeof(fault->name), "%s", driver_code_name(code));
    snprintf(fault->call, sizeof(fault->call), "%s", call);
    if (device >= 0)
        snprintf(where, sizeof(where), " on device %d", device);
    snprintf(fault->message, sizeof(fault->message), "%s failed%s with %s (%u)%s%s", fault->call,
        where, fault->name, code, hint[0] ? ": " : "", hint);
}

/* Calls the listeners one after another; the list may change between two of them. */
static void tell_listeners(struct driver *driver)
{
    struct driver_listener *listener;

    driver_state_lock();
    driver->caller = pthread_self();
    for (;;) {
        for (listener = driver->listeners; listener && listener->told;)
            listener = listener->next;
        if (!listener)
            break;
        driver_fault_listener call = listener->call;
        void *user = listener->user;

        listener->told = 1;
        driver->calling = listener;
        driver_state_unlock();
        call(user, &driver->fault);
        driver_state_lock();
        driver->calling = NULL;
        pthread_cond_broadcast(&told_one);
    }
    driver_state_unlock();
}

static void latch(struct driver *driver, pool_cu_result code, const char *call)
{
    CUdevice device = -1;
    int is_first;

    /* Which device it was is only known when the driver still tells whose context is current. */
    if (driver->api.CtxGetDevice(&device) != POOL_CU_SUCCESS)
        device = -1;
    driver_state_lock();
    is_first = !atomic_load_explicit(&driver->poisoned, memory_order_relaxed);
    if (is_first) {
        fill_fault(driver, code, call, device);
        atomic_store_explicit(&driver->poisoned, 1, memory_order_release);
    }
    driver_state_unlock();
    if (is_first)
        tell_listeners(driver);
}

/*
 * The code that latches: `code` itself when it is of class PROCESS; for UNKNOWN what a probe of the
 * current context says; SUCCESS when nothing latches.
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

pool_status driver_check_failed(struct driver *driver, pool_cu_result code, const char *call)
{
    pool_cu_result latching;
    const char *name, *hint;

    driver_fork_check();
    if (driver->generation != driver_fork_generation())
        return forked_failure(call);
    if (atomic_load_explicit(&driver->poisoned, memory_order_acquire))
        return poisoned_failure(driver, call);
    latching = latching_code(driver, code);
    if (latching != POOL_CU_SUCCESS) {
        latch(driver, latching, call);
        return poisoned_failure(driver, call);
    }
    name = name_of(driver, code, &hint);
    return base_fail_driver(driver_status_of(code), (int)code, name, call, "%s failed: %s (%u)%s%s",
        call, name, code, hint[0] ? ": " : "", hint);
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
        pthread_cond_wait(&told_one, &state_lock.mutex);
    }
    if (removed)
        *link = removed->next;
    driver_state_unlock();
    base_free(removed);
}
