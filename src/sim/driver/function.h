/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of kernels, shared by what asks for them and what launches.
 */
#ifndef SIM_DRIVER_FUNCTION_H
#define SIM_DRIVER_FUNCTION_H

#include "sim/driver/state.h"

/* Threads a block of the kernel can have: by its launch bounds and its registers. */
int sim_function_max_threads(const struct sim_kernel *kernel);

/* Blocks of that shape that fit one multiprocessor at once. */
int sim_function_blocks(
    const struct sim_function_object *function, int block_size, uint64_t dynamic_shared);

/* Begins a call about a kernel: 400 for a handle that is none. */
pool_cu_result sim_function_enter(struct sim_call *call, enum sim_function function,
    CUfunction handle, struct sim_function_object **object);

#endif
