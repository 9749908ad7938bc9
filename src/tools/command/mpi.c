/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool mpi: runs devicepool-mpi, a program of its own so that this one needs no MPI. It is
 * searched for beside this program, then in PATH.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../mpi/usage.h"
#include "cli.h"

#define PROGRAM "devicepool-mpi"

/* The options as the help of that program has them: "  -d, --devices DEVICES  …". */
static void describe_options(const struct cli_command *self, const struct cli_line *line)
{
    static char help[] = MPI_USAGE;
    struct cli_option options[CLI_MAX_OPTIONS] = {{0}};
    char *rest = help, *row;
    size_t count = 0;

    while ((row = strsep(&rest, "\n")) && count < CLI_MAX_OPTIONS) {
        struct cli_option *option = &options[count];
        char *name = strstr(row, "--");

        if (strncmp(row, "  ", 2) != 0 || !name || name != row + 6)
            continue;
        option->letter = row[2] == '-' ? row[3] : 0;
        option->name = name + 2;
        name += strcspn(name, " ");
        *name++ = 0;
        if (*name != ' ') {
            option->argument = name;
            name += strcspn(name, " ");
            *name++ = 0;
        }
        option->help = name + strspn(name, " ");
        count++;
    }
    line->describe(self, options, count);
}

int cli_run_mpi(const struct cli_command *self, struct cli_line *line)
{
    static char name[] = PROGRAM;
    char path[PATH_MAX];

    if (line->describe) {
        describe_options(self, line);
        return CLI_OK;
    }
    if (line->count < 2)
        return cli_usage(self, "mpi needs a command: info, demo, msm, ntt or bench");
    line->arguments[0] = name;
    if (cli_find_beside(PROGRAM, path, sizeof(path)) && access(path, X_OK) == 0)
        execv(path, line->arguments);
    else
        execvp(PROGRAM, line->arguments);
    fprintf(stderr,
        "devicepool: " PROGRAM " cannot be run: %s; it is installed beside this program where the "
        "library is built with MPI (meson setup -Dmpi=enabled)\n",
        strerror(errno));
    return CLI_HOST;
}
