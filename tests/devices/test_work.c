/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work in flight: what a first cause reports of faults that another call detects, what is freed
 * while a kernel does not end, and how devices are chosen while others have work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <devicepool.h>

#include "base/clock.h"
#include "driver/work.h"
#include "pool/device/pool.h"
#include "pool/stream/stream.h"

#define BYTES 4096
#define SECOND 1000000000u

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry stop()\n{\n\ttrap;\n\tret;\n}\n"
                          ".visible .entry nothing()\n{\n\tret;\n}\n";

static void ok(pool_status status, const char *call, int line)
{
    if (status)
        fail_msg("line %d: %s is %s: %s", line, call, pool_status_name(status),
            pool_last_error()->message);
}
#define OK(call) ok((call), #call, __LINE__)

struct heard {
    int calls;
    pool_device *device, *shown_on;
    size_t kernel_count;
    char kernels[8][64];
    pool_device *kernel_devices[8];
    uint32_t launches[8];
    char labels[8][64];
    char message[1024];
};

static struct heard heard;

static void hear(void *user, const pool_fault *fault)
{
    (void)user;
    heard.calls++;
    heard.device = fault->device;
    heard.shown_on = fault->shown_on;
    heard.kernel_count = fault->kernel_count;
    for (size_t i = 0; i < fault->kernel_count && i < 8; i++) {
        snprintf(heard.kernels[i], sizeof(heard.kernels[i]), "%s", fault->kernels[i].name);
        heard.kernel_devices[i] = fault->kernels[i].device;
        heard.launches[i] = fault->kernels[i].launches;
        snprintf(heard.labels[i], sizeof(heard.labels[i]), "%s", fault->kernels[i].label);
    }
    snprintf(heard.message, sizeof(heard.message), "%s", fault->message);
}

static device_pool *make_pool(const char *devices)
{
    const pool_params params = {
        .struct_size = sizeof(params), .devices = devices, .fault_hook = hear};
    device_pool *pool = NULL;

    memset(&heard, 0, sizeof(heard));
    OK(pool_create(&pool, &params));
    return pool;
}

static pool_device *at(device_pool *pool, size_t index)
{
    pool_device *device = NULL;

    OK(pool_device_at(pool, index, &device));
    return device;
}

/* The module on a device, and a kernel of it. */
static pool_kernel *load(pool_device *device, const char *name, pool_module **module)
{
    pool_kernel *kernel = NULL;

    OK(pool_module_load(device, ptx, sizeof(ptx), module));
    OK(pool_kernel_get(*module, name, &kernel));
    return kernel;
}

static void launch(pool_kernel *kernel, pool_stream *stream)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape)};

    OK(pool_launch(kernel, &shape, NULL, stream));
}

/* A launch on a separate stream that does not end before pool_sim_resume. */
static pool_stream *hang(pool_device *device, pool_kernel *kernel)
{
    pool_stream *stream = NULL;

    OK(pool_stream_create(device, NULL, &stream));
    OK(pool_sim_set_faults("cuLaunchKernel*@1=hang"));
    launch(kernel, stream);
    OK(pool_sim_set_faults(NULL));
    return stream;
}

/* Allocates and frees on the device until the fault shows there. */
static void show_on(pool_device *device)
{
    uint64_t end = base_clock_ns() + 60 * (uint64_t)SECOND;
    pool_buffer *buffer = NULL;
    pool_status status;

    for (;;) {
        status = pool_buffer_alloc(device, BYTES, &buffer);
        if (!status)
            status = pool_buffer_destroy(&buffer);
        if (status)
            break;
        assert_true(base_clock_ns() < end);
        usleep(1000);
    }
    assert_int_equal(status, POOL_ERR_PROCESS_POISONED);
    (void)pool_buffer_destroy(&buffer); /* no-op unless the fault showed when it was destroyed */
}

