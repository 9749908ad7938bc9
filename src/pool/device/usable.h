/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a device or a pool may be used, and how a refusal is worded: the only place that decides
 * it. device_usability is the decision, a pure function; the others apply it to a device or a pool
 * as it is now.
 */
#ifndef POOL_DEVICE_USABLE_H
#define POOL_DEVICE_USABLE_H

#include <stdbool.h>

#include <devicepool/device.h>
#include <devicepool/pool.h>

/* What it is to be used for. */
enum device_use {
    DEVICE_USE_HOST, /* its locks and its host memory, which a forked child must not touch: threads
                        that the child does not have may hold a lock or wait on a condition */
    DEVICE_USE_DRIVER,  /* calls of the driver that no device has to execute */
    DEVICE_USE_RELEASE, /* calls that release what it has, also after it has become unusable */
    DEVICE_USE_CALLS    /* all other calls, also while it is being drained or is quarantined */
};

struct device_condition {
    pool_device_state state; /* never POISONED, which is of the process */
    bool has_context;
    bool is_lost;     /* its worker process or its context has ended */
    bool is_forked;   /* this process is a child of the one that created the pool */
    bool is_poisoned; /* a sticky fault has ended this process's use of every device */
};

/* POOL_OK, or the status with which the use is refused. */
static inline pool_status device_usability(enum device_use use, struct device_condition at)
{
    const unsigned accepting =
        1u << POOL_DEVICE_READY | 1u << POOL_DEVICE_DRAINING | 1u << POOL_DEVICE_QUARANTINED;

    if (at.is_forked)
        return POOL_ERR_FORKED;
    if (use == DEVICE_USE_HOST)
        return POOL_OK;
    if (at.is_poisoned)
        return POOL_ERR_PROCESS_POISONED;
    if (use == DEVICE_USE_DRIVER || (use == DEVICE_USE_CALLS && accepting >> at.state & 1))
        return POOL_OK;
    if (at.state == POOL_DEVICE_ABANDONED)
        return POOL_ERR_DEVICE_UNUSABLE;
    if (at.is_lost)
        return POOL_ERR_DEVICE_LOST;
    return use == DEVICE_USE_RELEASE && at.has_context ? POOL_OK : POOL_ERR_DEVICE_UNUSABLE;
}

/* POOL_OK, or the status of the refusal, which sets no error. */
pool_status device_refusal(const pool_device *device, enum device_use use);
static inline bool device_usable(const pool_device *device, enum device_use use)
{
    return !device_refusal(device, use);
}
bool device_pool_usable(const device_pool *pool, enum device_use use); /* HOST, DRIVER */

/* The same with its cause as the thread's last error. */
pool_status device_check(const pool_device *device, enum device_use use);
pool_status device_pool_check(const device_pool *pool, enum device_use use);
/* POOL_ERR_DEVICE_LOST if an object has ended that was created after `renewals` renewals of the
 * device, see device_renewals; `what` is "the stream". */
pool_status device_check_object(const pool_device *device, unsigned renewals, const char *what);

/* The cause of a refusal. A device that has returned meanwhile was lost. */
pool_status device_refuse(const pool_device *device, enum device_use use);

#endif
