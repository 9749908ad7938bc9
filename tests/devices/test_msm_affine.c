/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSMs with affine passes against the reference: curves of every kind, one pass and two, pieces,
 * chunks and batches; equal and opposite points, infinities and single buckets, which have no
 * ordinary pair; points whose sum is (0, 0); and the memory that they may and may not use.
 */
#include "support/assert.h"
#include "support/msm.h"

#include "support/curve.h"
#include "support/pool.h"

static const struct msm_shape_of_call plain;

static pool_msm_params params_of(const pool_curve *curve, uint32_t passes)
{
    assert_non_null(curve);
    return (pool_msm_params){
        .struct_size = sizeof(pool_msm_params), .curve = curve, .affine_passes = passes};
}

/* How often a phase has been timed. */
static double phases(const char *phase)
{
    char name[128], *text = NULL;
    const char *at;
    double value;

    snprintf(name, sizeof(name),
        "devicepool_phases_total{device=\"%d\",operation=\"msm\",phase=\"%s\"} ",
        pool_device_ordinal(device), phase);
    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    at = strstr(text, name);
    value = at ? strtod(at + strlen(name), NULL) : 0;
    pool_text_free(&text);
    return value;
}

/* Compares, and returns the number of pieces that passes were made in. */
static unsigned compare(const struct msm_problem *problem, const pool_msm_params *params,
    const pool_exec *exec, const struct msm_shape_of_call *shape)
{
    double before = phases("affine"), accumulated = phases("accumulate");

    msm_compare(problem, params, exec, shape);
    before = phases("affine") - before;
    accumulated = phases("accumulate") - accumulated;
    assert_true(before == 0 || before == accumulated);
    return (unsigned)before;
}

static void set_point(const struct msm_problem *problem, uint64_t to, uint64_t from, bool negates)
{
    const pool_point_format format = {0};
    struct curve_jacobian p;

    assert_null(curve_load(problem->curve, &p, &format, msm_point(problem, from)));
    if (negates)
        curve_jacobian_neg(problem->curve, &p, &p);
    curve_store(problem->curve, &format, msm_point(problem, to), &p);
}

static void equal_scalars(const struct msm_problem *problem)
{
    for (uint64_t i = 1; i < problem->count; i++)
        memcpy(msm_scalar(problem, i), msm_scalar(problem, 0), problem->scalar_bytes);
}

/* ---- operands -------------------------------------------------------------------------------- */

static void keep(const struct msm_problem *problem)
{
    (void)problem;
}

/* Every bucket has equal points: each sum of each pass is a doubling. */
static void make_equal(const struct msm_problem *problem)
{
    for (uint64_t i = 1; i < problem->count; i++)
        set_point(problem, i, 0, false);
}

/* P, P, ... and -P, -P, ... in all buckets: doublings and infinity. */
static void make_opposite(const struct msm_problem *problem)
{
    for (uint64_t i = 1; i < problem->count; i++)
        set_point(problem, i, 0, i % 3 == 1);
    equal_scalars(problem);
}

static void make_infinite(const struct msm_problem *problem)
{
    memset(problem->points, 0, problem->count * problem->point_bytes);
}

/* Points, doublings, opposite points and infinities side by side in full buckets. */
static void make_mixed(const struct msm_problem *problem)
{
    for (uint64_t i = 1; i < problem->count; i++) {
        if (i % 5 == 1 || i % 5 == 3)
            set_point(problem, i, i - 1, i % 5 == 3);
        if (i % 11 == 3)
            memset(msm_point(problem, i), 0, problem->point_bytes);
    }
    equal_scalars(problem);
}

static void make_one_bucket(const struct msm_problem *problem)
{
    for (uint64_t i = 0; i < problem->count; i++)
        msm_set_scalar(problem, i, 1);
}

static void make_no_entries(const struct msm_problem *problem)
{
    memset(problem->scalars, 0, problem->count * problem->scalar_bytes);
}

typedef void make_operands(const struct msm_problem *problem);
static make_operands *const operands[] = {
    keep, make_equal, make_opposite, make_infinite, make_mixed, make_one_bucket, make_no_entries};
enum { OPERANDS = sizeof(operands) / sizeof(operands[0]) };

/* With the kernel that large bases have. */
static const struct msm_shape_of_call not_ahead = {.never_copies_ahead = true};

