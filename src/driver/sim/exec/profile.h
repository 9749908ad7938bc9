/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the accesses of each operation cost in the memory system of a GPU, counted while a launch is
 * profiled:
 *   - shared memory has 32 banks of 4 bytes. A request passes over them once for every word that
 * its busiest bank has to supply; lanes that read the same word share it, lanes of an atomic
 *     operation do not. Requests of 8 bytes per lane are made for 16 lanes at a time, of 16 bytes
 *     for 8.
 *   - global memory is moved in sectors of 32 bytes. A request needs the sectors that its lanes'
 *     addresses lie in; the least is that of the same bytes without gaps.
 * Constant, local and parameter memory are not counted.
 */
#ifndef SIM_EXEC_PROFILE_H
#define SIM_EXEC_PROFILE_H

#include "driver/sim/exec/machine.h"

/* Of one operation, so always of the same kind. */
struct sim_traffic {
    uint64_t requests, lanes;
    uint64_t units, ideal; /* passes or sectors */
    uint32_t worst;        /* most ways of a bank conflict, or sectors, of one request */
    uint32_t same;         /* most lanes of one request at one address */
    enum sim_use use;
};

/* A generic access can have both; a copy between them has. */
struct sim_site {
    struct sim_traffic shared, global;
};

/* Before the addresses of the lanes are translated. */
void sim_profile_access(struct sim_warp *warp, const struct sim_op *op, uint32_t space,
    const uint64_t *addresses, uint32_t lanes, uint32_t bytes, bool is_write);

/* Adds a core's counts to those of the launch; the caller has the launch's lock. */
void sim_profile_merge(struct sim_run *run, const struct sim_site *sites);
/* Reports what was counted to launch->count. */
void sim_profile_report(const struct sim_run *run);

#endif
