/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers in the mapped parts of a range, which keep these mapped.
 */
#include "base/params.h"
#include "base/status.h"
#include "pool/memory/range.h"

static pool_status check_mapped(const pool_range *range, uint64_t offset, uint64_t bytes)
{
    uint64_t end = offset; /* everything before it is mapped */

    for (const struct range_mapping *at = range->mappings; at; at = at->next)
        if (at->offset <= end && end < at->offset + at->physical->bytes)
            end = at->offset + at->physical->bytes;
    if (end < offset + bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_range_buffer: no memory is mapped at offset %llu of the range",
            (unsigned long long)end);
    return POOL_OK;
}

pool_status pool_range_buffer(
    pool_range *range, uint64_t offset, uint64_t bytes, pool_buffer **buffer)
{
    pool_buffer *created = NULL;
    pool_status status = memory_range_check(__func__, range);

    if (!status && !buffer)
        status = base_fail_null(__func__, "buffer");
    if (!status)
        status = memory_range_check_inside(__func__, range, offset, bytes);
    if (!status)
        status = device_check(range->device, DEVICE_USE_HOST);
    if (!status)
        status = device_check(range->device, DEVICE_USE_CALLS);
    if (!status)
        status = memory_range_check_renewals(range);
    if (status)
        return status;
    pthread_mutex_lock(&range->lock);
    status = check_mapped(range, offset, bytes);
    if (!status)
        status = memory_buffer_in_range(range->device, range->memory, range,
            bytes ? range->address + offset : 0, bytes, &created);
    if (!status) {
        atomic_store(&created->block->renewals, range->renewals);
        created->block->next_of_range = range->blocks;
        range->blocks = created->block;
        atomic_fetch_add(&range->buffers, 1);
    }
    pthread_mutex_unlock(&range->lock);
    if (!status)
        *buffer = created;
    return status;
}

void memory_range_forget(pool_range *range, struct memory_block *block)
{
    struct memory_block **link = &range->blocks;

    if (device_usable(range->device, DEVICE_USE_HOST)) { /* else nobody reads the list any more */
        pthread_mutex_lock(&range->lock);
        while (*link != block)
            link = &(*link)->next_of_range;
        *link = block->next_of_range;
        pthread_mutex_unlock(&range->lock);
    }
    atomic_fetch_sub(&range->buffers, 1);
}
