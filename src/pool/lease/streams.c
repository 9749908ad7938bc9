/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of leases: created when they are first asked for, returned to their device when the
 * lease is released, and used again in the order of their return, by leases whose classes have the
 * same level. A stream whose work is unfinished stays in the list: a later lease never waits for
 * the work of an earlier one.
 */
#include "base/alloc.h"
#include "driver/work.h"
#include "pool/lease/admission.h"
#include "pool/stream/stream.h"

/* The idle streams of one device and level: a ring with space for all that were created. */
struct stream_ring {
    pool_stream **idle;
    uint32_t first;
    uint32_t count;
    uint32_t capacity;
    uint32_t created;
};

struct stream_cache {
    pthread_mutex_t lock;
    pool_device *device;
    struct stream_ring rings[DEVICE_LEVELS]; /* from DEVICE_MIN_LEVEL on */
};

/* --- the ring, with the lock held ---------------------------------------------------------------
 */

static void push_stream(struct stream_ring *ring, pool_stream *stream)
{
    ring->idle[(ring->first + ring->count++) % ring->capacity] = stream;
}

static pool_stream *pop_stream(struct stream_ring *ring)
{
    pool_stream *stream = ring->idle[ring->first];

    ring->first = (ring->first + 1) % ring->capacity;
    ring->count--;
    return stream;
}

/* Makes space for one more stream. */
static pool_status grow_ring(struct stream_ring *ring)
{
    uint32_t capacity = ring->capacity ? 2 * ring->capacity : 8;
    pool_stream **idle;

    if (ring->created < ring->capacity)
        return POOL_OK;
    idle = base_calloc(capacity, sizeof(*idle));
    if (!idle)
        return base_fail_memory("the streams of leases");
    for (uint32_t i = 0; i < ring->count; i++)
        idle[i] = ring->idle[(ring->first + i) % ring->capacity];
    base_free(ring->idle);
    ring->idle = idle;
    ring->first = 0;
    ring->capacity = capacity;
    return POOL_OK;
}

/* --- the resource of a device -------------------------------------------------------------------
 */

static pool_status create_cache(pool_device *device, void **object)
{
    struct stream_cache *cache = base_calloc(1, sizeof(*cache));

    if (!cache)
        return base_fail_memory("the streams of leases");
    pthread_mutex_init(&cache->lock, NULL);
    cache->device = device;
    *object = cache;
    return POOL_OK;
}

static void destroy_cache(pool_device *device, void *object, int driver_alive)
{
    struct stream_cache *cache = object;
    uint32_t in_use = 0;

    (void)driver_alive; /* pool_stream_destroy finds out itself */
    for (int i = 0; i < DEVICE_LEVELS; i++) {
        struct stream_ring *ring = &cache->rings[i];

        in_use += ring->created - ring->count;
        while (ring->count) {
            pool_stream *stream = pop_stream(ring);

            stream->is_leased = 0;
            device_dependent_added(device, DEVICE_DEPENDENT_STREAM);
            stream_discard(stream);
        }
    }
    /* A lease of an abandoned device outlives the pool, and returns its streams here. */
    if (in_use && device_may_block(device))
        return;
    device_lock_destroy(device, &cache->lock);
    for (int i = 0; i < DEVICE_LEVELS; i++)
        base_free(cache->rings[i].idle);
    base_free(cache);
}

static pool_status renew_cache(pool_device *device, void **object)
{
    struct stream_cache *cache = *object;

    (void)device;
    pthread_mutex_lock(&cache->lock);
    for (int i = 0; i < DEVICE_LEVELS; i++)
        for (; cache->rings[i].count; cache->rings[i].created--)
            stream_forget(pop_stream(&cache->rings[i]));
    pthread_mutex_unlock(&cache->lock);
    return POOL_OK;
}

/* The device's cache; inside device_enter, after the registry of its streams, which has to outlive
 * it. */
static pool_status cache_of(pool_device *device, struct stream_cache **cache)
{
    static const struct device_resource_type type = {.name = "streams of leases",
        .create = create_cache,
        .destroy = destroy_cache,
        .renew = renew_cache};
    struct stream_registry *registry;
    void *object;
    pool_status status = stream_registry_of(device, &registry);

    if (!status)
        status = device_resource_get(device, &type, &object);
    if (!status)
        *cache = object;
    return status;
}

