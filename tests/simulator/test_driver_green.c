/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions of multiprocessors of the simulated driver: sizes of the chips, green contexts, which
 * multiprocessors kernels run on, and the life of it all. What a GPU's driver was seen to do is in
 * the transcript (tests/conformance/driver_green.c), too.
 */
#include "driver.h"

#define SM 1u /* CU_DEV_RESOURCE_TYPE_SM */
#define NON_BLOCKING 1u

/* Stores %smid of each block; %nsmid stays that of the device. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry where(.param .u64 to) {\n"
    ".reg .b64 a, o; .reg .b32 s, b, n;\n"
    "ld.param.u64 a, [to]; mov.u32 s, %smid; mov.u32 b, %ctaid.x; mov.u32 n, %nsmid;\n"
    "mad.lo.u32 s, n, 1000, s; mul.wide.u32 o, b, 4; add.u64 a, a, o; st.global.u32 [a], s; ret; "
    "}\n";

enum { BLOCKS = 400 };

struct green {
    CUgreenCtx green;
    CUcontext context;
};

static pool_cu_dev_resource device_resource(CUdevice device)
{
    pool_cu_dev_resource all;

    assert_int_equal(cu->DeviceGetDevResource(device, &all, SM), 0);
    return all;
}

static struct green create_of(pool_cu_dev_resource *resource, unsigned count, CUdevice device)
{
    CUdevResourceDesc desc = NULL;
    struct green made = {NULL, NULL};

    assert_int_equal(cu->DevResourceGenerateDesc(&desc, resource, count), 0);
    assert_int_equal(cu->GreenCtxCreate(&made.green, desc, device, 1), 0);
    assert_int_equal(cu->CtxFromGreenCtx(&made.context, made.green), 0);
    return made;
}

/* Two parts: of `first` multiprocessors, and the rest. */
static void split_device(unsigned first, struct green parts[2])
{
    pool_cu_dev_resource all = device_resource(0), group, rest;
    unsigned count = 1;

    assert_int_equal(cu->DevSmResourceSplitByCount(&group, &count, &all, &rest, 0, first), 0);
    assert_int_equal(count, 1);
    parts[0] = create_of(&group, 1, 0);
    parts[1] = create_of(&rest, 1, 0);
}

/* Sizes by the chip: what is requested, the size and number of the groups, and what is left. */
static void test_sizes(void **state)
{
    static const struct {
        const char *spec;
        unsigned min, alignment, flags, wanted, size, groups, rest;
        pool_cu_result code;
    } rows[] = {{"sim:1,cc=9.0,sms=132", 8, 8, 0, 1, 8, 16, 4, 0},
        {"sim:1,cc=9.0,sms=132", 8, 8, 0, 0, 8, 16, 4, 0},
        {"sim:1,cc=9.0,sms=132", 8, 8, 0, 16, 16, 8, 4, 0},
        {"sim:1,cc=9.0,sms=132", 8, 8, 0, 17, 24, 5, 12, 0},
        {"sim:1,cc=9.0,sms=132", 8, 8, 0, 66, 72, 1, 60, 0},
        {"sim:1,cc=9.0,sms=132", 8, 8, 0, 130, 0, 0, 0, 915},
        {"sim:1,cc=9.0,sms=132", 8, 8, 0, 133, 0, 0, 0, 915},
        {"sim:1,cc=9.0,sms=132", 8, 8, 4, 16, 0, 0, 0, 1},
        {"sim:1,cc=10.0,sms=148", 8, 8, 0, 16, 16, 9, 4, 0},
        {"sim:1,cc=8.0,sms=108", 4, 2, 0, 1, 4, 27, 0, 0},
        {"sim:1,cc=8.6,sms=84", 4, 2, 0, 5, 6, 14, 0, 0},
        {"sim:1,cc=7.5,sms=40", 2, 2, 0, 3, 4, 10, 0, 0},
        {"sim:1,cc=9.0,sms=4", 8, 8, 0, 1, 0, 0, 0, 915}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pool_cu_dev_resource all, groups[40], rest;
        unsigned count = 0;

        sim_begin(rows[i].spec);
        all = device_resource(0);
        assert_int_equal(all.min_partition, rows[i].min);
        assert_int_equal(all.sm_alignment, rows[i].alignment);
        assert_int_equal(
            cu->DevSmResourceSplitByCount(NULL, &count, &all, NULL, rows[i].flags, rows[i].wanted),
            rows[i].code);
        assert_int_equal(count, rows[i].groups);
        count = 40;
        assert_int_equal(cu->DevSmResourceSplitByCount(
                             groups, &count, &all, &rest, rows[i].flags, rows[i].wanted),
            rows[i].code);
        if (!rows[i].code) {
            assert_int_equal(count, rows[i].groups);
            assert_int_equal(groups[0].sm_count, rows[i].size);
            assert_int_equal(groups[count - 1].sm_count, rows[i].size);
            assert_int_equal(rest.sm_count, rows[i].rest);
            assert_int_equal(rest.type, rows[i].rest ? SM : 0);
        }
        sim_close();
    }
}

