/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors of functions whose arguments are no plain values: contexts, addresses, host memory,
 * memory pools, modules. Launches are in execute_launch.c.
 */
#include <string.h>

#include "base/alloc.h"
#include "driver/attributes.h"
#include "worker/server.h"

/* Calls a function that the driver may lack. */
#define CALL_EXTRA(execution, function, ...)                                                       \
    ((execution)->server->api->function ? (execution)->server->api->function(__VA_ARGS__)          \
                                        : POOL_CU_NOT_SUPPORTED)

/* --- contexts --------------------------------------------------------------------------------- */

/* A context argument, number + 1; 0 is NULL. */
static CUcontext read_context(struct execution *execution)
{
    uint64_t number = execution_word(execution);
    CUcontext context;

    if (number > WORKER_CONTEXTS)
        execution->is_malformed = true;
    if (number == 0 || execution->is_malformed)
        return NULL;
    context = atomic_load(&execution->server->contexts[number - 1].object);
    if (!context && !execution->code)
        execution->code = POOL_CU_CONTEXT_IS_DESTROYED;
    return context;
}

/* Number + 1 of the driver's context; 0: none of ours. */
static uint64_t context_number(struct server *server, const void *context)
{
    for (unsigned i = 0; context && i < WORKER_CONTEXTS; i++)
        if (atomic_load(&server->contexts[i].object) == context)
            return i + 1;
    return 0;
}

/* False: the number is that of another context. Number 0 is always that of the primary one. */
static bool set_context(struct server *server, unsigned number, CUcontext object)
{
    struct server_context *context = &server->contexts[number];
    CUcontext former;
    bool is_free;

    pthread_mutex_lock(&server->lock);
    former = atomic_load(&context->object);
    is_free = !former || !number;
    if (is_free && former != object) {
        atomic_store(&context->object, object);
        atomic_fetch_add(&context->epoch, 1);
    }
    pthread_mutex_unlock(&server->lock);
    return is_free;
}

pool_cu_result execute_DevicePrimaryCtxRetain(struct execution *execution)
{
    struct server *server = execution->server;
    uint64_t has_context = execution_word(execution);
    CUcontext context = NULL;
    pool_cu_result code = execution_check(execution);

    if (code)
        return code;
    code = server->api->DevicePrimaryCtxRetain(has_context ? &context : NULL, server->device);
    if (!code)
        (void)set_context(server, 0, context);
    return code;
}

pool_cu_result execute_DevicePrimaryCtxRelease(struct execution *execution)
{
    struct server *server = execution->server;
    unsigned flags;
    int is_active = 1;
    pool_cu_result code = server->api->DevicePrimaryCtxRelease(server->device);

    if (!code && server->api->DevicePrimaryCtxGetState(server->device, &flags, &is_active))
        is_active = 1;
    if (!code && !is_active)
        server_remove_context(server, 0);
    execution_reply(execution, (uint64_t)is_active);
    return code;
}

pool_cu_result execute_CtxCreate(struct execution *execution)
{
    struct server *server = execution->server;
    uint64_t has_context = execution_word(execution), number = execution_word(execution);
    unsigned flags = (unsigned)execution_word(execution);
    CUcontext context = NULL, popped;
    pool_cu_result code;

    if (number == 0 || number >= WORKER_CONTEXTS || atomic_load(&server->contexts[number].object))
        execution->is_malformed = true;
    code = execution_check(execution);
    if (code)
        return code;
    code = server->api->CtxCreate(has_context ? &context : NULL, flags, server->device);
    if (code)
        return code;
    code = server->api->CtxPopCurrent(&popped);
    if (!set_context(server, (unsigned)number, context)) {
        server->api->CtxDestroy(context);
        execution->is_malformed = true;
    }
    return code;
}

pool_cu_result execute_CtxDestroy(struct execution *execution)
{
    struct server *server = execution->server;
    uint64_t number = execution->next < execution->count ? execution->words[execution->next] : 0;
    CUcontext context = read_context(execution);
    pool_cu_result code = execution_check(execution);

    if (code)
        return code;
    code = server->api->CtxDestroy(context);
    if (!code && context)
        server_remove_context(server, (unsigned)number - 1);
    return code;
}

