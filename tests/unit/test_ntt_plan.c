/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of transforms for thousands of sizes, batches and chips: the properties that every plan
 * must have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/assert.h"

#include "zk/ntt/extend.h"

static const struct chip chips[] = {
    {.multiprocessors = 1, .shared_bytes = 48 << 10},
    {.multiprocessors = 108, .shared_bytes = 163 << 10},
    {.multiprocessors = 132, .shared_bytes = 227 << 10},
    {.multiprocessors = 170, .shared_bytes = 99 << 10},
};
static const uint32_t words[] = {1, 2, 4, 8, 12, 24};

/* Index in the tile of point `e` of a thread in the stage that follows `done` bits of a pass: what
 * ptx/ntt/index.cuh computes, from the description there. */
static uint32_t tile_index_of(const struct ntt_tuning *tuning, const struct ntt_pass *pass,
    uint32_t done, uint32_t thread, uint32_t e)
{
    const uint32_t radix = tuning->log_radix, high = pass->log_length - radix;
    const bool is_first = done == 0, is_last = pass->log_length <= done + radix;
    const uint32_t below = is_last ? 0 : pass->log_length - done - radix;
    const bool is_transposed = is_last    ? (pass->flags & NTT_STORE_TRANSPOSED) != 0
                               : is_first ? (pass->flags & NTT_LOAD_TRANSPOSED) != 0
                                          : pass->log_tile_inner != 0;
    const uint32_t rest = is_transposed ? thread >> pass->log_tile_width : thread % (1u << high);
    const uint32_t sub = is_transposed ? thread % (1u << pass->log_tile_width) : thread >> high;
    const uint32_t local =
        (rest >> below << (below + radix)) | (e << below) | (rest & ((1u << below) - 1));

    return ((sub >> pass->log_tile_inner << pass->log_length | local) << pass->log_tile_inner) |
           (sub & ((1u << pass->log_tile_inner) - 1));
}

/* Where only a warp waits for an exchange, a warp reads what it wrote itself. */
static void check_exchanges(const struct ntt_tuning *tuning, const struct ntt_pass *pass)
{
    const uint32_t radix = tuning->log_radix, points = 1u << radix;
    uint16_t warp_of[1 << 14];

    assert_between(pass->log_in_warp, 0, 5);
    assert_true(pass->log_in_warp == 0 || pass->threads >= 32);
    assert_true(pass->threads * points <= sizeof(warp_of) / sizeof(warp_of[0]));
    for (uint32_t done = 0; done + radix < pass->log_length; done += radix) {
        if (pass->log_length - done - radix > pass->log_in_warp)
            continue;
        for (uint32_t i = 0; i < pass->threads * points; i++)
            warp_of[tile_index_of(tuning, pass, done, i / points, i % points)] =
                (uint16_t)(i / points / 32);
        for (uint32_t i = 0; i < pass->threads * points; i++)
            assert_int_equal(
                warp_of[tile_index_of(tuning, pass, done + radix, i / points, i % points)],
                i / points / 32);
    }
}

