/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_matrix_bit_reverse.
 */
#include "base/log.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/commit/commit.h"
#include "zk/fri/fri.h"
#include "zk/operation/timeout.h"

static uint64_t item_bytes(const pool_field *field, const pool_matrix *matrix)
{
    return commit_item_elements(matrix) * field->bytes;
}

static pool_status check_matrix(
    const struct exec_target *target, const pool_matrix *matrix, const char *what)
{
    const pool_field *field = target->field;
    struct span_item item = {0, "rows or columns", field->name};
    pool_status status = base_check_ranges(
        "pool_matrix_bit_reverse", {"layout", matrix->layout, 0, POOL_MATRIX_ROWS});

    if (status)
        return status;
    if (!base_is_power_of_two(matrix->height) || matrix->height >> COMMIT_MAX_LOG_HEIGHT > 1 ||
        !matrix->width || matrix->span.count != commit_item_count(matrix) ||
        matrix->span.space != POOL_MEMORY_DEVICE)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_matrix_bit_reverse: the %s must be in device memory, with a height that is a "
            "power of two and one item per row or column",
            what);
    item.bytes = item_bytes(field, matrix);
    return span_check(target, &matrix->span, &item, what);
}

static pool_status check_pair(
    const pool_field *field, const pool_matrix *in, const pool_matrix *out)
{
    const uint64_t bytes = item_bytes(field, in);
    const bool is_same = in->span.data == out->span.data &&
                         span_stride(&in->span, bytes) == span_stride(&out->span, bytes);

    if (in->height != out->height || in->width != out->width || in->layout != out->layout ||
        in->span.form != out->span.form)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_matrix_bit_reverse: the matrices differ in height, width, layout or form");
    if (!is_same && spans_overlap(&in->span, bytes, &out->span, bytes))
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "pool_matrix_bit_reverse: the matrices overlap");
    return POOL_OK;
}

static pool_status enqueue(
    const struct exec_target *target, const pool_matrix *in, const pool_matrix *out)
{
    const uint64_t words = target->field->bytes / 4, bytes = item_bytes(target->field, in);
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

static pool_status matrix_bit_reverse_timed(void *const *a)
{
    return pool_matrix_bit_reverse(a[0], a[1], a[2], a[3]);
}

pool_status pool_matrix_bit_reverse(
    const pool_field *field, const pool_exec *given, const pool_matrix *in, const pool_matrix *out)
{
    if (exec_has_timeout(given))
        return TIMED_RUN(matrix_bit_reverse_timed, NULL, TIMED_POINTER(field), TIMED_EXEC(given),
            TIMED_BYTES(in, sizeof(*in)), TIMED_BYTES(out, sizeof(*out)));
    static const struct exec_rules rules = {.has_async = true};
    EXEC_SCOPE(given);
    struct exec_target target = {.field = field};
    pool_exec exec;
    pool_status status = base_check_pointers(__func__, {"field", field}, {"in", in}, {"out", out});

    if (!status)
        status = exec_read(__func__, given, &rules, &exec);
    if (!status)
        status = exec_target_init(&target, &exec);
    if (!status)
        status = check_matrix(&target, in, "argument");
    if (!status)
        status = check_matrix(&target, out, "result");
    if (!status)
        status = check_pair(field, in, out);
    return status ? status : exec_target_end(&target, exec.is_async, enqueue(&target, in, out));
}
