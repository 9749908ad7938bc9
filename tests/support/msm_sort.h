/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the test and the benchmark of the MSM's sort: plans, scalars of many kinds, and the
 * check of a sorted chunk by its meaning. Nothing here knows how digits are chosen: the entries of
 * each scalar, as signed multiples of powers of two, have to add up to the scalar.
 */
#ifndef TESTS_SUPPORT_MSM_SORT_H
#define TESTS_SUPPORT_MSM_SORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gmp.h>

#include <devicepool.h>

#include "zk/msm/msm.h"

enum sort_kind {
    SORT_UNIFORM,
    SORT_EQUAL,   /* one scalar */
    SORT_SPARSE,  /* 99 % zeros */
    SORT_BITS,    /* 0 and 1 */
    SORT_LAST,    /* order - 1 */
    SORT_HALVES,  /* around order / 2 */
    SORT_POWERS,  /* 2^k, k geometric */
    SORT_WINDOW,  /* one window is hot */
    SORT_GARBAGE, /* any bits */
    SORT_KINDS
};

struct sort_case {
    const pool_curve *curve;
    enum sort_kind kind;
    uint64_t count;
    uint64_t batch;
    uint64_t planned; /* scalars per MSM that the plan is for; 0: count */
    uint32_t window_bits;
    uint32_t levels;
    uint32_t scalar_bits;
    uint32_t extra_words;   /* between scalars */
    uint32_t extra_scalars; /* between MSMs */
    uint32_t seed;
    int shared_bases;
    int is_montgomery;
    int reduces;
};

static inline uint32_t sort_bits(const struct sort_case *one)
{
    uint32_t order_bits = one->curve->scalar_field->bits;

    return one->scalar_bits && one->scalar_bits < order_bits ? one->scalar_bits : order_bits - 1;
}

static inline void sort_plan(
    const struct sort_case *one, const struct chip *chip, struct msm_plan *plan)
{
    const pool_field *field = one->curve->scalar_field;
    uint64_t count = one->planned ? one->planned : one->count;

    memset(plan, 0, sizeof(*plan));
    plan->job = (struct msm_job){.scalar_words = field->words,
        .order_bits = field->bits,
        .scalar_bits = one->scalar_bits,
        .count = count,
        .chunk_count = count,
        .batch = one->batch,
        .window_bits = one->window_bits};
    plan->window_bits = one->window_bits;
    plan->windows = (sort_bits(one) + 1 + one->window_bits - 1) / one->window_bits;
    plan->job.precompute_factor = one->levels < plan->windows ? one->levels : plan->windows;
    plan->sets_per_msm =
        (plan->windows + plan->job.precompute_factor - 1) / plan->job.precompute_factor;
    plan->negates_large = !one->scalar_bits || one->scalar_bits >= field->bits;
    plan->bucket_sets = one->batch * plan->sets_per_msm;
    plan->buckets = plan->bucket_sets << (one->window_bits - 1);
    plan->entries = plan->windows * one->batch * count;
    msm_sort_plan_make(chip, plan);
    plan->bucket_offsets_at = (4 * plan->entries + 255) / 256 * 256;
    plan->scratch_at = plan->bucket_offsets_at + (4 * (plan->buckets + 1) + 255) / 256 * 256;
    plan->bytes = plan->scratch_at + plan->sort.bytes;
}

/* Indices of bases as in msm_chunk_operands, with small gaps between the bases of two MSMs and
 * between multiples. */
static inline void sort_points(const struct sort_case *one, struct msm_chunk_operands *part)
{
    part->first_base = 3;
    part->base_batch_stride = one->shared_bases ? 0 : one->count + 1;
    part->multiple_stride = one->count + part->base_batch_stride * (one->batch - 1) + 5;
}

static inline uint64_t sort_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state;
    x ^= x >> 29;
    return x * 0x9e3779b97f4a7c15u ^ x >> 32;
}

/* One scalar as 32-bit words: what is given, not necessarily below the order. */
static inline void sort_scalar(const struct sort_case *one, uint64_t *state, mpz_t s)
{
    const pool_field *field = one->curve->scalar_field;
    uint64_t limbs[FIELD_MAX_LIMBS];
    mpz_t order;

    mpz_init(order);
    mpz_import(order, field->limbs, -1, 8, 0, 0, field->modulus);
    if (one->kind == SORT_EQUAL)
        *state = one->seed + 12345;
    for (uint32_t i = 0; i < field->limbs; i++)
        limbs[i] = sort_next(state);
    mpz_import(s, field->limbs, -1, 8, 0, 0, limbs);
    mpz_fdiv_r_2exp(s, s, 32 * field->words);
    if (one->kind == SORT_BITS || (one->kind == SORT_SPARSE && limbs[0] / 7 % 100 != 0))
        mpz_set_ui(s, one->kind == SORT_BITS ? limbs[0] >> 40 & 1 : 0);
    if (one->kind == SORT_LAST)
        mpz_sub_ui(s, order, 1);
    if (one->kind == SORT_HALVES) {
        mpz_fdiv_q_2exp(s, order, 1);
        mpz_sub_ui(s, s, 2);
        mpz_add_ui(s, s, limbs[0] >> 40 & 3);
    }
    if (one->kind == SORT_POWERS) {
        mpz_set_ui(s, 1);
        mpz_mul_2exp(s, s, (unsigned)__builtin_ctzll(limbs[0] | (uint64_t)1 << 63));
    }
    if (one->kind == SORT_WINDOW) {
        mpz_set_ui(s, limbs[0] >> 40 & 7);
        mpz_mul_2exp(s, s, one->window_bits * 2);
    }
    if (one->kind != SORT_GARBAGE)
        mpz_fdiv_r(s, s, order);
    if (one->scalar_bits && one->kind != SORT_GARBAGE)
        mpz_fdiv_r_2exp(s, s, one->scalar_bits);
    mpz_clear(order);
}

