/* SPDX-License-Identifier: Apache-2.0 */
/* The powers of an element. */
#include "zk/vector/vector.h"

#include "base/math.h"

enum { BLOCK = 256 };

void vector_pack_powers_of_two(const pool_field *field, void *packed, const uint64_t *base)
{
    uint64_t power[FIELD_MAX_LIMBS];

    field_copy(field, power, base);
    for (uint32_t i = 0; i < VECTOR_POWERS_OF_TWO; i++) {
        field_store_for_device(field, (uint8_t *)packed + (size_t)i * field->bytes, power);
        field_sqr(field, power, power);
    }
}

pool_status vector_store_powers_of_two(
    struct vector_call *call, const uint64_t *number, const uint64_t *more, CUdeviceptr *squares)
{
    const pool_field *field = call->frame.target.field;
    uint8_t packed[VECTOR_POWER_CONSTANTS * POOL_FIELD_MAX_BYTES];

    vector_pack_powers_of_two(field, packed, number);
    field_store_for_device(field, packed + (size_t)VECTOR_POWERS_OF_TWO * field->bytes, more);
    return vector_upload_constants(call, packed, VECTOR_POWER_CONSTANTS, squares);
}

/* The powers from number^start on. */
pool_status vector_compute_powers(struct vector_call *call)
{
    const pool_field *field = call->frame.target.field;
    const uint64_t *number = call->number;
    const struct vector_arg target = vector_arg_of(field, &call->chunk->out);
    uint64_t first[FIELD_MAX_LIMBS], power[FIELD_MAX_LIMBS], start = call->chunk->first;
    uint64_t count = call->chunk->count, stride = target.stride;
    int exponent = (int)call->out->form - field_device_degree(field);
    uint32_t log_threads = vector_log_threads(count);
    CUdeviceptr out = target.data, squares = 0, scale = 0;
    const struct exec_target *on = &call->frame.target;
    const double seconds = vector_seconds(on, count, 1, 1);
    const uint64_t steps = base_ceil_div(count, UINT64_C(1) << log_threads); /* of a thread */
    const uint64_t slice = vector_slice(on, steps, seconds);
    uint64_t index = 0, end = 0;
    void *arguments[] = {&out, &end, &stride, &squares, &scale, &log_threads, &index};
    static const size_t sizes[] = {8, 8, 8, 8, 8, 4, 8};
    struct module_launch launch = {.count = 7,
        .arguments = arguments,
        .sizes = sizes,
        .threads = 1u << log_threads < BLOCK ? 1u << log_threads : BLOCK,
        .seconds = seconds * (double)slice / (double)base_max(steps, 1)};
    pool_status status;

    field_power_of_r(field, first, exponent);
    field_pow(field, power, number, &start, 1);
    field_mul(field, first, first, power);
    status = vector_store_powers_of_two(call, number, first, &squares);
    if (exponent || start)
        scale = squares + (uint64_t)VECTOR_POWERS_OF_TWO * field->bytes;
    for (; index < count && !status; index += slice << log_threads) {
        end = base_min(index + (slice << log_threads), count);
        status = vector_launch(on, "vector_powers", 1u << log_threads, &launch);
    }
    return status;
}
