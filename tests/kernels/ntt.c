/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The passes of the NTT, each alone. A pass at log_done of log_length bits computes the radix-2
 * decimation-in-frequency stages log_done to log_done + log_length - 1; the first one may load from
 * bit-reversed positions and multiply by powers of the coset generator, the last one may store to
 * bit-reversed positions, multiply by inverse powers and scale. The references are those stages.
 * The kernel of extensions computes the first stages of columns that are padded with zeros.
 */
#include "zk/ntt/extend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "support/sample.h"

/* A transform whose passes are checked. */
struct ntt_subject {
    const char *field; /* or a modulus */
    uint32_t log_size;
    uint32_t batch;
    struct ntt_tuning tuning; /* log_radix 0: the plan's choice */
    bool is_large;            /* on GPUs only; forward transforms of rows only */
};

struct ntt_case {
    struct harness *harness;
    const struct ntt_subject *subject;
    pool_ntt_domain *domain;
    struct ntt_run run;
    struct ntt_plan plan;
    bool low_table; /* exponents of twiddles are split in two tables */
};

static uint64_t bit_reverse(uint64_t x, uint32_t bits)
{
    uint64_t reversed = 0;

    for (uint32_t i = 0; i < bits; i++)
        reversed |= (x >> i & 1) << (bits - 1 - i);
    return reversed;
}

/* x[i] times g^i, or, when `is_reversed`, times g^reverse(i). */
static void multiply_by_powers(const struct ntt_case *one, uint64_t *x, bool is_reversed)
{
    const pool_field *field = one->domain->field;
    uint32_t log_size = one->domain->log_size;
    const uint64_t *generator = one->domain->coset[one->run.direction];
    uint64_t power[FIELD_MAX_LIMBS];

    field_set_one(field, power);
    for (uint64_t j = 0; j < (uint64_t)1 << log_size; j++) {
        uint64_t *element = x + (is_reversed ? bit_reverse(j, log_size) : j) * field->limbs;

        field_mul(field, element, element, power);
        field_mul(field, power, power, generator);
    }
}

/* The decimation-in-frequency stage that combines elements 2^(log_size - 1 - stage) apart. */
static void radix_2_stage(const struct ntt_case *one, uint64_t *x, uint32_t stage)
{
    const pool_field *field = one->domain->field;
    uint32_t log_size = one->domain->log_size;
    uint64_t half = (uint64_t)1 << (log_size - 1 - stage);
    uint64_t root[FIELD_MAX_LIMBS], *twiddles = harness_memory(half, sizeof(root));

    field_copy(field, root, one->domain->root[one->run.direction]);
    for (uint32_t i = 0; i < stage; i++)
        field_sqr(field, root, root);
    field_set_one(field, twiddles);
    for (uint64_t i = 1; i < half; i++)
        field_mul(field, twiddles + i * field->limbs, twiddles + (i - 1) * field->limbs, root);
    for (uint64_t first = 0; first < (uint64_t)1 << log_size; first += 2 * half)
        for (uint64_t i = 0; i < half; i++) {
            uint64_t *low = x + (first + i) * field->limbs, *high = low + half * field->limbs;
            uint64_t difference[FIELD_MAX_LIMBS];

            field_sub(field, difference, low, high);
            field_add(field, low, low, high);
            field_mul(field, high, difference, twiddles + i * field->limbs);
        }
    free(twiddles);
}

/* Memory index of element i of transform t. */
static uint64_t index_of(const struct ntt_case *one, uint64_t t, uint64_t i)
{
    const struct ntt_job *job = &one->run.job;

    return job->layout == POOL_NTT_COLUMNS ? i * job->batch + t : (t << job->log_size) + i;
}

