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

    devices_divide(&division->devices, &matrix->span, 1, rows);
    for (uint32_t i = 0; i <= division->devices.count; i++) {
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
    for (uint32_t i = 0; i <= division->devices.count; i++)
        if (division->first[i])
            division->cut =
                (uint32_t)base_min(division->cut, (uint32_t)__builtin_ctzll(division->first[i]));
    for (uint32_t i = 0; i <= division->devices.count; i++)
        division->first[i] >>= division->cut;
    return POOL_OK;
}

static pool_status choose_cut(struct commit_division *division)
{
    const struct commit_tree *tree = division->tree;
    const uint32_t count = division->devices.count;
    pool_status status;

    division->cut = highest_level(tree, (uint64_t)POSEIDON_SUBTREES * count);
    if (!division->cut)
        division->cut = highest_level(tree, count);
    status = fit_rows(division);
    if (!status && !division->has_row_shards)
        devices_split(
            &division->devices, commit_level_nodes(tree, division->cut), 1, division->first);
    return status;
}

pool_status commit_divide(struct commit_division *division)
{
    pool_status status = devices_read(division->call, division->exec, &division->devices);

    if (!status)
        status = commit_check_shards(division);
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

    for (uint32_t i = 0; i < division->devices.count; i++)
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

pool_status commit_check_level_space(
    const struct commit_division *division, const pool_span *levels)
{
    if (levels->space != POOL_MEMORY_HOST && levels->space != POOL_MEMORY_SHARDED)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %d for `space` of `levels`; with `device_count` %u it must be "
            "POOL_MEMORY_HOST or POOL_MEMORY_SHARDED",
            division->call, (int)levels->space, division->exec->device_count);
    return levels->space == POOL_MEMORY_HOST && division->has_data && !levels->data
               ? base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: the data of `levels` must not be NULL",
                     division->call)
               : POOL_OK;
}

