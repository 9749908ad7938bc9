/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rank is on which host, and has which device. MPI_Comm_split_type cannot say: MPICH 5.0.2
 * makes communicators of one rank each.
 */
#include "mpi/group.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A digest of the text and of the kernel's boot number, which tells hosts of one name apart. */
static uint64_t digest_here(const char *text)
{
    char all[256];
    size_t length = (size_t)snprintf(all, sizeof(all) / 2, "%s ", text);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

    if (length > sizeof(all) / 2 - 1)
        length = sizeof(all) / 2 - 1;
    if (file) {
        length += fread(all + length, 1, sizeof(all) - length, file);
        fclose(file);
    }
    return group_digest(all, length);
}

/* In a container the name is its own, as are the devices that the process sees. */
uint64_t group_host(void)
{
    char name[65] = "";

    (void)gethostname(name, sizeof(name) - 1);
    return digest_here(name);
}

struct local_rank {
    int32_t rank;
    int32_t ranks;
};

pool_status group_find_local_rank(pool_mpi *mpi)
{
    const uint64_t bytes = (uint64_t)mpi->ranks * sizeof(struct local_rank);
    struct local_rank *table;
    void *memory;
    pool_status status = group_buffer_get(mpi, GROUP_SENT, bytes, &memory);

    if (status)
        return status;
    table = memory;
    for (int rank = 0; rank < mpi->ranks && mpi->rank == 0; rank++)
        group_count_local(mpi, rank, &table[rank].rank, &table[rank].ranks);
    status = group_broadcast(mpi, table, bytes, 0);
    if (!status) {
        mpi->local_rank = table[mpi->rank].rank;
        mpi->local_ranks = table[mpi->rank].ranks;
    }
    return status;
}

pool_status group_choose_device(pool_mpi *mpi, const pool_mpi_params *params)
{
    const size_t count = params->pool ? pool_device_count(params->pool) : 0;
    pool_status status = POOL_OK;

    if (count)
        status = pool_device_at(params->pool, (size_t)mpi->local_rank % count, &mpi->device);
    if (status)
        return status;
    /* Simulated devices have the same UUIDs on every host. */
    mpi->identity = digest_here(pool_device_uuid(mpi->device));
    return POOL_OK;
}
