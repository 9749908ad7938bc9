/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of the demo, each with an independent answer: commitments from Ethereum's tests, an
 * identity that holds only for correct powers of tau, a root computed by circomlibjs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

/* From ethereum/c-kzg-4844, tests/kzg-mainnet/blob_to_kzg_commitment. */
static const struct {
    const char *file;
    const char *commitment;
} blobs[DEMO_BLOBS] = {
    {"valid_blob_2.blob", "a421e229565952cfff4ef3517100a97da1d4fe57956fa50a442f92af03b1bf37"
                          "adacc8ad4ed209b31287ea5bb94d9d06"},
    {"valid_blob_3.blob", "b49d88afcd7f6c61a8ea69eff5f609d2432b47e7e4cd50b02cdddb4e0c146051"
                          "7e8df02e4e64dc55e3d8ca192d57193a"},
};

/* The root over the leaves 1, 2, 3 … 2^14, computed by circomlibjs 0.1.7. */
static const char tree_root[] =
    "0x240a7e7172a500ef6c700e7bff3f438c5dbeeeecc7e52407ec2d50c9b0f5a314";

enum { VALUE_BYTES = 32, BLOB_BYTES = DEMO_BLOB_VALUES * VALUE_BYTES };

static int read_blob(const char *directory, const char *name, uint8_t **blob)
{
    char path[4096];
    FILE *file;
    size_t count;

    snprintf(path, sizeof(path), "%s/kzg/%s", directory, name);
    file = fopen(path, "rb");
    if (!file)
        return cli_fail_with(
            "'%s' cannot be read: %s; --data names the directory of the demo's files", path,
            strerror(errno));
    *blob = bench_alloc(1, BLOB_BYTES);
    count = fread(*blob, 1, BLOB_BYTES, file);
    fclose(file);
    if (count != BLOB_BYTES)
        return cli_fail_with("'%s' is too short for a blob", path);
    return CLI_GO;
}

static pool_status open_files(const char *directory, struct demo_data *data)
{
    char path[4096];
    pool_status status;

    data->setup.struct_size = sizeof(data->setup);
    data->tau.struct_size = sizeof(data->tau);
    data->basis.struct_size = sizeof(data->basis);
    snprintf(path, sizeof(path), "%s/kzg/trusted_setup.txt", directory);
    status = pool_file_open(path, NULL, &data->kzg);
    if (!status)
        status = pool_file_get_section(data->kzg, "lagrange", &data->setup);
    snprintf(path, sizeof(path), "%s/iden3/powersOfTau28_hez_final_09.ptau", directory);
    if (!status)
        status = pool_file_open(path, NULL, &data->ptau);
    if (!status)
        status = pool_file_get_section(data->ptau, "tauG1", &data->tau);
    if (!status)
        status = pool_file_get_section(data->ptau, "lagrange:9", &data->basis);
    return status;
}

int demo_data_open(const char *directory, struct demo_data *data)
{
    pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = pool_field_by_name("bn254_fr"),
        .log_size = DEMO_PTAU_LOG};
    pool_status status;
    int code = CLI_GO;

    *data = (struct demo_data){0};
    for (int i = 0; i < DEMO_BLOBS && code == CLI_GO; i++)
        code = read_blob(directory, blobs[i].file, &data->blobs[i]);
    if (code != CLI_GO)
        return code;
    cli_progress("reading the points of two ceremonies");
    status = open_files(directory, data);
    if (!status)
        status = pool_ntt_domain_create(&domain, &data->domain);
    if (!status)
        status = pool_poseidon_by_name("circom-bn254-t3", &data->set);
    cli_progress_end();
    return status ? cli_fail(status, 0) : CLI_GO;
}

void demo_data_close(struct demo_data *data)
{
    for (int i = 0; i < DEMO_BLOBS; i++)
        free(data->blobs[i]);
    pool_ntt_domain_destroy(&data->domain);
    pool_poseidon_destroy(&data->set);
    pool_file_destroy(&data->kzg);
    pool_file_destroy(&data->ptau);
}

