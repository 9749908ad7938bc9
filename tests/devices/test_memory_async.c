/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and streams while work is in progress: simulated streams that hang until the test releases
 * them show which calls wait, which do not, and that memory in use is not allocated again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <devicepool.h>

#include "base/clock.h"

#define BYTES 4096

static device_pool *pool;
static pool_device *device;

static void ok(pool_status status, const char *call, int line)
{
    if (status)
        fail_msg("line %d: %s is %s: %s", line, call, pool_status_name(status),
            pool_last_error()->message);
}
#define OK(call) ok((call), #call, __LINE__)

static int set_up(void **state)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "sim:1,mem=64M"};

    (void)state;
    return pool_create(&pool, &params) || pool_device_at(pool, 0, &device) ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    pool_sim_set_faults(NULL);
    return pool_destroy(&pool) ? -1 : 0;
}

/* A stream on which a fill of `buffer` hangs. */
static pool_stream *hang(pool_buffer *buffer)
{
    pool_stream *stream = NULL;

    OK(pool_stream_create(device, NULL, &stream));
    OK(pool_sim_set_faults("cuMemsetD8Async@1=hang"));
    OK(pool_buffer_fill8(buffer, 0, BYTES, 0x77, stream));
    OK(pool_sim_set_faults(NULL));
    return stream;
}

static void test_deadlines(void **state)
{
    pool_buffer *buffer = NULL;
    pool_event *event = NULL;
    pool_stream *stream;
    uint64_t start;

    (void)state;
    OK(pool_buffer_zeroed(device, BYTES, &buffer));
    OK(pool_event_create(device, 0, &event));
    stream = hang(buffer);
    OK(pool_event_record(event, stream));
    assert_int_equal(pool_stream_query(stream), POOL_ERR_NOT_READY);
    assert_int_equal(pool_event_query(event), POOL_ERR_NOT_READY);
    start = base_clock_ns();
    assert_int_equal(pool_stream_wait(stream, 30000000), POOL_ERR_TIMEOUT);
    assert_int_equal(pool_event_wait(event, 30000000), POOL_ERR_TIMEOUT);
    assert_true(base_clock_ns() - start >= 60000000);
    OK(pool_sim_resume());
    OK(pool_stream_wait(stream, 10000000000u));
    OK(pool_event_wait(event, 10000000000u));
    OK(pool_event_destroy(&event));
    OK(pool_stream_destroy(&stream));
    OK(pool_buffer_destroy(&buffer));
}

/* What is freed under work is not given out before the work is done, also without its stream. */
static void free_under_work(int with_stream)
{
    unsigned char back[BYTES];
    pool_buffer *buffer = NULL, *later = NULL;
    pool_stream *stream;
    CUdeviceptr address, other;

    OK(pool_buffer_zeroed(device, BYTES, &buffer));
    OK(pool_buffer_address(buffer, &address));
    stream = hang(buffer);
    if (!with_stream)
        OK(pool_stream_destroy(&stream));
    OK(pool_buffer_destroy(&buffer)); /* returns although its stream hangs */
    OK(pool_buffer_zeroed(device, BYTES, &later));
    OK(pool_buffer_address(later, &other));
    assert_true(other != address);
    OK(pool_sim_resume());
    if (with_stream)
        OK(pool_stream_synchronize(stream));
    OK(pool_copy_to_host(back, later, 0, BYTES, NULL));
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(back[i], 0);
    OK(pool_buffer_destroy(&later));
    OK(pool_memory_trim(device, 0)); /* waits for the frees */
    OK(pool_stream_destroy(&stream));
}

static void test_free_under_work(void **state)
{
    (void)state;
    free_under_work(1);
    free_under_work(0);
}

