/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this layer share: a device's memory, the allocation under buffers, staging.
 */
#ifndef MEMORY_MEMORY_H
#define MEMORY_MEMORY_H

#include <pthread.h>
#include <stdatomic.h>

#include <devicepool/memory.h>

#include "pool/device.h"
#include "stream/stream.h"

/* First word of a living object; overwritten when it is freed, so that stale handles show. */
#define MEMORY_BUFFER_MAGIC 0x62756666U
#define MEMORY_PINNED_MAGIC 0x70696e6eU
#define MEMORY_DEAD 0xdeadb0ffU

/* A count in bytes with the highest value that it had. */
struct memory_gauge {
    atomic_uint_least64_t now;
    atomic_uint_least64_t high;
};
void memory_gauge_add(struct memory_gauge *gauge, uint64_t bytes);
void memory_gauge_sub(struct memory_gauge *gauge, uint64_t bytes);
static inline uint64_t memory_gauge_now(const struct memory_gauge *gauge)
{
    return atomic_load_explicit(&gauge->now, memory_order_relaxed);
}

/* How pageable memory is staged; see staging.c for the numbers. */
struct memory_staging_shape {
    uint32_t helpers;      /* threads beside the caller */
    uint32_t slots;        /* of a ring; at most MEMORY_SLOTS_MAX */
    uint32_t piece_bytes;  /* size of a slot */
    uint64_t direct_bytes; /* copies up to this size are left to the driver */
};
#define MEMORY_SLOTS_MAX 64

/* Pinned memory of the device's pool of it. */
struct memory_host_block {
    void *data;
    uint64_t bytes; /* at least those asked for */
    uint32_t flags; /* POOL_PINNED_… */
    struct device_deferred *record;
};

/* Pinned slots that one copy at a time goes through. */
struct memory_ring {
    struct memory_ring *next;
    struct memory_host_block block;
    unsigned char *slots;
    CUevent done[MEMORY_SLOTS_MAX];
    struct memory_staging_shape shape;
    struct base_thread_pool *helpers; /* the copying thread's; NULL until a copy needs them */
    int in_use;                       /* guarded by memory_staging.lock */
    int is_lost;                      /* nobody knows when the device is done with it */
    int in_flight; /* the last copy was only enqueued: slots may still be read by the device */
};

struct memory_staging {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    struct memory_ring *rings; /* guarded by lock */
    struct memory_ring *lost;  /* guarded by lock: given up, freed at the end */
    unsigned count;            /* guarded by lock; those being made included */
    atomic_uint_least64_t bytes;
    struct memory_staging_shape shape; /* of rings made from now on */
};

#define MEMORY_PEERS_MAX 64

/* A link to another device's memory. */
struct memory_peer {
    struct device_memory *memory;
    int is_open;  /* the other device may address this memory */
    int switched; /* and it was us who let its context do so */
};

/* One device's memory, kept as long as its pool lives. */
struct device_memory {
    pool_device *device;
    struct driver *driver;
    struct stream_registry *streams;
    /* New allocations come from it: `own_pool`, or the caller's. NULL: plain allocations, always.
     */
    _Atomic(CUmemoryPool) pool;
    CUmemoryPool own_pool; /* created and destroyed here; NULL: the driver has no memory pools */
    CUstream alloc_order;  /* work that is waited for at once, allocations mostly */
    CUdevice handle;
    CUcontext context;
    atomic_uint_least64_t threshold;
    struct device_held held;    /* how the pool layer measures what is held here */
    pthread_mutex_t limit_lock; /* one thread at a time reduces what is held to the limit */
    struct memory_gauge used;
    struct memory_gauge pinned;
    atomic_uint_least64_t pinned_allocations; /* by the driver, staging included */
    atomic_uint_least64_t pinned_reuses;      /* of freed blocks */
    struct memory_gauge quarantined;
    struct memory_gauge buffers;
    pthread_mutex_t quarantined_lock;
    struct memory_quarantined *quarantined_list; /* guarded by quarantined_lock */
    struct memory_staging staging;
    struct memory_peer peers[MEMORY_PEERS_MAX]; /* guarded by a lock of peer.c */
    unsigned peer_count;
};

/* Inside device_enter. */
pool_status memory_of(struct device_scope *scope, struct device_memory **memory);
/* NULL while nothing has been allocated on the device. */
struct device_memory *memory_find(pool_device *device);
/* The members of `info` that no driver call is needed for; all 0 while nothing has been allocated.
 */
void memory_read_gauges(pool_device *device, pool_memory_info *info);

/*
 * Raw allocation. With `ordered` the memory is there in the order of `stream`, else on all streams
 * when this returns. Zeroing goes into the same order.
 */
struct memory_request {
    uint64_t bytes;
    int zeroed;
    int secret;
    int ordered;
    CUstream stream;
};
pool_status memory_allocate(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr *address);

/*
 * Gives raw memory back: with `ordered` after the work on `stream`, else after the work on all
 * streams of the device. Secrets are overwritten first or not given back at all.
 */
pool_status memory_release(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address);

/* Undoes an allocation whose caller will not get it; the first failure stays the detail. */
void memory_take_back(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address);

/* Accounts for the end of memory that cannot be returned to the driver: the driver or the process
 * has ended, or the memory is quarantined. */