static void check_pass(const struct ntt_tuning *tuning, const struct chip *chip,
    const struct ntt_job *job, const struct ntt_pass *pass)
{
    uint32_t tile = pass->log_length + pass->log_tile_width;

    if (tuning->by_length) {
        assert_int_equal(tile, ntt_log_tile(tuning) + ntt_doubled(tuning, pass->log_length));
        assert_between(pass->log_length, NTT_MIN_LENGTH, NTT_MAX_LENGTH);
        assert_true(pass->log_tile_width >= 2);
        assert_int_equal(job->layout, POOL_NTT_ROWS);
        assert_false(pass->flags & NTT_COSET_OUTPUT);
        assert_false((pass->flags & NTT_COSET_INPUT) && (pass->flags & NTT_REVERSED_INPUT));
    } else {
        assert_between(tile, tuning->log_radix, ntt_log_tile(tuning));
    }
    assert_int_equal(pass->threads << tuning->by_length, 1u << (tile - tuning->log_radix));
    assert_true(pass->shared_bytes <= chip->shared_bytes);
    assert_true(pass->shared_bytes >= ((uint64_t)job->words * 4) << tile);
    assert_int_equal(pass->sub_transforms, job->batch << (job->log_size - pass->log_length));
    assert_true((uint64_t)pass->blocks << pass->log_tile_width >= pass->sub_transforms);
    assert_true((uint64_t)(pass->blocks - 1) << pass->log_tile_width < pass->sub_transforms);
    assert_true(pass->log_tile_inner <= pass->log_tile_width);
    /* Only points that are in memory in the order of the threads are loaded to registers directly,
     * and neighbours of two words. */
    if (pass->flags & NTT_LOAD_REGISTERS) {
        assert_false(pass->flags & NTT_COSET_INPUT);
        if (pass->flags & NTT_REVERSED_INPUT) {
            assert_int_equal(job->words, 2);
            assert_int_equal(job->layout, POOL_NTT_ROWS);
            assert_true(tuning->log_radix >= 2 && pass->log_length > tuning->log_radix);
        }
    }
    if (pass->flags & NTT_STORE_REGISTERS)
        assert_false(pass->flags & NTT_COSET_OUTPUT);
    if (pass->flags & NTT_STORE_NEIGHBOURS) {
        assert_int_equal(job->words, 2);
        assert_int_equal(job->layout, POOL_NTT_ROWS);
        assert_true(tuning->log_radix >= 2 && pass->log_length > tuning->log_radix);
        assert_true(pass->threads >= 32 && pass->log_tile_width < 5);
        assert_false(pass->flags & NTT_NATURAL_OUTPUT);
        assert_int_equal(pass->log_done + pass->log_length, job->log_size);
    }
    if (pass->flags & (NTT_LOAD_REGISTERS | NTT_STORE_REGISTERS))
        assert_true(pass->log_length >= tuning->log_radix);
    /* Pairs of threads that both have elements to store. */
    if (pass->flags & NTT_STORE_SECTORS) {
        assert_int_equal(job->words, 8);
        assert_true(pass->flags & NTT_STORE_REGISTERS);
        assert_int_equal(pass->threads % 32, 0);
        assert_int_equal(pass->sub_transforms % (1u << pass->log_tile_width), 0);
    }
    if (!tuning->by_length)
        check_exchanges(tuning, pass);
    assert_int_equal((pass->flags & NTT_TRIGGERS_DEPENDENT) != 0,
        pass->blocks > (uint64_t)tuning->blocks * chip->multiprocessors);
}

static void check_plan(
    const struct ntt_tuning *tuning, const struct chip *chip, const struct ntt_job *job)
{
    struct ntt_plan plan;
    uint32_t done = job->log_done, gathers = 0, scatters = 0;
    int takes_reversed = job->order == POOL_NTT_RN || job->order == POOL_NTT_RR;
    int gives_natural = job->order == POOL_NTT_NN || job->order == POOL_NTT_RN;

    assert_true(ntt_plan_make(tuning, chip, job, &plan));
    assert_between(plan.count, 1, NTT_MAX_PASSES);
    for (uint32_t i = 0; i < plan.count; i++) {
        assert_int_equal(plan.pass[i].log_done, done);
        done += plan.pass[i].log_length;
        gathers += (plan.pass[i].flags & NTT_REVERSED_INPUT) != 0;
        scatters += (plan.pass[i].flags & NTT_NATURAL_OUTPUT) != 0;
        check_pass(tuning, chip, job, &plan.pass[i]);
    }
    assert_int_equal(done, job->log_size);
    assert_int_equal(gathers, takes_reversed);
    assert_int_equal(scatters, gives_natural);
    assert_int_equal((plan.pass[0].flags & NTT_COSET_INPUT) != 0, job->coset_in);
    assert_int_equal((plan.pass[plan.count - 1].flags & NTT_COSET_OUTPUT) != 0, job->coset_out);
    /* In place and out of place: a workspace exactly where a pass would read what it wrote. */
    assert_int_equal(ntt_plan_needs_workspace(&plan, 1, 0),
        (plan.count > 1 || job->log_done) && (takes_reversed || gives_natural));
    if (job->order == POOL_NTT_NR)
        assert_false(ntt_plan_needs_workspace(&plan, 0, 0));
}

