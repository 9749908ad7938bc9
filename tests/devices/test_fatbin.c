/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fat binaries, on simulated devices and on GPUs: PTX is found in them and executed; what has no
 * PTX that can be used says why. usage: test DEVICES
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

#include "base/alloc.h"
#include "driver/sim/table/fatbin.h"

static const char *device_string;
static device_pool *pool;
static pool_device *device;

static unsigned char *read_vector(const char *name, size_t *bytes)
{
    unsigned char *content = malloc(65536);
    char path[512];
    FILE *file;

    assert_non_null(content);
    snprintf(
        path, sizeof(path), TEST_VECTORS "/fatbin/%s%s", name, strchr(name, '.') ? "" : ".fatbin");
    file = fopen(path, "rb");
    assert_non_null(file);
    *bytes = fread(content, 1, 65536, file);
    fclose(file);
    return content;
}

static pool_status load(const char *name, pool_module **module)
{
    size_t bytes;
    unsigned char *image = read_vector(name, &bytes);
    pool_status status = pool_module_load(device, image, bytes, module);

    free(image);
    return status;
}

static void check_runs(const char *name, int ptx_version_at_least)
{
    pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {2}, .block = {64}, .argument_count = 2};
    pool_kernel_info info = {.struct_size = sizeof(info)};
    pool_module *module = NULL;
    pool_buffer *buffer = NULL;
    pool_kernel *kernel;
    uint32_t numbers[100];
    uint32_t count = 100;
    CUdeviceptr address;
    void *arguments[] = {&address, &count};

    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    if (load(name, &module))
        fail_msg("%s: %s", name, pool_last_error()->message);
    assert_int_equal(pool_buffer_from_host(device, numbers, sizeof(numbers), &buffer), POOL_OK);
    assert_int_equal(pool_buffer_address(buffer, &address), POOL_OK);
    assert_int_equal(pool_kernel_get(module, "add_one", &kernel), POOL_OK);
    assert_int_equal(pool_launch(kernel, &shape, arguments, NULL), POOL_OK);
    assert_int_equal(pool_kernel_get_info(kernel, &info), POOL_OK);
    assert_true(info.ptx_version >= ptx_version_at_least);
    assert_int_equal(pool_kernel_get(module, "twice", &kernel), POOL_OK);
    assert_int_equal(pool_launch(kernel, &shape, arguments, NULL), POOL_OK);
    assert_int_equal(pool_copy_to_host(numbers, buffer, 0, sizeof(numbers), NULL), POOL_OK);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(numbers[i], 2 * (i + 1));
    assert_int_equal(pool_buffer_destroy(&buffer), POOL_OK);
    pool_module_destroy(&module);
}

static void test_ptx_runs(void **state)
{
    (void)state;
    check_runs("plain", 75);
    check_runs("lz4", 75);
    check_runs("zstandard", 75);
    check_runs("several", 90); /* the newest target that the device runs */
}

static void check_says(const char *name, const char *reason)
{
    pool_module *module = NULL;

    assert_int_equal(load(name, &module), POOL_ERR_BAD_IMAGE);
    assert_null(module);
    if (!strstr(pool_last_error()->message, reason))
        fail_msg("%s: %s", name, pool_last_error()->message);
}

static int is_simulated(void)
{
    return strncmp(device_string, "sim", 3) == 0;
}

/* Machine code of sm_75 that carries its PTX; a GPU of another generation refuses it. */
static void test_embedded_ptx(void **state)
{
    (void)state;
    if (!is_simulated())
        skip();
    check_runs("lineinfo.cubin", 75);
    check_runs("debug.cubin", 75);
    check_runs("lineinfo", 75);
}

static void test_reasons(void **state)
{
    static const char cubin[] = "\177ELF\2\1\1";
    unsigned char elf[64] = {0};
    pool_module *module = NULL;

    (void)state;
    if (!is_simulated())
        skip();
    check_says("machine", "only machine code (sm_90) and no PTX");
    check_says("newer", "PTX for sm_100, which does not run on this device of cc 9.0");
    memcpy(elf, cubin, sizeof(cubin));
    assert_int_equal(pool_module_load(device, elf, sizeof(elf), &module), POOL_ERR_BAD_IMAGE);
    assert_non_null(strstr(pool_last_error()->message, "the image is machine code without PTX"));
}

