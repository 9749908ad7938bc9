/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of the soak, their leases, and the loop of a thread.
 */
#include "soak/soak.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 200, PATIENCE_S = 300 };

/* ---- jobs --------------------------------------------------------------------------------------
 */

static pool_span host_span(const void *data, uint64_t count)
{
    return (pool_span){.data = (void *)(uintptr_t)data, .count = count};
}

static pool_status run_msm(
    struct soak *soak, const pool_exec *exec, const struct soak_problem *problem, uint8_t *answer)
{
    const pool_msm_params params = {.struct_size = sizeof(params), .curve = soak->work.curve};
    uint64_t count = UINT64_C(1) << soak->options.log_msm;
    const pool_span points = host_span(soak->work.points, count);
    const pool_span scalars = host_span(problem->in, count), result = host_span(answer, 1);

    return pool_msm(&params, exec, &points, &scalars, &result);
}

static pool_exec without_cancel(const pool_exec *exec)
{
    pool_exec other = *exec;

    other.cancel = NULL;
    return other;
}

static pool_status run_bases(
    struct soak *soak, const pool_exec *exec, const struct soak_problem *problem, uint8_t *answer)
{
    pool_msm_params params = {.struct_size = sizeof(params), .curve = soak->work.curve};
    uint64_t count = UINT64_C(1) << soak->options.log_msm;
    const pool_span scalars = host_span(problem->in, count), result = host_span(answer, 1);
    const pool_exec loading = without_cancel(exec);
    pool_resident_use *use = NULL;
    pool_status status = pool_resident_open(soak->work.bases, &loading, &use), closed;

    if (status)
        return status;
    params.bases = pool_resident_bases(use);
    status = pool_msm(&params, exec, NULL, &scalars, &result);
    closed = pool_resident_close(&use);
    return status ? status : closed;
}

static pool_status run_ntt(
    struct soak *soak, const pool_exec *exec, const struct soak_problem *problem, uint8_t *answer)
{
    const pool_ntt_params params = {.struct_size = sizeof(params), .domain = soak->work.domain};
    uint64_t count = UINT64_C(1) << soak->options.log_ntt;
    const pool_span in = host_span(problem->in, count), out = host_span(answer, count);

    return pool_ntt(&params, exec, &in, &out);
}

static pool_status run_poseidon(
    struct soak *soak, const pool_exec *exec, const struct soak_problem *problem, uint8_t *answer)
{
    const pool_span in = host_span(problem->in, soak->options.hashes);
    const pool_span out = host_span(answer, soak->options.hashes);

    return pool_poseidon_hash(soak->work.set, exec, &in, 1, &out);
}

/* Host to device, device to device, device to host. */
static pool_status run_copy(
    struct soak *soak, const pool_exec *exec, const struct soak_problem *problem, uint8_t *answer)
{
    const uint64_t bytes = soak->options.copy_bytes;
    const pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = bytes,
        .stream = exec->stream,
        .lease = exec->lease};
    pool_buffer *from = NULL, *to = NULL;
    pool_status status = pool_buffer_create(exec->device, &params, &from), freed;

    if (!status)
        status = pool_buffer_create(exec->device, &params, &to);
    if (!status)
        status = pool_copy_to_device(from, 0, problem->in, bytes, exec->stream);
    if (!status)
        status = pool_copy_device(to, 0, from, 0, bytes, exec->stream);
    if (!status)
        status = pool_copy_to_host(answer, to, 0, bytes, exec->stream);
    if (!status)
        status = pool_stream_synchronize(exec->stream);
    freed = pool_buffer_destroy_on(&from, exec->stream);
    status = status ? status : freed;
    freed = pool_buffer_destroy_on(&to, exec->stream);
    return status ? status : freed;
}

static pool_status run_resident(
    struct soak *soak, const pool_exec *exec, uint64_t random, uint8_t *answer, bool *is_wrong)
{
    struct soak_source *source = &soak->work.sources[random % SOAK_RESIDENTS];
    uint64_t offset = (random >> 8) % (source->bytes - SOAK_WINDOW);
    const pool_exec loading = without_cancel(exec);
    pool_resident_use *use = NULL;
    pool_status status = pool_resident_open(source->resident, &loading, &use), closed;

