/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the checks of transforms.
 */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "bench.h"

/* Coefficients and values of a batch of transforms, as bench_check_ntt finds them. */
struct check_transform {
    const uint8_t *coefficients;
    const uint8_t *values;
    bool are_coefficients_reversed;
    bool are_values_reversed;
    bool has_columns;
    size_t bytes; /* per element */
    uint32_t log_size;
    uint64_t batch;
};

uint64_t check_reverse_bits(uint64_t index, uint32_t bits);
void check_random(void *bytes, size_t count);

/*
 * The check of bench_check_ntt over a field of at most 64 bits, with the root of unity and the
 * generator of the coset (1: none) in standard form: at four random points, with random factors of
 * 32 bits for the transforms of the batch.
 */
bool check_small_transform(
    const struct check_transform *transform, uint64_t p, uint64_t root, uint64_t generator);

#endif
