/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections of a file: readers add them, callers find them by name and level.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "zk/formats/formats.h"

pool_file_section *formats_add_section(pool_file *file, const char *name, pool_file_item item,
    uint64_t offset, uint64_t count, uint64_t stride)
{
    pool_file_section *section = &file->sections[file->info.sections++];

    section->name = name;
    section->item = item;
    section->field = file->info.field;
    section->convention = file->info.convention;
    section->offset = offset;
    /* Spans have no const pointers; the mapping itself is read-only. */
    section->span.data = file->bytes ? (void *)(uintptr_t)(file->bytes + offset) : NULL;
    section->span.count = count;
    section->span.stride = stride;
    section->span.form = item == POOL_FILE_ELEMENTS ? POOL_FORM_STANDARD : POOL_FORM_MONTGOMERY;
    return section;
}

pool_file_section *formats_add_points(
    pool_file *file, const char *name, const pool_curve *curve, uint64_t offset, uint64_t count)
{
    pool_file_section *section = formats_add_section(
        file, name, POOL_FILE_POINTS, offset, count, pool_point_bytes(curve, POOL_POINT_AFFINE));

    section->curve = curve;
    section->layout = POOL_POINT_AFFINE;
    return section;
}

static const struct base_struct section_type = BASE_STRUCT(pool_file_section);

static pool_status write_section(const pool_file_section *found, pool_file_section *section)
{
    base_struct_write(&section_type, found, section);
    return POOL_OK;
}

static pool_status fail_name(const pool_file *file, const char *name)
{
    char known[256] = "";
    size_t length = 0;

    for (uint64_t i = 0; i < file->info.sections; i++)
        length += (size_t)snprintf(known + length, sizeof(known) - length, "%s%s%s", i ? ", " : "",
            file->sections[i].name, file->sections[i].levels ? "[:level]" : "");
    return base_fail(POOL_ERR_NOT_FOUND, "%s has no section \"%.64s\"; it has %s", file->path, name,
        length ? known : "none");
}

/* Parses a level of one or two digits. */
static bool parse_level(const char *string, uint32_t *level)
{
    uint32_t value = 0;
    size_t digits = strspn(string, "0123456789");

    if (!digits || digits > 2 || string[digits])
        return false;
    for (size_t i = 0; i < digits; i++)
        value = 10 * value + (uint32_t)(string[i] - '0');
    *level = value;
    return true;
}

static pool_status write_level(const pool_file *file, const pool_file_section *all,
    const char *string, pool_file_section *section)
{
    pool_file_section one = *all;
    uint64_t first;
    uint32_t level;

    if (!parse_level(string, &level) || level >= all->levels)
        return base_fail(POOL_ERR_NOT_FOUND,
            "%s: section %s has levels 0 to %u, no level \"%.64s\"", file->path, all->name,
            all->levels - 1, string);
    first = (UINT64_C(1) << level) - 1;
    one.span.data = (uint8_t *)all->span.data + first * all->span.stride;
    one.span.count = first + 1;
    one.offset += first * all->span.stride;
    one.levels = 0;
    return write_section(&one, section);
}

pool_status pool_file_get_section(
    const pool_file *file, const char *name, pool_file_section *section)
{
    size_t length;
    pool_status status =
        base_check_pointers("pool_file_get_section", {"file", file}, {"name", name});

    if (!status)
        status = base_struct_check(&section_type, "pool_file_get_section", "section", section);
    if (status)
        return status;
    length = strcspn(name, ":");
    for (uint64_t i = 0; i < file->info.sections; i++) {
        const pool_file_section *found = &file->sections[i];

        if (strlen(found->name) != length || memcmp(found->name, name, length))
            continue;
        if (!name[length])
            return write_section(found, section);
        if (found->levels)
            return write_level(file, found, name + length + 1, section);
    }
    return fail_name(file, name);
}

pool_status pool_file_section_at(const pool_file *file, uint64_t index, pool_file_section *section)
{
    pool_status status =
        file ? base_struct_check(&section_type, "pool_file_section_at", "section", section)
             : base_fail_null("pool_file_section_at", "file");

    if (status)
        return status;
    if (index >= file->info.sections)
        return base_fail(POOL_ERR_NOT_FOUND, "%s has %" PRIu64 " sections, none at %" PRIu64,
            file->path, file->info.sections, index);
    return write_section(&file->sections[index], section);
}
