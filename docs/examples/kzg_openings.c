/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The KZG openings of a polynomial f of n coefficients at all n-th roots of unity z at once, by the
 * method of Feist and Khovratovich, "Fast amortized KZG proofs", 2023 (IACR ePrint 2023/033). With
 * the setup's points s_j = [tau^j] the opening at z is
 *
 *   [(f(X) - f(z)) / (X - z)] = sum over k of z^k h_k,   h_k = sum over j of f_(k + 1 + j) s_j,
 *
 * so that all openings are the transform of the points h. These are n elements of the product of a
 * Toeplitz matrix and the setup: a cyclic convolution of length 2n, as a transform of the setup,
 * once for all polynomials, one of the coefficients, 2n multiplications of points in a custom
 * kernel, and an inverse transform. A sample of the openings is compared with MSMs over the setup,
 * of the quotients by synthetic division. tau is known here: use the setup of a ceremony.
 *
 *   kzg_openings [DEVICES] [LOG_SIZE]      n = 2^LOG_SIZE, default 12, 3 on simulated devices
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_field.h"
#include "progress.h"

#define CHECKED 16    /* openings */
#define WORDS "8"     /* of a scalar */
#define POINT_SIZE 64 /* bytes of an affine point of BN254 G1; twice as many of an XYZZ point */

static const char source[] =
    "#include \"g1.cuh\"\n"
    "\n"
    "/* out[i] = scalar i times points[i]. */\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "multiply(g1_xyzz *out, const g1_affine *points, const unsigned *scalars, unsigned n)\n"
    "{\n"
    "    unsigned i = blockIdx.x * 256 + threadIdx.x;\n"
    "    if (i < n)\n"
    "        out[i] = g1_reduce(g1_mul(points[i], scalars + " WORDS " * i, " WORDS "));\n"
    "}\n";

struct openings {
    pool_device *device;
    pool_stream *stream;
    const pool_curve *curve;
    const pool_field *field;
    uint32_t n;
    pool_ntt_domain *domain, *double_domain; /* of n and of 2n */
    pool_module *module;
    pool_kernel *multiply;
    pool_buffer *setup;    /* 2n affine points: the transform of the setup */
    pool_buffer *scalars;  /* 2n coefficients, and then their transform */
    pool_buffer *products; /* 2n XYZZ points */
    pool_buffer *sums;     /* 2n affine points: h_k at k + 1 */
};

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

static pool_exec on_stream(const struct openings *openings)
{
    return (pool_exec){.struct_size = sizeof(pool_exec),
        .device = openings->device,
        .stream = openings->stream,
        .is_async = 1};
}

/* s_j is at the place -j of 2n, so that the convolution with the coefficients has h_k at k + 1. */
static void transform_setup(struct openings *openings, const uint8_t *setup)
{
    const uint32_t n = openings->n;
    const pool_exec exec = on_stream(openings);
    const pool_ecntt_params transform = {.struct_size = sizeof(transform),
        .curve = openings->curve,
        .domain = openings->double_domain};
    uint8_t *placed = allocate(2 * (size_t)n, POINT_SIZE);
    const pool_span in = {.data = placed, .count = 2 * (uint64_t)n};
    pool_span out;

    for (uint32_t j = 0; j + 1 < n; j++)
        memcpy(placed + (size_t)((2 * n - j) % (2 * n)) * POINT_SIZE,
            setup + (size_t)j * POINT_SIZE, POINT_SIZE);
    must(pool_buffer_span(openings->setup, 0, in.count, POOL_FORM_MONTGOMERY, &out));
    must(pool_ecntt(&transform, &exec, &in, &out));
    must(pool_stream_synchronize(openings->stream));
    free(placed);
}

static void create_openings(struct openings *openings, const uint8_t *setup)
{
    const pool_module_arithmetic arithmetic = {.prefix = "g1", .curve = openings->curve};
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = source,
        .name = "kzg_openings.cu",
        .arithmetic = &arithmetic,
        .arithmetic_count = 1};
    const uint64_t points = 2 * (uint64_t)openings->n;
    pool_ntt_domain_params domain = {.struct_size = sizeof(domain), .field = openings->field};

    domain.log_size = (uint32_t)__builtin_ctz(openings->n);
    must(pool_ntt_domain_create(&domain, &openings->domain));
    domain.log_size++;
    must(pool_ntt_domain_create(&domain, &openings->double_domain));
    must(pool_stream_create(openings->device, NULL, &openings->stream));
    must(pool_module_compile(openings->device, &params, &openings->module));
    must(pool_kernel_get(openings->module, "multiply", &openings->multiply));
    must(pool_buffer_alloc(openings->device, points * POINT_SIZE, &openings->setup));
    must(pool_buffer_alloc(openings->device, points * sizeof(element), &openings->scalars));
    must(pool_buffer_alloc(openings->device, points * 2 * POINT_SIZE, &openings->products));
    must(pool_buffer_alloc(openings->device, points * POINT_SIZE, &openings->sums));
    transform_setup(openings, setup);
}

