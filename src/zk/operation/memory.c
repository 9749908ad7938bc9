/* SPDX-License-Identifier: Apache-2.0 */
/* The device memory of a call: see operation.h. */
#include "pool/memory/memory.h"

#include <assert.h>

#include "base/status.h"
#include "zk/operation/frame.h"

pool_status operation_plan(struct operation_call *call)
{
    const uint64_t limit = exec_limit(&call->exec);
    pool_status status = call->operation->plan ? call->operation->plan(call, limit) : POOL_OK;

    return status || call->memory.bytes <= limit
               ? status
               : exec_fail_limit(call->name, limit, call->memory.bytes);
}

enum {
    PART_ALIGNMENT = 16,   /* of a workspace that takes only a part of the memory */
    SMALL_BLOCK = 1 << 28, /* those up to here are allocated without asking what is free */
};

bool operation_workspace_fits(const struct operation_call *call, uint64_t bytes)
{
    return workspace_fits(&call->exec, bytes);
}

static pool_status plan_without_optional(struct operation_call *call)
{
    call->memory.omits_optional = true;
    return operation_plan(call);
}

/* 1/32 stays free for kernels that are loaded later and what the driver allocates for them. */
static pool_status find_free(const struct operation_call *call, uint64_t *bytes)
{
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_memory_get_info(call->target.device, &info);

    if (!status)
        *bytes = device_net_free(call->target.device) / 32 * 31;
    return status;
}

/* Creates the device's allocator first, so that other failures than a lack of memory show here. */
static pool_status ensure_allocator(const struct operation_call *call)
{
    struct device_memory *memory;
    struct device_scope scope;
    pool_status status = device_enter(call->target.device, &scope);

    return status ? status : device_leave(&scope, memory_of(&scope, &memory));
}

/* Optional memory only where it is free; else plans without it. */
static pool_status allocate_optional(struct operation_call *call)
{
    uint64_t limit = UINT64_MAX;
    pool_status status = POOL_ERR_OUT_OF_DEVICE_MEMORY;

    /* What a lease has reserved is not counted as free. */
    if (call->memory.bytes > SMALL_BLOCK && !call->target.lease) {
        pool_status failure = find_free(call, &limit);

        if (failure)
            return failure;
    }
    if (call->memory.bytes <= limit)
        status = scratch_spare(&call->target, call->memory.bytes, &call->owned, &call->address);
    return status == POOL_ERR_OUT_OF_DEVICE_MEMORY ? plan_without_optional(call) : status;
}

/* After an allocation failed, which is the failure where there is no smaller plan. */
static pool_status plan_smaller(struct operation_call *call)
{
    struct base_error_copy failure;
    uint64_t limit = 0;
    pool_status status;

    base_error_save(&failure);
    status = find_free(call, &limit);
    if (status)
        return status;
    status = call->operation->plan(
        call, limit < call->memory.bytes ? limit : call->memory.bytes / 8 * 7);
    if (status)
        base_error_restore(&failure);
    return status;
}

/* Plans smaller again where other threads allocated memory in the meantime. */
static pool_status allocate_shrinking(struct operation_call *call)
{
    uint64_t limit = 0;
    pool_status status = ensure_allocator(call);

    if (!status && call->memory.has_optional)
        status = allocate_optional(call);
    if (status || call->owned)
        return status;
    if (!call->exec.memory_limit && call->memory.bytes > SMALL_BLOCK) {
        status = find_free(call, &limit);
        if (!status && call->memory.bytes > limit)
            status = call->operation->plan(call, limit);
    }
    while (!status) {
        status = scratch_allocate(&call->target, call->memory.bytes, &call->owned, &call->address);
        if (status != POOL_ERR_OUT_OF_DEVICE_MEMORY)
            break;
        status = call->operation->restore(call);
        if (!status)
            status = plan_smaller(call);
    }
    return status;
}

/* A device's memory, or, of a workspace that is too small for it, what is not optional. */
static pool_status plan_block(struct operation_call *call)
{
    pool_status status = operation_plan(call);

    if (status || !call->exec.workspace || !call->memory.has_optional ||
        pool_buffer_bytes(call->exec.workspace) >= call->memory.bytes)
        return status;
    return plan_without_optional(call);
}

