/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs and the levels of the cache that are only read: every damaged byte is seen, headers that
 * lie in spite of a right digest do no harm, files of others are not used, levels are searched in
 * their order, and packs and the cache convert into each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <devicepool.h>

#include "base/alloc.h"
#include "base/file.h"
#include "pool/module/levels.h"
#include "pool/module/pack.h"
#include "pool/module/trial.h"
#include "support/assert.h"

enum { ENTRIES = 3, CHIP = 90 };

static char root[64], cache[80], level[80], other_level[80], path[120];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/devicepool-packs-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(cache, sizeof(cache), "%s/cache", root);
    snprintf(level, sizeof(level), "%s/level", root);
    snprintf(other_level, sizeof(other_level), "%s/other", root);
    snprintf(path, sizeof(path), "%s/sm_90.pack", level);
    unsetenv("DEVICEPOOL_CACHE");
    setenv("DEVICEPOOL_NVRTC", "off", 1);
    setenv("DEVICEPOOL_CACHE_LEVELS", level, 1);
    setenv("DEVICEPOOL_CACHE_DIR", cache, 1);
    return mkdir(level, 0755) || mkdir(other_level, 0755);
}

static int drop_root(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command);
}

static struct module_key key_of(int number)
{
    struct module_key key = {{0}};

    for (size_t i = 0; i < sizeof(key.bytes); i++)
        key.bytes[i] = (uint8_t)(number + 7 * (int)i);
    return key;
}

static struct module_image *image_of(int number)
{
    struct module_image *image = module_image_new(MODULE_CUBIN, 20 + 40 * (size_t)number);

    assert_non_null(image);
    for (size_t i = 0; i < image->size; i++)
        image->bytes[i] = (char)(i * i * 31 + (size_t)number);
    return image;
}

static struct module_maker maker_of(int number)
{
    struct module_maker maker = {.version = 13000};

    memset(maker.digest, number, sizeof(maker.digest));
    return maker;
}

static struct disk_header header_of(int maker)
{
    return (struct disk_header){"kernel.cu", 1700000000, CHIP, maker_of(maker)};
}

static struct pack_row row_of(int number, int maker)
{
    struct module_image *image = image_of(number);
    struct disk_header header = header_of(maker);
    struct module_key key = key_of(number);
    struct pack_row row;

    assert_ok(pack_encode(&key, &header, image, &row));
    module_image_release(image);
    return row;
}

/* A pack of ENTRIES entries, added in descending order; the second is the base of the first. */
static void write_pack(const char *to, int first, int maker)
{
    struct pack_builder builder = {.compute_capability = CHIP, .maker = maker_of(maker)};
    uint64_t bytes;
    struct stat about;

    for (int i = ENTRIES - 1; i >= 0; i--) {
        struct pack_row row = row_of(first + i, maker), base = row_of(first + 1, maker);

        assert_ok(pack_compress(&row, i ? NULL : &base));
        assert_ok(pack_add(&builder, &row));
        pack_row_free(&base);
    }
    assert_ok(pack_write(&builder, to, &bytes));
    pack_builder_free(&builder);
    assert_int_equal(stat(to, &about), 0);
    assert_int_equal(about.st_size, bytes);
    assert_int_equal(about.st_mode & 022, 0);
}

static uint8_t *read_file(const char *from, size_t *size)
{
    struct stat about;
    int file = open(from, O_RDONLY);
    uint8_t *bytes;

    assert_true(file >= 0 && !fstat(file, &about));
    *size = (size_t)about.st_size;
    bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(base_read_all(file, bytes, *size), 0);
    close(file);
    return bytes;
}

static void write_file(const char *to, const uint8_t *bytes, size_t size)
{
    int file = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
}

/* The image of an entry, as it was written. */
static void check_image(const struct module_image *image, int number)
{
    struct module_image *wanted = image_of(number);

    assert_int_equal(image->form, MODULE_CUBIN);
    assert_int_equal(image->size, wanted->size);
    assert_memory_equal(image->bytes, wanted->bytes, wanted->size);
    module_image_release(wanted);
}

