/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_matrix_evaluate: for each point, the factors of the columns' elements, which all columns
 * share, and the columns' products with them.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/counters.h"
#include "zk/commit/commit.h"
#include "zk/fri/fri.h"
#include "zk/operation/pipeline.h"
#include "zk/operation/timeout.h"
#include "zk/vector/check.h"
#include "zk/vector/vector.h"

/*
 * A block sums 1024 rows or more, four or more per thread, and there are about 4096 blocks for
 * matrices of few columns; the host adds their sums, at most 4096 or one per column.
 */
enum { LEAST_ROWS = 1024, MOST_BLOCKS = 4096, BLOCK = 256, LOG_ROW_LANES = 5, MAX_POINTS = 64 };

static const struct base_struct evaluate_params_type = BASE_STRUCT(pool_matrix_evaluate_params);

void pool_matrix_evaluate_params_init(pool_matrix_evaluate_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

struct evaluation {
    const char *name;
    pool_matrix_evaluate_params params;
    pool_exec exec;
    struct exec_target target;
    pool_matrix matrix;
    const unsigned char *points;
    uint32_t count; /* of points */
    unsigned char *values;
    unsigned char *partial; /* of a point, in host memory */
    struct progress *progress;
    uint64_t segment_rows, segments;
    uint64_t weight_bytes, partial_bytes; /* of the scratch memory */
    uint64_t bytes;                       /* of device memory */
};

static pool_form device_form(const pool_field *field)
{
    return field_device_degree(field) ? POOL_FORM_MONTGOMERY : POOL_FORM_STANDARD;
}

static pool_span weights_at(const struct evaluation *evaluation, CUdeviceptr address)
{
    return (pool_span){.data = (void *)(uintptr_t)address,
        .count = evaluation->matrix.height,
        .form = device_form(evaluation->params.field),
        .space = POOL_MEMORY_DEVICE};
}

/* What the vector functions allocate for a point's factors. */
static pool_status factor_bytes(const struct evaluation *evaluation, uint64_t *bytes)
{
    const pool_span weights = weights_at(evaluation, 0);

    return evaluation->params.domain ? pool_vector_workspace(evaluation->params.field, NULL,
                                           POOL_VECTOR_INVERSE, &weights, NULL, &weights, bytes)
                                     : pool_vector_workspace(evaluation->params.field, NULL,
                                           POOL_VECTOR_POWERS, NULL, NULL, &weights, bytes);
}

static pool_status plan(struct evaluation *evaluation)
{
    const pool_matrix *matrix = &evaluation->matrix;
    const pool_field *field = evaluation->params.field;
    const uint64_t limit = exec_limit(&evaluation->exec);
    const uint64_t most = base_max(1, MOST_BLOCKS / matrix->width);
    uint64_t bytes = 0;
    pool_status status = factor_bytes(evaluation, &bytes);

    if (status)
        return status;
    evaluation->segment_rows =
        base_max(LEAST_ROWS, base_ceil_div(matrix->height, base_min(most, MOST_BLOCKS)));
    evaluation->segments = base_ceil_div(matrix->height, evaluation->segment_rows);
    evaluation->weight_bytes = matrix->height * field->bytes;
    evaluation->partial_bytes = evaluation->segments * matrix->width * field->bytes;
    bytes += memory_scratch_bytes(evaluation->weight_bytes + evaluation->partial_bytes);
    if (evaluation->exec.checks)
        bytes = base_max(bytes, memory_scratch_bytes(sizeof(uint64_t) * matrix->width));
    if (matrix->span.space == POOL_MEMORY_HOST)
        bytes += memory_scratch_bytes(
            span_extent(&matrix->span, commit_item_elements(matrix) * field->base->bytes));
    evaluation->bytes = bytes;
    return bytes <= limit ? POOL_OK : exec_fail_limit(evaluation->name, limit, bytes);
}

static pool_status check_matrix(const struct evaluation *evaluation)
{
    const pool_matrix *matrix = &evaluation->matrix;
    const pool_ntt_domain *domain = evaluation->params.domain;
    const pool_field *base = evaluation->params.field->base;
    struct span_item item = {0, "rows or columns", base->name};
    pool_status status =
        base_check_ranges(evaluation->name, {"layout", matrix->layout, 0, POOL_MATRIX_ROWS});

    if (status)
        return status;
    if (!base_is_power_of_two(matrix->height) || matrix->height >> POOL_NTT_MAX_LOG_SIZE > 1 ||
        !matrix->width || matrix->span.count != commit_item_count(matrix))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the matrix must have a height that is a power of two and one item per row or "
            "column",
            evaluation->name);
    if (domain && matrix->height != UINT64_C(1) << domain->log_size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the matrix has %llu rows and the domain 2^%u points", evaluation->name,
            (unsigned long long)matrix->height, (unsigned)domain->log_size);
    item.bytes = commit_item_elements(matrix) * base->bytes;
    return span_check_shape(&matrix->span, &item, "matrix");
}

