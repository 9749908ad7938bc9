/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every family of metrics. Most are rows of a table: a number of the reading, or several that a
 * label tells apart, for the pool or for each device. The others have labels that are text, or as
 * many samples as there are operations, faults or priorities.
 */
#include "pool/metrics/families.h"

#include <stdio.h>

#include "pool/device/device.h"

#define LABELS(...)                                                                                \
    (const struct metrics_label[])                                                                 \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* ---- the table --------------------------------------------------------------------------------
 */

/* Values of a label, each for one number of an array in the reading. */
struct enumeration {
    const char *label;
    const char *(*value)(size_t index);
    size_t count;
    size_t stride; /* bytes between the numbers */
};

static const char *state_name(size_t index)
{
    return device_state_name((pool_device_state)index);
}

static const char *direction_name(size_t index)
{
    static const char *const names[COUNTER_COPY_KINDS] = {[COUNTER_COPY_TO_DEVICE] = "to_device",
        [COUNTER_COPY_TO_HOST] = "to_host",
        [COUNTER_COPY_ON_DEVICE] = "on_device",
        [COUNTER_COPY_TO_PEER] = "to_peer"};

    return names[index];
}

static const char *wait_name(size_t index)
{
    static const char *const names[COUNTER_WAIT_KINDS] = {[COUNTER_WAIT_LOAD] = "load_module",
        [COUNTER_WAIT_UNLOAD] = "unload_module",
        [COUNTER_WAIT_FREE] = "free",
        [COUNTER_WAIT_FREE_PINNED] = "free_pinned",
        [COUNTER_WAIT_UNREGISTER] = "unregister"};

    return names[index];
}

static const char *source_name(size_t index)
{
    static const char *const names[MODULE_IMAGE_SOURCES] = {[MODULE_IMAGE_MEMORY] = "memory",
        [MODULE_IMAGE_DISK] = "disk",
        [MODULE_IMAGE_LEVEL] = "level",
        [MODULE_IMAGE_COMPILER] = "compiler",
        [MODULE_IMAGE_PREBUILT] = "prebuilt"};

    return names[index];
}

static const struct enumeration states = {"state", state_name, METRICS_STATES, sizeof(uint64_t)};
static const struct enumeration worker_states = {
    "state", device_worker_state_name, DEVICE_WORKER_STATES, sizeof(uint64_t)};
static const struct enumeration worker_paths = {
    "memory", device_worker_path_name, DEVICE_WORKER_PATHS, sizeof(uint64_t)};
static const struct enumeration directions = {"direction", direction_name, COUNTER_COPY_KINDS,
    sizeof(((struct metrics_device *)NULL)->copies[0])};
static const struct enumeration waiting = {
    "call", wait_name, COUNTER_WAIT_KINDS, sizeof(((struct metrics_device *)NULL)->waits[0])};
static const struct enumeration sources = {
    "source", source_name, MODULE_IMAGE_SOURCES, sizeof(uint64_t)};

/* What the parts of a GPU have in common is that of its first device. */
enum scope { OF_POOL, OF_DEVICE, OF_GPU, OF_WORKER };

struct row {
    struct metrics_family family;
    enum scope scope;
    size_t offset; /* of the number in metrics_reading, else in metrics_device */
    const struct enumeration *samples; /* NULL: one */
};

#define POOL_MEMBER(member) OF_POOL, offsetof(struct metrics_reading, member)
#define DEVICE_MEMBER(member) OF_DEVICE, offsetof(struct metrics_device, member)
#define GPU_MEMBER(member) OF_GPU, offsetof(struct metrics_device, member)
#define WORKER_MEMBER(member) OF_WORKER, offsetof(struct metrics_device, member)
#define GAUGE METRICS_GAUGE, METRICS_NO_UNIT
#define GAUGE_BYTES METRICS_GAUGE, METRICS_BYTES
#define GAUGE_SECONDS METRICS_GAUGE, METRICS_SECONDS
#define COUNTER METRICS_COUNTER, METRICS_NO_UNIT
#define COUNTER_BYTES METRICS_COUNTER, METRICS_BYTES
#define COUNTER_SECONDS METRICS_COUNTER, METRICS_SECONDS

