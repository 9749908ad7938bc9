/* SPDX-License-Identifier: Apache-2.0 */
/* Torture of the pool: creation in every mode, description, choice of devices, binding, queries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torture/torture.h"

static device_pool **pool_of(struct torture *torture)
{
    return (device_pool **)&torture->objects[0];
}

static pool_status create(struct torture *torture, pool_params *params)
{
    params->struct_size = sizeof(*params);
    params->driver = torture->table;
    if (!params->devices)
        params->devices = torture->devices;
    return pool_create(pool_of(torture), params);
}

static pool_status destroy(struct torture *torture)
{
    return pool_destroy(pool_of(torture));
}

/* ---- making --------------------------------------------------------------------------------- */

static pool_status create_primary(struct torture *torture)
{
    pool_params params = {.min_devices = 2};

    return create(torture, &params);
}

static pool_status create_any(struct torture *torture)
{
    pool_params params = {0};

    return create(torture, &params);
}

static pool_status create_with_primary_flags(struct torture *torture)
{
    pool_params params = {.min_devices = 2, .context_flags = 4};

    return create(torture, &params);
}

static pool_status create_own(struct torture *torture)
{
    pool_params params = {
        .min_devices = 2, .context_mode = POOL_CONTEXT_OWN, .context_flags = 4, .devices = "1,0"};

    return create(torture, &params);
}

static pool_status create_adopt(struct torture *torture)
{
    pool_params params = {.min_devices = 1,
        .context_mode = POOL_CONTEXT_ADOPT,
        .contexts = &torture->caller,
        .context_count = 1};

    return create(torture, &params);
}

static pool_status create_lazy_then_use(struct torture *torture)
{
    pool_params params = {.min_devices = 2, .lazy = 1};
    pool_device *device;
    pool_status status = create(torture, &params);

    for (size_t i = 0; i < 2 && !status; i++) {
        status = pool_device_at(*pool_of(torture), i, &device);
        if (!status)
            status = pool_device_synchronize(device);
    }
    return status;
}

/* A UUID's start and a PCI address: identities are queried to find the devices. */
static pool_status create_by_identity(struct torture *torture)
{
    pool_params params = {.min_devices = 2, .devices = "GPU-4e,0000:06:00.0"};
    pool_device *device;
    pool_status status = create(torture, &params);

    return status ? status : pool_device_by_uuid(*pool_of(torture), "GPU-4d", &device);
}

/* Two pools over one driver, of which the first holds a context that the second uses too. */
static pool_status create_two(struct torture *torture)
{
    pool_params params = {
        .struct_size = sizeof(params), .driver = torture->table, .devices = "1", .min_devices = 1};
    pool_status status = create_primary(torture);

    return status ? status : pool_create((device_pool **)&torture->objects[1], &params);
}

static pool_status destroy_two(struct torture *torture)
{
    pool_status first = destroy(torture);
    pool_status second = pool_destroy((device_pool **)&torture->objects[1]);

    return first ? first : second;
}

/* ---- tuning parameters ----------------------------------------------------------------------- */

static char tuning_path[64];

/* Writes the numbers of a device, reads them, and makes a pool with them. */
static pool_status write_tuning(struct torture *torture)
{
    pool_params params = {.struct_size = sizeof(params), .driver = torture->table};
    pool_tuning **written = (pool_tuning **)&torture->objects[2];
    pool_tuning **read = (pool_tuning **)&torture->objects[3];
    pool_device *device = NULL;
    pool_status status = create_primary(torture);

    if (!status)
        status = pool_device_at(*pool_of(torture), 0, &device);
    if (!status)
        status = pool_tuning_create(device, written);
    if (!status)
        status = pool_tuning_set(*written, "copy.helpers", 7);
    if (!status)
        status = pool_tuning_write(*written, tuning_path);
    if (!status)
        status = pool_tuning_read(tuning_path, read);
    params.tuning = *read;
    return status ? status : pool_create((device_pool **)&torture->objects[1], &params);
}

static pool_status destroy_tuning(struct torture *torture)
{
    pool_tuning_destroy((pool_tuning **)&torture->objects[2]);
    pool_tuning_destroy((pool_tuning **)&torture->objects[3]);
    return destroy_two(torture);
}

/* From here on pools read the file that the scenario before has left. */
static void prepare_tuning(struct torture *torture)
{
    (void)torture;
    setenv("DEVICEPOOL_TUNING", tuning_path, 1);
}

/* ---- using ---------------------------------------------------------------------------------- */

/* Queries also detect an unusable process or device, which must be recorded then. */
static pool_status still_usable(struct torture *torture)
{
    pool_device *device;
    pool_status status = POOL_OK;

    for (size_t i = 0; i < 2 && !status; i++) {
        status = pool_device_at(*pool_of(torture), i, &device);
        if (!status)
            status = pool_device_synchronize(device);
    }
    return status;
}

