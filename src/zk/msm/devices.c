/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_msm over several devices. As many MSMs as devices or more are dealt out whole; each of the
 * others is split between the points, and its parts' results are added on the host. Each device's
 * MSMs are calls of its own.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/msm/call.h"
#include "zk/operation/devices.h"

/* MSMs 0 to whole - 1 are dealt out, device i having first_msm[i] to first_msm[i + 1]. */
struct divided_msm {
    const struct msm_call *call;
    uint64_t count; /* points of an MSM */
    uint64_t whole;
    struct devices devices;
    uint64_t first_msm[EXEC_MAX_DEVICES + 1];
    uint64_t first_point[EXEC_MAX_DEVICES + 1]; /* of each split MSM */
    uint64_t first_base[EXEC_MAX_DEVICES + 1];  /* of the devices' bases, where these are shards */
    uint8_t *partials; /* of split MSM s and device i at s * devices.count + i */
};

static const pool_point_format partial_format = {POOL_POINT_JACOBIAN, POOL_FORM_MONTGOMERY, 0};

static uint64_t scalar_bytes(const struct divided_msm *divided)
{
    return divided->call->curve->scalar_field->bytes;
}

static uint64_t point_bytes(const struct divided_msm *divided)
{
    return pool_point_bytes(divided->call->curve, divided->call->params.point_layout);
}

static bool has_shards_of_bases(const struct divided_msm *divided)
{
    const pool_msm_params *params = &divided->call->params;

    return params->device_bases && !params->replicated_bases;
}

/* The index in the bases of an MSM's first one. */
static uint64_t base_of_msm(const struct divided_msm *divided, uint64_t msm)
{
    const pool_msm_params *params = &divided->call->params;

    return params->first_base + (params->shared_bases ? 0 : msm * divided->count);
}

/* ---- validation and division ----------------------------------------------------------------- */

static pool_status check_bases(struct divided_msm *divided)
{
    const struct msm_call *call = divided->call;
    const pool_msm_params *params = &call->params;
    uint64_t needed = params->shared_bases ? divided->count : call->scalars.count;
    uint64_t all = 0;

    for (uint32_t i = 0; i < divided->devices.count; i++) {
        const struct pool_bases *bases = params->device_bases[i];

        if (!bases)
            return base_fail(
                POOL_ERR_INVALID_ARGUMENT, "pool_msm: `device_bases[%u]` must not be NULL", i);
        if (bases->device != divided->devices.device[i])
            return base_fail(POOL_ERR_WRONG_DEVICE,
                "pool_msm: `device_bases[%u]` are on device %d and `devices[%u]` is %d", i,
                pool_device_ordinal(bases->device), i,
                pool_device_ordinal(divided->devices.device[i]));
        if (memcmp(bases->curve->fingerprint, call->curve->fingerprint,
                sizeof(call->curve->fingerprint)) != 0)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_msm: `device_bases[%u]` are points of %s, not of %s", i, bases->curve->name,
                call->curve->name);
        divided->first_base[i] = all;
        all = params->replicated_bases ? base_min(i ? all : UINT64_MAX, bases->count)
                                       : all + bases->count;
    }
    divided->first_base[divided->devices.count] = all;
    if (params->first_base > all || needed > all - params->first_base)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_msm: %llu bases from %llu on are more than the %llu of `device_bases`",
            (unsigned long long)needed, (unsigned long long)params->first_base,
            (unsigned long long)all);
    return POOL_OK;
}

/* One MSM can be sharded: its scalars, and the points of the same shards. */
static pool_status check_sharding(const struct divided_msm *divided)
{
    const struct msm_call *call = divided->call;
    bool has_shards =
        call->scalars.space == POOL_MEMORY_SHARDED || call->points.space == POOL_MEMORY_SHARDED;

    if (call->results.space != POOL_MEMORY_HOST)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_msm: unsupported value %d for `space` of `results`; with `device_count` %u it "
            "must be POOL_MEMORY_HOST",
            (int)call->results.space, call->exec.device_count);
    if (has_shards && call->params.batch > 1)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_msm: unsupported value %llu for `batch`; with POOL_MEMORY_SHARDED it must be 1",
            (unsigned long long)call->params.batch);
    return POOL_OK;
}

