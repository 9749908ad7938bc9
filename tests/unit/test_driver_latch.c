/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver/: tables of callers, the fault latch with its listeners and the probe of UNKNOWN, fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "driver/internal.h"
#include "support/plain_table.h"

static pool_cuda_api table;

static struct driver *opened(void)
{
    struct driver *driver = NULL;

    plain_table(&table);
    assert_int_equal(driver_open(&table, &driver), POOL_OK);
    assert_non_null(driver);
    return driver;
}

static const char *message(void)
{
    return pool_last_error()->message;
}

static void test_open_shared(void **state)
{
    struct driver *first = opened(), *second = NULL;

    (void)state;
    assert_int_equal(first->version, 13000);
    assert_string_equal(first->path, "custom table");
    assert_int_equal(driver_open(&table, &second), POOL_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(plain_calls.Init, 1);
    driver_close(&first);
    assert_null(first);
    assert_int_equal(driver_usable(second), POOL_OK);
    driver_close(&second);
    driver_close(&second);
    driver_close(NULL);
    first = opened();
    assert_int_equal(plain_calls.Init, 1); /* initialised again: plain_table had zeroed the count */
    driver_close(&first);
}

/* Tables of other sizes: an older one, a newer one, and invalid sizes. */
static void test_table_sizes(void **state)
{
    static const size_t wrong[] = {0, 1, 8, 16, 17, sizeof(pool_cuda_api) - 1, 1u << 20, SIZE_MAX};
    struct driver *driver = NULL;
    struct {
        pool_cuda_api api;
        void *tomorrow;
    } larger;

    (void)state;
    plain_table(&table);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        table.struct_size = wrong[i];
        assert_int_equal(driver_open(&table, &driver), POOL_ERR_INVALID_ARGUMENT);
        assert_null(driver);
    }
    /* Made before MemAlloc existed. */
    table.struct_size = offsetof(pool_cuda_api, MemAlloc);
    assert_int_equal(driver_open(&table, &driver), POOL_ERR_DRIVER_TOO_OLD);
    assert_non_null(strstr(message(), "cuMemAlloc_v2"));
    plain_table(&larger.api);
    larger.api.struct_size = sizeof(larger);
    assert_int_equal(driver_open(&larger.api, &driver), POOL_OK);
    assert_int_equal(driver->api.struct_size, sizeof(pool_cuda_api));
    driver_close(&driver);
}

/* Each missing entry, one at a time: NEEDED ones are named, EXTRA ones are let go. */
static void test_missing_entries(void **state)
{
    size_t needed = 0, extra = 0;

    (void)state;
    for (size_t i = 0; i < driver_symbol_count; i++) {
        struct driver *driver = NULL;
        pool_status status;

        plain_table(&table);
        memset((char *)&table + driver_symbols[i].offset, 0, sizeof(void *));
        status = driver_open(&table, &driver);
        if (driver_symbols[i].needed) {
            needed++;
            assert_int_equal(status, POOL_ERR_DRIVER_TOO_OLD);
            assert_non_null(strstr(message(), driver_symbols[i].name));
            assert_null(driver);
            assert_int_equal(plain_calls.Init, 0);
        } else {
            extra++;
            assert_int_equal(status, POOL_OK);
            driver_close(&driver);
        }
    }
    assert_true(needed > 70 && extra > 5);
}

static void test_init_failures(void **state)
{
    static const struct {
        pool_cu_result code;
        pool_status status;
    } failures[] = {{3, POOL_ERR_FORKED}, {4, POOL_ERR_SHUTDOWN}, {34, POOL_ERR_NO_DRIVER},
        {46, POOL_ERR_NO_DEVICE}, {100, POOL_ERR_NO_DEVICE}, {101, POOL_ERR_NO_DEVICE},
        {802, POOL_ERR_NO_DEVICE}, {803, POOL_ERR_NO_DRIVER}, {804, POOL_ERR_NO_DRIVER},
        {805, POOL_ERR_NO_DEVICE}, {999, POOL_ERR_NO_DRIVER}, {719, POOL_ERR_PROCESS_POISONED},
        {2, POOL_ERR_OUT_OF_DEVICE_MEMORY}};
    struct driver *driver = NULL;

    (void)state;
    plain_table(&table);
    plain_version = 12040;
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        plain_answers.Init = failures[i].code;
        assert_int_equal(driver_open(&table, &driver), failures[i].status);
        assert_null(driver);
        assert_int_equal(pool_last_error()->driver_code, failures[i].code);
        assert_string_equal(pool_last_error()->call, "cuInit");
        assert_non_null(strstr(message(), "CUDA 12.4"));
        assert_non_null(strstr(message(), "needed CUDA 11.0"));
        assert_non_null(strstr(message(), driver_code_name(failures[i].code)));
    }
    /* Nothing of a failure is remembered. */
    plain_answers.Init = 0;
    plain_answers.DriverGetVersion = 2;
    assert_int_equal(driver_open(&table, &driver), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    plain_answers.DriverGetVersion = 0;
    plain_version = 13000;
    assert_int_equal(driver_open(&table, &driver), POOL_OK);
    driver_close(&driver);
}

