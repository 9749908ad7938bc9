/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool cache: the disk cache of compiled kernels.
 */
#include <string.h>
#include <time.h>

#include "cli.h"

static const struct cli_column columns[] = {
    {"key", "key", CLI_SHOW_STRING},
    {"created", "created", CLI_SHOW_STRING},
    {"target", "for", CLI_SHOW_STRING},
    {"form", "form", CLI_SHOW_STRING},
    {"bytes", "size", CLI_SHOW_BYTES},
    {"name", "name", CLI_SHOW_STRING},
    {"valid", "intact", CLI_SHOW_CHECK},
};

static int add_entry(void *user, const pool_cache_entry *entry)
{
    time_t created = (time_t)entry->created_unix_time;
    cJSON *row = cli_add_row(user);
    char string[32];

    cJSON_AddStringToObject(row, "key", entry->key);
    if (entry->valid) {
        strftime(string, sizeof(string), "%Y-%m-%d %H:%M", localtime(&created));
        cJSON_AddStringToObject(row, "created", string);
        cJSON_AddNumberToObject(row, "created_unix_time", (double)entry->created_unix_time);
        if (entry->compute_capability)
            snprintf(string, sizeof(string), "sm_%d", entry->compute_capability);
        else
            snprintf(string, sizeof(string), "any chip");
        cJSON_AddStringToObject(row, "target", string);
        cJSON_AddNumberToObject(row, "compute_capability", entry->compute_capability);
        cJSON_AddStringToObject(row, "form", entry->is_ptx ? "ptx" : "cubin");
        cJSON_AddStringToObject(row, "name", entry->name);
    }
    cJSON_AddNumberToObject(row, "bytes", (double)entry->bytes);
    cJSON_AddBoolToObject(row, "valid", entry->valid);
    return 0;
}

/* The table abbreviates keys; the JSON has them in full. */
static void print_entries(cJSON *rows, const char *directory)
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
        cli_print_table(rows, columns, CLI_COUNT_OF(columns), stdout);
    printf("%d %s, %s in %s\n", cJSON_GetArraySize(rows),
        cJSON_GetArraySize(rows) == 1 ? "entry" : "entries", cli_bytes(bytes, size, sizeof(size)),
        directory);
    cJSON_Delete(rows);
}

static int list_entries(const char *directory, int as_json)
{
    cJSON *rows = cJSON_CreateArray();
    pool_status status = pool_cache_each(add_entry, rows);

    if (status) {
        cJSON_Delete(rows);
        return cli_fail(status, as_json);
    }
    if (as_json)
        cli_print_json(rows);
    else
        print_entries(rows, directory);
    return CLI_OK;
}

static int report_counts(pool_status status, int as_json, uint64_t kept, uint64_t deleted)
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

static int print_path(const char *directory, int as_json)
{
    if (as_json)
        cli_print_json(cJSON_CreateString(directory));
    else
        puts(directory);
    return CLI_OK;
}

/* list, path, verify and clear of the user's cache. */
static int run_on_cache(
    const struct cli_command *self, const struct cli_line *line, const char *verb)
{
    char directory[4096];
    uint64_t deleted = 0;
    uint64_t kept = 0;
    pool_status status = pool_cache_directory(directory, sizeof(directory));

    if (status)
        return cli_fail(status, line->as_json);
    if (strcmp(verb, "list") == 0)
        return list_entries(directory, line->as_json);
    if (strcmp(verb, "path") == 0)
        return print_path(directory, line->as_json);
    if (strcmp(verb, "verify") == 0) {
        status = pool_cache_verify(&kept, &deleted);
        return report_counts(status, line->as_json, kept, deleted);
    }
    if (strcmp(verb, "clear") == 0) {
        status = pool_cache_clear(&deleted);
        return report_counts(status, line->as_json, 0, deleted);
    }
    return cli_fail_operation(self, verb);
}

int cli_run_cache(const struct cli_command *self, struct cli_line *line)
{
    struct cli_sizes chips = {0};
    const struct cli_option options[] = {
        {0, "chip", "CHIPS", "of pack: only entries for these chips, 80,90,120", CLI_SIZES, &chips,
            NULL},
    };
    const char *verb;
    int operands;
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code != CLI_GO)
        return code;
    verb = line->operand_count ? line->operands[0] : "list";
    operands = line->operand_count ? line->operand_count - 1 : 0;
    code = cli_check_given(self, line, verb, strcmp(verb, "pack") == 0 ? "chip" : "");
    if (code == CLI_GO)
        code = cli_check_chips(self, &chips);
    if (code != CLI_GO)
        return code;
    if (strcmp(verb, "pack") == 0 && operands == 1)
        return cli_cache_pack(line, line->operands[1], &chips);
    if (strcmp(verb, "pack") == 0)
        return cli_usage(self, "cache pack takes the directory to write to");
    if (strcmp(verb, "unpack") == 0 && !operands)
        return cli_usage(self, "cache unpack takes packs, files such as sm_90.pack");
    if (strcmp(verb, "unpack") == 0)
        return cli_cache_files(line, pool_pack_unpack, line->operands + 1, operands);
    if (strcmp(verb, "verify") == 0 && operands)
        return cli_cache_files(line, pool_pack_verify, line->operands + 1, operands);
    if (operands)
        return cli_usage(self, "cache %s takes no argument '%s'", verb, line->operands[1]);
    if (strcmp(verb, "levels") == 0)
        return cli_cache_levels(line);
    return run_on_cache(self, line, verb);
}
