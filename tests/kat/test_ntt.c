/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms with known answers: natural order over five fields, plain and on a coset, low-degree
 * extensions, and the cells of a KZG blob (inverse from bit-reversed input, forward to bit-reversed
 * output). The reference and a simulated device must both give these answers.
 */
#include "support/ntt.h"

#include <gmp.h>

#include "base/sha256.h"
#include "support/pool.h"
#include "support/vectors.h"

enum { MOST_ON_DEVICE = 12 };

/* Input as the file's note says. */
static uint8_t *input_of(const pool_field *field, const char *kind, uint32_t log_size)
{
    uint64_t count = (uint64_t)1 << log_size;
    uint8_t *in = calloc(count, field->bytes);
    mpz_t value, modulus;

    mpz_inits(value, modulus, NULL);
    mpz_import(modulus, field->limbs, -1, 8, 0, 0, field->modulus);
    for (uint64_t i = 0; i < count; i++) {
        char text[96];
        uint8_t digest[BASE_SHA256_BYTES];

        snprintf(text, sizeof(text), "%s:%u:%llu", field->name, log_size, (unsigned long long)i);
        assert_ok(base_sha256_of(text, strlen(text), digest));
        if (strcmp(kind, "random") == 0)
            mpz_import(value, sizeof(digest), 1, 1, 0, 0, digest);
        else if (strcmp(kind, "iota") == 0)
            mpz_set_ui(value, i + 1);
        else
            mpz_sub_ui(value, modulus, 1);
        mpz_mod(value, value, modulus);
        mpz_export(in + i * field->bytes, NULL, -1, 1, 0, 0, value);
    }
    mpz_clears(value, modulus, NULL);
    return in;
}

static void assert_digest(const uint8_t *data, uint64_t bytes, const char *wanted)
{
    uint8_t digest[BASE_SHA256_BYTES];
    char text[2 * BASE_SHA256_BYTES + 1];

    assert_ok(base_sha256_of(data, bytes, digest));
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, wanted);
}

static void check_case(const cJSON *json)
{
    const pool_field *field = ntt_field(json_text(json, "field"));
    uint32_t log_size = (uint32_t)cJSON_GetObjectItem(json, "lg")->valueint;
    pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = field,
        .log_size = log_size,
        .coset = json_text(json, "coset")};
    pool_ntt_params params = {.struct_size = sizeof(params)};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint64_t count = (uint64_t)1 << log_size, bytes = count * field->bytes;
    uint8_t *in = input_of(field, json_text(json, "input"), log_size), *out = malloc(bytes);
    uint8_t root[POOL_FIELD_MAX_BYTES], wanted[POOL_FIELD_MAX_BYTES];

    assert_ok(pool_ntt_domain_create(&domain, &params.domain));
    assert_ok(pool_ntt_domain_root(params.domain, POOL_FORM_STANDARD, root));
    assert_ok(pool_field_parse(field, json_text(json, "omega"), POOL_FORM_STANDARD, wanted));
    assert_memory_equal(root, wanted, field->bytes);
    for (params.coset = 0; params.coset < 2; params.coset++) {
        const char *answer =
            json_text(json, params.coset ? "sha256_coset_forward" : "sha256_forward");
        uint8_t *plain = ntt_expected(&params, in);

        assert_digest(plain, bytes, answer);
        free(plain);
        if (log_size <= MOST_ON_DEVICE || strcmp(json_text(json, "input"), "random") == 0) {
            pool_span from = ntt_host(in, count), to = ntt_host(out, count);
            pool_status status = pool_ntt(&params, &exec, &from, &to);

            if (status == POOL_ERR_NO_COMPILER && ntt_needs_compiler(field->name))
                continue;
            assert_ok(status);
            assert_digest(out, bytes, answer);
        }
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(in);
    free(out);
}

static void test_natural_order(void **state)
{
    cJSON *json = read_vectors("generated/ntt_natural_order.json");
    const cJSON *cases = cJSON_GetObjectItem(json, "cases"), *one;
    size_t count = 0;

    (void)state;
    cJSON_ArrayForEach(one, cases)
    {
        check_case(one);
        count++;
    }
    assert_int_equal(count, 150);
    cJSON_Delete(json);
}

