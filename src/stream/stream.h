/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other rooms may know of streams.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include <devicepool/stream.h>

#include "pool/device.h"

/*
 * The raw handle for work on `device`: of `stream`, or of the default stream when that is NULL.
 * Fails for a destroyed handle and for a stream of another device; asks no driver.
 */
pool_status stream_handle_on(
    const pool_stream *stream, const pool_device *device, CUstream *handle);

#endif