/* An event holds the other stream up, and only it. */
static void test_events_order(void **state)
{
    unsigned char back[BYTES] = {0};
    pool_buffer *buffer = NULL, *copy = NULL;
    pool_stream *producer, *consumer = NULL, *third = NULL;
    pool_event *event = NULL;

    (void)state;
    OK(pool_buffer_zeroed(device, BYTES, &buffer));
    OK(pool_buffer_zeroed(device, BYTES, &copy));
    OK(pool_stream_create(device, NULL, &consumer));
    OK(pool_stream_create(device, NULL, &third));
    OK(pool_event_create(device, 0, &event));
    producer = hang(buffer);
    OK(pool_event_record(event, producer));
    OK(pool_stream_wait_event(consumer, event));
    OK(pool_copy_device(copy, 0, buffer, 0, BYTES, consumer));
    OK(pool_buffer_fill8(copy, 0, 0, 0, third));
    OK(pool_stream_synchronize(third));
    assert_int_equal(pool_stream_wait(consumer, 20000000), POOL_ERR_TIMEOUT);
    OK(pool_sim_resume());
    OK(pool_copy_to_host(back, copy, 0, BYTES, consumer));
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(back[i], 0x77);
    OK(pool_event_destroy(&event));
    OK(pool_stream_destroy(&producer));
    OK(pool_stream_destroy(&consumer));
    OK(pool_stream_destroy(&third));
    OK(pool_buffer_destroy(&buffer));
    OK(pool_buffer_destroy(&copy));
}

/* Pageable memory is read when the call returns, though the device gets to it much later. */
static void test_staged_behind_a_hang(void **state)
{
    static unsigned char data[3 << 20], back[3 << 20];
    pool_buffer *buffer = NULL, *big = NULL;
    pool_stream *stream;

    (void)state;
    OK(pool_buffer_zeroed(device, BYTES, &buffer));
    OK(pool_buffer_zeroed(device, sizeof(data), &big));
    stream = hang(buffer);
    memset(data, 0x42, sizeof(data));
    OK(pool_copy_to_device(big, 0, data, sizeof(data), stream));
    memset(data, 0, sizeof(data));
    assert_int_equal(pool_stream_query(stream), POOL_ERR_NOT_READY);
    OK(pool_sim_resume());
    OK(pool_copy_to_host(back, big, 0, sizeof(back), stream));
    for (size_t i = 0; i < sizeof(back); i++)
        assert_int_equal(back[i], 0x42);
    OK(pool_buffer_destroy(&buffer));
    OK(pool_buffer_destroy(&big));
    OK(pool_stream_destroy(&stream));
}

/* ---- small copies beside long ones ----------------------------------------------------------- */

enum { LONG_BYTES = 1 << 20, SMALL_BYTES = 256 << 10, SMALL_ROUNDS = 20, LONG = 4, SMALL = 2 };

/* A thread that copies on a stream of its own. */
struct copier {
    pthread_t thread;
    pool_buffer *buffer;
    pool_stream *stream;
    unsigned char *data;
    uint64_t bytes;
    int uploads, downloads; /* each round */
    int rounds;
    pool_status status;
};

static void *copy_in_thread(void *argument)
{
    struct copier *copier = argument;

    for (int i = 0; i < copier->rounds && !copier->status; i++) {
        for (int k = 0; k < copier->uploads && !copier->status; k++)
            copier->status =
                pool_copy_to_device(copier->buffer, 0, copier->data, copier->bytes, copier->stream);
        if (!copier->status && copier->downloads)
            copier->status =
                pool_copy_to_host(copier->data, copier->buffer, 0, copier->bytes, copier->stream);
    }
    return NULL;
}

static void create_copier(struct copier *copier, int is_behind_a_hang)
{
    copier->data = malloc(copier->bytes);
    assert_non_null(copier->data);
    memset(copier->data, 0x42, copier->bytes);
    OK(pool_buffer_alloc(device, copier->bytes, &copier->buffer));
    OK(pool_stream_create(device, NULL, &copier->stream));
    OK(pool_buffer_fill8(copier->buffer, 0, copier->bytes, 0x42, copier->stream));
    OK(pool_stream_synchronize(copier->stream));
    if (is_behind_a_hang) {
        OK(pool_sim_set_faults("cuMemsetD8Async=hang"));
        OK(pool_buffer_fill8(copier->buffer, 0, copier->bytes, 0x42, copier->stream));
        OK(pool_sim_set_faults(NULL));
    }
}

