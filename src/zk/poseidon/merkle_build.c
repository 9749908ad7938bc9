/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a Merkle tree: its arguments, and the host's implementation level by level.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/poseidon/host.h"
#include "zk/poseidon/merkle.h"
#include "zk/poseidon/run.h"

/* The digests of all leaves, in limbs. */
static pool_status compute_leaf_level(const pool_poseidon *set, const struct poseidon_tree *tree,
    const pool_span *leaves, uint64_t *digests, struct progress *progress)
{
    size_t limbs = (size_t)set->digest_elements * set->field->limbs;
    uint64_t *leaf = base_calloc(tree->leaf_elements, set->field->limbs * sizeof(*leaf));
    pool_status status = POOL_OK;

    if (!leaf)
        return base_fail_memory("a leaf");
    for (uint64_t index = 0; index < tree->leaves && !status; index++) {
        poseidon_load_item(set, leaves, tree->leaf_elements, index, leaf);
        poseidon_leaf_digest(set, tree, leaf, digests + index * limbs);
        if (tree->hashes_leaves || tree->height == 0)
            status = progress_add(progress, tree->height == 0 && tree->hashes_leaves ? 2 : 1);
    }
    base_free(leaf);
    return status;
}

/* Computes level `level` + 1 from level `level` in place: a parent is never stored after its
 * children. */
static pool_status compute_next_level(const pool_poseidon *set, const struct poseidon_tree *tree,
    uint32_t level, uint64_t *digests, struct progress *progress)
{
    size_t limbs = (size_t)set->digest_elements * set->field->limbs;
    uint64_t nodes = tree->level_nodes[level];
    uint64_t children[POSEIDON_STATE_LIMBS];
    pool_status status = POOL_OK;

    for (uint64_t parent = 0; parent < tree->level_nodes[level + 1] && !status; parent++) {
        uint64_t rest = nodes - parent * tree->arity;

        for (uint32_t i = 0; i < tree->arity; i++) {
            uint64_t child = parent * tree->arity + i;
            const uint64_t *digest =
                child < nodes ? digests + child * limbs : tree->padding + level * limbs;

            memcpy(children + i * limbs, digest, limbs * sizeof(*children));
        }
        poseidon_hash_one(
            set, children, tree->arity * set->digest_elements, digests + parent * limbs);
        status = progress_add(progress, base_min(rest, tree->arity));
    }
    return status;
}

static void store_level(const pool_poseidon *set, const struct poseidon_tree *tree, uint32_t level,
    const uint64_t *digests, const pool_span *levels)
{
    size_t limbs = (size_t)set->digest_elements * set->field->limbs;

    if (level < tree->first_level)
        return;
    for (uint64_t i = 0; i < tree->level_nodes[level]; i++)
        poseidon_store_item(
            set, levels, set->digest_elements, tree->level_start[level] + i, digests + i * limbs);
}

