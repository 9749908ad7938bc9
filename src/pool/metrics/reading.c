/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See reading.h.
 */
#include "pool/metrics/reading.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "pool/device/device.h"
#include "pool/stream/phase.h"

static uint64_t load(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void read_device(pool_device *device, struct metrics_device *reading)
{
    const struct device_counters *counters = device_counters(device);

    phase_collect(device);
    reading->device = device;
    reading->info.struct_size = sizeof(reading->info);
    snprintf(reading->index, sizeof(reading->index), "%d", pool_device_index(device));
    device_read_load(device, &reading->load);
    memory_read_gauges(device, &reading->memory);
    memory_resident_read(device, &reading->residents);
    device_read_info(device, &reading->info);
    reading->states[reading->info.state] = 1;
    for (int kind = 0; kind < COUNTER_COPY_KINDS; kind++) {
        reading->copies[kind].count = load(&counters->copies[kind].count);
        reading->copies[kind].bytes = load(&counters->copies[kind].bytes);
    }
    for (int kind = 0; kind < COUNTER_WAIT_KINDS; kind++) {
        reading->waits[kind].count = load(&counters->waits[kind].count);
        reading->waits[kind].nanoseconds = load(&counters->waits[kind].nanoseconds);
    }
    reading->has_worker = device_read_worker(device, &reading->worker);
    if (reading->has_worker)
        reading->worker_states[reading->worker.state] = 1;
}

static void read_process(struct metrics_reading *reading)
{
    for (int source = 0; source < MODULE_IMAGE_SOURCES; source++)
        reading->images[source] = load(&module_counters.images[source]);
    reading->compile_ns = load(&module_counters.compile_nanoseconds);
    reading->compile_failures = load(&module_counters.compile_failures);
}

pool_status metrics_read(device_pool *pool, struct metrics_reading *reading)
{
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_status status = pool_get_health(pool, &health);

    if (status)
        return status;
    *reading = (struct metrics_reading){.devices_total = health.devices,
        .devices_usable = health.usable_devices,
        .bindings = health.bindings,
        .is_poisoned = health.harmed == POOL_CLASS_PROCESS,
        .count = pool_device_count(pool)};
    read_process(reading);
    lease_statistics_read(pool, &reading->leases);
    reading->fault_count = device_pool_read_faults(pool, reading->faults);
    reading->devices = base_calloc(reading->count, sizeof(*reading->devices));
    if (!reading->devices)
        return base_fail_memory("the metrics of a pool");
    for (size_t i = 0; !status && i < reading->count; i++) {
        pool_device *device = NULL;

        status = pool_device_at(pool, i, &device);
        if (!status)
            read_device(device, &reading->devices[i]);
    }
    if (status)
        base_free(reading->devices);
    return status;
}
