/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors of modules and their kernels.
 */
#include <string.h>

#include "base/alloc.h"
#include "driver/attributes.h"
#include "driver/worker/server/server.h"

/* An image that nobody else can change, ended by a zero; NULL: none, or no memory. */
static char *copy_image(struct execution *execution, bool *is_given)
{
    uint64_t offset, bytes;
    bool is_stage;
    const void *image;
    char *copy;

    *is_given = execution_word(execution) != 0;
    offset = execution_word(execution);
    bytes = execution_word(execution);
    image = *is_given ? execution_host(execution, offset, bytes, &is_stage) : NULL;
    if (execution->is_malformed || !*is_given)
        return NULL;
    copy = base_calloc((size_t)bytes + 1, 1);
    if (copy)
        memcpy(copy, image, (size_t)bytes);
    else
        execution->code = POOL_CU_OUT_OF_MEMORY;
    return copy;
}

static pool_cu_result add_module(struct execution *execution, pool_cu_result code, CUmodule module)
{
    if (code)
        return code;
    code = execution_reply_new(execution, WORKER_MODULE, module);
    if (code)
        execution->server->api->ModuleUnload(module);
    return code;
}

pool_cu_result server_ModuleLoadData(struct execution *execution)
{
    uint64_t has_module = execution_word(execution);
    bool is_given;
    char *image = copy_image(execution, &is_given);
    CUmodule module = NULL;
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = execution->server->api->ModuleLoadData(has_module ? &module : NULL, image);
    code = add_module(execution, code, module);
    base_free(image);
    return code;
}

#define JIT_OPTIONS 40u

/* The options of a load, and the buffers of its two logs, which are halves of the stage. */
struct jit {
    pool_cu_enum options[JIT_OPTIONS];
    void *values[JIT_OPTIONS];
    uint64_t count;
    void **used[2]; /* where the driver reports the bytes of the information and the error log */
};

static void read_jit(struct execution *execution, struct jit *jit)
{
    char *logs = (char *)execution->thread->stage;
    const uint64_t half = WORKER_STAGE_BYTES / 2;

    *jit = (struct jit){.count = execution_word(execution)};
    if (jit->count > JIT_OPTIONS)
        execution->is_malformed = true;
    for (uint64_t i = 0; i < jit->count && !execution->is_malformed; i++) {
        uint64_t option = execution_word(execution), value = execution_word(execution);

        jit->options[i] = (pool_cu_enum)option;
        jit->values[i] = (void *)(uintptr_t)value;
        switch (option) {
        case DRIVER_JIT_INFO_LOG_BUFFER:
        case DRIVER_JIT_ERROR_LOG_BUFFER:
            jit->values[i] =
                value ? logs + (option == DRIVER_JIT_ERROR_LOG_BUFFER ? half : 0) : NULL;
            break;
        case DRIVER_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        case DRIVER_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->values[i] = (void *)(uintptr_t)(value < half ? value : half);
            jit->used[option == DRIVER_JIT_ERROR_LOG_BUFFER_SIZE_BYTES] = &jit->values[i];
            break;
        default:
            break;
        }
    }
}

pool_cu_result server_ModuleLoadDataEx(struct execution *execution)
{
    uint64_t has_module = execution_word(execution);
    bool is_given;
    char *image = copy_image(execution, &is_given);
    struct jit jit;
    CUmodule module = NULL;
    pool_cu_result code;

    read_jit(execution, &jit);
    code = execution_check(execution);
    if (!code) {
        code = execution->server->api->ModuleLoadDataEx(has_module ? &module : NULL, image,
            (unsigned)jit.count, jit.count ? jit.options : NULL, jit.count ? jit.values : NULL);
        for (int i = 0; i < 2; i++)
            execution_reply(execution, jit.used[i] ? (uint64_t)(uintptr_t)*jit.used[i] : 0);
        code = add_module(execution, code, module);
    }
    base_free(image);
    return code;
}

/* Sets *layout to the sizes of a kernel's parameters, which a launch's message cannot do without.
 * Only POOL_CU_INVALID_VALUE says that there are no more of them: taken for the end, any other
 * error would have the kernel launched with some of its arguments missing. */
static pool_cu_result read_layout(
    struct server *server, CUfunction function, const struct worker_layout **layout)
{
    const pool_cuda_api *api = server->api;
    uint32_t sizes[WORKER_MAX_PARAMETERS], count = 0;
    pool_cu_result code = api->FuncGetParamInfo ? POOL_CU_SUCCESS : POOL_CU_NOT_SUPPORTED;
    size_t offset, bytes;

    while (!code && count < WORKER_MAX_PARAMETERS) {
        code = api->FuncGetParamInfo(function, count, &offset, &bytes);
        if (!code)
            sizes[count++] = (uint32_t)bytes;
    }
    if (code == POOL_CU_NOT_SUPPORTED)
        count = WORKER_LAYOUT_UNKNOWN;
    else if (code && code != POOL_CU_INVALID_VALUE)
        return code;
    *layout = worker_layouts_add(&server->layouts, count, sizes);
    return *layout ? POOL_CU_SUCCESS : POOL_CU_OUT_OF_MEMORY;
}

/* Replies with the handle of a kernel and the sizes of its parameters. */
static pool_cu_result reply_kernel(
    struct execution *execution, const struct server_object *module, CUfunction function)
{
    struct server *server = execution->server;
    uint32_t handle = server_handle_of(server, WORKER_KERNEL, function, module->handle);
    struct server_object kernel;
    const struct worker_layout *layout;
    pool_cu_result code;

    if (!server_find(server, WORKER_KERNEL, handle, &kernel)) {
        code = read_layout(server, function, &layout);
        if (code)
            return code;
        kernel = (struct server_object){.kind = WORKER_KERNEL,
            .object = function,
            .context = module->context,
            .module = module->handle,
            .layout = layout};
        if (!server_add(server, &kernel))
            return POOL_CU_OUT_OF_MEMORY;
    }
    execution_reply(execution, kernel.handle);
    execution_reply(execution, kernel.layout->count);
    for (uint32_t i = 0; kernel.layout->count != WORKER_LAYOUT_UNKNOWN && i < kernel.layout->count;
         i++)
        execution_reply(execution, kernel.layout->sizes[i]);
    return POOL_CU_SUCCESS;
}

pool_cu_result server_ModuleGetFunction(struct execution *execution)
{
    uint64_t has_function = execution_word(execution);
    CUmodule module = execution_handle(execution, WORKER_MODULE);
    const struct server_object *object = &execution->object;
    const char *name = execution_text(execution);
    CUfunction function = NULL;
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = execution->server->api->ModuleGetFunction(
            has_function ? &function : NULL, module, name);
    if (!code && !object->handle)
        code = POOL_CU_INVALID_HANDLE;
    return code ? code : reply_kernel(execution, object, function);
}
