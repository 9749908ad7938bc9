/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Openings of Merkle trees: the siblings on a leaf's path, read from the kept levels or, below
 * them, from the leaf's subtree, which is built again.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "memory/workspace.h"
#include "poseidon/merkle.h"
#include "poseidon/run.h"

struct opening {
    const char *call; /* the public function */
    const pool_poseidon *set;
    pool_exec exec;
    struct poseidon_tree tree;
    size_t digest_limbs;
    size_t digest_bytes;
    uint64_t *path; /* in limbs */
    uint64_t count; /* of digests in `path` so far */
};

/* Appends digest `index` of the kept levels to the path. */
static pool_status append_digest(struct opening *opening, const pool_span *levels, uint64_t index)
{
    const pool_poseidon *set = opening->set;
    uint64_t *digest = opening->path + opening->count++ * opening->digest_limbs;
    unsigned char copy[POSEIDON_STATE_LIMBS * 8];
    const unsigned char *from = poseidon_span_item(levels, opening->digest_bytes, index);

    if (levels->space == POOL_MEMORY_DEVICE) {
        pool_status status =
            poseidon_device_read(&opening->exec, from, copy, opening->digest_bytes);

        if (status)
            return status;
        from = copy;
    }
    return poseidon_load(set->field, digest, from, set->digest_elements, levels->form, "`levels`");
}

static void append_padding(struct opening *opening, const uint64_t *padding)
{
    uint64_t *digest = opening->path + opening->count++ * opening->digest_limbs;

    memcpy(digest, padding, opening->digest_limbs * sizeof(*digest));
}

/* Appends the siblings in levels `first` to `last` - 1 of a tree whose kept levels are `levels`.
 * `index` is the node's index in level `first`. */
static pool_status append_siblings(struct opening *opening, const struct poseidon_tree *tree,
    const pool_span *levels, uint32_t first, uint32_t last, uint64_t index)
{
    pool_status status = POOL_OK;

    for (uint32_t level = first; level < last; level++, index /= tree->arity) {
        uint64_t group = index - index % tree->arity;

        for (uint64_t node = group; node < group + tree->arity && !status; node++) {
            if (node == index)
                continue;
            if (node < tree->level_nodes[level])
                status = append_digest(opening, levels, tree->level_start[level] + node);
            else
                append_padding(opening, tree->padding + level * opening->digest_limbs);
        }
    }
    return status;
}

/* The tree below the node of the lowest kept level that is leaf `index`'s ancestor. */
struct subtree {
    pool_merkle_params params;
    uint64_t first_leaf;
    uint64_t leaves;
};

static struct subtree subtree_of(const struct opening *opening, uint64_t index, uint64_t width)
{
    struct subtree subtree = {.params = opening->tree.params, .first_leaf = index - index % width};

    subtree.params.height = opening->tree.first_level;
    subtree.params.kept_levels = 0;
    subtree.leaves = base_min(opening->tree.leaves - subtree.first_leaf, width);
    return subtree;
}

/* Builds the subtree of `width` leaves that contains leaf `index`, and appends its siblings. */
static pool_status append_subtree_siblings(
    struct opening *opening, const pool_span *leaves, uint64_t index, uint64_t width)
{
    const struct subtree subtree = subtree_of(opening, index, width);
    const pool_poseidon *set = opening->set;
    size_t leaf_bytes = (size_t)opening->tree.leaf_elements * set->field->bytes;
    pool_span levels = {.form = POOL_FORM_MONTGOMERY, .space = POOL_MEMORY_HOST};
    pool_span subtree_leaves =
        poseidon_span_slice(leaves, leaf_bytes, subtree.first_leaf, subtree.leaves);
    struct poseidon_tree tree;
    pool_status status =
        poseidon_tree_init(opening->call, set, &subtree.params, subtree.leaves, &tree);

    if (status)
        return status;
    levels.count = tree.digest_count;
    levels.data = base_calloc(tree.digest_count, opening->digest_bytes);
    if (!levels.data)
        status = base_fail_memory("a subtree");
    if (!status)
        status = poseidon_merkle_build(
            set, &opening->exec, &subtree.params, &subtree_leaves, subtree.first_leaf, &levels);
    if (!status)
        status =
            append_siblings(opening, &tree, &levels, 0, tree.height, index - subtree.first_leaf);
    base_free(levels.data);
    poseidon_tree_free(&tree);
    return status;
}

/* The number of leaves below a node of the lowest kept level; UINT64_MAX if it exceeds 64 bits. */
static uint64_t subtree_width(const struct poseidon_tree *tree)
{
    uint64_t width = 1;

    for (uint32_t level = 0; level < tree->first_level; level++)
        if (__builtin_mul_overflow(width, (uint64_t)tree->arity, &width))
            return UINT64_MAX;
    return width;
}

static pool_status compute_path(
    struct opening *opening, const pool_span *leaves, const pool_span *levels, uint64_t index)
{
    const struct poseidon_tree *tree = &opening->tree;
    uint64_t width = subtree_width(tree);
    pool_status status = POOL_OK;

    if (tree->first_level > 0)
        status = append_subtree_siblings(opening, leaves, index, width);
    return status ? status
                  : append_siblings(
                        opening, tree, levels, tree->first_level, tree->height, index / width);
}

