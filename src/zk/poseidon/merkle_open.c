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
#include "zk/operation/timeout.h"
#include "zk/operation/workspace.h"
#include "zk/poseidon/merkle_devices.h"
#include "zk/poseidon/run.h"

struct opening {
    const char *call; /* the public function */
    const pool_poseidon *set;
    pool_exec exec;
    struct poseidon_tree tree;
    struct poseidon_division division; /* with exec.device_count: of the tree */
    pool_span host_leaves;             /* what it follows where no sharded leaves are given */
    size_t digest_limbs;
    size_t digest_bytes;
    uint64_t *path; /* in limbs */
    uint64_t count; /* of digests in `path` so far */
};

static bool is_sharded(const pool_span *span)
{
    return span && span->space == POOL_MEMORY_SHARDED;
}

/* The exec of work on one of several devices. */
static pool_status exec_on(const struct opening *opening, uint32_t index, pool_exec *exec)
{
    const pool_exec given = devices_exec(&opening->division.devices, &opening->exec, index);

    return poseidon_read_exec(opening->call, opening->set, &given, exec);
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
    const pool_span item = poseidon_span_slice(shard, opening->digest_bytes, digest, 1);
    pool_exec exec;
    pool_status status = exec_on(opening, index, &exec);

    return status ? status : read_digest(opening, &exec, item.data, copy);
}

