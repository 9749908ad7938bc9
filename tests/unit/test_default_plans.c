/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default plans of MSMs, NTTs and chunks for many sizes, curves and chips, compared with
 * recorded ones: a change of the plans' code or of the default numbers must not change them
 * unnoticed. Each line of default_plans.txt has what can be read, window bits or passes per log2 of
 * the size, and a digest of every member of the plans. With the argument --print the program
 * prints the lines of today.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool/tuning/tuning.h"
#include "zk/msm/plan.h"
#include "zk/ntt/extend.h"
#include "zk/ntt/split.h"
#include "zk/poseidon/plan.h"
#include "zk/vector/vector.h"

/* The default numbers, but that no MSM is small; those that are have lines of their own. */
static struct tuning usual;

static const struct chip chips[] = {
    {.multiprocessors = 4, .shared_bytes = 48 << 10, .tuning = &usual},
    {.multiprocessors = 84, .shared_bytes = 99 << 10, .tuning = &usual},
    {.multiprocessors = 108, .shared_bytes = 163 << 10, .tuning = &usual},
    {.multiprocessors = 132, .shared_bytes = 227 << 10, .tuning = &usual},
};

static FILE *out;
static uint64_t digest;

static void add(uint64_t value)
{
    for (int i = 0; i < 8; i++)
        digest = (digest ^ (value >> 8 * i & 0xff)) * UINT64_C(0x100000001b3);
}

static void begin(void)
{
    digest = UINT64_C(0xcbf29ce484222325);
}

static void end(void)
{
    fprintf(out, " %016" PRIx64 "\n", digest);
}

/* ---- MSM ------------------------------------------------------------------------------------- */

static void add_sort(const struct msm_sort_plan *sort)
{
    const uint64_t values[] = {sort->digit_bytes, sort->log_partition, sort->partitions,
        sort->scalar_bins, sort->digit_bins, sort->digit_threads, sort->block_capacity,
        sort->bucket_threads, sort->slice_entries, sort->max_top_digit, sort->max_oversized,
        sort->oversized_at, sort->partitioned_entries_at, sort->partitioned_buckets_at,
        sort->bytes};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        add(values[i]);
}

static void add_msm(const struct msm_plan *plan)
{
    const uint64_t values[] = {plan->window_bits, plan->windows, plan->sets_per_msm,
        plan->negates_large, plan->bucket_sets, plan->buckets, plan->entries, plan->threads,
        plan->log_segment, plan->merge_levels, plan->entries_at, plan->bucket_offsets_at,
        plan->buckets_at, plan->window_sums_at, plan->scratch_at, plan->bytes, plan->affine.passes,
        plan->affine.runs[0], plan->affine.runs[1], plan->affine.groups};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        add(values[i]);
    for (uint32_t i = 0; i < plan->merge_levels; i++) {
        add(plan->merge[i].slots);
        add(plan->merge[i].sums_at);
        add(plan->merge[i].buckets_at);
    }
    for (int i = 0; plan->affine.passes && i < MSM_ARRAYS; i++)
        add(plan->affine.array_at[i]);
    add_sort(&plan->sort);
}

struct msm_curve {
    const char *name;
    uint32_t coordinate_words, scalar_words, order_bits;
};

static void print_msm(const struct msm_curve *curve, const struct chip *chip, uint32_t factor,
    uint32_t affine_passes, uint64_t batch)
{
    begin();
    fprintf(out, "msm %s multiprocessors %u factor %u affine %u batch %" PRIu64 ":", curve->name,
        chip->multiprocessors, factor, affine_passes, batch);
    for (uint32_t log = 0; log <= 28; log++)
        for (uint32_t part = 0; part < 3; part++) {
            const uint64_t count = (UINT64_C(1) << log) + part * (UINT64_C(1) << log) / 3;
            const struct msm_job job = {.coordinate_words = curve->coordinate_words,
                .scalar_words = curve->scalar_words,
                .order_bits = curve->order_bits,
                .scalar_bits = part == 2 ? curve->order_bits / 2 : 0,
                .count = count,
                .chunk_count = count,
                .batch = batch,
                .precompute_factor = factor,
                .affine_passes = affine_passes};
            struct msm_plan plan;

            if (msm_plan_make(chip, &job, &plan))
                add(UINT64_MAX);
            else
                add_msm(&plan);
            if (!part)
                fprintf(out, " %u", plan.window_bits);
        }
    end();
}

