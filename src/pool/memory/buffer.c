/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers: handles of ranges of device memory, with reference-counted blocks.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "pool/device/release.h"
#include "pool/memory/durable.h"
#include "pool/memory/virtual.h"

/* Drivers place smaller allocations in blocks of this size, which are shared as a whole. */
#define SHAREABLE_GRANULARITY (UINT64_C(2) << 20)

static const struct base_struct buffer_params_type = BASE_STRUCT(pool_buffer_params);

void pool_buffer_params_init(pool_buffer_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static pool_status check_live(const char *call, const pool_buffer *buffer, const char *name)
{
    if (!buffer)
        return base_fail_null(call, name);
    if (atomic_load_explicit(&buffer->magic, memory_order_relaxed) != MEMORY_BUFFER_MAGIC)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `%s` has been freed, or never was a buffer", call, name);
    return POOL_OK;
}

pool_status memory_check_renewals(const pool_buffer *buffer)
{
    return device_check_object(buffer->device, atomic_load(&buffer->block->renewals), "the buffer");
}

pool_status memory_enter(const pool_buffer *buffer, pool_device *device, struct device_scope *scope)
{
    pool_status status = device_enter(device, scope);

    if (status)
        return status;
    status = memory_check_renewals(buffer);
    return status ? device_leave(scope, status) : POOL_OK;
}

pool_status memory_check_range(
    const char *call, const pool_buffer *buffer, uint64_t offset, uint64_t bytes, const char *name)
{
    pool_status status = check_live(call, buffer, name);

    if (!status)
        status = memory_check_renewals(buffer);
    if (status)
        return status;
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %s from offset %llu extend beyond `%s`, which has %s", call,
            base_size_text(bytes).text, (unsigned long long)offset, name,
            base_size_text(buffer->bytes).text);
    return POOL_OK;
}

/* ---- blocks of devices that can be lost --------------------------------------------------------
 */

static void list_block(struct memory_block *block)
{
    memory_list_charged(block->memory, &block->memory->blocks, &block->charged);
}

static bool unlist_block(struct memory_block *block)
{
    return memory_unlist_charged(block->memory, &block->charged);
}

void memory_lose_blocks(struct device_memory *memory)
{
    struct memory_charged *next;

    pthread_mutex_lock(&memory->charged_lock);
    for (struct memory_charged *item = memory->blocks; item; item = next) {
        struct memory_block *at = MEMORY_CHARGED_OF(item, struct memory_block);
        struct memory_request request = {.bytes = at->bytes,
            .budget = at->budget,
            .durable = at->durable,
            .is_shareable = (at->flags & POOL_BUFFER_SHAREABLE) != 0,
            .is_opened = at->is_opened};

        next = item->next;
        if (memory_durable_is(at->durable) && at->durable->is_sealed)
            continue;
        memory_unlink_charged(item);
        memory_release_none(memory, &request);
        at->budget = NULL;
    }
    pthread_mutex_unlock(&memory->charged_lock);
}

/* ---- handles -----------------------------------------------------------------------------------
 */

static void free_block_struct(struct memory_block *block)
{
    memory_durable_free(block->memory, block->durable);
    if (block->range)
        memory_range_forget(block->range, block);
    base_free(block);
}

/* A handle of a part of a block; takes over the caller's reference. */
static pool_buffer *create_handle(
    pool_device *device, struct memory_block *block, CUdeviceptr address, uint64_t bytes)
{
    pool_buffer *created = base_calloc(1, sizeof(*created));

    if (!created)
        return NULL;
    created->device = device;
    created->block = block;
    created->address = address;
    created->bytes = bytes;
    atomic_init(&created->magic, MEMORY_BUFFER_MAGIC);
    memory_gauge_add(&block->memory->buffers, 1);
    device_dependent_added(device, DEVICE_DEPENDENT_BUFFER);
    return created;
}

/* Creates a block and its first handle, without device memory. The handle is of the part of the GPU
 * that it is created on, whose default stream its copies without a stream are on. */
static pool_status create_unallocated(pool_device *device, struct device_memory *memory,
    uint64_t bytes, uint32_t flags, struct memory_block **block, pool_buffer **buffer)
{
    *block = base_calloc(1, sizeof(**block));
    if (!*block)
        return base_fail_memory("a buffer");
    atomic_init(&(*block)->references, 1);
    atomic_init(&(*block)->renewals, device_renewals(device));
    (*block)->memory = memory;
    (*block)->bytes = bytes;
    (*block)->flags = flags;
    *buffer = create_handle(device, *block, 0, bytes);
    if (!*buffer) {
        base_free(*block);
        return base_fail_memory("a buffer");
    }
    return POOL_OK;
}

