/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One small call of every operation over the ranks of `group`, whose results are not looked at: for
 * tests of ranks that fail.
 */
#ifndef TESTS_MPI_OPERATIONS_H
#define TESTS_MPI_OPERATIONS_H

#include <string.h>

#include <devicepool/mpi.h>

#include "support/assert.h"
#include "support/pool.h"

enum { MOST_RANKS = 8 };

static pool_mpi *group;
static int rank, ranks; /* of it */

static pool_status run_msm(void)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    uint8_t points[2 * 64], scalars[2 * 32], sum[64];
    const pool_span of_points = {.data = points, .count = 2};
    const pool_span of_scalars = {.data = scalars, .count = 2};
    const pool_span results = {.data = sum, .count = 1};

    assert_ok(pool_random_points(curve, (uint64_t)rank, 2, NULL, points, NULL));
    assert_ok(pool_random_scalars(
        pool_curve_scalar_field(curve), (uint64_t)rank, 2, POOL_FORM_STANDARD, scalars));
    return pool_mpi_msm(group, &params, NULL, &of_points, &of_scalars, &results);
}

static pool_status transform(bool extends)
{
    const pool_ntt_domain_params domain_params = {.struct_size = sizeof(domain_params),
        .field = pool_field_by_name("babybear"),
        .log_size = 7};
    pool_ntt_params params = {.struct_size = sizeof(params)};
    pool_ntt_extend_params extend = {.struct_size = sizeof(extend), .log_blowup = 1};
    uint32_t elements[128] = {1}, results[128];
    const uint64_t share = 128 / (uint64_t)ranks;
    const pool_span whole = {.data = elements, .count = share};
    const pool_span half = {.data = elements, .count = share / 2};
    const pool_span out = {.data = results, .count = share};
    pool_status status;

    assert_ok(pool_ntt_domain_create(&domain_params, &params.domain));
    extend.domain = params.domain;
    status = extends ? pool_mpi_extend(group, &extend, NULL, POOL_MPI_BLOCK, &half, NULL, &out)
                     : pool_mpi_ntt(group, &params, NULL, POOL_MPI_CYCLIC, &whole, &out);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    return status;
}

static pool_status run_ntt(void)
{
    return transform(false);
}

static pool_status run_extend(void)
{
    return transform(true);
}

static pool_status run_divide(void)
{
    uint64_t first, count;

    return pool_mpi_divide(group, 100, 0, 0, &first, &count);
}

static pool_status run_merkle(void)
{
    enum { LEAVES = 2, DIGEST = 32, MOST = 4 * MOST_RANKS };
    const pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    static uint8_t leaves[LEAVES * DIGEST], levels[MOST * DIGEST], top[MOST * DIGEST];
    static uint8_t path[MOST * DIGEST];
    const pool_span of_leaves = {.data = leaves, .count = LEAVES};
    pool_span of_levels = {.data = levels}, of_top = {.data = top}, opening = {.data = path};
    pool_merkle_shape below = {.struct_size = sizeof(below)};
    pool_merkle_shape above = {.struct_size = sizeof(above)};
    pool_poseidon *set = NULL;
    pool_status status;

    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    assert_ok(pool_mpi_merkle_get_shape(group, set, &params, LEAVES, &below, &above));
    of_levels.count = below.digest_count;
    of_top.count = above.digest_count;
    opening.count = below.path_count + above.path_count;
    status = pool_mpi_merkle_build(group, set, NULL, &params, &of_leaves, &of_levels, &of_top);
    if (!status)
        status = pool_mpi_merkle_open(group, set, NULL, &params, LEAVES, &of_leaves, &of_levels,
            &of_top, (uint64_t)ranks, &opening);
    pool_poseidon_destroy(&set);
    return status;
}

static const struct operation {
    const char *name;
    pool_status (*run)(void);
} operations[] = {
    {"MSM", run_msm},
    {"NTT", run_ntt},
    {"extension", run_extend},
    {"tree", run_merkle},
    {"division", run_divide},
};
enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

#endif
