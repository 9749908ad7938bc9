/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and loads NVRTC, and converts its result codes into statuses.
 */
#include "driver/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/status.h"
#include "driver/internal.h"
#include "driver/note.h"

#define COMPILER_VARIABLE "DEVICEPOOL_NVRTC"

/* The first version with cubin output, the list of chips and everything else in the table. */
#define VERSION_MIN 11020

/* Newest first. All versions from 11.2 to 11.8 have the soname libnvrtc.so.11.2. */
static const char *const names[] = {
    "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

DRIVER_NOTE_DLOPEN(nvrtc_note,
    "[{\"feature\":\"nvrtc\",\"description\":\"Kernels compiled for the chip at hand\","
    "\"priority\":\"recommended\",\"soname\":[\"libnvrtc.so.13\",\"libnvrtc.so.12\","
    "\"libnvrtc.so.11.2\"]}]");

/* Toolkits outside the library path: an environment variable or fixed directory, and the
 * subdirectory in it. */
static const struct search_path {
    const char *variable;
    const char *directory;
} search_paths[] = {
    {"CUDA_HOME", "lib64"},
    {"CUDA_HOME", "lib"},
    {"CUDA_PATH", "lib64"},
    {"CUDA_PATH", "lib"},
    {NULL, "/usr/local/cuda/lib64"},
    {NULL, "/usr/local/cuda/lib"},
};
#define PLACE_COUNT (sizeof(search_paths) / sizeof(search_paths[0]))

#define SYMBOL_NEEDED 1
#define SYMBOL_EXTRA 0
static const struct symbol {
    const char *name;
    size_t offset;
    int needed;
} symbols[] = {
#define SYMBOL(field, symbol, need, returned, parameters)                                          \
    {symbol, offsetof(struct nvrtc_api, field), SYMBOL_##need},
    NVRTC_FUNCTIONS(SYMBOL)
#undef SYMBOL
};
#define SYMBOL_COUNT (sizeof(symbols) / sizeof(symbols[0]))

static struct base_lock open_lock = BASE_LOCK_INIT;
static struct nvrtc compiler; /* written under open_lock, before is_open */
static atomic_int is_open;

/* The problem of the first library that was found but cannot be used. */
struct search {
    struct nvrtc found;
    char problem[1024];
};

__attribute__((format(printf, 2, 3))) static void record_problem(
    struct search *search, const char *format, ...)
{
    va_list arguments;

    if (search->problem[0])
        return;
    va_start(arguments, format);
    vsnprintf(search->problem, sizeof(search->problem), format, arguments);
    va_end(arguments);
}

/* The first needed symbol that the library lacks, or NULL. */
static const char *fill_table(void *library, struct nvrtc_api *api)
{
    const char *missing = NULL;

    for (size_t i = 0; i < SYMBOL_COUNT; i++) {
        void *function = dlsym(library, symbols[i].name);

        memcpy((char *)api + symbols[i].offset, &function, sizeof(function));
        if (!function && symbols[i].needed && !missing)
            missing = symbols[i].name;
    }
    return missing;
}

static int accept_library(struct search *search, void *library)
{
    struct nvrtc *found = &search->found;
    const char *missing = fill_table(library, &found->api);
    int major = 0, minor = 0;

    driver_library_path(library, found->path, sizeof(found->path));
    if (!found->api.Version || found->api.Version(&major, &minor) != DRIVER_NVRTC_SUCCESS) {
        record_problem(search, "%s does not report its version", found->path);
        return 0;
    }
    found->version = major * 1000 + minor * 10;
    if (found->version < VERSION_MIN || missing) {
        record_problem(search, "%s is NVRTC %d.%d%s%s; at least %d.%d is needed", found->path,
            major, minor, missing ? " and lacks " : "", missing ? missing : "", VERSION_MIN / 1000,
            VERSION_MIN % 1000 / 10);
        return 0;
    }
    return 1;
}

static int try_file(struct search *search, const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *reason;

    if (!library) {
        reason = dlerror();
        if (!reason || strncmp(reason, name, strlen(name)) != 0 || !strstr(reason, "No such file"))
            record_problem(search, "%s could not be loaded: %s", name, reason ? reason : "");
        return 0;
    }
    if (accept_library(search, library))
        return 1;
    dlclose(library);
    return 0;
}

static int try_search_path(struct search *search, const struct search_path *search_path)
{
    const char *root = search_path->variable ? base_env(search_path->variable) : NULL;
    char file[PATH_MAX];

    if (search_path->variable && (!root || root[0] != '/'))
        return 0;
    for (size_t i = 0; i < NAME_COUNT; i++) {
        snprintf(file, sizeof(file), "%s%s%s/%s", root ? root : "", root ? "/" : "",
            search_path->directory, names[i]);
        if (try_file(search, file))
            return 1;
    }
    return 0;
}

static int search_all_paths(struct search *search)
{
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (try_file(search, names[i]))
            return 1;
    for (size_t i = 0; i < PLACE_COUNT; i++)
        if (try_search_path(search, &search_paths[i]))
            return 1;
    return 0;
}

/* The path of the builtins library, which NVRTC opens when it compiles. */
static void find_builtins(const struct nvrtc *nvrtc, char *path, size_t size)
{
    const char *slash = strrchr(nvrtc->path, '/');

    snprintf(path, size, "%.*slibnvrtc-builtins.so.%d.%d",
        slash ? (int)(slash + 1 - nvrtc->path) : 0, nvrtc->path, nvrtc->version / 1000,
        nvrtc->version % 1000 / 10);
}

/* Returns 0 with the reason if no usable NVRTC is found. */
static int search_compiler(struct search *search, char *reason, size_t size)
{
    const char *wanted = base_env(COMPILER_VARIABLE);
    int is_named = wanted && wanted[0];

    memset(search, 0, sizeof(*search));
    if (is_named && strcmp(wanted, "off") == 0)
        snprintf(reason, size, COMPILER_VARIABLE "=off disables NVRTC");
    else if (is_named ? try_file(search, wanted) : search_all_paths(search))
        return 1;
    else if (is_named)
        snprintf(reason, size, COMPILER_VARIABLE " names %s, which cannot be used: %s", wanted,
            search->problem[0] ? search->problem : "there is no such library");
    else if (search->problem[0])
        snprintf(reason, size, "no usable NVRTC: %s", search->problem);
    else
        snprintf(reason, size,
            "NVRTC was not found: install libnvrtc with its libnvrtc-builtins in the same "
            "directory (package "
            "cuda-nvrtc-13-0 or cuda-nvrtc-12-x of the CUDA repository, or the pip package "
            "nvidia-cuda-nvrtc), or set " COMPILER_VARIABLE " to the file libnvrtc.so.13");
    return 0;
}

/* Logs which library is used, and warns if its builtins library is missing. */
static void log_compiler(const struct nvrtc *found)
{
    char builtins[PATH_MAX];

    base_log(POOL_LOG_INFO, "NVRTC %d.%d from %s", found->version / 1000,
        found->version % 1000 / 10, found->path);
    find_builtins(found, builtins, sizeof(builtins));
    if (access(builtins, R_OK) != 0)
        base_log(POOL_LOG_WARN, "%s does not exist; NVRTC will search for it in the library path",
            builtins);
}

const struct nvrtc *driver_nvrtc_find(char *reason, size_t size)
{
    struct search search;
    int found = 1, is_new = 0;

    if (atomic_load_explicit(&is_open, memory_order_acquire))
        return &compiler;
    driver_fork_check();
    base_lock(&open_lock);
    if (!atomic_load_explicit(&is_open, memory_order_relaxed)) {
        found = search_compiler(&search, reason, size);
        if (found) {
            driver_nvrtc_find_includes(&search.found);
            compiler = search.found;
            atomic_store_explicit(&is_open, 1, memory_order_release);
            is_new = 1;
        }
    }
    base_unlock(&open_lock);
    if (is_new)
        log_compiler(&compiler);
    return found ? &compiler : NULL;
}

pool_status driver_nvrtc_open(const struct nvrtc **nvrtc)
{
    char reason[DRIVER_NVRTC_REASON];
    const struct nvrtc *found = driver_nvrtc_find(reason, sizeof(reason));

    if (!found)
        return base_fail(POOL_ERR_NO_COMPILER, "%s", reason);
    *nvrtc = found;
    return POOL_OK;
}

const char *driver_nvrtc_result_name(nvrtc_result result)
{
    switch (result) {
#define CASE(name, code)                                                                           \
    case code:                                                                                     \
        return "NVRTC_" #name;
        NVRTC_RESULTS(CASE)
#undef CASE
    default:
        return "NVRTC_ERROR_?";
    }
}

bool driver_nvrtc_is_broken(nvrtc_result result)
{
    return result == DRIVER_NVRTC_ERROR_PROGRAM_CREATION_FAILURE ||
           result == DRIVER_NVRTC_ERROR_BUILTIN_OPERATION_FAILURE ||
           result == DRIVER_NVRTC_ERROR_INTERNAL_ERROR;
}

static pool_status status_of(nvrtc_result result)
{
    if (driver_nvrtc_is_broken(result))
        return POOL_ERR_NO_COMPILER;
    switch (result) {
    case DRIVER_NVRTC_SUCCESS:
        return POOL_OK;
    case DRIVER_NVRTC_ERROR_OUT_OF_MEMORY:
        return POOL_ERR_OUT_OF_HOST_MEMORY;
    case DRIVER_NVRTC_ERROR_INVALID_INPUT:
    case DRIVER_NVRTC_ERROR_INVALID_PROGRAM:
    case DRIVER_NVRTC_ERROR_INVALID_OPTION:
        return POOL_ERR_INVALID_ARGUMENT;
    case DRIVER_NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID:
        return POOL_ERR_NOT_FOUND;
    case DRIVER_NVRTC_ERROR_CANCELLED:
        return POOL_ERR_CANCELLED;
    default:
        return POOL_ERR_COMPILE;
    }
}

void driver_nvrtc_describe(
    const struct nvrtc *nvrtc, nvrtc_result result, const char *call, char *text, size_t size)
{
    char builtins[PATH_MAX] = "", what[PATH_MAX + 80] = "";

    if (result == DRIVER_NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) {
        find_builtins(nvrtc, builtins, sizeof(builtins));
        snprintf(what, sizeof(what),
            ": NVRTC could not open its builtins library, which belongs at %s", builtins);
    }
    snprintf(text, size, "%s failed: %s (%u) in NVRTC %d.%d of %s%s%s", call,
        driver_nvrtc_result_name(result), result, nvrtc->version / 1000, nvrtc->version % 1000 / 10,
        nvrtc->path, what,
        driver_nvrtc_is_broken(result) ? "; reinstall NVRTC, or set " COMPILER_VARIABLE
                                         " to another library (off: none)"
                                       : "");
}

pool_status driver_nvrtc_check(const struct nvrtc *nvrtc, nvrtc_result result, const char *call)
{
    char text[DRIVER_NVRTC_REASON];

    if (result == DRIVER_NVRTC_SUCCESS)
        return POOL_OK;
    driver_nvrtc_describe(nvrtc, result, call, text, sizeof(text));
    return base_fail(status_of(result), "%s", text);
}
