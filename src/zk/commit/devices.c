/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_matrix_commit over several devices: see devices.h. Levels are in host memory or in shards.
 */
#include "zk/commit/devices.h"

#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/poseidon/run.h"

/* ---- division -------------------------------------------------------------------------------- */

/* The highest level with `nodes` nodes; 0: none. */
static uint32_t highest_level(const struct commit_tree *tree, uint64_t nodes)
{
    uint32_t level = tree->height;

    while (level > 0 && commit_level_nodes(tree, level) < nodes)
        level--;
    return level;
}

static bool is_sharded_by_rows(const pool_matrix *matrix)
{
    return matrix->span.space == POOL_MEMORY_SHARDED && matrix->layout == POOL_MATRIX_ROWS;
}

/* The first row of each device in the shards of a matrix, in rows of the tallest matrices. */
static pool_status read_rows(
    const struct commit_division *division, uint32_t index, uint32_t *by, uint64_t *first)
{
    const pool_matrix *matrix = &division->tree->matrices[index];
    const uint32_t level = commit_matrix_level(division->tree, matrix);
    uint64_t rows[EXEC_MAX_DEVICES + 1];

    devices_divide(division->devices, &matrix->span, 1, rows);
    for (uint32_t i = 0; i <= division->devices->count; i++) {
        rows[i] <<= level;
        if (*by != UINT32_MAX && rows[i] != first[i])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: shard %u of matrix %u begins at row %llu of the tallest matrices, that of "
                "matrix %u at row %llu; shards of rows must have the same parts of the tree",
                division->call, i, index, (unsigned long long)rows[i], *by,
                (unsigned long long)first[i]);
        first[i] = rows[i];
    }
    *by = index;
    return POOL_OK;
}

/* The cut of shards of rows, which end between subtrees, and not above their matrices' levels. */
static pool_status fit_rows(struct commit_division *division)
{
    const struct commit_tree *tree = division->tree;
    uint32_t by = UINT32_MAX, least = 0;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < tree->count && !status; i++)
        if (is_sharded_by_rows(&tree->matrices[i])) {
            status = read_rows(division, i, &by, division->first);
            least = (uint32_t)base_max(least, commit_matrix_level(tree, &tree->matrices[i]));
        }
    division->has_row_shards = by != UINT32_MAX;
    if (status || !division->has_row_shards)
        return status;
    division->cut = (uint32_t)base_max(division->cut, least);
    for (uint32_t i = 0; i <= division->devices->count; i++)
        if (division->first[i])
            division->cut =
                (uint32_t)base_min(division->cut, (uint32_t)__builtin_ctzll(division->first[i]));
    for (uint32_t i = 0; i <= division->devices->count; i++)
        division->first[i] >>= division->cut;
    return POOL_OK;
}

static pool_status choose_cut(struct commit_division *division)
{
    const struct commit_tree *tree = division->tree;
    const uint32_t count = division->devices->count;
    pool_status status;

    division->cut = highest_level(tree, (uint64_t)POSEIDON_SUBTREES * count);
    if (!division->cut)
        division->cut = highest_level(tree, count);
    status = fit_rows(division);
    if (!status && !division->has_row_shards)
        devices_split(
            division->devices, commit_level_nodes(tree, division->cut), 1, division->first);
    return status;
}

pool_status commit_divide(struct commit_division *division)
{
    pool_status status = commit_check_shards(division);

    return status ? status : choose_cut(division);
}

/* ---- levels in shards ------------------------------------------------------------------------ */

bool commit_keeps_cut(const struct commit_division *division)
{
    return division->cut >= division->tree->first_level;
}

static uint64_t nodes_of(const struct commit_division *division, uint32_t index)
{
    return division->first[index + 1] - division->first[index];
}

/* Of a device's subtrees. */
static uint64_t kept_digests(const struct commit_division *division, uint32_t index)
{
    return commit_keeps_cut(division)
               ? commit_first_of_cut(division, index) + nodes_of(division, index)
               : 0;
}

