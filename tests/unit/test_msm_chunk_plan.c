/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The division of calls into chunks, for thousands of sizes, batches, memory spaces and budgets:
 * chunks cover all scalars once, each fits its plan and the budget, nothing in the workspace
 * overlaps; sizes far beyond any memory; and where plans have affine passes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "support/assert.h"

#include "base/math.h"
#include "msm/affine_args.h"
#include "pool/tuning/tuning.h"
#include "zk/msm/msm.h"

/* Its numbers are the default ones, but no plan is small. */
static struct tuning usual;
static const struct chip chip = {
    .multiprocessors = 132, .shared_bytes = 227 << 10, .tuning = &usual};

static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A number of up to `bits` bits, all lengths alike. */
static uint64_t random_size(uint32_t bits)
{
    return next_random() >> (64 - bits + next_random() % bits);
}

/* Words of a coordinate and a scalar, and bits of the order: BN254, G2 of BLS12-381, BW6-761. */
static const uint32_t curves[][3] = {{8, 8, 254}, {24, 8, 255}, {24, 12, 377}, {8, 8, 256}};

static void init_job(struct msm_chunk_job *job, uint64_t count, uint64_t batch)
{
    uint64_t flags = next_random();
    const uint32_t *curve = curves[flags % 4];

    *job = (struct msm_chunk_job){.msm = {.coordinate_words = curve[0],
                                      .scalar_words = curve[1],
                                      .order_bits = curve[2],
                                      .scalar_bits = flags >> 4 & 3 ? 0 : 64,
                                      .count = count,
                                      .batch = batch,
                                      .precompute_factor = 1,
                                      .window_bits = flags >> 6 & 7 ? 0 : 12,
                                      .affine_passes = flags >> 16 & 3},
        .has_bases_span = true,
        .shares_bases = flags >> 2 & 1,
        .converts_bases = flags >> 14 & 1,
        .bases_on_host = flags >> 13 & 1,
        .scalars_on_host = flags >> 12 & 1,
        .results_on_host = flags >> 15 & 1,
        .has_checks = flags >> 11 & 1,
        .combines_on_host = flags >> 3 & 1 && batch <= MSM_HOST_COMBINES,
        .base_stride = 4 * (2 + (flags >> 9 & 1)) * curve[0],
        .scalar_stride = 4 * curve[1],
        .result_bytes = 8 * curve[0]};
}

/* A range of the workspace, to be checked for overlaps. */
struct range {
    uint64_t start, end;
};

static void add_range(struct range *ranges, size_t *count, uint64_t start, uint64_t bytes)
{
    assert_int_equal(start % 256, 0);
    if (bytes)
        ranges[(*count)++] = (struct range){start, start + bytes};
}

static void check_layout(
    const struct msm_chunk_job *job, const struct msm_chunk_plan *plan, uint64_t work)
{
    const struct msm_chunk largest = {.msms = plan->sub_batch, .count = plan->count};
    uint64_t affine_bytes = 8 * job->msm.coordinate_words;
    uint64_t bases = msm_chunk_bases(job, &largest);
    struct range ranges[9];
    size_t count = 0;

    add_range(ranges, &count, 0, work);
    for (uint32_t i = 0; i < plan->slots; i++) {
        if (job->scalars_on_host)
            add_range(ranges, &count, plan->scalars_at[i],
                plan->sub_batch * plan->count * job->scalar_stride);
        if (job->bases_on_host && (i == 0 || !plan->uploads_bases_once))
            add_range(ranges, &count, plan->bases_at[i], bases * job->base_stride);
    }
    if (job->converts_bases)
        add_range(ranges, &count, plan->converted_at, bases * affine_bytes);
    if (job->combines_on_host && !plan->is_one_sub_batch)
        add_range(ranges, &count, plan->window_sums_at,
            job->msm.batch * plan->plans[0].sets_per_msm * 2 * affine_bytes);
    if (!plan->writes_directly && !(job->combines_on_host && job->results_on_host))
        add_range(ranges, &count, plan->results_at, job->msm.batch * job->result_bytes);
    if (job->has_checks)
        add_range(ranges, &count, plan->check_at, 8);
    for (size_t i = 0; i < count; i++) {
        assert_true(ranges[i].end <= plan->bytes);
        for (size_t j = 0; j < i; j++)
            assert_true(ranges[i].end <= ranges[j].start || ranges[j].end <= ranges[i].start);
    }
}

/* The arrays of passes do not overlap each other, nor what the accumulation uses; there are runs
 * for all threads, and pieces for all groups. */
