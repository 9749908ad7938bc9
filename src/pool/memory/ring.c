/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging rings: pinned slots with one event each. A copy uses a ring exclusively; a device has
 * several rings, so that copies of several threads do not wait for each other's streams. Small
 * copies have rings of their own, of one slot.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "base/math.h"
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

/* Rings beyond these for copies that are more urgent than some that are in progress, which hold
 * their rings for as long as the kernels of long jobs take. The less urgent ones cannot take them
 * over.
 */
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

static pool_status allocate_slots(struct device_memory *memory, struct memory_ring *ring)
{
    struct driver *driver = memory->driver;
    pool_status status = memory_host_allocate(memory, memory_ring_bytes(ring), 0, &ring->block);

    if (!status) {
        ring->slots = ring->block.data;
        atomic_fetch_add(&memory->staging.bytes, memory_ring_bytes(ring));
    }
    for (uint32_t i = 0; !status && i < ring->shape.slots; i++)
        status = DRIVER_CALL(driver, EventCreate(&ring->done[i], DRIVER_EVENT_DISABLE_TIMING));
    return status;
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

/* Copies in progress, as far as is known. */
struct ring_load {
    unsigned busy;        /* rings, in use or in flight */
    unsigned less_urgent; /* of these: than the copy in question */
    unsigned in_use;      /* of `busy`: the thread that releases the ring wakes those that wait */
    unsigned in_use_as_urgent;
};

/* Called with the lock held. */
static struct ring_load load_for(const struct memory_rings *rings, int priority)
{
    struct ring_load load = {0};

    for (const struct memory_ring *ring = rings->first; ring; ring = ring->next) {
        const bool is_less_urgent = ring->priority > priority;

        if (!ring->in_use && !ring->in_flight)
            continue;
        load.busy++;
        load.less_urgent += is_less_urgent;
        load.in_use += ring->in_use != 0;
        load.in_use_as_urgent += ring->in_use && !is_less_urgent;
    }
    return load;
}

/* Whether a copy of that priority may take one more ring; `may_exceed`: beyond the usual number.
 * Called with the lock held. */
static bool may_take(const struct memory_rings *rings, int priority, bool may_exceed)
{
    const struct ring_load load = load_for(rings, priority);
    const uint64_t extra = may_exceed ? base_min(load.less_urgent, URGENT_RINGS_MAX) : 0;

    return load.busy < rings->most + extra;
}

static struct memory_ring *older(struct memory_ring *one, struct memory_ring *other)
{
    return !one || other->order < one->order ? other : one;
}

/* Its copy will probably end first. */
static struct memory_ring *more_urgent(struct memory_ring *one, struct memory_ring *other)
{
    if (one && one->priority != other->priority)
        return other->priority < one->priority ? other : one;
    return older(one, other);
}

/*
 * The ring in flight whose copy it is best to wait for; NULL: one that is in use. No extra ring
 * comes to a less urgent copy, unless nothing else would wake that. Called with the lock held.
 */
static struct memory_ring *find_successor(const struct memory_rings *rings, int priority)
{
    const struct ring_load load = load_for(rings, priority);
    struct memory_ring *best = NULL;

    for (struct memory_ring *ring = rings->first; ring; ring = ring->next)
        if (!ring->in_use && ring->in_flight &&
            (ring->priority >= priority || load.busy <= rings->most || !load.in_use))
            best = more_urgent(best, ring);
    return best && best->priority > priority && load.in_use_as_urgent ? NULL : best;
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
 * Finds a ring for a copy on `stream`: an idle one, or one in flight where none may be added; NULL
 * if there is none. The driver is queried only where no ring is known to be idle, or the copies
 * in progress are too many. Called with the lock held.
 */
static pool_status find_ring(struct device_memory *memory, const struct memory_rings *rings,
    CUstream stream, int priority, bool may_exceed, struct memory_ring **found)
{
    struct memory_ring *own = NULL;
    unsigned of_stream = 0;

    *found = may_take(rings, priority, true) ? find_idle(rings) : NULL;
    for (struct memory_ring *ring = rings->first; ring && !*found; ring = ring->next) {
        pool_status status;

        if (ring->in_use)
            continue;
        status = check_idle(memory, ring);
        if (status && status != POOL_ERR_NOT_READY)
            return status;
        if (!status && may_take(rings, priority, true))
            *found = ring;
        if (status && ring->stream == stream) {
            own = older(own, ring);
            of_stream++;
        }
    }
    if (!*found && of_stream >= rings->most_of_stream)
        *found = own;
    else if (!*found && !may_take(rings, priority, may_exceed))
        *found = own ? own : find_successor(rings, priority);
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

/* Called with the lock held. */
static void remove_ring(const struct memory_ring *ring)
{
    struct memory_ring **at = &ring->rings->first;

    while (*at != ring)
        at = &(*at)->next;
    *at = ring->next;
    pthread_cond_broadcast(&ring->rings->freed);
}

/* Creates a ring, which counts from the beginning. Called with the lock held, which is released in
 * between. */
static pool_status add_ring(struct device_memory *memory, struct memory_rings *rings, int priority,
    struct memory_ring **added)
{
    struct memory_ring *ring = base_calloc(1, sizeof(*ring));
    struct memory_staging *staging = &memory->staging;
    struct base_error_copy first;
    pool_status status;

    if (!ring)
        return base_fail_memory("a staging ring");
    *ring = (struct memory_ring){.rings = rings,
        .next = rings->first,
        .shape = rings->shape,
        .in_use = 1,
        .priority = priority};
    rings->first = ring;
    pthread_mutex_unlock(&staging->lock);
    status = allocate_slots(memory, ring);
    pthread_mutex_lock(&staging->lock);
    if (!status) {
        *added = ring;
        return POOL_OK;
    }
    remove_ring(ring);
    pthread_mutex_unlock(&staging->lock);
    base_error_save(&first);
    destroy_ring(memory, ring, pool_status_class(status) != POOL_CLASS_PROCESS);
    base_error_restore(&first);
    pthread_mutex_lock(&staging->lock);
    return status;
}

/*
 * add_ring, where that may be. For lack of memory beyond the usual number it clears *may_exceed
 * instead of a failure: the copy waits. Called with the lock held.
 */
static pool_status try_to_add(struct device_memory *memory, struct memory_rings *rings,
    int priority, bool *may_exceed, struct memory_ring **added)
{
    const bool is_extra = !may_take(rings, priority, false);
    struct base_error_copy before;
    pool_status status;

    base_error_save(&before);
    status = add_ring(memory, rings, priority, added);
    if (status != POOL_ERR_OUT_OF_HOST_MEMORY || !is_extra)
        return status;
    base_error_restore(&before);
    *may_exceed = false;
    return POOL_OK;
}

pool_status memory_ring_acquire(struct device_memory *memory, uint64_t bytes, CUstream stream,
    int priority, struct memory_ring **ring)
{
    struct memory_staging *staging = &memory->staging;
    struct memory_ring_waiter waiter = {.priority = priority};
    struct memory_ring *found = NULL;
    struct memory_rings *rings;
    pool_status status = POOL_OK;
    bool may_exceed = true;

    pthread_mutex_lock(&staging->lock);
    rings = bytes <= staging->small.shape.chunk_bytes ? &staging->small : &staging->large;
    for (bool is_waiting = false; !found && !status;) {
        const bool is_first = !has_more_urgent_waiter(rings, priority);

        if (is_first)
            status = find_ring(memory, rings, stream, priority, may_exceed, &found);
        if (is_first && !status && !found && may_take(rings, priority, may_exceed)) {
            status = try_to_add(memory, rings, priority, &may_exceed, &found);
            if (!may_exceed)
                continue;
        }
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

    pthread_mutex_lock(&staging->lock);
    remove_ring(ring);
    ring->is_abandoned = 1;
    ring->next = staging->abandoned;
    staging->abandoned = ring;
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
