/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on vectors of field elements, as provers need them between transforms.
 *
 * The field may be an extension (field.h). Spans (span.h) have elements as items, in host or device
 * memory, packed or strided, each in either form. Host memory passes through the device in chunks
 * (64 MiB per operand), so it may be larger than the device's memory; only pool_vector_bit_reverse
 * and pool_vector_transpose need device memory for all elements of spans in host memory. After a
 * failure a result in host memory may have been written in part. A result may be exactly one of the
 * arguments (same data, same stride) unless the function says otherwise; other overlaps are errors.
 * POOL_ERR_INVALID_ARGUMENT: counts that do not match, strides that are smaller than an element or
 * not a multiple of 4, device memory that is not aligned to 4 bytes, and NULL. The first use of a
 * field on a device compiles its kernels. Elements must be below the modulus; arguments are checked
 * with POOL_CHECK_CANONICAL, single elements always (POOL_ERR_BAD_DATA). Any thread.
 *
 * Of `exec` all members but on_host and workspace are used. A memory limit reduces the chunks, down
 * to one element; pool_vector_bit_reverse and pool_vector_transpose use one chunk. Progress counts
 * elements.
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

/* out[i] = 1 / a[i]; the inverse of 0 is 0. */
POOL_API pool_status pool_vector_inverse(
    const pool_field *field, const pool_exec *exec, const pool_span *a, const pool_span *out);

/*
 * out[reverse(i)] = a[i]; the count must be a power of two. Both spans must have the same form,
 * here and for the transpose (POOL_ERR_INVALID_ARGUMENT).
 */
POOL_API pool_status pool_vector_bit_reverse(
    const pool_field *field, const pool_exec *exec, const pool_span *a, const pool_span *out);

/* out[c rows + r] = a[r columns + c]: transposes a row-major matrix of `rows` rows. Not in place.
 */
POOL_API pool_status pool_vector_transpose(const pool_field *field, const pool_exec *exec,
    uint64_t rows, uint64_t columns, const pool_span *a, const pool_span *out);

/* out[i] = base^i for all i. `base` is one element in host memory, in standard form. */
POOL_API pool_status pool_vector_powers(
    const pool_field *field, const pool_exec *exec, const void *base, const pool_span *out);

/*
 * value = a[0] + a[1] point + a[2] point^2 + ..., or 0 if `a` has no elements. `point` and `value`
 * are single elements in host memory, in standard form. Waits for the result also with is_async.
 */
POOL_API pool_status pool_vector_evaluate(const pool_field *field, const pool_exec *exec,
    const pool_span *a, const void *point, void *value);

/* The functions above. */
typedef enum pool_vector_operation {
    POOL_VECTOR_ADD = 0,
    POOL_VECTOR_SUB = 1,
    POOL_VECTOR_MUL = 2,
    POOL_VECTOR_SCALE = 3,
    POOL_VECTOR_INVERSE = 4,
    POOL_VECTOR_BIT_REVERSE = 5,
    POOL_VECTOR_TRANSPOSE = 6,
    POOL_VECTOR_POWERS = 7,
    POOL_VECTOR_EVALUATE = 8
} pool_vector_operation;

/*
 * The exact number of device bytes that a call of the operation's function with these spans and
 * exec allocates: at most exec->memory_limit, unless that is 0. Spans that the function does not
 * have are NULL, and `b` is `a` where the call passes one span as both. The spans' data is not read
 * and may be NULL; a device is not needed. Kernels that the first call loads do not count. Errors:
 * as of the call for its spans and exec.
 */
POOL_API pool_status pool_vector_workspace(const pool_field *field, const pool_exec *exec,
    pool_vector_operation operation, const pool_span *a, const pool_span *b, const pool_span *out,
    uint64_t *bytes);

/* Compiles the field's vector kernels for a device, so that no later call waits for that. Blocks.
 * Of `exec` cancel, device, lease and timeout_ns. */
POOL_API pool_status pool_vector_warm_up(const pool_field *field, const pool_exec *exec);

#ifdef __cplusplus
}
#endif

#endif
