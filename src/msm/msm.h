/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this room share: the plan of a sum, its kernels, and the stages that enqueue
 * it.
 *
 * A sum of n products goes by windows of c bits. Each scalar has one signed digit a window; a
 * bucket collects the points whose digit has one magnitude, B = 2^(c - 1) buckets a set. Tables of
 * multiples let `levels` windows share a set: window w is window w % groups of level w / groups,
 * and level j of the table holds 2^(j c groups) P. A batch has `groups` sets for each of its sums,
 * set = sum * groups + group, and bucket number = set * B + magnitude - 1.
 */
#ifndef MSM_MSM_H
#define MSM_MSM_H

#include <devicepool/module.h>
#include <devicepool/msm.h>

#include "curve/curve.h"
#include "module/program.h"
#include "pool/device.h"

/* ---- plan.c, sort_plan.c: pure --------------------------------------------------------------- */

/* What a plan has to know of a chip. */
struct msm_chip {
    uint32_t multiprocessors;
    uint64_t shared_bytes; /* the most that a block can ask for */
};

struct msm_job {
    uint32_t coordinate_words; /* 32-bit words of a coordinate, both parts of an extension's */
    uint32_t scalar_words;
    uint32_t order_bits;
    uint32_t
        scalar_bits; /* scalars are below 2^scalar_bits; order_bits and more: below the order */
    uint64_t total;  /* scalars of a sum */
    uint64_t count;  /* most of them in one part */
    uint64_t batch;  /* sums */
    uint32_t levels; /* of the points' table; 1: points alone */
    uint32_t groups; /* of the table: its levels are 2^(window_bits * groups) apart; 0: none */
    uint32_t window_bits; /* 0: the plan chooses */
};

enum { MSM_MIN_WINDOW_BITS = 2, MSM_MAX_WINDOW_BITS = 24 };

/* How blocks share scalars out, in the order sum by sum: whole sums, or equal parts of one. */
struct msm_tiling {
    uint32_t tiles;
    uint32_t per_sum; /* tiles; 1 where a tile has whole sums */
    uint32_t sums;    /* of a tile */
    uint32_t scalars; /* of a tile, at most */
};

/*
 * The sort: sort_plan.c. Its scratch has 6 bytes an entry and little more; before entries are there
 * their place has the digits. A partition is 2^low_bits neighbouring buckets.
 */
struct msm_sort_plan {
    uint32_t digit_bytes; /* 2 or 4 */
    uint32_t low_bits;
    uint32_t partitions;
    uint32_t scalar_bins; /* most partitions that a tile of scalars meets; 0: too many to count */
    uint32_t digit_bins;  /* most partitions that a tile of one window's digits meets */
    uint32_t digit_threads;
    uint32_t room; /* entries of a partition that one block orders; with more it is crowded */
    uint32_t order_threads;
    uint32_t piece; /* entries of a crowded one that a block takes */
    uint32_t top_most;
    uint64_t most_crowds;
    uint64_t crowd_at; /* in bytes; cursors are first, and what is cleared with them */
    uint64_t loose_at;
    uint64_t lows_at;
    uint64_t bytes;
};

struct msm_plan {
    struct msm_job job;
    uint32_t window_bits;
    uint32_t windows;
    uint32_t groups;
    int negates;      /* 1: scalars above half the order count as their negatives */
    uint64_t sets;    /* batch * groups */
    uint64_t buckets; /* of all sets, fewer than 2^31 */
    uint64_t entries; /* most of a part, fewer than 2^32 */
    uint32_t threads; /* of accumulate, each with an equal share of the entries */
    uint32_t segment; /* log2 of the buckets that a thread of reduce takes */
    /* Where the parts of the workspace begin, in bytes; all multiples of 256. */
    uint64_t entries_at;
    uint64_t offsets_at; /* buckets + 1 of 32 bits */
    uint64_t buckets_at; /* XYZZ each */
    uint64_t sums_at;    /* of the sets, XYZZ each */
    uint64_t scratch_at; /* of the sort, then of the slots, then of the pairs of reduce */
    uint64_t bytes;
    struct msm_sort_plan sort;
};

/* POOL_ERR_INVALID_ARGUMENT when more than 2^32 - 1 entries or 2^31 - 1 buckets would be needed. */
pool_status msm_plan_make(
    const struct msm_chip *chip, const struct msm_job *job, struct msm_plan *plan);
/* Whether it would not be too many of them. */
bool msm_plan_fits(const struct msm_job *job);
/* Slots of level 0, 1, ... of merge, until one block has them all. */
enum { MSM_MERGE_BLOCK = 256, MSM_MAX_MERGES = 8 };
uint32_t msm_merge_levels(uint32_t threads, uint64_t count[MSM_MAX_MERGES]);
/* plan->sort from the rest of the plan that does not concern places. */
void msm_sort_plan_make(const struct msm_chip *chip, struct msm_plan *plan);
/* The tiles of a part with `count` scalars a sum: of digits' scalars, of one window's digits. */
void msm_sort_tile(const struct msm_chip *chip, const struct msm_plan *plan, uint64_t count,
    struct msm_tiling *scalars, struct msm_tiling *digits);

/* ---- kernels.c ------------------------------------------------------------------------------- */

