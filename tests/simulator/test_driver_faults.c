/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault rules, hangs and the sticky fault of the simulated driver.
 */
#include "driver.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void rules(const char *text)
{
    if (pool_sim_set_faults(text))
        fail_msg("%s", pool_last_error()->message);
}

static void test_counting(void **state)
{
    CUdeviceptr memory[6];

    (void)state;
    rules("cuMemAlloc@3=2; cuMemFree@2-3=OUT_OF_MEMORY; cuMemGetInfo@2+=999");
    sim_begin_context("sim");
    assert_int_equal(cu->MemAlloc(&memory[0], 4), 0);
    assert_int_equal(cu->MemAlloc(&memory[1], 4), 0);
    assert_int_equal(cu->MemAlloc(&memory[2], 4), 2);
    assert_int_equal(cu->MemAlloc(&memory[2], 4), 0);
    assert_int_equal(cu->MemFree(memory[0]), 0);
    assert_int_equal(cu->MemFree(memory[1]), 2);
    assert_int_equal(cu->MemFree(memory[1]), 2);
    assert_int_equal(cu->MemFree(memory[1]), 0);
    size_t bytes;
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 0);
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 999);
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 999);
    rules(NULL);
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 0);
    assert_int_equal(cu->MemFree(memory[2]), 0);
    sim_end_context();
    /* Rules end with the driver. */
    sim_begin_context("sim");
    rules("cuMem*=1");
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 1);
    sim_end_context();
    sim_begin_context("sim");
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 0);
    sim_end_context();
}

static void test_one_device(void **state)
{
    CUcontext one = NULL, two = NULL;
    CUdeviceptr memory = 0;
    size_t bytes;

    (void)state;
    rules("dev1.cuDevicePrimaryCtxRetain@1=46; dev1.cuMemAlloc=2; dev0.cuDeviceTotalMem=101");
    sim_begin("sim:2");
    assert_int_equal(cu->DevicePrimaryCtxRetain(&one, 0), 0);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&two, 1), 46);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&two, 1), 0);
    assert_int_equal(cu->DeviceTotalMem(&bytes, 0), 101);
    assert_int_equal(cu->DeviceTotalMem(&bytes, 1), 0);
    assert_int_equal(cu->CtxSetCurrent(two), 0);
    assert_int_equal(cu->MemAlloc(&memory, 4), 2);
    assert_int_equal(cu->CtxSetCurrent(one), 0);
    assert_int_equal(cu->MemAlloc(&memory, 4), 0);
    assert_int_equal(cu->MemFree(memory), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(1), 0);
    sim_end_context();
}

static void test_environment(void **state)
{
    size_t bytes;

    (void)state;
    setenv("DEVICEPOOL_SIM_FAULTS", "cuMemGetInfo@1=2", 1);
    sim_begin_context("sim");
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 2);
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 0);
    sim_end_context();
    rules("cuMemGetInfo@2=1"); /* the program's rules count, not the environment's */
    sim_begin_context("sim");
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 0);
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 1);
    sim_end_context();
    setenv("DEVICEPOOL_SIM_FAULTS", "nonsense", 1);
    assert_int_equal(sim_open("sim", &cu), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "fault string"));
    unsetenv("DEVICEPOOL_SIM_FAULTS");
    sim_begin("sim");
    sim_close();
    assert_int_equal(pool_sim_set_faults("nonsense"), POOL_ERR_INVALID_ARGUMENT);
}

