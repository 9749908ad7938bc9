/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool cache: the compiled kernels on disk.
 */
#include <string.h>
#include <time.h>

#include "cli.h"

static const struct cli_column columns[] = {
    {"key", "key", CLI_SHOW_TEXT},
    {"made", "made", CLI_SHOW_TEXT},
    {"target", "for", CLI_SHOW_TEXT},
    {"form", "form", CLI_SHOW_TEXT},
    {"bytes", "size", CLI_SHOW_BYTES},
    {"name", "name", CLI_SHOW_TEXT},
    {"valid", "intact", CLI_SHOW_CHECK},
};

static int take_entry(void *user, const pool_cache_entry *entry)
{
    time_t made = (time_t)entry->made_unix_time;
    cJSON *row = cJSON_CreateObject();
    char text[32];

    cJSON_AddStringToObject(row, "key", entry->key);
    if (entry->valid) {
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M", localtime(&made));
        cJSON_AddStringToObject(row, "made", text);
        cJSON_AddNumberToObject(row, "made_unix_time", (double)entry->made_unix_time);
        snprintf(text, sizeof(text), "sm_%d", entry->compute_capability);
        cJSON_AddStringToObject(row, "target", text);
        cJSON_AddNumberToObject(row, "compute_capability", entry->compute_capability);
        cJSON_AddStringToObject(row, "form", entry->is_ptx ? "ptx" : "cubin");
        cJSON_AddStringToObject(row, "name", entry->name);
    }
    cJSON_AddNumberToObject(row, "bytes", (double)entry->bytes);
    cJSON_AddBoolToObject(row, "valid", entry->valid);
    cJSON_AddItemToArray(user, row);
    return 0;
}

/* People need enough of a key to tell entries apart; the whole of it is in the JSON. */
static void print_entries(cJSON *rows, const char *folder)
{
    uint64_t bytes = 0;
    char size[CLI_NUMBER];
    cJSON *row;

    cJSON_ArrayForEach(row, rows)
    {
        cJSON_GetObjectItem(row, "key")->valuestring[16] = 0;
        bytes += (uint64_t)cJSON_GetNumberValue(cJSON_GetObjectItem(row, "bytes"));
    }
    if (cJSON_GetArraySize(rows))
        cli_print_table(rows, columns, sizeof(columns) / sizeof(columns[0]), stdout);
    printf("%d %s, %s in %s\n", cJSON_GetArraySize(rows),
        cJSON_GetArraySize(rows) == 1 ? "entry" : "entries", cli_bytes(bytes, size, sizeof(size)),
        folder);
    cJSON_Delete(rows);
}

static int list(const char *folder, int as_json)
{
    cJSON *rows = cJSON_CreateArray();
    pool_status status = pool_cache_each(take_entry, rows);

    if (status) {
        cJSON_Delete(rows);
        return cli_fail(status, as_json);
    }
    if (as_json)
        cli_print_json(rows);
    else
        print_entries(rows, folder);
    return CLI_OK;
}

static int report(pool_status status, int as_json, uint64_t kept, uint64_t deleted)
{
    cJSON *object;

    if (status)
        return cli_fail(status, as_json);
    if (!as_json) {
        printf("%llu entries kept, %llu deleted\n", (unsigned long long)kept,
            (unsigned long long)deleted);
        return CLI_OK;
    }
    object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "kept", (double)kept);
    cJSON_AddNumberToObject(object, "deleted", (double)deleted);
    cli_print_json(object);
    return CLI_OK;
}

static int print_path(const char *folder, int as_json)
{
    if (as_json)
        cli_print_json(cJSON_CreateString(folder));
    else
        puts(folder);
    return CLI_OK;
}

int cli_run_cache(const struct cli_command *self, int count, char **arguments)
{
    struct cli_line line = {
        .count = count, .arguments = arguments, .takes = CLI_TAKES_JSON, .most_operands = 1};
    char folder[4096];
    uint64_t deleted = 0;
    uint64_t kept = 0;
    const char *verb;
    pool_status status;
    int code = cli_parse(self, NULL, 0, &line);

    if (code != CLI_GO)
        return code;
    verb = line.operand_count ? line.operands[0] : "list";
    status = pool_cache_directory(folder, sizeof(folder));
    if (status)
        return cli_fail(status, line.as_json);
    if (strcmp(verb, "list") == 0)
        return list(folder, line.as_json);
    if (strcmp(verb, "path") == 0)
        return print_path(folder, line.as_json);
    if (strcmp(verb, "verify") == 0) {
        status = pool_cache_verify(&kept, &deleted);
        return report(status, line.as_json, kept, deleted);
    }
    if (strcmp(verb, "clear") == 0) {
        status = pool_cache_clear(&deleted);
        return report(status, line.as_json, 0, deleted);
    }
    return cli_usage(self, "cache has no '%s'", verb);
}
