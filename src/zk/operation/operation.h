/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of an operation. A public function stores its arguments in a call, a struct that begins
 * with a struct operation_call, and passes it to operation_run, or, to forecast the device memory,
 * to operation_forecast. The operation's table says what its arguments are and has its steps, which
 * the frame calls in their order.
 */
#ifndef OPERATION_H
#define OPERATION_H

#include <stddef.h>

#include "pool/device/counters.h"
#include "zk/operation/devices.h"
#include "zk/operation/exec.h"
#include "zk/operation/operand.h"
#include "zk/operation/workspace.h"

/* ---- the table of an operation --------------------------------------------------------------- */

/* A pointer among the arguments. With a timeout, the call's thread gets copies. */
enum operation_argument_kind {
    OPERATION_POINTER, /* a handle, or memory that must stay valid: not copied */
    OPERATION_PARAMS,  /* a struct that begins with its size: `type`; validated at `copy_at` */
    OPERATION_SPAN,    /* an operand */
    OPERATION_MATRIX,  /* a pool_matrix: the span with which it begins is an operand */
    OPERATION_ARRAY,   /* of `bytes` each; their number is the uint32_t at `copy_at` */
    OPERATION_STRING,  /* ends with a zero */
    OPERATION_RESULT   /* where the call returns `made`; `discard` releases it instead, without an
                          error, where the call fails or is late */
};
struct operation_argument {
    const char *name;
    size_t at; /* in the call, as all offsets */
    enum operation_argument_kind kind;
    bool is_optional;    /* may be NULL, or the operation reports it */
    bool is_for_run;     /* forecasts do not have it */
    const char *operand; /* what it is called in messages */
    size_t copy_at;
    const struct base_struct *type;
    uint32_t bytes, most; /* of an item of an array, 0: it begins with it; the most of them */
    void (*discard)(void *handle);
};
enum { OPERATION_ARGUMENTS = 8, OPERATION_OPERANDS = 3, OPERATION_SCRATCH = 5 };

/* An operand of a list. */
struct operation_operand {
    const pool_span *span; /* NULL: the call has none */
    struct span_item item;
    char name[32]; /* in messages */
};

struct operation_division;

/* Each step has the call as its argument. All but `run` are optional. */
struct operation {
    /* Of calls on a device, see <devicepool/trace.h>. NULL: the call consists of others, which
     * count, and `run` is called without a device. */
    const char *counter;
    bool
        is_uncounted; /* without a counter, but on a device: a part of a call that does not count */
    uint32_t call_bytes;
    struct exec_rules rules;
    struct operation_argument arguments[OPERATION_ARGUMENTS];
    bool forecasts_by_chip; /* forecasts need the device, too */
    bool takes_block;       /* the frame allocates all of the call's memory at once */
    /* A device of the call that a handle has and no pool_exec; NULL: none. */
    pool_device *(*device)(const void *call);

    /* Operands that are not arguments, behind those that are; false past the last. */
    bool (*list)(const void *call, uint32_t index, struct operation_operand *operand);

    /* Validates the values of params; their sizes and the pool_exec have been. */
    pool_status (*read)(void *call);
    /* Sets subject, items and what the operands are; also of a device's part of a call. */
    void (*prepare)(void *call);
    /* Checks what the operands must fulfil together, once each has been checked. */
    pool_status (*check)(void *call);
    /* Sets `memory` for the largest chunks that need at most `limit` bytes, or, where there are
     * none, for the smallest ones. */
    pool_status (*plan)(void *call, uint64_t limit);
    /* After a lack of device memory for a block, before it is planned smaller: loads again what was
     * evicted for it. NULL: the lack fails the call. */
    pool_status (*restore)(void *call);
    /* Enqueues the work, with the device's context current and the memory open. */
    pool_status (*run)(void *call);
    /* Computes on the host; every operand is in host memory. */
    pool_status (*on_host)(void *call);

