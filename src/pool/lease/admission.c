/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The admission of a pool: its scheduler, the lock around it, and the leases.
 */
#include "pool/lease/admission.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "pool/device/extension.h"

/* Requests that wait for memory see what others release after one interval of the samples. */
#define SAMPLE_INTERVAL_NS 10000000u
/* How often cancel objects of tickets are examined. */
#define CANCEL_INTERVAL_NS 5000000u

struct lease_chunk {
    struct lease_chunk *next;
    struct lease_part *parts;
    uint32_t *indices; /* ranks and granted devices */
    pool_lease leases[LEASES_PER_CHUNK];
};

/* --- the list of free leases --------------------------------------------------------------------
 */

static void append_free(struct admission *admission, pool_lease *lease)
{
    lease->next = NULL;
    lease->previous = admission->free_last;
    if (admission->free_last)
        admission->free_last->next = lease;
    else
        admission->free_first = lease;
    admission->free_last = lease;
    admission->free_count++;
}

static pool_lease *remove_free(struct admission *admission)
{
    pool_lease *lease = admission->free_first;

    admission->free_first = lease->next;
    if (lease->next)
        lease->next->previous = NULL;
    else
        admission->free_last = NULL;
    admission->free_count--;
    return lease;
}

static void free_chunk(struct lease_chunk *chunk)
{
    if (chunk) {
        base_free(chunk->parts);
        base_free(chunk->indices);
    }
    base_free(chunk);
}

static bool add_chunk(struct admission *admission)
{
    struct lease_chunk *chunk = base_calloc(1, sizeof(*chunk));
    uint32_t count = admission->device_count;

    if (!chunk)
        return false;
    chunk->parts = base_calloc((size_t)LEASES_PER_CHUNK * count, sizeof(*chunk->parts));
    chunk->indices = base_calloc((size_t)LEASES_PER_CHUNK * 2 * count, sizeof(*chunk->indices));
    if (!chunk->parts || !chunk->indices) {
        free_chunk(chunk);
        return false;
    }
    chunk->next = admission->chunks;
    admission->chunks = chunk;
    for (uint32_t i = 0; i < LEASES_PER_CHUNK; i++) {
        pool_lease *lease = &chunk->leases[i];

        atomic_init(&lease->state, LEASE_FREE);
        lease->admission = admission;
        lease->parts = chunk->parts + (size_t)i * count;
        lease->ranks = chunk->indices + (size_t)i * 2 * count;
        lease->request.granted = lease->ranks + count;
        append_free(admission, lease);
    }
    return true;
}

/* Whether memory that was allocated under the lease still exists: then it is not reused. */
static bool has_blocks(const pool_lease *lease)
{
    for (uint32_t i = 0; i < lease->admission->device_count; i++)
        if (atomic_load_explicit(&lease->parts[i].budget.references, memory_order_acquire))
            return true;
    return false;
}

pool_lease *admission_take_lease(struct admission *admission)
{
    uint32_t examined = 0;
    pool_lease *lease;

    /* Leases with blocks go to the end of the list; after one round all have them. */
    for (;; examined++) {
        while (admission->free_count <= LEASES_UNUSED || examined == admission->free_count)
            if (!add_chunk(admission))
                return NULL;
        lease = remove_free(admission);
        if (!has_blocks(lease))
            break;
        append_free(admission, lease);
    }
    lease->previous = NULL;
    lease->next = admission->active;
    if (admission->active)
        admission->active->previous = lease;
    admission->active = lease;
    return lease;
}

void admission_return_lease(struct admission *admission, pool_lease *lease)
{
    if (lease->previous)
        lease->previous->next = lease->next;
    else
        admission->active = lease->next;
    if (lease->next)
        lease->next->previous = lease->previous;
    append_free(admission, lease);
}

/* --- devices ------------------------------------------------------------------------------------
 */

static enum scheduler_device_state scheduler_state_of(const pool_device *device)
{
    switch (device_state(device)) {
    case POOL_DEVICE_READY:
        return SCHEDULER_READY;
    case POOL_DEVICE_DRAINING:
    case POOL_DEVICE_QUARANTINED:
        return SCHEDULER_SUSPENDED;
    case POOL_DEVICE_UNUSABLE:
    case POOL_DEVICE_POISONED:
    case POOL_DEVICE_ABANDONED:
        break;
    }
    return SCHEDULER_LOST;
}

