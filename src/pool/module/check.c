/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of an image before it is passed to the driver. cuModuleLoadData has no size argument, so
 * it would read past the end of a truncated cubin or fatbin.
 */
#include "base/text.h"
#include "pool/module/module.h"

#include <elf.h>
#include <string.h>

#include "base/status.h"

#define FATBIN_MAGIC 0xba55ed50u

/* The outer header of a fatbin. */
struct fatbin_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t payload_bytes;
};

static int is_within(uint64_t offset, uint64_t bytes, size_t size)
{
    return offset <= size && bytes <= size - offset;
}

static int is_elf_complete(const unsigned char *image, size_t size)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;

    if (size < sizeof(header))
        return 0;
    memcpy(&header, image, sizeof(header));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return 0;
    if (header.e_shnum && header.e_shentsize != sizeof(section))
        return 0;
    if (!is_within(header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize, size) ||
        !is_within(header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize, size))
        return 0;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        memcpy(&section, image + header.e_shoff + i * sizeof(section), sizeof(section));
        if (section.sh_type != SHT_NOBITS && !is_within(section.sh_offset, section.sh_size, size))
            return 0;
    }
    return 1;
}

static int is_fatbin_complete(const unsigned char *image, size_t size)
{
    struct fatbin_header header;

    if (size < sizeof(header))
        return 0;
    memcpy(&header, image, sizeof(header));
    return header.header_bytes >= sizeof(header) &&
           is_within(header.header_bytes, header.payload_bytes, size);
}

pool_status module_image_check(const void *image, size_t size, int *is_text)
{
    const unsigned char *bytes = image;
    uint32_t magic = 0;

    *is_text = 0;
    if (size >= sizeof(magic))
        memcpy(&magic, bytes, sizeof(magic));
    if (size >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0) {
        if (is_elf_complete(bytes, size))
            return POOL_OK;
        return base_fail(POOL_ERR_BAD_IMAGE,
            "the cubin is truncated or not a 64-bit ELF file: its headers point beyond its %zu "
            "bytes",
            size);
    }
    if (magic == FATBIN_MAGIC) {
        if (is_fatbin_complete(bytes, size))
            return POOL_OK;
        return base_fail(POOL_ERR_BAD_IMAGE, "the fatbin is truncated: it has only %s",
            base_size_text(size).text);
    }
    if (size && bytes[size - 1] == '\0')
        size--;
    if (!size || memchr(bytes, '\0', size))
        return base_fail(POOL_ERR_BAD_IMAGE, "the image is neither PTX nor a cubin nor a fatbin");
    *is_text = 1;
    return POOL_OK;
}
