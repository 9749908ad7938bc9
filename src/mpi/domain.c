/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The domains of the parts of a transform, and the few elements that are computed one by one. They
 * stay with the communicator, because a domain's tables on a device cost more than a transform.
 */
#include "mpi/group.h"

/* ---- elements -------------------------------------------------------------------------------- */

static pool_span span_of(const struct group_element *x)
{
    return (pool_span){.data = (void *)(uintptr_t)x->bytes, .count = 1};
}

pool_status group_element_multiply(const pool_field *field, pool_device *device,
    const struct group_element *y, struct group_element *x)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    const pool_span a = span_of(x), b = span_of(y);

    return pool_vector_mul(field, &exec, &a, &b, &a);
}

pool_status group_element_invert(
    const pool_field *field, pool_device *device, struct group_element *x)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    const pool_span a = span_of(x);

    return pool_vector_inverse(field, &exec, &a, &a);
}

pool_status group_element_power(
    const pool_field *field, pool_device *device, uint64_t exponent, struct group_element *x)
{
    struct group_element square = *x, result = {{1}};
    pool_status status = POOL_OK;

    for (; exponent && !status; exponent >>= 1) {
        if (exponent & 1)
            status = group_element_multiply(field, device, &square, &result);
        if (!status && exponent > 1)
            status = group_element_multiply(field, device, &square, &square);
    }
    if (!status)
        *x = result;
    return status;
}

/* ---- domains --------------------------------------------------------------------------------- */

static pool_status power_text(pool_mpi *mpi, const pool_field *field, uint64_t exponent,
    struct group_element *x, char text[POOL_FIELD_STRING_BYTES])
{
    pool_status status = group_element_power(field, mpi->device, exponent, x);

    return status ? status
                  : pool_field_format(field, POOL_FORM_STANDARD, x->bytes, POOL_HEXADECIMAL, text,
                        POOL_FIELD_STRING_BYTES, NULL);
}

static pool_status create_power(
    pool_mpi *mpi, const pool_ntt_domain *whole, uint32_t log_size, pool_ntt_domain **part)
{
    const pool_field *field = pool_ntt_domain_field(whole);
    const uint64_t exponent = UINT64_C(1) << (pool_ntt_domain_log_size(whole) - log_size);
    char root[POOL_FIELD_STRING_BYTES], coset[POOL_FIELD_STRING_BYTES];
    const pool_ntt_domain_params params = {.struct_size = sizeof(params),
        .field = field,
        .log_size = log_size,
        .root = root,
        .coset = coset};
    struct group_element x;
    pool_status status = pool_ntt_domain_root(whole, POOL_FORM_STANDARD, x.bytes);

    if (!status)
        status = power_text(mpi, field, exponent, &x, root);
    if (!status)
        status = pool_ntt_domain_coset(whole, POOL_FORM_STANDARD, x.bytes);
    if (!status)
        status = power_text(mpi, field, exponent, &x, coset);
    return status ? status : pool_ntt_domain_create(&params, part);
}

pool_status group_domain_power(
    pool_mpi *mpi, pool_ntt_domain *whole, uint32_t log_size, pool_ntt_domain **part)
{
    struct group_domain *entry;
    pool_ntt_domain *created = NULL, *kept;
    pool_status status;

    for (uint32_t i = 0; i < GROUP_DOMAINS; i++)
        if (mpi->domains[i].whole == whole &&
            pool_ntt_domain_log_size(mpi->domains[i].part) == log_size) {
            *part = mpi->domains[i].part;
            return POOL_OK;
        }
    status = create_power(mpi, whole, log_size, &created);
    if (status)
        return status;
    entry = &mpi->domains[mpi->next_domain++ % GROUP_DOMAINS];
    kept = pool_ntt_domain_retain(whole); /* may be this entry's part */
    (void)pool_ntt_domain_destroy(&entry->part);
    (void)pool_ntt_domain_destroy(&entry->whole);
    entry->whole = kept;
    entry->part = created;
    *part = created;
    return POOL_OK;
}

void group_domains_close(pool_mpi *mpi)
{
    for (uint32_t i = 0; i < GROUP_DOMAINS; i++) {
        (void)pool_ntt_domain_destroy(&mpi->domains[i].part);
        (void)pool_ntt_domain_destroy(&mpi->domains[i].whole);
    }
}
