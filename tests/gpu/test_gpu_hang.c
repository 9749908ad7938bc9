/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Next to a kernel that does not end, on a real device: pinned memory and modules that are idle are
 * destroyed without waiting for it, and are returned to the driver afterwards. Exit code 77 without
 * a device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include <devicepool.h>

#include "base/clock.h"

#define BYTES (1u << 20)
#define SECOND 1000000000u

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry nothing()\n{\n\tret;\n}\n"
                          ".visible .entry spin(.param .u64 flag)\n{\n"
                          "\t.reg .u64 %a;\n\t.reg .u32 %v;\n\t.reg .pred %p;\n"
                          "\tld.param.u64 %a, [flag];\n"
                          "again:\n\tld.volatile.global.u32 %v, [%a];\n"
                          "\tsetp.eq.u32 %p, %v, 0;\n\t@%p bra again;\n\tret;\n}\n";

static device_pool *pool;

static void assert_ok(pool_status status)
{
    if (status)
        fail_msg("%s: %s", pool_status_name(status), pool_last_error()->message);
}

static pool_kernel *load(pool_device *device, const char *name, pool_module **module)
{
    pool_kernel *kernel = NULL;

    assert_ok(pool_module_load(device, ptx, strlen(ptx), module));
    assert_ok(pool_kernel_get(*module, name, &kernel));
    return kernel;
}

static void test_spinning_kernel(void **state)
{
    pool_device *device = NULL;
    pool_module *spinning = NULL, *idle_module = NULL;
    pool_pinned *flag = NULL, *idle = NULL;
    pool_stream *stream = NULL;
    const pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 1};
    const pool_launch_shape plain = {.struct_size = sizeof(plain)};
    pool_memory_info info = {.struct_size = sizeof(info)};

    (void)state;
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_pinned_create(device, BYTES, 0, &flag));
    assert_ok(pool_pinned_create(device, BYTES, 0, &idle));
    memset(pool_pinned_data(flag), 0, BYTES);
    assert_ok(pool_stream_create(device, NULL, &stream));
    pool_kernel *spin = load(device, "spin", &spinning);
    pool_kernel *nothing = load(device, "nothing", &idle_module);
    assert_ok(pool_launch(nothing, &plain, NULL, stream));
    assert_ok(pool_stream_synchronize(stream));

    CUdeviceptr address = (CUdeviceptr)(uintptr_t)pool_pinned_data(flag);
    void *arguments[] = {&address};
    assert_ok(pool_launch(spin, &shape, arguments, stream));
    uint64_t start = base_clock_ns();
    assert_ok(pool_pinned_destroy(&idle));
    pool_module_destroy(&idle_module);
    uint64_t elapsed = base_clock_ns() - start;
    pool_status query = pool_stream_query(stream);
    assert_ok(pool_memory_get_info(device, &info));
    *(volatile uint32_t *)pool_pinned_data(flag) = 1;
    assert_ok(pool_stream_synchronize(stream));

    assert_int_equal(query, POOL_ERR_NOT_READY); /* it was spinning all the time */
    assert_true(elapsed < SECOND);
    assert_int_equal(info.pinned_deferred_bytes, BYTES);
    assert_ok(pool_memory_trim(device, 0));
    assert_ok(pool_memory_get_info(device, &info));
    assert_int_equal(info.pinned_deferred_bytes, 0);
    assert_ok(pool_stream_destroy(&stream));
    pool_module_destroy(&spinning);
    assert_ok(pool_pinned_destroy(&flag));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spinning_kernel)};
    int failed;

    if (pool_create(&pool, NULL)) {
        printf("no device: %s\n", pool_last_error()->message);
        return 77;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? 1 : pool_destroy(&pool) != POOL_OK;
}
