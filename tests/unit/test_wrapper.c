/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What else the driver offers, on the mock, on simulated devices and on real ones: copies of rows,
 * fork and join of streams, limits of a context, the profiler's collection.
 */
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- copies of rows -------------------------------------------------------------------------- */

enum { ROWS = 7, ROW = 13, PITCH = 40, EXTENT = (ROWS - 1) * PITCH + ROW };

/* Byte i of a matrix whose rows of `pitch` bytes begin at `offset` in device memory, or no row's.
 */
static int row_of(size_t i, size_t offset, size_t pitch, size_t *at)
{
    if (i < offset || (i - offset) / pitch >= ROWS || (i - offset) % pitch >= ROW)
        return 0;
    *at = (i - offset) / pitch * ROW + (i - offset) % pitch;
    return 1;
}

/* Packed rows to a matrix in device memory, to another one there, and back to packed rows. */
static void check_rows(pool_device *device, pool_stream *stream, uint32_t flags, void *host)
{
    const pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = 1024, .flags = flags | POOL_BUFFER_ZEROED};
    unsigned char *packed = host, *back = packed + ROWS * ROW, all[1024];
    pool_buffer *first = NULL, *second = NULL;
    size_t at;

    assert_ok(pool_buffer_create(device, &params, &first));
    assert_ok(pool_buffer_create(device, &params, &second));
    memory_pattern(packed, ROWS * ROW, 3);
    memset(back, 0, ROWS * ROW);
    assert_ok(pool_copy_2d(&(pool_pitched){.buffer = first, .offset = 5, .pitch = PITCH},
        &(pool_pitched){.host = packed}, ROW, ROWS, stream));
    assert_ok(pool_copy_2d(&(pool_pitched){.buffer = second, .offset = 100, .pitch = 64},
        &(pool_pitched){.buffer = first, .offset = 5, .pitch = PITCH}, ROW, ROWS, stream));
    assert_ok(pool_copy_2d(&(pool_pitched){.host = back},
        &(pool_pitched){.buffer = second, .offset = 100, .pitch = 64}, ROW, ROWS, stream));
    if (stream)
        assert_ok(pool_stream_synchronize(stream));
    assert_memory_equal(back, packed, ROWS * ROW);
    for (int k = 0; k < 2; k++) {
        assert_ok(pool_copy_to_host(all, k ? second : first, 0, sizeof(all), NULL));
        for (size_t i = 0; i < sizeof(all); i++)
            assert_int_equal(all[i], row_of(i, k ? 100 : 5, k ? 64 : PITCH, &at) ? packed[at] : 0);
    }
    assert_ok(pool_buffer_destroy(&first));
    assert_ok(pool_buffer_destroy(&second));
}

static void test_rows(void **state)
{
    pool_device *device = memory_device(0);
    unsigned char *pageable = memory_host(2 * ROWS * ROW);
    pool_pinned *pinned = NULL;
    pool_stream *stream = NULL;
    void *data;

    (void)state;
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_pinned_create(device, 2 * ROWS * ROW, 0, &pinned));
    data = pool_pinned_data(pinned);
    for (int with = 0; with < 2; with++) {
        check_rows(device, with ? stream : NULL, 0, pageable);
        check_rows(device, with ? stream : NULL, 0, data);
        check_rows(device, with ? stream : NULL, POOL_BUFFER_SECRET, pageable);
        check_rows(device, with ? stream : NULL, POOL_BUFFER_SECRET, data);
    }
    assert_ok(pool_pinned_destroy(&pinned));
    assert_ok(pool_stream_destroy(&stream));
    free(pageable);
}

static void refuse_rows(const pool_pitched *to, const pool_pitched *from, uint64_t bytes,
    uint64_t rows, pool_status expected, const char *message)
{
    assert_int_equal(pool_copy_2d(to, from, bytes, rows, NULL), expected);
    if (!strstr(pool_last_error()->message, message))
        fail_msg("\"%s\" is not in: %s", message, pool_last_error()->message);
}

