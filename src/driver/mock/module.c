/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: loading images, the kernels and variables that a test registers, the kernels declared
 * in PTX.
 */
#include "driver/mock/mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JIT_ERROR_LOG = 5, JIT_ERROR_LOG_SIZE = 6 };

void mock_kernel_free(struct mock_kernel *kernel)
{
    if (!kernel)
        return;
    free(kernel->name);
    free(kernel);
}

/* ---- registered kernels and variables -------------------------------------------------------- */

static struct mock_kernel *find_kernel(
    struct mock_kernel *const *kernels, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(kernels[i]->name, name) == 0)
            return kernels[i];
    return NULL;
}

static struct mock_kernel *new_kernel(const char *name, size_t length)
{
    struct mock_kernel *kernel = calloc(1, sizeof(*kernel));

    if (!kernel)
        return NULL;
    kernel->name = strndup(name, length);
    kernel->registers = 32;
    kernel->max_threads = 1024;
    if (!kernel->name) {
        free(kernel);
        return NULL;
    }
    return kernel;
}

static bool append_kernel(struct mock_kernel ***list, size_t *count, struct mock_kernel *kernel)
{
    struct mock_kernel **larger = realloc(*list, (*count + 1) * sizeof(*larger));

    if (!larger)
        return false;
    *list = larger;
    larger[(*count)++] = kernel;
    return true;
}

pool_status pool_mock_add_kernel(pool_mock *mock, const pool_mock_kernel *from)
{
    pool_mock_kernel params = {0};

    if (!mock || !from || !mock_struct_read(from, &params, sizeof(params)))
        return POOL_ERR_INVALID_ARGUMENT;
    if (!params.name || params.argument_count > MOCK_ARGUMENTS ||
        (params.argument_count > 0 && !params.argument_bytes))
        return POOL_ERR_INVALID_ARGUMENT;
    struct mock_kernel *kernel = new_kernel(params.name, strlen(params.name));
    if (!kernel)
        return POOL_ERR_OUT_OF_HOST_MEMORY;
    kernel->argument_count = params.argument_count;
    if (params.argument_count > 0)
        memcpy(kernel->argument_bytes, params.argument_bytes,
            params.argument_count * sizeof(*params.argument_bytes));
    kernel->registers = params.registers ? params.registers : 32;
    kernel->shared_bytes = params.shared_bytes;
    kernel->local_bytes = params.local_bytes;
    kernel->max_threads = params.max_threads ? params.max_threads : 1024;
    kernel->effect = params.effect;
    kernel->user = params.user;
    pthread_mutex_lock(&mock->lock);
    pool_status status = POOL_OK;
    if (find_kernel(mock->kernels, mock->kernel_count, params.name))
        status = mock_misuse(mock, POOL_ERR_INVALID_ARGUMENT,
            "pool_mock_add_kernel: %s is there already", params.name);
    else if (!append_kernel(&mock->kernels, &mock->kernel_count, kernel))
        status = POOL_ERR_OUT_OF_HOST_MEMORY;
    if (status)
        mock_kernel_free(kernel);
    pthread_mutex_unlock(&mock->lock);
    return status;
}

pool_status pool_mock_add_global(pool_mock *mock, const char *name, size_t bytes)
{
    if (!mock || !name || bytes == 0)
        return POOL_ERR_INVALID_ARGUMENT;
    pthread_mutex_lock(&mock->lock);
    struct mock_global *larger = realloc(mock->globals, (mock->global_count + 1) * sizeof(*larger));
    char *copy = strdup(name);
    pool_status status = larger && copy ? POOL_OK : POOL_ERR_OUT_OF_HOST_MEMORY;
    if (larger)
        mock->globals = larger;
    if (status == POOL_OK)
        mock->globals[mock->global_count++] = (struct mock_global){copy, bytes};
    else
        free(copy);
    pthread_mutex_unlock(&mock->lock);
    return status;
}

pool_status pool_mock_reject_images(pool_mock *mock, pool_cu_code code, const char *log)
{
    if (!mock)
        return POOL_ERR_INVALID_ARGUMENT;
    pthread_mutex_lock(&mock->lock);
    free(mock->image_log);
    mock->image_log = log ? strdup(log) : NULL;
    mock->image_code = (pool_cu_result)code;
    pthread_mutex_unlock(&mock->lock);
    return POOL_OK;
}

