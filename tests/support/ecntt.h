/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of transforms of points: points of known discrete logarithm, and the generator times
 * the transform of the logarithms.
 */
#ifndef TESTS_SUPPORT_ECNTT_H
#define TESTS_SUPPORT_ECNTT_H

#include "support/msm.h"
#include "support/ntt.h"

/* Points in standard affine form, and their logarithms. */
struct ecntt_problem {
    const pool_curve *curve;
    const pool_field *order;
    uint64_t count;
    size_t point_bytes;
    uint8_t *logarithms;
    uint8_t *points;
};

static inline void ecntt_multiply_generator(
    const pool_curve *curve, const uint8_t *scalar, uint8_t *point)
{
    uint8_t generator[MSM_POINT_MAX];

    assert_ok(pool_curve_generator(curve, NULL, generator));
    assert_ok(pool_point_mul(
        curve, NULL, generator, scalar, pool_curve_scalar_field(curve)->bytes, point));
}

static inline struct ecntt_problem ecntt_of_logarithms(
    const pool_curve *curve, const uint8_t *logarithms, uint64_t count)
{
    struct ecntt_problem problem = {.curve = curve,
        .order = pool_curve_scalar_field(curve),
        .count = count,
        .point_bytes = pool_point_bytes(curve, POOL_POINT_AFFINE)};

    problem.logarithms = malloc(count * problem.order->bytes);
    problem.points = malloc(count * problem.point_bytes);
    memcpy(problem.logarithms, logarithms, count * problem.order->bytes);
    for (uint64_t i = 0; i < count; i++)
        ecntt_multiply_generator(
            curve, logarithms + i * problem.order->bytes, problem.points + i * problem.point_bytes);
    return problem;
}

static inline struct ecntt_problem ecntt_random(
    const pool_curve *curve, uint64_t seed, uint64_t count)
{
    uint8_t *logarithms = ntt_random(pool_curve_scalar_field(curve), seed, count);
    struct ecntt_problem problem = ecntt_of_logarithms(curve, logarithms, count);

    free(logarithms);
    return problem;
}

static inline void ecntt_free(struct ecntt_problem *problem)
{
    free(problem->logarithms);
    free(problem->points);
}

static inline pool_ecntt_params ecntt_params_of(const pool_curve *curve, uint32_t log_size)
{
    return (pool_ecntt_params){.struct_size = sizeof(pool_ecntt_params),
        .curve = curve,
        .domain = ntt_domain(pool_curve_scalar_field(curve), log_size),
        .batch = 1};
}

/* The generator times the transform of the logarithms, by the host's reference of pool_ntt. */
static inline uint8_t *ecntt_expected(
    const pool_ecntt_params *params, const struct ecntt_problem *problem)
{
    const pool_ntt_params scalars = {.struct_size = sizeof(scalars),
        .domain = params->domain,
        .direction = params->direction,
        .coset = params->coset,
        .order = params->order,
        .layout = params->layout,
        .batch = params->batch};
    uint8_t *logarithms = ntt_expected(&scalars, problem->logarithms);
    struct ecntt_problem answer = ecntt_of_logarithms(problem->curve, logarithms, problem->count);

    free(logarithms);
    free(answer.logarithms);
    return answer.points;
}

static inline void assert_ecntt_points(
    const pool_ecntt_params *params, const uint8_t *got, const uint8_t *wanted, uint64_t count)
{
    const size_t bytes = pool_point_bytes(params->curve, POOL_POINT_AFFINE);

    for (uint64_t i = 0; i < count; i++)
        if (memcmp(got + i * bytes, wanted + i * bytes, bytes) != 0)
            fail_msg("%s 2^%u direction %d coset %d order %d layout %d batch %llu: point %llu",
                pool_curve_name(params->curve), params->domain->log_size, params->direction,
                params->coset, params->order, params->layout, (unsigned long long)params->batch,
                (unsigned long long)i);
}

#endif
