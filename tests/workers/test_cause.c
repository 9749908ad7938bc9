/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call that fails because of a lost worker process says why the process has ended and which
 * kernels were unfinished: calls that wait when it ends, later ones, and those that use objects of
 * the ended process after the device's return.
 *
 *   test_cause [DEVICES]
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/worker/worker.h"
#include "left_behind.h"
#include "support/assert.h"

/* Longer than any cause with its kernels, shorter than an error message may be. */
enum { BYTES = 4096, LONGEST_MESSAGE = 2048, MANY = 40, LONG_NAME = 200 };

/* Far more than a return takes. */
enum { PATIENCE_MS = 600000 };

#define HEADER ".version 7.0\n.target sm_75\n.address_size 64\n"

static const char spin[] = HEADER ".visible .entry spin()\n{\nagain:\n\tbra again;\n}\n";
static const char store[] = HEADER ".visible .entry store()\n{\n\t.reg .u64 %a;\n"
                                   "\tmov.u64 %a, 16;\n\tst.global.u32 [%a], 1;\n\tret;\n}\n";

static const char *devices = "workers:sim:1,mem=1G";

/* Everything that a call can be about. */
static struct {
    device_pool *pool;
    pool_device *device;
    pool_module *module;
    pool_kernel *kernel;
    pool_stream *stream;
    pool_event *event;
    pool_buffer *buffer;
    const char *cause, *name; /* that each message must have */
} used;

static struct worker_status worker(void)
{
    struct worker_status status;

    assert_true(worker_get_status(0, &status));
    return status;
}

static void open_pool(const char *ptx, const char *kernel)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};

    assert_ok(pool_create(&used.pool, &params));
    assert_ok(pool_device_at(used.pool, 0, &used.device));
    assert_ok(pool_module_load(used.device, ptx, strlen(ptx), &used.module));
    assert_ok(pool_kernel_get(used.module, kernel, &used.kernel));
    assert_ok(pool_stream_create(used.device, NULL, &used.stream));
    assert_ok(pool_event_create(used.device, 0, &used.event));
    assert_ok(pool_buffer_alloc(used.device, BYTES, &used.buffer));
}

static void close_pool(void)
{
    (void)pool_buffer_destroy(&used.buffer);
    (void)pool_event_destroy(&used.event);
    (void)pool_stream_destroy(&used.stream);
    (void)pool_module_destroy(&used.module);
    assert_ok(pool_destroy(&used.pool));
}

/* ---- calls -------------------------------------------------------------------------------------
 */

static pool_status launch(void)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape)};

    return pool_launch(used.kernel, &shape, NULL, used.stream);
}

static pool_status record(void)
{
    return pool_event_record(used.event, used.stream);
}

static pool_status synchronize_stream(void)
{
    return pool_stream_synchronize(used.stream);
}

static pool_status wait_for_stream(void)
{
    return pool_stream_wait(used.stream, UINT64_MAX);
}

static pool_status query_stream(void)
{
    return pool_stream_query(used.stream);
}

static pool_status synchronize_event(void)
{
    return pool_event_synchronize(used.event);
}

static pool_status copy_to_host(void)
{
    unsigned char bytes[BYTES];

    return pool_copy_to_host(bytes, used.buffer, 0, BYTES, used.stream);
}

static pool_status copy_to_device(void)
{
    static const unsigned char bytes[BYTES];

    return pool_copy_to_device(used.buffer, 0, bytes, BYTES, used.stream);
}

static pool_status fill(void)
{
    return pool_buffer_fill32(used.buffer, 0, BYTES / 4, 1, used.stream);
}

static pool_status synchronize_device(void)
{
    return pool_device_synchronize(used.device);
}

static pool_status allocate(void)
{
    pool_buffer *buffer = NULL;
    pool_status status = pool_buffer_alloc(used.device, BYTES, &buffer);

    (void)pool_buffer_destroy(&buffer);
    return status;
}

static pool_status load(void)
{
    pool_module *module = NULL;
    pool_status status = pool_module_load(used.device, spin, sizeof(spin) - 1, &module);

    (void)pool_module_destroy(&module);
    return status;
}

struct call {
    const char *name;
    pool_status (*make)(void);
    bool is_of_object; /* fails after the device's return, too */
    pool_status status;
    char message[4096];
    pthread_t thread;
};

/* The first ones wait for the kernel. */
enum { WAITING = 5 };
#define CALL(function, object)                                                                     \
    {                                                                                              \
        .name = #function, .make = function, .is_of_object = object                                \
    }
