/* SPDX-License-Identifier: Apache-2.0 */
/* Openings of Merkle trees: the arguments, the table of the operation, and several devices. */
#include "zk/poseidon/merkle_open.h"

#include "base/status.h"
#include "zk/poseidon/run.h"

enum { OPEN_LEAVES, OPEN_LEVELS, OPEN_PATH };

/* ---- steps ----------------------------------------------------------------------------------- */

static pool_status read_opening(void *user)
{
    struct merkle_opening *opening = user;
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
    if (!tree->first_level && !merkle_span_is_sharded(opening->leaves))
        opening->leaves = NULL;
    return POOL_OK;
}

static void set_items(void *user)
{
    struct merkle_opening *opening = user;
    const uint32_t digest = opening->set->digest_elements;

    opening->frame.item[OPEN_LEAVES] = poseidon_item(opening->set, opening->tree.leaf_elements);
    opening->frame.item[OPEN_LEVELS] = opening->frame.item[OPEN_PATH] =
        poseidon_item(opening->set, digest);
}

static pool_status check_spaces(void *user)
{
    const struct merkle_opening *opening = user;
    const struct poseidon_tree *tree = &opening->tree;

    if (opening->levels->count < tree->digest_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `levels` must be the %llu digests of the kept levels, %llu are given",
            opening->frame.name, (unsigned long long)tree->digest_count,
            (unsigned long long)opening->levels->count);
    return poseidon_check_space(
        &opening->frame, opening->path, "path", (uint64_t)tree->height * (tree->arity - 1));
}

static pool_status plan(void *user, uint64_t limit)
{
    struct merkle_opening *opening = user;

    (void)limit;
    return merkle_forecast_path(opening, &opening->frame.memory.bytes);
}

/* ---- several devices ------------------------------------------------------------------------- */

static pool_status forecast_divided(
    struct operation_division *division, uint32_t index, const pool_exec *exec, uint64_t *bytes)
{
    uint64_t needed[EXEC_MAX_DEVICES];
    pool_status status =
        merkle_forecast_path((const struct merkle_opening *)(const void *)division->call, needed);

    (void)exec;
    *bytes = needed[index];
    return status;
}

/* Digests are read once the work of the stream is complete. */
static pool_status wait_for_stream(struct merkle_opening *opening)
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
    struct merkle_opening *opening = user;
    const bool has_shards = merkle_span_is_sharded(opening->leaves);
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

static const struct operation operation = {.call_bytes = sizeof(struct merkle_opening),
    .rules = {POSEIDON_EXEC_RULES},
    .arguments = {{.name = "set", .at = offsetof(struct merkle_opening, set)},
        {"params", offsetof(struct merkle_opening, given), OPERATION_PARAMS,
            .type = &poseidon_merkle_params_type,
            .copy_at = offsetof(struct merkle_opening, params)},
        {"leaves", offsetof(struct merkle_opening, leaves), OPERATION_SPAN, .is_optional = true,
            .operand = "leaves"},
        {"levels", offsetof(struct merkle_opening, levels), OPERATION_SPAN, .operand = "levels"},
        {"path", offsetof(struct merkle_opening, path), OPERATION_SPAN, .operand = "path"}},
    .read = read_opening,
    .prepare = set_items,
    .check = check_spaces,
    .plan = plan,
    .run = merkle_compute_path,
    .on_host = merkle_compute_path,
    .divide = divide};

/* ---- public ---------------------------------------------------------------------------------- */

pool_status pool_poseidon_merkle_open(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path)
{
    struct merkle_opening opening = {.frame = OPERATION_CALL(&operation, exec),
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
    struct merkle_opening opening = {.frame = OPERATION_CALL(&operation, exec),
        .set = set,
        .given = params,
        .leaves = leaves,
        .levels = levels,
        .path = path,
        .leaf_count = leaf_count,
        .index = index};

    return operation_forecast(&opening.frame, bytes);
}
