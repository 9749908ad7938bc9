/* SPDX-License-Identifier: Apache-2.0 */
/* docs/examples/sumcheck.c for bench_custom: see custom.h. One round, and the folds after it. */
#define main example_sumcheck
#define launch launch_example
#include "../../../docs/examples/sumcheck.c"
#undef launch
#undef main

#include "custom.h"

int example_sumcheck(int count, char **arguments);

struct state {
    struct prover prover;
    uint32_t half, blocks;
    uint64_t bytes; /* of a table */
    element *tables[2], *folded, challenge;
};

static void *create(pool_device *device, uint32_t log_size)
{
    const pool_field *field = pool_field_by_name("bn254_fr");
    struct state *s = calloc(1, sizeof(*s));
    uint32_t needed;

    if (!s)
        exit(1);
    s->half = 1u << (log_size - 1);
    s->bytes = sizeof(element) << log_size;
    s->folded = malloc(s->bytes);
    if (!s->folded)
        exit(1);
    plain_set_field(field);
    for (int k = 0; k < 2; k++) {
        s->tables[k] = malloc(s->bytes);
        if (!s->tables[k])
            exit(1);
        must(pool_random_scalars(field, 1 + (uint64_t)k, s->bytes / sizeof(element),
            POOL_FORM_MONTGOMERY, s->tables[k]));
        must(pool_buffer_from_host(device, s->tables[k], s->bytes, &s->prover.tables[k]));
    }
    must(pool_random_scalars(field, 100, 1, POOL_FORM_MONTGOMERY, &s->challenge));
    needed = (s->half + THREADS - 1) / THREADS;
    s->blocks = needed < 264 ? needed : 264; /* as the example */
    must(pool_buffer_alloc(device, s->blocks * 3 * sizeof(element), &s->prover.sums));
    must(pool_buffer_alloc(device, 3 * sizeof(element), &s->prover.total));
    return s;
}

static void reset(void *state)
{
    struct state *s = state;

    for (int k = 0; k < 2; k++)
        must(pool_copy_to_device(s->prover.tables[k], 0, s->tables[k], s->bytes, NULL));
    must(pool_buffer_fill8(s->prover.total, 0, 3 * sizeof(element), 0xff, NULL));
}

static void enqueue(pool_kernel *kernel, uint32_t blocks, uint32_t argument_count, void **arguments,
    pool_stream *stream)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {blocks},
        .block = {THREADS},
        .argument_count = argument_count};

    must(pool_launch(kernel, &shape, arguments, stream));
}

static void launch(void *state, pool_kernel *const *kernels, pool_stream *stream)
{
    struct state *s = state;
    CUdeviceptr table[2], sums, total;

    for (int k = 0; k < 2; k++)
        must(pool_buffer_address(s->prover.tables[k], &table[k]));
    must(pool_buffer_address(s->prover.sums, &sums));
    must(pool_buffer_address(s->prover.total, &total));
    enqueue(kernels[0], s->blocks, 4, (void *[]){&sums, &table[0], &table[1], &s->half}, stream);
    enqueue(kernels[1], 1, 3, (void *[]){&total, &sums, &s->blocks}, stream);
    for (int k = 0; k < 2; k++)
        enqueue(kernels[2], (s->half + THREADS - 1) / THREADS, 3,
            (void *[]){&table[k], &s->challenge, &s->half}, stream);
}

static int is_correct(void *state)
{
    struct state *s = state;
    element g[3];

    must(pool_copy_to_host(g, s->prover.total, 0, sizeof(g), NULL));
    check_round(s->tables, s->half, g, 0); /* ends the program if it differs */
    for (int k = 0; k < 2; k++) {
        element *device = s->folded + s->half;

        memcpy(s->folded, s->tables[k], s->bytes);
        fold_plain(s->folded, s->half, s->challenge);
        must(pool_copy_to_host(device, s->prover.tables[k], 0, s->bytes / 2, NULL));
        if (memcmp(device, s->folded, s->bytes / 2) != 0)
            return 0;
    }
    return 1;
}

static void destroy(void *state)
{
    struct state *s = state;

    must(pool_buffer_destroy(&s->prover.total));
    must(pool_buffer_destroy(&s->prover.sums));
    for (int k = 0; k < 2; k++) {
        must(pool_buffer_destroy(&s->prover.tables[k]));
        free(s->tables[k]);
    }
    free(s->folded);
    free(s);
}

const struct custom_example custom_sumcheck = {
    .name = "sumcheck",
    .source = source,
    .hand = "hand_sumcheck.cu",
    .kernels = {"round_sums", "add_sums", "fold"},
    .create = create,
    .reset = reset,
    .launch = launch,
    .is_correct = is_correct,
    .destroy = destroy,
};
