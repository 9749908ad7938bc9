/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and pinned memory on the mock, on simulated devices and on real ones: the behaviour that
 * all drivers have in common.
 */
#include "driver/attributes.h"
#include "pool/device/device.h"
#include "support/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

/* Pageable memory of sizes at every edge of direct copies, small rings, pieces and rings. */
static void test_pageable_sizes(void **state)
{
    static const size_t sizes[] = {1, 4095, 64 << 10, (64 << 10) + 1, 256 << 10, (256 << 10) + 1,
        MIB - 1, MIB, MIB + 1, 5 * MIB + 3, 16 * MIB, 17 * MIB + 1, 40 * MIB + 12345};
    pool_device *device = memory_device(0);
    size_t most = 40 * MIB + 12345 + 8;
    unsigned char *data = memory_host(most), *back = memory_host(most);
    pool_buffer *buffer = NULL;
    pool_stream *stream = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(device, most, &buffer));
    assert_ok(pool_stream_create(device, NULL, &stream));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (uint32_t with = 0; with < 2; with++) {
            pool_stream *on = with ? stream : NULL;
            size_t offset = i % 5;

            memory_pattern(data, sizes[i], (uint32_t)i + with);
            assert_ok(pool_copy_to_device(buffer, offset, data, sizes[i], on));
            memset(data, 0xee, sizes[i]); /* with a stream too the source is free again */
            memset(back, 0xdd, sizes[i] + 1);
            assert_ok(pool_copy_to_host(back, buffer, offset, sizes[i], on));
            memory_check_pattern(back, sizes[i], (uint32_t)i + with);
            assert_int_equal(back[sizes[i]], 0xdd);
        }
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_buffer_destroy(&buffer));
    free(data);
    free(back);
}

/* ---- what reaches the driver ----------------------------------------------------------------- */

/* The driver below the pool of test_never_pageable, and the copies that are requested from it. */
static struct {
    pool_cuda_api below;
    unsigned copies;   /* between host and device */
    unsigned pageable; /* of these, of memory that is not pinned */
} asked;

static bool is_pinned(const void *host)
{
    pool_cu_enum attribute = DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE;
    unsigned type = 0;
    void *value = &type;

    return !asked.below.PointerGetAttributes(1, &attribute, &value, (CUdeviceptr)(uintptr_t)host) &&
           type == DRIVER_MEMORYTYPE_HOST;
}

static void ask(const void *host, size_t bytes)
{
    asked.copies++;
    asked.pageable += !is_pinned(host) || !is_pinned((const char *)host + bytes - 1);
}

static pool_cu_result ask_to_host(void *to, CUdeviceptr from, size_t bytes)
{
    ask(to, bytes);
    return asked.below.MemcpyDtoH(to, from, bytes);
}

static pool_cu_result ask_to_host_async(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    ask(to, bytes);
    return asked.below.MemcpyDtoHAsync(to, from, bytes, stream);
}

static pool_cu_result ask_to_device_async(
    CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    ask(from, bytes);
    return asked.below.MemcpyHtoDAsync(to, from, bytes, stream);
}

static pool_cu_result ask_rows(const pool_cu_copy_2d *rows, CUstream stream)
{
    const pool_cu_copy_side *host =
        rows->to.memory_type == DRIVER_MEMORYTYPE_HOST ? &rows->to : &rows->from;

    if (host->memory_type == DRIVER_MEMORYTYPE_HOST)
        ask(host->host, (rows->height - 1) * host->pitch + rows->width_bytes);
    return asked.below.Memcpy2DAsync(rows, stream);
}

/* A second pool on the same driver, whose copies pass by here. */
static device_pool *asked_pool(pool_cuda_api *table)
{
    pool_params params = {.struct_size = sizeof(params), .driver = table};
    device_pool *pool = NULL;

    asked.below = *memory_driver(memory_device(0));
    *table = asked.below;
    table->struct_size = sizeof(*table);
    table->MemcpyDtoH = ask_to_host;
    table->MemcpyDtoHAsync = ask_to_host_async;
    table->MemcpyHtoDAsync = ask_to_device_async;
    table->Memcpy2DAsync = ask_rows;
    assert_ok(pool_create(&pool, &params));
    return pool;
}

