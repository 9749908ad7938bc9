/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of one client thread: messages in one direction, one reply at a time in the other. Both
 * sides spin shortly and then sleep on a futex. Each side keeps its own position in private memory,
 * so that what the other one writes can delay it but not lead it out of the ring.
 */
#ifndef WORKER_RING_H
#define WORKER_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/worker/protocol.h"

/* A longest sleep, after which a side examines again whether the other one still exists. */
#define WORKER_SLEEP_NS 100000000u

/* The client's end. */
struct ring_writer {
    struct worker_ring *ring;
    uint64_t posted_bytes;
    uint64_t consumed_bytes; /* as read last */
    unsigned posted;
    atomic_uint executed; /* as read last by a thread that waited for its own messages */
    uint64_t spin_ns;
};

/* For all rings of a worker: how long their threads spin, the first few of them. */
struct ring_spin {
    const atomic_uint_least64_t *long_ns;
    unsigned most;
    atomic_uint spinning; /* threads beyond spin_ns, or because a message is expected */
};

/* The worker's end. */
struct ring_reader {
    struct worker_ring *ring;
    uint64_t consumed_bytes;
    unsigned executed;
    uint64_t spin_ns;
    struct ring_spin *spin;
};

/* Whether the other side has ended; called now and then by those who wait. */
typedef bool (*ring_is_over)(void *user);

enum ring_result {
    RING_OK,
    RING_OVER,   /* the other side has ended */
    RING_INVALID /* the other side has written what it must not write */
};

void ring_writer_open(struct ring_writer *writer, struct worker_ring *ring, uint64_t spin_ns);
/* The reader spins for spin_ns, and for longer where `spin` allows it. */
void ring_reader_open(
    struct ring_reader *reader, struct worker_ring *ring, uint64_t spin_ns, struct ring_spin *spin);

/* Appends a message, a header with its words; waits while the ring is full. */
enum ring_result ring_post(struct ring_writer *writer, const struct worker_header *message,
    ring_is_over is_over, void *user);

/* Spins until everything posted has been executed, or that long; false: ring_wait would wait. */
bool ring_spin(struct ring_writer *writer, uint64_t spin_ns, ring_is_over is_over, void *user);

/* Waits until everything posted has been executed, for the first `spin_ns` without sleeping, and
 * copies the reply. */
enum ring_result ring_wait(struct ring_writer *writer, struct worker_reply *reply, uint64_t spin_ns,
    ring_is_over is_over, void *user);

/* The client will post a message soon: wakes the worker's thread if it sleeps. It spins for a short
 * time if as few threads spin as may, else it sleeps again. */
void ring_expect(struct worker_ring *ring);

/*
 * RING_OK: the message with this number, as ring_writer.posted after ring_post, has been executed;
 * RING_OVER: not yet. `seen` is the writer's `executed`. Any thread of the client.
 */
enum ring_result ring_has_executed(
    const struct worker_ring *ring, const atomic_uint *seen, unsigned number);

/* Waits for a message and copies it to `message`, of WORKER_MESSAGE_BYTES. */
enum ring_result ring_receive(
    struct ring_reader *reader, struct worker_header *message, ring_is_over is_over, void *user);

/* The message that was received last has been executed; `reply` may be NULL. */
void ring_complete(struct ring_reader *reader, const struct worker_reply *reply);

/* Wakes the client of the ring, because the worker has ended. */
void ring_wake_client(struct worker_ring *ring);

#endif
