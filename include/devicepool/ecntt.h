/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number-theoretic transforms of points (ECNTT): the sums of ntt.h over a group of points of an
 * elliptic curve instead of the field of its scalars. Powers of the root of unity are scalars:
 *
 *   forward          Q[k] = sum over j of w^(j k) P[j]
 *   inverse          P[j] = 1/n sum over k of w^(-j k) Q[k]
 *   coset forward    the forward transform of g^j P[j]
 *   coset inverse    the inverse transform, with P[j] multiplied by g^(-j)
 *
 * Provers use it for structured reference strings in Lagrange form and for all KZG openings of a
 * polynomial at once (Feist and Khovratovich, "Fast amortized KZG proofs", 2023).
 */
#ifndef DEVICEPOOL_ECNTT_H
#define DEVICEPOOL_ECNTT_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/curve.h>
#include <devicepool/exec.h>
#include <devicepool/ntt.h>
#include <devicepool/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The maximum log_size of a transform of points. */
#define POOL_ECNTT_MAX_LOG_SIZE 32

/* Zero is the default of every member but struct_size, curve and domain. */
typedef struct pool_ecntt_params {
    size_t struct_size;
    const pool_curve *curve; /* of the points */
    /* Of elements modulo the curve's order. Its tables on devices are not used. */
    pool_ntt_domain *domain;
    pool_ntt_direction direction;
    int32_t coset; /* 1: on the domain's coset */
    pool_ntt_order order;
    pool_ntt_layout layout; /* of the batch */
    uint64_t batch;         /* number of transforms; 0: 1 */
    pool_point_layout point_layout;
    pool_point_layout result_layout; /* form and stride are those of the spans */
} pool_ecntt_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_ecntt_params_init(pool_ecntt_params *params, size_t struct_size);

/*
 * Transforms batch * 2^log_size points from `in` to `out`. Each may be in host or device memory,
 * packed or strided by a multiple of 4 bytes, in every layout of curve.h and either form. Results
 * are normalised: in all layouts their coordinates are affine ones, with Z, ZZ and ZZZ equal to 1
 * or, for infinity, as curve.h says. `out` may be exactly `in` (same data, same stride); any other
 * overlap is an error. All four orders take the same time.
 *
 * The points must belong to the subgroup of the generator; points outside of it, or not on the
 * curve, give wrong results without the check and do no other harm. Infinity, equal and opposite
 * points are handled everywhere. Not constant-time.
 *
 * Of `exec` all members but on_host are used. Checks: POOL_CHECK_ON_CURVE and
 * POOL_CHECK_SUBGROUP, which costs as much as three or four stages of the transform where the
 * curve has a cofactor. The workspace must be aligned to 256 bytes, have the size that
 * pool_ecntt_workspace reports, and not overlap the spans. Batches of rows are divided into
 * chunks of at most 2^20 points, or as few transforms as memory_limit requires, at least one;
 * batches of columns are one chunk. Progress counts points, chunk by chunk; a request to cancel
 * is examined before each chunk. With is_async the call still waits for results in host memory
 * that is pageable or strided. The first use of a curve on a device compiles its kernels, which
 * blocks, also with is_async. Over several devices whole transforms are distributed;
 * POOL_NTT_COLUMNS must be sharded unless batch is 1 (POOL_ERR_UNSUPPORTED), and shards of input
 * and output have the same transforms.
 *
 * POOL_ERR_INVALID_ARGUMENT: no curve or domain, a domain of another modulus than the curve's
 * order, a count of `in` or `out` other than batch * 2^log_size, a product of batch, size and
 * stride that overflows, a stride that is smaller than a point or not a multiple of 4, device
 * memory that is not aligned to 4 bytes, overlaps, a workspace that is too small or misaligned,
 * unknown enumeration values. POOL_ERR_UNSUPPORTED: a log_size above POOL_ECNTT_MAX_LOG_SIZE, or
 * more points than a grid can have. POOL_ERR_WRONG_DEVICE: a stream, workspace or device memory of
 * another device. POOL_ERR_BAD_DATA: a check failed. POOL_ERR_OUT_OF_DEVICE_MEMORY,
 * POOL_ERR_CANCELLED, POOL_ERR_NOT_BOUND, POOL_ERR_COMPILE, and the errors of every device call
 * (status.h). Any thread.
 */
POOL_API pool_status pool_ecntt(const pool_ecntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out);

/*
 * The exact number of device bytes that pool_ecntt uses for these spans, params and exec: the size
 * of its workspace, at most exec->memory_limit, unless that is 0. The spans' data is not read and
 * may be NULL, except for the array of shards. Requires exec->device, or a device that the calling
 * thread has bound; with exec->device_count writes one number per device.
 */
POOL_API pool_status pool_ecntt_workspace(const pool_ecntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t *bytes);

/* Compiles the curve's kernels for a device, including checks, so that no later call waits for the
 * compiler. Blocks. Of `exec` cancel, device, lease and timeout_ns. */
POOL_API pool_status pool_ecntt_warm_up(const pool_curve *curve, const pool_exec *exec);

#ifdef __cplusplus
}
#endif

#endif
