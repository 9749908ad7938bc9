/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog on simulated devices: a kernel that does not end makes its device stalled, with one
 * notification that names the kernel; progress of other work on the device, or the kernel's end,
 * clears that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <devicepool.h>

#include "base/clock.h"
#include "driver/work.h"
#include "pool/device/device.h"
#include "pool/stream/stream.h"
#include "support/assert.h"

#define MS ((uint64_t)1000000)
#define SECOND (1000 * MS)

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry nothing()\n{\n\tret;\n}\n";

static struct {
    atomic_int calls;
    pool_device *device;
    char message[1024], kernel[64], label[64];
    pool_error_class error_class;
} heard;

static void hear(void *user, const pool_fault *fault)
{
    (void)user;
    heard.device = fault->device;
    heard.error_class = fault->error_class;
    snprintf(heard.message, sizeof(heard.message), "%s", fault->message);
    if (fault->kernel_count) {
        snprintf(heard.kernel, sizeof(heard.kernel), "%s", fault->kernels[0].name);
        snprintf(heard.label, sizeof(heard.label), "%s", fault->kernels[0].label);
    }
    atomic_fetch_add(&heard.calls, 1);
}

struct setting {
    device_pool *pool;
    pool_device *device;
    pool_module *module;
    pool_kernel *kernel;
    pool_stream *streams[2];
};

static void set_up(struct setting *setting, uint64_t stall_timeout_ns)
{
    const pool_params params = {.struct_size = sizeof(params),
        .devices = "sim:2,mem=64M",
        .fault_hook = hear,
        .stall_timeout_ns = stall_timeout_ns};

    *setting = (struct setting){0};
    memset(&heard, 0, sizeof(heard));
    assert_ok(pool_create(&setting->pool, &params));
    assert_ok(pool_device_at(setting->pool, 1, &setting->device));
    assert_ok(pool_module_load(setting->device, ptx, strlen(ptx), &setting->module));
    assert_ok(pool_kernel_get(setting->module, "nothing", &setting->kernel));
    for (int i = 0; i < 2; i++)
        assert_ok(pool_stream_create(setting->device, NULL, &setting->streams[i]));
}

static void tear_down(struct setting *setting)
{
    for (int i = 0; i < 2; i++)
        assert_ok(pool_stream_destroy(&setting->streams[i]));
    assert_ok(pool_module_destroy(&setting->module));
    assert_ok(pool_destroy(&setting->pool));
}

static void launch(struct setting *setting, int stream)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape)};

    assert_ok(pool_launch(setting->kernel, &shape, NULL, setting->streams[stream]));
}

static void hang(struct setting *setting, int stream)
{
    assert_ok(pool_sim_set_faults("cuLaunchKernel*@1=hang"));
    launch(setting, stream);
    assert_ok(pool_sim_set_faults(NULL));
}

static pool_health_info health_of(struct setting *setting)
{
    pool_health_info health = {.struct_size = sizeof(health)};

    assert_ok(pool_get_health(setting->pool, &health));
    return health;
}

/* Waits until the pool counts so many stalled devices. */
static void wait_for_stalled(struct setting *setting, uint32_t count)
{
    uint64_t start = base_clock_ns();

    while (health_of(setting).stalled_devices != count) {
        assert_true(base_clock_ns() - start < 60 * SECOND);
        usleep(1000);
    }
}

static void wait_for_calls(int count)
{
    uint64_t start = base_clock_ns();

    while (atomic_load(&heard.calls) < count) {
        assert_true(base_clock_ns() - start < 60 * SECOND);
        usleep(1000);
    }
}

/* A kernel that ends is found to have ended although no thread waits for it, and an idle device is
 * not stalled. */
static void test_idle(void **state)
{
    struct setting setting;
    uint64_t start = base_clock_ns();
    int calls;

    (void)state;
    set_up(&setting, 50 * MS);
    launch(&setting, 0);
    while (driver_work_load(device_work(setting.device)).items) {
        assert_true(base_clock_ns() - start < 60 * SECOND);
        usleep(1000);
    }
    wait_for_stalled(&setting, 0); /* a slow host may take longer than the timeout for it */
    calls = atomic_load(&heard.calls);
    usleep(150000);
    assert_int_equal(health_of(&setting).stalled_devices, 0);
    assert_int_equal(health_of(&setting).harmed, POOL_CLASS_NONE);
    assert_int_equal(atomic_load(&heard.calls), calls);
    tear_down(&setting);
}

static void test_stall_and_recovery(void **state)
{
    struct setting setting;
    char *text = NULL;
    uint64_t start;

    (void)state;
    set_up(&setting, 50 * MS);
    stream_set_label(setting.streams[0], "proof 3");
    start = base_clock_ns();
    hang(&setting, 0);
    wait_for_stalled(&setting, 1);
    assert_true(base_clock_ns() - start >= 50 * MS);
    assert_int_equal(health_of(&setting).harmed, POOL_CLASS_DEVICE);
    assert_int_equal(health_of(&setting).usable_devices, 2);
    wait_for_calls(1);
    usleep(150000);
    assert_int_equal(atomic_load(&heard.calls), 1);
    assert_int_equal(heard.error_class, POOL_CLASS_DEVICE);
    assert_ptr_equal(heard.device, setting.device);
    assert_string_equal(heard.kernel, "nothing");
    assert_string_equal(heard.label, "proof 3");
    assert_non_null(strstr(heard.message, "no progress"));
    assert_non_null(strstr(heard.message, "of lease \"proof 3\""));
    assert_ok(pool_sim_resume());
    wait_for_stalled(&setting, 0);
    assert_int_equal(health_of(&setting).harmed, POOL_CLASS_NONE);
    /* Again, and again notified. */
    hang(&setting, 1);
    wait_for_stalled(&setting, 1);
    wait_for_calls(2);
    assert_ok(pool_metrics(setting.pool, POOL_METRICS_PROMETHEUS, &text));
    assert_non_null(
        strstr(text, "_faults_total{device=\"1\",class=\"device\",code=\"no_progress\"} 2\n"));
    pool_text_free(&text);
    assert_ok(pool_sim_resume());
    tear_down(&setting);
}

