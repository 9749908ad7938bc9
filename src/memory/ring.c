/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging rings: pinned slots with an event each. A copy has a ring for itself; a device has a few
 * of them, so that copies of several threads do not wait for each other's streams.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "memory/memory.h"
#include "pool/release.h"

/* Rings of a device. Four threads can be copying; more wait for one of them. */
#define RINGS_MAX 4

/*
 * Slots of 1 MiB: the driver's part for one (two calls, about 5 us) is small against the 20 us that
 * the link needs for it, and four threads find work in a copy of a few megabytes. 16 of them are 4
 * being filled, as many on their way and slack, and stay in the last-level cache of a server.
 * Copies up to 128 KiB are not worth a ring: the driver has its own staging for them.
 */
static const struct memory_staging_shape default_shape = {
    .helpers = 3, .slots = 16, .piece_bytes = 1u << 20, .direct_bytes = 128u << 10};

pool_status memory_staging_init(struct memory_staging *staging)
{
    staging->shape = default_shape;
    staging->rings = NULL;
    staging->count = 0;
    if (pthread_mutex_init(&staging->lock, NULL))
        return base_fail_memory("a lock");
    if (pthread_cond_init(&staging->freed, NULL)) {
        pthread_mutex_destroy(&staging->lock);
        return base_fail_memory("a condition");
    }
    return POOL_OK;
}

/* Goes on after a failure and answers the first one. */
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
    if (ring->slots && !ring->is_lost)
        atomic_fetch_sub(&memory->staging.bytes, memory_ring_bytes(ring));
    if (device_is_forked(memory->device))
        base_thread_pool_forget(&ring->helpers);
    else
        base_thread_pool_destroy(&ring->helpers);
    base_free(ring);
    return first;
}

static pool_status make_ring(struct device_memory *memory, struct memory_ring **ring)
{
    struct memory_ring *made = base_calloc(1, sizeof(*made));
    struct driver *driver = memory->driver;
    struct base_error_copy first;
    pool_status status;

    if (!made)
        return base_fail_memory("a staging ring");
    made->shape = memory->staging.shape;
    made->in_use = 1;
    status = memory_host_allocate(memory, memory_ring_bytes(made), 0, &made->block);
    if (!status) {
        made->slots = made->block.data;
        atomic_fetch_add(&memory->staging.bytes, memory_ring_bytes(made));
    }
    for (uint32_t i = 0; !status && i < made->shape.slots; i++)
        status = DRIVER_CALL(driver, EventCreate(&made->done[i], DRIVER_EVENT_DISABLE_TIMING));
    if (status) {
        base_error_save(&first);
        destroy_ring(memory, made, pool_status_class(status) != POOL_CLASS_PROCESS);
        base_error_restore(&first);
        return status;
    }
    *ring = made;
    return POOL_OK;
}

void memory_staging_free(struct device_memory *memory, int driver_alive)
{
    struct memory_staging *staging = &memory->staging;

    while (staging->lost) {
        struct memory_ring *ring = staging->lost;

        staging->lost = ring->next;
        ring->next = staging->rings;
        staging->rings = ring;
    }
    while (staging->rings) {
        struct memory_ring *ring = staging->rings;

        staging->rings = ring->next;
        destroy_ring(memory, ring, driver_alive);
    }
    /* In a forked child the condition may have waiters: destroying it would wait for them. */
    if (!device_is_forked(memory->device)) {
        pthread_cond_destroy(&staging->freed);
        pthread_mutex_destroy(&staging->lock);
    }
}

pool_status memory_staging_trim(struct device_memory *memory)
{
    pool_status first = POOL_OK, status;
    struct memory_staging *staging = &memory->staging;
    struct memory_ring *idle = NULL, **at;

    pthread_mutex_lock(&staging->lock);
    for (at = &staging->rings; *at;) {
        struct memory_ring *ring = *at;

        if (ring->in_use) {
            at = &ring->next;
            continue;
        }
        *at = ring->next;
        staging->count--;
        ring->next = idle;
        idle = ring;
    }
    pthread_mutex_unlock(&staging->lock);
    while (idle) {
        struct memory_ring *next = idle->next;

        status = destroy_ring(memory, idle, 1);
        first = first ? first : status;
        idle = next;
    }
    return first;
}

