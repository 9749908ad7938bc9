/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and events of the simulated driver: order, the default stream, asynchrony, host
 * functions.
 */
#include "driver.h"

#define NON_BLOCKING 1u

static CUstream stream_new(unsigned flags)
{
    CUstream stream = NULL;

    assert_int_equal(cu->StreamCreateWithPriority(&stream, flags, 0), 0);
    return stream;
}

static void test_handles(void **state)
{
    CUstream stream = NULL;
    CUcontext context = sim_begin_context("sim:2"), other, owner;
    unsigned flags = 9;
    int priority = 9;

    (void)state;
    assert_int_equal(cu->StreamCreateWithPriority(&stream, 2, 0), 1);
    assert_int_equal(cu->StreamCreateWithPriority(NULL, 0, 0), 1);
    assert_int_equal(cu->StreamCreateWithPriority(&stream, NON_BLOCKING, -100), 0);
    assert_int_equal(cu->StreamGetPriority(stream, &priority), 0);
    assert_int_equal(priority, -5);
    CUstream least = NULL;
    assert_int_equal(cu->StreamCreateWithPriority(&least, 0, 5), 0);
    assert_int_equal(cu->StreamGetPriority(least, &priority), 0);
    assert_int_equal(priority, 0);
    assert_int_equal(cu->StreamDestroy(least), 0);
    assert_int_equal(cu->StreamGetFlags(stream, &flags), 0);
    assert_int_equal(flags, NON_BLOCKING);
    assert_int_equal(cu->StreamGetFlags(NULL, &flags), 0);
    assert_int_equal(flags, 0);
    assert_int_equal(cu->StreamGetCtx(stream, &owner), 0);
    assert_ptr_equal(owner, context);
    assert_int_equal(cu->StreamQuery(stream), 0);
    assert_int_equal(cu->StreamQuery(NULL), 0);
    assert_int_equal(cu->StreamQuery((CUstream)(uintptr_t)1), 0); /* CU_STREAM_LEGACY */
    assert_int_equal(cu->StreamQuery((CUstream)(uintptr_t)0x7777770), 400);
    assert_int_equal(cu->StreamDestroy(NULL), 400);
    assert_int_equal(cu->CtxCreate(&other, 0, 1), 0);
    assert_int_equal(cu->StreamSynchronize(stream), 0); /* finds its own context */
    CUdeviceptr memory;
    assert_int_equal(cu->MemAlloc(&memory, 4), 0);
    assert_int_equal(cu->MemsetD8Async(memory, 0, 4, stream), 400); /* of another context */
    assert_int_equal(cu->CtxDestroy(other), 0);
    assert_int_equal(cu->StreamDestroy(stream), 0);
    assert_int_equal(cu->StreamDestroy(stream), 400);
    assert_int_equal(cu->StreamQuery(stream), 400);
    /* An old handle stays invalid when its slot is reused. */
    CUstream second = stream_new(0);
    assert_ptr_not_equal(second, stream);
    assert_int_equal(cu->StreamQuery(stream), 400);
    assert_int_equal(cu->EventQuery((CUevent)second), 400);
    assert_int_equal(cu->StreamDestroy(second), 0);
    sim_end_context();
}

static void test_asynchrony_and_order(void **state)
{
    struct gate gate = GATE_INIT;
    CUdeviceptr memory = 0;
    CUstream stream;
    void *pinned = NULL;
    int *out;

    (void)state;
    sim_begin_context("sim");
    stream = stream_new(NON_BLOCKING);
    assert_int_equal(cu->MemAlloc(&memory, 8), 0);
    assert_int_equal(cu->MemHostAlloc(&pinned, 8, 0), 0);
    out = pinned;
    out[0] = out[1] = -1;
    assert_int_equal(cu->LaunchHostFunc(stream, NULL, NULL), 1);
    assert_int_equal(cu->LaunchHostFunc(stream, gate_function, &gate), 0);
    assert_int_equal(cu->MemsetD32Async(memory, 5, 2, stream), 0);
    assert_int_equal(cu->MemcpyDtoHAsync(out, memory, 4, stream), 0);
    assert_int_equal(cu->MemsetD32Async(memory, 6, 2, stream), 0);
    assert_int_equal(cu->MemcpyDtoHAsync(out + 1, memory, 4, stream), 0);
    gate_wait_entered(&gate, 1);
    assert_int_equal(cu->StreamQuery(stream), 600);
    assert_int_equal(cu->StreamQuery(NULL), 0); /* non-blocking: nothing to do with it */
    assert_int_equal(out[0], -1);
    gate_open(&gate);
    assert_int_equal(cu->StreamSynchronize(stream), 0);
    assert_int_equal(cu->StreamQuery(stream), 0);
    assert_int_equal(out[0], 5);
    assert_int_equal(out[1], 6);
    assert_int_equal(cu->StreamDestroy(stream), 0);
    assert_int_equal(cu->MemFreeHost(pinned), 0);
    assert_int_equal(cu->MemFree(memory), 0);
    sim_end_context();
}