/* Appends a node of a kept level to the path. */
static pool_status append_digest(struct opening *opening, const struct poseidon_tree *tree,
    const pool_span *levels, uint32_t level, uint64_t node)
{
    const pool_poseidon *set = opening->set;
    uint64_t *digest = opening->path + opening->count++ * opening->digest_limbs;
    unsigned char copy[POSEIDON_STATE_LIMBS * 8];
    const unsigned char *from = copy;
    pool_status status = POOL_OK;

    if (is_sharded(levels))
        status = read_sharded_digest(opening, levels, level, node, copy);
    else
        from = poseidon_span_item(levels, opening->digest_bytes, tree->level_start[level] + node);
    if (levels->space == POOL_MEMORY_DEVICE) {
        status = read_digest(opening, &opening->exec, from, copy);
        from = copy;
    }
    return status ? status
                  : poseidon_load(
                        set->field, digest, from, set->digest_elements, levels->form, "`levels`");
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
struct subtree_site {
    pool_exec exec;
    pool_span leaves;
    uint32_t count;
    uint32_t index[EXEC_MAX_DEVICES]; /* of these devices among those of the call */
    pool_device *device[EXEC_MAX_DEVICES];
    pool_buffer *workspace[EXEC_MAX_DEVICES];
    pool_span shard[EXEC_MAX_DEVICES];
};

static void add_shard(const struct opening *opening, const struct subtree *subtree,
    const pool_span *leaves, uint32_t index, struct subtree_site *site)
{
    const size_t leaf_bytes = (size_t)opening->tree.leaf_elements * opening->set->field->bytes;
    const uint64_t *first = &opening->division.first_leaf[index];
    const uint64_t from = base_max(first[0], subtree->first_leaf);
    const uint64_t to = base_min(first[1], subtree->first_leaf + subtree->leaves);
    const uint32_t count = site->count;

    if (from >= to)
        return;
    site->index[count] = index;
    site->device[count] = opening->division.devices.device[index];
    site->workspace[count] = opening->exec.workspaces ? opening->exec.workspaces[index] : NULL;
    site->shard[count] = poseidon_span_slice(
        (const pool_span *)leaves->data + index, leaf_bytes, from - first[0], to - from);
    site->count++;
}

static void place_subtree(const struct opening *opening, const struct subtree *subtree,
    const pool_span *leaves, struct subtree_site *site)
{
    const struct devices *devices = &opening->division.devices;
    const size_t leaf_bytes = (size_t)opening->tree.leaf_elements * opening->set->field->bytes;

    *site = (struct subtree_site){.exec = opening->exec};
    if (!is_sharded(leaves)) {
        site->leaves =
            poseidon_span_slice(leaves, leaf_bytes, subtree->first_leaf, subtree->leaves);
        if (opening->exec.device_count)
            site->exec = devices_exec(devices, &opening->exec, 0);
        return;
    }
    for (uint32_t i = 0; i < devices->count; i++)
        add_shard(opening, subtree, leaves, i, site);
    if (site->count == 1) {
        site->leaves = site->shard[0];
        site->exec = devices_exec(devices, &opening->exec, site->index[0]);
        return;
    }
    site->leaves = (pool_span){.data = site->shard,
        .count = subtree->leaves,
        .form = leaves->form,
        .space = POOL_MEMORY_SHARDED};
    site->exec.devices = site->device;
    site->exec.device_count = site->count;
    if (opening->exec.workspaces) {
        site->exec.workspaces = site->workspace;
        site->exec.workspace_count = site->count;
    }
}

/* Builds the subtree of `width` leaves that contains leaf `index`, and appends its siblings. */
static pool_status append_subtree_siblings(
    struct opening *opening, const pool_span *leaves, uint64_t index, uint64_t width)
{
    const struct subtree subtree = subtree_of(opening, index, width);
    const pool_poseidon *set = opening->set;
    pool_span levels = {.form = POOL_FORM_MONTGOMERY, .space = POOL_MEMORY_HOST};
    struct subtree_site site;
    struct poseidon_tree tree;
    pool_status status =
        poseidon_tree_init(opening->call, set, &subtree.params, subtree.leaves, &tree);

    if (status)
        return status;
    place_subtree(opening, &subtree, leaves, &site);
    levels.count = tree.digest_count;
    levels.data = base_calloc(tree.digest_count, opening->digest_bytes);
    if (!levels.data)
        status = base_fail_memory("a subtree");
    if (!status)
        status = poseidon_merkle_build(
            set, &site.exec, &subtree.params, &site.leaves, subtree.first_leaf, &levels);
    if (!status)
        poseidon_tree_compute_padding(set, &tree);
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

/* What the subtree needs; zeros where there is none. */
static pool_status forecast(
    const struct opening *opening, const pool_span *leaves, uint64_t index, uint64_t *bytes)
{
    const uint32_t count = opening->exec.device_count ? opening->exec.device_count : 1;
    const struct subtree subtree = subtree_of(opening, index, subtree_width(&opening->tree));
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};
    pool_span levels = {.form = POOL_FORM_MONTGOMERY, .space = POOL_MEMORY_HOST};
    uint64_t needed[EXEC_MAX_DEVICES] = {0};
    struct subtree_site site;
    pool_status status;

    memset(bytes, 0, count * sizeof(*bytes));
    if (opening->tree.first_level == 0)
        return POOL_OK;
    place_subtree(opening, &subtree, leaves, &site);
    status = pool_merkle_get_shape(opening->set, &subtree.params, subtree.leaves, &shape);
    levels.count = shape.digest_count;
    if (!status)
        status = poseidon_merkle_forecast(opening->call, opening->set, &site.exec, &subtree.params,
            &site.leaves, &levels, needed);
    for (uint32_t i = 0; !status && i < base_max(site.count, 1); i++)
        bytes[site.index[i]] = needed[i];
    return status;
}

/* On one of several devices, or the only one. */
static pool_status check_overlaps(const struct opening *opening, const pool_exec *exec,
    const pool_span *leaves, const pool_span *levels)
{
    const struct workspace_span spans[] = {
        {leaves, (uint64_t)opening->tree.leaf_elements * opening->set->field->bytes, "leaves"},
        {levels, opening->digest_bytes, "levels"}};

    return workspace_check_spans(opening->call, exec, spans, 2);
}

static const pool_span *shard_of(const pool_span *span, uint32_t index)
{
    return is_sharded(span) ? (const pool_span *)span->data + index : NULL;
}

/* The subtree's own leaves are checked again when it is built. */
static pool_status check_workspace(
    const struct opening *opening, const pool_span *leaves, const pool_span *levels, uint64_t index)
{
    const struct devices *devices = &opening->division.devices;
    uint64_t needed[EXEC_MAX_DEVICES];
    pool_status status = POOL_OK;

    if (!opening->exec.device_count)
        return check_overlaps(opening, &opening->exec, leaves, levels);
    if (!opening->exec.workspaces)
        return POOL_OK;
    status = forecast(opening, leaves, index, needed);
    if (!status)
        status = devices_check_workspaces(opening->call, devices, &opening->exec, needed);
    for (uint32_t i = 0; i < devices->count && !status; i++) {
        const pool_exec exec = devices_exec(devices, &opening->exec, i);

        status = check_overlaps(opening, &exec, shard_of(leaves, i), shard_of(levels, i));
    }
    return status;
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

/* Of a tree over several devices. Its digests are read once the work of the stream is complete. */
static pool_status divide(
    struct opening *opening, const pool_span *leaves, const pool_span *levels, bool has_data)
{
    pool_stream *stream = opening->exec.stream;
    pool_status status;

    opening->host_leaves = (pool_span){.count = opening->tree.leaves};
    if (is_sharded(leaves) && leaves->count != opening->tree.leaves)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `leaves` has %llu leaves, the tree has %llu", opening->call,
            (unsigned long long)leaves->count, (unsigned long long)opening->tree.leaves);
    opening->exec.stream = NULL;
    status = poseidon_divide(opening->call, opening->set, &opening->exec, &opening->tree,
        is_sharded(leaves) ? leaves : &opening->host_leaves, levels,
        is_sharded(leaves)
            ? " for these devices, rates and `leaves`, which must be those of the build"
            : " for leaves that are not sharded, the devices and their rates; if the "
              "tree was built from sharded leaves, these must be passed as `leaves`",
        &opening->division);
    if (status || !stream || !has_data)
        return status;
    if (pool_stream_device(stream) != opening->division.devices.device[0])
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "%s: `stream` must belong to the first device of the call", opening->call);
    return pool_stream_synchronize(stream);
}

