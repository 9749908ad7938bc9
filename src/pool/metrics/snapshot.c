/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See snapshot.h.
 */
#include "pool/metrics/snapshot.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "pool/device/pool.h"
#include "pool/lease/statistics.h"

static bool add_health(cJSON *root, const pool_health_info *health)
{
    cJSON *object = cJSON_AddObjectToObject(root, "health");

    return object &&
           cJSON_AddStringToObject(object, "harmed", pool_error_class_name(health->harmed)) &&
           cJSON_AddNumberToObject(object, "driver_code", health->driver_code) &&
           cJSON_AddStringToObject(object, "driver_name", health->driver_name) &&
           cJSON_AddStringToObject(object, "first_cause", health->first_cause) &&
           cJSON_AddNumberToObject(object, "fault_device", health->fault_device);
}

/* Of the devices that are not ready. */
static bool add_reasons(cJSON *root, device_pool *pool)
{
    cJSON *list = cJSON_AddArrayToObject(root, "reasons");

    for (size_t i = 0; list && i < pool_device_count(pool); i++) {
        struct device_reason reason = device_reason(&pool->devices[i]);
        cJSON *object;

        if (!reason.text[0])
            continue;
        object = cJSON_CreateObject();
        if (!object || !cJSON_AddItemToArray(list, object)) {
            cJSON_Delete(object);
            return false;
        }
        if (!cJSON_AddNumberToObject(object, "device", (double)i) ||
            !cJSON_AddStringToObject(object, "reason", reason.text))
            return false;
    }
    return list != NULL;
}

static bool add_view(cJSON *list, const struct lease_view *view)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *devices;

    if (!object || !cJSON_AddItemToArray(list, object)) {
        cJSON_Delete(object);
        return false;
    }
    if (!cJSON_AddStringToObject(object, "label", view->label) ||
        !cJSON_AddNumberToObject(object, "priority", view->priority) ||
        !cJSON_AddNumberToObject(object, "bytes", (double)view->bytes) ||
        !cJSON_AddNumberToObject(object, "slots", view->slots) ||
        !cJSON_AddNumberToObject(object, "waited_seconds", (double)view->waited_ns / 1e9) ||
        !cJSON_AddNumberToObject(object, "duration_seconds", (double)view->duration_ns / 1e9))
        return false;
    if (!view->indices)
        return cJSON_AddNumberToObject(object, "device_count", view->devices) &&
               cJSON_AddBoolToObject(object, "is_head", view->is_head);
    devices = cJSON_AddArrayToObject(object, "devices");
    for (uint32_t i = 0; devices && i < view->devices; i++) {
        cJSON *index = cJSON_CreateNumber(view->indices[i]);

        if (!index || !cJSON_AddItemToArray(devices, index)) {
            cJSON_Delete(index);
            return false;
        }
    }
    return devices && cJSON_AddNumberToObject(object, "used_bytes", (double)view->used_bytes) &&
           cJSON_AddNumberToObject(object, "held_seconds", (double)view->held_ns / 1e9) &&
           cJSON_AddBoolToObject(object, "is_overdue", view->is_overdue);
}

static bool add_list(cJSON *root, const char *name, const char *name_omitted,
    const struct lease_view *views, uint32_t count, uint32_t omitted)
{
    cJSON *list = cJSON_AddArrayToObject(root, name);

    for (uint32_t i = 0; list && i < count; i++)
        if (!add_view(list, &views[i]))
            return false;
    return list && cJSON_AddNumberToObject(root, name_omitted, omitted);
}

static bool add_leases(cJSON *root, device_pool *pool)
{
    struct lease_views *views = lease_views_read(pool);
    bool is_added = views &&
                    add_list(root, "leases", "leases_omitted", views->held, views->held_count,
                        views->held_omitted) &&
                    add_list(root, "requests", "requests_omitted", views->waiting,
                        views->waiting_count, views->waiting_omitted);

    base_free(views);
    return is_added;
}

/* cJSON's allocator is the C library's; pool_text_free's is the library's. */
static char *print(const cJSON *root)
{
    char *printed = cJSON_PrintUnformatted(root);
    char *text = printed ? base_calloc(strlen(printed) + 2, 1) : NULL;

    if (text) {
        strcpy(text, printed);
        strcat(text, "\n");
    }
    free(printed);
    return text;
}

pool_status metrics_snapshot(device_pool *pool, char **text)
{
    pool_health_info health = {.struct_size = sizeof(health)};
    char *metrics = NULL;
    cJSON *root;
    pool_status status = pool_get_health(pool, &health);

    if (!status)
        status = pool_metrics(pool, POOL_METRICS_JSON, &metrics);
    if (status)
        return status;
    root = cJSON_Parse(metrics);
    pool_text_free(&metrics);
    *text = NULL;
    if (root && cJSON_AddNumberToObject(root, "pid", getpid()) &&
        cJSON_AddNumberToObject(root, "unix_time", (double)time(NULL)) &&
        cJSON_AddNumberToObject(root, "monotonic_seconds", (double)base_clock_ns() / 1e9) &&
        add_health(root, &health) && add_reasons(root, pool) && add_leases(root, pool))
        *text = print(root);
    cJSON_Delete(root);
    return *text ? POOL_OK : base_fail_memory("a snapshot of the pool");
}
