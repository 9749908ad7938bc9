/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A domain's twiddle tables on a device, computed there by the kernels of ptx/ntt/tables.cu and
 * vector_powers, from a few powers that the host computes.
 */
#include "zk/ntt/ntt.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/memory/memory.h"
#include "pool/stream/capture.h"

enum { LOG_THREADS = 14, BLOCK = 256 };

/* The bases whose powers the tables hold; each has VECTOR_POWERS_OF_TWO entries of powers_of_two.
 */
enum table_base {
    BASE_STAGE_TWIDDLES,
    BASE_HIGH,
    BASE_LOW,
    BASE_COSET_HIGH,
    BASE_COSET_LOW,
    BASES
};

static void store_constants(const pool_ntt_domain *domain, uint8_t *packed)
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

/* Computes the part of the tables that the host uploads: constants and powers_of_two, adjacent in
 * the buffer. The caller frees *packed. */
static pool_status compute_host_part(
    const pool_ntt_domain *domain, const struct ntt_tables *tables, uint8_t **packed)
{
    const struct ntt_table_layout *layout = &tables->layout;
    const pool_field *field = domain->field;
    const uint64_t *root = domain->root[tables->direction];
    const uint64_t *coset = domain->coset[tables->direction];
    const uint32_t squarings[BASES] = {[BASE_STAGE_TWIDDLES] = domain->log_size - layout->log_order,
        [BASE_HIGH] = layout->low_bits,
        [BASE_COSET_HIGH] = layout->low_bits};
    uint8_t *bytes = base_calloc(layout->total - layout->constants, field->bytes);

    if (!bytes)
        return base_fail_memory("the host part of a domain's tables");
    store_constants(domain, bytes);
    for (uint32_t i = 0; i < BASES; i++) {
        uint64_t base[FIELD_MAX_LIMBS];

        field_square_times(field, base, i >= BASE_COSET_HIGH ? coset : root, squarings[i]);
        vector_pack_powers_of_two(field,
            bytes +
                (layout->powers_of_two - layout->constants + (uint64_t)i * VECTOR_POWERS_OF_TWO) *
                    field->bytes,
            base);
    }
    *packed = bytes;
    return POOL_OK;
}

/* The tables being computed, and the stream that computes them. */
struct table_job {
    const pool_ntt_domain *domain;
    struct ntt_tables *tables;
    pool_stream *stream;
};

static CUdeviceptr address_of(const struct table_job *job, uint64_t element)
{
    return job->tables->address + element * job->domain->field->bytes;
}

/* Element `at` and the following: scale b^i for i < 2^log_count. */
static pool_status enqueue_powers(const struct table_job *job, uint64_t at, uint32_t log_count,
    enum table_base base, CUdeviceptr scale)
{
    uint64_t count = (uint64_t)1 << log_count;
    uint64_t stride = job->domain->field->words;
    uint32_t log_threads = (uint32_t)base_min(log_count, LOG_THREADS);
    CUdeviceptr out = address_of(job, at);
    CUdeviceptr powers_of_two =
        address_of(job, job->tables->layout.powers_of_two + (uint64_t)base * VECTOR_POWERS_OF_TWO);
    uint64_t first = 0;
    void *arguments[] = {&out, &count, &stride, &powers_of_two, &scale, &log_threads, &first};
    static const size_t sizes[] = {8, 8, 8, 8, 8, 4, 8};
    struct module_launch launch = {.blocks = ((1u << log_threads) + BLOCK - 1) / BLOCK,
        .threads = 1u << log_threads < BLOCK ? 1u << log_threads : BLOCK,
        .count = 7,
        .arguments = arguments,
        .sizes = sizes,
        .stream = job->stream};
    pool_status status =
        vector_kernel(job->tables->device, job->domain->field, "vector_powers", &launch.kernel);

    return status ? status : module_launch_enqueue(&launch);
}

