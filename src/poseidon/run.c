/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations on a device: spans in device memory are read and written in place, spans in host
 * memory stream through the device in chunks.
 */
#include "poseidon/run.h"

#include <devicepool/memory.h>

#include "base/status.h"
#include "memory/pipeline.h"
#include "pool/counters.h"
#include "vector/check.h"

static bool needs_conversion(const pool_poseidon *set, pool_form form)
{
    bool computes_in_standard_form = (set->field->flags & FIELD_DEVICE_STANDARD) != 0;

    return computes_in_standard_form != (form == POOL_FORM_STANDARD);
}

static bool is_aligned(const pool_poseidon *set, CUdeviceptr address, uint64_t stride)
{
    return (address | stride) % 16 == 0 && set->field->bytes % 16 == 0;
}

pool_status poseidon_operation_enqueue(const struct poseidon_operation *operation,
    const struct exec_target *site, const pool_span *in, const pool_span *out)
{
    const pool_poseidon *set = operation->set;
    struct poseidon_args args = operation->args;

    args.in = (CUdeviceptr)(uintptr_t)in->data;
    args.in_stride = memory_span_stride(in, operation->in_bytes);
    args.in_is_converted = needs_conversion(set, in->form);
    args.in_is_aligned = is_aligned(set, args.in, args.in_stride);
    args.out = (CUdeviceptr)(uintptr_t)out->data;
    args.out_stride = memory_span_stride(out, operation->out_bytes);
    args.out_is_converted = needs_conversion(set, out->form);
    args.out_is_aligned = is_aligned(set, args.out, args.out_stride);
    args.count = out->count;
    return poseidon_launch(set, site->device, site->stream, operation->kernel, &args);
}

void poseidon_operation_set_sponge(
    struct poseidon_operation *operation, const struct poseidon_sponge *sponge)
{
    operation->args.rate = sponge->rate;
    operation->args.output_elements = sponge->output_elements;
    operation->args.overwrites = sponge->mode == POOL_SPONGE_OVERWRITE;
    operation->args.is_padded = sponge->padding == POOL_SPONGE_PAD_10;
    poseidon_device_words(operation->set->field, operation->args.domain_tag, sponge->domain_tag);
}

pool_status poseidon_check_device_span(
    const struct exec_target *site, const pool_span *span, size_t item_bytes, const char *name)
{
    const struct memory_item item = {item_bytes, "items", "the parameter set"};

    return span->space == POOL_MEMORY_DEVICE ? memory_span_check(site, span, &item, name) : POOL_OK;
}

pool_span poseidon_span_slice(
    const pool_span *span, size_t item_bytes, uint64_t first, uint64_t count)
{
    pool_span slice = *span;

    slice.data = count ? poseidon_span_item(span, item_bytes, first) : NULL;
    slice.count = count;
    return slice;
}

static pool_status check_chunk(
    const struct poseidon_pipeline *pipeline, const struct memory_chunk *chunk)
{
    const struct poseidon_operand *in = &pipeline->in;
    const struct vector_items items = {.address = (CUdeviceptr)(uintptr_t)chunk->in[0].data,
        .stride = memory_span_stride(&chunk->in[0], in->elements * pipeline->set->field->bytes),
        .count = chunk->count,
        .elements = in->elements,
        .first = pipeline->first_index + chunk->first,
        .what = in->name};

    return pipeline->checks ? vector_check_elements(&chunk->target, pipeline->set->field, &items)
                            : POOL_OK;
}

static pool_status compute_chunk(void *user, struct memory_chunk *chunk)
{
    const struct poseidon_pipeline *pipeline = user;
    pool_status status = check_chunk(pipeline, chunk);

    return status ? status
                  : pipeline->compute(pipeline->user, &chunk->target, &chunk->in[0],
                        pipeline->out ? &chunk->out : NULL, chunk->first);
}

