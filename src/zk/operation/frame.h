/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that run calls: operation.c, division.c and memory.c. */
#ifndef OPERATION_FRAME_H
#define OPERATION_FRAME_H

#include "zk/operation/operation.h"

/* ---- operation.c ----------------------------------------------------------------------------- */

/* The operands in their order: each call sets the next one, those of the list at last. */
struct operation_operands {
    const struct operation_call *call;
    const struct operation_argument *argument;
    const pool_span *span; /* NULL: the call has none */
    struct span_item item;
    const char *name, *what; /* of the argument, and in messages */
    uint32_t count;          /* of those before */
    uint32_t listed;         /* of the list, so far */
    struct operation_operand of_list;
};
bool operation_next_operand(struct operation_operands *operands);
/* Those in one memory; shards are checked by the calls on their devices. */
pool_status operation_check_operands(struct operation_call *call);
/* The caller's workspace and its operands. */
pool_status operation_check_workspace_overlap(const struct operation_call *call);

/* Arguments and exec, then the steps `read` and `prepare`. */
pool_status operation_read(struct operation_call *call);
/* Of a call whose pool_exec names a device and is validated. */
pool_status operation_run_on_device(struct operation_call *call);
pool_status operation_forecast_on_device(struct operation_call *call, uint64_t *bytes);

/* ---- memory.c -------------------------------------------------------------------------------- */

/* Plans for the limit of the caller's. */
pool_status operation_plan(struct operation_call *call);
/* Plans, and takes the caller's workspace, which lives as long as the call, or scratch memory. */
pool_status operation_open_memory(struct operation_call *call, struct workspace *workspace);
/* Frees what the frame allocated, in the order of the stream; returns the first failure. */
pool_status operation_free_memory(struct operation_call *call, pool_status status);

/* The exec of forecasts of parts beside reserved memory. */
pool_status operation_reserve_forecast(
    const struct operation_call *call, uint64_t bytes, const pool_exec *given, pool_exec *exec);

/* ---- division.c ------------------------------------------------------------------------------ */

/* Or, with `bytes`, forecasts. */
pool_status operation_run_divided(struct operation_call *call, uint64_t *bytes);

#endif
