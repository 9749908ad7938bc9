/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules, kernels and launches of the simulated driver: what is refused, what runs, how it fails.
 */
#include "sim_kernels.h"
#include "sim_test.h"

static CUmodule load(const char *text)
{
    CUmodule module = NULL;

    assert_int_equal(cu->ModuleLoadData(&module, text), 0);
    return module;
}

static CUfunction kernel(CUmodule module, const char *name)
{
    CUfunction function = NULL;

    assert_int_equal(cu->ModuleGetFunction(&function, module, name), 0);
    return function;
}

static pool_cu_result launch(CUfunction function, unsigned grid, unsigned block, void **arguments)
{
    return cu->LaunchKernel(function, grid, 1, 1, block, 1, 1, 0, NULL, arguments, NULL);
}

static pool_sim_fault last_fault(void)
{
    pool_sim_fault fault = {.struct_size = sizeof fault};

    assert_int_equal(pool_sim_last_fault(&fault), POOL_OK);
    return fault;
}

/* ---- loading ----------------------------------------------------------------------------------
 */

static void test_images(void **state)
{
    static const struct {
        const char *text;
        pool_cu_result code;
    } images[] = {
        {"", 200},
        {"hello", 200},
        {"// only a comment", 200},
        {"/* not even that", 200},
        {"\177ELF\2\1\1", 209},
        {"\x50\xed\x55\xba\1", 209},
        {"!<arch>\n", 209},
        {"  // comment\n/* another */ .version 8.0\n.target sm_75\n.address_size 64\n", 0},
        {".version 9.0\n.target sm_90\n.address_size 64\n", 0},
        {".version 9.0\n.target sm_90a\n.address_size 64\n", 0},
        {".version 9.1\n.target sm_90\n.address_size 64\nwhatever is new there\n", 222},
        {".version 99.0\n", 222},
        {".version 8.7\n.target sm_100\n.address_size 64\n", 218},
        {".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { oops; }\n", 218},
        {".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() {\n", 218},
    };
    CUmodule module = NULL;

    (void)state;
    sim_begin_context("sim");
    for (size_t at = 0; at < sizeof images / sizeof images[0]; at++) {
        pool_cu_result code = cu->ModuleLoadData(&module, images[at].text);

        if (code != images[at].code)
            fail_msg("\"%s\" answers %u, not %u", images[at].text, code, images[at].code);
        if (!code)
            assert_int_equal(cu->ModuleUnload(module), 0);
    }
    assert_int_equal(cu->ModuleUnload(module), 400);
    assert_int_equal(cu->ModuleLoadData(&module, NULL), 1);
    assert_int_equal(cu->ModuleLoadData(NULL, kernels_ptx), 1);
    assert_int_equal(cu->ModuleUnload(NULL), 400);
    sim_end_context();
    /* A target for one chip runs on no other. */
    sim_begin_context("sim:cc=100");
    assert_int_equal(
        cu->ModuleLoadData(&module, ".version 9.0\n.target sm_90a\n.address_size 64\n"), 218);
    sim_end_context();
}

static void test_log_buffers(void **state)
{
    static const char wrong[] = PTX_HEAD ".visible .entry f()\n{\n frobnicate.u32 %r1;\n ret;\n}\n";
    char error[512], info[512], small[10];
    pool_cu_enum options[4] = {5, 6, 3, 4};
    void *values[4] = {error, (void *)sizeof error, info, (void *)sizeof info};
    CUmodule module = NULL;

    (void)state;
    sim_begin_context("sim");
    memset(error, 'x', sizeof error);
    assert_int_equal(cu->ModuleLoadDataEx(&module, wrong, 4, options, values), 218);
    assert_non_null(strstr(error, "ptxas application ptx input, line 6; error"));
    assert_non_null(strstr(error, "frobnicate"));
    assert_int_equal((uintptr_t)values[1], strlen(error) + 1);
    assert_string_equal(info, "");
    values[0] = small;
    values[1] = (void *)sizeof small;
    values[3] = (void *)sizeof info;
    assert_int_equal(cu->ModuleLoadDataEx(&module, wrong, 4, options, values), 218);
    assert_int_equal(strlen(small), sizeof small - 1);
    values[1] = (void *)sizeof small;
    values[3] = (void *)sizeof info;
    assert_int_equal(cu->ModuleLoadDataEx(&module, kernels_ptx, 4, options, values), 0);
    assert_string_equal(small, "");
    assert_non_null(strstr(info, "Function 'add_one'"));
    assert_int_equal(cu->ModuleUnload(module), 0);
    options[0] = 99;
    assert_int_equal(cu->ModuleLoadDataEx(&module, kernels_ptx, 1, options, values), 1);
    assert_int_equal(cu->ModuleLoadDataEx(&module, kernels_ptx, 1, NULL, NULL), 1);
    sim_end_context();
}

