/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks that are left when processes have ended, by the User-Level Failure Mitigation (ULFM) of
 * MPI, which some libraries offer as an extension: Open MPI from 5.0 on, where it is switched on by
 * `mpirun --with-ft ulfm`.
 *
 * The first rank to which MPI reports that a process has ended revokes the communicator, so that
 * every message of the others fails at once. Then the ranks that are left agree on those that are
 * gone, each one exactly once per communicator. Ranks may take part from different calls: one has
 * failed in a call that another one has finished.
 */
#include "mpi/group.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

static pool_status check_shrink(pool_mpi **mpi, const int32_t *ended, const int32_t *ended_count)
{
    if (!mpi)
        return base_fail_null("pool_mpi_shrink", "mpi");
    if (!*mpi)
        return base_fail_null("pool_mpi_shrink", "*mpi");
    return ended && !ended_count ? base_fail_null("pool_mpi_shrink", "ended_count") : POOL_OK;
}

#if POOL_MPI_HAS_ULFM

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

/* Other communicators than MPI_COMM_WORLD do not have the attribute. */
bool group_is_tolerant(void)
{
    void *value = NULL;
    int is_set = 0;

    return MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &value, &is_set) == MPI_SUCCESS && is_set &&
           *(int *)value;
}

bool group_code_is_interruption(int code)
{
    int class = MPI_SUCCESS;

    return MPI_Error_class(code, &class) == MPI_SUCCESS &&
           (class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING ||
               class == MPIX_ERR_REVOKED);
}

void group_interrupt(pool_mpi *mpi)
{
    if (!mpi->is_interrupted && mpi->communicator != MPI_COMM_NULL)
        (void)MPIX_Comm_revoke(mpi->communicator);
    mpi->is_interrupted = true;
}

/* ---- sets of ranks --------------------------------------------------------------------------- */

struct group_ranks {
    int *rank; /* ascending */
    int count;
};

static void ranks_close(struct group_ranks *ranks)
{
    base_free(ranks->rank);
    *ranks = (struct group_ranks){0};
}

/* The ranks that the members of `members` have in the communicator, ascending. */
static pool_status read_ranks(MPI_Comm communicator, MPI_Group members, struct group_ranks *ranks)
{
    MPI_Group all = MPI_GROUP_NULL;
    int count = 0, size = 0, code = MPI_Comm_group(communicator, &all);
    int *own = NULL, *translated = NULL;

    *ranks = (struct group_ranks){0};
    if (code == MPI_SUCCESS)
        code = MPI_Group_size(members, &count);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(communicator, &size);
    if (code == MPI_SUCCESS && count) {
        own = base_calloc((size_t)size, sizeof(*own));
        translated = base_calloc((size_t)count, sizeof(*translated));
        for (int i = 0; i < size && own; i++)
            own[i] = i;
        code = own && translated ? MPI_Group_translate_ranks(members, count, own, all, translated)
                                 : MPI_ERR_NO_MEM;
    }
    if (all != MPI_GROUP_NULL)
        MPI_Group_free(&all);
    if (code == MPI_SUCCESS && count) {
        memset(own, 0, (size_t)size * sizeof(*own));
        for (int i = 0; i < count; i++)
            if (translated[i] >= 0 && translated[i] < size)
                own[translated[i]] = 1;
        for (int i = 0; i < size; i++)
            if (own[i])
                own[ranks->count++] = i;
        ranks->rank = own;
        own = NULL;
    }
    base_free(own);
    base_free(translated);
    return code == MPI_SUCCESS ? POOL_OK
                               : base_fail(POOL_ERR_IO,
                                     "the ranks of a group of MPI cannot be read: code %d", code);
}

