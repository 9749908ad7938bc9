/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of NTTs over a field: compiled at the first use on a device and found by the field's
 * fingerprint afterwards.
 */
#include "zk/ntt/ntt.h"

#include <string.h>

#include "base/math.h"
#include "zk/field/emit_field.h"
#include "zk/vector/kernels.h"

/* The parameters of the pass program, see ptx/ntt/pass.cu. */
enum { LOG_RADIX, THREADS, BLOCKS, SHIFT, QUOTIENTS };
enum { WORD_THREADS, WORD_BLOCKS, WORD_LENGTH };

static const char *name_of_field(const void *subject)
{
    return pool_field_name(subject);
}

static pool_status generate_field(const void *subject, char **text)
{
    return field_emit_generate(subject, "fr", text);
}

static pool_status generate_shoup(const void *subject, char **text)
{
    return field_emit_generate_shoup(subject, "fr", text);
}

static const struct module_subject ntt_subject = {.name = name_of_field,
    .sources = {{"fr.cuh", generate_field}, {"fr_shoup.cuh", generate_shoup}}};

#define PASS_DEFINES                                                                               \
    {                                                                                              \
        [LOG_RADIX] = "NTT_RADIX", [THREADS] = "NTT_THREADS", [BLOCKS] = "NTT_BLOCKS",             \
        [SHIFT] = "NTT_SHIFT", [QUOTIENTS] = "NTT_QUOTIENTS"                                       \
    }
static const struct module_program_type pass_program = {
    .file = "ntt/pass.cu", .subject = &ntt_subject, .defines = PASS_DEFINES};
static const struct module_program_type split_program = {
    .file = "ntt/split.cu", .subject = &ntt_subject, .defines = PASS_DEFINES};
static const struct module_program_type word_program = {.file = "ntt/pass_word.cu",
    .subject = &ntt_subject,
    .defines = {[WORD_THREADS] = "NTT_THREADS",
        [WORD_BLOCKS] = "NTT_BLOCKS",
        [WORD_LENGTH] = "NTT_LENGTH"}};
static const struct module_program_type tables_program = {
    .file = "ntt/tables.cu", .subject = &ntt_subject};
static const struct module_program_type extend_program = {
    .file = "ntt/extend.cu", .subject = &vector_subject};

/* Bound of ptx/ntt/butterfly_goldilocks.cuh. */
enum { MAX_SHIFT_LOG_RADIX = 5 };

/*
 * Modulo 2^64 - 2^32 + 1 the order of 2 is 192, so that roots of unity of order 2^bits are powers
 * of 2. Returns the odd k with root = 2^(k 192 / 2^bits).
 */
static uint32_t shift_of(const pool_field *field, const uint64_t *root, uint32_t bits)
{
    uint64_t power[FIELD_MAX_LIMBS], step[FIELD_MAX_LIMBS];
    const uint64_t exponent = 192u >> bits;
    uint32_t shift = 1;

    field_set_integer(field, power, 2);
    field_pow(field, power, power, &exponent, 1);
    field_sqr(field, step, power);
    for (; !field_equal(field, power, root); shift += 2)
        field_mul(field, power, power, step);
    return shift;
}

/*
 * Only the value of a shift modulo 2^bits matters. Returns the shift of the field's own root of
 * order 2^log_radix or of its inverse where that value is the same, so that small NTTs share the
 * kernels of large ones.
 */
static uint32_t shared_shift(const pool_field *field, uint32_t shift, uint32_t bits, uint32_t radix)
{
    uint32_t mask = (1u << bits) - 1;
    uint64_t root[FIELD_MAX_LIMBS] = {0};
    uint32_t usual;

    field_root_of_unity(field, root, radix);
    usual = shift_of(field, root, radix);
    if (((usual - shift) & mask) == 0)
        return usual;
    return ((usual + shift) & mask) == 0 ? (1u << radix) - usual : shift;
}

