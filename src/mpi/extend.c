/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Low-degree extensions over the ranks: the coefficients of a column, followed by zeros, are
 * distributed as a transform of the large domain expects them, on each rank.
 */
#include "mpi/group.h"

static const struct base_struct pool_ntt_extend_params_type = BASE_STRUCT(pool_ntt_extend_params);

struct extend_run {
    struct group_transforms transforms;
    pool_ntt_extend_params params;
    pool_ntt_domain *small; /* of the columns */
    bool has_blocks;
    uint64_t column; /* elements of a column on a rank */
    uint64_t result;
    uint32_t checks;
};

/* Where the coefficients lie in the extra region. Bit-reversed ones are followed by zeros each. */
static pool_span coefficients_of(const struct extend_run *run)
{
    const bool are_reversed =
        run->params.from_coefficients && group_takes_reversed(run->params.order);
    const uint64_t bytes = pool_field_element_bytes(run->transforms.field);
    CUdeviceptr address = 0;

    (void)pool_buffer_address(run->transforms.lane->extra, &address);
    return (pool_span){.data = (void *)(uintptr_t)address,
        .count = run->column,
        .stride = are_reversed ? bytes << run->params.log_blowup : 0,
        .form = run->transforms.lane->form,
        .space = POOL_MEMORY_DEVICE};
}

static pool_status copy_elements(
    struct extend_run *run, const pool_span *from, const pool_span *to, uint32_t checks)
{
    const struct group_element one = {{1}};
    pool_exec exec = run->transforms.exec;

    exec.checks = checks;
    return pool_vector_scale(run->transforms.field, &exec, one.bytes, from, to);
}

static struct group_transform inverse_of(const struct extend_run *run)
{
    return (struct group_transform){.domain = run->small,
        .direction = POOL_NTT_INVERSE,
        .order = group_takes_reversed(run->params.order) ? POOL_NTT_RN : POOL_NTT_NN,
        .takes_blocks = run->has_blocks,
        .checks = run->checks};
}

static struct group_transform forward_of(const struct extend_run *run)
{
    return (struct group_transform){.domain = run->params.domain,
        .direction = POOL_NTT_FORWARD,
        .coset = 1,
        .order = run->params.from_coefficients && group_takes_reversed(run->params.order)
                     ? (group_gives_reversed(run->params.order) ? POOL_NTT_RR : POOL_NTT_RN)
                     : (group_gives_reversed(run->params.order) ? POOL_NTT_NR : POOL_NTT_NN),
        .gives_blocks = run->has_blocks};
}

/* From the rank's part of a column towards the extra region. */
static pool_status find_coefficients(struct extend_run *run, const pool_span *in, pool_form form)
{
    struct group_transforms *transforms = &run->transforms;
    const struct group_transform inverse = inverse_of(run);
    pool_span coefficients, dealt;
    pool_status status;

    transforms->lane->form = form;
    coefficients = coefficients_of(run);
    if (!run->params.from_coefficients)
        return group_transform_begin(transforms, &inverse, in, &coefficients);
    if (!run->has_blocks || group_takes_reversed(run->params.order))
        return copy_elements(run, in, &coefficients, run->checks);
    status = group_deal_blocks(transforms, in, run->column, run->checks);
    dealt = group_region(transforms, NTT_SECOND, run->column);
    return status ? status : copy_elements(run, &dealt, &coefficients, POOL_CHECK_NONE);
}

static pool_status write_coefficients(struct extend_run *run, const pool_span *out, pool_form form)
{
    struct group_transforms *transforms = &run->transforms;
    pool_span from, first;
    pool_status status;

    transforms->lane->form = form;
    from = coefficients_of(run);
    if (!run->has_blocks)
        return copy_elements(run, &from, out, POOL_CHECK_NONE);
    transforms->lane->form = out->form;
    first = group_region(transforms, NTT_FIRST, run->column);
    status = copy_elements(run, &from, &first, POOL_CHECK_NONE);
    return status ? status : group_collect_blocks(transforms, run->column, out);
}

static pool_status begin_extension(
    struct extend_run *run, const pool_span *kept, const pool_span *out)
{
    struct group_transforms *transforms = &run->transforms;
    const struct group_transform inverse = inverse_of(run), forward = forward_of(run);
    pool_status status = POOL_OK;
    pool_span padded;

    transforms->lane->form = out->form;
    padded = coefficients_of(run);
    if (!run->params.from_coefficients)
        status = group_transform_end(transforms, &inverse, &padded);
    if (!status && kept)
        status = write_coefficients(run, kept, out->form);
    transforms->lane->form = out->form;
    padded = coefficients_of(run);
    padded.count = run->result;
    padded.stride = 0;
    return status ? status : group_transform_begin(transforms, &forward, &padded, out);
}

/* Inverse transform, its exchange and the forward transform, its exchange. */
enum { EXTEND_STEPS = 3 };
struct extend_batch {
    struct extend_run *run;
    const pool_span *in;
    const pool_span *coefficients; /* NULL: not wanted */
    const pool_span *out;
};

