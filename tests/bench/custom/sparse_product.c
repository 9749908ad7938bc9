/* SPDX-License-Identifier: Apache-2.0 */
/* docs/examples/sparse_product.c for bench_custom: see custom.h. */
#define main example_sparse_product
#include "../../../docs/examples/sparse_product.c"
#undef main

#include "custom.h"

int example_sparse_product(int count, char **arguments);

enum { Y, ROW_START, COLUMN, VALUE, W, BUFFERS };

struct state {
    struct matrix matrix;
    element *w, *y;
    pool_buffer *buffers[BUFFERS];
};

static void *create(pool_device *device, uint32_t log_size)
{
    const pool_field *field = pool_field_by_name("bn254_fr");
    struct state *s = allocate(1, sizeof(*s));
    uint64_t rows, entries;

    plain_set_field(field);
    s->matrix = make_matrix(field, 1u << log_size);
    rows = s->matrix.rows;
    entries = s->matrix.row_start[rows];
    s->w = allocate(rows, sizeof(*s->w));
    s->y = allocate(rows, sizeof(*s->y));
    must(pool_random_scalars(field, 2, rows, POOL_FORM_MONTGOMERY, s->w));
    must(pool_buffer_alloc(device, rows * sizeof(*s->y), &s->buffers[Y]));
    must(
        pool_buffer_from_host(device, s->matrix.row_start, (rows + 1) * 4, &s->buffers[ROW_START]));
    must(pool_buffer_from_host(device, s->matrix.column, entries * 4, &s->buffers[COLUMN]));
    must(pool_buffer_from_host(
        device, s->matrix.value, entries * sizeof(element), &s->buffers[VALUE]));
    must(pool_buffer_from_host(device, s->w, rows * sizeof(*s->w), &s->buffers[W]));
    return s;
}

static void reset(void *state)
{
    struct state *s = state;

    must(pool_buffer_fill8(s->buffers[Y], 0, s->matrix.rows * sizeof(*s->y), 0xff, NULL));
}

static void launch(void *state, pool_kernel *const *kernels, pool_stream *stream)
{
    struct state *s = state;
    CUdeviceptr addresses[BUFFERS];
    void *arguments[BUFFERS + 1];
    pool_launch_shape shape = {.struct_size = sizeof(shape)};

    for (int i = 0; i < BUFFERS; i++) {
        must(pool_buffer_address(s->buffers[i], &addresses[i]));
        arguments[i] = &addresses[i];
    }
    arguments[BUFFERS] = &s->matrix.rows;
    must(pool_launch_shape_for(s->matrix.rows, &shape));
    shape.argument_count = BUFFERS + 1;
    must(pool_launch(kernels[0], &shape, arguments, stream));
}

static int is_correct(void *state)
{
    struct state *s = state;

    must(pool_copy_to_host(s->y, s->buffers[Y], 0, s->matrix.rows * sizeof(*s->y), NULL));
    for (uint32_t row = 0; row < s->matrix.rows; row++) {
        const element expected = plain_row(&s->matrix, s->w, row);

        if (memcmp(&expected, &s->y[row], sizeof(expected)) != 0)
            return 0;
    }
    return 1;
}

static void destroy(void *state)
{
    struct state *s = state;

    for (int i = 0; i < BUFFERS; i++)
        must(pool_buffer_destroy(&s->buffers[i]));
    free(s->y);
    free(s->w);
    free(s->matrix.value);
    free(s->matrix.column);
    free(s->matrix.row_start);
    free(s);
}

const struct custom_example custom_sparse_product = {
    .name = "sparse_product",
    .source = source,
    .hand = "hand_sparse_product.cu",
    .kernels = {"multiply"},
    .create = create,
    .reset = reset,
    .launch = launch,
    .is_correct = is_correct,
    .destroy = destroy,
};
