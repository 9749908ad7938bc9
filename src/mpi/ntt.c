/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One transform over R = 2^a ranks in four steps: that of src/zk/ntt/plan_split.c with as many
 * columns as ranks. With n = N1 R, j = j1 R + j2 and k = k1 + N1 k2:
 *
 *   X[k] = sum over j2 of w_R^(j2 k2) ( w_n^(j2 k1) sum over j1 of w_N1^(j1 k1) x[j] )
 *
 * Each rank has one column j2, cyclic in natural order and a block in bit-reversed order, and
 * transforms it; twiddles; an exchange that gives each rank a share of the k1 for all j2; and
 * transforms of R elements. Where the results are bit-reversed, so is k1, and the share is a block
 * already; else a transpose makes it one. Results then lie where the next transform expects them.
 */
#include "mpi/group.h"

#include <stdio.h>

#include "base/math.h"

static const struct base_struct pool_ntt_params_type = BASE_STRUCT(pool_ntt_params);

static uint64_t element_bytes(const struct group_transforms *run)
{
    return pool_field_element_bytes(run->field);
}

static bool takes_reversed(pool_ntt_order order)
{
    return order == POOL_NTT_RN || order == POOL_NTT_RR;
}

static bool gives_reversed(pool_ntt_order order)
{
    return order == POOL_NTT_NR || order == POOL_NTT_RR;
}

/* ---- a call's transforms --------------------------------------------------------------------- */

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

/* After this the other lane's work is enqueued, which the exchange does not wait for. */
static pool_status mark_ready(struct group_transforms *run, pool_status status)
{
    return !status && run->lane->ready ? pool_event_record(run->lane->ready, run->stream) : status;
}

/* The ranks agree first: a rank that has failed would leave the others waiting. */
static pool_status exchange(
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
    return exchange(run, NTT_FIRST, NTT_SECOND, count, mark_ready(run, status));
}

pool_status group_collect_blocks(struct group_transforms *run, uint64_t count, const pool_span *out)
{
    pool_exec exec = run->exec;
    const pool_span second = group_region(run, NTT_SECOND, count);
    pool_status status = exchange(run, NTT_FIRST, NTT_SECOND, count, mark_ready(run, POOL_OK));

    exec.checks = POOL_CHECK_NONE;
    return status ? status
                  : pool_vector_transpose(run->field, &exec, UINT64_C(1) << run->log_ranks,
                        count >> run->log_ranks, &second, out);
}

/* ---- one transform --------------------------------------------------------------------------- */

static uint32_t reverse_bits(uint32_t value, uint32_t bits)
{
    uint32_t reversed = 0;

    for (uint32_t i = 0; i < bits; i++)
        reversed |= (value >> i & 1) << (bits - 1 - i);
    return reversed;
}

/*
 * Multiplies column j2 in the first region: element k1 by w^(j2 k1), forward on a coset by g^j2 as
 * well, inverse by w^(-j2 k1), and on a coset by g^(-k1). The second region takes the powers.
 */
static pool_status multiply_twiddles(
    struct group_transforms *run, const struct group_transform *transform, uint64_t count)
{
    const uint32_t rank = (uint32_t)run->mpi->rank;
    const uint32_t column =
        takes_reversed(transform->order) ? reverse_bits(rank, run->log_ranks) : rank;
    const bool is_inverse = transform->direction == POOL_NTT_INVERSE;
    const pool_span column_span = group_region(run, NTT_FIRST, count);
    const pool_span powers = group_region(run, NTT_SECOND, count);
    pool_device *device = run->mpi->device;
    struct group_element base, coset;
    pool_status status = pool_ntt_domain_root(transform->domain, POOL_FORM_STANDARD, base.bytes);

    if (!status && !column && !transform->coset)
        return POOL_OK;
    if (!status)
        status = group_element_power(run->field, device, column, &base);
    if (!status)
        status = pool_ntt_domain_coset(transform->domain, POOL_FORM_STANDARD, coset.bytes);
    if (!status && is_inverse && transform->coset)
        status = group_element_multiply(run->field, device, &coset, &base);
    if (!status && is_inverse)
        status = group_element_invert(run->field, device, &base);
    if (!status)
        status = pool_vector_powers(run->field, &run->exec, base.bytes, &powers);
    if (!status && !is_inverse && transform->coset) {
        status = group_element_power(run->field, device, column, &coset);
        if (!status)
            status = pool_vector_scale(run->field, &run->exec, coset.bytes, &powers, &powers);
    }
    if (!status && gives_reversed(transform->order))
        status = pool_vector_bit_reverse(run->field, &run->exec, &powers, &powers);
    return status ? status
                  : pool_vector_mul(run->field, &run->exec, &column_span, &powers, &column_span);
}

