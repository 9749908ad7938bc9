/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durable memory: device memory that outlives the process of an isolated device (a worker). It is
 * an exported allocation whose descriptor this process holds; a replacement imports it and maps it
 * at the same address. A kernel that faulted may have written anywhere, so only sealed memory is
 * restored, whose digest was taken when its contents were complete, and is compared again.
 */
#ifndef MEMORY_DURABLE_H
#define MEMORY_DURABLE_H

#include "pool/memory/memory.h"

struct memory_durable {
    struct memory_durable *next; /* guarded by memory->durable_lock */
    CUdeviceptr address;
    uint64_t bytes; /* of the mapping */
    CUmemGenericAllocationHandle allocation;
    int descriptor;    /* -1: it is ordinary memory after all, or released */
    bool is_mapped;    /* by the process below */
    unsigned renewals; /* of the device when it was mapped */
    bool is_sealed;
    uint64_t digested_bytes;
    uint64_t digest;
};

/* For an allocation, to be freed with memory_durable_free; NULL: the device has no durable memory,
 * or there is no host memory. */
struct memory_durable *memory_durable_new(const struct device_memory *memory);
/* Closes the descriptor, without a driver call: it is ordinary memory then. NULL: no-op. */
void memory_durable_close(struct device_memory *memory, struct memory_durable *durable);
/* The same for memory that must not be unmapped: its mapping ends with the process. */
void memory_durable_abandon(struct device_memory *memory, struct memory_durable *durable);
/*
 * Frees the object, whose memory was released or closed. What was closed while the present process
 * maps it is unmapped by memory_durable_unmap_closed: a lost device cannot be entered, but another
 * thread may be giving it its new mappings.
 */
void memory_durable_free(struct device_memory *memory, struct memory_durable *durable);
/* Inside device_enter. */
void memory_durable_unmap_closed(struct device_memory *memory);
/* Without driver calls, as the process or its context ends. */
void memory_durable_forget_closed(struct device_memory *memory);

static inline bool memory_durable_is(const struct memory_durable *durable)
{
    return durable && durable->descriptor >= 0;
}

/* Of all durable memory of the device. */
uint64_t memory_durable_bytes(struct device_memory *memory);

/* Inside device_enter: at least `bytes` bytes, usable on all streams. */
pool_cu_result memory_durable_allocate(
    struct device_memory *memory, struct memory_durable *durable, uint64_t bytes);
/* Inside device_enter, when nothing uses the memory any more. */
pool_status memory_durable_release(struct device_memory *memory, struct memory_durable *durable);

/* Inside the new context of a device whose process was replaced: maps what is sealed. What cannot
 * be mapped stays as it is; a failure means that the device was lost again. */
pool_status memory_durable_renew(struct device_memory *memory);

/*
 * The digest of device memory, by a kernel. Inside device_enter; `bytes` is rounded up to 16, which
 * the memory must have.
 */
pool_status memory_digest(
    struct device_memory *memory, CUdeviceptr address, uint64_t bytes, uint64_t *digest);
void memory_digest_free(struct device_memory *memory, int driver_alive);

/*
 * Seals the memory of a buffer, whose contents are complete and do not change from now on. No-op
 * for ordinary memory and where the digest cannot be taken: what is not sealed is lost with the
 * process. Inside device_enter.
 */
void memory_seal(pool_buffer *buffer);
bool memory_is_sealed(const pool_buffer *buffer);
/* Whether a sealed buffer is mapped in the new process and has the contents that it had. If not, it
 * is unmapped. Inside the device's new context; a failure means that the device was lost again. */
pool_status memory_verify(pool_buffer *buffer, bool *is_same);

#endif
