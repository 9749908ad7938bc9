/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds PTX in a fat binary. The layout is that of fatbinary(1) of CUDA 11 to 13: a header, then
 * entries, each with a header of its own and a payload that is stored as it is, as an LZ4 block or
 * as a Zstandard frame (the default since CUDA 13.0).
 */
#include "driver/sim/table/fatbin.h"

#include <string.h>

#include <zstd.h>

#include "base/alloc.h"

#define FATBIN_MAGIC 0xba55ed50u
#define ENTRY_PTX 1u
#define ENTRY_MACHINE_CODE 2u
#define ENTRY_LZ4 0x2000u
#define ENTRY_ZSTANDARD 0x8000u
/* An LZ4 sequence yields at most 255 bytes per byte, so a larger size is a lie. */
#define LZ4_RATIO_MAX 255u
/* A Zstandard frame may be far smaller than what it yields. */
#define ZSTANDARD_BYTES_MAX ((uint64_t)1 << 30)

struct fatbin_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t payload_bytes;
};

struct fatbin_entry {
    uint16_t kind;
    uint16_t version;
    uint32_t header_bytes;
    uint64_t payload_bytes; /* padding included */
    uint32_t compressed_bytes;
    uint32_t options_offset;
    uint16_t minor, major;
    uint32_t capability;
    uint32_t name_offset, name_bytes;
    uint64_t flags;
    uint64_t reserved;
    uint64_t plain_bytes; /* of a compressed payload once it is decompressed */
};

_Static_assert(sizeof(struct fatbin_header) == 16 && sizeof(struct fatbin_entry) == 64,
    "the layouts have no padding");

/* What the entries are, for the log when none of them can be used. */
struct fatbin_contents {
    unsigned machine_code;
    unsigned unsuitable; /* PTX for other chips */
    uint32_t sample;     /* the capability of one of the above */
};

bool sim_fatbin_is(const void *image)
{
    const unsigned char *bytes = image;

    /* Byte by byte: a short text may end before four bytes. */
    return bytes[0] == 0x50 && bytes[1] == 0xed && bytes[2] == 0x55 && bytes[3] == 0xba;
}

/* ---- LZ4 ------------------------------------------------------------------------------------- */

/* A length of four bits, which 15 continues with bytes up to the first that is not 255. */
static bool read_length(
    const unsigned char **from, const unsigned char *end, unsigned nibble, size_t *length)
{
    unsigned char more = 255;

    *length = nibble;
    if (nibble < 15)
        return true;
    while (more == 255) {
        if (*from == end)
            return false;
        more = *(*from)++;
        *length += more;
    }
    return true;
}

