/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page-locked host memory: allocated by the driver, or the caller's own, registered.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "pool/device/counters.h"
#include "pool/device/release.h"
#include "pool/memory/memory.h"

struct pool_pinned {
    atomic_uint magic;
    pool_device *device;
    unsigned renewals; /* of the device when it was pinned */
    struct device_memory *memory;
    void *data;
    uint64_t bytes;
    uint32_t flags;
    int registered;
    struct memory_host_block block; /* unless registered */
};

static pool_status check_live(const char *call, const pool_pinned *pinned)
{
    if (!pinned)
        return base_fail_null(call, "pinned");
    if (atomic_load_explicit(&pinned->magic, memory_order_relaxed) != MEMORY_PINNED_MAGIC)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the pinned memory is freed already or never was");
    return POOL_OK;
}

static pool_status check_arguments(
    const char *call, uint64_t bytes, uint32_t flags, uint32_t known, pool_pinned **to)
{
    if (!to)
        return base_fail_null(call, "pinned");
    if (!bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `bytes` must not be 0", call);
    if (flags & ~known)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: unsupported value 0x%x for `flags`", call, flags);
    return POOL_OK;
}

static pool_status register_memory(struct device_scope *scope, pool_pinned *created)
{
    pool_cu_result code = scope->driver->api.MemHostRegister(
        created->data, (size_t)created->bytes, DRIVER_MEMHOSTREGISTER_PORTABLE);
    struct base_size_text size = base_size_text(created->bytes);

    /* Codes that mean something else here than they do for device memory. */
    if (code == POOL_CU_OUT_OF_MEMORY)
        return base_fail_driver(POOL_ERR_OUT_OF_HOST_MEMORY, (int)code, driver_code_name(code),
            "cuMemHostRegister", "the host cannot pin %s", size.text);
    if (code == POOL_CU_HOST_MEMORY_ALREADY_REGISTERED)
        return base_fail_driver(POOL_ERR_INVALID_ARGUMENT, (int)code, driver_code_name(code),
            "cuMemHostRegister", "%s at %p: some of it is pinned already", size.text,
            created->data);
    return DRIVER_CHECK_FOR(scope->driver, code, "cuMemHostRegister", "%s", size.text);
}

static pool_status pin(struct device_scope *scope, pool_pinned *created)
{
    pool_status status;

    if (created->registered)
        return register_memory(scope, created);
    status = memory_host_allocate(created->memory, created->bytes, created->flags, &created->block);
    if (!status)
        created->data = created->block.data;
    return status;
}

static void free_object(pool_pinned *pinned)
{
    device_deferred_free(pinned->block.record);
    memory_gauge_sub(&pinned->memory->pinned, pinned->bytes);
    device_dependent_removed(pinned->device, DEVICE_DEPENDENT_PINNED);
    atomic_store_explicit(&pinned->magic, MEMORY_DEAD, memory_order_relaxed);
    base_free(pinned);
}

/* Undoes a making whose caller will not get the object; the first failure stays the detail. */
static void discard(pool_pinned *created)
{
    struct base_error_copy first;
    pool_pinned *left = created;

    base_error_save(&first);
    (void)pool_pinned_destroy(&left);
    base_error_restore(&first);
    if (left) {
        if (left->registered)
            device_defer_orphan(left->device, DEVICE_DEFERRED_REGISTERED, left->data);
        else
            memory_host_release(
                left->memory, &left->block, (left->flags & POOL_PINNED_SECRET) != 0);
        free_object(left);
    }
}

static pool_status create(pool_device *device, const pool_pinned *wanted, pool_pinned **pinned)
{
    struct device_scope scope;
    pool_pinned *created;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    created = base_calloc(1, sizeof(*created));
    if (!created)
        return device_leave(&scope, base_fail_memory("pinned memory"));
    created->device = device;
    created->renewals = device_renewals(device);
    created->data = wanted->data;
    created->bytes = wanted->bytes;
    created->flags = wanted->flags;
    created->registered = wanted->registered;
    status = memory_of(&scope, &created->memory);
    if (!status)
        status = pin(&scope, created);
    if (status) {
        base_free(created);
        return device_leave(&scope, status);
    }
    atomic_init(&created->magic, MEMORY_PINNED_MAGIC);
    memory_gauge_add(&created->memory->pinned, created->bytes);
    device_dependent_added(device, DEVICE_DEPENDENT_PINNED);
    status = device_leave(&scope, POOL_OK);
    if (status)
        discard(created);
    else
        *pinned = created;
    return status;
}

pool_status pool_pinned_create(
    pool_device *device, uint64_t bytes, uint32_t flags, pool_pinned **pinned)
{
    pool_pinned wanted = {.bytes = bytes, .flags = flags};
    pool_status status = check_arguments(
        __func__, bytes, flags, POOL_PINNED_SECRET | POOL_PINNED_WRITE_COMBINED, pinned);

    return status ? status : create(device, &wanted, pinned);
}

pool_status pool_pinned_register(
    pool_device *device, void *data, uint64_t bytes, uint32_t flags, pool_pinned **pinned)
{
    pool_pinned wanted = {.data = data, .bytes = bytes, .flags = flags, .registered = 1};
    pool_status status = check_arguments(__func__, bytes, flags, POOL_PINNED_SECRET, pinned);

    if (!status && !data)
        status = base_fail_null("pool_pinned_register", "data");
    if (!status && (uintptr_t)data + (uintptr_t)bytes < (uintptr_t)data)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_pinned_register: %s at %p reach beyond the end of the address space",
            base_size_text(bytes).text, data);
    return status ? status : create(device, &wanted, pinned);
}