/* The bytes of an entry, or NULL. Each is decompressed from a copy of exactly its bytes, so that
 * AddressSanitizer sees an access beyond them. */
static uint8_t *inflate(
    const struct pack *pack, const struct pack_entry *entry, const uint8_t *bytes)
{
    const struct pack_entry *base = entry->base ? &pack->entries[entry->base - 1] : NULL;
    uint8_t *base_bytes = base ? inflate(pack, base, bytes) : NULL;
    uint8_t *packed = malloc((size_t)entry->packed), *made = NULL;

    assert_non_null(packed);
    memcpy(packed, bytes + entry->offset, (size_t)entry->packed);
    if (!base || base_bytes)
        (void)pack_inflate(packed, entry, base_bytes, base ? (size_t)base->size : 0, &made);
    base_free(base_bytes);
    free(packed);
    return made;
}

/* How many entries of the file are intact; -1: it is no pack. */
static int count_intact(const uint8_t *bytes, size_t size)
{
    struct pack pack;
    int intact = 0;
    uint8_t *head;
    uint64_t head_size;

    if (size < PACK_HEADER_BYTES)
        return -1;
    head_size = pack_index_bytes(bytes, size);
    if (!head_size || head_size > size)
        return -1;
    head = malloc((size_t)head_size);
    assert_non_null(head);
    memcpy(head, bytes, (size_t)head_size);
    if (pack_decode(head, (size_t)head_size, size, &pack) != DISK_GOOD) {
        free(head);
        return -1;
    }
    free(head);
    for (size_t i = 0; i < pack.count; i++) {
        const struct pack_entry *entry = &pack.entries[i];
        struct module_image *image = NULL;
        uint8_t *entry_bytes = inflate(&pack, entry, bytes);

        if (entry_bytes &&
            disk_decode(entry_bytes, (size_t)entry->size, &entry->key, NULL, &image) == DISK_GOOD) {
            check_image(image, entry->key.bytes[0]);
            intact++;
        }
        module_image_release(image);
        base_free(entry_bytes);
    }
    pack_close(&pack);
    return intact;
}

static void test_write_and_read(void **state)
{
    struct pack pack;
    char reason[256] = "";

    (void)state;
    write_pack(path, 1, 5);
    assert_int_equal(pack_open(AT_FDCWD, path, &pack, reason, sizeof(reason)), DISK_GOOD);
    assert_int_equal(pack.count, ENTRIES);
    assert_int_equal(pack.compute_capability, CHIP);
    assert_int_equal(pack.maker.version, 13000);
    for (int i = 0; i < ENTRIES + 2; i++) {
        struct module_key key = key_of(i);
        const struct pack_entry *entry = pack_find(&pack, &key);
        struct disk_header header;
        struct module_image *image;

        assert_int_equal(entry != NULL, i >= 1 && i <= ENTRIES);
        if (!entry)
            continue;
        assert_int_equal(pack_load(&pack, entry, &header, &image), DISK_GOOD);
        assert_string_equal(header.name, "kernel.cu");
        assert_int_equal(header.compute_capability, CHIP);
        assert_int_equal(header.maker.digest[31], 5);
        check_image(image, i);
        module_image_release(image);
    }
    pack_close(&pack);
}

