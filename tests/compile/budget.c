/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of kernels and their budgets: see budget.h. */
#include "budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool/module/sources.h"

const int chips[CHIPS] = {80, 90, 120};

const char *source_of(const char *file)
{
    for (size_t i = 0; i < module_sources_count; i++)
        if (strcmp(module_sources[i].name, file) == 0)
            return module_sources[i].text;
    printf("no device source %s\n", file);
    exit(1);
}

struct cost take_cost(struct compiler_image *image)
{
    struct cost cost = {.registers = compiler_reported(image->log, "Used ", false),
        .spilled_bytes = compiler_reported(image->log, " bytes spill stores", true),
        .seconds = image->seconds};

    if (cost.registers == 0) {
        printf("the compiler reports no registers:\n%s\n", image->log);
        exit(1);
    }
    if (getenv("VERBOSE"))
        printf("%s\n", image->log);
    compiler_image_free(image);
    return cost;
}

static void record(const char *subject, const char *file, const struct cost cost[CHIPS])
{
    double slowest = 0;

    for (int i = 0; i < CHIPS; i++)
        slowest = cost[i].seconds > slowest ? cost[i].seconds : slowest;
    printf("BUDGET(\"%s\", \"%s\", %d, %d, %d, %d, %d, %d, %.1f)\n", subject, file,
        cost[0].registers, cost[0].spilled_bytes, cost[1].registers, cost[1].spilled_bytes,
        cost[2].registers, cost[2].spilled_bytes, slowest);
}

static int compare(const struct budget *budgets, size_t count, const char *subject,
    const char *file, const struct cost cost[CHIPS])
{
    int failures = 0;
    const struct budget *budget = NULL;

    for (size_t i = 0; i < count; i++)
        if (strcmp(budgets[i].subject, subject) == 0 && strcmp(budgets[i].file, file) == 0)
            budget = &budgets[i];
    if (budget == NULL) {
        printf("FAIL %s of %s has no budget: record it\n", file, subject);
        return 1;
    }
    for (int i = 0; i < CHIPS; i++) {
        const struct cost *most = &budget->chip[i];

        if (cost[i].registers == 0)
            continue; /* not measured */
        bool is_over = cost[i].registers > most->registers ||
                       cost[i].spilled_bytes > most->spilled_bytes ||
                       cost[i].seconds > compiler_allowed_seconds(most->seconds);
        printf("%s %s %s sm_%d: %d registers (%d), %d bytes spilled (%d), %.1f s (%.1f)\n",
            is_over ? "FAIL" : "ok", subject, file, chips[i], cost[i].registers, most->registers,
            cost[i].spilled_bytes, most->spilled_bytes, cost[i].seconds,
            compiler_allowed_seconds(most->seconds));
        failures += is_over;
    }
    return failures;
}

int settle(const struct budget *budgets, size_t count, const char *subject, const char *file,
    const struct cost cost[CHIPS], bool is_recording)
{
    int failures = 0;

    if (is_recording)
        record(subject, file, cost);
    else
        failures = compare(budgets, count, subject, file, cost);
    fflush(stdout);
    return failures;
}