/* One pass over all transforms of the batch, alone. */
static void reference_pass(
    const struct ntt_case *one, const struct ntt_pass *pass, const uint64_t *in, uint64_t *out)
{
    const pool_field *field = one->domain->field;
    uint32_t log_size = one->domain->log_size;
    uint64_t n = (uint64_t)1 << log_size, *x = harness_memory(n, field->limbs * sizeof(*x));
    bool is_last = pass->log_done + pass->log_length == log_size;
    /* An inverse NTT is scaled by its first pass where that has a table for it. */
    bool is_scaled = one->run.direction == POOL_NTT_INVERSE &&
                     (is_last || (pass->log_done == 0 && one->low_table));

    for (uint64_t t = 0; t < one->run.job.batch; t++) {
        for (uint64_t i = 0; i < n; i++) {
            uint64_t from = pass->flags & NTT_REVERSED_INPUT ? bit_reverse(i, log_size) : i;

            field_copy(field, x + i * field->limbs, in + index_of(one, t, from) * field->limbs);
        }
        if (pass->flags & NTT_COSET_INPUT)
            multiply_by_powers(one, x, false);
        for (uint32_t i = 0; i < pass->log_length; i++)
            radix_2_stage(one, x, pass->log_done + i);
        if (pass->flags & NTT_COSET_OUTPUT)
            multiply_by_powers(one, x, true);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t to = pass->flags & NTT_NATURAL_OUTPUT ? bit_reverse(i, log_size) : i;
            uint64_t *element = out + index_of(one, t, to) * field->limbs;

            field_copy(field, element, x + i * field->limbs);
            if (is_scaled)
                field_mul(field, element, element, one->domain->inverse_size);
        }
    }
    free(x);
}

/* A launch of one pass, as the whole plan of a transform. */
static pool_status launch_pass(struct harness *harness, void *user)
{
    const struct ntt_case *one = user;

    (void)harness;
    return ntt_run_enqueue(&one->run, &one->plan);
}

static const char *pass_kind(const struct ntt_plan *plan, uint32_t index)
{
    if (plan->count == 1)
        return "ntt only pass";
    if (index == 0)
        return "ntt first pass";
    return index + 1 == plan->count ? "ntt last pass" : "ntt middle pass";
}

static void check_pass(const struct ntt_case *whole, uint32_t index)
{
    static const char *const orders[] = {"NN", "NR", "RN", "RR"};
    struct ntt_case one = *whole;
    const struct ntt_job *job = &one.run.job;
    const pool_field *field = one.domain->field;
    const struct ntt_pass *pass = &whole->plan.pass[index];
    const struct chip chip = chip_of(one.harness->device);
    bool is_last = index + 1 == whole->plan.count;
    uint64_t count = job->batch << job->log_size;
    struct stage stage;

    if (!stage_begin(one.harness, &stage, pass_kind(&whole->plan, index),
            "%s, 2^%u, batch %u, radix %u%s, %s, %s, %s%s",
            field->name[0] ? field->name : "custom field", job->log_size, (unsigned)job->batch,
            1u << ntt_tuning_for(job, &chip).log_radix, one.low_table ? ", two tables" : "",
            one.run.direction ? "inverse" : "forward", orders[job->order],
            job->layout == POOL_NTT_COLUMNS ? "columns" : "rows",
            job->coset_in || job->coset_out ? ", coset" : ""))
        return;
    uint64_t *elements = elements_random(field, 7 + index, count);
    uint64_t *expected = harness_memory(count, field->limbs * sizeof(*expected));
    uint8_t *packed = elements_pack(field, elements, count, field->bytes);

    one.plan = (struct ntt_plan){.count = 1, .pass = {*pass}};
    one.run.in = stage_upload(&stage, packed, count * field->bytes);
    one.run.out = stage_alloc(&stage, count * field->bytes);
    stage_run(&stage, launch_pass, &one);
    reference_pass(&one, pass, elements, expected);
    stage_compare_elements(
        &stage, "element", field, one.run.out, field->bytes, expected, count, !is_last);
    stage_time(&stage, launch_pass, &one, (double)count);
    stage_end(&stage);
    free(elements);
    free(expected);
    free(packed);
}

static void check_passes(struct ntt_case *one)
{
    const struct ntt_job *job = &one->run.job;
    struct chip chip = chip_of(one->harness->device);
    struct ntt_tuning tuning = ntt_tuning_for(job, &chip);
    struct ntt_table_layout layout;

    ntt_table_layout_make(&tuning, job->log_size, &layout);
    one->low_table = layout.low_bits != 0;
    if (!ntt_plan_make(&tuning, &chip, job, &one->plan)) {
        printf("no plan for 2^%u\n", job->log_size);
        exit(1);
    }
    for (uint32_t i = 0; i < one->plan.count; i++)
        check_pass(one, i);
}

