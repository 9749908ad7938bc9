/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view of devicepool top.
 */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "cli.h"

/* Draws a snapshot of the service at `path` on the terminal; rates are since the snapshot `before`,
 * which is NULL at first. */
void top_draw(const char *path, const cJSON *now, const cJSON *before);

#endif
