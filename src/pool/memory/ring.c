/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging rings: pinned slots with one event each. A copy uses a ring exclusively; a device has
 * several rings, so that copies of several threads do not wait for each other's streams. Small
 * copies have rings of their own, of one slot.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/device/release.h"
#include "pool/memory/memory.h"

/*
 * Rings per device: four threads can copy at once, further ones wait.
 *
 * A copy to the host holds its ring until its stream has reached it, so a job with four threads can
 * hold all large rings for as long as its kernels take. Results of short jobs (window sums,
 * digests, openings, up to a few thousand elements) therefore have 64 rings of 256 KiB, as many as
 * threads that reasonably wait for results at once; a ring is pinned when all others are in use, in
 * 0.13 ms. Copies to the device are only enqueued, so one thread can have as many of them in flight
 * as it likes: the ninth on a stream waits for the first.
 */
enum { LARGE_RINGS_MAX = 4, SMALL_RINGS_MAX = 64, SMALL_OF_STREAM_MAX = 8 };

/* Rings beyond these for a copy whose stream is more urgent than those of all rings, which long
 * jobs hold for as long as their kernels take. */
enum { URGENT_RINGS_MAX = 2 };

static void set_shape(struct memory_staging *staging, const struct memory_staging_shape *shape)
{
    staging->large.shape = *shape;
    staging->small.shape = *shape;
    staging->small.shape.helpers = 0;
    staging->small.shape.slots = 1;
    staging->small.shape.chunk_bytes = shape->small_bytes;
    staging->small.shape.min_chunk_bytes = 0;
}

pool_status memory_staging_init(const struct copy_numbers *numbers, struct memory_staging *staging)
{
    const struct memory_staging_shape shape = {.helpers = numbers->helpers,
        .slots = numbers->slots,
        .chunk_bytes = numbers->chunk_bytes,
        .min_chunk_bytes = numbers->min_chunk_bytes,
        .small_bytes = MEMORY_SMALL_BYTES,
        .direct_bytes = MEMORY_DIRECT_BYTES};

    staging->large =
        (struct memory_rings){.most = LARGE_RINGS_MAX, .most_of_stream = LARGE_RINGS_MAX};
    staging->small =
        (struct memory_rings){.most = SMALL_RINGS_MAX, .most_of_stream = SMALL_OF_STREAM_MAX};
    set_shape(staging, &shape);
    if (pthread_mutex_init(&staging->lock, NULL))
        return base_fail_memory("a lock");
    if (pthread_cond_init(&staging->large.freed, NULL))
        goto destroy_lock;
    if (pthread_cond_init(&staging->small.freed, NULL))
        goto destroy_large;
    return POOL_OK;
destroy_large:
    pthread_cond_destroy(&staging->large.freed);
destroy_lock:
    pthread_mutex_destroy(&staging->lock);
    return base_fail_memory("a condition");
}

/* Continues after a failure and returns the first one. */
static pool_status destroy_ring(
    struct device_memory *memory, struct memory_ring *ring, int driver_alive)
{
    struct driver *driver = memory->driver;
    pool_status first = POOL_OK, status;

    for (uint32_t i = 0; driver_alive && i < ring->shape.slots; i++) {
        if (!ring->done[i])
            continue;
        status =
            ring->in_flight ? DRIVER_CLEANUP(driver, EventSynchronize(ring->done[i])) : POOL_OK;
        first = first ? first : status;
        status = DRIVER_CLEANUP(driver, EventDestroy(ring->done[i]));
        first = first ? first : status;
    }
    if (driver_alive && ring->block.record)
        memory_host_release(memory, &ring->block, false);
    else
        device_deferred_free(ring->block.record);
    if (ring->slots && !ring->is_abandoned)
        atomic_fetch_sub(&memory->staging.bytes, memory_ring_bytes(ring));
    base_free(ring);
    return first;
}

