/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's programs on a device: see program.h.
 */
#include "pool/module/program.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/parallel.h"
#include "base/status.h"
#include "pool/module/module.h"
#include "pool/module/sources.h"
#include "pool/tuning/chip.h"

static const char *find_source(const char *file)
{
    for (size_t i = 0; i < module_sources_count; i++)
        if (strcmp(module_sources[i].name, file) == 0)
            return module_sources[i].text;
    return NULL;
}

static pool_status fill_params(const struct module_program *program, pool_module_params *params)
{
    const char *source = find_source(program->file);

    if (!source)
        return base_fail(POOL_ERR_INTERNAL, "there is no device source \"%s\"", program->file);
    *params = (pool_module_params){
        .struct_size = sizeof(*params),
        .source = source,
        .name = program->file,
        .headers = program->texts,
        .header_count = program->text_count,
        .defines = program->defines,
        .define_count = program->define_count,
    };
    return POOL_OK;
}

/* The headers of a program while they are collected. */
struct headers {
    pool_module_header *list; /* has slots for the generated sources and all of ptx/ */
    size_t count;
};

static int has_header(const struct headers *headers, const struct module_source *source)
{
    for (size_t i = 0; i < headers->count; i++)
        if (headers->list[i].text == source->text)
            return 1;
    return 0;
}

/* Adds the files of ptx/ that a source includes, and the files that these include. */
static void add_included(struct headers *headers, const char *text)
{
    static const char include[] = "#include \"";

    while ((text = strstr(text, include))) {
        text += sizeof(include) - 1;
        for (size_t i = 0; i < module_sources_count; i++) {
            const struct module_source *source = &module_sources[i];
            size_t length = strlen(source->name);

            if (strncmp(text, source->name, length) != 0 || text[length] != '"' ||
                has_header(headers, source))
                continue;
            headers->list[headers->count++] = (pool_module_header){source->name, source->text};
            add_included(headers, source->text);
        }
    }
}

pool_status module_program_params(const struct module_program *program, pool_module_params *params)
{
    struct headers headers = {.count = program->text_count};
    pool_status status = fill_params(program, params);

    if (status)
        return status;
    headers.list = base_calloc(headers.count + module_sources_count, sizeof(*headers.list));
    if (!headers.list)
        return base_fail_memory("the headers of a program");
    if (program->text_count)
        memcpy(headers.list, program->texts, program->text_count * sizeof(*headers.list));
    add_included(&headers, params->source);
    for (size_t i = 0; i < program->text_count; i++)
        add_included(&headers, program->texts[i].text);
    params->headers = headers.list;
    params->header_count = headers.count;
    return POOL_OK;
}

static pool_status compile_program(pool_device *device, const struct module_program *program,
    bool only_ready, pool_module **module)
{
    pool_module_params params;
    const struct module_request request = {.params = &params, .only_ready = only_ready};
    pool_status status = module_program_params(program, &params);

    if (status)
        return status;
    status = module_compile(device, &request, program->subject, module);
    base_free((void *)(uintptr_t)params.headers);
    if (status == POOL_ERR_NO_COMPILER && program->subject) {
        char reason[512];

        snprintf(reason, sizeof(reason), "%s", pool_last_error()->message);
        return base_fail(POOL_ERR_NO_COMPILER, "the kernels of %s: %s", program->subject, reason);
    }
    return status;
}

/* ---- generation ------------------------------------------------------------------------------ */

struct module_program_key module_key_for(
    const struct module_program_type *type, const uint8_t *fingerprint)
{
    struct module_program_key key = {.type = type};

    if (type->subject)
        memcpy(key.fingerprint, fingerprint, sizeof(key.fingerprint));
    return key;
}

pool_status module_program_generate(const void *subject, const struct module_program_key *key,
    module_program_visit visit, void *user)
{
    const struct module_program_type *type = key->type;
    char define_texts[MODULE_KEY_PARAMETERS][64], *texts[MODULE_MAX_SOURCES] = {NULL};
    const char *defines[MODULE_KEY_PARAMETERS];
    pool_module_header headers[MODULE_MAX_SOURCES];
    struct module_program program = {.file = type->file, .texts = headers, .defines = defines};
    pool_status status = POOL_OK;

    for (size_t i = 0; i < MODULE_KEY_PARAMETERS && type->defines[i]; i++) {
        snprintf(define_texts[i], sizeof(define_texts[i]), "%s=%u", type->defines[i],
            key->parameters[i]);
        defines[program.define_count++] = define_texts[i];
    }
    if (type->subject)
        program.subject = type->subject->name(subject);
    for (size_t i = 0; type->subject && i < MODULE_MAX_SOURCES && !status; i++)
        if (type->subject->sources[i].name) {
            status = type->subject->sources[i].generate(subject, &texts[i]);
            headers[program.text_count++] =
                (pool_module_header){type->subject->sources[i].name, texts[i]};
        }
    if (!status)
        status = visit(user, &program);
    for (size_t i = 0; i < MODULE_MAX_SOURCES; i++)
        base_free(texts[i]);
    return status;
}

