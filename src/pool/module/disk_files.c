/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of cached files, and the public functions of the cache.
 */
#include "pool/module/disk_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cache_directory.h"
#include "base/file.h"
#include "base/new_file.h"
#include "base/params.h"
#include "base/status.h"

static int is_key_name(const char *name)
{
    return strlen(name) == 2 * BASE_SHA256_BYTES &&
           strspn(name, "0123456789abcdef") == 2 * BASE_SHA256_BYTES;
}

static int grow(struct disk_file **files, size_t count, size_t *capacity)
{
    struct disk_file *larger;

    if (count < *capacity)
        return 0;
    larger = base_realloc(*files, *capacity ? 2 * *capacity : 64, sizeof(**files));
    if (!larger)
        return -1;
    *files = larger;
    *capacity = *capacity ? 2 * *capacity : 64;
    return 0;
}

int disk_list(int directory, struct disk_file **files, size_t *count, uint64_t *unfinished)
{
    int again =
        base_openat(directory, ".", O_RDONLY | O_DIRECTORY, 0); /* closedir closes this one */
    DIR *stream = again < 0 ? NULL : fdopendir(again);
    struct disk_file *found = NULL;
    struct dirent *entry;
    struct stat about;
    uint64_t left = 0;
    size_t capacity = 0;
    size_t n = 0;

    if (!stream) {
        base_close(again);
        return -1;
    }
    while ((entry = readdir(stream))) {
        if (strncmp(entry->d_name, DISK_TEMPORARY, strlen(DISK_TEMPORARY)) == 0)
            left += base_new_file_clear(directory, entry->d_name);
        if (!is_key_name(entry->d_name) ||
            fstatat(directory, entry->d_name, &about, AT_SYMLINK_NOFOLLOW))
            continue;
        if (grow(&found, n, &capacity)) {
            base_free(found);
            closedir(stream);
            return -1;
        }
        memcpy(found[n].name, entry->d_name, sizeof(found[n].name));
        found[n].bytes = (uint64_t)about.st_size;
        found[n].used = about.st_mtim;
        n++;
    }
    closedir(stream);
    if (unfinished)
        *unfinished = left;
    *files = found;
    *count = n;
    return 0;
}

/* Opens the directory for a public function. A missing directory is an empty cache. */
static pool_status open_directory(const char *call, int *directory)
{
    char path[4096];
    char reason[256];

    *directory = base_cache_directory_open(0, path, sizeof(path), reason, sizeof(reason));
    if (*directory < 0 && path[0] && access(path, F_OK) && errno == ENOENT)
        return POOL_OK;
    if (*directory < 0)
        return base_fail(POOL_ERR_UNSUPPORTED, "%s: the disk cache is disabled: %s", call, reason);
    return POOL_OK;
}

pool_status pool_cache_directory(char *path, size_t size)
{
    char found[4096];
    char reason[256];
    int directory;

    if (!path)
        return base_fail_null("pool_cache_directory", "path");
    directory = base_cache_directory_open(0, found, sizeof(found), reason, sizeof(reason));
    base_close(directory);
    if (directory < 0 && (!found[0] || access(found, F_OK) == 0))
        return base_fail(
            POOL_ERR_UNSUPPORTED, "pool_cache_directory: the disk cache is disabled: %s", reason);
    if (strlen(found) >= size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_cache_directory: the path needs %zu bytes", strlen(found) + 1);
    memcpy(path, found, strlen(found) + 1);
    return POOL_OK;
}

/* A file and the result of reading it. */
struct found {
    int directory;
    enum disk_result result;
    pool_cache_entry entry;
};

static void read_entry(struct found *found, bool deletes)
{
    struct disk_header header = {.name = ""};
    struct module_image *image = NULL;
    struct module_key key;

    module_key_parse(found->entry.key, &key);
    found->result = disk_read(found->directory, found->entry.key, &key, deletes, &header, &image);
    if (found->result != DISK_GOOD)
        return;
    memcpy(found->entry.name, header.name, sizeof(found->entry.name));
    found->entry.created_unix_time = header.created_unix_time;
    found->entry.compute_capability = header.compute_capability;
    found->entry.is_ptx = image->form == MODULE_PTX;
    found->entry.valid = 1;
    module_image_release(image);
}

/* Calls `visit_file` for each file until it returns non-zero. */
static pool_status visit_files(const char *call, bool deletes,
    int (*visit_file)(void *user, const struct found *found), void *user)
{
    struct disk_file *files;
    pool_status status;
    int result = 0;
    size_t count;
    int directory;

    status = open_directory(call, &directory);
    if (status || directory < 0)
        return status;
    if (disk_list(directory, &files, &count, NULL)) {
        base_close(directory);
        return base_fail(POOL_ERR_IO, "%s: cannot list the cache directory", call);
    }
    for (size_t i = 0; i < count && !result; i++) {
        struct found found = {.directory = directory};

        found.entry.struct_size = sizeof(found.entry);
        found.entry.bytes = files[i].bytes;
        memcpy(found.entry.key, files[i].name, sizeof(found.entry.key));
        read_entry(&found, deletes);
        if (found.result != DISK_MISSING)
            result = visit_file(user, &found);
    }
    base_free(files);
    base_close(directory);
    return POOL_OK;
}

struct visit {
    pool_cache_visitor visit;
    void *user;
};

static int visit_entry(void *user, const struct found *found)
{
    const struct visit *visit = user;

    return visit->visit(visit->user, &found->entry);
}

pool_status pool_cache_each(pool_cache_visitor visit, void *user)
{
    struct visit with = {visit, user};

    if (!visit)
        return base_fail_null("pool_cache_each", "visit");
    return visit_files("pool_cache_each", false, visit_entry, &with);
}

struct totals {
    uint64_t intact;
    uint64_t deleted;
    int failed;
    int everything;
};

static int count_entry(void *user, const struct found *found)
{
    struct totals *totals = user;

    if (found->result == DISK_GOOD && !totals->everything)
        totals->intact++;
    else if (totals->everything ? base_unlinkat(found->directory, found->entry.key) == 0
                                : found->result == DISK_BAD_AND_DELETED)
        totals->deleted++;
    else if (!faccessat(found->directory, found->entry.key, F_OK, AT_SYMLINK_NOFOLLOW) ||
             errno != ENOENT) /* else another process has deleted it */
        totals->failed = 1;
    return 0;
}

static pool_status delete_entries(
    const char *call, int everything, uint64_t *intact, uint64_t *deleted)
{
    struct totals totals = {.everything = everything};
    pool_status status = visit_files(call, !everything, count_entry, &totals);

    if (!status && totals.failed)
        status = base_fail(POOL_ERR_IO, "%s: some entries could not be read or deleted", call);
    if (intact)
        *intact = totals.intact;
    if (deleted)
        *deleted = totals.deleted;
    return status;
}

pool_status pool_cache_verify(uint64_t *intact, uint64_t *deleted)
{
    return delete_entries("pool_cache_verify", 0, intact, deleted);
}

pool_status pool_cache_clear(uint64_t *deleted)
{
    return delete_entries("pool_cache_clear", 1, NULL, deleted);
}
