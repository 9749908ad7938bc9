/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver: a table of functions with its state (versions, the fault latch). The layers above call
 * the table only through DRIVER_CALL and DRIVER_TRY, so that every failure is classified and
 * recorded in one place.
 */
#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <devicepool/driver.h>
#include <devicepool/status.h>

/* Launches of one kernel on one stream that were not known to have finished. */
#define DRIVER_FAULT_KERNELS 16
struct driver_fault_kernel {
    int device;                     /* ordinal */
    const struct driver_work *work; /* only for comparison after the fault is reported */
    void *stream;                   /* CUstream; NULL: the default stream */
    uint32_t launches;
    char name[64];
    char label[64]; /* of the lease that it was launched for, or "" */
};

/* The first sticky fault. Written once, before `poisoned` is set. */
struct driver_fault {
    int code;
    int device;  /* ordinal of the context that was current where it showed, -1: not known */
    int culprit; /* ordinal of the device whose work caused it, -1: not certain */
    char name[64];
    char call[128];
    char message[1024]; /* call, code, device, what the code means, what was unfinished where */
    uint64_t unix_time;
    unsigned unfinished_devices; /* with launches not known to have finished */
    unsigned kernel_count;
    struct driver_fault_kernel kernels[DRIVER_FAULT_KERNELS];
};

struct driver_listener;
struct driver_work;

/* The code of calls to a process that has ended; in no list of CUDA's. */
#define DRIVER_CODE_LOST 0x706f6fu

struct driver {
    pool_cuda_api api;   /* complete: functions that the given table lacks are NULL */
    int version;         /* of the driver, 13000 is CUDA 13.0 */
    char path[256];      /* the library file, or "custom table", "simulated" */
    atomic_int poisoned; /* the fault latch */
    struct driver_fault fault;
    /* With POOL_CUDA_ISOLATED_DEVICES: why the process of a device has ended; device -1: of the one
     * whose loss made this thread's last call fail. May be NULL. */
    void (*_Atomic explain_loss)(int device, char *text, size_t size);
    /* Ends the process of a device, which is lost then; device -1: none. May be NULL. */
    void (*_Atomic end_process)(int device, const char *cause);
    /* private to src/driver; guarded by the state lock unless constant */
    const pool_cuda_api *source; /* the caller's table; NULL: the library */
    void (*release)(void);       /* called after each driver_close; may be NULL */
    void *library;
    unsigned generation; /* of the process that opened it */
    unsigned references;
    struct driver *next;
    struct driver_work *works; /* of the devices of all pools, see work.h */
    struct driver_listener *listeners;
    struct driver_listener *calling; /* the listener that is being called now */
    pthread_t caller;                /* the thread that calls it */
};

/*
 * Opens the driver of a table; with NULL that is libcuda.so.1 or the file that DEVICEPOOL_LIBCUDA
 * names. Loads and initialises it and queries its version; the same table yields the same driver
 * while it is open. A later call tries again after a failure; cuInit of libcuda, where it
 * has failed for lack of a device or a part of the driver, only once something has changed.
 * libcuda, once initialised, is never unloaded and keeps its fault latch when its last user closes
 * it: after a fault every later open fails with POOL_ERR_PROCESS_POISONED. In a forked child a
 * driver that the parent opened fails with POOL_ERR_FORKED.
 */
pool_status driver_open(const pool_cuda_api *table, struct driver **driver);
void driver_close(struct driver **driver);

/*
 * The same for an internal table called `name`. `release` is called once for each successful open,
 * when that reference is closed.
 */
pool_status driver_open_internal(
    const pool_cuda_api *table, const char *name, void (*release)(void), struct driver **driver);

/*
 * The fork generation, which is incremented in every child; a pool stores the number at its
 * creation. No system call is made; driver_open and the first failing driver call detect a child
 * created by a bare clone(). Inline because the shortest calls of the library take a few
 * nanoseconds.
 */
extern atomic_uint driver_fork_count __attribute__((visibility("hidden")));

static inline unsigned driver_fork_generation(void)
{
    return atomic_load_explicit(&driver_fork_count, memory_order_relaxed);
}

/* POOL_OK, POOL_ERR_FORKED, or POOL_ERR_PROCESS_POISONED with the first cause. No driver call. */
pool_status driver_unusable(struct driver *driver); /* the slow path, which sets the reason */

static inline pool_status driver_usable(struct driver *driver)
{
    int is_usable = driver->generation == driver_fork_generation() &&
                    !atomic_load_explicit(&driver->poisoned, memory_order_relaxed);

    return __builtin_expect(is_usable, 1) ? POOL_OK : driver_unusable(driver);
}

