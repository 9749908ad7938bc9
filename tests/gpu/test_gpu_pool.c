/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool on real devices, all that there are: identities, links, context modes, binding from many
 * threads, a poisoned process, a forked child. Exit code 77 without a device.
 *
 * What ends a process (poison) or needs one without CUDA runs in a process of its own: the program
 * starts itself with --child.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <devicepool.h>

#include "driver/attributes.h"
#include "pool/device/device.h"
#include "support/assert.h"

#define THREADS 32
#define ROUNDS 50
#define WORDS 4096

static char program[4096];

static device_pool *make_pool(const char *devices, pool_context_mode mode, int is_lazy)
{
    pool_params params = {.struct_size = sizeof(params)};
    device_pool *pool = NULL;

    params.devices = devices;
    params.context_mode = mode;
    params.lazy = is_lazy;
    assert_ok(pool_create(&pool, &params));
    return pool;
}

static pool_device *device_of(device_pool *pool, size_t index)
{
    pool_device *device = NULL;

    assert_ok(pool_device_at(pool, index, &device));
    return device;
}

static const pool_cuda_api *cuda_of(device_pool *pool)
{
    return &device_driver(device_of(pool, 0))->api;
}

/* Whether the primary context of a device exists in this process. */
static int is_active(const pool_cuda_api *cuda, CUdevice handle)
{
    unsigned flags = 0;
    int active = -1;

    assert_int_equal(cuda->DevicePrimaryCtxGetState(handle, &flags, &active), 0);
    return active;
}

static void test_facts(void **state)
{
    device_pool *pool = make_pool("all", POOL_CONTEXT_PRIMARY, 0);
    char *text = NULL;

    (void)state;
    for (size_t i = 0; i < pool_device_count(pool); i++) {
        pool_device_info info = {.struct_size = sizeof(info)};

        assert_ok(pool_device_get_info(device_of(pool, i), &info));
        assert_int_equal(info.state, POOL_DEVICE_READY);
        assert_int_equal(strlen(info.uuid), 40);
        assert_true(!strncmp(info.uuid, "GPU-", 4) || !strncmp(info.uuid, "MIG-", 4));
        assert_int_equal(strlen(info.pci), 12);
        assert_true(strlen(info.name) > 3);
        assert_true(info.compute_major >= 7);
        assert_true(info.multiprocessors > 0 && info.clock_khz > 100000);
        assert_true(info.total_bytes > (uint64_t)1 << 30);
        assert_true(info.free_bytes > 0 && info.free_bytes < info.total_bytes);
        assert_int_equal(info.warp_size, 32);
        assert_true(info.l2_bytes > 0 && info.memory_bus_bits > 0);
        assert_true(info.shared_bytes_per_block_optin >= info.shared_bytes_per_block);
        assert_int_equal(info.has_context, 1);
        assert_true(info.numa_node >= -1);
    }
    assert_ok(pool_describe(pool, POOL_TEXT_PLAIN, &text));
    printf("%s\n", text);
    pool_text_free(&text);
    assert_ok(pool_describe(pool, POOL_TEXT_JSON, &text));
    assert_non_null(strstr(text, "\"peers\""));
    pool_text_free(&text);
    assert_ok(pool_destroy(&pool));
}

static void test_peers(void **state)
{
    device_pool *pool = make_pool("all", POOL_CONTEXT_PRIMARY, 1);
    size_t count = pool_device_count(pool);

    (void)state;
    for (size_t i = 0; i < count * count; i++) {
        pool_device *from = device_of(pool, i / count), *to = device_of(pool, i % count);
        pool_peer_info peer = {.struct_size = sizeof(peer)};
        CUdevice a = 0, b = 0;
        int can = -1;

        assert_ok(pool_device_get_peer(from, to, &peer));
        if (from == to)
            continue;
        assert_ok(pool_device_handle(from, &a));
        assert_ok(pool_device_handle(to, &b));
        assert_int_equal(cuda_of(pool)->DeviceCanAccessPeer(&can, a, b), 0);
        assert_int_equal(peer.access, can);
    }
    assert_ok(pool_destroy(&pool));
}