/* A frame of zstd has bits that do not change what it decompresses to. */
static void test_damaged_bytes(void **state)
{
    const size_t index = PACK_HEADER_BYTES + ENTRIES * PACK_ROW_BYTES;
    size_t size, harmless = 0;
    uint8_t *bytes;

    (void)state;
    write_pack(path, 1, 5);
    bytes = read_file(path, &size);
    assert_int_equal(count_intact(bytes, size), ENTRIES);
    for (size_t i = 0; i < size; i++) {
        static const uint8_t flips[] = {0x01, 0x80, 0xff};

        for (size_t j = 0; j < sizeof(flips); j++) {
            bytes[i] ^= flips[j];
            if (i < index)
                assert_int_equal(count_intact(bytes, size), -1);
            else
                harmless += count_intact(bytes, size) == ENTRIES;
            bytes[i] ^= flips[j];
        }
    }
    assert_true(harmless < (size - index) / 20);
    for (size_t length = 0; length < size; length++)
        assert_int_equal(count_intact(bytes, length), -1);
    free(bytes);
}

/* Header and index with their digest, over which the file's author has power. */
static void mend_digest(uint8_t *bytes, size_t count)
{
    struct base_sha256 *sha = base_sha256_begin();

    base_sha256_add(sha, bytes, 128);
    base_sha256_add(sha, bytes + PACK_HEADER_BYTES, count * PACK_ROW_BYTES);
    assert_ok(base_sha256_end(sha, bytes + 128));
}

static void put(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void test_lies(void **state)
{
    static const struct {
        size_t at;
        int bytes;
        uint64_t value;
        int intact;
    } lies[] = {
        {8, 4, 0, -1},                            /* no entries, and yet bytes behind the index */
        {8, 4, 2, -1},                            /* fewer */
        {8, 4, 4, -1},                            /* more */
        {8, 4, UINT32_MAX, -1},                   /* an index that overflows */
        {8, 4, PACK_MAX_ENTRIES + 1, -1},         /* or is too long */
        {12, 4, 1000, -1},                        /* no chip */
        {16, 8, 1, -1},                           /* another size */
        {16, 8, UINT64_MAX, -1},                  /* */
        {24, 8, UINT64_MAX, -1},                  /* no version */
        {96 + 31, 1, 1, -1},                      /* a text without an end */
        {PACK_HEADER_BYTES + 32, 8, 0, -1},       /* an empty entry */
        {PACK_HEADER_BYTES + 32, 8, 1, -1},       /* a gap */
        {PACK_HEADER_BYTES + 32, 8, 1 << 20, -1}, /* an entry beyond the end */
        {PACK_HEADER_BYTES + 32, 8, UINT64_MAX, -1}, /* offsets that overflow */
        {PACK_HEADER_BYTES + PACK_ROW_BYTES + 32, 8, UINT64_MAX - 100, -1},
        {PACK_HEADER_BYTES + 40, 8, UINT64_MAX, -1},    /* larger than any entry */
        {PACK_HEADER_BYTES + 40, 8, DISK_MAX_ENTRY, 2}, /* other sizes than the frames have */
        {PACK_HEADER_BYTES + 40, 8, 0, -1}, /* less than so many packed bytes can have */
        {PACK_HEADER_BYTES + 40, 8, 10, -1},
        {PACK_HEADER_BYTES, 1, 200, -1}, /* keys that do not ascend */
        {PACK_HEADER_BYTES, 1, 0, 2},    /* another key than the entry's */
        {PACK_HEADER_BYTES + PACK_ROW_BYTES, 1, 1, 2},
        {PACK_HEADER_BYTES + 48, 8, 0, 2},  /* a base that is not said, */
        {PACK_HEADER_BYTES + 48, 8, 1, -1}, /* that is itself, */
        {PACK_HEADER_BYTES + 48, 8, 3, 2},  /* another one, */
        {PACK_HEADER_BYTES + 48, 8, 4, -1}, /* not there, */
        {PACK_HEADER_BYTES + 48, 8, UINT64_MAX, -1},
        {PACK_HEADER_BYTES + 2 * PACK_ROW_BYTES + 48, 8, 1, -1}, /* or has a base */
    };

    (void)state;
    write_pack(path, 1, 5);
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        size_t size;
        uint8_t *bytes = read_file(path, &size);

        put(bytes + lies[i].at, lies[i].value, lies[i].bytes);
        mend_digest(bytes, ENTRIES);
        if (count_intact(bytes, size) != lies[i].intact)
            fail_msg("lie %zu: %d entries are intact", i, count_intact(bytes, size));
        free(bytes);
    }
}

