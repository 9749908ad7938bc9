/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object of the layer of leases, and what that layer reads of a pool.
 */
#include "pool/device/extension.h"

#include "base/alloc.h"
#include "base/status.h"
#include "pool/device/pool.h"

void *device_pool_extension(device_pool *pool)
{
    return atomic_load_explicit(&pool->extension, memory_order_acquire);
}

pool_status device_pool_extend(
    device_pool *pool, const struct device_pool_extension_type *type, void **object)
{
    pool_status status = POOL_OK;

    *object = device_pool_extension(pool);
    if (*object)
        return POOL_OK;
    pthread_mutex_lock(&pool->extension_lock);
    *object = device_pool_extension(pool);
    if (!*object)
        status = type->create(pool, object);
    if (!status) {
        pool->extension_type = type;
        atomic_store_explicit(&pool->extension, *object, memory_order_release);
    }
    pthread_mutex_unlock(&pool->extension_lock);
    return status;
}

pool_status device_pool_check_extension(device_pool *pool)
{
    void *object = device_pool_extension(pool);

    return object ? pool->extension_type->check_idle(object) : POOL_OK;
}

void device_pool_destroy_extension(device_pool *pool)
{
    void *object = device_pool_extension(pool);

    if (object)
        pool->extension_type->destroy(object, !device_pool_usable(pool, DEVICE_USE_HOST));
    atomic_store(&pool->extension, NULL);
}

uint32_t device_pool_slots(const device_pool *pool)
{
    return pool->slots;
}

uint32_t device_load(const pool_device *device)
{
    return atomic_load_explicit(&device->calls, memory_order_relaxed) +
           driver_work_load(&device->work).streams;
}

pool_status device_pool_candidates(device_pool *pool, pool_candidate *candidates)
{
    uint32_t *bindings = base_calloc(pool->count, sizeof(*bindings));

    if (!bindings)
        return base_fail_memory("the candidates of a request");
    device_pool_bindings(pool, bindings);
    for (size_t i = 0; i < pool->count; i++)
        candidates[i] = device_candidate(&pool->devices[i], bindings[i]);
    base_free(bindings);
    return POOL_OK;
}
