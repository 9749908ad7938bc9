/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls over transforms share: arguments, memory, lanes, and exchanges of the regions.
 */
#include "mpi/group.h"

#include <stdio.h>

#include "base/math.h"

static uint64_t element_bytes(const struct group_transforms *run)
{
    return pool_field_element_bytes(run->field);
}

pool_status group_transforms_read(
    struct group_transforms *run, const pool_exec *exec, const pool_ntt_domain *domain)
{
    pool_mpi *mpi = run->mpi;
    struct group_element generators[2] = {{{0}}, {{0}}};
    pool_status status = group_exec_read(mpi, run->call.name, exec, &run->exec);

    if (!status && (run->exec.on_host || run->exec.device_count || run->exec.workspace ||
                       run->exec.memory_limit || run->exec.progress))
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "%s: of exec device, stream, checks, cancel and lease are used", run->call.name);
    if (!status && !run->exec.device)
        status = pool_lease_device(run->exec.lease, 0, &run->exec.device);
    if (!status && run->exec.device != mpi->device)
        status = base_fail(POOL_ERR_WRONG_DEVICE,
            "%s: the device must be the one of pool_mpi_create, whose memory exchanges use",
            run->call.name);
    if (!status && !base_is_power_of_two((uint64_t)mpi->ranks))
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "%s: %d ranks; transforms are divided over a power of two: use a communicator of fewer "
            "ranks",
            run->call.name, mpi->ranks);
    if (status)
        return status;
    run->field = pool_ntt_domain_field(domain);
    run->log_ranks = base_log2_ceil((uint64_t)mpi->ranks);
    run->lease = run->exec.lease;
    snprintf(run->call.object, sizeof(run->call.object), "%s", pool_field_name(run->field));
    status = pool_field_fingerprint(run->field, run->call.fingerprint);
    if (!status)
        status = pool_ntt_domain_root(domain, POOL_FORM_STANDARD, generators[0].bytes);
    if (!status)
        status = pool_ntt_domain_coset(domain, POOL_FORM_STANDARD, generators[1].bytes);
    group_call_add(&run->call, "log_size of the domain", pool_ntt_domain_log_size(domain));
    group_call_add(&run->call, "the digest of the domain's generators",
        group_digest(generators, sizeof(generators)));
    return status;
}

/* Work is enqueued on one stream. */
static pool_status open_stream(struct group_transforms *run)
{
    run->stream = run->exec.stream;
    if (!run->stream && run->lease) {
        for (uint32_t i = 0; i < pool_lease_device_count(run->lease); i++) {
            pool_device *device = NULL;

            if (!pool_lease_device(run->lease, i, &device) && device == run->exec.device)
                return pool_lease_stream(run->lease, i, &run->stream);
        }
    }
    return run->stream ? POOL_OK : pool_stream_default(run->exec.device, &run->stream);
}

static pool_status open_lane(
    struct group_transforms *run, uint64_t count, uint64_t extra, struct group_lane *lane)
{
    pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = count * element_bytes(run),
        .stream = run->stream,
        .lease = run->lease};
    pool_status status = POOL_OK;

    for (int i = 0; i < NTT_REGIONS && !status; i++)
        status = pool_buffer_create(run->exec.device, &params, &lane->region[i]);
    params.bytes = extra * element_bytes(run);
    params.flags = POOL_BUFFER_ZEROED;
    if (!status && extra)
        status = pool_buffer_create(run->exec.device, &params, &lane->extra);
    return status;
}

/* A CUDA-aware MPI may still access the regions after a rank has failed. */
static pool_status close_lane(struct group_transforms *run, struct group_lane *lane)
{
    pool_buffer **buffers[] = {&lane->region[NTT_FIRST], &lane->region[NTT_SECOND], &lane->extra};
    pool_status status = pool_event_destroy(&lane->ready);

    if (run->mpi->status && run->mpi->transport == POOL_MPI_TRANSPORT_CUDA)
        return status;
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pool_status freed = pool_buffer_destroy(buffers[i]);

        status = status ? status : freed;
    }
    return status;
}

static pool_status open_overlap(struct group_transforms *run, uint64_t count, uint64_t extra)
{
    pool_status status = open_lane(run, count, extra, &run->lanes[1]);

    for (int i = 0; i < GROUP_LANES && !status; i++)
        status = pool_event_create(run->exec.device, 0, &run->lanes[i].ready);
    if (!status && !run->mpi->stream)
        status = pool_stream_create(run->exec.device, NULL, &run->mpi->stream);
    return status;
}

/* Where one rank has no memory for the second lane, all use one: exchanges have one order. */
static pool_status agree_on_lanes(
    struct group_transforms *run, uint64_t count, uint64_t extra, pool_status status)
{
    if (!status && !open_overlap(run, count, extra))
        run->call.offers = GROUP_OFFERS_LANES;
    status = group_vote(run->mpi, &run->call, status);
    run->has_agreed = status != POOL_OK;
    run->call.offers = 0;
    if (!status && run->mpi->common & GROUP_OFFERS_LANES) {
        run->lane_count = GROUP_LANES;
        return POOL_OK;
    }
    (void)close_lane(run, &run->lanes[1]);
    (void)pool_event_destroy(&run->lanes[0].ready);
    return status;
}

pool_status group_transforms_open(
    struct group_transforms *run, uint64_t count, uint64_t extra, uint64_t batch)
{
    pool_status status = open_stream(run);

