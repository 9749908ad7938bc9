/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compile matrix of Poseidon: the kernels of sets narrow and wide, over fields of every kind,
 * through NVRTC to machine code for sm_80, sm_90 and sm_120, with what each may cost recorded in
 * poseidon_budgets.def and enforced. `test_compile_poseidon record [set]` prints its lines again.
 * Exit 77 without NVRTC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "zk/poseidon/kernels.h"

static const char *const sets[] = {"circom-bn254-t3", "circom-bn254-t12", "plonky2-goldilocks-t12",
    "plonky3-babybear-t16", "poseidon2-horizen-bn254-t3", "poseidon2-horizen-goldilocks-t12",
    "poseidon2-plonky3-babybear-t24"};

static const struct budget budgets[] = {
#include "poseidon_budgets.def"
};

enum { BUDGETS = sizeof budgets / sizeof budgets[0] };

static struct cost measure(
    const struct nvrtc *nvrtc, const struct module_program *program, int chip)
{
    struct compiler_header texts[3];

    for (uint32_t i = 0; i < program->text_count; i++)
        texts[i] = (struct compiler_header){program->texts[i].name, program->texts[i].text};
    struct compiler_image image =
        compiler_compile(nvrtc, source_of(program->file), texts, program->text_count, chip, false);
    struct cost cost = take_cost(&image);
    return cost;
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

    for (int i = 0; i < CHIPS; i++)
        cost[i] = measure(check->nvrtc, program, chips[i]);
    check->failures +=
        settle(budgets, BUDGETS, check->set, program->file, cost, check->is_recording);
    return POOL_OK;
}

static int check_set(const struct nvrtc *nvrtc, const char *name, bool is_recording)
{
    struct check check = {.nvrtc = nvrtc, .set = name, .is_recording = is_recording};
    pool_poseidon *set;

    if (pool_poseidon_by_name(name, &set) || poseidon_each_program(set, check_program, &check)) {
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
