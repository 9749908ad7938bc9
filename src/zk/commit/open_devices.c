/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Openings over several devices: each device gathers the rows and siblings of the shards in its
 * memory for all indices, and the host puts them together. Subtrees are built again by the device
 * that has their rows, or by the first one.
 */
#include "zk/commit/open.h"

#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/poseidon/run.h"

/* ---- division -------------------------------------------------------------------------------- */

static pool_status check_subtrees(const struct opening *opening)
{
    const struct commit_division *division = opening->division;
    const uint64_t rows = UINT64_C(1) << opening->tree.first_level;

    for (uint32_t i = 0; i < division->cut.devices->count && division->has_row_shards; i++)
        if (commit_first_row(division, i) % rows)
            return base_fail(POOL_ERR_UNSUPPORTED,
                "%s: the shards of rows of device %u begin within the %llu rows of a subtree that "
                "is built again; `kept_levels` must be larger",
                opening->frame.name, i, (unsigned long long)rows);
    return POOL_OK;
}

/* ---- rows in shards -------------------------------------------------------------------------- */

static const pool_span no_levels = {.space = POOL_MEMORY_HOST};

/* An opening of a device's shards, of columns or of rows. */
struct shard_opening {
    struct opening opening;
    pool_matrix *matrices;
    uint64_t *offsets; /* of each one's elements in a packed row of the whole opening, in bytes */
    uint64_t *indices; /* of rows of the shards; 0 for rows of other devices */
};

static void add_shard(
    const struct opening *whole, uint32_t index, uint32_t device, struct shard_opening *part)
{
    const pool_matrix *matrix = &whole->tree.matrices[index];
    const pool_span *shards = matrix->span.data;
    const bool has_rows = matrix->layout == POOL_MATRIX_ROWS;
    struct commit_tree *tree = &part->opening.tree;
    pool_matrix *shard = &part->matrices[tree->count];
    uint64_t elements = 0;

    for (uint32_t i = 0; i < index; i++)
        elements += whole->tree.matrices[i].width;
    for (uint32_t i = 0; i < device && !has_rows; i++)
        elements += shards[i].count;
    *shard = *matrix;
    shard->span = shards[device];
    if (has_rows)
        shard->height = shard->span.count;
    else
        shard->width = (uint32_t)shard->span.count;
    part->offsets[tree->count++] = elements * tree->field->bytes;
    tree->row_elements += shard->width;
}

static void set_indices(const struct opening *whole, uint32_t device, pool_matrix_layout layout,
    struct shard_opening *part)
{
    const uint64_t first =
        layout == POOL_MATRIX_ROWS ? commit_first_row(whole->division, device) : 0;

    for (uint64_t i = 0; i < whole->count && whole->indices; i++)
        if (whole->indices[i] >= first && whole->indices[i] - first < part->opening.tree.rows)
            part->indices[i] = whole->indices[i] - first;
}

/* The caller closes it, also after a failure. */
static pool_status open_shards(const struct opening *whole, uint32_t device,
    pool_matrix_layout layout, struct shard_opening *part)
{
    const struct commit_division *division = whole->division;
    struct opening *opening = &part->opening;
    const bool gathers = whole->indices != NULL;

    *part = (struct shard_opening){.opening = *whole,
        .matrices = base_calloc(whole->tree.count, sizeof(*part->matrices)),
        .offsets = base_calloc(whole->tree.count, sizeof(*part->offsets)),
        .indices = base_calloc(gathers ? whole->count : 1, sizeof(*part->indices))};
    opening->packed = NULL;
    if (!part->matrices || !part->offsets || !part->indices)
        return base_fail_memory("openings of shards");
    opening->division = NULL;
    opening->levels = &no_levels;
    opening->tree.matrices = part->matrices;
    opening->tree.count = 0;
    opening->tree.row_elements = 0;
    opening->indices = part->indices;
    opening->path_bytes = 0;
    if (layout == POOL_MATRIX_ROWS)
        opening->tree.rows =
            commit_first_row(division, device + 1) - commit_first_row(division, device);
    for (uint32_t i = 0; i < whole->tree.count; i++) {
        const pool_matrix *matrix = &whole->tree.matrices[i];

        if (matrix->span.space == POOL_MEMORY_SHARDED && matrix->layout == layout &&
            ((const pool_span *)matrix->span.data)[device].count)
            add_shard(whole, i, device, part);
    }
    opening->row_bytes = opening->tree.row_elements * opening->tree.field->bytes;
    set_indices(whole, device, layout, part);
    return POOL_OK;
}

static void close_shards(struct shard_opening *part)
{
    base_free(part->matrices);
    base_free(part->offsets);
    base_free(part->indices);
    base_free(part->opening.packed);
}

static bool has_row(const struct opening *whole, uint64_t query, uint32_t device)
{
    return whole->indices[query] >= commit_first_row(whole->division, device) &&
           whole->indices[query] < commit_first_row(whole->division, device + 1);
}