/* All orders, layouts and directions, on the subgroup and on a coset. */
static void check_subject(struct harness *harness, const struct ntt_subject *subject)
{
    pool_field_params field_params = {.struct_size = sizeof(field_params)};
    pool_ntt_domain_params params = {.struct_size = sizeof(params), .log_size = subject->log_size};
    static int first; /* of a sample, which has other variants of each subject */
    struct ntt_case one = {.harness = harness, .subject = subject};
    const pool_field *field = pool_field_by_name(subject->field);
    pool_field *custom = NULL;

    if (subject->is_large && harness->is_simulated)
        return;
    if (field == NULL) {
        field_params.modulus = subject->field;
        MUST(pool_field_create(&field_params, &custom));
        field = custom;
    }
    params.field = field;
    MUST(pool_ntt_domain_create(&params, &one.domain));
    if (subject->tuning.log_radix)
        one.domain->tuning = &subject->tuning;
    for (int variant = 0; variant < 32; variant++) {
        bool on_coset = variant >> 4;

        if (subject->is_large && variant >= 4)
            break;
        if (!is_sampled((size_t)(first + variant), 3))
            continue;
        /* Kernels of one length are for rows, and for cosets of inputs in natural order. */
        if (subject->tuning.by_length && (variant >> 2 & 1 || (on_coset && variant & 10)))
            continue;
        one.run = (struct ntt_run){
            .target = {.device = harness->device, .field = field, .stream = harness->stream},
            .domain = one.domain,
            .direction = variant >> 3 & 1 ? POOL_NTT_INVERSE : POOL_NTT_FORWARD,
            .job = {.words = field->words,
                .log_size = subject->log_size,
                .batch = subject->batch,
                .order = (pool_ntt_order)(variant & 3),
                .layout = variant >> 2 & 1 ? POOL_NTT_COLUMNS : POOL_NTT_ROWS,
                .tuning = one.domain->tuning}};
        one.run.job.coset_in = on_coset && one.run.direction == POOL_NTT_FORWARD;
        one.run.job.coset_out = on_coset && one.run.direction == POOL_NTT_INVERSE;
        check_passes(&one);
    }
    first++;
    MUST(pool_ntt_domain_destroy(&one.domain));
    pool_field_destroy(&custom);
}

/* ---- extensions ------------------------------------------------------------------------------ */

struct extend_case {
    pool_kernel *kernel;
    struct ntt_extend_args args;
};

static pool_status launch_extend(struct harness *harness, void *user)
{
    struct extend_case *one = user;
    void *arguments[] = {&one->args};
    static const size_t sizes[] = {sizeof(one->args)};
    const struct module_launch launch = {.kernel = one->kernel,
        .blocks = (one->args.count - 1) / NTT_EXTEND_THREADS + 1,
        .threads = NTT_EXTEND_THREADS,
        .count = 1,
        .arguments = arguments,
        .sizes = sizes,
        .stream = harness->stream};

    return module_launch_enqueue(&launch);
}

/* The first log_blowup stages of a transform on the coset, of columns padded with zeros. */
static void reference_extend(
    const struct ntt_case *one, uint32_t log_blowup, const uint64_t *in, uint64_t *out)
{
    const pool_field *field = one->domain->field;
    const struct ntt_job *job = &one->run.job;
    const uint32_t log_points = job->log_size - log_blowup;
    uint64_t *x = harness_memory(UINT64_C(1) << job->log_size, field->limbs * sizeof(*x));

    for (uint64_t t = 0; t < job->batch; t++) {
        memset(x, 0, (field->limbs * sizeof(*x)) << job->log_size);
        for (uint64_t i = 0; i < UINT64_C(1) << log_points; i++) {
            const uint64_t at = job->order == POOL_NTT_RN ? bit_reverse(i, log_points) : i;
            const uint64_t from =
                job->layout == POOL_NTT_COLUMNS ? at * job->batch + t : (t << log_points) + at;

            field_copy(field, x + i * field->limbs, in + from * field->limbs);
        }
        multiply_by_powers(one, x, false);
        for (uint32_t stage = 0; stage < log_blowup; stage++)
            radix_2_stage(one, x, stage);
        for (uint64_t i = 0; i < UINT64_C(1) << job->log_size; i++)
            field_copy(field, out + index_of(one, t, i) * field->limbs, x + i * field->limbs);
    }
    free(x);
}

