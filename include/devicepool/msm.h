/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-scalar multiplication: sums of k_i P_i over any curve of curve.h, one or many at once.
 */
#ifndef DEVICEPOOL_MSM_H
#define DEVICEPOOL_MSM_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/check.h>
#include <devicepool/curve.h>
#include <devicepool/exec.h>
#include <devicepool/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Points that stay in a device's memory as kernels read them, so that a service loads its
 * structured reference string once a device: with precomputed bases, where asked for, which make
 * every sum over them cheaper. Immutable: any number of threads and jobs may use one at once.
 * Counts references. It keeps its pool from being destroyed.
 */
typedef struct pool_bases pool_bases;

/* Zero is the default of every member but struct_size and curve. */
typedef struct pool_bases_params {
    size_t struct_size;
    const pool_curve *curve;  /* required; the handle holds a reference */
    pool_point_layout layout; /* of the given points */
    /*
     * Multiples kept of each point, itself included: 2^(j s) P for j < factor, s chosen with the
     * window bits. Memory grows and the number of bucket sets falls by the factor. 0 and 1: the
     * points alone. POOL_PRECOMPUTE_ALL: as many as there are windows, so that one set remains.
     */
    uint32_t precompute_factor;
    uint32_t window_bits; /* of the sums over the tables; 0: chosen from count, factor and chip */
    uint32_t scalar_bits; /* of the scalars to come, as in pool_msm_params; 0: of the order */
} pool_bases_params;

#define POOL_PRECOMPUTE_ALL UINT32_MAX

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_bases_params_init(pool_bases_params *params, size_t struct_size);

/*
 * Brings points to a device, and makes the tables. `exec` has device, stream, checks
 * (POOL_CHECK_ON_CURVE, POOL_CHECK_SUBGROUP), cancel and progress (in points). Blocks until they
 * are there. Host memory of any size is staged in parts. The caller owns one reference.
 * POOL_ERR_INVALID_ARGUMENT: no curve, a stride smaller than a point, misaligned device memory,
 * members without a meaning, more than 2^31
 * - 1 points times factor. POOL_ERR_BAD_DATA: what the checks found. POOL_ERR_OUT_OF_DEVICE_MEMORY,
 * POOL_ERR_CANCELLED, POOL_ERR_NOT_BOUND, POOL_ERR_COMPILE and what the device's state gives.
 */
POOL_API pool_status pool_bases_create(const pool_bases_params *params, const pool_exec *exec,
    const pool_span *points, pool_bases **handle);

/* One more reference, to be given back by pool_bases_destroy. NULL gives NULL. */
POOL_API pool_bases *pool_bases_retain(pool_bases *points);

/*
 * Gives one reference back, frees the memory with the last one and sets *points to NULL. Sums over
 * it that are enqueued end first. NULL is a no-op.
 */
POOL_API pool_status pool_bases_destroy(pool_bases **points);

/* Facts. Any thread. With NULL: NULL or 0. Curve and device are borrowed. */
POOL_API const pool_curve *pool_bases_curve(const pool_bases *points);
POOL_API pool_device *pool_bases_device(const pool_bases *points);
POOL_API uint64_t pool_bases_count(const pool_bases *points);
POOL_API uint64_t pool_bases_bytes(const pool_bases *points); /* of device memory */
POOL_API uint32_t pool_bases_precompute_factor(const pool_bases *points);
POOL_API uint32_t pool_bases_window_bits(const pool_bases *points); /* 0 without tables */

/*
 * SHA-256 over the curve's fingerprint, the count and the affine points in standard form: the same
 * for the same points, in whatever layout they were given and with or without tables. Computed at
 * the first call, which reads the points back; then kept.
 */
POOL_API pool_status pool_bases_fingerprint(
    pool_bases *points, uint8_t fingerprint[POOL_FINGERPRINT_BYTES]);

/*
 * The handle of that fingerprint and factor that lives on the device, with one more reference;
 * POOL_ERR_NOT_FOUND. Handles are found whose fingerprint was asked for, or loaded from a file,
 * before.
 */
POOL_API pool_status pool_bases_find(pool_device *device,
    const uint8_t fingerprint[POOL_FINGERPRINT_BYTES], uint32_t factor, pool_bases **points);

/*
 * Writes points and tables to a file, over an old one only when all went well (until then it is
 * named `path`.<16 random hexadecimal digits>.part; a process that is killed leaves it behind, and
 * the next save to the same path deletes it),
 * and reads them back onto the device of `exec` (layout, factor, window and scalar bits of the
 * params are not used: the file has them). The file's digest and the fingerprint of its points are
 * always checked, against damage and against a file that passes for another; whether they are
 * points of the curve, and the tables their multiples, only with exec->checks, which computes the
 * tables anew. POOL_ERR_BAD_DATA: not such a file, of another curve, truncated, damaged, with
 * another fingerprint than its points have, and what the checks found. POOL_ERR_IO.
 */