/* Launches on a lease's stream carry the lease's label, also when the stream is reused. */
static void test_label_of_a_lease(void **state)
{
    const char *labels[] = {"block 7", "", "block 8"};
    pool_request request = {.struct_size = sizeof(request)};
    struct setting setting;

    (void)state;
    set_up(&setting, 50 * MS);
    request.device = setting.device;
    for (int i = 0; i < 3; i++) {
        pool_stream *own = setting.streams[0];
        pool_lease *lease = NULL;

        request.label = labels[i];
        assert_ok(pool_acquire(setting.pool, &request, &lease));
        assert_ok(pool_lease_stream(lease, 0, &setting.streams[0]));
        hang(&setting, 0);
        wait_for_stalled(&setting, 1);
        wait_for_calls(i + 1);
        assert_string_equal(heard.label, labels[i]);
        assert_ok(pool_sim_resume());
        wait_for_stalled(&setting, 0);
        assert_ok(pool_stream_synchronize(setting.streams[0]));
        setting.streams[0] = own;
        assert_ok(pool_release(&lease));
    }
    tear_down(&setting);
}

/* Work ends on the second stream for a while. Returns the longest time between two ends, from
 * `*last` on, which becomes the time of the last one. */
static uint64_t progress_for(struct setting *setting, uint64_t duration_ns, uint64_t *last)
{
    uint64_t start = base_clock_ns(), longest = 0;

    do {
        uint64_t now;

        launch(setting, 1);
        assert_ok(pool_stream_synchronize(setting->streams[1]));
        now = base_clock_ns();
        longest = now - *last > longest ? now - *last : longest;
        *last = now;
        usleep(1000);
    } while (*last - start < duration_ns);
    return longest;
}

/* Work that ends on another stream of the device is progress. Where the host delays that work for
 * half the timeout, the device may be found stalled, so that it is tried again. */
static void test_progress_elsewhere(void **state)
{
    const uint64_t timeout = 400 * MS;
    struct setting setting;
    uint32_t stalled = 1;
    uint64_t last = 0;
    int calls = 0, later_calls = 0;

    (void)state;
    set_up(&setting, timeout);
    hang(&setting, 0);
    for (uint64_t longest = timeout; longest > timeout / 2;) {
        do
            (void)progress_for(&setting, 0, &last);
        while (health_of(&setting).stalled_devices);
        calls = atomic_load(&heard.calls);
        longest = progress_for(&setting, 3 * timeout, &last);
        stalled = health_of(&setting).stalled_devices;
        later_calls = atomic_load(&heard.calls);
        if (base_clock_ns() - last > timeout / 2)
            longest = timeout;
    }
    assert_int_equal(stalled, 0);
    assert_int_equal(later_calls, calls);
    wait_for_stalled(&setting, 1);
    wait_for_calls(later_calls + 1);
    assert_ok(pool_sim_resume());
    tear_down(&setting);
}

/* While a lease is overdue, a device is watched without a time too: what is unfinished there makes
 * it stalled, until it moves on or the lease is released. */
static void test_overdue_lease(void **state)
{
    pool_request request = {
        .struct_size = sizeof(request), .duration_ns = 10 * MS, .label = "block 9"};
    pool_lease_counts counts = {.struct_size = sizeof(counts)};
    struct setting setting;
    pool_lease *lease = NULL;

    (void)state;
    set_up(&setting, 0);
    request.device = setting.device;
    assert_ok(pool_acquire(setting.pool, &request, &lease));
    for (uint64_t start = base_clock_ns(); counts.became_overdue < 1;) {
        assert_ok(pool_get_lease_counts(setting.pool, &counts));
        assert_true(base_clock_ns() - start < 60 * SECOND);
    }
    assert_int_equal(health_of(&setting).harmed, POOL_CLASS_NONE);
    hang(&setting, 0);
    wait_for_stalled(&setting, 1);
    assert_int_equal(health_of(&setting).harmed, POOL_CLASS_DEVICE);
    wait_for_calls(1);
    assert_ptr_equal(heard.device, setting.device);
    assert_ok(pool_sim_resume());
    wait_for_stalled(&setting, 0);
    hang(&setting, 1);
    wait_for_stalled(&setting, 1);
    assert_ok(pool_release(&lease));
    assert_int_equal(health_of(&setting).harmed, POOL_CLASS_NONE);
    assert_ok(pool_sim_resume());
    tear_down(&setting);
}

/* Without a time nothing is watched. */
static void test_off(void **state)
{
    struct setting setting;

    (void)state;
    set_up(&setting, 0);
    hang(&setting, 0);
    usleep(100000);
    assert_int_equal(health_of(&setting).stalled_devices, 0);
    assert_ok(pool_sim_resume());
    tear_down(&setting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_stall_and_recovery),
        cmocka_unit_test(test_label_of_a_lease),
        cmocka_unit_test(test_progress_elsewhere),
        cmocka_unit_test(test_overdue_lease),
        cmocka_unit_test(test_off),
    };

    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
