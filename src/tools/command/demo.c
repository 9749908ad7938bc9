/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool demo: checked example jobs on every device of this host. Unlike the other commands it
 * falls back to simulated devices on a host without a GPU, and says so.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

struct demo {
    device_pool *pool;
    const char *data_directory;
    struct demo_data data;
    struct demo_job *jobs;
    size_t count;
    double seconds;
    pool_status fallback_status;
    char fallback_reason[400]; /* "" unless the demo fell back to simulated devices */
};

/* Opens the requested devices or all GPUs, or else two simulated devices. CLI_GO or an exit code.
 */
static int open_devices(struct demo *demo, const struct cli_line *line)
{
    const struct cli_line simulated = {.devices = "sim:2", .as_json = line->as_json};
    pool_setting named = {.struct_size = sizeof(named)};
    pool_status status = pool_setting_by_name("DEVICEPOOL_DEVICES", &named);

    if (status || line->devices || named.value[0])
        return cli_open_pool(line, 0, &demo->pool);
    cli_watch_begin();
    status = pool_create(&demo->pool, NULL);
    cli_watch_end();
    cli_watch_pool(demo->pool);
    if (!status)
        return CLI_GO;
    if (pool_status_class(status) != POOL_CLASS_HOST)
        return cli_fail(status, line->as_json);
    demo->fallback_status = status;
    snprintf(
        demo->fallback_reason, sizeof(demo->fallback_reason), "%s", pool_last_error()->message);
    return cli_open_pool(&simulated, 0, &demo->pool);
}

static void print_devices(struct demo *demo)
{
    static const struct cli_column columns[] = {
        {"device", "device", CLI_SHOW_STRING},
        {"compute", "compute", CLI_SHOW_STRING},
        {"multiprocessors", "multiprocessors", CLI_SHOW_NUMBER},
        {"memory", "memory", CLI_SHOW_BYTES},
        {"state", "state", CLI_SHOW_STRING},
    };
    cJSON *rows = cJSON_CreateArray();
    struct cli_device next = {0};

    while (cli_next_device(demo->pool, &next)) {
        const pool_device_info *info = &next.info;
        cJSON *row = cli_add_row(rows);
        char compute[32];

        snprintf(compute, sizeof(compute), "%d.%d", info->compute_major, info->compute_minor);
        cJSON_AddStringToObject(row, "device", next.label);
        cJSON_AddStringToObject(row, "compute", compute);
        cJSON_AddNumberToObject(row, "multiprocessors", info->multiprocessors);
        cJSON_AddNumberToObject(row, "memory", (double)info->total_bytes);
        cJSON_AddStringToObject(row, "state", next.is_usable ? "ready" : info->reason);
    }
    cli_print_table(rows, columns, CLI_COUNT_OF(columns), stdout);
    cJSON_Delete(rows);
}

/* The compiler of the first device that can be used. */
static void print_compiler(struct demo *demo)
{
    pool_component compiler = {.status = POOL_ERR_NO_COMPILER};
    struct cli_device next = {0};
    int is_found = 0;

    while (!is_found && cli_next_device(demo->pool, &next))
        is_found = next.is_usable && !pool_device_get_compiler(next.device, &compiler);
    if (!is_found)
        return;
    if (compiler.status)
        printf("\nThis host has no usable NVRTC, so the library uses its prebuilt kernels.\n%s\n",
            compiler.message);
    else
        printf("\nNVRTC %d.%d compiles the kernels (%s).\n", compiler.version / 1000,
            compiler.version % 1000 / 10, compiler.path);
    if (!compiler.status && *compiler.message)
        printf("%s\n", compiler.message);
}

static void print_opening(struct demo *demo)
{
    printf("%sdevicepool %s%s\n\n", cli_colour(stdout, CLI_BOLD), pool_version_text(),
        cli_colour(stdout, CLI_PLAIN));
    if (*demo->fallback_reason)
        printf(
            "%sThis host has no GPU%s, so the demo uses two simulated devices, which execute the\n"
            "same kernels on the host's processor.\n%s(%.*s)%s\n\n",
            cli_colour(stdout, CLI_YELLOW), cli_colour(stdout, CLI_PLAIN),
            cli_colour(stdout, CLI_DIM), (int)strcspn(demo->fallback_reason, ":"),
            demo->fallback_reason, cli_colour(stdout, CLI_PLAIN));
    if (*demo->fallback_reason) {
        puts("To use a GPU:");
        cli_explain_host(stdout, demo->fallback_status);
        putchar('\n');
    }
    print_devices(demo);
    print_compiler(demo);
    putchar('\n');
    fflush(stdout);
}

