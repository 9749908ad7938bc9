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
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "pool/device/counters.h"

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
    assert_status(pool_set_phase_timing(pool, 3), POOL_ERR_INVALID_ARGUMENT);
}

/* Of one kernel, whose name a transform of this size launches once. */
static void test_launches_are_timed_on_demand(void **state)
{
    const char *count = "devicepool_timed_launches_total{device=\"0\",kernel=\"ntt_pass\"}";
    const char *seconds = "devicepool_launch_seconds_total{device=\"0\",kernel=\"ntt_pass\"}";
    const char *longest = "devicepool_longest_launch_seconds{device=\"0\",kernel=\"ntt_pass\"}";
    double first, second, sum;

    (void)state;
    assert_ok(pool_set_phase_timing(pool, 1));
    transform();
    assert_true(sample(count) == 0);
    assert_ok(pool_set_phase_timing(pool, 2));
    transform();
    assert_true(sample(count) == 1);
    first = sample(seconds);
    assert_true(first > 0 && sample(longest) == first);
    transform();
    sum = sample(seconds);
    assert_true(sample(count) == 2);
    second = sum - first;
    assert_float_equal(sample(longest), second > first ? second : first, 2e-9);
    assert_ok(pool_set_phase_timing(pool, 2));
    assert_true(sample(longest) == 0);
    transform();
    assert_true(sample(longest) > 0 && sample(count) == 3);
    assert_ok(pool_set_phase_timing(pool, 0));
    transform();
    assert_true(sample(count) == 3);
}

#define WAITS(call) "devicepool_waiting_calls_total{device=\"0\",call=\"" call "\"}"

/* Calls of the driver that stop launches: loads, unloads, and the end of pinned memory. */
static void test_waiting_calls_are_counted(void **state)
{
    static const char ptx[] = ".version 7.0\n.target sm_60\n.address_size 64\n"
                              ".visible .entry nothing() { ret; }\n";
    static uint8_t memory[8192];
    const double loads = sample(WAITS("load_module")), unloads = sample(WAITS("unload_module")),
                 unregistered = sample(WAITS("unregister")), freed = sample(WAITS("free_pinned"));
    pool_module *module = NULL;
    pool_pinned *pinned = NULL;
    pool_device *device;

    (void)state;
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_module_load(device, ptx, sizeof(ptx) - 1, &module));
    assert_true(sample(WAITS("load_module")) == loads + 1);
    assert_ok(pool_module_destroy(&module));
    assert_true(sample(WAITS("unload_module")) == unloads + 1);
    assert_ok(pool_pinned_register(device, memory, sizeof(memory), 0, &pinned));
    assert_ok(pool_pinned_destroy(&pinned));
    assert_true(sample(WAITS("unregister")) == unregistered + 1);
    /* What is kept for reuse is freed by a trim. */
    assert_ok(pool_pinned_create(device, 1 << 20, 0, &pinned));
    assert_ok(pool_pinned_destroy(&pinned));
    assert_ok(pool_memory_trim(device, 0));
    assert_true(sample(WAITS("free_pinned")) > freed);
    assert_true(
        sample("devicepool_waiting_call_seconds_total{device=\"0\",call=\"load_module\"}") > 0);
    assert_true(sample(WAITS("free")) >= 0);
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

/* ---- the queue of leases ----------------------------------------------------------------------
 */

#define GRANTED "{outcome=\"granted\""
#define FAILED "{outcome=\"failed\""

static void test_waits_are_distributed(void **state)
{
    const char *bounds[] = {
        "0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "1", "3", "10", "30", "100", "300", "+Inf"};
    enum { BOUNDS = sizeof(bounds) / sizeof(bounds[0]) };
    const char *const series[] = {"devicepool_lease_wait_seconds_bucket" GRANTED ",",
        "devicepool_lease_wait_seconds_bucket" FAILED ",", "devicepool_lease_held_seconds_bucket{"};
    pool_request request = {.struct_size = sizeof(request), .slots = POOL_LEASE_SLOTS};
    double before[3][BOUNDS], rise[3][BOUNDS], held, failed;
    pool_lease *lease = NULL, *other = NULL;
    char name[128];

    (void)state;
    request.device = device;
    held = sample("devicepool_lease_held_seconds_sum");
    failed = sample("devicepool_lease_wait_seconds_sum" FAILED "}");
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 3; i++)
            for (int b = 0; b < BOUNDS; b++) {
                snprintf(name, sizeof(name), "%sle=\"%s\"}", series[i], bounds[b]);
                assert_non_null(strstr(metrics_text(), name));
                if (pass)
                    rise[i][b] = sample(name) - before[i][b];
                else
                    before[i][b] = sample(name);
            }
        if (pass)
            break;
        assert_ok(pool_acquire(pool, &request, &lease));
        request.timeout_ns = 40000000;
        assert_status(pool_acquire(pool, &request, &other), POOL_ERR_TIMEOUT);
        assert_ok(pool_release(&lease));
    }
    /* Granted at once: in every bucket. Failed after 40 ms, held for as long: from 0.1 s on. */
    assert_true(rise[0][0] == 1 && rise[0][BOUNDS - 1] == 1);
    for (int i = 1; i < 3; i++) {
        assert_true(rise[i][3] == 0); /* 0.03 */
        assert_true(rise[i][BOUNDS - 1] == 1);
        for (int b = 1; b < BOUNDS; b++)
            assert_true(rise[i][b] >= rise[i][b - 1]);
    }
    assert_true(sample("devicepool_lease_wait_seconds_sum" FAILED "}") >= failed + 0.04);
    assert_true(sample("devicepool_lease_held_seconds_sum") >= held + 0.04);
    snprintf(name, sizeof(name), "%sle=\"+Inf\"}", series[0]);
    assert_true(sample("devicepool_lease_wait_seconds_count" GRANTED "}") == sample(name));
    assert_true(sample("devicepool_leases_granted_total") == sample(name));
    snprintf(name, sizeof(name), "%sle=\"+Inf\"}", series[1]);
    assert_true(sample("devicepool_lease_wait_seconds_count" FAILED "}") == sample(name));
    assert_true(sample("devicepool_lease_requests_failed_total") == sample(name));
}

