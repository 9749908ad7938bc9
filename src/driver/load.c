/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens libcuda and resolves its functions at the versions whose C types we declare. Failures say
 * what is wrong with the installation.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/status.h"
#include "driver/internal.h"
#include "driver/note.h"

#define LIBRARY_NAME "libcuda.so.1"
#define LIBRARY_VARIABLE "DEVICEPOOL_LIBCUDA"

DRIVER_NOTE_DLOPEN(libcuda_note,
    "[{\"feature\":\"cuda\",\"description\":\"CUDA devices\","
    "\"priority\":\"recommended\",\"soname\":[\"" LIBRARY_NAME "\"]}]");

/* cuGetProcAddress as of CUDA 11.3; as of 12.0 it also returns the reason of a failure. */
typedef pool_cu_result (*proc_address)(
    const char *symbol, void **function, int version, uint64_t flags);
typedef pool_cu_result (*proc_address_v2)(
    const char *symbol, void **function, int version, uint64_t flags, pool_cu_enum *reason);

struct resolver {
    void *library;
    proc_address get;
    proc_address_v2 get_v2;
};

static void *exported(void *library, const char *name, const char *suffix)
{
    char symbol[128];

    snprintf(symbol, sizeof(symbol), "%s%s", name, suffix);
    return dlsym(library, symbol);
}

static void *resolve(const struct resolver *resolver, const struct driver_symbol *symbol)
{
    pool_cu_result code = POOL_CU_NOT_FOUND;
    pool_cu_enum reason = 0;
    void *function = NULL;

    if (resolver->get_v2)
        code = resolver->get_v2(symbol->name, &function, symbol->version, 0, &reason);
    else if (resolver->get)
        code = resolver->get(symbol->name, &function, symbol->version, 0);
    if (code == POOL_CU_SUCCESS && reason == 0 && function)
        return function;
    return exported(resolver->library, symbol->name, symbol->suffix);
}

static void fill_table(void *library, pool_cuda_api *api)
{
    struct resolver resolver = {.library = library};
    void *function = dlsym(library, "cuGetProcAddress_v2");

    memcpy(&resolver.get_v2, &function, sizeof(function));
    function = dlsym(library, "cuGetProcAddress");
    memcpy(&resolver.get, &function, sizeof(function));
    memset(api, 0, sizeof(*api));
    api->struct_size = sizeof(*api);
    for (size_t i = 0; i < driver_symbol_count; i++) {
        function = resolve(&resolver, &driver_symbols[i]);
        memcpy((char *)api + driver_symbols[i].offset, &function, sizeof(function));
        if (!function)
            base_log(POOL_LOG_DEBUG, "the driver has no %s%s (CUDA %d.%d)", driver_symbols[i].name,
                driver_symbols[i].suffix, driver_symbols[i].version / 1000,
                driver_symbols[i].version % 1000 / 10);
    }
}

void driver_library_path(void *handle, char *path, size_t size)
{
    struct link_map *map = NULL;
    char resolved[PATH_MAX];

    path[0] = '\0';
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map || !map->l_name)
        return;
    snprintf(path, size, "%s", realpath(map->l_name, resolved) ? resolved : map->l_name);
}

void driver_kernel_module_version(char *text, size_t size)
{
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    char line[512] = "";
    char *rest = NULL;

    text[0] = '\0';
    if (!file)
        return;
    if (fgets(line, sizeof(line), file)) {
        /* The first word that is a number with a dot: "… Kernel Module  580.82.07  Release". */
        for (char *word = strtok_r(line, " \t\n", &rest); word;
             word = strtok_r(NULL, " \t\n", &rest))
            if (isdigit((unsigned char)word[0]) && strchr(word, '.')) {
                snprintf(text, size, "%s", word);
                break;
            }
    }
    fclose(file);
}

pool_status driver_stub_failure(const char *path)
{
    return base_fail(POOL_ERR_NO_DRIVER,
        "%s is the CUDA toolkit's stub library for linking: remove its directory from "
        "LD_LIBRARY_PATH and install the NVIDIA driver, which contains the real " LIBRARY_NAME,
        path[0] ? path : LIBRARY_NAME);
}

static pool_status open_failure(const char *name, const char *reason)
{
    char module[64];
    /* The reason begins with the name of the missing file, which may be a dependency of this one.
     */
    int missing = strncmp(reason, name, strlen(name)) == 0 && strstr(reason, "No such file");

    driver_kernel_module_version(module, sizeof(module));
    if (missing && module[0])
        return base_fail(POOL_ERR_NO_DRIVER,
            "%s was not found although the NVIDIA kernel module %s is loaded: install the driver's "
            "CUDA library (libcuda1, nvidia-driver-cuda-libs or similar) of that version, or, in a "
            "container, start it with its GPUs (--gpus all, NVIDIA Container Toolkit, capability "
            "\"compute\") (%s)",
            name, module, reason);
    if (missing)
        return base_fail(POOL_ERR_NO_DRIVER,
            "%s was not found and no NVIDIA kernel module is loaded: install the NVIDIA driver, or "
            "use simulated devices (\"sim\") (%s)",
            name, reason);
    return base_fail(POOL_ERR_NO_DRIVER, "%s could not be loaded: %s", name, reason);
}

static pool_status missing_failure(struct driver *driver, const struct driver_symbol *symbol)
{
    int version = 0, needed = driver_needed_version();

    if (driver->api.DriverGetVersion)
        driver->api.DriverGetVersion(&version);
    return base_fail(POOL_ERR_DRIVER_TOO_OLD,
        "the driver %s is for CUDA %d.%d and has no %s%s (CUDA %d.%d); at least CUDA %d.%d is "
        "needed: install a newer NVIDIA driver",
        driver->path, version / 1000, version % 1000 / 10, symbol->name, symbol->suffix,
        symbol->version / 1000, symbol->version % 1000 / 10, needed / 1000, needed % 1000 / 10);
}

pool_status driver_library_load(struct driver *driver)
{
    const struct driver_symbol *missing;
    const char *name = base_setting(BASE_SETTING_LIBCUDA);
    const char *reason;
    pool_status status;

    if (!name)
        name = LIBRARY_NAME;
    driver->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!driver->library) {
        reason = dlerror();
        return open_failure(name, reason ? reason : "no reason given");
    }
    driver_library_path(driver->library, driver->path, sizeof(driver->path));
    if (strstr(driver->path, "/stubs/")) {
        status = driver_stub_failure(driver->path);
        goto unload;
    }
    fill_table(driver->library, &driver->api);
    missing = driver_missing_symbol(&driver->api);
    if (missing) {
        status = missing_failure(driver, missing);
        goto unload;
    }
    return POOL_OK;

unload:
    driver_library_unload(driver);
    return status;
}

void driver_library_unload(struct driver *driver)
{
    if (driver->library)
        dlclose(driver->library);
    driver->library = NULL;
}
