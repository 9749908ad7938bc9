/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of a pool's devices: the driver, and which of its devices in which order.
 */
#ifndef POOL_SOURCE_H
#define POOL_SOURCE_H

#include <stdbool.h>

#include <devicepool/pool.h>

#include "driver/driver.h"
#include "pool/device/split.h"

/* A device of the pool: a GPU, or a part of one, behind which come the others. */
struct device_source_entry {
    int ordinal;
    CUdevice handle;
    uint32_t number; /* of the part on its GPU */
    uint32_t parts;  /* of the GPU; 0: it is one device */
    struct device_part part;
    struct device_parts *wanted; /* of its first part: what was requested, to be freed */
};

struct device_source {
    struct driver *driver;
    bool is_isolated; /* each device is in a worker process */
    size_t count;
    struct device_source_entry *entries;
};

/* Resolves params' devices, contexts and driver and the environment. device_source_close frees the
 * result. */
pool_status device_source_open(const pool_params *params, struct device_source *source);
void device_source_close(struct device_source *source);

#endif
