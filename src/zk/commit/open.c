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

static void set_items(void *user)
{
    struct opening *opening = user;
    const struct commit_tree *tree = &opening->tree;
    struct span_item *item = opening->frame.item;

    opening->frame.target.field = tree->field;
    item[0] = item[2] = poseidon_item(tree->set, tree->set->digest_elements);
    item[1] = poseidon_item(tree->set, (uint32_t)tree->row_elements);
}

static bool list_matrices(const void *user, uint32_t index, struct operation_operand *operand)
{
    const struct commit_tree *tree = &((const struct opening *)user)->tree;

    if (index >= tree->count)
        return false;
    commit_list_matrix(tree, index, operand);
    return true;
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

/* ---- on the device --------------------------------------------------------------------------- */

static bool gathers(const struct opening *opening)
{
    const struct commit_tree *tree = &opening->tree;
    bool has_device_memory = opening->levels->space == POOL_MEMORY_DEVICE;

    for (uint32_t i = 0; i < tree->count; i++)
        has_device_memory |= tree->matrices[i].span.space == POOL_MEMORY_DEVICE;
    return has_device_memory && opening->count > 0;
}

uint64_t commit_gather_bytes(const struct opening *opening)
{
    return gathers(opening)
               ? memory_scratch_bytes(
                     opening->count * (sizeof(uint64_t) + opening->row_bytes + opening->path_bytes))
               : 0;
}

/* `args` has what depends on the source; the result is at `offset` of each index's results. */
static pool_status launch_gather(const struct opening *opening, const struct exec_target *target,
    struct poseidon_gather_args *args, pool_form from, pool_form to)
{
    const pool_form form = poseidon_device_form(opening->tree.row_set);

    args->count = opening->count;
    args->in_is_converted = from != form;
    args->out_is_converted = to != form;
    return poseidon_launch_gather(opening->tree.row_set, target->device, target->stream, args);
}

static pool_status gather_rows(
    const struct opening *opening, const struct exec_target *target, CUdeviceptr scratch)
{
    const struct commit_tree *tree = &opening->tree;
    const uint64_t bytes = tree->field->bytes;
    CUdeviceptr out = scratch + opening->count * sizeof(uint64_t);
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < tree->count && !status; i++) {
        const pool_matrix *matrix = &tree->matrices[i];
        const uint64_t stride = span_stride(&matrix->span, commit_item_elements(matrix) * bytes);
        const bool has_rows = matrix->layout == POOL_MATRIX_ROWS;
        struct poseidon_gather_args args = {.in = (CUdeviceptr)(uintptr_t)matrix->span.data,
            .indices = scratch,
            .out = out,
            .row_stride = has_rows ? stride : bytes,
            .column_stride = has_rows ? bytes : stride,
            .out_stride = opening->row_bytes,
            .columns = matrix->width,
            .shift = commit_matrix_level(tree, matrix)};

        if (matrix->span.space == POOL_MEMORY_DEVICE)
            status = launch_gather(opening, target, &args, matrix->span.form, opening->rows->form);
        out += matrix->width * bytes;
    }
    return status;
}

static pool_status gather_paths(
    const struct opening *opening, const struct exec_target *target, CUdeviceptr scratch)
{
    const struct commit_tree *tree = &opening->tree;
    const uint64_t stride = span_stride(opening->levels, tree->digest_bytes);
    const CUdeviceptr out = scratch + opening->count * (sizeof(uint64_t) + opening->row_bytes);
    pool_status status = POOL_OK;

    if (opening->levels->space != POOL_MEMORY_DEVICE)
        return POOL_OK;
    for (uint32_t level = tree->first_level; level < tree->height && !status; level++) {
        struct poseidon_gather_args args = {.in = (CUdeviceptr)(uintptr_t)opening->levels->data +
                                                  commit_level_start(tree, level) * stride,
            .indices = scratch,
            .out = out + level * tree->digest_bytes,
            .row_stride = stride,
            .column_stride = tree->field->bytes,
            .out_stride = opening->path_bytes,
            .columns = tree->set->digest_elements,
            .shift = level,
            .is_sibling = 1};

        status = launch_gather(opening, target, &args, opening->levels->form, opening->paths->form);
    }
    return status;
}

static pool_status plan_gather(void *user, uint64_t limit)
{
    struct opening *opening = user;

    (void)limit;
    opening->frame.memory.bytes = commit_gather_bytes(opening);
    return POOL_OK;
}

static pool_status run_gather(void *user)
{
    struct opening *opening = user;
    const struct exec_target *target = &opening->frame.target;
    const uint64_t index_bytes = opening->count * sizeof(uint64_t);
    const CUdeviceptr address = opening->frame.address;
    pool_buffer *scratch = opening->frame.block;
    pool_status status =
        pool_copy_to_device(scratch, 0, opening->indices, index_bytes, target->stream);

    if (!status)
        status = gather_rows(opening, target, address);
    if (!status)
        status = gather_paths(opening, target, address);
    if (!status)
        status = pool_copy_to_host(opening->packed, scratch, index_bytes,
            opening->count * (opening->row_bytes + opening->path_bytes), target->stream);
    return status;
}