/* Two equal keys, and a base that is not there. */
static void test_rows_that_are_wrong(void **state)
{
    (void)state;
    for (int is_twice = 0; is_twice < 2; is_twice++) {
        struct pack_builder builder = {.compute_capability = CHIP, .maker = maker_of(5)};
        struct pack_row base = row_of(9, 5);
        uint64_t size;

        for (int i = 0; i < 2; i++) {
            struct pack_row row = row_of(is_twice ? 1 : i, 5);

            assert_ok(pack_compress(&row, is_twice ? NULL : &base));
            assert_ok(pack_add(&builder, &row));
        }
        assert_int_equal(pack_write(&builder, path, &size), POOL_ERR_INTERNAL);
        assert_int_not_equal(access(path, F_OK), 0);
        pack_row_free(&base);
        pack_builder_free(&builder);
    }
}

static const char *refusal_of(const char *name)
{
    static char reason[256];
    struct pack pack;

    reason[0] = '\0';
    if (pack_open(AT_FDCWD, name, &pack, reason, sizeof(reason)) == DISK_GOOD)
        pack_close(&pack);
    return reason;
}

static void test_unsafe_files(void **state)
{
    char link[120];

    (void)state;
    write_pack(path, 1, 5);
    assert_string_equal(refusal_of(path), "");
    chmod(path, 0664);
    assert_non_null(strstr(refusal_of(path), "other users can write it (mode 664)"));
    chmod(path, 0646);
    assert_non_null(strstr(refusal_of(path), "(mode 646)"));
    chmod(path, 0444);
    assert_string_equal(refusal_of(path), "");
    snprintf(link, sizeof(link), "%s/link", root);
    assert_int_equal(symlink(path, link), 0);
    assert_non_null(strstr(refusal_of(link), "symbolic link"));
    unlink(link);
    assert_int_equal(mkfifo(link, 0600), 0);
    assert_non_null(strstr(refusal_of(link), "not a regular file"));
    assert_non_null(strstr(refusal_of(root), "not a regular file"));
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_non_null(strstr(refusal_of(path), "owned by user 12345"));
    }
}

/* ---- levels ---------------------------------------------------------------------------------- */

static pool_module_params params = {
    .struct_size = sizeof(params), .source = "extern \"C\" __global__ void k() {}", .name = "k.cu"};
static const struct module_request request = {
    .params = &params, .name = "k.cu", .compute_capability = CHIP};

/* The number of the entry that a look-up with its key finds; 0: none. */
static int found(int number, int maker)
{
    const struct module_maker from = maker_of(maker);
    struct module_key key = key_of(number);
    struct module_image *image = NULL;

    assert_ok(levels_load(&request, &from, &key, NULL, &image));
    if (!image)
        return 0;
    check_image(image, number);
    module_image_release(image);
    return number;
}

static const char *reason_of_first(void)
{
    static pool_pack_info info;

    info = (pool_pack_info){.struct_size = sizeof(info)};
    assert_ok(pool_pack_at(0, &info));
    assert_int_equal(info.is_used, !info.reason[0]);
    return info.reason;
}