/* Resources that are none, of several splits, of another device, or used twice. */
static void test_refused(void **state)
{
    pool_cu_dev_resource all, other, groups[3], more[2], rest, none = {0};
    CUdevResourceDesc desc = NULL, of_other = NULL;
    CUgreenCtx green = NULL;
    unsigned count = 3;

    (void)state;
    sim_begin("sim:2,cc=9.0,sms=132");
    assert_int_equal(cu->DeviceGetDevResource(2, &all, SM), 101);
    assert_int_equal(cu->DeviceGetDevResource(0, &all, 7), 914);
    assert_int_equal(cu->DeviceGetDevResource(0, NULL, SM), 1);
    all = device_resource(0);
    other = device_resource(1);
    assert_int_equal(all.sm_count, 132);
    assert_int_equal(cu->DevSmResourceSplitByCount(groups, &count, &none, NULL, 0, 8), 914);
    assert_int_equal(cu->DevSmResourceSplitByCount(groups, &count, &all, &rest, 0, 16), 0);
    assert_int_equal(count, 3);
    assert_int_equal(rest.sm_count, 132 - 48);
    /* A part is split again only once it is a context's. */
    count = 2;
    assert_int_equal(cu->DevSmResourceSplitByCount(more, &count, &groups[0], NULL, 0, 8), 915);
    count = 0;
    assert_int_equal(cu->DevSmResourceSplitByCount(more, &count, &all, NULL, 0, 8), 1);
    count = 2;
    assert_int_equal(cu->DevSmResourceSplitByCount(more, &count, &all, NULL, 0, 16), 0);
    assert_int_equal(cu->DevResourceGenerateDesc(&desc, groups, 0), 1);
    assert_int_equal(cu->DevResourceGenerateDesc(&desc, &none, 1), 914);
    assert_int_equal(
        cu->DevResourceGenerateDesc(&desc, (pool_cu_dev_resource[]){groups[0], more[1]}, 2), 915);
    assert_int_equal(
        cu->DevResourceGenerateDesc(&desc, (pool_cu_dev_resource[]){groups[0], groups[0]}, 2), 915);
    assert_int_equal(cu->DevResourceGenerateDesc(&desc, groups, 3), 0);
    assert_int_equal(cu->DevResourceGenerateDesc(&of_other, &other, 1), 0);
    assert_int_equal(cu->GreenCtxCreate(&green, desc, 0, 0), 1);
    assert_int_equal(cu->GreenCtxCreate(&green, NULL, 0, 1), 1);
    assert_int_equal(cu->GreenCtxCreate(&green, of_other, 0, 1), 1);
    assert_int_equal(cu->GreenCtxCreate(&green, desc, 9, 1), 101);
    assert_int_equal(cu->GreenCtxCreate(&green, desc, 0, 1), 0);
    assert_int_equal(cu->GreenCtxGetDevResource(green, &rest, SM), 0);
    assert_int_equal(rest.sm_count, 48);
    count = 2;
    assert_int_equal(cu->DevSmResourceSplitByCount(more, &count, &rest, NULL, 0, 24), 0);
    assert_int_equal(count, 2);
    assert_int_equal(cu->GreenCtxDestroy(green), 0);
    assert_int_equal(cu->GreenCtxDestroy(green), 709);
    assert_int_equal(cu->GreenCtxGetDevResource(green, &rest, SM), 709);
    sim_close();
}

