/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files written under a temporary name and renamed: see new_file.h.
 */
#include "base/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

/* A name exists with a probability of 2^-64, or its file was deleted before it was locked. */
#define TRIES 8

#define RANDOM_DIGITS 16

/* On file systems without locks, a temporary file of this age has no writer any more. */
#define STALE_SECONDS 3600

static char *random_name(const char *prefix, const char *suffix)
{
    uint64_t number;
    char *name;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return NULL;
    name = base_format("%s%016" PRIx64 "%s", prefix, number, suffix);
    if (!name)
        errno = ENOMEM;
    return name;
}

/* 0 if the file was deleted before it was locked; file systems without locks always succeed. */
static int lock_new(int file)
{
    struct stat facts;

    if (flock(file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return 0;
    return fstat(file, &facts) || facts.st_nlink > 0;
}

int base_new_file_begin(
    struct base_new_file *made, int directory, const char *prefix, const char *suffix, mode_t mode)
{
    for (int i = 0; i < TRIES; i++) {
        char *name = random_name(prefix, suffix);
        int file =
            name ? base_openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
                 : -1;

        if (file >= 0 && lock_new(file)) {
            *made = (struct base_new_file){directory, file, name};
            return 0;
        }
        base_close(file);
        base_free(name);
        if (file < 0 && errno != EEXIST)
            return -1;
    }
    errno = EEXIST;
    return -1;
}

/* The file is renamed before it is unlocked, so that it is never found without a writer. */
static int end(struct base_new_file *made, int failed)
{
    int error = errno;

    if (failed)
        base_unlinkat(made->directory, made->name);
    base_close(made->file);
    base_free(made->name);
    *made = (struct base_new_file){.file = -1};
    errno = error;
    return failed ? -1 : 0;
}

int base_new_file_finish(struct base_new_file *made, const char *name)
{
    return end(made, base_fsync(made->file) || base_renameat(made->directory, made->name, name));
}

void base_new_file_discard(struct base_new_file *made)
{
    end(made, 1);
}

static int is_abandoned(int file, const struct stat *facts)
{
    if (facts->st_mtim.tv_sec + STALE_SECONDS < time(NULL))
        return 1;
    return file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
}

uint64_t base_new_file_clear(int directory, const char *name)
{
    uint64_t bytes = 0;
    struct stat facts;
    int file;

    if (fstatat(directory, name, &facts, AT_SYMLINK_NOFOLLOW))
        return 0;
    /* Only regular files are opened, because opening others can block. */
    file = S_ISREG(facts.st_mode)
               ? base_openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
               : -1;
    if (!is_abandoned(file, &facts) || base_unlinkat(directory, name))
        bytes = (uint64_t)facts.st_size;
    base_close(file);
    return bytes;
}

/* Whether `name` is `prefix`, 16 hexadecimal digits, `suffix`. */
static int is_temporary_name(const char *name, const char *prefix, const char *suffix)
{
    size_t length = strlen(prefix);

    return strncmp(name, prefix, length) == 0 &&
           strspn(name + length, "0123456789abcdef") == RANDOM_DIGITS &&
           strcmp(name + length + RANDOM_DIGITS, suffix) == 0;
}

void base_new_file_clear_all(const char *prefix, const char *suffix)
{
    const char *slash = strrchr(prefix, '/');
    const char *start = slash ? slash + 1 : prefix;
    char *path = slash ? base_format("%.*s", (int)(start - prefix), prefix) : NULL;
    int error = errno;
    /* Best effort: remaining files do no harm, so tests do not inject failures here. */
    DIR *stream = slash && !path ? NULL : opendir(path ? path : ".");
    const struct dirent *entry;

    while (stream && (entry = readdir(stream)))
        if (is_temporary_name(entry->d_name, start, suffix))
            base_new_file_clear(dirfd(stream), entry->d_name);
    if (stream)
        closedir(stream);
    base_free(path);
    errno = error;
}
