/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks that are left after a failure, by the User-Level Failure Mitigation of MPI, which some
 * libraries offer as an extension: Open MPI from 5.0 on, where it is switched on by
 * `mpirun --with-ft ulfm`.
 */
#include "mpi/group.h"

#if POOL_MPI_HAS_ULFM

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

bool group_code_is_process_failure(int code)
{
    int class = MPI_SUCCESS;

    return MPI_Error_class(code, &class) == MPI_SUCCESS && class == MPIX_ERR_PROC_FAILED;
}

/* A communicator of the ranks that are left, on all of them or on none. */
static pool_status find_survivors(pool_mpi *mpi, MPI_Comm *survivors)
{
    int flag = 1, code = MPIX_Comm_revoke(mpi->communicator);

    *survivors = MPI_COMM_NULL;
    if (code != MPI_SUCCESS)
        return group_fail_mpi(mpi, "MPIX_Comm_revoke", code, -1);
    code = MPIX_Comm_shrink(mpi->communicator, survivors);
    if (code != MPI_SUCCESS)
        return group_fail_mpi(mpi, "MPIX_Comm_shrink", code, -1);
    (void)MPI_Comm_set_errhandler(*survivors, MPI_ERRORS_RETURN);
    code = MPIX_Comm_agree(*survivors, &flag);
    return code == MPI_SUCCESS && flag ? POOL_OK : group_fail_mpi(mpi, "MPIX_Comm_agree", code, -1);
}

pool_status pool_mpi_shrink(pool_mpi **mpi)
{
    pool_mpi_params params = {.struct_size = sizeof(params)};
    MPI_Comm survivors;
    pool_mpi *smaller = NULL;
    pool_status status;

    if (!mpi)
        return base_fail_null("pool_mpi_shrink", "mpi");
    if (!*mpi)
        return base_fail_null("pool_mpi_shrink", "*mpi");
    params.device = (*mpi)->device;
    params.transport = (*mpi)->wanted;
    params.timeout_ns = (*mpi)->timeout_ns;
    params.chunk_bytes = (*mpi)->chunk_bytes;
    status = find_survivors(*mpi, &survivors);
    if (!status)
        status = pool_mpi_create(survivors, &params, &smaller);
    if (survivors != MPI_COMM_NULL && !status) /* else others may still use it */
        MPI_Comm_free(&survivors);
    if (status)
        return status;
    status = pool_mpi_destroy(mpi);
    *mpi = smaller;
    return status;
}

#else

bool group_code_is_process_failure(int code)
{
    (void)code;
    return false;
}

pool_status pool_mpi_shrink(pool_mpi **mpi)
{
    if (!mpi)
        return base_fail_null("pool_mpi_shrink", "mpi");
    if (!*mpi)
        return base_fail_null("pool_mpi_shrink", "*mpi");
    return base_fail(POOL_ERR_UNSUPPORTED,
        "pool_mpi_shrink: the MPI library for which libdevicepool-mpi was built has no "
        "MPIX_Comm_shrink: start the job again");
}

#endif
