/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warm-up: compiles and loads every module on every usable device, in parallel. The modules stay
 * resident until the pool is destroyed or a device has no memory left.
 */
#include "zk/custom/header.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/parallel.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/module/module.h"
#include "pool/module/registry.h"
#include "zk/operation/operation.h"
#include "zk/operation/timeout.h"

enum { MAX_MODULES = 1 << 16 }; /* of which a call with a timeout has copies */

struct warm_up {
    struct operation_call frame;
    device_pool *pool;
    uint32_t count;      /* of modules */
    struct timed *timed; /* NULL: the call has no timeout */
    pthread_t caller;
    pool_device **devices;
    size_t device_count;
    const pool_module_params *modules;
};

static pool_status warm_up_module(pool_device *device, const pool_module_params *given)
{
    struct arithmetic_expansion expansion;
    struct module_request request = {
        .params = &expansion.params, .generator = &expansion.generator, .name = ""};
    pool_module *module = NULL;
    struct module_key id;
    bool is_loaded = false;
    pool_status status = arithmetic_expand("pool_warm_up", given, &expansion);

    if (status)
        return status;
    status = module_text_key_of(&request, &id);
    if (!status)
        status = module_registry_find_digest(device, &id, &module);
    is_loaded = module != NULL;
    if (!status && !is_loaded)
        status = module_compile(device, &request, NULL, &module);
    if (!status && !is_loaded)
        status = module_registry_add(device, &id, &module);
    if (status && !is_loaded)
        pool_module_destroy(&module);
    arithmetic_release(&expansion);
    return status;
}

/* The stride of the caller's array is the size of the caller's struct. */
static const pool_module_params *nth_params(const pool_module_params *modules, size_t n)
{
    return (const void *)((const char *)modules + n * modules->struct_size);
}

static pool_status warm_up_index(void *user, size_t index)
{
    const struct warm_up *all = user;
    bool is_other = !pthread_equal(pthread_self(), all->caller);
    pool_status status = exec_check_cancelled("pool_warm_up", &all->frame.exec);

    if (is_other)
        timed_join(all->timed);
    if (!status)
        status = warm_up_module(all->devices[index % all->device_count],
            nth_params(all->modules, index / all->device_count));
    if (is_other)
        timed_part(all->timed);
    return status;
}

/* A device whose state cannot be read is tried too; the attempt reports the reason. */
static size_t list_usable_devices(device_pool *pool, pool_device **devices)
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

/* The error of a choice of device, which says why no device is usable. */
static pool_status fail_no_device(device_pool *pool)
{
    pool_device *none;
    pool_status status = pool_next_device(pool, &none);

    return status ? status
                  : base_fail(POOL_ERR_NO_DEVICE, "pool_warm_up: the pool has no usable device");
}

/* The first struct's size is the stride of the array, so all are checked before anything runs. */
static pool_status check_modules(const pool_module_params *modules, size_t count)
{
    pool_module_params params;
    pool_status status = POOL_OK;

    if (!modules)
        return base_fail_null("pool_warm_up", "modules");
    status = module_params_copy("pool_warm_up", modules, &params);
    if (!status)
        status = base_check_array(
            "pool_warm_up", "modules", count, modules->struct_size, modules->struct_size);
    for (size_t i = 0; i < count && !status; i++) {
        const pool_module_params *given = nth_params(modules, i);

        status = module_params_copy("pool_warm_up", given, &params);
        if (!status && given->struct_size != modules->struct_size)
            status = base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_warm_up: modules[%zu].struct_size is %zu, modules[0].struct_size is %zu", i,
                given->struct_size, modules->struct_size);
    }
    return status;
}

/* One device of the caller, or all that are usable. */
static pool_status list_devices(struct warm_up *all)
{
    const pool_exec *exec = &all->frame.exec;
    device_pool *pool = all->pool;

    if (exec->device && device_pool_of(exec->device) != pool)
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "pool_warm_up: `device` of the pool_exec belongs to another pool");
    all->devices = base_calloc(pool_device_count(pool), sizeof(*all->devices));
    if (!all->devices)
        return base_fail_memory("the devices to warm up");
    if (exec->device) {
        all->devices[0] = exec->device;
        all->device_count = 1;
        return POOL_OK;
    }
    all->device_count = list_usable_devices(pool, all->devices);
    return all->device_count ? POOL_OK : fail_no_device(pool);
}

/* The first device of the pool, which keeps it. */
static pool_device *first_device(const void *user)
{
    const struct warm_up *all = user;
    pool_device *first;

    return all->pool && !pool_device_at(all->pool, 0, &first) ? first : NULL;
}

static pool_status read_modules(void *user)
{
    const struct warm_up *all = user;
    pool_device *first;
    pool_status status = all->count ? check_modules(all->modules, all->count) : POOL_OK;

    if (!status)
        status = pool_device_at(all->pool, 0, &first);
    return status ? status : device_check(first, DEVICE_USE_HOST);
}

static pool_status warm_up_modules(void *user)
{
    struct warm_up *all = user;
    struct base_parallel job = {.task = warm_up_index, .user = all, .tries_all = true};
    pool_status status = list_devices(all);

    all->timed = timed_current();
    all->caller = pthread_self();
    job.count = all->device_count * all->count;
    if (!status)
        status = base_parallel_run(device_threads(first_device(all)), &job);
    base_free(all->devices);
    return status;
}

pool_status pool_warm_up(
    device_pool *pool, const pool_exec *exec, const pool_module_params *modules, size_t count)
{
    static const struct operation operation = {.call_bytes = sizeof(struct warm_up),
        .arguments = {{.name = "pool", .at = offsetof(struct warm_up, pool)},
            {"modules", offsetof(struct warm_up, modules), OPERATION_ARRAY, .is_optional = true,
                .copy_at = offsetof(struct warm_up, count), .most = MAX_MODULES}},
        .device = first_device,
        .read = read_modules,
        .run = warm_up_modules};
    struct warm_up all = {.frame = OPERATION_CALL(&operation, exec),
        .pool = pool,
        .modules = modules,
        .count = (uint32_t)base_min(count, UINT32_MAX)};
    pool_status status =
        base_check_array("pool_warm_up", "modules", count, sizeof(*modules), sizeof(*modules));

    return status ? status : operation_run(&all.frame);
}
