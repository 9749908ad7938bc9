/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the harness: scenarios with one deliberate error each. An error that is not found here
 * would not be found in the library either.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/status.h"
#include "driver/driver.h"
#include "torture/torture.h"

/* What is wrong with the code of `work`. */
static enum plant {
    PLANT_NOTHING,
    PLANT_LEAK,          /* memory is not freed when the copy fails */
    PLANT_LOST_CONTEXT,  /* returns between push and pop */
    PLANT_EXTRA_CONTEXT, /* leaves another context current, with the right depth */
    PLANT_SWALLOWED,     /* the copy's failure is ignored */
    PLANT_WRONG_CLASS,   /* every failure is a timeout */
    PLANT_NO_DETAIL,     /* fails without saying why */
    PLANT_NOISE,         /* calls the driver after a fault */
    PLANT_HOST_LEAK,     /* loses its own record when the push fails */
    PLANT_MALLOC,        /* does not check the result of malloc */
    PLANT_FILE,          /* does not check the result of open */
    PLANT_HANGS          /* waits for ever when the copy fails */
} plant;

static pool_status copy(struct driver *driver, CUdeviceptr address)
{
    int value = 5;
    pool_cu_result code = driver->api.MemcpyHtoD(address, &value, sizeof(value));

    if (code && plant == PLANT_SWALLOWED)
        return POOL_OK;
    if (code && plant == PLANT_NO_DETAIL)
        return driver_status_of(code);
    if (code && plant == PLANT_WRONG_CLASS)
        return base_fail(POOL_ERR_TIMEOUT, "the copy failed (%u)", code);
    while (code && plant == PLANT_HANGS)
        pause();
    return driver_check(driver, code, "cuMemcpyHtoD");
}

static pool_status open_file(void)
{
    int file = base_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0);

    if (file < 0 && plant != PLANT_FILE)
        return base_fail(POOL_ERR_IO, "cannot open /dev/null");
    base_close(file);
    return POOL_OK;
}

/* Allocates, copies, frees inside the pushed context. */
static pool_status inside(struct driver *driver)
{
    CUdeviceptr address = 0;
    pool_status status = DRIVER_CALL(driver, MemAlloc(&address, 64));

    if (status)
        return status;
    status = copy(driver, address);
    if (status && plant == PLANT_LEAK)
        return status;
    if (driver_usable(driver) == POOL_OK || plant == PLANT_NOISE) {
        pool_cu_result code = driver->api.MemFree(address);
        if (!status)
            status = driver_check(driver, code, "cuMemFree");
    }
    return status;
}

static pool_status pushed(struct driver *driver, CUcontext context)
{
    struct base_error_copy first;
    void *record = base_calloc(1, 64);
    pool_status status;

    if (!record && plant != PLANT_MALLOC)
        return base_fail_memory("a record");
    status = DRIVER_CALL(driver, CtxPushCurrent(context));
    if (status) {
        if (plant != PLANT_HOST_LEAK)
            base_free(record);
        return status;
    }
    base_free(record);
    status = inside(driver);
    if (status && plant == PLANT_LOST_CONTEXT)
        return status;
    base_error_save(&first);
    CUcontext popped = NULL;
    pool_cu_result code = driver->api.CtxPopCurrent(&popped);
    if (code)
        driver->api.CtxPopCurrent(&popped);
    if (status && plant == PLANT_EXTRA_CONTEXT)
        driver->api.CtxSetCurrent(context);
    if (!status)
        return driver_check(driver, code, "cuCtxPopCurrent");
    base_error_restore(&first);
    return status;
}

static pool_status work(struct torture *torture)
{
    struct driver *driver = NULL;
    CUcontext context = NULL;
    pool_status status = open_file();

    if (!status)
        status = driver_open(torture->table, &driver);
    if (status)
        return status;
    torture->objects[0] = driver;
    status = DRIVER_CALL(driver, DevicePrimaryCtxRetain(&context, 0));
    if (status)
        return status;
    torture->objects[1] = context;
    return pushed(driver, context);
}

static pool_status finish(struct torture *torture)
{
    struct driver *driver = torture->objects[0];

    if (torture->objects[1] && driver_usable(driver) == POOL_OK)
        driver->api.DevicePrimaryCtxRelease(0);
    torture->objects[1] = NULL;
    driver_close((struct driver **)&torture->objects[0]);
    return POOL_OK;
}