/* Those of the communicator that are not in the smaller one. */
static pool_status find_missing(MPI_Comm communicator, MPI_Comm smaller, struct group_ranks *ranks)
{
    MPI_Group all = MPI_GROUP_NULL, left = MPI_GROUP_NULL, missing = MPI_GROUP_NULL;
    pool_status status;
    int code = MPI_Comm_group(communicator, &all);

    if (code == MPI_SUCCESS)
        code = MPI_Comm_group(smaller, &left);
    if (code == MPI_SUCCESS)
        code = MPI_Group_difference(all, left, &missing);
    status = code == MPI_SUCCESS
                 ? read_ranks(communicator, missing, ranks)
                 : base_fail(POOL_ERR_IO, "MPI_Group_difference failed with code %d", code);
    if (missing != MPI_GROUP_NULL && missing != MPI_GROUP_EMPTY)
        MPI_Group_free(&missing);
    if (left != MPI_GROUP_NULL)
        MPI_Group_free(&left);
    if (all != MPI_GROUP_NULL)
        MPI_Group_free(&all);
    return status;
}

/* "the processes of ranks 1, 3 have ended". */
static pool_status fail_ended(const char *call, const struct group_ranks *ended)
{
    char list[256] = "";
    size_t length = 0;

    for (int i = 0; i < ended->count && length < sizeof(list) - 20; i++)
        length += (size_t)snprintf(
            list + length, sizeof(list) - length, "%s%d", i ? ", " : "", ended->rank[i]);
    return ended->count == 1
               ? base_fail(POOL_ERR_IO, "%s: the process of rank %s has ended", call, list)
               : base_fail(POOL_ERR_IO, "%s: the processes of ranks %s have ended", call, list);
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* Waits until the communicator's ranks that are left have agreed on whether all are well, and
 * returns whether they have before the deadline; the next call waits on. */
static bool agree(
    struct group_agreement *agreement, MPI_Comm communicator, bool is_well, uint64_t deadline)
{
    struct group_handlers handlers;
    bool is_over = true;

    group_handlers_replace(&handlers, communicator);
    if (!agreement->is_pending) {
        agreement->flag = is_well;
        agreement->code = MPIX_Comm_iagree(communicator, &agreement->flag, &agreement->request);
        agreement->is_pending = agreement->code == MPI_SUCCESS;
    }
    if (agreement->is_pending)
        is_over = group_poll(&agreement->request, deadline, &agreement->code);
    agreement->is_pending = !is_over;
    group_handlers_restore(&handlers);
    return is_over;
}

/* Until no process has ended that a rank did not know of; `ended` is then the same on all. */
static pool_status agree_on_ended(
    pool_mpi *mpi, const char *call, bool is_well, uint64_t deadline, struct group_ranks *ended)
{
    struct group_agreement *agreement = &mpi->agreement;
    MPI_Group members;
    pool_status status;

    do {
        if (!agreement->is_pending)
            (void)MPIX_Comm_failure_ack(mpi->communicator);
        if (!agree(agreement, mpi->communicator, is_well, deadline))
            return base_fail(POOL_ERR_TIMEOUT,
                "%s: a process has ended or a rank no longer waits, and the ranks that are left "
                "have not agreed for %.1f s on which are gone: one hangs, or computes longer than "
                "timeout_ns of pool_mpi_params allows",
                call, (double)mpi->timeout_ns / 1e9);
    } while (agreement->code != MPI_SUCCESS && group_code_is_interruption(agreement->code) &&
             base_clock_ns() < deadline);
    if (agreement->code != MPI_SUCCESS)
        return group_fail_mpi(mpi, "MPIX_Comm_iagree", agreement->code, -1);
    if (MPIX_Comm_failure_get_acked(mpi->communicator, &members) != MPI_SUCCESS)
        return base_fail(POOL_ERR_IO, "%s: MPIX_Comm_failure_get_acked failed", call);
    status = read_ranks(mpi->communicator, members, ended);
    if (members != MPI_GROUP_EMPTY)
        MPI_Group_free(&members);
    return status;
}

pool_status group_settle(pool_mpi *mpi, const char *call, bool is_well, uint64_t deadline)
{
    struct group_ranks ended = {0};
    pool_status status = agree_on_ended(mpi, call, is_well, deadline, &ended);

    mpi->failed_rank = -1;
    if (!status && !ended.count && mpi->agreement.flag)
        return POOL_OK;
    mpi->is_settled = !status;
    mpi->is_interrupted = true;
    for (int i = 0; i < ended.count && mpi->numbers; i++)
        ended.rank[i] = mpi->numbers[ended.rank[i]];
    if (ended.count)
        mpi->failed_rank = ended.rank[0];
    if (!status)
        status = ended.count ? fail_ended(call, &ended)
                             : base_fail(POOL_ERR_IO,
                                   "%s: a rank has failed without a message, or continues without "
                                   "others by pool_mpi_shrink; no process has ended",
                                   call);
    ranks_close(&ended);
    return status;
}

bool group_knows_ended(pool_mpi *mpi)
{
    MPI_Group members;
    int count = 0, is_revoked = 0;

    if (!mpi->is_tolerant || mpi->communicator == MPI_COMM_NULL)
        return false;
    if (MPIX_Comm_is_revoked(mpi->communicator, &is_revoked) == MPI_SUCCESS && is_revoked)
        return true;
    if (MPIX_Comm_get_failed(mpi->communicator, &members) != MPI_SUCCESS)
        return false;
    if (MPI_Group_size(members, &count) != MPI_SUCCESS)
        count = 0;
    if (members != MPI_GROUP_EMPTY)
        MPI_Group_free(&members);
    return count > 0;
}

/* ---- communicators --------------------------------------------------------------------------- */

/* A communicator of the ranks that are left, and the others. */
static pool_status shrink(
    pool_mpi *mpi, MPI_Comm communicator, MPI_Comm *smaller, struct group_ranks *ended)
{
    struct group_handlers handlers;
    pool_status status;
    int code;

    *smaller = MPI_COMM_NULL;
    group_handlers_replace(&handlers, communicator);
    code = MPIX_Comm_shrink(communicator, smaller);
    group_handlers_restore(&handlers);
    if (code != MPI_SUCCESS)
        return group_fail_mpi(mpi, "MPIX_Comm_shrink", code, -1);
    status = find_missing(communicator, *smaller, ended);
    if (status)
        MPI_Comm_free(smaller);
    else
        (void)MPI_Comm_set_errhandler(*smaller, MPI_ERRORS_RETURN);
    return status;
}

/* MPI_Comm_idup does not end on some ranks when a process ends, and MPIX_Comm_shrink has no
 * deadline: the agreement before it ends when all ranks that are left are here. */
pool_status group_duplicate_tolerant(pool_mpi *mpi, MPI_Comm communicator, uint64_t deadline)
{
    struct group_ranks ended = {0};
    MPI_Comm smaller;
    pool_status status;

    if (!agree(&mpi->agreement, communicator, true, deadline))
        return POOL_ERR_TIMEOUT;
    if (mpi->agreement.code != MPI_SUCCESS && !group_code_is_interruption(mpi->agreement.code))
        return group_fail_mpi(mpi, "MPIX_Comm_iagree", mpi->agreement.code, -1);
    status = shrink(mpi, communicator, &smaller, &ended);
    if (status)
        return status;
    if (!ended.count) {
        mpi->communicator = smaller;
        return POOL_OK;
    }
    MPI_Comm_free(&smaller);
    for (int i = 0; i < ended.count && mpi->numbers; i++)
        ended.rank[i] = mpi->numbers[ended.rank[i]];
    status = fail_ended("pool_mpi_create", &ended);
    ranks_close(&ended);
    return status;
}

/* The rank in `communicator` of each rank of `smaller`. */
static pool_status number_ranks(
    MPI_Comm communicator, const struct group_ranks *ended, int **numbers)
{
    int size = 0, count = 0, next = 0;

    if (MPI_Comm_size(communicator, &size) != MPI_SUCCESS)
        return base_fail(POOL_ERR_IO, "MPI_Comm_size failed");
    *numbers = base_calloc((size_t)size, sizeof(**numbers));
    if (!*numbers)
        return base_fail_memory("the numbers of ranks");
    for (int i = 0; i < size; i++)
        if (next < ended->count && ended->rank[next] == i)
            next++;
        else
            (*numbers)[count++] = i;
    return POOL_OK;
}

static pool_status create_smaller(
    pool_mpi *mpi, MPI_Comm survivors, const struct group_ranks *ended, pool_mpi **smaller)
{
    const pool_mpi_params params = {.struct_size = sizeof(params),
        .device = mpi->device,
        .transport = mpi->wanted,
        .timeout_ns = mpi->timeout_ns,
        .chunk_bytes = mpi->chunk_bytes};
    int *numbers = NULL;
    pool_status status = number_ranks(mpi->communicator, ended, &numbers);

    if (!status)
        status = group_create(survivors, &params, numbers, smaller);
    base_free(numbers);
    return status;
}

/* Once per communicator, whatever the calls in which the others learn of the failure. */
static pool_status settle_before_shrink(pool_mpi *mpi)
{
    pool_status status;

    group_interrupt(mpi);
    if (mpi->is_settled)
        return POOL_OK;
    status = group_settle(mpi, "pool_mpi_shrink", false, UINT64_MAX);
    group_latch(mpi, status);
    return mpi->is_settled ? POOL_OK : status;
}

pool_status pool_mpi_shrink(
    pool_mpi **mpi, MPI_Comm *survivors, int32_t *ended, int32_t *ended_count)
{
    struct group_ranks gone = {0};
    pool_mpi *smaller = NULL;
    MPI_Comm left;
    pool_status status = check_shrink(mpi, ended, ended_count);

    if (!status && !(*mpi)->is_tolerant)
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "pool_mpi_shrink: fault tolerance is off: start the job with mpirun --with-ft ulfm");
    if (!status)
        status = settle_before_shrink(*mpi);
    if (!status)
        status = shrink(*mpi, (*mpi)->communicator, &left, &gone);
    if (status)
        return status;
    status = create_smaller(*mpi, left, &gone, &smaller);
    if (!status)
        status = pool_mpi_destroy(mpi);
    if (!status) {
        *mpi = smaller;
        for (int i = 0; i < gone.count && ended; i++)
            ended[i] = gone.rank[i];
        if (ended_count)
            *ended_count = gone.count;
        if (survivors)
            *survivors = left;
    }
    if ((status && status != POOL_ERR_TIMEOUT) || !survivors) /* late ranks may still use it */
        MPI_Comm_free(&left);
    ranks_close(&gone);
    return status;
}

