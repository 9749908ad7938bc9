/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NTT and vector kernels of a field on a device: their programs, compiled at the first use and
 * found by the field's fingerprint afterwards.
 */
#include "ntt/ntt.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "field/emit_field.h"
#include "module/program.h"
#include "module/program_index.h"

static const char *const files[] = {
    [NTT_PROGRAM_PASS] = "ntt/pass.cu",
    [NTT_PROGRAM_TABLES] = "ntt/tables.cu",
    [NTT_PROGRAM_VECTOR] = "vector/vector.cu",
};

/* Bound of ptx/ntt/butterfly_goldilocks.cuh. */
enum { MAX_SHIFT_LOG_RADIX = 5 };

/* Replaces the plan's choice when log_radix is not 0. */
static struct ntt_tuning chosen_tuning;

void ntt_tuning_set(const struct ntt_tuning *tuning)
{
    chosen_tuning = *tuning;
}

struct ntt_chip ntt_chip_of(const pool_device *device)
{
    const pool_device_info *facts = device_facts(device);

    return (struct ntt_chip){
        .multiprocessors = facts->multiprocessors > 0 ? (uint32_t)facts->multiprocessors : 1,
        .shared_bytes = facts->shared_bytes_per_block_optin ? facts->shared_bytes_per_block_optin
                                                            : facts->shared_bytes_per_block};
}

struct ntt_tuning ntt_tuning_on(const pool_device *device, const struct ntt_job *job)
{
    struct ntt_chip chip = ntt_chip_of(device);

    return chosen_tuning.log_radix ? chosen_tuning : ntt_tuning_for(job, &chip);
}

/*
 * Modulo 2^64 - 2^32 + 1 the order of 2 is 192, so that roots of unity of order 2^bits are powers
 * of
 * 2. Returns the odd k with root = 2^(k 192 / 2^bits).
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

struct ntt_build ntt_build_of(const pool_field *field, const uint64_t *root, uint32_t log_size,
    const struct ntt_tuning *tuning)
{
    struct ntt_build build = {.log_radix = tuning->log_radix,
        .log_threads = tuning->log_threads,
        .blocks = tuning->blocks};
    uint32_t bits = tuning->log_radix < log_size ? tuning->log_radix : log_size;
    uint64_t power[FIELD_MAX_LIMBS];

    if (field->kind != FIELD_KIND_GOLDILOCKS || tuning->log_radix > MAX_SHIFT_LOG_RADIX)
        return build;
    field_copy(field, power, root);
    for (uint32_t i = bits; i < log_size; i++)
        field_sqr(field, power, power);
    build.shift = shared_shift(field, shift_of(field, power, bits), bits, tuning->log_radix);
    return build;
}

static struct module_tag tag_of(const pool_field *field, enum ntt_program program)
{
    struct module_tag tag = {.file = files[program]};

    memcpy(tag.fingerprint, field->fingerprint, sizeof(tag.fingerprint));
    return tag;
}

static struct module_tag tag_of_pass(const pool_field *field, const struct ntt_build *build)
{
    struct module_tag tag = tag_of(field, NTT_PROGRAM_PASS);

    tag.numbers[0] = build->log_radix;
    tag.numbers[1] = build->log_threads;
    tag.numbers[2] = build->blocks;
    tag.numbers[3] = build->shift;
    return tag;
}

/* Hands the program of a tag to `visit`. */
static pool_status with_program(
    const pool_field *field, const struct module_tag *tag, module_program_visit visit, void *user)
{
    char radix[32], threads[32], blocks[32], shift[32], variant[64];
    const char *const defines[] = {radix, threads, blocks, shift};
    pool_module_header text = {.name = "fr.cuh"};
    struct module_program program = {.file = tag->file,
        .texts = &text,
        .text_count = 1,
        .defines = defines,
        .define_count = tag->numbers[0] ? 4 : 0};
    char *generated = NULL;
    pool_status status = field_emit_generate(field, "fr", &generated);

    if (status)
        return status;
    text.text = generated;
    snprintf(radix, sizeof(radix), "NTT_RADIX=%u", tag->numbers[0]);
    snprintf(threads, sizeof(threads), "NTT_THREADS=%u", 1u << tag->numbers[1]);
    snprintf(blocks, sizeof(blocks), "NTT_BLOCKS=%u", tag->numbers[2]);
    snprintf(shift, sizeof(shift), "NTT_SHIFT=%u", tag->numbers[3]);
    snprintf(variant, sizeof(variant), "radix%u", tag->numbers[0]);
    if (tag->numbers[3])
        snprintf(variant, sizeof(variant), "radix%u-shift%u", tag->numbers[0], tag->numbers[3]);
    program.variant = tag->numbers[0] ? variant : NULL;
    status = visit(user, &program);
    base_free(generated);
    return status;
}

