/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the points of a list in pairs, in affine coordinates with shared inversions (Montgomery's
 * trick): half as many points remain after each pass. Three kernels without barriers, of which the
 * first and the last have one thread per run; a run is every `runs`-th pair, so that the threads of
 * a warp access neighbouring elements.
 *
 * 1. prefixes: the products of the denominators of a run before each of its pairs, and their total.
 * 2. invert: the inverses of all totals, one inversion per several runs.
 * 3. sums: from the last pair of a run to its first, the inverse of the denominator is the inverse
 *    of the product up to the pair times the prefix; it gives the slope and the sum.
 *
 * The denominator is x2 - x1, or 2 y for equal points, and no pair has the denominator 0: a pair
 * with infinity, opposite points and points of order two need no inverse and are left out of the
 * products. So every list costs about the same, one of equal points included. (0, 0) is infinity;
 * curves with b = 0, where a sum could be the point (0, 0), are not computed by passes.
 *
 * Prefixes and sums are computed in several launches where one would take too long, each of which
 * takes a slice of every run's pairs.
 *
 * Cost per pair: 5 M + 1 S, and the shared inversion. Sums are not reduced.
 */
#include "base/launch.cuh"
#include "ec/inverse.cuh"
#include "ec/xyzz.cuh"
#include "msm/affine_args.h"
#include "msm/args.h"

typedef unsigned long long u64;

#define FE_WORDS (EC_DEGREE * FQ_WORDS)
#if FE_WORDS % 4 == 0
#define CHUNK_WORDS 4
struct __align__(16) chunk
{
    unsigned word[CHUNK_WORDS];
};
#elif FE_WORDS % 2 == 0
#define CHUNK_WORDS 2
struct __align__(8) chunk
{
    unsigned word[CHUNK_WORDS];
};
#else
#define CHUNK_WORDS 1
struct chunk {
    unsigned word[CHUNK_WORDS];
};
#endif
#define FE_CHUNKS (FE_WORDS / CHUNK_WORDS)

__device__ __forceinline__ unsigned &fe_word(fe &x, unsigned word)
{
#if EC_DEGREE == 2
    return word < FQ_WORDS ? x.c0.word[word] : x.c1.word[word - FQ_WORDS];
#else
    return x.word[word];
#endif
}

/* Element i of planes from `plane` on: 0 for x, FE_CHUNKS for y. */
__device__ __forceinline__ fe load_element(struct msm_affine_planes planes, unsigned plane, u64 i)
{
    const struct chunk *chunks = (const struct chunk *)planes.chunks + plane * planes.capacity + i;
    fe x;
#pragma unroll
    for (unsigned c = 0; c < FE_CHUNKS; c++) {
        struct chunk chunk = chunks[c * planes.capacity];
#pragma unroll
        for (unsigned w = 0; w < CHUNK_WORDS; w++)
            fe_word(x, c * CHUNK_WORDS + w) = chunk.word[w];
    }
    return x;
}

__device__ __forceinline__ void store_element(
    struct msm_affine_planes planes, unsigned plane, u64 i, fe x)
{
    struct chunk *chunks = (struct chunk *)planes.chunks + plane * planes.capacity + i;
#pragma unroll
    for (unsigned c = 0; c < FE_CHUNKS; c++) {
        struct chunk chunk;
#pragma unroll
        for (unsigned w = 0; w < CHUNK_WORDS; w++)
            chunk.word[w] = fe_word(x, c * CHUNK_WORDS + w);
        chunks[c * planes.capacity] = chunk;
    }
}

/* ---- the points of a pass -------------------------------------------------------------------- */

/* Where point i of the list is: an entry in the first pass, its index in later ones. */
template <bool IS_FIRST>
__device__ __forceinline__ unsigned locate(const struct msm_affine_pass_args &args, u64 i)
{
    return IS_FIRST ? args.entries[i] : (unsigned)i;
}

