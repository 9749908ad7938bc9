/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of MSMs: problems made from seeds, the reference, and the comparison of an
 * MSM on a device with it.
 */
#ifndef TESTS_SUPPORT_MSM_H
#define TESTS_SUPPORT_MSM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

#include "driver/nvrtc.h"
#include "support/assert.h"
#include "support/msm_reference.h"
#include "zk/msm/call.h"

enum { MSM_POINT_MAX = 4 * 2 * POOL_FIELD_MAX_BYTES }; /* XYZZ over an extension */

/* For curves that are not among the prebuilt programs: true, and said, on a host without NVRTC. */
static inline bool msm_is_left_out(const pool_curve *curve, pool_device *device)
{
    char reason[DRIVER_NVRTC_REASON];

    if (driver_nvrtc_candidate(0, reason, sizeof(reason)) ||
        pool_msm_warm_up(curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}) !=
            POOL_ERR_NO_COMPILER)
        return false;
    print_message("left out: %s: %s\n", curve->name, pool_last_error()->message);
    return true;
}

/* An MSM to be computed: packed affine points and scalars, both in standard form. */
struct msm_problem {
    const pool_curve *curve;
    uint64_t count;
    uint8_t *points;
    uint8_t *scalars;
    size_t point_bytes;
    size_t scalar_bytes;
};

static inline struct msm_problem msm_problem_empty(const pool_curve *curve, uint64_t count)
{
    struct msm_problem problem = {.curve = curve, .count = count};

    assert_non_null(curve);
    problem.point_bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    problem.scalar_bytes = pool_field_element_bytes(pool_curve_scalar_field(curve));
    problem.points = calloc(count + 1, problem.point_bytes);
    problem.scalars = calloc(count + 1, problem.scalar_bytes);
    assert_true(problem.points && problem.scalars);
    return problem;
}

static inline struct msm_problem msm_problem_random(
    const pool_curve *curve, uint64_t count, uint64_t seed)
{
    struct msm_problem problem = msm_problem_empty(curve, count);

    assert_ok(pool_random_points(curve, seed, count, NULL, problem.points, NULL));
    assert_ok(pool_random_scalars(
        pool_curve_scalar_field(curve), seed + 1, count, POOL_FORM_STANDARD, problem.scalars));
    return problem;
}

static inline void msm_problem_free(struct msm_problem *problem)
{
    free(problem->points);
    free(problem->scalars);
    memset(problem, 0, sizeof(*problem));
}

static inline uint8_t *msm_point(const struct msm_problem *problem, uint64_t index)
{
    return problem->points + index * problem->point_bytes;
}

static inline uint8_t *msm_scalar(const struct msm_problem *problem, uint64_t index)
{
    return problem->scalars + index * problem->scalar_bytes;
}

static inline void msm_set_scalar(const struct msm_problem *problem, uint64_t index, uint64_t value)
{
    uint8_t *scalar = msm_scalar(problem, index);

    memset(scalar, 0, problem->scalar_bytes);
    memcpy(scalar, &value, problem->scalar_bytes < 8 ? problem->scalar_bytes : 8);
}

/* By buckets on the host, as an affine point in standard form. */
static inline void msm_expect(const struct msm_problem *problem, uint8_t *result)
{
    assert_ok(msm_reference_buckets(
        problem->curve, problem->count, problem->points, problem->scalars, result));
}

/* Memory space, stride, form and layout of operands and results. All zeros: host, packed, standard,
 * affine. */
struct msm_shape_of_call {
    enum msm_splitting splitting;
    bool ramps_up;              /* smaller first chunks for host memory of any size */
    uint64_t max_affine_groups; /* of a piece of affine passes; 0: the plan chooses */
    bool never_copies_ahead;    /* bases of the first affine pass */
    pool_point_layout layout;   /* of points */
    pool_form form;
    uint64_t gap; /* bytes between items, a multiple of 4 */
    pool_memory_space space;
    pool_form scalar_form;
    uint64_t scalar_gap;
    pool_memory_space scalar_place;
    pool_point_layout result_layout;
    pool_form result_form;
    uint64_t result_gap;
    pool_memory_space result_place;
};

/* Host memory, or a copy on the device in *buffer. */
static inline pool_span msm_place(pool_device *device, pool_memory_space place, void *data,
    uint64_t count, uint64_t stride, pool_form form, pool_buffer **buffer)
{
    pool_span span = {.data = data, .count = count, .stride = stride, .form = form, .space = place};
    CUdeviceptr address = 0;

    if (place == POOL_MEMORY_DEVICE) {
        assert_ok(pool_buffer_from_host(device, data, count * stride + 4, buffer));
        assert_ok(pool_buffer_address(*buffer, &address));
        span.data = (void *)(uintptr_t)address;
    }
    return span;
}

/* The scalars of a problem in another form and stride. */
static inline uint8_t *msm_scalars_as(
    const struct msm_problem *problem, pool_form form, uint64_t stride)
{
    uint8_t *made = calloc(problem->count * stride + 4, 1);

    for (uint64_t i = 0; i < problem->count; i++) {
        memcpy(made + i * stride, msm_scalar(problem, i), problem->scalar_bytes);
        if (form == POOL_FORM_MONTGOMERY)
            assert_ok(pool_field_to_montgomery(
                pool_curve_scalar_field(problem->curve), made + i * stride, 1, made + i * stride));
    }
    return made;
}

