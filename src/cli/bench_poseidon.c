/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures Poseidon hashes of fixed-length inputs in device memory; the size is the number of
 * hashes per run. A sample of the digests is recomputed on the host.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Recomputed digests, evenly spaced, including the first and the last. */
enum { SAMPLES = 64 };

struct hashing {
    pool_poseidon *set;
    pool_exec exec;
    uint8_t *inputs;
    uint32_t elements;
    uint64_t input_bytes; /* per hash */
    uint64_t digest_bytes;
    pool_buffer *input_buffer;
    pool_buffer *digest_buffer;
    pool_span input_span;
    pool_span digest_span;
};

static int has_set(const char *subject)
{
    pool_poseidon *set = NULL;
    pool_status status = pool_poseidon_by_name(subject, &set);

    pool_poseidon_destroy(&set);
    return !status;
}

static pool_status create_buffers(struct bench_work *work, struct hashing *hashing)
{
    pool_status status = pool_buffer_from_host(
        work->device, hashing->inputs, work->size * hashing->input_bytes, &hashing->input_buffer);

    if (!status)
        status = pool_buffer_alloc(
            work->device, work->size * hashing->digest_bytes, &hashing->digest_buffer);
    if (!status)
        status = bench_span(hashing->input_buffer, work->size, &hashing->input_span);
    if (!status)
        status = bench_span(hashing->digest_buffer, work->size, &hashing->digest_span);
    return status;
}

static pool_status open_hashing(struct bench_work *work)
{
    struct hashing *hashing = cli_alloc(1, sizeof(*hashing));
    const pool_field *field;
    pool_status status;

    work->state = hashing;
    status = pool_poseidon_by_name(work->subject, &hashing->set);
    if (status)
        return status;
    field = pool_poseidon_field(hashing->set);
    hashing->elements = pool_poseidon_max_inputs(hashing->set);
    hashing->input_bytes = hashing->elements * pool_field_element_bytes(field);
    hashing->digest_bytes = pool_poseidon_digest_elements(hashing->set) * pool_field_element_bytes(field);
    hashing->exec = (pool_exec){.struct_size = sizeof(hashing->exec),
        .device = work->device,
        .stream = work->stream,
        .is_async = 1};
    work->units = (double)work->size;
    hashing->inputs = cli_alloc(work->size, hashing->input_bytes);
    status = pool_random_scalars(
        field, 1, work->size * hashing->elements, POOL_FORM_STANDARD, hashing->inputs);
    return status ? status : create_buffers(work, hashing);
}

static pool_status run_hashing(struct bench_work *work)
{
    struct hashing *hashing = work->state;

    return pool_poseidon_hash(hashing->set, &hashing->exec, &hashing->input_span, hashing->elements,
        &hashing->digest_span);
}

/* Compiles by one hash, whose result the measured runs overwrite. */
static pool_status prepare_hashing(struct bench_work *work)
{
    struct hashing *hashing = work->state;
    pool_span input = hashing->input_span;
    pool_span digest = hashing->digest_span;
    pool_status status;

    input.count = digest.count = 1;
    status = pool_poseidon_hash(hashing->set, &hashing->exec, &input, hashing->elements, &digest);
    return status ? status : pool_stream_synchronize(work->stream);
}

static pool_status compare_one(struct bench_work *work, uint64_t index, int *is_correct)
{
    struct hashing *hashing = work->state;
    pool_exec host = {.struct_size = sizeof(host), .on_host = 1};
    uint8_t expected[16 * POOL_FIELD_MAX_BYTES];
    uint8_t digest[16 * POOL_FIELD_MAX_BYTES];
    pool_span input = {.data = hashing->inputs + index * hashing->input_bytes, .count = 1};
    pool_span output = {.data = expected, .count = 1};
    pool_status status =
        pool_poseidon_hash(hashing->set, &host, &input, hashing->elements, &output);

    if (!status)
        status = pool_copy_to_host(digest, hashing->digest_buffer, index * hashing->digest_bytes,
            hashing->digest_bytes, NULL);
    if (!status && memcmp(digest, expected, hashing->digest_bytes) != 0)
        *is_correct = 0;
    return status;
}

static pool_status check_hashing(struct bench_work *work, int *is_correct)
{
    uint64_t samples = work->size < SAMPLES ? work->size : SAMPLES;
    pool_status status = POOL_OK;

    *is_correct = 1;
    for (uint64_t i = 0; i < samples && !status; i++)
        status =
            compare_one(work, samples > 1 ? i * (work->size - 1) / (samples - 1) : 0, is_correct);
    return status;
}

static void close_hashing(struct bench_work *work)
{
    struct hashing *hashing = work->state;

    if (!hashing)
        return;
    pool_buffer_destroy(&hashing->input_buffer);
    pool_buffer_destroy(&hashing->digest_buffer);
    pool_poseidon_destroy(&hashing->set);
    free(hashing->inputs);
    free(hashing);
}

const struct bench_operation bench_poseidon = {
    .name = "poseidon",
    .takes = "",
    .unit = "hashes",
    .option = "set",
    .default_subjects = "circom-bn254-t3",
    .default_sizes = "2^8,2^10,2^12",
    .has_subject = has_set,
    .open = open_hashing,
    .prepare = prepare_hashing,
    .run = run_hashing,
    .check = check_hashing,
    .close = close_hashing,
};
