/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchanges of equal blocks between the devices of all ranks, by the transport that the ranks have
 * agreed on.
 */
#include "mpi/group.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/math.h"

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

enum { EXCHANGE_TAG = 3, SLOTS = 2, PAGE_BYTES = 4096 };

/* MPI counts bytes in an int. */
#define DIRECT_BYTES (UINT64_C(1) << 30)

/* ---- transports ------------------------------------------------------------------------------ */

static bool mpi_takes_device_addresses(void)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
    int is_supported = 0;

    return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &is_supported) == MPI_SUCCESS &&
           is_supported;
#else
    return false;
#endif
}

uint32_t group_transports(pool_mpi *mpi)
{
    const enum group_context context = group_context_kind(mpi->device);
    uint32_t able = 1u << POOL_MPI_TRANSPORT_HOST;

    if (context != GROUP_CONTEXT_OTHER && mpi_takes_device_addresses())
        able |= 1u << POOL_MPI_TRANSPORT_CUDA;
    if (context == GROUP_CONTEXT_PRIMARY && group_nccl_is_found())
        able |= 1u << POOL_MPI_TRANSPORT_NCCL;
    return able;
}

/* ---- through host memory --------------------------------------------------------------------- */

/* A part of the block that goes to rank `to`, and of the one that comes from rank `from`. */
struct chunk {
    int to;
    int from;
    uint64_t at; /* in the block */
    uint64_t bytes;
    MPI_Request sent;
    MPI_Request received;
};

static void *slot_of(const pool_mpi *mpi, uint64_t index, bool is_received)
{
    return (uint8_t *)mpi->chunks + ((index % SLOTS) * 2 + is_received) * mpi->chunk_bytes;
}

/* The memory is registered instead of allocated pinned: MPI may write to it after a failure, and
 * then it stays. */
static pool_status open_chunks(pool_mpi *mpi)
{
    const uint64_t bytes = 2 * SLOTS * mpi->chunk_bytes;
    pool_status status;

    if (mpi->pinned)
        return POOL_OK;
    if (!mpi->chunks)
        mpi->chunks = base_aligned_calloc(PAGE_BYTES, (size_t)base_round_up(bytes, PAGE_BYTES));
    if (!mpi->chunks)
        return base_fail_memory("the chunks of an exchange");
    status = pool_pinned_register(mpi->device, mpi->chunks, bytes, 0, &mpi->pinned);
    /* A device in a worker process: its copies go through memory that both processes have. */
    return status == POOL_ERR_UNSUPPORTED ? POOL_OK : status;
}

/* In step s each rank sends to the s-th one after it and receives from the s-th one before it. */
static struct chunk chunk_at(
    const pool_mpi *mpi, const struct group_exchange *exchange, uint64_t index)
{
    const uint64_t per_block = base_ceil_div(exchange->bytes, mpi->chunk_bytes);
    const int step = 1 + (int)(index / per_block);
    struct chunk chunk = {.to = (mpi->rank + step) % mpi->ranks,
        .from = (mpi->rank + mpi->ranks - step) % mpi->ranks,
        .at = index % per_block * mpi->chunk_bytes};

    chunk.bytes = base_min(exchange->bytes - chunk.at, mpi->chunk_bytes);
    return chunk;
}

/* The download waits for the upload that the slot was used for before, too. */
static pool_status start_chunk(
    pool_mpi *mpi, const struct group_exchange *exchange, uint64_t index, struct chunk *chunk)
{
    void *out = slot_of(mpi, index, false), *in = slot_of(mpi, index, true);
    pool_status status = pool_copy_to_host(out, exchange->from,
        (uint64_t)chunk->to * exchange->bytes + chunk->at, chunk->bytes, exchange->stream);
    int code;

    if (!status)
        status = pool_stream_synchronize(exchange->stream);
    if (status)
        return status;
    code = MPI_Irecv(in, (int)chunk->bytes, MPI_BYTE, chunk->from, EXCHANGE_TAG, mpi->communicator,
        &chunk->received);
    if (code != MPI_SUCCESS)
        return group_fail_mpi(mpi, "MPI_Irecv", code, chunk->from);
    code = MPI_Isend(
        out, (int)chunk->bytes, MPI_BYTE, chunk->to, EXCHANGE_TAG, mpi->communicator, &chunk->sent);
    return code == MPI_SUCCESS ? POOL_OK : group_fail_mpi(mpi, "MPI_Isend", code, chunk->to);
}

