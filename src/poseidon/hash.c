/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes of fixed length and sponges on the host, one at a time.
 */
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "poseidon/poseidon.h"

static uint64_t *lane(const pool_poseidon *set, uint64_t *state, uint32_t outer)
{
    return state + (size_t)poseidon_outer(set, outer) * set->field->limbs;
}

void poseidon_hash_one(
    const pool_poseidon *set, const uint64_t *inputs, uint32_t count, uint64_t *digest)
{
    const pool_field *field = set->field;
    uint64_t state[POSEIDON_STATE_LIMBS] = {0};
    uint64_t before[POSEIDON_STATE_LIMBS];

    field_copy(field, lane(set, state, set->tag_lane), set->tag);
    for (uint32_t i = 0; i < count; i++)
        field_copy(field, lane(set, state, set->input_lane + i), inputs + (size_t)i * field->limbs);
    memcpy(before, state, (size_t)set->width * field->limbs * sizeof(*state));
    poseidon_permute(set, state);
    for (uint32_t i = 0; i < set->digest; i++) {
        uint64_t *out = digest + (size_t)i * field->limbs;
        field_copy(field, out, lane(set, state, set->output_lane + i));
        if (set->feed_forward)
            field_add(field, out, out, lane(set, before, set->output_lane + i));
    }
}

pool_status poseidon_sponge_read(const pool_poseidon *set,
    const pool_poseidon_sponge_params *params, struct poseidon_sponge *sponge)
{
    pool_status status =
        base_check_ranges("a Poseidon sponge", {"mode", params->mode, 0, POOL_SPONGE_OVERWRITE},
            {"padding", params->padding, 0, POOL_SPONGE_PAD_10});

    if (status)
        return status;
    memset(sponge, 0, sizeof(*sponge));
    sponge->elements = params->elements;
    sponge->squeezed = params->squeezed ? params->squeezed : set->digest;
    sponge->rate = params->rate ? params->rate : set->rate;
    sponge->mode = params->mode;
    sponge->padding = params->padding;
    if (sponge->rate > set->width - set->input_lane)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "a rate of %u from lane %u on does not fit %u lanes", sponge->rate, set->input_lane,
            set->width);
    if (!params->tag)
        return POOL_OK;
    status = poseidon_load(
        set->field, sponge->tag, params->tag, 1, POOL_FORM_STANDARD, "the sponge's tag");
    if (!status && !field_is_zero(set->field, sponge->tag) && set->tag_lane >= set->input_lane &&
        set->tag_lane < set->input_lane + sponge->rate)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_poseidon_sponge: `tag` is not 0 and the set's tag lane %u is one of the rate: "
            "lanes %u to %u",
            set->tag_lane, set->input_lane, set->input_lane + sponge->rate - 1);
    return status;
}

/* One block of `count` elements, padded as it is the last or not, then the permutation. */
static void absorb(const pool_poseidon *set, const struct poseidon_sponge *sponge, uint64_t *state,
    const uint64_t *block, uint32_t count, bool is_padded)
{
    const pool_field *field = set->field;
    uint32_t touched = is_padded ? sponge->rate : count;

    for (uint32_t i = 0; i < touched; i++) {
        uint64_t element[FIELD_MAX_LIMBS];
        uint64_t *at = lane(set, state, set->input_lane + i);
        if (i < count)
            field_copy(field, element, block + (size_t)i * field->limbs);
        else if (i == count)
            field_set_one(field, element);
        else
            field_set_zero(field, element);
        if (sponge->mode == POOL_SPONGE_OVERWRITE)
            field_copy(field, at, element);
        else
            field_add(field, at, at, element);
    }
    poseidon_permute(set, state);
}

void poseidon_sponge_one(const pool_poseidon *set, const struct poseidon_sponge *sponge,
    const uint64_t *message, uint64_t *result)
{
    const pool_field *field = set->field;
    uint64_t state[POSEIDON_STATE_LIMBS] = {0};
    uint32_t done = 0;

    field_copy(field, lane(set, state, set->tag_lane), sponge->tag);
    while (sponge->elements - done >= sponge->rate) {
        absorb(set, sponge, state, message + (size_t)done * field->limbs, sponge->rate, false);
        done += sponge->rate;
    }
    if (sponge->padding == POOL_SPONGE_PAD_10 || done < sponge->elements)
        absorb(set, sponge, state, message + (size_t)done * field->limbs, sponge->elements - done,
            sponge->padding == POOL_SPONGE_PAD_10);
    for (uint32_t i = 0; i < sponge->squeezed; i++) {
        if (i > 0 && i % sponge->rate == 0)
            poseidon_permute(set, state);
        field_copy(field, result + (size_t)i * field->limbs,
            lane(set, state, set->input_lane + i % sponge->rate));
    }
}
