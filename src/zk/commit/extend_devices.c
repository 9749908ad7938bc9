/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_extend_commit over several devices: first each device extends the columns that are dealt to
 * it, then all commit to the extensions. Extensions that are not kept stay in device memory until
 * then, in shards; those for host memory are read from there again, each device its rows.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/commit/devices.h"
#include "zk/ntt/extend.h"

struct job {
    struct ntt_extend_call extend;
    struct operation_division division;
    pool_span out; /* the extension */
    bool is_kept;
    pool_span elements[EXEC_MAX_DEVICES]; /* shards of an extension that is not kept */
    pool_span columns[EXEC_MAX_DEVICES];  /* of any in shards, as the items of a matrix */
};

/* Of a call, behind which the matrices follow that are committed to. */
struct extensions {
    uint64_t reserved[EXEC_MAX_DEVICES]; /* bytes of extensions that are not kept */
    struct operation_reserve *reserves;  /* of these bytes, of each device */
    struct job jobs[];
};

static struct extensions *extensions_of(const struct operation_call *call)
{
    return call->host_memory;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Shards of the extension in device memory, which are allocated later. */
static void set_scratch_shards(struct extensions *all, struct job *job)
{
    const struct operation_division *division = &job->division;
    const uint32_t log_size = job->extend.job.log_size;

    for (uint32_t i = 0; i < division->devices.count; i++) {
        const uint64_t columns = division->first[i + 1] - division->first[i];

        job->elements[i] = (pool_span){.count = columns << log_size,
            .form = job->extend.in->form,
            .space = POOL_MEMORY_DEVICE};
        all->reserved[i] +=
            memory_scratch_bytes(job->elements[i].count * job->extend.params.domain->field->bytes);
    }
    job->out.data = job->elements;
    job->out.space = POOL_MEMORY_SHARDED;
}

/* The extension as a matrix: its items are columns. */
static void set_matrix(struct job *job, pool_matrix *matrix)
{
    const struct operation_division *division = &job->division;
    const uint64_t height = UINT64_C(1) << job->extend.job.log_size;
    const pool_span *shards = job->out.data;

    *matrix = (pool_matrix){
        .span = job->out, .height = height, .width = (uint32_t)job->extend.params.batch};
    matrix->span.count = job->extend.params.batch;
    matrix->span.stride = 0;
    if (matrix->span.space != POOL_MEMORY_SHARDED)
        return;
    for (uint32_t i = 0; i < division->devices.count; i++) {
        job->columns[i] = shards[i];
        job->columns[i].count /= height;
        job->columns[i].stride = 0;
    }
    matrix->span.data = job->columns;
}

static pool_status read_extension(
    struct commit_call *call, const pool_extension *given, struct job *job, pool_matrix *matrix)
{
    pool_ntt_extend_params params;
    pool_status status = commit_read_extension(call, given, &params);

    if (status)
        return status;
    job->is_kept = given->extended.count != 0;
    job->out = given->extended;
    if (!job->is_kept)
        job->out = (pool_span){
            .count = params.batch << params.domain->log_size, .form = given->trace.form};
    job->extend =
        (struct ntt_extend_call){.frame = {.operation = &ntt_extend_operation,
                                     .name = call->frame.name,
                                     .given = &call->frame.exec,
                                     .is_forecast = call->frame.is_forecast || !job->is_kept},
            .given = given->params,
            .in = &given->trace,
            .out = &job->out};
    job->division.call = &job->extend.frame;
    status = operation_divide(&job->division);
    job->extend.frame.is_forecast = call->frame.is_forecast;
    if (status)
        return status;
    if (!job->is_kept)
        set_scratch_shards(extensions_of(&call->frame), job);
    set_matrix(job, matrix);
    return POOL_OK;
}

pool_status commit_read_jobs(struct commit_call *call)
{
    const uint32_t count = call->count;
    struct extensions *all =
        base_calloc(1, sizeof(*all) + count * (sizeof(all->jobs[0]) + sizeof(pool_matrix)));
    pool_matrix *matrices;
    pool_status status = POOL_OK;

    call->frame.host_memory = all;
    if (!all)
        return base_fail_memory("extensions");
    matrices = (pool_matrix *)(void *)&all->jobs[count];
    for (uint32_t i = 0; i < count && !status; i++)
        status = read_extension(call, &call->extensions[i], &all->jobs[i], &matrices[i]);
    if (!status)
        status = commit_tree_init(call->frame.name, &call->params, matrices, count, &call->tree);
    for (uint32_t i = 0; i < count && !status; i++)
        status = commit_check_field(call, all->jobs[i].extend.params.domain, i);
    return status;
}

/* ---- the run --------------------------------------------------------------------------------- */

static uint32_t count_jobs(const struct operation_division *division)
{
    return ((const struct commit_call *)(const void *)division->call)->count;
}

static pool_status extend_part(void *user, uint32_t index, const pool_exec *given)
{
    const struct operation_division *division = user;
    const struct extensions *all = extensions_of(division->call);
    const pool_exec exec = operation_reserve_exec(&all->reserves[index], given);
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < count_jobs(division) && !status; i++)
        status = operation_compute_part(&all->jobs[i].division, index, &exec);
    return status;
}

