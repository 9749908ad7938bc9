/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File operations with a failure hook.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static base_file_hook file_hook;
static void *file_hook_user;

void base_file_set_hook(base_file_hook hook, void *user)
{
    file_hook_user = user;
    file_hook = hook;
}

static int refused(const char *operation)
{
    int error = file_hook ? file_hook(file_hook_user, operation) : 0;

    if (error)
        errno = error;
    return error;
}

int base_openat(int directory, const char *name, int flags, mode_t mode)
{
    return refused("open") ? -1 : openat(directory, name, flags | O_CLOEXEC, mode);
}

int base_fstat(int file, struct stat *facts)
{
    return refused("stat") ? -1 : fstat(file, facts);
}

int base_mkdirat(int directory, const char *name, mode_t mode)
{
    return refused("mkdir") ? -1 : mkdirat(directory, name, mode);
}

int base_fsync(int file)
{
    return refused("fsync") ? -1 : fsync(file);
}

int base_renameat(int directory, const char *from, const char *to)
{
    return refused("rename") ? -1 : renameat(directory, from, directory, to);
}

int base_unlinkat(int directory, const char *name)
{
    return refused("unlink") ? -1 : unlinkat(directory, name, 0);
}

int base_read_all(int file, void *bytes, size_t size)
{
    char *next = bytes;

    if (refused("read"))
        return -1;
    while (size) {
        ssize_t got = read(file, next, size);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        next += got;
        size -= (size_t)got;
    }
    return 0;
}

int base_read_at(int file, void *bytes, size_t size, uint64_t offset)
{
    char *next = bytes;

    if (refused("read"))
        return -1;
    while (size) {
        ssize_t got = pread(file, next, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = 0;
        if (got <= 0)
            return -1;
        next += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

bool base_file_may_have(uint64_t size)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
        size <= limit.rlim_cur)
        return true;
    errno = EFBIG;
    return false;
}

int base_truncate(int file, uint64_t size)
{
    return base_file_may_have(size) ? ftruncate(file, (off_t)size) : -1;
}

/* Pipes and devices have no position and no limit. */
static bool may_append(int file, size_t size)
{
    struct stat facts;
    off_t position;

    if (fstat(file, &facts) || !S_ISREG(facts.st_mode))
        return true;
    position = lseek(file, 0, SEEK_CUR);
    return position < 0 || base_file_may_have((uint64_t)position + size);
}

int base_write_all(int file, const void *bytes, size_t size)
{
    const char *next = bytes;

    if (refused("write") || !may_append(file, size))
        return -1;
    while (size) {
        ssize_t put = write(file, next, size);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return -1;
        next += put;
        size -= (size_t)put;
    }
    return 0;
}

void *base_map(int file, size_t size)
{
    void *bytes = refused("map") ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);

    return bytes == MAP_FAILED ? NULL : bytes;
}

void base_unmap(void *bytes, size_t size)
{
    if (bytes)
        munmap(bytes, size);
}

void base_close(int file)
{
    if (file >= 0)
        close(file);
}