static const struct msm_curve curves[] = {{"bn254_g1", 8, 8, 254}, {"secp256k1", 8, 8, 256},
    {"bls12_381_g1", 12, 8, 255}, {"bls12_377_g1", 12, 8, 253}, {"bn254_g2", 16, 8, 254},
    {"bls12_381_g2", 24, 8, 255}, {"bw6_761_g1", 24, 12, 377}};

static void print_msms(void)
{
    static const uint32_t factors[] = {1, 4, 768};

    for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++)
        for (size_t c = 0; c < sizeof(chips) / sizeof(chips[0]); c++)
            for (size_t f = 0; f < sizeof(factors) / sizeof(factors[0]); f++) {
                print_msm(&curves[i], &chips[c], factors[f], 0, 1);
                print_msm(&curves[i], &chips[c], factors[f], 2, 1);
                print_msm(&curves[i], &chips[c], factors[f], 0, 13);
            }
}

/* The blocks per bucket set, 0 where the plan is not small. */
static void print_small_msm(const struct msm_curve *curve, const struct chip *chip, uint64_t batch)
{
    begin();
    fprintf(out, "small msm %s multiprocessors %u batch %" PRIu64 ":", curve->name,
        chip->multiprocessors, batch);
    for (uint32_t log = 0; log <= 14; log++) {
        const uint64_t count = UINT64_C(1) << log;
        const struct msm_job job = {.coordinate_words = curve->coordinate_words,
            .scalar_words = curve->scalar_words,
            .order_bits = curve->order_bits,
            .count = count,
            .chunk_count = count,
            .batch = batch,
            .precompute_factor = 1};
        struct msm_plan plan;

        assert_int_equal(msm_plan_make(chip, &job, &plan), POOL_OK);
        add_msm(&plan);
        add(plan.small.merges);
        add(plan.small.set_entries);
        add(plan.small.shared_bytes);
        add(plan.small.counters_at);
        fprintf(out, " %u", plan.small.parts);
    }
    end();
}

static void print_small_msms(void)
{
    for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++)
        for (size_t c = 0; c < sizeof(chips) / sizeof(chips[0]); c++) {
            struct chip chip = chips[c];

            chip.tuning = tuning_default();
            print_small_msm(&curves[i], &chip, 1);
            print_small_msm(&curves[i], &chip, 3);
        }
}

static void print_msm_chunks(void)
{
    for (uint32_t log = 10; log <= 26; log += 2)
        for (int host = 0; host < 4; host++) {
            const struct msm_chunk_job job = {.msm = {.coordinate_words = 8,
                                                  .scalar_words = 8,
                                                  .order_bits = 254,
                                                  .count = UINT64_C(1) << log,
                                                  .batch = 3,
                                                  .precompute_factor = 1},
                .has_bases_span = host & 1,
                .shares_bases = true,
                .bases_on_host = host & 1,
                .scalars_on_host = host >> 1,
                .results_on_host = true,
                .combines_on_host = true,
                .base_stride = 64,
                .scalar_stride = 32,
                .result_bytes = 64};
            struct msm_chunk_plan plan;

            begin();
            fprintf(out, "msm chunks 2^%u host %d:", log, host);
            for (uint64_t limit = UINT64_C(1) << 24; limit < UINT64_C(1) << 40; limit <<= 5) {
                if (msm_chunk_plan_make(&chips[3], &msm_default_tuning, &job, limit, &plan)) {
                    fprintf(out, " -");
                    continue;
                }
                fprintf(out, " %" PRIu64 "x%" PRIu64 "%s", plan.sub_batch, plan.count,
                    plan.ramps_up ? "r" : "");
                add(plan.bytes);
                add(plan.slots);
                for (uint32_t i = 0; i < plan.plan_count; i++)
                    add_msm(&plan.plans[i]);
            }
            end();
        }
}