pool_status commit_gather(const struct opening *whole, const pool_exec *exec)
{
    static const struct operation operation = {.is_uncounted = true,
        .call_bytes = sizeof(struct opening),
        .rules = {.has_workspace = true, .has_memory_limit = true},
        .arguments = {{"levels", offsetof(struct opening, levels), OPERATION_SPAN,
            .operand = "levels"}},
        .takes_block = true,
        .list = list_matrices,
        .prepare = set_items,
        .plan = plan_gather,
        .run = run_gather};
    struct opening opening = *whole;

    opening.frame =
        (struct operation_call){.operation = &operation, .name = whole->frame.name, .given = exec};
    return commit_gather_bytes(&opening) ? operation_run(&opening.frame) : POOL_OK;
}

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

/* The tree of the rows below node `node` of the lowest kept level, up to the two nodes below it. */
static void init_subtree(const struct opening *opening, uint64_t node, pool_matrix *matrices,
    struct commit_tree *subtree)
{
    const struct commit_tree *tree = &opening->tree;
    const uint64_t bytes = tree->field->bytes;

    *subtree = *tree;
    subtree->matrices = matrices;
    subtree->count = 0;
    subtree->rows = UINT64_C(1) << tree->first_level;
    subtree->height = tree->first_level - 1;
    subtree->first_level = 0;
    subtree->digest_count = commit_level_start(subtree, subtree->height) + 2;
    for (uint32_t level = 0; level <= subtree->height; level++)
        subtree->level_target[level] = commit_level_start(subtree, level);
    for (uint32_t i = 0; i < tree->count; i++) {
        const uint32_t level = commit_matrix_level(tree, &tree->matrices[i]);
        pool_matrix *slice = &matrices[subtree->count];
        uint64_t stride;

        if (level >= tree->first_level)
            continue;
        *slice = tree->matrices[i];
        stride = span_stride(&slice->span, commit_item_elements(slice) * bytes);
        slice->height = UINT64_C(1) << (tree->first_level - level);
        if (slice->span.data)
            slice->span.data =
                (unsigned char *)slice->span.data +
                node * slice->height * (slice->layout == POOL_MATRIX_ROWS ? stride : bytes);
        slice->span.count = commit_item_count(slice);
        slice->span.stride = stride;
        subtree->count++;
    }
}

static pool_status compute_subtree(
    const struct opening *opening, uint64_t node, pool_matrix *matrices, const pool_span *digests)
{
    struct commit_tree subtree;

    init_subtree(opening, node, matrices, &subtree);
    return commit_compute(opening->frame.name, &subtree, &opening->frame.exec, digests, NULL);
}

static pool_status open_subtree(
    const struct opening *opening, uint64_t query, pool_matrix *matrices, const pool_span *digests)
{
    const uint32_t first_level = opening->tree.first_level;
    const uint64_t node = opening->indices[query] >> first_level;
    const uint64_t rows = UINT64_C(1) << first_level;
    const uint64_t local = opening->indices[query] & (rows - 1);
    pool_status status = opening->division ? commit_open_subtree(opening, node, digests)
                                           : compute_subtree(opening, node, matrices, digests);

    for (uint32_t level = 0; level < first_level && !status; level++)
        copy_sibling(
            opening, query, level, digests, 2 * (rows - (rows >> level)) + ((local >> level) ^ 1));
    return status;
}

static pool_status open_subtrees(const struct opening *opening)
{
    const struct commit_tree *tree = &opening->tree;
    const uint64_t digests = (UINT64_C(2) << tree->first_level) - 2;
    pool_matrix *matrices = base_calloc(tree->count, sizeof(*matrices));
    pool_span levels = {.data = base_calloc(digests, tree->digest_bytes),
        .count = digests,
        .form = opening->paths->form,
        .space = POOL_MEMORY_HOST};
    pool_status status =
        matrices && levels.data ? POOL_OK : base_fail_memory("the levels of a subtree");

    for (uint64_t query = 0; query < opening->count && !status; query++)
        status = open_subtree(opening, query, matrices, &levels);
    base_free(levels.data);
    base_free(matrices);
    return status;
}

static pool_status forecast_subtree(const struct opening *opening, uint64_t *bytes)
{
    const struct commit_tree *tree = &opening->tree;
    pool_matrix *matrices = base_calloc(tree->count, sizeof(*matrices));
    struct commit_tree subtree;
    pool_span levels = {.space = POOL_MEMORY_HOST};
    pool_status status;

    if (!matrices)
        return base_fail_memory("the matrices of a subtree");
    init_subtree(opening, 0, matrices, &subtree);
    levels.count = subtree.digest_count;
    status = commit_compute(opening->frame.name, &subtree, &opening->frame.exec, &levels, bytes);
    base_free(matrices);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static pool_status plan(void *user, uint64_t limit)
{
    struct opening *opening = user;
    const uint64_t gathered = commit_gather_bytes(opening);
    uint64_t subtree = 0;
    pool_status status = POOL_OK;

    if (gathered <= limit && opening->tree.first_level && opening->count)
        status = forecast_subtree(opening, &subtree);
    opening->frame.memory.bytes = base_max(gathered, subtree);
    return status;
}

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
    .list = list_matrices,
    .read = read_opening,
    .prepare = set_items,
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