static void test_names(void **state)
{
    CUcontext context = sim_begin_context("sim"), other = NULL;
    CUfunction function = NULL, again = NULL;
    CUmodule module = load(kernels_ptx);
    CUdeviceptr address = 0;
    uint8_t table[8];
    size_t bytes = 0;
    uint32_t value;

    (void)state;
    assert_int_equal(cu->ModuleGetFunction(&function, module, "nothing"), 500);
    assert_int_equal(cu->ModuleGetFunction(&function, module, NULL), 1);
    assert_int_equal(cu->ModuleGetFunction(NULL, module, "add_one"), 1);
    assert_int_equal(cu->ModuleGetFunction(&function, NULL, "add_one"), 400);
    assert_int_equal(cu->ModuleGetFunction(&function, module, "add_one"), 0);
    assert_int_equal(cu->ModuleGetFunction(&again, module, "add_one"), 0);
    assert_ptr_equal(function, again);
    assert_int_equal(cu->ModuleGetGlobal(&address, &bytes, module, "nothing"), 500);
    assert_int_equal(cu->ModuleGetGlobal(&address, &bytes, module, "table"), 0);
    assert_int_equal(bytes, 8);
    assert_int_equal(cu->MemcpyDtoH(table, address, 8), 0);
    assert_memory_equal(table, "\1\2\3\4\5\6\7\10", 8);
    assert_int_equal(cu->MemFree(address), 1); /* it is the module's */
    assert_int_equal(cu->ModuleGetGlobal(&address, &bytes, module, "counter"), 0);
    assert_int_equal(bytes, 4);
    assert_int_equal(cu->MemcpyDtoH(&value, address, 4), 0);
    assert_int_equal(value, 5);
    value = 9;
    void *arguments[] = {&value};
    assert_int_equal(launch(kernel(module, "set_count"), 1, 1, arguments), 0);
    value = 0; /* taken at the call */
    assert_int_equal(cu->MemcpyDtoH(&value, address, 4), 0);
    assert_int_equal(value, 9);
    /* Variables are a context's own. */
    assert_int_equal(cu->CtxCreate(&other, 0, 0), 0);
    CUmodule second = load(kernels_ptx);
    assert_int_equal(cu->ModuleGetGlobal(&address, NULL, second, "counter"), 0);
    assert_int_equal(cu->MemcpyDtoH(&value, address, 4), 0);
    assert_int_equal(value, 5);
    assert_int_equal(launch(function, 1, 1, arguments), 400); /* a kernel of another context */
    assert_int_equal(cu->CtxDestroy(other), 0);
    assert_int_equal(cu->CtxSetCurrent(context), 0);
    assert_int_equal(cu->ModuleUnload(module), 0);
    assert_int_equal(cu->ModuleUnload(module), 400);
    assert_int_equal(launch(function, 1, 1, arguments), 400);
    assert_int_equal(cu->FuncGetAttribute(&(int){0}, 0, function), 400);
    sim_end_context();
}

/* ---- kernels ----------------------------------------------------------------------------------
 */

static int attribute(CUfunction function, pool_cu_enum which)
{
    int value = -77;

    assert_int_equal(cu->FuncGetAttribute(&value, which, function), 0);
    return value;
}

