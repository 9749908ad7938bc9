/* SPDX-License-Identifier: Apache-2.0 */
/* Transcript: streams, events, order. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "transcript.h"

static atomic_int gate, entered;
static char order[32];
static atomic_uint steps;

static void wait_gate(void *user)
{
    struct timespec time = {0, 1000000};

    (void)user;
    atomic_store(&entered, 1);
    while (!atomic_load(&gate))
        nanosleep(&time, NULL);
}

static void step(void *user)
{
    order[atomic_fetch_add(&steps, 1)] = *(const char *)user;
}

static void slow_step(void *user)
{
    struct timespec time = {0, 30000000};

    nanosleep(&time, NULL);
    step(user);
}

static void call_driver(void *user)
{
    *(pool_cu_result *)user = cu->CtxSynchronize();
}

static void close_gate(CUstream stream)
{
    atomic_store(&gate, 0);
    atomic_store(&entered, 0);
    QUIET(LaunchHostFunc(stream, wait_gate, NULL));
    while (!atomic_load(&entered))
        ;
}

static void streams(void)
{
    CUstream stream = NULL;
    CUcontext context = NULL;
    int least = 9, greatest = 9, priority = 9;
    unsigned flags = 9;

    SAY(CtxGetStreamPriorityRange(&least, &greatest));
    VALUE(least);
    VALUE(greatest);
    SAY(CtxGetStreamPriorityRange(NULL, NULL));
    SAY(StreamCreateWithPriority(&stream, 2, 0));
    SAY(StreamCreateWithPriority(NULL, 0, 0));
    SAY(StreamCreateWithPriority(&stream, 1, -1));
    SAY(StreamGetPriority(stream, &priority));
    VALUE(priority);
    SAY(StreamGetFlags(stream, &flags));
    VALUE(flags);
    SAY(StreamGetCtx(stream, &context));
    VALUE(context == primary);
    SAY(StreamDestroy(stream));
    SAY(StreamCreateWithPriority(&stream, 0, 100));
    SAY(StreamGetPriority(stream, &priority));
    VALUE(priority);
    SAY(StreamDestroy(stream));
    SAY(StreamCreateWithPriority(&stream, 0, -100));
    SAY(StreamGetPriority(stream, &priority));
    VALUE(priority);
    SAY(StreamGetPriority(stream, NULL));
    SAY(StreamQuery(stream));
    SAY(StreamSynchronize(stream));
    SAY(StreamGetPriority(NULL, &priority));
    VALUE(priority);
    SAY(StreamGetFlags(NULL, &flags));
    SAY(StreamGetCtx(NULL, &context));
    SAY(StreamQuery(NULL));
    SAY(StreamDestroy(NULL));
    SAY(LaunchHostFunc(stream, NULL, NULL));
    SAY(StreamDestroy(stream));
}

static void busy(void)
{
    CUstream stream = NULL, other = NULL;
    CUevent event = NULL, before = NULL;
    pool_cu_result inside = 99;
    float time = -1;

    QUIET(StreamCreateWithPriority(&stream, 1, 0));
    QUIET(StreamCreateWithPriority(&other, 1, 0));
    QUIET(EventCreate(&before, 0));
    QUIET(EventCreate(&event, 0));
    QUIET(EventRecord(before, stream));
    close_gate(stream);
    SAY(EventRecord(event, stream));
    SAY(StreamQuery(stream));
    SAY(EventQuery(event));
    SAY(EventQuery(before));
    SAY(EventElapsedTime(&time, before, event));
    SAY(StreamWaitEvent(other, event, 0));
    SAY(StreamQuery(other));
    SAY(StreamQuery(NULL));
    SAY(StreamWaitEvent(other, event, 2));
    atomic_store(&gate, 1);
    SAY(EventSynchronize(event));
    SAY(StreamSynchronize(other));
    SAY(EventQuery(event));
    SAY(EventElapsedTime(&time, before, event));
    VALUE(time >= 0);
    SAY(LaunchHostFunc(stream, call_driver, &inside));
    SAY(StreamSynchronize(stream));
    VALUE(inside);
    close_gate(stream);
    SAY(EventRecord(event, stream));
    SAY(EventDestroy(event));
    atomic_store(&gate, 1);
    SAY(StreamDestroy(stream));
    SAY(CtxSynchronize());
    SAY(EventDestroy(before));
    SAY(StreamDestroy(other));
}

static void events(void)
{
    CUevent timed = NULL, plain = NULL;
    CUstream stream = NULL;
    float time;

    QUIET(StreamCreateWithPriority(&stream, 1, 0));
    SAY(EventCreate(&timed, 8));
    SAY(EventCreate(NULL, 0));
    SAY(EventCreate(&timed, 4));
    SAY(EventCreate(&timed, 1));
    SAY(EventCreate(&plain, 2));
    SAY(EventQuery(timed));
    SAY(EventSynchronize(timed));
    SAY(EventElapsedTime(&time, timed, timed));
    SAY(StreamWaitEvent(stream, timed, 0));
    SAY(StreamWaitEvent(NULL, timed, 0));
    SAY(EventRecord(timed, stream));
    SAY(EventRecord(plain, NULL));
    SAY(EventRecord(NULL, stream));
    SAY(EventQuery(NULL));
    SAY(EventSynchronize(NULL));
    SAY(StreamWaitEvent(stream, NULL, 0));
    SAY(EventSynchronize(plain));
    SAY(EventSynchronize(timed));
    SAY(EventElapsedTime(&time, timed, timed));
    VALUE(time == 0);
    SAY(EventElapsedTime(&time, timed, plain));
    SAY(EventElapsedTime(NULL, timed, timed));
    SAY(EventDestroy(timed));
    SAY(EventDestroy(plain));
    SAY(EventDestroy(NULL));
    SAY(StreamDestroy(stream));
}

/* The default stream waits for blocking streams and they for it. */
static void default_order(void)
{
    CUstream a = NULL, b = NULL, free_one = NULL;
    CUdeviceptr address = 0;

    QUIET(StreamCreateWithPriority(&a, 0, 0));
    QUIET(StreamCreateWithPriority(&b, 0, 0));
    QUIET(StreamCreateWithPriority(&free_one, 1, 0));
    QUIET(LaunchHostFunc(a, slow_step, "a"));
    QUIET(LaunchHostFunc(NULL, slow_step, "d"));
    QUIET(LaunchHostFunc(b, step, "b"));
    QUIET(LaunchHostFunc(NULL, step, "e"));
    QUIET(CtxSynchronize());
    printf("blocking: %s\n", order);
    /* Host functions of all streams take turns, so a fill runs while one of them waits. */
    QUIET(MemAlloc(&address, 4096));
    close_gate(NULL);
    QUIET(MemsetD8Async(address, 1, 4096, free_one));
    SAY(StreamSynchronize(free_one));
    SAY(StreamQuery(free_one));
    SAY(StreamQuery(NULL));
    QUIET(MemsetD8Async(address, 2, 4096, a));
    SAY(StreamQuery(a));
    atomic_store(&gate, 1);
    SAY(CtxSynchronize());
    SAY(StreamQuery(a));
}

static void event_order(void)
{
    CUstream a = NULL, b = NULL, c = NULL;
    CUevent event = NULL;

    QUIET(StreamCreateWithPriority(&a, 1, 0));
    QUIET(StreamCreateWithPriority(&b, 1, 0));
    QUIET(StreamCreateWithPriority(&c, 1, 0));
    QUIET(EventCreate(&event, 2));
    QUIET(LaunchHostFunc(a, slow_step, "1"));
    QUIET(EventRecord(event, a));
    QUIET(StreamWaitEvent(b, event, 0));
    QUIET(LaunchHostFunc(b, slow_step, "2"));
    QUIET(EventRecord(event, b)); /* the earlier wait stays what it was */
    QUIET(StreamWaitEvent(c, event, 0));
    QUIET(LaunchHostFunc(c, step, "3"));
    QUIET(StreamSynchronize(c));
    printf("events: %s\n", order);
    QUIET(CtxSynchronize());
}

const struct section stream_sections[] = {{"streams", streams, 1}, {"busy", busy, 1},
    {"events", events, 1}, {"default stream", default_order, 1}, {"event order", event_order, 1},
    {NULL, NULL, 0}};
