/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator sees of worker processes: in the metrics, in the descriptions of a pool and of a
 * device, as text and as JSON; and the limits that an operator can set.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "support/assert.h"
#include "driver/worker/worker.h"

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
    for (int i = 0; i < 600000; i++) {
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

static long limit_of(pid_t pid, const char *name)
{
    char path[64], line[256];
    long limit = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            limit = strtol(line + strlen(name), NULL, 10);
    fclose(file);
    return limit;
}

/* Sanitizers set the limit of core files to 0. */
static void keep_core_limit(const char *variable)
{
    const char *options = getenv(variable);
    char text[4096];

    snprintf(text, sizeof(text), "%s:disable_coredump=0", options ? options : "");
    setenv(variable, text, 1);
}

static void test_limits(void **state)
{
    const struct rlimit core = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    struct rlimit before;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_CORE, &before), 0);
    if (before.rlim_max == RLIM_INFINITY)
        assert_int_equal(setrlimit(RLIMIT_CORE, &core), 0);
    open_pool("workers:sim:1,mem=512M");
    assert_int_equal(limit_of(status_of(0).pid, "Max core file size"), 1);
    assert_int_equal(
        getpriority(PRIO_PROCESS, (id_t)status_of(0).pid), getpriority(PRIO_PROCESS, 0));
    assert_ok(pool_destroy(&pool));
    setenv("DEVICEPOOL_WORKER_LIMITS", "core=inherit,files=300,nice=19", 1);
    keep_core_limit("ASAN_OPTIONS");
    keep_core_limit("TSAN_OPTIONS");
    open_pool("workers:sim:1,mem=512M");
    if (before.rlim_max == RLIM_INFINITY)
        assert_int_equal(limit_of(status_of(0).pid, "Max core file size"), 4096);
    assert_int_equal(limit_of(status_of(0).pid, "Max open files"), 300);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)status_of(0).pid), 19);
    assert_ok(pool_destroy(&pool));
    assert_int_equal(setrlimit(RLIMIT_CORE, &before), 0);
}

/* A limit that cannot be set is the cause of a device that cannot be used. */
static void test_wrong_limits(void **state)
{
    static const char *const texts[] = {
        "core", "core=0", "files=0", "files=x", "nice=20", "nice=1x", "nice=1,memory=5", ","};
    const pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:1,mem=512M"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        setenv("DEVICEPOOL_WORKER_LIMITS", texts[i], 1);
        if (!pool_create(&pool, &params)) {
            pool_device_info info = {.struct_size = sizeof(info)};
            pool_device *device;

            assert_ok(pool_device_at(pool, 0, &device));
            assert_ok(pool_device_get_info(device, &info));
            assert_int_equal(info.state, POOL_DEVICE_UNUSABLE);
            assert_non_null(strstr(status_of(0).cause, "DEVICEPOOL_WORKER_LIMITS"));
            assert_ok(pool_destroy(&pool));
        } else {
            assert_says("DEVICEPOOL_WORKER_LIMITS");
        }
    }
}

static int clear_limits(void **state)
{
    (void)state;
    return unsetenv("DEVICEPOOL_WORKER_LIMITS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_metrics), cmocka_unit_test(test_json),
        cmocka_unit_test(test_text), cmocka_unit_test(test_none),
        cmocka_unit_test_teardown(test_limits, clear_limits),
        cmocka_unit_test_teardown(test_wrong_limits, clear_limits)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