static void check_curve(const pool_curve *curve, uint64_t count, uint32_t passes)
{
    pool_msm_params params = params_of(curve, passes);
    pool_exec exec = exec_here();

    if (msm_is_left_out(curve, device))
        return;
    params.window_bits = 5;
    for (int i = 0; i < OPERANDS; i++) {
        struct msm_problem problem = msm_problem_random(curve, count, 7 + (uint64_t)i);

        operands[i](&problem);
        assert_int_equal(compare(&problem, &params, &exec, &plain), 1);
        assert_int_equal(compare(&problem, &params, &exec, &not_ahead), 1);
        msm_problem_free(&problem);
    }
}

static void test_operands(void **state)
{
    (void)state;
    check_curve(pool_curve_by_name("bn254_g1"), 100, 1);
    check_curve(pool_curve_by_name("bn254_g1"), 100, 2);
    check_curve(pool_curve_by_name("bls12_381_g1"), 40, 2);
    check_curve(pool_curve_by_name("bn254_g2"), 30, 2);
}

static pool_curve *small_curve(const char *a, const char *b, const char *order,
    const char *cofactor, const char *x, const char *y)
{
    pool_curve_params params = {.struct_size = sizeof(params)};
    pool_curve *curve = NULL;

    params.field = pool_field_by_name("babybear");
    params.a[0] = a;
    params.b[0] = b;
    params.order = order;
    params.cofactor = cofactor;
    params.generator_x[0] = x;
    params.generator_y[0] = y;
    assert_ok(pool_curve_create(&params, &curve));
    return curve;
}

/* a = -3 without a spare bit, and general a; coordinates of one word. */
static void test_custom_curves(void **state)
{
    pool_curve *curve;

    (void)state;
    for (size_t i = 0; i < CUSTOM_CURVES; i += 2) {
        curve = make_custom_curve(&custom_curves[i]);
        check_curve(curve, 30, 2);
        pool_curve_destroy(&curve);
    }
    curve = small_curve("0", "1", "1133641", "1776", "1019565696", "1805119881");
    check_curve(curve, 300, 2);
    pool_curve_destroy(&curve);
}

/* On y^2 = x^3 + 2 x the point (0, 0), infinity to passes, is the sum of P and (0, 0) - P. Such
 * curves have none, and the results are right. */
static void test_origin(void **state)
{
    pool_curve *curve = small_curve("2", "0", "503338093", "4", "1344354261", "986525507");
    const pool_point_format format = {0};
    pool_msm_params params = params_of(curve, 2);
    pool_exec exec = exec_here();
    struct curve_jacobian origin = {.z = {0}}, p;

    (void)state;
    field_copy(curve->coordinates.field, origin.z, curve->coordinates.field->one);
    for (uint64_t i = 0; i < 3 && !msm_is_left_out(curve, device); i++) {
        struct msm_problem problem = msm_problem_random(curve, 3, 3);

        make_one_bucket(&problem);
        assert_null(curve_load(curve, &p, &format, msm_point(&problem, i)));
        curve_jacobian_neg(curve, &p, &p);
        curve_jacobian_add(curve, &p, &origin, &p);
        curve_store(curve, &format, msm_point(&problem, (i + 1) % 3), &p);
        assert_int_equal(compare(&problem, &params, &exec, &plain), 0);
        msm_problem_free(&problem);
    }
    pool_curve_destroy(&curve);
}

/* ---- pieces, chunks, batches, precomputed bases ---------------------------------------------- */

/* Buckets begin and end anywhere in a piece, and some have several pieces. */
static void test_pieces(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    static const uint64_t groups[] = {1, 7, 33, 64, 500};
    struct msm_shape_of_call shape = {0};
    pool_exec exec = exec_here();

    (void)state;
    for (int i = 0; i < 10; i++) {
        const uint64_t count = i < 2 ? 3 : 120;
        struct msm_problem problem = msm_problem_random(curve, count, (uint64_t)i);
        pool_msm_params params = params_of(curve, i % 2 ? 1 : 2);

        params.window_bits = 4 + (uint32_t)i % 3;
        params.scalar_bits = 20;
        for (uint64_t k = 0; k < problem.count; k++)
            msm_set_scalar(&problem, k, i % 3 ? k * 7919 % (1 << 20) : 5);
        shape.max_affine_groups = groups[i / 2];
        shape.never_copies_ahead = i % 4 < 2;
        assert_between(compare(&problem, &params, &exec, &shape), i < 8 ? 2 : 1, 2000);
        msm_problem_free(&problem);
    }
}

