/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutations, hashes and sponges over several devices: each computes consecutive items.
 */
#include "zk/operation/devices.h"
#include "base/status.h"
#include "zk/poseidon/run.h"

/* Items first[i] to first[i + 1] are those of device i. */
struct divided_call {
    const struct poseidon_call *call;
    struct devices devices;
    uint64_t first[EXEC_MAX_DEVICES + 1];
};

static pool_status divide(const struct poseidon_call *call, struct divided_call *divided)
{
    const pool_span *in = call->in.span, *out = call->out.span;
    bool is_by_results = in->space != POOL_MEMORY_SHARDED && out->space == POOL_MEMORY_SHARDED;
    pool_status status = devices_read(call->name, &call->exec, &divided->devices);

    divided->call = call;
    if (!status)
        status = devices_check_span(call->name, &divided->devices, in, call->in.name);
    if (!status)
        status = devices_check_span(call->name, &divided->devices, out, call->out.name);
    if (!status && is_by_results && out->count != in->count)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the shards of `%s` have %llu items, the call writes %llu", call->name,
            call->out.name, (unsigned long long)out->count, (unsigned long long)in->count);
    if (!status)
        devices_divide(&divided->devices, is_by_results ? out : in, 1, divided->first);
    return status;
}

/* A device's part as a call on that device. */
struct part {
    struct poseidon_call call;
    pool_span in;
    pool_span out;
};

static pool_status read_part(
    const struct divided_call *divided, uint32_t index, const pool_exec *exec, struct part *part)
{
    const struct poseidon_call *call = divided->call;
    const uint64_t bytes = call->set->field->bytes, *first = divided->first;
    pool_status status;

    part->call = *call;
    part->in = devices_part(call->in.span, call->in.elements * bytes, index, first);
    part->out = devices_part(call->out.span, call->out.elements * bytes, index, first);
    part->call.in.span = &part->in;
    part->call.out.span = &part->out;
    part->call.first = first[index];
    status = poseidon_read_exec(call->name, call->set, exec, &part->call.exec);
    if (!status)
        status = poseidon_check_operands(call->name, call->set->field, &part->call.exec,
            &part->call.in, &part->call.out, part->in.count);
    return status;
}

static pool_status compute_part(void *user, uint32_t index, const pool_exec *exec)
{
    const struct divided_call *divided = user;
    struct part part;
    pool_status status = read_part(divided, index, exec, &part);

    if (!status)
        status = poseidon_check_data(part.call.name, &part.call.in);
    if (!status)
        status = poseidon_check_data(part.call.name, &part.call.out);
    return status ? status : poseidon_device_run(&part.call);
}

static pool_status forecast_part(void *user, uint32_t index, const pool_exec *exec, uint64_t *bytes)
{
    struct part part;
    pool_status status = read_part(user, index, exec, &part);

    return status ? status : poseidon_device_forecast(&part.call, bytes);
}

static struct parts parts_of(struct divided_call *divided)
{
    return (struct parts){.call = divided->call->name,
        .exec = &divided->call->exec,
        .devices = &divided->devices,
        .total = divided->call->in.span->count,
        .only_enqueues = divided->call->in.span->space == POOL_MEMORY_SHARDED &&
                         divided->call->out.span->space == POOL_MEMORY_SHARDED,
        .compute = compute_part,
        .forecast = forecast_part,
        .user = divided};
}

pool_status poseidon_devices_run(const struct poseidon_call *call)
{
    struct divided_call divided = {.call = call};
    const struct parts parts = parts_of(&divided);
    pool_status status = divide(call, &divided);

    if (!status)
        status = parts_check_workspaces(&parts);
    return status ? status : parts_run(&parts);
}

pool_status poseidon_devices_forecast(const struct poseidon_call *call, uint64_t *bytes)
{
    struct divided_call divided = {.call = call};
    const struct parts parts = parts_of(&divided);
    pool_status status = divide(call, &divided);

    return status ? status : parts_forecast(&parts, bytes);
}