static void test_attributes(void **state)
{
    size_t offset = 99, bytes = 99;
    CUfunction function;
    CUmodule module;
    int value;

    (void)state;
    sim_begin_context("sim:cc=80");
    module = load(kernels_ptx);
    function = kernel(module, "bounded");
    assert_int_equal(attribute(function, 0), 64);
    assert_int_equal(attribute(function, 1), 1024);
    assert_int_equal(attribute(function, 2), 8);
    assert_true(attribute(function, 4) > 0 && attribute(function, 4) <= 255);
    assert_int_equal(attribute(function, 5), 75);
    assert_int_equal(attribute(function, 6), 80);
    assert_int_equal(attribute(function, 8), 49152 - 1024);
    assert_int_equal(cu->FuncGetAttribute(&value, 99, function), 1);
    assert_int_equal(cu->FuncGetAttribute(NULL, 0, function), 1);
    assert_int_equal(cu->FuncSetAttribute(function, 8, 166912 - 1024), 0);
    assert_int_equal(attribute(function, 8), 166912 - 1024);
    assert_int_equal(cu->FuncSetAttribute(function, 8, 166912 - 1023), 1);
    assert_int_equal(cu->FuncSetAttribute(function, 8, -1), 1);
    assert_int_equal(cu->FuncSetAttribute(function, 9, 50), 0);
    assert_int_equal(cu->FuncSetAttribute(function, 9, 101), 1);
    assert_int_equal(cu->FuncSetAttribute(function, 0, 32), 1);
    assert_int_equal(cu->FuncSetCacheConfig(function, 1), 0);
    assert_int_equal(cu->FuncSetCacheConfig(function, 4), 1);
    assert_int_equal(cu->FuncGetParamInfo(function, 0, &offset, &bytes), 0);
    assert_true(offset == 0 && bytes == 8);
    assert_int_equal(cu->FuncGetParamInfo(function, 1, &offset, &bytes), 0);
    assert_true(offset == 8 && bytes == 4);
    assert_int_equal(cu->FuncGetParamInfo(function, 2, &offset, &bytes), 0);
    assert_true(offset == 16 && bytes == 24);
    assert_int_equal(cu->FuncGetParamInfo(function, 3, &offset, &bytes), 1);
    assert_int_equal(cu->FuncGetParamInfo(function, 0, NULL, &bytes), 1);
    assert_int_equal(cu->ModuleUnload(module), 0);
    sim_end_context();
}

static size_t shared_of(int block_size)
{
    return (size_t)block_size * 64;
}

static void test_occupancy(void **state)
{
    CUfunction function;
    CUmodule module;
    int blocks = -1, grid = -1, block = -1;

    (void)state;
    sim_begin_context("sim:cc=90,sms=3");
    module = load(kernels_ptx);
    function = kernel(module, "exactly"); /* nothing but threads limits it */
    assert_int_equal(cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, 0), 0);
    assert_int_equal(blocks, 32);
    function = kernel(module, "add_one");
    assert_int_equal(cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0), 0);
    assert_int_equal(blocks, 8);
    assert_int_equal(
        cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 100000), 0);
    assert_int_equal(blocks, 2);
    assert_int_equal(
        cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 300000), 0);
    assert_int_equal(blocks, 0);
    assert_int_equal(cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 0, 0), 1);
    assert_int_equal(cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 2000, 0), 0);
    assert_int_equal(blocks, 0);
    assert_int_equal(cu->OccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0), 0);
    assert_int_equal(block, 1024);
    assert_int_equal(grid, 6);
    assert_int_equal(cu->OccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 100), 0);
    assert_true(block <= 100 && block > 0 && grid == 3 * (2048 / block));
    assert_int_equal(
        cu->OccupancyMaxPotentialBlockSize(&grid, &block, function, shared_of, 0, 0), 0);
    assert_true(block > 0 && grid > 0);
    assert_int_equal(cu->ModuleUnload(module), 0);
    sim_end_context();
}

/* A kernel with these launch bounds that has 300 registers in use at once. */
static CUmodule load_hungry(const char *bounds)
{
    char text[32768];
    int used = snprintf(text, sizeof text,
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry hungry(.param .u64 p)\n%s\n"
        "{ .reg .b64 %%p; .reg .b32 %%r<300>; ld.param.u64 %%p, [p];\n",
        bounds);

    for (int is_store = 0; is_store < 2; is_store++)
        for (int at = 0; at < 300; at++)
            used += is_store ? snprintf(text + used, sizeof text - (size_t)used,
                                   "st.global.u32 [%%p+%d], %%r%d;\n", at * 4, 299 - at)
                             : snprintf(text + used, sizeof text - (size_t)used,
                                   "ld.global.u32 %%r%d, [%%p+%d];\n", at, at * 4);
    snprintf(text + used, sizeof text - (size_t)used, "ret; }\n");
    return load(text);
}