/* What the pool says of its first fault has to agree wherever it is said. */
static void check_told(device_pool *pool, int culprit, int shown_on)
{
    pool_health_info health = {.struct_size = sizeof(health)};
    char *text = NULL, expected[64];

    assert_int_equal(heard.calls, 1);
    assert_ptr_equal(heard.device, culprit < 0 ? NULL : at(pool, (size_t)culprit));
    assert_ptr_equal(heard.shown_on, at(pool, (size_t)shown_on));
    OK(pool_get_health(pool, &health));
    assert_int_equal(health.harmed, POOL_CLASS_PROCESS);
    assert_int_equal(health.fault_device, culprit);
    assert_int_equal(health.fault_shown_on, shown_on);
    assert_string_equal(health.first_cause, heard.message);
    OK(pool_describe(pool, POOL_TEXT_JSON, &text));
    if (culprit < 0)
        snprintf(expected, sizeof(expected), "\"fault_device\":\tnull");
    else
        snprintf(expected, sizeof(expected), "\"fault_device\":\t%d", culprit);
    if (!strstr(text, expected))
        fail_msg("no %s in %s", expected, text);
    snprintf(expected, sizeof(expected), "\"fault_shown_on\":\t%d", shown_on);
    assert_non_null(strstr(text, expected));
    if (heard.kernel_count)
        assert_non_null(strstr(text, heard.kernels[0]));
    pool_text_free(&text);
    OK(pool_describe(pool, POOL_TEXT_PLAIN, &text));
    assert_non_null(strstr(text, heard.message));
    pool_text_free(&text);
}

/* A kernel faults on device 2, and an allocation on device 0 is the first call to fail. */
static void test_fault_shows_elsewhere(void **state)
{
    device_pool *pool = make_pool("sim:3,mem=64M");
    pool_module *modules[3] = {0};
    pool_stream *streams[3] = {0}, *gone = NULL;
    pool_kernel *stop;
    pool_event *event = NULL;

    (void)state;
    /* Work that is known to have finished, in whatever way, is not reported as the cause. */
    for (size_t i = 0; i < 3; i++) {
        pool_kernel *nothing = load(at(pool, i), "nothing", &modules[i]);

        OK(pool_stream_create(at(pool, i), NULL, &streams[i]));
        launch(nothing, streams[i]);
        OK(pool_stream_synchronize(streams[i]));
        launch(nothing, streams[i]);
        OK(pool_event_create(at(pool, i), 0, &event));
        OK(pool_event_record(event, streams[i]));
        OK(pool_event_synchronize(event));
        OK(pool_event_destroy(&event));
        launch(nothing, streams[i]);
        OK(pool_stream_wait(streams[i], 10 * (uint64_t)SECOND));
        OK(pool_stream_create(at(pool, i), NULL, &gone));
        launch(nothing, gone);
        OK(pool_stream_synchronize(gone));
        OK(pool_stream_destroy(&gone));
        launch(nothing, NULL);
        while (pool_stream_query(streams[i]) == POOL_ERR_NOT_READY)
            ;
        OK(pool_stream_default(at(pool, i), &gone));
        OK(pool_stream_synchronize(gone));
        gone = NULL;
    }
    OK(pool_kernel_get(modules[2], "stop", &stop));
    launch(stop, streams[2]);
    show_on(at(pool, 0));
    check_told(pool, 2, 0);
    assert_int_equal(heard.kernel_count, 1);
    assert_string_equal(heard.kernels[0], "stop");
    assert_int_equal(heard.launches[0], 1);
    assert_ptr_equal(heard.kernel_devices[0], at(pool, 2));
    assert_non_null(strstr(heard.message, "the cause is work of device 2"));
    assert_non_null(strstr(heard.message, pool_device_uuid(at(pool, 2))));
    assert_non_null(strstr(heard.message, pool_device_uuid(at(pool, 0))));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pool_stream_destroy(&streams[i]), POOL_OK);
        pool_module_destroy(&modules[i]);
    }
    OK(pool_destroy(&pool));
}

