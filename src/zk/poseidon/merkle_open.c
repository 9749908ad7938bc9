/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Openings of Merkle trees: the siblings on a leaf's path, read from the kept levels or, below
 * them, from the leaf's subtree, which is built again.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/poseidon/merkle_devices.h"
#include "zk/poseidon/run.h"

struct opening {
    struct operation_call frame;
    const pool_poseidon *set;
    const pool_merkle_params *given;
    const pool_span *leaves; /* NULL: none are needed */
    const pool_span *levels;
    const pool_span *path;
    uint64_t leaf_count;
    uint64_t index;
    pool_merkle_params params;
    struct poseidon_tree tree;
    const struct devices *devices;     /* NULL: one, or the host */
    struct poseidon_division division; /* over several devices */
    pool_span host_leaves;             /* what it follows where no sharded leaves are given */
    size_t digest_limbs;
    size_t digest_bytes;
    uint64_t *limbs; /* of the path */
    uint64_t count;  /* of digests in `limbs` so far */
};
enum { OPEN_LEAVES, OPEN_LEVELS, OPEN_PATH };

static bool is_sharded(const pool_span *span)
{
    return span && span->space == POOL_MEMORY_SHARDED;
}

static pool_status read_digest(
    const struct opening *opening, const pool_exec *exec, const void *from, unsigned char *copy)
{
    return poseidon_device_read(exec, from, copy, opening->digest_bytes);
}

static pool_status read_sharded_digest(const struct opening *opening, const pool_span *levels,
    uint32_t level, uint64_t node, unsigned char *copy)
{
    uint64_t digest;
    const uint32_t index = poseidon_division_find(&opening->division, level, node, &digest);
    const pool_span *shard = (const pool_span *)levels->data + index;
    const pool_span item = span_slice(shard, opening->digest_bytes, digest, 1);
    const pool_exec exec = devices_exec(opening->devices, &opening->frame.exec, index);

    return read_digest(opening, &exec, item.data, copy);
}

