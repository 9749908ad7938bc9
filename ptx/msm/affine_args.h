/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of the kernels that add neighbouring entries of a bucket in affine coordinates, before
 * msm_accumulate adds what is left. See affine_groups.cu and affine_passes.cu.
 */
#ifndef PTX_MSM_AFFINE_ARGS_H
#define PTX_MSM_AFFINE_ARGS_H

#include "base/args.h"

#ifdef __CUDACC_RTC__
struct affine;
#endif

#define MSM_AFFINE_THREADS 128 /* of the kernels of passes */
#define MSM_AFFINE_GROUP_THREADS 256
#define MSM_AFFINE_GROUP_BUCKETS 8 /* per thread that counts groups */
#define MSM_AFFINE_SCAN_THREADS 1024

/* The index in an entry of padding, which stands for infinity; no base has it. */
#define MSM_ENTRY_NO_BASE 0x7fffffffu

/* ---- affine_groups.cu ------------------------------------------------------------------------ */

/* A group is 2^log_group neighbouring entries of one bucket, the last one of a bucket padded. */
struct msm_affine_groups_args {
    DEVICE_POINTER(const unsigned) bucket_offsets;
    DEVICE_POINTER(unsigned) block_sums;    /* groups per block, then before each block */
    DEVICE_POINTER(unsigned) group_offsets; /* of buckets in the list of groups, and the end */
    unsigned bucket_count;
    unsigned blocks; /* that count */
    unsigned log_group;
    unsigned first_block;
};

/* Groups first_group ... first_group + groups - 1 of the list are a piece. */
struct msm_affine_piece_args {
    DEVICE_POINTER(const unsigned) entries;
    DEVICE_POINTER(const unsigned) bucket_offsets;
    DEVICE_POINTER(const unsigned) group_offsets;
    DEVICE_POINTER(unsigned) padded;        /* the piece's entries, 2^log_group per group */
    DEVICE_POINTER(unsigned) list;          /* 0, 1, 2, ...: the entries of the piece's sums */
    DEVICE_POINTER(unsigned) piece_offsets; /* of buckets in the piece, and the end */
    unsigned bucket_count;
    unsigned log_group;
    unsigned first_group;
    unsigned groups; /* at most */
    unsigned first_block;
};

/* ---- affine_passes.cu ------------------------------------------------------------------------ */

/*
 * Elements in planes: chunk c (16 bytes, or 8 or 4 where the element is no multiple of that) of
 * element i is chunk c * capacity + i. Points have the planes of x and then those of y.
 */
struct msm_affine_planes {
    DEVICE_POINTER(void) chunks;
    unsigned long long capacity;
};

/* Sum i of a pass is that of its points 2 i and 2 i + 1. */
struct msm_affine_pass_args {
    /* The points of the first pass: entries and bases. */
    DEVICE_POINTER(const unsigned) entries;
    DEVICE_POINTER(const unsigned char) bases;
    unsigned long long base_stride;    /* in bytes */
    struct msm_affine_planes points;   /* of later passes */
    struct msm_affine_planes prefixes; /* of each sum; may be the x of `sums` */
    struct msm_affine_planes sums;
    DEVICE_POINTER(struct affine) packed_sums; /* not null: instead of `sums` */
    struct msm_affine_planes totals;           /* of the runs, then their inverses */
    struct msm_affine_planes products;         /* scratch memory of the inversion */
    DEVICE_POINTER(const unsigned) groups;     /* of the piece */
    unsigned log_sums;                         /* log2 of the sums per group */
    unsigned runs; /* sums i, i + runs, i + 2 runs, ... share an inversion */
    unsigned inversions;
    /* The pairs of each run that this launch takes. Between launches, `totals` are the products of
     * the pairs before, or the inverses of these. */
    unsigned slice_first;
    unsigned slice_pairs;
};

#endif