static int print_results(struct demo *demo, const struct cli_line *line)
{
    static const struct cli_column columns[] = {
        {"operation", "operation", CLI_SHOW_STRING},
        {"device", "device", CLI_SHOW_NUMBER},
        {"items", "size", CLI_SHOW_STRING},
        {"first_use_seconds", "first use", CLI_SHOW_DURATION},
        {"seconds", "time", CLI_SHOW_DURATION},
        {"checked", "checked", CLI_SHOW_CHECK},
    };
    cJSON *rows = cJSON_CreateArray();
    char number[CLI_NUMBER];
    char string[160];
    size_t correct = 0;
    int code = CLI_OK;

    for (size_t i = 0; i < demo->count; i++) {
        const struct demo_job *job = &demo->jobs[i];
        cJSON *row = cli_add_row(rows);

        cJSON_AddStringToObject(row, "operation", job->title);
        if (job->device) {
            cJSON_AddNumberToObject(row, "device", pool_device_index(job->device));
            cJSON_AddStringToObject(row, "uuid", pool_device_uuid(job->device));
        }
        cJSON_AddNumberToObject(row, "size", (double)job->size);
        snprintf(string, sizeof(string), "%llu %s", (unsigned long long)job->size, job->unit);
        cJSON_AddStringToObject(row, "items", string);
        cJSON_AddNumberToObject(row, "first_use_seconds", job->first_use);
        cJSON_AddNumberToObject(row, "seconds", job->seconds);
        cJSON_AddBoolToObject(row, "checked", job->is_correct);
        if (*job->failure)
            cJSON_AddStringToObject(row, "failure", job->failure);
        correct += job->is_correct != 0;
        if (!code && !job->is_correct)
            code = job->status ? cli_exit_code(job->status) : CLI_DEVICE;
    }
    cli_print_rows(rows, columns, CLI_COUNT_OF(columns), line);
    if (!line->as_json && !line->is_quiet)
        printf(
            "\n%s%zu of %zu correct%s in %s, distributed over %zu device%s by pool_next_device.\n",
            cli_colour(stdout, code ? CLI_RED : CLI_GREEN), correct, demo->count,
            cli_colour(stdout, CLI_PLAIN), cli_duration(demo->seconds, number, sizeof(number)),
            pool_usable_count(demo->pool), pool_usable_count(demo->pool) == 1 ? "" : "s");
    return code;
}

/* Creates every kind of job once, and again until each device has one. */
static void create_jobs(struct demo *demo)
{
    size_t devices = pool_usable_count(demo->pool);
    size_t rounds = devices > DEMO_JOBS ? (devices + DEMO_JOBS - 1) / DEMO_JOBS : 1;

    demo->count = rounds * DEMO_JOBS;
    demo->jobs = bench_alloc(demo->count, sizeof(*demo->jobs));
    for (size_t i = 0; i < rounds; i++)
        demo_jobs(demo->jobs + i * DEMO_JOBS);
}

static int run_all(struct demo *demo, const struct cli_line *line)
{
    double begin = bench_now();
    int code = demo_data_open(demo->data_directory, &demo->data);

    if (code == CLI_GO) {
        create_jobs(demo);
        cli_watch_begin();
        demo_run(demo->pool, &demo->data, demo->jobs, demo->count);
        cli_watch_end();
        demo->seconds = bench_now() - begin;
        code = print_results(demo, line);
        free(demo->jobs);
    }
    demo_data_close(&demo->data);
    return code;
}

int cli_run_demo(const struct cli_command *self, struct cli_line *line)
{
    char beside[PATH_MAX];
    struct demo demo = {.data_directory = CLI_DATA_DIRECTORY};
    const struct cli_option options[] = {
        {0, "data", "DIR", "read the input files from DIR (default: as installed)", CLI_STRING,
            &demo.data_directory, NULL},
    };
    int code;

    if (cli_find_beside(CLI_RELATIVE_DATA_DIRECTORY, beside, sizeof(beside)))
        demo.data_directory = beside;
    code = cli_parse(self, options, CLI_COUNT_OF(options), line);
    if (code != CLI_GO)
        return code;
    code = open_devices(&demo, line);
    if (code != CLI_GO)
        return code;
    if (!line->as_json && !line->is_quiet)
        print_opening(&demo);
    code = run_all(&demo, line);
    return cli_close_pool(&demo.pool, code, 0);
}
