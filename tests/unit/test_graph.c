/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs, on the mock, on simulated devices, also in worker processes, and on real ones: capture,
 * launch, update and destruction; fork and join; what cannot be captured, and that nobody else's
 * calls harm a capture.
 */
#include "support/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/assert.h"

enum { BYTES = 4096 };

static pool_stream *new_stream(uint32_t flags)
{
    const pool_stream_params params = {.struct_size = sizeof(params), .flags = flags};
    pool_stream *stream = NULL;

    assert_ok(pool_stream_create(memory_device(0), &params, &stream));
    return stream;
}

static pool_buffer *new_buffer(void)
{
    pool_buffer *buffer = NULL;

    assert_ok(pool_buffer_zeroed(memory_device(0), BYTES, &buffer));
    return buffer;
}

/* The mock carries out nothing that is captured. */
static void check_all(const pool_buffer *buffer, uint8_t value)
{
    unsigned char back[BYTES];

    assert_ok(pool_copy_to_host(back, buffer, 0, BYTES, NULL));
    if (!memory_mock && !memory_all(back, BYTES, value))
        fail_msg("the bytes begin with %d %d instead of %d", back[0], back[1], value);
}

static void launch(pool_graph *graph, pool_stream *stream)
{
    assert_ok(pool_graph_launch(graph, stream));
    assert_ok(stream ? pool_stream_synchronize(stream) : pool_device_synchronize(memory_device(0)));
}

static void capture_fill(pool_stream *stream, pool_buffer *from, pool_buffer *to, uint8_t value)
{
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_buffer_fill8(from, 0, BYTES, value, stream));
    assert_ok(pool_copy_device(to, 0, from, 0, BYTES, stream));
}

/* ---- capture, launch, update, destroy -------------------------------------------------------- */

static void test_launch_and_update(void **state)
{
    pool_buffer *from = new_buffer(), *to = new_buffer();
    pool_stream *stream = new_stream(0), *other = new_stream(0);
    pool_graph *graph = NULL, *empty = NULL;

    (void)state;
    capture_fill(stream, from, to, 5);
    assert_ok(pool_stream_end_capture(stream, &graph));
    assert_ptr_equal(pool_graph_device(graph), memory_device(0));
    check_all(to, 0); /* nothing was executed */
    launch(graph, stream);
    check_all(to, 5);
    assert_ok(pool_buffer_fill8(to, 0, BYTES, 1, NULL));
    launch(graph, other);
    check_all(to, 5);
    assert_ok(pool_buffer_fill8(to, 0, BYTES, 1, NULL));
    launch(graph, NULL);
    check_all(to, 5);

    capture_fill(other, from, to, 7);
    assert_ok(pool_graph_update(graph, other));
    launch(graph, stream);
    check_all(to, 7);

    /* Other work: the graph is as before, and the capture has ended. */
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_buffer_fill8(from, 0, BYTES, 9, stream));
    assert_status(pool_graph_update(graph, stream), POOL_ERR_INVALID_ARGUMENT);
    assert_says("differs from the graph's");
    launch(graph, stream);
    check_all(to, 7);

    /* Nothing is a graph, too; so is what is enqueued after an abandoned capture. */
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_stream_end_capture(stream, &empty));
    launch(empty, stream);
    capture_fill(stream, from, to, 8);
    assert_ok(pool_stream_end_capture(stream, NULL));
    assert_ok(pool_stream_synchronize(stream));
    check_all(to, 7);

    assert_status(pool_destroy(&memory_pool), POOL_ERR_BUSY);
    assert_says("2 graphs");
    assert_ok(pool_graph_destroy(&graph));
    assert_null(graph);
    assert_ok(pool_graph_destroy(&graph));
    assert_ok(pool_graph_destroy(&empty));
    assert_ok(pool_stream_destroy(&other));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_buffer_destroy(&to));
    assert_ok(pool_buffer_destroy(&from));
}