static void check_extend(struct ntt_case *one, uint32_t log_blowup)
{
    const struct ntt_job *job = &one->run.job;
    const pool_field *field = one->domain->field;
    const struct chip chip = chip_of(one->harness->device);
    const struct ntt_tuning tuning = ntt_tuning_for(job, &chip);
    const uint64_t count = job->batch << job->log_size, points = count >> log_blowup;
    const uint64_t bytes = field->bytes;
    struct extend_case launch = {0};
    struct ntt_tables *tables;
    struct stage stage;

    if (!stage_begin(one->harness, &stage, "ntt extend", "%s, 2^%u from 2^%u, batch %u, %s, %s",
            field->name, job->log_size, job->log_size - log_blowup, (unsigned)job->batch,
            job->order == POOL_NTT_RN ? "reversed" : "natural",
            job->layout == POOL_NTT_COLUMNS ? "columns" : "rows"))
        return;
    uint64_t *elements = elements_random(field, 11, points);
    uint64_t *expected = harness_memory(count, field->limbs * sizeof(*expected));
    uint8_t *packed = elements_pack(field, elements, points, bytes);

    MUST(ntt_tables_get(one->domain, one->harness->stream, POOL_NTT_FORWARD, &tuning, &tables));
    MUST(ntt_extend_kernel(one->harness->device, field, &launch.kernel));
    const struct ntt_table_layout *layout = &tables->layout;
    const bool has_low = layout->low_bits != 0;
    launch.args = (struct ntt_extend_args){.in = stage_upload(&stage, packed, points * bytes),
        .out = stage_alloc(&stage, count * bytes),
        .twiddles_high = tables->address + layout->twiddles_high * bytes,
        .twiddles_low = has_low ? tables->address + layout->twiddles_low * bytes : 0,
        .coset_high = tables->address + layout->coset_high * bytes,
        .coset_low = has_low ? tables->address + layout->coset_low * bytes : 0,
        .batch = job->batch,
        .count = points,
        .log_points = job->log_size - log_blowup,
        .log_blowup = log_blowup,
        .low_bits = layout->low_bits,
        .flags = (job->order == POOL_NTT_RN ? NTT_REVERSED_INPUT : 0) |
                 (job->layout == POOL_NTT_COLUMNS ? NTT_INTERLEAVED : 0)};
    stage_run(&stage, launch_extend, &launch);
    reference_extend(one, log_blowup, elements, expected);
    stage_compare_elements(&stage, "element", field, launch.args.out, bytes, expected, count, true);
    stage_time(&stage, launch_extend, &launch, (double)count);
    ntt_tables_release(tables);
    stage_end(&stage);
    free(elements);
    free(expected);
    free(packed);
}

static void check_extensions(struct harness *harness)
{
    static const char *const names[] = {"babybear", "koalabear", "goldilocks", "bn254_fr"};
    static const struct ntt_tuning short_tables = {4, 5, 2, 4, 4, 2, 0, NTT_NO_QUOTIENTS, 0};

    for (uint32_t way = 0; way < 32; way++) {
        if (!is_sampled(way, 3))
            continue;
        const pool_field *field = pool_field_by_name(names[way % 4]);
        const uint32_t log_size = (uint32_t)harness_size(harness, 4 + way / 4, 18 + way / 16);
        const pool_ntt_domain_params params = {
            .struct_size = sizeof(params), .field = field, .log_size = log_size};
        struct ntt_case one = {.harness = harness};

        MUST(pool_ntt_domain_create(&params, &one.domain));
        if (way >= 28 && harness->is_simulated)
            one.domain->tuning = &short_tables;
        one.run.direction = POOL_NTT_FORWARD;
        one.run.job = (struct ntt_job){.words = field->words,
            .log_size = log_size,
            .batch = 1 + way % 3,
            .order = way & 4 ? POOL_NTT_RN : POOL_NTT_NN,
            .layout = way & 8 ? POOL_NTT_COLUMNS : POOL_NTT_ROWS,
            .tuning = one.domain->tuning};
        check_extend(&one, 1 + way / 4 % POOL_NTT_MAX_LOG_BLOWUP);
        MUST(pool_ntt_domain_destroy(&one.domain));
    }
}

