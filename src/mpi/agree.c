/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agreement of the ranks: each one sends a record of its call and status to rank 0, which
 * compares them and sends the same verdict to all. Before data moves, so that every rank knows that
 * all have the same arguments and none has failed; and after it, so that all return the same.
 */
#include "mpi/group.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

enum { RECORD_TAG = 0, VERDICT_TAG = 1, RECORD_BYTES = 1024 };

/* Of this size in every version, so that different versions can read each other's first members. */
struct group_record {
    uint32_t version; /* POOL_VERSION_NUMBER */
    uint32_t operation;
    uint64_t sequence;
    int32_t status;
    uint32_t is_broken; /* messages of this call may be outstanding */
    uint32_t able;
    uint32_t count;
    uint64_t host;
    uint64_t identity; /* of its device */
    uint64_t values[GROUP_VALUES];
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES];
    char call[48];
    char object[GROUP_OBJECT_BYTES];
    char message[RECORD_BYTES - 48 - 8 * GROUP_VALUES - POOL_FINGERPRINT_BYTES - 48 -
                 GROUP_OBJECT_BYTES];
};

struct group_verdict {
    uint64_t sequence;
    int32_t status;
    int32_t failed_rank;
    uint32_t common;
    uint32_t is_broken;
    char message[RECORD_BYTES - 24];
};

_Static_assert(sizeof(struct group_record) == RECORD_BYTES, "the size of a record is fixed");
_Static_assert(sizeof(struct group_verdict) == RECORD_BYTES, "the size of a verdict is fixed");

pool_status group_agree_open(pool_mpi *mpi)
{
    const size_t ranks = (size_t)mpi->ranks;

    mpi->records = base_calloc(mpi->rank == 0 ? ranks : 1, sizeof(*mpi->records));
    mpi->verdict = base_calloc(1, sizeof(*mpi->verdict));
    mpi->requests = base_calloc(2 * ranks, sizeof(*mpi->requests));
    if (!mpi->records || !mpi->verdict || !mpi->requests)
        return base_fail_memory("the records of ranks");
    for (size_t i = 0; i < 2 * ranks; i++)
        mpi->requests[i] = MPI_REQUEST_NULL;
    return POOL_OK;
}

void group_agree_close(pool_mpi *mpi)
{
    base_free(mpi->records);
    base_free(mpi->verdict);
    base_free(mpi->requests);
}

void group_call_add(struct group_call *call, const char *name, uint64_t value)
{
    call->names[call->count] = name;
    call->values[call->count++] = value;
}

/* FNV-1a: different params are a mistake here, not an attack. */
uint64_t group_digest(const void *bytes, size_t count)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < count; i++)
        digest = (digest ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return digest;
}

pool_status group_check(const pool_mpi *mpi, const char *call)
{
    if (!mpi)
        return base_fail_null(call, "mpi");
    return mpi->status ? base_fail(mpi->status, "%s: the ranks are no longer in step: %s", call,
                             mpi->message)
                       : POOL_OK;
}

static void fill_record(const pool_mpi *mpi, const struct group_call *call, pool_status status,
    struct group_record *record)
{
    memset(record, 0, sizeof(*record));
    record->version = POOL_VERSION_NUMBER;
    record->operation = call->operation;
    record->sequence = mpi->sequence;
    record->status = status;
    record->is_broken = mpi->is_broken;
    record->host = mpi->host;
    record->identity = mpi->identity;
    record->able = mpi->able | call->offers;
    record->count = call->count;
    memcpy(record->values, call->values, sizeof(record->values));
    memcpy(record->fingerprint, call->fingerprint, sizeof(record->fingerprint));
    snprintf(record->call, sizeof(record->call), "%s", call->name);
    snprintf(record->object, sizeof(record->object), "%s", call->object);
    if (status)
        snprintf(record->message, sizeof(record->message), "%s", pool_last_error()->message);
}

/* ---- rank 0 ---------------------------------------------------------------------------------- */

static bool differs(struct group_verdict *verdict, const struct group_call *call, int rank,
    const struct group_record *own, const struct group_record *other)
{
    const size_t size = sizeof(verdict->message);

    if (own->version != other->version)
        return snprintf(verdict->message, size, "rank %d has version %u of the library, rank 0 %u",
                   rank, other->version, own->version),
               true;
    if (own->operation != other->operation || own->sequence != other->sequence)
        return snprintf(verdict->message, size,
                   "%s: rank %d calls %.47s instead: all ranks must make the same calls in the "
                   "same "
                   "order",
                   call->name, rank, other->call),
               true;
    if (call->object_kind &&
        memcmp(own->fingerprint, other->fingerprint, sizeof(own->fingerprint)) != 0)
        return snprintf(verdict->message, size,
                   "%s: rank %d has the %s %.63s, rank 0 %.63s: they must be the same", call->name,
                   rank, call->object_kind, other->object, own->object),
               true;
    for (uint32_t i = 0; i < own->count; i++)
        if (own->values[i] != other->values[i])
            return snprintf(verdict->message, size,
                       "%s: rank %d has %llu for %s, rank 0 %llu: they must be the same",
                       call->name, rank, (unsigned long long)other->values[i], call->names[i],
                       (unsigned long long)own->values[i]),
                   true;
    return false;
}

