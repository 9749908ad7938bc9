/* SPDX-License-Identifier: Apache-2.0 */
/* The profile as programs read it: by kernel, device and line, as text and as JSON. */
#include "kernels.h"

#include <cjson/cJSON.h>

/* A transposition of a tile of 32 × 32 words in shared memory, read by columns. */
static const char transpose_ptx[] =
    PTX_HEAD ".file 1 \"transpose.cu\"\n"
             ".visible .entry transpose(.param .u64 out)\n{\n"
             ".reg .b32 %x,%y,%a,%w,%v; .reg .b64 %o,%l;\n"
             ".shared .align 4 .b8 tile[4096];\n"
             "ld.param.u64 %o, [out]; mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %w, tile;\n"
             "mad.lo.u32 %a, %y, 32, %x; mad.lo.u32 %v, %a, 4, %w;\n"
             ".loc 1 10 0\nst.shared.u32 [%v], %a;\nbar.sync 0;\n"
             "mad.lo.u32 %a, %x, 32, %y; mad.lo.u32 %v, %a, 4, %w;\n"
             ".loc 1 12 0\nld.shared.u32 %v, [%v];\n"
             "mul.wide.u32 %l, %a, 4; add.u64 %l, %l, %o;\n"
             ".loc 1 13 0\nst.global.u32 [%l], %v;\nret;\n}\n";

static const cJSON *accesses_of(const cJSON *profile, const char *space, const char *access)
{
    const cJSON *row;

    cJSON_ArrayForEach(row, cJSON_GetObjectItem(profile, "accesses"))
    {
        if (!strcmp(cJSON_GetObjectItem(row, "space")->valuestring, space) &&
            !strcmp(cJSON_GetObjectItem(row, "access")->valuestring, access))
            return row;
    }
    fail_msg("no %s %s", space, access);
    return NULL;
}

static void assert_number(const cJSON *object, const char *name, double value)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);

    if (!item || item->valuedouble < value || item->valuedouble > value)
        fail_msg("%s is %g and not %g", name, item ? item->valuedouble : -1, value);
}

static cJSON *read_profile(void)
{
    char *text = NULL;
    cJSON *list;

    assert_int_equal(pool_sim_profile_text(POOL_TEXT_JSON, &text), POOL_OK);
    list = cJSON_Parse(text);
    assert_non_null(list);
    pool_text_free(&text);
    return list;
}

static void assert_text(const char *part)
{
    char *text = NULL;

    assert_int_equal(pool_sim_profile_text(POOL_TEXT_PLAIN, &text), POOL_OK);
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in\n%s", part, text);
    pool_text_free(&text);
}

