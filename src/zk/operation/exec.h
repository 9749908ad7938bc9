/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation of the caller's pool_exec for all operations.
 */
#ifndef EXEC_H
#define EXEC_H

#include <stdbool.h>

#include <devicepool/exec.h>

#include "base/cancel.h"
#include "base/log.h"
#include "pool/device/device.h"

enum { EXEC_MAX_DEVICES = 64 };

/* The members that an operation supports; others must have their default. Device, stream, cancel
 * and progress are supported by every operation. */
struct exec_rules {
    uint32_t checks; /* flags */
    bool has_async;
    bool has_host;
    bool has_workspace;
    bool has_memory_limit;
    bool has_devices;
    bool has_async_devices; /* over several devices, too, `is_async` and `stream` */
    bool is_warm_up;        /* device, lease and cancel only; the device is set */
};

/*
 * From this declaration to the end of its block an operation is in progress on the devices of a
 * caller's pool_exec, which is not validated yet, and the thread has the label of its lease. A lost
 * device does not come back meanwhile. One per function. Bound devices and those of leases need no
 * more than that.
 */
#define EXEC_SCOPE(given)                                                                          \
    struct exec_scope exec_scope __attribute__((unused, cleanup(exec_end))) = exec_begin(given)
struct exec_scope {
    const char *outer_label;
    pool_error_slot *error; /* of the caller; NULL: none */
    uint32_t count;
    pool_device *devices[EXEC_MAX_DEVICES]; /* those that can be lost */
};
struct exec_scope exec_begin(const pool_exec *given);
void exec_end(struct exec_scope *scope);

/* A validated copy with the current struct_size; `given` NULL stands for all defaults. */
pool_status exec_read(
    const char *call, const pool_exec *given, const struct exec_rules *rules, pool_exec *exec);

/* The same for a warm-up, with the device that it is for; POOL_ERR_CANCELLED if that is requested.
 */
pool_status exec_read_warm_up(const char *call, const pool_exec *given, pool_exec *exec);

/* POOL_ERR_CANCELLED once that was requested. */
pool_status exec_check_cancelled(const char *call, const pool_exec *exec);

/* `memory_limit`, or no limit. */
static inline uint64_t exec_limit(const pool_exec *exec)
{
    return exec->memory_limit ? exec->memory_limit : UINT64_MAX;
}

/* What a call leaves to others on its device. */
struct exec_share {
    /* The longest time that a launch should take that fills the device, and one that leaves
     * multiprocessors free; UINT64_MAX: any. */
    uint64_t slice_ns, partial_slice_ns;
    uint32_t multiprocessors; /* that kernels of one block per multiprocessor may fill */
};
/* Of a validated pool_exec, at this moment. */
struct exec_share exec_share_of(const pool_exec *exec, const pool_device *device);

/* The progress of a call in items of the operation, with the pool_exec that requests it. */
struct progress {
    const char *call; /* the public function */
    const pool_exec *exec;
    uint64_t done;
    uint64_t reported; /* `done` at the last callback */
    uint64_t total;
};

/* Adds to `done` and reports it from time to time; POOL_ERR_CANCELLED once that was requested,
 * unless all work is done. With `amount` 0 it only examines the cancellation. */
pool_status progress_add(struct progress *progress, uint64_t amount);

/* Whether work must be completed, and not only enqueued, before it is added. */
static inline bool progress_waits(const struct progress *progress)
{
    return !progress->exec->is_async &&
           (progress->exec->progress || base_cancel_is_callers(progress->exec->cancel));
}

/* The failure of a call whose smallest chunk needs more than `memory_limit`. */
pool_status exec_fail_limit(const char *call, uint64_t limit, uint64_t bytes);

#endif
