/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk cache: entries survive nothing but themselves (every truncation and every flipped bit is
 * a miss), folders that are not safe are not used, the cap holds, failing file operations harm
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "module/disk.h"

static char root[64];
static char folder[128];

/* A folder of its own for each test, with the cache in "cache" below it. */
static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/devicepool-cache-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(folder, sizeof(folder), "%s/cache", root);
    unsetenv("DEVICEPOOL_CACHE");
    unsetenv("DEVICEPOOL_CACHE_MAX");
    return setenv("DEVICEPOOL_CACHE_DIR", folder, 1);
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

static struct module_image *image_of(size_t size)
{
    struct module_image *image = module_image_new(MODULE_CUBIN, size);

    assert_non_null(image);
    for (size_t i = 0; i < size; i++)
        image->bytes[i] = (char)(i * 31 + 5);
    return image;
}

static void store(int number, size_t size)
{
    struct disk_facts facts = {"kernel.cu", 1700000000, 90};
    struct module_image *image = image_of(size);
    struct module_key key = key_of(number);

    disk_store(&key, &facts, image);
    module_image_release(image);
}

static int is_stored(int number)
{
    struct module_key key = key_of(number);
    struct module_image *image = disk_load(&key);

    module_image_release(image);
    return image != NULL;
}

static void entry_path(int number, char *path, size_t size)
{
    char name[2 * BASE_SHA256_BYTES + 1];
    struct module_key key = key_of(number);

    module_key_text(&key, name);
    snprintf(path, size, "%s/%s", folder, name);
}

