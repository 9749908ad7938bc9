/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compile matrix of the field and curve layers: every built-in field and curve through NVRTC to
 * machine code for sm_80, sm_90 and sm_120 (curves much like another one for sm_90 only), with what
 * each may cost recorded in field_point_budgets.def and enforced. `test_compile_field_point record
 * [subject]` prints its lines anew. Exit 77 without NVRTC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curve/ptx.h"
#include "device.h"

enum { CHIPS = 3 };
static const int chips[CHIPS] = {80, 90, 120};

/* The most that any kernel of a subject uses; the seconds are of one compilation of all of them,
 * and the budget's leave room for a slower machine. */
struct cost {
    int registers;
    int spilled_bytes;
    double seconds;
};

static const struct budget {
    const char *subject;
    struct cost chip[CHIPS];
} budgets[] = {
#define BUDGET(subject, r80, s80, r90, s90, r120, s120, seconds)                                   \
    {subject, {{r80, s80, seconds}, {r90, s90, seconds}, {r120, s120, seconds}}},
#include "field_point_budgets.def"
};

enum { BUDGETS = sizeof budgets / sizeof budgets[0] };

struct run {
    const struct nvrtc *nvrtc;
    const char *only; /* the subject asked for, or NULL: all */
    bool is_recording;
    int failures;
    bool seen[BUDGETS];
};

/* Curves whose text is another one's but for its numbers: minutes of compiling them for two more
 * chips have never told anything new. Recording measures them all. */
static bool is_twin(const char *subject)
{
    static const char *const twins[] = {
        "bls12_377_g1", "bls12_377_g2", "bw6_761_g2", "vesta", "grumpkin"};

    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++)
        if (strcmp(subject, twins[i]) == 0)
            return true;
    return false;
}

/* The largest number that stands before or after `word` in the compiler's report. */
static int largest_after(const char *log, const char *word)
{
    int largest = 0;
    for (const char *at = strstr(log, word); at != NULL; at = strstr(at + 1, word)) {
        int number = atoi(at + strlen(word));
        largest = number > largest ? number : largest;
    }
    return largest;
}

static int largest_before(const char *log, const char *word)
{
    int largest = 0;
    for (const char *at = strstr(log, word); at != NULL; at = strstr(at + 1, word)) {
        const char *digits = at;
        while (digits > log && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        int number = atoi(digits);
        largest = number > largest ? number : largest;
    }
    return largest;
}

static struct cost measure(
    const struct run *run, const char *source, const struct device_text *text, int chip)
{
    struct device_image image = device_compile(run->nvrtc, source, text, 1, chip, false);
    struct cost cost = {.registers = largest_after(image.log, "Used "),
        .spilled_bytes = largest_before(image.log, " bytes spill stores"),
        .seconds = image.seconds};
    if (cost.registers == 0) {
        printf("the compiler reports no registers:\n%s\n", image.log);
        exit(1);
    }
    device_image_free(&image);
    return cost;
}

static void compare(struct run *run, const char *subject, const struct cost *cost)
{
    size_t index = 0;
    while (index < BUDGETS && strcmp(budgets[index].subject, subject) != 0)
        index++;
    if (index == BUDGETS) {
        printf("FAIL %s has no budget: record it\n", subject);
        run->failures++;
        return;
    }
    run->seen[index] = true;
    for (int i = 0; i < CHIPS; i++) {
        const struct cost *budget = &budgets[index].chip[i];
        if (cost[i].registers == 0)
            continue; /* not measured */
        bool is_over = cost[i].registers > budget->registers ||
                       cost[i].spilled_bytes > budget->spilled_bytes ||
                       cost[i].seconds > device_allowed_seconds(budget->seconds);
        printf("%s %s sm_%d: %d registers (%d), %d bytes spilled (%d), %.1f s (%.1f)\n",
            is_over ? "FAIL" : "ok", subject, chips[i], cost[i].registers, budget->registers,
            cost[i].spilled_bytes, budget->spilled_bytes, cost[i].seconds,
            device_allowed_seconds(budget->seconds));
        run->failures += is_over;
    }
    fflush(stdout);
}

static void check(
    struct run *run, const char *subject, const char *kernels, const struct device_text *text)
{
    struct cost cost[CHIPS] = {{0}};
    double slowest = 0;
    if (run->only != NULL && strcmp(run->only, subject) != 0)
        return;
    for (int i = 0; i < CHIPS; i++) {
        if (is_twin(subject) && chips[i] != 90 && !run->is_recording)
            continue;
        cost[i] = measure(run, device_kernels(kernels), text, chips[i]);
        slowest = cost[i].seconds > slowest ? cost[i].seconds : slowest;
    }
    if (run->is_recording) {
        printf("BUDGET(\"%s\", %d, %d, %d, %d, %d, %d, %.1f)\n", subject, cost[0].registers,
            cost[0].spilled_bytes, cost[1].registers, cost[1].spilled_bytes, cost[2].registers,
            cost[2].spilled_bytes, slowest);
        fflush(stdout);
    } else {
        compare(run, subject, cost);
    }
}

static void check_curve(struct run *run, const pool_curve *curve)
{
    char *generated = NULL;
    if (curve_ptx_of(curve, &generated)) {
        printf("%s\n", pool_last_error()->message);
        exit(1);
    }
    const struct device_text text = {"curve.cuh", generated};
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
    for (size_t i = 0; i < pool_field_count(); i++) {
        char *generated = device_field_text(pool_field_at(i), "fq");
        const struct device_text text = {"fq.cuh", generated};
        check(&run, pool_field_name(pool_field_at(i)), "field_kernels.cu", &text);
        free(generated);
    }
    for (size_t i = 0; i < pool_curve_count(); i++)
        check_curve(&run, pool_curve_at(i));
    for (size_t i = 0; i < BUDGETS && !run.is_recording; i++)
        if (!run.seen[i]) {
            printf("FAIL the budget of %s is for nothing\n", budgets[i].subject);
            run.failures++;
        }
    return run.failures == 0 ? 0 : 1;
}