static void test_batches_and_chunks(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const struct msm_shape_of_call shape = {.ramps_up = true, .max_affine_groups = 300};
    struct msm_problem problem = msm_problem_random(curve, 2200, 4);
    pool_exec exec = exec_here();

    (void)state;
    for (uint64_t batch = 1; batch < 12; batch += 10)
        for (int shared = 0; shared < 2; shared++) {
            pool_msm_params params = params_of(curve, 2);

            params.batch = batch;
            params.shared_bases = shared;
            params.scalar_bits = 64;
            for (uint64_t i = 0; i < problem.count; i++)
                msm_set_scalar(&problem, i, (i * 0x9e3779b97f4a7c15) >> (i % 3 * 20));
            assert_between(compare(&problem, &params, &exec, &shape), 4, 200);
        }
    msm_problem_free(&problem);
}

static void test_precomputed(void **state)
{
    pool_bases_params make = {.struct_size = sizeof(make),
        .curve = pool_curve_by_name("bls12_381_g1"),
        .precompute_factor = POOL_PRECOMPUTE_ALL,
        .window_bits = 6};
    struct msm_problem problem = msm_problem_random(make.curve, 50, 9);
    pool_msm_params params = params_of(make.curve, 2);
    pool_exec exec = exec_here();
    pool_span points = msm_span(problem.points, problem.count);

    (void)state;
    assert_ok(pool_bases_create(&make, &exec, &points, &params.bases));
    assert_int_equal(compare(&problem, &params, &exec, &plain), 1);
    assert_ok(pool_bases_destroy(&params.bases));
    msm_problem_free(&problem);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t workspace_of(
    const struct msm_problem *problem, pool_msm_params params, const pool_exec *exec)
{
    pool_span in = msm_span(NULL, problem->count), by = in, out = msm_span(NULL, 1);
    uint64_t bytes = 0;

    assert_ok(pool_msm_workspace(&params, exec, &in, &by, &out, &bytes));
    return bytes;
}

static pool_memory_info memory_info(void)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(device, &info));
    return info;
}

static unsigned compare_within(const struct msm_problem *problem, const pool_msm_params *params,
    const pool_exec *exec, uint64_t expected_bytes)
{
    const uint64_t before = memory_info().used_bytes;
    unsigned pieces;

    assert_ok(pool_memory_reset_high_water(device));
    pieces = compare(problem, params, exec, &plain);
    assert_int_equal(memory_info().used_high_water_bytes - before, expected_bytes);
    assert_int_equal(memory_info().used_bytes, before);
    return pieces;
}

/* The query is exact to the byte, and with less memory the call is the one without passes. */
static void test_memory(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct msm_problem problem = msm_problem_random(curve, 400, 5);
    pool_msm_params with = params_of(curve, 2), without = params_of(curve, POOL_AFFINE_NONE);
    pool_exec exec = exec_here();
    const uint64_t most = workspace_of(&problem, with, &exec),
                   least = workspace_of(&problem, without, &exec);
    pool_request request = {.struct_size = sizeof(request), .bytes = most - 1};
    pool_buffer *workspace = NULL;

    (void)state;
    assert_true(most > least);
    assert_int_equal(compare_within(&problem, &with, &exec, most), 1);
    assert_int_equal(compare_within(&problem, &without, &exec, least), 0);

    exec.memory_limit = most;
    assert_int_equal(workspace_of(&problem, with, &exec), most);
    assert_int_equal(compare_within(&problem, &with, &exec, most), 1);
    exec.memory_limit = most - 1;
    assert_int_equal(workspace_of(&problem, with, &exec), least);
    assert_int_equal(compare_within(&problem, &with, &exec, least), 0);
    exec.memory_limit = 0;

    for (int i = 0; i < 3; i++) {
        static const unsigned pieces[] = {1, 0, 0};
        const uint64_t bytes[] = {most, most - 1, least};

        assert_ok(pool_buffer_alloc(device, bytes[i], &workspace));
        exec.workspace = workspace;
        assert_int_equal(compare(&problem, &with, &exec, &plain), pieces[i]);
        assert_ok(pool_buffer_destroy(&workspace));
        exec.workspace = NULL;
    }
    assert_ok(pool_acquire(pool, &request, &exec.lease));
    assert_int_equal(compare_within(&problem, &with, &exec, least), 0);
    assert_ok(pool_release(&exec.lease));
    request.bytes = most;
    assert_ok(pool_acquire(pool, &request, &exec.lease));
    assert_int_equal(compare_within(&problem, &with, &exec, most), 1);
    assert_ok(pool_release(&exec.lease));
    msm_problem_free(&problem);
}

