/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures transforms in device memory, one or a batch. Every result is checked by evaluation at a
 * random point.
 */
#include <stdlib.h>

#include "bench.h"

static pool_status create_ntt(struct bench_run *run)
{
    struct bench_ntt_state *ntt = bench_keep(run, 1, sizeof(*ntt));
    const struct bench_case *spec = &run->spec;
    uint64_t count = spec->size * spec->batch;

    run->state = ntt;
    run->units = (double)count;
    ntt->field = pool_field_by_name(spec->subject);
    ntt->params = (pool_ntt_params){.struct_size = sizeof(ntt->params),
        .direction = spec->direction,
        .coset = spec->is_coset,
        .order = spec->order,
        .batch = spec->batch};
    ntt->bytes = count * pool_field_element_bytes(ntt->field);
    ntt->input = bench_keep(run, 1, ntt->bytes);
    pool_status status = bench_create_domain(ntt->field, spec->size, &ntt->params.domain);
    return status ? status
                  : bench_random_scalars(ntt->field, 1, count, POOL_FORM_STANDARD, ntt->input);
}

static pool_status warm_up_ntt(struct bench_run *run)
{
    struct bench_ntt_state *ntt = run->state;

    return pool_ntt_warm_up(
        ntt->params.domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});
}

/* Transforms are distributed whole, or each is split: then natural order is cyclic. */
static pool_status place_ntt(
    struct bench_run *run, const void *from, bool is_natural, struct bench_array *array)
{
    const struct bench_ntt_state *ntt = run->state;
    const bool is_split = run->together && run->spec.batch < run->together->device_count;
    const uint64_t count = run->spec.size * run->spec.batch;

    return bench_place(run,
        &(struct bench_items){.from = from,
            .item_bytes = ntt->bytes / count,
            .count = count,
            .unit = is_split ? 1 : run->spec.size,
            .is_cyclic = is_split && is_natural},
        array);
}

static pool_status upload_ntt(struct bench_run *run)
{
    struct bench_ntt_state *ntt = run->state;
    const pool_ntt_order order = run->spec.order;
    uint64_t workspace_bytes = 0;
    pool_status status =
        place_ntt(run, ntt->input, order == POOL_NTT_NN || order == POOL_NTT_NR, &ntt->in);

    if (!status)
        status = place_ntt(run, NULL, order == POOL_NTT_NN || order == POOL_NTT_RN, &ntt->out);
    if (status || run->together)
        return status;
    status = pool_ntt_workspace(
        &ntt->params, &run->exec, &ntt->in.span, &ntt->out.span, &workspace_bytes);
    return status ? status : bench_allocate_workspace(run, workspace_bytes);
}

static pool_status call_ntt(struct bench_run *run)
{
    struct bench_ntt_state *ntt = run->state;

    return pool_ntt(&ntt->params, &run->exec, &ntt->in.span, &ntt->out.span);
}

static void locate_ntt(const struct bench_run *run, struct bench_result *result)
{
    const struct bench_ntt_state *ntt = run->state;

    *result = (struct bench_result){.buffer = ntt->out.buffer, .bytes = ntt->bytes};
}

static pool_status check_ntt(struct bench_run *run, bool *is_correct)
{
    struct bench_ntt_state *ntt = run->state;
    uint8_t *output = bench_alloc(1, ntt->bytes);
    pool_status status = bench_gather(&ntt->out, output);

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

    pool_ntt_domain_destroy(&ntt->params.domain);
}

const struct bench_operation bench_ntt = {
    .name = "ntt",
    .options = "batch order inverse coset together sharded",
    .unit = "elements",
    .option = "field",
    .arrays = 2,
    .default_subjects = "bn254_fr",
    .default_sizes = "2^10,2^12,2^14",
    .needs_powers = true,
    .has_subject = bench_has_field,
    .max_size = bench_max_transform,
    .create = create_ntt,
    .warm_up = warm_up_ntt,
    .upload = upload_ntt,
    .call = call_ntt,
    .check = check_ntt,
    .result = locate_ntt,
    .destroy = destroy_ntt,
};
