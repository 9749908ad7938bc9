/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The levels that are only read: see levels.h. A pack is opened for each look-up, which takes a
 * tenth of a millisecond: nothing is open in between, and a replaced file is seen.
 */
#include "pool/module/levels.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cache_directory.h"
#include "base/file.h"
#include "base/installed.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/status.h"
#include "installed_paths.h"

static const char *state_of(enum base_setting setting)
{
    const char *value = base_setting(setting);

    return value ? value : "";
}

/* A member of the list that does not begin with "/" is ignored, as for the cache's directory. */
bool levels_directory(size_t index, char *path, size_t size)
{
    static const struct base_installed installed = {
        POOL_PACKS, POOL_PACKS_FROM_LIBRARY, POOL_PACKS_FROM_PROGRAM};
    const char *list = state_of(BASE_SETTING_CACHE_LEVELS);

    if (strcmp(list, "off") == 0 || strcmp(state_of(BASE_SETTING_CACHE), "off") == 0)
        return false;
    if (!list[0]) {
        (void)base_installed_find(&installed, X_OK, path, size);
        return index == 0;
    }
    for (;; list++) {
        const size_t length = strcspn(list, ":");

        if (list[0] == '/' && length < size && index-- == 0) {
            snprintf(path, size, "%.*s", (int)length, list);
            return true;
        }
        list += length;
        if (!*list)
            return false;
    }
}

pool_status levels_maker_of(const struct nvrtc *nvrtc, struct module_maker *maker)
{
    maker->version = nvrtc->version;
    return driver_nvrtc_identify(nvrtc, maker->digest);
}

static struct base_once once = {.lock = BASE_LOCK_INIT};
static uint8_t own_build[BASE_SHA256_BYTES]; /* written until `once` is made */

static pool_status make_own_build(void)
{
    return pack_build_digest(own_build);
}

/* A reason why a pack is not for this library, chip and compiler; false: it is. */
static bool is_for_others(const struct pack *pack, int compute_capability,
    const struct module_maker *maker, char *reason, size_t size)
{
    if (base_make_once(&once, make_own_build))
        snprintf(reason, size, "out of host memory");
    else if (pack->compute_capability != compute_capability)
        snprintf(reason, size, "it is for sm_%d", pack->compute_capability);
    else if (memcmp(pack->build, own_build, sizeof(own_build)) != 0)
        snprintf(
            reason, size, "another build of the library has made it (version %s)", pack->version);
    else if (maker && memcmp(pack->maker.digest, maker->digest, sizeof(maker->digest)) != 0)
        snprintf(reason, size, "another NVRTC has made it than the one that compiles: %d.%d%s",
            pack->maker.version / 1000, pack->maker.version % 1000 / 10,
            pack->maker.version == maker->version ? ", another build" : "");
    else
        return false;
    return true;
}

enum disk_result levels_open(size_t index, int compute_capability, const struct module_maker *maker,
    struct pack *pack, char *path, char *reason, size_t size)
{
    const struct pack_name name = pack_name_of(compute_capability);
    enum disk_result result;
    size_t length;
    int directory;

    reason[0] = path[0] = '\0';
    if (!levels_directory(index, path, size))
        return DISK_MISSING;
    directory = base_cache_level_open(path, reason, size);
    if (directory < 0)
        return errno == ENOENT ? DISK_MISSING : DISK_UNREADABLE;
    length = strlen(path);
    snprintf(path + length, size - length, "/%s", name.text);
    result = pack_open(directory, name.text, pack, reason, size);
    base_close(directory);
    if (result != DISK_GOOD || !is_for_others(pack, compute_capability, maker, reason, size))
        return result == DISK_BAD ? DISK_UNREADABLE : result;
    pack_close(pack);
    return DISK_BAD;
}

/* ---- log records, each once ------------------------------------------------------------------ */

enum { REMEMBERED = 32 };
static struct base_lock lock = BASE_LOCK_INIT;
static uint64_t said[REMEMBERED]; /* hashes; guarded by lock */
static size_t said_count;         /* guarded by lock */

static bool is_new(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    bool is_known = false;

    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    base_lock(&lock);
    for (size_t i = 0; i < said_count && i < REMEMBERED; i++)
        is_known = is_known || said[i] == hash;
    if (!is_known)
        said[said_count++ % REMEMBERED] = hash;
    base_unlock(&lock);
    return !is_known;
}

