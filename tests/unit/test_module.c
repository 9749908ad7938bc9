/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules, kernels and launches on the mock driver: every public function with NULL and with
 * invalid sizes, the driver's queries, and failures before them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>
#include <devicepool/mock.h>

static const char ptx[] = ".version 8.0\n.target sm_70\n.address_size 64\n";

static pool_mock *mock;
static device_pool *pool;
static pool_device *devices[2];

/* Devices of compute capability `major`.0; `without`: NULL, or a function that the driver lacks. */
static int open_pool(int major, const char *without)
{
    static const uint32_t sizes[] = {8, 4};
    pool_mock_params params = {.struct_size = sizeof(params), .devices = 2};
    pool_mock_kernel kernel = {.struct_size = sizeof(kernel),
        .name = "fill",
        .argument_bytes = sizes,
        .argument_count = 2,
        .shared_bytes = 1024,
        .max_threads = 512};
    pool_params with = {.struct_size = sizeof(with)};

    if (pool_mock_create(&mock, &params) || pool_mock_add_kernel(mock, &kernel) ||
        pool_mock_add_global(mock, "table", 4096))
        return -1;
    for (int i = 0; i < 2; i++)
        if (pool_mock_set_attribute(mock, i, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, major) ||
            pool_mock_set_attribute(mock, i, POOL_CU_ATTRIBUTE_CLUSTER_LAUNCH, major >= 9))
            return -1;
    if (without && pool_mock_remove_function(mock, without))
        return -1;
    with.driver = pool_mock_table(mock);
    with.devices = "all";
    if (pool_create(&pool, &with) || pool_device_at(pool, 0, &devices[0]))
        return -1;
    return pool_device_at(pool, 1, &devices[1]);
}

static int set_up(void **state)
{
    (void)state;
    return open_pool(9, NULL);
}

static int set_up_older_devices(void **state)
{
    (void)state;
    return open_pool(8, NULL);
}

static int set_up_older_driver(void **state)
{
    (void)state;
    return open_pool(9, "cuLaunchKernelEx");
}

static int tear_down(void **state)
{
    pool_status status = pool_destroy(&pool);
    int leaks = pool_mock_leaks(mock)[0] != '\0';

    (void)state;
    pool_mock_destroy(&mock);
    return status || leaks;
}

static pool_module *load(pool_device *device)
{
    pool_module *module = NULL;

    assert_int_equal(pool_module_load(device, ptx, sizeof(ptx), &module), POOL_OK);
    assert_non_null(module);
    return module;
}