/* ---- NTT ------------------------------------------------------------------------------------- */

static void add_tuning(const struct ntt_tuning *tuning)
{
    const uint64_t values[] = {tuning->log_radix, tuning->log_threads, tuning->min_tile_width,
        tuning->high_bits, tuning->single_bits, tuning->blocks, tuning->log_chunk,
        tuning->quotients};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        add(values[i]);
}

static void add_ntt(const struct ntt_plan *plan)
{
    add(plan->count);
    add(plan->first_is_out_of_place);
    add(plan->last_is_out_of_place);
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct ntt_pass *pass = &plan->pass[i];
        const uint64_t values[] = {pass->log_done, pass->log_length, pass->log_tile_width,
            pass->log_tile_inner, pass->log_in_warp, pass->flags, pass->threads, pass->blocks,
            pass->shared_bytes, pass->sub_transforms};

        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
            add(values[k]);
    }
}

static void add_chunks(const struct chip *chip, const struct ntt_job *job)
{
    const struct ntt_operands operands = {.element_bytes = 4 * job->words,
        .in_stride = 4 * job->words,
        .in_is_on_host = true,
        .in_is_packed = true,
        .out_is_on_host = true,
        .out_is_packed = true};
    struct ntt_chunks chunks;

    if (ntt_plan_chunks(chip, job, &operands, UINT64_C(1) << 30, &chunks))
        return;
    add(chunks.rows);
    add(chunks.slots);
    add(chunks.bytes);
}

static void add_split(const struct chip *chip, const struct ntt_job *job)
{
    struct ntt_split split;

    if (job->log_size < 2 || job->batch > 1)
        return;
    ntt_split_make(chip, job, 1, true, true, &split);
    add(split.log_rows);
    add(split.chunk);
}

static void print_ntt(
    uint32_t words, const struct chip *chip, pool_ntt_order order, pool_ntt_layout layout)
{
    static const uint64_t batches[] = {1, 7, 4096};

    begin();
    fprintf(out, "ntt words %u multiprocessors %u order %d layout %d:", words,
        chip->multiprocessors, (int)order, (int)layout);
    for (uint32_t log = 0; log <= 32; log++)
        for (size_t b = 0; b < sizeof(batches) / sizeof(batches[0]); b++)
            for (int coset = 0; coset < 4; coset++) {
                const struct ntt_job job = {.words = words,
                    .log_size = log,
                    .batch = batches[b],
                    .order = order,
                    .layout = layout,
                    .coset_in = coset & 1,
                    .coset_out = coset >> 1};
                const struct ntt_tuning tuning = ntt_tuning_for(&job, chip);
                struct ntt_plan plan;

                add_tuning(&tuning);
                if (ntt_plan_make(&tuning, chip, &job, &plan))
                    add_ntt(&plan);
                else
                    add(UINT64_MAX);
                add_chunks(chip, &job);
                add_split(chip, &job);
                if (!b && !coset)
                    fprintf(out, " %u", plan.count);
            }
    end();
}

static void print_ntts(void)
{
    static const uint32_t words[] = {1, 2, 3, 8, 10, 12, 24};

    for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
        for (size_t c = 0; c < sizeof(chips) / sizeof(chips[0]); c++)
            for (int order = 0; order < 4; order++)
                for (int layout = 0; layout < 2; layout++)
                    print_ntt(words[w], &chips[c], (pool_ntt_order)order, (pool_ntt_layout)layout);
}

