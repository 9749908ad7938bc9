/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_extend_commit over several devices: first each device extends the columns that are dealt to
 * it, then all commit to the extensions. Extensions that are not kept stay in device memory until
 * then, in shards; those for host memory are read from there again, each device its rows.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/commit/devices.h"
#include "zk/ntt/extend.h"
#include "zk/operation/workspace.h"

struct job {
    struct ntt_extend_call extend;
    struct operation_division division;
    pool_span out; /* the extension */
    bool is_kept;
    pool_span elements[EXEC_MAX_DEVICES]; /* shards of an extension that is not kept */
    pool_span columns[EXEC_MAX_DEVICES];  /* of any in shards, as the items of a matrix */
};

struct extend_commit {
    const char *name;
    pool_exec exec;
    uint32_t count;
    bool has_data;
    struct job *jobs;
    pool_matrix *matrices;
    struct commit_tree tree;
    uint64_t reserved[EXEC_MAX_DEVICES];    /* bytes of extensions that are not kept */
    pool_buffer *scratch[EXEC_MAX_DEVICES]; /* of these bytes */
    /* Of the caller's workspaces, after those bytes; NULL: nothing is left, or there are none. */
    pool_buffer *rest[EXEC_MAX_DEVICES];
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Shards of the extension in device memory, which are allocated later. */
static void set_scratch_shards(struct extend_commit *call, struct job *job)
{
    const struct operation_division *division = &job->division;
    const uint32_t log_size = job->extend.job.log_size;

    for (uint32_t i = 0; i < division->devices.count; i++) {
        const uint64_t columns = division->first[i + 1] - division->first[i];

        job->elements[i] = (pool_span){.count = columns << log_size,
            .form = job->extend.in->form,
            .space = POOL_MEMORY_DEVICE};
        call->reserved[i] +=
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
    struct extend_commit *call, const pool_extension *given, struct job *job, pool_matrix *matrix)
{
    pool_ntt_extend_params params;
    pool_status status = base_check_pointers(call->name, {"extensions->params", given->params});

    if (!status)
        status = ntt_extend_params_read(call->name, given->params, &params);
    if (!status && params.layout != POOL_NTT_ROWS)
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "%s: unsupported value %d for `layout`; columns are stored one after another",
            call->name, (int)params.layout);
    if (!status && params.batch > UINT32_MAX)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: unsupported value %llu for `batch`",
            call->name, (unsigned long long)params.batch);
    if (status)
        return status;
    job->is_kept = given->extended.count != 0;
    job->out = given->extended;
    if (!job->is_kept)
        job->out = (pool_span){
            .count = params.batch << params.domain->log_size, .form = given->trace.form};
    job->extend = (struct ntt_extend_call){.frame = {.operation = &ntt_extend_operation,
                                               .name = call->name,
                                               .given = &call->exec,
                                               .is_forecast = !call->has_data || !job->is_kept},
        .given = given->params,
        .in = &given->trace,
        .out = &job->out};
    job->division.call = &job->extend.frame;
    status = operation_divide(&job->division);
    job->extend.frame.is_forecast = !call->has_data;
    if (status)
        return status;
    if (!job->is_kept)
        set_scratch_shards(call, job);
    set_matrix(job, matrix);
    return POOL_OK;
}

static pool_status check_field(const struct extend_commit *call, uint32_t index)
{
    const pool_field *field = call->jobs[index].extend.params.domain->field;

    if (!memcmp(field->fingerprint, call->tree.field->fingerprint, POOL_FINGERPRINT_BYTES))
        return POOL_OK;
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "%s: extension %u is over %s, the parameter set over %s", call->name, index, field->name,
        call->tree.field->name);
}

