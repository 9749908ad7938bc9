/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinguishes PTX from machine code and invalid images, and reads the options of a module load.
 */
#include "driver/sim/table/image.h"

#include <ctype.h>
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define FATBIN_WRAPPER_MAGIC 0x466243b1u
#define LAST_OPTION 34u

static const char *skip_space(const char *at)
{
    for (;;) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            if (!end)
                return at + strlen(at);
            at = end + 2;
        } else {
            return at;
        }
    }
}

pool_cu_result sim_image_check(const void *image, const char **body, size_t *length)
{
    const char *text = image;
    uint32_t magic = 0;

    /* Compared byte by byte, because a short string may end before four bytes. */
    for (unsigned at = 0; at < 4 && (at == 0 || text[at - 1]); at++)
        magic |= (uint32_t)(unsigned char)text[at] << 8 * at;
    if (magic == FATBIN_WRAPPER_MAGIC || memcmp(&magic, "\177ELF", 4) == 0 ||
        strncmp(text, "!<arch>", 7) == 0)
        return POOL_CU_NO_BINARY_FOR_GPU;
    *body = skip_space(text);
    if (strncmp(*body, ".version", 8) != 0)
        return POOL_CU_INVALID_IMAGE;
    *length = strlen(text);
    return POOL_CU_SUCCESS;
}

/* ---- PTX in machine code ----------------------------------------------------------------------
 */

#define MACHINE_CUDA 190 /* EM_CUDA */
#define PTX_SECTION ".nv_debug_ptx_txt"

/* An ELF file in memory. */
struct elf {
    const unsigned char *bytes;
    uint64_t size; /* where the later of its two tables ends */
    Elf64_Ehdr header;
};

static bool has_part(const struct elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->size && bytes <= elf->size - offset;
}

static bool open_elf(const void *image, uint64_t limit, struct elf *elf)
{
    const unsigned char *bytes = image;
    uint64_t sections, segments;

    /* Byte by byte: another image may be shorter than the header. */
    for (int at = 0; at < SELFMAG; at++)
        if (bytes[at] != (unsigned char)ELFMAG[at])
            return false;
    if (limit < sizeof(elf->header))
        return false;
    memcpy(&elf->header, image, sizeof(elf->header));
    if (elf->header.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf->header.e_ident[EI_DATA] != ELFDATA2LSB || elf->header.e_machine != MACHINE_CUDA ||
        elf->header.e_shentsize != sizeof(Elf64_Shdr))
        return false;
    sections = (uint64_t)elf->header.e_shnum * elf->header.e_shentsize;
    segments = (uint64_t)elf->header.e_phnum * elf->header.e_phentsize;
    if (elf->header.e_shoff > UINT64_MAX - sections || elf->header.e_phoff > UINT64_MAX - segments)
        return false;
    sections += elf->header.e_shoff;
    segments += elf->header.e_phoff;
    elf->bytes = bytes;
    elf->size = sections > segments ? sections : segments;
    return elf->size <= limit;
}

static bool read_section(const struct elf *elf, unsigned index, Elf64_Shdr *section)
{
    const uint64_t at = elf->header.e_shoff + (uint64_t)index * sizeof(*section);

    if (index >= elf->header.e_shnum)
        return false;
    memcpy(section, elf->bytes + at, sizeof(*section));
    return has_part(elf, section->sh_offset, section->sh_size);
}

static bool find_section(const struct elf *elf, const char *name, Elf64_Shdr *section)
{
    const size_t bytes = strlen(name) + 1;
    Elf64_Shdr names;

    if (!read_section(elf, elf->header.e_shstrndx, &names))
        return false;
    for (unsigned index = 0; index < elf->header.e_shnum; index++)
        if (read_section(elf, index, section) && section->sh_name < names.sh_size &&
            bytes <= names.sh_size - section->sh_name &&
            memcmp(elf->bytes + names.sh_offset + section->sh_name, name, bytes) == 0)
            return true;
    return false;
}

char *sim_image_embedded_ptx(const void *image, uint64_t bytes)
{
    struct elf elf;
    Elf64_Shdr section;
    char *text;

    if (!open_elf(image, bytes, &elf) || !find_section(&elf, PTX_SECTION, &section) ||
        section.sh_type == SHT_NOBITS)
        return NULL;
    text = base_calloc(section.sh_size + 1, 1);
    for (uint64_t at = 0; text && at < section.sh_size; at++) {
        const char byte = (char)elf.bytes[section.sh_offset + at];

        text[at] = byte ? byte : '\n';
    }
    return text;
}

/* ---- targets --------------------------------------------------------------------------------- */

/* The letter that follows ".target sm_90", or 0. */
static char target_letter(const char *text)
{
    const char *at = skip_space(text);

    /* .target is the second or third directive and precedes every other statement. */
    while (*at && strncmp(at, ".target", 7) != 0)
        at = skip_space(at + 1 + strcspn(at + 1, " \t\n/"));
    at += strcspn(at, "_");
    while (*at == '_' || isdigit((unsigned char)*at))
        at++;
    return *at == 'a' || *at == 'f' ? *at : '\0';
}

bool sim_image_fits(const char *text, uint32_t target, uint32_t capability)
{
    switch (target_letter(text)) {
    case 'a':
        return target == capability;
    case 'f':
        return target / 10 == capability / 10 && target <= capability;
    default:
        return target <= capability;
    }
}

/* ---- options --------------------------------------------------------------------------------- */

pool_cu_result sim_jit_read(
    struct sim_jit *jit, unsigned count, const pool_cu_enum *options, void **values)
{
    memset(jit, 0, sizeof(*jit));
    if (count > 0 && (!options || !values))
        return POOL_CU_INVALID_VALUE;
    for (unsigned at = 0; at < count; at++) {
        switch (options[at]) {
        case DRIVER_JIT_INFO_LOG_BUFFER:
            jit->info = values[at];
            break;
        case DRIVER_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            jit->info_size = (unsigned)(uintptr_t)values[at];
            jit->info_used = &values[at];
            break;
        case DRIVER_JIT_ERROR_LOG_BUFFER:
            jit->error = values[at];
            break;
        case DRIVER_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->error_size = (unsigned)(uintptr_t)values[at];
            jit->error_used = &values[at];
            break;
        default:
            if (options[at] > LAST_OPTION)
                return POOL_CU_INVALID_VALUE;
        }
    }
    if (jit->info && jit->info_size)
        jit->info[0] = '\0';
    if (jit->error && jit->error_size)
        jit->error[0] = '\0';
    if (jit->info_used)
        *jit->info_used = NULL;
    if (jit->error_used)
        *jit->error_used = NULL;
    return POOL_CU_SUCCESS;
}

static void append_log(
    char *buffer, size_t size, void **used, const char *format, va_list arguments)
{
    size_t length;

    if (!buffer || size == 0)
        return;
    length = strlen(buffer);
    vsnprintf(buffer + length, size - length, format, arguments);
    if (used)
        *used = (void *)(uintptr_t)(strlen(buffer) + 1);
}

void sim_jit_error(const struct sim_jit *jit, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    append_log(jit->error, jit->error_size, jit->error_used, format, arguments);
    va_end(arguments);
}

void sim_jit_info(const struct sim_jit *jit, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    append_log(jit->info, jit->info_size, jit->info_used, format, arguments);
    va_end(arguments);
}
