/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/worker/ring.h"

#include <string.h>

#include "base/clock.h"
#include "driver/worker/futex.h"

/* Between two readings of the clock while spinning. */
#define SPINS 64
/* From a client's notice that it will post a message to its first one: checks, plans, and the
 * client's own waits. */
#define EXPECTED_SPIN_NS 200000u

void ring_writer_open(struct ring_writer *writer, struct worker_ring *ring, uint64_t spin_ns)
{
    writer->ring = ring;
    writer->posted_bytes = writer->consumed_bytes = 0;
    writer->posted = 0;
    atomic_store(&writer->executed, 0); /* which other threads may be reading */
    writer->spin_ns = spin_ns;
}

void ring_reader_open(
    struct ring_reader *reader, struct worker_ring *ring, uint64_t spin_ns, struct ring_spin *spin)
{
    *reader = (struct ring_reader){.ring = ring, .spin_ns = spin_ns, .spin = spin};
}

void ring_wake_client(struct worker_ring *ring)
{
    atomic_fetch_add(&ring->bell, 1);
    worker_futex_wake(&ring->bell);
}

/* --- the client's end ------------------------------------------------------------------------- */

enum ring_result ring_has_executed(
    const struct worker_ring *ring, const atomic_uint *seen, unsigned number)
{
    /* In this order: what the worker has written only grows. */
    unsigned before = atomic_load_explicit(seen, memory_order_acquire);
    unsigned executed = atomic_load_explicit(&ring->executed, memory_order_acquire);

    if ((int)(executed - before) < 0)
        return RING_INVALID;
    return (int)(executed - number) >= 0 ? RING_OK : RING_OVER;
}

/* What the client waits for: RING_OVER while it has to wait. */
typedef enum ring_result (*ring_condition)(struct ring_writer *writer, uint64_t value);

/* RING_OVER: not yet. */
static enum ring_result spin_for(struct ring_writer *writer, ring_condition condition,
    uint64_t value, uint64_t spin_ns, ring_is_over is_over, void *user)
{
    enum ring_result result;
    uint64_t start;

    for (int i = 0; i < SPINS; i++)
        if ((result = condition(writer, value)) != RING_OVER)
            return result;
    start = base_clock_ns();
    do {
        for (int i = 0; i < SPINS; i++) {
            if ((result = condition(writer, value)) != RING_OVER)
                return result;
            worker_pause();
        }
    } while (base_clock_ns() - start < spin_ns && !is_over(user));
    return RING_OVER;
}

static enum ring_result wait_for(struct ring_writer *writer, ring_condition condition,
    uint64_t value, uint64_t spin_ns, ring_is_over is_over, void *user)
{
    struct worker_ring *ring = writer->ring;
    enum ring_result result = spin_for(writer, condition, value, spin_ns, is_over, user);

    if (result != RING_OVER)
        return result;
    for (;;) {
        unsigned bell = atomic_load(&ring->bell);

        atomic_store(&ring->client_sleeps, 1);
        atomic_thread_fence(memory_order_seq_cst);
        result = condition(writer, value);
        if (result != RING_OVER || is_over(user)) {
            atomic_store_explicit(&ring->client_sleeps, 0, memory_order_relaxed);
            return result;
        }
        worker_futex_wait(&ring->bell, bell, WORKER_SLEEP_NS);
    }
}

static enum ring_result has_space(struct ring_writer *writer, uint64_t bytes)
{
    uint64_t consumed = atomic_load_explicit(&writer->ring->consumed_bytes, memory_order_acquire);
    uint64_t waiting = writer->posted_bytes - consumed;

    if (waiting > writer->posted_bytes - writer->consumed_bytes)
        return RING_INVALID; /* the worker's position may only grow, and not beyond the client's */
    writer->consumed_bytes = consumed;
    return WORKER_RING_BYTES - waiting >= bytes ? RING_OK : RING_OVER;
}

static enum ring_result has_executed_all(struct ring_writer *writer, uint64_t unused)
{
    unsigned before = atomic_load_explicit(&writer->executed, memory_order_relaxed);
    unsigned executed = atomic_load_explicit(&writer->ring->executed, memory_order_acquire);

    (void)unused;
    if (executed - before > writer->posted - before)
        return RING_INVALID;
    if (executed != writer->posted)
        return RING_OVER;
    atomic_store_explicit(&writer->executed, executed, memory_order_release);
    return RING_OK;
}

enum ring_result ring_post(struct ring_writer *writer, const struct worker_header *message,
    ring_is_over is_over, void *user)
{
    struct worker_ring *ring = writer->ring;
    uint64_t offset = writer->posted_bytes % WORKER_RING_BYTES, rest = WORKER_RING_BYTES - offset;
    uint64_t needed = message->bytes + (message->bytes > rest ? rest : 0);

    if (WORKER_RING_BYTES - (writer->posted_bytes - writer->consumed_bytes) < needed) {
        enum ring_result result =
            wait_for(writer, has_space, needed, writer->spin_ns, is_over, user);

        if (result)
            return result;
    }
    if (message->bytes > rest) {
        memset(ring->data + offset, 0, sizeof(message->bytes)); /* the next one is at the start */
        offset = 0;
    }
    memcpy(ring->data + offset, message, message->bytes);
    writer->posted_bytes += needed;
    writer->posted++;
    atomic_store_explicit(&ring->posted_bytes, writer->posted_bytes, memory_order_relaxed);
    atomic_store_explicit(&ring->posted, writer->posted, memory_order_release);
    /* Either the worker's thread sees the message before it sleeps, or this sees that it sleeps. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&ring->worker_sleeps, memory_order_relaxed)) {
        atomic_store(&ring->is_expected, 1);
        worker_futex_wake(&ring->is_expected);
    }
    return RING_OK;
}

void ring_expect(struct worker_ring *ring)
{
    if (!atomic_load_explicit(&ring->worker_sleeps, memory_order_relaxed))
        return;
    /* Until it has noticed, further calls need not wake it again. */
    if (!atomic_exchange(&ring->is_expected, 1))
        worker_futex_wake(&ring->is_expected);
}

