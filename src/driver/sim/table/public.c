/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of <devicepool/sim.h>.
 */
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "driver/sim/table/state.h"

_Static_assert(POOL_SIM_CLASSES == SIM_CLASS_COUNT, "the public header names every class");

static pool_status fail_not_open(void)
{
    return base_fail(POOL_ERR_NOT_FOUND,
        "there are no simulated devices; make a pool with the device string \"sim\" first");
}

pool_status pool_sim_set_faults(const char *rules)
{
    struct sim_rules parsed = {NULL, 0};
    pool_status status = sim_rules_parse(rules ? rules : "", &parsed);

    if (!status)
        status = sim_lock();
    if (status) {
        sim_rules_free(&parsed);
        return status;
    }
    sim_rules_free(&sim_state.rules);
    sim_state.rules = parsed;
    sim_state.has_program_rules = true;
    pthread_mutex_unlock(&sim_state.lock);
    return POOL_OK;
}

pool_status pool_sim_resume(void)
{
    pool_status status = sim_lock();

    if (status)
        return status;
    sim_state.hang_epoch++;
    pthread_cond_broadcast(&sim_state.changed);
    pthread_mutex_unlock(&sim_state.lock);
    return POOL_OK;
}

pool_status pool_sim_set_reports(uint32_t reports)
{
    const uint32_t all = POOL_SIM_REPORT_UNINITIALISED | POOL_SIM_REPORT_BARRIER |
                         POOL_SIM_REPORT_LEAK | POOL_SIM_REPORT_RACES | POOL_SIM_REPORT_PROFILE |
                         POOL_SIM_REPORT_UNWRITTEN;
    pool_status status;

    if (reports & ~all)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "reports 0x%x: only 0x%x is known", reports, all);
    status = sim_lock();
    if (status)
        return status;
    if (sim_state.references == 0) {
        status = fail_not_open();
    } else {
        if (!(reports & POOL_SIM_REPORT_UNWRITTEN))
            sim_written_forget();
        sim_state.reports = reports;
    }
    pthread_mutex_unlock(&sim_state.lock);
    return status;
}

uint32_t sim_reports(void)
{
    uint32_t reports = 0;

    if (sim_lock())
        return 0;
    if (sim_state.references)
        reports = sim_state.reports;
    pthread_mutex_unlock(&sim_state.lock);
    return reports;
}

pool_status pool_sim_get_last_fault(pool_sim_fault *fault)
{
    static const struct base_struct type = BASE_STRUCT(pool_sim_fault);
    pool_status status = base_struct_check(&type, "pool_sim_get_last_fault", "fault", fault);

    if (!status)
        status = sim_lock();
    if (status)
        return status;
    base_struct_write(&type, &sim_state.fault, fault);
    pthread_mutex_unlock(&sim_state.lock);
    return POOL_OK;
}

const char *pool_sim_class_name(uint32_t index)
{
    return index < POOL_SIM_CLASSES ? sim_class_name((enum sim_class)index) : "?";
}

/* ---- kernel statistics ----------------------------------------------------------------------- */

static void fill_stats(const struct sim_stats *from, pool_sim_kernel_stats *to)
{
    memset(to, 0, sizeof(*to));
    to->struct_size = sizeof(*to);
    to->kernel = from->kernel;
    to->device = from->device;
    to->launches = from->launches;
    to->blocks = from->blocks;
    to->threads = from->threads;
    to->warp_instructions = from->counts.warp_instructions;
    to->lane_instructions = from->counts.lane_instructions;
    for (int at = 0; at < POOL_SIM_CLASSES; at++)
        to->lanes_by_class[at] = from->counts.lane_by_class[at];
}

pool_status pool_sim_kernel_stats_each(pool_sim_kernel_visitor visit, void *user)
{
    pool_sim_kernel_stats stats;
    pool_status status;

    if (!visit)
        return base_fail_null("pool_sim_kernel_stats_each", "visit");
    status = sim_lock();
    if (status)
        return status;
    if (sim_state.references == 0)
        status = fail_not_open();
    for (size_t at = 0; !status && at < sim_state.stats_count; at++) {
        fill_stats(&sim_state.stats[at], &stats);
        if (visit(user, &stats))
            break;
    }
    pthread_mutex_unlock(&sim_state.lock);
    return status;
}

pool_status pool_sim_kernel_stats_reset(void)
{
    pool_status status = sim_lock();

    if (status)
        return status;
    if (sim_state.references == 0)
        status = fail_not_open();
    else
        sim_stats_free();
    pthread_mutex_unlock(&sim_state.lock);
    return status;
}