static pool_status describe(struct torture *torture)
{
    char *text = NULL;
    pool_status status = create_primary(torture);

    for (int i = 0; i < 4 && !status; i++) {
        pool_text_format format = i % 2 ? POOL_TEXT_JSON : POOL_TEXT_PLAIN;
        pool_device *device = NULL;

        if (i < 2)
            status = pool_describe(*pool_of(torture), format, &text);
        else if (!(status = pool_device_at(*pool_of(torture), 0, &device)))
            status = pool_device_describe(device, format, &text);
        if (!status)
            pool_text_free(&text);
    }
    return status ? status : still_usable(torture);
}

static pool_status facts(struct torture *torture)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_peer_info peer = {.struct_size = sizeof(peer)};
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_device *devices[2];
    pool_status status = create_primary(torture);

    for (size_t i = 0; i < 2 && !status; i++)
        status = pool_device_at(*pool_of(torture), i, &devices[i]);
    if (!status)
        status = pool_device_get_info(devices[1], &info);
    if (!status)
        status = pool_device_get_peer(devices[0], devices[1], &peer);
    if (!status)
        status = pool_get_health(*pool_of(torture), &health);
    return status ? status : still_usable(torture);
}

static double score(void *user, const pool_candidate *candidate)
{
    (void)user;
    return (double)candidate->free_bytes;
}

static pool_status pick(struct torture *torture)
{
    pool_pick by_score = {
        .struct_size = sizeof(by_score), .policy = POOL_POLICY_SCORE, .score = score};
    pool_pick by_load = {.struct_size = sizeof(by_load), .policy = POOL_POLICY_LEAST_LOADED};
    pool_device *device;
    pool_status status = create_primary(torture);

    if (!status)
        status = pool_next_device(*pool_of(torture), &device);
    if (!status)
        status = pool_best_device(*pool_of(torture), &device);
    if (!status)
        status = pool_pick_device(*pool_of(torture), &by_score, &device);
    if (!status)
        status = pool_pick_device(*pool_of(torture), &by_load, &device);
    return status;
}

/* Drained, waited for and resumed; quarantined, for the pool to be destroyed so. */
static pool_status states(struct torture *torture)
{
    pool_device *device = NULL;
    pool_status status = create_primary(torture);

    if (!status)
        status = pool_device_at(*pool_of(torture), 1, &device);
    if (!status)
        status = pool_device_drain(device);
    if (!status)
        status = pool_device_wait_drained(device, 1000000000);
    if (!status)
        status = pool_device_resume(device);
    if (!status)
        status = pool_device_quarantine(device, "suspected");
    return status ? status : still_usable(torture);
}

/* Bindings that are still to be released are in objects 1 … 3, the last one on top. */
static pool_status bind(struct torture *torture, pool_device *device)
{
    pool_status status = pool_bind(device);
    int at = 1;

    while (!status && torture->objects[at])
        at++;
    if (!status)
        torture->objects[at] = device;
    return status;
}

/*
 * All bindings, last first. A binding is undone whatever unbind answers, except UNBALANCED, which
 * changes nothing.
 */
static pool_status unbind_all(struct torture *torture)
{
    pool_status first = POOL_OK;

    for (int at = 3; at > 0; at--) {
        pool_device *device = torture->objects[at];
        pool_status status = device ? pool_unbind(device) : POOL_OK;

        if (status == POOL_ERR_UNBALANCED)
            return status;
        torture->objects[at] = NULL;
        first = first ? first : status;
    }
    return first;
}

static pool_status bind_nested(struct torture *torture)
{
    pool_device *a;
    pool_device *b;
    pool_device *bound;
    pool_status status = create_primary(torture);

    if (status)
        return status;
    status = pool_device_at(*pool_of(torture), 0, &a);
    if (!status)
        status = pool_device_at(*pool_of(torture), 1, &b);
    if (!status)
        status = bind(torture, a);
    if (!status)
        status = bind(torture, b);
    if (!status)
        status = bind(torture, a);
    if (!status)
        status = pool_bound_device(*pool_of(torture), &bound);
    if (!status)
        status = pool_check_device(*pool_of(torture), 0);
    return status ? status : unbind_all(torture);
}

static pool_status unbind_and_destroy(struct torture *torture)
{
    pool_status status = unbind_all(torture);

    return torture->objects[1] ? status : destroy(torture);
}

static pool_status task(pool_device *device, void *arg)
{
    pool_status *inner = arg;
    pool_status status = pool_bind(device);

    if (!status)
        status = pool_unbind(device);
    *inner = status;
    return status;
}

static pool_status run_on(struct torture *torture)
{
    pool_device *device;
    pool_status inner = POOL_OK;
    pool_status status = create_primary(torture);

    if (!status)
        status = pool_device_by_ordinal(*pool_of(torture), 1, &device);
    if (!status)
        status = pool_run_on(device, task, &inner);
    return status;
}

