/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver: one table of functions with the state that belongs to it: versions, the fault latch.
 * The rooms above call the table only through DRIVER_CALL / DRIVER_TRY, so that every failure is
 * classified and recorded in one place.
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
    const struct driver_work *work; /* for comparing only, once the fault is reported */
    void *stream;                   /* CUstream; NULL: the default stream */
    uint32_t launches;
    char name[64];
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

struct driver {
    pool_cuda_api api;   /* complete: what the maker's table lacks is NULL */
    int version;         /* of the driver, 13000 is CUDA 13.0 */
    char path[256];      /* the library file, or "custom table", "simulated" */
    atomic_int poisoned; /* process latch */
    struct driver_fault fault;
    /* the rest is driver/'s own, guarded by its state lock where it is not constant */
    const pool_cuda_api *source; /* the caller's table; NULL: the library */
    void (*release)(void);       /* called after each driver_close; NULL: nothing */
    void *library;
    unsigned generation; /* of the process that opened it */
    unsigned references;
    struct driver *next;
    struct driver_work *works; /* of the devices of all pools, see work.h */
    struct driver_listener *listeners;
    struct driver_listener *calling; /* the listener that is being told right now */
    pthread_t caller;                /* the thread that tells it */
};

/*
 * The driver of a table; NULL: libcuda.so.1, or what DEVICEPOOL_LIBCUDA names. Loads, initialises
 * and asks its version; the same table gives the same driver while it is open. A failure is not
 * remembered: a later call tries again. The library, once initialised, is never unloaded and keeps
 * its fault latch when the last user closes it: POOL_ERR_PROCESS_POISONED from then on. In a forked
 * child a driver that the parent opened is POOL_ERR_FORKED.
 */
pool_status driver_open(const pool_cuda_api *table, struct driver **driver);
void driver_close(struct driver **driver);

/*
 * The same for a table of the library's own, called `name`. `release` is called once for each
 * success here when that reference is closed.
 */
pool_status driver_open_internal(
    const pool_cuda_api *table, const char *name, void (*release)(void), struct driver **driver);

/*
 * Fork: counts up in every child. A pool keeps the number it was made with. No system call; a child
 * made by a bare clone() is noticed by driver_open and by the first failing driver call. Inline
 * because the shortest calls of the library take a few nanoseconds.
 */
extern atomic_uint driver_fork_count __attribute__((visibility("hidden")));

static inline unsigned driver_fork_generation(void)
{
    return atomic_load_explicit(&driver_fork_count, memory_order_relaxed);
}

/* POOL_OK, POOL_ERR_FORKED, or POOL_ERR_PROCESS_POISONED with the first cause. No driver call. */
pool_status driver_unusable(struct driver *driver); /* the slow half: says why */

static inline pool_status driver_usable(struct driver *driver)
{
    int is_usable = driver->generation == driver_fork_generation() &&
                    !atomic_load_explicit(&driver->poisoned, memory_order_relaxed);

    return __builtin_expect(is_usable, 1) ? POOL_OK : driver_unusable(driver);
}

/*
 * Turns a driver call's code into a status. `call` is the function's name; of a longer text only
 * what stands before the first '(' is used. A failure fills the thread's detail and is logged here,
 * with the ordinal of the device whose context is current where the call works on a context;
 * a code of class PROCESS sets the latch and calls the listeners. Once the latch is set every
 * failure is POOL_ERR_PROCESS_POISONED with the first cause.
 *
 * CUDA_ERROR_UNKNOWN (999) can be either: the thread's current context is then probed with
 * cuMemGetInfo, which waits for nothing and which a poisoned context refuses. If the probe answers
 * 999 again or another code of class PROCESS, the latch is set; else only the call is harmed.
 */
pool_status driver_check_failed(struct driver *driver, pool_cu_result code, const char *call);

static inline pool_status driver_check(struct driver *driver, pool_cu_result code, const char *call)
{
    return __builtin_expect(code == 0, 1) ? POOL_OK : driver_check_failed(driver, code, call);
}

/* For queries: POOL_ERR_NOT_READY is an answer and not recorded; else as driver_check. */
static inline pool_status driver_check_query(
    struct driver *driver, pool_cu_result code, const char *call)
{
    return code == POOL_CU_NOT_READY ? POOL_ERR_NOT_READY : driver_check(driver, code, call);
}

/* driver_check without recording: for codes that are an answer (NOT_READY,
 * PEER_ACCESS_ALREADY_ENABLED). */
pool_status driver_status_of(pool_cu_result code);

/* "CUDA_ERROR_ILLEGAL_ADDRESS" and so on by our own list; "CUDA_ERROR_?" for a code that is not in
 * it. */
const char *driver_code_name(pool_cu_result code);
pool_error_class driver_code_class(pool_cu_result code);

/*
 * Told once about the first sticky fault, on the thread that met it and with no lock held.
 * driver_listen fails when the fault has already happened. After driver_unlisten has returned the
 * listener does not run any more; it may unlisten itself.
 */
typedef void (*driver_fault_listener)(void *user, const struct driver_fault *fault);
pool_status driver_listen(struct driver *driver, driver_fault_listener listener, void *user);
void driver_unlisten(struct driver *driver, driver_fault_listener listener, void *user);

/* The same with the values that mean something to the reader: "cuMemAlloc(2 GiB)". */
pool_status driver_check_failed_for(struct driver *driver, pool_cu_result code, const char *call,
    const char *values, ...) __attribute__((format(printf, 4, 5)));

/* status = DRIVER_CALL(driver, CtxSynchronize()); the function's name goes into the detail. */
#define DRIVER_CALL(driver, call) driver_check((driver), (driver)->api.call, "cu" #call)

/*
 * The same for a code that is there already, with a printf format and values for the detail. They
 * are evaluated after a failure only, so a call that succeeds costs nothing more:
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
