/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool: creation, look-up and choice of devices, binding a device to the calling thread,
 * health.
 */
#ifndef DEVICEPOOL_POOL_H
#define DEVICEPOOL_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/device.h>
#include <devicepool/driver.h>
#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A set of devices with one context each. Any thread may use it at any time. */
typedef struct device_pool device_pool;

/* The contexts that the pool uses. */
typedef enum pool_context_mode {
    POOL_CONTEXT_PRIMARY =
        0, /* the device's primary context, shared with the CUDA runtime and libraries */
    POOL_CONTEXT_OWN = 1, /* a context that the pool creates and pool_destroy destroys */
    POOL_CONTEXT_ADOPT =
        2 /* the caller's contexts, pool_params.contexts; the pool never destroys them */
} pool_context_mode;

/*
 * A kernel that had been launched through the library and was not known to have finished when a
 * sticky fault showed: since it was launched no wait, query or event of its stream has succeeded.
 */
typedef struct pool_fault_kernel {
    pool_device *device; /* NULL: of another pool of the process */
    int32_t ordinal;     /* of the device */
    uint32_t launches;   /* of this kernel on this stream */
    const char *name;
    CUstream stream;   /* NULL: the default stream */
    const char *label; /* of the lease that it was launched for; "": none */
} pool_fault_kernel;

/* The argument of a fault hook. Strings and kernels are valid during the call only. */
typedef struct pool_fault {
    pool_error_class error_class; /* DEVICE or PROCESS */
    int driver_code;
    const char *driver_name;
    const char *message; /* a description of the first cause */
    /*
     * The device whose work or state caused the fault; NULL when that is not certain. A sticky
     * fault shows at the next driver call on any device. The device is certain if, among the
     * devices of all pools of the process, it is the only one with an unfinished kernel that was
     * launched through the library, and none of them is used through an MPS server. The library
     * does not know of kernels launched in other ways.
     */
    pool_device *device;
    pool_device *shown_on;            /* where the failing call ran; NULL: unknown */
    const pool_fault_kernel *kernels; /* launched and not known to have finished */
    size_t kernel_count;              /* for DEVICE only of a device that makes no progress */
} pool_fault;

/*
 * Runs on the thread that detected the fault, once for the process's first sticky fault and once
 * for each device that becomes unusable, also during pool_create; when a probe finds wrong results;
 * and when a device makes no progress (stall_timeout_ns), on the pool's own thread. It may call
 * pool_get_health and the functions of status.h, and must not block.
 */
typedef void (*pool_fault_hook)(void *user, const pool_fault *fault);

/* Where a pool's driver calls run. */
typedef enum pool_isolation {
    POOL_ISOLATION_NONE = 0,   /* in this process; "workers:" of a device string still holds */
    POOL_ISOLATION_WORKERS = 1 /* in a process for each device */
} pool_isolation;

/* The default of pool_params.slice_ns, and while a device is shared. */
#define POOL_SLICE_NS 2000000ull
#define POOL_SHARED_SLICE_NS 500000ull

