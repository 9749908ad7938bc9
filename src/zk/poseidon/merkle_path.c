/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The siblings on a leaf's path, read from the kept levels or, below them, from the leaf's subtree,
 * which is built again.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/poseidon/merkle_open.h"
#include "zk/poseidon/run.h"

static pool_status read_digest(const struct merkle_opening *opening, const pool_exec *exec,
    const void *from, unsigned char *copy)
{
    return poseidon_device_read(exec, from, copy, opening->digest_bytes);
}

static pool_status read_sharded_digest(const struct merkle_opening *opening,
    const pool_span *levels, uint32_t level, uint64_t node, unsigned char *copy)
{
    uint64_t digest;
    const uint32_t index = poseidon_division_find(&opening->division, level, node, &digest);
    const pool_span *shard = (const pool_span *)levels->data + index;
    const pool_span item = span_slice(shard, opening->digest_bytes, digest, 1);
    const pool_exec exec = devices_exec(opening->devices, &opening->frame.exec, index);

    return read_digest(opening, &exec, item.data, copy);
}

/* Appends a node of a kept level to the path. */
static pool_status append_digest(struct merkle_opening *opening, const struct poseidon_tree *tree,
    const pool_span *levels, uint32_t level, uint64_t node)
{
    const pool_poseidon *set = opening->set;
    uint64_t *digest = opening->limbs + opening->count++ * opening->digest_limbs;
    unsigned char copy[POSEIDON_STATE_LIMBS * 8];
    const unsigned char *from = copy;
    pool_status status = POOL_OK;

    if (merkle_span_is_sharded(levels))
        status = read_sharded_digest(opening, levels, level, node, copy);
    else
        from = span_item_at(levels, opening->digest_bytes, tree->level_start[level] + node);
    if (levels->space == POOL_MEMORY_DEVICE) {
        status = read_digest(opening, &opening->frame.exec, from, copy);
        from = copy;
    }
    return status ? status
                  : poseidon_load(
                        set->field, digest, from, set->digest_elements, levels->form, "`levels`");
}

static void append_padding(struct merkle_opening *opening, const uint64_t *padding)
{
    uint64_t *digest = opening->limbs + opening->count++ * opening->digest_limbs;

    memcpy(digest, padding, opening->digest_limbs * sizeof(*digest));
}

/* Appends the siblings in levels `first` to `last` - 1 of a tree whose kept levels are `levels`.
 * `index` is the node's index in level `first`. */
