/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of time; the hook and its user change together under a lock, which only ranges take.
 */
#include "driver/trace.h"

#include "base/clock.h"
#include "base/lock.h"
#include "driver/nvtx.h"

atomic_int trace_is_on = 1; /* until the first range has looked for a profiler */

static struct base_lock trace_lock = BASE_LOCK_INIT;
static pool_trace_hook trace_hook; /* guarded by trace_lock */
static void *trace_user;           /* guarded by trace_lock */
static atomic_uint_fast64_t last_id;
static _Thread_local uint64_t current_id __attribute__((tls_model("initial-exec")));

void pool_trace_set(pool_trace_hook hook, void *user)
{
    base_lock(&trace_lock);
    trace_hook = hook;
    trace_user = user;
    atomic_store(&trace_is_on, hook || nvtx_is_attached());
    base_unlock(&trace_lock);
}

/* Reads the hook. Without hook and profiler the ranges that follow cost one load. */
static bool find_listeners(struct trace_range *range, bool has_profiler)
{
    base_lock(&trace_lock);
    range->hook = trace_hook;
    range->user = trace_user;
    if (!trace_hook && !has_profiler)
        atomic_store(&trace_is_on, 0);
    base_unlock(&trace_lock);
    return range->hook || has_profiler;
}

void trace_range_begin(struct trace_range *range, pool_trace_kind kind, const char *name,
    const char *subject, int device, uint64_t items)
{
    bool has_profiler = nvtx_is_attached();

    if (!find_listeners(range, has_profiler))
        return;
    range->event = (pool_trace_event){
        .struct_size = sizeof(range->event),
        .kind = kind,
        .id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1,
        .parent = current_id,
        .time_ns = base_clock_ns(),
        .name = name,
        .subject = subject ? subject : "",
        .device = device,
        .items = items,
    };
    current_id = range->event.id;
    range->is_pushed = has_profiler;
    if (has_profiler)
        nvtx_push(&range->event);
    if (range->hook)
        range->hook(range->user, &range->event);
}

void trace_range_end(struct trace_range *range, pool_status status)
{
    range->event.is_end = 1;
    range->event.status = status;
    range->event.time_ns = base_clock_ns();
    current_id = range->event.parent;
    if (range->hook)
        range->hook(range->user, &range->event);
    if (range->is_pushed)
        nvtx_pop();
}
