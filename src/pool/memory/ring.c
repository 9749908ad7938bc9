/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging rings: pinned slots with one event each. A copy uses a ring exclusively; a device has
 * several rings, so that copies of several threads do not wait for each other's streams.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/device/release.h"
#include "pool/memory/memory.h"

/* Rings per device: four threads can copy at once, further ones wait. */
#define RINGS_MAX 4

pool_status memory_staging_init(const struct copy_numbers *numbers, struct memory_staging *staging)
{
    staging->shape = (struct memory_staging_shape){.helpers = numbers->helpers,
        .slots = numbers->slots,
        .chunk_bytes = numbers->chunk_bytes,
        .direct_bytes = numbers->direct_bytes,
        .min_chunk_bytes = numbers->min_chunk_bytes};
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

static pool_status create_ring(struct device_memory *memory,
    const struct memory_staging_shape *shape, struct memory_ring **ring)
{
    struct memory_ring *created = base_calloc(1, sizeof(*created));
    struct driver *driver = memory->driver;
    struct base_error_copy first;
    pool_status status;

    if (!created)
        return base_fail_memory("a staging ring");
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

void memory_staging_free(struct device_memory *memory, int driver_alive)
{
    struct memory_staging *staging = &memory->staging;

    while (staging->abandoned) {
        struct memory_ring *ring = staging->abandoned;

        staging->abandoned = ring->next;
        ring->next = staging->rings;
        staging->rings = ring;
    }
    while (staging->rings) {
        struct memory_ring *ring = staging->rings;

        staging->rings = ring->next;
        destroy_ring(memory, ring, driver_alive);
    }
    /* In a forked child the condition may have waiters, for which its destruction would wait. */
    if (!device_is_forked(memory->device)) {
        pthread_cond_destroy(&staging->freed);
        pthread_mutex_destroy(&staging->lock);
    }
}

/* The driver has freed the slots of a context that has ended. */
static pool_status trim_rings(struct device_memory *memory, int driver_alive)
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
        ring->next = staging->rings;
        staging->rings = ring;
        staging->count++;
    }
    for (struct memory_ring *ring = staging->rings; ring; ring = ring->next)
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

/* Finds a ring that is not in use, preferably an idle one; NULL if there is none. Called with the
 * lock held. */
static pool_status find_ring(struct device_memory *memory, struct memory_ring **found, int *is_idle)
{
    *found = NULL;
    for (struct memory_ring *ring = memory->staging.rings; ring; ring = ring->next) {
        pool_status status;

        if (ring->in_use)
            continue;
        status = check_idle(memory, ring);
        *is_idle = !status;
        *found = ring;
        if (status != POOL_ERR_NOT_READY)
            return status;
    }
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
static pool_status add_ring(struct device_memory *memory, struct memory_ring **ring)
{
    struct memory_staging *staging = &memory->staging;
    const struct memory_staging_shape shape = staging->shape;
    pool_status status;

    staging->count++;
    pthread_mutex_unlock(&staging->lock);
    status = create_ring(memory, &shape, ring);
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

pool_status memory_ring_acquire(struct device_memory *memory, struct memory_ring **ring)
{
    struct memory_staging *staging = &memory->staging;
    struct memory_ring *found = NULL;
    pool_status status = POOL_OK;
    int is_idle = 1;

    pthread_mutex_lock(&staging->lock);
    while (!found && !status) {
        status = find_ring(memory, &found, &is_idle);
        if (status)
            break;
        if (found && (is_idle || staging->count >= RINGS_MAX)) {
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
        status = wait_until_idle(memory, found);
    if (!status)
        *ring = found;
    return status;
}

void memory_ring_release(struct device_memory *memory, struct memory_ring *ring)
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
    ring->is_abandoned = 1;
    ring->next = staging->abandoned;
    staging->abandoned = ring;
    pthread_cond_signal(&staging->freed);
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

    if (!shape->slots || shape->slots > MEMORY_SLOTS_MAX || !shape->chunk_bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "unsupported shape of the staging ring");
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