static void test_rows_are_checked(void **state)
{
    pool_device *device = memory_device(0);
    unsigned char host[512] = {0};
    pool_buffer *buffer = NULL, *other = NULL;

    (void)state;
    assert_ok(pool_buffer_zeroed(device, EXTENT, &buffer));
    const pool_pitched matrix = {.buffer = buffer, .pitch = PITCH}, packed = {.host = host};
    const pool_pitched late = {.buffer = buffer, .offset = 1, .pitch = PITCH};
    const pool_pitched narrow = {.buffer = buffer, .pitch = ROW - 1};
    const pool_pitched wide = {.buffer = buffer, .pitch = UINT64_C(1) << 31};
    const pool_pitched both = {.buffer = buffer, .host = host};
    const pool_pitched shifted = {.host = host, .offset = 1};
    const pool_pitched none = {.pitch = PITCH};
#define REFUSED(to, from, bytes, rows, message)                                                    \
    refuse_rows(to, from, bytes, rows, POOL_ERR_INVALID_ARGUMENT, message)
    REFUSED(NULL, &packed, ROW, ROWS, "to must not be NULL");
    REFUSED(&matrix, NULL, ROW, ROWS, "from must not be NULL");
    REFUSED(&late, &packed, ROW, ROWS, "to");
    REFUSED(&matrix, &packed, ROW + 1, ROWS, "to");
    REFUSED(&matrix, &packed, ROW, ROWS + 1, "to");
    REFUSED(&matrix, &packed, ROW, UINT64_MAX, "`rows`");
    REFUSED(&narrow, &packed, ROW, ROWS, "unsupported value 12 for `to->pitch`");
    REFUSED(&packed, &wide, ROW, 1, "`from->pitch`");
    REFUSED(&both, &packed, ROW, 1, "both `buffer` and `host`");
    REFUSED(&matrix, &shifted, ROW, 1, "`offset` must be 0");
    REFUSED(&matrix, &none, ROW, 1, "`host` must not be NULL");
    REFUSED(&packed, &packed, ROW, 1, "at least one must be a buffer");
#undef REFUSED
    assert_ok(pool_copy_2d(&matrix, &packed, 0, ROWS, NULL));
    assert_ok(pool_copy_2d(&matrix, &packed, ROW, 0, NULL));
    assert_ok(pool_copy_2d(&matrix, &packed, ROW, ROWS, NULL));
    if (pool_device_count(memory_pool) > 1) {
        assert_ok(pool_buffer_zeroed(memory_device(1), EXTENT, &other));
        refuse_rows(&matrix, &(pool_pitched){.buffer = other, .pitch = PITCH}, ROW, ROWS,
            POOL_ERR_WRONG_DEVICE, "belong to devices");
        assert_ok(pool_buffer_destroy(&other));
    }
    assert_ok(pool_buffer_destroy(&buffer));
}

/* ---- streams --------------------------------------------------------------------------------- */

enum { BRANCHES = 3, BYTES = 256 };

static void pause_10_ms(void *user)
{
    const struct timespec pause = {.tv_nsec = 10000000};

    (void)user;
    nanosleep(&pause, NULL);
}

