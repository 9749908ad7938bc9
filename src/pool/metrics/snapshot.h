/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the status socket writes: pool_metrics as JSON, with the process, the pool's health,
 * and its leases and requests one by one.
 */
#ifndef METRICS_SNAPSHOT_H
#define METRICS_SNAPSHOT_H

#include <devicepool/metrics.h>

/* The caller frees *text with pool_text_free. */
pool_status metrics_snapshot(device_pool *pool, char **text);

#endif