/* Zero is the default of every member but struct_size. */
typedef struct pool_params {
    size_t struct_size;
    /*
     * The devices and their order, a comma-separated list of: "all"; ordinals and ranges, "0,2-3";
     * "GPU-" or "MIG-" and a unique prefix of a UUID; a complete UUID; "MIG-GPU-…/1/2", as
     * old drivers name a MIG instance, if one of that GPU is visible; a PCI address,
     * "0000:06:00.0". Or "sim" or "sim:4,mem=24G,cc=90" for simulated devices, "sim:4@0,2" for some
     * of them (docs/testing.md). "workers:" in front of any of these: each device in a process of
     * its own, see `isolation`. Behind an element the parts of its GPUs, each of which is a device
     * with multiprocessors of its own: "0/16+116", "all/2", "sim:4/2", see
     * `partitions`. NULL: the setting
     * DEVICEPOOL_DEVICES (docs/configuration.md), or "all" if that is not set. Ordinals count the
     * devices that CUDA_VISIBLE_DEVICES leaves visible. Naming a device twice and a prefix of
     * several UUIDs are errors.
     */
    const char *devices;
    uint32_t min_devices; /* fewer usable devices fail the call; 0 means 1 */
    pool_context_mode context_mode;
    /*
     * CU_CTX_… flags of the contexts; 0: the driver's default. A primary context gets them before
     * it becomes active (cuDevicePrimaryCtxSetFlags); if the process uses it already with other
     * flags, pool_create returns POOL_ERR_BUSY and names both. Must be 0 for POOL_CONTEXT_ADOPT.
     */
    uint32_t context_flags;
    /* 1: create each context at the first use of its device, once for all threads. A device whose
     * context cannot be created is unusable from then on, for the reason in its info. */
    int32_t lazy;
    /* For POOL_CONTEXT_ADOPT: one per device. `devices` must be NULL, or the "sim…" of the
     * simulated devices that the contexts belong to. Plans for a green context are made for its
     * multiprocessors. Several green contexts of a device, one behind the other, are its parts
     * (pool_device_gpu), and the end of one of them is the end of all. POOL_ERR_INVALID_ARGUMENT: a
     * context has been destroyed or is there twice, or contexts of a device do not share its
     * memory. */
    const CUcontext *contexts;
    size_t context_count;
    pool_fault_hook fault_hook;
    void *fault_user;
    const pool_cuda_api *driver; /* NULL: libcuda.so.1 (or the simulated driver for "sim") */
    /*
     * The most that the library may hold of each device's memory: buffers, workspaces, resident
     * data, and what its memory pool keeps unused. In bytes, or in per cent of the device's memory
     * (1 … 100); one of them at most. Both 0: the setting DEVICEPOOL_MEMORY_LIMIT ("24G", "512M",
     * "80%"), and when that is not set no limit. UINT64_MAX bytes: no limit, whatever the setting
     * says. Contexts and loaded kernels do not count.
     */
    uint64_t memory_limit;
    uint32_t memory_limit_percent;
    /* How many leases of one slot each device can have at one time, 1 to 65536; 0: the setting
     * DEVICEPOOL_SLOTS, or 4, which is POOL_LEASE_SLOTS of lease.h. */
    uint32_t slots;
    /* Bytes of each device's free memory that leases cannot reserve, for what contexts and kernels
     * take later; 0: 1/64 of the device's memory, at most 512 MiB. */
    uint64_t memory_headroom;
    /*
     * A device with unfinished work whose streams have made no progress for this long is stalled:
     * the fault hook is called once with class DEVICE, and pool_get_health counts it and reports
     * harm until it makes progress again. While a lease on a device is overdue
     * (pool_request.duration_ns) the time is a second at most. 0: devices are watched only while a
     * lease on them is overdue. Progress is seen where waits and queries of the library succeed,
     * and when a stream is idle, so the time must be longer than a stream is ever kept busy without
     * such a wait. A thread of the library looks four times within it.
     */
    uint64_t stall_timeout_ns;
    /*
     * The path of a Unix socket that the pool opens, with mode 0600, and that exists as long as the
     * pool: it writes a snapshot of the pool as JSON to each client of this user or of root, and
     * closes the connection. `devicepool top` shows it; docs/metrics.md describes it. The process
     * holds a lock on the file PATH.lock beside it for as long; its forked children have neither.
     * A socket that an ended process of this user has left is replaced. Errors:
     * POOL_ERR_BUSY when a process has the lock or the socket, POOL_ERR_INVALID_ARGUMENT when it is
     * no path of a socket or names something else, POOL_ERR_IO. NULL: the
     * socket of the setting DEVICEPOOL_STATUS_SOCKET, without which the pool continues, with a
     * warning, if it cannot have it; if that is not set, none. "": none, whatever the setting says.
     */
    const char *status_socket;
    /*
     * POOL_ISOLATION_WORKERS: each device is used by a process of its own, so that a fault, a hang
     * or the death of that process harms this device only; see docs/workers.md. The same as
     * "workers:" in front of `devices`, "workers:all" or "workers:sim:4". POOL_CONTEXT_ADOPT and
     * `driver` are not possible then (POOL_ERR_UNSUPPORTED). POOL_ERR_NOT_FOUND: the program
     * devicepool-worker is not installed.
     */
    pool_isolation isolation;
    /*
     * The tuning parameters of all devices, see tuning.h; the pool copies them.
     * POOL_ERR_UNSUPPORTED: they belong to another chip or driver, or the devices are of several
     * kinds (parameters for every chip are valid). POOL_ERR_INVALID_ARGUMENT: they contradict each
     * other. NULL: the file that DEVICEPOOL_TUNING names or, if that is not set, the file for this
     * chip in the cache directory. With DEVICEPOOL_TUNING=off, without a file, and where a file is
     * damaged, of another version of the library, of another chip or driver, or the devices are of
     * several kinds, the defaults are used; a file that is not used is logged once as a warning,
     * with the reason.
     */
    const struct pool_tuning *tuning;
    /*
     * For integrated devices, which share the memory of the host: the bytes that are available
     * there, read at each sample of the free memory instead of the driver's number, which leaves
     * out the page cache that an allocation reclaims. Any thread; it must not block. A result of 0:
     * not known, the driver's number counts. NULL: the smaller of MemAvailable of /proc/meminfo and
     * of what the process's memory cgroups leave. All integrated devices of a pool share one
     * account: what a lease reserves on one of them is missing on the others, and `memory_limit` is
     * the account's.
     */
    uint64_t (*host_memory)(void *user);
    void *host_memory_user;
    /*
     * From which classes of leases (pool_request.priority) on their streams are more or less
     * urgent on the device than class 0 and calls without a lease, which have the middle one of
     * the driver's priorities. Streams of classes from urgent_classes[0] up are one level more
     * urgent, from [1] up two, from [2] up three; classes from background_classes[0] down one
     * level less, from [1] down two. Priorities of CUDA are 0, the least urgent, to -5: level 0 is
     * -2. A driver with fewer has fewer levels. All 0: 1, 10, 100 and -1, -100. INVALID_ARGUMENT:
     * an urgent class below 1, a background class above -1, or one that is closer to 0 than the
     * one before.
     */
    int32_t urgent_classes[3];
    int32_t background_classes[2];
    /*
     * While a device is shared, kernels that would fill each multiprocessor with one block leave
     * this many free, so that a short job starts at once; at most half of a device's. A device is
     * shared while several leases are held on it, and for a second after one was granted beside
     * others. A lease of all slots, and UINT32_MAX: none. 0: a sixteenth, 8 of 132.
     */
    uint32_t shared_multiprocessors;
    /*
     * The longest time in nanoseconds that one launch of the library should fill a device, so that
     * other jobs on it get their turn: longer kernels are cut, to one wave of blocks at least.
     * Predicted from the rates of the chips that were measured, not enforced. Blocking calls
     * enqueue at most two such slices ahead of the device. 0: the setting DEVICEPOOL_SLICE, or
     * POOL_SLICE_NS, 2 ms, and while other leases are held on the device POOL_SHARED_SLICE_NS, 0.5
     * ms, for kernels that leave no multiprocessors free. UINT64_MAX: no limit, and everything is
     * enqueued at once. pool_exec.slice_ns replaces it for one call. docs/scheduling.md says how
     * kernels are cut.
     */
    uint64_t slice_ns;
    /*
     * The parts of each GPU for which `devices` has none: the multiprocessors of each, or, with
     * `partitions` NULL, `partition_count` equal parts. Numbers are rounded up to what the chip
     * allows (multiples of 8 from compute capability 9.0 on, of 2 before), equal parts down; the
     * last part has what the others leave, so that halves of 132 are 64 and 68.
     * POOL_ERR_INVALID_ARGUMENT: they do not fit; the message has numbers that do. A part is a
     * device of the pool with streams, slots and a context (a green one) of its own, whose kernels
     * run on its multiprocessors only; see pool_device_gpu for what the parts of a GPU have in
     * common. partition_count 0 or 1: each GPU is one device. POOL_ERR_UNSUPPORTED: the driver has
     * no green contexts (it needs one for CUDA 12.4), and with POOL_CONTEXT_OWN.
     */
    const uint32_t *partitions;
    uint32_t partition_count;
    /*
     * With worker processes: how long in nanoseconds a thread of a worker spins for the next call
     * of its thread of the pool's process, before it sleeps and takes some 70 us to wake up. A
     * service of short jobs with pauses between them sets the length of these pauses, for example
     * 10 ms, and pays for a processor per thread that uses a device and pauses for less; at most a
     * quarter of the processors, at least one, spin for a worker at the same time. The longest of
     * the pools counts. 0: the setting DEVICEPOOL_WORKER_SPIN_US, or 20 us.
     */
    uint64_t worker_spin_ns;
} pool_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_params_init(pool_params *params, size_t struct_size);

