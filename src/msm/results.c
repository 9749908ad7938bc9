/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results from the sets' sums to the caller's memory, which is written when all sums are there.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "msm/call.h"

static uint64_t result_stride(const struct msm_call *call)
{
    return memory_span_stride(&call->results, call->result_bytes);
}

static uint64_t sum_bytes(const struct msm_call *call)
{
    return call->cut.groups * 2 * msm_affine_bytes(call->curve);
}

/* Sums that the next run would write over. */
static pool_status keep_sums(struct msm_call *call, const struct msm_piece *piece)
{
    uint64_t bytes = sum_bytes(call);
    const struct msm_copy copy = {.in = call->address + call->plan.window_sums_at,
        .out = call->address + call->cut.sums_at + piece->sum * bytes,
        .in_stride = bytes,
        .out_stride = bytes,
        .count = piece->sums,
        .bytes = bytes};

    return msm_cut_is_one_run(call, &call->cut) ? POOL_OK : msm_copy_strided(&call->run, &copy);
}

pool_status msm_deliver_run(struct msm_call *call, const struct msm_piece *piece)
{
    struct msm_target target = {
        .results = call->address + call->cut.results_at + piece->sum * call->result_bytes,
        .stride = call->result_bytes,
        .layout = call->params.result_layout,
        .form = call->results.form};

    if (msm_call_combines_on_host(call))
        return keep_sums(call, piece);
    if (msm_call_is_direct(call, &call->cut)) {
        target.results = (CUdeviceptr)(uintptr_t)call->results.data;
        target.stride = result_stride(call);
    }
    return msm_run_combine(&call->run, &target);
}

/* Packed results in the workspace to where they belong on the device. */
static pool_status spread_on_device(struct msm_call *call)
{
    const struct msm_copy copy = {.in = call->address + call->cut.results_at,
        .out = (CUdeviceptr)(uintptr_t)call->results.data,
        .in_stride = call->result_bytes,
        .out_stride = result_stride(call),
        .count = call->results.count,
        .bytes = call->result_bytes};

    return msm_copy_strided(&call->run, &copy);
}

/* What lies between strided results is the caller's. */
static pool_status spread_on_host(struct msm_call *call)
{
    uint64_t bytes = call->results.count * call->result_bytes;
    uint8_t *packed = base_calloc((size_t)bytes + 1, 1);
    pool_status status;

    if (!packed)
        return base_fail_memory("results on their way to strided memory");
    status =
        pool_copy_to_host(packed, call->workspace, call->cut.results_at, bytes, call->site.stream);
    if (!status)
        status = pool_stream_synchronize(call->site.stream);
    for (uint64_t i = 0; !status && i < call->results.count; i++)
        memcpy((uint8_t *)call->results.data + i * result_stride(call),
            packed + i * call->result_bytes, call->result_bytes);
    base_free(packed);
    return status;
}

/* Pinned memory: each result is a copy in the order of the stream. */
static pool_status enqueue_to_host(struct msm_call *call)
{
    bool is_packed = result_stride(call) == call->result_bytes;
    uint64_t copies = is_packed ? 1 : call->results.count;
    uint64_t bytes = call->results.count * call->result_bytes / copies;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; !status && i < copies; i++)
        status = pool_copy_to_host((uint8_t *)call->results.data + i * result_stride(call),
            call->workspace, call->cut.results_at + i * bytes, bytes, call->site.stream);
    return status;
}

/* Coordinates to the span itself, or packed to the workspace and from there. */
static pool_status put_combined(struct msm_call *call, const void *sums)
{
    pool_point_format format = {call->params.result_layout, call->results.form, 0};
    struct msm_plan plan = call->plan;
    uint64_t bytes = call->params.batch * call->result_bytes;
    pool_status status;
    uint8_t *packed;

    plan.job.batch = call->params.batch;
    if (call->results.place == POOL_MEMORY_HOST) {
        format.stride = call->results.stride;
        msm_combine_on_host(call->curve, &plan, sums, call->results.data, &format);
        return POOL_OK;
    }
    packed = base_calloc((size_t)bytes, 1);
    if (!packed)
        return base_fail_memory("results on their way to the device");
    msm_combine_on_host(call->curve, &plan, sums, packed, &format);
    status = pool_copy_to_device(
        call->workspace, call->cut.results_at, packed, bytes, call->site.stream);
    if (!status)
        status = spread_on_device(call);
    base_free(packed);
    return status;
}

static pool_status combine_on_host(struct msm_call *call)
{
    uint64_t at =
        msm_cut_is_one_run(call, &call->cut) ? call->plan.window_sums_at : call->cut.sums_at;
    uint64_t bytes = call->params.batch * sum_bytes(call);
    uint8_t *sums = base_calloc((size_t)bytes, 1);
    pool_status status;

    if (!sums)
        return base_fail_memory("the sums of sets");
    status = pool_copy_to_host(sums, call->workspace, at, bytes, call->site.stream);
    if (!status)
        status = pool_stream_synchronize(call->site.stream);
    if (!status)
        status = put_combined(call, sums);
    base_free(sums);
    return status;
}

pool_status msm_deliver_all(struct msm_call *call)
{
    if (msm_call_combines_on_host(call))
        return combine_on_host(call);
    if (msm_call_is_direct(call, &call->cut))
        return POOL_OK;
    if (call->results.place == POOL_MEMORY_DEVICE)
        return spread_on_device(call);
    return call->enqueues_results ? enqueue_to_host(call) : spread_on_host(call);
}
