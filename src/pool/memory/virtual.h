/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory: physical memory (physical.c) and ranges of addresses with their mappings
 * (range.h). A mapping has a reference to its physical memory; a buffer in a range is listed there,
 * so that its addresses stay mapped.
 */
#ifndef MEMORY_VIRTUAL_H
#define MEMORY_VIRTUAL_H

#include "pool/memory/memory.h"

#define MEMORY_PHYSICAL_MAGIC 0x70687973U
#define MEMORY_RANGE_MAGIC 0x72616e67U

struct pool_physical {
    atomic_uint magic;
    atomic_uint references; /* the caller's handle and the mappings */
    struct device_memory *memory;
    CUmemGenericAllocationHandle allocation;
    uint64_t bytes;
    uint32_t flags;    /* POOL_PHYSICAL_… */
    unsigned renewals; /* of the device when it was created or imported */
    bool is_imported;  /* not in the account of the device */
    struct memory_charged charged;
};

pool_status memory_check_physical(const char *call, const pool_physical *physical);
/* DEVICE_LOST if the memory has ended with an earlier process of its device. Inside device_enter.
 */
pool_status memory_check_physical_renewals(const pool_physical *physical);
/* When the process of the device has ended: physical memory counts no longer. */
void memory_lose_physical(struct device_memory *memory);
/* Drops a reference; the last one releases the memory. The object remains, and *stays is set, only
 * if the context of its device cannot be entered. */
pool_status memory_physical_drop(pool_physical *physical, bool *stays);
/* The same for a reference that has no owner from now on. */
void memory_physical_abandon(pool_physical *physical);

/* For the allocator: cuMemCreate and cuMemRelease. */
pool_cu_result memory_physical_allocate(struct device_memory *memory, pool_physical *physical);
pool_status memory_physical_release(struct device_memory *memory, const pool_physical *physical);

/* Whether the driver has all functions of virtual memory. */
bool memory_has_virtual(const struct driver *driver);
/* Properties of an allocation on the device. */
pool_cu_mem_allocation_prop memory_physical_prop(
    const struct device_memory *memory, bool is_exportable);
/* UNSUPPORTED where the driver has no virtual memory. Inside device_enter. */
pool_status memory_granularity(struct device_memory *memory, uint64_t *bytes);
/* `bytes`, which must not be 0, rounded up to the granularity. Inside device_enter. */
pool_status memory_round_to_granularity(
    const char *call, struct device_memory *memory, uint64_t *bytes);

/* When the last buffer of a block in the range is destroyed. */
void memory_range_forget(pool_range *range, struct memory_block *block);
/* Destroys ranges that no caller has. */
void memory_ranges_free(struct device_memory *memory, int driver_alive);

#endif
