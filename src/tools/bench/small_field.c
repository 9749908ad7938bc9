/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic in prime fields of at most 64 bits and in their extensions, for checks: by the
 * processor's division, independent of the library's.
 */
#include <string.h>

#include "bench.h"

/* The constants w of base[x] / (x^d - w), as <devicepool/field.h> and docs/fields-and-curves.md
 * have them. */
static const struct {
    const char *name;
    uint64_t w;
} extensions[] = {{"goldilocks_x2", 7}, {"babybear_x4", 11}, {"koalabear_x4", 3}};

static uint64_t multiply(uint64_t p, uint64_t a, uint64_t b)
{
    return p >> 32 ? (uint64_t)((unsigned __int128)a * b % p) : a * b % p;
}

static uint64_t add(uint64_t p, uint64_t a, uint64_t b)
{
    return a >= p - b ? a - (p - b) : a + b;
}

bool bench_small_field(const char *name, struct bench_small_field *small)
{
    const pool_field *field = pool_field_by_name(name), *base = pool_field_base(field);
    bool is_known = pool_field_degree(field) == 1;

    if (!field || pool_field_element_bytes(base) > sizeof(small->p))
        return false;
    *small = (struct bench_small_field){.field = field,
        .degree = pool_field_degree(field),
        .bytes = pool_field_element_bytes(base)};
    for (size_t i = 0; i < BENCH_COUNT_OF(extensions); i++) {
        if (strcmp(extensions[i].name, name) == 0) {
            small->w = extensions[i].w;
            is_known = true;
        }
    }
    return is_known && small->degree <= BENCH_MAX_DEGREE && !pool_field_modulus(base, &small->p);
}

void bench_small_load(
    const struct bench_small_field *small, const void *packed, uint64_t index, uint64_t *x)
{
    const uint8_t *from = (const uint8_t *)packed + index * small->degree * small->bytes;

    memset(x, 0, small->degree * sizeof(*x));
    for (uint32_t i = 0; i < small->degree; i++)
        memcpy(&x[i], from + i * small->bytes, small->bytes);
}

void bench_small_store(
    const struct bench_small_field *small, void *packed, uint64_t index, const uint64_t *x)
{
    uint8_t *to = (uint8_t *)packed + index * small->degree * small->bytes;

    for (uint32_t i = 0; i < small->degree; i++)
        memcpy(to + i * small->bytes, &x[i], small->bytes);
}

void bench_small_add(
    const struct bench_small_field *small, uint64_t *sum, const uint64_t *a, const uint64_t *b)
{
    for (uint32_t i = 0; i < small->degree; i++)
        sum[i] = add(small->p, a[i], b[i]);
}

void bench_small_scale(
    const struct bench_small_field *small, uint64_t *product, const uint64_t *a, uint64_t b)
{
    for (uint32_t i = 0; i < small->degree; i++)
        product[i] = multiply(small->p, a[i], b);
}

void bench_small_multiply(
    const struct bench_small_field *small, uint64_t *product, const uint64_t *a, const uint64_t *b)
{
    const uint32_t d = small->degree;
    uint64_t sums[BENCH_MAX_DEGREE] = {0};

    for (uint32_t i = 0; i < d; i++) {
        for (uint32_t k = 0; k < d; k++) {
            uint64_t term = multiply(small->p, a[i], b[k]);

            if (i + k >= d)
                term = multiply(small->p, term, small->w);
            sums[(i + k) % d] = add(small->p, sums[(i + k) % d], term);
        }
    }
    memcpy(product, sums, d * sizeof(*sums));
}

void bench_small_power(
    const struct bench_small_field *small, uint64_t *power, const uint64_t *base, uint64_t exponent)
{
    uint64_t square[BENCH_MAX_DEGREE];

    memcpy(square, base, small->degree * sizeof(*square));
    memset(power, 0, small->degree * sizeof(*power));
    power[0] = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            bench_small_multiply(small, power, power, square);
        bench_small_multiply(small, square, square, square);
    }
}

bool bench_small_is_equal(
    const struct bench_small_field *small, const uint64_t *a, const uint64_t *b)
{
    return memcmp(a, b, small->degree * sizeof(*a)) == 0;
}
