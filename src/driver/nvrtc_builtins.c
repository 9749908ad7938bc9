/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The builtins library of an NVRTC. NVRTC opens it by its soname alone when it compiles, and has no
 * search path of its own: it would not find the file that lies beside it outside the loader's path.
 * Once that file is open under its full path, the loader gives NVRTC the same object.
 */
#include "driver/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver/internal.h"

static void write_name(const struct nvrtc *nvrtc, char *name, size_t size)
{
    snprintf(name, size, "libnvrtc-builtins.so.%d.%d", nvrtc->version / 1000,
        nvrtc->version % 1000 / 10);
}

void driver_nvrtc_builtins_place(const struct nvrtc *nvrtc, char *path, size_t size)
{
    const char *slash = strrchr(nvrtc->path, '/');
    char name[64];

    write_name(nvrtc, name, sizeof(name));
    snprintf(path, size, "%.*s%s", slash ? (int)(slash + 1 - nvrtc->path) : 0, nvrtc->path, name);
}

/* The library stays open, as NVRTC does. */
static bool open_library(struct nvrtc *nvrtc, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *reason;

    if (library) {
        driver_library_path(library, nvrtc->builtins, sizeof(nvrtc->builtins));
        return true;
    }
    reason = dlerror();
    snprintf(nvrtc->builtins_problem, sizeof(nvrtc->builtins_problem), "%s",
        reason ? reason : "no reason given");
    return false;
}

/* `opened` is the file that was opened: NVRTC or a link to it, either of which the builtins may be
 * beside. */
void driver_nvrtc_open_builtins(struct nvrtc *nvrtc, const char *opened)
{
    const char *slash = strrchr(opened, '/');
    char path[PATH_MAX], beside[PATH_MAX], name[64];

    nvrtc->builtins[0] = nvrtc->builtins_problem[0] = '\0';
    write_name(nvrtc, name, sizeof(name));
    driver_nvrtc_builtins_place(nvrtc, path, sizeof(path));
    snprintf(beside, sizeof(beside), "%.*s%s", slash ? (int)(slash + 1 - opened) : 0, opened, name);
    if (access(path, F_OK) == 0 && open_library(nvrtc, path))
        return;
    if (slash && strcmp(beside, path) != 0 && access(beside, F_OK) == 0 &&
        open_library(nvrtc, beside))
        return;
    if (nvrtc->builtins_problem[0]) /* it is there and cannot be opened: no other one fits */
        return;
    (void)open_library(nvrtc, name);
}