POOL_API pool_status pool_bases_save(pool_bases *points, const char *path);
POOL_API pool_status pool_bases_load(
    const pool_bases_params *params, const pool_exec *exec, const char *path, pool_bases **points);

/* Zero is the default of every member but struct_size, and curve where no handle is given. */
typedef struct pool_msm_params {
    size_t struct_size;
    const pool_curve *curve;
    pool_bases *bases;               /* instead of a span of points */
    uint64_t first_base;             /* of `bases`: the one of scalar 0; 0 without `bases` */
    pool_point_layout point_layout;  /* of the span of points */
    pool_point_layout result_layout; /* form and stride are the result span's */
    uint64_t batch;                  /* sums; 0: 1 */
    /*
     * 0: each sum has points of its own, one sum's after another's, in the span as in a handle.
     * 1: all sums are over the same points.
     */
    int32_t shared_bases;
    /* Scalars are below 2^scalar_bits; 0: below the order; at most the bits that an element of the
     * scalar field has in memory. Fewer bits cost less. Larger scalars are trusted not to be there,
     * or refused with POOL_CHECK_CANONICAL; with POOL_CHECK_REDUCE it must be 0.
     */
    uint32_t scalar_bits;
    uint32_t window_bits; /* 2 … 24; 0: chosen from sizes, chip and memory */
} pool_msm_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_msm_params_init(pool_msm_params *params, size_t struct_size);

/*
 * results[b] = sum over i < n of scalars[b n + i] * points[b n + i] (or points[i], when shared) for
 * b < batch, where n = scalars->count / batch. n = 0 gives infinity.
 *
 * Points are a span of `point_layout` (AFFINE_FLAG, JACOBIAN, ... included) in either form, or NULL
 * with params->bases. Scalars are elements of the curve's scalar field in either form. Spans may
 * be in host or device memory, packed or strided by a multiple of 4 bytes; the results overlap
 * neither. Packed affine points in Montgomery form on the device, at a multiple of 16 bytes, are
 * read where they are; all others are brought into that shape first. Any points and scalars are
 * right: infinity, equal and opposite points, zeros, all the same. Time does not depend on values
 * but for skewed scalars, which may cost up to twice as much; it is no constant time.
 *
 * `exec` has a use for all but on_host. Checks: POOL_CHECK_CANONICAL or POOL_CHECK_REDUCE of the
 * scalars; POOL_CHECK_ON_CURVE or POOL_CHECK_SUBGROUP of a span of points, not of params->bases,
 * which are checked where they are made. The workspace is at a multiple of 256, as large as
 * pool_msm_workspace reports. The smallest chunk has 2^10 points. Progress counts scalars. Results
 * in pageable memory are waited for with is_async, too.
 *
 * Refused with POOL_ERR_INVALID_ARGUMENT: counts that do not fit together, a stride that is too
 * small or no multiple of 4, device memory that is not aligned to 4 bytes, more than the handle's
 * points, window bits that are not those of the handle's tables, a workspace that is too small,
 * members without a meaning. POOL_ERR_WRONG_DEVICE: a handle, stream, workspace or device memory of
 * another device. POOL_ERR_BAD_DATA: what the checks found. POOL_ERR_OUT_OF_DEVICE_MEMORY when not
 * even the smallest part fits, POOL_ERR_CANCELLED, POOL_ERR_NOT_BOUND, POOL_ERR_COMPILE and what
 * the device's state gives. Results are written on success only.
 */
POOL_API pool_status pool_msm(const pool_msm_params *params, const pool_exec *exec,
    const pool_span *points, const pool_span *scalars, const pool_span *results);

/*
 * Device bytes that pool_msm takes for these spans with this params and exec, to the byte, on a
 * device that has them: what a workspace needs to have. With exec->memory_limit 0 all that the call
 * wants. Spans' data is not read and may be NULL.
 */
POOL_API pool_status pool_msm_workspace(const pool_msm_params *params, const pool_exec *exec,
    const pool_span *points, const pool_span *scalars, const pool_span *results, uint64_t *bytes);

/* Compiles the curve's kernels for a device, side by side on several threads where the process may
 * use several processors, so that no job has to wait for it. Blocks. */
POOL_API pool_status pool_msm_warm_up(const pool_curve *curve, pool_device *device);

#ifdef __cplusplus
}
#endif

#endif