/*
 * Creates a pool; params may be NULL. Devices that cannot be used are part of the pool, with the
 * reason (pool_device_get_info, pool_describe), but are never chosen. Blocks while the driver
 * creates contexts (about 130 ms each). The caller destroys the pool. Errors: POOL_ERR_NO_DRIVER,
 * POOL_ERR_DRIVER_TOO_OLD, POOL_ERR_NO_DEVICE (fewer usable devices than min_devices),
 * POOL_ERR_DEVICE_LOST (the same because worker processes have ended meanwhile),
 * POOL_ERR_NOT_FOUND (a named device does not exist), POOL_ERR_INVALID_ARGUMENT,
 * POOL_ERR_OUT_OF_HOST_MEMORY. Any thread.
 */
POOL_API pool_status pool_create(device_pool **pool, const pool_params *params);

/*
 * Adds a reference and returns `pool`; NULL returns NULL. For independent parts of a program that
 * share a pool: each calls pool_destroy for its own reference, in any order, and the last call
 * destroys the pool. The fault hook and the caller's objects in pool_params (driver, contexts) are
 * used until then. The caller must hold a reference while it calls this.
 */
POOL_API device_pool *pool_retain(device_pool *pool);

/*
 * Releases a reference and sets *pool to NULL; NULL and a pointer to NULL are no-ops. While others
 * hold references that is all, also if bindings, buffers, streams and modules exist: their owner is
 * one of the others, and the pool and its devices stay valid. The last reference destroys the pool.
 * This fails with POOL_ERR_BUSY, and the pool and the reference remain, while threads hold a
 * binding or buffers, streams or modules of the pool exist; the message counts them. Work that is
 * still enqueued ends first, because the driver waits for it: a kernel that never ends keeps this
 * from returning. After a sticky fault, in a forked child and during process exit only host memory
 * is freed.
 */
