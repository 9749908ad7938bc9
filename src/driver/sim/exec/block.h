/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a running launch: created, run in time slices, and released by the core that owns
 * them. */
#ifndef SIM_EXEC_BLOCK_H
#define SIM_EXEC_BLOCK_H

#include "driver/sim/exec/machine.h"

/* Returns a block that is ready to start, in a finished block's memory when there is one; NULL:
 * out of host memory. */
struct sim_block *sim_block_start(struct sim_core *core, uint64_t number);
/* Runs each warp that can until it waits, ends, or has used its time slice. False: no warp of the
 * block could run. */
bool sim_block_run_slice(struct sim_block *block);
void sim_block_release(struct sim_block *block);
void sim_blocks_free(struct sim_core *core);

#endif