static const struct torture_scenario scenario = {
    .name = "planted", .devices = 1, .run = work, .finish = finish};

static struct torture_report run_with(enum plant what)
{
    struct torture_report report = {0};

    plant = what;
    int failed = torture_run(&scenario, &report, 1);
    plant = PLANT_NOTHING;
    uint64_t found = 0;
    for (int kind = 0; kind < TORTURE_KINDS; kind++)
        found += report.found[kind];
    assert_int_equal(failed, found > 0);
    return report;
}

static void test_right_code_passes(void **state)
{
    struct torture_report report = run_with(PLANT_NOTHING);

    (void)state;
    for (int kind = 0; kind < TORTURE_KINDS; kind++)
        assert_int_equal(report.found[kind], 0);
    /* init, version, retain, push, alloc, copy, free, pop, release and the queries of opening */
    assert_true(report.driver_calls >= 9);
    assert_true(report.allocations >= 2);
    assert_int_equal(report.file_operations, 1);
    assert_int_equal(report.points,
        14 * report.driver_calls + 2 * report.allocations + 2 * report.file_operations);
}

/* Only the planted kind is found: the others hold. */
static void only(enum plant what, enum torture_kind kind)
{
    struct torture_report report = run_with(what);

    assert_true(report.found[kind] > 0);
    for (int other = 0; other < TORTURE_KINDS; other++)
        if (other != (int)kind)
            assert_int_equal(report.found[other], 0);
}

static void test_leak(void **state)
{
    (void)state;
    only(PLANT_LEAK, TORTURE_HANDLES);
}

static void test_lost_context(void **state)
{
    struct torture_report report = run_with(PLANT_LOST_CONTEXT);

    (void)state;
    /* copy, alloc and free fail with 7 codes in two ways each; the leaks list reports it as well */
    assert_true(report.found[TORTURE_CONTEXT] >= 40);
}

static void test_extra_context(void **state)
{
    struct torture_report report = run_with(PLANT_EXTRA_CONTEXT);

    (void)state;
    assert_true(report.found[TORTURE_CONTEXT] > 0);
    assert_int_equal(report.found[TORTURE_STATUS], 0);
}

static void test_swallowed(void **state)
{
    struct torture_report report = run_with(PLANT_SWALLOWED);

    (void)state;
    assert_true(report.found[TORTURE_SWALLOWED] >= 5);
    assert_int_equal(report.found[TORTURE_CONTEXT], 0);
}

static void test_wrong_class(void **state)
{
    struct torture_report report = run_with(PLANT_WRONG_CLASS);

    (void)state;
    assert_true(report.found[TORTURE_STATUS] > 0);
}

static void test_no_detail(void **state)
{
    struct torture_report report = run_with(PLANT_NO_DETAIL);

    (void)state;
    assert_true(report.found[TORTURE_DETAIL] > 0);
    assert_int_equal(report.found[TORTURE_SWALLOWED], 0);
}

static void test_noise(void **state)
{
    (void)state;
    only(PLANT_NOISE, TORTURE_NOISE);
}

static void test_host_leak(void **state)
{
    (void)state;
    /* Under a sanitizer or valgrind it is theirs to find, at the program's end. */
    if (torture_counts_host_memory())
        only(PLANT_HOST_LEAK, TORTURE_HOST_MEMORY);
    else
        print_message("not counted here\n");
}

static void test_failing_malloc(void **state)
{
    (void)state;
    only(PLANT_MALLOC, TORTURE_SWALLOWED);
}

static void test_failing_file(void **state)
{
    (void)state;
    only(PLANT_FILE, TORTURE_SWALLOWED);
}

/* The watchdog ends the program, so this runs in a child process. */
static void test_hang(void **state)
{
    int status = 0;
    pid_t child;

    (void)state;
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct torture_report report = {0};

        close(STDERR_FILENO);
        torture_seconds_per_run = 1;
        plant = PLANT_HANGS;
        torture_run(&scenario, &report, 1);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) >= 97);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_code_passes),
        cmocka_unit_test(test_leak),
        cmocka_unit_test(test_lost_context),
        cmocka_unit_test(test_extra_context),
        cmocka_unit_test(test_swallowed),
        cmocka_unit_test(test_wrong_class),
        cmocka_unit_test(test_no_detail),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_host_leak),
        cmocka_unit_test(test_failing_malloc),
        cmocka_unit_test(test_failing_file),
        cmocka_unit_test(test_hang),
    };

    torture_all = 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