static void check_passes(const struct msm_plan *plan)
{
    const struct msm_affine_plan *affine = &plan->affine;
    const struct msm_merge_level *merge = &plan->merge[plan->merge_levels - 1];
    uint64_t at = merge->buckets_at + merge->slots * sizeof(uint32_t);
    uint64_t most = msm_affine_max_groups(plan, affine->passes, plan->entries);

    if (!affine->passes)
        return;
    assert_between(affine->passes, 1, 2);
    for (int i = 0; i < MSM_ARRAYS; i++) {
        assert_int_equal(affine->array_at[i] % 256, 0);
        assert_true(affine->array_at[i] >= at);
        at = affine->array_at[i];
    }
    assert_true(
        affine->array_at[MSM_ARRAY_PACKED_SUMS] + affine->groups * 8 * plan->job.coordinate_words <=
        affine->array_at[MSM_ARRAY_TOTALS]);
    assert_true(at < plan->bytes);
    assert_true(affine->groups << affine->passes < (uint64_t)1 << 31);
    assert_true(most <= 16 * affine->groups);
    for (uint32_t pass = 0; pass < affine->passes; pass++)
        assert_true(affine->runs[pass] > 0 && affine->runs[pass] % MSM_AFFINE_THREADS == 0);
}

static void check_chunks(const struct msm_chunk_job *job, const struct msm_chunk_plan *plan)
{
    const uint64_t count = job->msm.count;
    struct msm_chunk chunk = {0};
    uint64_t msm = 0, first = 0, done = 0, work = 0;

    while (msm_chunk_next(job, plan, &chunk)) {
        const struct msm_plan *run = msm_chunk_plan_of(plan, &chunk);

        assert_int_equal(chunk.msm, msm);
        assert_int_equal(chunk.first, first);
        assert_between(chunk.msms, 1, plan->sub_batch);
        assert_true(chunk.count <= plan->count && (chunk.count > 0 || count == 0));
        assert_true(chunk.count == count || chunk.msms == 1);
        assert_int_equal(msm_chunk_begins_sub_batch(&chunk), first == 0);
        assert_non_null(run);
        assert_int_equal(run->job.batch, chunk.msms);
        assert_int_equal(run->window_bits, plan->plans[0].window_bits);
        check_passes(run);
        assert_true(run->entries >= chunk.msms * chunk.count);
        work = run->bytes > work ? run->bytes : work;
        done += chunk.msms * chunk.count;
        first += chunk.count;
        assert_int_equal(msm_chunk_ends_sub_batch(job, &chunk), first == count);
        if (first == count) {
            msm += chunk.msms;
            first = 0;
        }
    }
    assert_int_equal(msm, job->msm.batch);
    assert_int_equal(done, count * job->msm.batch);
    check_layout(job, plan, work);
}

/* With a limit of exactly what is needed nothing changes. */
static void check_repeated(const struct msm_chunk_job *job, const struct msm_tuning *tuning,
    const struct msm_chunk_plan *plan)
{
    struct msm_chunk_plan repeated;

    assert_int_equal(msm_chunk_plan_make(&chip, tuning, job, plan->bytes, &repeated), POOL_OK);
    assert_int_equal(repeated.bytes, plan->bytes);
    assert_int_equal(repeated.sub_batch, plan->sub_batch);
    assert_int_equal(repeated.count, plan->count);
    assert_int_equal(repeated.plans[0].window_bits, plan->plans[0].window_bits);
}

static void test_thousands(void **state)
{
    int divided = 0, refused = 0, ramps = 0, passes = 0;

    (void)state;
    for (int i = 0; i < 4000; i++) {
        uint64_t batch = i % 3 ? 1 + random_size(10) : 1, count = random_size(i % 7 ? 24 : 13);
        uint64_t limit = i % 2 ? UINT64_MAX : (uint64_t)1 << 22 | random_size(34);
        struct msm_tuning tuning = msm_default_tuning;
        struct msm_chunk_job job;
        struct msm_chunk_plan plan;

        if (i % 5 == 0)
            tuning.min_ramp_bytes = 1;
        init_job(&job, count, batch);
        if (msm_chunk_plan_make(&chip, &tuning, &job, limit, &plan)) {
            refused++;
            continue;
        }
        assert_true(plan.bytes <= limit);
        check_chunks(&job, &plan);
        if (limit == UINT64_MAX)
            check_repeated(&job, &tuning, &plan);
        divided += !plan.has_whole_msms || plan.sub_batch < batch;
        ramps += plan.ramps_up;
        passes += msm_chunk_plan_has_passes(&plan);
    }
    assert_between(divided, 200, 4000);
    assert_between(refused, 1, 2000);
    assert_between(ramps, 200, 4000);
    assert_between(passes, 500, 3000);
}