static pool_status check_host_spans(const struct msm_call *call)
{
    const pool_curve *curve = call->curve;
    const struct span_item points = {
        pool_point_bytes(curve, call->params.point_layout), "points", curve->name};
    const struct span_item results = {
        pool_point_bytes(curve, call->params.result_layout), "points", curve->name};
    const struct span_item scalars = {
        curve->scalar_field->bytes, "elements", curve->scalar_field->name};
    pool_status status = span_check(&call->site, &call->results, &results, "span of results");

    if (!status && call->scalars.space == POOL_MEMORY_HOST)
        status = span_check(&call->site, &call->scalars, &scalars, "span of scalars");
    if (!status && !call->params.device_bases && call->points.space == POOL_MEMORY_HOST)
        status = span_check(&call->site, &call->points, &points, "span of points");
    if (!status && (spans_overlap(&call->results, results.bytes, &call->scalars, scalars.bytes) ||
                       spans_overlap(&call->results, results.bytes, &call->points, points.bytes)))
        status = base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the results overlap the points or the scalars in memory");
    return status;
}

static pool_status read_division(const struct msm_call *call, struct divided_msm *divided)
{
    const uint64_t batch = call->params.batch;
    pool_status status;

    *divided = (struct divided_msm){.call = call, .count = call->scalars.count / batch};
    status = devices_read("pool_msm", &call->exec, &divided->devices);
    if (!status)
        status = check_sharding(divided);
    if (!status)
        status = devices_check_span("pool_msm", &divided->devices, &call->scalars, "scalars");
    if (!status && !call->params.device_bases)
        status = devices_check_span("pool_msm", &divided->devices, &call->points, "points");
    if (!status)
        status = check_host_spans(call);
    if (!status)
        status = msm_check_counts(call);
    if (!status && call->params.device_bases)
        status = check_bases(divided);
    if (status)
        return status;
    divided->whole = has_shards_of_bases(divided) || call->scalars.space == POOL_MEMORY_SHARDED ||
                             call->points.space == POOL_MEMORY_SHARDED
                         ? 0
                         : batch - batch % divided->devices.count;
    devices_split(&divided->devices, divided->whole, 1, divided->first_msm);
    devices_split(&divided->devices, divided->count, 1, divided->first_point);
    if (call->points.space == POOL_MEMORY_SHARDED)
        devices_divide(&divided->devices, &call->points, 1, divided->first_point);
    else if (call->scalars.space == POOL_MEMORY_SHARDED)
        devices_divide(&divided->devices, &call->scalars, 1, divided->first_point);
    return POOL_OK;
}

/* Partial results are added by the calling thread. */
static pool_status check_async(const struct divided_msm *divided)
{
    const struct msm_call *call = divided->call;

    if (!call->exec.is_async || divided->whole == call->params.batch)
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "pool_msm: `is_async` is not supported with `device_count` %u where MSMs are split; it "
        "must be 0, or `batch`, which is %llu, a multiple of `device_count`, with operands and "
        "bases of which each device has whole MSMs",
        call->exec.device_count, (unsigned long long)call->params.batch);
}

/* ---- calls of one device --------------------------------------------------------------------- */

static pool_span slice(const pool_span *span, uint64_t bytes, uint64_t first, uint64_t count)
{
    const uint64_t ends[] = {first, first + count};

    return devices_part(span, bytes, 0, ends);
}