/*
 * Converts a driver call's code into a status. `call` is the function's name; of a longer string
 * only the part before the first '(' is used. A failure sets the thread's error detail and is
 * logged here, with the ordinal of the device whose context is current if the call uses a context.
 * A code of class PROCESS sets the latch and calls the listeners. Once the latch is set every
 * failure is POOL_ERR_PROCESS_POISONED with the first cause.
 *
 * CUDA_ERROR_UNKNOWN (999) can be of either class: the thread's current context is then probed with
 * cuMemGetInfo, which does not block and fails in a poisoned context. If the probe returns 999
 * again or another code of class PROCESS, the latch is set; otherwise only the call has failed.
 * With POOL_CUDA_ISOLATED_DEVICES the device's process is ended instead.
 */
pool_status driver_check_failed(struct driver *driver, pool_cu_result code, const char *call);

static inline pool_status driver_check(struct driver *driver, pool_cu_result code, const char *call)
{
    return __builtin_expect(code == 0, 1) ? POOL_OK : driver_check_failed(driver, code, call);
}

/* For queries: POOL_ERR_NOT_READY is a result and not recorded; otherwise as driver_check. */
static inline pool_status driver_check_query(
    struct driver *driver, pool_cu_result code, const char *call)
{
    return code == POOL_CU_NOT_READY ? POOL_ERR_NOT_READY : driver_check(driver, code, call);
}

/* driver_check without recording, for codes that are results (NOT_READY,
 * PEER_ACCESS_ALREADY_ENABLED). */
pool_status driver_status_of(pool_cu_result code);

/* The code's name, "CUDA_ERROR_ILLEGAL_ADDRESS" for example, from the library's list;
 * "CUDA_ERROR_?" for a code that is not in it. */
const char *driver_code_name(pool_cu_result code);
pool_error_class driver_code_class(pool_cu_result code);
/* What the code usually means; "" if there is no more to say than its name. */
const char *driver_code_hint(pool_cu_result code);

/*
 * Called once for the first sticky fault, on the thread that detected it and with no lock held.
 * driver_listen fails if the fault has already happened. The listener does not run after
 * driver_unlisten has returned; it may remove itself.
 */
typedef void (*driver_fault_listener)(void *user, const struct driver_fault *fault);
pool_status driver_listen(struct driver *driver, driver_fault_listener listener, void *user);
void driver_unlisten(struct driver *driver, driver_fault_listener listener, void *user);

/* The same with values that are meaningful to the reader: "cuMemAlloc(2 GiB)". */
pool_status driver_check_failed_for(struct driver *driver, pool_cu_result code, const char *call,
    const char *values, ...) __attribute__((format(printf, 4, 5)));

/* status = DRIVER_CALL(driver, CtxSynchronize()); the function's name goes into the detail. */
#define DRIVER_CALL(driver, call) driver_check((driver), (driver)->api.call, "cu" #call)

/*
 * The same for an existing code, with a printf format and values for the detail. They are evaluated
 * only after a failure, so successful calls have no extra cost:
 *     DRIVER_CHECK_FOR(driver, code, "cuMemAlloc", "%s", base_size_text(bytes).text)
 */
#define DRIVER_CHECK_FOR(driver, code, call, ...)                                                  \
    ({                                                                                             \
        pool_cu_result driver_code = (code);                                                       \
        __builtin_expect(driver_code == 0, 1)                                                      \
            ? POOL_OK                                                                              \
            : driver_check_failed_for((driver), driver_code, (call), __VA_ARGS__);                 \
    })

/* status = DRIVER_CALL_FOR(driver, MemAlloc(&made, n), "%s", base_size_text(n).text); */
#define DRIVER_CALL_FOR(driver, call, ...)                                                         \
    DRIVER_CHECK_FOR(driver, (driver)->api.call, "cu" #call, __VA_ARGS__)

/* DRIVER_TRY(driver, status, label, MemFree(address)); jumps on failure, never returns. */
#define DRIVER_TRY(driver, status, label, call)                                                    \
    do {                                                                                           \
        (status) = DRIVER_CALL(driver, call);                                                      \
        if (status)                                                                                \
            goto label;                                                                            \
    } while (0)

/* The same with values, as DRIVER_CALL_FOR. */
#define DRIVER_TRY_FOR(driver, status, label, call, ...)                                           \
    do {                                                                                           \
        (status) = DRIVER_CALL_FOR(driver, call, __VA_ARGS__);                                     \
        if (status)                                                                                \
            goto label;                                                                            \
    } while (0)

#endif
