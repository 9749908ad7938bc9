/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU in two parts: which multiprocessors run what, one memory, one loaded code, one copy of what
 * stays resident, leases.
 *
 *   test_parts [DEVICES]     a device string with the parts, of 16 multiprocessors and the rest
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <devicepool.h>

#include "driver/worker/worker.h"

#include "pool/device/pool.h"
#include "support/assert.h"

enum { PARTS = 2, FIRST = 16, BLOCKS = 2000, MOST_MULTIPROCESSORS = 1024 };

static const char *devices = "sim:1,sms=132,mem=256M/16+116";
static device_pool *pool;
static pool_device *part[PARTS];
static uint32_t total; /* multiprocessors */

static int open_pool(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    pool_device_info info = {.struct_size = sizeof(info)};

    (void)state;
    total = 0;
    if (pool_status_class(pool_create(&pool, &params)) == POOL_CLASS_HOST) {
        printf("skipped: %s\n", pool_last_error()->message);
        exit(77);
    }
    assert_non_null(pool);
    assert_int_equal(pool_device_count(pool), PARTS);
    for (size_t i = 0; i < PARTS; i++) {
        assert_ok(pool_device_at(pool, i, &part[i]));
        assert_ok(pool_device_get_info(part[i], &info));
        assert_true(i || info.multiprocessors == FIRST);
        total += (uint32_t)info.multiprocessors;
    }
    return 0;
}

static int close_pool(void **state)
{
    (void)state;
    assert_ok(pool_destroy(&pool));
    return 0;
}

static bool is_isolated(void)
{
    return strncmp(devices, "workers:", 8) == 0;
}

/* ---- multiprocessors ------------------------------------------------------------------------- */

/* Each block stores its multiprocessor, and takes some time, so that blocks spread. */
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry where(.param .u64 to) {\n"
    ".reg .b64 a, o; .reg .b32 s, b, n; .reg .pred p;\n"
    "ld.param.u64 a, [to]; mov.u32 s, %smid; mov.u32 b, %ctaid.x; mul.wide.u32 o, b, 4;\n"
    "add.u64 a, a, o; mov.u32 n, 64;\n"
    "again: sub.u32 n, n, 1; setp.ne.u32 p, n, 0; @p bra again;\n"
    "st.global.u32 [a], s; ret; }\n";

struct seen {
    bool is_used[MOST_MULTIPROCESSORS];
    uint32_t count;
};

/* What the kernel has stored since the buffer was filled with ones. */
static struct seen read_seen(pool_buffer *buffer)
{
    static uint32_t on[BLOCKS];
    struct seen seen = {.count = 0};

    assert_ok(pool_copy_to_host(on, buffer, 0, sizeof(on), NULL));
    for (uint32_t i = 0; i < BLOCKS; i++) {
        assert_true(on[i] < MOST_MULTIPROCESSORS);
        seen.count += !seen.is_used[on[i]];
        seen.is_used[on[i]] = true;
    }
    return seen;
}

static void check_apart(const struct seen seen[PARTS])
{
    assert_true(seen[0].count <= FIRST);
    assert_true(seen[1].count <= total - FIRST);
    assert_true(seen[0].count > FIRST / 2);
    for (uint32_t i = 0; i < MOST_MULTIPROCESSORS; i++)
        assert_false(seen[0].is_used[i] && seen[1].is_used[i]);
}

static void launch(pool_kernel *kernel, pool_buffer *buffer, pool_stream *stream)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {BLOCKS, 1, 1},
        .block = {32, 1, 1},
        .argument_count = 1};
    CUdeviceptr address = 0;
    void *arguments[] = {&address};

    assert_ok(pool_buffer_address(buffer, &address));
    assert_ok(pool_launch(kernel, &shape, arguments, stream));
}

enum way {
    WAY_NULL,    /* no stream, with a module of the part */
    WAY_DEFAULT, /* the object of the default stream */
    WAY_CREATED,
    WAY_URGENT,
    WAY_LEASE,
    WAY_ADOPTED,
    WAY_CAPTURED,
    WAYS
};

