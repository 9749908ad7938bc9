/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throughput of field operations and of point additions: each thread runs chains of operations that
 * do not wait for memory. The results of the first threads are compared with the host's.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zk/curve/emit_curve.h"
#include "support/compiler.h"

enum { BLOCKS_PER_MULTIPROCESSOR = 32, COMPARED = 64, POINTS = 64 };

/* ---- fields ---------------------------------------------------------------------------------- */

/* x = op(x, y) */
typedef void field_step(const pool_field *field, uint64_t *x, const uint64_t *y);

static void step_mul(const pool_field *field, uint64_t *x, const uint64_t *y)
{
    field_mul(field, x, x, y);
}

static void step_sqr(const pool_field *field, uint64_t *x, const uint64_t *y)
{
    (void)y;
    field_sqr(field, x, x);
}

/* x y - y x */
static void step_mul_sub(const pool_field *field, uint64_t *x, const uint64_t *y)
{
    (void)y;
    field_set_zero(field, x);
}

static void step_add(const pool_field *field, uint64_t *x, const uint64_t *y)
{
    field_add(field, x, x, y);
}

static void step_sub(const pool_field *field, uint64_t *x, const uint64_t *y)
{
    field_sub(field, x, x, y);
}

static const struct field_chain {
    const char *kernel;
    field_step *reference;
} field_chains[] = {
    {"chain_mul", step_mul},
    {"chain_mul_lazy", step_mul},
    {"chain_sqr", step_sqr},
    {"chain_sqr_lazy", step_sqr},
    {"chain_mul_sub_lazy", step_mul_sub},
    {"chain_add", step_add},
    {"chain_add_lazy", step_add},
    {"chain_sub_lazy", step_sub},
};

struct field_subject {
    struct harness *harness;
    const pool_field *field;
    const char *name;
    pool_module *module; /* compiled for the first stage that is selected */
    uint32_t chains;
};

static pool_module *field_module(struct field_subject *subject)
{
    char defines[64], *text;

    if (subject->module == NULL) {
        text = compiler_field_header(subject->field, "fq");
        snprintf(defines, sizeof(defines), "#define CHAINS %u\n", subject->chains);
        subject->module =
            harness_compile(subject->harness, "bench_kernels.cu", defines, "fq.cuh", text);
        free(text);
    }
    return subject->module;
}

/* The sum of the chains of thread `thread`. */
static void expect_chains(const struct field_subject *subject, const struct field_chain *row,
    const uint64_t *input, uint32_t thread, uint32_t rounds, uint64_t *sum)
{
    const pool_field *field = subject->field;
    uint64_t x[FIELD_MAX_LIMBS];

    field_set_zero(field, sum);
    for (uint32_t chain = 0; chain < subject->chains; chain++) {
        field_copy(field, x, input + (size_t)(thread + chain + 1) * field->limbs);
        for (uint32_t round = 0; round < rounds; round++)
            row->reference(field, x, input + (size_t)thread * field->limbs);
        field_add(field, sum, sum, x);
    }
}

static void check_field_chain(struct field_subject *subject, const struct field_chain *row)
{
    struct harness *harness = subject->harness;
    const pool_field *field = subject->field;
    uint32_t threads = 256, gpu_blocks = harness->multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
    uint32_t blocks = (uint32_t)harness_size(harness, 1, gpu_blocks);
    uint32_t gpu_rounds = field->words <= 2 ? 4096 : field->words <= 12 ? 512 : 128;
    uint32_t rounds = (uint32_t)harness_size(harness, 8, gpu_rounds);
    size_t count = (size_t)blocks * threads + subject->chains + 1;
    char name[64];
    struct stage stage;

    snprintf(name, sizeof(name), "chain %s", row->kernel + strlen("chain_"));
    if (!stage_begin(harness, &stage, name, "%s", subject->name))
        return;
    uint64_t *elements = elements_random(field, 5, count);
    uint8_t *packed = elements_pack(field, elements, count, field->bytes);
    uint8_t *expected = harness_memory(COMPARED, field->bytes);
    CUdeviceptr input = stage_upload(&stage, packed, count * field->bytes);
    CUdeviceptr output = stage_alloc(&stage, count * field->bytes);
    void *arguments[] = {&input, &output, &rounds};
    struct kernel_launch launch = {.kernel = kernel_of(field_module(subject), row->kernel),
        .blocks = blocks,
        .threads = threads,
        .arguments = arguments,
        .argument_count = 3};

    for (uint32_t i = 0; i < COMPARED; i++) {
        uint64_t sum[FIELD_MAX_LIMBS];

        expect_chains(subject, row, elements, i, rounds, sum);
        element_pack(field, expected + i * field->bytes, sum);
    }
    stage_run(&stage, kernel_launch, &launch);
    stage_compare(&stage, "thread", output, expected, COMPARED, field->bytes);
    stage_time(&stage, kernel_launch, &launch, (double)blocks * threads * subject->chains * rounds);
    stage_end(&stage);
    free(elements);
    free(packed);
    free(expected);
}

static void check_field_chains(struct harness *harness, const pool_field *field, const char *name)
{
    struct field_subject subject = {
        .harness = harness, .field = field, .name = name, .chains = field->words <= 2 ? 4 : 2};

    for (size_t i = 0; i < sizeof(field_chains) / sizeof(field_chains[0]); i++)
        check_field_chain(&subject, &field_chains[i]);
    pool_module_destroy(&subject.module);
}

/* ---- points ---------------------------------------------------------------------------------- */

struct point_subject {
    const char *curve;
    const char *variant; /* another way of compiling the same; "": the library's */
    const char *defines;
    bool on_gpu_only;
};

