/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every metric of a pool. Values are read from counters that the layers below keep, family by
 * family, because a family's samples have to stand together.
 */
#include <devicepool/lease.h>
#include <devicepool/metrics.h>

#include <stdio.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "memory/memory.h"
#include "memory/resident.h"
#include "metrics/writer.h"
#include "module/counters.h"
#include "pool/counters.h"
#include "stream/phase.h"

/* One device as it is at the time of the call. */
struct device_reading {
    pool_device *device;
    char index[16]; /* the label of all its samples */
    pool_device_info info;
    pool_memory_info memory;
    struct device_load load;
    struct memory_resident_counts residents;
};

struct reading {
    device_pool *pool;
    pool_health_info health;
    size_t count;
    struct device_reading *devices;
};

static double load(const atomic_uint_fast64_t *counter)
{
    return (double)atomic_load_explicit(counter, memory_order_relaxed);
}

static double seconds(const atomic_uint_fast64_t *nanoseconds)
{
    return load(nanoseconds) / 1e9;
}

/* ---- devices --------------------------------------------------------------------------------- */

static void write_devices(struct metrics_writer *writer, const struct reading *reading)
{
    static const pool_device_state states[] = {POOL_DEVICE_READY, POOL_DEVICE_DRAINING,
        POOL_DEVICE_QUARANTINED, POOL_DEVICE_UNUSABLE, POOL_DEVICE_ABANDONED, POOL_DEVICE_POISONED};

    metrics_family(writer, "devicepool_device_info", "gauge", "The devices of the pool; always 1.");
    for (size_t i = 0; i < reading->count; i++) {
        const pool_device_info *info = &reading->devices[i].info;
        char chip[32];

        snprintf(chip, sizeof(chip), "%d.%d", info->compute_major, info->compute_minor);
        metrics_sample(writer, "",
            (const struct metrics_label[]){{"device", reading->devices[i].index},
                {"uuid", info->uuid}, {"pci", info->pci}, {"name", info->name},
                {"compute_capability", chip}},
            5, 1);
    }
    metrics_family(writer, "devicepool_device_state", "gauge",
        "1 for the state that the device is in, 0 for the others.");
    for (size_t i = 0; i < reading->count; i++)
        for (size_t j = 0; j < sizeof(states) / sizeof(states[0]); j++)
            metrics_sample(writer, "",
                (const struct metrics_label[]){
                    {"device", reading->devices[i].index}, {"state", device_state_name(states[j])}},
                2, reading->devices[i].info.state == states[j]);
}

/* ---- gauges per device ------------------------------------------------------------------------
 */

enum gauge_source { OF_INFO, OF_MEMORY, OF_LOAD, OF_RESIDENTS };

/* A member of a reading, by its offset. */
static const struct gauge {
    const char *name;
    const char *help;
    enum gauge_source source;
    size_t offset;
} gauges[] = {
    {"devicepool_device_memory_total_bytes", "Memory of the device.", OF_INFO,
        offsetof(pool_device_info, total_bytes)},
    {"devicepool_device_memory_free_bytes",
        "Free memory of the device as the driver last reported it, for all processes.", OF_INFO,
        offsetof(pool_device_info, free_bytes)},
    {"devicepool_memory_used_bytes", "Device memory in buffers of the pool.", OF_MEMORY,
        offsetof(pool_memory_info, used_bytes)},
    {"devicepool_memory_used_high_water_bytes",
        "The most device memory that was in buffers of the pool.", OF_MEMORY,
        offsetof(pool_memory_info, used_high_water_bytes)},
    {"devicepool_memory_held_bytes",
        "Device memory that the pool holds: used, and kept for later buffers.", OF_MEMORY,
        offsetof(pool_memory_info, reserved_bytes)},
    {"devicepool_memory_limit_bytes", "The most device memory that the pool may hold; 0: no limit.",
        OF_MEMORY, offsetof(pool_memory_info, memory_limit)},
    {"devicepool_memory_available_bytes", "Device memory that leases can still reserve.", OF_MEMORY,
        offsetof(pool_memory_info, available_bytes)},
    {"devicepool_memory_lease_reserved_bytes", "Device memory that leases have reserved.",
        OF_MEMORY, offsetof(pool_memory_info, lease_reserved_bytes)},
    {"devicepool_memory_lease_used_bytes", "Device memory that is charged to leases.", OF_MEMORY,
        offsetof(pool_memory_info, lease_charged_bytes)},
    {"devicepool_memory_quarantined_bytes",
        "Device memory with secrets that could not be overwritten.", OF_MEMORY,
        offsetof(pool_memory_info, quarantined_bytes)},
    {"devicepool_pinned_bytes", "Pinned host memory of the callers.", OF_MEMORY,
        offsetof(pool_memory_info, pinned_bytes)},
    {"devicepool_staging_bytes", "Pinned host memory for copies of pageable memory.", OF_MEMORY,
        offsetof(pool_memory_info, staging_bytes)},
    {"devicepool_pinned_deferred_bytes", "Pinned host memory whose release is deferred.", OF_MEMORY,
        offsetof(pool_memory_info, pinned_deferred_bytes)},
    {"devicepool_buffers", "Handles of buffers.", OF_MEMORY, offsetof(pool_memory_info, buffers)},
    {"devicepool_resident_objects", "Resident objects: bases, domains, buffers.", OF_RESIDENTS,
        offsetof(struct memory_resident_counts, objects)},
    {"devicepool_resident_bytes", "Device memory of resident objects.", OF_RESIDENTS,
        offsetof(struct memory_resident_counts, bytes)},
    {"devicepool_resident_idle_bytes", "Device memory of resident objects that can be evicted.",
        OF_RESIDENTS, offsetof(struct memory_resident_counts, idle_bytes)},
    {"devicepool_calls", "Calls of the library that are in progress on the device.", OF_LOAD,
        offsetof(struct device_load, calls)},
    {"devicepool_busy_streams", "Streams with unfinished work.", OF_LOAD,
        offsetof(struct device_load, busy_streams)},
    {"devicepool_unfinished_work",
        "Launches, copies and fills that are not known to have finished.", OF_LOAD,
        offsetof(struct device_load, unfinished)},
};

