/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operations compile, program by program; needs NVRTC, but no device:
 *   bench_compile [--chip N] [--save DIRECTORY] msm:CURVE | ntt:FIELD | poseidon:SET ...
 * prints for each program the bytes of its sources and the processor seconds of NVRTC to PTX and
 * from there to machine code, the difference of two compilations. Processor time depends less than
 * elapsed time on what else the host runs. --save writes the machine code; compare_code.py finds
 * the kernels that differ from those of another version.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <devicepool.h>

#include "base/alloc.h"
#include "driver/nvrtc.h"
#include "pool/module/program.h"
#include "zk/msm/msm.h"
#include "zk/ntt/ntt.h"
#include "zk/poseidon/kernels.h"

struct run {
    const struct nvrtc *nvrtc;
    const char *directory; /* of the machine code; NULL: it is not written */
    const char *subject;
    int chip; /* 90 is compute capability 9.0 */
    size_t programs;
    double front_seconds, back_seconds;
};

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    exit(1);
}

static void check(nvrtc_result result, const char *call)
{
    if (result)
        fail("%s: %s", call, driver_nvrtc_result_name(result));
}

#define CHECK(run, call) check((run)->nvrtc->api.call, #call)

static void *new_memory(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (!memory)
        fail("no memory for %zu bytes", bytes);
    return memory;
}

static double processor_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct image {
    char *bytes;
    size_t size;
    double seconds;
};

static void read_image(
    const struct run *run, nvrtc_program compiled, bool to_ptx, struct image *image)
{
    if (to_ptx)
        CHECK(run, GetPTXSize(compiled, &image->size));
    else
        CHECK(run, GetCUBINSize(compiled, &image->size));
    image->bytes = new_memory(image->size);
    if (to_ptx)
        CHECK(run, GetPTX(compiled, image->bytes));
    else
        CHECK(run, GetCUBIN(compiled, image->bytes));
}

/* With the library's options (module/nvrtc.c). */
static struct image compile(const struct run *run, const pool_module_params *params, bool to_ptx)
{
    enum { OWN_OPTIONS = 3 };
    char target[64], defines[MODULE_KEY_PARAMETERS][80];
    const char *options[OWN_OPTIONS + MODULE_KEY_PARAMETERS] = {
        target, "--std=c++17", "--no-source-include"};
    const char **names = new_memory(2 * params->header_count * sizeof(*names));
    const char **texts = names + params->header_count;
    nvrtc_program compiled = NULL;
    struct image image = {0};
    double start = processor_seconds();

    for (size_t i = 0; i < params->header_count; i++) {
        names[i] = params->headers[i].name;
        texts[i] = params->headers[i].text;
    }
    snprintf(
        target, sizeof(target), "--gpu-architecture=%s_%d", to_ptx ? "compute" : "sm", run->chip);
    for (size_t i = 0; i < params->define_count; i++) {
        snprintf(defines[i], sizeof(defines[i]), "-D%s", params->defines[i]);
        options[OWN_OPTIONS + i] = defines[i];
    }
    CHECK(run, CreateProgram(&compiled, params->source, params->name, (int)params->header_count,
                   texts, names));
    CHECK(run, CompileProgram(compiled, (int)(OWN_OPTIONS + params->define_count), options));
    image.seconds = processor_seconds() - start;
    read_image(run, compiled, to_ptx, &image);
    CHECK(run, DestroyProgram(&compiled));
    free(names);
    return image;
}

/* "msm-accumulate.cu.bn254_g1,512,1": file, subject or "all", defines. */
static void name_of(
    const struct run *run, const struct module_program *program, char *name, size_t size)
{
    size_t length = (size_t)snprintf(
        name, size, "%s.%s", program->file, program->text_count ? run->subject : "all");

    for (size_t i = 0; i < program->define_count && length < size; i++)
        length += (size_t)snprintf(
            name + length, size - length, ",%s", strchr(program->defines[i], '=') + 1);
    for (char *slash; (slash = strchr(name, '/'));)
        *slash = '-';
}

static void save(const struct run *run, const char *name, const struct image *image)
{
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s.cubin", run->directory, name);
    file = fopen(path, "wb");
    if (!file || fwrite(image->bytes, 1, image->size, file) != image->size || fclose(file))
        fail("%s cannot be written", path);
}

static pool_status visit(void *user, const struct module_program *program)
{
    struct run *run = user;
    pool_module_params params;
    struct image ptx, code;
    char name[256];
    size_t bytes;
    pool_status status = module_program_params(program, &params);

    if (status)
        return status;
    name_of(run, program, name, sizeof(name));
    bytes = strlen(params.source);
    for (size_t i = 0; i < params.header_count; i++)
        bytes += strlen(params.headers[i].text);
    ptx = compile(run, &params, true);
    code = compile(run, &params, false);
    printf("%-58s %7zu bytes, PTX %7zu, code %7zu: %5.2f + %5.2f = %5.2f s\n", name, bytes,
        ptx.size, code.size, ptx.seconds, code.seconds - ptx.seconds, code.seconds);
    fflush(stdout);
    run->programs++;
    run->front_seconds += ptx.seconds;
    run->back_seconds += code.seconds - ptx.seconds;
    if (run->directory)
        save(run, name, &code);
    free(ptx.bytes);
    free(code.bytes);
    base_free((void *)(uintptr_t)params.headers);
    return POOL_OK;
}

static pool_status each_poseidon(struct run *run)
{
    pool_poseidon *set;
    pool_status status = pool_poseidon_by_name(run->subject, &set);

    if (!status) {
        status = poseidon_each_program(set, visit, run);
        pool_poseidon_destroy(&set);
    }
    return status;
}

/* "msm:bn254_g1" and so on. */
static void measure(struct run *run, const char *text)
{
    static const struct chip chip = {.multiprocessors = 132, .shared_bytes = 227 << 10};
    pool_status status;

    run->subject = strchr(text, ':');
    if (!run->subject)
        fail("%s is no msm:CURVE, ntt:FIELD or poseidon:SET", text);
    run->subject++;
    if (strncmp(text, "msm:", 4) == 0 && pool_curve_by_name(run->subject))
        status = msm_each_program(pool_curve_by_name(run->subject), visit, run);
    else if (strncmp(text, "ntt:", 4) == 0 && pool_field_by_name(run->subject))
        status = ntt_each_program(pool_field_by_name(run->subject), &chip, visit, run);
    else if (strncmp(text, "poseidon:", 9) == 0)
        status = each_poseidon(run);
    else
        fail("%s is unknown", text);
    if (status)
        fail("%s: %s", text, pool_last_error()->message);
}

int main(int argc, char **argv)
{
    struct run run = {.chip = 90};

    if (driver_nvrtc_open(&run.nvrtc)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--chip") == 0 && i + 1 < argc)
            run.chip = atoi(argv[++i]);
        else if (strcmp(argv[i], "--save") == 0 && i + 1 < argc)
            run.directory = argv[++i];
        else
            measure(&run, argv[i]);
    }
    printf("%zu programs: %.2f s to PTX, %.2f s from there to machine code\n", run.programs,
        run.front_seconds, run.back_seconds);
    return 0;
}
