/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms of points on devices, simulated ones unless an argument names others. The discrete
 * logarithms of most points are known, so that the results have to be the generator times the
 * transform of the logarithms; sums of products over points, computed on the host and as MSMs on
 * the device, and the files of ceremonies are independent of that.
 *
 *   test_ecntt [DEVICES]
 */
#include "support/assert.h"
#include "support/msm.h"
#include "support/ntt.h"
#include "support/pool.h"

#include <unistd.h>

#include "zk/ecntt/ecntt.h"

#include "support/curve.h"
#include "support/ecntt.h"

/* From host memory to host memory. */
static void transform(const pool_ecntt_params *params, const pool_exec *exec, const uint8_t *points,
    uint8_t *results, uint64_t count)
{
    const pool_span in = {.data = (void *)(uintptr_t)points, .count = count};
    const pool_span out = {.data = results, .count = count};

    assert_ok(pool_ecntt(params, exec, &in, &out));
}

static void compare(const pool_ecntt_params *params, const struct ecntt_problem *problem)
{
    const pool_exec exec = exec_here();
    uint8_t *wanted = ecntt_expected(params, problem);
    uint8_t *got = malloc(problem->count * problem->point_bytes);

    transform(params, &exec, problem->points, got, problem->count);
    assert_ecntt_points(params, got, wanted, problem->count);
    free(wanted);
    free(got);
}

/* ---- every way ------------------------------------------------------------------------------- */