static double read_gauge(const struct device_reading *device, const struct gauge *gauge)
{
    const char *base = gauge->source == OF_INFO     ? (const char *)&device->info
                       : gauge->source == OF_MEMORY ? (const char *)&device->memory
                       : gauge->source == OF_LOAD   ? (const char *)&device->load
                                                    : (const char *)&device->residents;

    return (double)*(const uint64_t *)(const void *)(base + gauge->offset);
}

static void write_gauges(struct metrics_writer *writer, const struct reading *reading)
{
    for (size_t g = 0; g < sizeof(gauges) / sizeof(gauges[0]); g++) {
        metrics_family(writer, gauges[g].name, "gauge", gauges[g].help);
        for (size_t i = 0; i < reading->count; i++)
            metrics_sample(writer, "", &(struct metrics_label){"device", reading->devices[i].index},
                1, read_gauge(&reading->devices[i], &gauges[g]));
    }
}

/* ---- counters of operations, phases, copies and modules ----------------------------------------
 */

enum series_member { CALLS, FAILURES, ITEMS, SECONDS };

static double read_series(const struct counter_series *series, enum series_member member)
{
    switch (member) {
    case CALLS:
        return load(&series->calls);
    case FAILURES:
        return load(&series->failures);
    case ITEMS:
        return load(&series->items);
    case SECONDS:
        return seconds(&series->nanoseconds);
    }
    return 0;
}

static void write_series(struct metrics_writer *writer, const struct reading *reading,
    const char *name, const char *help, enum series_member member, bool of_phases)
{
    metrics_family(writer, name, "counter", help);
    for (size_t i = 0; i < reading->count; i++) {
        const struct counter_series *at = atomic_load_explicit(
            &device_counters(reading->devices[i].device)->series, memory_order_acquire);

        for (; at; at = at->next)
            if (of_phases == (at->phase != NULL))
                metrics_sample(writer, "",
                    (const struct metrics_label[]){{"device", reading->devices[i].index},
                        {"operation", at->operation},
                        {of_phases ? "phase" : "subject", of_phases ? at->phase : at->subject}},
                    3, read_series(at, member));
    }
}

static void write_operations(struct metrics_writer *writer, const struct reading *reading)
{
    write_series(writer, reading, "devicepool_operations_total",
        "Calls of operations, by field, curve or parameter set.", CALLS, false);
    write_series(writer, reading, "devicepool_operation_failures_total",
        "Calls of operations that failed.", FAILURES, false);
    write_series(writer, reading, "devicepool_operation_items_total",
        "Scalars, elements, states or nodes that operations were called with.", ITEMS, false);
    write_series(writer, reading, "devicepool_operation_seconds_total",
        "Time in calls of operations; asynchronous calls return when their work is enqueued.",
        SECONDS, false);
    write_series(writer, reading, "devicepool_phases_total",
        "Phases of operations that were timed on the device.", CALLS, true);
    write_series(writer, reading, "devicepool_phase_seconds_total",
        "Time of the device in phases of operations.", SECONDS, true);
}