/* ---- kernels --------------------------------------------------------------------------------- */

struct launch {
    CUfunction function;
    CUdeviceptr memory;
};

static struct launch open_launch(void)
{
    struct launch opened;
    CUmodule module;

    assert_int_equal(cu->ModuleLoadData(&module, ptx), 0);
    assert_int_equal(cu->ModuleGetFunction(&opened.function, module, "where"), 0);
    assert_int_equal(cu->MemAlloc(&opened.memory, 4 * BLOCKS), 0);
    return opened;
}

static void enqueue(struct launch *launch, CUstream stream)
{
    void *arguments[] = {&launch->memory};

    assert_int_equal(
        cu->LaunchKernel(launch->function, BLOCKS, 1, 1, 1, 1, 1, 0, stream, arguments, NULL), 0);
}

/* How many multiprocessors were used, and the first and last of them. */
static unsigned used(struct launch *launch, unsigned *first, unsigned *last)
{
    uint32_t seen[BLOCKS];
    bool is_used[1000] = {false};
    unsigned count = 0;

    assert_int_equal(cu->MemcpyDtoH(seen, launch->memory, sizeof(seen)), 0);
    *first = 999;
    *last = 0;
    for (unsigned i = 0; i < BLOCKS; i++) {
        unsigned number = seen[i] % 1000;

        assert_int_equal(seen[i] / 1000, 132);
        count += !is_used[number];
        is_used[number] = true;
        *first = number < *first ? number : *first;
        *last = number > *last ? number : *last;
    }
    return count;
}

static unsigned used_by(struct launch *launch, CUstream stream, unsigned *first, unsigned *last)
{
    enqueue(launch, stream);
    assert_int_equal(cu->StreamSynchronize(stream), 0);
    return used(launch, first, last);
}

