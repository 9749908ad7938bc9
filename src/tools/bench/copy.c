/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures copies: host to device and back, pageable (also by the driver alone) and pinned, within
 * a device, and to the next device of the pool. The data is read back in another way and compared
 * byte by byte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

struct copy_state {
    uint8_t *pageable;
    pool_pinned *pinned;
    uint8_t *host; /* points to one of the two */
    pool_buffer *buffer;
    pool_buffer *other;
    int to_device;
    int to_host;
    int is_bare; /* by the driver's own functions */
    struct bench_driver driver;
    CUdeviceptr address;
};

static bool has_copy(const char *subject)
{
    static const char *const subjects[] = {"to-device", "to-device-pinned", "to-device-driver",
        "to-host", "to-host-pinned", "to-host-driver", "on-device", "peer"};

    for (size_t i = 0; i < BENCH_COUNT_OF(subjects); i++)
        if (strcmp(subjects[i], subject) == 0)
            return 1;
    return 0;
}

/* Selects the device of the second buffer: the same, or the next one of the pool. */
static pool_status get_target_device(struct bench_run *run, pool_device **other)
{
    size_t next = (size_t)pool_device_index(run->device) + 1;

    *other = run->device;
    if (strcmp(run->spec.subject, "peer") != 0)
        return POOL_OK;
    return pool_device_at(run->pool, next % pool_device_count(run->pool), other);
}

static pool_status create_copy(struct bench_run *run)
{
    struct copy_state *copy = bench_keep(run, 1, sizeof(*copy));
    int is_pinned = strstr(run->spec.subject, "pinned") != NULL;
    pool_device *other;
    pool_status status;

    run->state = copy;
    run->units = (double)run->spec.size;
    copy->to_device = strncmp(run->spec.subject, "to-device", 9) == 0;
    copy->to_host = strncmp(run->spec.subject, "to-host", 7) == 0;
    copy->is_bare = strstr(run->spec.subject, "driver") != NULL;
    copy->pageable = bench_keep(run, 1, run->spec.size);
    copy->host = copy->pageable;
    status = get_target_device(run, &other);
    if (!status)
        status = pool_buffer_zeroed(run->device, run->spec.size, &copy->buffer);
    if (!status && !copy->to_device && !copy->to_host)
        status = pool_buffer_zeroed(other, run->spec.size, &copy->other);
    if (!status && copy->is_bare)
        status = bench_driver_find(run, &copy->driver);
    if (!status)
        status = pool_buffer_address(copy->buffer, &copy->address);
    if (!status && is_pinned)
        status = pool_pinned_create(run->device, run->spec.size, 0, &copy->pinned);
    if (status)
        return status;
    if (is_pinned)
        copy->host = pool_pinned_data(copy->pinned);
    bench_fill_pattern(copy->host, run->spec.size);
    if (!copy->to_device)
        status = pool_copy_to_device(copy->buffer, 0, copy->host, run->spec.size, NULL);
    if (copy->to_host)
        memset(copy->host, 0, run->spec.size);
    return status;
}

/* Both copies wait until they are done, as those of the library on the stream NULL do. */
static pool_status call_bare(struct bench_run *run, struct copy_state *copy)
{
    const size_t bytes = run->spec.size;
    pool_status status = pool_bind(run->device);

    if (status)
        return status;
    run->driver_code =
        (int)(copy->to_device ? copy->driver.copy_to_device(copy->address, copy->host, bytes)
                              : copy->driver.copy_to_host(copy->host, copy->address, bytes));
    pool_unbind(run->device);
    if (!run->driver_code)
        return POOL_OK;
    snprintf(run->failure, sizeof(run->failure), "the driver's copy failed: %d", run->driver_code);
    return POOL_ERR_DRIVER;
}

static pool_status call_copy(struct bench_run *run)
{
    struct copy_state *copy = run->state;
    pool_stream *stream = run->spec.waits ? NULL : run->stream;

    if (copy->is_bare)
        return call_bare(run, copy);
    if (copy->to_device)
        return pool_copy_to_device(copy->buffer, 0, copy->host, run->spec.size, stream);
    if (copy->to_host)
        return pool_copy_to_host(copy->host, copy->buffer, 0, run->spec.size, stream);
    return pool_copy_device(copy->other, 0, copy->buffer, 0, run->spec.size, stream);
}

static pool_status check_copy(struct bench_run *run, bool *is_correct)
{
    struct copy_state *copy = run->state;
    uint8_t *expected = bench_alloc(1, run->spec.size);
    uint8_t *received = bench_alloc(1, run->spec.size);
    pool_status status = POOL_OK;

    bench_fill_pattern(expected, run->spec.size);
    if (copy->to_host)
        memcpy(received, copy->host, run->spec.size);
    else
        status = pool_copy_to_host(
            received, copy->to_device ? copy->buffer : copy->other, 0, run->spec.size, NULL);
    if (!status)
        *is_correct = memcmp(received, expected, run->spec.size) == 0;
    free(expected);
    free(received);
    return status;
}

static void destroy_copy(struct bench_run *run)
{
    struct copy_state *copy = run->state;

    pool_buffer_destroy(&copy->buffer);
    pool_buffer_destroy(&copy->other);
    pool_pinned_destroy(&copy->pinned);
}

const struct bench_operation bench_copy = {
    .name = "copy",
    .options = "",
    .unit = "bytes",
    .option = "what",
    .arrays = 1,
    .default_subjects = "to-device,to-device-pinned,to-host,to-host-pinned,on-device",
    .default_sizes = "64K,1M,16M",
    .has_subject = has_copy,
    .create = create_copy,
    .call = call_copy,
    .check = check_copy,
    .destroy = destroy_copy,
};