static pool_status enqueue_stage_twiddles(const struct table_job *job)
{
    const struct ntt_table_layout *layout = &job->tables->layout;
    CUdeviceptr out = address_of(job, layout->stage_twiddles);
    CUdeviceptr powers_of_two = address_of(
        job, layout->powers_of_two + (uint64_t)BASE_STAGE_TWIDDLES * VECTOR_POWERS_OF_TWO);
    uint32_t log_order = layout->log_order, log_radix = job->tables->tuning.log_radix;
    void *arguments[] = {&out, &powers_of_two, &log_order, &log_radix};
    static const size_t sizes[] = {8, 8, 4, 4};
    struct module_launch launch = {.blocks = ((2u << log_order) + BLOCK - 1) / BLOCK,
        .threads = BLOCK,
        .count = 4,
        .arguments = arguments,
        .sizes = sizes,
        .stream = job->stream};
    pool_status status = ntt_tables_kernel(
        job->tables->device, job->domain->field, "ntt_stage_twiddles", &launch.kernel);

    return status ? status : module_launch_enqueue(&launch);
}

/* The standard forms and quotients of `count` twiddles from element `in` on. */
static pool_status enqueue_quotients(
    const struct table_job *job, uint64_t in, uint64_t values, uint64_t count)
{
    CUdeviceptr from = address_of(job, in), to = address_of(job, values);
    CUdeviceptr quotients = address_of(job, job->tables->layout.quotients + values);
    uint32_t count32 = (uint32_t)count;
    void *arguments[] = {&from, &to, &quotients, &count32};
    static const size_t sizes[] = {8, 8, 8, 4};
    struct module_launch launch = {.blocks = (count + BLOCK - 1) / BLOCK,
        .threads = BLOCK,
        .count = 4,
        .arguments = arguments,
        .sizes = sizes,
        .stream = job->stream};
    pool_status status =
        ntt_tables_kernel(job->tables->device, job->domain->field, "ntt_quotients", &launch.kernel);

    return status ? status : module_launch_enqueue(&launch);
}

static pool_status enqueue_tables(const struct table_job *job)
{
    const struct ntt_table_layout *layout = &job->tables->layout;
    const enum ntt_quotients quotients = job->tables->quotients;
    CUdeviceptr inverse_size = address_of(job, layout->constants + NTT_INVERSE_SIZE);
    uint8_t *packed = NULL;
    pool_status status = compute_host_part(job->domain, job->tables, &packed);

    if (status)
        return status;
    status = pool_copy_to_device(job->tables->buffer, layout->constants * job->domain->field->bytes,
        packed, (layout->total - layout->constants) * job->domain->field->bytes, job->stream);
    base_free(packed);
    if (!status)
        status = enqueue_stage_twiddles(job);
    if (!status)
        status = enqueue_powers(job, layout->twiddles_high, layout->high_bits, BASE_HIGH, 0);
    if (!status)
        status = enqueue_powers(job, layout->twiddles_low, layout->low_bits, BASE_LOW, 0);
    if (!status)
        status = enqueue_powers(
            job, layout->twiddles_low_scaled, layout->low_bits, BASE_LOW, inverse_size);
    if (!status && quotients != NTT_NO_QUOTIENTS)
        status = enqueue_quotients(
            job, layout->stage_twiddles, layout->stage_twiddles, (uint64_t)2 << layout->log_order);
    /* The three tables are adjacent, in both places. */
    if (!status && quotients == NTT_ALL_QUOTIENTS)
        status = enqueue_quotients(job, layout->twiddles_high, layout->shared_high,
            ((uint64_t)1 << layout->high_bits) + ((uint64_t)2 << layout->low_bits));
    if (!status)
        status = enqueue_powers(job, layout->coset_high, layout->high_bits, BASE_COSET_HIGH, 0);
    if (!status)
        status = enqueue_powers(job, layout->coset_low, layout->low_bits, BASE_COSET_LOW, 0);
    return status;
}

/* With the domain's lock held. */
static void unlink_tables(struct ntt_tables *tables)
{
    struct ntt_tables **link = &tables->domain->tables;

    while (*link && *link != tables)
        link = &(*link)->next;
    if (*link)
        *link = tables->next;
}

/* Called by the list of resident objects, which has taken the entry out. */
static void evict_tables(struct memory_resident *entry)
{
    struct ntt_tables *tables = (struct ntt_tables *)entry;
    pool_ntt_domain *domain = tables->domain;

    /* First: who destroys the domain waits for the tables that are still in its list. */
    memory_discard(tables->buffer);
    pthread_mutex_lock(&domain->lock);
    unlink_tables(tables);
    pthread_mutex_unlock(&domain->lock);
    base_free(tables);
}

/* No lock may be taken in a forked child, which has one thread. */
static void lock_domain(pool_ntt_domain *domain)
{
    if (domain->generation == driver_fork_generation())
        pthread_mutex_lock(&domain->lock);
}