static void copy_rows(const struct opening *whole, uint32_t device, pool_matrix_layout layout,
    const struct shard_opening *part)
{
    const struct opening *opening = &part->opening;
    const uint64_t bytes = opening->tree.field->bytes;

    for (uint64_t query = 0; query < whole->count; query++) {
        const unsigned char *from = opening->packed + query * opening->row_bytes;

        if (layout == POOL_MATRIX_ROWS && !has_row(whole, query, device))
            continue;
        for (uint32_t i = 0; i < opening->tree.count; i++) {
            memcpy(whole->packed + query * whole->row_bytes + part->offsets[i], from,
                part->matrices[i].width * bytes);
            from += part->matrices[i].width * bytes;
        }
    }
}

static pool_status gather_shards(
    const struct opening *whole, uint32_t device, pool_matrix_layout layout, const pool_exec *exec)
{
    struct shard_opening part;
    pool_status status = open_shards(whole, device, layout, &part);

    if (status || !part.opening.tree.count) {
        close_shards(&part);
        return status;
    }
    part.opening.packed = base_calloc(whole->count, part.opening.row_bytes);
    if (!part.opening.packed)
        status = base_fail_memory("openings of shards");
    if (!status)
        status = commit_gather(&part.opening, exec);
    if (!status)
        copy_rows(whole, device, layout, &part);
    close_shards(&part);
    return status;
}

/* ---- siblings in shards ---------------------------------------------------------------------- */

/* An opening of the kept levels in a shard: those of subtrees, or those above the cut. */
struct level_opening {
    struct opening opening;
    struct commit_part part;
    pool_span levels;
    uint64_t *indices;
    uint32_t base;  /* the level of the whole tree that is its level 0 */
    uint64_t first; /* node of that level */
};

static bool has_level_shards(const struct opening *whole)
{
    return whole->levels->space == POOL_MEMORY_SHARDED;
}

static bool has_levels(const struct opening *whole, uint32_t device, bool is_top)
{
    const struct commit_division *division = whole->division;

    return has_level_shards(whole) && whole->count &&
           (is_top ? !device && division->cut.level < whole->tree.height
                   : division->cut.is_kept && tree_cut_nodes(&division->cut, device));
}

/* The caller closes it, also after a failure. */
static pool_status open_levels(
    const struct opening *whole, uint32_t device, bool is_top, struct level_opening *part)
{
    const struct commit_division *division = whole->division;
    struct opening *opening = &part->opening;
    const uint64_t nodes = tree_cut_nodes(&division->cut, device);
    pool_status status;

    *part = (struct level_opening){.opening = *whole,
        .base = is_top ? division->cut.level : 0,
        .first = is_top ? 0 : commit_first_row(division, device)};
    opening->packed = NULL;
    part->indices = base_calloc(whole->count, sizeof(*part->indices));
    status = is_top ? commit_top_open(division, NULL, &part->part)
                    : commit_part_open(division, device, division->cut.level,
                          division->cut.first[device], nodes, &part->part);
    if (!part->indices)
        status = base_fail_memory("openings of levels");
    opening->division = NULL;
    opening->tree = part->part.tree;
    opening->tree.count = 0;
    opening->indices = part->indices;
    part->levels = is_top ? tree_cut_top_levels(&division->cut, opening->tree.digest_count)
                          : tree_cut_part_levels(&division->cut, device);
    opening->levels = &part->levels;
    opening->row_bytes = 0;
    opening->path_bytes = (uint64_t)opening->tree.height * opening->tree.digest_bytes;
    return status;
}

static void close_levels(struct level_opening *part)
{
    commit_part_close(&part->part);
    base_free(part->indices);
    base_free(part->opening.packed);
}

/* Whether the part has the node of its level 0 that is above or at row `index`. */
static bool has_node(const struct level_opening *part, uint64_t index)
{
    const uint64_t node = index >> part->base;

    return node >= part->first && node - part->first < part->opening.tree.rows;
}

static void copy_siblings(const struct opening *whole, const struct level_opening *part)
{
    const struct commit_tree *tree = &part->opening.tree;

    for (uint64_t query = 0; query < whole->count; query++) {
        const uint64_t at = tree->first_level * tree->digest_bytes;

        if (has_node(part, whole->indices[query]))
            memcpy(whole->packed + whole->count * whole->row_bytes + query * whole->path_bytes +
                       part->base * tree->digest_bytes + at,
                part->opening.packed + query * part->opening.path_bytes + at,
                part->opening.path_bytes - at);
    }
}

/* Of the levels below the cut, or, on the first device, above it. */
static pool_status gather_siblings(
    const struct opening *whole, uint32_t device, bool is_top, const pool_exec *exec)
{
    struct level_opening part;
    struct opening *opening = &part.opening;
    pool_status status;

    if (!has_levels(whole, device, is_top))
        return POOL_OK;
    status = open_levels(whole, device, is_top, &part);
    for (uint64_t i = 0; !status && i < whole->count; i++)
        if (has_node(&part, whole->indices[i]))
            part.indices[i] = (whole->indices[i] >> part.base) - part.first;
    if (!status && opening->tree.first_level < opening->tree.height) {
        opening->packed = base_calloc(whole->count, opening->path_bytes);
        if (!opening->packed)
            status = base_fail_memory("openings of levels");
        if (!status)
            status = commit_gather(opening, exec);
        if (!status)
            copy_siblings(whole, &part);
    }
    close_levels(&part);
    return status;
}