static void test_plans(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(chips) / sizeof(chips[0]); c++)
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
            for (uint32_t way = 0; way < 16; way++)
                for (uint32_t log_size = 0; log_size <= 30; log_size++) {
                    const struct ntt_job job = {.words = words[w],
                        .log_size = log_size,
                        .batch = way & 8 ? 1 + 3 * way : 1,
                        .order = (pool_ntt_order)(way & 3),
                        .layout = (pool_ntt_layout)(way >> 2 & 1),
                        .coset_in = way % 3 == 0,
                        .coset_out = way % 3 == 1};

                    struct ntt_tuning tuning = ntt_tuning_for(&job, &chips[c]);

                    check_plan(&tuning, &chips[c], &job);
                }
        }
}

/* Passes behind bits that are transformed already. */
static void test_rest(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(chips) / sizeof(chips[0]); c++)
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
            for (uint32_t way = 0; way < 16; way++)
                for (uint32_t log_size = 1; log_size <= 30; log_size++) {
                    const struct ntt_job job = {.words = words[w],
                        .log_size = log_size,
                        .log_done = 1 + way % 4 % log_size,
                        .batch = way & 8 ? 1 + 3 * way : 1,
                        .order = way & 1 ? POOL_NTT_NR : POOL_NTT_NN,
                        .layout = (pool_ntt_layout)(way >> 2 & 1)};
                    struct ntt_tuning tuning = ntt_tuning_for(&job, &chips[c]);

                    check_plan(&tuning, &chips[c], &job);
                }
}

/* The properties that every extension must have, with the operands that the bits of `way` give. */
static uint32_t pass_count(const struct chip *chip, const struct ntt_job *job)
{
    struct ntt_tuning tuning = ntt_tuning_for(job, chip);
    struct ntt_plan plan;

    assert_true(ntt_plan_make(&tuning, chip, job, &plan));
    return plan.count;
}

static void check_extension(const struct chip *chip, const struct ntt_extend_job *job, uint32_t way)
{
    const struct ntt_extend_operands operands = {.element_bytes = 4 * job->words,
        .in_is_on_host = way & 1,
        .out_is_on_host = way & 2,
        .keeps_coefficients = way & 4 && !job->from_coefficients,
        .coefficients_are_on_host = way & 8,
        .out_begins_with_in = way & 16 && !(way & 3),
        .coefficients_are_in = way & 32 && !(way & 25) && way & 4};
    const uint64_t results = (job->batch << job->log_size) * operands.element_bytes;
    struct ntt_extend_plan plan;

    assert_true(ntt_extend_plan_make(chip, job, &operands, &plan));
    assert_int_equal(plan.inverse.log_size + job->log_blowup, plan.forward.log_size);
    assert_int_equal(plan.forward.log_done, job->log_blowup);
    /* The large domain costs no pass that the columns themselves do not need in kernels that both
     * have: those of one length transform no rest. */
    if (plan.spreads && job->log_blowup < job->log_size) {
        struct ntt_job columns = plan.inverse;

        columns.layout = POOL_NTT_COLUMNS;
        assert_between(pass_count(chip, &plan.forward), 1, pass_count(chip, &columns));
    }
    if (operands.keeps_coefficients)
        assert_int_equal(plan.coefficients, NTT_EXTEND_KEPT);
    if (plan.spreads) { /* the kernel does not write where it reads */
        assert_int_not_equal(plan.coefficients, plan.spread);
        if (operands.out_begins_with_in && plan.spread == NTT_EXTEND_OUT)
            assert_int_not_equal(plan.coefficients, NTT_EXTEND_IN);
        assert_int_equal(plan.workspace[POOL_NTT_FORWARD], NTT_EXTEND_NOWHERE);
    }
    if (plan.workspace[POOL_NTT_INVERSE]) {
        assert_int_not_equal(plan.workspace[POOL_NTT_INVERSE], plan.coefficients);
        if (operands.out_begins_with_in)
            assert_int_not_equal(plan.workspace[POOL_NTT_INVERSE], NTT_EXTEND_OUT);
    }
    if (plan.workspace[POOL_NTT_INVERSE] == NTT_EXTEND_OUT_TAIL)
        assert_true(plan.spreads);
    /* Bit-reversed results need memory for the coefficients besides, natural ones for themselves.
     */
    if (plan.spreads && (job->order & 1))
        assert_between(plan.scratch_bytes, 0, (results >> job->log_blowup) + 255);
    assert_between(plan.scratch_bytes, 0, results + 255);
}

