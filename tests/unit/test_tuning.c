/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tuned numbers: their names and ranges, their files, whole, damaged and forged, and the pools that
 * read them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <devicepool.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "pool/tuning/tuning.h"
#include "support/assert.h"

static const struct tuning_key chip = {.chip = "Chip of a test",
    .compute_major = 9,
    .compute_minor = 0,
    .multiprocessors = 132,
    .driver_version = 13000};

static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The names cover the struct: every word once, in order. */
static void test_names(void **state)
{
    struct tuning_number number, other;
    size_t count = 0;

    (void)state;
    while (tuning_number_at(count, &number)) {
        assert_true(number.min <= number.max);
        for (size_t i = 0; i < count; i++) {
            assert_true(tuning_number_at(i, &other));
            assert_true(other.offset < number.offset);
            assert_string_not_equal(other.name, number.name);
        }
        count++;
    }
    /* But the chunks that are the same on all chips. */
    assert_int_equal((count + 2) * sizeof(uint32_t), sizeof(struct tuning));
}

static void test_defaults(void **state)
{
    static const int capabilities[][2] = {
        {7, 5}, {8, 0}, {8, 6}, {8, 9}, {9, 0}, {10, 0}, {12, 0}, {13, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
        const struct tuning *tuning = tuning_default(capabilities[i][0], capabilities[i][1]);

        assert_true(tuning_is_valid(tuning));
        assert_false(tuning_needs_compiler(tuning, tuning_default(9, 0)));
    }
}

static bool find_number(const char *name, struct tuning_number *number)
{
    for (size_t i = 0; tuning_number_at(i, number); i++)
        if (strcmp(number->name, name) == 0)
            return true;
    return false;
}

static void set(struct tuning *tuning, const char *name, uint32_t value)
{
    struct tuning_number number;

    assert_true(find_number(name, &number));
    tuning_set_value(tuning, &number, value);
}

static void test_ranges(void **state)
{
    struct tuning_number number;

    (void)state;
    for (size_t i = 0; tuning_number_at(i, &number); i++) {
        struct tuning tuning = *tuning_default(9, 0);

        if (number.max < UINT32_MAX) {
            tuning_set_value(&tuning, &number, number.max + 1);
            assert_false(tuning_is_valid(&tuning));
        }
        if (number.min > 0) {
            tuning_set_value(&tuning, &number, number.min - 1);
            assert_false(tuning_is_valid(&tuning));
        }
    }
    struct tuning tuning = *tuning_default(9, 0);
    set(&tuning, "msm.8.window_bits.20", 1);
    assert_false(tuning_is_valid(&tuning));
    tuning = *tuning_default(9, 0);
    set(&tuning, "ntt.1.choice.20", NTT_CHOICE_OTHER); /* which it does not have */
    assert_false(tuning_is_valid(&tuning));
    tuning = *tuning_default(9, 0);
    set(&tuning, "ntt.1.other.log_radix", 4); /* and nothing else */
    assert_false(tuning_is_valid(&tuning));
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Some numbers at their limits, some in between. */
static struct tuning random_tuning(void)
{
    struct tuning tuning = *tuning_default(9, 0);
    struct tuning_number number;

    for (size_t i = 0; tuning_number_at(i, &number); i++) {
        const uint64_t range = (uint64_t)number.max - number.min + 1;
        const uint32_t before = tuning_value(&tuning, &number);

        if (next_random() % 16)
            continue;
        tuning_set_value(&tuning, &number,
            next_random() % 2 ? number.max : number.min + (uint32_t)(next_random() % range));
        if (!tuning_is_valid(&tuning))
            tuning_set_value(&tuning, &number, before);
    }
    return tuning;
}

static void check_refused(const char *text, size_t bytes, pool_status expected)
{
    struct tuning_key key = {.driver_version = 77}, key_before = key;
    struct tuning tuning, before;
    struct tuning_reason reason = {""};
    pool_status status;

    memset(&tuning, 0x5a, sizeof(tuning));
    before = tuning;
    status = tuning_decode(text, bytes, &key, &tuning, &reason);
    if (expected)
        assert_int_equal(status, expected);
    assert_true(status == POOL_ERR_BAD_DATA || status == POOL_ERR_UNSUPPORTED);
    assert_true(reason.text[0]);
    assert_memory_equal(&tuning, &before, sizeof(tuning));
    assert_memory_equal(&key, &key_before, sizeof(key));
}

static void test_write_and_read(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) {
        const struct tuning tuning = i ? random_tuning() : *tuning_default(9, 0);
        struct tuning_reason reason;
        struct tuning_key key;
        struct tuning read;
        char *text = NULL;
        size_t bytes = 0;

        assert_ok(tuning_encode(&chip, &tuning, &text, &bytes));
        assert_ok(tuning_decode(text, bytes, &key, &read, &reason));
        assert_memory_equal(&read, &tuning, sizeof(read));
        assert_memory_equal(&key, &chip, sizeof(key));
        base_free(text);
    }
}

/* Every prefix, every file with one more byte, every changed bit. */
static void test_damaged(void **state)
{
    struct tuning tuning = *tuning_default(9, 0);
    char *text = NULL, *damaged;
    size_t bytes = 0;

    (void)state;
    set(&tuning, "msm.8.window_bits.20", 15);
    set(&tuning, "copy.helpers", 7);
    assert_ok(tuning_encode(&chip, &tuning, &text, &bytes));
    for (size_t i = 0; i < bytes; i++)
        check_refused(text, i, 0);
    damaged = calloc(1, bytes + 1);
    memcpy(damaged, text, bytes);
    for (int byte = 0; byte < 256; byte++) {
        damaged[bytes] = (char)byte;
        check_refused(damaged, bytes + 1, 0);
    }
    for (size_t i = 0; i < 8 * bytes; i++) {
        damaged[i / 8] = (char)(damaged[i / 8] ^ 1 << i % 8);
        check_refused(damaged, bytes, 0);
        damaged[i / 8] = text[i / 8];
    }
    free(damaged);
    base_free(text);
}

/* A file with these lines, its length and its digest right. */
static char *forge(const char *first, const char *after, size_t *bytes)
{
    const size_t size = strlen(first) + strlen(after) + 200;
    char *text = calloc(1, size);
    uint8_t digest[BASE_SHA256_BYTES];
    size_t used;

    *bytes = strlen(first) + strlen("bytes 00000000\n") + strlen(after) + 72;
    used = (size_t)snprintf(text, size, "%sbytes %08zu\n%s", first, *bytes, after);
    assert_ok(base_sha256_of(text, used, digest));
    used += (size_t)snprintf(text + used, size - used, "sha256 ");
    for (int i = 0; i < BASE_SHA256_BYTES; i++)
        used += (size_t)snprintf(text + used, size - used, "%02x", digest[i]);
    text[used++] = '\n';
    assert_int_equal(used, *bytes);
    return text;
}

#define FIRST "devicepool tuning 1\n"
#define CHIP "chip X\ncompute_capability 9.0\nmultiprocessors 4\ndriver 13000\n"

/* Files whose digest is right, so that the parser has to refuse them. */
static void test_forged(void **state)
{
    static const struct {
        const char *first, *chip, *numbers;
        pool_status status;
    } rows[] = {
        {"devicepool tuning 2\n", CHIP, "", POOL_ERR_UNSUPPORTED},
        {"devicepool tuning 01\n", CHIP, "", POOL_ERR_UNSUPPORTED},
        {"devicepool tuning \n", CHIP, "", POOL_ERR_UNSUPPORTED},
        {"devicepool tunings 1\n", CHIP, "", POOL_ERR_BAD_DATA},
        {"devicepool tuning \x1b[2J\n", CHIP, "", POOL_ERR_BAD_DATA},
        {FIRST, "chip X\n", "", POOL_ERR_BAD_DATA},
        {FIRST, "chip \ncompute_capability 9.0\nmultiprocessors 4\ndriver 1\n", "",
            POOL_ERR_BAD_DATA},
        {FIRST, "chip \x1b[2J\ncompute_capability 9.0\nmultiprocessors 4\ndriver 1\n", "",
            POOL_ERR_BAD_DATA},
        {FIRST, "chip X\ncompute_capability 9\nmultiprocessors 4\ndriver 1\n", "",
            POOL_ERR_BAD_DATA},
        {FIRST, "chip X\ncompute_capability 9.0\nmultiprocessors -4\ndriver 1\n", "",
            POOL_ERR_BAD_DATA},
        {FIRST, "chip X\ncompute_capability 9.0\nmultiprocessors 4\ndriver 99999999999\n", "",
            POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.8.window_bits.20 25\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.8.window_bits.20 1\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.8.window_bits.2 9\n", POOL_ERR_BAD_DATA}, /* more than its bound */
        {FIRST, CHIP, "msm.8.window_bits.20 017\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.8.window_bits.20 17 \n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.8.window_bits.20 +17\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.8.window_bits.20 4294967313\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.8.window_bits.20 18446744073709551633\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.8.window_bits.20\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.8.window_bits.20 17", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.8.window_bits.20 17\r\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.8.window_bits.29 17\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "msm.9.window_bits.20 17\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "copy.chunk_bytes 0\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "copy.slots 65\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "ntt.24.usual.log_radix 5\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "ntt.8.usual.log_threads 0\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "ntt.1.choice.20 2\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "ntt.1.other.log_radix 5\n", POOL_ERR_BAD_DATA},
        /* Twice, and in another order. */
        {FIRST, CHIP, "copy.helpers 7\ncopy.helpers 7\n", POOL_ERR_BAD_DATA},
        {FIRST, CHIP, "copy.helpers 7\nmsm.8.window_bits.20 17\n", POOL_ERR_BAD_DATA},
    };
    char library[64], after[1024];
    struct tuning_reason reason;
    struct tuning_key key;
    struct tuning tuning;
    size_t bytes;
    char *text;

    (void)state;
    snprintf(library, sizeof(library), "library %s\n", pool_version_text());
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(after, sizeof(after), "%s%s%s", library, rows[i].chip, rows[i].numbers);
        text = forge(rows[i].first, after, &bytes);
        check_refused(text, bytes, rows[i].status);
        free(text);
    }
    text = forge(FIRST, "library 0.0.9\n" CHIP, &bytes);
    check_refused(text, bytes, POOL_ERR_UNSUPPORTED);
    free(text);
    /* Nothing but what is wrong made the difference. */
    snprintf(after, sizeof(after), "%s" CHIP "msm.8.window_bits.20 17\ncopy.helpers 7\n", library);
    text = forge(FIRST, after, &bytes);
    assert_ok(tuning_decode(text, bytes, &key, &tuning, &reason));
    assert_int_equal(tuning.msm[0].window_bits[20], 17);
    assert_int_equal(tuning.copy.helpers, 7);
    free(text);
}

/* ---- pools ----------------------------------------------------------------------------------- */

static char directory[64], path[128];

static void write_file(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static int warnings;

static void count_warnings(void *user, const pool_log_record *record)
{
    (void)user;
    if (record->level == POOL_LOG_WARN && strstr(record->message, "devicepool tune"))
        warnings++;
}

/* Opens a pool and checks where its numbers are from; a file that is not used is logged once. */
static void check_pool(
    const char *devices, pool_tuning_source source, uint32_t helpers, const char *message)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices, .lazy = 1};
    pool_tuning_info info = {.struct_size = sizeof(info)};
    device_pool *pool = NULL;
    pool_device *device = NULL;
    char *text = NULL;

    warnings = 0;
    assert_ok(pool_create(&pool, &params));
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_device_get_tuning(device, &info));
    assert_int_equal(info.source, source);
    assert_int_equal(device_tuning(device)->copy.helpers, helpers);
    assert_int_equal(info.changed, source == POOL_TUNING_DEFAULT ? 0 : 1);
    assert_int_equal(warnings, message[0] != 0);
    if (message[0] && !strstr(info.message, message))
        fail_msg("\"%s\" instead of \"%s\"", info.message, message);
    assert_ok(pool_describe(pool, POOL_TEXT_PLAIN, &text));
    assert_non_null(strstr(text, source == POOL_TUNING_DEFAULT ? "defaults" : "1 number of "));
    assert_true(strstr(text, message) != NULL);
    pool_text_free(&text);
    assert_ok(pool_describe(pool, POOL_TEXT_JSON, &text));
    assert_non_null(strstr(text, "\"tuning\""));
    pool_text_free(&text);
    assert_ok(pool_destroy(&pool));
}