static void test_nulls(void **state)
{
    pool_module_params params = {.struct_size = sizeof(params)};
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_module *module = NULL;
    pool_kernel *kernel = NULL;
    pool_kernel_info info = {0};
    CUdeviceptr address;
    CUfunction function;
    CUmodule handle;
    uint64_t number;
    uint32_t small;

    (void)state;
#define BAD(call) assert_int_equal(call, POOL_ERR_INVALID_ARGUMENT)
    BAD(pool_module_compile(NULL, &params, &module));
    BAD(pool_module_compile(devices[0], NULL, &module));
    BAD(pool_module_compile(devices[0], &params, NULL));
    BAD(pool_module_compile(devices[0], &params, &module)); /* no source */
    params.source = "";
    params.define_count = 1;
    BAD(pool_module_compile(devices[0], &params, &module));
    params.define_count = 0;
    params.header_count = 1;
    BAD(pool_module_compile(devices[0], &params, &module));
    params.header_count = 0;
    params.option_count = 2;
    BAD(pool_module_compile(devices[0], &params, &module));
    params.struct_size = 0;
    BAD(pool_module_compile(devices[0], &params, &module));
    BAD(pool_module_load(NULL, ptx, sizeof(ptx), &module));
    BAD(pool_module_load(devices[0], NULL, 1, &module));
    BAD(pool_module_load(devices[0], ptx, sizeof(ptx), NULL));
    assert_null(module);
    module = load(devices[0]);
    BAD(pool_kernel_get(NULL, "fill", &kernel));
    BAD(pool_kernel_get(module, NULL, &kernel));
    BAD(pool_kernel_get(module, "fill", NULL));
    BAD(pool_module_variable(NULL, "table", &address, NULL));
    BAD(pool_module_variable(module, NULL, &address, NULL));
    BAD(pool_module_variable(module, "table", NULL, NULL));
    BAD(pool_module_handle(NULL, &handle));
    BAD(pool_module_handle(module, NULL));
    BAD(pool_kernel_handle(NULL, &function));
    BAD(pool_kernel_get_info(NULL, &info));
    BAD(pool_kernel_get_parameter(NULL, 0, &number, &number));
    BAD(pool_kernel_get_occupancy(NULL, 32, 0, &small));
    BAD(pool_kernel_get_best_block(NULL, 0, &small, &small));
    BAD(pool_launch(NULL, &shape, NULL, NULL));
    BAD(pool_launch_shape_for(1, NULL));
    BAD(pool_warm_up(NULL, NULL, &params, 1));
    BAD(pool_warm_up(pool, NULL, NULL, 1));
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    BAD(pool_kernel_handle(kernel, NULL));
    BAD(pool_kernel_get_info(kernel, NULL));
    BAD(pool_kernel_get_info(kernel, &info)); /* struct_size */
    BAD(pool_kernel_get_occupancy(kernel, 0, 0, &small));
    BAD(pool_kernel_get_occupancy(kernel, 32, 0, NULL));
    BAD(pool_launch(kernel, NULL, NULL, NULL));
    shape.struct_size = 8;
    BAD(pool_launch(kernel, &shape, NULL, NULL));
    assert_null(pool_module_device(NULL));
    pool_module_destroy(NULL);
    pool_module_destroy(&module);
    pool_module_destroy(&module);
}

static void test_images_are_checked(void **state)
{
    /* An ELF header whose section table is beyond the end. */
    unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    uint32_t fatbin[4] = {0xba55ed50u, 16u << 16 | 1u, 1000, 0};
    pool_module *module = NULL;
    uint64_t before;

    (void)state;
    before = pool_mock_calls(mock, "cuModuleLoadData*");
    elf[0x28] = 0xff; /* e_shoff */
    elf[0x3a] = 64;   /* e_shentsize */
    elf[0x3c] = 1;    /* e_shnum */
    assert_int_equal(pool_module_load(devices[0], elf, sizeof(elf), &module), POOL_ERR_BAD_IMAGE);
    assert_int_equal(pool_module_load(devices[0], elf, 20, &module), POOL_ERR_BAD_IMAGE);
    assert_int_equal(
        pool_module_load(devices[0], fatbin, sizeof(fatbin), &module), POOL_ERR_BAD_IMAGE);
    assert_int_equal(pool_module_load(devices[0], "", 0, &module), POOL_ERR_BAD_IMAGE);
    assert_int_equal(pool_module_load(devices[0], "", 1, &module), POOL_ERR_BAD_IMAGE);
    assert_int_equal(pool_module_load(devices[0], "a\0b", 3, &module), POOL_ERR_BAD_IMAGE);
    assert_int_equal(pool_mock_calls(mock, "cuModuleLoadData*"), before);
    assert_null(module);
}

static void test_jit_log_is_in_the_error(void **state)
{
    pool_module *module = NULL;

    (void)state;
    pool_mock_reject_images(mock, POOL_CU_INVALID_PTX, "ptxas application ptx input, line 7");
    assert_int_equal(pool_module_load(devices[0], ptx, sizeof(ptx), &module), POOL_ERR_BAD_IMAGE);
    assert_non_null(strstr(pool_last_error()->message, "line 7"));
    assert_int_equal(pool_last_error()->driver_code, 218);
    assert_null(module);
    pool_mock_reject_images(mock, POOL_CU_SUCCESS, "");
}

