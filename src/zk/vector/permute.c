/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations of vectors: bit reversal and transposition. */
#include "zk/vector/vector.h"

#include "base/math.h"
#include "base/status.h"

/* Of an element; each of a bit reversal is to a sector of its own. */
enum { TRANSPOSE_TILE = 16, REVERSAL_ACCESSES = 8 };

/* Forms that differ: a first copy has the factor, and the permutation follows it. */
static pool_status same_form(const struct vector_call *call)
{
    return call->a->form == call->out->form
               ? POOL_OK
               : base_fail(POOL_ERR_INVALID_ARGUMENT,
                     "%s moves elements and does not change their form", call->frame.name);
}

pool_status vector_compute_reversal(struct vector_call *call)
{
    struct vector_arg from = vector_arg_of(call->frame.target.field, &call->chunk->in[0]);
    struct vector_arg to = vector_arg_of(call->frame.target.field, &call->chunk->out);
    uint32_t log_count = (uint32_t)__builtin_ctzll(call->chunk->count);
    unsigned first_block = 0;
    void *arguments[] = {&from, &to, &log_count, &first_block};
    static const size_t sizes[] = {16, 16, 4, 4};
    struct module_launch launch = {.count = 4,
        .arguments = arguments,
        .sizes = sizes,
        .seconds = vector_seconds(&call->frame.target, call->chunk->count, 0, REVERSAL_ACCESSES),
        .first_block = &first_block};

    return vector_launch(&call->frame.target, "vector_bit_reverse", call->chunk->count, &launch);
}

pool_status vector_check_reversal(struct vector_call *call)
{
    pool_status status = same_form(call);

    if (!status && !base_is_power_of_two(call->a->count))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: %llu elements are no power of two",
            call->frame.name, (unsigned long long)call->a->count);
    return status;
}

pool_status vector_compute_transposition(struct vector_call *call)
{
    struct vector_arg from = vector_arg_of(call->frame.target.field, &call->chunk->in[0]);
    struct vector_arg to = vector_arg_of(call->frame.target.field, &call->chunk->out);
    uint64_t down = (call->rows - 1) / TRANSPOSE_TILE + 1;
    uint64_t across = (call->columns - 1) / TRANSPOSE_TILE + 1;
    unsigned first_block = 0;
    void *arguments[] = {&from, &to, &call->rows, &call->columns, &first_block};
    static const size_t sizes[] = {16, 16, 8, 8, 4};
    struct module_launch launch = {.count = 5,
        .arguments = arguments,
        .sizes = sizes,
        .seconds = vector_seconds(&call->frame.target, call->chunk->count, 0, 2),
        .first_block = &first_block,
        .threads = TRANSPOSE_TILE * TRANSPOSE_TILE};

    return down > INT32_MAX / across
               ? base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_vector_transpose: too many tiles")
               : vector_launch(&call->frame.target, "vector_transpose",
                     down * across * launch.threads, &launch);
}

pool_status vector_check_transposition(struct vector_call *call)
{
    uint64_t count;
    pool_status status = same_form(call);

    if (!status &&
        (__builtin_mul_overflow(call->rows, call->columns, &count) || count != call->a->count))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: %llu elements are not %llu rows of %llu",
            call->frame.name, (unsigned long long)call->a->count, (unsigned long long)call->rows,
            (unsigned long long)call->columns);
    return status;
}
