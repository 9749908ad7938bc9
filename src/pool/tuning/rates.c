/* SPDX-License-Identifier: Apache-2.0 */
#include "pool/tuning/rates.h"

#include <math.h>

#include "base/math.h"

const struct chip_rates chip_rates_h200 = {
    .chip = "NVIDIA H200",
    .multiprocessors = 132,
    .host_bytes = 55.4e9,
    .peer_bytes = 396e9,
    .memory_bytes = 4.2e12,
    .launch = 5e-6,
    .parts = 50e-6,
    .ntt_multiplications = 67e9,
    .poseidon_hashes = 131.1e6,
    .poseidon_level = 159e-6,
    .msm = {{.coordinate_words = 8,
                .sort_entry = 0.0150e-9,
                .accumulate = 90e-6,
                .accumulate_entry = 0.159e-9,
                .reduce = 110e-6,
                .reduce_bucket = 0.507e-9,
                .finish = 80e-6},
        {.coordinate_words = 12,
            .sort_entry = 0.0150e-9,
            .accumulate = 190e-6,
            .accumulate_entry = 0.3655e-9,
            .reduce = 66e-6,
            .reduce_bucket = 1.349e-9,
            .finish = 120e-6}},
};

double chip_seconds(uint32_t multiprocessors, const struct chip_work *work)
{
    const struct chip_rates *rates = &chip_rates_h200;
    const double length = (double)work->words / 8; /* of the measured products */
    const double products = work->products * length * length / rates->ntt_multiplications;

    return fmax(products, work->bytes / rates->memory_bytes) * rates->multiprocessors /
           multiprocessors;
}

uint64_t chip_slice(uint64_t items, double seconds, uint64_t slice_ns)
{
    const double slices = floor(seconds / ((double)slice_ns * 1e-9)) + 1;

    return slices < (double)items ? base_ceil_div(items, (uint64_t)slices) : base_min(items, 1);
}
