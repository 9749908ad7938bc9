/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Installed files: see installed.h.
 */
#include "base/installed.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The library may be a part of the program, of whose path its caller decides. */
static bool find_beside_library(
    const struct base_installed *file, int mode, char *path, size_t size)
{
    const char *const relative[] = {file->from_library, file->from_program};
    Dl_info info;
    const char *end;

    if (getauxval(AT_SECURE) || !dladdr((const void *)&base_installed_find, &info) ||
        !info.dli_fname || !(end = strrchr(info.dli_fname, '/')))
        return false;
    for (size_t i = 0; i < sizeof(relative) / sizeof(relative[0]); i++) {
        int length = snprintf(
            path, size, "%.*s/%s", (int)(end - info.dli_fname), info.dli_fname, relative[i]);

        if (length > 0 && (size_t)length < size && access(path, mode) == 0)
            return true;
    }
    return false;
}

bool base_installed_find(const struct base_installed *file, int mode, char *path, size_t size)
{
    if (find_beside_library(file, mode, path, size))
        return true;
    snprintf(path, size, "%s", file->absolute);
    return access(path, mode) == 0;
}