static pool_stream *stream_of(enum way way, pool_device *device, pool_lease **lease, CUstream *raw)
{
    pool_stream_params params = {.struct_size = sizeof(params)};
    pool_request request = {.struct_size = sizeof(request), .device = device};
    pool_stream *stream = NULL;
    int32_t least, urgent = 0;

    switch (way) {
    case WAY_NULL:
        break;
    case WAY_DEFAULT:
        assert_ok(pool_stream_default(device, &stream));
        break;
    case WAY_LEASE:
        assert_ok(pool_acquire(pool, &request, lease));
        assert_ok(pool_lease_stream(*lease, 0, &stream));
        break;
    case WAY_ADOPTED:
        assert_ok(pool_bind(device));
        assert_int_equal(device_driver(device)->api.StreamCreateWithPriority(raw, 1, 0), 0);
        assert_ok(pool_unbind(device));
        assert_ok(pool_stream_adopt(device, *raw, &stream));
        break;
    default:
        assert_ok(pool_stream_get_priority_range(device, &least, &urgent));
        params.priority = way == WAY_URGENT ? urgent : 0;
        assert_ok(pool_stream_create(device, &params, &stream));
    }
    return stream;
}

static void run_captured(pool_kernel *kernel, pool_buffer *buffer, pool_stream *stream)
{
    pool_graph *graph = NULL;

    assert_ok(pool_stream_begin_capture(stream));
    launch(kernel, buffer, stream);
    assert_ok(pool_stream_end_capture(stream, &graph));
    assert_ok(pool_graph_launch(graph, stream));
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_graph_destroy(&graph));
}

static struct seen run_way(enum way way, pool_kernel *kernel, pool_device *device)
{
    pool_buffer *buffer = NULL;
    pool_lease *lease = NULL;
    CUstream raw = NULL;
    pool_stream *stream = stream_of(way, device, &lease, &raw);
    struct seen seen;

    assert_ok(pool_buffer_alloc(device, BLOCKS * sizeof(uint32_t), &buffer));
    assert_ok(pool_buffer_fill8(buffer, 0, BLOCKS * sizeof(uint32_t), 0xff, NULL));
    if (way == WAY_CAPTURED)
        run_captured(kernel, buffer, stream);
    else
        launch(kernel, buffer, stream);
    assert_ok(pool_device_synchronize(device));
    seen = read_seen(buffer);
    assert_ok(pool_buffer_destroy(&buffer));
    if (lease)
        assert_ok(pool_release(&lease));
    else if (stream && way != WAY_DEFAULT)
        assert_ok(pool_stream_destroy(&stream));
    if (raw) {
        assert_ok(pool_bind(device));
        assert_int_equal(device_driver(device)->api.StreamDestroy(raw), 0);
        assert_ok(pool_unbind(device));
    }
    return seen;
}

/* No block leaves its part, whatever it was launched by. */
static void test_multiprocessors(void **state)
{
    struct seen seen[PARTS];

    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        if (way == WAY_ADOPTED && is_isolated()) /* has no raw handles */
            continue;
        for (size_t i = 0; i < PARTS; i++) {
            pool_module *module = NULL;
            pool_kernel *kernel = NULL;

            assert_ok(pool_module_load(part[i], ptx, sizeof(ptx), &module));
            assert_ok(pool_kernel_get(module, "where", &kernel));
            seen[i] = run_way(way, kernel, part[i]);
            assert_ok(pool_module_destroy(&module));
        }
        check_apart(seen);
    }
}

/* The driver orders no stream of a part with the default stream, so none is created as if. */
static void test_blocking(void **state)
{
    const pool_stream_params params = {
        .struct_size = sizeof(params), .flags = POOL_STREAM_BLOCKING};
    pool_stream *stream = NULL;
    uint32_t flags = POOL_STREAM_BLOCKING;

    (void)state;
    assert_status(pool_stream_create(part[1], &params, &stream), POOL_ERR_UNSUPPORTED);
    assert_says("pool_stream_wait_event");
    assert_null(stream);
    assert_ok(pool_stream_default(part[1], &stream));
    assert_ok(pool_stream_get_flags(stream, &flags));
    assert_int_equal(flags, 0);
}

