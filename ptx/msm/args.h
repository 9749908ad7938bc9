/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of the kernels of a multi-scalar multiplication, as the host fills them and the kernels
 * read them, and the constants that both sides need. In the order of the algorithm. `first_block`
 * is the first of the blocks that a launch has, where a kernel is cut into several launches.
 */
#ifndef PTX_MSM_ARGS_H
#define PTX_MSM_ARGS_H

#include "base/args.h"

#ifdef __CUDACC_RTC__
struct affine;
struct xyzz;

/* As pool_point_layout. */
enum { LAYOUT_AFFINE, LAYOUT_AFFINE_FLAG, LAYOUT_JACOBIAN, LAYOUT_PROJECTIVE, LAYOUT_XYZZ };
#endif

#define MSM_MAX_WORDS 24 /* 32-bit words of the longest field element */

/* ---- *_bases.cu, copy_strided.cu, check_scalars.cu --------------------------------------------
 */

/* Points as a caller supplied them: any layout of curve.h, either form, aligned to 4 bytes. */
struct msm_input_bases {
    DEVICE_POINTER(const unsigned) data;
    unsigned long long stride; /* in 32-bit words */
    unsigned long long count;
    unsigned layout;                /* pool_point_layout */
    unsigned converts;              /* 1: coordinates are multiplied by `factor` */
    unsigned factor[MSM_MAX_WORDS]; /* to the form that kernels compute with */
};

struct msm_convert_bases_args {
    struct msm_input_bases input;
    DEVICE_POINTER(struct affine) bases;
    unsigned blocks; /* of all launches */
    unsigned first_block;
};

struct msm_double_bases_args {
    DEVICE_POINTER(const struct affine) bases;
    DEVICE_POINTER(struct xyzz) doubled;
    unsigned long long count;
    unsigned doublings;
    unsigned first_block;
};

struct msm_copy_strided_args {
    DEVICE_POINTER(const unsigned) in;
    DEVICE_POINTER(unsigned) out;
    unsigned long long in_stride; /* in 32-bit words */
    unsigned long long out_stride;
    unsigned long long count;
    unsigned words; /* of an item */
    unsigned first_block;
};

/* What a check can find; *first_error is MSM_CHECK_ERRORS times an index plus one of these. */
enum msm_check_error {
    MSM_CHECK_NOT_CANONICAL,
    MSM_CHECK_BAD_FLAG,
    MSM_CHECK_BAD_XYZZ,
    MSM_CHECK_NOT_ON_CURVE,
    MSM_CHECK_NOT_IN_SUBGROUP,
    MSM_CHECK_ORIGIN,
    MSM_CHECK_PASSED
};
#define MSM_CHECK_ERRORS 8

struct msm_check_bases_args {
    struct msm_input_bases input;
    DEVICE_POINTER(const unsigned) bases; /* the same points, converted */
    unsigned long long stride;            /* of `bases`, in 32-bit words */
    unsigned long long first_index;       /* of point 0 in error messages */
    DEVICE_POINTER(unsigned long long) first_error;
    unsigned b[2 * MSM_MAX_WORDS]; /* of the curve's equation, in the form of kernels */
    unsigned order[MSM_MAX_WORDS];
    unsigned order_bits; /* 0: membership in the subgroup is not checked */
    unsigned first_block;
};

struct msm_check_scalars_args {
    DEVICE_POINTER(const unsigned) scalars;
    unsigned long long stride; /* in 32-bit words */
    unsigned long long count;
    unsigned long long first_index; /* of scalar 0 in error messages */
    DEVICE_POINTER(unsigned long long) first_error;
    unsigned converts;
    unsigned is_limited;            /* 1: standard values must be below `limit` */
    unsigned factor[MSM_MAX_WORDS]; /* to standard form */
    unsigned limit[MSM_MAX_WORDS];
    unsigned first_block;
};

/* ---- digits.cu, sort_partition.cu, sort_buckets.cu ------------------------------------------- */

#define MSM_DIGITS_THREADS 256
#define MSM_SORT_ITEMS 16 /* per thread, in registers: sort_partition and sort_oversized */
#define MSM_SCALAR_WORDS (MSM_MAX_WORDS + 1) /* of the longest scalar plus recoding offset */

/* An entry is the index of a base; this bit is set where the base is subtracted. */
#define MSM_ENTRY_NEGATIVE 0x80000000u

/* How the scalars of a batch, one MSM after the other, are divided among blocks: a tile is several
 * whole MSMs or an equal part of one MSM. */
struct msm_tiling {
    unsigned tiles;
    unsigned tiles_per_msm; /* 1 where a tile holds whole MSMs */
    unsigned msms_per_tile;
    unsigned scalars_per_tile; /* at most */
};

