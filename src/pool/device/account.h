/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of a device's memory: what the library has allocated there, what it may allocate, and
 * what leases have reserved. All in bytes, all without locks.
 *
 *   used          every allocation that is alive, quarantined memory included
 *   used_outside  the part of `used` that is not charged to a living lease
 *   held          what the library holds of the device: `used` and what its memory pool keeps
 *                 unused; measured with every sample of the free memory
 *   reserved      the sum of the living leases' reservations, used or not
 *   base          free + held when the free memory was last sampled: what the library could have
 *                 in all. Its own allocations move bytes between the two terms and leave it as it
 *                 is, so that it is right between samples, too; use by others shows in the next.
 *
 * Hence a lease may reserve min(base - headroom, limit) - used_outside - reserved. The parts of a
 * GPU have one account, that of its first device in the pool. Integrated
 * devices share theirs: base counts what is held on all of them, and what is used outside of
 * leases and reserved is that of all.
 *
 * Allocations outside of leases are added to used_outside by compare-and-swap, so that no number of
 * threads passes the limit with them. An allocation and a grant at the same moment can pass it
 * together, by at most the smaller of the two and until one of them ends: each reads the other's
 * number before that is stored. One compare-and-swap over both numbers would close this, but a
 * grant, which the scheduler has decided by then, would have to be retractable.
 */
#ifndef POOL_ACCOUNT_H
#define POOL_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <devicepool/pool.h>

struct device_account {
    uint64_t limit;    /* UINT64_MAX: none; constant after creation */
    uint64_t headroom; /* constant after creation */
    atomic_uint_least64_t base;
    atomic_uint_least64_t used;
    atomic_uint_least64_t used_outside;
    atomic_uint_least64_t held;
    atomic_int_least64_t reserved;
};

/* Where memory is limited by pool_params or the environment. */
struct device_account_rules {
    uint64_t bytes;    /* 0: none */
    uint32_t percent;  /* of the device's memory; 0: none */
    uint64_t headroom; /* 0: the default */
};

/* From pool_params, else from the environment variable DEVICEPOOL_MEMORY_LIMIT. */
pool_status device_account_rules_read(
    const pool_params *params, struct device_account_rules *rules);
void device_account_init(
    struct device_account *account, const struct device_account_rules *rules, uint64_t total_bytes);

/* Free bytes by the driver as last sampled; the total memory before the first sample. */
uint64_t device_account_free(const struct device_account *account);

/* Stores a sample: `free_bytes` by the driver, and what the library held at that moment. */
void device_account_sample(struct device_account *account, uint64_t free_bytes, uint64_t held);

#endif
