/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tuning parameters: their names and ranges, their files, whole, damaged and edited, and the pools
 * that read them.
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
#include "pool/tuning/tuning.h"
#include "support/assert.h"

static const struct tuning_key chip = {
    .chip = "Chip of a test, compute capability 9.0, 132 multiprocessors", .driver_version = 13000};

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
    struct tuning_number number;

    (void)state;
    assert_true(tuning_is_valid(tuning_default()));
    assert_false(tuning_needs_compiler(tuning_default()));
    for (size_t i = 0; tuning_number_at(i, &number); i++) {
        assert_int_equal(tuning_value(tuning_default(), &number), number.standard);
        for (uint32_t c = 0; c < number.candidate_count; c++)
            assert_true(number.candidates[c] >= number.min && number.candidates[c] <= number.max);
    }
    /* As measured: of some rows of the table, by their members. */
    assert_int_equal(tuning_default()->msm[1].affine_passes, 2);
    assert_int_equal(tuning_default()->msm[3].split_max_terms, 0);
    assert_int_equal(tuning_default()->ntt[2].usual.single_bits, 20);
    assert_int_equal(tuning_default()->ntt[2].other.log_threads, 8);
    assert_int_equal(tuning_default()->ntt[0].lengths.by_length, 1);
    assert_int_equal(tuning_default()->copy.chunk_bytes, 1 << 20);
}

/* ---- documentation --------------------------------------------------------------------------- */

/* The numbers of all lengths and sizes with one meaning. */
struct doc_row {
    char name[TUNING_NAME]; /* with L for the length and S for the log2 of the size */
    char defaults[128], candidates[128];
    uint32_t length, min, max; /* of the last number */
};

static void append(char *text, size_t size, const char *separator, uint32_t value)
{
    const size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%u", used ? separator : "", value);
}

/* "msm.8.window_bits.20" to "msm.L.window_bits.S"; its length, 0: none. */
static uint32_t generalise(const char *name, char general[TUNING_NAME])
{
    uint32_t length = 0;
    size_t used = 0;

    for (const char *at = name; *at; at++) {
        if (at == name || at[-1] != '.' || *at < '0' || *at > '9') {
            general[used++] = *at;
            continue;
        }
        general[used++] = strchr(at, '.') ? 'L' : 'S';
        length = strchr(at, '.') ? (uint32_t)strtoul(at, NULL, 10) : length;
        at += strspn(at, "0123456789") - 1;
    }
    general[used] = '\0';
    return length;
}

static void add_number(struct doc_row *row, const struct tuning_number *number)
{
    char name[TUNING_NAME];
    const uint32_t length = generalise(number->name, name);
    const bool is_of_size = strstr(name, ".S") != NULL;

    if (!row->name[0] || length != row->length)
        append(row->defaults, sizeof(row->defaults), ", ", number->standard);
    for (uint32_t i = 0; i < number->candidate_count && !row->name[0] && !is_of_size; i++)
        append(row->candidates, sizeof(row->candidates), ", ", number->candidates[i]);
    if (is_of_size)
        snprintf(row->candidates, sizeof(row->candidates), "by size");
    row->min = number->min;
    row->max = number->max > row->max ? number->max : row->max;
    row->length = length;
    memcpy(row->name, name, sizeof(name));
}

/* docs/performance/notes.md has every row of the table. */
static void test_documentation(void **state)
{
    static struct doc_row rows[64];
    FILE *page = fopen(TUNING_PAGE, "r");
    struct tuning_number number;
    char name[TUNING_NAME], line[512], *text = calloc(1, 1 << 18);
    size_t count = 0, missing = 0;

    (void)state;
    assert_non_null(page);
    assert_true(fread(text, 1, (1 << 18) - 1, page) > 0);
    assert_true(feof(page));
    fclose(page);
    for (size_t i = 0, at; tuning_number_at(i, &number); i++) {
        generalise(number.name, name);
        for (at = 0; at < count && strcmp(rows[at].name, name) != 0; at++)
            continue;
        count += at == count;
        add_number(&rows[at], &number);
    }
    for (size_t i = 0; i < count; i++) {
        snprintf(line, sizeof(line), "| `%s` | %s | %u–%u | %s |\n", rows[i].name, rows[i].defaults,
            rows[i].min, rows[i].max, rows[i].candidates);
        if (!strstr(text, line)) {
            fputs(line, stderr);
            missing++;
        }
    }
    free(text);
    assert_int_equal(missing, 0);
}

static void set(struct tuning *tuning, const char *name, uint32_t value)
{
    struct tuning_number number;

    assert_true(tuning_number_named(name, &number));
    tuning_set_value(tuning, &number, value);
}

