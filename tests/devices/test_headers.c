/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers on disk, with the real NVRTC: those of the toolkit are found, quoted ones are searched
 * relative to the file that includes them, and the image of a module that includes files is reused
 * until one of them changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <devicepool.h>

#include "base/file.h"
#include "driver/nvrtc.h"
#include "pool/module/image.h"

static const char *device_string;
static device_pool *pool;
static pool_device *device;
static char root[64]; /* holds the cache and the headers */
static int compiled;  /* by NVRTC since the last look */
static const struct nvrtc *nvrtc;

static const char *text_when_compiled; /* outer.h becomes this right after a compile */

static void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", root, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void hear(void *user, const pool_log_record *record)
{
    int is_compile = strncmp(record->message, "compiled ", 9) == 0;

    (void)user;
    compiled += is_compile;
    if (is_compile && text_when_compiled)
        write_file("outer.h", text_when_compiled);
}

static void remove_file(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", root, name);
    assert_int_equal(unlink(path), 0);
}

/* Compiles or loads from the disk cache: the cache in memory is cleared before. */
static pool_status compile(
    const char *source, const char *name, const char *const *options, size_t count, int32_t *value)
{
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = source,
        .name = name,
        .options = options,
        .option_count = count};
    const pool_launch_shape shape = {
        .struct_size = sizeof(shape), .block = {32}, .argument_count = 1};
    pool_buffer *buffer = NULL;
    pool_module *module = NULL;
    pool_kernel *kernel = NULL;
    CUdeviceptr address;
    void *arguments[] = {&address};
    pool_status status;

    module_image_forget();
    compiled = 0;
    status = pool_module_compile(device, &params, &module);
    if (status)
        return status;
    assert_int_equal(pool_kernel_get(module, "kernel", &kernel), POOL_OK);
    assert_int_equal(pool_buffer_alloc(device, 4, &buffer), POOL_OK);
    assert_int_equal(pool_buffer_address(buffer, &address), POOL_OK);
    assert_int_equal(pool_launch(kernel, &shape, arguments, NULL), POOL_OK);
    assert_int_equal(pool_copy_to_host(value, buffer, 0, 4, NULL), POOL_OK);
    assert_int_equal(pool_buffer_destroy(&buffer), POOL_OK);
    pool_module_destroy(&module);
    return POOL_OK;
}

#define KERNEL(body) "extern \"C\" __global__ void kernel(int *out) {" body "}\n"

static void test_toolkit_headers(void **state)
{
    static const char *const sources[] = {
        "#include <cooperative_groups.h>\n" KERNEL(
            "auto block = cooperative_groups::this_thread_block(); block.sync();"
            "if (block.thread_rank() == 0) *out = (int)block.size();"),
        "#include <mma.h>\n#include <cuda_fp16.h>\n" KERNEL(
            "if (threadIdx.x == 0) *out = (int)__half2float(__float2half(32.0f));"),
        "#include <cuda/barrier>\n#include <cuda/std/cstdint>\n" KERNEL(
            "if (threadIdx.x == 0) *out = (int)sizeof(cuda::std::uint32_t) * 8;"),
    };

    (void)state;
    if (!nvrtc->includes[0][0])
        skip();
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        int32_t value = 0;

        assert_int_equal(compile(sources[i], NULL, NULL, 0, &value), POOL_OK);
        assert_int_equal(value, 32);
        assert_int_equal(compiled, 1);
        /* The second time it is on disk. */
        assert_int_equal(compile(sources[i], NULL, NULL, 0, &value), POOL_OK);
        assert_int_equal(compiled, 0);
    }
}

static const char with_header[] = "#include <outer.h>\n" KERNEL("*out = VALUE;");

