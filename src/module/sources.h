/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device sources (ptx/) as texts inside the library, made by ptx/embed.py. A device text names
 * another one as `#include "ff/fp2.cuh"`; the compiler is given all of them by these names.
 */
#ifndef MODULE_SOURCES_H
#define MODULE_SOURCES_H

#include <stddef.h>

struct module_source {
    const char *name; /* path below ptx/ */
    const char *text;
};

extern const struct module_source module_sources[]; /* sorted by name */
extern const size_t module_sources_count;

#endif