/* Small pageable sources are staged: the caller may reuse them at once. Pinned ones are not. */
static void test_staging(void **state)
{
    struct gate gate = GATE_INIT;
    CUdeviceptr memory = 0;
    int value = 1, back[2] = {0, 0}, *pinned;
    CUstream stream;
    void *place = NULL;

    (void)state;
    sim_begin_context("sim");
    stream = stream_new(NON_BLOCKING);
    assert_int_equal(cu->MemAlloc(&memory, 8), 0);
    assert_int_equal(cu->MemHostAlloc(&place, 4, 0), 0);
    pinned = place;
    *pinned = 1;
    assert_int_equal(cu->LaunchHostFunc(stream, gate_function, &gate), 0);
    assert_int_equal(cu->MemcpyHtoDAsync(memory, &value, 4, stream), 0);
    assert_int_equal(cu->MemcpyHtoDAsync(memory + 4, pinned, 4, stream), 0);
    value = 2;
    *pinned = 2;
    gate_open(&gate);
    assert_int_equal(cu->StreamSynchronize(stream), 0);
    assert_int_equal(cu->MemcpyDtoH(back, memory, 8), 0);
    assert_int_equal(back[0], 1);
    assert_int_equal(back[1], 2);
    assert_int_equal(cu->StreamDestroy(stream), 0);
    assert_int_equal(cu->MemFreeHost(place), 0);
    assert_int_equal(cu->MemFree(memory), 0);
    sim_end_context();
}

static void sleep_a_little(void *user)
{
    (void)user;
    sleep_ms(30);
}

/* Large pageable ones are waited for, in both directions. */
static void test_large_pageable_copies(void **state)
{
    enum { BYTES = 1 << 20 };
    uint8_t *bytes = malloc(BYTES), *back = malloc(BYTES);
    CUdeviceptr memory = 0;
    CUstream stream;

    (void)state;
    assert_true(bytes && back);
    sim_begin_context("sim");
    stream = stream_new(NON_BLOCKING);
    assert_int_equal(cu->MemAlloc(&memory, BYTES), 0);
    memset(bytes, 1, BYTES);
    assert_int_equal(cu->LaunchHostFunc(stream, sleep_a_little, NULL), 0);
    assert_int_equal(cu->MemcpyHtoDAsync(memory, bytes, BYTES, stream), 0);
    assert_int_equal(cu->StreamQuery(stream), 0);
    memset(bytes, 2, BYTES);
    assert_int_equal(cu->LaunchHostFunc(stream, sleep_a_little, NULL), 0);
    assert_int_equal(cu->MemcpyDtoHAsync(back, memory, BYTES, stream), 0);
    assert_int_equal(cu->StreamQuery(stream), 0);
    assert_int_equal(back[0], 1);
    assert_int_equal(back[BYTES - 1], 1);
    assert_int_equal(cu->StreamDestroy(stream), 0);
    assert_int_equal(cu->MemFree(memory), 0);
    sim_end_context();
    free(bytes);
    free(back);
}

