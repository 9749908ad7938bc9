/* SPDX-License-Identifier: Apache-2.0 */
/* Name expressions behind images: see names.h. */
#include "pool/module/names.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

static const char mark[] = "//devicepool-name ";
enum { MARK = sizeof(mark) - 1 };

pool_status module_names_check(const char *call, const pool_module_params *params)
{
    for (size_t i = 0; i < params->name_count; i++) {
        const char *name = params->names ? params->names[i] : NULL;

        if (!name)
            return base_fail(
                POOL_ERR_INVALID_ARGUMENT, "%s: `names[%zu]` must not be NULL", call, i);
        if (!*name || strpbrk(name, "\r\n"))
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: `names[%zu]` is not a name expression: it is empty or has a line break", call,
                i);
    }
    return POOL_OK;
}

/* Appends a line to `text`, whose old memory is freed. NULL when out of memory. */
static char *add_line(char *text, const char *symbol, const char *expression)
{
    char *longer = base_format("%s%s%s %s\n", text, mark, symbol, expression);

    base_free(text);
    return longer;
}

static pool_status format_lines(const struct nvrtc *nvrtc, nvrtc_program program,
    const pool_module_params *params, char **lines)
{
    char *text = base_strdup("\n");

    for (size_t i = 0; i < params->name_count && text; i++) {
        const char *symbol = NULL;
        nvrtc_result result = nvrtc->api.GetLoweredName(program, params->names[i], &symbol);

        if (result) {
            base_free(text);
            return driver_nvrtc_check(nvrtc, result, "nvrtcGetLoweredName");
        }
        text = add_line(text, symbol, params->names[i]);
    }
    *lines = text;
    return text ? POOL_OK : base_fail_memory("the names of a module");
}

pool_status module_names_append(const struct nvrtc *nvrtc, nvrtc_program program,
    const pool_module_params *params, struct module_image **image)
{
    struct module_image *old = *image, *longer = NULL;
    char *lines = NULL;
    pool_status status;

    if (!params->name_count)
        return POOL_OK;
    status = format_lines(nvrtc, program, params, &lines);
    if (!status) {
        size_t length = strlen(lines);

        longer = module_image_new(old->form, old->size + length);
        if (longer) {
            memcpy(longer->bytes, old->bytes, old->size);
            memcpy(longer->bytes + old->size, lines, length);
        } else {
            status = base_fail_memory("a compiled module");
        }
    }
    base_free(lines);
    module_image_release(old);
    *image = longer;
    return status;
}

/* The first of the lines that end the image, `end` if there are none. */
static const char *find_lines(const char *image, const char *end)
{
    while (end > image && end[-1] == '\n') {
        const char *line = end - 1;

        while (line > image && line[-1] != '\n')
            line--;
        if ((size_t)(end - line) <= MARK || memcmp(line, mark, MARK) != 0)
            break;
        end = line;
    }
    return end;
}

pool_status module_names_read(const char *image, size_t size, char **names)
{
    const char *end, *at;
    char *to;

    *names = NULL;
    while (size && image[size - 1] == '\0')
        size--;
    end = image + size;
    at = find_lines(image, end);
    if (at == end)
        return POOL_OK;
    *names = to = base_calloc((size_t)(end - at) + 2, 1);
    if (!to)
        return base_fail_memory("the names of a module");
    while (at < end) {
        const char *last = memchr(at, '\n', (size_t)(end - at));
        const char *symbol = at + MARK, *space = memchr(symbol, ' ', (size_t)(last - symbol));

        if (space) { /* a line without an expression was not written by names_append */
            memcpy(to, symbol, (size_t)(space - symbol));
            to += space - symbol + 1;
            memcpy(to, space + 1, (size_t)(last - space - 1));
            to += last - space;
        }
        at = last + 1;
    }
    return POOL_OK;
}

const char *module_names_find(const char *names, const char *expression)
{
    while (names && *names) {
        const char *name = names + strlen(names) + 1;

        if (strcmp(name, expression) == 0)
            return names;
        names = name + strlen(name) + 1;
    }
    return NULL;
}
