/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A domain's tables on a device: powers of its roots and of its coset generator, made there from a
 * few numbers that the host computes.
 */
#include "ntt/ntt.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "memory/memory.h"

enum { LOG_THREADS = 14, BLOCK = 256 };

/* Rows of squares, one a base. */
enum base { BASE_LEVELS, BASE_HIGH, BASE_LOW, BASE_COSET_HIGH, BASE_COSET_LOW, BASES };

void ntt_store_squares(const pool_field *field, void *packed, const uint64_t *base)
{
    uint64_t power[FIELD_MAX_LIMBS];

    field_copy(field, power, base);
    for (uint32_t i = 0; i < NTT_SQUARES; i++) {
        field_store_for_device(field, (uint8_t *)packed + (size_t)i * field->bytes, power);
        field_sqr(field, power, power);
    }
}

/* x^(2^times). */
static void raise(const pool_field *field, uint64_t *power, const uint64_t *x, uint32_t times)
{
    field_copy(field, power, x);
    for (uint32_t i = 0; i < times; i++)
        field_sqr(field, power, power);
}

static void fill_constants(const pool_ntt_domain *domain, uint8_t *packed)
{
    const pool_field *field = domain->field;
    uint64_t value[NTT_CONSTANTS][FIELD_MAX_LIMBS];

    field_copy(field, value[NTT_INVERSE_SIZE], domain->inverse_size);
    field_power_of_r(field, value[NTT_R], 1);
    field_power_of_r(field, value[NTT_INVERSE_R], -1);
    field_mul(field, value[NTT_INVERSE_SIZE_R], value[NTT_R], domain->inverse_size);
    field_mul(field, value[NTT_INVERSE_SIZE_INVERSE_R], value[NTT_INVERSE_R], domain->inverse_size);
    for (size_t i = 0; i < NTT_CONSTANTS; i++)
        field_store_for_device(field, packed + i * field->bytes, value[i]);
}

/* Constants and squares as they lie in the tables' buffer. */
static pool_status host_part(
    const pool_ntt_domain *domain, const struct ntt_tables *tables, uint8_t **packed)
{
    const struct ntt_table_layout *layout = &tables->layout;
    const pool_field *field = domain->field;
    const uint64_t *root = domain->root[tables->direction];
    const uint64_t *coset = domain->coset[tables->direction];
    const uint32_t raised[BASES] = {[BASE_LEVELS] = domain->log_size - layout->levels,
        [BASE_HIGH] = layout->low_bits,
        [BASE_COSET_HIGH] = layout->low_bits};
    uint8_t *made = base_calloc(layout->total - layout->constants, field->bytes);

    if (!made)
        return base_fail_memory("the numbers of a domain's tables");
    fill_constants(domain, made);
    for (uint32_t i = 0; i < BASES; i++) {
        uint64_t base[FIELD_MAX_LIMBS];

        raise(field, base, i >= BASE_COSET_HIGH ? coset : root, raised[i]);
        ntt_store_squares(field,
            made + (layout->squares - layout->constants + (uint64_t)i * NTT_SQUARES) * field->bytes,
            base);
    }
    *packed = made;
    return POOL_OK;
}

struct maker {
    const pool_ntt_domain *domain;
    struct ntt_tables *tables;
    pool_stream *stream;
};

static CUdeviceptr part(const struct maker *maker, uint64_t element)
{
    return maker->tables->address + element * maker->domain->field->bytes;
}