__device__ __forceinline__ const affine *base_of(
    const struct msm_affine_pass_args &args, unsigned entry)
{
    return (const affine *)(args.bases + (u64)(entry & ~MSM_ENTRY_NEGATIVE) * args.base_stride);
}

template <bool IS_FIRST>
__device__ __forceinline__ fe load_x(const struct msm_affine_pass_args &args, unsigned at)
{
    if (!IS_FIRST)
        return load_element(args.points, 0, at);
    return at == MSM_ENTRY_NO_BASE ? fe_zero() : base_of(args, at)->x;
}

template <bool IS_FIRST>
__device__ __forceinline__ fe load_y(const struct msm_affine_pass_args &args, unsigned at)
{
    if (!IS_FIRST)
        return load_element(args.points, FE_CHUNKS, at);
    if (at == MSM_ENTRY_NO_BASE)
        return fe_zero();
    fe y = base_of(args, at)->y;
    return fe_select(at >> 31, fe_neg(y), y);
}

__device__ __forceinline__ unsigned count_sums(const struct msm_affine_pass_args &args)
{
    return *args.groups << args.log_sums;
}

/* ---- prefixes -------------------------------------------------------------------------------- */

/* The denominator of the slope; 0 where the sum needs none. y is read where x does not decide. */
template <bool IS_FIRST>
__device__ __forceinline__ int find_denominator(
    const struct msm_affine_pass_args &args, const unsigned *at, const fe *x, fe *denominator)
{
    if (fe_is_zero(x[0]) && fe_is_zero(load_y<IS_FIRST>(args, at[0])))
        return 0;
    if (fe_is_zero(x[1]) && fe_is_zero(load_y<IS_FIRST>(args, at[1])))
        return 0;
    *denominator = fe_sub(x[1], x[0]);
    if (!fe_is_zero(*denominator))
        return 1;
    fe y = load_y<IS_FIRST>(args, at[0]);
    *denominator = fe_dbl(y);
    return fe_is_zero(fe_sub(load_y<IS_FIRST>(args, at[1]), y)) && !fe_is_zero(*denominator);
}

template <bool IS_FIRST>
__device__ __forceinline__ void locate_pair(
    const struct msm_affine_pass_args &args, u64 pair, unsigned *at)
{
    at[0] = locate<IS_FIRST>(args, 2 * pair);
    at[1] = locate<IS_FIRST>(args, 2 * pair + 1);
}

template <bool IS_FIRST>
__device__ __forceinline__ void load_pair_x(
    const struct msm_affine_pass_args &args, const unsigned *at, fe *x)
{
    x[0] = load_x<IS_FIRST>(args, at[0]);
    x[1] = load_x<IS_FIRST>(args, at[1]);
}

/* The end of the launch's pairs: slice_pairs of every run from its pair slice_first on. */
__device__ __forceinline__ unsigned end_of_slice(const struct msm_affine_pass_args &args)
{
    u64 end = ((u64)args.slice_first + args.slice_pairs) * args.runs;
    return (unsigned)min(end, (u64)count_sums(args));
}

/* The abscissae of the next pair are loaded before the product with the present one. Between the
 * launches of a pass the products of the runs are their totals so far. */
template <bool IS_FIRST>
__device__ __forceinline__ void compute_prefixes(const struct msm_affine_pass_args &args)
{
    unsigned run = blockIdx.x * blockDim.x + threadIdx.x;
    if (run >= args.runs)
        return;
    unsigned count = end_of_slice(args);
    u64 pair = run + (u64)args.slice_first * args.runs;
    fe product = fe_one(), next_x[2];
    unsigned next_at[2];
    if (args.slice_first != 0) {
        if (pair >= count)
            return;
        product = load_element(args.totals, 0, run);
    }
    if (pair < count) {
        locate_pair<IS_FIRST>(args, pair, next_at);
        load_pair_x<IS_FIRST>(args, next_at, next_x);
    }
#pragma unroll 1
    for (; pair < count; pair += args.runs) {
        const fe x[2] = {next_x[0], next_x[1]};
        const unsigned at[2] = {next_at[0], next_at[1]};
        if (pair + args.runs < count) {
            locate_pair<IS_FIRST>(args, pair + args.runs, next_at);
            load_pair_x<IS_FIRST>(args, next_at, next_x);
        }
        fe denominator;
        if (find_denominator<IS_FIRST>(args, at, x, &denominator)) {
            store_element(args.prefixes, 0, pair, product);
            product = fe_mul(product, denominator);
        }
    }
    store_element(args.totals, 0, run, product);
}