/* Two devices have something unfinished: neither is accused, both are named. */
static void test_fault_is_not_certain(void **state)
{
    device_pool *pool = make_pool("sim:3,mem=64M");
    pool_module *modules[3] = {0};
    pool_stream *stream, *other = NULL;
    pool_kernel *stop;

    (void)state;
    stream = hang(at(pool, 1), load(at(pool, 1), "nothing", &modules[1]));
    stop = load(at(pool, 2), "stop", &modules[2]);
    OK(pool_stream_create(at(pool, 2), NULL, &other));
    launch(stop, other);
    show_on(at(pool, 0));
    check_told(pool, -1, 0);
    assert_int_equal(heard.kernel_count, 2);
    assert_non_null(strstr(heard.message, "nothing"));
    assert_non_null(strstr(heard.message, "stop"));
    assert_non_null(strstr(heard.message, "not certain"));
    OK(pool_stream_destroy(&stream));
    OK(pool_stream_destroy(&other));
    pool_module_destroy(&modules[1]);
    pool_module_destroy(&modules[2]);
    OK(pool_destroy(&pool));
}

/* The work of another client of an MPS server may be the cause: nobody is accused. */
static void test_fault_beside_others(void **state)
{
    device_pool *pool = make_pool("sim:2,mem=64M,mps=100");
    pool_module *module = NULL;
    pool_stream *stream = NULL;

    (void)state;
    OK(pool_stream_create(at(pool, 1), NULL, &stream));
    launch(load(at(pool, 1), "stop", &module), stream);
    show_on(at(pool, 0));
    check_told(pool, -1, 0);
    assert_int_equal(heard.kernel_count, 1); /* named as unfinished all the same */
    assert_non_null(strstr(heard.message, "used through an MPS server"));
    assert_non_null(strstr(heard.message, "unfinished on device 1"));
    assert_null(strstr(heard.message, "the cause is work of"));
    OK(pool_stream_destroy(&stream));
    pool_module_destroy(&module);
    OK(pool_destroy(&pool));
}

/* A launch carries the label that its stream had at that moment, also behind many others. */
static void test_fault_names_labels(void **state)
{
    device_pool *pool = make_pool("sim:2,mem=64M");
    pool_module *modules[2] = {0};
    pool_stream *streams[3] = {0};
    pool_kernel *nothing, *stop;
    pool_buffer *buffer = NULL;
    char *text = NULL, long_label[100];

    (void)state;
    nothing = load(at(pool, 1), "nothing", &modules[0]);
    stop = load(at(pool, 1), "stop", &modules[1]);
    for (int i = 0; i < 3; i++)
        OK(pool_stream_create(at(pool, 1), NULL, &streams[i]));
    memset(long_label, 'x', sizeof(long_label) - 1);
    long_label[sizeof(long_label) - 1] = '\0';
    /* The first is named although its launch is no longer among the last 64. */
    stream_set_label(streams[0], long_label);
    OK(pool_sim_set_faults("cuLaunchKernel*@1=hang"));
    launch(stop, streams[0]);
    stream_set_label(streams[0], "of no launch");
    for (int i = 0; i < 100; i++)
        launch(nothing, streams[2]);
    OK(pool_stream_synchronize(streams[2]));
    stream_set_label(streams[1], "proof 17");
    OK(pool_sim_set_faults("cuLaunchKernel*@1=hang; cuMemAllocFromPoolAsync@1=719"));
    launch(nothing, streams[1]);
    launch(nothing, streams[1]);
    stream_set_label(streams[1], "proof 18");
    launch(nothing, streams[1]);
    stream_set_label(streams[1], NULL);
    launch(nothing, streams[1]);
    assert_int_equal(pool_buffer_alloc(at(pool, 0), BYTES, &buffer), POOL_ERR_PROCESS_POISONED);
    check_told(pool, 1, 0);
    assert_int_equal(heard.kernel_count, 4);
    assert_string_equal(heard.labels[0], "proof 17");
    assert_int_equal(heard.launches[0], 2);
    assert_string_equal(heard.labels[1], "proof 18");
    assert_string_equal(heard.labels[2], "");
    long_label[63] = '\0';
    assert_string_equal(heard.labels[3], long_label);
    assert_string_equal(heard.kernels[3], "stop");
    assert_non_null(strstr(heard.message, "nothing (2 launches) of lease \"proof 17\""));
    OK(pool_describe(pool, POOL_TEXT_JSON, &text));
    assert_non_null(strstr(text, "\"label\":\t\"proof 17\""));
    pool_text_free(&text);
    for (int i = 0; i < 3; i++)
        OK(pool_stream_destroy(&streams[i]));
    pool_module_destroy(&modules[0]);
    pool_module_destroy(&modules[1]);
    OK(pool_destroy(&pool));
}

