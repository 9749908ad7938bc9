/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of this directory: the kernels of an MSM and the stages that enqueue them.
 */
#ifndef MSM_MSM_H
#define MSM_MSM_H

#include <assert.h>

#include <devicepool/module.h>
#include <devicepool/msm.h>

#include "msm/args.h"
#include "pool/module/program.h"
#include "zk/curve/curve.h"
#include "zk/msm/plan.h"
#include "zk/operation/exec.h"

static_assert(MSM_MAX_WORDS == FIELD_MAX_WORDS, "ptx/msm/args.h");

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
    MSM_SMALL_SORT,
    MSM_SMALL_ACCUMULATE,
    MSM_SMALL_REDUCE,
    MSM_CONVERT_BASES,
    MSM_DOUBLE_BASES,
    MSM_COPY_STRIDED,
    MSM_CHECK_BASES,
    MSM_CHECK_SCALARS,
    MSM_SPLIT_SCALARS,
    MSM_MAP_BASES,
    MSM_AFFINE_COUNT_GROUPS,
    MSM_AFFINE_SCAN_GROUPS,
    MSM_AFFINE_GROUP_OFFSETS,
    MSM_AFFINE_PIECE_OFFSETS,
    MSM_AFFINE_PAD,
    MSM_AFFINE_PREFIXES_OF_ENTRIES,
    MSM_AFFINE_PREFIXES,
    MSM_AFFINE_INVERT,
    MSM_AFFINE_SUMS_OF_ENTRIES,
    MSM_AFFINE_SUMS_OF_ENTRIES_AHEAD,
    MSM_AFFINE_SUMS,
};

/* Programs of a curve, those of them that every MSM needs, and those that only affine passes and
 * small plans need. */
enum {
    MSM_PROGRAMS = 20,
    MSM_REQUIRED_PROGRAMS = 7,
    MSM_AFFINE_PROGRAMS = 2,
    MSM_SMALL_PROGRAMS = 3
};

/* Visits every program of a curve that default plans need; they are the same on every chip. */
pool_status msm_each_program(const pool_curve *curve, module_program_visit visit, void *user);

/* Compiles and loads all that calls need which do not ask for affine passes, in parallel. */
pool_status msm_load_programs(pool_device *device, const pool_curve *curve);

/* What a call launches besides the stages of every MSM, as far as it takes long to compile. */
enum msm_extra {
    MSM_COMBINES_ON_DEVICE = 1,
    MSM_CONVERTS_BASES = 2,
    MSM_CHECKS_BASES = 4,
    MSM_DOUBLES_BASES = 8,
    MSM_PASSES_AFFINE = 16,
    MSM_SPLITS_TERMS = 32,
    MSM_IS_SMALL = 64,
};

/* Returns a kernel for a curve. At the first call its program is compiled and loaded, in parallel
 * with those that every MSM needs and those of `extras` (enum msm_extra). */
pool_status msm_kernel_get(pool_device *device, const pool_curve *curve, enum msm_kernel name,
    uint32_t extras, pool_kernel **kernel);

/* Loads those programs of a curve again that were loaded and have been evicted since. */
pool_status msm_restore_programs(pool_device *device, const pool_curve *curve);

/* ---- run.c, sort.c, affine.c: everything is enqueued on the run's stream --------------------- */

/* MSMs that are computed together: a batch that shares one plan and one workspace. */
struct msm_run {
    pool_device *device;
    pool_stream *stream;   /* never NULL */
    struct slices *slices; /* of the call; NULL: none */
    const pool_curve *curve;
    const struct msm_plan *plan;
    CUdeviceptr workspace;   /* plan->bytes, aligned to 256 */
    uint64_t chunks;         /* added so far; 0 at the start */
    uint32_t extras;         /* enum msm_extra: what the call launches besides the MSM's stages */
    struct exec_share share; /* of 0: all multiprocessors, the pool's slice_ns */
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
    void *args;
    size_t args_bytes;
    unsigned *first_block; /* of the args, see struct module_launch; NULL: it is not cut */
    double seconds;        /* predicted */
};
pool_status msm_enqueue(const struct msm_run *run, const struct msm_launch *launch);

/* The predicted seconds of multiplications in the field of the coordinates, or of bytes. */
double msm_seconds(const struct msm_run *run, double products, double bytes);
/* The same of additions of points in XYZZ coordinates. */
double msm_reduce_seconds(const struct msm_run *run, double additions);
/* The longest time of a launch. */
uint64_t msm_slice_ns(const struct msm_run *run);

/* The stages of a chunk: sets all buckets to infinity; fills entries and bucket offsets from the
 * chunk's scalars; adds the bases of the sorted entries to the buckets. */
pool_status msm_run_clear(const struct msm_run *run);
pool_status msm_run_sort(const struct msm_run *run, const struct msm_chunk_operands *chunk);
pool_status msm_run_accumulate(const struct msm_run *run, const struct msm_chunk_operands *chunk);

/* The slots of a level of the merge. */
struct msm_partial_buckets msm_partial_buckets_of(const struct msm_run *run, uint32_t level);

/* A sorted list of entries that is added to the buckets. */
struct msm_entry_list {
    CUdeviceptr entries;
    CUdeviceptr bucket_offsets;
    CUdeviceptr bases;
    uint64_t base_stride;
    uint64_t max_entries;
    bool adds_to_buckets;
};
pool_status msm_run_accumulate_list(const struct msm_run *run, const struct msm_entry_list *list);
/* msm_run_accumulate for plans with affine passes. */
pool_status msm_run_affine(const struct msm_run *run, const struct msm_chunk_operands *chunk);

/* split.c: writes the halves of the chunk's scalars and the bases and their images to the given
 * memory, and makes these the operands. */
pool_status msm_split_terms(const struct msm_run *run, struct msm_chunk_operands *chunk,
    CUdeviceptr halves, CUdeviceptr mapped);

/* small.c: the three stages of a chunk where the plan is small. */
pool_status msm_small_sort(const struct msm_run *run, const struct msm_chunk_operands *chunk);
pool_status msm_small_accumulate(const struct msm_run *run, const struct msm_chunk_operands *chunk);
pool_status msm_small_reduce(const struct msm_run *run);

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

/* ---- combine_host.c -------------------------------------------------------------------------- */

/*
 * Combines window sums on the host. A chain of some 250 doublings is three to five times faster
 * there than on a device, so up to MSM_HOST_COMBINES results that the host waits for are combined
 * here.
 */
enum { MSM_HOST_COMBINES = 4 };
void msm_combine_on_host(const pool_curve *curve, const struct msm_plan *plan,
    const void *window_sums, void *results, const pool_point_format *format);

#endif
