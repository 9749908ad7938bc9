/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies. Pinned memory is copied by the worker's device directly. Pageable memory passes through
 * the stage of the ring, from or to which the driver copies as from or to any pageable memory;
 * large copies are staged in pinned memory by the layers above. exchange.c copies between devices
 * of different workers.
 */
#include <string.h>

#include "base/math.h"
#include "driver/attributes.h"
#include "driver/worker/client/client_calls.h"

/* --- host and device -------------------------------------------------------------------------- */

/* One copy between the host and a device. */
struct host_copy {
    enum worker_function function;
    enum client_mode mode;
    CUdeviceptr device;
    unsigned char *host;
    size_t bytes;
    bool is_async;
    CUstream stream;
};

static pool_cu_result copy_once(
    const struct host_copy *copy, uint64_t offset, size_t bytes, const struct call_stage *stage)
{
    struct client_call call;

    call_begin(&call, copy->function, copy->mode);
    call_word(&call, copy->device);
    call_word(&call, offset);
    call_word(&call, bytes);
    if (copy->is_async)
        call_handle(&call, WORKER_STREAM, copy->stream);
    return call_run_staged(&call, stage);
}

static pool_cu_result copy_pageable(struct host_copy copy, bool is_upload)
{
    pool_cu_result code;

    do {
        size_t bytes = (size_t)base_min(copy.bytes, WORKER_STAGE_BYTES);
        struct call_stage stage = {.bytes = bytes};

        if (is_upload)
            stage.from = copy.host;
        else
            stage.to = copy.host;
        code = copy_once(&copy, WORKER_STAGE, bytes, &stage);
        if (code || bytes == copy.bytes)
            return code; /* also for no bytes, whose address may be NULL */
        copy.host += bytes;
        copy.device += bytes;
        copy.bytes -= bytes;
    } while (true);
}

static pool_cu_result copy_host(struct host_copy *copy, bool is_upload)
{
    struct client_worker *worker;
    uint64_t offset;
    pool_cu_result code = client_current_worker(&worker);

    if (code)
        return code;
    if (!copy->host && copy->bytes)
        return POOL_CU_INVALID_VALUE;
    if (!client_find_pinned(copy->host, copy->bytes, &offset))
        return copy_pageable(*copy, is_upload);
    code = client_register_block(worker, offset);
    return code ? code : copy_once(copy, offset, copy->bytes, NULL);
}

pool_cu_result client_cu_MemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    struct host_copy copy = {
        WORKER_MemcpyHtoD, CLIENT_SYNC, to, (unsigned char *)(uintptr_t)from, bytes, false, NULL};

    return copy_host(&copy, true);
}

pool_cu_result client_cu_MemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    struct host_copy copy = {WORKER_MemcpyDtoH, CLIENT_SYNC, from, to, bytes, false, NULL};

    return copy_host(&copy, false);
}

pool_cu_result client_cu_MemcpyHtoDAsync(
    CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    struct host_copy copy = {WORKER_MemcpyHtoDAsync, CLIENT_POST, to,
        (unsigned char *)(uintptr_t)from, bytes, true, stream};

    return copy_host(&copy, true);
}

pool_cu_result client_cu_MemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    struct host_copy copy = {WORKER_MemcpyDtoHAsync, CLIENT_POST, from, to, bytes, true, stream};

    return copy_host(&copy, false);
}

/* --- devices ---------------------------------------------------------------------------------- */

/* A context of the worker: the current one, if it is, or any. */
static CUcontext context_of(const struct client_worker *worker)
{
    CUcontext current = client_current();

    if (current && (int)client_handle_read(current).worker == worker->ordinal)
        return current;
    for (unsigned i = 0; i < WORKER_CONTEXTS; i++)
        if (atomic_load(&worker->contexts[i].serial) % 2)
            return client_context_handle(worker, i);
    return NULL;
}

static pool_cu_result exchange_if_apart(
    CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream, bool *is_apart)
{
    struct client_side to_side = {.worker = client_address_worker(to), .address = to};
    struct client_side from_side = {.worker = client_address_worker(from), .address = from};
    pool_cu_result code;

    *is_apart = to_side.worker && from_side.worker && to_side.worker != from_side.worker && bytes;
    if (!*is_apart)
        return POOL_CU_SUCCESS;
    to_side.context = context_of(to_side.worker);
    from_side.context = context_of(from_side.worker);
    if (!to_side.context || !from_side.context)
        return POOL_CU_INVALID_CONTEXT;
    code = client_cu_StreamSynchronize(stream);
    return code ? code : client_exchange(&to_side, &from_side, bytes);
}