bool admission_read_devices(struct admission *admission)
{
    bool is_changed = false;

    for (uint32_t i = 0; i < admission->device_count; i++) {
        struct scheduler_device *device = &admission->states[i];
        uint64_t capacity = device_capacity(admission->devices[i]);
        enum scheduler_device_state state = scheduler_state_of(admission->devices[i]);

        is_changed |= capacity != device->capacity_bytes || state != device->state;
        device->capacity_bytes = capacity;
        device->state = state;
    }
    return is_changed;
}

/* Reads them and examines the queue if they changed. */
static void refresh(struct admission *admission, uint64_t now)
{
    if (admission_read_devices(admission) && admission->scheduler.first)
        scheduler_devices_changed(&admission->scheduler, now);
}

/* The listener of the pool's states. */
static void devices_changed(void *user, pool_device *device)
{
    struct admission *admission = user;
    uint64_t now = admission_now(admission);
    bool needs_monitor;

    (void)device;
    pthread_mutex_lock(&admission->lock);
    refresh(admission, now);
    admission_deliver(admission, now);
    needs_monitor = admission_needs_monitor(admission);
    pthread_mutex_unlock(&admission->lock);
    if (needs_monitor)
        (void)admission_run_monitor(admission, now);
}

/* --- overdue leases -----------------------------------------------------------------------------
 */

static uint64_t earlier(uint64_t time, uint64_t other)
{
    return time < other ? time : other;
}

/* The first time at which the lease is overdue. */
static uint64_t overdue_at(const pool_lease *lease)
{
    return lease->duration_ns < SCHEDULER_NEVER - 1 - lease->granted_ns
               ? lease->granted_ns + lease->duration_ns + 1
               : SCHEDULER_NEVER;
}

static void change_overdue(const pool_lease *lease, int change)
{
    for (uint32_t i = 0; i < lease->request.devices; i++)
        device_overdue_changed(lease->parts[i].budget.device, change);
}

void admission_end_overdue(pool_lease *lease)
{
    if (lease->is_overdue)
        change_overdue(lease, -1);
    lease->is_overdue = false;
}

/* What is logged about a lease, without the lock. */
struct overdue_report {
    pool_device *device;
    uint32_t devices;
    uint64_t held_ns, duration_ns;
    char label[POOL_LEASE_LABEL_BYTES];
};
enum { OVERDUE_REPORTS = 8 };

/* With the lock held: marks overdue leases, as many as fit into `reports`, and sets the time of the
 * next search. */
static uint32_t mark_overdue(
    struct admission *admission, uint64_t now, struct overdue_report reports[OVERDUE_REPORTS])
{
    uint32_t count = 0;

    admission->overdue_ns = SCHEDULER_NEVER;
    for (pool_lease *lease = admission->active; lease; lease = lease->next) {
        if (lease->request.decision != SCHEDULER_GRANTED || !lease->duration_ns ||
            lease->is_overdue)
            continue;
        if (!lease_is_overdue(lease, now) || count == OVERDUE_REPORTS) {
            admission->overdue_ns = earlier(admission->overdue_ns, overdue_at(lease));
            continue;
        }
        reports[count] = (struct overdue_report){.device = lease->parts[0].budget.device,
            .devices = lease->request.devices,
            .held_ns = now - lease->granted_ns,
            .duration_ns = lease->duration_ns};
        memcpy(reports[count++].label, lease->label, sizeof(lease->label));
        lease->is_overdue = true;
        change_overdue(lease, 1);
        admission->statistics.became_overdue++;
    }
    return count;
}

static void log_overdue(const struct overdue_report *report)
{
    BASE_LOG_LABEL(report->label);
    char text[256], others[48] = "";

    if (report->devices > 1)
        snprintf(others, sizeof(others), " and %u more", report->devices - 1);
    snprintf(text, sizeof(text),
        "the lease \"%s\" of device %d%s is overdue: it is held for %.3f s, its request said %.3f "
        "s",
        report->label, pool_device_ordinal(report->device), others, (double)report->held_ns / 1e9,
        (double)report->duration_ns / 1e9);
    device_log(report->device, POOL_LOG_WARN, text);
}