/* From `in`, or the second region where blocks were dealt out, to the first region. */
static pool_status transform_column(struct group_transforms *run,
    const struct group_transform *transform, uint64_t count, const pool_span *in)
{
    pool_span dealt = group_region(run, NTT_SECOND, count), first;
    pool_ntt_params params = {.struct_size = sizeof(params),
        .direction = transform->direction,
        .coset = transform->coset && transform->direction == POOL_NTT_FORWARD,
        .order = transform->order};
    pool_exec exec = run->exec;
    pool_status status = pool_ntt_domain_power(transform->domain,
        pool_ntt_domain_log_size(transform->domain) - run->log_ranks, &params.domain);
    const bool is_dealt = transform->takes_blocks && !takes_reversed(transform->order);

    exec.checks = is_dealt ? POOL_CHECK_NONE : transform->checks;
    dealt.form = in->form;
    first = group_region(run, NTT_FIRST, count);
    if (!status)
        status = pool_ntt(&params, &exec, is_dealt ? &dealt : in, &first);
    return status ? status : multiply_twiddles(run, transform, count);
}

/* The transforms of R elements, where they lie after the exchange. */
static pool_status transform_rows(struct group_transforms *run,
    const struct group_transform *transform, uint64_t count, const pool_span *out)
{
    const uint64_t ranks = UINT64_C(1) << run->log_ranks, share = count >> run->log_ranks;
    const pool_span first = group_region(run, NTT_FIRST, count);
    const pool_span second = group_region(run, NTT_SECOND, count);
    const bool collects = transform->gives_blocks && !gives_reversed(transform->order);
    pool_ntt_params params = {.struct_size = sizeof(params),
        .direction = transform->direction,
        .coset = transform->coset && transform->direction == POOL_NTT_INVERSE,
        .order = transform->order,
        .batch = share};
    pool_status status = pool_ntt_domain_power(transform->domain, run->log_ranks, &params.domain);

    if (status)
        return status;
    if (gives_reversed(transform->order)) {
        status = pool_vector_transpose(run->field, &run->exec, ranks, share, &second, &first);
        return status ? status : pool_ntt(&params, &run->exec, &first, out);
    }
    params.layout = POOL_NTT_COLUMNS;
    return pool_ntt(&params, &run->exec, &first, collects ? &first : out);
}

/* Of the only rank. */
static pool_status transform_alone(const struct group_transforms *run,
    const struct group_transform *transform, const pool_span *in, const pool_span *out)
{
    const pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = transform->domain,
        .direction = transform->direction,
        .coset = transform->coset,
        .order = transform->order};
    pool_exec exec = run->exec;

    exec.checks = transform->checks;
    return pool_ntt(&params, &exec, in, out);
}

static uint64_t share_of(const struct group_transforms *run, const pool_ntt_domain *domain)
{
    return UINT64_C(1) << (pool_ntt_domain_log_size(domain) - run->log_ranks);
}

pool_status group_transform_begin(struct group_transforms *run,
    const struct group_transform *transform, const pool_span *in, const pool_span *out)
{
    const uint64_t count = share_of(run, transform->domain);
    pool_status status = POOL_OK;

    run->exec.checks = POOL_CHECK_NONE;
    if (run->mpi->ranks == 1)
        return transform_alone(run, transform, in, out);
    if (transform->takes_blocks && !takes_reversed(transform->order))
        status = group_deal_blocks(run, in, count, transform->checks);
    run->lane->form = out->form;
    if (!status)
        status = transform_column(run, transform, count, in);
    if (!status && !gives_reversed(transform->order)) {
        const pool_span first = group_region(run, NTT_FIRST, count);
        const pool_span second = group_region(run, NTT_SECOND, count);

        status = pool_vector_transpose(run->field, &run->exec, count >> run->log_ranks,
            UINT64_C(1) << run->log_ranks, &first, &second);
    }
    return mark_ready(run, status);
}

pool_status group_transform_end(
    struct group_transforms *run, const struct group_transform *transform, const pool_span *out)
{
    const uint64_t count = share_of(run, transform->domain);
    const bool is_reversed = gives_reversed(transform->order);
    pool_status status;