/* The caller frees the call in any case. */
static pool_status read_call(struct extend_commit *call, const pool_matrix_commit_params *params,
    const pool_extension *extensions, const pool_span *levels)
{
    pool_status status = POOL_OK;

    call->jobs = base_calloc(call->count, sizeof(*call->jobs));
    call->matrices = base_calloc(call->count, sizeof(*call->matrices));
    if (!call->jobs || !call->matrices)
        return base_fail_memory("extensions");
    for (uint32_t i = 0; i < call->count && !status; i++)
        status = read_extension(call, &extensions[i], &call->jobs[i], &call->matrices[i]);
    if (!status)
        status = commit_tree_init(call->name, params, call->matrices, call->count, &call->tree);
    for (uint32_t i = 0; i < call->count && !status; i++)
        status = check_field(call, i);
    return status ? status : commit_check_levels(call->name, &call->tree, &call->exec, levels);
}

static void free_call(struct extend_commit *call)
{
    base_free(call->jobs);
    base_free(call->matrices);
}

/* ---- extensions ------------------------------------------------------------------------------ */

static struct commit_division limits_of(const struct extend_commit *call)
{
    return (struct commit_division){
        .call = call->name, .has_data = call->has_data, .reserved = call->reserved};
}

static pool_status extend_part(void *user, uint32_t index, const pool_exec *given)
{
    const struct extend_commit *call = user;
    const struct commit_division limits = limits_of(call);
    pool_exec exec;
    pool_status status = commit_part_exec(&limits, given, index, &exec);

    for (uint32_t i = 0; i < call->count && !status; i++)
        status = operation_compute_part(&call->jobs[i].division, index, &exec);
    return status;
}

static pool_status init_target(
    const struct extend_commit *call, uint32_t index, pool_exec *exec, struct exec_target *target)
{
    const struct devices *devices = &call->jobs[0].division.devices;
    const pool_exec given = devices_exec(devices, &call->exec, index);
    pool_status status = exec_read(call->name, &given, &commit_exec_rules, exec);

    if (!status && call->reserved[index] > exec_limit(exec))
        status = exec_fail_limit(call->name, exec_limit(exec), call->reserved[index]);
    return status ? status : exec_target_init(target, exec);
}

static const pool_span *shard_of(const pool_span *span, uint32_t index)
{
    return span->space == POOL_MEMORY_SHARDED ? &((const pool_span *)span->data)[index] : NULL;
}

/* Of all jobs, before anything is written to the workspace. */
static pool_status check_overlaps(
    const struct extend_commit *call, uint32_t index, const pool_exec *exec)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < call->count && !status; i++) {
        const struct job *job = &call->jobs[i];
        const uint64_t bytes = job->extend.params.domain->field->bytes;
        const struct workspace_span spans[] = {{shard_of(job->extend.in, index), bytes, "trace"},
            {job->is_kept ? shard_of(&job->out, index) : NULL, bytes, "extension"}};

        status = workspace_check_spans(call->name, exec, spans, 2);
    }
    return status;
}

/* What the extensions leave of the device's workspace. */
static pool_status take_rest(
    struct extend_commit *call, uint32_t index, const struct exec_target *target)
{
    const uint64_t all = call->exec.workspaces && call->exec.workspaces[index]
                             ? pool_buffer_bytes(call->exec.workspaces[index])
                             : 0;
    const uint64_t rest = all - call->reserved[index];
    CUdeviceptr address;

    return all && rest >= MEMORY_SCRATCH_ALIGNMENT
               ? scratch_allocate(target,
                     rest / MEMORY_SCRATCH_ALIGNMENT * MEMORY_SCRATCH_ALIGNMENT, &call->rest[index],
                     &address)
               : POOL_OK;
}

static pool_status allocate_on(struct extend_commit *call, uint32_t index)
{
    struct workspace workspace;
    struct exec_target target;
    CUdeviceptr address = 0;
    pool_exec exec;
    pool_status status = init_target(call, index, &exec, &target);

    if (!status)
        status = workspace_open(&workspace, call->name, &exec, call->reserved[index], &target);
    if (!status)
        status = check_overlaps(call, index, &exec);
    if (!status && call->reserved[index])
        status = scratch_allocate(&target, call->reserved[index], &call->scratch[index], &address);
    for (uint32_t i = 0; i < call->count && !status; i++) {
        struct job *job = &call->jobs[i];
        const uint64_t bytes = job->elements[index].count * job->extend.params.domain->field->bytes;

        if (bytes)
            job->elements[index].data = (void *)(uintptr_t)address;
        if (!job->is_kept)
            job->columns[index].data = job->elements[index].data;
        address += memory_scratch_bytes(bytes);
    }
    return status ? status : take_rest(call, index, &target);
}