extern "C" __global__ void __launch_bounds__(MSM_AFFINE_THREADS, MSM_AFFINE_BLOCKS)
    msm_affine_prefixes_of_entries(const struct msm_affine_pass_args args)
{
    pdl_wait();
    compute_prefixes<true>(args);
}

extern "C" __global__ void __launch_bounds__(MSM_AFFINE_THREADS, MSM_AFFINE_BLOCKS)
    msm_affine_prefixes(const struct msm_affine_pass_args args)
{
    pdl_wait();
    compute_prefixes<false>(args);
}

/* ---- inversion ------------------------------------------------------------------------------- */

/* Totals are not 0, whatever the scalars; bases with coordinates that are not reduced can make one
 * 0, which then spoils no other run. */
extern "C" __global__ void __launch_bounds__(MSM_AFFINE_THREADS)
    msm_affine_invert(const struct msm_affine_pass_args args)
{
    pdl_wait();
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= args.inversions || first >= args.runs)
        return;
    fe product = fe_one();
    u64 i = first;
#pragma unroll 1
    for (; i < args.runs; i += args.inversions) {
        fe total = load_element(args.totals, 0, i);
        store_element(args.products, 0, i, product);
        if (!fe_is_zero(total))
            product = fe_mul(product, total);
    }
    product = fe_inverse_by_divsteps(product);
#pragma unroll 1
    do {
        i -= args.inversions;
        fe total = load_element(args.totals, 0, i);
        store_element(args.totals, 0, i, fe_mul(product, load_element(args.products, 0, i)));
        if (!fe_is_zero(total))
            product = fe_mul(product, total);
    } while (i != first);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* The numerator of the tangent's slope. A call, as in xyzz.cuh: the common path keeps its
 * registers. */
__device__ __noinline__ void tangent_numerator(fe *x)
{
    *x = xyzz_slope(*x, fe_one());
}

__device__ __forceinline__ affine add_by_slope(fe slope, affine p, fe x2)
{
    affine sum;
    sum.x = fe_sub(fe_sub(fe_sqr(slope), p.x), x2);
    sum.y = fe_sub(fe_mul(slope, fe_sub(p.x, sum.x)), p.y);
    return sum;
}

/* p + q; *inverse is that of the product of the run's denominators up to this pair and becomes that
 * of the product before it. */
__device__ __forceinline__ affine add_pair(affine p, affine q, fe prefix, fe *inverse)
{
    if (affine_is_infinity(p))
        return q;
    if (affine_is_infinity(q))
        return p;
    fe denominator = fe_sub(q.x, p.x);
    fe numerator = fe_sub(q.y, p.y);
    if (fe_is_zero(denominator)) {
        denominator = fe_dbl(p.y);
        if (!fe_is_zero(numerator) || fe_is_zero(denominator))
            return affine_infinity();
        fe x = p.x;
        tangent_numerator(&x);
        numerator = x;
    }
    fe own = fe_mul(*inverse, prefix);
    *inverse = fe_mul(*inverse, denominator);
    return add_by_slope(fe_mul(numerator, own), p, q.x);
}

