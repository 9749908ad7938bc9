/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile of kernels: what the executor counts for each operation of a launch, collected by
 * kernel and line, and written as text and as JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/sim/table/function.h"
#include "driver/sim/table/state.h"

enum { LISTED = 12 }; /* lines of a kernel that plain text has */

struct row {
    char *file;    /* of the source; NULL: the line is one of the PTX */
    uint32_t line; /* of the source or the PTX */
    enum sim_space space;
    enum sim_use use;
    uint64_t requests, lanes, units, ideal;
    uint32_t worst, same;
};

struct sim_profile {
    char *kernel;
    int device;
    uint64_t digest; /* of the module: kernels of two modules can have one name */
    uint64_t block_threads;
    uint32_t dynamic_shared;
    uint32_t registers, shared_bytes;
    uint32_t resident_blocks; /* per multiprocessor */
    const char *limit;
    uint64_t launches, blocks;
    struct sim_counts counts;
    struct row *rows;
    size_t row_count;
};

/* ---- collecting ------------------------------------------------------------------------------ */

void sim_requests_add(void *requests, const struct sim_access_count *count)
{
    struct sim_requests *list = requests;

    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? list->capacity * 2 : 64;
        struct sim_access_count *grown =
            list->has_failed ? NULL : base_realloc(list->items, capacity, sizeof(*grown));

        list->has_failed = !grown;
        if (!grown)
            return;
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = *count;
}

static bool is_row_of(const struct row *row, const struct sim_access_count *count)
{
    const bool has_source = count->source_line;

    return row->line == (has_source ? count->source_line : count->line) &&
           row->space == count->space && row->use == count->use &&
           (has_source ? row->file && strcmp(row->file, count->source_file) == 0 : !row->file);
}

/* The rows of a launch come in the order of the launches before, so the search begins at the one
 * after the last. */
static struct row *find_or_add_row(
    struct sim_profile *profile, const struct sim_access_count *count, size_t *next)
{
    struct row *grown;

    for (size_t i = 0; i < profile->row_count; i++) {
        const size_t at = (*next + i) % profile->row_count;

        if (is_row_of(&profile->rows[at], count)) {
            *next = at + 1;
            return &profile->rows[at];
        }
    }
    grown = base_realloc(profile->rows, profile->row_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    profile->rows = grown;
    grown += profile->row_count;
    *grown = (struct row){.line = count->source_line ? count->source_line : count->line,
        .space = count->space,
        .use = count->use};
    if (count->source_line && !(grown->file = base_strdup(count->source_file)))
        return NULL;
    *next = ++profile->row_count;
    return grown;
}

static void add_requests(struct sim_profile *profile, const struct sim_requests *requests)
{
    size_t next = 0;

    for (size_t i = 0; i < requests->count; i++) {
        const struct sim_access_count *count = &requests->items[i];
        struct row *row = find_or_add_row(profile, count, &next);

        if (!row)
            return;
        row->requests += count->requests;
        row->lanes += count->lanes;
        row->units += count->units;
        row->ideal += count->ideal;
        row->worst = count->worst > row->worst ? count->worst : row->worst;
        row->same = count->same > row->same ? count->same : row->same;
    }
}

static void add_counts(struct sim_counts *to, const struct sim_counts *from)
{
    to->warp_instructions += from->warp_instructions;
    to->lane_instructions += from->lane_instructions;
    for (int at = 0; at < SIM_CLASS_COUNT; at++) {
        to->warp_by_class[at] += from->warp_by_class[at];
        to->lane_by_class[at] += from->lane_by_class[at];
    }
}

static struct sim_profile *find_or_add(const struct sim_launch_request *work, int device)
{
    const struct sim_kernel *kernel = work->function->kernel;
    const uint64_t digest = sim_program_digest(work->module->program);
    const uint64_t threads = (uint64_t)work->block[0] * work->block[1] * work->block[2];
    struct sim_profile *grown;