/* The words of one scalar in memory, and the scalar that they represent. */
static inline void sort_put(const struct sort_case *one, mpz_t s, uint32_t *words)
{
    const pool_field *field = one->curve->scalar_field;
    mpz_t order;

    mpz_init(order);
    mpz_import(order, field->limbs, -1, 8, 0, 0, field->modulus);
    memset(words, 0, field->bytes);
    if (one->is_montgomery && one->kind != SORT_GARBAGE) {
        mpz_t shifted;
        mpz_init(shifted);
        mpz_mul_2exp(shifted, s, 32 * field->words);
        mpz_fdiv_r(shifted, shifted, order);
        mpz_export(words, NULL, -1, 4, 0, 0, shifted);
        mpz_clear(shifted);
    } else {
        mpz_export(words, NULL, -1, 4, 0, 0, s);
    }
    mpz_clear(order);
}

#define SORT_FAIL(...) (fprintf(stderr, __VA_ARGS__), fprintf(stderr, "\n"), 0)

static inline int sort_check_offsets(
    const struct msm_plan *plan, const uint32_t *offsets, uint64_t most)
{
    if (offsets[0] != 0 || offsets[plan->buckets] > most)
        return SORT_FAIL("offsets are from %u to %u", offsets[0], offsets[plan->buckets]);
    for (uint64_t bucket = 0; bucket < plan->buckets; bucket++)
        if (offsets[bucket] > offsets[bucket + 1])
            return SORT_FAIL("offset %llu is %u and the next one %u", (unsigned long long)bucket,
                offsets[bucket], offsets[bucket + 1]);
    return 1;
}

/*
 * Brings entries back to digits: digits[(sum * sampled + i) * windows + window] for the first
 * `sampled` scalars of each sum. False, and says why, when an entry has no meaning or one digit has
 * two.
 */
static inline int sort_read(const struct sort_case *one, const struct msm_plan *plan,
    const uint32_t *offsets, const uint32_t *entries, uint64_t sampled, int32_t *digits)
{
    struct msm_chunk_operands part = {0};
    uint64_t set_buckets = (uint64_t)1 << (one->window_bits - 1);

    sort_points(one, &part);
    memset(digits, 0, sizeof(*digits) * one->batch * sampled * plan->windows);
    for (uint64_t bucket = 0; bucket < plan->buckets; bucket++) {
        uint64_t set = bucket / set_buckets, sum = set / plan->sets_per_msm,
                 group = set % plan->sets_per_msm;
        int32_t magnitude = (int32_t)(bucket % set_buckets + 1);
        uint64_t start = part.first_base + sum * part.base_batch_stride;

        for (uint32_t at = offsets[bucket]; at < offsets[bucket + 1]; at++) {
            uint64_t point = (entries[at] & 0x7fffffff) - start;
            uint64_t i = point % part.multiple_stride,
                     window = point / part.multiple_stride * plan->sets_per_msm + group;

            if (i >= one->count || window >= plan->windows)
                return SORT_FAIL("entry %u of bucket %llu is of point %u", at,
                    (unsigned long long)bucket, entries[at] & 0x7fffffff);
            if (i >= sampled)
                continue;
            int32_t *digit = digits + (sum * sampled + i) * plan->windows + window;
            if (*digit)
                return SORT_FAIL("scalar %llu of sum %llu has two digits in window %llu",
                    (unsigned long long)i, (unsigned long long)sum, (unsigned long long)window);
            *digit = entries[at] & MSM_ENTRY_NEGATIVE ? -magnitude : magnitude;
        }
    }
    return 1;
}

/* Whether digits add up to the scalar that the words in memory represent. */
static inline int sort_add_up(const struct sort_case *one, const struct msm_plan *plan,
    const int32_t *digits, const uint32_t *words)
{
    const pool_field *field = one->curve->scalar_field;
    mpz_t order, sum, wanted;
    int is_right;

    mpz_inits(order, sum, wanted, NULL);
    mpz_import(order, field->limbs, -1, 8, 0, 0, field->modulus);
    for (uint32_t window = plan->windows; window-- > 0;) {
        mpz_mul_2exp(sum, sum, one->window_bits);
        if (digits[window] < 0)
            mpz_sub_ui(sum, sum, (unsigned long)-digits[window]);
        else
            mpz_add_ui(sum, sum, (unsigned long)digits[window]);
    }
    if (one->is_montgomery)
        mpz_mul_2exp(sum, sum, 32 * field->words);
    mpz_import(wanted, field->words, -1, 4, 0, 0, words);
    is_right = mpz_congruent_p(sum, wanted, order);
    mpz_clears(order, sum, wanted, NULL);
    return is_right;
}

#endif
