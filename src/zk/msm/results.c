/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combines the window sums of each sub-batch and writes the results to the caller's memory once the
 * whole batch is done.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "zk/msm/call.h"

static uint64_t result_stride(const struct msm_call *call)
{
    return span_stride(call->results, call->job.result_bytes);
}

static uint64_t window_sum_bytes(const struct msm_call *call)
{
    return call->run.plan->sets_per_msm * 2 * msm_affine_bytes(call->curve);
}

/* Copies the window sums of a sub-batch, which the next one would overwrite. */
static pool_status save_window_sums(struct msm_call *call, const struct msm_chunk *chunk)
{
    uint64_t bytes = window_sum_bytes(call);
    const struct msm_copy copy = {.in = call->frame.address + call->run.plan->window_sums_at,
        .out = call->frame.address + call->plan.window_sums_at + chunk->msm * bytes,
        .in_stride = bytes,
        .out_stride = bytes,
        .count = chunk->msms,
        .bytes = bytes};

    return call->plan.is_one_sub_batch ? POOL_OK : msm_copy_strided(&call->run, &copy);
}

pool_status msm_results_store(struct msm_call *call, const struct msm_chunk *chunk)
{
    struct msm_target target = {.results = call->frame.address + call->plan.results_at +
                                           chunk->msm * call->job.result_bytes,
        .stride = call->job.result_bytes,
        .layout = call->params.result_layout,
        .form = call->results->form};

    if (call->job.combines_on_host)
        return save_window_sums(call, chunk);
    if (call->plan.writes_directly) {
        target.results = (CUdeviceptr)(uintptr_t)call->results->data;
        target.stride = result_stride(call);
    }
    return msm_run_combine(&call->run, &target);
}

/* Copies the packed results in the workspace to the caller's device memory. */
static pool_status write_to_device(struct msm_call *call)
{
    const struct msm_copy copy = {.in = call->frame.address + call->plan.results_at,
        .out = (CUdeviceptr)(uintptr_t)call->results->data,
        .in_stride = call->job.result_bytes,
        .out_stride = result_stride(call),
        .count = call->results->count,
        .bytes = call->job.result_bytes};

    return msm_copy_strided(&call->run, &copy);
}

/* Waits, and leaves the bytes between strided results unchanged. */
static pool_status write_to_host(struct msm_call *call)
{
    uint64_t bytes = call->results->count * call->job.result_bytes;
    uint8_t *packed = base_calloc((size_t)bytes + 1, 1);
    pool_status status;

    if (!packed)
        return base_fail_memory("results for strided memory");
    status = pool_copy_to_host(
        packed, call->frame.block, call->plan.results_at, bytes, call->frame.target.stream);
    if (!status)
        status = pool_stream_synchronize(call->frame.target.stream);
    for (uint64_t i = 0; !status && i < call->results->count; i++)
        memcpy((uint8_t *)call->results->data + i * result_stride(call),
            packed + i * call->job.result_bytes, call->job.result_bytes);
    base_free(packed);
    return status;
}

/* For pinned memory: each result is a copy in stream order. */
static pool_status enqueue_to_host(struct msm_call *call)
{
    bool is_packed = result_stride(call) == call->job.result_bytes;
    uint64_t copies = is_packed ? 1 : call->results->count;
    uint64_t bytes = call->results->count * call->job.result_bytes / copies;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; !status && i < copies; i++)
        status = pool_copy_to_host((uint8_t *)call->results->data + i * result_stride(call),
            call->frame.block, call->plan.results_at + i * bytes, bytes, call->frame.target.stream);
    return status;
}

/* Combines on the host and writes to the span itself, or packed to the workspace and from there to
 * the caller's device memory. */
static pool_status combine_and_write(struct msm_call *call, const void *window_sums)
{
    pool_point_format format = {call->params.result_layout, call->results->form, 0};
    struct msm_plan plan = *call->run.plan;
    uint64_t bytes = call->params.batch * call->job.result_bytes;
    pool_status status;
    uint8_t *packed;

    plan.job.batch = call->params.batch;
    if (call->job.results_on_host) {
        format.stride = call->results->stride;
        msm_combine_on_host(call->curve, &plan, window_sums, call->results->data, &format);
        return POOL_OK;
    }
    packed = base_calloc((size_t)bytes, 1);
    if (!packed)
        return base_fail_memory("results for device memory");
    msm_combine_on_host(call->curve, &plan, window_sums, packed, &format);
    status = pool_copy_to_device(
        call->frame.block, call->plan.results_at, packed, bytes, call->frame.target.stream);
    if (!status)
        status = write_to_device(call);
    base_free(packed);
    return status;
}

static pool_status combine_on_host(struct msm_call *call)
{
    uint64_t at =
        call->plan.is_one_sub_batch ? call->run.plan->window_sums_at : call->plan.window_sums_at;
    uint64_t bytes = call->params.batch * window_sum_bytes(call);
    uint8_t *window_sums = base_calloc((size_t)bytes, 1);
    pool_status status;

    if (!window_sums)
        return base_fail_memory("window sums");
    status =
        pool_copy_to_host(window_sums, call->frame.block, at, bytes, call->frame.target.stream);
    if (!status)
        status = pool_stream_synchronize(call->frame.target.stream);
    if (!status)
        status = combine_and_write(call, window_sums);
    base_free(window_sums);
    return status;
}

/* Asynchronous results are copied to pinned memory in stream order; pageable memory can only be
 * written by a host that waits. */
pool_status msm_results_write(struct msm_call *call)
{
    enum memory_kind kind = MEMORY_PAGEABLE;
    pool_status status = POOL_OK;

    if (call->job.combines_on_host)
        return combine_on_host(call);
    if (call->plan.writes_directly)
        return POOL_OK;
    if (!call->job.results_on_host)
        return write_to_device(call);
    if (call->frame.exec.is_async)
        status = memory_find_kind(call->frame.target.device, call->results->data,
            span_extent(call->results, call->job.result_bytes), &kind);
    if (status)
        return status;
    return kind == MEMORY_PAGEABLE ? write_to_host(call) : enqueue_to_host(call);
}