pool_cu_result client_cu_MemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    bool is_apart;
    pool_cu_result code = call_check();

    if (!code)
        code = exchange_if_apart(to, from, bytes, NULL, &is_apart);
    return code || is_apart ? code : remote_MemcpyDtoD(to, from, bytes);
}

pool_cu_result client_cu_MemcpyDtoDAsync(
    CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    bool is_apart;
    pool_cu_result code = call_check();

    if (!code)
        code = exchange_if_apart(to, from, bytes, stream, &is_apart);
    return code || is_apart ? code : remote_MemcpyDtoDAsync(to, from, bytes, stream);
}

static pool_cu_result copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
    CUcontext from_context, size_t bytes, bool is_async, CUstream stream)
{
    struct client_side to_side = {.context = to_context, .address = to};
    struct client_side from_side = {.context = from_context, .address = from};
    unsigned number;
    pool_cu_result code = call_check();

    if (!code)
        code = client_context_find(to_context, &to_side.worker, &number);
    if (!code)
        code = client_context_find(from_context, &from_side.worker, &number);
    if (code)
        return code;
    if (to_side.worker != from_side.worker) {
        code = client_current() ? client_cu_StreamSynchronize(stream) : POOL_CU_INVALID_CONTEXT;
        return code ? code : client_exchange(&to_side, &from_side, bytes);
    }
    return is_async ? remote_MemcpyPeerAsync(to, to_context, from, from_context, bytes, stream)
                    : remote_MemcpyPeer(to, to_context, from, from_context, bytes);
}

pool_cu_result client_cu_MemcpyPeer(
    CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes)
{
    return copy_peer(to, to_context, from, from_context, bytes, false, NULL);
}

pool_cu_result client_cu_MemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
    CUcontext from_context, size_t bytes, CUstream stream)
{
    return copy_peer(to, to_context, from, from_context, bytes, true, stream);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* One side of a copy of rows, for the worker of the current context. */
static pool_cu_result write_side(
    struct client_call *call, const pool_cu_copy_side *side, bool *is_pageable)
{
    struct client_worker *worker;
    unsigned number;
    uint64_t offset = 0;
    pool_cu_result code = POOL_CU_SUCCESS;

    if (side->memory_type == DRIVER_MEMORYTYPE_HOST) {
        if (!client_find_pinned(side->host, 1, &offset)) {
            *is_pageable = true;
            return code;
        }
        code = client_context_find(client_current(), &worker, &number);
        if (!code)
            code = client_register_block(worker, offset);
    }
    call_word(call, side->x_bytes);
    call_word(call, side->y);
    call_word(call, side->memory_type);
    call_word(call, side->memory_type == DRIVER_MEMORYTYPE_HOST ? offset : side->device);
    call_word(call, side->pitch);
    return code;
}

/* Rows of pageable memory one by one. */
static pool_cu_result copy_rows(const pool_cu_copy_2d *copy, CUstream stream)
{
    const pool_cu_copy_side *from = &copy->from, *to = &copy->to;
    pool_cu_result code = POOL_CU_SUCCESS;

    if (!copy->width_bytes)
        return POOL_CU_SUCCESS;
    for (size_t row = 0; row < copy->height && !code; row++) {
        size_t read = (from->y + row) * from->pitch + from->x_bytes;
        size_t written = (to->y + row) * to->pitch + to->x_bytes;

        if (from->memory_type == DRIVER_MEMORYTYPE_HOST)
            code = client_cu_MemcpyHtoDAsync(to->device + written,
                (const unsigned char *)from->host + read, copy->width_bytes, stream);
        else
            code = client_cu_MemcpyDtoHAsync((unsigned char *)to->host + written,
                from->device + read, copy->width_bytes, stream);
    }
    return code;
}

pool_cu_result client_cu_Memcpy2DAsync(const pool_cu_copy_2d *copy, CUstream stream)
{
    bool is_pageable = false;
    struct client_call call;
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!client_current())
        return POOL_CU_INVALID_CONTEXT;
    if (!copy || copy->from.memory_type < DRIVER_MEMORYTYPE_HOST ||
        copy->from.memory_type > DRIVER_MEMORYTYPE_DEVICE ||
        copy->to.memory_type < DRIVER_MEMORYTYPE_HOST ||
        copy->to.memory_type > DRIVER_MEMORYTYPE_DEVICE || copy->from.pitch < copy->width_bytes ||
        copy->to.pitch < copy->width_bytes)
        return POOL_CU_INVALID_VALUE;
    if (copy->from.memory_type == DRIVER_MEMORYTYPE_HOST &&
        copy->to.memory_type == DRIVER_MEMORYTYPE_HOST)
        return POOL_CU_NOT_SUPPORTED;
    call_begin(&call, WORKER_Memcpy2DAsync, CLIENT_POST);
    call_word(&call, copy->width_bytes);
    call_word(&call, copy->height);
    code = write_side(&call, &copy->from, &is_pageable);
    if (!code)
        code = write_side(&call, &copy->to, &is_pageable);
    if (code || is_pageable)
        return code ? code : copy_rows(copy, stream);
    call_handle(&call, WORKER_STREAM, stream);
    return call_run(&call);
}

