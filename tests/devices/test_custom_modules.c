/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules beyond a source and its extern "C" kernels: name expressions, images that are built
 * without a device, and files.
 *
 *   test_custom_modules [DEVICES]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/assert.h"
#include "support/needs_compiler.h"
#include "support/pool.h"

#include "pool/device/device.h"
#include "pool/module/image.h"

static const char source[] =
    "namespace app {\n"
    "__constant__ int table[4] = {2, 3, 5, 7};\n"
    "__device__ unsigned counter = 41;\n"
    "template <typename T, int factor> __global__ void scale(T *out, T value)\n"
    "{ out[threadIdx.x] = value * factor + table[threadIdx.x % 4]; }\n"
    "__global__ void count() { atomicAdd(&counter, 1); }\n"
    "}\n"
    "extern \"C\" __global__ void plain(int *out) { *out = 77; }\n";
static const char *const names[] = {
    "app::scale<int, 3>", "app::scale<unsigned long long, 5>", "app::count", "&app::counter"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };
static const pool_module_params params = {.struct_size = sizeof(params),
    .source = source,
    .name = "templates.cu",
    .names = names,
    .name_count = NAMES};

static void launch(
    pool_module *module, const char *name, uint32_t threads, uint32_t count, void **arguments)
{
    const pool_launch_shape shape = {
        .struct_size = sizeof(shape), .block = {threads}, .argument_count = count};
    pool_kernel *kernel, *again;

    assert_ok(pool_kernel_get(module, name, &kernel));
    assert_ok(pool_kernel_get(module, name, &again));
    assert_ptr_equal(kernel, again);
    assert_ok(pool_launch(kernel, &shape, arguments, NULL));
}

/* Everything that the names in the source refer to. */
static void check_module(pool_module *module)
{
    static const int added[] = {2, 3, 5, 7};
    uint64_t wide = UINT64_C(1) << 40, results[8];
    int value = 10, narrow[8];
    CUdeviceptr address, counter;
    pool_buffer *buffer;
    uint64_t bytes;
    unsigned counted;

    assert_ok(pool_buffer_alloc(device, sizeof(results), &buffer));
    assert_ok(pool_buffer_address(buffer, &address));
    launch(module, names[0], 8, 2, (void *[]){&address, &value});
    assert_ok(pool_copy_to_host(narrow, buffer, 0, sizeof(narrow), NULL));
    launch(module, names[1], 8, 2, (void *[]){&address, &wide});
    assert_ok(pool_copy_to_host(results, buffer, 0, sizeof(results), NULL));
    for (int i = 0; i < 8; i++) {
        assert_int_equal(narrow[i], 30 + added[i % 4]);
        assert_int_equal(results[i], 5 * wide + (uint64_t)added[i % 4]);
    }
    launch(module, names[2], 8, 0, NULL);
    assert_ok(pool_module_variable(module, names[3], &counter, &bytes));
    assert_int_equal(bytes, sizeof(counted));
    assert_ok(pool_bind(device));
    assert_int_equal(device_driver(device)->api.MemcpyDtoH(&counted, counter, sizeof(counted)), 0);
    assert_ok(pool_unbind(device));
    assert_int_equal(counted, 41 + 8);
    launch(module, "plain", 1, 1, (void *[]){&address});
    assert_ok(pool_copy_to_host(narrow, buffer, 0, 4, NULL));
    assert_int_equal(narrow[0], 77);
    assert_ok(pool_buffer_destroy(&buffer));
}

/* Compiled, from the cache in memory, from the one on disk. */
static void test_names(void **state)
{
    pool_module *module;

    (void)state;
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            module_image_forget();
        assert_ok(pool_module_compile(device, &params, &module));
        check_module(module);
        assert_string_equal(pool_module_symbol(module, names[2]), "_ZN3app5countEv");
        assert_null(pool_module_symbol(module, "app::scale<int,3>"));
        assert_null(pool_module_symbol(module, NULL));
        assert_null(pool_module_symbol(NULL, names[2]));
        assert_ok(pool_module_destroy(&module));
    }
}

