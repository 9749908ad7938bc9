/* SPDX-License-Identifier: Apache-2.0 */
/* Two slices enqueued at most: see pace.h. */
#include "zk/operation/pace.h"

#include "base/math.h"
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
