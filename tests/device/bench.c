/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throughput of field operations and of sums of points on the machine's GPU, as JSON lines. What
 * these kernels compute is checked by the tests beside this; here each chain's result is compared
 * with the host for one thread, so that a number never stands for a wrong answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curve/emit_curve.h"
#include "device.h"

enum { REPEATS = 9, BLOCKS_PER_MULTIPROCESSOR = 32 };

static int compare_floats(const void *x, const void *y)
{
    float a = *(const float *)x, b = *(const float *)y;
    return (a > b) - (a < b);
}

/* Median milliseconds of a kernel after two warm-ups. */
static float median(struct device *device, CUmodule module, const char *kernel, uint32_t blocks,
    uint32_t threads, void **arguments)
{
    float times[REPEATS];
    for (int i = 0; i < 2; i++)
        device_run(device, module, kernel, blocks, threads, arguments);
    for (int i = 0; i < REPEATS; i++)
        times[i] = device_run(device, module, kernel, blocks, threads, arguments);
    qsort(times, REPEATS, sizeof times[0], compare_floats);
    return times[REPEATS / 2];
}

static void report(const char *subject, const char *kernel, double operations, float milliseconds)
{
    printf("{\"subject\": \"%s\", \"operation\": \"%s\", \"per_second\": %.4g, \"ms\": %.4f}\n",
        subject, kernel, operations / milliseconds * 1e3, (double)milliseconds);
    fflush(stdout);
}

/* Reduced random elements, as every form takes them. */
static uint8_t *random_elements(const pool_field *field, size_t count)
{
    uint8_t *elements = calloc(count, field->bytes);
    uint64_t limbs[FIELD_MAX_LIMBS];
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < count; i++) {
        do {
            for (uint32_t k = 0; k < field->limbs; k++) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                limbs[k] = state;
            }
            if (field->bits % 64 != 0)
                limbs[field->limbs - 1] &= ((uint64_t)1 << field->bits % 64) - 1;
        } while (!field_is_canonical(field, limbs));
        memcpy(elements + i * field->bytes, limbs, field->bytes);
    }
    return elements;
}

/* What thread 0 of chain_mul must give. */
static void check_chain(const pool_field *field, const uint8_t *input, const uint8_t *output,
    uint32_t chains, uint32_t rounds)
{
    uint64_t y[FIELD_MAX_LIMBS] = {0}, sum[FIELD_MAX_LIMBS] = {0}, x[FIELD_MAX_LIMBS] = {0};
    bool is_standard = (field->flags & FIELD_DEVICE_STANDARD) != 0;
    memcpy(y, input, field->bytes);
    if (is_standard)
        field_to_montgomery(field, y, y);
    for (uint32_t k = 0; k < chains; k++) {
        memcpy(x, input + (k + 1) * field->bytes, field->bytes);
        if (is_standard)
            field_to_montgomery(field, x, x);
        for (uint32_t round = 0; round < rounds; round++)
            field_mul(field, x, x, y);
        field_add(field, sum, sum, x);
    }
    if (is_standard)
        field_from_montgomery(field, sum, sum);
    if (memcmp(sum, output, field->bytes) != 0) {
        printf("chain_mul of %s gives a wrong result\n", pool_field_name(field));
        exit(1);
    }
}

static void bench_field(struct device *device, const pool_field *field, const char *subject)
{
    static const char *const kernels[] = {"chain_mul", "chain_mul_lazy", "chain_sqr",
        "chain_sqr_lazy", "chain_mul_sub_lazy", "chain_add", "chain_add_lazy", "chain_sub_lazy"};
    bool is_small = field->words <= 2;
    uint32_t chains = is_small ? 4 : 2, threads = 256;
    uint32_t blocks = (uint32_t)device->multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
    uint32_t rounds = is_small ? 4096 : field->words <= 12 ? 512 : 128;
    size_t count = (size_t)blocks * threads + chains + 1;
    char *text = device_field_text(field, "fq");
    char defines[64];
    snprintf(defines, sizeof defines, "#define CHAINS %u\n", chains);
    const struct device_text texts[] = {{"fq.cuh", text}};
    char *source = malloc(strlen(device_kernels("bench_kernels.cu")) + 64);
    sprintf(source, "%s%s", defines, device_kernels("bench_kernels.cu"));
    CUmodule module = device_build(device, source, texts, 1);
    uint8_t *elements = random_elements(field, count);
    CUdeviceptr input = device_upload(device, elements, count * field->bytes);
    CUdeviceptr output = device_alloc(device, count * field->bytes);
    void *arguments[] = {&input, &output, &rounds};
    uint8_t first[4 * FIELD_MAX_WORDS];
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        float milliseconds = median(device, module, kernels[i], blocks, threads, arguments);
        if (i == 0 || i == 1) {
            device_download(device, first, output, field->bytes);
            check_chain(field, elements, first, chains, rounds);
        }
        report(subject, kernels[i] + 6, (double)blocks * threads * chains * rounds, milliseconds);
    }
    device_free(device, input);
    device_free(device, output);
    device_unload(device, module);
    free(elements);
    free(source);
    free(text);
}