/* ---- look-ups by key ------------------------------------------------------------------------- */

struct build {
    pool_device *device;
    pool_module **module; /* not set when only_ready and the program would be compiled */
    bool only_ready;
};

/* A module_program_visit: finds the program by the digest of its sources, else compiles it. */
static pool_status find_or_compile(void *user, const struct module_program *program)
{
    const struct build *build = user;
    struct module_request request = {.name = program->file};
    pool_module_params params;
    struct module_key digest;
    pool_module *found = NULL;
    pool_status status = fill_params(program, &params);

    request.params = &params;
    if (!status)
        status = module_text_key_of(&request, &digest);
    if (!status)
        status = module_registry_find_digest(build->device, &digest, &found);
    if (!status && !found) {
        status = compile_program(build->device, program, build->only_ready, &found);
        if (!status && found) {
            status = module_registry_add(build->device, &digest, &found);
            if (status)
                pool_module_destroy(&found);
        }
    }
    if (!status && found)
        *build->module = found;
    return status;
}

static pool_status find_or_generate(pool_device *device, const void *subject,
    const struct module_program_key *key, bool only_ready, pool_module **module)
{
    struct build build = {.device = device, .module = module, .only_ready = only_ready};
    pool_status status = module_registry_find(device, key, module);

    if (!status && !*module) {
        status = module_program_generate(subject, key, find_or_compile, &build);
        if (!status && *module)
            status = module_registry_alias(device, key, *module);
    }
    return status;
}

pool_status module_find_or_load(pool_device *device, const void *subject,
    const struct module_program_key *key, pool_module **module)
{
    *module = NULL;
    return find_or_generate(device, subject, key, false, module);
}

pool_status module_find_kernel(pool_device *device, const void *subject,
    const struct module_program_key *key, const char *name, pool_kernel **kernel)
{
    pool_module *module;
    pool_status status = module_find_or_load(device, subject, key, &module);

    return status ? status : pool_kernel_get(module, name, kernel);
}

/* The programs that have to be compiled. */
struct missing_programs {
    pool_device *device;
    const void *subject;
    const struct module_program_key *keys[MODULE_MAX_KEYS];
};

static pool_status load_missing(void *user, size_t index)
{
    const struct missing_programs *missing = user;
    pool_module *module;

    return module_find_or_load(missing->device, missing->subject, missing->keys[index], &module);
}

pool_status module_load_keys(
    pool_device *device, const void *subject, const struct module_program_key *keys, size_t count)
{
    struct missing_programs missing = {.device = device, .subject = subject};
    struct base_parallel job = {.task = load_missing, .user = &missing};

    for (size_t i = 0; i < count; i++) {
        pool_module *module = NULL;
        pool_status status = find_or_generate(device, subject, &keys[i], true, &module);

        if (status)
            return status;
        if (!module)
            missing.keys[job.count++] = &keys[i];
    }
    return base_parallel_run(device_threads(device), &job);
}

/* ---- launches -------------------------------------------------------------------------------- */

pool_status module_launch_enqueue(const struct module_launch *launch)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {(uint32_t)launch->blocks, 1, 1},
        .block = {launch->threads, 1, 1},
        .dynamic_shared_bytes = launch->shared_bytes,
        .argument_count = launch->count,
        .argument_bytes = launch->sizes,
        .pdl = launch->pdl};

    if (launch->blocks > INT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the operation needs %llu blocks in one launch; the maximum is 2^31-1",
            (unsigned long long)launch->blocks);
    return pool_launch(launch->kernel, &shape, launch->arguments, launch->stream);
}

pool_status module_launch_slice(
    const struct module_launch *launch, uint64_t slice_ns, uint64_t *blocks)
{
    const pool_device *device = launch->kernel->module->device;
    const double slice = (double)device_slice_ns(device, slice_ns) * 1e-9;
    uint32_t resident = 0;
    uint64_t wave, waves, most;
    pool_status status;

    *blocks = launch->blocks;
    if (launch->blocks > UINT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the operation needs %llu blocks; the maximum is 2^32-1",
            (unsigned long long)launch->blocks);
    if (!launch->first_block || !(launch->seconds > slice))
        return POOL_OK;
    status =
        pool_kernel_get_occupancy(launch->kernel, launch->threads, launch->shared_bytes, &resident);
    if (status)
        return status;
    wave = base_max(resident, 1) * (uint64_t)chip_of(device).multiprocessors;
    waves = base_ceil_div(launch->blocks, wave);
    most = base_max((uint64_t)((double)waves * slice / launch->seconds), 1);
    *blocks = base_min(launch->blocks, base_ceil_div(waves, base_ceil_div(waves, most)) * wave);
    return POOL_OK;
}
