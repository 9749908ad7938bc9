/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of kernels, shared by queries and launches.
 */
#ifndef SIM_DRIVER_FUNCTION_H
#define SIM_DRIVER_FUNCTION_H

#include "driver/sim/table/state.h"

/* Maximum number of threads per block, given the kernel's launch bounds and registers. */
int sim_function_max_threads(const struct sim_function_object *function);

/* Number of blocks of that shape that fit on one multiprocessor at once. */
int sim_function_blocks(
    const struct sim_function_object *function, int block_size, uint64_t dynamic_shared);

/* The same, and which resource limits it: "threads", "registers", "shared memory" or "blocks". */
int sim_function_occupancy(const struct sim_function_object *function, int block_size,
    uint64_t dynamic_shared, const char **limit);

/* Registers per thread, an estimate. */
int sim_function_registers(const struct sim_function_object *function);

/* Begins a call about a kernel; returns 400 for an invalid handle. */
pool_cu_result sim_function_enter(struct sim_call *call, enum sim_driver_function function,
    CUfunction handle, struct sim_function_object **object);

#endif