static pool_status make_powers(
    const struct maker *maker, uint64_t at, uint32_t log_count, enum base base, CUdeviceptr scale)
{
    uint64_t count = (uint64_t)1 << log_count;
    uint64_t stride = maker->domain->field->words;
    uint32_t log_threads = log_count < LOG_THREADS ? log_count : LOG_THREADS;
    CUdeviceptr out = part(maker, at);
    CUdeviceptr squares = part(maker, maker->tables->layout.squares + (uint64_t)base * NTT_SQUARES);
    void *arguments[] = {&out, &count, &stride, &squares, &scale, &log_threads};
    static const size_t sizes[] = {8, 8, 8, 8, 8, 4};
    struct ntt_launch launch = {.blocks = ((1u << log_threads) + BLOCK - 1) / BLOCK,
        .threads = 1u << log_threads < BLOCK ? 1u << log_threads : BLOCK,
        .count = 6,
        .arguments = arguments,
        .sizes = sizes,
        .stream = maker->stream};
    pool_status status = ntt_kernel(
        maker->tables->device, maker->domain->field, NTT_PROGRAM_TABLES, "powers", &launch.kernel);

    return status ? status : ntt_enqueue(&launch);
}

static pool_status make_levels(const struct maker *maker)
{
    const struct ntt_table_layout *layout = &maker->tables->layout;
    CUdeviceptr out = part(maker, layout->roots);
    CUdeviceptr squares = part(maker, layout->squares + (uint64_t)BASE_LEVELS * NTT_SQUARES);
    uint32_t levels = layout->levels, radix = maker->tables->tuning.radix;
    void *arguments[] = {&out, &squares, &levels, &radix};
    static const size_t sizes[] = {8, 8, 4, 4};
    struct ntt_launch launch = {.blocks = ((2u << levels) + BLOCK - 1) / BLOCK,
        .threads = BLOCK,
        .count = 4,
        .arguments = arguments,
        .sizes = sizes,
        .stream = maker->stream};
    pool_status status = ntt_kernel(maker->tables->device, maker->domain->field, NTT_PROGRAM_TABLES,
        "root_levels", &launch.kernel);

    return status ? status : ntt_enqueue(&launch);
}

static pool_status enqueue(const struct maker *maker)
{
    const struct ntt_table_layout *layout = &maker->tables->layout;
    CUdeviceptr inverse_size = part(maker, layout->constants + NTT_INVERSE_SIZE);
    uint8_t *packed = NULL;
    pool_status status = host_part(maker->domain, maker->tables, &packed);

    if (status)
        return status;
    status = pool_copy_to_device(maker->tables->buffer,
        layout->constants * maker->domain->field->bytes, packed,
        (layout->total - layout->constants) * maker->domain->field->bytes, maker->stream);
    base_free(packed);
    if (!status)
        status = make_levels(maker);
    if (!status)
        status = make_powers(maker, layout->high, layout->high_bits, BASE_HIGH, 0);
    if (!status)
        status = make_powers(maker, layout->low, layout->low_bits, BASE_LOW, 0);
    if (!status)
        status = make_powers(maker, layout->low_scaled, layout->low_bits, BASE_LOW, inverse_size);
    if (!status)
        status = make_powers(maker, layout->coset_high, layout->high_bits, BASE_COSET_HIGH, 0);
    if (!status)
        status = make_powers(maker, layout->coset_low, layout->low_bits, BASE_COSET_LOW, 0);
    return status;
}

/* Waited for, so that any stream can use the tables afterwards. */
static pool_status fill(
    const pool_ntt_domain *domain, struct ntt_tables *tables, pool_stream *stream)
{
    struct maker maker = {.domain = domain, .tables = tables, .stream = stream};
    pool_status status = enqueue(&maker);

    return status ? status : pool_stream_synchronize(stream);
}

static pool_status make(const pool_ntt_domain *domain, const struct ntt_tables *wanted,
    pool_stream *stream, struct ntt_tables **tables)
{
    struct ntt_tables *made = base_calloc(1, sizeof(*made));
    pool_status status;

    if (!made)
        return base_fail_memory("a domain's tables");
    *made = *wanted;
    ntt_table_layout_make(&made->tuning, domain->log_size, &made->layout);
    status =
        pool_buffer_alloc(made->device, made->layout.total * domain->field->bytes, &made->buffer);
    if (!status)
        status = pool_buffer_address(made->buffer, &made->address);
    if (!status)
        status = fill(domain, made, stream);
    if (status) {
        if (made->buffer)
            memory_discard(made->buffer);
        base_free(made);
        return status;
    }
    *tables = made;
    return POOL_OK;
}

