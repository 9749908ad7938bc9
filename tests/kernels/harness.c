/* SPDX-License-Identifier: Apache-2.0 */
/* See harness.h. */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool/module/sources.h"
#include "support/compiler.h"

enum { WARM_UPS = 2, REPEATS = 9 };

void harness_must(pool_status status, const char *call)
{
    if (status == POOL_OK)
        return;
    printf("%s: %s\n", call, pool_last_error()->message);
    exit(1);
}

void *harness_memory(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);

    if (memory == NULL) {
        printf("no memory for %zu elements of %zu bytes\n", count, bytes);
        exit(1);
    }
    return memory;
}

/* ---- modules --------------------------------------------------------------------------------- */

pool_module *harness_compile(struct harness *harness, const char *file, const char *defines,
    const char *header, const char *text)
{
    const char *kernels = compiler_test_kernels(file);
    pool_module_header *headers = harness_memory(module_sources_count + 1, sizeof(*headers));
    char *source = harness_memory(strlen(defines) + strlen(kernels) + 1, 1);
    pool_module *module = NULL;

    strcat(strcpy(source, defines), kernels);
    for (size_t i = 0; i < module_sources_count; i++)
        headers[i] = (pool_module_header){module_sources[i].name, module_sources[i].text};
    headers[module_sources_count] = (pool_module_header){header, text};
    pool_module_params params = {.struct_size = sizeof(params),
        .source = source,
        .name = file,
        .headers = headers,
        .header_count = module_sources_count + 1,
        .no_cache = 1};
    MUST(pool_module_compile(harness->device, &params, &module));
    free(source);
    free(headers);
    return module;
}

pool_kernel *kernel_of(pool_module *module, const char *name)
{
    pool_kernel *kernel = NULL;

    MUST(pool_kernel_get(module, name, &kernel));
    return kernel;
}

pool_status kernel_launch(struct harness *harness, void *user)
{
    const struct kernel_launch *launch = user;
    const pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {(uint32_t)launch->blocks, 1, 1},
        .block = {launch->threads, 1, 1},
        .dynamic_shared_bytes = launch->shared_bytes,
        .argument_count = launch->argument_count};

    return pool_launch(launch->kernel, &shape, launch->arguments, harness->stream);
}

/* ---- one stage ------------------------------------------------------------------------------- */

static bool is_selected(const struct harness *harness, const struct stage *stage)
{
    char full[sizeof(stage->name) + sizeof(stage->subject) + 2];

    snprintf(full, sizeof(full), "%s %s", stage->name, stage->subject);
    for (int i = 0; i < harness->pattern_count; i++)
        if (strstr(full, harness->patterns[i]) != NULL)
            return true;
    return harness->pattern_count == 0;
}

bool stage_begin(
    struct harness *harness, struct stage *stage, const char *name, const char *subject, ...)
{
    va_list arguments;

    memset(stage, 0, sizeof(*stage));
    stage->harness = harness;
    snprintf(stage->name, sizeof(stage->name), "%s", name);
    va_start(arguments, subject);
    vsnprintf(stage->subject, sizeof(stage->subject), subject, arguments);
    va_end(arguments);
    if (!is_selected(harness, stage))
        return false;
    if (harness->is_listing)
        printf("%s: %s\n", stage->name, stage->subject);
    return !harness->is_listing;
}

void stage_end(struct stage *stage)
{
    struct harness *harness = stage->harness;

    for (unsigned i = 0; i < stage->count; i++)
        MUST(pool_buffer_destroy(&stage->buffers[i]));
    harness->checked++;
    if (stage->is_wrong)
        harness->wrong++;
    else if (!harness->is_timing)
        printf("ok: %s: %s\n", stage->name, stage->subject);
}

