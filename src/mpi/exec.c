/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a rank's part of an operation runs.
 */
#include "mpi/group.h"

static const struct base_struct pool_exec_type = BASE_STRUCT(pool_exec);

pool_status group_exec_read(
    const pool_mpi *mpi, const char *call, const pool_exec *exec, pool_exec *known)
{
    pool_status status = POOL_OK;

    *known = (pool_exec){.struct_size = sizeof(*known)};
    if (exec)
        status = base_struct_read(&pool_exec_type, call, "exec", exec, known);
    if (status)
        return status;
    if (known->is_async)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: exec->is_async must be 0: the call returns when all ranks have the results", call);
    if (known->timeout_ns)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: exec->timeout_ns must be 0: the parts of all ranks depend on each other", call);
    if (!known->device && !known->lease && !known->device_count && !known->on_host)
        known->device = mpi->device;
    return POOL_OK;
}
