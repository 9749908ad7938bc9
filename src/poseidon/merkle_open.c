/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Openings of Merkle trees: siblings read from the kept rows, or from a subtree that is built again
 * where the lowest rows were not kept.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "poseidon/poseidon.h"

/* An opening under way. */
struct opening {
    const pool_poseidon *set;
    pool_exec exec;
    struct poseidon_tree tree;
    uint64_t *path; /* digests in limbs */
    uint64_t count; /* of digests that are there already */
};

/* Digest `item` of the kept rows, or a missing one. */
static pool_status put_sibling(
    struct opening *opening, const pool_span *rows, uint64_t item, const uint64_t *missing)
{
    const pool_poseidon *set = opening->set;
    size_t limbs = (size_t)set->digest * set->field->limbs;
    size_t bytes = (size_t)set->digest * set->field->bytes;
    uint64_t *digest = opening->path + opening->count++ * limbs;
    unsigned char packed[POSEIDON_STATE_LIMBS * 8];
    const unsigned char *from = packed;
    pool_status status = POOL_OK;

    if (missing) {
        memcpy(digest, missing, limbs * sizeof(*digest));
        return POOL_OK;
    }
    if (rows->place == POOL_MEMORY_DEVICE)
        status = poseidon_device_read(
            &opening->exec, poseidon_span_item(rows, bytes, item), packed, bytes);
    else
        from = poseidon_span_item(rows, bytes, item);
    if (status)
        return status;
    return poseidon_load(set->field, digest, from, set->digest, rows->form, "a digest's element");
}

/* The siblings in rows `first` to `last` - 1 of `tree`, whose kept rows are `rows`. */
static pool_status put_siblings(struct opening *opening, const struct poseidon_tree *tree,
    const pool_span *rows, uint32_t first, uint32_t last, uint64_t index)
{
    size_t limbs = (size_t)opening->set->digest * opening->set->field->limbs;

    for (uint32_t row = first; row < last; row++, index /= tree->arity) {
        uint64_t group = index - index % tree->arity;
        for (uint64_t node = group; node < group + tree->arity; node++) {
            bool is_there = node < tree->row_count[row];
            pool_status status = POOL_OK;
            if (node != index)
                status = put_sibling(opening, rows, tree->row_start[row] + node,
                    is_there ? NULL : tree->padding + row * limbs);
            if (status)
                return status;
        }
    }
    return POOL_OK;
}

static pool_status put_rebuilt(
    struct opening *opening, const pool_span *leaves, uint64_t index, uint64_t width)
{
    const pool_poseidon *set = opening->set;
    size_t leaf_bytes = (size_t)opening->tree.leaf_elements * set->field->bytes;
    uint64_t start = index - index % width;
    uint64_t rest = opening->tree.leaves - start;
    pool_merkle_params params = opening->tree.params;
    pool_span subtree = *leaves;
    pool_span rows = {.form = POOL_FORM_MONTGOMERY, .place = POOL_MEMORY_HOST};
    struct poseidon_tree tree;
    pool_status status;

    params.height = opening->tree.first_row;
    params.kept_rows = 0;
    subtree.data = poseidon_span_item(leaves, leaf_bytes, start);
    subtree.count = rest < width ? rest : width;
    status = poseidon_tree_read("pool_poseidon_merkle_open", set, &params, subtree.count, &tree);
    if (status)
        return status;
    rows.count = tree.digests;
    rows.data = base_calloc(tree.digests, (size_t)set->digest * set->field->bytes);
    if (!rows.data)
        status = base_fail_memory("a subtree");
    if (!status)
        status = poseidon_build(set, &opening->exec, &params, &subtree, start, &rows);
    if (!status)
        status = put_siblings(opening, &tree, &rows, 0, tree.height, index - start);
    base_free(rows.data);
    poseidon_tree_free(&tree);
    return status;
}

/* Leaves below a node of the lowest kept row; more than there can be counts as all. */
static uint64_t subtree_width(const struct poseidon_tree *tree)
{
    uint64_t width = 1;

    for (uint32_t row = 0; row < tree->first_row; row++)
        if (__builtin_mul_overflow(width, (uint64_t)tree->arity, &width))
            return UINT64_MAX;
    return width;
}

static pool_status open_inside(
    struct opening *opening, const pool_span *leaves, const pool_span *rows, uint64_t index)
{
    const struct poseidon_tree *tree = &opening->tree;
    uint64_t width = subtree_width(tree);
    pool_status status = POOL_OK;

    if (tree->first_row > 0) {
        if (!leaves || leaves->count != tree->leaves)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "the lowest %u rows were not kept: the leaves are needed again", tree->first_row);
        status = put_rebuilt(opening, leaves, index, width);
    }
    if (!status)
        status = put_siblings(opening, tree, rows, tree->first_row, tree->height, index / width);
    return status;
}

static pool_status check(
    const struct opening *opening, const pool_span *rows, uint64_t index, const pool_span *path)
{
    size_t bytes = (size_t)opening->set->digest * opening->set->field->bytes;
    pool_status status = poseidon_span_check(rows, bytes, "rows");

    if (!status)
        status = poseidon_span_check(path, bytes, "path");
    if (status)
        return status;
    if (rows->count < opening->tree.digests)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the kept rows have %llu digests, not %llu",
            (unsigned long long)opening->tree.digests, (unsigned long long)rows->count);
    if (path->place != POOL_MEMORY_HOST ||
        path->count < (uint64_t)opening->tree.height * (opening->tree.arity - 1))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "a path is %u times %u digests in host memory",
            opening->tree.height, opening->tree.arity - 1);
    if (opening->exec.on_host && rows->place != POOL_MEMORY_HOST)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "on_host is set, but the rows lie in device memory");
    if (index >= opening->tree.leaves)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "leaf %llu of %llu", (unsigned long long)index,
            (unsigned long long)opening->tree.leaves);
    return POOL_OK;
}

static pool_status open_into(struct opening *opening, const pool_span *leaves,
    const pool_span *rows, uint64_t index, const pool_span *path)
{
    const pool_poseidon *set = opening->set;
    size_t limbs = (size_t)set->digest * set->field->limbs;
    uint64_t digests = (uint64_t)opening->tree.height * (opening->tree.arity - 1);
    pool_status status;

    opening->path = base_calloc(digests, limbs * sizeof(*opening->path));
    if (!opening->path)
        return base_fail_memory("a path");
    status = open_inside(opening, leaves, rows, index);
    for (uint64_t i = 0; i < digests && !status; i++)
        poseidon_store(set->field,
            poseidon_span_item(path, (size_t)set->digest * set->field->bytes, i),
            opening->path + i * limbs, set->digest, path->form);
    base_free(opening->path);
    return status;
}

pool_status pool_poseidon_merkle_open(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *rows, uint64_t index, const pool_span *path)
{
    struct opening opening = {.set = set};
    pool_status status = poseidon_exec_read("pool_poseidon_merkle_open", exec, &opening.exec);

    if (!status)
        status =
            poseidon_tree_read("pool_poseidon_merkle_open", set, params, leaf_count, &opening.tree);
    if (status)
        return status;
    opening.exec.is_async = 0;
    opening.exec.progress = NULL; /* of the subtree: too little to tell */
    status = check(&opening, rows, index, path);
    if (!status)
        status = open_into(&opening, leaves, rows, index, path);
    poseidon_tree_free(&opening.tree);
    return status;
}