static pool_status run_step(void *user, uint64_t job, uint32_t step)
{
    const struct extend_batch *batch = user;
    struct extend_run *run = batch->run;
    struct group_transforms *transforms = &run->transforms;
    const struct group_transform forward = forward_of(run);
    const pool_span from = group_part(transforms, batch->in, job * run->column, run->column);
    const pool_span to = group_part(transforms, batch->out, job * run->result, run->result);
    pool_span kept;

    if (step == 0)
        return find_coefficients(run, &from, to.form);
    if (step == 2)
        return group_transform_end(transforms, &forward, &to);
    if (!batch->coefficients)
        return begin_extension(run, NULL, &to);
    kept = group_part(transforms, batch->coefficients, job * run->column, run->column);
    return begin_extension(run, &kept, &to);
}

static pool_status check_params(
    struct extend_run *run, pool_mpi_distribution distribution, const pool_span *coefficients)
{
    pool_ntt_extend_params *params = &run->params;
    const char *call = run->transforms.call.name;
    pool_status status;

    if (!params->domain)
        return base_fail_null(call, "params->domain");
    if (!params->batch)
        params->batch = 1;
    status = base_check_ranges(call,
        {"log_blowup", params->log_blowup, 0,
            pool_ntt_domain_log_size(params->domain) < POOL_NTT_MAX_LOG_BLOWUP
                ? pool_ntt_domain_log_size(params->domain)
                : POOL_NTT_MAX_LOG_BLOWUP},
        {"from_coefficients", params->from_coefficients, 0, 1},
        {"order", (int64_t)params->order, 0, 3}, {"distribution", (int64_t)distribution, 0, 1});
    if (!status && params->layout != POOL_NTT_ROWS)
        status = base_fail(POOL_ERR_UNSUPPORTED, "%s: params->layout must be POOL_NTT_ROWS", call);
    if (!status && params->from_coefficients && coefficients)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `coefficients` must be NULL where the input has coefficients", call);
    return status;
}

static pool_status read_extend(struct extend_run *run, const pool_ntt_extend_params *given,
    const pool_exec *exec, pool_mpi_distribution distribution, const pool_span *in,
    const pool_span *coefficients, const pool_span *out)
{
    struct group_call *call = &run->transforms.call;
    pool_ntt_extend_params *params = &run->params;
    pool_status status =
        base_struct_read(&pool_ntt_extend_params_type, call->name, "params", given, params);
    uint32_t log_size;
    uint64_t results;

    if (!status)
        status = check_params(run, distribution, coefficients);
    if (!status)
        status = group_transforms_read(&run->transforms, exec, params->domain);
    if (status)
        return status;
    log_size = pool_ntt_domain_log_size(params->domain);
    if (2 * run->transforms.log_ranks > log_size - params->log_blowup)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: columns of 2^%u elements over %d ranks: they need the square of their number",
            call->name, log_size - params->log_blowup, run->transforms.mpi->ranks);
    group_call_add(call, "log_blowup", params->log_blowup);
    group_call_add(call, "from_coefficients", (uint64_t)params->from_coefficients);
    group_call_add(call, "order", (uint64_t)params->order);
    group_call_add(call, "distribution", (uint64_t)distribution);
    group_call_add(call, "batch", params->batch);
    group_call_add(call, "coefficients", coefficients != NULL);
    run->result = UINT64_C(1) << (log_size - run->transforms.log_ranks);
    run->column = run->result >> params->log_blowup;
    run->has_blocks = distribution == POOL_MPI_BLOCK;
    run->checks = run->transforms.exec.checks;
    if (__builtin_mul_overflow(params->batch, run->result, &results))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: a batch of %llu overflows", call->name,
            (unsigned long long)params->batch);
    status = group_check_elements(&run->transforms, in, params->batch * run->column, "in");
    if (!status && coefficients)
        status = group_check_elements(
            &run->transforms, coefficients, params->batch * run->column, "coefficients");
    return status ? status : group_check_elements(&run->transforms, out, results, "out");
}

/* The zeros behind the coefficients are overwritten by nothing; bit-reversed ones lie between. */
pool_status pool_mpi_extend(pool_mpi *mpi, const pool_ntt_extend_params *params,
    const pool_exec *exec, pool_mpi_distribution distribution, const pool_span *in,
    const pool_span *coefficients, const pool_span *out)
{
    struct extend_run run = {
        .transforms = {.mpi = mpi,
            .call = {
                .name = "pool_mpi_extend", .operation = GROUP_EXTEND, .object_kind = "field"}}};
    struct group_transforms *transforms = &run.transforms;
    struct extend_batch batch = {.run = &run, .in = in, .coefficients = coefficients, .out = out};
    pool_status status = group_check(mpi, transforms->call.name);

    if (status)
        return status;
    status = group_agree(mpi, &transforms->call,
        read_extend(&run, params, exec, distribution, in, coefficients, out));
    if (status)
        return status;
    status = pool_ntt_domain_power(run.params.domain,
        pool_ntt_domain_log_size(run.params.domain) - run.params.log_blowup, &run.small);
    if (!status)
        status = group_transforms_open(transforms, run.result, run.result, run.params.batch);
    if (!status)
        status = group_transforms_run(transforms, run.params.batch, EXTEND_STEPS, run_step, &batch);
    return group_transforms_close(transforms, status);
}
