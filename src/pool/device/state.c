/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a device and the changes between them:
 *
 *   READY       -> DRAINING     pool_device_drain
 *   READY, DRAINING -> QUARANTINED  pool_device_quarantine, or a probe with a wrong result
 *   DRAINING    -> READY        pool_device_resume
 *   QUARANTINED -> READY        pool_device_resume, after a probe that succeeded since
 *   any of these -> UNUSABLE    a driver call says that the device is lost; for good, unless it was
 *                               lost with its worker process
 *   UNUSABLE    -> QUARANTINED  another worker process has its context and resources (readmit.c)
 *   any of these, UNUSABLE -> ABANDONED  pool_device_abandon; for good
 *
 * POISONED is a state of the process and belongs to the driver. A device that is being drained or
 * is quarantined is not chosen any more, but calls that name it work, so that what runs there can
 * end.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/device/pool.h"

/* The first and the longest pause between two looks of pool_device_wait_drained. */
#define FIRST_PAUSE_NS 50000u
#define LONGEST_PAUSE_NS 2000000u

pool_device_state device_state(const pool_device *device)
{
    if (atomic_load(&device->driver->poisoned))
        return POOL_DEVICE_POISONED;
    return (pool_device_state)atomic_load(&device->state);
}

const char *device_state_name(pool_device_state state)
{
    switch (state) {
    case POOL_DEVICE_READY:
        return "ready";
    case POOL_DEVICE_UNUSABLE:
        return "unusable";
    case POOL_DEVICE_POISONED:
        return "poisoned";
    case POOL_DEVICE_DRAINING:
        return "draining";
    case POOL_DEVICE_QUARANTINED:
        return "quarantined";
    case POOL_DEVICE_ABANDONED:
        return "abandoned";
    }
    return "?";
}

int device_is_abandoned(const pool_device *device)
{
    return atomic_load_explicit(&device->state, memory_order_acquire) == POOL_DEVICE_ABANDONED;
}

int device_pool_has_abandoned(const device_pool *pool)
{
    return atomic_load_explicit(&pool->abandoned, memory_order_acquire) != 0;
}

int device_may_block(const pool_device *device)
{
    return device_pool_has_abandoned(device->pool);
}

pool_status device_check_waiting(pool_device *device)
{
    return device_is_abandoned(device) ? device_refuse(device, DEVICE_USE_CALLS)
                                       : device_check_context(device);
}

struct device_reason device_reason(const pool_device *device)
{
    struct device_reason reason = {""};
    pool_device_state state;

    pthread_mutex_lock(&device->pool->state_lock);
    state = device_state(device);
    if (state == POOL_DEVICE_POISONED)
        base_text_copy(reason.text, sizeof(reason.text), device->driver->fault.message);
    else if (state != POOL_DEVICE_READY)
        reason = device->reason;
    pthread_mutex_unlock(&device->pool->state_lock);
    return reason;
}

struct device_reason device_loss(const pool_device *device)
{
    struct device_reason loss;

    pthread_mutex_lock(&device->pool->state_lock);
    loss = atomic_load(&device->is_lost) ? device->reason : device->last_loss;
    pthread_mutex_unlock(&device->pool->state_lock);
    return loss;
}

/* --- the listener of the layer above --- */

void device_pool_listen_states(device_pool *pool, device_state_listener listener, void *user)
{
    pthread_mutex_lock(&pool->state_lock);
    pool->state_listener = listener;
    pool->state_listener_user = user;
    pthread_mutex_unlock(&pool->state_lock);
}

void device_notify_states_of_gpu(pool_device *device)
{
    for (pool_device *part = NULL; (part = device_next_part(device, part));)
        device_notify_state(part);
}

void device_notify_state(pool_device *device)
{
    device_pool *pool = device->pool;
    device_state_listener listener;
    void *user;

    pthread_mutex_lock(&pool->state_lock);
    listener = pool->state_listener;
    user = pool->state_listener_user;
    pthread_mutex_unlock(&pool->state_lock);
    if (listener)
        listener(user, device);
}

/* --- changes --- */

