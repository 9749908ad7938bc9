/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plot of median seconds over size, drawn by gnuplot.
 */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include "cli.h"

struct plot {
    struct cli_output picture;
};

/* Checks that gnuplot is installed and the file writable. Returns CLI_GO or an exit code. */
int plot_open(const char *path, struct plot *plot);

/* Draws the rows of a benchmark, if there are any, with one line per subject and device. Returns
 * `code`, or an exit code if drawing failed. */
int plot_close(struct plot *plot, const cJSON *rows, const char *operation, int code);

#endif
