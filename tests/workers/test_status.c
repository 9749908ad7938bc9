/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator sees of worker processes: in the metrics, in the descriptions of a pool and of a
 * device, as text and as JSON.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "support/assert.h"
#include "worker/worker.h"

static device_pool *pool;

static void open_pool(const char *devices)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};

    assert_ok(pool_create(&pool, &params));
}

static struct worker_status status_of(int ordinal)
{
    struct worker_status status;

    assert_true(worker_get_status(ordinal, &status));
    return status;
}

/* Ends a worker and waits until its replacement runs. */
static void replace(int ordinal)
{
    unsigned generation = status_of(ordinal).generation;

    assert_int_equal(kill(status_of(ordinal).pid, SIGKILL), 0);
    for (int i = 0; i < 60000; i++) {
        struct worker_status status = status_of(ordinal);

        if (status.generation > generation && status.state == WORKER_STATE_RUNNING)
            return;
        usleep(1000);
    }
    fail_msg("the worker of device %d was not replaced", ordinal);
}

/* The text has this line. */
static void assert_line(const char *text, const char *format, const char *values, long number)
{
    char line[160];

    snprintf(line, sizeof(line), format, values, number);
    if (!strstr(text, line))
        fail_msg("\"%s\" is not in\n%s", line, text);
}

static void test_metrics(void **state)
{
    char *text = NULL;

    (void)state;
    open_pool("workers:sim:2,mem=1G");
    replace(1);
    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    for (int i = 0; i < 2; i++) {
        const char *device = i ? "{device=\"1\"}" : "{device=\"0\"}";

        assert_line(text, "\ndevicepool_worker_process_id%s %ld\n", device, status_of(i).pid);
        assert_line(text, "\ndevicepool_worker_generation%s %ld\n", device, 1 + i);
        assert_line(text, "\ndevicepool_worker_restarts_total%s %ld\n", device, i);
    }
    assert_line(text, "\ndevicepool_worker_state%s %ld\n", "{device=\"1\",state=\"running\"}", 1);
    assert_line(text, "\ndevicepool_worker_state%s %ld\n", "{device=\"1\",state=\"lost\"}", 0);
    pool_text_free(&text);
    assert_ok(pool_destroy(&pool));
}

static void assert_worker_object(const cJSON *device, int ordinal)
{
    const cJSON *worker = cJSON_GetObjectItem(device, "worker");

    assert_true(cJSON_IsObject(worker));
    assert_int_equal(cJSON_GetObjectItem(worker, "pid")->valueint, status_of(ordinal).pid);
    assert_int_equal(cJSON_GetObjectItem(worker, "generation")->valueint, 1 + ordinal);
    assert_int_equal(cJSON_GetObjectItem(worker, "restarts")->valueint, ordinal);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(worker, "state")), "running");
    assert_string_equal(
        cJSON_GetStringValue(cJSON_GetObjectItem(worker, "cause")), status_of(ordinal).cause);
}

static void test_json(void **state)
{
    char *text = NULL;
    pool_device *device;
    cJSON *root;

    (void)state;
    open_pool("workers:sim:2,mem=1G");
    replace(1);
    assert_ok(pool_describe(pool, POOL_TEXT_JSON, &text));
    root = cJSON_Parse(text);
    pool_text_free(&text);
    for (int i = 0; i < 2; i++)
        assert_worker_object(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "devices"), i), i);
    cJSON_Delete(root);
    assert_ok(pool_device_at(pool, 1, &device));
    assert_ok(pool_device_describe(device, POOL_TEXT_JSON, &text));
    root = cJSON_Parse(text);
    assert_worker_object(root, 1);
    cJSON_Delete(root);
    pool_text_free(&text);
    assert_ok(pool_destroy(&pool));
}

static void test_text(void **state)
{
    char *text = NULL, line[160];
    pool_device *device;

    (void)state;
    open_pool("workers:sim:2,mem=1G");
    replace(1);
    assert_ok(pool_describe(pool, POOL_TEXT_PLAIN, &text));
    snprintf(
        line, sizeof(line), "\n  0  %10d           1         0  running   -\n", status_of(0).pid);
    assert_non_null(strstr(text, line));
    snprintf(line, sizeof(line), "\n  1  %10d           2         1  running   worker process ",
        status_of(1).pid);
    assert_non_null(strstr(text, line));
    assert_non_null(strstr(text, "signal 9"));
    pool_text_free(&text);
    assert_ok(pool_device_at(pool, 1, &device));
    assert_ok(pool_device_describe(device, POOL_TEXT_PLAIN, &text));
    assert_line(text, "\nworker%sprocess %ld, generation 2, 1 restart, running; cause of the last",
        "    ", status_of(1).pid);
    pool_text_free(&text);
    assert_ok(pool_destroy(&pool));
}

/* A pool whose devices this process uses itself shows nothing of workers. */
static void test_none(void **state)
{
    char *text = NULL;

    (void)state;
    open_pool("sim:1,mem=1G");
    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    assert_null(strstr(text, "\ndevicepool_worker"));
    pool_text_free(&text);
    assert_ok(pool_describe(pool, POOL_TEXT_PLAIN, &text));
    assert_null(strstr(text, "worker"));
    pool_text_free(&text);
    assert_ok(pool_describe(pool, POOL_TEXT_JSON, &text));
    assert_non_null(strstr(text, "\"worker\":\tnull"));
    pool_text_free(&text);
    assert_ok(pool_destroy(&pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_metrics), cmocka_unit_test(test_json),
        cmocka_unit_test(test_text), cmocka_unit_test(test_none)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
