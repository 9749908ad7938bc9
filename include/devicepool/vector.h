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
 * checked when params->check is 1, single numbers always (POOL_ERR_BAD_DATA).
 */
#ifndef DEVICEPOOL_VECTOR_H
#define DEVICEPOOL_VECTOR_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/field.h>
#include <devicepool/pool.h>
#include <devicepool/span.h>
#include <devicepool/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero is the default of every member but struct_size and field. */
typedef struct pool_vector_params {
    size_t struct_size;
    const pool_field *field;
    pool_device *device; /* NULL: the one that the calling thread has bound */
    pool_stream *stream; /* of that device; NULL: its default stream */
    int32_t is_async;    /* 0: the result is there when the call returns; see pool_ntt_params */
    /* 1: refuse arguments with an element that is not below the modulus (POOL_ERR_BAD_DATA; the
     * message has the index of the first one); waits for the check. 0: such elements give wrong
     * results. */
    int32_t check;
} pool_vector_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_vector_params_init(pool_vector_params *params, size_t struct_size);

/* Element by element: out[i] = a[i] + b[i], a[i] - b[i], a[i] b[i]. */
POOL_API pool_status pool_vector_add(
    const pool_vector_params *params, const pool_span *a, const pool_span *b, pool_span *out);
POOL_API pool_status pool_vector_sub(
    const pool_vector_params *params, const pool_span *a, const pool_span *b, pool_span *out);
POOL_API pool_status pool_vector_mul(
    const pool_vector_params *params, const pool_span *a, const pool_span *b, pool_span *out);

/* out[i] = scalar a[i]. `scalar` is one element in host memory, in standard form. */
POOL_API pool_status pool_vector_scale(
    const pool_vector_params *params, const void *scalar, const pool_span *a, pool_span *out);

/* out[i] = 1 / a[i], and 0 for 0. */
POOL_API pool_status pool_vector_inverse(
    const pool_vector_params *params, const pool_span *a, pool_span *out);

/*
 * out[reverse(i)] = a[i], for a power of two of elements. Both spans are of one form, here and for
 * the transpose (POOL_ERR_INVALID_ARGUMENT).
 */
POOL_API pool_status pool_vector_bit_reverse(
    const pool_vector_params *params, const pool_span *a, pool_span *out);

/* out[c rows + r] = a[r columns + c]: a matrix of `rows` rows becomes one of `columns` rows. Not in
 * place. */
POOL_API pool_status pool_vector_transpose(const pool_vector_params *params, uint64_t rows,
    uint64_t columns, const pool_span *a, pool_span *out);

/* out[i] = base^i for all of out. `base` is one element in host memory, in standard form. */
POOL_API pool_status pool_vector_powers(
    const pool_vector_params *params, const void *base, pool_span *out);

/*
 * value = a[0] + a[1] point + a[2] point^2 + ... `point` and `value` are one element each in host
 * memory, in standard form. Waits for the result whatever is_async says. No elements give 0.
 */
POOL_API pool_status pool_vector_evaluate(
    const pool_vector_params *params, const pool_span *a, const void *point, void *value);

#ifdef __cplusplus
}
#endif

#endif