static void test_extensions(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(chips) / sizeof(chips[0]); c++)
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
            for (uint32_t log_size = 0; log_size <= 28; log_size++)
                for (uint32_t way = 0; way < 1024; way += 1 + log_size % 3) {
                    const uint32_t b = (way + log_size) % (POOL_NTT_MAX_LOG_BLOWUP + 1);
                    const struct ntt_extend_job job = {.words = words[w],
                        .log_size = log_size,
                        .log_blowup = b < log_size ? b : log_size,
                        .batch = 1 + way % 5,
                        .order = (pool_ntt_order)(way >> 6 & 3),
                        .layout = (pool_ntt_layout)(way >> 8 & 1),
                        .from_coefficients = way >> 9 & 1};

                    check_extension(&chips[c], &job, way);
                }
}

/* More blocks than a grid has. */
static void test_too_many(void **state)
{
    const struct ntt_job job = {.words = 8, .log_size = 12, .batch = (uint64_t)1 << 45};
    struct ntt_tuning tuning = ntt_tuning_for(&job, &chips[2]);
    struct ntt_plan plan;

    (void)state;
    assert_false(ntt_plan_make(&tuning, &chips[2], &job, &plan));
}

static void test_tables(void **state)
{
    (void)state;
    for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
        for (uint32_t log_size = 0; log_size <= POOL_NTT_MAX_LOG_SIZE; log_size++) {
            const struct ntt_job job = {.words = words[w], .log_size = log_size, .batch = 1};
            struct ntt_tuning tuning = ntt_tuning_for(&job, &chips[2]);
            struct ntt_table_layout layout;

            ntt_table_layout_make(&tuning, log_size, &layout);
            assert_int_equal(layout.high_bits + layout.low_bits, log_size);
            assert_true(layout.log_order <= log_size);
            assert_true(
                layout.twiddles_high - layout.stage_twiddles >= (uint64_t)2 << layout.log_order);
            assert_true(
                layout.twiddles_low - layout.twiddles_high >= (uint64_t)1 << layout.high_bits);
            assert_true(layout.total - layout.powers_of_two >= (uint64_t)5 * VECTOR_POWERS_OF_TWO);
        }
}

