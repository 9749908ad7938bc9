/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations of vectors: bit reversal and transposition. */
#include "zk/vector/vector.h"

#include "base/log.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/operation/timeout.h"

enum { TRANSPOSE_TILE = 16 };

/* Forms that differ: a first copy has the factor, and the permutation follows it. */
static pool_status same_form(const pool_span *a, const pool_span *out, const char *name)
{
    return a->form == out->form ? POOL_OK
                                : base_fail(POOL_ERR_INVALID_ARGUMENT,
                                      "%s moves elements and does not change their form", name);
}

static pool_status bit_reverse(struct vector_call *call)
{
    struct vector_arg from = vector_arg_of(call->target.field, &call->chunk->in[0]);
    struct vector_arg to = vector_arg_of(call->target.field, &call->chunk->out);
    uint32_t log_count = (uint32_t)__builtin_ctzll(call->chunk->count);
    void *arguments[] = {&from, &to, &log_count};
    static const size_t sizes[] = {16, 16, 4};
    struct module_launch launch = {.count = 3, .arguments = arguments, .sizes = sizes};

    return vector_launch(&call->target, "vector_bit_reverse", call->chunk->count, &launch);
}

static pool_status vector_bit_reverse_timed(void *const *a)
{
    return pool_vector_bit_reverse(a[0], a[1], a[2], a[3]);
}

pool_status pool_vector_bit_reverse(
    const pool_field *field, const pool_exec *exec, const pool_span *a, const pool_span *out)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(vector_bit_reverse_timed, NULL, TIMED_POINTER(field), TIMED_EXEC(exec),
            TIMED_SPAN(a), TIMED_SPAN(out));
    EXEC_SCOPE(exec);
    struct vector_call call;
    pool_status status = vector_begin_unary(
        field, exec, &call, a, out, 1, POOL_VECTOR_BIT_REVERSE, "pool_vector_bit_reverse");

    if (!status)
        status = same_form(a, out, "pool_vector_bit_reverse");
    if (!status && !base_is_power_of_two(a->count))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_vector_bit_reverse: %llu elements are no power of two",
            (unsigned long long)a->count);
    if (status)
        return status;
    call.compute = bit_reverse;
    return vector_run(&call);
}

struct matrix {
    uint64_t rows;
    uint64_t columns;
};

static pool_status transpose(struct vector_call *call)
{
    struct matrix matrix = *(const struct matrix *)call->user;
    struct vector_arg from = vector_arg_of(call->target.field, &call->chunk->in[0]);
    struct vector_arg to = vector_arg_of(call->target.field, &call->chunk->out);
    uint64_t down = (matrix.rows - 1) / TRANSPOSE_TILE + 1;
    uint64_t across = (matrix.columns - 1) / TRANSPOSE_TILE + 1;
    void *arguments[] = {&from, &to, &matrix.rows, &matrix.columns};
    static const size_t sizes[] = {16, 16, 8, 8};
    struct module_launch launch = {.count = 4,
        .arguments = arguments,
        .sizes = sizes,
        .threads = TRANSPOSE_TILE * TRANSPOSE_TILE};

    return down > INT32_MAX / across
               ? base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_vector_transpose: too many tiles")
               : vector_launch(
                     &call->target, "vector_transpose", down * across * launch.threads, &launch);
}

static pool_status vector_transpose_timed(void *const *a)
{
    return pool_vector_transpose(a[0], a[1], *(uint64_t *)a[2], *(uint64_t *)a[3], a[4], a[5]);
}

pool_status pool_vector_transpose(const pool_field *field, const pool_exec *exec, uint64_t rows,
    uint64_t columns, const pool_span *a, const pool_span *out)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(vector_transpose_timed, NULL, TIMED_POINTER(field), TIMED_EXEC(exec),
            TIMED_VALUE(rows), TIMED_VALUE(columns), TIMED_SPAN(a), TIMED_SPAN(out));
    EXEC_SCOPE(exec);
    const struct matrix matrix = {rows, columns};
    struct vector_call call;
    uint64_t count;
    pool_status status = vector_begin_unary(
        field, exec, &call, a, out, 0, POOL_VECTOR_TRANSPOSE, "pool_vector_transpose");

    if (!status)
        status = same_form(a, out, "pool_vector_transpose");
    if (!status && (__builtin_mul_overflow(rows, columns, &count) || count != a->count))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_vector_transpose: %llu elements are not %llu rows of %llu",
            (unsigned long long)a->count, (unsigned long long)rows, (unsigned long long)columns);
    if (status)
        return status;
    call.compute = transpose;
    call.user = &matrix;
    return vector_run(&call);
}
