/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory: ranges of addresses, physical memory, and mappings of the one to the other. A
 * buffer grows without being copied when its addresses are reserved first and memory is mapped as
 * it is needed; physical memory can be shared with other processes as a file descriptor.
 *
 * Two handles: a pool_physical is memory without addresses, a pool_range is addresses without
 * memory. A mapping joins them and keeps the physical memory alive, so that its handle can be
 * destroyed at once; pool_range_buffer makes mapped addresses a pool_buffer, which every operation
 * and copy of the library accepts.
 *
 * Sizes and offsets are multiples of the device's granularity (2 MiB on every GPU so far).
 * Functions that create something round sizes up to it.
 *
 * Accounting. Physical memory counts as used memory of its device (pool_memory_info.used_bytes and
 * physical_bytes) and against the memory limit until neither a handle nor a mapping is left. It is
 * no part of a lease's budget. Imported memory is not counted: it was where it was created.
 *
 * All functions except queries of a property fail with POOL_ERR_UNSUPPORTED where the driver or the
 * device has no virtual memory. On devices in worker processes, memory is mapped to addresses of
 * its own device only, and when the process of a device has ended, its ranges and physical memory
 * fail with POOL_ERR_DEVICE_LOST and can only be destroyed. Every function leaves the calling
 * thread's current context unchanged.
 */
#ifndef DEVICEPOOL_VIRTUAL_H
#define DEVICEPOOL_VIRTUAL_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/device.h>
#include <devicepool/driver.h>
#include <devicepool/memory.h>
#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Physical memory of a device. Any number of threads may use it at once; only its destruction must
 * not race with another use of the handle. It must be destroyed before its pool. */
typedef struct pool_physical pool_physical;

/* Reserved addresses of a device. Thread-safety as for pool_physical. */
typedef struct pool_range pool_range;

/* The granularity of sizes and offsets on the device, in bytes; a power of two. */
POOL_API pool_status pool_virtual_granularity(pool_device *device, uint64_t *bytes);

/* Flags of physical memory. */
typedef enum pool_physical_flag {
    POOL_PHYSICAL_EXPORTABLE = 1 /* for pool_physical_export */
} pool_physical_flag;

/*
 * Allocates at least `bytes` bytes of the device's memory, with undefined contents. When the device
 * is full or the memory limit is reached, unused memory is released and resident objects are
 * evicted as for a buffer. Errors: INVALID_ARGUMENT (0 bytes, an unknown flag),
 * OUT_OF_DEVICE_MEMORY, UNSUPPORTED.
 */
POOL_API pool_status pool_physical_create(
    pool_device *device, uint64_t bytes, uint32_t flags, pool_physical **physical);

/*
 * A POSIX file descriptor of memory that was created with POOL_PHYSICAL_EXPORTABLE, for another
 * process (by SCM_RIGHTS or fork) or for another pool. It is close-on-exec; the caller closes it.
 * The memory exists as long as a descriptor, a handle or a mapping does, in any process. Who has
 * the descriptor can read and write the memory. Errors: INVALID_ARGUMENT (not exportable).
 */
POOL_API pool_status pool_physical_export(pool_physical *physical, int *descriptor);

/*
 * Memory that was exported by the same kind of driver. `device` is the device that it was created
 * on, as this process numbers it, and `bytes` is its pool_physical_bytes: the driver reports
 * neither. The descriptor stays the caller's and can be closed after the call. Errors:
 * INVALID_ARGUMENT (no descriptor of exported memory).
 */
POOL_API pool_status pool_physical_import(
    pool_device *device, int descriptor, uint64_t bytes, pool_physical **physical);

/*
 * Destroys the handle and sets *physical to NULL; NULL or a pointer to NULL is a no-op. The memory
 * is released when it is mapped nowhere any more. Errors as for pool_stream_destroy.
 */
POOL_API pool_status pool_physical_destroy(pool_physical **physical);

/* The size and the device; 0 or NULL for NULL. */
POOL_API uint64_t pool_physical_bytes(const pool_physical *physical);
POOL_API pool_device *pool_physical_device(const pool_physical *physical);

/* The raw handle, which the library releases. */
POOL_API pool_status pool_physical_handle(
    const pool_physical *physical, CUmemGenericAllocationHandle *handle);

/*
 * Reserves at least `bytes` bytes of addresses, without memory: far more than the device has is no
 * problem. Errors: INVALID_ARGUMENT (0 bytes), OUT_OF_DEVICE_MEMORY (no such range of addresses is
 * free), UNSUPPORTED.
 */
POOL_API pool_status pool_range_reserve(pool_device *device, uint64_t bytes, pool_range **range);

/*
 * Maps all of `physical` at byte `offset` of the range. The range's device, and the devices of
 * pool_range_grant_access, can read and write it when the call returns. The same memory may be
 * mapped several times. Memory of another device can be mapped if the range's device can address it
 * (pool_device_get_peer). Errors: INVALID_ARGUMENT (`offset` is no multiple of the granularity,
 * beyond the range, or mapped already), WRONG_DEVICE (of another driver), UNSUPPORTED.
 */
POOL_API pool_status pool_range_map(pool_range *range, uint64_t offset, pool_physical *physical);

/*
 * Ends the mappings in the `bytes` bytes from `offset`, which are multiples of the granularity; a
 * mapping must not be partly inside. Waits for the work of the devices that can address the range.
 * Work on raw streams that the library does not know must have finished. Errors: BUSY (a buffer of
 * pool_range_buffer overlaps these addresses; nothing was unmapped), INVALID_ARGUMENT.
 */
POOL_API pool_status pool_range_unmap(pool_range *range, uint64_t offset, uint64_t bytes);

/*
 * Lets further devices address the range: its present and later mappings. The range's own device
 * always can. Valid until the range is destroyed; a device that has access already is a no-op, as
 * is count 0. Errors: UNSUPPORTED (a device cannot address memory that is mapped, or is in another
 * worker process), WRONG_DEVICE (of another driver). After a failure no device was added.
 */
POOL_API pool_status pool_range_grant_access(
    pool_range *range, pool_device *const *devices, size_t count);

/*
 * A buffer of the mapped addresses from `offset`, in whole bytes. It does not own memory:
 * destroying it is cheap and does not wait, and while it exists its addresses cannot be unmapped.
 * Buffers of a range may overlap; one of more bytes takes the place of a smaller one when the range
 * has grown. Errors: INVALID_ARGUMENT (beyond the range, not mapped).
 */
POOL_API pool_status pool_range_buffer(
    pool_range *range, uint64_t offset, uint64_t bytes, pool_buffer **buffer);

/*
 * Ends all mappings, as pool_range_unmap does, releases the addresses and sets *range to NULL; NULL
 * or a pointer to NULL is a no-op. POOL_ERR_BUSY while a buffer of the range exists. If the driver
 * fails to wait for the work or to unmap, the range remains (*range is not NULL) and the call can
 * be repeated. After a sticky fault, in a forked child, for a lost device and at process exit only
 * host memory is freed.
 */
POOL_API pool_status pool_range_destroy(pool_range **range);

/* The first address, for kernels and raw driver calls; the size; the device (0 or NULL for NULL).
 */
POOL_API pool_status pool_range_address(const pool_range *range, CUdeviceptr *address);
POOL_API uint64_t pool_range_bytes(const pool_range *range);
POOL_API pool_device *pool_range_device(const pool_range *range);

/* The bytes that are mapped; 0 for NULL and in a forked child. */
POOL_API uint64_t pool_range_mapped_bytes(const pool_range *range);

#ifdef __cplusplus
}
#endif

#endif
