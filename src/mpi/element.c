/* SPDX-License-Identifier: Apache-2.0 */
/* The few elements of a transform that are computed one by one. */
#include "mpi/group.h"

static pool_span span_of(const struct group_element *x)
{
    return (pool_span){.data = (void *)(uintptr_t)x->bytes, .count = 1};
}

pool_status group_element_multiply(const pool_field *field, pool_device *device,
    const struct group_element *y, struct group_element *x)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    const pool_span a = span_of(x), b = span_of(y);

    return pool_vector_mul(field, &exec, &a, &b, &a);
}

pool_status group_element_invert(
    const pool_field *field, pool_device *device, struct group_element *x)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    const pool_span a = span_of(x);

    return pool_vector_inverse(field, &exec, &a, &a);
}

pool_status group_element_power(
    const pool_field *field, pool_device *device, uint64_t exponent, struct group_element *x)
{
    struct group_element square = *x, result = {{1}};
    pool_status status = POOL_OK;

    for (; exponent && !status; exponent >>= 1) {
        if (exponent & 1)
            status = group_element_multiply(field, device, &square, &result);
        if (!status && exponent > 1)
            status = group_element_multiply(field, device, &square, &square);
    }
    if (!status)
        *x = result;
    return status;
}
