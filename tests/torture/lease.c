/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture of leases: requests with and without a pick, streams, tickets with descriptors and hooks,
 * snapshots.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "pool/metrics/snapshot.h"
#include "torture/torture.h"

static device_pool *pool_of(const struct torture *torture)
{
    return torture->objects[0];
}

static pool_status create(struct torture *torture)
{
    pool_params params = {.struct_size = sizeof(params),
        .driver = torture->table,
        .devices = torture->devices,
        .min_devices = 2};

    return pool_create((device_pool **)&torture->objects[0], &params);
}

static pool_status release(struct torture *torture)
{
    pool_status ticket = pool_ticket_destroy((pool_ticket **)&torture->objects[2]);
    pool_status lease = pool_release((pool_lease **)&torture->objects[1]);
    pool_status pool = pool_destroy((device_pool **)&torture->objects[0]);

    return ticket ? ticket : lease ? lease : pool;
}

static double score(void *user, const pool_candidate *candidate)
{
    (void)user;
    return (double)candidate->free_bytes;
}

static pool_status acquire_and_use(struct torture *torture)
{
    pool_pick pick = {.struct_size = sizeof(pick), .policy = POOL_POLICY_SCORE, .score = score};
    pool_request request = {.struct_size = sizeof(request), .bytes = 1 << 20, .devices = 2};
    pool_stream *stream;
    pool_status status = create(torture);

    if (!status)
        status = pool_acquire(pool_of(torture), &request, (pool_lease **)&torture->objects[1]);
    for (uint32_t i = 0; i < 2 && !status; i++)
        status = pool_lease_stream(torture->objects[1], i, &stream);
    if (!status)
        status = pool_release((pool_lease **)&torture->objects[1]);
    request.pick = &pick;
    if (!status)
        status = pool_acquire(pool_of(torture), &request, (pool_lease **)&torture->objects[1]);
    if (!status)
        status = pool_lease_stream(torture->objects[1], 0, &stream);
    return status;
}

static pool_status wait_for_ticket(pool_ticket *ticket)
{
    struct pollfd waiting = {.events = POLLIN};
    pool_status status = pool_ticket_fd(ticket, &waiting.fd);

    if (!status)
        poll(&waiting, 1, -1);
    return status;
}

static pool_status acquire_by_ticket(struct torture *torture)
{
    pool_request request = {
        .struct_size = sizeof(request), .devices = 2, .timeout_ns = POOL_WAIT_FOREVER};
    pool_status status = create(torture);

    if (!status)
        status = pool_acquire_async(
            pool_of(torture), &request, NULL, NULL, (pool_ticket **)&torture->objects[2]);
    if (!status)
        status = wait_for_ticket(torture->objects[2]);
    if (!status)
        status = pool_ticket_take(torture->objects[2], (pool_lease **)&torture->objects[1]);
    return status;
}

/* A lease and a request that waits, in both formats and as the status socket writes them. */
static pool_status snapshot(struct torture *torture)
{
    pool_request request = {
        .struct_size = sizeof(request), .devices = 2, .slots = POOL_LEASE_SLOTS};
    pool_status status = create(torture);
    char *texts[3] = {NULL};

    if (!status)
        status = pool_acquire(pool_of(torture), &request, (pool_lease **)&torture->objects[1]);
    request.timeout_ns = POOL_WAIT_FOREVER;
    if (!status)
        status = pool_acquire_async(
            pool_of(torture), &request, NULL, NULL, (pool_ticket **)&torture->objects[2]);
    if (!status)
        status = pool_metrics(pool_of(torture), POOL_METRICS_PROMETHEUS, &texts[0]);
    if (!status)
        status = pool_metrics(pool_of(torture), POOL_METRICS_JSON, &texts[1]);
    if (!status)
        status = metrics_snapshot(pool_of(torture), &texts[2]);
    for (int i = 0; i < 3; i++)
        pool_text_free(&texts[i]);
    return status;
}

/* A sample of the free memory that fails leaves what was known before. */
static const char *const sampling[] = {"cuDeviceGetAttribute", "cuMemGetInfo", "cuCtxPushCurrent",
    "cuCtxPopCurrent", "cuCtxGetCurrent", "cuCtxGetId", "cuCtxSetCurrent", "cuStreamQuery",
    "cuMemPoolGetAttribute", NULL};

static const struct torture_scenario scenarios[] = {
    {.name = "acquire",
        .devices = 2,
        .run = acquire_and_use,
        .finish = release,
        .absorbs = sampling},
    {.name = "ticket",
        .devices = 2,
        .run = acquire_by_ticket,
        .finish = release,
        .absorbs = sampling},
    {.name = "snapshot", .devices = 2, .run = snapshot, .finish = release, .absorbs = sampling},
};

int main(int argument_count, char **arguments)
{
    return torture_main(
        argument_count, arguments, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
