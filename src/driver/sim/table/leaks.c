/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the live objects of the simulated driver as plain text and as JSON.
 */
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/alloc.h"
#include "base/text.h"
#include "driver/sim/table/state.h"

#define LISTED 64u /* objects that are described individually; all are counted */

struct list {
    cJSON *json;
    char *text;
    uint64_t count;
    bool has_failed;
};

static void add_item(
    struct list *list, const char *kind, int device, uint64_t bytes, uint64_t address)
{
    char line[160];

    if (list->count++ >= LISTED)
        return;
    if (bytes)
        snprintf(line, sizeof(line), "%s of %llu byte%s at 0x%llx on device %d\n", kind,
            (unsigned long long)bytes, base_plural(bytes), (unsigned long long)address, device);
    else
        snprintf(line, sizeof(line), "%s on device %d\n", kind, device);
    char *longer = base_format("%s%s", list->text ? list->text : "", line);
    cJSON *one = cJSON_CreateObject();
    if (!longer || !one || !cJSON_AddItemToArray(list->json, one)) {
        base_free(longer);
        cJSON_Delete(one);
        list->has_failed = true;
        return;
    }
    base_free(list->text);
    list->text = longer;
    cJSON_AddStringToObject(one, "kind", kind);
    cJSON_AddNumberToObject(one, "device", device);
    if (bytes) {
        cJSON_AddNumberToObject(one, "bytes", (double)bytes);
        snprintf(line, sizeof(line), "0x%llx", (unsigned long long)address);
        cJSON_AddStringToObject(one, "address", line);
    }
}

static void add_context(struct list *list, const struct sim_context *context)
{
    add_item(list,
        context->green        ? "green context"
        : context->is_primary ? "retained primary context"
                              : "context",
        context->device, 0, 0);
    for (const struct sim_stream *stream = context->streams; stream; stream = stream->next) {
        if (stream->handle)
            add_item(list, "stream", context->device, 0, 0);
    }
    for (const struct sim_event *event = context->events; event; event = event->next)
        add_item(list, "event", context->device, 0, 0);
    for (const struct sim_graph *graph = context->graphs; graph; graph = graph->next)
        add_item(list, "graph", context->device, 0, 0);
    for (const struct sim_module *module = context->modules; module; module = module->next)
        add_item(list, "module", context->device, 0, 0);
}

static void add_memory(struct list *list, const struct sim_allocation *allocation)
{
    static const char *const kinds[] = {
        [SIM_MEMORY_DEVICE] = "device memory",
        [SIM_MEMORY_POOLED] = "pool memory",
        [SIM_MEMORY_PINNED] = "pinned host memory",
        [SIM_MEMORY_REGISTERED] = "registered host memory",
        [SIM_MEMORY_MAPPED] = "mapped memory",
        [SIM_MEMORY_OPENED] = "memory of another process",
    };

    /* Variables belong to their module, and memory whose freeing is enqueued in a stream is not
     * leaked. */
    if (allocation->kind == SIM_MEMORY_VARIABLE || allocation->is_freeing)
        return;
    add_item(
        list, kinds[allocation->kind], allocation->device, allocation->bytes, allocation->base);
}

static void add_virtual(void *user, int device, uint64_t base, uint64_t bytes, unsigned handles)
{
    if (base)
        add_item(user, "reserved addresses", device, bytes, base);
    for (unsigned i = 0; i < handles; i++)
        add_item(user, "allocation without addresses", device, bytes, 0);
}

uint64_t sim_leaks_list(char **text, char **json)
{
    struct list list = {cJSON_CreateArray(), NULL, 0, false};
    char *printed;

    for (uint32_t at = 0; at < sim_state.config.device_count; at++) {
        for (struct sim_context *context = sim_state.devices[at].contexts; context;
             context = context->next)
            add_context(&list, context);
    }
    for (const struct sim_memory_pool *pool = sim_state.pools; pool; pool = pool->next) {
        if (!pool->is_destroyed)
            add_item(&list, "memory pool", pool->device, 0, 0);
    }
    for (size_t at = 0; at < sim_memory_count(); at++)
        add_memory(&list, sim_memory_item(at));
    sim_virtual_each(add_virtual, &list);
    printed = cJSON_PrintUnformatted(list.json);
    *json = printed ? base_strdup(printed) : NULL;
    cJSON_free(printed);
    cJSON_Delete(list.json);
    if (list.count > LISTED)
        *text = base_format("%sand %llu more\n", list.text ? list.text : "",
            (unsigned long long)(list.count - LISTED));
    else
        *text = base_strdup(list.text ? list.text : "nothing\n");
    base_free(list.text);
    if (list.has_failed) {
        base_free(*text);
        base_free(*json);
        *text = *json = NULL;
    }
    return list.count;
}
