/* SPDX-License-Identifier: Apache-2.0 */
/* Inverses of the elements of a vector. */
#include "zk/vector/vector.h"

#include "base/math.h"

/*
 * Elements that share one inversion of about 1.5 squarings per bit: with 64 of them that is 6
 * multiplications per element besides the 3 that sharing costs, and 2^20 elements still occupy the
 * whole chip.
 */
enum { INVERSE_SHARE = 64, INVERSE_THREADS = 64, INVERSE_PRODUCTS = 10 };

int vector_inverse_exponent(const struct vector_call *call)
{
    return (int)call->a->form + (int)call->out->form -
           2 * field_device_degree(call->frame.target.field);
}

pool_status vector_compute_inverses(struct vector_call *call)
{
    const pool_field *field = call->frame.target.field;
    struct vector_arg a = vector_arg_of(field, &call->chunk->in[0]);
    struct vector_arg out = vector_arg_of(field, &call->chunk->out);
    int exponent = vector_inverse_exponent(call);
    uint64_t count = call->chunk->count;
    uint64_t value[FIELD_MAX_LIMBS];
    uint8_t packed[POOL_FIELD_MAX_BYTES];
    CUdeviceptr scratch = 0, factor = 0;
    const uint64_t threads = base_ceil_div(count, INVERSE_SHARE);
    unsigned blocks = (unsigned)base_ceil_div(threads, INVERSE_THREADS), first_block = 0;
    void *arguments[] = {&a, &out, &scratch, &factor, &count, &blocks, &first_block};
    static const size_t sizes[] = {16, 16, 8, 8, 8, 4, 4};
    struct module_launch launch = {.count = 7,
        .arguments = arguments,
        .sizes = sizes,
        .threads = INVERSE_THREADS,
        .seconds = vector_seconds(&call->frame.target, count, INVERSE_PRODUCTS, 5),
        .first_block = &first_block};
    pool_status status =
        scratch_allocate(&call->frame.target, count * field->bytes, &call->scratch, &scratch);

    if (!status && exponent) {
        field_power_of_r(field, value, exponent);
        field_store_for_device(field, packed, value);
        status = vector_upload_constants(call, packed, 1, &factor);
    }
    return status ? status : vector_launch(&call->frame.target, "vector_invert", threads, &launch);
}
