/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the fake libnvrtcs that work: all programs "compile" to the same image, and a
 * test sets which fail, which wait, and which chips there are. A compilation that needs the
 * builtins library opens it by its soname alone, as the real NVRTC does; that of another version
 * has no symbol of the right name, and the compilation fails with many errors.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/fake/libnvrtc.h"

extern struct fake_nvrtc fake_nvrtc_control;
struct fake_nvrtc fake_nvrtc_control;

static const char image[] = ".version 8.0\n.target sm_75\n.address_size 64\n";

#define TEXT(x) TEXT_OF(x)
#define TEXT_OF(x) #x
#define FAKE_VERSION TEXT(FAKE_MAJOR) "." TEXT(FAKE_MINOR)

struct _nvrtcProgram {
    char name[128];
    char log[1024];
    nvrtc_flow_callback callback;
    void *user;
};

#define DECLARE(field, symbol, need, returned, parameters)                                         \
    returned fake_##field parameters __asm__(symbol);
NVRTC_FUNCTIONS(DECLARE)

nvrtc_result fake_GetNumSupportedArchs(int *count)
{
    *count = 2;
    return DRIVER_NVRTC_SUCCESS;
}

nvrtc_result fake_GetSupportedArchs(int *archs)
{
    archs[0] = fake_nvrtc_control.oldest_arch ? fake_nvrtc_control.oldest_arch : 75;
    archs[1] = archs[0] > 90 ? archs[0] + 1 : 90;
    return DRIVER_NVRTC_SUCCESS;
}

nvrtc_result fake_CreateProgram(nvrtc_program *program, const char *source, const char *name,
    int header_count, const char *const *headers, const char *const *header_names)
{
    (void)source;
    (void)header_count;
    (void)headers;
    (void)header_names;
    if (fake_nvrtc_control.create)
        return fake_nvrtc_control.create;
    *program = calloc(1, sizeof(**program));
    if (!*program)
        return DRIVER_NVRTC_ERROR_OUT_OF_MEMORY;
    snprintf((*program)->name, sizeof((*program)->name), "%s", name);
    snprintf((*program)->log, sizeof((*program)->log), "%s",
        fake_nvrtc_control.log ? fake_nvrtc_control.log : "");
    atomic_fetch_add(&fake_nvrtc_control.created, 1);
    return DRIVER_NVRTC_SUCCESS;
}

nvrtc_result fake_DestroyProgram(nvrtc_program *program)
{
    free(*program);
    *program = NULL;
    atomic_fetch_add(&fake_nvrtc_control.destroyed, 1);
    return DRIVER_NVRTC_SUCCESS;
}

nvrtc_result fake_SetFlowCallback(nvrtc_program program, nvrtc_flow_callback callback, void *user)
{
    program->callback = callback;
    program->user = user;
    return DRIVER_NVRTC_SUCCESS;
}

static int is_cancelled(void *of)
{
    nvrtc_program program = of;

    return program->callback ? program->callback(program->user, NULL) : 0;
}

static int is_trial(nvrtc_program program)
{
    return strcmp(program->name, "devicepool_trial.cu") == 0;
}

static nvrtc_result open_builtins(nvrtc_program program)
{
    void *library = dlopen("libnvrtc-builtins.so." FAKE_VERSION, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "fake_builtins_" FAKE_VERSION) : NULL;

    if (!library)
        return DRIVER_NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
    dlclose(library);
    if (symbol)
        return DRIVER_NVRTC_SUCCESS;
    for (int i = 1; i <= 20; i++)
        snprintf(program->log + strlen(program->log), sizeof(program->log) - strlen(program->log),
            "builtins.h(%d): error: foreign builtins\n", i);
    return DRIVER_NVRTC_ERROR_COMPILATION;
}

nvrtc_result fake_CompileProgram(
    nvrtc_program program, int option_count, const char *const *options)
{
    struct fake_nvrtc *control = &fake_nvrtc_control;
    nvrtc_result result = control->needs_builtins ? open_builtins(program) : DRIVER_NVRTC_SUCCESS;
    unsigned number, running, most;

    (void)option_count;
    (void)options;
    if (is_trial(program)) {
        atomic_fetch_add(&control->trials, 1);
        return result ? result : control->trial;
    }
    number = atomic_fetch_add(&control->compiled, 1) + 1;
    if (result)
        return result;
    running = atomic_fetch_add(&control->running, 1) + 1;
    most = atomic_load(&control->most_running);
    while (running > most && !atomic_compare_exchange_weak(&control->most_running, &most, running))
        ;
    if (control->compile)
        result = control->compile(number, program->name, is_cancelled, program);
    atomic_fetch_sub(&control->running, 1);
    return result;
}

nvrtc_result fake_GetPTXSize(nvrtc_program program, size_t *size)
{
    (void)program;
    *size = sizeof(image);
    return DRIVER_NVRTC_SUCCESS;
}

nvrtc_result fake_GetPTX(nvrtc_program program, char *text)
{
    (void)program;
    memcpy(text, image, sizeof(image));
    atomic_fetch_add(&fake_nvrtc_control.images, 1);
    return DRIVER_NVRTC_SUCCESS;
}

nvrtc_result fake_GetCUBINSize(nvrtc_program program, size_t *size)
{
    return fake_GetPTXSize(program, size);
}

nvrtc_result fake_GetCUBIN(nvrtc_program program, char *bytes)
{
    return fake_GetPTX(program, bytes);
}

nvrtc_result fake_GetProgramLogSize(nvrtc_program program, size_t *size)
{
    *size = strlen(program->log) + 1;
    return DRIVER_NVRTC_SUCCESS;
}

nvrtc_result fake_GetProgramLog(nvrtc_program program, char *log)
{
    memcpy(log, program->log, strlen(program->log) + 1);
    return DRIVER_NVRTC_SUCCESS;
}
