/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool demo: real work on every device of this host, done right. It alone among the commands
 * chooses simulated devices by itself where there is no GPU, and says so.
 */
#include <stdlib.h>
#include <string.h>

#include "demo.h"

struct demo {
    device_pool *pool;
    const char *data_folder;
    struct demo_data data;
    struct demo_job *jobs;
    size_t count;
    double seconds;
    char why_simulated[400]; /* "" unless the demo chose that itself */
};

/* GPUs, or what was asked for, or else two simulated devices. CLI_GO or an exit code. */
static int open_pool(struct demo *demo, const struct cli_line *line)
{
    const struct cli_line simulated = {.devices = "sim:2", .as_json = line->as_json};
    const char *named = getenv("DEVICEPOOL_DEVICES");
    pool_status status;

    if (line->devices || (named && *named))
        return cli_open_pool(line, 0, &demo->pool);
    status = pool_create(&demo->pool, NULL);
    if (!status)
        return CLI_GO;
    if (pool_status_class(status) != POOL_CLASS_HOST)
        return cli_fail(status, line->as_json);
    snprintf(demo->why_simulated, sizeof(demo->why_simulated), "%s", pool_last_error()->message);
    return cli_open_pool(&simulated, 0, &demo->pool);
}

static void print_devices(struct demo *demo)
{
    static const struct cli_column columns[] = {
        {"device", "device", CLI_SHOW_TEXT},
        {"compute", "compute", CLI_SHOW_TEXT},
        {"multiprocessors", "multiprocessors", CLI_SHOW_NUMBER},
        {"memory", "memory", CLI_SHOW_BYTES},
        {"state", "state", CLI_SHOW_TEXT},
    };
    cJSON *rows = cJSON_CreateArray();

    for (size_t i = 0; i < pool_device_count(demo->pool); i++) {
        pool_device_info info = {.struct_size = sizeof(info)};
        pool_device *device;
        char text[160];
        cJSON *row;

        if (pool_device_at(demo->pool, i, &device) || pool_device_get_info(device, &info))
            continue;
        row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "device", cli_device_label(device, text, sizeof(text)));
        snprintf(text, sizeof(text), "%d.%d", info.compute_major, info.compute_minor);
        cJSON_AddStringToObject(row, "compute", text);
        cJSON_AddNumberToObject(row, "multiprocessors", info.multiprocessors);
        cJSON_AddNumberToObject(row, "memory", (double)info.total_bytes);
        cJSON_AddStringToObject(
            row, "state", info.state == POOL_DEVICE_READY ? "ready" : info.reason);
        cJSON_AddItemToArray(rows, row);
    }
    cli_print_table(rows, columns, sizeof(columns) / sizeof(columns[0]), stdout);
    cJSON_Delete(rows);
}

static void print_opening(struct demo *demo)
{
    pool_host_info host = {.struct_size = sizeof(host)};

    printf("%sdevicepool %s%s\n\n", cli_colour(stdout, CLI_BOLD), pool_version_text(),
        cli_colour(stdout, CLI_PLAIN));
    if (*demo->why_simulated)
        printf("%sThere is no GPU here%s, so two simulated devices take its place: the processor\n"
               "executes the very kernels that a GPU gets.\n%s(%.*s)%s\n\n",
            cli_colour(stdout, CLI_YELLOW), cli_colour(stdout, CLI_PLAIN),
            cli_colour(stdout, CLI_DIM), (int)strcspn(demo->why_simulated, ":"),
            demo->why_simulated, cli_colour(stdout, CLI_PLAIN));
    print_devices(demo);
    pool_host_get_info(&host);
    if (host.compiler.status)
        puts("\nThere is no NVRTC here, so the kernels are the prebuilt ones of the library.");
    else
        printf("\nNVRTC %d.%d compiles the kernels (%s).\n", host.compiler.version / 1000,
            host.compiler.version % 1000 / 10, host.compiler.path);
    putchar('\n');
    fflush(stdout);
}

