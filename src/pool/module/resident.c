/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded modules as resident objects. The library's own modules are unloaded when the device has no
 * memory left, least recently used first, and loaded again at their next use: the module and its
 * kernels stay, only the driver's handles change. A module of the caller's is in use until it is
 * destroyed.
 */
#include "pool/module/module.h"

#include "base/log.h"
#include "base/status.h"
#include "pool/device/release.h"

/* Called by the list of resident objects. No launch uses the module, and none will before it is
 * loaded again. */
static void evict_module(struct memory_resident *entry)
{
    pool_module *module = (pool_module *)entry;
    struct device_deferred *deferred;
    struct base_error_copy first;
    CUmodule handle;

    /* Without the lock, which a thread that loads another module and evicts this one has of the
     * other: who loads this one again waits for the NULL. */
    deferred = module->deferred;
    module->deferred = NULL;
    handle = atomic_exchange(&module->handle, NULL);
    base_error_save(&first);
    if (module_unload(module->device, handle, deferred))
        base_log(
            POOL_LOG_WARN, "unloading %s failed: %s", module->name, pool_last_error()->message);
    base_error_restore(&first);
}

pool_status module_add_resident(pool_module *module, uint64_t bytes)
{
    pool_status status;

    module->entry = (struct memory_resident){.device = module->device,
        .kind = "module",
        .name = module->name,
        .bytes = bytes,
        .is_code = true,
        .evict = evict_module};
    status = memory_resident_add(&module->entry, false);
    if (status)
        module->entry.device = NULL; /* not in the list */
    return status;
}

void module_remove_resident(pool_module *module)
{
    if (module->entry.device && device_usable(module->device, DEVICE_USE_HOST))
        (void)memory_resident_remove(&module->entry); /* in use, so nobody evicts it */
}

void module_make_permanent(pool_module *module)
{
    module_image_release(module->image);
    module->image = NULL;
}

void module_make_evictable(pool_module *module)
{
    if (module->image)
        memory_resident_unuse(&module->entry, false);
}

/* The handles of the kernels in the module's new code, whose limits are the defaults again. */
static pool_status find_functions(struct device_scope *scope, pool_module *module)
{
    pool_status status = POOL_OK;

    for (struct pool_kernel *kernel = module->kernels; kernel && !status; kernel = kernel->next) {
        status = DRIVER_CALL_FOR(scope->driver,
            ModuleGetFunction(
                &kernel->function, module->handle, module_symbol_of(module, kernel->name)),
            "\"%s\"", kernel->name);
        atomic_store_explicit(&kernel->allowed_dynamic_shared_bytes, 0, memory_order_relaxed);
        atomic_store_explicit(&kernel->allows_large_clusters, false, memory_order_relaxed);
    }
    return status;
}

/* With the module's lock held: loads the module and begins a use of it. */
static pool_status load_again(struct device_scope *scope, pool_module *module)
{
    struct device_deferred *deferred = device_deferred_new(module->device, DEVICE_DEFERRED_MODULE);
    struct base_error_copy first;
    CUmodule handle = NULL;
    pool_status status;

    if (!deferred)
        return base_fail_memory("a module");
    status = module_load_inside(scope, module->image->bytes, module->image->size, &handle, NULL);
    if (status) {
        device_deferred_free(deferred);
        return status;
    }
    atomic_store(&module->handle, handle);
    status = find_functions(scope, module);
    if (!status)
        status = memory_resident_add(&module->entry, false);
    if (status) {
        base_error_save(&first);
        (void)module_unload(module->device, module->handle, deferred);
        base_error_restore(&first);
        module->handle = NULL;
        return status;
    }
    module->deferred = deferred;
    atomic_fetch_and(&module->entry.launches, ~MEMORY_RESIDENT_EVICTED);
    (void)memory_resident_begin_launch(&module->entry); /* it has a user: nobody evicts it */
    memory_resident_unuse(&module->entry, false);
    return POOL_OK;
}

pool_status module_reload(struct device_scope *scope, pool_module *module)
{
    for (;;) {
        pool_status status = POOL_OK;
        bool is_loading;

        pthread_mutex_lock(&module->lock);
        is_loading = !module->handle;
        if (is_loading)
            status = load_again(scope, module);
        pthread_mutex_unlock(&module->lock);
        if (is_loading)
            return status;
        /* It is being evicted, or another thread has loaded it meanwhile. */
        memory_resident_wait(module->device);
        if (memory_resident_begin_launch(&module->entry))
            return POOL_OK;
    }
}
