/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiler that can be loaded and does not work: the library's own kernels come from prebuilt
 * PTX, which is logged once; everything else fails with the reason. Errors in a program are not
 * hidden by that.
 */
#include "support/mock_pool.h"

#include <dlfcn.h>

#include "pool/module/image.h"
#include "support/child.h"
#include "unit/fake/libnvrtc.h"
#include "zk/msm/msm.h"

#define FAKE_WORKS FAKE_DIRECTORY "/libnvrtc_works.so"

static struct fake_nvrtc *fake;
static char root[64];

static struct {
    atomic_int warnings, errors, prebuilt;
    char warning[2048];
} heard;

static void hear(void *user, const pool_log_record *record)
{
    (void)user;
    if (record->level == POOL_LOG_WARN && strstr(record->message, "NVRTC does not work: ")) {
        snprintf(heard.warning, sizeof(heard.warning), "%s", record->message);
        atomic_fetch_add(&heard.warnings, 1);
    }
    if (record->level == POOL_LOG_ERROR)
        atomic_fetch_add(&heard.errors, 1);
    if (record->level == POOL_LOG_INFO && strstr(record->message, ": prebuilt PTX msm-"))
        atomic_fetch_add(&heard.prebuilt, 1);
}

/* What is wrong with the compiler. */
static nvrtc_result answer;

static nvrtc_result give_answer(
    unsigned number, const char *name, int (*cancelled)(void *), void *of)
{
    (void)number;
    (void)name;
    (void)cancelled;
    (void)of;
    return answer;
}

static const struct fault {
    nvrtc_result create, compile;
    int oldest_arch;
    const char *says, *advises;
} faults[] = {
    {2, 0, 0, "NVRTC_ERROR_PROGRAM_CREATION_FAILURE (2)", "set DEVICEPOOL_NVRTC to another"},
    {11, 0, 0, "NVRTC_ERROR_INTERNAL_ERROR (11)", "set DEVICEPOOL_NVRTC to another"},
    {0, 7, 0, "libnvrtc-builtins.so.13.0", "reinstall NVRTC"},
    {0, 6, 0, "does not compile a trivial kernel: NVRTC_ERROR_COMPILATION (6)", "reinstall NVRTC"},
    {0, 11, 0, "nvrtcCompileProgram failed", "reinstall NVRTC"},
    {0, 0, 100, "does not compile for sm_90 any more", "set DEVICEPOOL_NVRTC to it"},
};

static void break_compiler(const struct fault *fault)
{
    fake->create = fault->create;
    fake->oldest_arch = fault->oldest_arch;
    fake->compile = fault->compile ? give_answer : NULL;
    fake->trial = fault->compile;
    answer = fault->compile;
}

static pool_status warm_up(const char *curve)
{
    struct world world = world_with_pool(1);
    pool_status status = pool_msm_warm_up(pool_curve_by_name(curve),
        &(pool_exec){.struct_size = sizeof(pool_exec), .device = device_of(&world, 0)});

    world_end(&world);
    module_image_forget();
    return status;
}

static pool_status compile(const char *source)
{
    struct world world = world_with_pool(1);
    pool_module_params params = {.struct_size = sizeof(params), .source = source, .name = "own.cu"};
    pool_module *module = NULL;
    pool_status status = pool_module_compile(device_of(&world, 0), &params, &module);

    pool_module_destroy(&module);
    world_end(&world);
    return status;
}

enum { WARM_PROGRAMS = MSM_PROGRAMS - MSM_AFFINE_PROGRAMS };

static int use_broken(void *argument)
{
    const struct fault *fault = argument;
    unsigned compiled;
    int prebuilt;

    break_compiler(fault);
    CHILD_CHECK(warm_up("bn254_g1") == POOL_OK);
    CHILD_CHECK(heard.prebuilt == WARM_PROGRAMS && heard.errors == 0);
    CHILD_CHECK(heard.warnings == 1 && strstr(heard.warning, fault->says) &&
                strstr(heard.warning, fault->advises));

    CHILD_CHECK(compile("own") == POOL_ERR_NO_COMPILER);
    CHILD_CHECK(strstr(pool_last_error()->message, "own.cu has to be compiled") &&
                strstr(pool_last_error()->message, fault->says) &&
                strstr(pool_last_error()->message, fault->advises));
    CHILD_CHECK(heard.warnings == 1 && heard.errors == 1);
    CHILD_CHECK(warm_up("pallas") == POOL_ERR_NO_COMPILER);
    CHILD_CHECK(strstr(pool_last_error()->message, "pallas"));
    CHILD_CHECK(fake->created == fake->destroyed);

    /* Nothing of it stays on disk: a compiler that works is used. */
    break_compiler(&(struct fault){0});
    compiled = fake->compiled;
    prebuilt = heard.prebuilt;
    CHILD_CHECK(warm_up("bn254_g1") == POOL_OK);
    CHILD_CHECK(fake->compiled == compiled + WARM_PROGRAMS);
    CHILD_CHECK(heard.prebuilt == prebuilt && heard.warnings == 1);
    return 0;
}

static void test_broken(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        char command[128];

        assert_int_equal(child_run(use_broken, (void *)(uintptr_t)&faults[i]), 0);
        snprintf(command, sizeof(command), "rm -rf %s/cache", root);
        assert_int_equal(system(command), 0);
    }
}

/* What a program does wrong is its own failure, prebuilt or not, as is what the host lacks. */
static void test_errors_of_the_program(void **state)
{
    static const struct {
        nvrtc_result create, compile;
        pool_status status;
    } cases[] = {
        {0, 6, POOL_ERR_COMPILE},
        {0, 5, POOL_ERR_COMPILE},
        {0, 4, POOL_ERR_INVALID_ARGUMENT},
        {0, 1, POOL_ERR_OUT_OF_HOST_MEMORY},
        {0, 99, POOL_ERR_COMPILE},
        {1, 0, POOL_ERR_OUT_OF_HOST_MEMORY},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cases[i].create == 0)
            break_compiler(&(struct fault){.compile = cases[i].compile});
        fake->trial = 0;
        fake->create = cases[i].create;
        assert_int_equal(warm_up("bn254_g1"), cases[i].status);
        assert_int_equal(pool_last_error()->status, cases[i].status);
    }
    assert_int_equal(heard.prebuilt, 0);
    assert_int_equal(heard.warnings, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_errors_of_the_program),
    };
    char command[128];
    int failed;

    strcpy(root, "/tmp/devicepool-broken-XXXXXX");
    if (!mkdtemp(root))
        return 99;
    snprintf(command, sizeof(command), "%s/cache", root);
    setenv("DEVICEPOOL_CACHE_DIR", command, 1);
    setenv("DEVICEPOOL_NVRTC", FAKE_WORKS, 1);
    pool_log_set(hear, NULL, POOL_LOG_INFO);
    fake = dlsym(dlopen(FAKE_WORKS, RTLD_NOW | RTLD_LOCAL), "fake_nvrtc_control");
    failed = fake ? cmocka_run_group_tests(tests, NULL, NULL) : 99;
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command) ? 99 : failed;
}