static pool_status commit_rows(void *user, uint32_t index, const pool_exec *given)
{
    const struct operation_division *division = user;
    const struct extensions *all = extensions_of(division->call);
    const pool_exec exec = operation_reserve_exec(&all->reserves[index], given);

    return operation_compute_part(division, index, &exec);
}

static pool_status allocate_on(const struct operation_division *division, uint32_t index)
{
    const pool_exec exec = devices_exec(&division->devices, &division->call->exec, index);
    struct extensions *all = extensions_of(division->call);
    struct operation_reserve *reserve = &all->reserves[index];
    pool_status status = operation_reserve(division->call, all->reserved[index], &exec, reserve);
    CUdeviceptr address = reserve->address;

    for (uint32_t i = 0; i < count_jobs(division) && !status; i++) {
        struct job *job = &all->jobs[i];
        const uint64_t bytes = job->elements[index].count * job->extend.params.domain->field->bytes;

        if (bytes)
            job->elements[index].data = (void *)(uintptr_t)address;
        if (!job->is_kept)
            job->columns[index].data = job->elements[index].data;
        address += memory_scratch_bytes(bytes);
    }
    return status;
}

/* Once the extensions have memory. */
static pool_status connect(struct operation_division *division)
{
    struct commit_division *cut = division->memory;
    pool_status status;

    cut->has_data = true;
    status = commit_check_shards(cut);
    return status ? status : commit_connect(cut);
}

/* Extensions are below the modulus, and progress is that of the commitment. */
static pool_status run_jobs(struct operation_division *division)
{
    const struct operation_call *call = division->call;
    pool_exec extends = call->exec, commits = call->exec;
    const struct parts extensions = {.call = call->name,
        .exec = &extends,
        .devices = &division->devices,
        .compute = extend_part,
        .user = division};
    const struct parts trees = {.call = call->name,
        .exec = &commits,
        .devices = &division->devices,
        .total = call->work,
        .compute = commit_rows,
        .user = division};
    pool_status status = POOL_OK;

    extends.progress = NULL;
    commits.checks = POOL_CHECK_NONE;
    for (uint32_t i = 0; i < division->devices.count && !status; i++)
        status = allocate_on(division, i);
    if (!status)
        status = parts_run(&extensions);
    if (!status)
        status = connect(division);
    if (!status)
        status = parts_run(&trees);
    if (!status && division->joins) {
        const pool_exec first = devices_exec(&division->devices, &commits, 0);

        division->is_joining = true;
        status = commit_rows(division, 0, &first);
    }
    return status;
}

static pool_status run_with_reserves(struct operation_division *division)
{
    struct extensions *all = extensions_of(division->call);
    pool_status status;

    all->reserves = base_calloc(division->devices.count, sizeof(*all->reserves));
    if (!all->reserves)
        return base_fail_memory("the memory of extensions");
    status = run_jobs(division);
    for (uint32_t i = 0; i < division->devices.count; i++)
        status = operation_reserve_end(&all->reserves[i], status);
    base_free(all->reserves);
    return status;
}

/* ---- forecast -------------------------------------------------------------------------------- */

static pool_status forecast(
    struct operation_division *division, uint32_t index, const pool_exec *given, uint64_t *bytes)
{
    const struct extensions *all = extensions_of(division->call);
    pool_exec exec = *given;
    uint64_t most = 0, needed = 0;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < count_jobs(division) && !status; i++) {
        status = operation_forecast_part(&all->jobs[i].division, index, &exec, &needed);
        most = base_max(most, needed);
    }
    exec.checks = POOL_CHECK_NONE;
    if (!status)
        status = operation_forecast_parts(division, index, &exec, bytes);
    *bytes = base_max(*bytes, most);
    return status;
}

pool_status commit_divide_jobs(void *call, struct operation_division *division)
{
    memcpy(division->reserved, extensions_of(division->call)->reserved, sizeof(division->reserved));
    division->run = run_with_reserves;
    division->forecast = forecast;
    return commit_divide_call(call, division);
}
