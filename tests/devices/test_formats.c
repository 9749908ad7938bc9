/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and operations together: a commitment to a polynomial is the same from its coefficients
 * over the powers of tau and from its values over the Lagrange basis, both read where they lie in
 * the file.
 *
 *   test_formats [DEVICES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

enum { MAX_POINTS = 4096, MAX_BYTES = 32 };

static pool_device *device;

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static pool_file_section section_of(const pool_file *file, const char *name)
{
    pool_file_section section = {.struct_size = sizeof(section)};

    must(pool_file_get_section(file, name, &section));
    return section;
}

/* Sum of the first points; affine, standard form. */
static void commit(const pool_file_section *points, const uint8_t *scalars, uint64_t count,
    uint8_t commitment[192])
{
    const pool_msm_params params = {
        .struct_size = sizeof(params), .curve = points->curve, .point_layout = points->layout};
    const pool_exec exec = {
        .struct_size = sizeof(exec), .device = device, .checks = POOL_CHECK_ON_CURVE};
    pool_span result = {.data = commitment, .count = 1};
    pool_span first = points->span, of_scalars = {.data = NULL, .count = count};

    first.count = count;
    of_scalars.data = (void *)(uintptr_t)scalars;
    must(pool_msm(&params, &exec, &first, &of_scalars, &result));
}

static void evaluate(const pool_field *field, uint32_t log_size, const char *convention,
    uint8_t *coefficients, uint8_t *values)
{
    const pool_ntt_domain_params params = {.struct_size = sizeof(params),
        .field = field,
        .log_size = log_size,
        .convention = convention};
    pool_span in = {.data = coefficients, .count = UINT64_C(1) << log_size};
    pool_span out = {.data = values, .count = in.count};
    pool_ntt_params transform = {.struct_size = sizeof(transform)};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};

    must(pool_ntt_domain_create(&params, &transform.domain));
    must(pool_ntt(&transform, &exec, &in, &out));
    must(pool_ntt_domain_destroy(&transform.domain));
}

static int check(const char *name, const char *powers_name, const char *basis_name,
    uint32_t log_size, const char *convention)
{
    static uint8_t coefficients[MAX_POINTS * MAX_BYTES], values[MAX_POINTS * MAX_BYTES];
    uint64_t count = UINT64_C(1) << log_size;
    uint8_t of_coefficients[192], of_values[192];
    pool_file_section powers, basis;
    char path[1024];
    pool_file *file;
    int same;

    snprintf(path, sizeof(path), "%s/%s", TEST_VECTORS, name);
    must(pool_file_open(path, NULL, &file));
    powers = section_of(file, powers_name);
    basis = section_of(file, basis_name);
    must(pool_random_scalars(powers.field, log_size, count, POOL_FORM_STANDARD, coefficients));
    evaluate(powers.field, log_size, convention, coefficients, values);
    commit(&powers, coefficients, count, of_coefficients);
    commit(&basis, values, count, of_values);
    same = !memcmp(of_coefficients, of_values, pool_point_bytes(powers.curve, POOL_POINT_AFFINE));
    printf("%s: %s and %s of 2^%u points %s\n", name, powers_name, basis_name, log_size,
        same ? "agree" : "DIFFER");
    pool_file_destroy(&file);
    return !same;
}

int main(int count, char **arguments)
{
    pool_params params = {.struct_size = sizeof(params)};
    device_pool *pool;
    int failed = 0;

    params.devices = count > 1 ? arguments[1] : NULL;
    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &device));
    failed += check("iden3/powersOfTau28_hez_final_08.ptau", "tauG1", "lagrange:8", 8, NULL);
    failed +=
        check("iden3/powersOfTau28_hez_final_08.ptau", "betaTauG1", "lagrangeBeta:7", 7, NULL);
    failed += check("iden3/powersOfTau28_hez_final_08.ptau", "tauG2", "lagrangeG2:5", 5, NULL);
    failed += check("iden3/bls12_381_04.ptau", "tauG1", "lagrange:4", 4, "snarkjs");
    failed += check("iden3/bls12_381_04.ptau", "tauG2", "lagrangeG2:4", 4, "snarkjs");
    failed += check("kzg/trusted_setup.txt", "monomial", "lagrange", 12, NULL);
    must(pool_destroy(&pool));
    return failed ? 1 : 0;
}