/* -I in its four spellings; the header includes another one in its directory. */
static void test_changed_headers(void **state)
{
    char joined[80], equal[80];
    const char *const spellings[][2] = {
        {joined, NULL}, {"-I", root}, {equal, NULL}, {"--include-path", root}};
    int32_t value;

    (void)state;
    snprintf(joined, sizeof(joined), "-I%s", root);
    snprintf(equal, sizeof(equal), "--include-path=%s", root);
    for (size_t i = 0; i < 4; i++) {
        size_t count = spellings[i][1] ? 2 : 1;

        write_file("outer.h", "#pragma once\n#include \"sub/inner.h\"\n");
        write_file("sub/inner.h", "#include \"deep.h\"\n");
        write_file("sub/deep.h", "#define VALUE 1\n");
        assert_int_equal(compile(with_header, NULL, spellings[i], count, &value), POOL_OK);
        assert_int_equal(value, 1);
        assert_int_equal(compiled, 1);
        assert_int_equal(compile(with_header, NULL, spellings[i], count, &value), POOL_OK);
        assert_int_equal(compiled, 0);
        /* The same size, within the resolution of file times. */
        write_file("sub/deep.h", "#define VALUE 2\n");
        assert_int_equal(compile(with_header, NULL, spellings[i], count, &value), POOL_OK);
        assert_int_equal(value, 2);
        assert_int_equal(compiled, 1);
        /* Back again: the first entry is right again. */
        write_file("sub/deep.h", "#define VALUE 1\n");
        assert_int_equal(compile(with_header, NULL, spellings[i], count, &value), POOL_OK);
        assert_int_equal(value, 1);
        assert_int_equal(compiled, 0);
        /* A missing file is the compiler's error, never an old entry. */
        remove_file("sub/deep.h");
        assert_int_equal(compile(with_header, NULL, spellings[i], count, &value), POOL_ERR_COMPILE);
        write_file("sub/deep.h", "#define VALUE 1\n");
    }
}

/* A file that appears earlier on the search path hides the one that was used. */
static void test_hidden_headers(void **state)
{
    char first[80], second[80];
    const char *const options[] = {first, second};
    int32_t value;

    (void)state;
    snprintf(first, sizeof(first), "-I%s/sub", root);
    snprintf(second, sizeof(second), "-I%s", root);
    write_file("outer.h", "#define VALUE 5\n");
    assert_int_equal(compile(with_header, NULL, options, 2, &value), POOL_OK);
    assert_int_equal(value, 5);
    write_file("sub/outer.h", "#define VALUE 6\n");
    assert_int_equal(compile(with_header, NULL, options, 2, &value), POOL_OK);
    assert_int_equal(value, 6);
    remove_file("sub/outer.h");
    assert_int_equal(compile(with_header, NULL, options, 2, &value), POOL_OK);
    assert_int_equal(value, 5);
    assert_int_equal(compiled, 0);
}

/* Quoted names are searched for in the directory of the source's name. */
static void test_beside_the_source(void **state)
{
    static const char source[] = "#include \"sibling.h\"\n" KERNEL("*out = VALUE;");
    char name[80];
    int32_t value;

    (void)state;
    snprintf(name, sizeof(name), "%s/kernel.cu", root);
    write_file("sibling.h", "#define VALUE 7\n");
    assert_int_equal(compile(source, name, NULL, 0, &value), POOL_OK);
    assert_int_equal(value, 7);
    write_file("sibling.h", "#define VALUE 8\n");
    assert_int_equal(compile(source, name, NULL, 0, &value), POOL_OK);
    assert_int_equal(value, 8);
    remove_file("sibling.h");
    assert_int_equal(compile(source, name, NULL, 0, &value), POOL_ERR_COMPILE);
}

/* What cannot be determined in advance is compiled each time: a name that macros produce, a header
 * named by an option. */
static void test_computed_names(void **state)
{
    static const char source[] =
        "#define NAME(x) <x.h>\n#include NAME(made)\n" KERNEL("*out = VALUE;");
    static const char plain[] = KERNEL("*out = VALUE;");
    char joined[80];
    const char *const options[] = {joined, "-include", "made.h"};
    int32_t value;

    (void)state;
    snprintf(joined, sizeof(joined), "-I%s", root);
    write_file("made.h", "#define VALUE 3\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(compile(source, NULL, options, 1, &value), POOL_OK);
        assert_int_equal(value, 3);
        assert_int_equal(compiled, 1);
    }
    assert_int_equal(compile(plain, NULL, options, 3, &value), POOL_OK);
    assert_int_equal(compile(plain, NULL, options, 3, &value), POOL_OK);
    assert_int_equal(compiled, 0);
    write_file("made.h", "#define VALUE 4\n");
    assert_int_equal(compile(plain, NULL, options, 3, &value), POOL_OK);
    assert_int_equal(value, 4);
}

/* Directives in every disguise that the preprocessor takes are found. */
static void test_spellings_of_include(void **state)
{
    static const char *const lines[] = {"#include \"odd.h\"", "  #\tinclude<odd.h>",
        "/* a\n b */ # /* c */ include /* d */ \"odd.h\"", "#inc\\\nlude \"o\\\ndd.h\"",
        "%: include <odd.h>", "#if __has_include(<odd.h>)\n#include <odd.h>\n#endif",
        "#include <sub/../odd.h>", "#include_next <odd.h>"};
    char joined[80], source[512];
    const char *const options[] = {joined};
    int32_t value;

    (void)state;
    snprintf(joined, sizeof(joined), "-I%s", root);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        snprintf(source, sizeof(source), "%s\n%s", lines[i], KERNEL("*out = VALUE;"));
        for (int expected = 1; expected < 3; expected++) {
            char text[64];

            snprintf(text, sizeof(text), "#define VALUE %d\n", expected);
            write_file("odd.h", text);
            if (compile(source, NULL, options, 1, &value)) {
                print_message(
                    "NVRTC does not take: %s\n%s\n", lines[i], pool_last_error()->message);
                break;
            }
            assert_int_equal(value, expected);
        }
    }
}

