/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSMs over several devices, 1, 2, 3, 4 and 8 simulated ones or those of `--device`, against the
 * plain answers: batches of all sizes, shared points, bases on each device (shards with and without
 * multiples, replicated), sharded spans, layouts of results; what is refused; failures.
 */
#include "support/msm.h"
#include "support/sample.h"
#include "support/several.h"

static const pool_curve *curve_of(const char *name)
{
    const pool_curve *curve = pool_curve_by_name(name);

    assert_non_null(curve);
    return curve;
}

/* Against the plain answers, in affine form and, once more, in another layout and form. */
static void compare(const struct msm_problem *problem, const pool_msm_params *params,
    const pool_exec *exec, const pool_span *points, const pool_span *scalars)
{
    const uint64_t batch = params->batch ? params->batch : 1;
    uint8_t *wanted = msm_expect_batch(problem, batch, params->shared_bases);
    const size_t other = pool_point_bytes(problem->curve, POOL_POINT_XYZZ);
    const pool_point_format format = {POOL_POINT_XYZZ, POOL_FORM_MONTGOMERY, other + 8};
    uint8_t *got = calloc(batch, problem->point_bytes), *more = calloc(batch, other + 8);
    pool_span results = {.data = got, .count = batch};
    pool_exec with_workspaces = *exec;
    pool_msm_params changed = *params;
    uint64_t bytes[SEVERAL_MAX];

    assert_ok(pool_msm(params, exec, points, scalars, &results));
    assert_memory_equal(got, wanted, batch * problem->point_bytes);
    assert_ok(pool_msm_workspace(params, exec, points, scalars, &results, bytes));
    if (exec->device_count == 3 || batch == 2) {
        SEVERAL_CHECK_WORKSPACES(exec->device_count, bytes, &with_workspaces,
            pool_msm(params, &with_workspaces, points, scalars, &results));
        assert_memory_equal(got, wanted, batch * problem->point_bytes);
    }
    if (batch % 2) {
        free(wanted);
        free(got);
        free(more);
        return;
    }
    changed.result_layout = POOL_POINT_XYZZ;
    results = (pool_span){
        .data = more, .count = batch, .stride = other + 8, .form = POOL_FORM_MONTGOMERY};
    assert_ok(pool_msm(&changed, exec, points, scalars, &results));
    for (uint64_t b = 0; b < batch; b++) {
        int is_equal = 0;

        assert_ok(pool_point_equal(problem->curve, &format, more + b * (other + 8), NULL,
            wanted + b * problem->point_bytes, &is_equal));
        assert_true(is_equal);
    }
    free(wanted);
    free(got);
    free(more);
}

static void test_batches(void **state)
{
    (void)state;
    for
        several_each(count) for (uint64_t batch = 1; batch <= count + 2; batch += 1 + batch / 3)
        {
            const uint64_t n = next_random() % 9;

            if (!is_sampled(count + batch, 7))
                continue;
            struct msm_problem problem =
                msm_problem_random(curve_of("bn254_g1"), n * batch, 100 * count + batch);
            pool_msm_params params = {
                .struct_size = sizeof(params), .curve = problem.curve, .batch = batch};
            const pool_exec exec = several_exec(count);
            pool_span points = msm_span(problem.points, n * batch);
            pool_span scalars = msm_span(problem.scalars, n * batch);

            params.shared_bases = batch % 3 == 2;
            points.count = params.shared_bases ? n : n * batch;
            compare(&problem, &params, &exec, &points, &scalars);
            msm_problem_free(&problem);
        }
}

/* One MSM of more points, with values that make additions exceptional across parts. */
static void test_one(void **state)
{
    static const char *const names[] = {"bn254_g1", "bn254_g2", "bls12_381_g1"};

    (void)state;
    for (size_t c = 0; c < 3; c++)
        for
            several_each(count)
            {
                const uint64_t n = 65;

                if (!is_sampled(c + count, 3))
                    continue;
                struct msm_problem problem = msm_problem_random(curve_of(names[c]), n, c);
                const pool_msm_params params = {
                    .struct_size = sizeof(params), .curve = problem.curve};
                const pool_exec exec = several_exec(count);
                const pool_span points = msm_span(problem.points, n);
                const pool_span scalars = msm_span(problem.scalars, n);

                for (uint64_t i = 1; c == 0 && i < n; i++) { /* equal partial sums */
                    memcpy(msm_point(&problem, i), msm_point(&problem, 0), problem.point_bytes);
                    msm_set_scalar(&problem, i, 7);
                }
                compare(&problem, &params, &exec, &points, &scalars);
                msm_problem_free(&problem);
            }
}

/* ---- bases on each device -------------------------------------------------------------------- */

/* Device i gets points first[i] to first[i + 1], or all of them. */
static void create_bases(const struct msm_problem *problem, uint32_t count, const uint64_t *first,
    bool is_replicated, uint32_t factor, pool_bases **bases)
{
    const pool_bases_params params = {
        .struct_size = sizeof(params), .curve = problem->curve, .precompute_factor = factor};

    for (uint32_t i = 0; i < count; i++) {
        const pool_exec exec = {.struct_size = sizeof(exec), .device = several[i]};
        const uint64_t at = is_replicated ? 0 : first[i];
        const uint64_t end = is_replicated ? first[count] : first[i + 1];
        const pool_span points = msm_span(msm_point(problem, at), end - at);

        assert_ok(pool_bases_create(&params, &exec, &points, &bases[i]));
    }
}

