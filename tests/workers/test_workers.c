/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker processes with simulated devices, through the table of driver functions: what crosses the
 * border, in which order, what happens when a worker ends, and that nothing is left behind.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "driver/driver.h"
#include "driver/worker/client/client.h"
#include "driver/worker/worker.h"
#include "left_behind.h"
#include "support/assert.h"
#include "support/child.h"

static const pool_cuda_api *cu;

#define CODE(expected, call) assert_int_equal(cu->call, expected)

static void open_workers(const char *devices)
{
    assert_ok(worker_open(devices, &cu));
    CODE(0, Init(0));
}

static CUcontext enter(CUdevice device)
{
    CUcontext context = NULL;

    CODE(0, DevicePrimaryCtxRetain(&context, device));
    CODE(0, CtxPushCurrent(context));
    return context;
}

static void leave(CUdevice device)
{
    CODE(0, CtxPopCurrent(NULL));
    CODE(0, DevicePrimaryCtxRelease(device));
}

static void test_nothing_left(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct left_behind before = look();
        void *memory;

        open_workers("sim:3,mem=1G");
        for (CUdevice device = 0; device < 3; device++) {
            (void)enter(device);
            CODE(0, MemHostAlloc(&memory, 1 << 20, 1));
            memset(memory, 1, 1 << 20);
            CODE(0, CtxPopCurrent(NULL));
        }
        worker_close(); /* with contexts and memory */
        assert_nothing_left(before);
    }
}

static void test_refused(void **state)
{
    const pool_cuda_api *other;
    struct left_behind before = look();

    (void)state;
    assert_status(worker_open("sim:0", &other), POOL_ERR_INVALID_ARGUMENT);
    open_workers("sim:1,mem=1G");
    assert_status(worker_open("sim:2,mem=1G", &other), POOL_ERR_BUSY);
    assert_says("sim:1,mem=1G");
    worker_close();
    setenv("DEVICEPOOL_WORKER", "/nonexistent/worker", 1);
    assert_status(worker_open("sim:1", &other), POOL_ERR_NOT_FOUND);
    assert_says("/nonexistent/worker");
    assert_nothing_left(before);
}

/* A program that is no worker ends at once. */
static void test_wrong_program(void **state)
{
    struct worker_status status;
    int value;

    (void)state;
    setenv("DEVICEPOOL_WORKER", "/bin/true", 1);
    open_workers("sim:1,mem=1G");
    assert_int_not_equal(cu->DeviceGetAttribute(&value, 75, 0), 0);
    assert_true(worker_get_status(0, &status));
    assert_int_equal(status.state, WORKER_STATE_FAILED);
    assert_non_null(strstr(status.cause, "exited with status 0"));
    worker_close();
}

static void test_addresses(void **state)
{
    CUdeviceptr address[2];
    pool_cu_enum attributes[] = {9, 2};
    int ordinal = -1;
    unsigned type = 9;
    void *values[] = {&ordinal, &type}, *pinned;
    char pageable;

    (void)state;
    open_workers("sim:2,mem=1G");
    for (CUdevice device = 0; device < 2; device++) {
        (void)enter(device);
        CODE(0, MemAlloc(&address[device], 1000));
    }
    assert_int_not_equal(address[0], address[1]);
    for (CUdevice device = 0; device < 2; device++) {
        CODE(0, PointerGetAttributes(2, attributes, values, address[device] + 10));
        assert_int_equal(ordinal, device);
        assert_int_equal(type, 2);
    }
    CODE(0, PointerGetAttributes(2, attributes, values, (CUdeviceptr)(uintptr_t)&pageable));
    assert_int_equal(type, 0);
    CODE(0, MemHostAlloc(&pinned, 5000, 1));
    CODE(0, PointerGetAttributes(2, attributes, values, (CUdeviceptr)(uintptr_t)pinned + 4999));
    assert_int_equal(type, 1);
    CODE(801, MemHostRegister(&pageable, 1, 0));
    CODE(0, MemFreeHost(pinned));
    leave(1);
    leave(0);
    worker_close();
}

/* Contexts of a process that the first of them has started. */
static void test_first_context(void **state)
{
    CUcontext first, second;
    struct worker_status status;
    unsigned version;
    size_t bytes;

    (void)state;
    open_workers("sim:2,mem=1G");
    CODE(0, CtxCreate(&first, 0, 1));
    CODE(0, MemGetInfo(&bytes, &bytes));
    CODE(0, CtxGetApiVersion(first, &version));
    CODE(0, CtxCreate(&second, 0, 1));
    assert_ptr_not_equal(first, second);
    CODE(0, CtxDestroy(second));
    CODE(0, CtxGetApiVersion(first, &version));
    CODE(0, CtxDestroy(first));
    CODE(POOL_CU_INVALID_DEVICE, CtxCreate(&first, 0, 2));
    assert_true(worker_get_status(1, &status));
    assert_int_equal(status.losses, 0);
    worker_close();
}

