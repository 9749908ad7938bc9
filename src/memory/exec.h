/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's pool_exec, read and validated in one place for all operations.
 */
#ifndef MEMORY_EXEC_H
#define MEMORY_EXEC_H

#include <stdbool.h>

#include <devicepool/exec.h>

/* What an operation has a use for; everything else is refused. Device, stream, cancel and progress
 * are for every operation. */
struct memory_exec_rules {
    uint32_t checks; /* flags */
    bool has_async;
    bool has_host;
    bool has_workspace;
    bool has_memory_limit;
};

/* A validated copy with the current struct_size; `given` NULL stands for all defaults. */
pool_status memory_exec_read(const char *call, const pool_exec *given,
    const struct memory_exec_rules *rules, pool_exec *exec);

/* POOL_ERR_CANCELLED once it has been requested. */
pool_status memory_exec_cancelled(const char *call, const pool_exec *exec);

static inline void memory_exec_report(const pool_exec *exec, uint64_t done, uint64_t total)
{
    if (exec->progress)
        exec->progress(exec->user, done, total);
}

/* The failure of a call whose smallest chunk needs more than `memory_limit`. */
pool_status memory_exec_fail_limit(const char *call, const pool_exec *exec, uint64_t bytes);

#endif