static void test_default_stream(void **state)
{
    struct gate gate = GATE_INIT, second = GATE_INIT;
    CUstream blocking, free_running;

    (void)state;
    sim_begin_context("sim");
    blocking = stream_new(0);
    free_running = stream_new(NON_BLOCKING);
    /* The default stream waits for the blocking one. */
    assert_int_equal(cu->LaunchHostFunc(blocking, gate_function, &gate), 0);
    gate_wait_entered(&gate, 1);
    second.is_open = 1;
    assert_int_equal(cu->LaunchHostFunc(NULL, gate_function, &second), 0);
    assert_int_equal(cu->StreamQuery(NULL), 600);
    sleep_ms(20);
    assert_int_equal(cu->StreamQuery(NULL), 600);
    /* The non-blocking stream waits for no other stream. */
    struct gate third = GATE_INIT;
    third.is_open = 1;
    assert_int_equal(cu->LaunchHostFunc(free_running, gate_function, &third), 0);
    assert_int_equal(cu->StreamSynchronize(free_running), 0);
    assert_int_equal(third.entered, 1);
    gate_open(&gate);
    assert_int_equal(cu->StreamSynchronize(NULL), 0);
    assert_int_equal(second.entered, 1);
    /* And the blocking one for the default one. */
    gate.is_open = gate.entered = 0;
    second.entered = 0;
    assert_int_equal(cu->LaunchHostFunc(NULL, gate_function, &gate), 0);
    gate_wait_entered(&gate, 1);
    assert_int_equal(cu->LaunchHostFunc(blocking, gate_function, &second), 0);
    sleep_ms(20);
    assert_int_equal(cu->StreamQuery(blocking), 600);
    pthread_mutex_lock(&second.lock);
    assert_int_equal(second.entered, 0);
    pthread_mutex_unlock(&second.lock);
    gate_open(&gate);
    assert_int_equal(cu->StreamSynchronize(blocking), 0);
    assert_int_equal(second.entered, 1);
    assert_int_equal(cu->StreamDestroy(blocking), 0);
    assert_int_equal(cu->StreamDestroy(free_running), 0);
    sim_end_context();
}

static void test_events(void **state)
{
    struct gate gate = GATE_INIT;
    CUevent start, end, untimed, never;
    CUstream one, two;
    float milliseconds = -1;

    (void)state;
    sim_begin_context("sim");
    one = stream_new(NON_BLOCKING);
    two = stream_new(NON_BLOCKING);
    assert_int_equal(cu->EventCreate(&start, 8), 1);
    assert_int_equal(cu->EventCreate(&start, 4), 1);
    assert_int_equal(cu->EventCreate(&start, 0), 0);
    assert_int_equal(cu->EventCreate(&end, 1), 0);
    assert_int_equal(cu->EventCreate(&never, 0), 0);
    assert_int_equal(cu->EventCreate(&untimed, 2), 0);
    assert_int_equal(cu->EventQuery(start), 0); /* not recorded: nothing to wait for */
    assert_int_equal(cu->EventSynchronize(start), 0);
    assert_int_equal(cu->EventElapsedTime(&milliseconds, start, end), 400);
    assert_int_equal(cu->EventRecord(start, one), 0);
    assert_int_equal(cu->LaunchHostFunc(one, gate_function, &gate), 0);
    assert_int_equal(cu->EventRecord(end, one), 0);
    assert_int_equal(cu->EventRecord(untimed, one), 0);
    gate_wait_entered(&gate, 1);
    assert_int_equal(cu->EventQuery(start), 0);
    assert_int_equal(cu->EventQuery(end), 600);
    assert_int_equal(cu->EventElapsedTime(&milliseconds, start, end), 600);
    /* The other stream waits for this recording, whatever happens to the event. */
    assert_int_equal(cu->StreamWaitEvent(two, end, 0), 0);
    assert_int_equal(cu->StreamWaitEvent(two, end, 5), 1);
    assert_int_equal(cu->StreamWaitEvent(two, never, 0), 0);
    sleep_ms(30);
    assert_int_equal(cu->StreamQuery(two), 600);
    gate_open(&gate);
    assert_int_equal(cu->EventSynchronize(end), 0);
    assert_int_equal(cu->StreamSynchronize(two), 0);
    assert_int_equal(cu->EventElapsedTime(&milliseconds, start, end), 0);
    assert_true(milliseconds >= 29 && milliseconds < 20000);
    assert_int_equal(cu->EventSynchronize(untimed), 0);
    assert_int_equal(cu->EventElapsedTime(&milliseconds, start, untimed), 400);
    assert_int_equal(cu->EventElapsedTime(&milliseconds, start, never), 400);
    assert_int_equal(cu->EventElapsedTime(NULL, start, end), 400);
    assert_int_equal(cu->EventRecord(end, (CUstream)(uintptr_t)0x5550), 400);
    assert_int_equal(cu->EventDestroy(start), 0);
    assert_int_equal(cu->EventDestroy(start), 400);
    assert_int_equal(cu->EventQuery(start), 400);
    assert_int_equal(cu->EventRecord(start, one), 400);
    assert_int_equal(cu->EventDestroy(end), 0);
    assert_int_equal(cu->EventDestroy(untimed), 0);
    assert_int_equal(cu->EventDestroy(never), 0);
    assert_int_equal(cu->StreamDestroy(one), 0);
    assert_int_equal(cu->StreamDestroy(two), 0);
    sim_end_context();
}

