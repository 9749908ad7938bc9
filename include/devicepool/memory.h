/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: buffers on devices, pinned memory on the host, and copies between all of them.
 *
 * Streams. A function with a `stream` argument enqueues its work there and returns; with NULL it
 * uses the device's default stream and returns when the work is done. The library does not order
 * work on different streams: use events. These fail before any driver call: a stream of another
 * device (POOL_ERR_WRONG_DEVICE), ranges beyond the end of a buffer or with sums that overflow,
 * host pointers in place of device memory and the reverse, and handles that are NULL or, where this
 * can be detected, destroyed (POOL_ERR_INVALID_ARGUMENT).
 *
 * Secrets. Memory created with POOL_BUFFER_SECRET or POOL_PINNED_SECRET is overwritten with zeros
 * before it can be reused: when it is freed, when its creation fails, and in every staging
 * buffer that a copy from or to it used. If the overwriting fails, the memory is quarantined
 * (pool_memory_info.quarantined_bytes), and pool_memory_trim tries again. The flag belongs to the
 * buffer and its slices, not to the data: a copy in another buffer is not secret.
 *
 * A pool cannot be destroyed while it has buffers or pinned memory. Every function leaves the
 * calling thread's current context unchanged. All sizes and offsets are bytes.
 */
#ifndef DEVICEPOOL_MEMORY_H
#define DEVICEPOOL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/device.h>
#include <devicepool/driver.h>
#include <devicepool/lease.h>
#include <devicepool/span.h>
#include <devicepool/status.h>
#include <devicepool/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A range of device memory: allocated, adopted, or a slice of another buffer. Any number of threads
 * may use it at once; only freeing it must not race with another use of the same handle.
 */
typedef struct pool_buffer pool_buffer;

/* Page-locked host memory, allocated or registered. Thread-safety as for pool_buffer. */
typedef struct pool_pinned pool_pinned;

/* Flags of a buffer, combined by |. */
typedef enum pool_buffer_flag {
    POOL_BUFFER_ZEROED = 1, /* all zeros before anything enqueued later can see it */
    POOL_BUFFER_SECRET = 2, /* overwritten before it is released or reused, see above */
    /*
     * For buffers of resident objects (resident.h) on devices in worker processes: the memory
     * outlives the process of its device. It is an allocation of its own, of a multiple of 2 MiB,
     * and destroying the buffer waits for the device's work. Ordinary memory on other devices,
     * where the driver cannot export memory, and with POOL_BUFFER_SECRET.
     */
    POOL_BUFFER_DURABLE = 4,
    /*
     * For pool_buffer_share: an allocation of its own, of a multiple of 2 MiB, so that other
     * processes see no other memory. Creating it ignores the order of `stream`, and destroying it
     * waits for the device's work. Not durable.
     */
    POOL_BUFFER_SHAREABLE = 8
} pool_buffer_flag;

/* Zero is the default of every member but struct_size. */
typedef struct pool_buffer_params {
    size_t struct_size;
    uint64_t bytes; /* 0 is a valid, empty buffer whose address is 0 */
    uint32_t flags; /* POOL_BUFFER_… */
    /*
     * NULL: the memory can be used on any stream when the call returns. A stream: the memory can be
     * used by work that is enqueued later on that stream (or ordered after it by an event), and the
     * call does not wait unless the device is full.
     */
    pool_stream *stream;
    /*
     * The memory is charged to the budget that the lease has on the device, until it is freed or
     * the lease is released; the buffer may outlive the lease. POOL_LEASE_SECRET implies
     * POOL_BUFFER_SECRET. NULL: no lease. Errors: POOL_ERR_OUT_OF_DEVICE_MEMORY (beyond the
     * budget), POOL_ERR_WRONG_DEVICE (a device that the lease does not have).
     */
    pool_lease *lease;
} pool_buffer_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_buffer_params_init(pool_buffer_params *params, size_t struct_size);

