/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver/ on the real driver: every function there, our names are the driver's, faults in a child
 * process poison that process and nothing else, a forked child is refused. Exit code 77 without a
 * usable driver and device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/attributes.h"
#include "driver/internal.h"
#include "support/child.h"

#define SKIPPED 77

static const char faulty_ptx[] = ".version 7.0\n"
                                 ".target sm_75\n"
                                 ".address_size 64\n"
                                 ".visible .entry trap_now() { trap; ret; }\n"
                                 ".visible .entry write_wild() {\n"
                                 "    .reg .b64 %a;\n"
                                 "    mov.u64 %a, 0x10;\n"
                                 "    st.global.u32 [%a], 1;\n"
                                 "    ret;\n"
                                 "}\n"
                                 ".visible .entry do_nothing() { ret; }\n";

static struct driver *driver;

/* The primary context of a device, made current. */
static pool_status enter(struct driver *on, int ordinal, CUdevice *device, CUcontext *context)
{
    pool_status status = DRIVER_CALL(on, DeviceGet(device, ordinal));

    if (!status)
        status = DRIVER_CALL(on, DevicePrimaryCtxRetain(context, *device));
    if (!status)
        status = DRIVER_CALL(on, CtxPushCurrent(*context));
    return status;
}

static void leave(CUdevice device)
{
    CUcontext popped;

    assert_int_equal(DRIVER_CALL(driver, CtxPopCurrent(&popped)), POOL_OK);
    assert_int_equal(DRIVER_CALL(driver, DevicePrimaryCtxRelease(device)), POOL_OK);
}

