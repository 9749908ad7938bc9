/* SPDX-License-Identifier: Apache-2.0 */
/* Launches on the simulated driver: which are refused, which run, and how they fail. */
#include "kernels.h"

static void test_refused_launches(void **state)
{
    CUfunction add, bounded, exactly, dynamic;
    CUdeviceptr memory = 0;
    uint32_t count = 0;
    char big[24] = {0};
    void *arguments[] = {&memory, &count}, *three[] = {&memory, &count, big},
         *holes[] = {&memory, 0};
    uint8_t packed[12] = {0};
    size_t packed_bytes = sizeof(packed);
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
    /* Two multiprocessors with 2048 threads each: four blocks of 1024 threads at a time. */
    assert_int_equal(cu->LaunchCooperativeKernel(add, 4, 1, 1, 1024, 1, 1, 0, NULL, arguments), 0);
    assert_int_equal(
        cu->LaunchCooperativeKernel(add, 5, 1, 1, 1024, 1, 1, 0, NULL, arguments), 720);
    pool_cu_launch_attribute attribute = {.id = 2, .value.number = 1};
    pool_cu_launch_config config = {
        .grid = {5, 1, 1}, .block = {1024, 1, 1}, .attributes = &attribute, .attribute_count = 1};
    assert_int_equal(cu->LaunchKernelEx(&config, add, arguments, NULL), 720);
    attribute.id = 6;
    assert_int_equal(cu->LaunchKernelEx(&config, add, arguments, NULL), 0);
    attribute.id = 8;
    assert_int_equal(cu->LaunchKernelEx(&config, add, arguments, NULL), 0);
    attribute.id = 4; /* clusters are not simulated */
    assert_int_equal(cu->LaunchKernelEx(&config, add, arguments, NULL), 801);
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
    assert_int_equal(cu->MemAlloc(&memory, sizeof(values)), 0);
    for (uint32_t at = 0; at < count; at++)
        values[at] = at * 3;
    assert_int_equal(cu->MemcpyHtoD(memory, values, sizeof(values)), 0);
    assert_int_equal(launch(kernel(module, "add_one"), 8, 128, arguments), 0);
    assert_int_equal(cu->MemcpyDtoH(values, memory, sizeof(values)), 0);
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
    assert_int_equal(pool_sim_kernel_stats_text(POOL_TEXT_PLAIN, &text), POOL_OK);
    assert_non_null(strstr(text, "add_one"));
    pool_text_free(&text);
    assert_int_equal(pool_sim_kernel_stats_text(POOL_TEXT_JSON, &text), POOL_OK);
    assert_non_null(strstr(text, "\"kernel\":\t\"add_one\""));
    pool_text_free(&text);
    assert_int_equal(pool_sim_kernel_stats_reset(), POOL_OK);
    memset(&second, 0, sizeof(second));
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
    assert_true(other != memory); /* an address is not reused soon */
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
    for (size_t at = 0; at < sizeof(faults) / sizeof(faults[0]); at++) {
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
    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
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
        assert_int_equal(pool_sim_set_reports(is_on ? POOL_SIM_REPORT_UNINITIALISED : 0), POOL_OK);
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
    wrong += cu->MemAlloc(&memory, sizeof(values)) != 0;
    wrong += cu->MemsetD32Async(memory, 0, 500, stream) != 0;
    for (int times = 0; times < 60; times++)
        wrong += cu->LaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, stream, arguments, NULL) != 0;
    wrong += cu->MemcpyDtoHAsync(values, memory, sizeof(values), stream) != 0;
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
        pool_sim_set_faults("cuLaunchKernel@1=701; cuLaunchKernel@2=hang; cuLaunchKernel@3=700"),
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