static pool_status create_ring(struct device_memory *memory, struct memory_rings *rings,
    const struct memory_staging_shape *shape, struct memory_ring **ring)
{
    struct memory_ring *created = base_calloc(1, sizeof(*created));
    struct driver *driver = memory->driver;
    struct base_error_copy first;
    pool_status status;

    if (!created)
        return base_fail_memory("a staging ring");
    created->rings = rings;
    created->shape = *shape;
    created->in_use = 1;
    status = memory_host_allocate(memory, memory_ring_bytes(created), 0, &created->block);
    if (!status) {
        created->slots = created->block.data;
        atomic_fetch_add(&memory->staging.bytes, memory_ring_bytes(created));
    }
    for (uint32_t i = 0; !status && i < created->shape.slots; i++)
        status = DRIVER_CALL(driver, EventCreate(&created->done[i], DRIVER_EVENT_DISABLE_TIMING));
    if (status) {
        base_error_save(&first);
        destroy_ring(memory, created, pool_status_class(status) != POOL_CLASS_PROCESS);
        base_error_restore(&first);
        return status;
    }
    *ring = created;
    return POOL_OK;
}

static void destroy_rings(struct device_memory *memory, struct memory_ring *ring, int driver_alive)
{
    while (ring) {
        struct memory_ring *next = ring->next;

        destroy_ring(memory, ring, driver_alive);
        ring = next;
    }
}

void memory_staging_free(struct device_memory *memory, int driver_alive)
{
    struct memory_staging *staging = &memory->staging;

    destroy_rings(memory, staging->abandoned, driver_alive);
    destroy_rings(memory, staging->large.first, driver_alive);
    destroy_rings(memory, staging->small.first, driver_alive);
    /* In a forked child the conditions may have waiters, for which their destruction would wait. */
    if (device_usable(memory->device, DEVICE_USE_HOST)) {
        pthread_cond_destroy(&staging->large.freed);
        pthread_cond_destroy(&staging->small.freed);
        pthread_mutex_destroy(&staging->lock);
    }
}

/* Moves the rings that are not in use to the list `idle`. Called with the lock held. */
static void detach_unused(struct memory_rings *rings, struct memory_ring **idle)
{
    for (struct memory_ring **at = &rings->first; *at;) {
        struct memory_ring *ring = *at;

        if (ring->in_use) {
            at = &ring->next;
            continue;
        }
        *at = ring->next;
        rings->count--;
        ring->next = *idle;
        *idle = ring;
    }
}

/* The driver has freed the slots of a context that has ended. */
static pool_status trim_rings(struct device_memory *memory, int driver_alive)
{
    pool_status first = POOL_OK, status;
    struct memory_staging *staging = &memory->staging;
    struct memory_ring *idle = NULL;

    pthread_mutex_lock(&staging->lock);
    detach_unused(&staging->large, &idle);
    detach_unused(&staging->small, &idle);
    pthread_mutex_unlock(&staging->lock);
    while (idle) {
        struct memory_ring *next = idle->next;

        status = destroy_ring(memory, idle, driver_alive);
        first = first ? first : status;
        idle = next;
    }
    return first;
}

pool_status memory_staging_trim(struct device_memory *memory)
{
    return trim_rings(memory, 1);
}

void memory_staging_renew(struct device_memory *memory)
{
    struct memory_staging *staging = &memory->staging;

    pthread_mutex_lock(&staging->lock);
    /* The process that could access them has ended. Their bytes stay subtracted. */
    while (staging->abandoned) {
        struct memory_ring *ring = staging->abandoned;

        staging->abandoned = ring->next;
        ring->in_use = 0;
        ring->next = ring->rings->first;
        ring->rings->first = ring;
        ring->rings->count++;
    }
    for (struct memory_ring *ring = staging->large.first; ring; ring = ring->next)
        ring->in_flight = 0;
    for (struct memory_ring *ring = staging->small.first; ring; ring = ring->next)
        ring->in_flight = 0;
    pthread_mutex_unlock(&staging->lock);
    (void)trim_rings(memory, !device_has_lost_context(memory->device));
}

