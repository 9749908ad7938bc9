/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for all work of a device.
 */
#include <stdio.h>

#include "driver/work.h"
#include "pool/device/release.h"
#include "pool/stream/capture.h"

pool_status pool_device_synchronize(pool_device *device)
{
    struct device_scope scope;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    status = stream_check_no_captures(device);
    if (!status)
        status = driver_work_synchronize(device_work(device));
    return device_leave(&scope, status);
}

static pool_status query_streams(struct driver *driver, const void *object)
{
    (void)driver;
    return driver_work_poll((struct driver_work *)(uintptr_t)object, 1);
}

pool_status pool_device_wait(pool_device *device, uint64_t timeout_ns)
{
    struct device_scope scope;
    pool_status status = device_enter(device, &scope);
    char what[48];

    if (status)
        return status;
    snprintf(what, sizeof(what), "the work of device %d", pool_device_ordinal(device));
    return device_leave(
        &scope, stream_poll(device, query_streams, device_work(device), what, timeout_ns));
}
