/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions of a GPU by its driver: which sizes it has, and a descriptor of each part.
 */
#ifndef POOL_SPLIT_H
#define POOL_SPLIT_H

#include "driver/driver.h"
#include "pool/device/parts.h"

/* A part of a GPU; its green context is created from the descriptor. */
struct device_part {
    uint32_t multiprocessors;
    CUdevResourceDesc desc;
};

/*
 * Partitions the GPU; makes no context. POOL_ERR_UNSUPPORTED: the driver has no green contexts;
 * POOL_ERR_INVALID_ARGUMENT: the parts do not fit. The descriptors have no end.
 */
pool_status device_split(struct driver *driver, CUdevice handle, const struct device_parts *parts,
    struct device_part split[DEVICE_PARTS_MAX]);

/* The multiprocessors that a context has; 0: the driver cannot say. */
pool_status device_count_of_context(struct driver *driver, CUcontext context, uint32_t *count);

#endif