static void write_copies(struct metrics_writer *writer, const struct reading *reading, bool bytes)
{
    static const char *const directions[COUNTER_COPY_KINDS] = {
        [COUNTER_COPY_TO_DEVICE] = "to_device",
        [COUNTER_COPY_TO_HOST] = "to_host",
        [COUNTER_COPY_ON_DEVICE] = "on_device",
        [COUNTER_COPY_TO_PEER] = "to_peer"};

    metrics_family(writer, bytes ? "devicepool_copied_bytes_total" : "devicepool_copies_total",
        "counter", bytes ? "Bytes copied, by direction." : "Copies, by direction.");
    for (size_t i = 0; i < reading->count; i++) {
        const struct device_counters *counters = device_counters(reading->devices[i].device);

        for (int kind = 0; kind < COUNTER_COPY_KINDS; kind++)
            metrics_sample(writer, "",
                (const struct metrics_label[]){
                    {"device", reading->devices[i].index}, {"direction", directions[kind]}},
                2, load(bytes ? &counters->copies[kind].bytes : &counters->copies[kind].count));
    }
}

static void write_modules(struct metrics_writer *writer, const struct reading *reading)
{
    static const char *const sources[MODULE_IMAGE_SOURCES] = {[MODULE_IMAGE_MEMORY] = "memory",
        [MODULE_IMAGE_DISK] = "disk",
        [MODULE_IMAGE_COMPILER] = "compiler",
        [MODULE_IMAGE_PREBUILT] = "prebuilt"};

    metrics_family(
        writer, "devicepool_module_loads_total", "counter", "Modules that the driver has loaded.");
    for (size_t i = 0; i < reading->count; i++)
        metrics_sample(writer, "", &(struct metrics_label){"device", reading->devices[i].index}, 1,
            load(&device_counters(reading->devices[i].device)->module_loads));
    metrics_family(writer, "devicepool_module_load_seconds_total", "counter",
        "Time in which the driver loaded modules.");
    for (size_t i = 0; i < reading->count; i++)
        metrics_sample(writer, "", &(struct metrics_label){"device", reading->devices[i].index}, 1,
            seconds(&device_counters(reading->devices[i].device)->module_load_nanoseconds));
    metrics_family(writer, "devicepool_images_total", "counter",
        "Compiled kernels that were needed in this process, by where they came from.");
    for (int source = 0; source < MODULE_IMAGE_SOURCES; source++)
        metrics_sample(writer, "", &(struct metrics_label){"source", sources[source]}, 1,
            load(&module_counters.images[source]));
    metrics_family(writer, "devicepool_compile_failures_total", "counter",
        "Failed calls of the compiler in this process.");
    metrics_sample(writer, "", NULL, 0, load(&module_counters.compile_failures));
    metrics_family(writer, "devicepool_compile_seconds_total", "counter",
        "Time in the compiler in this process, summed over threads.");
    metrics_sample(writer, "", NULL, 0, seconds(&module_counters.compile_nanoseconds));
}

/* One sample per device of a counter in its reading. */
static void write_counter(struct metrics_writer *writer, const struct reading *reading,
    const char *name, const char *help, size_t offset)
{
    metrics_family(writer, name, "counter", help);
    for (size_t i = 0; i < reading->count; i++)
        metrics_sample(writer, "", &(struct metrics_label){"device", reading->devices[i].index}, 1,
            (double)*(const uint64_t *)(const void *)((const char *)&reading->devices[i] + offset));
}

static void write_counters(struct metrics_writer *writer, const struct reading *reading)
{
    write_counter(writer, reading, "devicepool_launches_total", "Kernel launches.",
        offsetof(struct device_reading, load.launches));
    write_counter(writer, reading, "devicepool_resident_loads_total",
        "Resident objects that were loaded.", offsetof(struct device_reading, residents.loads));
    write_counter(writer, reading, "devicepool_resident_evictions_total",
        "Resident objects that were evicted.",
        offsetof(struct device_reading, residents.evictions));
    write_counter(writer, reading, "devicepool_resident_evicted_bytes_total",
        "Device memory of evicted objects.",
        offsetof(struct device_reading, residents.evicted_bytes));
}

/* ---- the pool ----------------------------------------------------------------------------------
 */

