/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Physical memory without addresses: creation, export, import.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/device/release.h"
#include "pool/memory/virtual.h"

pool_status memory_check_physical(const char *call, const pool_physical *physical)
{
    if (!physical)
        return base_fail_null(call, "physical");
    if (atomic_load_explicit(&physical->magic, memory_order_relaxed) != MEMORY_PHYSICAL_MAGIC)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `physical` has been destroyed, or never was physical memory", call);
    return POOL_OK;
}

pool_status memory_check_physical_renewals(const pool_physical *physical)
{
    return device_check_object(physical->memory->device, physical->renewals, "the physical memory");
}

/* ---- granularity ------------------------------------------------------------------------------
 */

bool memory_has_virtual(const struct driver *driver)
{
    const pool_cuda_api *api = &driver->api;

    return api->MemGetAllocationGranularity && api->MemAddressReserve && api->MemAddressFree &&
           api->MemCreate && api->MemRelease && api->MemMap && api->MemUnmap && api->MemSetAccess &&
           api->MemExportToShareableHandle && api->MemImportFromShareableHandle;
}

pool_cu_mem_allocation_prop memory_physical_prop(
    const struct device_memory *memory, bool is_exportable)
{
    return (pool_cu_mem_allocation_prop){.type = DRIVER_MEM_ALLOCATION_TYPE_PINNED,
        .handle_types = is_exportable ? DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                      : DRIVER_MEM_HANDLE_TYPE_NONE,
        .location = {.type = DRIVER_MEM_LOCATION_TYPE_DEVICE, .id = memory->handle}};
}

/* Asked once: of exportable memory too, where the device has it. */
pool_status memory_granularity(struct device_memory *memory, uint64_t *bytes)
{
    const pool_cuda_api *api = &memory->driver->api;
    pool_cu_mem_allocation_prop prop = memory_physical_prop(memory, false);
    size_t plain = 0, exportable = 0;
    pool_cu_result code;
    pool_status status;

    *bytes = atomic_load(&memory->virtual.granularity);
    if (*bytes)
        return POOL_OK;
    if (!memory_has_virtual(memory->driver))
        return base_fail(POOL_ERR_UNSUPPORTED, "this driver has no virtual memory (cuMemCreate)");
    status = DRIVER_CALL(memory->driver,
        MemGetAllocationGranularity(&plain, &prop, DRIVER_MEM_ALLOC_GRANULARITY_MINIMUM));
    if (status)
        return status;
    prop = memory_physical_prop(memory, true);
    code =
        api->MemGetAllocationGranularity(&exportable, &prop, DRIVER_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (code && code != POOL_CU_NOT_SUPPORTED)
        return driver_check(memory->driver, code, "cuMemGetAllocationGranularity");
    *bytes = base_max(plain, exportable);
    if (!base_is_power_of_two(*bytes))
        return base_fail(POOL_ERR_UNSUPPORTED,
            "the driver reports a granularity of %llu bytes for the virtual memory of device %d",
            (unsigned long long)*bytes, pool_device_ordinal(memory->device));
    atomic_store(&memory->virtual.granularity, *bytes);
    return POOL_OK;
}

pool_status memory_round_to_granularity(
    const char *call, struct device_memory *memory, uint64_t *bytes)
{
    uint64_t granularity = 0;
    pool_status status = memory_granularity(memory, &granularity);

    if (status)
        return status;
    if (!*bytes || *bytes > SIZE_MAX / 2)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `bytes` must not be %s", call,
            *bytes ? "above 2^63" : "0");
    *bytes = base_round_up(*bytes, granularity);
    return POOL_OK;
}

pool_status pool_virtual_granularity(pool_device *device, uint64_t *bytes)
{
    struct device_memory *memory;
    struct device_scope scope;
    uint64_t found = 0;
    pool_status status;

    status = base_check_pointers(__func__, {"device", device}, {"bytes", bytes});
    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    status = memory_of(&scope, &memory);
    if (!status)
        status = memory_granularity(memory, &found);
    status = device_leave(&scope, status);
    if (!status)
        *bytes = found;
    return status;
}

/* ---- the driver's part -------------------------------------------------------------------------
 */

pool_cu_result memory_physical_allocate(struct device_memory *memory, pool_physical *physical)
{
    const pool_cu_mem_allocation_prop prop =
        memory_physical_prop(memory, physical->flags & POOL_PHYSICAL_EXPORTABLE);

    return memory->driver->api.MemCreate(&physical->allocation, (size_t)physical->bytes, &prop, 0);
}

pool_status memory_physical_release(struct device_memory *memory, const pool_physical *physical)
{
    return DRIVER_CALL(memory->driver, MemRelease(physical->allocation));
}

