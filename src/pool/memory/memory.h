/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of this layer: a device's memory, the allocations of buffers, staging.
 */
#ifndef MEMORY_MEMORY_H
#define MEMORY_MEMORY_H

#include <pthread.h>
#include <stdatomic.h>

#include <devicepool/memory.h>
#include <devicepool/virtual.h>

#include "pool/device/device.h"
#include "pool/lease/lease.h"
#include "pool/stream/stream.h"
#include "pool/tuning/tuning.h"

/* The first word of a live object; overwritten when it is freed, so that stale handles are
 * detected. */
#define MEMORY_BUFFER_MAGIC 0x62756666U
#define MEMORY_PINNED_MAGIC 0x70696e6eU
#define MEMORY_DEAD 0xdeadb0ffU

/* What a graph cannot contain. */
#define MEMORY_PAGEABLE_COPY "copies of pageable host memory (pool_pinned_create)"

/* A byte count and its maximum. */
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

/* How pageable memory is staged; pool/tuning.c has the defaults. */
struct memory_staging_shape {
    uint32_t helpers;         /* threads besides the caller */
    uint32_t slots;           /* of a ring; at most MEMORY_SLOTS_MAX */
    uint32_t chunk_bytes;     /* size of a slot */
    uint32_t min_chunk_bytes; /* of a copy that is shorter than a few slots; 0: a slot's */
    uint32_t small_bytes;     /* copies up to this size use small rings, of one slot; 0: none */
    uint32_t direct_bytes;    /* copies to the device up to this size are not staged */
};
#define MEMORY_SLOTS_MAX 64
/* Defaults of `small_bytes` and `direct_bytes`: see ring.c and copy.c. */
#define MEMORY_SMALL_BYTES (256u << 10)
#define MEMORY_DIRECT_BYTES (64u << 10)

/* A block of the device's pool of pinned memory. */
struct memory_host_block {
    void *data;
    uint64_t bytes; /* at least the requested bytes */
    uint32_t flags; /* POOL_PINNED_… */
    struct device_deferred *record;
};

/* Pinned slots, used by one copy at a time. */
struct memory_ring {
    struct memory_ring *next;
    struct memory_rings *rings; /* that it belongs to */
    struct memory_host_block block;
    unsigned char *slots;
    CUevent done[MEMORY_SLOTS_MAX];
    struct memory_staging_shape shape;
    int in_use;       /* guarded by memory_staging.lock */
    int is_abandoned; /* the device may use it for an unknown time */
    int in_flight;    /* the last copy was only enqueued: the device may still read slots; while the
                       * ring is in use it is its user's */
    CUstream stream;  /* of the last copy, as the next two */
    int priority;     /* of that stream, the driver's: lower is more urgent */
    uint64_t order;   /* among all of its kind of rings */
    uint32_t last;    /* slot of its last chunk, whose event is reached after all others */
};

/* A thread that waits for a ring. */
struct memory_ring_waiter {
    int priority;
    struct memory_ring_waiter *next;
};

/* The rings of one size. */
struct memory_rings {
    struct memory_ring_waiter *waiters; /* guarded by memory_staging.lock */
    struct memory_ring *first; /* guarded by memory_staging.lock; includes rings being created */
    uint64_t copies;           /* guarded by memory_staging.lock */
    unsigned most;             /* in progress, but for urgent copies, see ring.c */
    unsigned most_of_stream;   /* in flight, of copies to the device on one stream */
    pthread_cond_t freed;
    struct memory_staging_shape shape; /* of rings created from now on */
};

/* Short copies have rings of their own, so that long copies, which hold their rings for as long as
 * their streams take, do not delay them. */
struct memory_staging {
    pthread_mutex_t lock;
    struct memory_rings large, small;
    struct memory_ring *abandoned; /* guarded by lock: not reused, freed at the end */
    atomic_uint_least64_t bytes;   /* of all rings but abandoned ones */
};

/* The kernel that computes digests of the device's memory, loaded at its first use. */
struct memory_digester {
    pthread_mutex_t lock;
    CUmodule module;
    CUfunction function; /* NULL: not loaded */
    CUdeviceptr result;
};

/*
 * The most bytes of one copy or fill by the driver. Longer ones are enqueued in parts, one behind
 * the other on their stream, because a copy engine takes the copies of several streams in turn: a
 * short job's copy then waits for a part and not for all of a long one.
 */
struct memory_parts {
    uint64_t link;   /* copies between the device and pinned memory */
    uint64_t peer;   /* copies to another device */
    uint64_t device; /* copies within the device, and fills */
};

/* What the library knows of the device's virtual memory. */
struct memory_virtual {
    atomic_uint_least64_t granularity; /* 0: not asked yet */
    pthread_mutex_t lock;
    pool_range *orphans; /* guarded by lock: no caller has them, and they could not be destroyed */
};

