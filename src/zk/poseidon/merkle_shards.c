/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a Merkle tree over several devices whose levels stay there: each device's shard has the
 * kept levels of its subtrees, and that of the first device those of the top behind them. The nodes
 * of the cut are copied to the first device. The host takes no part, so that the calls can be
 * asynchronous.
 */
#include "zk/poseidon/merkle_devices.h"

#include "base/math.h"
#include "base/status.h"
#include "zk/operation/workspace.h"
#include "zk/poseidon/run.h"

/*
 * Nodes of the cut on a device: on the first one all of them, where the top is built; on another
 * one its own, if the kept levels do not have them. They take the beginning of a workspace.
 */
struct cut_memory {
    struct exec_target target;
    struct workspace workspace;
    pool_buffer *nodes;
    CUdeviceptr address;
    pool_buffer *rest; /* of the workspace; NULL: nothing is left, or there is none */
};

struct shards_run {
    const struct poseidon_division *division;
    struct cut_memory first;
};

static uint64_t cut_bytes(const struct poseidon_division *division, uint32_t index)
{
    const uint64_t nodes = !index ? division->tree->level_nodes[division->cut]
                           : poseidon_division_keeps_cut(division)
                               ? 0
                               : poseidon_division_part(division, index).level_nodes[division->cut];

    return memory_scratch_bytes(nodes * poseidon_division_digest_bytes(division));
}

static pool_status check_limit(
    const struct poseidon_division *division, uint32_t index, const pool_exec *exec)
{
    const uint64_t bytes = cut_bytes(division, index), limit = exec_limit(exec);

    return bytes > limit ? exec_fail_limit(division->call, limit, bytes) : POOL_OK;
}

