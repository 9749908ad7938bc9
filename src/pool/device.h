/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rooms above the pool (memory, stream, module, the operations) may know of a device.
 */
#ifndef POOL_DEVICE_INTERNAL_H
#define POOL_DEVICE_INTERNAL_H

#include <devicepool/device.h>

#include "driver/driver.h"

/* Between enter and leave the device's context is current on the calling thread. */
struct device_scope {
    pool_device *device;
    struct driver *driver;
    CUcontext context;
};

/*
 * Checks the device (NULL, fork, poison, unusable), makes a lazy context, pushes it. On failure
 * nothing is pushed. Costs no push when the context is already current on this thread.
 */
pool_status device_enter(pool_device *device, struct device_scope *scope);

/*
 * Pops what enter pushed, also when `status` is a failure, and returns `status`, or the pop's own
 * failure when `status` is POOL_OK. The thread's error detail keeps the first failure.
 */
pool_status device_leave(struct device_scope *scope, pool_status status);

/* The device to run on: `wanted`, or when that is NULL the device this thread bound last. */
pool_status device_or_bound(pool_device *wanted, pool_device **device);

struct driver *device_driver(const pool_device *device);

/* What keeps a pool from being destroyed while it exists. */
enum device_child {
    DEVICE_CHILD_BUFFER,
    DEVICE_CHILD_STREAM,
    DEVICE_CHILD_MODULE,
    DEVICE_CHILD_KINDS
};
void device_child_added(pool_device *device, enum device_child kind);
void device_child_removed(pool_device *device, enum device_child kind);

/* The device's facts as read once when the pool was made. */
const pool_device_info *device_facts(const pool_device *device);

#endif