static void launch_transpose(uint32_t launches)
{
    CUfunction function = kernel(load(transpose_ptx), "transpose");
    CUdeviceptr memory = 0;
    void *arguments[] = {&memory};

    assert_int_equal(cu->MemAlloc(&memory, 4096), 0);
    for (uint32_t i = 0; i < launches; i++)
        assert_int_equal(
            cu->LaunchKernel(function, 2, 1, 1, 32, 32, 1, 0, NULL, arguments, NULL), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(cu->MemFree(memory), 0);
}

static void test_transpose(void **state)
{
    cJSON *list;
    const cJSON *profile;

    (void)state;
    sim_begin_context("sim:sms=8,report=profile");
    assert_text("no kernel was profiled");
    launch_transpose(3);
    launch_transpose(1); /* another module of the same text */
    list = read_profile();
    assert_int_equal(cJSON_GetArraySize(list), 1);
    profile = cJSON_GetArrayItem(list, 0);
    assert_string_equal(cJSON_GetObjectItem(profile, "kernel")->valuestring, "transpose");
    assert_number(profile, "launches", 4);
    assert_number(profile, "blocks", 8);
    assert_number(profile, "block_threads", 1024);
    assert_number(profile, "shared_bytes", 4096);
    /* A multiprocessor of 9.0 has 2048 threads. */
    assert_number(profile, "resident_blocks", 2);
    assert_number(profile, "occupancy", 1);
    assert_string_equal(cJSON_GetObjectItem(profile, "limited_by")->valuestring, "threads");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(profile, "accesses")), 3);
    /* 8 blocks of 32 warps */
    const cJSON *row = accesses_of(profile, "shared", "write");
    assert_number(row, "line", 10);
    assert_number(row, "requests", 256);
    assert_number(row, "passes", 256);
    assert_number(row, "most_ways", 1);
    row = accesses_of(profile, "shared", "read");
    assert_string_equal(cJSON_GetObjectItem(row, "file")->valuestring, "transpose.cu");
    assert_number(row, "line", 12);
    assert_number(row, "passes", 256 * 32);
    assert_number(row, "least_passes", 256);
    assert_number(row, "most_ways", 32);
    row = accesses_of(profile, "global", "write");
    assert_number(row, "sectors", 256 * 32);
    assert_number(row, "least_sectors", 256 * 4);
    cJSON_Delete(list);
    assert_text("transpose on device 0: 4 launches, 8 blocks of 1024 threads\n");
    assert_text("occupancy 100 %: 2 blocks on a multiprocessor, limited by threads (");
    assert_text("2.0 blocks a launch, of 16 that the device has at once\n");
    assert_text("instructions of warps, with 32.0 of 32 lanes: ");
    assert_text("; 32-way bank conflict\n  ");
    assert_text("transpose.cu:13");
    assert_text("32.0 sectors each, least  4.0; uncoalesced, 12 % of the bytes are used");
    assert_int_equal(pool_sim_kernel_stats_reset(), POOL_OK);
    assert_text("no kernel was profiled");
    sim_end_context();
}

/* Kernels of the same name in modules of other texts, other shapes of blocks and other devices are
 * apart; what runs without the report is not there. */
static void test_apart(void **state)
{
    CUdeviceptr memory = 0;
    uint32_t count = 64;
    void *arguments[] = {&memory, &count};
    cJSON *list;

    (void)state;
    sim_begin_context("sim");
    assert_int_equal(cu->MemAlloc(&memory, 256), 0);
    CUmodule module = load(kernels_ptx);
    assert_int_equal(launch(kernel(module, "add_one"), 2, 32, arguments), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_text("no kernel was profiled");
    assert_int_equal(pool_sim_set_reports(POOL_SIM_REPORT_PROFILE), POOL_OK);
    assert_int_equal(launch(kernel(module, "add_one"), 2, 32, arguments), 0);
    assert_int_equal(launch(kernel(module, "add_one"), 1, 64, arguments), 0);
    char *other = strdup(kernels_ptx);
    assert_non_null(other);
    memcpy(strstr(other, "= 5;"), "= 6;", 4);
    assert_int_equal(launch(kernel(load(other), "add_one"), 2, 32, arguments), 0);
    free(other);
    assert_int_equal(cu->CtxSynchronize(), 0);
    list = read_profile();
    assert_int_equal(cJSON_GetArraySize(list), 3);
    /* Without .loc the lines are those of the PTX. */
    const cJSON *row = accesses_of(cJSON_GetArrayItem(list, 0), "global", "write");
    assert_number(row, "ptx_line", 24);
    assert_null(cJSON_GetObjectItem(row, "file"));
    assert_number(row, "requests", 2);
    cJSON_Delete(list);
    assert_text("PTX line 24");
    assert_int_equal(cu->MemFree(memory), 0);
    sim_close();
}

static void test_refusals(void **state)
{
    char *text = NULL;

    (void)state;
    assert_int_equal(pool_sim_profile_text(POOL_TEXT_PLAIN, &text), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_sim_profile_text(POOL_TEXT_PLAIN, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_sim_profile_text((pool_text_format)9, &text), POOL_ERR_INVALID_ARGUMENT);
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_apart), cmocka_unit_test(test_refusals)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
