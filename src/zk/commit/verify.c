/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification of an opening, on the host.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/commit/commit.h"

struct claim {
    const struct commit_tree *tree;
    pool_form form;
    const unsigned char *row; /* of all matrices, packed */
    const unsigned char *path;
    uint64_t index;
    size_t limbs;       /* of a digest */
    uint64_t *elements; /* of a level's row */
};

/* Reads the level's rows from the matrices' ones and computes their digest. */
static pool_status compute_row_digest(
    const struct claim *claim, uint32_t level, uint64_t width, uint64_t *digest)
{
    const struct commit_tree *tree = claim->tree;
    const struct poseidon_sponge sponge = commit_row_sponge(tree, (uint32_t)width);
    const unsigned char *from = claim->row;
    uint64_t *to = claim->elements;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < tree->count && !status; i++) {
        const pool_matrix *matrix = &tree->matrices[i];

        if (commit_matrix_level(tree, matrix) == level) {
            status = poseidon_load(tree->field, to, from, matrix->width, claim->form, "`row`");
            to += (size_t)matrix->width * tree->field->limbs;
        }
        from += (size_t)matrix->width * tree->field->bytes;
    }
    if (status)
        return status;
    if (!tree->keeps_short_rows || width > tree->set->digest_elements) {
        poseidon_sponge_one(tree->row_set, &sponge, claim->elements, digest);
        return POOL_OK;
    }
    memset(digest, 0, claim->limbs * sizeof(*digest));
    memcpy(digest, claim->elements, (size_t)width * tree->field->limbs * sizeof(*digest));
    return POOL_OK;
}

static void compress(
    const struct claim *claim, const uint64_t *left, const uint64_t *right, uint64_t *digest)
{
    uint64_t children[POSEIDON_STATE_LIMBS];

    memcpy(children, left, claim->limbs * sizeof(*children));
    memcpy(children + claim->limbs, right, claim->limbs * sizeof(*children));
    poseidon_hash_one(claim->tree->set, children, 2 * claim->tree->set->digest_elements, digest);
}

/* The node of the last level on the path. */
static pool_status compute_last_node(const struct claim *claim, uint64_t *digest)
{
    const struct commit_tree *tree = claim->tree;
    uint64_t sibling[POSEIDON_STATE_LIMBS], row[POSEIDON_STATE_LIMBS];
    pool_status status = compute_row_digest(claim, 0, commit_level_width(tree, 0), digest);

    for (uint32_t level = 0; level < tree->height && !status; level++) {
        const bool is_right = (claim->index >> level) & 1;
        const uint64_t width = commit_level_width(tree, level + 1);

        status = poseidon_load(tree->field, sibling, claim->path + level * tree->digest_bytes,
            tree->set->digest_elements, claim->form, "`path`");
        if (status)
            return status;
        compress(claim, is_right ? sibling : digest, is_right ? digest : sibling, digest);
        if (width == 0)
            continue;
        status = compute_row_digest(claim, level + 1, width, row);
        compress(claim, digest, row, digest);
    }
    return status;
}

static pool_status verify(struct claim *claim, const unsigned char *cap, bool *is_member)
{
    const struct commit_tree *tree = claim->tree;
    uint64_t digest[POSEIDON_STATE_LIMBS], expected[POSEIDON_STATE_LIMBS];
    pool_status status = poseidon_load(tree->field, expected,
        cap + (claim->index >> tree->height) * tree->digest_bytes, tree->set->digest_elements,
        claim->form, "`cap`");

    if (status)
        return status;
    claim->elements = base_calloc(tree->row_elements, tree->field->limbs * sizeof(uint64_t));
    if (!claim->elements)
        return base_fail_memory("a row");
    status = compute_last_node(claim, digest);
    base_free(claim->elements);
    if (!status)
        *is_member = memcmp(digest, expected, claim->limbs * sizeof(*digest)) == 0;
    return status;
}

pool_status pool_matrix_verify(const pool_matrix_commit_params *params, pool_form form,
    const pool_matrix *matrices, uint32_t count, const void *cap, uint64_t index, const void *row,
    const void *path, int32_t *is_member)
{
    struct commit_tree tree;
    struct claim claim = {.tree = &tree, .form = form, .row = row, .path = path, .index = index};
    bool member = false;
    pool_status status = commit_tree_init(__func__, params, matrices, count, &tree);

    if (!status)
        status = base_check_pointers(__func__, {"cap", cap}, {"row", row},
            {"path", tree.height ? path : row}, {"is_member", is_member});
    if (!status)
        status = base_check_ranges(__func__, {"form", form, 0, POOL_FORM_MONTGOMERY});
    if (status)
        return status;
    claim.limbs = (size_t)tree.set->digest_elements * tree.field->limbs;
    if (index < commit_level_nodes(&tree, 0))
        status = verify(&claim, cap, &member);
    if (!status)
        *is_member = member;
    return status;
}