static void destroy_openings(struct openings *openings)
{
    must(pool_buffer_destroy(&openings->sums));
    must(pool_buffer_destroy(&openings->products));
    must(pool_buffer_destroy(&openings->scalars));
    must(pool_buffer_destroy(&openings->setup));
    must(pool_module_destroy(&openings->module));
    must(pool_stream_destroy(&openings->stream));
    must(pool_ntt_domain_destroy(&openings->double_domain));
    must(pool_ntt_domain_destroy(&openings->domain));
}

/* Multiplies point i of the setup's transform by element i of the coefficients' one. */
static void multiply_points(const struct openings *openings)
{
    uint32_t points = 2 * openings->n;
    CUdeviceptr out, setup, scalars;
    void *arguments[] = {&out, &setup, &scalars, &points};
    static const size_t sizes[] = {8, 8, 8, 4};
    pool_launch_shape shape = {.struct_size = sizeof(shape)};

    must(pool_buffer_address(openings->products, &out));
    must(pool_buffer_address(openings->setup, &setup));
    must(pool_buffer_address(openings->scalars, &scalars));
    must(pool_launch_shape_for(points, &shape));
    shape.argument_count = 4;
    shape.argument_bytes = sizes;
    must(pool_launch(openings->multiply, &shape, arguments, openings->stream));
}

/* All openings of the polynomial, affine points in standard form. */
static void open_all(const struct openings *openings, const element *polynomial, uint8_t *proofs)
{
    const uint64_t n = openings->n;
    const pool_exec exec = on_stream(openings);
    const pool_ntt_params coefficients = {
        .struct_size = sizeof(coefficients), .domain = openings->double_domain};
    const pool_ecntt_params convolution = {.struct_size = sizeof(convolution),
        .curve = openings->curve,
        .domain = openings->double_domain,
        .direction = POOL_NTT_INVERSE,
        .point_layout = POOL_POINT_XYZZ};
    const pool_ecntt_params evaluation = {
        .struct_size = sizeof(evaluation), .curve = openings->curve, .domain = openings->domain};
    pool_span scalars, products, sums, wanted;
    const pool_span out = {.data = proofs, .count = n};

    must(pool_buffer_span(openings->scalars, 0, 2 * n, POOL_FORM_STANDARD, &scalars));
    must(pool_buffer_span(openings->products, 0, 2 * n, POOL_FORM_MONTGOMERY, &products));
    must(pool_buffer_span(openings->sums, 0, 2 * n, POOL_FORM_MONTGOMERY, &sums));
    must(pool_buffer_span(openings->sums, POINT_SIZE, n, POOL_FORM_MONTGOMERY, &wanted));
    must(pool_buffer_fill8(
        openings->scalars, n * sizeof(element), n * sizeof(element), 0, openings->stream));
    must(pool_copy_to_device(
        openings->scalars, 0, polynomial, n * sizeof(element), openings->stream));
    must(pool_ntt(&coefficients, &exec, &scalars, &scalars));
    multiply_points(openings);
    must(pool_ecntt(&convolution, &exec, &products, &sums));
    must(pool_ecntt(&evaluation, &exec, &wanted, &out));
    must(pool_stream_synchronize(openings->stream));
}

/* ---- one by one ------------------------------------------------------------------------------ */

/* The coefficients of (f(X) - f(z)) / (X - z); all in Montgomery form. */
static void divide(const element *polynomial, uint32_t n, element z, element *quotient)
{
    quotient[n - 2] = polynomial[n - 1];
    for (uint32_t k = n - 2; k > 0; k--)
        quotient[k - 1] = plain_add(polynomial[k], plain_mul(z, quotient[k]));
}

