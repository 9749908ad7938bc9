/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hangs on a device from the rooms above: objects that live as long as the pool (kept), and
 * counts of those that keep it from being destroyed (children).
 */
#include "base/alloc.h"
#include "base/status.h"
#include "pool/pool.h"

static struct kept_object *find(pool_device *device, const struct device_keep *kind)
{
    struct kept_object *at = atomic_load_explicit(&device->kept, memory_order_acquire);

    while (at && at->kind != kind)
        at = at->next;
    return at;
}

/* Called with kept_lock held. */
static pool_status make_kept(pool_device *device, const struct device_keep *kind, void **object)
{
    struct kept_object *kept = base_calloc(1, sizeof(*kept));
    struct device_scope scope;
    int is_made;
    pool_status status;

    if (!kept)
        return base_fail_memory(kind->name);
    status = device_enter(device, &scope);
    if (status) {
        base_free(kept);
        return status;
    }
    status = kind->make(device, &kept->object);
    is_made = !status;
    status = device_leave(&scope, status);
    if (!is_made) {
        base_free(kept);
        return status;
    }
    /* Made is made, also when leaving failed: the next caller finds it. */
    kept->kind = kind;
    kept->next = atomic_load_explicit(&device->kept, memory_order_relaxed);
    atomic_store_explicit(&device->kept, kept, memory_order_release);
    if (!status)
        *object = kept->object;
    return status;
}

pool_status device_kept(pool_device *device, const struct device_keep *kind, void **object)
{
    struct kept_object *kept;
    pool_status status = device_check_forked(device);

    if (status)
        return status;
    kept = find(device, kind);
    if (kept) {
        *object = kept->object;
        return POOL_OK;
    }
    pthread_mutex_lock(&device->kept_lock);
    kept = find(device, kind);
    if (kept)
        *object = kept->object;
    else
        status = make_kept(device, kind, object);
    pthread_mutex_unlock(&device->kept_lock);
    return status;
}

void device_unmake_kept(pool_device *device, int driver_alive)
{
    struct kept_object *at = atomic_exchange(&device->kept, NULL);

    while (at) {
        struct kept_object *next = at->next;

        at->kind->unmake(device, at->object, driver_alive);
        base_free(at);
        at = next;
    }
}

void device_child_added(pool_device *device, enum device_child kind)
{
    atomic_fetch_add_explicit(&device->children[kind], 1, memory_order_relaxed);
}

void device_child_removed(pool_device *device, enum device_child kind)
{
    atomic_fetch_sub_explicit(&device->children[kind], 1, memory_order_release);
}