/* The caller's workspace, which operands must not overlap. */
static pool_status open_workspace(struct operation_call *call, struct workspace *workspace)
{
    const struct operation_memory *memory = &call->memory;
    pool_status status;

    if (memory->part_bytes)
        status = workspace_check(
            call->name, &call->exec, memory->part_bytes, PART_ALIGNMENT, &call->target);
    else
        status = workspace_open(workspace, call->name, &call->exec, memory->bytes, &call->target);
    return status ? status : operation_check_workspace_overlap(call);
}

pool_status operation_open_memory(struct operation_call *call, struct workspace *workspace)
{
    pool_status status = plan_block(call);

    if (!status && call->exec.workspace)
        status = open_workspace(call, workspace);
    if (!call->operation->takes_block || status)
        return status;
    call->block = call->exec.workspace;
    if (call->block)
        return pool_buffer_address(call->block, &call->address);
    status = call->operation->restore ? allocate_shrinking(call)
                                      : scratch_allocate(&call->target, call->memory.bytes,
                                            &call->owned, &call->address);
    call->block = call->owned;
    return status;
}

pool_status operation_scratch(struct operation_call *call, const struct exec_target *target,
    uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address)
{
    pool_status status = POOL_OK;

    *buffer = NULL;
    *address = 0;
    assert(call->scratch_count < OPERATION_SCRATCH);
    if (bytes)
        status = scratch_allocate(target, bytes, buffer, address);
    call->scratch[call->scratch_count++] = *buffer;
    return status;
}

pool_status operation_free_memory(struct operation_call *call, pool_status status)
{
    for (uint32_t i = 0; i < call->scratch_count; i++)
        status = scratch_free(&call->target, &call->scratch[i], status);
    return scratch_free(&call->target, &call->owned, status);
}

/* ---- reserves -------------------------------------------------------------------------------- */

static uint64_t less(uint64_t limit, uint64_t bytes)
{
    return limit > bytes ? limit - bytes : 1;
}

static pool_status read_reserving(
    const struct operation_call *call, uint64_t bytes, const pool_exec *given, pool_exec *exec)
{
    pool_status status = exec_read(call->name, given, &call->operation->rules, exec);

    return status || bytes <= exec_limit(exec)
               ? status
               : exec_fail_limit(call->name, exec_limit(exec), bytes);
}

/* What the reserve leaves of the workspace. */
static pool_status take_rest(struct operation_reserve *reserve, const pool_buffer *workspace)
{
    const uint64_t rest = workspace ? pool_buffer_bytes(workspace) - reserve->bytes : 0;
    CUdeviceptr address;

    return rest >= MEMORY_SCRATCH_ALIGNMENT
               ? scratch_allocate(&reserve->target,
                     rest / MEMORY_SCRATCH_ALIGNMENT * MEMORY_SCRATCH_ALIGNMENT, &reserve->rest,
                     &address)
               : POOL_OK;
}

pool_status operation_open_target(const struct operation_call *call, uint64_t bytes,
    const pool_exec *given, struct exec_target *target, struct workspace *workspace)
{
    pool_exec exec;
    pool_status status = read_reserving(call, bytes, given, &exec);

    if (!status)
        status = exec_target_init(target, &exec);
    return status ? status : workspace_open(workspace, call->name, &exec, bytes, target);
}

pool_status operation_reserve(const struct operation_call *call, uint64_t bytes,
    const pool_exec *given, struct operation_reserve *reserve)
{
    pool_status status;

    *reserve = (struct operation_reserve){.bytes = bytes};
    status = operation_open_target(call, bytes, given, &reserve->target, &reserve->workspace);
    if (!status && bytes)
        status = scratch_allocate(&reserve->target, bytes, &reserve->buffer, &reserve->address);
    return status ? status : take_rest(reserve, given->workspace);
}

pool_exec operation_reserve_exec(const struct operation_reserve *reserve, const pool_exec *exec)
{
    pool_exec rest = *exec;

    rest.workspace = reserve->rest;
    if (rest.memory_limit)
        rest.memory_limit = less(rest.memory_limit, reserve->bytes);
    return rest;
}

pool_status operation_reserve_forecast(
    const struct operation_call *call, uint64_t bytes, const pool_exec *given, pool_exec *exec)
{
    pool_status status = read_reserving(call, bytes, given, exec);

    if (!status && exec->memory_limit)
        exec->memory_limit = less(exec->memory_limit, bytes);
    return status;
}

pool_status operation_reserve_end(struct operation_reserve *reserve, pool_status status)
{
    status = scratch_free(&reserve->target, &reserve->rest, status);
    return scratch_free(&reserve->target, &reserve->buffer, status);
}
