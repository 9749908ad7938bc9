/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One job over several devices: which they are, the items of each one's part, and the threads that
 * run the parts. An operation divides its spans, and computes each part as a call on one device.
 */
#ifndef DEVICES_H
#define DEVICES_H

#include "zk/operation/exec.h"

struct devices {
    uint32_t count;
    pool_device *device[EXEC_MAX_DEVICES];
    uint64_t rate[EXEC_MAX_DEVICES]; /* relative speeds, up to POOL_MAX_RATE */
};

/*
 * The devices that an exec with a device_count names, which exec_read has copied: up to
 * EXEC_MAX_DEVICES usable, different devices of one pool. POOL_ERR_INVALID_ARGUMENT otherwise.
 */
pool_status devices_read(const char *call, const pool_exec *exec, struct devices *devices);

/* The same for functions that report what shards have, which need a device_count. */
pool_status devices_read_for_shards(
    const char *call, const pool_exec *exec, struct devices *devices);

/* The exec of a call on device `index` alone, with that device's workspace; the stream, if there is
 * one, is the first device's. */
pool_exec devices_exec(const struct devices *devices, const pool_exec *exec, uint32_t index);

/*
 * Fails where a workspace of exec->workspaces, if there are any, is missing though the device needs
 * memory, is memory of another device, has less than needed[i] bytes or is misaligned.
 */
pool_status devices_check_workspaces(
    const char *call, const struct devices *devices, const pool_exec *exec, const uint64_t *needed);

/* ---- items ----------------------------------------------------------------------------------- */

/*
 * Pure: part i has the items first[i] to first[i + 1] of `total`, by the rates. All but the last
 * part are multiples of `multiple` items. first[0] to first[count] are set.
 */
void devices_split(
    const struct devices *devices, uint64_t total, uint64_t multiple, uint64_t *first);

/*
 * Fails unless `span` is in host memory, or sharded with one valid shard for each device. `name` is
 * the argument's. What one device's call checks (strides, alignment, owner) is left to that.
 */
pool_status devices_check_span(
    const char *call, const struct devices *devices, const pool_span *span, const char *name);

/* devices_split, but for a sharded span its shards' items. */
void devices_divide(
    const struct devices *devices, const pool_span *span, uint64_t multiple, uint64_t *first);

/* The items first[index] to first[index + 1] of a span in host memory, or the device's shard. */
pool_span devices_part(
    const pool_span *span, uint64_t item_bytes, uint32_t index, const uint64_t *first);

/* ---- streams --------------------------------------------------------------------------------- */

/*
 * The streams of a call that is asynchronous or has a stream, or whose parts meet: they access each
 * other's memory. With exec->stream, that stream on the first device and one of the library on each
 * of the others; without, the lease's stream or the default one of each device. The others start
 * after the work that the first one has. Any other call has none: nothing orders its parts.
 */
struct fork {
    uint32_t count; /* of devices; 0: none */
    bool joins;     /* unless each part waits for its work */
    pool_stream *stream[EXEC_MAX_DEVICES];
    struct stream_set *set[EXEC_MAX_DEVICES]; /* of streams of the library */
};
pool_status fork_open(const char *call, const struct devices *devices, const pool_exec *exec,
    bool parts_meet, struct fork *fork);
/*
 * Once the work is enqueued: later work on the first stream starts after that of the others. After
 * a failure, which is returned, the streams have nothing left to do. Not for a fork that could not
 * be opened.
 */
pool_status fork_close(struct fork *fork, pool_status status);

/* ---- parts ----------------------------------------------------------------------------------- */

struct parts {
    const char *call;      /* the public function */
    const pool_exec *exec; /* of the call */
    const struct devices *devices;
    uint64_t total; /* of the call's progress */
    /* No operand is in host memory: parts of an asynchronous call do not block their thread. */
    bool only_enqueues;
    bool meet; /* parts access each other's memory, see fork */
    /* Computes the part of device `index` by calls on that device with `exec`; any thread. */
    pool_status (*compute)(void *user, uint32_t index, const pool_exec *exec);
    void *user;
};

/*
 * Computes all parts at once on the calling thread and threads of the pool, because copies of
 * pageable memory block their thread; on fewer threads where no more can be started, each takes the
 * next part. Returns when all have ended, or, if the call is asynchronous, have been enqueued on
 * the streams of a fork. The first failure cancels the other parts, is returned and is the calling
 * thread's last error. Progress is that of all parts together, reported on the calling thread.
 */
pool_status parts_run(const struct parts *parts);

#endif