static void test_device_strings(void **state)
{
    device_pool *all = make_pool("all", POOL_CONTEXT_PRIMARY, 1), *one;
    pool_params params = {.struct_size = sizeof(params), .lazy = 1, .devices = "4096"};

    (void)state;
    for (size_t i = 0; i < pool_device_count(all); i++) {
        pool_device_info info = {.struct_size = sizeof(info)};
        const char *names[2] = {info.uuid, info.pci};

        assert_ok(pool_device_get_info(device_of(all, i), &info));
        for (int kind = 0; kind < (info.mig ? 1 : 2); kind++) {
            one = make_pool(names[kind], POOL_CONTEXT_PRIMARY, 1);
            assert_int_equal(pool_device_count(one), 1);
            assert_string_equal(pool_device_uuid(device_of(one, 0)), info.uuid);
            assert_ok(pool_destroy(&one));
        }
        if (!info.mig) {
            pool_device *found = NULL;

            assert_ok(pool_device_by_pci(all, info.pci, &found));
            assert_ptr_equal(found, device_of(all, i));
        }
    }
    one = NULL;
    assert_int_equal(pool_create(&one, &params), POOL_ERR_NOT_FOUND);
    params.devices = "0,0";
    assert_int_equal(pool_create(&one, &params), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_destroy(&all));
}

/* A lazy pool creates nothing before the first use, and everything it created is destroyed. */
static void test_lazy_and_release(void **state)
{
    device_pool *pool = make_pool("all", POOL_CONTEXT_PRIMARY, 1);
    const pool_cuda_api *cuda = cuda_of(pool);
    size_t count = pool_device_count(pool);
    pool_device *device = NULL;
    CUdevice handle = 0;

    (void)state;
    for (size_t i = 0; i < 2 * count; i++)
        assert_ok(pool_next_device(pool, &device));
    assert_ok(pool_best_device(pool, &device));
    for (size_t i = 0; i < count; i++) {
        assert_ok(pool_device_handle(device_of(pool, i), &handle));
        assert_int_equal(is_active(cuda, handle), 0);
    }
    assert_ok(pool_bind(device_of(pool, count - 1)));
    assert_int_equal(is_active(cuda, handle), 1);
    assert_ok(pool_unbind(device_of(pool, count - 1)));
    for (size_t i = 0; i + 1 < count; i++) {
        assert_ok(pool_device_handle(device_of(pool, i), &handle));
        assert_int_equal(is_active(cuda, handle), 0);
    }
    assert_ok(pool_destroy(&pool));

    pool = make_pool("all", POOL_CONTEXT_PRIMARY, 0);
    assert_ok(pool_destroy(&pool));
    pool = make_pool("all", POOL_CONTEXT_PRIMARY, 1);
    for (size_t i = 0; i < count; i++) {
        assert_ok(pool_device_handle(device_of(pool, i), &handle));
        assert_int_equal(is_active(cuda_of(pool), handle), 0);
    }
    assert_ok(pool_destroy(&pool));
}

/* OWN contexts are made, adopted by a second pool, and survive it. */
static void test_own_and_adopt(void **state)
{
    device_pool *own = make_pool("all", POOL_CONTEXT_OWN, 0), *adopted = NULL;
    const pool_cuda_api *cuda = cuda_of(own);
    size_t count = pool_device_count(own);
    CUcontext contexts[64], current = NULL;
    pool_params params = {.struct_size = sizeof(params), .context_mode = POOL_CONTEXT_ADOPT};

    (void)state;
    assert_int_equal(cuda->CtxGetCurrent(&current), 0);
    assert_null(current);
    for (size_t i = 0; i < count; i++)
        assert_ok(pool_device_context(device_of(own, i), &contexts[count - 1 - i]));
    params.contexts = contexts;
    params.context_count = count;
    assert_ok(pool_create(&adopted, &params));
    assert_int_equal(pool_device_count(adopted), count);
    for (size_t i = 0; i < count; i++) {
        pool_device *device = device_of(adopted, i), *bound = NULL;
        CUdevice handle = -1, expected = -2;

        assert_int_equal(pool_device_ordinal(device), (int)(count - 1 - i));
        assert_ok(pool_bind(device));
        assert_int_equal(cuda->CtxGetDevice(&handle), 0);
        assert_ok(pool_device_handle(device, &expected));
        assert_int_equal(handle, expected);
        assert_ok(pool_bound_device(own, &bound));
        assert_int_equal(pool_device_ordinal(bound), pool_device_ordinal(device));
        assert_ok(pool_check_device(adopted, pool_device_ordinal(device)));
        assert_ok(pool_unbind(device));
    }
    assert_ok(pool_destroy(&adopted));
    assert_ok(pool_bind(device_of(own, 0)));
    assert_int_equal(cuda->CtxSynchronize(), 0);
    assert_ok(pool_unbind(device_of(own, 0)));
    assert_int_equal(cuda->CtxGetCurrent(&current), 0);
    assert_null(current);
    assert_ok(pool_destroy(&own));
}

struct gang {
    device_pool *pool;
    atomic_int wrong;
    atomic_uint seen[64];
};