/* On the monitor's thread. */
static void find_overdue(struct admission *admission, uint64_t now)
{
    struct overdue_report reports[OVERDUE_REPORTS];
    uint32_t count;

    do {
        pthread_mutex_lock(&admission->lock);
        count = mark_overdue(admission, now, reports);
        pthread_mutex_unlock(&admission->lock);
        for (uint32_t i = 0; i < count; i++)
            log_overdue(&reports[i]);
        if (count)
            device_pool_watch(admission->pool);
    } while (count == OVERDUE_REPORTS);
}

/* --- requests -----------------------------------------------------------------------------------
 */

static void hold_lease(struct admission *admission, pool_lease *lease, uint64_t now)
{
    const struct scheduler_request *request = &lease->request;

    for (uint32_t i = 0; i < request->devices; i++) {
        struct lease_budget *budget = &lease->parts[i].budget;

        budget->device = admission->devices[request->granted[i]];
        budget->lease = lease;
        budget->limit = request->bytes;
        budget->is_secret = (lease->flags & POOL_LEASE_SECRET) != 0;
        atomic_store_explicit(&budget->used, 0, memory_order_relaxed);
        atomic_store_explicit(&budget->peak, 0, memory_order_relaxed);
        atomic_store_explicit(&lease->parts[i].stream, NULL, memory_order_relaxed);
        device_reserved_changed(budget->device, (int64_t)request->bytes, 1);
        if (admission->states[request->granted[i]].reserved_slots > request->slots)
            admission->shared_ns[request->granted[i]] = now;
    }
    lease->granted_ns = now;
    lease->status = POOL_OK;
    if (lease->duration_ns && overdue_at(lease) < admission->overdue_ns) {
        admission->overdue_ns = overdue_at(lease);
        admission->has_new_deadline = true;
    }
    admission->held++;
    lease_histogram_add(
        &admission->statistics.granted_waits, lease_duration(request->submitted, now));
    atomic_store_explicit(&lease->state, LEASE_HELD, memory_order_release);
}

static pool_status status_of_decision(
    const struct admission *admission, enum scheduler_decision decision)
{
    if (decision == SCHEDULER_EXPIRED)
        return POOL_ERR_TIMEOUT;
    return device_state(admission->devices[0]) == POOL_DEVICE_POISONED ? POOL_ERR_PROCESS_POISONED
                                                                       : POOL_ERR_NO_DEVICE;
}

/* Puts the result of a decision into the lease. */
static void apply_decision(struct admission *admission, pool_lease *lease, uint64_t now)
{
    if (lease->request.decision == SCHEDULER_GRANTED) {
        hold_lease(admission, lease, now);
        return;
    }
    if (lease->request.decision != SCHEDULER_CANCELLED)
        lease->status = status_of_decision(admission, lease->request.decision);
    lease_histogram_add(
        &admission->statistics.failed_waits, lease_duration(lease->request.submitted, now));
    atomic_store_explicit(&lease->state, LEASE_FREE, memory_order_release);
}

static void end_wait(struct admission *admission, pool_lease *lease, uint64_t now)
{
    admission->waiting_bytes -= lease->request.bytes != 0;
    lease_queue_leave(&admission->statistics.queue, lease->request.priority);
    apply_decision(admission, lease, now);
    if (lease->ticket)
        ticket_decided(lease->ticket);
    else
        base_wake_post(&lease->wake);
}

void admission_deliver(struct admission *admission, uint64_t now)
{
    struct scheduler_request *request;

    while ((request = scheduler_take_decided(&admission->scheduler)))
        end_wait(admission, lease_of_request(request), now);
}

/* How long a device counts as shared after leases met there: a short job is often gone when a long
 * one starts that it would have to wait for the next time. */
#define SHARED_FOR_NS UINT64_C(1000000000)

bool lease_is_shared(const pool_lease *lease, const pool_device *device)
{
    struct admission *admission = device_pool_extension(device_pool_of(device));
    uint32_t own = 0, i = 0;
    bool is_shared = false;

    if (!admission)
        return false;
    while (i < admission->device_count && admission->devices[i] != device)
        i++;
    if (i == admission->device_count)
        return false;
    pthread_mutex_lock(&admission->lock);
    for (uint32_t part = 0; lease && part < lease->request.devices; part++)
        if (lease->request.granted[part] == i)
            own = lease->request.slots;
    if (own < admission->states[i].slots)
        is_shared = admission->states[i].reserved_slots > own ||
                    (admission->shared_ns[i] && lease_duration(admission->shared_ns[i],
                                                    admission_now(admission)) < SHARED_FOR_NS);
    pthread_mutex_unlock(&admission->lock);
    return is_shared;
}

