/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a tree over matrices: validation of params, matrices and their spans.
 */
#include "zk/commit/commit.h"

#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "poseidon/args.h"

const struct base_struct commit_params_type = BASE_STRUCT(pool_matrix_commit_params);

void pool_matrix_commit_params_init(pool_matrix_commit_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static pool_status check_sets(const char *call, const struct commit_tree *tree)
{
    const pool_poseidon *set = tree->set, *row_set = tree->row_set;
    uint32_t words = set->digest_elements * set->field->words;

    if (memcmp(set->field->fingerprint, row_set->field->fingerprint, POOL_FINGERPRINT_BYTES) ||
        set->digest_elements != row_set->digest_elements)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `row_set` %s has digests of %u elements of %s, `set` %s of %u elements of %s",
            call, row_set->name, row_set->digest_elements, row_set->field->name, set->name,
            set->digest_elements, set->field->name);
    if (2 * set->digest_elements > set->max_inputs)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `set` %s hashes at most %u elements, and two digests have %u", call, set->name,
            set->max_inputs, 2 * set->digest_elements);
    if (row_set->digest_elements > row_set->rate)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the rate of %s is %u, and a digest has %u elements", call, row_set->name,
            row_set->rate, row_set->digest_elements);
    return words <= POSEIDON_NODE_WORDS ? POOL_OK
                                        : base_fail(POOL_ERR_UNSUPPORTED,
                                              "%s: digests of %s have %u words, at most %d are "
                                              "supported",
                                              call, set->name, words, POSEIDON_NODE_WORDS);
}

static pool_status read_params(
    const char *call, const pool_matrix_commit_params *given, pool_matrix_commit_params *params)
{
    pool_status status = base_struct_read(&commit_params_type, call, "params", given, params);

    if (!status && !params->set)
        status = base_fail_null(call, "params->set");
    if (!status)
        status = base_check_ranges(call, {"keeps_short_rows", params->keeps_short_rows, 0, 1},
            {"reserved", params->reserved, 0, 0});
    if (!status && !params->row_set)
        params->row_set = params->set;
    return status;
}

static pool_status read_matrices(const char *call, struct commit_tree *tree)
{
    if (!tree->matrices)
        return base_fail_null(call, "matrices");
    if (tree->count == 0 || tree->count > COMMIT_MAX_MATRICES)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `count`; it must be 1 to %d", call, tree->count,
            COMMIT_MAX_MATRICES);
    for (uint32_t i = 0; i < tree->count; i++) {
        const pool_matrix *matrix = &tree->matrices[i];

        if (!base_is_power_of_two(matrix->height) || matrix->height > UINT64_C(1)
                                                                          << COMMIT_MAX_LOG_HEIGHT)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: unsupported value %llu for `height` of matrix %u; heights are powers of two "
                "up to 2^%d",
                call, (unsigned long long)matrix->height, i, COMMIT_MAX_LOG_HEIGHT);
        if (matrix->width == 0)
            return base_fail(
                POOL_ERR_INVALID_ARGUMENT, "%s: `width` of matrix %u must not be 0", call, i);
        if (matrix->layout != POOL_MATRIX_COLUMNS && matrix->layout != POOL_MATRIX_ROWS)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: unsupported value %d for `layout` of matrix %u", call, (int)matrix->layout, i);
        tree->row_elements += matrix->width;
        if (tree->row_elements > UINT32_MAX)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: the matrices up to number %u have %llu columns, at most 2^32 - 1 are "
                "supported",
                call, i, (unsigned long long)tree->row_elements);
        tree->rows = base_max(tree->rows, matrix->height);
    }
    return POOL_OK;
}

