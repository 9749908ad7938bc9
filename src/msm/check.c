/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points and scalars looked at on the device: check.cu. Each check waits for its answer.
 */
#include <string.h>

#include "base/status.h"
#include "msm/convert.h"

enum { BLOCK = 128, REASONS = 8 };

static const char *const wrong_points[REASONS] = {
    "has a coordinate that is not below the modulus",
    "has an infinity flag that is neither 0 nor 1",
    "has ZZ^3 and ZZZ^2 that differ",
    "is not on the curve",
    "is not in the subgroup",
    "is (0, 0), which affine layouts cannot tell from infinity",
};

/* The answer's place begins as the largest number. */
static pool_status begin(const struct msm_run *run, const struct msm_answer *answer)
{
    return pool_buffer_fill32(answer->buffer, answer->offset, 2, UINT32_MAX, run->stream);
}

static pool_status end(const struct msm_run *run, const struct msm_answer *answer, uint64_t *first)
{
    pool_status status =
        pool_copy_to_host(first, answer->buffer, answer->offset, sizeof(*first), run->stream);

    return status ? status : pool_stream_synchronize(run->stream);
}

struct check_points {
    struct msm_source from;
    CUdeviceptr points;
    uint64_t stride;
    uint64_t place;
    CUdeviceptr first;
    uint32_t b[2 * FIELD_MAX_WORDS];
    uint32_t order[FIELD_MAX_WORDS];
    uint32_t order_bits;
};

static bool has_cofactor(const pool_curve *curve)
{
    bool is_one = curve->cofactor_known && curve->cofactor[0] == 1;

    for (int i = 1; i < CURVE_MAX_LIMBS; i++)
        is_one = is_one && curve->cofactor[i] == 0;
    return !is_one;
}

static void set_curve(
    const pool_curve *curve, pool_point_check check, struct check_points *argument)
{
    const struct field_extension *coordinates = &curve->coordinates;
    const pool_field *order = curve->scalar_field;

    for (uint32_t i = 0; i < coordinates->degree; i++)
        field_store_for_device(coordinates->field, argument->b + i * coordinates->field->words,
            curve->b + i * coordinates->field->limbs);
    for (uint32_t i = 0; i < order->words; i++)
        argument->order[i] = field_word(order->modulus, i);
    argument->order_bits = check == POOL_POINTS_SUBGROUP && has_cofactor(curve) ? order->bits : 0;
}

pool_status msm_check_points(const struct msm_run *run, const struct msm_source *source,
    const struct msm_answer *answer, CUdeviceptr points, uint64_t stride, pool_point_check check)
{
    struct check_points argument = {.from = *source,
        .points = points,
        .stride = stride / 4,
        .place = answer->place,
        .first = answer->address};
    const struct msm_launch launch = {.program = MSM_PROGRAM_CHECK,
        .kernel = "check_points",
        .blocks = source->count / BLOCK + 1,
        .threads = BLOCK,
        .argument = &argument,
        .argument_bytes = sizeof(argument)};
    uint64_t first = 0;
    pool_status status;

    if (check == POOL_POINTS_TRUSTED || !source->count)
        return POOL_OK;
    set_curve(run->curve, check, &argument);
    status = begin(run, answer);
    if (!status)
        status = msm_enqueue(run, &launch);
    if (!status)
        status = end(run, answer, &first);
    if (!status && first != UINT64_MAX)
        status = base_fail(POOL_ERR_BAD_DATA, "point %llu %s",
            (unsigned long long)(first / REASONS), wrong_points[first % REASONS]);
    return status;
}

struct check_scalars {
    CUdeviceptr scalars;
    uint64_t stride;
    uint64_t count;
    uint64_t place;
    CUdeviceptr first;
    uint32_t converts;
    uint32_t is_limited;
    uint32_t factor[FIELD_MAX_WORDS];
    uint32_t limit[FIELD_MAX_WORDS];
};

static void set_limit(
    const pool_field *field, pool_form form, uint32_t scalar_bits, struct check_scalars *argument)
{
    uint64_t power[FIELD_MAX_LIMBS];

    argument->is_limited = scalar_bits && scalar_bits < field->bits;
    if (!argument->is_limited)
        return;
    argument->limit[scalar_bits / 32] = 1u << scalar_bits % 32;
    argument->converts = form == POOL_FORM_MONTGOMERY;
    /* The kernel's product of x R^form with this is x. */
    field_power_of_r(field, power, -(int)form);
    field_store_for_device(field, argument->factor, power);
}

pool_status msm_check_scalars(
    const struct msm_run *run, const struct msm_scalars *scalars, const struct msm_answer *answer)
{
    const pool_field *field = run->curve->scalar_field;
    struct check_scalars argument = {.scalars = scalars->data,
        .stride = scalars->stride,
        .count = scalars->count,
        .place = answer->place,
        .first = answer->address};
    const struct msm_launch launch = {.program = MSM_PROGRAM_CHECK,
        .kernel = "check_scalars",
        .blocks = scalars->count / BLOCK + 1,
        .threads = BLOCK,
        .argument = &argument,
        .argument_bytes = sizeof(argument)};
    uint64_t first = 0;
    pool_status status;

    if (!scalars->count)
        return POOL_OK;
    set_limit(field, scalars->form, scalars->bits, &argument);
    status = begin(run, answer);
    if (!status)
        status = msm_enqueue(run, &launch);
    if (!status)
        status = end(run, answer, &first);
    if (status || first == UINT64_MAX)
        return status;
    if (argument.is_limited)
        return base_fail(POOL_ERR_BAD_DATA, "scalar %llu is not below 2^%u",
            (unsigned long long)(first / REASONS), scalars->bits);
    return base_fail(POOL_ERR_BAD_DATA, "scalar %llu is not below the order of %s",
        (unsigned long long)(first / REASONS), run->curve->name);
}
