/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-scalar multiplication (MSM): sums of k_i P_i over any curve of curve.h, singly or in
 * batches.
 */
#ifndef DEVICEPOOL_MSM_H
#define DEVICEPOOL_MSM_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/curve.h>
#include <devicepool/exec.h>
#include <devicepool/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Base points in a device's memory, in the format that the kernels read, so that a service loads
 * its structured reference string once per device; optionally with precomputed multiples, which
 * make every MSM over them cheaper. Immutable: any number of threads may use one concurrently. It
 * is reference-counted, and its pool cannot be destroyed while it exists.
 */
typedef struct pool_bases pool_bases;

/* Zero is the default of every member but struct_size and curve. */
typedef struct pool_bases_params {
    size_t struct_size;
    const pool_curve *curve;  /* required; the handle holds a reference */
    pool_point_layout layout; /* of the given points */
    /*
     * The number of stored multiples of each base, itself included: 2^(j s) P for j < factor, where
     * s depends on the window bits. Memory grows, and the number of bucket sets shrinks, by the
     * factor. 0 and 1: the bases alone. POOL_PRECOMPUTE_ALL, or any factor above the number of
     * windows: one multiple per window, so that one bucket set remains. No more multiples are
     * stored than the resulting bucket sets use; pool_bases_precompute_factor reports their number.
     */
    uint32_t precompute_factor;
    /* Of MSMs over precomputed bases; 0: chosen from count, factor and chip. Must be 0 without
     * precomputed multiples, and so must scalar_bits. */
    uint32_t window_bits;
    uint32_t scalar_bits; /* of the scalars of these MSMs, see pool_msm_params; 0: of the order */
    /*
     * The number of terms of an MSM that window bits and multiples are chosen for; 0: as many as
     * there are points. Bases that pool_msm_joint uses together get the same multiples by the same
     * value. No effect without precomputed multiples.
     */
    uint64_t planned_terms;
    /*
     * The number of points at infinity that are stored before the given ones, which begin at this
     * index. A base set that has no points for the first scalars of others gets the same indices as
     * these, so that pool_msm_joint sorts the scalars once for all. Not used by pool_bases_load, as
     * files have all points.
     */
    uint64_t leading_infinities;
} pool_bases_params;

/* Values of pool_bases_params.precompute_factor: as many multiples as there are windows. */
#define POOL_PRECOMPUTE_ALL UINT32_MAX
/* The factor that was tuned for the device's chip (tuning.h); by default POOL_PRECOMPUTE_ALL. */
#define POOL_PRECOMPUTE_AUTO (UINT32_MAX - 1)

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_bases_params_init(pool_bases_params *params, size_t struct_size);

/*
 * Copies points to a device, converts them and computes the precomputed multiples. Of `exec` it
 * uses device, stream, checks (POOL_CHECK_ON_CURVE, POOL_CHECK_SUBGROUP), cancel and progress (in
 * points). Blocks until the bases are complete. Points in host memory are copied in chunks. The
 * caller owns one reference. Errors: POOL_ERR_INVALID_ARGUMENT (no curve, a stride smaller than a
 * point, misaligned device memory, unsupported values, count times factor above 2^31 - 1),
 * POOL_ERR_BAD_DATA (a check failed), POOL_ERR_OUT_OF_DEVICE_MEMORY, POOL_ERR_CANCELLED,
 * POOL_ERR_NOT_BOUND, POOL_ERR_COMPILE, and those of every device call (status.h).
 */
POOL_API pool_status pool_bases_create(const pool_bases_params *params, const pool_exec *exec,
    const pool_span *points, pool_bases **bases);

/*
 * The exact device memory that pool_bases_create and pool_bases_load use with the same arguments:
 * *bases_bytes until the bases are destroyed (pool_bases_bytes), *bytes at most at a time, the
 * bases included. The points' data is not read and may be NULL; only the header of a file is read.
 * Kernels do not count. pool_bases_create_workspace requires exec->device, or a device that the
 * calling thread has bound. Errors: as of the call for the same arguments.
 */
