/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quotient of a proof, on the device from the witness to its values on the coset.
 */
#include "groth16_prover.h"

pool_status groth16_create_domain(const pool_file_info *key, pool_ntt_domain **domain)
{
    uint8_t root[POOL_FIELD_MAX_BYTES];
    char coset[POOL_FIELD_STRING_BYTES];
    uint32_t log_size = 0;
    pool_status status;

    while (UINT64_C(1) << log_size < key->domain_size)
        log_size++;
    status = pool_field_root_of_unity(
        key->field, key->convention, log_size + 1, POOL_FORM_STANDARD, root);
    if (!status)
        status = pool_field_format(
            key->field, POOL_FORM_STANDARD, root, POOL_HEXADECIMAL, coset, sizeof(coset), NULL);
    if (status)
        return status;
    const pool_ntt_domain_params params = {.struct_size = sizeof(params),
        .field = key->field,
        .log_size = log_size,
        .convention = key->convention,
        .coset = coset};
    return pool_ntt_domain_create(&params, domain);
}

/* Transforms three vectors of values on the domain to values on the coset. */
static pool_status transform_to_coset(const struct groth16_prover *prover, const pool_span *rows)
{
    pool_ntt_params params = {.struct_size = sizeof(params), .batch = 3};
    pool_exec exec = groth16_exec(prover);
    const struct groth16_residents *residents = prover->job->residents;
    pool_ntt_domain *own = NULL;
    pool_span out = *rows;
    pool_status status = residents ? POOL_OK : groth16_create_domain(&prover->key, &own);

    exec.is_async = 1;
    params.domain = residents ? residents->domain : own;
    params.direction = POOL_NTT_INVERSE;
    params.order = POOL_NTT_NR;
    if (!status)
        status = pool_ntt(&params, &exec, rows, &out);
    params.direction = POOL_NTT_FORWARD;
    params.order = POOL_NTT_RN;
    params.coset = 1;
    if (!status)
        status = pool_ntt(&params, &exec, rows, &out);
    pool_ntt_domain_destroy(&own);
    return status;
}

/* Allocates the three vectors and computes the first two. */
static pool_status compute_rows(struct groth16_prover *prover, pool_span *rows)
{
    uint64_t n = prover->key.domain_size;
    const pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = 3 * n * prover->width,
        .stream = prover->stream,
        .lease = prover->job->lease};
    CUdeviceptr address = 0;
    pool_status status = pool_buffer_create(prover->device, &params, &prover->rows);

    if (!status)
        status = pool_buffer_address(prover->rows, &address);
    if (!status)
        status = groth16_multiply_matrices(prover, address);
    *rows = (pool_span){.data = (void *)(uintptr_t)address,
        .count = 3 * n,
        .form = POOL_FORM_MONTGOMERY,
        .space = POOL_MEMORY_DEVICE};
    return status;
}

/* One of the three vectors. */
static pool_span third(const struct groth16_prover *prover, const pool_span *rows, uint64_t index)
{
    pool_span vector = *rows;

    vector.count = prover->key.domain_size;
    vector.data = (uint8_t *)rows->data + index * vector.count * prover->width;
    return vector;
}

pool_status groth16_compute_quotient(struct groth16_prover *prover, pool_span *quotient)
{
    pool_exec exec = groth16_exec(prover);
    pool_span rows, a, b, c;
    pool_status status = compute_rows(prover, &rows);

    exec.is_async = 1;
    a = third(prover, &rows, 0);
    b = third(prover, &rows, 1);
    c = third(prover, &rows, 2);
    if (!status) /* a valid witness satisfies A w * B w = C w */
        status = pool_vector_mul(prover->field, &exec, &a, &b, &c);
    if (!status)
        status = transform_to_coset(prover, &rows);
    if (!status)
        status = pool_vector_mul(prover->field, &exec, &a, &b, &a);
    if (!status)
        status = pool_vector_sub(prover->field, &exec, &a, &c, &a);
    *quotient = a;
    return status;
}
