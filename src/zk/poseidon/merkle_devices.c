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
    struct poseidon_division cut;
    /* Of levels that are sharded: where each device's nodes of the cut are, unless they are kept;
     * on the first one all of them, where the top is built. */
    struct operation_reserve nodes[]; /* else host memory, unless they are kept */
};

static struct poseidon_division division_of(
    const struct merkle_call *call, const struct devices *devices)
{
    return (struct poseidon_division){.call = call->frame.name,
        .set = call->set,
        .exec = &call->frame.exec,
        .tree = &call->tree,
        .leaves = call->leaves,
        .levels = call->levels,
        .devices = devices};
}

/* ---- parts ----------------------------------------------------------------------------------- */

static pool_span levels_of_part(const struct merkle_division *merkle, uint32_t index)
{
    const struct poseidon_division *cut = &merkle->cut;
    const bool keeps_cut = poseidon_division_keeps_cut(cut);
    const pool_span *shards = cut->levels->data;
    pool_span levels;

    if (!poseidon_division_is_sharded(cut))
        return keeps_cut ? *cut->levels : cut->cut_nodes;
    levels = shards[index];
    levels.count = poseidon_division_part(cut, index).digest_count;
    if (!keeps_cut)
        levels.data = (void *)(uintptr_t)merkle->nodes[index].address;
    return levels;
}

bool merkle_make_part(const void *whole, const struct operation_division *division, uint32_t index,
    uint32_t number, void *user)
{
    const struct merkle_division *merkle = division->memory;
    const struct poseidon_division *cut = &merkle->cut;
    struct merkle_call *part = user;
    pool_span *spans = part->frame.part;

    (void)whole;
    spans[MERKLE_LEAVES] = *part->leaves;
    spans[MERKLE_LEVELS] = *part->levels;
    if (!cut->cut && poseidon_division_is_sharded(cut))
        spans[MERKLE_LEVELS] = *(const pool_span *)part->levels->data;
    if (division->is_joining) {
        part->tree = poseidon_division_top(cut);
        part->frame.work_before = part->frame.work - poseidon_tree_work(&part->tree);
        part->first_leaf = 0;
        spans[MERKLE_LEAVES] = cut->cut_nodes;
        spans[MERKLE_LEVELS] = poseidon_division_top_levels(cut, &part->tree);
    } else if (cut->cut) {
        part->tree = poseidon_division_part(cut, index);
        part->first_leaf += cut->first_leaf[index];
        spans[MERKLE_LEAVES] = poseidon_division_leaves(cut, index);
        spans[MERKLE_LEVELS] = levels_of_part(merkle, index);
    }
    part->leaves = &spans[MERKLE_LEAVES];
    part->levels = &spans[MERKLE_LEVELS];
    return !number && part->leaves->count && (cut->cut || !index);
}

/* ---- levels in shards ------------------------------------------------------------------------ */

static uint64_t cut_bytes(const struct poseidon_division *cut, uint32_t index)
{
    const uint64_t nodes = !index ? cut->tree->level_nodes[cut->cut]
                           : poseidon_division_keeps_cut(cut)
                               ? 0
                               : poseidon_division_part(cut, index).level_nodes[cut->cut];

    return memory_scratch_bytes(nodes * poseidon_division_digest_bytes(cut));
}

static bool has_leaves(const struct poseidon_division *cut, uint32_t index)
{
    return cut->first_leaf[index] < cut->first_leaf[index + 1];
}

/* The nodes that the part has built become the device's among those of the first device. */
static pool_status gather_nodes(
    const struct merkle_division *merkle, uint32_t index, pool_stream *stream)
{
    const struct poseidon_division *cut = &merkle->cut;
    const struct exec_target target = {.device = cut->devices->device[index], .stream = stream};
    const struct poseidon_tree part = poseidon_division_part(cut, index);
    const pool_span levels = levels_of_part(merkle, index);
    const uint64_t digest = poseidon_division_digest_bytes(cut);
    const uint64_t bytes = part.level_nodes[cut->cut] * digest;
    const uint64_t first = cut->first_leaf[index] / poseidon_division_subtree_leaves(cut);
    const CUdeviceptr from =
        (CUdeviceptr)(uintptr_t)levels.data + part.level_start[cut->cut] * digest;
    pool_buffer *view = NULL;
    pool_status status;

    if (from == merkle->nodes[0].address + first * digest)
        return POOL_OK;
    status = pool_buffer_adopt(target.device, from, bytes, &view);
    if (!status)
        status = pool_copy_device(merkle->nodes[0].buffer, first * digest, view, 0, bytes, stream);
    return scratch_free(&target, &view, status);
}