static void test_bases(void **state)
{
    (void)state;
    for
        several_each(count) for (int way = 0; way < 6; way++)
        {
            if (!is_sampled((size_t)way + count, 3)) /* every way on some number of devices */
                continue;
            const bool is_replicated = way & 1, is_shared = way >> 1 == 1;
            const uint64_t n = 12, batch = way >> 1 ? 3 : 1, skipped = 5;
            const uint64_t all = skipped + (is_shared ? n : n * batch);
            struct msm_problem problem =
                msm_problem_random(curve_of("bn254_g1"), all + n * batch, (uint64_t)way);
            uint64_t first[SEVERAL_MAX + 1];
            pool_bases *bases[SEVERAL_MAX] = {NULL};
            pool_msm_params params = {.struct_size = sizeof(params),
                .batch = batch,
                .shared_bases = is_shared,
                .first_base = skipped,
                .device_bases = bases,
                .replicated_bases = is_replicated};
            const pool_exec exec = several_exec(count);
            struct msm_problem used = problem;
            pool_span scalars;

            used.points = msm_point(&problem, skipped);
            used.count = n * batch;
            scalars = msm_span(used.scalars, used.count);
            several_divide(count, all, 1, true, first);
            create_bases(&problem, count, first, is_replicated, 1 + (uint32_t)way / 2, bases);
            compare(&used, &params, &exec, NULL, &scalars);
            params.first_base = all;
            assert_status(
                pool_msm(&params, &exec, NULL, &scalars, &scalars), POOL_ERR_INVALID_ARGUMENT);
            for (uint32_t i = 0; i < count; i++)
                assert_ok(pool_bases_destroy(&bases[i]));
            msm_problem_free(&problem);
        }
}

/* ---- sharded spans --------------------------------------------------------------------------- */

static void test_sharded(void **state)
{
    (void)state;
    for
        several_each(count)
        {
            const uint64_t n = 40;
            struct msm_problem problem = msm_problem_random(curve_of("bn254_g1"), n, count);
            const pool_msm_params params = {.struct_size = sizeof(params), .curve = problem.curve};
            const pool_exec exec = several_exec(count);
            const pool_span points = msm_span(problem.points, n);
            const pool_span scalars = msm_span(problem.scalars, n);
            uint64_t first[SEVERAL_MAX + 1];
            struct several_shards *of_points, *of_scalars;

            several_divide(count, n, 1, true, first);
            of_points = several_allocate(count, problem.point_bytes, POOL_FORM_STANDARD, first);
            of_scalars = several_allocate(count, problem.scalar_bytes, POOL_FORM_STANDARD, first);
            several_upload(of_points, problem.points, false);
            several_upload(of_scalars, problem.scalars, false);
            compare(&problem, &params, &exec, &of_points->span, &of_scalars->span);
            compare(&problem, &params, &exec, &points, &of_scalars->span);
            compare(&problem, &params, &exec, &of_points->span, &scalars);
            several_free(of_points);
            several_free(of_scalars);
            msm_problem_free(&problem);
        }
}

/* ---- refused, memory, failures --------------------------------------------------------------- */

