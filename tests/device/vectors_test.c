/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points that others have computed, on the device: scalar multiplications made with Sage and the
 * sums and multiples of EIP-2537, one thread a case, each by mixed and by full sums, compared with
 * the vectors' own points. On the machine's GPU (exit 77 without one) or, with the argument `sim`,
 * on a simulated device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curve/emit_curve.h"
#include "device.h"
#include "field/integer.h"
#include "kat/point_support.h"

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

static CUmodule build(struct device *device, const pool_curve *curve)
{
    char *text = NULL;
    if (curve_emit_of(curve, &text)) {
        printf("%s\n", pool_last_error()->message);
        exit(1);
    }
    const struct device_text texts[] = {{"curve.cuh", text}};
    CUmodule module = device_build(device, device_kernels("scalar_kernels.cu"), texts, 1);
    free(text);
    return module;
}

static void check_results(struct device *device, const struct cases *cases, const char *kernel,
    CUdeviceptr from, uint32_t count)
{
    uint8_t *results = new_array(count, cases->point_bytes);
    device_download(device, results, from, count * cases->point_bytes);
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(results + i * cases->point_bytes, cases->expected + i * cases->point_bytes,
                cases->point_bytes))
            fail(cases->vectors, i, kernel);
    free(results);
}

static void check_cases(
    struct device *device, CUmodule module, const struct cases *cases, const char *const kernels[2])
{
    uint32_t count = cases->count;
    uint32_t words = 2 * cases->scalar_limbs;
    bool is_sum = cases->vectors->kind == EIP_ADD;
    size_t bytes = count * cases->point_bytes;
    CUdeviceptr points = device_upload(device, cases->points, bytes);
    CUdeviceptr seconds =
        is_sum ? device_upload(device, cases->others, bytes)
               : device_upload(device, cases->scalars, sizeof(uint32_t) * words * count);

    for (int i = 0; i < 2; i++) {
        CUdeviceptr results = device_alloc(device, bytes);
        void *arguments[] = {&points, &seconds, &results, &count, &words}; /* sums take four */
        device_run(device, module, kernels[i], (count + 63) / 64, 64, arguments);
        check_results(device, cases, kernels[i], results, count);
        device_free(device, results);
    }
    device_free(device, points);
    device_free(device, seconds);
    printf("ok: %s: %u cases\n", cases->vectors->file, count);
}

int main(int argc, char **argv)
{
    /* Files of one curve together: it is compiled once for them. */
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
    static const char *const multiples[2] = {"multiply_affine", "multiply"};
    static const char *const sums[2] = {"add_affine", "add"};
    bool on_sim = argc > 1 && strcmp(argv[1], "sim") == 0;
    const pool_curve *curve = NULL;
    struct device device;
    CUmodule module = NULL;

    if (!device_open(&device, on_sim ? device_simulated() : NULL))
        return 77;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct cases cases = read_cases(&all[i]);
        if (cases.curve != curve) {
            if (module)
                device_unload(&device, module);
            curve = cases.curve;
            module = build(&device, curve);
        }
        check_cases(&device, module, &cases, all[i].kind == EIP_ADD ? sums : multiples);
        free_cases(&cases);
    }
    device_unload(&device, module);
    device_close(&device);
    return 0;
}
