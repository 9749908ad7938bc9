/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: the environment, then the configuration file, of which DEVICEPOOL_CONFIG is the path.
 *
 * A file that cannot be understood sets nothing: pool_create fails with its line. It is read into
 * memory of fixed size, so that reading it cannot fail for want of memory.
 */
#include "base/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <devicepool/pool.h>

#include "base/env.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/params.h"
#include "base/status.h"

#define FILE_VARIABLE "DEVICEPOOL_CONFIG"
#define FILE_PATH "/etc/devicepool.conf"
#define FILE_BYTES 16384
#define BLANKS " \t\r"

static const struct row {
    const char *name;
    const char *fallback;
    const char *meaning;
} rows[BASE_SETTINGS] = {
#define SETTING(id, name, fallback, meaning) {name, fallback, meaning},
#include "base/settings.def"
#undef SETTING
};

/* The configuration file, constant once it is read. Until then file_lock guards it. */
static struct {
    char path[512];
    char text[FILE_BYTES + 1];
    const char *values[BASE_SETTINGS]; /* within `text`; NULL: it has none */
    uint32_t lines[BASE_SETTINGS];
    char problem[800]; /* "": none */
    bool is_passing;   /* the problem, for example too few descriptors: the file is read again */
} file;
static struct base_lock file_lock = BASE_LOCK_INIT;
static atomic_bool is_read;

static int find_row(const char *name)
{
    for (int i = 0; i < BASE_SETTINGS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return i;
    return -1;
}

/* Reads the file into file.text; false where there is none, and where it cannot be read. */
static bool read_text(bool is_named)
{
    struct stat facts = {0}, later;
    int descriptor = base_openat(AT_FDCWD, file.path, O_RDONLY | O_NONBLOCK, 0);

    if (descriptor < 0 && errno == ENOENT && !is_named)
        return false;
    file.is_passing = descriptor < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM);
    if (descriptor < 0 || base_fstat(descriptor, &facts))
        snprintf(file.problem, sizeof(file.problem), "cannot be opened: %s", strerror(errno));
    else if (!S_ISREG(facts.st_mode) || facts.st_size > FILE_BYTES)
        snprintf(file.problem, sizeof(file.problem),
            "is not a regular file of at most %d bytes with lines NAME=VALUE", FILE_BYTES);
    else if (base_read_all(descriptor, file.text, (size_t)facts.st_size) ||
             base_fstat(descriptor, &later) || later.st_size != facts.st_size) {
        file.is_passing = true;
        snprintf(file.problem, sizeof(file.problem), "changes while it is read");
    } else if (memchr(file.text, '\0', (size_t)facts.st_size))
        snprintf(file.problem, sizeof(file.problem), "is not a text");
    else
        file.text[facts.st_size] = '\0';
    base_close(descriptor);
    return !file.problem[0];
}

/* Cuts blanks off both ends. */
static char *trim(char *text)
{
    char *end;

    text += strspn(text, BLANKS);
    end = text + strlen(text);
    while (end > text && strchr(BLANKS, end[-1]))
        *--end = '\0';
    return text;
}

/* Takes a line, NAME=VALUE, into the table. */
static bool take_line(char *line, uint32_t number)
{
    char *text = trim(line), *equals = strchr(text, '=');
    const char *name;
    int row;

    if (!text[0] || text[0] == '#')
        return true;
    if (!equals) {
        snprintf(file.problem, sizeof(file.problem), "has no NAME=VALUE in line %u: %.100s",
            (unsigned)number, text);
        return false;
    }
    *equals = '\0';
    name = trim(text);
    row = find_row(name);
    if (row < 0)
        snprintf(file.problem, sizeof(file.problem),
            "has the unknown setting \"%.100s\" in line %u (docs/configuration.md has the "
            "list)",
            name, (unsigned)number);
    else if (file.values[row])
        snprintf(file.problem, sizeof(file.problem), "has %s in lines %u and %u", name,
            (unsigned)file.lines[row], (unsigned)number);
    if (file.problem[0])
        return false;
    file.values[row] = trim(equals + 1);
    file.lines[row] = number;
    return true;
}

static void read_file(void)
{
    const char *named = base_env(FILE_VARIABLE);
    char *next = file.text;
    uint32_t number = 0;

    file.problem[0] = '\0';
    file.is_passing = false;
    memset(file.values, 0, sizeof(file.values));
    if (getauxval(AT_SECURE) || (named && strcmp(named, "off") == 0))
        return;
    if (snprintf(file.path, sizeof(file.path), "%s", named && named[0] ? named : FILE_PATH) >=
        (int)sizeof(file.path)) {
        snprintf(file.problem, sizeof(file.problem), "has too long a path");
        return;
    }
    if (!read_text(named && named[0]))
        return;
    while (next) {
        char *line = next, *end = strchr(line, '\n');

        next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        if (!take_line(line, ++number))
            break;
    }
    if (file.problem[0])
        memset(file.values, 0, sizeof(file.values));
}