static pool_status read_call(struct evaluation *evaluation, const char *call,
    const pool_matrix_evaluate_params *params, const pool_exec *exec, const pool_matrix *matrix,
    uint32_t count)
{
    static const struct exec_rules rules = {
        .checks = POOL_CHECK_CANONICAL, .has_memory_limit = true};
    pool_status status =
        base_struct_read(&evaluate_params_type, call, "params", params, &evaluation->params);

    evaluation->name = call;
    if (!status)
        status = fri_check_field(call, evaluation->params.field, evaluation->params.domain);
    if (!status)
        status = base_check_ranges(call,
            {"is_bit_reversed", evaluation->params.is_bit_reversed, 0,
                evaluation->params.domain != NULL},
            {"on_subgroup", evaluation->params.on_subgroup, 0, evaluation->params.domain != NULL},
            {"count", count, 1, MAX_POINTS});
    if (!status)
        status = exec_read(call, exec, &rules, &evaluation->exec);
    if (!status && !matrix)
        status = base_fail_null(call, "matrix");
    if (status)
        return status;
    evaluation->matrix = *matrix;
    evaluation->count = count;
    status = check_matrix(evaluation);
    return status ? status : plan(evaluation);
}

/* ---- one point ------------------------------------------------------------------------------- */

/* ((z / s)^N - 1) / N; 0 for a point of the domain. */
static void common_factor(const struct evaluation *evaluation, const uint64_t *z, uint64_t *factor)
{
    const pool_field *field = evaluation->params.field, *base = field->base;
    const pool_ntt_domain *domain = evaluation->params.domain;
    uint64_t inverse[FIELD_MAX_LIMBS] = {0}, one[FIELD_MAX_LIMBS], size[FIELD_MAX_LIMBS] = {0};

    field_set_one(field, one);
    inverse[0] = evaluation->params.on_subgroup ? base->one[0] : domain->coset[POOL_NTT_INVERSE][0];
    field_mul(field, factor, z, inverse);
    fri_square(field, factor, factor, domain->log_size);
    field_sub(field, factor, factor, one);
    size[0] = domain->inverse_size[0];
    field_mul(field, factor, factor, size);
}

static pool_status load_point(
    const struct evaluation *evaluation, uint32_t index, uint64_t *z, uint64_t *factor)
{
    const pool_field *field = evaluation->params.field;
    pool_status status = vector_load_scalar(
        field, evaluation->points + (size_t)index * field->bytes, evaluation->name, z);

    if (status)
        return status;
    field_set_one(field, factor);
    if (!evaluation->params.domain)
        return POOL_OK;
    common_factor(evaluation, z, factor);
    return field_is_zero(field, factor)
               ? base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: point %u is in the domain",
                     evaluation->name, (unsigned)index)
               : POOL_OK;
}

