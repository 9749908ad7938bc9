/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that must not go back to the driver: a secret could not be overwritten, or a mapping not
 * be ended. It is listed and counted; trim and destruction release it again.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"
#include "pool/memory/allocator.h"
#include "pool/memory/durable.h"
#include "pool/memory/virtual.h"

void memory_quarantine_request(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    bool is_durable = memory_durable_is(request->durable),
         has_contents = !request->physical && !request->is_opened;
    struct memory_quarantined *entry = is_durable ? NULL : base_calloc(1, sizeof(*entry));

    if (!memory_is_foreign(request)) {
        memory_gauge_add(&memory->quarantined, request->bytes);
        device_account_quarantined(memory->device, request->bytes);
    }
    base_log(POOL_LOG_WARN, "device %d: a block of %s could not be %s and is quarantined",
        pool_device_ordinal(memory->device), base_size_text(request->bytes).text,
        is_durable     ? "unmapped"
        : has_contents ? "overwritten"
                       : "released");
    memory_durable_abandon(memory, request->durable);
    if (!entry) { /* leaked until the process ends */
        pthread_mutex_lock(&memory->quarantined_lock);
        memory->leaked_bytes += memory_is_foreign(request) ? 0 : request->bytes;
        pthread_mutex_unlock(&memory->quarantined_lock);
        return;
    }
    entry->address = address;
    entry->request = *request;
    entry->request.ordered = 0;
    entry->request.budget = NULL; /* it is outside of leases now */
    entry->request.durable = NULL;
    pthread_mutex_lock(&memory->quarantined_lock);
    entry->next = memory->quarantined_list;
    memory->quarantined_list = entry;
    pthread_mutex_unlock(&memory->quarantined_lock);
}

void memory_quarantine(struct memory_block *block)
{
    struct memory_request request = {.bytes = block->bytes,
        .secret = (block->flags & POOL_BUFFER_SECRET) != 0,
        .budget = block->budget,
        .durable = block->durable,
        .is_shareable = (block->flags & POOL_BUFFER_SHAREABLE) != 0,
        .is_opened = block->is_opened};

    memory_quarantine_request(
        block->memory, &request, block->is_opened ? block->opened : block->address);
    memory_release_none(block->memory, &request);
}

void memory_quarantine_physical(struct device_memory *memory, const struct memory_request *request)
{
    memory_quarantine_request(memory, request, 0);
    if (memory_is_foreign(request))
        return;
    memory_end_use(memory, request);
    memory_uncharge(memory, request);
}

void memory_release_quarantined(struct device_memory *memory)
{
    struct memory_quarantined *entry;

    pthread_mutex_lock(&memory->quarantined_lock);
    entry = memory->quarantined_list;
    memory->quarantined_list = NULL;
    pthread_mutex_unlock(&memory->quarantined_lock);
    while (entry) {
        struct memory_quarantined *next = entry->next;

        if (!memory_is_foreign(&entry->request)) {
            memory_gauge_sub(&memory->quarantined, entry->request.bytes);
            memory_begin_use(memory, &entry->request);
        }
        (void)memory_release(memory, &entry->request, entry->address);
        base_free(entry->request.physical);
        base_free(entry);
        entry = next;
    }
}

void memory_free_quarantined(struct device_memory *memory)
{
    while (memory->quarantined_list) {
        struct memory_quarantined *entry = memory->quarantined_list;

        memory->quarantined_list = entry->next;
        base_free(entry->request.physical);
        base_free(entry);
    }
}

void memory_forget_quarantined(struct device_memory *memory)
{
    pthread_mutex_lock(&memory->quarantined_lock);
    for (const struct memory_quarantined *at = memory->quarantined_list; at; at = at->next) {
        if (memory_is_foreign(&at->request))
            continue;
        memory_gauge_sub(&memory->quarantined, at->request.bytes);
        device_account_subtract(memory->device, at->request.bytes, false);
    }
    memory_free_quarantined(memory);
    memory_gauge_sub(&memory->quarantined, memory->leaked_bytes);
    device_account_subtract(memory->device, memory->leaked_bytes, false);
    memory->leaked_bytes = 0;
    pthread_mutex_unlock(&memory->quarantined_lock);
}