    run->lane = run->lanes;
    run->lane_count = 1;
    if (!status)
        status = open_lane(run, count, extra, run->lanes);
    run->exec.stream = run->stream;
    run->exec.is_async = 1;
    if (!status)
        status = group_exchange_open(run->mpi);
    return batch > 1 && run->mpi->ranks > 1 ? agree_on_lanes(run, count, extra, status) : status;
}

pool_status group_transforms_run(
    struct group_transforms *run, uint64_t batch, uint32_t steps, group_step step, void *user)
{
    const uint32_t lanes = run->lane_count;
    pool_status status = POOL_OK;

    for (uint64_t job = 0; job < lanes && job < batch && !status; job++) {
        run->lane = &run->lanes[job];
        status = step(user, job, 0);
    }
    for (uint64_t first = 0; first < batch && !status; first += lanes)
        for (uint32_t i = 1; i < steps && !status; i++)
            for (uint64_t job = first; job < first + lanes && job < batch && !status; job++) {
                run->lane = &run->lanes[job - first];
                status = step(user, job, i);
                if (!status && i + 1 == steps && job + lanes < batch)
                    status = step(user, job + lanes, 0);
            }
    return status;
}

pool_status group_transforms_close(struct group_transforms *run, pool_status status)
{
    pool_status finished = run->stream ? pool_stream_synchronize(run->stream) : POOL_OK;

    if (!run->has_agreed)
        status = group_vote(run->mpi, &run->call, status ? status : finished);
    for (int i = 0; i < GROUP_LANES; i++) {
        pool_status closed = close_lane(run, &run->lanes[i]);

        finished = finished ? finished : closed;
    }
    (void)pool_stream_destroy(&run->mpi->stream); /* one of a lost device serves no later call */
    return status ? group_fail_outcome(run->mpi, status) : finished;
}

pool_span group_part(
    const struct group_transforms *run, const pool_span *span, uint64_t first, uint64_t count)
{
    pool_span part = *span;

    part.data = (void *)((uintptr_t)span->data + first * element_bytes(run));
    part.count = count;
    part.stride = 0;
    return part;
}

pool_span group_region(const struct group_transforms *run, int region, uint64_t count)
{
    CUdeviceptr address = 0;

    (void)pool_buffer_address(run->lane->region[region], &address);
    return (pool_span){.data = (void *)(uintptr_t)address,
        .count = count,
        .form = run->lane->form,
        .space = POOL_MEMORY_DEVICE};
}

pool_status group_check_elements(
    const struct group_transforms *run, const pool_span *span, uint64_t count, const char *name)
{
    const uint64_t bytes = element_bytes(run);

    if (!span)
        return base_fail_null(run->call.name, name);
    if (!span->data)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: %s->data must not be NULL", run->call.name, name);
    if (span->space != POOL_MEMORY_HOST && span->space != POOL_MEMORY_DEVICE)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: `%s` must be in host memory or in that of the device", run->call.name, name);
    if (span->form != POOL_FORM_STANDARD && span->form != POOL_FORM_MONTGOMERY)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: unknown value %d for `form` of %s",
            run->call.name, (int)span->form, name);
    if (span->stride && span->stride != bytes)
        return base_fail(POOL_ERR_UNSUPPORTED, "%s: `%s` must be packed", run->call.name, name);
    if (span->count != count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `%s` has %llu elements; each of %d ranks has %llu", run->call.name, name,
            (unsigned long long)span->count, run->mpi->ranks, (unsigned long long)count);
    return base_check_array(run->call.name, name, count, bytes, bytes);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

pool_status group_mark_ready(struct group_transforms *run, pool_status status)
{
    return !status && run->lane->ready ? pool_event_record(run->lane->ready, run->stream) : status;
}

pool_status group_exchange_regions(
    struct group_transforms *run, int from, int to, uint64_t count, pool_status status)
{
    const struct group_exchange blocks = {.from = run->lane->region[from],
        .to = run->lane->region[to],
        .bytes = (count >> run->log_ranks) * element_bytes(run),
        .stream = run->lane->ready ? run->mpi->stream : run->stream};

    if (!status) /* what fails on the device has to be known before data moves */
        status = run->lane->ready ? pool_event_synchronize(run->lane->ready)
                                  : pool_stream_synchronize(run->stream);
    status = group_vote(run->mpi, &run->call, status);
    if (status) {
        run->has_agreed = true;
        return status;
    }
    return group_exchange_run(run->mpi, &blocks);
}

/* Each rank takes every R-th element of each block. */
pool_status group_deal_blocks(
    struct group_transforms *run, const pool_span *in, uint64_t count, uint32_t checks)
{
    pool_exec exec = run->exec;
    pool_span first;
    pool_status status;

    run->lane->form = in->form;
    first = group_region(run, NTT_FIRST, count);
    exec.checks = checks;
    status = pool_vector_transpose(
        run->field, &exec, count >> run->log_ranks, UINT64_C(1) << run->log_ranks, in, &first);
    return group_exchange_regions(run, NTT_FIRST, NTT_SECOND, count, group_mark_ready(run, status));
}

pool_status group_collect_blocks(struct group_transforms *run, uint64_t count, const pool_span *out)
{
    pool_exec exec = run->exec;
    const pool_span second = group_region(run, NTT_SECOND, count);
    pool_status status =
        group_exchange_regions(run, NTT_FIRST, NTT_SECOND, count, group_mark_ready(run, POOL_OK));

    exec.checks = POOL_CHECK_NONE;
    return status ? status
                  : pool_vector_transpose(run->field, &exec, UINT64_C(1) << run->log_ranks,
                        count >> run->log_ranks, &second, out);
}