/* Pinned memory is read and written when the graph is launched. */
static void test_pinned(void **state)
{
    pool_stream *stream = new_stream(0);
    pool_buffer *buffer = new_buffer();
    pool_pinned *pinned = NULL;
    pool_graph *graph = NULL;
    unsigned char *data;

    (void)state;
    assert_ok(pool_pinned_create(memory_device(0), (uint64_t)2 * BYTES, 0, &pinned));
    data = pool_pinned_data(pinned);
    memset(data, 0, (size_t)2 * BYTES);
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_copy_to_device(buffer, 0, data, BYTES, stream));
    assert_ok(pool_copy_to_host(data + BYTES, buffer, 0, BYTES / 2, stream));
    assert_ok(pool_copy_2d(&(pool_pitched){.host = data + BYTES + BYTES / 2, .pitch = 64},
        &(pool_pitched){.buffer = buffer, .offset = BYTES / 2, .pitch = 64}, 64, BYTES / 128,
        stream));
    assert_ok(pool_stream_end_capture(stream, &graph));
    for (uint32_t seed = 1; seed < 4; seed++) {
        memory_pattern(data, BYTES, seed);
        launch(graph, stream);
        if (!memory_mock)
            memory_check_pattern(data + BYTES, BYTES, seed);
    }
    assert_ok(pool_graph_destroy(&graph));
    assert_ok(pool_pinned_destroy(&pinned));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
}

/* ---- several streams ------------------------------------------------------------------------- */

static void test_fork_and_join(void **state)
{
    pool_stream *stream = new_stream(0), *branches[2] = {new_stream(0), new_stream(0)};
    pool_buffer *from = new_buffer(), *to[2] = {new_buffer(), new_buffer()}, *sum = new_buffer();
    pool_graph *graph = NULL;

    (void)state;
    /* Work of before the capture is executed, and is no part of it. */
    assert_ok(pool_buffer_fill8(sum, 0, BYTES, 3, branches[0]));
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_buffer_fill8(from, 0, BYTES, 6, stream));
    assert_ok(pool_stream_fork(stream, branches, 2));
    for (int i = 0; i < 2; i++)
        assert_ok(pool_copy_device(to[i], 0, from, 0, BYTES, branches[i]));
    assert_status(pool_stream_end_capture(branches[0], &graph), POOL_ERR_INVALID_ARGUMENT);
    assert_says("another stream");
    assert_status(pool_stream_destroy(&branches[0]), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_stream_join(stream, branches, 2));
    for (uint64_t i = 0; i < 2; i++)
        assert_ok(pool_copy_device(sum, i * BYTES / 2, to[i], 0, BYTES / 2, stream));
    assert_ok(pool_stream_end_capture(stream, &graph));
    assert_ok(pool_stream_synchronize(branches[0]));
    check_all(sum, 3);
    launch(graph, branches[0]);
    check_all(to[1], 6);
    check_all(sum, 6);
    assert_ok(pool_graph_destroy(&graph));

    /* A branch that is not joined; the mock does not notice. */
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_buffer_fill8(from, 0, BYTES, 6, stream));
    assert_ok(pool_stream_fork(stream, branches, 1));
    assert_ok(pool_buffer_fill8(to[0], 0, BYTES, 6, branches[0]));
    if (memory_mock) {
        assert_ok(pool_stream_end_capture(stream, NULL));
    } else {
        assert_status(pool_stream_end_capture(stream, &graph), POOL_ERR_INVALID_ARGUMENT);
        assert_says("pool_stream_join");
    }
    assert_null(graph);
    for (int i = 0; i < 2; i++) {
        assert_ok(pool_stream_synchronize(branches[i]));
        assert_ok(pool_stream_destroy(&branches[i]));
        assert_ok(pool_buffer_destroy(&to[i]));
    }
    assert_ok(pool_buffer_destroy(&from));
    assert_ok(pool_buffer_destroy(&sum));
    assert_ok(pool_stream_destroy(&stream));
}