/* Compares a sample of the openings with those by an MSM each. */
static int check(const struct openings *openings, const uint8_t *setup, const element *polynomial,
    const uint8_t *proofs)
{
    const uint32_t n = openings->n, checked = n < CHECKED ? n : CHECKED;
    const pool_msm_params msm = {.struct_size = sizeof(msm), .curve = openings->curve};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = openings->device};
    element *coefficients = allocate(n, sizeof(*coefficients));
    element *quotient = allocate(n, sizeof(*quotient)), root, z;
    uint8_t opening[POINT_SIZE];
    const pool_span points = {.data = (void *)(uintptr_t)setup, .count = n - 1};
    const pool_span scalars = {.data = quotient, .count = n - 1, .form = POOL_FORM_MONTGOMERY};
    const pool_span result = {.data = opening, .count = 1};
    int is_right = 1;

    must(pool_field_to_montgomery(openings->field, polynomial, n, coefficients));
    must(pool_ntt_domain_root(openings->domain, POOL_FORM_MONTGOMERY, &root));
    for (uint32_t i = 0; i < checked; i++) {
        const uint32_t index = (uint32_t)((uint64_t)i * (n - 1) / (checked - 1));

        must(pool_field_parse(openings->field, "1", POOL_FORM_MONTGOMERY, &z));
        for (uint32_t k = 0; k < index; k++)
            z = plain_mul(z, root);
        divide(coefficients, n, z, quotient);
        must(pool_msm(&msm, &exec, &points, &scalars, &result));
        if (memcmp(opening, proofs + (size_t)index * POINT_SIZE, POINT_SIZE) != 0) {
            fprintf(stderr, "opening %u is wrong\n", index);
            is_right = 0;
        }
    }
    free(coefficients);
    free(quotient);
    return is_right;
}

/* The points [tau^j] of a random tau, in standard form. */
static uint8_t *create_setup(const pool_curve *curve, const pool_field *field, uint32_t n)
{
    uint8_t *setup = allocate(n, POINT_SIZE), generator[POINT_SIZE];
    element tau, power, scalar;

    must(pool_curve_generator(curve, NULL, generator));
    must(pool_random_scalars(field, 1, 1, POOL_FORM_MONTGOMERY, &tau));
    must(pool_field_parse(field, "1", POOL_FORM_MONTGOMERY, &power));
    for (uint32_t j = 0; j < n; j++, power = plain_mul(power, tau)) {
        must(pool_field_from_montgomery(field, &power, 1, &scalar));
        must(pool_point_mul(curve, NULL, generator, (const uint8_t *)&scalar, sizeof(scalar),
            setup + (size_t)j * POINT_SIZE));
    }
    return setup;
}

/* What takes a GPU milliseconds takes simulated devices minutes. */
static uint32_t default_log_size(const char *devices)
{
    return devices && strstr(devices, "sim") ? 3 : 12;
}

int main(int count, char **arguments)
{
    const char *devices = count > 1 ? arguments[1] : NULL;
    const uint32_t log_size = count > 2 ? (uint32_t)atoi(arguments[2]) : default_log_size(devices);
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    struct openings openings = {.curve = pool_curve_by_name("bn254_g1")};
    element *polynomial;
    uint8_t *setup, *proofs;
    device_pool *pool;
    int is_right;

    if (log_size < 1 || log_size > 20)
        return fprintf(stderr, "LOG_SIZE must be 1 to 20\n"), 2;
    openings.n = 1u << log_size;
    openings.field = pool_curve_scalar_field(openings.curve);
    plain_set_field(openings.field);
    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &openings.device));
    show_step("creating a setup");
    setup = create_setup(openings.curve, openings.field, openings.n);
    polynomial = allocate(openings.n, sizeof(*polynomial));
    proofs = allocate(openings.n, POINT_SIZE);
    must(pool_random_scalars(openings.field, 2, openings.n, POOL_FORM_STANDARD, polynomial));

    show_step("compiling, and transforming the points of the setup");
    create_openings(&openings, setup);
    show_step("computing all openings");
    open_all(&openings, polynomial, proofs);

    show_step("checking some of them by an MSM each");
    is_right = check(&openings, setup, polynomial, proofs);
    show_step(NULL);
    if (is_right)
        printf("2^%u openings at once: %u of them as by an MSM each\n", log_size,
            openings.n < CHECKED ? openings.n : CHECKED);
    destroy_openings(&openings);
    must(pool_destroy(&pool));
    free(setup);
    free(polynomial);
    free(proofs);
    return !is_right;
}
