/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures Poseidon in device memory: hashes of fixed-length inputs, or permutations; the size is
 * their number per call. A sample of the results is recomputed on the host.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Recomputed results, evenly spaced, including the first and the last. */
enum { SAMPLES = 64 };

struct poseidon_state {
    pool_poseidon *set;
    pool_exec exec;
    uint8_t *inputs;
    uint32_t input_elements;
    size_t input_bytes;
    size_t result_bytes;
    pool_buffer *input_buffer;
    pool_buffer *result_buffer;
    pool_span input_span;
    pool_span result_span;
    pool_pinned *pinned[2]; /* of inputs and results, together; or: */
    struct bench_shards *shards[2];
};

static bool has_set(const char *subject)
{
    pool_poseidon *set = NULL;
    pool_status status = pool_poseidon_by_name(subject, &set);

    pool_poseidon_destroy(&set);
    return !status;
}

static pool_status permute_or_hash(const struct bench_run *run, const pool_exec *exec,
    const pool_span *inputs, const pool_span *results)
{
    const struct poseidon_state *poseidon = run->state;

    if (run->spec.is_permutation)
        return pool_poseidon_permute(poseidon->set, exec, inputs, results);
    return pool_poseidon_hash(poseidon->set, exec, inputs, poseidon->input_elements, results);
}

static pool_status pin_poseidon(struct bench_run *run, struct poseidon_state *poseidon)
{
    const uint64_t size = run->spec.size;
    pool_status status = bench_pin(run, poseidon->inputs, size * poseidon->input_bytes, size,
        run->spec.form, &poseidon->pinned[0], &poseidon->input_span);

    poseidon->exec = *run->together;
    return status ? status
                  : bench_pin(run, NULL, size * poseidon->result_bytes, size, run->spec.form,
                        &poseidon->pinned[1], &poseidon->result_span);
}

static pool_status shard_poseidon(struct bench_run *run, struct poseidon_state *poseidon)
{
    const uint64_t size = run->spec.size;
    pool_status status = bench_shard(run, poseidon->inputs, poseidon->input_bytes, 1, size,
        run->spec.form, false, &poseidon->shards[0], &poseidon->input_span);

    poseidon->exec = *run->together;
    return status ? status
                  : bench_shard(run, NULL, poseidon->result_bytes, 1, size, run->spec.form, false,
                        &poseidon->shards[1], &poseidon->result_span);
}

static pool_status create_poseidon(struct bench_run *run)
{
    struct poseidon_state *poseidon = bench_alloc(1, sizeof(*poseidon));
    pool_poseidon *set;
    pool_status status;

    run->state = poseidon;
    run->units = (double)run->spec.size;
    status = pool_poseidon_by_name(run->spec.subject, &poseidon->set);
    if (status)
        return status;
    set = poseidon->set;
    const size_t element_bytes = pool_field_element_bytes(pool_poseidon_field(set));
    poseidon->input_elements =
        run->spec.is_permutation ? pool_poseidon_width(set) : pool_poseidon_max_inputs(set);
    poseidon->input_bytes = poseidon->input_elements * element_bytes;
    poseidon->result_bytes = run->spec.is_permutation
                                 ? poseidon->input_bytes
                                 : pool_poseidon_digest_elements(set) * element_bytes;
    poseidon->exec = (pool_exec){.struct_size = sizeof(poseidon->exec),
        .device = run->device,
        .stream = run->stream,
        .is_async = 1};
    poseidon->inputs = bench_alloc(run->spec.size, poseidon->input_bytes);
    status = bench_random_scalars(pool_poseidon_field(set), 1,
        run->spec.size * poseidon->input_elements, run->spec.form, poseidon->inputs);
    if (!status && run->together)
        return run->is_sharded ? shard_poseidon(run, poseidon) : pin_poseidon(run, poseidon);
    if (!status)
        status = pool_buffer_from_host(run->device, poseidon->inputs,
            run->spec.size * poseidon->input_bytes, &poseidon->input_buffer);
    if (!status)
        status = pool_buffer_zeroed(
            run->device, run->spec.size * poseidon->result_bytes, &poseidon->result_buffer);
    if (!status)
        status = pool_buffer_span(
            poseidon->input_buffer, 0, run->spec.size, run->spec.form, &poseidon->input_span);
    if (!status)
        status = pool_buffer_span(
            poseidon->result_buffer, 0, run->spec.size, run->spec.form, &poseidon->result_span);
    return status;
}

