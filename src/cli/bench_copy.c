/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures copies: host to device and back, pageable and pinned, within a device, and to the next
 * device of the pool. The data is read back in another way and compared byte by byte.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct copying {
    uint8_t *pageable;
    pool_pinned *pinned;
    uint8_t *host; /* points to one of the two */
    pool_buffer *buffer;
    pool_buffer *other;
    int to_device;
    int to_host;
};

static int has_copy(const char *subject)
{
    static const char *const subjects[] = {
        "to-device", "to-device-pinned", "to-host", "to-host-pinned", "on-device", "peer"};

    for (size_t i = 0; i < CLI_COUNT_OF(subjects); i++)
        if (strcmp(subjects[i], subject) == 0)
            return 1;
    return 0;
}

/* Selects the device of the second buffer: the same, or the next one of the pool. */
static pool_status get_target_device(struct bench_work *work, pool_device **other)
{
    size_t next = (size_t)pool_device_index(work->device) + 1;

    *other = work->device;
    if (strcmp(work->subject, "peer") != 0)
        return POOL_OK;
    return pool_device_at(work->pool, next % pool_device_count(work->pool), other);
}

static pool_status open_copying(struct bench_work *work)
{
    struct copying *copying = cli_alloc(1, sizeof(*copying));
    int is_pinned = strstr(work->subject, "pinned") != NULL;
    pool_device *other;
    pool_status status;

    work->state = copying;
    work->units = (double)work->size;
    copying->to_device = strncmp(work->subject, "to-device", 9) == 0;
    copying->to_host = strncmp(work->subject, "to-host", 7) == 0;
    copying->pageable = cli_alloc(1, work->size);
    copying->host = copying->pageable;
    status = get_target_device(work, &other);
    if (!status)
        status = pool_buffer_zeroed(work->device, work->size, &copying->buffer);
    if (!status && !copying->to_device && !copying->to_host)
        status = pool_buffer_zeroed(other, work->size, &copying->other);
    if (!status && is_pinned)
        status = pool_pinned_create(work->device, work->size, 0, &copying->pinned);
    if (status)
        return status;
    if (is_pinned)
        copying->host = pool_pinned_data(copying->pinned);
    cli_fill_pattern(copying->host, work->size);
    if (!copying->to_device)
        status = pool_copy_to_device(copying->buffer, 0, copying->host, work->size, NULL);
    if (copying->to_host)
        memset(copying->host, 0, work->size);
    return status;
}

static pool_status run_copying(struct bench_work *work)
{
    struct copying *copying = work->state;

    if (copying->to_device)
        return pool_copy_to_device(copying->buffer, 0, copying->host, work->size, work->stream);
    if (copying->to_host)
        return pool_copy_to_host(copying->host, copying->buffer, 0, work->size, work->stream);
    return pool_copy_device(copying->other, 0, copying->buffer, 0, work->size, work->stream);
}

static pool_status check_copying(struct bench_work *work, int *is_correct)
{
    struct copying *copying = work->state;
    uint8_t *expected = cli_alloc(1, work->size);
    uint8_t *received = cli_alloc(1, work->size);
    pool_status status = POOL_OK;

    cli_fill_pattern(expected, work->size);
    if (copying->to_host)
        memcpy(received, copying->host, work->size);
    else
        status = pool_copy_to_host(
            received, copying->to_device ? copying->buffer : copying->other, 0, work->size, NULL);
    if (!status)
        *is_correct = memcmp(received, expected, work->size) == 0;
    free(expected);
    free(received);
    return status;
}

static void close_copying(struct bench_work *work)
{
    struct copying *copying = work->state;

    if (!copying)
        return;
    pool_buffer_destroy(&copying->buffer);
    pool_buffer_destroy(&copying->other);
    pool_pinned_destroy(&copying->pinned);
    free(copying->pageable);
    free(copying);
}

const struct bench_operation bench_copy = {
    .name = "copy",
    .takes = "",
    .unit = "bytes",
    .option = "what",
    .default_subjects = "to-device,to-device-pinned,to-host,to-host-pinned,on-device",
    .default_sizes = "64K,1M,16M",
    .has_subject = has_copy,
    .open = open_copying,
    .run = run_copying,
    .check = check_copying,
    .close = close_copying,
};