static void write_pool(struct metrics_writer *writer, const struct reading *reading)
{
    metrics_family(writer, "devicepool_build_info", "gauge", "The library's version; always 1.");
    metrics_sample(writer, "", &(struct metrics_label){"version", pool_version_text()}, 1, 1);
    metrics_family(writer, "devicepool_devices", "gauge", "Devices of the pool.");
    metrics_sample(writer, "", NULL, 0, reading->health.devices);
    metrics_family(writer, "devicepool_usable_devices", "gauge", "Devices that can be used.");
    metrics_sample(writer, "", NULL, 0, reading->health.usable_devices);
    metrics_family(writer, "devicepool_bindings", "gauge", "Devices bound to threads.");
    metrics_sample(writer, "", NULL, 0, reading->health.bindings);
    metrics_family(writer, "devicepool_poisoned", "gauge",
        "1 after a sticky fault: only another process can use the devices.");
    metrics_sample(writer, "", NULL, 0, reading->health.harmed == POOL_CLASS_PROCESS);
}

static void write_leases(struct metrics_writer *writer, device_pool *pool)
{
    pool_lease_counts counts = {.struct_size = sizeof(counts)};

    if (pool_get_lease_counts(pool, &counts))
        return;
    metrics_family(writer, "devicepool_leases", "gauge", "Leases that are held.");
    metrics_sample(writer, "", NULL, 0, counts.leases);
    metrics_family(writer, "devicepool_leases_overdue", "gauge",
        "Leases that are held longer than their requests said.");
    metrics_sample(writer, "", NULL, 0, counts.overdue);
    metrics_family(
        writer, "devicepool_lease_requests_waiting", "gauge", "Requests that wait for a lease.");
    metrics_sample(writer, "", NULL, 0, counts.waiting);
    metrics_family(writer, "devicepool_lease_longest_wait_seconds", "gauge",
        "How long the oldest waiting request has waited.");
    metrics_sample(writer, "", NULL, 0, (double)counts.longest_wait_ns / 1e9);
    metrics_family(writer, "devicepool_leases_granted_total", "counter", "Leases granted.");
    metrics_sample(writer, "", NULL, 0, (double)counts.granted);
    metrics_family(writer, "devicepool_lease_requests_failed_total", "counter",
        "Requests that ended without a lease.");
    metrics_sample(writer, "", NULL, 0, (double)counts.failed);
}

static void read_device(struct device_reading *reading, pool_device *device)
{
    phase_collect(device);
    reading->device = device;
    reading->info.struct_size = sizeof(reading->info);
    snprintf(reading->index, sizeof(reading->index), "%d", pool_device_index(device));
    device_read_load(device, &reading->load);
    memory_read_gauges(device, &reading->memory);
    memory_resident_read(device, &reading->residents);
    device_read_info(device, &reading->info);
}

static pool_status read_pool(device_pool *pool, struct reading *reading)
{
    pool_status status;

    *reading = (struct reading){.pool = pool, .count = pool_device_count(pool)};
    reading->health.struct_size = sizeof(reading->health);
    status = pool_get_health(pool, &reading->health);
    if (status)
        return status;
    reading->devices = base_calloc(reading->count, sizeof(*reading->devices));
    if (!reading->devices)
        return base_fail_memory("the metrics of a pool");
    for (size_t i = 0; !status && i < reading->count; i++) {
        pool_device *device = NULL;

        status = pool_device_at(pool, i, &device);
        if (!status)
            read_device(&reading->devices[i], device);
    }
    if (status)
        base_free(reading->devices);
    return status;
}

pool_status pool_metrics(device_pool *pool, pool_metrics_format format, char **text)
{
    struct metrics_writer *writer;
    struct reading reading;
    pool_status status = base_check_pointers("pool_metrics", {"pool", pool}, {"text", text});

    if (!status)
        status = base_check_ranges(
            "pool_metrics", {"format", format, POOL_METRICS_PROMETHEUS, POOL_METRICS_JSON});
    if (!status)
        status = read_pool(pool, &reading);
    if (status)
        return status;
    writer = metrics_writer_new(format);
    if (writer) {
        write_pool(writer, &reading);
        write_leases(writer, pool);
        write_devices(writer, &reading);
        write_gauges(writer, &reading);
        write_counters(writer, &reading);
        write_operations(writer, &reading);
        write_copies(writer, &reading, false);
        write_copies(writer, &reading, true);
        write_modules(writer, &reading);
    }
    base_free(reading.devices);
    return metrics_writer_end(writer, text);
}
