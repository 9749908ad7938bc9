/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture of transforms: the first use (compilation, tables), input and output in host memory with
 * a check, strided results, batches in chunks on several streams, vectors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ntt/args.h"
#include "ntt/extend_args.h"
#include "torture/torture.h"
#include "zk/vector/vector.h"

enum { POOL, DOMAIN };

static const uint32_t pass_sizes[] = {sizeof(struct ntt_pass_args)},
                      extend_sizes[] = {sizeof(struct ntt_extend_args)},
                      powers_sizes[] = {8, 8, 8, 8, 8, 4, 8}, levels_sizes[] = {8, 8, 4, 4},
                      quotients_sizes[] = {8, 8, 8, 4}, check_sizes[] = {16, 8, 8, 4},
                      combine_sizes[] = {4, 16, 16, 16, 8, 8, 8, 8, 4},
                      invert_sizes[] = {16, 16, 8, 8, 8, 4, 4};

static void add(struct torture *torture, const char *name, const uint32_t *sizes, uint32_t count)
{
    const pool_mock_kernel kernel = {.struct_size = sizeof(kernel),
        .name = name,
        .argument_bytes = sizes,
        .argument_count = count};

    pool_mock_add_kernel(torture->mock, &kernel);
}

static void prepare(struct torture *torture)
{
    add(torture, "ntt_pass", pass_sizes, 1);
    add(torture, "ntt_extend", extend_sizes, 1);
    add(torture, "vector_powers", powers_sizes, 7);
    add(torture, "ntt_stage_twiddles", levels_sizes, 4);
    add(torture, "ntt_quotients", quotients_sizes, 4);
    add(torture, "vector_check", check_sizes, 4);
    add(torture, "vector_apply", combine_sizes, 9);
    add(torture, "vector_invert", invert_sizes, 7);
}

static pool_status create(struct torture *torture, pool_device **device)
{
    pool_params params = {
        .struct_size = sizeof(params), .driver = torture->table, .devices = torture->devices};
    pool_status status = pool_create((device_pool **)&torture->objects[POOL], &params);

    return status ? status : pool_device_at(torture->objects[POOL], 0, device);
}

static pool_status finish(struct torture *torture)
{
    pool_status status = pool_ntt_domain_destroy((pool_ntt_domain **)&torture->objects[DOMAIN]);
    pool_status end = pool_destroy((device_pool **)&torture->objects[POOL]);

    return status ? status : end;
}

static pool_status domain_of(struct torture *torture, const char *field, uint32_t log_size)
{
    pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = pool_field_by_name(field), .log_size = log_size};

    return pool_ntt_domain_create(&params, (pool_ntt_domain **)&torture->objects[DOMAIN]);
}

static pool_status transform(struct torture *torture)
{
    static uint32_t data[64], result[128];
    pool_ntt_params params = {.struct_size = sizeof(params)};
    pool_exec exec = {.struct_size = sizeof(exec), .checks = POOL_CHECK_NONE};
    pool_span in = {.data = data, .count = 64}, out = {.data = result, .count = 64, .stride = 8};
    pool_status status = create(torture, &exec.device);

    if (!status)
        status = domain_of(torture, "babybear", 6);
    params.domain = torture->objects[DOMAIN];
    return status ? status : pool_ntt(&params, &exec, &in, &out);
}

static pool_status transform_parts(struct torture *torture)
{
    static uint32_t data[5 << 6];
    pool_ntt_params params = {.struct_size = sizeof(params), .batch = 5};
    /* Three slots of one row. */
    pool_exec exec = {.struct_size = sizeof(exec), .memory_limit = 3 * sizeof(uint32_t) << 6};
    pool_span span = {.data = data, .count = 5 << 6};
    pool_status status = create(torture, &exec.device);

    if (!status)
        status = domain_of(torture, "babybear", 6);
    params.domain = torture->objects[DOMAIN];
    return status ? status : pool_ntt(&params, &exec, &span, &span);
}

