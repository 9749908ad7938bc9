/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compile matrix of the field and curve layers: every built-in field and curve through NVRTC to
 * machine code for sm_80, sm_90 and sm_120 (curves much like another one for sm_90 only), with what
 * each may cost recorded in field_point_budgets.def and enforced. `test_compile_field_point record
 * [subject]` prints its lines again. Exit 77 without NVRTC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "zk/curve/emit_curve.h"

static const struct budget budgets[] = {
#include "field_point_budgets.def"
};

enum { BUDGETS = sizeof budgets / sizeof budgets[0] };

struct run {
    const struct nvrtc *nvrtc;
    const char *only; /* the requested subject, or NULL: all */
    bool is_recording;
    int failures;
};

/* Curves whose text is another one's but for its numbers: minutes of compiling them for two more
 * chips have never given further information. Recording measures them all. */
static bool is_twin(const char *subject)
{
    static const char *const twins[] = {
        "bls12_377_g1", "bls12_377_g2", "bw6_761_g2", "vesta", "grumpkin"};

    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++)
        if (strcmp(subject, twins[i]) == 0)
            return true;
    return false;
}

static void check(
    struct run *run, const char *subject, const char *kernels, const struct compiler_header *text)
{
    struct cost cost[CHIPS] = {{0}};

    if (run->only != NULL && strcmp(run->only, subject) != 0)
        return;
    for (int i = 0; i < CHIPS; i++) {
        if (is_twin(subject) && chips[i] != 90 && !run->is_recording)
            continue;
        struct compiler_image image =
            compiler_compile(run->nvrtc, compiler_test_kernels(kernels), text, 1, chips[i], false);
        cost[i] = take_cost(&image);
    }
    run->failures += settle(budgets, BUDGETS, subject, kernels, cost, run->is_recording);
}

static void check_field(struct run *run, const pool_field *field)
{
    char *generated = compiler_field_header(field, "fq");
    const struct compiler_header text = {"fq.cuh", generated};

    check(run, pool_field_name(field), "field_kernels.cu", &text);
    free(generated);
}

static void check_curve(struct run *run, const pool_curve *curve)
{
    char *generated = NULL;

    if (curve_emit_of(curve, &generated)) {
        printf("%s\n", pool_last_error()->message);
        exit(1);
    }
    const struct compiler_header text = {"curve.cuh", generated};
    check(run, pool_curve_name(curve), "point_kernels.cu", &text);
    free(generated);
}

int main(int argc, char **argv)
{
    struct run run = {.is_recording = argc > 1 && strcmp(argv[1], "record") == 0,
        .only = argc > 2 ? argv[2] : NULL};

    if (driver_nvrtc_open(&run.nvrtc)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    for (size_t i = 0; i < pool_field_count(); i++)
        check_field(&run, pool_field_at(i));
    for (size_t i = 0; i < pool_curve_count(); i++)
        check_curve(&run, pool_curve_at(i));
    for (size_t i = 0; i < BUDGETS && !run.is_recording; i++)
        if (!pool_field_by_name(budgets[i].subject) && !pool_curve_by_name(budgets[i].subject)) {
            printf("FAIL the budget of %s is for nothing\n", budgets[i].subject);
            run.failures++;
        }
    return run.failures == 0 ? 0 : 1;
}
