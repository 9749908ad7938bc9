/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures of readers: messages name the file and the offset of the fault.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "zk/formats/formats.h"

pool_status formats_fail_data(const pool_file *file, uint64_t offset, const char *format, ...)
{
    char reason[512];
    va_list values;

    va_start(values, format);
    vsnprintf(reason, sizeof(reason), format, values);
    va_end(values);
    return base_fail(POOL_ERR_BAD_DATA, "%s, byte %" PRIu64 ": %s", file->path, offset, reason);
}

pool_status formats_fail_unsupported(const pool_file *file, const char *format, ...)
{
    char reason[512];
    va_list values;

    va_start(values, format);
    vsnprintf(reason, sizeof(reason), format, values);
    va_end(values);
    return base_fail(POOL_ERR_UNSUPPORTED, "%s is not supported: %s", file->path, reason);
}

pool_status formats_fail_name(pool_status status, const char *path, const char *format, ...)
{
    char name[PATH_MAX], reason[512];
    va_list values;

    va_start(values, format);
    vsnprintf(reason, sizeof(reason), format, values);
    va_end(values);
    base_text_copy(name, sizeof(name), path);
    base_text_make_printable(name, "");
    return base_fail(status, "%s %s", name, reason);
}

pool_status formats_fail_system(const char *path, const char *what)
{
    int code = errno;

    return formats_fail_name(code == ENOENT || code == ENOTDIR ? POOL_ERR_NOT_FOUND : POOL_ERR_IO,
        path, "cannot be %s: %s", what, strerror(code));
}
