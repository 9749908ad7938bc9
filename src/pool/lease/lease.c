/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acquiring, using and releasing leases.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/params.h"
#include "driver/trace.h"
#include "pool/device/extension.h"
#include "pool/lease/admission.h"

/* How often a thread examines a cancel object that has too many waiting threads to wake it. */
#define CANCEL_POLL_NS 2000000u

/* --- acquiring ----------------------------------------------------------------------------------
 */

/* Sleeps until the request is decided, the deadline passes or the cancel object is requested. */
static void wait_for_decision(
    struct admission *admission, pool_lease *lease, pool_cancel *cancel, uint64_t deadline_ns)
{
    bool is_subscribed = cancel && base_cancel_subscribe(cancel, &lease->wake);

    for (;;) {
        bool is_cancelled = pool_cancel_requested(cancel);
        uint64_t until = deadline_ns, now = base_clock_ns();

        if (is_cancelled || now >= deadline_ns) {
            pthread_mutex_lock(&admission->lock);
            admission_cancel(admission, lease, is_cancelled ? POOL_ERR_CANCELLED : POOL_ERR_TIMEOUT,
                admission_now(admission));
            pthread_mutex_unlock(&admission->lock);
            break;
        }
        if (cancel && !is_subscribed && deadline_ns - now > CANCEL_POLL_NS)
            until = now + CANCEL_POLL_NS;
        if (base_wake_wait(&lease->wake, until) &&
            atomic_load_explicit(&lease->state, memory_order_acquire) != LEASE_WAITING)
            break;
    }
    if (is_subscribed)
        base_cancel_unsubscribe(cancel, &lease->wake);
}

/* The end of a wait: the lease, or the reason why there is none. */
static pool_status finish_wait(const char *call, struct admission *admission,
    const struct lease_terms *terms, pool_lease *lease)
{
    pool_status status = lease->status;
    bool needs_monitor;

    pthread_mutex_lock(&admission->lock);
    if (status)
        admission_return_lease(admission, lease);
    needs_monitor = admission_needs_monitor(admission);
    pthread_mutex_unlock(&admission->lock);
    if (needs_monitor) /* a cancelled request may have made room for others */
        (void)admission_run_monitor(admission, base_clock_ns());
    return status ? lease_terms_fail(call, admission, terms, status) : POOL_OK;
}

static pool_status wait_for_lease(const char *call, struct admission *admission,
    const struct lease_terms *terms, pool_lease *lease)
{
    uint64_t now = base_clock_ns();
    uint64_t deadline =
        terms->timeout_ns < BASE_WAKE_NEVER - now ? now + terms->timeout_ns : BASE_WAKE_NEVER;
    struct trace_range range;

    trace_begin(&range, POOL_TRACE_LEASE_WAIT, "lease wait", terms->label, -1, 0);
    /* Without a monitor memory that others release is seen when the next lease is released. */
    if (terms->request.bytes)
        (void)admission_run_monitor(admission, now);
    wait_for_decision(admission, lease, terms->cancel, deadline);
    return trace_end(&range, finish_wait(call, admission, terms, lease));
}

/* Submits the request; a lease that was not granted and need not wait is returned. */
static pool_status submit_request(const char *call, struct admission *admission,
    const struct lease_terms *terms, pool_lease **lease)
{
    enum scheduler_decision decision = SCHEDULER_NONE;
    uint64_t now = admission_now(admission);
    pool_lease *taken;
    bool needs_monitor;

    pthread_mutex_lock(&admission->lock);
    taken = admission_take_lease(admission);
    if (taken) {
        taken->ticket = NULL;
        decision = admission_submit(admission, taken, terms, now);
        if (decision == SCHEDULER_WAITING && !terms->timeout_ns) {
            admission_cancel(admission, taken, POOL_ERR_TIMEOUT, now);
            decision = SCHEDULER_EXPIRED;
        }
        if (decision == SCHEDULER_REFUSED || decision == SCHEDULER_EXPIRED)
            admission_return_lease(admission, taken);
    }
    admission_deliver(admission, now);
    needs_monitor = admission_needs_monitor(admission);
    pthread_mutex_unlock(&admission->lock);
    if (needs_monitor) /* what was read of the devices has decided other requests */
        (void)admission_run_monitor(admission, base_clock_ns());
    if (!taken)
        return base_fail_memory("a lease");
    if (decision == SCHEDULER_REFUSED)
        return lease_terms_refuse(call, admission, terms);
    if (decision == SCHEDULER_EXPIRED)
        return base_fail_quietly(
            POOL_ERR_TIMEOUT, "%s: the request cannot be granted now, and `timeout_ns` is 0", call);
    *lease = taken;
    return decision == SCHEDULER_WAITING ? wait_for_lease(call, admission, terms, taken) : POOL_OK;
}