pool_status commit_check_level_shards(
    const struct commit_division *division, const pool_span *levels)
{
    const pool_span *shards = levels->data;
    uint64_t wanted[EXEC_MAX_DEVICES];
    pool_status status;

    if (levels->space != POOL_MEMORY_SHARDED)
        return POOL_OK;
    status = devices_check_span(division->call, &division->devices, levels, "levels");
    if (status)
        return status;
    commit_count_shards(division, wanted);
    for (uint32_t i = 0; i < division->devices.count; i++) {
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

/* ---- parts ----------------------------------------------------------------------------------- */

struct devices_run {
    struct commit_division division;
    const pool_span *levels;
    unsigned char *nodes; /* of the cut, packed */
};

/* Where a part's levels are stored. */
static pool_span levels_of_part(const struct devices_run *run, uint32_t index)
{
    const struct commit_division *division = &run->division;
    const pool_span *shards = run->levels->data;

    if (commit_keeps_cut(division) && run->levels->space == POOL_MEMORY_SHARDED)
        return poseidon_span_slice(
            &shards[index], division->tree->digest_bytes, 0, kept_digests(division, index));
    if (commit_keeps_cut(division))
        return *run->levels;
    return (pool_span){.data = run->nodes,
        .count = commit_level_nodes(division->tree, division->cut),
        .form = run->levels->form};
}

static uint64_t less(uint64_t limit, uint64_t reserved)
{
    return limit > reserved ? limit - reserved : 1;
}

/* While the call runs, what is left of a lease's budget does not contain reserved memory. */
pool_status commit_part_exec(
    const struct commit_division *division, const pool_exec *given, uint32_t index, pool_exec *exec)
{
    const uint64_t reserved = division->reserved ? division->reserved[index] : 0;
    pool_exec part = *given;
    pool_status status;

    if (division->has_data && part.memory_limit)
        part.memory_limit = less(part.memory_limit, reserved);
    status = exec_read(division->call, &part, &commit_exec_rules, exec);
    if (!status && !division->has_data && exec->memory_limit)
        exec->memory_limit = less(exec->memory_limit, reserved);
    return status;
}

static pool_status compute(const struct devices_run *run, uint32_t index,
    const struct commit_part *part, const pool_exec *given, const pool_span *levels, uint64_t done)
{
    struct progress progress = {.call = run->division.call, .done = done, .reported = done};
    struct exec_target site;
    pool_exec exec;
    pool_status status = commit_part_exec(&run->division, given, index, &exec);

    progress.exec = &exec;
    progress.total = done + commit_work(&part->tree);
    if (!status)
        status = commit_init_site(run->division.call, &part->tree, &exec, levels, &site);
    if (!status) /* whether the call was cancelled */
        status = progress_add(&progress, 0);
    return status ? status : commit_compute(&part->tree, &site, levels, &progress);
}

static pool_status compute_part(void *user, uint32_t index, const pool_exec *exec)
{
    const struct devices_run *run = user;
    const struct commit_division *division = &run->division;
    const pool_span levels = levels_of_part(run, index);
    struct commit_part part;
    pool_status status;

    if (!nodes_of(division, index))
        return POOL_OK;
    status = commit_part_open(
        division, index, division->cut, division->first[index], nodes_of(division, index), &part);
    if (!status)
        status = compute(run, index, &part, exec, &levels, 0);
    commit_part_close(&part);
    return status;
}

/* The top's leaves are packed, the kept levels may have gaps. */
static void copy_nodes(const struct devices_run *run)
{
    const struct commit_tree *tree = run->division.tree;
    const uint64_t start = commit_level_start(tree, run->division.cut);

    for (uint64_t i = 0; i < commit_level_nodes(tree, run->division.cut); i++)
        memcpy(run->nodes + i * tree->digest_bytes,
            poseidon_span_item(run->levels, tree->digest_bytes, start + i), tree->digest_bytes);
}

/* From the shards; all parts have ended. */
static pool_status download_nodes(const struct devices_run *run)
{
    const struct commit_division *division = &run->division;
    const size_t digest = division->tree->digest_bytes;
    const pool_span *shards = run->levels->data;
    struct base_error_copy first;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < division->devices.count && !status; i++) {
        const uint64_t bytes = nodes_of(division, i) * digest;
        pool_buffer *view = NULL;

        if (!bytes)
            continue;
        status = pool_buffer_adopt(division->devices.device[i],
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

static pool_status gather_nodes(const struct devices_run *run)
{
    if (!commit_keeps_cut(&run->division))
        return POOL_OK;
    if (run->levels->space == POOL_MEMORY_SHARDED)
        return download_nodes(run);
    copy_nodes(run);
    return POOL_OK;
}

static pool_status compute_top(const struct devices_run *run)
{
    const struct commit_division *division = &run->division;
    const pool_exec exec = devices_exec(&division->devices, division->exec, 0);
    struct commit_part top;
    pool_span levels;
    pool_status status;

    if (division->cut == division->tree->height)
        return POOL_OK;
    status = gather_nodes(run);
    if (status)
        return status;
    status = commit_top_open(division, run->nodes, &top);
    levels = commit_top_levels(division, run->levels, &top.tree);
    if (!status)
        status = compute(
            run, 0, &top, &exec, &levels, commit_work(division->tree) - commit_work(&top.tree));
    commit_part_close(&top);
    return status;
}

static pool_status allocate_nodes(struct devices_run *run)
{
    const struct commit_tree *tree = run->division.tree;

    if (run->division.cut == tree->height)
        return POOL_OK;
    run->nodes = base_calloc(commit_level_nodes(tree, run->division.cut), tree->digest_bytes);
    return run->nodes ? POOL_OK : base_fail_memory("a level of a tree");
}

/* ---- forecast -------------------------------------------------------------------------------- */

static pool_status forecast_part(const struct devices_run *run, uint32_t index,
    const struct commit_part *part, bool has_shard, uint64_t *bytes)
{
    const struct commit_division *division = &run->division;
    const pool_exec given = devices_exec(&division->devices, division->exec, index);
    const pool_span levels = {.space = has_shard && run->levels->space == POOL_MEMORY_SHARDED
                                           ? POOL_MEMORY_DEVICE
                                           : POOL_MEMORY_HOST};
    uint64_t needed = 0;
    pool_exec exec;
    pool_status status = commit_part_exec(division, &given, index, &exec);

    if (!status)
        status = commit_forecast(division->call, &part->tree, &exec, &levels, &needed);
    *bytes = base_max(*bytes, needed);
    return status;
}

static pool_status forecast_index(const struct devices_run *run, uint32_t index, uint64_t *bytes)
{
    const struct commit_division *division = &run->division;
    struct commit_part part;
    pool_status status;

    *bytes = 0;
    if (nodes_of(division, index)) {
        status = commit_part_open(division, index, division->cut, division->first[index],
            nodes_of(division, index), &part);
        if (!status)
            status = forecast_part(run, index, &part, commit_keeps_cut(division), bytes);
        commit_part_close(&part);
        if (status)
            return status;
    }
    if (index || division->cut == division->tree->height)
        return POOL_OK;
    /* Only whether there are leaves matters. */
    status = commit_top_open(division, (const unsigned char *)"", &part);
    if (!status)
        status = forecast_part(run, 0, &part, true, bytes);
    commit_part_close(&part);
    return status;
}

static pool_status forecast(const struct devices_run *run, uint64_t *needed)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->division.devices.count && !status; i++)
        status = forecast_index(run, i, &needed[i]);
    return status;
}

static pool_status check_workspaces(const struct devices_run *run)
{
    const struct commit_division *division = &run->division;
    uint64_t needed[EXEC_MAX_DEVICES];
    pool_status status;

    if (!division->exec->workspaces)
        return POOL_OK;
    status = forecast(run, needed);
    return status ? status
                  : devices_check_workspaces(
                        division->call, &division->devices, division->exec, needed);
}

/* ---- calls ----------------------------------------------------------------------------------- */

pool_status commit_devices_run(const char *call, const struct commit_tree *tree,
    const pool_exec *exec, const pool_span *levels, const uint64_t *reserved)
{
    struct devices_run run = {.division = {.call = call,
                                  .tree = tree,
                                  .exec = exec,
                                  .has_data = true,
                                  .reserved = reserved},
        .levels = levels};
    const struct parts parts = {.exec = exec,
        .devices = &run.division.devices,
        .total = commit_work(tree),
        .compute = compute_part,
        .user = &run};
    pool_status status = commit_check_level_space(&run.division, levels);

    if (!status)
        status = commit_divide(&run.division);
    if (!status)
        status = commit_check_level_shards(&run.division, levels);
    if (!status)
        status = commit_link_devices(&run.division);
    if (!status)
        status = check_workspaces(&run);
    if (!status)
        status = allocate_nodes(&run);
    if (!status)
        status = parts_run(&parts);
    if (!status)
        status = compute_top(&run);
    base_free(run.nodes);
    return status;
}

pool_status commit_devices_forecast(const char *call, const struct commit_tree *tree,
    const pool_exec *exec, const pool_span *levels, const uint64_t *reserved, uint64_t *bytes)
{
    struct devices_run run = {
        .division = {.call = call, .tree = tree, .exec = exec, .reserved = reserved},
        .levels = levels};
    uint64_t needed[EXEC_MAX_DEVICES];
    pool_status status = commit_check_level_space(&run.division, levels);

    if (!status)
        status = commit_divide(&run.division);
    if (!status)
        status = commit_check_level_shards(&run.division, levels);
    if (!status)
        status = commit_link_devices(&run.division);
    if (!status)
        status = forecast(&run, needed);
    for (uint32_t i = 0; !status && i < run.division.devices.count; i++)
        bytes[i] = needed[i];
    return status;
}

pool_status commit_devices_shards(
    const char *call, const struct commit_tree *tree, const pool_exec *exec, uint64_t *digests)
{
    struct commit_division division = {.call = call, .tree = tree, .exec = exec};
    pool_status status = commit_divide(&division);

    if (!status)
        commit_count_shards(&division, digests);
    return status;
}
