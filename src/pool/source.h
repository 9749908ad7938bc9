/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a pool's devices come from: which driver, and which of its devices in which order.
 */
#ifndef POOL_SOURCE_H
#define POOL_SOURCE_H

#include <devicepool/pool.h>

#include "driver/driver.h"

struct device_source {
    struct driver *driver;
    size_t count;
    int *ordinals;
    CUdevice *handles;
};

/* Turns devices, contexts, driver and the environment into a source; base_free what it holds. */
pool_status device_source_open(const pool_params *params, struct device_source *source);
void device_source_close(struct device_source *source);

#endif
