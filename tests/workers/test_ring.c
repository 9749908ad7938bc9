/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of a client thread and its worker: order, contents and replies of random messages, a
 * full ring, sleeping on both sides, an end of the other side, and whatever the other side may
 * write.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "driver/worker/ring.h"
#include "support/assert.h"
#include "support/random.h"

enum { MESSAGES = 20000 };

static uint64_t random_below(uint64_t limit)
{
    return next_random() % limit;
}

union message {
    struct worker_header header;
    uint64_t words[WORKER_MESSAGE_BYTES / 8];
};

static struct worker_ring *new_ring(void)
{
    void *memory = mmap(NULL, sizeof(struct worker_ring), PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_true(memory != MAP_FAILED);
    return memory;
}

static void free_ring(struct worker_ring *ring)
{
    munmap(ring, sizeof(*ring));
}

static bool never(void *user)
{
    (void)user;
    return false;
}

static bool at_once(void *user)
{
    (void)user;
    return true;
}

/* The n-th message: its length and contents follow from n. */
static void make_message(uint64_t n, union message *message)
{
    uint32_t words = 3 + (uint32_t)(n * 2654435761u % (n % 50 == 0 ? 1021 : 30));

    message->header = (struct worker_header){.bytes = words * 8,
        .function = (uint16_t)(n % 97),
        .flags = n % 7 == 0 ? WORKER_FLAG_WAITS : 0};
    for (uint32_t i = 2; i < words; i++)
        message->words[i] = n * 1000 + i;
}

struct server {
    struct worker_ring *ring;
    uint64_t spin_ns;
    unsigned wrong;
};

static atomic_uint_least64_t long_ns;
static struct ring_spin no_long_spin = {.long_ns = &long_ns};

static void *serve(void *user)
{
    struct server *server = user;
    struct ring_reader reader;
    struct worker_reply reply;
    union message got, want;

    ring_reader_open(&reader, server->ring, server->spin_ns, &no_long_spin);
    for (uint64_t n = 0; n < MESSAGES; n++) {
        if (ring_receive(&reader, &got.header, never, NULL) != RING_OK) {
            server->wrong++;
            return NULL;
        }
        make_message(n, &want);
        server->wrong += memcmp(&got, &want, want.header.bytes) != 0;
        if (n % 1000 == 999)
            nanosleep(&(struct timespec){0, 2000000}, NULL); /* the client sleeps */
        reply.code = (uint32_t)n;
        reply.bytes = (uint32_t)(n % 9 * 8);
        for (uint32_t i = 0; i < n % 9; i++)
            reply.words[i] = n + i;
        ring_complete(&reader, want.header.flags & WORKER_FLAG_WAITS ? &reply : NULL);
    }
    return NULL;
}

static void check_traffic(uint64_t spin_ns)
{
    struct server server = {new_ring(), spin_ns, 0};
    struct worker_reply reply;
    struct ring_writer writer;
    union message message;
    pthread_t thread;

    ring_writer_open(&writer, server.ring, spin_ns);
    assert_int_equal(pthread_create(&thread, NULL, serve, &server), 0);
    for (uint64_t n = 0; n < MESSAGES; n++) {
        make_message(n, &message);
        assert_int_equal(ring_post(&writer, &message.header, never, NULL), RING_OK);
        if (n % 2500 == 7)
            nanosleep(&(struct timespec){0, 2000000}, NULL); /* the server sleeps */
        if (!(message.header.flags & WORKER_FLAG_WAITS))
            continue;
        assert_int_equal(ring_wait(&writer, &reply, 0, never, NULL), RING_OK);
        assert_int_equal(ring_has_executed(server.ring, &writer.executed, writer.posted), RING_OK);
        assert_int_equal(reply.code, n);
        assert_int_equal(reply.bytes, n % 9 * 8);
        for (uint32_t i = 0; i < n % 9; i++)
            assert_int_equal(reply.words[i], n + i);
    }
    pthread_join(thread, NULL);
    assert_int_equal(server.wrong, 0);
    free_ring(server.ring);
}

static void test_spinning(void **state)
{
    (void)state;
    check_traffic(20000);
}

static void test_sleeping(void **state)
{
    (void)state;
    check_traffic(0);
}

/* Nobody reads: the ring takes what fits and no byte more. */
static void test_full(void **state)
{
    struct worker_ring *ring = new_ring();
    struct ring_writer writer;
    struct worker_reply reply;
    union message message = {.header = {.bytes = 1024}};
    unsigned posted = 0;

    (void)state;
    ring_writer_open(&writer, ring, 0);
    while (ring_post(&writer, &message.header, at_once, NULL) == RING_OK)
        posted++;
    assert_int_equal(posted, WORKER_RING_BYTES / 1024);
    assert_int_equal(ring_wait(&writer, &reply, 0, at_once, NULL), RING_OVER);
    free_ring(ring);
}

/* The client's end with a worker that writes what it likes. */
static void test_wild_worker(void **state)
{
    struct worker_ring *ring = new_ring();
    struct worker_reply reply;
    struct ring_writer writer;
    union message message = {.header = {.bytes = 8192}};

    (void)state;
    ring_writer_open(&writer, ring, 0);
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t kind = random_below(5);

        if (kind == 0)
            atomic_store(&ring->consumed_bytes, next_random());
        else if (kind == 1)
            atomic_store(&ring->executed, (unsigned)next_random());
        ring->reply.bytes = (uint32_t)next_random() >> random_below(32);
        message.header.bytes = (uint32_t)(random_below(1022) + 2) * 8;
        if (kind < 3) {
            (void)ring_post(&writer, &message.header, at_once, NULL);
        } else if (ring_wait(&writer, &reply, 0, at_once, NULL) == RING_OK) {
            assert_true(reply.bytes <= sizeof(reply.words));
        }
    }
    /* What lies beyond the ring is untouched. */
    for (size_t i = 0; i < WORKER_STAGE_BYTES; i++)
        assert_int_equal(ring->stage[i], 0);
    free_ring(ring);
}

