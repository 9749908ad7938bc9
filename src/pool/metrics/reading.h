/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that the metrics of a pool are written from, read at one time. All numbers are 64-bit
 * integers, durations in nanoseconds, so that a table can name them by their offsets.
 */
#ifndef METRICS_READING_H
#define METRICS_READING_H

#include <devicepool/pool.h>

#include "pool/lease/statistics.h"
#include "pool/memory/memory.h"
#include "pool/memory/resident.h"
#include "pool/module/counters.h"
#include "pool/device/counters.h"

enum { METRICS_STATES = POOL_DEVICE_ABANDONED + 1 };

struct metrics_device {
    pool_device *device;
    char index[16]; /* the label of all its samples */
    pool_device_info info;
    pool_memory_info memory;
    struct device_load load;
    struct memory_resident_counts residents;
    uint64_t states[METRICS_STATES]; /* 1 for the state that it is in */
    struct {
        uint64_t count;
        uint64_t bytes;
    } copies[COUNTER_COPY_KINDS];
    struct {
        uint64_t count;
        uint64_t nanoseconds;
    } waits[COUNTER_WAIT_KINDS];
    bool has_worker;
    struct device_worker worker;
    uint64_t worker_states[DEVICE_WORKER_STATES]; /* 1 for the state that it is in */
};

struct metrics_reading {
    uint64_t devices_total;
    uint64_t devices_usable;
    uint64_t bindings;
    uint64_t is_poisoned;
    uint64_t images[MODULE_IMAGE_SOURCES]; /* these three of the process */
    uint64_t compile_ns;
    uint64_t compile_failures;
    struct lease_statistics leases;
    size_t fault_count;
    struct device_fault_count faults[DEVICE_FAULT_KINDS];
    size_t count;
    struct metrics_device *devices;
};

/* Collects timed phases first, where they are timed; no other driver call. The caller frees
 * reading->devices with base_free after success. */
pool_status metrics_read(device_pool *pool, struct metrics_reading *reading);

#endif