POOL_API pool_status pool_destroy(device_pool **pool);

/* The number of all devices of the pool, and of its usable devices. Any thread. */
POOL_API size_t pool_device_count(const device_pool *pool);
POOL_API size_t pool_usable_count(const device_pool *pool);

/*
 * A device by index (0 … count-1, in the order of `devices`), ordinal, unique prefix of a UUID
 * ("GPU-" may be omitted), or PCI address "0000:06:00.0" (domain and function may be omitted).
 * Unusable devices are found as well; of the parts of a GPU all but an index find the first one.
 * POOL_ERR_NOT_FOUND when there is none, POOL_ERR_INVALID_ARGUMENT when several devices match or
 * the address is malformed.
 */
POOL_API pool_status pool_device_at(device_pool *pool, size_t index, pool_device **device);
POOL_API pool_status pool_device_by_ordinal(device_pool *pool, int ordinal, pool_device **device);
POOL_API pool_status pool_device_by_uuid(device_pool *pool, const char *uuid, pool_device **device);
POOL_API pool_status pool_device_by_pci(
    device_pool *pool, const char *address, pool_device **device);

/* Calls `visit` for each device in order until it returns non-zero. *answer receives the last
 * returned value, unless `answer` is NULL. */
typedef int (*pool_device_visitor)(void *user, pool_device *device);
POOL_API pool_status pool_device_each(
    device_pool *pool, pool_device_visitor visit, void *user, int *answer);

