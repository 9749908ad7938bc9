/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands share. The command line uses public headers only.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdint.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include <devicepool.h>

/* Exit codes: the class of the failure, so that scripts can tell them apart. */
enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1,  /* the call: this command could not be done */
    CLI_USAGE = 2,   /* the command line is wrong */
    CLI_DEVICE = 3,  /* a device is unusable */
    CLI_HOST = 4,    /* driver, device or compiler are missing on this host */
    CLI_PROCESS = 5, /* a sticky device fault */
    CLI_INTERNAL = 6 /* a defect of the library */
};

struct cli_command {
    const char *name;
    const char *arguments; /* for the usage line */
    const char *summary;
    const char *help; /* the options, a line each, and what else is worth reading */
    int (*run)(int count, char **arguments);
};

extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

int cli_run_devices(int count, char **arguments);
int cli_run_version(int count, char **arguments);
int cli_run_cache(int count, char **arguments);

/* The exit code of a status. */
int cli_exit_code(pool_status status);

/*
 * Reports the thread's last failure: a sentence on stderr, and with `as_json` also an object on
 * stdout. Returns the exit code.
 */
int cli_fail(pool_status status, int as_json);

/* "unknown option" and the like were printed by getopt; says where the help is. Returns CLI_USAGE.
 */
int cli_usage(const char *command);

/* The help of a command on stdout. Returns CLI_OK. */
int cli_help(const char *command);

/* Prints a value and a newline on stdout, and deletes it. */
void cli_print_json(cJSON *value);

/* "141.1 GiB" into `text`. */
const char *cli_bytes(uint64_t bytes, char *text, size_t size);

#endif
