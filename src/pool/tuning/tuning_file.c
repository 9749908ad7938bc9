/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of tuned numbers: text that can be read, of which only what tuning_encode writes is
 * accepted.
 *
 *   devicepool tuning 1
 *   bytes 00000462
 *   library 0.1.0
 *   chip NVIDIA H200
 *   compute_capability 9.0
 *   multiprocessors 132
 *   driver 13000
 *   msm.8.window_bits.20 17
 *   sha256 0123...
 *
 * The numbers that differ from the defaults of the compute capability follow in the order of struct
 * tuning. The digest covers all lines before it.
 */
#include "pool/tuning/tuning.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <devicepool/version.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/new_file.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/text.h"

#define HEADER "devicepool tuning"
#define DIGEST_DIGITS ((size_t)2 * BASE_SHA256_BYTES)
#define DIGEST_LINE (sizeof("sha256 ") - 1 + DIGEST_DIGITS + 1)

/* ---- writing --------------------------------------------------------------------------------- */

struct writer {
    char *text;
    size_t used; /* below TUNING_MAX_BYTES */
    bool is_full;
};

__attribute__((format(printf, 2, 3))) static void write_line(
    struct writer *writer, const char *format, ...)
{
    const size_t left = TUNING_MAX_BYTES - writer->used;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(writer->text + writer->used, left, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length + DIGEST_LINE >= left)
        writer->is_full = true;
    else
        writer->used += (size_t)length;
}

static void write_digest(char *to, const uint8_t digest[BASE_SHA256_BYTES])
{
    memcpy(to, "sha256 ", 7);
    for (size_t i = 0; i < BASE_SHA256_BYTES; i++)
        snprintf(to + 7 + 2 * i, 3, "%02x", digest[i]);
    to[DIGEST_LINE - 1] = '\n';
}

/* The header has the length of the file, so that it is written twice. */
static void write_lines(
    const struct tuning_key *key, const struct tuning *tuning, size_t bytes, struct writer *writer)
{
    const struct tuning *standard = tuning_default(key->compute_major, key->compute_minor);
    struct tuning_number number;

    writer->used = 0;
    write_line(
        writer, HEADER " %d\nbytes %08zu\nlibrary %s\n", TUNING_FORMAT, bytes, pool_version_text());
    write_line(writer, "chip %s\ncompute_capability %d.%d\nmultiprocessors %d\ndriver %d\n",
        key->chip, key->compute_major, key->compute_minor, key->multiprocessors,
        key->driver_version);
    for (size_t i = 0; tuning_number_at(i, &number); i++)
        if (tuning_value(tuning, &number) != tuning_value(standard, &number))
            write_line(writer, "%s %u\n", number.name, tuning_value(tuning, &number));
}

static bool key_is_valid(const struct tuning_key *key)
{
    return memchr(key->chip, '\0', sizeof(key->chip)) && key->chip[0] &&
           !key->chip[base_text_printable(key->chip)] && key->compute_major >= 0 &&
           key->compute_minor >= 0 && key->multiprocessors >= 0 && key->driver_version >= 0;
}

pool_status tuning_encode(
    const struct tuning_key *key, const struct tuning *tuning, char **text, size_t *bytes)
{
    struct writer writer = {0};
    uint8_t digest[BASE_SHA256_BYTES];
    pool_status status;

    if (!key_is_valid(key))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "tuned numbers are written for one chip");
    if (!tuning_is_valid(tuning))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "tuned numbers contradict each other: an other tuning of an NTT needs all its numbers");
    writer.text = base_calloc(TUNING_MAX_BYTES, 1);
    if (!writer.text)
        return base_fail_memory("tuned numbers");
    write_lines(key, tuning, 0, &writer);
    write_lines(key, tuning, writer.used + DIGEST_LINE, &writer);
    status = writer.is_full ? base_fail(POOL_ERR_INTERNAL, "tuned numbers do not fit in a file")
                            : base_sha256_of(writer.text, writer.used, digest);
    if (status) {
        base_free(writer.text);
        return status;
    }
    write_digest(writer.text + writer.used, digest);
    *text = writer.text;
    *bytes = writer.used + DIGEST_LINE;
    return POOL_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    const char *at;
    const char *end; /* of the lines that the digest covers */
    struct tuning_reason *reason;
};

/* Files are read when a pool is created, which they never prevent: no failure is recorded here. */
__attribute__((format(printf, 3, 4))) static pool_status refuse(
    struct tuning_reason *reason, pool_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason->text, sizeof(reason->text), format, arguments);
    va_end(arguments);
    return status;
}

