/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a chip that the plans of operations depend on. */
#ifndef POOL_CHIP_H
#define POOL_CHIP_H

#include "pool/device/device.h"
#include "pool/tuning/tuning.h"

struct chip {
    uint32_t multiprocessors;    /* at least 1 */
    uint64_t shared_bytes;       /* the maximum shared memory per block */
    const struct tuning *tuning; /* NULL: the defaults */
};

static inline struct chip chip_of(const pool_device *device)
{
    const pool_device_info *info = device_properties(device);

    return (struct chip){
        .multiprocessors = info->multiprocessors > 0 ? (uint32_t)info->multiprocessors : 1,
        .shared_bytes = info->shared_bytes_per_block_optin ? info->shared_bytes_per_block_optin
                                                           : info->shared_bytes_per_block,
        .tuning = device_tuning(device)};
}

static inline const struct tuning *chip_tuning(const struct chip *chip)
{
    return chip->tuning ? chip->tuning : tuning_default();
}

#endif
