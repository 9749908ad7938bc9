/* SPDX-License-Identifier: Apache-2.0 */
/* Two slices enqueued at most: see pace.h. */
#include "zk/operation/pace.h"

#include <assert.h>

#include "base/math.h"
#include "pool/tuning/chip.h"
#include "pool/tuning/rates.h"
#include "zk/operation/exec.h"

static_assert(2 * (int)PACE_STREAMS <= (int)STREAM_SET_EVENTS, "the events of two slices");

static struct pace_slice *present_slice(struct pace *pace)
{
    return &pace->slice[pace->slices % 2];
}

static pool_event *end_of(const struct pace *pace, uint64_t slice, uint32_t stream)
{
    return pace->set->event[slice % 2 * PACE_STREAMS + stream];
}

/* Records the end of a slice and waits for the end of the one before it. */
static pool_status end_slice(struct pace *pace)
{
    const struct pace_slice *ended = present_slice(pace);
    struct pace_slice *before;
    pool_status status = POOL_OK;

    if (!pace->set)
        status = stream_set_take(pace->device, ended->stream[0], 0, 2 * PACE_STREAMS, &pace->set);
    for (uint32_t i = 0; i < ended->count && !status; i++)
        status = pool_event_record(end_of(pace, pace->slices, i), ended->stream[i]);
    if (status)
        return status;
    pace->enqueued_ns = 0;
    pace->slices++;
    before = present_slice(pace); /* the next one takes its place */
    for (uint32_t i = 0; i < before->count && !status; i++)
        status = pool_event_synchronize(end_of(pace, pace->slices, i));
    before->count = 0;
    return status ? status : progress_add(pace->progress, 0);
}

static bool has_stream(const struct pace_slice *slice, const pool_stream *stream)
{
    for (uint32_t i = 0; i < slice->count; i++)
        if (slice->stream[i] == stream)
            return true;
    return false;
}

static void add_stream(struct pace *pace, pool_stream *stream)
{
    struct pace_slice *slice = present_slice(pace);

    if (!has_stream(slice, stream))
        slice->stream[slice->count++] = stream;
}

pool_status pace_enqueue(struct pace *pace, pool_stream *stream, double seconds)
{
    pool_status status = POOL_OK;
    uint64_t most, added;
    bool is_full;

    if (!pace || pace->slice_ns == UINT64_MAX)
        return POOL_OK;
    most = UINT64_MAX - pace->enqueued_ns;
    added = seconds * 1e9 < (double)most ? (uint64_t)(seconds * 1e9) : most;
    is_full =
        present_slice(pace)->count == PACE_STREAMS && !has_stream(present_slice(pace), stream);
    if (is_full || (pace->enqueued_ns && pace->enqueued_ns + added > pace->slice_ns))
        status = end_slice(pace);
    if (status)
        return status;
    add_stream(pace, stream);
    pace->enqueued_ns += added;
    return POOL_OK;
}

void pace_join(struct pace *pace, pool_stream *joined, pool_stream *stream)
{
    struct pace_slice *slice = pace ? present_slice(pace) : NULL;
    uint32_t kept = 0;

    if (!slice || joined == stream || !has_stream(slice, joined))
        return;
    for (uint32_t i = 0; i < slice->count; i++)
        if (slice->stream[i] != joined)
            slice->stream[kept++] = slice->stream[i];
    slice->count = kept;
    add_stream(pace, stream);
}

double pace_seconds(const pool_device *device, uint32_t words, double products, double bytes)
{
    const struct chip_work work = {.words = words, .products = products, .bytes = bytes};

    return chip_seconds(chip_of(device).multiprocessors, &work);
}

pool_status pace_launch(struct pace *pace, uint64_t slice_ns, const struct module_launch *launch)
{
    const unsigned first = launch->first_block ? *launch->first_block : 0;
    struct module_launch part = *launch;
    uint64_t slice = 0;
    pool_status status = module_launch_slice(launch, slice_ns, &slice);

    for (uint64_t done = 0; done < launch->blocks && !status; done += slice) {
        part.blocks = base_min(slice, launch->blocks - done);
        if (launch->first_block)
            *launch->first_block = first + (unsigned)done;
        status = pace_enqueue(
            pace, launch->stream, launch->seconds * (double)part.blocks / (double)launch->blocks);
        if (!status)
            status = module_launch_enqueue(&part);
    }
    if (launch->first_block)
        *launch->first_block = first;
    return status;
}

void pace_end(struct pace *pace)
{
    if (pace->set)
        stream_set_return(pace->set);
    pace->set = NULL;
}
