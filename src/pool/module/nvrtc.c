/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compilation of a request by NVRTC, to machine code of exactly the device's chip, or to PTX if the
 * driver accepts nothing else or NVRTC does not know the chip.
 */
#include "pool/module/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "driver/nvrtc.h"
#include "driver/trace.h"
#include "pool/module/compile_log.h"
#include "pool/module/counters.h"
#include "pool/module/names.h"
#include "pool/module/options.h"

/* The compiler, and a buffer for the reason why it cannot be used. */
struct compiler {
    const struct nvrtc *nvrtc;
    char *reason;
    size_t size;
    bool is_trial;
};

/* A failure of the compiler itself is only written to `reason`, because another compiler may work
 * or prebuilt PTX exist. */
static pool_status check(const struct compiler *compiler, nvrtc_result result, const char *call)
{
    bool is_broken = compiler->is_trial ? result && result != DRIVER_NVRTC_ERROR_OUT_OF_MEMORY
                                        : driver_nvrtc_is_broken(result);

    if (!is_broken)
        return driver_nvrtc_check(compiler->nvrtc, result, call);
    driver_nvrtc_describe(compiler->nvrtc, result, call, compiler->reason, compiler->size);
    return POOL_ERR_NO_COMPILER;
}

/* The chips for which this NVRTC compiles, in ascending order. The caller frees *archs. */
static pool_status supported_archs(const struct compiler *compiler, int **archs, int *count)
{
    const struct nvrtc *nvrtc = compiler->nvrtc;
    pool_status status =
        check(compiler, nvrtc->api.GetNumSupportedArchs(count), "nvrtcGetNumSupportedArchs");

    if (status)
        return status;
    *archs = base_calloc((size_t)*count, sizeof(**archs));
    if (!*archs)
        return base_fail_memory("the list of chips");
    status = check(compiler, nvrtc->api.GetSupportedArchs(*archs), "nvrtcGetSupportedArchs");
    if (status)
        base_free(*archs);
    return status;
}

/* The caller's choice; machine code of the chip or, if NVRTC does not know it, PTX for the newest
 * older one, which the driver compiles. */
static pool_status choose_target(const struct compiler *compiler,
    const struct module_request *request, struct module_target *target)
{
    const struct nvrtc *nvrtc = compiler->nvrtc;
    int oldest = 0;
    int best = 0;
    pool_status status;
    int *archs;
    int count;

    if (module_options_target(request->params, target)) {
        if (request->ptx_only)
            target->form = MODULE_PTX;
        return POOL_OK;
    }
    status = supported_archs(compiler, &archs, &count);
    if (status)
        return status;
    for (int i = 0; i < count; i++) {
        if (!oldest || archs[i] < oldest)
            oldest = archs[i];
        if ((!request->compute_capability || archs[i] <= request->compute_capability) &&
            archs[i] > best)
            best = archs[i];
    }
    base_free(archs);
    if (!best) {
        snprintf(compiler->reason, compiler->size,
            "NVRTC %d.%d of %s does not compile for sm_%d any more, its oldest chip is sm_%d; "
            "install an older NVRTC beside it, or set DEVICEPOOL_NVRTC to it",
            nvrtc->version / 1000, nvrtc->version % 1000 / 10, nvrtc->path,
            request->compute_capability, oldest);
        return POOL_ERR_NO_COMPILER;
    }
    snprintf(target->chip, sizeof(target->chip), "%d", best);
    target->form =
        best == request->compute_capability && !request->ptx_only ? MODULE_CUBIN : MODULE_PTX;
    if (best != request->compute_capability && !request->ptx_only && !request->is_trial)
        base_log(POOL_LOG_INFO,
            "NVRTC %d.%d does not know sm_%d yet: %s is compiled to PTX for compute_%d and "
            "translated by the driver",
            nvrtc->version / 1000, nvrtc->version % 1000 / 10, request->compute_capability,
            request->name, best);
    return POOL_OK;
}

