/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priorities of streams. A driver has a few, fixed when a stream is created; leases have classes.
 * Levels are between the two: 0 is the middle one of the driver's priorities, of class 0 and of
 * calls without a lease.
 */
#include "base/status.h"
#include "pool/device/pool.h"

/* Classes that the recommended ones, 10 and 100 apart, fall between. */
static const int32_t urgent_classes[DEVICE_MAX_LEVEL] = {1, 10, 100};
static const int32_t background_classes[-DEVICE_MIN_LEVEL] = {-1, -100};

static bool is_empty(const int32_t *classes, int count)
{
    int32_t any = 0;

    for (int i = 0; i < count; i++)
        any |= classes[i];
    return !any;
}

/* Each at least as far from 0 as the one before; `sign` is that of all. */
static pool_status check_classes(const char *name, const int32_t *classes, int count, int sign)
{
    int64_t before = 1;

    for (int i = 0; i < count; i++) {
        const int64_t distance = (int64_t)classes[i] * sign;

        if (distance < before)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_create: `%s[%d]` is %d; the classes must be %s 0 and not closer to it than "
                "the one before",
                name, i, classes[i], sign > 0 ? "above" : "below");
        before = distance;
    }
    return POOL_OK;
}

pool_status device_levels_read(const pool_params *params, struct device_levels *levels)
{
    pool_status status = POOL_OK;

    for (int i = 0; i < DEVICE_MAX_LEVEL; i++)
        levels->urgent[i] = is_empty(params->urgent_classes, DEVICE_MAX_LEVEL)
                                ? urgent_classes[i]
                                : params->urgent_classes[i];
    for (int i = 0; i < -DEVICE_MIN_LEVEL; i++)
        levels->background[i] = is_empty(params->background_classes, -DEVICE_MIN_LEVEL)
                                    ? background_classes[i]
                                    : params->background_classes[i];
    status = check_classes("urgent_classes", levels->urgent, DEVICE_MAX_LEVEL, 1);
    return status ? status
                  : check_classes("background_classes", levels->background, -DEVICE_MIN_LEVEL, -1);
}

int device_level_of_class(const device_pool *pool, int32_t class)
{
    int level = 0;

    for (int i = 0; i < DEVICE_MAX_LEVEL; i++)
        level += class >= pool->levels.urgent[i];
    for (int i = 0; i < -DEVICE_MIN_LEVEL; i++)
        level -= class <= pool->levels.background[i];
    return level;
}

/* The driver's number of priorities: they are 0, the least urgent, to 1 - count. */
static pool_status read_count(pool_device *device, int *count)
{
    struct driver *driver = device->driver;
    int least = 0, most = 0;
    pool_status status;

    *count = atomic_load_explicit(&device->priority_count, memory_order_relaxed);
    if (*count)
        return POOL_OK;
    status = DRIVER_CALL(driver, CtxGetStreamPriorityRange(&least, &most));
    if (status)
        return status;
    *count = most < 0 ? 1 - most : 1;
    atomic_store_explicit(&device->priority_count, *count, memory_order_relaxed);
    return POOL_OK;
}

static int clamp(int priority, int count)
{
    return priority > 0 ? 0 : priority < 1 - count ? 1 - count : priority;
}

pool_status device_clamp_priority(pool_device *device, int *priority)
{
    int count;
    pool_status status = read_count(device, &count);

    if (!status)
        *priority = clamp(*priority, count);
    return status;
}

pool_status device_priority_of_level(pool_device *device, int level, int *priority)
{
    int count;
    pool_status status = read_count(device, &count);

    if (!status)
        *priority = clamp(-(count - 1) / 2 - level, count);
    return status;
}
