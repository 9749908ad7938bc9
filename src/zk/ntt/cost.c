/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the duration of transforms from their plans: see split.h. */
#include <math.h>

#include "base/math.h"
#include "zk/ntt/split.h"

/* n / 2 log n multiplications in butterflies, and n by twiddles between two passes. */
static double cost_of_transforms(
    const struct chip *chip, const struct chip_rates *rates, const struct ntt_job *job)
{
    const struct ntt_tuning tuning = ntt_tuning_for(job, chip);
    const double elements = (double)(job->batch << job->log_size);
    struct ntt_plan plan;

    if (!ntt_plan_make(&tuning, chip, job, &plan))
        return INFINITY;
    return elements * (job->log_size / 2.0 + plan.count - 1) / rates->ntt_multiplications +
           plan.count * rates->launch;
}

static double bytes_per_device(const struct ntt_job *job, uint32_t log_devices)
{
    return 4.0 * job->words * (double)(UINT64_C(1) << (job->log_size - log_devices));
}

/* The columns' pass multiplies every element by a power, which takes one multiplication for each
 * table, and meanwhile stores all but 1 / k of the elements to other devices. */
static double cost_of_columns(const struct chip *chip, const struct chip_rates *rates,
    const struct ntt_job *job, const struct ntt_split *split)
{
    const double bytes = bytes_per_device(job, split->log_devices);
    const double devices = (double)(1u << split->log_devices);
    const struct ntt_tuning tuning = ntt_tuning_for(job, chip);
    struct ntt_table_layout layout;
    double seconds;

    ntt_table_layout_make(&tuning, job->log_size, &layout);
    seconds = cost_of_transforms(chip, rates, &split->columns_job) +
              bytes / (4.0 * job->words) * (layout.low_bits ? 2 : 1) / rates->ntt_multiplications;
    return fmax(seconds, bytes * (devices - 1) / devices / rates->peer_bytes);
}

/* From shards to shards. Every device waits for all others before its columns and before its rows.
 */
static double cost_of_split(const struct chip *chip, const struct chip_rates *rates,
    const struct ntt_job *job, uint32_t log_devices)
{
    struct ntt_split split;

    ntt_split_make(chip, job, log_devices, false, false, &split);
    return cost_of_columns(chip, rates, job, &split) +
           cost_of_transforms(chip, rates, &split.rows_job) + 4 * rates->launch + rates->parts;
}

double ntt_cost(const struct chip *chip, const struct chip_rates *rates, const struct ntt_job *job,
    uint32_t devices)
{
    const uint32_t log_devices = ntt_split_log_devices(job->log_size, devices);
    struct ntt_job part = *job;

    if (job->batch < devices && log_devices) {
        part.batch = 1;
        return (double)job->batch * cost_of_split(chip, rates, &part, log_devices);
    }
    part.batch = base_ceil_div(job->batch, devices);
    return cost_of_transforms(chip, rates, &part) + (devices > 1 ? rates->parts : 0);
}

/* The columns of several devices are transformed while others are uploaded. */
double ntt_cost_on_host(const struct chip *chip, const struct chip_rates *rates,
    const struct ntt_job *job, uint32_t devices)
{
    const uint32_t log_devices = ntt_split_log_devices(job->log_size, devices);
    const double transfer = bytes_per_device(job, log_devices) / rates->host_bytes;
    struct ntt_split split;

    if (!log_devices)
        return 2 * transfer + cost_of_transforms(chip, rates, job);
    ntt_split_make(chip, job, log_devices, true, true, &split);
    return fmax(transfer, cost_of_columns(chip, rates, job, &split)) +
           cost_of_transforms(chip, rates, &split.rows_job) + transfer + 4 * rates->launch +
           rates->parts;
}
