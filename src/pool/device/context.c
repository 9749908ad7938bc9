/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts: creating each exactly once, releasing it, and making it current for the duration of a
 * call of the library (device_enter, device_leave).
 */
#include <stdio.h>

#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "pool/device/pool.h"

/* The device that this thread has entered: a fault detected now showed there. */
static _Thread_local device_entered_slot slot __attribute__((tls_model("initial-exec")));

static inline pool_device *get_acting(void)
{
    return atomic_load_explicit(&slot, memory_order_relaxed);
}

static inline void set_acting(pool_device *device)
{
    atomic_store_explicit(&slot, device, memory_order_relaxed);
}

device_entered_slot *device_entered_of_thread(void)
{
    return &slot;
}

pool_device *device_entered(void)
{
    return get_acting();
}

static int32_t entered_ordinal(void)
{
    return get_acting() ? get_acting()->properties.ordinal : -1;
}

void device_register_log_device(void)
{
    base_log_set_device(entered_ordinal);
}

void device_log(pool_device *device, pool_log_level level, const char *message)
{
    pool_device *outer = get_acting();

    set_acting(device);
    base_log(level, "%s", message);
    set_acting(outer);
}

/* cuCtxCreate leaves the new context on top of the thread's stack, so it is popped again. */
static pool_status create_context(pool_device *device, CUcontext *context)
{
    struct driver *driver = device->driver;
    CUcontext created = NULL;
    int is_off;
    pool_status status =
        DRIVER_CALL_FOR(driver, CtxCreate(&created, device->pool->context_flags, device->handle),
            "device %d", device->handle);

    if (status)
        return status;
    status = device_context_pop(driver, created, &is_off);
    if (status) {
        /* Destroying the context also removes it from the stack. */
        if (pool_status_class(status) != POOL_CLASS_PROCESS)
            driver->api.CtxDestroy(created);
        return status;
    }
    *context = created;
    return POOL_OK;
}

/* Flags that the driver reports for contexts that were created without them. */
#define IMPLIED_FLAGS (DRIVER_CTX_MAP_HOST | DRIVER_CTX_LMEM_RESIZE_TO_MAX)

/* *is_active: the context is in use and has the flags of the pool. */
static pool_status check_primary_flags(pool_device *device, int *is_active)
{
    struct driver *driver = device->driver;
    unsigned wanted = device->pool->context_flags, flags = 0;
    pool_status status;

    if (!driver->api.DevicePrimaryCtxSetFlags)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_create: `context_flags` of primary contexts need cuDevicePrimaryCtxSetFlags, "
            "which the driver does not have");
    status = DRIVER_CALL_FOR(driver, DevicePrimaryCtxGetState(device->handle, &flags, is_active),
        "device %d", device->handle);
    if (status || !*is_active || !((flags ^ wanted) & ~(unsigned)IMPLIED_FLAGS))
        return status;
    return base_fail(POOL_ERR_BUSY,
        "pool_create: the primary context of device %d is active with the flags 0x%x, and the "
        "pool's `context_flags` are 0x%x; create the pool before anything else uses the context, "
        "or set the flags there",
        device->properties.ordinal, flags, wanted);
}

pool_status device_context_check_flags(pool_device *device)
{
    int is_active = 0;

    if (device->pool->context_mode != POOL_CONTEXT_PRIMARY || !device->pool->context_flags)
        return POOL_OK;
    return check_primary_flags(device, &is_active);
}

static pool_status set_primary_flags(pool_device *device)
{
    int is_active = 0;
    pool_status status = check_primary_flags(device, &is_active);

    if (status || is_active)
        return status;
    return DRIVER_CALL_FOR(device->driver,
        DevicePrimaryCtxSetFlags(device->handle, device->pool->context_flags), "device %d, 0x%x",
        device->handle, device->pool->context_flags);
}

#define GREEN_DEFAULT_STREAM 1u /* CU_GREEN_CTX_DEFAULT_STREAM, which must be given */

