/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durable memory: see durable.h.
 */
#include "pool/memory/durable.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/math.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/memory/virtual.h"

static bool is_supported(const struct driver *driver)
{
    /* Where devices are not isolated, their memory ends with the process that would restore it. */
    return driver->api.flags & POOL_CUDA_ISOLATED_DEVICES && memory_has_virtual(driver);
}

struct memory_durable *memory_durable_new(const struct device_memory *memory)
{
    struct memory_durable *durable =
        is_supported(memory->driver) ? base_calloc(1, sizeof(*durable)) : NULL;

    if (durable)
        durable->descriptor = -1;
    return durable;
}

/* A forked child takes no lock; it has the descriptors, but nothing to unlink for. */
static void unlink_durable(struct device_memory *memory, const struct memory_durable *durable)
{
    struct memory_durable **link = &memory->durables;

    if (!device_usable(memory->device, DEVICE_USE_HOST))
        return;
    pthread_mutex_lock(&memory->durable_lock);
    while (*link && *link != durable)
        link = &(*link)->next;
    if (*link)
        *link = durable->next;
    pthread_mutex_unlock(&memory->durable_lock);
}

void memory_durable_close(struct device_memory *memory, struct memory_durable *durable)
{
    if (!memory_durable_is(durable))
        return;
    unlink_durable(memory, durable);
    close(durable->descriptor);
    durable->descriptor = -1;
}

void memory_durable_abandon(struct device_memory *memory, struct memory_durable *durable)
{
    memory_durable_close(memory, durable);
    if (durable)
        durable->is_mapped = false;
}

void memory_durable_free(struct device_memory *memory, struct memory_durable *durable)
{
    if (durable && durable->is_mapped && device_usable(memory->device, DEVICE_USE_HOST)) {
        pthread_mutex_lock(&memory->durable_lock);
        if (durable->renewals == device_renewals(memory->device)) {
            durable->next = memory->closed;
            memory->closed = durable;
            atomic_store(&memory->has_closed, true);
            durable = NULL;
        }
        pthread_mutex_unlock(&memory->durable_lock);
    }
    base_free(durable);
}

static struct memory_durable *take_closed(struct device_memory *memory)
{
    struct memory_durable *closed;

    pthread_mutex_lock(&memory->durable_lock);
    closed = memory->closed;
    memory->closed = NULL;
    atomic_store(&memory->has_closed, false);
    pthread_mutex_unlock(&memory->durable_lock);
    return closed;
}

static void free_list(struct memory_durable *closed)
{
    while (closed) {
        struct memory_durable *next = closed->next;

        base_free(closed);
        closed = next;
    }
}

void memory_durable_forget_closed(struct device_memory *memory)
{
    free_list(
        device_usable(memory->device, DEVICE_USE_HOST) ? take_closed(memory) : memory->closed);
}

uint64_t memory_durable_bytes(struct device_memory *memory)
{
    uint64_t bytes = 0;

    pthread_mutex_lock(&memory->durable_lock);
    for (const struct memory_durable *at = memory->durables; at; at = at->next)
        bytes += at->bytes;
    for (const struct memory_durable *at = memory->closed; at; at = at->next)
        bytes += at->bytes;
    pthread_mutex_unlock(&memory->durable_lock);
    return bytes;
}

/* ---- mapping ----------------------------------------------------------------------------------
 */

