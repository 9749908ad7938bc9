/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled only as long as src/lease has no lease.c: nobody can have a lease.
 */
#include "lease/lease.h"

pool_status lease_budget_of(
    const char *call, pool_lease *lease, pool_device *device, struct lease_budget **budget)
{
    (void)lease;
    (void)device;
    (void)budget;
    return base_fail(POOL_ERR_UNSUPPORTED, "%s: leases are not part of this build", call);
}

pool_status lease_stream_of(struct lease_budget *budget, pool_stream **stream)
{
    (void)budget;
    (void)stream;
    return base_fail(POOL_ERR_UNSUPPORTED, "leases are not part of this build");
}