/* Which sizes are tuned apart, and that a batch of one of them may not be. */
static void test_tunings(void **state)
{
    static const struct {
        uint32_t words, log_size;
        uint64_t batch;
        uint32_t radix, passes;
    } cases[] = {{8, 16, 1, 1, 2}, {8, 16, 2, 2, 2}, {8, 14, 4, 1, 2}, {8, 17, 1, 2, 3},
        {8, 9, 132, 1, 1}, {8, 9, 133, 2, 1}, {2, 20, 1, 5, 2}, {2, 20, 1000, 5, 2},
        {2, 18, 1, 4, 2}, {2, 21, 1, 4, 3}, {2, 28, 1, 5, 3}, {1, 20, 1, 5, 2}, {12, 16, 1, 2, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ntt_job job = {
            .words = cases[i].words, .log_size = cases[i].log_size, .batch = cases[i].batch};
        struct ntt_tuning tuning = ntt_tuning_for(&job, &chips[2]);
        struct ntt_plan plan;

        assert_int_equal(tuning.log_radix, cases[i].radix);
        assert_true(ntt_plan_make(&tuning, &chips[2], &job, &plan));
        assert_int_equal(plan.count, cases[i].passes);
    }
}

/* Where kernels of one length are chosen, and the lengths of their passes. */
static void test_lengths(void **state)
{
    static const struct {
        uint32_t log_size, log_done;
        uint64_t batch;
        uint32_t passes[3]; /* 0: another tuning */
    } cases[] = {{24, 0, 1, {8, 8, 8}}, {25, 0, 1, {8, 8, 9}}, {26, 0, 1, {8, 8, 10}},
        {27, 0, 1, {8, 8, 11}}, {22, 0, 1, {11, 11}}, {21, 0, 1, {11, 10}}, {20, 0, 1, {0}},
        {20, 0, 16, {10, 10}}, {19, 0, 16, {8, 11}}, {18, 0, 128, {8, 10}}, {18, 0, 4, {0}},
        {17, 0, 16, {8, 9}}, {16, 0, 4, {8, 8}}, {16, 0, 2, {0}}, {14, 0, 1024, {0}},
        {12, 0, 4096, {12}}, {8, 0, 4096, {8}}, {23, 0, 1, {0}}, {22, 2, 16, {10, 10}},
        {24, 2, 8, {11, 11}}, {22, 2, 1, {10, 10}}, {17, 1, 4, {8, 8}}, {21, 1, 64, {10, 10}}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (uint32_t order = 0; order < 4; order++) {
            const struct ntt_job job = {.words = 1,
                .log_size = cases[i].log_size,
                .log_done = cases[i].log_done,
                .batch = cases[i].batch,
                .order = cases[i].log_done ? (pool_ntt_order)(order & 1) : (pool_ntt_order)order,
                .coset_in = cases[i].log_done != 0};
            const struct ntt_tuning tuning = ntt_tuning_for(&job, &chips[2]);
            struct ntt_plan plan;

            assert_int_equal(tuning.by_length, cases[i].passes[0] != 0);
            if (!tuning.by_length)
                continue;
            assert_true(ntt_plan_make(&tuning, &chips[2], &job, &plan));
            for (uint32_t k = 0; k < 3; k++)
                assert_int_equal(k < plan.count ? plan.pass[k].log_length : 0, cases[i].passes[k]);
        }
}

/* Chunks of packed rows in host memory, for 32 bytes per element and 2^10 elements per row. */
static void test_chunks(void **state)
{
    const uint64_t row = 32 << 10;
    struct ntt_job job = {.words = 8, .log_size = 10, .batch = 1000, .order = POOL_NTT_NR};
    struct ntt_operands operands = {.element_bytes = 32,
        .in_stride = 32,
        .in_is_on_host = true,
        .in_is_packed = true,
        .out_is_on_host = true,
        .out_is_packed = true};
    struct ntt_chunks chunks;

    (void)state;
    assert_int_equal(ntt_plan_chunks(&chips[2], &job, &operands, UINT64_MAX, &chunks), POOL_OK);
    assert_int_equal(chunks.rows, (16 << 20) / row);
    assert_int_equal(chunks.slots, 2); /* for two chunks */
    assert_int_equal(chunks.bytes, 2 * chunks.rows * row);
    /* All limits down to a row: what fits, in as many slots as fit. */
    for (uint64_t limit = 999 * row; limit >= row; limit = limit / 5 * 4) {
        assert_int_equal(ntt_plan_chunks(&chips[2], &job, &operands, limit, &chunks), POOL_OK);
        assert_between(chunks.rows, 1, 512);
        assert_int_equal(chunks.bytes, chunks.slots * chunks.rows * row);
        assert_true(chunks.bytes <= limit);
        assert_int_equal(chunks.slots, limit < 2 * row                         ? 1
                                       : limit < 3 * row || chunks.rows == 512 ? 2
                                                                               : 3);
    }
    assert_int_equal(ntt_plan_chunks(&chips[2], &job, &operands, row - 1, &chunks),
        POOL_ERR_OUT_OF_DEVICE_MEMORY);
    /* One chunk: a small batch, columns, strided spans, device memory, a caller's workspace. */
    job.batch = 512;
    assert_int_equal(ntt_plan_chunks(&chips[2], &job, &operands, UINT64_MAX, &chunks), POOL_OK);
    assert_int_equal(chunks.rows, 512);
    assert_int_equal(chunks.slots, 1);
    job.batch = 1000;
    for (int i = 0; i < 4; i++) {
        struct ntt_operands others = operands;
        struct ntt_job other = job;

        other.layout = i == 0 ? POOL_NTT_COLUMNS : POOL_NTT_ROWS;
        others.in_is_packed = i != 1;
        others.out_is_on_host = i != 2;
        others.has_workspace = i == 3;
        assert_int_equal(ntt_plan_chunks(&chips[2], &other, &others, UINT64_MAX, &chunks), POOL_OK);
        assert_int_equal(chunks.rows, 1000);
        assert_int_equal(chunks.slots, 1);
        assert_int_equal(ntt_plan_chunks(&chips[2], &other, &others, 999 * row, &chunks),
            POOL_ERR_OUT_OF_DEVICE_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans), cmocka_unit_test(test_rest),
        cmocka_unit_test(test_extensions), cmocka_unit_test(test_tunings),
        cmocka_unit_test(test_too_many), cmocka_unit_test(test_tables),
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_chunks)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
