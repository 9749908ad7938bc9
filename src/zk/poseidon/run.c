/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations on a device: spans in device memory are read and written in place, spans in host
 * memory stream through the device in chunks.
 */
#include "zk/poseidon/run.h"

#include <devicepool/memory.h>

#include "base/status.h"
#include "pool/device/counters.h"
#include "zk/operation/pipeline.h"
#include "zk/operation/workspace.h"
#include "zk/vector/check.h"

pool_form poseidon_device_form(const pool_poseidon *set)
{
    return set->field->flags & FIELD_DEVICE_STANDARD ? POOL_FORM_STANDARD : POOL_FORM_MONTGOMERY;
}

static bool is_aligned(CUdeviceptr address, uint64_t stride)
{
    return (address | stride) % 16 == 0;
}

pool_status poseidon_operation_enqueue(const struct poseidon_operation *operation,
    const struct exec_target *site, const pool_span *in, const pool_span *out)
{
    const pool_poseidon *set = operation->set;
    struct poseidon_args args = operation->args;

    args.in = (CUdeviceptr)(uintptr_t)in->data;
    args.in_stride = span_stride(in, operation->in_bytes);
    args.in_is_converted = in->form != poseidon_device_form(set);
    args.in_is_aligned = is_aligned(args.in, args.in_stride);
    args.out = (CUdeviceptr)(uintptr_t)out->data;
    args.out_stride = span_stride(out, operation->out_bytes);
    args.out_is_converted = out->form != poseidon_device_form(set);
    args.out_is_aligned = is_aligned(args.out, args.out_stride);
    args.count = out->count;
    return poseidon_launch(set, site->device, site->stream, operation->kernel, &args);
}

_Static_assert(POOL_SPONGE_PAD_10 == POSEIDON_PAD_10 && POOL_SPONGE_PAD_ZERO == POSEIDON_PAD_ZERO,
    "kernels know the values of pool_sponge_padding");

void poseidon_operation_set_sponge(
    struct poseidon_operation *operation, const struct poseidon_sponge *sponge)
{
    operation->args.rate = sponge->rate;
    operation->args.output_elements = sponge->output_elements;
    operation->args.overwrites = sponge->mode == POOL_SPONGE_OVERWRITE;
    operation->args.padding = sponge->padding;
    operation->args.input_count = poseidon_padded_length(sponge);
    poseidon_device_words(operation->set->field, operation->args.domain_tag, sponge->domain_tag);
}

pool_status poseidon_check_device_span(
    const struct exec_target *site, const pool_span *span, size_t item_bytes, const char *name)
{
    const struct span_item item = {item_bytes, "items", "the parameter set"};

    return span->space == POOL_MEMORY_DEVICE ? span_check(site, span, &item, name) : POOL_OK;
}

pool_span poseidon_span_slice(
    const pool_span *span, size_t item_bytes, uint64_t first, uint64_t count)
{
    pool_span slice = *span;

    slice.data = count && span->data ? poseidon_span_item(span, item_bytes, first) : NULL;
    slice.count = count;
    return slice;
}

static pool_status check_chunk(
    const struct poseidon_pipeline *pipeline, const struct pipeline_chunk *chunk)
{
    const struct poseidon_operand *in = &pipeline->in;
    const struct vector_items items = {.address = (CUdeviceptr)(uintptr_t)chunk->in[0].data,
        .stride = span_stride(&chunk->in[0], in->elements * pipeline->set->field->bytes),
        .count = chunk->count,
        .elements = in->elements,
        .first = pipeline->first_index + chunk->first,
        .what = in->name};

    return pipeline->checks ? vector_check_elements(&chunk->target, pipeline->set->field, &items)
                            : POOL_OK;
}

static pool_status compute_chunk(void *user, struct pipeline_chunk *chunk)
{
    const struct poseidon_pipeline *pipeline = user;
    pool_status status = check_chunk(pipeline, chunk);

    return status ? status
                  : pipeline->compute(pipeline->user, &chunk->target, &chunk->in[0],
                        pipeline->out ? &chunk->out : NULL, chunk->first);
}

/* How many answers the check of a chunk stores; items that are uploaded are packed. */
static uint64_t count_check_answers(const struct poseidon_pipeline *pipeline)
{
    const struct poseidon_operand *in = &pipeline->in;
    uint64_t item_bytes = (uint64_t)in->elements * pipeline->set->field->bytes;

    if (!pipeline->checks || !in->elements)
        return 0;
    return in->span->space == POOL_MEMORY_HOST || span_stride(in->span, item_bytes) == item_bytes
               ? 1
               : in->elements;
}

static struct poseidon_job job_of(const struct poseidon_pipeline *pipeline)
{
    const pool_span *in = pipeline->in.span, *out = pipeline->out;

    return (struct poseidon_job){.count = in->count,
        .multiple = pipeline->multiple,
        .in_bytes = (size_t)pipeline->in.elements * pipeline->set->field->bytes,
        .out_bytes = pipeline->out_bytes,
        .in_is_on_host = in->space == POOL_MEMORY_HOST,
        .out_is_on_host = out && out->space == POOL_MEMORY_HOST,
        .check_answers = count_check_answers(pipeline),
        .common_bytes = pipeline->common_bytes};
}

