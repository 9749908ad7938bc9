/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk cache: an entry with any other length or any flipped bit is a miss, directories that are
 * not safe are not used, the size limit holds, and failing file operations do no harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/new_file.h"
#include "pool/module/disk.h"
#include "support/assert.h"
#include "support/child.h"

static char root[64];
static char directory[128];

/* A separate directory for each test, with the cache in "cache" below it. */
static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/devicepool-cache-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(directory, sizeof(directory), "%s/cache", root);
    unsetenv("DEVICEPOOL_CACHE");
    unsetenv("DEVICEPOOL_CACHE_MAX");
    return setenv("DEVICEPOOL_CACHE_DIR", directory, 1);
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
    struct disk_header facts = {"kernel.cu", 1700000000, 90, {13000, {0}}};
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
    snprintf(path, size, "%s/%s", directory, name);
}

/* Fails the operation of that name (NULL: any) after `countdown` others, once. */
struct failing {
    const char *operation;
    int countdown;
    int error;
};

static int fail_with(void *user, const char *operation)
{
    struct failing *failing = user;

    if (failing->operation && strcmp(operation, failing->operation) != 0)
        return 0;
    return failing->countdown-- == 0 ? failing->error : 0;
}

static uint64_t bytes_there;

static int files_in_directory(void)
{
    DIR *stream = opendir(directory);
    struct dirent *entry;
    struct stat about;
    int count = 0;

    assert_non_null(stream);
    bytes_there = 0;
    while ((entry = readdir(stream)))
        if (!fstatat(dirfd(stream), entry->d_name, &about, 0) && S_ISREG(about.st_mode)) {
            bytes_there += (uint64_t)about.st_size;
            count++;
        }
    closedir(stream);
    return count;
}

static uint64_t bytes_in_directory(void)
{
    files_in_directory();
    return bytes_there;
}