/* Code that was loaded for one part is launched in the other. */
static void test_code_of_the_gpu(void **state)
{
    pool_module *module = NULL;
    pool_kernel *kernel = NULL;
    struct seen seen[PARTS];

    (void)state;
    assert_ok(pool_module_load(part[1], ptx, sizeof(ptx), &module));
    assert_ok(pool_kernel_get(module, "where", &kernel));
    for (size_t i = 0; i < PARTS; i++)
        seen[i] = run_way(i ? WAY_DEFAULT : WAY_CREATED, kernel, part[i]);
    check_apart(seen);
    for (size_t i = 0; i < PARTS; i++)
        seen[i] = run_way(i ? WAY_CAPTURED : WAY_DEFAULT, kernel, part[i]);
    check_apart(seen);
    assert_ok(pool_module_destroy(&module));
}

/* A graph runs on the multiprocessors of its capture; streams of other parts are refused. */
static void test_graphs(void **state)
{
    pool_module *module = NULL;
    pool_kernel *kernel = NULL;
    pool_buffer *buffer = NULL;
    pool_stream *streams[PARTS];
    pool_event *event = NULL;
    pool_graph *graph = NULL;

    (void)state;
    assert_ok(pool_module_load(part[0], ptx, sizeof(ptx), &module));
    assert_ok(pool_kernel_get(module, "where", &kernel));
    assert_ok(pool_buffer_alloc(part[0], BLOCKS * sizeof(uint32_t), &buffer));
    assert_ok(pool_event_create(part[0], 0, &event));
    for (size_t i = 0; i < PARTS; i++)
        assert_ok(pool_stream_create(part[i], NULL, &streams[i]));
    assert_ok(pool_stream_begin_capture(streams[0]));
    launch(kernel, buffer, streams[0]);
    assert_ok(pool_event_record(event, streams[0]));
    assert_status(pool_stream_wait_event(streams[1], event), POOL_ERR_UNSUPPORTED);
    assert_says("only streams of the same device");
    assert_ok(pool_stream_end_capture(streams[0], &graph));

    assert_status(pool_graph_launch(graph, streams[1]), POOL_ERR_WRONG_DEVICE);
    assert_says(
        "the stream belongs to device 0, part 1 of 2, the work is for device 0, part 0 of 2");
    assert_ok(pool_stream_begin_capture(streams[1]));
    launch(kernel, buffer, streams[1]);
    assert_status(pool_graph_update(graph, streams[1]), POOL_ERR_WRONG_DEVICE);
    assert_says("belongs to device 0, part 1 of 2, the graph to device 0, part 0 of 2");
    assert_ok(pool_stream_end_capture(streams[1], NULL));

    assert_ok(pool_graph_launch(graph, streams[0]));
    assert_ok(pool_stream_synchronize(streams[0]));
    assert_ok(pool_graph_destroy(&graph));
    assert_ok(pool_event_destroy(&event));
    for (size_t i = 0; i < PARTS; i++)
        assert_ok(pool_stream_destroy(&streams[i]));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_module_destroy(&module));
}

