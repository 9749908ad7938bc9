/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a running launch: made, run in turns, and given back by the core that owns them. */
#ifndef SIM_EXEC_BLOCK_H
#define SIM_EXEC_BLOCK_H

#include "sim/exec/machine.h"

/* A block ready to start, in memory of an earlier one when there is some; NULL: no host memory. */
struct sim_block *sim_block_start(struct sim_core *core, uint64_t number);
/* Runs each warp that can until it waits, ends, or has had its turn. False: nothing in the block
 * could run. */
bool sim_block_turn(struct sim_block *block);
void sim_block_give_back(struct sim_block *block);
void sim_blocks_free(struct sim_core *core);

#endif
