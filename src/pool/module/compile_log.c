/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbered source lines for compile errors.
 */
#include "pool/module/compile_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"

/* Limits that keep messages readable: locations, lines around each, characters per line. */
#define MAX_LOCATIONS 4
#define CONTEXT_LINES 1
#define MAX_COLUMNS 160

struct location {
    const char *file;
    size_t file_length;
    unsigned line;
};

/* "name(12): error" at the start of a log line. */
static int parse_location(const char *line, size_t length, struct location *location)
{
    const char *open = memchr(line, '(', length);
    char *end;

    if (!open || open == line)
        return 0;
    location->file = line;
    location->file_length = (size_t)(open - line);
    location->line = (unsigned)strtoul(open + 1, &end, 10);
    return location->line && strncmp(end, "): ", 3) == 0;
}

static const char *find_source(
    const struct location *location, const pool_module_params *params, const char *source_name)
{
    if (strlen(source_name) == location->file_length &&
        strncmp(source_name, location->file, location->file_length) == 0)
        return params->source;
    for (size_t i = 0; i < params->header_count; i++)
        if (strlen(params->headers[i].name) == location->file_length &&
            strncmp(params->headers[i].name, location->file, location->file_length) == 0)
            return params->headers[i].text;
    return NULL;
}

static void print_location(FILE *out, const struct location *location, const char *text)
{
    unsigned line = 1;

    fprintf(out, "%.*s:\n", (int)location->file_length, location->file);
    while (*text) {
        size_t length = strcspn(text, "\n");

        if (line + CONTEXT_LINES >= location->line && line <= location->line + CONTEXT_LINES)
            fprintf(out, "%s%5u | %.*s\n", line == location->line ? ">" : " ", line,
                (int)base_min(length, MAX_COLUMNS), text);
        text += length;
        text += *text == '\n';
        line++;
    }
}

char *module_listing(const char *log, const pool_module_params *params, const char *source_name)
{
    struct location seen[MAX_LOCATIONS];
    size_t count = 0;
    size_t size = 0;
    char *copy = NULL;
    char *written = NULL;
    FILE *out = open_memstream(&written, &size);

    if (!out)
        return NULL;
    while (*log && count < MAX_LOCATIONS) {
        size_t length = strcspn(log, "\n");
        struct location location;
        const char *text;
        int known = 0;

        if (parse_location(log, length, &location) &&
            (text = find_source(&location, params, source_name))) {
            for (size_t i = 0; i < count; i++)
                known |=
                    seen[i].line == location.line && seen[i].file_length == location.file_length;
            if (!known) {
                seen[count++] = location;
                print_location(out, &location, text);
            }
        }
        log += length;
        log += *log == '\n';
    }
    if (fclose(out) == 0)
        copy = base_strdup(written); /* from the library's allocator, like every returned string */
    free(written);
    return copy;
}
