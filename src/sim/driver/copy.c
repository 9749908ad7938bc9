/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and fills of the simulated driver. Device ranges are checked at the call and again when
 * the copy executes; host ranges cannot be checked.
 *
 * Calls wait as on a GPU: copies between pageable host memory and a device complete before the
 * call returns, except that up to 64 KiB to the device are staged; copies of pinned memory are
 * asynchronous where the function says so; fills and copies within devices never wait.
 */
#include <string.h>

#include "base/alloc.h"
#include "sim/driver/state.h"

#define STAGED_BYTES 65536u

enum side { SIDE_HOST, SIDE_DEVICE };

struct copy {
    uint64_t to, from, bytes;
    enum side to_side, from_side;
    bool is_async;
};

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
    *is_staged = copy->from_side == SIDE_HOST && copy->bytes <= STAGED_BYTES &&
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
        return !is_staged && !is_pinned(copy->from, copy->bytes);
    return !is_pinned(copy->to, copy->bytes);
}

/* Called with the state locked by sim_enter; unlocks it. */
static pool_cu_result enqueue_copy(
    const struct sim_call *call, CUstream handle, const struct copy *copy)
{
    struct sim_stream *stream;
    bool is_staged = false;
    struct sim_work *work;
    pool_cu_result code = sim_stream_of(call->context, handle, &stream);

    if (code)
        return sim_leave(code);
    if (copy->bytes == 0)
        return sim_leave(POOL_CU_SUCCESS);
    if (!is_valid_range(copy->to_side, copy->to, copy->bytes) ||
        !is_valid_range(copy->from_side, copy->from, copy->bytes))
        return sim_leave(POOL_CU_INVALID_VALUE);
    work = sim_work_create(SIM_WORK_COPY);
    if (!work)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    work->u.copy.to = copy->to;
    work->u.copy.from = copy->from;
    work->u.copy.bytes = copy->bytes;
    work->u.copy.checks_to = copy->to_side == SIDE_DEVICE;
    work->u.copy.checks_from = copy->from_side == SIDE_DEVICE;
    if (copy->is_async)
        code = stage_source(work, copy, &is_staged);
    const bool is_waiting = must_wait(copy, is_staged);
    if (code) {
        sim_work_free(work);
        return sim_leave(code);
    }
    code = sim_enqueue(call, stream, work);
    if (!code && is_waiting)
        code = sim_stream_drain(stream);
    return sim_leave(code);
}

static pool_cu_result call_copy(
    enum sim_driver_function function, CUstream stream, struct copy copy)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, function, SIM_NEED_CONTEXT, -1);

    return code ? code : enqueue_copy(&call, stream, &copy);
}

pool_cu_result sim_cu_MemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return call_copy(SIM_CU_MemcpyHtoD, NULL,
        (struct copy){to, (uint64_t)(uintptr_t)from, bytes, SIDE_DEVICE, SIDE_HOST, false});
}

pool_cu_result sim_cu_MemcpyHtoDAsync(
    CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return call_copy(SIM_CU_MemcpyHtoDAsync, stream,
        (struct copy){to, (uint64_t)(uintptr_t)from, bytes, SIDE_DEVICE, SIDE_HOST, true});
}

pool_cu_result sim_cu_MemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return call_copy(SIM_CU_MemcpyDtoH, NULL,
        (struct copy){(uint64_t)(uintptr_t)to, from, bytes, SIDE_HOST, SIDE_DEVICE, false});
}

pool_cu_result sim_cu_MemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return call_copy(SIM_CU_MemcpyDtoHAsync, stream,
        (struct copy){(uint64_t)(uintptr_t)to, from, bytes, SIDE_HOST, SIDE_DEVICE, true});
}

pool_cu_result sim_cu_MemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return call_copy(
        SIM_CU_MemcpyDtoD, NULL, (struct copy){to, from, bytes, SIDE_DEVICE, SIDE_DEVICE, false});
}

pool_cu_result sim_cu_MemcpyDtoDAsync(
    CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return call_copy(SIM_CU_MemcpyDtoDAsync, stream,
        (struct copy){to, from, bytes, SIDE_DEVICE, SIDE_DEVICE, true});
}

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
    return code ? sim_leave(code) : enqueue_copy(&call, stream, &copy);
}

pool_cu_result sim_cu_MemcpyPeer(
    CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes)
{
    return call_peer_copy(SIM_CU_MemcpyPeer, NULL, to_context, from_context,
        (struct copy){to, from, bytes, SIDE_DEVICE, SIDE_DEVICE, false});
}

pool_cu_result sim_cu_MemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
    CUcontext from_context, size_t bytes, CUstream stream)
{
    return call_peer_copy(SIM_CU_MemcpyPeerAsync, stream, to_context, from_context,
        (struct copy){to, from, bytes, SIDE_DEVICE, SIDE_DEVICE, true});
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
    code = sim_stream_of(call.context, handle, &stream);
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