/*
 * Allocates a buffer from the device's memory pool; its address is a multiple of 256. The caller
 * frees it with pool_buffer_destroy. When the device is full, the call waits for pending frees on
 * `stream` and by pool_buffer_destroy, releases unused pool memory and tries once more, then
 * returns POOL_ERR_OUT_OF_DEVICE_MEMORY with the requested, free and reserved bytes in the message.
 * Under a lease it waits for pending frees on every stream, until there is enough memory.
 * The short forms: no flags, zeroed, and a copy of `bytes` host bytes at `data` (done when the call
 * returns). Without driver support for memory pools the library uses plain allocations.
 */
POOL_API pool_status pool_buffer_create(
    pool_device *device, const pool_buffer_params *params, pool_buffer **buffer);
POOL_API pool_status pool_buffer_alloc(pool_device *device, uint64_t bytes, pool_buffer **buffer);
POOL_API pool_status pool_buffer_zeroed(pool_device *device, uint64_t bytes, pool_buffer **buffer);
POOL_API pool_status pool_buffer_from_host(
    pool_device *device, const void *data, uint64_t bytes, pool_buffer **buffer);

/*
 * Wraps device memory that the caller allocated through the driver or the runtime, or a part of it.
 * It must outlive the buffer and is not freed with it. Errors: INVALID_ARGUMENT (not device memory,
 * or the range goes beyond its allocation), WRONG_DEVICE.
 */
POOL_API pool_status pool_buffer_adopt(
    pool_device *device, CUdeviceptr address, uint64_t bytes, pool_buffer **buffer);

/*
 * A view of `bytes` bytes from `offset` of `parent` (itself possibly a slice). It holds a reference
 * to the memory: parent and slices can be destroyed in any order, the last one frees the memory. A
 * slice of 0 bytes at the very end is allowed.
 */
POOL_API pool_status pool_buffer_slice(
    pool_buffer *parent, uint64_t offset, uint64_t bytes, pool_buffer **slice);

/*
 * Frees a buffer or slice and sets *buffer to NULL; NULL or a pointer to NULL is a no-op. Safe
 * while work is unfinished: the memory is reused only after all work that has been enqueued on the
 * default stream and on any pool_stream of the device. Work on raw streams that the library does
 * not know (see pool_stream_adopt) must have finished. Does not wait, except where the driver has
 * no memory pools. Errors as for pool_stream_destroy.
 *
 * pool_buffer_destroy_on is the cheaper form for one stream: the memory is reused after the work
 * enqueued on `stream` (NULL: the default stream); the caller must ensure that work on other
 * streams has finished or is ordered before. For a stream of another device it fails, and the
 * buffer remains.
 */
POOL_API pool_status pool_buffer_destroy(pool_buffer **buffer);
POOL_API pool_status pool_buffer_destroy_on(pool_buffer **buffer, pool_stream *stream);

/*
 * A buffer's memory by which another process can open it; 80 bytes without pointers, to be sent as
 * they are. A process that has them can read and write the memory, and all of the allocation that
 * the buffer is a part of.
 */
typedef struct pool_shared_buffer {
    unsigned char handle[64]; /* the driver's: CUipcMemHandle */
    uint64_t offset;          /* of the buffer in the allocation */
    uint64_t bytes;
} pool_shared_buffer;

/*
 * Fills `shared` for a buffer that was created with POOL_BUFFER_SHAREABLE, for a slice of one, or
 * for an adopted one whose memory came from cuMemAlloc. The buffer must exist until every process
 * has destroyed what it opened. Errors: INVALID_ARGUMENT (not shareable, empty), UNSUPPORTED
 * (by the driver; on simulated devices also memory that is no multiple of 2 MiB).
 */
POOL_API pool_status pool_buffer_share(pool_buffer *buffer, pool_shared_buffer *shared);

