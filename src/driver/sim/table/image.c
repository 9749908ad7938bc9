/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinguishes PTX from machine code and invalid images, and reads the options of a module load.
 */
#include "driver/sim/table/image.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
