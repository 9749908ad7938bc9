/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MSM over the points of all ranks: each one computes its part, and the partial sums are added
 * along a binomial tree, as an MPI reduction would, but with a deadline for each message.
 */
#include "mpi/group.h"

#include <stdio.h>
#include <string.h>

static const struct base_struct pool_msm_params_type = BASE_STRUCT(pool_msm_params);

struct msm_run {
    pool_mpi *mpi;
    pool_msm_params params;
    pool_exec exec;
    pool_span results; /* of the caller */
    uint64_t batch;
    size_t point_bytes; /* of a partial sum */
    uint8_t *sums;
    uint8_t *others; /* the partial sums of another rank */
    struct group_call call;
};

/* No point is ambiguous in Jacobian coordinates. */
static const pool_point_format sum_format = {.layout = POOL_POINT_JACOBIAN};

static pool_status check_results(const struct msm_run *run, const pool_span *results)
{
    static const char call[] = "pool_mpi_msm";
    const uint64_t packed = pool_point_bytes(run->params.curve, run->params.result_layout);

    if (!packed)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: unknown value %d for `result_layout`",
            call, (int)run->params.result_layout);
    if (results->space != POOL_MEMORY_HOST)
        return base_fail(POOL_ERR_UNSUPPORTED, "%s: the results must be in host memory", call);
    if (results->count != run->batch)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the results have %llu points; the batch has %llu MSMs", call,
            (unsigned long long)results->count, (unsigned long long)run->batch);
    if (!results->data)
        return base_fail_null(call, "results->data");
    if (results->stride && results->stride < packed)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: a stride of %llu bytes for results is smaller than a point, %llu", call,
            (unsigned long long)results->stride, (unsigned long long)packed);
    return base_check_array(
        call, "results", results->count, results->stride ? results->stride : packed, packed);
}

static pool_status read_call(struct msm_run *run, const pool_msm_params *params,
    const pool_exec *exec, const pool_span *scalars, const pool_span *results)
{
    static const char call[] = "pool_mpi_msm";
    pool_status status =
        base_struct_read(&pool_msm_params_type, call, "params", params, &run->params);

    if (!status)
        status = base_check_pointers(call, {"scalars", scalars}, {"results", results});
    if (!status && !run->params.curve && run->params.bases)
        run->params.curve = pool_bases_curve(run->params.bases);
    if (!status)
        status = group_exec_read(run->mpi, call, exec, &run->exec);
    if (!status && !run->params.curve && run->params.device_bases && run->exec.device_count)
        run->params.curve = pool_bases_curve(run->params.device_bases[0]);
    if (!status && !run->params.curve)
        status = base_fail_null(call, "params->curve");
    if (status)
        return status;
    /* Bases know their device. */
    if (run->params.bases && !(exec && exec->device))
        run->exec.device = NULL;
    run->batch = run->params.batch ? run->params.batch : 1;
    run->results = *results;
    snprintf(run->call.object, sizeof(run->call.object), "%s", pool_curve_name(run->params.curve));
    group_call_add(&run->call, "batch", run->batch);
    status = pool_curve_fingerprint(run->params.curve, run->call.fingerprint);
    return status ? status : check_results(run, results);
}

static pool_status compute_part(
    struct msm_run *run, const pool_span *points, const pool_span *scalars)
{
    pool_msm_params params = run->params;
    pool_span sums = {.count = run->batch};
    pool_status status;
    void *memory;

    run->point_bytes = pool_point_bytes(params.curve, sum_format.layout);
    status =
        base_check_array("pool_mpi_msm", "results", run->batch, run->point_bytes, run->point_bytes);
    if (!status)
        status = group_buffer_get(run->mpi, GROUP_RECEIVED, run->batch * run->point_bytes, &memory);
    if (status)
        return status;
    run->others = memory;
    status = group_buffer_get(run->mpi, GROUP_SENT, run->batch * run->point_bytes, &memory);
    if (status)
        return status;
    run->sums = memory;
    sums.data = run->sums;
    params.result_layout = sum_format.layout;
    return pool_msm(&params, &run->exec, points, scalars, &sums);
}

static pool_status add_other(struct msm_run *run)
{
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < run->batch && !status; i++) {
        uint8_t *sum = run->sums + i * run->point_bytes;

        status = pool_point_add(
            run->params.curve, &sum_format, sum, run->others + i * run->point_bytes, sum);
    }
    return status;
}

/* Rank 0 has all sums in the end, and sends them to the others. */
static pool_status reduce(struct msm_run *run)
{
    const uint64_t bytes = run->batch * run->point_bytes;
    pool_mpi *mpi = run->mpi;
    pool_status status = POOL_OK;

    for (int bit = 1; bit < mpi->ranks && !status; bit <<= 1) {
        if (mpi->rank & bit) {
            status = group_send(mpi, run->sums, bytes, mpi->rank - bit);
            break;
        }
        if (mpi->rank + bit >= mpi->ranks)
            continue;
        status = group_receive(mpi, run->others, bytes, mpi->rank + bit);
        if (!status)
            status = add_other(run);
    }
    return status ? status : group_broadcast(mpi, run->sums, bytes, 0);
}

static pool_status write_results(const struct msm_run *run)
{
    const pool_point_format format = {.layout = run->params.result_layout,
        .form = run->results.form,
        .stride = run->results.stride};

    return pool_points_convert(run->params.curve, &sum_format, run->sums, (size_t)run->batch,
        POOL_CHECK_NONE, &format, run->results.data);
}

pool_status pool_mpi_msm(pool_mpi *mpi, const pool_msm_params *params, const pool_exec *exec,
    const pool_span *points, const pool_span *scalars, const pool_span *results)
{
    struct msm_run run = {.mpi = mpi,
        .call = {.name = "pool_mpi_msm", .operation = GROUP_MSM, .object_kind = "curve"}};
    pool_status status = group_check(mpi, run.call.name);

    if (status)
        return status;
    status = group_agree(mpi, &run.call, read_call(&run, params, exec, scalars, results));
    if (status)
        return status;
    status = group_agree(mpi, &run.call, compute_part(&run, points, scalars));
    if (status)
        return status;
    status = group_agree(mpi, &run.call, reduce(&run));
    return status ? status : write_results(&run);
}