/* The numbers of a device of this kind, with one of them changed. */
static pool_tuning *tuning_of(const char *devices)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices, .lazy = 1};
    pool_tuning *tuning = NULL;
    device_pool *pool = NULL;
    pool_device *device = NULL;

    assert_ok(pool_create(&pool, &params));
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_tuning_create(device, &tuning));
    assert_ok(pool_tuning_set(tuning, "copy.helpers", 7));
    assert_ok(pool_destroy(&pool));
    return tuning;
}

static void test_files_of_pools(void **state)
{
    pool_tuning *tuning = NULL, *read = NULL;
    char large[TUNING_MAX_BYTES + 1];

    (void)state;
    setenv("DEVICEPOOL_TUNING", path, 1);
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "No such file");
    tuning = tuning_of("sim");
    assert_ok(pool_tuning_write(tuning, NULL)); /* the path of the environment */
    assert_ok(pool_tuning_read(path, &read));
    pool_tuning_destroy(&read);
    check_pool("sim", POOL_TUNING_FILE, 7, "");
    check_pool("sim:2", POOL_TUNING_FILE, 7, "");
    check_pool("sim:1,cc=80", POOL_TUNING_DEFAULT, 3, "multiprocessors, this is");
    setenv("DEVICEPOOL_TUNING", "off", 1);
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "");
    setenv("DEVICEPOOL_TUNING", path, 1);
    write_file("devicepool tuning 1\n", 20);
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "damaged");
    assert_status(pool_tuning_read(path, &read), POOL_ERR_BAD_DATA);
    write_file("", 0);
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "damaged");
    memset(large, 'x', sizeof(large));
    write_file(large, sizeof(large));
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "damaged");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes to it */
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "no regular file");
    assert_int_equal(unlink(path), 0);
    setenv("DEVICEPOOL_TUNING", directory, 1);
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "no regular file");
    unsetenv("DEVICEPOOL_TUNING");
    pool_tuning_destroy(&tuning);
}