static pool_status create_program(
    const struct compiler *compiler, const struct module_request *request, nvrtc_program *program)
{
    const struct nvrtc *nvrtc = compiler->nvrtc;
    const pool_module_params *params = request->params;
    const char **texts = base_calloc(2 * params->header_count, sizeof(*texts));
    const char **names = texts ? texts + params->header_count : NULL;
    pool_status status;

    if (!texts)
        return base_fail_memory("the headers of a source");
    for (size_t i = 0; i < params->header_count; i++) {
        texts[i] = params->headers[i].text;
        names[i] = params->headers[i].name;
    }
    status = check(compiler,
        nvrtc->api.CreateProgram(
            program, params->source, request->name, (int)params->header_count, texts, names),
        "nvrtcCreateProgram");
    base_free(texts);
    return status;
}

/* The compiler's log, or "". The caller frees it unless it is NULL. */
static char *program_log(const struct nvrtc *nvrtc, nvrtc_program program)
{
    size_t size = 0;
    char *log;

    if (nvrtc->api.GetProgramLogSize(program, &size) || !size)
        return NULL;
    log = base_calloc(size + 1, 1);
    if (log && nvrtc->api.GetProgramLog(program, log))
        log[0] = '\0';
    return log;
}

/* Only the first line of the log: with foreign builtins every header has errors. */
static void trial_failed(const struct compiler *compiler, const char *log, nvrtc_result result)
{
    const struct nvrtc *nvrtc = compiler->nvrtc;
    const char *line = log ? log + strspn(log, "\n") : "";

    snprintf(compiler->reason, compiler->size,
        "NVRTC %d.%d of %s does not compile a trivial kernel: %s (%u): %.*s; its builtins library "
        "%s may be of another version; " DRIVER_NVRTC_REMEDY,
        nvrtc->version / 1000, nvrtc->version % 1000 / 10, nvrtc->path,
        driver_nvrtc_result_name(result), result, (int)strcspn(line, "\n"), line,
        nvrtc->builtins[0] ? nvrtc->builtins : "(none)");
}

static pool_status compile_failed(const struct compiler *compiler,
    const struct module_request *request, nvrtc_program program, nvrtc_result result)
{
    char *listing;
    char *log;
    pool_status status;

    if (pool_cancel_requested(request->params->cancel))
        return base_fail(
            POOL_ERR_CANCELLED, "compiling %s was cancelled by the caller", request->name);
    if (result != DRIVER_NVRTC_ERROR_COMPILATION && result != DRIVER_NVRTC_ERROR_INVALID_OPTION)
        return check(compiler, result, "nvrtcCompileProgram");
    log = program_log(compiler->nvrtc, program);
    if (request->is_trial) {
        trial_failed(compiler, log, result);
        base_free(log);
        return POOL_ERR_NO_COMPILER;
    }
    listing = log ? module_listing(log, request->params, request->name) : NULL;
    status = base_fail(POOL_ERR_COMPILE, "%s does not compile:\n%.2400s%s%.1400s", request->name,
        log && log[0] ? log : "(the compiler's log is empty)\n",
        log && strlen(log) > 2400 ? "…\n" : "", listing ? listing : "");
    base_free(listing);
    base_free(log);
    return status;
}

static pool_status fetch_image(const struct compiler *compiler, nvrtc_program program,
    const struct module_target *target, struct module_image **image)
{
    const struct nvrtc *nvrtc = compiler->nvrtc;
    int cubin = target->form == MODULE_CUBIN;
    struct module_image *made;
    pool_status status;
    size_t size = 0;

    status = check(compiler,
        cubin ? nvrtc->api.GetCUBINSize(program, &size) : nvrtc->api.GetPTXSize(program, &size),
        cubin ? "nvrtcGetCUBINSize" : "nvrtcGetPTXSize");
    if (status)
        return status;
    made = module_image_new(target->form, size);
    if (!made)
        return base_fail_memory("a compiled module");
    status = check(compiler,
        cubin ? nvrtc->api.GetCUBIN(program, made->bytes) : nvrtc->api.GetPTX(program, made->bytes),
        cubin ? "nvrtcGetCUBIN" : "nvrtcGetPTX");
    if (status) {
        module_image_release(made);
        return status;
    }
    if (!cubin && size && made->bytes[size - 1] == '\0')
        made->size = size - 1;
    *image = made;
    return POOL_OK;
}

static int is_cancelled(void *user, void *reserved)
{
    (void)reserved;
    return pool_cancel_requested(user);
}

