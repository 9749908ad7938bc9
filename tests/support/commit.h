/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of commitments to matrices: matrices in any layout, memory space and form, and the tree
 * by the host's sponge and fixed-length hash.
 */
#ifndef TESTS_SUPPORT_COMMIT_H
#define TESTS_SUPPORT_COMMIT_H

#include "support/poseidon.h"

enum { MATRICES_MAX = 8 };

/* A matrix's elements in standard form, row by row, and the memory that its span describes. */
struct commit_input {
    uint64_t height;
    uint32_t width;
    unsigned char *rows;
    unsigned char *memory;
    pool_buffer *buffer;
};

struct commit_problem {
    pool_matrix_commit_params params;
    uint32_t count;
    struct commit_input input[MATRICES_MAX];
    pool_matrix matrices[MATRICES_MAX];
    pool_matrix_commit_shape shape;
    unsigned char *wanted; /* the kept levels, in standard form */
};

/* How matrices and levels are stored; bit 0 of `layouts` is that of the first matrix. */
struct commit_storage {
    uint32_t layouts; /* 1: rows */
    uint32_t spaces;  /* 1: on the device */
    uint32_t gaps;    /* 1: strided */
    pool_form form;
    pool_memory_space levels_space;
    pool_form levels_form;
};

static inline size_t commit_element(const struct commit_problem *problem)
{
    return element_bytes(problem->params.set);
}

static inline size_t commit_digest(const struct commit_problem *problem)
{
    return pool_poseidon_digest_elements(problem->params.set) * commit_element(problem);
}

/* ---- the tree on the host -------------------------------------------------------------------- */

static inline void commit_hash_row(
    const struct commit_problem *problem, uint64_t height, uint64_t row, unsigned char *digest)
{
    const pool_poseidon *set = problem->params.row_set;
    const size_t element = commit_element(problem);
    pool_poseidon_sponge_params sponge = {
        .struct_size = sizeof(sponge), .mode = POOL_SPONGE_OVERWRITE};
    unsigned char *elements = calloc(1, problem->shape.row_elements * element);
    pool_span in = {.data = elements, .count = 1}, out = {.data = digest, .count = 1};

    for (uint32_t i = 0; i < problem->count; i++) {
        const struct commit_input *input = &problem->input[i];

        if (input->height != height)
            continue;
        memcpy(elements + sponge.elements * element, input->rows + row * input->width * element,
            input->width * element);
        sponge.elements += input->width;
    }
    if (problem->params.keeps_short_rows && sponge.elements * element <= commit_digest(problem))
        memcpy(digest, elements, sponge.elements * element);
    else
        assert_ok(pool_poseidon_sponge(set, &on_host, &sponge, &in, &out));
    free(elements);
}

static inline void commit_compress(
    const struct commit_problem *problem, const void *left, const void *right, void *digest)
{
    const size_t bytes = commit_digest(problem);
    unsigned char both[256];
    pool_span in = {.data = both, .count = 1}, out = {.data = digest, .count = 1};

    memcpy(both, left, bytes);
    memcpy(both + bytes, right, bytes);
    assert_ok(pool_poseidon_hash(problem->params.set, &on_host, &in,
        2 * pool_poseidon_digest_elements(problem->params.set), &out));
}

static inline bool commit_has_height(const struct commit_problem *problem, uint64_t height)
{
    for (uint32_t i = 0; i < problem->count; i++)
        if (problem->input[i].height == height)
            return true;
    return false;
}

/* All levels, from that of the rows to the cap. */
static inline unsigned char *commit_reference(const struct commit_problem *problem, uint64_t *bytes)
{
    const size_t digest = commit_digest(problem);
    const uint64_t leaves = problem->shape.cap_count << problem->shape.height;
    unsigned char *levels = calloc(2 * leaves, digest), *level = levels, row[128];
    uint64_t nodes = leaves;

    for (uint64_t i = 0; i < nodes; i++)
        commit_hash_row(problem, leaves, i, level + i * digest);
    while (nodes > problem->shape.cap_count) {
        unsigned char *next = level + nodes * digest;

        nodes /= 2;
        for (uint64_t i = 0; i < nodes; i++) {
            commit_compress(
                problem, level + 2 * i * digest, level + (2 * i + 1) * digest, next + i * digest);
            if (!commit_has_height(problem, nodes))
                continue;
            memset(row, 0, sizeof(row));
            commit_hash_row(problem, nodes, i, row);
            commit_compress(problem, next + i * digest, row, next + i * digest);
        }
        level = next;
    }
    *bytes = (uint64_t)(level - levels) + nodes * digest;
    return levels;
}

