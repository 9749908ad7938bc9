/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading and storing entries: they are read as a whole and checked before use, written to a
 * temporary file and renamed, and evicted in LRU order when the directory exceeds its size limit.
 */
#include "pool/module/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cache_directory.h"
#include "base/file.h"
#include "base/log.h"
#include "base/new_file.h"
#include "base/settings.h"
#include "base/status.h"
#include "pool/module/disk_files.h"

/* 1 GiB: several thousand modules of the largest curves. */
#define DEFAULT_LIMIT (UINT64_C(1) << 30)

static enum disk_result read_file(int file, const struct stat *about, const struct module_key *key,
    struct disk_header *header, struct module_image **image)
{
    enum disk_result result = DISK_UNREADABLE;
    uint8_t *bytes;

    if (!S_ISREG(about->st_mode) || about->st_uid != geteuid() ||
        (about->st_mode & (S_IWGRP | S_IWOTH)) || (uint64_t)about->st_size > DISK_MAX_ENTRY)
        return DISK_BAD;
    bytes = base_calloc((size_t)about->st_size, 1);
    if (bytes && !base_read_all(file, bytes, (size_t)about->st_size))
        result = disk_decode(bytes, (size_t)about->st_size, key, header, image);
    base_free(bytes);
    return result;
}

static int is_same_file(int directory, const char *name, const struct stat *wanted)
{
    struct stat about;

    return !fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) &&
           about.st_dev == wanted->st_dev && about.st_ino == wanted->st_ino;
}

/*
 * Deletes an entry that is open, so that no other file can have its inode number. A writer may
 * rename a new entry to the name at any time, so the file is first renamed; if it turns out to be
 * another one it is renamed back, unless the name has been reused.
 */
static bool delete_opened(int directory, const char *file_name, int file)
{
    struct base_new_file aside;
    struct stat bad;
    bool is_gone;

    if (base_fstat(file, &bad) || S_ISDIR(bad.st_mode) ||
        !is_same_file(directory, file_name, &bad) ||
        base_new_file_begin(&aside, directory, DISK_TEMPORARY, "", 0600))
        return false;
    is_gone = !base_renameat(directory, file_name, aside.name);
    if (is_gone && !is_same_file(directory, aside.name, &bad))
        is_gone = linkat(directory, aside.name, directory, file_name, 0) && errno != EEXIST;
    base_new_file_discard(&aside);
    return is_gone;
}

/* A symbolic link is not followed; it is a bad entry. */
static enum disk_result open_entry(int directory, const char *file_name, int *file)
{
    *file = base_openat(directory, file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (*file >= 0)
        return DISK_GOOD;
    if (errno == ENOENT)
        return DISK_MISSING;
    if (errno != ELOOP)
        return DISK_UNREADABLE;
    *file = base_openat(directory, file_name, O_PATH | O_NOFOLLOW, 0);
    return *file < 0 ? DISK_UNREADABLE : DISK_BAD;
}

enum disk_result disk_read(int directory, const char *file_name, const struct module_key *key,
    bool deletes, struct disk_header *header, struct module_image **image)
{
    int file;
    enum disk_result result = open_entry(directory, file_name, &file);
    struct stat about;

    if (result == DISK_GOOD)
        result = base_fstat(file, &about) ? DISK_UNREADABLE
                                          : read_file(file, &about, key, header, image);
    if (result == DISK_GOOD)
        futimens(file, NULL); /* the time of last use, for LRU eviction */
    if (result == DISK_BAD && deletes && delete_opened(directory, file_name, file))
        result = DISK_BAD_AND_DELETED;
    base_close(file);
    return result;
}

struct module_image *disk_load(const struct module_key *key)
{
    char name[2 * BASE_SHA256_BYTES + 1];
    struct base_error_copy before;
    struct module_image *image = NULL;
    char path[4096];
    char reason[256];
    int directory = base_cache_directory_open(0, path, sizeof(path), reason, sizeof(reason));

