/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that the layers above attach to a device: resources, which live as long as the pool, and
 * counts of dependents, which prevent the pool's destruction.
 */
#include <stdbool.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/device/pool.h"

/* Longer than a call needs to fail. */
#define LOST_PAUSE_NS 100000u

static struct device_resource *find_resource(
    pool_device *device, const struct device_resource_type *type)
{
    struct device_resource *at = atomic_load_explicit(&device->resources, memory_order_acquire);

    while (at && at->type != type)
        at = at->next;
    return at;
}

/* Called with resource_lock held. */
static pool_status create_resource(
    pool_device *device, const struct device_resource_type *type, void **object)
{
    struct device_resource *created = base_calloc(1, sizeof(*created));
    struct device_scope scope;
    bool is_created;
    pool_status status;

    if (!created)
        return base_fail_memory(type->name);
    status = device_enter(device, &scope);
    if (status) {
        base_free(created);
        return status;
    }
    status = type->create(device, &created->object);
    is_created = !status;
    status = device_leave(&scope, status);
    if (!is_created) {
        base_free(created);
        return status;
    }
    /* The resource stays attached even if leaving the device failed: the next caller finds it. */
    created->type = type;
    created->next = atomic_load_explicit(&device->resources, memory_order_relaxed);
    atomic_store_explicit(&device->resources, created, memory_order_release);
    if (!status)
        *object = created->object;
    return status;
}

void device_each_resident(const pool_device *device, device_resident_visitor visit, void *user)
{
    struct device_resource *at = atomic_load_explicit(&device->resources, memory_order_acquire);

    for (; at; at = at->next)
        if (at->type->each_resident)
            at->type->each_resident(at->object, visit, user);
}

pool_status device_resource_get(
    pool_device *device, const struct device_resource_type *type, void **object)
{
    struct device_resource *found;
    pool_status status = device_check(device, DEVICE_USE_HOST);

    if (status)
        return status;
    device = type->is_of_gpu ? device->gpu : device;
    found = find_resource(device, type);
    if (found) {
        *object = found->object;
        return POOL_OK;
    }
    pthread_mutex_lock(&device->resource_lock);
    found = find_resource(device, type);
    if (found)
        *object = found->object;
    else
        status = create_resource(device, type, object);
    pthread_mutex_unlock(&device->resource_lock);
    return status;
}

void *device_resource_find(pool_device *device, const struct device_resource_type *type)
{
    struct device_resource *found = find_resource(type->is_of_gpu ? device->gpu : device, type);

    return found ? found->object : NULL;
}

void device_destroy_resources(pool_device *device, int driver_alive)
{
    struct device_resource *at = atomic_exchange(&device->resources, NULL);

    while (at) {
        struct device_resource *next = at->next;

        at->type->destroy(device, at->object, driver_alive);
        base_free(at);
        at = next;
    }
}

void device_lose_resources(pool_device *device)
{
    struct device_resource *at = atomic_load_explicit(&device->resources, memory_order_acquire);

    for (; at; at = at->next)
        if (at->type->lose)
            at->type->lose(device, at->object);
}

pool_status device_renew_resources(pool_device *device)
{
    pool_status status = POOL_OK;

    pthread_mutex_lock(&device->resource_lock);
    for (struct device_resource *at = atomic_load(&device->resources); at && !status; at = at->next)
        if (at->type->renew)
            status = at->type->renew(device, &at->object);
    for (struct device_resource *at = atomic_load(&device->resources); at && !status; at = at->next)
        if (at->type->restore)
            status = at->type->restore(device, at->object);
    pthread_mutex_unlock(&device->resource_lock);
    return status;
}

void device_set_uses(pool_device *device, unsigned count)
{
    atomic_store(&device->uses, count);
}

unsigned device_renewals(const pool_device *device)
{
    return atomic_load_explicit(&device->renewals, memory_order_acquire);
}

/* What follows fails on a lost device; threads that repeat it leave it the time to come back. */
int device_begin_operation(pool_device *device)
{
    if (device_is_lost(device))
        base_sleep_ns(LOST_PAUSE_NS);
    return device_count_inside(device);
}

void device_end_operation(pool_device *device, int is_inside)
{
    device_count_outside(device, is_inside);
}

void device_dependent_added(pool_device *device, enum device_dependent kind)
{
    atomic_fetch_add_explicit(&device->dependents[kind], 1, memory_order_relaxed);
}

void device_dependent_removed(pool_device *device, enum device_dependent kind)
{
    atomic_fetch_sub_explicit(&device->dependents[kind], 1, memory_order_release);
}

void device_dependent_named_added(
    pool_device *device, enum device_dependent kind, const char *name, struct device_named *entry)
{
    struct device_named **end = &device->named;

    *entry = (struct device_named){.kind = kind};
    base_text_copy(entry->name, sizeof(entry->name), name);
    pthread_mutex_lock(&device->pool->state_lock);
    while (*end)
        end = &(*end)->next;
    entry->link = end;
    *end = entry;
    pthread_mutex_unlock(&device->pool->state_lock);
    device_dependent_added(device, kind);
}

void device_dependent_named_removed(pool_device *device, struct device_named *entry)
{
    if (!device_usable(
            device, DEVICE_USE_HOST)) /* the lock may be held by a thread that the child lacks */
        return;
    pthread_mutex_lock(&device->pool->state_lock);
    *entry->link = entry->next;
    if (entry->next)
        entry->next->link = entry->link;
    pthread_mutex_unlock(&device->pool->state_lock);
    device_dependent_removed(device, entry->kind);
}
