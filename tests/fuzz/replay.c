/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds a fuzz target every file of a directory, and prefixes and single-byte changes of each, so
 * that the committed corpus is replayed without a fuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_FILE (1u << 20)
#define VARIANTS 64

/* Runs the input in a block of exactly its size, so that a sanitizer sees one byte too far. */
static void feed(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);

    if (!exact)
        exit(1);
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void feed_variants(uint8_t *data, size_t size)
{
    feed(data, size);
    for (size_t i = 0; i < VARIANTS && size; i++) {
        size_t place = size * i / VARIANTS;
        uint8_t old = data[place];

        feed(data, place);
        data[place] = (uint8_t)(old ^ (1u << (i % 8)));
        feed(data, size);
        data[place] = old;
    }
}

static int replay_file(const char *path)
{
    static uint8_t data[MAX_FILE];
    FILE *file = fopen(path, "rb");
    size_t size;

    if (!file)
        return 1;
    size = fread(data, 1, sizeof(data), file);
    fclose(file);
    feed_variants(data, size);
    return 0;
}

int main(int count, char **arguments)
{
    struct dirent *entry;
    char path[4096];
    int files = 0;
    DIR *directory;

    if (count != 2 || !(directory = opendir(arguments[1]))) {
        fprintf(stderr, "usage: %s DIRECTORY\n", arguments[0]);
        return 2;
    }
    while ((entry = readdir(directory))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", arguments[1], entry->d_name);
        if (replay_file(path)) {
            fprintf(stderr, "cannot read %s\n", path);
            closedir(directory);
            return 1;
        }
        files++;
    }
    closedir(directory);
    printf("%d inputs replayed\n", files);
    return files ? 0 : 1;
}
