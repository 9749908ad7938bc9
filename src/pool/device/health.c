/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults: marking a device or the whole pool unusable, notification of the caller, and the pool's
 * health. Queries read stored values only, so they also work when the driver does not.
 */
#include <stdio.h>
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/device/pool.h"

void device_lock_destroy(const pool_device *device, pthread_mutex_t *lock)
{
    if (device_usable(device, DEVICE_USE_HOST))
        pthread_mutex_destroy(lock);
}

void device_pool_reasons(const device_pool *pool, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < pool->count && used < size; i++) {
        const pool_device *device = &pool->devices[i];

        if (atomic_load(&device->state) != POOL_DEVICE_READY)
            used += (size_t)snprintf(text + used, size - used, "%sdevice %d (%s)%s: %s",
                used ? "; " : "", device->properties.ordinal, device->properties.uuid,
                device_part_name(device).text, device_reason(device).text);
    }
}

pool_status device_pool_none_usable(const device_pool *pool)
{
    char reasons[1024];

    device_pool_reasons(pool, reasons, sizeof(reasons));
    return base_fail(
        POOL_ERR_NO_DEVICE, "none of the pool's %zu devices can be used: %s", pool->count, reasons);
}

/* `code` is for metrics: what the library has found, where no call of the driver has failed. */
static void notify_fault(device_pool *pool, const pool_fault *fault, const char *code)
{
    device_pool_count_fault(pool, fault, *fault->driver_name ? fault->driver_name : code);
    if (pool->fault_hook)
        pool->fault_hook(pool->fault_user, fault);
}

void device_report(pool_device *device, const char *message)
{
    const pool_fault fault = {.error_class = POOL_CLASS_DEVICE,
        .driver_name = "",
        .message = message,
        .device = device,
        .shown_on = device};

    notify_fault(device->pool, &fault, "probe_failed");
}

pool_status device_notify_unusable(pool_device *device, int is_first)
{
    struct device_reason reason = device_reason(device);
    struct base_error_copy cause;

    base_error_save(&cause);
    if (is_first) {
        pool_fault fault = {.error_class = POOL_CLASS_DEVICE,
            .driver_code = cause.error.driver_code,
            .driver_name = cause.error.driver_name,
            .message = reason.text,
            .device = device,
            .shown_on = device};

        device_notify_states_of_gpu(device);
        notify_fault(device->pool, &fault, "unusable");
    }
    return base_fail_driver(
        atomic_load(&device->is_lost) ? POOL_ERR_DEVICE_LOST : POOL_ERR_DEVICE_UNUSABLE,
        cause.error.driver_code, cause.error.driver_name, cause.call,
        "device %d (%s) cannot be used: %s", device->properties.ordinal, device->properties.uuid,
        reason.text);
}

pool_status device_mark_unusable(pool_device *device)
{
    return device_notify_unusable(device, device_set_unusable(device));
}

/* Whether the status may say that the context has ended: any code of the driver may, as what is
 * stale depends on the call. UNBALANCED: the context is not where it was pushed. */
static bool is_of_driver(pool_status status)
{
    return pool_status_class(status) == POOL_CLASS_CALL && status != POOL_ERR_NOT_READY &&
           (pool_last_error()->driver_code || status == POOL_ERR_UNBALANCED);
}

pool_status device_classify(pool_device *device, pool_status status)
{
    if (__builtin_expect(!status, 1))
        return POOL_OK;
    if (status == POOL_ERR_DEVICE_UNUSABLE && device_usable(device, DEVICE_USE_CALLS))
        return device_mark_unusable(device);
    return is_of_driver(status) ? device_find_context_ended(device, status) : status;
}

static pool_device *device_of_ordinal(device_pool *pool, int ordinal)
{
    for (size_t i = 0; i < pool->count; i++)
        if (ordinal >= 0 && pool->devices[i].properties.ordinal == ordinal)
            return &pool->devices[i];
    return NULL;
}

/* The device of this pool where the fault on this thread showed, or NULL. */
static pool_device *faulting_device(device_pool *pool, const struct driver_fault *fault)
{
    pool_device *device = device_entered();

    return device && device->pool == pool ? device : device_of_ordinal(pool, fault->device);
}

/* Calls the hook with the kernels of `fault`. */
static void report_with_kernels(
    device_pool *pool, const struct driver_fault *fault, pool_fault *report, const char *code)
{
    pool_fault_kernel kernels[DRIVER_FAULT_KERNELS];

    for (unsigned i = 0; i < fault->kernel_count; i++)
        kernels[i] =
            (pool_fault_kernel){.device = device_of_ordinal(pool, fault->kernels[i].device),
                .ordinal = fault->kernels[i].device,
                .launches = fault->kernels[i].launches,
                .name = fault->kernels[i].name,
                .label = fault->kernels[i].label,
                .stream = fault->kernels[i].stream};
    report->kernels = kernels;
    report->kernel_count = fault->kernel_count;
    notify_fault(pool, report, code);
}