/* Green contexts of the caller's are parts, too. */
static void test_adopted(void **state)
{
    const pool_cuda_api *cu = &device_driver(part[0])->api;
    pool_cu_dev_resource all, groups[PARTS];
    CUdevResourceDesc desc = NULL;
    CUgreenCtx green[PARTS];
    CUcontext contexts[PARTS];
    unsigned count = PARTS;
    pool_params params = {.struct_size = sizeof(params),
        .context_mode = POOL_CONTEXT_ADOPT,
        .contexts = contexts,
        .context_count = PARTS};
    char whole[64] = "";
    device_pool *adopting = NULL;
    pool_buffer *buffer = NULL;
    pool_device *device[PARTS];
    struct seen seen[PARTS];

    (void)state;
    if (is_isolated())
        skip();
    assert_int_equal(cu->DeviceGetDevResource(0, &all, 1), 0);
    assert_int_equal(cu->DevSmResourceSplitByCount(groups, &count, &all, NULL, 0, FIRST), 0);
    for (size_t i = 0; i < PARTS; i++) {
        assert_int_equal(cu->DevResourceGenerateDesc(&desc, &groups[i], 1), 0);
        assert_int_equal(cu->GreenCtxCreate(&green[i], desc, 0, 1), 0);
        assert_int_equal(cu->CtxFromGreenCtx(&contexts[i], green[i]), 0);
    }
    if (strncmp(devices, "sim", 3) == 0) {
        snprintf(whole, sizeof(whole), "%.*s", (int)strcspn(devices, "/"), devices);
        params.devices = whole;
    }
    assert_ok(pool_create(&adopting, &params));
    assert_int_equal(pool_device_count(adopting), PARTS);
    for (size_t i = 0; i < PARTS; i++) {
        pool_module *module = NULL;
        pool_kernel *kernel = NULL;

        assert_ok(pool_device_at(adopting, i, &device[i]));
        assert_ok(pool_module_load(device[i], ptx, sizeof(ptx), &module));
        assert_ok(pool_kernel_get(module, "where", &kernel));
        for (enum way way = WAY_NULL; way <= WAY_CREATED; way++) {
            seen[i] = run_way(way, kernel, device[i]);
            assert_between(seen[i].count, FIRST / 2, FIRST);
        }
        assert_ok(pool_module_destroy(&module));
    }
    for (size_t i = 0; i < MOST_MULTIPROCESSORS; i++)
        assert_false(seen[0].is_used[i] && seen[1].is_used[i]);
    assert_ok(pool_buffer_alloc(device[0], 4096, &buffer)); /* one memory */
    assert_ok(pool_buffer_fill8(buffer, 0, 4096, 1, NULL));
    assert_ok(pool_buffer_destroy(&buffer));

    /* The end of one is noticed, and the GPU is not used any more. */
    assert_int_equal(cu->GreenCtxDestroy(green[1]), 0);
    assert_status(pool_buffer_alloc(device[1], 4096, &buffer), POOL_ERR_DEVICE_LOST);
    assert_says("was destroyed");
    assert_status(pool_buffer_alloc(device[0], 4096, &buffer), POOL_ERR_DEVICE_LOST);
    assert_ok(pool_destroy(&adopting));
    assert_int_equal(cu->GreenCtxDestroy(green[0]), 0);
}

/* The probe runs on the multiprocessors of the part, whose results it reads. */
static void test_probe(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++)
        for (size_t i = 0; i < PARTS; i++)
            assert_ok(pool_device_probe(part[i], UINT64_C(60000000000)));
}

/* ---- what the parts have in common ------------------------------------------------------------
 */

struct residents {
    unsigned modules, domains, bases;
};

static void count_resident(void *user, const struct device_resident *resident)
{
    struct residents *residents = user;

    residents->modules += strcmp(resident->kind, "module") == 0;
    residents->domains += strcmp(resident->kind, "domain") == 0;
    residents->bases += strcmp(resident->kind, "bases") == 0;
}

static struct residents residents_of_all(void)
{
    struct residents residents = {0};

    for (size_t i = 0; i < PARTS; i++)
        device_each_resident(part[i], count_resident, &residents);
    return residents;
}

enum { LOG_SIZE = 10 };

static void transform(pool_ntt_domain *domain, pool_device *device, uint32_t *values)
{
    const pool_ntt_params params = {.struct_size = sizeof(params), .domain = domain};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_span span = {.data = values, .count = 1 << LOG_SIZE};

    assert_ok(pool_ntt(&params, &exec, &span, &span));
}

/* The same results; tables and code are there once. */
static void test_operation(void **state)
{
    static uint32_t values[PARTS][1 << LOG_SIZE];
    const pool_ntt_domain_params params = {.struct_size = sizeof(params),
        .field = pool_field_by_name("babybear"),
        .log_size = LOG_SIZE};
    pool_ntt_domain *domain = NULL;
    struct residents before, after;

    (void)state;
    for (size_t i = 0; i < PARTS; i++)
        for (uint32_t k = 0; k < 1 << LOG_SIZE; k++)
            values[i][k] = k * k + 1;
    assert_ok(pool_ntt_domain_create(&params, &domain));
    transform(domain, part[0], values[0]);
    before = residents_of_all();
    assert_true(before.domains > 0 && before.modules > 0);
    transform(domain, part[1], values[1]);
    after = residents_of_all();
    assert_memory_equal(values[0], values[1], sizeof(values[0]));
    assert_int_equal(after.domains, before.domains);
    assert_int_equal(after.modules, before.modules);
    assert_ok(pool_ntt_domain_destroy(&domain));
}