/* Extensions of one column, in natural order, from the input "random" of as many points. */
static void check_extension(const cJSON *json)
{
    const pool_field *field = ntt_field(json_text(json, "field"));
    const uint32_t log_points = (uint32_t)cJSON_GetObjectItem(json, "lg")->valueint;
    pool_ntt_extend_params params = {.struct_size = sizeof(params),
        .log_blowup = (uint32_t)cJSON_GetObjectItem(json, "blowup")->valueint};
    const pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = field,
        .log_size = log_points + params.log_blowup,
        .root = json_text(json, "omega"),
        .coset = json_text(json, "coset")};
    const pool_exec exec = exec_here();
    const uint64_t count = UINT64_C(1) << domain.log_size;
    uint8_t *in = input_of(field, "random", log_points), *out = calloc(count, field->bytes);
    const pool_span from = ntt_host(in, UINT64_C(1) << log_points), to = ntt_host(out, count);

    assert_ok(pool_ntt_domain_create(&domain, &params.domain));
    pool_status status = pool_ntt_extend(&params, &exec, &from, NULL, &to);
    if (status != POOL_ERR_NO_COMPILER || !ntt_needs_compiler(field->name)) {
        assert_ok(status);
        assert_digest(out, count * field->bytes, json_text(json, "sha256"));
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(in);
    free(out);
}

static void test_extensions(void **state)
{
    cJSON *json = read_vectors("generated/ntt_extend.json");
    const cJSON *one;
    size_t count = 0;

    (void)state;
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(json, "cases"))
    {
        check_extension(one);
        count++;
    }
    assert_int_equal(count, 125);
    cJSON_Delete(json);
}

/* The text behind `key` in a file of lines. */
static char *line_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    assert_non_null(at);
    at += strlen(key) + 1;
    size_t size = strcspn(at, "\n");
    char *line = calloc(size + 1, 1);
    memcpy(line, at, size);
    return line;
}

/* Big-endian scalars of a blob to the digest of its cells. */
static void check_cells(const uint8_t *blob, const char *digest)
{
    const pool_field *field = ntt_field("bls12_381_fr");
    pool_ntt_params params = {
        .struct_size = sizeof(params), .direction = POOL_NTT_INVERSE, .order = POOL_NTT_RN};
    pool_exec exec = {
        .struct_size = sizeof(exec), .device = device, .checks = POOL_CHECK_CANONICAL};
    uint8_t *bytes = malloc(8192 * 32), *data = calloc(8192, 32);
    pool_span half = ntt_host(data, 4096), whole = ntt_host(data, 8192);

    for (size_t i = 0; i < 4096 * 32; i++)
        data[i] = blob[i / 32 * 32 + 31 - i % 32];
    params.domain = ntt_domain(field, 12);
    if (strcmp(digest, "null") == 0) {
        assert_int_equal(pool_ntt(&params, &exec, &half, &half), POOL_ERR_BAD_DATA);
    } else {
        assert_ok(pool_ntt(&params, &exec, &half, &half));
        assert_ok(pool_ntt_domain_destroy(&params.domain));
        params.domain = ntt_domain(field, 13);
        params.direction = POOL_NTT_FORWARD;
        params.order = POOL_NTT_NR;
        assert_ok(pool_ntt(&params, &exec, &whole, &whole));
        assert_ok(
            pool_field_to_bytes(field, POOL_FORM_STANDARD, data, 8192, 32, POOL_BIG_ENDIAN, bytes));
        assert_digest(bytes, 8192 * 32, digest);
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(bytes);
    free(data);
}

static void read_hex(const char *text, size_t count, uint8_t *bytes)
{
    for (size_t i = 0; i < count; i++) {
        unsigned byte = 0;

        assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
        bytes[i] = (uint8_t)byte;
    }
}

static void test_cells(void **state)
{
    char *text = read_vector_file("kzg/compute_cells_2.txt"), *blob = line_of(text, "blob");
    char *digest = line_of(text, "cells_sha256");
    uint8_t *bytes = malloc(4096 * 32);

    (void)state;
    read_hex(blob, 4096 * 32, bytes);
    check_cells(bytes, digest);
    free(text);
    free(blob);
    free(digest);
    free(bytes);
}

/* Blobs of one scalar 4096 times, one of them beyond the modulus. */
static void test_cells_of_runs(void **state)
{
    char *text = read_vector_file("kzg/compute_cells_runs.txt"), *rest = NULL;
    uint8_t *bytes = malloc(4096 * 32);
    int count = 0;

    (void)state;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char digest[80] = "", scalar[80] = "";

        assert_int_equal(sscanf(line, "%*s %79s 4096:%79s", digest, scalar), 2);
        read_hex(scalar, 32, bytes);
        for (size_t i = 32; i < 4096 * 32; i++)
            bytes[i] = bytes[i - 32];
        check_cells(bytes, digest);
        count++;
    }
    assert_int_equal(count, 3);
    free(text);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_natural_order),
        cmocka_unit_test(test_extensions), cmocka_unit_test(test_cells),
        cmocka_unit_test(test_cells_of_runs)};

    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
