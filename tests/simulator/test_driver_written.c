/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report=unwritten in global memory: what fills, copies and kernels have written is read without a
 * report, and a byte that nothing wrote is reported with its address and line.
 */
#include "kernels.h"

/* add_one of kernels_ptx reads and writes `count` words. */
enum { WORDS = 256, READ_LINE = 22 };

static const char atomics_ptx[] = PTX_HEAD
    ".visible .entry add(.param .u64 to)\n{\n.reg .b64 %m;\nld.param.u64 %m, [to];\n"
    "red.global.add.u32 [%m], 1;\nret;\n}\n" /* line 8 */
    ".visible .entry put(.param .u64 to)\n{\n.reg .b64 %m; .reg .b32 %v;\nld.param.u64 %m, [to];\n"
    "atom.global.exch.b32 %v, [%m], 1;\nret;\n}\n";

static CUdeviceptr allocate(void)
{
    CUdeviceptr memory = 0;

    assert_int_equal(cu->MemAlloc(&memory, WORDS * 4), 0);
    return memory;
}

static pool_cu_result add_one(CUdeviceptr memory, uint32_t count)
{
    void *arguments[] = {&memory, &count};

    assert_int_equal(
        launch(kernel(load(kernels_ptx), "add_one"), (count + 63) / 64, 64, arguments), 0);
    return cu->CtxSynchronize();
}

static pool_cu_result run_atomic(const char *name, CUdeviceptr memory)
{
    void *arguments[] = {&memory};

    assert_int_equal(launch(kernel(load(atomics_ptx), name), 1, 1, arguments), 0);
    return cu->CtxSynchronize();
}

/* Memory that another stream frees while a kernel uses it, which no program may do, harms no other
 * memory of the process. */
static void test_freed_beside_a_launch(void **state)
{
    static const char ptx[] = PTX_HEAD
        ".visible .entry use(.param .u64 to)\n{\n.reg .b64 %m; .reg .b32 %i, %v; .reg .pred %q;\n"
        "ld.param.u64 %m, [to];\nmov.u32 %i, 0;\n"
        "again: st.global.u32 [%m], %i; ld.global.u32 %v, [%m];\n"
        "add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 400000; @%q bra again;\nret;\n}\n";
    static const size_t sizes[] = {4096, 1 << 20};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const pool_cu_mem_pool_props props = {.allocation_type = 1, .location = {1, 0}};
        CUdeviceptr memory = 0;
        CUmemoryPool pool = NULL;
        CUstream other;
        void *arguments[] = {&memory};

        sim_begin_context("sim:1,report=unwritten");
        assert_int_equal(cu->StreamCreateWithPriority(&other, 1, 0), 0);
        assert_int_equal(cu->MemPoolCreate(&pool, &props), 0);
        assert_int_equal(cu->MemAllocFromPoolAsync(&memory, sizes[i], pool, other), 0);
        assert_int_equal(cu->StreamSynchronize(other), 0);
        assert_int_equal(launch(kernel(load(ptx), "use"), 1, 1, arguments), 0);
        sleep_ms(10); /* it runs, or else it fails when it begins */
        assert_int_equal(cu->MemFreeAsync(memory, other), 0);
        assert_int_equal(cu->StreamSynchronize(other), 0);
        (void)cu->CtxSynchronize();
        sim_close();
    }
}

static void nothing(CUdeviceptr memory)
{
    (void)memory;
}

static void fill(CUdeviceptr memory)
{
    assert_int_equal(cu->MemsetD8(memory, 0, WORDS * 4), 0);
}

static void fill_words_but_the_last(CUdeviceptr memory)
{
    assert_int_equal(cu->MemsetD32(memory, 7, WORDS - 1), 0);
}

static void fill_bytes_but_one(CUdeviceptr memory)
{
    assert_int_equal(cu->MemsetD8(memory, 0, 4 * 17 + 2), 0);
    assert_int_equal(cu->MemsetD8(memory + 4 * 17 + 3, 0, WORDS * 4 - 4 * 17 - 3), 0);
}

static void copy_from_host(CUdeviceptr memory)
{
    static const uint32_t words[WORDS];

    assert_int_equal(cu->MemcpyHtoD(memory, words, sizeof(words)), 0);
}

static void copy_from_written(CUdeviceptr memory)
{
    CUdeviceptr source = allocate();

    fill(source);
    assert_int_equal(cu->MemcpyDtoD(memory, source, WORDS * 4), 0);
}

static void copy_from_partly_written(CUdeviceptr memory)
{
    CUdeviceptr source = allocate();

    fill(memory);
    assert_int_equal(cu->MemsetD8(source, 0, 4 * 100), 0);
    assert_int_equal(cu->MemcpyDtoD(memory, source, WORDS * 4), 0);
}

/* Half of each row of 64 words, and then the other half. */
static void copy_columns(CUdeviceptr memory, int halves)
{
    static uint32_t words[WORDS];

    for (int half = 0; half < halves; half++) {
        pool_cu_copy_2d copy = {0};

        copy.from.memory_type = 1;
        copy.from.host = words;
        copy.from.pitch = 256;
        copy.to.memory_type = 2;
        copy.to.device = memory;
        copy.to.pitch = 256;
        copy.to.x_bytes = (size_t)half * 128;
        copy.width_bytes = 128;
        copy.height = WORDS / 64;
        assert_int_equal(cu->Memcpy2DAsync(&copy, NULL), 0);
    }
}