/* Has the primary context ended unless others use it. */
static pool_cu_result release_primary(const pool_device *device)
{
    return device->driver->api.DevicePrimaryCtxRelease(device->handle);
}

/* In another process of the GPU, or after the end of its primary context. */
pool_status device_split_again(pool_device *device)
{
    struct device_part split[DEVICE_PARTS_MAX];
    pool_status status = POOL_OK;

    if (!device->parts)
        return POOL_OK;
    status = device_split(device->driver, device->handle, device->parts, split);
    for (pool_device *part = NULL; !status && (part = device_next_part(device, part));)
        part->part = split[part->properties.partition];
    return status;
}

/* The context of a part, beside the pool's reference to the primary one. */
static pool_status create_green(pool_device *device, CUcontext *context)
{
    struct driver *driver = device->driver;
    CUgreenCtx green = NULL;
    pool_status status = DRIVER_CALL_FOR(driver,
        GreenCtxCreate(&green, device->part.desc, device->handle, GREEN_DEFAULT_STREAM),
        "%u multiprocessors of device %d", device->part.multiprocessors, device->handle);

    if (status)
        return status;
    status = DRIVER_CALL(driver, CtxFromGreenCtx(context, green));
    if (!status)
        device->green = green;
    else if (pool_status_class(status) != POOL_CLASS_PROCESS)
        (void)driver->api.GreenCtxDestroy(green);
    return status;
}

static pool_status retain_primary(pool_device *device, CUcontext *context)
{
    pool_status status = device->pool->context_flags ? set_primary_flags(device) : POOL_OK;

    if (!status)
        status = DRIVER_CALL_FOR(device->driver, DevicePrimaryCtxRetain(context, device->handle),
            "device %d", device->handle);
    return status;
}

static pool_status create_or_retain(pool_device *device, CUcontext *context)
{
    pool_status status;

    if (device->pool->context_mode == POOL_CONTEXT_OWN)
        return create_context(device, context);
    status = retain_primary(device, context);
    if (status || !device->properties.partitions)
        return status;
    status = create_green(device, context);
    if (status && pool_status_class(status) != POOL_CLASS_PROCESS)
        (void)release_primary(device);
    return status;
}

/* Failures are only logged; the thread's error detail may change. */
static void release_context(pool_device *device, CUcontext context)
{
    struct driver *driver = device->driver;
    pool_cu_result code = POOL_CU_SUCCESS;
    const char *call = "";

    switch (device->pool->context_mode) {
    case POOL_CONTEXT_PRIMARY:
        call = "cuGreenCtxDestroy";
        code = device->green ? driver->api.GreenCtxDestroy(device->green) : POOL_CU_SUCCESS;
        device->green = NULL;
        if (code)
            break;
        call = "cuDevicePrimaryCtxRelease";
        code = release_primary(device);
        break;
    case POOL_CONTEXT_OWN:
        call = "cuCtxDestroy";
        code = driver->api.CtxDestroy(context);
        break;
    case POOL_CONTEXT_ADOPT:
        break;
    }
    if (driver_code_class(code) == POOL_CLASS_PROCESS && code != POOL_CU_DEINITIALIZED)
        (void)DRIVER_CHECK_FOR(driver, code, call, "device %d", device->handle);
    else if (code && code != POOL_CU_DEINITIALIZED)
        base_log(POOL_LOG_WARN,
            "device %d (%s): %s failed with %s (%u); the context is not released",
            device->properties.ordinal, device->properties.uuid, call, driver_code_name(code),
            code);
}

