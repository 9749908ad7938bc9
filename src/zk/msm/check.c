/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validates points and scalars on the device (ptx/msm/check_bases.cu, check_scalars.cu). Each check
 * waits for its result.
 */
#include <string.h>

#include "base/status.h"
#include "zk/msm/convert.h"

/* Multiplications for the equation and the form of a point, and per bit of the order: a doubling,
 * and an addition for every other one. */
enum { BLOCK = 128, EQUATION_PRODUCTS = 10, BIT_PRODUCTS = 14 };

static const char *const point_errors[MSM_CHECK_ERRORS] = {
    [MSM_CHECK_NOT_CANONICAL] = "has a coordinate that is not below the modulus",
    [MSM_CHECK_BAD_FLAG] = "has an infinity flag that is neither 0 nor 1",
    [MSM_CHECK_BAD_XYZZ] = "has different ZZ^3 and ZZZ^2",
    [MSM_CHECK_NOT_ON_CURVE] = "is not on the curve",
    [MSM_CHECK_NOT_IN_SUBGROUP] = "is not in the subgroup",
    [MSM_CHECK_ORIGIN] = "is (0, 0), which affine layouts use for infinity",
};

/* The kernels take the minimum of the result and what they find. */
static pool_status clear_result(const struct msm_run *run, const struct msm_check_result *result)
{
    return pool_buffer_fill32(result->buffer, result->offset, 2, UINT32_MAX, run->stream);
}

static pool_status read_result(
    const struct msm_run *run, const struct msm_check_result *result, uint64_t *first)
{
    pool_status status =
        pool_copy_to_host(first, result->buffer, result->offset, sizeof(*first), run->stream);

    return status ? status : pool_stream_synchronize(run->stream);
}

static bool has_cofactor(const pool_curve *curve)
{
    bool is_one = curve->cofactor_known && curve->cofactor[0] == 1;

    for (int i = 1; i < CURVE_MAX_LIMBS; i++)
        is_one = is_one && curve->cofactor[i] == 0;
    return !is_one;
}

static void set_curve(const pool_curve *curve, uint32_t checks, struct msm_check_bases_args *args)
{
    const struct field_extension *coordinates = &curve->coordinates;
    const pool_field *order = curve->scalar_field;

    for (uint32_t i = 0; i < coordinates->degree; i++)
        field_store_for_device(coordinates->field, args->b + i * coordinates->field->words,
            curve->b + i * coordinates->field->limbs);
    for (uint32_t i = 0; i < order->words; i++)
        args->order[i] = field_word(order->modulus, i);
    args->order_bits = (checks & POOL_CHECK_SUBGROUP) == POOL_CHECK_SUBGROUP && has_cofactor(curve)
                           ? order->bits
                           : 0;
}

pool_status msm_check_bases(const struct msm_run *run, const struct msm_input_bases *input,
    const struct msm_check_result *result, CUdeviceptr bases, uint64_t stride, uint32_t checks)
{
    struct msm_check_bases_args args = {.input = *input,
        .bases = bases,
        .stride = stride / 4,
        .first_index = result->first_index,
        .first_error = result->address};
    struct msm_launch launch = {.kernel = MSM_CHECK_BASES,
        .blocks = input->count / BLOCK + 1,
        .threads = BLOCK,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block};
    uint64_t first = 0;
    pool_status status;

    if (!(checks & POOL_CHECK_ON_CURVE) || !input->count)
        return POOL_OK;
    set_curve(run->curve, checks, &args);
    launch.seconds = msm_seconds(run,
        (double)input->count *
            ((double)EQUATION_PRODUCTS + (double)BIT_PRODUCTS * (double)args.order_bits),
        3 * (double)(input->count * msm_affine_bytes(run->curve)));
    status = clear_result(run, result);
    if (!status)
        status = msm_enqueue(run, &launch);
    if (!status)
        status = read_result(run, result, &first);
    if (!status && first != UINT64_MAX)
        status = base_fail(POOL_ERR_BAD_DATA, "point %llu %s",
            (unsigned long long)(first / MSM_CHECK_ERRORS), point_errors[first % MSM_CHECK_ERRORS]);
    return status;
}

static void set_limit(const pool_field *field, pool_form form, uint32_t scalar_bits,
    struct msm_check_scalars_args *args)
{
    uint64_t power[FIELD_MAX_LIMBS];

    args->is_limited = scalar_bits && scalar_bits < field->bits;
    if (!args->is_limited)
        return;
    args->limit[scalar_bits / 32] = 1u << scalar_bits % 32;
    args->converts = form == POOL_FORM_MONTGOMERY;
    /* The kernel multiplies x R^form by this and obtains x. */
    field_power_of_r(field, power, -(int)form);
    field_store_for_device(field, args->factor, power);
}

pool_status msm_check_scalars(const struct msm_run *run, const struct msm_scalars *scalars,
    const struct msm_check_result *result)
{
    const pool_field *field = run->curve->scalar_field;
    struct msm_check_scalars_args args = {.scalars = scalars->data,
        .stride = scalars->stride,
        .count = scalars->count,
        .first_index = result->first_index,
        .first_error = result->address};
    const struct msm_launch launch = {.kernel = MSM_CHECK_SCALARS,
        .blocks = scalars->count / BLOCK + 1,
        .threads = BLOCK,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block,
        .seconds = msm_seconds(run, 0, 4 * (double)(scalars->count * scalars->stride))};
    uint64_t first = 0;
    pool_status status;

    if (!scalars->count)
        return POOL_OK;
    set_limit(field, scalars->form, scalars->bits, &args);
    status = clear_result(run, result);
    if (!status)
        status = msm_enqueue(run, &launch);
    if (!status)
        status = read_result(run, result, &first);
    if (status || first == UINT64_MAX)
        return status;
    if (args.is_limited)
        return base_fail(POOL_ERR_BAD_DATA, "scalar %llu is not below 2^%u",
            (unsigned long long)(first / MSM_CHECK_ERRORS), scalars->bits);
    return base_fail(POOL_ERR_BAD_DATA, "scalar %llu is not below the order of %s",
        (unsigned long long)(first / MSM_CHECK_ERRORS), run->curve->name);
}
