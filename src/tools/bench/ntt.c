/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures transforms in device memory, one or a batch. Every result is checked by evaluation at a
 * random point.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static bool has_field(const char *subject)
{
    return pool_field_by_name(subject) != NULL;
}

static uint64_t max_elements(const char *subject)
{
    return UINT64_C(1) << pool_field_two_adicity(pool_field_by_name(subject));
}

static pool_status create_ntt(struct bench_run *run)
{
    struct bench_ntt_state *ntt = bench_alloc(1, sizeof(*ntt));
    const struct bench_case *spec = &run->spec;
    uint64_t count = spec->size * spec->batch;
    pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = pool_field_by_name(spec->subject),
        .log_size = (uint32_t)__builtin_ctzll(spec->size)};

    run->state = ntt;
    run->units = (double)count;
    ntt->field = domain.field;
    ntt->params = (pool_ntt_params){.struct_size = sizeof(ntt->params),
        .direction = spec->direction,
        .coset = spec->is_coset,
        .order = spec->order,
        .batch = spec->batch};
    ntt->exec = (pool_exec){.struct_size = sizeof(ntt->exec),
        .device = run->device,
        .stream = run->stream,
        .is_async = 1};
    ntt->bytes = count * pool_field_element_bytes(ntt->field);
    ntt->input = bench_alloc(1, ntt->bytes);
    pool_status status = pool_ntt_domain_create(&domain, &ntt->params.domain);
    return status ? status
                  : bench_random_scalars(ntt->field, 1, count, POOL_FORM_STANDARD, ntt->input);
}

static pool_status warm_up_ntt(struct bench_run *run)
{
    struct bench_ntt_state *ntt = run->state;

    return pool_ntt_warm_up(
        ntt->params.domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});
}

static pool_status pin_ntt(struct bench_run *run, struct bench_ntt_state *ntt, uint64_t count)
{
    pool_status status = bench_pin(
        run, ntt->input, ntt->bytes, count, POOL_FORM_STANDARD, &ntt->pinned[0], &ntt->input_span);

    ntt->exec = *run->together;
    return status ? status
                  : bench_pin(run, NULL, ntt->bytes, count, POOL_FORM_STANDARD, &ntt->pinned[1],
                        &ntt->output_span);
}

/* Transforms are dealt out whole, or each is split: then natural order is cyclic. */
static pool_status shard_ntt(struct bench_run *run, struct bench_ntt_state *ntt, uint64_t count)
{
    const bool is_split = run->spec.batch < run->together->device_count;
    const bool takes_natural = run->spec.order == POOL_NTT_NN || run->spec.order == POOL_NTT_NR;
    const bool gives_natural = run->spec.order == POOL_NTT_NN || run->spec.order == POOL_NTT_RN;
    const uint64_t bytes = ntt->bytes / count, unit = is_split ? 1 : run->spec.size;
    pool_status status = bench_shard(run, ntt->input, bytes, unit, count, POOL_FORM_STANDARD,
        is_split && takes_natural, &ntt->shards[0], &ntt->input_span);

    ntt->exec = *run->together;
    return status ? status
                  : bench_shard(run, NULL, bytes, unit, count, POOL_FORM_STANDARD,
                        is_split && gives_natural, &ntt->shards[1], &ntt->output_span);
}

static pool_status upload_ntt(struct bench_run *run)
{
    struct bench_ntt_state *ntt = run->state;
    uint64_t count = run->spec.size * run->spec.batch;
    uint64_t workspace_bytes = 0;

    if (run->together)
        return run->is_sharded ? shard_ntt(run, ntt, count) : pin_ntt(run, ntt, count);
    pool_status status = pool_buffer_alloc(run->device, ntt->bytes, &ntt->output_buffer);

    if (!status)
        status = pool_buffer_from_host(run->device, ntt->input, ntt->bytes, &ntt->input_buffer);
    if (!status)
        status =
            pool_buffer_span(ntt->input_buffer, 0, count, POOL_FORM_STANDARD, &ntt->input_span);
    if (!status)
        status =
            pool_buffer_span(ntt->output_buffer, 0, count, POOL_FORM_STANDARD, &ntt->output_span);
    if (!status)
        status = pool_ntt_workspace(
            &ntt->params, &ntt->exec, &ntt->input_span, &ntt->output_span, &workspace_bytes);
    if (!status && workspace_bytes)
        status = pool_buffer_alloc(run->device, workspace_bytes, &ntt->workspace);
    ntt->exec.workspace = ntt->workspace;
    return status;
}

static pool_status call_ntt(struct bench_run *run)
{
    struct bench_ntt_state *ntt = run->state;

    return pool_ntt(&ntt->params, &ntt->exec, &ntt->input_span, &ntt->output_span);
}

static pool_exec *exec_of_ntt(struct bench_run *run)
{
    struct bench_ntt_state *ntt = run->state;

    return &ntt->exec;
}

static void locate_ntt(const struct bench_run *run, struct bench_result *result)
{
    const struct bench_ntt_state *ntt = run->state;

    *result = (struct bench_result){.buffer = ntt->output_buffer, .bytes = ntt->bytes};
}

static pool_status check_ntt(struct bench_run *run, bool *is_correct)
{
    struct bench_ntt_state *ntt = run->state;
    uint8_t *output = bench_alloc(1, ntt->bytes);
    pool_status status = POOL_OK;

    if (ntt->shards[1])
        status = bench_gather(ntt->shards[1], output);
    else if (run->together)
        memcpy(output, ntt->output_span.data, ntt->bytes);
    else
        status = pool_copy_to_host(output, ntt->output_buffer, 0, ntt->bytes, NULL);
    if (!status)
        *is_correct =
            !pool_field_check(ntt->field, output, run->spec.size * run->spec.batch, NULL) &&
            bench_check_ntt(&ntt->params, ntt->input, output);
    free(output);
    return status;
}

static void destroy_ntt(struct bench_run *run)
{
    struct bench_ntt_state *ntt = run->state;

    if (!ntt)
        return;
    pool_buffer_destroy(&ntt->input_buffer);
    pool_buffer_destroy(&ntt->output_buffer);
    pool_buffer_destroy(&ntt->workspace);
    pool_pinned_destroy(&ntt->pinned[0]);
    pool_pinned_destroy(&ntt->pinned[1]);
    bench_shards_destroy(&ntt->shards[0]);
    bench_shards_destroy(&ntt->shards[1]);
    pool_ntt_domain_destroy(&ntt->params.domain);
    free(ntt->input);
    free(ntt);
}

const struct bench_operation bench_ntt = {
    .name = "ntt",
    .options = "batch order inverse coset together sharded",
    .unit = "elements",
    .option = "field",
    .default_subjects = "bn254_fr",
    .default_sizes = "2^10,2^12,2^14",
    .needs_powers = true,
    .has_subject = has_field,
    .max_size = max_elements,
    .create = create_ntt,
    .warm_up = warm_up_ntt,
    .upload = upload_ntt,
    .call = call_ntt,
    .check = check_ntt,
    .exec = exec_of_ntt,
    .result = locate_ntt,
    .destroy = destroy_ntt,
};
