/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ntt over several devices: at least as many transforms as devices are distributed, each
 * device's as a call of its own; fewer are split one after the other, see split.h.
 */
#include "zk/ntt/split.h"

#include "base/status.h"

static bool is_sharded(const struct ntt_call *call)
{
    return call->in->space == POOL_MEMORY_SHARDED || call->out->space == POOL_MEMORY_SHARDED;
}

/* Whether the transforms are split over devices; else they are distributed. */
static pool_status choose_split(struct ntt_call *call, const struct devices *devices)
{
    uint32_t *log_devices = &call->log_split;
    const uint32_t log_size = call->job.log_size;
    const pool_field *field = call->frame.target.field;

    *log_devices = 0;
    if (call->params.batch >= devices->count)
        return POOL_OK;
    *log_devices = ntt_split_log_devices(log_size, devices->count);
    if (is_sharded(call) && devices->count != 1u << *log_devices)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `device_count` of sharded transforms of 2^%u "
            "points; "
            "it must be a power of two up to %u",
            call->frame.name, devices->count, log_size,
            1u << ntt_split_log_devices(log_size, UINT32_MAX));
    if (*log_devices && call->params.layout == POOL_NTT_COLUMNS && call->params.batch > 1)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: `layout` POOL_NTT_COLUMNS is not supported for %llu transforms over %u "
            "devices; it must be POOL_NTT_ROWS",
            call->frame.name, (unsigned long long)call->params.batch, devices->count);
    if (*log_devices &&
        ((call->in->space == POOL_MEMORY_HOST && !elements_are_packed(field, call->in)) ||
            (call->out->space == POOL_MEMORY_HOST && !elements_are_packed(field, call->out))))
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: a `stride` of %llu bytes is not supported for a transform over several "
            "devices; it must be 0",
            call->frame.name,
            (unsigned long long)(call->in->stride ? call->in->stride : call->out->stride));
    return POOL_OK;
}

pool_status ntt_divide(void *user, struct operation_division *division)
{
    struct ntt_call *call = user;
    const pool_ntt_params *params = &call->params;
    pool_status status =
        operation_check_layout(division, params->layout != POOL_NTT_ROWS && params->batch > 1);

    if (!status)
        status = choose_split(call, &division->devices);
    division->per_unit[0] = division->per_unit[1] = UINT64_C(1) << call->job.log_size;
    if (status || !call->log_split)
        return status ? status : operation_divide_units(division, params->batch, "transforms");
    division->run = ntt_split_run;
    division->forecast = ntt_split_forecast;
    return POOL_OK;
}

bool ntt_part(const void *whole, const struct operation_division *division, uint32_t index,
    uint32_t number, void *user)
{
    struct ntt_call *part = user;

    (void)whole;
    part->params.batch = operation_take_units(division, index, &part->frame);
    part->first = division->first[index] << part->job.log_size;
    return !number && part->params.batch;
}
