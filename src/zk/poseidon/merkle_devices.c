/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a Merkle tree over several devices whose levels are in host memory; merkle_shards.c is
 * for levels that stay on the devices.
 */
#include "zk/poseidon/merkle_devices.h"

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/poseidon/run.h"

static const pool_span *levels_of_part(const struct poseidon_division *division)
{
    return poseidon_division_keeps_cut(division) ? division->levels : &division->cut_nodes;
}

static pool_status build_part(void *user, uint32_t index, const pool_exec *given)
{
    const struct poseidon_division *division = user;
    const struct poseidon_tree part = poseidon_division_part(division, index);
    const pool_span leaves = poseidon_division_leaves(division, index);
    const struct poseidon_operand in = {&leaves, part.leaf_elements, "leaves"};
    struct progress progress = {.call = division->call};
    pool_exec exec;
    pool_status status;

    if (!leaves.count)
        return POOL_OK;
    status = poseidon_read_exec(division->call, division->set, given, &exec);
    progress.exec = &exec;
    progress.total = poseidon_tree_work(&part);
    if (!status)
        status = poseidon_check_operand(division->call, division->set->field, &exec, &in);
    if (!status)
        status = poseidon_check_data(division->call, &in);
    return status ? status
                  : poseidon_device_merkle_build(division->set, &exec, &part, &leaves,
                        division->first_index + division->first_leaf[index],
                        levels_of_part(division), &progress);
}

static pool_status build_top(const struct poseidon_division *division)
{
    const pool_exec given = devices_exec(&division->devices, division->exec, 0);
    struct progress progress = {
        .call = division->call, .total = poseidon_tree_work(division->tree)};
    const struct poseidon_tree top = poseidon_division_top(division);
    const pool_span levels = poseidon_division_top_levels(division, &top);
    pool_exec exec;
    pool_status status = poseidon_read_exec(division->call, division->set, &given, &exec);

    progress.exec = &exec;
    progress.done = progress.reported = progress.total - poseidon_tree_work(&top);
    return status ? status
                  : poseidon_device_merkle_build(
                        division->set, &exec, &top, &division->cut_nodes, 0, &levels, &progress);
}

/* Where the nodes of the cut are stored; *nodes, if they are not among the kept levels. */
static pool_status set_cut_nodes(
    struct poseidon_division *division, bool allocates, uint8_t **nodes)
{
    const uint64_t count = division->tree->level_nodes[division->cut];
    const size_t bytes = poseidon_division_digest_bytes(division);

    if (poseidon_division_keeps_cut(division)) {
        division->cut_nodes = poseidon_span_slice(
            division->levels, bytes, division->tree->level_start[division->cut], count);
        return POOL_OK;
    }
    if (allocates)
        *nodes = base_calloc(count, bytes);
    division->cut_nodes =
        (pool_span){.data = *nodes, .count = count, .form = division->levels->form};
    return allocates && !*nodes ? base_fail_memory("a level of a tree") : POOL_OK;
}

/* Of a tree that the first device builds alone. */
static const pool_span *levels_of_first(const struct poseidon_division *division)
{
    return poseidon_division_is_sharded(division) ? division->levels->data : division->levels;
}

static pool_status build_on_first(const struct poseidon_division *division)
{
    const pool_exec given = devices_exec(&division->devices, division->exec, 0);
    struct progress progress = {
        .call = division->call, .total = poseidon_tree_work(division->tree)};
    pool_exec exec;
    pool_status status = poseidon_read_exec(division->call, division->set, &given, &exec);

    progress.exec = &exec;
    return status
               ? status
               : poseidon_device_merkle_build(division->set, &exec, division->tree,
                     division->leaves, division->first_index, levels_of_first(division), &progress);
}

/* ---- forecast -------------------------------------------------------------------------------- */

static pool_status forecast_device(const struct poseidon_division *division, uint32_t index,
    struct progress *progress, uint64_t *bytes)
{
    const struct poseidon_tree part = poseidon_division_part(division, index);
    const pool_span leaves = poseidon_division_leaves(division, index);
    uint64_t of_top = 0;
    pool_status status = POOL_OK;