/* As a driver does: PTX for an older chip is compiled, for a newer one it is refused. */
static void test_ptx_for_newer_chips(void **state)
{
    static const struct {
        int chip;
        const char *target;
        pool_status status;
    } cases[] = {{70, "sm_60", POOL_OK}, {70, "sm_70", POOL_OK}, {70, "sm_75", POOL_ERR_BAD_IMAGE},
        {90, "sm_90a", POOL_OK}, {90, "sm_100", POOL_ERR_BAD_IMAGE}, {90, "sm_75", POOL_OK},
        {100, "sm_90a", POOL_ERR_BAD_IMAGE}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pool_module *module = NULL;
        char text[128];
        int size = snprintf(text, sizeof(text),
            ".version 8.0\n.target %s\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n",
            cases[i].target);

        pool_mock_set_attribute(
            mock, 0, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, cases[i].chip / 10);
        pool_mock_set_attribute(
            mock, 0, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, cases[i].chip % 10);
        assert_int_equal(
            pool_module_load(devices[0], text, (size_t)size, &module), cases[i].status);
        if (cases[i].status)
            assert_int_equal(pool_last_error()->driver_code, 218);
        assert_int_equal(pool_module_destroy(&module), POOL_OK);
    }
    pool_mock_set_attribute(mock, 0, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9);
    pool_mock_set_attribute(mock, 0, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
}

static void test_kernels_and_variables(void **state)
{
    pool_kernel_info info = {.struct_size = sizeof(info)};
    pool_module *module = load(devices[1]);
    pool_kernel *kernel;
    pool_kernel *again;
    CUdeviceptr address = 0;
    uint64_t bytes = 0;
    uint64_t offset = 0;

    (void)state;
    assert_ptr_equal(pool_module_device(module), devices[1]);
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    assert_int_equal(pool_kernel_get(module, "fill", &again), POOL_OK);
    assert_ptr_equal(kernel, again);
    assert_int_equal(pool_kernel_get(module, "none", &again), POOL_ERR_NOT_FOUND);
    assert_non_null(strstr(pool_last_error()->message, "\"none\""));
    assert_int_equal(pool_module_variable(module, "table", &address, &bytes), POOL_OK);
    assert_true(address != 0);
    assert_int_equal(bytes, 4096);
    assert_int_equal(pool_module_variable(module, "chair", &address, &bytes), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_kernel_get_info(kernel, &info), POOL_OK);
    assert_int_equal(info.parameter_count, 2);
    assert_int_equal(info.static_shared_bytes, 1024);
    assert_int_equal(info.max_threads_per_block, 512);
    assert_int_equal(info.max_dynamic_shared_bytes, 232448 - 1024);
    assert_int_equal(pool_kernel_get_parameter(kernel, 1, &offset, &bytes), POOL_OK);
    assert_int_equal(offset, 8);
    assert_int_equal(bytes, 4);
    assert_int_equal(pool_kernel_get_parameter(kernel, 2, &offset, &bytes), POOL_ERR_NOT_FOUND);
    int32_t percent = 7;
    assert_int_equal(pool_kernel_get_carveout(kernel, &percent), POOL_OK);
    assert_int_equal(percent, POOL_CARVEOUT_DEFAULT);
    assert_int_equal(pool_kernel_set_carveout(kernel, 75), POOL_OK);
    assert_int_equal(pool_kernel_get_carveout(kernel, &percent), POOL_OK);
    assert_int_equal(percent, 75);
    assert_int_equal(pool_kernel_set_carveout(kernel, 101), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "`percent`"));
    assert_int_equal(pool_kernel_set_carveout(kernel, -2), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_kernel_set_carveout(NULL, 1), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_kernel_get_carveout(kernel, NULL), POOL_ERR_INVALID_ARGUMENT);
    pool_module_destroy(&module);
}