static void test_levels(void **state)
{
    char list[200], second[120];
    pool_pack_info info = {.struct_size = sizeof(info)};

    (void)state;
    assert_int_equal(found(1, 5), 0);
    assert_int_equal(pool_pack_at(0, &info), POOL_ERR_NOT_FOUND);
    write_pack(path, 1, 5);
    snprintf(second, sizeof(second), "%s/sm_90.pack", other_level);
    write_pack(second, 3, 5);
    assert_int_equal(found(1, 5), 1);
    assert_int_equal(found(4, 5), 0);
    snprintf(list, sizeof(list), "relative:%s/none:%s:%s", root, other_level, level);
    setenv("DEVICEPOOL_CACHE_LEVELS", list, 1);
    for (int i = 1; i < 3 + ENTRIES; i++)
        assert_int_equal(found(i, 5), i);
    assert_int_equal(found(9, 5), 0);
    assert_ok(pool_pack_at(0, &info));
    assert_string_equal(info.path, second);
    assert_int_equal(info.entries, ENTRIES);
    assert_int_equal(info.compute_capability, CHIP);
    assert_true(info.is_used && !info.reason[0]);
    assert_ok(pool_pack_at(1, &info));
    assert_string_equal(info.path, path);
    assert_int_equal(pool_pack_at(2, &info), POOL_ERR_NOT_FOUND);
    setenv("DEVICEPOOL_CACHE", "off", 1);
    assert_int_equal(found(1, 5), 0);
    unsetenv("DEVICEPOOL_CACHE");
    setenv("DEVICEPOOL_CACHE_LEVELS", "off", 1);
    assert_int_equal(found(1, 5), 0);
}

/* Another NVRTC, another build of the library, another chip: not used, with the reason. */
static void test_packs_of_others(void **state)
{
    char renamed[120];
    uint8_t *bytes;
    size_t size;

    (void)state;
    write_pack(path, 1, 5);
    assert_int_equal(found(1, 6), 0);
    assert_int_equal(found(1, 5), 1);
    assert_string_equal(reason_of_first(), "");
    snprintf(renamed, sizeof(renamed), "%s/sm_80.pack", level);
    assert_int_equal(rename(path, renamed), 0);
    assert_string_equal(reason_of_first(), "it is for sm_90");
    assert_int_equal(rename(renamed, path), 0);
    bytes = read_file(path, &size);
    bytes[64] ^= 1;
    mend_digest(bytes, ENTRIES);
    write_file(path, bytes, size);
    assert_int_equal(found(1, 5), 0);
    assert_non_null(strstr(reason_of_first(), "another build of the library has made it"));
    bytes[0] ^= 1;
    write_file(path, bytes, size);
    assert_non_null(strstr(reason_of_first(), "it is damaged"));
    bytes[0] ^= 1;
    bytes[64] ^= 1;
    mend_digest(bytes, ENTRIES);
    bytes[size - 1] ^= 1;
    write_file(path, bytes, size);
    assert_int_equal(found(1, 5), 1);
    assert_int_equal(found(3, 5), 0); /* the damaged one */
    free(bytes);
    chmod(level, 0775);
    assert_int_equal(found(1, 5), 0);
    assert_non_null(strstr(reason_of_first(), "other users can write in it"));
}

/* Without a compiler the key is that for the NVRTC that has made the pack. */
static void test_without_compiler(void **state)
{
    const struct module_key files = {{0}};
    const struct module_maker maker = maker_of(5);
    struct pack_builder builder = {.compute_capability = CHIP, .maker = maker};
    struct disk_header header = header_of(5);
    struct module_image *image = image_of(2), *loaded = NULL;
    struct module_key key;
    struct pack_row row;
    uint64_t bytes;

    (void)state;
    assert_ok(module_key_of(&request, &maker, &files, &key));
    assert_ok(pack_encode(&key, &header, image, &row));
    assert_ok(pack_compress(&row, NULL));
    assert_ok(pack_add(&builder, &row));
    assert_ok(pack_write(&builder, path, &bytes));
    pack_builder_free(&builder);
    module_image_release(image);
    assert_ok(module_image_get(&request, &loaded));
    check_image(loaded, 2);
    module_image_release(loaded);
    params.no_cache = 1;
    assert_int_equal(module_image_get(&request, &loaded), POOL_ERR_NO_COMPILER);
    params.no_cache = 0;
}

/* ---- packs and the cache --------------------------------------------------------------------- */