/* Every function that talks to a device answers the sticky code; the thread's stack still works. */
static void test_sticky(void **state)
{
    CUdeviceptr memory = 0, other = 0;
    CUcontext context, made = NULL, now;
    CUstream stream = NULL;
    CUevent event = NULL;
    pool_sim_fault fault;
    size_t bytes;
    int value = 0;

    (void)state;
    context = sim_begin_context("sim:2");
    rules("cuMemsetD8Async@2=700");
    assert_int_equal(cu->MemAlloc(&memory, 64), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&stream, 0, 0), 0);
    assert_int_equal(cu->EventCreate(&event, 0), 0);
    assert_int_equal(cu->MemsetD8Async(memory, 1, 64, stream), 0);
    assert_int_equal(cu->StreamSynchronize(stream), 0);
    assert_int_equal(last_fault().driver_code, 0);
    assert_int_equal(cu->MemsetD8Async(memory, 1, 64, stream), 0); /* asynchronous: not here */
    assert_int_equal(cu->StreamSynchronize(stream), 700);          /* but here */
    assert_int_equal(cu->StreamSynchronize(stream), 700);
    assert_int_equal(cu->StreamQuery(stream), 700);
    assert_int_equal(cu->CtxSynchronize(), 700);
    assert_int_equal(cu->MemAlloc(&other, 4), 700);
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 700);
    assert_int_equal(cu->MemcpyHtoD(memory, &value, 4), 700);
    assert_int_equal(cu->EventRecord(event, stream), 700);
    assert_int_equal(cu->EventQuery(event), 700);
    assert_int_equal(cu->LaunchHostFunc(stream, gate_function, NULL), 700);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&made, 1), 700); /* other devices too */
    assert_int_equal(cu->CtxCreate(&made, 0, 1), 700);
    assert_int_equal(cu->CtxGetCurrent(&now), 0);
    assert_ptr_equal(now, context);
    assert_int_equal(cu->CtxPushCurrent(context), 0);
    assert_int_equal(cu->CtxPopCurrent(&now), 0);
    assert_int_equal(cu->DeviceGetCount(&value), 0);
    fault = last_fault();
    assert_int_equal(fault.driver_code, 700);
    assert_int_equal(fault.device, 0);
    assert_string_equal(fault.kind, "injected");
    assert_int_equal(cu->MemFree(memory), 700);
    assert_int_equal(cu->EventDestroy(event), 700);
    assert_int_equal(cu->StreamDestroy(stream), 700);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    sim_close();
    /* A new driver is healthy: that is the one thing a simulated process can do and a real cannot.
     */
    sim_begin_context("sim:2");
    assert_int_equal(last_fault().driver_code, 0);
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 0);
    sim_end_context();
}

static void test_sticky_at_once(void **state)
{
    CUdeviceptr memory = 0;

    (void)state;
    sim_begin_context("sim");
    rules("cuMemAlloc@1=719");
    assert_int_equal(cu->MemAlloc(&memory, 64), 719);
    assert_int_equal(cu->CtxSynchronize(), 719);
    assert_non_null(strstr(last_fault().text, "cuMemAlloc"));
    sim_close();
}

/* Work after the fault in a stream is not executed, and no call waits for ever. */
static void test_work_behind_a_fault(void **state)
{
    struct gate gate = GATE_INIT, after = GATE_INIT;
    CUstream one = NULL, two = NULL;
    CUdeviceptr memory = 0;
    CUevent event = NULL;

    (void)state;
    sim_begin_context("sim");
    rules("cuMemsetD8Async@1=716; cuMemsetD8Async@2=hang");
    after.is_open = 1;
    assert_int_equal(cu->MemAlloc(&memory, 64), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&one, 1, 0), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&two, 1, 0), 0);
    assert_int_equal(cu->EventCreate(&event, 0), 0);
    assert_int_equal(cu->LaunchHostFunc(one, gate_function, &gate), 0);
    assert_int_equal(cu->MemsetD8Async(memory, 1, 64, one), 0);
    assert_int_equal(cu->LaunchHostFunc(one, gate_function, &after), 0);
    assert_int_equal(cu->EventRecord(event, one), 0);
    assert_int_equal(cu->StreamWaitEvent(two, event, 0), 0);
    assert_int_equal(cu->MemsetD8Async(memory, 1, 64, two), 0); /* hangs, until the fault */
    gate_open(&gate);
    assert_int_equal(cu->EventSynchronize(event), 716);
    assert_int_equal(cu->StreamSynchronize(two), 716);
    assert_int_equal(after.entered, 0);
    sim_close();
}

static void test_use_after_free_in_a_stream(void **state)
{
    pool_cu_mem_pool_props props = {.allocation_type = 1, .location = {1, 0}};
    struct gate gate = GATE_INIT;
    CUstream one = NULL, two = NULL;
    CUdeviceptr memory = 0;
    CUmemoryPool pool = NULL;

    (void)state;
    sim_begin_context("sim");
    assert_int_equal(cu->MemPoolCreate(&pool, &props), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&one, 1, 0), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&two, 1, 0), 0);
    assert_int_equal(cu->MemAllocFromPoolAsync(&memory, 64, pool, one), 0);
    assert_int_equal(cu->LaunchHostFunc(one, gate_function, &gate), 0);
    assert_int_equal(cu->MemsetD8Async(memory, 1, 64, one), 0);
    assert_int_equal(cu->MemFreeAsync(memory, two), 0); /* does not wait for stream one */
    assert_int_equal(cu->StreamSynchronize(two), 0);
    gate_open(&gate);
    assert_int_equal(cu->StreamSynchronize(one), 700);
    assert_string_equal(last_fault().kind, "use after free");
    sim_close();
}