/* `defines` comes before the kernels: another way of doing the same. */
static void bench_points(struct device *device, const pool_field *field, int32_t nonresidue,
    const char *subject, const char *defines)
{
    static const char *const kernels[] = {"chain_add_affine", "chain_add", "chain_double"};
    const struct curve_emit_params params = {.field = field, .nonresidue = nonresidue};
    uint32_t degree = nonresidue == 0 ? 1 : 2, threads = 128;
    uint32_t blocks = (uint32_t)device->multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
    uint32_t rounds = (field->words <= 8 ? 256 : 96) / degree / degree;
    char *text = NULL;
    if (curve_emit_generate(&params, &text))
        exit(1);
    const struct device_text texts[] = {{"curve.cuh", text}};
    const char *kernels_text = device_kernels("point_bench_kernels.cu");
    char *source = malloc(strlen(defines) + strlen(kernels_text) + 1);
    sprintf(source, "%s%s", defines, kernels_text);
    CUmodule module = device_build(device, source, texts, 1);
    /* Sums of points of different curves follow the same path: b is in no formula. */
    uint8_t *elements = random_elements(field, 128 * degree);
    CUdeviceptr points = device_upload(device, elements, 128 * degree * field->bytes);
    CUdeviceptr sums = device_alloc(device, (size_t)blocks * threads * 4 * degree * field->bytes);
    void *arguments[] = {&points, &sums, &rounds};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        float milliseconds = median(device, module, kernels[i], blocks, threads, arguments);
        report(subject, kernels[i] + 6, (double)blocks * threads * rounds, milliseconds);
    }
    device_free(device, points);
    device_free(device, sums);
    device_unload(device, module);
    free(elements);
    free(source);
    free(text);
}

int main(void)
{
    static const char *const fields[] = {"bn254_fq", "bn254_fr", "bls12_381_fq", "bls12_381_fr",
        "bls12_377_fq", "pallas_fq", "secp256k1_fq", "stark252", "bw6_761_fq", "goldilocks",
        "babybear", "koalabear", "mersenne31"};
    static const struct {
        const char *field;
        int32_t nonresidue;
        const char *subject;
        const char *defines;
    } curves[] = {
        {"bn254_fq", 0, "bn254 G1", ""},
        {"bls12_381_fq", 0, "bls12_381 G1", ""},
        {"bls12_377_fq", 0, "bls12_377 G1", ""},
        {"pallas_fq", 0, "pallas", ""},
        {"secp256k1_fq", 0, "secp256k1", ""},
        {"bw6_761_fq", 0, "bw6_761 G1", ""},
        {"bn254_fq", -1, "bn254 G2", ""},
        {"bn254_fq", -1, "bn254 G2, products inlined", "#define FQ2_CALLED 0\n"},
        {"bn254_fq", -1, "bn254 G2, four products", "#define FQ2_KARATSUBA 0\n"},
        {"bn254_fq", -1, "bn254 G2, four products inlined",
            "#define FQ2_KARATSUBA 0\n#define FQ2_CALLED 0\n"},
        {"bls12_381_fq", -1, "bls12_381 G2", ""},
        {"bls12_381_fq", -1, "bls12_381 G2, products inlined", "#define FQ2_CALLED 0\n"},
        {"bls12_381_fq", -1, "bls12_381 G2, four products", "#define FQ2_KARATSUBA 0\n"},
        {"bls12_381_fq", -1, "bls12_381 G2, four products inlined",
            "#define FQ2_KARATSUBA 0\n#define FQ2_CALLED 0\n"},
        {"bls12_377_fq", -5, "bls12_377 G2", ""},
    };
    struct device device;
    if (!device_open(&device, NULL))
        return 77;
    printf("{\"device\": \"%s\", \"driver\": %d, \"nvrtc\": %d}\n", device.name,
        device.driver->version, device.nvrtc->version);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        bench_field(&device, pool_field_by_name(fields[i]), fields[i]);
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *custom = NULL;
    params.modulus = "0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47";
    if (pool_field_create(&params, &custom))
        return 1;
    bench_field(&device, custom, "custom 254 bits");
    pool_field_destroy(&custom);
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++)
        bench_points(&device, pool_field_by_name(curves[i].field), curves[i].nonresidue,
            curves[i].subject, curves[i].defines);
    device_close(&device);
    return 0;
}