/* The most registers that ptxas 13.0 lets a kernel have. */
static void test_launch_bounds(void **state)
{
    static const struct {
        const char *devices, *bounds;
        int registers;
    } rows[] = {{"sim:cc=90", "", 255}, {"sim:cc=90", ".maxntid 1024", 64},
        {"sim:cc=90", ".reqntid 32, 32", 64}, {"sim:cc=90", ".maxntid 640", 96},
        {"sim:cc=90", ".maxntid 300", 168}, {"sim:cc=90", ".maxntid 2048", 32},
        {"sim:cc=90", ".maxntid 4096", 255}, {"sim:cc=90", ".minnctapersm 4", 255},
        {"sim:cc=90", ".maxntid 256\n.minnctapersm 3", 80},
        {"sim:cc=90", ".maxntid 100\n.minnctapersm 6", 80},
        {"sim:cc=90", ".maxntid 33\n.minnctapersm 31", 32},
        {"sim:cc=90", ".maxntid 1024\n.minnctapersm 3", 64},
        {"sim:cc=86", ".maxntid 1024\n.minnctapersm 2", 64},
        {"sim:cc=86", ".maxntid 32\n.minnctapersm 32", 255}, {"sim:cc=86", ".maxntid 2048", 255},
        {"sim:cc=86", ".maxntid 1536", 40}};

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        sim_begin_context(rows[at].devices);
        CUmodule module = load_hungry(rows[at].bounds);
        assert_int_equal(attribute(kernel(module, "hungry"), 4), rows[at].registers);
        assert_int_equal(cu->ModuleUnload(module), 0);
        sim_end_context();
    }
}

/* A kernel that says that its blocks have 1024 threads can be launched so; without that it cannot.
 */
static void test_bound_of_the_largest_block(void **state)
{
    (void)state;
    for (int is_bound = 0; is_bound < 2; is_bound++) {
        CUdeviceptr memory = 0;
        void *arguments[] = {&memory};
        int blocks = -1;
        sim_begin_context("sim");
        assert_int_equal(cu->MemAlloc(&memory, 4096), 0);
        CUmodule module = load_hungry(is_bound ? ".maxntid 1024, 1, 1" : "");
        CUfunction function = kernel(module, "hungry");
        assert_int_equal(attribute(function, 0), is_bound ? 1024 : 256);
        assert_int_equal(
            cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0), 0);
        assert_int_equal(blocks, is_bound);
        assert_int_equal(launch(function, 1, 1024, arguments), is_bound ? 0 : 701);
        assert_int_equal(cu->CtxSynchronize(), 0);
        assert_int_equal(cu->MemFree(memory), 0);
        assert_int_equal(cu->ModuleUnload(module), 0);
        sim_end_context();
    }
}

/* ---- launches ---------------------------------------------------------------------------------
 */

static void test_refused_launches(void **state)
{
    CUfunction add, bounded, exactly, dynamic;
    CUdeviceptr memory = 0;
    uint32_t count = 0;
    char big[24] = {0};
    void *arguments[] = {&memory, &count}, *three[] = {&memory, &count, big},
         *holes[] = {&memory, 0};
    uint8_t packed[12] = {0};
    size_t packed_bytes = sizeof packed;
    void *extra[] = {(void *)1, packed, (void *)2, &packed_bytes, NULL};
    CUmodule module;

    (void)state;
    sim_begin_context("sim:sms=2");
    module = load(kernels_ptx);
    add = kernel(module, "add_one");
    bounded = kernel(module, "bounded");
    exactly = kernel(module, "exactly");
    dynamic = kernel(module, "uses_dynamic");
    assert_int_equal(launch(NULL, 1, 1, arguments), 400);
    assert_int_equal(launch(add, 0, 1, arguments), 1);
    assert_int_equal(launch(add, 1, 0, arguments), 1);
    assert_int_equal(launch(add, 1, 1025, arguments), 1);
    assert_int_equal(launch(add, 0x80000000u, 1, arguments), 1);
    assert_int_equal(cu->LaunchKernel(add, 1, 65536, 1, 1, 1, 1, 0, NULL, arguments, NULL), 1);
    assert_int_equal(cu->LaunchKernel(add, 1, 1, 1, 1, 1, 65, 0, NULL, arguments, NULL), 1);
    assert_int_equal(cu->LaunchKernel(add, 1, 1, 1, 64, 32, 1, 0, NULL, arguments, NULL), 1);
    assert_int_equal(launch(add, 1, 1, NULL), 1);
    assert_int_equal(launch(add, 1, 1, holes), 1);
    assert_int_equal(cu->LaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, extra), 1);
    assert_int_equal(cu->LaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), 0);
    packed_bytes = 8;
    assert_int_equal(cu->LaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), 1);
    assert_int_equal(launch(bounded, 1, 65, three), 1);
    assert_int_equal(launch(bounded, 1, 64, three), 0);
    assert_int_equal(launch(exactly, 1, 64, NULL), 1);
    assert_int_equal(cu->LaunchKernel(exactly, 1, 1, 1, 32, 2, 1, 0, NULL, NULL, NULL), 0);
    assert_int_equal(
        cu->LaunchKernel(dynamic, 1, 1, 1, 1, 1, 1, 49153, NULL, &arguments[1], NULL), 1);
    assert_int_equal(
        cu->LaunchKernel(dynamic, 1, 1, 1, 1, 1, 1, 49152, NULL, &arguments[1], NULL), 0);
    assert_int_equal(cu->FuncSetAttribute(dynamic, 8, 100000), 0);
    assert_int_equal(
        cu->LaunchKernel(dynamic, 1, 1, 1, 1, 1, 1, 100000, NULL, &arguments[1], NULL), 0);
    /* 2048 threads a multiprocessor, two of them: four blocks of 1024 at once. */
    assert_int_equal(cu->LaunchCooperativeKernel(add, 4, 1, 1, 1024, 1, 1, 0, NULL, arguments), 0);
    assert_int_equal(
        cu->LaunchCooperativeKernel(add, 5, 1, 1, 1024, 1, 1, 0, NULL, arguments), 720);
    pool_cu_launch_attribute attribute = {.id = 2, .value.number = 1};
    pool_cu_launch_config config = {
        .grid = {5, 1, 1}, .block = {1024, 1, 1}, .attributes = &attribute, .attribute_count = 1};
    assert_int_equal(cu->LaunchKernelEx(&config, add, arguments, NULL), 720);
    attribute.id = 6;
    assert_int_equal(cu->LaunchKernelEx(&config, add, arguments, NULL), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(cu->ModuleUnload(module), 0);
    sim_end_context();
}

