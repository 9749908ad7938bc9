/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors of copies, whose host memory is in the arena or in the stage of the ring.
 */
#include "driver/attributes.h"
#include "driver/worker/server/server.h"

pool_cu_result server_MemcpyHtoD(struct execution *execution)
{
    CUdeviceptr to = execution_word(execution);
    uint64_t offset = execution_word(execution), bytes = execution_word(execution);
    bool is_stage;
    const void *from = execution_host(execution, offset, bytes, &is_stage);
    pool_cu_result code = execution_check(execution);

    return code ? code : execution->server->api->MemcpyHtoD(to, from, (size_t)bytes);
}

pool_cu_result server_MemcpyDtoH(struct execution *execution)
{
    CUdeviceptr from = execution_word(execution);
    uint64_t offset = execution_word(execution), bytes = execution_word(execution);
    bool is_stage;
    void *to = execution_host(execution, offset, bytes, &is_stage);
    pool_cu_result code = execution_check(execution);

    return code ? code : execution->server->api->MemcpyDtoH(to, from, (size_t)bytes);
}

/* The driver has copied pageable memory, as the stage is, when the call returns. */
pool_cu_result server_MemcpyHtoDAsync(struct execution *execution)
{
    CUdeviceptr to = execution_word(execution);
    uint64_t offset = execution_word(execution), bytes = execution_word(execution);
    CUstream stream = execution_handle(execution, WORKER_STREAM);
    bool is_stage;
    const void *from = execution_host(execution, offset, bytes, &is_stage);
    pool_cu_result code = execution_check(execution);

    return code ? code : execution->server->api->MemcpyHtoDAsync(to, from, (size_t)bytes, stream);
}

pool_cu_result server_MemcpyDtoHAsync(struct execution *execution)
{
    CUdeviceptr from = execution_word(execution);
    uint64_t offset = execution_word(execution), bytes = execution_word(execution);
    CUstream stream = execution_handle(execution, WORKER_STREAM);
    bool is_stage;
    void *to = execution_host(execution, offset, bytes, &is_stage);
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = execution->server->api->MemcpyDtoHAsync(to, from, (size_t)bytes, stream);
    if (!code && is_stage)
        code = execution->server->api->StreamSynchronize(stream);
    return code;
}

/* One side of a copy of rows. Host memory is named by its offset in the arena, in which all rows
 * lie. */
static void read_side(
    struct execution *execution, uint64_t width, uint64_t height, pool_cu_copy_side *side)
{
    uint64_t rows, last, end;
    bool is_stage;

    *side = (pool_cu_copy_side){.x_bytes = (size_t)execution_word(execution)};
    side->y = (size_t)execution_word(execution);
    side->memory_type = (pool_cu_enum)execution_word(execution);
    side->device = execution_word(execution);
    side->pitch = (size_t)execution_word(execution);
    if (side->memory_type != DRIVER_MEMORYTYPE_HOST)
        return;
    if (side->device == WORKER_STAGE || __builtin_add_overflow(side->y, height, &rows) ||
        __builtin_mul_overflow(rows, (uint64_t)side->pitch, &last) ||
        __builtin_add_overflow(last, width, &end) ||
        __builtin_add_overflow(end, (uint64_t)side->x_bytes, &end)) {
        execution->is_malformed = true;
        return;
    }
    end -= side->pitch && rows ? side->pitch : 0; /* the last row may be shorter */
    side->host = execution_host(execution, side->device, end, &is_stage);
    side->device = 0;
}

pool_cu_result server_Memcpy2DAsync(struct execution *execution)
{
    pool_cu_copy_2d copy = {.width_bytes = (size_t)execution_word(execution)};
    CUstream stream;
    pool_cu_result code;

    copy.height = (size_t)execution_word(execution);
    read_side(execution, copy.width_bytes, copy.height, &copy.from);
    read_side(execution, copy.width_bytes, copy.height, &copy.to);
    stream = execution_handle(execution, WORKER_STREAM);
    code = execution_check(execution);
    return code ? code : EXECUTION_CALL(execution, Memcpy2DAsync, &copy, stream);
}
