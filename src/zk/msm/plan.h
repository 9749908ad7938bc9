/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans MSMs. Pure: sizes, the properties of a chip and a budget in; chunks, launch shapes and the
 * layout of the workspace out.
 *
 * An MSM of n terms uses c-bit windows (Pippenger's bucket method). Each scalar has one signed
 * digit per window; a bucket collects the bases whose digit has a given absolute value, so that a
 * bucket set has 2^(c - 1) buckets. Precomputed bases let `precompute_factor` windows share a
 * bucket set: window w uses set w % sets_per_msm and multiple w / sets_per_msm of each base, where
 * multiple j of P is 2^(j c sets_per_msm) P. Every MSM of a batch has its own `sets_per_msm` bucket
 * sets: set = msm * sets_per_msm + w % sets_per_msm, bucket = set * 2^(c - 1) + |digit| - 1.
 */
#ifndef MSM_PLAN_H
#define MSM_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <devicepool/status.h>

#include "msm/args.h"
#include "pool/tuning/chip.h"
#include "pool/tuning/rates.h"

/* ---- plan.c, sort_plan.c: MSMs that are computed together ------------------------------------ */

struct msm_job {
    uint32_t coordinate_words; /* 32-bit words of a coordinate; of both parts for an extension */
    uint32_t scalar_words;
    uint32_t order_bits;
    uint32_t scalar_bits; /* scalars are below 2^scalar_bits; 0, or at least order_bits: below the
                             order */
    uint64_t count;       /* scalars per MSM */
    uint64_t chunk_count; /* the most of them in one chunk */
    uint64_t batch;
    /* Of a joint MSM, whose terms are sorted one after the other: results that each have the bucket
     * sets of an MSM, in one workspace (joint.c). 0: of the batch. */
    uint64_t results;
    uint32_t precompute_factor; /* of the bases; 1: the bases alone */
    uint32_t sets_per_msm;      /* that the bases are precomputed for; 0: the plan chooses */
    uint32_t window_bits;       /* 0: the plan chooses */
    /* Each term is split by the curve's endomorphism into two, whose scalars have magnitudes below
     * 2^half_bits; 0: none is. */
    uint32_t half_bits;
    uint32_t affine_passes;     /* 0: the plan chooses; POOL_AFFINE_NONE; 1 or 2: if they fit */
    uint64_t max_affine_groups; /* of a piece, for tests; 0: the plan chooses */
    bool never_copies_ahead;    /* bases of the first affine pass, for tests */
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

enum { MSM_MAX_AFFINE_PASSES = 2 };

/* The arrays of a piece of affine passes, in the scratch memory behind the merge's. */
enum msm_array {
    MSM_ARRAY_BLOCK_SUMS,    /* words, see msm_affine_groups_args */
    MSM_ARRAY_GROUP_OFFSETS, /* buckets + 1 words */
    MSM_ARRAY_PIECE_OFFSETS, /* likewise */
    MSM_ARRAY_LIST,          /* a word per group */
    MSM_ARRAY_PADDED,        /* a word per entry */
    MSM_ARRAY_SUMS,          /* of the first of two passes: points in planes */
    MSM_ARRAY_PREFIXES,      /* of the last pass: elements in planes */
    MSM_ARRAY_PACKED_SUMS,   /* of the last pass: a point per group */
    MSM_ARRAY_TOTALS,        /* elements in planes, one per run */
    MSM_ARRAY_PRODUCTS,      /* likewise */
    MSM_ARRAYS
};

/*
 * Passes that add neighbouring entries of a bucket in affine coordinates before the accumulation
 * (ptx/msm/affine_passes.cu). A group is 2^passes entries of a bucket, of which one point remains;
 * the groups of a chunk are computed in pieces, so that the memory has a bound.
 */
struct msm_affine_plan {
    uint32_t passes; /* 0: none, and nothing below is set */
    uint32_t runs[MSM_MAX_AFFINE_PASSES];
    uint64_t groups;               /* of a piece, at most */
    uint64_t array_at[MSM_ARRAYS]; /* offsets in the workspace in bytes */
};

/*
 * Few terms in few launches: a block per bucket set sorts, `parts` blocks per set accumulate and
 * merge, and one launch reduces (ptx/msm/small_sort.cu, small_accumulate.cu, small_reduce.cu). Of
 * the plan, sort.max_top_digit and the first two merge levels are used; each set has its own
 * entries and offsets.
 */
struct msm_small_plan {
    uint32_t parts;        /* 0: the plan is not small */
    uint32_t merges;       /* 1, or 2 where all threads of a block accumulate */
    uint32_t set_entries;  /* of a bucket set, at most */
    uint32_t shared_bytes; /* of msm_small_sort */
    uint64_t counters_at;  /* in the workspace */
};

struct msm_plan {
    struct msm_job job; /* of the halves, where terms are split */
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
    struct msm_affine_plan affine;
    struct msm_small_plan small;
};

/* POOL_ERR_INVALID_ARGUMENT when 2^32 or more entries or 2^31 or more buckets would be needed. */
pool_status msm_plan_make(
    const struct chip *chip, const struct msm_job *job, struct msm_plan *plan);
/* The plan of a job's `results` as that of a batch: of what is done for all bucket sets together.
 * They begin with those of result 0, each plan->buckets buckets after the last. */
void msm_plan_join_results(const struct msm_plan *plan, struct msm_plan *all);
/* Whether calls split the terms of a job where the curve has an endomorphism: by their number, or
 * wherever that is possible. */
enum msm_splitting { MSM_SPLITS_BY_NUMBER, MSM_SPLITS_NEVER, MSM_SPLITS_ALWAYS };
bool msm_plan_splits(
    const struct chip *chip, const struct msm_job *job, enum msm_splitting splitting);
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

/* ---- small_plan.c ---------------------------------------------------------------------------- */

/* Makes the rest of a plan, whose windows and sort are planned, small where the tuning parameters
 * say so and it fits; false, and the plan is unchanged: it is not. */
bool msm_small_plan_make(const struct chip *chip, struct msm_plan *plan);

/* ---- affine_plan.c --------------------------------------------------------------------------- */

/*
 * Plans the affine passes of a plan that is complete otherwise, `scratch_bytes` of whose scratch
 * memory stay in use, and adds their memory; leaves the plan alone where they do not fit.
 */
void msm_affine_plan_make(const struct chip *chip, uint64_t scratch_bytes, struct msm_plan *plan);
/* The passes that a plan makes by default, for enough entries, on coordinates of this length. */
uint32_t msm_affine_default_passes(const struct chip *chip, uint32_t coordinate_words);
/* The most groups that `entries` entries in the plan's buckets can have. */
uint64_t msm_affine_max_groups(const struct msm_plan *plan, uint32_t passes, uint64_t entries);
/* The minimum of blocks per multiprocessor in the launch bounds of the passes' kernels. */
uint32_t msm_affine_blocks_for(uint32_t coordinate_words);

/* ---- accumulate.c ---------------------------------------------------------------------------- */

/*
 * The entries of a thread's range that one launch of the accumulation takes, so that it lasts at
 * most slice_ns; the launches of a range are equally long.
 */
uint64_t msm_slice_entries(uint32_t coordinate_words, uint64_t range, uint64_t slice_ns);

/* ---- cost.c ---------------------------------------------------------------------------------- */

/* Seconds of one thread per entry: each multiprocessor is as fast as one of the measured chip. The
 * products of longer coordinates take the square of their length. */
double msm_thread_entry_seconds(uint32_t coordinate_words);

/*
 * The predicted seconds of a call on `devices` equal devices whose bases and scalars are on the
 * devices: as many MSMs as possible whole, each of the others divided between its points. Infinite
 * where a part is no single chunk.
 */
double msm_cost(const struct chip *chip, const struct chip_rates *rates, const struct msm_job *job,
    uint32_t devices);

/* ---- plan.c: the chunks of a call ------------------------------------------------------------ */

/*
 * A batch is divided into sub-batches of whole MSMs, which share one plan and their buckets. A
 * sub-batch is one chunk or, where not even one MSM fits, one MSM whose scalars are divided into
 * several chunks that are accumulated into the same buckets.
 */
struct msm_chunk_job {
    struct msm_job msm;  /* of the whole batch; chunk_count is not used */
    bool has_bases_span; /* otherwise the bases are those of a handle */
    bool shares_bases;   /* all MSMs use the same bases */
    bool converts_bases; /* the accumulation cannot read the span's points where they are */
    bool bases_on_host;
    bool scalars_on_host;
    bool results_on_host;
    bool has_checks;
    bool combines_on_host; /* window sums are combined by the host, which waits for them */
    uint64_t base_stride;  /* of the span, in bytes; also the next two */
    uint64_t scalar_stride;
    uint64_t result_bytes;
};

/* Members that tests set to other values. */
struct msm_tuning {
    uint64_t min_ramp_bytes;    /* of host memory from which on the first chunks are smaller; 0:
                                   the chip's */
    uint64_t max_affine_groups; /* as that of msm_job, as is the next */
    bool never_copies_ahead;
    enum msm_splitting splitting;
};
extern const struct msm_tuning msm_default_tuning;

enum { MSM_MAX_SUB_BATCH_SIZES = 4 };

struct msm_chunk_plan {
    uint64_t sub_batch;      /* MSMs of a sub-batch, at most */
    uint64_t count;          /* scalars per MSM of a chunk, at most */
    bool has_whole_msms;     /* a sub-batch is one chunk */
    bool is_one_sub_batch;   /* all MSMs together */
    bool ramps_up;           /* the first chunks have 1/8 and 3/8 of all: see min_ramp_bytes */
    bool uploads_bases_once; /* the bases of the first chunk are those of all */
    bool writes_directly;    /* the combination writes to the caller's device memory */
    uint32_t slots;          /* of uploads: 2 where one is filled while the other is used */
    uint32_t plan_count;
    struct msm_plan plans[MSM_MAX_SUB_BATCH_SIZES]; /* one per size of a sub-batch */
    /* Offsets in the workspace in bytes, all multiples of 256. Unused parts have no bytes. */
    uint64_t scalars_at[2];
    uint64_t bases_at[2];
    uint64_t converted_at;
    uint64_t halves_at;      /* of split scalars, of a chunk */
    uint64_t mapped_at;      /* their bases and the images of these */
    uint64_t window_sums_at; /* of all MSMs, for the host; one sub-batch leaves them in place */
    uint64_t results_at;     /* of all MSMs, packed */
    uint64_t check_at;
    uint64_t bytes;
};

struct msm_chunk {
    uint64_t index; /* counts from 1; all zeros before the first chunk */
    uint64_t msm;   /* the first one */
    uint64_t msms;
    uint64_t first; /* scalar of each MSM */
    uint64_t count;
};

/* The largest chunks whose workspace has at most `limit` bytes; POOL_ERR_OUT_OF_DEVICE_MEMORY. */
pool_status msm_chunk_plan_make(const struct chip *chip, const struct msm_tuning *tuning,
    const struct msm_chunk_job *job, uint64_t limit, struct msm_chunk_plan *plan);
/* Whether any chunk has affine passes. */
bool msm_chunk_plan_has_passes(const struct msm_chunk_plan *plan);
/* Advances to the next chunk; false past the last one. */
bool msm_chunk_next(
    const struct msm_chunk_job *job, const struct msm_chunk_plan *plan, struct msm_chunk *chunk);
/* The plan of the sub-batch that a chunk belongs to. */
const struct msm_plan *msm_chunk_plan_of(
    const struct msm_chunk_plan *plan, const struct msm_chunk *chunk);
bool msm_chunk_begins_sub_batch(const struct msm_chunk *chunk);
bool msm_chunk_ends_sub_batch(const struct msm_chunk_job *job, const struct msm_chunk *chunk);
/* How many bases the chunk uses. */
uint64_t msm_chunk_bases(const struct msm_chunk_job *job, const struct msm_chunk *chunk);

#endif