static pool_status make_copy(void *user, const pool_exec *exec, pool_buffer **buffer)
{
    (*(int *)user)++;
    return pool_buffer_zeroed(exec->device, 1 << 20, buffer);
}

/* One object serves both parts. */
static void test_resident(void **state)
{
    int loads = 0;
    const pool_resident_params params = {.struct_size = sizeof(params),
        .name = "object",
        .source = make_copy,
        .user = &loads,
        .bytes = 1 << 20};
    pool_resident_info info = {.struct_size = sizeof(info)};
    pool_resident *resident = NULL;
    pool_buffer *buffers[PARTS] = {NULL};

    (void)state;
    assert_ok(pool_resident_create(pool, &params, &resident));
    for (size_t i = PARTS; i-- > 0;) {
        const pool_exec exec = {.struct_size = sizeof(exec), .device = part[i]};
        pool_resident_use *use = NULL;

        assert_ok(pool_resident_open(resident, &exec, &use));
        buffers[i] = pool_resident_buffer(use);
        assert_ok(pool_resident_close(&use));
        assert_ok(pool_resident_get_info(resident, part[i], &info));
        assert_int_equal(info.loads, 1);
        assert_int_equal(info.is_resident, 1);
    }
    assert_int_equal(loads, 1);
    assert_ptr_equal(buffers[0], buffers[1]);
    assert_ok(pool_resident_evict(resident, part[0]));
    assert_ok(pool_resident_get_info(resident, part[1], &info));
    assert_int_equal(info.is_resident, 0);
    assert_ok(pool_resident_destroy(&resident));
}

/* What one part frees without an order may be in use by the other. */
static void test_freed_beside_work(void **state)
{
    pool_module *module = NULL;
    pool_kernel *kernel = NULL;
    pool_stream *stream = NULL;

    (void)state;
    assert_ok(pool_module_load(part[0], ptx, sizeof(ptx), &module));
    assert_ok(pool_kernel_get(module, "where", &kernel));
    assert_ok(pool_stream_create(part[1], NULL, &stream));
    for (int round = 0; round < 20; round++) {
        pool_buffer *buffers[2] = {NULL, NULL};
        uint32_t on[4];

        for (int i = 0; i < 2; i++) {
            assert_ok(pool_buffer_alloc(part[0], BLOCKS * sizeof(uint32_t), &buffers[i]));
            launch(kernel, buffers[i], stream);
            if (i == 0) /* waits for the launch although the stream is of the other part */
                assert_ok(pool_buffer_destroy(&buffers[i]));
        }
        assert_ok(pool_stream_synchronize(stream));
        assert_ok(pool_copy_to_host(on, buffers[1], 0, sizeof(on), stream));
        assert_ok(pool_stream_synchronize(stream));
        assert_true(on[0] < MOST_MULTIPROCESSORS);
        assert_ok(pool_buffer_destroy(&buffers[1]));
    }
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_module_destroy(&module));
}

/* ---- leases -----------------------------------------------------------------------------------
 */

/* Few bytes: a free is complete only when the driver has come to it, and more threads than this
 * would wait for the memory of each other's frees. */
enum { THREADS = 6, ROUNDS = 150, LEASED_BYTES = 4096 };

static atomic_uint_least64_t reserved; /* by the leases of this test */
static atomic_uint_least64_t most_reserved;
static atomic_int slots[PARTS];
static uint64_t capacity;

static void raise_most(atomic_uint_least64_t *most, uint64_t value)
{
    uint64_t before = atomic_load(most);

    while (before < value && !atomic_compare_exchange_weak(most, &before, value))
        ;
}

static double any_score(void *user, const pool_candidate *candidate)
{
    (void)user;
    return (double)(candidate->free_bytes % 7);
}