/* Another driver wrote it. */
static void test_other_driver(void **state)
{
    pool_tuning *tuning = tuning_of("sim"), *read = NULL;
    char *text, *line;
    size_t bytes, size;
    FILE *file;

    (void)state;
    assert_ok(pool_tuning_write(tuning, path));
    file = fopen(path, "r");
    text = calloc(1, TUNING_MAX_BYTES);
    assert_non_null(file);
    bytes = fread(text, 1, TUNING_MAX_BYTES - 1, file);
    fclose(file);
    assert_true(bytes > 0);
    line = strstr(text, "driver ");
    assert_non_null(line);
    line[7]++; /* another digit */
    *strstr(text, "sha256 ") = '\0';
    line = forge(FIRST, strstr(text, "library "), &size);
    write_file(line, size);
    setenv("DEVICEPOOL_TUNING", path, 1);
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "driver");
    assert_ok(pool_tuning_read(path, &read)); /* as a file it is right */
    unsetenv("DEVICEPOOL_TUNING");
    pool_tuning_destroy(&read);
    pool_tuning_destroy(&tuning);
    free(line);
    free(text);
}

static void test_cache_directory(void **state)
{
    pool_tuning *tuning;
    device_pool *pool = NULL;
    pool_device *device = NULL;
    const pool_params params = {.struct_size = sizeof(params), .devices = "sim", .lazy = 1};
    char found[512];

    (void)state;
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "");
    tuning = tuning_of("sim");
    assert_ok(pool_tuning_write(tuning, NULL));
    check_pool("sim", POOL_TUNING_FILE, 7, "");
    /* The entries of the cache are others. */
    assert_ok(pool_cache_clear(NULL));
    check_pool("sim", POOL_TUNING_FILE, 7, "");
    check_pool("sim:1,cc=80", POOL_TUNING_DEFAULT, 3, ""); /* has a file of its own */
    assert_ok(pool_create(&pool, &params));
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_tuning_path(device, found, sizeof(found)));
    assert_int_equal(access(found, F_OK), 0);
    assert_status(pool_tuning_path(device, found, 10), POOL_ERR_INVALID_ARGUMENT);
    setenv("DEVICEPOOL_TUNING", "off", 1);
    assert_status(pool_tuning_path(device, found, sizeof(found)), POOL_ERR_UNSUPPORTED);
    unsetenv("DEVICEPOOL_TUNING");
    setenv("DEVICEPOOL_CACHE", "off", 1);
    assert_status(pool_tuning_path(device, found, sizeof(found)), POOL_ERR_UNSUPPORTED);
    assert_status(pool_tuning_write(tuning, NULL), POOL_ERR_UNSUPPORTED);
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "");
    unsetenv("DEVICEPOOL_CACHE");
    assert_ok(pool_tuning_path(device, found, sizeof(found)));
    assert_int_equal(unlink(found), 0);
    assert_ok(pool_destroy(&pool));
    pool_tuning_destroy(&tuning);
}