/* A rank's own failure is the cause of a timeout elsewhere, so it comes first. */
static bool find_failure(pool_mpi *mpi, bool is_timeout, struct group_verdict *verdict)
{
    for (int rank = 0; rank < mpi->ranks; rank++) {
        const struct group_record *record = &mpi->records[rank];

        if (!record->status || (record->status == POOL_ERR_TIMEOUT) != is_timeout)
            continue;
        verdict->status = record->status;
        snprintf(verdict->message, sizeof(verdict->message), "rank %d: %.*s", rank,
            (int)sizeof(record->message) - 1, record->message);
        return true;
    }
    return false;
}

/* Two ranks with the same device is legal, and hardly ever wanted. */
static void find_shared_device(const pool_mpi *mpi, struct group_verdict *verdict)
{
    for (int i = 1; i < mpi->ranks; i++)
        for (int j = 0; j < i && mpi->records[i].identity; j++)
            if (mpi->records[i].identity == mpi->records[j].identity) {
                snprintf(verdict->message, sizeof(verdict->message),
                    "ranks %d and %d have the same device", j, i);
                return;
            }
}

/* All ranks have answered: nobody is gone, even if a rank has waited for another one in vain. */
static void decide(pool_mpi *mpi, const struct group_call *call, struct group_verdict *verdict)
{
    verdict->common = UINT32_MAX;
    for (int rank = 0; rank < mpi->ranks; rank++) {
        verdict->common &= mpi->records[rank].able;
        verdict->is_broken |= mpi->records[rank].is_broken;
    }
    if (find_failure(mpi, false, verdict) || find_failure(mpi, true, verdict))
        return;
    for (int rank = 1; rank < mpi->ranks; rank++)
        if (differs(verdict, call, rank, &mpi->records[0], &mpi->records[rank])) {
            verdict->status = POOL_ERR_INVALID_ARGUMENT;
            return;
        }
    if (call->operation == GROUP_CREATE)
        find_shared_device(mpi, verdict);
}

/* Of ranks whose records have arrived. */
void group_count_local(const pool_mpi *mpi, int rank, int32_t *before, int32_t *all)
{
    *before = *all = 0;
    for (int other = 0; other < mpi->ranks; other++)
        if (mpi->records[other].host == mpi->records[rank].host) {
            *all += 1;
            *before += other < rank;
        }
}

/*
 * How long a rank waits for the others. Rank 0 receives the last record two timeouts after the
 * first rank has noticed that another one does not answer, which takes one; and the others wait for
 * its verdict longer than that. A rank that has waited for one timeout already, in an exchange,
 * waits for one less here, so that a call ends after five in all.
 */
enum { RECORD_TIMEOUTS = 3, VERDICT_TIMEOUTS = 5 };

static uint64_t record_deadline(const pool_mpi *mpi, pool_status status, uint32_t timeouts)
{
    return group_deadline(mpi, status == POOL_ERR_TIMEOUT ? timeouts - 1 : timeouts);
}

/* Receives all records. A rank that does not answer is the cause, whatever others report. */
static void collect(pool_mpi *mpi, const struct group_call *call, struct group_verdict *verdict)
{
    const uint64_t deadline =
        record_deadline(mpi, (pool_status)mpi->records[0].status, RECORD_TIMEOUTS);
    pool_status status = POOL_OK;

    for (int rank = 1; rank < mpi->ranks && !status; rank++) {
        int code = MPI_Irecv(&mpi->records[rank], RECORD_BYTES, MPI_BYTE, rank, RECORD_TAG,
            mpi->communicator, &mpi->requests[rank]);

        if (code != MPI_SUCCESS)
            status = group_fail_mpi(mpi, "MPI_Irecv", code, rank);
    }
    for (int rank = 1; rank < mpi->ranks && !status; rank++)
        status = group_wait(mpi, &mpi->requests[rank], rank, deadline);
    if (!status) {
        decide(mpi, call, verdict);
        return;
    }
    verdict->status = status;
    verdict->failed_rank = mpi->failed_rank;
    verdict->is_broken = true;
    snprintf(verdict->message, sizeof(verdict->message), "%s: %s", call->name,
        pool_last_error()->message);
}

/* A rank that has failed receives nothing; the others do while this one waits. One that does not
 * take its verdict is missing in the next agreement, which names it for all: if this rank alone
 * ended here, the others would miss this rank instead. */