    if (run->mpi->ranks == 1)
        return POOL_OK;
    status = is_reversed ? exchange(run, NTT_FIRST, NTT_SECOND, count, POOL_OK)
                         : exchange(run, NTT_SECOND, NTT_FIRST, count, POOL_OK);
    if (!status)
        status = transform_rows(run, transform, count, out);
    if (!status && transform->gives_blocks && !is_reversed)
        status = group_collect_blocks(run, count, out);
    return status;
}

/* ---- pool_mpi_ntt ---------------------------------------------------------------------------- */

static pool_status check_params(
    struct group_transforms *run, pool_ntt_params *params, pool_mpi_distribution distribution)
{
    const char *call = run->call.name;
    pool_status status;

    if (!params->domain)
        return base_fail_null(call, "params->domain");
    if (!params->batch)
        params->batch = 1;
    status = base_check_ranges(call, {"direction", (int64_t)params->direction, 0, 1},
        {"coset", params->coset, 0, 1}, {"order", (int64_t)params->order, 0, 3},
        {"distribution", (int64_t)distribution, 0, 1});
    if (!status && params->layout != POOL_NTT_ROWS)
        status = base_fail(POOL_ERR_UNSUPPORTED, "%s: params->layout must be POOL_NTT_ROWS", call);
    return status;
}

static pool_status read_ntt(struct group_transforms *run, const pool_ntt_params *given,
    const pool_exec *exec, pool_mpi_distribution distribution, const pool_span *in,
    const pool_span *out, pool_ntt_params *params)
{
    const char *call = run->call.name;
    pool_status status = base_struct_read(&pool_ntt_params_type, call, "params", given, params);
    uint32_t log_size;
    uint64_t count;

    if (!status)
        status = check_params(run, params, distribution);
    if (!status)
        status = group_transforms_read(run, exec, params->domain);
    if (status)
        return status;
    log_size = pool_ntt_domain_log_size(params->domain);
    if (2 * run->log_ranks > log_size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: 2^%u elements over %d ranks: a transform needs the square of their number", call,
            log_size, run->mpi->ranks);
    group_call_add(&run->call, "direction", (uint64_t)params->direction);
    group_call_add(&run->call, "coset", (uint64_t)params->coset);
    group_call_add(&run->call, "order", (uint64_t)params->order);
    group_call_add(&run->call, "distribution", (uint64_t)distribution);
    group_call_add(&run->call, "batch", params->batch);
    if (__builtin_mul_overflow(params->batch, UINT64_C(1) << (log_size - run->log_ranks), &count))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: a batch of %llu overflows", call,
            (unsigned long long)params->batch);
    status = group_check_elements(run, in, count, "in");
    return status ? status : group_check_elements(run, out, count, "out");
}

struct ntt_batch {
    struct group_transforms *run;
    const struct group_transform *transform;
    const pool_span *in;
    const pool_span *out;
};

static pool_status run_step(void *user, uint64_t job, uint32_t step)
{
    const struct ntt_batch *batch = user;
    const uint64_t count = share_of(batch->run, batch->transform->domain);
    const pool_span from = group_part(batch->run, batch->in, job * count, count);
    const pool_span to = group_part(batch->run, batch->out, job * count, count);

    return step ? group_transform_end(batch->run, batch->transform, &to)
                : group_transform_begin(batch->run, batch->transform, &from, &to);
}

pool_status pool_mpi_ntt(pool_mpi *mpi, const pool_ntt_params *params, const pool_exec *exec,
    pool_mpi_distribution distribution, const pool_span *in, const pool_span *out)
{
    struct group_transforms run = {.mpi = mpi,
        .call = {.name = "pool_mpi_ntt", .operation = GROUP_NTT, .object_kind = "field"}};
    pool_status status = group_check(mpi, run.call.name);
    struct group_transform transform;
    struct ntt_batch batch = {.run = &run, .transform = &transform, .in = in, .out = out};
    pool_ntt_params known;

    if (status)
        return status;
    status =
        group_agree(mpi, &run.call, read_ntt(&run, params, exec, distribution, in, out, &known));
    if (status)
        return status;
    transform = (struct group_transform){.domain = known.domain,
        .direction = known.direction,
        .coset = known.coset,
        .order = known.order,
        .takes_blocks = distribution == POOL_MPI_BLOCK,
        .gives_blocks = distribution == POOL_MPI_BLOCK,
        .checks = run.exec.checks};
    status = group_transforms_open(&run, share_of(&run, known.domain), 0, known.batch);
    if (!status)
        status = group_transforms_run(&run, known.batch, 2, run_step, &batch);
    return group_transforms_close(&run, status);
}