/* Forward and inverse differ where roots are shifts only. */
static pool_status each_pass(const pool_field *field, const struct ntt_tuning *tuning,
    module_program_visit visit, void *user)
{
    uint32_t radix =
        tuning->log_radix < field->two_adicity ? tuning->log_radix : field->two_adicity;
    uint64_t root[FIELD_MAX_LIMBS] = {0};
    pool_status status = POOL_OK;

    field_root_of_unity(field, root, radix);
    for (int i = 0; i < 2 && !status; i++) {
        struct ntt_build build = ntt_build_of(field, root, radix, tuning);
        struct module_tag tag = tag_of_pass(field, &build);

        if (i == 0 || build.shift)
            status = with_program(field, &tag, visit, user);
        field_inverse(field, root, root);
    }
    return status;
}

pool_status ntt_each_program(
    const pool_field *field, const struct ntt_chip *chip, module_program_visit visit, void *user)
{
    const struct module_tag tables = tag_of(field, NTT_PROGRAM_TABLES);
    const struct module_tag vector = tag_of(field, NTT_PROGRAM_VECTOR);
    struct ntt_tuning tunings[NTT_TUNINGS];
    pool_status status = POOL_OK;
    uint32_t count = ntt_tunings(field->words, chip, tunings);

    for (uint32_t i = 0; i < count && !status; i++)
        status = each_pass(field, &tunings[i], visit, user);
    if (!status)
        status = with_program(field, &tables, visit, user);
    return status ? status : with_program(field, &vector, visit, user);
}

static pool_status find_module(pool_device *device, const pool_field *field,
    const struct module_tag *tag, bool only_ready, pool_module **module)
{
    struct module_building building = {
        .device = device, .module = module, .only_ready = only_ready};
    pool_status status = module_known_find(device, tag, module);

    if (!status && !*module) {
        status = with_program(field, tag, module_program_build, &building);
        if (!status && *module)
            status = module_known_add(device, tag, *module);
    }
    return status;
}

static pool_status get(pool_device *device, const pool_field *field, const struct module_tag *tag,
    const char *name, pool_kernel **kernel)
{
    pool_module *module = NULL;
    pool_status status = find_module(device, field, tag, false, &module);

    return status ? status : pool_kernel_get(module, name, kernel);
}

/* The programs of some passes, of tables and of vectors. */
struct wanted {
    pool_device *device;
    const pool_field *field;
    struct module_tag tags[MODULE_LOADING_MAX];
};

static pool_status load_program(void *user, size_t index, bool only_ready, bool *is_there)
{
    const struct wanted *wanted = user;
    pool_module *module = NULL;
    pool_status status =
        find_module(wanted->device, wanted->field, &wanted->tags[index], only_ready, &module);

    *is_there = module != NULL;
    return status;
}

pool_status ntt_load_programs(
    pool_device *device, const pool_field *field, const struct ntt_build *builds, size_t count)
{
    struct wanted wanted = {.device = device,
        .field = field,
        .tags = {tag_of(field, NTT_PROGRAM_TABLES), tag_of(field, NTT_PROGRAM_VECTOR)}};
    struct module_loading loading = {.count = 2, .load = load_program, .user = &wanted};

    for (size_t i = 0; i < count; i++) {
        size_t same = 0;

        while (same < i && memcmp(&builds[same], &builds[i], sizeof(builds[i])) != 0)
            same++;
        if (same == i)
            wanted.tags[loading.count++] = tag_of_pass(field, &builds[i]);
    }
    return module_load_programs(&loading);
}

pool_status ntt_kernel(pool_device *device, const pool_field *field, enum ntt_program program,
    const char *name, pool_kernel **kernel)
{
    const struct module_tag tag = tag_of(field, program);

    return get(device, field, &tag, name, kernel);
}

pool_status ntt_pass_kernel(pool_device *device, const pool_field *field,
    const struct ntt_build *build, pool_kernel **kernel)
{
    const struct module_tag tag = tag_of_pass(field, build);

    return get(device, field, &tag, "ntt_pass", kernel);
}

pool_status ntt_enqueue(const struct ntt_launch *launch)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {(uint32_t)launch->blocks, 1, 1},
        .block = {launch->threads, 1, 1},
        .dynamic_shared_bytes = launch->shared_bytes,
        .argument_count = launch->count,
        .argument_bytes = launch->sizes,
        .pdl = launch->pdl};

    if (launch->blocks > INT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu blocks are more than one launch can have",
            (unsigned long long)launch->blocks);
    return pool_launch(launch->kernel, &shape, launch->arguments, launch->stream);
}
