/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of transforms that are dealt out over several devices: see devices.h. */
#include "base/status.h"
#include "zk/operation/operation.h"

pool_status batch_open(struct batch *batch, bool is_interleaved)
{
    const bool is_on_host =
        batch->in->space == POOL_MEMORY_HOST || batch->out->space == POOL_MEMORY_HOST;
    pool_status status = devices_read(batch->call, batch->exec, &batch->devices);

    if (!status)
        status = devices_check_span(batch->call, &batch->devices, batch->in, "in");
    if (!status)
        status = devices_check_span(batch->call, &batch->devices, batch->out, "out");
    if (status || !is_interleaved || !is_on_host)
        return status;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "%s: `layout` POOL_NTT_COLUMNS of a batch in host memory is not supported with "
        "`device_count` %u; it must be POOL_NTT_ROWS",
        batch->call, batch->devices.count);
}

void batch_divide(struct batch *batch)
{
    const bool is_by_output =
        batch->in->space != POOL_MEMORY_SHARDED && batch->out->space == POOL_MEMORY_SHARDED;

    devices_divide(
        &batch->devices, is_by_output ? batch->out : batch->in, batch->items, batch->first);
}

static pool_status forecast_part(void *user, uint32_t index, const pool_exec *exec, uint64_t *bytes)
{
    const struct batch *batch = user;
    const uint64_t *first = batch->first;
    const struct batch_part part = {.count = (first[index + 1] - first[index]) / batch->items,
        .first = first[index],
        .in = devices_part(batch->in, batch->in_bytes, index, first),
        .out = devices_part(batch->out, batch->out_bytes, index, first)};

    return part.count ? batch->compute(batch->user, &part, exec, bytes) : POOL_OK;
}

static pool_status compute_part(void *user, uint32_t index, const pool_exec *exec)
{
    return forecast_part(user, index, exec, NULL);
}

static struct parts parts_of(struct batch *batch)
{
    return (struct parts){.call = batch->call,
        .exec = batch->exec,
        .devices = &batch->devices,
        .total = batch->in->count,
        .only_enqueues =
            batch->in->space == POOL_MEMORY_SHARDED && batch->out->space == POOL_MEMORY_SHARDED,
        .compute = compute_part,
        .forecast = forecast_part,
        .user = batch};
}

pool_status batch_run(struct batch *batch)
{
    const struct parts parts = parts_of(batch);
    pool_status status = parts_check_workspaces(&parts);

    return status ? status : parts_run(&parts);
}

pool_status batch_forecast(struct batch *batch, uint64_t *bytes)
{
    const struct parts parts = parts_of(batch);

    return parts_forecast(&parts, bytes);
}

/* ---- of calls -------------------------------------------------------------------------------- */

/* Shards have whole transforms, those of the output the same ones as those of the input. */
static pool_status check_shards(
    const struct operation_division *division, uint32_t operand, uint64_t items)
{
    const struct operation_call *call = division->call;
    const pool_span *span = operation_operand(call, operand), *shards = span->data;
    const char *name = operand ? "out" : "in", *kind = call->item[operand].kind;
    const uint64_t *first = division->first;

    for (uint32_t i = 0; span->space == POOL_MEMORY_SHARDED && i < division->devices.count; i++) {
        if (shards[i].count % items)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: shard %u of `%s` has %llu %s; a batch is divided between transforms of 2^%u",
                call->name, i, name, (unsigned long long)shards[i].count, kind,
                (unsigned)__builtin_ctzll(items));
        if (shards[i].count != first[i + 1] - first[i])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: shard %u of `%s` has %llu %s, that of `in` has %llu; they must be equal",
                call->name, i, name, (unsigned long long)shards[i].count, kind,
                (unsigned long long)(first[i + 1] - first[i]));
    }
    return POOL_OK;
}

pool_status operation_check_layout(const struct operation_division *division, bool is_interleaved)
{
    if (!is_interleaved || division->only_enqueues)
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "%s: `layout` POOL_NTT_COLUMNS of a batch in host memory is not supported with "
        "`device_count` %u; it must be POOL_NTT_ROWS",
        division->call->name, division->devices.count);
}

pool_status operation_divide_batch(struct operation_division *division, uint64_t items)
{
    const pool_span *in = operation_operand(division->call, 0);
    const pool_span *out = operation_operand(division->call, 1);
    const bool is_by_output = in->space != POOL_MEMORY_SHARDED && out->space == POOL_MEMORY_SHARDED;
    pool_status status;

    devices_divide(&division->devices, is_by_output ? out : in, items, division->first);
    status = check_shards(division, 0, items);
    return status ? status : check_shards(division, 1, items);
}