/*
 * A buffer of memory that another process has shared, on the device that it belongs to or one that
 * can address it. It does not count as used memory. pool_buffer_destroy waits for the device's work
 * and closes it; work of the two processes is ordered only by shared events and by messages between
 * them. A process cannot open its own memory; with devices in worker processes, a device can also
 * open memory of another worker. Errors: INVALID_ARGUMENT, UNSUPPORTED, DRIVER.
 */
POOL_API pool_status pool_buffer_open(
    pool_device *device, const pool_shared_buffer *shared, pool_buffer **buffer);

/* The address for kernels and raw driver calls, the size, the flags, the device (0 or NULL for
 * NULL). */
POOL_API pool_status pool_buffer_address(const pool_buffer *buffer, CUdeviceptr *address);
POOL_API uint64_t pool_buffer_bytes(const pool_buffer *buffer);
POOL_API uint32_t pool_buffer_flags(const pool_buffer *buffer);
POOL_API pool_device *pool_buffer_device(const pool_buffer *buffer);

/*
 * Fills `span` for an operation: `count` packed items of form `form`, starting at byte `offset` of
 * the buffer. The span is valid as long as the buffer. Operations check the extent of the items,
 * whose size they know; this function only checks `offset` (POOL_ERR_INVALID_ARGUMENT).
 */
POOL_API pool_status pool_buffer_span(
    const pool_buffer *buffer, uint64_t offset, uint64_t count, pool_form form, pool_span *span);

/*
 * Writes `count` copies of a value of 8, 16 or 32 bits, starting at byte `offset`. The buffer's
 * address plus the offset must be a multiple of the value's size (POOL_ERR_INVALID_ARGUMENT).
 */
POOL_API pool_status pool_buffer_fill8(
    pool_buffer *buffer, uint64_t offset, uint64_t count, uint8_t value, pool_stream *stream);
POOL_API pool_status pool_buffer_fill16(
    pool_buffer *buffer, uint64_t offset, uint64_t count, uint16_t value, pool_stream *stream);
POOL_API pool_status pool_buffer_fill32(
    pool_buffer *buffer, uint64_t offset, uint64_t count, uint32_t value, pool_stream *stream);

/*
 * Copies `bytes` host bytes at `from` to the buffer `to`, starting at its byte `offset`.
 * Pinned or registered `from`: with a stream the copy is only enqueued, and `from` must stay valid
 * until it is done. Pageable memory goes through pinned staging buffers, or, up to 64 KiB, through
 * the driver's: when it returns `from` can be modified, and with a stream it waits only for free
 * staging buffers, of which short copies have their own. A copy from pageable memory to a secret
 * buffer waits until it is done.
 */
POOL_API pool_status pool_copy_to_device(
    pool_buffer *to, uint64_t offset, const void *from, uint64_t bytes, pool_stream *stream);

/*
 * Copies `bytes` bytes at byte `offset` of `from` to host memory at `to`.
 * Pinned or registered `to`: with a stream the copy is only enqueued. Pageable memory goes through
 * pinned staging buffers: the bytes are written when the call returns, also with a stream, and it
 * waits for no other stream.
 */
POOL_API pool_status pool_copy_to_host(
    void *to, const pool_buffer *from, uint64_t offset, uint64_t bytes, pool_stream *stream);

/*
 * Copies between buffers of one device or of two. The ranges may overlap: the result is as if the
 * source were read completely first. `stream` belongs to either device. Between devices the driver
 * copies directly where the hardware supports it, else through host memory.
 */
POOL_API pool_status pool_copy_device(pool_buffer *to, uint64_t to_offset, const pool_buffer *from,
    uint64_t from_offset, uint64_t bytes, pool_stream *stream);

/*
 * One side of a 2-D copy: rows that begin `pitch` bytes apart, in a buffer from its byte `offset`
 * on, or, where `buffer` is NULL, in host memory at `host`.
 */