/* A priority is an attribute of cuLaunchKernelEx; cooperative launches keep theirs. */
static void test_priority(void **state)
{
    pool_launch_shape shape = {
        .struct_size = sizeof(shape), .argument_count = 2, .priority = -2, .cooperative = 1};
    pool_module *module = load(devices[0]);
    uint64_t pointer = 77;
    uint32_t number = 5;
    void *arguments[] = {&pointer, &number};
    pool_mock_launch seen;
    pool_kernel *kernel;

    (void)state;
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    assert_int_equal(pool_launch(kernel, &shape, arguments, NULL), POOL_OK);
    assert_int_equal(pool_mock_calls(mock, "cuLaunchKernelEx"), 1);
    assert_int_equal(pool_mock_get_launch(mock, 0, &seen), POOL_OK);
    assert_int_equal(seen.cooperative, 1);
    assert_int_equal(seen.pdl, 0);
    pool_module_destroy(&module);
}

/* What a launch on the stream got. */
static int32_t launched_priority(pool_kernel *kernel, pool_stream *stream, int32_t wanted)
{
    pool_launch_shape shape = {
        .struct_size = sizeof(shape), .argument_count = 2, .priority = wanted};
    uint64_t pointer = 77;
    uint32_t number = 5;
    void *arguments[] = {&pointer, &number};
    pool_mock_launch seen = {.priority = 99};

    assert_int_equal(pool_launch(kernel, &shape, arguments, stream), POOL_OK);
    assert_int_equal(
        pool_mock_get_launch(mock, pool_mock_launches(mock, NULL) - 1, &seen), POOL_OK);
    return seen.priority;
}

/* Default streams have none of their own: launches there get that of streams created with 0. */
static void test_priority_on_default_streams(void **state)
{
    pool_module *module = load(devices[0]);
    pool_stream *by_default, *adopted, *created;
    pool_kernel *kernel;

    (void)state;
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    assert_int_equal(pool_stream_default(devices[0], &by_default), POOL_OK);
    assert_int_equal(pool_stream_adopt(devices[0], NULL, &adopted), POOL_OK);
    assert_int_equal(pool_stream_create(devices[0], NULL, &created), POOL_OK);
    assert_int_equal(launched_priority(kernel, NULL, 0), -2);
    assert_int_equal(launched_priority(kernel, by_default, 0), -2);
    assert_int_equal(launched_priority(kernel, adopted, 0), -2);
    assert_int_equal(launched_priority(kernel, NULL, -1), -1);
    assert_int_equal(pool_mock_calls(mock, "cuLaunchKernel"), 0);
    assert_int_equal(launched_priority(kernel, created, 0), 0);
    assert_int_equal(pool_mock_calls(mock, "cuLaunchKernel"), 1);
    assert_int_equal(pool_stream_destroy(&adopted), POOL_OK);
    assert_int_equal(pool_stream_destroy(&created), POOL_OK);
    pool_module_destroy(&module);
}

/* An older driver has no priorities of launches. */
static void test_default_streams_of_an_older_driver(void **state)
{
    pool_module *module = load(devices[0]);
    pool_kernel *kernel;

    (void)state;
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    assert_int_equal(launched_priority(kernel, NULL, 0), 0);
    assert_int_equal(pool_mock_calls(mock, "cuLaunchKernel"), 1);
    pool_module_destroy(&module);
}

static void refuse_clusters(pool_kernel *kernel, const pool_launch_shape *shape, void **arguments,
    pool_status expected, const char *message)
{
    assert_int_equal(pool_launch(kernel, shape, arguments, NULL), expected);
    if (!strstr(pool_last_error()->message, message))
        fail_msg("\"%s\" is not in: %s", message, pool_last_error()->message);
}

