/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools with worker processes on simulated devices: what happens to one device when its worker is
 * killed, faults or hangs, and that nothing happens to the others.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "driver/worker/client/client.h"
#include "driver/worker/worker.h"
#include "left_behind.h"
#include "support/assert.h"

static atomic_uint hooks;
static char hook_message[1024];
static pool_device *_Atomic hook_device;

static void fault_hook(void *user, const pool_fault *fault)
{
    (void)user;
    assert_int_equal(fault->error_class, POOL_CLASS_DEVICE);
    snprintf(hook_message, sizeof(hook_message), "%s", fault->message);
    atomic_store(&hook_device, fault->device);
    atomic_fetch_add(&hooks, 1);
}

static device_pool *create_pool(const char *devices, uint64_t stall_ns)
{
    pool_params params = {.struct_size = sizeof(params),
        .devices = devices,
        .isolation = POOL_ISOLATION_WORKERS,
        .fault_hook = fault_hook,
        .stall_timeout_ns = stall_ns};
    device_pool *pool = NULL;

    atomic_store(&hooks, 0);
    atomic_store(&hook_device, NULL);
    assert_ok(pool_create(&pool, &params));
    return pool;
}

static pool_device *device_at(device_pool *pool, uint32_t index)
{
    pool_device *device = NULL;

    assert_ok(pool_device_at(pool, index, &device));
    return device;
}

/* A copy to the device and back. */
static pool_status use_device(pool_device *device)
{
    unsigned char data[1000], back[1000];
    pool_buffer *buffer = NULL;
    pool_status status = pool_buffer_alloc(device, sizeof(data), &buffer), destroyed;

    memset(data, 0x5a, sizeof(data));
    memset(back, 0, sizeof(back));
    if (!status)
        status = pool_copy_to_device(buffer, 0, data, sizeof(data), NULL);
    if (!status)
        status = pool_copy_to_host(back, buffer, 0, sizeof(back), NULL);
    destroyed = pool_buffer_destroy(&buffer);
    if (!status && memcmp(data, back, sizeof(data)) != 0)
        return POOL_ERR_INTERNAL;
    return status ? status : destroyed;
}

static void wait_for_hook(void)
{
    while (!atomic_load(&hooks))
        usleep(5000);
    assert_int_equal(atomic_load(&hooks), 1);
}

static pid_t pid_of(int ordinal)
{
    struct worker_status status;

    assert_true(worker_get_status(ordinal, &status));
    return status.pid;
}

static void assert_only_lost(device_pool *pool, uint32_t count, uint32_t lost, const char *cause)
{
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_device *chosen;

    assert_ok(pool_get_health(pool, &health));
    assert_int_equal(health.harmed, POOL_CLASS_DEVICE);
    assert_int_equal(health.usable_devices, count - 1);
    assert_int_equal(health.driver_code, 0);
    assert_ok(pool_device_get_info(device_at(pool, lost), &info));
    assert_int_equal(info.state, POOL_DEVICE_UNUSABLE);
    if (!strstr(info.reason, cause))
        fail_msg("the reason is \"%s\", without \"%s\"", info.reason, cause);
    for (uint32_t i = 0; i < 2 * count; i++) {
        assert_ok(pool_next_device(pool, &chosen));
        assert_ptr_not_equal(chosen, device_at(pool, lost));
        assert_ok(use_device(chosen));
    }
    assert_status(use_device(device_at(pool, lost)), POOL_ERR_DEVICE_LOST);
    assert_says(cause);
}

static void test_kill(void **state)
{
    struct left_behind before = look();
    device_pool *pool = create_pool("sim:3,mem=1G", 0);
    pool_pinned *pinned = NULL;
    pool_buffer *buffer = NULL;
    pool_stream *stream = NULL;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        assert_ok(use_device(device_at(pool, i)));
    assert_ok(pool_buffer_alloc(device_at(pool, 1), 4096, &buffer));
    assert_ok(pool_stream_create(device_at(pool, 1), NULL, &stream));
    assert_ok(pool_pinned_create(device_at(pool, 1), 4096, 0, &pinned));
    assert_ok(pool_bind(device_at(pool, 1))); /* keeps the device from coming back */
    kill(pid_of(1), SIGKILL);
    wait_for_hook();
    assert_ptr_equal(atomic_load(&hook_device), device_at(pool, 1));
    assert_non_null(strstr(hook_message, "signal 9"));
    assert_only_lost(pool, 3, 1, "signal 9");
    assert_status(pool_stream_synchronize(stream), POOL_ERR_DEVICE_LOST);
    memset(pool_pinned_data(pinned), 1, 4096); /* host memory is still there */
    assert_ok(pool_pinned_destroy(&pinned));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_unbind(device_at(pool, 1)));
    assert_ok(pool_destroy(&pool));
    assert_nothing_left(before);
    /* The next pool has all devices. */
    pool = create_pool("sim:3,mem=1G", 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_ok(use_device(device_at(pool, i)));
    assert_ok(pool_destroy(&pool));
}

