/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations on a device: spans in device memory are read and written in place, spans in host
 * memory stream through the device in chunks.
 */
#include "zk/poseidon/run.h"

#include <devicepool/memory.h>

#include "base/math.h"
#include "base/status.h"
#include "zk/operation/pipeline.h"
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
    const struct exec_target *target, const pool_span *in, const pool_span *out)
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
    return poseidon_launch(set, target, operation->kernel, &args);
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

void poseidon_pipeline_plan(
    const struct poseidon_pipeline *pipeline, uint64_t limit, struct poseidon_chunk_plan *plan)
{
    const struct poseidon_job job = job_of(pipeline);
    const struct poseidon_tuning *tuning =
        pipeline->set->tuning ? pipeline->set->tuning : &tuning_default()->poseidon;

    (void)poseidon_plan_chunks(tuning, &job, limit, plan);
}

pool_status poseidon_pipeline_run(
    struct poseidon_pipeline *pipeline, const struct poseidon_chunk_plan *plan)
{
    const struct poseidon_job job = job_of(pipeline);
    const struct pipeline chunks = {.target = pipeline->target,
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

static pool_status compute_items(void *user, const struct exec_target *target, const pool_span *in,
    const pool_span *out, uint64_t first)
{
    (void)first;
    return poseidon_operation_enqueue(user, target, in, out);
}

static struct poseidon_pipeline pipeline_of(struct poseidon_call *call)
{
    return (struct poseidon_pipeline){.set = call->set,
        .target = call->frame.target,
        .in = {call->in, call->in_elements, call->frame.operation->arguments[1].name},
        .out = call->out,
        .out_bytes = call->frame.item[1].bytes,
        .multiple = 1,
        .weight = 1,
        .first_index = call->first,
        .checks = call->frame.exec.checks != 0,
        .progress = &call->frame.progress};
}

pool_status poseidon_plan(void *user, uint64_t limit)
{
    struct poseidon_call *call = user;
    const struct poseidon_pipeline pipeline = pipeline_of(call);

    poseidon_pipeline_plan(&pipeline, limit, &call->plan);
    call->frame.memory.bytes = call->plan.bytes;
    return POOL_OK;
}

pool_status poseidon_run(void *user)
{
    struct poseidon_call *call = user;
    struct poseidon_pipeline pipeline = pipeline_of(call);
    struct poseidon_operation operation = {.set = call->set,
        .kernel = call->kernel,
        .args = {.elements = call->in_elements},
        .in_bytes = call->frame.item[0].bytes,
        .out_bytes = call->frame.item[1].bytes};

    if (call->kernel == POSEIDON_SPONGE)
        poseidon_operation_set_sponge(&operation, &call->sponge);
    pipeline.compute = compute_items;
    pipeline.user = &operation;
    return poseidon_pipeline_run(&pipeline, &call->plan);
}

pool_status poseidon_device_read(const pool_exec *exec, const void *from, void *to, size_t bytes)
{
    const pool_span span = {
        .data = (void *)(uintptr_t)from, .count = 1, .space = POOL_MEMORY_DEVICE};
    const struct span_item item = {.bytes = bytes, .kind = "items", .name = "the parameter set"};
    struct exec_target target;
    pool_buffer *view = NULL;
    pool_status status = exec_target_init(&target, exec);

    if (!status)
        status = span_check(&target, &span, &item, "tree");
    if (!status)
        status = pool_buffer_adopt(target.device, (CUdeviceptr)(uintptr_t)from, bytes, &view);
    if (!status)
        status = pool_copy_to_host(to, view, 0, bytes, target.stream);
    if (!status)
        status = pool_stream_synchronize(target.stream);
    return scratch_free(&target, &view, status);
}