static void test_events(void **state)
{
    pool_stream *stream = new_stream(0), *other = new_stream(0);
    pool_event *event = NULL, *before = NULL;
    double milliseconds;

    (void)state;
    assert_ok(pool_event_create(memory_device(0), POOL_EVENT_TIMING, &event));
    assert_ok(pool_event_create(memory_device(0), POOL_EVENT_TIMING, &before));
    assert_ok(pool_event_record(before, other));
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_event_record(event, stream));
    assert_status(pool_event_query(event), POOL_ERR_UNSUPPORTED);
    assert_status(pool_event_synchronize(event), POOL_ERR_UNSUPPORTED);
    assert_status(pool_event_wait(event, 0), POOL_ERR_UNSUPPORTED);
    assert_status(pool_event_elapsed(before, event, &milliseconds), POOL_ERR_UNSUPPORTED);
    assert_ok(pool_stream_end_capture(stream, NULL)); /* it is unharmed */
    assert_status(pool_event_query(event), POOL_ERR_UNSUPPORTED);
    assert_says("record it again");
    assert_status(pool_stream_wait_event(other, event), POOL_ERR_UNSUPPORTED);
    assert_ok(pool_event_record(event, stream));
    assert_ok(pool_event_synchronize(event));

    /* Neither another capture nor work outside of captures can be waited for. */
    assert_ok(pool_stream_begin_capture(stream));
    assert_status(pool_stream_wait_event(stream, before), POOL_ERR_UNSUPPORTED);
    assert_status(pool_stream_end_capture(stream, NULL), POOL_ERR_UNSUPPORTED);
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_stream_begin_capture(other));
    assert_ok(pool_event_record(event, other));
    assert_status(pool_stream_wait_event(stream, event), POOL_ERR_UNSUPPORTED);
    assert_ok(pool_stream_end_capture(other, NULL));
    assert_status(pool_stream_end_capture(stream, NULL), POOL_ERR_UNSUPPORTED);
    assert_ok(pool_event_destroy(&before));
    assert_ok(pool_event_destroy(&event));
    assert_ok(pool_stream_destroy(&other));
    assert_ok(pool_stream_destroy(&stream));
}

/* A call that failed has changed nothing: neither the stream that did not wait nor the event that
 * was not recorded belongs to the capture. */
static void test_failed_calls(void **state)
{
    pool_stream *stream, *other;
    pool_event *event = NULL, *recorded = NULL;
    pool_graph *graph = NULL;

    (void)state;
    if (!memory_mock)
        return;
    stream = new_stream(0);
    other = new_stream(0);
    assert_ok(pool_event_create(memory_device(0), 0, &event));
    assert_ok(pool_event_create(memory_device(0), 0, &recorded));
    assert_ok(pool_event_record(recorded, other));
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_event_record(event, stream));
    pool_mock_fail(
        memory_mock, "cuStreamWaitEvent", 1, POOL_CU_STREAM_CAPTURE_ISOLATION, POOL_MOCK_ONCE);
    assert_int_not_equal(pool_stream_wait_event(other, event), POOL_OK);
    assert_ok(pool_stream_query(other));
    assert_ok(pool_stream_synchronize(other));
    pool_mock_fail(memory_mock, "cuEventRecord", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_ONCE);
    assert_int_not_equal(pool_event_record(recorded, stream), POOL_OK);
    assert_ok(pool_event_query(recorded));
    assert_ok(pool_stream_wait_event(other, recorded));
    assert_ok(pool_stream_end_capture(stream, &graph));
    assert_ok(pool_graph_destroy(&graph));

    /* The failure of the end is reported once, and the capture is over. */
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_stream_fork(stream, &other, 1));
    pool_mock_fail(memory_mock, "cuStreamEndCapture", 1, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
    assert_int_not_equal(pool_stream_end_capture(stream, &graph), POOL_OK);
    assert_null(graph);
    assert_ok(pool_stream_synchronize(other));
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_stream_end_capture(stream, &graph));
    assert_ok(pool_graph_destroy(&graph));
    assert_ok(pool_event_destroy(&recorded));
    assert_ok(pool_event_destroy(&event));
    assert_ok(pool_stream_destroy(&other));
    assert_ok(pool_stream_destroy(&stream));
}

/* ---- what cannot be captured ----------------------------------------------------------------- */

static void on_host(void *user)
{
    (void)user;
}

struct refused {
    pool_stream *stream;
    pool_buffer *buffer, *elsewhere;
    pool_graph *graph;
    unsigned char *host;
};