/* The factors x_i / (z - x_i) of values, or z^i of coefficients. */
static pool_status make_factors(
    const struct evaluation *evaluation, uint32_t index, const uint64_t *z, CUdeviceptr address)
{
    const pool_field *field = evaluation->params.field;
    const pool_span weights = weights_at(evaluation, address);
    const pool_exec exec = {.struct_size = sizeof(exec),
        .device = evaluation->target.device,
        .stream = evaluation->target.stream,
        .lease = evaluation->exec.lease,
        .cancel = evaluation->exec.cancel,
        .is_async = 1};
    struct fri_denominators_args args = {.out = address,
        .log_count = (unsigned)__builtin_ctzll(evaluation->matrix.height),
        .is_reversed = (unsigned)evaluation->params.is_bit_reversed};
    pool_status status;

    if (!evaluation->params.domain)
        return pool_vector_powers(
            field, &exec, evaluation->points + (size_t)index * field->bytes, &weights);
    fri_store(field, args.z, z);
    fri_store_points(evaluation->params.domain, 0, evaluation->params.on_subgroup, &args.points);
    status = fri_launch_items(
        &evaluation->target, "fri_denominators", evaluation->matrix.height, &args, sizeof(args));
    return status ? status : pool_vector_inverse(field, &exec, &weights, &weights);
}

static pool_status multiply(const struct evaluation *evaluation, const pool_span *span,
    CUdeviceptr weights, CUdeviceptr partial)
{
    const pool_matrix *matrix = &evaluation->matrix;
    const uint32_t words = evaluation->params.field->base->words;
    const uint64_t item = commit_item_elements(matrix) * words * 4;
    const uint64_t stride = span_stride(span, item) / 4;
    const bool has_rows = matrix->layout == POOL_MATRIX_ROWS;
    struct fri_dot_args args = {.matrix = (CUdeviceptr)(uintptr_t)span->data,
        .weights = weights,
        .partial = partial,
        .row_stride = has_rows ? stride : words,
        .column_stride = has_rows ? words : stride,
        .rows = matrix->height,
        .segment_rows = evaluation->segment_rows,
        .columns = matrix->width,
        .segments = (unsigned)evaluation->segments,
        .log_lanes = has_rows ? LOG_ROW_LANES : 0};
    const uint64_t groups = base_ceil_div(matrix->width, UINT64_C(1) << args.log_lanes);

    return fri_launch(
        &evaluation->target, "fri_dot", groups * evaluation->segments, BLOCK, &args, sizeof(args));
}

/* Adds the segments' sums, which have the matrix's form. */
static void finish_point(
    const struct evaluation *evaluation, uint32_t index, const uint64_t *factor)
{
    const pool_field *field = evaluation->params.field;
    const unsigned char *from = evaluation->partial;
    unsigned char *to =
        evaluation->values + (size_t)index * evaluation->matrix.width * field->bytes;

    for (uint32_t c = 0; c < evaluation->matrix.width; c++, to += field->bytes) {
        uint64_t sum[FIELD_MAX_LIMBS] = {0}, part[FIELD_MAX_LIMBS] = {0};

        for (uint64_t s = 0; s < evaluation->segments; s++, from += field->bytes) {
            field_load(field, part, from);
            field_add(field, sum, sum, part);
        }
        field_mul(field, sum, sum, factor); /* a product with a Montgomery form keeps the form */
        if (evaluation->matrix.span.form == POOL_FORM_MONTGOMERY)
            field_from_montgomery(field, sum, sum);
        field_store(field, to, sum);
    }
}