static void test_event_of_another_device(void **state)
{
    struct gate gate = GATE_INIT;
    CUcontext other;
    CUstream here, there;
    CUevent event;

    (void)state;
    sim_begin_context("sim:2");
    here = stream_new(0);
    assert_int_equal(cu->EventCreate(&event, 2), 0);
    assert_int_equal(cu->LaunchHostFunc(here, gate_function, &gate), 0);
    assert_int_equal(cu->EventRecord(event, here), 0);
    assert_int_equal(cu->CtxCreate(&other, 0, 1), 0);
    there = stream_new(0);
    assert_int_equal(cu->EventRecord(event, there), 400);
    assert_int_equal(cu->StreamWaitEvent(there, event, 0), 0);
    assert_int_equal(cu->StreamQuery(there), 600);
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    assert_int_equal(cu->EventDestroy(event), 0); /* while it is waited for */
    gate_open(&gate);
    assert_int_equal(cu->StreamSynchronize(there), 0);
    assert_int_equal(cu->CtxDestroy(other), 0);
    assert_int_equal(cu->StreamDestroy(here), 0);
    sim_end_context();
}

struct inner {
    size_t bytes;
    pool_cu_result code, name_code;
};

static void call_the_driver(void *user)
{
    struct inner *inner = user;
    const char *name;

    inner->code = cu->MemGetInfo(&inner->bytes, &inner->bytes);
    inner->name_code = cu->GetErrorName(2, &name);
}

static void test_host_functions_may_not_call(void **state)
{
    struct inner inner = {0, 77, 77};

    (void)state;
    sim_begin_context("sim");
    assert_int_equal(cu->LaunchHostFunc(NULL, call_the_driver, &inner), 0);
    assert_int_equal(cu->StreamSynchronize(NULL), 0);
    assert_int_equal(inner.code, 800);
    assert_int_equal(inner.name_code, 0);
    sim_end_context();
}

static void test_destroy_with_work(void **state)
{
    struct gate gate = GATE_INIT, after = GATE_INIT;
    CUstream stream;

    (void)state;
    sim_begin_context("sim");
    stream = stream_new(0);
    after.is_open = 1;
    assert_int_equal(cu->LaunchHostFunc(stream, gate_function, &gate), 0);
    assert_int_equal(cu->LaunchHostFunc(stream, gate_function, &after), 0);
    assert_int_equal(cu->StreamDestroy(stream), 0); /* returns immediately, the work continues */
    assert_int_equal(cu->StreamQuery(stream), 400);
    assert_int_equal(cu->StreamQuery(NULL), 600);
    gate_open(&gate);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(after.entered, 1);
    /* A context that goes away waits for its work. */
    gate.entered = 0;
    stream = stream_new(0);
    after.entered = 0;
    for (int times = 0; times < 50; times++)
        assert_int_equal(cu->LaunchHostFunc(stream, gate_function, &after), 0);
    sim_end_context();
    assert_int_equal(after.entered, 50);
}

static void *synchronize(void *argument)
{
    CUcontext context = argument;

    cu->CtxSetCurrent(context);
    return (void *)(uintptr_t)cu->CtxSynchronize();
}

static void test_free_waits(void **state)
{
    struct gate gate = GATE_INIT;
    CUcontext context = sim_begin_context("sim");
    CUdeviceptr memory = 0;
    CUstream stream = stream_new(NON_BLOCKING);
    pthread_t thread;
    void *code;

    (void)state;
    assert_int_equal(cu->MemAlloc(&memory, 16), 0);
    assert_int_equal(cu->LaunchHostFunc(stream, gate_function, &gate), 0);
    assert_int_equal(cu->MemsetD8Async(memory, 1, 16, stream), 0);
    assert_int_equal(pthread_create(&thread, NULL, synchronize, context), 0);
    sleep_ms(10);
    gate_open(&gate);
    assert_int_equal(cu->MemFree(memory), 0); /* the fill has been executed, no use after free */
    assert_int_equal(cu->StreamSynchronize(stream), 0);
    pthread_join(thread, &code);
    assert_null(code);
    assert_int_equal(cu->StreamDestroy(stream), 0);
    sim_end_context();
}

