/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Abandoning a device whose kernel does not end: nothing waits for the device any more, its objects
 * can be destroyed at once, and the other device continues to work. Runs on two simulated devices,
 * or with a device string on GPUs (exit code 77 without two of them). Each test is a process of its
 * own, because it leaves a hanging device behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <devicepool.h>

#include "base/clock.h"
#include "pool/device/pool.h"
#include "support/child.h"

#define BYTES 65536
#define SECOND ((uint64_t)1000000000)
#define CHILD_OK(call) CHILD_CHECK(check_ok((call), #call, __LINE__))

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry nothing()\n{\n\tret;\n}\n"
                          ".visible .entry spin(.param .u64 flag)\n{\n"
                          "\t.reg .u64 %a;\n\t.reg .u32 %v;\n\t.reg .pred %p;\n"
                          "\tld.param.u64 %a, [flag];\n"
                          "again:\n\tld.volatile.global.u32 %v, [%a];\n"
                          "\tsetp.eq.u32 %p, %v, 0;\n\t@%p bra again;\n\tret;\n}\n";

static const char *device_text = "sim:2,mem=64M";

static int check_ok(pool_status status, const char *call, int line)
{
    if (status)
        fprintf(stderr, "line %d: %s: %s: %s\n", line, call, pool_status_name(status),
            pool_last_error()->message);
    return !status;
}

/* What a device has of each kind. */
struct objects {
    pool_buffer *buffer, *secret;
    pool_pinned *pinned;
    pool_module *module;
    pool_stream *stream;
    pool_event *event;
};

struct setting {
    device_pool *pool;
    pool_device *hung, *other;
    struct objects of_hung, of_other;
    pool_pinned *flag;
    pool_kernel *nothing; /* on the other device */
};

static int create_objects(pool_device *device, struct objects *objects)
{
    CHILD_OK(pool_buffer_alloc(device, BYTES, &objects->buffer));
    CHILD_OK(pool_buffer_create(device,
        &(pool_buffer_params){
            .struct_size = sizeof(pool_buffer_params), .bytes = BYTES, .flags = POOL_BUFFER_SECRET},
        &objects->secret));
    CHILD_OK(pool_pinned_create(device, BYTES, POOL_PINNED_SECRET, &objects->pinned));
    CHILD_OK(pool_module_load(device, ptx, strlen(ptx), &objects->module));
    CHILD_OK(pool_stream_create(device, NULL, &objects->stream));
    CHILD_OK(pool_event_create(device, 0, &objects->event));
    return 0;
}

static int destroy_objects(struct objects *objects)
{
    CHILD_OK(pool_buffer_destroy(&objects->buffer));
    CHILD_OK(pool_buffer_destroy(&objects->secret));
    CHILD_OK(pool_pinned_destroy(&objects->pinned));
    CHILD_OK(pool_module_destroy(&objects->module));
    CHILD_OK(pool_stream_destroy(&objects->stream));
    CHILD_OK(pool_event_destroy(&objects->event));
    return 0;
}

/* A pool with objects on both devices; the stream of the first one hangs. */
static int set_up(struct setting *setting)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = device_text};
    const pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 1};
    pool_kernel *spin = NULL;
    CUdeviceptr address;
    void *arguments[] = {&address};

    CHILD_OK(pool_create(&setting->pool, &params));
    CHILD_OK(pool_device_at(setting->pool, 0, &setting->hung));
    CHILD_OK(pool_device_at(setting->pool, 1, &setting->other));
    CHILD_CHECK(create_objects(setting->hung, &setting->of_hung) == 0);
    CHILD_CHECK(create_objects(setting->other, &setting->of_other) == 0);
    CHILD_OK(pool_kernel_get(setting->of_other.module, "nothing", &setting->nothing));
    CHILD_OK(pool_pinned_create(setting->hung, BYTES, 0, &setting->flag));
    memset(pool_pinned_data(setting->flag), 0, BYTES);
    address = (CUdeviceptr)(uintptr_t)pool_pinned_data(setting->flag);
    if (strncmp(device_text, "sim", 3) == 0) /* its kernels have a limit of instructions */
        CHILD_OK(pool_sim_set_faults("cuLaunchKernel*@1=hang"));
    CHILD_OK(pool_kernel_get(setting->of_hung.module, "spin", &spin));
    CHILD_OK(pool_launch(spin, &shape, arguments, setting->of_hung.stream));
    if (strncmp(device_text, "sim", 3) == 0)
        CHILD_OK(pool_sim_set_faults(NULL));
    CHILD_OK(pool_event_record(setting->of_hung.event, setting->of_hung.stream));
    return 0;
}

