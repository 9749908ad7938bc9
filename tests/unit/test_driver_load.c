/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver/load.c and open.c with libraries that have one defect each. Loads that succeed run in
 * child processes, because a loaded driver stays.
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

#include "driver/internal.h"
#include "support/child.h"
#include "unit/fake/libcuda.h"

#define FAKE(name) FAKE_DIRECTORY "/libcuda_" name ".so"

static char directory[] = "/tmp/devicepool-load-XXXXXX";

static const char *message(void)
{
    return pool_last_error()->message;
}

static void use(const char *library, const char *init, const char *version)
{
    setenv("DEVICEPOOL_LIBCUDA", library, 1);
    if (init)
        setenv("FAKE_INIT", init, 1);
    else
        unsetenv("FAKE_INIT");
    if (version)
        setenv("FAKE_VERSION", version, 1);
    else
        unsetenv("FAKE_VERSION");
}

static void refuse(pool_status expected, const char *first, const char *second, const char *third)
{
    struct driver *driver = NULL;

    assert_int_equal(driver_open(NULL, &driver), expected);
    assert_null(driver);
    assert_int_equal(pool_last_error()->status, expected);
    if (!strstr(message(), first) || !strstr(message(), second) || !strstr(message(), third))
        print_error("message: %s\n", message());
    assert_non_null(strstr(message(), first));
    assert_non_null(strstr(message(), second));
    assert_non_null(strstr(message(), third));
}

