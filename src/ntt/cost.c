/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the duration of transforms from their plans: see split.h. */
#include <math.h>

#include "base/math.h"
#include "ntt/split.h"

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

/* Every device stores its elements, all but 1 / k of them to other devices, and then waits for the
 * others. A multiplication by a power takes one for each table. */
static double cost_of_exchange(const struct chip *chip, const struct chip_rates *rates,
    const struct ntt_job *job, uint32_t log_devices, bool is_scaled)
{
    const double bytes = bytes_per_device(job, log_devices);
    const struct ntt_tuning tuning = ntt_tuning_for(job, chip);
    struct ntt_table_layout layout;
    double seconds, devices = (double)(1u << log_devices);

    ntt_table_layout_make(&tuning, job->log_size, &layout);
    seconds = bytes * (devices - 1) / devices / rates->peer_bytes;
    seconds = fmax(seconds, 2 * bytes / rates->memory_bytes);
    if (is_scaled)
        seconds = fmax(seconds,
            bytes / (4.0 * job->words) * (layout.low_bits ? 2 : 1) / rates->ntt_multiplications);
    return seconds + 2 * rates->launch;
}

static double cost_of_split(const struct chip *chip, const struct chip_rates *rates,
    const struct ntt_job *job, uint32_t log_devices, bool is_on_host)
{
    struct ntt_split split;
    double seconds;

    ntt_split_make(chip, job, log_devices, is_on_host, is_on_host, &split);
    seconds = cost_of_transforms(chip, rates, &split.columns_job) +
              cost_of_exchange(chip, rates, job, log_devices, true) +
              cost_of_transforms(chip, rates, &split.rows_job);
    if (split.collects)
        seconds += cost_of_exchange(chip, rates, job, log_devices, false);
    return seconds + rates->parts;
}

double ntt_cost(const struct chip *chip, const struct chip_rates *rates, const struct ntt_job *job,
    uint32_t devices)
{
    const uint32_t log_devices = ntt_split_log_devices(job->log_size, devices);
    struct ntt_job part = *job;

    if (job->batch < devices && log_devices) {
        part.batch = 1;
        return (double)job->batch * cost_of_split(chip, rates, &part, log_devices, false);
    }
    part.batch = base_ceil_div(job->batch, devices);
    return cost_of_transforms(chip, rates, &part) + (devices > 1 ? rates->parts : 0);
}

double ntt_cost_on_host(const struct chip *chip, const struct chip_rates *rates,
    const struct ntt_job *job, uint32_t devices)
{
    const uint32_t log_devices = ntt_split_log_devices(job->log_size, devices);
    const double transfer = bytes_per_device(job, log_devices) / rates->host_bytes;

    return 2 * transfer + (log_devices ? cost_of_split(chip, rates, job, log_devices, true)
                                       : cost_of_transforms(chip, rates, job));
}
