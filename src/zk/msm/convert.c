/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues the conversion of bases, their multiples and strided copies (ptx/msm/convert_bases.cu,
 * double_bases.cu, copy_strided.cu).
 */
#include "zk/msm/convert.h"

/*
 * A thread inverts once for all its points, which costs as much as some 400 multiplications: 32
 * points per thread hide most of that; there are fewer where the chip would otherwise be idle.
 */
enum { BLOCK = 128, POINTS_PER_THREAD = 32, MIN_POINTS_PER_THREAD = 4, IDLE_BELOW = 1 << 14 };

/* Multiplications for a point, its part of the inversion included, and for a doubling. */
enum { CONVERSION_PRODUCTS = 24, DOUBLING_PRODUCTS = 9 };

uint64_t msm_affine_bytes(const pool_curve *curve)
{
    return 2 * (uint64_t)curve->coordinates.bytes;
}

void msm_input_bases_init(struct msm_input_bases *input, const pool_curve *curve,
    const pool_span *points, pool_point_layout layout)
{
    const pool_field *field = curve->coordinates.field;
    int exponent = field_device_degree(field) - (int)points->form;
    uint64_t stride = points->stride ? points->stride : pool_point_bytes(curve, layout);
    uint64_t power[FIELD_MAX_LIMBS];

    *input = (struct msm_input_bases){.data = (CUdeviceptr)(uintptr_t)points->data,
        .stride = stride / 4,
        .count = points->count,
        .layout = (uint32_t)layout,
        .converts = exponent != 0};
    field_power_of_r(field, power, exponent);
    field_store_for_device(field, input->factor, power);
}

/* Kernels load an element with the widest loads that its size is a multiple of. */
static uint32_t alignment_of(const pool_curve *curve)
{
    uint32_t words = curve->coordinates.field->words;

    return words % 4 == 0 ? 16 : words % 2 == 0 ? 8 : 4;
}

bool msm_input_is_converted(const pool_curve *curve, const struct msm_input_bases *input)
{
    return input->layout == POOL_POINT_AFFINE && !input->converts &&
           (input->data | input->stride * 4) % alignment_of(curve) == 0;
}

static uint64_t conversion_blocks(const struct msm_input_bases *input)
{
    uint64_t threads = input->count / POINTS_PER_THREAD;

    if (threads < IDLE_BELOW)
        threads = input->count / MIN_POINTS_PER_THREAD;
    if (input->layout == POOL_POINT_AFFINE || input->layout == POOL_POINT_AFFINE_FLAG)
        threads = input->count;
    if (threads / BLOCK >= INT32_MAX)
        threads = input->count / POINTS_PER_THREAD;
    return threads / BLOCK + 1;
}

pool_status msm_convert_bases(
    const struct msm_run *run, const struct msm_input_bases *input, CUdeviceptr bases)
{
    struct msm_convert_bases_args args = {
        .input = *input, .bases = bases, .blocks = (unsigned)conversion_blocks(input)};
    const double count = (double)input->count;
    const struct msm_launch launch = {
        .kernel = MSM_CONVERT_BASES,
        .blocks = args.blocks,
        .threads = BLOCK,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block,
        .seconds = msm_seconds(run, (double)CONVERSION_PRODUCTS * count,
            4 * count * (double)msm_affine_bytes(run->curve)),
    };

    return input->count ? msm_enqueue(run, &launch) : POOL_OK;
}

pool_status msm_double_bases(const struct msm_run *run, const struct msm_doubling *doubling)
{
    const uint32_t coordinate_words = (uint32_t)run->curve->coordinates.bytes / 4;
    struct msm_double_bases_args args = {
        .bases = doubling->bases,
        .doubled = doubling->scratch,
        .count = doubling->count,
        .doublings = doubling->doublings,
    };
    const struct msm_launch launch = {
        .kernel = MSM_DOUBLE_BASES,
        .blocks = doubling->count / BLOCK + 1,
        .threads = BLOCK,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block,
        .seconds = msm_seconds(run,
            (double)DOUBLING_PRODUCTS * (double)doubling->count * (double)doubling->doublings, 0),
    };
    const struct msm_input_bases doubled = {
        .data = doubling->scratch,
        .stride = 4 * coordinate_words,
        .count = doubling->count,
        .layout = POOL_POINT_XYZZ,
    };
    pool_status status;

    if (!doubling->count)
        return POOL_OK;
    status = msm_enqueue(run, &launch);
    return status ? status : msm_convert_bases(run, &doubled, doubling->out);
}

pool_status msm_copy_strided(const struct msm_run *run, const struct msm_copy *copy)
{
    struct msm_copy_strided_args args = {
        .in = copy->in,
        .out = copy->out,
        .in_stride = copy->in_stride / 4,
        .out_stride = copy->out_stride / 4,
        .count = copy->count,
        .words = (uint32_t)(copy->bytes / 4),
    };
    const struct msm_launch launch = {
        .kernel = MSM_COPY_STRIDED,
        .blocks = copy->count * args.words / BLOCK + 1,
        .threads = BLOCK,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block,
        .seconds = msm_seconds(run, 0, 2 * (double)(copy->count * copy->bytes)),
    };

    return copy->count ? msm_enqueue(run, &launch) : POOL_OK;
}