static pool_status compile_program(const struct compiler *compiler,
    const struct module_request *request, const struct module_target *target, nvrtc_program program)
{
    const struct nvrtc *nvrtc = compiler->nvrtc;
    const char **options;
    nvrtc_result result;
    int count;

    for (size_t i = 0; i < request->params->name_count; i++) {
        pool_status status =
            check(compiler, nvrtc->api.AddNameExpression(program, request->params->names[i]),
                "nvrtcAddNameExpression");

        if (status)
            return status;
    }
    options = module_options_new(nvrtc, request, target, &count);
    if (!options)
        return base_fail_memory("the compile options");
    if (request->params->cancel && nvrtc->api.SetFlowCallback)
        nvrtc->api.SetFlowCallback(program, is_cancelled, request->params->cancel);
    result = nvrtc->api.CompileProgram(program, count, options);
    base_free(options);
    if (!result && pool_cancel_requested(request->params->cancel))
        result = DRIVER_NVRTC_ERROR_CANCELLED;
    return result ? compile_failed(compiler, request, program, result) : POOL_OK;
}

struct module_counters module_counters;

/* The compiler's time, and what came of it. */
static void count_compile(uint64_t nanoseconds, pool_status status)
{
    atomic_fetch_add_explicit(
        &module_counters.compile_nanoseconds, nanoseconds, memory_order_relaxed);
    if (status)
        atomic_fetch_add_explicit(&module_counters.compile_failures, 1, memory_order_relaxed);
    else
        module_count_image(MODULE_IMAGE_COMPILER);
}

/* Frees the headers from `first` on and the array of headers. */
static void free_headers(pool_module_params *params, size_t first)
{
    for (size_t i = first; i < params->header_count; i++)
        base_free((void *)(uintptr_t)params->headers[i].text);
    base_free((void *)(uintptr_t)params->headers);
}

/* A copy of the request's params with the texts of its generated headers. */
static pool_status generate_headers(
    const struct module_request *request, pool_module_params *params)
{
    const struct module_generator *generator = request->generator;
    pool_module_header *headers = base_calloc(request->params->header_count, sizeof(*headers));
    pool_status status = POOL_OK;

    if (!headers)
        return base_fail_memory("the headers of a source");
    *params = *request->params;
    params->headers = headers;
    params->header_count = generator->first;
    for (size_t i = 0; i < request->params->header_count && !status; i++) {
        char *text = NULL;

        headers[i] = request->params->headers[i];
        if (i < generator->first)
            continue;
        status = generator->generate(generator->user, i - generator->first, &text);
        headers[i].text = text;
        params->header_count = i + 1;
    }
    if (status)
        free_headers(params, generator->first);
    return status;
}

static pool_status compile_request(const struct compiler *compiler,
    const struct module_request *request, struct module_image **image)
{
    uint64_t start = base_clock_ns();
    nvrtc_program program = NULL;
    struct module_target target = {0};
    struct trace_range range;
    pool_status status = choose_target(compiler, request, &target);

    if (!status)
        status = create_program(compiler, request, &program);
    if (status)
        return status;
    trace_begin(&range, POOL_TRACE_COMPILE, "compile", request->name, -1, 0);
    status = compile_program(compiler, request, &target, program);
    if (!status)
        status = fetch_image(compiler, program, &target, image);
    if (!status)
        status = module_names_append(compiler->nvrtc, program, request->params, image);
    compiler->nvrtc->api.DestroyProgram(&program);
    trace_end(&range, status);
    if (request->is_trial)
        return status;
    count_compile(base_clock_ns() - start, status);
    if (!status)
        base_log(POOL_LOG_INFO, "compiled %s to %s for sm_%s, %zu bytes, in %.0f ms", request->name,
            target.form == MODULE_CUBIN ? "machine code" : "PTX", target.chip, (*image)->size,
            (double)(base_clock_ns() - start) / 1e6);
    return status;
}

pool_status module_compile_nvrtc(const struct nvrtc *nvrtc, const struct module_request *request,
    char *reason, size_t size, struct module_image **image)
{
    const struct compiler compiler = {nvrtc, reason, size, request->is_trial != 0};
    struct module_request generated = *request;
    pool_module_params params;
    pool_status status;

    if (!request->generator)
        return compile_request(&compiler, request, image);
    status = generate_headers(request, &params);
    if (status)
        return status;
    generated.params = &params;
    status = compile_request(&compiler, &generated, image);
    free_headers(&params, request->generator->first);
    return status;
}