static pool_status append_siblings(struct merkle_opening *opening, const struct poseidon_tree *tree,
    const pool_span *levels, uint32_t first, uint32_t last, uint64_t index)
{
    pool_status status = POOL_OK;

    for (uint32_t level = first; level < last; level++, index /= tree->arity) {
        uint64_t group = index - index % tree->arity;

        for (uint64_t node = group; node < group + tree->arity && !status; node++) {
            if (node == index)
                continue;
            if (node < tree->level_nodes[level])
                status = append_digest(opening, tree, levels, level, node);
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

static struct subtree subtree_of(
    const struct merkle_opening *opening, uint64_t index, uint64_t width)
{
    struct subtree subtree = {.params = opening->tree.params, .first_leaf = index - index % width};

    subtree.params.height = opening->tree.first_level;
    subtree.params.kept_levels = 0;
    subtree.leaves = base_min(opening->tree.leaves - subtree.first_leaf, width);
    return subtree;
}

/* Where a subtree is built: on one device or the host, or, with `count`, on those of several
 * devices that have its leaves. */
struct subtree_place {
    pool_exec exec;
    pool_span leaves;
    uint32_t count;
    uint32_t index[EXEC_MAX_DEVICES]; /* of these devices among those of the call */
    pool_device *device[EXEC_MAX_DEVICES];
    pool_buffer *workspace[EXEC_MAX_DEVICES];
    pool_span shard[EXEC_MAX_DEVICES];
};

static void add_shard(const struct merkle_opening *opening, const struct subtree *subtree,
    const pool_span *leaves, uint32_t index, struct subtree_place *place)
{
    const size_t leaf_bytes = (size_t)opening->tree.leaf_elements * opening->set->field->bytes;
    const uint64_t *first = &opening->division.first_leaf[index];
    const uint64_t from = base_max(first[0], subtree->first_leaf);
    const uint64_t to = base_min(first[1], subtree->first_leaf + subtree->leaves);
    const uint32_t count = place->count;

    if (from >= to)
        return;
    place->index[count] = index;
    place->device[count] = opening->devices->device[index];
    place->workspace[count] =
        opening->frame.exec.workspaces ? opening->frame.exec.workspaces[index] : NULL;
    place->shard[count] =
        span_slice((const pool_span *)leaves->data + index, leaf_bytes, from - first[0], to - from);
    place->count++;
}

static void place_subtree(const struct merkle_opening *opening, const struct subtree *subtree,
    const pool_span *leaves, struct subtree_place *place)
{
    const struct devices *devices = opening->devices;
    const size_t leaf_bytes = (size_t)opening->tree.leaf_elements * opening->set->field->bytes;

    *place = (struct subtree_place){.exec = opening->frame.exec};
    if (!merkle_span_is_sharded(leaves)) {
        place->leaves = span_slice(leaves, leaf_bytes, subtree->first_leaf, subtree->leaves);
        if (opening->devices)
            place->exec = devices_exec(devices, &opening->frame.exec, 0);
        return;
    }
    for (uint32_t i = 0; i < devices->count; i++)
        add_shard(opening, subtree, leaves, i, place);
    if (place->count == 1) {
        place->leaves = place->shard[0];
        place->exec = devices_exec(devices, &opening->frame.exec, place->index[0]);
        return;
    }
    place->leaves = (pool_span){.data = place->shard,
        .count = subtree->leaves,
        .form = leaves->form,
        .space = POOL_MEMORY_SHARDED};
    place->exec.devices = place->device;
    place->exec.device_count = place->count;
    if (opening->frame.exec.workspaces) {
        place->exec.workspaces = place->workspace;
        place->exec.workspace_count = place->count;
    }
}

/* Builds the subtree of `width` leaves that contains leaf `index`, and appends its siblings. */
static pool_status append_subtree_siblings(struct merkle_opening *opening, uint64_t width)
{
    const struct subtree subtree = subtree_of(opening, opening->index, width);
    const pool_poseidon *set = opening->set;
    pool_span levels = {.form = POOL_FORM_MONTGOMERY, .space = POOL_MEMORY_HOST};
    struct subtree_place place;
    struct poseidon_tree tree;
    pool_status status =
        poseidon_tree_init(opening->frame.name, set, &subtree.params, subtree.leaves, &tree);

    if (status)
        return status;
    place_subtree(opening, &subtree, opening->leaves, &place);
    levels.count = tree.digest_count;
    levels.data = base_calloc(tree.digest_count, opening->digest_bytes);
    if (!levels.data)
        status = base_fail_memory("a subtree");
    if (!status)
        status = poseidon_merkle_build(
            set, &place.exec, &subtree.params, &place.leaves, subtree.first_leaf, &levels);
    if (!status)
        poseidon_tree_compute_padding(set, &tree);
    if (!status)
        status = append_siblings(
            opening, &tree, &levels, 0, tree.height, opening->index - subtree.first_leaf);
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

static pool_status compute_path(struct merkle_opening *opening)
{
    const struct poseidon_tree *tree = &opening->tree;
    uint64_t width = subtree_width(tree);
    pool_status status = POOL_OK;

    if (tree->first_level > 0)
        status = append_subtree_siblings(opening, width);
    return status ? status
                  : append_siblings(opening, tree, opening->levels, tree->first_level, tree->height,
                        opening->index / width);
}

pool_status merkle_compute_path(void *user)
{
    struct merkle_opening *opening = user;
    const pool_poseidon *set = opening->set;
    const pool_span *path = opening->path;
    uint64_t count = (uint64_t)opening->tree.height * (opening->tree.arity - 1);
    pool_status status;

    poseidon_tree_compute_padding(set, &opening->tree);
    opening->limbs = base_calloc(count, opening->digest_limbs * sizeof(*opening->limbs));
    if (!opening->limbs)
        return base_fail_memory("a path");
    status = compute_path(opening);
    for (uint64_t i = 0; i < count && !status; i++)
        poseidon_store(set->field, span_item_at(path, opening->digest_bytes, i),
            opening->limbs + i * opening->digest_limbs, set->digest_elements, path->form);
    base_free(opening->limbs);
    return status;
}

/* ---- forecast -------------------------------------------------------------------------------- */

pool_status merkle_forecast_path(const struct merkle_opening *opening, uint64_t *bytes)
{
    const uint32_t count = opening->devices ? opening->devices->count : 1;
    const struct subtree subtree =
        subtree_of(opening, opening->index, subtree_width(&opening->tree));
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};
    pool_span levels = {.form = POOL_FORM_MONTGOMERY, .space = POOL_MEMORY_HOST};
    uint64_t needed[EXEC_MAX_DEVICES] = {0};
    struct subtree_place place;
    pool_status status;

    memset(bytes, 0, count * sizeof(*bytes));
    if (opening->tree.first_level == 0)
        return POOL_OK;
    place_subtree(opening, &subtree, opening->leaves, &place);
    status = pool_merkle_get_shape(opening->set, &subtree.params, subtree.leaves, &shape);
    levels.count = shape.digest_count;
    if (!status)
        status = poseidon_merkle_forecast(opening->frame.name, opening->set, &place.exec,
            &subtree.params, &place.leaves, &levels, needed);
    for (uint32_t i = 0; !status && i < base_max(place.count, 1); i++)
        bytes[place.index[i]] = needed[i];
    return status;
}