enum scheduler_decision admission_submit(
    struct admission *admission, pool_lease *lease, const struct lease_terms *terms, uint64_t now)
{
    uint32_t *granted = lease->request.granted;
    enum scheduler_decision decision;

    if (terms->request.ranks)
        memcpy(lease->ranks, terms->request.ranks, admission->device_count * sizeof(*lease->ranks));
    lease->request = terms->request;
    lease->request.ranks = terms->request.ranks ? lease->ranks : NULL;
    lease->request.granted = granted;
    lease->flags = terms->flags;
    lease->duration_ns = terms->duration_ns;
    memcpy(lease->label, terms->label, sizeof(lease->label));
    base_wake_reset(&lease->wake);
    refresh(admission, now);
    if (terms->request.policy == SCHEDULER_LEAST_LOADED)
        for (uint32_t i = 0; i < admission->device_count; i++)
            admission->states[i].load = device_load(admission->devices[i]);
    decision = scheduler_submit(&admission->scheduler, &lease->request, now);
    if (decision == SCHEDULER_WAITING) {
        admission->waiting_bytes += terms->request.bytes != 0;
        lease_queue_enter(&admission->statistics.queue, terms->request.priority);
        atomic_store_explicit(&lease->state, LEASE_WAITING, memory_order_relaxed);
    } else {
        apply_decision(admission, lease, now);
    }
    return decision;
}

void admission_cancel(
    struct admission *admission, pool_lease *lease, pool_status status, uint64_t now)
{
    if (lease->request.decision != SCHEDULER_WAITING)
        return;
    scheduler_cancel(&admission->scheduler, &lease->request, SCHEDULER_CANCELLED, now);
    lease->status = status;
    end_wait(admission, lease, now);
    admission_deliver(admission, now);
}

/* --- the monitor's task -------------------------------------------------------------------------
 */

/* Samples free memory for requests that wait, ends waits whose deadline has passed, marks overdue
 * leases, calls hooks. */
static uint64_t run_task(void *user, uint64_t monitor_now)
{
    struct admission *admission = user;
    uint64_t now = admission_now(admission), due = SCHEDULER_NEVER;
    bool is_sampled;

    find_overdue(admission, now); /* first: the driver may not return */
    pthread_mutex_lock(&admission->lock);
    is_sampled = admission->waiting_bytes != 0;
    pthread_mutex_unlock(&admission->lock);
    if (is_sampled)
        (void)device_pool_sample(admission->pool);
    pthread_mutex_lock(&admission->lock);
    refresh(admission, now);
    scheduler_expire(&admission->scheduler, now);
    if (ticket_poll_cancels(admission, now))
        due = now + CANCEL_INTERVAL_NS;
    admission_deliver(admission, now);
    if (admission->waiting_bytes)
        due = earlier(due, now + SAMPLE_INTERVAL_NS);
    due = earlier(due, scheduler_next_deadline(&admission->scheduler));
    due = earlier(due, admission->overdue_ns);
    admission->has_new_deadline = false;
    pthread_mutex_unlock(&admission->lock);
    ticket_run_hooks(admission);
    /* The monitor's clock is the monotonic one, whatever a test has set. */
    return due == SCHEDULER_NEVER ? MONITOR_NEVER : monitor_now + (due > now ? due - now : 0);
}

pool_status admission_run_monitor(struct admission *admission, uint64_t due_ns)
{
    return monitor_schedule(device_pool_monitor(admission->pool), &admission->task, due_ns);
}

/* --- creation and destruction -------------------------------------------------------------------
 */

static void destroy_admission(void *object, bool is_forked)
{
    struct admission *admission = object;

    if (!is_forked) {
        pthread_cond_destroy(&admission->hook_returned);
        pthread_mutex_destroy(&admission->lock);
    }
    while (admission->chunks) {
        struct lease_chunk *chunk = admission->chunks;

        admission->chunks = chunk->next;
        free_chunk(chunk);
    }
    base_free(admission->devices);
    base_free(admission->states);
    base_free(admission->shared_ns);
    base_free(admission);
}

