/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a pool's devices, from the caller or a file, and the public functions of tuning.h.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cache_directory.h"
#include "base/file.h"
#include "base/log.h"
#include "base/params.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/device/pool.h"
#include "pool/tuning/tuning.h"

#define VARIABLE "DEVICEPOOL_TUNING"

struct pool_tuning {
    struct tuning_key key;
    bool is_for_any; /* chip */
    struct tuning numbers;
};

const struct tuning *device_tuning(const pool_device *device)
{
    return device->tuning;
}

static struct tuning_key key_of(const pool_device *device)
{
    const pool_device_info *info = &device->properties;
    struct tuning_key key = {.driver_version = device->pool->driver->version};

    snprintf(key.chip, sizeof(key.chip), "%s, compute capability %d.%d, %d multiprocessors",
        info->name, info->compute_major, info->compute_minor, info->multiprocessors);
    return key;
}

static uint32_t count_changed(const struct tuning *tuning)
{
    struct tuning_number number;
    uint32_t changed = 0;

    for (size_t i = 0; tuning_number_at(i, &number); i++)
        changed += tuning_value(tuning, &number) != number.standard;
    return changed;
}

/* Devices that could not be read have no kind. */
static bool is_known(const pool_device *device)
{
    const pool_device_info *info = &device->properties;

    return info->name[0] && info->compute_major > 0 && info->multiprocessors > 0;
}

/* The first device whose properties are known; NULL: none. */
static const pool_device *first_known(const device_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        if (is_known(&pool->devices[i]))
            return &pool->devices[i];
    return NULL;
}

/* Plans of one job over several devices must agree, so that all have the same numbers. */
static bool are_of_one_kind(const device_pool *pool, const struct tuning_key *key)
{
    for (size_t i = 0; i < pool->count; i++)
        if (is_known(&pool->devices[i]) && strcmp(key_of(&pool->devices[i]).chip, key->chip) != 0)
            return false;
    return true;
}

/* ---- the numbers of a pool ------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static bool set_reason(
    struct tuning_reason *reason, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason->text, sizeof(reason->text), format, arguments);
    va_end(arguments);
    return false;
}

static pool_status set_numbers(
    device_pool *pool, const struct tuning *numbers, pool_tuning_source source)
{
    pool->tuning = base_calloc(1, sizeof(*pool->tuning));
    if (!pool->tuning)
        return base_fail_memory("tuning parameters");
    *pool->tuning = *numbers;
    pool->tuning_info.source = source;
    pool->tuning_info.changed = count_changed(numbers);
    for (size_t i = 0; i < pool->count; i++)
        pool->devices[i].tuning = pool->tuning;
    return POOL_OK;
}

/* Why numbers of `key` are not for the devices of the pool, in `reason`. */
static bool is_for_pool(
    const struct tuning_key *key, const device_pool *pool, struct tuning_reason *reason)
{
    const struct tuning_key wanted = key_of(first_known(pool));

    if (!are_of_one_kind(pool, &wanted))
        return set_reason(reason, "the pool has devices of several kinds");
    if (strcmp(key->chip, wanted.chip) != 0)
        return set_reason(reason, "they are for %.90s, this is %.90s", key->chip, wanted.chip);
    return key->driver_version == wanted.driver_version ||
           set_reason(reason, "they were measured with driver %d, this is %d", key->driver_version,
               wanted.driver_version);
}

static pool_status use_given(device_pool *pool, const pool_tuning *given)
{
    struct tuning_reason reason;

    if (!tuning_is_valid(&given->numbers))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: the numbers of `tuning` contradict each other");
    if (!given->is_for_any && first_known(pool) && !is_for_pool(&given->key, pool, &reason))
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_create: the numbers of `tuning` cannot be used: %s", reason.text);
    return set_numbers(pool, &given->numbers, POOL_TUNING_GIVEN);
}

/* ---- the file -------------------------------------------------------------------------------- */

enum { PATH_BYTES = 4096 + TUNING_FILE_NAME };

/* The directory of the cache, which need not exist. */
static pool_status find_cache(const char *call, int may_create, char *path, size_t size)
{
    char reason[256];
    int directory = base_cache_directory_open(may_create, path, size, reason, sizeof(reason));
    const bool is_missing = directory < 0 && path[0] && access(path, F_OK) != 0;

    base_close(directory);
    return directory >= 0 || (is_missing && !may_create)
               ? POOL_OK
               : base_fail(POOL_ERR_UNSUPPORTED, "%s: the cache directory cannot be used: %s", call,
                     reason);
}

