/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver: one table of functions with the state that belongs to it: versions, the fault latch.
 * The rooms above call the table only through DRIVER_CALL / DRIVER_TRY, so that every failure is
 * classified and recorded in one place.
 */
#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

#include <stdatomic.h>
#include <stdint.h>

#include <devicepool/driver.h>
#include <devicepool/status.h>

/* The first sticky fault. Written once, before `poisoned` is set. */
struct driver_fault {
    int code;
    char name[64];
    char message[512];
    uint64_t unix_time;
};

struct driver {
    pool_cuda_api api;   /* complete: what the maker's table lacks is NULL */
    int version;         /* of the driver, 13000 is CUDA 13.0 */
    char path[256];      /* the library file, or "custom table", "simulated" */
    atomic_int poisoned; /* process latch */
    struct driver_fault fault;
    /* the rest is driver/'s own */
    const pool_cuda_api *source;
    unsigned references;
    struct driver *next;
};

/*
 * The driver of a table; NULL: libcuda.so.1. Loads, initialises and asks its version; the same
 * table gives the same driver while it is open. A failure is not remembered: a later call tries
 * again.
 */
pool_status driver_open(const pool_cuda_api *table, struct driver **driver);
void driver_close(struct driver **driver);

/* POOL_OK, or POOL_ERR_PROCESS_POISONED with the first cause. No driver call. */
pool_status driver_usable(struct driver *driver);

/*
 * Turns a driver call's code into a status. A failure fills the thread's detail and is logged here;
 * a code of class PROCESS sets the latch and calls the listeners.
 */
pool_status driver_check(struct driver *driver, pool_cu_result code, const char *call);

/* The same without recording: for codes that are an answer (NOT_READY,
 * PEER_ACCESS_ALREADY_ENABLED). */
pool_status driver_status_of(pool_cu_result code);

/* "CUDA_ERROR_ILLEGAL_ADDRESS" and so on by our own list; "CUDA_ERROR_?" for a code that is not in
 * it. */
const char *driver_code_name(pool_cu_result code);
pool_error_class driver_code_class(pool_cu_result code);

/* Told once about the first sticky fault, on the thread that met it. */
typedef void (*driver_fault_listener)(void *user, const struct driver_fault *fault);
pool_status driver_listen(struct driver *driver, driver_fault_listener listener, void *user);
void driver_unlisten(struct driver *driver, driver_fault_listener listener, void *user);

/* Fork: counts up in every child. A pool keeps the number it was made with. */
unsigned driver_fork_generation(void);

/* status = DRIVER_CALL(driver, CtxSynchronize()); the call's text goes into the detail. */
#define DRIVER_CALL(driver, call) driver_check((driver), (driver)->api.call, "cu" #call)

/* DRIVER_TRY(driver, status, label, MemFree(address)); jumps on failure, never returns. */
#define DRIVER_TRY(driver, status, label, call)                                                    \
    do {                                                                                           \
        (status) = DRIVER_CALL(driver, call);                                                      \
        if (status)                                                                                \
            goto label;                                                                            \
    } while (0)

#endif
