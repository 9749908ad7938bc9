/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a function of vectors: its chunks, and what their computations share.
 */
#include <stdio.h>

#include "base/math.h"
#include "base/status.h"
#include "pool/stream/capture.h"
#include "pool/tuning/rates.h"
#include "zk/operation/pipeline.h"
#include "zk/operation/slices.h"
#include "zk/vector/check.h"
#include "zk/vector/kernels.h"
#include "zk/vector/vector.h"

enum { BLOCK = 256 };

static pool_status check_inputs(const struct vector_call *call)
{
    pool_status status = POOL_OK;

    for (int i = 0; i < 2 && call->frame.exec.checks && !status; i++) {
        const pool_span *span = &call->chunk->in[i];
        const struct vector_items items = {.address = (CUdeviceptr)(uintptr_t)span->data,
            .stride = span_stride(span, call->frame.target.field->bytes),
            .count = span->count,
            .elements = 1,
            .first = call->chunk->first,
            .what = i ? "vector b" : "vector a"};

        status = vector_check_elements(&call->frame.target, call->frame.target.field, &items);
    }
    return status;
}

static pool_status compute_chunk(void *user, struct pipeline_chunk *chunk)
{
    struct vector_call *call = user;
    pool_status status;

    call->chunk = chunk;
    status = check_inputs(call);
    if (!status)
        status = call->function->compute(call);
    status = scratch_free(&call->frame.target, &call->scratch, status);
    return scratch_free(&call->frame.target, &call->constants, status);
}

static uint64_t host_stride(const pool_field *field, const pool_span *span)
{
    return span && span->space == POOL_MEMORY_HOST ? span_stride(span, field->bytes) : 0;
}

static struct vector_scratch scratch_of(const struct vector_call *call)
{
    struct vector_exponents exponents;

    switch (call->operation) {
    case POOL_VECTOR_ADD:
    case POOL_VECTOR_SUB:
    case POOL_VECTOR_MUL:
        exponents = vector_factor_exponents(call);
        return (struct vector_scratch){
            .constants = exponents.a || exponents.b || exponents.out ? 3 : 0};
    case POOL_VECTOR_SCALE: /* the scalar is part of a factor */
        return (struct vector_scratch){.constants = 3};
    case POOL_VECTOR_INVERSE:
        return (struct vector_scratch){
            .constants = vector_inverse_exponent(call) != 0, .has_products = true};
    case POOL_VECTOR_POWERS:
        return (struct vector_scratch){.constants = VECTOR_POWER_CONSTANTS};
    case POOL_VECTOR_EVALUATE:
        return (struct vector_scratch){.constants = VECTOR_POWER_CONSTANTS, .has_sums = true};
    default:
        return (struct vector_scratch){0};
    }
}

/* The input that is copied besides `a`. */
static const pool_span *second_input(const struct vector_call *call)
{
    return call->b == call->a ? NULL : call->b;
}

pool_status vector_plan_call(void *user, uint64_t limit)
{
    struct vector_call *call = user;
    const pool_field *field = call->field;
    const struct vector_job job = {.count = call->frame.items,
        .element_bytes = field->bytes,
        .upload_stride = {host_stride(field, call->a), host_stride(field, second_input(call))},
        .download_stride = host_stride(field, call->out),
        .has_checks = call->frame.exec.checks != 0 && call->a,
        .is_divisible = (call->function->has & VECTOR_CHUNKS) != 0,
        .scratch = scratch_of(call)};

    (void)vector_plan_make(&tuning_default()->vector, &job, limit, &call->plan);
    call->frame.memory.bytes = call->plan.bytes;
    return POOL_OK;
}

/* The value of a polynomial. */
static void store_value(struct vector_call *call)
{
    field_from_montgomery(call->field, call->sum, call->sum);
    field_store(call->field, call->value, call->sum);
}

pool_status vector_run(void *user)
{
    struct vector_call *call = user;
    const uint64_t bytes = call->field->bytes;
    const struct pipeline pipeline = {.target = call->frame.target,
        .progress = &call->frame.progress,
        .weight = 1,
        .count = call->frame.items,
        .chunk_items = call->plan.chunk_elements,
        .slots = 1,
        .in = {{call->a, bytes, false}, {second_input(call), bytes, false}},
        .out = {call->out, bytes, false},
        .compute = compute_chunk,
        .user = call};
    pool_status status = pipeline_run(&pipeline);

    if (!status && call->value)
        store_value(call);
    return status;
}

double vector_seconds(
    const struct exec_target *target, uint64_t count, double products, double accesses)
{
    const double elements = (double)count;

    return slices_seconds(target->device, target->field->words, elements * products,
        elements * accesses * (double)target->field->bytes);
}

uint64_t vector_slice(const struct exec_target *target, uint64_t steps, double seconds)
{
    const uint64_t slice_ns = device_slice_ns(target->device, target->slice_ns);

    return base_max(chip_slice(steps, seconds, slice_ns), 1);
}

struct vector_arg vector_arg_of(const pool_field *field, const pool_span *span)
{
    return (struct vector_arg){
        (CUdeviceptr)(uintptr_t)span->data, span_stride(span, field->bytes) / 4};
}

pool_status vector_upload_constants(
    struct vector_call *call, const void *packed, size_t count, CUdeviceptr *address)
{
    uint64_t bytes = count * call->frame.target.field->bytes;
    char what[160];
    pool_status status;

    if (stream_capture_of(call->frame.target.stream)) {
        snprintf(what, sizeof(what),
            "this call of %s, which uploads constants: a scalar, powers, or the factors between "
            "the "
            "forms of its vectors",
            call->frame.name);
        return stream_refuse_captured(call->frame.name, call->frame.target.stream, what);
    }
    status = scratch_allocate(&call->frame.target, bytes, &call->constants, address);
    return status
               ? status
               : pool_copy_to_device(call->constants, 0, packed, bytes, call->frame.target.stream);
}

pool_status vector_launch(const struct exec_target *target, const char *name, uint64_t items,
    struct module_launch *launch)
{
    pool_status status = vector_kernel(target->device, target->field, name, &launch->kernel);

    launch->threads = launch->threads ? launch->threads : BLOCK;
    launch->blocks = base_ceil_div(items, launch->threads);
    launch->stream = target->stream;
    return status ? status : slices_launch(target->slices, target->slice_ns, launch);
}