static void say(pool_log_level level, const char *path, const char *what)
{
    char text[2 * PATH_MAX];

    if (!base_log_wanted(level))
        return;
    snprintf(text, sizeof(text), "cache: %s %s", path, what);
    if (is_new(text))
        base_log(level, "%s", text);
}

/* ---- look-ups -------------------------------------------------------------------------------- */

/* The key of a request for the NVRTC that has made the pack. */
static pool_status find_entry(const struct pack *pack, const struct module_request *request,
    const struct module_key *key, const struct module_key *files, const struct pack_entry **entry)
{
    struct module_key own;
    pool_status status = POOL_OK;

    if (!key)
        status = module_key_of(request, &pack->maker, files, &own);
    if (!status)
        *entry = pack_find(pack, key ? key : &own);
    return status;
}

static pool_status load_from(const struct pack *pack, const char *path,
    const struct module_request *request, const struct module_key *key,
    const struct module_key *files, struct module_image **image)
{
    const struct pack_entry *entry = NULL;
    pool_status status = find_entry(pack, request, key, files, &entry);
    enum disk_result result;
    char text[200];

    if (status || !entry)
        return status;
    result = pack_load(pack, entry, NULL, image);
    if (result != DISK_GOOD) {
        snprintf(text, sizeof(text), "%s: the entry of %s is not used",
            result == DISK_BAD ? "is damaged" : "cannot be read", request->name);
        say(POOL_LOG_WARN, path, text);
        return POOL_OK;
    }
    snprintf(text, sizeof(text), "is used, %zu programs that NVRTC %d.%d has compiled", pack->count,
        pack->maker.version / 1000, pack->maker.version % 1000 / 10);
    say(POOL_LOG_INFO, path, text);
    return POOL_OK;
}

pool_status levels_load(const struct module_request *request, const struct module_maker *maker,
    const struct module_key *key, const struct module_key *files, struct module_image **image)
{
    char path[PATH_MAX], reason[PATH_MAX];
    struct base_error_copy before;
    pool_status status = POOL_OK;
    struct pack pack;

    *image = NULL;
    for (size_t i = 0; request->compute_capability && !*image && !status &&
                       levels_directory(i, path, sizeof(path));
         i++) {
        enum disk_result result;

        base_error_save(&before);
        result = levels_open(i, request->compute_capability, maker, &pack, path, reason, PATH_MAX);
        base_error_restore(&before);
        if (result == DISK_GOOD) {
            status = load_from(&pack, path, request, key, files, image);
            pack_close(&pack);
        } else if (result != DISK_MISSING) {
            char text[PATH_MAX + 32];

            snprintf(text, sizeof(text), "is not used: %s", reason);
            say(POOL_LOG_INFO, path, text);
        }
    }
    return status;
}

/* ---- reports --------------------------------------------------------------------------------- */

static void add_reason(char *text, size_t size, const char *path, const char *reason)
{
    const size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%s: %s", used ? "; " : "", path, reason);
}

pool_status levels_report(
    int compute_capability, const struct nvrtc *nvrtc, pool_component *component)
{
    char path[PATH_MAX], reason[PATH_MAX], reasons[sizeof(component->message)] = "";
    struct module_maker maker;
    struct pack pack;
    pool_status status = nvrtc ? levels_maker_of(nvrtc, &maker) : POOL_OK;

    memset(component, 0, sizeof(*component));
    for (size_t i = 0; !status && levels_directory(i, path, sizeof(path)); i++) {
        enum disk_result result = levels_open(
            i, compute_capability, nvrtc ? &maker : NULL, &pack, path, reason, PATH_MAX);

        if (result == DISK_GOOD) {
            component->version = pack.maker.version;
            snprintf(component->path, sizeof(component->path), "%s", path);
            snprintf(component->message, sizeof(component->message), "%zu programs", pack.count);
            pack_close(&pack);
            return POOL_OK;
        }
        if (result != DISK_MISSING)
            add_reason(reasons, sizeof(reasons), path, reason);
    }
    component->status = POOL_ERR_NOT_FOUND;
    snprintf(component->message, sizeof(component->message), "%s", reasons);
    return status;
}