uint64_t commit_first_of_cut(const struct commit_division *division, uint32_t index)
{
    const uint64_t nodes = nodes_of(division, index);

    return (nodes << (division->cut - division->tree->first_level + 1)) - 2 * nodes;
}

void commit_count_shards(const struct commit_division *division, uint64_t *digests)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < division->devices->count; i++)
        all += digests[i] = kept_digests(division, i);
    digests[0] += division->tree->digest_count - all;
}

pool_span commit_top_levels(
    const struct commit_division *division, const pool_span *levels, const struct commit_tree *top)
{
    const pool_span *shards = levels->data;

    return levels->space == POOL_MEMORY_SHARDED ? poseidon_span_slice(&shards[0], top->digest_bytes,
                                                      kept_digests(division, 0), top->digest_count)
                                                : *levels;
}

static pool_status check_level_shards(
    const struct commit_division *division, const pool_span *levels)
{
    const pool_span *shards = levels->data;
    uint64_t wanted[EXEC_MAX_DEVICES];

    if (levels->space != POOL_MEMORY_SHARDED)
        return POOL_OK;
    commit_count_shards(division, wanted);
    for (uint32_t i = 0; i < division->devices->count; i++) {
        if (shards[i].count != wanted[i])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: shard %u of `levels` has %llu digests; pool_matrix_commit_shards reports %llu",
                division->call, i, (unsigned long long)shards[i].count,
                (unsigned long long)wanted[i]);
        if (shards[i].stride && shards[i].stride != division->tree->digest_bytes)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: unsupported value %llu for `stride` of shard %u of `levels`; it must be 0",
                division->call, (unsigned long long)shards[i].stride, i);
        if (division->has_data && wanted[i] && !shards[i].data)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: the data of shard %u of `levels` must not be NULL", division->call, i);
    }
    return POOL_OK;
}

pool_status commit_connect(struct commit_division *division, const pool_span *levels)
{
    pool_status status = check_level_shards(division, levels);

    return status ? status : commit_link_devices(division);
}

/* ---- parts ----------------------------------------------------------------------------------- */

struct commit_devices {
    struct commit_division division;
    const pool_span *levels;
    unsigned char nodes[]; /* of the cut, packed */
};

/* Where a part's levels are stored. */
static pool_span levels_of_part(const struct commit_devices *run, uint32_t index)
{
    const struct commit_division *division = &run->division;
    const pool_span *shards = run->levels->data;

    if (commit_keeps_cut(division) && run->levels->space == POOL_MEMORY_SHARDED)
        return poseidon_span_slice(
            &shards[index], division->tree->digest_bytes, 0, kept_digests(division, index));
    if (commit_keeps_cut(division))
        return *run->levels;
    return (pool_span){.data = (void *)(uintptr_t)run->nodes,
        .count = commit_level_nodes(division->tree, division->cut),
        .form = run->levels->form};
}

/* The top's leaves are packed, the kept levels may have gaps. */
static void copy_nodes(struct commit_devices *run)
{
    const struct commit_tree *tree = run->division.tree;
    const uint64_t start = commit_level_start(tree, run->division.cut);

    for (uint64_t i = 0; i < commit_level_nodes(tree, run->division.cut); i++)
        memcpy(run->nodes + i * tree->digest_bytes,
            poseidon_span_item(run->levels, tree->digest_bytes, start + i), tree->digest_bytes);
}

/* From the shards; all parts have ended. */
static pool_status download_nodes(struct commit_devices *run)
{
    const struct commit_division *division = &run->division;
    const size_t digest = division->tree->digest_bytes;
    const pool_span *shards = run->levels->data;
    struct base_error_copy first;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < division->devices->count && !status; i++) {
        const uint64_t bytes = nodes_of(division, i) * digest;
        pool_buffer *view = NULL;

        if (!bytes)
            continue;
        status = pool_buffer_adopt(division->devices->device[i],
            (CUdeviceptr)(uintptr_t)shards[i].data + commit_first_of_cut(division, i) * digest,
            bytes, &view);
        if (!status)
            status =
                pool_copy_to_host(run->nodes + division->first[i] * digest, view, 0, bytes, NULL);
        base_error_save(&first);
        (void)pool_buffer_destroy(&view);
        if (status)
            base_error_restore(&first);
    }
    return status;
}

