/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture of MSMs: the first use with checks, host memory in growing chunks with uploads on a
 * second stream, affine passes in pieces, and bases with precomputed multiples: their fingerprint,
 * and a file that is saved and loaded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/nvrtc.h"
#include "torture/torture.h"
#include "zk/msm/call.h"

enum { POOL, POINTS, LOADED, FOUND, STREAM, COUNT = 64 };

/* One word per coordinate and per scalar: the smallest kernels. */
static pool_curve *curve;
static uint8_t points[COUNT * 8], scalars[COUNT * 4];
static char path[64];

/* A chip that NVRTC does not support: kernels are compiled to PTX, whose entries the mock finds
 * itself. */
static void prepare(struct torture *torture)
{
    pool_mock_set_attribute(torture->mock, 0, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 13);
    pool_mock_set_attribute(torture->mock, 0, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
}

/* Makes all points infinity, because a file of bases with invalid coordinates would be refused. */
static pool_cu_result import(void *user, const pool_mock_launch *launch)
{
    struct msm_convert_bases_args args;

    (void)user;
    memcpy(&args, launch->arguments[0], sizeof(args));
    memset((void *)(uintptr_t)args.bases, 0, args.input.count * 8);
    return 0;
}

static void prepare_handles(struct torture *torture)
{
    static const uint32_t size = sizeof(struct msm_convert_bases_args);
    const pool_mock_kernel kernel = {.struct_size = sizeof(kernel),
        .name = "msm_convert_bases",
        .argument_bytes = &size,
        .argument_count = 1,
        .effect = import};

    prepare(torture);
    pool_mock_add_kernel(torture->mock, &kernel);
}

static pool_status create(struct torture *torture, pool_device **device)
{
    pool_params params = {
        .struct_size = sizeof(params), .driver = torture->table, .devices = torture->devices};
    pool_status status = pool_create((device_pool **)&torture->objects[POOL], &params);

    return status ? status : pool_device_at(torture->objects[POOL], 0, device);
}

static pool_status first_of(pool_status status, pool_status end)
{
    return status ? status : end;
}

static pool_status finish(struct torture *torture)
{
    pool_status status = POOL_OK;

    for (int i = POINTS; i <= FOUND; i++)
        status = first_of(status, pool_bases_destroy((pool_bases **)&torture->objects[i]));
    status = first_of(status, pool_stream_destroy((pool_stream **)&torture->objects[STREAM]));
    unlink(path);
    return first_of(status, pool_destroy((device_pool **)&torture->objects[POOL]));
}

static pool_status sum(struct torture *torture)
{
    uint8_t result[16];
    pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_exec exec = {
        .struct_size = sizeof(exec), .checks = POOL_CHECK_CANONICAL | POOL_CHECK_SUBGROUP};
    pool_span in = {.data = points, .count = COUNT}, by = {.data = scalars, .count = COUNT},
              out = {.data = result, .count = 1};
    pool_status status = create(torture, &exec.device);

    return status ? status : pool_msm(&params, &exec, &in, &by, &out);
}

static pool_status sum_pieces(struct torture *torture)
{
    static const struct msm_tuning tuning = {.min_ramp_bytes = 1};
    uint8_t result[8 * 16];
    pool_msm_params params = {
        .struct_size = sizeof(params), .curve = curve, .batch = 8, .shared_bases = 1};
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_span in = {.data = points, .count = COUNT / 8}, by = {.data = scalars, .count = COUNT},
              out = {.data = result, .count = 8, .stride = 12};
    pool_status status = create(torture, &exec.device);

    return status ? status : msm_compute(&tuning, &params, &exec, &in, &by, &out);
}

/* With affine passes, in pieces; where memory for them fails the call does without. */
static pool_status sum_in_passes(struct torture *torture)
{
    static const struct msm_tuning tuning = {.min_ramp_bytes = UINT64_MAX, .max_affine_groups = 64};
    uint8_t result[16];
    pool_msm_params params = {
        .struct_size = sizeof(params), .curve = curve, .window_bits = 4, .affine_passes = 2};
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_span in = {.data = points, .count = COUNT}, by = {.data = scalars, .count = COUNT},
              out = {.data = result, .count = 1};
    pool_status status = create(torture, &exec.device);

    return status ? status : msm_compute(&tuning, &params, &exec, &in, &by, &out);
}

static pool_status handles(struct torture *torture)
{
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES], result[16];
    pool_bases_params make = {.struct_size = sizeof(make), .curve = curve, .precompute_factor = 2};
    pool_exec make_exec = {.struct_size = sizeof(make_exec), .checks = POOL_CHECK_ON_CURVE};
    pool_msm_params params = {.struct_size = sizeof(params)};
    pool_exec exec = {.struct_size = sizeof(exec), .is_async = 0};
    pool_span in = {.data = points, .count = COUNT}, by = {.data = scalars, .count = COUNT},
              out = {.data = result, .count = 1};
    pool_bases **made = (pool_bases **)&torture->objects[POINTS];
    pool_status status = create(torture, &make_exec.device);

    if (!status)
        status =
            pool_stream_create(make_exec.device, NULL, (pool_stream **)&torture->objects[STREAM]);
    make_exec.stream = torture->objects[STREAM];
    if (!status)
        status = pool_bases_create(&make, &make_exec, &in, made);
    if (!status)
        status = pool_bases_fingerprint(*made, fingerprint);
    if (!status)
        status = pool_bases_find(
            make_exec.device, fingerprint, 2, (pool_bases **)&torture->objects[FOUND]);
    if (!status)
        status = pool_bases_save(*made, path);
    if (!status)
        status = pool_bases_load(&make, &make_exec, path, (pool_bases **)&torture->objects[LOADED]);
    params.bases = torture->objects[LOADED];
    return status ? status : pool_msm(&params, &exec, NULL, &by, &out);
}

