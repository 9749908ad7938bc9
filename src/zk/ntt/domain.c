/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domains: a root of unity, a coset generator, and what follows from them on the host.
 */
#include "zk/ntt/ntt.h"

#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"

static const struct base_struct ntt_domain_params_type = BASE_STRUCT(pool_ntt_domain_params);

void pool_ntt_domain_params_init(pool_ntt_domain_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* An element from text, as Montgomery limbs. */
static pool_status parse(const pool_field *field, const char *text, uint64_t *limbs)
{
    uint8_t packed[POOL_FIELD_MAX_BYTES];
    pool_status status = pool_field_parse(field, text, POOL_FORM_MONTGOMERY, packed);

    if (!status)
        field_load(field, limbs, packed);
    return status;
}

/* w has order 2^log_size exactly when w^(2^(log_size - 1)) = -1. */
static bool has_order(const pool_field *field, const uint64_t *root, uint32_t log_size)
{
    uint64_t power[FIELD_MAX_LIMBS] = {0};
    uint64_t wanted[FIELD_MAX_LIMBS] = {0};

    field_copy(field, power, root);
    field_set_one(field, wanted);
    for (uint32_t i = 1; i < log_size; i++)
        field_sqr(field, power, power);
    if (log_size)
        field_neg(field, wanted, wanted);
    return field_equal(field, power, wanted);
}

static pool_status set_root(pool_ntt_domain *domain, const pool_ntt_domain_params *params)
{
    const pool_field *field = domain->field;
    uint64_t *root = domain->root[POOL_NTT_FORWARD];
    uint8_t packed[POOL_FIELD_MAX_BYTES];
    pool_status status;

    if (!params->root) {
        status = pool_field_root_of_unity(
            field, params->convention, domain->log_size, POOL_FORM_MONTGOMERY, packed);
        if (!status)
            field_load(field, root, packed);
        return status;
    }
    status = parse(field, params->root, root);
    if (!status && !has_order(field, root, domain->log_size))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s is no root of unity of order 2^%u in %s",
            params->root, domain->log_size, field->name);
    return status;
}

static pool_status set_coset(pool_ntt_domain *domain, const pool_ntt_domain_params *params)
{
    const pool_field *field = domain->field;
    uint64_t *coset = domain->coset[POOL_NTT_FORWARD];
    pool_status status = POOL_OK;

    if (params->coset)
        status = parse(field, params->coset, coset);
    else
        field_copy(field, coset, field->generator);
    if (!status && field_is_zero(field, coset))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "the coset generator is 0");
    return status;
}

static void set_inverses(pool_ntt_domain *domain)
{
    const pool_field *field = domain->field;
    uint64_t *scale = domain->inverse_size;

    field_inverse(field, domain->root[POOL_NTT_INVERSE], domain->root[POOL_NTT_FORWARD]);
    field_inverse(field, domain->coset[POOL_NTT_INVERSE], domain->coset[POOL_NTT_FORWARD]);
    field_set_one(field, scale);
    for (uint32_t i = 0; i < domain->log_size; i++)
        field_halve(field, scale, scale);
}

static pool_status copy_params(const pool_ntt_domain_params *given, pool_ntt_domain_params *params)
{
    static const char call[] = "pool_ntt_domain_create";
    uint32_t most;
    pool_status status = base_struct_read(&ntt_domain_params_type, call, "params", given, params);

    if (!status && !params->field)
        status = base_fail_null(call, "params->field");
    if (!status)
        status = field_check_prime(call, params->field);
    if (!status && params->root && params->convention)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `root` and `convention` are both given; one of them has to be NULL", call);
    if (status)
        return status;
    most = params->field->two_adicity < POOL_NTT_MAX_LOG_SIZE ? params->field->two_adicity
                                                              : POOL_NTT_MAX_LOG_SIZE;
    return base_check_ranges(
        call, {"log_size", params->log_size, 0, most}, {"reserved", params->reserved, 0, 0});
}

static void free_host(pool_ntt_domain *domain)
{
    pool_field_destroy(&domain->field);
    if (domain->generation == driver_fork_generation()) {
        pthread_mutex_destroy(&domain->lock);
        pthread_mutex_destroy(&domain->create_lock);
        pthread_cond_destroy(&domain->created);
    }
    base_free(domain);
}

/* Without root and coset generator. */
static pool_status allocate(const pool_field *field, uint32_t log_size, pool_ntt_domain **domain)
{
    pool_ntt_domain *made = base_calloc(1, sizeof(*made));

    if (!made)
        return base_fail_memory("a domain");
    atomic_init(&made->references, 1);
    made->generation = driver_fork_generation();
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->create_lock, NULL);
    pthread_cond_init(&made->created, NULL);
    made->field = pool_field_retain(field);
    made->log_size = log_size;
    *domain = made;
    return POOL_OK;
}

