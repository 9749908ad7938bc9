/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a Merkle tree over several devices. The tree is cut at a level: each device builds
 * consecutive subtrees up to the nodes of that level, and the first device builds the top from
 * them. No device holds more of the tree than its own subtrees, or the top.
 */
#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "memory/devices.h"
#include "poseidon/merkle.h"
#include "poseidon/plan.h"
#include "poseidon/run.h"

struct divided_tree {
    const char *call;
    const pool_poseidon *set;
    const pool_exec *exec;
    const struct poseidon_tree *tree;
    const pool_span *leaves;
    const pool_span *levels;
    struct memory_devices devices;
    uint32_t cut; /* the level; 0: the first device builds the whole tree */
    uint64_t first_leaf[MEMORY_MAX_DEVICES + 1];
    pool_span cut_nodes; /* in host memory: in `levels` if the level is kept, else `nodes` */
    uint8_t *nodes;
};

static size_t digest_bytes(const struct divided_tree *divided)
{
    return (size_t)divided->set->digest_elements * divided->set->field->bytes;
}

static bool keeps_cut(const struct divided_tree *divided)
{
    return divided->cut >= divided->tree->first_level;
}

static uint64_t leaves_of_subtree(const struct divided_tree *divided)
{
    uint64_t leaves = 1;

    for (uint32_t i = 0; i < divided->cut; i++)
        leaves *= divided->tree->arity;
    return leaves;
}

/* ---- division -------------------------------------------------------------------------------- */

/* The highest level below the root with `nodes` nodes, at least 2; 0: none. */
static uint32_t highest_level(const struct poseidon_tree *tree, uint64_t nodes)
{
    uint32_t level = tree->height;

    while (level > 0 && (level == tree->height || tree->level_nodes[level] < nodes))
        level--;
    return level;
}

/* Lower where the shards of the leaves end inside subtrees. */
static pool_status fit_shards(struct divided_tree *divided)
{
    const uint32_t count = divided->devices.count;
    bool fits = false;

    memory_devices_divide(&divided->devices, divided->leaves, 1, divided->first_leaf);
    while (!fits && divided->cut > 0) {
        uint64_t multiple = leaves_of_subtree(divided);

        fits = true;
        for (uint32_t i = 0; i < count; i++)
            fits &= divided->first_leaf[i] % multiple == 0 ||
                    divided->first_leaf[i] == divided->tree->leaves;
        divided->cut -= !fits;
    }
    return fits ? POOL_OK
                : base_fail(POOL_ERR_INVALID_ARGUMENT,
                      "%s: the shards of `leaves` must be multiples of `arity` %u, and there must "
                      "be at least as many parents as devices",
                      divided->call, divided->tree->arity);
}

static pool_status choose_cut(struct divided_tree *divided)
{
    const struct poseidon_tree *tree = divided->tree;
    const uint32_t count = divided->devices.count;

    divided->cut = highest_level(tree, (uint64_t)POSEIDON_SUBTREES * count);
    if (!divided->cut)
        divided->cut = highest_level(tree, base_max(count, 2));
    if (divided->leaves->space == POOL_MEMORY_SHARDED)
        return fit_shards(divided);
    memory_devices_split(
        &divided->devices, tree->leaves, leaves_of_subtree(divided), divided->first_leaf);
    return POOL_OK;
}

static pool_status divide(const char *call, const pool_poseidon *set, const pool_exec *exec,
    const struct poseidon_tree *tree, const pool_span *leaves, const pool_span *levels,
    struct divided_tree *divided)
{
    pool_status status;

    *divided = (struct divided_tree){
        .call = call, .set = set, .exec = exec, .tree = tree, .leaves = leaves, .levels = levels};
    status = memory_devices_read(call, exec, &divided->devices);
    if (!status)
        status = memory_devices_check_span(call, &divided->devices, leaves, "leaves");
    if (!status && levels->space != POOL_MEMORY_HOST)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %d for `space` of `levels`; with `device_count` %u it must be "
            "POOL_MEMORY_HOST",
            call, (int)levels->space, divided->devices.count);
    if (!status && exec->is_async)
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "%s: `is_async` is not supported with `device_count` %u; it must be 0", call,
            divided->devices.count);
    return status ? status : choose_cut(divided);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* The subtrees of a device as a tree that ends at the cut; its memory is that of the whole one. */
static struct poseidon_tree tree_of_part(const struct divided_tree *divided, uint32_t index)
{
    const struct poseidon_tree *whole = divided->tree;
    uint64_t first = divided->first_leaf[index];
    uint64_t nodes = divided->first_leaf[index + 1] - first;
    struct poseidon_tree part = *whole;