static uint64_t less(uint64_t limit, uint64_t bytes)
{
    return limit > bytes ? limit - bytes : 1;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static pool_status check_workspace(const struct poseidon_division *division, uint32_t index,
    const pool_exec *exec, const pool_span *leaves)
{
    const struct poseidon_tree *tree = division->tree;
    const pool_span *shards = division->levels->data;
    const struct workspace_span spans[] = {
        {leaves->space == POOL_MEMORY_DEVICE ? leaves : NULL,
            (uint64_t)tree->leaf_elements * division->set->field->bytes, "leaves"},
        {&shards[index], poseidon_division_digest_bytes(division), "levels"}};

    return workspace_check_spans(division->call, exec, spans, 2);
}

static pool_status take_rest(struct cut_memory *memory, const pool_exec *exec, uint64_t bytes)
{
    const uint64_t rest = exec->workspace ? pool_buffer_bytes(exec->workspace) - bytes : 0;
    CUdeviceptr address;

    return rest >= MEMORY_SCRATCH_ALIGNMENT
               ? scratch_allocate(&memory->target,
                     rest / MEMORY_SCRATCH_ALIGNMENT * MEMORY_SCRATCH_ALIGNMENT, &memory->rest,
                     &address)
               : POOL_OK;
}

/* The caller closes it, also after a failure. */
static pool_status open_memory(const struct poseidon_division *division, uint32_t index,
    const pool_exec *given, struct cut_memory *memory)
{
    const uint64_t bytes = cut_bytes(division, index);
    const pool_span leaves = poseidon_division_leaves(division, index);
    pool_exec exec;
    pool_status status = poseidon_read_exec(division->call, division->set, given, &exec);

    *memory = (struct cut_memory){.nodes = NULL};
    if (!status)
        status = check_limit(division, index, &exec);
    if (!status)
        status = exec_target_init(&memory->target, &exec);
    if (!status)
        status = workspace_open(&memory->workspace, division->call, &exec, bytes, &memory->target);
    if (!status)
        status = check_workspace(division, index, &exec, &leaves);
    if (!status && bytes)
        status = scratch_allocate(&memory->target, bytes, &memory->nodes, &memory->address);
    return status ? status : take_rest(memory, &exec, bytes);
}

static pool_status close_memory(struct cut_memory *memory, pool_status status)
{
    status = scratch_free(&memory->target, &memory->rest, status);
    return scratch_free(&memory->target, &memory->nodes, status);
}

/* The exec of a build with what the nodes of the cut leave. */
static pool_status read_exec(const struct poseidon_division *division, uint32_t index,
    const pool_exec *given, const struct cut_memory *memory, pool_exec *exec)
{
    pool_exec part = *given;

    part.workspace = memory->rest;
    if (part.memory_limit)
        part.memory_limit = less(part.memory_limit, cut_bytes(division, index));
    return poseidon_read_exec(division->call, division->set, &part, exec);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static pool_span levels_of_part(
    const struct poseidon_division *division, uint32_t index, CUdeviceptr nodes)
{
    const pool_span *shards = division->levels->data;
    const struct poseidon_tree part = poseidon_division_part(division, index);
    pool_span levels = shards[index];

    levels.count = part.digest_count;
    if (!poseidon_division_keeps_cut(division))
        levels.data = (void *)(uintptr_t)nodes;
    return levels;
}

/* The nodes that the part has built become the device's among those of the first device. */
static pool_status gather_nodes(const struct shards_run *run, uint32_t index,
    const pool_span *levels, const struct exec_target *target)
{
    const struct poseidon_division *division = run->division;
    const struct poseidon_tree part = poseidon_division_part(division, index);
    const uint64_t digest = poseidon_division_digest_bytes(division);
    const uint64_t bytes = part.level_nodes[division->cut] * digest;
    const uint64_t first = division->first_leaf[index] / poseidon_division_subtree_leaves(division);
    const CUdeviceptr from =
        (CUdeviceptr)(uintptr_t)levels->data + part.level_start[division->cut] * digest;
    pool_buffer *view = NULL;
    pool_status status;

    if (from == run->first.address + first * digest)
        return POOL_OK;
    status = pool_buffer_adopt(target->device, from, bytes, &view);
    if (!status)
        status = pool_copy_device(run->first.nodes, first * digest, view, 0, bytes, target->stream);
    return scratch_free(target, &view, status);
}

static pool_status build_part_in(const struct shards_run *run, uint32_t index,
    const pool_exec *given, const struct cut_memory *memory)
{
    const struct poseidon_division *division = run->division;
    const struct poseidon_tree part = poseidon_division_part(division, index);
    const pool_span leaves = poseidon_division_leaves(division, index);
    const pool_span levels = levels_of_part(division, index, memory->address);
    const struct poseidon_operand in = {&leaves, part.leaf_elements, "leaves"};
    struct exec_target target = {.device = memory->target.device, .stream = given->stream};
    struct progress progress = {.call = division->call, .total = poseidon_tree_work(&part)};
    pool_exec exec;
    pool_status status = read_exec(division, index, given, memory, &exec);

    progress.exec = &exec;
    if (!status)
        status = poseidon_check_operand(division->call, division->set->field, &exec, &in);
    if (!status)
        status = poseidon_check_data(division->call, &in);
    if (!status)
        status = poseidon_device_merkle_build(division->set, &exec, &part, &leaves,
            division->first_index + division->first_leaf[index], &levels, &progress);
    return status ? status : gather_nodes(run, index, &levels, &target);
}

static pool_status build_part(void *user, uint32_t index, const pool_exec *given)
{
    struct shards_run *run = user;
    struct cut_memory own;
    pool_status status;

    if (run->division->first_leaf[index] == run->division->first_leaf[index + 1])
        return POOL_OK;
    if (!index)
        return build_part_in(run, 0, given, &run->first);
    status = open_memory(run->division, index, given, &own);
    if (!status)
        status = build_part_in(run, index, given, &own);
    return close_memory(&own, status);
}

static pool_status build_top(const struct shards_run *run, const pool_exec *given)
{
    const struct poseidon_division *division = run->division;
    struct progress progress = {
        .call = division->call, .total = poseidon_tree_work(division->tree)};
    const struct poseidon_tree top = poseidon_division_top(division);
    const pool_span levels = poseidon_division_top_levels(division, &top);
    pool_exec exec;
    pool_status status = read_exec(division, 0, given, &run->first, &exec);

    progress.exec = &exec;
    progress.done = progress.reported = progress.total - poseidon_tree_work(&top);
    return status ? status
                  : poseidon_device_merkle_build(
                        division->set, &exec, &top, &division->cut_nodes, 0, &levels, &progress);
}

static pool_span cut_nodes_at(const struct poseidon_division *division, CUdeviceptr address)
{
    return (pool_span){.data = (void *)(uintptr_t)address,
        .count = division->tree->level_nodes[division->cut],
        .form = division->levels->form,
        .space = POOL_MEMORY_DEVICE};
}

/* ---- calls ----------------------------------------------------------------------------------- */

pool_status poseidon_shards_merkle_build(struct poseidon_division *division)
{
    const pool_exec given = devices_exec(&division->devices, division->exec, 0);
    struct shards_run run = {.division = division};
    const struct parts parts = {.call = division->call,
        .exec = division->exec,
        .devices = &division->devices,
        .total = poseidon_tree_work(division->tree),
        .only_enqueues = division->leaves->space == POOL_MEMORY_SHARDED,
        .meet = true,
        .compute = build_part,
        .user = &run};
    pool_status status = open_memory(division, 0, &given, &run.first);

    division->cut_nodes = cut_nodes_at(division, run.first.address);
    if (!status)
        status = parts_run(&parts);
    if (!status)
        status = build_top(&run, &given);
    status = close_memory(&run.first, status);
    return run.first.target.stream
               ? exec_target_end(&run.first.target, division->exec->is_async, status)
               : status;
}

static pool_status forecast_device(
    const struct poseidon_division *division, uint32_t index, uint64_t *bytes)
{
    const pool_exec given = devices_exec(&division->devices, division->exec, index);
    const struct poseidon_tree part = poseidon_division_part(division, index);
    const pool_span leaves = poseidon_division_leaves(division, index);
    const pool_span levels = levels_of_part(division, index, 0);
    const uint64_t reserved = cut_bytes(division, index);
    struct progress progress = {.call = division->call};
    uint64_t of_part = 0, of_top = 0;
    pool_exec exec;
    pool_status status = poseidon_read_exec(division->call, division->set, &given, &exec);

    progress.exec = &exec;
    if (!status && (part.leaves || !index))
        status = check_limit(division, index, &exec);
    if (!status && exec.memory_limit)
        exec.memory_limit = less(exec.memory_limit, reserved);
    if (!status && part.leaves)
        status = poseidon_device_merkle_forecast(
            division->set, &part, &leaves, &levels, &progress, &of_part);
    if (!status && !index) {
        const struct poseidon_tree top = poseidon_division_top(division);
        const pool_span top_levels = poseidon_division_top_levels(division, &top);

        status = poseidon_device_merkle_forecast(
            division->set, &top, &division->cut_nodes, &top_levels, &progress, &of_top);
    }
    *bytes = (part.leaves || !index ? reserved : 0) + base_max(of_part, of_top);
    return status;
}

pool_status poseidon_shards_merkle_forecast(struct poseidon_division *division, uint64_t *bytes)
{
    pool_status status = POOL_OK;

    division->cut_nodes = cut_nodes_at(division, 0);
    for (uint32_t i = 0; i < division->devices.count && !status; i++)
        status = forecast_device(division, i, &bytes[i]);
    return status;
}
