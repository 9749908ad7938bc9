/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_msm over several devices. As many MSMs as devices or more are distributed whole; each of the
 * others is split between the points, and its parts' results are added on the host. Each device's
 * MSMs are calls of its own.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/msm/call.h"

/* MSMs 0 to whole - 1 are distributed, as the division's items; the others are split. */
struct split {
    uint64_t count; /* points of an MSM */
    uint64_t whole;
    uint64_t first_point[EXEC_MAX_DEVICES + 1]; /* of each split MSM */
    uint64_t first_base[EXEC_MAX_DEVICES + 1];  /* of the devices' bases, where these are shards */
    uint8_t partials[]; /* of split MSM s and device i at s * device_count + i */
};

static const pool_point_format partial_format = {POOL_POINT_JACOBIAN, POOL_FORM_MONTGOMERY, 0};

static bool has_shards_of_bases(const struct msm_call *call)
{
    return call->params.device_bases && !call->params.replicated_bases;
}

static bool has_shards(const pool_span *span)
{
    return span && span->space == POOL_MEMORY_SHARDED;
}

/* The index in the bases of an MSM's first one. */
static uint64_t base_of_msm(const struct msm_call *call, const struct split *split, uint64_t msm)
{
    return call->params.first_base + (call->params.shared_bases ? 0 : msm * split->count);
}

/* ---- validation and division ----------------------------------------------------------------- */

static pool_status check_bases_of_devices(
    const char *call, const pool_msm_params *params, const pool_exec *exec)
{
    if (params->device_bases && !exec->device_count)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: `device_bases` is given and `device_count` is 0", call);
    if (params->bases && exec->device_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `bases` cannot be combined with `device_count` %u; `device_bases` has those of "
            "each device",
            call, exec->device_count);
    if (params->replicated_bases && !params->device_bases)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 1 for `replicated_bases`; it must be 0 without `device_bases`",
            call);
    return POOL_OK;
}

/* One MSM can be sharded: its scalars, and the points of the same shards. */
pool_status msm_check_devices(const struct msm_call *call)
{
    const uint32_t count = call->frame.exec.device_count;
    const pool_msm_params *params = &call->params;
    pool_status status = check_bases_of_devices(call->frame.name, params, &call->frame.exec);

    if (status || !count)
        return status;
    if (call->results->space != POOL_MEMORY_HOST)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_msm: unsupported value %d for `space` of `results`; with `device_count` %u it "
            "must be POOL_MEMORY_HOST",
            (int)call->results->space, count);
    if ((has_shards(call->scalars) || has_shards(call->points)) && params->batch > 1)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_msm: unsupported value %llu for `batch`; with POOL_MEMORY_SHARDED it must be 1",
            (unsigned long long)params->batch);
    return POOL_OK;
}

static pool_status check_bases(
    const struct msm_call *call, const struct devices *devices, struct split *split)
{
    const pool_msm_params *params = &call->params;
    uint64_t needed = params->shared_bases ? split->count : call->scalars->count;
    uint64_t all = 0;

    for (uint32_t i = 0; params->device_bases && i < devices->count; i++) {
        const struct pool_bases *bases = params->device_bases[i];

        if (!bases)
            return base_fail(
                POOL_ERR_INVALID_ARGUMENT, "pool_msm: `device_bases[%u]` must not be NULL", i);
        if (!device_is_same_gpu(bases->device, devices->device[i]))
            return base_fail(POOL_ERR_WRONG_DEVICE,
                "pool_msm: `device_bases[%u]` are on device %d and `devices[%u]` is %d", i,
                pool_device_ordinal(bases->device), i, pool_device_ordinal(devices->device[i]));
        if (memcmp(bases->curve->fingerprint, call->curve->fingerprint,
                sizeof(call->curve->fingerprint)) != 0)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_msm: `device_bases[%u]` are points of %s, not of %s", i, bases->curve->name,
                call->curve->name);
        split->first_base[i] = all;
        all = params->replicated_bases ? base_min(i ? all : UINT64_MAX, bases->count)
                                       : all + bases->count;
    }
    split->first_base[devices->count] = all;
    if (params->device_bases && (params->first_base > all || needed > all - params->first_base))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_msm: %llu bases from %llu on are more than the %llu of `device_bases`",
            (unsigned long long)needed, (unsigned long long)params->first_base,
            (unsigned long long)all);
    return POOL_OK;
}

/* Partial results are added by the calling thread. */
static pool_status check_async(const struct msm_call *call, uint64_t whole)
{
    if (call->frame.is_forecast || !call->frame.exec.is_async || whole == call->params.batch)
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "pool_msm: `is_async` is not supported with `device_count` %u where MSMs are split; it "
        "must be 0, or `batch`, which is %llu, a multiple of `device_count`, with operands and "
        "bases of which each device has whole MSMs",
        call->frame.exec.device_count, (unsigned long long)call->params.batch);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* NULL in forecasts, which have no results. */
static uint8_t *partial_of(
    const struct operation_division *division, uint64_t split_msm, uint32_t index)
{
    const struct msm_call *call = (const void *)division->call;
    struct split *split = division->memory;

    if (call->frame.is_forecast)
        return NULL;
    return split->partials + (split_msm * division->devices.count + index) *
                                 pool_point_bytes(call->curve, partial_format.layout);
}

/* The items from `first` on, or the device's shard. */
static const pool_span *slice(
    struct msm_call *part, enum msm_operand operand, uint32_t index, uint64_t first, uint64_t count)
{
    const pool_span *span = operation_operand(&part->frame, operand);
    const uint64_t ends[] = {first, first + count};

    part->frame.part[operand] =
        devices_part(span, part->frame.item[operand].bytes, has_shards(span) ? index : 0, ends);
    return &part->frame.part[operand];
}