static void store(int number, const char *name, int maker, uint64_t time, int chip)
{
    struct disk_header header = {"", time, chip, maker_of(maker)};
    struct module_image *image = image_of(number);
    struct module_key key = key_of(number);

    snprintf(header.name, sizeof(header.name), "%s", name);
    disk_store(&key, &header, image);
    module_image_release(image);
}

static void test_pack_the_cache(void **state)
{
    pool_pack_info info = {.struct_size = sizeof(info)};
    uint64_t left_out = 99, intact, deleted;

    (void)state;
    assert_int_equal(pool_pack_cache(level, CHIP, &info, &left_out), POOL_ERR_NOT_FOUND);
    store(1, "a.cu", 5, 1000, CHIP);
    store(2, "b.cu", 5, 1000, CHIP);
    store(3, "c.cu", 6, 900, CHIP);
    store(4, "d.cu", 5, 1000, 80);
    store(5, MODULE_TRIAL_NAME, 7, 2000, CHIP);
    assert_int_equal(pool_pack_cache(level, 75, &info, &left_out), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_pack_cache(level, 5, &info, &left_out), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_pack_cache(level, CHIP, &info, &left_out));
    assert_int_equal(info.entries, 2);
    assert_int_equal(left_out, 1);
    assert_string_equal(info.path, path);
    assert_ok(pool_cache_clear(&deleted));
    assert_int_equal(deleted, 5);
    assert_int_equal(found(1, 5), 1);
    assert_int_equal(found(3, 6), 0);
    assert_int_equal(found(4, 5), 0);
    assert_ok(pool_pack_verify(path, &info));
    assert_int_equal(info.entries, 2);
    assert_ok(pool_pack_unpack(path, &info));
    assert_ok(pool_cache_verify(&intact, &deleted));
    assert_int_equal(intact, 2);
    for (int i = 1; i <= 2; i++) {
        struct module_key key = key_of(i);
        struct module_image *image = disk_load(&key);

        assert_non_null(image);
        check_image(image, i);
        module_image_release(image);
    }
}

static void test_verify(void **state)
{
    uint8_t *bytes;
    size_t size;

    (void)state;
    assert_int_equal(pool_pack_verify(path, NULL), POOL_ERR_NOT_FOUND);
    write_pack(path, 1, 5);
    assert_ok(pool_pack_verify(path, NULL));
    bytes = read_file(path, &size);
    bytes[size - 1] ^= 1;
    write_file(path, bytes, size);
    assert_int_equal(pool_pack_verify(path, NULL), POOL_ERR_BAD_DATA);
    assert_non_null(strstr(pool_last_error()->message, "entry 030a11"));
    assert_int_equal(pool_pack_unpack(path, NULL), POOL_ERR_BAD_DATA); /* the others are copied */
    assert_int_equal(pool_cache_verify(NULL, NULL), POOL_OK);
    write_file(path, (const uint8_t *)"text", 4);
    assert_int_equal(pool_pack_verify(path, NULL), POOL_ERR_BAD_DATA);
    free(bytes);
}

static int add_bytes(void *user, const pool_cache_entry *entry)
{
    *(uint64_t *)user += entry->bytes;
    return 0;
}

static uint64_t cached_bytes(void)
{
    uint64_t bytes = 0;

    assert_ok(pool_cache_each(add_bytes, &bytes));
    return bytes;
}

/* Entries that would take one another's place in the cache are no success. */
static void test_unpack_more_than_the_limit(void **state)
{
    uint64_t intact;

    (void)state;
    write_pack(path, 1, 5);
    setenv("DEVICEPOOL_CACHE_MAX", "700", 1); /* two of the three */
    assert_int_equal(pool_pack_unpack(path, NULL), POOL_ERR_IO);
    assert_non_null(strstr(pool_last_error()->message, "700 bytes: DEVICEPOOL_CACHE_MAX"));
    assert_int_equal(cached_bytes(), 0);
    setenv("DEVICEPOOL_CACHE_MAX", "1", 1);
    assert_int_equal(pool_pack_unpack(path, NULL), POOL_ERR_IO);
    unsetenv("DEVICEPOOL_CACHE_MAX");
    assert_ok(pool_pack_unpack(path, NULL));
    assert_ok(pool_cache_verify(&intact, NULL));
    assert_int_equal(intact, ENTRIES);
}

