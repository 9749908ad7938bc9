/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of the sort one by one, for what enqueues them and what measures them.
 */
#ifndef MSM_SORT_H
#define MSM_SORT_H

#include "msm/msm.h"

enum { MSM_SORT_WORDS = FIELD_MAX_WORDS + 1 };

/* The kernels' argument: struct sort of ptx/msm/sort.cuh. */
struct msm_sort_argument {
    CUdeviceptr scalars;
    uint64_t scalar_stride;
    uint64_t scalar_batch;
    CUdeviceptr digits;
    CUdeviceptr cursors;
    CUdeviceptr crowds;
    CUdeviceptr crowd;
    CUdeviceptr loose;
    CUdeviceptr lows;
    CUdeviceptr entries;
    CUdeviceptr offsets;
    struct msm_tiling scalar_tiles;
    struct msm_tiling digit_tiles;
    uint32_t count;
    uint32_t batch;
    uint32_t windows;
    uint32_t groups;
    uint32_t window_bits;
    uint32_t digit_bytes;
    uint32_t low_bits;
    uint32_t partitions;
    uint32_t buckets;
    uint32_t room;
    uint32_t piece;
    uint32_t helpers;
    uint32_t bins;
    uint32_t counts_globally;
    uint32_t first_point;
    uint32_t point_batch;
    uint32_t point_level;
    uint32_t top_most;
    uint32_t convert;
    uint32_t reduces;
    uint32_t negates;
    uint32_t factor[MSM_SORT_WORDS];
    uint32_t lifts[2][MSM_SORT_WORDS];
};

enum msm_sort_stage {
    MSM_SORT_CLEAR,     /* counts */
    MSM_SORT_DIGITS,    /* scalars to digits and counts of partitions */
    MSM_SORT_PARTITION, /* digits to loose entries */
    MSM_SORT_ORDER,     /* to entries and offsets, where partitions are not crowded */
    MSM_SORT_SPREAD,    /* and where they are */
    MSM_SORT_STAGES
};

/* For a part that is not empty. */
void msm_sort_prepare(
    const struct msm_run *run, const struct msm_part *part, struct msm_sort_argument *sort);
/* A stage that has nothing to do enqueues nothing. */
pool_status msm_sort_stage_enqueue(
    const struct msm_run *run, const struct msm_sort_argument *sort, enum msm_sort_stage stage);

#endif