pool_status pool_ntt_domain_create(const pool_ntt_domain_params *given, pool_ntt_domain **domain)
{
    pool_ntt_domain_params params;
    pool_ntt_domain *made = NULL;
    pool_status status;

    if (!domain)
        return base_fail_null("pool_ntt_domain_create", "domain");
    status = copy_params(given, &params);
    if (!status)
        status = allocate(params.field, params.log_size, &made);
    if (status)
        return status;
    status = set_root(made, &params);
    if (!status)
        status = set_coset(made, &params);
    if (status) {
        free_host(made);
        return status;
    }
    set_inverses(made);
    *domain = made;
    return POOL_OK;
}

static pool_status create_power(
    const pool_ntt_domain *domain, uint32_t log_size, pool_ntt_domain **power)
{
    const uint32_t times = domain->log_size - log_size;
    pool_ntt_domain *made = NULL;
    pool_status status = allocate(domain->field, log_size, &made);

    if (status)
        return status;
    field_square_times(
        domain->field, made->root[POOL_NTT_FORWARD], domain->root[POOL_NTT_FORWARD], times);
    field_square_times(
        domain->field, made->coset[POOL_NTT_FORWARD], domain->coset[POOL_NTT_FORWARD], times);
    set_inverses(made);
    made->tuning = domain->tuning;
    *power = made;
    return POOL_OK;
}

pool_status ntt_domain_power(pool_ntt_domain *domain, uint32_t log_size, pool_ntt_domain **power)
{
    pool_status status = ntt_domain_check_forked(domain);

    if (status)
        return status;
    if (log_size == domain->log_size) {
        *power = domain;
        return POOL_OK;
    }
    pthread_mutex_lock(&domain->lock);
    if (!domain->powers[log_size])
        status = create_power(domain, log_size, &domain->powers[log_size]);
    *power = domain->powers[log_size];
    pthread_mutex_unlock(&domain->lock);
    return status;
}

pool_status pool_ntt_domain_power(
    pool_ntt_domain *domain, uint32_t log_size, pool_ntt_domain **power)
{
    pool_status status = base_check_pointers(__func__, {"domain", domain}, {"power", power});

    if (!status)
        status = base_check_ranges(__func__, {"log_size", log_size, 0, domain->log_size});
    return status ? status : ntt_domain_power(domain, log_size, power);
}

pool_status ntt_domain_check_forked(const pool_ntt_domain *domain)
{
    if (domain->generation == driver_fork_generation())
        return POOL_OK;
    return base_fail(POOL_ERR_FORKED,
        "the domain was made before fork() by a process with a driver: create it in the process "
        "that uses it");
}

pool_ntt_domain *pool_ntt_domain_retain(pool_ntt_domain *domain)
{
    if (domain)
        atomic_fetch_add_explicit(&domain->references, 1, memory_order_relaxed);
    return domain;
}

pool_status pool_ntt_domain_destroy(pool_ntt_domain **domain)
{
    pool_ntt_domain *gone = domain ? *domain : NULL;
    pool_status first = POOL_OK, status;

    if (!gone)
        return POOL_OK;
    *domain = NULL;
    if (atomic_fetch_sub_explicit(&gone->references, 1, memory_order_acq_rel) != 1)
        return POOL_OK;
    status = ntt_tables_destroy_all(gone, &first);
    for (uint32_t i = 0; i < POOL_NTT_MAX_LOG_SIZE && !status; i++)
        status = pool_ntt_domain_destroy(&gone->powers[i]);
    if (status) {
        /* A device could not be entered: the domain stays for another try. */
        atomic_store_explicit(&gone->references, 1, memory_order_relaxed);
        *domain = gone;
        return status;
    }
    free_host(gone);
    return first;
}

const pool_field *pool_ntt_domain_field(const pool_ntt_domain *domain)
{
    return domain ? domain->field : NULL;
}

uint32_t pool_ntt_domain_log_size(const pool_ntt_domain *domain)
{
    return domain ? domain->log_size : 0;
}

static pool_status give(const char *call, const pool_ntt_domain *domain, const uint64_t *limbs,
    pool_form form, void *packed)
{
    uint64_t value[FIELD_MAX_LIMBS];
    pool_status status = base_check_pointers(call, {"domain", domain}, {"the element", packed});

    if (!status)
        status = base_check_ranges(call, {"form", form, 0, POOL_FORM_MONTGOMERY});
    if (status)
        return status;
    field_copy(domain->field, value, limbs);
    if (form == POOL_FORM_STANDARD)
        field_from_montgomery(domain->field, value, value);
    field_store(domain->field, packed, value);
    return POOL_OK;
}

pool_status pool_ntt_domain_root(const pool_ntt_domain *domain, pool_form form, void *root)
{
    return give(
        "pool_ntt_domain_root", domain, domain ? domain->root[POOL_NTT_FORWARD] : NULL, form, root);
}

pool_status pool_ntt_domain_coset(const pool_ntt_domain *domain, pool_form form, void *coset)
{
    return give("pool_ntt_domain_coset", domain, domain ? domain->coset[POOL_NTT_FORWARD] : NULL,
        form, coset);
}
