/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that NVRTC gets: one value each, the caller's before the library's and the last one
 * before the others. What NVRTC 11.8 and 12.4 refuse if it is given twice was tried with them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "driver/nvrtc.h"
#include "pool/module/options.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The options for a chip 9.0, joined by spaces. */
static const char *options_of(int version, int reads_files, const char *const *given, size_t count)
{
    static char joined[1024];
    static const char *const defines[] = {"A=1", "A=2"};
    pool_module_params params = {.options = given,
        .option_count = count,
        .defines = defines,
        .define_count = COUNT(defines)};
    struct module_request request = {.params = &params, .reads_files = reads_files};
    struct nvrtc nvrtc = {.version = version};
    struct module_target target = {"90", MODULE_CUBIN};
    const char **options;
    int n = 0;

    strcpy(nvrtc.includes[0], "/toolkit");
    module_options_target(&params, &target);
    options = module_options_new(&nvrtc, &request, &target, &n);
    assert_non_null(options);
    joined[0] = '\0';
    for (int i = 0; i < n; i++)
        snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%s", i ? " " : "",
            options[i]);
    base_free(options);
    return joined;
}

#define HEAD "--gpu-architecture=sm_90 "
#define DEFINES "-DA=1 -DA=2"

static void test_own_options(void **state)
{
    (void)state;
    assert_string_equal(
        options_of(13000, 0, NULL, 0), HEAD "--std=c++17 --no-source-include " DEFINES);
    assert_string_equal(options_of(11080, 0, NULL, 0), HEAD "--std=c++17 " DEFINES);
    assert_string_equal(options_of(13000, 1, NULL, 0), HEAD "--std=c++17 " DEFINES " -I/toolkit");
}

static void test_callers_before_own(void **state)
{
    static const char *const shorter[] = {"-std=c++14"}, *const longer[] = {"--std=c++20"},
                             *const own[] = {"--no-source-include"};

    (void)state;
    assert_string_equal(options_of(11080, 0, shorter, 1), HEAD DEFINES " -std=c++14");
    assert_string_equal(
        options_of(13000, 0, longer, 1), HEAD "--no-source-include " DEFINES " --std=c++20");
    assert_string_equal(
        options_of(12040, 0, own, 1), HEAD "--std=c++17 " DEFINES " --no-source-include");
}

/* Each pair is refused by NVRTC 11.8 or 12.4: only the second one remains. */
static void test_repeated_options(void **state)
{
    static const char *const pairs[][2] = {{"--std=c++17", "-std=c++14"},
        {"-maxrregcount=32", "--maxrregcount=64"}, {"-use_fast_math", "--use_fast_math"},
        {"--fmad=true", "-fmad=false"}, {"--device-debug", "-G"},
        {"-lineinfo", "--generate-line-info"}, {"-rdc=true", "--relocatable-device-code=false"},
        {"-dc", "--device-c"}, {"-dw", "-dw"},
        {"-default-device", "--device-as-default-execution-space"}, {"-w", "--disable-warnings"},
        {"--restrict", "-restrict"}, {"-dlto", "--dlink-time-opt"},
        {"-ewp", "--extensible-whole-program"}, {"--version-ident=true", "-dQ=false"},
        {"-brief-diag=true", "--brief-diagnostics=false"}, {"-err-no", "--display-error-number"}};
    char expected[128];

    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        bool is_standard = strstr(pairs[i][1], "std=") != NULL;

        snprintf(expected, sizeof(expected), HEAD "%s" DEFINES " %s",
            is_standard ? "" : "--std=c++17 ", pairs[i][1]);
        assert_string_equal(options_of(11080, 0, pairs[i], 2), expected);
    }
}

/* NVRTC takes all of these: each occurrence adds something, also one that has the same text. */
static void test_lists(void **state)
{
    static const char *const given[] = {"-I/a", "-I", "/b", "--include-path=/a", "-DX=1", "-DX=1",
        "--define-macro=X=2", "-UX", "-UX", "-include=a.h", "--pre-include=a.h",
        "--ptxas-options=-v", "-Xptxas=-O2", "--diag-suppress=177", "--diag-suppress=178",
        "-opt-info=inline", "-opt-info=inline", "-dw", "-dc"};
    char expected[512] = HEAD "--std=c++17 " DEFINES;

    (void)state;
    for (size_t i = 0; i < COUNT(given); i++)
        snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), " %s", given[i]);
    assert_string_equal(options_of(11080, 0, given, COUNT(given)), expected);
}

/* The caller's architecture, which decides the form too. */
static void test_architecture(void **state)
{
    static const char *const code[] = {"-arch=compute_80", "--gpu-architecture=sm_90a"},
                             *const ptx[] = {"-arch=compute_80"}, *const other[] = {"-arch=native"};
    const pool_module_params params = {.options = ptx, .option_count = 1};
    struct module_target target = {"90", MODULE_CUBIN};

    (void)state;
    assert_string_equal(
        options_of(11080, 0, code, 2), "--gpu-architecture=sm_90a --std=c++17 " DEFINES);
    assert_string_equal(
        options_of(11080, 0, ptx, 1), "--gpu-architecture=compute_80 --std=c++17 " DEFINES);
    assert_string_equal(options_of(11080, 0, other, 1), "--std=c++17 " DEFINES " -arch=native");
    assert_true(module_options_target(&params, &target));
    assert_string_equal(target.chip, "80");
    assert_int_equal(target.form, MODULE_PTX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_options),
        cmocka_unit_test(test_callers_before_own),
        cmocka_unit_test(test_repeated_options),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_architecture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
