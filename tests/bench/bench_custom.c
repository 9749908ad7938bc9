/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The examples of custom kernels (docs/examples: quotient, sumcheck, sparse_product) beside the
 * same kernels with arithmetic that was written by hand for this modulus (custom/hand_*). Both run
 * on the same data and are compared with the example's plain C. Their times are medians of
 * alternating runs between events; a ratio below 1 means that the generated arithmetic is faster.
 * Then registers and spills of all kernels, as the compiler reports them; generated arithmetic that
 * spills is a failure. Simulated devices only compare the results.
 *
 * usage: bench_custom [DEVICES [LOG_SIZE [REPEAT [JSON-FILE]]]]      default: 2^20 items
 *        bench_custom registers                                      without a device
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

#include "zk/custom/header.h"
#include "base/alloc.h"
#include "bench_support.h"
#include "custom/custom.h"
#include "pool/module/sources.h"
#include "driver/sim/table/sim.h"
#include "support/compiler.h"

enum { GENERATED, HAND, VERSIONS };
enum { MIN_LOG_SIZE = 4, MAX_LOG_SIZE = 24, MAX_REPEAT = 1000, LAUNCHES = 10 };

extern const struct module_source hand_sources[];
extern const size_t hand_sources_count;

static const struct custom_example *const examples[] = {
    &custom_quotient, &custom_sumcheck, &custom_sparse_product};

static const char *hand_source(const char *name)
{
    for (size_t i = 0; i < hand_sources_count; i++)
        if (strcmp(hand_sources[i].name, name) == 0)
            return hand_sources[i].text;
    fprintf(stderr, "no source %s\n", name);
    exit(1);
}

static pool_module_arithmetic field_entry(void)
{
    return (pool_module_arithmetic){.prefix = "fr", .field = pool_field_by_name("bn254_fr")};
}

/* ---- times ----------------------------------------------------------------------------------- */

struct subject {
    const struct custom_example *example;
    pool_stream *stream;
    pool_event *events[2];
    pool_module *modules[VERSIONS];
    pool_kernel *kernels[VERSIONS][CUSTOM_MAX_KERNELS];
    void *state;
};

static void compile(pool_device *device, struct subject *subject)
{
    const struct custom_example *example = subject->example;
    const pool_module_arithmetic arithmetic = field_entry();
    const pool_module_header header = {.name = "hand_fr.cuh", .text = hand_source("hand_fr.cuh")};
    const pool_module_params params[VERSIONS] = {
        [GENERATED] = {.struct_size = sizeof(params[0]),
            .source = example->source,
            .name = example->name,
            .arithmetic = &arithmetic,
            .arithmetic_count = 1},
        [HAND] = {.struct_size = sizeof(params[0]),
            .source = hand_source(example->hand),
            .name = example->hand,
            .headers = &header,
            .header_count = 1},
    };

    for (int i = 0; i < VERSIONS; i++) {
        MUST(pool_module_compile(device, &params[i], &subject->modules[i]));
        for (int k = 0; k < CUSTOM_MAX_KERNELS && example->kernels[k]; k++)
            MUST(
                pool_kernel_get(subject->modules[i], example->kernels[k], &subject->kernels[i][k]));
    }
}

static void check(struct subject *subject, int version)
{
    const struct custom_example *example = subject->example;

    example->reset(subject->state);
    example->launch(subject->state, subject->kernels[version], subject->stream);
    MUST(pool_stream_synchronize(subject->stream));
    if (example->is_correct(subject->state))
        return;
    fprintf(
        stderr, "%s, %s: wrong result\n", example->name, version == HAND ? "by hand" : "generated");
    exit(1);
}

/* Seconds per launch. */
static double time_launches(struct subject *subject, int version)
{
    double milliseconds;

    MUST(pool_event_record(subject->events[0], subject->stream));
    for (int i = 0; i < LAUNCHES; i++)
        subject->example->launch(subject->state, subject->kernels[version], subject->stream);
    MUST(pool_event_record(subject->events[1], subject->stream));
    MUST(pool_event_synchronize(subject->events[1]));
    MUST(pool_event_elapsed(subject->events[0], subject->events[1], &milliseconds));
    return milliseconds * 1e-3 / LAUNCHES;
}

static void measure(struct subject *subject, uint32_t repeat, double median[VERSIONS])
{
    double *seconds[VERSIONS];

    for (int i = 0; i < VERSIONS; i++) {
        seconds[i] = bench_alloc(repeat, sizeof(*seconds[i]));
        (void)time_launches(subject, i); /* warm-up */
    }
    for (uint32_t i = 0; i < repeat; i++)
        for (uint32_t j = 0; j < VERSIONS; j++) { /* neither is always first */
            uint32_t version = (i + j) % VERSIONS;

            seconds[version][i] = time_launches(subject, (int)version);
        }
    for (int i = 0; i < VERSIONS; i++) {
        median[i] = bench_median(seconds[i], repeat);
        free(seconds[i]);
    }
}

static void report_row(
    cJSON *rows, const struct custom_example *example, uint32_t log_size, const double *median)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "example", example->name);
    cJSON_AddNumberToObject(object, "log_size", log_size);
    if (median) {
        printf("| %s, 2^%u | %.4f ms | %.4f ms | %.3f |\n", example->name, log_size,
            median[GENERATED] * 1e3, median[HAND] * 1e3, median[GENERATED] / median[HAND]);
        cJSON_AddNumberToObject(object, "generated_seconds", median[GENERATED]);
        cJSON_AddNumberToObject(object, "hand_seconds", median[HAND]);
    } else {
        printf("| %s, 2^%u | as plain C | as plain C | |\n", example->name, log_size);
    }
    cJSON_AddItemToArray(rows, object);
}

