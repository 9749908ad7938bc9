/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of kernels and their budgets: see budget.h. */
#include "budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool/module/sources.h"

static const int chips[CHIPS] = {80, 90, 120};

struct budget_run budget_start(const struct budget *rows, size_t count, int argc, char **argv)
{
    struct budget_run run = {.rows = rows,
        .count = count,
        .only = argc > 2 ? argv[2] : NULL,
        .is_recording = argc > 1 && strcmp(argv[1], "record") == 0,
        .is_complete = argc > 1 && strcmp(argv[1], "all") == 0};

    if (argc > 1 && !run.is_recording && !run.is_complete) {
        printf("usage: %s [all | record [SUBJECT]]\n", argv[0]);
        exit(2);
    }
    if (driver_nvrtc_open(&run.nvrtc)) {
        printf("skipped: %s\n", pool_last_error()->message);
        exit(77);
    }
    return run;
}

bool budget_is_requested(const struct budget_run *run, const char *subject)
{
    return run->only == NULL || strcmp(run->only, subject) == 0;
}

const char *source_of(const char *file)
{
    for (size_t i = 0; i < module_sources_count; i++)
        if (strcmp(module_sources[i].name, file) == 0)
            return module_sources[i].text;
    printf("no device source %s\n", file);
    exit(1);
}

static struct cost measure(
    const struct budget_run *run, const struct budget_source *source, int chip)
{
    struct compiler_image image = compiler_compile(
        run->nvrtc, source->text, source->headers, source->header_count, chip, false);
    struct cost cost = {.registers = compiler_reported(image.log, "Used ", false),
        .spilled_bytes = compiler_reported(image.log, " bytes spill stores", true),
        .seconds = image.seconds};

    if (cost.registers == 0) {
        printf("the compiler reports no registers:\n%s\n", image.log);
        exit(1);
    }
    if (getenv("VERBOSE"))
        printf("%s\n", image.log);
    compiler_image_free(&image);
    return cost;
}

static void record(
    const char *subject, const char *file, const struct cost cost[CHIPS], uint64_t digest)
{
    double slowest = 0;

    for (int i = 0; i < CHIPS; i++)
        slowest = cost[i].seconds > slowest ? cost[i].seconds : slowest;
    printf("BUDGET(\"%s\", \"%s\", %d, %d, %d, %d, %d, %d, %.1f, 0x%016" PRIx64 ")\n", subject,
        file, cost[0].registers, cost[0].spilled_bytes, cost[1].registers, cost[1].spilled_bytes,
        cost[2].registers, cost[2].spilled_bytes, slowest, digest);
}

static bool compare(const struct budget *budget, int chip, const struct cost *cost)
{
    const struct cost *most = &budget->chip[chip];
    bool is_over = cost->registers > most->registers || cost->spilled_bytes > most->spilled_bytes ||
                   cost->seconds > compiler_allowed_seconds(most->seconds);

    printf("%s %s %s sm_%d: %d registers (%d), %d bytes spilled (%d), %.1f s (%.1f)\n",
        is_over ? "FAIL" : "ok", budget->subject, budget->file, chips[chip], cost->registers,
        most->registers, cost->spilled_bytes, most->spilled_bytes, cost->seconds,
        compiler_allowed_seconds(most->seconds));
    return !is_over;
}

static const struct budget *row_of(
    const struct budget_run *run, const char *subject, const char *file)
{
    for (size_t i = 0; i < run->count; i++)
        if (strcmp(run->rows[i].subject, subject) == 0 && strcmp(run->rows[i].file, file) == 0)
            return &run->rows[i];
    return NULL;
}

void budget_check(struct budget_run *run, const char *subject, const char *file,
    const struct budget_source *source)
{
    const struct budget *row = row_of(run, subject, file);
    uint64_t digest;
    struct cost cost[CHIPS];

    if (!budget_is_requested(run, subject))
        return;
    digest = compiler_digest(run->nvrtc, source->text, source->headers, source->header_count);
    if (!run->is_recording && !run->is_complete && row && row->digest == digest) {
        run->unchanged++;
        return;
    }
    if (!run->is_recording && !row) {
        printf("FAIL %s of %s has no budget: record it\n", file, subject);
        run->failures++;
        return;
    }
    run->compiled++;
    for (int i = 0; i < CHIPS; i++) {
        if (source->is_for_sm90_only && chips[i] != 90 && !run->is_recording)
            continue;
        cost[i] = measure(run, source, chips[i]);
        if (!run->is_recording && !compare(row, i, &cost[i]))
            run->failures++;
    }
    if (run->is_recording)
        record(subject, file, cost, digest);
    else if (row->digest != digest)
        printf("changed since it was recorded: %s of %s, now 0x%016" PRIx64 "\n", file, subject,
            digest);
    fflush(stdout);
}

int budget_finish(const struct budget_run *run)
{
    if (!run->is_recording)
        printf("%d rows compiled, %d unchanged, %d failures\n", run->compiled, run->unchanged,
            run->failures);
    if (!run->is_recording && run->compiled + run->unchanged != (int)run->count) {
        printf("FAIL %zu rows have a budget\n", run->count);
        return 1;
    }
    return run->failures == 0 ? 0 : 1;
}
