/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: buffers on devices, pinned memory on the host, and copies between all of them.
 *
 * Streams. A function with a `stream` argument enqueues its work there and returns; with NULL it
 * runs on the device's default stream and is done when it returns. Work on different streams is not
 * ordered by the library: use events. What is refused before the driver is asked: a stream of
 * another device (POOL_ERR_WRONG_DEVICE), ranges beyond the end of a buffer or with sums that
 * overflow, host pointers where device memory is meant and the reverse, and handles that are NULL
 * or, where that can be seen, already freed (POOL_ERR_INVALID_ARGUMENT).
 *
 * Secrets. Memory made with POOL_BUFFER_SECRET or POOL_PINNED_SECRET is overwritten with zeros
 * before anybody else can get it: when it is freed, when making it fails half-way, and in every
 * staging buffer that a copy from or to it went through. Should the overwriting itself fail, the
 * memory is kept back (pool_memory_info.withheld_bytes), and tried again by pool_memory_trim. The
 * flag belongs to the buffer and its slices, not to the data: a copy in another buffer is not
 * secret.
 *
 * Every buffer and pinned block keeps its pool from being destroyed. Every function leaves the
 * calling thread's current context as it found it. All sizes and offsets are bytes.
 */
#ifndef DEVICEPOOL_MEMORY_H
#define DEVICEPOOL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/device.h>
#include <devicepool/driver.h>
#include <devicepool/status.h>
#include <devicepool/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A range of device memory: allocated, adopted, or a slice of another buffer. Any thread may use
 * it, several at once too; only freeing it must not race with another use of the same handle.
 */
typedef struct pool_buffer pool_buffer;

/* Page-locked host memory: allocated, or the caller's own, registered. Threads as pool_buffer. */
typedef struct pool_pinned pool_pinned;

/* Flags of a buffer. */
#define POOL_BUFFER_ZEROED 1u /* all zeros before anything enqueued later can see it */
#define POOL_BUFFER_SECRET 2u /* overwritten before it is given back, see above */

/* Zero is the default of every member but struct_size. */
typedef struct pool_buffer_params {
    size_t struct_size;
    uint64_t bytes; /* 0 is a valid, empty buffer whose address is 0 */
    uint32_t flags; /* POOL_BUFFER_… */
    /*
     * NULL: the memory can be used on any stream when the call returns. A stream: the memory is
     * there for work that is enqueued later on that stream (or ordered after it by an event), and
     * the call does not wait unless the device is full.
     */
    pool_stream *stream;
} pool_buffer_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_buffer_params_init(pool_buffer_params *params, size_t struct_size);

/*
 * Makes a buffer from the device's memory pool; its address is a multiple of 256. The buffer is the
 * caller's, to be freed with pool_buffer_destroy. When the device is full, the call waits for frees
 * under way on `stream` and by pool_buffer_destroy, gives unused pool memory back and tries once
 * more, then POOL_ERR_OUT_OF_DEVICE_MEMORY; its text has the asked, free and reserved bytes. The
 * short forms: no flags, zeroed, and a copy of `bytes` host bytes at `data` (done when the call
 * returns). Drivers without memory pools are served by plain allocations.
 */
POOL_API pool_status pool_buffer_create(
    pool_device *device, const pool_buffer_params *params, pool_buffer **buffer);
POOL_API pool_status pool_buffer_alloc(pool_device *device, uint64_t bytes, pool_buffer **buffer);
POOL_API pool_status pool_buffer_zeroed(pool_device *device, uint64_t bytes, pool_buffer **buffer);
POOL_API pool_status pool_buffer_from_host(
    pool_device *device, const void *data, uint64_t bytes, pool_buffer **buffer);

/*
 * Wraps device memory of the caller's own (the driver's or runtime's allocation, or a part of one).
 * It must outlive the buffer and is not freed with it. Errors: INVALID_ARGUMENT (not device memory,
 * or the range goes beyond its allocation), WRONG_DEVICE.
 */
POOL_API pool_status pool_buffer_adopt(
    pool_device *device, CUdeviceptr address, uint64_t bytes, pool_buffer **buffer);