    part.height = divided->cut;
    part.first_level = keeps_cut(divided) ? whole->first_level : divided->cut;
    part.leaves = nodes;
    part.digest_count = 0;
    for (uint32_t level = 0; level <= part.height; level++) {
        part.level_nodes[level] = nodes;
        part.level_start[level] = part.digest_count;
        part.level_target[level] = (keeps_cut(divided) ? whole->level_start[level] : 0) + first;
        if (level >= part.first_level)
            part.digest_count += nodes;
        nodes = base_ceil_div(nodes, whole->arity);
        first /= whole->arity;
    }
    return part;
}

/* The tree above the cut, whose leaves are the nodes there, and its kept levels. */
static struct poseidon_tree tree_of_top(const struct divided_tree *divided, pool_span *levels)
{
    const struct poseidon_tree *whole = divided->tree;
    const uint32_t cut = divided->cut;
    struct poseidon_tree top = *whole;
    uint64_t start;

    top.height = whole->height - cut;
    top.first_level = keeps_cut(divided) ? 1 : whole->first_level - cut;
    top.leaf_elements = divided->set->digest_elements;
    top.hashes_leaves = false;
    top.leaves = whole->level_nodes[cut];
    top.padding =
        whole->padding + (size_t)cut * divided->set->digest_elements * divided->set->field->limbs;
    start = whole->level_start[cut + top.first_level];
    for (uint32_t level = 0; level <= top.height; level++) {
        top.level_nodes[level] = whole->level_nodes[cut + level];
        top.level_start[level] =
            level < top.first_level ? 0 : whole->level_start[cut + level] - start;
        top.level_target[level] = top.level_start[level];
    }
    top.digest_count = whole->digest_count - start;
    *levels = poseidon_span_slice(divided->levels, digest_bytes(divided), start, top.digest_count);
    return top;
}

static pool_span leaves_of_part(const struct divided_tree *divided, uint32_t index)
{
    const uint64_t bytes = (uint64_t)divided->tree->leaf_elements * divided->set->field->bytes;

    return memory_devices_part(divided->leaves, bytes, index, divided->first_leaf);
}

static const pool_span *levels_of_part(const struct divided_tree *divided)
{
    return keeps_cut(divided) ? divided->levels : &divided->cut_nodes;
}

static pool_status build_part(void *user, uint32_t index, const pool_exec *given)
{
    const struct divided_tree *divided = user;
    const struct poseidon_tree part = tree_of_part(divided, index);
    const pool_span leaves = leaves_of_part(divided, index);
    const struct poseidon_operand in = {&leaves, part.leaf_elements, "leaves"};
    struct memory_progress progress = {.call = divided->call};
    pool_exec exec;
    pool_status status;

    if (!leaves.count)
        return POOL_OK;
    status = poseidon_read_exec(divided->call, divided->set, given, &exec);
    progress.exec = &exec;
    progress.total = poseidon_tree_work(&part);
    if (!status)
        status = poseidon_check_operand(divided->call, divided->set->field, &exec, &in);
    if (!status)
        status = poseidon_check_data(divided->call, &in);
    return status ? status
                  : poseidon_device_merkle_build(divided->set, &exec, &part, &leaves,
                        divided->first_leaf[index], levels_of_part(divided), &progress);
}

static pool_status build_top(const struct divided_tree *divided)
{
    const pool_exec given = memory_devices_exec(&divided->devices, divided->exec, 0);
    struct memory_progress progress = {
        .call = divided->call, .total = poseidon_tree_work(divided->tree)};
    pool_span levels;
    const struct poseidon_tree top = tree_of_top(divided, &levels);
    pool_exec exec;
    pool_status status = poseidon_read_exec(divided->call, divided->set, &given, &exec);

    progress.exec = &exec;
    progress.done = progress.reported = progress.total - poseidon_tree_work(&top);
    return status ? status
                  : poseidon_device_merkle_build(
                        divided->set, &exec, &top, &divided->cut_nodes, 0, &levels, &progress);
}

/* Where the nodes of the cut are stored. */
static pool_status set_cut_nodes(struct divided_tree *divided, bool allocates)
{
    const uint64_t nodes = divided->tree->level_nodes[divided->cut];

    if (keeps_cut(divided)) {
        divided->cut_nodes = poseidon_span_slice(divided->levels, digest_bytes(divided),
            divided->tree->level_start[divided->cut], nodes);
        return POOL_OK;
    }
    if (allocates)
        divided->nodes = base_calloc(nodes, digest_bytes(divided));
    divided->cut_nodes =
        (pool_span){.data = divided->nodes, .count = nodes, .form = divided->levels->form};
    return allocates && !divided->nodes ? base_fail_memory("a level of a tree") : POOL_OK;
}

