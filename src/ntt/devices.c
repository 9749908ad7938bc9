/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ntt over several devices: at least as many transforms as devices are dealt out, each
 * device's as a call of its own; fewer are split one after the other, see split.h.
 */
#include "ntt/split.h"

#include "base/status.h"

/* Elements first[i] to first[i + 1] are those of device i. */
struct divided_call {
    const struct ntt_call *call;
    struct memory_devices devices;
    uint64_t first[MEMORY_MAX_DEVICES + 1];
};

static pool_status check_spans(const struct ntt_call *call, const struct memory_devices *devices)
{
    const pool_field *field = call->target.field;
    pool_status status = memory_devices_check_span("pool_ntt", devices, &call->in, "in");

    if (!status)
        status = memory_devices_check_span("pool_ntt", devices, &call->out, "out");
    if (!status)
        status = ntt_check_count(&call->params, &call->in, "input");
    if (!status)
        status = ntt_check_count(&call->params, &call->out, "output");
    if (!status && call->in.space == POOL_MEMORY_HOST)
        status = memory_elements_check(&call->target, &call->in, "input");
    if (!status && call->out.space == POOL_MEMORY_HOST)
        status = memory_elements_check(&call->target, &call->out, "output");
    if (!status && call->in.space == POOL_MEMORY_HOST && call->out.space == POOL_MEMORY_HOST)
        status = memory_elements_check_overlap(field, &call->in, &call->out, 1);
    return status;
}

/* A span in host memory holds interleaved transforms, of which no part is a span. */
static pool_status check_layout(const struct ntt_call *call)
{
    bool is_on_host = call->in.space == POOL_MEMORY_HOST || call->out.space == POOL_MEMORY_HOST;

    if (call->params.layout == POOL_NTT_ROWS || call->params.batch == 1 || !is_on_host)
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "pool_ntt: `layout` POOL_NTT_COLUMNS of a batch in host memory is not supported with "
        "`device_count` %u; it must be POOL_NTT_ROWS",
        call->exec.device_count);
}

static bool is_sharded(const struct ntt_call *call)
{
    return call->in.space == POOL_MEMORY_SHARDED || call->out.space == POOL_MEMORY_SHARDED;
}

/* log2 of the devices that the transforms are split over; 0: they are dealt out. */
static pool_status choose_split(
    const struct ntt_call *call, const struct memory_devices *devices, uint32_t *log_devices)
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
        ((call->in.space == POOL_MEMORY_HOST && !memory_elements_are_packed(field, &call->in)) ||
            (call->out.space == POOL_MEMORY_HOST &&
                !memory_elements_are_packed(field, &call->out))))
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_ntt: a `stride` of %llu bytes is not supported for a transform over several "
            "devices; it must be 0",
            (unsigned long long)(call->in.stride ? call->in.stride : call->out.stride));
    return POOL_OK;
}

static pool_status read_devices(
    const struct ntt_call *call, struct memory_devices *devices, uint32_t *log_devices)
{
    pool_status status = memory_devices_read("pool_ntt", &call->exec, devices);

    if (!status)
        status = check_spans(call, devices);
    if (!status)
        status = check_layout(call);
    return status ? status : choose_split(call, devices, log_devices);
}

static pool_status divide(const struct ntt_call *call, struct divided_call *divided)
{
    const uint64_t n = UINT64_C(1) << call->job.log_size;
    const pool_span *spans[] = {&call->in, &call->out};

    divided->call = call;
    memory_devices_divide(&divided->devices,
        spans[call->in.space != POOL_MEMORY_SHARDED && call->out.space == POOL_MEMORY_SHARDED], n,
        divided->first);
    for (uint32_t i = 0; i < divided->devices.count; i++)
        if (divided->first[i] % n)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_ntt: shard %u has %llu elements; a batch is divided between transforms of "
                "2^%u",
                i - 1, (unsigned long long)(divided->first[i] - divided->first[i - 1]),
                call->job.log_size);
    return POOL_OK;
}

struct part {
    pool_ntt_params params; /* batch 0: the device has no transforms */
    pool_span in;
    pool_span out;
};

static struct part part_of(const struct divided_call *divided, uint32_t index)
{
    const struct ntt_call *call = divided->call;
    const uint64_t bytes = call->target.field->bytes, *first = divided->first;
    struct part part = {.params = call->params,
        .in = memory_devices_part(&call->in, bytes, index, first),
        .out = memory_devices_part(&call->out, bytes, index, first)};

    part.params.batch = (first[index + 1] - first[index]) >> call->job.log_size;
    return part;
}

static pool_status compute_part(void *user, uint32_t index, const pool_exec *exec)
{
    const struct divided_call *divided = user;
    const struct part part = part_of(divided, index);

    return part.params.batch
               ? ntt_compute(&part.params, exec, &part.in, &part.out, divided->first[index])
               : POOL_OK;
}

static pool_status forecast_part(void *user, uint32_t index, const pool_exec *exec, uint64_t *bytes)
{
    const struct part part = part_of(user, index);

    return part.params.batch ? ntt_forecast(&part.params, exec, &part.in, &part.out, bytes)
                             : POOL_OK;
}

static struct memory_parts parts_of(struct divided_call *divided)
{
    return (struct memory_parts){.call = "pool_ntt",
        .exec = &divided->call->exec,
        .devices = &divided->devices,
        .total = divided->call->in.count,
        .only_enqueues = divided->call->in.space == POOL_MEMORY_SHARDED &&
                         divided->call->out.space == POOL_MEMORY_SHARDED,
        .compute = compute_part,
        .forecast = forecast_part,
        .user = divided};
}

static pool_status run_split(
    const struct ntt_call *call, const struct memory_devices *devices, uint32_t log_devices)
{
    uint64_t needed[MEMORY_MAX_DEVICES];
    pool_status status = POOL_OK;

    if (call->exec.workspaces)
        status = ntt_split_workspace(call, devices, log_devices, needed);
    if (!status)
        status = memory_devices_check_workspaces("pool_ntt", devices, &call->exec, needed);
    return status ? status : ntt_split_run(call, devices, log_devices);
}

pool_status ntt_run_on_devices(const struct ntt_call *call)
{
    struct divided_call divided = {.call = call};
    const struct memory_parts parts = parts_of(&divided);
    uint32_t log_devices = 0;
    pool_status status = read_devices(call, &divided.devices, &log_devices);

    if (!status && log_devices)
        return run_split(call, &divided.devices, log_devices);
    if (!status)
        status = divide(call, &divided);
    if (!status)
        status = memory_parts_check_workspaces(&parts);
    return status ? status : memory_parts_run(&parts);
}

pool_status ntt_workspace_on_devices(const struct ntt_call *call, uint64_t *bytes)
{
    struct divided_call divided = {.call = call};
    const struct memory_parts parts = parts_of(&divided);
    uint32_t log_devices = 0;
    pool_status status = read_devices(call, &divided.devices, &log_devices);

    if (!status && log_devices)
        return ntt_split_workspace(call, &divided.devices, log_devices, bytes);
    if (!status)
        status = divide(call, &divided);
    return status ? status : memory_parts_forecast(&parts, bytes);
}