static void print_extensions(void)
{
    static const uint32_t words[] = {1, 2, 8};

    for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
        begin();
        fprintf(out, "extend words %u:", words[w]);
        for (uint32_t log = 1; log <= 24; log++) {
            const struct ntt_extend_job job = {.words = words[w],
                .log_size = log,
                .log_blowup = 1,
                .batch = 100,
                .order = POOL_NTT_NR,
                .layout = POOL_NTT_ROWS};
            const struct ntt_extend_operands operands = {
                .element_bytes = 4 * words[w], .in_is_on_host = true, .out_is_on_host = true};
            struct ntt_extend_chunks chunks;

            if (ntt_extend_plan_chunks(&chips[3], &job, &operands, UINT64_C(1) << 34, &chunks))
                continue;
            fprintf(out, " %" PRIu64, chunks.columns);
            add(chunks.slots);
            add(chunks.bytes);
        }
        end();
    }
}

/* ---- Poseidon and vectors -------------------------------------------------------------------- */

static void print_poseidon(void)
{
    const struct poseidon_tuning tuning = tuning_default()->poseidon;

    begin();
    fprintf(out, "poseidon:");
    for (uint32_t log = 0; log <= 30; log++) {
        const struct poseidon_job job = {.count = UINT64_C(1) << log,
            .multiple = 1,
            .in_bytes = 96,
            .out_bytes = 32,
            .in_is_on_host = true,
            .out_is_on_host = true};
        struct poseidon_chunk_plan plan;

        assert_true(poseidon_plan_chunks(&tuning, &job, UINT64_MAX, &plan));
        fprintf(out, " %" PRIu64, plan.chunk_items);
        add(plan.slots);
        add(plan.bytes);
        for (size_t c = 0; c < sizeof(chips) / sizeof(chips[0]); c++) {
            const struct poseidon_launch_plan launch =
                poseidon_plan_launch(&tuning, &chips[c], POSEIDON_HASH, true, job.count);

            add(launch.kernel);
            add(launch.blocks);
        }
    }
    end();
}

static void print_vectors(void)
{
    begin();
    fprintf(out, "vector:");
    for (uint32_t log = 0; log <= 30; log++) {
        const struct vector_job job = {.count = UINT64_C(1) << log,
            .element_bytes = 32,
            .upload_stride = {32, 32},
            .download_stride = 32,
            .is_divisible = true};
        struct vector_plan plan;

        assert_true(vector_plan_make(&tuning_default()->vector, &job, UINT64_MAX, &plan));
        fprintf(out, " %" PRIu64, plan.chunk_elements);
        add(plan.bytes);
    }
    end();
}

static void print_all(void)
{
    usual = *tuning_default();
    for (int i = 0; i < TUNING_MSM_WIDTHS; i++)
        usual.msm[i].small_max_terms = 0;
    print_msms();
    print_small_msms();
    print_msm_chunks();
    print_ntts();
    print_extensions();
    print_poseidon();
    print_vectors();
}

static void test_recorded(void **state)
{
    char *text = NULL, expected[512], *line, *rest;
    size_t bytes = 0;
    FILE *recorded = fopen(DEFAULT_PLANS, "r");

    (void)state;
    assert_non_null(recorded);
    out = open_memstream(&text, &bytes);
    assert_non_null(out);
    print_all();
    assert_int_equal(fclose(out), 0);
    line = strtok_r(text, "\n", &rest);
    while (fgets(expected, sizeof(expected), recorded)) {
        expected[strcspn(expected, "\n")] = '\0';
        assert_non_null(line);
        assert_string_equal(line, expected);
        line = strtok_r(NULL, "\n", &rest);
    }
    assert_null(line);
    fclose(recorded);
    free(text);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recorded)};

    if (count > 1 && strcmp(arguments[1], "--print") == 0) {
        out = stdout;
        print_all();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
