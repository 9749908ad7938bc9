/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long lists of similar cases: with DEVICEPOOL_TEST_SAMPLE, which the default run sets, a test
 * takes a sample of them. Suite long, runs on GPUs and runs by hand take all.
 */
#ifndef TESTS_SUPPORT_SAMPLE_H
#define TESTS_SUPPORT_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Whether case `index` of a list is run, where one of `stride` is enough. */
static inline bool is_sampled(size_t index, size_t stride)
{
    return index % stride == 0 || !getenv("DEVICEPOOL_TEST_SAMPLE");
}

static inline bool takes_a_sample(void)
{
    return !is_sampled(1, 2);
}

#endif
