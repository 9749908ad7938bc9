/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and kernels of the simulated driver: which images load, names, attributes, occupancy. */
#include "kernels.h"

/* ---- loading --------------------------------------------------------------------------------- */

static void test_images(void **state)
{
    static const char elf[64] = "\177ELF\2\1\1";
    static const struct {
        const char *text;
        pool_cu_result code;
    } images[] = {
        {"", 200},
        {"hello", 200},
        {"// only a comment", 200},
        {"/* not even that", 200},
        {elf, 209},
        {"\x50\xed\x55\xba\1\0\x10\0\0\0\0\0\0\0\0", 209}, /* an empty fatbin */
        {"\x50\xed\x55\xba\1\0\x08\0\0\0\0\0\0\0\0", 200}, /* a header of 8 bytes */
        {"\x50\xed\x55\xba\1\0\x10\0\1\0\0\0\0\0\0\0"
         "P",
            200}, /* half an entry */
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
    for (size_t at = 0; at < sizeof(images) / sizeof(images[0]); at++) {
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
    /* The newest PTX is that of the driver's CUDA version. */
    for (int is_new = 0; is_new < 2; is_new++) {
        int version = 0;

        sim_begin_context(is_new ? "sim:cuda=12.4" : "sim:cuda=11.8");
        assert_int_equal(cu->DriverGetVersion(&version), 0);
        assert_int_equal(version, is_new ? 12040 : 11080);
        assert_int_equal(
            cu->ModuleLoadData(&module, ".version 7.8\n.target sm_75\n.address_size 64\n"), 0);
        assert_int_equal(cu->ModuleUnload(module), 0);
        assert_int_equal(
            cu->ModuleLoadData(&module, ".version 8.4\n.target sm_75\n.address_size 64\n"),
            is_new ? 0 : 222);
        assert_int_equal(
            cu->ModuleLoadData(&module, ".version 8.5\n.target sm_75\n.address_size 64\n"), 222);
        sim_end_context();
    }
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
    void *values[4] = {error, (void *)sizeof(error), info, (void *)sizeof(info)};
    CUmodule module = NULL;

    (void)state;
    sim_begin_context("sim");
    memset(error, 'x', sizeof(error));
    assert_int_equal(cu->ModuleLoadDataEx(&module, wrong, 4, options, values), 218);
    assert_non_null(strstr(error, "simulated device, PTX line 6: unknown opcode"));
    assert_non_null(strstr(error, "frobnicate.u32'; simulated devices do not execute it"));
    assert_int_equal((uintptr_t)values[1], strlen(error) + 1);
    assert_string_equal(info, "");
    values[0] = small;
    values[1] = (void *)sizeof(small);
    values[3] = (void *)sizeof(info);
    assert_int_equal(cu->ModuleLoadDataEx(&module, wrong, 4, options, values), 218);
    assert_int_equal(strlen(small), sizeof(small) - 1);
    values[1] = (void *)sizeof(small);
    values[3] = (void *)sizeof(info);
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

/* ---- kernels --------------------------------------------------------------------------------- */

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
    assert_int_equal(
        cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, INT32_MAX, 0), 0);
    assert_int_equal(blocks, 0);
    assert_int_equal(
        cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, SIZE_MAX), 0);
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
    int used = snprintf(text, sizeof(text),
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry hungry(.param .u64 p)\n%s\n"
        "{ .reg .b64 %%p; .reg .b32 %%r<300>; ld.param.u64 %%p, [p];\n",
        bounds);

    for (int is_store = 0; is_store < 2; is_store++)
        for (int at = 0; at < 300; at++)
            used += is_store ? snprintf(text + used, sizeof(text) - (size_t)used,
                                   "st.global.u32 [%%p+%d], %%r%d;\n", at * 4, 299 - at)
                             : snprintf(text + used, sizeof(text) - (size_t)used,
                                   "ld.global.u32 %%r%d, [%%p+%d];\n", at, at * 4);
    snprintf(text + used, sizeof(text) - (size_t)used, "ret; }\n");
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
    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
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

/* A constant number above 15 is refused when the module is loaded; one in a register is a fault. */
static void test_barrier_of_a_register(void **state)
{
    static const char source[] = PTX_HEAD ".visible .entry f(.param .u32 n)\n{\n"
                                          ".reg .b32 %r<2>;\n ld.param.u32 %r1, [n];\n"
                                          " barrier.sync %r1;\n ret;\n}\n";
    uint32_t number = 15;
    void *arguments[] = {&number};
    CUfunction function;

    (void)state;
    sim_begin_context("sim");
    function = kernel(load(source), "f");
    assert_int_equal(cu->LaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    number = 99;
    assert_int_equal(cu->LaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL), 0);
    assert_int_equal(cu->CtxSynchronize(), POOL_CU_ILLEGAL_INSTRUCTION);
    sim_end_context();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_barrier_of_a_register),
        cmocka_unit_test(test_log_buffers),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_occupancy),
        cmocka_unit_test(test_launch_bounds),
        cmocka_unit_test(test_bound_of_the_largest_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
