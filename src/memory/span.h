/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operations share about their operands: where they run, spans checked before a kernel
 * sees them, and memory that lives in the order of a stream.
 */
#ifndef MEMORY_SPAN_H
#define MEMORY_SPAN_H

#include <stdbool.h>

#include <devicepool/memory.h>
#include <devicepool/span.h>

/* Where an operation runs. */
struct memory_site {
    pool_device *device;
    pool_stream *stream; /* never NULL */
};

/* `wanted` NULL: the device that the thread has bound; `stream` NULL: its default stream. */
pool_status memory_site_init(
    struct memory_site *site, pool_device *wanted, const pool_stream *stream);

/*
 * The end of a call that has enqueued its work: waits for it, unless the call is asynchronous and
 * all went well. After a failure nothing may still read or write the caller's memory.
 */
pool_status memory_site_end(const struct memory_site *site, int is_async, pool_status status);

/* What the items of a span are: "elements of bn254_fr". */
struct memory_item {
    uint64_t bytes;
    const char *kind; /* in the plural */
    const char *name; /* of the field or curve */
};

/*
 * Refuses a span that is NULL, a form or place that is none, a stride that is too small or no
 * multiple of 4, an extent beyond the address space, data at NULL; and of device memory what is not
 * aligned to 4 bytes or not memory of a device: a kernel would fault, and that is the end of the
 * process. Inside or outside of device_enter.
 */
pool_status memory_span_check(const struct memory_site *site, const pool_span *span,
    const struct memory_item *item, const char *what);
/* Of these only form, place, stride and extent: the data is not looked at. */
pool_status memory_span_check_shape(
    const pool_span *span, const struct memory_item *item, const char *what);

static inline uint64_t memory_span_stride(const pool_span *span, uint64_t item_bytes)
{
    return span->stride ? span->stride : item_bytes;
}

/* Bytes from the first item's start to the last one's end; the check has seen that they fit. */
static inline uint64_t memory_span_extent(const pool_span *span, uint64_t item_bytes)
{
    return span->count ? (span->count - 1) * memory_span_stride(span, item_bytes) + item_bytes : 0;
}

/* Whether any byte may belong to both. */
bool memory_spans_overlap(
    const pool_span *a, uint64_t a_bytes, const pool_span *b, uint64_t b_bytes);

/* There for what is enqueued later on the site's stream. */
pool_status memory_temporary(
    const struct memory_site *site, uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address);
/* Gives back in the order of the stream, whatever the status; returns the first failure. */
pool_status memory_temporary_free(
    const struct memory_site *site, pool_buffer **buffer, pool_status status);

#endif