/* A pack of many small entries. */
static void write_large_pack(int count)
{
    struct pack_builder builder = {.compute_capability = CHIP, .maker = maker_of(5)};
    struct disk_header header = header_of(5);
    uint64_t bytes;

    for (int i = 0; i < count; i++) {
        struct module_image *image = image_of(1);
        struct module_key key = key_of(i);
        struct pack_row row;

        assert_ok(pack_encode(&key, &header, image, &row));
        assert_ok(pack_compress(&row, NULL));
        assert_ok(pack_add(&builder, &row));
        module_image_release(image);
    }
    assert_ok(pack_write(&builder, path, &bytes));
    pack_builder_free(&builder);
}

static int count_opened(void *user, const char *operation)
{
    *(int *)user += strcmp(operation, "open") == 0;
    return 0;
}

/* The cache is opened and listed for the pack, and not for each of its entries. */
static void test_unpack_many(void **state)
{
    enum { MANY = 200 };
    uint64_t intact;
    int opened = 0;

    (void)state;
    write_large_pack(MANY);
    base_file_set_hook(count_opened, &opened);
    assert_ok(pool_pack_unpack(path, NULL));
    base_file_set_hook(NULL, NULL);
    assert_true(opened >= MANY && opened < MANY + 20);
    assert_ok(pool_cache_verify(&intact, NULL));
    assert_int_equal(intact, MANY);
}

/* Unpacked again, entries take their own places; others are evicted only as far as needed. */
static void test_unpack_into_a_full_cache(void **state)
{
    uint64_t intact, bytes;
    char limit[32];

    (void)state;
    store(101, "other.cu", 5, 1000, CHIP);
    write_pack(path, 1, 5);
    assert_ok(pool_pack_unpack(path, NULL));
    bytes = cached_bytes();
    snprintf(limit, sizeof(limit), "%llu", (unsigned long long)bytes);
    setenv("DEVICEPOOL_CACHE_MAX", limit, 1);
    assert_ok(pool_pack_unpack(path, NULL));
    assert_ok(pool_cache_verify(&intact, NULL));
    assert_int_equal(intact, ENTRIES + 1);
    snprintf(limit, sizeof(limit), "%llu", (unsigned long long)bytes - 1);
    setenv("DEVICEPOOL_CACHE_MAX", limit, 1);
    assert_ok(pool_pack_unpack(path, NULL));
    unsetenv("DEVICEPOOL_CACHE_MAX");
    assert_ok(pool_cache_verify(&intact, NULL));
    assert_int_equal(intact, ENTRIES);
    for (int i = 1; i <= ENTRIES; i++) {
        struct module_key key = key_of(i);
        struct module_image *image = disk_load(&key);

        assert_non_null(image);
        module_image_release(image);
    }
}

struct failing {
    int countdown;
};

static int fail_file(void *user, const char *operation)
{
    struct failing *failing = user;

    (void)operation;
    return failing->countdown-- == 0 ? EIO : 0;
}