/* A transform, whose kernels are the first launches on the device. */
static pool_status launch(pool_device *device)
{
    const pool_ntt_domain_params domain_params = {.struct_size = sizeof(domain_params),
        .field = pool_field_by_name("babybear"),
        .log_size = 8};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_ntt_params params = {.struct_size = sizeof(params)};
    uint32_t data[1 << 8] = {1};
    pool_span span = {.data = data, .count = 1 << 8};
    pool_status status = pool_ntt_domain_create(&domain_params, &params.domain);

    if (!status)
        status = pool_ntt(&params, &exec, &span, &span);
    pool_ntt_domain_destroy(&params.domain);
    return status;
}

static void test_sticky_fault(void **state)
{
    device_pool *pool;

    (void)state;
    setenv("DEVICEPOOL_SIM_FAULTS", "dev0.cuLaunchKernel*@1=700", 1);
    pool = create_pool("sim:2,mem=1G", 0);
    assert_ok(pool_bind(device_at(pool, 0))); /* keeps the device from coming back */
    assert_status(launch(device_at(pool, 0)), POOL_ERR_DEVICE_LOST);
    assert_says("ILLEGAL_ADDRESS");
    wait_for_hook();
    assert_ok(launch(device_at(pool, 1)));
    assert_only_lost(pool, 2, 0, "ILLEGAL_ADDRESS");
    assert_ok(pool_unbind(device_at(pool, 0)));
    assert_ok(pool_destroy(&pool));
}

static void test_hang(void **state)
{
    pool_health_info health = {.struct_size = sizeof(health)};
    device_pool *pool, *other;

    (void)state;
    setenv("DEVICEPOOL_SIM_FAULTS", "dev1.cuLaunchKernel*@1=hang", 1);
    pool = create_pool("sim:2,mem=1G", UINT64_C(1000000000));
    assert_ok(pool_bind(device_at(pool, 1))); /* keeps the device from coming back */
    assert_status(launch(device_at(pool, 1)), POOL_ERR_DEVICE_LOST);
    assert_says("no progress");
    while (atomic_load(&hooks) < 2) /* the stall, then the loss */
        usleep(5000);
    assert_ok(pool_get_health(pool, &health));
    assert_int_equal(health.usable_devices, 1);
    /* A pool without a limit: on a slow host a kernel may take longer. */
    other = create_pool("sim:2,mem=1G", 0);
    assert_ok(launch(device_at(other, 0)));
    assert_ok(pool_destroy(&other));
    assert_ok(pool_unbind(device_at(pool, 1)));
    assert_ok(pool_destroy(&pool));
}

/* ---- a hang that others wait for ------------------------------------------------------------- */

