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

    devices_divide(division->cut.devices, &matrix->span, 1, rows);
    for (uint32_t i = 0; i <= division->cut.devices->count; i++) {
        rows[i] <<= level;
        if (*by != UINT32_MAX && rows[i] != first[i])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: shard %u of matrix %u begins at row %llu of the tallest matrices, that of "
                "matrix %u at row %llu; shards of rows must have the same parts of the tree",
                division->cut.call, i, index, (unsigned long long)rows[i], *by,
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
    struct tree_cut *cut = &division->cut;
    uint32_t by = UINT32_MAX, least = 0;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < tree->count && !status; i++)
        if (is_sharded_by_rows(&tree->matrices[i])) {
            status = read_rows(division, i, &by, cut->first);
            least = (uint32_t)base_max(least, commit_matrix_level(tree, &tree->matrices[i]));
        }
    division->has_row_shards = by != UINT32_MAX;
    if (status || !division->has_row_shards)
        return status;
    cut->level = (uint32_t)base_max(cut->level, least);
    for (uint32_t i = 0; i <= cut->devices->count; i++)
        if (cut->first[i])
            cut->level = (uint32_t)base_min(cut->level, (uint32_t)__builtin_ctzll(cut->first[i]));
    for (uint32_t i = 0; i <= cut->devices->count; i++)
        cut->first[i] >>= cut->level;
    return POOL_OK;
}

static pool_status choose_cut(struct commit_division *division)
{
    const struct commit_tree *tree = division->tree;
    struct tree_cut *cut = &division->cut;
    const uint32_t count = cut->devices->count;
    pool_status status;

    cut->level = highest_level(tree, (uint64_t)POSEIDON_SUBTREES * count);
    if (!cut->level)
        cut->level = highest_level(tree, count);
    status = fit_rows(division);
    if (!status && !division->has_row_shards)
        devices_split(cut->devices, commit_level_nodes(tree, cut->level), 1, cut->first);
    cut->is_kept = cut->level >= tree->first_level;
    for (uint32_t i = 0; i < count && cut->is_kept; i++) {
        const uint64_t nodes = tree_cut_nodes(cut, i);

        cut->kept[i] = (nodes << (cut->level - tree->first_level + 1)) - nodes;
    }
    return status;
}

pool_status commit_divide(const char *call, const pool_span *levels, const struct devices *devices,
    struct commit_division *division)
{
    pool_status status;

    division->cut = (struct tree_cut){.call = call,
        .shards_call = "pool_matrix_commit_shards",
        .devices = devices,
        .levels = levels,
        .digest_bytes = division->tree->digest_bytes,
        .digest_count = division->tree->digest_count};
    status = commit_check_shards(division);
    return status ? status : choose_cut(division);
}

static pool_status check_level_data(const struct tree_cut *cut)
{
    const pool_span *shards = cut->levels->data;

    for (uint32_t i = 0; i < cut->devices->count && tree_cut_is_sharded(cut); i++)
        if (shards[i].count && !shards[i].data)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: the data of shard %u of `levels` must not be NULL", cut->call, i);
    return POOL_OK;
}

pool_status commit_connect(struct commit_division *division)
{
    pool_status status = tree_cut_check_shards(&division->cut, "");

    if (!status && division->has_data)
        status = check_level_data(&division->cut);
    return status ? status : commit_link_devices(division);
}

/* ---- parts ----------------------------------------------------------------------------------- */

struct commit_devices {
    struct commit_division division;
    unsigned char nodes[]; /* of the cut, packed */
};

/* Where a part's levels are stored. */
static pool_span levels_of_part(const struct commit_devices *run, uint32_t index)
{
    const struct tree_cut *cut = &run->division.cut;

    return cut->is_kept ? tree_cut_part_levels(cut, index)
                        : (pool_span){.data = (void *)(uintptr_t)run->nodes,
                              .count = cut->first[cut->devices->count],
                              .form = cut->levels->form};
}