static int keep(void *user, const pool_sim_kernel_stats *stats)
{
    pool_sim_kernel_stats *kept = user;

    if (strcmp(stats->kernel, "add_one") != 0)
        return 0;
    *kept = *stats;
    return 1;
}

static void test_running_and_counting(void **state)
{
    static uint32_t values[1000];
    pool_sim_kernel_stats stats = {0}, second = {0};
    uint32_t count = 1000;
    CUdeviceptr memory = 0;
    void *arguments[] = {&memory, &count};
    CUmodule module;
    char *text = NULL;

    (void)state;
    sim_begin_context("sim");
    module = load(kernels_ptx);
    assert_int_equal(cu->MemAlloc(&memory, sizeof values), 0);
    for (uint32_t at = 0; at < count; at++)
        values[at] = at * 3;
    assert_int_equal(cu->MemcpyHtoD(memory, values, sizeof values), 0);
    assert_int_equal(launch(kernel(module, "add_one"), 8, 128, arguments), 0);
    assert_int_equal(cu->MemcpyDtoH(values, memory, sizeof values), 0);
    for (uint32_t at = 0; at < count; at++)
        assert_int_equal(values[at], at * 3 + 1);
    assert_int_equal(pool_sim_kernel_stats_each(keep, &stats), POOL_OK);
    assert_int_equal(stats.launches, 1);
    assert_int_equal(stats.blocks, 8);
    assert_int_equal(stats.threads, 1024);
    assert_true(stats.warp_instructions > 0);
    assert_true(stats.lane_instructions >= 1000 * 10);
    uint64_t sum = 0;
    for (uint32_t at = 0; at < POOL_SIM_CLASSES; at++)
        sum += stats.lanes_by_class[at];
    assert_int_equal(sum, stats.lane_instructions);
    assert_int_equal(launch(kernel(module, "add_one"), 8, 128, arguments), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(pool_sim_kernel_stats_each(keep, &second), POOL_OK);
    assert_int_equal(second.launches, 2);
    assert_int_equal(second.lane_instructions, 2 * stats.lane_instructions); /* the same again */
    assert_int_equal(pool_sim_kernel_stats_text(0, &text), POOL_OK);
    assert_non_null(strstr(text, "add_one"));
    pool_text_free(&text);
    assert_int_equal(pool_sim_kernel_stats_text(1, &text), POOL_OK);
    assert_non_null(strstr(text, "\"kernel\":\t\"add_one\""));
    pool_text_free(&text);
    assert_int_equal(pool_sim_kernel_stats_reset(), POOL_OK);
    memset(&second, 0, sizeof second);
    assert_int_equal(pool_sim_kernel_stats_each(keep, &second), POOL_OK);
    assert_int_equal(second.launches, 0);
    assert_int_equal(cu->MemFree(memory), 0);
    assert_int_equal(cu->ModuleUnload(module), 0);
    sim_end_context();
}

static void test_out_of_bounds(void **state)
{
    uint32_t count = 65;
    CUdeviceptr memory = 0;
    void *arguments[] = {&memory, &count};
    pool_sim_fault fault;
    CUfunction function;

    (void)state;
    sim_begin_context("sim");
    function = kernel(load(kernels_ptx), "add_one");
    assert_int_equal(cu->MemAlloc(&memory, 64 * 4), 0); /* one element too few */
    assert_int_equal(launch(function, 3, 32, arguments), 0);
    assert_int_equal(cu->CtxSynchronize(), 700);
    fault = last_fault();
    assert_int_equal(fault.driver_code, 700);
    assert_string_equal(fault.kernel, "add_one");
    assert_int_equal(fault.block[0], 2);
    assert_int_equal(fault.thread[0], 0);
    assert_true(fault.line == 22 || fault.line == 24);
    assert_true(fault.address == memory + 64 * 4);
    assert_int_equal(fault.bytes, 4);
    assert_true(fault.nearest_address == memory && fault.nearest_bytes == 64 * 4);
    assert_string_equal(fault.space, "global");
    assert_int_equal(launch(function, 1, 1, arguments), 700);
    sim_close();
}

static void test_use_after_free(void **state)
{
    CUdeviceptr memory = 0, other = 0;
    uint32_t count = 1;
    void *arguments[] = {&memory, &count};
    CUfunction function;

    (void)state;
    sim_begin_context("sim");
    function = kernel(load(kernels_ptx), "add_one");
    assert_int_equal(cu->MemAlloc(&memory, 256), 0);
    assert_int_equal(cu->MemFree(memory), 0);
    assert_int_equal(cu->MemAlloc(&other, 256), 0);
    assert_true(other != memory); /* a place is not used again soon */
    assert_int_equal(launch(function, 1, 1, arguments), 0);
    assert_int_equal(cu->StreamSynchronize(NULL), 700);
    assert_non_null(strstr(last_fault().text, "freed before"));
    sim_close();
}

/* Another context's memory is not there for a kernel, unless just that context is a peer. */
static void test_foreign_memory(void **state)
{
    for (int is_peer = 0; is_peer < 2; is_peer++) {
        CUcontext here = sim_begin_context("sim:3"), there = NULL, elsewhere = NULL;
        CUdeviceptr memory = 0;
        uint32_t count = 1;
        void *arguments[] = {&memory, &count};

        (void)state;
        assert_int_equal(cu->CtxCreate(&there, 0, 1), 0);
        assert_int_equal(cu->MemAlloc(&memory, 256), 0);
        assert_int_equal(cu->CtxCreate(&elsewhere, 0, 2), 0);
        assert_int_equal(cu->CtxSetCurrent(here), 0);
        assert_int_equal(cu->CtxEnablePeerAccess(is_peer ? there : elsewhere, 0), 0);
        assert_int_equal(launch(kernel(load(kernels_ptx), "add_one"), 1, 1, arguments), 0);
        assert_int_equal(cu->CtxSynchronize(), is_peer ? 0 : 700);
        sim_close();
    }
}

static void test_pinned_memory_in_kernels(void **state)
{
    CUdeviceptr address = 0;
    uint32_t count = 4, *values;
    void *arguments[] = {&address, &count}, *pinned = NULL;
    CUmodule module;

    (void)state;
    sim_begin_context("sim");
    module = load(kernels_ptx);
    assert_int_equal(cu->MemHostAlloc(&pinned, 16, 2), 0);
    values = pinned;
    memset(values, 0, 16);
    assert_int_equal(cu->MemHostGetDevicePointer(&address, pinned, 0), 0);
    assert_int_equal(launch(kernel(module, "add_one"), 1, 32, arguments), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    for (int at = 0; at < 4; at++)
        assert_int_equal(values[at], 1);
    assert_int_equal(cu->MemFreeHost(pinned), 0);
    assert_int_equal(cu->ModuleUnload(module), 0);
    sim_end_context();
}

static void test_other_faults(void **state)
{
    static const struct {
        const char *spec, *kernel;
        pool_cu_result code;
        uint32_t line;
    } faults[] = {
        {"sim", "give_up", 719, 39},
        {"sim:limit=100K", "for_ever", 702, 0},
        {"sim", "uses_dynamic", 700, 65},
    };

    (void)state;
    for (size_t at = 0; at < sizeof faults / sizeof faults[0]; at++) {
        uint32_t offset = 4096;
        void *arguments[] = {&offset};
        pool_sim_fault fault;

        sim_begin_context(faults[at].spec);
        assert_int_equal(launch(kernel(load(kernels_ptx), faults[at].kernel), 1, 1, arguments), 0);
        assert_int_equal(cu->CtxSynchronize(), faults[at].code);
        fault = last_fault();
        assert_string_equal(fault.kernel, faults[at].kernel);
        if (faults[at].line)
            assert_int_equal(fault.line, faults[at].line);
        assert_true(strlen(fault.text) > 10);
        sim_close();
    }
    /* A misaligned word is another matter than one out of bounds. */
    CUdeviceptr memory = 0;
    uint32_t count = 1;
    void *arguments[] = {&memory, &count};
    sim_begin_context("sim");
    assert_int_equal(cu->MemAlloc(&memory, 256), 0);
    memory += 2;
    assert_int_equal(launch(kernel(load(kernels_ptx), "add_one"), 1, 1, arguments), 0);
    assert_int_equal(cu->CtxSynchronize(), 716);
    sim_close();
}

/* Half of a warp waits for the other, or for itself without being named. */
static void test_lanes_that_wait(void **state)
{
    static const char text[] =
        PTX_HEAD ".visible .entry skips(.param .u32 mask)\n{\n .reg .b32 %r<3>; .reg .pred %p;\n"
                 " ld.param.u32 %r1, [mask]; mov.u32 %r2, %laneid; setp.gt.u32 %p, %r2, 15;\n"
                 " @%p bra AFTER;\n bar.warp.sync %r1;\nAFTER:\n bar.sync 0;\n ret;\n}\n";
    static const struct {
        uint32_t mask;
        pool_cu_result code;
        const char *kind, *says;
    } rows[] = {{0xffff, 0, "", ""},
        {0xff00ffff, 702, "deadlock in a warp", "waits for lanes 24-31, gone past it to line 11"},
        {0xfffe, 719, "lane outside its own member mask", "thread (0,0,0), PTX line 9"}};

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        uint32_t mask = rows[at].mask;
        void *arguments[] = {&mask};
        sim_begin_context("sim");
        assert_int_equal(launch(kernel(load(text), "skips"), 1, 32, arguments), 0);
        assert_int_equal(cu->CtxSynchronize(), rows[at].code);
        assert_string_equal(last_fault().kind, rows[at].kind);
        assert_non_null(strstr(last_fault().text, rows[at].says));
        sim_close();
    }
}

static void test_reports(void **state)
{
    for (int is_on = 0; is_on < 2; is_on++) {
        CUdeviceptr memory = 0;
        void *arguments[] = {&memory};

        (void)state;
        sim_begin_context("sim");
        assert_int_equal(pool_sim_reports(is_on ? POOL_SIM_REPORT_UNINITIALISED : 0), POOL_OK);
        assert_int_equal(cu->MemAlloc(&memory, 256), 0);
        assert_int_equal(launch(kernel(load(kernels_ptx), "reads_shared"), 1, 1, arguments), 0);
        assert_int_equal(cu->CtxSynchronize(), is_on ? 719 : 0);
        if (is_on) {
            assert_int_equal(last_fault().line, 75);
            assert_string_equal(last_fault().kernel, "reads_shared");
            assert_string_equal(last_fault().space, "shared");
        }
        sim_close();
    }
}

/* Four threads on two devices, each with a stream and a module of its own. */
struct launcher {
    CUcontext context;
    int failures;
};

static void *launch_often(void *argument)
{
    struct launcher *launcher = argument;
    uint32_t count = 500, values[500] = {0};
    CUdeviceptr memory = 0;
    void *arguments[] = {&memory, &count};
    CUfunction function = NULL;
    CUstream stream = NULL;
    CUmodule module = NULL;
    int wrong = cu->CtxPushCurrent(launcher->context) != 0;

    wrong += cu->StreamCreateWithPriority(&stream, 1, 0) != 0;
    wrong += cu->ModuleLoadData(&module, kernels_ptx) != 0;
    wrong += cu->ModuleGetFunction(&function, module, "add_one") != 0;
    wrong += cu->MemAlloc(&memory, sizeof values) != 0;
    wrong += cu->MemsetD32Async(memory, 0, 500, stream) != 0;
    for (int times = 0; times < 60; times++)
        wrong += cu->LaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, stream, arguments, NULL) != 0;
    wrong += cu->MemcpyDtoHAsync(values, memory, sizeof values, stream) != 0;
    wrong += cu->StreamSynchronize(stream) != 0;
    for (int at = 0; at < 500; at++)
        wrong += values[at] != 60;
    wrong += cu->MemFree(memory) != 0;
    wrong += cu->ModuleUnload(module) != 0;
    wrong += cu->StreamDestroy(stream) != 0;
    wrong += cu->CtxPopCurrent(NULL) != 0;
    launcher->failures = wrong;
    return NULL;
}

