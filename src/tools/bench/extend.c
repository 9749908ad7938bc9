/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures low-degree extensions, of one column or a batch of rows, in the memory of a device or,
 * together, in shards or pinned memory; on one device also with a commitment to them, by the
 * field's Poseidon2 set of Plonky3. Every result is checked by evaluation at a random point, from
 * coefficients that are checked against the input in the same way, and commitments by openings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* The inputs of a measurement. */
struct extend_state {
    const pool_field *field;
    pool_ntt_extend_params params;
    uint8_t *input;
    uint64_t count; /* elements of the input */
    struct bench_array in;
    struct bench_array out;
    pool_poseidon *set; /* of the commitment, as the next members */
    pool_matrix_commit_params commit;
    pool_matrix_commit_shape shape;
    pool_matrix matrix;
    struct bench_array levels;
};

/* The matrix of the extension, whose rows are hashed. */
static pool_status create_commitment(struct bench_run *run, struct extend_state *extend)
{
    char name[64];
    pool_status status;

    snprintf(name, sizeof(name), "poseidon2-plonky3-%s-t16", run->spec.subject);
    status = pool_poseidon_by_name(name, &extend->set);
    extend->commit =
        (pool_matrix_commit_params){.struct_size = sizeof(extend->commit), .set = extend->set};
    extend->shape.struct_size = sizeof(extend->shape);
    extend->matrix = (pool_matrix){
        .height = run->spec.size << run->spec.log_blowup, .width = (uint32_t)run->spec.batch};
    return status
               ? status
               : pool_matrix_commit_get_shape(&extend->commit, &extend->matrix, 1, &extend->shape);
}

static pool_status create_extend(struct bench_run *run)
{
    const struct bench_case *spec = &run->spec;
    struct extend_state *extend = bench_keep(run, 1, sizeof(*extend));
    const uint32_t log_blowup = spec->log_blowup;
    pool_status status;

    run->state = extend;
    run->units = (double)(spec->size * spec->batch);
    extend->field = pool_field_by_name(spec->subject);
    extend->count = spec->size * spec->batch;
    extend->params = (pool_ntt_extend_params){.struct_size = sizeof(extend->params),
        .log_blowup = log_blowup,
        .order = spec->order,
        .batch = spec->batch};
    extend->input = bench_keep(run, extend->count, pool_field_element_bytes(extend->field));
    status = bench_create_domain(extend->field, spec->size << log_blowup, &extend->params.domain);
    if (!status && spec->commits)
        status = create_commitment(run, extend);
    return status ? status
                  : bench_random_scalars(
                        extend->field, 1, extend->count, POOL_FORM_STANDARD, extend->input);
}

static pool_status warm_up_extend(struct bench_run *run)
{
    struct extend_state *extend = run->state;
    const pool_exec exec = {.struct_size = sizeof(exec), .device = run->device};
    pool_status status = pool_ntt_extend_warm_up(&extend->params, &exec);

    return status || !run->spec.commits ? status
                                        : pool_matrix_commit_warm_up(&extend->commit, &exec);
}

static pool_status upload_extend(struct bench_run *run)
{
    struct extend_state *extend = run->state;
    const uint32_t log_blowup = extend->params.log_blowup;
    const struct bench_items in = {.from = extend->input,
        .item_bytes = pool_field_element_bytes(extend->field),
        .count = extend->count,
        .unit = run->spec.size};
    const struct bench_items out = {.item_bytes = in.item_bytes,
        .count = in.count << log_blowup,
        .unit = in.unit << log_blowup};
    pool_status status = bench_place(run, &in, &extend->in);

    if (!status)
        status = bench_place(run, &out, &extend->out);
    if (status || !run->spec.commits)
        return status;
    extend->matrix.span = extend->out.span;
    extend->matrix.span.count = run->spec.batch;
    return bench_place(run,
        &(struct bench_items){.item_bytes = extend->shape.bytes / extend->shape.digest_count,
            .count = extend->shape.digest_count},
        &extend->levels);
}

static pool_status call_extend(struct bench_run *run)
{
    struct extend_state *extend = run->state;
    const pool_extension extension = {
        .params = &extend->params, .trace = extend->in.span, .extended = extend->out.span};

    if (run->spec.commits)
        return pool_extend_commit(&extend->commit, &run->exec, &extension, 1, &extend->levels.span);
    return pool_ntt_extend(&extend->params, &run->exec, &extend->in.span, NULL, &extend->out.span);
}

