/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules of the simulated driver: parses PTX into a program and allocates its variables.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "driver/sim/table/fatbin.h"
#include "driver/sim/table/image.h"
#include "driver/sim/table/state.h"

static pool_cu_result load_result(enum sim_load load)
{
    return load == SIM_LOAD_NO_MEMORY ? POOL_CU_OUT_OF_MEMORY : POOL_CU_INVALID_PTX;
}

/* PTX that only the simulated device does not support is reported as such. */
static void report_parse(
    const struct sim_jit *jit, enum sim_load load, const struct sim_load_error *error)
{
    if (load == SIM_LOAD_UNSUPPORTED) {
        sim_jit_error(jit,
            "simulated device, PTX line %u: %s; simulated devices do not execute it, a GPU may\n",
            error->line, error->text);
        return;
    }
    if (error->line)
        sim_jit_error(
            jit, "ptxas application ptx input, line %u; error   : %s\n", error->line, error->text);
    else
        sim_jit_error(jit, "ptxas error   : %s\n", error->text);
    sim_jit_error(jit, "ptxas fatal   : Ptx assembly aborted due to errors\n");
}

/* Checks sizes that ptxas rejects although the source is valid. */
static pool_cu_result check_sizes(const struct sim_program *program, const struct sim_jit *jit)
{
    uint64_t constant = 0;

    for (size_t at = 0; at < sim_program_kernel_count(program); at++) {
        const struct sim_kernel *kernel = sim_program_kernel(program, at);

        if (kernel->shared_bytes > SIM_SHARED_PER_BLOCK) {
            sim_jit_error(jit,
                "ptxas error   : Entry function '%s' uses too much shared data (0x%x bytes, 0x%x "
                "max)\n",
                kernel->name, kernel->shared_bytes, SIM_SHARED_PER_BLOCK);
            return POOL_CU_INVALID_PTX;
        }
    }
    for (size_t at = 0; at < sim_program_variable_count(program); at++) {
        const struct sim_variable *variable = sim_program_variable(program, at);

        constant += variable->is_constant ? variable->size : 0;
    }
    if (constant > SIM_CONSTANT_BYTES) {
        sim_jit_error(jit,
            "ptxas error   : File uses too much global constant data (0x%llx bytes, 0x%x max)\n",
            (unsigned long long)constant, SIM_CONSTANT_BYTES);
        return POOL_CU_INVALID_PTX;
    }
    return POOL_CU_SUCCESS;
}

static pool_cu_result check_device(
    const struct sim_program *program, const char *text, const struct sim_jit *jit)
{
    const uint32_t target = sim_program_target(program);

    if (!sim_image_fits(text, target, jit->capability)) {
        sim_jit_error(jit,
            "ptxas fatal   : PTX for sm_%u does not run on this device of cc %u.%u\n", target,
            jit->capability / 10, jit->capability % 10);
        return POOL_CU_INVALID_PTX;
    }
    return check_sizes(program, jit);
}

/* The version is checked first: source of a newer PTX version need not parse. */
static bool is_too_new(const char *body, const struct sim_jit *jit)
{
    const uint32_t newest = sim_chip_newest_ptx(sim_state.config.driver_version);
    unsigned major = 0, minor = 0;

    if (sscanf(body + strlen(".version"), "%3u.%1u", &major, &minor) != 2 ||
        major * 10 + minor <= newest)
        return false;
    sim_jit_error(jit,
        "ptxas application ptx input, line 1; fatal   : Unsupported .version %u.%u; current "
        "version is '%u.%u'\n",
        major, minor, newest / 10, newest % 10);
    return true;
}

static void log_kernels(const struct sim_program *program, const struct sim_jit *jit)
{
    for (size_t at = 0; at < sim_program_kernel_count(program); at++) {
        const struct sim_kernel *kernel = sim_program_kernel(program, at);

        sim_jit_info(jit,
            "ptxas info    : Function '%s': about %u registers, %u bytes shared, %u bytes local\n",
            kernel->name, kernel->register_count, kernel->shared_bytes, kernel->local_bytes);
    }
}

static pool_cu_result parse_ptx(
    const char *image, const struct sim_jit *jit, struct sim_program **program)
{
    struct sim_load_error error = {0, ""};
    struct sim_program *made = NULL;
    const char *body;
    size_t length;
    pool_cu_result code = sim_image_check(image, &body, &length);

    if (code == POOL_CU_NO_BINARY_FOR_GPU)
        sim_jit_error(jit,
            "simulated device: the image is machine code without PTX, which is what simulated "
            "devices execute; nvcc -lineinfo adds it\n");
    if (code)
        return code;
    if (is_too_new(body, jit))
        return POOL_CU_UNSUPPORTED_PTX_VERSION;
    enum sim_load load = sim_program_parse(image, length, &made, &error);
    if (load) {
        report_parse(jit, load, &error);
        return load_result(load);
    }
    code = check_device(made, image, jit);
    if (code) {
        sim_program_free(&made);
        return code;
    }
    log_kernels(made, jit);
    *program = made;
    return POOL_CU_SUCCESS;
}

