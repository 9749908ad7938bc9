/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modules that a device keeps, by id.
 */
#include "module/resident.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

struct kept_module {
    struct kept_module *next;
    struct module_key id;
    pool_module *module;
};

struct kept_modules {
    pthread_mutex_t lock;
    struct kept_module *first; /* guarded by lock */
};

static pool_status make(pool_device *device, void **object)
{
    struct kept_modules *kept = base_calloc(1, sizeof(*kept));

    (void)device;
    if (!kept)
        return base_fail_memory("the kept modules of a device");
    pthread_mutex_init(&kept->lock, NULL);
    *object = kept;
    return POOL_OK;
}

static void unmake(pool_device *device, void *object, int driver_alive)
{
    struct kept_modules *kept = object;
    struct kept_module *next;

    for (struct kept_module *one = kept->first; one; one = next) {
        next = one->next;
        /* The first unloading may be the call that shows a fault: then the others stay silent. */
        module_free(one->module, driver_alive && device_alive(device));
        base_free(one);
    }
    device_lock_destroy(device, &kept->lock);
    base_free(kept);
}

static pool_status kept_of(pool_device *device, struct kept_modules **kept)
{
    static const struct device_keep kind = {.name = "modules", .make = make, .unmake = unmake};
    void *object;
    pool_status status = device_kept(device, &kind, &object);

    if (!status)
        *kept = object;
    return status;
}

/* With the lock held. */
static pool_module *find(const struct kept_modules *kept, const struct module_key *id)
{
    for (const struct kept_module *one = kept->first; one; one = one->next)
        if (memcmp(&one->id, id, sizeof(*id)) == 0)
            return one->module;
    return NULL;
}

pool_status module_kept_find(pool_device *device, const struct module_key *id, pool_module **module)
{
    struct kept_modules *kept;
    pool_status status = kept_of(device, &kept);

    if (status)
        return status;
    pthread_mutex_lock(&kept->lock);
    *module = find(kept, id);
    pthread_mutex_unlock(&kept->lock);
    return POOL_OK;
}

pool_status module_keep(pool_device *device, const struct module_key *id, pool_module **module)
{
    struct kept_module *one = base_calloc(1, sizeof(*one));
    struct kept_modules *kept;
    pool_module *already;
    pool_status status;

    if (!one)
        return base_fail_memory("a kept module");
    status = kept_of(device, &kept);
    if (status) {
        base_free(one);
        return status;
    }
    one->id = *id;
    one->module = *module;
    pthread_mutex_lock(&kept->lock);
    already = find(kept, id);
    if (!already) {
        one->next = kept->first;
        kept->first = one;
        device_child_removed(
            device, DEVICE_CHILD_MODULE); /* no reason to refuse destroy any more */
    }
    pthread_mutex_unlock(&kept->lock);
    if (already) {
        base_free(one);
        pool_module_destroy(module);
        *module = already;
    }
    return POOL_OK;
}