    if (directory < 0)
        return NULL;
    base_error_save(&before);
    module_key_text(key, name);
    if (disk_read(directory, name, key, true, NULL, &image) == DISK_BAD_AND_DELETED)
        base_log(POOL_LOG_WARN, "cache: entry %s was damaged or unsafe and is deleted", name);
    base_error_restore(&before);
    base_close(directory);
    return image;
}

void disk_forget(const struct module_key *key)
{
    char name[2 * BASE_SHA256_BYTES + 1];
    char path[4096];
    char reason[256];
    int directory = base_cache_directory_open(0, path, sizeof(path), reason, sizeof(reason));

    module_key_text(key, name);
    if (directory >= 0)
        (void)base_unlinkat(directory, name);
    base_close(directory);
}

/* The size limit from the environment: "512M", "1G", "1048576"; the default if it is malformed. */
uint64_t disk_limit(void)
{
    const char *text = base_setting(BASE_SETTING_CACHE_MAX);
    unsigned long long value;
    int shift = 0;
    char *end;

    if (!text || text[0] < '0' || text[0] > '9')
        return DEFAULT_LIMIT;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (*end == 'K')
        shift = 10;
    else if (*end == 'M')
        shift = 20;
    else if (*end == 'G')
        shift = 30;
    if (shift)
        end++;
    if (errno || *end || value > (UINT64_MAX >> shift))
        return DEFAULT_LIMIT;
    return value << shift;
}

static int compare_last_use(const void *left, const void *right)
{
    const struct disk_file *a = left;
    const struct disk_file *b = right;

    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
}

/* Evicts entries until `additional` bytes fit, before they are written: a process that is killed
 * then exceeds the limit by at most these until the next write. Entries that will be replaced are
 * neither evicted nor counted. */
static void evict_entries(
    int directory, uint64_t additional, disk_is_written is_written, const void *user)
{
    struct disk_file *files;
    uint64_t total;
    size_t count, kept = 0;

    if (disk_list(directory, &files, &count, &total))
        return;
    total += additional;
    for (size_t i = 0; i < count; i++) {
        struct module_key key;

        module_key_parse(files[i].name, &key);
        if (is_written && is_written(user, &key))
            continue;
        total += files[i].bytes;
        files[kept++] = files[i];
    }
    if (total > disk_limit())
        qsort(files, kept, sizeof(*files), compare_last_use);
    for (size_t i = 0; i < kept && total > disk_limit(); i++)
        if (base_unlinkat(directory, files[i].name) == 0)
            total -= files[i].bytes;
    base_free(files);
}

static int write_entry(
    int directory, const char *name, const uint8_t *bytes, size_t size, bool makes_room)
{
    struct base_new_file created;

    if (size > DISK_MAX_ENTRY || size > disk_limit()) {
        errno = EFBIG;
        return -1;
    }
    if (makes_room)
        evict_entries(directory, size, NULL, NULL);
    if (base_new_file_begin(&created, directory, DISK_TEMPORARY, "", 0600))
        return -1;
    if (base_write_all(created.file, bytes, size)) {
        base_new_file_discard(&created);
        return -1;
    }
    return base_new_file_finish(&created, name);
}

bool disk_writer_open(struct disk_writer *writer, char *why, size_t size)
{
    char reason[256];

    writer->directory =
        base_cache_directory_open(1, writer->path, sizeof(writer->path), reason, sizeof(reason));
    if (writer->directory < 0)
        snprintf(why, size, "not used: %s", reason);
    return writer->directory >= 0;
}

void disk_writer_make_room(
    struct disk_writer *writer, uint64_t bytes, disk_is_written is_written, const void *user)
{
    struct base_error_copy before;

    base_error_save(&before);
    evict_entries(writer->directory, bytes, is_written, user);
    base_error_restore(&before);
}

static bool add_entry(const struct disk_writer *writer, const struct module_key *key,
    const struct disk_header *header, const struct module_image *image, bool makes_room, char *why,
    size_t why_size)
{
    char name[2 * BASE_SHA256_BYTES + 1];
    struct base_error_copy before;
    uint8_t *bytes = NULL;
    size_t size;
    bool is_stored = false;

    base_error_save(&before);
    module_key_text(key, name);
    if (disk_encode(key, header, image, &bytes, &size))
        snprintf(
            why, why_size, "out of host memory while storing an entry in %.200s", writer->path);
    else if (write_entry(writer->directory, name, bytes, size, makes_room))
        snprintf(
            why, why_size, "cannot store an entry in %.200s: %s", writer->path, strerror(errno));
    else
        is_stored = true;
    base_error_restore(&before);
    base_free(bytes);
    return is_stored;
}

bool disk_writer_add(const struct disk_writer *writer, const struct module_key *key,
    const struct disk_header *header, const struct module_image *image, char *why, size_t size)
{
    return add_entry(writer, key, header, image, false, why, size);
}

void disk_writer_close(struct disk_writer *writer)
{
    disk_writer_make_room(writer, 0, NULL, NULL); /* other processes may have written, too */
    base_close(writer->directory);
}

/* A cache that is off or unsafe is no failure. */
void disk_store(const struct module_key *key, const struct disk_header *header,
    const struct module_image *image)
{
    struct disk_writer writer;
    char reason[512];

    if (!disk_writer_open(&writer, reason, sizeof(reason))) {
        base_log(POOL_LOG_INFO, "cache: %s", reason);
        return;
    }
    if (!add_entry(&writer, key, header, image, true, reason, sizeof(reason)))
        base_log(POOL_LOG_WARN, "cache: %s", reason);
    disk_writer_close(&writer);
}