/* POOL_OK when no copy of the ring is in flight, else NOT_READY. The chunks of a copy are on one
 * stream, and the copy before it had completed before it began. Called with the lock held. */
static pool_status check_idle(struct device_memory *memory, struct memory_ring *ring)
{
    struct driver *driver = memory->driver;
    pool_status status;

    if (!ring->in_flight)
        return POOL_OK;
    status =
        driver_check_query(driver, driver->api.EventQuery(ring->done[ring->last]), "cuEventQuery");
    if (!status)
        ring->in_flight = 0;
    return status;
}

/* The first ring that is known to be idle. Called with the lock held. */
static struct memory_ring *find_idle(const struct memory_rings *rings)
{
    for (struct memory_ring *ring = rings->first; ring; ring = ring->next)
        if (!ring->in_use && !ring->in_flight)
            return ring;
    return NULL;
}

static struct memory_ring *older(struct memory_ring *one, struct memory_ring *other)
{
    return !one || other->order < one->order ? other : one;
}

/* How many rings there may be for a copy of that priority. */
static unsigned most_for(const struct memory_rings *rings, int priority)
{
    unsigned less_urgent = 0;

    for (const struct memory_ring *ring = rings->first; ring; ring = ring->next)
        less_urgent += ring->priority > priority;
    return rings->most + (less_urgent == rings->count ? URGENT_RINGS_MAX : 0);
}

static bool has_more_urgent_waiter(const struct memory_rings *rings, int priority)
{
    const struct memory_ring_waiter *waiter = rings->waiters;

    while (waiter && waiter->priority >= priority)
        waiter = waiter->next;
    return waiter != NULL;
}

/* A thread behind it may find a ring now. Called with the lock held. */
static void remove_waiter(struct memory_rings *rings, const struct memory_ring_waiter *waiter)
{
    struct memory_ring_waiter **at = &rings->waiters;

    while (*at && *at != waiter)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = waiter->next;
    if (rings->waiters)
        pthread_cond_broadcast(&rings->freed);
}

/*
 * Finds a ring for a copy on `stream`: an idle one, or one in flight where no ring may be created;
 * NULL if there is none. The driver is queried only where no ring is known to be idle. Called with
 * the lock held.
 */
static pool_status find_ring(struct device_memory *memory, const struct memory_rings *rings,
    CUstream stream, int priority, struct memory_ring **found)
{
    struct memory_ring *oldest = NULL, *own = NULL;
    unsigned of_stream = 0;

    *found = find_idle(rings);
    for (struct memory_ring *ring = rings->first; ring && !*found; ring = ring->next) {
        pool_status status;

        if (ring->in_use)
            continue;
        status = check_idle(memory, ring);
        if (!status)
            *found = ring;
        else if (status != POOL_ERR_NOT_READY)
            return status;
        oldest = older(oldest, ring);
        if (ring->stream == stream) {
            own = older(own, ring);
            of_stream++;
        }
    }
    if (!*found && of_stream >= rings->most_of_stream)
        *found = own;
    else if (!*found && rings->count >= most_for(rings, priority))
        *found = own ? own : oldest;
    return POOL_OK;
}

static pool_status wait_until_idle(struct device_memory *memory, struct memory_ring *ring)
{
    pool_status status = POOL_OK;

    if (ring->in_flight)
        status = DRIVER_CALL(memory->driver, EventSynchronize(ring->done[ring->last]));
    if (status)
        memory_ring_release(memory, ring);
    else
        ring->in_flight = 0;
    return status;
}

/* Creates a ring and adds it to the list. Called with the lock held, which is released in between.
 */
static pool_status add_ring(
    struct device_memory *memory, struct memory_rings *rings, struct memory_ring **ring)
{
    struct memory_staging *staging = &memory->staging;
    const struct memory_staging_shape shape = rings->shape;
    pool_status status;

