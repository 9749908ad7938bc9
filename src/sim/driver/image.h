/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a module image is, and the options it is loaded with.
 */
#ifndef SIM_DRIVER_IMAGE_H
#define SIM_DRIVER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/driver/state.h"

/* The log buffers of a load; a buffer of NULL or size 0 takes nothing. */
struct sim_jit {
    char *info, *error;
    size_t info_size, error_size;
    void **info_used, **error_used; /* where the caller learns how much was written; may be NULL */
};

/* Reads the options of cuModuleLoadDataEx: 1 for what cuda.h does not know. */
pool_cu_result sim_jit_read(
    struct sim_jit *jit, unsigned count, const pool_cu_enum *options, void **values);

/* Writes a line of the compiler's log. */
void sim_jit_error(const struct sim_jit *jit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sim_jit_info(const struct sim_jit *jit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * 0, the ".version" line and the text's length for PTX; 209 for machine code (ELF, fat binary,
 * archive), 200 for what is neither.
 */
pool_cu_result sim_image_check(const void *image, const char **body, size_t *length);

/* Whether a device of that capability runs PTX for `target`: an "a" target only on the very chip,
 * an "f" target within its family (10x, 11x, 12x), others upwards. */
bool sim_image_fits(const char *text, uint32_t target, uint32_t capability);

#endif
