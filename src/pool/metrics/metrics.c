/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_metrics: what is known of a pool is read, then written in either format.
 */
#include <devicepool/metrics.h>

#include "base/alloc.h"
#include "base/params.h"
#include "pool/metrics/families.h"

pool_status pool_metrics(device_pool *pool, pool_metrics_format format, char **text)
{
    struct metrics_writer *writer;
    struct metrics_reading reading;
    pool_status status = base_check_pointers("pool_metrics", {"pool", pool}, {"text", text});

    if (!status)
        status = base_check_ranges(
            "pool_metrics", {"format", format, POOL_METRICS_PROMETHEUS, POOL_METRICS_JSON});
    if (!status)
        status = metrics_read(pool, &reading);
    if (status)
        return status;
    writer = metrics_writer_new(format);
    if (writer)
        metrics_write_families(writer, &reading);
    base_free(reading.devices);
    return metrics_writer_end(writer, text);
}