/* Clusters are an attribute of the launch; those of more than 8 blocks are opted in once. */
static void test_clusters(void **state)
{
    pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {32, 2}, .argument_count = 2, .cluster = {4, 2}};
    pool_module *module = load(devices[0]);
    uint64_t pointer = 77, attributes;
    uint32_t number = 5, largest = 0, resident = 0;
    void *arguments[] = {&pointer, &number};
    pool_mock_launch seen;
    pool_kernel *kernel;

    (void)state;
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    attributes = pool_mock_calls(mock, "cuDeviceGetAttribute");
    assert_int_equal(pool_launch(kernel, &shape, arguments, NULL), POOL_OK);
    assert_int_equal(pool_mock_calls(mock, "cuDeviceGetAttribute"), attributes);
    assert_int_equal(pool_mock_calls(mock, "cuLaunchKernelEx"), 1);
    assert_int_equal(pool_mock_get_launch(mock, 0, &seen), POOL_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(seen.cluster[i], i == 0 ? 4 : i == 1 ? 2 : 1);
    assert_int_equal(pool_mock_calls(mock, "cuFuncSetAttribute"), 0);
    shape.cluster[0] = 8;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pool_launch(kernel, &shape, arguments, NULL), POOL_OK);
    assert_int_equal(pool_mock_calls(mock, "cuFuncSetAttribute"), 1);
    shape.cluster[0] = 16;
    refuse_clusters(kernel, &shape, arguments, POOL_ERR_INVALID_ARGUMENT, "cuLaunchKernelEx");
    shape.cluster[0] = 3;
    refuse_clusters(kernel, &shape, arguments, POOL_ERR_INVALID_ARGUMENT, "is no multiple of");

    shape.cluster[0] = 2;
    assert_int_equal(pool_kernel_get_clusters(kernel, &shape, &largest, &resident), POOL_OK);
    assert_int_equal(largest, 16);
    assert_true(resident > 0);
    assert_int_equal(pool_kernel_get_clusters(kernel, &shape, NULL, NULL), POOL_OK);
    shape.cluster[0] = shape.cluster[1] = 0;
    assert_int_equal(pool_kernel_get_clusters(kernel, &shape, &largest, NULL), POOL_OK);
    assert_int_equal(
        pool_kernel_get_clusters(kernel, &shape, NULL, &resident), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(
        pool_kernel_get_clusters(NULL, &shape, &largest, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(
        pool_kernel_get_clusters(kernel, NULL, &largest, NULL), POOL_ERR_INVALID_ARGUMENT);
    shape.dynamic_shared_bytes = (UINT64_C(1) << 32) + 1024;
    assert_int_equal(
        pool_kernel_get_clusters(kernel, &shape, &largest, NULL), POOL_ERR_INVALID_ARGUMENT);
    shape.dynamic_shared_bytes = 0;
    shape.block[0] = 2048;
    assert_int_equal(
        pool_kernel_get_clusters(kernel, &shape, &largest, NULL), POOL_ERR_INVALID_ARGUMENT);
    pool_module_destroy(&module);
}

static void test_clusters_need_a_newer_device(void **state)
{
    const pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {32}, .argument_count = 2, .cluster = {2}};
    pool_module *module = load(devices[0]);
    uint64_t pointer = 77;
    uint32_t number = 5, largest = 0;
    void *arguments[] = {&pointer, &number};
    pool_kernel *kernel;

    (void)state;
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    refuse_clusters(
        kernel, &shape, arguments, POOL_ERR_UNSUPPORTED, "has no thread-block clusters");
    assert_int_equal(
        pool_kernel_get_clusters(kernel, &shape, &largest, NULL), POOL_ERR_UNSUPPORTED);
    pool_module_destroy(&module);
}

static void test_clusters_need_a_newer_driver(void **state)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 2, .cluster = {1}};
    pool_module *module = load(devices[0]);
    uint64_t pointer = 77;
    uint32_t number = 5;
    void *arguments[] = {&pointer, &number};
    pool_kernel *kernel;

    (void)state;
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    refuse_clusters(kernel, &shape, arguments, POOL_ERR_UNSUPPORTED, "which this driver lacks");
    assert_int_equal(pool_kernel_get_clusters(kernel, &shape, &number, NULL), POOL_ERR_UNSUPPORTED);
    pool_module_destroy(&module);
}

static void test_priority_needs_a_newer_driver(void **state)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape), .priority = -2};
    pool_module *module = load(devices[0]);
    pool_kernel *kernel;

    (void)state;
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    assert_int_equal(pool_launch(kernel, &shape, NULL, NULL), POOL_ERR_UNSUPPORTED);
    pool_module_destroy(&module);
}