static struct call calls[] = {CALL(synchronize_stream, true), CALL(wait_for_stream, true),
    CALL(synchronize_event, true), CALL(copy_to_host, true), CALL(synchronize_device, false),
    CALL(launch, true), CALL(record, true), CALL(query_stream, true), CALL(copy_to_device, true),
    CALL(fill, true), CALL(allocate, false), CALL(load, false)};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static void *make_call(void *user)
{
    struct call *call = user;

    call->status = call->make();
    snprintf(call->message, sizeof(call->message), "%s", pool_last_error()->message);
    return NULL;
}

static void assert_explained(const struct call *call, const char *when)
{
    if (call->status != POOL_ERR_DEVICE_LOST || !strstr(call->message, used.cause) ||
        !strstr(call->message, used.name) || strlen(call->message) > LONGEST_MESSAGE)
        fail_msg("%s %s: %s without \"%s\" or \"%s\": %s", call->name, when,
            pool_status_name(call->status), used.cause, used.name, call->message);
}

/* While the device is lost all calls fail; after its return those that use former objects. */
static void assert_calls_explained(const char *when, bool is_back)
{
    for (size_t i = 0; i < CALLS; i++) {
        if (is_back && !calls[i].is_of_object)
            continue;
        make_call(&calls[i]);
        assert_explained(&calls[i], when);
    }
}

static pool_device_state state(void)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_device_get_info(used.device, &info);

    if (status == POOL_ERR_DEVICE_LOST) /* while it read the free memory */
        return POOL_DEVICE_UNUSABLE;
    assert_ok(status);
    return info.state;
}

static void wait_for_service(void)
{
    for (int i = 0; worker().generation < 2 || state() != POOL_DEVICE_READY; i++) {
        assert_true(i < PATIENCE_MS);
        usleep(1000);
    }
}

/* ---- tests -------------------------------------------------------------------------------------
 */

/* The process is killed while threads wait for a kernel that never ends. */
static void test_signal(void **unused)
{
    struct left_behind before = look();

    (void)unused;
    open_pool(spin, "spin");
    used.cause = "signal 9";
    used.name = "spin";
    assert_ok(pool_bind(used.device)); /* keeps the device from coming back */
    assert_ok(launch());
    assert_ok(record());
    for (int i = 0; i < WAITING; i++)
        assert_int_equal(pthread_create(&calls[i].thread, NULL, make_call, &calls[i]), 0);
    assert_int_equal(kill(worker().pid, SIGKILL), 0);
    for (int i = 0; i < WAITING; i++)
        pthread_join(calls[i].thread, NULL);
    for (int i = 0; i < WAITING; i++)
        assert_explained(&calls[i], "in progress");
    assert_calls_explained("later", false);
    assert_ok(pool_unbind(used.device));
    wait_for_service();
    assert_calls_explained("after the return", true);
    assert_ok(allocate());
    close_pool();
    assert_nothing_left(before);
}

/* The kernel faults, which the first call that waits reports. */
static void test_code(void **unused)
{
    struct left_behind before = look();

    (void)unused;
    open_pool(store, "store");
    used.cause = "ILLEGAL_ADDRESS";
    used.name = "store";
    assert_ok(pool_bind(used.device));
    (void)launch(); /* may report its own fault */
    (void)record();
    for (int i = 0; i < WAITING; i++)
        assert_int_equal(pthread_create(&calls[i].thread, NULL, make_call, &calls[i]), 0);
    for (int i = 0; i < WAITING; i++)
        pthread_join(calls[i].thread, NULL);
    for (int i = 0; i < WAITING; i++)
        assert_explained(&calls[i], "in progress");
    assert_calls_explained("later", false);
    assert_ok(pool_unbind(used.device));
    wait_for_service();
    assert_calls_explained("after the return", true);
    close_pool();
    assert_nothing_left(before);
}

/* Through an MPS server the work of another process may be the cause, and the cause says so. */
static void test_mps(void **unused)
{
    const char *given = devices;
    struct left_behind before = look();
    pool_device_info info = {.struct_size = sizeof(info)};

    (void)unused;
    if (!strstr(devices, "sim"))
        skip();
    devices = "workers:sim:1,sms=132,mem=1G,mps=50";
    open_pool(store, "store");
    assert_ok(pool_device_get_info(used.device, &info));
    assert_int_equal(info.multiprocessors, 66);
    assert_ok(pool_bind(used.device));
    (void)launch();
    make_call(&calls[0]);
    assert_int_equal(calls[0].status, POOL_ERR_DEVICE_LOST);
    assert_non_null(strstr(calls[0].message, "ILLEGAL_ADDRESS"));
    assert_non_null(strstr(calls[0].message, "used through an MPS server"));
    assert_non_null(strstr(calls[0].message, "store"));
    assert_ok(pool_unbind(used.device));
    wait_for_service(); /* a new client works at once */
    assert_ok(allocate());
    close_pool();
    devices = given;
    assert_nothing_left(before);
}