pool_cu_result execute_CtxSynchronize(struct execution *execution)
{
    pool_cu_result code = execution_check(execution);

    if (execution->context)
        execution->stream_failure = &execution->server->contexts[execution->context - 1].failure;
    return code ? code : execution->server->api->CtxSynchronize();
}

pool_cu_result execute_ProfilerStart(struct execution *execution)
{
    return CALL_EXTRA(execution, ProfilerStart);
}

pool_cu_result execute_ProfilerStop(struct execution *execution)
{
    return CALL_EXTRA(execution, ProfilerStop);
}

pool_cu_result execute_CtxGetApiVersion(struct execution *execution)
{
    CUcontext context = read_context(execution);
    uint64_t has_version = execution_word(execution);
    unsigned version = 0;
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = execution->server->api->CtxGetApiVersion(context, has_version ? &version : NULL);
    execution_reply(execution, version);
    return code;
}

pool_cu_result execute_CtxEnablePeerAccess(struct execution *execution)
{
    CUcontext context = read_context(execution);
    unsigned flags = (unsigned)execution_word(execution);
    pool_cu_result code = execution_check(execution);

    return code ? code : execution->server->api->CtxEnablePeerAccess(context, flags);
}

pool_cu_result execute_CtxDisablePeerAccess(struct execution *execution)
{
    CUcontext context = read_context(execution);
    pool_cu_result code = execution_check(execution);

    return code ? code : execution->server->api->CtxDisablePeerAccess(context);
}

pool_cu_result execute_StreamGetCtx(struct execution *execution)
{
    CUstream stream = execution_handle(execution, WORKER_STREAM);
    uint64_t has_context = execution_word(execution);
    CUcontext context = NULL;
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = execution->server->api->StreamGetCtx(stream, has_context ? &context : NULL);
    execution_reply(execution, context_number(execution->server, context));
    return code;
}

/* --- host memory ------------------------------------------------------------------------------ */

pool_cu_result execute_PinArena(struct execution *execution)
{
    uint64_t offset = execution_word(execution), bytes = execution_word(execution);
    unsigned flags = (unsigned)execution_word(execution);
    bool is_stage;
    void *memory = execution_host(execution, offset, bytes, &is_stage);
    pool_cu_result code;

    if (is_stage)
        execution->is_malformed = true;
    code = execution_check(execution);
    return code ? code : execution->server->api->MemHostRegister(memory, (size_t)bytes, flags);
}

pool_cu_result execute_UnpinArena(struct execution *execution)
{
    uint64_t offset = execution_word(execution);
    bool is_stage;
    void *memory = execution_host(execution, offset, 0, &is_stage);
    pool_cu_result code;

    if (is_stage)
        execution->is_malformed = true;
    code = execution_check(execution);
    return code ? code : execution->server->api->MemHostUnregister(memory);
}

pool_cu_result execute_MemHostGetDevicePointer(struct execution *execution)
{
    uint64_t has_address = execution_word(execution), offset = execution_word(execution);
    unsigned flags = (unsigned)execution_word(execution);
    bool is_stage;
    void *memory = execution_host(execution, offset, 0, &is_stage);
    CUdeviceptr address = 0;
    pool_cu_result code;

    if (is_stage)
        execution->is_malformed = true;
    code = execution_check(execution);
    if (!code)
        code = execution->server->api->MemHostGetDevicePointer(
            has_address ? &address : NULL, memory, flags);
    execution_reply(execution, address);
    return code;
}

/* The values of attributes that name something of this process. */
static uint64_t translate_attribute(
    struct execution *execution, pool_cu_enum attribute, uint64_t value)
{
    struct server *server = execution->server;
    uint64_t arena = (uint64_t)(uintptr_t)server->arena;

    switch (attribute) {
    case DRIVER_POINTER_ATTRIBUTE_CONTEXT:
        return context_number(server, (const void *)(uintptr_t)value);
    case DRIVER_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return value
                   ? server_handle_of(server, WORKER_MEMORY_POOL, (const void *)(uintptr_t)value, 0)
                   : 0;
    case DRIVER_POINTER_ATTRIBUTE_HOST_POINTER:
        return value >= arena && value - arena < server->arena_bytes
                   ? value - arena + server->client_arena
                   : value;
    default:
        return value;
    }
}