POOL_API pool_status pool_bases_create_workspace(const pool_bases_params *params,
    const pool_exec *exec, const pool_span *points, uint64_t *bases_bytes, uint64_t *bytes);
POOL_API pool_status pool_bases_load_workspace(const pool_bases_params *params,
    const pool_exec *exec, const char *path, uint64_t *bases_bytes, uint64_t *bytes);

/* Adds a reference, which pool_bases_destroy releases. Returns NULL for NULL. */
POOL_API pool_bases *pool_bases_retain(pool_bases *bases);

/*
 * Releases a reference, frees the memory with the last one, and sets *bases to NULL. The memory is
 * reused only after the MSMs that are already enqueued. NULL or a pointer to NULL is a no-op.
 */
POOL_API pool_status pool_bases_destroy(pool_bases **bases);

/* Properties. Return NULL or 0 for NULL. Curve and device are borrowed. Any thread. */
POOL_API const pool_curve *pool_bases_curve(const pool_bases *bases);
POOL_API pool_device *pool_bases_device(const pool_bases *bases);
POOL_API uint64_t pool_bases_count(const pool_bases *bases);
POOL_API uint64_t pool_bases_bytes(const pool_bases *bases);             /* of device memory */
POOL_API uint32_t pool_bases_precompute_factor(const pool_bases *bases); /* as stored */
POOL_API uint32_t pool_bases_window_bits(
    const pool_bases *bases); /* 0 without precomputed multiples */

/*
 * SHA-256 over the curve's fingerprint, the count and the affine points in standard form: the same
 * for the same points, independent of their original layout and of the precompute factor. The first
 * call copies the points back and blocks; the result is stored.
 */
POOL_API pool_status pool_bases_fingerprint(
    pool_bases *bases, uint8_t fingerprint[POOL_FINGERPRINT_BYTES]);

/*
 * Finds existing bases on the device by fingerprint and precompute factor, and adds a reference.
 * Only bases whose fingerprint has been computed or was loaded from a file are found.
 * POOL_ERR_NOT_FOUND otherwise.
 */
POOL_API pool_status pool_bases_find(pool_device *device,
    const uint8_t fingerprint[POOL_FINGERPRINT_BYTES], uint32_t factor, pool_bases **bases);

/*
 * Save writes the bases and their precomputed multiples to a file. An existing file is replaced
 * only when the new one is complete; until then that is named `path`.<16 random hexadecimal
 * digits>.part. A process that is killed leaves this file, which the next save to the same path
 * deletes. Blocks.
 *
 * Load reads such a file onto the device of `exec`; of the params it uses the curve only, because
 * the file has the others. It always verifies the file's digest and the fingerprint of its points,
 * which detects damaged and substituted files. With exec->checks it also checks the points and
 * recomputes the multiples. Progress counts the points that are read, multiples included, and those
 * that are checked. Blocks. POOL_ERR_BAD_DATA: not such a file, another curve, truncated,
 * damaged, a wrong fingerprint, or a check failed. POOL_ERR_IO.
 */
POOL_API pool_status pool_bases_save(pool_bases *bases, const char *path);
POOL_API pool_status pool_bases_load(
    const pool_bases_params *params, const pool_exec *exec, const char *path, pool_bases **bases);