/* The stream decides, whatever context is current and whichever one the kernel was loaded in. */
static void test_multiprocessors(void **state)
{
    CUcontext primary = sim_begin_context("sim:1,cc=9.0,sms=132"), of;
    struct green parts[2];
    struct launch here = open_launch(), there;
    CUstream own, small, large, small_blocking;
    CUgraph graph;
    CUgraphExec exec;
    CUgreenCtx green = NULL;
    unsigned first, last, first_of_rest;

    (void)state;
    split_device(16, parts);
    assert_int_equal(cu->StreamCreateWithPriority(&own, NON_BLOCKING, 0), 0);
    assert_int_equal(cu->GreenCtxStreamCreate(&small, parts[0].green, 0, 0), 1);
    assert_int_equal(cu->GreenCtxStreamCreate(&small, parts[0].green, NON_BLOCKING, -3), 0);
    assert_int_equal(cu->CtxSetCurrent(parts[1].context), 0);
    there = open_launch();
    assert_int_equal(cu->StreamCreateWithPriority(&large, NON_BLOCKING, 0), 0);
    assert_int_equal(used_by(&here, NULL, &first_of_rest, &last), 116);
    assert_int_equal(cu->CtxSetCurrent(parts[0].context), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&small_blocking, 0, 0), 0);
    assert_int_equal(used_by(&here, small, &first, &last), 16);
    assert_true(last < first_of_rest);
    assert_int_equal(used_by(&there, small_blocking, &first, &last), 16);
    assert_int_equal(used_by(&there, NULL, &first, &last), 16);
    assert_int_equal(used_by(&there, large, &first, &last), 116);
    assert_int_equal(used_by(&there, own, &first, &last), 132);
    assert_int_equal(cu->StreamQuery((CUstream)(uintptr_t)2), 400); /* the thread's own stream */
    assert_int_equal(cu->StreamGetCtx(NULL, &of), 0);
    assert_ptr_equal(of, parts[0].context);
    assert_int_equal(cu->CtxSetCurrent(primary), 0);
    assert_int_equal(used_by(&there, small, &first, &last), 16);
    assert_int_equal(used_by(&there, NULL, &first, &last), 132);
    assert_int_equal(cu->StreamGetCtx(small, &of), 0);
    assert_ptr_equal(of, parts[0].context);
    assert_int_equal(cu->StreamGetGreenCtx(small, &green), 0);
    assert_ptr_equal(green, parts[0].green);
    assert_int_equal(cu->StreamGetGreenCtx(own, &green), 0);
    assert_null(green);
    /* A graph keeps the multiprocessors of its capture. */
    assert_int_equal(cu->StreamBeginCapture(small, 2), 0);
    enqueue(&here, small);
    assert_int_equal(cu->StreamEndCapture(small, &graph), 0);
    assert_int_equal(cu->GraphInstantiateWithFlags(&exec, graph, 0), 0);
    assert_int_equal(cu->GraphLaunch(exec, own), 0);
    assert_int_equal(cu->StreamSynchronize(own), 0);
    assert_int_equal(used(&here, &first, &last), 16);
    assert_int_equal(cu->GraphExecDestroy(exec), 0);
    assert_int_equal(cu->GraphDestroy(graph), 0);
    assert_int_equal(cu->GreenCtxDestroy(parts[0].green), 0);
    assert_int_equal(cu->GreenCtxDestroy(parts[1].green), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    sim_close();
}

/* As measured with driver 580 on an H200: a created stream is non-blocking, whatever its flags. */
static void test_order(void **state)
{
    struct gate gate = GATE_INIT;
    struct green parts[2];
    CUcontext primary = sim_begin_context("sim:1,cc=9.0,sms=132");
    CUstream created;
    unsigned flags = 0;

    (void)state;
    split_device(16, parts);
    assert_int_equal(cu->CtxSetCurrent(parts[0].context), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&created, 0, 0), 0);
    assert_int_equal(cu->StreamGetFlags(created, &flags), 0);
    assert_int_equal(flags, NON_BLOCKING);
    assert_int_equal(cu->LaunchHostFunc(NULL, gate_function, &gate), 0);
    gate_wait_entered(&gate, 1);
    assert_int_equal(cu->StreamSynchronize(created), 0);
    assert_int_equal(cu->StreamQuery(NULL), 600);
    gate_open(&gate);
    assert_int_equal(cu->StreamSynchronize(NULL), 0);
    assert_int_equal(cu->CtxSetCurrent(primary), 0);
    assert_int_equal(cu->GreenCtxDestroy(parts[0].green), 0);
    assert_int_equal(cu->GreenCtxDestroy(parts[1].green), 0);
    sim_end_context();
}

/* ---- life ------------------------------------------------------------------------------------ */