/* Requests by priority: of the first 16 that wait each alone, of the others together. */
static void test_queue_by_priority(void **state)
{
    enum { REQUESTS = 40 };
    pool_request request = {
        .struct_size = sizeof(request), .slots = POOL_LEASE_SLOTS, .timeout_ns = POOL_WAIT_FOREVER};
    pool_ticket *tickets[REQUESTS] = {NULL};
    pool_lease *lease = NULL;
    char name[96];

    (void)state;
    request.device = device;
    assert_ok(pool_acquire(pool, &request, &lease));
    for (int i = 0; i < REQUESTS; i++) {
        request.priority = (i / 2 - 10) * 100; /* -1000 to 900, two each */
        assert_ok(pool_acquire_async(pool, &request, NULL, NULL, &tickets[i]));
    }
    assert_true(sample("devicepool_lease_requests_waiting") == REQUESTS);
    assert_true(sample("devicepool_lease_longest_wait_seconds") > 0);
    for (int priority = -900; priority <= 400; priority += 100) {
        snprintf(name, sizeof(name), "devicepool_lease_queue_requests{priority=\"%d\"}", priority);
        assert_true(sample(name) == 2);
    }
    assert_true(sample("devicepool_lease_queue_requests{priority=\"900\"}") == 0);
    /* Priority 0 has waited in the test before. */
    assert_true(sample("devicepool_lease_queue_requests{priority=\"other\"}") == 8);
    for (int i = 0; i < REQUESTS; i++)
        assert_ok(pool_ticket_destroy(&tickets[i]));
    assert_true(sample("devicepool_lease_requests_waiting") == 0);
    assert_true(sample("devicepool_lease_queue_requests{priority=\"other\"}") == 0);
    assert_non_null(strstr(metrics_text(), "_queue_requests{priority=\"-1000\"} 0\n"));
    assert_ok(pool_release(&lease));
}

/* ---- faults -----------------------------------------------------------------------------------
 */

/* Each kind has a sample; when there are too many kinds, further ones share the last. */
static void test_faults_are_counted(void **state)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "sim:2"};
    pool_fault fault = {.error_class = POOL_CLASS_DEVICE, .driver_name = ""};
    device_pool *other = NULL;
    char code[16], *text = NULL;

    (void)state;
    assert_null(strstr(metrics_text(), "devicepool_faults_total{"));
    assert_ok(pool_create(&other, &params));
    assert_ok(pool_device_at(other, 1, &fault.device));
    for (int i = 0; i < 100; i++) {
        snprintf(code, sizeof(code), "code_%d", i);
        device_pool_count_fault(other, &fault, code);
        device_pool_count_fault(other, &fault, "code_0");
    }
    fault.device = NULL;
    fault.error_class = POOL_CLASS_PROCESS;
    device_pool_count_fault(other, &fault, "code_0");
    assert_ok(pool_metrics(other, POOL_METRICS_PROMETHEUS, &text));
    assert_non_null(
        strstr(text, "_faults_total{device=\"1\",class=\"device\",code=\"code_0\"} 101\n"));
    assert_non_null(
        strstr(text, "_faults_total{device=\"1\",class=\"device\",code=\"code_62\"} 1\n"));
    assert_null(strstr(text, "code_63"));
    assert_non_null(
        strstr(text, "_faults_total{device=\"unknown\",class=\"device\",code=\"other\"} 38\n"));
    pool_text_free(&text);
    assert_ok(pool_destroy(&other));
}

/* ---- the formats ------------------------------------------------------------------------------
 */

/* The conventions for names, which Prometheus's checker enforces too. */
static void assert_conventional(const cJSON *family)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(family, "name"));
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItem(family, "type"));
    const char *unit = cJSON_GetStringValue(cJSON_GetObjectItem(family, "unit"));
    const char *help = cJSON_GetStringValue(cJSON_GetObjectItem(family, "help"));
    bool is_counter = strcmp(type, "counter") == 0;
    char ending[32];

    assert_true(strncmp(name, "devicepool_", 11) == 0);
    snprintf(ending, sizeof(ending), "%s%s%s", *unit ? "_" : "", unit, is_counter ? "_total" : "");
    assert_true(strlen(name) > strlen(ending));
    assert_string_equal(name + strlen(name) - strlen(ending), ending);
    if (!*unit)
        assert_true(!strstr(name, "_seconds") && !strstr(name, "_bytes"));
    assert_true(strlen(help) > 5 && help[strlen(help) - 1] == '.');
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
        assert_conventional(family);
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
        cmocka_unit_test(test_launches_are_timed_on_demand),
        cmocka_unit_test(test_waiting_calls_are_counted),
        cmocka_unit_test(test_leases_are_counted),
        cmocka_unit_test(test_waits_are_distributed),
        cmocka_unit_test(test_queue_by_priority),
        cmocka_unit_test(test_faults_are_counted),
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
