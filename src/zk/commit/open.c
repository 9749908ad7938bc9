/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Openings: rows and siblings in device memory are gathered by kernels for all indices at once,
 * those in host memory by the host. Levels that were not kept are computed again from the rows of
 * an index's subtree.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/commit/open.h"
#include "zk/poseidon/kernels.h"
#include "zk/poseidon/run.h"

/* ---- arguments ------------------------------------------------------------------------------- */

static pool_status check_indices(const struct opening *opening)
{
    const uint64_t height = commit_level_nodes(&opening->tree, 0);

    for (uint64_t i = 0; i < opening->count && opening->indices; i++)
        if (opening->indices[i] >= height)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: unsupported value %llu for `indices[%llu]`; the tallest matrix has %llu rows",
                opening->frame.name, (unsigned long long)opening->indices[i], (unsigned long long)i,
                (unsigned long long)height);
    return opening->count && !opening->indices && !opening->frame.is_forecast
               ? base_fail_null(opening->frame.name, "indices")
               : POOL_OK;
}

static pool_status check_result(
    const struct opening *opening, const pool_span *out, const char *name)
{
    return out->space == POOL_MEMORY_HOST
               ? POOL_OK
               : base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `%s` must be in host memory",
                     opening->frame.name, name);
}

static pool_status read_opening(void *user)
{
    struct opening *opening = user;
    struct commit_tree *tree = &opening->tree;
    uint64_t bytes;
    pool_status status = commit_tree_init(
        opening->frame.name, &opening->params, opening->matrices, opening->matrix_count, tree);

    opening->frame.exec.progress = NULL; /* that of subtrees is not the call's */
    if (!status)
        status = check_result(opening, opening->rows, "rows");
    if (!status)
        status = check_result(opening, opening->paths, "paths");
    if (status)
        return status;
    opening->row_bytes = tree->row_elements * tree->field->bytes;
    opening->path_bytes = tree->height * tree->digest_bytes;
    if (__builtin_mul_overflow(
            opening->count, opening->row_bytes + opening->path_bytes + sizeof(uint64_t), &bytes) ||
        bytes > INT64_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: %llu openings are too many",
            opening->frame.name, (unsigned long long)opening->count);
    return check_indices(opening);
}

static pool_status check_spaces(void *user)
{
    const struct opening *opening = user;
    const struct commit_tree *tree = &opening->tree;
    const char *name = opening->frame.name;
    pool_status status = POOL_OK;

    if (opening->levels->count < tree->digest_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `levels` has space for %llu digests, the kept levels have %llu", name,
            (unsigned long long)opening->levels->count, (unsigned long long)tree->digest_count);
    status = commit_check_matrices(name, tree);
    if (!status)
        status = poseidon_check_space(&opening->frame, opening->rows, "rows", opening->count);
    return status ? status
                  : poseidon_check_space(
                        &opening->frame, opening->paths, "paths", opening->count * tree->height);
}

/* ---- the call -------------------------------------------------------------------------------- */

static pool_status plan(void *user, uint64_t limit)
{
    struct opening *opening = user;
    uint64_t *bytes = &opening->frame.memory.bytes;

    *bytes = commit_gather_bytes(opening);
    return *bytes <= limit && opening->tree.first_level && opening->count
               ? commit_forecast_subtree(opening, 0, &opening->frame.exec, bytes)
               : POOL_OK;
}

static const struct operation operation = {.call_bytes = sizeof(struct opening),
    .rules = {.has_workspace = true, .has_memory_limit = true, .has_devices = true},
    .arguments = {{"params", offsetof(struct opening, given), OPERATION_PARAMS,
                      .type = &commit_params_type, .copy_at = offsetof(struct opening, params)},
        {"matrices", offsetof(struct opening, matrices), OPERATION_ARRAY,
            .copy_at = offsetof(struct opening, matrix_count), .bytes = sizeof(pool_matrix),
            .most = COMMIT_MAX_MATRICES},
        {"levels", offsetof(struct opening, levels), OPERATION_SPAN, .operand = "levels"},
        {"rows", offsetof(struct opening, rows), OPERATION_SPAN, .operand = "rows"},
        {"paths", offsetof(struct opening, paths), OPERATION_SPAN, .operand = "paths"}},
    .list = commit_open_list,
    .read = read_opening,
    .prepare = commit_open_set_items,
    .check = check_spaces,
    .plan = plan,
    .run = commit_open_rows,
    .divide = commit_open_divide};

/* ---- public ---------------------------------------------------------------------------------- */

pool_status pool_matrix_open(const pool_matrix_commit_params *params, const pool_exec *exec,
    const pool_matrix *matrices, uint32_t count, const pool_span *levels, const uint64_t *indices,
    uint64_t index_count, const pool_span *rows, const pool_span *paths)
{
    struct opening opening = {.frame = OPERATION_CALL(&operation, exec),
        .given = params,
        .matrices = matrices,
        .matrix_count = count,
        .levels = levels,
        .indices = indices,
        .count = index_count,
        .rows = rows,
        .paths = paths};

    return operation_run(&opening.frame);
}

pool_status pool_matrix_open_workspace(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_matrix *matrices, uint32_t count, const pool_span *levels,
    uint64_t index_count, const pool_span *rows, const pool_span *paths, uint64_t *bytes)
{
    struct opening opening = {.frame = OPERATION_CALL(&operation, exec),
        .given = params,
        .matrices = matrices,
        .matrix_count = count,
        .levels = levels,
        .count = index_count,
        .rows = rows,
        .paths = paths};

    return operation_forecast(&opening.frame, bytes);
}
