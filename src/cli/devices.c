/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool devices: what a pool of these devices looks like.
 */
#include <getopt.h>

#include "cli.h"

int cli_run_devices(int count, char **arguments)
{
    static const struct option options[] = {
        {"devices", required_argument, NULL, 'd'},
        {"free", no_argument, NULL, 'f'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    pool_params params = {.struct_size = sizeof(params), .lazy = 1};
    device_pool *pool = NULL;
    pool_status status;
    int as_json = 0;
    char *text;
    int option;

    while ((option = getopt_long(count, arguments, "d:fjh", options, NULL)) != -1) {
        if (option == 'd')
            params.devices = optarg;
        else if (option == 'f')
            params.lazy = 0;
        else if (option == 'j')
            as_json = 1;
        else
            return option == 'h' ? cli_help("devices") : cli_usage("devices");
    }
    if (optind < count) {
        fprintf(stderr, "devicepool: devices takes no argument '%s'\n", arguments[optind]);
        return cli_usage("devices");
    }
    status = pool_create(&pool, &params);
    if (status)
        return cli_fail(status, as_json);
    status = pool_describe(pool, as_json, &text);
    if (!status) {
        fputs(text, stdout);
        pool_text_free(&text);
    }
    if (status) {
        pool_destroy(&pool);
        return cli_fail(status, as_json);
    }
    status = pool_destroy(&pool);
    return status ? cli_fail(status, 0) : CLI_OK;
}
