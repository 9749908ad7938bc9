/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of a curve on a device: which programs there are, compiled at first use, found by the
 * curve's fingerprint from then on.
 */
#include "msm/msm.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/text.h"
#include "curve/emit_curve.h"
#include "field/emit_field.h"
#include "module/program.h"
#include "module/program_index.h"
#include "stream/stream.h"

static const char *const files[MSM_PROGRAM_COUNT] = {
    [MSM_PROGRAM_DIGITS] = "msm/digits.cu",
    [MSM_PROGRAM_PARTITION] = "msm/partition.cu",
    [MSM_PROGRAM_ORDER] = "msm/order.cu",
    [MSM_PROGRAM_ACCUMULATE] = "msm/accumulate.cu",
    [MSM_PROGRAM_MERGE] = "msm/merge.cu",
    [MSM_PROGRAM_REDUCE] = "msm/reduce.cu",
    [MSM_PROGRAM_COMBINE] = "msm/combine.cu",
    [MSM_PROGRAM_POINTS] = "msm/points.cu",
    [MSM_PROGRAM_CHECK] = "msm/check.cu",
};

struct msm_chip msm_chip_of(const pool_device *device)
{
    const pool_device_info *facts = device_facts(device);

    return (struct msm_chip){
        .multiprocessors = facts->multiprocessors > 0 ? (uint32_t)facts->multiprocessors : 1,
        .shared_bytes = facts->shared_bytes_per_block_optin ? facts->shared_bytes_per_block_optin
                                                            : facts->shared_bytes_per_block};
}

/* Programs that sort know no curve and no field: all curves share them. */
static bool has_texts(enum msm_program program)
{
    return program != MSM_PROGRAM_PARTITION && program != MSM_PROGRAM_ORDER;
}

/*
 * One block a multiprocessor, of as many threads as its 65,536 registers hold without spills: for
 * BN254 512 threads in one block take 2.79 ms for 2^20 points, the same threads in two blocks 2.94,
 * in four 3.06 (H200). Points over extensions need all 255 registers a thread can have.
 */
struct msm_shape msm_shape_for(uint32_t coordinate_words)
{
    if (coordinate_words <= 8)
        return (struct msm_shape){512, 1};
    if (coordinate_words <= 12)
        return (struct msm_shape){384, 1};
    return (struct msm_shape){256, 1};
}

static uint32_t curve_words(const pool_curve *curve)
{
    return (uint32_t)(curve->coordinates.bytes / sizeof(uint32_t));
}

/* Hands a program of the curve to `visit`. */
static pool_status with_program(
    const pool_curve *curve, enum msm_program program, module_program_visit visit, void *user)
{
    struct msm_shape shape = msm_shape_for(curve_words(curve));
    char threads[32], blocks[32], *curve_text = NULL, *scalar_text = NULL;
    pool_status status = curve_emit_of(curve, &curve_text);

    snprintf(threads, sizeof(threads), "MSM_THREADS=%u", shape.threads);
    snprintf(blocks, sizeof(blocks), "MSM_BLOCKS=%u", shape.blocks);
    if (!status)
        status = field_emit_generate(curve->scalar_field, "fr", &scalar_text);
    const pool_module_header texts[] = {{"curve.cuh", curve_text}, {"fr.cuh", scalar_text}};
    const char *const defines[] = {threads, blocks};
    const struct module_program made = {.file = files[program],
        .texts = texts,
        .text_count = has_texts(program) ? 2 : 0,
        .defines = defines,
        .define_count = program == MSM_PROGRAM_ACCUMULATE ? 2 : 0};
    if (!status)
        status = visit(user, &made);
    base_free(curve_text);
    base_free(scalar_text);
    return status;
}

pool_status msm_each_program(const pool_curve *curve, module_program_visit visit, void *user)
{
    pool_status status = POOL_OK;

    for (int i = 0; i < MSM_PROGRAM_COUNT && !status; i++)
        status = with_program(curve, (enum msm_program)i, visit, user);
    return status;
}

static struct module_tag tag_of(const pool_curve *curve, enum msm_program program)
{
    struct module_tag tag = {.file = files[program]};