/* A worker's counters only grow, and not beyond what the client has posted. */
static void test_counters(void **state)
{
    struct worker_ring *ring = new_ring();
    struct worker_reply reply;
    struct ring_writer writer;
    union message message = {.header = {.bytes = 64}};

    (void)state;
    ring_writer_open(&writer, ring, 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(ring_post(&writer, &message.header, at_once, NULL), RING_OK);
    atomic_store(&ring->executed, 2);
    assert_int_equal(ring_has_executed(ring, &writer.executed, 2), RING_OK);
    assert_int_equal(ring_has_executed(ring, &writer.executed, 3), RING_OVER);
    assert_int_equal(ring_wait(&writer, &reply, 0, at_once, NULL), RING_OVER);
    atomic_store(&ring->executed, 4);
    assert_int_equal(ring_wait(&writer, &reply, 0, never, NULL), RING_INVALID);
    atomic_store(&ring->executed, 3);
    assert_int_equal(ring_wait(&writer, &reply, 0, never, NULL), RING_OK);
    atomic_store(&ring->executed, 2);
    assert_int_equal(ring_has_executed(ring, &writer.executed, 3), RING_INVALID);
    assert_int_equal(ring_wait(&writer, &reply, 0, never, NULL), RING_INVALID);
    /* A full ring, of which more has been consumed than was posted, and less than before. */
    while (ring_post(&writer, &message.header, at_once, NULL) == RING_OK)
        ;
    atomic_store(&ring->consumed_bytes, writer.posted_bytes + 8);
    assert_int_equal(ring_post(&writer, &message.header, never, NULL), RING_INVALID);
    atomic_store(&ring->consumed_bytes, 128);
    assert_int_equal(ring_post(&writer, &message.header, never, NULL), RING_OK);
    assert_int_equal(ring_post(&writer, &message.header, never, NULL), RING_OK);
    atomic_store(&ring->consumed_bytes, 64);
    assert_int_equal(ring_post(&writer, &message.header, never, NULL), RING_INVALID);
    free_ring(ring);
}

/* The worker's end with such a client. */
static void test_wild_client(void **state)
{
    struct worker_ring *ring = new_ring();
    struct ring_reader reader;
    union message message;
    unsigned received = 0, refused = 0;

    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t posted = random_below(3) ? random_below(2 * WORKER_RING_BYTES) : next_random();

        if (i % 16 == 0) {
            ring_reader_open(&reader, ring, 0, &no_long_spin);
            atomic_store(&ring->posted, 0);
            for (size_t at = 0; at < WORKER_RING_BYTES; at += 8) {
                uint32_t bytes =
                    (uint32_t)(random_below(8) ? random_below(1100) * 8 : next_random());

                memcpy(ring->data + at, &bytes, sizeof(bytes));
            }
        }
        atomic_store(&ring->posted, reader.executed + 1);
        atomic_store(&ring->posted_bytes, posted);
        if (ring_receive(&reader, &message.header, at_once, NULL) == RING_OK) {
            received++;
            assert_true(message.header.bytes >= sizeof(message.header));
            assert_true(message.header.bytes <= WORKER_MESSAGE_BYTES);
            ring_complete(&reader, NULL);
        } else {
            refused++;
        }
    }
    assert_true(received > 1000 && refused > 1000);
    free_ring(ring);
}