static pool_cu_result parse_image(
    const void *image, const struct sim_jit *jit, struct sim_program **program)
{
    char *text = NULL;
    pool_cu_result code;

    if (sim_fatbin_is(image)) {
        code = sim_fatbin_ptx(image, jit->capability, jit, &text);
        if (code)
            return code;
    } else {
        text = sim_image_embedded_ptx(image, UINT64_MAX);
    }
    code = parse_ptx(text ? text : image, jit, program);
    base_free(text);
    return code;
}

/* ---- life ------------------------------------------------------------------------------------ */

void sim_module_free(struct sim_module *module)
{
    struct sim_module **link = &module->context->modules;
    struct sim_allocation *found;

    sim_graphs_forget_module(module);
    while (*link && *link != module)
        link = &(*link)->next;
    if (*link)
        *link = module->next;
    for (size_t at = 0; module->functions && at < sim_program_kernel_count(module->program); at++) {
        if (module->functions[at].handle)
            sim_handle_release(module->functions[at].handle);
    }
    for (size_t at = 0; module->variables && at < sim_program_variable_count(module->program);
         at++) {
        found = module->variables[at] ? sim_memory_starting_at(module->variables[at]) : NULL;
        if (found)
            sim_memory_release(found);
    }
    if (module->handle)
        sim_handle_release(module->handle);
    base_free(module->functions);
    base_free(module->variables);
    sim_program_free(&module->program);
    base_free(module);
}

static void init_functions(struct sim_module *module)
{
    for (size_t at = 0; at < sim_program_kernel_count(module->program); at++) {
        struct sim_function_object *function = &module->functions[at];

        function->module = module;
        function->kernel = sim_program_kernel(module->program, at);
        function->max_dynamic_shared = SIM_SHARED_PER_BLOCK - (int)function->kernel->shared_bytes;
        function->carveout = DRIVER_SHAREDMEM_CARVEOUT_DEFAULT;
    }
}

static pool_cu_result allocate_variables(struct sim_module *module)
{
    for (size_t at = 0; at < sim_program_variable_count(module->program); at++) {
        const struct sim_variable *variable = sim_program_variable(module->program, at);
        const uint64_t bytes = variable->size ? variable->size : 1;
        struct sim_allocation *made;
        pool_cu_result code = sim_memory_allocate(module->context, SIM_MEMORY_VARIABLE, bytes,
            variable->align, (bytes + SIM_ALIGNMENT - 1) / SIM_ALIGNMENT * SIM_ALIGNMENT, &made);

        if (code)
            return code;
        module->variables[variable->index] = made->base;
    }
    sim_program_write_variables(module->program, module->variables);
    return POOL_CU_SUCCESS;
}

/* Takes ownership of the program, also on failure. */
static pool_cu_result create_module(
    struct sim_context *context, struct sim_program *program, struct sim_module **out)
{
    struct sim_module *module = base_calloc(1, sizeof(*module));
    pool_cu_result code = POOL_CU_OUT_OF_MEMORY;

    if (!module) {
        sim_program_free(&program);
        return code;
    }
    module->context = context;
    module->program = program;
    module->functions =
        base_calloc(sim_program_kernel_count(program) + 1, sizeof(struct sim_function_object));
    module->variables = base_calloc(sim_program_variable_count(program) + 1, sizeof(uint64_t));
    module->handle = sim_handle_create(SIM_HANDLE_MODULE, module);
    if (module->functions && module->variables && module->handle)
        code = allocate_variables(module);
    if (code) {
        sim_module_free(module);
        return code;
    }
    init_functions(module);
    module->next = context->modules;
    context->modules = module;
    *out = module;
    return POOL_CU_SUCCESS;
}

/* As on a GPU, loading waits for all work of the context, and no kernel is launched meanwhile. The
 * context of the handle may end during the wait. */
static pool_cu_result wait_to_load(CUcontext handle, struct sim_context **context)
{
    pool_cu_result code = POOL_CU_NOT_INITIALIZED;

    if (sim_state.is_initialised)
        code = sim_context_of(handle, context);
    return code ? code : sim_context_wait_for_work(*context, true);
}