/* Enters the state and publishes the set that follows from it. Called with state_lock held; fails,
 * with everything unchanged, if there is no memory for a set. */
static pool_status set_state_locked(
    pool_device *device, pool_device_state state, const char *reason, bool may_allocate)
{
    int before = atomic_load(&device->state);
    pool_status status;

    atomic_store(&device->state, (int)state);
    status = device_set_publish_locked(device->pool, may_allocate);
    if (status) {
        atomic_store(&device->state, before);
        return status;
    }
    base_text_copy(device->reason.text, sizeof(device->reason.text), reason);
    return POOL_OK;
}

/* With state_lock held. */
static void set_unusable_locked(pool_device *device)
{
    if (!atomic_load(&device->is_readmitting))
        device->needs_resume = atomic_load(&device->state) != POOL_DEVICE_READY;
    (void)set_state_locked(
        device, POOL_DEVICE_UNUSABLE, pool_last_error()->message, false /* cannot fail */);
}

int device_set_unusable(pool_device *device)
{
    device_pool *pool = device->pool;
    const bool is_lost = atomic_load(&device->is_lost);
    int is_first;

    pthread_mutex_lock(&pool->state_lock);
    is_first = device_usable(device, DEVICE_USE_CALLS);
    for (pool_device *part = device_next_part(device, NULL); is_first && part;
         part = device_next_part(device, part)) {
        if (!device_usable(part, DEVICE_USE_CALLS))
            continue;
        atomic_store(&part->is_lost, is_lost);
        set_unusable_locked(part);
    }
    pthread_mutex_unlock(&pool->state_lock);
    return is_first;
}

void device_set_loss(pool_device *device, const char *reason)
{
    pthread_mutex_lock(&device->pool->state_lock);
    if (atomic_load(&device->state) == POOL_DEVICE_UNUSABLE && atomic_load(&device->is_lost))
        base_text_copy(device->reason.text, sizeof(device->reason.text), reason);
    pthread_mutex_unlock(&device->pool->state_lock);
}

pool_status device_reserve_return(pool_device *device)
{
    pool_status status;

    pthread_mutex_lock(&device->pool->state_lock);
    status = device_set_replenish_locked(device->pool);
    pthread_mutex_unlock(&device->pool->state_lock);
    return status;
}

pool_status device_set_returned(pool_device *device, const char *reason)
{
    pool_status status = POOL_OK;

    pthread_mutex_lock(&device->pool->state_lock);
    if (atomic_load(&device->state) != POOL_DEVICE_UNUSABLE || !atomic_load(&device->is_lost))
        status = base_fail(POOL_ERR_BUSY, "the device is not lost");
    if (!status)
        status = device_set_replenish_locked(device->pool);
    if (!status) {
        device->last_loss = device->reason;
        /* Before the state: a loss after it sets is_lost again. */
        atomic_store(&device->is_lost, false);
        status = set_state_locked(device, POOL_DEVICE_QUARANTINED, reason, true);
        if (status)
            atomic_store(&device->is_lost, true);
    }
    if (!status) {
        device->quarantines++;
        device->is_probed = false;
    }
    pthread_mutex_unlock(&device->pool->state_lock);
    if (!status)
        device_notify_state(device);
    return status;
}

bool device_is_probing(const pool_device *device)
{
    bool is_probing;

    pthread_mutex_lock(&device->pool->state_lock);
    is_probing = device->is_probing;
    pthread_mutex_unlock(&device->pool->state_lock);
    return is_probing;
}

static pool_status check_for_change(const char *call, const pool_device *device)
{
    return device ? device_check(device, DEVICE_USE_CALLS) : base_fail_null(call, "device");
}

static void log_change(const pool_device *device, const char *what, const char *reason)
{
    base_log(POOL_LOG_WARN, "device %d (%s) %s%s%s", device->properties.ordinal,
        device->properties.uuid, what, reason[0] ? ": " : "", reason);
}

