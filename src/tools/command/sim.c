/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool sim: runs a program that was built for a GPU with libcuda.so.1 over simulated devices.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define LIBRARY "libcuda.so.1"

/* As in shells: the program is not there, or cannot be run. */
enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

struct settings {
    const char *library;
    int shows_path;
    int has_profile;
    const char *profile; /* file of the profile */
};

/* The directory of the library, which is installed relative to this program. */
static int find_directory(const char *given, char *path, size_t size)
{
    char file[PATH_MAX];
    int length;

    if (given)
        length = snprintf(path, size, "%s", given);
    else
        length = cli_find_beside(CLI_RELATIVE_SIM_DIRECTORY, path, size) ? (int)strlen(path) : -1;
    if (length >= 0 && (size_t)length < size) {
        length = snprintf(file, sizeof(file), "%s/" LIBRARY, path);
        if (length > 0 && (size_t)length < sizeof(file) && access(file, R_OK) == 0)
            return CLI_GO;
    }
    cli_fail_with("the simulated " LIBRARY " was not found in %s; --library names its directory",
        given ? given : CLI_SIM_DIRECTORY);
    return CLI_HOST;
}

/* The description is checked here, where an error is said in whole. */
static int check_devices(const char *devices)
{
    pool_params params;
    device_pool *pool = NULL;
    pool_status status;

    pool_params_init(&params, sizeof(params));
    params.devices = devices;
    params.lazy = 1;
    status = pool_create(&pool, &params);
    return status || pool_destroy(&pool) ? cli_fail(status, 0) : CLI_GO;
}

/* Puts the directory first in LD_LIBRARY_PATH. */
static int set_environment(
    const char *directory, const char *devices, const char *profile, int is_quiet)
{
    const char *before = getenv("LD_LIBRARY_PATH");
    char *path = NULL;
    int is_set;

    if (asprintf(&path, "%s%s%s", directory, before && *before ? ":" : "", before ? before : "") <
        0)
        return cli_fail_with("out of memory");
    is_set = !setenv("LD_LIBRARY_PATH", path, 1) && !setenv("DEVICEPOOL_SIM", devices, 1) &&
             (!profile || !setenv("DEVICEPOOL_SIM_PROFILE", profile, 1)) &&
             (!is_quiet || !setenv("DEVICEPOOL_SIM_QUIET", "1", 1));
    free(path);
    return is_set ? CLI_GO : cli_fail_with("out of memory");
}

static int run_program(char **arguments)
{
    int reason;

    execvp(arguments[0], arguments);
    reason = errno;
    cli_fail_with("%s cannot be run: %s", arguments[0], strerror(reason));
    return reason == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}

int cli_run_sim(const struct cli_command *self, struct cli_line *line)
{
    struct settings settings = {0};
    const struct cli_option options[] = {
        {'l', "library", "DIR", "directory of the simulated " LIBRARY, CLI_STRING,
            &settings.library, NULL},
        {'p', "path", NULL, "print that directory, for LD_LIBRARY_PATH, and run\nnothing",
            CLI_SWITCH, &settings.shows_path, NULL},
        {0, "profile", NULL,
            "write the profile of the kernels to standard error\nwhen the program ends", CLI_SWITCH,
            &settings.has_profile, NULL},
        {'o', "output", "FILE", "write the profile there, as JSON if the name ends\nin .json",
            CLI_STRING, &settings.profile, NULL},
    };
    pool_setting setting = {.struct_size = sizeof(setting)};
    const char *devices = NULL;
    char directory[PATH_MAX];
    char **program = NULL;
    int code;

    /* Options behind "--" are the program's. */
    for (int at = 1; at < line->count && !program; at++)
        if (strcmp(line->arguments[at], "--") == 0) {
            program = line->arguments + at + 1;
            line->count = at;
            line->arguments[at] = NULL;
        }
    code = cli_parse(self, options, CLI_COUNT_OF(options), line);
    if (code != CLI_GO)
        return code;
    if (!settings.shows_path && (!program || !program[0]))
        return cli_usage(self, "the program and its arguments belong behind --");
    code = find_directory(settings.library, directory, sizeof(directory));
    if (code != CLI_GO)
        return code;
    if (settings.shows_path)
        return puts(directory) < 0 ? CLI_FAILED : CLI_OK;
    if (!line->devices && pool_setting_by_name("DEVICEPOOL_SIM", &setting))
        return cli_fail(pool_last_error()->status, 0);
    devices = line->devices ? line->devices : setting.value;
    if (!devices || !*devices)
        devices = "sim";
    if (strncmp(devices, "sim", 3) != 0)
        return cli_usage(self, "'%s' does not describe simulated devices, as sim:2 does", devices);
    code = check_devices(devices);
    if (code == CLI_GO)
        code = set_environment(directory, devices,
            settings.profile       ? settings.profile
            : settings.has_profile ? "-"
                                   : NULL,
            line->is_quiet);
    return code == CLI_GO ? run_program(program) : code;
}
