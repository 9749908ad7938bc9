/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of field elements on a device: what provers do between transforms.
 *
 * Spans are as in span.h, their items being elements: host or device, packed or strided, each in a
 * form of its own. Host memory is copied through the device, in parts where it is long (64 MiB of
 * each operand at a time), so that it may be longer than the device's memory; only the functions
 * that move elements, pool_vector_bit_reverse and pool_vector_transpose, need room on the device
 * for all of what they are given in host memory. After a failure a result in host memory may have
 * some of its elements. A result may be exactly one of the arguments (same data, same stride)
 * unless the function says otherwise; other overlaps are refused. All functions refuse, with
 * POOL_ERR_INVALID_ARGUMENT, counts that do not agree, strides smaller than an element or no
 * multiple of 4, device memory not aligned to 4 bytes, and NULL. The first use of a field on a
 * device compiles its kernels. Elements must be below the modulus; those of the arguments are
 * checked with POOL_CHECK_CANONICAL, single numbers always (POOL_ERR_BAD_DATA).
 *
 * `exec` has a use for all but on_host and workspace. With a memory limit vectors are worked on in
 * chunks that fit, down to one element; pool_vector_bit_reverse and pool_vector_transpose have one
 * chunk. Progress counts elements.
 */
#ifndef DEVICEPOOL_VECTOR_H
#define DEVICEPOOL_VECTOR_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/exec.h>
#include <devicepool/field.h>
#include <devicepool/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element by element: out[i] = a[i] + b[i], a[i] - b[i], a[i] b[i]. */
POOL_API pool_status pool_vector_add(const pool_field *field, const pool_exec *exec,
    const pool_span *a, const pool_span *b, const pool_span *out);
POOL_API pool_status pool_vector_sub(const pool_field *field, const pool_exec *exec,
    const pool_span *a, const pool_span *b, const pool_span *out);
POOL_API pool_status pool_vector_mul(const pool_field *field, const pool_exec *exec,
    const pool_span *a, const pool_span *b, const pool_span *out);

/* out[i] = scalar a[i]. `scalar` is one element in host memory, in standard form. */
POOL_API pool_status pool_vector_scale(const pool_field *field, const pool_exec *exec,
    const void *scalar, const pool_span *a, const pool_span *out);

/* out[i] = 1 / a[i], and 0 for 0. */
POOL_API pool_status pool_vector_inverse(
    const pool_field *field, const pool_exec *exec, const pool_span *a, const pool_span *out);

/*
 * out[reverse(i)] = a[i], for a power of two of elements. Both spans are of one form, here and for
 * the transpose (POOL_ERR_INVALID_ARGUMENT).
 */
POOL_API pool_status pool_vector_bit_reverse(
    const pool_field *field, const pool_exec *exec, const pool_span *a, const pool_span *out);

/* out[c rows + r] = a[r columns + c]: a matrix of `rows` rows becomes one of `columns` rows. Not in
 * place. */
POOL_API pool_status pool_vector_transpose(const pool_field *field, const pool_exec *exec,
    uint64_t rows, uint64_t columns, const pool_span *a, const pool_span *out);

/* out[i] = base^i for all of out. `base` is one element in host memory, in standard form. */
POOL_API pool_status pool_vector_powers(
    const pool_field *field, const pool_exec *exec, const void *base, const pool_span *out);

/*
 * value = a[0] + a[1] point + a[2] point^2 + ... `point` and `value` are each one element in host
 * memory, in standard form. Waits for the result whatever is_async says. No elements give 0.
 */
POOL_API pool_status pool_vector_evaluate(const pool_field *field, const pool_exec *exec,
    const pool_span *a, const void *point, void *value);

/* Compiles the field's vector kernels for a device, so that no call has to wait for it. Blocks.
 * `device` NULL: the one that the calling thread has bound. */
POOL_API pool_status pool_vector_warm_up(const pool_field *field, pool_device *device);

#ifdef __cplusplus
}
#endif

#endif