struct sleeper {
    struct worker_ring *ring;
    struct ring_spin *spin;
    atomic_bool has_received;
};

static void *receive_one(void *user)
{
    struct sleeper *sleeper = user;
    struct ring_reader reader;
    union message message;

    ring_reader_open(&reader, sleeper->ring, 0, sleeper->spin);
    if (ring_receive(&reader, &message.header, never, NULL) == RING_OK)
        atomic_store(&sleeper->has_received, true);
    return NULL;
}

static void wait_until(atomic_uint *word, unsigned value)
{
    while (atomic_load(word) != value)
        sched_yield();
}

/* Whether a reader sleeps that has waited for 50 ms; it then receives a message. */
static bool is_asleep_after_a_pause(struct ring_spin *spin, bool expects)
{
    struct sleeper sleeper = {.ring = new_ring(), .spin = spin};
    union message message = {.header = {.bytes = 64}};
    struct ring_writer writer;
    pthread_t thread;
    bool is_asleep;

    ring_writer_open(&writer, sleeper.ring, 0);
    assert_int_equal(pthread_create(&thread, NULL, receive_one, &sleeper), 0);
    usleep(50000);
    is_asleep = atomic_load(&sleeper.ring->worker_sleeps);
    if (expects) {
        wait_until(&sleeper.ring->worker_sleeps, 1);
        ring_expect(sleeper.ring);
        wait_until(&sleeper.ring->is_expected, 0); /* it is awake, and sleeps again later */
        wait_until(&sleeper.ring->worker_sleeps, 1);
    }
    assert_int_equal(ring_post(&writer, &message.header, never, NULL), RING_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(atomic_load(&sleeper.has_received));
    assert_false(atomic_load(&sleeper.ring->worker_sleeps));
    free_ring(sleeper.ring);
    return is_asleep;
}

/* As many threads spin for long_ns as there may be; all of them receive what comes. */
static void test_long_spin(void **state)
{
    atomic_uint_least64_t an_hour = UINT64_C(3600000000000);
    struct ring_spin spin = {.long_ns = &an_hour, .most = 1};

    (void)state;
    assert_false(is_asleep_after_a_pause(&spin, false));
    assert_int_equal(atomic_load(&spin.spinning), 0);
    atomic_store(&spin.spinning, 1); /* another thread */
    (void)is_asleep_after_a_pause(&spin, true);
    assert_int_equal(atomic_load(&spin.spinning), 1);
    (void)is_asleep_after_a_pause(&no_long_spin, true);
}

static uint64_t cpu_ns_of(pthread_t thread)
{
    struct timespec time;
    clockid_t clock;

    assert_int_equal(pthread_getcpuclockid(thread, &clock), 0);
    assert_int_equal(clock_gettime(clock, &time), 0);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* What a reader computes that is woken `times` times, for messages that do not come. It may spin
 * for 200 us each time. */
static uint64_t cpu_ns_of_expecting(struct ring_spin *spin, int times)
{
    struct sleeper sleeper = {.ring = new_ring(), .spin = spin};
    union message message = {.header = {.bytes = 64}};
    const unsigned before = atomic_load(&spin->spinning);
    struct ring_writer writer;
    pthread_t thread;
    uint64_t ns;

    ring_writer_open(&writer, sleeper.ring, 0);
    assert_int_equal(pthread_create(&thread, NULL, receive_one, &sleeper), 0);
    wait_until(&sleeper.ring->worker_sleeps, 1);
    ns = cpu_ns_of(thread);
    for (int i = 0; i < times; i++) {
        ring_expect(sleeper.ring);
        wait_until(&sleeper.ring->is_expected, 0);
        wait_until(&sleeper.ring->worker_sleeps, 1);
    }
    ns = cpu_ns_of(thread) - ns;
    assert_int_equal(ring_post(&writer, &message.header, never, NULL), RING_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(atomic_load(&sleeper.has_received));
    assert_int_equal(atomic_load(&spin->spinning), before);
    free_ring(sleeper.ring);
    return ns;
}

/* Threads that expect a message are among those that spin, and sleep again where these are enough.
 */
static void test_expecting_is_counted(void **state)
{
    enum { TIMES = 500 };
    struct ring_spin spin = {.long_ns = &long_ns, .most = 1};
    uint64_t spinning, sleeping;

    (void)state;
    spinning = cpu_ns_of_expecting(&spin, TIMES);
    atomic_store(&spin.spinning, 1); /* another thread */
    sleeping = cpu_ns_of_expecting(&spin, TIMES);
    print_message("%.1f us each while spinning, %.1f us without\n", (double)spinning / 1000 / TIMES,
        (double)sleeping / 1000 / TIMES);
    assert_true(sleeping < spinning / 2);
}

/* Returns at the end of its time, and at once where there is nothing to wait for. */
static void test_spin_alone(void **state)
{
    struct worker_ring *ring = new_ring();
    union message message = {.header = {.bytes = 64}};
    const uint64_t start = base_clock_ns();
    struct worker_reply reply;
    struct ring_writer writer;

    (void)state;
    ring_writer_open(&writer, ring, 0);
    assert_true(ring_spin(&writer, UINT64_C(3600000000000), never, NULL));
    assert_int_equal(ring_post(&writer, &message.header, never, NULL), RING_OK);
    assert_false(ring_spin(&writer, 2000000, never, NULL));
    assert_true(base_clock_ns() - start >= 2000000);
    assert_false(ring_spin(&writer, UINT64_C(3600000000000), at_once, NULL)); /* it is over */
    assert_int_equal(atomic_load(&ring->client_sleeps), 0);
    atomic_store(&ring->executed, 1);
    assert_true(ring_spin(&writer, UINT64_C(3600000000000), never, NULL));
    assert_int_equal(ring_wait(&writer, &reply, 0, never, NULL), RING_OK);
    free_ring(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spinning),
        cmocka_unit_test(test_sleeping), cmocka_unit_test(test_full),
        cmocka_unit_test(test_counters), cmocka_unit_test(test_wild_worker),
        cmocka_unit_test(test_wild_client), cmocka_unit_test(test_long_spin),
        cmocka_unit_test(test_expecting_is_counted), cmocka_unit_test(test_spin_alone)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