static void test_ranges(void **state)
{
    struct tuning_number number;

    (void)state;
    for (size_t i = 0; tuning_number_at(i, &number); i++) {
        struct tuning tuning = *tuning_default();

        if (number.max < UINT32_MAX) {
            tuning_set_value(&tuning, &number, number.max + 1);
            assert_false(tuning_is_valid(&tuning));
        }
        if (number.min > 0) {
            tuning_set_value(&tuning, &number, number.min - 1);
            assert_false(tuning_is_valid(&tuning));
        }
    }
    struct tuning tuning = *tuning_default();
    set(&tuning, "msm.8.window_bits.20", 1);
    assert_false(tuning_is_valid(&tuning));
    tuning = *tuning_default();
    set(&tuning, "ntt.1.choice.20", NTT_CHOICE_OTHER); /* which it does not have */
    assert_false(tuning_is_valid(&tuning));
    tuning = *tuning_default();
    set(&tuning, "ntt.1.other.log_radix", 4); /* and nothing else */
    assert_false(tuning_is_valid(&tuning));
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Some numbers at their limits, some in between. */
static struct tuning random_tuning(void)
{
    struct tuning tuning = *tuning_default();
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

/* Decodes a copy; after a refusal nothing is written, and otherwise the numbers are valid. */
static pool_status decode(const char *given, size_t bytes, struct tuning_key *key,
    struct tuning *tuning, struct tuning_reason *reason)
{
    char *text = calloc(1, bytes + 1);
    struct tuning_key key_before;
    struct tuning before;
    pool_status status;

    memset(tuning, 0x5a, sizeof(*tuning));
    memset(key, 0x5a, sizeof(*key));
    before = *tuning;
    key_before = *key;
    memcpy(text, given, bytes);
    status = tuning_decode(text, bytes, key, tuning, reason);
    free(text);
    if (!status) {
        assert_true(tuning_is_valid(tuning));
        return POOL_OK;
    }
    assert_int_equal(status, POOL_ERR_BAD_DATA);
    assert_true(reason->text[0]);
    assert_memory_equal(tuning, &before, sizeof(before));
    assert_memory_equal(key, &key_before, sizeof(key_before));
    return status;
}

static void test_write_and_read(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) {
        const struct tuning tuning = i ? random_tuning() : *tuning_default();
        struct tuning_reason reason;
        struct tuning_key key;
        struct tuning read;
        char *text = NULL;
        size_t bytes = 0;

        assert_ok(tuning_encode(&chip, &tuning, &text, &bytes));
        assert_ok(decode(text, bytes, &key, &read, &reason));
        assert_string_equal(reason.text, "");
        assert_memory_equal(&read, &tuning, sizeof(read));
        assert_memory_equal(&key, &chip, sizeof(key));
        base_free(text);
    }
}

/* Every prefix, every file with one more byte, every changed bit: what is read is valid, and no
 * number differs but by the line that was changed. */
static void test_damaged(void **state)
{
    struct tuning tuning = *tuning_default(), read;
    struct tuning_reason reason;
    struct tuning_key key;
    char *text = NULL, *damaged;
    size_t bytes = 0, first;

    (void)state;
    set(&tuning, "msm.8.window_bits.20", 15);
    set(&tuning, "copy.helpers", 7);
    assert_ok(tuning_encode(&chip, &tuning, &text, &bytes));
    first = (size_t)(strchr(text, '\n') - text);
    for (size_t i = 0; i < bytes; i++)
        if (!decode(text, i, &key, &read, &reason))
            assert_true(i + 4 >= first); /* the driver's last digits are missing, or lines */
    damaged = calloc(1, bytes + 1);
    memcpy(damaged, text, bytes);
    for (int byte = 0; byte < 256; byte++) {
        damaged[bytes] = (char)byte;
        if (!decode(damaged, bytes + 1, &key, &read, &reason))
            assert_memory_equal(&read, &tuning, sizeof(read));
        assert_true(reason.text[0]);
    }
    for (size_t i = 0; i < 8 * bytes; i++) {
        damaged[i / 8] = (char)(damaged[i / 8] ^ 1 << i % 8);
        if (!decode(damaged, bytes, &key, &read, &reason) && i / 8 <= first)
            assert_memory_equal(&read, &tuning, sizeof(read));
        damaged[i / 8] = text[i / 8];
    }
    free(damaged);
    base_free(text);
}

#define FIRST "devicepool tuning: X, compute capability 9.0, 4 multiprocessors, driver 13000\n"

/* First lines that are refused, and lines that are skipped. */
static void test_edited(void **state)
{
    static const char *const refused[] = {"devicepool tunings: X, driver 1\n",
        "devicepool tuning: X\n", "devicepool tuning: , driver 1\n",
        "devicepool tuning: X, driver \n", "devicepool tuning: X, driver 01\n",
        "devicepool tuning: X, driver -1\n", "devicepool tuning: X, driver 99999999999\n",
        "devicepool tuning: \x1b[2J, driver 1\n", "\n" FIRST, "",
        /* Numbers that contradict each other. */
        FIRST "msm.8.window_bits.20 1\n", FIRST "ntt.1.choice.20 2\n",
        FIRST "ntt.1.other.log_radix 4\n"};
    static const char *const skipped[] = {"msm.8.window_bits.20 25\n",
        "msm.8.window_bits.2 9\n", /* more than its bound */
        "msm.8.window_bits.20 017\n", "msm.8.window_bits.20 17 \n", "msm.8.window_bits.20 +17\n",
        "msm.8.window_bits.20 4294967313\n", "msm.8.window_bits.20 18446744073709551633\n",
        "msm.8.window_bits.20\n", "msm.8.window_bits.20 17\r\n", "msm.8.window_bits.29 17\n",
        "msm.9.window_bits.20 17\n", "copy.chunk_bytes 0\n", "copy.slots 65\n", "\n",
        "ntt.24.usual.log_radix 5\n", "ntt.8.usual.log_threads 0\n", "\x1b[2J 1\n"};
    struct tuning_reason reason;
    struct tuning_key key;
    struct tuning tuning;
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        assert_int_equal(
            decode(refused[i], strlen(refused[i]), &key, &tuning, &reason), POOL_ERR_BAD_DATA);
    assert_int_equal(decode(FIRST "copy.helpers 7\0\n", sizeof(FIRST) + 15, &key, &tuning, &reason),
        POOL_ERR_BAD_DATA);
    for (size_t i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++) {
        snprintf(text, sizeof(text), FIRST "copy.slots 9\n%scopy.helpers 7\n", skipped[i]);
        assert_ok(decode(text, strlen(text), &key, &tuning, &reason));
        assert_int_equal(tuning.copy.slots, 9);
        assert_int_equal(tuning.copy.helpers, 7);
        assert_non_null(strstr(reason.text, "line 3 is not understood"));
        assert_null(strchr(reason.text, '\x1b'));
        tuning.copy = tuning_default()->copy;
        assert_memory_equal(&tuning, tuning_default(), sizeof(tuning));
    }
    /* In any order; the last of several holds, and the last line needs no end. */
    snprintf(text, sizeof(text), FIRST "copy.helpers 6\nmsm.8.window_bits.20 17\ncopy.helpers 7");
    assert_ok(decode(text, strlen(text), &key, &tuning, &reason));
    assert_string_equal(reason.text, "");
    assert_string_equal(key.chip, "X, compute capability 9.0, 4 multiprocessors");
    assert_int_equal(key.driver_version, 13000);
    assert_int_equal(tuning.msm[0].window_bits[20], 17);
    assert_int_equal(tuning.copy.helpers, 7);
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

static void append_line(const char *line)
{
    FILE *file = fopen(path, "a");

    assert_non_null(file);
    assert_true(fputs(line, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int warnings;

static void count_warnings(void *user, const pool_log_record *record)
{
    (void)user;
    if (record->level == POOL_LOG_WARN &&
        (strstr(record->message, "devicepool tune") || strstr(record->message, "pool_tuning_read")))
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
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "does not begin with");
    assert_status(pool_tuning_read(path, &read), POOL_ERR_BAD_DATA);
    write_file("", 0);
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "empty");
    memset(large, 'x', sizeof(large));
    write_file(large, sizeof(large));
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "longer than 64 KiB");
    /* A line that is not understood: the others hold. */
    assert_ok(pool_tuning_write(tuning, path));
    append_line("copy.assistants 7\n");
    check_pool("sim", POOL_TUNING_FILE, 7, "line 3 is not understood: \"copy.assistants 7\"");
    warnings = 0;
    assert_ok(pool_tuning_read(path, &read));
    assert_int_equal(warnings, 1);
    pool_tuning_destroy(&read);
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
    char text[1024] = "", *driver;
    FILE *file;

    (void)state;
    assert_ok(pool_tuning_write(tuning, path));
    file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    driver = strstr(text, "driver ");
    assert_non_null(driver);
    driver[7]++; /* another digit */
    write_file(text, strlen(text));
    setenv("DEVICEPOOL_TUNING", path, 1);
    check_pool("sim", POOL_TUNING_DEFAULT, 3, "driver");
    assert_ok(pool_tuning_read(path, &read)); /* as a file it is right */
    unsetenv("DEVICEPOOL_TUNING");
    pool_tuning_destroy(&read);
    pool_tuning_destroy(&tuning);
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
        cmocka_unit_test(test_edited), cmocka_unit_test(test_documentation),
        cmocka_unit_test(test_files_of_pools), cmocka_unit_test(test_other_driver),
        cmocka_unit_test(test_cache_directory), cmocka_unit_test(test_given)};
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