/* Nothing of the call runs any more. */
static pool_status free_scratch(struct extend_commit *call, pool_status status)
{
    for (uint32_t k = 0; k < call->jobs[0].division.devices.count; k++) {
        const struct exec_target target = {.device = call->jobs[0].division.devices.device[k]};

        status = scratch_free(&target, &call->scratch[k], status);
        status = scratch_free(&target, &call->rest[k], status);
    }
    return status;
}

/* Extensions are below the modulus, and progress is that of the commitment. */
static pool_status run_jobs(struct extend_commit *call, const pool_span *levels)
{
    pool_exec extends = call->exec, commits = call->exec;
    const struct devices *devices = &call->jobs[0].division.devices;
    const struct parts parts = {
        .exec = &extends, .devices = devices, .compute = extend_part, .user = call};
    pool_status status = POOL_OK;

    extends.progress = NULL;
    commits.checks = POOL_CHECK_NONE;
    if (call->exec.workspaces)
        extends.workspaces = commits.workspaces = call->rest;
    for (uint32_t i = 0; i < devices->count && !status; i++)
        status = allocate_on(call, i);
    if (!status)
        status = parts_run(&parts);
    if (!status)
        status = commit_devices_run(call->name, &call->tree, &commits, levels, call->reserved);
    return free_scratch(call, status);
}

pool_status commit_extend_on_devices(const char *name, const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_extension *extensions, uint32_t count,
    const pool_span *levels)
{
    struct extend_commit call = {.name = name, .exec = *exec, .count = count, .has_data = true};
    uint64_t needed[EXEC_MAX_DEVICES];
    pool_status status = read_call(&call, params, extensions, levels);

    if (!status && exec->workspaces)
        status = commit_extend_forecast(name, params, exec, extensions, count, levels, needed);
    if (!status)
        status = devices_check_workspaces(name, &call.jobs[0].division.devices, exec, needed);
    if (!status)
        status = run_jobs(&call, levels);
    free_call(&call);
    return status;
}

/* ---- forecast -------------------------------------------------------------------------------- */

static pool_status forecast_extensions(
    const struct extend_commit *call, uint32_t index, uint64_t *bytes)
{
    const struct commit_division limits = limits_of(call);
    const pool_exec given = devices_exec(&call->jobs[0].division.devices, &call->exec, index);
    struct exec_target target;
    pool_exec exec;
    pool_status status = init_target(call, index, &exec, &target);

    *bytes = 0;
    if (!status)
        status = commit_part_exec(&limits, &given, index, &exec);
    for (uint32_t i = 0; i < call->count && !status; i++) {
        uint64_t needed = 0;

        status = operation_forecast_part(&call->jobs[i].division, index, &exec, &needed);
        *bytes = *bytes > needed ? *bytes : needed;
    }
    return status;
}

pool_status commit_extend_forecast(const char *name, const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_extension *extensions, uint32_t count,
    const pool_span *levels, uint64_t *bytes)
{
    struct extend_commit call = {.name = name, .exec = *exec, .count = count};
    uint64_t extends[EXEC_MAX_DEVICES], commits[EXEC_MAX_DEVICES];
    pool_exec commit_exec = *exec;
    pool_status status = read_call(&call, params, extensions, levels);

    commit_exec.checks = POOL_CHECK_NONE;
    for (uint32_t i = 0; !status && i < call.jobs[0].division.devices.count; i++)
        status = forecast_extensions(&call, i, &extends[i]);
    if (!status)
        status =
            commit_devices_forecast(name, &call.tree, &commit_exec, levels, call.reserved, commits);
    for (uint32_t i = 0; !status && i < call.jobs[0].division.devices.count; i++)
        bytes[i] = call.reserved[i] + (extends[i] > commits[i] ? extends[i] : commits[i]);
    free_call(&call);
    return status;
}