    if (status)
        return status;
    memset(answer, 0, SOAK_WINDOW);
    status =
        pool_copy_to_host(answer, pool_resident_buffer(use), offset, SOAK_WINDOW, exec->stream);
    if (!status)
        status = pool_stream_synchronize(exec->stream);
    closed = pool_resident_close(&use);
    for (unsigned i = 0; !status && i < SOAK_WINDOW; i++)
        *is_wrong = *is_wrong || answer[i] != source->byte;
    return status ? status : closed;
}

pool_status soak_job(
    struct soak_thread *thread, enum soak_kind kind, const struct soak_site *site, bool *is_wrong)
{
    struct soak *soak = thread->soak;
    uint64_t random = soak_random(&thread->random);
    const struct soak_problem *problem = &soak->work.problems[kind][random % SOAK_PROBLEMS];
    const pool_exec exec = {.struct_size = sizeof(exec),
        .device = site->device,
        .stream = site->stream,
        .lease = site->lease,
        .cancel = site->cancel};
    uint64_t bytes = soak->work.answer_bytes[kind];
    pool_status status = POOL_ERR_INTERNAL;

    *is_wrong = false;
    memset(thread->scratch, 0xa5, bytes);
    switch (kind) {
    case SOAK_MSM:
        status = run_msm(soak, &exec, problem, thread->scratch);
        break;
    case SOAK_BASES:
        status = run_bases(soak, &exec, problem, thread->scratch);
        break;
    case SOAK_NTT:
        status = run_ntt(soak, &exec, problem, thread->scratch);
        break;
    case SOAK_POSEIDON:
        status = run_poseidon(soak, &exec, problem, thread->scratch);
        break;
    case SOAK_COPY:
        status = run_copy(soak, &exec, problem, thread->scratch);
        break;
    case SOAK_RESIDENT:
        return run_resident(soak, &exec, random, thread->scratch, is_wrong);
    case SOAK_KINDS:
        break;
    }
    if (!status)
        *is_wrong = memcmp(thread->scratch, problem->answer, bytes) != 0;
    return status;
}

/* ---- leases ------------------------------------------------------------------------------------
 */

/* By a ticket instead of a waiting thread. */
static pool_status acquire_by_ticket(
    struct soak *soak, const pool_request *request, pool_lease **lease)
{
    pool_ticket *ticket = NULL;
    struct pollfd ready = {.events = POLLIN};
    pool_status status = pool_acquire_async(soak->pool, request, NULL, NULL, &ticket), destroyed;

    if (status)
        return status;
    status = pool_ticket_fd(ticket, &ready.fd);
    if (!status) {
        while (poll(&ready, 1, -1) < 0)
            ;
        status = pool_ticket_take(ticket, lease);
    }
    destroyed = pool_ticket_destroy(&ticket);
    return status ? status : destroyed;
}

static pool_status run_under_lease(
    struct soak_thread *thread, enum soak_kind kind, pool_cancel *cancel, bool *is_wrong)
{
    struct soak *soak = thread->soak;
    uint64_t random = soak_random(&thread->random);
    bool is_hasty = atomic_load(&soak->is_disturbed) && random % 32 == 0;
    const pool_request request = {.struct_size = sizeof(request),
        .bytes = soak->work.lease_bytes[kind],
        .devices = (random >> 8) % 32 == 0 && soak->device_count > 3 ? 2 : 1,
        .priority = (int32_t)((random >> 16) % 5) - 2,
        .flags = (random >> 24) % 16 == 0 ? POOL_LEASE_SECRET : 0,
        .timeout_ns = is_hasty ? (random >> 32) % 1000000 : UINT64_C(1000000000) * PATIENCE_S,
        .duration_ns = UINT64_C(30000000000),
        .cancel = cancel,
        .label = soak_kind_name(kind)};
    pool_lease *lease = NULL;
    pool_status status = (random >> 40) % 8 == 0 ? acquire_by_ticket(soak, &request, &lease)
                                                 : pool_acquire(soak->pool, &request, &lease);
    pool_status released;

