/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what the admission counts: see statistics.h.
 */
#include "pool/lease/statistics.h"

#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "pool/device/extension.h"
#include "pool/lease/admission.h"

#define BOUND_NS(seconds) (uint64_t)((seconds)*1e9),
const uint64_t lease_bounds_ns[LEASE_BUCKETS - 1] = {LEASE_BOUNDS(BOUND_NS)};

/* The number of waiting requests that have this priority; it is added to the list if necessary. */
static uint32_t *class_of(struct lease_queue *queue, int32_t priority)
{
    uint32_t i = 0;

    while (i < queue->class_count && queue->classes[i].priority != priority)
        i++;
    if (i == LEASE_CLASSES)
        return &queue->others;
    if (i == queue->class_count)
        queue->classes[queue->class_count++] = (struct lease_class){.priority = priority};
    return &queue->classes[i].waiting;
}

void lease_queue_enter(struct lease_queue *queue, int32_t priority)
{
    ++*class_of(queue, priority);
}

void lease_queue_leave(struct lease_queue *queue, int32_t priority)
{
    --*class_of(queue, priority);
}

static uint64_t count_of(const struct lease_histogram *histogram)
{
    uint64_t count = 0;

    for (int i = 0; i < LEASE_BUCKETS; i++)
        count += histogram->counts[i];
    return count;
}

/* Called with the lock held. */
static void read_active(
    const struct admission *admission, uint64_t now, struct lease_statistics *statistics)
{
    for (const pool_lease *lease = admission->active; lease; lease = lease->next) {
        uint64_t waited = lease_duration(lease->request.submitted, now);

        if (lease->request.decision == SCHEDULER_GRANTED)
            statistics->overdue += lease_is_overdue(lease, now);
        else if (lease->request.decision == SCHEDULER_WAITING &&
                 waited > statistics->longest_wait_ns)
            statistics->longest_wait_ns = waited;
    }
}

void lease_statistics_read(device_pool *pool, struct lease_statistics *statistics)
{
    struct admission *admission = device_pool_extension(pool);
    uint64_t now;

    *statistics = (struct lease_statistics){0};
    if (!admission)
        return;
    now = admission_now(admission);
    pthread_mutex_lock(&admission->lock);
    *statistics = admission->statistics;
    statistics->granted = count_of(&statistics->granted_waits);
    statistics->failed = count_of(&statistics->failed_waits);
    statistics->held = admission->held;
    statistics->waiting = admission->scheduler.waiting;
    read_active(admission, now, statistics);
    pthread_mutex_unlock(&admission->lock);
}

pool_status pool_get_lease_counts(device_pool *pool, pool_lease_counts *counts)
{
    static const struct base_struct type = BASE_STRUCT(pool_lease_counts);
    pool_lease_counts known = {.struct_size = sizeof(known)};
    struct lease_statistics statistics;
    pool_status status = pool ? base_struct_check(&type, "pool_get_lease_counts", "counts", counts)
                              : base_fail_null("pool_get_lease_counts", "pool");

    if (!status)
        status = device_pool_check(pool, DEVICE_USE_HOST);
    if (status)
        return status;
    lease_statistics_read(pool, &statistics);
    known.leases = (uint32_t)statistics.held;
    known.overdue = (uint32_t)statistics.overdue;
    known.waiting = (uint32_t)statistics.waiting;
    known.longest_wait_ns = statistics.longest_wait_ns;
    known.granted = statistics.granted;
    known.failed = statistics.failed;
    known.became_overdue = statistics.became_overdue;
    base_struct_write(&type, &known, counts);
    return POOL_OK;
}

/* ---- views of single leases and requests -------------------------------------------------------
 */

static void view_request(
    const pool_lease *lease, const struct scheduler_request *head, struct lease_view *view)
{
    const struct scheduler_request *request = &lease->request;

    memcpy(view->label, lease->label, sizeof(view->label));
    view->bytes = request->bytes;
    view->duration_ns = lease->duration_ns;
    view->devices = request->devices;
    view->slots = request->slots;
    view->priority = request->priority;
    view->is_head = request == head;
}

static void view_waiting(const struct admission *admission, uint64_t now, struct lease_views *views)
{
    const struct scheduler *scheduler = &admission->scheduler;
    uint32_t count = 0;

    for (const struct scheduler_request *at = scheduler->first; at && count < LEASE_VIEWS;
         at = at->next) {
        struct lease_view *view = &views->waiting[count++];

        view_request(lease_of_request(at), scheduler->head, view);
        view->waited_ns = lease_duration(at->submitted, now);
    }
    views->waiting_count = count;
    views->waiting_omitted = scheduler->waiting - count;
}

static void view_lease(
    const pool_lease *lease, uint64_t now, struct lease_view *view, uint32_t *indices)
{
    view_request(lease, NULL, view);
    view->held_ns = lease_duration(lease->granted_ns, now);
    view->waited_ns = lease_duration(lease->request.submitted, lease->granted_ns);
    view->is_overdue = lease_is_overdue(lease, now);
    view->indices = indices;
    for (uint32_t i = 0; i < view->devices; i++) {
        const struct lease_budget *budget = &lease->parts[i].budget;

        indices[i] = lease->request.granted[i];
        view->used_bytes += budget->limit - lease_budget_left(budget);
    }
}

/* The list of active leases begins with the latest request. */
static void view_held(
    const struct admission *admission, uint64_t now, struct lease_views *views, uint32_t *indices)
{
    uint32_t omitted = admission->held > LEASE_VIEWS ? admission->held - LEASE_VIEWS : 0;
    uint32_t left = admission->held;

    views->held_count = left - omitted;
    views->held_omitted = omitted;
    for (const pool_lease *lease = admission->active; lease && left; lease = lease->next) {
        if (lease->request.decision != SCHEDULER_GRANTED || left-- > LEASE_VIEWS)
            continue;
        view_lease(
            lease, now, &views->held[left], indices + (size_t)left * admission->device_count);
    }
}

struct lease_views *lease_views_read(device_pool *pool)
{
    struct admission *admission = device_pool_extension(pool);
    size_t indices = admission ? (size_t)LEASE_VIEWS * admission->device_count : 0;
    struct lease_views *views = base_calloc(1, sizeof(*views) + indices * sizeof(uint32_t));
    uint64_t now;

    if (!views || !admission)
        return views;
    now = admission_now(admission);
    pthread_mutex_lock(&admission->lock);
    view_held(admission, now, views, (uint32_t *)(void *)(views + 1));
    view_waiting(admission, now, views);
    pthread_mutex_unlock(&admission->lock);
    return views;
}
