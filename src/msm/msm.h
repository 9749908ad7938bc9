/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of this directory: the plan of an MSM, its kernels and the stages that
 * enqueue them.
 *
 * An MSM of n terms uses c-bit windows (Pippenger's bucket method). Each scalar has one signed
 * digit per window; a bucket collects the bases whose digit has a given absolute value, so that a
 * bucket set has 2^(c - 1) buckets. Precomputed bases let `precompute_factor` windows share a
 * bucket set: window w uses set w % sets_per_msm and multiple w / sets_per_msm of each base, where
 * multiple j of P is 2^(j c sets_per_msm) P. Every MSM of a batch has its own `sets_per_msm` bucket
 * sets: set = msm * sets_per_msm + w % sets_per_msm, bucket = set * 2^(c - 1) + |digit| - 1.
 */
#ifndef MSM_MSM_H
#define MSM_MSM_H

#include <assert.h>

#include <devicepool/module.h>
#include <devicepool/msm.h>

#include "curve/curve.h"
#include "module/program.h"
#include "msm/args.h"
#include "pool/chip.h"

static_assert(MSM_MAX_WORDS == FIELD_MAX_WORDS, "ptx/msm/args.h");

/* ---- plan.c, sort_plan.c: pure --------------------------------------------------------------- */

struct msm_job {
    uint32_t coordinate_words; /* 32-bit words of a coordinate; of both parts for an extension */
    uint32_t scalar_words;
    uint32_t order_bits;
    uint32_t scalar_bits; /* scalars are below 2^scalar_bits; 0, or at least order_bits: below the
                             order */
    uint64_t count;       /* scalars per MSM */
    uint64_t chunk_count; /* the most of them in one chunk */
    uint64_t batch;
    uint32_t precompute_factor; /* of the bases; 1: the bases alone */
    uint32_t sets_per_msm;      /* that the bases are precomputed for; 0: the plan chooses */
    uint32_t window_bits;       /* 0: the plan chooses */
};

enum { MSM_MIN_WINDOW_BITS = 2, MSM_MAX_WINDOW_BITS = 24 };

/*
 * The plan of the sort. Its scratch memory has 6 bytes per entry and little more; until the entries
 * are written, their memory holds the digits. A partition is 2^log_partition neighbouring buckets.
 */
struct msm_sort_plan {
    uint32_t digit_bytes; /* 2 or 4 */
    uint32_t log_partition;
    uint32_t partitions;
    uint32_t scalar_bins; /* most partitions that a tile of scalars meets; 0: counts are global */
    uint32_t digit_bins;  /* most partitions that a tile of one window's digits meets */
    uint32_t digit_threads;
    uint32_t block_capacity; /* entries of the largest partition that one block sorts */
    uint32_t bucket_threads;
    uint32_t slice_entries; /* of an oversized partition: entries that a block takes at a time */
    uint32_t max_top_digit;
    uint64_t max_oversized; /* partitions */
    /* Offsets in the scratch memory in bytes. The cursors and the sort's state are at 0. */
    uint64_t oversized_at;
    uint64_t partitioned_entries_at;
    uint64_t partitioned_buckets_at;
    uint64_t bytes;
};

/* Partial sums of buckets: the input of a level of the merge. */
struct msm_merge_level {
    uint64_t slots;
    uint64_t sums_at; /* offsets in the workspace in bytes */
    uint64_t buckets_at;
};

enum { MSM_MAX_MERGE_LEVELS = 8 };

struct msm_plan {
    struct msm_job job;
    uint32_t window_bits;
    uint32_t windows;
    uint32_t sets_per_msm;
    bool negates_large;    /* scalars above half the order are replaced by their negatives */
    uint64_t bucket_sets;  /* batch * sets_per_msm */
    uint64_t buckets;      /* of all sets, less than 2^31 */
    uint64_t entries;      /* the most of a chunk, less than 2^32 */
    uint32_t threads;      /* of the accumulation, each with an equal share of the entries */
    uint32_t log_segment;  /* log2 of the buckets that a thread of the reduction takes */
    uint32_t merge_levels; /* the last one has one block */
    struct msm_merge_level merge[MSM_MAX_MERGE_LEVELS];
    /* Offsets in the workspace in bytes, all multiples of 256. */
    uint64_t entries_at;
    uint64_t bucket_offsets_at; /* buckets + 1 words */
    uint64_t buckets_at;        /* in XYZZ coordinates */
    uint64_t window_sums_at;    /* one per bucket set, in XYZZ coordinates */
    uint64_t scratch_at;        /* of the sort, then of the merge, then of the reduction's pairs */
    uint64_t bytes;
    struct msm_sort_plan sort;
};

/* POOL_ERR_INVALID_ARGUMENT when 2^32 or more entries or 2^31 or more buckets would be needed. */
pool_status msm_plan_make(
    const struct chip *chip, const struct msm_job *job, struct msm_plan *plan);
/* Whether fewer would be needed. */
bool msm_plan_fits(const struct msm_job *job);
/* The windows of the job's scalars when they have `window_bits` bits each. */
uint32_t msm_plan_windows(const struct msm_job *job, uint32_t window_bits);
/* Fills plan->sort from the windows, buckets and entries of the plan. */
void msm_sort_plan_make(const struct chip *chip, struct msm_plan *plan);
/* The tiles of a chunk with `count` scalars per MSM: of scalars, and of one window's digits. */
void msm_sort_tile(const struct chip *chip, const struct msm_plan *plan, uint64_t count,
    struct msm_tiling *scalars, struct msm_tiling *digits);

/* The launch bounds of msm_accumulate for coordinates of `coordinate_words` words. */
struct msm_accumulate_bounds {
    uint32_t threads; /* per block */
    uint32_t blocks;  /* per multiprocessor */
};
struct msm_accumulate_bounds msm_accumulate_bounds_for(uint32_t coordinate_words);

/* ---- kernels.c ------------------------------------------------------------------------------- */

enum msm_kernel {
    MSM_DIGITS_16,
    MSM_DIGITS_32,
    MSM_SORT_PARTITION,
    MSM_SORT_PARTITION_BATCH,
    MSM_SORT_BUCKETS,
    MSM_SORT_OVERSIZED,
    MSM_ACCUMULATE,
    MSM_BUCKET_MERGE,
    MSM_REDUCE_SEGMENTS,
    MSM_REDUCE_TREE,
    MSM_WINDOW_COMBINE,
    MSM_CONVERT_BASES,
    MSM_DOUBLE_BASES,
    MSM_COPY_STRIDED,
    MSM_CHECK_BASES,
    MSM_CHECK_SCALARS,
};

/* Programs of a curve, and those of them that every MSM needs. */
enum { MSM_PROGRAMS = 9, MSM_REQUIRED_PROGRAMS = 7 };

/* Visits every program of a curve; they are the same on every chip. */
pool_status msm_each_program(const pool_curve *curve, module_program_visit visit, void *user);

/* Compiles and loads all of them, in parallel. */
pool_status msm_load_programs(pool_device *device, const pool_curve *curve);

/* Returns a kernel for a curve; its program is compiled and loaded at the first call. */
pool_status msm_kernel_get(
    pool_device *device, const pool_curve *curve, enum msm_kernel name, pool_kernel **kernel);

/* ---- run.c, sort.c: everything is enqueued on the run's stream ------------------------------- */

/* MSMs that are computed together: a batch that shares one plan and one workspace. */
struct msm_run {
    pool_device *device;
    pool_stream *stream; /* never NULL */
    const pool_curve *curve;
    const struct msm_plan *plan;
    CUdeviceptr workspace; /* plan->bytes, aligned to 256 */
    uint64_t chunks;       /* added so far; 0 at the start */
};

/* Scalars and bases on the device: `count` terms of every MSM of the batch. */
struct msm_chunk_operands {
    uint64_t count;
    CUdeviceptr scalars;          /* of MSM 0 */
    uint64_t scalar_stride;       /* in 32-bit words */
    uint64_t scalar_batch_stride; /* scalars from one MSM's first to the next one's */
    pool_form scalar_form;
    bool reduces;         /* scalars may be at or above the order */
    CUdeviceptr bases;    /* affine, canonical, in the form of kernels, aligned like elements */
    uint64_t base_stride; /* in bytes */
    /* Multiple j of the base of scalar i of MSM b has the index
     * first_base + i + b * base_batch_stride + j * multiple_stride. */
    uint64_t first_base;
    uint64_t base_batch_stride; /* 0: all MSMs use the same bases */
    uint64_t multiple_stride;
};

/* One struct of ptx/msm/args.h is every kernel's only argument. All kernels are launched with PDL
 * and begin by waiting for the preceding kernels (pool_launch_shape.pdl). */
struct msm_launch {
    enum msm_kernel kernel;
    uint64_t blocks;
    uint32_t threads;
    uint32_t shared_bytes;
    const void *args;
    size_t args_bytes;
};
pool_status msm_enqueue(const struct msm_run *run, const struct msm_launch *launch);

/* Sets `count` 32-bit words to zero. */
pool_status msm_clear_words(const struct msm_run *run, CUdeviceptr words, uint64_t count);

/* Adds the products of a chunk to the buckets: clears the buckets before the first chunk, sorts and
 * accumulates. */
pool_status msm_run_add(struct msm_run *run, const struct msm_chunk_operands *chunk);

/* The stages of that: sets all buckets to infinity; fills entries and bucket offsets from the
 * chunk's scalars; adds the bases of the sorted entries to the buckets. */
pool_status msm_run_clear(const struct msm_run *run);
pool_status msm_run_sort(const struct msm_run *run, const struct msm_chunk_operands *chunk);
pool_status msm_run_accumulate(const struct msm_run *run, const struct msm_chunk_operands *chunk);

/* Reduces each bucket set to its window sum, in canonical XYZZ coordinates at plan->window_sums_at.
 */
pool_status msm_run_reduce(const struct msm_run *run);

/* Combines the window sums on the device to `batch` points, `stride` bytes (a multiple of 4) apart.
 */
struct msm_target {
    CUdeviceptr results;
    uint64_t stride;
    pool_point_layout layout;
    pool_form form;
};
pool_status msm_run_combine(const struct msm_run *run, const struct msm_target *target);

/* ---- window_combine_host.c ------------------------------------------------------------------- */

/*
 * Combines window sums on the host. A chain of some 250 doublings is three to five times faster
 * there than on a device, so up to MSM_HOST_COMBINES results that the host waits for are combined
 * here.
 */
enum { MSM_HOST_COMBINES = 4 };
void msm_combine_on_host(const pool_curve *curve, const struct msm_plan *plan,
    const void *window_sums, void *results, const pool_point_format *format);

#endif