    if (!division->cut)
        return index ? POOL_OK
                     : poseidon_device_merkle_forecast(division->set, division->tree,
                           division->leaves, levels_of_first(division), progress, bytes);
    if (part.leaves)
        status = poseidon_device_merkle_forecast(
            division->set, &part, &leaves, levels_of_part(division), progress, bytes);
    if (!status && !index) {
        const struct poseidon_tree top = poseidon_division_top(division);
        const pool_span levels = poseidon_division_top_levels(division, &top);

        status = poseidon_device_merkle_forecast(
            division->set, &top, &division->cut_nodes, &levels, progress, &of_top);
        *bytes = base_max(*bytes, of_top);
    }
    return status;
}

/* What each device allocates, or its workspace must have; for a division whose cut nodes are set.
 */
static pool_status forecast(const struct poseidon_division *division, uint64_t *needed)
{
    struct progress progress = {.call = division->call};
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < division->devices.count && !status; i++) {
        const pool_exec given = devices_exec(&division->devices, division->exec, i);
        pool_exec exec;

        needed[i] = 0;
        progress.exec = &exec;
        status = poseidon_read_exec(division->call, division->set, &given, &exec);
        if (!status)
            status = forecast_device(division, i, &progress, &needed[i]);
    }
    return status;
}

static pool_status forecast_division(struct poseidon_division *division, uint64_t *needed)
{
    uint8_t *none = NULL;
    pool_status status = POOL_OK;

    if (division->cut && poseidon_division_is_sharded(division))
        return poseidon_shards_merkle_forecast(division, needed);
    if (division->cut)
        status = set_cut_nodes(division, false, &none);
    return status ? status : forecast(division, needed);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static pool_status check_workspaces(struct poseidon_division *division)
{
    uint64_t needed[EXEC_MAX_DEVICES];
    pool_status status;

    if (!division->exec->workspaces)
        return POOL_OK;
    status = forecast_division(division, needed);
    return status ? status
                  : devices_check_workspaces(
                        division->call, &division->devices, division->exec, needed);
}

static pool_status build_to_host(struct poseidon_division *division)
{
    const struct parts parts = {.call = division->call,
        .exec = division->exec,
        .devices = &division->devices,
        .total = poseidon_tree_work(division->tree),
        .compute = build_part,
        .user = division};
    uint8_t *nodes = NULL;
    pool_status status = set_cut_nodes(division, true, &nodes);

    if (!status)
        status = parts_run(&parts);
    if (!status)
        status = build_top(division);
    base_free(nodes);
    return status;
}

pool_status poseidon_devices_merkle_build(const char *call, const pool_poseidon *set,
    const pool_exec *exec, const struct poseidon_tree *tree, const pool_span *leaves,
    uint64_t first_leaf, const pool_span *levels)
{
    struct poseidon_division division;
    pool_status status = poseidon_divide(call, set, exec, tree, leaves, levels, "", &division);

    division.first_index = first_leaf;
    if (!status)
        status = check_workspaces(&division);
    if (status)
        return status;
    if (!division.cut)
        return build_on_first(&division);
    return poseidon_division_is_sharded(&division) ? poseidon_shards_merkle_build(&division)
                                                   : build_to_host(&division);
}

pool_status poseidon_devices_merkle_forecast(const char *call, const pool_poseidon *set,
    const pool_exec *exec, const struct poseidon_tree *tree, const pool_span *leaves,
    const pool_span *levels, uint64_t *bytes)
{
    uint64_t needed[EXEC_MAX_DEVICES];
    struct poseidon_division division;
    pool_status status = poseidon_divide(call, set, exec, tree, leaves, levels, "", &division);

    if (!status)
        status = forecast_division(&division, needed);
    for (uint32_t i = 0; !status && i < division.devices.count; i++)
        bytes[i] = needed[i];
    return status;
}

pool_status poseidon_devices_merkle_shards(const char *call, const pool_poseidon *set,
    const pool_exec *exec, const struct poseidon_tree *tree, const pool_span *leaves,
    uint64_t *digests)
{
    struct poseidon_division division;
    pool_status status = poseidon_divide(call, set, exec, tree, leaves, NULL, "", &division);

    if (!status)
        poseidon_division_count(&division, digests);
    return status;
}