/* Parses without the lock, then verifies that the context still exists. */
static pool_cu_result load_module(struct sim_call *call, CUmodule *module, const void *image,
    unsigned count, const pool_cu_enum *options, void **values)
{
    CUcontext handle = call->context->handle;
    struct sim_program *program = NULL;
    struct sim_context *context;
    struct sim_module *made;
    struct sim_jit jit;
    pool_cu_result code = sim_jit_read(&jit, count, options, values);

    if (!module || !image)
        code = POOL_CU_INVALID_VALUE;
    if (code)
        return sim_leave(code);
    jit.capability = sim_config_of(call->context->device)->capability;
    pthread_mutex_unlock(&sim_state.lock);
    code = parse_image(image, &jit, &program);
    pthread_mutex_lock(&sim_state.lock);
    if (code)
        return sim_leave(code);
    code = wait_to_load(handle, &context);
    if (code) {
        sim_program_free(&program);
        return sim_leave(code);
    }
    code = create_module(context, program, &made);
    if (!code)
        *module = made->handle;
    return sim_leave(code);
}

pool_cu_result sim_cu_ModuleLoadData(CUmodule *module, const void *image)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_ModuleLoadData, SIM_NEED_CONTEXT, -1);

    return code ? code : load_module(&call, module, image, 0, NULL, NULL);
}

pool_cu_result sim_cu_ModuleLoadDataEx(
    CUmodule *module, const void *image, unsigned int count, pool_cu_enum *options, void **values)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_ModuleLoadDataEx, SIM_NEED_CONTEXT, -1);

    return code ? code : load_module(&call, module, image, count, options, values);
}

static pool_cu_result enter_module(struct sim_call *call, enum sim_driver_function function,
    enum sim_need need, CUmodule handle, struct sim_module **module)
{
    pool_cu_result code = sim_enter(call, function, need, -1);

    if (code)
        return code;
    *module = sim_handle_get(SIM_HANDLE_MODULE, handle);
    return *module ? POOL_CU_SUCCESS : sim_leave(POOL_CU_INVALID_HANDLE);
}

pool_cu_result sim_cu_ModuleUnload(CUmodule handle)
{
    struct sim_module *module;
    struct sim_call call;
    pool_cu_result code =
        enter_module(&call, SIM_CU_ModuleUnload, SIM_NEED_CONTEXT_ONLY, handle, &module);

    if (code)
        return code;
    /* Its kernels may still be running; no new ones can start once the handles are released. */
    sim_handle_release(module->handle);
    module->handle = NULL;
    for (size_t at = 0; at < sim_program_kernel_count(module->program); at++) {
        if (module->functions[at].handle)
            sim_handle_release(module->functions[at].handle);
        module->functions[at].handle = NULL;
    }
    struct sim_context *context = module->context;
    code = sim_context_drain(context);
    if (code != POOL_CU_DEINITIALIZED)
        sim_module_free(module);
    return sim_leave(code);
}

pool_cu_result sim_cu_ModuleGetFunction(CUfunction *function, CUmodule handle, const char *name)
{
    const struct sim_kernel *kernel;
    struct sim_module *module;
    struct sim_call call;
    pool_cu_result code =
        enter_module(&call, SIM_CU_ModuleGetFunction, SIM_NEED_CONTEXT, handle, &module);

    if (code)
        return code;
    if (!function || !name || !name[0])
        return sim_leave(POOL_CU_INVALID_VALUE);
    kernel = sim_program_find_kernel(module->program, name);
    if (!kernel)
        return sim_leave(POOL_CU_NOT_FOUND);
    struct sim_function_object *object = &module->functions[kernel->index];
    if (!object->handle)
        object->handle = sim_handle_create(SIM_HANDLE_KERNEL, object);
    if (!object->handle)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    *function = object->handle;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_ModuleGetGlobal(
    CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name)
{
    const struct sim_variable *variable;
    struct sim_module *module;
    struct sim_call call;
    pool_cu_result code =
        enter_module(&call, SIM_CU_ModuleGetGlobal, SIM_NEED_CONTEXT, handle, &module);

    if (code)
        return code;
    if (!name)
        return sim_leave(POOL_CU_INVALID_VALUE);
    variable = sim_program_find_variable(module->program, name);
    if (!variable)
        return sim_leave(sim_program_find_kernel(module->program, name) ? POOL_CU_INVALID_VALUE
                                                                        : POOL_CU_NOT_FOUND);
    if (address)
        *address = module->variables[variable->index];
    if (bytes)
        *bytes = variable->size;
    return sim_leave(POOL_CU_SUCCESS);
}