__device__ __forceinline__ void store_sum(
    const struct msm_affine_pass_args &args, u64 pair, affine sum)
{
    if (args.packed_sums) {
        args.packed_sums[pair] = sum;
    } else {
        store_element(args.sums, 0, pair, sum.x);
        store_element(args.sums, FE_CHUNKS, pair, sum.y);
    }
}

/* The first pair of the thread's run that the launch computes, and the last one; false: none. The
 * launches of a pass take the slices from the last to the first. */
__device__ __forceinline__ bool find_slice(
    const struct msm_affine_pass_args &args, unsigned run, unsigned *first, u64 *last)
{
    unsigned end = end_of_slice(args);
    u64 begin = run + (u64)args.slice_first * args.runs;
    if (run >= args.runs || begin >= end)
        return false;
    *first = (unsigned)begin;
    *last = run + (u64)(end - 1 - run) / args.runs * args.runs;
    return true;
}

/* The inverse for the launch that takes the pairs before these. */
__device__ __forceinline__ void end_slice(
    const struct msm_affine_pass_args &args, unsigned run, fe inverse)
{
    if (args.slice_first != 0)
        store_element(args.totals, 0, run, inverse);
}

template <bool IS_FIRST>
__device__ __forceinline__ void compute_sums(const struct msm_affine_pass_args &args)
{
    unsigned run = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned first;
    u64 pair;
    if (!find_slice(args, run, &first, &pair))
        return;
    fe inverse = load_element(args.totals, 0, run);
#pragma unroll 1
    for (;; pair -= args.runs) {
        unsigned at[2];
        locate_pair<IS_FIRST>(args, pair, at);
        affine p = {load_x<IS_FIRST>(args, at[0]), load_y<IS_FIRST>(args, at[0])};
        affine q = {load_x<IS_FIRST>(args, at[1]), load_y<IS_FIRST>(args, at[1])};
        fe prefix = load_element(args.prefixes, 0, pair);
        store_sum(args, pair, add_pair(p, q, prefix, &inverse));
        if (pair == first)
            break;
    }
    end_slice(args, run, inverse);
}

extern "C" __global__ void __launch_bounds__(MSM_AFFINE_THREADS, MSM_AFFINE_BLOCKS)
    msm_affine_sums_of_entries(const struct msm_affine_pass_args args)
{
    pdl_wait();
    compute_sums<true>(args);
}

extern "C" __global__ void __launch_bounds__(MSM_AFFINE_THREADS, MSM_AFFINE_BLOCKS)
    msm_affine_sums(const struct msm_affine_pass_args args)
{
    pdl_wait();
    compute_sums<false>(args);
}

/* ---- sums of entries with asynchronous copies ------------------------------------------------ */

/*
 * A thread copies the points and the prefix of its next pair to shared memory while it computes the
 * sum of the present one, so that they occupy no registers. Two stages; chunk c of a stage is at
 * c * MSM_AFFINE_THREADS + threadIdx.x, and no thread reads what another one has copied.
 */
#define STAGE_CHUNKS (5 * FE_CHUNKS)

__device__ __forceinline__ struct chunk *stage_memory(unsigned stage)
{
    extern __shared__ struct chunk shared_chunks[];
    return shared_chunks + stage * STAGE_CHUNKS * MSM_AFFINE_THREADS + threadIdx.x;
}

/* Copies a chunk, or zeros where `bytes` is 0: without waiting from sm_80 on. */
__device__ __forceinline__ void copy_chunk(
    struct chunk *to, const struct chunk *from, unsigned bytes)
{
#if __CUDA_ARCH__ < 800
    const struct chunk zero = {{0}};
    *to = bytes ? *from : zero;
#else
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    size_t source = __cvta_generic_to_global(from);
#if CHUNK_WORDS == 4
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(source), "r"(bytes)
        : "memory");
#else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(address), "l"(source),
                 "r"(bytes), "n"(4 * CHUNK_WORDS)
                 : "memory");
#endif
#endif
}

