/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: work that is captured from a stream once and launched many times with one call.
 *
 * From pool_stream_begin_capture to pool_stream_end_capture, what is enqueued on the stream is not
 * executed but recorded. The result is a graph, which launches all of it again: with the addresses
 * and arguments of the capture, and the contents that memory has at the launch.
 *
 * What can be captured: pool_launch, fills, copies within a device, copies of pinned host memory,
 * events, fork and join with other streams of the device, and the library's operations with
 * `is_async` whose operands are in device memory and that need neither scratch memory nor a step on
 * the host. MSMs and NTTs take their scratch memory from pool_exec.workspace. Tables of a domain
 * must be on the device before: pool_ntt_warm_up, or an earlier call.
 *
 * Not possible: waits and queries of the stream, host functions, allocations and frees in the order
 * of the stream, copies of pageable memory, checks of inputs, results in host memory, work on
 * another device. Such a call and the end of the capture fail with POOL_ERR_UNSUPPORTED, so that no
 * graph lacks a part of the captured work.
 *
 * A graph keeps properties of its capture. Its launches have the slices (pool_exec.slice_ns), the
 * number of multiprocessors and the priority of the streams of the capture, whatever stream and
 * lease they are launched on later; drivers before CUDA 11.8 give them the priority of that stream.
 * Its memory is not charged to the lease of a launch: also memory that was allocated under a lease
 * stays with the graph's owner after the release. A graph is launched as a whole: `is_async` calls
 * and graphs have no limit on what they enqueue ahead of the device.
 *
 * A graph has no memory of the library, neither scratch memory nor staging: operands and results
 * are in device or pinned memory of the caller, and every launch writes its results to the same
 * place. Copies that read them are enqueued behind the launch on the same stream; the next launch
 * goes to that stream, or to one that waits for those copies, and then overwrites nothing that has
 * not been read.
 *
 * Buffers, pinned memory, modules, domains and whatever else the captured work uses must not be
 * destroyed before the graph. While a device has a graph or a capture, the library evicts none of
 * its own code and tables from that device.
 */
#ifndef DEVICEPOOL_GRAPH_H
#define DEVICEPOOL_GRAPH_H

#include <devicepool/device.h>
#include <devicepool/status.h>
#include <devicepool/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An instantiated graph of one device. Any thread may launch it, also several concurrently: its
 * launches are executed one after another. Its update and its destruction must not race with
 * another use.
 */
typedef struct pool_graph pool_graph;

/*
 * Begins to capture the stream. Streams that wait for an event of the capture (pool_stream_fork,
 * pool_stream_wait_event) become part of it until it ends; work of before the capture is executed
 * as usual. Other streams and threads are not affected; pool_device_synchronize fails with
 * POOL_ERR_BUSY meanwhile. Errors: INVALID_ARGUMENT (the stream is being captured, belongs to a
 * lease, is a default stream, or was created with POOL_STREAM_BLOCKING), UNSUPPORTED (the driver
 * has no graphs).
 */
POOL_API pool_status pool_stream_begin_capture(pool_stream *stream);

/*
 * Ends the capture that began on the stream, and instantiates the graph, which the caller destroys
 * with pool_graph_destroy before the pool. With `graph` NULL the capture is abandoned. The capture
 * is over also after a failure, unless the driver could not end it: then the call can be repeated.
 * Like other calls that wait, it also reports the failure of work that was enqueued before.
 * Errors: INVALID_ARGUMENT (no capture began on this stream; a stream of the capture was not
 * joined), UNSUPPORTED (a call of the capture was refused).
 */
POOL_API pool_status pool_stream_end_capture(pool_stream *stream, pool_graph **graph);

/*
 * Enqueues the graph's work on a stream of its device; NULL is the default stream. Does not wait.
 * Errors: WRONG_DEVICE, also for a stream of another part of the graph's GPU: a graph runs on the
 * multiprocessors of its capture; UNSUPPORTED (the stream is being captured).
 */
POOL_API pool_status pool_graph_launch(pool_graph *graph, pool_stream *stream);

/*
 * Ends the capture that began on the stream and replaces the graph's arguments and addresses by the
 * captured ones; launches that are already enqueued are not affected. INVALID_ARGUMENT if the
 * captured work differs in number, kind or order: the graph is then as before. Capture it on
 * streams of the same priorities; a driver may reject others in the same way. Other errors as of
 * pool_stream_end_capture; UNSUPPORTED if the driver is older than CUDA 12.
 */
POOL_API pool_status pool_graph_update(pool_graph *graph, pool_stream *stream);

/*
 * Destroys the graph and sets *graph to NULL; NULL or a pointer to NULL is a no-op. Launches that
 * are enqueued are completed. A driver error is returned, and the object is destroyed nevertheless,
 * unless *graph is still set: then the device's context could not be entered and the call can be
 * repeated.
 */
POOL_API pool_status pool_graph_destroy(pool_graph **graph);

/* The graph's device; NULL for NULL. */
POOL_API pool_device *pool_graph_device(const pool_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