/* A partition that is too large for one block. Blocks sort it cooperatively, in slices. */
struct msm_oversized {
    unsigned partition;
    unsigned first_slice;
    unsigned slices_counted;
};

struct msm_sort_state {
    unsigned digit_blocks_done;
    unsigned oversized; /* partitions */
    unsigned slices;    /* of all of them */
};

enum msm_scalar_conversion {
    MSM_SCALAR_STANDARD, /* the scalars are in standard form */
    MSM_SCALAR_FROM_MONTGOMERY,
    MSM_SCALAR_TIMES_FACTOR
};

struct msm_sort_args {
    DEVICE_POINTER(const unsigned) scalars;
    unsigned long long scalar_stride;       /* in 32-bit words */
    unsigned long long scalar_batch_stride; /* scalars from one MSM's first to the next one's */
    DEVICE_POINTER(void) digits;      /* by window, MSM and scalar; digit + 2^(window_bits - 1) */
    DEVICE_POINTER(unsigned) cursors; /* per partition, see sort.cuh */
    DEVICE_POINTER(struct msm_sort_state) state;
    DEVICE_POINTER(struct msm_oversized) oversized;
    DEVICE_POINTER(unsigned) partitioned_entries;       /* sorted by partition only */
    DEVICE_POINTER(unsigned short) partitioned_buckets; /* their buckets within the partition */
    DEVICE_POINTER(unsigned) entries;                   /* sorted by bucket */
    DEVICE_POINTER(unsigned) bucket_offsets;            /* of buckets in `entries`, and the end */
    struct msm_tiling scalar_tiles;
    struct msm_tiling digit_tiles;
    unsigned count; /* scalars per MSM */
    unsigned batch;
    unsigned windows;
    unsigned sets_per_msm; /* bucket sets: windows of equal number modulo this share one */
    unsigned window_bits;
    unsigned digit_bytes;   /* 2 or 4 */
    unsigned log_partition; /* log2 of the buckets per partition */
    unsigned partitions;
    unsigned buckets;
    unsigned block_capacity; /* entries of the largest partition that one block sorts */
    unsigned slice_entries;
    unsigned counting_blocks;    /* for oversized partitions, also those of msm_sort_oversized */
    unsigned digit_bins;         /* most partitions that a tile of digits meets */
    unsigned uses_global_counts; /* 1: too many partitions for counts in shared memory */
    unsigned first_base;         /* of scalar 0 */
    unsigned base_batch_stride;  /* bases from one MSM's first to the next one's */
    unsigned multiple_stride;    /* bases from a base to its next precomputed multiple */
    unsigned max_top_digit;      /* of the top window */
    unsigned conversion;         /* enum msm_scalar_conversion */
    unsigned reduces;            /* 1: scalars may be at or above the order */
    unsigned negates_large;      /* 1: scalars above half the order are replaced by -s */
    unsigned factor[MSM_SCALAR_WORDS];
    /* Added to s and to order - s: makes all digits nonnegative. See digits.cu. */
    unsigned recoding_offsets[2][MSM_SCALAR_WORDS];
    unsigned first_block;
};

/* ---- split_scalars.cu, map_bases.cu -----------------------------------------------------------
 */

#define MSM_SPLIT_THREADS 128
#define MSM_RECIPROCAL_WORDS (MSM_MAX_WORDS + 1)

/*
 * The lattice of curve/endomorphism.h, which splits a scalar k into k0 + k1 lambda. All numbers
 * have the words of a scalar, `a` and `b` modulo 2^(32 words), the reciprocals one word more.
 */
struct msm_lattice {
    unsigned a[2][MSM_MAX_WORDS];
    unsigned b[2][MSM_MAX_WORDS];
    unsigned reciprocal[2][MSM_RECIPROCAL_WORDS];
};

struct msm_split_scalars_args {
    DEVICE_POINTER(const unsigned) scalars; /* as in msm_sort_args, and the next members too */
    unsigned long long scalar_stride;
    unsigned long long scalar_batch_stride;
    DEVICE_POINTER(unsigned) halves; /* packed: all k0 of an MSM, then all k1; see the kernel */
    unsigned count;                  /* scalars per MSM */
    unsigned batch;
    unsigned conversion;
    unsigned reduces;
    unsigned factor[MSM_SCALAR_WORDS];
    struct msm_lattice lattice;
    unsigned first_block;
};

struct msm_map_bases_args {
    DEVICE_POINTER(const unsigned char) bases;
    unsigned long long base_stride; /* in bytes */
    unsigned long long first_base;
    unsigned long long base_batch_stride; /* bases from one MSM's first to the next one's */
    DEVICE_POINTER(struct affine) mapped; /* the bases of an MSM, then their images */
    unsigned count;                       /* bases per MSM */
    unsigned batch;                       /* MSMs; 1 where all have the same bases */
    unsigned beta[MSM_MAX_WORDS];         /* in the form of kernels */
    unsigned first_block;
};

