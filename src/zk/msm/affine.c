/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues the accumulation with affine passes: the entries of each bucket are divided into groups;
 * piece by piece the points of each group are added, and msm_accumulate adds the groups' sums.
 */
#include "msm/affine_args.h"

#include "base/math.h"
#include "pool/stream/phase.h"
#include "pool/tuning/rates.h"
#include "zk/msm/convert.h"

enum {
    /* The abscissae of the first pass come from random places. Few warps read them faster: with 2
     * to 4 blocks per multiprocessor the prefixes of 2^24 BLS12-381 took 8.9 ms, with 6 blocks 11.1
     * (H200). Shared memory that nothing uses limits the blocks. */
    GATHER_SHARED_BYTES = 48 << 10,
    /* An inversion takes as long as some 20 products, and eight runs take 24. */
    RUNS_PER_INVERSION = 8,
    /* Of a sum, and of memory for an abscissa at a random place, by what they take. */
    SUM_PRODUCTS = 6,
    GATHERED_BYTES = 128,
    PAD_WORDS = 4, /* of memory per entry of padding */
    INVERSION_PRODUCTS = 20 + 3 * RUNS_PER_INVERSION,
    /* Stages of msm_affine_sums_of_entries_ahead, with two points and a prefix each. */
    COPY_STAGES = 2,
    STAGE_ELEMENTS = 5,
};

/*
 * Bases up to this size are copied ahead to shared memory. The sums of the first pass take 1.78
 * instead of 1.98 ms for 2^20 BLS12-381 bases (96 MiB) and 2.55 instead of 3.06 for G2 of BN254
 * (128 MiB), but 26.8 instead of 24.6 for 2^24 (1.5 GiB): more random reads at a time are slower
 * there.
 */
static const uint64_t max_ahead_bytes = (uint64_t)256 << 20;

static CUdeviceptr array(const struct msm_run *run, enum msm_array name)
{
    return run->workspace + run->plan->affine.array_at[name];
}

static uint32_t shared_bytes(const struct msm_run *run, enum msm_kernel kernel)
{
    const uint32_t element = 4 * run->plan->job.coordinate_words;

    if (kernel == MSM_AFFINE_SUMS_OF_ENTRIES_AHEAD)
        return COPY_STAGES * STAGE_ELEMENTS * MSM_AFFINE_THREADS * element;
    return kernel == MSM_AFFINE_PREFIXES_OF_ENTRIES ? GATHER_SHARED_BYTES : 0;
}

/* Of kernels with a thread per bucket or group: memory bounds them. */
static pool_status enqueue_groups(const struct msm_run *run, enum msm_kernel kernel,
    uint64_t threads, struct msm_affine_groups_args *args)
{
    const bool is_scan = kernel == MSM_AFFINE_SCAN_GROUPS;
    const uint32_t block = is_scan ? MSM_AFFINE_SCAN_THREADS : MSM_AFFINE_GROUP_THREADS;
    const struct msm_launch launch = {
        .kernel = kernel,
        .blocks = base_ceil_div(threads, block),
        .threads = block,
        .args = args,
        .args_bytes = sizeof(*args),
        .first_block = is_scan ? NULL : &args->first_block,
        .seconds = msm_seconds(run, 0, 8 * (double)args->bucket_count),
    };

    return msm_enqueue(run, &launch);
}

static pool_status enqueue_piece(const struct msm_run *run, enum msm_kernel kernel,
    uint64_t threads, uint64_t words, struct msm_affine_piece_args *args)
{
    const struct msm_launch launch = {
        .kernel = kernel,
        .blocks = base_ceil_div(threads, MSM_AFFINE_GROUP_THREADS),
        .threads = MSM_AFFINE_GROUP_THREADS,
        .args = args,
        .args_bytes = sizeof(*args),
        .first_block = &args->first_block,
        .seconds = msm_seconds(run, 0, sizeof(uint32_t) * (double)(threads * words)),
    };

    return msm_enqueue(run, &launch);
}

static pool_status divide_into_groups(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;
    const uint64_t threads = base_ceil_div(plan->buckets, MSM_AFFINE_GROUP_BUCKETS);
    struct msm_affine_groups_args args = {
        .bucket_offsets = run->workspace + plan->bucket_offsets_at,
        .block_sums = array(run, MSM_ARRAY_BLOCK_SUMS),
        .group_offsets = array(run, MSM_ARRAY_GROUP_OFFSETS),
        .bucket_count = (uint32_t)plan->buckets,
        .blocks = (uint32_t)base_ceil_div(threads, MSM_AFFINE_GROUP_THREADS),
        .log_group = plan->affine.passes,
    };
    pool_status status = enqueue_groups(run, MSM_AFFINE_COUNT_GROUPS, threads, &args);

    if (!status)
        status = enqueue_groups(run, MSM_AFFINE_SCAN_GROUPS, 1, &args);
    return status ? status : enqueue_groups(run, MSM_AFFINE_GROUP_OFFSETS, threads, &args);
}