pool_status poseidon_pipeline_run(struct poseidon_pipeline *pipeline)
{
    const pool_span *in = pipeline->in.span, *out = pipeline->out;
    const struct poseidon_job job = {.count = in->count,
        .multiple = pipeline->multiple,
        .in_bytes = (size_t)pipeline->in.elements * pipeline->set->field->bytes,
        .out_bytes = pipeline->out_bytes,
        .uses_host_memory =
            in->space == POOL_MEMORY_HOST || (out && out->space == POOL_MEMORY_HOST)};
    const struct poseidon_chunk_plan plan = poseidon_plan_chunks(&pipeline->set->tuning, &job);
    const struct memory_pipeline chunks = {.target = pipeline->site,
        .progress = pipeline->progress,
        .weight = pipeline->weight,
        .count = job.count,
        .chunk_items = plan.chunk_items,
        .slots = plan.slots,
        .in = {{in, job.in_bytes, true}},
        .out = {out, job.out_bytes, true},
        .compute = compute_chunk,
        .user = pipeline};

    return memory_pipeline_run(&chunks);
}

static pool_status compute_items(void *user, const struct exec_target *site, const pool_span *in,
    const pool_span *out, uint64_t first)
{
    (void)first;
    return poseidon_operation_enqueue(user, site, in, out);
}

/* Computes the items of `out` from those of `in`. Waits for them unless the call is asynchronous.
 */
static pool_status run_operation(const pool_poseidon *set, const pool_exec *exec,
    struct poseidon_operation *operation, const struct poseidon_operand *in,
    const struct poseidon_operand *out, struct memory_progress *progress)
{
    struct poseidon_pipeline pipeline = {.set = set,
        .in = *in,
        .out = out->span,
        .out_bytes = (size_t)out->elements * set->field->bytes,
        .multiple = 1,
        .weight = 1,
        .checks = exec->checks != 0,
        .compute = compute_items,
        .user = operation,
        .progress = progress};
    struct device_operation counted;
    pool_status status = exec_target_init(&pipeline.site, exec);

    operation->set = set;
    operation->in_bytes = (size_t)in->elements * set->field->bytes;
    operation->out_bytes = pipeline.out_bytes;
    operation->args.elements = in->elements;
    if (!status)
        status =
            poseidon_check_device_span(&pipeline.site, in->span, operation->in_bytes, in->name);
    if (!status)
        status =
            poseidon_check_device_span(&pipeline.site, out->span, operation->out_bytes, out->name);
    if (status)
        return status;
    device_operation_begin(&counted, pipeline.site.device, "poseidon", set->name, in->span->count);
    status = poseidon_pipeline_run(&pipeline);
    return device_operation_end(&counted, exec_target_end(&pipeline.site, exec->is_async, status));
}

pool_status poseidon_device_permute(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *states, const pool_span *results, struct memory_progress *progress)
{
    struct poseidon_operation operation = {.kernel = POSEIDON_PERMUTE};
    const struct poseidon_operand in = {states, set->width, "states"};
    const struct poseidon_operand out = {results, set->width, "results"};

    return run_operation(set, exec, &operation, &in, &out, progress);
}

pool_status poseidon_device_hash(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *inputs, uint32_t elements, const pool_span *digests,
    struct memory_progress *progress)
{
    struct poseidon_operation operation = {.kernel = POSEIDON_HASH};
    const struct poseidon_operand in = {inputs, elements, "inputs"};
    const struct poseidon_operand out = {digests, set->digest_elements, "digests"};

    return run_operation(set, exec, &operation, &in, &out, progress);
}

pool_status poseidon_device_sponge(const pool_poseidon *set, const pool_exec *exec,
    const struct poseidon_sponge *sponge, const pool_span *messages, const pool_span *results,
    struct memory_progress *progress)
{
    struct poseidon_operation operation = {.set = set, .kernel = POSEIDON_SPONGE};
    const struct poseidon_operand in = {messages, sponge->elements, "messages"};
    const struct poseidon_operand out = {results, sponge->output_elements, "results"};

    poseidon_operation_set_sponge(&operation, sponge);
    return run_operation(set, exec, &operation, &in, &out, progress);
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
