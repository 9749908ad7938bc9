/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devicepool command: finds the subcommand and hands over.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"

const struct cli_command cli_commands[] = {
    {"devices", "[--devices LIST] [--free] [--json]",
        "the devices of a pool and how they are linked",
        "  -d, --devices LIST  which devices: all (default), 0,2-3, GPU-<uuid start>, a PCI "
        "address,\n"
        "                      sim or sim:4,mem=24G for simulated ones\n"
        "  -f, --free          also the free memory; this makes a context on each device for a\n"
        "                      moment (about 0.5 GiB and 0.2 s each)\n"
        "  -j, --json          as JSON\n"
        "  -h, --help          this text\n"
        "\n"
        "CUDA_VISIBLE_DEVICES is respected, DEVICEPOOL_DEVICES gives the default for --devices.\n",
        cli_run_devices},
    {"cache", "[list | verify | clear | path] [--json]", "the disk cache of compiled kernels",
        "  list        every entry, damaged ones included (default)\n"
        "  verify      reads every entry and deletes the damaged\n"
        "  clear       deletes every entry\n"
        "  path        the folder\n"
        "  -j, --json  as JSON\n"
        "  -h, --help  this text\n"
        "\n"
        "DEVICEPOOL_CACHE_DIR names the folder, DEVICEPOOL_CACHE=off switches the cache off,\n"
        "DEVICEPOOL_CACHE_MAX (for example 512M) caps its size.\n",
        cli_run_cache},
    {"version", "[--json]", "versions of the library, the driver and the compiler",
        "  -j, --json  as JSON\n"
        "  -h, --help  this text\n",
        cli_run_version},
};
const size_t cli_command_count = sizeof(cli_commands) / sizeof(cli_commands[0]);

static void print_overview(FILE *out)
{
    fprintf(out, "usage: devicepool COMMAND [OPTIONS]\n\n"
                 "A pool of CUDA devices for zero-knowledge work on GPUs.\n\n");
    for (size_t i = 0; i < cli_command_count; i++)
        fprintf(out, "  %-10s %s\n", cli_commands[i].name, cli_commands[i].summary);
    fprintf(out,
        "\n'devicepool COMMAND --help' explains one. Exit codes: 0 done, 1 failed, 2 wrong\n"
        "usage, 3 device unusable, 4 driver, device or compiler missing on this host,\n"
        "5 sticky device fault, 6 defect of the library.\n");
}

/* getopt's messages begin with the name of the program: both words of it. */
static int run(const struct cli_command *command, int count, char **arguments)
{
    static char title[64];

    snprintf(title, sizeof(title), "devicepool %s", command->name);
    arguments[0] = title;
    return command->run(count, arguments);
}

int main(int count, char **arguments)
{
    if (count < 2) {
        print_overview(stderr);
        return CLI_USAGE;
    }
    if (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0) {
        print_overview(stdout);
        return CLI_OK;
    }
    if (strcmp(arguments[1], "--version") == 0)
        arguments[1] += 2;
    if (strcmp(arguments[1], "help") == 0 && count == 3)
        return cli_help(arguments[2]);
    for (size_t i = 0; i < cli_command_count; i++)
        if (strcmp(cli_commands[i].name, arguments[1]) == 0)
            return run(&cli_commands[i], count - 1, arguments + 1);
    fprintf(stderr, "devicepool: there is no command '%s'; 'devicepool --help' lists them\n",
        arguments[1]);
    return CLI_USAGE;
}