#define MEMORY_PEERS_MAX 64

/* A link to another device's memory. */
struct memory_peer {
    struct device_memory *memory;
    int is_accessible;   /* the other device may address this memory */
    int is_enabled_here; /* the library enabled it for its context */
};

/* One device's memory; lives as long as its pool. */
struct device_memory {
    pool_device *device;
    struct driver *driver;
    struct stream_registry *streams;
    /* The source of new allocations: `own_pool` or the caller's. NULL: plain allocations, always.
     */
    _Atomic(CUmemoryPool) pool;
    CUmemoryPool own_pool; /* the library's; NULL: the driver has no memory pools */
    CUstream alloc_order;  /* for work that is waited for immediately, mostly allocations */
    CUdevice handle;
    CUcontext context;
    atomic_uint_least64_t threshold;
    struct device_held held;     /* reports held bytes to the pool layer */
    pthread_mutex_t limit_lock;  /* serialises the reduction of held bytes to the limit */
    pthread_mutex_t full_lock;   /* held by the allocation that waits for pending frees */
    atomic_uint waiting;         /* allocations that do, and those that wait for the lock */
    atomic_uint_least64_t frees; /* that have been enqueued */
    struct memory_gauge used;
    struct memory_gauge shareable; /* the part of `used` that no pool has */
    struct memory_gauge physical;  /* the part of `used` without addresses: see virtual.h */
    struct memory_gauge pinned;
    atomic_uint_least64_t pinned_allocations; /* by the driver, staging included */
    atomic_uint_least64_t pinned_reuses;      /* of freed blocks */
    struct memory_gauge quarantined;
    struct memory_gauge buffers;
    pthread_mutex_t charged_lock;
    /* Guarded by charged_lock; only where the device can be lost. */
    struct memory_charged *blocks, *physicals;
    pthread_mutex_t quarantined_lock;
    struct memory_quarantined *quarantined_list; /* guarded by quarantined_lock */
    uint64_t leaked_bytes; /* quarantined and in no list; guarded by quarantined_lock */
    pthread_mutex_t durable_lock;
    /* Guarded by durable_lock: see durable.h. */
    struct memory_durable *durables;
    struct memory_durable *closed; /* mappings that nobody uses any more */
    atomic_bool has_closed;        /* `closed` is not empty */
    struct memory_virtual virtual;
    struct memory_digester digester;
    struct memory_staging staging;
    struct memory_parts parts;
    struct memory_peer peers[MEMORY_PEERS_MAX]; /* guarded by a lock of peer.c */
    unsigned peer_count;
    unsigned peer_users; /* threads that close a link to this memory; guarded by the same lock */
};

/* Inside device_enter. */
pool_status memory_of(struct device_scope *scope, struct device_memory **memory);
/* NULL while nothing has been allocated on the device. */
struct device_memory *memory_find(pool_device *device);
/* The members of `info` that no driver call is needed for; all 0 while nothing has been allocated.
 */
void memory_read_gauges(pool_device *device, pool_memory_info *info);

/*
 * A raw allocation. With `ordered` the memory is usable in the order of `stream`, else on all
 * streams when this returns. Zeroing has the same order. With `durable` the memory outlives the
 * process of an isolated device where that is possible; the caller frees it after the memory. With
 * `physical` the memory has no address, and none of the above applies.
 */
struct memory_request {
    uint64_t bytes;
    int zeroed;
    int secret;
    int ordered;
    int is_spare; /* fails where memory would have to be released for it, or objects evicted */
    CUstream stream;
    struct lease_budget *budget;    /* the memory is charged to it; NULL: outside of leases */
    struct memory_durable *durable; /* NULL: ordinary memory */
    pool_physical *physical;        /* NULL: memory with an address */
    bool is_shareable;              /* plain memory, also where the device has a pool */
    bool is_opened;                 /* of another process, which accounts for it; for releases */
};
pool_status memory_allocate(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr *address);

/* pool_buffer_create of memory that is free, see is_spare. */
pool_status memory_buffer_create_spare(
    pool_device *device, const pool_buffer_params *params, pool_buffer **buffer);

/*
 * Frees raw memory: with `ordered` after the work on `stream`, else after the work on all streams
 * of the device. Secrets are overwritten first; if that fails they are not freed.
 */
pool_status memory_release(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address);

/* Undoes an allocation whose caller will not get it; the first failure stays the detail. */
void memory_undo_allocation(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address);

/* Accounts for the end of memory that cannot be returned to the driver: the driver or the process
 * has ended, or the memory is quarantined. */
void memory_release_none(struct device_memory *memory, const struct memory_request *request);