static void test_shapes(void **state)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape)};

    (void)state;
    assert_int_equal(pool_launch_shape_for(0, &shape), POOL_OK);
    assert_int_equal(shape.grid[0], 1);
    assert_int_equal(pool_launch_shape_for(257, &shape), POOL_OK);
    assert_int_equal(shape.grid[0], 2);
    assert_int_equal(shape.block[0], 256);
    assert_int_equal(pool_launch_shape_for((UINT64_C(1) << 31) * 256 - 256, &shape), POOL_OK);
    assert_int_equal(shape.grid[0], INT32_MAX);
    assert_int_equal(
        pool_launch_shape_for((UINT64_C(1) << 31) * 256, &shape), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_launch_shape_for(UINT64_MAX, &shape), POOL_ERR_INVALID_ARGUMENT);
}

static void test_launch(void **state)
{
    pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {3}, .block = {64, 2}, .argument_count = 2};
    static const size_t right[] = {8, 4};
    static const size_t wrong[] = {8, 8};
    pool_module *module = load(devices[0]);
    uint64_t pointer = 77;
    uint32_t number = 5;
    void *arguments[] = {&pointer, &number};
    pool_mock_launch seen;
    pool_kernel *kernel;

    (void)state;
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    shape.argument_bytes = right;
    assert_int_equal(pool_launch(kernel, &shape, arguments, NULL), POOL_OK);
    assert_int_equal(pool_mock_get_launch(mock, 0, &seen), POOL_OK);
    assert_string_equal(seen.kernel, "fill");
    assert_int_equal(seen.grid[0], 3);
    assert_int_equal(seen.grid[2], 1);
    assert_int_equal(seen.block[1], 2);
    assert_int_equal(*(const uint32_t *)seen.arguments[1], 5);
    assert_int_equal(seen.cooperative, 0);
    pool_mock_fail(mock, "cuLaunchKernel*", 1, POOL_CU_LAUNCH_OUT_OF_RESOURCES, POOL_MOCK_ONCE);
    BAD(pool_launch(kernel, &shape, arguments, NULL));
    assert_string_equal(pool_last_error()->call,
        "cuLaunchKernelEx(\"fill\", 3 x 1 x 1 blocks of 64 x 2 x 1 threads)");
    assert_non_null(
        strstr(pool_last_error()->message, ") on device 0 failed: CUDA_ERROR_LAUNCH_OUT"));
    shape.argument_bytes = wrong;
    BAD(pool_launch(kernel, &shape, arguments, NULL));
    shape.argument_bytes = NULL;
    shape.argument_count = 1;
    BAD(pool_launch(kernel, &shape, arguments, NULL));
    shape.argument_count = 0;
    BAD(pool_launch(kernel, &shape, NULL, NULL));
    shape.argument_count = 2;
    BAD(pool_launch(kernel, &shape, NULL, NULL));
    arguments[1] = NULL;
    BAD(pool_launch(kernel, &shape, arguments, NULL));
    arguments[1] = &number;
    shape.block[0] = 1024;
    BAD(pool_launch(kernel, &shape, arguments, NULL));
    shape.block[0] = UINT32_MAX;
    shape.block[1] = UINT32_MAX;
    shape.block[2] = UINT32_MAX;
    BAD(pool_launch(kernel, &shape, arguments, NULL));
    assert_int_equal(pool_mock_launches(mock, NULL), 1);
    pool_module_destroy(&module);
}

