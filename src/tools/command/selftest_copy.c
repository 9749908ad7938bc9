/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-test of memory: copies to a device and back by different paths, within the device, and
 * through every other device of the pool.
 */
#include <stdlib.h>
#include <string.h>

#include "selftest.h"

/* Larger than a staging buffer, and not a multiple of a power of two. */
enum { BYTES = (5 << 20) + 4321 };

static const char *const paths[] = {"pageable", "pinned", "fill", "slice", "other devices"};

static size_t count_paths(device_pool *pool)
{
    /* The last one needs a second device. */
    return CLI_COUNT_OF(paths) - (pool_usable_count(pool) < 2);
}

static const char *path_name(size_t index)
{
    return paths[index];
}

/* Copies to the device and back, as `devicepool bench copy` does. */
static pool_status copy_and_back(
    device_pool *pool, pool_device *device, const char *subject, int *is_correct)
{
    struct bench_run run = {.operation = &bench_copy,
        .spec = {.subject = subject, .size = BYTES},
        .pool = pool,
        .device = device,
        .repeat = 1};
    pool_status status = bench_measure(&run);

    *is_correct = run.is_correct;
    return status;
}

static pool_status through_fill(pool_device *device, uint8_t *sent, uint8_t *received)
{
    pool_buffer *buffer = NULL;
    pool_status status = pool_buffer_zeroed(device, BYTES, &buffer);

    memset(sent, 0, BYTES);
    memset(sent + 1000, 0xa5, 12345);
    if (!status)
        status = pool_buffer_fill8(buffer, 1000, 12345, 0xa5, NULL);
    if (!status)
        status = pool_copy_to_host(received, buffer, 0, BYTES, NULL);
    pool_buffer_destroy(&buffer);
    return status;
}

/* Shifts the data by one byte within the device, between overlapping ranges. */
static pool_status through_slice(pool_device *device, uint8_t *sent, uint8_t *received)
{
    pool_buffer *buffer = NULL;
    pool_buffer *slice = NULL;
    pool_status status = pool_buffer_alloc(device, BYTES + 1, &buffer);

    if (!status)
        status = pool_copy_to_device(buffer, 0, sent, BYTES, NULL);
    if (!status)
        status = pool_buffer_slice(buffer, 1, BYTES, &slice);
    if (!status)
        status = pool_copy_device(slice, 0, buffer, 0, BYTES, NULL);
    if (!status)
        status = pool_copy_to_host(received, slice, 0, BYTES, NULL);
    pool_buffer_destroy(&slice);
    pool_buffer_destroy(&buffer);
    return status;
}

/* Copies from the device to each other usable one in turn, and back from the last. */
static pool_status through_others(
    device_pool *pool, pool_device *device, uint8_t *sent, uint8_t *received)
{
    pool_buffer *buffer = NULL;
    pool_status status = pool_buffer_from_host(device, sent, BYTES, &buffer);

    for (size_t i = 0; i < pool_device_count(pool) && !status; i++) {
        pool_device_info info = {.struct_size = sizeof(info)};
        pool_buffer *next = NULL;
        pool_device *other;

        status = pool_device_at(pool, i, &other);
        if (!status)
            status = pool_device_get_info(other, &info);
        if (status || other == device || info.state != POOL_DEVICE_READY)
            continue;
        status = pool_buffer_alloc(other, BYTES, &next);
        if (!status)
            status = pool_copy_device(next, 0, buffer, 0, BYTES, NULL);
        pool_buffer_destroy(&buffer);
        buffer = next;
    }
    if (!status)
        status = pool_copy_to_host(received, buffer, 0, BYTES, NULL);
    pool_buffer_destroy(&buffer);
    return status;
}

static pool_status run_path(device_pool *pool, pool_device *device, size_t index, int *is_correct)
{
    uint8_t *memory;
    pool_status status;

    if (index < 2)
        return copy_and_back(pool, device, index ? "to-host-pinned" : "to-host", is_correct);
    memory = bench_alloc(2, BYTES);
    bench_fill_pattern(memory, BYTES);
    if (index == 2)
        status = through_fill(device, memory, memory + BYTES);
    else if (index == 3)
        status = through_slice(device, memory, memory + BYTES);
    else
        status = through_others(pool, device, memory, memory + BYTES);
    if (!status)
        *is_correct = memcmp(memory, memory + BYTES, BYTES) == 0;
    free(memory);
    return status;
}

const struct selftest_area selftest_copy = {"copy", count_paths, path_name, run_path};
