/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container of iden3's binary files: magic, version, number of sections; then each section's
 * type, size and bytes. All numbers are little-endian.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "field/integer.h"
#include "formats/formats.h"

enum { CONTAINER_HEADER = 12, SECTION_HEADER = 12 };

struct formats_reader formats_reader_of(const pool_file *file, const struct formats_chunk *chunk)
{
    struct formats_reader reader = {file, chunk->offset, chunk->offset + chunk->bytes, POOL_OK};

    return reader;
}

bool formats_take(struct formats_reader *reader, void *to, uint64_t bytes, const char *what)
{
    if (reader->status)
        return false;
    if (bytes > reader->end - reader->at) {
        reader->status = formats_wrong(reader->file, reader->at,
            "%s has %" PRIu64 " byte%s, but only %" PRIu64 " are left", what, bytes,
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

static uint64_t take_number(struct formats_reader *reader, uint64_t bytes, const char *what)
{
    uint8_t taken[sizeof(uint64_t)];
    uint64_t number = 0;

    if (formats_take(reader, taken, bytes, what))
        field_integer_from_bytes(&number, 1, taken, bytes, false);
    return number;
}

uint32_t formats_take32(struct formats_reader *reader, const char *what)
{
    return (uint32_t)take_number(reader, 4, what);
}

uint64_t formats_take64(struct formats_reader *reader, const char *what)
{
    return take_number(reader, 8, what);
}

uint32_t formats_take_prime(struct formats_reader *reader, uint64_t prime[FIELD_MAX_LIMBS])
{
    uint64_t place = reader->at;
    uint32_t bytes = formats_take32(reader, "the size of the prime");
    uint8_t taken[POOL_FIELD_MAX_BYTES];

    if (!reader->status && (!bytes || bytes % 8 || bytes > POOL_FIELD_MAX_BYTES))
        reader->status = formats_wrong(reader->file, place,
            "the prime's size is %u, a multiple of 8 up to %d is expected", bytes,
            POOL_FIELD_MAX_BYTES);
    if (reader->status || !formats_take(reader, taken, bytes, "the prime"))
        return 0;
    field_integer_from_bytes(prime, FIELD_MAX_LIMBS, taken, bytes, false);
    return bytes;
}

pool_status formats_reader_end(struct formats_reader *reader)
{
    if (!reader->status && reader->at != reader->end)
        reader->status = formats_wrong(reader->file, reader->at,
            "the header section is %" PRIu64 " byte%s longer than its header",
            reader->end - reader->at, base_plural(reader->end - reader->at));
    return reader->status;
}

static pool_status read_section(
    const pool_file *file, struct formats_reader *reader, struct formats_container *container)
{
    uint64_t place = reader->at;
    uint32_t type = formats_take32(reader, "a section's type");
    uint64_t bytes = formats_take64(reader, "a section's size");
    struct formats_chunk *chunk = type < FORMATS_TYPES ? &container->chunks[type] : NULL;

    if (reader->status)
        return reader->status;
    if (bytes > reader->end - reader->at)
        return formats_wrong(file, place,
            "section %u says %" PRIu64 " byte%s, the file has %" PRIu64 " more: it is cut short",
            type, bytes, base_plural(bytes), reader->end - reader->at);
    if (chunk && chunk->present)
        return formats_wrong(file, place, "section %u comes a second time", type);
    if (chunk)
        *chunk = (struct formats_chunk){reader->at, bytes, true};
    reader->at += bytes;
    return POOL_OK;
}

pool_status formats_read_container(
    pool_file *file, uint32_t max_version, uint32_t required, struct formats_container *container)
{
    const struct formats_chunk whole = {4, file->size - 4, true}; /* behind the magic */
    struct formats_reader reader = formats_reader_of(file, &whole);
    uint32_t version = formats_take32(&reader, "the version");
    uint32_t sections = formats_take32(&reader, "the number of sections");
    pool_status status = reader.status;

    memset(container, 0, sizeof(*container));
    if (!status && (!version || version > max_version))
        return formats_unsupported(
            file, "version %u of the format; up to %u is read", version, max_version);
    if (!status && sections > (file->size - CONTAINER_HEADER) / SECTION_HEADER)
        return formats_wrong(file, 8, "%u section%s do not fit into %" PRIu64 " bytes: %s",
            sections, base_plural(sections), file->size, "it is cut short or damaged");
    for (uint32_t i = 0; i < sections && !status; i++)
        status = read_section(file, &reader, container);
    for (uint32_t type = 0; type < FORMATS_TYPES && !status; type++) {
        if (required >> type & 1 && !container->chunks[type].present)
            return formats_wrong(file, reader.at, "section %u is missing", type);
    }
    if (!status)
        file->info.version = version;
    return status;
}

pool_status formats_check_chunk(const pool_file *file, const struct formats_chunk *chunk,
    uint64_t ahead, uint64_t count, uint64_t item_bytes, const char *what)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(count, item_bytes, &bytes) ||
        __builtin_add_overflow(bytes, ahead, &bytes) || bytes != chunk->bytes)
        return formats_wrong(file, chunk->offset,
            "the section of %s has %" PRIu64 " byte%s; %" PRIu64 " of %" PRIu64
            " bytes each were expected",
            what, chunk->bytes, base_plural(chunk->bytes), count, item_bytes);
    return POOL_OK;
}