static void test_hang_and_resume(void **state)
{
    CUstream stream = NULL, other = NULL;
    CUdeviceptr memory = 0;
    unsigned char back = 0;

    (void)state;
    sim_begin_context("sim");
    rules("cuMemsetD8Async@2=hang");
    assert_int_equal(cu->MemAlloc(&memory, 64), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&stream, 1, 0), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&other, 1, 0), 0);
    assert_int_equal(cu->MemsetD8Async(memory, 1, 64, stream), 0);
    assert_int_equal(cu->StreamSynchronize(stream), 0);
    assert_int_equal(cu->MemsetD8Async(memory, 2, 64, stream), 0);
    sleep_ms(30);
    assert_int_equal(cu->StreamQuery(stream), 600);
    assert_int_equal(cu->StreamSynchronize(other), 0);
    assert_int_equal(pool_sim_resume(), POOL_OK);
    assert_int_equal(cu->StreamSynchronize(stream), 0);
    assert_int_equal(cu->MemcpyDtoH(&back, memory, 1), 0);
    assert_int_equal(back, 2); /* it was late, not lost */
    assert_int_equal(cu->MemFree(memory), 0);
    assert_int_equal(cu->StreamDestroy(stream), 0);
    assert_int_equal(cu->StreamDestroy(other), 0);
    /* Destroying the context, and closing, end what hangs. */
    CUcontext context;
    assert_int_equal(cu->CtxCreate(&context, 0, 0), 0);
    rules("cuEventRecord=hang");
    CUevent event;
    assert_int_equal(cu->EventCreate(&event, 0), 0);
    assert_int_equal(cu->EventRecord(event, NULL), 0);
    assert_int_equal(cu->EventQuery(event), 600);
    assert_int_equal(cu->CtxDestroy(context), 0);
    assert_int_equal(cu->EventCreate(&event, 0), 0);
    assert_int_equal(cu->EventRecord(event, NULL), 0);
    assert_int_equal(cu->EventQuery(event), 600);
    sim_close();
}

static atomic_long waiting_thread;

static void *wait_for_context(void *argument)
{
    CUcontext context = argument;

    cu->CtxSetCurrent(context);
    atomic_store(&waiting_thread, syscall(SYS_gettid));
    return (void *)(uintptr_t)cu->CtxSynchronize();
}

static char state_of_thread(long thread)
{
    char path[64], line[256] = "", *name_end;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", thread);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    name_end = strrchr(line, ')');
    assert_non_null(name_end);
    return name_end[2];
}

static atomic_int has_copied;

/* Again, as the copy may begin after it. */
static void *resume_later(void *unused)
{
    (void)unused;
    do {
        sleep_ms(30);
        pool_sim_resume();
    } while (!atomic_load(&has_copied));
    return NULL;
}

