/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One MSM over all devices of a pool, in two ways:
 *
 *   - one thread per device, which binds it and computes its share;
 *   - a single thread, which runs a task on each device; the tasks only enqueue, so that all
 * devices work concurrently, and a second loop waits for them.
 *
 * The shares are added on the host. The bases are known multiples of the generator, so the result
 * is known too: the inner product of scalars and multiples, times the generator.
 *
 *   multi_gpu_msm [DEVICES] [LOG_SIZE …]      default: 2^10 and 2^18 points of BN254
 */
#include <devicepool.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 64
#define SCALAR 32
#define POINT 64
#define DEADLINE UINT64_C(60000000000)

static const pool_curve *curve;

/* The share of one device. */
struct share {
    pool_device *device;
    pool_span points, scalars;
    uint8_t sum[POINT];
    pthread_t thread;
    pool_status status;
    pool_stream *stream;
    pool_pinned *pinned; /* the result of the asynchronous MSM */
};

struct problem {
    size_t n;
    uint8_t *points, *scalars, *multiples;
    uint8_t expected[POINT];
};

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

/* ---- one thread per device --------------------------------------------------------------------
 */

static void *compute(void *argument)
{
    struct share *share = argument;
    pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_span sum = {.data = share->sum, .count = 1};

    share->status = pool_bind(share->device);
    if (!share->status) {
        share->status = pool_msm(&params, NULL, &share->points, &share->scalars, &sum);
        must(pool_unbind(share->device));
    }
    if (share->status) /* the detail belongs to this thread */
        fprintf(stderr, "%s\n", pool_last_error()->message);
    return NULL;
}

static void by_threads(struct share *shares, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&shares[i].thread, NULL, compute, &shares[i]))
            exit(1);
    for (size_t i = 0; i < count; i++)
        pthread_join(shares[i].thread, NULL);
    for (size_t i = 0; i < count; i++)
        if (shares[i].status)
            exit(pool_status_class(shares[i].status) == POOL_CLASS_HOST ? 77 : 1);
}

/* ---- one task per device ----------------------------------------------------------------------
 */

static pool_status enqueue(pool_device *device, void *argument)
{
    struct share *share = argument;
    pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_exec exec = {.struct_size = sizeof(exec), .is_async = 1};
    pool_span sum = {.count = 1};
    pool_status status = pool_stream_create(device, NULL, &share->stream);

    if (!status)
        status = pool_pinned_create(device, POINT, 0, &share->pinned);
    exec.stream = share->stream;
    sum.data = pool_pinned_data(share->pinned);
    return status ? status : pool_msm(&params, &exec, &share->points, &share->scalars, &sum);
}

static pool_status collect(pool_device *device, void *argument)
{
    struct share *share = argument;
    pool_status status = pool_stream_wait(share->stream, DEADLINE);

    (void)device;
    if (!status)
        memcpy(share->sum, pool_pinned_data(share->pinned), POINT);
    must(pool_pinned_destroy(&share->pinned));
    must(pool_stream_destroy(&share->stream));
    return status;
}

static void by_tasks(struct share *shares, size_t count)
{
    for (size_t i = 0; i < count; i++)
        must(pool_run_on(shares[i].device, enqueue, &shares[i]));
    for (size_t i = 0; i < count; i++)
        must(pool_run_on(shares[i].device, collect, &shares[i]));
}

/* ---- the result -------------------------------------------------------------------------------
 */

/* Bases i * multiple, random scalars, and the expected result. */
static void make(struct problem *problem, pool_device *device)
{
    const pool_field *field = pool_curve_scalar_field(curve);
    size_t n = problem->n;
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t *products = malloc(n * SCALAR), one[SCALAR] = {1}, inner[SCALAR], generator[POINT];
    pool_span a, b, c = {.data = products, .count = n};

    problem->points = malloc(n * POINT);
    problem->scalars = malloc(n * SCALAR);
    problem->multiples = malloc(n * SCALAR);
    if (!products || !problem->points || !problem->scalars || !problem->multiples)
        exit(1);
    must(pool_random_points(curve, 1, n, NULL, problem->points, problem->multiples));
    must(pool_random_scalars(field, 2, n, POOL_FORM_STANDARD, problem->scalars));
    a = (pool_span){.data = problem->scalars, .count = n};
    b = (pool_span){.data = problem->multiples, .count = n};
    must(pool_vector_mul(field, &exec, &a, &b, &c));
    must(pool_vector_evaluate(field, &exec, &c, one, inner)); /* at 1: the sum */
    must(pool_curve_generator(curve, NULL, generator));
    must(pool_point_mul(curve, NULL, generator, inner, SCALAR, problem->expected));
    free(products);
}

static void check(
    const struct problem *problem, const struct share *shares, size_t count, const char *shape)
{
    uint8_t sum[POINT];
    int is_equal;

    memcpy(sum, shares[0].sum, POINT);
    for (size_t i = 1; i < count; i++)
        must(pool_point_add(curve, NULL, sum, shares[i].sum, sum));
    must(pool_point_equal(curve, NULL, sum, NULL, problem->expected, &is_equal));
    if (!is_equal) {
        fprintf(stderr, "the MSM of %zu points, %s, is wrong\n", problem->n, shape);
        exit(1);
    }
    printf("MSM of %zu points on %zu devices, %s: correct\n", problem->n, count, shape);
}

static void run(device_pool *pool, uint32_t log_size)
{
    struct problem problem = {.n = (size_t)1 << log_size};
    struct share shares[MAX_DEVICES];
    size_t count = pool_usable_count(pool);

    if (count > MAX_DEVICES)
        count = MAX_DEVICES;
    memset(shares, 0, sizeof(shares));
    for (size_t i = 0; i < count; i++)
        must(pool_next_device(pool, &shares[i].device));
    make(&problem, shares[0].device);
    for (size_t i = 0; i < count; i++) {
        size_t first = problem.n * i / count, end = problem.n * (i + 1) / count;

        shares[i].points =
            (pool_span){.data = problem.points + first * POINT, .count = end - first};
        shares[i].scalars =
            (pool_span){.data = problem.scalars + first * SCALAR, .count = end - first};
    }
    by_threads(shares, count);
    check(&problem, shares, count, "one thread per device");
    for (size_t i = 0; i < count; i++)
        memset(shares[i].sum, 0, POINT);
    by_tasks(shares, count);
    check(&problem, shares, count, "one task per device");
    free(problem.points);
    free(problem.scalars);
    free(problem.multiples);
}

int main(int count, char **arguments)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = count > 1 ? arguments[1] : NULL};
    device_pool *pool;

    must(pool_create(&pool, &params));
    curve = pool_curve_by_name("bn254_g1");
    if (count <= 2) {
        run(pool, 10);
        run(pool, 18);
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