/* Appends a node of a kept level to the path. */
static pool_status append_digest(struct opening *opening, const struct poseidon_tree *tree,
    const pool_span *levels, uint32_t level, uint64_t node)
{
    const pool_poseidon *set = opening->set;
    uint64_t *digest = opening->limbs + opening->count++ * opening->digest_limbs;
    unsigned char copy[POSEIDON_STATE_LIMBS * 8];
    const unsigned char *from = copy;
    pool_status status = POOL_OK;

    if (is_sharded(levels))
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

static void append_padding(struct opening *opening, const uint64_t *padding)
{
    uint64_t *digest = opening->limbs + opening->count++ * opening->digest_limbs;

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

static struct subtree subtree_of(const struct opening *opening, uint64_t index, uint64_t width)
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

static void add_shard(const struct opening *opening, const struct subtree *subtree,
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

static void place_subtree(const struct opening *opening, const struct subtree *subtree,
    const pool_span *leaves, struct subtree_place *place)
{
    const struct devices *devices = opening->devices;
    const size_t leaf_bytes = (size_t)opening->tree.leaf_elements * opening->set->field->bytes;

    *place = (struct subtree_place){.exec = opening->frame.exec};
    if (!is_sharded(leaves)) {
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
static pool_status append_subtree_siblings(struct opening *opening, uint64_t width)
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

static pool_status compute_path(struct opening *opening)
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

/* ---- steps ----------------------------------------------------------------------------------- */

static pool_status read_opening(void *user)
{
    struct opening *opening = user;
    const pool_poseidon *set = opening->set;
    struct poseidon_tree *tree = &opening->tree;
    pool_status status =
        poseidon_tree_init(opening->frame.name, set, &opening->params, opening->leaf_count, tree);

    opening->frame.host_memory = tree->padding;
    if (status)
        return status;
    opening->digest_limbs = (size_t)set->digest_elements * set->field->limbs;
    opening->digest_bytes = (size_t)set->digest_elements * set->field->bytes;
    opening->frame.exec.is_async = 0;
    opening->frame.exec.progress = NULL; /* the subtree's progress is not the call's */
    if (opening->path->space != POOL_MEMORY_HOST)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: `path` must be in host memory", opening->frame.name);
    if (opening->index >= tree->leaves)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %llu for `index`; the tree has %llu leaves", opening->frame.name,
            (unsigned long long)opening->index, (unsigned long long)tree->leaves);
    if (tree->first_level > 0 && (!opening->leaves || opening->leaves->count != tree->leaves))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `leaves` must be the tree's %llu leaves because the lowest %u levels were not "
            "kept",
            opening->frame.name, (unsigned long long)tree->leaves, tree->first_level);
    if (!tree->first_level && !is_sharded(opening->leaves))
        opening->leaves = NULL;
    return POOL_OK;
}

static void set_items(void *user)
{
    struct opening *opening = user;
    const uint32_t digest = opening->set->digest_elements;

    opening->frame.item[OPEN_LEAVES] = poseidon_item(opening->set, opening->tree.leaf_elements);
    opening->frame.item[OPEN_LEVELS] = opening->frame.item[OPEN_PATH] =
        poseidon_item(opening->set, digest);
}

static pool_status check_spaces(void *user)
{
    const struct opening *opening = user;
    const struct poseidon_tree *tree = &opening->tree;

    if (opening->levels->count < tree->digest_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `levels` must be the %llu digests of the kept levels, %llu are given",
            opening->frame.name, (unsigned long long)tree->digest_count,
            (unsigned long long)opening->levels->count);
    return poseidon_check_space(
        &opening->frame, opening->path, "path", (uint64_t)tree->height * (tree->arity - 1));
}

/* What the subtree needs; zeros where there is none. */
static pool_status forecast(const struct opening *opening, uint64_t *bytes)
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

static pool_status plan(void *user, uint64_t limit)
{
    struct opening *opening = user;

    (void)limit;
    return forecast(opening, &opening->frame.memory.bytes);
}

static pool_status compute_and_store_path(void *user)
{
    struct opening *opening = user;
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

/* ---- several devices ------------------------------------------------------------------------- */

static pool_status forecast_divided(
    struct operation_division *division, uint32_t index, const pool_exec *exec, uint64_t *bytes)
{
    uint64_t needed[EXEC_MAX_DEVICES];
    pool_status status = forecast((const struct opening *)(const void *)division->call, needed);

    (void)exec;
    *bytes = needed[index];
    return status;
}

/* Digests are read once the work of the stream is complete. */
static pool_status wait_for_stream(struct opening *opening)
{
    pool_stream *stream = opening->frame.exec.stream;

    opening->frame.exec.stream = NULL;
    if (!stream || opening->frame.is_forecast)
        return POOL_OK;
    if (pool_stream_device(stream) != opening->devices->device[0])
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "%s: `stream` must belong to the first device of the call", opening->frame.name);
    return pool_stream_synchronize(stream);
}

static pool_status divide(void *user, struct operation_division *division)
{
    struct opening *opening = user;
    const bool has_shards = is_sharded(opening->leaves);
    pool_status status;

    if (has_shards && opening->leaves->count != opening->tree.leaves)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `leaves` has %llu leaves, the tree has %llu", opening->frame.name,
            (unsigned long long)opening->leaves->count, (unsigned long long)opening->tree.leaves);
    opening->host_leaves = (pool_span){.count = opening->tree.leaves};
    opening->devices = &division->devices;
    division->forecast = forecast_divided;
    status = poseidon_divide(opening->frame.name, opening->set, &opening->tree,
        has_shards ? opening->leaves : &opening->host_leaves, opening->levels, &division->devices,
        has_shards ? " for these devices, rates and `leaves`, which must be those of the build"
                   : " for leaves that are not sharded, the devices and their rates; if the "
                     "tree was built from sharded leaves, these must be passed as `leaves`",
        &opening->division);
    return status ? status : wait_for_stream(opening);
}

static const struct operation operation = {.call_bytes = sizeof(struct opening),
    .rules = {POSEIDON_EXEC_RULES},
    .arguments = {{.name = "set", .at = offsetof(struct opening, set)},
        {"params", offsetof(struct opening, given), OPERATION_PARAMS,
            .type = &poseidon_merkle_params_type, .copy_at = offsetof(struct opening, params)},
        {"leaves", offsetof(struct opening, leaves), OPERATION_SPAN, .is_optional = true,
            .operand = "leaves"},
        {"levels", offsetof(struct opening, levels), OPERATION_SPAN, .operand = "levels"},
        {"path", offsetof(struct opening, path), OPERATION_SPAN, .operand = "path"}},
    .read = read_opening,
    .prepare = set_items,
    .check = check_spaces,
    .plan = plan,
    .run = compute_and_store_path,
    .on_host = compute_and_store_path,
    .divide = divide};

/* ---- public ---------------------------------------------------------------------------------- */

pool_status pool_poseidon_merkle_open(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path)
{
    struct opening opening = {.frame = OPERATION_CALL(&operation, exec),
        .set = set,
        .given = params,
        .leaves = leaves,
        .levels = levels,
        .path = path,
        .leaf_count = leaf_count,
        .index = index};

    return operation_run(&opening.frame);
}

pool_status pool_poseidon_merkle_open_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path, uint64_t *bytes)
{
    struct opening opening = {.frame = OPERATION_CALL(&operation, exec),
        .set = set,
        .given = params,
        .leaves = leaves,
        .levels = levels,
        .path = path,
        .leaf_count = leaf_count,
        .index = index};

    return operation_forecast(&opening.frame, bytes);
}
