/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures commitments to a matrix of columns in device memory, whose levels stay there, or,
 * together, matrix and levels in shards or pinned memory. The size is the number of
 * rows, the batch that of the columns. Openings of a sample of the rows are verified against the
 * root on the host.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { SAMPLES = 16 };

struct commit_state {
    pool_poseidon *set;
    pool_matrix_commit_params params;
    pool_matrix_commit_shape shape;
    size_t element_bytes;
    size_t digest_bytes;
    uint8_t *elements; /* column by column */
    pool_matrix matrix;
    struct bench_array columns;
    struct bench_array levels;
};

/* Sets whose function compresses two digests. */
static bool has_set(const char *subject)
{
    pool_poseidon *set = NULL;
    pool_status status = pool_poseidon_by_name(subject, &set);
    bool compresses =
        !status && 2 * pool_poseidon_digest_elements(set) <= pool_poseidon_max_inputs(set);

    pool_poseidon_destroy(&set);
    return compresses;
}

static pool_status create_commit(struct bench_run *run)
{
    const struct bench_case *spec = &run->spec;
    struct commit_state *commit = bench_keep(run, 1, sizeof(*commit));
    const pool_field *field;
    pool_status status;

    run->state = commit;
    run->units = (double)spec->size;
    status = pool_poseidon_by_name(spec->subject, &commit->set);
    if (status)
        return status;
    field = pool_poseidon_field(commit->set);
    commit->element_bytes = pool_field_element_bytes(field);
    commit->digest_bytes = pool_poseidon_digest_elements(commit->set) * commit->element_bytes;
    commit->params =
        (pool_matrix_commit_params){.struct_size = sizeof(commit->params), .set = commit->set};
    commit->matrix = (pool_matrix){.height = spec->size, .width = (uint32_t)spec->batch};
    commit->shape.struct_size = sizeof(commit->shape);
    status = pool_matrix_commit_get_shape(&commit->params, &commit->matrix, 1, &commit->shape);
    if (status)
        return status;
    commit->elements = bench_keep(run, spec->size * spec->batch, commit->element_bytes);
    return bench_random_scalars(
        field, 1, spec->size * spec->batch, POOL_FORM_MONTGOMERY, commit->elements);
}

static pool_status warm_up_commit(struct bench_run *run)
{
    const struct commit_state *commit = run->state;

    return pool_matrix_commit_warm_up(
        &commit->params, &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});
}

static pool_status upload_commit(struct bench_run *run)
{
    struct commit_state *commit = run->state;
    uint64_t digests[BENCH_MAX_DEVICES];
    struct bench_items levels = {.item_bytes = commit->digest_bytes,
        .count = commit->shape.digest_count,
        .form = POOL_FORM_MONTGOMERY};
    pool_status status = bench_place(run,
        &(struct bench_items){.from = commit->elements,
            .item_bytes = run->spec.size * commit->element_bytes,
            .count = run->spec.batch,
            .form = POOL_FORM_MONTGOMERY},
        &commit->columns);

    commit->matrix.span = commit->columns.span;
    if (!status && commit->columns.shards) {
        status =
            pool_matrix_commit_shards(&commit->params, &run->exec, &commit->matrix, 1, digests);
        levels.each = digests;
    }
    return status ? status : bench_place(run, &levels, &commit->levels);
}

static pool_status call_commit(struct bench_run *run)
{
    const struct commit_state *commit = run->state;

    return pool_matrix_commit(
        &commit->params, &run->exec, &commit->matrix, 1, &commit->levels.span);
}

/* ---- the check ------------------------------------------------------------------------------- */

static const uint8_t *element_at(
    const struct bench_commitment *commitment, uint64_t row, uint32_t column, size_t bytes)
{
    const pool_matrix *matrix = commitment->matrix;

    return commitment->elements + (matrix->layout == POOL_MATRIX_ROWS
                                          ? row * matrix->width + column
                                          : column * matrix->height + row) *
                                      bytes;
}

/* The opened row is that of the matrix, and belongs to the root. */
static pool_status check_row(const struct bench_commitment *commitment, uint64_t index,
    const uint8_t *row, const uint8_t *path, bool *is_correct)
{
    const pool_matrix *matrix = commitment->matrix;
    const size_t bytes = pool_field_element_bytes(pool_poseidon_field(commitment->params->set));
    int32_t is_member = 0;
    pool_status status = pool_matrix_verify(commitment->params, matrix->span.form, matrix, 1,
        commitment->root, index, row, path, &is_member);

    for (uint32_t i = 0; i < matrix->width; i++)
        if (memcmp(row + i * bytes, element_at(commitment, index, i, bytes), bytes))
            is_member = 0;
    *is_correct = *is_correct && is_member;
    return status;
}

pool_status bench_check_openings(const struct bench_commitment *commitment, bool *is_correct)
{
    const pool_matrix *matrix = commitment->matrix;
    const pool_poseidon *set = commitment->params->set;
    const size_t element = pool_field_element_bytes(pool_poseidon_field(set));
    const pool_form form = matrix->span.form;
    const uint64_t row_bytes = matrix->width * element;
    const uint32_t height = (uint32_t)__builtin_ctzll(matrix->height);
    const uint64_t path_bytes = height * pool_poseidon_digest_elements(set) * element;
    uint8_t *rows = bench_alloc(SAMPLES, row_bytes), *paths = bench_alloc(SAMPLES, path_bytes + 1);
    const pool_span row_span = {.data = rows, .count = SAMPLES, .form = form};
    const pool_span path_span = {.data = paths, .count = SAMPLES * height, .form = form};
    uint64_t indices[SAMPLES];
    pool_status status;

    for (uint64_t i = 0; i < SAMPLES; i++)
        indices[i] = i * (matrix->height - 1) / (SAMPLES - 1);
    status = pool_matrix_open(commitment->params, commitment->exec, matrix, 1, commitment->levels,
        indices, SAMPLES, &row_span, &path_span);
    *is_correct = true;
    for (uint64_t i = 0; i < SAMPLES && !status; i++)
        status = check_row(
            commitment, indices[i], rows + i * row_bytes, paths + i * path_bytes, is_correct);
    free(paths);
    free(rows);
    return status;
}

static pool_status check_commit(struct bench_run *run, bool *is_correct)
{
    const struct commit_state *commit = run->state;
    const pool_exec one = {.struct_size = sizeof(one), .device = run->device};
    uint8_t *root = bench_alloc(1, commit->digest_bytes);
    const struct bench_commitment commitment = {.params = &commit->params,
        .exec = run->together ? &run->exec : &one,
        .matrix = &commit->matrix,
        .levels = &commit->levels.span,
        .root = root,
        .elements = commit->elements};
    pool_status status = bench_copy_root(&commit->levels, root);

    if (!status)
        status = bench_check_openings(&commitment, is_correct);
    free(root);
    return status;
}

static void destroy_commit(struct bench_run *run)
{
    struct commit_state *commit = run->state;

    pool_poseidon_destroy(&commit->set);
}

const struct bench_operation bench_commit = {
    .name = "commit",
    .options = "batch together sharded",
    .unit = "rows",
    .option = "set",
    .arrays = 1,
    .default_subjects = "poseidon2-plonky3-babybear-t16",
    .default_sizes = "2^8,2^10,2^12",
    .needs_powers = true,
    .has_subject = has_set,
    .create = create_commit,
    .warm_up = warm_up_commit,
    .upload = upload_commit,
    .call = call_commit,
    .check = check_commit,
    .destroy = destroy_commit,
};