/* A hundred launches after the faulting one push it out of the list, and it is named all the same.
 */
static void test_fault_behind_many_launches(void **state)
{
    device_pool *pool = make_pool("sim:2,mem=64M");
    pool_module *modules[2] = {0};
    pool_stream *hung, *stream = NULL;
    pool_kernel *nothing;
    pool_buffer *buffer = NULL;

    (void)state;
    nothing = load(at(pool, 1), "nothing", &modules[1]);
    hung = hang(at(pool, 1), load(at(pool, 1), "stop", &modules[0]));
    OK(pool_stream_create(at(pool, 1), NULL, &stream));
    for (int i = 0; i < 100; i++)
        launch(nothing, stream);
    OK(pool_stream_synchronize(stream));
    OK(pool_sim_set_faults("cuMemAllocFromPoolAsync@1=719"));
    assert_int_equal(pool_buffer_alloc(at(pool, 0), BYTES, &buffer), POOL_ERR_PROCESS_POISONED);
    check_told(pool, 1, 0);
    assert_int_equal(heard.kernel_count, 1);
    assert_string_equal(heard.kernels[0], "stop");
    OK(pool_stream_destroy(&hung));
    OK(pool_stream_destroy(&stream));
    pool_module_destroy(&modules[0]);
    pool_module_destroy(&modules[1]);
    OK(pool_destroy(&pool));
}

/* Nothing was launched, or the code does not come from kernels: no launch is reported as the cause.
 */
static void test_fault_of_nobody(void **state)
{
    static const char *const codes[] = {
        "cuMemAllocFromPoolAsync@1=700", "cuMemAllocFromPoolAsync@1=214"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        device_pool *pool = make_pool("sim:2,mem=64M");
        pool_buffer *buffer = NULL;
        pool_module *module = NULL;
        pool_stream *stream = NULL;

        if (i)
            stream = hang(at(pool, 1), load(at(pool, 1), "nothing", &module));
        OK(pool_sim_set_faults(codes[i]));
        assert_int_equal(pool_buffer_alloc(at(pool, 0), BYTES, &buffer), POOL_ERR_PROCESS_POISONED);
        check_told(pool, -1, 0);
        assert_int_equal(heard.kernel_count, i);
        OK(pool_stream_destroy(&stream));
        pool_module_destroy(&module);
        OK(pool_destroy(&pool));
    }
}

static uint64_t deferred_bytes(pool_device *device)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    OK(pool_memory_get_info(device, &info));
    return info.pinned_deferred_bytes;
}

/* A kernel on device 0 does not end: nothing that is idle, there or elsewhere, waits for it. */
static void test_hung_kernel(void **state)
{
    device_pool *pool = make_pool("sim:2,mem=64M");
    pool_module *module = NULL, *idle[2] = {0};
    pool_pinned *pinned[2] = {0};
    pool_stream *hung;
    pool_kernel *nothing;
    uint64_t start;

    (void)state;
    nothing = load(at(pool, 0), "nothing", &module);
    for (size_t i = 0; i < 2; i++) {
        load(at(pool, i), "nothing", &idle[i]);
        OK(pool_pinned_create(at(pool, i), BYTES, i ? 0 : POOL_PINNED_SECRET, &pinned[i]));
    }
    hung = hang(at(pool, 0), nothing);
    start = base_clock_ns();
    for (size_t i = 0; i < 2; i++) {
        OK(pool_pinned_destroy(&pinned[i]));
        pool_module_destroy(&idle[i]);
    }
    assert_true(base_clock_ns() - start < 60 * (uint64_t)SECOND);
    assert_int_equal(deferred_bytes(at(pool, 0)), BYTES);
    assert_int_equal(deferred_bytes(at(pool, 1)), BYTES);
    /* The kernel may still use it, so it is not allocated again. */
    OK(pool_pinned_create(at(pool, 0), BYTES, 0, &pinned[0]));
    assert_int_equal(deferred_bytes(at(pool, 0)), BYTES);
    assert_int_equal(pool_stream_query(hung), POOL_ERR_NOT_READY);
    OK(pool_sim_resume());
    OK(pool_stream_synchronize(hung));
    /* The next free finds all idle and releases what was put aside. */
    OK(pool_pinned_destroy(&pinned[0]));
    assert_int_equal(deferred_bytes(at(pool, 0)), 0);
    OK(pool_memory_trim(at(pool, 1), 0));
    assert_int_equal(deferred_bytes(at(pool, 1)), 0);
    OK(pool_stream_destroy(&hung));
    pool_module_destroy(&module);
    OK(pool_destroy(&pool));
}