/* Called with context_lock held. */
static pool_status create_locked(pool_device *device, CUcontext *context)
{
    pool_device *outer = get_acting();
    pool_status status;

    *context = atomic_load_explicit(&device->context, memory_order_relaxed);
    if (*context)
        return POOL_OK;
    set_acting(device);
    device_note_worker(device);
    status = create_or_retain(device, context);
    if (!status) {
        status = device_note_context(device, *context);
        if (status) {
            struct base_error_copy first;

            base_error_save(&first);
            if (pool_status_class(status) != POOL_CLASS_PROCESS)
                release_context(device, *context);
            base_error_restore(&first);
        }
    }
    set_acting(outer);
    if (status)
        return status;
    base_log(POOL_LOG_INFO, "device %d (%s): context created", device->properties.ordinal,
        device->properties.uuid);
    atomic_store_explicit(&device->context, *context, memory_order_release);
    /* Its free memory can be queried now; 1 makes the next pool_best_device sample it. */
    if (atomic_load_explicit(&device->pool->sampled_at, memory_order_relaxed))
        atomic_store_explicit(&device->pool->sampled_at, 1, memory_order_relaxed);
    return POOL_OK;
}

pool_status device_context_create(pool_device *device, CUcontext *context)
{
    pool_status status = device_pool_check(device->pool, DEVICE_USE_DRIVER);
    struct base_error_copy cause;
    int is_first = 0;
    bool is_lost;
    CUcontext created = NULL;

    if (status)
        return status;
    pthread_mutex_lock(&device->context_lock);
    if (!device_usable(device, DEVICE_USE_CALLS)) {
        pthread_mutex_unlock(&device->context_lock);
        return device_refuse(device, DEVICE_USE_CALLS);
    }
    status = create_locked(device, &created);
    is_lost = status == POOL_ERR_DEVICE_LOST;
    if (is_lost)
        atomic_store(&device->is_lost, true);
    if (status && pool_status_class(status) != POOL_CLASS_PROCESS)
        is_first = device_set_unusable(device);
    pthread_mutex_unlock(&device->context_lock);
    if (status && pool_status_class(status) != POOL_CLASS_PROCESS) {
        status = device_notify_unusable(device, is_first);
        base_error_save(&cause);
        if (is_lost)
            (void)device_pool_start_readmission(device->pool);
        base_error_restore(&cause);
        return status;
    }
    if (!status)
        *context = created;
    return status;
}

void device_context_release(pool_device *device)
{
    CUcontext context = atomic_exchange(&device->context, NULL);

    if (context)
        release_context(device, context);
}

/*
 * A pop that fails leaves the stack unchanged. It is retried once, so that a transient failure does
 * not leave the thread with a context that it does not expect; the failure is reported anyway. A
 * poisoned process retries too: the stack belongs to the thread, not to the device.
 */
static pool_status retry_pop(
    struct driver *driver, pool_cu_result code, CUcontext *popped, int *is_off)
{
    pool_status status = driver_check(driver, code, "cuCtxPopCurrent");

    *is_off = 1;
    *popped = NULL;
    driver->api.CtxPopCurrent(popped);
    return status;
}

pool_status device_context_pop(struct driver *driver, CUcontext context, int *is_off)
{
    CUcontext popped = NULL;
    pool_cu_result code = driver->api.CtxPopCurrent(&popped);
    pool_status status = POOL_OK;

    *is_off = 1;
    if (__builtin_expect(code == POOL_CU_SUCCESS && popped == context, 1))
        return POOL_OK;
    if (code)
        status = retry_pop(driver, code, &popped, is_off);
    if (!popped || popped == context)
        return status ? status
                      : base_fail(POOL_ERR_UNBALANCED,
                            "the context stack of this thread is empty: other code has popped the "
                            "device's context");
    *is_off = 0;
    code = driver->api.CtxPushCurrent(popped);
    if (code)
        return driver_check(driver, code, "cuCtxPushCurrent");
    return base_fail(POOL_ERR_UNBALANCED,
        "a context other than the device's is on top of this thread's stack: the code that pushed "
        "or set it must pop it first");
}

/* Pushes scope->context unless it is current. */
static pool_status push_context(struct device_scope *scope)
{
    CUcontext current = NULL;
    pool_status status;

    scope->is_pushed = 0;
    scope->is_counted = 0;
    scope->outer = get_acting();
    set_acting(scope->device);
    status = device_verify_context(scope->device, scope->context);
    if (status)
        goto fail;
    DRIVER_TRY(scope->driver, status, fail, CtxGetCurrent(&current));
    if (current != scope->context) {
        DRIVER_TRY_FOR(scope->driver, status, fail, CtxPushCurrent(scope->context), "device %d",
            scope->device->properties.ordinal);
        scope->is_pushed = 1;
    }
    return POOL_OK;

fail:
    set_acting(scope->outer);
    return status;
}