static void test_store_and_load(void **state)
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
    assert_int_equal(stat(directory, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    entry_path(1, path, sizeof(path));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
}

static void encoded(uint8_t **bytes, size_t *size)
{
    struct disk_header facts = {"a name", 1700000000, 90, {13000, {1, 2, 3}}};
    struct module_image *image = image_of(77);
    struct module_key key = key_of(2);

    assert_int_equal(disk_encode(&key, &facts, image, bytes, size), 0);
    module_image_release(image);
}

static void test_every_truncation_is_a_miss(void **state)
{
    struct module_key key = key_of(2);
    struct module_image *image;
    uint8_t *bytes;
    size_t size;

    (void)state;
    encoded(&bytes, &size);
    for (size_t length = 0; length < size; length++) {
        uint8_t *cut = malloc(length ? length : 1);

        memcpy(cut, bytes, length);
        assert_int_equal(disk_decode(cut, length, &key, NULL, &image), DISK_BAD);
        assert_int_equal(disk_decode(cut, length, NULL, NULL, &image), DISK_BAD);
        free(cut);
    }
    base_free(bytes);
}

static void test_every_flipped_bit_is_a_miss(void **state)
{
    struct module_key key = key_of(2);
    struct disk_header facts;
    struct module_image *image;
    uint8_t *bytes;
    size_t size;

    (void)state;
    encoded(&bytes, &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(disk_decode(bytes, size, &key, NULL, &image), DISK_BAD);
        assert_int_equal(disk_decode(bytes, size, NULL, NULL, &image), DISK_BAD);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(disk_decode(bytes, size, &key, &facts, &image), DISK_GOOD);
    assert_string_equal(facts.name, "a name");
    assert_int_equal(facts.compute_capability, 90);
    module_image_release(image);
    key = key_of(3);
    assert_int_equal(disk_decode(bytes, size, &key, NULL, &image), DISK_BAD);
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

static void test_unsafe_directorys_are_refused(void **state)
{
    char text[256];

    (void)state;
    store(7, 100);
    assert_int_equal(chmod(directory, 0777), 0);
    assert_false(is_stored(7));
    assert_int_equal(pool_cache_directory(text, sizeof(text)), POOL_ERR_UNSUPPORTED);
    assert_non_null(strstr(pool_last_error()->message, "other users can write"));
    assert_int_equal(chmod(directory, 0700), 0);
    assert_true(is_stored(7));
    assert_int_equal(chmod(root, 01777), 0);
    assert_false(is_stored(7));
    assert_int_equal(chmod(root, 0700), 0);
    setenv("DEVICEPOOL_CACHE", "off", 1);
    assert_false(is_stored(7));
    assert_int_equal(pool_cache_clear(NULL), POOL_ERR_UNSUPPORTED);
    unsetenv("DEVICEPOOL_CACHE");
    snprintf(text, sizeof(text), "%s/link", root);
    assert_int_equal(symlink(directory, text), 0);
    setenv("DEVICEPOOL_CACHE_DIR", text, 1);
    assert_false(is_stored(7));
    setenv("DEVICEPOOL_CACHE_DIR", "relative", 1);
    setenv("XDG_CACHE_HOME", root, 1);
    assert_int_equal(pool_cache_directory(text, sizeof(text)), POOL_OK);
    assert_non_null(strstr(text, "/devicepool"));
    assert_int_equal(pool_cache_directory(text, 5), POOL_ERR_INVALID_ARGUMENT);
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
        assert_int_equal(entry->created_unix_time, 1700000000);
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
    assert_int_equal(pool_cache_verify(&kept, &deleted), POOL_OK); /* no directory yet */
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
    assert_between(point, 10, 100);
}

static int fail_allocation(void *user)
{
    return (*(int *)user)-- == 0;
}

/* Out of memory, of descriptors, input errors: nothing is known of the entry, so it stays. */
static void test_what_cannot_be_read_now_stays(void **state)
{
    static const int errors[] = {EMFILE, EIO, ENOMEM};
    int countdown, hits = 0;

    (void)state;
    store(40, 400);
    for (int point = 0; point < 12; point++) {
        struct failing failing = {.countdown = point, .error = errors[point % 3]};

        base_file_set_hook(fail_with, &failing);
        hits += !is_stored(40);
        base_file_set_hook(NULL, NULL);
        assert_true(is_stored(40));
    }
    for (int point = 0; point < 12; point++) {
        countdown = point;
        base_alloc_set_hook(fail_allocation, &countdown);
        hits += !is_stored(40);
        base_alloc_set_hook(NULL, NULL);
        assert_true(is_stored(40));
    }
    assert_between(hits, 6, 24);
}

static void test_verify_keeps_what_cannot_be_read(void **state)
{
    uint64_t kept = 99, deleted = 99;
    struct failing failing = {.operation = "read", .error = EIO};

    (void)state;
    store(41, 400);
    base_file_set_hook(fail_with, &failing);
    assert_int_equal(pool_cache_verify(&kept, &deleted), POOL_ERR_IO);
    base_file_set_hook(NULL, NULL);
    assert_int_equal(kept + deleted, 0);
    assert_true(is_stored(41));
}

static void damage(int number)
{
    char path[256];

    entry_path(number, path, sizeof(path));
    assert_int_equal(truncate(path, 200), 0);
}

/* While a damaged entry is read, or just before it is moved off its name, another process puts a
 * good one there. */
static int store_meanwhile(void *user, const char *operation)
{
    const char **when = user;

    if (*when && strcmp(operation, *when) == 0) {
        *when = NULL;
        store(42, 400);
    }
    return 0;
}

static void test_entry_that_took_the_name_stays(void **state)
{
    static const char *const moments[] = {"read", "rename"};

    (void)state;
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        const char *when = moments[i];

        store(42, 400);
        damage(42);
        base_file_set_hook(store_meanwhile, &when);
        assert_false(is_stored(42));
        assert_null(when);
        assert_true(is_stored(42));
        base_file_set_hook(NULL, NULL);
        assert_int_equal(files_in_directory(), 1);
    }
}

static int leave_unfinished(void *argument)
{
    struct base_new_file left;
    int at = open(directory, O_RDONLY | O_DIRECTORY);
    char bytes[3000] = "";

    CHILD_CHECK(!base_new_file_begin(&left, at, ".tmp-", "", 0600));
    CHILD_CHECK(!base_write_all(left.file, bytes, sizeof(bytes)));
    if (argument)
        while (1)
            pause(); /* until it is killed */
    _exit(0);
}

/* A caller that is killed while it writes leaves a file: it goes with the next writer's. */
static void test_files_of_killed_writers_go(void **state)
{
    pid_t child;

    (void)state;
    store(43, 400);
    for (int i = 0; i < 5; i++)
        assert_int_equal(child_run(leave_unfinished, NULL), 0);
    assert_int_equal(files_in_directory(), 6);
    child = fork();
    if (child == 0)
        leave_unfinished(&child);
    while (files_in_directory() < 7 || bytes_in_directory() < 6 * 3000)
        usleep(1000);
    store(44, 400);
    assert_int_equal(files_in_directory(), 3); /* that of a living writer stays … */
    setenv("DEVICEPOOL_CACHE_MAX", "4K", 1);
    store(45, 400);
    assert_int_equal(files_in_directory(), 2); /* … and counts */
    assert_true(is_stored(45));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    store(46, 400);
    assert_int_equal(files_in_directory(), 2);
    assert_true(is_stored(45));
    assert_true(is_stored(46));
}

/* Also an entry that is never finished finds room first. */
static void test_room_is_made_before_writing(void **state)
{
    struct failing failing = {.operation = "write", .error = ENOSPC};

    (void)state;
    setenv("DEVICEPOOL_CACHE_MAX", "4K", 1);
    store(47, 2000);
    base_file_set_hook(fail_with, &failing);
    store(48, 2000);
    base_file_set_hook(NULL, NULL);
    assert_int_equal(files_in_directory(), 0);
    store(49, 5000); /* more than the limit: not stored, and nothing is evicted for it */
    store(50, 2000);
    store(49, 5000);
    assert_false(is_stored(49));
    assert_true(is_stored(50));
}

static void test_links_with_a_slash_are_refused(void **state)
{
    static const char *const endings[] = {"", "/", "//", "/.", "/./"};
    char link[128], path[160], text[256];

    (void)state;
    store(51, 100);
    snprintf(link, sizeof(link), "%s/link", root);
    assert_int_equal(symlink(directory, link), 0);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", link, endings[i]);
        setenv("DEVICEPOOL_CACHE_DIR", path, 1);
        assert_false(is_stored(51));
        snprintf(path, sizeof(path), "%s%s", directory, endings[i]);
        setenv("DEVICEPOOL_CACHE_DIR", path, 1);
        assert_true(is_stored(51));
        assert_int_equal(pool_cache_directory(text, sizeof(text)), POOL_OK);
        assert_string_equal(text, directory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_root, drop_root)
        CASE(test_store_and_load),
        CASE(test_every_truncation_is_a_miss),
        CASE(test_every_flipped_bit_is_a_miss),
        CASE(test_damaged_entry_is_deleted),
        CASE(test_links_and_foreign_modes_are_refused),
        CASE(test_unsafe_directorys_are_refused),
        CASE(test_cap_drops_the_unused),
        CASE(test_list_verify_clear),
        CASE(test_failing_file_operations),
        CASE(test_what_cannot_be_read_now_stays),
        CASE(test_verify_keeps_what_cannot_be_read),
        CASE(test_entry_that_took_the_name_stays),
        CASE(test_files_of_killed_writers_go),
        CASE(test_room_is_made_before_writing),
        CASE(test_links_with_a_slash_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
