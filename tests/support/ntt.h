/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of transforms: domains, random data, and the comparison of a transform on a
 * device with the reference.
 */
#ifndef TESTS_SUPPORT_NTT_H
#define TESTS_SUPPORT_NTT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

#include "driver/nvrtc.h"
#include "support/assert.h"
#include "support/ntt_reference.h"
#include "zk/ntt/ntt.h"

/* For what is not among the prebuilt programs: true, and said, on a host without NVRTC. */
static inline bool ntt_needs_compiler(const char *what)
{
    char reason[DRIVER_NVRTC_REASON];

    if (driver_nvrtc_candidate(0, reason, sizeof(reason)))
        return false;
    print_message("left out: %s: %s\n", what, reason);
    return true;
}

/* Of all domains that ntt_domain creates; NULL: the plan chooses. */
static const struct ntt_tuning *ntt_tuning;

static inline pool_ntt_domain *ntt_domain(const pool_field *field, uint32_t log_size)
{
    pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = field, .log_size = log_size};
    pool_ntt_domain *domain = NULL;

    assert_ok(pool_ntt_domain_create(&params, &domain));
    domain->tuning = ntt_tuning;
    return domain;
}

static inline const pool_field *ntt_field(const char *name)
{
    const pool_field *field = pool_field_by_name(name);

    assert_non_null(field);
    return field;
}

static inline uint8_t *ntt_random(const pool_field *field, uint64_t seed, uint64_t count)
{
    uint8_t *data = malloc(count * field->bytes + 1);

    assert_non_null(data);
    assert_ok(pool_random_scalars(field, seed, count, POOL_FORM_STANDARD, data));
    return data;
}

static inline pool_span ntt_host(void *data, uint64_t count)
{
    return (pool_span){.data = data, .count = count};
}

/* The reference's answer to params on packed data of one form. */
static inline uint8_t *ntt_expected(const pool_ntt_params *params, const void *in)
{
    const pool_ntt_domain *domain = params->domain;
    uint64_t batch = params->batch ? params->batch : 1;
    uint8_t *out = malloc((batch << domain->log_size) * domain->field->bytes);
    struct ntt_reference reference = {.domain = domain,
        .direction = params->direction,
        .order = params->order,
        .layout = params->layout,
        .batch = batch,
        .coset = params->coset};

    assert_non_null(out);
    assert_ok(ntt_reference_run(&reference, in, out));
    return out;
}

static inline void ntt_assert_same(
    const pool_ntt_params *params, const uint8_t *got, const uint8_t *wanted)
{
    const pool_ntt_domain *domain = params->domain;
    uint32_t bytes = domain->field->bytes;
    uint64_t count = (params->batch ? params->batch : 1) << domain->log_size;

    for (uint64_t i = 0; i < count; i++)
        if (memcmp(got + i * bytes, wanted + i * bytes, bytes) != 0) {
            print_error("%s 2^%u direction %d order %d layout %d batch %llu coset %d: element %llu "
                        "is wrong\n",
                domain->field->name, domain->log_size, params->direction, params->order,
                params->layout, (unsigned long long)params->batch, params->coset,
                (unsigned long long)i);
            fail();
        }
}

/* From host memory to host memory, against the reference. */
static inline void ntt_compare(const pool_ntt_params *params, const pool_exec *exec, uint64_t seed)
{
    uint64_t count = (params->batch ? params->batch : 1) << params->domain->log_size;
    const pool_field *field = params->domain->field;
    uint8_t *in = ntt_random(field, seed, count), *out = calloc(count, field->bytes);
    uint8_t *wanted = ntt_expected(params, in);
    pool_span from = ntt_host(in, count), to = ntt_host(out, count);

    assert_ok(pool_ntt(params, exec, &from, &to));
    ntt_assert_same(params, out, wanted);
    free(in);
    free(out);
    free(wanted);
}

#endif
