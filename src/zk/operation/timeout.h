/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls with a pool_exec.timeout_ns. A driver call on a device that hangs does not return, so the
 * operation runs on a thread of the library, with copies of its arguments. The caller waits until
 * the deadline, cancels it then, and leaves the thread behind if it does not end; the device in
 * whose call the thread is gets quarantined.
 */
#ifndef MEMORY_TIMEOUT_H
#define MEMORY_TIMEOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <devicepool/exec.h>

#include "zk/operation/exec.h"

enum memory_argument_kind {
    MEMORY_ARGUMENT_POINTER, /* passed as it is: a handle, or memory that must stay valid */
    MEMORY_ARGUMENT_BYTES,   /* `bytes` of it are copied; also a value */
    MEMORY_ARGUMENT_PARAMS,  /* a struct that begins with its size: the same */
    MEMORY_ARGUMENT_SPAN,
    MEMORY_ARGUMENT_EXEC,
    MEMORY_ARGUMENT_RESULT /* where the call returns a handle; written on success in time only */
};
struct memory_argument {
    enum memory_argument_kind kind;
    const void *given;
    size_t bytes;                  /* 0: passed as it is */
    void (*discard)(void *handle); /* of a result that comes too late */
};

#define MEMORY_POINTER(pointer)                                                                    \
    {                                                                                              \
        MEMORY_ARGUMENT_POINTER, (pointer), 0, NULL                                                \
    }
#define MEMORY_BYTES(pointer, size)                                                                \
    {                                                                                              \
        MEMORY_ARGUMENT_BYTES, (pointer), (size), NULL                                             \
    }
/* Of a variable; the function gets its address. */
#define MEMORY_VALUE(value)                                                                        \
    {                                                                                              \
        MEMORY_ARGUMENT_BYTES, &(value), sizeof(value), NULL                                       \
    }
#define MEMORY_PARAMS(params)                                                                      \
    {                                                                                              \
        MEMORY_ARGUMENT_PARAMS, (params), (params) ? (params)->struct_size : 0, NULL               \
    }
#define MEMORY_SPAN(span)                                                                          \
    {                                                                                              \
        MEMORY_ARGUMENT_SPAN, (span), sizeof(pool_span), NULL                                      \
    }
#define MEMORY_EXEC(exec)                                                                          \
    {                                                                                              \
        MEMORY_ARGUMENT_EXEC, (exec), 0, NULL                                                      \
    }
#define MEMORY_RESULT(handle, discard)                                                             \
    {                                                                                              \
        MEMORY_ARGUMENT_RESULT, (handle), sizeof(void *), (discard)                                \
    }

enum { MEMORY_ARGUMENTS = 10 };

struct memory_timed_call {
    const char *name; /* the public function */
    /* Calls it with the copies, in their order. */
    pool_status (*run)(void *const *arguments);
    pool_device *device; /* the call's if the pool_exec has none; NULL: the one that is bound */
    size_t count;
    struct memory_argument arguments[MEMORY_ARGUMENTS];
};

/* Whether a caller's pool_exec, which is not validated yet, has a timeout_ns. */
bool memory_has_timeout(const pool_exec *given);

/* Runs the call on a thread; POOL_ERR_TIMEOUT at the deadline. One of the arguments is
 * MEMORY_EXEC, with a timeout. */
pool_status memory_run_timed(const struct memory_timed_call *call);

/* The arguments are those of `run`, in a list. */
#define MEMORY_RUN_TIMED(run_function, its_device, ...)                                            \
    memory_run_timed(&(const struct memory_timed_call){.name = __func__,                           \
        .run = (run_function),                                                                     \
        .device = (its_device),                                                                    \
        .count = sizeof((const struct memory_argument[]){__VA_ARGS__}) /                           \
                 sizeof(struct memory_argument),                                                   \
        .arguments = {__VA_ARGS__}})

/*
 * The timed call that the calling thread works for; NULL: none. Other threads that work for it join
 * it while they do, so that the device in which one of them hangs is found.
 */
struct memory_timed;
struct memory_timed *memory_timed_current(void);
void memory_timed_join(struct memory_timed *timed);
void memory_timed_part(struct memory_timed *timed);

#endif
