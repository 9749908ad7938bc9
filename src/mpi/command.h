/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of devicepool-mpi.
 */
#ifndef MPI_COMMAND_H
#define MPI_COMMAND_H

#include <stdint.h>
#include <stdio.h>

#include <devicepool.h>
#include <devicepool/mpi.h>

struct command {
    const char *name; /* of the subcommand */
    const char *operands[2];
    int operand_count;
    const char *devices;
    const char *curve;
    const char *field;
    const char *output;
    uint32_t log_size;
    uint32_t timeout_seconds;
    int on_device;
    int is_inverse;
    device_pool *pool;
    pool_device *device;
    pool_mpi *mpi;
    pool_mpi_info info;
};

/* Of this process in MPI_COMM_WORLD. */
extern int rank, ranks;

/* Prints on rank 0, which speaks for all. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports the thread's last error. Returns the exit code. */
int fail(pool_status status);

/* Zeroed memory for count + 1 items, or ends all ranks. */
void *allocate(uint64_t count, uint64_t bytes);

/* command_files.c: the operations on files, of which each rank reads its part. Return an exit code.
 */
int run_msm_on_files(struct command *command);
int run_ntt_on_file(struct command *command);

/* Collective: whether any rank has failed; the largest exit code. */
int command_any_failed(int failed);

#endif