/* With what the thread's last call has reported; of the first thread that fails. */
static char *describe(const char *failure)
{
    static char text[2048];
    static atomic_int is_first = 1;

    if (atomic_exchange(&is_first, 0))
        snprintf(text, sizeof(text), "%s: %s", failure, pool_last_error()->message);
    return text;
}

/* With every policy, on either part, on both, and on a given one. */
static void *take_leases(void *user)
{
    unsigned seed = (unsigned)(uintptr_t)user;

    for (int round = 0; round < ROUNDS; round++) {
        pool_pick pick = {.struct_size = sizeof(pick),
            .policy = (pool_policy)(rand_r(&seed) % (POOL_POLICY_SCORE + 1)),
            .score = any_score};
        pool_request request = {.struct_size = sizeof(request), .pick = &pick};
        uint32_t on = 1 + (uint32_t)rand_r(&seed) % PARTS;
        pool_lease *lease = NULL;

        request.devices = on;
        request.bytes = capacity / on / 100 * (20 + (uint64_t)rand_r(&seed) % 60);
        if (on == 1 && rand_r(&seed) % 4 == 0) {
            request.device = part[rand_r(&seed) % PARTS];
            request.pick = NULL;
        }
        request.timeout_ns = 60 * UINT64_C(1000000000);
        if (pool_acquire(pool, &request, &lease))
            return describe("a lease was refused");
        raise_most(
            &most_reserved, atomic_fetch_add(&reserved, on * request.bytes) + on * request.bytes);
        for (uint32_t i = 0; i < on; i++) {
            pool_device *device = NULL;
            pool_buffer *buffer = NULL;
            pool_buffer_params params = {
                .struct_size = sizeof(params), .bytes = LEASED_BYTES, .lease = lease};
            int now;

            if (pool_lease_device(lease, i, &device) ||
                pool_buffer_create(device, &params, &buffer) || pool_buffer_destroy(&buffer))
                return describe("what a lease has reserved is not there");
            now = atomic_fetch_add(&slots[pool_device_index(device)], 1) + 1;
            if (now > 4)
                return describe("a part has more leases than slots");
            atomic_fetch_sub(&slots[pool_device_index(device)], 1);
        }
        atomic_fetch_sub(&reserved, on * request.bytes);
        if (pool_release(&lease))
            return describe("a lease was not released");
    }
    return NULL;
}

/* Never more than the GPU has. */
static void test_leases(void **state)
{
    pool_memory_info memory = {.struct_size = sizeof(memory)};
    pthread_t threads[THREADS];

    (void)state;
    assert_ok(pool_memory_trim(part[0], 0));
    assert_ok(pool_memory_get_info(part[1], &memory));
    capacity = memory.available_bytes / 100 * 90; /* samples of the free memory differ a little */
    assert_true(capacity > 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_leases, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failure = NULL;

        pthread_join(threads[i], &failure);
        if (failure)
            fail_msg("%s", (const char *)failure);
    }
    assert_true(most_reserved > 0);
    assert_true(most_reserved <= memory.available_bytes);
    assert_ok(pool_memory_get_info(part[0], &memory));
    assert_int_equal(memory.lease_reserved_bytes, 0);
}

/* Slots are those of a part, bytes those of the GPU. */
static void test_two_leases(void **state)
{
    pool_memory_info memory = {.struct_size = sizeof(memory)};
    pool_request request = {.struct_size = sizeof(request)};
    pool_lease *leases[PARTS] = {NULL}, *third = NULL;

    (void)state;
    assert_ok(pool_memory_get_info(part[0], &memory));
    request.bytes = memory.available_bytes / 10 * 6;
    request.device = part[0];
    request.slots = 4; /* all */
    assert_ok(pool_acquire(pool, &request, &leases[0]));
    request.device = part[1];
    assert_int_equal(pool_acquire(pool, &request, &third), POOL_ERR_TIMEOUT);
    request.bytes /= 2;
    assert_ok(pool_acquire(pool, &request, &leases[1]));
    assert_ok(pool_memory_get_info(part[1], &memory));
    assert_int_equal(memory.lease_reserved_bytes, request.bytes * 3);
    assert_int_equal(memory.leases, 1);
    for (size_t i = 0; i < PARTS; i++)
        assert_ok(pool_release(&leases[i]));
}