/* Compiles by one hash, whose result the measured calls overwrite. */
static pool_status warm_up_poseidon(struct bench_run *run)
{
    struct poseidon_state *poseidon = run->state;
    pool_span input = poseidon->input_span;
    pool_span result = poseidon->result_span;
    pool_status status;

    if (run->together)
        return pool_poseidon_warm_up(
            poseidon->set, &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});
    input.count = result.count = 1;
    status = permute_or_hash(run, &poseidon->exec, &input, &result);
    return status ? status : pool_stream_synchronize(run->stream);
}

static pool_status call_poseidon(struct bench_run *run)
{
    struct poseidon_state *poseidon = run->state;

    return permute_or_hash(run, &poseidon->exec, &poseidon->input_span, &poseidon->result_span);
}

static pool_status check_poseidon(struct bench_run *run, bool *is_correct)
{
    struct poseidon_state *poseidon = run->state;
    uint64_t samples = run->spec.size < SAMPLES ? run->spec.size : SAMPLES;
    const pool_exec host = {.struct_size = sizeof(host), .on_host = 1};
    uint8_t *results = bench_alloc(2, poseidon->result_bytes);
    uint8_t *expected = results + poseidon->result_bytes;
    uint8_t *gathered =
        poseidon->shards[1] ? bench_alloc(run->spec.size, poseidon->result_bytes) : NULL;
    pool_status status = gathered ? bench_gather(poseidon->shards[1], gathered) : POOL_OK;

    *is_correct = true;
    for (uint64_t i = 0; i < samples && !status; i++) {
        uint64_t index = samples > 1 ? i * (run->spec.size - 1) / (samples - 1) : 0;
        pool_span input = {.data = poseidon->inputs + index * poseidon->input_bytes,
            .count = 1,
            .form = run->spec.form};
        pool_span output = {.data = expected, .count = 1, .form = run->spec.form};

        status = permute_or_hash(run, &host, &input, &output);
        if (run->together)
            memcpy(results,
                (gathered ? gathered : (const uint8_t *)poseidon->result_span.data) +
                    index * poseidon->result_bytes,
                poseidon->result_bytes);
        else if (!status)
            status = pool_copy_to_host(results, poseidon->result_buffer,
                index * poseidon->result_bytes, poseidon->result_bytes, NULL);
        if (!status && memcmp(results, expected, poseidon->result_bytes) != 0)
            *is_correct = false;
    }
    free(gathered);
    free(results);
    return status;
}

static pool_exec *exec_of_poseidon(struct bench_run *run)
{
    struct poseidon_state *poseidon = run->state;

    return &poseidon->exec;
}

static void locate_poseidon(const struct bench_run *run, struct bench_result *result)
{
    const struct poseidon_state *poseidon = run->state;

    *result = (struct bench_result){
        .buffer = poseidon->result_buffer, .bytes = run->spec.size * poseidon->result_bytes};
}

static void destroy_poseidon(struct bench_run *run)
{
    struct poseidon_state *poseidon = run->state;

    if (!poseidon)
        return;
    pool_buffer_destroy(&poseidon->input_buffer);
    pool_buffer_destroy(&poseidon->result_buffer);
    pool_pinned_destroy(&poseidon->pinned[0]);
    pool_pinned_destroy(&poseidon->pinned[1]);
    bench_shards_destroy(&poseidon->shards[0]);
    bench_shards_destroy(&poseidon->shards[1]);
    pool_poseidon_destroy(&poseidon->set);
    free(poseidon->inputs);
    free(poseidon);
}

const struct bench_operation bench_poseidon = {
    .name = "poseidon",
    .options = "together sharded",
    .unit = "hashes",
    .option = "set",
    .default_subjects = "circom-bn254-t3",
    .default_sizes = "2^8,2^10,2^12",
    .has_subject = has_set,
    .create = create_poseidon,
    .warm_up = warm_up_poseidon,
    .call = call_poseidon,
    .check = check_poseidon,
    .exec = exec_of_poseidon,
    .result = locate_poseidon,
    .destroy = destroy_poseidon,
};
