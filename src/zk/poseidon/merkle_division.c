/* SPDX-License-Identifier: Apache-2.0 */
/* How a Merkle tree is divided between devices: see merkle_devices.h. */
#include "zk/poseidon/merkle_devices.h"

#include "base/math.h"
#include "base/status.h"
#include "zk/poseidon/plan.h"
#include "zk/poseidon/run.h"

size_t poseidon_division_digest_bytes(const struct poseidon_division *division)
{
    return (size_t)division->set->digest_elements * division->set->field->bytes;
}

bool poseidon_division_keeps_cut(const struct poseidon_division *division)
{
    return division->cut >= division->tree->first_level;
}

bool poseidon_division_is_sharded(const struct poseidon_division *division)
{
    return division->levels && division->levels->space == POOL_MEMORY_SHARDED;
}

uint64_t poseidon_division_subtree_leaves(const struct poseidon_division *division)
{
    uint64_t leaves = 1;

    for (uint32_t i = 0; i < division->cut; i++)
        leaves *= division->tree->arity;
    return leaves;
}

/* ---- the cut --------------------------------------------------------------------------------- */

/* The highest level below the root with `nodes` nodes, at least 2; 0: none. */
static uint32_t highest_level(const struct poseidon_tree *tree, uint64_t nodes)
{
    uint32_t level = tree->height;

    while (level > 0 && (level == tree->height || tree->level_nodes[level] < nodes))
        level--;
    return level;
}

/* Lower where the shards of the leaves end inside subtrees. */
static pool_status fit_shards(struct poseidon_division *division)
{
    const uint32_t count = division->devices->count;
    bool fits = false;

    devices_divide(division->devices, division->leaves, 1, division->first_leaf);
    while (!fits && division->cut > 0) {
        uint64_t multiple = poseidon_division_subtree_leaves(division);

        fits = true;
        for (uint32_t i = 0; i < count; i++)
            fits &= division->first_leaf[i] % multiple == 0 ||
                    division->first_leaf[i] == division->tree->leaves;
        division->cut -= !fits;
    }
    return fits ? POOL_OK
                : base_fail(POOL_ERR_INVALID_ARGUMENT,
                      "%s: the shards of `leaves` must be multiples of `arity` %u, and there must "
                      "be at least as many parents as devices",
                      division->call, division->tree->arity);
}

static pool_status choose_cut(struct poseidon_division *division)
{
    const struct poseidon_tree *tree = division->tree;
    const uint32_t count = division->devices->count;

    division->cut = highest_level(tree, (uint64_t)POSEIDON_SUBTREES * count);
    if (!division->cut)
        division->cut = highest_level(tree, base_max(count, 2));
    if (division->leaves->space == POOL_MEMORY_SHARDED)
        return fit_shards(division);
    devices_split(division->devices, tree->leaves, poseidon_division_subtree_leaves(division),
        division->first_leaf);
    return POOL_OK;
}

/* Once the cut is chosen. `hint` ends the message about another number of digests. */
static pool_status check_level_shards(const struct poseidon_division *division, const char *hint)
{
    const pool_span *shards = division->levels->data;
    const uint64_t bytes = poseidon_division_digest_bytes(division);
    uint64_t wanted[EXEC_MAX_DEVICES];

    poseidon_division_count(division, wanted);
    for (uint32_t i = 0; i < division->devices->count; i++) {
        if (shards[i].count != wanted[i])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: shard %u of `levels` has %llu digests; pool_poseidon_merkle_shards reports "
                "%llu%s",
                division->call, i, (unsigned long long)shards[i].count,
                (unsigned long long)wanted[i], hint);
        if (shards[i].stride && shards[i].stride != bytes)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: unsupported value %llu for `stride` of shard %u of `levels`; it must be 0",
                division->call, (unsigned long long)shards[i].stride, i);
    }
    return POOL_OK;
}

pool_status poseidon_divide(const char *hint, struct poseidon_division *division)
{
    pool_status status = choose_cut(division);

    return status || !poseidon_division_is_sharded(division) ? status
                                                             : check_level_shards(division, hint);
}

/* ---- parts ----------------------------------------------------------------------------------- */

struct poseidon_tree poseidon_division_part(
    const struct poseidon_division *division, uint32_t index)
{
    const struct poseidon_tree *whole = division->tree;
    const bool keeps_cut = poseidon_division_keeps_cut(division);
    uint64_t first = division->first_leaf[index];
    uint64_t nodes = division->first_leaf[index + 1] - first;
    struct poseidon_tree part = *whole;

    part.height = division->cut;
    part.first_level = keeps_cut ? whole->first_level : division->cut;
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

pool_span poseidon_division_leaves(const struct poseidon_division *division, uint32_t index)
{
    const uint64_t bytes = (uint64_t)division->tree->leaf_elements * division->set->field->bytes;

    return devices_part(division->leaves, bytes, index, division->first_leaf);
}

/* The lowest kept level of the top in the whole tree. */
static uint32_t first_level_of_top(const struct poseidon_division *division)
{
    return poseidon_division_keeps_cut(division) ? division->cut + 1 : division->tree->first_level;
}

struct poseidon_tree poseidon_division_top(const struct poseidon_division *division)
{
    const struct poseidon_tree *whole = division->tree;
    const uint64_t start = whole->level_start[first_level_of_top(division)];
    const uint32_t cut = division->cut;
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

/* In shard 0 they follow the levels of the first device's subtrees. */
static uint64_t top_start(const struct poseidon_division *division)
{
    if (!poseidon_division_keeps_cut(division))
        return 0;
    return poseidon_division_is_sharded(division) ? poseidon_division_part(division, 0).digest_count
                                                  : division->tree->level_start[division->cut + 1];
}

pool_span poseidon_division_top_levels(
    const struct poseidon_division *division, const struct poseidon_tree *top)
{
    const pool_span *levels =
        poseidon_division_is_sharded(division) ? division->levels->data : division->levels;

    return poseidon_span_slice(
        levels, poseidon_division_digest_bytes(division), top_start(division), top->digest_count);
}

/* ---- shards of the levels -------------------------------------------------------------------- */

void poseidon_division_count(const struct poseidon_division *division, uint64_t *digests)
{
    for (uint32_t i = 0; i < division->devices->count; i++)
        digests[i] = division->cut && poseidon_division_keeps_cut(division)
                         ? poseidon_division_part(division, i).digest_count
                         : 0;
    digests[0] +=
        division->cut ? poseidon_division_top(division).digest_count : division->tree->digest_count;
}

uint32_t poseidon_division_find(
    const struct poseidon_division *division, uint32_t level, uint64_t node, uint64_t *digest)
{
    const struct poseidon_tree *whole = division->tree;
    uint64_t width = 1;
    uint32_t index = 0;

    if (!division->cut || level > division->cut) {
        *digest = whole->level_start[level] + node;
        if (division->cut)
            *digest += poseidon_division_keeps_cut(division)
                           ? poseidon_division_part(division, 0).digest_count -
                                 whole->level_start[division->cut + 1]
                           : 0;
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