static pool_status pad_piece(const struct msm_run *run, uint64_t first_group)
{
    const struct msm_plan *plan = run->plan;
    struct msm_affine_piece_args args = {
        .entries = run->workspace + plan->entries_at,
        .bucket_offsets = run->workspace + plan->bucket_offsets_at,
        .group_offsets = array(run, MSM_ARRAY_GROUP_OFFSETS),
        .padded = array(run, MSM_ARRAY_PADDED),
        .list = array(run, MSM_ARRAY_LIST),
        .piece_offsets = array(run, MSM_ARRAY_PIECE_OFFSETS),
        .bucket_count = (uint32_t)plan->buckets,
        .log_group = plan->affine.passes,
        .first_group = (uint32_t)first_group,
        .groups = (uint32_t)plan->affine.groups,
    };
    pool_status status = enqueue_piece(run, MSM_AFFINE_PIECE_OFFSETS, plan->buckets + 1, 2, &args);

    /* An entry is read and written, and the kernel looks its bucket up. */
    return status ? status
                  : enqueue_piece(run, MSM_AFFINE_PAD, plan->affine.groups,
                        (uint64_t)PAD_WORDS << plan->affine.passes, &args);
}

static struct msm_affine_pass_args pass_args(
    const struct msm_run *run, const struct msm_chunk_operands *chunk, uint32_t pass)
{
    const struct msm_plan *plan = run->plan;
    const struct msm_affine_plan *affine = &plan->affine;
    const uint32_t runs = affine->runs[pass];
    /* Of the first of two passes; the second one reads it. */
    const struct msm_affine_planes sums = {array(run, MSM_ARRAY_SUMS), 2 * affine->groups};
    const struct msm_affine_planes prefixes = {array(run, MSM_ARRAY_PREFIXES), affine->groups};
    const bool is_last = pass + 1 == affine->passes;

    return (struct msm_affine_pass_args){
        .entries = array(run, MSM_ARRAY_PADDED),
        .bases = chunk->bases,
        .base_stride = chunk->base_stride,
        .points = sums,
        .prefixes = is_last ? prefixes : sums,
        .sums = sums,
        .packed_sums = is_last ? array(run, MSM_ARRAY_PACKED_SUMS) : 0,
        .totals = {array(run, MSM_ARRAY_TOTALS), runs},
        .products = {array(run, MSM_ARRAY_PRODUCTS), runs},
        .groups = array(run, MSM_ARRAY_PIECE_OFFSETS) + plan->buckets * sizeof(uint32_t),
        .log_sums = affine->passes - 1 - pass,
        .runs = runs,
        .inversions = (uint32_t)base_ceil_div(runs, RUNS_PER_INVERSION),
    };
}

static enum msm_kernel kernel_of_sums(
    const struct msm_run *run, const struct msm_chunk_operands *chunk, uint32_t pass)
{
    const struct msm_plan *plan = run->plan;
    const uint64_t bases = chunk->count * (chunk->base_batch_stride ? plan->job.batch : 1) *
                           plan->job.precompute_factor;
    const bool may =
        !plan->job.never_copies_ahead &&
        shared_bytes(run, MSM_AFFINE_SUMS_OF_ENTRIES_AHEAD) <= chip_of(run->device).shared_bytes;

    if (pass)
        return MSM_AFFINE_SUMS;
    return may && bases * chunk->base_stride <= max_ahead_bytes ? MSM_AFFINE_SUMS_OF_ENTRIES_AHEAD
                                                                : MSM_AFFINE_SUMS_OF_ENTRIES;
}

static pool_status enqueue_pass(const struct msm_run *run, enum msm_kernel kernel, uint64_t threads,
    double seconds, struct msm_affine_pass_args *args)
{
    const struct msm_launch launch = {
        .kernel = kernel,
        .blocks = base_ceil_div(threads, MSM_AFFINE_THREADS),
        .threads = MSM_AFFINE_THREADS,
        .shared_bytes = shared_bytes(run, kernel),
        .args = args,
        .args_bytes = sizeof(*args),
        .seconds = seconds,
    };

    return msm_enqueue(run, &launch);
}

