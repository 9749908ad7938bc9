/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the container of iden3's binary files: magic, version, number of sections; then the type,
 * size and bytes of each section. All numbers are little-endian.
 */
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "zk/field/integer.h"
#include "zk/formats/formats.h"

enum { CONTAINER_HEADER = 12, SECTION_HEADER = 12 };

struct formats_reader formats_open_reader(
    const pool_file *file, const struct formats_container_section *section)
{
    struct formats_reader reader = {
        file, section->offset, section->offset + section->bytes, POOL_OK};

    return reader;
}

bool formats_read_bytes(struct formats_reader *reader, void *to, uint64_t bytes, const char *what)
{
    if (reader->status)
        return false;
    if (bytes > reader->end - reader->at) {
        reader->status = formats_fail_data(reader->file, reader->at,
            "%s has %" PRIu64 " byte%s, but only %" PRIu64 " remain", what, bytes,
            base_plural(bytes), reader->end - reader->at);
        return false;
    }
    if (to)
        reader->status = formats_read_at(reader->file, reader->at, to, (size_t)bytes);
    if (reader->status)
        return false;
    reader->at += bytes;
    return true;
}

static uint64_t read_number(struct formats_reader *reader, uint64_t bytes, const char *what)
{
    uint8_t bytes_read[sizeof(uint64_t)];
    uint64_t number = 0;

    if (formats_read_bytes(reader, bytes_read, bytes, what))
        field_integer_from_bytes(&number, 1, bytes_read, bytes, false);
    return number;
}

uint32_t formats_read_u32(struct formats_reader *reader, const char *what)
{
    return (uint32_t)read_number(reader, 4, what);
}

uint64_t formats_read_u64(struct formats_reader *reader, const char *what)
{
    return read_number(reader, 8, what);
}

uint32_t formats_read_prime(struct formats_reader *reader, uint64_t prime[FIELD_MAX_LIMBS])
{
    uint64_t offset = reader->at;
    uint32_t bytes = formats_read_u32(reader, "the size of the prime");
    uint8_t bytes_read[POOL_FIELD_MAX_BYTES];

    if (!reader->status && (!bytes || bytes % 8 || bytes > POOL_FIELD_MAX_BYTES))
        reader->status = formats_fail_data(reader->file, offset,
            "unsupported prime size %u; it must be a multiple of 8 up to %d", bytes,
            POOL_FIELD_MAX_BYTES);
    if (reader->status || !formats_read_bytes(reader, bytes_read, bytes, "the prime"))
        return 0;
    field_integer_from_bytes(prime, FIELD_MAX_LIMBS, bytes_read, bytes, false);
    return bytes;
}

pool_status formats_close_reader(struct formats_reader *reader)
{
    if (!reader->status && reader->at != reader->end)
        reader->status = formats_fail_data(reader->file, reader->at,
            "the header section is %" PRIu64 " byte%s longer than its header",
            reader->end - reader->at, base_plural(reader->end - reader->at));
    return reader->status;
}

/* Counts a section of a type that the format does not have. */
static void note_unknown(pool_file *file, uint32_t type, uint64_t bytes)
{
    file->info.unknown_sections++;
    base_log(POOL_LOG_INFO,
        "%s: section %u (%" PRIu64 " byte%s) is not one of the format and is not used", file->path,
        type, bytes, base_plural(bytes));
}

static pool_status read_section(pool_file *file, struct formats_reader *reader, uint32_t known,
    struct formats_container *container)
{
    uint64_t offset = reader->at;
    uint32_t type = formats_read_u32(reader, "a section's type");
    uint64_t bytes = formats_read_u64(reader, "a section's size");
    struct formats_container_section *section =
        type < FORMATS_SECTION_TYPES ? &container->sections[type] : NULL;

    if (reader->status)
        return reader->status;
    if (bytes > reader->end - reader->at && container->has_empty_end)
        return formats_fail_data(file, offset - SECTION_HEADER,
            "the section before byte %" PRIu64
            " has length 0, and what follows it is no whole section: "
            "its length is wrong, or the file is truncated",
            offset);
    if (bytes > reader->end - reader->at)
        return formats_fail_data(file, offset,
            "section %u has %" PRIu64 " byte%s, of which the file has %" PRIu64 ": it is truncated",
            type, bytes, base_plural(bytes), reader->end - reader->at);
    container->has_empty_end = !bytes;
    if (section && section->present)
        return formats_fail_data(file, offset, "section %u is duplicated", type);
    if (section)
        *section = (struct formats_container_section){reader->at, bytes, true};
    if (known && (!section || !(known >> type & 1)))
        note_unknown(file, type, bytes);
    reader->at += bytes;
    return POOL_OK;
}

pool_status formats_read_container(pool_file *file, uint32_t max_version, uint32_t required,
    uint32_t known, struct formats_container *container)
{
    const struct formats_container_section whole = {
        4, file->size - 4, true}; /* without the magic */
    struct formats_reader reader = formats_open_reader(file, &whole);
    uint32_t version = formats_read_u32(&reader, "the version");
    uint32_t sections = formats_read_u32(&reader, "the number of sections");
    pool_status status = reader.status;

    memset(container, 0, sizeof(*container));
    if (!status && (!version || version > max_version))
        return formats_fail_unsupported(
            file, "version %u of the format; the newest supported one is %u", version, max_version);
    if (!status && sections > (file->size - CONTAINER_HEADER) / SECTION_HEADER)
        return formats_fail_data(file, 8, "%u section%s do not fit into %" PRIu64 " bytes: %s",
            sections, base_plural(sections), file->size, "the file is truncated or damaged");
    for (uint32_t i = 0; i < sections && !status; i++)
        status = read_section(file, &reader, known, container);
    for (uint32_t type = 0; type < FORMATS_SECTION_TYPES && !status; type++) {
        if (required >> type & 1 && !container->sections[type].present)
            return formats_fail_data(file, reader.at, "section %u is missing", type);
    }
    if (!status)
        file->info.version = version;
    return status;
}

pool_status formats_check_section(const pool_file *file,
    const struct formats_container_section *section, uint64_t ahead, uint64_t count,
    uint64_t item_bytes, const char *what)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(count, item_bytes, &bytes) ||
        __builtin_add_overflow(bytes, ahead, &bytes) || bytes != section->bytes)
        return formats_fail_data(file, section->offset,
            "the section of %s has %" PRIu64 " byte%s; %" PRIu64 " of %" PRIu64
            " bytes each were expected",
            what, section->bytes, base_plural(section->bytes), count, item_bytes);
    return POOL_OK;
}
