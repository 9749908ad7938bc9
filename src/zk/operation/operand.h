/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands of operations: the execution target, checks of spans, and
 * stream-ordered scratch memory.
 */
#ifndef OPERAND_H
#define OPERAND_H

#include <stdbool.h>

#include <devicepool/exec.h>
#include <devicepool/span.h>

#include "pool/memory/scratch.h"
#include "zk/field/field.h"

/* Where an operation runs, and the field that it computes in. */
struct exec_target {
    pool_device *device;
    pool_stream *stream;         /* never NULL */
    const pool_field *field;     /* NULL where the operation has none or several */
    pool_lease *lease;           /* scratch memory is charged to it; NULL: none */
    struct workspace *workspace; /* scratch memory is part of it; NULL: it is allocated */
    struct slices *slices;       /* see slices.h; NULL: the host does not wait between launches */
    uint64_t slice_ns;           /* of launches that fill the device, see exec_share */
};

/* exec->device NULL: the device that the thread has bound; exec->stream NULL: its default stream.
 * Leaves the field alone. */
pool_status exec_target_init(struct exec_target *target, const pool_exec *exec);

/*
 * Ends a call that has enqueued its work: waits for it, unless the call is asynchronous and nothing
 * failed. After a failure no work may still access the caller's memory.
 */
pool_status exec_target_end(const struct exec_target *target, int is_async, pool_status status);

/* The items of a span: "elements of bn254_fr". */
struct span_item {
    uint64_t bytes;
    const char *kind;     /* plural noun */
    const char *name;     /* of the field or curve */
    bool any_host_stride; /* in host memory, where others are multiples of 4 too */
};

/*
 * Fails for a span that is NULL, an unknown form or memory space, a stride that is too small or not
 * a multiple of 4, an extent beyond the address space, data at NULL, and device memory that is not
 * aligned to 4 bytes or belongs to another device: a kernel would fault, which ends the process's
 * use of every GPU. Inside or outside of device_enter.
 */
pool_status span_check(const struct exec_target *target, const pool_span *span,
    const struct span_item *item, const char *what);
/* Checks only form, memory space, stride and extent. */
pool_status span_check_shape(const pool_span *span, const struct span_item *item, const char *what);

static inline uint64_t span_stride(const pool_span *span, uint64_t item_bytes)
{
    return span->stride ? span->stride : item_bytes;
}

/* Bytes from the start of the first item to the end of the last; span_check has checked that
 * they do not overflow. */
static inline uint64_t span_extent(const pool_span *span, uint64_t item_bytes)
{
    return span->count ? (span->count - 1) * span_stride(span, item_bytes) + item_bytes : 0;
}

static inline unsigned char *span_item_at(
    const pool_span *span, uint64_t item_bytes, uint64_t index)
{
    return (unsigned char *)span->data + index * span_stride(span, item_bytes);
}
/* `count` items of a span from item `first` on. */
pool_span span_slice(const pool_span *span, uint64_t item_bytes, uint64_t first, uint64_t count);

/* Whether the extents of two spans have a byte in common; those of shards are compared by the calls
 * of their devices. */
bool spans_overlap(const pool_span *a, uint64_t a_bytes, const pool_span *b, uint64_t b_bytes);

/* Refuses a workspace that has a byte in common with a span of `what`. */
pool_status workspace_check_overlap(const char *call, const pool_buffer *workspace,
    const pool_span *span, uint64_t item_bytes, const char *what);

/* Scratch memory for work that is enqueued later on the target's stream:
 * memory_scratch_bytes(bytes) of it. */
pool_status scratch_allocate(
    const struct exec_target *target, uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address);
/* The same of memory that is free: POOL_ERR_OUT_OF_DEVICE_MEMORY where resident objects would have
 * to be evicted for it, or other memory released. */
pool_status scratch_spare(
    const struct exec_target *target, uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address);
/* Frees it in the order of the stream, whatever the status; returns the first failure. */
pool_status scratch_free(
    const struct exec_target *target, pool_buffer **buffer, pool_status status);

/* ---- spans of elements of the target's field --------------------------------------------------
 */

/* span_check for elements; `what` is the span's name in messages. */
pool_status elements_check(
    const struct exec_target *target, const pool_span *span, const char *what);
/* Fails when the extents of both overlap, unless both are the same elements and that is allowed. */
pool_status elements_check_overlap(
    const pool_field *field, const pool_span *in, const pool_span *out, int same_is_allowed);
/* Whether they are packed and, on the device, aligned for vector loads. */
bool elements_are_packed(const pool_field *field, const pool_span *span);

#endif
