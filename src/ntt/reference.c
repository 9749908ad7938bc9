/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plain answer: textbook radix-2 transforms on the host, one after another. Tests compare the
 * kernels with it; nothing here is fast.
 */
#include "ntt/ntt.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

static uint64_t reverse(uint64_t x, uint32_t bits)
{
    uint64_t reversed = 0;

    for (uint32_t i = 0; i < bits; i++)
        reversed |= (x >> i & 1) << (bits - 1 - i);
    return reversed;
}

/* Where item i of transform t is, in elements. */
static size_t place_of(const struct ntt_reference *reference, uint64_t t, uint64_t i)
{
    uint64_t place = reference->layout == POOL_NTT_COLUMNS ? i * reference->batch + t
                                                           : (t << reference->domain->log_size) + i;

    return (size_t)place;
}

/* x[i] times scale times g^i. */
static void shift(const struct ntt_reference *reference, uint64_t *x, const uint64_t *scale)
{
    const pool_field *field = reference->domain->field;
    uint64_t factor[FIELD_MAX_LIMBS];

    field_copy(field, factor, scale);
    for (uint64_t i = 0; i < (uint64_t)1 << reference->domain->log_size; i++) {
        field_mul(field, x + i * field->limbs, x + i * field->limbs, factor);
        if (reference->coset)
            field_mul(field, factor, factor, reference->domain->coset[reference->direction]);
    }
}

/* Bit-reversed to natural, in place. */
static void transform(const struct ntt_reference *reference, uint64_t *x)
{
    const pool_ntt_domain *domain = reference->domain;
    const pool_field *field = domain->field;
    uint64_t n = (uint64_t)1 << domain->log_size;

    for (uint32_t stage = 1; stage <= domain->log_size; stage++) {
        uint64_t half = (uint64_t)1 << (stage - 1);
        uint64_t step[FIELD_MAX_LIMBS], power[FIELD_MAX_LIMBS], odd[FIELD_MAX_LIMBS];

        field_copy(field, step, domain->root[reference->direction]);
        for (uint32_t i = stage; i < domain->log_size; i++)
            field_sqr(field, step, step);
        for (uint64_t first = 0; first < n; first += 2 * half) {
            field_set_one(field, power);
            for (uint64_t i = first; i < first + half; i++) {
                uint64_t *low = x + i * field->limbs, *high = x + (i + half) * field->limbs;

                field_mul(field, odd, high, power);
                field_sub(field, high, low, odd);
                field_add(field, low, low, odd);
                field_mul(field, power, power, step);
            }
        }
    }
}

static void run_one(
    const struct ntt_reference *reference, uint64_t t, const uint8_t *in, uint8_t *out, uint64_t *x)
{
    const pool_ntt_domain *domain = reference->domain;
    const pool_field *field = domain->field;
    uint64_t n = (uint64_t)1 << domain->log_size;
    bool takes_reversed = reference->order == POOL_NTT_RN || reference->order == POOL_NTT_RR;
    bool gives_reversed = reference->order == POOL_NTT_NR || reference->order == POOL_NTT_RR;
    uint64_t one[FIELD_MAX_LIMBS];

    field_set_one(field, one);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t from = takes_reversed ? reverse(i, domain->log_size) : i;

        field_load(field, x + i * field->limbs, in + place_of(reference, t, from) * field->bytes);
    }
    if (reference->direction == POOL_NTT_FORWARD)
        shift(reference, x, one);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t j = reverse(i, domain->log_size), swap[FIELD_MAX_LIMBS];

        if (i < j) {
            field_copy(field, swap, x + i * field->limbs);
            field_copy(field, x + i * field->limbs, x + j * field->limbs);
            field_copy(field, x + j * field->limbs, swap);
        }
    }
    transform(reference, x);
    if (reference->direction == POOL_NTT_INVERSE)
        shift(reference, x, domain->inverse_size);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t to = gives_reversed ? reverse(i, domain->log_size) : i;

        field_store(field, out + place_of(reference, t, to) * field->bytes, x + i * field->limbs);
    }
}

pool_status ntt_reference_run(const struct ntt_reference *reference, const void *in, void *out)
{
    const pool_ntt_domain *domain = reference->domain;
    uint64_t *x = base_calloc((size_t)1 << domain->log_size, domain->field->limbs * sizeof(*x));

    if (!x)
        return base_fail_memory("a transform on the host");
    for (uint64_t t = 0; t < reference->batch; t++)
        run_one(reference, t, in, out, x);
    base_free(x);
    return POOL_OK;
}