/* Many kernels with long names on many streams: the cause stays first, and the message short. */
static void test_many_kernels(void **unused)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_stream *streams[MANY] = {NULL};
    char name[LONG_NAME + 1], ptx[LONG_NAME + 200];
    struct left_behind before = look();

    (void)unused;
    memset(name, 'k', LONG_NAME);
    name[LONG_NAME] = '\0';
    snprintf(ptx, sizeof(ptx), HEADER ".visible .entry %s()\n{\nagain:\n\tbra again;\n}\n", name);
    open_pool(ptx, name);
    used.cause = "signal 9";
    used.name = "kkkk";
    assert_ok(pool_bind(used.device));
    assert_ok(record());
    for (int i = 0; i < MANY; i++)
        assert_ok(pool_stream_create(used.device, NULL, &streams[i]));
    assert_int_equal(kill(worker().pid, SIGSTOP), 0); /* nothing is executed any more */
    for (int i = 0; i < MANY; i++)
        assert_ok(pool_launch(used.kernel, &shape, NULL, streams[i]));
    assert_int_equal(kill(worker().pid, SIGKILL), 0);
    make_call(&calls[0]);
    assert_explained(&calls[0], "with many kernels");
    assert_calls_explained("with many kernels", false);
    for (int i = 0; i < MANY; i++)
        (void)pool_stream_destroy(&streams[i]);
    assert_ok(pool_unbind(used.device));
    wait_for_service();
    close_pool();
    assert_nothing_left(before);
}

/* A kernel whose parameters the driver does not report, for once: no kernel then, rather than one
 * that is launched with some of its arguments missing. */
static void test_parameters(void **state)
{
    static const unsigned codes[] = {POOL_CU_OUT_OF_MEMORY, POOL_CU_INVALID_CONTEXT};
    static const char two[] = HEADER ".visible .entry two(.param .u64 address, .param .u32 value)\n"
                                     "{\n\t.reg .u64 %a;\n\t.reg .u32 %v;\n"
                                     "\tld.param.u64 %a, [address];\n\tld.param.u32 %v, [value];\n"
                                     "\tst.global.u32 [%a], %v;\n\tret;\n}\n";
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};
    const pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 2};
    uint32_t value = 0x600df00d, result;
    CUdeviceptr address;
    void *arguments[] = {&address, &value};
    struct left_behind before = look();
    pool_kernel *kernel;
    char text[80];

    (void)state;
    if (!strstr(devices, "sim"))
        skip();
    for (unsigned call = 1; call <= 3; call++) /* two parameters and the end of them */
        for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
            snprintf(text, sizeof(text), "cuFuncGetParamInfo@%u=%u", call, codes[i]);
            setenv("DEVICEPOOL_SIM_FAULTS", text, 1);
            assert_ok(pool_create(&used.pool, &params));
            assert_ok(pool_device_at(used.pool, 0, &used.device));
            assert_ok(pool_module_load(used.device, two, strlen(two), &used.module));
            assert_int_not_equal(pool_kernel_get(used.module, "two", &kernel), POOL_OK);
            assert_int_equal(pool_last_error()->driver_code, codes[i]);
            assert_ok(pool_stream_create(used.device, NULL, &used.stream));
            assert_ok(pool_buffer_alloc(used.device, BYTES, &used.buffer));
            assert_ok(pool_kernel_get(used.module, "two", &kernel));
            assert_ok(pool_buffer_address(used.buffer, &address));
            result = 0;
            assert_ok(pool_launch(kernel, &shape, arguments, used.stream));
            assert_ok(pool_stream_synchronize(used.stream));
            assert_ok(pool_copy_to_host(&result, used.buffer, 0, sizeof(result), used.stream));
            assert_int_equal(result, value);
            close_pool();
            unsetenv("DEVICEPOOL_SIM_FAULTS");
        }
    assert_nothing_left(before);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_signal), cmocka_unit_test(test_code),
        cmocka_unit_test(test_mps), cmocka_unit_test(test_many_kernels),
        cmocka_unit_test(test_parameters)};
    pool_params params = {.struct_size = sizeof(params)};
    device_pool *pool = NULL;

    if (count > 1)
        devices = arguments[1];
    params.devices = devices;
    if (pool_create(&pool, &params)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    if (pool_destroy(&pool))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