static void destroy_copier(struct copier *copier)
{
    for (uint64_t i = 0; i < copier->bytes; i++)
        assert_int_equal(copier->data[i], 0x42);
    OK(pool_buffer_destroy(&copier->buffer));
    OK(pool_stream_destroy(&copier->stream));
    free(copier->data);
}

static void start(struct copier *copier)
{
    assert_int_equal(pthread_create(&copier->thread, NULL, copy_in_thread, copier), 0);
}

static uint64_t staging_bytes(void)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    OK(pool_memory_get_info(device, &info));
    return info.staging_bytes;
}

static void wait_for_staging(uint64_t bytes)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const uint64_t deadline = base_clock_ns() + UINT64_C(20000000000);

    while (staging_bytes() < bytes && base_clock_ns() < deadline)
        nanosleep(&pause, NULL);
    assert_true(staging_bytes() >= bytes);
}

/*
 * Four copies to the host wait for streams that hang and hold all large rings; a thread enqueues
 * more small copies to the device than there are rings for. Small copies of other streams continue.
 */
static void test_small_beside_long(void **state)
{
    const uint64_t large = UINT64_C(16) << 20;
    struct copier uploads = {.bytes = 100 << 10, .uploads = 100, .rounds = 1};
    struct copier longs[LONG], smalls[SMALL];
    struct timespec deadline;

    (void)state;
    create_copier(&uploads, 1);
    for (int i = 0; i < LONG; i++) {
        longs[i] = (struct copier){.bytes = LONG_BYTES, .downloads = 1, .rounds = 1};
        create_copier(&longs[i], 1);
    }
    for (int i = 0; i < SMALL; i++) {
        smalls[i] = (struct copier){
            .bytes = SMALL_BYTES, .uploads = 1, .downloads = 1, .rounds = SMALL_ROUNDS};
        create_copier(&smalls[i], 0);
    }
    for (int i = 0; i < LONG; i++)
        start(&longs[i]);
    start(&uploads);
    wait_for_staging(LONG * large + 8 * SMALL_BYTES);
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 20;
    for (int i = 0; i < SMALL; i++)
        start(&smalls[i]);
    for (int i = 0; i < SMALL; i++) {
        if (pthread_timedjoin_np(smalls[i].thread, NULL, &deadline))
            fail_msg("small copies wait for long ones");
        assert_int_equal(smalls[i].status, POOL_OK);
    }
    assert_true(staging_bytes() <= LONG * large + (8 + 2 * SMALL) * SMALL_BYTES);
    OK(pool_sim_resume());
    pthread_join(uploads.thread, NULL);
    assert_int_equal(uploads.status, POOL_OK);
    for (int i = 0; i < LONG; i++) {
        pthread_join(longs[i].thread, NULL);
        assert_int_equal(longs[i].status, POOL_OK);
    }
    OK(pool_stream_synchronize(uploads.stream));
    destroy_copier(&uploads);
    for (int i = 0; i < LONG; i++)
        destroy_copier(&longs[i]);
    for (int i = 0; i < SMALL; i++)
        destroy_copier(&smalls[i]);
    OK(pool_memory_trim(device, 0));
    assert_int_equal(staging_bytes(), 0);
}

/* Last, as it poisons the process: a fault that arrives while a thread waits for its stream. */
static void test_fault_while_waiting(void **state)
{
    pool_buffer *buffer = NULL;
    pool_stream *stream = NULL;

    (void)state;
    OK(pool_buffer_zeroed(device, BYTES, &buffer));
    OK(pool_stream_create(device, NULL, &stream));
    OK(pool_sim_set_faults("cuMemsetD8Async@1=700"));
    OK(pool_buffer_fill8(buffer, 0, BYTES, 1, stream));
    assert_int_equal(pool_stream_wait(stream, 10000000000u), POOL_ERR_PROCESS_POISONED);
    OK(pool_buffer_destroy(&buffer));
    OK(pool_stream_destroy(&stream));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_deadlines),
        TEST(test_free_under_work),
        TEST(test_events_order),
        TEST(test_staged_behind_a_hang),
        TEST(test_small_beside_long),
        TEST(test_fault_while_waiting),
    };

    return cmocka_run_group_tests_name("memory in use", tests, NULL, NULL);
}