static void test_refused(void **state)
{
    const uint64_t n = 8, first[] = {0, 4, 8};
    struct msm_problem problem = msm_problem_random(curve_of("bn254_g1"), n, 3);
    pool_bases *bases[SEVERAL_MAX] = {NULL}, *swapped[2];
    pool_msm_params params = {.struct_size = sizeof(params), .curve = problem.curve};
    pool_msm_params with = {.struct_size = sizeof(with), .device_bases = bases};
    pool_exec exec = several_exec(2), one = {.struct_size = sizeof(one), .device = several[0]};
    uint8_t result[64] = {0};
    pool_span points = msm_span(problem.points, n), scalars = msm_span(problem.scalars, n);
    pool_span results = msm_span(result, 1);
    uint64_t bytes[2];

    (void)state;
    create_bases(&problem, 2, first, false, 1, bases);
    assert_ok(pool_msm(&with, &exec, NULL, &scalars, &results));
    assert_status(pool_msm(&with, &one, NULL, &scalars, &results), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`device_bases` is given and `device_count` is 0");
    with.bases = bases[0];
    assert_status(pool_msm(&with, &exec, NULL, &scalars, &results), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`bases` cannot be combined");
    with.bases = NULL;
    swapped[0] = bases[1];
    swapped[1] = bases[0];
    with.device_bases = swapped;
    assert_status(pool_msm(&with, &exec, NULL, &scalars, &results), POOL_ERR_WRONG_DEVICE);
    assert_says("`device_bases[0]` are on device");
    swapped[0] = bases[0];
    swapped[1] = NULL;
    assert_status(pool_msm(&with, &exec, NULL, &scalars, &results), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`device_bases[1]` must not be NULL");
    params.replicated_bases = 1;
    assert_status(pool_msm(&params, &exec, &points, &scalars, &results), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`replicated_bases`");
    params.replicated_bases = 0;
    points.count = 7;
    assert_status(pool_msm(&params, &exec, &points, &scalars, &results), POOL_ERR_INVALID_ARGUMENT);
    assert_says("has 7 points");
    points.count = n;
    results.data = problem.scalars;
    assert_status(pool_msm(&params, &exec, &points, &scalars, &results), POOL_ERR_INVALID_ARGUMENT);
    assert_says("overlap");
    results.data = result;
    results.space = POOL_MEMORY_SHARDED;
    assert_status(pool_msm(&params, &exec, &points, &scalars, &results), POOL_ERR_INVALID_ARGUMENT);
    assert_says("POOL_MEMORY_HOST");
    results.space = POOL_MEMORY_HOST;
    assert_ok(pool_msm_workspace(&params, &exec, &points, &scalars, &results, bytes));
    assert_true(bytes[0] > 0 && bytes[1] > 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_ok(pool_bases_destroy(&bases[i]));
    msm_problem_free(&problem);
}

/* Messages count scalars and points of the whole call: of split and of distributed MSMs. */
static void test_indices(void **state)
{
    enum { N = 12 };
    struct msm_problem problem = msm_problem_random(curve_of("bn254_g1"), 3 * N, 4);
    pool_exec exec = several_exec(2);
    pool_span points = msm_span(problem.points, 3 * N), scalars = msm_span(problem.scalars, 3 * N);
    uint8_t sums[3 * 64];
    pool_span results = msm_span(sums, 3);
    pool_msm_params params = {.struct_size = sizeof(params), .curve = problem.curve, .batch = 3};
    static const uint32_t bad[] = {N + 1, 3 * N - 1}; /* MSMs 0 and 1 are distributed, 2 is split */
    char says[32];

    (void)state;
    exec.checks = POOL_CHECK_CANONICAL | POOL_CHECK_ON_CURVE;
    for (size_t i = 0; i < 2; i++) {
        uint8_t *scalar = problem.scalars + 32 * bad[i], *point = problem.points + 64 * bad[i];
        uint8_t scalar_before = scalar[31], point_before = point[0];

        scalar[31] = 0xff;
        assert_status(pool_msm(&params, &exec, &points, &scalars, &results), POOL_ERR_BAD_DATA);
        snprintf(says, sizeof(says), "scalar %u ", bad[i]);
        assert_says(says);
        scalar[31] = scalar_before;
        point[0] ^= 1;
        assert_status(pool_msm(&params, &exec, &points, &scalars, &results), POOL_ERR_BAD_DATA);
        snprintf(says, sizeof(says), "point %u ", bad[i]);
        assert_says(says);
        point[0] = point_before;
    }
    assert_ok(pool_msm(&params, &exec, &points, &scalars, &results));
    msm_problem_free(&problem);
}

/* A failure on either device is the call's, leaves nothing behind, and writes no result. */
static void test_failures(void **state)
{
    const uint64_t n = 16;
    struct msm_problem problem = msm_problem_random(curve_of("bn254_g1"), n, 3);
    const pool_msm_params params = {.struct_size = sizeof(params), .curve = problem.curve};
    const pool_exec exec = several_exec(2);
    const pool_span points = msm_span(problem.points, n), scalars = msm_span(problem.scalars, n);
    pool_memory_info before = {.struct_size = sizeof(before)}, after = before;

    (void)state;
    if (strncmp(several_text, "sim", 3) != 0) {
        msm_problem_free(&problem);
        return;
    }
    compare(&problem, &params, &exec, &points, &scalars);
    assert_ok(pool_memory_get_info(several[1], &before));
    for (uint32_t device = 0; device < 2; device++)
        for (uint32_t nth = 1; nth < 5; nth++) { /* converts bases, and three */
            uint8_t result[64] = {0}, zeros[64] = {0};
            pool_span results = msm_span(result, 1);
            char rules[64];

            snprintf(rules, sizeof(rules), "dev%u.cuLaunchKernel*@%u=701", device, nth);
            assert_ok(pool_sim_set_faults(rules));
            assert_int_not_equal(pool_msm(&params, &exec, &points, &scalars, &results), POOL_OK);
            snprintf(rules, sizeof(rules), "on device %u failed", device);
            assert_says(rules);
            assert_memory_equal(result, zeros, sizeof(result));
            assert_ok(pool_sim_set_faults(NULL));
            assert_ok(pool_msm(&params, &exec, &points, &scalars, &results));
            assert_ok(pool_memory_get_info(several[1], &after));
            assert_int_equal(after.used_bytes, before.used_bytes);
        }
    msm_problem_free(&problem);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_batches), cmocka_unit_test(test_one),
        cmocka_unit_test(test_bases), cmocka_unit_test(test_sharded),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_indices)};

    if (argc > 1)
        several_text = argv[1];
    if (!several_exist())
        return 77;
    return cmocka_run_group_tests_name("msm_several", tests, several_open, several_close);
}
