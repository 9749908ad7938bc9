/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The product of two polynomials by NTTs: forward transforms, an element-wise product, and the
 * inverse transform. All data stays on the device and all steps on one stream; the host waits once,
 * at the end.
 *
 *   polynomial_product [DEVICES] [LOG_SIZE]      2^LOG_SIZE coefficients of the product, default
 * 16, on simulated devices 10
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

#define CHECKED 64 /* coefficients that are recomputed on the host */

static const uint64_t modulus = 0xffffffff00000001; /* Goldilocks, 2^64 - 2^32 + 1 */

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static pool_span on_device(pool_buffer *buffer, uint64_t count)
{
    pool_span span = {.count = count, .space = POOL_MEMORY_DEVICE};
    CUdeviceptr address;

    must(pool_buffer_address(buffer, &address));
    span.data = (void *)(uintptr_t)address;
    return span;
}

/*
 * Multiplies a by b in place. Both have n coefficients, of which the upper half is zero, so the
 * product has a degree below n. Natural to bit-reversed order and back is the fastest pair of
 * transforms, and the element-wise product does not depend on the order.
 */
static void multiply(
    pool_ntt_domain *domain, pool_stream *stream, pool_buffer *a, pool_buffer *b, uint64_t n)
{
    pool_ntt_params transform = {
        .struct_size = sizeof(transform), .domain = domain, .order = POOL_NTT_NR};
    pool_exec exec = {.struct_size = sizeof(exec),
        .device = pool_stream_device(stream),
        .stream = stream,
        .is_async = 1};
    pool_span a_span = on_device(a, n), b_span = on_device(b, n);

    must(pool_ntt(&transform, &exec, &a_span, &a_span));
    must(pool_ntt(&transform, &exec, &b_span, &b_span));
    must(pool_vector_mul(pool_ntt_domain_field(domain), &exec, &a_span, &b_span, &a_span));
    transform.direction = POOL_NTT_INVERSE;
    transform.order = POOL_NTT_RN;
    must(pool_ntt(&transform, &exec, &a_span, &a_span));
}

/* Coefficient k by the definition, in host arithmetic. */
static uint64_t coefficient(const uint64_t *a, const uint64_t *b, uint64_t n, uint64_t k)
{
    uint64_t sum = 0;

    for (uint64_t i = k < n / 2 ? 0 : k - n / 2 + 1; i <= k && i < n / 2; i++)
        sum = (uint64_t)((sum + (unsigned __int128)a[i] * b[k - i]) % modulus);
    return sum;
}

/* What takes a GPU milliseconds takes simulated devices minutes. */
static uint32_t default_log_size(const char *devices)
{
    return devices && strstr(devices, "sim") ? 10 : 16;
}

int main(int count, char **arguments)
{
    const char *devices = count > 1 ? arguments[1] : NULL;
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    uint32_t log_size =
        count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : default_log_size(devices);
    uint64_t n = UINT64_C(1) << log_size;
    pool_ntt_domain_params domain_params = {.struct_size = sizeof(domain_params),
        .field = pool_field_by_name("goldilocks"),
        .log_size = log_size};
    uint64_t *a = calloc(n, sizeof(*a)), *b = calloc(n, sizeof(*b)), *c = calloc(n, sizeof(*c));
    pool_buffer *a_buffer, *b_buffer;
    pool_ntt_domain *domain;
    pool_device *device;
    pool_stream *stream;
    device_pool *pool;

    if (!a || !b || !c || log_size < 1 || log_size > 30)
        return fprintf(stderr, "2^%u coefficients are not supported\n", log_size), 1;
    show_step("multiplying");
    must(pool_random_scalars(domain_params.field, 1, n / 2, POOL_FORM_STANDARD, a));
    must(pool_random_scalars(domain_params.field, 2, n / 2, POOL_FORM_STANDARD, b));
    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &device));
    must(pool_ntt_domain_create(&domain_params, &domain));
    must(pool_stream_create(device, NULL, &stream));
    must(pool_buffer_from_host(device, a, n * sizeof(*a), &a_buffer));
    must(pool_buffer_from_host(device, b, n * sizeof(*b), &b_buffer));

    multiply(domain, stream, a_buffer, b_buffer, n);

    must(pool_copy_to_host(c, a_buffer, 0, n * sizeof(*c), stream));
    must(pool_stream_synchronize(stream));
    show_step("checking coefficients");
    for (uint64_t i = 0; i < CHECKED; i++) {
        uint64_t k = i * (n - 1) / (CHECKED - 1);

        if (c[k] != coefficient(a, b, n, k))
            return fprintf(stderr, "coefficient %llu is wrong\n", (unsigned long long)k), 1;
    }
    show_step(NULL);
    printf("a product of 2^%u coefficients by device %d, %d of them checked\n", log_size,
        pool_device_ordinal(device), CHECKED);

    must(pool_buffer_destroy(&a_buffer));
    must(pool_buffer_destroy(&b_buffer));
    must(pool_stream_destroy(&stream));
    must(pool_ntt_domain_destroy(&domain));
    must(pool_destroy(&pool));
    free(a);
    free(b);
    free(c);
    return 0;
}