/* Names are part of the key. */
static void test_other_names(void **state)
{
    pool_module_params other = params;
    pool_module *module;
    pool_kernel *kernel;

    (void)state;
    other.name_count = 1;
    assert_ok(pool_module_compile(device, &other, &module));
    assert_ok(pool_kernel_get(module, names[0], &kernel));
    assert_int_equal(pool_kernel_get(module, names[1], &kernel), POOL_ERR_NOT_FOUND);
    assert_non_null(strstr(pool_last_error()->message, "one of params.names"));
    assert_ok(pool_module_destroy(&module));
}

static void test_refusals(void **state)
{
    const char *list[] = {"app::count", NULL};
    pool_module_params other = params;
    pool_module *module = NULL;
    void *image = NULL;
    size_t size = 1;

    (void)state;
    other.names = list;
    other.name_count = 2;
    assert_int_equal(pool_module_compile(device, &other, &module), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "`names[1]` must not be NULL"));
    list[1] = "app::\ncount";
    assert_int_equal(pool_module_compile(device, &other, &module), POOL_ERR_INVALID_ARGUMENT);
    list[1] = "";
    assert_int_equal(pool_module_compile(device, &other, &module), POOL_ERR_INVALID_ARGUMENT);
    list[1] = "app::missing<3>";
    assert_int_equal(pool_module_compile(device, &other, &module), POOL_ERR_COMPILE);
    assert_non_null(strstr(pool_last_error()->message, "missing"));
    assert_null(module);
    assert_int_equal(
        pool_module_build(NULL, 90, POOL_IMAGE_PTX, &image, &size), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(
        pool_module_build(&params, 9, POOL_IMAGE_PTX, &image, &size), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_module_build(&params, 90, (pool_image_form)2, &image, &size),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(
        pool_module_build(&params, 90, POOL_IMAGE_PTX, NULL, &size), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(
        pool_module_build(&params, 999, POOL_IMAGE_CUBIN, &image, &size), POOL_ERR_UNSUPPORTED);
    assert_non_null(strstr(pool_last_error()->message, "compute capability 99.9"));
    assert_null(image);
    assert_int_equal(size, 1);
    pool_image_free(NULL);
    pool_image_free(&image);
}

static void write_image(const char *path, const void *image, size_t size)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(image, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* PTX for the device and an older chip, and machine code where the device takes it: from memory
 * and from a file. Building needs no device. */
static void test_build(void **state)
{
    char path[] = "/tmp/devicepool-image-XXXXXX";
    pool_device_info info = {.struct_size = sizeof(info)};
    int file = mkstemp(path);
    pool_module *module;
    void *image;
    size_t size;

    (void)state;
    assert_true(file >= 0);
    close(file);
    assert_ok(pool_device_get_info(device, &info));
    int chips[] = {80, 10 * info.compute_major + info.compute_minor};
    for (int i = 0; i < 4; i++) {
        pool_image_form form = i < 2 ? POOL_IMAGE_PTX : POOL_IMAGE_CUBIN;

        assert_ok(pool_module_build(&params, chips[i % 2], form, &image, &size));
        assert_int_equal(((char *)image)[size], '\0');
        assert_int_equal(memcmp(image,
                             "\x7f"
                             "ELF",
                             4) == 0,
            form == POOL_IMAGE_CUBIN);
        write_image(path, image, size);
        if (form == POOL_IMAGE_CUBIN && (device_driver(device)->api.flags & POOL_CUDA_PTX_ONLY)) {
            assert_int_equal(pool_module_load(device, image, size, &module), POOL_ERR_BAD_IMAGE);
        } else if (form == POOL_IMAGE_PTX || i % 2) {
            assert_ok(pool_module_load(device, image, size, &module));
            check_module(module);
            assert_ok(pool_module_destroy(&module));
            assert_ok(pool_module_load_file(device, path, &module));
            check_module(module);
            assert_ok(pool_module_destroy(&module));
        }
        pool_image_free(&image);
        assert_null(image);
    }
    unlink(path);
}

/* Hints: the carve-out is read back, and a launch's priority does not change its result. */
static void test_attributes(void **state)
{
    const pool_launch_shape shape = {
        .struct_size = sizeof(shape), .argument_count = 1, .priority = -1};
    pool_module *module;
    pool_kernel *kernel;
    pool_buffer *buffer;
    CUdeviceptr address;
    int32_t percent, result = 0;

    (void)state;
    assert_ok(pool_module_compile(device, &params, &module));
    assert_ok(pool_kernel_get(module, "plain", &kernel));
    assert_ok(pool_kernel_get_carveout(kernel, &percent));
    assert_int_equal(percent, POOL_CARVEOUT_DEFAULT);
    assert_ok(pool_kernel_set_carveout(kernel, 50));
    assert_ok(pool_kernel_get_carveout(kernel, &percent));
    assert_int_equal(percent, 50);
    assert_ok(pool_buffer_alloc(device, 4, &buffer));
    assert_ok(pool_buffer_address(buffer, &address));
    assert_ok(pool_launch(kernel, &shape, (void *[]){&address}, NULL));
    assert_ok(pool_copy_to_host(&result, buffer, 0, 4, NULL));
    assert_int_equal(result, 77);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_module_destroy(&module));
}

/* Blocks know their rank in the cluster; devices without clusters say so before anything runs. */
static void test_clusters(void **state)
{
    const pool_module_params clusters = {.struct_size = sizeof(clusters),
        .source = "extern \"C\" __global__ void ranks(unsigned *out)\n{\n    unsigned rank = 9;\n"
                  "#if __CUDA_ARCH__ >= 900\n"
                  "    asm(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(rank));\n#endif\n"
                  "    out[blockIdx.x] = rank;\n}\n"};
    pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {8}, .argument_count = 1, .cluster = {4}};
    uint32_t ranks[8], largest = 0, resident = 0;
    pool_module *module;
    pool_kernel *kernel;
    pool_buffer *buffer;
    CUdeviceptr address;
    pool_status status;

    (void)state;
    assert_ok(pool_module_compile(device, &clusters, &module));
    assert_ok(pool_kernel_get(module, "ranks", &kernel));
    assert_ok(pool_buffer_alloc(device, sizeof(ranks), &buffer));
    assert_ok(pool_buffer_address(buffer, &address));
    status = pool_launch(kernel, &shape, (void *[]){&address}, NULL);
    if (status) {
        assert_int_equal(status, POOL_ERR_UNSUPPORTED);
        assert_non_null(strstr(pool_last_error()->message, "has no thread-block clusters"));
        assert_int_equal(
            pool_kernel_get_clusters(kernel, &shape, &largest, NULL), POOL_ERR_UNSUPPORTED);
    } else {
        assert_ok(pool_copy_to_host(ranks, buffer, 0, sizeof(ranks), NULL));
        for (uint32_t i = 0; i < 8; i++)
            assert_int_equal(ranks[i], i % 4);
        assert_ok(pool_kernel_get_clusters(kernel, &shape, &largest, &resident));
        assert_true(largest >= 8);
        assert_true(resident > 0);
    }
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_module_destroy(&module));
}