static void test_launch_with_much_shared_memory(void **state)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 2, .cooperative = 1};
    pool_module *module = load(devices[0]);
    uint64_t pointer = 77;
    uint32_t number = 5;
    void *arguments[] = {&pointer, &number};
    pool_mock_launch seen;
    pool_kernel *kernel;

    (void)state;
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    shape.dynamic_shared_bytes = 1000;
    assert_int_equal(pool_launch(kernel, &shape, arguments, NULL), POOL_OK);
    assert_int_equal(pool_mock_calls(mock, "cuFuncSetAttribute"), 0);
    shape.dynamic_shared_bytes = 100000;
    assert_int_equal(pool_launch(kernel, &shape, arguments, NULL), POOL_OK);
    assert_int_equal(pool_launch(kernel, &shape, arguments, NULL), POOL_OK);
    assert_int_equal(pool_mock_calls(mock, "cuFuncSetAttribute"), 1);
    assert_int_equal(pool_mock_get_launch(mock, 1, &seen), POOL_OK);
    assert_int_equal(seen.dynamic_shared_bytes, 100000);
    assert_int_equal(seen.cooperative, 1);
    shape.dynamic_shared_bytes = 232448;
    BAD(pool_launch(kernel, &shape, arguments, NULL));
    pool_module_destroy(&module);
}

/* Launches "fill" to use programmatic dependent launch and returns whether the driver was passed.
 */
static int pdl(void)
{
    pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {3, 1, 2}, .block = {64}, .argument_count = 2};
    pool_module *module = load(devices[0]);
    uint64_t pointer = 77;
    uint32_t number = 5;
    void *arguments[] = {&pointer, &number};
    pool_mock_launch seen;
    pool_kernel *kernel;
    pool_stream *stream;

    assert_int_equal(pool_stream_create(devices[0], NULL, &stream), POOL_OK);
    shape.dynamic_shared_bytes = 100000;
    shape.pdl = 1;
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    assert_int_equal(pool_launch(kernel, &shape, arguments, stream), POOL_OK);
    assert_int_equal(pool_mock_get_launch(mock, 0, &seen), POOL_OK);
    assert_int_equal(seen.grid[0], 3);
    assert_int_equal(seen.grid[2], 2);
    assert_int_equal(seen.block[0], 64);
    assert_int_equal(seen.dynamic_shared_bytes, 100000);
    assert_int_equal(*(const uint32_t *)seen.arguments[1], 5);
    shape.cooperative = 1;
    BAD(pool_launch(kernel, &shape, arguments, stream));
    shape.cooperative = 0;
    assert_int_equal(pool_mock_fail(mock, "cuLaunchKernelEx", 1, POOL_CU_LAUNCH_OUT_OF_RESOURCES,
                         POOL_MOCK_ONCE),
        POOL_OK);
    assert_int_equal(pool_launch(kernel, &shape, arguments, stream) != POOL_OK, seen.pdl);
    pool_mock_clear_failures(mock);
    assert_int_equal(pool_stream_destroy(&stream), POOL_OK);
    pool_module_destroy(&module);
    return seen.pdl;
}

static void test_early_start(void **state)
{
    (void)state;
    assert_true(pdl());
    assert_int_equal(pool_mock_calls(mock, "cuLaunchKernel"), 0);
}

/* There it is launched in order. */
static void test_no_early_start(void **state)
{
    (void)state;
    assert_false(pdl());
    assert_int_equal(pool_mock_calls(mock, "cuLaunchKernel"), 2);
}

static void test_streams_of_other_devices_are_refused(void **state)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 2};
    pool_module *module = load(devices[0]);
    uint64_t pointer = 77;
    uint32_t number = 5;
    void *arguments[] = {&pointer, &number};
    pool_stream *stream = NULL;
    pool_kernel *kernel;

    (void)state;
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_OK);
    assert_int_equal(pool_stream_create(devices[1], NULL, &stream), POOL_OK);
    assert_int_equal(pool_launch(kernel, &shape, arguments, stream), POOL_ERR_WRONG_DEVICE);
    pool_stream_destroy(&stream);
    assert_int_equal(pool_stream_create(devices[0], NULL, &stream), POOL_OK);
    assert_int_equal(pool_launch(kernel, &shape, arguments, stream), POOL_OK);
    pool_stream_destroy(&stream);
    pool_module_destroy(&module);
}

static void test_pool_waits_for_modules(void **state)
{
    pool_module *module = load(devices[0]);

    (void)state;
    assert_int_equal(pool_destroy(&pool), POOL_ERR_BUSY);
    assert_non_null(strstr(pool_last_error()->message, "module"));
    pool_module_destroy(&module);
}