/* One row at a time in one slot, checked. */
static pool_status transform_limited(struct torture *torture)
{
    static uint32_t data[3 << 6];
    pool_ntt_params params = {.struct_size = sizeof(params), .batch = 3, .order = POOL_NTT_NR};
    pool_exec exec = {.struct_size = sizeof(exec),
        .checks = POOL_CHECK_CANONICAL,
        .memory_limit = 3 * sizeof(uint32_t) << 6};
    pool_span span = {.data = data, .count = 3 << 6};
    pool_status status = create(torture, &exec.device);

    if (!status)
        status = domain_of(torture, "babybear", 6);
    params.domain = torture->objects[DOMAIN];
    return status ? status : pool_ntt(&params, &exec, &span, &span);
}

/* One column at a time, checked, with coefficients in host memory. */
static pool_status extend(struct torture *torture)
{
    static uint32_t data[3 << 4], kept[3 << 4], result[3 << 6];
    pool_ntt_extend_params params = {.struct_size = sizeof(params), .log_blowup = 2, .batch = 3};
    pool_exec exec = {.struct_size = sizeof(exec),
        .checks = POOL_CHECK_CANONICAL,
        .memory_limit = 2 * 3 * 256 + 256};
    const pool_span in = {.data = data, .count = 3 << 4}, coefficients = {kept, 3 << 4, 0, 0, 0};
    const pool_span out = {.data = result, .count = 3 << 6};
    pool_status status = create(torture, &exec.device);

    params.order = POOL_NTT_NR;
    if (!status)
        status = domain_of(torture, "babybear", 6);
    params.domain = torture->objects[DOMAIN];
    return status ? status : pool_ntt_extend(&params, &exec, &in, &coefficients, &out);
}

static pool_status warm_up(struct torture *torture)
{
    pool_device *device = NULL;
    pool_status status = create(torture, &device);

    if (!status)
        status = domain_of(torture, "goldilocks", 12);
    if (!status)
        status = pool_ntt_warm_up(torture->objects[DOMAIN],
            &(pool_exec){.struct_size = sizeof(pool_exec), .device = device});
    return status ? status
                  : pool_vector_warm_up(pool_field_by_name("goldilocks"),
                        &(pool_exec){.struct_size = sizeof(pool_exec), .device = device});
}

static pool_status vectors(struct torture *torture)
{
    static uint32_t data[96], result[96];
    /* In two chunks. */
    pool_exec params = {.struct_size = sizeof(params), .memory_limit = 4 * 256};
    pool_span in = {.data = data, .count = 96}, out = {.data = result, .count = 96};
    pool_status status = create(torture, &params.device);

    if (!status)
        status = pool_vector_mul(pool_field_by_name("babybear"), &params, &in, &in, &out);
    return status ? status
                  : pool_vector_inverse(pool_field_by_name("babybear"), &params, &in, &out);
}

/*
 * A property that the driver does not report is 0; staging falls back to the driver's own copies; a
 * full device is tried again, and so is entering a context to give memory back; a disk that fails
 * is a cache that misses.
 */
static const char *const absorbed[] = {"cuDeviceGetAttribute", "file", "malloc", "cuMemAllocHost",
    "cuMemHostAlloc", "cuMemAllocFromPoolAsync", "cuCtxGetCurrent", "cuCtxGetId",
    "cuCtxPushCurrent", "cuModuleLoadDataEx", NULL};

static const struct torture_scenario scenarios[] = {
    {.name = "transform",
        .devices = 1,
        .prepare = prepare,
        .run = transform,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "transform in parts",
        .devices = 1,
        .prepare = prepare,
        .run = transform_parts,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "transform within a memory limit",
        .devices = 1,
        .prepare = prepare,
        .run = transform_limited,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "extension",
        .devices = 1,
        .prepare = prepare,
        .run = extend,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "warming up",
        .devices = 1,
        .prepare = prepare,
        .run = warm_up,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "vectors",
        .devices = 1,
        .prepare = prepare,
        .run = vectors,
        .finish = finish,
        .absorbs = absorbed},
};

int main(int argument_count, char **arguments)
{
    return torture_main_with_cache(
        argument_count, arguments, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
