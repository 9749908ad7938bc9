/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A custom curve: NIST P-256 from its coefficients, and MSMs on it. The device code is generated at
 * run time, as for built-in curves.
 *
 *   custom_curve [DEVICES] [LOG_SIZE]      default: an MSM of 2^16 points, of 2^6 on simulated
 *   devices
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

#define SCALAR 32
#define POINT 64

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

/* The parameters of FIPS 186-4, D.1.2.3. */
static pool_curve *make_p256(void)
{
    pool_field_params field_params = {.struct_size = sizeof(field_params)};
    pool_curve_params params = {.struct_size = sizeof(params)};
    pool_field *field;
    pool_curve *curve;

    field_params.modulus = "0xffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
    field_params.name = "p256_fq";
    must(pool_field_create(&field_params, &field));
    params.name = "p256";
    params.field = field;
    params.a[0] = "0xffffffff00000001000000000000000000000000fffffffffffffffffffffffc";
    params.b[0] = "0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b";
    params.generator_x[0] = "0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
    params.generator_y[0] = "0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
    params.order = "0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
    must(pool_curve_create(&params, &curve));
    pool_field_destroy(&field); /* the curve holds a reference */
    return curve;
}

/* 1 G + 1 G, a published test vector. */
static void check_double(const pool_curve *curve, pool_device *device)
{
    pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t points[2][POINT], scalars[2][SCALAR] = {{1}, {1}}, sum[POINT], x[SCALAR];
    pool_span in = {.data = points, .count = 2}, by = {.data = scalars, .count = 2};
    pool_span out = {.data = sum, .count = 1};

    must(pool_curve_generator(curve, NULL, points[0]));
    memcpy(points[1], points[0], POINT);
    must(pool_msm(&params, &exec, &in, &by, &out));
    must(pool_field_parse(pool_curve_base_field(curve),
        "0x7cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978", POOL_FORM_STANDARD,
        x));
    if (memcmp(sum, x, SCALAR) != 0) {
        fprintf(stderr, "2 G is wrong\n");
        exit(1);
    }
}

/* The bases are known multiples of G, so the MSM is the inner product of scalars and multiples,
 * times G. */
static void check_sum(const pool_curve *curve, pool_device *device, size_t n)
{
    const pool_field *field = pool_curve_scalar_field(curve);
    pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t *points = malloc(n * POINT), *scalars = malloc(n * SCALAR);
    uint8_t *multiples = malloc(n * SCALAR);
    pool_span p = {.data = points, .count = n}, k = {.data = scalars, .count = n};
    pool_span m = {.data = multiples, .count = n};
    uint8_t sum[POINT], expected[POINT], one[SCALAR] = {1}, inner[SCALAR];
    pool_span out = {.data = sum, .count = 1};
    int is_equal;

    if (!points || !scalars || !multiples)
        exit(1);
    show_step("choosing points");
    must(pool_random_points(curve, 1, n, NULL, points, multiples));
    must(pool_random_scalars(field, 2, n, POOL_FORM_STANDARD, scalars));
    exec.progress = show_part;
    exec.user = "computing the MSM";
    show_step(exec.user);
    must(pool_msm(&params, &exec, &p, &k, &out));

    exec.progress = NULL;
    show_step("checking it");
    must(pool_vector_mul(field, &exec, &k, &m, &m));
    must(pool_vector_evaluate(field, &exec, &m, one, inner)); /* at 1: the sum */
    must(pool_curve_generator(curve, NULL, expected));
    must(pool_point_mul(curve, NULL, expected, inner, SCALAR, expected));
    must(pool_point_equal(curve, NULL, sum, NULL, expected, &is_equal));
    if (!is_equal) {
        fprintf(stderr, "the MSM of %zu points is wrong\n", n);
        exit(1);
    }
    free(points);
    free(scalars);
    free(multiples);
}

/* What takes a GPU milliseconds takes simulated devices minutes. */
static uint32_t default_log_size(const char *devices)
{
    return devices && strstr(devices, "sim") ? 6 : 16;
}

int main(int count, char **arguments)
{
    const char *devices = count > 1 ? arguments[1] : NULL;
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    unsigned long log_size =
        count > 2 ? strtoul(arguments[2], NULL, 10) : default_log_size(devices);
    pool_curve *curve = make_p256();
    pool_device *device;
    device_pool *pool;

    if (log_size > 26)
        return fprintf(stderr, "2^%lu points are too many here\n", log_size), 1;
    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &device));
    show_step("compiling the kernels of P-256");
    check_double(curve, device);
    check_sum(curve, device, (size_t)1 << log_size);
    show_step(NULL);
    printf("MSM of 2^%lu points of %s on device %d: correct\n", log_size, pool_curve_name(curve),
        pool_device_ordinal(device));
    pool_curve_destroy(&curve);
    must(pool_destroy(&pool));
    return 0;
}