/*
 * pool_msm of `params` (curve, batch, sharing and all else set) over the problem's points, or over
 * a handle, with everything in memory as `shape` says; `points` of them are given. The results come
 * back as affine points in standard form, and what lies between them is as it was.
 */
static inline pool_status msm_call_shaped(const struct msm_problem *problem,
    const pool_msm_params *params, const pool_exec *exec, const struct msm_shape_of_call *shape,
    uint64_t points, uint8_t *results)
{
    const struct msm_tuning tuning = {
        .min_ramp_bytes = shape->ramps_up ? 1 : msm_default_tuning.min_ramp_bytes,
        .max_affine_groups = shape->max_affine_groups,
        .never_copies_ahead = shape->never_copies_ahead,
        .splitting = shape->splitting};
    uint64_t batch = params->batch ? params->batch : 1;
    const pool_curve *curve = problem->curve;
    const pool_point_format format = {
        shape->layout, shape->form, pool_point_bytes(curve, shape->layout) + shape->gap};
    const pool_point_format result_format = {shape->result_layout, shape->result_form,
        pool_point_bytes(curve, shape->result_layout) + shape->result_gap};
    uint64_t scalar_stride = problem->scalar_bytes + shape->scalar_gap;
    uint8_t *given = calloc(points * format.stride + 4, 1);
    uint8_t *scalars = msm_scalars_as(problem, shape->scalar_form, scalar_stride);
    uint8_t *got = malloc(batch * result_format.stride + 4);
    pool_buffer *buffers[3] = {NULL, NULL, NULL};
    pool_msm_params call = *params;
    pool_status status;

    memset(got, 0xa5, batch * result_format.stride + 4);
    assert_ok(pool_points_convert(
        curve, NULL, problem->points, points, POOL_CHECK_CANONICAL, &format, given));
    call.point_layout = shape->layout;
    call.result_layout = shape->result_layout;
    pool_span in = msm_place(
        exec->device, shape->space, given, points, format.stride, shape->form, &buffers[0]);
    pool_span by = msm_place(exec->device, shape->scalar_place, scalars, problem->count,
        scalar_stride, shape->scalar_form, &buffers[1]);
    pool_span out = msm_place(exec->device, shape->result_place, got, batch, result_format.stride,
        shape->result_form, &buffers[2]);
    status = msm_compute(&tuning, &call, exec, call.bases ? NULL : &in, &by, &out);
    if (!status && exec->is_async)
        status = pool_stream_synchronize(exec->stream);
    if (!status && buffers[2])
        assert_ok(pool_copy_to_host(got, buffers[2], 0, batch * result_format.stride + 4, NULL));
    if (!status) {
        assert_ok(pool_points_convert(
            curve, &result_format, got, batch, POOL_CHECK_ON_CURVE, NULL, results));
        for (uint64_t i = 0; i < batch; i++)
            for (uint64_t j = 0; j < shape->result_gap; j++)
                assert_int_equal(got[(i + 1) * result_format.stride - shape->result_gap + j], 0xa5);
    }
    for (int i = 0; i < 3; i++)
        assert_ok(pool_buffer_destroy(&buffers[i]));
    free(given);
    free(scalars);
    free(got);
    return status;
}

/* The reference results of a batch, in the format of msm_call_shaped. */
static inline uint8_t *msm_expect_batch(
    const struct msm_problem *problem, uint64_t batch, int shared)
{
    uint8_t *results = calloc(batch, problem->point_bytes);
    struct msm_problem one = *problem;

    one.count = problem->count / batch;
    for (uint64_t b = 0; b < batch; b++) {
        one.scalars = msm_scalar(problem, b * one.count);
        one.points = msm_point(problem, shared ? 0 : b * one.count);
        msm_expect(&one, results + b * problem->point_bytes);
    }
    return results;
}

/* The results of a call must equal those of the reference. */
static inline void msm_compare(const struct msm_problem *problem, const pool_msm_params *params,
    const pool_exec *exec, const struct msm_shape_of_call *shape)
{
    static const struct msm_shape_of_call plain;
    uint64_t batch = params->batch ? params->batch : 1;
    uint64_t points = params->shared_bases ? problem->count / batch : problem->count;
    uint8_t *wanted = msm_expect_batch(problem, batch, params->shared_bases);
    uint8_t *got = calloc(batch, problem->point_bytes);

    assert_ok(msm_call_shaped(problem, params, exec, shape ? shape : &plain, points, got));
    for (uint64_t b = 0; b < batch; b++)
        if (memcmp(got + b * problem->point_bytes, wanted + b * problem->point_bytes,
                problem->point_bytes) != 0) {
            print_error("%s: %llu scalars, batch %llu, shared %d, window %u, bits %u: sum %llu is "
                        "wrong\n",
                pool_curve_name(problem->curve), (unsigned long long)problem->count,
                (unsigned long long)batch, params->shared_bases, params->window_bits,
                params->scalar_bits, (unsigned long long)b);
            fail();
        }
    free(wanted);
    free(got);
}

static inline pool_span msm_span(void *data, uint64_t count)
{
    return (pool_span){.data = data, .count = count};
}

#endif
