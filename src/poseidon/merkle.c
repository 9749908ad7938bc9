/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes of Merkle trees: params read and checked, rows counted, missing nodes worked out. And the
 * check of an opening. Host only.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "poseidon/poseidon.h"

enum { ARITY_MAX = 16, HEIGHT_MAX = 64 };

static const struct base_struct merkle_params_type = BASE_STRUCT(pool_merkle_params);

void pool_merkle_params_init(pool_merkle_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static pool_status read_shape(const pool_poseidon *set, const pool_merkle_params *params,
    uint64_t leaves, struct poseidon_tree *tree)
{
    uint64_t capacity = 1;
    uint32_t needed = 0;

    if (params->arity < 2 || params->arity > ARITY_MAX)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "arity %u: 2 to %d are possible", params->arity, ARITY_MAX);
    if (params->arity * set->digest > set->inputs)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%u digests of %u elements do not fit the %u inputs of %s", params->arity, set->digest,
            set->inputs, set->name);
    if (leaves == 0)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "a tree without leaves has no root");
    while (capacity < leaves) {
        needed++;
        if (__builtin_mul_overflow(capacity, (uint64_t)params->arity, &capacity))
            break; /* holds any number */
    }
    tree->height = params->height ? params->height : needed;
    if (tree->height < needed || tree->height > HEIGHT_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "height %u: %llu leaves need %u, %d is the most", tree->height,
            (unsigned long long)leaves, needed, HEIGHT_MAX);
    if (params->kept_rows > tree->height + 1)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%u rows to be kept of %u", params->kept_rows,
            tree->height + 1);
    tree->arity = params->arity;
    tree->leaves = leaves;
    tree->first_row = params->kept_rows ? tree->height + 1 - params->kept_rows : 0;
    return POOL_OK;
}

static pool_status read_leaf(
    const pool_poseidon *set, const pool_merkle_params *params, struct poseidon_tree *tree)
{
    pool_poseidon_sponge_params leaf = {.struct_size = sizeof(leaf), .mode = params->leaf_mode};

    tree->leaf_elements = params->leaf_elements ? params->leaf_elements : set->digest;
    tree->hashes_leaves = tree->leaf_elements != set->digest;
    leaf.elements = tree->leaf_elements;
    return poseidon_sponge_read(set, &leaf, &tree->leaf);
}

/* Row r + 1 of an all-padding tree is the hash of `arity` nodes of row r. */
static pool_status make_padding(
    const pool_poseidon *set, const pool_merkle_params *params, struct poseidon_tree *tree)
{
    size_t limbs = (size_t)set->digest * set->field->limbs;
    uint64_t children[POSEIDON_STATE_LIMBS];

    tree->padding = base_calloc(tree->height + 1, limbs * sizeof(*tree->padding));
    if (!tree->padding)
        return base_fail_memory("a tree");
    if (params->padding) {
        pool_status status = poseidon_load(set->field, tree->padding, params->padding, set->digest,
            POOL_FORM_STANDARD, "the padding's element");
        if (status)
            return status;
    }
    for (uint32_t row = 0; row < tree->height; row++) {
        for (uint32_t i = 0; i < tree->arity; i++)
            memcpy(children + i * limbs, tree->padding + row * limbs, limbs * sizeof(*children));
        poseidon_hash_one(
            set, children, tree->arity * set->digest, tree->padding + (row + 1) * limbs);
    }
    return POOL_OK;
}

uint64_t poseidon_tree_work(const struct poseidon_tree *tree)
{
    uint64_t read = tree->hashes_leaves ? 2 * tree->leaves : tree->leaves;

    for (uint32_t row = 1; row < tree->height; row++)
        read += tree->row_count[row];
    return read;
}

pool_status poseidon_tree_read(const char *call, const pool_poseidon *set,
    const pool_merkle_params *given, uint64_t leaves, struct poseidon_tree *tree)
{
    pool_merkle_params params;
    pool_status status = base_struct_read(&merkle_params_type, call, "params", given, &params);
    uint64_t count = leaves;

    memset(tree, 0, sizeof(*tree));
    if (!status && !set)
        status = base_fail_null(call, "set");
    if (!status)
        status = read_shape(set, &params, leaves, tree);
    if (!status)
        status = read_leaf(set, &params, tree);
    if (status)
        return status;
    tree->params = params;
    for (uint32_t row = 0; row <= tree->height; row++) {
        tree->row_count[row] = count;
        tree->row_start[row] = tree->digests;
        if (row >= tree->first_row && __builtin_add_overflow(tree->digests, count, &tree->digests))
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: the kept rows of %llu leaves are too many", call, (unsigned long long)leaves);
        count = count / tree->arity + (count % tree->arity != 0);
    }
    status = make_padding(set, &params, tree);
    if (status)
        poseidon_tree_free(tree);
    return status;
}

