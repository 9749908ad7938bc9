/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of a pool's devices: the driver, and which of its devices in which order.
 */
#ifndef POOL_SOURCE_H
#define POOL_SOURCE_H

#include <stdbool.h>

#include <devicepool/pool.h>

#include "driver/driver.h"

struct device_source {
    struct driver *driver;
    bool is_isolated; /* each device is in a worker process */
    size_t count;
    int *ordinals;
    CUdevice *handles;
};

/* Resolves params' devices, contexts and driver and the environment. device_source_close frees the
 * result. */
pool_status device_source_open(const pool_params *params, struct device_source *source);
void device_source_close(struct device_source *source);

#endif