static void set_bases(
    struct msm_call *part, const struct split *split, uint32_t index, uint64_t base)
{
    const bool is_sharded = has_shards_of_bases(part);

    if (!part->params.device_bases)
        return;
    part->params.bases = part->params.device_bases[index];
    part->params.first_base = base - (is_sharded ? split->first_base[index] : 0);
    part->params.device_bases = NULL;
    part->params.replicated_bases = 0;
    part->curve = part->params.bases->curve;
}

static void make_whole(struct msm_call *part, const struct operation_division *division,
    const struct split *split, uint32_t index)
{
    const uint64_t first = division->first[index], msms = division->first[index + 1] - first;
    const uint64_t n = split->count;

    part->params.batch = msms;
    part->first_scalar = first * n;
    if (part->points && !part->params.shared_bases) {
        part->points = slice(part, MSM_POINTS, index, first * n, msms * n);
        part->first_point = first * n;
    }
    part->scalars = slice(part, MSM_SCALARS, index, first * n, msms * n);
    part->results = slice(part, MSM_RESULTS, index, first, msms);
    set_bases(part, split, index, base_of_msm(part, split, first));
}

/* The device's points of an MSM. */
static void find_points(const struct msm_call *call, const struct split *split, uint32_t index,
    uint64_t msm, uint64_t *first, uint64_t *end)
{
    const uint64_t base = base_of_msm(call, split, msm), last = base + split->count;

    *first = split->first_point[index];
    *end = split->first_point[index + 1];
    if (!has_shards_of_bases(call))
        return;
    *first = base_min(base_max(split->first_base[index], base), last) - base;
    *end = base_min(base_max(split->first_base[index + 1], base), last) - base;
}

static void make_split(struct msm_call *part, const struct operation_division *division,
    const struct split *split, uint32_t index, uint64_t msm)
{
    const uint64_t at = msm * split->count, at_point = part->params.shared_bases ? 0 : at;
    uint64_t first, end;

    find_points(part, split, index, msm, &first, &end);
    part->first_scalar = at + first;
    part->first_point = at_point + first;
    part->scalars = slice(part, MSM_SCALARS, index, at + first, end - first);
    if (part->points)
        part->points = slice(part, MSM_POINTS, index, at_point + first, end - first);
    part->frame.part[MSM_RESULTS] =
        (pool_span){.data = partial_of(division, msm - split->whole, index),
            .count = 1,
            .form = partial_format.form};
    part->results = &part->frame.part[MSM_RESULTS];
    set_bases(part, split, index,
        first < end ? base_of_msm(part, split, msm) + first : split->first_base[index]);
    part->params.batch = 1;
    part->params.shared_bases = 0;
    part->params.result_layout = partial_format.layout;
}

bool msm_make_part(const void *call, const struct operation_division *division, uint32_t index,
    uint32_t number, void *part)
{
    const struct split *split = division->memory;
    const bool has_whole = division->first[index + 1] > division->first[index];
    const uint64_t msm = split->whole + number - has_whole;
    const pool_msm_params *params = &((const struct msm_call *)call)->params;

    if (has_whole && !number)
        make_whole(part, division, split, index);
    else if (msm < params->batch)
        make_split(part, division, split, index, msm);
    else
        return false;
    return true;
}

/* ---- the division ---------------------------------------------------------------------------- */

static pool_status add_partials(struct operation_division *division)
{
    const struct msm_call *call = (const void *)division->call;
    const struct split *split = division->memory;
    const pool_point_format format = {
        call->params.result_layout, call->results->form, call->results->stride};

    for (uint64_t msm = split->whole; msm < call->params.batch; msm++) {
        struct curve_jacobian sum, partial;

        curve_jacobian_set_infinity(call->curve, &sum);
        for (uint32_t i = 0; i < division->devices.count; i++) {
            const char *reason = curve_load(call->curve, &partial, &partial_format,
                partial_of(division, msm - split->whole, i));

            if (reason)
                return base_fail(POOL_ERR_INTERNAL,
                    "pool_msm: the partial result of device %d is invalid: %s",
                    pool_device_ordinal(division->devices.device[i]), reason);
            curve_jacobian_add(call->curve, &sum, &sum, &partial);
        }
        curve_store(call->curve, &format,
            (uint8_t *)call->results->data + msm * curve_point_stride(call->curve, &format), &sum);
    }
    return POOL_OK;
}

pool_status msm_divide(void *user, struct operation_division *division)
{
    const struct msm_call *call = user;
    const struct devices *devices = &division->devices;
    const uint64_t batch = call->params.batch;
    const bool is_sharded =
        has_shards_of_bases(call) || has_shards(call->scalars) || has_shards(call->points);
    const uint64_t whole = is_sharded ? 0 : batch - batch % devices->count;
    const uint64_t partials = call->frame.is_forecast ? 0 : (batch - whole) * devices->count;
    const pool_span *shards = has_shards(call->points) ? call->points : call->scalars;
    struct split *split = base_calloc(
        1, sizeof(*split) + partials * pool_point_bytes(call->curve, partial_format.layout));
    pool_status status = split ? POOL_OK : base_fail_memory("partial results of MSMs");

    division->memory = split;
    if (status)
        return status;
    split->count = call->scalars->count / batch;
    split->whole = whole;
    division->finish = add_partials;
    status = check_bases(call, devices, split);
    if (!status)
        status = check_async(call, whole);
    devices_split(devices, whole, 1, division->first);
    if (has_shards(shards))
        devices_divide(devices, shards, 1, split->first_point);
    else
        devices_split(devices, split->count, 1, split->first_point);
    return status;
}