static void copy_left_columns(CUdeviceptr memory)
{
    copy_columns(memory, 1);
}

static void copy_all_columns(CUdeviceptr memory)
{
    copy_columns(memory, 2);
}

/* While nothing is checked, nothing of what kernels write is known either. */
static void write_unchecked(CUdeviceptr memory)
{
    assert_int_equal(pool_sim_set_reports(0), POOL_OK);
    assert_int_equal(add_one(memory, WORDS), 0);
    assert_int_equal(pool_sim_set_reports(POOL_SIM_REPORT_UNWRITTEN), POOL_OK);
}

static const struct {
    const char *name;
    void (*write)(CUdeviceptr memory);
    int first; /* word that is not written; -1: all are */
} cases[] = {{"nothing", nothing, 0}, {"fill", fill, -1},
    {"words but the last", fill_words_but_the_last, WORDS - 1},
    {"bytes but one", fill_bytes_but_one, 17}, {"from the host", copy_from_host, -1},
    {"from written", copy_from_written, -1}, {"from partly written", copy_from_partly_written, 100},
    {"left columns", copy_left_columns, 32}, {"all columns", copy_all_columns, -1},
    {"unchecked", write_unchecked, -1}};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const int first = cases[i].first;
        pool_cu_result code;
        CUdeviceptr memory;

        sim_begin_context("sim:threads=1,report=unwritten");
        memory = allocate();
        cases[i].write(memory);
        code = add_one(memory, WORDS);
        if (code != (first < 0 ? POOL_CU_SUCCESS : POOL_CU_LAUNCH_FAILED))
            fail_msg("%s: %d, %s", cases[i].name, (int)code, last_fault().text);
        if (code) {
            const pool_sim_fault fault = last_fault();

            assert_string_equal(fault.kind, "read of global memory that nobody wrote");
            assert_string_equal(fault.space, "global");
            assert_int_equal(fault.line, READ_LINE);
            assert_int_equal(fault.address, memory + 4u * (unsigned)first);
            assert_int_equal(fault.nearest_address, memory);
        } else { /* what was written stays so */
            assert_int_equal(add_one(memory, WORDS), 0);
        }
        sim_close();
    }
}

/* Without the report nothing changes; large memory and that of pools is checked as well; memory
 * that is allocated again is new. */
static void test_kinds_of_memory(void **state)
{
    CUdeviceptr memory = 0;
    const pool_cu_mem_pool_props props = {.allocation_type = 1, .location = {1, 0}};
    CUmemoryPool pool = NULL;

    (void)state;
    sim_begin_context("sim");
    assert_int_equal(add_one(allocate(), WORDS), 0);
    sim_close();

    sim_begin_context("sim:report=unwritten");
    assert_int_equal(cu->MemAlloc(&memory, 4 << 20), 0);
    assert_int_equal(cu->MemsetD8(memory, 0, 2 << 20), 0);
    assert_int_equal(add_one(memory + (2 << 20) - WORDS * 4, WORDS), 0);
    assert_int_equal(add_one(memory + (2 << 20), 1), 719);
    sim_close();

    sim_begin_context("sim:report=unwritten");
    assert_int_equal(cu->MemPoolCreate(&pool, &props), 0);
    assert_int_equal(cu->MemAllocFromPoolAsync(&memory, WORDS * 4, pool, NULL), 0);
    assert_int_equal(cu->MemsetD8Async(memory, 0, WORDS * 4, NULL), 0);
    assert_int_equal(add_one(memory, WORDS), 0);
    assert_int_equal(cu->MemFreeAsync(memory, NULL), 0);
    assert_int_equal(cu->MemAllocFromPoolAsync(&memory, WORDS * 4, pool, NULL), 0);
    assert_int_equal(add_one(memory, WORDS), 719);
    sim_close();
}

static void test_atomics(void **state)
{
    CUdeviceptr memory;

    (void)state;
    sim_begin_context("sim:report=unwritten");
    memory = allocate();
    assert_int_equal(run_atomic("put", memory), 0); /* which does not depend on what was there */
    assert_int_equal(run_atomic("add", memory), 0);
    assert_int_equal(run_atomic("add", memory + 4), 719);
    assert_int_equal(last_fault().line, 8);
    assert_int_equal(last_fault().address, memory + 4);
    sim_close();
}

/* Pinned memory and variables of modules are written by others. */
static void test_what_is_not_checked(void **state)
{
    uint32_t value = 3;
    void *pinned = NULL, *arguments[] = {&value};

    (void)state;
    sim_begin_context("sim:report=unwritten");
    assert_int_equal(cu->MemHostAlloc(&pinned, WORDS * 4, 0), 0);
    assert_int_equal(add_one((CUdeviceptr)(uintptr_t)pinned, WORDS), 0);
    assert_int_equal(launch(kernel(load(kernels_ptx), "set_count"), 1, 1, arguments), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    sim_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases),
        cmocka_unit_test(test_kinds_of_memory), cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_what_is_not_checked), cmocka_unit_test(test_freed_beside_a_launch)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