/* As measured with driver 580 on an H100, see driver_green.c. */
static void test_life(void **state)
{
    CUcontext primary = sim_begin_context("sim:1,cc=9.0,sms=132,mem=8G"), current;
    unsigned long long own_id, green_id;
    size_t before, after, total;
    struct green parts[2];
    pool_cu_dev_resource mine;
    CUdeviceptr memory, again;
    CUdevice device = -1;
    unsigned flags, version = 0;
    int active, value;

    (void)state;
    assert_int_equal(cu->MemGetInfo(&before, &total), 0);
    split_device(16, parts);
    assert_int_equal(cu->MemGetInfo(&after, &total), 0);
    assert_int_equal(before - after, 2 * (6u << 20));
    assert_int_equal(cu->CtxGetDevResource(primary, &mine, SM), 0);
    assert_int_equal(mine.sm_count, 132);
    assert_int_equal(cu->CtxGetDevResource(parts[1].context, &mine, SM), 0);
    assert_int_equal(mine.sm_count, 116);
    assert_int_equal(cu->CtxGetDevResource(NULL, &mine, SM), 201);
    assert_int_equal(cu->CtxSetCurrent(parts[0].context), 0);
    assert_int_equal(cu->CtxGetCurrent(&current), 0);
    assert_ptr_equal(current, parts[0].context);
    assert_int_equal(cu->CtxGetApiVersion(current, &version), 0);
    assert_int_equal(version, 3020);
    assert_int_equal(cu->CtxGetId(NULL, &green_id), 0);
    assert_int_equal(cu->CtxGetId(primary, &own_id), 0);
    assert_true(own_id != green_id);
    assert_int_equal(cu->DeviceGetAttribute(&value, 16, 0), 0);
    assert_int_equal(value, 132);
    assert_int_equal(cu->MemAlloc(&memory, 4096), 0);
    assert_int_equal(cu->CtxDestroy(parts[0].context), 201);
    /* It keeps the primary context and its memory. */
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 201);
    assert_int_equal(cu->DevicePrimaryCtxGetState(0, &flags, &active), 0);
    assert_int_equal(active, 1);
    assert_int_equal(cu->MemsetD8(memory, 1, 4096), 0);
    assert_int_equal(cu->GreenCtxDestroy(parts[1].green), 0);
    assert_int_equal(cu->MemAlloc(&again, 4096), 0);
    assert_int_equal(cu->GreenCtxDestroy(parts[0].green), 0);
    assert_int_equal(cu->DevicePrimaryCtxGetState(0, &flags, &active), 0);
    assert_int_equal(active, 0);
    assert_int_equal(cu->MemFree(memory), 709);
    assert_int_equal(cu->CtxSetCurrent(parts[0].context), 0);
    assert_int_equal(cu->CtxGetDevice(&device), 0);
    assert_int_equal(device, 0);
    assert_int_equal(cu->CtxSynchronize(), 709);
    assert_int_equal(cu->CtxGetDevResource(parts[0].context, &mine, SM), 709);
    assert_int_equal(cu->CtxSetCurrent(NULL), 0);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&primary, 0), 0);
    sim_end_context();
}

/* A green context that is left behind is listed; its streams end with it. */
static void test_left_behind(void **state)
{
    struct green parts[2];
    uint64_t leaks = 0;
    CUstream stream;
    char *text = NULL;

    (void)state;
    sim_begin_context("sim:1,cc=9.0,sms=132");
    split_device(64, parts);
    assert_int_equal(cu->GreenCtxStreamCreate(&stream, parts[1].green, NON_BLOCKING, 0), 0);
    assert_int_equal(cu->GreenCtxDestroy(parts[1].green), 0);
    assert_int_equal(cu->StreamQuery(stream), 400);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    sim_close();
    assert_int_equal(pool_sim_leaks(POOL_TEXT_PLAIN, &leaks, &text), POOL_OK);
    assert_non_null(strstr(text, "green context on device 0"));
    assert_int_equal(leaks, 2); /* and the primary context that it keeps */
    pool_text_free(&text);
}

/* ---- events ---------------------------------------------------------------------------------- */

static atomic_int is_released;

static void wait_for_release(void *user)
{
    (void)user;
    while (!atomic_load(&is_released))
        usleep(100);
}

/* A recording follows all streams of its context and of no other; what waits for it waits in
 * streams that exist and in those that are created later. */
