/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes before a sum: points in the shape that kernels read, their multiples, checks. All is
 * enqueued on the run's stream, of which device, stream and curve are looked at.
 */
#ifndef MSM_IMPORT_H
#define MSM_IMPORT_H

#include "msm/msm.h"

/* ---- convert.c --------------------------------------------------------------------------------
 */

/* Bytes of a point as the sums read it. */
uint64_t msm_affine_bytes(const pool_curve *curve);

/* Points on the device as a caller keeps them: struct source of ptx/msm/source.cuh. */
struct msm_source {
    CUdeviceptr data;
    uint64_t stride; /* 32-bit words */
    uint64_t count;
    uint32_t layout;
    uint32_t converts;
    uint32_t factor[FIELD_MAX_WORDS];
};

void msm_source_init(struct msm_source *source, const pool_curve *curve, const pool_span *points,
    pool_point_layout layout);
/* Whether the sums can read the points where they are. */
bool msm_source_is_ready(const pool_curve *curve, const struct msm_source *source);

/* Packed affine points at `to`, which is aligned to 16 bytes and does not overlap the source. */
pool_status msm_import_points(
    const struct msm_run *run, const struct msm_source *source, CUdeviceptr to);

/* 2^doublings times the packed affine points at `from`, as such; scratch: twice their bytes. */
struct msm_multiples {
    CUdeviceptr from;
    CUdeviceptr to;
    CUdeviceptr scratch;
    uint64_t count;
    uint32_t doublings;
};
pool_status msm_multiply_points(const struct msm_run *run, const struct msm_multiples *wanted);

/* `count` items of `bytes` bytes; all numbers are bytes and multiples of 4. */
struct msm_copy {
    CUdeviceptr from;
    CUdeviceptr to;
    uint64_t from_stride;
    uint64_t to_stride;
    uint64_t count;
    uint64_t bytes;
};
pool_status msm_copy_items(const struct msm_run *run, const struct msm_copy *wanted);

/* ---- check.c --------------------------------------------------------------------------------- */

/* 8 bytes of device memory for a check's answer, and the place of its first item in the texts. */
struct msm_answer {
    pool_buffer *buffer;
    uint64_t offset;
    CUdeviceptr address;
    uint64_t place;
};

/* `points` are the source's as the sums read them, `stride` bytes apart. POOL_ERR_BAD_DATA. */
pool_status msm_check_points(const struct msm_run *run, const struct msm_source *source,
    const struct msm_answer *answer, CUdeviceptr points, uint64_t stride, pool_point_check check);

struct msm_scalars {
    CUdeviceptr data;
    uint64_t stride; /* 32-bit words */
    uint64_t count;
    pool_form form;
    uint32_t bits; /* 0: the order's */
};
/* Below the order and below 2^bits, else POOL_ERR_BAD_DATA. */
pool_status msm_check_scalars(
    const struct msm_run *run, const struct msm_scalars *scalars, const struct msm_answer *answer);

#endif