static int print_results(struct demo *demo, const struct cli_line *line)
{
    static const struct cli_column columns[] = {
        {"operation", "operation", CLI_SHOW_TEXT},
        {"device", "device", CLI_SHOW_NUMBER},
        {"items", "size", CLI_SHOW_TEXT},
        {"first_use_seconds", "first use", CLI_SHOW_DURATION},
        {"seconds", "time", CLI_SHOW_DURATION},
        {"checked", "checked", CLI_SHOW_CHECK},
    };
    cJSON *rows = cJSON_CreateArray();
    char number[CLI_NUMBER];
    char text[160];
    size_t right = 0;
    int code = CLI_OK;

    for (size_t i = 0; i < demo->count; i++) {
        const struct demo_job *job = &demo->jobs[i];
        cJSON *row = cJSON_CreateObject();

        cJSON_AddStringToObject(row, "operation", job->title);
        if (job->device) {
            cJSON_AddNumberToObject(row, "device", pool_device_index(job->device));
            cJSON_AddStringToObject(row, "uuid", pool_device_uuid(job->device));
        }
        cJSON_AddNumberToObject(row, "size", (double)job->size);
        snprintf(text, sizeof(text), "%llu %s", (unsigned long long)job->size, job->unit);
        cJSON_AddStringToObject(row, "items", text);
        cJSON_AddNumberToObject(row, "first_use_seconds", job->first_use);
        cJSON_AddNumberToObject(row, "seconds", job->seconds);
        cJSON_AddBoolToObject(row, "checked", job->is_right);
        if (*job->failure)
            cJSON_AddStringToObject(row, "failure", job->failure);
        cJSON_AddItemToArray(rows, row);
        right += job->is_right != 0;
        if (!code && !job->is_right)
            code = job->status ? cli_exit_code(job->status) : CLI_DEVICE;
    }
    cli_print_rows(rows, columns, sizeof(columns) / sizeof(columns[0]), line);
    if (!line->as_json && !line->is_quiet)
        printf("\n%s%zu of %zu right%s in %s, spread over %zu device%s by pool_next_device.\n",
            cli_colour(stdout, code ? CLI_RED : CLI_GREEN), right, demo->count,
            cli_colour(stdout, CLI_PLAIN), cli_duration(demo->seconds, number, sizeof(number)),
            pool_usable_count(demo->pool), pool_usable_count(demo->pool) == 1 ? "" : "s");
    return code;
}

/* Every kind of job once, and again until each device has one. */
static void make_jobs(struct demo *demo)
{
    size_t devices = pool_usable_count(demo->pool);
    size_t rounds = devices > DEMO_JOBS ? (devices + DEMO_JOBS - 1) / DEMO_JOBS : 1;

    demo->count = rounds * DEMO_JOBS;
    demo->jobs = cli_alloc(demo->count, sizeof(*demo->jobs));
    for (size_t i = 0; i < rounds; i++)
        demo_jobs(demo->jobs + i * DEMO_JOBS);
}

static int run(struct demo *demo, const struct cli_line *line)
{
    double begin = cli_now();
    int code = demo_data_open(demo->data_folder, &demo->data);

    if (code == CLI_GO) {
        make_jobs(demo);
        demo_run(demo->pool, &demo->data, demo->jobs, demo->count);
        demo->seconds = cli_now() - begin;
        code = print_results(demo, line);
        free(demo->jobs);
    }
    demo_data_close(&demo->data);
    return code;
}

int cli_run_demo(const struct cli_command *self, int count, char **arguments)
{
    struct demo demo = {.data_folder = CLI_DATA_FOLDER};
    const struct cli_option options[] = {
        {0, "data", "FOLDER", "where the files are that it reads (default: as installed)", CLI_TEXT,
            &demo.data_folder, NULL},
    };
    struct cli_line line = {
        .count = count, .arguments = arguments, .takes = CLI_TAKES_DEVICES | CLI_TAKES_JSON};
    int code = cli_parse(self, options, sizeof(options) / sizeof(options[0]), &line);

    if (code != CLI_GO)
        return code;
    code = open_pool(&demo, &line);
    if (code != CLI_GO)
        return code;
    if (!line.as_json && !line.is_quiet)
        print_opening(&demo);
    code = run(&demo, &line);
    return cli_close_pool(&demo.pool, code, 0);
}
