/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file: opening, mapping, and reads that do not go through the mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "zk/formats/formats.h"

/* O_NONBLOCK: opening a pipe must not wait for a writer. */
pool_status formats_open_regular(const char *path, int *descriptor, uint64_t *size)
{
    pool_status status = POOL_OK;
    struct stat properties;

    *descriptor = base_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (*descriptor < 0)
        return formats_fail_system(path, "opened");
    if (base_fstat(*descriptor, &properties))
        status = formats_fail_system(path, "examined");
    else if (!S_ISREG(properties.st_mode))
        status = formats_fail_name(POOL_ERR_BAD_DATA, path, "is not a regular file");
    else if (properties.st_size <= 0)
        status = formats_fail_name(POOL_ERR_BAD_DATA, path, "is empty");
    else
        *size = (uint64_t)properties.st_size;
    return status;
}

/* No-op for bytes in memory. */
pool_status formats_map(pool_file *file)
{
    if (file->descriptor < 0)
        return POOL_OK;
    file->mapping = base_map(file->descriptor, (size_t)file->size);
    file->bytes = file->mapping;
    return file->mapping ? POOL_OK : formats_fail_system(file->path, "mapped");
}

pool_status formats_read_at(const pool_file *file, uint64_t offset, void *to, size_t bytes)
{
    if (file->descriptor < 0) {
        memcpy(to, file->bytes + offset, bytes);
        return POOL_OK;
    }
    if (!base_read_at(file->descriptor, to, bytes, offset))
        return POOL_OK;
    if (errno)
        return formats_fail_system(file->path, "read");
    return formats_fail_data(file, offset,
        "the file had %" PRIu64 " byte%s and was truncated while it was opened", file->size,
        base_plural(file->size));
}