/* The sum of thread `thread`. */
typedef void point_reference(const pool_curve *curve, const struct curve_jacobian *points,
    uint32_t thread, uint32_t rounds, struct curve_jacobian *sum);

static void expect_add_affine(const pool_curve *curve, const struct curve_jacobian *points,
    uint32_t thread, uint32_t rounds, struct curve_jacobian *sum)
{
    *sum = points[thread % POINTS];
    for (uint32_t round = 0; round < rounds; round++)
        curve_jacobian_add(curve, sum, sum, &points[(thread + round + 1) % POINTS]);
}

static void expect_add(const pool_curve *curve, const struct curve_jacobian *points,
    uint32_t thread, uint32_t rounds, struct curve_jacobian *sum)
{
    struct curve_jacobian step;

    curve_jacobian_double(curve, &step, &points[(thread + 1) % POINTS]);
    *sum = points[thread % POINTS];
    for (uint32_t round = 0; round < rounds; round++)
        curve_jacobian_add(curve, sum, sum, &step);
}

static void expect_double(const pool_curve *curve, const struct curve_jacobian *points,
    uint32_t thread, uint32_t rounds, struct curve_jacobian *sum)
{
    *sum = points[thread % POINTS];
    for (uint32_t round = 0; round < rounds; round++)
        curve_jacobian_double(curve, sum, sum);
}

static const struct point_chain {
    const char *kernel;
    point_reference *reference;
} point_chains[] = {
    {"chain_add_affine", expect_add_affine},
    {"chain_add", expect_add},
    {"chain_double", expect_double},
};

static void check_point_chain(struct harness *harness, const struct point_subject *subject,
    const struct point_chain *row, pool_module **module)
{
    const pool_curve *curve = pool_curve_by_name(subject->curve);
    uint32_t threads = 128, gpu_blocks = harness->multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
    uint32_t blocks = (uint32_t)harness_size(harness, 1, gpu_blocks);
    uint32_t rounds = (uint32_t)harness_size(harness, 5, 256);
    size_t bytes = pool_point_bytes(curve, POOL_POINT_XYZZ);
    struct curve_jacobian expected[COMPARED];
    char name[64], *text = NULL;
    struct stage stage;

    snprintf(name, sizeof(name), "chain point %s", row->kernel + strlen("chain_"));
    if (!stage_begin(harness, &stage, name, "%s%s", subject->curve, subject->variant))
        return;
    if (*module == NULL) {
        MUST(curve_emit_of(curve, &text));
        *module =
            harness_compile(harness, "point_bench_kernels.cu", subject->defines, "curve.cuh", text);
        free(text);
    }
    struct points points = points_random(curve, 3, POINTS);
    CUdeviceptr input = stage_upload(&stage, points.packed, POINTS * points.bytes);
    CUdeviceptr sums = stage_alloc(&stage, (size_t)blocks * threads * bytes);
    void *arguments[] = {&input, &sums, &rounds};
    struct kernel_launch launch = {.kernel = kernel_of(*module, row->kernel),
        .blocks = blocks,
        .threads = threads,
        .arguments = arguments,
        .argument_count = 3};

    for (uint32_t i = 0; i < COMPARED; i++)
        row->reference(curve, points.jacobian, i, rounds, &expected[i]);
    stage_run(&stage, kernel_launch, &launch);
    stage_compare_points(&stage, "thread", curve, POOL_POINT_XYZZ, sums, expected, COMPARED);
    stage_time(&stage, kernel_launch, &launch, (double)blocks * threads * rounds);
    stage_end(&stage);
    points_free(&points);
}

static void check_point_chains(struct harness *harness, const struct point_subject *subject)
{
    pool_module *module = NULL;

    if (subject->on_gpu_only && harness->is_simulated)
        return;
    for (size_t i = 0; i < sizeof(point_chains) / sizeof(point_chains[0]); i++)
        check_point_chain(harness, subject, &point_chains[i], &module);
    pool_module_destroy(&module);
}

void check_chain_stages(struct harness *harness)
{
    static const char *const fields[] = {"bn254_fq", "bn254_fr", "bls12_381_fq", "bls12_381_fr",
        "bls12_377_fq", "pallas_fq", "secp256k1_fq", "stark252", "bw6_761_fq", "goldilocks",
        "babybear", "koalabear", "mersenne31"};
    static const struct point_subject curves[] = {
        {"bn254_g1", "", "", false},
        {"bls12_381_g1", "", "", true},
        {"bls12_377_g1", "", "", true},
        {"pallas", "", "", true},
        {"secp256k1", "", "", true},
        {"bw6_761_g1", "", "", true},
        {"bn254_g2", "", "", false},
        {"bn254_g2", ", products inlined", "#define FQ2_CALLED 0\n", true},
        {"bn254_g2", ", four products", "#define FQ2_KARATSUBA 0\n", true},
        {"bn254_g2", ", four products inlined", "#define FQ2_KARATSUBA 0\n#define FQ2_CALLED 0\n",
            true},
        {"bls12_381_g2", "", "", true},
        {"bls12_381_g2", ", products inlined", "#define FQ2_CALLED 0\n", true},
        {"bls12_381_g2", ", four products", "#define FQ2_KARATSUBA 0\n", true},
        {"bls12_381_g2", ", four products inlined",
            "#define FQ2_KARATSUBA 0\n#define FQ2_CALLED 0\n", true},
        {"bls12_377_g2", "", "", true},
    };
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *custom = NULL;

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        check_field_chains(harness, pool_field_by_name(fields[i]), fields[i]);
    params.modulus = "0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47";
    MUST(pool_field_create(&params, &custom));
    check_field_chains(harness, custom, "custom, 254 bits");
    pool_field_destroy(&custom);
    for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++)
        check_point_chains(harness, &curves[i]);
}
