/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading and keeping entries: read whole and checked before use, written beside and renamed, the
 * entries unused for longest deleted when the folder grows over its cap.
 */
#include "module/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "base/status.h"
#include "module/disk_files.h"

/* 1 GiB: some thousand modules of the largest curves. An entry alone may be at most 256 MiB. */
#define DEFAULT_CAP (UINT64_C(1) << 30)
#define MAX_ENTRY (UINT64_C(256) << 20)

struct module_image *disk_read(
    int folder, const char *file_name, const struct module_key *key, struct disk_facts *facts)
{
    struct module_image *image = NULL;
    uint8_t *bytes = NULL;
    struct stat about;
    int file = base_openat(folder, file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);

    if (file < 0)
        return NULL;
    if (base_fstat(file, &about) || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
        (about.st_mode & (S_IWGRP | S_IWOTH)) || (uint64_t)about.st_size > MAX_ENTRY)
        goto done;
    bytes = base_calloc((size_t)about.st_size, 1);
    if (bytes && !base_read_all(file, bytes, (size_t)about.st_size))
        image = disk_decode(bytes, (size_t)about.st_size, key, facts);
    if (image)
        futimens(file, NULL); /* used now: the cap deletes what was unused for longest */
done:
    base_free(bytes);
    base_close(file);
    return image;
}

struct module_image *disk_load(const struct module_key *key)
{
    char name[2 * BASE_SHA256_BYTES + 1];
    struct base_error_copy before;
    struct module_image *image;
    char path[4096];
    char reason[256];
    int folder = disk_open_folder(0, path, sizeof(path), reason, sizeof(reason));

    if (folder < 0)
        return NULL;
    base_error_save(&before);
    module_key_text(key, name);
    image = disk_read(folder, name, key, NULL);
    if (!image && faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        base_log(POOL_LOG_WARN, "cache: entry %s is damaged or unsafe and was deleted", name);
        base_unlinkat(folder, name);
    }
    base_error_restore(&before);
    base_close(folder);
    return image;
}

static int write_beside(int folder, const char *temporary, const uint8_t *bytes, size_t size)
{
    int file = base_openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    int failed;

    if (file < 0)
        return -1;
    failed = base_write_all(file, bytes, size) || base_fsync(file);
    base_close(file);
    if (failed)
        unlinkat(folder, temporary, 0);
    return failed ? -1 : 0;
}

/* "512M", "1G", "1048576"; the default when it is none of these. */
static uint64_t cap_bytes(void)
{
    const char *text = base_env("DEVICEPOOL_CACHE_MAX");
    unsigned long long value;
    int shift = 0;
    char *end;

    if (!text || text[0] < '0' || text[0] > '9')
        return DEFAULT_CAP;
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
        return DEFAULT_CAP;
    return value << shift;
}

static int older_first(const void *left, const void *right)
{
    const struct disk_file *a = left;
    const struct disk_file *b = right;

    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
}

static void keep_under_cap(int folder)
{
    struct disk_file *files;
    uint64_t total = 0;
    size_t count;

    if (disk_list(folder, &files, &count))
        return;
    for (size_t i = 0; i < count; i++)
        total += files[i].bytes;
    if (total > cap_bytes())
        qsort(files, count, sizeof(*files), older_first);
    for (size_t i = 0; i < count && total > cap_bytes(); i++)
        if (base_unlinkat(folder, files[i].name) == 0)
            total -= files[i].bytes;
    base_free(files);
}

void disk_store(
    const struct module_key *key, const struct disk_facts *facts, const struct module_image *image)
{
    static atomic_uint counter;
    char name[2 * BASE_SHA256_BYTES + 1];
    struct base_error_copy before;
    char temporary[64];
    char path[4096];
    char reason[256];
    uint8_t *bytes = NULL;
    size_t size;
    int folder = disk_open_folder(1, path, sizeof(path), reason, sizeof(reason));

    if (folder < 0) {
        base_log(POOL_LOG_INFO, "cache: not used: %s", reason);
        return;
    }
    base_error_save(&before);
    module_key_text(key, name);
    snprintf(temporary, sizeof(temporary), "%s%ld-%u", DISK_TEMPORARY, (long)getpid(),
        atomic_fetch_add(&counter, 1));
    if (disk_encode(key, facts, image, &bytes, &size) || size > MAX_ENTRY ||
        write_beside(folder, temporary, bytes, size)) {
        base_log(POOL_LOG_WARN, "cache: cannot keep an entry in %s: %s", path, strerror(errno));
    } else if (base_renameat(folder, temporary, name)) {
        base_log(POOL_LOG_WARN, "cache: cannot rename in %s: %s", path, strerror(errno));
        unlinkat(folder, temporary, 0);
    } else {
        keep_under_cap(folder);
    }
    base_error_restore(&before);
    base_free(bytes);
    base_close(folder);
}