/* At the address that it had before, if any. */
static pool_cu_result map_durable(struct device_memory *memory, struct memory_durable *durable)
{
    const pool_cuda_api *api = &memory->driver->api;
    const pool_cu_mem_access access = {
        .location = {.type = DRIVER_MEM_LOCATION_TYPE_DEVICE, .id = memory->handle},
        .flags = DRIVER_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t bytes = (size_t)durable->bytes;
    CUdeviceptr address = 0;
    pool_cu_result code =
        api->MemAddressReserve(&address, (size_t)durable->bytes, 0, durable->address, 0);

    if (code)
        return code;
    if (durable->address && address != durable->address) {
        code = POOL_CU_MAP_FAILED; /* other memory is there */
        goto free_address;
    }
    code = api->MemMap(address, bytes, 0, durable->allocation, 0);
    if (code)
        goto free_address;
    code = api->MemSetAccess(address, bytes, &access, 1);
    if (code)
        goto unmap;
    durable->address = address;
    durable->is_mapped = true;
    durable->renewals = device_renewals(memory->device);
    return POOL_CU_SUCCESS;
unmap:
    (void)api->MemUnmap(address, bytes);
free_address:
    (void)api->MemAddressFree(address, (size_t)durable->bytes);
    return code;
}

static pool_status unmap_durable(struct device_memory *memory, struct memory_durable *durable)
{
    size_t bytes = (size_t)durable->bytes;
    pool_status first, status;

    if (!durable->is_mapped)
        return POOL_OK;
    durable->is_mapped = false;
    first = DRIVER_CALL(memory->driver, MemUnmap(durable->address, bytes));
    status = first ? first
                   : DRIVER_CALL(
                         memory->driver, MemAddressFree(durable->address, (size_t)durable->bytes));
    first = first ? first : status;
    status = DRIVER_CALL(memory->driver, MemRelease(durable->allocation));
    return first ? first : status;
}

/* No thread unmaps during a renewal, but the one that renews: the others are not inside. */
void memory_durable_unmap_closed(struct device_memory *memory)
{
    struct memory_durable *closed;
    struct base_error_copy first;

    if (!atomic_load(&memory->has_closed))
        return;
    closed = take_closed(memory);
    base_error_save(&first);
    for (struct memory_durable *at = closed; at; at = at->next)
        (void)unmap_durable(memory, at);
    base_error_restore(&first);
    free_list(closed);
}

/* ---- allocation -------------------------------------------------------------------------------
 */

static pool_cu_result create_exported(
    struct device_memory *memory, struct memory_durable *durable, uint64_t bytes)
{
    const pool_cuda_api *api = &memory->driver->api;
    const pool_cu_mem_allocation_prop prop = memory_physical_prop(memory, true);
    size_t granularity = 0;
    pool_cu_result code =
        api->MemGetAllocationGranularity(&granularity, &prop, DRIVER_MEM_ALLOC_GRANULARITY_MINIMUM);

    if (code)
        return code;
    if (!granularity || bytes > SIZE_MAX - granularity)
        return POOL_CU_OUT_OF_MEMORY;
    durable->bytes = base_round_up(bytes, granularity);
    code = api->MemCreate(&durable->allocation, (size_t)durable->bytes, &prop, 0);
    if (code)
        return code;
    code = api->MemExportToShareableHandle(
        &durable->descriptor, durable->allocation, DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (code)
        (void)api->MemRelease(durable->allocation);
    return code;
}

pool_cu_result memory_durable_allocate(
    struct device_memory *memory, struct memory_durable *durable, uint64_t bytes)
{
    pool_cu_result code = create_exported(memory, durable, bytes);

    durable->address = 0; /* of an attempt before */
    if (code)
        return code;
    code = map_durable(memory, durable);
    if (code) {
        (void)memory->driver->api.MemRelease(durable->allocation);
        close(durable->descriptor);
        durable->descriptor = -1;
        base_log(POOL_LOG_WARN,
            "device %d: %s of durable memory could not be mapped (%s); they are ordinary memory "
            "now, which does not survive a loss of the device",
            pool_device_ordinal(memory->device), base_size_text(bytes).text,
            driver_code_name(code));
        /* Addresses have run out, not memory: ordinary memory has others. */
        return code == POOL_CU_OUT_OF_MEMORY ? POOL_CU_MAP_FAILED : code;
    }
    pthread_mutex_lock(&memory->durable_lock);
    durable->next = memory->durables;
    memory->durables = durable;
    pthread_mutex_unlock(&memory->durable_lock);
    return POOL_CU_SUCCESS;
}

pool_status memory_durable_release(struct device_memory *memory, struct memory_durable *durable)
{
    pool_status status = unmap_durable(memory, durable);

    memory_durable_close(memory, durable);
    return status;
}

/* ---- another process ---------------------------------------------------------------------------
 */

static pool_cu_result import_durable(struct device_memory *memory, struct memory_durable *durable)
{
    const pool_cuda_api *api = &memory->driver->api;
    pool_cu_result code = api->MemImportFromShareableHandle(&durable->allocation,
        (void *)(intptr_t)durable->descriptor, DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);

    if (code)
        return code;
    code = map_durable(memory, durable);
    if (code)
        (void)api->MemRelease(durable->allocation);
    return code;
}

pool_status memory_durable_renew(struct device_memory *memory)
{
    pool_status status = POOL_OK;
    pool_cu_result first = POOL_CU_SUCCESS;
    unsigned lost = 0;

    memory_durable_forget_closed(memory); /* they have ended with their process */
    pthread_mutex_lock(&memory->durable_lock);
    for (struct memory_durable *at = memory->durables; at; at = at->next)
        at->is_mapped = false; /* by the process that has ended */
    for (struct memory_durable *at = memory->durables; at && !status; at = at->next) {
        pool_cu_result code = at->is_sealed ? import_durable(memory, at) : POOL_CU_SUCCESS;

        status = driver_check(memory->driver, code, "cuMemImportFromShareableHandle");
        if (status != POOL_ERR_DEVICE_LOST)
            status = POOL_OK;
        first = first ? first : code;
        lost += code != POOL_CU_SUCCESS;
    }
    pthread_mutex_unlock(&memory->durable_lock);
    if (lost && !status)
        base_log(POOL_LOG_WARN,
            "device %d: %u blocks of durable memory could not be taken over from the process that "
            "has ended (%s)",
            pool_device_ordinal(memory->device), lost, driver_code_name(first));
    return status;
}

/* ---- contents ----------------------------------------------------------------------------------
 */

void memory_seal(pool_buffer *buffer)
{
    struct memory_durable *durable = buffer->block->durable;
    struct base_error_copy first;

    if (!memory_durable_is(durable))
        return;
    durable->digested_bytes = buffer->block->bytes;
    base_error_save(&first);
    durable->is_sealed = !memory_digest(
        buffer->block->memory, durable->address, durable->digested_bytes, &durable->digest);
    base_error_restore(&first);
}

bool memory_is_sealed(const pool_buffer *buffer)
{
    const struct memory_durable *durable = buffer->block->durable;

    return memory_durable_is(durable) && durable->is_sealed;
}

pool_status memory_verify(pool_buffer *buffer, bool *is_same)
{
    struct device_memory *memory = buffer->block->memory;
    struct memory_durable *durable = buffer->block->durable;
    uint64_t digest = ~durable->digest;
    pool_status status = POOL_OK;

    if (durable->is_mapped)
        status = memory_digest(memory, durable->address, durable->digested_bytes, &digest);
    *is_same = !status && digest == durable->digest;
    if (*is_same)
        atomic_store(&buffer->block->renewals, device_renewals(memory->device));
    if (!*is_same && status != POOL_ERR_DEVICE_LOST)
        status = unmap_durable(memory, durable);
    return status == POOL_ERR_DEVICE_LOST ? status : POOL_OK;
}