/* ---- workers ----------------------------------------------------------------------------------
 */

static void wait_for_usable(size_t count)
{
    for (int i = 0; i < 6000 && pool_usable_count(pool) != count; i++)
        usleep(5000);
    for (size_t i = 0; i < PARTS && pool_usable_count(pool) != count; i++)
        fprintf(stderr, "part %zu: %s\n", i, device_reason(part[i]).text);
    assert_int_equal(pool_usable_count(pool), count);
}

/* One process owns all parts, which are lost and come back with it. */
static void test_worker_ends(void **state)
{
    pool_buffer *buffers[PARTS] = {NULL};
    struct worker_status worker;
    CUdeviceptr address;

    (void)state;
    if (!is_isolated())
        skip();
    for (size_t i = 0; i < PARTS; i++)
        assert_ok(pool_buffer_alloc(part[i], 1 << 20, &buffers[i]));
    assert_ok(pool_bind(part[1])); /* keeps the GPU from coming back */
    assert_true(worker_get_status(pool_device_ordinal(part[0]), &worker));
    assert_int_equal(kill(worker.pid, SIGKILL), 0);
    wait_for_usable(0);
    for (size_t i = 0; i < PARTS; i++)
        assert_int_equal(pool_buffer_fill8(buffers[i], 0, 1, 1, NULL), POOL_ERR_DEVICE_LOST);
    (void)pool_unbind(part[1]);
    wait_for_usable(PARTS);
    for (size_t i = 0; i < PARTS; i++) {
        assert_int_equal(pool_buffer_address(buffers[i], &address), POOL_ERR_DEVICE_LOST);
        assert_ok(pool_buffer_destroy(&buffers[i]));
    }
    test_multiprocessors(state);
    test_operation(state);
}

/* ---- default streams ------------------------------------------------------------------------- */

/* NULL is the default stream of the context that is current, and the threads that help with copies,
 * and memory, are those of the GPU. */
static void test_default_streams(void **state)
{
    enum { WORDS = 2 << 20, ROUNDS = 6 };
    const uint64_t bytes = WORDS * sizeof(uint32_t);
    uint32_t *host = malloc((size_t)bytes);
    CUstream handle[PARTS] = {NULL};

    (void)state;
    assert_non_null(host);
    for (int i = 0; i < PARTS; i++) {
        pool_stream *stream;

        assert_ok(pool_stream_default(part[i], &stream));
        if (is_isolated()) /* handles are the worker's */
            continue;
        assert_ok(pool_stream_handle(stream, &handle[i]));
        assert_non_null(handle[i]);
    }
    assert_true(is_isolated() || handle[0] != handle[1]);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        pool_buffer *buffer[PARTS];

        for (int i = 0; i < PARTS; i++) {
            assert_ok(pool_buffer_alloc(part[i], bytes, &buffer[i]));
            assert_ok(pool_buffer_fill32(buffer[i], 0, WORDS, round * PARTS + (uint32_t)i, NULL));
        }
        for (int i = 0; i < PARTS; i++) { /* staged by several threads, behind the fill */
            assert_ok(pool_copy_to_host(host, buffer[i], 0, bytes, NULL));
            for (uint32_t k = 0; k < WORDS; k++)
                if (host[k] != round * PARTS + (uint32_t)i)
                    fail_msg("round %u, part %d: %u at %u", round, i, host[k], k);
        }
        for (int i = 0; i < PARTS; i++) { /* after the fill of its own part */
            assert_ok(pool_buffer_fill32(buffer[i], 0, WORDS, UINT32_MAX, NULL));
            assert_ok(pool_buffer_destroy_on(&buffer[i], NULL));
        }
    }
    free(host);
}

