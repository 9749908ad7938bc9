/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of launches and modules through the library, launches compared with the driver alone:
 *   a launch of an empty kernel with the device bound, and without (which adds push and pop)
 *   a launch that is waited for, and a call that waits for its answer but for no work
 *   pool_module_compile with the binary in memory, in the disk cache, and in neither
 *
 * usage: bench_launch [DEVICES] [JSON-FILE]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

#include "bench_support.h"
#include "pool/device/device.h"
#include "pool/module/image.h"
#include "pool/module/module.h"
#include "pool/stream/stream.h"

#define RUNS 41
#define LAUNCHES 300 /* fewer than the driver's queue holds, so that no launch blocks */

static const char source[] =
    "extern \"C\" __global__ void empty(unsigned *x, unsigned n) { if (n > 7) *x = n; }\n";

static cJSON *report;

static void report_row(
    const char *name, double value, const char *unit, const char *target, int met)
{
    cJSON *object = cJSON_CreateObject();

    printf("| %-44s | %10.3f %-2s | %-24s | %s |\n", name, value, unit, target,
        !target[0] ? ""
        : met      ? "yes"
                   : "NO");
    cJSON_AddStringToObject(object, "name", name);
    cJSON_AddNumberToObject(object, "value", value);
    cJSON_AddStringToObject(object, "unit", unit);
    cJSON_AddStringToObject(object, "target", target);
    cJSON_AddItemToArray(report, object);
}

struct subject {
    pool_device *device;
    pool_stream *stream;
    pool_kernel *kernel;
    CUfunction function;
    CUstream raw_stream;
    const pool_cuda_api *api;
    CUdeviceptr address;
    unsigned number;
};

static double time_library(struct subject *s)
{
    void *arguments[] = {&s->address, &s->number};
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    double start;

    MUST(pool_launch_shape_for(32, &shape));
    shape.argument_count = 2;
    start = bench_now();
    for (int i = 0; i < LAUNCHES; i++)
        MUST(pool_launch(s->kernel, &shape, arguments, s->stream));
    return (bench_now() - start) * 1e9 / LAUNCHES;
}

static double time_driver(struct subject *s)
{
    void *arguments[] = {&s->address, &s->number};
    double start = bench_now();

    for (int i = 0; i < LAUNCHES; i++)
        if (s->api->LaunchKernel(
                s->function, 1, 1, 1, 256, 1, 1, 0, s->raw_stream, arguments, NULL))
            exit(1);
    return (bench_now() - start) * 1e9 / LAUNCHES;
}

static void measure_launches(struct subject *s)
{
    double driver_ns[RUNS], library_ns[RUNS], unbound_ns[RUNS], x, y;

    for (int i = -2; i < RUNS; i++) {
        int at = i < 0 ? 0 : i;

        MUST(pool_bind(s->device));
        for (int j = 0; j < 2; j++) { /* alternating, so that neither is always first */
            if ((i + j) % 2)
                driver_ns[at] = time_driver(s);
            else
                library_ns[at] = time_library(s);
            MUST(pool_stream_synchronize(s->stream));
        }
        MUST(pool_unbind(s->device));
        unbound_ns[at] = time_library(s);
        MUST(pool_stream_synchronize(s->stream));
    }
    y = bench_median(driver_ns, RUNS);
    x = bench_median(library_ns, RUNS);
    report_row("cuLaunchKernel", y, "ns", "", 1);
    report_row("pool_launch, device bound", x, "ns", "<= bare + 100 ns", x <= y + 100);
    x = bench_median(unbound_ns, RUNS);
    report_row("pool_launch, not bound (push and pop)", x, "ns", "", 1);
}