enum ntt_quotients ntt_quotients_of(
    const pool_field *field, const struct ntt_tuning *tuning, uint32_t log_size)
{
    struct ntt_table_layout layout;

    if (tuning->quotients == NTT_NO_QUOTIENTS || !field_emit_has_quotients(field))
        return NTT_NO_QUOTIENTS;
    ntt_table_layout_make(tuning, log_size, &layout);
    return layout.shared_high ? NTT_ALL_QUOTIENTS : NTT_STAGE_QUOTIENTS;
}

struct ntt_build ntt_build_of(const pool_field *field, const uint64_t *root, uint32_t log_size,
    const struct ntt_tuning *tuning)
{
    struct ntt_build build = {.log_radix = tuning->log_radix,
        .log_threads = tuning->log_threads,
        .blocks = tuning->blocks,
        .quotients = ntt_quotients_of(field, tuning, log_size)};
    uint32_t bits = (uint32_t)base_min(tuning->log_radix, log_size);
    uint64_t power[FIELD_MAX_LIMBS];

    if (field->kind != FIELD_KIND_GOLDILOCKS || tuning->log_radix > MAX_SHIFT_LOG_RADIX)
        return build;
    field_copy(field, power, root);
    for (uint32_t i = bits; i < log_size; i++)
        field_sqr(field, power, power);
    build.shift = shared_shift(field, shift_of(field, power, bits), bits, tuning->log_radix);
    return build;
}

struct ntt_build ntt_build_of_length(const struct ntt_tuning *tuning, uint32_t log_length)
{
    const uint32_t doubled = ntt_doubled(tuning, log_length);

    return (struct ntt_build){.log_threads = tuning->log_threads + doubled,
        .blocks = (uint32_t)base_max(tuning->blocks >> doubled, 1),
        .length = log_length};
}

/* Of the pass program or the split program. */
static struct module_program_key pass_key(
    const struct module_program_type *type, const pool_field *field, const struct ntt_build *build)
{
    struct module_program_key key = module_key_for(type, field->fingerprint);

    key.parameters[LOG_RADIX] = build->log_radix;
    key.parameters[THREADS] = 1u << build->log_threads;
    key.parameters[BLOCKS] = build->blocks;
    key.parameters[SHIFT] = build->shift;
    key.parameters[QUOTIENTS] = build->quotients;
    return key;
}

static struct module_program_key word_key(const pool_field *field, const struct ntt_build *build)
{
    struct module_program_key key = module_key_for(&word_program, field->fingerprint);

    key.parameters[WORD_THREADS] = 1u << build->log_threads;
    key.parameters[WORD_BLOCKS] = build->blocks;
    key.parameters[WORD_LENGTH] = build->length;
    return key;
}

static struct module_program_key tables_key(const pool_field *field)
{
    return module_key_for(&tables_program, field->fingerprint);
}

/* Forward and inverse transforms use the same program unless roots of unity are shifts. */
static pool_status visit_passes(const pool_field *field, const struct ntt_tuning *tuning,
    bool has_columns, module_program_visit visit, void *user)
{
    uint32_t radix = (uint32_t)base_min(tuning->log_radix, field->two_adicity);
    uint64_t root[FIELD_MAX_LIMBS] = {0};
    pool_status status = POOL_OK;

    field_root_of_unity(field, root, radix);
    for (int i = 0; i < 2 && !status; i++) {
        struct ntt_build build = ntt_build_of(field, root, radix, tuning);
        struct module_program_key key = pass_key(&pass_program, field, &build);

        if (i != 0 && !build.shift)
            continue;
        status = module_program_generate(field, &key, visit, user);
        key = pass_key(&split_program, field, &build);
        if (!status && has_columns)
            status = module_program_generate(field, &key, visit, user);
        field_inverse(field, root, root);
    }
    return status;
}

static pool_status visit_lengths(const pool_field *field, const struct ntt_tuning *tuning,
    module_program_visit visit, void *user)
{
    const uint32_t longest = (uint32_t)base_min(NTT_MAX_LENGTH, ntt_log_tile(tuning) - 1);
    pool_status status = POOL_OK;

    for (uint32_t length = NTT_MIN_LENGTH; !status && length <= longest; length++) {
        const struct ntt_build build = ntt_build_of_length(tuning, length);
        const struct module_program_key key = word_key(field, &build);

        status = module_program_generate(field, &key, visit, user);
    }
    return status;
}

