/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which calls of the simulated driver wait for work of other streams, and beside which of them
 * other threads cannot launch: as measured on an H100 with driver 580.159.04. A stream that waits
 * in a host function stands for a kernel that runs. With the argument "gpu" the same table is
 * compared with the driver of the host.
 */
#include "kernels.h"

#include "driver/attributes.h"
#include "driver/driver.h"

static bool is_gpu;

#define NON_BLOCKING 1u
#define MIB (1u << 20)

/* A kernel with 60,000 bytes of local memory. */
static const char local_ptx[] = PTX_HEAD ".visible .entry deep()\n"
                                         "{\n"
                                         " .local .align 4 .b8 frame[60000];\n"
                                         " .reg .b32 %r<2>;\n"
                                         " mov.u32 %r1, 1;\n"
                                         " st.local.u32 [frame+59996], %r1;\n"
                                         " ret;\n"
                                         "}\n";

static struct {
    CUcontext context;
    CUstream busy, other;
    CUdeviceptr device, twin;
    void *pinned, *spare_pinned;
    unsigned char *pageable, *spare_pageable, *registered;
    CUmodule module, spare_module, deep_module;
    CUfunction kernel, deep;
    CUmemoryPool pool;
} with;

static pool_cu_result launch_on(CUfunction kernel, CUstream stream)
{
    unsigned count = 0;
    void *arguments[] = {&with.device, &count};

    return cu->LaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

/* ---- the calls ------------------------------------------------------------------------------- */

static pool_cu_result free_memory(void)
{
    return cu->MemFree(with.twin);
}

static pool_cu_result free_pinned(void)
{
    return cu->MemFreeHost(with.spare_pinned);
}

static pool_cu_result unregister(void)
{
    return cu->MemHostUnregister(with.registered);
}

static pool_cu_result load_image(void)
{
    return cu->ModuleLoadData(&with.spare_module, kernels_ptx);
}

static pool_cu_result load_ex(void)
{
    return cu->ModuleLoadDataEx(&with.spare_module, kernels_ptx, 0, NULL, NULL);
}

static pool_cu_result unload(void)
{
    return cu->ModuleUnload(with.spare_module);
}

static pool_cu_result launch_deep(void)
{
    return launch_on(with.deep, with.other);
}

static pool_cu_result set_stack(void)
{
    return cu->CtxSetLimit(DRIVER_LIMIT_STACK_SIZE, 2048);
}

static pool_cu_result set_heap(void)
{
    return cu->CtxSetLimit(DRIVER_LIMIT_MALLOC_HEAP_SIZE, 16 * MIB);
}

static pool_cu_result allocate(void)
{
    return cu->MemAlloc(&with.twin, MIB);
}

static pool_cu_result pin(void)
{
    return cu->MemHostAlloc(&with.spare_pinned, MIB, 0);
}

static pool_cu_result copy_to_host(void)
{
    return cu->MemcpyDtoH(with.pageable, with.device, MIB);
}

static pool_cu_result copy_to_device(void)
{
    return cu->MemcpyHtoD(with.device, with.pageable, MIB);
}

static pool_cu_result fill(void)
{
    return cu->MemsetD8(with.device, 0, MIB);
}

static pool_cu_result launch_plain(void)
{
    return launch_on(with.kernel, with.other);
}

static pool_cu_result cycle_stream(void)
{
    CUstream stream = NULL;
    pool_cu_result code = cu->StreamCreateWithPriority(&stream, NON_BLOCKING, 0);

    return code ? code : cu->StreamDestroy(stream);
}

static pool_cu_result cycle_event(void)
{
    CUevent event = NULL;
    pool_cu_result code = cu->EventCreate(&event, 0);

    return code ? code : cu->EventDestroy(event);
}

static pool_cu_result cycle_pooled(void)
{
    CUdeviceptr memory = 0;
    pool_cu_result code = cu->MemAllocFromPoolAsync(&memory, MIB, with.pool, with.other);

    if (!code)
        code = cu->MemFreeAsync(memory, with.other);
    if (!code)
        code = cu->StreamSynchronize(with.other);
    return code ? code : cu->MemPoolTrimTo(with.pool, 0);
}

static pool_cu_result get_function(void)
{
    CUfunction function = NULL;

    return cu->ModuleGetFunction(&function, with.module, "set_count");
}

struct call {
    const char *name;
    pool_cu_result (*make)(void);
    bool waits, blocks_launches;
    bool always; /* it waits with waits=0, too: what may still use the object ends first */
};

/* In this order: some of them release what others have made. */
static const struct call calls[] = {
    {"cuMemFree", free_memory, true, true, true},
    {"cuMemFreeHost", free_pinned, true, true, true},
    {"cuMemHostUnregister", unregister, true, true, true},
    {"cuModuleUnload", unload, true, false, true},
    {"cuModuleLoadData", load_image, true, true, false},
    {"cuModuleUnload", unload, true, false, true},
    {"cuModuleLoadDataEx", load_ex, true, true, false},
    {"cuLaunchKernel with more local memory", launch_deep, true, false, false},
    {"cuLaunchKernel with as much", launch_deep, false, false, false},
    {"cuCtxSetLimit(stack)", set_stack, true, false, false},
    {"cuCtxSetLimit(stack), the same", set_stack, false, false, false},
    {"cuCtxSetLimit(heap)", set_heap, false, false, false},
    {"cuMemAlloc", allocate, false, false, false},
    {"cuMemHostAlloc", pin, false, false, false},
    {"cuMemcpyDtoH", copy_to_host, false, false, false},
    {"cuMemcpyHtoD", copy_to_device, false, false, false},
    {"cuMemsetD8", fill, false, false, false},
    {"cuLaunchKernel", launch_plain, false, false, false},
    {"cuStreamCreate and cuStreamDestroy", cycle_stream, false, false, false},
    {"cuEventCreate and cuEventDestroy", cycle_event, false, false, false},
    {"allocation in stream order", cycle_pooled, false, false, false},
    {"cuModuleGetFunction", get_function, false, false, false},
};

/* ---- calls in threads ------------------------------------------------------------------------ */

struct caller {
    pthread_t thread;
    pool_cu_result (*make)(void);
    pool_cu_result code;
    atomic_bool is_done;
};

static void *call_in_thread(void *argument)
{
    struct caller *caller = argument;

    caller->code = cu->CtxSetCurrent(with.context);
    if (!caller->code)
        caller->code = caller->make();
    atomic_store(&caller->is_done, true);
    return NULL;
}

static void start(struct caller *caller, pool_cu_result (*make)(void))
{
    *caller = (struct caller){.make = make};
    assert_int_equal(pthread_create(&caller->thread, NULL, call_in_thread, caller), 0);
}

/* Whether the call returns soon: calls that wait have 60 ms to be wrong, others ten seconds. */
static bool returns(struct caller *caller, bool is_expected)
{
    for (int at = 0; at < (is_expected ? 10000 : 60) && !atomic_load(&caller->is_done); at++)
        sleep_ms(1);
    return atomic_load(&caller->is_done);
}

static void end(struct caller *caller, const char *name)
{
    pthread_join(caller->thread, NULL);
    if (caller->code)
        fail_msg("%s returned %u", name, caller->code);
}

static int wrong; /* calls; all are tried */

static void check_call(const struct call *call, bool has_waits)
{
    const bool waits = call->waits && (has_waits || call->always);
    const bool blocks = waits && call->blocks_launches && has_waits;
    struct gate gate = GATE_INIT;
    struct caller caller, launcher;

    assert_int_equal(cu->LaunchHostFunc(with.busy, gate_function, &gate), 0);
    gate_wait_entered(&gate, 1);
    start(&caller, call->make);
    if (returns(&caller, !waits) == waits) {
        printf("%s %s\n", call->name, waits ? "does not wait" : "waits");
        wrong++;
    }
    if (waits) {
        start(&launcher, launch_plain);
        /* On a busy machine the call may not have reached the driver yet. */
        for (int i = 0; i < 5 && blocks && returns(&launcher, false); i++) {
            end(&launcher, "cuLaunchKernel");
            sleep_ms(100);
            start(&launcher, launch_plain);
        }
        if (returns(&launcher, !blocks) == blocks) {
            printf("beside %s a launch %s\n", call->name, blocks ? "does not wait" : "waits");
            wrong++;
        }
    }
    gate_open(&gate);
    if (waits)
        end(&launcher, "cuLaunchKernel");
    end(&caller, call->name);
    assert_int_equal(cu->CtxSynchronize(), 0);
}

static void create_objects(const char *spec)
{
    const pool_cu_mem_pool_props props = {.allocation_type = DRIVER_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = DRIVER_MEM_LOCATION_TYPE_DEVICE}};

    if (is_gpu) {
        assert_int_equal(cu->DevicePrimaryCtxRetain(&with.context, 0), 0);
        assert_int_equal(cu->CtxSetCurrent(with.context), 0);
    } else {
        with.context = sim_begin_context(spec);
    }
    assert_int_equal(cu->StreamCreateWithPriority(&with.busy, NON_BLOCKING, 0), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&with.other, NON_BLOCKING, 0), 0);
    assert_int_equal(cu->MemAlloc(&with.device, MIB), 0);
    assert_int_equal(cu->MemAlloc(&with.twin, MIB), 0);
    assert_int_equal(cu->MemHostAlloc(&with.pinned, MIB, 0), 0);
    assert_int_equal(cu->MemHostAlloc(&with.spare_pinned, MIB, 0), 0);
    with.pageable = malloc(MIB);
    with.spare_pageable = malloc(MIB);
    with.registered = aligned_alloc(4096, MIB);
    assert_true(with.pageable && with.spare_pageable && with.registered);
    memset(with.pageable, 0, MIB);
    memset(with.spare_pageable, 0, MIB);
    assert_int_equal(cu->MemHostRegister(with.registered, MIB, 0), 0);
    assert_int_equal(cu->ModuleLoadData(&with.module, kernels_ptx), 0);
    assert_int_equal(cu->ModuleLoadData(&with.spare_module, kernels_ptx), 0);
    assert_int_equal(cu->ModuleLoadData(&with.deep_module, local_ptx), 0);
    assert_int_equal(cu->ModuleGetFunction(&with.kernel, with.module, "add_one"), 0);
    assert_int_equal(cu->ModuleGetFunction(&with.deep, with.deep_module, "deep"), 0);
    assert_int_equal(cu->MemPoolCreate(&with.pool, &props), 0);
}