/* Deferred releases that never took place end with the pool. */
static void test_pool_ends_with_deferred(void **state)
{
    device_pool *pool = make_pool("sim:2,mem=64M");
    pool_module *module = NULL, *idle = NULL;
    pool_pinned *pinned = NULL;
    pool_stream *hung;

    (void)state;
    load(at(pool, 0), "nothing", &idle);
    OK(pool_pinned_create(at(pool, 0), BYTES, 0, &pinned));
    hung = hang(at(pool, 0), load(at(pool, 0), "nothing", &module));
    OK(pool_stream_destroy(&hung)); /* its work continues */
    OK(pool_pinned_destroy(&pinned));
    pool_module_destroy(&idle);
    pool_module_destroy(&module);
    assert_int_equal(deferred_bytes(at(pool, 0)), BYTES);
    OK(pool_sim_resume());
    OK(pool_destroy(&pool));
}

/* Memory that an enqueued copy reads is whole until the copy has read it. */
static void test_pinned_in_use(void **state)
{
    device_pool *pool = make_pool("sim:2,mem=64M");
    pool_pinned *pinned = NULL, *other = NULL;
    pool_buffer *buffer = NULL;
    pool_module *module = NULL;
    pool_stream *hung;
    unsigned char back[BYTES];

    (void)state;
    OK(pool_buffer_alloc(at(pool, 0), BYTES, &buffer));
    /* The memory is of device 1, the copy on device 0. */
    OK(pool_pinned_create(at(pool, 1), BYTES, POOL_PINNED_SECRET, &pinned));
    memset(pool_pinned_data(pinned), 0x5a, BYTES);
    hung = hang(at(pool, 0), load(at(pool, 0), "nothing", &module));
    OK(pool_copy_to_device(buffer, 0, pool_pinned_data(pinned), BYTES, hung));
    OK(pool_pinned_destroy(&pinned));
    OK(pool_pinned_create(at(pool, 1), BYTES, 0, &other));
    memset(pool_pinned_data(other), 0x11, BYTES);
    OK(pool_sim_resume());
    OK(pool_stream_synchronize(hung));
    OK(pool_copy_to_host(back, buffer, 0, BYTES, NULL));
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(back[i], 0x5a);
    OK(pool_pinned_destroy(&other));
    OK(pool_buffer_destroy(&buffer));
    OK(pool_stream_destroy(&hung));
    pool_module_destroy(&module);
    OK(pool_destroy(&pool));
}

/* On a device that always has something to do, freed memory is used again. */
static void test_pinned_is_used_again(void **state)
{
    device_pool *pool = make_pool("sim:1,mem=64M");
    pool_module *module = NULL;
    pool_pinned *pinned = NULL;
    pool_stream *first, *second;
    pool_kernel *nothing;
    void *data;

    (void)state;
    nothing = load(at(pool, 0), "nothing", &module);
    first = hang(at(pool, 0), nothing);
    OK(pool_pinned_create(at(pool, 0), BYTES, POOL_PINNED_SECRET, &pinned));
    data = pool_pinned_data(pinned);
    memset(data, 0x77, BYTES);
    OK(pool_pinned_destroy(&pinned));
    OK(pool_sim_resume());
    OK(pool_stream_synchronize(first));
    second = hang(at(pool, 0), nothing);
    OK(pool_pinned_create(at(pool, 0), BYTES / 4, 0, &pinned)); /* too large for this one */
    assert_ptr_not_equal(pool_pinned_data(pinned), data);
    OK(pool_pinned_destroy(&pinned));
    OK(pool_pinned_create(at(pool, 0), BYTES - 1, POOL_PINNED_WRITE_COMBINED, &pinned));
    assert_ptr_not_equal(pool_pinned_data(pinned), data);
    OK(pool_pinned_destroy(&pinned));
    OK(pool_pinned_create(at(pool, 0), BYTES - 1, 0, &pinned));
    assert_ptr_equal(pool_pinned_data(pinned), data);
    assert_int_equal(pool_pinned_bytes(pinned), BYTES - 1);
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(((unsigned char *)data)[i], 0);
    OK(pool_pinned_destroy(&pinned));
    OK(pool_sim_resume());
    OK(pool_stream_destroy(&first));
    OK(pool_stream_destroy(&second));
    pool_module_destroy(&module);
    OK(pool_destroy(&pool));
}