/* From every kind of memory to every kind, also between devices. */
static void test_copies(void **state)
{
    enum { BYTES = (3 << 20) + 5 };
    unsigned char *pageable = malloc(BYTES), *back = calloc(1, BYTES), *pinned;
    CUdeviceptr first, second;
    CUcontext contexts[2];
    CUstream stream;
    void *memory;

    (void)state;
    open_workers("sim:2,mem=1G");
    contexts[0] = enter(0);
    CODE(0, MemAlloc(&first, BYTES));
    CODE(0, MemHostAlloc(&memory, BYTES, 1));
    CODE(0, StreamCreateWithPriority(&stream, 1, 0));
    pinned = memory;
    for (size_t i = 0; i < BYTES; i++)
        pageable[i] = (unsigned char)(i * 31 + i / 4099);
    CODE(0, MemcpyHtoDAsync(first, pageable, BYTES, stream));
    CODE(0, MemcpyDtoHAsync(pinned, first, BYTES, stream));
    CODE(0, StreamSynchronize(stream));
    assert_memory_equal(pinned, pageable, BYTES);
    contexts[1] = enter(1);
    CODE(0, MemAlloc(&second, BYTES));
    CODE(0, MemcpyPeer(second, contexts[1], first, contexts[0], BYTES));
    CODE(0, MemcpyDtoH(back, second, BYTES));
    assert_memory_equal(back, pageable, BYTES);
    /* Pinned memory of one device is pinned for the other. */
    memset(pinned, 7, BYTES);
    CODE(0, MemcpyHtoD(second, pinned, BYTES));
    CODE(0, MemcpyDtoH(back, second, BYTES));
    assert_memory_equal(back, pinned, BYTES);
    CODE(0, MemcpyDtoD(second, first, BYTES));
    CODE(0, MemcpyDtoH(back, second, BYTES));
    assert_memory_equal(back, pageable, BYTES);
    leave(1);
    leave(0);
    worker_close();
    free(pageable);
    free(back);
}

/* --- order ------------------------------------------------------------------------------------ */

static CUcontext shared_context;
static CUstream shared_stream;
static CUdeviceptr shared_address;
static uint32_t *shared_result;
static pthread_barrier_t barrier;

enum { ROUNDS = 300 };

/* Posts a fill in each round; the copy of the other thread follows it at once. */
static void *fill(void *user)
{
    (void)user;
    CODE(0, CtxPushCurrent(shared_context));
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        for (uint32_t i = 0; i < 20; i++)
            (void)cu->MemsetD32Async(shared_address, round + i - 19, 1, shared_stream);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    CODE(0, CtxPopCurrent(NULL));
    return NULL;
}

static void test_order_of_threads(void **state)
{
    pthread_t thread;
    void *memory;

    (void)state;
    open_workers("sim:1,mem=1G");
    shared_context = enter(0);
    CODE(0, MemAlloc(&shared_address, 64));
    CODE(0, StreamCreateWithPriority(&shared_stream, 1, 0));
    CODE(0, MemHostAlloc(&memory, 64, 0));
    shared_result = memory;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, fill, NULL);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        CODE(0, MemcpyDtoHAsync(shared_result, shared_address, 4, shared_stream));
        CODE(0, StreamSynchronize(shared_stream));
        assert_int_equal(*shared_result, round);
        pthread_barrier_wait(&barrier);
    }
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    leave(0);
    worker_close();
}

/* More threads than rings, one after another: the rings of ended threads are used again. */
static void *touch(void *user)
{
    size_t bytes;

    (void)user;
    CODE(0, CtxPushCurrent(shared_context));
    CODE(0, MemGetInfo(&bytes, &bytes));
    return NULL; /* with the context on its stack */
}

static void test_many_threads(void **state)
{
    (void)state;
    open_workers("sim:1,mem=1G");
    shared_context = enter(0);
    for (int round = 0; round < 60; round++) {
        pthread_t threads[5];

        for (int i = 0; i < 5; i++)
            pthread_create(&threads[i], NULL, touch, NULL);
        for (int i = 0; i < 5; i++)
            pthread_join(threads[i], NULL);
    }
    leave(0);
    worker_close();
}

/* --- threads that share kernels and the context -------------------------------------------------
 */

enum { LAUNCHERS = 4, MODULES = 25, RETAINS = 200 };

static CUmodule shared_module;
static CUfunction shared_functions[LAUNCHERS];

