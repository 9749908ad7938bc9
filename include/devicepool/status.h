/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status that calls return, and the detail of the calling thread's last failure.
 */
#ifndef DEVICEPOOL_STATUS_H
#define DEVICEPOOL_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 0 is success, failures are negative. They are grouped by the largest thing that is harmed, so
 * that a service can decide by `pool_status_class` alone: fail the job, stop using the device,
 * report the host to the operator, or leave the process.
 *
 * Every function that uses a device may return, besides the errors that its comment lists,
 * POOL_ERR_DEVICE_UNUSABLE, POOL_ERR_PROCESS_POISONED, POOL_ERR_FORKED, POOL_ERR_SHUTDOWN and
 * POOL_ERR_DRIVER; every function that allocates, POOL_ERR_OUT_OF_HOST_MEMORY.
 */
typedef enum pool_status {
    POOL_OK = 0,

    /* The call: only this call is harmed. */
    POOL_ERR_INVALID_ARGUMENT = -1,     /* NULL, a wrong size, an invalid combination */
    POOL_ERR_OUT_OF_HOST_MEMORY = -2,   /* malloc or pinned host memory */
    POOL_ERR_OUT_OF_DEVICE_MEMORY = -3, /* the message has requested, free and reserved bytes */
    POOL_ERR_NOT_FOUND = -4,            /* no such device, kernel, symbol, file or entry */
    POOL_ERR_NOT_BOUND = -5,            /* the calling thread has no device of the pool bound */
    POOL_ERR_WRONG_DEVICE = -6,         /* another device is bound, or memory of another device */
    POOL_ERR_BUSY = -7,                 /* still in use: threads hold a binding, handles exist */
    POOL_ERR_NOT_READY = -8,            /* asynchronous work is unfinished */
    POOL_ERR_TIMEOUT = -9,              /* a deadline passed */
    POOL_ERR_CANCELLED = -10,           /* requested by the caller */
    POOL_ERR_UNSUPPORTED = -11,         /* this driver, chip or build cannot do it */
    POOL_ERR_COMPILE = -12,             /* an error in the source; the message has the log */
    POOL_ERR_BAD_IMAGE = -13,           /* PTX or cubin that this device cannot load */
    POOL_ERR_BAD_DATA = -14,            /* a file or an encoding that violates its format */
    POOL_ERR_IO = -15,                  /* a file operation failed */
    POOL_ERR_UNBALANCED = -16,          /* unbind without bind, or another context is on top */
    POOL_ERR_DRIVER = -17,              /* another driver error that harms only this call */

    /* The device: other devices continue to work. */
    POOL_ERR_DEVICE_UNUSABLE = -100, /* no context, or lost; its info has the reason */
    POOL_ERR_DEVICE_LOST = -101,     /* its worker process or context has ended; docs/errors.md */

    /* The host: no device can be used until the installation is changed. */
    POOL_ERR_NO_DRIVER = -200,      /* libcuda.so.1 is missing or is the toolkit's stub */
    POOL_ERR_DRIVER_TOO_OLD = -201, /* a required function is missing */
    POOL_ERR_NO_DEVICE = -202,      /* the driver works but reports no usable device */
    POOL_ERR_NO_COMPILER = -203,    /* NVRTC is missing or does not support this chip */

    /* The process: only another process can continue. */
    POOL_ERR_PROCESS_POISONED = -300, /* a sticky fault; the message has its first cause */
    POOL_ERR_FORKED = -301,   /* the pool was created before fork(); create one after exec */
    POOL_ERR_SHUTDOWN = -302, /* the driver shuts down at process exit */

    /* A violated invariant of the library: please report it. */
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
 * Detail of the last failure on the calling thread. `message` says what was attempted, why it
 * failed and, if known, what to do. `call` is the driver function with its relevant values,
 * "cuMemAlloc(2 GiB)", or "" when no driver call was the cause. `driver_code` is the CUresult (0
 * when no driver call was the cause) and `driver_name` its name.
 */
typedef struct pool_error {
    pool_status status;
    int driver_code;
    const char *driver_name;
    const char *call;
    const char *message;
} pool_error;

/* "POOL_ERR_TIMEOUT" and so on; "POOL_ERR_?" for an unknown value. Static. Any thread. */
POOL_API const char *pool_status_name(pool_status status);

/* One sentence that explains the status. Static. Any thread. */
POOL_API const char *pool_status_text(pool_status status);

/* The class of a status; INTERNAL for an unknown value. Any thread. */
POOL_API pool_error_class pool_status_class(pool_status status);

/* "call", "device", "host", "process", "internal" or "none". Static. Any thread. */
POOL_API const char *pool_error_class_name(pool_error_class error_class);

/*
 * Detail of the calling thread's last failure; never NULL. It belongs to the thread and is valid
 * until that thread's next failing call or its exit; success does not clear it. Before any failure
 * the status is 0 and the strings are empty. If there is no host memory for the detail of a
 * thread's first failure, it consists of the status and pool_status_text.
 */
POOL_API const pool_error *pool_last_error(void);

/*
 * A copy of such a detail in memory of the caller, for callers whose results are read by another
 * thread, as in bindings with asynchronous calls. `error` of a pool_exec or a pool_request names
 * one that the call fills when it fails; after a success the contents mean nothing. Longer texts
 * are cut.
 */
typedef struct pool_error_slot {
    size_t struct_size;
    pool_status status;
    int32_t driver_code;
    char driver_name[64];
    char call[128];
    char message[1024];
} pool_error_slot;

/* Copies pool_last_error of the calling thread. POOL_ERR_INVALID_ARGUMENT: NULL, or a struct_size
 * that is not valid. Any thread. */
POOL_API pool_status pool_error_read(pool_error_slot *slot);

/*
 * Records a failure of the calling thread as the library does with its own: pool_last_error has the
 * status and a copy of `message`, which is logged as an error. Returns `status`. For libraries that
 * are built on this one. POOL_ERR_INVALID_ARGUMENT, recorded too, for a NULL message or a status
 * that is not negative. Any thread.
 */
POOL_API pool_status pool_error_set(pool_status status, const char *message);

/* ---- texts ----------------------------------------------------------------------------------- */

/* The format of a description that the library writes: plain text for people, or JSON. */
typedef enum pool_text_format {
    POOL_TEXT_PLAIN = 0, /* for people; not meant to be parsed */
    POOL_TEXT_JSON = 1   /* one JSON value; members are only ever added */
} pool_text_format;

/* Frees a text that a function of the library allocated and sets *text to NULL; NULL and a pointer
 * to NULL are no-ops. */
POOL_API void pool_text_free(char **text);

#ifdef __cplusplus
}
#endif

#endif