/* Everything but the spans' data. */
static pool_status check_arguments(const struct opening *opening, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path)
{
    const pool_poseidon *set = opening->set;
    const struct poseidon_tree *tree = &opening->tree;
    const struct poseidon_operand in = {levels, set->digest_elements, "levels"};
    const struct poseidon_operand out = {path, set->digest_elements, "path"};
    uint64_t path_count = (uint64_t)tree->height * (tree->arity - 1);
    pool_status status =
        poseidon_check_operands(opening->call, set->field, &opening->exec, &in, &out, path_count);

    if (status)
        return status;
    if (path->space != POOL_MEMORY_HOST)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: `path` must be in host memory", opening->call);
    if (levels->count < tree->digest_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `levels` must be the %llu digests of the kept levels, %llu are given",
            opening->call, (unsigned long long)tree->digest_count,
            (unsigned long long)levels->count);
    if (index >= tree->leaves)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %llu for `index`; the tree has %llu leaves", opening->call,
            (unsigned long long)index, (unsigned long long)tree->leaves);
    if (tree->first_level > 0 && (!leaves || leaves->count != tree->leaves))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `leaves` must be the tree's %llu leaves because the lowest %u levels were not "
            "kept",
            opening->call, (unsigned long long)tree->leaves, tree->first_level);
    return POOL_OK;
}

static pool_status check_data(const struct opening *opening, const pool_span *leaves,
    const pool_span *levels, const pool_span *path)
{
    const struct poseidon_operand in = {levels, 0, "levels"}, out = {path, 0, "path"};
    const struct poseidon_operand subtree = {leaves, 0, "leaves"};
    pool_status status = poseidon_check_data(opening->call, &in);

    if (!status)
        status = poseidon_check_data(opening->call, &out);
    if (!status && opening->tree.first_level > 0)
        status = poseidon_check_data(opening->call, &subtree);
    return status;
}

/* The subtree's own leaves are checked again when it is built. */
static pool_status check_workspace(
    const struct opening *opening, const pool_span *leaves, const pool_span *levels)
{
    const struct memory_workspace_span spans[] = {
        {leaves, (uint64_t)opening->tree.leaf_elements * opening->set->field->bytes, "leaves"},
        {levels, opening->digest_bytes, "levels"}};

    return memory_workspace_check_spans(opening->call, &opening->exec, spans, 2);
}

static pool_status compute_and_store_path(struct opening *opening, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path)
{
    const pool_poseidon *set = opening->set;
    uint64_t count = (uint64_t)opening->tree.height * (opening->tree.arity - 1);
    pool_status status;

    opening->path = base_calloc(count, opening->digest_limbs * sizeof(*opening->path));
    if (!opening->path)
        return base_fail_memory("a path");
    status = compute_path(opening, leaves, levels, index);
    for (uint64_t i = 0; i < count && !status; i++)
        poseidon_store(set->field, poseidon_span_item(path, opening->digest_bytes, i),
            opening->path + i * opening->digest_limbs, set->digest_elements, path->form);
    base_free(opening->path);
    return status;
}

/* Reads everything but the spans' data. The caller frees opening->tree after POOL_OK. */
static pool_status read_opening(const char *call, const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path, struct opening *opening)
{
    pool_status status;

    *opening = (struct opening){.call = call, .set = set};
    status = poseidon_read_exec_of_one(opening->call, set, exec, &opening->exec);
    if (!status)
        status = poseidon_tree_init(opening->call, set, params, leaf_count, &opening->tree);
    if (status)
        return status;
    opening->digest_limbs = (size_t)set->digest_elements * set->field->limbs;
    opening->digest_bytes = (size_t)set->digest_elements * set->field->bytes;
    opening->exec.is_async = 0;
    opening->exec.progress = NULL; /* the subtree's progress is not the call's */
    status = check_arguments(opening, leaves, levels, index, path);
    if (status)
        poseidon_tree_free(&opening->tree);
    return status;
}

pool_status pool_poseidon_merkle_open(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path)
{
    MEMORY_EXEC_SCOPE(exec);
    struct opening opening;
    pool_status status = read_opening(
        __func__, set, exec, params, leaf_count, leaves, levels, index, path, &opening);

    if (status)
        return status;
    status = check_data(&opening, leaves, levels, path);
    if (!status)
        status = check_workspace(&opening, leaves, levels);
    if (!status)
        status = compute_and_store_path(&opening, leaves, levels, index, path);
    poseidon_tree_free(&opening.tree);
    return status;
}

static pool_status forecast(
    const struct opening *opening, const pool_span *leaves, uint64_t index, uint64_t *bytes)
{
    const struct subtree subtree = subtree_of(opening, index, subtree_width(&opening->tree));
    pool_span subtree_leaves = *leaves;
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};
    pool_span levels = {.form = POOL_FORM_MONTGOMERY, .space = POOL_MEMORY_HOST};
    pool_status status =
        pool_merkle_get_shape(opening->set, &subtree.params, subtree.leaves, &shape);

    subtree_leaves.count = subtree.leaves;
    levels.count = shape.digest_count;
    return status ? status
                  : poseidon_merkle_forecast(opening->call, opening->set, &opening->exec,
                        &subtree.params, &subtree_leaves, &levels, bytes);
}

pool_status pool_poseidon_merkle_open_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path, uint64_t *bytes)
{
    MEMORY_EXEC_SCOPE(exec);
    uint64_t subtree_bytes = 0;
    struct opening opening;
    pool_status status = bytes ? read_opening(__func__, set, exec, params, leaf_count, leaves,
                                     levels, index, path, &opening)
                               : base_fail_null(__func__, "bytes");

    if (status)
        return status;
    if (opening.tree.first_level > 0)
        status = forecast(&opening, leaves, index, &subtree_bytes);
    poseidon_tree_free(&opening.tree);
    if (!status)
        *bytes = subtree_bytes;
    return status;
}
