/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warm-up: every module on every usable device, by a few threads, kept until the pool goes.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/status.h"
#include "module/kept.h"

/* As many threads as get_once lets compile at once; loads of other devices overlap with them. */
#define MAX_THREADS 8

struct warm_up {
    pool_device **devices;
    size_t device_count;
    const pool_module_params *modules;
    size_t module_count;
    atomic_size_t next;
    pthread_mutex_t lock;
    pool_status status;             /* guarded by lock: the first failure */
    struct base_error_copy failure; /* guarded by lock */
};

static pool_status warm_one(pool_device *device, const pool_module_params *given)
{
    struct module_request request = {.name = ""};
    pool_module *module = NULL;
    pool_module_params params;
    struct module_key id;
    pool_status status = module_params_copy(given, &params);

    request.params = &params;
    if (!status)
        status = module_text_key_of(&request, &id);
    if (!status)
        status = module_kept_find(device, &id, &module);
    if (status || module)
        return status;
    status = pool_module_compile(device, &params, &module);
    if (!status)
        status = module_keep(device, &id, &module);
    if (status)
        pool_module_destroy(&module);
    return status;
}

/* The caller's array has the step of the caller's struct. */
static const pool_module_params *nth_params(const pool_module_params *modules, size_t n)
{
    return (const void *)((const char *)modules + n * modules->struct_size);
}

static void *work(void *arg)
{
    struct warm_up *all = arg;
    size_t total = all->device_count * all->module_count;
    pool_status status;

    for (size_t i; (i = atomic_fetch_add(&all->next, 1)) < total;) {
        status = warm_one(
            all->devices[i % all->device_count], nth_params(all->modules, i / all->device_count));
        if (!status)
            continue;
        pthread_mutex_lock(&all->lock);
        if (!all->status) {
            all->status = status;
            base_error_save(&all->failure);
        }
        pthread_mutex_unlock(&all->lock);
    }
    return NULL;
}

/* The calling thread works too, so that no thread at all is only slower. */
static void work_in_parallel(struct warm_up *all)
{
    size_t total = all->device_count * all->module_count;
    pthread_t threads[MAX_THREADS];
    size_t started = 0;

    while (started + 1 < total && started < MAX_THREADS &&
           !pthread_create(&threads[started], NULL, work, all))
        started++;
    work(all);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* A device whose state cannot be asked for now is tried: that tells why. */
static size_t usable_devices(device_pool *pool, pool_device **devices)
{
    size_t count = 0;

    for (size_t i = 0; i < pool_device_count(pool); i++) {
        pool_device_info info = {.struct_size = sizeof(info), .state = POOL_DEVICE_READY};
        pool_device *device;

        if (pool_device_at(pool, i, &device))
            continue;
        pool_device_get_info(device, &info);
        if (info.state == POOL_DEVICE_READY)
            devices[count++] = device;
    }
    return count;
}

/* Why there is none, as a choice tells it. */
static pool_status no_device(device_pool *pool)
{
    pool_device *none;
    pool_status status = pool_next_device(pool, &none);

    return status ? status
                  : base_fail(POOL_ERR_NO_DEVICE, "pool_warm_up: the pool has no usable device");
}

pool_status pool_warm_up(device_pool *pool, const pool_module_params *modules, size_t count)
{
    struct warm_up all = {.modules = modules, .module_count = count};

    if (!pool || (count && (!modules || !modules->struct_size)))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_warm_up: pool or modules is NULL, or struct_size is not set");
    all.devices = base_calloc(pool_device_count(pool), sizeof(*all.devices));
    if (!all.devices)
        return base_fail_memory("the devices to warm up");
    pthread_mutex_init(&all.lock, NULL);
    all.device_count = usable_devices(pool, all.devices);
    if (!all.device_count)
        all.status = no_device(pool);
    else if (count)
        work_in_parallel(&all);
    pthread_mutex_destroy(&all.lock);
    base_free(all.devices);
    if (all.failure.error.status)
        base_error_restore(&all.failure);
    return all.status;
}
