/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every call returns, and the detail of the calling thread's last failure.
 */
#ifndef DEVICEPOOL_STATUS_H
#define DEVICEPOOL_STATUS_H

#include <stdint.h>

#include <devicepool/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 0 is success, failures are negative. They are grouped by the largest thing that is harmed, so
 * that a service can decide by `pool_status_class` alone: fail the job, stop using the device,
 * tell the operator about the host, or leave the process.
 */
typedef enum pool_status {
    POOL_OK = 0,

    /* The call: nothing but this call is harmed. */
    POOL_ERR_INVALID_ARGUMENT = -1,     /* a NULL, a wrong size, an impossible combination */
    POOL_ERR_OUT_OF_HOST_MEMORY = -2,   /* malloc or pinned host memory */
    POOL_ERR_OUT_OF_DEVICE_MEMORY = -3, /* the text has asked, free and reserved bytes */
    POOL_ERR_NOT_FOUND = -4,            /* no such device, kernel, symbol, file or entry */
    POOL_ERR_NOT_BOUND = -5,            /* the calling thread has no device of the pool bound */
    POOL_ERR_WRONG_DEVICE = -6,         /* another device is bound, or memory of another device */
    POOL_ERR_BUSY = -7,                 /* still in use: threads hold a binding, handles exist */
    POOL_ERR_NOT_READY = -8,            /* asynchronous work is still under way */
    POOL_ERR_TIMEOUT = -9,              /* a deadline passed */
    POOL_ERR_CANCELLED = -10,           /* the caller asked for it to end */
    POOL_ERR_UNSUPPORTED = -11,         /* this driver, chip or build cannot do it */
    POOL_ERR_COMPILE = -12,             /* the source text is wrong; the text has the log */
    POOL_ERR_BAD_IMAGE = -13,           /* PTX or cubin that this device cannot load */
    POOL_ERR_BAD_DATA = -14,            /* a file or an encoding that breaks its format */
    POOL_ERR_IO = -15,                  /* the operating system refused a file operation */
    POOL_ERR_UNBALANCED = -16, /* unbind without bind, or a context that is not ours on top */
    POOL_ERR_DRIVER = -17,     /* another driver error that harms only this call */

    /* The device: other devices go on. */
    POOL_ERR_DEVICE_UNUSABLE = -100, /* its context could not be made; the reason is kept */

    /* The host: no device can be used until somebody changes the installation. */
    POOL_ERR_NO_DRIVER = -200,      /* libcuda.so.1 is not there or is the toolkit's stub */
    POOL_ERR_DRIVER_TOO_OLD = -201, /* a required function is missing */
    POOL_ERR_NO_DEVICE = -202,      /* the driver works but shows no usable device */
    POOL_ERR_NO_COMPILER = -203,    /* NVRTC is not there or cannot serve this chip */

    /* The process: only another process can go on. */
    POOL_ERR_PROCESS_POISONED = -300, /* a sticky fault; the text has its first cause */
    POOL_ERR_FORKED = -301,           /* the pool was made before fork(); make one after exec */
    POOL_ERR_SHUTDOWN = -302,         /* the driver is being torn down at process exit */

    /* A broken promise inside the library: please report it. */
    POOL_ERR_INTERNAL = -400
} pool_status;

/* The largest thing that a failure harms. */
typedef enum pool_error_class {
    POOL_CLASS_NONE = 0,
    POOL_CLASS_CALL = 1,
    POOL_CLASS_DEVICE = 2,
    POOL_CLASS_HOST = 3,
    POOL_CLASS_PROCESS = 4,
    POOL_CLASS_INTERNAL = 5
} pool_error_class;

/*
 * Detail of the last failure on the calling thread. `message` is a sentence that says what was
 * tried, why it failed and, where it is known, what to do. `call` is the driver function with the
 * values that mean something, "cuMemAlloc(2 GiB)", or "" when no driver call was the cause.
 * `driver_code` is the CUresult (0 when no driver call was the cause) and `driver_name` its name.
 */
typedef struct pool_error {
    pool_status status;
    int driver_code;
    const char *driver_name;
    const char *call;
    const char *message;
} pool_error;

/* "POOL_ERR_TIMEOUT" and so on; "POOL_ERR_?" for a value that is none. Static. Any thread. */
POOL_API const char *pool_status_name(pool_status status);

/* One sentence about the status in general. Static. Any thread. */
POOL_API const char *pool_status_text(pool_status status);

/* The class by the table above; INTERNAL for a value that is none. Any thread. */
POOL_API pool_error_class pool_status_class(pool_status status);

/* "call", "device", "host", "process", "internal" or "none". Static. Any thread. */
POOL_API const char *pool_error_class_name(pool_error_class error_class);

/*
 * Detail of the calling thread's last failure; never NULL. It belongs to the thread and stays until
 * that thread's next failing call or its exit. A success does not clear it. Before any failure:
 * status 0 and empty texts. Where a thread's first failure finds no host memory for the detail, the
 * status and the text of pool_status_text remain.
 */
POOL_API const pool_error *pool_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
