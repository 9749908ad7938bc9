/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's execution of messages on simulated devices: random ones, cut and changed ones, and
 * stale or made-up handles. Nothing that a client sends may make the worker read or write outside
 * of the message, the arena and the stage; sanitizers watch.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "driver/attributes.h"
#include "driver/sim/table/sim.h"
#include "support/assert.h"
#include "support/random.h"
#include "driver/worker/server/server.h"

enum { ARENA_BYTES = 1 << 20, ROUNDS = 60000 };

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 to, .param .u32 n)\n"
    "{ .reg .b64 a; .reg .b32 b, c; ld.param.u64 a, [to]; ld.param.u32 b, [n];"
    " atom.global.add.u32 c, [a], b; ret; }\n";

static struct server server;
static _Thread_local struct server_thread thread;
static _Thread_local struct worker_reply reply;

union message {
    struct worker_header header;
    uint64_t words[WORKER_MESSAGE_BYTES / 8];
};

static void open_thread(void)
{
    thread = (struct server_thread){.server = &server, .stage = calloc(1, WORKER_STAGE_BYTES)};
}

static int open_server(void **state)
{
    const pool_cuda_api *api;

    (void)state;
    if (sim_open("sim:1,mem=64M", &api) || api->Init(0))
        return 1;
    server_init(&server, api, 0);
    server.arena = calloc(1, ARENA_BYTES);
    server.arena_bytes = ARENA_BYTES;
    open_thread();
    return 0;
}

static int close_server(void **state)
{
    (void)state;
    server_free(&server);
    sim_close();
    free(server.arena);
    free(thread.stage);
    return 0;
}

/* Executes a message that waits for its reply; the words follow, ended by count. */
static bool execute(
    enum worker_function function, unsigned context, const uint64_t *words, size_t count)
{
    static _Thread_local union message message; /* on its own, so that sanitizers see its end */
    bool has_reply;

    message.header = (struct worker_header){.bytes = (uint32_t)(16 + 8 * count),
        .function = (uint16_t)function,
        .flags = WORKER_FLAG_WAITS,
        .context = context};
    if (count)
        memcpy(message.words + 2, words, 8 * count);
    return server_execute(&thread, &message.header, &reply, &has_reply);
}

