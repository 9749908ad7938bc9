/* SPDX-License-Identifier: Apache-2.0 */
/* docs/examples/quotient.c for bench_custom: see custom.h. */
#define main example_quotient
#include "../../../docs/examples/quotient.c"
#undef main

#include "custom.h"

int example_quotient(int count, char **arguments);

struct state {
    uint32_t n;
    element scalars[SCALARS], *table, *out;
    pool_buffer *columns, *proof, *result;
};

static void *create(pool_device *device, uint32_t log_size)
{
    const pool_field *field = pool_field_by_name("bn254_fr");
    struct state *s = calloc(1, sizeof(*s));

    if (!s)
        exit(1);
    s->n = 1u << log_size;
    s->table = malloc(COLUMNS * (size_t)s->n * sizeof(*s->table));
    s->out = malloc(s->n * sizeof(*s->out));
    if (!s->table || !s->out)
        exit(1);
    plain_set_field(field);
    must(pool_random_scalars(field, 1, COLUMNS * (size_t)s->n, POOL_FORM_MONTGOMERY, s->table));
    must(pool_random_scalars(field, 2, SCALARS, POOL_FORM_MONTGOMERY, s->scalars));
    must(pool_field_parse(field, "1", POOL_FORM_MONTGOMERY, &s->scalars[ONE]));
    must(pool_buffer_from_host(
        device, s->table, COLUMNS * (uint64_t)s->n * sizeof(*s->table), &s->columns));
    must(pool_buffer_from_host(device, s->scalars, sizeof(s->scalars), &s->proof));
    must(pool_buffer_alloc(device, s->n * sizeof(*s->out), &s->result));
    return s;
}

static void reset(void *state)
{
    struct state *s = state;

    must(pool_buffer_fill8(s->result, 0, s->n * sizeof(*s->out), 0xff, NULL));
}

static void launch(void *state, pool_kernel *const *kernels, pool_stream *stream)
{
    struct state *s = state;
    CUdeviceptr column[COLUMNS], proof, result;
    void *arguments[] = {&result, column, &proof, &s->n};
    pool_launch_shape shape = {.struct_size = sizeof(shape)};

    must(pool_buffer_address(s->columns, &column[0]));
    for (int k = 1; k < COLUMNS; k++)
        column[k] = column[k - 1] + (uint64_t)s->n * sizeof(element);
    must(pool_buffer_address(s->proof, &proof));
    must(pool_buffer_address(s->result, &result));
    must(pool_launch_shape_for(s->n, &shape));
    shape.argument_count = 4;
    must(pool_launch(kernels[0], &shape, arguments, stream));
}

static int is_correct(void *state)
{
    struct state *s = state;

    must(pool_copy_to_host(s->out, s->result, 0, s->n * sizeof(*s->out), NULL));
    for (uint32_t i = 0; i < s->n; i++) {
        const element expected = plain_quotient(s->table, s->scalars, s->n, i);

        if (memcmp(&expected, &s->out[i], sizeof(expected)) != 0)
            return 0;
    }
    return 1;
}

static void destroy(void *state)
{
    struct state *s = state;

    must(pool_buffer_destroy(&s->result));
    must(pool_buffer_destroy(&s->proof));
    must(pool_buffer_destroy(&s->columns));
    free(s->out);
    free(s->table);
    free(s);
}

const struct custom_example custom_quotient = {
    .name = "quotient",
    .source = source,
    .hand = "hand_quotient.cu",
    .kernels = {"quotient"},
    .create = create,
    .reset = reset,
    .launch = launch,
    .is_correct = is_correct,
    .destroy = destroy,
};
