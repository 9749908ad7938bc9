/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of a batch of independent jobs in proportion to what the ranks have been measured to do.
 * Rank 0 receives the rates and sends all ranks the same bounds.
 */
#include "mpi/group.h"

#include <string.h>

#include "base/math.h"

/* A half of the new measurement and a half of those before: a rate follows a change in a few
 * rounds, and one disturbed round changes shares by half as much. */
static void measure(pool_mpi *mpi, uint64_t done, uint64_t elapsed_ns)
{
    const double rate = (double)done / (double)(elapsed_ns ? elapsed_ns : 1);

    if (done)
        mpi->rate = mpi->rate > 0 ? (mpi->rate + rate) / 2 : rate;
}

/* bounds[r] ... bounds[r + 1] - 1 are the jobs of rank r. An unknown rate is the mean of the
 * others; each share differs by less than one job from the exact one. */
static void set_bounds(const double *rates, int ranks, uint64_t jobs, uint64_t *bounds)
{
    double known = 0, mean, total, before = 0;
    int count = 0;

    for (int i = 0; i < ranks; i++) {
        known += rates[i];
        count += rates[i] > 0;
    }
    mean = count ? known / count : 1;
    total = known + mean * (ranks - count);
    bounds[0] = 0;
    for (int i = 0; i < ranks; i++) {
        before += rates[i] > 0 ? rates[i] : mean;
        bounds[i + 1] = i + 1 < ranks ? (uint64_t)((double)jobs * (before / total)) : jobs;
        bounds[i + 1] = base_min(bounds[i + 1], jobs);
    }
}

static pool_status share_bounds(pool_mpi *mpi, uint64_t jobs, void **bounds)
{
    void *memory;
    double *rates;
    pool_status status =
        group_buffer_get(mpi, GROUP_SENT, (uint64_t)mpi->ranks * sizeof(double), &memory);

    if (!status)
        status = group_buffer_get(
            mpi, GROUP_RECEIVED, ((uint64_t)mpi->ranks + 1) * sizeof(uint64_t), bounds);
    if (status)
        return status;
    rates = memory;
    rates[mpi->rank] = mpi->rate;
    status = group_gather(mpi, rates, sizeof(double));
    if (!mpi->rank && !status)
        set_bounds(rates, mpi->ranks, jobs, *bounds);
    return status ? status
                  : group_broadcast(mpi, *bounds, ((uint64_t)mpi->ranks + 1) * sizeof(uint64_t), 0);
}

pool_status pool_mpi_divide(pool_mpi *mpi, uint64_t jobs, uint64_t done, uint64_t elapsed_ns,
    uint64_t *first, uint64_t *count)
{
    struct group_call call = {.name = "pool_mpi_divide", .operation = GROUP_DIVIDE};
    pool_status status = group_check(mpi, call.name);
    void *memory = NULL;
    uint64_t bounds[2];

    if (status)
        return status;
    status = base_check_pointers(call.name, {"first", first}, {"count", count});
    if (!status && jobs > UINT64_C(1) << 48)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_mpi_divide: %llu jobs are more than 2^48", (unsigned long long)jobs);
    group_call_add(&call, "jobs", jobs);
    if (!status)
        measure(mpi, done, elapsed_ns);
    status = group_agree(mpi, &call, status);
    if (!status)
        status = group_agree(mpi, &call, share_bounds(mpi, jobs, &memory));
    if (status)
        return status;
    memcpy(bounds, (const uint64_t *)memory + mpi->rank, sizeof(bounds));
    *first = bounds[0];
    *count = bounds[1] - bounds[0];
    return POOL_OK;
}