static int count_number(void *user, const pool_tuning_number *number)
{
    *(uint32_t *)user += number->value != number->default_value;
    return 0;
}

static void test_given(void **state)
{
    pool_tuning *tuning = NULL;
    pool_params params = {.struct_size = sizeof(params), .devices = "sim", .lazy = 1};
    pool_tuning_info info = {.struct_size = sizeof(info)};
    device_pool *pool = NULL;
    pool_device *device = NULL;
    uint32_t value = 0, changed = 0;

    (void)state;
    assert_ok(pool_tuning_create(NULL, &tuning)); /* for every chip */
    assert_ok(pool_tuning_set(tuning, "copy.helpers", 0));
    assert_status(pool_tuning_set(tuning, "copy.helpers", 64), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_tuning_set(tuning, "copy.helper", 1), POOL_ERR_NOT_FOUND);
    assert_status(pool_tuning_get(tuning, "", &value), POOL_ERR_NOT_FOUND);
    assert_ok(pool_tuning_get(tuning, "copy.helpers", &value));
    assert_int_equal(value, 0);
    assert_ok(pool_tuning_each(tuning, count_number, &changed));
    assert_int_equal(changed, 1);
    assert_status(pool_tuning_write(tuning, path), POOL_ERR_INVALID_ARGUMENT);
    params.tuning = tuning;
    assert_ok(pool_create(&pool, &params));
    pool_tuning_destroy(&tuning);
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_device_get_tuning(device, &info));
    assert_int_equal(info.source, POOL_TUNING_GIVEN);
    assert_int_equal(device_tuning(device)->copy.helpers, 0);
    assert_ok(pool_destroy(&pool));
    /* Of another chip, and contradictory. */
    tuning = tuning_of("sim:1,cc=80");
    params.tuning = tuning;
    assert_status(pool_create(&pool, &params), POOL_ERR_UNSUPPORTED);
    pool_tuning_destroy(&tuning);
    assert_ok(pool_tuning_create(NULL, &tuning));
    assert_ok(pool_tuning_set(tuning, "ntt.1.choice.20", 2));
    params.tuning = tuning;
    assert_status(pool_create(&pool, &params), POOL_ERR_INVALID_ARGUMENT);
    pool_tuning_destroy(&tuning);
    pool_tuning_destroy(&tuning);
    pool_tuning_destroy(NULL);
    assert_null(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_write_and_read), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_forged), cmocka_unit_test(test_files_of_pools),
        cmocka_unit_test(test_other_driver), cmocka_unit_test(test_cache_directory),
        cmocka_unit_test(test_given)};
    char cache[80];
    int failed;

    snprintf(directory, sizeof(directory), "/tmp/devicepool-tuning-XXXXXX");
    if (!mkdtemp(directory))
        return 1;
    snprintf(path, sizeof(path), "%s/file", directory);
    snprintf(cache, sizeof(cache), "%s/cache", directory); /* the library creates it */
    setenv("DEVICEPOOL_CACHE_DIR", cache, 1);
    unsetenv("DEVICEPOOL_CACHE");
    unsetenv("DEVICEPOOL_TUNING");
    pool_log_set(count_warnings, NULL, POOL_LOG_WARN);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(cache);
    rmdir(directory);
    return failed;
}