/* ---- declarations in PTX --------------------------------------------------------------------- */

/* Size in bytes of one ".param" declaration, which ends at a comma or a parenthesis; 0: not
 * recognised. */
static uint32_t parameter_bytes(const char *text)
{
    static const char digits[] = "0123456789";
    const char *end = text + strcspn(text, ",)");
    unsigned bits = 0;
    uint32_t count = 1;

    for (const char *at = text; at < end; at++) {
        if (*at == '.' && strchr("usbf", at[1]) && strchr(digits, at[2]))
            bits = (unsigned)strtoul(at + 2, NULL, 10);
        if (*at == '[')
            count = (uint32_t)strtoul(at + 1, NULL, 10);
    }
    return bits / 8 * count;
}

static void read_parameters(struct mock_kernel *kernel, const char *open)
{
    const char *close = strchr(open, ')');

    for (const char *at = strstr(open, ".param"); at && close && at < close;
         at = strstr(at + 6, ".param")) {
        uint32_t bytes = parameter_bytes(at + 6);

        if (bytes == 0 || kernel->argument_count == MOCK_ARGUMENTS)
            return;
        kernel->argument_bytes[kernel->argument_count++] = bytes;
    }
}

static bool read_entries(struct mock_module *module, const char *text)
{
    for (const char *at = strstr(text, ".entry"); at; at = strstr(at, ".entry")) {
        at += strlen(".entry");
        at += strspn(at, " \t\r\n");
        size_t length = strcspn(at, " \t\r\n({;");
        if (length == 0 || strspn(at, "\"'`.") > 0)
            continue;
        struct mock_kernel *kernel = new_kernel(at, length);
        if (!kernel || !append_kernel(&module->kernels, &module->kernel_count, kernel)) {
            mock_kernel_free(kernel);
            return false;
        }
        const char *next = at + length + strspn(at + length, " \t\r\n");
        if (*next == '(')
            read_parameters(kernel, next);
    }
    return true;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Whether PTX is for the device's chip or an older one, or for exactly it ("sm_90a"). */
static bool fits_device(const struct mock_call *call, const char *text)
{
    const int *attributes = call->mock->devices[call->device].attributes;
    long chip = 10L * attributes[POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] +
                attributes[POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR];
    const char *directive = strstr(text, ".target");
    const char *name = directive ? strstr(directive, "sm_") : NULL;
    char *end = NULL;
    long target = name ? strtol(name + strlen("sm_"), &end, 10) : 0;

    return target <= chip && !(end && *end == 'a' && target != chip);
}

static void write_jit_log(
    const pool_mock *mock, unsigned count, const pool_cu_enum *options, void **values)
{
    char *buffer = NULL;
    size_t size = 0;

    for (unsigned i = 0; i < count; i++) {
        if (options[i] == JIT_ERROR_LOG)
            buffer = values[i];
        if (options[i] == JIT_ERROR_LOG_SIZE)
            size = (size_t)(uintptr_t)values[i] & 0xffffffffu;
    }
    if (buffer && size > 0)
        snprintf(buffer, size, "%s", mock->image_log ? mock->image_log : "");
}

static pool_cu_result load_module(struct mock_call *call, CUmodule *module, const void *image,
    unsigned count, const pool_cu_enum *options, void **values)
{
    pool_mock *mock = call->mock;
    struct mock_module *made;

    if (!image || (count > 0 && (!options || !values)))
        return POOL_CU_INVALID_VALUE;
    if (mock->image_code) {
        write_jit_log(mock, count, options, values);
        return mock->image_code;
    }
    if (*(const char *)image == '\0')
        return POOL_CU_INVALID_IMAGE;
    /* A cubin is binary data and cannot be searched as a string. */
    bool is_text = memcmp(image, "\177", 1) != 0 && *(const unsigned char *)image < 0x80;
    if (is_text && !fits_device(call, image))
        return POOL_CU_INVALID_PTX;
    made = mock_object_new(mock, sizeof(*made), MOCK_MODULE, call->device, call->context);
    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    if (is_text && !read_entries(made, image)) {
        mock_object_release(mock, &made->object);
        return POOL_CU_OUT_OF_MEMORY;
    }
    *module = mock_object_handle(mock, &made->object);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_ModuleLoadData(struct mock_call *call, CUmodule *module, const void *image)
{
    return load_module(call, module, image, 0, NULL, NULL);
}

pool_cu_result mock_do_ModuleLoadDataEx(struct mock_call *call, CUmodule *module, const void *image,
    unsigned int count, pool_cu_enum *options, void **values)
{
    return load_module(call, module, image, count, options, values);
}

/* Functions and variables are destroyed with their module. */
static void end_module(pool_mock *mock, struct mock_module *module)
{
    for (size_t i = 0; i < mock->object_count; i++) {
        struct mock_object *object = mock->objects[i];

        if (object && object->kind == MOCK_KERNEL &&
            ((struct mock_function *)object)->module == module)
            mock_object_release(mock, object);
    }
    for (size_t i = mock->memory_count; i-- > 0;)
        if (mock->memory[i]->module == &module->object)
            mock_memory_release(mock, mock->memory[i]);
    mock_object_release(mock, &module->object);
}

pool_cu_result mock_do_ModuleUnload(struct mock_call *call, struct mock_module *module)
{
    if (module->object.context != call->context)
        return POOL_CU_INVALID_CONTEXT;
    end_module(call->mock, module);
    return POOL_CU_SUCCESS;
}

/* ---- functions ------------------------------------------------------------------------------- */

static struct mock_function *find_function(
    pool_mock *mock, struct mock_module *module, struct mock_kernel *kernel)
{
    struct mock_function *made;

    for (size_t i = 0; i < mock->object_count; i++) {
        struct mock_function *known = (struct mock_function *)mock->objects[i];

        if (known && known->object.kind == MOCK_KERNEL && known->module == module &&
            known->kernel == kernel)
            return known;
    }
    made = mock_object_new(
        mock, sizeof(*made), MOCK_KERNEL, module->object.device, module->object.context);
    if (!made)
        return NULL;
    made->module = module;
    made->kernel = kernel;
    made->max_dynamic_shared = mock->devices[module->object.device]
                                   .attributes[POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] -
                               (int)kernel->shared_bytes;
    made->carveout = -1;
    return made;
}

pool_cu_result mock_do_ModuleGetFunction(
    struct mock_call *call, CUfunction *function, struct mock_module *module, const char *name)
{
    if (!*name)
        return POOL_CU_INVALID_VALUE;
    struct mock_kernel *kernel = find_kernel(call->mock->kernels, call->mock->kernel_count, name);
    if (!kernel)
        kernel = find_kernel(module->kernels, module->kernel_count, name);
    if (!kernel)
        return POOL_CU_NOT_FOUND;
    struct mock_function *found = find_function(call->mock, module, kernel);
    if (!found)
        return POOL_CU_OUT_OF_MEMORY;
    *function = mock_object_handle(call->mock, &found->object);
    return POOL_CU_SUCCESS;
}

static struct mock_memory *find_global(
    struct mock_call *call, struct mock_module *module, size_t index)
{
    pool_mock *mock = call->mock;
    size_t bytes = mock->globals[index].bytes;
    struct mock_memory *memory;

    for (size_t i = 0; i < mock->memory_count; i++)
        if (mock->memory[i]->module == &module->object && mock->memory[i]->flags == index)
            return mock->memory[i];
    memory = mock_memory_new(mock, MOCK_GLOBAL_MEMORY, bytes, NULL);
    if (!memory)
        return NULL;
    memory->device = module->object.device;
    memory->context = module->object.context;
    memory->module = &module->object;
    memory->flags = (unsigned)index;
    memset((void *)(uintptr_t)memory->base, 0, bytes);
    mock->devices[memory->device].used += bytes;
    return memory;
}

pool_cu_result mock_do_ModuleGetGlobal(struct mock_call *call, CUdeviceptr *address, size_t *bytes,
    struct mock_module *module, const char *name)
{
    size_t index = 0;

    if ((!address && !bytes))
        return POOL_CU_INVALID_VALUE;
    while (index < call->mock->global_count && strcmp(call->mock->globals[index].name, name) != 0)
        index++;
    if (index == call->mock->global_count)
        return POOL_CU_NOT_FOUND;
    const struct mock_memory *memory = find_global(call, module, index);
    if (!memory)
        return POOL_CU_OUT_OF_MEMORY;
    if (address)
        *address = memory->base;
    if (bytes)
        *bytes = memory->bytes;
    return POOL_CU_SUCCESS;
}
