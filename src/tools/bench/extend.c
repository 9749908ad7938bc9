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
    pool_exec exec;
    uint8_t *input;
    uint64_t count;            /* elements of the input */
    pool_buffer *input_buffer; /* on one device; or together: */
    pool_buffer *output_buffer;
    struct bench_shards *shards[2]; /* of input and output, or: */
    pool_pinned *pinned[2];
    pool_span input_span;
    pool_span output_span;
    pool_poseidon *set; /* of the commitment, as the next members */
    pool_matrix_commit_params commit;
    pool_matrix_commit_shape shape;
    pool_matrix matrix;
    pool_buffer *level_buffer;
    pool_span levels;
};

static bool has_field(const char *subject)
{
    return pool_field_by_name(subject) != NULL;
}

/* Without a blow-up; a domain that is too large for one is refused when it is created. */
static uint64_t max_elements(const char *subject)
{
    const uint32_t most = pool_field_two_adicity(pool_field_by_name(subject));

    return UINT64_C(1) << (most < POOL_NTT_MAX_LOG_SIZE ? most : POOL_NTT_MAX_LOG_SIZE);
}

static pool_status create_domain(const pool_field *field, uint64_t size, pool_ntt_domain **domain)
{
    const pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = field, .log_size = (uint32_t)__builtin_ctzll(size)};

    return pool_ntt_domain_create(&params, domain);
}

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
    struct extend_state *extend = bench_alloc(1, sizeof(*extend));
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
    extend->exec = (pool_exec){.struct_size = sizeof(extend->exec),
        .device = run->device,
        .stream = run->stream,
        .is_async = 1};
    extend->input = bench_alloc(extend->count, pool_field_element_bytes(extend->field));
    status = create_domain(extend->field, spec->size << log_blowup, &extend->params.domain);
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

static pool_status place_extend(struct bench_run *run, struct extend_state *extend)
{
    const uint64_t element = pool_field_element_bytes(extend->field), size = run->spec.size;
    const uint32_t log_blowup = extend->params.log_blowup;
    const uint64_t results = extend->count << log_blowup;
    pool_status status;

    extend->exec = *run->together;
    if (run->is_sharded) {
        status = bench_shard(run, extend->input, element, size, extend->count, POOL_FORM_STANDARD,
            false, &extend->shards[0], &extend->input_span);
        return status ? status
                      : bench_shard(run, NULL, element, size << log_blowup, results,
                            POOL_FORM_STANDARD, false, &extend->shards[1], &extend->output_span);
    }
    status = bench_pin(run, extend->input, extend->count * element, extend->count,
        POOL_FORM_STANDARD, &extend->pinned[0], &extend->input_span);
    return status ? status
                  : bench_pin(run, NULL, results * element, results, POOL_FORM_STANDARD,
                        &extend->pinned[1], &extend->output_span);
}

static pool_status upload_extend(struct bench_run *run)
{
    struct extend_state *extend = run->state;
    const uint64_t bytes = extend->count * pool_field_element_bytes(extend->field);
    const uint64_t results = extend->count << extend->params.log_blowup;

    if (run->together)
        return place_extend(run, extend);
    pool_status status = bench_place(run, extend->input, bytes, extend->count, POOL_FORM_STANDARD,
        &extend->input_buffer, &extend->input_span);

    if (!status)
        status = bench_place(run, NULL, bytes << extend->params.log_blowup, results,
            POOL_FORM_STANDARD, &extend->output_buffer, &extend->output_span);
    if (status || !run->spec.commits)
        return status;
    extend->matrix.span = extend->output_span;
    extend->matrix.span.count = run->spec.batch;
    return bench_place(run, NULL, extend->shape.bytes, extend->shape.digest_count,
        POOL_FORM_STANDARD, &extend->level_buffer, &extend->levels);
}

static pool_status call_extend(struct bench_run *run)
{
    struct extend_state *extend = run->state;
    const pool_extension extension = {
        .params = &extend->params, .trace = extend->input_span, .extended = extend->output_span};

    if (run->spec.commits)
        return pool_extend_commit(&extend->commit, &extend->exec, &extension, 1, &extend->levels);
    return pool_ntt_extend(
        &extend->params, &extend->exec, &extend->input_span, NULL, &extend->output_span);
}

static pool_exec *exec_of_extend(struct bench_run *run)
{
    struct extend_state *extend = run->state;

    return &extend->exec;
}

static void locate_extend(const struct bench_run *run, struct bench_result *result)
{
    const struct extend_state *extend = run->state;

    *result = (struct bench_result){.buffer = extend->output_buffer,
        .bytes =
            (extend->count << extend->params.log_blowup) * pool_field_element_bytes(extend->field)};
    if (!run->spec.commits)
        return;
    result->buffer = extend->level_buffer;
    result->bytes = extend->shape.bytes / extend->shape.digest_count;
    result->offset = extend->shape.bytes - result->bytes;
}

/* The root is that of the extension, whose elements were read. */
static pool_status check_commitment(
    struct bench_run *run, const uint8_t *elements, bool *is_correct)
{
    const struct extend_state *extend = run->state;
    const pool_exec one = {.struct_size = sizeof(one), .device = run->device};
    uint8_t *root = NULL;
    uint64_t bytes;
    pool_status status = bench_read(run, &root, &bytes);
    const struct bench_commitment commitment = {.params = &extend->commit,
        .exec = &one,
        .matrix = &extend->matrix,
        .levels = &extend->levels,
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
    pool_status status = POOL_OK;

    if (extend->shards[1])
        status = bench_gather(extend->shards[1], output);
    else if (run->together)
        memcpy(output, extend->output_span.data, bytes);
    else
        status = pool_copy_to_host(output, extend->output_buffer, 0, bytes, NULL);
    if (!status)
        status = create_domain(extend->field, run->spec.size, &inverse.domain);
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

    if (!extend)
        return;
    pool_buffer_destroy(&extend->input_buffer);
    pool_buffer_destroy(&extend->output_buffer);
    for (int i = 0; i < 2; i++) {
        bench_shards_destroy(&extend->shards[i]);
        pool_pinned_destroy(&extend->pinned[i]);
    }
    pool_buffer_destroy(&extend->level_buffer);
    pool_poseidon_destroy(&extend->set);
    pool_ntt_domain_destroy(&extend->params.domain);
    free(extend->input);
    free(extend);
}

const struct bench_operation bench_extend = {
    .name = "extend",
    .options = "batch order blowup together sharded",
    .unit = "elements",
    .option = "field",
    .default_subjects = "koalabear",
    .default_sizes = "2^10,2^12,2^14",
    .needs_powers = true,
    .has_subject = has_field,
    .max_size = max_elements,
    .create = create_extend,
    .warm_up = warm_up_extend,
    .upload = upload_extend,
    .call = call_extend,
    .check = check_extend,
    .exec = exec_of_extend,
    .result = locate_extend,
    .destroy = destroy_extend,
};