/* Beyond 2^32 bytes, entries and points. */
static void test_giants(void **state)
{
    static const uint64_t counts[] = {(uint64_t)1 << 27, ((uint64_t)1 << 28) + 5, (uint64_t)1 << 31,
        ((uint64_t)1 << 33) + 1, (uint64_t)3 << 35};

    (void)state;
    for (size_t i = 0; i < 5; i++)
        for (int k = 0; k < 16; k++) {
            uint64_t limit = k % 2 ? UINT64_MAX : (uint64_t)100 << 30;
            struct msm_chunk_job job;
            struct msm_chunk_plan plan;

            init_job(&job, counts[i], (uint64_t)k % 3 + 1);
            assert_int_equal(
                msm_chunk_plan_make(&chip, &msm_default_tuning, &job, limit, &plan), POOL_OK);
            check_chunks(&job, &plan);
        }
}

/* BLS12-381 G1 in device memory. */
static void init_affine(struct msm_chunk_job *job, uint64_t count, uint32_t passes)
{
    *job = (struct msm_chunk_job){.msm = {.coordinate_words = 12,
                                      .scalar_words = 8,
                                      .order_bits = 255,
                                      .count = count,
                                      .batch = 1,
                                      .precompute_factor = 1,
                                      .affine_passes = passes},
        .has_bases_span = true,
        .base_stride = 96,
        .scalar_stride = 32,
        .result_bytes = 96};
}

static struct msm_chunk_plan plan_of(const struct msm_chunk_job *job, uint64_t limit)
{
    struct msm_chunk_plan plan;

    assert_int_equal(msm_chunk_plan_make(&chip, &msm_default_tuning, job, limit, &plan), POOL_OK);
    return plan;
}

/*
 * Passes add at most eight times the workspace up to 32 GiB, or double it, or 1 GiB, and make place
 * for themselves in pieces; with a byte less the plan is the one without passes, and not one
 * of smaller chunks.
 */
static void test_passes(void **state)
{
    (void)state;
    for (uint32_t log = 8; log < 28; log++) {
        struct msm_chunk_job job;
        struct msm_chunk_plan plain, with, limited;

        init_affine(&job, (uint64_t)1 << log, POOL_AFFINE_NONE);
        plain = plan_of(&job, UINT64_MAX);
        assert_int_equal(plain.plans[0].affine.passes, 0);
        job.msm.affine_passes = 0;
        with = plan_of(&job, UINT64_MAX);
        assert_int_equal(
            with.plans[0].affine.passes, log < 20 ? 0 : msm_affine_default_passes(&chip, 12));
        for (job.msm.affine_passes = 1; job.msm.affine_passes < 3; job.msm.affine_passes++) {
            with = plan_of(&job, UINT64_MAX);
            assert_int_equal(with.plans[0].affine.passes, job.msm.affine_passes);
            assert_between(with.bytes, plain.bytes + 1,
                plain.bytes +
                    base_max((uint64_t)1 << 30,
                        base_min(8 * plain.bytes, base_max(plain.bytes, (uint64_t)32 << 30))));
            check_chunks(&job, &with);
            limited = plan_of(&job, with.bytes);
            assert_memory_equal(&limited, &with, sizeof(with));
            limited = plan_of(&job, with.bytes - 1);
            assert_int_equal(limited.bytes, plain.bytes);
            assert_int_equal(limited.plans[0].affine.passes, 0);
            assert_int_equal(limited.plans[0].window_bits, plain.plans[0].window_bits);
            assert_int_equal(limited.count, plain.count);
        }
    }
}

/* By number within the bounds, and never with tables, short scalars or several MSMs; the plan is of
 * twice the terms with half the windows. */
static void test_split(void **state)
{
    const struct chip h200 = {.multiprocessors = 132, .shared_bytes = 227 << 10};
    struct msm_job job = {.coordinate_words = 8,
        .scalar_words = 8,
        .order_bits = 254,
        .count = 1 << 15,
        .chunk_count = 1 << 15,
        .batch = 1,
        .precompute_factor = 1};
    struct msm_job other = job;
    struct msm_plan whole, split;

    (void)state;
    assert_true(msm_plan_splits(&h200, &job, MSM_SPLITS_BY_NUMBER));
    assert_false(msm_plan_splits(&h200, &job, MSM_SPLITS_NEVER));
    other.count = (1 << 15) - 1;
    assert_false(msm_plan_splits(&h200, &other, MSM_SPLITS_BY_NUMBER));
    assert_true(msm_plan_splits(&h200, &other, MSM_SPLITS_ALWAYS));
    other.count = (1 << 16) + 1;
    assert_false(msm_plan_splits(&h200, &other, MSM_SPLITS_BY_NUMBER));
    other.coordinate_words = 12;
    assert_true(msm_plan_splits(&h200, &other, MSM_SPLITS_BY_NUMBER));
    other.batch = 2;
    assert_false(msm_plan_splits(&h200, &other, MSM_SPLITS_BY_NUMBER));
    other = job, other.precompute_factor = 2;
    assert_false(msm_plan_splits(&h200, &other, MSM_SPLITS_ALWAYS));
    other = job, other.scalar_bits = 64;
    assert_false(msm_plan_splits(&h200, &other, MSM_SPLITS_ALWAYS));
    job.window_bits = 13;
    assert_int_equal(msm_plan_make(&h200, &job, &whole), POOL_OK);
    job.half_bits = 127;
    assert_int_equal(msm_plan_make(&h200, &job, &split), POOL_OK);
    assert_int_equal(whole.windows, 253 / 13 + 1);
    assert_int_equal(split.windows, 127 / 13 + 1);
    assert_int_equal(split.entries, 2 * job.chunk_count * split.windows);
    assert_true(split.negates_large);
}