static void expect_asked(bool is_pageable, const char *what, size_t bytes)
{
    if (!asked.copies || is_pageable != (asked.pageable > 0))
        fail_msg("%s of %zu bytes: %u of %u copies of the driver are of pageable memory", what,
            bytes, asked.pageable, asked.copies);
    asked.copies = asked.pageable = 0;
}

/* Rows between pageable memory and every second row of a matrix; the other rows stay 0. */
static void check_rows(
    pool_device *device, pool_stream *stream, uint32_t flags, size_t row, size_t rows)
{
    const pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = 2 * row * rows,
        .flags = flags | POOL_BUFFER_ZEROED};
    const size_t pitch = row + 3;
    unsigned char *data = memory_host(pitch * rows), *back = memory_host(pitch * rows),
                  *all = memory_host(params.bytes);
    pool_buffer *buffer = NULL;

    memory_pattern(data, pitch * rows, (uint32_t)row);
    memset(back, 0xdd, pitch * rows);
    assert_ok(pool_buffer_create(device, &params, &buffer));
    asked.copies = asked.pageable = 0;
    assert_ok(pool_copy_2d(&(pool_pitched){.buffer = buffer, .pitch = 2 * row},
        &(pool_pitched){.host = data, .pitch = pitch}, row, rows, stream));
    expect_asked(false, "rows to the device", row * rows);
    assert_ok(pool_copy_2d(&(pool_pitched){.host = back, .pitch = pitch},
        &(pool_pitched){.buffer = buffer, .pitch = 2 * row}, row, rows, stream));
    expect_asked(false, "rows to the host", row * rows);
    assert_ok(pool_copy_to_host(all, buffer, 0, params.bytes, NULL));
    for (size_t r = 0; r < rows; r++) {
        assert_memory_equal(back + r * pitch, data + r * pitch, row);
        assert_true(r + 1 == rows || memory_all(back + r * pitch + row, 3, 0xdd));
        assert_memory_equal(all + 2 * r * row, data + r * pitch, row);
        assert_true(memory_all(all + (2 * r + 1) * row, row, 0));
    }
    assert_ok(pool_buffer_destroy(&buffer));
    free(data);
    free(back);
    free(all);
}

/* Pageable copies to the host exclude each other in a driver, so it gets none, of any size; to the
 * device it gets those that do not wait, but for secrets. */
static void test_never_pageable(void **state)
{
    static const size_t sizes[] = {1, 96, 1024, 65536, 65537, 262144, 262145, MIB, 20 * MIB + 1};
    static pool_cuda_api table;
    const size_t most = 20 * MIB + 1;
    device_pool *pool = asked_pool(&table);
    unsigned char *data = memory_host(most), *back = memory_host(most);
    pool_buffer_params hidden = {
        .struct_size = sizeof(hidden), .bytes = most, .flags = POOL_BUFFER_SECRET};
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_buffer *buffer = NULL, *secret = NULL;
    pool_device *device = NULL;
    pool_stream *stream = NULL;

    (void)state;
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_buffer_alloc(device, most, &buffer));
    assert_ok(pool_buffer_create(device, &hidden, &secret));
    asked.copies = asked.pageable = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int with = 0; with < 2; with++) {
            pool_stream *on = with ? stream : NULL;

            memory_pattern(data, sizes[i], (uint32_t)i);
            assert_ok(pool_copy_to_device(buffer, 0, data, sizes[i], on));
            expect_asked(sizes[i] <= 65536, "a copy to the device", sizes[i]);
            assert_ok(pool_copy_to_host(back, buffer, 0, sizes[i], on));
            expect_asked(false, "a copy to the host", sizes[i]);
            memory_check_pattern(back, sizes[i], (uint32_t)i);
            assert_ok(pool_copy_to_device(secret, 0, data, sizes[i], on));
            expect_asked(false, "a secret", sizes[i]);
            memset(back, 0, sizes[i]);
            assert_ok(pool_copy_to_host(back, secret, 0, sizes[i], on));
            expect_asked(false, "a secret to the host", sizes[i]);
            memory_check_pattern(back, sizes[i], (uint32_t)i);
        }
    /* A few small rings are enough for all small copies, one after the other. */
    assert_ok(pool_memory_get_info(device, &info));
    assert_true(info.staging_bytes > 16 * MIB && info.staging_bytes % (16 * MIB) <= MIB);
    for (int with = 0; with < 2; with++)
        for (uint32_t flags = 0; flags <= POOL_BUFFER_SECRET; flags += POOL_BUFFER_SECRET) {
            check_rows(device, with ? stream : NULL, flags, 13, 7);
            check_rows(device, with ? stream : NULL, flags, 999, 20011); /* more than a ring */
            check_rows(device, with ? stream : NULL, flags, 300001, 5);
            check_rows(device, with ? stream : NULL, flags, MIB, 2);
            check_rows(device, with ? stream : NULL, flags, MIB + 1, 3); /* than a slot */
        }
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_buffer_destroy(&secret));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_destroy(&pool));
    free(data);
    free(back);
}