static const char spin_ptx[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                               ".visible .entry spin()\n{\nagain:\n\tbra again;\n}\n"
                               ".visible .entry nothing()\n{\n\tret;\n}\n";

struct beside {
    pool_device *device;
    pool_kernel *kernel;
    pool_stream *stream;
};

/* Waits in the driver for the kernel that hangs. */
static void *load_beside(void *user)
{
    const struct beside *beside = user;
    pool_module *module = NULL;

    assert_status(pool_module_load(beside->device, spin_ptx, sizeof(spin_ptx), &module),
        POOL_ERR_DEVICE_LOST);
    return NULL;
}

/* Is posted, and not executed before the module is loaded. */
static void *launch_beside(void *user)
{
    const struct beside *beside = user;
    const pool_launch_shape shape = {.struct_size = sizeof(shape)};

    (void)pool_launch(beside->kernel, &shape, NULL, beside->stream);
    return NULL;
}

/* The watch finds the stall although calls of other threads wait in the driver. */
static void test_hang_beside_load(void **state)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape)};
    device_pool *pool = create_pool("sim:2,mem=1G", UINT64_C(500000000));
    pool_device *device = device_at(pool, 1);
    struct beside beside = {.device = device};
    pool_module *module = NULL;
    pool_kernel *spin = NULL;
    pool_stream *stream = NULL;
    pthread_t loader, launcher;

    (void)state;
    assert_ok(pool_bind(device)); /* keeps the device from coming back */
    assert_ok(pool_module_load(device, spin_ptx, sizeof(spin_ptx), &module));
    assert_ok(pool_kernel_get(module, "spin", &spin));
    assert_ok(pool_kernel_get(module, "nothing", &beside.kernel));
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_stream_create(device, NULL, &beside.stream));
    assert_ok(pool_launch(beside.kernel, &shape, NULL, beside.stream));
    assert_ok(pool_stream_synchronize(beside.stream));
    assert_ok(pool_launch(spin, &shape, NULL, stream));
    assert_int_equal(pthread_create(&loader, NULL, load_beside, &beside), 0);
    usleep(100000);
    assert_int_equal(pthread_create(&launcher, NULL, launch_beside, &beside), 0);
    assert_status(pool_stream_synchronize(stream), POOL_ERR_DEVICE_LOST);
    assert_says("no progress");
    pthread_join(loader, NULL);
    pthread_join(launcher, NULL);
    while (atomic_load(&hooks) < 2) /* the stall, then the loss */
        usleep(5000);
    assert_ok(use_device(device_at(pool, 0)));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_stream_destroy(&beside.stream));
    assert_ok(pool_module_destroy(&module));
    assert_ok(pool_unbind(device));
    assert_ok(pool_destroy(&pool));
}

/* Jobs run on all devices while workers are shot one after another: every job either fails with the
 * cause on a device that was shot, or is right. */
struct jobs {
    pool_device *device;
    atomic_bool stops;
    atomic_uint done, lost, other;
};

static void *run_jobs(void *user)
{
    struct jobs *jobs = user;

    while (!atomic_load(&jobs->stops)) {
        pool_status status = use_device(jobs->device);

        atomic_fetch_add(status == POOL_OK                ? &jobs->done
                         : status == POOL_ERR_DEVICE_LOST ? &jobs->lost
                                                          : &jobs->other,
            1);
        if (status) {
            if (status != POOL_ERR_DEVICE_LOST)
                fprintf(stderr, "%s: %s\n", pool_status_name(status), pool_last_error()->message);
            usleep(1000);
        }
    }
    return NULL;
}

static void wait_for_jobs(const atomic_uint *count)
{
    while (!atomic_load(count))
        usleep(1000);
}

static void test_shots_under_load(void **state)
{
    enum { DEVICES = 4 };
    struct left_behind before = look();

    (void)state;
    for (int round = 0; round < 3; round++) {
        device_pool *pool = create_pool("sim:4,mem=512M", 0);
        struct jobs jobs[DEVICES] = {{0}};
        pthread_t threads[DEVICES];

        for (uint32_t i = 0; i < DEVICES; i++) {
            jobs[i].device = device_at(pool, i);
            pthread_create(&threads[i], NULL, run_jobs, &jobs[i]);
        }
        for (uint32_t i = 0; i < DEVICES; i++)
            wait_for_jobs(&jobs[i].done);
        usleep(13000u * (unsigned)round); /* at another point of the jobs */
        kill(pid_of(round), SIGKILL);
        usleep(40000);
        kill(pid_of(3), SIGKILL);
        wait_for_jobs(&jobs[round].lost);
        wait_for_jobs(&jobs[3].lost);
        for (uint32_t i = 0; i < DEVICES; i++)
            atomic_store(&jobs[i].stops, true);
        for (uint32_t i = 0; i < DEVICES; i++) {
            bool is_shot = i == (uint32_t)round || i == 3;

            pthread_join(threads[i], NULL);
            assert_true(jobs[i].done > 0);
            assert_int_equal(jobs[i].other, 0);
            assert_true(is_shot || !jobs[i].lost);
        }
        assert_ok(pool_destroy(&pool));
    }
    assert_nothing_left(before);
}

