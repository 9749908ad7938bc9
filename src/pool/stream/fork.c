/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stream's work continues on several, and several streams' on one.
 */
#include "base/params.h"
#include "base/status.h"
#include "pool/stream/stream.h"

static pool_status check_streams(
    const char *call, const pool_stream *stream, pool_stream *const *streams, size_t count)
{
    pool_status status = stream_check(call, stream);

    if (!status)
        status = device_check(stream->device, DEVICE_USE_HOST);
    if (!status)
        status = base_check_array(call, "streams", count, sizeof(*streams), sizeof(*streams));
    if (!status && count && !streams)
        status = base_fail_null(call, "streams");
    for (size_t i = 0; i < count && !status; i++) {
        if (!streams[i])
            return base_fail(
                POOL_ERR_INVALID_ARGUMENT, "%s: `streams[%zu]` must not be NULL", call, i);
        status = stream_check(call, streams[i]);
        if (!status && device_driver(streams[i]->device) != device_driver(stream->device))
            status = base_fail(POOL_ERR_WRONG_DEVICE,
                "%s: `streams[%zu]` belongs to a device of another driver", call, i);
    }
    return status;
}

/* Makes each of `to` wait for `from`: one record of an event that the device keeps for this. */
static pool_status wait_for(pool_stream *from, pool_stream *const *to, size_t count)
{
    struct stream_set *set;
    pool_status status = stream_set_take(from->device, from, 0, 1, &set);

    if (status)
        return status;
    status = pool_event_record(set->event[0], from);
    for (size_t i = 0; i < count && !status; i++)
        if (to[i] != from)
            status = pool_stream_wait_event(to[i], set->event[0]);
    stream_set_return(set);
    return status;
}

pool_status pool_stream_fork(pool_stream *stream, pool_stream *const *streams, size_t count)
{
    pool_status status = check_streams("pool_stream_fork", stream, streams, count);

    return status || !count ? status : wait_for(stream, streams, count);
}

pool_status pool_stream_join(pool_stream *stream, pool_stream *const *streams, size_t count)
{
    pool_status status = check_streams("pool_stream_join", stream, streams, count);

    for (size_t i = 0; i < count && !status; i++)
        if (streams[i] != stream)
            status = wait_for(streams[i], &stream, 1);
    return status;
}