pool_cu_result execute_PointerGetAttribute(struct execution *execution)
{
    uint64_t has_value = execution_word(execution);
    pool_cu_enum attribute = (pool_cu_enum)execution_word(execution);
    CUdeviceptr address = execution_word(execution);
    uint64_t value[8] = {0};
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = execution->server->api->PointerGetAttribute(
            has_value ? value : NULL, attribute, address);
    execution_reply(execution, code ? 0 : translate_attribute(execution, attribute, value[0]));
    return code;
}

#define ATTRIBUTES 64u

pool_cu_result execute_PointerGetAttributes(struct execution *execution)
{
    CUdeviceptr address = execution_word(execution);
    uint64_t count = execution_word(execution);
    pool_cu_enum attributes[ATTRIBUTES];
    uint64_t stored[ATTRIBUTES][8] = {{0}};
    void *values[ATTRIBUTES];
    pool_cu_result code;

    if (count > ATTRIBUTES)
        execution->is_malformed = true;
    for (uint64_t i = 0; i < count && !execution->is_malformed; i++) {
        uint64_t word = execution_word(execution);

        attributes[i] = (pool_cu_enum)word;
        values[i] = word >> 32 ? NULL : stored[i]; /* the upper half: the caller passed NULL */
    }
    code = execution_check(execution);
    if (code)
        return code;
    code =
        execution->server->api->PointerGetAttributes((unsigned)count, attributes, values, address);
    for (uint64_t i = 0; i < count && !code; i++)
        execution_reply(execution, translate_attribute(execution, attributes[i], stored[i][0]));
    return code;
}

/* --- copies ----------------------------------------------------------------------------------- */

pool_cu_result execute_MemcpyHtoD(struct execution *execution)
{
    CUdeviceptr to = execution_word(execution);
    uint64_t offset = execution_word(execution), bytes = execution_word(execution);
    bool is_stage;
    const void *from = execution_host(execution, offset, bytes, &is_stage);
    pool_cu_result code = execution_check(execution);

    return code ? code : execution->server->api->MemcpyHtoD(to, from, (size_t)bytes);
}

pool_cu_result execute_MemcpyDtoH(struct execution *execution)
{
    CUdeviceptr from = execution_word(execution);
    uint64_t offset = execution_word(execution), bytes = execution_word(execution);
    bool is_stage;
    void *to = execution_host(execution, offset, bytes, &is_stage);
    pool_cu_result code = execution_check(execution);

    return code ? code : execution->server->api->MemcpyDtoH(to, from, (size_t)bytes);
}

/* The driver has copied pageable memory, as the stage is, when the call returns. */
pool_cu_result execute_MemcpyHtoDAsync(struct execution *execution)
{
    CUdeviceptr to = execution_word(execution);
    uint64_t offset = execution_word(execution), bytes = execution_word(execution);
    CUstream stream = execution_handle(execution, WORKER_STREAM);
    bool is_stage;
    const void *from = execution_host(execution, offset, bytes, &is_stage);
    pool_cu_result code = execution_check(execution);

    return code ? code : execution->server->api->MemcpyHtoDAsync(to, from, (size_t)bytes, stream);
}

pool_cu_result execute_MemcpyDtoHAsync(struct execution *execution)
{
    CUdeviceptr from = execution_word(execution);
    uint64_t offset = execution_word(execution), bytes = execution_word(execution);
    CUstream stream = execution_handle(execution, WORKER_STREAM);
    bool is_stage;
    void *to = execution_host(execution, offset, bytes, &is_stage);
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = execution->server->api->MemcpyDtoHAsync(to, from, (size_t)bytes, stream);
    if (!code && is_stage)
        code = execution->server->api->StreamSynchronize(stream);
    return code;
}

pool_cu_result execute_MemcpyPeer(struct execution *execution)
{
    CUdeviceptr to = execution_word(execution);
    CUcontext to_context = read_context(execution);
    CUdeviceptr from = execution_word(execution);
    CUcontext from_context = read_context(execution);
    uint64_t bytes = execution_word(execution);
    pool_cu_result code = execution_check(execution);

    return code ? code
                : execution->server->api->MemcpyPeer(
                      to, to_context, from, from_context, (size_t)bytes);
}

pool_cu_result execute_MemcpyPeerAsync(struct execution *execution)
{
    CUdeviceptr to = execution_word(execution);
    CUcontext to_context = read_context(execution);
    CUdeviceptr from = execution_word(execution);
    CUcontext from_context = read_context(execution);
    uint64_t bytes = execution_word(execution);
    CUstream stream = execution_handle(execution, WORKER_STREAM);
    pool_cu_result code = execution_check(execution);

    return code ? code
                : execution->server->api->MemcpyPeerAsync(
                      to, to_context, from, from_context, (size_t)bytes, stream);
}

