/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compile matrix of the MSM: its kernels through NVRTC to machine code for sm_80, sm_90 and
 * sm_120, the sort's for scalar fields of every element size, the others for curves whose
 * coordinates have 8, 12 and 16 words, with what each may cost recorded in msm_budgets.def and
 * enforced. `test_compile_msm record` prints its lines anew. Exit 77 without NVRTC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "curve/ptx.h"
#include "device.h"
#include "module/sources.h"
#include "msm/msm.h"

enum { CHIPS = 3 };
static const int chips[CHIPS] = {80, 90, 120};

/* Those of order.cu and partition.cu know neither field nor curve. */
static const struct {
    const char *subject;
    const char *file;
} programs[] = {
    {"babybear", "msm/digits.cu"},
    {"bn254_fr", "msm/digits.cu"},
    {"secp256k1_fr", "msm/digits.cu"},
    {"bls12_377_fq", "msm/digits.cu"},
    {"", "msm/partition.cu"},
    {"", "msm/order.cu"},
    {"bn254_g1", "msm/accumulate.cu"},
    {"bn254_g1", "msm/merge.cu"},
    {"bn254_g1", "msm/reduce.cu"},
    {"bn254_g1", "msm/combine.cu"},
    {"bn254_g1", "msm/points.cu"},
    {"bn254_g1", "msm/check.cu"},
    {"bls12_381_g1", "msm/accumulate.cu"},
    {"bls12_381_g1", "msm/reduce.cu"},
    {"bn254_g2", "msm/accumulate.cu"},
    {"bn254_g2", "msm/reduce.cu"},
};

/* The most that any kernel of a file uses, and the seconds of one compilation. */
struct cost {
    int registers;
    int spilled_bytes;
    double seconds;
};

static const struct budget {
    const char *subject;
    const char *file;
    struct cost chip[CHIPS];
} budgets[] = {
#define BUDGET(subject, file, r80, s80, r90, s90, r120, s120, seconds)                             \
    {subject, file, {{r80, s80, seconds}, {r90, s90, seconds}, {r120, s120, seconds}}},
#include "msm_budgets.def"
};

static const char *source_of(const char *file)
{
    for (size_t i = 0; i < module_sources_count; i++)
        if (strcmp(module_sources[i].name, file) == 0)
            return module_sources[i].text;
    printf("no device source %s\n", file);
    exit(1);
}

/* The file after the defines that it is compiled with. */
static char *whole_source(const char *file, const pool_curve *curve)
{
    const char *text = source_of(file);
    struct msm_shape shape =
        msm_shape_for(curve ? (uint32_t)(curve->coordinates.bytes / sizeof(uint32_t)) : 0);
    char *source = base_format(
        "#define MSM_THREADS %u\n#define MSM_BLOCKS %u\n%s", shape.threads, shape.blocks, text);

    if (!source)
        exit(1);
    return source;
}

static struct cost measure(
    const struct nvrtc *nvrtc, const char *subject, const char *file, int chip)
{
    const pool_curve *curve = *subject ? pool_curve_by_name(subject) : NULL;
    const pool_field *field = curve      ? curve->scalar_field
                              : *subject ? pool_field_by_name(subject)
                                         : NULL;
    char *source = whole_source(file, curve), *curve_text = NULL;
    char *field_text = field ? device_field_text(field, "fr") : NULL;
    if (curve && curve_ptx_of(curve, &curve_text))
        exit(1);
    const struct device_text texts[] = {{"fr.cuh", field_text}, {"curve.cuh", curve_text}};
    struct device_image image = device_compile(nvrtc, source, texts,
        curve   ? 2
        : field ? 1
                : 0,
        chip, false);
    struct cost cost = {.registers = device_reported(image.log, "Used ", false),
        .spilled_bytes = device_reported(image.log, " bytes spill stores", true),
        .seconds = image.seconds};
    if (cost.registers == 0) {
        printf("the compiler reports no registers:\n%s\n", image.log);
        exit(1);
    }
    if (getenv("VERBOSE"))
        printf("%s\n", image.log);
    device_image_free(&image);
    free(field_text);
    base_free(curve_text);
    base_free(source);
    return cost;
}

static int compare(const char *subject, const char *file, const struct cost *cost)
{
    int failures = 0;
    const struct budget *budget = NULL;

    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++)
        if (strcmp(budgets[i].subject, subject) == 0 && strcmp(budgets[i].file, file) == 0)
            budget = &budgets[i];
    if (budget == NULL) {
        printf("FAIL %s of %s has no budget: record it\n", file, subject);
        return 1;
    }
    for (int i = 0; i < CHIPS; i++) {
        const struct cost *most = &budget->chip[i];
        bool is_over = cost[i].registers > most->registers ||
                       cost[i].spilled_bytes > most->spilled_bytes ||
                       cost[i].seconds > device_allowed_seconds(most->seconds);

        printf("%s %s %s sm_%d: %d registers (%d), %d bytes spilled (%d), %.1f s (%.1f)\n",
            is_over ? "FAIL" : "ok", subject, file, chips[i], cost[i].registers, most->registers,
            cost[i].spilled_bytes, most->spilled_bytes, cost[i].seconds,
            device_allowed_seconds(most->seconds));
        failures += is_over;
    }
    return failures;
}

int main(int argc, char **argv)
{
    bool is_recording = argc > 1 && strcmp(argv[1], "record") == 0;
    const struct nvrtc *nvrtc = NULL;
    int failures = 0;

    if (driver_nvrtc_open(&nvrtc)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++) {
        const char *subject = programs[p].subject, *file = programs[p].file;
        struct cost cost[CHIPS];
        double slowest = 0;

        for (int i = 0; i < CHIPS; i++) {
            cost[i] = measure(nvrtc, subject, file, chips[i]);
            slowest = cost[i].seconds > slowest ? cost[i].seconds : slowest;
        }
        if (is_recording)
            printf("BUDGET(\"%s\", \"%s\", %d, %d, %d, %d, %d, %d, %.1f)\n", subject, file,
                cost[0].registers, cost[0].spilled_bytes, cost[1].registers, cost[1].spilled_bytes,
                cost[2].registers, cost[2].spilled_bytes, slowest);
        else
            failures += compare(subject, file, cost);
        fflush(stdout);
    }
    return failures == 0 ? 0 : 1;
}