static pool_status find_pointer(struct torture *torture)
{
    pool_device *device;
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)torture->objects[4];
    pool_status status = create_primary(torture);

    if (!status)
        status = pool_pointer_device(*pool_of(torture), (const void *)(uintptr_t)address, &device);
    return status;
}

/* Memory of the caller's own context: on device 0, not the pool's. */
static void prepare_pointer(struct torture *torture)
{
    CUdeviceptr address = 0;

    torture->table->MemAlloc(&address, 64);
    torture->objects[4] = (void *)(uintptr_t)address;
}

/* A property that the driver does not report is 0. */
static const char *const facts_absorbed[] = {"cuDeviceGetAttribute", NULL};
/* The multiprocessors of an adopted context are those of the chip where the driver does not report
 * them. */
static const char *const adopt_absorbed[] = {"cuDeviceGetAttribute", "cuCtxGetDevResource", NULL};
/* The files of killed writers are cleared as far as there is memory. */
static const char *const tuning_absorbed[] = {"cuDeviceGetAttribute", "malloc", NULL};
/* A pool has the defaults if the file cannot be read. */
static const char *const tuning_file_absorbed[] = {"cuDeviceGetAttribute", "file", "malloc", NULL};
/* A failing query of free memory must not prevent a description or a choice. */
static const char *const sampling_absorbed[] = {"cuDeviceGetAttribute", "cuDeviceGetP2PAttribute",
    "cuCtxGetCurrent", "cuCtxGetId", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuMemGetInfo", NULL};

static const struct torture_scenario scenarios[] = {
    {.name = "create primary",
        .devices = 2,
        .run = create_primary,
        .finish = destroy,
        .absorbs = facts_absorbed},
    {.name = "create any",
        .devices = 3,
        .run = create_any,
        .finish = destroy,
        .absorbs = facts_absorbed,
        .goes_on = 1},
    {.name = "create primary with flags",
        .devices = 2,
        .run = create_with_primary_flags,
        .finish = destroy,
        .absorbs = facts_absorbed},
    {.name = "create own",
        .devices = 2,
        .run = create_own,
        .finish = destroy,
        .absorbs = facts_absorbed,
        .needs_mock = 1},
    {.name = "create adopt",
        .devices = 1,
        .run = create_adopt,
        .finish = destroy,
        .absorbs = adopt_absorbed,
        .needs_mock = 1},
    {.name = "create lazy, use",
        .devices = 2,
        .run = create_lazy_then_use,
        .finish = destroy,
        .absorbs = facts_absorbed},
    {.name = "create by identity",
        .devices = 2,
        .run = create_by_identity,
        .finish = destroy,
        .absorbs = facts_absorbed,
        .needs_mock = 1},
    {.name = "two pools",
        .devices = 2,
        .run = create_two,
        .finish = destroy_two,
        .absorbs = facts_absorbed,
        .needs_mock = 1},
    {.name = "describe",
        .devices = 2,
        .run = describe,
        .finish = destroy,
        .absorbs = sampling_absorbed},
    {.name = "facts", .devices = 2, .run = facts, .finish = destroy, .absorbs = facts_absorbed},
    {.name = "pick", .devices = 2, .run = pick, .finish = destroy, .absorbs = sampling_absorbed},
    {.name = "states", .devices = 2, .run = states, .finish = destroy, .absorbs = facts_absorbed},
    {.name = "bind nested",
        .devices = 2,
        .run = bind_nested,
        .finish = unbind_and_destroy,
        .absorbs = facts_absorbed},
    {.name = "run on", .devices = 2, .run = run_on, .finish = destroy, .absorbs = facts_absorbed},
    {.name = "pointer",
        .devices = 2,
        .prepare = prepare_pointer,
        .run = find_pointer,
        .finish = destroy,
        .absorbs = facts_absorbed,
        .needs_mock = 1},
    {.name = "tuning parameters",
        .devices = 2,
        .run = write_tuning,
        .finish = destroy_tuning,
        .absorbs = tuning_absorbed,
        .spares_driver = 1,
        .needs_mock = 1},
    {.name = "file of tuning parameters",
        .devices = 2,
        .prepare = prepare_tuning,
        .run = create_primary,
        .finish = destroy,
        .absorbs = tuning_file_absorbed,
        .needs_mock = 1},
};

int main(int argument_count, char **arguments)
{
    int failed;

    /* A description looks into the disk cache, whose failures are cache misses; module.c has them.
     */
    setenv("DEVICEPOOL_CACHE", "off", 1);
    snprintf(tuning_path, sizeof(tuning_path), "/tmp/devicepool-tuning-%d", (int)getpid());
    failed = torture_main(
        argument_count, arguments, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
    unlink(tuning_path);
    return failed;
}