/* ---- few terms ------------------------------------------------------------------------------- */

/* What the stages of a small plan use at the same time, in the order of the workspace. */
static void check_small(const struct chip *of, const struct msm_plan *plan)
{
    const struct msm_small_plan *small = &plan->small;
    const uint64_t xyzz = 16 * (uint64_t)plan->job.coordinate_words, sets = plan->bucket_sets;
    const uint64_t groups = sets * small->parts * small->merges;
    const uint64_t windows = base_ceil_div(plan->windows, plan->sets_per_msm);

    assert_true(small->merges == 1 || small->merges == 2);
    assert_true(small->parts == 1 || small->parts * sets <= of->multiprocessors);
    assert_true(small->parts * small->merges <= MSM_MERGE_THREADS / 2);
    assert_true(small->set_entries >= windows * plan->job.count);
    assert_true(small->shared_bytes + 1024 <= of->shared_bytes);
    assert_true(plan->buckets_at + plan->buckets * xyzz <= plan->bucket_offsets_at);
    assert_true(plan->bucket_offsets_at + 4 * (plan->buckets + sets) <= plan->entries_at);
    assert_true(plan->entries_at + 4 * sets * small->set_entries <= small->counters_at);
    assert_true(small->counters_at + 4 * MSM_SMALL_COUNTERS * sets <= plan->window_sums_at);
    assert_true(plan->window_sums_at + sets * xyzz <= plan->scratch_at);
    assert_true(plan->scratch_at + 2 * plan->buckets * xyzz <= plan->bytes);
    assert_int_equal(plan->merge_levels, 2);
    for (uint32_t level = 0; level < 2; level++) {
        const struct msm_merge_level *merge = &plan->merge[level];
        const uint64_t end = level ? plan->bytes : plan->merge[1].sums_at;

        assert_int_equal(merge->slots, groups * (level ? 2 : MSM_MERGE_THREADS));
        assert_true(merge->sums_at >= plan->scratch_at);
        assert_true(merge->sums_at + merge->slots * xyzz <= merge->buckets_at);
        assert_true(merge->buckets_at + 4 * merge->slots <= end);
    }
}

static void test_small(void **state)
{
    struct chip few = chip;
    struct msm_plan plan;

    (void)state;
    few.tuning = NULL;
    for (uint64_t i = 0; i < 20000; i++) {
        const uint32_t *curve = curves[i % 4];
        struct msm_job job = {.coordinate_words = curve[0],
            .scalar_words = curve[1],
            .order_bits = curve[2],
            .count = 1 + random_size(14),
            .batch = 1 + random_size(4),
            .precompute_factor = i % 5 ? 1 : 1 + (uint32_t)(next_random() % 40),
            .window_bits = i % 3 ? 0 : 2 + (uint32_t)(next_random() % 12)};
        bool is_small;

        job.chunk_count = job.count;
        few.multiprocessors = 1 + (uint32_t)random_size(8);
        assert_int_equal(msm_plan_make(&few, &job, &plan), POOL_OK);
        is_small = plan.small.parts > 0;
        if (is_small)
            check_small(&few, &plan);
        assert_true(!is_small || job.count * job.batch <= 1 << 13);
        assert_true(is_small || job.count * job.batch > 1 << 13 || job.window_bits > 12 ||
                    job.precompute_factor > 1);
        assert_int_equal(msm_plan_make(&chip, &job, &plan), POOL_OK);
        assert_int_equal(plan.small.parts, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_thousands),
        cmocka_unit_test(test_giants), cmocka_unit_test(test_passes), cmocka_unit_test(test_split),
        cmocka_unit_test(test_small)};

    usual = *tuning_default();
    for (int i = 0; i < TUNING_MSM_WIDTHS; i++)
        usual.msm[i].small_max_terms = 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
