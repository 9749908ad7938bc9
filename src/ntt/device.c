/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of a field on a device: which programs there are, compiled at first use, found by the
 * field's fingerprint from then on.
 */
#include "ntt/ntt.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "field/ptx.h"
#include "module/known.h"
#include "module/program.h"

static const char *const files[] = {
    [NTT_PROGRAM_PASS] = "ntt/pass.cu",
    [NTT_PROGRAM_TABLES] = "ntt/tables.cu",
    [NTT_PROGRAM_VECTOR] = "ntt/vector.cu",
};

/* Set between measurements only. */
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

struct ntt_tuning ntt_tuning_on(const pool_device *device, const pool_field *field)
{
    struct ntt_chip chip = ntt_chip_of(device);

    return chosen_tuning.radix ? chosen_tuning : ntt_tuning_for(field->words, &chip);
}

/* Only the passes depend on the tuning. */
static struct module_tag tag_of(
    const pool_field *field, enum ntt_program program, const struct ntt_tuning *tuning)
{
    struct module_tag tag = {.file = files[program]};

    memcpy(tag.fingerprint, field->fingerprint, sizeof(tag.fingerprint));
    if (program == NTT_PROGRAM_PASS) {
        tag.numbers[0] = tuning->radix;
        tag.numbers[1] = tuning->log_threads;
        tag.numbers[2] = tuning->blocks;
    }
    return tag;
}

/* Hands the program of a tag to `visit`. */
static pool_status with_program(
    const pool_field *field, const struct module_tag *tag, module_program_visit visit, void *user)
{
    char radix[32], threads[32], blocks[32];
    const char *const defines[] = {radix, threads, blocks};
    pool_module_header text = {.name = "fr.cuh"};
    struct module_program program = {.file = tag->file,
        .texts = &text,
        .text_count = 1,
        .defines = defines,
        .define_count = tag->numbers[0] ? 3 : 0};
    char *generated = NULL;
    pool_status status = field_ptx_generate(field, "fr", &generated);

    if (status)
        return status;
    text.text = generated;
    snprintf(radix, sizeof(radix), "NTT_RADIX=%u", tag->numbers[0]);
    snprintf(threads, sizeof(threads), "NTT_THREADS=%u", 1u << tag->numbers[1]);
    snprintf(blocks, sizeof(blocks), "NTT_BLOCKS=%u", tag->numbers[2]);
    status = visit(user, &program);
    base_free(generated);
    return status;
}

pool_status ntt_each_program(
    const pool_field *field, const struct ntt_chip *chip, module_program_visit visit, void *user)
{
    struct ntt_tuning tuning = ntt_tuning_for(field->words, chip);
    pool_status status = POOL_OK;

    for (int i = NTT_PROGRAM_PASS; i <= NTT_PROGRAM_VECTOR && !status; i++) {
        struct module_tag tag = tag_of(field, (enum ntt_program)i, &tuning);

        status = with_program(field, &tag, visit, user);
    }
    return status;
}

pool_status ntt_kernel(pool_device *device, const pool_field *field, enum ntt_program program,
    const char *name, pool_kernel **kernel)
{
    struct ntt_tuning tuning = ntt_tuning_on(device, field);
    struct module_tag tag = tag_of(field, program, &tuning);
    pool_module *module = NULL;
    struct module_building building = {.device = device, .module = &module};
    pool_status status = module_known_find(device, &tag, &module);
    if (!status && !module) {
        status = with_program(field, &tag, module_program_build, &building);
        if (!status)
            status = module_known_add(device, &tag, module);
    }
    return status ? status : pool_kernel_get(module, name, kernel);
}

pool_status ntt_enqueue(const struct ntt_launch *launch)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {(uint32_t)launch->blocks, 1, 1},
        .block = {launch->threads, 1, 1},
        .dynamic_shared_bytes = launch->shared_bytes,
        .argument_count = launch->count,
        .argument_bytes = launch->sizes};

    if (launch->blocks > INT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu blocks are more than one launch can have",
            (unsigned long long)launch->blocks);
    return pool_launch(launch->kernel, &shape, launch->arguments, launch->stream);
}
