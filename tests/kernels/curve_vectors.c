/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points with known answers: scalar multiplications made with Sage and the sums and multiples of
 * EIP-2537, one thread per case, each by mixed and by full additions, compared with the points of
 * the vectors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zk/curve/emit_curve.h"
#include "zk/field/integer.h"
#include "harness.h"
#include "support/point_vectors.h"

enum { MAX_CASES = 40 };

enum kind { SAGE, EIP_MUL, EIP_ADD };

/* A file of vectors and how many it has. */
struct vectors {
    const char *curve;
    enum kind kind;
    uint32_t count;
    const char *file;
};

/* Arrays of `count` cases; points are packed affine ones in standard form. */
struct cases {
    const struct vectors *vectors;
    const pool_curve *curve;
    uint32_t count;
    size_t point_bytes;
    uint32_t scalar_limbs;
    uint8_t *points;
    uint8_t *others;   /* second summands; EIP_ADD */
    uint64_t *scalars; /* else */
    uint8_t *expected;
};

static void fail(const struct vectors *vectors, uint32_t index, const char *what)
{
    printf("%s: case %u: %s\n", vectors->file, index, what);
    exit(1);
}

static void *new_array(size_t count, size_t bytes)
{
    void *array = calloc(count, bytes);
    if (array == NULL)
        abort();
    return array;
}

/* ---- reading ---- */

static void read_sage_case(struct cases *cases, const cJSON *json, uint32_t i)
{
    const char *wrong = field_integer_parse(
        cases->scalars + i * cases->scalar_limbs, cases->scalar_limbs, json_text(json, "scalar"));
    if (wrong)
        fail(cases->vectors, i, wrong);
    read_point(cases->curve, json, "P", cases->points + i * cases->point_bytes);
    read_point(cases->curve, json, "Q", cases->expected + i * cases->point_bytes);
}

static void decode_point(struct cases *cases, uint32_t i, const uint8_t *bytes, uint8_t *out)
{
    if (pool_points_decode(
            cases->curve, POOL_ENCODING_EIP2537, 0, bytes, 1, POOL_CHECK_CANONICAL, NULL, out))
        fail(cases->vectors, i, pool_last_error()->message);
}

static void read_eip_case(struct cases *cases, const cJSON *json, uint32_t i)
{
    size_t encoded = pool_encoding_bytes(cases->curve, POOL_ENCODING_EIP2537);
    size_t second = cases->vectors->kind == EIP_ADD ? encoded : 32;
    size_t at = i * cases->point_bytes, size, expected_size;
    uint8_t *input = hex_bytes(json_text(json, "Input"), &size);
    uint8_t *expected = hex_bytes(json_text(json, "Expected"), &expected_size);

    if (size != encoded + second || expected_size != encoded)
        fail(cases->vectors, i, "wrong length");
    decode_point(cases, i, input, cases->points + at);
    decode_point(cases, i, expected, cases->expected + at);
    if (cases->vectors->kind == EIP_ADD)
        decode_point(cases, i, input + encoded, cases->others + at);
    else if (!field_integer_from_bytes(cases->scalars + i * cases->scalar_limbs,
                 cases->scalar_limbs, input + encoded, second, true))
        fail(cases->vectors, i, "scalar too long");
    free(input);
    free(expected);
}

static struct cases read_cases(const struct vectors *vectors)
{
    const pool_curve *curve = pool_curve_by_name(vectors->curve);
    struct cases cases = {.vectors = vectors,
        .curve = curve,
        .point_bytes = pool_point_bytes(curve, POOL_POINT_AFFINE),
        .scalar_limbs = pool_curve_scalar_field(curve)->limbs};
    cJSON *json = read_vectors(vectors->file), *list = json, *item;

    cases.points = new_array(MAX_CASES, cases.point_bytes);
    cases.others = new_array(MAX_CASES, cases.point_bytes);
    cases.expected = new_array(MAX_CASES, cases.point_bytes);
    cases.scalars = new_array(MAX_CASES, cases.scalar_limbs * sizeof *cases.scalars);
    if (vectors->kind == SAGE)
        list = cJSON_GetObjectItemCaseSensitive(json, "vectors");
    cJSON_ArrayForEach(item, list)
    {
        if (cases.count == vectors->count || cases.count == MAX_CASES)
            fail(vectors, cases.count, "more cases than known");
        if (vectors->kind == SAGE)
            read_sage_case(&cases, item, cases.count);
        else
            read_eip_case(&cases, item, cases.count);
        cases.count++;
    }
    if (cases.count != vectors->count)
        fail(vectors, cases.count, "missing");
    cJSON_Delete(json);
    return cases;
}

