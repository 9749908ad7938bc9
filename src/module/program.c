/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's own kernels on a device.
 */
#include "module/program.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "module/kept.h"
#include "module/sources.h"

static const char *text_of(const char *file)
{
    for (size_t i = 0; i < module_sources_count; i++)
        if (strcmp(module_sources[i].name, file) == 0)
            return module_sources[i].text;
    return NULL;
}

static pool_status params_of(const struct module_program *program, pool_module_params *params)
{
    const char *source = text_of(program->file);

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
    pool_status status = params_of(program, &params);

    if (status)
        return status;
    request.params = &params;
    return module_key_of(&request, 0, id);
}

/* The generated texts and all of ptx/ as headers. */
static pool_status compile(
    pool_device *device, const struct module_program *program, pool_module **module)
{
    size_t count = program->text_count + module_sources_count;
    pool_module_header *headers = base_calloc(count, sizeof(*headers));
    pool_module_params params;
    pool_status status;

    if (!headers)
        return base_fail_memory("the headers of a program");
    status = params_of(program, &params);
    if (!status) {
        if (program->text_count)
            memcpy(headers, program->texts, program->text_count * sizeof(*headers));
        for (size_t i = 0; i < module_sources_count; i++)
            headers[program->text_count + i] =
                (pool_module_header){module_sources[i].name, module_sources[i].text};
        params.headers = headers;
        params.header_count = count;
        status = pool_module_compile(device, &params, module);
    }
    base_free(headers);
    return status;
}

pool_status module_program_get(pool_device *device, const struct module_program *program,
    const struct module_key *id, pool_module **module)
{
    pool_module *found = NULL;
    pool_status status = module_kept_find(device, id, &found);

    if (!status && !found) {
        status = compile(device, program, &found);
        if (!status) {
            status = module_keep(device, id, &found);
            if (status)
                pool_module_destroy(&found);
        }
    }
    if (!status)
        *module = found;
    return status;
}
