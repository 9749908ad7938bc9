/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often an image was needed in this process and where it came from, for metrics.
 */
#ifndef MODULE_COUNTERS_H
#define MODULE_COUNTERS_H

#include <stdatomic.h>

/* Where an image came from. */
enum module_image_source {
    MODULE_IMAGE_MEMORY,
    MODULE_IMAGE_DISK,
    MODULE_IMAGE_LEVEL,
    MODULE_IMAGE_COMPILER,
    MODULE_IMAGE_PREBUILT,
    MODULE_IMAGE_SOURCES
};

struct module_counters {
    atomic_uint_fast64_t images[MODULE_IMAGE_SOURCES];
    atomic_uint_fast64_t compile_failures;
    atomic_uint_fast64_t compile_nanoseconds;
};
extern struct module_counters module_counters;

static inline void module_count_image(enum module_image_source source)
{
    atomic_fetch_add_explicit(&module_counters.images[source], 1, memory_order_relaxed);
}

#endif
