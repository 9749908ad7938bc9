/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbered source lines for compile errors.
 */
#include "module/compile_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"

/* Places shown, lines around each, and characters of a line: an error text is to be read. */
#define MAX_PLACES 4
#define AROUND 1
#define MAX_COLUMNS 160

struct place {
    const char *file;
    size_t file_length;
    unsigned line;
};

/* "name(12): error" at the start of a log line. */
static int parse_place(const char *line, size_t length, struct place *place)
{
    const char *open = memchr(line, '(', length);
    char *end;

    if (!open || open == line)
        return 0;
    place->file = line;
    place->file_length = (size_t)(open - line);
    place->line = (unsigned)strtoul(open + 1, &end, 10);
    return place->line && strncmp(end, "): ", 3) == 0;
}

static const char *text_of(
    const struct place *place, const pool_module_params *params, const char *source_name)
{
    if (strlen(source_name) == place->file_length &&
        strncmp(source_name, place->file, place->file_length) == 0)
        return params->source;
    for (size_t i = 0; i < params->header_count; i++)
        if (strlen(params->headers[i].name) == place->file_length &&
            strncmp(params->headers[i].name, place->file, place->file_length) == 0)
            return params->headers[i].text;
    return NULL;
}

static void print_place(FILE *out, const struct place *place, const char *text)
{
    unsigned line = 1;

    fprintf(out, "%.*s:\n", (int)place->file_length, place->file);
    while (*text) {
        size_t length = strcspn(text, "\n");

        if (line + AROUND >= place->line && line <= place->line + AROUND)
            fprintf(out, "%s%5u | %.*s\n", line == place->line ? ">" : " ", line,
                (int)base_min(length, MAX_COLUMNS), text);
        text += length;
        text += *text == '\n';
        line++;
    }
}

char *module_listing(const char *log, const pool_module_params *params, const char *source_name)
{
    struct place seen[MAX_PLACES];
    size_t count = 0;
    size_t size = 0;
    char *copy = NULL;
    char *made = NULL;
    FILE *out = open_memstream(&made, &size);

    if (!out)
        return NULL;
    while (*log && count < MAX_PLACES) {
        size_t length = strcspn(log, "\n");
        struct place place;
        const char *text;
        int known = 0;

        if (parse_place(log, length, &place) && (text = text_of(&place, params, source_name))) {
            for (size_t i = 0; i < count; i++)
                known |= seen[i].line == place.line && seen[i].file_length == place.file_length;
            if (!known) {
                seen[count++] = place;
                print_place(out, &place, text);
            }
        }
        log += length;
        log += *log == '\n';
    }
    if (fclose(out) == 0)
        copy = base_strdup(made); /* from our own allocator, as every text that is handed on */
    free(made);
    return copy;
}
