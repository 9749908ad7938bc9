/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC for tests: see compiler.h. */
#include "support/compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sha256.h"
#include "pool/module/sources.h"
#include "zk/field/emit_field.h"

extern const struct module_source test_sources[];
extern const size_t test_sources_count;

static void check_status(pool_status status, const char *what)
{
    if (status == POOL_OK)
        return;
    printf("%s: %s\n", what, pool_last_error()->message);
    exit(1);
}

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
    const struct nvrtc *nvrtc, nvrtc_program program, bool to_ptx, struct compiler_image *image)
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

struct compiler_image compiler_compile(const struct nvrtc *nvrtc, const char *source,
    const struct compiler_header *headers, size_t count, int capability, bool to_ptx)
{
    size_t all = module_sources_count + count;
    const char **names = new_memory(all * sizeof *names);
    const char **bodies = new_memory(all * sizeof *bodies);
    for (size_t i = 0; i < all; i++) {
        bool is_given = i < count;
        names[i] = is_given ? headers[i].name : module_sources[i - count].name;
        bodies[i] = is_given ? headers[i].text : module_sources[i - count].text;
    }
    struct compiler_image image = {0};
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

/* The texts that a source can include; the first of a name counts. */
struct include_closure {
    const struct compiler_header *headers;
    size_t count;
    bool *is_added; /* of each header, then of each device source */
    struct base_sha256 *digest;
};

static void add_text(struct include_closure *closure, const char *text);

static void add_header(struct include_closure *closure, const char *name, size_t length)
{
    for (size_t i = 0; i < closure->count + module_sources_count; i++) {
        bool is_given = i < closure->count;
        const char *of =
            is_given ? closure->headers[i].name : module_sources[i - closure->count].name;
        const char *text =
            is_given ? closure->headers[i].text : module_sources[i - closure->count].text;

        if (strlen(of) != length || strncmp(of, name, length) != 0)
            continue;
        if (!closure->is_added[i]) {
            closure->is_added[i] = true;
            add_text(closure, text);
        }
        return;
    }
    printf("no header %.*s\n", (int)length, name);
    exit(1);
}

/* Every header, also one within a condition that does not hold: too many change a digest too
 * often, too few not often enough. */
static void add_text(struct include_closure *closure, const char *text)
{
    static const char directive[] = "#include \"";

    base_sha256_add(closure->digest, text, strlen(text) + 1);
    for (const char *at = text; (at = strstr(at, directive)) != NULL;) {
        at += strlen(directive);
        add_header(closure, at, strcspn(at, "\"\n"));
    }
}

uint64_t compiler_digest(const struct nvrtc *nvrtc, const char *source,
    const struct compiler_header *headers, size_t count)
{
    struct include_closure closure = {headers, count,
        new_memory((count + module_sources_count) * sizeof(bool)), base_sha256_begin()};
    uint8_t bytes[BASE_SHA256_BYTES];
    int version[2] = {0};
    uint64_t digest = 0;

    CHECK_NVRTC(nvrtc, Version(&version[0], &version[1]));
    base_sha256_add(closure.digest, version, sizeof(version));
    add_text(&closure, source);
    check_status(base_sha256_end(closure.digest, bytes), "SHA-256");
    for (size_t i = 0; i < sizeof(digest); i++)
        digest = digest << 8 | bytes[i];
    free(closure.is_added);
    return digest;
}

int compiler_reported(const char *log, const char *word, bool is_before)
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

void compiler_image_free(struct compiler_image *image)
{
    free(image->bytes);
    free(image->log);
    *image = (struct compiler_image){0};
}

const char *compiler_test_kernels(const char *name)
{
    for (size_t i = 0; i < test_sources_count; i++)
        if (strcmp(test_sources[i].name, name) == 0)
            return test_sources[i].text;
    printf("no test kernels %s\n", name);
    exit(1);
}

char *compiler_field_header(const pool_field *field, const char *prefix)
{
    char *text = NULL;
    check_status(field_emit_generate(field, prefix, &text), "generating a field's header");
    return text;
}

char *compiler_shoup_header(const pool_field *field, const char *prefix)
{
    char *text = NULL;
    check_status(field_emit_generate_shoup(field, prefix, &text), "generating a field's products");
    return text;
}