static void test_pinned(void **state)
{
    pool_device *device = memory_device(0);
    size_t bytes = 3 * MIB;
    unsigned char *own = aligned_alloc(4096, bytes);
    pool_pinned *pinned = NULL, *registered = NULL, *twice = NULL;
    pool_buffer *buffer = NULL;
    pool_stream *stream = NULL;
    pool_memory_info info = {.struct_size = sizeof(info)};
    /* A worker process cannot register memory of this one. */
    bool is_isolated = device_driver(device)->api.flags & POOL_CUDA_ISOLATED_DEVICES;

    (void)state;
    assert_non_null(own);
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_pinned_create(device, bytes, 0, &pinned));
    if (is_isolated) {
        assert_status(
            pool_pinned_register(device, own, bytes, 0, &registered), POOL_ERR_UNSUPPORTED);
        assert_null(registered);
    } else {
        assert_ok(pool_pinned_register(device, own, bytes, 0, &registered));
        assert_status(
            pool_pinned_register(device, own, bytes, 0, &twice), POOL_ERR_INVALID_ARGUMENT);
        assert_null(twice);
        assert_ptr_equal(pool_pinned_data(registered), own);
    }
    assert_int_equal(pool_pinned_bytes(pinned), bytes);
    assert_ptr_equal(pool_pinned_device(pinned), device);
    assert_ok(pool_memory_get_info(device, &info));
    assert_int_equal(info.pinned_bytes, is_isolated ? bytes : 2 * bytes);
    assert_ok(pool_buffer_alloc(device, bytes, &buffer));
    memory_pattern(pool_pinned_data(pinned), bytes, 3);
    assert_ok(pool_copy_to_device(buffer, 0, pool_pinned_data(pinned), bytes, stream));
    assert_ok(pool_copy_to_host(own, buffer, 0, bytes, stream));
    assert_ok(pool_stream_synchronize(stream));
    memory_check_pattern(own, bytes, 3);
    memset(own, 0, bytes);
    assert_ok(pool_copy_to_host(own, buffer, 0, bytes, NULL));
    memory_check_pattern(own, bytes, 3);
    assert_ok(pool_pinned_destroy(&registered));
    if (!is_isolated)
        assert_ok(pool_pinned_register(device, own, bytes, 0, &registered));
    assert_ok(pool_pinned_destroy(&registered));
    assert_ok(pool_pinned_destroy(&pinned));
    assert_null(pinned);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    free(own);
}

