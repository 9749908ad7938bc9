/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a device's part of a commitment: slices of matrices in host memory, and of the shards
 * on all devices. A shard of columns becomes a matrix of its own; that the rows of matrices of one
 * height are hashed as one makes them whole again.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/memory/memory.h"
#include "zk/commit/devices.h"

static const pool_span *shards_of(const pool_matrix *matrix)
{
    return matrix->span.data;
}

static uint64_t item_bytes(const struct commit_tree *tree, const pool_matrix *matrix)
{
    return commit_item_elements(matrix) * tree->field->bytes;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static pool_status check_span(const struct commit_division *division, uint32_t index,
    const pool_span *span, const struct exec_target *target, const char *name)
{
    const pool_matrix *matrix = &division->tree->matrices[index];
    const struct span_item item = {.bytes = item_bytes(division->tree, matrix),
        .kind = matrix->layout == POOL_MATRIX_ROWS ? "rows" : "columns",
        .name = division->tree->field->name};

    return division->has_data ? span_check(target, span, &item, name)
                              : span_check_shape(span, &item, name);
}

static pool_status check_matrix(const struct commit_division *division, uint32_t index)
{
    const pool_matrix *matrix = &division->tree->matrices[index];
    const bool is_sharded = matrix->span.space == POOL_MEMORY_SHARDED;
    char name[64];
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < division->cut.devices->count && !status && is_sharded; i++) {
        const struct exec_target target = {.device = division->cut.devices->device[i]};

        (void)snprintf(name, sizeof(name), "shard %u of matrix %u", i, index);
        status = check_span(division, index, &shards_of(matrix)[i], &target, name);
    }
    return status;
}

pool_status commit_check_shards(const struct commit_division *division)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < division->tree->count && !status; i++)
        status = check_matrix(division, i);
    return status;
}

/* ---- links ----------------------------------------------------------------------------------- */

static pool_status wait_for_stream(const struct commit_division *division, uint32_t index)
{
    const pool_exec exec = devices_exec(division->cut.devices, division->exec, index);
    struct exec_target target;
    pool_status status = exec_target_init(&target, &exec);

    return status ? status : pool_stream_synchronize(target.stream);
}

pool_status commit_link_devices(struct commit_division *division)
{
    const uint32_t count = division->cut.devices->count;
    bool has_shards = false;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < division->tree->count; i++)
        has_shards |= division->tree->matrices[i].span.space == POOL_MEMORY_SHARDED;
    for (uint32_t i = 0; i < count * count && !status && has_shards; i++)
        status = memory_link(division->cut.devices->device[i % count],
            division->cut.devices->device[i / count], &division->is_direct[i / count][i % count]);
    for (uint32_t i = 0; i < count && !status && has_shards && division->has_data; i++)
        status = wait_for_stream(division, i);
    return status;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Rows of a matrix, or of one shard of it. */
struct slice {
    uint32_t matrix;
    uint32_t reader;
    uint32_t owner;  /* of a shard */
    pool_span span;  /* the shard, or the whole span in host memory */
    uint64_t first;  /* row of the span, whose rows are all of a shard of columns */
    uint64_t rows;   /* of the slice */
    uint64_t before; /* items of the matrix before the span */
};

/* Columns with gaps in pinned memory are copied by the device; others are packed by the host. */
static pool_status find_pinned(const struct commit_division *division, const struct slice *slice,
    const pool_matrix *part, bool *is_pinned)
{
    enum memory_kind kind = MEMORY_PAGEABLE;
    pool_status status;

    *is_pinned = false;
    if (!division->has_data || !slice->span.data || part->span.stride > INT32_MAX ||
        part->span.stride == item_bytes(division->tree, part))
        return POOL_OK;
    status = memory_find_kind(division->cut.devices->device[slice->reader], slice->span.data,
        span_extent(
            &slice->span, item_bytes(division->tree, &division->tree->matrices[slice->matrix])),
        &kind);
    *is_pinned = kind == MEMORY_PINNED;
    return status;
}

