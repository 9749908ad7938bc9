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

#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/status.h"
#include "driver/internal.h"
#include "driver/note.h"

#define COMPILER_VARIABLE "DEVICEPOOL_NVRTC"

/*
 * The oldest version that was right on a GPU. 11.2 to 12.3 have every function of the table, but
 * transforms over bn254_fr that 11.8.89 compiled were wrong on an H100 (driver 580.159.04),
 * although right on simulated devices (and 11.8 knows no early-clobber operands "=&r"); 12.0 to
 * 12.3 were never tried.
 */
#define VERSION_MIN 12040

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
/* A place is a name in the library path or in one of these directories. */
#define PATH_COUNT (1 + sizeof(search_paths) / sizeof(search_paths[0]))
#define PLACE_COUNT (NAME_COUNT * PATH_COUNT)

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
static struct nvrtc compilers[DRIVER_NVRTC_MAX]; /* written under open_lock, before open_count */
static atomic_size_t open_count;
static size_t next_place; /* guarded by open_lock: of the search for the next one */

/* A library that was found, and the problem of the first one that cannot be used. */
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

/* Another name or link may lead to the same file. */
static int is_open_already(const char *path)
{
    for (size_t i = 0; i < atomic_load_explicit(&open_count, memory_order_relaxed); i++)
        if (strcmp(compilers[i].path, path) == 0)
            return 1;
    return 0;
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
    if (accept_library(search, library) && !is_open_already(search->found.path)) {
        driver_nvrtc_open_builtins(&search->found, name);
        return 1;
    }
    dlclose(library);
    return 0;
}

static int try_place(struct search *search, size_t place)
{
    const char *name = names[place / PATH_COUNT];
    const struct search_path *search_path;
    const char *root;
    char file[PATH_MAX];

    if (place % PATH_COUNT == 0)
        return try_file(search, name);
    search_path = &search_paths[place % PATH_COUNT - 1];
    root = search_path->variable ? base_env(search_path->variable) : NULL;
    if (search_path->variable && (!root || root[0] != '/'))
        return 0;
    snprintf(file, sizeof(file), "%s%s%s/%s", root ? root : "", root ? "/" : "",
        search_path->directory, name);
    return try_file(search, file);
}

/* Continues the search where the last library was found. */
static int search_places(struct search *search)
{
    while (next_place < PLACE_COUNT)
        if (try_place(search, next_place++))
            return 1;
    return 0;
}

static int try_named(struct search *search, const char *name)
{
    int is_found = try_file(search, name);

    if (is_found)
        next_place = PLACE_COUNT; /* no other one is wanted */
    return is_found;
}

bool driver_nvrtc_is_last(void)
{
    const char *wanted = base_setting(BASE_SETTING_NVRTC);

    return wanted && strcmp(wanted, "last") == 0;
}

/* Whether a usable NVRTC is found; otherwise the reason. */
static int search_compiler(struct search *search, char *reason, size_t size)
{
    const char *wanted = base_setting(BASE_SETTING_NVRTC);
    int is_named = wanted != NULL && !driver_nvrtc_is_last();

    memset(search, 0, sizeof(*search));
    next_place = 0;
    if (is_named && strcmp(wanted, "off") == 0)
        snprintf(reason, size, COMPILER_VARIABLE "=off disables NVRTC");
    else if (is_named ? try_named(search, wanted) : search_places(search))
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

/* With open_lock held: loads one more compiler. */
static int open_next(char *reason, size_t size)
{
    size_t count = atomic_load_explicit(&open_count, memory_order_relaxed);
    struct search search = {.problem = ""};
    int is_found;

    reason[0] = '\0';
    if (count == DRIVER_NVRTC_MAX)
        return 0;
    is_found = count ? search_places(&search) : search_compiler(&search, reason, size);
    if (!is_found) {
        if (count)
            snprintf(reason, size, "%s", search.problem);
        return 0;
    }
    driver_nvrtc_find_includes(&search.found);
    compilers[count] = search.found;
    atomic_store_explicit(&open_count, count + 1, memory_order_release);
    return 1;
}

static void log_compiler(const struct nvrtc *found)
{
    base_log(POOL_LOG_INFO, "NVRTC %d.%d from %s with its builtins library %s",
        found->version / 1000, found->version % 1000 / 10, found->path,
        found->builtins[0] ? found->builtins : found->builtins_problem);
}

/* Logs after the lock is released, because a callback may use the compiler. */
const struct nvrtc *driver_nvrtc_candidate(size_t index, char *reason, size_t size)
{
    size_t before;
    int found = 1;

    if (index < atomic_load_explicit(&open_count, memory_order_acquire))
        return &compilers[index];
    driver_fork_check();
    base_lock(&open_lock);
    before = atomic_load_explicit(&open_count, memory_order_relaxed);
    while (found && index >= atomic_load_explicit(&open_count, memory_order_relaxed))
        found = open_next(reason, size);
    base_unlock(&open_lock);
    for (; found && before <= index; before++)
        log_compiler(&compilers[before]);
    return found ? &compilers[index] : NULL;
}

pool_status driver_nvrtc_open(const struct nvrtc **nvrtc)
{
    char reason[DRIVER_NVRTC_REASON];
    const struct nvrtc *found = driver_nvrtc_candidate(0, reason, sizeof(reason));

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

/* What is known of the builtins library, which NVRTC says that it cannot use. */
static void describe_builtins(const struct nvrtc *nvrtc, char *text, size_t size)
{
    char place[PATH_MAX];

    if (nvrtc->builtins[0]) {
        snprintf(text, size, ": NVRTC does not accept its builtins library %s", nvrtc->builtins);
        return;
    }
    driver_nvrtc_builtins_place(nvrtc, place, sizeof(place));
    snprintf(text, size, ": NVRTC needs its builtins library, which belongs at %s (%s)", place,
        nvrtc->builtins_problem);
}

void driver_nvrtc_describe(
    const struct nvrtc *nvrtc, nvrtc_result result, const char *call, char *text, size_t size)
{
    char what[PATH_MAX + 400] = "";

    if (result == DRIVER_NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
        describe_builtins(nvrtc, what, sizeof(what));
    snprintf(text, size, "%s failed: %s (%u) in NVRTC %d.%d of %s%s%s%s", call,
        driver_nvrtc_result_name(result), result, nvrtc->version / 1000, nvrtc->version % 1000 / 10,
        nvrtc->path, what, driver_nvrtc_is_broken(result) ? "; " : "",
        driver_nvrtc_is_broken(result) ? DRIVER_NVRTC_REMEDY : "");
}

pool_status driver_nvrtc_check(const struct nvrtc *nvrtc, nvrtc_result result, const char *call)
{
    char text[DRIVER_NVRTC_REASON];

    if (result == DRIVER_NVRTC_SUCCESS)
        return POOL_OK;
    driver_nvrtc_describe(nvrtc, result, call, text, sizeof(text));
    return base_fail(status_of(result), "%s", text);
}