static pool_status send_verdicts(pool_mpi *mpi)
{
    const int missing = mpi->verdict->failed_rank;
    const bool is_broken = mpi->is_broken;
    pool_status status = POOL_OK;

    for (int rank = 1; rank < mpi->ranks && !status; rank++) {
        int code = MPI_Isend(mpi->verdict, RECORD_BYTES, MPI_BYTE, rank, VERDICT_TAG,
            mpi->communicator, &mpi->requests[mpi->ranks + rank]);

        if (code != MPI_SUCCESS)
            status = group_fail_mpi(mpi, "MPI_Isend", code, -1);
    }
    for (int rank = 1; rank < mpi->ranks && !status; rank++) {
        if (rank == missing)
            continue;
        status = group_wait(mpi, &mpi->requests[mpi->ranks + rank], rank, group_deadline(mpi, 1));
        if (status == POOL_ERR_TIMEOUT) {
            mpi->is_broken = is_broken;
            status = POOL_OK;
        }
    }
    mpi->failed_rank = status ? -1 : missing;
    return status;
}

/* ---- all ranks ------------------------------------------------------------------------------- */

static pool_status exchange_records(pool_mpi *mpi)
{
    const uint64_t deadline =
        record_deadline(mpi, (pool_status)mpi->records[0].status, VERDICT_TIMEOUTS);
    int code = MPI_Irecv(
        mpi->verdict, RECORD_BYTES, MPI_BYTE, 0, VERDICT_TAG, mpi->communicator, &mpi->requests[0]);
    pool_status status = POOL_OK;

    if (code != MPI_SUCCESS)
        return group_fail_mpi(mpi, "MPI_Irecv", code, 0);
    code = MPI_Isend(
        mpi->records, RECORD_BYTES, MPI_BYTE, 0, RECORD_TAG, mpi->communicator, &mpi->requests[1]);
    if (code != MPI_SUCCESS)
        return group_fail_mpi(mpi, "MPI_Isend", code, 0);
    status = group_wait(mpi, &mpi->requests[0], 0, deadline);
    return status ? status : group_wait(mpi, &mpi->requests[1], 0, deadline);
}

/* From here on messages of this call may arrive in a later one. */
void group_latch(pool_mpi *mpi, pool_status status)
{
    snprintf(mpi->outcome, sizeof(mpi->outcome), "%s", pool_last_error()->message);
    mpi->status = status;
    snprintf(mpi->message, sizeof(mpi->message), "%s", mpi->outcome);
}

static pool_status exchange_as_root(pool_mpi *mpi, const struct group_call *call)
{
    memset(mpi->verdict, 0, sizeof(*mpi->verdict));
    mpi->verdict->sequence = mpi->sequence;
    mpi->verdict->failed_rank = -1;
    collect(mpi, call, mpi->verdict);
    return mpi->is_interrupted ? POOL_ERR_IO : send_verdicts(mpi);
}

/* How long the ranks that are left wait for each other: they are interrupted in their messages. */
enum { SETTLE_TIMEOUTS = 2 };

pool_status group_vote(pool_mpi *mpi, const struct group_call *call, pool_status status)
{
    pool_status sent = mpi->is_interrupted ? POOL_ERR_IO : POOL_OK;

    if (mpi->status)
        return mpi->status;
    mpi->sequence++;
    fill_record(mpi, call, status, mpi->records);
    if (!sent)
        sent = mpi->rank == 0 ? exchange_as_root(mpi, call) : exchange_records(mpi);
    if (mpi->is_interrupted)
        sent = group_settle(mpi, call->name, false, group_deadline(mpi, SETTLE_TIMEOUTS));
    else if (sent)
        (void)base_fail(sent, "%s: %s", call->name, pool_last_error()->message);
    if (sent) {
        group_latch(mpi, sent);
        return sent;
    }
    mpi->common = mpi->verdict->common;
    status = (pool_status)mpi->verdict->status;
    if (!status) {
        snprintf(mpi->warning, sizeof(mpi->warning), "%.255s", mpi->verdict->message);
        return POOL_OK;
    }
    snprintf(mpi->outcome, sizeof(mpi->outcome), "%s", mpi->verdict->message);
    mpi->failed_rank = mpi->verdict->failed_rank;
    if (mpi->verdict->is_broken)
        group_latch(mpi, group_fail_outcome(mpi, status));
    return status;
}

pool_status group_fail_outcome(const pool_mpi *mpi, pool_status status)
{
    return base_fail(status, "%s", mpi->outcome);
}

pool_status group_agree(pool_mpi *mpi, const struct group_call *call, pool_status status)
{
    status = group_vote(mpi, call, status);
    return status ? group_fail_outcome(mpi, status) : POOL_OK;
}
