/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics of a pool in both formats: what jobs add to them, and whether Prometheus's checker
 * (promtool of the environment variable PROMTOOL, where it is installed) accepts the text.
 *
 *   test_metrics [DEVICES]
 */
#include "support/assert.h"
#include "support/pool.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOG_SIZE = 8, COUNT = 1 << LOG_SIZE, ELEMENT = 32 };

static char *text_now;

static const char *metrics_text(void)
{
    pool_text_free(&text_now);
    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text_now));
    return text_now;
}

/* The value of a sample, named with its labels as the text has them; 0 where there is none. */
static double sample(const char *name)
{
    const char *at = metrics_text();
    size_t length = strlen(name);

    for (; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, name, length) == 0 && at[length] == ' ')
            return strtod(at + length, NULL);
        if (!*at)
            break;
    }
    return 0;
}

static void transform(void)
{
    pool_ntt_domain_params domain_params = {
        .struct_size = sizeof(domain_params), .log_size = LOG_SIZE};
    pool_ntt_params params = {.struct_size = sizeof(params)};
    pool_exec exec = exec_here();
    pool_ntt_domain *domain = NULL;
    static uint8_t values[COUNT * ELEMENT];
    pool_span span = {.data = values, .count = COUNT};

    domain_params.field = pool_field_by_name("bn254_fr");
    assert_ok(pool_ntt_domain_create(&domain_params, &domain));
    params.domain = domain;
    assert_ok(pool_random_scalars(domain_params.field, 1, COUNT, POOL_FORM_STANDARD, values));
    assert_ok(pool_ntt(&params, &exec, &span, &span));
    assert_ok(pool_ntt_domain_destroy(&domain));
}

static void test_operations_are_counted(void **state)
{
    const char *calls =
        "devicepool_operations_total{device=\"0\",operation=\"ntt\",subject=\"bn254_fr\"}";
    const char *items =
        "devicepool_operation_items_total{device=\"0\",operation=\"ntt\",subject=\"bn254_fr\"}";
    const char *uploads = "devicepool_copies_total{device=\"0\",direction=\"to_device\"}";
    const char *uploaded = "devicepool_copied_bytes_total{device=\"0\",direction=\"to_device\"}";
    double calls_before, items_before, uploads_before, uploaded_before, launches_before;

    (void)state;
    transform(); /* tables and kernels */
    calls_before = sample(calls);
    items_before = sample(items);
    uploads_before = sample(uploads);
    uploaded_before = sample(uploaded);
    launches_before = sample("devicepool_launches_total{device=\"0\"}");
    transform();
    assert_true(sample(calls) == calls_before + 1);
    assert_true(sample(items) == items_before + COUNT);
    assert_true(sample(uploads) > uploads_before);
    assert_true(sample(uploaded) >= uploaded_before + COUNT * ELEMENT);
    assert_true(sample("devicepool_launches_total{device=\"0\"}") > launches_before);
    assert_true(
        sample("devicepool_operation_seconds_total{device=\"0\",operation=\"ntt\",subject=\"bn254_"
               "fr\"}") > 0);
    assert_true(sample("devicepool_device_state{device=\"0\",state=\"ready\"}") == 1);
    assert_true(sample("devicepool_memory_used_high_water_bytes{device=\"0\"}") > 0);
    assert_true(sample("devicepool_poisoned") == 0);
}

static void test_phases_are_timed_on_demand(void **state)
{
    const char *passes = "devicepool_phases_total{device=\"0\",operation=\"ntt\",phase=\"pass 1\"}";
    const char *seconds =
        "devicepool_phase_seconds_total{device=\"0\",operation=\"ntt\",phase=\"pass 1\"}";

    (void)state;
    transform();
    assert_true(sample(passes) == 0);
    assert_ok(pool_set_phase_timing(pool, 1));
    for (int i = 0; i < 300; i++) /* more than the ring has entries */
        transform();
    assert_true(sample(passes) >= 256);
    assert_true(sample(seconds) > 0);
    assert_ok(pool_set_phase_timing(pool, 0));
    assert_status(pool_set_phase_timing(pool, 2), POOL_ERR_INVALID_ARGUMENT);
}

static void test_leases_are_counted(void **state)
{
    const pool_request request = {.struct_size = sizeof(request), .label = "job"};
    double granted = sample("devicepool_leases_granted_total");
    pool_lease *lease = NULL;

    (void)state;
    assert_true(sample("devicepool_leases") == 0);
    assert_ok(pool_acquire(pool, &request, &lease));
    assert_true(sample("devicepool_leases") == 1);
    assert_true(sample("devicepool_leases_granted_total") == granted + 1);
    assert_ok(pool_release(&lease));
    assert_true(sample("devicepool_leases") == 0);
}

static void test_json_has_the_same_samples(void **state)
{
    cJSON *root, *family, *at;
    char *text = NULL;
    int samples = 0, lines = 0;

    (void)state;
    assert_ok(pool_metrics(pool, POOL_METRICS_JSON, &text));
    root = cJSON_Parse(text);
    assert_non_null(root);
    cJSON_ArrayForEach(family, cJSON_GetObjectItem(root, "metrics"))
    {
        assert_true(cJSON_IsString(cJSON_GetObjectItem(family, "name")));
        assert_true(cJSON_IsString(cJSON_GetObjectItem(family, "type")));
        assert_true(cJSON_IsString(cJSON_GetObjectItem(family, "help")));
        cJSON_ArrayForEach(at, cJSON_GetObjectItem(family, "samples"))
        {
            assert_true(cJSON_IsNumber(cJSON_GetObjectItem(at, "value")));
            assert_true(cJSON_IsObject(cJSON_GetObjectItem(at, "labels")));
            samples++;
        }
    }
    cJSON_Delete(root);
    pool_text_free(&text);
    for (const char *line = metrics_text(); *line; line = strchr(line, '\n') + 1)
        lines += *line != '#';
    assert_int_equal(samples, lines);
}

static void test_prometheus_accepts_the_text(void **state)
{
    const char *promtool = getenv("PROMTOOL");
    char command[512];
    FILE *pipe;

    (void)state;
    if (!promtool)
        skip();
    snprintf(command, sizeof(command), "%s check metrics", promtool);
    pipe = popen(command, "w");
    assert_non_null(pipe);
    assert_true(fputs(metrics_text(), pipe) >= 0);
    assert_int_equal(pclose(pipe), 0);
}

static void test_bad_arguments_are_refused(void **state)
{
    char *text = NULL;

    (void)state;
    assert_status(pool_metrics(NULL, POOL_METRICS_JSON, &text), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_metrics(pool, POOL_METRICS_JSON, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_metrics(pool, (pool_metrics_format)2, &text), POOL_ERR_INVALID_ARGUMENT);
    assert_says("format");
    assert_null(text);
}

static int close_all(void **state)
{
    pool_text_free(&text_now);
    return close_pool(state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations_are_counted),
        cmocka_unit_test(test_phases_are_timed_on_demand),
        cmocka_unit_test(test_leases_are_counted),
        cmocka_unit_test(test_json_has_the_same_samples),
        cmocka_unit_test(test_prometheus_accepts_the_text),
        cmocka_unit_test(test_bad_arguments_are_refused),
    };

    device_text = argc > 1 ? argv[1] : "sim:2";
    if (strncmp(device_text, "sim", 3) != 0) {
        if (pool_create(&pool, NULL))
            return 77;
        (void)pool_destroy(&pool);
    }
    return cmocka_run_group_tests(tests, open_pool, close_all);
}