/* Computes an MSM on a device, or on the bound one: a packed affine point in standard form. */
static pool_status compute_msm(pool_device *device, const pool_file_section *points, uint64_t count,
    const void *scalars, void *point)
{
    pool_msm_params params = {
        .struct_size = sizeof(params), .curve = points->curve, .point_layout = points->layout};
    pool_exec exec = {
        .struct_size = sizeof(exec), .device = device, .checks = POOL_CHECK_CANONICAL};
    pool_span point_span = points->span;
    pool_span scalar_span = {.data = (void *)(uintptr_t)scalars, .count = count};
    pool_span result = {.data = point, .count = 1};

    point_span.count = count;
    return pool_msm(&params, &exec, &point_span, &scalar_span, &result);
}

/* The first of the calls that a job makes, in a small size: they compile what the job launches, and
 * not all that its curve has, as a warm-up does. */
enum { PREPARED = 64 };

static pool_status prepare_msm(
    const pool_file_section *points, pool_device *device, uint8_t *values)
{
    uint8_t point[2 * POOL_FIELD_MAX_BYTES];
    pool_status status =
        pool_random_scalars(points->field, 1, PREPARED, POOL_FORM_STANDARD, values);

    return status ? status : compute_msm(device, points, PREPARED, values, point);
}

static pool_status prepare_blob(const struct demo_data *data, pool_device *device)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t values[PREPARED * VALUE_BYTES];
    const pool_span span = {.data = values, .count = PREPARED};
    pool_status status = prepare_msm(&data->setup, device, values);

    return status ? status : pool_vector_bit_reverse(data->setup.field, &exec, &span, &span);
}

/* EIP-4844: the values of a blob are in bit-reversed order of the Lagrange points. */
static pool_status run_blob(
    const struct demo_data *data, const struct demo_job *job, int *is_correct)
{
    uint8_t *values = bench_alloc(1, BLOB_BYTES);
    pool_span span = {.data = values, .count = DEMO_BLOB_VALUES};
    uint8_t point[2 * POOL_FIELD_MAX_BYTES];
    uint8_t bytes[POOL_FIELD_MAX_BYTES];
    char digits[2 * POOL_FIELD_MAX_BYTES + 1];
    pool_status status = pool_field_from_bytes(data->setup.field, VALUE_BYTES, POOL_BIG_ENDIAN,
        data->blobs[job->index], DEMO_BLOB_VALUES, POOL_FORM_STANDARD, values);

    if (!status)
        status = pool_vector_bit_reverse(data->setup.field, NULL, &span, &span);
    if (!status)
        status = compute_msm(NULL, &data->setup, DEMO_BLOB_VALUES, values, point);
    if (!status)
        status = pool_points_encode(
            data->setup.curve, NULL, point, 1, POOL_ENCODING_ZCASH_COMPRESSED, 0, bytes);
    free(values);
    if (status)
        return status;
    cli_hex(bytes, strlen(blobs[job->index].commitment) / 2, digits);
    *is_correct = strcmp(digits, blobs[job->index].commitment) == 0;
    return POOL_OK;
}

static pool_status prepare_ptau(const struct demo_data *data, pool_device *device)
{
    enum { N = 1 << DEMO_PTAU_LOG };
    const pool_ntt_params params = {.struct_size = sizeof(params), .domain = data->domain};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t *values = bench_alloc(N, VALUE_BYTES);
    const pool_span span = {.data = values, .count = N};
    pool_status status = prepare_msm(&data->tau, device, values);

    if (!status)
        status = pool_ntt(&params, &exec, &span, &span);
    free(values);
    return status;
}

/* Commits to a polynomial by its coefficients and the powers of tau, and by its values and the
 * Lagrange points: equal only if both MSMs, the transform and the ceremony are correct. */