pool_status device_enter_uncounted(pool_device *device, struct device_scope *scope)
{
    pool_status status;

    if (!device)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "device must not be NULL");
    /* Not counted, so that threads which repeat their calls do not keep it from coming back. */
    if (device_is_lost(device))
        return device_refuse(device, DEVICE_USE_CALLS);
    scope->device = device;
    scope->driver = device->driver;
    scope->is_inside = device_count_inside(device);
    status = device_context_get(device, &scope->context);
    if (!status) {
        status = push_context(scope);
        if (status)
            status = device_classify(device, status);
    }
    if (status)
        device_count_outside(device, scope->is_inside);
    return status;
}

pool_status device_enter_again(pool_device *device, struct device_scope *scope)
{
    pool_status status = device_pool_check(device->pool, DEVICE_USE_DRIVER);

    if (status)
        return status;
    pthread_mutex_lock(&device->context_lock);
    /* Not released: it has ended with its process, and another pool may use its successor. */
    atomic_store(&device->context, NULL);
    status = create_locked(device, &scope->context);
    pthread_mutex_unlock(&device->context_lock);
    if (status)
        return status;
    scope->device = device;
    scope->driver = device->driver;
    scope->is_inside = device_count_inside(device);
    status = push_context(scope);
    if (status)
        device_count_outside(device, scope->is_inside);
    return status;
}

/* One call of the library may enter the device several times; it is counted once. */
pool_status device_enter(pool_device *device, struct device_scope *scope)
{
    pool_status status = device_enter_uncounted(device, scope);

    if (!status && scope->outer != device) {
        scope->is_counted = 1;
        atomic_fetch_add_explicit(&device->calls, 1, memory_order_relaxed);
    }
    return status;
}

pool_status device_enter_to_release(pool_device *device, struct device_scope *scope)
{
    pool_status status;

    scope->device = device;
    scope->driver = device->driver;
    scope->is_inside = device_count_inside(device);
    status = device_check(device, DEVICE_USE_RELEASE);
    if (!status) {
        scope->context = atomic_load_explicit(&device->context, memory_order_acquire);
        status = push_context(scope);
        if (status && device_usable(device, DEVICE_USE_RELEASE))
            status = push_context(scope);
    }
    if (status)
        device_count_outside(device, scope->is_inside);
    return status;
}

/* Pops the context and keeps the error detail of the earlier failure. */
static void pop_after_failure(struct device_scope *scope)
{
    struct base_error_copy first;
    int is_off;

    base_error_save(&first);
    device_context_pop(scope->driver, scope->context, &is_off);
    base_error_restore(&first);
}

pool_status device_leave(struct device_scope *scope, pool_status status)
{
    int is_off;

    if (scope->is_pushed) {
        if (status)
            pop_after_failure(scope);
        else
            status = device_context_pop(scope->driver, scope->context, &is_off);
    }
    set_acting(scope->outer);
    if (scope->is_counted)
        atomic_fetch_sub_explicit(&scope->device->calls, 1, memory_order_release);
    status = device_classify(scope->device, status);
    device_count_outside(scope->device, scope->is_inside);
    return status;
}

pool_status pool_device_context(pool_device *device, CUcontext *context)
{
    pool_status status =
        base_check_pointers("pool_device_context", {"device", device}, {"context", context});
    if (!status)
        status = device_check_raw(device, __func__);
    if (status)
        return status;
    return device_context_get(device, context);
}

pool_status pool_device_handle(pool_device *device, CUdevice *handle)
{
    pool_status status =
        base_check_pointers("pool_device_handle", {"device", device}, {"handle", handle});
    if (status)
        return status;
    *handle = device->handle;
    return POOL_OK;
}