/* What the account of the device has of it. */
static struct memory_request request_of(pool_physical *physical)
{
    return (struct memory_request){.bytes = physical->bytes, .physical = physical};
}

/* ---- physical memory of devices that can be lost ----------------------------------------------
 */

static void list(pool_physical *physical)
{
    memory_list_charged(physical->memory, &physical->memory->physicals, &physical->charged);
}

static bool unlist(pool_physical *physical)
{
    return memory_unlist_charged(physical->memory, &physical->charged);
}

void memory_lose_physical(struct device_memory *memory)
{
    pthread_mutex_lock(&memory->charged_lock);
    while (memory->physicals) {
        const struct memory_request request =
            request_of(MEMORY_CHARGED_OF(memory->physicals, pool_physical));

        memory_unlink_charged(memory->physicals);
        memory_release_none(memory, &request);
    }
    pthread_mutex_unlock(&memory->charged_lock);
}

/* ---- creation ---------------------------------------------------------------------------------
 */

static pool_physical *new_physical(struct device_memory *memory, uint64_t bytes, uint32_t flags)
{
    pool_physical *created = base_calloc(1, sizeof(*created));

    if (!created)
        return NULL;
    created->memory = memory;
    created->bytes = bytes;
    created->flags = flags;
    created->renewals = device_renewals(memory->device);
    atomic_init(&created->references, 1);
    atomic_init(&created->magic, MEMORY_PHYSICAL_MAGIC);
    device_dependent_added(memory->device, DEVICE_DEPENDENT_VIRTUAL);
    return created;
}

/* It is no object of a caller's any more. */
static void retire(pool_physical *physical)
{
    device_dependent_removed(physical->memory->device, DEVICE_DEPENDENT_VIRTUAL);
    atomic_store_explicit(&physical->magic, MEMORY_DEAD, memory_order_relaxed);
}

static void free_physical(pool_physical *physical)
{
    retire(physical);
    base_free(physical);
}

/* What pool_physical_create and pool_physical_import are to make. */
struct making {
    const char *call;
    uint64_t bytes;
    uint32_t flags;
    bool is_imported;
    int descriptor; /* of another process, if it is imported */
};

static pool_status import_allocation(
    struct driver *driver, const struct making *making, pool_physical *created)
{
    pool_cu_result code = driver->api.MemImportFromShareableHandle(&created->allocation,
        (void *)(intptr_t)making->descriptor, DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);

    return DRIVER_CHECK_FOR(
        driver, code, "cuMemImportFromShareableHandle", "descriptor %d", making->descriptor);
}

static pool_status allocate(struct device_memory *memory, pool_physical *created)
{
    const struct memory_request request = request_of(created);
    CUdeviceptr none = 0;

    return memory_allocate(memory, &request, &none);
}

static pool_status make_inside(
    struct device_scope *scope, const struct making *making, pool_physical **physical)
{
    uint64_t bytes = making->bytes;
    struct device_memory *memory;
    pool_physical *created;
    pool_status status = memory_of(scope, &memory);

    if (!status)
        status = memory_round_to_granularity(making->call, memory, &bytes);
    if (!status && making->is_imported && bytes != making->bytes)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `bytes` is %llu, which is no multiple of the granularity: pool_physical_bytes of "
            "the exported memory is needed",
            making->call, (unsigned long long)making->bytes);
    if (status)
        return status;
    created = new_physical(memory, bytes, making->flags);
    if (!created)
        return base_fail_memory("physical memory");
    created->is_imported = making->is_imported;
    status = making->is_imported ? import_allocation(scope->driver, making, created)
                                 : allocate(memory, created);
    if (status) {
        free_physical(created);
        return status;
    }
    list(created);
    *physical = created;
    return POOL_OK;
}

static pool_status make(pool_device *device, const struct making *making, pool_physical **physical)
{
    struct device_scope scope;
    pool_physical *created = NULL;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    status = device_leave(&scope, make_inside(&scope, making, &created));
    if (status && created)
        memory_physical_abandon(created);
    if (!status)
        *physical = created;
    return status;
}

pool_status pool_physical_create(
    pool_device *device, uint64_t bytes, uint32_t flags, pool_physical **physical)
{
    const struct making making = {.call = __func__, .bytes = bytes, .flags = flags};
    pool_status status;

    status = base_check_pointers(__func__, {"device", device}, {"physical", physical});
    if (!status)
        status = base_flags_check(__func__, "flags", flags, POOL_PHYSICAL_EXPORTABLE);
    return status ? status : make(device, &making, physical);
}

