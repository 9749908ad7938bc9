/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this layer share: the leases of a pool and the lock around its scheduler.
 */
#ifndef LEASE_ADMISSION_H
#define LEASE_ADMISSION_H

#include "lease/lease.h"
#include "lease/scheduler.h"

/* Added to lease_budget.used when the lease is released. */
#define BUDGET_CLOSED (UINT64_C(1) << 63)

/* One device of a lease. */
struct lease_part {
    struct lease_budget budget;
    _Atomic(pool_stream *) stream; /* NULL until its first use */
};

struct pool_lease {
    char label[POOL_LEASE_LABEL_BYTES];
};

#endif