void poseidon_tree_free(struct poseidon_tree *tree)
{
    base_free(tree->padding);
    tree->padding = NULL;
}

pool_status pool_merkle_get_shape(const pool_poseidon *set, const pool_merkle_params *params,
    uint64_t leaves, pool_merkle_shape *shape)
{
    static const struct base_struct type = BASE_STRUCT(pool_merkle_shape);
    struct poseidon_tree tree;
    pool_merkle_shape found = {0};
    pool_status status = base_struct_check(&type, "pool_merkle_get_shape", "shape", shape);

    if (!status)
        status = poseidon_tree_read("pool_merkle_get_shape", set, params, leaves, &tree);
    if (status)
        return status;
    found.height = tree.height;
    found.first_row = tree.first_row;
    found.digests = tree.digests;
    found.path = (uint64_t)tree.height * (tree.arity - 1);
    base_struct_write(&type, &found, shape);
    poseidon_tree_free(&tree);
    return POOL_OK;
}

/* The digest of a leaf, in limbs. */
void poseidon_leaf_digest(const pool_poseidon *set, const struct poseidon_tree *tree,
    const uint64_t *leaf, uint64_t *digest)
{
    if (tree->hashes_leaves)
        poseidon_sponge_one(set, &tree->leaf, leaf, digest);
    else
        memcpy(digest, leaf, (size_t)set->digest * set->field->limbs * sizeof(*digest));
}

/* From the leaf's digest to the root along the path. */
static pool_status climb(const pool_poseidon *set, const struct poseidon_tree *tree, pool_form form,
    uint64_t index, const void *path, uint64_t *digest)
{
    size_t limbs = (size_t)set->digest * set->field->limbs;
    size_t bytes = (size_t)set->digest * set->field->bytes;
    const unsigned char *sibling = path;
    uint64_t children[POSEIDON_STATE_LIMBS];

    for (uint32_t row = 0; row < tree->height; row++) {
        for (uint32_t i = 0; i < tree->arity; i++) {
            if (i == index % tree->arity) {
                memcpy(children + i * limbs, digest, limbs * sizeof(*digest));
                continue;
            }
            pool_status status = poseidon_load(
                set->field, children + i * limbs, sibling, set->digest, form, "the path's element");
            if (status)
                return status;
            sibling += bytes;
        }
        poseidon_hash_one(set, children, tree->arity * set->digest, digest);
        index /= tree->arity;
    }
    return POOL_OK;
}

static pool_status verify_inside(const pool_poseidon *set, const struct poseidon_tree *tree,
    pool_form form, const void *root, const void *leaf, uint64_t index, const void *path,
    bool *is_member)
{
    size_t limbs = (size_t)set->digest * set->field->limbs;
    uint64_t wanted[POSEIDON_STATE_LIMBS];
    uint64_t digest[POSEIDON_STATE_LIMBS];
    uint64_t *elements = base_calloc(tree->leaf_elements, set->field->limbs * sizeof(*elements));
    pool_status status;

    if (!elements)
        return base_fail_memory("a leaf");
    status = poseidon_load(set->field, elements, leaf, tree->leaf_elements, form, "leaf's element");
    if (!status)
        status = poseidon_load(set->field, wanted, root, set->digest, form, "root's element");
    if (!status) {
        poseidon_leaf_digest(set, tree, elements, digest);
        status = climb(set, tree, form, index, path, digest);
    }
    if (!status)
        *is_member = memcmp(digest, wanted, limbs * sizeof(*digest)) == 0;
    base_free(elements);
    return status;
}

pool_status pool_poseidon_merkle_verify(const pool_poseidon *set, const pool_merkle_params *params,
    pool_form form, const void *root, const void *leaf, uint64_t index, const void *path,
    int32_t *is_member)
{
    struct poseidon_tree tree;
    uint64_t beyond = index;
    bool member = false;
    pool_status status = poseidon_tree_read("pool_poseidon_merkle_verify", set, params, 1, &tree);

    if (status)
        return status;
    for (uint32_t row = 0; row < tree.height; row++)
        beyond /= tree.arity;
    status = base_check_pointers("pool_poseidon_merkle_verify", {"root", root}, {"leaf", leaf},
        {"path", tree.height ? path : root}, {"is_member", is_member});
    if (!status)
        status = base_check_ranges(
            "pool_poseidon_merkle_verify", {"form", form, 0, POOL_FORM_MONTGOMERY});
    if (!status && beyond == 0)
        status = verify_inside(set, &tree, form, root, leaf, index, path, &member);
    poseidon_tree_free(&tree);
    if (!status)
        *is_member = member;
    return status;
}