static void set_bases(
    const struct divided_msm *divided, uint32_t index, uint64_t first_base, struct msm_part *made)
{
    made->params.device_bases = NULL;
    made->params.replicated_bases = 0;
    made->params.first_base = 0;
    if (!divided->call->params.device_bases)
        return;
    made->params.bases = divided->call->params.device_bases[index];
    made->params.first_base =
        first_base - (has_shards_of_bases(divided) ? divided->first_base[index] : 0);
}

static struct msm_part call_of_whole(const struct divided_msm *divided, uint32_t index)
{
    const struct msm_call *call = divided->call;
    const uint64_t first = divided->first_msm[index], end = divided->first_msm[index + 1];
    const uint64_t n = divided->count;
    struct msm_part made = {.params = call->params, .points = call->points};

    made.params.batch = end - first;
    made.first_scalar = first * n;
    set_bases(divided, index, base_of_msm(divided, first), &made);
    if (!call->params.device_bases && !call->params.shared_bases) {
        made.points = slice(&call->points, point_bytes(divided), first * n, (end - first) * n);
        made.first_point = first * n;
    }
    made.scalars = slice(&call->scalars, scalar_bytes(divided), first * n, (end - first) * n);
    made.results = slice(&call->results, pool_point_bytes(call->curve, call->params.result_layout),
        first, end - first);
    return made;
}

/* The device's points of an MSM. */
static void find_points(
    const struct divided_msm *divided, uint32_t index, uint64_t msm, uint64_t *first, uint64_t *end)
{
    const uint64_t base = base_of_msm(divided, msm), last = base + divided->count;

    *first = divided->first_point[index];
    *end = divided->first_point[index + 1];
    if (!has_shards_of_bases(divided))
        return;
    *first = base_min(base_max(divided->first_base[index], base), last) - base;
    *end = base_min(base_max(divided->first_base[index + 1], base), last) - base;
}

static struct msm_part call_of_part(
    const struct divided_msm *divided, uint32_t index, uint64_t msm, uint8_t *partial)
{
    const struct msm_call *call = divided->call;
    const uint64_t at = msm * divided->count, at_point = call->params.shared_bases ? 0 : at;
    struct msm_part made = {.params = call->params};
    uint64_t first, end;

    find_points(divided, index, msm, &first, &end);
    made.params.batch = 1;
    made.params.shared_bases = 0;
    made.params.result_layout = partial_format.layout;
    made.first_scalar = at + first;
    made.first_point = at_point + first;
    set_bases(divided, index,
        first < end ? base_of_msm(divided, msm) + first : divided->first_base[index], &made);
    made.scalars = call->scalars.space == POOL_MEMORY_SHARDED
                       ? devices_part(&call->scalars, 0, index, NULL)
                       : slice(&call->scalars, scalar_bytes(divided), at + first, end - first);
    if (call->points.space == POOL_MEMORY_SHARDED)
        made.points = devices_part(&call->points, 0, index, NULL);
    else if (!call->params.device_bases)
        made.points = slice(&call->points, point_bytes(divided), at_point + first, end - first);
    made.results = (pool_span){.data = partial, .count = 1, .form = partial_format.form};
    return made;
}

static uint8_t *partial_of(const struct divided_msm *divided, uint64_t msm, uint32_t index)
{
    const uint64_t bytes = pool_point_bytes(divided->call->curve, partial_format.layout);

    return divided->partials + ((msm - divided->whole) * divided->devices.count + index) * bytes;
}

static pool_status compute_part(void *user, uint32_t index, const pool_exec *exec)
{
    const struct divided_msm *divided = user;
    pool_status status = POOL_OK;

    if (divided->first_msm[index + 1] > divided->first_msm[index]) {
        const struct msm_part whole = call_of_whole(divided, index);

        status = msm_compute_part(divided->call->tuning, &whole, exec);
    }
    for (uint64_t msm = divided->whole; msm < divided->call->params.batch && !status; msm++) {
        const struct msm_part part =
            call_of_part(divided, index, msm, partial_of(divided, msm, index));

        status = msm_compute_part(divided->call->tuning, &part, exec);
    }
    return status;
}

