/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ntt over several devices: at least as many transforms as devices are dealt out, each
 * device's as a call of its own; fewer are split one after the other, see split.h.
 */
#include "zk/ntt/split.h"

#include "base/status.h"

static pool_status check_spans(const struct ntt_call *call)
{
    const pool_field *field = call->target.field;
    pool_status status = ntt_check_count(&call->params, &call->in, "input");

    if (!status)
        status = ntt_check_count(&call->params, &call->out, "output");
    if (!status && call->in.space == POOL_MEMORY_HOST)
        status = elements_check(&call->target, &call->in, "input");
    if (!status && call->out.space == POOL_MEMORY_HOST)
        status = elements_check(&call->target, &call->out, "output");
    if (!status && call->in.space == POOL_MEMORY_HOST && call->out.space == POOL_MEMORY_HOST)
        status = elements_check_overlap(field, &call->in, &call->out, 1);
    return status;
}

static bool is_sharded(const struct ntt_call *call)
{
    return call->in.space == POOL_MEMORY_SHARDED || call->out.space == POOL_MEMORY_SHARDED;
}

/* log2 of the devices that the transforms are split over; 0: they are dealt out. */
static pool_status choose_split(
    const struct ntt_call *call, const struct devices *devices, uint32_t *log_devices)
{
    const uint32_t log_size = call->job.log_size;
    const pool_field *field = call->target.field;

    *log_devices = 0;
    if (call->params.batch >= devices->count)
        return POOL_OK;
    *log_devices = ntt_split_log_devices(log_size, devices->count);
    if (is_sharded(call) && devices->count != 1u << *log_devices)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt: unsupported value %u for `device_count` of sharded transforms of 2^%u "
            "points; "
            "it must be a power of two up to %u",
            devices->count, log_size, 1u << ntt_split_log_devices(log_size, UINT32_MAX));
    if (*log_devices && call->params.layout == POOL_NTT_COLUMNS && call->params.batch > 1)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_ntt: `layout` POOL_NTT_COLUMNS is not supported for %llu transforms over %u "
            "devices; it must be POOL_NTT_ROWS",
            (unsigned long long)call->params.batch, devices->count);
    if (*log_devices &&
        ((call->in.space == POOL_MEMORY_HOST && !elements_are_packed(field, &call->in)) ||
            (call->out.space == POOL_MEMORY_HOST && !elements_are_packed(field, &call->out))))
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_ntt: a `stride` of %llu bytes is not supported for a transform over several "
            "devices; it must be 0",
            (unsigned long long)(call->in.stride ? call->in.stride : call->out.stride));
    return POOL_OK;
}

/* Or, with `bytes`, forecasts the memory. */
static pool_status compute_part(
    const void *user, const struct batch_part *part, const pool_exec *exec, uint64_t *bytes)
{
    const struct ntt_call *call = user;
    pool_ntt_params params = call->params;

    params.batch = part->count;
    return bytes ? ntt_forecast(&params, exec, &part->in, &part->out, bytes)
                 : ntt_compute(&params, exec, &part->in, &part->out, part->first);
}

static struct batch batch_of(const struct ntt_call *call)
{
    return (struct batch){.call = "pool_ntt",
        .exec = &call->exec,
        .in = &call->in,
        .out = &call->out,
        .in_bytes = call->target.field->bytes,
        .out_bytes = call->target.field->bytes,
        .items = UINT64_C(1) << call->job.log_size,
        .compute = compute_part,
        .user = call};
}

static pool_status open_batch(
    const struct ntt_call *call, struct batch *batch, uint32_t *log_devices)
{
    const pool_ntt_params *params = &call->params;
    pool_status status = batch_open(batch, params->layout != POOL_NTT_ROWS && params->batch > 1);

    if (!status)
        status = check_spans(call);
    return status ? status : choose_split(call, &batch->devices, log_devices);
}

static pool_status divide(const struct ntt_call *call, struct batch *batch)
{
    batch_divide(batch);
    for (uint32_t i = 0; i < batch->devices.count; i++)
        if (batch->first[i] % batch->items)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_ntt: shard %u has %llu elements; a batch is divided between transforms of "
                "2^%u",
                i - 1, (unsigned long long)(batch->first[i] - batch->first[i - 1]),
                call->job.log_size);
    return POOL_OK;
}

static pool_status run_split(
    const struct ntt_call *call, const struct devices *devices, uint32_t log_devices)
{
    uint64_t needed[EXEC_MAX_DEVICES];
    pool_status status = POOL_OK;

    if (call->exec.workspaces)
        status = ntt_split_workspace(call, devices, log_devices, needed);
    if (!status)
        status = devices_check_workspaces("pool_ntt", devices, &call->exec, needed);
    return status ? status : ntt_split_run(call, devices, log_devices);
}

pool_status ntt_run_on_devices(const struct ntt_call *call)
{
    struct batch batch = batch_of(call);
    uint32_t log_devices = 0;
    pool_status status = open_batch(call, &batch, &log_devices);

    if (!status && log_devices)
        return run_split(call, &batch.devices, log_devices);
    if (!status)
        status = divide(call, &batch);
    return status ? status : batch_run(&batch);
}

pool_status ntt_workspace_on_devices(const struct ntt_call *call, uint64_t *bytes)
{
    struct batch batch = batch_of(call);
    uint32_t log_devices = 0;
    pool_status status = open_batch(call, &batch, &log_devices);

    if (!status && log_devices)
        return ntt_split_workspace(call, &batch.devices, log_devices, bytes);
    if (!status)
        status = divide(call, &batch);
    return status ? status : batch_forecast(&batch, bytes);
}