static int fail_now(void *user)
{
    return (*(int *)user)-- == 0;
}

static int quiet_calls;
static void count_call(void *user, const struct driver_fault *fault)
{
    (void)fault;
    ++*(int *)user;
}

static void test_no_memory(void **state)
{
    struct driver *driver = NULL;
    pool_status status = POOL_ERR_INTERNAL;
    int n, countdown;

    (void)state;
    plain_table(&table);
    for (n = 0; status && n < 10; n++) {
        countdown = n;
        base_alloc_set_hook(fail_now, &countdown);
        status = driver_open(&table, &driver);
        if (!status) {
            status = driver_listen(driver, count_call, &quiet_calls);
            if (status)
                driver_close(&driver);
        }
        base_alloc_set_hook(NULL, NULL);
        assert_true(status == POOL_OK || status == POOL_ERR_OUT_OF_HOST_MEMORY);
    }
    assert_int_equal(n, 3); /* two calls that can fail, then success */
    driver_unlisten(driver, count_call, &quiet_calls);
    driver_close(&driver);
}

/* A failure harms the call: nothing is latched, the detail is complete. */
static void test_call_failures(void **state)
{
    struct driver *driver = opened();

    (void)state;
    plain_answers.MemAlloc = 2;
    assert_int_equal(DRIVER_CALL(driver, MemAlloc(NULL, 4096)), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(pool_last_error()->driver_code, 2);
    assert_string_equal(pool_last_error()->driver_name, "CUDA_ERROR_OUT_OF_MEMORY");
    assert_string_equal(pool_last_error()->call, "cuMemAlloc");
    assert_string_equal(
        message(), "cuMemAlloc on device 5 failed: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
    /* A code that is newer than this library, which the driver can name. */
    plain_answers.MemAlloc = 1234;
    assert_int_equal(DRIVER_CALL(driver, MemAlloc(NULL, 1)), POOL_ERR_DRIVER);
    assert_string_equal(pool_last_error()->driver_name, "CUDA_ERROR_OF_TOMORROW");
    assert_non_null(strstr(message(), "something new"));
    plain_answers.GetErrorName = 1;
    assert_int_equal(DRIVER_CALL(driver, MemAlloc(NULL, 1)), POOL_ERR_DRIVER);
    assert_string_equal(pool_last_error()->driver_name, "CUDA_ERROR_?");
    plain_answers.MemAlloc = 4;
    assert_int_equal(DRIVER_CALL(driver, MemAlloc(NULL, 1)), POOL_ERR_SHUTDOWN);
    assert_int_equal(driver_usable(driver), POOL_OK);
    plain_answers.MemAlloc = 0;
    assert_int_equal(DRIVER_CALL(driver, MemAlloc(NULL, 1)), POOL_OK);
    driver_close(&driver);
}

static int counted; /* how often a value of a message was evaluated */

static unsigned long long counted_bytes(void)
{
    counted++;
    return 3;
}

/* The detail has the values that the caller names, and they are evaluated after a failure only. */
static void test_call_values(void **state)
{
    struct driver *driver = opened();
    uint64_t bytes = 2ull << 30;
    pool_status status;
    char name[300];

    (void)state;
    counted = 0;
    plain_answers.MemAlloc = 2;
    assert_int_equal(
        DRIVER_CALL_FOR(driver, MemAlloc(NULL, bytes), "%s", base_size_text(bytes).text),
        POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_string_equal(pool_last_error()->call, "cuMemAlloc(2 GiB)");
    assert_string_equal(message(), "cuMemAlloc(2 GiB) on device 5 failed: CUDA_ERROR_OUT_OF_MEMORY "
                                   "(2): out of memory");
    plain_answers.MemAlloc = 0;
    DRIVER_TRY_FOR(driver, status, failed, MemAlloc(NULL, 1), "%llu", counted_bytes());
    assert_int_equal(counted, 0);
    plain_answers.MemAlloc = 1;
    DRIVER_TRY_FOR(driver, status, failed, MemAlloc(NULL, 1), "%llu", counted_bytes());
    fail();
failed:
    assert_int_equal(counted, 1);
    assert_string_equal(pool_last_error()->call, "cuMemAlloc(3)");
    plain_answers.MemAlloc = 0;
    /* What does not work on a context does not name the device whose context is current. */
    assert_int_equal(
        DRIVER_CHECK_FOR(driver, 101, "cuDeviceGet", "%d", 7), POOL_ERR_DEVICE_UNUSABLE);
    assert_string_equal(pool_last_error()->call, "cuDeviceGet(7)");
    assert_null(strstr(message(), "on device"));
    /* A value that is too long is cut, the parenthesis is there. */
    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(
        DRIVER_CHECK_FOR(driver, 1, "cuModuleGetFunction", "%s", name), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->call, "xxx)"));
    assert_int_equal(strlen(pool_last_error()->call), 127);
    driver_close(&driver);
}

struct notification {
    struct driver *driver;
    int times;
    int code;
    char message[1024];
    int unlisten_self;
};

static void record_fault(void *user, const struct driver_fault *fault)
{
    struct notification *notification = user;

    notification->times++;
    notification->code = fault->code;
    snprintf(notification->message, sizeof(notification->message), "%s", fault->message);
    /* No lock is held: the latch can be queried, listeners can be removed. */
    assert_int_equal(driver_usable(notification->driver), POOL_ERR_PROCESS_POISONED);
    if (notification->unlisten_self)
        driver_unlisten(notification->driver, record_fault, notification);
}

static void test_latch(void **state)
{
    struct driver *driver = opened(), *again = NULL;
    struct notification first = {.driver = driver}, second = {.driver = driver, .unlisten_self = 1},
                        gone = {.driver = driver}, late = {.driver = driver};

    (void)state;
    assert_int_equal(driver_listen(driver, record_fault, &first), POOL_OK);
    assert_int_equal(driver_listen(driver, record_fault, &second), POOL_OK);
    assert_int_equal(driver_listen(driver, record_fault, &gone), POOL_OK);
    driver_unlisten(driver, record_fault, &gone);
    driver_unlisten(driver, record_fault, &late);

    plain_answers.LaunchKernel = 719;
    assert_int_equal(
        driver_check(driver, driver->api.LaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
            "cuLaunchKernel"),
        POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_last_error()->driver_code, 719);
    assert_int_equal(driver->fault.code, 719);
    assert_int_equal(driver->fault.device, 5);
    assert_string_equal(driver->fault.name, "CUDA_ERROR_LAUNCH_FAILED");
    assert_string_equal(driver->fault.call, "cuLaunchKernel");
    assert_true(driver->fault.unix_time > 1000000000);
    assert_non_null(strstr(driver->fault.message, "on device 5"));
    assert_non_null(strstr(message(), driver->fault.message));
    assert_int_equal(first.times, 1);
    assert_int_equal(second.times, 1);
    assert_int_equal(gone.times, 0);
    assert_int_equal(first.code, 719);
    assert_string_equal(first.message, driver->fault.message);

    /* Every later failure has the first cause, whatever its code is; no listener is notified again.
     */
    assert_int_equal(driver_check(driver, 700, "cuMemFree(p)"), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(driver_check(driver, 1, "cuMemFree(p)"), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_last_error()->driver_code, 719);
    assert_string_equal(pool_last_error()->call, "cuMemFree");
    assert_int_equal(driver_usable(driver), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(driver->fault.code, 719);
    assert_int_equal(first.times, 1);
    assert_int_equal(driver_listen(driver, record_fault, &late), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(driver_open(&table, &again), POOL_ERR_PROCESS_POISONED);
    assert_null(again);

    driver_unlisten(driver, record_fault, &first);
    driver_close(&driver);
    driver = opened(); /* a table is not a process: after reopening it is usable */
    driver_close(&driver);
}

static void test_every_process_code(void **state)
{
    static const pool_cu_code codes[] = {
#define IF_PROCESS_CODE(name, code, harms) (pool_cu_code) code,
        POOL_CU_RESULTS(IF_PROCESS_CODE)
#undef IF_PROCESS_CODE
    };

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        pool_cu_result code = (pool_cu_result)codes[i];
        struct driver *driver = opened();
        pool_status status = driver_check(driver, code, "cuTest()");
        int latches = driver_code_class(code) == POOL_CLASS_PROCESS && code != 4;

        assert_int_equal(status, driver_status_of(code));
        assert_int_equal(driver->poisoned, latches);
        assert_int_equal(driver_usable(driver), latches ? POOL_ERR_PROCESS_POISONED : POOL_OK);
        driver_close(&driver);
    }
}

/* The device of the fault is omitted from the message when the driver does not report it any more.
 */
static void test_latch_without_device(void **state)
{
    struct driver *driver = opened();

    (void)state;
    plain_answers.CtxGetDevice = 700;
    assert_int_equal(driver_check(driver, 700, "cuX()"), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(driver->fault.device, -1);
    assert_null(strstr(driver->fault.message, "on device"));
    driver_close(&driver);
}

static void test_probe(void **state)
{
    static const struct {
        pool_cu_result probe;
        int latched; /* the code, 0: none */
    } cases[] = {{0, 0}, {201, 0}, {2, 0}, {3, 0}, {999, 999}, {700, 700}, {719, 719}, {4, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct driver *driver = opened();

        plain_answers.MemGetInfo = cases[i].probe;
        assert_int_equal(driver_check(driver, 999, "cuX()"),
            cases[i].latched ? POOL_ERR_PROCESS_POISONED : POOL_ERR_DRIVER);
        assert_int_equal(plain_calls.MemGetInfo, 1);
        assert_int_equal(driver->poisoned, cases[i].latched != 0);
        assert_int_equal(driver->fault.code, cases[i].latched);
        /* Only 999 is probed. */
        assert_int_equal(driver_check(driver, 1, "cuX()"),
            cases[i].latched ? POOL_ERR_PROCESS_POISONED : POOL_ERR_INVALID_ARGUMENT);
        assert_int_equal(plain_calls.MemGetInfo, 1);
        driver_close(&driver);
    }
}

/* Runs in the child: 0, or the number of the check that failed. */
static int child_checks(struct driver *driver, unsigned generation)
{
    struct driver *again = NULL;
    unsigned calls = plain_calls.MemAlloc + plain_calls.Init;

    if (driver_fork_generation() != generation + 1)
        return 1;
    if (driver_usable(driver) != POOL_ERR_FORKED)
        return 2;
    if (driver_open(&table, &again) != POOL_ERR_FORKED || again)
        return 3;
    if (driver_check(driver, 3, "cuX()") != POOL_ERR_FORKED)
        return 4;
    if (driver_check(driver, 719, "cuX()") != POOL_ERR_FORKED || driver->poisoned)
        return 5;
    if (plain_calls.MemAlloc + plain_calls.Init != calls)
        return 6;
    driver_unlisten(driver, count_call, &quiet_calls);
    driver_close(&driver);
    /* The parent's driver is gone here: a driver of the child's own may be opened. */
    if (driver_open(&table, &again) || driver_usable(again))
        return 7;
    driver_close(&again);
    return 0;
}

static void test_fork(void **state)
{
    struct driver *driver = opened();
    unsigned generation = driver_fork_generation();
    int status = -1;
    pid_t child;

    (void)state;
    assert_int_equal(driver_listen(driver, count_call, &quiet_calls), POOL_OK);
    child = fork();
    if (child == 0)
        _exit(child_checks(driver, generation));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(driver_fork_generation(), generation);
    assert_int_equal(driver_usable(driver), POOL_OK);
    driver_unlisten(driver, count_call, &quiet_calls);
    driver_close(&driver);
}

/* A child made past the fork handlers: its first failing call, or driver_open, notices it. */
static void test_bare_fork(void **state)
{
    struct driver *driver = opened(), *again = NULL;
    int status = -1;
    pid_t child;

    (void)state;
    child = (pid_t)syscall(SYS_fork);
    if (child == 0) {
        if (driver_check(driver, 3, "cuX()") != POOL_ERR_FORKED)
            _exit(1);
        if (driver_usable(driver) != POOL_ERR_FORKED)
            _exit(2);
        _exit(driver_open(&table, &again) == POOL_ERR_FORKED ? 0 : 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(driver_usable(driver), POOL_OK);
    driver_close(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_shared),
        cmocka_unit_test(test_table_sizes),
        cmocka_unit_test(test_missing_entries),
        cmocka_unit_test(test_init_failures),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_call_failures),
        cmocka_unit_test(test_call_values),
        cmocka_unit_test(test_latch),
        cmocka_unit_test(test_every_process_code),
        cmocka_unit_test(test_latch_without_device),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_bare_fork),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
