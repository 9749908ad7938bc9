/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool cache pack, unpack, verify FILE and levels: packs, files with the kernels of a chip.
 */
#include <string.h>

#include "cli.h"

static const struct cli_column columns[] = {
    {"target", "for", CLI_SHOW_STRING},
    {"compiler", "NVRTC", CLI_SHOW_STRING},
    {"programs", "programs", CLI_SHOW_NUMBER},
    {"left_out", "left out", CLI_SHOW_NUMBER},
    {"bytes", "size", CLI_SHOW_BYTES},
    {"used", "used", CLI_SHOW_CHECK},
    {"path", "file", CLI_SHOW_STRING},
    {"reason", "", CLI_SHOW_STRING},
};

int cli_check_chips(const struct cli_command *self, const struct cli_sizes *chips)
{
    for (size_t i = 0; i < chips->count; i++)
        if (chips->at[i] < 10 || chips->at[i] > 999)
            return cli_usage(
                self, "--chip takes compute capabilities without their points: 80,90,120");
    return CLI_GO;
}

static cJSON *add_pack(cJSON *rows, const pool_pack_info *info)
{
    cJSON *row = cli_add_row(rows);
    char text[CLI_NUMBER];

    if (info->compute_capability) {
        snprintf(text, sizeof(text), "sm_%d", info->compute_capability);
        cJSON_AddStringToObject(row, "target", text);
        cJSON_AddNumberToObject(row, "compute_capability", info->compute_capability);
        snprintf(text, sizeof(text), "%d.%d", info->compiler_version / 1000,
            info->compiler_version % 1000 / 10);
        cJSON_AddStringToObject(row, "compiler", text);
        cJSON_AddNumberToObject(row, "programs", (double)info->entries);
        cJSON_AddNumberToObject(row, "bytes", (double)info->bytes);
    }
    cJSON_AddStringToObject(row, "path", info->path);
    return row;
}

static int print_packs(pool_status status, cJSON *rows, const struct cli_line *line)
{
    return cli_print_rows_or_fail(status, rows, columns, CLI_COUNT_OF(columns), line);
}

int cli_cache_levels(const struct cli_line *line)
{
    cJSON *rows = cJSON_CreateArray();
    pool_status status = POOL_OK;

    for (size_t i = 0; !status; i++) {
        pool_pack_info info = {.struct_size = sizeof(info)};

        status = pool_pack_at(i, &info);
        if (!status) {
            cJSON *row = add_pack(rows, &info);

            cJSON_AddBoolToObject(row, "used", info.is_used);
            if (info.reason[0])
                cJSON_AddStringToObject(row, "reason", info.reason);
        }
    }
    if (status == POOL_ERR_NOT_FOUND)
        status = POOL_OK;
    if (!status && !cJSON_GetArraySize(rows) && !line->as_json) {
        cJSON_Delete(rows);
        puts("no packs; DEVICEPOOL_CACHE_LEVELS names directories with packs");
        return CLI_OK;
    }
    return print_packs(status, rows, line);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A pool_cache_visitor: collects the chips of the cache. */
static int collect_chip(void *user, const pool_cache_entry *entry)
{
    struct cli_sizes *chips = user;
    const uint64_t chip = (uint64_t)entry->compute_capability;

    if (!entry->valid || !chip)
        return 0;
    for (size_t i = 0; i < chips->count; i++)
        if (chips->at[i] == chip)
            return 0;
    chips->at[chips->count++] = chip;
    return chips->count == CLI_MAX_SIZES;
}

int cli_cache_pack(const struct cli_line *line, const char *directory, struct cli_sizes *chips)
{
    cJSON *rows = cJSON_CreateArray();
    pool_status status = chips->count ? POOL_OK : pool_cache_each(collect_chip, chips);

    for (size_t i = 0; i < chips->count && !status; i++) {
        pool_pack_info info = {.struct_size = sizeof(info)};
        uint64_t left_out = 0;

        cli_progress("sm_%llu", (unsigned long long)chips->at[i]);
        status = pool_pack_cache(directory, (int32_t)chips->at[i], &info, &left_out);
        if (!status && left_out)
            cJSON_AddNumberToObject(add_pack(rows, &info), "left_out", (double)left_out);
        else if (!status)
            add_pack(rows, &info);
    }
    cli_progress_end();
    if (!status && !cJSON_GetArraySize(rows)) {
        cJSON_Delete(rows);
        return cli_fail_with("the disk cache has no entries; 'devicepool warm-up' makes them");
    }
    return print_packs(status, rows, line);
}

/* ---- reading --------------------------------------------------------------------------------- */

int cli_cache_files(const struct cli_line *line,
    pool_status (*read)(const char *path, pool_pack_info *info), char **paths, int count)
{
    cJSON *rows = cJSON_CreateArray();
    pool_status status = POOL_OK;

    for (int i = 0; i < count && !status; i++) {
        pool_pack_info info = {.struct_size = sizeof(info)};

        cli_progress("%s", paths[i]);
        status = read(paths[i], &info);
        if (!status)
            add_pack(rows, &info);
    }
    cli_progress_end();
    return print_packs(status, rows, line);
}