/* --- taking and returning -----------------------------------------------------------------------
 */

/* An idle stream whose work has finished; NULL: there is none. */
static pool_stream *take_idle(struct stream_ring *ring)
{
    pool_stream *found = NULL;

    for (uint32_t tries = ring->count; tries && !found; tries--) {
        pool_stream *stream = pop_stream(ring);

        if (!driver_queue_unfinished(stream->queue) || !pool_stream_query(stream))
            found = stream;
        else
            push_stream(ring, stream);
    }
    return found;
}

static pool_status create_stream(struct stream_cache *cache, int level, pool_stream **stream)
{
    struct stream_ring *ring = &cache->rings[level - DEVICE_MIN_LEVEL];
    int priority;
    pool_status status = grow_ring(ring);

    if (!status)
        status = device_priority_of_level(cache->device, level, &priority);
    if (!status)
        status = stream_create(cache->device, 0, priority, stream);
    if (status)
        return status;
    (*stream)->is_leased = 1;
    /* It is the pool's and must not keep it from being destroyed. */
    device_dependent_removed(cache->device, DEVICE_DEPENDENT_STREAM);
    ring->created++;
    return POOL_OK;
}

static pool_status take_stream(struct stream_cache *cache, int level, pool_stream **stream)
{
    pool_status status = POOL_OK;

    pthread_mutex_lock(&cache->lock);
    *stream = take_idle(&cache->rings[level - DEVICE_MIN_LEVEL]);
    if (!*stream)
        status = create_stream(cache, level, stream);
    pthread_mutex_unlock(&cache->lock);
    return status;
}

/* One that has ended with the process of its device is not used again. */
static void return_stream(struct stream_cache *cache, int level, pool_stream *stream)
{
    struct stream_ring *ring = &cache->rings[level - DEVICE_MIN_LEVEL];

    pthread_mutex_lock(&cache->lock);
    if (stream->renewals == device_renewals(cache->device)) {
        push_stream(ring, stream);
    } else {
        stream_forget(stream);
        ring->created--;
    }
    pthread_mutex_unlock(&cache->lock);
}

/* Of its class as requested: waiting changes the order of grants only. */
int lease_level(const pool_lease *lease)
{
    return device_level_of_class(lease->admission->pool, lease->request.priority);
}

pool_status lease_stream_of(struct lease_budget *budget, pool_stream **stream)
{
    struct lease_part *part = (struct lease_part *)budget; /* its first member */
    const int level = lease_level(budget->lease);
    pool_stream *made = NULL, *present = atomic_load_explicit(&part->stream, memory_order_acquire);
    struct stream_cache *cache;
    struct device_scope scope;
    pool_status status;

    if (present) {
        *stream = present;
        return POOL_OK;
    }
    status = device_enter(budget->device, &scope);
    if (status)
        return status;
    status = cache_of(budget->device, &cache);
    if (!status)
        status = take_stream(cache, level, &made);
    status = device_leave(&scope, status);
    if (status) {
        if (made)
            return_stream(cache, level, made);
        return status;
    }
    atomic_store_explicit(&part->cache, cache, memory_order_relaxed);
    stream_set_label(made, budget->lease->label);
    if (atomic_compare_exchange_strong(&part->stream, &present, made)) {
        *stream = made;
    } else { /* another thread was faster */
        return_stream(cache, level, made);
        *stream = present;
    }
    return POOL_OK;
}

void lease_return_streams(pool_lease *lease)
{
    for (uint32_t i = 0; i < lease->request.devices; i++) {
        struct lease_part *part = &lease->parts[i];
        pool_stream *stream = atomic_load_explicit(&part->stream, memory_order_acquire);

        if (stream)
            return_stream(atomic_load_explicit(&part->cache, memory_order_relaxed),
                lease_level(lease), stream);
        atomic_store_explicit(&part->stream, NULL, memory_order_relaxed);
    }
}