static void test_parent_killed(void **state)
{
    int ends[2];
    pid_t child, pids[2] = {0};

    (void)state;
    assert_int_equal(pipe(ends), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    child = fork();
    if (child == 0) {
        device_pool *pool = NULL;
        const pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:2"};

        if (pool_create(&pool, &params))
            _exit(1);
        pids[0] = pid_of(0);
        pids[1] = pid_of(1);
        _exit(write(ends[1], pids, sizeof(pids)) != sizeof(pids) || raise(SIGKILL));
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], pids, sizeof(pids)), sizeof(pids));
    close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    /* They are this process's children now. */
    for (int i = 0; i < 2; i++) {
        while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
            ;
        assert_int_equal(kill(pids[i], 0), -1);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* A posted call of a capture fails: its end reports that once, and the capture is over. */
static void test_failed_capture(void **state)
{
    device_pool *pool;
    pool_buffer *buffer = NULL;
    pool_stream *stream = NULL;
    pool_graph *graph = NULL;

    (void)state;
    setenv("DEVICEPOOL_SIM_FAULTS", "cuMemsetD8Async@1=1", 1);
    pool = create_pool("sim:1,mem=1G", 0);
    assert_ok(pool_buffer_alloc(device_at(pool, 0), 4096, &buffer));
    assert_ok(pool_stream_create(device_at(pool, 0), NULL, &stream));
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_buffer_fill8(buffer, 0, 4096, 1, stream));
    assert_status(pool_stream_end_capture(stream, &graph), POOL_ERR_INVALID_ARGUMENT);
    assert_null(graph);
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_buffer_fill8(buffer, 0, 4096, 1, stream));
    assert_ok(pool_stream_end_capture(stream, &graph));
    assert_ok(pool_graph_launch(graph, stream));
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_graph_destroy(&graph));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_destroy(&pool));
}

static void test_unsupported(void **state)
{
    static const pool_cuda_api table = {.struct_size = sizeof(table)};
    pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:1"};
    device_pool *pool = NULL;
    CUcontext context = (CUcontext)(uintptr_t)16;

    (void)state;
    params.driver = &table;
    assert_status(pool_create(&pool, &params), POOL_ERR_UNSUPPORTED);
    params.driver = NULL;
    params.devices = NULL;
    params.isolation = POOL_ISOLATION_WORKERS;
    params.context_mode = POOL_CONTEXT_ADOPT;
    params.contexts = &context;
    params.context_count = 1;
    assert_status(pool_create(&pool, &params), POOL_ERR_UNSUPPORTED);
    params = (pool_params){.struct_size = sizeof(params), .devices = "workers:sim:1,mem=1"};
    assert_status(pool_create(&pool, &params), POOL_ERR_INVALID_ARGUMENT);
    params.devices = "sim:1";
    params.isolation = (pool_isolation)7;
    assert_status(pool_create(&pool, &params), POOL_ERR_INVALID_ARGUMENT);
    assert_says("isolation");
}

static uint64_t spin_of_worker(void)
{
    return atomic_load(&client->workers[0].shared->long_spin_ns);
}

/* The longest spin of all pools counts, also for workers that run already. */
static void test_spin(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:1,mem=1G"};
    device_pool *first = NULL, *second = NULL;

    (void)state;
    assert_ok(pool_create(&first, &params));
    assert_int_equal(spin_of_worker(), 0);
    params.worker_spin_ns = 3000000;
    assert_ok(pool_create(&second, &params));
    assert_int_equal(spin_of_worker(), 3000000);
    assert_ok(pool_destroy(&second));
    params.worker_spin_ns = 2000000;
    assert_ok(pool_create(&second, &params));
    assert_int_equal(spin_of_worker(), 3000000);
    assert_ok(use_device(device_at(second, 0)));
    assert_ok(pool_destroy(&second));
    assert_ok(pool_destroy(&first));

    setenv("DEVICEPOOL_WORKER_SPIN_US", "500", 1);
    params.worker_spin_ns = 0;
    assert_ok(pool_create(&first, &params));
    assert_int_equal(spin_of_worker(), 500000);
    assert_ok(pool_destroy(&first));
    unsetenv("DEVICEPOOL_WORKER_SPIN_US");
}

static int clear_faults(void **state)
{
    (void)state;
    return unsetenv("DEVICEPOOL_SIM_FAULTS");
}

#define TEST(name) cmocka_unit_test_teardown(name, clear_faults)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_kill), TEST(test_sticky_fault), TEST(test_hang),
        TEST(test_hang_beside_load), TEST(test_shots_under_load), TEST(test_parent_killed),
        TEST(test_failed_capture), TEST(test_unsupported), TEST(test_spin)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