/* Overlap as memmove has it, in both directions, at distances that take every way. */
static void test_overlap(void **state)
{
    static const size_t distances[] = {1, 7, 100, 4000, 65536, 400000, 1 << 20};
    size_t bytes = MIB;
    unsigned char *data = memory_host(3 * bytes), *back = memory_host(3 * bytes);
    pool_buffer *buffer = NULL;

    (void)state;
    memory_pattern(data, 3 * bytes, 11);
    assert_ok(pool_buffer_alloc(memory_device(0), 3 * bytes, &buffer));
    for (size_t i = 0; i < 2 * sizeof(distances) / sizeof(distances[0]); i++) {
        size_t distance = distances[i / 2], from = i % 2 ? distance : 0, to = distance - from;

        assert_ok(pool_copy_to_device(buffer, 0, data, 3 * bytes, NULL));
        assert_ok(pool_copy_device(buffer, to, buffer, from, bytes, NULL));
        assert_ok(pool_copy_to_host(back, buffer, 0, 3 * bytes, NULL));
        assert_memory_equal(back + to, data + from, bytes);
        assert_memory_equal(back + 2 * bytes, data + 2 * bytes, bytes);
        if (to)
            assert_memory_equal(back, data, to);
    }
    assert_ok(pool_copy_device(buffer, 5, buffer, 5, bytes, NULL));
    assert_status(
        pool_copy_device(buffer, 2 * bytes + 1, buffer, 0, bytes, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_copy_device(buffer, 0, buffer, 2 * bytes + 1, bytes, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_buffer_destroy(&buffer));
    free(data);
    free(back);
}

/* Memory that is not what the call is for. */
static void test_wrong_memory(void **state)
{
    pool_device *device = memory_device(0);
    pool_buffer *buffer = NULL, *other = NULL;
    CUdeviceptr address;
    int local = 0;

    (void)state;
    assert_ok(pool_buffer_alloc(device, 4096, &buffer));
    assert_ok(pool_buffer_address(buffer, &address));
    assert_status(pool_copy_to_device(buffer, 0, (const void *)(uintptr_t)address, 16, NULL),
        POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "device memory"));
    assert_status(pool_copy_to_host((void *)(uintptr_t)address, buffer, 0, 16, NULL),
        POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_buffer_adopt(device, (CUdeviceptr)(uintptr_t)&local, 4, &other),
        POOL_ERR_INVALID_ARGUMENT);
    assert_null(other);
    assert_ok(pool_buffer_destroy(&buffer));
}

static void test_two_devices(void **state)
{
    size_t bytes = 3 * MIB + 5;
    unsigned char *data = memory_host(bytes), *back = memory_host(bytes);
    pool_buffer *here = NULL, *there = NULL, *secret = NULL;
    pool_stream *stream = NULL;
    pool_buffer_params params = {.struct_size = sizeof(params), .flags = POOL_BUFFER_SECRET};

    (void)state;
    if (pool_device_count(memory_pool) < 2) {
        free(data);
        free(back);
        return;
    }
    memory_pattern(data, bytes, 5);
    assert_ok(pool_buffer_from_host(memory_device(0), data, bytes, &here));
    assert_ok(pool_buffer_zeroed(memory_device(1), bytes, &there));
    assert_ok(pool_stream_create(memory_device(0), NULL, &stream));
    /* A stream of the other device does not do. */
    assert_status(pool_copy_to_device(there, 0, data, 1, stream), POOL_ERR_WRONG_DEVICE);
    assert_status(pool_copy_to_host(back, there, 0, 1, stream), POOL_ERR_WRONG_DEVICE);
    assert_status(pool_buffer_fill8(there, 0, 1, 0, stream), POOL_ERR_WRONG_DEVICE);
    assert_status(pool_copy_device(there, 0, there, 1, 1, stream), POOL_ERR_WRONG_DEVICE);
    assert_status(pool_buffer_destroy_on(&there, stream), POOL_ERR_WRONG_DEVICE);
    assert_non_null(there);
    /* Between devices the stream of either does. */
    assert_ok(pool_copy_device(there, 0, here, 0, bytes, NULL));
    assert_ok(pool_copy_to_host(back, there, 0, bytes, NULL));
    memory_check_pattern(back, bytes, 5);
    assert_ok(pool_buffer_fill8(here, 0, bytes, 0, NULL));
    assert_ok(pool_copy_device(here, 0, there, 0, bytes, stream));
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_copy_to_host(back, here, 0, bytes, NULL));
    memory_check_pattern(back, bytes, 5);
    params.bytes = bytes;
    assert_ok(pool_buffer_create(memory_device(1), &params, &secret));
    assert_ok(pool_copy_device(secret, 0, here, 0, bytes, stream));
    assert_ok(pool_stream_synchronize(stream));
    memset(back, 0, bytes);
    assert_ok(pool_copy_to_host(back, secret, 0, bytes, NULL));
    memory_check_pattern(back, bytes, 5);
    assert_ok(pool_buffer_destroy(&here));
    assert_ok(pool_buffer_destroy(&there));
    assert_ok(pool_buffer_destroy(&secret));
    assert_ok(pool_stream_destroy(&stream));
    free(data);
    free(back);
}

