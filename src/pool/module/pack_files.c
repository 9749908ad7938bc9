/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public functions of packs, but for the one that compiles (zk/programs/build.c).
 */
#include "pool/module/pack_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cache_directory.h"
#include "base/file.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/module/disk_files.h"
#include "pool/module/levels.h"
#include "pool/module/trial.h"

static const struct base_struct info_type = BASE_STRUCT(pool_pack_info);

pool_status pack_info_check(const char *call, const pool_pack_info *info)
{
    return info ? base_struct_check(&info_type, call, "info", info) : POOL_OK;
}

static void fill_info(const struct pack *pack, const char *path, pool_pack_info *filled)
{
    *filled = (pool_pack_info){.compute_capability = pack->compute_capability,
        .compiler_version = pack->maker.version,
        .entries = pack->count,
        .bytes = pack->bytes};
    snprintf(filled->path, sizeof(filled->path), "%.*s", (int)sizeof(filled->path) - 1, path);
}

/* ---- the levels ------------------------------------------------------------------------------ */

enum { LOWEST_CHIP = 10, HIGHEST_CHIP = 999 };

/* The NVRTC that would compile, as far as is known without a trial; false: there is none. */
static bool find_maker(struct module_maker *maker)
{
    char reason[DRIVER_NVRTC_REASON];
    const struct nvrtc *nvrtc = driver_nvrtc_candidate(0, reason, sizeof(reason));

    return nvrtc && !levels_maker_of(nvrtc, maker);
}

/* A level that cannot be read is described as such, once. */
static bool describe_level(const char *path, pool_pack_info *found)
{
    char reason[256];
    int directory = base_cache_level_open(path, reason, sizeof(reason));

    base_close(directory);
    if (directory >= 0 || errno == ENOENT)
        return false;
    *found = (pool_pack_info){.is_used = 0};
    snprintf(found->path, sizeof(found->path), "%.*s", (int)sizeof(found->path) - 1, path);
    snprintf(found->reason, sizeof(found->reason), "%s", reason);
    return true;
}

/* Fills `found` if the level has a pack of the chip. */
static bool describe_pack(
    size_t level, int chip, const struct module_maker *maker, pool_pack_info *found)
{
    char path[PATH_MAX], reason[PATH_MAX];
    struct pack pack = {0};
    enum disk_result result = levels_open(level, chip, maker, &pack, path, reason, PATH_MAX);

    if (result == DISK_MISSING || !path[0])
        return false;
    fill_info(&pack, path, found);
    if (result == DISK_GOOD)
        pack_close(&pack);
    else
        snprintf(
            found->reason, sizeof(found->reason), "%.*s", (int)sizeof(found->reason) - 1, reason);
    found->is_used = result == DISK_GOOD;
    return true;
}

pool_status pool_pack_at(size_t index, pool_pack_info *info)
{
    struct module_maker maker;
    struct base_error_copy before;
    pool_pack_info found = {0};
    char path[PATH_MAX];
    bool has_maker, is_found = false;
    pool_status status = base_struct_check(&info_type, "pool_pack_at", "info", info);

    if (status)
        return status;
    base_error_save(&before);
    has_maker = find_maker(&maker);
    for (size_t level = 0; !is_found && levels_directory(level, path, sizeof(path)); level++) {
        const bool is_unusable = describe_level(path, &found);

        is_found = is_unusable && index-- == 0;
        for (int chip = LOWEST_CHIP; chip <= HIGHEST_CHIP && !is_found && !is_unusable; chip++)
            is_found =
                describe_pack(level, chip, has_maker ? &maker : NULL, &found) && index-- == 0;
    }
    base_error_restore(&before);
    if (!is_found)
        return base_fail_quietly(POOL_ERR_NOT_FOUND, "pool_pack_at: there are no more packs");
    base_struct_write(&info_type, &found, info);
    return POOL_OK;
}

/* ---- reading a file -------------------------------------------------------------------------- */

typedef pool_status (*entry_visit)(void *user, const struct pack_entry *entry,
    const struct disk_header *header, const struct module_image *image);

static pool_status fail_damaged(
    const char *call, const char *path, const struct module_key *key, enum disk_result result)
{
    char text[2 * BASE_SHA256_BYTES + 1];

    module_key_text(key, text);
    return result == DISK_BAD
               ? base_fail(POOL_ERR_BAD_DATA, "%s: entry %s of %s is damaged", call, text, path)
               : base_fail(POOL_ERR_IO, "%s: entry %s of %s cannot be read: %s", call, text, path,
                     strerror(errno));
}