static void unlock_domain(pool_ntt_domain *domain)
{
    if (domain->generation == driver_fork_generation())
        pthread_mutex_unlock(&domain->lock);
}

/* With the domain's lock held: takes the tables out of the device's list, where they are still in
 * it. False: they are being evicted. */
static bool make_unevictable(struct ntt_tables *tables)
{
    if (tables->entry.device && device_usable(tables->device, DEVICE_USE_HOST) &&
        !memory_resident_remove(&tables->entry))
        return false;
    tables->entry.device = NULL; /* out of the list, also for another attempt */
    return true;
}

/* The domain's first tables, which nobody evicts any more; NULL: it has none left. */
static struct ntt_tables *take_first(pool_ntt_domain *domain)
{
    for (;;) {
        pool_device *evicting = NULL;
        struct ntt_tables *first;

        lock_domain(domain);
        first = domain->tables;
        if (first && !make_unevictable(first))
            evicting = first->device;
        unlock_domain(domain);
        if (!evicting)
            return first;
        memory_resident_wait(evicting);
    }
}

pool_status ntt_tables_destroy_all(pool_ntt_domain *domain, pool_status *survived)
{
    struct ntt_tables *tables;

    while ((tables = take_first(domain))) {
        pool_status status = pool_buffer_destroy(&tables->buffer);

        if (tables->buffer)
            return status;
        *survived = *survived ? *survived : status;
        lock_domain(domain);
        unlink_tables(tables);
        unlock_domain(domain);
        base_free(tables);
    }
    return POOL_OK;
}

/* Powers of the root of order 2^log_radix, or as many as the domain has; for pass_word.cu. */
static void set_roots(struct ntt_tables *tables)
{
    const pool_ntt_domain *domain = tables->domain;
    const pool_field *field = domain->field;
    const uint32_t log_radix = tables->tuning.log_radix;
    const uint32_t log_order = (uint32_t)base_min(log_radix, domain->log_size);
    uint64_t root[FIELD_MAX_LIMBS], power[FIELD_MAX_LIMBS], standard[FIELD_MAX_LIMBS];

    if (!tables->tuning.by_length || !log_order || field->kind != FIELD_KIND_MONTGOMERY_31)
        return;
    field_square_times(field, root, domain->root[tables->direction], domain->log_size - log_order);
    field_set_one(field, power);
    for (uint32_t i = 0; i < 1u << (log_order - 1); i++) {
        const uint32_t at = i << (log_radix - log_order);

        field_from_montgomery(field, standard, power);
        tables->word.roots[at] = (uint32_t)standard[0];
        tables->word.quotients[at] = (uint32_t)((standard[0] << 32) / field->modulus[0]);
        field_mul(field, power, power, root);
    }
}

/* Allocates and computes the tables, and adds them to the device's list. Returns when they are
 * complete, so that any stream can read them afterwards. */
static pool_status create_tables(pool_ntt_domain *domain, const struct ntt_tables *wanted,
    pool_stream *stream, struct ntt_tables **tables)
{
    struct ntt_tables *made = base_calloc(1, sizeof(*made));
    struct table_job job = {.domain = domain, .tables = made, .stream = stream};
    pool_status status;

    if (!made)
        return base_fail_memory("a domain's tables");
    *made = *wanted;
    made->domain = domain;
    snprintf(made->name, sizeof(made->name), "2^%u of %s", domain->log_size, domain->field->name);
    ntt_table_layout_make(&made->tuning, domain->log_size, &made->layout);
    set_roots(made);
    status =
        pool_buffer_alloc(made->device, made->layout.total * domain->field->bytes, &made->buffer);
    if (!status) {
        memory_buffer_set_owner(made->buffer, DEVICE_DEPENDENT_DOMAIN, made->name);
        status = pool_buffer_address(made->buffer, &made->address);
    }
    if (!status)
        status = enqueue_tables(&job);
    if (!status)
        status = pool_stream_synchronize(stream);
    made->entry = (struct memory_resident){.device = made->device,
        .kind = "domain",
        .name = made->name,
        .bytes = made->layout.total * domain->field->bytes,
        .evict = evict_tables};
    if (!status)
        status = memory_resident_add(&made->entry, true);
    if (status) {
        if (made->buffer)
            memory_discard(made->buffer);
        base_free(made);
        return status;
    }
    *tables = made;
    return POOL_OK;
}

