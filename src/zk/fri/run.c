/* SPDX-License-Identifier: Apache-2.0 */
/* What folds, evaluations and permutations of rows enqueue on a device. */
#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/commit/commit.h"
#include "zk/fri/fri.h"
#include "zk/operation/pipeline.h"
#include "zk/operation/slices.h"
#include "zk/vector/check.h"

enum { LOG_ROW_LANES = 5 };

/* Per element that is folded, in steps that each halve their number; and for z / x - 1. */
enum { FOLD_PRODUCTS = 3, DENOMINATOR_PRODUCTS = 4 };

/* ---- folds ----------------------------------------------------------------------------------- */

static pool_status check_values(struct fri_fold_call *call, const struct pipeline_chunk *chunk)
{
    const struct vector_items items = {.address = (CUdeviceptr)(uintptr_t)chunk->in[0].data,
        .stride = call->params.field->bytes,
        .count = chunk->count << call->params.log_arity,
        .elements = 1,
        .first = chunk->first << call->params.log_arity,
        .what = "values"};

    return call->frame.exec.checks
               ? vector_check_elements(&call->frame.target, call->params.field, &items)
               : POOL_OK;
}

/* Of a kernel with that many products and two accesses to memory per element. */
static double element_seconds(
    const struct exec_target *target, const pool_field *field, double elements, double products)
{
    return slices_seconds(
        target->device, field->words, elements * products, 2 * elements * (double)field->bytes);
}

static pool_status fold_chunk(void *user, struct pipeline_chunk *chunk)
{
    static const char *const names[] = {"fri_fold2", "fri_fold4", "fri_fold8"};
    struct fri_fold_call *call = user;
    struct fri_fold_args *args = &call->args;
    const struct fri_cut cut = {
        .seconds = element_seconds(&call->frame.target, call->params.field,
            (double)(chunk->count << call->params.log_arity), FOLD_PRODUCTS),
        .first_block = &args->first_block};
    pool_status status = check_values(call, chunk);

    args->in = (CUdeviceptr)(uintptr_t)chunk->in[0].data;
    args->out = (CUdeviceptr)(uintptr_t)chunk->out.data;
    args->first = chunk->first;
    args->count = chunk->count;
    return status ? status
                  : fri_launch_items(&call->frame.target, names[call->params.log_arity - 1],
                        chunk->count, &cut, args, sizeof(*args));
}

pool_status fri_run_fold(void *user)
{
    struct fri_fold_call *call = user;
    pool_span items = *call->in;
    const struct pipeline pipeline = {.target = call->frame.target,
        .progress = &call->frame.progress,
        .weight = 1,
        .count = call->frame.items,
        .chunk_items = call->chunk,
        .slots = 1,
        .in = {{&items, call->item_bytes, false}},
        .out = {call->out, call->params.field->bytes, false},
        .compute = fold_chunk,
        .user = call};

    items.count = call->frame.items;
    items.stride = 0;
    return pipeline_run(&pipeline);
}

/* ---- evaluations ----------------------------------------------------------------------------- */

/* The factors x_i / (z - x_i) of values, or z^i of coefficients, by calls of vectors. */
static pool_status enqueue_factors(
    const struct fri_evaluation *call, uint32_t index, const uint64_t *z, CUdeviceptr address)
{
    const pool_field *field = call->params.field;
    pool_span weights = fri_weights(call);
    const pool_exec exec = {.struct_size = sizeof(exec),
        .device = call->frame.target.device,
        .stream = call->frame.target.stream,
        .lease = call->frame.exec.lease,
        .cancel = call->frame.exec.cancel,
        .slice_ns = call->frame.exec.slice_ns,
        .is_async = 1};
    struct fri_denominators_args args = {.out = address,
        .log_count = (unsigned)__builtin_ctzll(call->matrix->height),
        .is_reversed = (unsigned)call->params.is_bit_reversed};
    const struct fri_cut cut = {.seconds = element_seconds(&call->frame.target, field,
                                    (double)call->matrix->height, DENOMINATOR_PRODUCTS),
        .first_block = &args.first_block};
    pool_status status;

    weights.data = (void *)(uintptr_t)address;
    if (!call->params.domain)
        return pool_vector_powers(
            field, &exec, call->points + (size_t)index * field->bytes, &weights);
    field_store_for_device(field, args.z, z);
    fri_store_points(call->params.domain, 0, call->params.on_subgroup, &args.points);
    status = fri_launch_items(
        &call->frame.target, "fri_denominators", call->matrix->height, &cut, &args, sizeof(args));
    return status ? status : pool_vector_inverse(field, &exec, &weights, &weights);
}

static pool_status make_factors(
    const struct fri_evaluation *call, uint32_t index, const uint64_t *z, CUdeviceptr address)
{
    struct slices *const lent = slices_lend(call->frame.target.slices);
    pool_status status = enqueue_factors(call, index, z, address);

    slices_lend(lent);
    return status;
}