static pool_status refuse_damaged(struct tuning_reason *reason, const char *what)
{
    return refuse(reason, POOL_ERR_BAD_DATA, "the file is damaged: %s", what);
}

/* The rest of the next line if it begins with `prefix`, in `value`, which has `size` bytes. */
static bool read_line(struct reader *reader, const char *prefix, char *value, size_t size)
{
    const size_t skip = strlen(prefix), left = (size_t)(reader->end - reader->at);
    const char *stop = memchr(reader->at, '\n', left);
    size_t length;

    if (!stop || left < skip || memcmp(reader->at, prefix, skip) != 0)
        return false;
    if (stop < reader->at + skip)
        return false;
    length = (size_t)(stop - reader->at) - skip;
    if (length >= size || memchr(reader->at, '\0', skip + length))
        return false;
    memcpy(value, reader->at + skip, length);
    value[length] = '\0';
    if (value[base_text_printable(value)]) /* it may appear in messages */
        return false;
    reader->at = stop + 1;
    return true;
}

/* Decimal digits without leading zeros up to `most`, and nothing behind them. */
static bool read_number(const char *text, uint32_t most, uint32_t *value)
{
    uint64_t number = 0;
    size_t i = 0;

    for (; text[i] >= '0' && text[i] <= '9' && i < 10; i++)
        number = 10 * number + (uint64_t)(text[i] - '0');
    if (!i || text[i] || (i > 1 && text[0] == '0') || number > most)
        return false;
    *value = (uint32_t)number;
    return true;
}

static pool_status check_digest(struct tuning_reason *reason, const char *text, size_t bytes)
{
    uint8_t digest[BASE_SHA256_BYTES];
    char line[DIGEST_LINE + 1];
    pool_status status = base_sha256_of(text, bytes - DIGEST_LINE, digest);

    if (status)
        return status;
    write_digest(line, digest);
    return memcmp(line, text + bytes - DIGEST_LINE, DIGEST_LINE) == 0
               ? POOL_OK
               : refuse_damaged(reason, "its digest differs");
}

/* The first line, before anything else: other formats may have other digests. */
static pool_status check_format(struct reader *reader)
{
    char value[64], wanted[16];

    if (!read_line(reader, HEADER " ", value, sizeof(value)))
        return refuse_damaged(reader->reason, "it does not begin with \"" HEADER "\"");
    snprintf(wanted, sizeof(wanted), "%d", TUNING_FORMAT);
    if (strcmp(value, wanted) != 0)
        return refuse(reader->reason, POOL_ERR_UNSUPPORTED,
            "it has format %.8s, this library reads format %d", value, TUNING_FORMAT);
    return POOL_OK;
}

static pool_status check_length(struct reader *reader, size_t bytes)
{
    char value[64], wanted[16];

    snprintf(wanted, sizeof(wanted), "%08zu", bytes);
    return read_line(reader, "bytes ", value, sizeof(value)) && strcmp(value, wanted) == 0
               ? POOL_OK
               : refuse_damaged(reader->reason, "its length differs");
}

static pool_status read_library(struct reader *reader)
{
    char value[64];

    if (!read_line(reader, "library ", value, sizeof(value)))
        return refuse_damaged(reader->reason, "the version of the library is missing");
    return strcmp(value, pool_version_text()) == 0
               ? POOL_OK
               : refuse(reader->reason, POOL_ERR_UNSUPPORTED,
                     "version %s of the library wrote it, this is %s", value, pool_version_text());
}

static pool_status read_key(struct reader *reader, struct tuning_key *key)
{
    char value[64], *dot;
    uint32_t numbers[4];

    memset(key, 0, sizeof(*key));
    if (!read_line(reader, "chip ", key->chip, sizeof(key->chip)) ||
        !read_line(reader, "compute_capability ", value, sizeof(value)))
        return refuse_damaged(reader->reason, "the chip is missing");
    dot = strchr(value, '.');
    if (!dot)
        return refuse_damaged(reader->reason, "the compute capability is missing");
    *dot = '\0';
    if (!read_number(value, 1000, &numbers[0]) || !read_number(dot + 1, 1000, &numbers[1]) ||
        !read_line(reader, "multiprocessors ", value, sizeof(value)) ||
        !read_number(value, INT32_MAX, &numbers[2]) ||
        !read_line(reader, "driver ", value, sizeof(value)) ||
        !read_number(value, INT32_MAX, &numbers[3]))
        return refuse_damaged(reader->reason, "a property of the chip is no number");
    key->compute_major = (int32_t)numbers[0];
    key->compute_minor = (int32_t)numbers[1];
    key->multiprocessors = (int32_t)numbers[2];
    key->driver_version = (int32_t)numbers[3];
    return key_is_valid(key) ? POOL_OK : refuse_damaged(reader->reason, "the chip has no name");
}

