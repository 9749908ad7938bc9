/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and fills of the simulated driver. Device ranges are checked at the call and again when
 * the copy executes; host ranges cannot be checked.
 *
 * Calls wait as on a GPU: copies between pageable host memory and a device complete before the
 * call returns, except that up to 64 KiB to the device are staged; copies of pinned memory are
 * asynchronous where the function says so; fills and copies within devices never wait. And as on a
 * GPU, one pageable copy to the host of a context at a time waits for its stream, and one to the
 * device.
 */
#include <string.h>

#include "base/alloc.h"
#include "driver/sim/table/state.h"

#define STAGED_BYTES 65536u
/* Pageable copies of these sizes exclude each other (H100, driver 580.159: 96 bytes to the host do
 * not, 1 KiB do; to the device 64 KiB do not, 1 MiB do), and to the host all synchronous ones. */
#define EXCLUSIVE_TO_HOST_BYTES 1024u
#define EXCLUSIVE_TO_DEVICE_BYTES (1u << 20)

enum side { SIDE_HOST, SIDE_DEVICE };

struct copy {
    uint64_t to, from, bytes; /* bytes of a row */
    enum side to_side, from_side;
    bool is_async;
    uint64_t more_rows; /* besides the first one */
    uint64_t to_pitch, from_pitch;
};

/* Bytes from the start of the first row to the end of the last one. */
static uint64_t extent_of(const struct copy *copy, uint64_t pitch)
{
    return copy->more_rows * pitch + copy->bytes;
}

static bool is_device_range(uint64_t address, uint64_t bytes)
{
    const struct sim_allocation *found = sim_memory_find(address, bytes);

    return found && !found->is_freeing;
}

/* A host address: not NULL and not inside a device's memory. */
static bool is_host_address(uint64_t address)
{
    const struct sim_allocation *found = sim_memory_find(address, 1);

    return address &&
           (!found || found->kind == SIM_MEMORY_PINNED || found->kind == SIM_MEMORY_REGISTERED);
}

static bool is_pinned(uint64_t address, uint64_t bytes)
{
    return sim_memory_find(address, bytes) != NULL;
}

static bool is_valid_range(enum side side, uint64_t address, uint64_t bytes)
{
    return side == SIDE_DEVICE ? is_device_range(address, bytes) : is_host_address(address);
}

/* Copies a small pageable source at the call; *is_staged reports whether it did. */
static pool_cu_result stage_source(struct sim_work *work, const struct copy *copy, bool *is_staged)
{
    *is_staged = copy->from_side == SIDE_HOST && copy->bytes <= STAGED_BYTES && !copy->more_rows &&
                 !is_pinned(copy->from, copy->bytes);
    if (!*is_staged)
        return POOL_CU_SUCCESS;
    work->u.copy.staged = base_calloc(1, copy->bytes);
    if (!work->u.copy.staged)
        return POOL_CU_OUT_OF_MEMORY;
    memcpy(work->u.copy.staged, (const void *)(uintptr_t)copy->from, copy->bytes);
    return POOL_CU_SUCCESS;
}

/* Whether the call returns only when the copy is complete. */
static bool must_wait(const struct copy *copy, bool is_staged)
{
    if (copy->from_side == SIDE_DEVICE && copy->to_side == SIDE_DEVICE)
        return false;
    if (!copy->is_async)
        return true;
    if (copy->from_side == SIDE_HOST)
        return !is_staged && !is_pinned(copy->from, extent_of(copy, copy->from_pitch));
    return !is_pinned(copy->to, extent_of(copy, copy->to_pitch));
}

static bool is_exclusive(const struct copy *copy)
{
    const uint64_t bytes = copy->bytes * (copy->more_rows + 1);

    if (!sim_state.config.has_waits || copy->to_side == copy->from_side)
        return false;
    if (copy->to_side == SIDE_HOST)
        return (bytes >= EXCLUSIVE_TO_HOST_BYTES || !copy->is_async) &&
               !is_pinned(copy->to, extent_of(copy, copy->to_pitch));
    return bytes >= EXCLUSIVE_TO_DEVICE_BYTES &&
           !is_pinned(copy->from, extent_of(copy, copy->from_pitch));
}

static bool may_copy(const struct sim_context *context, uint64_t side)
{
    return !context->is_copying_pageable[side];
}

static pool_cu_result check_copy(const struct sim_call *call, CUstream handle,
    const struct copy *copy, struct sim_stream **stream)
{
    pool_cu_result code = POOL_CU_CONTEXT_IS_DESTROYED; /* a green context, during a wait */

    if (call->scope->is_alive)
        code = sim_stream_of(call->scope, handle, stream);
    if (!code && copy->bytes &&
        (!is_valid_range(copy->to_side, copy->to, extent_of(copy, copy->to_pitch)) ||
            !is_valid_range(copy->from_side, copy->from, extent_of(copy, copy->from_pitch))))
        code = POOL_CU_INVALID_VALUE;
    return code;
}

