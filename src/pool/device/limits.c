/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of a device's context that programs change: limits, and the profiler's collection.
 */
#include <devicepool/device.h>

#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/driver.h"
#include "pool/device/device.h"

static const pool_cu_enum limits[] = {
    [POOL_LIMIT_STACK] = DRIVER_LIMIT_STACK_SIZE,
    [POOL_LIMIT_PRINTF] = DRIVER_LIMIT_PRINTF_FIFO_SIZE,
    [POOL_LIMIT_HEAP] = DRIVER_LIMIT_MALLOC_HEAP_SIZE,
};

static pool_status check_limit(const char *call, pool_limit limit)
{
    return base_check_ranges(call, {"limit", limit, POOL_LIMIT_STACK, POOL_LIMIT_HEAP});
}

pool_status pool_device_get_limit(pool_device *device, pool_limit limit, uint64_t *bytes)
{
    struct device_scope scope;
    size_t value = 0;
    pool_status status =
        base_check_pointers("pool_device_get_limit", {"device", device}, {"bytes", bytes});

    if (!status)
        status = check_limit("pool_device_get_limit", limit);
    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, DRIVER_CALL(scope.driver, CtxGetLimit(&value, limits[limit])));
    if (!status)
        *bytes = value;
    return status;
}

pool_status pool_device_set_limit(pool_device *device, pool_limit limit, uint64_t bytes)
{
    struct device_scope scope;
    pool_status status = base_check_pointers("pool_device_set_limit", {"device", device});

    if (!status)
        status = check_limit("pool_device_set_limit", limit);
    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    return device_leave(
        &scope, DRIVER_CALL_FOR(scope.driver, CtxSetLimit(limits[limit], (size_t)bytes),
                    "limit %d, %llu bytes", (int)limit, (unsigned long long)bytes));
}

static pool_status fail_without_profiler(const char *call)
{
    return base_fail(POOL_ERR_UNSUPPORTED, "%s: the driver has no cuProfilerStart", call);
}

pool_status pool_profiler_start(pool_device *device)
{
    struct device_scope scope;
    pool_status status = base_check_pointers("pool_profiler_start", {"device", device});

    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    return device_leave(&scope, scope.driver->api.ProfilerStart
                                    ? DRIVER_CALL(scope.driver, ProfilerStart())
                                    : fail_without_profiler("pool_profiler_start"));
}

pool_status pool_profiler_stop(pool_device *device)
{
    struct device_scope scope;
    pool_status status = base_check_pointers("pool_profiler_stop", {"device", device});

    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    return device_leave(&scope, scope.driver->api.ProfilerStop
                                    ? DRIVER_CALL(scope.driver, ProfilerStop())
                                    : fail_without_profiler("pool_profiler_stop"));
}