/* Zero is the default of every member but struct_size and, without `bases`, curve. */
typedef struct pool_msm_params {
    size_t struct_size;
    const pool_curve *curve;
    pool_bases *bases;   /* NULL: the points are a span */
    uint64_t first_base; /* index in `bases` of the base of scalar 0; 0 without `bases` */
    pool_point_layout point_layout;  /* of the span of points; 0 with `bases` */
    pool_point_layout result_layout; /* the result span has form and stride */
    uint64_t batch;                  /* number of MSMs; 0: 1 */
    /*
     * 0: each MSM has its own points, consecutive in the span or in `bases`. 1: all MSMs use the
     * same points.
     */
    int32_t shared_bases;
    /*
     * Scalars are below 2^scalar_bits; 0: below the order; at most the bits of an element in
     * memory. Fewer bits take less time. The caller must ensure the bound or request
     * POOL_CHECK_CANONICAL, which checks it; with POOL_CHECK_REDUCE it must be 0.
     */
    uint32_t scalar_bits;
    uint32_t window_bits; /* 2 … 24; 0: chosen from sizes, chip and memory */
    /*
     * With exec->device_count: bases on each device, in the order of the devices, instead of
     * `bases`. Together they are the points, device by device; with replicated_bases 1 each device
     * has all of them. NULL: the points are a span.
     */
    pool_bases *const *device_bases;
    int32_t replicated_bases;
    /*
     * How many times neighbouring points of a bucket are added in pairs, in affine coordinates with
     * shared inversions, before the others are added one by one; each pass halves the points. 0:
     * chosen from curve and sizes. 1, 2: so many, where the memory that the call may use without
     * evicting resident objects suffices, and else none. POOL_AFFINE_NONE: none. Curves with b = 0
     * have none. The result is the same. See docs/msm.md.
     */
    uint32_t affine_passes;
} pool_msm_params;

#define POOL_AFFINE_NONE UINT32_MAX /* value of pool_msm_params.affine_passes */

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_msm_params_init(pool_msm_params *params, size_t struct_size);

/*
 * results[b] = sum over i < n of scalars[b n + i] * points[b n + i] (points[i] with shared_bases)
 * for b < batch, where n = scalars->count / batch. The result for n = 0 is infinity.
 *
 * `points` is a span of points of `point_layout`, in either form, or NULL with params->bases.
 * Scalars are elements of the curve's scalar field in either form. Spans may be in host or device
 * memory, packed or strided by a multiple of 4 bytes; the results must not overlap the inputs.
 * Packed affine points in Montgomery form in device memory at a multiple of 16 bytes are read in
 * place; all others are converted first. All inputs are handled: infinity, P + P, P - P, zero and
 * repeated scalars; points have to be in the generator's subgroup. Not constant-time: skewed
 * scalars may take up to twice as long.
 *
 * Of `exec` all members but on_host are used. Checks: POOL_CHECK_CANONICAL or POOL_CHECK_REDUCE of
 * the scalars; POOL_CHECK_ON_CURVE or POOL_CHECK_SUBGROUP of a span of points (params->bases are
 * checked at their creation). The workspace must be aligned to 256 bytes, have the size that
 * pool_msm_workspace reports, and not overlap the spans. The smallest chunk has 2^10 points.
 * Progress counts scalars. With is_async the call still waits for results in pageable memory.
 *
 * With exec->device_count MSMs are distributed whole as long as there is one for each device; the
 * others are split between their points, and the host adds the results of the parts. Results are in
 * host memory then, points and scalars too unless there is one MSM, whose scalars and span of
 * points may be sharded alike. is_async is not supported where MSMs are split
 * (POOL_ERR_UNSUPPORTED). See docs/several-devices.md.
 *
 * POOL_ERR_INVALID_ARGUMENT: counts that do not match, a stride that is too small or not a multiple
 * of 4, device memory that is not aligned to 4 bytes, more points than `bases` has, window bits
 * that differ from those of precomputed bases, a workspace that is too small, unsupported values.
 * POOL_ERR_WRONG_DEVICE: bases, stream, workspace or device memory of another device.
 * POOL_ERR_BAD_DATA: a check failed. POOL_ERR_OUT_OF_DEVICE_MEMORY: the smallest chunk does not
 * fit. POOL_ERR_CANCELLED, POOL_ERR_NOT_BOUND, POOL_ERR_COMPILE, and the errors of every device
 * call (status.h). Results are written on success only. Any thread.
 */
