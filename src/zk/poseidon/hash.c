/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One fixed-length hash and one sponge on the host.
 */
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "zk/poseidon/poseidon.h"

/* State element `index` of the definition. */
static uint64_t *state_element(const pool_poseidon *set, uint64_t *state, uint32_t index)
{
    return state + (size_t)poseidon_state_index(set, index) * set->field->limbs;
}

void poseidon_hash_one(
    const pool_poseidon *set, const uint64_t *inputs, uint32_t count, uint64_t *digest)
{
    const pool_field *field = set->field;
    uint64_t state[POSEIDON_STATE_LIMBS] = {0};
    uint64_t before[POSEIDON_STATE_LIMBS];

    field_copy(field, state_element(set, state, set->domain_tag_index), set->domain_tag);
    for (uint32_t i = 0; i < count; i++)
        field_copy(field, state_element(set, state, set->input_index + i),
            inputs + (size_t)i * field->limbs);
    memcpy(before, state, (size_t)set->width * field->limbs * sizeof(*state));
    poseidon_permute(set, state);
    for (uint32_t i = 0; i < set->digest_elements; i++) {
        uint64_t *out = digest + (size_t)i * field->limbs;
        field_copy(field, out, state_element(set, state, set->output_index + i));
        if (set->feed_forward)
            field_add(field, out, out, state_element(set, before, set->output_index + i));
    }
}

pool_status poseidon_sponge_init(const pool_poseidon *set,
    const pool_poseidon_sponge_params *params, struct poseidon_sponge *sponge)
{
    pool_status status =
        base_check_ranges("pool_poseidon_sponge", {"mode", params->mode, 0, POOL_SPONGE_OVERWRITE},
            {"padding", params->padding, 0, POOL_SPONGE_PAD_ZERO});

    if (status)
        return status;
    memset(sponge, 0, sizeof(*sponge));
    sponge->elements = params->elements;
    sponge->output_elements =
        params->output_elements ? params->output_elements : set->digest_elements;
    sponge->rate = params->rate ? params->rate : set->rate;
    sponge->mode = params->mode;
    sponge->padding = params->padding;
    if (sponge->rate > set->width - set->input_index)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_poseidon_sponge: unsupported value %u for `rate`; %s has %u state elements from "
            "`input_index` %u on",
            sponge->rate, set->name, set->width - set->input_index, set->input_index);
    if (!params->domain_tag)
        return POOL_OK;
    status = poseidon_load(
        set->field, sponge->domain_tag, params->domain_tag, 1, POOL_FORM_STANDARD, "`domain_tag`");
    if (!status && !field_is_zero(set->field, sponge->domain_tag) &&
        set->domain_tag_index >= set->input_index &&
        set->domain_tag_index < set->input_index + sponge->rate)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_poseidon_sponge: `domain_tag` must be 0 because the parameter set's "
            "`domain_tag_index` %u is within the rate, state elements %u to %u",
            set->domain_tag_index, set->input_index, set->input_index + sponge->rate - 1);
    return status;
}

/* Absorbs a block of `count` elements, the last one with padding if is_padded, and permutes. */
static void absorb_block(const pool_poseidon *set, const struct poseidon_sponge *sponge,
    uint64_t *state, const uint64_t *block, uint32_t count, bool is_padded)
{
    const pool_field *field = set->field;
    uint32_t affected = is_padded ? sponge->rate : count;

    for (uint32_t i = 0; i < affected; i++) {
        uint64_t element[FIELD_MAX_LIMBS];
        uint64_t *rate_element = state_element(set, state, set->input_index + i);
        if (i < count)
            field_copy(field, element, block + (size_t)i * field->limbs);
        else if (i == count && sponge->padding == POOL_SPONGE_PAD_10)
            field_set_one(field, element);
        else
            field_set_zero(field, element);
        if (sponge->mode == POOL_SPONGE_OVERWRITE)
            field_copy(field, rate_element, element);
        else
            field_add(field, rate_element, rate_element, element);
    }
    poseidon_permute(set, state);
}

uint64_t poseidon_padded_length(const struct poseidon_sponge *sponge)
{
    uint64_t elements = sponge->elements;

    if (sponge->padding == POOL_SPONGE_PAD_ZERO && !elements)
        return 1;
    return elements + (sponge->padding == POOL_SPONGE_PAD_10);
}

void poseidon_sponge_one(const pool_poseidon *set, const struct poseidon_sponge *sponge,
    const uint64_t *message, uint64_t *result)
{
    const pool_field *field = set->field;
    uint64_t state[POSEIDON_STATE_LIMBS] = {0};
    uint32_t absorbed = 0;

    field_copy(field, state_element(set, state, set->domain_tag_index), sponge->domain_tag);
    while (sponge->elements - absorbed >= sponge->rate) {
        absorb_block(
            set, sponge, state, message + (size_t)absorbed * field->limbs, sponge->rate, false);
        absorbed += sponge->rate;
    }
    if (absorbed < poseidon_padded_length(sponge))
        absorb_block(set, sponge, state, message + (size_t)absorbed * field->limbs,
            sponge->elements - absorbed, sponge->padding != POOL_SPONGE_PAD_NONE);
    for (uint32_t i = 0; i < sponge->output_elements; i++) {
        if (i > 0 && i % sponge->rate == 0)
            poseidon_permute(set, state);
        field_copy(field, result + (size_t)i * field->limbs,
            state_element(set, state, set->input_index + i % sponge->rate));
    }
}