/*
 * Describes the pool: driver, compiler, devices with their states, and the peer access between
 * them. The caller frees *text with pool_text_free.
 */
POOL_API pool_status pool_describe(device_pool *pool, pool_text_format format, char **text);

/*
 * Choice of a usable device. `pool_next_device` is round robin: one relaxed atomic addition, no
 * lock; unusable devices are skipped without favouring their neighbours. `pool_best_device` chooses
 * the device with most free memory: the bytes that the driver reports, sampled at most every 10 ms,
 * plus the unused bytes of the library's memory pool, within the memory limit, less what leases
 * have reserved. The total counts as free on a lazy device without a context. The free memory of a
 * device that was chosen n times in the last 10 to 20 ms is divided by n + 1, so that concurrent
 * threads do not all choose the same device before their allocations are visible; equal devices are
 * chosen round robin. Both return POOL_ERR_NO_DEVICE when no device is usable, and neither creates
 * a context.
 */
POOL_API pool_status pool_next_device(device_pool *pool, pool_device **device);
POOL_API pool_status pool_best_device(device_pool *pool, pool_device **device);

/* How pool_pick_device chooses among the devices that pass the filter. */
typedef enum pool_policy {
    POOL_POLICY_ROUND_ROBIN = 0,
    POOL_POLICY_MOST_FREE = 1, /* most free memory, like pool_best_device */
    /*
     * The smallest load: the number of leases, or of calls in progress and streams with unfinished
     * work if that is larger; among equal devices the fewest unfinished launches and copies, then
     * most free memory. Only work that is enqueued through the library counts; bindings do not.
     */
    POOL_POLICY_LEAST_LOADED = 2,
    POOL_POLICY_SCORE = 3 /* the highest result of `score` */
} pool_policy;

/* The state of a device for the filter and score callbacks; memory and work are recent samples. */
typedef struct pool_candidate {
    pool_device *device;
    uint64_t free_bytes;
    uint64_t total_bytes;
    uint32_t bindings;     /* held by all threads */
    uint32_t calls;        /* of the library that are in progress on it */
    uint32_t busy_streams; /* with unfinished work of the library, at most one millisecond
                              ago */
    uint64_t
        unfinished; /* launches, copies and fills on these streams not known to have finished */
    uint64_t reserved_bytes; /* by leases; free_bytes is what they leave */
    uint32_t leases;         /* held that include the device */
} pool_candidate;

/* Zero is the default of every member but struct_size. */
typedef struct pool_pick {
    size_t struct_size;
    pool_policy policy;
    uint64_t min_free_bytes; /* devices with less are excluded */
    /* Returns 0 to exclude a device; NULL: no filter. Must not call the library. */
    int (*filter)(void *user, const pool_candidate *candidate);
    /* For POOL_POLICY_SCORE; NaN excludes a device. Equal scores are chosen round robin. Must not
     * call the library. */
    double (*score)(void *user, const pool_candidate *candidate);
    void *user;
} pool_pick;

/*
 * Chooses a device by policy and filter; `pick` may be NULL, which means round robin.
 * POOL_ERR_NO_DEVICE: no device is usable; POOL_ERR_NOT_FOUND: none passes the filter. Any thread.
 */
POOL_API pool_status pool_pick_device(
    device_pool *pool, const pool_pick *pick, pool_device **device);

/*
 * Bind pushes the device's context on the calling thread's stack; unbind pops it, which restores
 * the context that was current before. Pairs nest, also over several devices and pools. Unbind
 * requires the device that this thread bound last: for another one, or when a context of other code
 * is on top, it fails with POOL_ERR_UNBALANCED and changes nothing. With any other result the
 * binding has been removed, also after a sticky fault (POOL_ERR_PROCESS_POISONED) and when the
 * driver's pop fails. The bindings of a thread that exits are removed.
 */
POOL_API pool_status pool_bind(pool_device *device);
POOL_API pool_status pool_unbind(pool_device *device);