/* In stream order the memory goes from one use to the next without the host waiting. */
static void test_stream_ordered(void **state)
{
    pool_device *device = memory_device(0);
    pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = MIB, .flags = POOL_BUFFER_ZEROED};
    unsigned char *back = memory_host(MIB);
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_stream_create(device, NULL, &params.stream));
    for (uint32_t i = 0; i < 20; i++) {
        assert_ok(pool_buffer_create(device, &params, &buffer));
        assert_ok(pool_copy_to_host(back, buffer, 0, MIB, params.stream));
        assert_true(memory_all(back, MIB, 0));
        assert_ok(pool_buffer_fill8(buffer, 0, MIB, (uint8_t)i, params.stream));
        if (i % 2)
            assert_ok(pool_buffer_destroy_on(&buffer, params.stream));
        else
            assert_ok(pool_buffer_destroy(&buffer));
    }
    assert_ok(pool_stream_destroy(&params.stream));
    free(back);
}

struct worker {
    pthread_t thread;
    uint32_t seed;
    const char *failed;
};

/* No asserts off the main thread: what went wrong is reported to it. */
static void *work(void *argument)
{
    struct worker *me = argument;
    size_t bytes = 2 * MIB + me->seed;
    pool_device *device = NULL;
    unsigned char *data = calloc(bytes, 1), *back = calloc(bytes, 1);

    if (pool_device_at(memory_pool, me->seed % pool_device_count(memory_pool), &device))
        me->failed = "pool_device_at";
    for (uint32_t round = 0; !me->failed && round < 4; round++) {
        pool_buffer *buffer = NULL, *slice = NULL;
        pool_stream *stream = NULL;

        memory_pattern(data, bytes, me->seed + round);
        if (pool_stream_create(device, NULL, &stream) ||
            pool_buffer_alloc(device, bytes, &buffer) ||
            pool_copy_to_device(buffer, 0, data, bytes, stream) ||
            pool_copy_to_host(back, buffer, 0, bytes, stream))
            me->failed = "a copy";
        else if (memcmp(data, back, bytes))
            me->failed = "the bytes";
        if (pool_buffer_slice(buffer, 1, 1, &slice) || pool_buffer_destroy(&buffer) ||
            pool_buffer_destroy_on(&slice, stream) || pool_stream_destroy(&stream))
            me->failed = "giving back";
    }
    free(data);
    free(back);
    return NULL;
}

static void test_threads(void **state)
{
    struct worker workers[8] = {0};

    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        workers[i].seed = i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < 8; i++)
        pthread_join(workers[i].thread, NULL);
    for (uint32_t i = 0; i < 8; i++)
        assert_null(workers[i].failed);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_pageable_sizes),
        TEST(test_never_pageable),
        TEST(test_pinned),
        TEST(test_overlap),
        TEST(test_wrong_memory),
        TEST(test_two_devices),
        TEST(test_stream_ordered),
        TEST(test_threads),
    };
    int skipped = memory_choose(argc, argv, "mock");

    return skipped ? skipped : cmocka_run_group_tests_name("memory copies", tests, NULL, NULL);
}
