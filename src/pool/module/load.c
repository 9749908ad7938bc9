/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: compiling or copying an image, loading it on a device, unloading it.
 */
#include "pool/module/module.h"

#include <stdio.h>
#include <string.h>

#include <devicepool/memory.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/trace.h"
#include "pool/device/counters.h"
#include "pool/device/release.h"
#include "pool/module/compiler.h"
#include "pool/module/image.h"
#include "pool/module/names.h"

#define JIT_LOG_BYTES 4096

/* Adds the driver's log to the error of a failed load. */
static void explain_failed_load(const char *log)
{
    pool_error error = *pool_last_error();
    char call[128];

    if (!log[0])
        return;
    snprintf(call, sizeof(call), "%s", error.call);
    base_fail_driver(error.status, error.driver_code, error.driver_name, call,
        "%s; the driver's log: %s", error.message, log);
}

/* Codes with which a driver refuses an image that another compiler may make in another way. */
static bool is_refusal(pool_cu_result code)
{
    switch (code) {
    case POOL_CU_INVALID_IMAGE: /* machine code of a newer compiler */
    case POOL_CU_NO_BINARY_FOR_GPU:
    case POOL_CU_INVALID_PTX:
    case POOL_CU_JIT_COMPILER_NOT_FOUND:
    case POOL_CU_UNSUPPORTED_PTX_VERSION:
    case POOL_CU_JIT_COMPILATION_DISABLED:
        return true;
    default:
        return false;
    }
}

static pool_status load_once(
    struct device_scope *scope, const void *image, CUmodule *handle, struct module_refusal *refusal)
{
    char log[JIT_LOG_BYTES] = "";
    pool_cu_enum options[] = {DRIVER_JIT_ERROR_LOG_BUFFER, DRIVER_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof(log) - 1)};
    uint64_t start = base_clock_ns();
    struct trace_range range;
    pool_cu_result code;
    pool_status status;

    trace_begin(&range, POOL_TRACE_LOAD, "load", "", device_properties(scope->device)->ordinal, 0);
    code = scope->driver->api.ModuleLoadDataEx(handle, image, 2, options, values);
    if (refusal && is_refusal(code)) {
        refusal->code = code;
        snprintf(refusal->log, sizeof(refusal->log), "%.*s", (int)sizeof(refusal->log) - 1, log);
        return trace_end(&range, POOL_ERR_BAD_IMAGE);
    }
    status = driver_check(scope->driver, code, "cuModuleLoadDataEx");
    trace_end(&range, status);
    (void)device_count_wait(scope->device, COUNTER_WAIT_LOAD, start, status);
    log[sizeof(log) - 1] = '\0';
    if (status && pool_status_class(status) == POOL_CLASS_CALL)
        explain_failed_load(log);
    return status;
}

/* Driver memory for code comes from what the device has free, not from the memory pool. */
pool_status module_load_inside(struct device_scope *scope, const void *image, size_t bytes,
    CUmodule *handle, struct module_refusal *refusal)
{
    pool_status status = load_once(scope, image, handle, refusal);

    for (int attempt = 0; status == POOL_ERR_OUT_OF_DEVICE_MEMORY && attempt < 2; attempt++) {
        if (attempt == 1)
            (void)memory_resident_evict(scope->device, bytes, true);
        status = pool_memory_trim(scope->device, 0);
        if (!status)
            status = load_once(scope, image, handle, refusal);
    }
    return status;
}

/* What a module is made of. */
struct source_image {
    const void *data;
    size_t bytes;
    struct module_image *image; /* the same, as a reference; NULL: none */
    const char *name;
    const char *subject;          /* NULL: none */
    struct module_choice *choice; /* whose present compiler has made it, or a level without a
                                   * compiler; NULL: neither */
};

static void reject_level(const struct source_image *source, const struct module_refusal *refusal)
{
    char reason[512];

    snprintf(reason, sizeof(reason),
        "the driver does not load the machine code that there is for it: %s (%u)%s%.*s",
        driver_code_name(refusal->code), refusal->code, refusal->log[0] ? ": " : "",
        (int)strcspn(refusal->log, "\n"), refusal->log);
    base_log(POOL_LOG_WARN, "%s: %s", source->name, reason);
    module_choice_reject(source->choice, reason);
}

