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

#include "cli.h"

#define PROGRAM "devicepool-mpi"

int cli_run_mpi(const struct cli_command *self, struct cli_line *line)
{
    static char name[] = PROGRAM;
    char path[PATH_MAX];

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