    /* Several devices; NULL: one only. See struct operation_division. */
    pool_status (*divide)(void *call, struct operation_division *division);
    bool (*part)(const void *call, const struct operation_division *division, uint32_t index,
        uint32_t number, void *part);
    /* What of the part can fail; the frame frees the part's host_memory. */
    pool_status (*open_part)(void *part, const struct operation_division *division, uint32_t index);
};

/* ---- a call ---------------------------------------------------------------------------------- */

struct operation_memory {
    uint64_t bytes; /* of device memory that the call allocates */
    /* Of a workspace of the caller's that takes only a part of the call's memory; 0: all of it. */
    uint64_t part_bytes;
    /* Some of a block only makes the work faster. It is taken where memory is free for it,
     * otherwise the frame sets omits_optional and plans again. */
    bool has_optional, omits_optional;
};

struct operation_call {
    const struct operation *operation;
    const char *name; /* the public function */
    const pool_exec *given;

    /* Set by the frame: */
    bool is_forecast; /* data may be at NULL */
    pool_exec exec;   /* validated */
    struct exec_target target;
    struct progress progress;
    pool_buffer *block;  /* with takes_block: the memory, or the caller's workspace */
    CUdeviceptr address; /* of the block */
    pool_buffer *owned;  /* the block, where the frame allocated it */
    pool_buffer *scratch[OPERATION_SCRATCH]; /* of operation_scratch */
    uint32_t scratch_count;

    /* Set by the steps: */
    const char *subject; /* of the counter: of a field, a curve or a parameter set */
    uint64_t items;
    uint64_t work, work_before; /* of the progress, all and done before the call; 0: `items` */
    void *host_memory;          /* of the steps; the frame frees it */
    void *made;                 /* a handle, by `run`, whatever its status */
    struct span_item item[OPERATION_OPERANDS]; /* of the operands, in their order */
    struct operation_memory memory;
    pool_span part[OPERATION_OPERANDS]; /* the spans of a device's part */
};

/* The first member of a call. */
#define OPERATION_CALL(its_operation, its_exec)                                                    \
    {                                                                                              \
        .operation = (its_operation), .name = __func__, .given = (its_exec)                        \
    }

/* The usual `prepare`: all operands are elements of the field. */
void operation_set_elements(struct operation_call *call, const pool_field *field, uint64_t items);
/* The span of an operand, counted from 0; NULL: the call has none. */
const pool_span *operation_operand(const struct operation_call *call, uint32_t index);

/* For `plan`: whether the caller's workspace, if there is one, could take all of the memory. */
bool operation_workspace_fits(const struct operation_call *call, uint64_t bytes);

/* For `run`: scratch memory for work on the target's stream, of a device's memory for the call. The
 * frame frees it when the work has been enqueued, whatever the status. With 0 bytes there is none.
 */
pool_status operation_scratch(struct operation_call *call, const struct exec_target *target,
    uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address);

/* Runs the call: on a thread until its timeout, on one device or several. */
pool_status operation_run(struct operation_call *call);
/* Everything but the work: the bytes of device memory, of each device where there are several. */
pool_status operation_forecast(struct operation_call *call, uint64_t *bytes);

/* ---- several devices ------------------------------------------------------------------------- */

/*
 * A call over several devices. `divide` checks what the devices get. Where each device computes
 * units, it sets `first`, and `part` makes calls on one device: it changes the params and spans of
 * a copy of the call, and returns false behind the last part of that device. Operations whose
 * devices access each other's memory set `run`.
 */
struct operation_division {
    struct operation_call *call;
    struct devices devices;
    uint64_t first[EXEC_MAX_DEVICES + 1]; /* units first[i] to first[i + 1] are those of device i */
    uint64_t per_unit[OPERATION_OPERANDS]; /* items of each operand that are a unit */
    bool only_enqueues;                    /* see struct parts */
    bool joins; /* when all parts have been run, the first device runs those with is_joining */
    bool is_joining;
    void *memory;                        /* of the operation; the frame frees it */
    uint64_t reserved[EXEC_MAX_DEVICES]; /* bytes that operation_reserve allocates on each device */
    pool_status (*finish)(struct operation_division *division); /* once all parts have been run */
    /* Instead of the parts, or of the operation's `run` where it has none. */
    pool_status (*run)(struct operation_division *division);
    /* What a device needs beside what is reserved. */
    pool_status (*forecast)(struct operation_division *division, uint32_t index,
        const pool_exec *exec, uint64_t *bytes);
};