/* An image that the driver refuses is loaded again, for the error, unless its compiler is to blame:
 * then POOL_ERR_NO_COMPILER, without an error. */
static pool_status load_compiled(
    struct device_scope *scope, const struct source_image *source, CUmodule *handle)
{
    struct module_refusal refusal = {0};
    pool_status status = module_load_inside(scope, source->data, source->bytes, handle, &refusal);

    if (!refusal.code)
        return status;
    if (!source->choice->nvrtc) {
        reject_level(source, &refusal);
        return POOL_ERR_NO_COMPILER;
    }
    status = module_choice_doubt(source->choice, scope);
    return status ? status : module_load_inside(scope, source->data, source->bytes, handle, NULL);
}

static pool_status load_inside(
    struct device_scope *scope, const struct source_image *source, pool_module *made)
{
    CUmodule handle = NULL;
    pool_status status;

    device_try_release_deferred(scope->device);
    status = source->choice ? load_compiled(scope, source, &handle)
                            : module_load_inside(scope, source->data, source->bytes, &handle, NULL);
    if (status)
        return status;
    atomic_store(&made->handle, handle);
    made->renewals = device_renewals(scope->device);
    device_dependent_added(scope->device, DEVICE_DEPENDENT_MODULE);
    return module_add_resident(made, source->bytes);
}

/* Loads an image that has been checked. */
static pool_status load_image(
    pool_device *device, const struct source_image *source, pool_module **module)
{
    struct device_scope scope;
    pool_module *made = base_calloc(1, sizeof(*made));
    pool_status status;

    if (made)
        made->deferred = device_deferred_new(device, DEVICE_DEFERRED_MODULE);
    if (!made || !made->deferred) {
        base_free(made);
        return base_fail_memory("a module");
    }
    made->device = device;
    snprintf(made->name, sizeof(made->name), source->subject ? "%s of %s" : "%s", source->name,
        source->subject);
    status = module_names_read(source->data, source->bytes, &made->names);
    if (!status)
        status = device_enter(device, &scope);
    if (!status)
        status = device_leave(&scope, load_inside(&scope, source, made));
    if (status && !made->handle) {
        device_deferred_free(made->deferred);
        base_free(made->names);
        base_free(made);
        return status;
    }
    pthread_mutex_init(&made->lock, NULL);
    if (status) {
        pool_module_destroy(&made);
        return status;
    }
    if (source->image)
        made->image = module_image_retain(source->image);
    *module = made;
    return POOL_OK;
}

static pool_status check_strings(
    const char *call, const char *const *strings, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (!strings || !strings[i])
            return base_fail(
                POOL_ERR_INVALID_ARGUMENT, "%s: `%s[%zu]` must not be NULL", call, what, i);
    return POOL_OK;
}

static pool_status check_params(const char *call, const pool_module_params *params)
{
    pool_status status = base_check_ranges(call, {"no_cache", params->no_cache, 0, 1});

    if (status)
        return status;
    if (!params->source)
        return base_fail_null(call, "params->source");
    status = base_check_array(
        call, "headers", params->header_count, sizeof(*params->headers), sizeof(*params->headers));
    if (!status)
        status =
            base_check_array(call, "defines", params->define_count, sizeof(char *), sizeof(char *));
    if (!status)
        status =
            base_check_array(call, "options", params->option_count, sizeof(char *), sizeof(char *));
    if (status)
        return status;
    for (size_t i = 0; i < params->header_count; i++)
        if (!params->headers || !params->headers[i].name || !params->headers[i].text)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: name and text of `headers[%zu]` must not be NULL", call, i);
    status = base_check_array(
        call, "names", params->name_count, sizeof(*params->names), sizeof(*params->names));
    if (!status)
        status = module_names_check(call, params);
    if (!status)
        status = check_strings(call, params->defines, params->define_count, "defines");
    return status ? status : check_strings(call, params->options, params->option_count, "options");
}