POOL_API pool_status pool_msm(const pool_msm_params *params, const pool_exec *exec,
    const pool_span *points, const pool_span *scalars, const pool_span *results);

/*
 * The exact number of device bytes that pool_msm uses for these spans, params and exec when they
 * are available: the size of its workspace. exec->memory_limit bounds it, unless that is 0. The
 * spans' data is not read and may be NULL. With exec->device_count it sets bytes[i] for device i.
 * For bases that no device has yet see pool_resident_msm_workspace (resident.h).
 */
POOL_API pool_status pool_msm_workspace(const pool_msm_params *params, const pool_exec *exec,
    const pool_span *points, const pool_span *scalars, const pool_span *results, uint64_t *bytes);

/* ---- several base sets and several scalar sets ------------------------------------------------
 */

/* A part of a joint MSM: the sum of scalars.count products. */
typedef struct pool_msm_term {
    pool_bases *bases;
    uint64_t first_base; /* index in `bases` of the base of scalar 0 */
    pool_span scalars;   /* of the curve's scalar field, in either form, as those of pool_msm */
    uint64_t result;     /* index of the result that the sum is added to */
} pool_msm_term;

#define POOL_MSM_MAX_TERMS 64 /* of a joint MSM */

/* Zero is the default of every member but struct_size. */
typedef struct pool_msm_joint_params {
    size_t struct_size;
    pool_point_layout result_layout; /* the result span has form and stride */
    uint32_t scalar_bits;            /* of all scalars, as in pool_msm_params */
    /* 2 … 24; 0: that of the bases' multiples, or chosen from sizes and chip. */
    uint32_t window_bits;
} pool_msm_joint_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_msm_joint_params_init(pool_msm_joint_params *params, size_t struct_size);

/*
 * results[r] = sum over the terms t with result r of sum over i < t.scalars.count of
 * t.scalars[i] * t.bases[t.first_base + i], as one computation: MSMs over the same scalars
 * share their digits and the sort, terms of one result share the buckets, and the buckets of all
 * results are reduced together. A Groth16 prover computes its MSMs in G1 by one call
 * (docs/msm.md). A result without a term is infinity.
 *
 * Terms share a sort where their spans of scalars are equal in all members and their bases have the
 * same count or no multiples. The bases are of one curve and one device and have the same
 * multiples: the same pool_bases_params.precompute_factor, window_bits, scalar_bits and
 * planned_terms give these to bases of any counts. There are at most as many results as terms.
 *
 * Scalars and results are as of pool_msm, in host or device memory; bases are valid until the call
 * returns, or, with is_async, until its work is done. Of `exec` all members but on_host and those
 * of several devices are used; the checks are POOL_CHECK_CANONICAL or POOL_CHECK_REDUCE. Progress
 * counts the scalars of all terms. Errors: as of pool_msm; POOL_ERR_INVALID_ARGUMENT also for a
 * count of 0 or above POOL_MSM_MAX_TERMS, bases of different curves or with different multiples, a
 * result that the span does not have; POOL_ERR_WRONG_DEVICE: bases on different devices. Any
 * thread.
 */
POOL_API pool_status pool_msm_joint(const pool_msm_joint_params *params, const pool_exec *exec,
    const pool_msm_term *terms, uint32_t count, const pool_span *results);

/* The exact number of device bytes that pool_msm_joint uses, as pool_msm_workspace. The data of
 * spans is not read and may be NULL. */
POOL_API pool_status pool_msm_joint_workspace(const pool_msm_joint_params *params,
    const pool_exec *exec, const pool_msm_term *terms, uint32_t count, const pool_span *results,
    uint64_t *bytes);

/* Compiles the curve's kernels for a device, in parallel if the process may use several processors,
 * so that no later call waits for the compiler, unless it requests affine passes. Blocks. Of `exec`
 * cancel, device, lease and timeout_ns. */
POOL_API pool_status pool_msm_warm_up(const pool_curve *curve, const pool_exec *exec);

#ifdef __cplusplus
}
#endif

#endif
