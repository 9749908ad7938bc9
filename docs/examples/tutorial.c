/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program of docs/tutorial.md: a lease, a multi-scalar multiplication and a transform under it,
 * both checked, and a call that is refused.
 *
 *   tutorial [DEVICES]
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 1000, LOG_SIZE = 10, SIZE = 1 << LOG_SIZE };

static uint8_t points[TERMS][64], scalars[TERMS][32];
static uint8_t elements[SIZE][32], transformed[SIZE][32];

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s\n", pool_status_name(status), pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1); /* 77: no GPU here */
}

/* The same sum on the host, one point after another. */
static void check_sum(const pool_curve *curve, const uint8_t *sum)
{
    const pool_point_format affine = {.layout = POOL_POINT_AFFINE, .form = POOL_FORM_STANDARD};
    uint8_t expected[64] = {0}, product[64]; /* infinity is 64 zeros */

    for (int i = 0; i < TERMS; i++) {
        must(pool_point_mul(curve, &affine, points[i], scalars[i], 32, product));
        must(pool_point_add(curve, &affine, expected, product, expected));
    }
    if (memcmp(sum, expected, sizeof(expected)) != 0) {
        fprintf(stderr, "the sum is wrong\n");
        exit(1);
    }
}

int main(int count, char **arguments)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = count > 1 ? arguments[1] : NULL};
    pool_request request = {
        .struct_size = sizeof(request), .bytes = 64 << 20, .timeout_ns = POOL_WAIT_FOREVER};
    const pool_point_format affine = {.layout = POOL_POINT_AFFINE, .form = POOL_FORM_STANDARD};
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_msm_params msm = {.struct_size = sizeof(msm)};
    pool_ntt_domain_params domain_params = {
        .struct_size = sizeof(domain_params), .log_size = LOG_SIZE};
    pool_ntt_params ntt = {.struct_size = sizeof(ntt)};
    device_pool *pool = NULL;
    pool_lease *lease = NULL;
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    pool_ntt_domain *domain = NULL;
    uint8_t sum[64];

    /* 1. A pool of the devices, and a lease: one device with 64 MiB that no other lease has. */
    must(pool_create(&pool, &params));
    must(pool_acquire(pool, &request, &lease));
    exec.lease = lease;

    /* 2. A multi-scalar multiplication of memory of the host. */
    must(pool_random_points(curve, 1, TERMS, &affine, points, NULL));
    must(
        pool_random_scalars(pool_curve_scalar_field(curve), 2, TERMS, POOL_FORM_STANDARD, scalars));
    msm.curve = curve;
    must(pool_msm(&msm, &exec, &(pool_span){.data = points, .count = TERMS},
        &(pool_span){.data = scalars, .count = TERMS}, &(pool_span){.data = sum, .count = 1}));
    check_sum(curve, sum);

    /* 3. A transform, and the inverse one, which restores the elements. */
    domain_params.field = pool_curve_scalar_field(curve);
    must(pool_ntt_domain_create(&domain_params, &domain));
    must(pool_random_scalars(domain_params.field, 3, SIZE, POOL_FORM_STANDARD, elements));
    ntt.domain = domain;
    must(pool_ntt(&ntt, &exec, &(pool_span){.data = elements, .count = SIZE},
        &(pool_span){.data = transformed, .count = SIZE}));
    ntt.direction = POOL_NTT_INVERSE;
    must(pool_ntt(&ntt, &exec, &(pool_span){.data = transformed, .count = SIZE},
        &(pool_span){.data = transformed, .count = SIZE}));
    if (memcmp(transformed, elements, sizeof(elements)) != 0) {
        fprintf(stderr, "the inverse transform does not restore the elements\n");
        return 1;
    }

    /* 4. A call that is refused says why. */
    if (pool_ntt(&ntt, &exec, &(pool_span){.data = elements, .count = 1000},
            &(pool_span){.data = transformed, .count = 1000}) == POOL_ERR_INVALID_ARGUMENT)
        printf("refused: %s\n", pool_last_error()->message);

    /* 5. Objects end before the pool; a device is free for others from the release on. */
    pool_ntt_domain_destroy(&domain);
    must(pool_release(&lease));
    must(pool_destroy(&pool));
    printf("checked: ");
    for (int i = 31; i >= 0; i--)
        printf("%02x", sum[i]);
    printf("\n");
    return 0;
}