static pool_status multiply(const struct fri_evaluation *call, const pool_span *span,
    CUdeviceptr weights, CUdeviceptr partial)
{
    const pool_matrix *matrix = call->matrix;
    const uint32_t words = call->params.field->base->words;
    const uint64_t item = commit_item_elements(matrix) * words * 4;
    const uint64_t stride = span_stride(span, item) / 4;
    const bool has_rows = matrix->layout == POOL_MATRIX_ROWS;
    struct fri_dot_args args = {.matrix = (CUdeviceptr)(uintptr_t)span->data,
        .weights = weights,
        .partial = partial,
        .row_stride = has_rows ? stride : words,
        .column_stride = has_rows ? words : stride,
        .rows = matrix->height,
        .segment_rows = call->segment_rows,
        .columns = matrix->width,
        .segments = (unsigned)call->segments,
        .log_lanes = has_rows ? LOG_ROW_LANES : 0};
    const uint64_t groups = base_ceil_div(matrix->width, UINT64_C(1) << args.log_lanes);
    const double elements = (double)matrix->height * matrix->width;
    /* Columns read a weight with each element, if only from the cache, rows one for a warp. */
    const double weight = (double)call->params.field->bytes / (has_rows ? 32 : 2);
    const struct fri_cut cut = {
        .seconds = slices_seconds(call->frame.target.device, words,
            elements * call->params.field->words / words, elements * (4.0 * words + weight)),
        .first_block = &args.first_block};

    return fri_launch(
        &call->frame.target, "fri_dot", groups * call->segments, &cut, &args, sizeof(args));
}

static pool_status evaluate_point(const struct fri_evaluation *call, const pool_span *span,
    uint32_t index, pool_buffer *scratch, CUdeviceptr weights)
{
    uint64_t z[FIELD_MAX_LIMBS], factor[FIELD_MAX_LIMBS];
    pool_status status = fri_load_point(call, index, z, factor);

    if (!status)
        status = make_factors(call, index, z, weights);
    if (!status)
        status = multiply(call, span, weights, weights + call->weight_bytes);
    if (!status)
        status = pool_copy_to_host(call->partial, scratch, call->weight_bytes, call->partial_bytes,
            call->frame.target.stream);
    if (!status)
        status = pool_stream_synchronize(call->frame.target.stream);
    if (!status)
        fri_store_values(call, index, factor);
    return status;
}

static pool_status check_elements(const struct fri_evaluation *call, const pool_span *span)
{
    const pool_field *base = call->params.field->base;
    const uint64_t elements = commit_item_elements(call->matrix);
    const struct vector_items items = {.address = (CUdeviceptr)(uintptr_t)span->data,
        .stride = span_stride(span, elements * base->bytes),
        .count = span->count,
        .elements = elements,
        .what = "matrix"};

    return call->frame.exec.checks ? vector_check_elements(&call->frame.target, base, &items)
                                   : POOL_OK;
}

static pool_status evaluate_matrix(void *user, struct pipeline_chunk *chunk)
{
    struct fri_evaluation *call = user;
    pool_buffer *scratch;
    CUdeviceptr weights;
    pool_status status = check_elements(call, &chunk->in[0]);

    if (!status)
        status = operation_scratch(&call->frame, &call->frame.target,
            call->weight_bytes + call->partial_bytes, &scratch, &weights);
    for (uint32_t i = 0; i < call->count && !status; i++) {
        status = evaluate_point(call, &chunk->in[0], i, scratch, weights);
        if (!status && i + 1 < call->count)
            status = progress_add(&call->frame.progress, 1);
    }
    return status;
}

pool_status fri_run_evaluation(void *user)
{
    struct fri_evaluation *call = user;
    const pool_matrix *matrix = call->matrix;
    const uint64_t items = matrix->span.count;
    /* The last point counts when the matrix has passed. */
    const struct pipeline pipeline = {.target = call->frame.target,
        .progress = &call->frame.progress,
        .weight = 0,
        .count = items,
        .chunk_items = items,
        .slots = 1,
        .in = {{&matrix->span, commit_item_elements(matrix) * call->params.field->base->bytes,
            false}},
        .compute = evaluate_matrix,
        .user = call};
    pool_status status;

    call->frame.progress.total = call->count;
    call->partial = base_calloc(1, call->partial_bytes);
    if (!call->partial)
        return base_fail_memory("the sums of an evaluation");
    status = pipeline_run(&pipeline);
    if (!status)
        status = progress_add(&call->frame.progress, 1);
    base_free(call->partial);
    return status;
}

/* ---- rows in bit-reversed order -------------------------------------------------------------- */

pool_status fri_run_rows(void *user)
{
    const struct fri_rows_call *call = user;
    const struct exec_target *target = &call->frame.target;
    const pool_matrix *in = call->in, *out = call->out;
    const uint64_t words = target->field->bytes / 4,
                   bytes = commit_item_elements(in) * target->field->bytes;
    const uint64_t in_stride = span_stride(&in->span, bytes) / 4;
    const uint64_t out_stride = span_stride(&out->span, bytes) / 4;
    const bool has_rows = in->layout == POOL_MATRIX_ROWS;
    struct matrix_rows_args args = {.in = (CUdeviceptr)(uintptr_t)in->span.data,
        .out = (CUdeviceptr)(uintptr_t)out->span.data,
        .in_row_stride = has_rows ? in_stride : words,
        .in_column_stride = has_rows ? 0 : in_stride,
        .out_row_stride = has_rows ? out_stride : words,
        .out_column_stride = has_rows ? 0 : out_stride,
        .words = has_rows ? bytes / 4 : words,
        .columns = has_rows ? 1 : in->width,
        .log_rows = (unsigned)__builtin_ctzll(in->height)};

    return fri_launch_rows(target, args.words * args.columns * in->height, &args);
}