static pool_status build_part(void *user, uint32_t index, const pool_exec *given)
{
    const struct operation_division *division = user;
    struct merkle_division *merkle = division->memory;
    struct operation_reserve *nodes = &merkle->nodes[index];
    pool_status status = POOL_OK;
    pool_exec exec;

    if (!has_leaves(&merkle->cut, index))
        return POOL_OK;
    if (index)
        status = operation_reserve(division->call, cut_bytes(&merkle->cut, index), given, nodes);
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
    pool_status status = operation_reserve(call, cut_bytes(&merkle->cut, 0), &given, nodes);
    const pool_exec exec = operation_reserve_exec(nodes, &given);

    merkle->cut.cut_nodes.data = (void *)(uintptr_t)nodes->address;
    if (!status)
        status = parts_run(&parts);
    division->is_joining = true;
    if (!status)
        status = operation_compute_part(division, 0, &exec);
    status = operation_reserve_end(nodes, status);
    return nodes->target.stream ? exec_target_end(&nodes->target, call->exec.is_async, status)
                                : status;
}

static pool_status forecast_device(
    struct operation_division *division, uint32_t index, uint64_t *bytes)
{
    const struct merkle_division *merkle = division->memory;
    const pool_exec given = devices_exec(&division->devices, &division->call->exec, index);
    const uint64_t reserved =
        has_leaves(&merkle->cut, index) || !index ? cut_bytes(&merkle->cut, index) : 0;
    uint64_t of_top = 0;
    pool_exec exec;
    pool_status status = operation_reserve_forecast(division->call, reserved, &given, &exec);

    if (!status)
        status = operation_forecast_part(division, index, &exec, bytes);
    division->is_joining = true;
    if (!status && !index)
        status = operation_forecast_part(division, 0, &exec, &of_top);
    division->is_joining = false;
    *bytes = reserved + base_max(*bytes, of_top);
    return status;
}

static pool_status forecast_shards(struct operation_division *division, uint64_t *bytes)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < division->devices.count && !status; i++)
        status = forecast_device(division, i, &bytes[i]);
    return status;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Where the nodes of the cut are stored. */
static void set_cut_nodes(struct merkle_division *merkle)
{
    struct poseidon_division *cut = &merkle->cut;
    const uint64_t count = cut->tree->level_nodes[cut->cut];

    cut->cut_nodes = (pool_span){.data = merkle->nodes,
        .count = count,
        .form = cut->levels->form,
        .space = poseidon_division_is_sharded(cut) ? POOL_MEMORY_DEVICE : POOL_MEMORY_HOST};
    if (cut->cut && poseidon_division_keeps_cut(cut) && !poseidon_division_is_sharded(cut))
        cut->cut_nodes = poseidon_span_slice(cut->levels, poseidon_division_digest_bytes(cut),
            cut->tree->level_start[cut->cut], count);
}

pool_status merkle_divide(void *user, struct operation_division *division)
{
    const struct merkle_call *call = user;
    struct poseidon_division cut = division_of(call, &division->devices);
    const bool is_sharded = poseidon_division_is_sharded(&cut);
    uint64_t bytes = is_sharded ? division->devices.count * sizeof(struct operation_reserve) : 0;
    pool_status status;

    if (!is_sharded && call->frame.exec.is_async)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: `is_async` is not supported with `device_count` %u unless `levels` is sharded; it "
            "must be 0",
            call->frame.name, division->devices.count);
    status = poseidon_divide("", &cut);
    if (status)
        return status;
    if (!is_sharded && cut.cut && !poseidon_division_keeps_cut(&cut) && !call->frame.is_forecast)
        bytes = call->tree.level_nodes[cut.cut] * poseidon_division_digest_bytes(&cut);
    division->memory = base_calloc(1, sizeof(struct merkle_division) + bytes);
    if (!division->memory)
        return base_fail_memory("a level of a tree");
    *(struct poseidon_division *)division->memory = cut;
    set_cut_nodes(division->memory);
    division->joins = cut.cut && !is_sharded;
    division->only_enqueues = call->leaves->space == POOL_MEMORY_SHARDED && is_sharded;
    if (cut.cut && is_sharded) {
        division->run = build_shards;
        division->forecast = forecast_shards;
    }
    return POOL_OK;
}

pool_status merkle_count_shards(void *user)
{
    struct merkle_call *call = user;
    struct devices devices;
    struct poseidon_division cut = division_of(call, &devices);
    pool_status status;

    if (!call->frame.exec.device_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0 for `device_count`; levels have shards over several devices",
            call->frame.name);
    status = devices_read(call->frame.name, &call->frame.exec, &devices);
    if (!status)
        status = devices_check_span(call->frame.name, &devices, call->leaves, "leaves");
    if (!status)
        status = poseidon_divide("", &cut);
    if (!status)
        poseidon_division_count(&cut, call->digests);
    return status;
}
