/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of results, one line per case: "group/name digest". */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

enum { NAME_ROOM = 160, DIGEST_TEXT = 17 };

struct line {
    char name[NAME_ROOM];
    char digest[DIGEST_TEXT];
};

static struct line *lines;
static size_t line_count;
static FILE *output, *kept;

int digests_read(const char *path)
{
    FILE *file = fopen(path, "r");
    char text[512];
    struct line line;

    if (!file)
        return 1;
    while (fgets(text, sizeof(text), file)) {
        struct line *more;

        if (text[0] == '#' || sscanf(text, "%159s %16s", line.name, line.digest) != 2)
            continue;
        more = realloc(lines, (line_count + 1) * sizeof(*lines));
        if (!more)
            abort();
        lines = more;
        lines[line_count++] = line;
    }
    fclose(file);
    return line_count == 0;
}

int digests_write_to(const char *path)
{
    output = fopen(path, "w");
    return !output;
}

int digests_keep(const char *path)
{
    kept = fopen(path, "wb");
    return !kept;
}

static void keep(const char *name, const void *bytes, size_t size)
{
    if (!kept)
        return;
    fprintf(kept, "%s %zu\n", name, size);
    fwrite(bytes, 1, size, kept);
}

int digest_check(const char *group, const char *name, const void *bytes, size_t size)
{
    char full[NAME_ROOM], text[DIGEST_TEXT];
    uint8_t digest[BASE_SHA256_BYTES];

    must(base_sha256_of(bytes, size, digest));
    snprintf(full, sizeof(full), "%s/%s", group, name);
    for (int i = 0; i < 8; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    if (output)
        fprintf(output, "%s %s\n", full, text);
    if (!lines)
        return 0;
    for (size_t i = 0; i < line_count; i++)
        if (strcmp(lines[i].name, full) == 0) {
            if (strcmp(lines[i].digest, text) == 0)
                return 0;
            keep(full, bytes, size);
            printf("%s: the results are not bit for bit those of the committed digest\n", full);
            return 1;
        }
    printf("%s: no digest is committed for it\n", full);
    return 1;
}

void digests_close(void)
{
    if (output)
        fclose(output);
    if (kept)
        fclose(kept);
    free(lines);
}