#else

bool group_is_tolerant(void)
{
    return false;
}

bool group_code_is_interruption(int code)
{
    (void)code;
    return false;
}

bool group_knows_ended(pool_mpi *mpi)
{
    (void)mpi;
    return false;
}

void group_interrupt(pool_mpi *mpi)
{
    (void)mpi;
}

/* The two below are for tolerant communicators only. */
pool_status group_settle(pool_mpi *mpi, const char *call, bool is_well, uint64_t deadline)
{
    (void)mpi;
    (void)call;
    (void)is_well;
    (void)deadline;
    return POOL_OK;
}

pool_status group_duplicate_tolerant(pool_mpi *mpi, MPI_Comm communicator, uint64_t deadline)
{
    (void)mpi;
    (void)communicator;
    (void)deadline;
    return POOL_ERR_INTERNAL;
}

pool_status pool_mpi_shrink(
    pool_mpi **mpi, MPI_Comm *survivors, int32_t *ended, int32_t *ended_count)
{
    pool_status status = check_shrink(mpi, ended, ended_count);

    (void)survivors;
    return status
               ? status
               : base_fail(POOL_ERR_UNSUPPORTED,
                     "pool_mpi_shrink: the MPI library for which libdevicepool-mpi was built has "
                     "no User-Level Failure Mitigation: start the job again");
}

#endif
