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
    uint8_t *inputs;
    uint32_t input_elements;
    size_t input_bytes;
    size_t result_bytes;
    struct bench_array in;
    struct bench_array out;
};

static pool_status permute_or_hash(const struct bench_run *run, const pool_exec *exec,
    const pool_span *inputs, const pool_span *results)
{
    const struct poseidon_state *poseidon = run->state;

    if (run->spec.is_permutation)
        return pool_poseidon_permute(poseidon->set, exec, inputs, results);
    return pool_poseidon_hash(poseidon->set, exec, inputs, poseidon->input_elements, results);
}

static pool_status create_poseidon(struct bench_run *run)
{
    struct poseidon_state *poseidon = bench_keep(run, 1, sizeof(*poseidon));
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
    poseidon->inputs = bench_keep(run, run->spec.size, poseidon->input_bytes);
    status = bench_random_scalars(pool_poseidon_field(set), 1,
        run->spec.size * poseidon->input_elements, run->spec.form, poseidon->inputs);
    if (!status)
        status = bench_place(run,
            &(struct bench_items){.from = poseidon->inputs,
                .item_bytes = poseidon->input_bytes,
                .count = run->spec.size,
                .form = run->spec.form},
            &poseidon->in);
    return status ? status
                  : bench_place(run,
                        &(struct bench_items){.item_bytes = poseidon->result_bytes,
                            .count = run->spec.size,
                            .form = run->spec.form},
                        &poseidon->out);
}

/* Compiles by one hash, whose result the measured calls overwrite. */
static pool_status warm_up_poseidon(struct bench_run *run)
{
    struct poseidon_state *poseidon = run->state;
    pool_span input = poseidon->in.span;
    pool_span result = poseidon->out.span;
    pool_status status;

    if (run->together)
        return pool_poseidon_warm_up(
            poseidon->set, &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});
    input.count = result.count = 1;
    status = permute_or_hash(run, &run->exec, &input, &result);
    return status ? status : pool_stream_synchronize(run->stream);
}

static pool_status call_poseidon(struct bench_run *run)
{
    struct poseidon_state *poseidon = run->state;

    return permute_or_hash(run, &run->exec, &poseidon->in.span, &poseidon->out.span);
}

static pool_status check_poseidon(struct bench_run *run, bool *is_correct)
{
    struct poseidon_state *poseidon = run->state;
    uint64_t samples = run->spec.size < SAMPLES ? run->spec.size : SAMPLES;
    const pool_exec host = {.struct_size = sizeof(host), .on_host = 1};
    uint8_t *expected = bench_alloc(1, poseidon->result_bytes);
    uint8_t *gathered = bench_alloc(run->spec.size, poseidon->result_bytes);
    pool_status status = bench_gather(&poseidon->out, gathered);

    *is_correct = true;
    for (uint64_t i = 0; i < samples && !status; i++) {
        uint64_t index = samples > 1 ? i * (run->spec.size - 1) / (samples - 1) : 0;
        pool_span input = {.data = poseidon->inputs + index * poseidon->input_bytes,
            .count = 1,
            .form = run->spec.form};
        pool_span output = {.data = expected, .count = 1, .form = run->spec.form};

        status = permute_or_hash(run, &host, &input, &output);
        if (memcmp(gathered + index * poseidon->result_bytes, expected, poseidon->result_bytes))
            *is_correct = false;
    }
    free(gathered);
    free(expected);
    return status;
}

static void locate_poseidon(const struct bench_run *run, struct bench_result *result)
{
    const struct poseidon_state *poseidon = run->state;

    *result = (struct bench_result){
        .buffer = poseidon->out.buffer, .bytes = run->spec.size * poseidon->result_bytes};
}

static void destroy_poseidon(struct bench_run *run)
{
    struct poseidon_state *poseidon = run->state;

    pool_poseidon_destroy(&poseidon->set);
}

const struct bench_operation bench_poseidon = {
    .name = "poseidon",
    .options = "together sharded",
    .unit = "hashes",
    .option = "set",
    .arrays = 2,
    .default_subjects = "circom-bn254-t3",
    .default_sizes = "2^8,2^10,2^12",
    .has_subject = bench_has_set,
    .create = create_poseidon,
    .warm_up = warm_up_poseidon,
    .call = call_poseidon,
    .check = check_poseidon,
    .result = locate_poseidon,
    .destroy = destroy_poseidon,
};