pool_status module_params_copy(
    const char *call, const pool_module_params *given, pool_module_params *params)
{
    static const struct base_struct type = BASE_STRUCT(pool_module_params);
    pool_status status = base_struct_read(&type, call, "params", given, params);

    return status ? status : check_params(call, params);
}

void module_request_set_device(struct module_request *request, pool_device *device)
{
    request->device = device;
    request->compute_capability =
        10 * device_properties(device)->compute_major + device_properties(device)->compute_minor;
    request->ptx_only = (device_driver(device)->api.flags & POOL_CUDA_PTX_ONLY) != 0;
}

/* With DEVICEPOOL_NVRTC=last what has prebuilt PTX begins after the last compiler. */
static pool_status begin_choice(struct module_choice *choice, const struct module_request *request)
{
    bool is_prebuilt = false;
    pool_status status = POOL_OK;

    if (driver_nvrtc_is_last())
        status = module_look_for_prebuilt(request, &is_prebuilt);
    if (!is_prebuilt)
        module_choice_begin(choice, request);
    else
        *choice = (struct module_choice){.request = request, .reason = "DEVICEPOOL_NVRTC=last"};
    return status;
}

/* One way after the other: the compilers, then prebuilt PTX, until the driver takes the image. */
static pool_status compile_and_load(
    const struct module_request *request, const char *subject, pool_module **module)
{
    struct module_choice choice;
    pool_status status = begin_choice(&choice, request);
    bool is_refused;

    if (status)
        return status;
    do {
        struct module_image *image = NULL;

        status = module_image_choose(&choice, &image);
        is_refused = false;
        if (!status && image) {
            const struct source_image source = {image->bytes, image->size, image, request->name,
                subject, choice.nvrtc || choice.is_from_level ? &choice : NULL};

            status = load_image(request->device, &source, module);
            is_refused = source.choice && status == POOL_ERR_NO_COMPILER;
        }
        module_image_release(image);
        if (is_refused)
            module_choice_next(&choice);
    } while (is_refused);
    return status;
}

pool_status module_compile(pool_device *device, const struct module_request *wanted,
    const char *subject, pool_module **module)
{
    struct module_request request = *wanted;
    pool_module_params copy;
    pool_status status;

    if (!device || !module)
        return base_fail_null("pool_module_compile", device ? "module" : "device");
    status = module_params_copy("pool_module_compile", wanted->params, &copy);
    if (!status)
        status = driver_usable(device_driver(device));
    if (status)
        return status;
    request.params = &copy;
    request.name = copy.name ? copy.name : "kernel.cu";
    module_request_set_device(&request, device);
    return compile_and_load(&request, subject, module);
}

pool_status pool_module_load(
    pool_device *device, const void *image, size_t size, pool_module **module)
{
    struct source_image source = {.bytes = size, .name = "an image"};
    pool_status status;
    char *text = NULL;
    int is_text;

    status = base_check_pointers(
        "pool_module_load", {"device", device}, {"image", image}, {"module", module});
    if (!status)
        status = base_check_array("pool_module_load", "bytes of an image", size, 1, 1);
    if (!status)
        status = module_image_check(image, size, &is_text);
    if (status)
        return status;
    if (is_text) {
        text = base_calloc(size + 1, 1);
        if (!text)
            return base_fail_memory("the PTX");
        memcpy(text, image, size);
    }
    source.data = text ? text : image;
    status = load_image(device, &source, module);
    base_free(text);
    return status;
}

pool_status module_free(pool_module *module, int driver_alive)
{
    struct driver *driver = device_driver(module->device);
    const uint64_t start = base_clock_ns();
    pool_status status = POOL_OK;
    struct pool_kernel *next;

    if (driver_alive && module->handle)
        status = device_count_wait(module->device, COUNTER_WAIT_UNLOAD, start,
            DRIVER_CALL(driver, ModuleUnload(module->handle)));
    for (struct pool_kernel *kernel = module->kernels; kernel; kernel = next) {
        next = kernel->next;
        base_free(kernel);
    }
    device_deferred_free(module->deferred);
    module_image_release(module->image);
    device_lock_destroy(module->device, &module->lock);
    base_free(module->names);
    base_free(module);
    return status;
}

