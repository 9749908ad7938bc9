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

static void check(struct budget_run *run, const char *subject, const char *kernels,
    const struct compiler_header *text)
{
    const struct budget_source source = {.text = compiler_test_kernels(kernels),
        .headers = text,
        .header_count = 1,
        .is_for_sm90_only = is_twin(subject)};

    budget_check(run, subject, kernels, &source);
}

static void check_field(struct budget_run *run, const pool_field *field)
{
    char *generated = compiler_field_header(field, "fq");
    const struct compiler_header text = {"fq.cuh", generated};

    check(run, pool_field_name(field), "field_kernels.cu", &text);
    free(generated);
}

static void check_curve(struct budget_run *run, const pool_curve *curve)
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
    struct budget_run run = budget_start(budgets, BUDGETS, argc, argv);

    for (size_t i = 0; i < pool_field_count(); i++)
        check_field(&run, pool_field_at(i));
    for (size_t i = 0; i < pool_curve_count(); i++)
        check_curve(&run, pool_curve_at(i));
    return budget_finish(&run);
}