/* 750 bits and two-adicity 24: elements of 24 words. */
#define LONG_MODULUS                                                                               \
    "0x204f1bbcdcbfa53e0a800000000000000000000000000000000000000000000000000000000000000000"       \
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" \
    "000006000001"

/* 32 bits: one word without room for products with quotients. */
#define WORD_MODULUS "0xfff00001"

void check_ntt_stages(struct harness *harness)
{
    /* log_radix, log_threads, min_tile_width, high_bits, single_bits, blocks, log_chunk, quotients,
     * by_length: small blocks make three passes of short transforms, short tables make two of them.
     */
    static const struct ntt_subject subjects[] = {
        {"babybear", 4, 3, {0}, false},
        {"babybear", 10, 1, {0}, false},
        {"babybear", 15, 1, {5, 5, 3, 8, 8, 2, 0, NTT_NO_QUOTIENTS, 0}, false},
        {"babybear", 15, 1, {5, 5, 3, 8, 8, 2, 0, NTT_STAGE_QUOTIENTS, 0}, false},
        {"babybear", 16, 3, {4, 5, 3, 8, 8, 2, 0, NTT_NO_QUOTIENTS, 1}, false},
        {"koalabear", 17, 1, {4, 6, 2, 18, 18, 2, 0, NTT_NO_QUOTIENTS, 1}, false},
        {"babybear", 18, 1, {4, 6, 3, 9, 9, 2, 0, NTT_NO_QUOTIENTS, 1}, false},
        {"babybear", 10, 70, {4, 8, 3, 18, 18, 5, 0, NTT_NO_QUOTIENTS, 1}, false},
        {"koalabear", 11, 9, {4, 8, 3, 18, 18, 5, 0, NTT_NO_QUOTIENTS, 1}, false},
        {"babybear", 12, 5, {4, 8, 3, 18, 18, 5, 0, NTT_NO_QUOTIENTS, 1}, false},
        {WORD_MODULUS, 16, 1, {4, 6, 3, 16, 16, 2, 0, NTT_NO_QUOTIENTS, 1}, false},
        {"goldilocks", 3, 5, {0}, false},
        {"goldilocks", 12, 1, {0}, false},
        {"goldilocks", 15, 1, {4, 5, 2, 8, 8, 2, 0, NTT_NO_QUOTIENTS, 0}, false},
        {"bn254_fr", 1, 5, {0}, false},
        {"bn254_fr", 6, 3, {0}, false},
        {"bn254_fr", 10, 1, {0}, false},
        {"bn254_fr", 13, 1, {2, 5, 1, 7, 7, 2, 0, NTT_ALL_QUOTIENTS, 0}, false},
        {"bls12_381_fr", 13, 1, {2, 5, 1, 7, 7, 2, 0, NTT_ALL_QUOTIENTS, 0}, false},
        {"bls12_377_fq", 9, 1, {0}, false},
        {LONG_MODULUS, 8, 1, {1, 5, 1, 5, 5, 2, 0, NTT_STAGE_QUOTIENTS, 0}, false},
        {"bn254_fr", 9, 1, {1, 5, 1, 9, 9, 2, 0, NTT_ALL_QUOTIENTS, 0}, false},
        {"bn254_fr", 13, 1, {1, 6, 0, 16, 20, 2, 0, NTT_ALL_QUOTIENTS, 0}, false},
        {"bls12_381_fr", 14, 2, {1, 8, 0, 7, 9, 2, 0, NTT_ALL_QUOTIENTS, 0}, false},
        {"pallas_fq", 7, 1, {2, 5, 1, 5, 7, 2, 0, NTT_ALL_QUOTIENTS, 0}, false},
        {"babybear", 20, 1, {4, 8, 3, 18, 18, 5, 0, NTT_NO_QUOTIENTS, 1}, true},
        {"babybear", 22, 1, {0}, true},
        {"koalabear", 24, 1, {0}, true},
        {"goldilocks", 20, 1, {0}, true},
        {"bn254_fr", 18, 1, {0}, true},
        {"bls12_381_fr", 18, 1, {0}, true},
    };

    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        check_subject(harness, &subjects[i]);
    check_extensions(harness);
}
