/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ecntt over several devices: whole transforms are dealt out, each device's as a call of its
 * own.
 */
#include "zk/ecntt/ecntt.h"

#include "base/status.h"
#include "zk/operation/devices.h"

/* Shards have whole transforms, those of the output the same ones as those of the input. */
static pool_status check_shards(
    const struct ecntt_call *call, const struct batch *batch, const pool_span *span)
{
    const char *name = span == batch->in ? "in" : "out";
    const uint64_t *first = batch->first;
    const pool_span *shards = span->data;

    for (uint32_t i = 0; span->space == POOL_MEMORY_SHARDED && i < batch->devices.count; i++) {
        if (shards[i].count % batch->items)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_ecntt: shard %u of `%s` has %llu points; a batch is divided between "
                "transforms of 2^%u",
                i, name, (unsigned long long)shards[i].count, call->job.log_size);
        if (shards[i].count != first[i + 1] - first[i])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_ecntt: shard %u of `%s` has %llu points, that of `in` has %llu; they must be "
                "equal",
                i, name, (unsigned long long)shards[i].count,
                (unsigned long long)(first[i + 1] - first[i]));
    }
    return POOL_OK;
}

/* Or, with `bytes`, forecasts the memory. */
static pool_status compute_part(
    const void *user, const struct batch_part *part, const pool_exec *exec, uint64_t *bytes)
{
    const struct ecntt_call *call = user;
    pool_ecntt_params params = call->params;

    params.batch = part->count;
    return bytes ? pool_ecntt_workspace(&params, exec, &part->in, &part->out, bytes)
                 : ecntt_compute(&params, exec, &part->in, &part->out, part->first);
}

static pool_status open_batch(const struct ecntt_call *call, struct batch *batch)
{
    const pool_ecntt_params *params = &call->params;
    pool_status status;

    *batch = (struct batch){.call = "pool_ecntt",
        .exec = &call->exec,
        .in = &call->in,
        .out = &call->out,
        .in_bytes = call->job.in_bytes,
        .out_bytes = call->job.out_bytes,
        .items = UINT64_C(1) << call->job.log_size,
        .compute = compute_part,
        .user = call};
    status = batch_open(batch, params->layout != POOL_NTT_ROWS && params->batch > 1);
    if (status)
        return status;
    batch_divide(batch);
    status = check_shards(call, batch, batch->in);
    return status ? status : check_shards(call, batch, batch->out);
}

pool_status ecntt_run_on_devices(const struct ecntt_call *call)
{
    struct batch batch;
    pool_status status = open_batch(call, &batch);

    return status ? status : batch_run(&batch);
}

pool_status ecntt_workspace_on_devices(const struct ecntt_call *call, uint64_t *bytes)
{
    struct batch batch;
    pool_status status = open_batch(call, &batch);

    return status ? status : batch_forecast(&batch, bytes);
}