/* A string that grows; the visitor's user data. */
struct table {
    char *text;
    bool has_failed;
};

static int add_table_row(void *user, const pool_sim_kernel_stats *stats)
{
    struct table *table = user;
    char *longer = base_format("%s%-40s %6d %9llu %10llu %12llu %16llu %18llu\n", table->text,
        stats->kernel, stats->device, (unsigned long long)stats->launches,
        (unsigned long long)stats->blocks, (unsigned long long)stats->threads,
        (unsigned long long)stats->warp_instructions, (unsigned long long)stats->lane_instructions);

    if (longer) {
        base_free(table->text);
        table->text = longer;
    }
    table->has_failed = !longer;
    return table->has_failed;
}

static int add_object(void *user, const pool_sim_kernel_stats *stats)
{
    cJSON *list = user, *one = cJSON_CreateObject();

    cJSON_AddStringToObject(one, "kernel", stats->kernel);
    cJSON_AddNumberToObject(one, "device", stats->device);
    cJSON_AddNumberToObject(one, "launches", (double)stats->launches);
    cJSON_AddNumberToObject(one, "blocks", (double)stats->blocks);
    cJSON_AddNumberToObject(one, "threads", (double)stats->threads);
    cJSON_AddNumberToObject(one, "warp_instructions", (double)stats->warp_instructions);
    cJSON_AddNumberToObject(one, "lane_instructions", (double)stats->lane_instructions);
    cJSON *classes = cJSON_AddObjectToObject(one, "lanes_by_class");
    for (uint32_t at = 0; at < POOL_SIM_CLASSES; at++)
        cJSON_AddNumberToObject(
            classes, pool_sim_class_name(at), (double)stats->lanes_by_class[at]);
    if (!cJSON_AddItemToArray(list, one))
        cJSON_Delete(one);
    return 0;
}

static pool_status stats_json(char **text)
{
    cJSON *list = cJSON_CreateArray();
    pool_status status = list ? pool_sim_kernel_stats_each(add_object, list) : POOL_OK;
    char *printed = list && !status ? cJSON_Print(list) : NULL;
    char *copy = printed ? base_strdup(printed) : NULL;

    cJSON_free(printed);
    cJSON_Delete(list);
    if (!status && !copy)
        status = base_fail_memory("kernel statistics");
    if (!status)
        *text = copy;
    return status;
}

pool_status pool_sim_kernel_stats_text(pool_text_format format, char **text)
{
    struct table table = {NULL, false};
    pool_status status;

    if (!text)
        return base_fail_null("pool_sim_kernel_stats_text", "text");
    status = base_check_ranges(
        "pool_sim_kernel_stats_text", {"format", (int64_t)format, 0, POOL_TEXT_JSON});
    if (status)
        return status;
    if (format == POOL_TEXT_JSON)
        return stats_json(text);
    table.text = base_format("%-40s %6s %9s %10s %12s %16s %18s\n", "kernel", "device", "launches",
        "blocks", "threads", "warp instructions", "lane instructions");
    if (!table.text)
        return base_fail_memory("kernel statistics");
    status = pool_sim_kernel_stats_each(add_table_row, &table);
    if (!status && table.has_failed)
        status = base_fail_memory("kernel statistics");
    if (status)
        base_free(table.text);
    else
        *text = table.text;
    return status;
}

/* ---- leaks ----------------------------------------------------------------------------------- */

pool_status pool_sim_leaks(pool_text_format format, uint64_t *count, char **text)
{
    char *plain = NULL, *json = NULL;
    uint64_t number;
    pool_status status =
        base_check_ranges("pool_sim_leaks", {"format", (int64_t)format, 0, POOL_TEXT_JSON});

    if (!status)
        status = sim_lock();
    if (status)
        return status;
    if (sim_state.references > 0) {
        number = sim_leaks_list(&plain, &json);
    } else {
        number = sim_state.leak_count;
        plain = base_strdup(sim_state.leak_text ? sim_state.leak_text : "nothing\n");
        json = base_strdup(sim_state.leak_json ? sim_state.leak_json : "[]");
    }
    pthread_mutex_unlock(&sim_state.lock);
    char *asked = format == POOL_TEXT_JSON ? json : plain;
    base_free(format == POOL_TEXT_JSON ? plain : json);
    if (text && !asked)
        return base_fail_memory("the list of leaks");
    if (text)
        *text = asked;
    else
        base_free(asked);
    if (count)
        *count = number;
    return POOL_OK;
}
