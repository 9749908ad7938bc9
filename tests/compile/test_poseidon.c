/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compile matrix of Poseidon: the kernels of sets narrow and wide, over fields of every kind,
 * through NVRTC to machine code for sm_80, sm_90 and sm_120, with what each may cost recorded in
 * poseidon_budgets.def and enforced. `test_compile_poseidon record [set]` prints its lines anew.
 * Exit 77 without NVRTC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "module/sources.h"
#include "poseidon/launch.h"

enum { CHIPS = 3 };
static const int chips[CHIPS] = {80, 90, 120};

static const char *const sets[] = {"circom-bn254-t3", "circom-bn254-t12", "plonky2-goldilocks-t12",
    "plonky3-babybear-t16", "poseidon2-horizen-bn254-t3", "poseidon2-horizen-goldilocks-t12",
    "poseidon2-plonky3-babybear-t24"};

/* The most that any kernel of a file uses, and the seconds of one compilation. */
struct cost {
    int registers;
    int spilled_bytes;
    double seconds;
};

static const struct budget {
    const char *set;
    const char *file;
    struct cost chip[CHIPS];
} budgets[] = {
#define BUDGET(set, file, r80, s80, r90, s90, r120, s120, seconds)                                 \
    {set, file, {{r80, s80, seconds}, {r90, s90, seconds}, {r120, s120, seconds}}},
#include "poseidon_budgets.def"
};

static const char *source_of(const char *file)
{
    for (size_t i = 0; i < module_sources_count; i++)
        if (strcmp(module_sources[i].name, file) == 0)
            return module_sources[i].text;
    printf("no device source %s\n", file);
    exit(1);
}

static struct cost measure(
    const struct nvrtc *nvrtc, const struct module_program *program, int chip)
{
    struct device_text texts[3];

    for (uint32_t i = 0; i < program->text_count; i++)
        texts[i] = (struct device_text){program->texts[i].name, program->texts[i].text};
    struct device_image image =
        device_compile(nvrtc, source_of(program->file), texts, program->text_count, chip, false);
    struct cost cost = {.registers = device_reported(image.log, "Used ", false),
        .spilled_bytes = device_reported(image.log, " bytes spill stores", true),
        .seconds = image.seconds};

    if (cost.registers == 0) {
        printf("the compiler reports no registers:\n%s\n", image.log);
        exit(1);
    }
    device_image_free(&image);
    return cost;
}

static int compare(const char *set, const char *file, const struct cost *cost)
{
    const struct budget *budget = NULL;
    int failures = 0;

    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++)
        if (strcmp(budgets[i].set, set) == 0 && strcmp(budgets[i].file, file) == 0)
            budget = &budgets[i];
    if (budget == NULL) {
        printf("FAIL %s of %s has no budget: record it\n", file, set);
        return 1;
    }
    for (int i = 0; i < CHIPS; i++) {
        const struct cost *most = &budget->chip[i];
        bool is_over = cost[i].registers > most->registers ||
                       cost[i].spilled_bytes > most->spilled_bytes ||
                       cost[i].seconds > device_allowed_seconds(most->seconds);

        printf("%s %s %s sm_%d: %d registers (%d), %d bytes spilled (%d), %.1f s (%.1f)\n",
            is_over ? "FAIL" : "ok", set, file, chips[i], cost[i].registers, most->registers,
            cost[i].spilled_bytes, most->spilled_bytes, cost[i].seconds,
            device_allowed_seconds(most->seconds));
        failures += is_over;
    }
    return failures;
}

struct check {
    const struct nvrtc *nvrtc;
    const char *set;
    bool is_recording;
    int failures;
};

static pool_status check_program(void *user, const struct module_program *program)
{
    struct check *check = user;
    struct cost cost[CHIPS];
    double slowest = 0;

    for (int i = 0; i < CHIPS; i++) {
        cost[i] = measure(check->nvrtc, program, chips[i]);
        slowest = cost[i].seconds > slowest ? cost[i].seconds : slowest;
    }
    if (check->is_recording)
        printf("BUDGET(\"%s\", \"%s\", %d, %d, %d, %d, %d, %d, %.1f)\n", check->set, program->file,
            cost[0].registers, cost[0].spilled_bytes, cost[1].registers, cost[1].spilled_bytes,
            cost[2].registers, cost[2].spilled_bytes, slowest);
    else
        check->failures += compare(check->set, program->file, cost);
    fflush(stdout);
    return POOL_OK;
}

static int check_set(const struct nvrtc *nvrtc, const char *name, bool is_recording)
{
    struct check check = {.nvrtc = nvrtc, .set = name, .is_recording = is_recording};
    pool_poseidon *set;

    if (pool_poseidon_get(name, &set) || poseidon_each_program(set, check_program, &check)) {
        printf("%s: %s\n", name, pool_last_error()->message);
        return 1;
    }
    pool_poseidon_destroy(&set);
    return check.failures;
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
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (argc < 3 || strcmp(argv[2], sets[i]) == 0)
            failures += check_set(nvrtc, sets[i], is_recording);
    return failures == 0 ? 0 : 1;
}