/*
 * The tables with one more user, or NULL; those that are being evicted do not count. The user is
 * there only while a call enqueues its passes, so their memory stays counted as evictable.
 */
static struct ntt_tables *use_tables(pool_ntt_domain *domain, const struct ntt_tables *wanted)
{
    struct ntt_tables *at;

    pthread_mutex_lock(&domain->lock);
    at = domain->tables;
    while (at && (at->device != wanted->device || at->direction != wanted->direction ||
                     memcmp(&at->tuning, &wanted->tuning, sizeof(at->tuning)) != 0 ||
                     !memory_resident_use(&at->entry, true)))
        at = at->next;
    pthread_mutex_unlock(&domain->lock);
    return at;
}

/* Called without locks, so that other devices do not wait for the compiler. */
static pool_status compile_kernels(const pool_ntt_domain *domain, struct ntt_tables *wanted)
{
    const struct ntt_build build = ntt_build_of(
        domain->field, domain->root[wanted->direction], domain->log_size, &wanted->tuning);
    pool_kernel *kernel;
    pool_status status =
        ntt_tables_kernel(wanted->device, domain->field, "ntt_stage_twiddles", &kernel);

    if (!status)
        status = vector_kernel(wanted->device, domain->field, "vector_powers", &kernel);
    wanted->quotients = build.quotients;
    if (wanted->tuning.by_length)
        return status;
    return status ? status
                  : ntt_pass_kernel(wanted->device, domain->field, &build, &wanted->kernel);
}

/* A thread that creates tables of the domain. */
struct ntt_creation {
    const pool_device *device;
    struct ntt_creation *next;
};

static bool is_creating(const pool_ntt_domain *domain, const pool_device *device)
{
    const struct ntt_creation *at = domain->creations;

    while (at && at->device != device)
        at = at->next;
    return at != NULL;
}

/* Waits until no other thread creates tables on the device. */
static void begin_creation(pool_ntt_domain *domain, struct ntt_creation *own)
{
    pthread_mutex_lock(&domain->create_lock);
    while (is_creating(domain, own->device))
        pthread_cond_wait(&domain->created, &domain->create_lock);
    own->next = domain->creations;
    domain->creations = own;
    pthread_mutex_unlock(&domain->create_lock);
}

static void end_creation(pool_ntt_domain *domain, struct ntt_creation *own)
{
    struct ntt_creation **link = &domain->creations;

    pthread_mutex_lock(&domain->create_lock);
    while (*link != own)
        link = &(*link)->next;
    *link = own->next;
    pthread_cond_broadcast(&domain->created);
    pthread_mutex_unlock(&domain->create_lock);
}

pool_status ntt_tables_get(pool_ntt_domain *domain, pool_stream *stream,
    pool_ntt_direction direction, const struct ntt_tuning *tuning, struct ntt_tables **tables)
{
    pool_device *device = pool_stream_device(stream);
    /* The parts of a GPU have them in common. */
    struct ntt_tables wanted = {
        .device = device_gpu(device), .direction = direction, .tuning = *tuning};
    struct ntt_creation creation = {.device = wanted.device};
    struct ntt_tables *found;
    pool_status status = ntt_domain_check_forked(domain);

    if (status)
        return status;
    found = use_tables(domain, &wanted);
    if (!found && stream_capture_of(stream))
        return stream_refuse_captured(
            NULL, stream, "the computation of a domain's tables (pool_ntt_warm_up)");
    if (!found) {
        status = compile_kernels(domain, &wanted);
        if (status)
            return status;
        /* The list's lock must be free: the allocation may evict other tables of the domain. */
        begin_creation(domain, &creation);
        found = use_tables(domain, &wanted);
        if (!found)
            status = create_tables(domain, &wanted, stream, &found);
        if (!status && !found->is_listed) {
            found->is_listed = true;
            pthread_mutex_lock(&domain->lock);
            found->next = domain->tables;
            domain->tables = found;
            pthread_mutex_unlock(&domain->lock);
        }
        end_creation(domain, &creation);
    }
    if (!status)
        *tables = found;
    return status;
}

void ntt_tables_release(struct ntt_tables *tables)
{
    if (tables)
        memory_resident_unuse(&tables->entry, true);
}

/* For one transform, for large batches, and for columns, which may be tuned differently. */
enum { WARM_TUNINGS = 3 };