/* Macros that test whether a header exists: the names in them belong to the set. */
static void test_queries_in_macros(void **state)
{
    static const char *const macros[] = {"#define EXISTS __has_include(<tested.h>)\n",
        "#define NAME <tested.h>\n#define EXISTS __has_include(NAME)\n",
        "#define HAS(x) __has_include(x)\n#define EXISTS HAS(\"tested.h\")\n"};
    char joined[80], source[512];
    const char *const options[] = {joined};
    int32_t value;

    (void)state;
    snprintf(joined, sizeof(joined), "-I%s", root);
    for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++) {
        snprintf(source, sizeof(source),
            "%s#if EXISTS\n#define VALUE 1\n#else\n#define VALUE 2\n"
            "#endif\n%s",
            macros[i], KERNEL("*out = VALUE;"));
        assert_int_equal(compile(source, NULL, options, 1, &value), POOL_OK);
        assert_int_equal(value, 2);
        write_file("tested.h", "");
        assert_int_equal(compile(source, NULL, options, 1, &value), POOL_OK);
        assert_int_equal(value, 1);
        remove_file("tested.h");
    }
}

/* A header that changes during the compilation: the caller gets the result, and nothing is cached.
 */
static void test_changed_meanwhile(void **state)
{
    char joined[80];
    const char *const options[] = {joined};
    int32_t value;

    (void)state;
    snprintf(joined, sizeof(joined), "-I%s", root);
    write_file("outer.h", "#define VALUE 20\n");
    text_when_compiled = "#define VALUE 21\n";
    assert_int_equal(compile(with_header, NULL, options, 1, &value), POOL_OK);
    assert_int_equal(value, 20);
    text_when_compiled = NULL;
    write_file("outer.h", "#define VALUE 20\n");
    assert_int_equal(compile(with_header, NULL, options, 1, &value), POOL_OK);
    assert_int_equal(compiled, 1);
    assert_int_equal(compile(with_header, NULL, options, 1, &value), POOL_OK);
    assert_int_equal(compiled, 0);
}

static int fail_files(void *user, const char *operation)
{
    (void)user;
    (void)operation;
    return EIO;
}

/* Files that cannot be read now are no reason to fail, and none to keep anything. */
static void test_unreadable(void **state)
{
    char joined[80];
    const char *const options[] = {joined};
    int32_t value;

    (void)state;
    snprintf(joined, sizeof(joined), "-I%s", root);
    write_file("outer.h", "#define VALUE 9\n");
    base_file_set_hook(fail_files, NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(compile(with_header, NULL, options, 1, &value), POOL_OK);
        assert_int_equal(value, 9);
        assert_int_equal(compiled, 1);
    }
    base_file_set_hook(NULL, NULL);
}

static int begin(void **state)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = device_string};
    char path[128];

    (void)state;
    strcpy(root, "/tmp/devicepool-headers-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(path, sizeof(path), "%s/sub", root);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/cache", root);
    setenv("DEVICEPOOL_CACHE_DIR", path, 1);
    unsetenv("DEVICEPOOL_CACHE");
    if (pool_create(&pool, &params))
        return -1;
    pool_log_set(hear, NULL, POOL_LOG_INFO);
    return pool_device_at(pool, 0, &device);
}

static int end(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return (int)pool_destroy(&pool) + system(command);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_toolkit_headers),
        cmocka_unit_test(test_changed_headers), cmocka_unit_test(test_hidden_headers),
        cmocka_unit_test(test_beside_the_source), cmocka_unit_test(test_computed_names),
        cmocka_unit_test(test_spellings_of_include), cmocka_unit_test(test_queries_in_macros),
        cmocka_unit_test(test_changed_meanwhile), cmocka_unit_test(test_unreadable)};
    device_pool *there = NULL;
    pool_params params = {.struct_size = sizeof(params)};

    device_string = argc > 1 ? argv[1] : NULL;
    params.devices = device_string;
    if (driver_nvrtc_open(&nvrtc) || pool_create(&there, &params)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    pool_destroy(&there);
    return cmocka_run_group_tests(tests, begin, end);
}