/* Asks for the kernel of each module at the same time as the others, and launches the next one's.
 */
static void *launch_in_rounds(void *user)
{
    unsigned index = (unsigned)(uintptr_t)user;
    uint64_t address = shared_address;
    uint32_t one = 1;
    void *arguments[] = {&address, &one};
    CUfunction former = NULL;
    CUstream stream;

    CODE(0, CtxPushCurrent(shared_context));
    CODE(0, StreamCreateWithPriority(&stream, 1, 0));
    for (int round = 0; round < MODULES; round++) {
        pthread_barrier_wait(&barrier);
        if (former) {
            CODE(0, LaunchKernel(former, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
            CODE(POOL_CU_INVALID_HANDLE, StreamSynchronize(stream));
        }
        CODE(0, ModuleGetFunction(&shared_functions[index], shared_module, "add"));
        pthread_barrier_wait(&barrier);
        former = shared_functions[(index + 1) % LAUNCHERS];
        assert_ptr_equal(former, shared_functions[index]);
        CODE(0, LaunchKernel(former, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
        CODE(0, StreamSynchronize(stream));
        pthread_barrier_wait(&barrier);
    }
    CODE(0, StreamDestroy(stream));
    CODE(0, CtxPopCurrent(NULL));
    return NULL;
}

static void test_shared_kernels(void **state)
{
    static const char ptx[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry add(.param .u64 to, .param .u32 n)\n"
        "{ .reg .b64 a; .reg .b32 b, c; ld.param.u64 a, [to]; ld.param.u32 b, [n];"
        " atom.global.add.u32 c, [a], b; ret; }\n";
    pthread_t threads[LAUNCHERS];
    uint32_t count = 0;

    (void)state;
    open_workers("sim:1,mem=1G");
    shared_context = enter(0);
    CODE(0, MemAlloc(&shared_address, sizeof(count)));
    CODE(0, MemsetD32(shared_address, 0, 1));
    CODE(0, CtxSynchronize()); /* before the launches of other streams */
    pthread_barrier_init(&barrier, NULL, LAUNCHERS + 1);
    for (uintptr_t i = 0; i < LAUNCHERS; i++)
        pthread_create(&threads[i], NULL, launch_in_rounds, (void *)i);
    for (int round = 0; round < MODULES; round++) {
        CODE(0, ModuleLoadData(&shared_module, ptx));
        for (int phase = 0; phase < 3; phase++)
            pthread_barrier_wait(&barrier);
        CODE(0, ModuleUnload(shared_module));
    }
    for (int i = 0; i < LAUNCHERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    CODE(0, MemcpyDtoH(&count, shared_address, sizeof(count)));
    assert_int_equal(count, LAUNCHERS * MODULES);
    leave(0);
    worker_close();
}

/* The context that a thread has retained is alive, whatever the others release. */
static void *retain(void *user)
{
    (void)user;
    for (int i = 0; i < RETAINS; i++) {
        CUcontext context;
        size_t bytes;

        CODE(0, DevicePrimaryCtxRetain(&context, 0));
        CODE(0, CtxPushCurrent(context));
        CODE(0, MemGetInfo(&bytes, &bytes));
        CODE(0, CtxPopCurrent(NULL));
        CODE(0, DevicePrimaryCtxRelease(0));
    }
    return NULL;
}

static void test_retaining_threads(void **state)
{
    pthread_t threads[LAUNCHERS];

    (void)state;
    open_workers("sim:1,mem=1G");
    (void)enter(0);
    leave(0);
    for (int i = 0; i < LAUNCHERS; i++)
        pthread_create(&threads[i], NULL, retain, NULL);
    for (int i = 0; i < LAUNCHERS; i++)
        pthread_join(threads[i], NULL);
    worker_close();
}

/* --- host functions --------------------------------------------------------------------------- */

/* Atomic because what orders host functions before a wait is in the worker, where ThreadSanitizer
 * does not see it. */
static atomic_int steps[8];
static atomic_uint step_count;
static _Atomic(pid_t) step_process;
static _Atomic(pool_cu_result) inside;

static void run_step(void *user)
{
    size_t bytes;

    step_process = getpid();
    inside = cu->MemGetInfo(&bytes, &bytes);
    steps[step_count++] = *(int *)user;
}

static void test_host_functions(void **state)
{
    int numbers[5] = {0, 1, 2, 3, 4};
    CUstream stream;
    CUdeviceptr address;
    uint32_t value = 0;

    (void)state;
    step_count = 0;
    open_workers("sim:1,mem=1G");
    (void)enter(0);
    CODE(0, StreamCreateWithPriority(&stream, 1, 0));
    CODE(0, MemAlloc(&address, 4));
    for (int i = 0; i < 5; i++) {
        CODE(0, MemsetD32Async(address, (unsigned)i, 1, stream));
        CODE(0, LaunchHostFunc(stream, run_step, &numbers[i]));
    }
    CODE(0, StreamSynchronize(stream));
    assert_int_equal(step_count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(steps[i], i);
    assert_int_equal(step_process, getpid());
    assert_int_equal(inside, POOL_CU_NOT_PERMITTED);
    CODE(0, MemcpyDtoH(&value, address, 4));
    assert_int_equal(value, 4);
    leave(0);
    worker_close();
}

/* --- the end of a worker ---------------------------------------------------------------------- */

static void wait_for_generation(int ordinal, unsigned generation)
{
    struct worker_status status;

    for (int i = 0; i < 120000; i++) {
        assert_true(worker_get_status(ordinal, &status));
        if (status.generation >= generation && status.state == WORKER_STATE_RUNNING)
            return;
        usleep(5000);
    }
    fail_msg("device %d: no worker of generation %u", ordinal, generation);
}

static void kill_worker(int ordinal)
{
    struct worker_status status;

    assert_true(worker_get_status(ordinal, &status));
    assert_true(status.pid > 0);
    assert_int_equal(kill(status.pid, SIGKILL), 0);
}

static void test_kill(void **state)
{
    struct left_behind before = look();
    struct worker_status status;
    CUdeviceptr address;
    CUcontext other;
    CUstream stream;
    CUevent event;
    size_t bytes;
    void *pinned;

    (void)state;
    open_workers("sim:2,mem=1G");
    other = enter(1);
    CODE(0, CtxPopCurrent(NULL));
    (void)enter(0);
    CODE(0, StreamCreateWithPriority(&stream, 1, 0));
    CODE(0, EventCreate(&event, 0));
    CODE(0, MemAlloc(&address, 64));
    CODE(0, MemHostAlloc(&pinned, 64, 1));
    kill_worker(0);
    wait_for_generation(0, 2);
    assert_true(worker_get_status(0, &status));
    assert_int_equal(status.losses, 1);
    assert_non_null(strstr(status.cause, "signal 9"));
    /* What the old worker had is gone, and can be destroyed. */
    CODE(DRIVER_CODE_LOST, MemGetInfo(&bytes, &bytes));
    CODE(DRIVER_CODE_LOST, StreamSynchronize(stream));
    CODE(DRIVER_CODE_LOST, MemsetD8(address, 0, 1));
    CODE(DRIVER_CODE_LOST, EventQuery(event));
    CODE(0, EventDestroy(event));
    CODE(0, StreamDestroy(stream));
    CODE(0, MemFree(address));
    /* Host memory survives. */
    memset(pinned, 5, 64);
    CODE(0, MemFreeHost(pinned));
    CODE(0, CtxPopCurrent(NULL));
    /* The other device has noticed nothing, and the new worker works. */
    CODE(0, CtxPushCurrent(other));
    CODE(0, MemGetInfo(&bytes, &bytes));
    CODE(0, CtxPopCurrent(NULL));
    (void)enter(0);
    CODE(0, MemAlloc(&address, 64));
    CODE(0, MemsetD8(address, 0, 1));
    leave(0);
    worker_close();
    assert_nothing_left(before);
}

static void *synchronize(void *user)
{
    pool_cu_result *code = user;

    CODE(0, CtxPushCurrent(shared_context));
    *code = cu->StreamSynchronize(shared_stream);
    CODE(0, CtxPopCurrent(NULL));
    return NULL;
}

static void wait_for_flag(void *flag)
{
    while (!atomic_load((atomic_int *)flag))
        usleep(1000);
}

/* A thread that waits in a call returns when the worker is killed. */
static void test_kill_while_waiting(void **state)
{
    pool_cu_result code = 0;
    atomic_int may_end = 0;
    pthread_t thread;

    (void)state;
    open_workers("sim:1,mem=1G");
    shared_context = enter(0);
    CODE(0, StreamCreateWithPriority(&shared_stream, 1, 0));
    CODE(0, LaunchHostFunc(shared_stream, wait_for_flag, &may_end));
    pthread_create(&thread, NULL, synchronize, &code);
    usleep(50000);
    kill_worker(0);
    pthread_join(thread, NULL);
    assert_int_equal(code, DRIVER_CODE_LOST);
    atomic_store(&may_end, 1);
    wait_for_generation(0, 2);
    CODE(0, CtxPopCurrent(NULL));
    (void)enter(0);
    leave(0);
    worker_close();
}

/* A thread that waits in a call returns although the worker is stopped, and one that is stopped for
 * a moment is not lost. */
static void test_stopped_while_waiting(void **state)
{
    struct worker_status status;
    pool_cu_result code = 0;
    atomic_int may_end = 0;
    pthread_t thread;
    pid_t pid;

    (void)state;
    setenv("DEVICEPOOL_WORKER_STOPPED_MS", "3000", 1);
    open_workers("sim:1,mem=1G");
    shared_context = enter(0);
    CODE(0, StreamCreateWithPriority(&shared_stream, 1, 0));
    CODE(0, LaunchHostFunc(shared_stream, wait_for_flag, &may_end));
    pthread_create(&thread, NULL, synchronize, &code);
    usleep(50000);
    assert_true(worker_get_status(0, &status));
    pid = status.pid;
    assert_int_equal(kill(pid, SIGSTOP), 0);
    usleep(1000000);
    assert_int_equal(kill(pid, SIGCONT), 0);
    usleep(1500000); /* it would be lost by now if the time did not begin again */
    assert_int_equal(kill(pid, SIGSTOP), 0);
    usleep(1000000);
    assert_true(worker_get_status(0, &status));
    assert_int_equal(status.losses, 0);
    pthread_join(thread, NULL);
    assert_int_equal(code, DRIVER_CODE_LOST);
    atomic_store(&may_end, 1);
    wait_for_generation(0, 2);
    assert_true(worker_get_status(0, &status));
    assert_int_equal(status.losses, 1);
    assert_non_null(strstr(status.cause, "stopped by signal 19"));
    CODE(0, CtxPopCurrent(NULL));
    (void)enter(0);
    leave(0);
    worker_close();
    unsetenv("DEVICEPOOL_WORKER_STOPPED_MS");
}

/* --- frozen cgroups --------------------------------------------------------------------------- */

/* A cgroup that this process has made, whose processes can be frozen. */
struct freezer {
    const char *root; /* where the hierarchy is mounted */
    const char *file; /* of the cgroup, that freezes and thaws */
    const char *frozen, *thawed;
    bool ends_frozen; /* SIGKILL ends a frozen process */
    char path[128];
};

static const struct freezer hierarchies[] = {
    {"/sys/fs/cgroup", "cgroup.freeze", "1", "0", true, ""},
    {"/sys/fs/cgroup/unified", "cgroup.freeze", "1", "0", true, ""},
    {"/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED", false, ""},
};

static bool write_file(const struct freezer *freezer, const char *name, const char *text)
{
    char path[192];
    FILE *file;
    bool is_written;

    snprintf(path, sizeof(path), "%s/%s", freezer->path, name);
    file = fopen(path, "r+");
    if (!file)
        return false;
    is_written = fputs(text, file) >= 0;
    return !fclose(file) && is_written;
}

/* Whether this host lets us make and use a cgroup of that hierarchy. */
static bool make_cgroup(struct freezer *freezer)
{
    snprintf(
        freezer->path, sizeof(freezer->path), "%s/devicepool-test-%d", freezer->root, getpid());
    if (mkdir(freezer->path, 0755))
        return false;
    if (write_file(freezer, freezer->file, freezer->thawed))
        return true;
    rmdir(freezer->path); /* cgroup version 1 of another kind */
    return false;
}

static void freeze(const struct freezer *freezer, pid_t pid)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", pid);
    assert_true(write_file(freezer, "cgroup.procs", text));
    assert_true(write_file(freezer, freezer->file, freezer->frozen));
}

/* Thaws, waits for what was killed meanwhile, and removes the cgroup. */
static void thaw(const struct freezer *freezer, pid_t left)
{
    assert_true(write_file(freezer, freezer->file, freezer->thawed));
    if (left)
        assert_int_equal(waitpid(left, NULL, 0), left);
    for (int i = 0; i < 1000 && rmdir(freezer->path) && errno == EBUSY; i++)
        usleep(10000);
    assert_int_not_equal(access(freezer->path, F_OK), 0);
}

/* A worker in a frozen cgroup is lost as one that is stopped, and pools end in time. */
static void check_frozen(struct freezer *freezer)
{
    struct left_behind before = look();
    struct worker_status status;
    pool_cu_result code = 0;
    atomic_int may_end = 0;
    pthread_t thread;
    pid_t pid;
    uint64_t start;

    open_workers("sim:1,mem=1G");
    shared_context = enter(0);
    CODE(0, StreamCreateWithPriority(&shared_stream, 1, 0));
    CODE(0, LaunchHostFunc(shared_stream, wait_for_flag, &may_end));
    pthread_create(&thread, NULL, synchronize, &code);
    usleep(50000);
    assert_true(worker_get_status(0, &status));
    pid = status.pid;
    freeze(freezer, pid);
    pthread_join(thread, NULL); /* the waiting call returns */
    assert_int_equal(code, DRIVER_CODE_LOST);
    atomic_store(&may_end, 1);
    assert_true(worker_get_status(0, &status));
    assert_int_equal(status.losses, 1);
    assert_non_null(strstr(status.cause, "it is frozen"));
    if (freezer->ends_frozen)
        wait_for_generation(0, 2);
    CODE(0, CtxPopCurrent(NULL));
    start = base_clock_ns();
    worker_close();
    assert_true(base_clock_ns() - start < UINT64_C(20000000000));
    thaw(freezer, freezer->ends_frozen ? 0 : pid);
    assert_nothing_left(before);
}

/* A worker that is frozen while it starts. */
static void check_frozen_start(struct freezer *freezer)
{
    struct left_behind before = look();
    struct worker_status status;
    char program[256];
    FILE *script;
    int value;

    snprintf(program, sizeof(program), "/tmp/devicepool-frozen-%d.sh", getpid());
    script = fopen(program, "w");
    assert_non_null(script);
    fprintf(script, "#!/bin/sh\necho $$ >%s/cgroup.procs\nexec sleep 600\n", freezer->path);
    assert_int_equal(fclose(script), 0);
    assert_int_equal(chmod(program, 0700), 0);
    assert_true(write_file(freezer, freezer->file, freezer->frozen));
    setenv("DEVICEPOOL_WORKER", program, 1);
    setenv("DEVICEPOOL_WORKER_START_MS", "500", 1);
    open_workers("sim:1,mem=1G");
    assert_int_not_equal(cu->DeviceGetAttribute(&value, 75, 0), 0);
    assert_true(worker_get_status(0, &status));
    assert_int_equal(status.state, WORKER_STATE_FAILED);
    if (!freezer->ends_frozen)
        assert_non_null(strstr(status.cause, "does not end although it was killed"));
    worker_close();
    unlink(program);
    unsetenv("DEVICEPOOL_WORKER_START_MS");
    thaw(freezer, freezer->ends_frozen ? 0 : status.pid);
    assert_nothing_left(before);
}

static struct freezer freezer_in_use;

/* After a test that failed nothing stays frozen. */
static void thaw_left(void)
{
    if (!freezer_in_use.path[0] || access(freezer_in_use.path, F_OK))
        return;
    (void)write_file(&freezer_in_use, freezer_in_use.file, freezer_in_use.thawed);
    for (int i = 0; i < 500 && rmdir(freezer_in_use.path); i++)
        usleep(10000);
}

static void run_frozen(bool at_start)
{
    bool is_run = false;

    setenv("DEVICEPOOL_WORKER_STOPPED_MS", "2000", 1);
    for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
        struct freezer freezer = hierarchies[i];

        if (!make_cgroup(&freezer))
            continue;
        is_run = true;
        freezer_in_use = freezer;
        print_message("%s\n", freezer.path);
        if (at_start)
            check_frozen_start(&freezer);
        else
            check_frozen(&freezer);
    }
    unsetenv("DEVICEPOOL_WORKER_STOPPED_MS");
    if (!is_run)
        skip(); /* no right to make a cgroup */
}

static void test_frozen(void **state)
{
    (void)state;
    run_frozen(false);
}

static void test_frozen_start(void **state)
{
    (void)state;
    run_frozen(true);
}

/* A sticky fault ends the worker; calls return it until the replacement runs, and for old handles.
 */
static void test_fault(void **state)
{
    static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                              ".visible .entry wild()\n{ .reg .b64 a; mov.u64 a, 16; "
                              "st.global.u32 [a], 1; ret; }\n";
    struct worker_status status;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    size_t bytes;

    (void)state;
    open_workers("sim:2,mem=1G");
    (void)enter(0);
    CODE(0, StreamCreateWithPriority(&stream, 1, 0));
    CODE(0, ModuleLoadData(&module, ptx));
    CODE(0, ModuleGetFunction(&function, module, "wild"));
    CODE(0, LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    CODE(700, StreamSynchronize(stream));
    CODE(700, MemGetInfo(&bytes, &bytes));
    wait_for_generation(0, 2);
    CODE(700, MemGetInfo(&bytes, &bytes));
    assert_true(worker_get_status(0, &status));
    assert_non_null(strstr(status.cause, "ILLEGAL_ADDRESS"));
    CODE(0, ModuleUnload(module));
    CODE(0, StreamDestroy(stream));
    CODE(0, CtxPopCurrent(NULL));
    (void)enter(0);
    CODE(0, MemGetInfo(&bytes, &bytes));
    leave(0);
    worker_close();
}

/* Crashes without a pause in between end in a device that is given up, for a reason. */
static void test_crash_loop(void **state)
{
    struct worker_status status = {0};
    CUcontext context;

    (void)state;
    setenv("DEVICEPOOL_WORKER_PAUSE_MS", "1", 1);
    open_workers("sim:1,mem=1G");
    (void)enter(0);
    for (int i = 0; i < 200000 && status.state != WORKER_STATE_FAILED; i++) {
        assert_true(worker_get_status(0, &status));
        if (status.state == WORKER_STATE_RUNNING && status.pid)
            kill(status.pid, SIGKILL);
        usleep(3000);
    }
    assert_int_equal(status.state, WORKER_STATE_FAILED);
    assert_non_null(strstr(status.cause, "signal 9"));
    CODE(0, CtxPopCurrent(NULL));
    assert_int_not_equal(cu->DevicePrimaryCtxRetain(&context, 0), 0);
    worker_close();
    unsetenv("DEVICEPOOL_WORKER_PAUSE_MS");
}

/* A race that ThreadSanitizer finds in a worker is a failure here: it ends the process. */
static void halt_workers_at_races(void)
{
    const char *options = getenv("TSAN_OPTIONS");
    char text[4096];

    snprintf(text, sizeof(text), "%s:halt_on_error=1", options ? options : "");
    setenv("TSAN_OPTIONS", text, 1);
}

static const char *program;

static bool is_reserved(uint64_t page)
{
    void *mapped = client_reserve(page, CLIENT_PAGE);

    if (mapped != MAP_FAILED)
        munmap(mapped, CLIENT_PAGE);
    return mapped == MAP_FAILED;
}

#define HOLE_BYTES ((size_t)1 << 30)

/* Drivers place small allocations side by side, so that several are in one page. */
static void test_shared_pages(void **state)
{
    const uint64_t page = CLIENT_PAGE;
    struct client_worker *first, *second;
    uint64_t base;
    void *hole;

    (void)state;
    open_workers("sim:2,mem=1G");
    first = &client->workers[0];
    second = &client->workers[1];
    /* The middle of a hole whose ends are where the next mappings of others come. */
    hole = mmap(NULL, HOLE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(hole != MAP_FAILED);
    munmap(hole, HOLE_BYTES);
    base = (uint64_t)(uintptr_t)hole + HOLE_BYTES / 2;
    assert_true(client_range_claim(first, base + 0x200, 8));
    assert_true(client_range_claim(first, base + 0x400, 8));
    assert_true(client_range_claim(first, base + 0x600, 3 * page)); /* four pages */
    assert_true(client_range_claim(first, base + 3 * page + 0x800, 0x200));
    assert_false(client_range_claim(second, base + 0x500, 8));
    assert_ptr_equal(client_address_worker(base + 0x407), first);
    assert_null(client_address_worker(base + 0x408));
    assert_ptr_equal(client_address_worker(base + 3 * page + 0x5ff), first);
    client_range_release(first, base + 0x200);
    client_range_release(first, base + 0x600);
    assert_true(is_reserved(base));
    assert_false(is_reserved(base + page) || is_reserved(base + 2 * page));
    assert_true(is_reserved(base + 3 * page));
    assert_true(client_range_claim(second, base + page, page));
    client_range_release(first, base + 0x400);
    client_range_release(first, base + 3 * page + 0x800);
    assert_false(is_reserved(base) || is_reserved(base + 3 * page));
    assert_true(is_reserved(base + page));
    worker_close(); /* with the second worker's */
    assert_false(is_reserved(base + page));
}

/* A link that DEVICEPOOL_WORKER names, so that the program can change while workers are open, and a
 * program that does not answer. */
static char directory[64], link_path[128], hanging_path[128];

static void create_programs(void)
{
    FILE *script;

    snprintf(directory, sizeof(directory), "/tmp/devicepool-workers-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(link_path, sizeof(link_path), "%s/current", directory);
    snprintf(hanging_path, sizeof(hanging_path), "%s/hanging", directory);
    script = fopen(hanging_path, "w");
    assert_non_null(script);
    fputs("#!/bin/sh\nexec sleep 1000\n", script);
    assert_int_equal(fclose(script), 0);
    assert_int_equal(chmod(hanging_path, 0700), 0);
    setenv("DEVICEPOOL_WORKER", link_path, 1);
}

static void remove_programs(void)
{
    unlink(link_path);
    unlink(hanging_path);
    assert_int_equal(rmdir(directory), 0);
}

static void link_program(const char *target)
{
    unlink(link_path);
    assert_int_equal(symlink(target, link_path), 0);
}

static struct worker_status wait_for(enum worker_state state, unsigned generation)
{
    struct worker_status status = {0};

    for (int i = 0; i < 60000; i++) {
        assert_true(worker_get_status(0, &status));
        if (status.state == state && status.generation >= generation)
            return status;
        usleep(1000);
    }
    fail_msg("the worker is not in state %d but %d: %s", state, status.state, status.cause);
    return status;
}

/* A process that hangs as it starts is ended at its deadline, the first one and a replacement. */
static void test_hung_start(void **state)
{
    (void)state;
    create_programs();
    setenv("DEVICEPOOL_WORKER_START_MS", "300", 1);
    link_program(hanging_path);
    assert_ok(worker_open("sim:1,mem=1G", &cu));
    client_want(&client->workers[0]);
    (void)wait_for(WORKER_STATE_FAILED, 0);
    worker_close();

    setenv("DEVICEPOOL_WORKER_START_MS", "5000", 1);
    link_program(program);
    assert_ok(worker_open("sim:1,mem=1G", &cu));
    assert_ok(client_wait_ready(&client->workers[0]));
    link_program(hanging_path);
    kill(wait_for(WORKER_STATE_RUNNING, 1).pid, SIGKILL);
    (void)wait_for(WORKER_STATE_STARTING, 1);
    usleep(500000); /* the replacement executes the script */
    link_program(program);
    (void)wait_for(WORKER_STATE_RUNNING, 2);
    worker_close();
    unsetenv("DEVICEPOOL_WORKER_START_MS");
    remove_programs();
}

/* While the program is away, starts fail; they are no losses, and the device returns after it. */
static void test_failed_start(void **state)
{
    (void)state;
    create_programs();
    setenv("DEVICEPOOL_WORKER_PAUSE_MS", "0", 1); /* failed starts have a pause of their own */
    link_program(program);
    assert_ok(worker_open("sim:1,mem=1G", &cu));
    assert_ok(client_wait_ready(&client->workers[0]));
    unlink(link_path);
    kill(wait_for(WORKER_STATE_RUNNING, 1).pid, SIGKILL);
    usleep(1500000); /* more attempts than losses that give a device up */
    assert_non_null(strstr(wait_for(WORKER_STATE_LOST, 1).cause, "cannot be started"));
    link_program(program);
    assert_int_equal(wait_for(WORKER_STATE_RUNNING, 2).losses, 1);
    worker_close();
    unsetenv("DEVICEPOOL_WORKER_PAUSE_MS");
    remove_programs();
}

/* The memory that is shared with workers counts as a file. */
static int open_with_small_files(void *unused)
{
    const struct rlimit limit = {1 << 20, 1 << 20};

    static const char bytes[(1 << 20) + 1];
    int file = memfd_create("small", MFD_CLOEXEC);

    (void)unused;
    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHILD_CHECK(base_write_all(file, bytes, sizeof(bytes)) == -1 && errno == EFBIG);
    CHILD_CHECK(base_write_all(file, bytes, sizeof(bytes) - 1) == 0);
    CHILD_CHECK(base_write_all(file, bytes, 1) == -1 && errno == EFBIG);
    close(file);
    CHILD_CHECK(worker_open("sim:1,mem=1G", &cu) == POOL_ERR_OUT_OF_HOST_MEMORY);
    CHILD_CHECK(strstr(pool_last_error()->message, "ulimit -f") != NULL);
    return 0;
}

static void test_file_size_limit(void **state)
{
    (void)state;
    assert_int_equal(child_run(open_with_small_files, NULL), 0);
}

static int restore_program(void **state)
{
    (void)state;
    thaw_left();
    return setenv("DEVICEPOOL_WORKER", program, 1);
}

#define TEST(name) cmocka_unit_test_teardown(name, restore_program)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_nothing_left), TEST(test_shared_pages),
        TEST(test_refused), TEST(test_wrong_program), TEST(test_addresses),
        TEST(test_first_context), TEST(test_copies), TEST(test_order_of_threads),
        TEST(test_many_threads), TEST(test_shared_kernels), TEST(test_retaining_threads),
        TEST(test_host_functions), TEST(test_kill), TEST(test_kill_while_waiting),
        TEST(test_stopped_while_waiting), TEST(test_frozen), TEST(test_frozen_start),
        TEST(test_fault), TEST(test_crash_loop), TEST(test_hung_start), TEST(test_failed_start),
        TEST(test_file_size_limit)};

    halt_workers_at_races();
    program = getenv("DEVICEPOOL_WORKER");
    if (!program) {
        fprintf(stderr, "DEVICEPOOL_WORKER must name the worker program\n");
        return 2;
    }
    program = strdup(program);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
