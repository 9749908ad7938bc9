/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker program, but that the process of device 1 damages what it shares with the client:
 * replies, positions in rings, states, texts and stages. The linker passes the calls of
 * server_execute and ring_complete to the functions here.
 *
 * DEVICEPOOL_TEST_DAMAGE in the environment, "SEED,EVERY": of EVERY messages one is followed by a
 * damage; both the damages and their places are those of the seed. Even seeds damage only what a
 * call returns, as any other damage is likely to end the process.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/worker/futex.h"
#include "driver/worker/ring.h"
#include "driver/worker/server/server.h"

enum { VICTIM = 1 };

bool __real_server_execute(struct server_thread *thread, const struct worker_header *message,
    struct worker_reply *reply, bool *has_reply);
bool __wrap_server_execute(struct server_thread *thread, const struct worker_header *message,
    struct worker_reply *reply, bool *has_reply);
void __real_ring_complete(struct ring_reader *reader, const struct worker_reply *reply);
void __wrap_ring_complete(struct ring_reader *reader, const struct worker_reply *reply);

static _Atomic(struct worker_shared *) shared;
static atomic_uint messages;
static unsigned seed, every;
/* Of a kernel the client believes the sizes of its parameters, see docs/security.md. */
static _Thread_local bool lists_parameters;

/* splitmix64 */
static uint64_t next_random(uint64_t *random)
{
    uint64_t mixed = *random += 0x9e3779b97f4a7c15u;

    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

static void read_plan(void)
{
    const char *text = getenv("DEVICEPOOL_TEST_DAMAGE");

    if (!text || sscanf(text, "%u,%u", &seed, &every) != 2)
        every = 0;
}

bool __wrap_server_execute(struct server_thread *thread, const struct worker_header *message,
    struct worker_reply *reply, bool *has_reply)
{
    if (!atomic_load(&shared)) {
        read_plan();
        atomic_store(&shared, thread->server->shared);
    }
    lists_parameters = message->function == WORKER_ModuleGetFunction;
    return __real_server_execute(thread, message, reply, has_reply);
}

/* An extreme value, a small one, one near to another one, or any. */
static uint64_t damaged(uint64_t *random, uint64_t value)
{
    static const uint64_t extremes[] = {0, 1, 2, 0x7f, 0x80, 0xffff, 0x7fffffff, 0x80000000,
        0xffffffff, UINT64_C(1) << 32, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 4095,
        UINT64_MAX};
    uint64_t choice = next_random(random) % 6, any = next_random(random);

    switch (choice) {
    case 0:
    case 1:
        return extremes[any % (sizeof(extremes) / sizeof(extremes[0]))];
    case 2:
        return value + any % 17 - 8;
    case 3:
        return value ^ UINT64_C(1) << any % 64;
    case 4:
        return any % 1000;
    default:
        return any;
    }
}

static void fill(uint64_t *random, void *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = (unsigned char)next_random(random);
}

/* Codes that are no fault of the process, most of the time. */
static uint32_t damaged_code(uint64_t *random, uint32_t code)
{
    static const uint32_t codes[] = {0, 1, 2, 3, 100, 101, 200, 201, 205, 208, 217, 218, 400, 401,
        500, 600, 701, 704, 705, 708, 709, 801, 900, 907, 912};

    return next_random(random) % 8 ? codes[next_random(random) % (sizeof(codes) / sizeof(codes[0]))]
                                   : (uint32_t)damaged(random, code);
}

static void damage_reply(uint64_t *random, struct worker_reply *reply)
{
    uint64_t count = reply->bytes / 8 < WORKER_REPLY_BYTES / 8 ? reply->bytes / 8 : 0;

    switch (next_random(random) % (lists_parameters ? 1 : 4)) {
    case 0:
        reply->code = damaged_code(random, reply->code);
        break;
    case 1:
        if (seed % 2)
            reply->bytes = (uint32_t)damaged(random, reply->bytes);
        break;
    case 2:
        for (uint64_t i = 0; i < count; i++)
            reply->words[i] = damaged(random, reply->words[i]);
        break;
    default:
        if (count) {
            uint64_t *word = &reply->words[next_random(random) % count];

            *word = damaged(random, *word);
        }
    }
}

static void damage_host_call(uint64_t *random)
{
    struct worker_host_call *call =
        &atomic_load(&shared)->host_calls[next_random(random) % WORKER_HOST_CALLS];

    call->token = damaged(random, call->token);
    atomic_store(&call->state, (unsigned)damaged(random, WORKER_HOST_REQUESTED));
    atomic_fetch_add(&atomic_load(&shared)->host_requests, 1);
    worker_futex_wake(&atomic_load(&shared)->host_requests);
}

static void damage_block(uint64_t *random)
{
    struct worker_shared *block = atomic_load(&shared);

    switch (next_random(random) % 4) {
    case 0:
        atomic_store(&block->fault_function, (unsigned)damaged(random, 0));
        atomic_store(&block->fault, (unsigned)damaged(random, 0));
        break;
    case 1:
        fill(random, block->text, sizeof(block->text));
        atomic_store(&block->phase, (unsigned)damaged(random, WORKER_READY));
        if (next_random(random) % 2)
            _Exit(WORKER_EXIT_START);
        break;
    case 2:
        block->build = damaged(random, block->build);
        fill(random, block->functions, sizeof(block->functions));
        block->driver_version = (int32_t)damaged(random, 0);
        break;
    default:
        damage_host_call(random);
    }
}

/* Before or after the client is notified. */
static void damage_ring(uint64_t *random, struct worker_ring *ring)
{
    switch (next_random(random) % 5) {
    case 0:
        atomic_store(&ring->executed, (unsigned)damaged(random, atomic_load(&ring->executed)));
        break;
    case 1:
        atomic_store(&ring->consumed_bytes, damaged(random, atomic_load(&ring->consumed_bytes)));
        break;
    case 2:
        atomic_store(&ring->client_sleeps, (unsigned)damaged(random, 0));
        atomic_store(&ring->worker_sleeps, (unsigned)damaged(random, 0));
        atomic_store(&ring->bell, (unsigned)damaged(random, atomic_load(&ring->bell)));
        break;
    case 3:
        fill(random, ring->stage, 4096);
        break;
    default:
        fill(random, ring->data, 4096);
    }
}

void __wrap_ring_complete(struct ring_reader *reader, const struct worker_reply *reply)
{
    unsigned number = atomic_fetch_add(&messages, 1);
    uint64_t random = ((uint64_t)seed << 32) + number / (every ? every : 1);
    bool damages = every && atomic_load(&shared)->config.ordinal == VICTIM;

    damages = damages && next_random(&random) % every == number % every;
    if (damages && reply && (seed % 2 == 0 || next_random(&random) % 4)) {
        struct worker_reply changed = *reply;

        damage_reply(&random, &changed);
        /* Its length may be none. */
        reader->ring->reply = changed;
        reply = NULL;
        damages = false;
    }
    damages = damages && seed % 2;
    if (damages && next_random(&random) % 2)
        damage_ring(&random, reader->ring);
    else if (damages)
        damage_block(&random);
    __real_ring_complete(reader, reply);
    if (damages && next_random(&random) % 2)
        damage_ring(&random, reader->ring);
}
