/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of extensions: the reference, which transforms each column on the host, pads
 * its coefficients with zeros, and transforms them on the coset of the large domain.
 */
#ifndef TESTS_SUPPORT_NTT_EXTEND_H
#define TESTS_SUPPORT_NTT_EXTEND_H

#include "zk/ntt/extend.h"
#include "support/ntt.h"

/* The answer to params on packed data of one form. */
struct ntt_extend_answer {
    uint8_t *coefficients;
    uint8_t *out;
};

static inline uint64_t ntt_extend_reverse(uint64_t x, uint32_t bits)
{
    uint64_t reversed = 0;

    for (uint32_t i = 0; i < bits; i++)
        reversed |= (x >> i & 1) << (bits - 1 - i);
    return reversed;
}

/* Bytes from the start of the data to element i of column t. */
static inline uint64_t ntt_extend_offset(const pool_ntt_extend_params *params, uint32_t log_size,
    bool is_reversed, uint64_t t, uint64_t i)
{
    uint64_t at = is_reversed ? ntt_extend_reverse(i, log_size) : i;

    at = params->layout == POOL_NTT_COLUMNS ? at * params->batch + t : (t << log_size) + at;
    return at * params->domain->field->bytes;
}

static inline struct ntt_extend_answer ntt_extend_expected(
    const pool_ntt_extend_params *params, const uint8_t *in)
{
    const pool_field *field = params->domain->field;
    const uint32_t log_size = params->domain->log_size, log_points = log_size - params->log_blowup;
    const uint64_t size = UINT64_C(1) << log_size, points = UINT64_C(1) << log_points;
    const bool in_is_reversed = params->order == POOL_NTT_RN || params->order == POOL_NTT_RR;
    const bool out_is_reversed = params->order == POOL_NTT_NR || params->order == POOL_NTT_RR;
    pool_ntt_domain *columns = ntt_domain(field, log_points);
    const struct ntt_reference inverse = {
        .domain = columns, .direction = POOL_NTT_INVERSE, .batch = 1};
    const struct ntt_reference forward = {.domain = params->domain, .batch = 1, .coset = 1};
    struct ntt_extend_answer answer = {
        .coefficients = malloc(params->batch * points * field->bytes),
        .out = malloc(params->batch * size * field->bytes)};
    uint8_t *column = malloc(size * field->bytes);

    for (uint64_t t = 0; t < params->batch; t++) {
        memset(column, 0, size * field->bytes);
        for (uint64_t i = 0; i < points; i++)
            memcpy(column + i * field->bytes,
                in + ntt_extend_offset(params, log_points, in_is_reversed, t, i), field->bytes);
        if (!params->from_coefficients)
            assert_ok(ntt_reference_run(&inverse, column, column));
        for (uint64_t i = 0; i < points; i++)
            memcpy(answer.coefficients + ntt_extend_offset(params, log_points, false, t, i),
                column + i * field->bytes, field->bytes);
        assert_ok(ntt_reference_run(&forward, column, column));
        for (uint64_t i = 0; i < size; i++)
            memcpy(answer.out + ntt_extend_offset(params, log_size, out_is_reversed, t, i),
                column + i * field->bytes, field->bytes);
    }
    free(column);
    assert_ok(pool_ntt_domain_destroy(&columns));
    return answer;
}

static inline void ntt_extend_free(struct ntt_extend_answer *answer)
{
    free(answer->coefficients);
    free(answer->out);
}

#endif
