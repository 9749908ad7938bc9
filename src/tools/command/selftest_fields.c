/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-test of field arithmetic and transforms: vector operations and transforms over every
 * built-in field, compared with weighted sums of results that were computed by Python's integers.
 */
#include <stdlib.h>
#include <string.h>

#include <openssl/bn.h>

#include "selftest.h"

void selftest_multiples(const pool_field *field, const char *factor, uint64_t count, void *out)
{
    size_t bytes = pool_field_element_bytes(field);
    uint8_t modulus[POOL_FIELD_MAX_BYTES];
    BN_CTX *context = BN_CTX_new();
    BIGNUM *step = NULL;
    BIGNUM *value = BN_new();
    BIGNUM *p;

    pool_field_modulus(field, modulus);
    p = BN_lebin2bn(modulus, (int)bytes, NULL);
    BN_hex2bn(&step, factor);
    BN_mod(step, step, p, context);
    BN_zero(value);
    for (uint64_t i = 0; i < count; i++) {
        BN_mod_add_quick(value, value, step, p);
        BN_bn2lebinpad(value, (uint8_t *)out + i * bytes, (int)bytes);
    }
    BN_free(step);
    BN_free(value);
    BN_free(p);
    BN_CTX_free(context);
}

/* Whether the weighted sum of (i + 1) times element i, as bytes in memory, equals `expected`. */
static int matches(
    const pool_field *field, const void *elements, uint64_t count, const char *expected)
{
    size_t bytes = pool_field_element_bytes(field);
    uint8_t *weights = bench_alloc(count, bytes);
    uint8_t sum[POOL_FIELD_MAX_BYTES];
    char digits[2 * POOL_FIELD_MAX_BYTES + 1];

    for (uint64_t i = 0; i < count; i++) {
        uint32_t weight = (uint32_t)i + 1;

        memcpy(weights + i * bytes, &weight, sizeof(weight));
    }
    bench_inner_product(field, elements, weights, count, count, sum);
    free(weights);
    return strcmp(cli_hex(sum, bytes, digits), expected) == 0;
}

static size_t count_fields(device_pool *pool)
{
    (void)pool;
    return selftest_field_count;
}

static const char *field_name(size_t index)
{
    return selftest_fields[index].name;
}

static pool_status run_vector(device_pool *pool, pool_device *device, size_t index, int *is_correct)
{
    static pool_status (*const functions[3])(const pool_field *, const pool_exec *,
        const pool_span *, const pool_span *,
        const pool_span *) = {pool_vector_add, pool_vector_sub, pool_vector_mul};
    const struct selftest_field *known = &selftest_fields[index];
    const pool_field *field = pool_field_by_name(known->name);
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t elements[3][SELFTEST_VECTOR * POOL_FIELD_MAX_BYTES];
    pool_span spans[3];
    pool_status status = POOL_OK;

    (void)pool;
    for (int i = 0; i < 3; i++)
        spans[i] = (pool_span){.data = elements[i], .count = SELFTEST_VECTOR};
    selftest_multiples(field, SELFTEST_K, SELFTEST_VECTOR, elements[0]);
    selftest_multiples(field, SELFTEST_L, SELFTEST_VECTOR, elements[1]);
    *is_correct = 1;
    for (int i = 0; i < 4 && !status; i++) {
        status = i < 3 ? functions[i](field, &exec, &spans[0], &spans[1], &spans[2])
                       : pool_vector_inverse(field, &exec, &spans[0], &spans[2]);
        if (!status)
            *is_correct &= matches(field, elements[2], SELFTEST_VECTOR, known->answers[i]);
    }
    return status;
}

/* Returns the index of the index-th field that has transforms. */
static size_t get_ntt_field(size_t index)
{
    for (size_t i = 0; i < selftest_field_count; i++)
        if (selftest_fields[i].answers[4] && index-- == 0)
            return i;
    return selftest_field_count;
}

static size_t count_ntt(device_pool *pool)
{
    size_t count = 0;

    (void)pool;
    while (get_ntt_field(count) < selftest_field_count)
        count++;
    return count;
}

static const char *ntt_name(size_t index)
{
    return selftest_fields[get_ntt_field(index)].name;
}

static pool_status run_transforms(pool_ntt_params *params, const pool_exec *exec,
    const struct selftest_field *known, uint8_t *elements, int *is_correct)
{
    const pool_field *field = pool_ntt_domain_field(params->domain);
    uint64_t n = (uint64_t)1 << SELFTEST_TRANSFORM_LOG;
    pool_span in = {.data = elements, .count = n};
    pool_span out = {.data = elements + n * pool_field_element_bytes(field), .count = n};
    pool_status status = POOL_OK;

    selftest_multiples(field, SELFTEST_K, n, in.data);
    *is_correct = 1;
    for (int i = 0; i < 3 && !status; i++) {
        params->coset = i == 1;
        params->order = i == 1 ? POOL_NTT_NR : POOL_NTT_NN;
        params->direction = i == 2 ? POOL_NTT_INVERSE : POOL_NTT_FORWARD;
        status = pool_ntt(params, exec, &in, &out);
        if (!status)
            *is_correct &= matches(field, out.data, n, known->answers[4 + i]);
    }
    return status;
}

static pool_status run_ntt(device_pool *pool, pool_device *device, size_t index, int *is_correct)
{
    const struct selftest_field *known = &selftest_fields[get_ntt_field(index)];
    pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = pool_field_by_name(known->name),
        .log_size = SELFTEST_TRANSFORM_LOG};
    pool_ntt_params params = {.struct_size = sizeof(params)};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_status status = pool_ntt_domain_create(&domain, &params.domain);
    uint8_t *elements;

    (void)pool;
    if (status)
        return status;
    elements =
        bench_alloc((size_t)2 << SELFTEST_TRANSFORM_LOG, pool_field_element_bytes(domain.field));
    status = run_transforms(&params, &exec, known, elements, is_correct);
    free(elements);
    pool_ntt_domain_destroy(&params.domain);
    return status;
}

const struct selftest_area selftest_vector = {"vector", count_fields, field_name, run_vector};
const struct selftest_area selftest_ntt = {"ntt", count_ntt, ntt_name, run_ntt};
