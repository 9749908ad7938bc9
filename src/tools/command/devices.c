/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool devices: the devices of a pool and the links between them.
 */
#include "cli.h"

/* Tries the compiler for each chip, so that the description says what was found. */
static void try_compilers(device_pool *pool)
{
    struct cli_device next = {0};
    int32_t last = -1;

    cli_watch_begin();
    while (cli_next_device(pool, &next)) {
        int32_t chip = 10 * next.info.compute_major + next.info.compute_minor;
        pool_component compiler;

        if (next.is_usable && chip != last && !pool_device_get_compiler(next.device, &compiler))
            last = chip;
    }
    cli_watch_end();
}

int cli_run_devices(const struct cli_command *self, struct cli_line *line)
{
    int wants_free = 0;
    const struct cli_option options[] = {
        {'f', "free", NULL,
            "show the free memory, too; creates a context on each\n"
            "device for that (about 0.5 GiB and 0.2 s each)",
            CLI_SWITCH, &wants_free, NULL},
    };
    device_pool *pool = NULL;
    pool_status status;
    char *description;
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code != CLI_GO)
        return code;
    code = cli_open_pool(line, !wants_free, &pool);
    if (code != CLI_GO)
        return code;
    try_compilers(pool);
    if (!wants_free) {
        /* A trial creates a context. A good verdict is stored, so that in a new pool, which is
         * described, it is known without one. */
        code = cli_close_pool(&pool, CLI_GO, 0);
        if (code == CLI_GO)
            code = cli_open_pool(line, 1, &pool);
        if (code != CLI_GO)
            return code;
        try_compilers(pool);
    }
    cli_watch_begin();
    status = pool_describe(pool, line->as_json ? POOL_TEXT_JSON : POOL_TEXT_PLAIN, &description);
    cli_watch_end();
    if (status) {
        code = cli_fail(status, line->as_json);
    } else {
        fputs(description, stdout);
        pool_text_free(&description);
        code = CLI_OK;
    }
    return cli_close_pool(&pool, code, 0);
}
