/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small job that uses every kind of message: calls with replies, posted launches, copies of
 * pageable and pinned memory, events and a host function.
 */
#ifndef TESTS_WORKERS_JOB_H
#define TESTS_WORKERS_JOB_H

#include <stdint.h>
#include <string.h>

#include <devicepool.h>

enum { JOB_LOG_SIZE = 8, JOB_COUNT = 1 << JOB_LOG_SIZE };

static void job_host_task(void *user)
{
    (void)user;
}

/* The first failure; an object that was not created is NULL and stays so. */
static pool_status job_first(pool_status first, pool_status status)
{
    return first ? first : status;
}

/* Uploads values, has a host function called, and downloads them through pinned memory. */
static pool_status job_copy(pool_device *device, const uint32_t *values)
{
    pool_stream *stream = NULL;
    pool_buffer *buffer = NULL;
    pool_pinned *pinned = NULL;
    pool_event *event = NULL;
    const size_t bytes = JOB_COUNT * sizeof(*values);
    pool_status status = pool_stream_create(device, NULL, &stream);

    if (!status)
        status = pool_event_create(device, 0, &event);
    if (!status)
        status = pool_buffer_alloc(device, bytes, &buffer);
    if (!status)
        status = pool_pinned_create(device, bytes, 0, &pinned);
    if (!status)
        status = pool_copy_to_device(buffer, 0, values, bytes, stream);
    if (!status)
        status = pool_stream_call(stream, job_host_task, NULL);
    if (!status)
        status = pool_event_record(event, stream);
    if (!status)
        status = pool_copy_to_host(pool_pinned_data(pinned), buffer, 0, bytes, stream);
    if (!status)
        status = pool_event_synchronize(event);
    if (!status)
        status = pool_stream_synchronize(stream);
    if (!status && memcmp(pool_pinned_data(pinned), values, bytes) != 0)
        status = POOL_ERR_INTERNAL;
    status = job_first(status, pool_event_destroy(&event));
    status = job_first(status, pool_buffer_destroy(&buffer));
    status = job_first(status, pool_pinned_destroy(&pinned));
    return job_first(status, pool_stream_destroy(&stream));
}

/* A transform there and back. */
static pool_status job_transform(pool_device *device, const uint32_t *values)
{
    const pool_ntt_domain_params domain_params = {.struct_size = sizeof(domain_params),
        .field = pool_field_by_name("babybear"),
        .log_size = JOB_LOG_SIZE};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_ntt_params params = {.struct_size = sizeof(params)};
    uint32_t data[JOB_COUNT];
    pool_span span = {.data = data, .count = JOB_COUNT};
    pool_ntt_domain *domain = NULL;
    pool_status status = pool_ntt_domain_create(&domain_params, &domain);

    memcpy(data, values, sizeof(data));
    params.domain = domain;
    if (!status)
        status = pool_ntt(&params, &exec, &span, &span);
    if (!status && memcmp(data, values, sizeof(data)) == 0)
        status = POOL_ERR_INTERNAL;
    params.direction = POOL_NTT_INVERSE;
    if (!status)
        status = pool_ntt(&params, &exec, &span, &span);
    if (!status && memcmp(data, values, sizeof(data)) != 0)
        status = POOL_ERR_INTERNAL;
    return job_first(status, pool_ntt_domain_destroy(&domain));
}

/* POOL_ERR_INTERNAL: a result is wrong. The thread's error detail is that of the first failure. */
static pool_status run_job(pool_device *device, uint32_t seed)
{
    uint32_t values[JOB_COUNT];
    pool_status status;

    for (uint32_t i = 0; i < JOB_COUNT; i++)
        values[i] = (i * 2654435761u + seed) % 2013265921u;
    status = job_copy(device, values);
    return status ? status : job_transform(device, values);
}

#endif
