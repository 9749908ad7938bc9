/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's own programs on a device: see program.h.
 */
#include "module/program.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/status.h"
#include "module/sources.h"

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
        .options = program->options,
        .option_count = program->option_count,
    };
    return POOL_OK;
}

pool_status module_program_identify(const struct module_program *program, struct module_key *id)
{
    struct module_request request = {.name = program->file};
    pool_module_params params;
    pool_status status = fill_params(program, &params);

    if (status)
        return status;
    request.params = &params;
    return module_text_key_of(&request, id);
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
    pool_status status = module_program_params(program, &params);

    if (status)
        return status;
    status = module_compile(device, &params, only_ready, module);
    base_free((void *)(uintptr_t)params.headers);
    if (status == POOL_ERR_NO_COMPILER && program->subject) {
        char reason[512];

        snprintf(reason, sizeof(reason), "%s", pool_last_error()->message);
        return base_fail(POOL_ERR_NO_COMPILER, "the kernels of %s: %s", program->subject, reason);
    }
    return status;
}

static pool_status find_or_compile(pool_device *device, const struct module_program *program,
    const struct module_key *id, bool only_ready, pool_module **module)
{
    pool_module *found = NULL;
    pool_status status = module_registry_find_digest(device, id, &found);

    if (!status && !found) {
        status = compile_program(device, program, only_ready, &found);
        if (!status && found) {
            status = module_registry_add(device, id, &found);
            if (status)
                pool_module_destroy(&found);
        }
    }
    if (!status && found)
        *module = found;
    return status;
}

pool_status module_program_get(pool_device *device, const struct module_program *program,
    const struct module_key *id, pool_module **module)
{
    return find_or_compile(device, program, id, false, module);
}

pool_status module_program_build(void *building, const struct module_program *program)
{
    const struct module_building *wanted = building;
    struct module_key id;
    pool_status status = module_program_identify(program, &id);

    return status
               ? status
               : find_or_compile(wanted->device, program, &id, wanted->only_ready, wanted->module);
}

/* ---- several programs in parallel -------------------------------------------------------------
 */

/* The programs that have to be compiled. */
struct missing_programs {
    const struct module_loading *loading;
    size_t indices[MODULE_LOADING_MAX];
};

static pool_status load_missing(void *user, size_t index)
{
    const struct missing_programs *missing = user;
    bool is_there = false;

    return missing->loading->load(
        missing->loading->user, missing->indices[index], false, &is_there);
}

pool_status module_load_programs(const struct module_loading *loading)
{
    struct missing_programs missing = {.loading = loading};
    struct base_parallel job = {.task = load_missing, .user = &missing};

    for (size_t i = 0; i < loading->count; i++) {
        bool is_there = false;
        pool_status status = loading->load(loading->user, i, true, &is_there);

        if (status)
            return status;
        if (!is_there)
            missing.indices[job.count++] = i;
    }
    return base_parallel_run(&job);
}

/* ---- programs by key ------------------------------------------------------------------------- */

static pool_status find_or_generate(pool_device *device, const struct module_generator *generator,
    const struct module_program_key *key, bool only_ready, pool_module **module)
{
    struct module_building building = {
        .device = device, .module = module, .only_ready = only_ready};
    pool_status status = module_registry_find(device, key, module);

    if (!status && !*module) {
        status = generator->generate(generator->subject, key, module_program_build, &building);
        if (!status && *module)
            status = module_registry_alias(device, key, *module);
    }
    return status;
}

pool_status module_find_or_load(pool_device *device, const struct module_generator *generator,
    const struct module_program_key *key, pool_module **module)
{
    *module = NULL;
    return find_or_generate(device, generator, key, false, module);
}

struct key_list {
    pool_device *device;
    const struct module_generator *generator;
    const struct module_program_key *keys;
};

static pool_status load_key(void *user, size_t index, bool only_ready, bool *is_there)
{
    const struct key_list *list = user;
    pool_module *module = NULL;
    pool_status status =
        find_or_generate(list->device, list->generator, &list->keys[index], only_ready, &module);

    *is_there = module != NULL;
    return status;
}

pool_status module_load_keys(pool_device *device, const struct module_generator *generator,
    const struct module_program_key *keys, size_t count)
{
    struct key_list list = {device, generator, keys};
    const struct module_loading loading = {.count = count, .load = load_key, .user = &list};

    return module_load_programs(&loading);
}

pool_status module_find_kernel(pool_device *device, const struct module_generator *generator,
    const struct module_program_key *key, const char *name, pool_kernel **kernel)
{
    pool_module *module = NULL;
    pool_status status = module_find_or_load(device, generator, key, &module);

    return status ? status : pool_kernel_get(module, name, kernel);
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
            "the operation needs %llu blocks in one launch, at most 2^31-1 are possible",
            (unsigned long long)launch->blocks);
    return pool_launch(launch->kernel, &shape, launch->arguments, launch->stream);
}
