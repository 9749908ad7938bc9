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

struct set_check {
    struct budget_run *run;
    const char *set;
};

static pool_status check_program(void *user, const struct module_program *program)
{
    const struct set_check *check = user;
    struct compiler_header headers[3];

    for (uint32_t i = 0; i < program->text_count; i++)
        headers[i] = (struct compiler_header){program->texts[i].name, program->texts[i].text};
    const struct budget_source source = {
        .text = source_of(program->file), .headers = headers, .header_count = program->text_count};
    budget_check(check->run, check->set, program->file, &source);
    return POOL_OK;
}

static void check_set(struct budget_run *run, const char *name)
{
    struct set_check check = {run, name};
    pool_poseidon *set;

    if (pool_poseidon_by_name(name, &set) || poseidon_each_program(set, check_program, &check)) {
        printf("%s: %s\n", name, pool_last_error()->message);
        exit(1);
    }
    pool_poseidon_destroy(&set);
}

int main(int argc, char **argv)
{
    struct budget_run run = budget_start(budgets, BUDGETS, argc, argv);

    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        check_set(&run, sets[i]);
    return budget_finish(&run);
}