pool_status pool_physical_import(
    pool_device *device, int descriptor, uint64_t bytes, pool_physical **physical)
{
    const struct making making = {.call = __func__,
        .bytes = bytes,
        .flags = POOL_PHYSICAL_EXPORTABLE,
        .is_imported = true,
        .descriptor = descriptor};
    pool_status status;

    status = base_check_pointers(__func__, {"device", device}, {"physical", physical});
    if (!status && fcntl(descriptor, F_GETFD) < 0)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_physical_import: %d is no open file descriptor", descriptor);
    return status ? status : make(device, &making, physical);
}

/* ---- release ----------------------------------------------------------------------------------
 */

pool_status memory_physical_drop(pool_physical *physical, bool *stays)
{
    const struct memory_request request = request_of(physical);
    struct device_scope scope;
    pool_status status = POOL_OK;

    *stays = false;
    if (atomic_fetch_sub(&physical->references, 1) != 1)
        return POOL_OK;
    if (!unlist(physical)) {
        free_physical(physical);
        return POOL_OK;
    }
    switch (device_enter_to_destroy_object(
        physical->memory->device, physical->renewals, &scope, &status)) {
    case DEVICE_RELEASE_ENTERED:
        status = device_leave(&scope, memory_release(physical->memory, &request, 0));
        break;
    case DEVICE_RELEASE_HOST_ONLY:
        memory_release_none(physical->memory, &request);
        break;
    case DEVICE_RELEASE_RETAIN:
        list(physical);
        atomic_fetch_add(&physical->references, 1);
        *stays = true;
        return status;
    }
    free_physical(physical);
    return status;
}

void memory_physical_abandon(pool_physical *physical)
{
    struct base_error_copy first;
    bool stays;

    base_error_save(&first);
    (void)memory_physical_drop(physical, &stays);
    base_error_restore(&first);
    if (!stays)
        return;
    if (unlist(physical)) {
        const struct memory_request request = request_of(physical);

        retire(physical);
        memory_quarantine_physical(physical->memory, &request);
    } else {
        free_physical(physical);
    }
}

pool_status pool_physical_destroy(pool_physical **physical)
{
    bool stays;
    pool_status status;

    if (!physical || !*physical)
        return POOL_OK;
    status = memory_check_physical(__func__, *physical);
    if (status)
        return status;
    status = memory_physical_drop(*physical, &stays);
    if (!stays)
        *physical = NULL;
    return status;
}

/* ---- other processes --------------------------------------------------------------------------
 */

static pool_status export_inside(struct device_scope *scope, pool_physical *physical, int *made)
{
    int descriptor = -1;
    pool_status status =
        DRIVER_CALL(scope->driver, MemExportToShareableHandle(&descriptor, physical->allocation,
                                       DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));

    if (status)
        return status;
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC)) {
        status = base_fail(POOL_ERR_DRIVER,
            "cuMemExportToShareableHandle returned %d, which is no descriptor: %s", descriptor,
            strerror(errno));
        close(descriptor);
        return status;
    }
    *made = descriptor;
    return POOL_OK;
}

pool_status pool_physical_export(pool_physical *physical, int *descriptor)
{
    struct device_scope scope;
    int made = -1;
    pool_status status = memory_check_physical(__func__, physical);

    if (!status && !descriptor)
        status = base_fail_null(__func__, "descriptor");
    if (!status && !(physical->flags & POOL_PHYSICAL_EXPORTABLE))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_physical_export: the memory was created without POOL_PHYSICAL_EXPORTABLE");
    if (!status)
        status = device_enter(physical->memory->device, &scope);
    if (status)
        return status;
    status = memory_check_physical_renewals(physical);
    if (!status)
        status = export_inside(&scope, physical, &made);
    status = device_leave(&scope, status);
    if (status && made >= 0)
        close(made);
    if (!status)
        *descriptor = made;
    return status;
}

/* ---- properties -------------------------------------------------------------------------------
 */

uint64_t pool_physical_bytes(const pool_physical *physical)
{
    return physical && !memory_check_physical(__func__, physical) ? physical->bytes : 0;
}

pool_device *pool_physical_device(const pool_physical *physical)
{
    return physical && !memory_check_physical(__func__, physical) ? physical->memory->device : NULL;
}

pool_status pool_physical_handle(
    const pool_physical *physical, CUmemGenericAllocationHandle *handle)
{
    pool_status status = memory_check_physical(__func__, physical);

    if (!status && !handle)
        status = base_fail_null(__func__, "handle");
    if (!status)
        status = memory_check_physical_renewals(physical);
    if (!status)
        status = device_check_raw(pool_physical_device(physical), __func__);
    if (!status)
        *handle = physical->allocation;
    return status;
}
