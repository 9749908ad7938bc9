/* SPDX-License-Identifier: Apache-2.0 */
/* The resident modules of a device: see registry.h. */
#include "pool/module/registry.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"

struct resident {
    struct resident *next;
    struct module_key digest;
    pool_module *module;
};

struct alias {
    struct alias *next;
    struct module_program_key key;
    pool_module *module; /* resident */
};

struct registry {
    pthread_mutex_t lock;
    struct resident *residents; /* guarded by lock */
    struct alias *aliases;      /* guarded by lock */
};

static pool_status create_registry(pool_device *device, void **object)
{
    struct registry *registry = base_calloc(1, sizeof(*registry));

    (void)device;
    if (!registry)
        return base_fail_memory("the resident modules of a device");
    pthread_mutex_init(&registry->lock, NULL);
    *object = registry;
    return POOL_OK;
}

static void destroy_registry(pool_device *device, void *object, int driver_alive)
{
    struct registry *registry = object;

    while (registry->residents) {
        struct resident *resident = registry->residents;

        registry->residents = resident->next;
        /* The first unload may be the call that meets a fault; the others are then omitted. */
        if (module_free(
                resident->module, driver_alive && device_usable(device, DEVICE_USE_RELEASE)))
            base_log(POOL_LOG_WARN, "unloading a module failed: %s", pool_last_error()->message);
        base_free(resident);
    }
    while (registry->aliases) {
        struct alias *alias = registry->aliases;

        registry->aliases = alias->next;
        base_free(alias);
    }
    device_lock_destroy(device, &registry->lock);
    base_free(registry);
}

static void remove_aliases(struct registry *registry, const pool_module *module)
{
    for (struct alias **at = &registry->aliases; *at;) {
        struct alias *alias = *at;

        if (alias->module != module) {
            at = &alias->next;
            continue;
        }
        *at = alias->next;
        base_free(alias);
    }
}

/* The code has ended with the process that had the device. Modules with an image are evicted by the
 * list of resident objects and stay; the others, such as that of probes, are loaded again by those
 * who look for them. */
static pool_status renew_registry(pool_device *device, void **object)
{
    struct registry *registry = *object;

    (void)device;
    pthread_mutex_lock(&registry->lock);
    for (struct resident **at = &registry->residents; *at;) {
        struct resident *resident = *at;

        if (resident->module->image) {
            at = &resident->next;
            continue;
        }
        *at = resident->next;
        remove_aliases(registry, resident->module);
        module_remove_resident(resident->module);
        (void)module_free(resident->module, 0);
        base_free(resident);
    }
    pthread_mutex_unlock(&registry->lock);
    return POOL_OK;
}

static pool_status registry_of(pool_device *device, struct registry **registry)
{
    static const struct device_resource_type kind = {.name = "modules",
        .is_of_gpu = true,
        .create = create_registry,
        .destroy = destroy_registry,
        .renew = renew_registry};
    void *object;
    pool_status status = device_resource_get(device, &kind, &object);

    if (!status)
        *registry = object;
    return status;
}

static bool is_same_key(const struct module_program_key *a, const struct module_program_key *b)
{
    return a->type == b->type && memcmp(a->parameters, b->parameters, sizeof(a->parameters)) == 0 &&
           memcmp(a->fingerprint, b->fingerprint, sizeof(a->fingerprint)) == 0;
}

pool_status module_registry_find(
    pool_device *device, const struct module_program_key *key, pool_module **module)
{
    struct registry *registry;
    pool_module *found = NULL;
    pool_status status = registry_of(device, &registry);

    if (status)
        return status;
    pthread_mutex_lock(&registry->lock);
    for (const struct alias *alias = registry->aliases; alias && !found; alias = alias->next)
        if (is_same_key(&alias->key, key))
            found = alias->module;
    pthread_mutex_unlock(&registry->lock);
    *module = found;
    return POOL_OK;
}

pool_status module_registry_alias(
    pool_device *device, const struct module_program_key *key, pool_module *module)
{
    struct registry *registry;
    struct alias *alias;
    pool_status status = registry_of(device, &registry);

    if (status)
        return status;
    alias = base_calloc(1, sizeof(*alias));
    if (!alias)
        return base_fail_memory("a program key of a module");
    alias->key = *key;
    alias->module = module;
    /* Two threads may add the same key; either entry is correct. */
    pthread_mutex_lock(&registry->lock);
    alias->next = registry->aliases;
    registry->aliases = alias;
    pthread_mutex_unlock(&registry->lock);
    return POOL_OK;
}

/* Called with the lock held. */
static pool_module *find_digest(const struct registry *registry, const struct module_key *digest)
{
    for (const struct resident *at = registry->residents; at; at = at->next)
        if (memcmp(&at->digest, digest, sizeof(*digest)) == 0)
            return at->module;
    return NULL;
}

pool_status module_registry_find_digest(
    pool_device *device, const struct module_key *digest, pool_module **module)
{
    struct registry *registry;
    pool_status status = registry_of(device, &registry);

    if (status)
        return status;
    pthread_mutex_lock(&registry->lock);
    *module = find_digest(registry, digest);
    pthread_mutex_unlock(&registry->lock);
    return POOL_OK;
}

pool_status module_registry_add(
    pool_device *device, const struct module_key *digest, pool_module **module)
{
    struct resident *resident = base_calloc(1, sizeof(*resident));
    struct registry *registry;
    pool_module *existing;
    pool_status status;

    if (!resident)
        return base_fail_memory("a resident module");
    status = registry_of(device, &registry);
    if (status) {
        base_free(resident);
        return status;
    }
    resident->digest = *digest;
    resident->module = *module;
    pthread_mutex_lock(&registry->lock);
    existing = find_digest(registry, digest);
    if (!existing) {
        resident->next = registry->residents;
        registry->residents = resident;
        /* A resident module does not keep the pool from being destroyed. */
        device_dependent_removed(device, DEVICE_DEPENDENT_MODULE);
    }
    pthread_mutex_unlock(&registry->lock);
    if (existing) {
        base_free(resident);
        pool_module_destroy(module);
        *module = existing;
    } else {
        module_make_evictable(*module);
    }
    return POOL_OK;
}