pool_status pool_device_drain(pool_device *device)
{
    pool_status status = check_for_change("pool_device_drain", device);
    bool is_changed = false;

    if (status)
        return status;
    pthread_mutex_lock(&device->pool->state_lock);
    if (atomic_load(&device->state) == POOL_DEVICE_READY) {
        status = set_state_locked(
            device, POOL_DEVICE_DRAINING, "it is being drained and gets no new work", true);
        is_changed = !status;
    }
    pthread_mutex_unlock(&device->pool->state_lock);
    if (is_changed)
        device_notify_state(device);
    return status;
}

/* With state_lock held. */
static pool_status quarantine_locked(pool_device *device, const char *reason)
{
    pool_status status = set_state_locked(device, POOL_DEVICE_QUARANTINED, reason, true);

    if (status)
        return status;
    device->quarantines++;
    device->is_probed = false;
    return POOL_OK;
}

/* With the other parts of its GPU: what makes one of them suspicious is that of all. */
bool device_enter_quarantine(pool_device *device, const char *reason, pool_status *status)
{
    bool is_changed = false;

    *status = POOL_OK;
    pthread_mutex_lock(&device->pool->state_lock);
    for (pool_device *part = NULL; !*status && (part = device_next_part(device, part));)
        if (device_usable(part, DEVICE_USE_CALLS)) {
            *status = quarantine_locked(part, reason);
            is_changed = is_changed || !*status;
        }
    pthread_mutex_unlock(&device->pool->state_lock);
    if (!is_changed)
        return false;
    log_change(device, "is quarantined", reason);
    device_notify_states_of_gpu(device);
    return true;
}

pool_status pool_device_quarantine(pool_device *device, const char *reason)
{
    pool_status status = check_for_change("pool_device_quarantine", device);

    if (status)
        return status;
    if (!reason || !reason[0])
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_device_quarantine: reason must be a text that says why the device is suspected");
    /* Also while the device returns into service, which does not resume it then. */
    pthread_mutex_lock(&device->pool->state_lock);
    if (device_usable(device, DEVICE_USE_CALLS))
        device->needs_resume = true;
    pthread_mutex_unlock(&device->pool->state_lock);
    return device_enter_quarantine(device, reason, &status) || status
               ? status
               : device_refuse(device, DEVICE_USE_CALLS);
}

static pool_status resume(pool_device *device, bool is_return)
{
    pool_status status = check_for_change("pool_device_resume", device);
    bool is_changed = false, needs_probe;

    if (status)
        return status;
    pthread_mutex_lock(&device->pool->state_lock);
    if (is_return && device->needs_resume) {
        pthread_mutex_unlock(&device->pool->state_lock);
        return POOL_OK;
    }
    needs_probe = atomic_load(&device->state) == POOL_DEVICE_QUARANTINED && !device->is_probed;
    if (!needs_probe && device_usable(device, DEVICE_USE_CALLS) &&
        atomic_load(&device->state) != POOL_DEVICE_READY) {
        status = set_state_locked(device, POOL_DEVICE_READY, "", true);
        is_changed = !status;
    }
    if (is_changed)
        device->needs_resume = false;
    pthread_mutex_unlock(&device->pool->state_lock);
    if (needs_probe)
        return base_fail(POOL_ERR_BUSY,
            "pool_device_resume: device %d (%s) is quarantined (%s) and can be used again after "
            "pool_device_probe has succeeded",
            device->properties.ordinal, device->properties.uuid, device_reason(device).text);
    if (!is_changed)
        return status;
    base_log(POOL_LOG_INFO, "device %d (%s) is ready again", device->properties.ordinal,
        device->properties.uuid);
    device_notify_state(device);
    return POOL_OK;
}

pool_status pool_device_resume(pool_device *device)
{
    return resume(device, false);
}

pool_status device_resume_returned(pool_device *device)
{
    return resume(device, true);
}

unsigned device_quarantines(const pool_device *device)
{
    unsigned count;

    pthread_mutex_lock(&device->pool->state_lock);
    count = device->quarantines;
    pthread_mutex_unlock(&device->pool->state_lock);
    return count;
}