/* The file that the environment names; NULL: none. */
static const char *named_file(void)
{
    return base_setting(BASE_SETTING_TUNING);
}

static bool is_off(void)
{
    return named_file() && strcmp(named_file(), "off") == 0;
}

/* The file of a chip: the one that the environment names, or the one in the cache directory. */
static pool_status find_path(
    const char *call, const struct tuning_key *key, int may_create, char path[PATH_BYTES])
{
    const char *named = named_file();
    char directory[PATH_BYTES - TUNING_FILE_NAME], name[TUNING_FILE_NAME];
    pool_status status;

    if (named && !is_off()) {
        if (strlen(named) >= PATH_BYTES)
            return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: " VARIABLE " is too long", call);
        memcpy(path, named, strlen(named) + 1);
        return POOL_OK;
    }
    status = find_cache(call, may_create, directory, sizeof(directory));
    if (!status)
        status = tuning_file_name(key, name);
    if (!status)
        snprintf(path, PATH_BYTES, "%s/%s", directory, name);
    return status;
}

static pool_status read_file(device_pool *pool, bool (*has_compiler)(void), struct tuning *numbers,
    struct tuning_reason *reason)
{
    const struct tuning_key wanted = key_of(first_known(pool));
    struct tuning_key key;
    char path[PATH_BYTES] = "";
    pool_status status = find_path("pool_create", &wanted, 0, path);

    if (status)
        set_reason(reason, "%s", pool_last_error()->message);
    else
        status = tuning_read(path, &key, numbers, reason);
    /* A file that was named should be there. */
    if (status && !named_file() && (!path[0] || status == POOL_ERR_NOT_FOUND)) {
        reason->text[0] = '\0';
        return status;
    }
    base_text_copy(pool->tuning_info.path, sizeof(pool->tuning_info.path), path);
    if (!status && !is_for_pool(&key, pool, reason))
        status = POOL_ERR_UNSUPPORTED;
    if (!status && tuning_needs_compiler(numbers) && !has_compiler()) {
        set_reason(reason, "their kernels are compiled, and there is no compiler that works");
        status = POOL_ERR_UNSUPPORTED;
    }
    return status;
}

static pool_status use_file(device_pool *pool, bool (*has_compiler)(void))
{
    pool_tuning_info *info = &pool->tuning_info;
    struct base_error_copy before;
    struct tuning_reason reason = {""};
    struct tuning numbers;
    pool_status status;

    if (!first_known(pool) || is_off())
        return POOL_OK;
    base_error_save(&before);
    status = read_file(pool, has_compiler, &numbers, &reason);
    base_error_restore(&before);
    base_text_copy(info->message, sizeof(info->message), reason.text);
    if (reason.text[0])
        base_log(POOL_LOG_WARN,
            "the tuning parameters of %s are %s: %s; run `devicepool tune` to write them again, or "
            "set " VARIABLE "=off",
            info->path, status ? "not used" : "used in part", reason.text);
    return status ? POOL_OK : set_numbers(pool, &numbers, POOL_TUNING_FILE);
}

pool_status device_pool_tune(
    device_pool *pool, const pool_tuning *given, bool (*has_compiler)(void))
{
    pool->tuning_info.struct_size = sizeof(pool->tuning_info);
    for (size_t i = 0; i < pool->count; i++)
        pool->devices[i].tuning = tuning_default();
    return given ? use_given(pool, given) : use_file(pool, has_compiler);
}

void device_pool_free_tuning(device_pool *pool)
{
    base_free(pool->tuning);
    pool->tuning = NULL;
}

/* ---- public functions ------------------------------------------------------------------------ */

pool_status pool_device_get_tuning(pool_device *device, pool_tuning_info *info)
{
    static const struct base_struct type = BASE_STRUCT(pool_tuning_info);
    pool_status status =
        device ? device_check(device, DEVICE_USE_HOST) : base_fail_null(__func__, "device");

    if (!status)
        status = base_struct_check(&type, __func__, "info", info);
    if (!status)
        base_struct_write(&type, &device->pool->tuning_info, info);
    return status;
}

