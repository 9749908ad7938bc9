/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cuInit depends on and can be seen without it: the driver's files, the kernel module and its
 * devices, and the environment.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "driver/internal.h"

extern char **environ;

static void add_text(struct base_sha256 *digest, const char *text)
{
    base_sha256_add(digest, text, strlen(text) + 1);
}

static void add_file(struct base_sha256 *digest, int directory, const char *path)
{
    struct stat about;
    char text[128] = "none";

    add_text(digest, path);
    if (!fstatat(directory, path, &about, 0))
        snprintf(text, sizeof(text), "%lld %lld.%09ld %llx %o %d", (long long)about.st_size,
            (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec, (long long)about.st_rdev,
            about.st_mode, faccessat(directory, path, R_OK | W_OK, AT_EACCESS));
    add_text(digest, text);
}

/* The entries that begin with `prefix`, in the order of the directory. */
static void add_entries(struct base_sha256 *digest, const char *path, const char *prefix)
{
    DIR *stream = opendir(path);
    struct dirent *entry;

    while (stream && (entry = readdir(stream)))
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            add_file(digest, dirfd(stream), entry->d_name);
    if (stream)
        closedir(stream);
}

bool driver_host_state(const struct driver *driver, uint8_t state[BASE_SHA256_BYTES])
{
    struct base_sha256 *digest = base_sha256_begin();
    char module[64];

    if (!digest)
        return false;
    driver_kernel_module_version(module, sizeof(module));
    add_text(digest, module);
    add_file(digest, AT_FDCWD, driver->path);
    add_entries(digest, "/dev", "nvidia");
    add_entries(digest, "/proc/driver/nvidia/gpus", "");
    for (char **variable = environ; variable && *variable; variable++)
        if (strncmp(*variable, "CUDA_", 5) == 0)
            add_text(digest, *variable);
    return !base_sha256_end(digest, state);
}