static pool_status evaluate_point(const struct evaluation *evaluation, const pool_span *span,
    uint32_t index, pool_buffer *scratch, CUdeviceptr weights)
{
    uint64_t z[FIELD_MAX_LIMBS], factor[FIELD_MAX_LIMBS];
    pool_status status = load_point(evaluation, index, z, factor);

    if (!status)
        status = make_factors(evaluation, index, z, weights);
    if (!status)
        status = multiply(evaluation, span, weights, weights + evaluation->weight_bytes);
    if (!status)
        status = pool_copy_to_host(evaluation->partial, scratch, evaluation->weight_bytes,
            evaluation->partial_bytes, evaluation->target.stream);
    if (!status)
        status = pool_stream_synchronize(evaluation->target.stream);
    if (!status)
        finish_point(evaluation, index, factor);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static pool_status check_elements(const struct evaluation *evaluation, const pool_span *span)
{
    const pool_field *base = evaluation->params.field->base;
    const uint64_t elements = commit_item_elements(&evaluation->matrix);
    const struct vector_items items = {.address = (CUdeviceptr)(uintptr_t)span->data,
        .stride = span_stride(span, elements * base->bytes),
        .count = span->count,
        .elements = elements,
        .what = "matrix"};

    return evaluation->exec.checks ? vector_check_elements(&evaluation->target, base, &items)
                                   : POOL_OK;
}

static pool_status compute(void *user, struct pipeline_chunk *chunk)
{
    struct evaluation *evaluation = user;
    pool_buffer *scratch = NULL;
    CUdeviceptr weights = 0;
    pool_status status = check_elements(evaluation, &chunk->in[0]);

    if (!status)
        status = scratch_allocate(&evaluation->target,
            evaluation->weight_bytes + evaluation->partial_bytes, &scratch, &weights);
    for (uint32_t i = 0; i < evaluation->count && !status; i++) {
        status = evaluate_point(evaluation, &chunk->in[0], i, scratch, weights);
        if (!status && i + 1 < evaluation->count)
            status = progress_add(evaluation->progress, 1);
    }
    return scratch_free(&evaluation->target, &scratch, status);
}

static pool_status evaluate(struct evaluation *evaluation)
{
    const pool_field *field = evaluation->params.field;
    const pool_matrix *matrix = &evaluation->matrix;
    /* The last point counts when the matrix has passed. */
    const uint64_t items = matrix->span.count;
    struct progress progress = {
        .call = evaluation->name, .exec = &evaluation->exec, .total = evaluation->count};
    struct pipeline pipeline = {.target = evaluation->target,
        .progress = &progress,
        .weight = 0,
        .count = items,
        .chunk_items = items,
        .slots = 1,
        .in = {{&matrix->span, commit_item_elements(matrix) * field->base->bytes, false}},
        .compute = compute,
        .user = evaluation};
    struct device_operation counted;
    pool_status status;

    evaluation->progress = &progress;
    device_operation_begin(
        &counted, evaluation->target.device, "evaluate", field->name, matrix->height);
    status = pipeline_run(&pipeline);
    if (!status)
        status = progress_add(&progress, 1);
    return device_operation_end(&counted, exec_target_end(&evaluation->target, 0, status));
}

static pool_status matrix_evaluate_timed(void *const *a)
{
    return pool_matrix_evaluate(a[0], a[1], a[2], a[3], *(uint32_t *)a[4], a[5]);
}

pool_status pool_matrix_evaluate(const pool_matrix_evaluate_params *params, const pool_exec *exec,
    const pool_matrix *matrix, const void *points, uint32_t count, void *values)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(matrix_evaluate_timed, NULL, TIMED_PARAMS(params), TIMED_EXEC(exec),
            TIMED_BYTES(matrix, sizeof(*matrix)), TIMED_POINTER(points), TIMED_VALUE(count),
            TIMED_POINTER(values));
    EXEC_SCOPE(exec);
    struct evaluation evaluation = {.points = points, .values = values};
    uint64_t z[FIELD_MAX_LIMBS], factor[FIELD_MAX_LIMBS];
    struct span_item item;
    pool_status status = base_check_pointers(__func__, {"points", points}, {"values", values});

    if (!status)
        status = read_call(&evaluation, __func__, params, exec, matrix, count);
    for (uint32_t i = 0; i < count && !status; i++)
        status = load_point(&evaluation, i, z, factor);
    if (!status)
        status = exec_target_init(&evaluation.target, &evaluation.exec);
    if (status)
        return status;
    evaluation.target.field = evaluation.params.field;
    item = (struct span_item){commit_item_elements(matrix) * evaluation.params.field->base->bytes,
        "rows or columns", evaluation.params.field->base->name};
    status = span_check(&evaluation.target, &matrix->span, &item, "matrix");
    if (status)
        return status;
    evaluation.partial = base_calloc(1, evaluation.partial_bytes);
    if (!evaluation.partial)
        return base_fail_memory("the sums of an evaluation");
    status = evaluate(&evaluation);
    base_free(evaluation.partial);
    return status;
}

pool_status pool_matrix_evaluate_workspace(const pool_matrix_evaluate_params *params,
    const pool_exec *exec, const pool_matrix *matrix, uint32_t count, uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    struct evaluation evaluation = {0};
    pool_status status = bytes ? read_call(&evaluation, __func__, params, exec, matrix, count)
                               : base_fail_null(__func__, "bytes");

    if (!status)
        *bytes = evaluation.bytes;
    return status;
}
