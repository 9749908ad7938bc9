/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of time for the caller's trace hook and for profilers; see <devicepool/trace.h>.
 */
#ifndef DRIVER_TRACE_H
#define DRIVER_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <devicepool/trace.h>

/* A range that has begun; on the stack of the thread that ends it. */
struct trace_range {
    pool_trace_event event; /* id 0: nobody listens */
    pool_trace_hook hook;   /* the one that saw it begin; NULL: none */
    void *user;
    bool is_pushed; /* to the profiler */
};

/* 1 when a hook or a profiler listens. Both are known from the first range or hook on. */
extern atomic_int trace_is_on;

/* Use trace_begin and trace_end, which are inline and cost one load when nobody listens. */
void trace_range_begin(struct trace_range *range, pool_trace_kind kind, const char *name,
    const char *subject, int device, uint64_t items);
void trace_range_end(struct trace_range *range, pool_status status);

/* `name` and `subject` must outlive the range; `device` is an ordinal, or -1. */
static inline void trace_begin(struct trace_range *range, pool_trace_kind kind, const char *name,
    const char *subject, int device, uint64_t items)
{
    range->event.id = 0;
    if (atomic_load_explicit(&trace_is_on, memory_order_relaxed))
        trace_range_begin(range, kind, name, subject, device, items);
}

/* Returns `status`. */
static inline pool_status trace_end(struct trace_range *range, pool_status status)
{
    if (range->event.id)
        trace_range_end(range, status);
    return status;
}

#endif
