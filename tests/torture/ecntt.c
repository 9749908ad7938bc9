/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture of transforms of points: the first use, host memory with a check and strided results in
 * chunks, device memory with a given workspace.
 */
#include <stdio.h>
#include <stdlib.h>

#include "driver/nvrtc.h"
#include "ecntt/args.h"
#include "torture/torture.h"

enum { POOL, DOMAIN, WORKSPACE, POINTS };

/* y^2 = x^3 + 2 x + 3 over F_97 with a generator of order 5: short sources, a domain of 4. */
static pool_curve *curve;

static void add(struct torture *torture, const char *name, uint32_t size)
{
    const pool_mock_kernel kernel = {
        .struct_size = sizeof(kernel), .name = name, .argument_bytes = &size, .argument_count = 1};

    pool_mock_add_kernel(torture->mock, &kernel);
}

static void prepare(struct torture *torture)
{
    add(torture, "ecntt_factors", sizeof(struct ecntt_factors_args));
    add(torture, "ecntt_load", sizeof(struct ecntt_load_args));
    add(torture, "ecntt_stage", sizeof(struct ecntt_stage_args));
    add(torture, "ecntt_store", sizeof(struct ecntt_store_args));
    add(torture, "msm_convert_bases", sizeof(struct msm_convert_bases_args));
    add(torture, "msm_check_bases", sizeof(struct msm_check_bases_args));
}

static pool_status create(struct torture *torture, uint32_t log_size, pool_device **device)
{
    const pool_params params = {
        .struct_size = sizeof(params), .driver = torture->table, .devices = torture->devices};
    const pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = pool_curve_scalar_field(curve),
        .log_size = log_size};
    pool_status status = pool_create((device_pool **)&torture->objects[POOL], &params);

    if (!status)
        status = pool_device_at(torture->objects[POOL], 0, device);
    return status ? status
                  : pool_ntt_domain_create(&domain, (pool_ntt_domain **)&torture->objects[DOMAIN]);
}

static pool_status finish(struct torture *torture)
{
    pool_status status = pool_buffer_destroy((pool_buffer **)&torture->objects[WORKSPACE]);
    pool_status end = pool_buffer_destroy((pool_buffer **)&torture->objects[POINTS]);

    if (!status)
        status = end;
    end = pool_ntt_domain_destroy((pool_ntt_domain **)&torture->objects[DOMAIN]);
    if (!status)
        status = end;
    end = pool_destroy((device_pool **)&torture->objects[POOL]);
    return status ? status : end;
}

/* Two chunks of one transform. */
static pool_status transform_host(struct torture *torture)
{
    static uint32_t points[8 * 2], results[8 * 3];
    pool_ecntt_params params = {
        .struct_size = sizeof(params), .curve = curve, .direction = POOL_NTT_INVERSE, .batch = 1};
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_span in = {.data = points, .count = 4}, out = {.data = results, .count = 4, .stride = 12};
    uint64_t bytes = 0;
    pool_status status = create(torture, 2, &exec.device);

    params.domain = torture->objects[DOMAIN];
    exec.checks = POOL_CHECK_ON_CURVE;
    if (!status)
        status = pool_ecntt_workspace(&params, &exec, &in, &out, &bytes);
    exec.memory_limit = bytes;
    params.batch = 2;
    in.count = out.count = 8;
    return status ? status : pool_ecntt(&params, &exec, &in, &out);
}

static pool_status transform_device(struct torture *torture)
{
    pool_ecntt_params params = {.struct_size = sizeof(params), .curve = curve, .coset = 1};
    pool_exec exec = {.struct_size = sizeof(exec), .is_async = 1};
    pool_buffer **workspace = (pool_buffer **)&torture->objects[WORKSPACE];
    pool_buffer **points = (pool_buffer **)&torture->objects[POINTS];
    pool_span span = {0};
    uint64_t bytes = 0;
    pool_status status = create(torture, 2, &exec.device);

    params.domain = torture->objects[DOMAIN];
    if (!status)
        status = pool_buffer_alloc(exec.device, 4 * 8, points);
    if (!status)
        status = pool_buffer_span(*points, 0, 4, POOL_FORM_STANDARD, &span);
    if (!status)
        status = pool_ecntt_workspace(&params, &exec, &span, &span, &bytes);
    if (!status)
        status = pool_buffer_alloc(exec.device, bytes, workspace);
    exec.workspace = *workspace;
    if (!status)
        status = pool_ecntt(&params, &exec, &span, &span);
    return status ? status : pool_device_synchronize(exec.device);
}

static pool_status warm_up(struct torture *torture)
{
    pool_device *device = NULL;
    pool_status status = create(torture, 0, &device);

    return status ? status
                  : pool_ecntt_warm_up(
                        curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device});
}

static const char *const absorbed[] = {"cuDeviceGetAttribute", "file", "malloc", "cuMemAllocHost",
    "cuMemHostAlloc", "cuMemAllocFromPoolAsync", "cuCtxGetCurrent", "cuCtxGetId",
    "cuCtxPushCurrent", "cuModuleLoadDataEx", NULL};

static const struct torture_scenario scenarios[] = {
    {.name = "transform of points in host memory",
        .devices = 1,
        .prepare = prepare,
        .run = transform_host,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "transform of points with a workspace",
        .devices = 1,
        .prepare = prepare,
        .run = transform_device,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "warming up",
        .devices = 1,
        .prepare = prepare,
        .run = warm_up,
        .finish = finish,
        .absorbs = absorbed},
};

static pool_status create_curve(void)
{
    const pool_field_params base = {.struct_size = sizeof(base), .modulus = "97"};
    pool_curve_params params = {.struct_size = sizeof(params)};
    pool_field *field = NULL;
    pool_status status = pool_field_create(&base, &field);

    params.field = field;
    params.a[0] = "2";
    params.b[0] = "3";
    params.generator_x[0] = "3";
    params.generator_y[0] = "6";
    params.order = "5";
    if (!status)
        status = pool_curve_create(&params, &curve);
    pool_field_destroy(&field);
    return status;
}

int main(int argument_count, char **arguments)
{
    const struct nvrtc *nvrtc;

    if (driver_nvrtc_open(&nvrtc))
        return 77;
    if (create_curve())
        return 1;
    int failed = torture_main_with_cache(
        argument_count, arguments, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
    pool_curve_destroy(&curve);
    return failed;
}
