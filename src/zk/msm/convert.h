/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares bases for MSMs: conversion to the representation that kernels read, multiples of
 * precomputed bases, validation. Everything is enqueued on the run's stream; of the run only
 * device, stream and curve are used.
 */
#ifndef MSM_CONVERT_H
#define MSM_CONVERT_H

#include "zk/curve/endomorphism.h"
#include "zk/msm/msm.h"

/* ---- convert.c ------------------------------------------------------------------------------- */

/* Bytes of a base as the accumulation reads it. */
uint64_t msm_affine_bytes(const pool_curve *curve);

void msm_input_bases_init(struct msm_input_bases *input, const pool_curve *curve,
    const pool_span *points, pool_point_layout layout);
/* Whether the accumulation can read the points where they are. */
bool msm_input_is_converted(const pool_curve *curve, const struct msm_input_bases *input);

/* Writes packed affine points to `bases`, which is aligned to 16 bytes and does not overlap the
 * input. */
pool_status msm_convert_bases(
    const struct msm_run *run, const struct msm_input_bases *input, CUdeviceptr bases);

/* Writes 2^doublings times each of the packed affine points `bases` to `out`, in the same
 * representation. The scratch memory has twice their size. */
struct msm_doubling {
    CUdeviceptr bases;
    CUdeviceptr out;
    CUdeviceptr scratch;
    uint64_t count;
    uint32_t doublings;
};
pool_status msm_double_bases(const struct msm_run *run, const struct msm_doubling *doubling);

/* Copies `count` items of `bytes` bytes. Strides are in bytes; all sizes are multiples of 4. */
struct msm_copy {
    CUdeviceptr in;
    CUdeviceptr out;
    uint64_t in_stride;
    uint64_t out_stride;
    uint64_t count;
    uint64_t bytes;
};
pool_status msm_copy_strided(const struct msm_run *run, const struct msm_copy *copy);

/* ---- split.c --------------------------------------------------------------------------------- */

/* The words of an endomorphism's lattice, for kernels. */
void msm_lattice_of(const pool_field *order, const struct curve_endomorphism *endomorphism,
    struct msm_lattice *lattice);

/* ---- check.c --------------------------------------------------------------------------------- */

/* 8 bytes of device memory for a check's result, and the index of its first item in messages. */
struct msm_check_result {
    pool_buffer *buffer;
    uint64_t offset;
    CUdeviceptr address;
    uint64_t first_index;
};

/* Checks points; `bases` are the same points converted, `stride` bytes apart. POOL_ERR_BAD_DATA. */
pool_status msm_check_bases(const struct msm_run *run, const struct msm_input_bases *input,
    const struct msm_check_result *result, CUdeviceptr bases, uint64_t stride, uint32_t checks);

struct msm_scalars {
    CUdeviceptr data;
    uint64_t stride; /* in 32-bit words */
    uint64_t count;
    pool_form form;
    uint32_t bits; /* 0: those of the order */
};
/* POOL_ERR_BAD_DATA unless all are below the order and below 2^bits. */
pool_status msm_check_scalars(const struct msm_run *run, const struct msm_scalars *scalars,
    const struct msm_check_result *result);

#endif
