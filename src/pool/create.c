/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creation of a pool: params, driver and devices, properties, contexts.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <devicepool/lease.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/params.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "driver/attributes.h"
#include "driver/sim/table/sim.h"
#include "pool/device/pool.h"
#include "pool/device/release.h"
#include "pool/metrics/status_socket.h"
#include "pool/module/compiler.h"
#include "pool/source.h"
#include "pool/tuning/tuning.h"

#define SLOTS_MAX 65536

static const struct base_struct params_type = BASE_STRUCT(pool_params);

void pool_params_init(pool_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static pool_status check_adopt(const pool_params *params)
{
    pool_status status;

    if (params->context_mode != POOL_CONTEXT_ADOPT) {
        if (params->contexts || params->context_count)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_create: contexts are set, but context_mode is not POOL_CONTEXT_ADOPT");
        return POOL_OK;
    }
    if (!params->contexts || !params->context_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: POOL_CONTEXT_ADOPT needs contexts and context_count");
    status = base_check_array("pool_create", "contexts", params->context_count,
        sizeof(*params->contexts), sizeof(*params->contexts));
    if (status)
        return status;
    if (params->devices && !sim_spec_is_sim(params->devices))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: with POOL_CONTEXT_ADOPT the contexts determine the devices, so devices "
            "must be NULL (or \"sim…\" for contexts of simulated devices)");
    return POOL_OK;
}

static pool_status read_params(pool_params *params, const pool_params *given)
{
    static const pool_params none = {.struct_size = sizeof(none)};
    pool_status status =
        base_struct_read(&params_type, "pool_create", "params", given ? given : &none, params);

    if (!status)
        status = base_check_ranges("pool_create",
            {"context_mode", params->context_mode, 0, POOL_CONTEXT_ADOPT},
            {"lazy", params->lazy, 0, 1},
            {"isolation", params->isolation, 0, POOL_ISOLATION_WORKERS},
            {"slots", params->slots, 0, SLOTS_MAX});
    if (status)
        return status;
    if (params->context_flags && params->context_mode == POOL_CONTEXT_ADOPT)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: `context_flags` must be 0 with POOL_CONTEXT_ADOPT: the contexts exist");
    return check_adopt(params);
}

/* ---- settings -------------------------------------------------------------------------------- */

/* "500us", "2ms" or "1s". */
static bool parse_duration(const char *text, uint64_t *ns)
{
    static const struct {
        const char *suffix;
        uint64_t ns;
    } units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    const size_t digits = strspn(text, "0123456789");
    const uint64_t number = strtoull(text, NULL, 10);

    for (size_t i = 0; digits && digits < 10 && number && i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(text + digits, units[i].suffix) == 0) {
            *ns = number * units[i].ns;
            return true;
        }
    return false;
}

/* "1048576", "512M" or "1G". */
static bool is_size(const char *text)
{
    const size_t digits = strspn(text, "0123456789");

    return digits && digits < 16 &&
           (!text[digits] || (strchr("KMG", text[digits]) && !text[digits + 1]));
}

static bool are_absolute_paths(const char *list)
{
    for (; list[0] == '/'; list++) {
        list += strcspn(list, ":");
        if (!list[0])
            return true;
    }
    return false;
}

/* Settings that are read where no call could refuse them. */
static pool_status check_cache_settings(void)
{
    const char *cache = base_setting(BASE_SETTING_CACHE),
               *most = base_setting(BASE_SETTING_CACHE_MAX);
    const char *directory = base_setting(BASE_SETTING_CACHE_DIR),
               *levels = base_setting(BASE_SETTING_CACHE_LEVELS);

    if (cache && strcmp(cache, "on") != 0 && strcmp(cache, "off") != 0)
        return base_setting_refuse(BASE_SETTING_CACHE, "on or off");
    if (most && !is_size(most))
        return base_setting_refuse(BASE_SETTING_CACHE_MAX, "a size, \"512M\" or \"1G\"");
    if (directory && directory[0] != '/')
        return base_setting_refuse(BASE_SETTING_CACHE_DIR, "an absolute path");
    if (levels && strcmp(levels, "off") != 0 && !are_absolute_paths(levels))
        return base_setting_refuse(
            BASE_SETTING_CACHE_LEVELS, "absolute paths, separated by colons, or off");
    return POOL_OK;
}

/* What the program has left open; devices, memory limit and tuning are read where they are used. */
static pool_status apply_settings(pool_params *params)
{
    const char *slice = base_setting(BASE_SETTING_SLICE);
    uint64_t slots = params->slots;
    pool_status status = base_settings_check("pool_create");

    if (!status)
        status = base_log_apply_setting();
    if (!status)
        status = check_cache_settings();
    if (!status && !slots)
        status = base_setting_number(BASE_SETTING_SLOTS, 1, SLOTS_MAX, &slots);
    if (status)
        return status;
    params->slots = (uint32_t)slots;
    if (slice && !params->slice_ns) {
        params->slice_ns = UINT64_MAX;
        if (strcmp(slice, "unlimited") != 0 && !parse_duration(slice, &params->slice_ns))
            return base_setting_refuse(
                BASE_SETTING_SLICE, "a time, \"500us\" or \"2ms\", or \"unlimited\"");
    }
    return POOL_OK;
}

/* The path of the setting, in which %p is the number of the process; "%%" is a per cent sign. */
static pool_status expand_socket(const char *pattern, char *path, size_t size)
{
    size_t used = 0;

    for (const char *at = pattern; *at && used < size; at++) {
        if (at[0] == '%' && at[1] == 'p')
            used += (size_t)snprintf(path + used, size - used, "%ld", (long)getpid());
        else if (at[0] != '%' || at[1] == '%')
            path[used++] = *at;
        else
            return base_setting_refuse(BASE_SETTING_STATUS_SOCKET,
                "a path in which %p is the number of the process and %% a per cent sign");
        at += *at == '%';
    }
    if (used >= size)
        return base_setting_refuse(
            BASE_SETTING_STATUS_SOCKET, "a path of a socket, which is shorter");
    path[used] = '\0';
    return POOL_OK;
}

/* A socket of the setting, which many processes may share, is no reason not to work: a pool that
 * cannot have it does without, and leaves no error behind. */
static pool_status open_status_of_setting(device_pool *pool, const char *pattern)
{
    struct base_error_copy before;
    char path[128];
    pool_status status = expand_socket(pattern, path, sizeof(path));

    if (status)
        return status;
    base_error_save(&before);
    status = device_pool_open_status(pool, path, &pool->status_socket);
    if (!status || status == POOL_ERR_OUT_OF_HOST_MEMORY)
        return status;
    base_log(POOL_LOG_WARN, "this pool has no status socket (%s): %s",
        base_setting_origin(BASE_SETTING_STATUS_SOCKET).text, pool_last_error()->message);
    base_error_restore(&before);
    return POOL_OK;
}

static pool_status open_status(device_pool *pool, const pool_params *params)
{
    const char *pattern = base_setting(BASE_SETTING_STATUS_SOCKET);

    if (params->status_socket)
        return params->status_socket[0]
                   ? device_pool_open_status(pool, params->status_socket, &pool->status_socket)
                   : POOL_OK;
    return pattern ? open_status_of_setting(pool, pattern) : POOL_OK;
}

static void init_lock(pthread_mutex_t *lock, int type)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* Takes over what the source has of them. */
static void init_devices(device_pool *pool, const struct device_source *source)
{
    for (size_t i = 0; i < source->count; i++) {
        const struct device_source_entry *entry = &source->entries[i];
        pool_device *device = &pool->devices[i];

        device->pool = pool;
        device->gpu = device - entry->number;
        device->part = entry->part;
        device->parts = entry->wanted;
        source->entries[i].wanted = NULL;
        device->driver = source->driver;
        device->handle = entry->handle;
        device->properties.struct_size = sizeof(device->properties);
        device->properties.index = (uint32_t)i;
        device->properties.ordinal = entry->ordinal;
        device->properties.partition = (int32_t)entry->number;
        device->properties.partitions = (int32_t)entry->parts;
        device->properties.numa_node = -1;
        device->can_return = pool->context_mode != POOL_CONTEXT_ADOPT; /* none with workers */
        device_set_pinned_threshold(device, DEVICE_PINNED_THRESHOLD);
        init_lock(&device->context_lock, PTHREAD_MUTEX_NORMAL);
        init_lock(&device->resource_lock, PTHREAD_MUTEX_RECURSIVE);
        init_lock(&device->deferred_lock, PTHREAD_MUTEX_NORMAL);
        init_lock(&device->capture_lock, PTHREAD_MUTEX_NORMAL);
    }
    pool->count = source->count;
}

/* Allocates the pool's host memory and initialises its locks. */
static pool_status allocate_pool(const pool_params *params,
    const struct device_account_rules *rules, const struct device_levels *levels,
    const struct device_source *source, device_pool **created)
{
    device_pool *pool = base_aligned_calloc(CACHE_LINE, sizeof(*pool));
    pool_status status;

    if (!pool)
        return base_fail_memory("the pool");
    atomic_init(&pool->references, 1);
    pool->generation = driver_fork_generation();
    pool->driver = source->driver;
    pool->context_mode = params->context_mode;
    pool->context_flags = params->context_flags;
    pool->is_lazy = params->lazy != 0;
    pool->slots = params->slots ? params->slots : POOL_LEASE_SLOTS;
    pool->levels = *levels;
    pool->fault_hook = params->fault_hook;
    pool->fault_user = params->fault_user;
    pool->stall_timeout_ns = params->stall_timeout_ns;
    pool->slice_ns = params->slice_ns ? params->slice_ns : POOL_SLICE_NS;
    pool->shared_slice_ns = params->slice_ns ? params->slice_ns : POOL_SHARED_SLICE_NS;
    pool->shared_multiprocessors = params->shared_multiprocessors;
    pool->host_memory = params->host_memory;
    pool->host_memory_user = params->host_memory_user;
    pool->account_rules = *rules;
    device_register_log_device();
    init_lock(&pool->sample_lock, PTHREAD_MUTEX_NORMAL);
    init_lock(&pool->state_lock, PTHREAD_MUTEX_NORMAL);
    init_lock(&pool->extension_lock, PTHREAD_MUTEX_NORMAL);
    pool->devices = base_aligned_calloc(CACHE_LINE, source->count * sizeof(*pool->devices));
    if (pool->devices)
        init_devices(pool, source);
    status = pool->devices ? device_set_allocate(pool) : base_fail_memory("the pool's devices");
    if (!status)
        status = monitor_create(&pool->monitor);
    if (!status)
        status = monitor_create(&pool->readmission);
    if (!status && !base_thread_pool_create(UINT_MAX, &pool->threads))
        status = base_fail_memory("the pool's threads");
    if (status) {
        device_pool_free(pool);
        return status;
    }
    *created = pool;
    return POOL_OK;
}

/* Pools that are never freed; the list keeps them reachable for tools that look for leaks. */
static struct base_lock leaked_lock = BASE_LOCK_INIT;
static device_pool *leaked_pools; /* guarded by leaked_lock */

static void leak_pool(device_pool *pool)
{
    base_lock(&leaked_lock);
    pool->next_leaked = leaked_pools;
    leaked_pools = pool;
    base_unlock(&leaked_lock);
}

void device_pool_free(device_pool *pool)
{
    if (pool->is_leaked) {
        leak_pool(pool);
        return;
    }
    device_pool_destroy_extension(pool);
    for (size_t i = 0; i < pool->count; i++) {
        driver_work_close(&pool->devices[i].work);
        base_free(pool->devices[i].parts);
        device_counters_free(&pool->devices[i].counters);
    }
    if (device_pool_usable(pool, DEVICE_USE_HOST)) {
        base_thread_pool_destroy(&pool->threads);
        for (size_t i = 0; i < pool->count; i++) {
            pthread_mutex_destroy(&pool->devices[i].context_lock);
            pthread_mutex_destroy(&pool->devices[i].resource_lock);
            pthread_mutex_destroy(&pool->devices[i].deferred_lock);
            pthread_mutex_destroy(&pool->devices[i].capture_lock);
        }
        pthread_mutex_destroy(&pool->sample_lock);
        pthread_mutex_destroy(&pool->state_lock);
        pthread_mutex_destroy(&pool->extension_lock);
    }
    base_thread_pool_forget(&pool->threads);
    monitor_free(pool->monitor);
    monitor_free(pool->readmission);
    device_set_free(pool);
    device_pool_free_tuning(pool);
    base_free(pool->devices);
    base_free(pool);
}

/* Worker processes that end meanwhile have left nothing behind: their replacement is queried. */
static pool_status read_device(pool_device *device)
{
    enum { TRIES = 4 };
    pool_status status = POOL_OK;

    for (int i = 0; i < TRIES; i++) {
        status = device_read_identity(device);
        if (!status)
            status = device_read_properties(device);
        if (status != POOL_ERR_DEVICE_LOST || !device_wait_worker(device))
            break;
    }
    if (!status)
        device_note_worker(device);
    return status;
}

/* A caller's context may be a green one. Where the driver does not report, the number of the chip
 * stays: a plan for too many multiprocessors is slower, and nothing else. */
static pool_status read_multiprocessors(pool_device *device, CUcontext context)
{
    struct base_error_copy before;
    pool_status status;
    uint32_t count;

    base_error_save(&before);
    status = device_count_of_context(device->driver, context, &count);
    if (!status && count)
        device->properties.multiprocessors = (int32_t)count;
    if (!status || status == POOL_ERR_DEVICE_LOST ||
        pool_status_class(status) == POOL_CLASS_PROCESS)
        return status;
    base_log(POOL_LOG_DEBUG, "device %d (%s): multiprocessors of its context: %s",
        device->properties.ordinal, device->properties.uuid, pool_last_error()->message);
    base_error_restore(&before);
    return POOL_OK;
}

/* Adopts or creates the context, unless the pool is lazy. */
static pool_status open_context(pool_device *device, const pool_params *params)
{
    CUcontext context;
    pool_status status;

    if (params->context_mode == POOL_CONTEXT_ADOPT) {
        context = params->contexts[device->properties.index];
        status = device_note_context(device, context);
        if (!status)
            status = read_multiprocessors(device, context);
        if (!status)
            atomic_store(&device->context, context);
        return status;
    }
    if (!params->lazy) {
        status = device_context_create(device, &context);
        /* An MPS server may limit the context, by CUDA_MPS_ACTIVE_THREAD_PERCENTAGE. */
        return !status && device->properties.mps && !device->properties.partitions
                   ? read_multiprocessors(device, context)
                   : status;
    }
    return device->properties.compute_mode == DRIVER_COMPUTEMODE_PROHIBITED
               ? base_fail(POOL_ERR_DEVICE_UNUSABLE,
                     "its compute mode is \"prohibited\" (nvidia-smi -c 0 changes that)")
               : POOL_OK;
}

static pool_status open_device(pool_device *device, const pool_params *params)
{
    pool_status status = read_device(device);

    if (status)
        return status;
    if (device == device->gpu)
        device_account_init(
            &device->account, &device->pool->account_rules, device->properties.total_bytes);
    status = driver_work_open(
        &device->work, device->driver, device->properties.ordinal, device->properties.uuid);
    if (status)
        return status;
    if (device->properties.mps)
        driver_work_set_shared(&device->work);
    status = device_context_check_flags(device);
    atomic_store(&device->is_lost, status == POOL_ERR_DEVICE_LOST);
    return status ? status : open_context(device, params);
}

/* A device that cannot be opened is marked unusable. Fails only if the process is poisoned, or, no
 * fault of the device, if the context's flags cannot be had. */
static pool_status prepare_device(pool_device *device, const pool_params *params)
{
    pool_status status = open_device(device, params);

    if (!status || status == POOL_ERR_BUSY || status == POOL_ERR_UNSUPPORTED ||
        pool_status_class(status) == POOL_CLASS_PROCESS)
        return status;
    if (device_usable(device, DEVICE_USE_CALLS))
        device_mark_unusable(device);
    return POOL_OK;
}

static pool_status check_usable_count(const device_pool *pool, const pool_params *params)
{
    size_t usable = pool_usable_count(pool), lost = 0,
           required = params->min_devices ? params->min_devices : 1;
    char reasons[1024];

    if (usable >= required)
        return POOL_OK;
    for (size_t i = 0; i < pool->count; i++)
        lost += device_is_lost(&pool->devices[i]);
    if (!usable && !lost)
        return device_pool_none_usable(pool);
    device_pool_reasons(pool, reasons, sizeof(reasons));
    return base_fail(usable + lost >= required ? POOL_ERR_DEVICE_LOST : POOL_ERR_NO_DEVICE,
        "%zu of %zu devices can be used, min_devices is %zu%s%s", usable, pool->count, required,
        reasons[0] ? ": " : "", reasons);
}

/* For numbers of a file that need kernels that are compiled. No device is used. */
static bool has_compiler(void)
{
    pool_component compiler;

    return !module_compiler_report(NULL, true, &compiler) && !compiler.status;
}

static pool_status start_devices(device_pool *pool, const pool_params *params)
{
    pool_status status = driver_listen(pool->driver, device_pool_fault, pool);

    if (status)
        return status;
    device_set_publish(pool);
    for (size_t i = 0; i < pool->count && !status; i++)
        status = prepare_device(&pool->devices[i], params);
    if (!status)
        status = device_pool_tune(pool, params->tuning, has_compiler);
    if (!status)
        status = device_pool_check(pool, DEVICE_USE_DRIVER);
    if (!status)
        status = check_usable_count(pool, params);
    return status;
}

pool_status pool_create(device_pool **pool, const pool_params *given)
{
    struct base_error_copy cause;
    struct device_account_rules rules;
    struct device_levels levels;
    struct device_source source;
    device_pool *created = NULL;
    pool_params params;
    pool_status status;

    if (!pool)
        return base_fail_null("pool_create", "pool");
    status = read_params(&params, given);
    if (!status)
        status = apply_settings(&params);
    if (!status)
        status = device_levels_read(&params, &levels);
    if (!status)
        status = device_account_rules_read(&params, &rules);
    if (!status)
        status = device_source_open(&params, &source);
    if (status)
        return status;
    status = allocate_pool(&params, &rules, &levels, &source, &created);
    if (status)
        goto close_source;
    status = start_devices(created, &params);
    if (!status)
        status = device_pool_start_isolation(created, pool_device_probe);
    if (!status)
        status = device_pool_start_watch(created);
    if (!status)
        status = open_status(created, &params);
    if (status)
        goto stop;
    source.driver = NULL; /* now owned by the pool */
    device_source_close(&source);
    *pool = created;
    return POOL_OK;

stop:
    /* Releasing contexts may fail too; the reported cause is why the pool was not created. */
    base_error_save(&cause);
    device_pool_stop(created);
    base_error_restore(&cause);
close_source:
    device_source_close(&source);
    return status;
}