/* Visits the intact entries; the first failure is returned. */
static pool_status visit_entries(
    const char *call, const char *path, const struct pack *pack, entry_visit visit, void *user)
{
    pool_status first = POOL_OK;

    for (size_t i = 0; i < pack->count && first != POOL_ERR_OUT_OF_HOST_MEMORY; i++) {
        const struct pack_entry *entry = &pack->entries[i];
        struct disk_header header = {.name = ""};
        struct module_image *image = NULL;
        struct base_error_copy before;
        pool_status status = POOL_OK;
        enum disk_result result = pack_load(pack, entry, &header, &image);

        /* All entries are of the chip and the compiler that the file names. */
        if (result == DISK_GOOD &&
            (header.compute_capability != pack->compute_capability ||
                memcmp(&header.maker.digest, &pack->maker.digest, sizeof(header.maker.digest))))
            result = DISK_BAD;
        base_error_save(&before);
        if (result != DISK_GOOD)
            status = fail_damaged(call, path, &entry->key, result);
        else if (visit)
            status = visit(user, entry, &header, image);
        if (first)
            base_error_restore(&before);
        module_image_release(image);
        first = first ? first : status;
    }
    return first;
}

static pool_status open_file(
    const char *call, const char *path, const pool_pack_info *info, struct pack *pack)
{
    char reason[256];
    enum disk_result result;
    pool_status status = path ? pack_info_check(call, info) : base_fail_null(call, "path");

    if (status)
        return status;
    result = pack_open(AT_FDCWD, path, pack, reason, sizeof(reason));
    if (result == DISK_GOOD)
        return POOL_OK;
    return base_fail(result == DISK_MISSING ? POOL_ERR_NOT_FOUND
                     : result == DISK_BAD   ? POOL_ERR_BAD_DATA
                                            : POOL_ERR_IO,
        "%s: %s: %s", call, path, reason);
}

/* Does `work` with the file's entries and fills `info` after success. */
static pool_status read_file(const char *call, const char *path, pool_pack_info *info,
    pool_status (*work)(const char *path, const struct pack *pack))
{
    pool_pack_info found;
    struct pack pack;
    pool_status status = open_file(call, path, info, &pack);

    if (status)
        return status;
    fill_info(&pack, path, &found);
    status = work(path, &pack);
    pack_close(&pack);
    if (!status && info)
        base_struct_write(&info_type, &found, info);
    return status;
}

static pool_status check_entries(const char *path, const struct pack *pack)
{
    return visit_entries("pool_pack_verify", path, pack, NULL, NULL);
}

pool_status pool_pack_verify(const char *path, pool_pack_info *info)
{
    return read_file("pool_pack_verify", path, info, check_entries);
}

/* ---- unpacking ------------------------------------------------------------------------------- */

static const char unpack_call[] = "pool_pack_unpack";

static pool_status store_entry(void *user, const struct pack_entry *entry,
    const struct disk_header *header, const struct module_image *image)
{
    const struct disk_writer *writer = user;
    char reason[512];

    if (disk_writer_add(writer, &entry->key, header, image, reason, sizeof(reason)))
        return POOL_OK;
    return base_fail(POOL_ERR_IO, "%s: the disk cache: %s", unpack_call, reason);
}

static bool is_in_pack(const void *user, const struct module_key *key)
{
    return pack_find(user, key) != NULL;
}

/* Makes room for all entries at once: the cache is listed twice, and not for each of them. */
static pool_status store_entries(const char *path, const struct pack *pack)
{
    struct disk_writer writer;
    char reason[512];
    uint64_t bytes = 0;
    pool_status status;

    for (size_t i = 0; i < pack->count; i++)
        bytes += pack->entries[i].size;
    if (bytes > disk_limit()) /* an entry would take the place of one before it */
        return base_fail(POOL_ERR_IO,
            "%s: the entries of %s have %llu bytes, more than the disk cache may have, %llu bytes: "
            "DEVICEPOOL_CACHE_MAX sets its size",
            unpack_call, path, (unsigned long long)bytes, (unsigned long long)disk_limit());
    if (!disk_writer_open(&writer, reason, sizeof(reason)))
        return base_fail(POOL_ERR_IO, "%s: the disk cache: %s", unpack_call, reason);
    disk_writer_make_room(&writer, bytes, is_in_pack, pack);
    status = visit_entries(unpack_call, path, pack, store_entry, &writer);
    disk_writer_close(&writer);
    return status;
}

pool_status pool_pack_unpack(const char *path, pool_pack_info *info)
{
    char directory[PATH_MAX];
    pool_status status = path ? pool_cache_directory(directory, sizeof(directory))
                              : base_fail_null(unpack_call, "path");

    return status ? status : read_file(unpack_call, path, info, store_entries);
}

/* ---- writing a file -------------------------------------------------------------------------- */

