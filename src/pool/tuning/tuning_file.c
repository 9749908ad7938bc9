/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of tuning parameters: a line for the chip, and one for each number that is not the default.
 *
 *   devicepool tuning: NVIDIA H200, compute capability 9.0, 132 multiprocessors, driver 13000
 *   msm.8.window_bits.20 17
 *   copy.helpers 7
 *
 * A line that names no number, or has a value outside of its range, is skipped: another version of
 * the library may know it.
 */
#include "pool/tuning/tuning.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/new_file.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/text.h"

#define FIRST_LINE "devicepool tuning: "
#define DRIVER ", driver "

pool_status tuning_encode(
    const struct tuning_key *key, const struct tuning *tuning, char **text, size_t *bytes)
{
    struct tuning_number number;
    size_t used;

    if (!key->chip[0] || key->chip[base_text_printable(key->chip)])
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "tuning parameters are written for one chip");
    if (!tuning_is_valid(tuning))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "tuning parameters contradict each other: an "
                                                    "other tuning of an NTT needs all its numbers");
    *text = base_calloc(TUNING_MAX_BYTES, 1);
    if (!*text)
        return base_fail_memory("tuning parameters");
    used = (size_t)snprintf(
        *text, TUNING_MAX_BYTES, FIRST_LINE "%s" DRIVER "%d\n", key->chip, key->driver_version);
    for (size_t i = 0; tuning_number_at(i, &number); i++)
        if (tuning_value(tuning, &number) != number.standard)
            used += (size_t)snprintf(*text + used, TUNING_MAX_BYTES - used, "%s %u\n", number.name,
                tuning_value(tuning, &number));
    *bytes = used;
    return POOL_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Files are read when a pool is created, which they never prevent: no failure is recorded here. */
static pool_status refuse(struct tuning_reason *reason, pool_status status, const char *why)
{
    base_text_copy(reason->text, sizeof(reason->text), why);
    return status;
}

/* Decimal digits without leading zeros, and nothing behind them. */
static bool read_digits(const char *text, uint64_t most, uint64_t *value)
{
    const size_t length = strspn(text, "0123456789");

    if (!length || length > 10 || text[length] || (length > 1 && text[0] == '0'))
        return false;
    *value = strtoull(text, NULL, 10);
    return *value <= most;
}

static bool read_first_line(char *line, struct tuning_key *key)
{
    const size_t skip = sizeof(FIRST_LINE) - 1;
    char *driver = NULL;
    uint64_t version;

    if (strncmp(line, FIRST_LINE, skip) != 0 || line[base_text_printable(line)])
        return false;
    for (char *at = strstr(line, DRIVER); at; at = strstr(at + 1, DRIVER))
        driver = at;
    if (!driver || driver <= line + skip || (size_t)(driver - line) - skip >= sizeof(key->chip) ||
        !read_digits(driver + sizeof(DRIVER) - 1, INT32_MAX, &version))
        return false;
    *driver = '\0';
    memset(key, 0, sizeof(*key));
    memcpy(key->chip, line + skip, strlen(line + skip));
    key->driver_version = (int32_t)version;
    return true;
}

static bool read_number(char *line, struct tuning *tuning)
{
    char *space = strchr(line, ' ');
    struct tuning_number number;
    uint64_t value;
    bool is_read;

    if (!space)
        return false;
    *space = '\0';
    is_read = tuning_number_named(line, &number) && read_digits(space + 1, number.max, &value) &&
              value >= number.min;
    *space = ' ';
    if (is_read)
        tuning_set_value(tuning, &number, (uint32_t)value);
    return is_read;
}

static void note_line(struct tuning_reason *reason, unsigned index, char *line)
{
    if (reason->text[0])
        return;
    base_text_make_printable(line, "");
    snprintf(
        reason->text, sizeof(reason->text), "line %u is not understood: \"%.64s\"", index, line);
}

pool_status tuning_decode(char *text, size_t bytes, struct tuning_key *key, struct tuning *tuning,
    struct tuning_reason *reason)
{
    const char *const end = text + bytes;
    struct tuning_key found;
    struct tuning numbers = *tuning_default();
    unsigned index = 0;

