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
#include <devicepool/check.h>
#include <devicepool/lease.h>
#include <devicepool/memory.h>
#include <devicepool/pool.h>
#include <devicepool/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Zero is the default of every member but struct_size; a NULL pool_exec means all defaults. The
 * call copies the struct. An operation's comment says which members it does not support: values
 * other than the default fail with POOL_ERR_UNSUPPORTED, unsupported flags of `checks` with
 * POOL_ERR_INVALID_ARGUMENT.
 */
typedef struct pool_exec {
    size_t struct_size;
    /* NULL: the device of an MSM's bases, else the device that the calling thread has bound. */
    pool_device *device;
    pool_stream *stream; /* of that device; NULL: its default stream */
    /*
     * 0: the results are complete when the call returns. 1: the work is enqueued on `stream`.
     * Device memory and pinned host memory must then stay valid until the stream has completed the
     * work, and only then are results there valid. Pageable host memory has been read, and results
     * in it are written, when the call returns: those calls wait for the device. The first use of
     * a field, curve, domain or parameter set on a device, which compiles its kernels, and checks
     * block with 1 as well. Faults of the device are reported by the stream. After a failure of
     * the call itself no enqueued work accesses the caller's memory any more.
     */
    int32_t is_async;
    /* 1: computed in C on the host, without a device; all spans must be in host memory. Poseidon
     * only. The library never chooses this itself. */
    int32_t on_host;
    uint32_t checks;   /* POOL_CHECK_… of the inputs; POOL_CHECK_NONE: none. Checks block. */
    uint32_t reserved; /* 0 */
    /*
     * Device memory for intermediate results, none of it in an input or output: as many bytes as
     * the operation's ..._workspace function reports without a lease for the same params, spans,
     * checks and memory_limit, unless its comment asks for less, aligned to 256 bytes. The budget
     * of a lease does not limit the chunks of a call with a workspace. It must stay valid until the
     * stream has completed the work. NULL: allocated in the order of the stream and freed again.
     */
    pool_buffer *workspace;
    /*
     * Bytes of device memory that the call may allocate, besides spans and workspace; 0: no limit.
     * Smaller limits lead to smaller chunks; POOL_ERR_OUT_OF_DEVICE_MEMORY when the smallest chunk
     * needs more. Kernels and tables, which stay on the device, do not count.
     */
    uint64_t memory_limit;
    /* Examined before each chunk; POOL_ERR_CANCELLED once requested. Results written so far are
     * incomplete. NULL: none. */
    pool_cancel *cancel;
    /*
     * Called on the calling thread after each chunk, the last time with done == total. `done` is
     * the amount of work that has been enqueued or, with is_async 0, may have been completed, in
     * items of the operation. It must not use `stream`. NULL: none.
     */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    /*
     * The lease that the call runs under: its device memory is charged to the lease's budget and
     * limited by it, as if `memory_limit` were what is left of the budget. `device` NULL is then
     * the lease's first device, `stream` NULL the lease's stream of the device. NULL: no lease.
     * Errors: POOL_ERR_WRONG_DEVICE for a device that the lease does not have,
     * POOL_ERR_INVALID_ARGUMENT for a lease that has been released.
     */
    pool_lease *lease;
    /*
     * One job over several devices of a pool: the `device_count` devices of `devices`, or, where
     * that is NULL, the first ones of `lease`; 0: one device. The library divides the job, runs
     * each part on its device's default stream (or the lease's stream of that device) and combines
     * the results. Spans are in host memory, of which each device transfers its own part, or
     * POOL_MEMORY_SHARDED. `memory_limit` holds for each device. A failure on one device ends the
     * parts of the others and is the call's. `device` and `workspace` must be NULL, on_host 0.
     * docs/several-devices.md says how each operation is divided; the others fail with
     * POOL_ERR_UNSUPPORTED.
     *
     * `stream`, which belongs to the first device, is then the job's place in the order of work on
     * all devices: every part starts after the work that the stream has, and with is_async the
     * stream's later work starts after every part. With `stream` NULL these are the lease's
     * streams or the default streams, and the same holds for that of the first device. MSMs that
     * are split, trees whose levels are in host memory, and commitments have steps on the host:
     * they fail with POOL_ERR_UNSUPPORTED where is_async is 1, commitments also where `stream` is
     * given.
     */
    pool_device *const *devices;
    uint32_t device_count;    /* at most 64 */
    uint32_t workspace_count; /* of `workspaces`: device_count, or 0 */
    /*
     * A workspace for each of the devices, in their order, with the bytes that the operation's
     * ..._workspace function reports for it without a lease: the call then allocates nothing on any
     * device but kernels and tables, and the budget of a lease does not limit it. NULL for a device
     * that needs none. POOL_ERR_WRONG_DEVICE: memory of another device. POOL_ERR_INVALID_ARGUMENT:
     * another count, a workspace that is missing, too small, not aligned to 256 bytes, or that
     * overlaps a span. NULL, with workspace_count 0: allocated and freed again.
     */
    pool_buffer *const *workspaces;
    /*
     * The call returns after this time, and 0.2 s that it has to end by itself, although a call of
     * the driver does not return: POOL_ERR_TIMEOUT. The work is done by a thread of the library,
     * which is cancelled at the deadline. If it does not end, it is left behind: the device in
     * whose call it is gets quarantined (pool_device_probe and pool_device_resume take it into
     * service again, pool_device_abandon gives it up), or its worker process is ended; other
     * devices are not affected. The memory of spans, objects, and whatever else the copied structs
     * point to must then stay valid until pool_device_wait_drained has succeeded, as with is_async;
     * handles that the call would have returned are destroyed. `progress` is called on the calling
     * thread, and not after the return. 0: none. Functions that only report sizes ignore it.
     */
    uint64_t timeout_ns;
    /* Filled when the call fails, with what pool_last_error is then; see status.h. NULL: none. */
    pool_error_slot *error;
    /* The longest time that one launch of this call should fill a device; UINT64_MAX: no limit. 0:
     * that of the pool, pool_params.slice_ns. */
    uint64_t slice_ns;
} pool_exec;

/*
 * The warm-ups of operations (pool_msm_warm_up and others) take a pool_exec as well: of its members
 * they support `device`, `cancel`, `timeout_ns` and `lease`, whose first device it then is. NULL:
 * the device that the calling thread has bound. A cancellation is examined between programs.
 */

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_exec_init(pool_exec *exec, size_t struct_size);

/*
 * Measures the rates (device.h) of all devices of a pool that are POOL_DEVICE_READY, one after
 * another, and sets them: Poseidon permutations over a field of 256 bits, whose duration, as that
 * of most kernels of MSMs and transforms, is the one of their multiplications. Jobs over devices of
 * different speed are then divided by what was measured. Blocks for some milliseconds per device,
 * at the first call also until the kernel is compiled; some MiB are allocated for the time. No
 * other work should run on the devices meanwhile. The rates keep their sum, so that they compare
 * with those of the devices that were not measured. After a failure no rate has changed. Any
 * thread.
 */
POOL_API pool_status pool_measure_rates(device_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
