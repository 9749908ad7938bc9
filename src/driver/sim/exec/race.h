/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data races in shared memory, of threads of a block, and in global memory, of threads of a launch:
 * two threads access a byte, at least one of them writes, and nothing orders the accesses. What
 * orders them:
 *   - barriers of the block (bar, barrier), for the warps that arrive;
 *   - bar.warp.sync, for the threads of a warp, and other warp-wide operations (shfl.sync and so
 * on) for reads before them and writes after them;
 *   - atomics and accesses that are volatile, relaxed, acquire or release, of shared or global
 *     memory: who reads one has seen what all have done before they wrote one. That is coarser than
 *     the memory model, so that no program that is right is refused.
 * The order is one of vector clocks (Flanagan and Freund, FastTrack, PLDI 2009) with a clock for
 * each warp, so a race is found whatever order the warps are executed in. Of the reads of a byte
 * the last one is kept, the last one of another thread of that warp, and the last one of another
 * warp: a write that races with none of these but with an earlier read is missed.
 *
 * Between blocks only the third orders accesses of global memory, and all threads of a block know
 * what one of them does. As every ordered read sees all ordered writes before it, a clock of a
 * block is one number. A launch's accesses are checked in the first 10,000 pages of 4 KiB that it
 * touches.
 */
#ifndef SIM_EXEC_RACE_H
#define SIM_EXEC_RACE_H

#include "driver/sim/exec/machine.h"

/* The bytes of a block's state, for sim_races_start. */
size_t sim_races_bytes(uint32_t shared_bytes);
void sim_races_start(struct sim_block *block);

/* Of a launch of so many blocks; NULL: no memory. */
struct sim_global_races *sim_global_races_create(uint64_t block_count);
void sim_global_races_free(struct sim_global_races *global); /* NULL is a no-op */

/* Before the accesses of one operation, and after them; false: a fault was raised. */
void sim_races_begin(struct sim_warp *warp, bool is_ordered, bool is_shared);
bool sim_races_end(struct sim_warp *warp, bool is_ordered, bool is_write, bool is_shared);
/* One lane's access of shared memory; false: a fault was raised. */
bool sim_races_access(struct sim_warp *warp, const struct sim_op *op, unsigned lane,
    uint64_t offset, uint32_t bytes, bool is_write, bool is_ordered);
/* Likewise of global memory; the launch has its global_races. */
bool sim_races_global(struct sim_warp *warp, const struct sim_op *op, unsigned lane,
    uint64_t address, uint32_t bytes, bool is_write, bool is_ordered);

void sim_races_arrive(struct sim_warp *warp, uint32_t barrier);
/* Before the barrier's arrivals are forgotten. */
void sim_races_release(struct sim_block *block, uint32_t barrier);
void sim_races_sync_warp(const struct sim_warp *warp);
/* Lanes of the warp have exchanged registers. */
void sim_races_exchange(const struct sim_warp *warp);

#endif
