/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ntt_extend over several devices: columns are dealt out, each device's as a call of its own.
 */
#include "base/status.h"
#include "zk/ntt/extend.h"

static bool is_sharded(const pool_span *span)
{
    return span->count && span->space == POOL_MEMORY_SHARDED;
}

static uint64_t column_elements(const struct ntt_extend_division *division, const pool_span *span)
{
    const pool_ntt_extend_params *params = &division->params;
    const bool is_extended = span == &division->spans.out;

    return UINT64_C(1) << (params->domain->log_size - (is_extended ? 0 : params->log_blowup));
}

static pool_status check_spans(const char *call, const struct ntt_extend_division *division)
{
    const struct ntt_extend_spans *spans = &division->spans;
    pool_status status = devices_check_span(call, &division->devices, &spans->in, "in");

    if (!status && spans->coefficients.count)
        status = devices_check_span(call, &division->devices, &spans->coefficients, "coefficients");
    return status ? status : devices_check_span(call, &division->devices, &spans->out, "out");
}

static bool has_host_memory(const struct ntt_extend_spans *spans)
{
    return !is_sharded(&spans->in) || !is_sharded(&spans->out) ||
           (spans->coefficients.count && !is_sharded(&spans->coefficients));
}

/* A span in host memory holds interleaved columns, of which no part is a span. */
static pool_status check_layout(const char *call, const struct ntt_extend_division *division)
{
    if (division->params.layout == POOL_NTT_ROWS || division->params.batch == 1 ||
        !has_host_memory(&division->spans))
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "%s: `layout` POOL_NTT_COLUMNS of a batch in host memory is not supported with "
        "`device_count` %u; it must be POOL_NTT_ROWS",
        call, division->devices.count);
}

/* The shards of `span` must have the columns of each device. */
static pool_status check_shards(const char *call, const struct ntt_extend_division *division,
    const pool_span *span, const char *name)
{
    const uint64_t column = column_elements(division, span);
    const pool_span *shards = span->data;

    for (uint32_t i = 0; is_sharded(span) && i < division->devices.count; i++) {
        const uint64_t columns = division->first[i + 1] - division->first[i];

        if (shards[i].count != columns * column)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: shard %u of `%s` has %llu elements; %llu columns of %llu have %llu", call, i,
                name, (unsigned long long)shards[i].count, (unsigned long long)columns,
                (unsigned long long)column, (unsigned long long)(columns * column));
    }
    return POOL_OK;
}

static pool_status divide_columns(const char *call, struct ntt_extend_division *division)
{
    const struct ntt_extend_spans *spans = &division->spans;
    const pool_span *by = is_sharded(&spans->in)    ? &spans->in
                          : is_sharded(&spans->out) ? &spans->out
                                                    : &spans->coefficients;
    pool_status status;

    if (is_sharded(by)) {
        devices_divide(&division->devices, by, 1, division->first);
        for (uint32_t i = 0; i <= division->devices.count; i++)
            division->first[i] /= column_elements(division, by);
    } else {
        devices_split(&division->devices, division->params.batch, 1, division->first);
    }
    status = check_shards(call, division, &spans->in, "in");
    if (!status)
        status = check_shards(call, division, &spans->coefficients, "coefficients");
    return status ? status : check_shards(call, division, &spans->out, "out");
}

pool_status ntt_extend_divide(const char *call, struct ntt_extend_division *division)
{
    pool_status status = devices_read(call, &division->exec, &division->devices);

    if (!status)
        status = check_spans(call, division);
    if (!status)
        status = check_layout(call, division);
    return status ? status : divide_columns(call, division);
}

/* ---- parts ----------------------------------------------------------------------------------- */

struct part {
    pool_ntt_extend_params params; /* batch 0: the device has no columns */
    struct ntt_extend_spans spans;
};

static pool_span span_of_part(
    const struct ntt_extend_division *division, const pool_span *span, uint32_t index)
{
    const uint64_t column = column_elements(division, span);
    uint64_t first[EXEC_MAX_DEVICES + 1];

    if (!span->count)
        return *span;
    for (uint32_t i = 0; i <= division->devices.count; i++)
        first[i] = division->first[i] * column;
    return devices_part(span, division->params.domain->field->bytes, index, first);
}

static struct part part_of(const struct ntt_extend_division *division, uint32_t index)
{
    struct part part = {.params = division->params,
        .spans = {.in = span_of_part(division, &division->spans.in, index),
            .coefficients = span_of_part(division, &division->spans.coefficients, index),
            .out = span_of_part(division, &division->spans.out, index)}};

    part.params.batch = division->first[index + 1] - division->first[index];
    return part;
}

pool_status ntt_extend_compute_part(
    const struct ntt_extend_division *division, uint32_t index, const pool_exec *exec)
{
    const struct part part = part_of(division, index);

    return part.params.batch
               ? ntt_extend_compute(&part.params, exec, &part.spans, division->first[index])
               : POOL_OK;
}

pool_status ntt_extend_forecast_part(const struct ntt_extend_division *division, uint32_t index,
    const pool_exec *exec, uint64_t *bytes)
{
    const struct part part = part_of(division, index);
    const struct ntt_extend_spans *spans = &part.spans;

    *bytes = 0;
    if (!part.params.batch)
        return POOL_OK;
    return pool_ntt_extend_workspace(&part.params, exec, &spans->in,
        spans->coefficients.count ? &spans->coefficients : NULL, &spans->out, bytes);
}

static pool_status compute_part(void *user, uint32_t index, const pool_exec *exec)
{
    return ntt_extend_compute_part(user, index, exec);
}

static pool_status forecast_part(void *user, uint32_t index, const pool_exec *exec, uint64_t *bytes)
{
    return ntt_extend_forecast_part(user, index, exec, bytes);
}

static struct parts parts_of(const struct ntt_extend_division *division)
{
    return (struct parts){.call = "pool_ntt_extend",
        .exec = &division->exec,
        .devices = &division->devices,
        .total = division->spans.out.count,
        .only_enqueues = !has_host_memory(&division->spans),
        .compute = compute_part,
        .forecast = forecast_part,
        .user = (void *)(uintptr_t)division};
}

pool_status ntt_extend_run_division(const struct ntt_extend_division *division)
{
    const struct parts parts = parts_of(division);
    pool_status status = parts_check_workspaces(&parts);

    return status ? status : parts_run(&parts);
}

pool_status ntt_extend_forecast_division(
    const struct ntt_extend_division *division, uint64_t *bytes)
{
    const struct parts parts = parts_of(division);

    return parts_forecast(&parts, bytes);
}