static void remove_dependent(pool_buffer *buffer)
{
    if (buffer->owner.kind == DEVICE_DEPENDENT_BUFFER)
        device_dependent_removed(buffer->device, DEVICE_DEPENDENT_BUFFER);
    else
        device_dependent_named_removed(buffer->device, &buffer->owner);
}

void memory_buffer_set_owner(pool_buffer *buffer, enum device_dependent kind, const char *name)
{
    remove_dependent(buffer);
    device_dependent_named_added(buffer->device, kind, name, &buffer->owner);
}

static void free_handle(pool_buffer *buffer)
{
    memory_gauge_sub(&buffer->block->memory->buffers, 1);
    remove_dependent(buffer);
    atomic_store_explicit(&buffer->magic, MEMORY_DEAD, memory_order_relaxed);
    base_free(buffer);
}

static pool_status create_allocated(struct device_scope *scope, struct memory_request *request,
    uint32_t flags, pool_buffer **buffer)
{
    struct device_memory *memory;
    struct memory_block *block;
    pool_buffer *created;
    pool_status status = memory_of(scope, &memory);

    if (!status)
        status = create_unallocated(scope->device, memory, request->bytes, flags, &block, &created);
    if (status)
        return status;
    if (request->bytes) {
        if (flags & POOL_BUFFER_DURABLE && !request->secret && !request->is_shareable)
            request->durable = memory_durable_new(memory);
        status = memory_allocate(memory, request, &block->address);
        if (status) {
            free_handle(created);
            memory_durable_free(memory, request->durable);
            base_free(block);
            return status;
        }
        block->budget = request->budget;
        block->durable = request->durable;
        list_block(block);
    }
    created->address = block->address;
    *buffer = created;
    return POOL_OK;
}

static pool_status create_buffer(
    pool_device *device, const pool_buffer_params *params, bool is_spare, pool_buffer **buffer)
{
    pool_buffer_params wanted;
    struct memory_request request = {0};
    struct device_scope scope;
    pool_buffer *created = NULL;
    pool_status status;

    status = base_check_pointers("pool_buffer_create", {"device", device}, {"buffer", buffer});
    if (!status)
        status =
            base_struct_read(&buffer_params_type, "pool_buffer_create", "params", params, &wanted);
    if (status)
        return status;
    BASE_LOG_LABEL(lease_label(wanted.lease));
    status = base_flags_check("pool_buffer_create", "flags", wanted.flags,
        POOL_BUFFER_ZEROED | POOL_BUFFER_SECRET | POOL_BUFFER_DURABLE | POOL_BUFFER_SHAREABLE);
    if (!status)
        status = stream_handle_on(wanted.stream, device, &request.stream);
    if (!status && wanted.lease)
        status = lease_budget_of("pool_buffer_create", wanted.lease, device, &request.budget);
    if (status)
        return status;
    if (request.budget && request.budget->is_secret)
        wanted.flags |= POOL_BUFFER_SECRET;
    request.bytes = wanted.bytes;
    request.is_shareable = (wanted.flags & POOL_BUFFER_SHAREABLE) != 0;
    if (request.is_shareable && wanted.bytes > SIZE_MAX / 2)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the size does not fit this host");
    if (request.is_shareable)
        request.bytes = base_round_up(wanted.bytes, SHAREABLE_GRANULARITY);
    request.zeroed = (wanted.flags & POOL_BUFFER_ZEROED) != 0;
    request.secret = (wanted.flags & POOL_BUFFER_SECRET) != 0;
    request.ordered = wanted.stream != NULL;
    request.is_spare = is_spare;
    status = device_enter(device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, create_allocated(&scope, &request, wanted.flags, &created));
    if (status && created)
        memory_discard(created);
    if (!status) {
        created->bytes = wanted.bytes; /* of a whole allocation, if it is shareable */
        *buffer = created;
    }
    return status;
}

pool_status pool_buffer_create(
    pool_device *device, const pool_buffer_params *params, pool_buffer **buffer)
{
    return create_buffer(device, params, false, buffer);
}

pool_status memory_buffer_create_spare(
    pool_device *device, const pool_buffer_params *params, pool_buffer **buffer)
{
    return create_buffer(device, params, true, buffer);
}

pool_status pool_buffer_alloc(pool_device *device, uint64_t bytes, pool_buffer **buffer)
{
    pool_buffer_params params = {.struct_size = sizeof(params), .bytes = bytes};

    return pool_buffer_create(device, &params, buffer);
}

pool_status pool_buffer_zeroed(pool_device *device, uint64_t bytes, pool_buffer **buffer)
{
    pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = bytes, .flags = POOL_BUFFER_ZEROED};

    return pool_buffer_create(device, &params, buffer);
}