/* ---- results --------------------------------------------------------------------------------- */

static pool_status add_partials(const struct divided_msm *divided)
{
    const struct msm_call *call = divided->call;
    const pool_point_format format = {
        call->params.result_layout, call->results.form, call->results.stride};

    for (uint64_t msm = divided->whole; msm < call->params.batch; msm++) {
        struct curve_jacobian sum, partial;

        curve_jacobian_set_infinity(call->curve, &sum);
        for (uint32_t i = 0; i < divided->devices.count; i++) {
            const char *reason =
                curve_load(call->curve, &partial, &partial_format, partial_of(divided, msm, i));

            if (reason)
                return base_fail(POOL_ERR_INTERNAL,
                    "pool_msm: the partial result of device %d is invalid: %s",
                    pool_device_ordinal(divided->devices.device[i]), reason);
            curve_jacobian_add(call->curve, &sum, &sum, &partial);
        }
        curve_store(call->curve, &format,
            (uint8_t *)call->results.data + msm * curve_point_stride(call->curve, &format), &sum);
    }
    return POOL_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The most of the device's MSMs, which are computed one after another. */
static pool_status forecast_device(
    const struct divided_msm *divided, uint32_t index, uint64_t *needed)
{
    const struct msm_call *call = divided->call;
    const pool_exec exec = devices_exec(&divided->devices, &call->exec, index);
    pool_status status = POOL_OK;

    *needed = 0;
    for (uint64_t msm = divided->whole; !status && msm <= call->params.batch; msm++) {
        bool is_whole = msm == call->params.batch;
        struct msm_part made;
        uint64_t one = 0;

        if (is_whole && divided->first_msm[index + 1] == divided->first_msm[index])
            continue;
        made = is_whole ? call_of_whole(divided, index) : call_of_part(divided, index, msm, NULL);
        status = pool_msm_workspace(&made.params, &exec,
            call->params.device_bases ? NULL : &made.points, &made.scalars, &made.results, &one);
        *needed = base_max(*needed, one);
    }
    return status;
}

static pool_status forecast(const struct divided_msm *divided, uint64_t *needed)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; !status && i < divided->devices.count; i++)
        status = forecast_device(divided, i, &needed[i]);
    return status;
}

static pool_status check_workspaces(const struct divided_msm *divided)
{
    const pool_exec *exec = &divided->call->exec;
    uint64_t needed[EXEC_MAX_DEVICES];
    pool_status status;

    if (!exec->workspaces)
        return POOL_OK;
    status = forecast(divided, needed);
    return status ? status : devices_check_workspaces("pool_msm", &divided->devices, exec, needed);
}

pool_status msm_devices_run(const struct msm_call *call)
{
    struct divided_msm divided;
    const struct parts parts = {.call = "pool_msm",
        .exec = &call->exec,
        .devices = &divided.devices,
        .total = call->scalars.count,
        .compute = compute_part,
        .user = &divided};
    pool_status status = read_division(call, &divided);
    uint64_t partials;

    if (!status)
        status = check_async(&divided);
    if (!status)
        status = check_workspaces(&divided);
    if (status)
        return status;
    partials = (call->params.batch - divided.whole) * divided.devices.count;
    divided.partials =
        base_calloc(partials + 1, pool_point_bytes(call->curve, partial_format.layout));
    if (!divided.partials)
        return base_fail_memory("partial results of MSMs");
    status = parts_run(&parts);
    if (!status)
        status = add_partials(&divided);
    base_free(divided.partials);
    return status;
}

pool_status msm_devices_workspace(const struct msm_call *call, uint64_t *bytes)
{
    uint64_t needed[EXEC_MAX_DEVICES];
    struct divided_msm divided;
    pool_status status = read_division(call, &divided);

    if (!status)
        status = forecast(&divided, needed);
    for (uint32_t i = 0; !status && i < divided.devices.count; i++)
        bytes[i] = needed[i];
    return status;
}
