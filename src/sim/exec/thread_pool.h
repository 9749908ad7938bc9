/* SPDX-License-Identifier: Apache-2.0 */
/* CPU threads that sleep until a launch gives them something to do. */
#ifndef SIM_WORKERS_H
#define SIM_WORKERS_H

#include "sim/exec/executor.h"

typedef void (*sim_work)(void *context, unsigned index);

/* Takes the workers for one caller; the number of threads that will run, its own included. 1 when
 * they are busy. */
unsigned sim_workers_take(struct sim_workers *workers, unsigned wanted);
/* Runs work on all threads taken, index 0 on the caller's, and returns when the last is done; gives
 * them back. */
void sim_workers_run(struct sim_workers *workers, unsigned count, sim_work work, void *context);

#endif
