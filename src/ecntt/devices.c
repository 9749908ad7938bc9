/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ecntt over several devices: whole transforms are dealt out, each device's as a call of its
 * own.
 */
#include "ecntt/ecntt.h"

#include "base/status.h"
#include "memory/devices.h"

/* Points first[i] to first[i + 1] are those of device i. */
struct divided_call {
    const struct ecntt_call *call;
    struct memory_devices devices;
    uint64_t first[MEMORY_MAX_DEVICES + 1];
};

/* A span in host memory holds interleaved transforms, of which no part is a span. */
static pool_status check_layout(const struct ecntt_call *call)
{
    const bool is_on_host =
        call->in.space == POOL_MEMORY_HOST || call->out.space == POOL_MEMORY_HOST;

    if (call->params.layout == POOL_NTT_ROWS || call->params.batch == 1 || !is_on_host)
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "pool_ecntt: `layout` POOL_NTT_COLUMNS of a batch in host memory is not supported with "
        "`device_count` %u; it must be POOL_NTT_ROWS",
        call->exec.device_count);
}

/* Shards have whole transforms, those of the output the same ones as those of the input. */
static pool_status check_shards(
    const struct divided_call *divided, const pool_span *span, const char *name)
{
    const uint32_t log_size = divided->call->job.log_size;
    const uint64_t *first = divided->first;
    const pool_span *shards = span->data;

    for (uint32_t i = 0; span->space == POOL_MEMORY_SHARDED && i < divided->devices.count; i++) {
        if (shards[i].count % ((uint64_t)1 << log_size))
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_ecntt: shard %u of `%s` has %llu points; a batch is divided between "
                "transforms of 2^%u",
                i, name, (unsigned long long)shards[i].count, log_size);
        if (shards[i].count != first[i + 1] - first[i])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_ecntt: shard %u of `%s` has %llu points, that of `in` has %llu; they must be "
                "equal",
                i, name, (unsigned long long)shards[i].count,
                (unsigned long long)(first[i + 1] - first[i]));
    }
    return POOL_OK;
}

static pool_status divide(const struct ecntt_call *call, struct divided_call *divided)
{
    const bool is_by_output =
        call->in.space != POOL_MEMORY_SHARDED && call->out.space == POOL_MEMORY_SHARDED;
    pool_status status = memory_devices_read("pool_ecntt", &call->exec, &divided->devices);

    divided->call = call;
    if (!status)
        status = memory_devices_check_span("pool_ecntt", &divided->devices, &call->in, "in");
    if (!status)
        status = memory_devices_check_span("pool_ecntt", &divided->devices, &call->out, "out");
    if (!status)
        status = check_layout(call);
    if (status)
        return status;
    memory_devices_divide(&divided->devices, is_by_output ? &call->out : &call->in,
        (uint64_t)1 << call->job.log_size, divided->first);
    status = check_shards(divided, &call->in, "in");
    return status ? status : check_shards(divided, &call->out, "out");
}

/* ---- parts ----------------------------------------------------------------------------------- */

struct part {
    pool_ecntt_params params; /* batch 0: the device has no transforms */
    pool_span in;
    pool_span out;
};

static struct part part_of(const struct divided_call *divided, uint32_t index)
{
    const struct ecntt_call *call = divided->call;
    const uint64_t *first = divided->first;
    struct part part = {.params = call->params,
        .in = memory_devices_part(&call->in, call->job.in_bytes, index, first),
        .out = memory_devices_part(&call->out, call->job.out_bytes, index, first)};

    part.params.batch = (first[index + 1] - first[index]) >> call->job.log_size;
    return part;
}

static pool_status compute_part(void *user, uint32_t index, const pool_exec *exec)
{
    const struct divided_call *divided = user;
    const struct part part = part_of(divided, index);

    return part.params.batch
               ? ecntt_compute(&part.params, exec, &part.in, &part.out, divided->first[index])
               : POOL_OK;
}

static pool_status forecast_part(void *user, uint32_t index, const pool_exec *exec, uint64_t *bytes)
{
    const struct divided_call *divided = user;
    const struct part part = part_of(divided, index);

    return part.params.batch ? pool_ecntt_workspace(&part.params, exec, &part.in, &part.out, bytes)
                             : POOL_OK;
}

static struct memory_parts parts_of(struct divided_call *divided)
{
    return (struct memory_parts){.call = "pool_ecntt",
        .exec = &divided->call->exec,
        .devices = &divided->devices,
        .total = divided->call->in.count,
        .only_enqueues = divided->call->in.space == POOL_MEMORY_SHARDED &&
                         divided->call->out.space == POOL_MEMORY_SHARDED,
        .compute = compute_part,
        .forecast = forecast_part,
        .user = divided};
}

pool_status ecntt_run_on_devices(const struct ecntt_call *call)
{
    struct divided_call divided = {.call = call};
    const struct memory_parts parts = parts_of(&divided);
    pool_status status = divide(call, &divided);

    if (!status)
        status = memory_parts_check_workspaces(&parts);
    return status ? status : memory_parts_run(&parts);
}

pool_status ecntt_workspace_on_devices(const struct ecntt_call *call, uint64_t *bytes)
{
    struct divided_call divided = {.call = call};
    const struct memory_parts parts = parts_of(&divided);
    pool_status status = divide(call, &divided);

    return status ? status : memory_parts_forecast(&parts, bytes);
}