/* The copies since the last call are one group. */
__device__ __forceinline__ void end_group(void)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for the thread's copies but for those of the last group. */
__device__ __forceinline__ void wait_for_groups_but_last(void)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

__device__ __forceinline__ void copy_base(
    const struct msm_affine_pass_args &args, unsigned entry, struct chunk *to)
{
    int is_none = entry == MSM_ENTRY_NO_BASE;
    const struct chunk *from = (const struct chunk *)base_of(args, is_none ? 0 : entry);
#pragma unroll
    for (unsigned c = 0; c < 2 * FE_CHUNKS; c++)
        copy_chunk(to + c * MSM_AFFINE_THREADS, from + c, is_none ? 0 : 4 * CHUNK_WORDS);
}

/* One group of copies. */
__device__ __forceinline__ void copy_pair(
    const struct msm_affine_pass_args &args, const unsigned *at, u64 pair, unsigned stage)
{
    struct chunk *to = stage_memory(stage);
    const struct chunk *prefix = (const struct chunk *)args.prefixes.chunks + pair;
    copy_base(args, at[0], to);
    copy_base(args, at[1], to + 2 * FE_CHUNKS * MSM_AFFINE_THREADS);
#pragma unroll
    for (unsigned c = 0; c < FE_CHUNKS; c++)
        copy_chunk(to + (4 * FE_CHUNKS + c) * MSM_AFFINE_THREADS,
            prefix + c * args.prefixes.capacity, 4 * CHUNK_WORDS);
}

__device__ __forceinline__ fe staged_element(const struct chunk *from)
{
    fe x;
#pragma unroll
    for (unsigned c = 0; c < FE_CHUNKS; c++) {
        struct chunk chunk = from[c * MSM_AFFINE_THREADS];
#pragma unroll
        for (unsigned w = 0; w < CHUNK_WORDS; w++)
            fe_word(x, c * CHUNK_WORDS + w) = chunk.word[w];
    }
    return x;
}

__device__ __forceinline__ affine staged_base(const struct chunk *from, unsigned entry)
{
    affine p = {staged_element(from), staged_element(from + FE_CHUNKS * MSM_AFFINE_THREADS)};
    return affine_cneg(p, entry >> 31);
}

/* The entries of a pair are loaded two iterations ahead, and its elements one. */
extern "C" __global__ void __launch_bounds__(MSM_AFFINE_THREADS, MSM_AFFINE_BLOCKS)
    msm_affine_sums_of_entries_ahead(const struct msm_affine_pass_args args)
{
    pdl_wait();
    unsigned run = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned first;
    u64 pair;
    if (!find_slice(args, run, &first, &pair))
        return;
    fe inverse = load_element(args.totals, 0, run);
    unsigned at[2], next_at[2] = {0, 0}, stage = 0;
    locate_pair<true>(args, pair, at);
    copy_pair(args, at, pair, stage);
    end_group();
    if (pair != first)
        locate_pair<true>(args, pair - args.runs, next_at);
#pragma unroll 1
    for (;; pair -= args.runs) {
        const unsigned own[2] = {at[0], at[1]};
        if (pair != first)
            copy_pair(args, next_at, pair - args.runs, stage ^ 1);
        end_group();
        at[0] = next_at[0];
        at[1] = next_at[1];
        if (pair >= first + 2ull * args.runs)
            locate_pair<true>(args, pair - 2ull * args.runs, next_at);
        wait_for_groups_but_last();
        const struct chunk *from = stage_memory(stage);
        stage ^= 1;
        affine p = staged_base(from, own[0]);
        affine q = staged_base(from + 2 * FE_CHUNKS * MSM_AFFINE_THREADS, own[1]);
        fe prefix = staged_element(from + 4 * FE_CHUNKS * MSM_AFFINE_THREADS);
        store_sum(args, pair, add_pair(p, q, prefix, &inverse));
        if (pair == first)
            break;
    }
    end_slice(args, run, inverse);
}
