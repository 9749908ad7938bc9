/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a Merkle tree: validation, and the host's implementation level by level.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/operation/timeout.h"
#include "zk/poseidon/arguments.h"
#include "zk/poseidon/host.h"
#include "zk/poseidon/merkle.h"

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

static pool_status build_on_host(const pool_poseidon *set, const struct poseidon_tree *tree,
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

/* Reads everything but the spans' data. The caller frees the tree after POOL_OK. */
static pool_status read_call(const char *call, const pool_poseidon *set, const pool_exec *given,
    const pool_merkle_params *params, const pool_span *leaves, const pool_span *levels,
    pool_exec *exec, struct poseidon_tree *tree)
{
    pool_status status = poseidon_read_exec(call, set, given, exec);

    if (!status)
        status = base_check_pointers(call, {"leaves", leaves});
    if (!status)
        status = poseidon_tree_init(call, set, params, leaves->count, tree);
    if (status)
        return status;
    const struct poseidon_operand in = {leaves, tree->leaf_elements, "leaves"};
    const struct poseidon_operand out = {levels, set->digest_elements, "levels"};
    status = poseidon_check_operands(call, set->field, exec, &in, &out, tree->digest_count);
    if (status)
        poseidon_tree_free(tree);
    return status;
}

pool_status poseidon_merkle_build(const pool_poseidon *set, const pool_exec *given,
    const pool_merkle_params *params, const pool_span *leaves, uint64_t first_leaf,
    const pool_span *levels)
{
    static const char call[] = "pool_poseidon_merkle_build";
    const struct poseidon_operand in = {leaves, 0, "leaves"}, out = {levels, 0, "levels"};
    struct poseidon_tree tree;
    struct progress progress;
    pool_exec exec;
    pool_status status = read_call(call, set, given, params, leaves, levels, &exec, &tree);

    if (status)
        return status;
    status = poseidon_check_data(call, &in);
    if (!status)
        status = poseidon_check_data(call, &out);
    if (!status && exec.on_host && exec.checks)
        status = poseidon_host_check(set, leaves, tree.leaf_elements, first_leaf, "leaves");
    progress = (struct progress){.call = call, .exec = &exec, .total = poseidon_tree_work(&tree)};
    if (!status)
        poseidon_tree_compute_padding(set, &tree);
    if (!status && exec.device_count)
        status = poseidon_devices_merkle_build(call, set, &exec, &tree, leaves, first_leaf, levels);
    else if (!status && exec.on_host)
        status = build_on_host(set, &tree, leaves, levels, &progress);
    else if (!status)
        status =
            poseidon_device_merkle_build(set, &exec, &tree, leaves, first_leaf, levels, &progress);
    poseidon_tree_free(&tree);
    return status;
}

static pool_status poseidon_merkle_build_timed(void *const *a)
{
    return pool_poseidon_merkle_build(a[0], a[1], a[2], a[3], a[4]);
}

pool_status pool_poseidon_merkle_build(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, const pool_span *levels)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(poseidon_merkle_build_timed, NULL, TIMED_POINTER(set), TIMED_EXEC(exec),
            TIMED_PARAMS(params), TIMED_SPAN(leaves), TIMED_SPAN(levels));
    EXEC_SCOPE(exec);
    return poseidon_merkle_build(set, exec, params, leaves, 0, levels);
}

pool_status poseidon_merkle_forecast(const char *call, const pool_poseidon *set,
    const pool_exec *given, const pool_merkle_params *params, const pool_span *leaves,
    const pool_span *levels, uint64_t *bytes)
{
    struct poseidon_tree tree;
    pool_exec exec;
    struct progress progress = {.call = call, .exec = &exec};
    pool_status status = read_call(call, set, given, params, leaves, levels, &exec, &tree);

    if (status)
        return status;
    if (exec.on_host)
        *bytes = 0;
    else if (exec.device_count)
        status = poseidon_devices_merkle_forecast(call, set, &exec, &tree, leaves, levels, bytes);
    else
        status = poseidon_device_merkle_forecast(set, &tree, leaves, levels, &progress, bytes);
    poseidon_tree_free(&tree);
    return status;
}

pool_status pool_poseidon_merkle_build_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, const pool_span *levels,
    uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    return bytes ? poseidon_merkle_forecast(__func__, set, exec, params, leaves, levels, bytes)
                 : base_fail_null(__func__, "bytes");
}

static pool_status poseidon_merkle_shards_timed(void *const *a)
{
    return pool_poseidon_merkle_shards(a[0], a[1], a[2], a[3], a[4]);
}

pool_status pool_poseidon_merkle_shards(const pool_poseidon *set, const pool_exec *given,
    const pool_merkle_params *params, const pool_span *leaves, uint64_t *digests)
{
    if (exec_has_timeout(given))
        return TIMED_RUN(poseidon_merkle_shards_timed, NULL, TIMED_POINTER(set), TIMED_EXEC(given),
            TIMED_PARAMS(params), TIMED_SPAN(leaves), TIMED_POINTER(digests));
    EXEC_SCOPE(given);
    struct poseidon_tree tree;
    pool_exec exec;
    pool_status status = base_check_pointers(__func__, {"leaves", leaves}, {"digests", digests});

    if (!status)
        status = poseidon_read_exec(__func__, set, given, &exec);
    if (!status && !exec.device_count)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0 for `device_count`; levels have shards over several devices",
            __func__);
    if (!status)
        status = poseidon_tree_init(__func__, set, params, leaves->count, &tree);
    if (status)
        return status;
    const struct poseidon_operand in = {leaves, tree.leaf_elements, "leaves"};
    status = poseidon_check_operand(__func__, set->field, &exec, &in);
    if (!status)
        status = poseidon_devices_merkle_shards(__func__, set, &exec, &tree, leaves, digests);
    poseidon_tree_free(&tree);
    return status;
}
