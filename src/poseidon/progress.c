/* SPDX-License-Identifier: Apache-2.0 */
#include "poseidon/progress.h"

#include "base/status.h"

/* The callback is called about so many times. */
enum { MAX_REPORTS = 256 };

struct poseidon_progress poseidon_progress_of(const pool_exec *exec, uint64_t total)
{
    return (struct poseidon_progress){.is_async = exec->is_async != 0,
        .callback = exec->progress,
        .user = exec->user,
        .cancel = exec->cancel,
        .total = total};
}

pool_status poseidon_progress_add(struct poseidon_progress *progress, uint64_t amount)
{
    uint64_t unreported;

    if (pool_cancel_requested(progress->cancel))
        return base_fail(POOL_ERR_CANCELLED, "the call was cancelled after %llu of %llu items",
            (unsigned long long)progress->done, (unsigned long long)progress->total);
    progress->done += amount;
    unreported = progress->done - progress->reported;
    if (!progress->callback || unreported == 0 ||
        (unreported < progress->total / MAX_REPORTS && progress->done < progress->total))
        return POOL_OK;
    progress->reported = progress->done;
    progress->callback(progress->user, progress->done, progress->total);
    return POOL_OK;
}

pool_status poseidon_progress_add_enqueued(
    struct poseidon_progress *progress, pool_stream *stream, uint64_t amount)
{
    pool_status status = POOL_OK;

    if (!progress->callback && !progress->cancel)
        return POOL_OK;
    if (!progress->is_async)
        status = pool_stream_synchronize(stream);
    return status ? status : poseidon_progress_add(progress, amount);
}