pool_status pool_acquire(device_pool *pool, const pool_request *request, pool_lease **lease)
{
    struct lease_attempt attempt;
    pool_lease *granted = NULL;
    pool_status status = base_check_pointers("pool_acquire", {"pool", pool}, {"lease", lease});

    if (status)
        return lease_request_end(request, status);
    status = lease_attempt_begin("pool_acquire", pool, request, &attempt);
    if (!status && pool_cancel_requested(attempt.terms.cancel))
        status = base_fail(POOL_ERR_CANCELLED, "pool_acquire: `cancel` has been requested");
    if (!status)
        status = submit_request("pool_acquire", attempt.admission, &attempt.terms, &granted);
    lease_attempt_end(&attempt);
    if (!status) {
        for (uint32_t i = 0; i < granted->request.devices; i++)
            device_expect_use(granted->parts[i].budget.device);
        *lease = granted;
    }
    return lease_request_end(request, status);
}

/* --- using --------------------------------------------------------------------------------------
 */

const char *lease_label(const pool_lease *lease)
{
    bool is_held = lease && atomic_load_explicit(&lease->state, memory_order_acquire) == LEASE_HELD;

    return is_held ? lease->label : NULL;
}

/* POOL_OK for a lease that is held. */
static pool_status check_lease(const char *call, const pool_lease *lease)
{
    if (!lease)
        return base_fail_null(call, "lease");
    if (atomic_load_explicit(&lease->state, memory_order_acquire) != LEASE_HELD)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the lease has been released, or the pointer never was a lease", call);
    return POOL_OK;
}

static pool_status check_index(const char *call, const pool_lease *lease, uint32_t index)
{
    pool_status status = check_lease(call, lease);

    if (!status && index >= lease->request.devices)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `index` is %u, the lease has %u device%s",
            call, index, lease->request.devices, lease->request.devices == 1 ? "" : "s");
    return status;
}

uint32_t pool_lease_device_count(const pool_lease *lease)
{
    bool is_held = lease && atomic_load_explicit(&lease->state, memory_order_acquire) == LEASE_HELD;

    return is_held ? lease->request.devices : 0;
}

pool_status pool_lease_device(const pool_lease *lease, uint32_t index, pool_device **device)
{
    pool_status status = check_index("pool_lease_device", lease, index);

    if (!status && !device)
        status = base_fail_null("pool_lease_device", "device");
    if (!status)
        *device = lease->parts[index].budget.device;
    return status;
}

pool_status pool_lease_stream(pool_lease *lease, uint32_t index, pool_stream **stream)
{
    BASE_LOG_LABEL(lease_label(lease));
    pool_status status = check_index("pool_lease_stream", lease, index);

    if (!status && !stream)
        status = base_fail_null("pool_lease_stream", "stream");
    return status ? status : lease_stream_of(&lease->parts[index].budget, stream);
}

pool_status lease_budget_of(
    const char *call, pool_lease *lease, pool_device *device, struct lease_budget **budget)
{
    pool_status status = check_lease(call, lease);

    if (status)
        return status;
    for (uint32_t i = 0; i < lease->request.devices; i++)
        if (!device || lease->parts[i].budget.device == device) {
            *budget = &lease->parts[i].budget;
            return POOL_OK;
        }
    return base_fail(POOL_ERR_WRONG_DEVICE, "%s: the lease \"%s\" does not include device %d%s",
        call, lease->label, pool_device_ordinal(device), device_part_name(device).text);
}