void memory_release_none(struct device_memory *memory, const struct memory_request *request);

/* Memory that could not be overwritten and is not returned to the driver. */
struct memory_quarantined {
    struct memory_quarantined *next;
    CUdeviceptr address;
    struct memory_request request;
};

/* The memory under a buffer and its slices. The last one that lets go frees it. */
struct memory_block {
    atomic_uint references;
    atomic_int shared; /* was sliced: handles may have been used and freed on several streams */
    struct device_memory *memory;
    CUdeviceptr address;
    uint64_t bytes;
    uint32_t flags;
    int adopted;
};

/* Takes over memory that cannot be given back now. */
void memory_quarantine(struct memory_block *block);

/* Undoes a making whose caller will not get the buffer; the first failure stays the detail. */
void memory_discard(pool_buffer *made);

struct pool_buffer {
    atomic_uint magic;
    pool_device *device;
    struct memory_block *block;
    CUdeviceptr address;
    uint64_t bytes;
};

/* POOL_OK when `bytes` bytes from `offset` on lie in the living buffer. */
pool_status memory_check_range(
    const char *call, const pool_buffer *buffer, uint64_t offset, uint64_t bytes, const char *name);

static inline int memory_is_secret(const pool_buffer *buffer)
{
    return (buffer->block->flags & POOL_BUFFER_SECRET) != 0;
}

/* Where a range of host addresses lies, as far as the driver knows. */
enum memory_place { MEMORY_PAGEABLE, MEMORY_PINNED, MEMORY_MANAGED, MEMORY_ON_DEVICE };
pool_status memory_place_of(
    struct driver *driver, const void *data, uint64_t bytes, enum memory_place *place);

/* Makes `memory` addressable by `peer`'s device; *direct 0: the hardware cannot. */
pool_status memory_open_to(struct device_memory *memory, struct device_memory *peer, int *direct);
/* Makes allocations of memory->pool, which has just been replaced, addressable by the same peers as
 * before. */
pool_status memory_open_pool_to_peers(struct device_memory *memory);
pool_status memory_of_both(pool_device *first, pool_device *second,
    struct device_memory **first_memory, struct device_memory **second_memory);
/* Forgets all links and, with a driver, switches off what memory_open_to switched on. */
void memory_close_peers(struct device_memory *memory, int driver_alive);

/* Waits for pending frees and releases unused memory down to `keep_bytes`; the caller's pool not
 * below its release threshold. */
pool_status memory_trim_pools(struct device_memory *memory, uint64_t keep_bytes);
/* 1 while allocations come from a pool of the caller's. */
static inline int memory_is_pool_adopted(struct device_memory *memory)
{
    return atomic_load(&memory->pool) != memory->own_pool;
}

/*
 * Pinned memory, reused or from the driver, near the device where the kernel allows that; inside
 * device_enter. A release does not wait: the block is reused when all work that is unfinished now
 * has finished, and overwritten before if it has a secret.
 */
pool_status memory_host_allocate(
    struct device_memory *memory, uint64_t bytes, uint32_t flags, struct memory_host_block *block);
void memory_host_release(
    struct device_memory *memory, struct memory_host_block *block, bool is_secret);

/* Staging. All inside device_enter of `memory`'s device. */
pool_status memory_staging_init(struct memory_staging *staging);
void memory_staging_free(struct device_memory *memory, int driver_alive);
pool_status memory_staging_trim(struct device_memory *memory);

/* One copy of pageable memory. */
struct memory_transfer {
    unsigned char *host;
    CUdeviceptr device;
    uint64_t bytes;
    CUstream stream;
    int secret;
};

/* When it returns the host bytes are read; the device side follows in the stream's order. */
pool_status memory_stage_in(struct device_memory *memory, const struct memory_transfer *transfer);
/* When it returns the host bytes are in place. */
pool_status memory_stage_out(struct device_memory *memory, const struct memory_transfer *transfer);

/* A ring for exclusive use: all its slots are one block of pinned memory, nothing in flight. */
pool_status memory_ring_take(struct device_memory *memory, struct memory_ring **ring);
void memory_ring_give(struct device_memory *memory, struct memory_ring *ring);
/* For a ring that the device may still use and nobody can wait for: it is never used again. */
void memory_ring_abandon(struct device_memory *memory, struct memory_ring *ring);
static inline uint64_t memory_ring_bytes(const struct memory_ring *ring)
{
    return (uint64_t)ring->shape.slots * ring->shape.piece_bytes;
}

/* What the library holds of the device, used and unused; `object` is the device_memory. Inside
 * device_enter. */
pool_status memory_measure_held(void *object, uint64_t *held_bytes);
/* After an allocation: POOL_ERR_OUT_OF_DEVICE_MEMORY, and the allocation is undone, when more than
 * the limit is held even after unused memory was released. */
pool_status memory_limit_check(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address);
/* The refusal of an allocation beyond the limit. */
pool_status memory_limit_refuse(struct device_memory *memory, uint64_t bytes);

/* For measurements and tests: the shape of rings made from now on; idle rings are freed. */
pool_status memory_staging_reshape(pool_device *device, const struct memory_staging_shape *shape);

#endif