/* Stores a number after a while. */
static const char late_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry late(.param .u64 to, .param .u32 number) {\n"
    ".reg .b64 a; .reg .b32 s, n; .reg .pred p;\n"
    "ld.param.u64 a, [to]; ld.param.u32 s, [number]; mov.u32 n, 500000;\n"
    "again: sub.u32 n, n, 1; setp.ne.u32 p, n, 0; @p bra again;\n"
    "st.global.u32 [a], s; ret; }\n";

/* Buffers, and buffers of ranges, are of the part that they were created for: a copy without a
 * stream is behind a kernel without a stream there. */
static void test_buffers_of_the_part(void **state)
{
    (void)state;
    for (size_t i = 0; i < PARTS; i++) {
        pool_module *module = NULL;
        pool_kernel *kernel = NULL;
        pool_buffer *buffer = NULL, *slice = NULL;
        pool_stream *stream = NULL;

        assert_ok(pool_stream_default(part[i], &stream));
        assert_ok(pool_module_load(part[i], late_ptx, sizeof(late_ptx), &module));
        assert_ok(pool_kernel_get(module, "late", &kernel));
        assert_ok(pool_buffer_alloc(part[i], 64, &buffer));
        assert_ptr_equal(pool_buffer_device(buffer), part[i]);
        assert_ok(pool_buffer_slice(buffer, 16, 4, &slice));
        assert_ptr_equal(pool_buffer_device(slice), part[i]);
        for (uint32_t number = 1; number < 10; number++) {
            const pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 2};
            uint32_t zero = 0, got = 0;
            CUdeviceptr address = 0;
            void *arguments[] = {&address, &number};

            assert_ok(pool_buffer_address(slice, &address));
            assert_ok(pool_copy_to_device(slice, 0, &zero, sizeof(zero), NULL));
            assert_ok(pool_launch(kernel, &shape, arguments, NULL));
            assert_ok(pool_copy_to_host(&got, slice, 0, sizeof(got), NULL));
            assert_int_equal(got, number);
            /* Fills and copies without a stream have ended when they return. */
            assert_ok(pool_launch(kernel, &shape, arguments, NULL));
            if (number % 2)
                assert_ok(pool_buffer_fill32(buffer, 0, 1, number, NULL));
            else
                assert_ok(pool_copy_device(buffer, 0, buffer, 32, 4, NULL));
            assert_ok(pool_stream_query(stream));
        }
        assert_ok(pool_buffer_destroy(&slice));
        assert_ok(pool_buffer_destroy(&buffer));
        assert_ok(pool_module_destroy(&module));
    }
}

static void test_ranges_of_the_part(void **state)
{
    (void)state;
    for (size_t i = 0; i < PARTS; i++) {
        pool_physical *physical = NULL;
        pool_range *range = NULL;
        pool_buffer *buffer = NULL;
        uint64_t bytes = 2 << 20;
        pool_status status = pool_range_reserve(part[i], bytes, &range);

        if (pool_status_class(status) == POOL_CLASS_HOST || status == POOL_ERR_UNSUPPORTED)
            skip();
        assert_ok(status);
        assert_ptr_equal(pool_range_device(range), part[i]);
        assert_ok(pool_physical_create(part[i], bytes, 0, &physical));
        assert_ok(pool_range_map(range, 0, physical));
        assert_ok(pool_range_buffer(range, 0, bytes, &buffer));
        assert_ptr_equal(pool_buffer_device(buffer), part[i]);
        assert_ok(pool_buffer_fill32(buffer, 0, 4, 7, NULL));
        assert_ok(pool_buffer_destroy(&buffer));
        assert_ok(pool_range_unmap(range, 0, bytes));
        assert_ok(pool_physical_destroy(&physical));
        assert_ok(pool_range_destroy(&range));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiprocessors),
        cmocka_unit_test(test_blocking),
        cmocka_unit_test(test_default_streams),
        cmocka_unit_test(test_buffers_of_the_part),
        cmocka_unit_test(test_ranges_of_the_part),
        cmocka_unit_test(test_code_of_the_gpu),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_adopted),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_operation),
        cmocka_unit_test(test_resident),
        cmocka_unit_test(test_freed_beside_work),
        cmocka_unit_test(test_two_leases),
        cmocka_unit_test(test_leases),
        cmocka_unit_test(test_worker_ends),
    };

    devices = argc > 1 ? argv[1] : devices;
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