static int sees_load(void *user, const pool_candidate *candidate)
{
    uint32_t *busy = user;

    busy[pool_device_index(candidate->device)] = candidate->busy_streams;
    return 1;
}

/* A device with unfinished work is not chosen while others have none, whatever their bindings. */
static void test_least_loaded(void **state)
{
    device_pool *pool = make_pool("sim:3,mem=64M");
    pool_pick pick = {.struct_size = sizeof(pick), .policy = POOL_POLICY_LEAST_LOADED};
    pool_device *device = NULL;
    pool_module *module = NULL;
    pool_stream *hung;
    uint32_t busy[3] = {0};
    int seen[3] = {0};

    (void)state;
    hung = hang(at(pool, 0), load(at(pool, 0), "nothing", &module));
    OK(pool_bind(at(pool, 1)));
    OK(pool_bind(at(pool, 2)));
    for (int i = 0; i < 400; i++) {
        OK(pool_pick_device(pool, &pick, &device));
        seen[pool_device_index(device)]++;
    }
    assert_int_equal(seen[0], 0);
    assert_true(seen[1] >= 150 && seen[2] >= 150);
    OK(pool_unbind(at(pool, 2)));
    OK(pool_unbind(at(pool, 1)));
    pick.filter = sees_load;
    pick.user = busy;
    OK(pool_pick_device(pool, &pick, &device));
    assert_int_equal(busy[0], 1);
    assert_int_equal(busy[1], 0);
    /* No thread waits for the stream: its completion is queried. */
    OK(pool_sim_resume());
    for (int i = 0; i < 30000 && busy[0]; i++) {
        usleep(2000);
        OK(pool_pick_device(pool, &pick, &device));
    }
    assert_int_equal(busy[0], 0);
    OK(pool_stream_destroy(&hung));
    pool_module_destroy(&module);
    OK(pool_destroy(&pool));
}

struct asking {
    device_pool *pool;
    pool_policy policy;
    pthread_barrier_t *start;
    pool_device *answer;
};

static void *ask(void *argument)
{
    struct asking *asking = argument;
    pool_pick pick = {.struct_size = sizeof(pick), .policy = asking->policy};

    pthread_barrier_wait(asking->start);
    if (asking->policy == POOL_POLICY_ROUND_ROBIN) /* replaces pool_best_device here */
        return pool_best_device(asking->pool, &asking->answer) ? asking : NULL;
    return pool_pick_device(asking->pool, &pick, &asking->answer) ? asking : NULL;
}

/* Eight threads choose at the same time, and one device has slightly more free memory than the
 * others. */
static void spread(pool_policy policy)
{
    device_pool *pool = make_pool("sim:4,mem=64M");
    struct asking asking[8];
    pthread_barrier_t start;
    pthread_t threads[8];
    pool_buffer *taken[4] = {0};
    int seen[4] = {0};
    void *failed;

    for (size_t i = 0; i < 4; i++)
        OK(pool_buffer_alloc(at(pool, i), (i == 2 ? 1 : 3) << 20, &taken[i]));
    /* They use one sample of the free memory, however long they take: choices count until the next
     * one. */
    atomic_store(&pool->sampled_at, 1);
    OK(device_pool_sample(pool));
    atomic_store(&pool->sampled_at, base_clock_ns() + 3600 * (uint64_t)SECOND);
    assert_int_equal(pthread_barrier_init(&start, NULL, 8), 0);
    for (int i = 0; i < 8; i++) {
        asking[i] = (struct asking){.pool = pool, .policy = policy, .start = &start};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &asking[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
        seen[pool_device_index(asking[i].answer)]++;
    }
    pthread_barrier_destroy(&start);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(seen[i], 2);
        OK(pool_buffer_destroy(&taken[i]));
    }
    OK(pool_destroy(&pool));
}

