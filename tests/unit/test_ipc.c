/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and events that processes share by the driver's handles: on simulated devices, in worker
 * processes and on real devices between two processes; the mock opens its own.
 */
#include "support/memory.h"

#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 3000000, OFFSET = 1000, SLICE = 70000 };

extern char **environ;

static const char *self, *device_argument = "mock";
static unsigned char bytes_of[SLICE];

static pool_buffer *shareable(pool_device *device, uint32_t flags)
{
    const pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = BYTES, .flags = flags | POOL_BUFFER_SHAREABLE};
    pool_buffer *buffer = NULL;

    assert_ok(pool_buffer_create(device, &params, &buffer));
    return buffer;
}

static uint64_t used_by(pool_device *device)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(device, &info));
    return info.used_bytes;
}

static void refused(pool_status status, pool_status expected, const char *text)
{
    if (status != expected || !strstr(pool_last_error()->message, text))
        fail_msg(
            "%s, \"%s\" is not in: %s", pool_status_name(status), text, pool_last_error()->message);
}

/* ---- what every driver does -------------------------------------------------------------------
 */

static void test_shareable_buffers(void **state)
{
    pool_device *device = memory_device(0);
    uint64_t before = used_by(device);
    pool_shared_buffer shared = {{0}, 0, 0};
    pool_buffer *buffer = shareable(device, POOL_BUFFER_ZEROED), *slice = NULL, *other = NULL;
    CUdeviceptr address = 0;

    (void)state;
    assert_int_equal(pool_buffer_bytes(buffer), BYTES);
    assert_int_equal(pool_buffer_flags(buffer), POOL_BUFFER_ZEROED | POOL_BUFFER_SHAREABLE);
    assert_int_equal(used_by(device), before + (4 << 20)); /* whole granules */
    assert_ok(pool_copy_to_host(bytes_of, buffer, BYTES - SLICE, SLICE, NULL));
    assert_true(memory_all(bytes_of, SLICE, 0));
    assert_ok(pool_buffer_slice(buffer, OFFSET, SLICE, &slice));
    assert_ok(pool_buffer_share(slice, &shared));
    assert_int_equal(shared.offset, OFFSET);
    assert_int_equal(shared.bytes, SLICE);
    if (!memory_mock) /* a process does not open its own memory */
        assert_int_not_equal(pool_buffer_open(device, &shared, &other), POOL_OK);
    memset(shared.handle, 7, sizeof(shared.handle));
    assert_int_not_equal(pool_buffer_open(device, &shared, &other), POOL_OK);
    assert_null(other);
    assert_ok(pool_buffer_destroy(&slice));
    assert_ok(pool_buffer_destroy(&buffer));
    buffer = shareable(device, POOL_BUFFER_SECRET);
    assert_ok(pool_buffer_address(buffer, &address));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(used_by(device), before);

    assert_ok(pool_buffer_alloc(device, 4096, &buffer));
    refused(pool_buffer_share(buffer, &shared), POOL_ERR_INVALID_ARGUMENT, "POOL_BUFFER_SHAREABLE");
    refused(pool_buffer_share(NULL, &shared), POOL_ERR_INVALID_ARGUMENT, "buffer must not be NULL");
    refused(pool_buffer_share(buffer, NULL), POOL_ERR_INVALID_ARGUMENT, "shared must not be NULL");
    refused(
        pool_buffer_open(device, NULL, &other), POOL_ERR_INVALID_ARGUMENT, "shared must not be");
    refused(pool_buffer_open(NULL, &shared, &other), POOL_ERR_INVALID_ARGUMENT, "device must not");
    refused(pool_buffer_open(device, &shared, NULL), POOL_ERR_INVALID_ARGUMENT, "buffer must not");
    assert_ok(pool_buffer_destroy(&buffer));
}

