/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations on the host, item by item.
 */
#include "zk/poseidon/host.h"

#include "base/alloc.h"
#include "base/status.h"
#include "zk/vector/check.h"

void poseidon_load_item(const pool_poseidon *set, const pool_span *span, uint32_t elements,
    uint64_t index, uint64_t *limbs)
{
    size_t bytes = (size_t)elements * set->field->bytes;

    poseidon_load_unchecked(
        set->field, limbs, span_item_at(span, bytes, index), elements, span->form);
}

void poseidon_store_item(const pool_poseidon *set, const pool_span *span, uint32_t elements,
    uint64_t index, const uint64_t *limbs)
{
    size_t bytes = (size_t)elements * set->field->bytes;

    poseidon_store(set->field, span_item_at(span, bytes, index), limbs, elements, span->form);
}

pool_status poseidon_host_check(const pool_poseidon *set, const pool_span *span, uint32_t elements,
    uint64_t first, const char *name)
{
    const struct vector_items items = {.elements = elements, .first = first, .what = name};
    const pool_field *field = set->field;
    size_t bytes = (size_t)elements * field->bytes;

    for (uint64_t index = 0; index < span->count; index++) {
        const unsigned char *item = span_item_at(span, bytes, index);

        for (uint32_t i = 0; i < elements; i++) {
            uint64_t element[FIELD_MAX_LIMBS];

            field_load(field, element, item + i * field->bytes);
            if (!field_is_canonical(field, element))
                return vector_report_element(field, &items, index, i);
        }
    }
    return POOL_OK;
}

pool_status poseidon_host_permute(const pool_poseidon *set, const pool_span *states,
    const pool_span *results, struct progress *progress)
{
    size_t limbs = set->field->limbs;
    uint64_t elements[POSEIDON_STATE_LIMBS];
    uint64_t state[POSEIDON_STATE_LIMBS];

    for (uint64_t index = 0; index < states->count; index++) {
        pool_status status;
        poseidon_load_item(set, states, set->width, index, elements);
        for (uint32_t i = 0; i < set->width; i++)
            field_copy(
                set->field, state + i * limbs, elements + poseidon_state_index(set, i) * limbs);
        poseidon_permute(set, state);
        for (uint32_t i = 0; i < set->width; i++)
            field_copy(
                set->field, elements + i * limbs, state + poseidon_state_index(set, i) * limbs);
        poseidon_store_item(set, results, set->width, index, elements);
        status = progress_add(progress, 1);
        if (status)
            return status;
    }
    return POOL_OK;
}

pool_status poseidon_host_hash(const pool_poseidon *set, const pool_span *inputs, uint32_t elements,
    const pool_span *digests, struct progress *progress)
{
    uint64_t input[POSEIDON_STATE_LIMBS];
    uint64_t digest[POSEIDON_STATE_LIMBS];

    for (uint64_t index = 0; index < inputs->count; index++) {
        pool_status status;
        poseidon_load_item(set, inputs, elements, index, input);
        poseidon_hash_one(set, input, elements, digest);
        poseidon_store_item(set, digests, set->digest_elements, index, digest);
        status = progress_add(progress, 1);
        if (status)
            return status;
    }
    return POOL_OK;
}

pool_status poseidon_host_sponge(const pool_poseidon *set, const struct poseidon_sponge *sponge,
    const pool_span *messages, const pool_span *results, struct progress *progress)
{
    size_t limbs = set->field->limbs;
    uint64_t *message =
        base_calloc((size_t)sponge->elements + sponge->output_elements, limbs * sizeof(*message));
    uint64_t *result;
    pool_status status = POOL_OK;

    if (!message)
        return base_fail_memory("a message");
    result = message + sponge->elements * limbs;
    for (uint64_t index = 0; index < messages->count && !status; index++) {
        poseidon_load_item(set, messages, sponge->elements, index, message);
        poseidon_sponge_one(set, sponge, message, result);
        poseidon_store_item(set, results, sponge->output_elements, index, result);
        status = progress_add(progress, 1);
    }
    base_free(message);
    return status;
}