static void test_files(void **state)
{
    char path[] = "/tmp/devicepool-image-XXXXXX";
    int file = mkstemp(path);
    pool_module *module = NULL;

    (void)state;
    assert_true(file >= 0);
    close(file);
    assert_int_equal(pool_module_load_file(device, path, &module), POOL_ERR_IO);
    assert_non_null(strstr(pool_last_error()->message, "is empty"));
    write_image(path, "no image\n", 9);
    assert_int_equal(pool_module_load_file(device, path, &module), POOL_ERR_BAD_IMAGE);
    /* Lines that look like names and are none. */
    write_image(path, "//devicepool-name \n//devicepool-name x\n", 38);
    assert_int_equal(pool_module_load_file(device, path, &module), POOL_ERR_BAD_IMAGE);
    unlink(path);
    assert_int_equal(pool_module_load_file(device, path, &module), POOL_ERR_IO);
    assert_int_equal(pool_module_load_file(device, "/tmp", &module), POOL_ERR_IO);
    assert_int_equal(pool_module_load_file(device, NULL, &module), POOL_ERR_INVALID_ARGUMENT);
    assert_null(module);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_clusters),
    };

    device_text = count > 1 ? arguments[1] : NULL;
    if (open_pool(NULL)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    if (compiler_is_missing(device)) {
        close_pool(NULL);
        return 77;
    }
    close_pool(NULL);
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
