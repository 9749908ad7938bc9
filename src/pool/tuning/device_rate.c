/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relative speeds of devices, by which jobs over several of them are divided.
 */
#include "base/params.h"
#include "base/status.h"
#include "pool/device/device.h"
#include "pool/device/pool.h"

uint64_t device_model_rate(const pool_device *device)
{
    const pool_device_info *info = device_properties(device);
    const uint64_t multiprocessors =
        info->multiprocessors > 0 ? (uint64_t)info->multiprocessors : 1;

    return multiprocessors * (info->clock_khz > 0 ? (uint64_t)info->clock_khz : 1);
}

uint64_t device_rate(const pool_device *device)
{
    const uint64_t rate = atomic_load_explicit(&device->rate, memory_order_relaxed);

    return rate ? rate : device_model_rate(device);
}

pool_status pool_device_get_rate(pool_device *device, uint64_t *rate)
{
    pool_status status = base_check_pointers(__func__, {"device", device}, {"rate", rate});

    if (!status)
        status = device_check(device, DEVICE_USE_HOST);
    if (!status)
        *rate = device_rate(device);
    return status;
}

pool_status pool_device_set_rate(pool_device *device, uint64_t rate)
{
    pool_status status = base_check_pointers(__func__, {"device", device});

    if (!status && rate > POOL_MAX_RATE)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %llu for `rate`; it must be at most 2^36", __func__,
            (unsigned long long)rate);
    if (!status)
        status = device_check(device, DEVICE_USE_HOST);
    if (!status)
        atomic_store_explicit(&device->rate, rate, memory_order_relaxed);
    return status;
}
