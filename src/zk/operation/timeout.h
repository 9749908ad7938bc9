/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls with a pool_exec.timeout_ns. A driver call on a device that hangs does not return, so the
 * operation runs on a thread of the library, with copies of its arguments. The caller waits until
 * the deadline, cancels it then, and leaves the thread behind if it does not end; the device in
 * whose call the thread is gets quarantined.
 */
#ifndef TIMEOUT_H
#define TIMEOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <devicepool/exec.h>

#include "zk/operation/exec.h"

enum timed_argument_kind {
    TIMED_ARGUMENT_POINTER, /* passed as it is: a handle, or memory that must stay valid */
    TIMED_ARGUMENT_BYTES,   /* `bytes` of it are copied; also a value */
    TIMED_ARGUMENT_PARAMS,  /* a struct that begins with its size: the same */
    TIMED_ARGUMENT_SPAN,
    TIMED_ARGUMENT_EXEC,
    TIMED_ARGUMENT_RESULT /* where the call returns a handle; written on success in time only */
};
struct timed_argument {
    enum timed_argument_kind kind;
    const void *given;
    size_t bytes;                  /* 0: passed as it is */
    void (*discard)(void *handle); /* of a result that comes too late */
};

#define TIMED_POINTER(pointer)                                                                     \
    {                                                                                              \
        TIMED_ARGUMENT_POINTER, (pointer), 0, NULL                                                 \
    }
#define TIMED_BYTES(pointer, size)                                                                 \
    {                                                                                              \
        TIMED_ARGUMENT_BYTES, (pointer), (size), NULL                                              \
    }
/* Of a variable; the function gets its address. */
#define TIMED_VALUE(value)                                                                         \
    {                                                                                              \
        TIMED_ARGUMENT_BYTES, &(value), sizeof(value), NULL                                        \
    }
#define TIMED_PARAMS(params)                                                                       \
    {                                                                                              \
        TIMED_ARGUMENT_PARAMS, (params), (params) ? (params)->struct_size : 0, NULL                \
    }
#define TIMED_SPAN(span)                                                                           \
    {                                                                                              \
        TIMED_ARGUMENT_SPAN, (span), sizeof(pool_span), NULL                                       \
    }
#define TIMED_EXEC(exec)                                                                           \
    {                                                                                              \
        TIMED_ARGUMENT_EXEC, (exec), 0, NULL                                                       \
    }
#define TIMED_RESULT(handle, discard)                                                              \
    {                                                                                              \
        TIMED_ARGUMENT_RESULT, (handle), sizeof(void *), (discard)                                 \
    }

enum { TIMED_ARGUMENTS = 10 };

struct operation_call;

struct timed_call {
    const char *name; /* the public function */
    /* Calls it with the copies, in their order. */
    pool_status (*run)(void *const *arguments);
    pool_device *device; /* the call's if the pool_exec has none; NULL: the one that is bound */
    size_t count;
    struct timed_argument arguments[TIMED_ARGUMENTS];
    const struct operation_call *call; /* instead of run, device and arguments */
};

/* Runs a call whose pool_exec has a timeout; POOL_ERR_TIMEOUT at the deadline. */
pool_status timed_run_call(const struct operation_call *call);

/* Whether a caller's pool_exec, which is not validated yet, has a timeout_ns. */
bool exec_has_timeout(const pool_exec *given);

/* Runs the call on a thread; POOL_ERR_TIMEOUT at the deadline. One of the arguments is
 * TIMED_EXEC, with a timeout. */
pool_status timed_run(const struct timed_call *call);

/* The arguments are those of `run`, in a list. */
#define TIMED_RUN(run_function, its_device, ...)                                                   \
    timed_run(&(const struct timed_call){.name = __func__,                                         \
        .run = (run_function),                                                                     \
        .device = (its_device),                                                                    \
        .count =                                                                                   \
            sizeof((const struct timed_argument[]){__VA_ARGS__}) / sizeof(struct timed_argument),  \
        .arguments = {__VA_ARGS__}})

/*
 * The timed call that the calling thread works for; NULL: none. Other threads that work for it join
 * it while they do, so that the device in which one of them hangs is found.
 */
struct timed;
struct timed *timed_current(void);
void timed_join(struct timed *timed);
void timed_part(struct timed *timed);

#endif
