/* SPDX-License-Identifier: Apache-2.0 */
#include "pool/tuning/rates.h"

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