/* Every failing operation gives an error, and an old pack stays until a new one is complete. */
static void test_failing_files(void **state)
{
    pool_status status = POOL_ERR_IO;

    (void)state;
    store(1, "a.cu", 5, 1000, CHIP);
    write_pack(path, 1, 5);
    for (int i = 0; status; i++) {
        struct failing failing = {i};
        pool_pack_info info = {.struct_size = sizeof(info)};

        base_file_set_hook(fail_file, &failing);
        status = pool_pack_cache(level, CHIP, NULL, NULL);
        base_file_set_hook(NULL, NULL);
        assert_ok(pool_pack_verify(path, &info));
        assert_int_equal(info.entries, status ? ENTRIES : 1);
        assert_true(i < 100);
        if (failing.countdown >= 0)
            break;
    }
    assert_ok(status);
    status = POOL_ERR_IO;
    for (int i = 0; status; i++) {
        struct failing failing = {i};

        base_file_set_hook(fail_file, &failing);
        status = pool_pack_verify(path, NULL);
        base_file_set_hook(NULL, NULL);
        assert_true(i < 100);
    }
    for (int i = 0;; i++) { /* what is not stored is no success */
        struct failing failing = {i};
        uint64_t intact;

        assert_ok(pool_cache_clear(NULL));
        base_file_set_hook(fail_file, &failing);
        status = pool_pack_unpack(path, NULL);
        base_file_set_hook(NULL, NULL);
        assert_ok(pool_cache_verify(&intact, NULL));
        assert_true(status || intact == 1);
        if (failing.countdown >= 0)
            break;
        assert_true(i < 100);
    }
    assert_ok(status);
}

static int fail_allocation(void *user)
{
    struct failing *failing = user;

    return failing->countdown-- == 0;
}

static pool_status pack_the_cache(void)
{
    return pool_pack_cache(level, CHIP, NULL, NULL);
}

static pool_status verify_the_pack(void)
{
    return pool_pack_verify(path, NULL);
}

static pool_status unpack_the_pack(void)
{
    return pool_pack_unpack(path, NULL);
}

static pool_status describe_the_pack(void)
{
    pool_pack_info info = {.struct_size = sizeof(info)};

    return pool_pack_at(0, &info);
}

/* A look-up may miss, and with every allocation it finds. */
static pool_status look_up(void)
{
    const struct module_maker from = maker_of(5);
    struct module_key key = key_of(1);
    struct module_image *image = NULL;
    pool_status status = levels_load(&request, &from, &key, NULL, &image);

    status = status || image ? status : POOL_ERR_OUT_OF_HOST_MEMORY;
    module_image_release(image);
    return status;
}

/* Each allocation of each call fails once: an error, nothing leaks (AddressSanitizer), and the pack
 * stays whole. */
static void test_failing_allocations(void **state)
{
    static pool_status (*const calls[])(void) = {
        pack_the_cache, verify_the_pack, unpack_the_pack, describe_the_pack, look_up};

    (void)state;
    store(1, "a.cu", 5, 1000, CHIP);
    store(2, "b.cu", 5, 1000, CHIP);
    assert_ok(pack_the_cache());
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        for (int n = 0;; n++) {
            struct failing failing = {n};
            pool_pack_info info = {.struct_size = sizeof(info)};
            pool_status status;

            base_alloc_set_hook(fail_allocation, &failing);
            status = calls[i]();
            base_alloc_set_hook(NULL, NULL);
            assert_ok(pool_pack_verify(path, &info));
            assert_int_equal(info.entries, 2);
            if (failing.countdown >= 0) {
                assert_ok(status);
                break;
            }
            assert_true(n < 200);
        }
}

int main(void)
{
#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, drop_root)
    const struct CMUnitTest tests[] = {
        IN_ROOT(test_write_and_read),
        IN_ROOT(test_damaged_bytes),
        IN_ROOT(test_lies),
        IN_ROOT(test_rows_that_are_wrong),
        IN_ROOT(test_unsafe_files),
        IN_ROOT(test_levels),
        IN_ROOT(test_packs_of_others),
        IN_ROOT(test_without_compiler),
        IN_ROOT(test_pack_the_cache),
        IN_ROOT(test_verify),
        IN_ROOT(test_unpack_more_than_the_limit),
        IN_ROOT(test_unpack_many),
        IN_ROOT(test_unpack_into_a_full_cache),
        IN_ROOT(test_failing_files),
        IN_ROOT(test_failing_allocations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
