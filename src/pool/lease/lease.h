/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases for the layers above: the budget that allocations under a lease are charged to, and the
 * lease's device and stream for an operation.
 */
#ifndef LEASE_LEASE_H
#define LEASE_LEASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <devicepool/lease.h>

#include "base/status.h"
#include "pool/device/device.h"

/*
 * Device memory of one lease on one device. It is part of the lease and is reused with it, but not
 * before `references` is 0: each block that is charged to the budget holds a reference, so the
 * budget of a released lease stays valid until its last block has been freed.
 */
struct lease_budget {
    /*
     * Bytes of living blocks; BUDGET_CLOSED is added to them when the lease is released. From then
     * on they count as memory used outside of leases and nothing more can be charged.
     */
    atomic_uint_fast64_t used;
    atomic_uint_fast64_t peak;
    atomic_uint references;
    uint64_t limit;      /* the lease's bytes; constant from grant to release */
    bool is_secret;      /* POOL_LEASE_SECRET: blocks are overwritten when they are freed */
    pool_device *device; /* constant */
    pool_lease *lease;   /* constant */
};

/*
 * Which devices of a pool have a copy of an object, so that requests can prefer them: the first
 * member of pool_resident, which a layer above defines.
 */
struct lease_locality {
    device_pool *pool;
    atomic_bool *has_copy; /* of each device, by its index */
};

/* The label of a lease that is held, valid until its release; NULL for others and for NULL. */
const char *lease_label(const pool_lease *lease);

/*
 * Charges a block of `bytes` before it is allocated. POOL_ERR_OUT_OF_DEVICE_MEMORY when that
 * exceeds the limit (the message has the lease's label, its limit, the bytes used and asked), and
 * POOL_ERR_INVALID_ARGUMENT when the lease has been released. A charge holds no reference.
 */
pool_status lease_budget_charge(struct lease_budget *budget, uint64_t bytes);

/*
 * Takes a charge back when the block has been freed, or could not be allocated; false: the lease
 * was released meanwhile, so that the block counted as used outside of leases.
 */
bool lease_budget_uncharge(struct lease_budget *budget, uint64_t bytes);

/* For each block that remembers its budget; the release may free the budget for another lease, so
 * it comes after the last uncharge. */
void lease_budget_retain(struct lease_budget *budget);
void lease_budget_release(struct lease_budget *budget);

/* Bytes that can still be charged; 0 once the lease has been released. */
uint64_t lease_budget_left(const struct lease_budget *budget);

/*
 * The budget of a lease on `device`; NULL stands for the lease's first device. Fails for a released
 * lease (INVALID_ARGUMENT) and for a device that the lease does not have (WRONG_DEVICE). `call` is
 * the public function.
 */
pool_status lease_budget_of(
    const char *call, pool_lease *lease, pool_device *device, struct lease_budget **budget);

/* Whether leases other than `lease`, which may be NULL, are held on the device, or a lease was
 * granted there beside others in the last second. Not for a lease of all slots. */
bool lease_is_shared(const pool_lease *lease, const pool_device *device);

/* The lease's stream of the budget's device, created at the first call. */
pool_status lease_stream_of(struct lease_budget *budget, pool_stream **stream);

#endif