pool_status pool_buffer_from_host(
    pool_device *device, const void *data, uint64_t bytes, pool_buffer **buffer)
{
    pool_buffer *created = NULL;
    pool_status status;

    if (!buffer)
        return base_fail_null("pool_buffer_from_host", "buffer");
    if (!data && bytes)
        return base_fail_null("pool_buffer_from_host", "data");
    status = pool_buffer_alloc(device, bytes, &created);
    if (status)
        return status;
    status = pool_copy_to_device(created, 0, data, bytes, NULL);
    if (status) {
        memory_discard(created);
        return status;
    }
    *buffer = created;
    return POOL_OK;
}

/* Checks that the range is device memory of this device and within one allocation. */
static pool_status check_adopted(struct device_scope *scope, CUdeviceptr address, uint64_t bytes)
{
    const pool_cuda_api *api = &scope->driver->api;
    pool_cu_enum questions[] = {
        DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE, DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    unsigned type = 0;
    int ordinal = -1;
    void *answers[] = {&type, &ordinal};
    CUdeviceptr base = 0;
    size_t size = 0;
    pool_cu_result code = api->PointerGetAttributes(2, questions, answers, address);

    if (code)
        return DRIVER_CHECK_FOR(scope->driver, code, "cuPointerGetAttributes", "0x%llx", address);
    if (type != DRIVER_MEMORYTYPE_DEVICE)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "0x%llx is not device memory", address);
    if (ordinal != pool_device_ordinal(scope->device))
        return base_fail(POOL_ERR_WRONG_DEVICE, "0x%llx is memory of device %d, not of %d", address,
            ordinal, pool_device_ordinal(scope->device));
    code = api->MemGetAddressRange(&base, &size, address);
    if (code)
        return DRIVER_CHECK_FOR(scope->driver, code, "cuMemGetAddressRange", "0x%llx", address);
    if (address < base || address - base > size || bytes > size - (address - base))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_buffer_adopt: %s at 0x%llx extend beyond the allocation of %s at 0x%llx",
            base_size_text(bytes).text, address, base_size_text(size).text, base);
    return POOL_OK;
}

static pool_status adopt_inside(
    struct device_scope *scope, CUdeviceptr address, uint64_t bytes, pool_buffer **buffer)
{
    struct device_memory *memory;
    struct memory_block *block;
    pool_status status = check_adopted(scope, address, bytes);

    if (!status)
        status = memory_of(scope, &memory);
    if (!status)
        status = create_unallocated(scope->device, memory, bytes, 0, &block, buffer);
    if (status)
        return status;
    block->adopted = 1;
    block->address = address;
    (*buffer)->address = address;
    return POOL_OK;
}

pool_status pool_buffer_adopt(
    pool_device *device, CUdeviceptr address, uint64_t bytes, pool_buffer **buffer)
{
    struct device_scope scope;
    pool_buffer *created = NULL;
    pool_status status;

    if (!buffer)
        return base_fail_null("pool_buffer_adopt", "buffer");
    if (!address || !bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_buffer_adopt: `%s` must not be 0",
            address ? "bytes" : "address");
    status = device_enter(device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, adopt_inside(&scope, address, bytes, &created));
    if (status && created)
        memory_discard(created);
    if (!status)
        *buffer = created;
    return status;
}

pool_status memory_buffer_in_range(pool_device *device, struct device_memory *memory,
    pool_range *range, CUdeviceptr address, uint64_t bytes, pool_buffer **buffer)
{
    struct memory_block *block;
    pool_status status = create_unallocated(device, memory, bytes, 0, &block, buffer);

    if (status)
        return status;
    block->adopted = 1;
    block->address = address;
    block->range = range;
    (*buffer)->address = address;
    return POOL_OK;
}

pool_status memory_buffer_opened(pool_device *device, struct device_memory *memory,
    CUdeviceptr opened, uint64_t offset, uint64_t bytes, pool_buffer **buffer)
{
    pool_status status =
        memory_buffer_in_range(device, memory, NULL, opened + offset, bytes, buffer);

    if (status)
        return status;
    (*buffer)->block->is_opened = true;
    (*buffer)->block->opened = opened;
    list_block((*buffer)->block);
    return POOL_OK;
}

pool_status memory_buffer_part(
    pool_buffer *parent, uint64_t offset, uint64_t bytes, pool_buffer **part)
{
    pool_buffer *created;

    atomic_fetch_add(&parent->block->references, 1);
    created = create_handle(
        parent->device, parent->block, parent->address ? parent->address + offset : 0, bytes);
    if (!created) {
        atomic_fetch_sub(&parent->block->references, 1);
        return base_fail_memory("a slice");
    }
    *part = created;
    return POOL_OK;
}

pool_status pool_buffer_slice(
    pool_buffer *parent, uint64_t offset, uint64_t bytes, pool_buffer **slice)
{
    pool_status status;

    if (!slice)
        return base_fail_null("pool_buffer_slice", "slice");
    status = memory_check_range("pool_buffer_slice", parent, offset, bytes, "parent");
    if (status)
        return status;
    atomic_store(&parent->block->shared, 1);
    return memory_buffer_part(parent, offset, bytes, slice);
}