static void test_directions_and_orders(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct ecntt_problem problem = ecntt_random(curve, 3, 8);
    pool_ecntt_params params = ecntt_params_of(curve, 3);

    (void)state;
    for (int way = 0; way < 16; way++) {
        params.direction = (pool_ntt_direction)(way & 1);
        params.coset = way >> 1 & 1;
        params.order = (pool_ntt_order)(way >> 2 & 3);
        compare(&params, &problem);
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    ecntt_free(&problem);
}

static void test_sizes(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bls12_381_g1");

    (void)state;
    for (uint32_t log_size = 0; log_size <= 4; log_size += log_size < 2 ? 1 : 2) {
        struct ecntt_problem problem = ecntt_random(curve, log_size, UINT64_C(1) << log_size);
        pool_ecntt_params params = ecntt_params_of(curve, log_size);

        for (int way = 0; way < 4; way++) {
            params.direction = (pool_ntt_direction)(way & 1);
            params.coset = way >> 1;
            if (log_size < 4 || way == 3)
                compare(&params, &problem);
        }
        assert_ok(pool_ntt_domain_destroy(&params.domain));
        ecntt_free(&problem);
    }
}

static void test_batches(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct ecntt_problem problem = ecntt_random(curve, 5, 12);
    pool_ecntt_params params = ecntt_params_of(curve, 2);

    (void)state;
    params.batch = 3;
    for (int way = 0; way < 4; way++) {
        params.layout = (pool_ntt_layout)(way & 1);
        params.direction = (pool_ntt_direction)(way >> 1);
        params.order = way & 1 ? POOL_NTT_NR : POOL_NTT_RN;
        compare(&params, &problem);
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    ecntt_free(&problem);
}

/* G2, curves with other coefficients a, without an endomorphism or without a spare bit. */
static void test_curves(void **state)
{
    static const char *const names[] = {"bn254_g2", "pallas", "secp256k1"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) + CUSTOM_CURVES; i++) {
        const size_t named = sizeof(names) / sizeof(names[0]);
        pool_curve *curve = i < named ? pool_curve_retain(pool_curve_by_name(names[i]))
                                      : make_custom_curve(&custom_curves[i - named]);
        const uint32_t most = pool_curve_scalar_field(curve)->two_adicity;
        const uint32_t log_size = most < 2 ? most : 2;

        if (!msm_is_left_out(curve, device)) {
            struct ecntt_problem problem = ecntt_random(curve, i, UINT64_C(1) << log_size);
            pool_ecntt_params params = ecntt_params_of(curve, log_size);

            params.direction = (pool_ntt_direction)(i & 1);
            params.coset = i >> 1 & 1;
            compare(&params, &problem);
            assert_ok(pool_ntt_domain_destroy(&params.domain));
            ecntt_free(&problem);
        }
        pool_curve_destroy(&curve);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint8_t *in_format(
    const struct ecntt_problem *problem, const uint8_t *points, const pool_point_format *format)
{
    const size_t stride = curve_point_stride(problem->curve, format);
    const pool_point_format plain = {0};
    uint8_t *made = malloc(problem->count * stride);

    memset(made, 0x5a, problem->count * stride);
    for (uint64_t i = 0; i < problem->count; i++) {
        struct curve_jacobian point;

        assert_null(curve_load(problem->curve, &point, &plain, points + i * problem->point_bytes));
        if (!curve_jacobian_is_infinity(problem->curve, &point))
            rescale_jacobian(problem->curve, &point, i);
        curve_store(problem->curve, format, made + i * stride, &point);
    }
    return made;
}

static uint64_t extent(const pool_curve *curve, const pool_point_format *format, uint64_t count)
{
    return (count - 1) * curve_point_stride(curve, format) +
           pool_point_bytes(curve, format->layout);
}

/* Results are affine coordinates in every layout: Z is 1, and infinity as curve.h says. */
static void assert_normalised(const struct ecntt_problem *problem, const uint8_t *wanted,
    const uint8_t *got, const pool_point_format *format)
{
    const size_t stride = curve_point_stride(problem->curve, format);
    uint8_t *exact = malloc(problem->count * stride);
    const pool_point_format plain = {0};

    memset(exact, 0x5a, problem->count * stride);
    assert_ok(pool_points_convert(
        problem->curve, &plain, wanted, problem->count, POOL_CHECK_NONE, format, exact));
    for (uint64_t i = 0; i < problem->count; i++)
        if (memcmp(exact + i * stride, got + i * stride,
                i + 1 < problem->count ? stride : pool_point_bytes(problem->curve, format->layout)))
            fail_msg("layout %d form %d: point %d", format->layout, format->form, (int)i);
    free(exact);
}

/* Bytes between results are left as they are. */
static void check_format(const pool_ecntt_params *given, const struct ecntt_problem *problem,
    const uint8_t *wanted, pool_point_format from, pool_point_format to, int spaces)
{
    const pool_curve *curve = problem->curve;
    const uint64_t in_bytes = extent(curve, &from, problem->count);
    const uint64_t out_bytes = extent(curve, &to, problem->count);
    uint8_t *points = in_format(problem, problem->points, &from), *results = malloc(out_bytes);
    pool_ecntt_params params = *given;
    pool_exec exec = exec_here();
    pool_buffer *in_buffer = NULL, *out_buffer = NULL;
    pool_span in = {points, problem->count, from.stride, from.form, POOL_MEMORY_HOST};
    pool_span out = {results, problem->count, to.stride, to.form, POOL_MEMORY_HOST};
    CUdeviceptr address = 0;

    memset(results, 0x5a, out_bytes);
    params.point_layout = from.layout;
    params.result_layout = to.layout;
    exec.checks = POOL_CHECK_ON_CURVE;
    if (spaces & 1) {
        assert_ok(pool_buffer_from_host(device, points, in_bytes, &in_buffer));
        assert_ok(pool_buffer_address(in_buffer, &address));
        in.data = (void *)(uintptr_t)address;
        in.space = POOL_MEMORY_DEVICE;
    }
    if (spaces & 2) {
        assert_ok(pool_buffer_from_host(device, results, out_bytes, &out_buffer));
        assert_ok(pool_buffer_address(out_buffer, &address));
        out.data = (void *)(uintptr_t)address;
        out.space = POOL_MEMORY_DEVICE;
    }
    assert_ok(pool_ecntt(&params, &exec, &in, &out));
    if (out_buffer)
        assert_ok(pool_copy_to_host(results, out_buffer, 0, out_bytes, NULL));
    assert_normalised(problem, wanted, results, &to);
    assert_ok(pool_buffer_destroy(&in_buffer));
    assert_ok(pool_buffer_destroy(&out_buffer));
    free(points);
    free(results);
}

static void test_layouts(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    uint8_t logarithms[4 * 32] = {0};
    pool_ecntt_params params = ecntt_params_of(curve, 2);

    (void)state;
    /* 7, 7, 0, 0: the results have infinity and other points. */
    logarithms[0] = logarithms[2 * 32] = 7;
    struct ecntt_problem problem = ecntt_of_logarithms(curve, logarithms, 4);
    uint8_t *wanted = ecntt_expected(&params, &problem);
    for (int way = 0; way < 20; way++) {
        const pool_point_layout a = (pool_point_layout)(way % 5);
        const pool_point_layout b = (pool_point_layout)((way + way / 5) % 5);
        const pool_point_format from = {
            a, (pool_form)(way & 1), way & 4 ? pool_point_bytes(curve, a) + 12 : 0};
        const pool_point_format to = {
            b, (pool_form)(way >> 1 & 1), way & 8 ? pool_point_bytes(curve, b) + 4 : 0};

        check_format(&params, &problem, wanted, from, to, (way / 5 + way) % 4);
    }
    free(wanted);
    ecntt_free(&problem);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* Chunks of one transform, in place in host memory, with progress. */
static void count_progress(void *user, uint64_t done, uint64_t total)
{
    uint64_t *last = user;

    assert_true(done >= *last);
    assert_int_equal(total, 12);
    *last = done;
}

static void test_chunks_in_place(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct ecntt_problem problem = ecntt_random(curve, 6, 12);
    pool_ecntt_params params = ecntt_params_of(curve, 2);
    uint8_t *wanted, *data = malloc(12 * problem.point_bytes);
    const pool_span span = {.data = data, .count = 12};
    pool_exec exec = exec_here();
    uint64_t one = 0, all = 0, bytes = 0, last = 0;

    (void)state;
    const pool_span single = {.count = 4};
    assert_ok(pool_ecntt_workspace(&params, &exec, &single, &single, &one));
    params.batch = 3;
    params.order = POOL_NTT_NR;
    assert_ok(pool_ecntt_workspace(&params, &exec, &span, &span, &all));
    assert_true(one < all);
    exec.memory_limit = all - 1;
    assert_ok(pool_ecntt_workspace(&params, &exec, &span, &span, &bytes));
    assert_true(one < bytes && bytes < all);
    exec.memory_limit = one;
    assert_ok(pool_ecntt_workspace(&params, &exec, &span, &span, &bytes));
    assert_int_equal(bytes, one);
    exec.progress = count_progress;
    exec.user = &last;
    memcpy(data, problem.points, 12 * problem.point_bytes);
    wanted = ecntt_expected(&params, &problem);
    assert_ok(pool_ecntt(&params, &exec, &span, &span));
    assert_ecntt_points(&params, data, wanted, 12);
    assert_int_equal(last, 12);
    exec.memory_limit = one - 1;
    assert_status(pool_ecntt(&params, &exec, &span, &span), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_status(
        pool_ecntt_workspace(&params, &exec, &span, &span, &bytes), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(wanted);
    free(data);
    ecntt_free(&problem);
}

/* A given workspace, of exactly the size; in place on the device, asynchronous. */
static void test_given_workspace(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct ecntt_problem problem = ecntt_random(curve, 8, 4);
    pool_ecntt_params params = ecntt_params_of(curve, 2);
    const uint64_t bytes = 4 * problem.point_bytes;
    uint8_t *wanted = ecntt_expected(&params, &problem), *got = malloc(bytes);
    pool_exec exec = exec_here();
    pool_buffer *data = NULL, *workspace = NULL, *small = NULL;
    pool_memory_info before = {.struct_size = sizeof(before)}, after = before;
    uint64_t needed = 0;
    pool_span span;

    (void)state;
    assert_ok(pool_buffer_from_host(device, problem.points, bytes, &data));
    assert_ok(pool_buffer_span(data, 0, 4, POOL_FORM_STANDARD, &span));
    assert_ok(pool_ecntt_workspace(&params, &exec, &span, &span, &needed));
    assert_ok(pool_buffer_alloc(device, needed, &workspace));
    assert_ok(pool_buffer_alloc(device, needed - 1, &small));
    exec.workspace = small;
    assert_status(pool_ecntt(&params, &exec, &span, &span), POOL_ERR_INVALID_ARGUMENT);
    exec.workspace = data;
    assert_true(pool_ecntt(&params, &exec, &span, &span) != POOL_OK);
    exec.workspace = workspace;
    exec.is_async = 1;
    assert_ok(pool_memory_reset_high_water(device));
    assert_ok(pool_memory_get_info(device, &before));
    assert_ok(pool_ecntt(&params, &exec, &span, &span));
    assert_ok(pool_copy_to_host(got, data, 0, bytes, NULL));
    assert_ok(pool_memory_get_info(device, &after));
    assert_int_equal(after.used_high_water_bytes, before.used_bytes);
    assert_ecntt_points(&params, got, wanted, 4);
    assert_ok(pool_buffer_destroy(&data));
    assert_ok(pool_buffer_destroy(&workspace));
    assert_ok(pool_buffer_destroy(&small));
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(wanted);
    free(got);
    ecntt_free(&problem);
}

/* Part of a graph with a workspace; without one it would allocate. */
static void test_graph(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct ecntt_problem problem = ecntt_random(curve, 14, 4);
    pool_ecntt_params params = ecntt_params_of(curve, 2);
    uint8_t *wanted = ecntt_expected(&params, &problem), *got = malloc(4 * problem.point_bytes);
    const uint64_t bytes = 4 * problem.point_bytes;
    pool_buffer *points = NULL, *results = NULL, *workspace = NULL;
    pool_graph *graph = NULL;
    pool_exec exec = exec_here();
    uint64_t needed = 0;
    pool_span in, out;

    (void)state;
    assert_ok(pool_ecntt_warm_up(
        curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    assert_ok(pool_buffer_from_host(device, problem.points, bytes, &points));
    assert_ok(pool_buffer_zeroed(device, bytes, &results));
    assert_ok(pool_buffer_span(points, 0, 4, POOL_FORM_STANDARD, &in));
    assert_ok(pool_buffer_span(results, 0, 4, POOL_FORM_STANDARD, &out));
    assert_ok(pool_ecntt_workspace(&params, &exec, &in, &out, &needed));
    assert_ok(pool_buffer_alloc(device, needed, &workspace));
    assert_ok(pool_stream_create(device, NULL, &exec.stream));
    exec.is_async = 1;
    assert_ok(pool_stream_begin_capture(exec.stream));
    assert_status(pool_ecntt(&params, &exec, &in, &out), POOL_ERR_UNSUPPORTED);
    assert_status(pool_stream_end_capture(exec.stream, NULL), POOL_ERR_UNSUPPORTED);
    exec.workspace = workspace;
    assert_ok(pool_stream_begin_capture(exec.stream));
    assert_ok(pool_ecntt(&params, &exec, &in, &out));
    assert_ok(pool_stream_end_capture(exec.stream, &graph));
    for (int i = 0; i < 2; i++) {
        assert_ok(pool_buffer_fill8(results, 0, bytes, 0, NULL));
        assert_ok(pool_graph_launch(graph, exec.stream));
        assert_ok(pool_stream_synchronize(exec.stream));
        assert_ok(pool_copy_to_host(got, results, 0, bytes, NULL));
        assert_ecntt_points(&params, got, wanted, 4);
    }
    assert_ok(pool_graph_destroy(&graph));
    assert_ok(pool_stream_destroy(&exec.stream));
    assert_ok(pool_buffer_destroy(&points));
    assert_ok(pool_buffer_destroy(&results));
    assert_ok(pool_buffer_destroy(&workspace));
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(wanted);
    free(got);
    ecntt_free(&problem);
}

static void test_cancelled(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    pool_ecntt_params params = ecntt_params_of(curve, 1);
    uint8_t points[4 * 64] = {0};
    const pool_span span = {.data = points, .count = 4};
    pool_exec exec = exec_here();

    (void)state;
    params.batch = 2;
    assert_ok(pool_cancel_create(&exec.cancel));
    pool_cancel_request(exec.cancel);
    assert_status(pool_ecntt(&params, &exec, &span, &span), POOL_ERR_CANCELLED);
    pool_cancel_destroy(&exec.cancel);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* ---- properties ------------------------------------------------------------------------------ */

static void test_inverse_of_forward(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bls12_381_g1");
    struct ecntt_problem problem = ecntt_random(curve, 9, 8);
    uint8_t *data = malloc(8 * problem.point_bytes);
    pool_ecntt_params params = ecntt_params_of(curve, 3);
    const pool_exec exec = exec_here();

    (void)state;
    params.coset = 1;
    params.order = POOL_NTT_NR;
    transform(&params, &exec, problem.points, data, 8);
    params.direction = POOL_NTT_INVERSE;
    params.order = POOL_NTT_RN;
    transform(&params, &exec, data, data, 8);
    assert_ecntt_points(&params, data, problem.points, 8);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(data);
    ecntt_free(&problem);
}

/* The transform of a sum is the sum of the transforms. */
static void test_linearity(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct ecntt_problem a = ecntt_random(curve, 10, 4), b = ecntt_random(curve, 11, 4);
    const size_t bytes = a.point_bytes;
    uint8_t sum[4 * 64], got[3][4 * 64], wanted[64];
    pool_ecntt_params params = ecntt_params_of(curve, 2);
    const pool_exec exec = exec_here();

    (void)state;
    assert_int_equal(bytes, 64);
    for (int i = 0; i < 4; i++)
        assert_ok(
            pool_point_add(curve, NULL, a.points + i * bytes, b.points + i * bytes, sum + i * 64));
    transform(&params, &exec, a.points, got[0], 4);
    transform(&params, &exec, b.points, got[1], 4);
    transform(&params, &exec, sum, got[2], 4);
    for (int i = 0; i < 4; i++) {
        assert_ok(pool_point_add(curve, NULL, got[0] + i * 64, got[1] + i * 64, wanted));
        assert_memory_equal(got[2] + i * 64, wanted, 64);
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    ecntt_free(&a);
    ecntt_free(&b);
}

/* Butterflies of equal, opposite and infinite points at every place. */
static void test_adversarial(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_field *order = pool_curve_scalar_field(curve);
    pool_ecntt_params params = ecntt_params_of(curve, 3);
    uint8_t minus_one[32], root[32];

    (void)state;
    assert_ok(pool_field_parse(order,
        "21888242871839275222246405745257275088548364400416034343698204186575808495616",
        POOL_FORM_STANDARD, minus_one));
    assert_ok(pool_ntt_domain_root(params.domain, POOL_FORM_STANDARD, root));
    for (int kind = 0; kind < 6; kind++) {
        uint8_t logarithms[8 * 32] = {0};

        for (int i = 0; i < 8; i++) {
            uint8_t *at = logarithms + i * 32;

            if (kind == 1 || (kind == 2 && i == 0) || (kind == 3 && i % 2 == 0) ||
                (kind == 4 && i < 4))
                at[0] = 1;
            else if (kind == 3 || kind == 4)
                memcpy(at, minus_one, 32);
            else if (kind == 5) /* multiples of one point by roots of unity */
                memcpy(at, i % 2 ? root : minus_one, 32);
        }
        struct ecntt_problem problem = ecntt_of_logarithms(curve, logarithms, 8);
        params.direction = POOL_NTT_FORWARD;
        compare(&params, &problem);
        params.direction = POOL_NTT_INVERSE;
        compare(&params, &problem);
        ecntt_free(&problem);
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* Each result is an MSM over the input, of the powers of the root: on the device, and on the host.
 */
static void test_against_msms(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_field *order = pool_curve_scalar_field(curve);
    enum { N = 4, BYTES = 64 };
    pool_ecntt_params params = ecntt_params_of(curve, 2);
    const pool_exec exec = exec_here();
    uint8_t points[N * BYTES], got[N * BYTES], msm[N * BYTES], host[BYTES], scalars[N * N * 32];
    uint64_t power[FIELD_MAX_LIMBS], standard[FIELD_MAX_LIMBS], step[FIELD_MAX_LIMBS];

    (void)state;
    assert_ok(pool_random_points(curve, 12, N, NULL, points, NULL));
    field_set_one(order, step);
    for (int k = 0; k < N; k++) {
        field_set_one(order, power);
        for (int j = 0; j < N; j++) {
            field_from_montgomery(order, standard, power);
            field_store(order, scalars + (k * N + j) * 32, standard);
            field_mul(order, power, power, step);
        }
        field_mul(order, step, step, params.domain->root[POOL_NTT_FORWARD]);
    }
    transform(&params, &exec, points, got, N);
    const pool_msm_params sums = {
        .struct_size = sizeof(sums), .curve = curve, .batch = N, .shared_bases = 1};
    const pool_span bases = {.data = points, .count = N};
    const pool_span factors = {.data = scalars, .count = N * N};
    const pool_span results = {.data = msm, .count = N};
    assert_ok(pool_msm(&sums, &exec, &bases, &factors, &results));
    assert_memory_equal(got, msm, sizeof(got));
    for (int k = 0; k < N; k++) {
        assert_ok(msm_reference_double_and_add(curve, N, points, scalars + k * N * 32, host));
        assert_memory_equal(got + k * BYTES, host, BYTES);
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* ---- known answers --------------------------------------------------------------------------- */

/* Reads coordinates of `count` points in standard form; see tests/kat/ecntt.py. */
static void read_points(FILE *file, const pool_curve *curve, uint8_t *points, uint64_t count)
{
    const pool_field *field = pool_curve_base_field(curve);
    char number[2 * POOL_FIELD_MAX_BYTES + 3] = "0x";

    for (uint64_t i = 0; i < 2 * count; i++) {
        assert_int_equal(fscanf(file, "%192s", number + 2), 1);
        assert_ok(pool_field_parse(
            field, number, POOL_FORM_STANDARD, points + i * pool_field_element_bytes(field)));
    }
}

static void test_known_answers(void **state)
{
    FILE *file = fopen(TEST_VECTORS "/generated/ecntt.txt", "r");
    char name[32];
    int inverse, coset, count, lines = 0;

    (void)state;
    assert_non_null(file);
    while (fscanf(file, "%31s %d %d %d", name, &inverse, &coset, &count) == 4) {
        const pool_curve *curve = pool_curve_by_name(name);
        pool_ecntt_params params = ecntt_params_of(curve, (uint32_t)__builtin_ctz((unsigned)count));
        const pool_exec exec = exec_here();
        uint8_t points[8 * 96], wanted[8 * 96], got[8 * 96];

        assert_between(count, 1, 8);
        read_points(file, curve, points, (uint64_t)count);
        read_points(file, curve, wanted, (uint64_t)count);
        params.direction = (pool_ntt_direction)inverse;
        params.coset = coset;
        transform(&params, &exec, points, got, (uint64_t)count);
        assert_ecntt_points(&params, got, wanted, (uint64_t)count);
        assert_ok(pool_ntt_domain_destroy(&params.domain));
        lines++;
    }
    assert_int_equal(lines, 32);
    fclose(file);
}

/* ---- ceremonies ------------------------------------------------------------------------------ */

/*
 * The Lagrange points of a structured reference string are the inverse transform of its powers of
 * tau: L_i(tau) = 1/n sum over j of w^(-i j) tau^j. Files of ceremonies have both.
 */
static void check_ceremony(const char *path, const char *powers_name, const char *lagrange_name,
    const char *convention, uint64_t count)
{
    const uint32_t log_size = (uint32_t)__builtin_ctzll(count);
    pool_file_section powers = {.struct_size = sizeof(powers)}, lagrange = powers;
    pool_ecntt_params params = {.struct_size = sizeof(params)};
    const pool_exec exec = exec_here();
    pool_file *file = NULL;
    pool_span in, out;
    uint8_t *got;

    assert_ok(pool_file_open(path, NULL, &file));
    assert_ok(pool_file_get_section(file, powers_name, &powers));
    assert_ok(pool_file_get_section(file, lagrange_name, &lagrange));
    assert_int_equal(lagrange.span.count, count);
    const pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = pool_curve_scalar_field(powers.curve),
        .log_size = log_size,
        .convention = convention};
    assert_ok(pool_ntt_domain_create(&domain, &params.domain));
    params.curve = powers.curve;
    params.direction = POOL_NTT_INVERSE;
    got = malloc(count * pool_point_bytes(powers.curve, POOL_POINT_AFFINE));
    in = powers.span;
    in.count = count;
    out = (pool_span){.data = got, .count = count, .form = lagrange.span.form};
    assert_ok(pool_ecntt(&params, &exec, &in, &out));
    assert_ecntt_points(&params, got, lagrange.span.data, count);
    /* And back. */
    params.direction = POOL_NTT_FORWARD;
    in = lagrange.span;
    out.form = powers.span.form;
    assert_ok(pool_ecntt(&params, &exec, &in, &out));
    assert_ecntt_points(&params, got, powers.span.data, count);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    pool_file_destroy(&file);
    free(got);
}

static bool is_simulated(void)
{
    return strncmp(device_text, "sim", 3) == 0;
}

static void test_ceremonies(void **state)
{
    static const char hermez[] = TEST_VECTORS "/iden3/powersOfTau28_hez_final_08.ptau";
    static const char bls[] = TEST_VECTORS "/iden3/bls12_381_04.ptau";
    const bool is_short = is_simulated();

    (void)state;
    check_ceremony(
        hermez, "tauG1", is_short ? "lagrange:4" : "lagrange:8", NULL, is_short ? 16 : 256);
    check_ceremony(
        hermez, "tauG2", is_short ? "lagrangeG2:1" : "lagrangeG2:8", NULL, is_short ? 2 : 256);
    check_ceremony(
        bls, "tauG1", is_short ? "lagrange:2" : "lagrange:4", "snarkjs", is_short ? 4 : 16);
    check_ceremony(
        bls, "tauG2", is_short ? "lagrangeG2:1" : "lagrangeG2:4", "snarkjs", is_short ? 2 : 16);
    if (!is_short)
        check_ceremony(TEST_VECTORS "/kzg/trusted_setup.txt", "monomial", "lagrange", NULL, 4096);
}

/* On a GPU, where a stage fills it: batches in several chunks, columns, cosets. */
static void test_large(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");

    (void)state;
    if (is_simulated())
        skip();
    struct ecntt_problem problem = ecntt_random(curve, 21, 1 << 13);
    for (int way = 0; way < 8; way++) {
        pool_ecntt_params params = ecntt_params_of(curve, way & 4 ? 13 : 7);

        params.batch = way & 4 ? 1 : 1 << 6;
        params.direction = (pool_ntt_direction)(way & 1);
        params.coset = way >> 1 & 1;
        params.layout = way & 2 ? POOL_NTT_COLUMNS : POOL_NTT_ROWS;
        compare(&params, &problem);
        assert_ok(pool_ntt_domain_destroy(&params.domain));
    }
    ecntt_free(&problem);
}

/* ---- checks and refusals --------------------------------------------------------------------- */

static void test_bad_points(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bls12_381_g1");
    struct ecntt_problem problem = ecntt_random(curve, 13, 2);
    uint8_t *results = malloc(2 * problem.point_bytes);
    pool_ecntt_params params = ecntt_params_of(curve, 1);
    pool_exec exec = exec_here();
    const pool_span in = {.data = problem.points, .count = 2};
    const pool_span out = {.data = results, .count = 2};
    /* (0, 2) is on the curve and has order 3. */
    uint8_t order_three[96] = {0};

    (void)state;
    order_three[48] = 2;
    memset(results, 0x5a, 2 * problem.point_bytes);
    exec.checks = POOL_CHECK_SUBGROUP;
    assert_ok(pool_ecntt(&params, &exec, &in, &out));
    memset(results, 0x5a, 2 * problem.point_bytes);
    problem.points[problem.point_bytes] ^= 1;
    exec.checks = POOL_CHECK_ON_CURVE;
    assert_status(pool_ecntt(&params, &exec, &in, &out), POOL_ERR_BAD_DATA);
    assert_non_null(strstr(pool_last_error()->message, "point 1 is not on the curve"));
    memcpy(problem.points, order_three, 96);
    problem.points[problem.point_bytes] ^= 1;
    assert_ok(pool_ecntt(&params, &exec, &in, &out));
    memset(results, 0x5a, 2 * problem.point_bytes);
    exec.checks = POOL_CHECK_SUBGROUP;
    assert_status(pool_ecntt(&params, &exec, &in, &out), POOL_ERR_BAD_DATA);
    assert_non_null(strstr(pool_last_error()->message, "point 0 is not in the subgroup"));
    for (size_t i = 0; i < 2 * problem.point_bytes; i++)
        assert_int_equal(results[i], 0x5a);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(results);
    ecntt_free(&problem);
}

#define REFUSED(expression, expected)                                                              \
    do {                                                                                           \
        assert_status(expression, expected);                                                       \
    } while (0)

static void test_refusals(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    uint8_t data[8 * 64] = {0};
    pool_ecntt_params params = ecntt_params_of(curve, 2), bad = params;
    pool_ntt_domain *other = ntt_domain(ntt_field("bls12_381_fr"), 2);
    pool_exec exec = exec_here(), bad_exec = exec;
    pool_span in = {.data = data, .count = 4}, out = {.data = data + 256, .count = 4}, span;
    uint64_t bytes = 7;

    (void)state;
#define CALL(p, e, i, o) pool_ecntt(p, e, i, o)
    REFUSED(CALL(NULL, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    REFUSED(CALL(&params, &exec, NULL, &out), POOL_ERR_INVALID_ARGUMENT);
    REFUSED(CALL(&params, &exec, &in, NULL), POOL_ERR_INVALID_ARGUMENT);
    REFUSED(pool_ecntt_workspace(&params, &exec, &in, &out, NULL), POOL_ERR_INVALID_ARGUMENT);
    bad.curve = NULL;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    bad = params;
    bad.domain = NULL;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    bad.domain = other;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "not the order of bn254_g1"));
    bad = params;
    bad.direction = (pool_ntt_direction)2;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    bad = params;
    bad.order = (pool_ntt_order)4;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    bad = params;
    bad.layout = (pool_ntt_layout)2;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    bad = params;
    bad.coset = 2;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    bad = params;
    bad.point_layout = (pool_point_layout)5;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    bad = params;
    bad.result_layout = (pool_point_layout)-1;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    bad = params;
    bad.batch = 2;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    bad.batch = UINT64_MAX;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    bad.batch = UINT64_C(1) << 60;
    span = (pool_span){.data = data, .count = UINT64_C(1) << 62};
    REFUSED(CALL(&bad, &exec, &span, &span), POOL_ERR_INVALID_ARGUMENT);
    bad = params;
    bad.struct_size = 3;
    REFUSED(CALL(&bad, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);

    span = in;
    span.stride = 60;
    REFUSED(CALL(&params, &exec, &span, &out), POOL_ERR_INVALID_ARGUMENT);
    span.stride = 66;
    REFUSED(CALL(&params, &exec, &span, &out), POOL_ERR_INVALID_ARGUMENT);
    span = in;
    span.count = 3;
    REFUSED(CALL(&params, &exec, &span, &out), POOL_ERR_INVALID_ARGUMENT);
    REFUSED(CALL(&params, &exec, &in, &span), POOL_ERR_INVALID_ARGUMENT);
    span = in;
    span.data = data + 64;
    REFUSED(CALL(&params, &exec, &in, &span), POOL_ERR_INVALID_ARGUMENT);
    span.data = NULL;
    REFUSED(CALL(&params, &exec, &span, &out), POOL_ERR_INVALID_ARGUMENT);
    span.data = (void *)(uintptr_t)2;
    span.space = POOL_MEMORY_DEVICE;
    REFUSED(CALL(&params, &exec, &span, &out), POOL_ERR_INVALID_ARGUMENT);
    span = in;
    span.space = POOL_MEMORY_SHARDED;
    assert_true(CALL(&params, &exec, &span, &out) != POOL_OK);
    span = in;
    span.form = (pool_form)9;
    REFUSED(CALL(&params, &exec, &span, &out), POOL_ERR_INVALID_ARGUMENT);

    bad_exec.checks = POOL_CHECK_REDUCE;
    assert_true(CALL(&params, &bad_exec, &in, &out) != POOL_OK);
    bad_exec = exec;
    bad_exec.on_host = 1;
    REFUSED(CALL(&params, &bad_exec, &in, &out), POOL_ERR_UNSUPPORTED);
    REFUSED(
        pool_ecntt_warm_up(NULL, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(bytes, 7);
    pool_ecntt_params_init(NULL, 4);
    memset(&bad, 0xff, sizeof(bad));
    pool_ecntt_params_init(&bad, sizeof(bad));
    assert_int_equal(bad.struct_size, sizeof(bad));
    assert_null(bad.curve);
    assert_int_equal(bad.result_layout, 0);
#undef CALL
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    assert_ok(pool_ntt_domain_destroy(&other));
}

/* ---- the plan -------------------------------------------------------------------------------- */

static void test_plan(void **state)
{
    struct ecntt_job job = {.log_size = 12,
        .batch = 1,
        .coordinate_bytes = 32,
        .scalar_bits = 254,
        .half_bits = 127,
        .in_stride = 64,
        .in_bytes = 64,
        .out_bytes = 64};
    struct ecntt_plan plan;

    (void)state;
    assert_true(ecntt_plan_make(&job, UINT64_MAX, &plan));
    assert_int_equal(plan.windows, 32);
    assert_int_equal(plan.halves, 2);
    assert_int_equal(plan.factors, 1 << 11);
    assert_int_equal(plan.bytes, (1 << 12) * 128 + (1 << 11) * 64);
    assert_false(ecntt_plan_make(&job, plan.bytes - 1, &plan));
    /* The documented numbers of docs/ntt.md. */
    assert_between((uint64_t)ecntt_cost(&job, &plan), 42900000, 43100000);
    job.half_bits = 0;
    assert_true(ecntt_plan_make(&job, UINT64_MAX, &plan));
    assert_int_equal(plan.windows, 64);
    assert_int_equal(plan.halves, 1);
    job.half_bits = 127;
    job.batch = 1 << 20;
    assert_true(ecntt_plan_make(&job, UINT64_MAX, &plan));
    assert_int_equal(plan.transforms, 1 << 8);
    job.is_interleaved = true;
    assert_true(ecntt_plan_make(&job, UINT64_MAX, &plan));
    assert_int_equal(plan.transforms, 1 << 20);
    job = (struct ecntt_job){.batch = 1, .coordinate_bytes = 32, .scalar_bits = 254};
    assert_true(ecntt_plan_make(&job, UINT64_MAX, &plan));
    assert_int_equal(plan.factors, 0);
    assert_int_equal(plan.bytes, 256);
}

/* 0, or 77 with the reason printed where there is no such device or no NVRTC. */
static int open_here(int argc, char **argv)
{
    const struct nvrtc *nvrtc;

    device_text = argc > 1 ? argv[1] : "sim";
    if (!driver_nvrtc_open(&nvrtc) && !open_pool(NULL))
        return 0;
    printf("skipped: %s\n", pool_last_error()->message);
    return 77;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_directions_and_orders),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_chunks_in_place),
        cmocka_unit_test(test_given_workspace),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_inverse_of_forward),
        cmocka_unit_test(test_linearity),
        cmocka_unit_test(test_adversarial),
        cmocka_unit_test(test_against_msms),
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_ceremonies),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_bad_points),
        cmocka_unit_test(test_refusals),
    };
    int skipped = open_here(argc, argv);

    if (skipped)
        return skipped;
    return cmocka_run_group_tests(tests, NULL, close_pool);
}