bool ring_spin(struct ring_writer *writer, uint64_t spin_ns, ring_is_over is_over, void *user)
{
    return spin_for(writer, has_executed_all, 0, spin_ns, is_over, user) != RING_OVER;
}

enum ring_result ring_wait(struct ring_writer *writer, struct worker_reply *reply, uint64_t spin_ns,
    ring_is_over is_over, void *user)
{
    enum ring_result result = wait_for(writer, has_executed_all, 0, spin_ns, is_over, user);
    const struct worker_reply *shared = &writer->ring->reply;

    if (result)
        return result;
    reply->code = *(const volatile uint32_t *)&shared->code;
    reply->bytes = *(const volatile uint32_t *)&shared->bytes;
    if (reply->bytes > sizeof(reply->words) || reply->bytes % 8)
        return RING_INVALID;
    memcpy(reply->words, shared->words, reply->bytes);
    return RING_OK;
}

/* --- the worker's end ------------------------------------------------------------------------- */

static bool has_message(const struct ring_reader *reader)
{
    return atomic_load_explicit(&reader->ring->posted, memory_order_acquire) != reader->executed;
}

static bool spin_for_message(const struct ring_reader *reader, uint64_t start, uint64_t spin_ns)
{
    do {
        for (int i = 0; i < SPINS; i++) {
            if (has_message(reader))
                return true;
            worker_pause();
        }
    } while (base_clock_ns() - start < spin_ns);
    return false;
}

/* Not at all where as many threads spin already as may. */
static bool spin_counted(const struct ring_reader *reader, uint64_t start, uint64_t spin_ns)
{
    struct ring_spin *spin = reader->spin;
    bool has_come = false;

    if (atomic_fetch_add(&spin->spinning, 1) < spin->most)
        has_come = spin_for_message(reader, start, spin_ns);
    atomic_fetch_sub(&spin->spinning, 1);
    return has_come;
}

/* For as long as services ask for that want a short job after a pause to find the worker awake. */
static bool spin_long(const struct ring_reader *reader, uint64_t start)
{
    const uint64_t long_ns = atomic_load_explicit(reader->spin->long_ns, memory_order_relaxed);

    return long_ns > reader->spin_ns && spin_counted(reader, start, long_ns);
}

static enum ring_result wait_for_message(
    struct ring_reader *reader, ring_is_over is_over, void *user)
{
    struct worker_ring *ring = reader->ring;
    uint64_t start;

    for (int i = 0; i < SPINS; i++)
        if (has_message(reader))
            return RING_OK;
    start = base_clock_ns();
    if (spin_for_message(reader, start, reader->spin_ns) || spin_long(reader, start))
        return RING_OK;
    for (;;) {
        atomic_store(&ring->worker_sleeps, 1);
        atomic_thread_fence(memory_order_seq_cst);
        while (!has_message(reader) && !atomic_exchange(&ring->is_expected, 0)) {
            if (is_over(user))
                return RING_OVER;
            worker_futex_wait(&ring->is_expected, 0, WORKER_SLEEP_NS);
        }
        atomic_store(&ring->is_expected, 0);
        atomic_store_explicit(&ring->worker_sleeps, 0, memory_order_relaxed);
        if (has_message(reader) || spin_counted(reader, base_clock_ns(), EXPECTED_SPIN_NS))
            return RING_OK;
    }
}

enum ring_result ring_receive(
    struct ring_reader *reader, struct worker_header *message, ring_is_over is_over, void *user)
{
    const unsigned char *data = reader->ring->data;
    enum ring_result result = wait_for_message(reader, is_over, user);
    uint64_t posted, offset;
    uint32_t bytes;

    if (result)
        return result;
    posted = atomic_load_explicit(&reader->ring->posted_bytes, memory_order_acquire);
    for (int i = 0; i < 2; i++) {
        offset = reader->consumed_bytes % WORKER_RING_BYTES;
        if (posted - reader->consumed_bytes > WORKER_RING_BYTES || posted == reader->consumed_bytes)
            return RING_INVALID;
        bytes = *(const volatile uint32_t *)(const void *)(data + offset);
        if (bytes)
            break;
        reader->consumed_bytes += WORKER_RING_BYTES - offset;
    }
    if (bytes < sizeof(*message) || bytes > WORKER_MESSAGE_BYTES || bytes % 8 ||
        bytes > WORKER_RING_BYTES - offset || bytes > posted - reader->consumed_bytes)
        return RING_INVALID;
    memcpy(message, data + offset, bytes);
    message->bytes = bytes;
    reader->consumed_bytes += bytes;
    return RING_OK;
}

void ring_complete(struct ring_reader *reader, const struct worker_reply *reply)
{
    struct worker_ring *ring = reader->ring;

    if (reply) {
        ring->reply.code = reply->code;
        ring->reply.bytes = reply->bytes;
        memcpy(ring->reply.words, reply->words, reply->bytes);
    }
    reader->executed++;
    atomic_store_explicit(&ring->consumed_bytes, reader->consumed_bytes, memory_order_release);
    atomic_store_explicit(&ring->executed, reader->executed, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    /* The client sleeps until a reply comes or until there is space for a message. */
    if (atomic_load_explicit(&ring->client_sleeps, memory_order_relaxed)) {
        atomic_store_explicit(&ring->client_sleeps, 0, memory_order_relaxed);
        ring_wake_client(ring);
    }
}