static void test_events(void **state)
{
    pool_device *device = memory_device(0);
    pool_shared_event shared = {{0}};
    pool_event *event = NULL, *other = NULL;

    (void)state;
    refused(pool_event_create(device, POOL_EVENT_SHAREABLE | POOL_EVENT_TIMING, &event),
        POOL_ERR_INVALID_ARGUMENT, "record no times");
    assert_ok(pool_event_create(device, 0, &event));
    refused(pool_event_share(event, &shared), POOL_ERR_INVALID_ARGUMENT, "POOL_EVENT_SHAREABLE");
    assert_int_not_equal(pool_event_open(device, &shared, &other), POOL_OK); /* a made-up handle */
    assert_ok(pool_event_destroy(&event));

    assert_ok(pool_event_create(device, POOL_EVENT_SHAREABLE, &event));
    assert_ok(pool_event_query(event)); /* not recorded yet */
    assert_ok(pool_event_record(event, NULL));
    assert_ok(pool_event_share(event, &shared));
    assert_ok(pool_event_synchronize(event));
    if (memory_mock) {
        assert_ok(pool_event_open(device, &shared, &other));
        assert_ok(pool_event_synchronize(other));
        assert_ok(pool_event_destroy(&other));
    } else {
        assert_int_not_equal(pool_event_open(device, &shared, &other), POOL_OK); /* its own */
    }
    refused(pool_event_share(event, NULL), POOL_ERR_INVALID_ARGUMENT, "shared must not be NULL");
    refused(pool_event_open(device, NULL, &other), POOL_ERR_INVALID_ARGUMENT, "shared must not be");
    assert_null(other);
    assert_ok(pool_event_destroy(&event));
}

/* ---- two processes ----------------------------------------------------------------------------
 */

static void write_text(char *text, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)data)[i]);
}