/* An event of another worker cannot be waited for by this one's streams: the thread waits instead.
 * So it is for a green context. */
pool_cu_result client_cu_StreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    struct client_handle of_event = client_handle_read(event), of_stream;
    unsigned worker;
    pool_cu_result code = call_check();

    if (code)
        return code;
    of_stream = client_handle_read(stream);
    worker = of_stream.kind == WORKER_STREAM ? of_stream.worker
                                             : client_handle_read(client_current()).worker;
    if (of_event.kind == WORKER_EVENT && of_event.worker != worker)
        return client_cu_EventSynchronize(event);
    return remote_StreamWaitEvent(stream, event, flags);
}

pool_cu_result client_cu_GreenCtxWaitEvent(CUgreenCtx green, CUevent event)
{
    struct client_handle of_event = client_handle_read(event), of_green = client_handle_read(green);
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (of_event.kind == WORKER_EVENT && of_green.kind == WORKER_GREEN &&
        of_event.worker != of_green.worker)
        return client_cu_EventSynchronize(event);
    return remote_GreenCtxWaitEvent(green, event);
}

/* --- attributes of addresses ------------------------------------------------------------------ */

/* Memory of the arena, which is described without a worker. */
static pool_cu_result pinned_attribute(
    const struct client_block *block, pool_cu_enum attribute, uint64_t address, uint64_t *value)
{
    switch (attribute) {
    case DRIVER_POINTER_ATTRIBUTE_CONTEXT:
        *value = (uint64_t)(uintptr_t)block->context;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *value = DRIVER_MEMORYTYPE_HOST;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return client_cu_MemHostGetDevicePointer(
            (CUdeviceptr *)value, (void *)(uintptr_t)address, 0);
    case DRIVER_POINTER_ATTRIBUTE_HOST_POINTER:
        *value = address;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_BUFFER_ID:
        *value = block->id;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *value = client_handle_read(block->context).worker;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *value = (uint64_t)(uintptr_t)client->arena_base + block->offset;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_RANGE_SIZE:
        *value = block->bytes;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_IS_MANAGED:
    case DRIVER_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *value = 0;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_MAPPED:
        *value = 1;
        return POOL_CU_SUCCESS;
    default:
        return POOL_CU_NOT_SUPPORTED;
    }
}

/* Memory that no driver knows; cuPointerGetAttribute fails for it. */
static pool_cu_result unknown_attribute(pool_cu_enum attribute, uint64_t *value)
{
    *value = attribute == DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? (uint64_t)-2 : 0;
    switch (attribute) {
    case DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case DRIVER_POINTER_ATTRIBUTE_IS_MANAGED:
    case DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case DRIVER_POINTER_ATTRIBUTE_CONTEXT:
    case DRIVER_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case DRIVER_POINTER_ATTRIBUTE_HOST_POINTER:
    case DRIVER_POINTER_ATTRIBUTE_BUFFER_ID:
    case DRIVER_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case DRIVER_POINTER_ATTRIBUTE_RANGE_SIZE:
        return POOL_CU_SUCCESS;
    default:
        return POOL_CU_INVALID_VALUE;
    }
}

static size_t attribute_bytes(pool_cu_enum attribute)
{
    switch (attribute) {
    case DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case DRIVER_POINTER_ATTRIBUTE_IS_MANAGED:
    case DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case DRIVER_POINTER_ATTRIBUTE_MAPPED:
        return 4;
    default:
        return 8;
    }
}