#define EXECUTE(function, context, ...)                                                            \
    execute(WORKER_##function, context, (const uint64_t[]){__VA_ARGS__},                           \
        sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

static uint64_t load_module(void)
{
    memcpy(thread.stage, ptx, sizeof(ptx));
    assert_true(EXECUTE(ModuleLoadData, 1, 1, 1, WORKER_STAGE, sizeof(ptx)));
    assert_int_equal(reply.code, 0);
    return reply.words[0];
}

static uint64_t find_kernel(uint64_t module)
{
    uint64_t words[4] = {1, module, 4};

    memcpy(words + 3, "add", 4);
    assert_true(execute(WORKER_ModuleGetFunction, 1, words, 4));
    assert_int_equal(reply.code, 0);
    assert_int_equal(reply.words[1], 2);
    assert_int_equal(reply.words[2], 8);
    assert_int_equal(reply.words[3], 4);
    return reply.words[0];
}

static void test_calls(void **state)
{
    uint64_t stream, address, kernel;

    (void)state;
    assert_true(EXECUTE(DevicePrimaryCtxRetain, 0, 1));
    assert_int_equal(reply.code, 0);
    assert_true(EXECUTE(StreamCreateWithPriority, 1, 1, 1, 0));
    assert_int_equal(reply.code, 0);
    stream = reply.words[0];
    assert_true(EXECUTE(MemAlloc, 1, 1, 4096));
    address = reply.words[0];
    kernel = find_kernel(load_module());
    assert_true(EXECUTE(MemsetD32, 1, address, 40, 1));
    assert_true(execute(WORKER_CtxSynchronize, 1, &address, 0)); /* a fill does not wait */
    assert_int_equal(reply.code, 0);
    assert_true(EXECUTE(LaunchKernel, 1, kernel, 1, 1, 1, 1, 1, 1, 0, stream, 1, 16, address, 2));
    assert_int_equal(reply.code, 0);
    assert_true(EXECUTE(StreamSynchronize, 1, stream));
    assert_int_equal(reply.code, 0);
    assert_true(EXECUTE(MemcpyDtoH, 1, address, 64, 4));
    assert_int_equal(reply.code, 0);
    assert_int_equal(*(uint32_t *)(void *)(server.arena + 64), 42);
    /* Fewer or more bytes than the parameters have are no launch. */
    assert_false(EXECUTE(LaunchKernel, 1, kernel, 1, 1, 1, 1, 1, 1, 0, stream, 1, 8, address));
    assert_false(
        EXECUTE(LaunchKernel, 1, kernel, 1, 1, 1, 1, 1, 1, 0, stream, 1, 24, address, 2, 3));
    assert_true(EXECUTE(StreamDestroy, 1, stream));
    assert_int_equal(reply.code, 0);
    assert_true(EXECUTE(StreamSynchronize, 1, stream));
    assert_int_equal(reply.code, POOL_CU_INVALID_HANDLE);
    /* The slot is used again, and the old handle still is none. */
    assert_true(EXECUTE(StreamCreateWithPriority, 1, 1, 1, 0));
    assert_int_not_equal(reply.words[0], stream);
    assert_true(EXECUTE(StreamSynchronize, 1, stream));
    assert_int_equal(reply.code, POOL_CU_INVALID_HANDLE);
    assert_true(EXECUTE(MemFree, 1, address));
    assert_int_equal(reply.code, 0);
}

/* Ranges outside of the arena and the stage, and words that are missing. */
static void test_lengths(void **state)
{
    (void)state;
    assert_false(EXECUTE(MemcpyDtoH, 1, 0x1000, ARENA_BYTES - 3, 4));
    assert_false(EXECUTE(MemcpyDtoH, 1, 0x1000, UINT64_MAX - 1, 4));
    assert_false(EXECUTE(MemcpyDtoH, 1, 0x1000, 8, UINT64_MAX - 4));
    assert_false(EXECUTE(MemcpyHtoD, 1, 0x1000, WORKER_STAGE, WORKER_STAGE_BYTES + 1));
    assert_false(EXECUTE(PinArena, 1, WORKER_STAGE, 16, 0));
    assert_false(EXECUTE(PinArena, 1, ARENA_BYTES, 1, 0));
    assert_false(EXECUTE(MemcpyHtoD, 1, 0x1000));
    assert_false(EXECUTE(ModuleLoadData, 1, 1, 1, 0, ARENA_BYTES + 1));
    assert_false(EXECUTE(ModuleGetFunction, 1, 1, 5, 4, 0x4141414141414141)); /* no zero */
    assert_false(EXECUTE(ModuleGetFunction, 1, 1, 5, 4000, 0));
    assert_false(EXECUTE(PointerGetAttributes, 1, 0x1000, 65));
    assert_false(EXECUTE(CtxCreate, 0, 1, 0, 0));
    assert_false(EXECUTE(CtxCreate, 0, 1, WORKER_CONTEXTS, 0));
    assert_false(EXECUTE(MemGetInfo, WORKER_CONTEXTS + 1, 1, 1));
    assert_false(EXECUTE(FUNCTIONS, 0, 0));
    assert_false(EXECUTE(Init, 0, 0)); /* answered by the client */
    assert_true(EXECUTE(MemGetInfo, 2, 1, 1));
    assert_int_equal(reply.code, POOL_CU_CONTEXT_IS_DESTROYED);
}

/* A call that was posted and failed is reported by the next one that waits for its stream, and what
 * follows it on the stream is not executed. */
static void test_posted_failure(void **state)
{
    union message message = {.header = {.function = WORKER_MemsetD32Async, .context = 1}};
    uint64_t stream, other, address;
    bool has_reply = true;

    (void)state;
    assert_true(EXECUTE(StreamCreateWithPriority, 1, 1, 1, 0));
    stream = reply.words[0];
    assert_true(EXECUTE(StreamCreateWithPriority, 1, 1, 1, 0));
    other = reply.words[0];
    assert_true(EXECUTE(MemAlloc, 1, 1, 4096));
    address = reply.words[0];
    assert_true(EXECUTE(MemsetD32, 1, address, 5, 1));
    message.header.bytes = 16 + 4 * 8;
    memcpy(message.words + 2, (uint64_t[]){0x10, 1, 1, stream}, 32);
    assert_true(server_execute(&thread, &message.header, &reply, &has_reply));
    assert_false(has_reply);
    memcpy(message.words + 2, (uint64_t[]){address, 9, 1, stream}, 32);
    assert_true(server_execute(&thread, &message.header, &reply, &has_reply));
    assert_true(EXECUTE(MemcpyDtoH, 0, address, 0, 4)); /* no context: reports nothing of it */
    assert_int_not_equal(reply.code, POOL_CU_INVALID_VALUE);
    assert_true(EXECUTE(StreamSynchronize, 1, stream));
    assert_int_equal(reply.code, POOL_CU_INVALID_VALUE);
    assert_true(EXECUTE(StreamSynchronize, 1, stream));
    assert_int_equal(reply.code, 0);
    assert_true(EXECUTE(MemcpyDtoH, 1, address, 0, 4));
    assert_int_equal(reply.code, 0);
    assert_int_equal(*(uint32_t *)(void *)server.arena, 5);
    assert_true(EXECUTE(StreamDestroy, 1, stream));
    assert_true(EXECUTE(StreamDestroy, 1, other));
}

/* Kernels with equal parameters have one layout, and no sizes that the other side reports make the
 * bytes of a message less than their sum. */
static void test_layouts(void **state)
{
    const uint32_t sizes[] = {8, 4, UINT32_MAX, UINT32_MAX};
    struct worker_layouts layouts;
    const struct worker_layout *two, *none, *unknown;

    (void)state;
    worker_layouts_init(&layouts);
    two = worker_layouts_add(&layouts, 2, sizes);
    none = worker_layouts_add(&layouts, 0, sizes);
    unknown = worker_layouts_add(&layouts, WORKER_LAYOUT_UNKNOWN, NULL);
    assert_true(two && none && unknown);
    assert_int_equal(two->bytes, 16);
    assert_int_equal(none->bytes, 0);
    assert_ptr_equal(worker_layouts_add(&layouts, 2, sizes), two);
    assert_ptr_equal(worker_layouts_add(&layouts, 0, NULL), none);
    assert_ptr_equal(worker_layouts_add(&layouts, WORKER_LAYOUT_UNKNOWN, NULL), unknown);
    assert_ptr_not_equal(worker_layouts_add(&layouts, 1, sizes), two);
    assert_true(worker_layouts_add(&layouts, 4, sizes)->bytes == 16 + (UINT64_C(2) << 32));
    worker_layouts_free(&layouts);
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { THREADS = 4, MODULES = 40, COUNT_AT = 128 };

/*
 * What the threads of a client tell each other. It orders nothing between the threads that execute
 * their messages, as the other process is none that ThreadSanitizer sees; only what the first
 * thread has done before it tells of a module is seen by all.
 */
static atomic_uint_least64_t told_module, told_kernels[THREADS];
static atomic_uint threads_done;
static uint64_t count_address;

static uint64_t wait_for_another(
    const atomic_uint_least64_t *value, uint64_t former, memory_order order)
{
    uint64_t found;

    while ((found = atomic_load_explicit(value, order)) == former)
        sched_yield();
    return found;
}

static uint32_t launch(uint64_t kernel, uint64_t stream)
{
    assert_true(
        EXECUTE(LaunchKernel, 1, kernel, 1, 1, 1, 1, 1, 1, 0, stream, 1, 16, count_address, 1));
    return reply.code;
}

/* Each thread asks for the kernel of every module and launches the one that its neighbour got. */
static void *run_thread(void *user)
{
    unsigned index = (unsigned)(uintptr_t)user;
    uint64_t module = 0, kernel = 0, stream;

    open_thread();
    assert_true(EXECUTE(StreamCreateWithPriority, 1, 1, 1, 0));
    stream = reply.words[0];
    for (unsigned round = 0; round < MODULES; round++) {
        const atomic_uint_least64_t *neighbour = &told_kernels[(index + 1) % THREADS];
        uint64_t former = kernel, told;

        module = wait_for_another(&told_module, module, memory_order_acquire);
        if (former)
            assert_int_equal(launch(former, stream), POOL_CU_INVALID_HANDLE);
        kernel = find_kernel(module);
        atomic_store_explicit(&told_kernels[index], kernel, memory_order_relaxed);
        told = wait_for_another(neighbour, former, memory_order_relaxed);
        assert_int_equal(told, kernel);
        while (launch(told, stream) == POOL_CU_INVALID_HANDLE)
            sched_yield(); /* another thread has added it: it may not be visible here so far */
        assert_int_equal(reply.code, 0);
        assert_true(EXECUTE(StreamSynchronize, 1, stream));
        assert_int_equal(reply.code, 0);
        atomic_fetch_add_explicit(&threads_done, 1, memory_order_relaxed);
    }
    assert_true(EXECUTE(StreamDestroy, 1, stream));
    free(thread.stage);
    return NULL;
}

/* Threads look up, launch and see unloaded what other threads have added. */
static void test_threads(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    assert_true(EXECUTE(MemAlloc, 1, 1, 4));
    count_address = reply.words[0];
    assert_true(EXECUTE(MemsetD32, 1, count_address, 0, 1));
    assert_true(
        execute(WORKER_CtxSynchronize, 1, NULL, 0)); /* before the launches of other streams */
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_thread, (void *)i);
    for (unsigned round = 1; round <= MODULES; round++) {
        uint64_t module = load_module();

        atomic_store_explicit(&told_module, module, memory_order_release);
        while (atomic_load_explicit(&threads_done, memory_order_relaxed) != round * THREADS)
            sched_yield();
        assert_true(EXECUTE(ModuleUnload, 1, module));
        assert_int_equal(reply.code, 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(EXECUTE(MemcpyDtoH, 1, count_address, COUNT_AT, 4));
    assert_int_equal(*(uint32_t *)(void *)(server.arena + COUNT_AT), THREADS * MODULES);
    assert_true(EXECUTE(MemFree, 1, count_address));
}

static uint64_t random_word(void)
{
    static const uint64_t known[] = {0, 1, 2, 3, 4, 5, 8, 16, 64, 4096, ARENA_BYTES, UINT64_MAX,
        UINT64_MAX - 1, UINT32_MAX, INT32_MAX, (uint64_t)1 << 32, (1u << WORKER_INDEX_BITS) | 3};
    uint64_t number = next_random();

    return number % 3 ? known[number / 3 % (sizeof(known) / sizeof(known[0]))]
                      : number >> number % 64;
}

/* No host functions: they wait for a client. No large blocks: memory would run out. */
static bool is_suitable(unsigned function)
{
    return function != WORKER_LaunchHostFunc && function != WORKER_CtxDestroy &&
           function != WORKER_DevicePrimaryCtxRelease;
}

static void test_random(void **state)
{
    unsigned accepted = 0, refused = 0;

    (void)state;
    assert_true(EXECUTE(DevicePrimaryCtxRetain, 0, 1));
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned function = (unsigned)(next_random() % (WORKER_FUNCTIONS + 1));
        size_t count = next_random() % 20;
        struct worker_header *message = malloc(16 + 8 * count); /* its end is the memory's */
        uint64_t *words = (uint64_t *)(void *)(message + 1);
        bool has_reply;

        assert_non_null(message);
        *message = (struct worker_header){.bytes = (uint32_t)(16 + 8 * count),
            .function = (uint16_t)function,
            .flags = (uint16_t)(next_random() % 2),
            .context = (uint32_t)(next_random() % 4 ? 1 : next_random() % 80)};
        for (size_t word = 0; word < count; word++)
            words[word] = random_word();
        if (is_suitable(function)) {
            if (server_execute(&thread, message, &reply, &has_reply)) {
                accepted++;
                assert_true(!has_reply || reply.bytes <= sizeof(reply.words));
            } else {
                refused++;
            }
        }
        free(message);
    }
    assert_true(accepted > 1000 && refused > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_posted_failure), cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_random)};

    return cmocka_run_group_tests(tests, open_server, close_server);
}
