/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of a device. A series is found in a list of a few dozen entries that only grows.
 */
#include "pool/device/counters.h"

#include <stdio.h>
#include <string.h>

#include <devicepool/metrics.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/params.h"
#include "pool/device/pool.h"

struct device_counters *device_counters(pool_device *device)
{
    return &device->counters;
}

void device_read_load(const pool_device *device, struct device_load *load)
{
    struct driver_load work = driver_work_load(&device->work);

    load->calls = atomic_load_explicit(&device->calls, memory_order_relaxed);
    load->busy_streams = work.streams;
    load->unfinished = work.items;
    load->launches = atomic_load_explicit(&device->work.launches, memory_order_relaxed);
}

/* pool_set_phase_timing */
enum { TIMES_PHASES = 1, TIMES_LAUNCHES = 2 };

int device_times_phases(const pool_device *device)
{
    return atomic_load_explicit(&device->pool->timing_level, memory_order_relaxed) >= TIMES_PHASES;
}

int device_times_launches(const pool_device *device)
{
    return atomic_load_explicit(&device->pool->timing_level, memory_order_relaxed) >=
           TIMES_LAUNCHES;
}

static void forget_longest(pool_device *device)
{
    struct counter_series *at =
        atomic_load_explicit(&device->counters.series, memory_order_acquire);

    for (; at; at = at->next)
        atomic_store_explicit(&at->longest, 0, memory_order_relaxed);
}

pool_status pool_set_phase_timing(device_pool *pool, int32_t level)
{
    pool_status status = base_check_pointers("pool_set_phase_timing", {"pool", pool});

    if (!status)
        status = base_check_ranges("pool_set_phase_timing", {"level", level, 0, TIMES_LAUNCHES});
    if (!status)
        status = device_pool_check(pool, DEVICE_USE_DRIVER);
    if (status)
        return status;
    for (size_t i = 0; i < pool->count && level == TIMES_LAUNCHES; i++)
        forget_longest(&pool->devices[i]);
    atomic_store(&pool->timing_level, level);
    return POOL_OK;
}

static int is_same(const struct counter_series *series, enum counter_kind kind,
    const char *operation, const char *name)
{
    return series->kind == kind && strcmp(series->operation, operation) == 0 &&
           strncmp(series->name, name, sizeof(series->name) - 1) == 0;
}

/* From `first` up to, not including, `end`. */
static struct counter_series *find(struct counter_series *first, const struct counter_series *end,
    enum counter_kind kind, const char *operation, const char *name)
{
    while (first != end && !is_same(first, kind, operation, name))
        first = first->next;
    return first == end ? NULL : first;
}

struct counter_series *counter_series_of(
    pool_device *device, enum counter_kind kind, const char *operation, const char *name)
{
    _Atomic(struct counter_series *) *list = &device->counters.series;
    struct counter_series *first = atomic_load_explicit(list, memory_order_acquire);
    struct counter_series *found, *made;

    found = find(first, NULL, kind, operation, name);
    if (found)
        return found;
    made = base_calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    made->kind = kind;
    made->operation = operation;
    strncpy(made->name, name, sizeof(made->name) - 1);
    made->next = first;
    while (!atomic_compare_exchange_weak_explicit(
        list, &made->next, made, memory_order_release, memory_order_acquire)) {
        /* Other threads have added series, perhaps this one. */
        found = find(made->next, first, kind, operation, name);
        if (found) {
            base_free(made);
            return found;
        }
    }
    return made;
}

void device_counters_free(struct device_counters *counters)
{
    struct counter_series *at = atomic_load(&counters->series);

    while (at) {
        struct counter_series *next = at->next;

        base_free(at);
        at = next;
    }
    atomic_store(&counters->series, NULL);
}

static void add(atomic_uint_fast64_t *counter, uint64_t amount)
{
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

void device_count_copy(pool_device *device, enum counter_copy kind, uint64_t bytes)
{
    add(&device->counters.copies[kind].count, 1);
    add(&device->counters.copies[kind].bytes, bytes);
}

pool_status device_count_wait(
    pool_device *device, enum counter_wait kind, uint64_t begin_ns, pool_status status)
{
    if (status)
        return status;
    add(&device->counters.waits[kind].count, 1);
    add(&device->counters.waits[kind].nanoseconds, base_clock_ns() - begin_ns);
    return POOL_OK;
}

void device_pool_count_fault(device_pool *pool, const pool_fault *fault, const char *code)
{
    int device = fault->device ? (int)fault->device->properties.index : -1;
    struct device_fault_count *at = pool->faults;

    pthread_mutex_lock(&pool->state_lock);
    while (
        at < pool->faults + pool->fault_kinds &&
        (at->device != device || at->error_class != fault->error_class || strcmp(at->code, code)))
        at++;
    if (at == pool->faults + DEVICE_FAULT_KINDS)
        at--;
    else if (at == pool->faults + pool->fault_kinds) {
        bool is_last = ++pool->fault_kinds == DEVICE_FAULT_KINDS;

        at->device = is_last ? -1 : device;
        at->error_class = fault->error_class;
        snprintf(at->code, sizeof(at->code), "%s", is_last ? "other" : code);
    }
    at->count++;
    pthread_mutex_unlock(&pool->state_lock);
}

size_t device_pool_read_faults(
    device_pool *pool, struct device_fault_count counts[DEVICE_FAULT_KINDS])
{
    size_t kinds;

    pthread_mutex_lock(&pool->state_lock);
    kinds = pool->fault_kinds;
    memcpy(counts, pool->faults, kinds * sizeof(*counts));
    pthread_mutex_unlock(&pool->state_lock);
    return kinds;
}

void device_operation_begin(struct device_operation *call, pool_device *device,
    const char *operation, const char *subject, uint64_t items)
{
    call->series = counter_series_of(device, COUNTER_OPERATION, operation, subject);
    call->begin_ns = base_clock_ns();
    if (call->series)
        add(&call->series->items, items);
    trace_begin(
        &call->range, POOL_TRACE_OPERATION, operation, subject, device->properties.ordinal, items);
}

pool_status device_operation_end(struct device_operation *call, pool_status status)
{
    trace_end(&call->range, status);
    if (call->series) {
        add(&call->series->nanoseconds, base_clock_ns() - call->begin_ns);
        add(&call->series->calls, 1);
        if (status)
            add(&call->series->failures, 1);
    }
    return status;
}