void stage_fail(struct stage *stage, const char *format, ...)
{
    va_list arguments;

    if (stage->is_wrong)
        return;
    stage->is_wrong = true;
    printf("WRONG: %s: %s: ", stage->name, stage->subject);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

CUdeviceptr stage_alloc(struct stage *stage, size_t bytes)
{
    CUdeviceptr address = 0;
    pool_buffer **buffer = &stage->buffers[stage->count];

    if (stage->count == STAGE_BUFFERS) {
        printf("%s: more than %d buffers\n", stage->name, STAGE_BUFFERS);
        exit(1);
    }
    stage->count++;
    bytes = bytes ? bytes : 1;
    MUST(pool_buffer_alloc(stage->harness->device, bytes, buffer));
    MUST(pool_buffer_fill8(*buffer, 0, bytes, STAGE_POISON, stage->harness->stream));
    MUST(pool_stream_synchronize(stage->harness->stream));
    MUST(pool_buffer_address(*buffer, &address));
    return address;
}

/* The buffer that holds an address. */
static pool_buffer *buffer_at(struct stage *stage, CUdeviceptr address, uint64_t *offset)
{
    for (unsigned i = 0; i < stage->count; i++) {
        CUdeviceptr start = 0;

        MUST(pool_buffer_address(stage->buffers[i], &start));
        if (address >= start && address - start < pool_buffer_bytes(stage->buffers[i])) {
            *offset = address - start;
            return stage->buffers[i];
        }
    }
    printf("%s: an address that is none of the stage's\n", stage->name);
    exit(1);
}

void stage_write(struct stage *stage, CUdeviceptr to, const void *data, size_t bytes)
{
    uint64_t offset = 0;
    pool_buffer *buffer = buffer_at(stage, to, &offset);

    if (bytes)
        MUST(pool_copy_to_device(buffer, offset, data, bytes, stage->harness->stream));
    MUST(pool_stream_synchronize(stage->harness->stream));
}

CUdeviceptr stage_upload(struct stage *stage, const void *data, size_t bytes)
{
    CUdeviceptr address = stage_alloc(stage, bytes);

    stage_write(stage, address, data, bytes);
    return address;
}

void stage_download(struct stage *stage, void *data, CUdeviceptr from, size_t bytes)
{
    uint64_t offset = 0;
    pool_buffer *buffer = buffer_at(stage, from, &offset);

    if (bytes)
        MUST(pool_copy_to_host(data, buffer, offset, bytes, stage->harness->stream));
    MUST(pool_stream_synchronize(stage->harness->stream));
}

void stage_run(struct stage *stage, stage_launch launch, void *user)
{
    MUST(launch(stage->harness, user));
    MUST(pool_stream_synchronize(stage->harness->stream));
}

static void print_bytes(const char *label, const uint8_t *bytes, size_t count)
{
    printf("  %s", label);
    for (size_t i = count < 96 ? count : 96; i-- > 0;)
        printf("%02x", bytes[i]);
    printf("%s\n", count > 96 ? "..." : "");
}

void stage_compare_host(struct stage *stage, const char *what, const void *got,
    const void *expected, size_t count, size_t bytes)
{
    const uint8_t *left = got, *right = expected;

    for (size_t i = 0; i < count && !stage->is_wrong; i++) {
        if (memcmp(left + i * bytes, right + i * bytes, bytes) == 0)
            continue;
        stage_fail(stage, "%s %zu of %zu", what, i, count);
        print_bytes("got      ", left + i * bytes, bytes);
        print_bytes("expected ", right + i * bytes, bytes);
    }
}

void stage_compare(struct stage *stage, const char *what, CUdeviceptr got, const void *expected,
    size_t count, size_t bytes)
{
    uint8_t *results = harness_memory(count, bytes);

    stage_download(stage, results, got, count * bytes);
    stage_compare_host(stage, what, results, expected, count, bytes);
    free(results);
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

void stage_time_prepared(
    struct stage *stage, stage_launch prepare, stage_launch launch, void *user, double items)
{
    struct harness *harness = stage->harness;
    double times[REPEATS];

    if (!harness->is_timing || stage->is_wrong)
        return;
    for (int i = -WARM_UPS; i < REPEATS; i++) {
        if (prepare)
            stage_run(stage, prepare, user);
        MUST(pool_event_record(harness->start, harness->stream));
        MUST(launch(harness, user));
        MUST(pool_event_record(harness->end, harness->stream));
        MUST(pool_event_synchronize(harness->end));
        MUST(pool_event_elapsed(harness->start, harness->end, &times[i < 0 ? 0 : i]));
    }
    qsort(times, REPEATS, sizeof(times[0]), compare_doubles);
    printf("{\"stage\": \"%s\", \"subject\": \"%s\", \"ms\": %.4f, \"per_second\": %.4g}\n",
        stage->name, stage->subject, times[REPEATS / 2], items / times[REPEATS / 2] * 1e3);
    fflush(stdout);
}

void stage_time(struct stage *stage, stage_launch launch, void *user, double items)
{
    stage_time_prepared(stage, NULL, launch, user, items);
}
