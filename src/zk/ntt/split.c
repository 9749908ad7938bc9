/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms that are split over devices, in steps: columns, exchange, rows, results. split_run.h
 * has what the steps share.
 */
#include "zk/ntt/split_run.h"

#include "base/math.h"

/* ---- rows and results ------------------------------------------------------------------------ */

static CUdeviceptr output_region(
    const struct ntt_split_run *run, const struct ntt_split_device *device)
{
    return ntt_split_is_on_host(run->call->out) ? device->region[NTT_SPLIT_FIRST]
                                                : ntt_split_part_of(run, &device->out);
}

static pool_status enqueue_rows(void *rows)
{
    struct ntt_plan plan;
    pool_status status = ntt_run_plan(rows, &plan);

    return status ? status : ntt_run_enqueue(rows, &plan);
}

static pool_status compute_rows(struct ntt_split_run *run, struct ntt_split_device *device)
{
    struct ntt_run rows = {.target = device->of_call.target,
        .domain = run->of_rows,
        .direction = run->call->params.direction,
        .job = run->plan.rows_job,
        .form_change = (int)run->call->out->form - (int)run->call->in->form,
        .in = device->region[NTT_SPLIT_SECOND],
        .out = output_region(run, device),
        .in_may_be_overwritten = 1};

    return operation_enqueue(&rows.target, enqueue_rows, &rows);
}

static pool_status download(void *user, uint32_t index, const pool_exec *exec)
{
    struct ntt_split_run *run = user;
    const struct ntt_split *plan = &run->plan;
    const uint64_t bytes = ntt_split_element_bytes(run), first = run->transform << plan->log_size;
    const uint64_t rows = UINT64_C(1) << plan->log_rows >> plan->log_devices;
    struct ntt_split_device *device = &run->device[index];
    uint8_t *out = (uint8_t *)run->call->out->data + first * bytes;
    const pool_pitched from = {.buffer = device->view[NTT_SPLIT_FIRST]};
    const pool_pitched to = {.host = out + index * rows * bytes, .pitch = bytes << plan->log_rows};

    (void)exec;
    if (run->downloads_2d)
        return pool_copy_2d(&to, &from, rows * bytes, UINT64_C(1) << plan->log_columns,
            device->of_call.target.stream);
    return pool_copy_to_host(out + index * run->local * bytes, device->view[NTT_SPLIT_FIRST], 0,
        run->local * bytes, device->of_call.target.stream);
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* Copies of pageable memory block their thread, so that each device gets one for them. */
static pool_status each_device(struct ntt_split_run *run, const pool_span *span,
    pool_status (*step)(void *user, uint32_t index, const pool_exec *exec))
{
    pool_exec exec = run->call->frame.exec;
    const struct parts parts = {.call = "pool_ntt",
        .exec = &exec,
        .devices = &run->division->devices,
        .compute = step,
        .user = run};
    pool_status status = POOL_OK;

    exec.progress = NULL; /* and the devices' streams are ordered already */
    exec.stream = NULL;
    exec.is_async = 0;
    if (ntt_split_is_on_host(span))
        return parts_run(&parts);
    for (uint32_t i = 0; i < run->count && !status; i++)
        status = step(run, i, NULL);
    return status;
}

/* Where the results and, unless that is scratch memory, the columns of this transform are. */
static pool_status set_first_regions(struct ntt_split_run *run)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count && !status; i++) {
        struct ntt_split_device *device = &run->device[i];

        if (device->scratch[NTT_SPLIT_FIRST])
            continue;
        device->region[NTT_SPLIT_FIRST] = ntt_split_part_of(run, &device->out);
        status = scratch_free(&device->of_call.target, &device->view[NTT_SPLIT_FIRST], POOL_OK);
        if (!status)
            status =
                pool_buffer_adopt(device->of_call.target.device, device->region[NTT_SPLIT_FIRST],
                    run->local * ntt_split_element_bytes(run), &device->view[NTT_SPLIT_FIRST]);
    }
    return status;
}

