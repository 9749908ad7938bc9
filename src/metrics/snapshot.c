/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See snapshot.h.
 */
#include "metrics/snapshot.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"

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
        add_health(root, &health))
        *text = print(root);
    cJSON_Delete(root);
    return *text ? POOL_OK : base_fail_memory("a snapshot of the pool");
}