static void defer_unload(pool_device *device, CUmodule handle, struct device_deferred *deferred)
{
    deferred->handle = handle;
    device_defer(device, deferred);
}

pool_status module_unload(pool_device *device, CUmodule handle, struct device_deferred *deferred)
{
    struct base_error_copy first;
    uint64_t start;
    bool is_idle;

    if (!device_usable(
            device, DEVICE_USE_RELEASE)) { /* the code has ended with its process or context */
        device_deferred_free(deferred);
        return POOL_OK;
    }
    base_error_save(&first);
    device_try_release_deferred(device);
    is_idle = device_is_idle(device) == POOL_OK;
    base_error_restore(&first);
    if (!is_idle && device_usable(device, DEVICE_USE_RELEASE)) {
        defer_unload(device, handle, deferred);
        return POOL_OK;
    }
    device_deferred_free(deferred);
    if (!is_idle)
        return POOL_OK;
    start = base_clock_ns();
    return device_count_wait(device, COUNTER_WAIT_UNLOAD, start,
        DRIVER_CALL(device_driver(device), ModuleUnload(handle)));
}

pool_status pool_module_destroy(pool_module **module)
{
    struct device_scope scope;
    struct base_error_copy first;
    pool_device *device;
    pool_module *gone;
    pool_status status;
    enum device_release release;

    if (!module || !*module)
        return POOL_OK;
    gone = *module;
    *module = NULL;
    device = gone->device;
    module_remove_resident(gone);
    base_error_save(&first);
    release = device_enter_to_destroy_object(device, gone->renewals, &scope, &status);
    if (release == DEVICE_RELEASE_RETAIN) { /* the context cannot be entered: the pool unloads it */
        defer_unload(device, gone->handle, gone->deferred);
        base_error_restore(&first);
        status = POOL_OK;
    } else if (release == DEVICE_RELEASE_ENTERED) {
        status = device_leave(&scope, module_unload(device, gone->handle, gone->deferred));
    }
    if (release != DEVICE_RELEASE_HOST_ONLY)
        gone->deferred = NULL;
    (void)module_free(gone, 0);
    device_dependent_removed(device, DEVICE_DEPENDENT_MODULE);
    return status;
}

pool_device *pool_module_device(const pool_module *module)
{
    return module ? module->device : NULL;
}

pool_status pool_module_handle(pool_module *module, CUmodule *handle)
{
    pool_status status =
        base_check_pointers("pool_module_handle", {"module", module}, {"handle", handle});
    if (!status)
        status = device_check_raw(module->device, __func__);
    if (status)
        return status;
    *handle = module->handle;
    return POOL_OK;
}

const char *pool_module_symbol(const pool_module *module, const char *expression)
{
    return module && expression ? module_names_find(module->names, expression) : NULL;
}

const char *module_symbol_of(const pool_module *module, const char *name)
{
    const char *symbol = module_names_find(module->names, name);

    return symbol ? symbol : name;
}

pool_status pool_module_variable(
    pool_module *module, const char *name, CUdeviceptr *address, uint64_t *bytes)
{
    struct device_scope scope;
    CUdeviceptr found = 0;
    pool_status status;
    size_t size = 0;

    status = base_check_pointers(
        "pool_module_variable", {"module", module}, {"name", name}, {"address", address});
    if (!status)
        status = module_check(module);
    if (!status)
        status = device_enter(module->device, &scope);
    if (status)
        return status;
    status = DRIVER_CALL_FOR(scope.driver,
        ModuleGetGlobal(&found, &size, module->handle, module_symbol_of(module, name)), "\"%s\"",
        name);
    if (status == POOL_ERR_NOT_FOUND)
        base_fail(status, "pool_module_variable: the module has no variable \"%s\"", name);
    status = device_leave(&scope, status);
    if (status)
        return status;
    *address = found;
    if (bytes)
        *bytes = size;
    return POOL_OK;
}