static void read_text(void *data, size_t bytes, const char *text)
{
    for (size_t i = 0; i < bytes; i++) {
        const char pair[3] = {text[2 * i], text[2 * i + 1], 0};

        ((unsigned char *)data)[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
}

/* Reads pattern 5 and writes pattern 6; twice, as it may be opened again. */
static void use_shared(pool_device *device, const pool_shared_buffer *shared)
{
    pool_shared_buffer wrong = *shared;
    pool_buffer *opened = NULL, *again = NULL, *slice = NULL;
    uint64_t before = used_by(device);

    assert_ok(pool_buffer_open(device, shared, &opened));
    assert_ok(pool_buffer_open(device, shared, &again));
    assert_int_equal(used_by(device), before);
    assert_int_equal(pool_buffer_bytes(opened), SLICE);
    assert_ok(pool_copy_to_host(bytes_of, opened, 0, SLICE, NULL));
    memory_check_pattern(bytes_of, SLICE, 5);
    assert_ok(pool_buffer_slice(opened, 0, SLICE, &slice));
    assert_ok(pool_buffer_destroy(&opened));
    memory_pattern(bytes_of, SLICE, 6);
    assert_ok(pool_copy_to_device(again, 0, bytes_of, SLICE / 2, NULL));
    assert_ok(pool_copy_to_device(slice, SLICE / 2, bytes_of + SLICE / 2, SLICE / 2, NULL));
    refused(pool_buffer_share(again, &wrong), POOL_ERR_INVALID_ARGUMENT, "POOL_BUFFER_SHAREABLE");
    assert_ok(pool_buffer_destroy(&again));
    assert_ok(pool_buffer_destroy(&slice));
    wrong.offset = UINT64_C(1) << 40;
    assert_int_equal(pool_buffer_open(device, &wrong, &opened), POOL_ERR_INVALID_ARGUMENT);
    wrong.offset = UINT64_MAX - 5;
    assert_int_equal(pool_buffer_open(device, &wrong, &opened), POOL_ERR_INVALID_ARGUMENT);
    assert_null(opened);
}

static int open_here(const char *text)
{
    pool_shared_buffer shared;

    read_text(&shared, sizeof(shared), text);
    if (memory_set_up(NULL))
        return 1;
    use_shared(memory_device(0), &shared);
    return memory_tear_down(NULL) ? 1 : 0;
}

static void use_in_second_process(const pool_shared_buffer *shared)
{
    char text[2 * sizeof(*shared) + 1];
    char *arguments[] = {(char *)(uintptr_t)self, "--device", (char *)(uintptr_t)device_argument,
        "--open", text, NULL};
    int status = -1;
    pid_t child = 0;

    write_text(text, shared, sizeof(*shared));
    assert_int_equal(posix_spawn(&child, self, NULL, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_shared_buffer(void **state)
{
    pool_device *device = memory_device(0);
    pool_buffer *buffer = shareable(device, 0), *slice = NULL;
    pool_shared_buffer shared;

    (void)state;
    assert_ok(pool_buffer_slice(buffer, OFFSET, SLICE, &slice));
    memory_pattern(bytes_of, SLICE, 5);
    assert_ok(pool_copy_to_device(slice, 0, bytes_of, SLICE, NULL));
    assert_ok(pool_buffer_share(slice, &shared));
    if (memory_mock) /* it opens its own memory */
        use_shared(device, &shared);
    else
        use_in_second_process(&shared);
    assert_ok(pool_copy_to_host(bytes_of, slice, 0, SLICE, NULL));
    memory_check_pattern(bytes_of, SLICE, 6);
    assert_ok(pool_buffer_destroy(&slice));
    assert_ok(pool_buffer_destroy(&buffer));
}

/* ---- the order of two processes ---------------------------------------------------------------
 */

enum { ORDER_CHANNEL = 9 }; /* the second process's end of the channel */

struct order {
    pool_shared_buffer buffer;
    pool_shared_event event;
};

static void send_word(int channel, char word)
{
    assert_int_equal(write(channel, &word, 1), 1);
}

static void expect_word(int channel, char expected)
{
    char word = 0;

    assert_int_equal(read(channel, &word, 1), 1);
    assert_int_equal(word, expected);
}

static void pass_gate(void *gate)
{
    while (sem_wait(gate)) /* a signal */
        ;
}

static pool_stream *create_stream(pool_device *device)
{
    pool_stream *stream = NULL;

    assert_ok(pool_stream_create(device, NULL, &stream));
    return stream;
}

/*
 * The second process. Its stream reads what the first one writes before its record, and then
 * records the event behind a gate, which it opens when the first process waits for it. With
 * `is_killed` it only records, and the gate is never opened.
 */
static int order_here(const char *text, bool is_killed)
{
    pool_buffer *buffer = NULL;
    pool_event *event = NULL;
    struct order shared;
    pool_stream *stream;
    sem_t gate;

    fcntl(ORDER_CHANNEL, F_SETFD, FD_CLOEXEC);
    read_text(&shared, sizeof(shared), text);
    if (memory_set_up(NULL) || sem_init(&gate, 0, 0))
        return 1;
    stream = create_stream(memory_device(0));
    assert_ok(pool_buffer_open(memory_device(0), &shared.buffer, &buffer));
    assert_ok(pool_event_open(memory_device(0), &shared.event, &event));
    if (!is_killed) {
        assert_int_equal(pool_event_query(event), POOL_ERR_NOT_READY);
        assert_ok(pool_stream_wait_event(stream, event));
        assert_int_equal(pool_stream_query(stream), POOL_ERR_NOT_READY);
        send_word(ORDER_CHANNEL, 'w');
        assert_ok(pool_copy_to_host(bytes_of, buffer, 0, SLICE, stream));
        assert_true(memory_all(bytes_of, SLICE, 2));
        assert_ok(pool_event_synchronize(event));
    }
    assert_ok(pool_stream_call(stream, pass_gate, &gate));
    assert_ok(pool_buffer_fill8(buffer, 0, BYTES, 3, stream));
    assert_ok(pool_event_record(event, stream));
    send_word(ORDER_CHANNEL, 'r');
    expect_word(ORDER_CHANNEL, 'g');
    assert_int_equal(sem_post(&gate), 0);
    assert_ok(pool_event_synchronize(event));
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_event_destroy(&event));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    sem_destroy(&gate);
    return memory_tear_down(NULL) ? 1 : 0;
}

static pid_t start_order(const struct order *shared, const char *mode, int *channel)
{
    char text[2 * sizeof(*shared) + 1];
    char *arguments[] = {(char *)(uintptr_t)self, "--device", (char *)(uintptr_t)device_argument,
        (char *)(uintptr_t)mode, text, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int ends[2];

    write_text(text, shared, sizeof(*shared));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], ORDER_CHANNEL), 0);
    assert_int_equal(posix_spawn(&child, self, &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *channel = ends[0];
    return child;
}

static void test_shared_event(void **state)
{
    pool_device *device = memory_device(0);
    pool_buffer *buffer;
    pool_event *event = NULL;
    struct order shared;
    pool_stream *stream;
    int channel, status = -1;
    pid_t child;
    sem_t gate;

    (void)state;
    if (memory_mock)
        skip();
    assert_int_equal(sem_init(&gate, 0, 0), 0);
    stream = create_stream(device);
    buffer = shareable(device, POOL_BUFFER_ZEROED);
    assert_ok(pool_event_create(device, POOL_EVENT_SHAREABLE, &event));
    assert_ok(pool_stream_call(stream, pass_gate, &gate));
    assert_ok(pool_buffer_fill8(buffer, 0, BYTES, 2, stream));
    assert_ok(pool_event_record(event, stream));
    assert_ok(pool_buffer_share(buffer, &shared.buffer));
    assert_ok(pool_event_share(event, &shared.event));

    child = start_order(&shared, "--order", &channel);
    expect_word(channel, 'w'); /* the other process waits */
    assert_int_equal(sem_post(&gate), 0);
    expect_word(channel, 'r'); /* it has recorded the event */
    assert_int_equal(pool_event_query(event), POOL_ERR_NOT_READY);
    assert_ok(pool_stream_wait_event(stream, event));
    assert_ok(pool_buffer_fill8(buffer, 0, SLICE, 4, stream));
    assert_int_equal(pool_stream_query(stream), POOL_ERR_NOT_READY);
    send_word(channel, 'g');
    assert_ok(pool_event_synchronize(event));
    assert_ok(pool_copy_to_host(bytes_of, buffer, 0, SLICE, stream));
    assert_true(memory_all(bytes_of, SLICE, 4));
    assert_ok(pool_copy_to_host(bytes_of, buffer, SLICE, SLICE, stream));
    assert_true(memory_all(bytes_of, SLICE, 3));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(channel);

    if (strncmp(device_argument, "sim", 3) == 0) { /* a wait ends with the process that it is for */
        child = start_order(&shared, "--order-killed", &channel);
        expect_word(channel, 'r');
        assert_ok(pool_stream_wait_event(stream, event));
        assert_int_equal(pool_stream_query(stream), POOL_ERR_NOT_READY);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_ok(pool_stream_synchronize(stream));
        assert_ok(pool_event_query(event));
        assert_int_equal(waitpid(child, &status, 0), child);
        close(channel);
    }
    assert_ok(pool_event_destroy(&event));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    sem_destroy(&gate);
}

/* Each worker is a process. */
static void test_shared_among_workers(void **state)
{
    pool_buffer *buffer, *opened = NULL;
    pool_shared_buffer shared;

    (void)state;
    if (strncmp(device_argument, "workers:sim", 11) || pool_device_count(memory_pool) < 2)
        skip();
    buffer = shareable(memory_device(0), 0);
    assert_ok(pool_buffer_fill8(buffer, 0, BYTES, 3, NULL));
    assert_ok(pool_buffer_share(buffer, &shared));
    assert_ok(pool_buffer_open(memory_device(1), &shared, &opened));
    assert_ptr_equal(pool_buffer_device(opened), memory_device(1));
    assert_ok(pool_buffer_fill8(opened, BYTES - 100, 50, 4, NULL));
    assert_ok(pool_copy_to_host(bytes_of, buffer, BYTES - 100, 100, NULL));
    assert_true(memory_all(bytes_of, 50, 4) && memory_all(bytes_of + 50, 50, 3));
    assert_ok(pool_buffer_destroy(&opened));
    assert_ok(pool_buffer_destroy(&buffer));
}

static void test_unsupported(void **state)
{
    pool_shared_buffer shared = {{0}, 0, 4096};
    pool_shared_event event_text = {{0}};
    pool_buffer *buffer = NULL;
    pool_event *event = NULL;

    (void)state;
    if (!memory_mock)
        skip();
    assert_ok(pool_destroy(&memory_pool));
    pool_mock_remove_function(memory_mock, "cuIpcOpenMemHandle");
    pool_mock_remove_function(memory_mock, "cuIpcOpenEventHandle");
    pool_params params = {.struct_size = sizeof(params), .driver = pool_mock_table(memory_mock)};
    assert_ok(pool_create(&memory_pool, &params));
    refused(pool_buffer_open(memory_device(0), &shared, &buffer), POOL_ERR_UNSUPPORTED,
        "cuIpcGetMemHandle");
    refused(pool_event_open(memory_device(0), &event_text, &event), POOL_ERR_UNSUPPORTED,
        "cuIpcGetEventHandle");
    buffer = shareable(memory_device(0), 0);
    refused(pool_buffer_share(buffer, &shared), POOL_ERR_UNSUPPORTED, "cuIpcGetMemHandle");
    assert_ok(pool_buffer_destroy(&buffer));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_shareable_buffers),
        TEST(test_events),
        TEST(test_shared_buffer),
        TEST(test_shared_event),
        TEST(test_shared_among_workers),
        TEST(test_unsupported),
    };
    int skipped;

    self = argv[0];
    if (argc > 2)
        device_argument = argv[2];
    skipped = memory_choose(argc < 3 ? argc : 3, argv, "mock");
    if (!skipped && argc == 5 && !strcmp(argv[3], "--open"))
        return open_here(argv[4]);
    if (!skipped && argc == 5 && !strncmp(argv[3], "--order", 7))
        return order_here(argv[4], !strcmp(argv[3], "--order-killed"));
    return skipped ? skipped : cmocka_run_group_tests_name("ipc", tests, NULL, NULL);
}