static pool_status run_transform(struct ntt_split_run *run)
{
    const bool is_downloaded = ntt_split_is_on_host(run->call->out);
    pool_status status = set_first_regions(run);

    for (uint32_t i = 0; i < run->count && !status && run->is_direct; i++)
        status = ntt_split_record(run, i, NTT_SPLIT_READY);
    if (!status)
        status = each_device(run, run->call->in, ntt_split_columns);
    if (!status && !run->is_direct)
        status = ntt_split_exchange(run);
    for (uint32_t i = 0; i < run->count && !status; i++) {
        if (run->is_direct)
            status = ntt_split_wait(run, i, NTT_SPLIT_SENT);
        if (!status)
            status = compute_rows(run, &run->device[i]);
    }
    if (!status && is_downloaded && !run->plan.gives_reversed && !run->downloads_2d)
        status = ntt_split_collect(run);
    if (!status && is_downloaded)
        status = each_device(run, run->call->out, download);
    return status;
}

static pool_status run_transforms(struct ntt_split_run *run)
{
    const struct ntt_call *call = run->call;
    struct progress progress = {
        .call = "pool_ntt", .exec = &call->frame.exec, .total = call->in->count};
    pool_status status = POOL_OK;

    for (; run->transform < call->params.batch && !status; run->transform++) {
        status = progress_add(&progress, 0);
        if (!status)
            status = run_transform(run);
        for (uint32_t i = 0; i < run->count && !status && progress_waits(&progress); i++)
            status = pool_stream_synchronize(run->device[i].of_call.target.stream);
        if (!status)
            status = progress_add(&progress, UINT64_C(1) << run->plan.log_size);
    }
    return status;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* What plans of transforms and of their parts need; the batch is divided in time. */
static struct ntt_call call_of_one(const struct operation_division *division)
{
    const struct ntt_call *call = (const struct ntt_call *)division->call;
    struct ntt_call one = *call;
    const bool is_inverse = call->params.direction == POOL_NTT_INVERSE;

    one.job = (struct ntt_job){.words = call->frame.target.field->words,
        .log_size = call->params.domain->log_size,
        .batch = 1,
        .order = call->params.order,
        .coset_in = call->params.coset && !is_inverse,
        .coset_out = call->params.coset && is_inverse,
        .tuning = call->params.domain->tuning};
    return one;
}

static struct ntt_split plan_of_one(
    const struct operation_division *division, const struct ntt_call *one)
{
    const struct chip chip = chip_of(division->devices.device[0]);
    struct ntt_split plan;

    ntt_split_make(&chip, &one->job, one->log_split, ntt_split_is_on_host(one->in),
        ntt_split_is_on_host(one->out), &plan);
    return plan;
}

pool_status ntt_split_run(struct operation_division *division)
{
    const struct ntt_call one = call_of_one(division);
    struct ntt_split_run run = {.call = &one,
        .division = division,
        .plan = plan_of_one(division, &one),
        .count = 1u << one.log_split,
        .local = UINT64_C(1) << (one.job.log_size - one.log_split)};
    pool_status status;

    division->devices.count = run.count;
    status = fork_open("pool_ntt", &division->devices, &one.frame.exec, false, &run.fork);
    if (status)
        return status;
    status = ntt_split_open(&run);
    if (!status)
        status = run_transforms(&run);
    return fork_close(&run.fork, ntt_split_close(&run, status));
}

pool_status ntt_split_forecast(
    struct operation_division *division, uint32_t index, const pool_exec *exec, uint64_t *bytes)
{
    const struct ntt_call one = call_of_one(division);
    const struct ntt_split plan = plan_of_one(division, &one);

    (void)exec;
    *bytes = index >> one.log_split ? 0 : ntt_split_bytes_of_device(&one, &plan);
    return POOL_OK;
}