/* With worker processes these wait for another process. */
static void measure_waiting_calls(struct subject *s)
{
    double launch_ns[RUNS], query_ns[RUNS];
    void *arguments[] = {&s->address, &s->number};
    pool_launch_shape shape = {.struct_size = sizeof(shape)};

    MUST(pool_launch_shape_for(32, &shape));
    shape.argument_count = 2;
    MUST(pool_bind(s->device));
    for (int i = -2; i < RUNS; i++) {
        int at = i < 0 ? 0 : i;
        double start = bench_now();

        for (int j = 0; j < LAUNCHES; j++) {
            MUST(pool_launch(s->kernel, &shape, arguments, s->stream));
            MUST(pool_stream_synchronize(s->stream));
        }
        launch_ns[at] = (bench_now() - start) * 1e9 / LAUNCHES;
        start = bench_now();
        for (int j = 0; j < LAUNCHES; j++)
            if (s->api->StreamQuery(s->raw_stream))
                exit(1);
        query_ns[at] = (bench_now() - start) * 1e9 / LAUNCHES;
    }
    MUST(pool_unbind(s->device));
    report_row(
        "pool_launch and pool_stream_synchronize", bench_median(launch_ns, RUNS), "ns", "", 1);
    report_row("cuStreamQuery", bench_median(query_ns, RUNS), "ns", "", 1);
}

/* Returns the source of a large module: many kernels of unrolled arithmetic. The caller frees it.
 */
static char *create_large_source(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    for (int k = 0; k < 40; k++) {
        fprintf(out, "extern \"C\" __global__ void k%d(unsigned *x) { unsigned a = x[0];\n", k);
        for (unsigned i = 0; i < 400; i++)
            fprintf(out, "a = a * %uu + (a >> %u ^ x[%u]);\n", 2 * i + 1, i % 31, i % 97);
        fprintf(out, "x[1] = a; }\n");
    }
    fclose(out);
    return text;
}

static double time_compile(pool_device *device, const pool_module_params *params)
{
    pool_module *module;
    double start = bench_now();
    double milliseconds;

    MUST(pool_module_compile(device, params, &module));
    milliseconds = (bench_now() - start) * 1e3;
    pool_module_destroy(&module);
    return milliseconds;
}

static void measure_modules(pool_device *device)
{
    double disk[RUNS], memory[RUNS], first;
    char directory[] = "/tmp/devicepool-bench-XXXXXX";
    pool_module_params params = {.struct_size = sizeof(params), .name = "large.cu"};
    char cache[64];
    char *text = create_large_source();
    double x;

    if (!mkdtemp(directory))
        exit(1);
    snprintf(cache, sizeof(cache), "%s/cache", directory);
    setenv("DEVICEPOOL_CACHE_DIR", cache, 1);
    params.source = text;
    first = time_compile(device, &params);
    for (int i = 0; i < RUNS; i++) {
        module_image_forget();
        disk[i] = time_compile(device, &params);
        memory[i] = time_compile(device, &params);
    }
    report_row("module of 40 kernels: compile and load", first, "ms", "", 1);
    x = bench_median(disk, RUNS);
    report_row("module of 40 kernels: from disk and load", x, "ms", "<= 5 ms", x <= 5);
    x = bench_median(memory, RUNS);
    report_row("module of 40 kernels: from memory and load", x, "ms", "<= 5 ms", x <= 5);
    MUST(pool_cache_clear(NULL));
    free(text);
}

int main(int count, char **arguments)
{
    pool_module_params params = {.struct_size = sizeof(params), .source = source};
    struct subject subject = {.number = 1};
    device_pool *pool;
    pool_module *module;
    pool_buffer *buffer;

    report = cJSON_CreateArray();
    subject.device = open_device(count > 1 ? arguments[1] : NULL, &pool);
    MUST(pool_module_compile(subject.device, &params, &module));
    MUST(pool_kernel_get(module, "empty", &subject.kernel));
    subject.function = subject.kernel->function; /* of the driver's table, also in a worker */
    MUST(pool_stream_create(subject.device, NULL, &subject.stream));
    subject.raw_stream = subject.stream->handle;
    MUST(pool_buffer_alloc(subject.device, 4, &buffer));
    MUST(pool_buffer_address(buffer, &subject.address));
    subject.api = &device_driver(subject.device)->api;
    printf("| measured | value | target | met |\n|---|---|---|---|\n");
    measure_launches(&subject);
    measure_waiting_calls(&subject);
    measure_modules(subject.device);
    MUST(pool_buffer_destroy(&buffer));
    MUST(pool_stream_destroy(&subject.stream));
    pool_module_destroy(&module);
    MUST(pool_destroy(&pool));
    if (count <= 2)
        cJSON_Delete(report);
    else if (!write_value(arguments[2], report))
        return 1;
    return 0;
}