static void test_concurrent_launches(void **state)
{
    CUcontext first = sim_begin_context("sim:2,threads=3"), second = NULL;
    struct launcher launchers[4];
    pthread_t threads[4];

    (void)state;
    assert_int_equal(cu->DevicePrimaryCtxRetain(&second, 1), 0);
    for (int at = 0; at < 4; at++) {
        launchers[at] = (struct launcher){at % 2 ? second : first, -1};
        assert_int_equal(pthread_create(&threads[at], NULL, launch_often, &launchers[at]), 0);
    }
    for (int at = 0; at < 4; at++) {
        pthread_join(threads[at], NULL);
        assert_int_equal(launchers[at].failures, 0);
    }
    assert_int_equal(cu->DevicePrimaryCtxRelease(1), 0);
    sim_end_context();
}

static void test_barrier_report(void **state)
{
    for (int is_on = 0; is_on < 2; is_on++) {
        (void)state;
        sim_begin_context(is_on ? "sim:report=barrier+uninit" : "sim:report=uninit");
        assert_int_equal(launch(kernel(load(kernels_ptx), "half_waits"), 1, 32, NULL), 0);
        assert_int_equal(cu->CtxSynchronize(), is_on ? 719 : 0);
        if (is_on) {
            assert_int_equal(last_fault().line, 91);
            assert_string_equal(last_fault().kernel, "half_waits");
        }
        sim_close();
    }
}

