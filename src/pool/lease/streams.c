/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of leases: created when they are first asked for, returned to their device when the
 * lease is released, and used again in the order of their return. A stream whose work is unfinished
 * stays in the list: a later lease never waits for the work of an earlier one.
 */
#include "base/alloc.h"
#include "driver/work.h"
#include "pool/lease/admission.h"
#include "pool/stream/stream.h"

/* The idle streams of one device: a ring with space for all that were created. */
struct stream_cache {
    pthread_mutex_t lock;
    pool_device *device;
    pool_stream **idle;
    uint32_t first;
    uint32_t count;
    uint32_t capacity;
    uint32_t created;
};

/* --- the ring, with the lock held ---------------------------------------------------------------
 */

static void push_stream(struct stream_cache *cache, pool_stream *stream)
{
    cache->idle[(cache->first + cache->count++) % cache->capacity] = stream;
}

static pool_stream *pop_stream(struct stream_cache *cache)
{
    pool_stream *stream = cache->idle[cache->first];

    cache->first = (cache->first + 1) % cache->capacity;
    cache->count--;
    return stream;
}

/* Makes space for one more stream. */
static pool_status grow_cache(struct stream_cache *cache)
{
    uint32_t capacity = cache->capacity ? 2 * cache->capacity : 8;
    pool_stream **idle;

    if (cache->created < cache->capacity)
        return POOL_OK;
    idle = base_calloc(capacity, sizeof(*idle));
    if (!idle)
        return base_fail_memory("the streams of leases");
    for (uint32_t i = 0; i < cache->count; i++)
        idle[i] = cache->idle[(cache->first + i) % cache->capacity];
    base_free(cache->idle);
    cache->idle = idle;
    cache->first = 0;
    cache->capacity = capacity;
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
    uint32_t in_use = cache->created - cache->count;

    (void)driver_alive; /* pool_stream_destroy finds out itself */
    while (cache->count) {
        pool_stream *stream = pop_stream(cache);

        stream->is_leased = 0;
        device_dependent_added(device, DEVICE_DEPENDENT_STREAM);
        stream_discard(stream);
    }
    /* A lease of an abandoned device outlives the pool, and returns its streams here. */
    if (in_use && device_may_block(device))
        return;
    device_lock_destroy(device, &cache->lock);
    base_free(cache->idle);
    base_free(cache);
}

static pool_status renew_cache(pool_device *device, void **object)
{
    struct stream_cache *cache = *object;

    (void)device;
    pthread_mutex_lock(&cache->lock);
    while (cache->count) {
        stream_forget(pop_stream(cache));
        cache->created--;
    }
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
static pool_stream *take_idle(struct stream_cache *cache)
{
    pool_stream *found = NULL;

    for (uint32_t tries = cache->count; tries && !found; tries--) {
        pool_stream *stream = pop_stream(cache);

        if (!driver_queue_unfinished(stream->queue) || !pool_stream_query(stream))
            found = stream;
        else
            push_stream(cache, stream);
    }
    return found;
}

static pool_status create_stream(struct stream_cache *cache, pool_stream **stream)
{
    pool_status status = grow_cache(cache);

    if (!status)
        status = pool_stream_create(cache->device, NULL, stream);
    if (status)
        return status;
    (*stream)->is_leased = 1;
    /* It is the pool's and must not keep it from being destroyed. */
    device_dependent_removed(cache->device, DEVICE_DEPENDENT_STREAM);
    cache->created++;
    return POOL_OK;
}

static pool_status take_stream(struct stream_cache *cache, pool_stream **stream)
{
    pool_status status = POOL_OK;

    pthread_mutex_lock(&cache->lock);
    *stream = take_idle(cache);
    if (!*stream)
        status = create_stream(cache, stream);
    pthread_mutex_unlock(&cache->lock);
    return status;
}

/* One that has ended with the process of its device is not used again. */
static void return_stream(struct stream_cache *cache, pool_stream *stream)
{
    pthread_mutex_lock(&cache->lock);
    if (stream->renewals == device_renewals(cache->device)) {
        push_stream(cache, stream);
    } else {
        stream_forget(stream);
        cache->created--;
    }
    pthread_mutex_unlock(&cache->lock);
}

pool_status lease_stream_of(struct lease_budget *budget, pool_stream **stream)
{
    struct lease_part *part = (struct lease_part *)budget; /* its first member */
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
        status = take_stream(cache, &made);
    status = device_leave(&scope, status);
    if (status) {
        if (made)
            return_stream(cache, made);
        return status;
    }
    atomic_store_explicit(&part->cache, cache, memory_order_relaxed);
    stream_set_label(made, budget->lease->label);
    if (atomic_compare_exchange_strong(&part->stream, &present, made)) {
        *stream = made;
    } else { /* another thread was faster */
        return_stream(cache, made);
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
            return_stream(atomic_load_explicit(&part->cache, memory_order_relaxed), stream);
        atomic_store_explicit(&part->stream, NULL, memory_order_relaxed);
    }
}