/* The device of `pool` whose context is current on this thread; POOL_ERR_NOT_BOUND when none is. */
POOL_API pool_status pool_bound_device(device_pool *pool, pool_device **device);

/* POOL_OK when the device with that ordinal is bound, else NOT_BOUND or WRONG_DEVICE. */
POOL_API pool_status pool_check_device(device_pool *pool, int ordinal);

/*
 * Binds the device, runs the task, unbinds, and returns the task's status or the failure of bind or
 * unbind. Bindings that the task has left are removed too (POOL_ERR_UNBALANCED, unless the task
 * itself failed).
 */
typedef pool_status (*pool_task)(pool_device *device, void *arg);
POOL_API pool_status pool_run_on(pool_device *device, pool_task task, void *arg);

/* The device of `pool` to which the device memory at `ptr` belongs; POOL_ERR_NOT_FOUND for host
 * memory and for memory of other devices. */
POOL_API pool_status pool_pointer_device(device_pool *pool, const void *ptr, pool_device **device);

/* The health of a pool. */
typedef struct pool_health_info {
    size_t struct_size;
    /* NONE, PROCESS, or DEVICE: some are unusable, quarantined, abandoned or stalled. */
    pool_error_class harmed;
    uint32_t devices;
    uint32_t usable_devices; /* READY */
    uint32_t bindings;       /* held by all threads on devices that are not abandoned */
    int32_t driver_code;     /* of the first sticky fault, else 0 */
    char driver_name[64];
    /* The call, its code, where it showed, and the unfinished kernels of each device; "" while
     * there is no fault. */
    char first_cause[1024];
    uint64_t fault_unix_time; /* seconds, of the first sticky fault; 0 while there is none */
    int32_t fault_device;     /* index of the device that caused it; -1: not certain, or no fault */
    int32_t fault_shown_on;   /* index of the device where it showed; -1: not known, or no fault */
    uint32_t draining_devices; /* these three: devices in that state of pool_device_state */
    uint32_t quarantined_devices;
    uint32_t abandoned_devices;
    /* with unfinished work and no progress, see stall_timeout_ns */
    uint32_t stalled_devices;
} pool_health_info;

/*
 * Fills `info`, whose struct_size must be set, without a driver call. Returns POOL_OK also when the
 * process is poisoned, which `info` reports; in a forked child it fails with POOL_ERR_FORKED. Any
 * thread.
 */
POOL_API pool_status pool_get_health(device_pool *pool, pool_health_info *info);

/* Where the value of a setting comes from. */
typedef enum pool_setting_source {
    POOL_SETTING_DEFAULT = 0,
    POOL_SETTING_FILE = 1,       /* the configuration file */
    POOL_SETTING_ENVIRONMENT = 2 /* which precedes the file */
} pool_setting_source;

/*
 * A setting: what an operator chooses for programs that he does not compile, see
 * docs/configuration.md. It applies where the program leaves the choice open. No pointer is NULL;
 * the strings are the library's, `value` is valid until the environment is changed.
 */
typedef struct pool_setting {
    size_t struct_size;
    const char *name;     /* of the environment variable and in the file: "DEVICEPOOL_SLOTS" */
    const char *value;    /* "": not set, or set to nothing, which is the default */
    const char *fallback; /* the default, in words */
    const char *meaning;
    pool_setting_source source;
    uint32_t line;    /* of the file */
    const char *file; /* its path, or "" */
} pool_setting;

/*
 * The settings in effect, by index from 0 on, and by name. Values are not checked: what cannot be
 * used is reported by the call that uses it, for example pool_create. POOL_ERR_NOT_FOUND: there is
 * none (any more). POOL_ERR_INVALID_ARGUMENT: the configuration file cannot be read or understood;
 * the message has the line. Any thread.
 */
POOL_API pool_status pool_setting_at(size_t index, pool_setting *setting);
POOL_API pool_status pool_setting_by_name(const char *name, pool_setting *setting);

#ifdef __cplusplus
}
#endif

#endif
