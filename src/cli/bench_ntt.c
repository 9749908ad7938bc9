/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures transforms in device memory, one or a batch of rows. Every result is checked by
 * evaluation at a random point, see check.h.
 */
#include <stdlib.h>

#include "bench.h"
#include "check.h"

struct transform {
    pool_ntt_params params;
    pool_exec exec;
    const pool_field *field;
    uint8_t *in;
    uint64_t elements;
    uint64_t bytes;
    pool_buffer *in_buffer;
    pool_buffer *out_buffer;
    pool_buffer *workspace;
    pool_span in_span;
    pool_span out_span;
};

static int has_field(const char *subject)
{
    return pool_field_by_name(subject) != NULL;
}

static uint64_t max_elements(const char *subject)
{
    return UINT64_C(1) << pool_field_two_adicity(pool_field_by_name(subject));
}

static pool_status create_domain(struct bench_work *work, struct transform *transform)
{
    pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = transform->field,
        .log_size = (uint32_t)__builtin_ctzll(work->size)};

    transform->params = (pool_ntt_params){.struct_size = sizeof(transform->params),
        .direction = (pool_ntt_direction)work->request->direction,
        .coset = work->request->is_coset,
        .order = (pool_ntt_order)work->request->order,
        .batch = work->request->batch};
    transform->exec = (pool_exec){.struct_size = sizeof(transform->exec),
        .device = work->device,
        .stream = work->stream,
        .is_async = 1};
    return pool_ntt_domain_create(&domain, &transform->params.domain);
}

static pool_status create_buffers(struct bench_work *work, struct transform *transform)
{
    uint64_t scratch = 0;
    pool_status status;

    status = pool_buffer_alloc(work->device, transform->bytes, &transform->out_buffer);
    if (!status)
        status = pool_buffer_from_host(
            work->device, transform->in, transform->bytes, &transform->in_buffer);
    if (!status)
        status = bench_span(transform->in_buffer, transform->elements, &transform->in_span);
    if (!status)
        status = bench_span(transform->out_buffer, transform->elements, &transform->out_span);
    if (!status)
        status = pool_ntt_workspace(&transform->params, &transform->exec, &transform->in_span,
            &transform->out_span, &scratch);
    if (!status && scratch)
        status = pool_buffer_alloc(work->device, scratch, &transform->workspace);
    transform->exec.workspace = transform->workspace;
    return status;
}

static pool_status open_transform(struct bench_work *work)
{
    struct transform *transform = cli_alloc(1, sizeof(*transform));
    pool_status status;

    work->state = transform;
    transform->field = pool_field_by_name(work->subject);
    status = create_domain(work, transform);
    if (status)
        return status;
    transform->elements = work->size * work->request->batch;
    transform->bytes = transform->elements * pool_field_element_bytes(transform->field);
    transform->in = cli_alloc(1, transform->bytes);
    work->units = (double)transform->elements;
    status = pool_random_scalars(
        transform->field, 1, transform->elements, POOL_FORM_STANDARD, transform->in);
    return status ? status : create_buffers(work, transform);
}

static pool_status prepare_transform(struct bench_work *work)
{
    struct transform *transform = work->state;

    return pool_ntt_warm_up(transform->params.domain, work->device);
}

static pool_status run_transform(struct bench_work *work)
{
    struct transform *transform = work->state;

    return pool_ntt(
        &transform->params, &transform->exec, &transform->in_span, &transform->out_span);
}

static pool_status check_transform(struct bench_work *work, int *is_correct)
{
    struct transform *transform = work->state;
    uint8_t *out = cli_alloc(1, transform->bytes);
    pool_status status = pool_copy_to_host(out, transform->out_buffer, 0, transform->bytes, NULL);

    if (!status)
        *is_correct = !pool_field_check(transform->field, out, transform->elements, NULL) &&
                      cli_check_ntt(&transform->params, transform->in, out);
    free(out);
    return status;
}

static void close_transform(struct bench_work *work)
{
    struct transform *transform = work->state;

    if (!transform)
        return;
    pool_buffer_destroy(&transform->in_buffer);
    pool_buffer_destroy(&transform->out_buffer);
    pool_buffer_destroy(&transform->workspace);
    pool_ntt_domain_destroy(&transform->params.domain);
    free(transform->in);
    free(transform);
}

const struct bench_operation bench_ntt = {
    .name = "ntt",
    .takes = "batch order inverse coset",
    .unit = "elements",
    .option = "field",
    .default_subjects = "bn254_fr",
    .default_sizes = "2^10,2^12,2^14",
    .needs_powers = 1,
    .has_subject = has_field,
    .max_size = max_elements,
    .open = open_transform,
    .prepare = prepare_transform,
    .run = run_transform,
    .check = check_transform,
    .close = close_transform,
};
