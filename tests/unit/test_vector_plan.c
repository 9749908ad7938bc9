/* SPDX-License-Identifier: Apache-2.0 */
/* The chunks of a function of vectors. It calls no driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "zk/vector/vector.h"

static const struct vector_tuning tuning = {.chunk_bytes = 6400};

static void expect_chunk(const struct vector_job *job, uint64_t limit, uint64_t elements)
{
    struct vector_plan plan;

    assert_true(vector_plan_make(&tuning, job, limit, &plan));
    assert_int_equal(plan.chunk_elements, elements);
    assert_true(plan.bytes <= limit);
}

static void test_host_memory(void **state)
{
    struct vector_job job = {.count = 1000, .element_bytes = 32, .is_divisible = true};

    (void)state;
    expect_chunk(&job, UINT64_MAX, 1000); /* nothing is copied */
    job.upload_stride[1] = 32;
    expect_chunk(&job, UINT64_MAX, 200);
    job.download_stride = 64; /* the largest stride decides */
    expect_chunk(&job, UINT64_MAX, 100);
    job.upload_stride[0] = 10000;
    expect_chunk(&job, UINT64_MAX, 1);
    job.is_divisible = false;
    expect_chunk(&job, UINT64_MAX, 1000);
    job = (struct vector_job){.element_bytes = 32, .upload_stride = {32}, .is_divisible = true};
    expect_chunk(&job, 0, 0);
}

static void test_limits(void **state)
{
    struct vector_job job = {.count = 100,
        .element_bytes = 32,
        .upload_stride = {64, 32},
        .download_stride = 32,
        .has_checks = true,
        .is_divisible = true,
        .scratch = {.constants = 3}};
    const uint64_t constants = ((VECTOR_POWERS_OF_TWO + 1) * 32 + 255) / 256 * 256;
    struct vector_plan plan;

    (void)state;
    /* Twelve elements, with the gaps of the first operand: 736, 384 and 384 bytes, each rounded up
     * to a multiple of 256, and as much for factors, before which the check's answer is freed. */
    expect_chunk(&job, 768 + 512 + 512 + 256, 12);
    expect_chunk(&job, 768 + 512 + 512 + 256 - 1, 8);
    assert_false(vector_plan_make(&tuning, &job, 4 * 256 - 1, &plan));
    assert_int_equal(plan.bytes, 4 * 256);
    job.scratch = (struct vector_scratch){.constants = 1, .has_products = true};
    expect_chunk(&job, 768 + 3 * 512 + 256, 12);
    job.is_divisible = false;
    assert_false(vector_plan_make(&tuning, &job, 768 + 3 * 512 + 256, &plan));
    /* Sums have two halves with a power of two elements. */
    job = (struct vector_job){.count = 100,
        .element_bytes = 32,
        .is_divisible = true,
        .scratch = {.constants = VECTOR_POWER_CONSTANTS, .has_sums = true}};
    expect_chunk(&job, constants + 2 * 64 * 32, 100);
    expect_chunk(&job, constants + 2 * 64 * 32 - 1, 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_memory), cmocka_unit_test(test_limits)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