void device_set_probed(pool_device *device, unsigned quarantines)
{
    pthread_mutex_lock(&device->pool->state_lock);
    if (device->quarantines == quarantines)
        device->is_probed = true;
    pthread_mutex_unlock(&device->pool->state_lock);
}

pool_status pool_device_abandon(pool_device *device, const char *reason)
{
    bool is_changed;
    pool_status status = device ? device_pool_check(device->pool, DEVICE_USE_DRIVER)
                                : base_fail_null("pool_device_abandon", "device");

    if (status)
        return status;
    if (!reason || !reason[0])
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_device_abandon: reason must be a text that says why the device is given up");
    pthread_mutex_lock(&device->pool->state_lock);
    is_changed = !device_is_abandoned(device);
    for (pool_device *part = NULL; is_changed && (part = device_next_part(device, part));) {
        (void)set_state_locked(part, POOL_DEVICE_ABANDONED, reason, false /* cannot fail */);
        atomic_store(&part->abandoned_as, atomic_fetch_add(&device->pool->abandoned, 1) + 1);
    }
    pthread_mutex_unlock(&device->pool->state_lock);
    if (!is_changed)
        return POOL_OK;
    log_change(device, "is abandoned, and everything on it is leaked on purpose", reason);
    device_notify_states_of_gpu(device);
    return POOL_OK;
}

bool device_begin_probe(pool_device *device)
{
    bool is_first;

    pthread_mutex_lock(&device->pool->state_lock);
    is_first = !device->is_probing;
    device->is_probing = true;
    pthread_mutex_unlock(&device->pool->state_lock);
    if (is_first)
        device_dependent_added(device, DEVICE_DEPENDENT_PROBE);
    return is_first;
}

void device_end_probe(pool_device *device)
{
    pthread_mutex_lock(&device->pool->state_lock);
    device->is_probing = false;
    pthread_mutex_unlock(&device->pool->state_lock);
    device_dependent_removed(device, DEVICE_DEPENDENT_PROBE);
}

/* --- waiting until a device is drained --- */

/* What keeps a device from being drained. */
struct remainder {
    unsigned leases, calls;
    bool is_busy; /* streams have unfinished work */
};

static pool_status query_remainder(pool_device *device, struct remainder *rest)
{
    pool_status status = device_check(device, DEVICE_USE_CALLS);

    if (status)
        return status;
    rest->leases = device_leases(device);
    rest->calls = atomic_load_explicit(&device->calls, memory_order_acquire);
    rest->is_busy = false;
    if (atomic_load_explicit(&device->context, memory_order_acquire))
        status = device_poll_work(device, 1);
    if (status != POOL_ERR_NOT_READY)
        return status;
    rest->is_busy = true;
    return POOL_OK;
}

pool_status pool_device_wait_drained(pool_device *device, uint64_t timeout_ns)
{
    uint64_t start = base_clock_ns(), pause = FIRST_PAUSE_NS, elapsed;
    struct remainder rest;
    pool_status status = check_for_change("pool_device_wait_drained", device);

    if (status)
        return status;
    if (atomic_load(&device->state) == POOL_DEVICE_READY)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_device_wait_drained: device %d (%s) is ready and gets new work: "
            "pool_device_drain "
            "comes first",
            device->properties.ordinal, device->properties.uuid);
    for (;;) {
        status = query_remainder(device, &rest);
        if (status || !(rest.leases || rest.calls || rest.is_busy))
            return status;
        elapsed = base_clock_ns() - start;
        if (elapsed >= timeout_ns)
            return base_fail(POOL_ERR_TIMEOUT,
                "device %d (%s) is not drained after %.3f s: %u leases, %u calls in progress, %s",
                device->properties.ordinal, device->properties.uuid, (double)elapsed / 1e9,
                rest.leases, rest.calls, rest.is_busy ? "unfinished work" : "no unfinished work");
        base_sleep_ns(pause < timeout_ns - elapsed ? pause : timeout_ns - elapsed);
        pause = pause * 2 < LONGEST_PAUSE_NS ? pause * 2 : LONGEST_PAUSE_NS;
    }
}
