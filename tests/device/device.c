/* SPDX-License-Identifier: Apache-2.0 */
/* A device for tests of device text: see device.h. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver/attributes.h"
#include "field/emit_field.h"
#include "module/sources.h"
#include "sim/driver/sim.h"

extern const struct module_source test_sources[];
extern const size_t test_sources_count;

static void check_status(pool_status status, const char *what)
{
    if (status == POOL_OK)
        return;
    printf("%s: %s\n", what, pool_last_error()->message);
    exit(1);
}

#define CHECK(device, call) check_status(DRIVER_CALL((device)->driver, call), #call)
#define CHECK_NVRTC(nvrtc, call)                                                                   \
    check_status(driver_nvrtc_check((nvrtc), (nvrtc)->api.call, #call), #call)

static void *new_memory(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        printf("no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

bool device_open(struct device *device, const pool_cuda_api *table)
{
    memset(device, 0, sizeof *device);
    if (driver_nvrtc_open(&device->nvrtc) || driver_open(table, &device->driver)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return false;
    }
    CUdevice ordinal = 0;
    int major = 0, minor = 0;
    CHECK(device, DeviceGet(&ordinal, 0));
    CHECK(device, DeviceGetName(device->name, sizeof device->name, ordinal));
    CHECK(device,
        DeviceGetAttribute(&major, DRIVER_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, ordinal));
    CHECK(device,
        DeviceGetAttribute(&minor, DRIVER_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, ordinal));
    CHECK(device, DeviceGetAttribute(&device->multiprocessors,
                      DRIVER_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, ordinal));
    device->capability = 10 * major + minor;
    device->is_simulated = (device->driver->api.flags & POOL_CUDA_PTX_ONLY) != 0;
    CHECK(device, CtxCreate(&device->context, 0, ordinal));
    return true;
}

const pool_cuda_api *device_simulated(void)
{
    const pool_cuda_api *table = NULL;
    check_status(sim_open("sim", &table), "simulated devices");
    return table;
}

void device_close(struct device *device)
{
    CHECK(device, CtxDestroy(device->context));
    driver_close(&device->driver);
}

static void print_log(const struct nvrtc *nvrtc, nvrtc_program program)
{
    size_t size = 0;
    nvrtc->api.GetProgramLogSize(program, &size);
    char *log = new_memory(size + 1);
    nvrtc->api.GetProgramLog(program, log);
    printf("%s\n", log);
    free(log);
}

static void compile(const struct nvrtc *nvrtc, nvrtc_program program, int capability, bool to_ptx)
{
    char target[64];
    snprintf(
        target, sizeof target, "--gpu-architecture=%s_%d", to_ptx ? "compute" : "sm", capability);
    /* The report of registers and spills comes with machine code only. */
    const char *const options[] = {target, "--ptxas-options=-v"};
    nvrtc_result result = nvrtc->api.CompileProgram(program, to_ptx ? 1 : 2, options);
    if (result == 0)
        return;
    print_log(nvrtc, program);
    check_status(driver_nvrtc_check(nvrtc, result, "nvrtcCompileProgram"), "compiling");
    exit(1);
}

static void read_image(
    const struct nvrtc *nvrtc, nvrtc_program program, bool to_ptx, struct device_image *image)
{
    if (to_ptx)
        CHECK_NVRTC(nvrtc, GetPTXSize(program, &image->size));
    else
        CHECK_NVRTC(nvrtc, GetCUBINSize(program, &image->size));
    image->bytes = new_memory(image->size);
    if (to_ptx)
        CHECK_NVRTC(nvrtc, GetPTX(program, image->bytes));
    else
        CHECK_NVRTC(nvrtc, GetCUBIN(program, image->bytes));
    size_t size = 0;
    CHECK_NVRTC(nvrtc, GetProgramLogSize(program, &size));
    image->log = new_memory(size + 1);
    CHECK_NVRTC(nvrtc, GetProgramLog(program, image->log));
}

