/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool cache: the compiled kernels on disk.
 */
#include <getopt.h>
#include <string.h>
#include <time.h>

#include "cli.h"

struct listing {
    cJSON *entries; /* NULL: as text */
    uint64_t count;
    uint64_t bytes;
};

static void print_entry(const pool_cache_entry *entry)
{
    time_t made = (time_t)entry->made_unix_time;
    char date[32] = "";
    char size[32];

    strftime(date, sizeof(date), "%Y-%m-%d %H:%M", localtime(&made));
    cli_bytes(entry->bytes, size, sizeof(size));
    if (entry->valid)
        printf("%.16s  %-16s  sm_%-3d  %-5s  %10s  %s\n", entry->key, date,
            entry->compute_capability, entry->is_ptx ? "ptx" : "cubin", size, entry->name);
    else
        printf("%.16s  %-32s  %10s\n", entry->key, "damaged", size);
}

static void add_entry(cJSON *entries, const pool_cache_entry *entry)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "key", entry->key);
    cJSON_AddNumberToObject(object, "bytes", (double)entry->bytes);
    cJSON_AddBoolToObject(object, "valid", entry->valid);
    cJSON_AddStringToObject(object, "name", entry->name);
    cJSON_AddNumberToObject(object, "compute_capability", entry->compute_capability);
    cJSON_AddStringToObject(object, "form", entry->is_ptx ? "ptx" : "cubin");
    cJSON_AddNumberToObject(object, "made_unix_time", (double)entry->made_unix_time);
    cJSON_AddItemToArray(entries, object);
}

static int take_entry(void *user, const pool_cache_entry *entry)
{
    struct listing *listing = user;

    if (listing->entries)
        add_entry(listing->entries, entry);
    else
        print_entry(entry);
    listing->count++;
    listing->bytes += entry->bytes;
    return 0;
}

static int list(const char *folder, int as_json)
{
    struct listing listing = {.entries = as_json ? cJSON_CreateArray() : NULL};
    pool_status status = pool_cache_each(take_entry, &listing);
    char size[32];

    if (status) {
        cJSON_Delete(listing.entries);
        return cli_fail(status, as_json);
    }
    if (as_json)
        cli_print_json(listing.entries);
    else
        printf("%llu entries, %s in %s\n", (unsigned long long)listing.count,
            cli_bytes(listing.bytes, size, sizeof(size)), folder);
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

static int run_verb(const char *verb, int as_json)
{
    char folder[4096];
    uint64_t deleted = 0;
    uint64_t kept = 0;
    pool_status status = pool_cache_folder(folder, sizeof(folder));

    if (status)
        return cli_fail(status, as_json);
    if (strcmp(verb, "list") == 0)
        return list(folder, as_json);
    if (strcmp(verb, "path") == 0)
        return printf("%s\n", folder) < 0 ? CLI_FAILED : CLI_OK;
    if (strcmp(verb, "verify") == 0) {
        status = pool_cache_verify(&kept, &deleted);
        return report(status, as_json, kept, deleted);
    }
    if (strcmp(verb, "clear") == 0) {
        status = pool_cache_clear(&deleted);
        return report(status, as_json, 0, deleted);
    }
    fprintf(stderr, "devicepool: cache has no '%s'\n", verb);
    return cli_usage("cache");
}

int cli_run_cache(int count, char **arguments)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int as_json = 0;
    int option;

    while ((option = getopt_long(count, arguments, "jh", options, NULL)) != -1) {
        if (option != 'j')
            return option == 'h' ? cli_help("cache") : cli_usage("cache");
        as_json = 1;
    }
    if (optind + 1 < count) {
        fprintf(stderr, "devicepool: cache takes one argument\n");
        return cli_usage("cache");
    }
    return run_verb(optind < count ? arguments[optind] : "list", as_json);
}