/*
 * A view of `bytes` bytes from `offset` of `parent` (itself possibly a slice). It holds a reference
 * on the memory: parent and slices can be freed in any order, the last one gives the memory back.
 * A slice of 0 bytes at the very end is allowed.
 */
POOL_API pool_status pool_buffer_slice(
    pool_buffer *parent, uint64_t offset, uint64_t bytes, pool_buffer **slice);

/*
 * Frees a buffer or slice and sets *buffer to NULL; NULL and a pointer to NULL are nothing. Safe
 * while work is under way: the memory is used again only after everything that has been enqueued on
 * the default stream and on any pool_stream of the device. Work on raw streams that the library was
 * not told of (pool_stream_adopt) must be finished. Does not wait, except where the driver has no
 * memory pools. Failures as with pool_stream_destroy.
 *
 * pool_buffer_destroy_on is the cheaper form for one stream: the memory is used again after what
 * was enqueued on `stream` (NULL: the default stream); that work on other streams is finished or
 * ordered before, the caller promises. A stream of another device is refused and the buffer stays.
 */
POOL_API pool_status pool_buffer_destroy(pool_buffer **buffer);
POOL_API pool_status pool_buffer_destroy_on(pool_buffer **buffer, pool_stream *stream);

/* The address for kernels and raw driver calls, the size, the flags, the device (0 or NULL for
 * NULL).
 */
POOL_API pool_status pool_buffer_address(const pool_buffer *buffer, CUdeviceptr *address);
POOL_API uint64_t pool_buffer_bytes(const pool_buffer *buffer);
POOL_API uint32_t pool_buffer_flags(const pool_buffer *buffer);
POOL_API pool_device *pool_buffer_device(const pool_buffer *buffer);

/*
 * Writes `count` times a value of 8, 16 or 32 bits from byte `offset` on, which with the buffer's
 * address must be a multiple of the value's size (POOL_ERR_INVALID_ARGUMENT).
 */
POOL_API pool_status pool_buffer_fill8(
    pool_buffer *buffer, uint64_t offset, uint64_t count, uint8_t value, pool_stream *stream);
POOL_API pool_status pool_buffer_fill16(
    pool_buffer *buffer, uint64_t offset, uint64_t count, uint16_t value, pool_stream *stream);
POOL_API pool_status pool_buffer_fill32(
    pool_buffer *buffer, uint64_t offset, uint64_t count, uint32_t value, pool_stream *stream);

/*
 * Copies `bytes` host bytes at `from` to `to` from byte `offset` on.
 * Pinned or registered `from`: with a stream the copy is only enqueued, `from` must stay until it
 * is done. Any other memory goes through pinned staging by up to four threads that live for the
 * call: when it returns `from` can be used again, and with a stream it waits only for room in the
 * staging buffers. From pageable memory to a secret buffer it waits until all is done.
 */
POOL_API pool_status pool_copy_to_device(
    pool_buffer *to, uint64_t offset, const void *from, uint64_t bytes, pool_stream *stream);

/*
 * Copies `bytes` bytes of `from` from byte `offset` on to host memory at `to`.
 * Pinned or registered `to`: with a stream the copy is only enqueued. Any other memory: the bytes
 * are in place when the call returns, also with a stream.
 */
POOL_API pool_status pool_copy_to_host(
    void *to, const pool_buffer *from, uint64_t offset, uint64_t bytes, pool_stream *stream);

/*
 * Copies between buffers of one device or of two. The ranges may overlap: the result is as if all
 * was read first. `stream` is of either device. Between devices the copy goes straight from one to
 * the other where the hardware can, else through the host, by the driver.
 */
POOL_API pool_status pool_copy_device(pool_buffer *to, uint64_t to_offset, const pool_buffer *from,
    uint64_t from_offset, uint64_t bytes, pool_stream *stream);

/*
 * Lets kernels and copies on `device` address memory of `peer`: its memory pool now and later, and
 * plain allocations. Errors: UNSUPPORTED when the hardware cannot, WRONG_DEVICE for a device of
 * another driver. Twice is fine. It lasts as long as the pool.
 */
POOL_API pool_status pool_device_enable_peer(pool_device *device, pool_device *peer);

