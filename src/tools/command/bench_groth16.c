/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groth16 proofs as a long job of devicepool bench share. The blinding factors are constant, so
 * that every proof is the same. The points stay on the device from one proof to the next.
 */
#include <stdlib.h>
#include <string.h>

#include "bench_share.h"
#include "groth16.h"

enum { PROOF_BYTES = 4096 };

struct state {
    pool_file *key, *witness;
    struct groth16_residents residents;
    char *proof; /* the last one, with zeros behind it */
};

static int fill_known_bytes(void *bytes, size_t count)
{
    memset(bytes, 0x5a, count);
    return 1;
}

static void show_progress(void *user, const char *step, uint64_t done, uint64_t total)
{
    (void)user;
    (void)step;
    (void)done;
    (void)total;
    bench_report_progress();
}

static pool_status create_proof(struct bench_run *run)
{
    const pool_file_params key = {.struct_size = sizeof(key), .kind = POOL_FILE_ZKEY};
    const pool_file_params witness = {.struct_size = sizeof(witness), .kind = POOL_FILE_WTNS};
    pool_file_info info = {.struct_size = sizeof(info)};
    struct state *state = bench_keep(run, 1, sizeof(*state));
    pool_status status;

    run->state = state;
    run->units = 1;
    state->proof = bench_keep(run, 1, PROOF_BYTES);
    status = pool_file_open(run->spec.key, &key, &state->key);
    if (!status)
        status = pool_file_open(run->spec.witness, &witness, &state->witness);
    if (!status)
        status = pool_file_get_info(state->key, &info);
    run->spec.size = info.domain_size;
    return status;
}

static pool_status register_key(struct bench_run *run)
{
    const struct groth16_residents_params params = {.name = "bench", .precompute_factor = 1};
    struct state *state = run->state;
    pool_status status =
        groth16_residents_create(&state->residents, run->pool, state->key, &params);

    /* Its MSMs run beside each other, so the most memory at a time varies. */
    return status ? status
                  : groth16_device_bytes(
                        state->key, &state->residents, run->device, &run->lease_bytes);
}

static pool_status prove(
    struct bench_run *run, const struct groth16_residents *residents, char *proof)
{
    const struct state *state = run->state;
    const struct groth16_job job = {.key = state->key,
        .witness = state->witness,
        .residents = residents,
        .device = run->device,
        .lease = run->exec.lease,
        .progress = show_progress,
        .random = fill_known_bytes};
    struct groth16_result result;
    pool_status status = groth16_prove(&job, &result);

    if (status && *result.failure)
        snprintf(run->failure, sizeof(run->failure), "%s", result.failure);
    memset(proof, 0, PROOF_BYTES);
    if (!status)
        snprintf(proof, PROOF_BYTES, "%s", result.proof);
    groth16_result_free(&result);
    return status;
}

static pool_status call_proof(struct bench_run *run)
{
    struct state *state = run->state;

    return prove(run, &state->residents, state->proof);
}

/* The same proof with points that are copied from the key for it alone. */
static pool_status check_proof(struct bench_run *run, bool *is_correct)
{
    const struct state *state = run->state;
    char proof[PROOF_BYTES];
    pool_status status = prove(run, NULL, proof);

    *is_correct = !status && *proof && memcmp(proof, state->proof, PROOF_BYTES) == 0;
    return status;
}

static void locate_proof(const struct bench_run *run, struct bench_result *result)
{
    const struct state *state = run->state;

    *result = (struct bench_result){.data = state->proof, .bytes = PROOF_BYTES};
}

static void destroy_proof(struct bench_run *run)
{
    struct state *state = run->state;

    groth16_residents_destroy(&state->residents);
    pool_file_destroy(&state->witness);
    pool_file_destroy(&state->key);
}

const struct bench_operation cli_bench_groth16 = {
    .name = "groth16",
    .options = "",
    .unit = "proofs",
    .is_blocking = true,
    .create = create_proof,
    .upload = register_key,
    .call = call_proof,
    .check = check_proof,
    .result = locate_proof,
    .destroy = destroy_proof,
};