static pool_status launch(struct driver *on, const char *name)
{
    CUmodule module;
    CUfunction function;
    pool_status status = DRIVER_CALL(on, ModuleLoadData(&module, faulty_ptx));

    if (!status)
        status = DRIVER_CALL(on, ModuleGetFunction(&function, module, name));
    if (!status)
        status = DRIVER_CALL(on, LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    return status ? status : DRIVER_CALL(on, CtxSynchronize());
}

static void test_functions(void **state)
{
    size_t absent = 0;

    (void)state;
    for (size_t i = 0; i < driver_symbol_count; i++) {
        const struct driver_symbol *symbol = &driver_symbols[i];
        void *function;

        memcpy(&function, (char *)&driver->api + symbol->offset, sizeof(function));
        if (!function && symbol->version <= driver->version)
            print_error("absent: %s%s\n", symbol->name, symbol->suffix);
        absent += !function && symbol->version <= driver->version;
    }
    assert_int_equal(absent, 0);
    assert_true(driver->version >= driver_needed_version());
    print_message("%s, CUDA %d.%d, %zu functions\n", driver->path, driver->version / 1000,
        driver->version % 1000 / 10, driver_symbol_count);
}

/* The library's list of codes against the driver's: each code of the library that the driver has,
 * and each of the driver's codes. */
static void test_names(void **state)
{
    size_t known = 0, unlisted = 0;
    const char *name;

    (void)state;
    for (pool_cu_result code = 0; code < 1100; code++) {
        if (driver->api.GetErrorName(code, &name) != POOL_CU_SUCCESS || !name)
            continue;
        known++;
        if (strchr(driver_code_name(code), '?')) {
            print_message("not in our list: %s (%u)\n", name, code);
            unlisted++;
        } else {
            assert_string_equal(driver_code_name(code), name);
        }
    }
    assert_true(known > 80);
    if (driver->version <= 13000)
        assert_int_equal(unlisted, 0);
}

/* Functions of several versions do what their C types here say. */
static void test_calls(void **state)
{
    char name[128] = "", text[64] = "";
    CUdevice device, by_text = -1, current = -1;
    CUcontext context = NULL, own = NULL, popped = NULL;
    size_t free_bytes = 0, total_bytes = 0;
    unsigned int flags = 99;
    int count = 0, active = -1, warp = 0;
    CUdeviceptr address = 0;

    (void)state;
    assert_int_equal(DRIVER_CALL(driver, DeviceGetCount(&count)), POOL_OK);
    assert_true(count >= 1);
    assert_int_equal(enter(driver, 0, &device, &context), POOL_OK);
    assert_int_equal(DRIVER_CALL(driver, DeviceGetName(name, sizeof(name), device)), POOL_OK);
    assert_true(strlen(name) > 3);
    assert_int_equal(DRIVER_CALL(driver, DeviceGetPCIBusId(text, sizeof(text), device)), POOL_OK);
    assert_int_equal(DRIVER_CALL(driver, DeviceGetByPCIBusId(&by_text, text)), POOL_OK);
    assert_int_equal(by_text, device);
    assert_int_equal(
        DRIVER_CALL(driver, DeviceGetAttribute(&warp, POOL_CU_ATTRIBUTE_WARP_SIZE, device)),
        POOL_OK);
    assert_int_equal(warp, 32);
    assert_int_equal(
        DRIVER_CALL(driver, DevicePrimaryCtxGetState(device, &flags, &active)), POOL_OK);
    assert_int_equal(active, 1);
    assert_int_equal(DRIVER_CALL(driver, MemGetInfo(&free_bytes, &total_bytes)), POOL_OK);
    assert_true(free_bytes > 0 && free_bytes <= total_bytes);
    print_message(
        "%s at %s: %zu of %zu MiB free\n", name, text, free_bytes >> 20, total_bytes >> 20);
    assert_int_equal(
        DRIVER_CALL(driver, MemAlloc(&address, total_bytes * 2)), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_string_equal(pool_last_error()->driver_name, "CUDA_ERROR_OUT_OF_MEMORY");
    assert_int_equal(launch(driver, "do_nothing"), POOL_OK);
    assert_int_equal(
        DRIVER_CALL(driver, ModuleLoadData((CUmodule[1]){NULL}, ".version 7.0\nnonsense\n")),
        POOL_ERR_BAD_IMAGE);

    /* Contexts of the pool have flags and the requested API version. */
    assert_int_equal(
        DRIVER_CALL(driver, CtxCreate(&own, DRIVER_CTX_SCHED_BLOCKING_SYNC, device)), POOL_OK);
    assert_int_equal(DRIVER_CALL(driver, CtxGetDevice(&current)), POOL_OK);
    assert_int_equal(current, device);
    assert_int_equal(DRIVER_CALL(driver, CtxPopCurrent(&popped)), POOL_OK);
    assert_ptr_equal(popped, own);
    assert_int_equal(DRIVER_CALL(driver, CtxDestroy(own)), POOL_OK);
    leave(device);
}

/* UNKNOWN from a healthy context harms the call only. */
static void test_probe_healthy(void **state)
{
    CUdevice device;
    CUcontext context;

    (void)state;
    assert_int_equal(driver_check(driver, POOL_CU_UNKNOWN, "cuX()"), POOL_ERR_DRIVER);
    assert_int_equal(enter(driver, 0, &device, &context), POOL_OK);
    assert_int_equal(driver_check(driver, POOL_CU_UNKNOWN, "cuX()"), POOL_ERR_DRIVER);
    assert_int_equal(driver_usable(driver), POOL_OK);
    leave(device);
}

static void count_fault(void *user, const struct driver_fault *fault)
{
    (void)fault;
    ++*(int *)user;
}

/* Runs in a separate process, which it poisons. 0 or 1. */
static int poison(const char *kernel)
{
    struct driver *mine = NULL, *again = NULL;
    size_t free_bytes, total_bytes;
    CUdevice device;
    CUcontext context, other;
    CUdeviceptr address = 0;
    CUstream stream;
    int notified = 0, count = 0;

    CHILD_CHECK(driver_open(NULL, &mine) == POOL_OK);
    CHILD_CHECK(driver_listen(mine, count_fault, &notified) == POOL_OK);
    CHILD_CHECK(enter(mine, 0, &device, &context) == POOL_OK);
    CHILD_CHECK(DRIVER_CALL(mine, MemAlloc(&address, 4096)) == POOL_OK);
    CHILD_CHECK(launch(mine, kernel) == POOL_ERR_PROCESS_POISONED);
    printf("%s: %s\n", kernel, pool_last_error()->message);
    if (strcmp(kernel, "trap_now") == 0)
        CHILD_CHECK(mine->fault.code == 719 || mine->fault.code == 715);
    else
        CHILD_CHECK(mine->fault.code == 700);
    CHILD_CHECK(mine->fault.device == device || mine->fault.device == -1);
    CHILD_CHECK(notified == 1);

    /* Every later call, on every device, with the first cause. */
    CHILD_CHECK(driver_usable(mine) == POOL_ERR_PROCESS_POISONED);
    CHILD_CHECK(DRIVER_CALL(mine, MemAlloc(&address, 4096)) == POOL_ERR_PROCESS_POISONED);
    CHILD_CHECK(DRIVER_CALL(mine, MemFree(address)) == POOL_ERR_PROCESS_POISONED);
    CHILD_CHECK(
        DRIVER_CALL(mine, StreamCreateWithPriority(&stream, 0, 0)) == POOL_ERR_PROCESS_POISONED);
    CHILD_CHECK(DRIVER_CALL(mine, CtxSynchronize()) == POOL_ERR_PROCESS_POISONED);
    CHILD_CHECK(pool_last_error()->driver_code == mine->fault.code);
    /* What the probe of UNKNOWN rests on: a poisoned context refuses it. */
    CHILD_CHECK(mine->api.MemGetInfo(&free_bytes, &total_bytes) != POOL_CU_SUCCESS);
    if (mine->api.DeviceGetCount(&count) == POOL_CU_SUCCESS)
        for (int i = 1; i < count; i++)
            CHILD_CHECK(DRIVER_CALL(mine, CtxCreate(&other, 0, i)) == POOL_ERR_PROCESS_POISONED);
    CHILD_CHECK(notified == 1);
    driver_unlisten(mine, count_fault, &notified);
    driver_close(&mine);
    CHILD_CHECK(driver_open(NULL, &again) == POOL_ERR_PROCESS_POISONED && !again);
    return 0;
}

static int run_self(void *kernel)
{
    execl("/proc/self/exe", "test_gpu_driver", "--poison", (const char *)kernel, (char *)NULL);
    return 99;
}

static void test_poison(void **state)
{
    static char *const kernels[] = {"trap_now", "write_wild"};
    CUdevice device;
    CUcontext context;

    (void)state;
    assert_int_equal(enter(driver, 0, &device, &context), POOL_OK);
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        assert_int_equal(child_run(run_self, kernels[i]), 0);
        /* This process, with a context on the same device, is not harmed. */
        assert_int_equal(launch(driver, "do_nothing"), POOL_OK);
        assert_int_equal(driver_usable(driver), POOL_OK);
    }
    leave(device);
}

static int use_in_child(void *argument)
{
    struct driver *again = NULL;
    int count = 0;

    (void)argument;
    CHILD_CHECK(driver_usable(driver) == POOL_ERR_FORKED);
    CHILD_CHECK(driver_open(NULL, &again) == POOL_ERR_FORKED && !again);
    CHILD_CHECK(DRIVER_CALL(driver, CtxSynchronize()) == POOL_ERR_FORKED);
    CHILD_CHECK(driver->api.DeviceGetCount(&count) == POOL_CU_NOT_INITIALIZED);
    return 0;
}

static void test_fork(void **state)
{
    CUdevice device;
    CUcontext context;

    (void)state;
    assert_int_equal(enter(driver, 0, &device, &context), POOL_OK);
    assert_int_equal(child_run(use_in_child, NULL), 0);
    assert_int_equal(launch(driver, "do_nothing"), POOL_OK);
    leave(device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_probe_healthy),
        cmocka_unit_test(test_poison),
        cmocka_unit_test(test_fork),
    };
    int failed;

    if (argc > 2 && strcmp(argv[1], "--poison") == 0)
        return poison(argv[2]);
    if (driver_open(NULL, &driver) != POOL_OK) {
        printf("skipped: %s\n", pool_last_error()->message);
        return SKIPPED;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    driver_close(&driver);
    return failed;
}