static void test_events(void **state)
{
    struct green parts[2];
    CUstream slow, other, waiting, later;
    CUevent event, of_other;
    CUgraph graph;

    (void)state;
    sim_begin_context("sim:1,cc=9.0,sms=132");
    split_device(16, parts);
    atomic_store(&is_released, 0);
    assert_int_equal(cu->EventCreate(&event, 2), 0);
    assert_int_equal(cu->EventCreate(&of_other, 2), 0);
    assert_int_equal(cu->GreenCtxStreamCreate(&slow, parts[0].green, NON_BLOCKING, 0), 0);
    assert_int_equal(cu->GreenCtxStreamCreate(&other, parts[0].green, NON_BLOCKING, 0), 0);
    assert_int_equal(cu->GreenCtxStreamCreate(&waiting, parts[1].green, NON_BLOCKING, 0), 0);
    assert_int_equal(cu->GreenCtxWaitEvent(parts[1].green, event), 0); /* never recorded */
    assert_int_equal(cu->LaunchHostFunc(slow, wait_for_release, NULL), 0);
    assert_int_equal(cu->GreenCtxRecordEvent(parts[0].green, event), 0);
    assert_int_equal(cu->GreenCtxRecordEvent(parts[1].green, of_other), 0);
    assert_int_equal(cu->EventSynchronize(of_other), 0);
    assert_int_equal(cu->EventQuery(event), 600);
    assert_int_equal(cu->StreamQuery(other), 0);
    assert_int_equal(cu->GreenCtxWaitEvent(parts[1].green, event), 0);
    assert_int_equal(cu->GreenCtxStreamCreate(&later, parts[1].green, NON_BLOCKING, 0), 0);
    assert_int_equal(cu->StreamQuery(waiting), 600);
    assert_int_equal(cu->StreamQuery(later), 600);
    atomic_store(&is_released, 1);
    assert_int_equal(cu->StreamSynchronize(later), 0);
    assert_int_equal(cu->StreamSynchronize(waiting), 0);
    assert_int_equal(cu->EventQuery(event), 0);
    /* A captured stream of the context: refused, and the capture is broken. */
    assert_int_equal(cu->StreamBeginCapture(slow, 2), 0);
    assert_int_equal(cu->GreenCtxRecordEvent(parts[0].green, event), 900);
    assert_int_equal(cu->StreamEndCapture(slow, &graph), 901);
    assert_int_equal(cu->GreenCtxRecordEvent(parts[0].green, NULL), 400);
    assert_int_equal(cu->GreenCtxDestroy(parts[0].green), 0);
    assert_int_equal(cu->GreenCtxDestroy(parts[1].green), 0);
    assert_int_equal(cu->EventDestroy(event), 0);
    assert_int_equal(cu->EventDestroy(of_other), 0);
    sim_end_context();
}

/* cuCtxSynchronize of a green context waits for its work alone, that of the primary one for all. */
static void test_synchronize(void **state)
{
    CUcontext primary = sim_begin_context("sim:1,cc=9.0,sms=132");
    struct green parts[2];
    CUstream slow;

    (void)state;
    split_device(16, parts);
    atomic_store(&is_released, 0);
    assert_int_equal(cu->GreenCtxStreamCreate(&slow, parts[0].green, NON_BLOCKING, 0), 0);
    assert_int_equal(cu->LaunchHostFunc(slow, wait_for_release, NULL), 0);
    assert_int_equal(cu->CtxSetCurrent(parts[1].context), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(cu->StreamQuery(slow), 600);
    atomic_store(&is_released, 1);
    assert_int_equal(cu->CtxSetCurrent(primary), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(cu->StreamQuery(slow), 0);
    assert_int_equal(cu->GreenCtxDestroy(parts[0].green), 0);
    assert_int_equal(cu->GreenCtxDestroy(parts[1].green), 0);
    sim_end_context();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_multiprocessors), cmocka_unit_test(test_order),
        cmocka_unit_test(test_life), cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_events), cmocka_unit_test(test_synchronize)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