/* The sibling of an index's node of the cut, which may be in another device's memory than the node.
 */
static pool_status copy_node_of_cut(const struct opening *whole, uint64_t query)
{
    const struct tree_cut *cut = &whole->division->cut;
    const size_t digest = whole->tree.digest_bytes;
    const uint64_t node = (whole->indices[query] >> cut->level) ^ 1;
    const pool_span *shards = whole->levels->data;
    uint32_t device = 0;
    pool_exec exec;

    while (cut->first[device + 1] <= node)
        device++;
    exec = devices_exec(cut->devices, &whole->frame.exec, device);
    return poseidon_device_read(&exec,
        span_item_at(
            &shards[device], digest, tree_cut_start(cut, device) + node - cut->first[device]),
        whole->packed + whole->count * whole->row_bytes + query * whole->path_bytes +
            cut->level * digest,
        digest);
}

static pool_status gather_part(void *user, uint32_t index, const pool_exec *exec)
{
    const struct opening *whole = user;
    pool_status status = gather_shards(whole, index, POOL_MATRIX_COLUMNS, exec);

    if (!status)
        status = gather_shards(whole, index, POOL_MATRIX_ROWS, exec);
    if (!status)
        status = gather_siblings(whole, index, false, exec);
    return status ? status : gather_siblings(whole, index, true, exec);
}

pool_status commit_open_gather(const struct opening *opening)
{
    const struct parts parts = {.call = opening->frame.name,
        .exec = &opening->frame.exec,
        .devices = opening->division->cut.devices,
        .compute = gather_part,
        .user = (void *)(uintptr_t)opening};

    const struct commit_division *division = opening->division;
    pool_status status = parts_run(&parts);

    if (has_level_shards(opening) && division->cut.is_kept &&
        division->cut.level < opening->tree.height)
        for (uint64_t query = 0; query < opening->count && !status; query++)
            status = copy_node_of_cut(opening, query);
    return status;
}

/* ---- forecast -------------------------------------------------------------------------------- */

static pool_status forecast_shards(
    const struct opening *opening, uint32_t device, pool_matrix_layout layout, uint64_t *bytes)
{
    struct shard_opening part;
    pool_status status = open_shards(opening, device, layout, &part);

    if (!status && part.opening.tree.count)
        *bytes = base_max(*bytes, commit_gather_bytes(&part.opening));
    close_shards(&part);
    return status;
}

static pool_status forecast_siblings(
    const struct opening *opening, uint32_t device, bool is_top, uint64_t *bytes)
{
    struct level_opening part;
    pool_status status;

    if (!has_levels(opening, device, is_top))
        return POOL_OK;
    status = open_levels(opening, device, is_top, &part);
    if (!status && part.opening.tree.first_level < part.opening.tree.height)
        *bytes = base_max(*bytes, commit_gather_bytes(&part.opening));
    close_levels(&part);
    return status;
}

static bool builds_subtrees(const struct opening *opening, uint32_t device)
{
    const struct commit_division *division = opening->division;

    if (!opening->tree.first_level || !opening->count)
        return false;
    return division->has_row_shards ? division->cut.first[device] < division->cut.first[device + 1]
                                    : device == 0;
}

static pool_status forecast(
    struct operation_division *division, uint32_t device, const pool_exec *exec, uint64_t *bytes)
{
    const struct opening *opening = (const void *)division->call;
    const uint64_t limit = exec_limit(exec);
    pool_status status;

    *bytes = 0;
    status = forecast_shards(opening, device, POOL_MATRIX_COLUMNS, bytes);
    if (!status)
        status = forecast_shards(opening, device, POOL_MATRIX_ROWS, bytes);
    for (int is_top = 0; is_top < 2 && !status; is_top++)
        status = forecast_siblings(opening, device, is_top, bytes);
    if (!status && *bytes > limit)
        status = exec_fail_limit(opening->frame.name, limit, *bytes);
    return status || !builds_subtrees(opening, device)
               ? status
               : commit_forecast_subtree(opening,
                     commit_first_row(opening->division, device) >> opening->tree.first_level, exec,
                     bytes);
}

pool_status commit_open_divide(void *user, struct operation_division *division)
{
    struct opening *opening = user;
    struct commit_division *cut = division->memory = base_calloc(1, sizeof(*cut));
    pool_status status;

    if (!cut)
        return base_fail_memory("openings");
    *cut = (struct commit_division){.tree = &opening->tree,
        .exec = &opening->frame.exec,
        .has_data = !opening->frame.is_forecast};
    opening->division = cut;
    division->forecast = forecast;
    status = commit_divide(opening->frame.name, opening->levels, &division->devices, cut);
    if (!status)
        status = check_subtrees(opening);
    return status ? status : commit_connect(cut);
}
