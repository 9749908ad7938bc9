/* SPDX-License-Identifier: Apache-2.0 */
/* Two slices enqueued at most: see pace.h. */
#include "zk/operation/pace.h"

#include "pool/tuning/chip.h"
#include "pool/tuning/rates.h"
#include "zk/operation/exec.h"

/* Records the end of a slice and waits for the end of the one before it. */
static pool_status end_slice(struct pace *pace, pool_stream *stream)
{
    pool_status status = POOL_OK;

    if (!pace->set)
        status = stream_set_take(pace->device, stream, 0, PACE_EVENTS, &pace->set);
    if (!status)
        status = pool_event_record(pace->set->event[pace->slices % PACE_EVENTS], stream);
    if (status)
        return status;
    pace->enqueued_ns = 0;
    if (pace->slices++)
        status = pool_event_synchronize(pace->set->event[pace->slices % PACE_EVENTS]);
    return status ? status : progress_add(pace->progress, 0);
}

pool_status pace_enqueue(struct pace *pace, pool_stream *stream, double seconds)
{
    pool_status status = POOL_OK;
    uint64_t most, added;

    if (!pace || pace->slice_ns == UINT64_MAX)
        return POOL_OK;
    most = UINT64_MAX - pace->enqueued_ns;
    added = seconds * 1e9 < (double)most ? (uint64_t)(seconds * 1e9) : most;
    if (pace->enqueued_ns && pace->enqueued_ns + added > pace->slice_ns)
        status = end_slice(pace, stream);
    pace->enqueued_ns += added;
    return status;
}

/* The rates are those of products of 8 words; a product of n words takes n^2 steps. */
pool_status pace_enqueue_work(
    struct pace *pace, pool_stream *stream, uint32_t words, double products, double bytes)
{
    const struct chip_rates *rates = &chip_rates_h200;
    double computing, moving, slower;

    if (!pace)
        return POOL_OK;
    computing = products * words * words / 64.0 / rates->ntt_multiplications;
    moving = bytes / rates->memory_bytes;
    slower = (double)rates->multiprocessors / chip_of(pace->device).multiprocessors;
    return pace_enqueue(pace, stream, (computing > moving ? computing : moving) * slower);
}

void pace_end(struct pace *pace)
{
    if (pace->set)
        stream_set_return(pace->set);
    pace->set = NULL;
}