static pool_status add_slice(
    const struct commit_division *division, const struct slice *slice, struct commit_part *part)
{
    const pool_matrix *matrix = &division->tree->matrices[slice->matrix];
    const bool has_rows = matrix->layout == POOL_MATRIX_ROWS;
    const uint64_t stride = span_stride(&slice->span, item_bytes(division->tree, matrix));
    const bool is_on_host = slice->span.space == POOL_MEMORY_HOST;
    pool_matrix *to = (pool_matrix *)part->memory + part->tree.count;
    struct commit_source *source =
        (struct commit_source *)(uintptr_t)&part->tree.sources[part->tree.count];
    pool_status status = POOL_OK;

    *to = (pool_matrix){.span = slice->span,
        .height = slice->rows,
        .width = has_rows ? matrix->width : (uint32_t)slice->span.count,
        .layout = matrix->layout};
    to->span.count = commit_item_count(to);
    to->span.stride = stride;
    if (to->span.data)
        to->span.data = (unsigned char *)to->span.data +
                        slice->first * (has_rows ? stride : division->tree->field->bytes);
    *source = (struct commit_source){.matrix = slice->matrix,
        .first_item = slice->before + (has_rows ? slice->first : 0),
        .first_element = has_rows ? 0 : slice->first,
        .whole_elements = commit_item_elements(matrix)};
    if (is_on_host) {
        status = find_pinned(division, slice, to, &source->is_fetched);
    } else if (!division->is_direct[slice->reader][slice->owner]) {
        source->is_fetched = true;
        source->owner = division->cut.devices->device[slice->owner];
    }
    part->tree.count++;
    return status;
}

static pool_status add_shards(
    const struct commit_division *division, struct slice slice, struct commit_part *part)
{
    const pool_matrix *matrix = &division->tree->matrices[slice.matrix];
    const bool has_rows = matrix->layout == POOL_MATRIX_ROWS;
    const uint64_t first = slice.first;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < division->cut.devices->count && !status; i++) {
        const uint64_t items = shards_of(matrix)[i].count;

        slice.owner = i;
        slice.span = shards_of(matrix)[i];
        if (has_rows) {
            if (first < slice.before || first >= slice.before + items) { /* of another part */
                slice.before += items;
                continue;
            }
            slice.first = first - slice.before;
        }
        if (items)
            status = add_slice(division, &slice, part);
        slice.before += items;
    }
    return status;
}

static pool_status add_matrix(const struct commit_division *division, uint32_t reader,
    uint32_t index, uint64_t first, uint64_t rows, struct commit_part *part)
{
    const pool_matrix *matrix = &division->tree->matrices[index];
    const struct slice slice = {
        .matrix = index, .reader = reader, .span = matrix->span, .first = first, .rows = rows};

    return matrix->span.space == POOL_MEMORY_SHARDED ? add_shards(division, slice, part)
                                                     : add_slice(division, &slice, part);
}

static pool_status allocate_part(const struct commit_division *division, struct commit_part *part)
{
    const size_t most = (size_t)division->tree->count * division->cut.devices->count;
    pool_matrix *matrices = base_calloc(most, sizeof(*matrices) + sizeof(struct commit_source));

    *part = (struct commit_part){.tree = *division->tree, .memory = matrices};
    part->tree.matrices = matrices;
    part->tree.sources = (struct commit_source *)(matrices + most);
    part->tree.count = 0;
    return matrices ? POOL_OK : base_fail_memory("the parts of matrices");
}

static void count_digests(struct commit_tree *tree)
{
    tree->digest_count =
        commit_level_start(tree, tree->height) + commit_level_nodes(tree, tree->height);
}