static pool_status build_on_first(const struct divided_tree *divided)
{
    const pool_exec given = memory_devices_exec(&divided->devices, divided->exec, 0);
    struct memory_progress progress = {
        .call = divided->call, .total = poseidon_tree_work(divided->tree)};
    pool_exec exec;
    pool_status status = poseidon_read_exec(divided->call, divided->set, &given, &exec);

    progress.exec = &exec;
    return status ? status
                  : poseidon_device_merkle_build(divided->set, &exec, divided->tree,
                        divided->leaves, 0, divided->levels, &progress);
}

static pool_status forecast_device(const struct divided_tree *divided, uint32_t index,
    struct memory_progress *progress, uint64_t *bytes)
{
    const struct poseidon_tree part = tree_of_part(divided, index);
    const pool_span leaves = leaves_of_part(divided, index);
    uint64_t of_top = 0;
    pool_status status = POOL_OK;

    if (!divided->cut)
        return index ? POOL_OK
                     : poseidon_device_merkle_forecast(divided->set, divided->tree, divided->leaves,
                           divided->levels, progress, bytes);
    if (part.leaves)
        status = poseidon_device_merkle_forecast(
            divided->set, &part, &leaves, levels_of_part(divided), progress, bytes);
    if (!status && !index) {
        pool_span levels;
        const struct poseidon_tree top = tree_of_top(divided, &levels);

        status = poseidon_device_merkle_forecast(
            divided->set, &top, &divided->cut_nodes, &levels, progress, &of_top);
        *bytes = base_max(*bytes, of_top);
    }
    return status;
}

/* What each device allocates, or its workspace must have; for a division whose cut nodes are set.
 */
static pool_status forecast(const struct divided_tree *divided, uint64_t *needed)
{
    struct memory_progress progress = {.call = divided->call};
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < divided->devices.count && !status; i++) {
        const pool_exec given = memory_devices_exec(&divided->devices, divided->exec, i);
        pool_exec exec;

        needed[i] = 0;
        progress.exec = &exec;
        status = poseidon_read_exec(divided->call, divided->set, &given, &exec);
        if (!status)
            status = forecast_device(divided, i, &progress, &needed[i]);
    }
    return status;
}

static pool_status check_workspaces(const struct divided_tree *divided)
{
    uint64_t needed[MEMORY_MAX_DEVICES];
    pool_status status;

    if (!divided->exec->workspaces)
        return POOL_OK;
    status = forecast(divided, needed);
    return status ? status
                  : memory_devices_check_workspaces(
                        divided->call, &divided->devices, divided->exec, needed);
}

pool_status poseidon_devices_merkle_build(const char *call, const pool_poseidon *set,
    const pool_exec *exec, const struct poseidon_tree *tree, const pool_span *leaves,
    const pool_span *levels)
{
    struct divided_tree divided;
    const struct memory_parts parts = {.call = call,
        .exec = exec,
        .devices = &divided.devices,
        .total = poseidon_tree_work(tree),
        .compute = build_part,
        .user = &divided};
    pool_status status = divide(call, set, exec, tree, leaves, levels, &divided);

    if (!status && divided.cut)
        status = set_cut_nodes(&divided, true);
    if (!status)
        status = check_workspaces(&divided);
    if (!status && !divided.cut)
        return build_on_first(&divided);
    if (!status)
        status = memory_parts_run(&parts);
    if (!status)
        status = build_top(&divided);
    base_free(divided.nodes);
    return status;
}

pool_status poseidon_devices_merkle_forecast(const char *call, const pool_poseidon *set,
    const pool_exec *exec, const struct poseidon_tree *tree, const pool_span *leaves,
    const pool_span *levels, uint64_t *bytes)
{
    uint64_t needed[MEMORY_MAX_DEVICES];
    struct divided_tree divided;
    pool_status status = divide(call, set, exec, tree, leaves, levels, &divided);

    if (!status && divided.cut)
        status = set_cut_nodes(&divided, false);
    if (!status)
        status = forecast(&divided, needed);
    for (uint32_t i = 0; !status && i < divided.devices.count; i++)
        bytes[i] = needed[i];
    return status;
}