static int use_device(struct gang *gang, pool_device *device, uint32_t value)
{
    const pool_cuda_api *cuda = cuda_of(gang->pool);
    static _Thread_local uint32_t words[WORDS];
    pool_device *owner = NULL, *bound = NULL;
    CUdeviceptr memory = 0;
    int wrong = 0;

    if (pool_bind(device))
        return 1;
    wrong += pool_bound_device(gang->pool, &bound) != POOL_OK || bound != device;
    wrong += cuda->MemAlloc(&memory, sizeof(words)) != 0;
    wrong += pool_pointer_device(gang->pool, (void *)(uintptr_t)memory, &owner) != POOL_OK ||
             owner != device;
    wrong += cuda->MemsetD32(memory, value, WORDS) != 0;
    wrong += cuda->MemcpyDtoH(words, memory, sizeof(words)) != 0;
    for (int i = 0; i < WORDS && !wrong; i++)
        wrong += words[i] != value;
    wrong += cuda->MemFree(memory) != 0;
    wrong += pool_unbind(device) != POOL_OK;
    return wrong;
}

static void *work(void *arg)
{
    struct gang *gang = arg;
    CUcontext current = NULL;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        pool_device *device = NULL;
        pool_status status = i % 8 == 7 ? pool_best_device(gang->pool, &device)
                                        : pool_next_device(gang->pool, &device);

        if (status || use_device(gang, device, 0x9e3779b9u * (i + 1))) {
            atomic_fetch_add(&gang->wrong, 1);
            break;
        }
        if (i % 8 != 7)
            atomic_fetch_add(&gang->seen[pool_device_index(device)], 1);
    }
    if (cuda_of(gang->pool)->CtxGetCurrent(&current) || current)
        atomic_fetch_add(&gang->wrong, 1);
    return NULL;
}

static void test_many_threads(void **state)
{
    (void)state;
    for (int mode = POOL_CONTEXT_PRIMARY; mode <= POOL_CONTEXT_OWN; mode++) {
        struct gang gang = {.pool = make_pool("all", (pool_context_mode)mode, 1)};
        size_t count = pool_device_count(gang.pool);
        unsigned least = UINT32_MAX, most = 0;
        pthread_t threads[THREADS];

        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, work, &gang), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&gang.wrong), 0);
        for (size_t i = 0; i < count; i++) {
            unsigned seen = atomic_load(&gang.seen[i]);

            least = seen < least ? seen : least;
            most = seen > most ? seen : most;
        }
        assert_true(most - least <= 1);
        assert_ok(pool_destroy(&gang.pool));
    }
}

static void test_choosing(void **state)
{
    device_pool *pool = make_pool("all", POOL_CONTEXT_PRIMARY, 0);
    size_t count = pool_device_count(pool);
    const pool_cuda_api *cuda = cuda_of(pool);
    pool_device *best = NULL, *again = NULL, *found = NULL;
    pool_pick pick = {.struct_size = sizeof(pick), .policy = POOL_POLICY_LEAST_LOADED};
    CUdeviceptr memory = 0;
    int host = 0;

    (void)state;
    assert_ok(pool_best_device(pool, &best));
    /* Four GiB on the best device make another one the best, once the sample is renewed. */
    assert_ok(pool_bind(best));
    assert_int_equal(cuda->MemAlloc(&memory, (size_t)4 << 30), 0);
    usleep(50000);
    assert_ok(pool_best_device(pool, &again));
    assert_true(count == 1 || again != best);
    /* None has work. Free memory decides, and the other device was assigned a moment ago; a binding
     * is no load. */
    assert_ok(pool_pick_device(pool, &pick, &again));
    assert_true(count != 2 || again == best);
    assert_ok(pool_unbind(best));

    /* No context is current now: the questions about pointers need none. */
    assert_ok(pool_pointer_device(pool, (void *)(uintptr_t)(memory + 4096), &found));
    assert_ptr_equal(found, best);
    assert_int_equal(pool_pointer_device(pool, &host, &found), POOL_ERR_NOT_FOUND);
    assert_ok(pool_bind(best));
    assert_int_equal(cuda->MemFree(memory), 0);
    assert_ok(pool_unbind(best));
    assert_ok(pool_destroy(&pool));
}

/* A kernel that traps on the last device, and calls on the first one show it: every device of the
 * process is lost, and it is said, with the device that it was. */
