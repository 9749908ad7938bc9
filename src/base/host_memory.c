/* SPDX-License-Identifier: Apache-2.0 */
#include "base/host_memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/math.h"

#define PATH_BYTES 4096

/* Opens root + path. */
static FILE *open_file(const char *root, const char *path)
{
    char whole[PATH_BYTES];

    if ((size_t)snprintf(whole, sizeof(whole), "%s%s", root, path) >= sizeof(whole))
        return NULL;
    return fopen(whole, "re");
}

/* The number behind `name` at the beginning of a line; false: there is none. */
static bool read_line_value(const char *root, const char *path, const char *name, uint64_t *value)
{
    FILE *file = open_file(root, path);
    size_t length = strlen(name);
    bool is_found = false;
    char line[256];

    while (file && !is_found && fgets(line, sizeof(line), file))
        is_found =
            strncmp(line, name, length) == 0 && sscanf(line + length, " %" SCNu64, value) == 1;
    if (file)
        fclose(file);
    return is_found;
}

/* A number alone; false also for "max". */
static bool read_value(const char *root, const char *directory, const char *name, uint64_t *value)
{
    char path[PATH_BYTES];

    return (size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) < sizeof(path) &&
           read_line_value(root, path, "", value);
}

struct cgroup_files {
    const char *limit, *usage, *cache; /* `cache`: a line of memory.stat */
};
static const struct cgroup_files version_1 = {
    "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
static const struct cgroup_files version_2 = {"memory.max", "memory.current", "inactive_file"};

/* What the limit of one group leaves; its inactive page cache is reclaimed before it is reached.
 * UINT64_MAX: it has no limit. */
static uint64_t left_in(const char *root, const char *directory, const struct cgroup_files *files)
{
    uint64_t limit, usage, cache = 0;
    char path[PATH_BYTES];

    if (!read_value(root, directory, files->limit, &limit) ||
        !read_value(root, directory, files->usage, &usage))
        return UINT64_MAX;
    if ((size_t)snprintf(path, sizeof(path), "%s/memory.stat", directory) < sizeof(path))
        (void)read_line_value(root, path, files->cache, &cache);
    usage -= base_min(cache, usage);
    return limit > usage ? limit - usage : 0;
}

/* The smallest of the group and of all above it. In a container the path of the host is not there,
 * and the group of the process is at the mount. */
static uint64_t left_below(
    const char *root, const char *mount, const char *group, const struct cgroup_files *files)
{
    uint64_t least = UINT64_MAX, left;
    char directory[PATH_BYTES];
    size_t length = strlen(mount);

    if ((size_t)snprintf(directory, sizeof(directory), "%s%s", mount, group) >= sizeof(directory))
        return least;
    for (;;) {
        char *last = strrchr(directory, '/');

        left = left_in(root, directory, files);
        least = base_min(least, left);
        if (!last || (size_t)(last - directory) < length)
            return least;
        *last = '\0';
    }
}

/* "0::/PATH" of version 2, "N:CONTROLLERS:/PATH" of version 1. */
static uint64_t left_by_line(const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path)
        return UINT64_MAX;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    controllers++;
    if (!*controllers)
        return left_below(root, "/sys/fs/cgroup", path, &version_2);
    for (char *rest = NULL, *at = strtok_r(controllers, ",", &rest); at;
         at = strtok_r(NULL, ",", &rest))
        if (!strcmp(at, "memory"))
            return left_below(root, "/sys/fs/cgroup/memory", path, &version_1);
    return UINT64_MAX;
}

uint64_t base_host_available(const char *root)
{
    char line[PATH_BYTES];
    uint64_t available = 0, left;
    FILE *file;

    if (!read_line_value(root, "/proc/meminfo", "MemAvailable:", &available))
        return 0;
    available *= 1024;
    file = open_file(root, "/proc/self/cgroup");
    while (file && fgets(line, sizeof(line), file)) {
        left = left_by_line(root, line);
        available = base_min(available, left);
    }
    if (file)
        fclose(file);
    return available;
}