static pool_status build_levels(const pool_poseidon *set, const struct poseidon_tree *tree,
    const pool_span *leaves, const pool_span *levels, struct progress *progress)
{
    size_t limbs = (size_t)set->digest_elements * set->field->limbs;
    uint64_t *digests = base_calloc(tree->leaves, limbs * sizeof(*digests));
    pool_status status;

    if (!digests)
        return base_fail_memory("a level of a tree");
    status = compute_leaf_level(set, tree, leaves, digests, progress);
    if (!status)
        store_level(set, tree, 0, digests, levels);
    for (uint32_t level = 0; level < tree->height && !status; level++) {
        status = compute_next_level(set, tree, level, digests, progress);
        if (!status)
            store_level(set, tree, level + 1, digests, levels);
    }
    base_free(digests);
    return status;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static pool_status read_tree(void *user)
{
    struct merkle_call *call = user;
    pool_status status = poseidon_tree_init(
        call->frame.name, call->set, &call->params, call->leaves->count, &call->tree);

    call->frame.host_memory = call->tree.padding;
    return status;
}

static void set_items(void *user)
{
    struct merkle_call *call = user;

    call->frame.subject = call->set->name;
    call->frame.items = call->leaves->count;
    call->frame.work = call->frame.work_before + poseidon_tree_work(&call->tree);
    call->frame.item[MERKLE_LEAVES] = poseidon_item(call->set, call->tree.leaf_elements);
    call->frame.item[MERKLE_LEVELS] = poseidon_item(call->set, call->set->digest_elements);
}

static pool_status check_space(void *user)
{
    struct merkle_call *call = user;
    pool_status status =
        poseidon_check_space(&call->frame, call->levels, "levels", call->tree.digest_count);

    if (status || call->frame.is_forecast || call->has_padding)
        return status;
    poseidon_tree_compute_padding(call->set, &call->tree);
    call->has_padding = true;
    return POOL_OK;
}

static pool_status build_on_host(void *user)
{
    struct merkle_call *call = user;
    pool_status status = call->frame.exec.checks
                             ? poseidon_host_check(call->set, call->leaves,
                                   call->tree.leaf_elements, call->first_leaf, "leaves")
                             : POOL_OK;

    return status ? status
                  : build_levels(
                        call->set, &call->tree, call->leaves, call->levels, &call->frame.progress);
}

#define ARGUMENTS                                                                                  \
    {.name = "set", .at = offsetof(struct merkle_call, set)},                                      \
        {"params", offsetof(struct merkle_call, given), OPERATION_PARAMS,                          \
            .type = &poseidon_merkle_params_type,                                                  \
            .copy_at = offsetof(struct merkle_call, params)},                                      \
    {                                                                                              \
        "leaves", offsetof(struct merkle_call, leaves), OPERATION_SPAN, .operand = "leaves"        \
    }

static const struct operation building = {.counter = "merkle",
    .call_bytes = sizeof(struct merkle_call),
    .rules = {POSEIDON_EXEC_RULES},
    .arguments = {ARGUMENTS,
        {"levels", offsetof(struct merkle_call, levels), OPERATION_SPAN, .operand = "levels"}},
    .read = read_tree,
    .prepare = set_items,
    .check = check_space,
    .plan = merkle_plan,
    .run = merkle_run,
    .on_host = build_on_host,
    .divide = merkle_divide,
    .part = merkle_make_part};

static const struct operation counting = {.call_bytes = sizeof(struct merkle_call),
    .rules = {POSEIDON_EXEC_RULES},
    .arguments = {ARGUMENTS, {.name = "digests", .at = offsetof(struct merkle_call, digests)}},
    .read = read_tree,
    .prepare = set_items,
    .run = merkle_count_shards,
    .on_host = merkle_count_shards};

/* ---- public ---------------------------------------------------------------------------------- */

pool_status poseidon_merkle_build(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, uint64_t first_leaf,
    const pool_span *levels)
{
    struct merkle_call call = {
        .frame = {.operation = &building, .name = "pool_poseidon_merkle_build", .given = exec},
        .set = set,
        .given = params,
        .leaves = leaves,
        .levels = levels,
        .first_leaf = first_leaf};

    return operation_run(&call.frame);
}

pool_status pool_poseidon_merkle_build(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, const pool_span *levels)
{
    return poseidon_merkle_build(set, exec, params, leaves, 0, levels);
}

pool_status poseidon_merkle_forecast(const char *name, const pool_poseidon *set,
    const pool_exec *exec, const pool_merkle_params *params, const pool_span *leaves,
    const pool_span *levels, uint64_t *bytes)
{
    struct merkle_call call = {.frame = {.operation = &building, .name = name, .given = exec},
        .set = set,
        .given = params,
        .leaves = leaves,
        .levels = levels};

    return operation_forecast(&call.frame, bytes);
}

pool_status pool_poseidon_merkle_build_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, const pool_span *levels,
    uint64_t *bytes)
{
    return poseidon_merkle_forecast(__func__, set, exec, params, leaves, levels, bytes);
}

pool_status pool_poseidon_merkle_shards(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, uint64_t *digests)
{
    struct merkle_call call = {.frame = OPERATION_CALL(&counting, exec),
        .set = set,
        .given = params,
        .leaves = leaves,
        .digests = digests};

    call.frame.is_forecast = true; /* data is not read */
    return operation_run(&call.frame);
}