    if (has_texts(program))
        memcpy(tag.fingerprint, curve->fingerprint, sizeof(tag.fingerprint));
    return tag;
}

/* Programs that are to be loaded. */
struct wanted {
    pool_device *device;
    const pool_curve *curve;
    enum msm_program programs[MSM_PROGRAM_COUNT];
};

static pool_status load_program(void *user, size_t index, bool only_ready, bool *is_there)
{
    const struct wanted *wanted = user;
    struct module_tag tag = tag_of(wanted->curve, wanted->programs[index]);
    pool_module *module = NULL;
    struct module_building building = {
        .device = wanted->device, .module = &module, .only_ready = only_ready};
    pool_status status = module_known_find(wanted->device, &tag, &module);

    if (!status && !module) {
        status =
            with_program(wanted->curve, wanted->programs[index], module_program_build, &building);
        if (!status && module)
            status = module_known_add(wanted->device, &tag, module);
    }
    *is_there = module != NULL;
    return status;
}

/* A set has bit 1 << program. */
static pool_status load(pool_device *device, const pool_curve *curve, uint32_t set)
{
    struct wanted wanted = {.device = device, .curve = curve};
    struct module_loading loading = {.load = load_program, .user = &wanted};

    for (int i = 0; i < MSM_PROGRAM_COUNT; i++)
        if (set >> i & 1)
            wanted.programs[loading.count++] = (enum msm_program)i;
    return module_load_programs(&loading);
}

pool_status msm_load_programs(pool_device *device, const pool_curve *curve)
{
    return load(device, curve, (UINT32_C(1) << MSM_PROGRAM_COUNT) - 1);
}

/*
 * What is compiled with a program that is missing: all that sums need, the import of points before
 * a check. Side by side they take little longer than the longest; one processor would not gain.
 */
static uint32_t set_with(enum msm_program program)
{
    uint32_t set = UINT32_C(1) << program;

    if (base_parallel_threads() == 1)
        return set;
    if (program == MSM_PROGRAM_CHECK)
        set |= UINT32_C(1) << MSM_PROGRAM_POINTS;
    return set | ((UINT32_C(1) << (MSM_PROGRAM_COMBINE + 1)) - 1);
}

pool_status msm_kernel(pool_device *device, const pool_curve *curve, enum msm_program program,
    const char *name, pool_kernel **kernel)
{
    struct module_tag tag = tag_of(curve, program);
    pool_module *module = NULL;
    pool_status status = module_known_find(device, &tag, &module);

    if (!status && !module) {
        status = load(device, curve, set_with(program));
        if (!status)
            status = module_known_find(device, &tag, &module);
    }
    return status ? status : pool_kernel_get(module, name, kernel);
}

pool_status msm_enqueue(const struct msm_run *run, const struct msm_launch *launch)
{
    void *arguments[] = {(void *)(uintptr_t)launch->argument};
    pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {(uint32_t)launch->blocks, 1, 1},
        .block = {launch->threads, 1, 1},
        .dynamic_shared_bytes = launch->shared_bytes,
        .argument_count = 1,
        .argument_bytes = &launch->argument_bytes,
        .pdl = 1};
    pool_kernel *kernel = NULL;

    if (launch->blocks > INT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu blocks are more than one launch can have",
            (unsigned long long)launch->blocks);
    pool_status status =
        msm_kernel(run->device, run->curve, launch->program, launch->kernel, &kernel);
    return status ? status : pool_launch(kernel, &shape, arguments, run->stream);
}

pool_status msm_clear(const struct msm_run *run, CUdeviceptr words, uint64_t count)
{
    struct device_scope scope;
    CUstream handle = NULL;
    pool_status status = stream_handle_on(run->stream, run->device, &handle);

    if (!status)
        status = device_enter(run->device, &scope);
    if (status)
        return status;
    status = DRIVER_CALL_FOR(scope.driver, MemsetD32Async(words, 0, count, handle), "%s",
        base_size_text(count * 4).text);
    return device_leave(&scope, status);
}
