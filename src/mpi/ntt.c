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

#include "base/math.h"

static const struct base_struct pool_ntt_params_type = BASE_STRUCT(pool_ntt_params);

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
        group_takes_reversed(transform->order) ? reverse_bits(rank, run->log_ranks) : rank;
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
    if (!status && group_gives_reversed(transform->order))
        status = pool_vector_bit_reverse(run->field, &run->exec, &powers, &powers);
    return status ? status
                  : pool_vector_mul(run->field, &run->exec, &column_span, &powers, &column_span);
}

/* From `in`, or the second region where blocks were distributed, to the first region. */
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
    const bool is_dealt = transform->takes_blocks && !group_takes_reversed(transform->order);

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
    const bool collects = transform->gives_blocks && !group_gives_reversed(transform->order);
    pool_ntt_params params = {.struct_size = sizeof(params),
        .direction = transform->direction,
        .coset = transform->coset && transform->direction == POOL_NTT_INVERSE,
        .order = transform->order,
        .batch = share};
    pool_status status = pool_ntt_domain_power(transform->domain, run->log_ranks, &params.domain);

    if (status)
        return status;
    if (group_gives_reversed(transform->order)) {
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
    if (transform->takes_blocks && !group_takes_reversed(transform->order))
        status = group_deal_blocks(run, in, count, transform->checks);
    run->lane->form = out->form;
    if (!status)
        status = transform_column(run, transform, count, in);
    if (!status && !group_gives_reversed(transform->order)) {
        const pool_span first = group_region(run, NTT_FIRST, count);
        const pool_span second = group_region(run, NTT_SECOND, count);

        status = pool_vector_transpose(run->field, &run->exec, count >> run->log_ranks,
            UINT64_C(1) << run->log_ranks, &first, &second);
    }
    return group_mark_ready(run, status);
}

pool_status group_transform_end(
    struct group_transforms *run, const struct group_transform *transform, const pool_span *out)
{
    const uint64_t count = share_of(run, transform->domain);
    const bool is_reversed = group_gives_reversed(transform->order);
    pool_status status;

    if (run->mpi->ranks == 1)
        return POOL_OK;
    status = is_reversed ? group_exchange_regions(run, NTT_FIRST, NTT_SECOND, count, POOL_OK)
                         : group_exchange_regions(run, NTT_SECOND, NTT_FIRST, count, POOL_OK);
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