pool_status pool_tuning_create(pool_device *device, pool_tuning **tuning)
{
    pool_tuning *created;
    pool_status status = tuning ? POOL_OK : base_fail_null(__func__, "tuning");

    if (!status && device)
        status = device_check(device, DEVICE_USE_HOST);
    if (status)
        return status;
    created = base_calloc(1, sizeof(*created));
    if (!created)
        return base_fail_memory("tuning parameters");
    created->is_for_any = !device;
    created->numbers = device ? *device_tuning(device) : *tuning_default();
    if (device)
        created->key = key_of(device);
    *tuning = created;
    return POOL_OK;
}

void pool_tuning_destroy(pool_tuning **tuning)
{
    if (!tuning)
        return;
    base_free(*tuning);
    *tuning = NULL;
}

static pool_status find_number(const char *call, const char *name, struct tuning_number *number)
{
    return tuning_number_named(name, number)
               ? POOL_OK
               : base_fail(
                     POOL_ERR_NOT_FOUND, "%s: there is no tuning parameter `%.64s`", call, name);
}

pool_status pool_tuning_set(pool_tuning *tuning, const char *name, uint32_t value)
{
    struct tuning_number number;
    pool_status status = base_check_pointers(__func__, {"tuning", tuning}, {"name", name});

    if (!status)
        status = find_number(__func__, name, &number);
    if (!status)
        status = base_check_ranges(__func__, {number.name, value, number.min, number.max});
    if (!status)
        tuning_set_value(&tuning->numbers, &number, value);
    return status;
}

pool_status pool_tuning_get(const pool_tuning *tuning, const char *name, uint32_t *value)
{
    struct tuning_number number;
    pool_status status =
        base_check_pointers(__func__, {"tuning", tuning}, {"name", name}, {"value", value});

    if (!status)
        status = find_number(__func__, name, &number);
    if (!status)
        *value = tuning_value(&tuning->numbers, &number);
    return status;
}

pool_status pool_tuning_each(const pool_tuning *tuning, pool_tuning_visitor visit, void *user)
{
    struct tuning_number number;
    pool_status status = base_check_pointers(__func__, {"tuning", tuning}, {"visit", visit});

    if (status)
        return status;
    for (size_t i = 0; tuning_number_at(i, &number); i++) {
        const pool_tuning_number shown = {.struct_size = sizeof(shown),
            .name = number.name,
            .value = tuning_value(&tuning->numbers, &number),
            .default_value = number.standard,
            .min = number.min,
            .max = number.max,
            .candidates = number.candidates,
            .candidate_count = number.candidate_count};

        if (visit(user, &shown))
            break;
    }
    return POOL_OK;
}

pool_status pool_tuning_path(pool_device *device, char *path, size_t size)
{
    char found[PATH_BYTES];
    struct tuning_key key;
    pool_status status = base_check_pointers(__func__, {"device", device}, {"path", path});

    if (!status)
        status = device_check(device, DEVICE_USE_HOST);
    if (!status && is_off())
        status = base_fail(POOL_ERR_UNSUPPORTED, "%s: " VARIABLE "=off", __func__);
    if (status)
        return status;
    key = key_of(device);
    status = find_path(__func__, &key, 0, found);
    if (!status && strlen(found) >= size)
        status = base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: the path needs %zu bytes", __func__, strlen(found) + 1);
    if (!status)
        memcpy(path, found, strlen(found) + 1);
    return status;
}

pool_status pool_tuning_write(const pool_tuning *tuning, const char *path)
{
    char found[PATH_BYTES];
    pool_status status = tuning ? POOL_OK : base_fail_null(__func__, "tuning");

    if (!status && tuning->is_for_any)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the numbers are for every chip; a file is for one", __func__);
    if (!status && !path)
        status = find_path(__func__, &tuning->key, 1, found);
    return status ? status : tuning_write(path ? path : found, &tuning->key, &tuning->numbers);
}

pool_status pool_tuning_read(const char *path, pool_tuning **tuning)
{
    struct tuning_reason reason = {""};
    pool_tuning *read;
    pool_status status = base_check_pointers(__func__, {"path", path}, {"tuning", tuning});

    if (status)
        return status;
    read = base_calloc(1, sizeof(*read));
    if (!read)
        return base_fail_memory("tuning parameters");
    status = tuning_read(path, &read->key, &read->numbers, &reason);
    if (status) {
        base_free(read);
        return base_fail(status, "%s: %s: %s", __func__, path, reason.text);
    }
    if (reason.text[0])
        base_log(POOL_LOG_WARN, "%s: %s: %s", __func__, path, reason.text);
    *tuning = read;
    return POOL_OK;
}
