/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool: making it, finding and choosing devices, binding one to the calling thread, health.
 */
#ifndef DEVICEPOOL_POOL_H
#define DEVICEPOOL_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/device.h>
#include <devicepool/driver.h>
#include <devicepool/status.h>
#include <devicepool/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A set of devices with one context each. Any thread may use it at any time. */
typedef struct device_pool device_pool;

/* Whose contexts the pool uses. */
typedef enum pool_context_mode {
    POOL_CONTEXT_PRIMARY =
        0,                /* the device's primary one, shared with the CUDA runtime and libraries */
    POOL_CONTEXT_OWN = 1, /* one made, and at pool_destroy destroyed, by the pool */
    POOL_CONTEXT_ADOPT = 2 /* the caller's, from pool_params.contexts; never destroyed here */
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
    CUstream stream; /* NULL: the default stream */
} pool_fault_kernel;

/* What a fault hook receives. The texts and kernels live for the call only. */
typedef struct pool_fault {
    pool_error_class error_class; /* DEVICE or PROCESS */
    int driver_code;
    const char *driver_name;
    const char *message; /* the first cause in words */
    /*
     * The device whose work or state caused it; NULL when that is not certain. A sticky fault shows
     * at whatever call comes next, on whatever device: of the devices of all pools of the process
     * this is the only one that had a kernel launched through the library that was not known to
     * have finished. Kernels that the program launches past the library are not seen.
     */
    pool_device *device;
    pool_device *shown_on;            /* where the failing call ran, or NULL: not known */
    const pool_fault_kernel *kernels; /* launched and not known to have finished */
    size_t kernel_count;              /* 0 for DEVICE */
} pool_fault;

/*
 * Runs on the thread that met the fault, once for the process's first sticky fault and once for
 * each device that becomes unusable, at creation too (then before pool_create has returned). It may
 * call pool_get_health and the texts of status.h, nothing that waits.
 */
typedef void (*pool_fault_hook)(void *user, const pool_fault *fault);

/* Zero is the default of every member but struct_size. */
typedef struct pool_params {
    size_t struct_size;
    /*
     * Which devices, in this order: NULL: the environment variable DEVICEPOOL_DEVICES, and when
     * that is not set "all"; "all"; ordinals and ranges "0,2-3"; "GPU-" or "MIG-" and a unique
     * start of a UUID; a PCI address "0000:06:00.0"; several separated by commas; "sim" or
     * "sim:4,mem=24G,cc=90" for simulated devices. Ordinals count what CUDA_VISIBLE_DEVICES leaves
     * visible. A device named twice is an error, and so is a start that more than one UUID has.
     */
    const char *devices;
    uint32_t min_devices; /* fewer usable ones than this fail the call; 0 means 1 */
    pool_context_mode context_mode;
    uint32_t context_flags; /* CU_CTX_… flags for POOL_CONTEXT_OWN */
    /* 1: make each context at its device's first use, once, however many threads ask. A device
     * whose context cannot be made is unusable from then on, with the reason kept. */
    int32_t lazy;
    /* For POOL_CONTEXT_ADOPT: one a device. `devices` must be NULL, or the "sim…" of the simulated
     * devices that the contexts belong to. */
    const CUcontext *contexts;
    size_t context_count;
    pool_fault_hook fault_hook;
    void *fault_user;
    const pool_cuda_api *driver; /* NULL: libcuda.so.1 (or the simulated driver for "sim") */
} pool_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_params_init(pool_params *params, size_t struct_size);

/*
 * Makes a pool; params may be NULL. Devices that cannot be used are skipped and kept with their
 * reason (pool_device_get_info, pool_describe). Blocks while the driver makes contexts (about 130
 * ms each). Errors: POOL_ERR_NO_DRIVER, POOL_ERR_DRIVER_TOO_OLD, POOL_ERR_NO_DEVICE (fewer usable
 * than min_devices), POOL_ERR_NOT_FOUND (a device that was named), POOL_ERR_INVALID_ARGUMENT.
 */
