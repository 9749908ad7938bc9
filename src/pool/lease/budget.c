/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets: device memory of one lease on one device. One atomic word has the bytes in use and
 * whether the lease was released, so that each block counts either as the lease's or as memory
 * outside of leases, whichever thread frees it at which moment.
 *
 * A lease's reservation is constant from grant to release (device_reserved_changed); charges do not
 * change it, and what is charged does not count as used outside of leases (pool/account.h).
 */
#include "base/text.h"
#include "pool/lease/admission.h"

static void raise_peak(struct lease_budget *budget, uint64_t used)
{
    uint64_t peak = atomic_load_explicit(&budget->peak, memory_order_relaxed);

    while (peak < used && !atomic_compare_exchange_weak_explicit(&budget->peak, &peak, used,
                              memory_order_relaxed, memory_order_relaxed))
        ;
}

static pool_status refuse_charge(const struct lease_budget *budget, uint64_t used, uint64_t bytes)
{
    if (used & BUDGET_CLOSED)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the lease has been released: no memory can be allocated under it");
    return base_fail(POOL_ERR_OUT_OF_DEVICE_MEMORY,
        "the lease \"%s\" may use %s on device %d: %s are in use, %s were requested",
        budget->lease->label, base_size_text(budget->limit).text,
        pool_device_ordinal(budget->device), base_size_text(used).text, base_size_text(bytes).text);
}

pool_status lease_budget_charge(struct lease_budget *budget, uint64_t bytes)
{
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);

    do {
        if (used & BUDGET_CLOSED || bytes > budget->limit || used > budget->limit - bytes)
            return refuse_charge(budget, used, bytes);
    } while (!atomic_compare_exchange_weak_explicit(
        &budget->used, &used, used + bytes, memory_order_relaxed, memory_order_relaxed));
    raise_peak(budget, used + bytes);
    return POOL_OK;
}

bool lease_budget_uncharge(struct lease_budget *budget, uint64_t bytes)
{
    uint64_t before = atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);

    return !(before & BUDGET_CLOSED);
}

void lease_budget_retain(struct lease_budget *budget)
{
    atomic_fetch_add_explicit(&budget->references, 1, memory_order_relaxed);
}

void lease_budget_release(struct lease_budget *budget)
{
    atomic_fetch_sub_explicit(&budget->references, 1, memory_order_release);
}

uint64_t lease_budget_left(const struct lease_budget *budget)
{
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);

    return used & BUDGET_CLOSED || used > budget->limit ? 0 : budget->limit - used;
}