    for (size_t at = 0; at < sim_state.profile_count; at++) {
        struct sim_profile *profile = &sim_state.profiles[at];

        if (profile->digest == digest && profile->device == device &&
            profile->block_threads == threads &&
            profile->dynamic_shared == work->dynamic_shared_bytes &&
            strcmp(profile->kernel, kernel->name) == 0)
            return profile;
    }
    grown = base_realloc(sim_state.profiles, sim_state.profile_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    sim_state.profiles = grown;
    grown += sim_state.profile_count;
    *grown = (struct sim_profile){.kernel = base_strdup(kernel->name),
        .device = device,
        .digest = digest,
        .block_threads = threads,
        .dynamic_shared = work->dynamic_shared_bytes,
        .registers = (uint32_t)sim_function_registers(work->function),
        .shared_bytes = kernel->shared_bytes};
    if (!grown->kernel)
        return NULL;
    grown->resident_blocks = (uint32_t)sim_function_occupancy(
        work->function, (int)threads, work->dynamic_shared_bytes, &grown->limit);
    sim_state.profile_count++;
    return grown;
}

void sim_profile_record(const struct sim_launch_request *work, int device,
    const struct sim_counts *counts, struct sim_requests *requests)
{
    struct sim_profile *profile = requests->has_failed ? NULL : find_or_add(work, device);

    if (profile) {
        profile->launches++;
        profile->blocks += (uint64_t)work->grid[0] * work->grid[1] * work->grid[2];
        add_counts(&profile->counts, counts);
        add_requests(profile, requests);
    }
    base_free(requests->items);
    *requests = (struct sim_requests){0};
}

void sim_profiles_free(void)
{
    for (size_t at = 0; at < sim_state.profile_count; at++) {
        struct sim_profile *profile = &sim_state.profiles[at];

        for (size_t i = 0; i < profile->row_count; i++)
            base_free(profile->rows[i].file);
        base_free(profile->rows);
        base_free(profile->kernel);
    }
    base_free(sim_state.profiles);
    sim_state.profiles = NULL;
    sim_state.profile_count = 0;
}

/* ---- figures --------------------------------------------------------------------------------- */

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

/* Of the warps that a multiprocessor can have. */
static double occupancy_of(const struct sim_profile *profile)
{
    const struct sim_chip *chip = sim_state.devices[profile->device].chip;
    const uint64_t warps = (profile->block_threads + SIM_WARP - 1) / SIM_WARP;

    return ratio(
        profile->resident_blocks * warps, (uint64_t)chip->threads_per_multiprocessor / SIM_WARP);
}

static uint64_t blocks_at_once(const struct sim_profile *profile)
{
    return (uint64_t)profile->resident_blocks * sim_config_of(profile->device)->multiprocessors;
}

/* The share of lanes that execute an instruction of their warp. */
static double active_lanes(const struct sim_profile *profile)
{
    return ratio(profile->counts.lane_instructions, profile->counts.warp_instructions);
}

static const char *unit_of(const struct row *row)
{
    return row->space == SIM_SPACE_SHARED ? "passes" : "sectors";
}

static const char *space_of(const struct row *row)
{
    return row->space == SIM_SPACE_SHARED ? "shared" : "global";
}

static const char *use_of(const struct row *row)
{
    return row->use == SIM_USE_ATOMIC ? "atomic" : row->use == SIM_USE_WRITE ? "write" : "read";
}

/* The rows that take most beyond the least come first. */
static int compare_rows(const void *one, const void *other)
{
    const struct row *const *a = one, *const *b = other;
    const uint64_t beyond = (*a)->units - (*a)->ideal, other_beyond = (*b)->units - (*b)->ideal;

    if (beyond != other_beyond)
        return beyond < other_beyond ? 1 : -1;
    if ((*a)->units != (*b)->units)
        return (*a)->units < (*b)->units ? 1 : -1;
    return *a < *b ? -1 : *a > *b; /* in order of the program */
}

static const struct row **sorted_rows(const struct sim_profile *profile)
{
    const struct row **rows = base_calloc(profile->row_count + 1, sizeof(struct row *));

    for (size_t i = 0; rows && i < profile->row_count; i++)
        rows[i] = &profile->rows[i];
    if (rows)
        qsort(rows, profile->row_count, sizeof(*rows), compare_rows);
    return rows;
}

/* ---- plain text ------------------------------------------------------------------------------ */

/* Appends to *text, which becomes NULL when memory runs out. */
__attribute__((format(printf, 2, 3))) static void append(char **text, const char *format, ...)
{
    va_list arguments;
    char line[600], *longer;

    if (!*text)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    longer = base_format("%s%s", *text, line);
    base_free(*text);
    *text = longer;
}

static void append_classes(char **text, const struct sim_profile *profile)
{
    const struct sim_counts *counts = &profile->counts;
    const char *before = ": ";

    for (int at = 0; at < SIM_CLASS_COUNT; at++) {
        const double share = ratio(counts->warp_by_class[at], counts->warp_instructions);

        if (share < 0.005)
            continue;
        append(text, "%s%.0f %% %s", before, 100 * share, sim_class_name((enum sim_class)at));
        before = ", ";
    }
    append(text, "\n");
}

static void append_row(char **text, const struct row *row)
{
    const char *end =
        row->file && strlen(row->file) > 40 ? row->file + strlen(row->file) - 40 : row->file;
    char where[64], what[24];

    snprintf(where, sizeof(where), "%s%s%u", end ? end : "PTX line", end ? ":" : " ", row->line);
    snprintf(what, sizeof(what), "%s %s", space_of(row), use_of(row));
    append(text, "  %-44s %-13s %10llu requests of %4.1f lanes, %5.1f %s each, least %4.1f", where,
        what, (unsigned long long)row->requests, ratio(row->lanes, row->requests),
        ratio(row->units, row->requests), unit_of(row), ratio(row->ideal, row->requests));
    if (row->space == SIM_SPACE_SHARED && row->worst > 1)
        append(text, "; %u-way bank conflict", row->worst);
    else if (row->space == SIM_SPACE_GLOBAL && row->units > row->ideal)
        append(text, "; uncoalesced, %.0f %% of the bytes are used",
            100 * ratio(row->ideal, row->units));
    if (row->same > 1)
        append(text, "; up to %u lanes at one address", row->same);
    append(text, "\n");
}

static void append_rows(char **text, const struct sim_profile *profile)
{
    const struct row **rows = sorted_rows(profile);

    if (!rows) {
        base_free(*text);
        *text = NULL;
        return;
    }
    for (size_t i = 0; i < profile->row_count && i < LISTED; i++)
        append_row(text, rows[i]);
    if (profile->row_count > LISTED)
        append(text, "  %llu more lines with accesses\n",
            (unsigned long long)(profile->row_count - LISTED));
    base_free(rows);
}

static void append_profile(char **text, const struct sim_profile *profile)
{
    append(text, "%.200s on device %d: %llu launch%s, %llu block%s of %llu threads\n",
        profile->kernel, profile->device, (unsigned long long)profile->launches,
        profile->launches == 1 ? "" : "es", (unsigned long long)profile->blocks,
        base_plural(profile->blocks), (unsigned long long)profile->block_threads);
    append(text,
        "  occupancy %.0f %%: %u blocks on a multiprocessor, limited by %s (%u registers a thread, "
        "%llu bytes of shared memory a block)\n",
        100 * occupancy_of(profile), profile->resident_blocks, profile->limit, profile->registers,
        (unsigned long long)profile->shared_bytes + profile->dynamic_shared);
    append(text, "  %.1f blocks a launch, of %llu that the device has at once\n",
        ratio(profile->blocks, profile->launches), (unsigned long long)blocks_at_once(profile));
    append(text, "  %llu instructions of warps, with %.1f of 32 lanes",
        (unsigned long long)profile->counts.warp_instructions, active_lanes(profile));
    append_classes(text, profile);
    append_rows(text, profile);
}

static char *profiles_text(void)
{
    char *text = base_strdup(sim_state.profile_count ? "" : "no kernel was profiled\n");

    for (size_t at = 0; at < sim_state.profile_count; at++)
        append_profile(&text, &sim_state.profiles[at]);
    return text;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_row(cJSON *list, const struct row *row)
{
    cJSON *one = cJSON_CreateObject();

    if (row->file)
        cJSON_AddStringToObject(one, "file", row->file);
    cJSON_AddNumberToObject(one, row->file ? "line" : "ptx_line", row->line);
    cJSON_AddStringToObject(one, "space", space_of(row));
    cJSON_AddStringToObject(one, "access", use_of(row));
    cJSON_AddNumberToObject(one, "requests", (double)row->requests);
    cJSON_AddNumberToObject(one, "lanes", (double)row->lanes);
    cJSON_AddNumberToObject(one, unit_of(row), (double)row->units);
    cJSON_AddNumberToObject(
        one, row->space == SIM_SPACE_SHARED ? "least_passes" : "least_sectors", (double)row->ideal);
    cJSON_AddNumberToObject(
        one, row->space == SIM_SPACE_SHARED ? "most_ways" : "most_sectors", row->worst);
    if (row->use == SIM_USE_ATOMIC)
        cJSON_AddNumberToObject(one, "most_lanes_of_an_address", row->same);
    if (!cJSON_AddItemToArray(list, one))
        cJSON_Delete(one);
}

static void add_profile(cJSON *list, const struct sim_profile *profile)
{
    const struct row **rows = sorted_rows(profile);
    cJSON *one = cJSON_CreateObject(), *classes, *lines;

    cJSON_AddStringToObject(one, "kernel", profile->kernel);
    cJSON_AddNumberToObject(one, "device", profile->device);
    cJSON_AddNumberToObject(one, "launches", (double)profile->launches);
    cJSON_AddNumberToObject(one, "blocks", (double)profile->blocks);
    cJSON_AddNumberToObject(one, "block_threads", (double)profile->block_threads);
    cJSON_AddNumberToObject(one, "registers", profile->registers);
    cJSON_AddNumberToObject(
        one, "shared_bytes", (double)profile->shared_bytes + profile->dynamic_shared);
    cJSON_AddNumberToObject(one, "resident_blocks", profile->resident_blocks);
    cJSON_AddNumberToObject(one, "occupancy", occupancy_of(profile));
    cJSON_AddStringToObject(one, "limited_by", profile->limit);
    cJSON_AddNumberToObject(one, "warp_instructions", (double)profile->counts.warp_instructions);
    cJSON_AddNumberToObject(one, "lane_instructions", (double)profile->counts.lane_instructions);
    classes = cJSON_AddObjectToObject(one, "warps_by_class");
    for (int at = 0; at < SIM_CLASS_COUNT; at++)
        cJSON_AddNumberToObject(
            classes, sim_class_name((enum sim_class)at), (double)profile->counts.warp_by_class[at]);
    lines = cJSON_AddArrayToObject(one, "accesses");
    for (size_t i = 0; rows && i < profile->row_count; i++)
        add_row(lines, rows[i]);
    base_free(rows);
    if (!cJSON_AddItemToArray(list, one))
        cJSON_Delete(one);
}

static char *profiles_json(void)
{
    cJSON *list = cJSON_CreateArray();
    char *printed, *text;

    for (size_t at = 0; list && at < sim_state.profile_count; at++)
        add_profile(list, &sim_state.profiles[at]);
    printed = list ? cJSON_Print(list) : NULL;
    text = printed ? base_strdup(printed) : NULL;
    cJSON_free(printed);
    cJSON_Delete(list);
    return text;
}

pool_status pool_sim_profile_text(pool_text_format format, char **text)
{
    char *made = NULL;
    pool_status status;

    if (!text)
        return base_fail_null("pool_sim_profile_text", "text");
    status =
        base_check_ranges("pool_sim_profile_text", {"format", (int64_t)format, 0, POOL_TEXT_JSON});
    if (!status)
        status = sim_lock();
    if (status)
        return status;
    if (sim_state.references == 0)
        status = base_fail(POOL_ERR_NOT_FOUND,
            "there are no simulated devices; make a pool with the device string \"sim\" first");
    else
        made = format == POOL_TEXT_JSON ? profiles_json() : profiles_text();
    pthread_mutex_unlock(&sim_state.lock);
    if (!status && !made)
        status = base_fail_memory("the profile");
    if (!status)
        *text = made;
    return status;
}
