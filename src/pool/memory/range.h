/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A range of addresses, for the files that implement it: range.c, range_map.c, range_access.c and
 * range_buffer.c. Others use memory/virtual.h.
 */
#ifndef MEMORY_RANGE_H
#define MEMORY_RANGE_H

#include "pool/memory/virtual.h"

/* Devices with access, the range's own included. */
#define MEMORY_RANGE_DEVICES (MEMORY_PEERS_MAX + 1)

struct range_mapping {
    struct range_mapping *next;
    uint64_t offset;
    pool_physical *physical; /* a reference */
};

struct pool_range {
    atomic_uint magic;
    pool_device *device; /* the part of the GPU that it was reserved for */
    struct device_memory *memory;
    CUdeviceptr address;
    uint64_t bytes;
    unsigned renewals;   /* of the device when it was reserved */
    atomic_uint buffers; /* blocks in the list below */
    pthread_mutex_t lock;
    struct range_mapping *mappings; /* guarded by lock, in order of their offsets */
    struct memory_block *blocks;    /* guarded by lock: of buffers in the range */
    struct device_memory
        *devices[MEMORY_RANGE_DEVICES]; /* guarded by lock: with access, the own first */
    unsigned device_count;              /* guarded by lock */
    pool_range *next; /* of the device's ranges that no caller has; guarded by their lock */
};

/* Whether the two ranges of bytes have one in common. */
static inline bool memory_range_overlaps(
    uint64_t offset, uint64_t bytes, uint64_t other, uint64_t other_bytes)
{
    return offset < other + other_bytes && other < offset + bytes;
}

/* ---- range.c --------------------------------------------------------------------------------- */

pool_status memory_range_check(const char *call, const pool_range *range);
pool_status memory_range_check_renewals(const pool_range *range);
/* Enters the device of a range that has not ended with an earlier process. */
pool_status memory_range_enter(const pool_range *range, struct device_scope *scope);
pool_status memory_range_check_inside(
    const char *call, const pool_range *range, uint64_t offset, uint64_t bytes);

/* ---- range_access.c -------------------------------------------------------------------------- */

/* UNSUPPORTED where `device` cannot address memory of `owner`. */
pool_status memory_range_check_peer(
    const char *call, const struct device_memory *device, const struct device_memory *owner);
/* Gives devices access to a mapping, or takes it back. */
pool_cu_result memory_range_set_access(const pool_range *range, const struct range_mapping *mapping,
    struct device_memory *const *devices, unsigned count, pool_cu_enum flags);

/* ---- range_map.c ----------------------------------------------------------------------------- */

/* Waits for what may still use the mappings. A device that cannot be entered any more has no work
 * that could be waited for. With the lock held. */
pool_status memory_range_wait(const pool_range *range);
/* With the lock held, when nothing uses the memory: ends the mappings that start in these bytes.
 * The mapping whose end fails remains, and those behind it. */
pool_status memory_range_unmap_locked(
    struct driver *driver, pool_range *range, uint64_t offset, uint64_t bytes);
/* The driver's part has ended with its process, or cannot be reached. */
void memory_range_forget_mappings(pool_range *range);

#endif