static void free_cases(struct cases *cases)
{
    free(cases->points);
    free(cases->others);
    free(cases->scalars);
    free(cases->expected);
}

/* ---- the device ---- */

/* Files of one curve follow each other: it is compiled once for them. */
struct compiled {
    const pool_curve *curve;
    pool_module *module;
};

static pool_module *module_of(
    struct harness *harness, struct compiled *compiled, const pool_curve *curve)
{
    char *text = NULL;

    if (compiled->curve != curve) {
        pool_module_destroy(&compiled->module);
        MUST(curve_emit_of(curve, &text));
        compiled->module = harness_compile(harness, "scalar_kernels.cu", "", "curve.cuh", text);
        compiled->curve = curve;
        free(text);
    }
    return compiled->module;
}

static void check_kernel(struct harness *harness, struct compiled *compiled,
    const struct vectors *vectors, const char *kernel)
{
    struct stage stage;
    char name[64];

    snprintf(name, sizeof(name), "curve %s", kernel);
    if (!stage_begin(harness, &stage, name, "%s", vectors->file))
        return;
    struct cases cases = read_cases(vectors);
    uint32_t count = cases.count, words = 2 * cases.scalar_limbs;
    size_t bytes = count * cases.point_bytes;
    CUdeviceptr points = stage_upload(&stage, cases.points, bytes);
    CUdeviceptr seconds = vectors->kind == EIP_ADD
                              ? stage_upload(&stage, cases.others, bytes)
                              : stage_upload(&stage, cases.scalars, 4 * (size_t)words * count);
    CUdeviceptr results = stage_alloc(&stage, bytes);
    void *arguments[] = {&points, &seconds, &results, &count, &words};
    struct kernel_launch launch = {
        .kernel = kernel_of(module_of(harness, compiled, cases.curve), kernel),
        .blocks = (count + 63) / 64,
        .threads = 64,
        .arguments = arguments,
        .argument_count = vectors->kind == EIP_ADD ? 4 : 5};
    stage_run(&stage, kernel_launch, &launch);
    stage_compare(&stage, "case", results, cases.expected, count, cases.point_bytes);
    stage_end(&stage);
    free_cases(&cases);
}

void check_curve_vectors(struct harness *harness)
{
    static const struct vectors all[] = {
        {"bn254_g1", SAGE, 40, "curves/tv_BN254_Snarks_scalar_mul_G1_254bit.json"},
        {"bn254_g2", SAGE, 40, "curves/tv_BN254_Snarks_scalar_mul_G2_254bit.json"},
        {"bls12_381_g1", SAGE, 40, "curves/tv_BLS12_381_scalar_mul_G1_255bit.json"},
        {"bls12_381_g1", EIP_MUL, 11, "eip-2537/mul_G1_bls.json"},
        {"bls12_381_g1", EIP_ADD, 9, "eip-2537/add_G1_bls.json"},
        {"bls12_381_g2", SAGE, 40, "curves/tv_BLS12_381_scalar_mul_G2_255bit.json"},
        {"bls12_381_g2", EIP_MUL, 11, "eip-2537/mul_G2_bls.json"},
        {"bls12_381_g2", EIP_ADD, 9, "eip-2537/add_G2_bls.json"},
        {"bls12_377_g1", SAGE, 40, "curves/tv_BLS12_377_scalar_mul_G1_253bit.json"},
        {"bw6_761_g1", SAGE, 40, "curves/tv_BW6_761_scalar_mul_G1_377bit.json"},
        {"pallas", SAGE, 40, "curves/tv_Pallas_scalar_mul_G1_255bit.json"},
        {"vesta", SAGE, 40, "curves/tv_Vesta_scalar_mul_G1_255bit.json"},
    };
    static const char *const kernels[][2] = {[SAGE] = {"multiply_affine", "multiply"},
        [EIP_MUL] = {"multiply_affine", "multiply"},
        [EIP_ADD] = {"add_affine", "add"}};
    struct compiled compiled = {0};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (int k = 0; k < 2; k++)
            check_kernel(harness, &compiled, &all[i], kernels[all[i].kind][k]);
    pool_module_destroy(&compiled.module);
}