/* Every byte of the container and of its entries' headers replaced: refused or right, no fault. */
static void test_damage(void **state)
{
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    const struct sim_jit no_log = {0};

    (void)state;
    for (unsigned which = 0; which < 3; which++) {
        static const char *const names[] = {"several", "lz4", "zstandard"};
        size_t bytes;
        unsigned char *image = read_vector(names[which], &bytes);
        for (size_t at = 16; at < bytes; at++) {
            for (size_t i = 0; i < sizeof(values); i++) {
                const unsigned char before = image[at];
                unsigned char *copy = malloc(bytes); /* of this size for AddressSanitizer */
                char *text = NULL;

                assert_non_null(copy);
                image[at] = values[i];
                memcpy(copy, image, bytes);
                pool_cu_result code = sim_fatbin_ptx(copy, 90, &no_log, &text);
                assert_true((code == POOL_CU_SUCCESS) == (text != NULL));
                base_free(text);
                free(copy);
                image[at] = before;
            }
        }
        free(image);
    }
}

/* The same for every byte of machine code behind its first header, which says how long it is. */
static void test_damaged_elf(void **state)
{
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    size_t bytes;
    unsigned char *image = read_vector("lineinfo.cubin", &bytes);
    unsigned long long sections;

    (void)state;
    memcpy(&sections, image + 40, sizeof(sections));
    for (size_t at = 16; at < bytes; at++) {
        /* The text itself and the code do not matter here. */
        if (at >= 64 && at < sections && at % 61)
            continue;
        for (size_t i = 0; i < sizeof(values); i++) {
            unsigned char *copy = malloc(bytes);
            char *text;

            assert_non_null(copy);
            memcpy(copy, image, bytes);
            copy[at] = values[i];
            text = sim_image_embedded_ptx(copy, bytes);
            base_free(text);
            free(copy);
        }
    }
    for (size_t length = 0; length < bytes; length += 97) {
        unsigned char *copy = malloc(length < 4 ? 4 : length);

        assert_non_null(copy);
        memcpy(copy, image, length < 4 ? 4 : length);
        assert_null(sim_image_embedded_ptx(copy, length));
        free(copy);
    }
    free(image);
}

static void test_lz4(void **state)
{
    static const struct {
        const char *block;
        size_t block_bytes;
        const char *plain; /* NULL: refused */
        size_t plain_bytes;
    } blocks[] = {
        {"\x30"
         "abc",
            4, "abc", 3},
        {"\x32"
         "abc\3\0\x10"
         "d",
            8, "abcabcabcd", 10}, /* a match that overlaps itself */
        {"\x1f"
         "a\1\0\2\x10"
         "b",
            7, NULL, 10}, /* 21 bytes of match do not fit */
        {"\x1f"
         "a\1\0\0\x10"
         "b",
            7, "aaaaaaaaaaaaaaaaaaaab", 21},
        {"\x30"
         "ab",
            3, NULL, 3}, /* literals end early */
        {"\x30"
         "abc",
            4, NULL, 4}, /* too few bytes */
        {"\x30"
         "abc",
            4, NULL, 2}, /* too many */
        {"\x32"
         "abc\4\0\x10"
         "d",
            8, NULL, 10}, /* before the first byte */
        {"\x32"
         "abc\0\0\x10"
         "d",
            8, NULL, 10}, /* distance 0 */
        {"\x32"
         "abc\3",
            5, NULL, 9},            /* half a distance */
        {"\xf0\xff", 2, NULL, 300}, /* a length without its end */
        {"", 0, "", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        unsigned char *to = malloc(blocks[i].plain_bytes + 1);

        assert_non_null(to);
        bool is_right = sim_lz4_decompress((const unsigned char *)blocks[i].block,
            blocks[i].block_bytes, to, blocks[i].plain_bytes);
        if (is_right != (blocks[i].plain != NULL) ||
            (is_right && memcmp(to, blocks[i].plain, blocks[i].plain_bytes) != 0))
            fail_msg("block %zu", i);
        free(to);
    }
}

static int open_pool(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = device_string};

    (void)state;
    if (pool_create(&pool, &params))
        return -1;
    return pool_device_at(pool, 0, &device) ? -1 : 0;
}

static int close_pool(void **state)
{
    (void)state;
    pool_destroy(&pool);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ptx_runs),
        cmocka_unit_test(test_embedded_ptx),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_damaged_elf),
        cmocka_unit_test(test_lz4),
    };

    device_string = argc > 1 ? argv[1] : "all";
    if (open_pool(NULL)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    close_pool(NULL);
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
