/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary files, of each kind that is recognised by its first bytes, and raw ones. An accepted
 * section, with all its levels, lies within the file or within memory of its own.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zk/formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned sum;

static void read_span(const pool_span *span)
{
    const uint8_t *bytes = span->data;

    for (uint64_t i = 0; i < span->count * span->stride; i++)
        sum += bytes[i];
}

static void read_levels(const pool_file *file, const pool_file_section *all)
{
    uint64_t items = 0;

    for (uint32_t level = 0; level < all->levels; level++) {
        pool_file_section one = {.struct_size = sizeof(one)};
        char name[64];

        snprintf(name, sizeof(name), "%s:%u", all->name, level);
        if (pool_file_get_section(file, name, &one))
            abort();
        read_span(&one.span);
        items += one.span.count;
    }
    if (all->levels && items != all->span.count)
        abort();
}

static void read_file(const uint8_t *data, size_t size, const pool_file_params *params)
{
    pool_file_section section = {.struct_size = sizeof(section)};
    pool_file *file = NULL;

    if (formats_open_bytes("input", data, size, params, &file))
        return;
    for (uint64_t i = 0; i < file->info.sections; i++) {
        pool_file_section named = {.struct_size = sizeof(named)};

        if (pool_file_section_at(file, i, &section) ||
            pool_file_get_section(file, section.name, &named) ||
            memcmp(&named, &section, sizeof(named)))
            abort();
        read_span(&section.span);
        read_levels(file, &section);
    }
    pool_file_destroy(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pool_file_params raw = {.struct_size = sizeof(raw), .kind = POOL_FILE_RAW};
    const pool_file_params trusted = {.struct_size = sizeof(trusted), .trusted = 1};

    read_file(data, size, NULL);
    read_file(data, size, &trusted);
    raw.curve = pool_curve_by_name("bn254_g1");
    read_file(data, size, &raw);
    raw.curve = NULL;
    raw.field = pool_field_by_name("babybear");
    read_file(data, size, &raw);
    return 0;
}
