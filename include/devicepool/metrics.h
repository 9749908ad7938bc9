/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pool has done and how it stands, for monitoring systems.
 */
#ifndef DEVICEPOOL_METRICS_H
#define DEVICEPOOL_METRICS_H

#include <devicepool/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How pool_metrics writes. */
typedef enum pool_metrics_format {
    POOL_METRICS_PROMETHEUS = 0, /* text exposition format 0.0.4, as Prometheus scrapes it */
    POOL_METRICS_JSON = 1        /* {"metrics": [{"name", "type", "unit", "help", "samples"}]} */
} pool_metrics_format;

/*
 * Every metric of the pool in one text, which the caller frees with pool_text_free. Names, units
 * and labels are listed in docs/metrics.md; durations are seconds, sizes bytes, and counters count
 * from the creation of the pool (compiler and cache: of the process). No driver call is made,
 * except that phases are collected where pool_set_phase_timing is on; so it also works after a
 * fault, when it reports the fault. Any thread. POOL_ERR_FORKED in a child process.
 */
POOL_API pool_status pool_metrics(device_pool *pool, pool_metrics_format format, char **text);

/*
 * 1: the phases of MSM and NTT are timed on the device (devicepool_phase_seconds_total), which
 * costs two events per phase, some 2 microseconds of the enqueuing thread. 2: also every launch of
 * a kernel, by events of its own, so that launches no longer overlap;
 * devicepool_longest_launch_seconds starts from 0 at each call with 2. Launches of graphs are not
 * timed. 0, the default: nothing is. Any thread, at any time; operations in progress may finish as
 * they began.
 */
POOL_API pool_status pool_set_phase_timing(device_pool *pool, int32_t level);

#ifdef __cplusplus
}
#endif

#endif