pool_status poseidon_pipeline_plan(
    const struct poseidon_pipeline *pipeline, struct poseidon_chunk_plan *plan)
{
    const struct progress *progress = pipeline->progress;
    const struct poseidon_job job = job_of(pipeline);
    const struct poseidon_tuning *tuning =
        pipeline->set->tuning ? pipeline->set->tuning : &tuning_default()->poseidon;
    uint64_t limit = exec_limit(progress->exec);

    return poseidon_plan_chunks(tuning, &job, limit, plan)
               ? POOL_OK
               : exec_fail_limit(progress->call, limit, plan->bytes);
}

pool_status poseidon_pipeline_run(
    struct poseidon_pipeline *pipeline, const struct poseidon_chunk_plan *plan)
{
    const struct poseidon_job job = job_of(pipeline);
    const struct pipeline chunks = {.target = pipeline->site,
        .progress = pipeline->progress,
        .weight = pipeline->weight,
        .count = job.count,
        .chunk_items = plan->chunk_items,
        .slots = plan->slots,
        .in = {{pipeline->in.span, job.in_bytes, true}},
        .out = {pipeline->out, job.out_bytes, true},
        .compute = compute_chunk,
        .user = pipeline};

    return pipeline_run(&chunks);
}

/* ---- permutations, hashes, sponges ----------------------------------------------------------- */

static pool_status compute_items(void *user, const struct exec_target *site, const pool_span *in,
    const pool_span *out, uint64_t first)
{
    (void)first;
    return poseidon_operation_enqueue(user, site, in, out);
}

/* Without the members that only the run needs. */
static struct poseidon_pipeline pipeline_of(
    const struct poseidon_call *call, struct progress *progress)
{
    *progress =
        (struct progress){.call = call->name, .exec = &call->exec, .total = call->in.span->count};
    return (struct poseidon_pipeline){.set = call->set,
        .in = call->in,
        .out = call->out.span,
        .out_bytes = (size_t)call->out.elements * call->set->field->bytes,
        .multiple = 1,
        .weight = 1,
        .first_index = call->first,
        .checks = call->exec.checks != 0,
        .progress = progress};
}

pool_status poseidon_device_forecast(const struct poseidon_call *call, uint64_t *bytes)
{
    struct progress progress;
    const struct poseidon_pipeline pipeline = pipeline_of(call, &progress);
    struct poseidon_chunk_plan plan;
    pool_status status = poseidon_pipeline_plan(&pipeline, &plan);

    if (!status)
        *bytes = plan.bytes;
    return status;
}

pool_status poseidon_device_run(const struct poseidon_call *call)
{
    const pool_poseidon *set = call->set;
    struct progress progress;
    struct poseidon_pipeline pipeline = pipeline_of(call, &progress);
    struct poseidon_operation operation = {.set = set,
        .kernel = call->kernel,
        .args = {.elements = call->in.elements},
        .in_bytes = (size_t)call->in.elements * set->field->bytes,
        .out_bytes = pipeline.out_bytes};
    const struct workspace_span spans[] = {{call->in.span, operation.in_bytes, call->in.name},
        {call->out.span, operation.out_bytes, call->out.name}};
    struct poseidon_chunk_plan plan;
    struct device_operation counted;
    struct workspace workspace;
    pool_status status = exec_target_init(&pipeline.site, &call->exec);

    if (call->kernel == POSEIDON_SPONGE)
        poseidon_operation_set_sponge(&operation, &call->sponge);
    pipeline.compute = compute_items;
    pipeline.user = &operation;
    if (!status)
        status = poseidon_check_device_span(
            &pipeline.site, call->in.span, operation.in_bytes, call->in.name);
    if (!status)
        status = poseidon_check_device_span(
            &pipeline.site, call->out.span, operation.out_bytes, call->out.name);
    if (!status)
        status = poseidon_pipeline_plan(&pipeline, &plan);
    if (!status)
        status = workspace_open(&workspace, call->name, &call->exec, plan.bytes, &pipeline.site);
    if (!status)
        status = workspace_check_spans(call->name, &call->exec, spans, 2);
    if (status)
        return status;
    device_operation_begin(
        &counted, pipeline.site.device, "poseidon", set->name, call->in.span->count);
    status = poseidon_pipeline_run(&pipeline, &plan);
    return device_operation_end(
        &counted, exec_target_end(&pipeline.site, call->exec.is_async, status));
}

pool_status poseidon_device_read(const pool_exec *exec, const void *from, void *to, size_t bytes)
{
    const pool_span span = {
        .data = (void *)(uintptr_t)from, .count = 1, .space = POOL_MEMORY_DEVICE};
    struct exec_target site;
    pool_buffer *view = NULL;
    pool_status status = exec_target_init(&site, exec);

    if (!status)
        status = poseidon_check_device_span(&site, &span, bytes, "tree");
    if (!status)
        status = pool_buffer_adopt(site.device, (CUdeviceptr)(uintptr_t)from, bytes, &view);
    if (!status)
        status = pool_copy_to_host(to, view, 0, bytes, site.stream);
    if (!status)
        status = pool_stream_synchronize(site.stream);
    if (view) {
        pool_status destroyed = pool_buffer_destroy(&view);

        status = status ? status : destroyed;
    }
    return status;
}