/* One stream's late fill is copied on three, whose results one stream reads again. */
static void test_fork_and_join(void **state)
{
    pool_device *device = memory_device(0);
    size_t last = pool_device_count(memory_pool) > 1 ? 1 : 0;
    pool_stream *trunk = NULL, *branches[BRANCHES] = {NULL}, *with_null[2] = {NULL};
    unsigned char back[BYTES];
    pool_buffer *source = NULL, *copies = NULL, *sum = NULL;

    (void)state;
    assert_ok(pool_stream_create(device, NULL, &trunk));
    for (int i = 0; i < BRANCHES; i++)
        assert_ok(pool_stream_create(device, NULL, &branches[i]));
    assert_ok(pool_buffer_zeroed(device, BYTES, &source));
    assert_ok(pool_buffer_zeroed(device, BRANCHES * BYTES, &copies));
    assert_ok(pool_buffer_zeroed(device, BRANCHES * BYTES, &sum));
    for (uint8_t round = 1; round <= 3; round++) {
        assert_ok(pool_stream_call(trunk, pause_10_ms, NULL));
        assert_ok(pool_buffer_fill8(source, 0, BYTES, round, trunk));
        assert_ok(pool_stream_fork(trunk, branches, BRANCHES));
        for (uint64_t i = 0; i < BRANCHES; i++) {
            if (i == 1)
                assert_ok(pool_stream_call(branches[i], pause_10_ms, NULL));
            assert_ok(pool_copy_device(copies, i * BYTES, source, 0, BYTES, branches[i]));
        }
        assert_ok(pool_stream_join(trunk, branches, BRANCHES));
        assert_ok(pool_copy_device(sum, 0, copies, 0, BRANCHES * BYTES, trunk));
        for (uint64_t i = 0; i < BRANCHES; i++) {
            assert_ok(pool_copy_to_host(back, sum, i * BYTES, BYTES, trunk));
            assert_true(memory_all(back, BYTES, round));
        }
    }
    /* A device's stream and that of another, a stream itself, none. */
    assert_ok(pool_stream_create(memory_device(last), NULL, &with_null[0]));
    assert_ok(pool_stream_fork(trunk, with_null, 1));
    assert_ok(pool_stream_join(trunk, with_null, 1));
    assert_ok(pool_stream_fork(trunk, &trunk, 1));
    assert_ok(pool_stream_join(trunk, &trunk, 1));
    assert_ok(pool_stream_fork(trunk, NULL, 0));
    assert_ok(pool_stream_join(trunk, NULL, 0));
    assert_status(pool_stream_fork(trunk, with_null, 2), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "`streams[1]` must not be NULL"));
    assert_status(pool_stream_join(trunk, with_null, 2), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_stream_join(trunk, NULL, 1), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_stream_fork(NULL, branches, 1), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_stream_destroy(&with_null[0]));
    assert_ok(pool_stream_synchronize(trunk));
    assert_ok(pool_buffer_destroy(&sum));
    assert_ok(pool_buffer_destroy(&copies));
    assert_ok(pool_buffer_destroy(&source));
    for (int i = 0; i < BRANCHES; i++)
        assert_ok(pool_stream_destroy(&branches[i]));
    assert_ok(pool_stream_destroy(&trunk));
}

/* ---- contexts -------------------------------------------------------------------------------- */

static void test_limits(void **state)
{
    pool_device *device = memory_device(0);
    uint64_t before = 0, now = 0;

    (void)state;
    for (int limit = POOL_LIMIT_STACK; limit <= POOL_LIMIT_HEAP; limit++)
        assert_ok(pool_device_get_limit(device, (pool_limit)limit, &now));
    assert_ok(pool_device_get_limit(device, POOL_LIMIT_STACK, &before));
    assert_ok(pool_device_set_limit(device, POOL_LIMIT_STACK, before + 4096));
    assert_ok(pool_device_get_limit(device, POOL_LIMIT_STACK, &now));
    assert_true(now >= before + 4096);
    assert_ok(pool_device_set_limit(device, POOL_LIMIT_STACK, before));
    assert_ok(pool_device_set_limit(device, POOL_LIMIT_PRINTF, 4 << 20));
    assert_ok(pool_device_get_limit(device, POOL_LIMIT_PRINTF, &now));
    assert_true(now >= 4 << 20);
    assert_status(pool_device_get_limit(device, (pool_limit)3, &now), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "`limit`"));
    assert_status(pool_device_set_limit(device, (pool_limit)3, 1), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_device_get_limit(device, POOL_LIMIT_HEAP, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_device_set_limit(NULL, POOL_LIMIT_HEAP, 1), POOL_ERR_INVALID_ARGUMENT);
}

static void test_profiler(void **state)
{
    pool_device *device = memory_device(0);

    (void)state;
    assert_ok(pool_profiler_start(device));
    assert_ok(pool_profiler_stop(device));
    assert_status(pool_profiler_start(NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_profiler_stop(NULL), POOL_ERR_INVALID_ARGUMENT);
    if (memory_mock) {
        assert_int_equal(memory_calls("cuProfilerStart"), 1);
        assert_int_equal(memory_calls("cuProfilerStop"), 1);
    }
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_rows),
        TEST(test_rows_are_checked),
        TEST(test_fork_and_join),
        TEST(test_limits),
        TEST(test_profiler),
    };
    int skipped = memory_choose(argc, argv, "mock");

    return skipped ? skipped : cmocka_run_group_tests_name("wrapper", tests, NULL, NULL);
}
