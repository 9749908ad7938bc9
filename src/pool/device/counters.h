/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has been done on a device since its pool was created, for metrics: calls of operations,
 * their phases, copies, loaded modules. Counting costs relaxed atomic additions and takes no lock.
 */
#ifndef POOL_COUNTERS_H
#define POOL_COUNTERS_H

#include <stdatomic.h>

#include <devicepool/pool.h>

#include "driver/trace.h"

/* What is counted, and what the name of its series is. */
enum counter_kind {
    COUNTER_OPERATION, /* its field, curve or parameter set */
    COUNTER_PHASE,     /* of an operation: "sort" */
    COUNTER_LAUNCH     /* the kernel */
};

/* Calls, and what they amount to. */
struct counter_series {
    struct counter_series *next; /* constant, as are the next three */
    enum counter_kind kind;
    const char *operation; /* static: "msm"; "" of launches */
    char name[48];
    atomic_uint_fast64_t calls;
    atomic_uint_fast64_t failures;
    atomic_uint_fast64_t items;
    atomic_uint_fast64_t nanoseconds; /* of the host; of phases and launches, of the device */
    atomic_uint_fast64_t longest;     /* nanoseconds of a launch, see pool_set_phase_timing */
};

/* Copies by direction. */
enum counter_copy {
    COUNTER_COPY_TO_DEVICE,
    COUNTER_COPY_TO_HOST,
    COUNTER_COPY_ON_DEVICE,
    COUNTER_COPY_TO_PEER,
    COUNTER_COPY_KINDS
};

/* Calls of the driver that wait for all work of the device, and beside which no thread launches. */
enum counter_wait {
    COUNTER_WAIT_LOAD, /* of a module */
    COUNTER_WAIT_UNLOAD,
    COUNTER_WAIT_FREE,
    COUNTER_WAIT_FREE_PINNED,
    COUNTER_WAIT_UNREGISTER, /* memory of the caller's */
    COUNTER_WAIT_KINDS
};

struct device_counters {
    _Atomic(struct counter_series *) series; /* grows only */
    struct {
        atomic_uint_fast64_t count;
        atomic_uint_fast64_t bytes;
    } copies[COUNTER_COPY_KINDS];
    struct {
        atomic_uint_fast64_t count;
        atomic_uint_fast64_t nanoseconds;
    } waits[COUNTER_WAIT_KINDS];
};

/* The series is created at its first use; NULL: out of host memory. `operation` is static. */
struct counter_series *counter_series_of(
    pool_device *device, enum counter_kind kind, const char *operation, const char *name);

struct device_counters *device_counters(pool_device *device);
void device_counters_free(struct device_counters *counters);

void device_count_copy(pool_device *device, enum counter_copy kind, uint64_t bytes);
/* `begin_ns` is of base_clock_ns. Returns `status`; a call that failed is not counted. */
pool_status device_count_wait(
    pool_device *device, enum counter_wait kind, uint64_t begin_ns, pool_status status);

/* How often faults of one kind were notified (pool_params.fault_hook). */
struct device_fault_count {
    int device; /* the index of the one that caused them; -1: not certain */
    pool_error_class error_class;
    char code[40]; /* name of the driver's code, or what the library has found */
    uint64_t count;
};
enum { DEVICE_FAULT_KINDS = 64 };

void device_pool_count_fault(device_pool *pool, const pool_fault *fault, const char *code);

/* Copies the counts of all kinds so far, and returns their number. Further kinds than fit are
 * counted with the last one, whose code is "other". */
size_t device_pool_read_faults(
    device_pool *pool, struct device_fault_count counts[DEVICE_FAULT_KINDS]);

/* What is in progress on a device. */
struct device_load {
    uint64_t calls;
    uint64_t busy_streams;
    uint64_t unfinished; /* launches, copies and fills */
    uint64_t launches;   /* all so far */
};
void device_read_load(const pool_device *device, struct device_load *load);

/* What pool_device_get_info fills in, without a driver call: free memory as it was last sampled. */
void device_read_info(const pool_device *device, pool_device_info *info);

/* The process that uses a device for this one. */
enum { DEVICE_WORKER_STATES = 5, DEVICE_WORKER_PATHS = 2 };
struct device_worker {
    uint64_t pid;                             /* 0: none is running */
    uint64_t generation;                      /* processes that were ready so far; 0: none yet */
    uint64_t restarts;                        /* those of them that replaced another one */
    uint64_t peer_bytes[DEVICE_WORKER_PATHS]; /* copied from devices of other processes, by path */
    unsigned state;
    char cause[512]; /* of the last loss or failure, or "" */
};
/* False: there is none, this process uses the device itself. No driver call. */
bool device_read_worker(const pool_device *device, struct device_worker *worker);
const char *device_worker_state_name(size_t state);
const char *device_worker_path_name(size_t path);

/* pool_set_phase_timing */
int device_times_phases(const pool_device *device);
int device_times_launches(const pool_device *device);

/* A call of an operation on a device: traced and counted between begin and end. */
struct device_operation {
    struct trace_range range;
    struct counter_series *series;
    uint64_t begin_ns;
};

/*
 * `operation` is static and one of the names in <devicepool/trace.h>; `subject` must outlive the
 * call. device_operation_end returns `status`.
 */
void device_operation_begin(struct device_operation *call, pool_device *device,
    const char *operation, const char *subject, uint64_t items);
pool_status device_operation_end(struct device_operation *call, pool_status status);

#endif