/* One side of a copy of rows. Host memory is named by its offset in the arena, in which all rows
 * lie. */
static void read_side(
    struct execution *execution, uint64_t width, uint64_t height, pool_cu_copy_side *side)
{
    uint64_t rows, last, end;
    bool is_stage;

    *side = (pool_cu_copy_side){.x_bytes = (size_t)execution_word(execution)};
    side->y = (size_t)execution_word(execution);
    side->memory_type = (pool_cu_enum)execution_word(execution);
    side->device = execution_word(execution);
    side->pitch = (size_t)execution_word(execution);
    if (side->memory_type != DRIVER_MEMORYTYPE_HOST)
        return;
    if (side->device == WORKER_STAGE || __builtin_add_overflow(side->y, height, &rows) ||
        __builtin_mul_overflow(rows, (uint64_t)side->pitch, &last) ||
        __builtin_add_overflow(last, width, &end) ||
        __builtin_add_overflow(end, (uint64_t)side->x_bytes, &end)) {
        execution->is_malformed = true;
        return;
    }
    end -= side->pitch && rows ? side->pitch : 0; /* the last row may be shorter */
    side->host = execution_host(execution, side->device, end, &is_stage);
    side->device = 0;
}

pool_cu_result execute_Memcpy2DAsync(struct execution *execution)
{
    pool_cu_copy_2d copy = {.width_bytes = (size_t)execution_word(execution)};
    CUstream stream;
    pool_cu_result code;

    copy.height = (size_t)execution_word(execution);
    read_side(execution, copy.width_bytes, copy.height, &copy.from);
    read_side(execution, copy.width_bytes, copy.height, &copy.to);
    stream = execution_handle(execution, WORKER_STREAM);
    code = execution_check(execution);
    return code ? code : CALL_EXTRA(execution, Memcpy2DAsync, &copy, stream);
}

/* --- memory pools ----------------------------------------------------------------------------- */

void execution_location(struct execution *execution, pool_cu_mem_location *location)
{
    uint64_t is_own;

    location->type = (pool_cu_enum)execution_word(execution);
    is_own = execution_word(execution);
    location->id = (int)execution_word(execution);
    if (is_own)
        location->id = execution->server->device;
}

uint64_t execution_accesses(
    struct execution *execution, pool_cu_mem_access *access, bool *has_access)
{
    uint64_t count;

    *has_access = execution_word(execution) != 0;
    count = execution_word(execution);
    if (count > WORKER_MAX_DEVICES)
        execution->is_malformed = true;
    for (uint64_t i = 0; *has_access && i < count && !execution->is_malformed; i++) {
        execution_location(execution, &access[i].location);
        access[i].flags = (pool_cu_enum)execution_word(execution);
    }
    return count;
}

pool_cu_result execute_MemPoolCreate(struct execution *execution)
{
    uint64_t has_pool = execution_word(execution), has_props = execution_word(execution);
    pool_cu_mem_pool_props props = {0};
    CUmemoryPool pool = NULL;
    pool_cu_result code;

    props.allocation_type = (pool_cu_enum)execution_word(execution);
    props.handle_types = (pool_cu_enum)execution_word(execution);
    execution_location(execution, &props.location);
    props.max_size = (size_t)execution_word(execution);
    props.usage = (unsigned short)execution_word(execution);
    code = execution_check(execution);
    if (!code)
        code = CALL_EXTRA(
            execution, MemPoolCreate, has_pool ? &pool : NULL, has_props ? &props : NULL);
    if (code)
        return code;
    code = execution_reply_new(execution, WORKER_MEMORY_POOL, pool);
    if (code)
        execution->server->api->MemPoolDestroy(pool);
    return code;
}

pool_cu_result execute_MemPoolSetAttribute(struct execution *execution)
{
    CUmemoryPool pool = execution_handle(execution, WORKER_MEMORY_POOL);
    pool_cu_enum attribute = (pool_cu_enum)execution_word(execution);
    uint64_t has_value = execution_word(execution), value[8] = {execution_word(execution)};
    pool_cu_result code = execution_check(execution);

    return code ? code
                : CALL_EXTRA(
                      execution, MemPoolSetAttribute, pool, attribute, has_value ? value : NULL);
}