/* POOL_OK when the device is done with the ring, NOT_READY when not. */
static pool_status is_quiet(struct device_memory *memory, const struct memory_ring *ring)
{
    struct driver *driver = memory->driver;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; ring->in_flight && !status && i < ring->shape.slots; i++)
        status = driver_check_query(driver, driver->api.EventQuery(ring->done[i]), "cuEventQuery");
    return status;
}

/* Under the lock: a free ring, one that is quiet if there is such a one; NULL: none is free. */
static pool_status find_ring(struct device_memory *memory, struct memory_ring **found, int *quiet)
{
    *found = NULL;
    for (struct memory_ring *ring = memory->staging.rings; ring; ring = ring->next) {
        pool_status status;

        if (ring->in_use)
            continue;
        status = is_quiet(memory, ring);
        *quiet = !status;
        *found = ring;
        if (status != POOL_ERR_NOT_READY)
            return status;
    }
    return POOL_OK;
}

static pool_status settle(struct device_memory *memory, struct memory_ring *ring)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; ring->in_flight && !status && i < ring->shape.slots; i++)
        status = DRIVER_CALL(memory->driver, EventSynchronize(ring->done[i]));
    if (status)
        memory_ring_give(memory, ring);
    else
        ring->in_flight = 0;
    return status;
}

/* Under the lock, given up in between: makes a ring and puts it into the list. */
static pool_status add_ring(struct device_memory *memory, struct memory_ring **ring)
{
    struct memory_staging *staging = &memory->staging;
    pool_status status;

    staging->count++;
    pthread_mutex_unlock(&staging->lock);
    status = make_ring(memory, ring);
    pthread_mutex_lock(&staging->lock);
    if (status) {
        staging->count--;
        pthread_cond_signal(&staging->freed);
    } else {
        (*ring)->next = staging->rings;
        staging->rings = *ring;
    }
    return status;
}

pool_status memory_ring_take(struct device_memory *memory, struct memory_ring **ring)
{
    struct memory_staging *staging = &memory->staging;
    struct memory_ring *found = NULL;
    pool_status status = POOL_OK;
    int quiet = 1;

    pthread_mutex_lock(&staging->lock);
    while (!found && !status) {
        status = find_ring(memory, &found, &quiet);
        if (status)
            break;
        if (found && (quiet || staging->count >= RINGS_MAX)) {
            found->in_use = 1;
        } else if (staging->count < RINGS_MAX) {
            found = NULL;
            status = add_ring(memory, &found);
        } else {
            pthread_cond_wait(&staging->freed, &staging->lock);
        }
    }
    pthread_mutex_unlock(&staging->lock);
    if (!status)
        status = settle(memory, found);
    if (!status)
        *ring = found;
    return status;
}

void memory_ring_give(struct device_memory *memory, struct memory_ring *ring)
{
    struct memory_staging *staging = &memory->staging;

    pthread_mutex_lock(&staging->lock);
    ring->in_use = 0;
    pthread_cond_signal(&staging->freed);
    pthread_mutex_unlock(&staging->lock);
}

void memory_ring_abandon(struct device_memory *memory, struct memory_ring *ring)
{
    struct memory_staging *staging = &memory->staging;
    struct memory_ring **at;

    pthread_mutex_lock(&staging->lock);
    for (at = &staging->rings; *at != ring; at = &(*at)->next)
        ;
    *at = ring->next;
    staging->count--;
    ring->is_lost = 1;
    ring->next = staging->lost;
    staging->lost = ring;
    pthread_cond_signal(&staging->freed);
    pthread_mutex_unlock(&staging->lock);
    if (!driver_is_poisoned(memory->driver))
        base_log(POOL_LOG_WARN,
            "%llu bytes of pinned staging are given up: the device may use them",
            (unsigned long long)memory_ring_bytes(ring));
    atomic_fetch_sub(&staging->bytes, memory_ring_bytes(ring));
}

pool_status memory_staging_reshape(pool_device *device, const struct memory_staging_shape *shape)
{
    struct device_memory *memory;
    struct device_scope scope;
    pool_status status;

    if (!shape->slots || shape->slots > MEMORY_SLOTS_MAX || !shape->piece_bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "no such staging ring");
    status = device_enter(device, &scope);
    if (status)
        return status;
    status = memory_of(&scope, &memory);
    if (!status) {
        status = memory_staging_trim(memory);
        pthread_mutex_lock(&memory->staging.lock);
        memory->staging.shape = *shape;
        pthread_mutex_unlock(&memory->staging.lock);
    }
    return device_leave(&scope, status);
}