static pool_status refused_call(const struct refused *with, int number)
{
    const pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = BYTES, .stream = with->stream};
    pool_buffer *none = NULL, *buffer = with->buffer;

    switch (number) {
    case 0:
        return pool_stream_synchronize(with->stream);
    case 1:
        return pool_stream_query(with->stream);
    case 2:
        return pool_stream_wait(with->stream, 0);
    case 3:
        return pool_stream_call(with->stream, on_host, NULL);
    case 4:
        return pool_buffer_create(memory_device(0), &params, &none);
    case 5:
        return pool_buffer_destroy_on(&buffer, with->stream);
    case 6:
        return pool_copy_to_device(with->buffer, 0, with->host, BYTES, with->stream);
    case 7:
        return pool_copy_to_host(with->host, with->buffer, 0, BYTES, with->stream);
    case 8:
        return pool_copy_2d(&(pool_pitched){.buffer = with->buffer, .pitch = 64},
            &(pool_pitched){.host = with->host, .pitch = 64}, 32, 2, with->stream);
    case 9:
        return pool_graph_launch(with->graph, with->stream);
    case 10:
        return with->elsewhere
                   ? pool_copy_device(with->elsewhere, 0, with->buffer, 0, BYTES, with->stream)
                   : pool_stream_query(with->stream);
    default:
        return POOL_OK;
    }
}

static void test_refused(void **state)
{
    struct refused with = {
        .stream = new_stream(0), .buffer = new_buffer(), .host = memory_host(BYTES)};
    pool_graph *graph = NULL;
    int calls = 0;

    (void)state;
    if (pool_device_count(memory_pool) > 1)
        assert_ok(pool_buffer_alloc(memory_device(1), BYTES, &with.elsewhere));
    capture_fill(with.stream, with.buffer, with.buffer, 4);
    assert_ok(pool_stream_end_capture(with.stream, &with.graph));
    for (; calls < 11; calls++) {
        assert_ok(pool_stream_begin_capture(with.stream));
        assert_ok(pool_buffer_fill8(with.buffer, 0, BYTES, 2, with.stream));
        assert_status(refused_call(&with, calls), POOL_ERR_UNSUPPORTED);
        assert_says("being captured into a graph");
        assert_ok(pool_buffer_fill8(with.buffer, 0, BYTES, 2, with.stream));
        assert_status(pool_stream_end_capture(with.stream, &graph), POOL_ERR_UNSUPPORTED);
        assert_says("was refused");
        assert_null(graph);
        assert_ok(pool_stream_synchronize(with.stream));
    }
    assert_ok(pool_graph_destroy(&with.graph));
    assert_ok(pool_buffer_destroy(&with.elsewhere));
    assert_ok(pool_buffer_destroy(&with.buffer));
    assert_ok(pool_stream_destroy(&with.stream));
    free(with.host);
}

