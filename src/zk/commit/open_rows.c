/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows and paths of openings: those in host memory are copied by the host. Levels that were not
 * kept are computed again from the rows of an index's subtree, by the device that has them.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/commit/open.h"
#include "zk/poseidon/run.h"

/* ---- on the host ----------------------------------------------------------------------------- */

static void convert(const pool_field *field, unsigned char *to, pool_form to_form,
    const unsigned char *from, pool_form from_form, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t limbs[FIELD_MAX_LIMBS];

        poseidon_load_unchecked(field, limbs, from + i * field->bytes, 1, from_form);
        poseidon_store(field, to + i * field->bytes, limbs, 1, to_form);
    }
}

/* The rows of the matrices in host memory. */
static void copy_rows(const struct opening *opening, uint64_t query)
{
    const struct commit_tree *tree = &opening->tree;
    const uint64_t bytes = tree->field->bytes;
    unsigned char *to = opening->packed + query * opening->row_bytes;

    for (uint32_t i = 0; i < tree->count; i++) {
        const pool_matrix *matrix = &tree->matrices[i];
        const uint64_t row = opening->indices[query] >> commit_matrix_level(tree, matrix);
        const uint64_t stride = span_stride(&matrix->span, commit_item_elements(matrix) * bytes);
        const bool has_rows = matrix->layout == POOL_MATRIX_ROWS;
        const unsigned char *from = matrix->span.data;

        for (uint32_t k = 0; k < matrix->width && matrix->span.space == POOL_MEMORY_HOST; k++)
            convert(tree->field, to + k * bytes, opening->rows->form,
                from + (has_rows ? row * stride + k * bytes : k * stride + row * bytes),
                matrix->span.form, 1);
        to += matrix->width * bytes;
    }
}

/* The sibling on a level, from the digests of a tree or subtree in host memory. */
static void copy_sibling(const struct opening *opening, uint64_t query, uint32_t level,
    const pool_span *digests, uint64_t index)
{
    const struct commit_tree *tree = &opening->tree;

    convert(tree->field,
        opening->packed + opening->count * opening->row_bytes + query * opening->path_bytes +
            level * tree->digest_bytes,
        opening->paths->form, span_item_at(digests, tree->digest_bytes, index), digests->form,
        tree->set->digest_elements);
}

static void copy_kept_siblings(const struct opening *opening, uint64_t query)
{
    const struct commit_tree *tree = &opening->tree;

    if (opening->levels->space != POOL_MEMORY_HOST)
        return;
    for (uint32_t level = tree->first_level; level < tree->height; level++)
        copy_sibling(opening, query, level, opening->levels,
            commit_level_start(tree, level) + ((opening->indices[query] >> level) ^ 1));
}

/* ---- levels that were not kept --------------------------------------------------------------- */

/* A call on one device is one over several, too. */
struct division_of_one {
    struct devices devices;
    struct commit_division division;
};
static pool_status find_division(const struct opening *opening, struct division_of_one *one,
    const struct commit_division **division)
{
    *division = opening->division;
    if (opening->division)
        return POOL_OK;
    one->devices = (struct devices){.count = 1};
    one->division =
        (struct commit_division){.cut = {.call = opening->frame.name, .devices = &one->devices},
            .tree = &opening->tree,
            .exec = &opening->frame.exec,
            .has_data = !opening->frame.is_forecast};
    one->division.is_direct[0][0] = true;
    *division = &one->division;
    return opening->frame.is_forecast
               ? POOL_OK
               : device_or_bound(opening->frame.exec.device, &one->devices.device[0]);
}

/* The device that has the rows below a node of the lowest kept level. */
static uint32_t device_of_node(
    const struct opening *opening, const struct commit_division *division, uint64_t node)
{
    uint32_t device = 0;

    while (division->has_row_shards &&
           commit_first_row(division, device + 1) <= node << opening->tree.first_level)
        device++;
    return device;
}

/* The tree of the rows below that node, up to the two nodes below it: all levels are kept, one
 * after another. Computes them or, with `bytes`, forecasts. */