struct device_image device_compile(const struct nvrtc *nvrtc, const char *source,
    const struct device_text *texts, size_t count, int capability, bool to_ptx)
{
    size_t all = module_sources_count + count;
    const char **names = new_memory(all * sizeof *names);
    const char **bodies = new_memory(all * sizeof *bodies);
    for (size_t i = 0; i < all; i++) {
        bool is_given = i < count;
        names[i] = is_given ? texts[i].name : module_sources[i - count].name;
        bodies[i] = is_given ? texts[i].text : module_sources[i - count].text;
    }
    struct device_image image = {0};
    struct timespec start, end;
    nvrtc_program program = NULL;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    CHECK_NVRTC(nvrtc, CreateProgram(&program, source, "test.cu", (int)all, bodies, names));
    compile(nvrtc, program, capability, to_ptx);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    image.seconds =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    read_image(nvrtc, program, to_ptx, &image);
    CHECK_NVRTC(nvrtc, DestroyProgram(&program));
    free(names);
    free(bodies);
    return image;
}

int device_reported(const char *log, const char *word, bool is_before)
{
    int most = 0;
    for (const char *at = strstr(log, word); at != NULL; at = strstr(at + 1, word)) {
        const char *digits = is_before ? at : at + strlen(word);
        while (is_before && digits > log && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        int number = atoi(digits);
        most = number > most ? number : most;
    }
    return most;
}

void device_image_free(struct device_image *image)
{
    free(image->bytes);
    free(image->log);
    *image = (struct device_image){0};
}

CUmodule device_build(
    struct device *device, const char *source, const struct device_text *texts, size_t count)
{
    CUmodule module = NULL;
    struct device_image image = device_compile(
        device->nvrtc, source, texts, count, device->capability, device->is_simulated);
    CHECK(device, ModuleLoadData(&module, image.bytes));
    device_image_free(&image);
    return module;
}

void device_unload(struct device *device, CUmodule module)
{
    CHECK(device, ModuleUnload(module));
}

CUdeviceptr device_alloc(struct device *device, size_t bytes)
{
    CUdeviceptr memory = 0;
    CHECK(device, MemAlloc(&memory, bytes));
    CHECK(device, MemsetD8(memory, 0xa5, bytes));
    return memory;
}

CUdeviceptr device_upload(struct device *device, const void *data, size_t bytes)
{
    CUdeviceptr memory = device_alloc(device, bytes);
    CHECK(device, MemcpyHtoD(memory, data, bytes));
    return memory;
}

void device_download(struct device *device, void *data, CUdeviceptr from, size_t bytes)
{
    CHECK(device, MemcpyDtoH(data, from, bytes));
}

void device_free(struct device *device, CUdeviceptr memory)
{
    CHECK(device, MemFree(memory));
}

float device_run(struct device *device, CUmodule module, const char *kernel, uint32_t blocks,
    uint32_t threads, void **arguments)
{
    CUfunction function = NULL;
    CUevent start = NULL, end = NULL;
    float milliseconds = 0;
    CHECK(device, ModuleGetFunction(&function, module, kernel));
    CHECK(device, EventCreate(&start, 0));
    CHECK(device, EventCreate(&end, 0));
    CHECK(device, EventRecord(start, NULL));
    CHECK(device, LaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL));
    CHECK(device, EventRecord(end, NULL));
    CHECK(device, EventSynchronize(end));
    CHECK(device, EventElapsedTime(&milliseconds, start, end));
    CHECK(device, EventDestroy(start));
    CHECK(device, EventDestroy(end));
    return milliseconds;
}

const char *device_kernels(const char *name)
{
    for (size_t i = 0; i < test_sources_count; i++)
        if (strcmp(test_sources[i].name, name) == 0)
            return test_sources[i].text;
    printf("no test kernels %s\n", name);
    exit(1);
}

char *device_field_text(const pool_field *field, const char *prefix)
{
    char *text = NULL;
    check_status(field_emit_generate(field, prefix, &text), "generating a field's text");
    return text;
}
