/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a call over several devices: see operation.h. */
#include "zk/operation/frame.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"

enum { CALL_BYTES = 8192 }; /* more than any call has */

/* All parts of a device one after the other; forecasts the most of them with `bytes`. */
static pool_status run_parts_of(const struct operation_division *division, uint32_t index,
    const pool_exec *exec, uint64_t *bytes)
{
    _Alignas(16) unsigned char memory[CALL_BYTES];
    struct operation_call *part = (struct operation_call *)(void *)memory;
    const struct operation *operation = division->call->operation;
    pool_status status = POOL_OK;

    assert(operation->call_bytes <= sizeof(memory));
    for (uint32_t number = 0; !status; number++) {
        uint64_t needed = 0;

        memcpy(part, division->call, operation->call_bytes);
        part->is_forecast |= bytes != NULL;
        if (!operation->part(division->call, division, index, number, part))
            break;
        part->given = exec;
        status = exec_read(part->name, exec, &operation->rules, &part->exec);
        if (!status && part->exec.device && !part->is_forecast)
            device_expect_use(part->exec.device);
        if (!status && operation->open_part)
            status = operation->open_part(part, division, index);
        if (!status && operation->prepare)
            operation->prepare(part);
        if (bytes)
            part->exec.workspace = NULL; /* its size is requested */
        if (!status)
            status =
                bytes ? operation_forecast_on_device(part, &needed) : operation_run_on_device(part);
        if (part->host_memory != division->call->host_memory)
            base_free(part->host_memory);
        if (bytes)
            *bytes = base_max(*bytes, needed);
    }
    return status;
}

pool_status operation_compute_part(
    const struct operation_division *division, uint32_t index, const pool_exec *exec)
{
    return run_parts_of(division, index, exec, NULL);
}

pool_status operation_forecast_part(const struct operation_division *division, uint32_t index,
    const pool_exec *exec, uint64_t *bytes)
{
    *bytes = 0;
    return run_parts_of(division, index, exec, bytes);
}

static pool_status compute_part(void *user, uint32_t index, const pool_exec *exec)
{
    return operation_compute_part(user, index, exec);
}

static pool_status join_parts(struct operation_division *division)
{
    const pool_exec exec = devices_exec(&division->devices, &division->call->exec, 0);

    division->is_joining = true;
    return operation_compute_part(division, 0, &exec);
}

static pool_status run_parts(struct operation_division *division)
{
    const struct operation_call *call = division->call;
    const struct parts parts = {.call = call->name,
        .exec = &call->exec,
        .devices = &division->devices,
        .total = call->work ? call->work : call->items,
        .only_enqueues = division->only_enqueues,
        .compute = compute_part,
        .user = division};
    pool_status status = parts_run(&parts);

    if (!status && division->joins)
        status = join_parts(division);
    return status || !division->finish ? status : division->finish(division);
}

pool_status operation_forecast_parts(
    struct operation_division *division, uint32_t index, const pool_exec *exec, uint64_t *bytes)
{
    uint64_t joining = 0;
    pool_status status = operation_forecast_part(division, index, exec, bytes);

    division->is_joining = true;
    if (!status && !index && division->joins)
        status = operation_forecast_part(division, 0, exec, &joining);
    division->is_joining = false;
    *bytes = base_max(*bytes, joining);
    return status;
}

static pool_status forecast_devices(struct operation_division *division, uint64_t *bytes)
{
    const struct operation_call *call = division->call;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < division->devices.count && !status; i++) {
        const pool_exec given = devices_exec(&division->devices, &call->exec, i);
        pool_exec exec;

        status = operation_reserve_forecast(call, division->reserved[i], &given, &exec);
        if (!status)
            status = division->forecast(division, i, &exec, &bytes[i]);
        bytes[i] += division->reserved[i];
    }
    return status;
}

static pool_status run_division(struct operation_division *division)
{
    struct operation_call *call = division->call;

    if (division->run)
        return division->run(division);
    return call->operation->part ? run_parts(division) : call->operation->run(call);
}

static pool_status open_division(struct operation_division *division)
{
    struct operation_call *call = division->call;
    struct operation_operands operand = {.call = call};
    pool_status status = devices_read(call->name, &call->exec, &division->devices);

    division->only_enqueues = true;
    while (!status && operation_next_operand(&operand))
        if (operand.span) {
            status = devices_check_span(call->name, &division->devices, operand.span, operand.name);
            division->only_enqueues &= operand.span->space == POOL_MEMORY_SHARDED;
        }
    if (!status)
        status = operation_check_operands(call);
    return status ? status : call->operation->divide(call, division);
}

/* The caller's workspaces, which are large enough, and their devices' shards. */
static pool_status check_shard_overlaps(const struct operation_division *division)
{
    const struct operation_call *call = division->call;
    struct operation_operands operand = {.call = call};
    pool_status status = POOL_OK;

    while (!status && operation_next_operand(&operand))
        for (uint32_t i = 0; i < division->devices.count && !status; i++)
            if (operand.span && operand.span->space == POOL_MEMORY_SHARDED &&
                call->exec.workspaces[i])
                status = workspace_check_overlap(call->name, call->exec.workspaces[i],
                    (const pool_span *)operand.span->data + i, operand.item.bytes, operand.what);
    return status;
}

/* Or, with `bytes`, forecasts. */
pool_status operation_run_divided(struct operation_call *call, uint64_t *bytes)
{
    struct operation_division division = {.call = call, .forecast = operation_forecast_parts};
    uint64_t needed[EXEC_MAX_DEVICES] = {0};
    pool_status status = open_division(&division);

    if (!status && (bytes || call->exec.workspaces))
        status = forecast_devices(&division, needed);
    if (!status && bytes)
        memcpy(bytes, needed, division.devices.count * sizeof(*bytes));
    else if (!status)
        status = devices_check_workspaces(call->name, &division.devices, &call->exec, needed);
    if (!status && !bytes && call->exec.workspaces)
        status = check_shard_overlaps(&division);
    if (!status && !bytes)
        status = run_division(&division);
    base_free(division.memory);
    return status;
}

pool_status operation_divide(struct operation_division *division)
{
    pool_status status = operation_read(division->call);

    return status ? status : open_division(division);
}