POOL_API pool_status pool_create(device_pool **pool, const pool_params *params);

/*
 * Destroys the pool and sets *pool to NULL; NULL and a pointer to NULL are no-ops. Refused with
 * POOL_ERR_BUSY, the pool staying as it was, while threads hold a binding or buffers, streams or
 * modules of it exist; the text counts them. Work that is still enqueued ends first, as the driver
 * waits for it: a kernel that never ends keeps this from returning. After a sticky fault, in a
 * forked child and during process exit only host memory is freed.
 */
POOL_API pool_status pool_destroy(device_pool **pool);

/* Devices of the pool, unusable ones included (by `at` they can be asked for their reason). */
POOL_API size_t pool_device_count(const device_pool *pool);
POOL_API size_t pool_usable_count(const device_pool *pool);

/*
 * A device by position (0 … count-1, the order of `devices`), ordinal, unique start of a UUID
 * ("GPU-" may be left out), or PCI address "0000:06:00.0" (domain and function may be left out).
 * POOL_ERR_NOT_FOUND when there is none, POOL_ERR_INVALID_ARGUMENT when several devices match or
 * the address is not one.
 */
POOL_API pool_status pool_device_at(device_pool *pool, size_t index, pool_device **device);
POOL_API pool_status pool_device_by_ordinal(device_pool *pool, int ordinal, pool_device **device);
POOL_API pool_status pool_device_by_uuid(device_pool *pool, const char *uuid, pool_device **device);
POOL_API pool_status pool_device_by_pci(
    device_pool *pool, const char *address, pool_device **device);

/* Calls `visit` for each device in order until it answers other than 0; that answer is put into
 * *answer unless NULL. */
typedef int (*pool_device_visitor)(void *user, pool_device *device);
POOL_API pool_status pool_device_each(
    device_pool *pool, pool_device_visitor visit, void *user, int *answer);

/*
 * Describes the pool: driver, compiler, devices with their states, and which device can address
 * which. The caller frees *text with pool_text_free.
 */
POOL_API pool_status pool_describe(device_pool *pool, pool_text_format format, char **text);

/*
 * Choosing. `pool_next_device` is round robin: one relaxed atomic addition, no lock, unusable
 * devices are skipped without favouring their neighbour. `pool_best_device` is the one with most
 * free memory: what the driver says, sampled at most every 10 ms, and what the library keeps unused
 * there; of a lazy device without a context the driver tells nothing, so all of it counts as free.
 * Free memory is shared out among those who ask: a device that was assigned n times in the last
 * 10 to 20 ms counts with its free memory divided by n + 1, so that threads that ask at once do not
 * all get the same one before their memory shows. Equals go round robin. Both: POOL_ERR_NO_DEVICE
 * when none is usable. Neither makes a context.
 */
POOL_API pool_status pool_next_device(device_pool *pool, pool_device **device);
POOL_API pool_status pool_best_device(device_pool *pool, pool_device **device);

/* How pool_pick_device chooses among the devices that pass. */
typedef enum pool_policy {
    POOL_POLICY_ROUND_ROBIN = 0,
    POOL_POLICY_MOST_FREE = 1, /* most free memory, as pool_best_device */
    /*
     * Fewest calls under way and streams with unfinished work together; among equals fewest
     * launches and copies unfinished, then fewest bindings, then most free memory. Work counts when
     * it is enqueued through the library.
     */
    POOL_POLICY_LEAST_LOADED = 2,
    POOL_POLICY_SCORE = 3 /* the highest answer of `score` */
} pool_policy;

/* What filter and score callbacks see: samples, made without driver calls where they are fresh. */
typedef struct pool_candidate {
    pool_device *device;
    uint64_t free_bytes;
    uint64_t total_bytes;
    uint32_t bindings;     /* held right now by any thread */
    uint32_t calls;        /* of the library under way on it */
    uint32_t busy_streams; /* with work enqueued through the library that is unfinished, as of the
                              last millisecond */
    uint64_t unfinished;   /* launches, copies and fills on these that are not known to be done */
} pool_candidate;