/* ---- problems -------------------------------------------------------------------------------- */

/* The elements are in input[i].rows or, where that is NULL, random. */
static inline void commit_open(struct commit_problem *problem)
{
    uint64_t bytes;
    unsigned char *levels;

    if (!problem->params.row_set)
        problem->params.row_set = problem->params.set;
    problem->params.struct_size = sizeof(problem->params);
    for (uint32_t i = 0; i < problem->count; i++) {
        struct commit_input *input = &problem->input[i];

        if (!input->rows)
            input->rows = random_elements(
                problem->params.set, input->height * input->width, POOL_FORM_STANDARD);
        problem->matrices[i] = (pool_matrix){.height = input->height, .width = input->width};
    }
    problem->shape.struct_size = sizeof(problem->shape);
    assert_ok(pool_matrix_commit_get_shape(
        &problem->params, problem->matrices, problem->count, &problem->shape));
    levels = commit_reference(problem, &bytes);
    problem->wanted = calloc(1, problem->shape.bytes);
    memcpy(problem->wanted, levels + bytes - problem->shape.bytes, problem->shape.bytes);
    free(levels);
}

static inline void commit_convert(
    const struct commit_problem *problem, unsigned char *data, uint64_t count, pool_form to)
{
    if (to == POOL_FORM_MONTGOMERY)
        assert_ok(
            pool_field_to_montgomery(pool_poseidon_field(problem->params.set), data, count, data));
}

/* Stores the matrices as `storage` says. */
static inline void commit_store(
    struct commit_problem *problem, const struct commit_storage *storage)
{
    const size_t element = commit_element(problem);

    for (uint32_t i = 0; i < problem->count; i++) {
        struct commit_input *input = &problem->input[i];
        pool_matrix *matrix = &problem->matrices[i];
        const bool has_rows = storage->layouts >> i & 1;
        const uint64_t items = has_rows ? input->height : input->width;
        const uint64_t length = has_rows ? input->width : input->height;
        const uint64_t stride = (length + (storage->gaps >> i & 1)) * element;
        CUdeviceptr address;

        input->memory = calloc(items, stride);
        for (uint64_t row = 0; row < input->height; row++)
            for (uint32_t column = 0; column < input->width; column++) {
                unsigned char *to = input->memory + (has_rows ? row : column) * stride +
                                    (has_rows ? column : row) * element;

                memcpy(to, input->rows + (row * input->width + column) * element, element);
                commit_convert(problem, to, 1, storage->form);
            }
        *matrix = (pool_matrix){.height = input->height,
            .width = input->width,
            .layout = has_rows ? POOL_MATRIX_ROWS : POOL_MATRIX_COLUMNS,
            .span = {.data = input->memory,
                .count = items,
                .stride = storage->gaps >> i & 1 ? stride : 0,
                .form = storage->form}};
        if (!(storage->spaces >> i & 1))
            continue;
        assert_ok(pool_buffer_from_host(device, input->memory, items * stride, &input->buffer));
        assert_ok(pool_buffer_address(input->buffer, &address));
        matrix->span.data = (void *)(uintptr_t)address;
        matrix->span.space = POOL_MEMORY_DEVICE;
    }
}

static inline void commit_drop(struct commit_problem *problem)
{
    for (uint32_t i = 0; i < problem->count; i++) {
        assert_ok(pool_buffer_destroy(&problem->input[i].buffer));
        free(problem->input[i].memory);
        problem->input[i].memory = NULL;
    }
}

static inline void commit_close(struct commit_problem *problem)
{
    for (uint32_t i = 0; i < problem->count; i++) {
        free(problem->input[i].rows);
        problem->input[i].rows = NULL;
    }
    free(problem->wanted);
}

#endif
