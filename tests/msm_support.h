/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of sums share: problems made from seeds, the plain answers, one sum on a device
 * against them.
 */
#ifndef TESTS_MSM_SUPPORT_H
#define TESTS_MSM_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

#include "msm/msm.h"

#define assert_ok(call) msm_must((call), #call, __FILE__, __LINE__)
#define assert_says(text) assert_non_null(strstr(pool_last_error()->message, (text)))

enum { MSM_POINT_MAX = 4 * 2 * POOL_FIELD_MAX_BYTES }; /* XYZZ over an extension */

static inline void msm_must(pool_status status, const char *call, const char *file, int line)
{
    if (status)
        print_error("%s:%d: %s: %s\n", file, line, call, pool_last_error()->message);
    assert_int_equal(status, POOL_OK);
}

/* A sum to be computed: packed affine points and scalars, both in standard form. */
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

    assert_ok(pool_random_points(curve, seed, count, problem.points, NULL, NULL));
    assert_ok(pool_random_scalars(
        pool_curve_scalar_field(curve), seed + 1, POOL_FORM_STANDARD, count, problem.scalars));
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
    const struct msm_reference reference = {.curve = problem->curve};

    assert_ok(
        msm_reference_run(&reference, problem->count, problem->points, problem->scalars, result));
}

static inline pool_span msm_span(void *data, uint64_t count)
{
    return (pool_span){.data = data, .count = count};
}

#endif