static pool_cu_result enqueue_copy(
    const struct sim_call *call, struct sim_stream *stream, const struct copy *copy)
{
    bool is_staged = false;
    pool_cu_result code = POOL_CU_SUCCESS;
    struct sim_work *work = sim_work_create(SIM_WORK_COPY);

    if (!work)
        return POOL_CU_OUT_OF_MEMORY;
    work->u.copy.to = copy->to;
    work->u.copy.from = copy->from;
    work->u.copy.bytes = copy->bytes;
    work->u.copy.rows = copy->more_rows + 1;
    work->u.copy.to_pitch = copy->to_pitch;
    work->u.copy.from_pitch = copy->from_pitch;
    work->u.copy.checks_to = copy->to_side == SIDE_DEVICE;
    work->u.copy.checks_from = copy->from_side == SIDE_DEVICE;
    if (copy->is_async && !stream->capture)
        code = stage_source(work, copy, &is_staged);
    const bool is_waiting = !(copy->is_async && stream->capture) && must_wait(copy, is_staged);
    if (code) {
        sim_work_free(work);
        return code;
    }
    code = sim_enqueue(call, stream, work);
    return !code && is_waiting ? sim_stream_drain(stream) : code;
}

/* Called with the state locked by sim_enter; unlocks it. */
static pool_cu_result begin_copy(
    const struct sim_call *call, CUstream handle, const struct copy *copy)
{
    struct sim_context *context = call->context;
    struct sim_stream *stream;
    pool_cu_result code = check_copy(call, handle, copy, &stream);

    if (code || !copy->bytes)
        return sim_leave(code);
    if (stream->capture || !is_exclusive(copy))
        return sim_leave(enqueue_copy(call, stream, copy));
    code = sim_context_wait(context, may_copy, copy->to_side == SIDE_HOST);
    if (!code) /* they may have been destroyed meanwhile */
        code = check_copy(call, handle, copy, &stream);
    if (code)
        return sim_leave(code);
    context->is_copying_pageable[copy->to_side == SIDE_HOST] = true;
    code = enqueue_copy(call, stream, copy);
    /* The context exists until the lock is released after the wait. */
    if (code != POOL_CU_DEINITIALIZED)
        context->is_copying_pageable[copy->to_side == SIDE_HOST] = false;
    pthread_cond_broadcast(&sim_state.changed);
    return sim_leave(code);
}

static pool_cu_result call_copy(
    enum sim_driver_function function, CUstream stream, struct copy copy)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, function, SIM_NEED_CONTEXT, -1);

    return code ? code : begin_copy(&call, stream, &copy);
}

pool_cu_result sim_cu_MemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return call_copy(SIM_CU_MemcpyHtoD, NULL,
        (struct copy){
            to, (uint64_t)(uintptr_t)from, bytes, SIDE_DEVICE, SIDE_HOST, false, 0, 0, 0});
}

pool_cu_result sim_cu_MemcpyHtoDAsync(
    CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return call_copy(SIM_CU_MemcpyHtoDAsync, stream,
        (struct copy){to, (uint64_t)(uintptr_t)from, bytes, SIDE_DEVICE, SIDE_HOST, true, 0, 0, 0});
}

pool_cu_result sim_cu_MemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return call_copy(SIM_CU_MemcpyDtoH, NULL,
        (struct copy){
            (uint64_t)(uintptr_t)to, from, bytes, SIDE_HOST, SIDE_DEVICE, false, 0, 0, 0});
}

pool_cu_result sim_cu_MemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return call_copy(SIM_CU_MemcpyDtoHAsync, stream,
        (struct copy){(uint64_t)(uintptr_t)to, from, bytes, SIDE_HOST, SIDE_DEVICE, true, 0, 0, 0});
}

pool_cu_result sim_cu_MemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return call_copy(SIM_CU_MemcpyDtoD, NULL,
        (struct copy){to, from, bytes, SIDE_DEVICE, SIDE_DEVICE, false, 0, 0, 0});
}