static void overwrite(const pool_pinned *object)
{
    if (object->flags & POOL_PINNED_SECRET)
        base_wipe(object->data, (size_t)object->bytes);
}

/*
 * The block goes back to the device's pool of pinned memory, where enqueued copies may still use
 * it; a secret that is idle is overwritten at once. Registered memory is the caller's, who may free
 * it after this, so it has to wait.
 */
static pool_status unpin(struct device_scope *scope, pool_pinned *object)
{
    bool is_secret = (object->flags & POOL_PINNED_SECRET) != 0;
    pool_status idle;
    uint64_t start;

    if (object->registered) {
        overwrite(object);
        if (device_may_block(object->device))
            return POOL_OK; /* it stays registered */
        start = base_clock_ns();
        return device_count_wait(object->device, COUNTER_WAIT_UNREGISTER, start,
            DRIVER_CALL_FOR(scope->driver, MemHostUnregister(object->data), "%p", object->data));
    }
    idle = device_pool_is_idle(object->device);
    if (!idle || pool_status_class(idle) == POOL_CLASS_PROCESS) {
        overwrite(object);
        is_secret = false;
    }
    memory_host_release(object->memory, &object->block, is_secret);
    if (idle && idle != POOL_ERR_NOT_READY)
        return idle;
    return device_release_deferred(object->device, DEVICE_RELEASE_EXCESS);
}

pool_status pool_pinned_destroy(pool_pinned **pinned)
{
    struct device_scope scope;
    pool_pinned *object;
    pool_status status;
    enum device_release release;
    bool has_ended;

    if (!pinned || !*pinned)
        return POOL_OK;
    object = *pinned;
    status = check_live(__func__, object);
    if (status)
        return status;
    release = device_enter_to_destroy(object->device, &scope, &status);
    if (release == DEVICE_RELEASE_RETAIN)
        return status;
    has_ended = device_pinned_has_ended(object->device, object->renewals);
    if (release == DEVICE_RELEASE_ENTERED)
        status = device_leave(&scope, has_ended ? POOL_OK : unpin(&scope, object));
    /* The driver has freed the pages that were its own. In a child the pages are not there. */
    if (has_ended && object->registered)
        overwrite(object);
    if (!has_ended && release == DEVICE_RELEASE_HOST_ONLY &&
        device_usable(object->device, DEVICE_USE_HOST)) {
        overwrite(object);
        /* For its reuse after the return of the device: driver calls can be made again then. */
        if (object->block.record &&
            device_refusal(object->device, DEVICE_USE_CALLS) == POOL_ERR_DEVICE_LOST)
            memory_host_release(object->memory, &object->block, false);
    }
    free_object(object);
    *pinned = NULL;
    return status;
}

void *pool_pinned_data(const pool_pinned *pinned)
{
    if (!pinned || check_live(__func__, pinned) ||
        (!pinned->registered && device_pinned_has_ended(pinned->device, pinned->renewals)))
        return NULL;
    return pinned->data;
}

uint64_t pool_pinned_bytes(const pool_pinned *pinned)
{
    return pinned && !check_live(__func__, pinned) ? pinned->bytes : 0;
}

pool_device *pool_pinned_device(const pool_pinned *pinned)
{
    return pinned && !check_live(__func__, pinned) ? pinned->device : NULL;
}

uint32_t pool_pinned_flags(const pool_pinned *pinned)
{
    return pinned && !check_live(__func__, pinned) ? pinned->flags : 0;
}
