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

pool_status bench_create_domain(const pool_field *field, uint64_t size, pool_ntt_domain **domain)
{
    const pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = field, .log_size = (uint32_t)__builtin_ctzll(size)};

    return pool_ntt_domain_create(&params, domain);
}