/* Many threads, many streams, everything at once; meaningful under ThreadSanitizer. */
struct worker {
    CUcontext context;
    int number;
    int failures;
};

static void *hammer(void *argument)
{
    struct worker *worker = argument;
    CUdeviceptr memory = 0;
    uint32_t back[64];
    CUstream stream = NULL;
    CUevent event = NULL;
    int wrong = 0;

    wrong += cu->CtxPushCurrent(worker->context) != 0;
    wrong += cu->StreamCreateWithPriority(&stream, (unsigned)worker->number % 2, 0) != 0;
    wrong += cu->EventCreate(&event, 0) != 0;
    for (uint32_t round = 0; round < 100; round++) {
        wrong += cu->MemAlloc(&memory, sizeof(back)) != 0;
        wrong += cu->MemsetD32Async(memory, round, 64, stream) != 0;
        wrong += cu->EventRecord(event, stream) != 0;
        wrong += cu->StreamWaitEvent(NULL, event, 0) != 0;
        wrong += cu->MemcpyDtoHAsync(back, memory, sizeof(back), stream) != 0;
        wrong += cu->StreamSynchronize(stream) != 0;
        for (size_t at = 0; at < 64; at++)
            wrong += back[at] != round;
        wrong += cu->MemFree(memory) != 0;
    }
    wrong += cu->EventDestroy(event) != 0;
    wrong += cu->StreamDestroy(stream) != 0;
    wrong += cu->CtxPopCurrent(NULL) != 0;
    worker->failures = wrong;
    return NULL;
}

static void test_many_threads(void **state)
{
    CUcontext context = sim_begin_context("sim");
    struct worker workers[6];
    pthread_t threads[6];

    (void)state;
    for (int at = 0; at < 6; at++) {
        workers[at] = (struct worker){context, at, -1};
        assert_int_equal(pthread_create(&threads[at], NULL, hammer, &workers[at]), 0);
    }
    for (int at = 0; at < 6; at++) {
        pthread_join(threads[at], NULL);
        assert_int_equal(workers[at].failures, 0);
    }
    sim_end_context();
}

/* ---- jitter ---------------------------------------------------------------------------------- */

static atomic_int order_count;
static int order[2];

static void note_first(void *user)
{
    (void)user;
    order[atomic_fetch_add(&order_count, 1)] = 1;
}

static void note_second(void *user)
{
    (void)user;
    order[atomic_fetch_add(&order_count, 1)] = 2;
}

/* Whether work of the first stream, enqueued first, was done first. */
static bool is_in_order(unsigned seed, bool is_awaited)
{
    CUstream first, second;
    CUevent event;
    char spec[32];

    snprintf(spec, sizeof(spec), "sim:jitter=%u", seed);
    sim_begin_context(spec);
    first = stream_new(NON_BLOCKING);
    second = stream_new(NON_BLOCKING);
    assert_int_equal(cu->EventCreate(&event, 2), 0);
    atomic_store(&order_count, 0);
    assert_int_equal(cu->LaunchHostFunc(first, note_first, NULL), 0);
    assert_int_equal(cu->EventRecord(event, first), 0);
    if (is_awaited)
        assert_int_equal(cu->StreamWaitEvent(second, event, 0), 0);
    assert_int_equal(cu->LaunchHostFunc(second, note_second, NULL), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(order_count, 2);
    assert_int_equal(cu->EventDestroy(event), 0);
    assert_int_equal(cu->StreamDestroy(first), 0);
    assert_int_equal(cu->StreamDestroy(second), 0);
    sim_end_context();
    return order[0] == 1;
}

/* A wait that is missing shows for some seed, and one that is there holds for all. */
static void test_jitter(void **state)
{
    unsigned exchanged = 0;

    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        exchanged += !is_in_order(seed, false);
        assert_true(is_in_order(seed, true));
    }
    assert_true(exchanged >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_asynchrony_and_order),
        cmocka_unit_test(test_staging),
        cmocka_unit_test(test_large_pageable_copies),
        cmocka_unit_test(test_default_stream),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_event_of_another_device),
        cmocka_unit_test(test_host_functions_may_not_call),
        cmocka_unit_test(test_destroy_with_work),
        cmocka_unit_test(test_free_waits),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_jitter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