static void destroy_objects(void)
{
    assert_int_equal(cu->MemPoolDestroy(with.pool), 0);
    assert_int_equal(cu->ModuleUnload(with.module), 0);
    assert_int_equal(cu->ModuleUnload(with.spare_module), 0);
    assert_int_equal(cu->ModuleUnload(with.deep_module), 0);
    assert_int_equal(cu->MemFreeHost(with.pinned), 0);
    assert_int_equal(cu->MemFreeHost(with.spare_pinned), 0);
    assert_int_equal(cu->MemFree(with.device), 0);
    assert_int_equal(cu->MemFree(with.twin), 0);
    assert_int_equal(cu->StreamDestroy(with.busy), 0);
    assert_int_equal(cu->StreamDestroy(with.other), 0);
    free(with.pageable);
    free(with.spare_pageable);
    free(with.registered);
    if (is_gpu)
        assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    else
        sim_end_context();
}

static void check_calls(bool has_waits)
{
    create_objects(has_waits ? "sim" : "sim:waits=0");
    for (size_t at = 0; at < sizeof(calls) / sizeof(calls[0]); at++)
        check_call(&calls[at], has_waits);
    destroy_objects();
    assert_int_equal(wrong, 0);
}

static void test_calls(void **state)
{
    (void)state;
    check_calls(true);
}