pool_cu_result execute_MemPoolGetAttribute(struct execution *execution)
{
    CUmemoryPool pool = execution_handle(execution, WORKER_MEMORY_POOL);
    pool_cu_enum attribute = (pool_cu_enum)execution_word(execution);
    uint64_t has_value = execution_word(execution), value[8] = {0};
    pool_cu_result code = execution_check(execution);

    if (!code)
        code =
            CALL_EXTRA(execution, MemPoolGetAttribute, pool, attribute, has_value ? value : NULL);
    execution_reply(execution, value[0]);
    return code;
}

pool_cu_result execute_MemPoolSetAccess(struct execution *execution)
{
    CUmemoryPool pool = execution_handle(execution, WORKER_MEMORY_POOL);
    pool_cu_mem_access access[WORKER_MAX_DEVICES] = {{{0, 0}, 0}};
    bool has_access;
    uint64_t count = execution_accesses(execution, access, &has_access);
    pool_cu_result code;

    code = execution_check(execution);
    return code ? code
                : CALL_EXTRA(
                      execution, MemPoolSetAccess, pool, has_access ? access : NULL, (size_t)count);
}

/* --- modules ---------------------------------------------------------------------------------- */

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

pool_cu_result execute_ModuleLoadData(struct execution *execution)
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

pool_cu_result execute_ModuleLoadDataEx(struct execution *execution)
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

/* The sizes of a kernel's parameters, which a launch's message cannot do without; NULL: memory has
 * run out. */
static const struct worker_layout *read_layout(struct server *server, CUfunction function)
{
    const pool_cuda_api *api = server->api;
    uint32_t sizes[WORKER_MAX_PARAMETERS], count = 0;
    size_t offset, bytes;

    if (!api->FuncGetParamInfo)
        return worker_layouts_add(&server->layouts, WORKER_LAYOUT_UNKNOWN, NULL);
    while (count < WORKER_MAX_PARAMETERS &&
           api->FuncGetParamInfo(function, count, &offset, &bytes) == POOL_CU_SUCCESS)
        sizes[count++] = (uint32_t)bytes;
    return worker_layouts_add(&server->layouts, count, sizes);
}

/* Replies with the handle of a kernel and the sizes of its parameters. */
static pool_cu_result reply_kernel(
    struct execution *execution, const struct server_object *module, CUfunction function)
{
    struct server *server = execution->server;
    uint32_t handle = server_handle_of(server, WORKER_KERNEL, function, module->handle);
    struct server_object kernel;

    if (!server_find(server, WORKER_KERNEL, handle, &kernel)) {
        kernel = (struct server_object){.kind = WORKER_KERNEL,
            .object = function,
            .context = module->context,
            .module = module->handle,
            .layout = read_layout(server, function)};
        if (!kernel.layout || !server_add(server, &kernel))
            return POOL_CU_OUT_OF_MEMORY;
    }
    execution_reply(execution, kernel.handle);
    execution_reply(execution, kernel.layout->count);
    for (uint32_t i = 0; kernel.layout->count != WORKER_LAYOUT_UNKNOWN && i < kernel.layout->count;
         i++)
        execution_reply(execution, kernel.layout->sizes[i]);
    return POOL_CU_SUCCESS;
}

pool_cu_result execute_ModuleGetFunction(struct execution *execution)
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

/* --- captures --------------------------------------------------------------------------------- */

/* A failure of a posted call is what the client has to learn: the graph would lack the operation.
 */
pool_cu_result execute_StreamEndCapture(struct execution *execution)
{
    const pool_cuda_api *api = execution->server->api;
    CUstream stream = execution_handle(execution, WORKER_STREAM);
    uint64_t has_graph = execution_word(execution);
    CUgraph graph = NULL;
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = CALL_EXTRA(execution, StreamEndCapture, stream, has_graph ? &graph : NULL);
    if (execution_has_failure(execution)) {
        if (graph)
            api->GraphDestroy(graph);
        return POOL_CU_SUCCESS; /* the failure takes its place */
    }
    if (code)
        return code;
    code = execution_reply_new(execution, WORKER_GRAPH, graph);
    if (code)
        api->GraphDestroy(graph);
    return code;
}
