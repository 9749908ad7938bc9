/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool devices: what a pool of these devices looks like.
 */
#include "cli.h"

int cli_run_devices(const struct cli_command *self, int count, char **arguments)
{
    int wants_free = 0;
    const struct cli_option options[] = {
        {'f', "free", NULL,
            "also the free memory; this makes a context on each device\n"
            "for a moment (about 0.5 GiB and 0.2 s each)",
            CLI_SWITCH, &wants_free, NULL},
    };
    struct cli_line line = {
        .count = count, .arguments = arguments, .takes = CLI_TAKES_DEVICES | CLI_TAKES_JSON};
    device_pool *pool = NULL;
    pool_status status;
    char *text;
    int code = cli_parse(self, options, sizeof(options) / sizeof(options[0]), &line);

    if (code != CLI_GO)
        return code;
    code = cli_open_pool(&line, !wants_free, &pool);
    if (code != CLI_GO)
        return code;
    status = pool_describe(pool, line.as_json, &text);
    if (status) {
        code = cli_fail(status, line.as_json);
    } else {
        fputs(text, stdout);
        pool_text_free(&text);
        code = CLI_OK;
    }
    return cli_close_pool(&pool, code, 0);
}
