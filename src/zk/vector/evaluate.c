/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a polynomial at a point. */
#include "zk/vector/vector.h"

#include "base/math.h"

enum { SUM_BLOCK = 256 };

/* Halves the number of partial sums by 256 until one is left, at the front of either half. */
static pool_status sum_up(
    struct vector_call *call, CUdeviceptr partial, uint64_t count, uint64_t *offset)
{
    uint64_t room = count;
    int is_second = 0;
    pool_status status = POOL_OK;

    while (!status && count > 1) {
        CUdeviceptr from = partial + (is_second ? room : 0) * call->frame.target.field->bytes;
        CUdeviceptr to = partial + (is_second ? 0 : room) * call->frame.target.field->bytes;
        void *arguments[] = {&from, &count, &to};
        static const size_t sizes[] = {8, 8, 8};
        struct module_launch launch = {
            .count = 3, .arguments = arguments, .sizes = sizes, .threads = SUM_BLOCK};

        status = vector_launch(&call->frame.target, "vector_sum_blocks", count, &launch);
        count = (count + SUM_BLOCK - 1) / SUM_BLOCK;
        is_second = !is_second;
    }
    *offset = is_second ? room : 0;
    return status;
}

static pool_status evaluate(struct vector_call *call, const uint64_t *number, uint8_t *packed)
{
    const pool_field *field = call->frame.target.field;
    struct vector_arg a = vector_arg_of(field, &call->chunk->in[0]);
    uint64_t count = call->chunk->count, offset = 0, zero[FIELD_MAX_LIMBS] = {0};
    uint32_t log_threads = vector_log_threads(count);
    CUdeviceptr squares = 0, partial = 0;
    const struct exec_target *target = &call->frame.target;
    const double seconds = vector_seconds(target, count, 1, 1);
    const uint64_t steps = /* of a thread */
        base_max(base_ceil_div(count, UINT64_C(1) << log_threads), 1);
    const uint64_t slice = vector_slice(target, steps, seconds);
    uint64_t first = base_ceil_div(steps, slice) * slice << log_threads, end;
    void *arguments[] = {&a, &count, &squares, &partial, &log_threads, &first, &end};
    static const size_t sizes[] = {16, 8, 8, 8, 4, 8, 8};
    struct module_launch launch = {.count = 7,
        .arguments = arguments,
        .sizes = sizes,
        .seconds = seconds * (double)slice / (double)steps};
    pool_status status = vector_store_powers_of_two(call, number, zero, &squares);

    if (!status)
        status = scratch_allocate(&call->frame.target, ((uint64_t)2 << log_threads) * field->bytes,
            &call->scratch, &partial);
    while (first > 0 && !status) {
        end = base_min(first, count);
        first -= slice << log_threads;
        status = vector_launch(target, "vector_evaluate", 1u << log_threads, &launch);
    }
    if (!status)
        status = sum_up(call, partial, 1u << log_threads, &offset);
    if (!status)
        status = pool_copy_to_host(
            packed, call->scratch, offset * field->bytes, field->bytes, call->frame.target.stream);
    return status ? status : pool_stream_synchronize(call->frame.target.stream);
}

pool_status vector_compute_value(struct vector_call *call)
{
    const pool_field *field = call->field;
    uint64_t value[FIELD_MAX_LIMBS] = {0}, power[FIELD_MAX_LIMBS];
    uint8_t packed[POOL_FIELD_MAX_BYTES] = {0};
    pool_status status = evaluate(call, call->number, packed);

    if (status)
        return status;
    field_load(field, value, packed);
    if (call->a->form == POOL_FORM_STANDARD)
        field_to_montgomery(field, value, value);
    field_pow(field, power, call->number, &call->chunk->first, 1);
    field_mul(field, value, value, power);
    field_add(field, call->sum, call->sum, value);
    return POOL_OK;
}
