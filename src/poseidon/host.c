/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations on the host, item by item over spans in host memory.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "poseidon/poseidon.h"
#include "vector/check.h"

static void load_item(const pool_poseidon *set, const pool_span *span, uint32_t elements,
    uint64_t index, uint64_t *limbs)
{
    size_t bytes = (size_t)elements * set->field->bytes;

    poseidon_load_trusted(
        set->field, limbs, poseidon_span_item(span, bytes, index), elements, span->form);
}

static void store_item(const pool_poseidon *set, const pool_span *span, uint32_t elements,
    uint64_t index, const uint64_t *limbs)
{
    size_t bytes = (size_t)elements * set->field->bytes;

    poseidon_store(set->field, poseidon_span_item(span, bytes, index), limbs, elements, span->form);
}

pool_status poseidon_host_check(
    const pool_poseidon *set, const pool_span *span, const struct vector_items *items)
{
    const pool_field *field = set->field;
    size_t bytes = (size_t)items->elements * field->bytes;

    for (uint64_t index = 0; index < span->count; index++) {
        const unsigned char *item = poseidon_span_item(span, bytes, index);
        for (uint64_t i = 0; i < items->elements; i++) {
            uint64_t element[FIELD_MAX_LIMBS];
            field_load(field, element, item + i * field->bytes);
            if (!field_is_canonical(field, element))
                return vector_report_element(field, items, index, i);
        }
    }
    return POOL_OK;
}

pool_status poseidon_host_permute(const pool_poseidon *set, const pool_span *states,
    const pool_span *results, struct poseidon_watch *watch)
{
    size_t limbs = set->field->limbs;
    uint64_t outer[POSEIDON_STATE_LIMBS];
    uint64_t inner[POSEIDON_STATE_LIMBS];

    for (uint64_t index = 0; index < states->count; index++) {
        pool_status status;
        load_item(set, states, set->width, index, outer);
        for (uint32_t i = 0; i < set->width; i++)
            field_copy(set->field, inner + i * limbs, outer + poseidon_outer(set, i) * limbs);
        poseidon_permute(set, inner);
        for (uint32_t i = 0; i < set->width; i++)
            field_copy(set->field, outer + i * limbs, inner + poseidon_outer(set, i) * limbs);
        store_item(set, results, set->width, index, outer);
        status = poseidon_watch_count(watch, 1);
        if (status)
            return status;
    }
    return POOL_OK;
}

pool_status poseidon_host_hash(const pool_poseidon *set, const pool_span *inputs, uint32_t elements,
    const pool_span *digests, struct poseidon_watch *watch)
{
    uint64_t input[POSEIDON_STATE_LIMBS];
    uint64_t digest[POSEIDON_STATE_LIMBS];

    for (uint64_t index = 0; index < inputs->count; index++) {
        pool_status status;
        load_item(set, inputs, elements, index, input);
        poseidon_hash_one(set, input, elements, digest);
        store_item(set, digests, set->digest, index, digest);
        status = poseidon_watch_count(watch, 1);
        if (status)
            return status;
    }
    return POOL_OK;
}

pool_status poseidon_host_sponge(const pool_poseidon *set, const struct poseidon_sponge *sponge,
    const pool_span *messages, const pool_span *results, struct poseidon_watch *watch)
{
    size_t limbs = set->field->limbs;
    uint64_t *message =
        base_calloc((size_t)sponge->elements + sponge->squeezed, limbs * sizeof(*message));
    uint64_t *result;
    pool_status status = POOL_OK;

    if (!message)
        return base_fail_memory("a message");
    result = message + sponge->elements * limbs;
    for (uint64_t index = 0; index < messages->count && !status; index++) {
        load_item(set, messages, sponge->elements, index, message);
        poseidon_sponge_one(set, sponge, message, result);
        store_item(set, results, sponge->squeezed, index, result);
        status = poseidon_watch_count(watch, 1);
    }
    base_free(message);
    return status;
}

/* The digests of all leaves, in limbs. */
static pool_status leaf_row(const pool_poseidon *set, const struct poseidon_tree *tree,
    const pool_span *leaves, uint64_t *row, struct poseidon_watch *watch)
{
    size_t limbs = (size_t)set->digest * set->field->limbs;
    uint64_t *leaf = base_calloc(tree->leaf_elements, set->field->limbs * sizeof(*leaf));
    pool_status status = POOL_OK;

    if (!leaf)
        return base_fail_memory("a leaf");
    for (uint64_t index = 0; index < tree->leaves && !status; index++) {
        load_item(set, leaves, tree->leaf_elements, index, leaf);
        poseidon_leaf_digest(set, tree, leaf, row + index * limbs);
        if ((tree->hashes_leaves || tree->height == 0))
            status = poseidon_watch_count(watch, tree->height == 0 && tree->hashes_leaves ? 2 : 1);
    }
    base_free(leaf);
    return status;
}

static void store_row(const pool_poseidon *set, const struct poseidon_tree *tree, uint32_t row,
    const uint64_t *digests, const pool_span *rows)
{
    size_t limbs = (size_t)set->digest * set->field->limbs;

    if (row < tree->first_row)
        return;
    for (uint64_t i = 0; i < tree->row_count[row]; i++)
        store_item(set, rows, set->digest, tree->row_start[row] + i, digests + i * limbs);
}

/* Row `row` + 1 over row `row`, in place: a parent never lies behind its children. */
static pool_status next_row(const pool_poseidon *set, const struct poseidon_tree *tree,
    uint32_t row, uint64_t *digests, struct poseidon_watch *watch)
{
    size_t limbs = (size_t)set->digest * set->field->limbs;
    uint64_t children[POSEIDON_STATE_LIMBS];
    pool_status status = POOL_OK;

    for (uint64_t parent = 0; parent < tree->row_count[row + 1] && !status; parent++) {
        uint64_t rest = tree->row_count[row] - parent * tree->arity;
        for (uint32_t i = 0; i < tree->arity; i++) {
            uint64_t child = parent * tree->arity + i;
            const uint64_t *from = child < tree->row_count[row] ? digests + child * limbs
                                                                : tree->padding + row * limbs;
            memcpy(children + i * limbs, from, limbs * sizeof(*children));
        }
        poseidon_hash_one(set, children, tree->arity * set->digest, digests + parent * limbs);
        status = poseidon_watch_count(watch, rest < tree->arity ? rest : tree->arity);
    }
    return status;
}

pool_status poseidon_host_build(const pool_poseidon *set, const struct poseidon_tree *tree,
    const pool_span *leaves, const pool_span *rows, struct poseidon_watch *watch)
{
    uint64_t *digests =
        base_calloc(tree->leaves, (size_t)set->digest * set->field->limbs * sizeof(*digests));
    pool_status status;

    if (!digests)
        return base_fail_memory("a row of a tree");
    status = leaf_row(set, tree, leaves, digests, watch);
    if (!status)
        store_row(set, tree, 0, digests, rows);
    for (uint32_t row = 0; row < tree->height && !status; row++) {
        status = next_row(set, tree, row, digests, watch);
        if (!status)
            store_row(set, tree, row + 1, digests, rows);
    }
    base_free(digests);
    return status;
}
