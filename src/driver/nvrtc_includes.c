/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The include directories of the toolkit to which an NVRTC belongs: cooperative_groups.h, mma.h,
 * cuda_fp16.h and other headers that NVRTC does not contain.
 */
#include "driver/nvrtc.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/file.h"

/* A header of every toolkit's include directory, which defines CUDART_VERSION. */
#define MARK "cuda_runtime_api.h"

static void add_directory(struct nvrtc *nvrtc, const char *directory)
{
    for (size_t i = 0; i < DRIVER_NVRTC_INCLUDES; i++) {
        size_t size = sizeof(nvrtc->includes[i]);

        if (strcmp(nvrtc->includes[i], directory) == 0)
            return;
        if (nvrtc->includes[i][0])
            continue;
        if (snprintf(nvrtc->includes[i], size, "%s", directory) >= (int)size)
            nvrtc->includes[i][0] = '\0';
        return;
    }
}

/* CUDART_VERSION of the headers in the directory, 0 if there are none. */
static int read_version(const char *directory)
{
    static const char name[] = "#define CUDART_VERSION";
    char path[PATH_MAX], text[1 << 14] = "";
    const char *at;
    ssize_t size;
    int file, version = 0;

    if (snprintf(path, sizeof(path), "%s/" MARK, directory) >= (int)sizeof(path))
        return 0;
    file = base_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    /* The definition follows a licence and long comments. */
    while (file >= 0 && !version && (size = read(file, text, sizeof(text) - 1)) > 0) {
        text[size] = '\0';
        at = strstr(text, name);
        if (at)
            version = (int)strtol(at + sizeof(name) - 1, NULL, 10);
        else if (size > (ssize_t)sizeof(name))
            lseek(file, -(off_t)sizeof(name) - 16, SEEK_CUR);
    }
    base_close(file);
    return version;
}

/* Adds the directory `below` of `root`, and its cccl directory, where CUDA 13 has the C++ core
 * libraries. */
static int try_root(struct nvrtc *nvrtc, const char *root, const char *below)
{
    char directory[PATH_MAX - 32], path[PATH_MAX];
    char *real;

    if (snprintf(path, sizeof(path), "%s/%s", root, below) >= (int)sizeof(path))
        return 0;
    real = realpath(path, NULL);
    if (!real)
        return 0;
    snprintf(directory, sizeof(directory), "%s", real);
    free(real);
    if (read_version(directory) / 1000 != nvrtc->version / 1000)
        return 0;
    add_directory(nvrtc, directory);
    snprintf(path, sizeof(path), "%s/cccl", directory);
    if (access(path, X_OK) == 0)
        add_directory(nvrtc, path);
    /* pip: nvidia/cuda_runtime/include and nvidia/cuda_cccl/include. */
    snprintf(path, sizeof(path), "%s/../../cuda_cccl/include/cuda", directory);
    if (access(path, X_OK) == 0) {
        snprintf(path, sizeof(path), "%s/../../cuda_cccl/include", directory);
        add_directory(nvrtc, path);
    }
    return 1;
}

void driver_nvrtc_find_includes(struct nvrtc *nvrtc)
{
    static const char *const beside[] = {
        "../include", "../../include", "../../../include", "../../cuda_runtime/include"};
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    char directory[sizeof(nvrtc->path)];
    char *real = realpath(nvrtc->path, NULL), *slash = real ? strrchr(real, '/') : NULL;

    memset(nvrtc->includes, 0, sizeof(nvrtc->includes));
    if (slash)
        *slash = '\0';
    snprintf(directory, sizeof(directory), "%s", slash ? real : "");
    free(real);
    for (size_t i = 0; directory[0] && i < sizeof(beside) / sizeof(beside[0]); i++)
        if (try_root(nvrtc, directory, beside[i]))
            return;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *root = base_env(variables[i]);

        if (root && root[0] == '/' && try_root(nvrtc, root, "include"))
            return;
    }
    (void)try_root(nvrtc, "/usr/local/cuda", "include");
}