/* What the worker has reported, in terms of the client. */
static void store_attribute(
    const struct client_call *call, pool_cu_enum attribute, uint64_t value, void *to)
{
    if (attribute == DRIVER_POINTER_ATTRIBUTE_CONTEXT)
        value = value && value <= WORKER_CONTEXTS
                    ? (uint64_t)(uintptr_t)client_context_handle(call->worker, (unsigned)value - 1)
                    : 0;
    else if (attribute == DRIVER_POINTER_ATTRIBUTE_MEMPOOL_HANDLE && value)
        value = (uint64_t)(uintptr_t)client_handle_make(
            WORKER_MEMORY_POOL, (unsigned)call->worker->ordinal, call->generation, (uint32_t)value);
    else if (attribute == DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        value = (uint64_t)call->worker->ordinal;
    memcpy(to, &value, attribute_bytes(attribute));
}

/* A copy of the block at the address; false: it is no pinned memory. */
static bool find_block(CUdeviceptr address, struct client_block *block)
{
    uint64_t offset;

    return client_find_pinned((const void *)(uintptr_t)address, 1, &offset) &&
           client_copy_block(offset, block);
}

static pool_cu_result check_healthy(void)
{
    struct client_worker *worker;
    unsigned number;
    CUcontext current;
    pool_cu_result code = call_check();

    if (code)
        return code;
    current = client_current();
    if (!current)
        return POOL_CU_SUCCESS;
    code = client_context_find(current, &worker, &number);
    return code == POOL_CU_CONTEXT_IS_DESTROYED ? POOL_CU_SUCCESS : code;
}

pool_cu_result client_cu_PointerGetAttribute(
    void *value, pool_cu_enum attribute, CUdeviceptr address)
{
    struct client_worker *worker;
    struct client_block block;
    struct client_call call;
    uint64_t word = 0;
    pool_cu_result code = check_healthy();

    if (code)
        return code;
    if (find_block(address, &block)) {
        if (!value || attribute == 0 || attribute > 21)
            return POOL_CU_INVALID_VALUE;
        code = pinned_attribute(&block, attribute, address, &word);
        if (!code)
            memcpy(value, &word, attribute_bytes(attribute));
        return code;
    }
    worker = client_address_worker(address);
    if (!worker)
        return POOL_CU_INVALID_VALUE;
    call_begin(&call, WORKER_PointerGetAttribute, CLIENT_WAIT);
    call_address(&call, worker, address);
    call_word(&call, value != NULL);
    call_word(&call, attribute);
    call_word(&call, address);
    code = call_run(&call);
    if (!code && value)
        store_attribute(&call, attribute, call_result(&call), value);
    return code;
}

/* Memory that only this process knows. */
static pool_cu_result host_attributes(const struct client_block *block, unsigned count,
    const pool_cu_enum *attributes, void **values, CUdeviceptr address)
{
    pool_cu_result code = POOL_CU_SUCCESS;

    for (unsigned i = 0; i < count && !code; i++) {
        uint64_t word = 0;

        if (!values[i])
            return POOL_CU_INVALID_VALUE;
        code = block ? pinned_attribute(block, attributes[i], address, &word)
                     : unknown_attribute(attributes[i], &word);
        if (!code)
            memcpy(values[i], &word, attribute_bytes(attributes[i]));
    }
    return code;
}

pool_cu_result client_cu_PointerGetAttributes(
    unsigned int count, pool_cu_enum *attributes, void **values, CUdeviceptr address)
{
    struct client_worker *worker;
    struct client_block block;
    struct client_call call;
    pool_cu_result code = check_healthy();

    if (code)
        return code;
    if (!count || !attributes || !values)
        return POOL_CU_INVALID_VALUE;
    if (find_block(address, &block))
        return host_attributes(&block, count, attributes, values, address);
    worker = client_address_worker(address);
    if (!worker)
        return host_attributes(NULL, count, attributes, values, address);
    if (count > 64)
        return POOL_CU_NOT_SUPPORTED;
    call_begin(&call, WORKER_PointerGetAttributes, CLIENT_WAIT);
    call_address(&call, worker, address);
    call_word(&call, address);
    call_word(&call, count);
    for (unsigned i = 0; i < count; i++)
        call_word(&call, attributes[i] | (values[i] ? 0 : UINT64_C(1) << 32));
    code = call_run(&call);
    for (unsigned i = 0; i < count && !code; i++)
        store_attribute(&call, attributes[i], call_result(&call), values[i]);
    return code;
}