static void test_round_trip(void **state)
{
    struct module_image *expected = image_of(1000);
    struct module_key key = key_of(1);
    struct module_image *image;
    struct stat about;
    char path[256];

    (void)state;
    assert_false(is_stored(1));
    store(1, 1000);
    image = disk_load(&key);
    assert_non_null(image);
    assert_int_equal(image->form, MODULE_CUBIN);
    assert_int_equal(image->size, 1000);
    assert_memory_equal(image->bytes, expected->bytes, 1000);
    module_image_release(image);
    module_image_release(expected);
    assert_int_equal(stat(folder, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    entry_path(1, path, sizeof(path));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
}

static void encoded(uint8_t **bytes, size_t *size)
{
    struct disk_facts facts = {"a name", 1700000000, 90};
    struct module_image *image = image_of(77);
    struct module_key key = key_of(2);

    assert_int_equal(disk_encode(&key, &facts, image, bytes, size), 0);
    module_image_release(image);
}

static void test_every_truncation_is_a_miss(void **state)
{
    struct module_key key = key_of(2);
    uint8_t *bytes;
    size_t size;

    (void)state;
    encoded(&bytes, &size);
    for (size_t length = 0; length < size; length++) {
        uint8_t *cut = malloc(length ? length : 1);

        memcpy(cut, bytes, length);
        assert_null(disk_decode(cut, length, &key, NULL));
        assert_null(disk_decode(cut, length, NULL, NULL));
        free(cut);
    }
    base_free(bytes);
}

static void test_every_flipped_bit_is_a_miss(void **state)
{
    struct module_key key = key_of(2);
    struct disk_facts facts;
    struct module_image *image;
    uint8_t *bytes;
    size_t size;

    (void)state;
    encoded(&bytes, &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_null(disk_decode(bytes, size, &key, NULL));
        assert_null(disk_decode(bytes, size, NULL, NULL));
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    image = disk_decode(bytes, size, &key, &facts);
    assert_non_null(image);
    assert_string_equal(facts.name, "a name");
    assert_int_equal(facts.compute_capability, 90);
    module_image_release(image);
    key = key_of(3);
    assert_null(disk_decode(bytes, size, &key, NULL));
    base_free(bytes);
}

static void test_damaged_entry_is_deleted(void **state)
{
    char path[256];
    FILE *file;

    (void)state;
    store(4, 500);
    entry_path(4, path, sizeof(path));
    file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, 300, SEEK_SET);
    fputc('!', file);
    fclose(file);
    assert_false(is_stored(4));
    assert_int_equal(access(path, F_OK), -1);
}

static void test_links_and_foreign_modes_are_refused(void **state)
{
    char path[256];
    char other[256];

    (void)state;
    store(5, 100);
    store(6, 100);
    entry_path(5, path, sizeof(path));
    entry_path(6, other, sizeof(other));
    unlink(path);
    assert_int_equal(symlink(other, path), 0);
    assert_false(is_stored(5));
    assert_true(is_stored(6));
    assert_int_equal(chmod(other, 0666), 0);
    assert_false(is_stored(6));
}

static void test_unsafe_folders_are_refused(void **state)
{
    char text[256];

    (void)state;
    store(7, 100);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_false(is_stored(7));
    assert_int_equal(pool_cache_folder(text, sizeof(text)), POOL_ERR_UNSUPPORTED);
    assert_non_null(strstr(pool_last_error()->message, "others can write"));
    assert_int_equal(chmod(folder, 0700), 0);
    assert_true(is_stored(7));
    assert_int_equal(chmod(root, 01777), 0);
    assert_false(is_stored(7));
    assert_int_equal(chmod(root, 0700), 0);
    setenv("DEVICEPOOL_CACHE", "off", 1);
    assert_false(is_stored(7));
    assert_int_equal(pool_cache_clear(NULL), POOL_ERR_UNSUPPORTED);
    unsetenv("DEVICEPOOL_CACHE");
    snprintf(text, sizeof(text), "%s/link", root);
    assert_int_equal(symlink(folder, text), 0);
    setenv("DEVICEPOOL_CACHE_DIR", text, 1);
    assert_false(is_stored(7));
    setenv("DEVICEPOOL_CACHE_DIR", "relative", 1);
    setenv("XDG_CACHE_HOME", root, 1);
    assert_int_equal(pool_cache_folder(text, sizeof(text)), POOL_OK);
    assert_non_null(strstr(text, "/devicepool"));
    assert_int_equal(pool_cache_folder(text, 5), POOL_ERR_INVALID_ARGUMENT);
    unsetenv("XDG_CACHE_HOME");
}

static void test_cap_drops_the_unused(void **state)
{
    (void)state;
    setenv("DEVICEPOOL_CACHE_MAX", "5K", 1);
    store(10, 2000);
    usleep(20000);
    store(11, 2000);
    usleep(20000);
    assert_true(is_stored(10)); /* a use makes it young */
    usleep(20000);
    store(12, 2000);
    assert_true(is_stored(10));
    assert_false(is_stored(11));
    assert_true(is_stored(12));
}

static int count_valid(void *user, const pool_cache_entry *entry)
{
    int *counts = user;

    counts[entry->valid != 0]++;
    if (entry->valid) {
        assert_string_equal(entry->name, "kernel.cu");
        assert_int_equal(entry->made_unix_time, 1700000000);
    }
    return 0;
}

static void test_list_verify_clear(void **state)
{
    int counts[2] = {0, 0};
    uint64_t kept = 99;
    uint64_t deleted = 99;
    char path[256];

    (void)state;
    assert_int_equal(pool_cache_verify(&kept, &deleted), POOL_OK); /* no folder yet */
    assert_int_equal(kept + deleted, 0);
    for (int i = 20; i < 25; i++)
        store(i, 300);
    entry_path(22, path, sizeof(path));
    assert_int_equal(truncate(path, 200), 0);
    assert_int_equal(pool_cache_each(count_valid, counts), POOL_OK);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 4);
    assert_int_equal(pool_cache_verify(&kept, &deleted), POOL_OK);
    assert_int_equal(kept, 4);
    assert_int_equal(deleted, 1);
    assert_int_equal(pool_cache_clear(&deleted), POOL_OK);
    assert_int_equal(deleted, 4);
    assert_int_equal(pool_cache_each(NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
}

static int fail_at(void *user, const char *operation)
{
    (void)operation;
    return (*(int *)user)-- == 0 ? EIO : 0;
}

/* Every file operation of storing and loading fails once: nothing is torn, the next try works. */
static void test_failing_file_operations(void **state)
{
    int point = 0;
    int countdown;

    (void)state;
    do {
        countdown = point++;
        base_file_set_hook(fail_at, &countdown);
        store(30, 400);
        (void)is_stored(30);
        base_file_set_hook(NULL, NULL);
        store(30, 400);
        assert_true(is_stored(30));
    } while (countdown < 0);
    assert_in_range(point, 10, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_root, drop_root)
        CASE(test_round_trip),
        CASE(test_every_truncation_is_a_miss),
        CASE(test_every_flipped_bit_is_a_miss),
        CASE(test_damaged_entry_is_deleted),
        CASE(test_links_and_foreign_modes_are_refused),
        CASE(test_unsafe_folders_are_refused),
        CASE(test_cap_drops_the_unused),
        CASE(test_list_verify_clear),
        CASE(test_failing_file_operations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