/* clang-format off */
static const struct row rows[] = {
    {{"devicepool_devices", GAUGE, "Devices of the pool."}, POOL_MEMBER(devices_total), NULL},
    {{"devicepool_usable_devices", GAUGE, "Devices that can be used."},
        POOL_MEMBER(devices_usable), NULL},
    {{"devicepool_bindings", GAUGE, "Devices bound to threads."}, POOL_MEMBER(bindings), NULL},
    {{"devicepool_poisoned", GAUGE,
        "1 after a sticky fault: only another process can use the devices."},
        POOL_MEMBER(is_poisoned), NULL},

    {{"devicepool_leases", GAUGE, "Leases that are held."}, POOL_MEMBER(leases.held), NULL},
    {{"devicepool_leases_overdue", GAUGE,
        "Leases that are held longer than their requests said."},
        POOL_MEMBER(leases.overdue), NULL},
    {{"devicepool_leases_became_overdue_total", COUNTER,
         "Leases that became overdue, held or released since."},
        POOL_MEMBER(leases.became_overdue), NULL},
    {{"devicepool_lease_requests_waiting", GAUGE, "Requests that wait for a lease."},
        POOL_MEMBER(leases.waiting), NULL},
    {{"devicepool_lease_longest_wait_seconds", GAUGE_SECONDS,
        "How long the oldest waiting request has waited."},
        POOL_MEMBER(leases.longest_wait_ns), NULL},
    {{"devicepool_leases_granted_total", COUNTER, "Leases granted."},
        POOL_MEMBER(leases.granted), NULL},
    {{"devicepool_lease_requests_failed_total", COUNTER, "Requests that ended without a lease."},
        POOL_MEMBER(leases.failed), NULL},

    {{"devicepool_device_state", GAUGE,
        "1 for the state that the device is in, 0 for the others."},
        DEVICE_MEMBER(states), &states},
    {{"devicepool_device_memory_total_bytes", GAUGE_BYTES, "Memory of the device."},
        GPU_MEMBER(info.total_bytes), NULL},
    {{"devicepool_device_memory_free_bytes", GAUGE_BYTES,
        "Free memory of the device as the driver last reported it, for all processes."},
        GPU_MEMBER(info.free_bytes), NULL},
    {{"devicepool_memory_used_bytes", GAUGE_BYTES, "Device memory in buffers of the pool."},
        GPU_MEMBER(memory.used_bytes), NULL},
    {{"devicepool_memory_used_high_water_bytes", GAUGE_BYTES,
        "The most device memory that was in buffers of the pool."},
        GPU_MEMBER(memory.used_high_water_bytes), NULL},
    {{"devicepool_memory_physical_bytes", GAUGE_BYTES,
        "Used device memory that is physical memory of ranges of addresses."},
        GPU_MEMBER(memory.physical_bytes), NULL},
    {{"devicepool_memory_held_bytes", GAUGE_BYTES,
        "Device memory that the pool holds: used, and kept for later buffers."},
        GPU_MEMBER(memory.reserved_bytes), NULL},
    {{"devicepool_memory_limit_bytes", GAUGE_BYTES,
        "The most device memory that the pool may hold; 0: no limit."},
        GPU_MEMBER(memory.memory_limit), NULL},
    {{"devicepool_memory_available_bytes", GAUGE_BYTES,
        "Device memory that leases can still reserve."},
        GPU_MEMBER(memory.available_bytes), NULL},
    {{"devicepool_memory_lease_reserved_bytes", GAUGE_BYTES,
        "Device memory that leases have reserved."},
        GPU_MEMBER(memory.lease_reserved_bytes), NULL},
    {{"devicepool_memory_lease_used_bytes", GAUGE_BYTES,
        "Device memory that is charged to leases."},
        GPU_MEMBER(memory.lease_charged_bytes), NULL},
    {{"devicepool_memory_quarantined_bytes", GAUGE_BYTES,
        "Device memory with secrets that could not be overwritten."},
        GPU_MEMBER(memory.quarantined_bytes), NULL},
    {{"devicepool_pinned_bytes", GAUGE_BYTES, "Pinned host memory of the callers."},
        GPU_MEMBER(memory.pinned_bytes), NULL},
    {{"devicepool_staging_bytes", GAUGE_BYTES,
        "Pinned host memory for copies of pageable memory."},
        GPU_MEMBER(memory.staging_bytes), NULL},
    {{"devicepool_pinned_deferred_bytes", GAUGE_BYTES,
        "Pinned host memory whose release is deferred."},
        GPU_MEMBER(memory.pinned_deferred_bytes), NULL},
    {{"devicepool_buffers", GAUGE, "Handles of buffers."}, GPU_MEMBER(memory.buffers), NULL},
    {{"devicepool_resident_objects", GAUGE, "Resident objects: bases, domains, buffers."},
        GPU_MEMBER(residents.objects), NULL},
    {{"devicepool_resident_bytes", GAUGE_BYTES, "Device memory of resident objects."},
        GPU_MEMBER(residents.bytes), NULL},
    {{"devicepool_resident_idle_bytes", GAUGE_BYTES,
        "Device memory of resident objects that can be evicted."},
        GPU_MEMBER(residents.idle_bytes), NULL},
    {{"devicepool_calls", GAUGE, "Calls of the library that are in progress on the device."},
        DEVICE_MEMBER(load.calls), NULL},
    {{"devicepool_busy_streams", GAUGE, "Streams with unfinished work."},
        DEVICE_MEMBER(load.busy_streams), NULL},
    {{"devicepool_unfinished_work", GAUGE,
        "Launches, copies and fills that are not known to have finished."},
        DEVICE_MEMBER(load.unfinished), NULL},

    {{"devicepool_launches_total", COUNTER, "Kernel launches."},
        DEVICE_MEMBER(load.launches), NULL},
    {{"devicepool_resident_loads_total", COUNTER, "Resident objects that were loaded."},
        GPU_MEMBER(residents.loads), NULL},
    {{"devicepool_resident_evictions_total", COUNTER, "Resident objects that were evicted."},
        GPU_MEMBER(residents.evictions), NULL},
    {{"devicepool_resident_evicted_bytes_total", COUNTER_BYTES,
        "Device memory of evicted objects."},
        GPU_MEMBER(residents.evicted_bytes), NULL},
    {{"devicepool_resident_survivals_total", COUNTER,
         "Resident objects that outlived the process of their device."},
        GPU_MEMBER(residents.survivals), NULL},
    {{"devicepool_resident_losses_total", COUNTER,
         "Resident objects that were lost with the process of their device."},
        GPU_MEMBER(residents.losses), NULL},
    {{"devicepool_copies_total", COUNTER, "Copies, by direction."},
        DEVICE_MEMBER(copies[0].count), &directions},
    {{"devicepool_copied_bytes_total", COUNTER_BYTES, "Bytes copied, by direction."},
        DEVICE_MEMBER(copies[0].bytes), &directions},
    {{"devicepool_waiting_calls_total", COUNTER,
        "Calls of the driver that waited for all work of the device, by what they did."},
        DEVICE_MEMBER(waits[0].count), &waiting},
    {{"devicepool_waiting_call_seconds_total", COUNTER_SECONDS,
        "Time in these calls, beside which no thread launches."},
        DEVICE_MEMBER(waits[0].nanoseconds), &waiting},
    {{"devicepool_images_total", COUNTER,
        "Compiled kernels that were needed in this process, by where they came from."},
        POOL_MEMBER(images), &sources},
    {{"devicepool_compile_seconds_total", COUNTER_SECONDS,
        "Time in the compiler in this process, summed over threads."},
        POOL_MEMBER(compile_ns), NULL},
    {{"devicepool_compile_failures_total", COUNTER,
        "Failed calls of the compiler in this process."},
        POOL_MEMBER(compile_failures), NULL},

    {{"devicepool_worker_state", GAUGE,
        "1 for the state that the device's worker process is in, 0 for the others."},
        WORKER_MEMBER(worker_states), &worker_states},
    {{"devicepool_worker_process_id", GAUGE,
        "The worker process of the device; 0: none is running."},
        WORKER_MEMBER(worker.pid), NULL},
    {{"devicepool_worker_generation", GAUGE,
        "Which one in the sequence of the device's worker processes is the latest; 0: none yet."},
        WORKER_MEMBER(worker.generation), NULL},
    {{"devicepool_worker_restarts_total", COUNTER,
        "Worker processes of the device that replaced another one."},
        WORKER_MEMBER(worker.restarts), NULL},
    {{"devicepool_worker_peer_bytes_total", COUNTER_BYTES,
        "Bytes copied from devices of other worker processes, by the memory that they pass through."},
        WORKER_MEMBER(worker.peer_bytes), &worker_paths},
};
/* clang-format on */