/* A pass of all pairs, which takes `seconds`, in slices of each run's pairs. */
struct pass_slices {
    uint64_t pairs; /* per run */
    uint64_t slice;
    double seconds; /* of a slice */
};

static struct pass_slices slices_of(
    const struct msm_run *run, struct msm_affine_pass_args *args, double seconds)
{
    const uint64_t pairs = base_ceil_div(run->plan->affine.groups << args->log_sums, args->runs);
    const uint64_t slice = chip_slice(pairs, seconds, msm_slice_ns(run));

    args->slice_pairs = (unsigned)slice;
    return (struct pass_slices){pairs, slice, seconds * (double)slice / (double)pairs};
}

/* An abscissa is in a sector of its own. */
static pool_status compute_prefixes(
    const struct msm_run *run, uint32_t pass, struct msm_affine_pass_args *args)
{
    const uint64_t pairs = run->plan->affine.groups << args->log_sums;
    const double element = 4 * (double)run->plan->job.coordinate_words;
    const double bytes = (double)pairs * (2 * (pass ? element : (double)GATHERED_BYTES) + element);
    const struct pass_slices slices = slices_of(run, args, msm_seconds(run, (double)pairs, bytes));
    pool_status status = POOL_OK;

    for (uint64_t first = 0; first < slices.pairs && !status; first += slices.slice) {
        args->slice_first = (unsigned)first;
        status = enqueue_pass(run, pass ? MSM_AFFINE_PREFIXES : MSM_AFFINE_PREFIXES_OF_ENTRIES,
            args->runs, slices.seconds, args);
    }
    return status;
}

/* From the last slice to the first. */
static pool_status compute_sums(const struct msm_run *run, const struct msm_chunk_operands *chunk,
    uint32_t pass, struct msm_affine_pass_args *args)
{
    const uint64_t pairs = run->plan->affine.groups << args->log_sums;
    const struct pass_slices slices =
        slices_of(run, args, msm_seconds(run, (double)SUM_PRODUCTS * (double)pairs, 0));
    uint64_t first = base_ceil_div(slices.pairs, slices.slice) * slices.slice;
    pool_status status = POOL_OK;

    while (first > 0 && !status) {
        first -= slices.slice;
        args->slice_first = (unsigned)first;
        status =
            enqueue_pass(run, kernel_of_sums(run, chunk, pass), args->runs, slices.seconds, args);
    }
    return status;
}

static pool_status add_pairs(
    const struct msm_run *run, const struct msm_chunk_operands *chunk, uint32_t pass)
{
    struct msm_affine_pass_args args = pass_args(run, chunk, pass);
    pool_status status = compute_prefixes(run, pass, &args);

    if (!status)
        status = enqueue_pass(run, MSM_AFFINE_INVERT, args.inversions,
            msm_seconds(run, (double)INVERSION_PRODUCTS * (double)args.inversions, 0), &args);
    return status ? status : compute_sums(run, chunk, pass, &args);
}

static pool_status add_groups(
    const struct msm_run *run, const struct msm_chunk_operands *chunk, uint64_t first_group)
{
    struct phase phase;
    pool_status status = POOL_OK;

    phase_begin(&phase, run->device, run->stream, "msm", "affine");
    if (first_group == 0)
        status = divide_into_groups(run);
    if (!status)
        status = pad_piece(run, first_group);
    for (uint32_t pass = 0; pass < run->plan->affine.passes && !status; pass++)
        status = add_pairs(run, chunk, pass);
    return phase_end(&phase, status);
}

pool_status msm_run_affine(const struct msm_run *run, const struct msm_chunk_operands *chunk)
{
    const struct msm_plan *plan = run->plan;
    const struct msm_affine_plan *affine = &plan->affine;
    const uint64_t entries = chunk->count * plan->job.batch * plan->windows;
    const uint64_t groups = msm_affine_max_groups(plan, affine->passes, entries);
    const struct msm_entry_list list = {
        .entries = array(run, MSM_ARRAY_LIST),
        .bucket_offsets = array(run, MSM_ARRAY_PIECE_OFFSETS),
        .bases = array(run, MSM_ARRAY_PACKED_SUMS),
        .base_stride = msm_affine_bytes(run->curve),
        .max_entries = affine->groups,
        /* A bucket may have groups in several pieces. */
        .adds_to_buckets = run->chunks > 0 || groups > affine->groups,
    };
    pool_status status = POOL_OK;

    for (uint64_t first = 0; first < groups && !status; first += affine->groups) {
        status = add_groups(run, chunk, first);
        if (!status)
            status = msm_run_accumulate_list(run, &list);
    }
    return status;
}
