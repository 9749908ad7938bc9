/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver/nvrtc.c with compilers that have one defect each, and the names and statuses of results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <devicepool/log.h>

#include "driver/nvrtc.h"
#include "support/child.h"

#define FAKE(name) FAKE_DIRECTORY "/libnvrtc_" name ".so"

static char directory[] = "/tmp/devicepool-nvrtc-XXXXXX";

static const char *message(void)
{
    return pool_last_error()->message;
}

static void refuse(const char *library, const char *first, const char *second)
{
    const struct nvrtc *nvrtc = NULL;

    setenv("DEVICEPOOL_NVRTC", library, 1);
    assert_int_equal(driver_nvrtc_open(&nvrtc), POOL_ERR_NO_COMPILER);
    assert_null(nvrtc);
    if (!strstr(message(), first) || !strstr(message(), second))
        print_error("message: %s\n", message());
    assert_non_null(strstr(message(), "DEVICEPOOL_NVRTC names"));
    assert_non_null(strstr(message(), library));
    assert_non_null(strstr(message(), first));
    assert_non_null(strstr(message(), second));
}

static void test_unusable(void **state)
{
    const struct nvrtc *nvrtc = NULL;
    char path[128];
    FILE *file;

    (void)state;
    setenv("DEVICEPOOL_NVRTC", "off", 1);
    assert_int_equal(driver_nvrtc_open(&nvrtc), POOL_ERR_NO_COMPILER);
    assert_string_equal(message(), "DEVICEPOOL_NVRTC=off disables NVRTC");
    refuse("/nowhere/libnvrtc.so.13", "there is no such library", "cannot be used");
    refuse(FAKE("old"), "is NVRTC 11.8;", "at least 12.4 is needed");
    refuse(FAKE("no_needed"), "NVRTC 12.3 and lacks nvrtcGetLoweredName", "is needed");
    refuse(FAKE("mute"), "does not report its version", "libnvrtc_mute.so");
    snprintf(path, sizeof(path), "%s/libnvrtc.so.13", directory);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("This text is longer than the header of an ELF file, but it is no ELF file.", file);
    fclose(file);
    refuse(path, "could not be loaded", "ELF");
    unlink(path);
}

static char found_text[1024];
static const struct nvrtc *found_inside;

/* The library is found, and its lock released, before it is logged. */
static void keep_text(void *user, const pool_log_record *record)
{
    (void)user;
    if (record->level != POOL_LOG_INFO || !strstr(record->message, "NVRTC 13.1 from"))
        return;
    driver_nvrtc_open(&found_inside);
    snprintf(found_text, sizeof(found_text), "%s", record->message);
}

static int open_good(void *argument)
{
    const struct nvrtc *nvrtc = NULL, *again = NULL;

    (void)argument;
    pool_log_set(keep_text, NULL, POOL_LOG_DEBUG);
    setenv("DEVICEPOOL_NVRTC", FAKE("old"), 1);
    CHILD_CHECK(driver_nvrtc_open(&nvrtc) == POOL_ERR_NO_COMPILER);
    setenv("DEVICEPOOL_NVRTC", FAKE("good"), 1);
    CHILD_CHECK(driver_nvrtc_open(&nvrtc) == POOL_OK);
    CHILD_CHECK(found_inside == nvrtc);
    CHILD_CHECK(nvrtc->version == 13010);
    CHILD_CHECK(strcmp(nvrtc->path, FAKE("good")) == 0);
    CHILD_CHECK(nvrtc->api.SetFlowCallback == NULL && nvrtc->api.GetCUBIN != NULL);
    CHILD_CHECK(nvrtc->builtins[0] == '\0' && strstr(nvrtc->builtins_problem, "No such file"));
    CHILD_CHECK(strstr(found_text, FAKE("good")) && strstr(found_text, "No such file"));
    /* Loaded once: later settings do not matter. */
    setenv("DEVICEPOOL_NVRTC", "/nowhere", 1);
    CHILD_CHECK(driver_nvrtc_open(&again) == POOL_OK && again == nvrtc);

    CHILD_CHECK(driver_nvrtc_check(nvrtc, 0, "nvrtcX()") == POOL_OK);
    CHILD_CHECK(driver_nvrtc_check(nvrtc, 7, "nvrtcX()") == POOL_ERR_NO_COMPILER);
    CHILD_CHECK(strstr(message(), FAKE_DIRECTORY "/libnvrtc-builtins.so.13.1") != NULL);
    CHILD_CHECK(driver_nvrtc_check(nvrtc, 1, "nvrtcX()") == POOL_ERR_OUT_OF_HOST_MEMORY);
    CHILD_CHECK(driver_nvrtc_check(nvrtc, 5, "nvrtcX()") == POOL_ERR_INVALID_ARGUMENT);
    CHILD_CHECK(driver_nvrtc_check(nvrtc, 6, "nvrtcX()") == POOL_ERR_COMPILE);
    CHILD_CHECK(driver_nvrtc_check(nvrtc, 10, "nvrtcX()") == POOL_ERR_NOT_FOUND);
    CHILD_CHECK(driver_nvrtc_check(nvrtc, 16, "nvrtcX()") == POOL_ERR_CANCELLED);
    CHILD_CHECK(driver_nvrtc_check(nvrtc, 99, "nvrtcX()") == POOL_ERR_COMPILE);
    CHILD_CHECK(strstr(message(), "nvrtcX() failed: NVRTC_ERROR_? (99) in NVRTC 13.1") != NULL);
    return 0;
}

static void test_good(void **state)
{
    (void)state;
    assert_int_equal(child_run(open_good, NULL), 0);
}

/* The directory that CUDA_HOME names is used where the library path has no NVRTC. */
static int open_at_home(void *argument)
{
    const struct nvrtc *nvrtc = NULL;
    void *usual = NULL;
    static const char *const names[] = {
        "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};

    (void)argument;
    for (size_t i = 0; i < 4 && !usual; i++)
        usual = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    unsetenv("DEVICEPOOL_NVRTC");
    unsetenv("CUDA_PATH");
    setenv("CUDA_HOME", directory, 1);
    CHILD_CHECK(driver_nvrtc_open(&nvrtc) == POOL_OK);
    CHILD_CHECK(usual || strstr(nvrtc->path, FAKE("good")));
    return 0;
}

static void test_toolkit_directory(void **state)
{
    char lib[64], file[128];

    (void)state;
    snprintf(lib, sizeof(lib), "%s/lib64", directory);
    snprintf(file, sizeof(file), "%s/libnvrtc.so.12", lib);
    assert_int_equal(mkdir(lib, 0700), 0);
    assert_int_equal(symlink(FAKE("good"), file), 0);
    assert_int_equal(child_run(open_at_home, NULL), 0);
    unlink(file);
    rmdir(lib);
}

static void test_result_names(void **state)
{
    (void)state;
#define SAME(name, code) assert_string_equal(driver_nvrtc_result_name(code), "NVRTC_" #name);
    NVRTC_RESULTS(SAME)
#undef SAME
    assert_string_equal(driver_nvrtc_result_name(4711), "NVRTC_ERROR_?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unusable),
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_toolkit_directory),
        cmocka_unit_test(test_result_names),
    };
    int failed;

    if (!mkdtemp(directory))
        return 99;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
