/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ntt_extend over several devices: columns are dealt out, each device's as a call of its own.
 */
#include "base/status.h"
#include "zk/ntt/extend.h"

static uint64_t column_elements(const struct ntt_extend_call *call, const pool_span *span)
{
    return UINT64_C(1) << (call->job.log_size - (span == call->out ? 0 : call->job.log_blowup));
}

/* The shards of `span` must have the columns of each device. */
static pool_status check_shards(const struct ntt_extend_call *call,
    const struct operation_division *division, const pool_span *span, const char *name)
{
    if (!span || span->space != POOL_MEMORY_SHARDED)
        return POOL_OK;
    for (uint32_t i = 0; i < division->devices.count; i++) {
        const pool_span *shard = (const pool_span *)span->data + i;
        const uint64_t columns = division->first[i + 1] - division->first[i];
        const uint64_t column = column_elements(call, span);

        if (shard->count != columns * column)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: shard %u of `%s` has %llu elements; %llu columns of %llu have %llu",
                call->frame.name, i, name, (unsigned long long)shard->count,
                (unsigned long long)columns, (unsigned long long)column,
                (unsigned long long)(columns * column));
    }
    return POOL_OK;
}

pool_status ntt_extend_divide(void *user, struct operation_division *division)
{
    const struct ntt_extend_call *call = user;
    const pool_span *spans[] = {call->in, call->out, call->coefficients}, *by = NULL;
    static const char *const names[] = {"in", "out", "coefficients"};
    pool_status status = operation_check_layout(
        division, call->params.layout != POOL_NTT_ROWS && call->params.batch > 1);

    for (int i = 0; i < 3 && !by; i++)
        by = spans[i] && spans[i]->space == POOL_MEMORY_SHARDED ? spans[i] : NULL;
    if (by)
        devices_divide(&division->devices, by, 1, division->first);
    else
        devices_split(&division->devices, call->params.batch, 1, division->first);
    for (uint32_t i = 0; by && i <= division->devices.count; i++)
        division->first[i] /= column_elements(call, by);
    for (int i = 0; i < 3 && !status; i++)
        status = check_shards(call, division, spans[i], names[i]);
    return status;
}

static const pool_span *span_of_part(const struct ntt_extend_call *call,
    const struct operation_division *division, const pool_span *span, uint32_t index,
    pool_span *part)
{
    uint64_t first[EXEC_MAX_DEVICES + 1];

    if (!span)
        return NULL;
    for (uint32_t i = 0; i <= division->devices.count; i++)
        first[i] = division->first[i] * column_elements(call, span);
    *part = devices_part(span, call->params.domain->field->bytes, index, first);
    return part;
}

bool ntt_extend_part(const void *user, const struct operation_division *division, uint32_t index,
    uint32_t number, void *made)
{
    const struct ntt_extend_call *call = user;
    struct ntt_extend_call *part = made;
    pool_span *spans = part->frame.part;

    part->params.batch = division->first[index + 1] - division->first[index];
    part->first = division->first[index];
    part->in = span_of_part(call, division, call->in, index, &spans[0]);
    part->coefficients = span_of_part(call, division, call->coefficients, index, &spans[1]);
    part->out = span_of_part(call, division, call->out, index, &spans[2]);
    return !number && part->params.batch;
}