/* In the order of the struct, so that one pass over all names finds them and none occurs twice. */
static pool_status read_numbers(struct reader *reader, struct tuning *tuning)
{
    struct tuning_number number;

    for (size_t i = 0; reader->at < reader->end && tuning_number_at(i, &number); i++) {
        char prefix[TUNING_NAME + 1], text[16];
        uint32_t value;

        snprintf(prefix, sizeof(prefix), "%s ", number.name);
        if (!read_line(reader, prefix, text, sizeof(text)))
            continue;
        if (!read_number(text, number.max, &value) || value < number.min)
            return refuse(reader->reason, POOL_ERR_BAD_DATA,
                "it has the value %s for %s, which must be %u to %u", text, number.name, number.min,
                number.max);
        tuning_set_value(tuning, &number, value);
    }
    if (reader->at < reader->end)
        return refuse_damaged(reader->reason, "a line is no number in its place");
    return tuning_is_valid(tuning)
               ? POOL_OK
               : refuse_damaged(reader->reason, "numbers contradict each other");
}

pool_status tuning_decode(const char *text, size_t bytes, struct tuning_key *key,
    struct tuning *tuning, struct tuning_reason *reason)
{
    struct tuning_key found;
    struct tuning numbers;
    struct reader reader;
    pool_status status;

    if (bytes < DIGEST_LINE || bytes > TUNING_MAX_BYTES)
        return refuse_damaged(reason, "its length is impossible");
    reader = (struct reader){.at = text, .end = text + bytes - DIGEST_LINE, .reason = reason};
    status = check_format(&reader);
    if (!status)
        status = check_length(&reader, bytes);
    if (!status)
        status = check_digest(reason, text, bytes);
    if (!status)
        status = read_library(&reader);
    if (!status)
        status = read_key(&reader, &found);
    if (status)
        return status;
    numbers = *tuning_default(found.compute_major, found.compute_minor);
    status = read_numbers(&reader, &numbers);
    if (status)
        return status;
    *key = found;
    *tuning = numbers;
    return POOL_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static pool_status refuse_file(struct tuning_reason *reason)
{
    return refuse(
        reason, errno == ENOENT ? POOL_ERR_NOT_FOUND : POOL_ERR_IO, "%s", strerror(errno));
}

static pool_status read_open_file(
    int file, char **text, size_t *bytes, struct tuning_reason *reason)
{
    struct stat facts;
    char *read;

    if (base_fstat(file, &facts))
        return refuse_file(reason);
    if (!S_ISREG(facts.st_mode))
        return refuse(reason, POOL_ERR_IO, "it is no regular file");
    if (facts.st_size <= 0 || facts.st_size > TUNING_MAX_BYTES)
        return refuse_damaged(reason, "its length is impossible");
    read = base_calloc((size_t)facts.st_size, 1);
    if (!read)
        return refuse(reason, POOL_ERR_OUT_OF_HOST_MEMORY, "out of host memory");
    errno = 0;
    if (base_read_all(file, read, (size_t)facts.st_size)) {
        base_free(read);
        return errno ? refuse_file(reason) : refuse_damaged(reason, "it became shorter");
    }
    *text = read;
    *bytes = (size_t)facts.st_size;
    return POOL_OK;
}

pool_status tuning_read(int directory, const char *name, struct tuning_key *key,
    struct tuning *tuning, struct tuning_reason *reason)
{
    int file = base_openat(directory, name, O_RDONLY | O_NONBLOCK, 0);
    char *text = NULL;
    size_t bytes = 0;
    pool_status status;

    if (file < 0)
        return refuse_file(reason);
    status = read_open_file(file, &text, &bytes, reason);
    base_close(file);
    if (!status)
        status = tuning_decode(text, bytes, key, tuning, reason);
    base_free(text);
    return status;
}

static pool_status fail_to_write(const char *path)
{
    return base_fail(errno == ENOMEM ? POOL_ERR_OUT_OF_HOST_MEMORY : POOL_ERR_IO,
        "the tuned numbers cannot be written to %s: %s", path, strerror(errno));
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
    char text[256];
    pool_status status;

    snprintf(text, sizeof(text), "%.127s\n%d.%d\n%d\n", key->chip, key->compute_major,
        key->compute_minor, key->multiprocessors);
    status = base_sha256_of(text, strlen(text), digest);
    if (status)
        return status;
    memcpy(name, "tuning-", 7);
    for (size_t i = 0; i < 8; i++)
        snprintf(name + 7 + 2 * i, 3, "%02x", digest[i]);
    return POOL_OK;
}
