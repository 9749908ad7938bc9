/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generators that the authors of the built-in parameter sets drew their constants from.
 */
#ifndef POSEIDON_CONSTANTS_H
#define POSEIDON_CONSTANTS_H

#include "zk/field/field.h"

/* The Grain generator of the Poseidon paper, an 80-bit linear-feedback shift register. */
struct poseidon_grain {
    uint64_t low; /* bits 0 … 63, of which bit 0 is the oldest */
    uint64_t high;
};
void poseidon_grain_init(struct poseidon_grain *grain, uint32_t sbox, uint32_t bits, uint32_t width,
    uint32_t full_rounds, uint32_t partial_rounds);
/* Draw field->bits bits as an element in standard form: by rejection of numbers that are not below
 * p, or reduced modulo p. */
void poseidon_grain_rejection(
    struct poseidon_grain *grain, const pool_field *field, uint64_t *standard);
void poseidon_grain_reduction(
    struct poseidon_grain *grain, const pool_field *field, uint64_t *standard);

/* ChaCha8 keyed by rand_core's seed_from_u64(0), mapped to numbers below p as rand's uniform range
 * does. For moduli of 64 bits. */
void poseidon_chacha_elements(const pool_field *field, uint64_t *elements, size_t count);
/* For each i from `first` on, the first SHA-256 of "<prefix><i>_<j>", j = 0, 1, …, below p. */
pool_status poseidon_coda_elements(
    const pool_field *field, const char *prefix, size_t first, uint64_t *elements, size_t count);
/* SHA-256 of "Hades0", "Hades1", … modulo p. */
pool_status poseidon_hades_elements(const pool_field *field, uint64_t *elements, size_t count);

#endif
