/* SPDX-License-Identifier: Apache-2.0 */
/* How a Merkle tree is divided between devices: see merkle_devices.h. */
#include "zk/poseidon/merkle_devices.h"

#include "base/math.h"
#include "base/status.h"
#include "zk/poseidon/plan.h"
#include "zk/poseidon/run.h"

/* ---- the cut --------------------------------------------------------------------------------- */

/* The highest level below the root with `nodes` nodes, at least 2; 0: none. */
static uint32_t highest_level(const struct poseidon_tree *tree, uint64_t nodes)
{
    uint32_t level = tree->height;

    while (level > 0 && (level == tree->height || tree->level_nodes[level] < nodes))
        level--;
    return level;
}

/* The leaves below a node of the cut. */
static uint64_t subtree_leaves(const struct poseidon_division *division)
{
    uint64_t leaves = 1;

    for (uint32_t i = 0; i < division->cut.level; i++)
        leaves *= division->tree->arity;
    return leaves;
}

/* Lower where the shards of the leaves end inside subtrees. */
static pool_status fit_shards(struct poseidon_division *division)
{
    const struct tree_cut *cut = &division->cut;
    bool fits = false;

    devices_divide(cut->devices, division->leaves, 1, division->first_leaf);
    while (!fits && cut->level > 0) {
        uint64_t multiple = subtree_leaves(division);

        fits = true;
        for (uint32_t i = 0; i < cut->devices->count; i++)
            fits &= division->first_leaf[i] % multiple == 0 ||
                    division->first_leaf[i] == division->tree->leaves;
        division->cut.level -= !fits;
    }
    return fits ? POOL_OK
                : base_fail(POOL_ERR_INVALID_ARGUMENT,
                      "%s: the shards of `leaves` must be multiples of `arity` %u, and there must "
                      "be at least as many parents as devices",
                      cut->call, division->tree->arity);
}

static pool_status choose_cut(struct poseidon_division *division)
{
    const struct poseidon_tree *tree = division->tree;
    struct tree_cut *cut = &division->cut;
    const uint32_t count = cut->devices->count;

    cut->level = highest_level(tree, (uint64_t)POSEIDON_SUBTREES * count);
    if (!cut->level)
        cut->level = highest_level(tree, base_max(count, 2));
    if (division->leaves->space == POOL_MEMORY_SHARDED)
        return fit_shards(division);
    devices_split(cut->devices, tree->leaves, subtree_leaves(division), division->first_leaf);
    return POOL_OK;
}

static void count_nodes(struct poseidon_division *division)
{
    struct tree_cut *cut = &division->cut;
    const uint64_t leaves = subtree_leaves(division);

    cut->is_kept = cut->level >= division->tree->first_level;
    for (uint32_t i = 0; i <= cut->devices->count; i++)
        cut->first[i] = base_ceil_div(division->first_leaf[i], leaves);
    for (uint32_t i = 0; i < cut->devices->count && cut->level && cut->is_kept; i++)
        cut->kept[i] = poseidon_division_part(division, i).digest_count;
}

pool_status poseidon_divide(const char *call, const pool_poseidon *set,
    const struct poseidon_tree *tree, const pool_span *leaves, const pool_span *levels,
    const struct devices *devices, const char *hint, struct poseidon_division *division)
{
    pool_status status;

    *division = (struct poseidon_division){
        .cut = {.call = call,
            .shards_call = "pool_poseidon_merkle_shards",
            .devices = devices,
            .levels = levels,
            .digest_bytes = (uint64_t)set->digest_elements * set->field->bytes,
            .digest_count = tree->digest_count},
        .set = set,
        .tree = tree,
        .leaves = leaves};
    status = choose_cut(division);
    if (status)
        return status;
    count_nodes(division);
    return tree_cut_check_shards(&division->cut, hint);
}

/* ---- parts ----------------------------------------------------------------------------------- */

struct poseidon_tree poseidon_division_part(
    const struct poseidon_division *division, uint32_t index)
{
    const struct poseidon_tree *whole = division->tree;
    const bool keeps_cut = division->cut.is_kept;
    uint64_t first = division->first_leaf[index];
    uint64_t nodes = division->first_leaf[index + 1] - first;
    struct poseidon_tree part = *whole;

    part.height = division->cut.level;
    part.first_level = keeps_cut ? whole->first_level : division->cut.level;
    part.leaves = nodes;
    part.digest_count = 0;
    for (uint32_t level = 0; level <= part.height; level++) {
        part.level_nodes[level] = nodes;
        part.level_start[level] = part.digest_count;
        part.level_target[level] = (keeps_cut ? whole->level_start[level] : 0) + first;
        if (level >= part.first_level)
            part.digest_count += nodes;
        nodes = base_ceil_div(nodes, whole->arity);
        first /= whole->arity;
    }
    return part;
}

/* The lowest kept level of the top in the whole tree. */
static uint32_t first_level_of_top(const struct poseidon_division *division)
{
    return division->cut.is_kept ? division->cut.level + 1 : division->tree->first_level;
}

struct poseidon_tree poseidon_division_top(const struct poseidon_division *division)
{
    const struct poseidon_tree *whole = division->tree;
    const uint64_t start = whole->level_start[first_level_of_top(division)];
    const uint32_t cut = division->cut.level;
    struct poseidon_tree top = *whole;

    top.height = whole->height - cut;
    top.first_level = first_level_of_top(division) - cut;
    top.leaf_elements = division->set->digest_elements;
    top.hashes_leaves = false;
    top.leaves = whole->level_nodes[cut];
    top.padding =
        whole->padding + (size_t)cut * division->set->digest_elements * division->set->field->limbs;
    for (uint32_t level = 0; level <= top.height; level++) {
        top.level_nodes[level] = whole->level_nodes[cut + level];
        top.level_start[level] =
            level < top.first_level ? 0 : whole->level_start[cut + level] - start;
        top.level_target[level] = top.level_start[level];
    }
    top.digest_count = whole->digest_count - start;
    return top;
}

/* ---- shards of the levels -------------------------------------------------------------------- */

uint32_t poseidon_division_find(
    const struct poseidon_division *division, uint32_t level, uint64_t node, uint64_t *digest)
{
    const struct poseidon_tree *whole = division->tree;
    const struct tree_cut *cut = &division->cut;
    uint64_t width = 1;
    uint32_t index = 0;

    if (!cut->level || level > cut->level) {
        *digest = whole->level_start[level] + node;
        if (cut->level && cut->is_kept)
            *digest += cut->kept[0] - whole->level_start[cut->level + 1];
        return 0;
    }
    for (uint32_t i = 0; i < level; i++)
        width *= whole->arity;
    while (node >= base_ceil_div(division->first_leaf[index + 1], width))
        index++;
    *digest = poseidon_division_part(division, index).level_start[level] + node -
              division->first_leaf[index] / width;
    return index;
}