static void read_once(void)
{
    if (atomic_load_explicit(&is_read, memory_order_acquire))
        return;
    base_lock(&file_lock);
    if (!atomic_load(&is_read)) {
        read_file();
        atomic_store(&is_read, !file.is_passing);
    }
    base_unlock(&file_lock);
}

/* Where the value comes from; `value` is not NULL unless it is the default. */
static pool_setting_source find(int setting, const char **value)
{
    *value = base_env(rows[setting].name);
    if (*value)
        return POOL_SETTING_ENVIRONMENT;
    read_once();
    /* What has been read does not change; while nothing has, there is none. */
    *value = atomic_load_explicit(&is_read, memory_order_acquire) ? file.values[setting] : NULL;
    return *value ? POOL_SETTING_FILE : POOL_SETTING_DEFAULT;
}

const char *base_setting(enum base_setting setting)
{
    const char *value;

    (void)find((int)setting, &value);
    return value && value[0] ? value : NULL;
}

struct base_setting_origin base_setting_origin(enum base_setting setting)
{
    struct base_setting_origin origin;
    const char *value;

    if (find((int)setting, &value) == POOL_SETTING_FILE)
        snprintf(origin.text, sizeof(origin.text), "%s in line %u of %s", rows[setting].name,
            (unsigned)file.lines[setting], file.path);
    else
        snprintf(
            origin.text, sizeof(origin.text), "the environment variable %s", rows[setting].name);
    return origin;
}

pool_status base_settings_check(const char *call)
{
    pool_status status = POOL_OK;

    read_once();
    base_lock(&file_lock);
    if (file.problem[0] && file.is_passing)
        status = base_fail(
            POOL_ERR_IO, "%s: the configuration file %s %s", call, file.path, file.problem);
    else if (file.problem[0])
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the configuration file %s %s; correct it, or set " FILE_VARIABLE
            " to another file or to \"off\"",
            call, file.path, file.problem);
    base_unlock(&file_lock);
    return status;
}

pool_status base_setting_refuse(enum base_setting setting, const char *expected)
{
    return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_create: %s is \"%.100s\"; it must be %s",
        base_setting_origin(setting).text, base_setting(setting), expected);
}

pool_status base_setting_number(
    enum base_setting setting, uint64_t least, uint64_t most, uint64_t *value)
{
    const char *text = base_setting(setting);
    const size_t digits = text ? strspn(text, "0123456789") : 0;
    const uint64_t number = text ? strtoull(text, NULL, 10) : 0;
    char expected[64];

    if (!text)
        return POOL_OK;
    if (!digits || digits > 18 || text[digits] || number < least || number > most) {
        snprintf(expected, sizeof(expected), "a number from %llu to %llu",
            (unsigned long long)least, (unsigned long long)most);
        return base_setting_refuse(setting, expected);
    }
    *value = number;
    return POOL_OK;
}

size_t base_settings_of_file(char *text, size_t size, char **lines)
{
    size_t count = 0, used = 0;
    const char *value;

    for (int i = 0; i < BASE_SETTINGS; i++) {
        if (find(i, &value) != POOL_SETTING_FILE || used >= size)
            continue;
        lines[count++] = text + used;
        used += (size_t)snprintf(text + used, size - used, "%s=%s", rows[i].name, value) + 1;
    }
    return count;
}

/* ---- the public list ------------------------------------------------------------------------- */

static const struct base_struct setting_type = BASE_STRUCT(pool_setting);

static pool_status describe(const char *call, int setting, pool_setting *described)
{
    pool_setting made = {.name = rows[setting].name,
        .fallback = rows[setting].fallback,
        .meaning = rows[setting].meaning,
        .file = ""};
    pool_status status = base_struct_check(&setting_type, call, "setting", described);

    if (!status)
        status = base_settings_check(call);
    if (status)
        return status;
    made.source = find(setting, &made.value);
    if (made.source == POOL_SETTING_FILE) {
        made.file = file.path;
        made.line = file.lines[setting];
    }
    if (!made.value)
        made.value = "";
    base_struct_write(&setting_type, &made, described);
    return POOL_OK;
}

pool_status pool_setting_at(size_t index, pool_setting *setting)
{
    if (index >= BASE_SETTINGS)
        return base_fail(
            POOL_ERR_NOT_FOUND, "pool_setting_at: there are %d settings", (int)BASE_SETTINGS);
    return describe("pool_setting_at", (int)index, setting);
}

pool_status pool_setting_by_name(const char *name, pool_setting *setting)
{
    int row;

    if (!name)
        return base_fail_null("pool_setting_by_name", "name");
    row = find_row(name);
    if (row < 0)
        return base_fail(
            POOL_ERR_NOT_FOUND, "pool_setting_by_name: there is no setting \"%.100s\"", name);
    return describe("pool_setting_by_name", row, setting);
}