/* The other device works, and its pinned memory is used again instead of becoming more and more. */
static int use_other_device(struct setting *setting)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_memory_info info = {.struct_size = sizeof(info)};
    unsigned char sent[256], received[256] = {0};

    for (int i = 0; i < 256; i++)
        sent[i] = (unsigned char)(i * 3);
    for (int i = 0; i < 50; i++) {
        pool_pinned *pinned = NULL;
        pool_buffer *buffer = NULL;
        pool_module *module = NULL;

        CHILD_OK(pool_pinned_create(setting->other, BYTES, 0, &pinned));
        CHILD_OK(pool_buffer_alloc(setting->other, BYTES, &buffer));
        CHILD_OK(pool_launch(setting->nothing, &shape, NULL, setting->of_other.stream));
        memcpy(pool_pinned_data(pinned), sent, sizeof(sent));
        CHILD_OK(pool_copy_to_device(
            buffer, 0, pool_pinned_data(pinned), sizeof(sent), setting->of_other.stream));
        CHILD_OK(pool_stream_synchronize(setting->of_other.stream));
        CHILD_OK(pool_copy_to_host(received, buffer, 0, sizeof(received), NULL));
        CHILD_CHECK(memcmp(sent, received, sizeof(sent)) == 0);
        CHILD_OK(pool_module_load(setting->other, ptx, strlen(ptx), &module));
        CHILD_OK(pool_module_destroy(&module));
        CHILD_OK(pool_buffer_destroy(&buffer));
        CHILD_OK(pool_pinned_destroy(&pinned));
    }
    CHILD_OK(pool_memory_trim(setting->other, 0));
    CHILD_OK(pool_memory_get_info(setting->other, &info));
    CHILD_CHECK(info.pinned_deferred_bytes <= 4 * BYTES);
    return 0;
}

struct waiter {
    pool_stream *stream;
    pool_event *event;
    atomic_int has_begun;
    pool_status status;
};

static void *wait_with_deadline(void *argument)
{
    struct waiter *waiter = argument;

    atomic_store(&waiter->has_begun, 1);
    waiter->status = waiter->event ? pool_event_wait(waiter->event, UINT64_MAX)
                                   : pool_stream_wait(waiter->stream, UINT64_MAX);
    return NULL;
}

static int start_waiter(struct waiter *waiter, pthread_t *thread)
{
    CHILD_CHECK(pthread_create(thread, NULL, wait_with_deadline, waiter) == 0);
    while (!atomic_load(&waiter->has_begun))
        usleep(100);
    usleep(20000);
    return 0;
}

static int abandon_and_go_on(void *unused)
{
    struct setting setting = {0};
    struct waiter waiters[2] = {0};
    pthread_t threads[2];
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_device *chosen = NULL;
    pool_buffer *buffer = NULL;
    pool_event *event;
    uint64_t start;

    (void)unused;
    CHILD_CHECK(set_up(&setting) == 0);
    CHILD_OK(pool_bind(setting.hung));
    waiters[0].stream = setting.of_hung.stream;
    waiters[1].event = event = setting.of_hung.event;
    for (int i = 0; i < 2; i++)
        CHILD_CHECK(start_waiter(&waiters[i], &threads[i]) == 0);
    CHILD_OK(pool_device_drain(setting.hung));
    CHILD_CHECK(pool_device_wait_drained(setting.hung, SECOND / 20) == POOL_ERR_TIMEOUT);
    CHILD_CHECK(strstr(pool_last_error()->message, "unfinished work") != NULL);

    start = base_clock_ns();
    CHILD_OK(pool_device_abandon(setting.hung, "its kernel does not end"));
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        CHILD_CHECK(waiters[i].status == POOL_ERR_DEVICE_UNUSABLE);
    }
    CHILD_CHECK(pool_buffer_alloc(setting.hung, BYTES, &buffer) == POOL_ERR_DEVICE_UNUSABLE);
    CHILD_CHECK(strstr(pool_last_error()->message, "its kernel does not end") != NULL);
    CHILD_CHECK(pool_event_query(event) == POOL_ERR_DEVICE_UNUSABLE);
    CHILD_CHECK(pool_memory_trim(setting.hung, 0) == POOL_ERR_DEVICE_UNUSABLE);
    CHILD_OK(pool_unbind(setting.hung));
    CHILD_OK(pool_device_get_info(setting.hung, &info));
    CHILD_CHECK(info.state == POOL_DEVICE_ABANDONED);
    CHILD_OK(pool_get_health(setting.pool, &health));
    CHILD_CHECK(health.abandoned_devices == 1 && health.usable_devices == 1);
    for (int i = 0; i < 5; i++) {
        CHILD_OK(pool_next_device(setting.pool, &chosen));
        CHILD_CHECK(chosen == setting.other);
        CHILD_OK(pool_best_device(setting.pool, &chosen));
        CHILD_CHECK(chosen == setting.other);
    }
    CHILD_CHECK(use_other_device(&setting) == 0);
    CHILD_CHECK(destroy_objects(&setting.of_hung) == 0);
    CHILD_CHECK(destroy_objects(&setting.of_other) == 0);
    CHILD_OK(pool_pinned_destroy(&setting.flag));
    CHILD_OK(pool_destroy(&setting.pool));
    CHILD_CHECK(setting.pool == NULL);
    CHILD_CHECK(base_clock_ns() - start < 20 * SECOND);
    return 0;
}