/* Zero is the default of every member but struct_size. */
typedef struct pool_pick {
    size_t struct_size;
    pool_policy policy;
    uint64_t min_free_bytes; /* devices with less are left out */
    /* Leaves a device out by answering 0; NULL: all stay. No calls into the library. */
    int (*filter)(void *user, const pool_candidate *candidate);
    /* For POOL_POLICY_SCORE; NaN leaves a device out. Ties go round robin. No calls into the
     * library. */
    double (*score)(void *user, const pool_candidate *candidate);
    void *user;
} pool_pick;

/*
 * `pick` may be NULL: round robin. POOL_ERR_NO_DEVICE: nothing usable; POOL_ERR_NOT_FOUND: nothing
 * that passed the filter.
 */
POOL_API pool_status pool_pick_device(
    device_pool *pool, const pool_pick *pick, pool_device **device);

/*
 * Binding. Bind pushes the device's context on the calling thread's stack, unbind pops it and so
 * gives the caller's own context back; pairs nest, also over several devices and pools. Unbind
 * takes off the device that this thread bound last and refuses (POOL_ERR_UNBALANCED, nothing is
 * changed) when `device` is another one or somebody else's context lies on top. Whatever else it
 * answers, the binding is gone: also after a sticky fault (POOL_ERR_PROCESS_POISONED), and when the
 * driver cannot pop. A thread that ends while it holds bindings gives them back.
 */
POOL_API pool_status pool_bind(pool_device *device);
POOL_API pool_status pool_unbind(pool_device *device);

/* The device of `pool` whose context is current on this thread; POOL_ERR_NOT_BOUND when none is. */
POOL_API pool_status pool_bound_device(device_pool *pool, pool_device **device);

/* POOL_OK when the device with that ordinal is bound, else NOT_BOUND or WRONG_DEVICE. */
POOL_API pool_status pool_check_device(device_pool *pool, int ordinal);

/*
 * Binds, runs the task, unbinds whatever the task returns, and returns the task's status, or the
 * failure of bind or unbind. What the task bound and left bound is taken off as well
 * (POOL_ERR_UNBALANCED, unless the task failed itself).
 */
typedef pool_status (*pool_task)(pool_device *device, void *arg);
POOL_API pool_status pool_run_on(pool_device *device, pool_task task, void *arg);

/* The device of `pool` that device memory at `ptr` belongs to; NOT_FOUND for host and foreign ones.
 */
POOL_API pool_status pool_pointer_device(device_pool *pool, const void *ptr, pool_device **device);

/* How the pool stands. */
typedef struct pool_health_info {
    size_t struct_size;
    pool_error_class harmed; /* NONE, DEVICE (some are unusable) or PROCESS */
    uint32_t devices;
    uint32_t usable_devices;
    uint32_t bindings;   /* held right now */
    int32_t driver_code; /* of the first sticky fault, else 0 */
    char driver_name[64];
    /* In words: call, code, where it showed, which kernels were unfinished on which devices; ""
     * while there is none. */
    char first_cause[1024];
    uint64_t fault_unix_time; /* seconds, of the first sticky fault; 0 while there is none */
    int32_t fault_device;     /* index of the device that caused it; -1: not certain, or no fault */
    int32_t fault_shown_on;   /* index of the device where it showed; -1: not known, or no fault */
} pool_health_info;

/*
 * Fills `info` (struct_size set) without a driver call. Returns POOL_OK also when the process is
 * poisoned: the answer is in `info`. Only in a forked child it fails (POOL_ERR_FORKED).
 */
POOL_API pool_status pool_get_health(device_pool *pool, pool_health_info *info);

#ifdef __cplusplus
}
#endif

#endif