    reason->text[0] = '\0';
    if (!bytes || memchr(text, '\0', bytes))
        return refuse(reason, POOL_ERR_BAD_DATA, "the file is empty or no text");
    for (char *line = text, *next; line < end; line = next) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : line + (end - line);
        *next++ = '\0';
        if (!index++ && !read_first_line(line, &found))
            return refuse(reason, POOL_ERR_BAD_DATA,
                "the file does not begin with \"" FIRST_LINE "\", a chip and its driver");
        if (index > 1 && !read_number(line, &numbers))
            note_line(reason, index, line);
    }
    if (!tuning_is_valid(&numbers))
        return refuse(reason, POOL_ERR_BAD_DATA, "its numbers contradict each other");
    *key = found;
    *tuning = numbers;
    return POOL_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static pool_status refuse_file(struct tuning_reason *reason)
{
    return refuse(reason, errno == ENOENT ? POOL_ERR_NOT_FOUND : POOL_ERR_IO, strerror(errno));
}

/* `text` has one byte more than TUNING_MAX_BYTES. */
static pool_status read_text(int file, char *text, size_t *bytes, struct tuning_reason *reason)
{
    struct stat facts;

    if (base_fstat(file, &facts))
        return refuse_file(reason);
    if (!S_ISREG(facts.st_mode))
        return refuse(reason, POOL_ERR_IO, "it is no regular file");
    if (facts.st_size > TUNING_MAX_BYTES)
        return refuse(reason, POOL_ERR_BAD_DATA, "the file is longer than 64 KiB");
    errno = 0;
    *bytes = (size_t)facts.st_size;
    if (!base_read_all(file, text, *bytes))
        return POOL_OK;
    return errno ? refuse_file(reason) : refuse(reason, POOL_ERR_IO, "it became shorter");
}

pool_status tuning_read(
    const char *path, struct tuning_key *key, struct tuning *tuning, struct tuning_reason *reason)
{
    int file = base_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    char *text;
    size_t bytes = 0;
    pool_status status;

    if (file < 0)
        return refuse_file(reason);
    text = base_calloc(TUNING_MAX_BYTES + 1, 1);
    status = text ? read_text(file, text, &bytes, reason)
                  : refuse(reason, POOL_ERR_OUT_OF_HOST_MEMORY, "out of host memory");
    base_close(file);
    if (!status)
        status = tuning_decode(text, bytes, key, tuning, reason);
    base_free(text);
    return status;
}

static pool_status fail_to_write(const char *path)
{
    return base_fail(errno == ENOMEM ? POOL_ERR_OUT_OF_HOST_MEMORY : POOL_ERR_IO,
        "the tuning parameters cannot be written to %s: %s", path, strerror(errno));
}

pool_status tuning_write(
    const char *path, const struct tuning_key *key, const struct tuning *tuning)
{
    struct base_new_file made;
    char *text = NULL, *prefix = NULL;
    size_t bytes = 0;
    pool_status status = tuning_encode(key, tuning, &text, &bytes);

    if (status)
        return status;
    prefix = base_format("%s.", path);
    if (!prefix) {
        base_free(text);
        return base_fail_memory("the name of a file");
    }
    base_new_file_clear_all(prefix, ".new");
    if (base_new_file_begin(&made, AT_FDCWD, prefix, ".new", 0600)) {
        status = fail_to_write(path);
    } else if (base_write_all(made.file, text, bytes)) {
        status = fail_to_write(path);
        base_new_file_discard(&made);
    } else if (base_new_file_finish(&made, path)) {
        status = fail_to_write(path);
    }
    base_free(prefix);
    base_free(text);
    return status;
}

pool_status tuning_file_name(const struct tuning_key *key, char name[TUNING_FILE_NAME])
{
    uint8_t digest[BASE_SHA256_BYTES];
    pool_status status = base_sha256_of(key->chip, strlen(key->chip), digest);

    if (status)
        return status;
    memcpy(name, "tuning-", 7);
    for (size_t i = 0; i < 8; i++)
        snprintf(name + 7 + 2 * i, 3, "%02x", digest[i]);
    return POOL_OK;
}