static void report_fault(device_pool *pool, const struct driver_fault *fault, pool_device *culprit,
    pool_device *shown_on)
{
    pool_fault report = {.error_class = POOL_CLASS_PROCESS,
        .driver_code = fault->code,
        .driver_name = fault->name,
        .message = pool->first_cause,
        .device = culprit,
        .shown_on = shown_on};

    report_with_kernels(pool, fault, &report, "sticky");
}

void device_report_stall(pool_device *device, const struct driver_fault *fault)
{
    pool_fault report = {.error_class = POOL_CLASS_DEVICE,
        .driver_name = "",
        .message = fault->message,
        .device = device,
        .shown_on = device};

    report_with_kernels(device->pool, fault, &report, "no_progress");
}

void device_pool_fault(void *user, const struct driver_fault *fault)
{
    device_pool *pool = user;
    pool_device *shown_on = faulting_device(pool, fault);
    pool_device *culprit = device_of_ordinal(pool, fault->culprit);

    pthread_mutex_lock(&pool->state_lock);
    pool->is_poisoned = 1;
    pool->fault_device = culprit ? (int)culprit->properties.index : -1;
    pool->fault_shown_on = shown_on ? (int)shown_on->properties.index : -1;
    if (shown_on)
        snprintf(pool->first_cause, sizeof(pool->first_cause), "shown on device %d (%s): %.900s",
            shown_on->properties.ordinal, shown_on->properties.uuid, fault->message);
    else
        snprintf(pool->first_cause, sizeof(pool->first_cause), "%s", fault->message);
    atomic_store_explicit(&pool->has_fault, 1, memory_order_release);
    pthread_mutex_unlock(&pool->state_lock);
    device_set_publish(pool);
    for (size_t i = 0; i < pool->count; i++)
        device_notify_state(&pool->devices[i]);
    report_fault(pool, fault, culprit, shown_on);
}

static void count_states(device_pool *pool, pool_health_info *info)
{
    uint32_t unusable = 0;

    for (size_t i = 0; i < pool->count; i++)
        switch ((pool_device_state)atomic_load(&pool->devices[i].state)) {
        case POOL_DEVICE_READY:
            info->usable_devices++;
            break;
        case POOL_DEVICE_DRAINING:
            info->draining_devices++;
            break;
        case POOL_DEVICE_QUARANTINED:
            info->quarantined_devices++;
            break;
        case POOL_DEVICE_ABANDONED:
            info->abandoned_devices++;
            break;
        case POOL_DEVICE_UNUSABLE:
        case POOL_DEVICE_POISONED:
            unusable++;
            break;
        }
    for (size_t i = 0; i < pool->count; i++)
        info->stalled_devices += device_is_stalled(&pool->devices[i]) != 0;
    /* A device is drained on purpose. */
    if (unusable || info->stalled_devices || info->quarantined_devices || info->abandoned_devices)
        info->harmed = POOL_CLASS_DEVICE;
}

pool_status pool_get_health(device_pool *pool, pool_health_info *info)
{
    static const struct base_struct type = BASE_STRUCT(pool_health_info);
    pool_health_info now = {.struct_size = sizeof(now), .fault_device = -1, .fault_shown_on = -1};
    pool_status status = pool ? base_struct_check(&type, "pool_get_health", "info", info)
                              : base_fail_null("pool_get_health", "pool");

    if (status)
        return status;
    status = device_pool_check(pool, DEVICE_USE_HOST);
    if (status)
        return status;
    now.devices = (uint32_t)pool->count;
    now.bindings = device_pool_bindings(pool, NULL);
    count_states(pool, &now);
    if (atomic_load_explicit(&pool->driver->poisoned, memory_order_acquire)) {
        /* Complete before the latch is set; the pool's own copy is written a moment later. */
        const struct driver_fault *fault = &pool->driver->fault;
        int is_told = atomic_load_explicit(&pool->has_fault, memory_order_acquire);

        now.harmed = POOL_CLASS_PROCESS;
        now.usable_devices = 0;
        now.driver_code = fault->code;
        now.fault_unix_time = fault->unix_time;
        memcpy(now.driver_name, fault->name, sizeof(now.driver_name));
        memcpy(
            now.first_cause, is_told ? pool->first_cause : fault->message, sizeof(now.first_cause));
        if (is_told) {
            now.fault_device = pool->fault_device;
            now.fault_shown_on = pool->fault_shown_on;
        }
    }
    base_struct_write(&type, &now, info);
    return POOL_OK;
}