static void *synchronize(void *argument)
{
    struct waiter *waiter = argument;

    atomic_store(&waiter->has_begun, 1);
    waiter->status = pool_stream_synchronize(waiter->stream); /* does not return */
    return NULL;
}

/* A thread does not return from the driver, and objects of the device still exist: the pool can be
 * destroyed nevertheless, and the objects afterwards. */
static int destroy_beside_blocked_thread(void *unused)
{
    struct setting setting = {0};
    static struct waiter waiter;
    pthread_t thread;
    uint64_t start;

    (void)unused;
    CHILD_CHECK(set_up(&setting) == 0);
    waiter.stream = setting.of_hung.stream;
    CHILD_CHECK(pthread_create(&thread, NULL, synchronize, &waiter) == 0);
    /* The stream is destroyed below: the thread must have found it before. */
    while (!atomic_load(&setting.hung->calls))
        usleep(100);
    usleep(20000);
    CHILD_CHECK(pool_destroy(&setting.pool) == POOL_ERR_BUSY);
    start = base_clock_ns();
    CHILD_OK(pool_device_abandon(setting.hung, "its kernel does not end"));
    CHILD_CHECK(pool_destroy(&setting.pool) == POOL_ERR_BUSY); /* objects of the other one */
    CHILD_CHECK(destroy_objects(&setting.of_other) == 0);
    CHILD_OK(pool_destroy(&setting.pool));
    CHILD_CHECK(base_clock_ns() - start < 20 * SECOND);
    CHILD_CHECK(destroy_objects(&setting.of_hung) == 0);
    CHILD_OK(pool_pinned_destroy(&setting.flag));
    return 0; /* the process ends although the thread is inside the driver */
}

/* Both devices are abandoned, and one of them hangs. */
static int abandon_all(void *unused)
{
    struct setting setting = {0};
    pool_device *chosen = NULL;

    (void)unused;
    CHILD_CHECK(set_up(&setting) == 0);
    CHILD_OK(pool_device_abandon(setting.other, "to see"));
    CHILD_OK(pool_device_abandon(setting.hung, "its kernel does not end"));
    CHILD_CHECK(pool_next_device(setting.pool, &chosen) == POOL_ERR_NO_DEVICE);
    CHILD_OK(pool_destroy(&setting.pool));
    CHILD_CHECK(destroy_objects(&setting.of_hung) == 0);
    CHILD_CHECK(destroy_objects(&setting.of_other) == 0);
    CHILD_OK(pool_pinned_destroy(&setting.flag));
    return 0;
}

static int has_two_devices(void *unused)
{
    const pool_params params = {
        .struct_size = sizeof(params), .devices = device_text, .min_devices = 2};
    device_pool *pool = NULL;

    (void)unused;
    return pool_create(&pool, &params) ? 77 : 0;
}

static void test_abandon_and_go_on(void **state)
{
    (void)state;
    assert_int_equal(child_run(abandon_and_go_on, NULL), 0);
}

static void test_destroy_beside_blocked_thread(void **state)
{
    (void)state;
    assert_int_equal(child_run(destroy_beside_blocked_thread, NULL), 0);
}

static void test_abandon_all(void **state)
{
    (void)state;
    assert_int_equal(child_run(abandon_all, NULL), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_abandon_and_go_on),
        cmocka_unit_test(test_destroy_beside_blocked_thread),
        cmocka_unit_test(test_abandon_all),
    };

    if (argc > 1)
        device_text = argv[1];
    if (child_run(has_two_devices, NULL)) {
        printf("two devices are needed\n");
        return 77;
    }
    return cmocka_run_group_tests_name("abandon", tests, NULL, NULL);
}