static pool_status init_devices(struct admission *admission)
{
    uint32_t count = admission->device_count;
    pool_status status = POOL_OK;

    admission->devices = base_calloc(count, sizeof(*admission->devices));
    admission->states = base_calloc(count, sizeof(*admission->states));
    admission->shared_ns = base_calloc(count, sizeof(*admission->shared_ns));
    if (!admission->devices || !admission->states || !admission->shared_ns)
        return base_fail_memory("the leases of a pool");
    for (uint32_t i = 0; i < count && !status; i++) {
        status = pool_device_at(admission->pool, i, &admission->devices[i]);
        if (status)
            return status;
        admission->states[i].slots = device_pool_slots(admission->pool);
        admission->states[i].limit_bytes = device_capacity_limit(admission->devices[i]);
        if (device_properties(admission->devices[i])->integrated ||
            device_properties(admission->devices[i])->partitions)
            admission->states[i].account =
                &admission->states[device_shares_with(admission->devices[i])];
    }
    (void)admission_read_devices(admission);
    scheduler_init(&admission->scheduler, admission->states, count, POOL_LEASE_AGING_NS);
    return POOL_OK;
}

static pool_status create_admission(device_pool *pool, void **object)
{
    struct admission *admission = base_calloc(1, sizeof(*admission));
    pthread_mutexattr_t attributes;
    pool_status status;

    if (!admission)
        return base_fail_memory("the leases of a pool");
    admission->pool = pool;
    admission->clock = base_clock_ns;
    admission->device_count = (uint32_t)pool_device_count(pool);
    admission->task.run = run_task;
    admission->task.user = admission;
    admission->overdue_ns = SCHEDULER_NEVER;
    /* The lock is held for some hundred nanoseconds: waiting threads spin before they sleep. */
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&admission->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_cond_init(&admission->hook_returned, NULL);
    status = init_devices(admission);
    if (!status && !add_chunk(admission))
        status = base_fail_memory("the leases of a pool");
    if (status) {
        destroy_admission(admission, false);
        return status;
    }
    device_pool_listen_states(pool, devices_changed, admission);
    *object = admission;
    return POOL_OK;
}

/* A lease of an abandoned device may never be released: its thread can be inside a driver call. */
static bool is_abandoned(const pool_lease *lease)
{
    for (uint32_t i = 0; i < lease->request.devices; i++)
        if (lease->request.decision == SCHEDULER_GRANTED &&
            device_is_abandoned(lease->parts[i].budget.device))
            return true;
    return false;
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

/* Whether something keeps the pool from being destroyed: how much, with the first labels. */
static bool describe_active(struct admission *admission, char *text, size_t size)
{
    char labels[4 * (POOL_LEASE_LABEL_BYTES + 4)] = "";
    uint32_t held = 0, shown = 0;
    size_t used = 0;

    for (const pool_lease *lease = admission->active; lease; lease = lease->next) {
        bool is_waiting = lease->request.decision == SCHEDULER_WAITING;

        if (is_abandoned(lease))
            continue;
        held += !is_waiting;
        if (lease->label[0] && shown < 4)
            used += (size_t)snprintf(labels + used, sizeof(labels) - used, "%s\"%s\"",
                shown++ ? ", " : ": ", lease->label);
    }
    snprintf(text, size,
        "the pool is in use: %u lease%s held, %u request%s waiting, %u ticket%s not destroyed%s",
        held, plural(held), admission->scheduler.waiting, plural(admission->scheduler.waiting),
        admission->tickets, plural(admission->tickets), labels);
    return held || admission->scheduler.waiting || admission->tickets;
}

static pool_status check_idle(void *object)
{
    struct admission *admission = object;
    char text[512];
    bool is_busy;

    pthread_mutex_lock(&admission->lock);
    is_busy = describe_active(admission, text, sizeof(text));
    pthread_mutex_unlock(&admission->lock);
    return is_busy ? base_fail(POOL_ERR_BUSY, "%s", text) : POOL_OK;
}

pool_status admission_of(device_pool *pool, struct admission **admission)
{
    static const struct device_pool_extension_type type = {
        .create = create_admission, .check_idle = check_idle, .destroy = destroy_admission};
    void *object;
    pool_status status = device_pool_extend(pool, &type, &object);

    if (!status)
        *admission = object;
    return status;
}