static void test_no_library(void **state)
{
    (void)state;
    use("/nowhere/libcuda.so.1", NULL, NULL);
    refuse(POOL_ERR_NO_DRIVER, "/nowhere/libcuda.so.1 was not found", "install", "No such file");
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void test_not_a_library(void **state)
{
    char path[128];

    (void)state;
    snprintf(path, sizeof(path), "%s/libcuda.so.1", directory);
    write_file(path, "This text is longer than the header of an ELF file, but it is no ELF file.");
    use(path, NULL, NULL);
    refuse(POOL_ERR_NO_DRIVER, "could not be loaded", path, "ELF");
    write_file(path, "");
    refuse(POOL_ERR_NO_DRIVER, "could not be loaded", path, "too short");
    unlink(path);
}

/* The symbol, its version, the driver's version, the needed one and the path are in the text. */
static void test_missing_needed(void **state)
{
    (void)state;
    use(FAKE("no_needed"), NULL, "9020");
    refuse(POOL_ERR_DRIVER_TOO_OLD, "cuMemAlloc_v2 (CUDA 3.2)", "for CUDA 9.2",
        "at least CUDA 11.0 is needed");
    assert_non_null(strstr(message(), FAKE("no_needed")));
    use(FAKE("no_needed_export"), NULL, "8000");
    refuse(POOL_ERR_DRIVER_TOO_OLD, "cuCtxPushCurrent_v2 (CUDA 4.0)", "for CUDA 8.0",
        FAKE("no_needed_export"));
}

static void copy_file(const char *from, const char *to)
{
    char buffer[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t count;

    assert_non_null(in);
    assert_non_null(out);
    while ((count = fread(buffer, 1, sizeof(buffer), in)) > 0)
        assert_int_equal(fwrite(buffer, 1, count, out), count);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void test_stub(void **state)
{
    char stubs[64], path[128];

    (void)state;
    use(FAKE("good"), "34", NULL);
    refuse(POOL_ERR_NO_DRIVER, "stub library", FAKE("good"), "libcuda.so.1");
    /* It was unloaded, so that the real one can be loaded. */
    assert_null(dlopen(FAKE("good"), RTLD_NOW | RTLD_NOLOAD));
    use(FAKE("good"), "100", NULL);
    refuse(POOL_ERR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE (100)", FAKE("good"), "CUDA_VISIBLE_DEVICES");

    snprintf(stubs, sizeof(stubs), "%s/stubs", directory);
    snprintf(path, sizeof(path), "%s/libcuda.so.1", stubs);
    assert_int_equal(mkdir(stubs, 0700), 0);
    copy_file(FAKE("good"), path);
    use(path, NULL, NULL);
    refuse(POOL_ERR_NO_DRIVER, "stub library", path, "LD_LIBRARY_PATH");
    unlink(path);
    rmdir(stubs);
}

/* The toolkit's own stub, where a toolkit is installed. */
static void test_toolkit_stub(void **state)
{
    static const char *const paths[] = {
        "/usr/local/cuda/lib64/stubs/libcuda.so", "/usr/local/cuda/lib/stubs/libcuda.so"};
    char path[128];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        if (access(paths[i], R_OK) != 0)
            continue;
        use(paths[i], NULL, NULL);
        refuse(POOL_ERR_NO_DRIVER, "stub library", "/stubs/libcuda.so", "install");
        /* Not in a directory of that name cuInit's result still shows it. */
        snprintf(path, sizeof(path), "%s/libcuda.so.1", directory);
        copy_file(paths[i], path);
        use(path, NULL, NULL);
        refuse(POOL_ERR_NO_DRIVER, "stub library", path, "install");
        unlink(path);
    }
}

static void test_init_failures(void **state)
{
    static const struct {
        const char *code;
        pool_status status;
        const char *text;
    } cases[] = {{"100", POOL_ERR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE (100)"},
        {"999", POOL_ERR_NO_DRIVER, "CUDA_ERROR_UNKNOWN (999)"},
        {"803", POOL_ERR_NO_DRIVER, "different versions"},
        {"804", POOL_ERR_NO_DRIVER, "cuda-compat"}, {"802", POOL_ERR_NO_DEVICE, "fabric manager"},
        {"805", POOL_ERR_NO_DEVICE, "MPS"}, {"3", POOL_ERR_FORKED, "CUDA_ERROR_NOT_INITIALIZED"},
        {"4", POOL_ERR_SHUTDOWN, "CUDA_ERROR_DEINITIALIZED"},
        {"214", POOL_ERR_PROCESS_POISONED, "ECC"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        use(FAKE("good"), cases[i].code, "12080");
        setenv("CUDA_VISIBLE_DEVICES", cases[i].code, 1); /* something has changed */
        refuse(cases[i].status, cases[i].text, FAKE("good"),
            "driver for CUDA 12.8, needed CUDA 11.0, kernel module");
        assert_int_equal(pool_last_error()->driver_code, atoi(cases[i].code));
        assert_string_equal(pool_last_error()->call, "cuInit");
    }
    unsetenv("CUDA_VISIBLE_DEVICES");
}

static unsigned *init_calls(void)
{
    return dlsym(dlopen(FAKE("good"), RTLD_NOW | RTLD_LOCAL), "fake_init_calls");
}

static int open_again(void *argument)
{
    struct driver *driver = NULL;
    unsigned before = *init_calls();

    (void)argument;
    /* The failure of the parent process is that of its children. */
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_ERR_NO_DEVICE && *init_calls() == before);
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_ERR_DRIVER && *init_calls() == before + 1);
    CHILD_CHECK(strstr(message(), "CUDA_ERROR_OPERATING_SYSTEM (304): a call of the operating"));
    CHILD_CHECK(strstr(message(), "cuInit had failed in the parent process"));
    return 0;
}

/* A driver may leave descriptors behind at every cuInit: it is called again for a reason only. */
static void test_init_again(void **state)
{
    struct driver *driver = NULL;
    unsigned *calls = init_calls(), before = *calls;

    (void)state;
    use(FAKE("good"), "100", "12040");
    setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    refuse(POOL_ERR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE (100)", FAKE("good"), "kernel module");
    assert_int_equal(*calls, before + 1);
    for (int i = 0; i < 300; i++)
        assert_int_equal(driver_open(NULL, &driver), POOL_ERR_NO_DEVICE);
    assert_int_equal(*calls, before + 1);
    refuse(POOL_ERR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE (100)", FAKE("good"),
        "cuInit is not called again before something changes");
    setenv("FAKE_FORK", "1", 1);
    assert_int_equal(child_run(open_again, NULL), 0);
    unsetenv("FAKE_FORK");

    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    refuse(POOL_ERR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE (100)", FAKE("good"), "kernel module");
    assert_int_equal(*calls, before + 2);

    /* The fabric manager starts without a trace on the host. */
    use(FAKE("good"), "802", "12040");
    setenv("CUDA_VISIBLE_DEVICES", "2", 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(driver_open(NULL, &driver), POOL_ERR_NO_DEVICE);
    assert_int_equal(*calls, before + 5);
    unsetenv("CUDA_VISIBLE_DEVICES");
}

/* How the functions of a library were resolved, by their results; `extra`: it has them all. */
struct way {
    const char *library;
    pool_cu_result answer;
    int has_all;
};

static int load_it(void *argument)
{
    const struct way *way = argument;
    struct driver *driver = NULL, *again = NULL;
    CUcontext context = NULL;

    use(way->library, NULL, "12040");
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_OK);
    CHILD_CHECK(driver->version == 12040);
    CHILD_CHECK(strcmp(driver->path, way->library) == 0);
    CHILD_CHECK(driver->api.struct_size == sizeof(pool_cuda_api) && driver->api.flags == 0);
    CHILD_CHECK(driver->api.CtxSynchronize() == way->answer);
    CHILD_CHECK(driver->api.CtxCreate(&context, 0, 0) == way->answer);
    CHILD_CHECK(driver->api.DeviceGetUuid(NULL, 0) == way->answer);
    CHILD_CHECK(driver->api.DeviceGetUuidV2(NULL, 0) == way->answer);
    CHILD_CHECK(driver->api.DevicePrimaryCtxRelease(0) == way->answer);
    CHILD_CHECK(driver->api.EventElapsedTime(NULL, NULL, NULL) == way->answer);
    CHILD_CHECK(driver->api.FuncGetParamInfo(NULL, 0, NULL, NULL) == way->answer);
    CHILD_CHECK((driver->api.MemPoolCreate != NULL) == way->has_all);
    CHILD_CHECK(driver_open(NULL, &again) == POOL_OK && again == driver);
    driver_close(&again);
    driver_close(&driver);
    return 0;
}

static void test_ways(void **state)
{
    static const struct way ways[] = {{FAKE("good"), FAKE_BY_VERSION, 1},
        {FAKE("v1"), FAKE_BY_VERSION, 1}, {FAKE("exports"), FAKE_BY_EXPORT, 1},
        {FAKE("no_extra"), FAKE_BY_VERSION, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        assert_int_equal(child_run(load_it, (void *)(uintptr_t)&ways[i]), 0);
}

/* Every entry has a different function, and none is the one for a wrong version. */
static int compare_entries(void *argument)
{
    struct driver *driver = NULL;
    void *one, *other;

    (void)argument;
    use(FAKE("good"), NULL, NULL);
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_OK);
    for (size_t i = 0; i < driver_symbol_count; i++) {
        memcpy(&one, (char *)&driver->api + driver_symbols[i].offset, sizeof(one));
        CHILD_CHECK(one != NULL);
        for (size_t k = 0; k < i; k++) {
            memcpy(&other, (char *)&driver->api + driver_symbols[k].offset, sizeof(other));
            CHILD_CHECK(one != other);
        }
    }
    return 0;
}

static void test_entries(void **state)
{
    (void)state;
    assert_int_equal(child_run(compare_entries, NULL), 0);
}

/* Failures are not remembered; a loaded driver stays, with its latch. */
static int try_again(void *argument)
{
    struct driver *driver = NULL, *kept;

    (void)argument;
    use("/nowhere/libcuda.so.1", NULL, NULL);
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_ERR_NO_DRIVER);
    use(FAKE("no_needed"), NULL, NULL);
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_ERR_DRIVER_TOO_OLD);
    use(FAKE("good"), "999", NULL);
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_ERR_NO_DRIVER);
    use(FAKE("good"), NULL, NULL);
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_OK);
    kept = driver;
    driver_close(&driver);
    use("/nowhere/libcuda.so.1", "999", NULL);
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_OK && driver == kept);
    CHILD_CHECK(driver_check(driver, 719, "cuX()") == POOL_ERR_PROCESS_POISONED);
    driver_close(&driver);
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_ERR_PROCESS_POISONED && !driver);
    CHILD_CHECK(strstr(message(), "cuX failed") != NULL);
    return 0;
}