/* Takes over memory without an address that no caller has and that cannot be released now. */
void memory_quarantine_physical(struct device_memory *memory, const struct memory_request *request);

/* Waits for the work of all streams of the device but captured ones, which have none. */
pool_status memory_wait_for_streams(struct device_memory *memory);

/* An object whose memory counts as used, in a list of its device: where the device can be lost, the
 * list is what stops counting then. Guarded by charged_lock. */
struct memory_charged {
    struct memory_charged *next, **link;
    bool is_listed;
};
void memory_list_charged(
    struct device_memory *memory, struct memory_charged **list, struct memory_charged *item);
/* false: the memory has ended, and counts no longer. The caller releases it otherwise. */
bool memory_unlist_charged(struct device_memory *memory, struct memory_charged *item);
/* With the lock held. */
void memory_unlink_charged(struct memory_charged *item);
/* The object that has the item as its member. */
#define MEMORY_CHARGED_OF(item, type) ((type *)(void *)((char *)(item)-offsetof(type, charged)))

/* The memory of a buffer and its slices, with a reference count. */
struct memory_block {
    atomic_uint references;
    atomic_int shared;    /* was sliced: handles may be used and freed on several streams */
    atomic_uint renewals; /* of the device when its present process got the memory */
    struct memory_charged charged;
    struct device_memory *memory;
    CUdeviceptr address;
    uint64_t bytes;
    uint32_t flags;
    int adopted;
    struct lease_budget *budget;    /* a reference, NULL: none */
    struct memory_durable *durable; /* NULL: ordinary memory */
    bool is_opened;                 /* memory of another process, which begins at `opened` */
    CUdeviceptr opened;
    pool_range *range;                  /* that the memory is mapped in, if adopted; NULL: none */
    struct memory_block *next_of_range; /* guarded by the range's lock */
};

/* From now on the buffer's memory counts as used outside of leases. No-op where it is not charged
 * to one. No other thread may use the buffer. */
void memory_detach_budget(pool_buffer *buffer);

/* Takes over memory that cannot be freed now. */
void memory_quarantine(struct memory_block *block);

/* The memory of all blocks but sealed ones has ended with the process of the device, and counts no
 * longer. */
void memory_lose_blocks(struct device_memory *memory);

/* A slice that is destroyed before any caller may destroy the parent, whose memory can therefore
 * still be freed in the order of one stream. */
pool_status memory_buffer_part(
    pool_buffer *parent, uint64_t offset, uint64_t bytes, pool_buffer **part);

/* Frees a buffer that is not returned to the caller, and keeps the error detail. */
void memory_discard(pool_buffer *created);

struct pool_buffer {
    atomic_uint magic;
    pool_device *device;
    struct memory_block *block;
    CUdeviceptr address;
    uint64_t bytes;
    struct device_named owner; /* kind BUFFER: a caller, and it is in no list */
};

/* What the buffer is a part of, for messages. */
void memory_buffer_set_owner(pool_buffer *buffer, enum device_dependent kind, const char *name);

/* A handle of memory that is mapped in a range, at `address`. */
pool_status memory_buffer_in_range(pool_device *device, struct device_memory *memory,
    pool_range *range, CUdeviceptr address, uint64_t bytes, pool_buffer **buffer);

/* A handle of memory of another process, which takes over `opened`. */
pool_status memory_buffer_opened(pool_device *device, struct device_memory *memory,
    CUdeviceptr opened, uint64_t offset, uint64_t bytes, pool_buffer **buffer);

/* POOL_OK when the buffer is live, its memory has not ended with the process of its device, and it
 * has `bytes` bytes from `offset`. */
pool_status memory_check_range(
    const char *call, const pool_buffer *buffer, uint64_t offset, uint64_t bytes, const char *name);

/* device_enter for work with the buffer: `device` is the buffer's, or another part of its GPU.
 * While the thread is inside, the memory is there. */
pool_status memory_enter(
    const pool_buffer *buffer, pool_device *device, struct device_scope *scope);
/* For the other buffers of the call. */
pool_status memory_check_renewals(const pool_buffer *buffer);

static inline int memory_is_secret(const pool_buffer *buffer)
{
    return (buffer->block->flags & POOL_BUFFER_SECRET) != 0;
}

/* Enqueues that `count` values of `width` bytes, 1, 2 or 4, are set to `value`. */
struct memory_fill {
    CUdeviceptr to;
    uint64_t count;
    uint32_t value;
    unsigned width;
    CUstream stream;
};
pool_status memory_fill(struct device_memory *memory, const struct memory_fill *fill);

/* Enqueues that `count` 32-bit words of the device's memory are set to zero. */
pool_status memory_clear_words(
    pool_device *device, pool_stream *stream, CUdeviceptr words, uint64_t count);