static void locate_extend(const struct bench_run *run, struct bench_result *result)
{
    const struct extend_state *extend = run->state;

    *result = (struct bench_result){.buffer = extend->out.buffer,
        .bytes =
            (extend->count << extend->params.log_blowup) * pool_field_element_bytes(extend->field)};
    if (!run->spec.commits)
        return;
    result->buffer = extend->levels.buffer;
    result->bytes = extend->levels.item_bytes;
    result->offset = extend->shape.bytes - result->bytes;
}

/* The root is that of the extension, whose elements were read. */
static pool_status check_commitment(
    struct bench_run *run, const uint8_t *elements, bool *is_correct)
{
    const struct extend_state *extend = run->state;
    const pool_exec one = {.struct_size = sizeof(one), .device = run->device};
    uint8_t *root = bench_alloc(1, extend->levels.item_bytes);
    pool_status status = bench_copy_root(&extend->levels, root);
    const struct bench_commitment commitment = {.params = &extend->commit,
        .exec = &one,
        .matrix = &extend->matrix,
        .levels = &extend->levels.span,
        .root = root,
        .elements = elements};

    if (!status)
        status = bench_check_openings(&commitment, is_correct);
    free(root);
    return status;
}

/* The coefficients of the input's columns, each followed by zeros. */
static pool_status pad_coefficients(const struct extend_state *extend, pool_device *device,
    pool_ntt_params *inverse, uint8_t *padded, bool *is_correct)
{
    const uint64_t element = pool_field_element_bytes(extend->field);
    const uint64_t column = extend->count / extend->params.batch * element;
    uint8_t *coefficients = bench_alloc(extend->count, element);
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    const pool_span in = {.data = extend->input, .count = extend->count};
    const pool_span out = {.data = coefficients, .count = extend->count};
    pool_status status = pool_ntt(inverse, &exec, &in, &out);

    if (!status)
        *is_correct = bench_check_ntt(inverse, extend->input, coefficients);
    for (uint64_t t = 0; t < extend->params.batch; t++)
        memcpy(
            padded + (t * column << extend->params.log_blowup), coefficients + t * column, column);
    free(coefficients);
    return status;
}

static pool_status check_extend(struct bench_run *run, bool *is_correct)
{
    struct extend_state *extend = run->state;
    const uint64_t results = extend->count << extend->params.log_blowup;
    const uint64_t bytes = results * pool_field_element_bytes(extend->field);
    const bool is_reversed =
        extend->params.order == POOL_NTT_RN || extend->params.order == POOL_NTT_RR;
    uint8_t *output = bench_alloc(1, bytes), *padded = bench_alloc(1, bytes);
    pool_ntt_params inverse = {.struct_size = sizeof(inverse),
        .direction = POOL_NTT_INVERSE,
        .order = is_reversed ? POOL_NTT_RN : POOL_NTT_NN,
        .batch = extend->params.batch};
    const pool_ntt_params forward = {.struct_size = sizeof(forward),
        .domain = extend->params.domain,
        .coset = 1,
        .order = (extend->params.order & 1) ? POOL_NTT_NR : POOL_NTT_NN,
        .batch = extend->params.batch};
    pool_status status = bench_gather(&extend->out, output);

    if (!status)
        status = bench_create_domain(extend->field, run->spec.size, &inverse.domain);
    if (!status)
        status = pad_coefficients(extend, run->device, &inverse, padded, is_correct);
    if (!status)
        *is_correct = *is_correct && !pool_field_check(extend->field, output, results, NULL) &&
                      bench_check_ntt(&forward, padded, output);
    if (!status && *is_correct && run->spec.commits)
        status = check_commitment(run, output, is_correct);
    pool_ntt_domain_destroy(&inverse.domain);
    free(output);
    free(padded);
    return status;
}

static void destroy_extend(struct bench_run *run)
{
    struct extend_state *extend = run->state;

    pool_poseidon_destroy(&extend->set);
    pool_ntt_domain_destroy(&extend->params.domain);
}

const struct bench_operation bench_extend = {
    .name = "extend",
    .options = "batch order blowup together sharded",
    .unit = "elements",
    .option = "field",
    .arrays = 2,
    .default_subjects = "koalabear",
    .default_sizes = "2^10,2^12,2^14",
    .needs_powers = true,
    .has_subject = bench_has_field,
    .max_size = bench_max_transform,
    .create = create_extend,
    .warm_up = warm_up_extend,
    .upload = upload_extend,
    .call = call_extend,
    .check = check_extend,
    .result = locate_extend,
    .destroy = destroy_extend,
};
