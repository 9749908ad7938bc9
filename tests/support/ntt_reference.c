/* SPDX-License-Identifier: Apache-2.0 */
/* Textbook radix-2 NTTs on the host: see ntt_reference.h. */
#include "support/ntt_reference.h"

#include <stdlib.h>

#include "base/status.h"
#include "zk/ntt/ntt.h"

static uint64_t reverse_bits(uint64_t x, uint32_t bits)
{
    uint64_t reversed = 0;

    for (uint32_t i = 0; i < bits; i++)
        reversed |= (x >> i & 1) << (bits - 1 - i);
    return reversed;
}

/* The index of element i of transform t in the batch. */
static size_t index_of(const struct ntt_reference *reference, uint64_t t, uint64_t i)
{
    return reference->layout == POOL_NTT_COLUMNS ? i * reference->batch + t
                                                 : (t << reference->domain->log_size) + i;
}

/* Multiplies x[i] by scale and, for a coset of generator g, by g^i. */
static void scale_coset(const struct ntt_reference *reference, uint64_t *x, const uint64_t *scale)
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

/* From bit-reversed to natural order, in place. */
static void apply_butterflies(const struct ntt_reference *reference, uint64_t *x)
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

static void transform_one(
    const struct ntt_reference *reference, uint64_t t, const uint8_t *in, uint8_t *out, uint64_t *x)
{
    const pool_ntt_domain *domain = reference->domain;
    const pool_field *field = domain->field;
    uint64_t n = (uint64_t)1 << domain->log_size;
    bool in_is_reversed = reference->order == POOL_NTT_RN || reference->order == POOL_NTT_RR;
    bool out_is_reversed = reference->order == POOL_NTT_NR || reference->order == POOL_NTT_RR;
    uint64_t one[FIELD_MAX_LIMBS];

    field_set_one(field, one);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t from = in_is_reversed ? reverse_bits(i, domain->log_size) : i;

        field_load(field, x + i * field->limbs, in + index_of(reference, t, from) * field->bytes);
    }
    if (reference->direction == POOL_NTT_FORWARD)
        scale_coset(reference, x, one);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t j = reverse_bits(i, domain->log_size), swap[FIELD_MAX_LIMBS];

        if (i < j) {
            field_copy(field, swap, x + i * field->limbs);
            field_copy(field, x + i * field->limbs, x + j * field->limbs);
            field_copy(field, x + j * field->limbs, swap);
        }
    }
    apply_butterflies(reference, x);
    if (reference->direction == POOL_NTT_INVERSE)
        scale_coset(reference, x, domain->inverse_size);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t to = out_is_reversed ? reverse_bits(i, domain->log_size) : i;

        field_store(field, out + index_of(reference, t, to) * field->bytes, x + i * field->limbs);
    }
}

pool_status ntt_reference_run(const struct ntt_reference *reference, const void *in, void *out)
{
    const pool_ntt_domain *domain = reference->domain;
    uint64_t *x = calloc((size_t)1 << domain->log_size, domain->field->limbs * sizeof(*x));

    if (!x)
        return base_fail_memory("a reference NTT");
    for (uint64_t t = 0; t < reference->batch; t++)
        transform_one(reference, t, in, out, x);
    free(x);
    return POOL_OK;
}