typedef struct pool_pitched {
    pool_buffer *buffer;
    uint64_t offset; /* of the first row; 0 for host memory */
    void *host;      /* of the source: only read; must be NULL if there is a buffer */
    uint64_t pitch;  /* at least the bytes of a row; 0: those */
} pool_pitched;

/*
 * Copies `rows` rows of `row_bytes` bytes, 0 of either being a no-op; at least one side is a
 * buffer, and two are of one device (POOL_ERR_WRONG_DEVICE). Source and destination rows must not
 * overlap. The copy is enqueued on `stream`; with NULL the call waits until it is done. Pageable
 * memory has been read or written when the call returns. Pitches are below 2^31.
 * POOL_ERR_UNSUPPORTED: the driver's table has no cuMemcpy2DAsync.
 */
POOL_API pool_status pool_copy_2d(const pool_pitched *to, const pool_pitched *from,
    uint64_t row_bytes, uint64_t rows, pool_stream *stream);

/*
 * Lets kernels and copies on `device` address memory of `peer`: present and future allocations of
 * its memory pool, and plain allocations. Errors: UNSUPPORTED when the hardware cannot,
 * WRONG_DEVICE for a device of another driver. Repeating the call is a no-op. Valid as long as the
 * pool.
 */
POOL_API pool_status pool_device_enable_peer(pool_device *device, pool_device *peer);

/* Flags of pinned memory, combined by |. */
typedef enum pool_pinned_flag {
    POOL_PINNED_SECRET = 1,        /* overwritten before it is released or reused */
    POOL_PINNED_WRITE_COMBINED = 2 /* for pool_pinned_create: slow for the host to read */
} pool_pinned_flag;

/*
 * Page-locked host memory, usable with every device of the driver. pool_pinned_register locks
 * memory that the caller owns, which must outlive the handle. Both can take long (about 0.3 ms per
 * MB). Errors: INVALID_ARGUMENT (0 bytes, an overlap with registered memory), OUT_OF_HOST_MEMORY.
 */
POOL_API pool_status pool_pinned_create(
    pool_device *device, uint64_t bytes, uint32_t flags, pool_pinned **pinned);
POOL_API pool_status pool_pinned_register(
    pool_device *device, void *data, uint64_t bytes, uint32_t flags, pool_pinned **pinned);

/*
 * Frees allocated memory or unregisters registered memory, and sets *pinned to NULL; NULL or a
 * pointer to NULL is a no-op. Allocated memory may still be in use by work that was enqueued
 * through the library on any device of the pool: it is kept for later allocations
 * (pool_pinned_set_threshold) and reused when that work has finished, and the function does not
 * wait. Registered memory may be freed by the caller after the call, so it must not be in use, and
 * the driver may wait for all work of the device. Errors as for pool_stream_destroy.
 */
POOL_API pool_status pool_pinned_destroy(pool_pinned **pinned);

/* The memory, its size, flags and device; NULL or 0 for NULL. Memory of pool_pinned_create has
 * ended with a context that another part of the process has destroyed: its address is NULL then. */
POOL_API void *pool_pinned_data(const pool_pinned *pinned);
POOL_API uint64_t pool_pinned_bytes(const pool_pinned *pinned);
POOL_API uint32_t pool_pinned_flags(const pool_pinned *pinned);
POOL_API pool_device *pool_pinned_device(const pool_pinned *pinned);

