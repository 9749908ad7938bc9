/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The location of the disk cache and its safety: it is disabled in setuid programs, for directories
 * that another user owns or can write, and if the last component of the path is a symbolic link.
 */
#include "base/cache_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/env.h"
#include "base/file.h"
#include "base/settings.h"

/* Removes a trailing "/" or "/.", with which a symbolic link as last component would be followed.
 */
static void strip_trailing_slash(char *path)
{
    size_t length = strlen(path);

    while (length > 1 &&
           (path[length - 1] == '/' || (path[length - 1] == '.' && path[length - 2] == '/')))
        path[--length] = '\0';
}

/* The directory from the environment; -1 with the reason when the cache is disabled. */
static int directory_path(char *path, size_t size, char *reason, size_t reason_size)
{
    const char *own = base_setting(BASE_SETTING_CACHE_DIR);
    const char *caches = base_env("XDG_CACHE_HOME");
    const char *home = base_env("HOME");
    const char *state = base_setting(BASE_SETTING_CACHE);
    int length;

    path[0] = '\0';
    if (getauxval(AT_SECURE)) {
        snprintf(reason, reason_size, "the program runs setuid or setgid");
        return -1;
    }
    if (state && strcmp(state, "off") == 0) {
        snprintf(reason, reason_size, "DEVICEPOOL_CACHE=off");
        return -1;
    }
    if (own && own[0] == '/')
        length = snprintf(path, size, "%s", own);
    else if (caches && caches[0] == '/')
        length = snprintf(path, size, "%s/devicepool", caches);
    else if (home && home[0] == '/')
        length = snprintf(path, size, "%s/.cache/devicepool", home);
    else {
        snprintf(reason, reason_size,
            "none of DEVICEPOOL_CACHE_DIR, XDG_CACHE_HOME and HOME is an absolute path");
        return -1;
    }
    if (length < 0 || (size_t)length >= size) {
        snprintf(reason, reason_size, "the path of the cache directory is too long");
        return -1;
    }
    strip_trailing_slash(path);
    return 0;
}

/* Creates every missing directory of the path with mode 0700. */
static int make_directories(const char *path)
{
    char part[4096];

    for (const char *end = strchr(path + 1, '/');; end = strchr(end + 1, '/')) {
        size_t length = end ? (size_t)(end - path) : strlen(path);

        if (length >= sizeof(part))
            return -1;
        memcpy(part, path, length);
        part[length] = '\0';
        if (base_mkdirat(AT_FDCWD, part, 0700) && errno != EEXIST)
            return -1;
        if (!end)
            return 0;
    }
}

/* Whether this user owns it, or root where that is as good, and no other user can write in it or
 * replace it in its parent. */
static int is_safe(int directory, int may_be_roots, char *reason, size_t reason_size)
{
    struct stat attributes;
    int above;
    int got;

    if (base_fstat(directory, &attributes)) {
        snprintf(reason, reason_size, "cannot read its attributes: %s", strerror(errno));
        return 0;
    }
    if (attributes.st_uid != geteuid() && !(may_be_roots && attributes.st_uid == 0)) {
        snprintf(reason, reason_size, "it is owned by user %u", (unsigned)attributes.st_uid);
        return 0;
    }
    if (attributes.st_mode & (S_IWGRP | S_IWOTH)) {
        snprintf(reason, reason_size, "other users can write in it (mode %03o)",
            (unsigned)(attributes.st_mode & 0777));
        return 0;
    }
    above = base_openat(directory, "..", O_RDONLY | O_DIRECTORY, 0);
    got = above < 0 ? -1 : base_fstat(above, &attributes);
    base_close(above);
    if (got || (attributes.st_mode & S_IWOTH)) {
        snprintf(reason, reason_size, "every user can write in its parent directory");
        return 0;
    }
    return 1;
}

int base_cache_directory_open(
    int may_create, char *path, size_t path_size, char *reason, size_t reason_size)
{
    int directory;

    if (directory_path(path, path_size, reason, reason_size))
        return -1;
    directory = base_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (directory < 0 && errno == ENOENT && may_create && !make_directories(path))
        directory = base_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (directory < 0) {
        snprintf(reason, reason_size, "%s: %s", path, strerror(errno));
        return -1;
    }
    if (!is_safe(directory, 0, reason, reason_size)) {
        base_close(directory);
        return -1;
    }
    return directory;
}

int base_cache_level_open(const char *path, char *reason, size_t reason_size)
{
    int directory = base_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);

    if (directory < 0) {
        snprintf(reason, reason_size, "%s", strerror(errno));
        return -1;
    }
    if (!is_safe(directory, 1, reason, reason_size)) {
        base_close(directory);
        errno = EPERM;
        return -1;
    }
    return directory;
}
