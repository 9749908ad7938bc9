/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool top: the status socket of a service (top.c), its view on a terminal (top_view.c) and
 * as a page (top_web.c).
 */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include <poll.h>

#include "cli.h"

/* ---- top.c ---- */

/* Reads a snapshot from the socket for at most `patience` seconds. NULL with errno; EBADMSG: not a
 * snapshot. */
cJSON *top_read_snapshot(const char *path, double patience);

/* Why no snapshot can be read, from errno. */
const char *top_reason(int error);

/* SIGINT, SIGTERM and SIGHUP end waits from now on, instead of the process. */
void top_catch_signals(void);
int top_is_interrupted(void);

/* poll() with a limit in seconds, during which these signals are delivered. */
int top_poll(struct pollfd *files, nfds_t count, double seconds);

/* ---- top_view.c ---- */

/* Draws a snapshot of the service at `path` on the terminal; rates are since the snapshot `before`,
 * which is NULL at first. */
void top_draw(const char *path, const cJSON *now, const cJSON *before);

/* ---- top_web.c ---- */

/* The files of the page, embedded: web/. */
struct top_file {
    const char *name;
    const char *text;
};

extern const struct top_file top_files[];
extern const size_t top_files_count;

/* Checks "[ADDRESS:]PORT". Returns CLI_GO or an exit code. */
int top_check_address(const struct cli_command *self, const char *where);

/* Serves the page there until a signal. Returns an exit code. */
int top_serve(const char *path, const char *where);

#endif