pool_status commit_part_open(const struct commit_division *division, uint32_t reader,
    uint32_t level, uint64_t first, uint64_t nodes, struct commit_part *part)
{
    const struct commit_tree *whole = division->tree;
    struct commit_tree *tree = &part->tree;
    pool_status status = allocate_part(division, part);

    if (status)
        return status;
    tree->rows = nodes << level;
    tree->height = level;
    tree->first_level = (uint32_t)base_min(whole->first_level, level);
    count_digests(tree);
    for (uint32_t i = tree->first_level; i <= level; i++)
        tree->level_target[i] = (level >= whole->first_level ? commit_level_start(whole, i) : 0) +
                                (first << (level - i));
    for (uint32_t i = 0; i < whole->count && !status; i++) {
        const uint32_t at = commit_matrix_level(whole, &whole->matrices[i]);

        if (at <= level)
            status =
                add_matrix(division, reader, i, first << (level - at), nodes << (level - at), part);
    }
    return status;
}

pool_status commit_top_open(
    const struct commit_division *division, const unsigned char *leaves, struct commit_part *part)
{
    const struct commit_tree *whole = division->tree;
    const uint32_t cut = division->cut.level;
    struct commit_tree *tree = &part->tree;
    pool_status status = allocate_part(division, part);

    if (status)
        return status;
    tree->rows = commit_level_nodes(whole, cut);
    tree->height = whole->height - cut;
    tree->first_level = cut >= whole->first_level ? 1 : whole->first_level - cut;
    tree->leaves = leaves;
    count_digests(tree);
    for (uint32_t i = tree->first_level; i <= tree->height; i++)
        tree->level_target[i] = commit_level_start(tree, i);
    for (uint32_t i = 0; i < whole->count && !status; i++)
        if (commit_matrix_level(whole, &whole->matrices[i]) > cut)
            status = add_matrix(division, 0, i, 0, whole->matrices[i].height, part);
    return status;
}

void commit_part_close(struct commit_part *part)
{
    base_free(part->memory);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* `items` items of `bytes` each, `stride` apart in `span`, to the start of `to`. */
struct fetch {
    const pool_span *span;
    uint64_t items, bytes, stride;
};

static pool_status fetch_from_device(
    const struct fetch *fetch, pool_device *owner, pool_buffer *to, pool_stream *stream)
{
    const uint64_t extent = (fetch->items - 1) * fetch->stride + fetch->bytes;
    const bool is_packed = fetch->stride == fetch->bytes;
    const uint64_t copies = is_packed ? 1 : fetch->items;
    pool_buffer *from = NULL;
    const struct exec_target target = {.device = owner};
    pool_status status =
        pool_buffer_adopt(owner, (CUdeviceptr)(uintptr_t)fetch->span->data, extent, &from);

    for (uint64_t i = 0; i < copies && !status; i++)
        status = pool_copy_device(to, i * fetch->bytes, from, i * fetch->stride,
            is_packed ? extent : fetch->bytes, stream);
    return scratch_free(&target, &from, status);
}

pool_status commit_fetch(const struct commit_tree *tree, const pool_matrix *matrix,
    const struct exec_target *target, uint64_t first, uint64_t count, CUdeviceptr to)
{
    const struct commit_source *source = &tree->sources[matrix - tree->matrices];
    const uint64_t bytes = item_bytes(tree, matrix);
    const uint64_t stride = span_stride(&matrix->span, bytes);
    pool_span span = matrix->span;
    const struct fetch fetch = {&span, count, bytes, stride};
    pool_buffer *view = NULL;
    pool_status status = pool_buffer_adopt(target->device, to, count * bytes, &view);

    span.data = (unsigned char *)span.data + first * stride;
    if (!status && source->owner) {
        status = fetch_from_device(&fetch, source->owner, view, target->stream);
    } else if (!status) {
        const pool_pitched host = {.host = span.data, .pitch = stride};
        const pool_pitched packed = {.buffer = view, .pitch = bytes};

        status = pool_copy_2d(&packed, &host, bytes, count, target->stream);
    }
    return scratch_free(target, &view, status);
}