static pool_status set_levels(
    const char *call, const pool_matrix_commit_params *params, struct commit_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (params->cap_height > COMMIT_MAX_LOG_HEIGHT ||
            tree->matrices[i].height < UINT64_C(1) << params->cap_height)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: unsupported value %u for `cap_height`; matrix %u has %llu rows", call,
                params->cap_height, i, (unsigned long long)tree->matrices[i].height);
    tree->height = (uint32_t)__builtin_ctzll(tree->rows) - params->cap_height;
    if (params->kept_levels > tree->height + 1)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `kept_levels`; the tree has %u levels", call,
            params->kept_levels, tree->height + 1);
    if (params->kept_levels)
        tree->first_level = tree->height + 1 - params->kept_levels;
    tree->digest_count =
        commit_level_start(tree, tree->height) + commit_level_nodes(tree, tree->height);
    for (uint32_t level = tree->first_level; level <= tree->height; level++)
        tree->level_target[level] = commit_level_start(tree, level);
    return POOL_OK;
}

pool_status commit_tree_init(const char *call, const pool_matrix_commit_params *given,
    const pool_matrix *matrices, uint32_t count, struct commit_tree *tree)
{
    pool_matrix_commit_params params;
    pool_status status = read_params(call, given, &params);

    if (status)
        return status;
    *tree = (struct commit_tree){.set = params.set,
        .row_set = params.row_set,
        .field = params.set->field,
        .matrices = matrices,
        .count = count,
        .keeps_short_rows = params.keeps_short_rows,
        .digest_bytes = (size_t)params.set->digest_elements * params.set->field->bytes};
    status = check_sets(call, tree);
    if (!status)
        status = read_matrices(call, tree);
    return status ? status : set_levels(call, &params, tree);
}

uint64_t commit_level_width(const struct commit_tree *tree, uint32_t level)
{
    uint64_t width = 0;

    for (uint32_t i = 0; i < tree->count; i++)
        if (commit_matrix_level(tree, &tree->matrices[i]) == level)
            width += tree->matrices[i].width;
    return width;
}

void commit_list_matrix(
    const struct commit_tree *tree, uint32_t index, struct operation_operand *operand)
{
    const pool_matrix *matrix = &tree->matrices[index];

    operand->span = &matrix->span;
    operand->item = (struct span_item){.bytes = commit_item_elements(matrix) * tree->field->bytes,
        .kind = matrix->layout == POOL_MATRIX_ROWS ? "rows" : "columns",
        .name = tree->field->name};
    (void)snprintf(operand->name, sizeof(operand->name), "span of matrix %u", index);
}

pool_status commit_check_matrices(const char *call, const struct commit_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        const pool_matrix *matrix = &tree->matrices[i];
        const uint64_t items = commit_item_count(matrix);

        if (matrix->span.count != items)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: the span of matrix %u must have its %llu %s, %llu are given", call, i,
                (unsigned long long)items, matrix->layout == POOL_MATRIX_ROWS ? "rows" : "columns",
                (unsigned long long)matrix->span.count);
    }
    return POOL_OK;
}

struct poseidon_sponge commit_row_sponge(const struct commit_tree *tree, uint32_t elements)
{
    return (struct poseidon_sponge){.elements = elements,
        .output_elements = tree->row_set->digest_elements,
        .rate = tree->row_set->rate,
        .mode = POOL_SPONGE_OVERWRITE,
        .padding = POOL_SPONGE_PAD_NONE};
}

pool_status pool_matrix_commit_get_shape(const pool_matrix_commit_params *params,
    const pool_matrix *matrices, uint32_t count, pool_matrix_commit_shape *shape)
{
    static const struct base_struct type = BASE_STRUCT(pool_matrix_commit_shape);
    pool_matrix_commit_shape found = {0};
    struct commit_tree tree;
    pool_status status = base_struct_check(&type, "pool_matrix_commit_get_shape", "shape", shape);

    if (!status)
        status = commit_tree_init("pool_matrix_commit_get_shape", params, matrices, count, &tree);
    if (status)
        return status;
    found.height = tree.height;
    found.first_level = tree.first_level;
    found.digest_count = tree.digest_count;
    found.cap_count = commit_level_nodes(&tree, tree.height);
    found.row_elements = tree.row_elements;
    found.bytes = tree.digest_count * tree.digest_bytes;
    base_struct_write(&type, &found, shape);
    return POOL_OK;
}