pool_status pool_lease_get_info(const pool_lease *lease, pool_lease_info *info)
{
    static const struct base_struct type = BASE_STRUCT(pool_lease_info);
    pool_lease_info known = {.struct_size = sizeof(known)};
    uint64_t now;
    pool_status status = check_lease("pool_lease_get_info", lease);

    if (!status)
        status = base_struct_check(&type, "pool_lease_get_info", "info", info);
    if (status)
        return status;
    now = admission_now(lease->admission);
    known.bytes = lease->request.bytes;
    known.slots = lease->request.slots;
    known.devices = lease->request.devices;
    known.priority = lease->request.priority;
    known.flags = lease->flags;
    known.waited_ns = lease_duration(lease->request.submitted, lease->granted_ns);
    known.held_ns = lease_duration(lease->granted_ns, now);
    known.duration_ns = lease->duration_ns;
    known.is_overdue = lease_is_overdue(lease, now);
    known.level = lease_level(lease);
    memcpy(known.label, lease->label, sizeof(known.label));
    base_struct_write(&type, &known, info);
    return POOL_OK;
}

pool_status pool_lease_get_usage(const pool_lease *lease, uint32_t index, pool_lease_usage *usage)
{
    static const struct base_struct type = BASE_STRUCT(pool_lease_usage);
    pool_lease_usage known = {.struct_size = sizeof(known)};
    const struct lease_budget *budget;
    pool_status status = check_index("pool_lease_get_usage", lease, index);

    if (!status)
        status = base_struct_check(&type, "pool_lease_get_usage", "usage", usage);
    if (status)
        return status;
    budget = &lease->parts[index].budget;
    known.device = budget->device;
    known.limit_bytes = budget->limit;
    known.used_bytes = budget->limit - lease_budget_left(budget);
    known.peak_bytes = atomic_load_explicit(&budget->peak, memory_order_relaxed);
    base_struct_write(&type, &known, usage);
    return POOL_OK;
}

/* --- releasing ----------------------------------------------------------------------------------
 */

/* Blocks that outlive the lease count as memory outside of leases from now on. */
static void close_budgets(pool_lease *lease)
{
    for (uint32_t i = 0; i < lease->request.devices; i++) {
        struct lease_budget *budget = &lease->parts[i].budget;
        uint64_t left = atomic_fetch_or(&budget->used, BUDGET_CLOSED) & ~BUDGET_CLOSED;

        if (left)
            device_account_outlive(budget->device, left);
        device_reserved_changed(budget->device, -(int64_t)budget->limit, -1);
    }
}

pool_status pool_release(pool_lease **lease)
{
    unsigned held = LEASE_HELD;
    struct admission *admission;
    pool_lease *released;
    bool needs_monitor, is_changed;
    uint64_t now;
    pool_status status;

    if (!lease || !*lease)
        return POOL_OK;
    released = *lease;
    status = check_lease("pool_release", released);
    if (status)
        return status;
    admission = released->admission;
    if (!device_pool_usable(
            admission->pool, DEVICE_USE_HOST)) { /* another thread may hold the lock for ever */
        *lease = NULL;
        return POOL_OK;
    }
    if (!atomic_compare_exchange_strong(&released->state, &held, LEASE_FREE))
        return check_lease("pool_release", released);
    lease_return_streams(released);
    now = admission_now(admission);
    pthread_mutex_lock(&admission->lock);
    lease_histogram_add(&admission->statistics.holds, lease_duration(released->granted_ns, now));
    admission_end_overdue(released);
    close_budgets(released);
    is_changed = admission->scheduler.first && admission_read_devices(admission);
    scheduler_release(&admission->scheduler, &released->request, now);
    if (is_changed)
        scheduler_devices_changed(&admission->scheduler, now);
    admission->held--;
    admission_return_lease(admission, released);
    admission_deliver(admission, now);
    needs_monitor = admission_needs_monitor(admission);
    pthread_mutex_unlock(&admission->lock);
    *lease = NULL;
    if (needs_monitor)
        (void)admission_run_monitor(admission, base_clock_ns());
    return POOL_OK;
}