    rings->count++;
    pthread_mutex_unlock(&staging->lock);
    status = create_ring(memory, rings, &shape, ring);
    pthread_mutex_lock(&staging->lock);
    if (status) {
        rings->count--;
        pthread_cond_broadcast(&rings->freed);
    } else {
        (*ring)->next = rings->first;
        rings->first = *ring;
    }
    return status;
}

pool_status memory_ring_acquire(struct device_memory *memory, uint64_t bytes, CUstream stream,
    int priority, struct memory_ring **ring)
{
    struct memory_staging *staging = &memory->staging;
    struct memory_ring_waiter waiter = {.priority = priority};
    struct memory_ring *found = NULL;
    struct memory_rings *rings;
    pool_status status = POOL_OK;

    pthread_mutex_lock(&staging->lock);
    rings = bytes <= staging->small.shape.chunk_bytes ? &staging->small : &staging->large;
    for (bool is_waiting = false; !found && !status;) {
        const bool is_first = !has_more_urgent_waiter(rings, priority);

        if (is_first)
            status = find_ring(memory, rings, stream, priority, &found);
        if (is_first && !status && !found && rings->count < most_for(rings, priority))
            status = add_ring(memory, rings, &found);
        if (status || found)
            break;
        if (!is_waiting) {
            is_waiting = true;
            waiter.next = rings->waiters;
            rings->waiters = &waiter;
        }
        pthread_cond_wait(&rings->freed, &staging->lock);
    }
    remove_waiter(rings, &waiter);
    if (!status) {
        found->in_use = 1;
        found->stream = stream;
        found->priority = priority;
        found->order = ++rings->copies;
    }
    pthread_mutex_unlock(&staging->lock);
    if (!status)
        status = wait_until_idle(memory, found);
    if (!status)
        *ring = found;
    return status;
}

uint64_t memory_longest_row(const struct device_memory *memory)
{
    return memory->staging.large.shape.chunk_bytes;
}

void memory_ring_release(struct device_memory *memory, struct memory_ring *ring)
{
    struct memory_staging *staging = &memory->staging;

    pthread_mutex_lock(&staging->lock);
    ring->in_use = 0;
    pthread_cond_broadcast(&ring->rings->freed);
    pthread_mutex_unlock(&staging->lock);
}

void memory_ring_abandon(struct device_memory *memory, struct memory_ring *ring)
{
    struct memory_staging *staging = &memory->staging;
    struct memory_ring **at;

    pthread_mutex_lock(&staging->lock);
    for (at = &ring->rings->first; *at != ring; at = &(*at)->next)
        ;
    *at = ring->next;
    ring->rings->count--;
    ring->is_abandoned = 1;
    ring->next = staging->abandoned;
    staging->abandoned = ring;
    pthread_cond_broadcast(&ring->rings->freed);
    pthread_mutex_unlock(&staging->lock);
    if (!driver_is_poisoned(memory->driver))
        base_log(POOL_LOG_WARN,
            "%llu bytes of pinned staging memory are not reused: the device may access them",
            (unsigned long long)memory_ring_bytes(ring));
    atomic_fetch_sub(&staging->bytes, memory_ring_bytes(ring));
}

pool_status memory_staging_reshape(pool_device *device, const struct memory_staging_shape *shape)
{
    struct device_memory *memory;
    struct device_scope scope;
    pool_status status;

    if (!shape->slots || shape->slots > MEMORY_SLOTS_MAX || !shape->chunk_bytes ||
        shape->small_bytes > shape->chunk_bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "unsupported shape of the staging ring");
    status = device_enter(device, &scope);
    if (status)
        return status;
    status = memory_of(&scope, &memory);
    if (!status) {
        status = memory_staging_trim(memory);
        pthread_mutex_lock(&memory->staging.lock);
        set_shape(&memory->staging, shape);
        pthread_mutex_unlock(&memory->staging.lock);
    }
    return device_leave(&scope, status);
}
