/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an allocation counts for: the budget of its lease, the account of its device, and the gauges
 * of the memory in use.
 */
#include "pool/memory/allocator.h"
#include "pool/memory/virtual.h"

void memory_gauge_add(struct memory_gauge *gauge, uint64_t bytes)
{
    uint64_t now = atomic_fetch_add_explicit(&gauge->now, bytes, memory_order_relaxed) + bytes;
    uint64_t high = atomic_load_explicit(&gauge->high, memory_order_relaxed);

    while (high < now && !atomic_compare_exchange_weak(&gauge->high, &high, now))
        ;
}

void memory_gauge_sub(struct memory_gauge *gauge, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&gauge->now, bytes, memory_order_relaxed);
}

pool_status memory_charge(struct device_memory *memory, const struct memory_request *request)
{
    if (request->budget) {
        pool_status status = lease_budget_charge(request->budget, request->bytes);

        if (status)
            return status;
        lease_budget_retain(request->budget);
    }
    if (!device_account_add(memory->device, request->bytes, request->budget != NULL))
        return memory_limit_fail(memory, request->bytes);
    return POOL_OK;
}

void memory_uncharge(struct device_memory *memory, const struct memory_request *request)
{
    bool is_charged = request->budget && lease_budget_uncharge(request->budget, request->bytes);

    device_account_subtract(memory->device, request->bytes, is_charged);
    if (request->budget)
        lease_budget_release(request->budget);
}

void memory_begin_use(struct device_memory *memory, const struct memory_request *request)
{
    memory_gauge_add(&memory->used, request->bytes);
    if (request->physical)
        memory_gauge_add(&memory->physical, request->bytes);
    if (request->is_shareable)
        memory_gauge_add(&memory->shareable, request->bytes);
}

void memory_end_use(struct device_memory *memory, const struct memory_request *request)
{
    memory_gauge_sub(&memory->used, request->bytes);
    if (request->physical)
        memory_gauge_sub(&memory->physical, request->bytes);
    if (request->is_shareable)
        memory_gauge_sub(&memory->shareable, request->bytes);
}

bool memory_is_foreign(const struct memory_request *request)
{
    return request->is_opened || (request->physical && request->physical->is_imported);
}

/* ---- what counts on devices that can be lost --------------------------------------------------
 */

void memory_list_charged(
    struct device_memory *memory, struct memory_charged **list, struct memory_charged *item)
{
    if (!device_can_return(memory->device))
        return;
    pthread_mutex_lock(&memory->charged_lock);
    *item = (struct memory_charged){.next = *list, .link = list, .is_listed = true};
    if (item->next)
        item->next->link = &item->next;
    *list = item;
    pthread_mutex_unlock(&memory->charged_lock);
}

void memory_unlink_charged(struct memory_charged *item)
{
    *item->link = item->next;
    if (item->next)
        item->next->link = item->link;
    item->is_listed = false;
}

bool memory_unlist_charged(struct device_memory *memory, struct memory_charged *item)
{
    bool was_listed;

    if (!device_can_return(memory->device) || !device_usable(memory->device, DEVICE_USE_HOST))
        return true;
    pthread_mutex_lock(&memory->charged_lock);
    was_listed = item->is_listed;
    if (was_listed)
        memory_unlink_charged(item);
    pthread_mutex_unlock(&memory->charged_lock);
    return was_listed;
}