/* The kind of memory of an address range, as the driver reports it. */
enum memory_kind { MEMORY_PAGEABLE, MEMORY_PINNED, MEMORY_MANAGED, MEMORY_ON_DEVICE };
pool_status memory_kind_of(
    struct driver *driver, const void *data, uint64_t bytes, enum memory_kind *kind);
pool_status memory_find_kind(
    pool_device *device, const void *data, uint64_t bytes, enum memory_kind *kind);

/* Makes `memory` addressable by `peer`'s device; *direct 0: unsupported by the hardware. */
pool_status memory_grant_access(
    struct device_memory *memory, struct device_memory *peer, int *direct);
/* Makes the memory of `owner` addressable by `reader`, which may be the same device. */
pool_status memory_link(pool_device *owner, pool_device *reader, bool *is_direct);
/* Makes allocations of memory->pool, which has just been replaced, addressable by the same peers as
 * before. */
pool_status memory_grant_pool_access(struct device_memory *memory);
pool_status memory_of_both(pool_device *first, pool_device *second,
    struct device_memory **first_memory, struct device_memory **second_memory);
/* Removes all links and, if the driver works, disables what memory_grant_access enabled. */
void memory_close_peers(struct device_memory *memory, int driver_alive);

/* Releases unused memory, without a wait, as the next function. */
pool_status memory_trim_unused(struct device_memory *memory, uint64_t keep_bytes);
/* Waits for pending frees and releases unused memory down to `keep_bytes`; the caller's pool not
 * below its release threshold. */
pool_status memory_trim_pools(struct device_memory *memory, uint64_t keep_bytes);
/* 1 while allocations come from a pool of the caller. */
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

/* Staging. Called inside device_enter of `memory`'s device. */
pool_status memory_staging_init(const struct copy_numbers *numbers, struct memory_staging *staging);
void memory_staging_free(struct device_memory *memory, int driver_alive);
pool_status memory_staging_trim(struct device_memory *memory);
/* Frees the rings of a lost device, whose events have ended with its process or context. */
void memory_staging_renew(struct device_memory *memory);

/* One copy of pageable memory. */
struct memory_transfer {
    unsigned char *host;
    CUdeviceptr device;
    uint64_t bytes;
    CUstream stream;
    int priority; /* of the stream, the driver's */
    int secret;
    uint64_t row_bytes; /* 0: all bytes are adjacent; at most memory_longest_row */
    uint64_t host_pitch, device_pitch;
};

/* The rows that fit into a slot, whatever the copy's size. */
uint64_t memory_longest_row(const struct device_memory *memory);

/*
 * Copies pageable memory, staged or, if that cannot be, by the driver; to the host the bytes have
 * been written when it returns, to the device they have been read.
 */
pool_status memory_copy_pageable(
    struct device_memory *memory, const struct memory_transfer *transfer, int to_host);

/* The host bytes have been read when it returns; the device copy follows in the stream's order. */
pool_status memory_stage_in(struct device_memory *memory, const struct memory_transfer *transfer);
/* The host bytes have been written when it returns. */
pool_status memory_stage_out(struct device_memory *memory, const struct memory_transfer *transfer);

/* An idle ring for the exclusive use of a copy; its slots are one block of pinned memory. Copies of
 * more urgent streams come first, and do not wait where all rings have copies of less urgent ones.
 */
pool_status memory_ring_acquire(struct device_memory *memory, uint64_t bytes, CUstream stream,
    int priority, struct memory_ring **ring);
void memory_ring_release(struct device_memory *memory, struct memory_ring *ring);
/* For a ring that the device may use for an unknown time: it is not used again. */
void memory_ring_abandon(struct device_memory *memory, struct memory_ring *ring);
static inline uint64_t memory_ring_bytes(const struct memory_ring *ring)
{
    return (uint64_t)ring->shape.slots * ring->shape.chunk_bytes;
}

/* The bytes of device memory that the library holds, used and unused; `object` is the
 * device_memory. Inside device_enter. */
pool_status memory_measure_held(void *object, uint64_t *held_bytes);
/* The part of it that is outside of memory pools, where the device has one. */
uint64_t memory_unpooled_bytes(struct device_memory *memory);
/* Checks an allocation: if the library holds more than the limit even after unused memory has been
 * released, the allocation is freed and the result is POOL_ERR_OUT_OF_DEVICE_MEMORY. */
pool_status memory_limit_check(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address);
/* The failure of an allocation beyond the limit. */
pool_status memory_limit_fail(struct device_memory *memory, uint64_t bytes);

/* For measurements and tests: sets the shape of new rings and frees idle ones. */
pool_status memory_staging_reshape(pool_device *device, const struct memory_staging_shape *shape);

#endif
