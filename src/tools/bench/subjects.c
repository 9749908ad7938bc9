/* SPDX-License-Identifier: Apache-2.0 */
/* What operations are measured on: fields, curves and parameter sets. */
#include "bench.h"

bool bench_has_field(const char *subject)
{
    return pool_field_by_name(subject) != NULL;
}

bool bench_has_curve(const char *subject)
{
    return pool_curve_by_name(subject) != NULL;
}

bool bench_has_set(const char *subject)
{
    pool_poseidon *set = NULL;
    pool_status status = pool_poseidon_by_name(subject, &set);

    pool_poseidon_destroy(&set);
    return !status;
}

bool bench_has_extension(const char *subject)
{
    struct bench_small_field small;

    return bench_small_field(subject, &small) && small.degree > 1;
}

uint64_t bench_max_transform(const char *subject)
{
    const uint32_t most = pool_field_two_adicity(pool_field_base(pool_field_by_name(subject)));

    return UINT64_C(1) << (most < POOL_NTT_MAX_LOG_SIZE ? most : POOL_NTT_MAX_LOG_SIZE);
}

static uint64_t bytes_of_item(const char *subject)
{
    const pool_field *field = pool_field_by_name(subject);
    const pool_curve *curve = pool_curve_by_name(subject);
    pool_poseidon *set = NULL;
    uint64_t bytes = 1;

    if (curve)
        return pool_point_bytes(curve, POOL_POINT_AFFINE);
    if (!field && !pool_poseidon_by_name(subject, &set))
        bytes = pool_field_element_bytes(pool_poseidon_field(set));
    pool_poseidon_destroy(&set);
    return field ? pool_field_element_bytes(field) : bytes;
}

uint64_t bench_device_bytes(const struct bench_operation *operation, const struct bench_case *spec)
{
    /* The batch of an MSM is one of scalars. */
    const uint64_t batch = spec->batch && operation != &bench_msm ? spec->batch : 1;
    uint64_t bytes;

    if (__builtin_mul_overflow(spec->size, batch, &bytes) ||
        __builtin_mul_overflow(bytes, operation->arrays * bytes_of_item(spec->subject), &bytes))
        return UINT64_MAX;
    return bytes;
}

pool_status bench_create_domain(const pool_field *field, uint64_t size, pool_ntt_domain **domain)
{
    const pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = field, .log_size = (uint32_t)__builtin_ctzll(size)};

    return pool_ntt_domain_create(&params, domain);
}