/* Simulated devices run the same launches, but their times are of no interest. */
static void measure_example(pool_device *device, const struct custom_example *example,
    uint32_t log_size, uint32_t repeat, bool is_simulated, cJSON *rows)
{
    struct subject subject = {.example = example};
    double median[VERSIONS];

    MUST(pool_stream_create(device, NULL, &subject.stream));
    for (int i = 0; i < 2; i++)
        MUST(pool_event_create(device, POOL_EVENT_TIMING, &subject.events[i]));
    compile(device, &subject);
    subject.state = example->create(device, log_size);
    for (int i = 0; i < VERSIONS; i++)
        check(&subject, i);
    measure(&subject, repeat, median);
    report_row(rows, example, log_size, is_simulated ? NULL : median);
    example->destroy(subject.state);
    for (int i = 0; i < VERSIONS; i++)
        MUST(pool_module_destroy(&subject.modules[i]));
    for (int i = 0; i < 2; i++)
        MUST(pool_event_destroy(&subject.events[i]));
    MUST(pool_stream_destroy(&subject.stream));
}

/* ---- registers ------------------------------------------------------------------------------- */

/* The part of the compiler's report that is about one kernel. The caller frees it. */
static char *report_of(const char *log, const char *kernel)
{
    static const char entry[] = "Compiling entry function '";
    const char *at, *end;

    for (at = strstr(log, entry); at; at = strstr(at, entry)) {
        at += sizeof(entry) - 1;
        if (strncmp(at, kernel, strlen(kernel)) == 0 && at[strlen(kernel)] == '\'')
            break;
    }
    if (!at) {
        fprintf(stderr, "the compiler reports nothing about %s:\n%s\n", kernel, log);
        exit(1);
    }
    end = strstr(at, entry);
    return end ? strndup(at, (size_t)(end - at)) : strdup(at);
}

static bool print_registers(
    const struct nvrtc *nvrtc, const struct custom_example *example, const char *header, int chip)
{
    const struct compiler_header headers[VERSIONS] = {
        {"fr.cuh", header}, {"hand_fr.cuh", hand_source("hand_fr.cuh")}};
    const char *const sources[VERSIONS] = {example->source, hand_source(example->hand)};
    struct compiler_image images[VERSIONS];
    bool has_spilled = false;

    for (int i = 0; i < VERSIONS; i++)
        images[i] = compiler_compile(nvrtc, sources[i], &headers[i], 1, chip, false);
    for (int k = 0; k < CUSTOM_MAX_KERNELS && example->kernels[k]; k++) {
        printf("| %s, %s | sm_%d |", example->name, example->kernels[k], chip);
        for (int i = 0; i < VERSIONS; i++) {
            char *log = report_of(images[i].log, example->kernels[k]);
            int spilled = compiler_reported(log, " bytes spill stores", true);

            printf(" %d, %d |", compiler_reported(log, "Used ", false), spilled);
            has_spilled |= i == GENERATED && spilled > 0;
            free(log);
        }
        printf("\n");
    }
    for (int i = 0; i < VERSIONS; i++)
        compiler_image_free(&images[i]);
    return has_spilled;
}

/* For one chip, or for all of them if it is 0. Returns whether generated arithmetic spills. */
static bool print_all_registers(int chip)
{
    static const int chips[] = {80, 90, 100};
    const pool_module_arithmetic entry = field_entry();
    const struct nvrtc *nvrtc;
    char *header = NULL;
    bool has_spilled = false;

    MUST(driver_nvrtc_open(&nvrtc));
    MUST(arithmetic_generate(&entry, &header));
    printf(
        "\n| kernel | chip | generated: registers, spilled bytes | by hand |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        if (chip && i > 0)
            break;
        for (size_t k = 0; k < sizeof(examples) / sizeof(examples[0]); k++)
            has_spilled |= print_registers(nvrtc, examples[k], header, chip ? chip : chips[i]);
    }
    base_free(header);
    return has_spilled;
}

/* ---- the command ----------------------------------------------------------------------------- */

static uint32_t number(const char *text, uint32_t least, uint32_t most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*end || end == text || value < least || value > most) {
        fprintf(stderr, "%s: a number from %u to %u is expected\n", text, least, most);
        exit(2);
    }
    return (uint32_t)value;
}

int main(int count, char **arguments)
{
    const uint32_t log_size = count > 2 ? number(arguments[2], MIN_LOG_SIZE, MAX_LOG_SIZE) : 20;
    const uint32_t repeat = count > 3 ? number(arguments[3], 1, MAX_REPEAT) : 41;
    const char *devices = count > 1 && arguments[1][0] ? arguments[1] : NULL;
    const bool is_simulated = devices && sim_spec_is_sim(devices);
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_device *device;
    device_pool *pool;
    bool has_spilled;
    cJSON *rows;

    if (count > 1 && strcmp(arguments[1], "registers") == 0)
        return print_all_registers(0);
    rows = cJSON_CreateArray();
    device = open_device(devices, &pool);
    MUST(pool_device_get_info(device, &info));
    printf("| example | generated | by hand | ratio |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        measure_example(device, examples[i], log_size, repeat, is_simulated, rows);
    has_spilled =
        !is_simulated && print_all_registers(info.compute_major * 10 + info.compute_minor);
    write_report(count > 4 ? arguments[4] : NULL, device, rows);
    MUST(pool_destroy(&pool));
    return has_spilled;
}
