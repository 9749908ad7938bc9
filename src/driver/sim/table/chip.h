/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resources of a chip of each compute capability: the programming guide's table of technical
 * specifications per compute capability, and the allocation units that its occupancy calculator
 * uses.
 */
#ifndef SIM_DRIVER_CHIP_H
#define SIM_DRIVER_CHIP_H

#include <stdint.h>

struct sim_chip {
    uint32_t capability;
    const char *name;        /* device name when the device string gives none */
    int registers_per_block; /* of SIM_REGISTERS per multiprocessor */
    int shared_per_block_optin;
    int shared_per_multiprocessor;
    int shared_reserved_per_block;
    int shared_unit; /* allocation granularity of shared memory */
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    int clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;
    int l2_bytes;
    int single_to_double;
};

/* Common to all chips. */
enum {
    SIM_WARP = 32,
    SIM_BLOCK_THREADS = 1024,
    SIM_SHARED_PER_BLOCK = 49152,
    SIM_REGISTERS = 65536, /* per multiprocessor */
    SIM_REGISTERS_PER_THREAD = 255,
    SIM_REGISTER_UNIT = 256, /* registers are allocated per warp in multiples of this */
    SIM_WARP_UNIT = 4,       /* warps are allocated in multiples of this */
    SIM_CONSTANT_BYTES = 65536
};

const struct sim_chip *sim_chip_find(uint32_t capability); /* NULL: not supported */
const char *sim_chip_list(void);                           /* "75, 80, …" */

/* The newest PTX version that a driver of that CUDA version takes, 84 for 12040, by the release
 * history of the PTX ISA; 0 for a version that there is not. */
uint32_t sim_chip_newest_ptx(uint32_t cuda_version);

#endif