static const struct ntt_tables *find(pool_ntt_domain *domain, const struct ntt_tables *wanted)
{
    const struct ntt_tables *at = domain->tables;

    while (at && (at->device != wanted->device || at->direction != wanted->direction ||
                     memcmp(&at->tuning, &wanted->tuning, sizeof(at->tuning)) != 0))
        at = at->next;
    return at;
}

/* Compiled outside of the domain's lock: other devices need not wait for it. */
static pool_status compile(const pool_ntt_domain *domain, struct ntt_tables *wanted)
{
    const struct ntt_build build = ntt_build_of(
        domain->field, domain->root[wanted->direction], domain->log_size, &wanted->tuning);
    pool_kernel *powers;
    pool_status status =
        ntt_kernel(wanted->device, domain->field, NTT_PROGRAM_TABLES, "powers", &powers);

    return status ? status
                  : ntt_pass_kernel(wanted->device, domain->field, &build, &wanted->kernel);
}

pool_status ntt_tables_get(pool_ntt_domain *domain, pool_stream *stream,
    pool_ntt_direction direction, const struct ntt_tuning *tuning, const struct ntt_tables **tables)
{
    pool_device *device = pool_stream_device(stream);
    struct ntt_tables wanted = {.device = device, .direction = direction, .tuning = *tuning};
    struct ntt_tables *made = NULL;
    pool_status status = ntt_domain_check_forked(domain);

    if (status)
        return status;
    pthread_mutex_lock(&domain->lock);
    const struct ntt_tables *found = find(domain, &wanted);
    pthread_mutex_unlock(&domain->lock);
    if (!found) {
        status = compile(domain, &wanted);
        if (status)
            return status;
        pthread_mutex_lock(&domain->lock);
        found = find(domain, &wanted);
        if (!found)
            status = make(domain, &wanted, stream, &made);
        if (made) {
            made->next = domain->tables;
            domain->tables = made;
            found = made;
        }
        pthread_mutex_unlock(&domain->lock);
    }
    if (!status)
        *tables = found;
    return status;
}

/* For one transform and for very many, which may be tuned differently. */
enum { WARM_TUNINGS = 2 };

static pool_status compile_all(const pool_ntt_domain *domain, pool_device *device,
    const struct ntt_tuning tunings[WARM_TUNINGS])
{
    struct ntt_build builds[2 * WARM_TUNINGS];

    for (size_t i = 0; i < 2 * WARM_TUNINGS; i++)
        builds[i] =
            ntt_build_of(domain->field, domain->root[i % 2], domain->log_size, &tunings[i / 2]);
    return ntt_load_programs(device, domain->field, builds, 2 * WARM_TUNINGS);
}

static pool_status warm_up(pool_ntt_domain *domain, pool_stream *stream)
{
    const uint64_t batches[WARM_TUNINGS] = {1, UINT64_MAX >> domain->log_size};
    struct ntt_tuning tunings[WARM_TUNINGS];
    const struct ntt_tables *tables;
    pool_status status;

    for (int i = 0; i < WARM_TUNINGS; i++) {
        const struct ntt_job job = {
            .words = domain->field->words, .log_size = domain->log_size, .batch = batches[i]};
        tunings[i] = ntt_tuning_on(pool_stream_device(stream), &job);
    }
    status = compile_all(domain, pool_stream_device(stream), tunings);
    for (int i = 0; i < 2 * WARM_TUNINGS && !status; i++)
        status =
            ntt_tables_get(domain, stream, (pool_ntt_direction)(i % 2), &tunings[i / 2], &tables);
    return status;
}

pool_status pool_ntt_warm_up(pool_ntt_domain *domain, pool_device *device)
{
    pool_device *found = NULL;
    pool_stream *stream = NULL;
    pool_status status;

    if (!domain)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the domain is NULL");
    status = device_or_bound(device, &found);
    if (!status)
        status = pool_stream_default(found, &stream);
    return status ? status : warm_up(domain, stream);
}
