/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One MSM over all devices of a pool, compared with the same MSM on the first device alone.
 *
 *   multi_gpu_msm [DEVICES] [LOG_SIZE …]      default: 2^16 and 2^18 points of BN254, on
 *   simulated devices 2^6 and 2^8
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

#define MAX_DEVICES 64
#define SCALAR 32
#define POINT 64

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

/* The library gives each device its part of the points and adds the partial sums. */
static void sum_on_all(device_pool *pool, const pool_msm_params *params, const pool_span *points,
    const pool_span *scalars, const pool_span *sum)
{
    pool_device *devices[MAX_DEVICES];
    pool_exec exec = {.struct_size = sizeof(exec), .devices = devices};

    exec.device_count = (uint32_t)pool_usable_count(pool);
    if (exec.device_count > MAX_DEVICES)
        exec.device_count = MAX_DEVICES;
    for (uint32_t i = 0; i < exec.device_count; i++)
        must(pool_next_device(pool, &devices[i]));
    must(pool_msm(params, &exec, points, scalars, sum));
}

static void run(device_pool *pool, uint32_t log_size)
{
    const size_t n = (size_t)1 << log_size;
    const pool_msm_params params = {
        .struct_size = sizeof(params), .curve = pool_curve_by_name("bn254_g1")};
    pool_exec exec = {.struct_size = sizeof(exec)};
    uint8_t *memory = malloc(n * (POINT + SCALAR)), sums[2][POINT];
    const pool_span points = {.data = memory, .count = n};
    const pool_span scalars = {.data = memory + n * POINT, .count = n};
    const pool_span on_all = {.data = sums[0], .count = 1}, on_one = {.data = sums[1], .count = 1};
    int is_equal = 0;

    if (!memory)
        exit(1);
    show_step("choosing points");
    must(pool_random_points(params.curve, 1, n, NULL, points.data, NULL));
    must(pool_random_scalars(
        pool_curve_scalar_field(params.curve), 2, n, POOL_FORM_STANDARD, scalars.data));
    show_step("computing the MSM on all devices");
    sum_on_all(pool, &params, &points, &scalars, &on_all);
    must(pool_next_device(pool, &exec.device));
    exec.progress = show_part;
    exec.user = "computing the MSM on one device";
    show_step(exec.user);
    must(pool_msm(&params, &exec, &points, &scalars, &on_one));
    must(pool_point_equal(params.curve, NULL, sums[0], NULL, sums[1], &is_equal));
    show_step(NULL);
    printf("MSM of %zu points on %zu devices: %s\n", n, pool_usable_count(pool),
        is_equal ? "correct" : "wrong");
    free(memory);
    if (!is_equal)
        exit(1);
}

/* What takes a GPU milliseconds takes simulated devices minutes. */
static uint32_t default_log_size(const char *devices)
{
    return devices && strstr(devices, "sim") ? 8 : 18;
}

int main(int count, char **arguments)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = count > 1 ? arguments[1] : NULL};
    device_pool *pool;

    must(pool_create(&pool, &params));
    if (count <= 2) {
        run(pool, default_log_size(params.devices) - 2);
        run(pool, default_log_size(params.devices));
    }
    for (int i = 2; i < count; i++) {
        unsigned long log_size = strtoul(arguments[i], NULL, 10);

        if (log_size > 26)
            return fprintf(stderr, "2^%lu points are too many here\n", log_size), 1;
        run(pool, (uint32_t)log_size);
    }
    must(pool_destroy(&pool));
    return 0;
}