static int child_poison(void)
{
    static const char ptx[] = ".version 6.3\n.target sm_70\n.address_size 64\n"
                              ".visible .entry stop()\n{\n\ttrap;\n\tret;\n}\n";
    device_pool *pool = make_pool("all", POOL_CONTEXT_PRIMARY, 0);
    size_t count = pool_device_count(pool);
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_device *device = NULL;
    pool_module *module = NULL;
    pool_kernel *kernel = NULL;
    pool_buffer *buffer = NULL;
    pool_status status = POOL_OK;

    assert_ok(pool_module_load(device_of(pool, count - 1), ptx, sizeof(ptx), &module));
    assert_ok(pool_kernel_get(module, "stop", &kernel));
    assert_ok(pool_launch(kernel, &shape, NULL, NULL));
    for (int i = 0; i < 10000 && !status; i++) {
        status = pool_buffer_alloc(device_of(pool, 0), 4096, &buffer);
        if (!status)
            status = pool_buffer_destroy(&buffer);
        usleep(1000);
    }
    assert_int_equal(status, POOL_ERR_PROCESS_POISONED);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pool_bind(device_of(pool, i)), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_next_device(pool, &device), POOL_ERR_PROCESS_POISONED);
    assert_ok(pool_get_health(pool, &health));
    assert_int_equal(health.harmed, POOL_CLASS_PROCESS);
    assert_int_equal(health.usable_devices, 0);
    printf("first cause: %s\n", health.first_cause);
    assert_int_equal(health.fault_device, count - 1);
    assert_int_equal(health.fault_shown_on, 0);
    assert_non_null(strstr(health.first_cause, pool_device_uuid(device_of(pool, count - 1))));
    assert_non_null(strstr(health.first_cause, "stop"));
    pool_module_destroy(&module);
    assert_ok(pool_destroy(&pool));
    return 0;
}

static void run_poison(void **state)
{
    (void)state;
    child_poison();
}

static void test_poisoned_process(void **state)
{
    char command[4200];

    (void)state;
    snprintf(command, sizeof(command), "'%s' --child", program);
    fflush(stdout);
    assert_int_equal(system(command), 0);
}

static void test_fork(void **state)
{
    device_pool *pool = make_pool("all", POOL_CONTEXT_PRIMARY, 0);
    int status = -1;
    pid_t child;

    (void)state;
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pool_params params = {.struct_size = sizeof(params)};
        pool_device *device = NULL;
        device_pool *second = NULL;
        int wrong = pool_next_device(pool, &device) != POOL_ERR_FORKED;

        wrong += pool_device_at(pool, 0, &device) != POOL_OK;
        wrong += pool_bind(device) != POOL_ERR_FORKED;
        wrong += pool_create(&second, &params) != POOL_ERR_FORKED;
        wrong += pool_destroy(&pool) != POOL_OK;
        _exit(wrong);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_ok(pool_bind(device_of(pool, 0)));
    assert_int_equal(cuda_of(pool)->CtxSynchronize(), 0);
    assert_ok(pool_unbind(device_of(pool, 0)));
    assert_ok(pool_destroy(&pool));
}

static int has_device(void)
{
    pool_params params = {.struct_size = sizeof(params), .lazy = 1};
    device_pool *pool = NULL;
    pool_status status = pool_create(&pool, &params);

    if (status == POOL_ERR_NO_DRIVER || status == POOL_ERR_NO_DEVICE) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 0;
    }
    pool_destroy(&pool);
    return 1;
}

/* No other test leaves a primary context active. */
static void test_primary_flags(void **state)
{
    pool_params params = {
        .struct_size = sizeof(params), .context_flags = DRIVER_CTX_SCHED_BLOCKING_SYNC};
    device_pool *pool = NULL, *second = NULL;
    unsigned flags = 0;

    (void)state;
    assert_ok(pool_create(&pool, &params));
    for (size_t i = 0; i < pool_device_count(pool); i++) {
        assert_ok(pool_bind(device_of(pool, i)));
        assert_int_equal(cuda_of(pool)->CtxGetFlags(&flags), 0);
        assert_int_equal(flags & DRIVER_CTX_SCHED_MASK, DRIVER_CTX_SCHED_BLOCKING_SYNC);
        assert_ok(pool_unbind(device_of(pool, i)));
    }
    assert_ok(pool_create(&second, &params));
    assert_ok(pool_destroy(&second));
    params.context_flags = DRIVER_CTX_SCHED_SPIN;
    assert_status(pool_create(&second, &params), POOL_ERR_BUSY);
    assert_says("`context_flags`");
    assert_ok(pool_destroy(&pool));
}

int main(int count, char **arguments)
{
    const struct CMUnitTest child_tests[] = {cmocka_unit_test(run_poison)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_device_strings),
        cmocka_unit_test(test_lazy_and_release),
        cmocka_unit_test(test_primary_flags),
        cmocka_unit_test(test_own_and_adopt),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_choosing),
        cmocka_unit_test(test_poisoned_process),
        cmocka_unit_test(test_fork),
    };

    unsetenv("DEVICEPOOL_DEVICES");
    if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
        return 99;
    if (count > 1 && !strcmp(arguments[1], "--child"))
        return cmocka_run_group_tests_name("poisoned process", child_tests, NULL, NULL);
    if (!has_device())
        return 77;
    return cmocka_run_group_tests_name("pool on GPUs", tests, NULL, NULL);
}