static void test_retry(void **state)
{
    (void)state;
    assert_int_equal(child_run(try_again, NULL), 0);
}

static int open_in_grandchild(void *argument)
{
    struct driver *driver = NULL;

    (void)argument;
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_ERR_FORKED && !driver);
    return 0;
}

/* The library cannot be used in a child of a process that had it, even if it was closed there. */
static int open_and_fork(void *argument)
{
    struct driver *driver = NULL;

    (void)argument;
    use(FAKE("good"), NULL, NULL);
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_OK);
    CHILD_CHECK(child_run(open_in_grandchild, NULL) == 0);
    driver_close(&driver);
    CHILD_CHECK(child_run(open_in_grandchild, NULL) == 0);
    CHILD_CHECK(driver_open(NULL, &driver) == POOL_OK);
    return 0;
}

static void test_fork(void **state)
{
    (void)state;
    assert_int_equal(child_run(open_and_fork, NULL), 0);
}

/* Not set and set to nothing both mean the usual name. */
static int open_usual(void *argument)
{
    struct driver *driver = NULL;
    pool_status status;

    (void)argument;
    status = driver_open(NULL, &driver);
    if (status == POOL_OK)
        return strstr(driver->path, "libcuda.so") && !strstr(driver->path, FAKE_DIRECTORY) ? 0 : 2;
    CHILD_CHECK(pool_status_class(status) == POOL_CLASS_HOST);
    CHILD_CHECK(strstr(message(), "libcuda.so.1") != NULL || strstr(message(), "cuInit") != NULL);
    return 0;
}

static void test_usual_name(void **state)
{
    (void)state;
    use("", NULL, NULL);
    assert_int_equal(child_run(open_usual, NULL), 0);
    unsetenv("DEVICEPOOL_LIBCUDA");
    assert_int_equal(child_run(open_usual, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_not_a_library),
        cmocka_unit_test(test_missing_needed),
        cmocka_unit_test(test_stub),
        cmocka_unit_test(test_toolkit_stub),
        cmocka_unit_test(test_init_failures),
        cmocka_unit_test(test_init_again),
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_retry),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_usual_name),
    };
    int failed;

    if (!mkdtemp(directory))
        return 99;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
