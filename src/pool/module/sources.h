/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device sources (ptx/), embedded in the library by ptx/embed.py. A source includes another one
 * by its path in ptx/, `#include "ff/fp2.cuh"`; they are passed to the compiler by these names.
 */
#ifndef MODULE_SOURCES_H
#define MODULE_SOURCES_H

#include <stddef.h>

struct module_source {
    const char *name; /* path in ptx/ */
    const char *text;
};

extern const struct module_source module_sources[]; /* sorted by name */
extern const size_t module_sources_count;

#endif