/*
 * A property that the driver does not report is 0; staging falls back to the driver's own copies; a
 * full device is tried again; entering a context to give memory back is tried again; a disk that
 * fails is a cache that misses.
 */
static const char *const absorbed[] = {"cuDeviceGetAttribute", "file", "malloc", "cuMemAllocHost",
    "cuMemHostAlloc", "cuMemAllocFromPoolAsync", "cuCtxGetCurrent", "cuCtxGetId",
    "cuCtxPushCurrent", "cuModuleLoadDataEx", NULL};

/* All kernels are compiled by then: the files are those of bases, and no failure of theirs is
 * absorbed. */
static const char *const absorbed_with_files[] = {"cuDeviceGetAttribute", "malloc",
    "cuMemAllocHost", "cuMemHostAlloc", "cuMemAllocFromPoolAsync", "cuCtxGetCurrent", "cuCtxGetId",
    "cuCtxPushCurrent", "cuModuleLoadDataEx", NULL};

static const struct torture_scenario scenarios[] = {
    {.name = "sum with checks",
        .devices = 1,
        .prepare = prepare,
        .run = sum,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "sums in pieces",
        .devices = 1,
        .prepare = prepare,
        .run = sum_pieces,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "sum in affine passes",
        .devices = 1,
        .prepare = prepare,
        .run = sum_in_passes,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "points, tables, files",
        .devices = 1,
        .prepare = prepare_handles,
        .run = handles,
        .finish = finish,
        .absorbs = absorbed_with_files},
};

static pool_status make_problem(void)
{
    pool_curve_params params = {.struct_size = sizeof(params)};
    pool_status status;

    params.field = pool_field_by_name("mersenne31");
    params.b[0] = "5";
    params.order = "165188041";
    params.cofactor = "13";
    params.generator_x[0] = "2014353682";
    params.generator_y[0] = "1938853545";
    status = pool_curve_create(&params, &curve);
    if (!status)
        status = pool_random_points(curve, 1, COUNT, NULL, points, scalars);
    return status;
}

int main(int argument_count, char **arguments)
{
    char directory[] = "/tmp/devicepool-torture-XXXXXX";
    char cache[64], command[80];
    const struct nvrtc *nvrtc;

    if (driver_nvrtc_open(&nvrtc))
        return 77;
    if (!mkdtemp(directory) || make_problem())
        return 1;
    snprintf(cache, sizeof(cache), "%s/cache", directory);
    snprintf(path, sizeof(path), "%s/points", directory);
    if (setenv("DEVICEPOOL_CACHE_DIR", cache, 1))
        return 1;
    int failed = torture_main(
        argument_count, arguments, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
    pool_curve_destroy(&curve);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command) || failed;
}