    if (status == POOL_ERR_TIMEOUT && is_hasty) {
        atomic_fetch_add(&soak->counts.timeouts, 1);
        return POOL_ERR_NOT_READY;
    }
    if (status)
        return status;
    for (uint32_t i = 0; i < request.devices && !status; i++) {
        struct soak_site site = {.lease = lease, .cancel = cancel};

        status = pool_lease_device(lease, i, &site.device);
        if (!status)
            status = pool_lease_stream(lease, i, &site.stream);
        if (!status)
            status = soak_job(thread, kind, &site, is_wrong);
        if (*is_wrong)
            break;
    }
    released = pool_release(&lease);
    return status ? status : released;
}

/* On the devices in turn, with a stream of the thread. */
static pool_status run_without_lease(
    struct soak_thread *thread, enum soak_kind kind, pool_cancel *cancel, bool *is_wrong)
{
    struct soak *soak = thread->soak;
    size_t index = (thread->index + soak_random(&thread->random)) % soak->device_count;
    const struct soak_site site = {
        .device = soak->devices[index], .stream = thread->streams[index], .cancel = cancel};

    return soak_job(thread, kind, &site, is_wrong);
}

/* ---- the loop ----------------------------------------------------------------------------------
 */

static void report(struct soak_thread *thread, enum soak_kind kind, pool_status status)
{
    const struct soak *soak = thread->soak;

    fprintf(stderr, "soak: thread %u: %s%s: %s: %s\n", thread->index, soak_kind_name(kind),
        atomic_load(&soak->has_leases) ? "" : " without a lease", pool_status_name(status),
        pool_last_error()->message);
}

/* Whether a failure can be due to what the soak does to the devices, so that the job is repeated.
 */
static bool may_retry(const struct soak *soak, pool_status status, bool had_lease)
{
    if (status == POOL_ERR_OUT_OF_DEVICE_MEMORY)
        return atomic_load(&soak->may_lack_memory) || !had_lease;
    return status == POOL_ERR_DEVICE_UNUSABLE && atomic_load(&soak->may_lose_devices);
}

/* A new cancel object once the thread's has been requested; whether it had been. */
static bool renew_cancel(struct soak_thread *thread)
{
    bool is_requested;

    pthread_mutex_lock(&thread->lock);
    is_requested = pool_cancel_requested(thread->cancel) != 0;
    if (is_requested) {
        pool_cancel_destroy(&thread->cancel);
        SOAK_MUST(pool_cancel_create(&thread->cancel));
    }
    pthread_mutex_unlock(&thread->lock);
    return is_requested;
}

static void run_one(struct soak_thread *thread)
{
    struct soak *soak = thread->soak;
    enum soak_kind kind = (enum soak_kind)(soak_random(&thread->random) % SOAK_KINDS);

    for (unsigned i = 0; i < TRIES; i++) {
        bool is_wrong = false, has_leases = atomic_load(&soak->has_leases);
        pool_status status = has_leases
                                 ? run_under_lease(thread, kind, thread->cancel, &is_wrong)
                                 : run_without_lease(thread, kind, thread->cancel, &is_wrong);
        bool is_cancelled = renew_cancel(thread);

        if (is_wrong) {
            fprintf(stderr, "soak: thread %u: %s: a wrong answer\n", thread->index,
                soak_kind_name(kind));
            atomic_fetch_add(&soak->counts.wrong, 1);
            return;
        }
        if (!status) {
            atomic_fetch_add(&soak->counts.jobs[kind], 1);
            return;
        }
        if (status == POOL_ERR_NOT_READY)
            return;
        if (status == POOL_ERR_CANCELLED && is_cancelled) {
            atomic_fetch_add(&soak->counts.cancelled, 1);
            return;
        }
        if (!may_retry(soak, status, has_leases) || i + 1 == TRIES) {
            if (atomic_fetch_add(&soak->counts.unexpected, 1) < 10)
                report(thread, kind, status);
            return;
        }
        atomic_fetch_add(&soak->counts.retries, 1);
        soak_sleep(1000000);
    }
}

void *soak_thread_run(void *argument)
{
    struct soak_thread *thread = argument;

    while (!atomic_load(&thread->soak->is_stopping))
        run_one(thread);
    return NULL;
}
