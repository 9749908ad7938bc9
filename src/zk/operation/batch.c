/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of transforms that are dealt out over several devices: see operation.h. */
#include "base/status.h"
#include "zk/operation/operation.h"

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