/* A launch that never ends is ended by closing, and by a fault elsewhere. */
static void test_endless_kernel(void **state)
{
    CUstream one = NULL, two = NULL;
    CUmodule module;

    (void)state;
    sim_begin_context("sim");
    assert_int_equal(launch(kernel(load(kernels_ptx), "for_ever"), 1, 32, NULL), 0);
    assert_int_equal(cu->StreamQuery(NULL), 600);
    sim_close();
    sim_begin_context("sim:threads=2");
    module = load(kernels_ptx);
    assert_int_equal(cu->StreamCreateWithPriority(&one, 1, 0), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&two, 1, 0), 0);
    assert_int_equal(
        cu->LaunchKernel(kernel(module, "for_ever"), 2, 1, 1, 32, 1, 1, 0, one, NULL, NULL), 0);
    sleep_ms(20);
    assert_int_equal(
        cu->LaunchKernel(kernel(module, "give_up"), 1, 1, 1, 1, 1, 1, 0, two, NULL, NULL), 0);
    assert_int_equal(cu->StreamSynchronize(two), 719);
    assert_int_equal(cu->StreamSynchronize(one), 719);
    assert_string_equal(last_fault().kernel, "give_up");
    sim_close();
}

static void test_injected_launch_faults(void **state)
{
    uint32_t value = 1;
    void *arguments[] = {&value};
    CUfunction function;

    (void)state;
    sim_begin_context("sim");
    function = kernel(load(kernels_ptx), "set_count");
    assert_int_equal(
        pool_sim_faults("cuLaunchKernel@1=701; cuLaunchKernel@2=hang; cuLaunchKernel@3=700"),
        POOL_OK);
    assert_int_equal(launch(function, 1, 1, arguments), 701); /* harms the call only */
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(launch(function, 1, 1, arguments), 0);
    sleep_ms(20);
    assert_int_equal(cu->StreamQuery(NULL), 600);
    assert_int_equal(pool_sim_resume(), POOL_OK);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(launch(function, 1, 1, arguments), 0); /* asynchronous */
    assert_int_equal(cu->CtxSynchronize(), 700);
    sim_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_log_buffers),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_occupancy),
        cmocka_unit_test(test_launch_bounds),
        cmocka_unit_test(test_bound_of_the_largest_block),
        cmocka_unit_test(test_refused_launches),
        cmocka_unit_test(test_running_and_counting),
        cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_use_after_free),
        cmocka_unit_test(test_foreign_memory),
        cmocka_unit_test(test_pinned_memory_in_kernels),
        cmocka_unit_test(test_other_faults),
        cmocka_unit_test(test_lanes_that_wait),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_concurrent_launches),
        cmocka_unit_test(test_barrier_report),
        cmocka_unit_test(test_endless_kernel),
        cmocka_unit_test(test_injected_launch_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
