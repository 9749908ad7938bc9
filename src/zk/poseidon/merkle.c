/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a Merkle tree: validation of params, sizes of levels, padding nodes.
 */
#include "zk/poseidon/merkle.h"

#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"

enum { MAX_ARITY = 16 };

const struct base_struct poseidon_merkle_params_type = BASE_STRUCT(pool_merkle_params);

void pool_merkle_params_init(pool_merkle_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* The height of a tree of that many leaves. */
static uint32_t min_height(uint64_t leaves, uint64_t arity)
{
    uint64_t capacity = 1;
    uint32_t height = 0;

    while (capacity < leaves) {
        height++;
        if (__builtin_mul_overflow(capacity, arity, &capacity))
            break; /* more than any number of leaves */
    }
    return height;
}

static pool_status read_shape(const char *call, const pool_poseidon *set,
    const pool_merkle_params *params, uint64_t leaves, struct poseidon_tree *tree)
{
    uint32_t needed;
    pool_status status = base_check_ranges(call, {"arity", params->arity, 2, MAX_ARITY});

    if (status)
        return status;
    if (params->arity * set->digest_elements > set->max_inputs)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `arity`; %s hashes at most %u elements and a digest has "
            "%u",
            call, params->arity, set->name, set->max_inputs, set->digest_elements);
    if (leaves == 0)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: a tree has at least 1 leaf", call);
    needed = min_height(leaves, params->arity);
    tree->height = params->height ? params->height : needed;
    if (tree->height < needed || tree->height > POSEIDON_MAX_HEIGHT)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `height`; for %llu leaves it must be %u to %d", call,
            tree->height, (unsigned long long)leaves, needed, POSEIDON_MAX_HEIGHT);
    if (params->kept_levels > tree->height + 1)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `kept_levels`; the tree has %u levels", call,
            params->kept_levels, tree->height + 1);
    tree->arity = params->arity;
    tree->leaves = leaves;
    tree->first_level = params->kept_levels ? tree->height + 1 - params->kept_levels : 0;
    return POOL_OK;
}

static pool_status read_leaf(const char *call, const pool_poseidon *set,
    const pool_merkle_params *params, struct poseidon_tree *tree)
{
    pool_poseidon_sponge_params leaf = {.struct_size = sizeof(leaf), .mode = params->leaf_mode};
    pool_status status;

    tree->leaf_elements = params->leaf_elements ? params->leaf_elements : set->digest_elements;
    tree->hashes_leaves = tree->leaf_elements != set->digest_elements;
    leaf.elements = tree->leaf_elements;
    status = base_check_ranges(call, {"leaf_mode", params->leaf_mode, 0, POOL_SPONGE_OVERWRITE});
    return status ? status : poseidon_sponge_init(set, &leaf, &tree->leaf_sponge);
}

/* Allocates the padding nodes, and reads that of level 0. */
static pool_status read_padding(
    const pool_poseidon *set, const pool_merkle_params *params, struct poseidon_tree *tree)
{
    size_t limbs = (size_t)set->digest_elements * set->field->limbs;

    tree->padding = base_calloc(tree->height + 1, limbs * sizeof(*tree->padding));
    if (!tree->padding)
        return base_fail_memory("a tree");
    return params->padding ? poseidon_load(set->field, tree->padding, params->padding,
                                 set->digest_elements, POOL_FORM_STANDARD, "`padding`")
                           : POOL_OK;
}

void poseidon_tree_compute_padding(const pool_poseidon *set, struct poseidon_tree *tree)
{
    size_t limbs = (size_t)set->digest_elements * set->field->limbs;
    uint64_t children[POSEIDON_STATE_LIMBS];
    uint32_t last = 0; /* level with a padding node */

    for (uint32_t level = 1; level < tree->height; level++)
        if (tree->level_nodes[level] % tree->arity)
            last = level;
    for (uint32_t level = 0; level < last; level++) {
        for (uint32_t i = 0; i < tree->arity; i++)
            memcpy(children + i * limbs, tree->padding + level * limbs, limbs * sizeof(*children));
        poseidon_hash_one(
            set, children, tree->arity * set->digest_elements, tree->padding + (level + 1) * limbs);
    }
}

uint64_t poseidon_tree_work(const struct poseidon_tree *tree)
{
    uint64_t work = tree->hashes_leaves ? 2 * tree->leaves : tree->leaves;

    for (uint32_t level = 1; level < tree->height; level++)
        work += tree->level_nodes[level];
    return work;
}

pool_status poseidon_tree_init(const char *call, const pool_poseidon *set,
    const pool_merkle_params *given, uint64_t leaves, struct poseidon_tree *tree)
{
    pool_merkle_params params;
    pool_status status =
        base_struct_read(&poseidon_merkle_params_type, call, "params", given, &params);
    uint64_t nodes = leaves;

    memset(tree, 0, sizeof(*tree));
    if (!status && !set)
        status = base_fail_null(call, "set");
    if (!status)
        status = read_shape(call, set, &params, leaves, tree);
    if (!status)
        status = read_leaf(call, set, &params, tree);
    if (status)
        return status;
    tree->params = params;
    for (uint32_t level = 0; level <= tree->height; level++) {
        tree->level_nodes[level] = nodes;
        tree->level_start[level] = tree->level_target[level] = tree->digest_count;
        if (level >= tree->first_level &&
            __builtin_add_overflow(tree->digest_count, nodes, &tree->digest_count))
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: the kept levels of %llu leaves have more than 2^64 digests", call,
                (unsigned long long)leaves);
        nodes = base_ceil_div(nodes, tree->arity);
    }
    status = read_padding(set, &params, tree);
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
        status = poseidon_tree_init("pool_merkle_get_shape", set, params, leaves, &tree);
    if (status)
        return status;
    found.height = tree.height;
    found.first_level = tree.first_level;
    found.digest_count = tree.digest_count;
    found.path_count = (uint64_t)tree.height * (tree.arity - 1);
    if (__builtin_mul_overflow(
            tree.digest_count, (uint64_t)set->digest_elements * set->field->bytes, &found.bytes))
        found.bytes = UINT64_MAX;
    base_struct_write(&type, &found, shape);
    poseidon_tree_free(&tree);
    return POOL_OK;
}

void poseidon_leaf_digest(const pool_poseidon *set, const struct poseidon_tree *tree,
    const uint64_t *leaf, uint64_t *digest)
{
    if (tree->hashes_leaves)
        poseidon_sponge_one(set, &tree->leaf_sponge, leaf, digest);
    else
        memcpy(digest, leaf, (size_t)set->digest_elements * set->field->limbs * sizeof(*digest));
}
