/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prover's own kernels on the devices of a pool. A driver loads a module only when the device's
 * running kernels have ended, and lets no other kernel start meanwhile, so a registered key keeps
 * the module of each device from one proof to the next.
 */
#include <pthread.h>
#include <stdlib.h>

#include "groth16_prover.h"

/* A loaded module, in a list. */
struct groth16_module {
    pool_module *module;
    unsigned users; /* guarded by modules->lock, as are the next two */
    int is_stale;   /* a proof with it has failed: its device may have lost it */
    struct groth16_module *next;
};

struct groth16_modules {
    pthread_mutex_t lock;
    struct groth16_module *first; /* guarded by lock */
};

pool_status groth16_modules_create(struct groth16_modules **modules)
{
    struct groth16_modules *made = calloc(1, sizeof(*made));

    if (!made)
        return POOL_ERR_OUT_OF_HOST_MEMORY;
    pthread_mutex_init(&made->lock, NULL);
    *modules = made;
    return POOL_OK;
}

pool_status groth16_modules_destroy(struct groth16_modules **modules)
{
    struct groth16_modules *gone = *modules;
    pool_status first = POOL_OK;

    if (!gone)
        return POOL_OK;
    for (struct groth16_module *module = gone->first, *next; module; module = next) {
        pool_status status = pool_module_destroy(&module->module);

        next = module->next;
        first = first ? first : status;
        free(module);
    }
    pthread_mutex_destroy(&gone->lock);
    free(gone);
    *modules = NULL;
    return first;
}

/* A module of the device that is not stale; the lock is held. */
static struct groth16_module *find_module(
    struct groth16_modules *modules, const pool_device *device)
{
    struct groth16_module *module = modules->first;

    while (module && (module->is_stale || pool_module_device(module->module) != device))
        module = module->next;
    if (module)
        module->users++;
    return module;
}

static pool_status compile_module(pool_device *device, const pool_module_params *params,
    struct groth16_modules *modules, struct groth16_module **use)
{
    struct groth16_module *made = calloc(1, sizeof(*made));
    pool_status status =
        made ? pool_module_compile(device, params, &made->module) : POOL_ERR_OUT_OF_HOST_MEMORY;

    if (status) {
        free(made);
        return status;
    }
    made->users = 1;
    pthread_mutex_lock(&modules->lock);
    made->next = modules->first;
    modules->first = made;
    pthread_mutex_unlock(&modules->lock);
    *use = made;
    return POOL_OK;
}

/* Threads that need a device's first module at once may load one each; all of them are kept. */
pool_status groth16_module_open(struct groth16_modules *modules, pool_device *device,
    const pool_module_params *params, struct groth16_module **use)
{
    pthread_mutex_lock(&modules->lock);
    *use = find_module(modules, device);
    pthread_mutex_unlock(&modules->lock);
    return *use ? POOL_OK : compile_module(device, params, modules, use);
}

pool_module *groth16_module_of(const struct groth16_module *use)
{
    return use->module;
}

void groth16_module_close(
    struct groth16_modules *modules, struct groth16_module *use, pool_status status)
{
    struct groth16_module **at = &modules->first, *gone = NULL;

    pthread_mutex_lock(&modules->lock);
    use->users--;
    use->is_stale |= status != POOL_OK;
    if (use->is_stale && !use->users) {
        while (*at != use)
            at = &(*at)->next;
        *at = use->next;
        gone = use;
    }
    pthread_mutex_unlock(&modules->lock);
    if (gone)
        pool_module_destroy(&gone->module);
    free(gone);
}
