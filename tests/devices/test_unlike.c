/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of unlike devices, and pools of some of the simulated devices: what they report, and that
 * an MSM has the same result on each and on all of them. `workers:` as argument: with worker
 * processes.
 */
#include "support/msm.h"

static const char *prefix = "";

static pool_status create(device_pool **pool, const char *devices)
{
    pool_params params = {.struct_size = sizeof(params)};
    char text[256];

    snprintf(text, sizeof(text), "%s%s", prefix, devices);
    params.devices = text;
    return pool_create(pool, &params);
}

static pool_device_info info_of(device_pool *pool, uint32_t index)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_device *device;

    assert_ok(pool_device_at(pool, index, &device));
    assert_ok(pool_device_get_info(device, &info));
    return info;
}

static void test_reports(void **state)
{
    device_pool *pool = NULL;
    pool_device *most = NULL;
    pool_device_info info;

    (void)state;
    assert_ok(create(&pool, "sim:2,cc=75,sms=2,mem=512M;cc=90,sms=6,mem=1G,name=Large one"));
    assert_int_equal(pool_device_count(pool), 3);
    for (uint32_t i = 0; i < 3; i++) {
        info = info_of(pool, i);
        assert_int_equal(info.compute_major * 10 + info.compute_minor, i < 2 ? 75 : 90);
        assert_int_equal(info.multiprocessors, i < 2 ? 2 : 6);
        assert_int_equal(info.total_bytes >> 20, i < 2 ? 512 : 1024);
        assert_int_equal(info.max_threads_per_multiprocessor, i < 2 ? 1024 : 2048);
        assert_string_equal(info.name, i < 2 ? "Simulated device (cc 7.5)" : "Large one");
    }
    assert_ok(pool_best_device(pool, &most));
    assert_int_equal(pool_device_index(most), 2);
    assert_ok(pool_destroy(&pool));
}

static void compare(const struct msm_problem *problem, const uint8_t *wanted, const pool_exec *exec)
{
    const pool_msm_params params = {.struct_size = sizeof(params), .curve = problem->curve};
    const pool_span points = {.data = problem->points, .count = problem->count},
                    scalars = {.data = problem->scalars, .count = problem->count};
    uint8_t got[MSM_POINT_MAX];
    const pool_span result = {.data = got, .count = 1};

    assert_ok(pool_msm(&params, exec, &points, &scalars, &result));
    assert_memory_equal(got, wanted, problem->point_bytes);
}

/* Each has code of its own; in the middle are devices that do not address one another's memory. */
static void test_results(void **state)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name("bn254_g1"), 200, 7);
    uint8_t wanted[MSM_POINT_MAX];
    device_pool *pool = NULL;
    pool_device *devices[4];

    (void)state;
    msm_expect(&problem, wanted);
    assert_ok(create(&pool, "sim:cc=75,sms=2,mem=512M,p2p=0-1+2-3;cc=90;cc=86,mem=1G;cc=120"));
    for (uint32_t i = 0; i < 4; i++) {
        pool_exec exec = {.struct_size = sizeof(exec)};

        assert_ok(pool_device_at(pool, i, &devices[i]));
        exec.device = devices[i];
        compare(&problem, wanted, &exec);
    }
    compare(&problem, wanted,
        &(pool_exec){.struct_size = sizeof(pool_exec), .devices = devices, .device_count = 4});
    assert_ok(pool_destroy(&pool));
    msm_problem_free(&problem);
}

/* Pools of some of the devices of one simulated driver, at once. */
static void test_some(void **state)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name("bn254_g1"), 50, 8);
    uint8_t wanted[MSM_POINT_MAX];
    device_pool *all = NULL, *some = NULL, *one = NULL, *none = NULL;
    pool_device_info info[3];
    char text[128];

    (void)state;
    msm_expect(&problem, wanted);
    assert_ok(create(&all, "sim:2,mem=512M;cc=86,mem=1G"));
    for (uint32_t i = 0; i < 3; i++)
        info[i] = info_of(all, i);
    assert_ok(create(&some, "sim:2,mem=512M;cc=86,mem=1G@2,0"));
    assert_int_equal(pool_device_count(some), 2);
    assert_string_equal(info_of(some, 0).uuid, info[2].uuid);
    assert_string_equal(info_of(some, 1).uuid, info[0].uuid);
    snprintf(text, sizeof(text), "sim:2,mem=512M;cc=86,mem=1G@%s", info[1].uuid);
    assert_ok(create(&one, text));
    assert_int_equal(pool_device_count(one), 1);
    assert_string_equal(info_of(one, 0).pci, info[1].pci);
    for (uint32_t i = 0; i < 2; i++) {
        pool_exec exec = {.struct_size = sizeof(exec)};

        assert_ok(pool_device_at(some, i, &exec.device));
        compare(&problem, wanted, &exec);
    }
    assert_status(create(&none, "sim:2,mem=512M;cc=86,mem=1G@3"), POOL_ERR_NOT_FOUND);
    assert_status(create(&none, "sim:2,mem=512M;cc=86,mem=1G@"), POOL_ERR_INVALID_ARGUMENT);
    assert_status(create(&none, "sim:2,mem=512M;cc=86,mem=1G@0@1"), POOL_ERR_INVALID_ARGUMENT);
    assert_status(create(&none, "sim:2,mem=512M;cc=86@0"), POOL_ERR_BUSY);
    assert_ok(pool_destroy(&one));
    assert_ok(pool_destroy(&some));
    assert_ok(pool_destroy(&all));
    msm_problem_free(&problem);
}

/* Parts of some of the devices. */
static void test_parts_of_some(void **state)
{
    device_pool *pool = NULL;

    (void)state;
    assert_ok(create(&pool, "sim:2;cc=90,sms=32@1,2/8+24"));
    assert_int_equal(pool_device_count(pool), 3);
    assert_int_equal(info_of(pool, 0).multiprocessors, 4);
    assert_int_equal(info_of(pool, 1).multiprocessors, 8);
    assert_int_equal(info_of(pool, 2).multiprocessors, 24);
    assert_ok(pool_destroy(&pool));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reports),
        cmocka_unit_test(test_results), cmocka_unit_test(test_some),
        cmocka_unit_test(test_parts_of_some)};

    prefix = argc > 1 ? argv[1] : "";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