pool_cu_result sim_cu_MemcpyDtoDAsync(
    CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return call_copy(SIM_CU_MemcpyDtoDAsync, stream,
        (struct copy){to, from, bytes, SIDE_DEVICE, SIDE_DEVICE, true, 0, 0, 0});
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The address of a side's first row; its pitch is valid for that many rows of `width` bytes. */
static pool_cu_result read_side(
    const pool_cu_copy_side *side, size_t width, size_t height, enum side *kind, uint64_t *address)
{
    const uint64_t base = side->memory_type == DRIVER_MEMORYTYPE_HOST
                              ? (uint64_t)(uintptr_t)side->host
                              : side->device;

    if (side->memory_type != DRIVER_MEMORYTYPE_HOST &&
        side->memory_type != DRIVER_MEMORYTYPE_DEVICE)
        return POOL_CU_INVALID_VALUE;
    if (side->pitch > INT32_MAX || (height > 1 && side->pitch < width + side->x_bytes))
        return POOL_CU_INVALID_VALUE;
    *kind = side->memory_type == DRIVER_MEMORYTYPE_HOST ? SIDE_HOST : SIDE_DEVICE;
    *address = base + side->y * side->pitch + side->x_bytes;
    return POOL_CU_SUCCESS;
}

pool_cu_result sim_cu_Memcpy2DAsync(const pool_cu_copy_2d *given, CUstream stream)
{
    struct copy copy = {.is_async = true};
    pool_cu_result code;

    if (!given || given->width_bytes > INT32_MAX || given->height > INT32_MAX)
        return POOL_CU_INVALID_VALUE;
    code = read_side(&given->to, given->width_bytes, given->height, &copy.to_side, &copy.to);
    if (!code)
        code =
            read_side(&given->from, given->width_bytes, given->height, &copy.from_side, &copy.from);
    if (code)
        return code;
    copy.bytes = given->height ? given->width_bytes : 0;
    copy.more_rows = given->height ? given->height - 1 : 0;
    copy.to_pitch = given->to.pitch;
    copy.from_pitch = given->from.pitch;
    return call_copy(SIM_CU_Memcpy2DAsync, stream, copy);
}

/* ---- peers ----------------------------------------------------------------------------------- */

/* Whether the range lies in memory of that context's device. */
static pool_cu_result check_peer(CUcontext context, uint64_t address, uint64_t bytes)
{
    struct sim_context *found;
    const struct sim_allocation *allocation = sim_memory_find(address, bytes);
    pool_cu_result code = sim_context_of(context, &found);

    if (code)
        return code;
    if (bytes && (!allocation || allocation->device != found->device))
        return POOL_CU_INVALID_VALUE;
    return POOL_CU_SUCCESS;
}

static pool_cu_result call_peer_copy(enum sim_driver_function function, CUstream stream,
    CUcontext to_context, CUcontext from_context, struct copy copy)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, function, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    code = check_peer(to_context, copy.to, copy.bytes);
    if (!code)
        code = check_peer(from_context, copy.from, copy.bytes);
    return code ? sim_leave(code) : begin_copy(&call, stream, &copy);
}

pool_cu_result sim_cu_MemcpyPeer(
    CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes)
{
    return call_peer_copy(SIM_CU_MemcpyPeer, NULL, to_context, from_context,
        (struct copy){to, from, bytes, SIDE_DEVICE, SIDE_DEVICE, false, 0, 0, 0});
}

pool_cu_result sim_cu_MemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
    CUcontext from_context, size_t bytes, CUstream stream)
{
    return call_peer_copy(SIM_CU_MemcpyPeerAsync, stream, to_context, from_context,
        (struct copy){to, from, bytes, SIDE_DEVICE, SIDE_DEVICE, true, 0, 0, 0});
}

/* ---- fills ----------------------------------------------------------------------------------- */

static pool_cu_result call_fill(enum sim_driver_function function, CUstream handle, uint64_t to,
    uint32_t value, uint32_t width, size_t count)
{
    struct sim_stream *stream;
    struct sim_call call;
    struct sim_work *work;
    pool_cu_result code = sim_enter(&call, function, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    code = sim_stream_of(call.scope, handle, &stream);
    if (code)
        return sim_leave(code);
    if (count == 0)
        return sim_leave(POOL_CU_SUCCESS);
    if (count > SIZE_MAX / width || to % width || !is_device_range(to, count * width))
        return sim_leave(POOL_CU_INVALID_VALUE);
    work = sim_work_create(SIM_WORK_FILL);
    if (!work)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    work->u.fill.to = to;
    work->u.fill.count = count;
    work->u.fill.value = value;
    work->u.fill.width = width;
    return sim_leave(sim_enqueue(&call, stream, work));
}

pool_cu_result sim_cu_MemsetD8(CUdeviceptr to, unsigned char value, size_t count)
{
    return call_fill(SIM_CU_MemsetD8, NULL, to, value, 1, count);
}

pool_cu_result sim_cu_MemsetD16(CUdeviceptr to, unsigned short value, size_t count)
{
    return call_fill(SIM_CU_MemsetD16, NULL, to, value, 2, count);
}

pool_cu_result sim_cu_MemsetD32(CUdeviceptr to, unsigned int value, size_t count)
{
    return call_fill(SIM_CU_MemsetD32, NULL, to, value, 4, count);
}

pool_cu_result sim_cu_MemsetD8Async(
    CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    return call_fill(SIM_CU_MemsetD8Async, stream, to, value, 1, count);
}

pool_cu_result sim_cu_MemsetD16Async(
    CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    return call_fill(SIM_CU_MemsetD16Async, stream, to, value, 2, count);
}

pool_cu_result sim_cu_MemsetD32Async(
    CUdeviceptr to, unsigned int value, size_t count, CUstream stream)
{
    return call_fill(SIM_CU_MemsetD32Async, stream, to, value, 4, count);
}
