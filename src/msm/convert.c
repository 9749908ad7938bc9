/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points brought into the shape that the sums read, and multiples of them: points.cu.
 */
#include "msm/msm.h"

#include "msm/convert.h"

/*
 * A thread inverts once for all its points, which costs as much as some 400 products: 32 points a
 * thread hide most of it, and fewer where the chip would otherwise stand idle.
 */
enum { BLOCK = 128, POINTS_A_THREAD = 32, LEAST_A_THREAD = 4, IDLE_BELOW = 1 << 14 };

uint64_t msm_affine_bytes(const pool_curve *curve)
{
    return 2 * (uint64_t)curve->coordinates.bytes;
}

void msm_source_init(struct msm_source *source, const pool_curve *curve, const pool_span *points,
    pool_point_layout layout)
{
    const pool_field *field = curve->coordinates.field;
    int exponent = field_device_degree(field) - (int)points->form;
    uint64_t stride = points->stride ? points->stride : pool_point_bytes(curve, layout);
    uint64_t power[FIELD_MAX_LIMBS];

    *source = (struct msm_source){.data = (CUdeviceptr)(uintptr_t)points->data,
        .stride = stride / 4,
        .count = points->count,
        .layout = (uint32_t)layout,
        .converts = exponent != 0};
    field_power_of_r(field, power, exponent);
    field_store_for_device(field, source->factor, power);
}

/* Kernels read an element by the largest loads that its size is a multiple of. */
static uint32_t alignment_of(const pool_curve *curve)
{
    uint32_t words = curve->coordinates.field->words;

    return words % 4 == 0 ? 16 : words % 2 == 0 ? 8 : 4;
}

bool msm_source_is_ready(const pool_curve *curve, const struct msm_source *source)
{
    return source->layout == POOL_POINT_AFFINE && !source->converts &&
           (source->data | source->stride * 4) % alignment_of(curve) == 0;
}

static uint64_t blocks_for(const struct msm_source *source)
{
    uint64_t threads = source->count / POINTS_A_THREAD;

    if (threads < IDLE_BELOW)
        threads = source->count / LEAST_A_THREAD;
    if (source->layout == POOL_POINT_AFFINE || source->layout == POOL_POINT_AFFINE_FLAG)
        threads = source->count;
    if (threads / BLOCK >= INT32_MAX)
        threads = source->count / POINTS_A_THREAD;
    return threads / BLOCK + 1;
}

struct import {
    struct msm_source from;
    CUdeviceptr to;
};

pool_status msm_import_points(
    const struct msm_run *run, const struct msm_source *source, CUdeviceptr to)
{
    const struct import argument = {.from = *source, .to = to};
    const struct msm_launch launch = {.program = MSM_PROGRAM_POINTS,
        .kernel = "import_points",
        .blocks = blocks_for(source),
        .threads = BLOCK,
        .argument = &argument,
        .argument_bytes = sizeof(argument)};

    return source->count ? msm_enqueue(run, &launch) : POOL_OK;
}

struct multiples {
    CUdeviceptr from;
    CUdeviceptr to;
    uint64_t count;
    uint32_t doublings;
};

pool_status msm_multiply_points(const struct msm_run *run, const struct msm_multiples *wanted)
{
    const pool_curve *curve = run->curve;
    const struct multiples argument = {.from = wanted->from,
        .to = wanted->scratch,
        .count = wanted->count,
        .doublings = wanted->doublings};
    const struct msm_launch launch = {.program = MSM_PROGRAM_POINTS,
        .kernel = "multiply_points",
        .blocks = wanted->count / BLOCK + 1,
        .threads = BLOCK,
        .argument = &argument,
        .argument_bytes = sizeof(argument)};
    struct msm_source source = {.data = wanted->scratch,
        .stride = 2 * msm_affine_bytes(curve) / 4,
        .count = wanted->count,
        .layout = POOL_POINT_XYZZ};

    if (!wanted->count)
        return POOL_OK;
    pool_status status = msm_enqueue(run, &launch);
    return status ? status : msm_import_points(run, &source, wanted->to);
}

struct copy {
    CUdeviceptr from;
    CUdeviceptr to;
    uint64_t from_stride;
    uint64_t to_stride;
    uint64_t count;
    uint32_t words;
};

pool_status msm_copy_items(const struct msm_run *run, const struct msm_copy *wanted)
{
    const struct copy argument = {.from = wanted->from,
        .to = wanted->to,
        .from_stride = wanted->from_stride / 4,
        .to_stride = wanted->to_stride / 4,
        .count = wanted->count,
        .words = (uint32_t)(wanted->bytes / 4)};
    const struct msm_launch launch = {.program = MSM_PROGRAM_POINTS,
        .kernel = "copy_items",
        .blocks = wanted->count * argument.words / BLOCK + 1,
        .threads = BLOCK,
        .argument = &argument,
        .argument_bytes = sizeof(argument)};

    return wanted->count ? msm_enqueue(run, &launch) : POOL_OK;
}
