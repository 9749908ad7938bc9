/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a Merkle tree over several devices. The nodes of the cut are in host memory, from where
 * the first device reads them for the top. Where the levels are sharded, they are copied to the
 * first device instead: the host takes no part, so that the calls can be asynchronous.
 */
#include "zk/poseidon/merkle_devices.h"

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/poseidon/run.h"

struct merkle_division {
    struct poseidon_division division;
    /* Of levels that are sharded: where each device's nodes of the cut are, unless they are kept;
     * on the first one all of them, where the top is built. */
    struct operation_reserve nodes[]; /* else host memory, unless they are kept */
};

static pool_status divide(
    const struct merkle_call *call, const struct devices *devices, struct poseidon_division *made)
{
    return poseidon_divide(
        call->frame.name, call->set, &call->tree, call->leaves, call->levels, devices, "", made);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static pool_span levels_of_part(const struct merkle_division *merkle, uint32_t index)
{
    const struct tree_cut *cut = &merkle->division.cut;
    pool_span levels;

    if (cut->is_kept)
        return tree_cut_part_levels(cut, index);
    levels = merkle->division.cut_nodes;
    if (!tree_cut_is_sharded(cut))
        return levels;
    levels.data = (void *)(uintptr_t)merkle->nodes[index].address;
    levels.count = tree_cut_nodes(cut, index);
    return levels;
}

bool merkle_make_part(const void *whole, const struct operation_division *division, uint32_t index,
    uint32_t number, void *user)
{
    const struct merkle_division *merkle = division->memory;
    const struct poseidon_division *parts = &merkle->division;
    const struct tree_cut *cut = &parts->cut;
    struct merkle_call *part = user;
    pool_span *spans = part->frame.part;

    (void)whole;
    spans[MERKLE_LEAVES] = *part->leaves;
    spans[MERKLE_LEVELS] = *part->levels;
    if (!cut->level && tree_cut_is_sharded(cut))
        spans[MERKLE_LEVELS] = *(const pool_span *)part->levels->data;
    if (division->is_joining) {
        part->tree = poseidon_division_top(parts);
        part->frame.work_before = part->frame.work - poseidon_tree_work(&part->tree);
        part->first_leaf = 0;
        spans[MERKLE_LEAVES] = parts->cut_nodes;
        spans[MERKLE_LEVELS] = tree_cut_top_levels(cut, part->tree.digest_count);
    } else if (cut->level) {
        part->tree = poseidon_division_part(parts, index);
        part->first_leaf += parts->first_leaf[index];
        spans[MERKLE_LEAVES] = devices_part(
            parts->leaves, part->frame.item[MERKLE_LEAVES].bytes, index, parts->first_leaf);
        spans[MERKLE_LEVELS] = levels_of_part(merkle, index);
    }
    part->leaves = &spans[MERKLE_LEAVES];
    part->levels = &spans[MERKLE_LEVELS];
    return !number && part->leaves->count && (cut->level || !index);
}

/* ---- levels in shards ------------------------------------------------------------------------ */

static uint64_t cut_bytes(const struct tree_cut *cut, uint32_t index)
{
    const uint64_t nodes = !index         ? cut->first[cut->devices->count]
                           : cut->is_kept ? 0
                                          : tree_cut_nodes(cut, index);

    return memory_scratch_bytes(nodes * cut->digest_bytes);
}

/* The nodes that the part has built become the device's among those of the first device. */
static pool_status gather_nodes(
    const struct merkle_division *merkle, uint32_t index, pool_stream *stream)
{
    const struct tree_cut *cut = &merkle->division.cut;
    const struct exec_target target = {.device = cut->devices->device[index], .stream = stream};
    const pool_span levels = levels_of_part(merkle, index);
    const uint64_t digest = cut->digest_bytes, bytes = tree_cut_nodes(cut, index) * digest;
    const CUdeviceptr from = (CUdeviceptr)(uintptr_t)levels.data +
                             (cut->is_kept ? tree_cut_start(cut, index) * digest : 0);
    const uint64_t to = cut->first[index] * digest;
    pool_buffer *view = NULL;
    pool_status status;

    if (from == merkle->nodes[0].address + to)
        return POOL_OK;
    status = pool_buffer_adopt(target.device, from, bytes, &view);
    if (!status)
        status = pool_copy_device(merkle->nodes[0].buffer, to, view, 0, bytes, stream);
    return scratch_free(&target, &view, status);
}

static pool_status build_part(void *user, uint32_t index, const pool_exec *given)
{
    const struct operation_division *division = user;
    struct merkle_division *merkle = division->memory;
    const struct tree_cut *cut = &merkle->division.cut;
    struct operation_reserve *nodes = &merkle->nodes[index];
    pool_status status = POOL_OK;
    pool_exec exec;

    if (!tree_cut_nodes(cut, index))
        return POOL_OK;
    if (index)
        status = operation_reserve(division->call, division->reserved[index], given, nodes);
    exec = operation_reserve_exec(nodes, given);
    if (!status)
        status = operation_compute_part(division, index, &exec);
    if (!status)
        status = gather_nodes(merkle, index, given->stream);
    return index ? operation_reserve_end(nodes, status) : status;
}

static pool_status build_shards(struct operation_division *division)
{
    const struct operation_call *call = division->call;
    const pool_exec given = devices_exec(&division->devices, &call->exec, 0);
    struct merkle_division *merkle = division->memory;
    struct operation_reserve *nodes = &merkle->nodes[0];
    const struct parts parts = {.call = call->name,
        .exec = &call->exec,
        .devices = &division->devices,
        .total = call->work,
        .only_enqueues = division->only_enqueues,
        .meet = true,
        .compute = build_part,
        .user = division};
    pool_status status = operation_reserve(call, division->reserved[0], &given, nodes);
    const pool_exec exec = operation_reserve_exec(nodes, &given);

    merkle->division.cut_nodes.data = (void *)(uintptr_t)nodes->address;
    if (!status)
        status = parts_run(&parts);
    division->is_joining = true;
    if (!status)
        status = operation_compute_part(division, 0, &exec);
    status = operation_reserve_end(nodes, status);
    return nodes->target.stream ? exec_target_end(&nodes->target, call->exec.is_async, status)
                                : status;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Where the nodes of the cut are stored. */
static void set_cut_nodes(struct merkle_division *merkle)
{
    struct poseidon_division *division = &merkle->division;
    const struct tree_cut *cut = &division->cut;
    const uint64_t count = cut->first[cut->devices->count];

    division->cut_nodes = (pool_span){.data = merkle->nodes,
        .count = count,
        .form = cut->levels->form,
        .space = tree_cut_is_sharded(cut) ? POOL_MEMORY_DEVICE : POOL_MEMORY_HOST};
    if (cut->level && cut->is_kept && !tree_cut_is_sharded(cut))
        division->cut_nodes = span_slice(
            cut->levels, cut->digest_bytes, division->tree->level_start[cut->level], count);
}

pool_status merkle_divide(void *user, struct operation_division *division)
{
    const struct merkle_call *call = user;
    const bool is_sharded = call->levels->space == POOL_MEMORY_SHARDED;
    uint64_t bytes = is_sharded ? division->devices.count * sizeof(struct operation_reserve) : 0;
    struct poseidon_division made;
    struct merkle_division *merkle;
    pool_status status;

    if (!is_sharded && call->frame.exec.is_async)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: `is_async` is not supported with `device_count` %u unless `levels` is sharded; it "
            "must be 0",
            call->frame.name, division->devices.count);
    status = divide(call, &division->devices, &made);
    if (status)
        return status;
    if (!is_sharded && made.cut.level && !made.cut.is_kept && !call->frame.is_forecast)
        bytes = call->tree.level_nodes[made.cut.level] * made.cut.digest_bytes;
    merkle = division->memory = base_calloc(1, sizeof(*merkle) + bytes);
    if (!merkle)
        return base_fail_memory("a level of a tree");
    merkle->division = made;
    set_cut_nodes(merkle);
    division->joins = made.cut.level != 0;
    division->only_enqueues = call->leaves->space == POOL_MEMORY_SHARDED && is_sharded;
    if (!made.cut.level || !is_sharded)
        return POOL_OK;
    division->run = build_shards;
    for (uint32_t i = 0; i < division->devices.count; i++)
        division->reserved[i] = cut_bytes(&merkle->division.cut, i);
    return POOL_OK;
}

pool_status merkle_count_shards(void *user)
{
    struct merkle_call *call = user;
    struct poseidon_division division;
    struct devices devices;
    pool_status status = devices_read_for_shards(call->frame.name, &call->frame.exec, &devices);

    if (!status)
        status = devices_check_span(call->frame.name, &devices, call->leaves, "leaves");
    if (!status)
        status = divide(call, &devices, &division);
    if (!status)
        tree_cut_count(&division.cut, call->digests);
    return status;
}