/* Flags of pinned memory. */
#define POOL_PINNED_SECRET 1u         /* overwritten before it is given back */
#define POOL_PINNED_WRITE_COMBINED 2u /* allocated only: fast for the device, slow to read here */

/*
 * Page-locked host memory, usable with every device of the driver. `register` locks memory of the
 * caller's own, which must outlive the handle. Both can take long (about 0.3 ms a MB). Errors:
 * INVALID_ARGUMENT (0 bytes, an overlap with registered memory), OUT_OF_HOST_MEMORY.
 */
POOL_API pool_status pool_pinned_create(
    pool_device *device, uint64_t bytes, uint32_t flags, pool_pinned **pinned);
POOL_API pool_status pool_pinned_register(
    pool_device *device, void *data, uint64_t bytes, uint32_t flags, pool_pinned **pinned);

/*
 * Frees or, registered memory, unregisters it, and sets *pinned to NULL; NULL is nothing. Memory
 * that was allocated may still be used by work that is enqueued through the library on any device
 * of the pool: it is freed when that has finished. The driver's own free waits for all work of the
 * device; this one does not: while anything is unfinished the memory is put aside, serves later
 * allocations once nothing uses it, and goes back to the driver when the devices are idle, with
 * pool_memory_trim, or when the pool is destroyed. A secret is overwritten before. Registered
 * memory is the caller's again when this returns: work that uses it must be done, and the driver
 * may wait for all other work of the device. Failures as with pool_stream_destroy.
 */
POOL_API pool_status pool_pinned_destroy(pool_pinned **pinned);

/* The memory, its size and device; NULL or 0 for NULL. */
POOL_API void *pool_pinned_data(const pool_pinned *pinned);
POOL_API uint64_t pool_pinned_bytes(const pool_pinned *pinned);
POOL_API pool_device *pool_pinned_device(const pool_pinned *pinned);

/* A device's memory, all in bytes. Set struct_size before the call. */
typedef struct pool_memory_info {
    size_t struct_size;
    uint64_t free_bytes; /* as the driver says, for all processes */
    uint64_t total_bytes;
    uint64_t used_bytes;      /* in buffers of the library */
    uint64_t used_high_bytes; /* the most since the start or the last reset */
    uint64_t reserved_bytes;  /* taken from the device for buffers, used or kept */
    uint64_t reserved_high_bytes;
    uint64_t release_threshold;     /* unused bytes above this go back to the device */
    uint64_t pinned_bytes;          /* by pool_pinned_… through this device */
    uint64_t staging_bytes;         /* pinned, for copies of pageable memory */
    uint64_t withheld_bytes;        /* secrets that could not be overwritten, see above */
    uint64_t buffers;               /* handles, slices and adopted ones included */
    int32_t memory_pool;            /* 1: stream-ordered, 0: plain allocations */
    uint64_t pinned_deferred_bytes; /* freed by pool_pinned_destroy and not yet given back */
} pool_memory_info;

/* Fills `info` (struct_size set); asks the driver for what is free and reserved. */
POOL_API pool_status pool_memory_get_info(pool_device *device, pool_memory_info *info);

/* Makes the high marks start again from what is used and reserved now. */
POOL_API pool_status pool_memory_reset_high_water(pool_device *device);

/*
 * How many unused bytes the device's pool keeps for later buffers; UINT64_MAX, which is where it
 * starts, is all of them. POOL_ERR_UNSUPPORTED without memory pools.
 */
POOL_API pool_status pool_memory_set_threshold(pool_device *device, uint64_t bytes);

/*
 * Gives unused memory back to the device until at most `keep_bytes` are reserved or nothing is
 * unused, frees idle staging buffers, and gives back pinned memory and modules that were freed
 * while work was unfinished. Waits for frees that are under way, and with them for that work.
 */
POOL_API pool_status pool_memory_trim(pool_device *device, uint64_t keep_bytes);

/*
 * The raw memory pool of the device, for callers who allocate from it themselves. It stays the
 * library's. POOL_ERR_UNSUPPORTED without memory pools.
 */
POOL_API pool_status pool_memory_handle(pool_device *device, CUmemoryPool *handle);

#ifdef __cplusplus
}
#endif

#endif
