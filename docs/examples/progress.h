/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program does at present, as one line on standard error, if that is a terminal: examples
 * take seconds or minutes on simulated devices and in large sizes.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Replaces the line; NULL removes it, before results are printed. Messages are printed over it. */
static void show_step(const char *step)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s%s\r", step ? step : "", step ? " ..." : "");
}

/* A pool_exec.progress whose `user` is the name of the step. */
__attribute__((unused)) static void show_part(void *user, uint64_t done, uint64_t total)
{
    if (isatty(STDERR_FILENO) && total)
        fprintf(stderr, "\r\033[K%s ... %.0f %%\r", (const char *)user,
            100 * (double)done / (double)total);
}

#endif