static pool_status compute_subtree(const struct opening *opening,
    const struct commit_division *division, uint64_t node, const pool_exec *exec,
    const pool_span *levels, uint64_t *bytes)
{
    const uint32_t height = opening->tree.first_level - 1;
    struct commit_part part;
    struct commit_tree *tree = &part.tree;
    pool_status status = commit_part_open(
        division, device_of_node(opening, division, node), height, 2 * node, 2, &part);

    tree->first_level = 0;
    tree->digest_count = commit_level_start(tree, height) + 2;
    for (uint32_t level = 0; level <= height; level++)
        tree->level_target[level] = commit_level_start(tree, level);
    if (!status)
        status = commit_compute(opening->frame.name, tree, exec, levels, bytes);
    commit_part_close(&part);
    return status;
}

/* Of one subtree, in host memory. */
static pool_span subtree_levels(const struct opening *opening)
{
    return (pool_span){.count = (UINT64_C(2) << opening->tree.first_level) - 2,
        .form = opening->paths->form,
        .space = POOL_MEMORY_HOST};
}

static pool_status open_subtree(const struct opening *opening,
    const struct commit_division *division, uint64_t query, const pool_span *digests)
{
    const uint32_t first_level = opening->tree.first_level;
    const uint64_t node = opening->indices[query] >> first_level;
    const uint64_t rows = UINT64_C(1) << first_level;
    const uint64_t local = opening->indices[query] & (rows - 1);
    pool_exec exec = opening->frame.exec;
    pool_status status;

    if (opening->division)
        exec = devices_exec(division->cut.devices, &exec, device_of_node(opening, division, node));
    status = compute_subtree(opening, division, node, &exec, digests, NULL);
    for (uint32_t level = 0; level < first_level && !status; level++)
        copy_sibling(
            opening, query, level, digests, 2 * (rows - (rows >> level)) + ((local >> level) ^ 1));
    return status;
}

static pool_status open_subtrees(const struct opening *opening)
{
    pool_span levels = subtree_levels(opening);
    const struct commit_division *division;
    struct division_of_one one;
    pool_status status = find_division(opening, &one, &division);

    levels.data = base_calloc(levels.count, opening->tree.digest_bytes);
    if (!status && !levels.data)
        status = base_fail_memory("the levels of a subtree");
    for (uint64_t query = 0; query < opening->count && !status; query++)
        status = open_subtree(opening, division, query, &levels);
    base_free(levels.data);
    return status;
}

pool_status commit_forecast_subtree(
    const struct opening *opening, uint64_t node, const pool_exec *exec, uint64_t *bytes)
{
    const pool_span levels = subtree_levels(opening);
    const struct commit_division *division;
    struct division_of_one one;
    uint64_t needed = 0;
    pool_status status = find_division(opening, &one, &division);

    if (!status)
        status = compute_subtree(opening, division, node, exec, &levels, &needed);
    *bytes = base_max(*bytes, needed);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static void store_results(const struct opening *opening)
{
    const struct commit_tree *tree = &opening->tree;
    const unsigned char *paths = opening->packed + opening->count * opening->row_bytes;

    for (uint64_t i = 0; i < opening->count; i++)
        memcpy(span_item_at(opening->rows, opening->row_bytes, i),
            opening->packed + i * opening->row_bytes, opening->row_bytes);
    for (uint64_t i = 0; i < opening->count * tree->height; i++)
        memcpy(span_item_at(opening->paths, tree->digest_bytes, i), paths + i * tree->digest_bytes,
            tree->digest_bytes);
}

pool_status commit_open_rows(void *user)
{
    struct opening *opening = user;
    pool_status status;

    if (opening->count == 0)
        return POOL_OK;
    opening->packed = base_calloc(opening->count, opening->row_bytes + opening->path_bytes);
    if (!opening->packed)
        return base_fail_memory("openings");
    status = opening->division ? commit_open_gather(opening)
                               : commit_gather(opening, &opening->frame.exec);
    for (uint64_t query = 0; query < opening->count && !status; query++) {
        copy_rows(opening, query);
        copy_kept_siblings(opening, query);
    }
    if (!status && opening->tree.first_level)
        status = open_subtrees(opening);
    if (!status)
        store_results(opening);
    base_free(opening->packed);
    return status;
}