static void test_calls_without_waits(void **state)
{
    (void)state;
    check_calls(false);
}

/* ---- pageable copies ------------------------------------------------------------------------- */

/* Each copy has its own memory at both ends: where the second does not wait they run at once. */
static struct {
    CUdeviceptr device;
    void *host;
    size_t bytes;
    bool to_host, is_synchronous;
} first, second;

static pool_cu_result copy_first(void)
{
    return first.to_host ? cu->MemcpyDtoHAsync(first.host, first.device, first.bytes, with.busy)
                         : cu->MemcpyHtoDAsync(first.device, first.host, first.bytes, with.busy);
}

static pool_cu_result copy_second(void)
{
    if (second.is_synchronous)
        return cu->MemcpyDtoH(second.host, second.device, second.bytes);
    return second.to_host
               ? cu->MemcpyDtoHAsync(second.host, second.device, second.bytes, with.other)
               : cu->MemcpyHtoDAsync(second.device, second.host, second.bytes, with.other);
}

/* The rows of the measurement: a copy behind a kernel, and one of another thread and stream. */
static void test_pageable_copies(void **state)
{
    static const struct {
        size_t first_bytes;
        bool is_first_pinned, is_first_to_host;
        size_t bytes;
        bool is_pinned, is_to_host, is_synchronous;
        bool waits;
    } rows[] = {
        {1024, false, true, 1024, false, true, false, true},
        {65536, false, true, 65536, false, true, false, true},
        {MIB, false, true, MIB, false, true, false, true},
        {2048, false, true, 96, false, true, false, false},
        {96, false, true, 2048, false, true, false, false},
        {2048, false, true, 2048, true, true, false, false},
        {2048, true, true, 2048, false, true, false, false},
        {2048, false, true, 2048, false, false, false, false},
        {2048, false, true, MIB, false, false, false, false},
        {65536, false, false, 65536, false, false, false, false},
        {MIB, false, false, MIB, false, false, false, true},
        {2048, false, true, 96, false, true, true, true},
        {2048, true, true, 96, false, true, true, false},
    };

    (void)state;
    wrong = 0;
    for (int without = 0; without < (is_gpu ? 1 : 2); without++) {
        create_objects(without ? "sim:waits=0" : "sim");
        for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
            const bool waits = rows[at].waits && !without;
            struct gate gate = GATE_INIT;
            struct caller one, other;

            first.device = with.device;
            second.device = with.twin;
            first.host = rows[at].is_first_pinned ? with.pinned : with.pageable;
            first.bytes = rows[at].first_bytes;
            first.to_host = rows[at].is_first_to_host;
            second.host = rows[at].is_pinned ? with.spare_pinned : with.spare_pageable;
            second.bytes = rows[at].bytes;
            second.to_host = rows[at].is_to_host;
            second.is_synchronous = rows[at].is_synchronous;
            assert_int_equal(cu->LaunchHostFunc(with.busy, gate_function, &gate), 0);
            gate_wait_entered(&gate, 1);
            start(&one, copy_first);
            sleep_ms(20); /* it has reached the driver, which waits or not */
            start(&other, copy_second);
            if (returns(&other, !waits) == waits) {
                printf("row %zu %s\n", at, waits ? "does not wait" : "waits");
                wrong++;
            }
            gate_open(&gate);
            end(&one, "the first copy");
            end(&other, "the second copy");
            assert_int_equal(cu->CtxSynchronize(), 0);
        }
        assert_int_equal(cu->MemHostUnregister(with.registered), 0);
        destroy_objects();
    }
    assert_int_equal(wrong, 0);
}