enum msm_program {
    MSM_PROGRAM_DIGITS,
    MSM_PROGRAM_PARTITION,
    MSM_PROGRAM_ORDER,
    MSM_PROGRAM_ACCUMULATE,
    MSM_PROGRAM_MERGE,
    MSM_PROGRAM_REDUCE,
    MSM_PROGRAM_COMBINE, /* the last that every sum needs */
    MSM_PROGRAM_POINTS,
    MSM_PROGRAM_CHECK,
    MSM_PROGRAM_COUNT
};

struct msm_chip msm_chip_of(const pool_device *device);

/* Every program of a curve, the same on every chip. */
pool_status msm_each_program(const pool_curve *curve, module_program_visit visit, void *user);

/* Compiles and loads all of them, side by side. */
pool_status msm_load_programs(pool_device *device, const pool_curve *curve);

/* How accumulate is launched for coordinates of that many words: see kernels.c for the numbers. */
struct msm_shape {
    uint32_t threads; /* of a block */
    uint32_t blocks;  /* that a multiprocessor holds at once */
};
struct msm_shape msm_shape_for(uint32_t coordinate_words);

/* A kernel of the curve's programs; compiled and loaded at the first call. The texts that it finds:
 * "curve.cuh" with fq_... and "fr.cuh" with fr_..., the scalar field. */
pool_status msm_kernel(pool_device *device, const pool_curve *curve, enum msm_program program,
    const char *name, pool_kernel **kernel);

/* One struct is every kernel's argument. All start early (pool_launch_shape.pdl) and
 * begin with the wait for what was enqueued before. */
struct msm_launch {
    enum msm_program program;
    const char *kernel;
    uint64_t blocks;
    uint32_t threads;
    uint32_t shared_bytes;
    const void *argument;
    size_t argument_bytes;
};

/* ---- run.c, sort.c, buckets.c: everything is enqueued on the run's stream
 * ------------------------ */

/* One call's work on a device. */
struct msm_run {
    pool_device *device;
    pool_stream *stream; /* never NULL */
    const pool_curve *curve;
    const struct msm_plan *plan;
    CUdeviceptr workspace; /* plan->bytes, aligned to 256 */
    uint64_t parts;        /* added so far; 0 at the start */
};

/* Scalars and points of all sums of the batch, `count` each, on the device. */
struct msm_part {
    uint64_t count;
    CUdeviceptr scalars;    /* of sum 0 */
    uint64_t scalar_stride; /* in 32-bit words */
    uint64_t scalar_batch;  /* scalars from one sum's first to the next one's */
    pool_form scalar_form;
    int reduces;           /* 1: scalars may be at or above the order */
    CUdeviceptr points;    /* affine, reduced, in the device's form, each aligned as an element */
    uint64_t point_stride; /* bytes */
    /* The point of scalar i of sum b at level j is number first + i + b * point_batch + j * level.
     */
    uint64_t first_point;
    uint64_t point_batch; /* 0: shared */
    uint64_t point_level;
};

/* An entry: the number of a point, and in the top bit whether it is subtracted. */
#define MSM_ENTRY_NEGATIVE 0x80000000u

/* Zeros into `count` 32-bit words. */
pool_status msm_clear(const struct msm_run *run, CUdeviceptr words, uint64_t count);

pool_status msm_enqueue(const struct msm_run *run, const struct msm_launch *launch);

/* Fills entries and offsets of the workspace from the part's scalars. */
pool_status msm_sort_enqueue(const struct msm_run *run, const struct msm_part *part);

/* Makes all buckets infinity. */
pool_status msm_run_clear(const struct msm_run *run);

/* Adds the points of sorted entries to the buckets. */
pool_status msm_sum_enqueue(const struct msm_run *run, const struct msm_part *part);

/* Adds the products of a part to the buckets. */
pool_status msm_run_add(struct msm_run *run, const struct msm_part *part);

/* The sum of each set from its buckets, XYZZ in reduced coordinates at plan->sums_at. */
pool_status msm_run_reduce(const struct msm_run *run);

/* From there the results on the device: `batch` points, `stride` bytes apart (multiple of 4). */
struct msm_target {
    CUdeviceptr results;
    uint64_t stride;
    pool_point_layout layout;
    pool_form form;
};
pool_status msm_run_combine(const struct msm_run *run, const struct msm_target *target);

/*
 * Or on the host, from a copy of the sums. A chain of some 250 doublings is three to five times
 * faster there, so this is the way for the results of few sums that the host waits for.
 */
enum { MSM_HOST_COMBINES = 4 };
void msm_combine_on_host(const pool_curve *curve, const struct msm_plan *plan, const void *sums,
    void *results, const pool_point_format *format);

/* ---- reference.c: the plain answers, on the host --------------------------------------------- */

struct msm_reference {
    const pool_curve *curve;
    pool_point_format points;
    pool_point_format result;
    pool_form scalar_form;  /* in standard form any integer, else below the order */
    uint64_t scalar_stride; /* bytes; 0: packed */
};

/* By buckets, and each product by doubling and adding. */
pool_status msm_reference_run(const struct msm_reference *reference, uint64_t count,
    const void *points, const void *scalars, void *result);
pool_status msm_reference_plain(const struct msm_reference *reference, uint64_t count,
    const void *points, const void *scalars, void *result);

#endif