pool_status ntt_each_program(
    const pool_field *field, const struct chip *chip, module_program_visit visit, void *user)
{
    const struct module_program_key keys[] = {
        tables_key(field), vector_key(field), module_key_for(&extend_program, field->fingerprint)};
    struct ntt_tuning tunings[NTT_TUNINGS];
    pool_status status = POOL_OK;
    uint32_t count = ntt_tunings(field->words, chip, tunings);

    for (uint32_t i = 0; i < count && !status; i++) {
        /* A tuning that saves passes is of no use for columns, which need one. */
        const bool has_columns = tunings[i].log_radix <= tunings[0].log_radix;

        status = visit_passes(field, &tunings[i], has_columns, visit, user);
        /* Domains whose table of twiddles is longer than the shared ones; columns are shorter. */
        if (!status && i == 0 && ntt_quotients_of(field, &tunings[i], 0) == NTT_ALL_QUOTIENTS) {
            tunings[i].quotients = NTT_STAGE_QUOTIENTS;
            status = visit_passes(field, &tunings[i], false, visit, user);
            tunings[i].quotients = NTT_ALL_QUOTIENTS;
        }
    }
    if (!status && ntt_tuning_of_lengths(field->words, chip, &tunings[0]))
        status = visit_lengths(field, &tunings[0], visit, user);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !status; i++)
        status = module_program_generate(field, &keys[i], visit, user);
    return status;
}

pool_status ntt_load_programs(
    pool_device *device, const pool_field *field, const struct ntt_build *builds, size_t count)
{
    struct module_program_key keys[MODULE_MAX_KEYS] = {tables_key(field), vector_key(field)};
    const bool has_several = pool_device_count(device_pool_of(device)) > 1;
    size_t key_count = 2;

    for (size_t i = 0; i < count; i++) {
        struct ntt_build columns = builds[i];
        size_t same = 0;

        while (same < i && memcmp(&builds[same], &builds[i], sizeof(builds[i])) != 0)
            same++;
        if (same < i)
            continue;
        if (builds[i].length) {
            keys[key_count++] = word_key(field, &builds[i]);
            continue;
        }
        keys[key_count++] = pass_key(&pass_program, field, &builds[i]);
        /* The domain of columns is short, so that its tables between passes are shared ones. */
        if (columns.quotients == NTT_STAGE_QUOTIENTS)
            columns.quotients = NTT_ALL_QUOTIENTS;
        if (has_several)
            keys[key_count++] = pass_key(&split_program, field, &columns);
    }
    return module_load_keys(device, field, keys, key_count);
}

pool_status ntt_tables_kernel(
    pool_device *device, const pool_field *field, const char *name, pool_kernel **kernel)
{
    const struct module_program_key key = tables_key(field);

    return module_find_kernel(device, field, &key, name, kernel);
}

pool_status ntt_pass_kernel(pool_device *device, const pool_field *field,
    const struct ntt_build *build, pool_kernel **kernel)
{
    const struct module_program_key key =
        build->length ? word_key(field, build) : pass_key(&pass_program, field, build);

    return module_find_kernel(device, field, &key, "ntt_pass", kernel);
}

pool_status ntt_split_kernel(pool_device *device, const pool_field *field,
    const struct ntt_build *build, pool_kernel **kernel)
{
    const struct module_program_key key = pass_key(&split_program, field, build);

    return module_find_kernel(device, field, &key, "ntt_split_columns", kernel);
}

pool_status ntt_extend_kernel(pool_device *device, const pool_field *field, pool_kernel **kernel)
{
    const struct module_program_key key = module_key_for(&extend_program, field->fingerprint);

    return module_find_kernel(device, field, &key, "ntt_extend", kernel);
}