/* Threads that wait for one another's loads and launches end with the driver or the context. */
static void test_end_while_waiting(void **state)
{
    struct caller loader, launcher;

    (void)state;
    create_objects("sim");
    assert_int_equal(pool_sim_set_faults("cuMemsetD8Async=hang"), POOL_OK);
    assert_int_equal(cu->MemsetD8Async(with.device, 0, 1, with.busy), 0);
    assert_int_equal(pool_sim_set_faults(NULL), POOL_OK);
    start(&loader, load_image);
    assert_false(returns(&loader, false));
    start(&launcher, launch_plain);
    assert_false(returns(&launcher, false));
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    pthread_join(loader.thread, NULL);
    pthread_join(launcher.thread, NULL);
    assert_int_equal(loader.code, POOL_CU_CONTEXT_IS_DESTROYED);
    assert_true(
        launcher.code == POOL_CU_CONTEXT_IS_DESTROYED || launcher.code == POOL_CU_INVALID_HANDLE);
    free(with.pageable);
    free(with.spare_pageable);
    free(with.registered);
    sim_close();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest on_gpu[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_pageable_copies),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_calls_without_waits),
        cmocka_unit_test(test_pageable_copies),
        cmocka_unit_test(test_end_while_waiting),
    };
    struct driver *driver = NULL;

    is_gpu = argc > 1 && strcmp(argv[1], "gpu") == 0;
    if (is_gpu) {
        if (driver_open(NULL, &driver) || driver->api.Init(0)) {
            printf("no driver: %s\n", pool_last_error()->message);
            return 77;
        }
        cu = &driver->api;
        return cmocka_run_group_tests_name("waiting calls of a GPU's driver", on_gpu, NULL, NULL);
    }
    return cmocka_run_group_tests_name("waiting calls", tests, NULL, NULL);
}