static pool_status run_ptau(
    const struct demo_data *data, const struct demo_job *job, int *is_correct)
{
    enum { N = 1 << DEMO_PTAU_LOG };
    pool_ntt_params params = {.struct_size = sizeof(params), .domain = data->domain};
    uint8_t *memory = bench_alloc(2, N * VALUE_BYTES);
    pool_span coefficients = {.data = memory, .count = N};
    pool_span values = {.data = memory + N * VALUE_BYTES, .count = N};
    uint8_t by_coefficients[2 * POOL_FIELD_MAX_BYTES] = {0};
    uint8_t by_values[2 * POOL_FIELD_MAX_BYTES] = {1};
    pool_status status =
        pool_random_scalars(data->tau.field, (uint64_t)job->index, N, POOL_FORM_STANDARD, memory);

    if (!status)
        status = pool_ntt(&params, NULL, &coefficients, &values);
    if (!status)
        status = compute_msm(NULL, &data->tau, N, coefficients.data, by_coefficients);
    if (!status)
        status = compute_msm(NULL, &data->basis, N, values.data, by_values);
    if (!status)
        *is_correct = memcmp(by_coefficients, by_values,
                          pool_point_bytes(data->tau.curve, POOL_POINT_AFFINE)) == 0;
    free(memory);
    return status;
}

static pool_status prepare_tree(const struct demo_data *data, pool_device *device)
{
    uint8_t state[3 * VALUE_BYTES] = {0};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_span span = {.data = state, .count = 1};

    return pool_poseidon_hash(data->set, &exec, &span, 2, &span);
}

static pool_status run_tree(
    const struct demo_data *data, const struct demo_job *job, int *is_correct)
{
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2, .kept_levels = 1};
    uint8_t *leaves = bench_alloc(job->size, VALUE_BYTES);
    uint8_t root[VALUE_BYTES];
    uint8_t expected[POOL_FIELD_MAX_BYTES];
    pool_span leaf_span = {.data = leaves, .count = job->size};
    pool_span root_span = {.data = root, .count = 1};
    pool_status status;

    for (uint32_t i = 0; i < job->size; i++) {
        uint32_t leaf = i + 1;

        memcpy(leaves + (size_t)i * VALUE_BYTES, &leaf, sizeof(leaf));
    }
    status = pool_poseidon_merkle_build(data->set, NULL, &params, &leaf_span, &root_span);
    if (!status)
        status = pool_field_parse(
            pool_poseidon_field(data->set), tree_root, POOL_FORM_STANDARD, expected);
    if (!status)
        *is_correct = memcmp(root, expected, VALUE_BYTES) == 0;
    free(leaves);
    return status;
}

void demo_jobs(struct demo_job jobs[DEMO_JOBS])
{
    const struct demo_job blob = {.tag = "blob",
        .unit = "points",
        .size = DEMO_BLOB_VALUES,
        .prepare = prepare_blob,
        .run = run_blob};
    const struct demo_job ptau = {.tag = "tau",
        .unit = "points",
        .size = 1 << DEMO_PTAU_LOG,
        .prepare = prepare_ptau,
        .run = run_ptau};
    const struct demo_job tree = {.tag = "tree",
        .unit = "leaves",
        .size = 1 << DEMO_TREE_LOG,
        .prepare = prepare_tree,
        .run = run_tree};
    const struct {
        const char *title;
        const struct demo_job *kind;
        int index;
    } all[DEMO_JOBS] = {
        {"KZG commitment, Ethereum blob", &blob, 0},
        {"KZG commitment, another blob", &blob, 1},
        {"polynomial at tau, two ways", &ptau, 1},
        {"Poseidon Merkle tree", &tree, 0},
        {"another polynomial at tau", &ptau, 2},
    };

    for (size_t i = 0; i < DEMO_JOBS; i++) {
        jobs[i] = *all[i].kind;
        jobs[i].title = all[i].title;
        jobs[i].index = all[i].index;
    }
}
