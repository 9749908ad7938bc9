/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where and how an operation runs: one struct for MSM, NTT, vectors and Poseidon. The params of
 * each operation define what it computes.
 */
#ifndef DEVICEPOOL_EXEC_H
#define DEVICEPOOL_EXEC_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/cancel.h>
#include <devicepool/lease.h>
#include <devicepool/memory.h>
#include <devicepool/pool.h>
#include <devicepool/span.h>
#include <devicepool/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Zero is the default of every member but struct_size; a NULL pool_exec means all defaults. The
 * call copies the struct. An operation's comment says which members it does not support: values
 * other than the default fail with POOL_ERR_UNSUPPORTED, unsupported flags of `checks` with
 * POOL_ERR_INVALID_ARGUMENT. docs/api-conventions.md ("Where an operation runs") has the rules of
 * asynchronous calls, workspaces, several devices and timeouts, and which members go together.
 */
typedef struct pool_exec {
    size_t struct_size;
    pool_device *device; /* NULL: that of the bases, of the lease, or bound by the calling thread */
    pool_stream *stream; /* of `device`; NULL: the lease's stream, else the default stream */
    int32_t is_async;    /* 1: the work is enqueued on `stream`; 0: it is complete at the return */
    int32_t on_host;     /* 1: computed in C, all spans in host memory; Poseidon only */
    uint32_t checks;     /* POOL_CHECK_… of the inputs, which block; POOL_CHECK_NONE: none */
    uint32_t reserved;   /* 0 */
    /* Device memory for intermediate results: the bytes that the operation's ..._workspace function
     * reports, aligned to 256. NULL: allocated in the order of the stream and freed again. */
    pool_buffer *workspace;
    uint64_t memory_limit; /* bytes of device memory that the call may allocate; 0: no limit */
    /* Examined before each chunk and, in blocking calls, after each slice (pool_params.slice_ns):
     * POOL_ERR_CANCELLED, and what the call writes to, operands in place included, has undefined
     * contents, as after any failure. NULL: none. */
    pool_cancel *cancel;
    /* Called on the calling thread after each chunk, the last time with done == total, in items of
     * the operation. It must not use `stream`. NULL: none. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    pool_lease *lease; /* its budget is charged for the call's memory and limits it. NULL: none */
    /* One job over several devices: over the `device_count` devices of `devices`, or, where that is
     * NULL, the first ones of `lease`. 0: one device, `device`. */
    pool_device *const *devices;
    uint32_t device_count;          /* at most 64 */
    uint32_t workspace_count;       /* of `workspaces`: device_count, or 0 */
    pool_buffer *const *workspaces; /* one for each device in their order, as `workspace` */
    uint64_t timeout_ns;    /* POOL_ERR_TIMEOUT 0.2 s after this time at the latest; 0: none */
    pool_error_slot *error; /* filled when the call fails, as pool_last_error; see status.h */
    /* The longest time that one launch of this call should fill a device; a blocking call enqueues
     * at most two of them ahead. 0: as the pool, pool_params.slice_ns. UINT64_MAX: no limit.
     */
    uint64_t slice_ns;
} pool_exec;

/*
 * The warm-ups of operations (pool_msm_warm_up and others) take a pool_exec as well: of its members
 * they support `device`, `cancel`, `timeout_ns` and `lease`, whose first device it then is. NULL:
 * the device that the calling thread has bound. A cancellation is examined between programs.
 */

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_exec_init(pool_exec *exec, size_t struct_size);

#ifdef __cplusplus
}
#endif

#endif
