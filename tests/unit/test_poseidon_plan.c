/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a Poseidon operation on a device: chunks, slots, kernels and blocks. It calls no
 * driver.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/assert.h"

#include "poseidon/args.h"
#include "zk/poseidon/plan.h"

static const struct poseidon_tuning tuning = {.chunk_bytes = 1000};

/* Without a limit. */
static struct poseidon_chunk_plan chunks(
    uint64_t count, uint64_t multiple, size_t in_bytes, size_t out_bytes, bool uses_host_memory)
{
    const struct poseidon_job job = {.count = count,
        .multiple = multiple,
        .in_bytes = in_bytes,
        .out_bytes = out_bytes,
        .in_is_on_host = uses_host_memory,
        .out_is_on_host = uses_host_memory};
    struct poseidon_chunk_plan plan;

    assert_true(poseidon_plan_chunks(&tuning, &job, UINT64_MAX, &plan));
    return plan;
}

static void expect_chunks(
    struct poseidon_chunk_plan plan, uint64_t items, uint64_t count, uint32_t slots)
{
    assert_int_equal(plan.chunk_items, items);
    assert_int_equal(plan.chunk_count, count);
    assert_int_equal(plan.slots, slots);
}

static void test_chunks(void **state)
{
    (void)state;
    /* Nothing to do, device memory, and what fits one chunk. */
    assert_int_equal(chunks(0, 1, 96, 32, true).chunk_count, 0);
    assert_int_equal(chunks(0, 1, 96, 32, true).bytes, 0);
    expect_chunks(chunks(1000000, 1, 96, 32, false), 1000000, 1, 1);
    assert_int_equal(chunks(1000000, 1, 96, 32, false).bytes, 0);
    expect_chunks(chunks(10, 1, 96, 32, true), 10, 1, 1);
    assert_int_equal(chunks(10, 1, 96, 32, true).bytes, 1024 + 512);
    /* The larger item decides; the last chunk may be smaller. */
    expect_chunks(chunks(11, 1, 96, 32, true), 10, 2, 2);
    expect_chunks(chunks(100, 1, 32, 96, true), 10, 10, POSEIDON_SLOTS);
    assert_int_equal(chunks(100, 1, 32, 96, true).bytes, POSEIDON_SLOTS * (512 + 1024));
    /* Whole groups of siblings, and at least one group or item. */
    expect_chunks(chunks(100, 4, 96, 0, true), 8, 13, POSEIDON_SLOTS);
    expect_chunks(chunks(100, 16, 96, 0, true), 16, 7, POSEIDON_SLOTS);
    expect_chunks(chunks(3, 1, 5000, 0, true), 1, 3, POSEIDON_SLOTS);
    expect_chunks(chunks(UINT64_MAX, 1, 1000, 0, true), 1, UINT64_MAX, POSEIDON_SLOTS);
}

/* Blocks of memory have a multiple of 256 bytes. */
static uint64_t block(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static uint64_t copies(const struct poseidon_job *job, uint64_t items)
{
    return block(job->in_is_on_host ? 32 * items : 0) + block(job->out_is_on_host ? 8 * items : 0);
}

/* For every limit: what fits is within it, and a chunk more in size or number would not be. */
static void test_limits(void **state)
{
    struct poseidon_job job = {.count = 103,
        .multiple = 4,
        .in_bytes = 32,
        .out_bytes = 8,
        .in_is_on_host = true,
        .check_answers = 1,
        .common_bytes = 500};
    struct poseidon_chunk_plan plan;

    (void)state;
    for (int way = 0; way < 4; way++) {
        uint64_t smallest, answers;
        bool is_copied;

        job.out_is_on_host = way & 1;
        job.in_is_on_host = !(way & 2);
        job.check_answers = job.in_is_on_host ? 1 : 3;
        is_copied = job.in_is_on_host || job.out_is_on_host;
        answers = block(8 * job.check_answers);
        smallest = 500 + copies(&job, 4) + answers;
        assert_false(poseidon_plan_chunks(&tuning, &job, smallest - 1, &plan));
        assert_int_equal(plan.bytes, smallest);
        for (uint64_t limit = smallest; limit < smallest + 9000; limit += 8) {
            assert_true(poseidon_plan_chunks(&tuning, &job, limit, &plan));
            assert_true(plan.bytes <= limit);
            assert_between(plan.slots, 1, POSEIDON_SLOTS);
            assert_true(plan.chunk_count >= plan.slots);
            assert_true(plan.chunk_items % 4 == 0 || plan.chunk_count == 1);
            assert_true(plan.chunk_items * plan.chunk_count >= 103);
            assert_int_equal(
                plan.bytes, 500 + plan.slots * copies(&job, plan.chunk_items) + answers);
            if (plan.chunk_items < 28 && plan.chunk_count > plan.slots)
                assert_true(
                    500 + plan.slots * copies(&job, plan.chunk_items + 4) + answers > limit);
        }
        expect_chunks(plan, is_copied ? 28 : 103, is_copied ? 4 : 1, is_copied ? 3 : 1);
    }
    /* Device memory cannot be divided. */
    job = (struct poseidon_job){.count = 9, .multiple = 1, .in_bytes = 8, .common_bytes = 100};
    assert_false(poseidon_plan_chunks(&tuning, &job, 99, &plan));
    assert_int_equal(plan.bytes, 100);
    assert_true(poseidon_plan_chunks(&tuning, &job, 100, &plan));
}

static void test_launches(void **state)
{
    const struct poseidon_tuning two_thread = {.two_thread_states = 128};
    const struct chip chip = {.multiprocessors = 2};
    static const enum poseidon_kernel kernels[][2] = {{POSEIDON_PERMUTE, POSEIDON_PERMUTE_2THREAD},
        {POSEIDON_HASH, POSEIDON_HASH_2THREAD},
        {POSEIDON_MERKLE_LEVEL, POSEIDON_MERKLE_LEVEL_2THREAD}, {POSEIDON_SPONGE, POSEIDON_SPONGE},
        {POSEIDON_CONVERT, POSEIDON_CONVERT}};

    (void)state;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        uint64_t threads = kernels[i][0] == kernels[i][1] ? 1 : 2;
        struct poseidon_launch_plan plan =
            poseidon_plan_launch(&two_thread, &chip, kernels[i][0], true, 256);

        assert_int_equal(plan.kernel, kernels[i][1]);
        assert_int_equal(plan.blocks, threads * 256 / POSEIDON_BLOCK);
        plan = poseidon_plan_launch(&two_thread, &chip, kernels[i][0], true, 257);
        assert_int_equal(plan.kernel, kernels[i][0]);
        assert_int_equal(plan.blocks, 5);
        plan = poseidon_plan_launch(&two_thread, &chip, kernels[i][0], false, 1);
        assert_int_equal(plan.kernel, kernels[i][0]);
        assert_int_equal(plan.blocks, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_launches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