/* A device's memory, all in bytes. Set struct_size before the call. */
typedef struct pool_memory_info {
    size_t struct_size;
    uint64_t free_bytes; /* of all processes, as the driver reports it */
    uint64_t total_bytes;
    uint64_t used_bytes;            /* in buffers of the library */
    uint64_t used_high_water_bytes; /* maximum since the start or the last reset */
    uint64_t reserved_bytes;        /* allocated from the device for buffers, used or unused */
    uint64_t reserved_high_water_bytes;
    uint64_t release_threshold;     /* unused bytes above this are released to the device */
    uint64_t pinned_bytes;          /* pinned through this device */
    uint64_t staging_bytes;         /* pinned, for copies of pageable memory */
    uint64_t quarantined_bytes;     /* secrets that could not be overwritten, see above */
    uint64_t buffers;               /* handles, including slices and adopted buffers */
    int32_t memory_pool;            /* 1: stream-ordered, 0: plain allocations */
    uint64_t pinned_deferred_bytes; /* freed pinned memory that unfinished work may still use */
    uint64_t memory_limit;          /* of what the library may hold (pool_params); 0: none */
    uint64_t memory_headroom;       /* free bytes that leases cannot reserve */
    uint64_t available_bytes;       /* that further leases can reserve */
    uint64_t lease_reserved_bytes;  /* by living leases, whether used or not */
    uint64_t lease_charged_bytes;   /* the part of used_bytes that is charged to living leases */
    uint64_t leases;                /* living ones that include the device */
    uint64_t pinned_unused_bytes;   /* freed and kept for reuse */
    uint64_t pinned_threshold;      /* of freed pinned memory that is kept */
    uint64_t pinned_allocations;    /* how often the driver allocated pinned memory */
    uint64_t pinned_reuses;         /* how often freed pinned memory was reused instead */
    uint64_t physical_bytes;        /* the part of used_bytes in pool_physicals (virtual.h) */
} pool_memory_info;

/* Fills `info`, whose struct_size is set; queries the driver for free and reserved bytes. */
POOL_API pool_status pool_memory_get_info(pool_device *device, pool_memory_info *info);

/*
 * Resets both high-water marks to the bytes that are used and reserved now; of a pool of the caller
 * (pool_memory_adopt) only the first.
 */
POOL_API pool_status pool_memory_reset_high_water(pool_device *device);

/*
 * Sets how many unused bytes the device's pool retains for later buffers; the default UINT64_MAX
 * retains all. POOL_ERR_UNSUPPORTED without memory pools, and for a pool of the caller's, whose
 * threshold the caller sets.
 */
POOL_API pool_status pool_memory_set_threshold(pool_device *device, uint64_t bytes);

/*
 * How many bytes of freed pinned memory the device keeps for later allocations of pinned memory and
 * of staging buffers; the default is 256 MiB. More is released when the devices are idle.
 */
POOL_API pool_status pool_pinned_set_threshold(pool_device *device, uint64_t bytes);

/*
 * Releases unused memory to the device until at most `keep_bytes` (for a pool of the caller: or its
 * release threshold) are reserved or nothing is unused, frees idle staging buffers, and performs
 * deferred frees of pinned memory and deferred unloads of modules. Waits for pending frees, and
 * with them for the work that they wait for.
 */
POOL_API pool_status pool_memory_trim(pool_device *device, uint64_t keep_bytes);

/*
 * The raw memory pool of the device, for callers that allocate from it themselves: the library's,
 * which still owns it, or the one of pool_memory_adopt. POOL_ERR_UNSUPPORTED without memory pools.
 */
POOL_API pool_status pool_memory_handle(pool_device *device, CUmemoryPool *handle);

/*
 * Allocates the device's later buffers, workspaces and resident data from a memory pool of the
 * caller's, which must outlive them and the device_pool; NULL returns to the library's own pool.
 * Memory that exists stays in the pool that it came from. The library neither destroys the pool nor
 * changes its attributes, and trims it down to its release threshold at most; devices that may
 * address this device's memory (pool_device_enable_peer) are granted access to it. Allocates and
 * frees one byte to find the pool's device, and waits for pending frees as pool_memory_trim does:
 * adopt before there is work. Errors: WRONG_DEVICE; INVALID_ARGUMENT for a handle that the driver
 * rejects or a pool of host memory; UNSUPPORTED without memory pools.
 */
POOL_API pool_status pool_memory_adopt(pool_device *device, CUmemoryPool handle);

#ifdef __cplusplus
}
#endif

#endif