pool_status pack_finish(
    const char *call, struct pack_builder *builder, const char *directory, pool_pack_info *info)
{
    const struct pack_name name = pack_name_of(builder->compute_capability);
    pool_pack_info made = {.compute_capability = builder->compute_capability,
        .compiler_version = builder->maker.version};
    pool_status status;
    int length = snprintf(made.path, sizeof(made.path), "%s/%s", directory, name.text);

    if (length < 0 || (size_t)length >= sizeof(made.path))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the path of the directory is longer than "
            "%zu bytes",
            call, sizeof(made.path));
    if (base_mkdirat(AT_FDCWD, directory, 0755) && errno != EEXIST)
        return base_fail(
            POOL_ERR_IO, "%s: %s cannot be created: %s", call, directory, strerror(errno));
    status = pack_write(builder, made.path, &made.bytes);
    if (status)
        return status;
    made.entries = builder->count;
    if (info)
        base_struct_write(&info_type, &made, info);
    return POOL_OK;
}

/* The cache's entries of a chip; those of the compiler's trial are of this host. */
struct gathering {
    const char *call;
    int directory;
    struct pack_builder builder;
    uint64_t newest; /* Unix time of the newest entry so far, whose NVRTC is builder.maker */
    uint64_t others;
};

/* Reads one file of the cache; no image: it is not for the chip, damaged, or gone. */
static pool_status read_cached(struct gathering *gathering, const struct disk_file *file,
    struct module_key *key, struct disk_header *header, struct module_image **image)
{
    enum disk_result result;

    *image = NULL;
    module_key_parse(file->name, key);
    result = disk_read(gathering->directory, file->name, key, false, header, image);
    if (result == DISK_UNREADABLE) /* a pack without it would replace one with it */
        return base_fail(POOL_ERR_IO, "%s: entry %s of the disk cache cannot be read: %s",
            gathering->call, file->name, strerror(errno));
    if (result != DISK_GOOD ||
        (header->compute_capability == gathering->builder.compute_capability &&
            strcmp(header->name, MODULE_TRIAL_NAME) != 0))
        return POOL_OK;
    module_image_release(*image);
    *image = NULL;
    return POOL_OK;
}

static pool_status find_newest(
    struct gathering *gathering, const struct disk_file *files, size_t count)
{
    pool_status status = POOL_OK;
    struct disk_header header;
    struct module_image *image;
    struct module_key key;

    for (size_t i = 0; i < count && !status; i++) {
        status = read_cached(gathering, &files[i], &key, &header, &image);
        if (!image)
            continue;
        gathering->others++;
        if (header.created_unix_time >= gathering->newest) {
            gathering->newest = header.created_unix_time;
            gathering->builder.maker = header.maker;
        }
        module_image_release(image);
    }
    return status;
}

static pool_status add_files(
    struct gathering *gathering, const struct disk_file *files, size_t count)
{
    pool_status status = POOL_OK;

    for (size_t i = 0; i < count && !status; i++) {
        struct disk_header header;
        struct module_image *image;
        struct module_key key;
        struct pack_row row;

        status = read_cached(gathering, &files[i], &key, &header, &image);
        if (!image)
            continue;
        if (memcmp(header.maker.digest, gathering->builder.maker.digest,
                sizeof(header.maker.digest)) == 0) {
            status = pack_encode(&key, &header, image, &row);
            if (!status)
                status = pack_compress(&row, NULL);
            if (status)
                pack_row_free(&row);
            else
                status = pack_add(&gathering->builder, &row);
            if (!status)
                gathering->others--;
        }
        module_image_release(image);
    }
    return status;
}

static pool_status gather(struct gathering *gathering)
{
    const char *call = gathering->call;
    char path[PATH_MAX], reason[256];
    struct disk_file *files = NULL;
    size_t count = 0;
    pool_status status = POOL_OK;

    gathering->directory = base_cache_directory_open(0, path, sizeof(path), reason, sizeof(reason));
    if (gathering->directory < 0)
        return base_fail(POOL_ERR_NOT_FOUND, "%s: there is no disk cache: %s", call, reason);
    if (disk_list(gathering->directory, &files, &count, NULL)) {
        status = base_fail(POOL_ERR_IO, "%s: %s cannot be listed", call, path);
    } else {
        status = find_newest(gathering, files, count);
        if (!status)
            status = gathering->others
                         ? add_files(gathering, files, count)
                         : base_fail(POOL_ERR_NOT_FOUND, "%s: %s has no entries for sm_%d", call,
                               path, gathering->builder.compute_capability);
    }
    base_free(files);
    base_close(gathering->directory);
    return status;
}

pool_status pool_pack_cache(
    const char *directory, int32_t compute_capability, pool_pack_info *info, uint64_t *left_out)
{
    static const char call[] = "pool_pack_cache";
    struct gathering gathering = {.call = call, .builder.compute_capability = compute_capability};
    pool_status status =
        directory ? pack_info_check(call, info) : base_fail_null(call, "directory");

    if (!status)
        status = base_check_ranges(call, {"compute_capability", compute_capability, 10, 999});
    if (status)
        return status;
    status = gather(&gathering);
    if (!status)
        status = pack_finish(call, &gathering.builder, directory, info);
    if (!status && left_out)
        *left_out = gathering.others;
    pack_builder_free(&gathering.builder);
    return status;
}