static pool_status gather_nodes(struct commit_devices *run)
{
    if (!commit_keeps_cut(&run->division))
        return POOL_OK;
    if (run->levels->space == POOL_MEMORY_SHARDED)
        return download_nodes(run);
    copy_nodes(run);
    return POOL_OK;
}

bool commit_make_part(const void *call, const struct operation_division *division, uint32_t index,
    uint32_t number, void *part)
{
    const struct commit_devices *run = division->memory;

    (void)call, (void)part;
    return !number && (division->is_joining || nodes_of(&run->division, index));
}

pool_status commit_open_part(void *user, const struct operation_division *division, uint32_t index)
{
    struct commit_devices *run = division->memory;
    const struct commit_division *cut = &run->division;
    struct commit_call *part = user;
    struct commit_part opened = {.memory = NULL};
    pool_span *levels = &part->frame.part[0];
    pool_status status = POOL_OK;

    if (division->is_joining && !part->frame.is_forecast)
        status = gather_nodes(run);
    if (!status)
        status = division->is_joining ? commit_top_open(cut, run->nodes, &opened)
                                      : commit_part_open(cut, index, cut->cut, cut->first[index],
                                            nodes_of(cut, index), &opened);
    part->frame.host_memory = opened.memory;
    if (status)
        return status;
    if (division->is_joining)
        part->frame.work_before = part->frame.work - commit_work(&opened.tree);
    *levels = division->is_joining ? commit_top_levels(cut, run->levels, &opened.tree)
                                   : levels_of_part(run, index);
    part->tree = opened.tree;
    part->levels = levels;
    return POOL_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

pool_status commit_divide_call(void *user, struct operation_division *division)
{
    const struct commit_call *call = user;
    const struct commit_tree *tree = &call->tree;
    struct commit_devices *run;
    struct commit_division cut = {.call = call->frame.name,
        .tree = tree,
        .exec = &call->frame.exec,
        .devices = &division->devices,
        .has_data = !call->frame.is_forecast && !call->extensions}; /* not yet computed */
    pool_status status = commit_divide(&cut);
    const bool has_nodes = !status && !call->frame.is_forecast && cut.cut < tree->height;

    if (status)
        return status;
    run = base_calloc(
        1, sizeof(*run) + (has_nodes ? commit_level_nodes(tree, cut.cut) : 0) * tree->digest_bytes);
    if (!run)
        return base_fail_memory("a level of a tree");
    run->division = cut;
    run->levels = call->levels;
    division->memory = run;
    division->joins = cut.cut < tree->height;
    return commit_connect(&run->division, call->levels);
}

pool_status commit_count_call(void *user)
{
    const struct commit_call *call = user;
    struct devices devices;
    struct commit_division division = {.call = call->frame.name,
        .tree = &call->tree,
        .exec = &call->frame.exec,
        .devices = &devices};
    pool_status status;

    if (!call->frame.exec.device_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0 for `device_count`; levels have shards over several devices",
            call->frame.name);
    status = devices_read(call->frame.name, &call->frame.exec, &devices);
    for (uint32_t i = 0; i < call->count && !status; i++) {
        struct operation_operand operand;

        commit_list_matrix(&call->tree, i, &operand);
        status = devices_check_span(call->frame.name, &devices, operand.span, operand.name);
    }
    if (!status)
        status = commit_check_matrices(call->frame.name, &call->tree);
    if (!status)
        status = commit_divide(&division);
    if (!status)
        commit_count_shards(&division, call->digests);
    return status;
}
