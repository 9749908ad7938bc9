/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between ranks. All are non-blocking and waited for with a deadline, so that a rank that
 * has failed is a failure and never a hang.
 */
#include "mpi/group.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/math.h"

enum { MESSAGE_TAG = 2 };

/* Polls this often without a pause: messages between busy ranks take microseconds. */
enum { SPINS = 2000 };

/* MPI counts bytes in an int. */
#define MESSAGE_BYTES (UINT64_C(1) << 30)

pool_status group_fail_mpi(pool_mpi *mpi, const char *call, int code, int rank)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;

    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        strcpy(text, "unknown error");
    mpi->is_broken = true;
    if (mpi->is_tolerant && group_code_is_interruption(code)) {
        group_interrupt(mpi);
        return base_fail(POOL_ERR_IO, "a process has ended: %s: %s", call, text);
    }
    mpi->failed_rank = rank;
    if (rank < 0)
        return base_fail(POOL_ERR_IO, "%s failed with code %d: %s", call, code, text);
    return base_fail(POOL_ERR_IO, "%s failed with code %d for rank %d: %s", call, code, rank, text);
}

uint64_t group_deadline(const pool_mpi *mpi, uint32_t timeouts)
{
    const uint64_t now = base_clock_ns();
    const uint64_t most = (UINT64_MAX - now) / timeouts;

    return now + timeouts * base_min(mpi->timeout_ns, most);
}

bool group_poll(MPI_Request *request, uint64_t deadline, int *code)
{
    for (uint64_t polls = 0;; polls++) {
        int is_done = 0;

        *code = MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
        if (*code != MPI_SUCCESS || is_done)
            return true;
        if (polls < SPINS)
            continue;
        if (base_clock_ns() > deadline)
            return false;
        base_sleep_ns(polls < 2 * SPINS ? 1000 : 100000);
    }
}

pool_status group_wait(pool_mpi *mpi, MPI_Request *request, int rank, uint64_t deadline)
{
    int code;

    if (group_poll(request, deadline, &code))
        return code == MPI_SUCCESS ? POOL_OK : group_fail_mpi(mpi, "MPI_Test", code, rank);
    mpi->is_broken = true;
    if (group_knows_ended(mpi)) { /* this rank is not waiting for that one */
        group_interrupt(mpi);
        return base_fail(POOL_ERR_IO, "a process has ended");
    }
    mpi->failed_rank = rank;
    return base_fail(POOL_ERR_TIMEOUT,
        "rank %d has not answered for %.1f s: it has failed, or computes longer than timeout_ns of "
        "pool_mpi_params allows",
        rank, (double)mpi->timeout_ns / 1e9);
}

/* ---- error handlers -------------------------------------------------------------------------- */

void group_handlers_replace(struct group_handlers *handlers, MPI_Comm communicator)
{
    handlers->communicator[0] = MPI_COMM_WORLD;
    handlers->communicator[1] = MPI_COMM_SELF;
    handlers->communicator[2] = communicator;
    for (int i = 0; i < GROUP_HANDLERS; i++) {
        if (MPI_Comm_get_errhandler(handlers->communicator[i], &handlers->handler[i]))
            handlers->handler[i] = MPI_ERRHANDLER_NULL;
        (void)MPI_Comm_set_errhandler(handlers->communicator[i], MPI_ERRORS_RETURN);
    }
}

/* In reverse, because the communicator may be one of the others. */
void group_handlers_restore(struct group_handlers *handlers)
{
    for (int i = GROUP_HANDLERS - 1; i >= 0; i--) {
        if (handlers->handler[i] == MPI_ERRHANDLER_NULL)
            continue;
        (void)MPI_Comm_set_errhandler(handlers->communicator[i], handlers->handler[i]);
        (void)MPI_Errhandler_free(&handlers->handler[i]);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static pool_status transfer(pool_mpi *mpi, void *data, uint64_t bytes, int rank, bool sends)
{
    pool_status status = POOL_OK;

    for (uint64_t at = 0; at < bytes && !status; at += MESSAGE_BYTES) {
        const int count = (int)base_min(bytes - at, MESSAGE_BYTES);
        uint8_t *part = (uint8_t *)data + at;
        MPI_Request request;
        int code =
            sends
                ? MPI_Isend(part, count, MPI_BYTE, rank, MESSAGE_TAG, mpi->communicator, &request)
                : MPI_Irecv(part, count, MPI_BYTE, rank, MESSAGE_TAG, mpi->communicator, &request);

        status = code == MPI_SUCCESS
                     ? group_wait(mpi, &request, rank, group_deadline(mpi, 1))
                     : group_fail_mpi(mpi, sends ? "MPI_Isend" : "MPI_Irecv", code, rank);
    }
    return status;
}

pool_status group_send(pool_mpi *mpi, const void *data, uint64_t bytes, int rank)
{
    return transfer(mpi, (void *)(uintptr_t)data, bytes, rank, true);
}

pool_status group_receive(pool_mpi *mpi, void *data, uint64_t bytes, int rank)
{
    return transfer(mpi, data, bytes, rank, false);
}

pool_status group_gather(pool_mpi *mpi, void *data, uint64_t bytes)
{
    uint8_t *blocks = data;
    pool_status status = POOL_OK;

    if (mpi->rank)
        return group_send(mpi, blocks + (uint64_t)mpi->rank * bytes, bytes, 0);
    for (int rank = 1; rank < mpi->ranks && !status; rank++)
        status = group_receive(mpi, blocks + (uint64_t)rank * bytes, bytes, rank);
    return status;
}

/* Along a binomial tree: relative to the root, each rank receives from the one without its lowest
 * bit, and sends to those with one more bit below. */
pool_status group_broadcast(pool_mpi *mpi, void *data, uint64_t bytes, int root)
{
    const int relative = (mpi->rank - root + mpi->ranks) % mpi->ranks;
    pool_status status = POOL_OK;
    int bit = 1;

    while (bit < mpi->ranks && !(relative & bit))
        bit <<= 1;
    if (relative)
        status = group_receive(mpi, data, bytes, (relative - bit + root) % mpi->ranks);
    for (bit >>= 1; bit > 0 && !status; bit >>= 1)
        if (relative + bit < mpi->ranks)
            status = group_send(mpi, data, bytes, (relative + bit + root) % mpi->ranks);
    return status;
}

pool_status group_buffer_get(pool_mpi *mpi, int index, uint64_t bytes, void **data)
{
    struct group_buffer *buffer = &mpi->buffer[index];

    if (buffer->bytes < bytes) {
        void *larger = base_calloc((size_t)bytes, 1);

        if (!larger)
            return base_fail_memory("messages between ranks");
        base_free(buffer->data);
        buffer->data = larger;
        buffer->bytes = (size_t)bytes;
    }
    *data = buffer->data;
    return POOL_OK;
}
