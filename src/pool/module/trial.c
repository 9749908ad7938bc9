/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trial of a compiler: see trial.h.
 */
#include "pool/module/trial.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <devicepool/version.h>

#include "base/log.h"
#include "base/status.h"
#include "driver/driver.h"
#include "pool/device/release.h"
#include "pool/module/disk.h"
#include "pool/module/levels.h"
#include "pool/module/module.h"

/* It uses the headers that NVRTC takes from its builtins library. */
static const char trial_source[] = "extern \"C\" __global__ void devicepool_trial(unsigned *out)\n"
                                   "{\n    *out = threadIdx.x + blockIdx.x;\n}\n";

/* ---- verdicts in the disk cache -------------------------------------------------------------- */

/* A text of the file's path, size and time; false: it cannot be read. */
static bool describe_file(const char *path, char *text, size_t size)
{
    struct stat about;

    if (!path[0] || stat(path, &about))
        return false;
    snprintf(text, size, "%s %lld %lld.%09ld", path, (long long)about.st_size,
        (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
    return true;
}

/* *is_storable is false where no verdict can be stored: a file has no path, or cannot be read. */
static pool_status verdict_key(
    const struct module_choice *choice, bool *is_storable, struct module_key *key)
{
    const struct nvrtc *nvrtc = choice->nvrtc;
    const struct module_request *request = choice->request;
    const struct driver *driver = request->device ? device_driver(request->device) : NULL;
    char compiler[400], builtins[400], text[2048];

    *is_storable = describe_file(nvrtc->path, compiler, sizeof(compiler)) &&
                   describe_file(nvrtc->builtins, builtins, sizeof(builtins));
    if (!*is_storable)
        return POOL_OK;
    snprintf(text, sizeof(text), "devicepool trial 1\n%s\n%s\n%s\n%s %d\n%d %d\n",
        pool_version_text(), compiler, builtins, driver ? driver->path : "no driver",
        driver ? driver->version : 0, request->compute_capability, request->ptx_only);
    return base_sha256_of(text, strlen(text), key->bytes);
}

pool_status module_trial_look(const struct module_choice *choice, bool *is_stored)
{
    struct module_image *image;
    struct module_key key;
    bool is_storable;
    pool_status status = verdict_key(choice, &is_storable, &key);

    *is_stored = false;
    if (status || !is_storable)
        return status;
    image = disk_load(&key);
    *is_stored = image != NULL;
    module_image_release(image);
    return POOL_OK;
}

/* Stores a good verdict, with the image of the trial, or removes it, with NULL. */
static pool_status store_verdict(
    const struct module_choice *choice, const struct module_image *image)
{
    struct disk_header header = {
        .name = MODULE_TRIAL_NAME, .compute_capability = choice->request->compute_capability};
    struct timespec now;
    struct module_key key;
    bool is_storable;
    pool_status status = verdict_key(choice, &is_storable, &key);

    if (status || !is_storable)
        return status;
    clock_gettime(CLOCK_REALTIME, &now);
    header.created_unix_time = (uint64_t)now.tv_sec;
    status = levels_maker_of(choice->nvrtc, &header.maker);
    if (status)
        return status;
    if (image)
        disk_store(&key, &header, image);
    else
        disk_forget(&key);
    return POOL_OK;
}

/* ---- the trial ------------------------------------------------------------------------------- */

static pool_status compile_trial(
    const struct module_choice *choice, char *reason, size_t size, struct module_image **image)
{
    const pool_module_params params = {
        .struct_size = sizeof(params), .source = trial_source, .name = MODULE_TRIAL_NAME};
    const struct module_request request = {.params = &params,
        .name = MODULE_TRIAL_NAME,
        .compute_capability = choice->request->compute_capability,
        .ptx_only = choice->request->ptx_only,
        .is_trial = 1};

    return module_compile_nvrtc(choice->nvrtc, &request, reason, size, image);
}

static void describe_refusal(const struct module_choice *choice, const struct module_image *image,
    const struct module_refusal *refusal, char *reason, size_t size)
{
    const struct driver *driver = device_driver(choice->request->device);
    const struct nvrtc *nvrtc = choice->nvrtc;
    const int wanted = driver->version;

    snprintf(reason, size,
        "the driver %s for CUDA %d.%d does not load the %s that NVRTC %d.%d of %s makes for "
        "sm_%d: %s (%u)%s%.*s; update the driver, or install NVRTC %d.%d (package "
        "cuda-nvrtc-%d-%d) beside this one",
        driver->path, wanted / 1000, wanted % 1000 / 10,
        image->form == MODULE_PTX ? "PTX" : "machine code", nvrtc->version / 1000,
        nvrtc->version % 1000 / 10, nvrtc->path, choice->request->compute_capability,
        driver_code_name(refusal->code), refusal->code, refusal->log[0] ? ": " : "",
        (int)strcspn(refusal->log, "\n"), refusal->log, wanted / 1000, wanted % 1000 / 10,
        wanted / 1000, wanted % 1000 / 10);
}

/* Inside device_enter. */
static pool_status load_entered(const struct module_choice *choice, struct device_scope *scope,
    const struct module_image *image, char *reason, size_t size)
{
    pool_device *device = choice->request->device;
    struct device_deferred *deferred = device_deferred_new(device, DEVICE_DEFERRED_MODULE);
    struct module_refusal refusal = {0};
    CUmodule handle = NULL;
    pool_status status;

    if (!deferred)
        return base_fail_memory("a module");
    status = module_load_inside(scope, image->bytes, image->size, &handle, &refusal);
    if (!status)
        return module_unload(device, handle, deferred);
    device_deferred_free(deferred);
    if (!refusal.code)
        return status;
    describe_refusal(choice, image, &refusal, reason, size);
    return POOL_ERR_NO_COMPILER;
}

static pool_status load_trial(const struct module_choice *choice, struct device_scope *scope,
    const struct module_image *image, char *reason, size_t size)
{
    struct device_scope own;
    pool_status status;

    if (!choice->request->device)
        return POOL_OK;
    if (scope)
        return load_entered(choice, scope, image, reason, size);
    status = device_enter(choice->request->device, &own);
    return status ? status : device_leave(&own, load_entered(choice, &own, image, reason, size));
}

/* Logs once per process and compiler, if warnings are enabled. */
static void warn_once(size_t index, const char *reason)
{
    static atomic_flag is_logged[DRIVER_NVRTC_MAX];

    if (base_log_wanted(POOL_LOG_WARN) && !atomic_flag_test_and_set(&is_logged[index]))
        base_log(POOL_LOG_WARN, "%s", reason);
}

pool_status module_trial_run(
    struct module_choice *choice, struct device_scope *scope, char *reason, size_t size)
{
    static const char prefix[] = "NVRTC does not work: ";
    const size_t used = sizeof(prefix) - 1;
    struct module_image *image = NULL;
    pool_status status;

    snprintf(reason, size, "%s", prefix);
    status = compile_trial(choice, reason + used, size - used, &image);
    if (!status)
        status = load_trial(choice, scope, image, reason + used, size - used);
    if (!status) {
        status = store_verdict(choice, image);
        if (choice->index)
            base_log(POOL_LOG_INFO, "NVRTC %d.%d of %s is used instead",
                choice->nvrtc->version / 1000, choice->nvrtc->version % 1000 / 10,
                choice->nvrtc->path);
    } else if (status == POOL_ERR_NO_COMPILER) {
        pool_status stored = store_verdict(choice, NULL);

        status = stored ? stored : status;
        warn_once(choice->index, reason);
    }
    module_image_release(image);
    return status;
}
