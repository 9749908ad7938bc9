/* SPDX-License-Identifier: Apache-2.0 */
/* The chunks of folds, and the device memory of folds and evaluations. */
#include "base/math.h"
#include "zk/commit/commit.h"
#include "zk/fri/fri.h"
#include "zk/vector/vector.h"

/*
 * A block sums 1024 rows or more, four or more per thread, and there are about 4096 blocks for
 * matrices of few columns; the host adds their sums, at most 4096 or one per column.
 */
enum { LEAST_ROWS = 1024, MOST_BLOCKS = 4096 };

/* A chunk's copies in device memory, and the answer of a check. */
static uint64_t chunk_bytes(const struct fri_fold_call *call, uint64_t results)
{
    uint64_t bytes = call->frame.exec.checks ? memory_scratch_bytes(sizeof(uint64_t)) : 0;

    if (call->in->space == POOL_MEMORY_HOST)
        bytes += memory_scratch_bytes(results * call->item_bytes);
    if (call->out->space == POOL_MEMORY_HOST)
        bytes += memory_scratch_bytes(results * call->params.field->bytes);
    return bytes;
}

/* Values in natural order are one chunk: those of a result are far apart. */
pool_status fri_plan_fold(void *user, uint64_t limit)
{
    struct fri_fold_call *call = user;
    const uint64_t all = UINT64_C(1) << call->log_count;
    const bool is_copied =
        call->in->space == POOL_MEMORY_HOST || call->out->space == POOL_MEMORY_HOST;

    call->chunk = all;
    if (call->params.is_bit_reversed && is_copied) {
        call->chunk = base_min(all, tuning_default()->vector.chunk_bytes / call->item_bytes);
        while (call->chunk > 1 && chunk_bytes(call, call->chunk) > limit)
            call->chunk /= 2;
    }
    call->frame.memory.bytes = chunk_bytes(call, call->chunk);
    return POOL_OK;
}

pool_span fri_weights(const struct fri_evaluation *call)
{
    return (pool_span){.count = call->matrix->height,
        .form = field_device_degree(call->params.field) ? POOL_FORM_MONTGOMERY : POOL_FORM_STANDARD,
        .space = POOL_MEMORY_DEVICE};
}

/* What the vector functions allocate for a point's factors. */
static pool_status factor_bytes(const struct fri_evaluation *call, uint64_t *bytes)
{
    const pool_span weights = fri_weights(call);

    return call->params.domain ? pool_vector_workspace(call->params.field, NULL,
                                     POOL_VECTOR_INVERSE, &weights, NULL, &weights, bytes)
                               : pool_vector_workspace(call->params.field, NULL, POOL_VECTOR_POWERS,
                                     NULL, NULL, &weights, bytes);
}

pool_status fri_plan_evaluation(void *user, uint64_t limit)
{
    struct fri_evaluation *call = user;
    const pool_matrix *matrix = call->matrix;
    const pool_field *field = call->params.field;
    const uint64_t most = base_max(1, MOST_BLOCKS / matrix->width);
    uint64_t bytes = 0;
    pool_status status = factor_bytes(call, &bytes);

    (void)limit;
    call->segment_rows =
        base_max(LEAST_ROWS, base_ceil_div(matrix->height, base_min(most, MOST_BLOCKS)));
    call->segments = base_ceil_div(matrix->height, call->segment_rows);
    call->weight_bytes = matrix->height * field->bytes;
    call->partial_bytes = call->segments * matrix->width * field->bytes;
    bytes += memory_scratch_bytes(call->weight_bytes + call->partial_bytes);
    if (call->frame.exec.checks)
        bytes = base_max(bytes, memory_scratch_bytes(sizeof(uint64_t) * matrix->width));
    if (matrix->span.space == POOL_MEMORY_HOST)
        bytes += memory_scratch_bytes(
            span_extent(&matrix->span, commit_item_elements(matrix) * field->base->bytes));
    call->frame.memory.bytes = bytes;
    return status;
}