void memory_detach_budget(pool_buffer *buffer)
{
    struct memory_block *block = buffer->block;
    struct lease_budget *budget = block->budget;
    pool_device *device = buffer->device;

    if (!budget)
        return;
    block->budget = NULL;
    device_account_outlive(device, block->bytes); /* first, so that it never counts as free */
    if (!lease_budget_uncharge(budget, block->bytes))
        device_account_evictable(device, (int64_t)block->bytes); /* the release has counted it */
    lease_budget_release(budget);
}

/* Frees the memory of the last handle, in the order of `stream` (NULL: the default stream of
 * `device`) alone if it was never sliced. */
static pool_status free_block(struct memory_block *block, pool_device *device,
    const pool_stream *stream, int ordered, int *stays)
{
    struct memory_request request = {.bytes = block->bytes,
        .secret = (block->flags & POOL_BUFFER_SECRET) != 0,
        .ordered = ordered && !atomic_load(&block->shared),
        .is_shareable = (block->flags & POOL_BUFFER_SHAREABLE) != 0,
        .is_opened = block->is_opened,
        .stream = stream_handle_or_default(stream, device)};
    struct device_scope scope;
    pool_status status = POOL_OK;

    if ((block->adopted && !block->is_opened) || !block->bytes || !unlist_block(block))
        return POOL_OK;
    request.budget = block->budget;
    request.durable = block->durable;
    switch (
        device_enter_to_destroy_object(device, atomic_load(&block->renewals), &scope, &status)) {
    case DEVICE_RELEASE_ENTERED:
        status = device_leave(&scope, memory_release(block->memory, &request,
                                          block->is_opened ? block->opened : block->address));
        break;
    case DEVICE_RELEASE_HOST_ONLY:
        memory_release_none(block->memory, &request);
        break;
    case DEVICE_RELEASE_RETAIN:
        list_block(block);
        *stays = 1;
        break;
    }
    return status;
}

static pool_status free_buffer(pool_buffer **buffer, const pool_stream *stream, int ordered)
{
    struct memory_block *block = (*buffer)->block;
    pool_device *device = stream ? stream->device : (*buffer)->device;
    pool_status status = POOL_OK;
    int stays = 0;

    if (atomic_fetch_sub(&block->references, 1) == 1) {
        status = free_block(block, device, stream, ordered, &stays);
        if (stays) {
            atomic_fetch_add(&block->references, 1);
            return status;
        }
        free_handle(*buffer);
        free_block_struct(block);
    } else {
        free_handle(*buffer);
    }
    *buffer = NULL;
    return status;
}

pool_status pool_buffer_destroy(pool_buffer **buffer)
{
    pool_status status;

    if (!buffer || !*buffer)
        return POOL_OK;
    status = check_live(__func__, *buffer, "buffer");
    return status ? status : free_buffer(buffer, NULL, 0);
}

void memory_discard(pool_buffer *created)
{
    struct base_error_copy first;
    struct memory_block *block = created->block;
    pool_buffer *left = created;

    base_error_save(&first);
    (void)pool_buffer_destroy(&left);
    base_error_restore(&first);
    if (left) {
        if (unlist_block(block))
            memory_quarantine(block);
        free_handle(left);
        free_block_struct(block);
    }
}

pool_status pool_buffer_destroy_on(pool_buffer **buffer, pool_stream *stream)
{
    pool_device *device;
    CUstream handle;
    pool_status status;

    if (!buffer || !*buffer)
        return POOL_OK;
    status = check_live(__func__, *buffer, "buffer");
    device = status ? NULL : (*buffer)->device;
    if (!status)
        status = stream_handle_on_gpu(stream, &device, &handle);
    return status ? status : free_buffer(buffer, stream, 1);
}

pool_status pool_buffer_address(const pool_buffer *buffer, CUdeviceptr *address)
{
    pool_status status = check_live(__func__, buffer, "buffer");

    if (!status && !address)
        status = base_fail_null("pool_buffer_address", "address");
    if (!status)
        status = memory_check_renewals(buffer);
    if (!status)
        *address = buffer->address;
    return status;
}

uint64_t pool_buffer_bytes(const pool_buffer *buffer)
{
    return buffer && !check_live(__func__, buffer, "buffer") ? buffer->bytes : 0;
}

uint32_t pool_buffer_flags(const pool_buffer *buffer)
{
    return buffer && !check_live(__func__, buffer, "buffer") ? buffer->block->flags : 0;
}

pool_device *pool_buffer_device(const pool_buffer *buffer)
{
    return buffer && !check_live(__func__, buffer, "buffer") ? buffer->device : NULL;
}