/* Reads everything but the spans' data. The caller frees opening->tree after POOL_OK. */
static pool_status read_opening(const char *call, const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path, bool has_data,
    struct opening *opening)
{
    pool_status status;

    *opening = (struct opening){.call = call, .set = set};
    status = poseidon_read_exec(opening->call, set, exec, &opening->exec);
    if (!status)
        status = poseidon_tree_init(opening->call, set, params, leaf_count, &opening->tree);
    if (status)
        return status;
    opening->digest_limbs = (size_t)set->digest_elements * set->field->limbs;
    opening->digest_bytes = (size_t)set->digest_elements * set->field->bytes;
    opening->exec.is_async = 0;
    opening->exec.progress = NULL; /* the subtree's progress is not the call's */
    status = check_arguments(opening, leaves, levels, index, path);
    if (!status && opening->exec.device_count)
        status = divide(opening, leaves, levels, has_data);
    if (status)
        poseidon_tree_free(&opening->tree);
    return status;
}

static pool_status poseidon_merkle_open_timed(void *const *a)
{
    return pool_poseidon_merkle_open(
        a[0], a[1], a[2], *(uint64_t *)a[3], a[4], a[5], *(uint64_t *)a[6], a[7]);
}

pool_status pool_poseidon_merkle_open(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(poseidon_merkle_open_timed, NULL, TIMED_POINTER(set), TIMED_EXEC(exec),
            TIMED_PARAMS(params), TIMED_VALUE(leaf_count), TIMED_SPAN(leaves), TIMED_SPAN(levels),
            TIMED_VALUE(index), TIMED_SPAN(path));
    EXEC_SCOPE(exec);
    struct opening opening;
    pool_status status = read_opening(
        __func__, set, exec, params, leaf_count, leaves, levels, index, path, true, &opening);

    if (status)
        return status;
    status = check_data(&opening, leaves, levels, path);
    if (!status)
        status = check_workspace(&opening, leaves, levels, index);
    if (!status)
        poseidon_tree_compute_padding(set, &opening.tree);
    if (!status)
        status = compute_and_store_path(&opening, leaves, levels, index, path);
    poseidon_tree_free(&opening.tree);
    return status;
}

pool_status pool_poseidon_merkle_open_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path, uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    uint64_t needed[EXEC_MAX_DEVICES];
    struct opening opening;
    pool_status status = bytes ? read_opening(__func__, set, exec, params, leaf_count, leaves,
                                     levels, index, path, false, &opening)
                               : base_fail_null(__func__, "bytes");

    if (status)
        return status;
    status = forecast(&opening, leaves, index, needed);
    poseidon_tree_free(&opening.tree);
    if (!status)
        memcpy(bytes, needed,
            (opening.exec.device_count ? opening.exec.device_count : 1) * sizeof(*bytes));
    return status;
}