static double in_unit(const struct metrics_family *family, uint64_t number)
{
    return family->unit == METRICS_SECONDS ? (double)number / 1e9 : (double)number;
}

/* The samples of one device, or of the pool with `device` NULL. */
static void write_samples(struct metrics_writer *writer, const struct row *row, const char *device,
    const uint64_t *number)
{
    const struct enumeration *samples = row->samples;
    struct metrics_label labels[2] = {{"device", device}};
    size_t label_count = device != NULL;

    for (size_t i = 0; i < (samples ? samples->count : 1); i++) {
        if (samples)
            labels[label_count] = (struct metrics_label){samples->label, samples->value(i)};
        metrics_sample(
            writer, "", labels, label_count + (samples != NULL), in_unit(&row->family, *number));
        if (samples)
            number = (const uint64_t *)(const void *)((const char *)number + samples->stride);
    }
}

static bool has_samples(const struct metrics_device *device, enum scope scope)
{
    switch (scope) {
    case OF_GPU:
        return device_gpu(device->device) == device->device;
    case OF_WORKER:
        return device->has_worker;
    default:
        return scope == OF_DEVICE;
    }
}

static void write_row(
    struct metrics_writer *writer, const struct metrics_reading *reading, const struct row *row)
{
    metrics_begin_family(writer, &row->family);
    if (row->scope == OF_POOL)
        write_samples(writer, row, NULL,
            (const uint64_t *)(const void *)((const char *)reading + row->offset));
    for (size_t i = 0; i < reading->count; i++)
        if (has_samples(&reading->devices[i], row->scope))
            write_samples(writer, row, reading->devices[i].index,
                (const uint64_t *)(const void *)((const char *)&reading->devices[i] + row->offset));
}

