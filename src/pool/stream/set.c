/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of streams and events for operations that overlap copies with kernels. Creating them takes
 * longer than many calls do, so idle sets stay with the device until the pool is destroyed, and
 * serve operations of the priority that they were created for.
 */
#include "base/alloc.h"
#include "driver/cleanup.h"
#include "pool/stream/stream.h"

/* Streams and events of a set belong to the library and do not keep a pool from being destroyed. */
static pool_status complete(
    pool_device *device, struct stream_set *set, uint32_t streams, uint32_t events)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < streams && !status; i++) {
        if (set->stream[i])
            continue;
        status = stream_create(device, 0, set->priority, &set->stream[i]);
        if (!status)
            device_dependent_removed(device, DEVICE_DEPENDENT_STREAM);
    }
    for (uint32_t i = 0; i < events && !status; i++) {
        if (set->event[i])
            continue;
        status = pool_event_create(device, 0, &set->event[i]);
        if (!status)
            device_dependent_removed(device, DEVICE_DEPENDENT_STREAM);
    }
    return status;
}

/* The first idle set of that priority, removed from the list; NULL: there is none. */
static struct stream_set *take_idle_locked(struct stream_registry *registry, int priority)
{
    struct stream_set **at = &registry->idle_sets;
    struct stream_set *taken;

    while (*at && (*at)->priority != priority)
        at = &(*at)->next;
    taken = *at;
    if (taken)
        *at = taken->next;
    return taken;
}

pool_status stream_set_take(pool_device *device, const pool_stream *caller, uint32_t streams,
    uint32_t events, struct stream_set **set)
{
    struct stream_registry *registry;
    struct stream_set *taken;
    unsigned renewals;
    int priority;
    pool_status status = stream_registry_of(device, &registry);

    if (status)
        return status;
    priority = caller ? caller->priority : registry->default_stream.priority;
    pthread_mutex_lock(&registry->lock);
    taken = take_idle_locked(registry, priority);
    renewals = device_renewals(device);
    pthread_mutex_unlock(&registry->lock);
    if (!taken)
        taken = base_calloc(1, sizeof(*taken));
    if (!taken)
        return base_fail_memory("a set of streams");
    taken->registry = registry;
    taken->renewals = renewals;
    taken->priority = priority;
    status = complete(device, taken, streams, events);
    if (status)
        stream_set_return(taken);
    else
        *set = taken;
    return status;
}

static void forget_set_locked(struct stream_set *set)
{
    for (int i = 0; i < STREAM_SET_EVENTS; i++)
        stream_free_event(NULL, set->event[i], 0);
    for (int i = 0; i < STREAM_SET_STREAMS; i++)
        if (set->stream[i])
            stream_forget_locked(set->stream[i]);
    base_free(set);
}

void stream_set_return(struct stream_set *set)
{
    struct stream_registry *registry = set->registry;

    pthread_mutex_lock(&registry->lock);
    if (set->renewals == device_renewals(registry->default_stream.device)) {
        set->next = registry->idle_sets;
        registry->idle_sets = set;
    } else { /* the device was lost during the operation, and has come back */
        forget_set_locked(set);
    }
    pthread_mutex_unlock(&registry->lock);
}

void stream_sets_forget_locked(struct stream_registry *registry)
{
    while (registry->idle_sets) {
        struct stream_set *set = registry->idle_sets;

        registry->idle_sets = set->next;
        forget_set_locked(set);
    }
}

void stream_sets_destroy(struct driver *driver, struct stream_registry *registry, int driver_alive)
{
    while (registry->idle_sets) {
        struct stream_set *set = registry->idle_sets;

        registry->idle_sets = set->next;
        for (int i = 0; i < STREAM_SET_EVENTS; i++)
            stream_free_event(driver, set->event[i], driver_alive);
        for (int i = 0; i < STREAM_SET_STREAMS; i++) {
            if (set->stream[i] && driver_alive)
                (void)DRIVER_CLEANUP(driver, StreamDestroy(set->stream[i]->handle));
            base_free(set->stream[i]);
        }
        base_free(set);
    }
}