static void find_jobs(const pool_ntt_domain *domain, uint32_t log_done, pool_device *device,
    struct ntt_job jobs[WARM_TUNINGS], struct ntt_tuning tunings[WARM_TUNINGS])
{
    const struct chip chip = chip_of(device);

    for (int i = 0; i < WARM_TUNINGS; i++) {
        jobs[i] = (struct ntt_job){.words = domain->field->words,
            .log_size = domain->log_size,
            .log_done = log_done,
            .batch = i == 1 ? UINT64_MAX >> domain->log_size : 1,
            .layout = i == 2 ? POOL_NTT_COLUMNS : POOL_NTT_ROWS,
            .tuning = domain->tuning};
        tunings[i] = ntt_tuning_for(&jobs[i], &chip);
    }
}

/* Two per tuning: of both directions, or of both lengths of passes. */
static pool_status compile_tunings(const pool_ntt_domain *domain, pool_device *device,
    const struct ntt_job jobs[WARM_TUNINGS], const struct ntt_tuning tunings[WARM_TUNINGS])
{
    const struct chip chip = chip_of(device);
    struct ntt_build builds[2 * WARM_TUNINGS];

    for (size_t i = 0; i < 2 * WARM_TUNINGS; i++) {
        const struct ntt_tuning *tuning = &tunings[i / 2];
        struct ntt_job job = jobs[i / 2];
        struct ntt_plan plan;

        builds[i] = ntt_build_of(domain->field, domain->root[i % 2], domain->log_size, tuning);
        job.batch = 1; /* has passes of the same lengths as more transforms */
        if (tuning->by_length && ntt_plan_make(tuning, &chip, &job, &plan))
            builds[i] =
                ntt_build_of_length(tuning, plan.pass[i % 2 ? plan.count - 1 : 0].log_length);
    }
    return ntt_load_programs(device, domain->field, builds, 2 * WARM_TUNINGS);
}

pool_status ntt_tables_warm_up(
    pool_ntt_domain *domain, uint32_t log_done, pool_stream *stream, uint32_t directions)
{
    struct ntt_job jobs[WARM_TUNINGS];
    struct ntt_tuning tunings[WARM_TUNINGS];
    struct ntt_tables *tables;
    pool_status status;

    find_jobs(domain, log_done, pool_stream_device(stream), jobs, tunings);
    status = compile_tunings(domain, pool_stream_device(stream), jobs, tunings);
    for (int i = 0; i < 2 * WARM_TUNINGS && !status; i++) {
        if (!(directions >> i % 2 & 1))
            continue;
        status =
            ntt_tables_get(domain, stream, (pool_ntt_direction)(i % 2), &tunings[i / 2], &tables);
        if (!status)
            ntt_tables_release(tables);
    }
    return status;
}

static pool_status load(struct operation_call *call, const void *domain)
{
    pool_stream *stream = NULL;
    pool_status status = pool_stream_default(call->exec.device, &stream);

    return status ? status
                  : ntt_tables_warm_up((pool_ntt_domain *)(uintptr_t)domain, 0, stream,
                        NTT_FORWARD_BIT | NTT_INVERSE_BIT);
}

pool_status pool_ntt_warm_up(pool_ntt_domain *domain, const pool_exec *exec)
{
    return operation_warm_up(__func__, exec, "domain", domain, load);
}

pool_status pool_ntt_domain_bytes(
    const pool_ntt_domain *domain, pool_device *device, uint64_t *bytes)
{
    struct ntt_job jobs[WARM_TUNINGS];
    struct ntt_tuning tunings[WARM_TUNINGS] = {0};
    struct ntt_table_layout layout;
    uint64_t elements = 0;
    pool_status status = base_check_pointers(__func__, {"domain", domain}, {"bytes", bytes});

    if (!status)
        status = device_or_bound(device, &device);
    if (status)
        return status;
    find_jobs(domain, 0, device, jobs, tunings);
    for (int i = 0; i < WARM_TUNINGS; i++) {
        bool is_same = false; /* they share the tables */

        for (int k = 0; k < i; k++)
            is_same = is_same || memcmp(&tunings[i], &tunings[k], sizeof(tunings[i])) == 0;
        if (is_same)
            continue;
        ntt_table_layout_make(&tunings[i], domain->log_size, &layout);
        elements += 2 * layout.total; /* one per direction */
    }
    *bytes = elements * domain->field->bytes;
    return POOL_OK;
}