/* ---- operations, their phases, and launches ---------------------------------------------------
 */

static const struct series_row {
    struct metrics_family family;
    size_t offset; /* in counter_series */
    enum counter_kind kind;
    const char *label; /* of the name */
} series_rows[] = {
    {{"devicepool_operations_total", COUNTER,
         "Calls of operations, by field, curve or parameter set."},
        offsetof(struct counter_series, calls), COUNTER_OPERATION, "subject"},
    {{"devicepool_operation_failures_total", COUNTER, "Calls of operations that failed."},
        offsetof(struct counter_series, failures), COUNTER_OPERATION, "subject"},
    {{"devicepool_operation_items_total", COUNTER,
         "Scalars, elements, states or nodes that operations were called with."},
        offsetof(struct counter_series, items), COUNTER_OPERATION, "subject"},
    {{"devicepool_operation_seconds_total", COUNTER_SECONDS,
         "Time in calls of operations; asynchronous calls return when their work is enqueued."},
        offsetof(struct counter_series, nanoseconds), COUNTER_OPERATION, "subject"},
    {{"devicepool_phases_total", COUNTER, "Phases of operations that were timed on the device."},
        offsetof(struct counter_series, calls), COUNTER_PHASE, "phase"},
    {{"devicepool_phase_seconds_total", COUNTER_SECONDS,
         "Time of the device in phases of operations."},
        offsetof(struct counter_series, nanoseconds), COUNTER_PHASE, "phase"},
    {{"devicepool_timed_launches_total", COUNTER,
         "Launches that were timed on the device, by kernel."},
        offsetof(struct counter_series, calls), COUNTER_LAUNCH, "kernel"},
    {{"devicepool_launch_seconds_total", COUNTER_SECONDS, "Time of the device in timed launches."},
        offsetof(struct counter_series, nanoseconds), COUNTER_LAUNCH, "kernel"},
    {{"devicepool_longest_launch_seconds", GAUGE_SECONDS,
         "The longest launch since pool_set_phase_timing switched their timing on."},
        offsetof(struct counter_series, longest), COUNTER_LAUNCH, "kernel"},
};

static void write_series(struct metrics_writer *writer, const struct metrics_reading *reading,
    const struct series_row *row)
{
    metrics_begin_family(writer, &row->family);
    for (size_t i = 0; i < reading->count; i++) {
        const struct counter_series *at = atomic_load_explicit(
            &device_counters(reading->devices[i].device)->series, memory_order_acquire);

        for (; at; at = at->next) {
            const atomic_uint_fast64_t *number = (const void *)((const char *)at + row->offset);

            struct metrics_label labels[3] = {{"device", reading->devices[i].index}};
            size_t label_count = 1;

            if (row->kind != at->kind)
                continue;
            if (*at->operation)
                labels[label_count++] = (struct metrics_label){"operation", at->operation};
            labels[label_count++] = (struct metrics_label){row->label, at->name};
            metrics_sample(writer, "", labels, label_count,
                in_unit(&row->family, atomic_load_explicit(number, memory_order_relaxed)));
        }
    }
}

/* ---- leases ------------------------------------------------------------------------------------
 */

