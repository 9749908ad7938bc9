/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data races in shared memory: two threads of a block access a byte, at least one of them writes,
 * and nothing orders the accesses. What orders them:
 *   - barriers of the block (bar, barrier), for the warps that arrive;
 *   - bar.warp.sync, for the threads of a warp;
 *   - atomics and accesses that are volatile, relaxed, acquire or release, of shared or global
 *     memory: who reads one has seen what all have done before they wrote one. That is coarser than
 *     the memory model, so that no program that is right is refused.
 * The order is one of vector clocks (Flanagan and Freund, FastTrack, PLDI 2009) with a clock for
 * each warp, so a race is found whatever order the warps are executed in. Of the reads of a byte
 * the last one is kept, the last one of another thread of that warp, and the last one of another
 * warp: a write that races with none of these but with an earlier read is missed.
 */
#ifndef SIM_EXEC_RACE_H
#define SIM_EXEC_RACE_H

#include "driver/sim/exec/machine.h"

/* The bytes of a block's state, for sim_races_start. */
size_t sim_races_bytes(uint32_t shared_bytes);
void sim_races_start(struct sim_block *block);

/* Before the accesses of one operation, and after them. */
void sim_races_begin(struct sim_warp *warp, bool is_ordered);
void sim_races_end(struct sim_warp *warp, bool is_ordered, bool is_write);
/* One lane's access; false: a fault was raised. */
bool sim_races_access(struct sim_warp *warp, const struct sim_op *op, unsigned lane,
    uint64_t offset, uint32_t bytes, bool is_write, bool is_ordered);

void sim_races_arrive(struct sim_warp *warp, uint32_t barrier);
/* Before the barrier's arrivals are forgotten. */
void sim_races_release(struct sim_block *block, uint32_t barrier);
void sim_races_sync_warp(const struct sim_warp *warp);

#endif