static void test_misuse(void **state)
{
    const pool_request request = {.struct_size = sizeof(request)};
    pool_stream *stream = new_stream(0), *blocking = new_stream(POOL_STREAM_BLOCKING), *main_stream,
                *leased = NULL, *far = NULL;
    pool_graph *graph = NULL, *kept = NULL;
    pool_lease *lease = NULL;

    (void)state;
    assert_status(pool_stream_begin_capture(NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_stream_begin_capture(blocking), POOL_ERR_INVALID_ARGUMENT);
    assert_says("POOL_STREAM_BLOCKING");
    assert_ok(pool_stream_default(memory_device(0), &main_stream));
    assert_status(pool_stream_begin_capture(main_stream), POOL_ERR_INVALID_ARGUMENT);
    assert_says("default stream");
    assert_ok(pool_acquire(memory_pool, &request, &lease));
    assert_ok(pool_lease_stream(lease, 0, &leased));
    assert_status(pool_stream_begin_capture(leased), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_release(&lease));
    assert_status(pool_stream_end_capture(stream, &graph), POOL_ERR_INVALID_ARGUMENT);
    assert_says("not being captured");
    assert_status(pool_stream_end_capture(NULL, &graph), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_graph_launch(NULL, stream), POOL_ERR_INVALID_ARGUMENT);

    assert_ok(pool_stream_begin_capture(stream));
    assert_status(pool_stream_begin_capture(stream), POOL_ERR_INVALID_ARGUMENT);
    assert_says("already");
    assert_status(pool_stream_destroy(&stream), POOL_ERR_INVALID_ARGUMENT);
    assert_says("pool_stream_end_capture first");
    assert_status(pool_device_synchronize(memory_device(0)), POOL_ERR_BUSY);
    assert_ok(pool_stream_fork(stream, &stream, 1));
    assert_ok(pool_stream_end_capture(stream, &kept));
    assert_ok(pool_device_synchronize(memory_device(0)));

    /* Streams that cannot be part of a capture, and another device's. */
    assert_ok(pool_stream_begin_capture(stream));
    assert_status(pool_stream_fork(stream, &blocking, 1), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_stream_fork(stream, &main_stream, 1), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_stream_end_capture(stream, NULL));
    if (pool_device_count(memory_pool) > 1) {
        assert_ok(pool_stream_create(memory_device(1), NULL, &far));
        assert_status(pool_graph_launch(kept, far), POOL_ERR_WRONG_DEVICE);
        assert_status(pool_graph_update(kept, far), POOL_ERR_WRONG_DEVICE);
        assert_ok(pool_stream_begin_capture(stream));
        assert_status(pool_stream_fork(stream, &far, 1), POOL_ERR_UNSUPPORTED);
        assert_ok(pool_stream_end_capture(stream, NULL));
        assert_ok(pool_stream_destroy(&far));
    }
    assert_status(pool_graph_update(kept, stream), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_graph_destroy(&kept));
    assert_ok(pool_stream_destroy(&blocking));
    assert_ok(pool_stream_destroy(&stream));
}

/* ---- other threads --------------------------------------------------------------------------- */

/* What waits for or queries every stream of the device. */
static void *use_device(void *user)
{
    pool_status status = POOL_OK;

    for (int i = 0; i < 20 && !status; i++) {
        pool_buffer *buffer = NULL;
        unsigned char byte = 0;

        status = pool_buffer_alloc(memory_device(0), BYTES, &buffer);
        if (!status)
            status = pool_copy_to_device(buffer, 0, &byte, 1, NULL);
        if (!status)
            status = pool_buffer_destroy(&buffer);
        if (!status)
            status = pool_memory_trim(memory_device(0), 0);
        if (!status)
            status = pool_device_wait(memory_device(0), UINT64_C(600000000000));
    }
    *(pool_status *)user = status;
    return NULL;
}

static void test_beside_others(void **state)
{
    pool_buffer *from = new_buffer(), *to = new_buffer();
    pool_stream *stream = new_stream(0);
    pool_status status = POOL_OK;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, use_device, &status), 0);
    for (uint8_t value = 1; value <= 20; value++) {
        pool_graph *graph = NULL;

        assert_ok(pool_buffer_fill8(to, 0, BYTES, 0, stream));
        capture_fill(stream, from, to, value);
        assert_ok(pool_stream_end_capture(stream, &graph));
        launch(graph, stream);
        check_all(to, value);
        assert_ok(pool_graph_destroy(&graph));
    }
    pthread_join(thread, NULL);
    assert_ok(status);
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_buffer_destroy(&to));
    assert_ok(pool_buffer_destroy(&from));
}

/* What waits for all work, as the release of pinned memory, would end a capture: it comes later. */
static void test_trim_beside_a_capture(void **state)
{
    pool_buffer *from = new_buffer(), *to = new_buffer();
    pool_stream *stream = new_stream(0);
    pool_pinned *pinned = NULL;
    pool_graph *graph = NULL;

    (void)state;
    check_all(to, 0); /* leaves a slot of staging memory */
    assert_ok(pool_pinned_create(memory_device(0), 1 << 16, 0, &pinned));
    assert_ok(pool_pinned_destroy(&pinned));
    capture_fill(stream, from, to, 9);
    assert_ok(pool_memory_trim(memory_device(0), 0));
    assert_ok(pool_stream_end_capture(stream, &graph));
    launch(graph, stream);
    check_all(to, 9);
    assert_ok(pool_graph_destroy(&graph));
    assert_ok(pool_memory_trim(memory_device(0), 0));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_buffer_destroy(&to));
    assert_ok(pool_buffer_destroy(&from));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_launch_and_update),
        TEST(test_pinned),
        TEST(test_fork_and_join),
        TEST(test_events),
        TEST(test_failed_calls),
        TEST(test_refused),
        TEST(test_misuse),
        TEST(test_trim_beside_a_capture),
        TEST(test_beside_others),
    };
    int skipped = memory_choose(argc, argv, "mock");

    return skipped ? skipped : cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