static pool_status finish_chunk(
    pool_mpi *mpi, const struct group_exchange *exchange, uint64_t index, struct chunk *chunk)
{
    pool_status status = group_wait(mpi, &chunk->received, chunk->from, group_deadline(mpi, 1));

    if (!status)
        status = group_wait(mpi, &chunk->sent, chunk->to, group_deadline(mpi, 1));
    return status ? status
                  : pool_copy_to_device(exchange->to,
                        (uint64_t)chunk->from * exchange->bytes + chunk->at,
                        slot_of(mpi, index, true), chunk->bytes, exchange->stream);
}

/* The messages of a chunk overlap with the download of the next and the upload of the previous one.
 */
static pool_status exchange_on_host(pool_mpi *mpi, const struct group_exchange *exchange)
{
    const uint64_t count =
        (uint64_t)(mpi->ranks - 1) * base_ceil_div(exchange->bytes, mpi->chunk_bytes);
    struct chunk chunks[SLOTS];
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i <= count && !status; i++) {
        if (i < count) {
            chunks[i % SLOTS] = chunk_at(mpi, exchange, i);
            status = start_chunk(mpi, exchange, i, &chunks[i % SLOTS]);
        }
        if (!status && i)
            status = finish_chunk(mpi, exchange, i - 1, &chunks[(i - 1) % SLOTS]);
    }
    /* The others continue: messages of a chunk that was started may still arrive in this memory. */
    if (status && count)
        mpi->is_broken = true;
    return status ? status : pool_stream_synchronize(exchange->stream);
}

/* ---- device addresses ------------------------------------------------------------------------ */

static pool_status post_direct(pool_mpi *mpi, const struct group_exchange *exchange, uint64_t at,
    CUdeviceptr from, CUdeviceptr to)
{
    const int count = (int)base_min(exchange->bytes - at, DIRECT_BYTES);

    for (int step = 1; step < mpi->ranks; step++) {
        const int target = (mpi->rank + step) % mpi->ranks;
        const int source = (mpi->rank + mpi->ranks - step) % mpi->ranks;
        int code = MPI_Irecv((void *)(uintptr_t)(to + (uint64_t)source * exchange->bytes + at),
            count, MPI_BYTE, source, EXCHANGE_TAG, mpi->communicator, &mpi->requests[source]);

        if (code != MPI_SUCCESS)
            return group_fail_mpi(mpi, "MPI_Irecv", code, source);
        code = MPI_Isend((const void *)(uintptr_t)(from + (uint64_t)target * exchange->bytes + at),
            count, MPI_BYTE, target, EXCHANGE_TAG, mpi->communicator,
            &mpi->requests[mpi->ranks + target]);
        if (code != MPI_SUCCESS)
            return group_fail_mpi(mpi, "MPI_Isend", code, target);
    }
    return POOL_OK;
}

static pool_status exchange_direct(pool_mpi *mpi, const struct group_exchange *exchange)
{
    CUdeviceptr from = 0, to = 0;
    pool_status status = pool_buffer_address(exchange->from, &from);

    if (!status)
        status = pool_buffer_address(exchange->to, &to);
    if (!status)
        status = pool_stream_synchronize(exchange->stream);
    if (!status)
        status = pool_bind(mpi->device);
    if (status)
        return status;
    for (uint64_t at = 0; at < exchange->bytes && !status; at += DIRECT_BYTES) {
        status = post_direct(mpi, exchange, at, from, to);
        for (int i = 0; i < 2 * mpi->ranks && !status; i++)
            if (i % mpi->ranks != mpi->rank)
                status = group_wait(mpi, &mpi->requests[i], i % mpi->ranks, group_deadline(mpi, 1));
    }
    if (status)
        (void)pool_unbind(mpi->device);
    else
        status = pool_unbind(mpi->device);
    return status;
}

/* ---- all transports -------------------------------------------------------------------------- */

pool_status group_exchange_open(pool_mpi *mpi)
{
    return mpi->transport == POOL_MPI_TRANSPORT_HOST ? open_chunks(mpi) : POOL_OK;
}

pool_status group_exchange_run(pool_mpi *mpi, const struct group_exchange *exchange)
{
    const uint64_t own = (uint64_t)mpi->rank * exchange->bytes;
    pool_status status =
        pool_copy_device(exchange->to, own, exchange->from, own, exchange->bytes, exchange->stream);

    if (status)
        return status;
    switch (mpi->transport) {
    case POOL_MPI_TRANSPORT_NCCL:
        return group_nccl_exchange(mpi, exchange);
    case POOL_MPI_TRANSPORT_CUDA:
        return exchange_direct(mpi, exchange);
    default:
        return exchange_on_host(mpi, exchange);
    }
}

void group_exchange_close(pool_mpi *mpi)
{
    (void)pool_stream_destroy(&mpi->stream);
    (void)pool_pinned_destroy(&mpi->pinned);
    if (!mpi->status)
        base_free(mpi->chunks);
}
