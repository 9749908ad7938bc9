/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSMs whose accumulation is cut into launches (pool_exec.slice_ns, pool_params.slice_ns), and
 * those that leave multiprocessors to other leases: the results are those of the reference.
 *
 *   test_devices_msm_slices [DEVICES]
 */
#include "support/msm.h"
#include "support/pool.h"
#include "support/sample.h"

enum { COUNT = 1500 };

static const uint64_t slices[] = {1, 20000, POOL_SLICE_NS, UINT64_MAX};

static struct msm_problem random_problem(const char *curve)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name(curve), COUNT, 11);

    /* Equal scalars, so that one bucket goes through many threads. */
    for (uint64_t i = 400; i < 900; i++)
        memcpy(msm_scalar(&problem, i), msm_scalar(&problem, 400), problem.scalar_bytes);
    memset(msm_point(&problem, 7), 0, problem.point_bytes);
    return problem;
}

static void test_calls(void **state)
{
    static const char *const names[] = {"bn254_g1", "bls12_381_g1", "bn254_g2"};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct msm_problem problem = random_problem(names[k]);
        pool_msm_params params = {.struct_size = sizeof(params), .curve = problem.curve};
        pool_exec exec = exec_here();

        for (size_t i = 0; i < sizeof(slices) / sizeof(slices[0]); i++) {
            exec.slice_ns = slices[i];
            for (params.affine_passes = 0; params.affine_passes < 2; params.affine_passes++)
                if (is_sampled(k + i + params.affine_passes, 2))
                    msm_compare(&problem, &params, &exec, NULL);
        }
        msm_problem_free(&problem);
    }
}

/* Chunks are added to the sums of earlier ones. */
static void test_chunks(void **state)
{
    struct msm_problem problem = random_problem("bn254_g1");
    pool_msm_params params = {.struct_size = sizeof(params), .curve = problem.curve};
    pool_exec exec = exec_here();
    const struct msm_shape_of_call shape = {.ramps_up = true};
    pool_span items = {.count = COUNT - 100}; /* a chunk, which are at least 1024 */

    (void)state;
    assert_ok(pool_msm_workspace(
        &params, &exec, &items, &items, &(pool_span){.count = 1}, &exec.memory_limit));
    exec.slice_ns = 1;
    msm_compare(&problem, &params, &exec, &shape);
    msm_problem_free(&problem);
}

static void test_beside_leases(void **state)
{
    struct msm_problem problem = random_problem("bn254_g1");
    pool_msm_params params = {.struct_size = sizeof(params), .curve = problem.curve};
    pool_exec exec = exec_here();
    pool_request request = {
        .struct_size = sizeof(request), .device = device, .bytes = 64 << 20, .label = "other"};
    pool_lease *other = NULL;

    (void)state;
    assert_ok(pool_acquire(pool, &request, &other));
    for (size_t i = 0; i < sizeof(slices) / sizeof(slices[0]); i++) {
        exec.slice_ns = slices[i];
        exec.lease = NULL;
        msm_compare(&problem, &params, &exec, NULL);
        assert_ok(pool_acquire(pool, &request, &exec.lease));
        msm_compare(&problem, &params, &exec, NULL);
        assert_ok(pool_release(&exec.lease));
    }
    assert_ok(pool_release(&other));
    msm_problem_free(&problem);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls), cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_beside_leases)};
    int failed;

    device_text = argc > 1 ? argv[1] : "sim:1,mem=512M";
    tuning_text = POOL_NO_SMALL_MSMS;
    if (open_pool(NULL))
        return 77;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    return close_pool(NULL) || failed;
}