static void test_a_synchronous_copy_hangs(void **state)
{
    CUdeviceptr memory = 0;
    pthread_t thread;
    struct timespec from, to;
    int value = 7, back = 0;

    (void)state;
    sim_begin_context("sim");
    rules("cuMemcpyDtoH=hang");
    assert_int_equal(cu->MemAlloc(&memory, 4), 0);
    assert_int_equal(cu->MemcpyHtoD(memory, &value, 4), 0);
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_int_equal(pthread_create(&thread, NULL, resume_later, NULL), 0);
    assert_int_equal(cu->MemcpyDtoH(&back, memory, 4), 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    atomic_store(&has_copied, 1);
    pthread_join(thread, NULL);
    assert_int_equal(back, 7);
    assert_true((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 >= 30);
    assert_int_equal(cu->MemFree(memory), 0);
    sim_end_context();
}

/* A thread that waits when the driver ends returns with an error. */
static void test_close_under_a_waiting_thread(void **state)
{
    CUcontext context = sim_begin_context("sim");
    pthread_t thread;
    void *code;

    (void)state;
    rules("cuLaunchHostFunc=hang");
    assert_int_equal(cu->LaunchHostFunc(NULL, gate_function, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_context, context), 0);
    /* Asleep for longer than a lock that another thread has for a moment takes. */
    for (int times = 0; times < 20; sleep_ms(1)) {
        pid_t waiting = atomic_load(&waiting_thread);

        times = waiting && state_of_thread(waiting) == 'S' ? times + 1 : 0;
    }
    sim_close();
    pthread_join(thread, &code);
    assert_int_equal((uintptr_t)code, 4);
}

/* A program that exits while a stream hangs and another runs just ends. */
static void test_exit_with_work(void **state)
{
    int status = -1;
    pid_t child = fork(); /* before all other tests: nothing is open, and no thread has been */

    (void)state;
    if (child == 0) {
        static struct gate gate = GATE_INIT;
        CUcontext context;
        CUstream stream;
        int wrong = pool_sim_set_faults("cuEventRecord=hang") || sim_open("sim", &cu) ||
                    cu->Init(0) || cu->CtxCreate(&context, 0, 0) ||
                    cu->StreamCreateWithPriority(&stream, 1, 0) ||
                    cu->LaunchHostFunc(stream, gate_function, &gate);
        CUevent event;
        wrong = wrong || cu->EventCreate(&event, 0) || cu->EventRecord(event, NULL);
        exit(wrong);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* What only enqueues, by its row in calls.def, reports a sticky fault later: a copy of rows, a
 * recording and a wait of a green context. */
static void test_fault_of_what_enqueues(void **state)
{
    static const char *const texts[] = {
        "cuMemcpy2DAsync=700", "cuGreenCtxRecordEvent=700", "cuGreenCtxWaitEvent=700"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct gate gate = GATE_INIT;
        pool_cu_copy_2d copy = {.width_bytes = 8, .height = 2};
        pool_cu_dev_resource all;
        CUdevResourceDesc desc;
        CUdeviceptr memory;
        CUgreenCtx green;
        CUstream stream;
        CUevent event;
        void *host;

        rules(texts[i]);
        sim_begin_context("sim:1,sms=16");
        assert_int_equal(cu->MemAlloc(&memory, 16), 0);
        assert_int_equal(cu->DeviceGetDevResource(0, &all, 1), 0);
        assert_int_equal(cu->DevResourceGenerateDesc(&desc, &all, 1), 0);
        assert_int_equal(cu->GreenCtxCreate(&green, desc, 0, 1), 0);
        assert_int_equal(cu->GreenCtxStreamCreate(&stream, green, 1, 0), 0);
        assert_int_equal(cu->EventCreate(&event, 2), 0);
        assert_int_equal(cu->MemHostAlloc(&host, 16, 0), 0);
        memset(host, 0, 16);
        assert_int_equal(cu->LaunchHostFunc(stream, gate_function, &gate), 0);
        assert_int_equal(cu->EventRecord(event, stream), 0);
        copy.from.memory_type = 1;
        copy.from.host = host;
        copy.to.memory_type = 2;
        copy.to.device = memory;
        copy.from.pitch = copy.to.pitch = 8;
        if (i == 0)
            assert_int_equal(cu->Memcpy2DAsync(&copy, stream), 0);
        else if (i == 1)
            assert_int_equal(cu->GreenCtxRecordEvent(green, event), 0);
        else
            assert_int_equal(cu->GreenCtxWaitEvent(green, event), 0);
        gate_open(&gate);
        assert_int_equal(cu->CtxSynchronize(), 700);
        assert_int_equal(last_fault().driver_code, 700);
        sim_close();
    }
}

static void test_public_refusals(void **state)
{
    pool_sim_fault fault = {0};

    (void)state;
    assert_int_equal(pool_sim_set_reports(1), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_sim_set_reports(64), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_sim_kernel_stats_reset(), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_sim_get_last_fault(&fault), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_sim_get_last_fault(NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_sim_kernel_stats_each(NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_sim_kernel_stats_text(POOL_TEXT_PLAIN, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_string_equal(pool_sim_class_name(POOL_SIM_CLASSES), "?");
    fault.struct_size = offsetof(pool_sim_fault, kind);
    assert_int_equal(pool_sim_get_last_fault(&fault), POOL_ERR_INVALID_ARGUMENT);
    fault.struct_size = sizeof(fault);
    assert_int_equal(pool_sim_get_last_fault(&fault), POOL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_with_work),
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_one_device),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_sticky),
        cmocka_unit_test(test_sticky_at_once),
        cmocka_unit_test(test_work_behind_a_fault),
        cmocka_unit_test(test_use_after_free_in_a_stream),
        cmocka_unit_test(test_hang_and_resume),
        cmocka_unit_test(test_a_synchronous_copy_hangs),
        cmocka_unit_test(test_close_under_a_waiting_thread),
        cmocka_unit_test(test_fault_of_what_enqueues),
        cmocka_unit_test(test_public_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