/* On the mock nothing compiles to what it could not load, so any NVRTC will do; none: skipped. */
static void test_warm_up(void **state)
{
    pool_module_params params[2] = {
        {.struct_size = sizeof(*params),
            .source = "extern \"C\" __global__ void a(int *x) { *x = 1; }",
            .no_cache = 1},
        {.struct_size = sizeof(*params),
            .source = "extern \"C\" __global__ void b(int *x) { *x = 2; }",
            .no_cache = 1},
    };
    pool_component compiler;
    uint64_t before, loads;

    (void)state;
    for (size_t i = 0; i < 2; i++) /* and the trial of the compiler */
        assert_int_equal(pool_device_get_compiler(devices[i], &compiler), POOL_OK);
    before = pool_mock_calls(mock, "cuModuleLoadData*");
    if (compiler.status) {
        assert_int_equal(pool_warm_up(pool, NULL, params, 2), POOL_ERR_NO_COMPILER);
        return;
    }
    assert_int_equal(pool_warm_up(pool, NULL, params, 0), POOL_OK);
    assert_int_equal(pool_mock_calls(mock, "cuModuleLoadData*"), before);
    assert_int_equal(pool_warm_up(pool, NULL, params, 2), POOL_OK);
    loads = pool_mock_calls(mock, "cuModuleLoadData*");
    assert_int_equal(loads, before + 4); /* two modules on two devices */
    assert_int_equal(pool_warm_up(pool, NULL, params, 2), POOL_OK);
    assert_int_equal(pool_mock_calls(mock, "cuModuleLoadData*"), loads);
    params[1].source = "this is no source";
    assert_int_equal(pool_warm_up(pool, NULL, params, 2), POOL_ERR_COMPILE);
    assert_non_null(strstr(pool_last_error()->message, "this is no source"));
}

static void test_poison_leaves_destructors_silent(void **state)
{
    pool_module *module = load(devices[0]);
    pool_kernel *kernel;
    uint64_t calls;

    (void)state;
    pool_mock_poison(mock, POOL_CU_ILLEGAL_ADDRESS);
    assert_int_equal(pool_kernel_get(module, "fill", &kernel), POOL_ERR_PROCESS_POISONED);
    calls = pool_mock_calls(mock, NULL);
    pool_module_destroy(&module);
    assert_null(module);
    assert_int_equal(pool_mock_calls(mock, NULL), calls);
    assert_int_equal(pool_destroy(&pool), POOL_OK);
}

static int tear_down_poisoned(void **state)
{
    (void)state;
    pool_mock_destroy(&mock);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(test_nulls),
        CASE(test_images_are_checked),
        CASE(test_jit_log_is_in_the_error),
        CASE(test_kernels_and_variables),
        CASE(test_ptx_for_newer_chips),
        CASE(test_shapes),
        CASE(test_launch),
        CASE(test_launch_with_much_shared_memory),
        CASE(test_early_start),
        cmocka_unit_test_setup_teardown(test_no_early_start, set_up_older_devices, tear_down),
        cmocka_unit_test_setup_teardown(test_no_early_start, set_up_older_driver, tear_down),
        cmocka_unit_test_setup_teardown(test_priority, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_priority_on_default_streams, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_default_streams_of_an_older_driver, set_up_older_driver, tear_down),
        cmocka_unit_test_setup_teardown(
            test_priority_needs_a_newer_driver, set_up_older_driver, tear_down),
        cmocka_unit_test_setup_teardown(test_clusters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_clusters_need_a_newer_device, set_up_older_devices, tear_down),
        cmocka_unit_test_setup_teardown(
            test_clusters_need_a_newer_driver, set_up_older_driver, tear_down),
        CASE(test_streams_of_other_devices_are_refused),
        CASE(test_pool_waits_for_modules),
        CASE(test_warm_up),
        cmocka_unit_test_setup_teardown(
            test_poison_leaves_destructors_silent, set_up, tear_down_poisoned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