bool sim_lz4_decompress(
    const unsigned char *from, size_t from_bytes, unsigned char *to, size_t to_bytes)
{
    const unsigned char *end = from + from_bytes;
    size_t written = 0;

    while (from < end) {
        const unsigned token = *from++;
        size_t length;

        if (!read_length(&from, end, token >> 4, &length) || length > (size_t)(end - from) ||
            length > to_bytes - written)
            return false;
        memcpy(to + written, from, length);
        from += length;
        written += length;
        if (from == end)
            break; /* the last sequence has literals only */
        if (end - from < 2)
            return false;
        const size_t distance = from[0] | (size_t)from[1] << 8;
        from += 2;
        if (!read_length(&from, end, token & 15, &length) || distance == 0 || distance > written ||
            length + 4 > to_bytes - written)
            return false;
        /* Byte by byte: a match may overlap what it writes. */
        for (size_t stop = written + length + 4; written < stop; written++)
            to[written] = to[written - distance];
    }
    return written == to_bytes;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Whether the sizes that an entry states can be true. */
static bool has_true_sizes(const struct fatbin_entry *entry)
{
    if (!(entry->flags & (ENTRY_LZ4 | ENTRY_ZSTANDARD)))
        return true;
    if (entry->compressed_bytes > entry->payload_bytes)
        return false;
    return entry->flags & ENTRY_LZ4 ? entry->plain_bytes / LZ4_RATIO_MAX <= entry->compressed_bytes
                                    : entry->plain_bytes <= ZSTANDARD_BYTES_MAX;
}

/* Fills `to` exactly, or returns false. */
static bool decompress(
    const struct fatbin_entry *entry, const unsigned char *payload, unsigned char *to)
{
    if (entry->flags & ENTRY_LZ4)
        return sim_lz4_decompress(payload, entry->compressed_bytes, to, entry->plain_bytes);
    if (entry->flags & ENTRY_ZSTANDARD)
        return ZSTD_decompress(to, entry->plain_bytes, payload, entry->compressed_bytes) ==
               entry->plain_bytes;
    memcpy(to, payload, entry->payload_bytes);
    return true;
}

/* The content of an entry whose payload lies within the container, and a zero byte. */
static pool_cu_result unpack(
    const struct fatbin_entry *entry, const unsigned char *payload, char **content, uint64_t *bytes)
{
    const bool is_compressed = (entry->flags & (ENTRY_LZ4 | ENTRY_ZSTANDARD)) != 0;
    char *made;

    if (!has_true_sizes(entry))
        return POOL_CU_INVALID_IMAGE;
    *bytes = is_compressed ? entry->plain_bytes : entry->payload_bytes;
    made = base_calloc(1, *bytes + 1);
    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    if (!decompress(entry, payload, (unsigned char *)made)) {
        base_free(made);
        return POOL_CU_INVALID_IMAGE;
    }
    *content = made;
    return POOL_CU_SUCCESS;
}

/* The PTX of an entry; NULL for machine code that carries none. */
static pool_cu_result read_ptx(
    const struct fatbin_entry *entry, const unsigned char *payload, char **text)
{
    uint64_t bytes = 0;
    char *content = NULL;
    pool_cu_result code = unpack(entry, payload, &content, &bytes);

    if (code || entry->kind == ENTRY_PTX) {
        *text = content;
        return code;
    }
    *text = sim_image_embedded_ptx(content, bytes);
    base_free(content);
    return POOL_CU_SUCCESS;
}

/* Takes the entry's PTX in place of *text if this device runs it and it is for a newer target. */
static pool_cu_result consider(const struct fatbin_entry *entry, const unsigned char *payload,
    uint32_t capability, struct fatbin_contents *contents, uint32_t *newest, char **text)
{
    char *found = NULL;
    pool_cu_result code;

    if (entry->kind != ENTRY_PTX) {
        contents->machine_code++;
        contents->sample = entry->capability;
        if (entry->kind != ENTRY_MACHINE_CODE)
            return POOL_CU_SUCCESS;
    }
    if (entry->capability > capability) {
        contents->unsuitable += entry->kind == ENTRY_PTX;
        contents->sample = entry->capability;
        return POOL_CU_SUCCESS;
    }
    if (*text && entry->capability <= *newest)
        return POOL_CU_SUCCESS;
    code = read_ptx(entry, payload, &found);
    if (code || !found)
        return code;
    if (!sim_image_fits(found, entry->capability, capability)) {
        contents->unsuitable++;
        contents->sample = entry->capability;
        base_free(found);
        return POOL_CU_SUCCESS;
    }
    base_free(*text);
    *text = found;
    *newest = entry->capability;
    return POOL_CU_SUCCESS;
}

static void explain_missing(
    const struct fatbin_contents *contents, uint32_t capability, const struct sim_jit *jit)
{
    if (contents->unsuitable)
        sim_jit_error(jit,
            "simulated device: this fatbin has PTX for sm_%u, which does not run on this device of "
            "cc %u.%u\n",
            contents->sample, capability / 10, capability % 10);
    else if (contents->machine_code)
        sim_jit_error(jit,
            "simulated device: this fatbin has only machine code (sm_%u) and no PTX, which is what "
            "simulated devices execute; build it with nvcc -gencode arch=compute_%u,code=compute_%u"
            "\n",
            contents->sample, capability, capability);
    else
        sim_jit_error(jit, "simulated device: this fatbin is empty\n");
}

pool_cu_result sim_fatbin_ptx(
    const void *image, uint32_t capability, const struct sim_jit *jit, char **text)
{
    const unsigned char *at = image;
    struct fatbin_contents contents = {0};
    struct fatbin_header header;
    uint32_t newest = 0;
    char *found = NULL;

    memcpy(&header, at, sizeof header);
    if (header.header_bytes < sizeof header) {
        sim_jit_error(jit, "simulated device: this fatbin is damaged\n");
        return POOL_CU_INVALID_IMAGE;
    }
    at += header.header_bytes;
    for (uint64_t left = header.payload_bytes; left > 0;) {
        struct fatbin_entry entry;
        pool_cu_result code = POOL_CU_INVALID_IMAGE;

        if (left >= sizeof entry) {
            memcpy(&entry, at, sizeof entry);
            if (entry.header_bytes >= sizeof entry && entry.header_bytes <= left &&
                entry.payload_bytes <= left - entry.header_bytes)
                code = consider(
                    &entry, at + entry.header_bytes, capability, &contents, &newest, &found);
        }
        if (code) {
            base_free(found);
            if (code == POOL_CU_INVALID_IMAGE)
                sim_jit_error(jit, "simulated device: this fatbin is damaged\n");
            return code;
        }
        at += entry.header_bytes + entry.payload_bytes;
        left -= entry.header_bytes + entry.payload_bytes;
    }
    if (!found) {
        explain_missing(&contents, capability, jit);
        return POOL_CU_NO_BINARY_FOR_GPU;
    }
    *text = found;
    return POOL_CU_SUCCESS;
}
