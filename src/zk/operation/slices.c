/* SPDX-License-Identifier: Apache-2.0 */
/* Two slices enqueued at most: see slices.h. */
#include "zk/operation/slices.h"

#include <assert.h>

#include "base/math.h"
#include "pool/tuning/chip.h"
#include "pool/tuning/rates.h"
#include "zk/operation/exec.h"

static_assert(2 * (int)SLICES_STREAMS <= (int)STREAM_SET_EVENTS, "the events of two slices");

static struct slice *present_slice(struct slices *slices)
{
    return &slices->slice[slices->ended % 2];
}

static pool_event *end_of(const struct slices *slices, uint64_t slice, uint32_t stream)
{
    return slices->set->event[slice % 2 * SLICES_STREAMS + stream];
}

/* Records the end of a slice and waits for the end of the one before it. */
static pool_status end_slice(struct slices *slices)
{
    const struct slice *ended = present_slice(slices);
    struct slice *before;
    pool_status status = POOL_OK;

    if (!slices->set)
        status =
            stream_set_take(slices->device, ended->stream[0], 0, 2 * SLICES_STREAMS, &slices->set);
    for (uint32_t i = 0; i < ended->count && !status; i++)
        status = pool_event_record(end_of(slices, slices->ended, i), ended->stream[i]);
    if (status)
        return status;
    if (slices->meanwhile)
        slices->meanwhile(slices->user);
    slices->enqueued_ns = 0;
    slices->ended++;
    before = present_slice(slices); /* the next one takes its place */
    for (uint32_t i = 0; i < before->count && !status; i++)
        status = pool_event_synchronize(end_of(slices, slices->ended, i));
    before->count = 0;
    return status ? status : progress_add(slices->progress, 0);
}

static bool has_stream(const struct slice *slice, const pool_stream *stream)
{
    for (uint32_t i = 0; i < slice->count; i++)
        if (slice->stream[i] == stream)
            return true;
    return false;
}

static void add_stream(struct slices *slices, pool_stream *stream)
{
    struct slice *slice = present_slice(slices);

    if (!has_stream(slice, stream))
        slice->stream[slice->count++] = stream;
}

pool_status slices_enqueue(struct slices *slices, pool_stream *stream, double seconds)
{
    pool_status status = POOL_OK;
    uint64_t most, added;
    bool is_full;

    if (!slices || slices->slice_ns == UINT64_MAX)
        return POOL_OK;
    most = UINT64_MAX - slices->enqueued_ns;
    added = seconds * 1e9 < (double)most ? (uint64_t)(seconds * 1e9) : most;
    is_full = present_slice(slices)->count == SLICES_STREAMS &&
              !has_stream(present_slice(slices), stream);
    if (is_full || (slices->enqueued_ns && slices->enqueued_ns + added > slices->slice_ns))
        status = end_slice(slices);
    if (status)
        return status;
    add_stream(slices, stream);
    slices->enqueued_ns += added;
    return POOL_OK;
}

void slices_join(struct slices *slices, pool_stream *joined, pool_stream *stream)
{
    struct slice *slice = slices ? present_slice(slices) : NULL;
    uint32_t kept = 0;

    if (!slice || joined == stream || !has_stream(slice, joined))
        return;
    for (uint32_t i = 0; i < slice->count; i++)
        if (slice->stream[i] != joined)
            slice->stream[kept++] = slice->stream[i];
    slice->count = kept;
    add_stream(slices, stream);
}

double slices_seconds(const pool_device *device, uint32_t words, double products, double bytes)
{
    const struct chip_work work = {.words = words, .products = products, .bytes = bytes};

    return chip_seconds(chip_of(device).multiprocessors, &work);
}

pool_status slices_launch(
    struct slices *slices, uint64_t slice_ns, const struct module_launch *launch)
{
    const unsigned first = launch->first_block ? *launch->first_block : 0;
    struct module_launch part = *launch;
    uint64_t slice = 0;
    pool_status status = module_launch_slice(launch, slice_ns, &slice);

    for (uint64_t done = 0; done < launch->blocks && !status; done += slice) {
        part.blocks = base_min(slice, launch->blocks - done);
        if (launch->first_block)
            *launch->first_block = first + (unsigned)done;
        status = slices_enqueue(
            slices, launch->stream, launch->seconds * (double)part.blocks / (double)launch->blocks);
        if (!status)
            status = module_launch_enqueue(&part);
    }
    if (launch->first_block)
        *launch->first_block = first;
    return status;
}

static _Thread_local struct slices *lent;

struct slices *slices_lend(struct slices *slices)
{
    struct slices *const before = lent;

    lent = slices;
    return before;
}

struct slices *slices_lent(const pool_device *device)
{
    return lent && lent->device == device ? lent : NULL;
}

void slices_end(struct slices *slices)
{
    if (slices->set)
        stream_set_return(slices->set);
    slices->set = NULL;
}