static void test_eight_ask_at_once(void **state)
{
    (void)state;
    spread(POOL_POLICY_ROUND_ROBIN);
    spread(POOL_POLICY_MOST_FREE);
    spread(POOL_POLICY_LEAST_LOADED);
}

/* Threads launch, wait, choose and free on the same devices; for ThreadSanitizer above all. */
struct churn {
    device_pool *pool;
    pool_kernel *kernels[2];
};

static void *churn(void *argument)
{
    struct churn *work = argument;
    pool_pick pick = {.struct_size = sizeof(pick), .policy = POOL_POLICY_LEAST_LOADED};
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_status status = POOL_OK;

    for (int i = 0; i < 40 && !status; i++) {
        pool_device *device = NULL;
        pool_pinned *pinned = NULL;
        pool_stream *stream = NULL;
        pool_module *module = NULL;
        pool_kernel *kernel = NULL;

        status = i % 2 ? pool_pick_device(work->pool, &pick, &device)
                       : pool_best_device(work->pool, &device);
        if (!status)
            status = pool_stream_create(device, NULL, &stream);
        if (!status)
            status = pool_pinned_create(device, BYTES, 0, &pinned);
        kernel = status ? NULL : work->kernels[pool_device_index(device)];
        for (int k = 0; k < 5 && !status; k++)
            status = pool_launch(kernel, &shape, NULL, k % 2 ? stream : NULL);
        if (!status)
            status = pool_module_load(device, ptx, sizeof(ptx), &module);
        if (!status && i % 3)
            status = pool_stream_synchronize(stream);
        pool_module_destroy(&module);
        if (!status)
            status = pool_pinned_destroy(&pinned);
        if (!status)
            status = pool_stream_destroy(&stream);
    }
    return status ? work : NULL;
}

static void test_threads(void **state)
{
    device_pool *pool = make_pool("sim:2,mem=64M");
    pool_module *modules[2] = {0};
    struct churn work = {.pool = pool};
    pthread_t threads[4];
    void *failed;

    (void)state;
    for (size_t i = 0; i < 2; i++)
        work.kernels[i] = load(at(pool, i), "nothing", &modules[i]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &work), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    for (size_t i = 0; i < 2; i++) {
        pool_stream *stream = NULL;

        OK(pool_stream_default(at(pool, i), &stream));
        OK(pool_stream_synchronize(stream));
    }
    /* The first round waits for what the destroyed streams had left. */
    for (size_t i = 0; i < 4; i++)
        OK(pool_memory_trim(at(pool, i % 2), 0));
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(deferred_bytes(at(pool, i)), 0);
        pool_module_destroy(&modules[i]);
    }
    OK(pool_destroy(&pool));
}

static int tidy(void **state)
{
    (void)state;
    pool_sim_set_faults(NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_fault_shows_elsewhere, tidy),
        cmocka_unit_test_teardown(test_fault_is_not_certain, tidy),
        cmocka_unit_test_teardown(test_fault_beside_others, tidy),
        cmocka_unit_test_teardown(test_fault_names_labels, tidy),
        cmocka_unit_test_teardown(test_fault_behind_many_launches, tidy),
        cmocka_unit_test_teardown(test_fault_of_nobody, tidy),
        cmocka_unit_test_teardown(test_hung_kernel, tidy),
        cmocka_unit_test_teardown(test_pool_ends_with_deferred, tidy),
        cmocka_unit_test_teardown(test_pinned_in_use, tidy),
        cmocka_unit_test_teardown(test_pinned_is_used_again, tidy),
        cmocka_unit_test_teardown(test_least_loaded, tidy),
        cmocka_unit_test_teardown(test_eight_ask_at_once, tidy),
        cmocka_unit_test_teardown(test_threads, tidy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