/* ---- accumulate.cu, bucket_merge.cu ---------------------------------------------------------- */

#define MSM_MERGE_THREADS 256

/* See partial_buckets.cuh. */
struct msm_partial_buckets {
    DEVICE_POINTER(struct xyzz) sums;
    DEVICE_POINTER(unsigned) buckets;
};

struct msm_accumulate_args {
    DEVICE_POINTER(const unsigned) entries;
    DEVICE_POINTER(const unsigned) bucket_offsets;
    DEVICE_POINTER(struct xyzz) buckets;
    struct msm_partial_buckets partial;
    DEVICE_POINTER(const unsigned char) bases;
    unsigned long long base_stride; /* in bytes */
    unsigned bucket_count;
    unsigned threads;
    unsigned adds_to_buckets; /* 1: buckets hold the sums of earlier chunks */
    /* The entries of each thread's range that this launch takes. */
    unsigned slice_first;
    unsigned slice_entries;
};

struct msm_bucket_merge_args {
    struct msm_partial_buckets partial;
    struct msm_partial_buckets next; /* of the next level */
    DEVICE_POINTER(struct xyzz) buckets;
    unsigned long long count;
    unsigned is_last;
    unsigned adds_to_buckets;
};

/* ---- reduce_segments.cu, reduce_tree.cu -------------------------------------------------------
 */

#define MSM_SEGMENT_THREADS 64
#define MSM_TREE_THREADS 256

struct msm_reduce_segments_args {
    DEVICE_POINTER(const struct xyzz) buckets;
    DEVICE_POINTER(struct xyzz) pairs;
    unsigned long long count; /* segments of all bucket sets */
    unsigned log_segment;     /* log2 of the buckets per segment */
    /* The buckets of each segment that this launch adds: from the last but slice_first on, to the
     * last one, which needs no addition. */
    unsigned slice_first;
    unsigned slice_buckets;
    unsigned doublings; /* of Q at the end: log_segment in the last launch, 0 before */
    unsigned first_block;
};

struct msm_reduce_tree_args {
    DEVICE_POINTER(struct xyzz) pairs;
    unsigned levels_done; /* by earlier launches: valid pairs are 2^levels_done apart */
    unsigned levels;      /* of this launch */
    unsigned log_pairs;   /* log2 of the pairs per block */
    /* Last launch: receives the window sums, reduced modulo p; null before. */
    DEVICE_POINTER(struct xyzz) window_sums;
    unsigned first_block;
};

/* ---- small_sort.cu, small_accumulate.cu, small_reduce.cu ---------------------------------------
 */

#define MSM_SMALL_SORT_THREADS 512
#define MSM_SMALL_THREADS 128 /* that accumulate and whose slots are merged together */
#define MSM_SMALL_LEVELS 6    /* of the tree, that a block of msm_small_reduce joins at most */
#define MSM_SMALL_COUNTERS 2  /* per bucket set: blocks that accumulated, and that reduced */

/*
 * `list` is that of the first bucket set; those of the others follow. bucket_count and threads are
 * those of a set, bucket_offsets has bucket_count + 1 words per set. Each of the parts * merges
 * groups of MSM_SMALL_THREADS threads has MSM_MERGE_THREADS slots of partial and two of next.
 */
struct msm_small_accumulate_args {
    struct msm_accumulate_args list;
    struct msm_partial_buckets next;
    DEVICE_POINTER(unsigned) blocks_done; /* as msm_small_sort leaves them */
    unsigned set_entries;                 /* entries from one set's first to the next one's */
    unsigned parts;                       /* blocks per set */
    unsigned merges;                      /* groups per block: 1 or 2 */
    unsigned first_block;
};

struct msm_small_reduce_args {
    struct msm_reduce_tree_args tree; /* of the first levels */
    DEVICE_POINTER(const struct xyzz) buckets;
    DEVICE_POINTER(const unsigned) bucket_offsets;
    DEVICE_POINTER(unsigned) blocks_done;
    unsigned log_buckets; /* log2 of the buckets of a set */
    unsigned first_block;
};

/* ---- window_combine.cu ----------------------------------------------------------------------- */

#define MSM_COMBINE_THREADS 32

struct msm_window_combine_args {
    DEVICE_POINTER(const struct xyzz) window_sums; /* one MSM's after the other's */
    DEVICE_POINTER(unsigned) results;
    unsigned long long result_stride; /* in 32-bit words */
    unsigned long long batch;
    unsigned sets_per_msm;
    unsigned doublings;             /* between two window sums */
    unsigned layout;                /* pool_point_layout */
    unsigned converts;              /* 1: coordinates are multiplied by `factor` */
    unsigned factor[MSM_MAX_WORDS]; /* as it is stored in memory */
    unsigned first_block;
};

#endif