/*
 * units.c: units are permutations, columns or transforms. Divides them by the shards of the first
 * operand that has some, which the others' must fit, else by the devices' rates; `per_unit` is set.
 * `unit` is a plural noun.
 */
pool_status operation_divide_units(
    struct operation_division *division, uint64_t units, const char *unit);
/* For `part`: its operands become those of device `index`; returns the number of its units. */
uint64_t operation_take_units(
    const struct operation_division *division, uint32_t index, struct operation_call *part);

/* For operations that consist of parts of others: reads and divides a call as operation_run does,
 * and runs or forecasts the parts of one device with its pool_exec. */
pool_status operation_divide(struct operation_division *division);
pool_status operation_compute_part(
    const struct operation_division *division, uint32_t index, const pool_exec *exec);
pool_status operation_forecast_part(const struct operation_division *division, uint32_t index,
    const pool_exec *exec, uint64_t *bytes);
/* The usual `forecast`: the parts of the device, and of the first one those that are joining. */
pool_status operation_forecast_parts(
    struct operation_division *division, uint32_t index, const pool_exec *exec, uint64_t *bytes);

/*
 * memory.c: memory of a device for the time of all its parts, out of its workspace if it has one.
 * The parts' calls have what is left of the workspace and the limit. Ended also after a failure.
 */
struct operation_reserve {
    struct exec_target target;
    struct workspace workspace;
    uint64_t bytes;
    pool_buffer *buffer, *rest;
    CUdeviceptr address;
};
pool_status operation_reserve(const struct operation_call *call, uint64_t bytes,
    const pool_exec *exec, struct operation_reserve *reserve);
pool_exec operation_reserve_exec(const struct operation_reserve *reserve, const pool_exec *exec);
pool_status operation_reserve_end(struct operation_reserve *reserve, pool_status status);
/* The target of work on one of several devices, with scratch memory of `bytes` bytes in all. */
pool_status operation_open_target(const struct operation_call *call, uint64_t bytes,
    const pool_exec *exec, struct exec_target *target, struct workspace *workspace);
/*
 * exchange.c: a device of a call whose devices access each other's memory. One thread enqueues the
 * work of all of them, on the streams of a fork; each device is counted as one of a call.
 */
struct operation_device {
    struct exec_target target;
    struct workspace workspace;
    struct device_operation counted;
    bool is_counted;
};
/* Device `index` computes `items` items with scratch memory of `bytes` bytes in all. It is closed
 * also after a failure, with the status of the whole call. */
pool_status operation_device_open(const struct operation_division *division,
    const struct fork *fork, uint32_t index, uint64_t bytes, uint64_t items,
    struct operation_device *device);
void operation_device_close(struct operation_device *device, pool_status status);
/* Calls `enqueue` with the context of the target's device current. */
pool_status operation_enqueue(
    const struct exec_target *target, pool_status (*enqueue)(void *work), void *work);

/* Transforms that are interleaved in host memory are refused, as no part of their span is a span.
 */
pool_status operation_check_layout(const struct operation_division *division, bool is_interleaved);

/* ---- warm-ups -------------------------------------------------------------------------------- */

/* Loads what calls with `subject` need; call->exec.device is the device. */
typedef pool_status (*operation_load)(struct operation_call *call, const void *subject);
/* `argument` is the name of the subject, a handle. */
pool_status operation_warm_up(const char *name, const pool_exec *exec, const char *argument,
    const void *subject, operation_load load);

#endif