/* From the shards; all parts have ended. */
static pool_status download_nodes(struct commit_devices *run)
{
    const struct tree_cut *cut = &run->division.cut;
    const size_t digest = cut->digest_bytes;
    const pool_span *shards = cut->levels->data;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < cut->devices->count && !status; i++) {
        const pool_exec exec = devices_exec(cut->devices, run->division.exec, i);

        if (tree_cut_nodes(cut, i))
            status = poseidon_device_read(&exec,
                span_item_at(&shards[i], digest, tree_cut_start(cut, i)),
                run->nodes + cut->first[i] * digest, tree_cut_nodes(cut, i) * digest);
    }
    return status;
}

/* The top's leaves are packed, the kept levels may have gaps. */
static pool_status gather_nodes(struct commit_devices *run)
{
    const struct commit_tree *tree = run->division.tree;
    const struct tree_cut *cut = &run->division.cut;
    const uint64_t start = commit_level_start(tree, cut->level);

    if (!cut->is_kept)
        return POOL_OK;
    if (tree_cut_is_sharded(cut))
        return download_nodes(run);
    for (uint64_t i = 0; i < commit_level_nodes(tree, cut->level); i++)
        memcpy(run->nodes + i * tree->digest_bytes,
            span_item_at(cut->levels, tree->digest_bytes, start + i), tree->digest_bytes);
    return POOL_OK;
}

bool commit_make_part(const void *call, const struct operation_division *division, uint32_t index,
    uint32_t number, void *part)
{
    const struct commit_devices *run = division->memory;

    (void)call, (void)part;
    return !number && (division->is_joining || tree_cut_nodes(&run->division.cut, index));
}

pool_status commit_open_part(void *user, const struct operation_division *division, uint32_t index)
{
    struct commit_devices *run = division->memory;
    const struct commit_division *parts = &run->division;
    struct commit_call *part = user;
    struct commit_part opened = {.memory = NULL};
    pool_span *levels = &part->frame.part[0];
    pool_status status = POOL_OK;

    if (division->is_joining && !part->frame.is_forecast)
        status = gather_nodes(run);
    if (!status)
        status = division->is_joining
                     ? commit_top_open(parts, run->nodes, &opened)
                     : commit_part_open(parts, index, parts->cut.level, parts->cut.first[index],
                           tree_cut_nodes(&parts->cut, index), &opened);
    part->frame.host_memory = opened.memory;
    if (status)
        return status;
    if (division->is_joining)
        part->frame.work_before = part->frame.work - commit_work(&opened.tree);
    *levels = division->is_joining ? tree_cut_top_levels(&parts->cut, opened.tree.digest_count)
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
    struct commit_division made = {.tree = tree,
        .exec = &call->frame.exec,
        .has_data = !call->frame.is_forecast && !call->extensions}; /* not yet computed */
    pool_status status = commit_divide(call->frame.name, call->levels, &division->devices, &made);
    const uint32_t level = made.cut.level;
    const bool has_nodes = !status && !call->frame.is_forecast && level < tree->height;

    if (status)
        return status;
    run = base_calloc(
        1, sizeof(*run) + (has_nodes ? commit_level_nodes(tree, level) : 0) * tree->digest_bytes);
    if (!run)
        return base_fail_memory("a level of a tree");
    run->division = made;
    division->memory = run;
    division->joins = level < tree->height;
    return commit_connect(&run->division);
}

pool_status commit_count_call(void *user)
{
    const struct commit_call *call = user;
    struct devices devices;
    struct commit_division division = {.tree = &call->tree, .exec = &call->frame.exec};
    pool_status status = devices_read_for_shards(call->frame.name, &call->frame.exec, &devices);

    for (uint32_t i = 0; i < call->count && !status; i++) {
        struct operation_operand operand;

        commit_list_matrix(&call->tree, i, &operand);
        status = devices_check_span(call->frame.name, &devices, operand.span, operand.name);
    }
    if (!status)
        status = commit_check_matrices(call->frame.name, &call->tree);
    if (!status)
        status = commit_divide(call->frame.name, NULL, &devices, &division);
    if (!status)
        tree_cut_count(&division.cut, call->digests);
    return status;
}