static double evictions(void)
{
    char *text = NULL, name[96];
    const char *at;
    double value;

    snprintf(name, sizeof(name), "devicepool_resident_evictions_total{device=\"%d\"} ",
        pool_device_ordinal(device));
    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    at = strstr(text, name);
    assert_non_null(at);
    value = strtod(at + strlen(name), NULL);
    pool_text_free(&text);
    return value;
}

/* In a pool with a memory limit that the tables of a domain fill but for a call without passes. */
static void test_nothing_is_evicted(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_params limited = {
        .struct_size = sizeof(limited), .devices = device_text, .memory_limit = (uint64_t)64 << 20};
    device_pool *const outer_pool = pool;
    pool_device *const outer_device = device;
    struct msm_problem problem = msm_problem_random(curve, 400, 5);
    pool_msm_params params = params_of(curve, 2);
    pool_ntt_domain_params make = {
        .struct_size = sizeof(make), .field = pool_field_by_name("bn254_fr"), .log_size = 12};
    pool_ntt_params ntt = {.struct_size = sizeof(ntt)};
    uint8_t *values = calloc((size_t)1 << 12, 32);
    pool_span elements = msm_span(values, 1 << 12);
    pool_ntt_domain *domain = NULL;
    pool_buffer *filler = NULL;
    uint64_t most, tables;
    pool_exec exec;
    double before;

    (void)state;
    if (strncmp(device_text, "sim", 3) != 0)
        skip(); /* drivers reserve memory in large blocks */
    assert_ok(pool_create(&pool, &limited));
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_set_phase_timing(pool, 1));
    exec = exec_here();
    most = workspace_of(&problem, params, &exec);
    assert_int_equal(compare(&problem, &params, &exec, &plain), 1);

    tables = memory_info().used_bytes;
    assert_ok(pool_ntt_domain_create(&make, &domain));
    ntt.domain = domain;
    assert_ok(pool_ntt(&ntt, &exec, &elements, &elements)); /* the tables are resident and idle */
    tables = memory_info().used_bytes - tables;
    assert_true(tables > 4096);
    assert_ok(pool_memory_trim(device, 0));
    assert_ok(pool_buffer_alloc(
        device, limited.memory_limit - memory_info().used_bytes - most + tables / 2, &filler));
    before = evictions();
    assert_int_equal(compare(&problem, &params, &exec, &plain), 0);
    assert_true(evictions() == before);

    assert_ok(pool_buffer_destroy(&filler));
    assert_int_equal(compare(&problem, &params, &exec, &plain), 1);
    assert_ok(pool_ntt_domain_destroy(&domain));
    assert_ok(pool_destroy(&pool));
    pool = outer_pool;
    device = outer_device;
    free(values);
    msm_problem_free(&problem);
}

static int open_timed(void **state)
{
    return open_pool(state) || pool_set_phase_timing(pool, 1);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operands),
        cmocka_unit_test(test_custom_curves), cmocka_unit_test(test_origin),
        cmocka_unit_test(test_pieces), cmocka_unit_test(test_batches_and_chunks),
        cmocka_unit_test(test_precomputed), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_nothing_is_evicted)};
    const struct nvrtc *nvrtc;

    if (count > 1)
        device_text = arguments[1];
    if (count > 2)
        cmocka_set_test_filter(arguments[2]);
    if (driver_nvrtc_open(&nvrtc))
        return 77; /* the kernels of custom curves are compiled */
    if (open_timed(NULL)) {
        fprintf(stderr, "no pool of %s: %s\n", device_text, pool_last_error()->message);
        return pool_status_class(pool_last_error()->status) == POOL_CLASS_HOST ? 77 : 1;
    }
    return cmocka_run_group_tests(tests, NULL, close_pool);
}