/* The samples of one histogram; `outcome` NULL: it has no labels. */
static void write_histogram(
    struct metrics_writer *writer, const struct lease_histogram *histogram, const char *outcome)
{
#define BOUND_TEXT(seconds) #seconds,
    static const char *const bounds[LEASE_BUCKETS] = {LEASE_BOUNDS(BOUND_TEXT) "+Inf"};
    struct metrics_label labels[2] = {{"outcome", outcome}};
    size_t label_count = outcome != NULL;
    uint64_t count = 0;

    for (int i = 0; i < LEASE_BUCKETS; i++) {
        count += histogram->counts[i];
        labels[label_count] = (struct metrics_label){"le", bounds[i]};
        metrics_sample(writer, "_bucket", labels, label_count + 1, (double)count);
    }
    metrics_sample(writer, "_sum", labels, label_count, (double)histogram->sum_ns / 1e9);
    metrics_sample(writer, "_count", labels, label_count, (double)count);
}

static void write_leases(struct metrics_writer *writer, const struct lease_statistics *leases)
{
    static const struct metrics_family waits = {"devicepool_lease_wait_seconds", METRICS_HISTOGRAM,
        METRICS_SECONDS, "From a request to its lease or its failure."};
    static const struct metrics_family holds = {"devicepool_lease_held_seconds", METRICS_HISTOGRAM,
        METRICS_SECONDS, "From the grant of a lease to its release."};
    static const struct metrics_family queue = {"devicepool_lease_queue_requests", GAUGE,
        "Requests that wait for a lease, by priority; of all priorities that have waited so far."};
    char priority[16];

    metrics_begin_family(writer, &waits);
    write_histogram(writer, &leases->granted_waits, "granted");
    write_histogram(writer, &leases->failed_waits, "failed");
    metrics_begin_family(writer, &holds);
    write_histogram(writer, &leases->holds, NULL);
    metrics_begin_family(writer, &queue);
    for (uint32_t i = 0; i < leases->queue.class_count; i++) {
        snprintf(priority, sizeof(priority), "%d", leases->queue.classes[i].priority);
        metrics_sample(
            writer, "", LABELS({"priority", priority}), 1, leases->queue.classes[i].waiting);
    }
    if (leases->queue.class_count == LEASE_CLASSES)
        metrics_sample(writer, "", LABELS({"priority", "other"}), 1, leases->queue.others);
}

/* ---- texts and faults --------------------------------------------------------------------------
 */

static void write_information(struct metrics_writer *writer, const struct metrics_reading *reading)
{
    static const struct metrics_family build = {
        "devicepool_build_info", GAUGE, "The library's version; always 1."};
    static const struct metrics_family devices = {
        "devicepool_device_info", GAUGE, "The devices of the pool; always 1."};

    metrics_begin_family(writer, &build);
    metrics_sample(writer, "", LABELS({"version", pool_version_text()}), 1, 1);
    metrics_begin_family(writer, &devices);
    for (size_t i = 0; i < reading->count; i++) {
        const pool_device_info *info = &reading->devices[i].info;
        char chip[32], gpu[16], part[16];

        snprintf(chip, sizeof(chip), "%d.%d", info->compute_major, info->compute_minor);
        snprintf(gpu, sizeof(gpu), "%d", pool_device_index(device_gpu(reading->devices[i].device)));
        snprintf(part, sizeof(part), "%d", info->partition);
        metrics_sample(writer, "",
            LABELS({"device", reading->devices[i].index}, {"uuid", info->uuid}, {"pci", info->pci},
                {"name", info->name}, {"compute_capability", chip}, {"gpu", gpu},
                {"partition", part}),
            info->partitions ? 7 : 5, 1);
    }
}

static void write_faults(struct metrics_writer *writer, const struct metrics_reading *reading)
{
    static const struct metrics_family faults = {"devicepool_faults_total", COUNTER,
        "Faults that were notified, by the device that caused them, what they harmed, and their "
        "code."};

    metrics_begin_family(writer, &faults);
    for (size_t i = 0; i < reading->fault_count; i++) {
        const struct device_fault_count *fault = &reading->faults[i];

        metrics_sample(writer, "",
            LABELS(
                {"device", fault->device < 0 ? "unknown" : reading->devices[fault->device].index},
                {"class", pool_error_class_name(fault->error_class)}, {"code", fault->code}),
            3, (double)fault->count);
    }
}

void metrics_write_families(struct metrics_writer *writer, const struct metrics_reading *reading)
{
    write_information(writer, reading);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        write_row(writer, reading, &rows[i]);
    write_leases(writer, &reading->leases);
    write_faults(writer, reading);
    for (size_t i = 0; i < sizeof(series_rows) / sizeof(series_rows[0]); i++)
        write_series(writer, reading, &series_rows[i]);
}
