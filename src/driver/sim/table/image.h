/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classification of module images, and the options of a load.
 */
#ifndef SIM_DRIVER_IMAGE_H
#define SIM_DRIVER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/sim/table/state.h"

/* For which chip an image is loaded, and the log buffers of the load; a buffer that is NULL or has
 * size 0 receives nothing. */
struct sim_jit {
    uint32_t capability;
    char *info, *error;
    size_t info_size, error_size;
    void **info_used, **error_used; /* receive the number of bytes written; may be NULL */
};

/* Reads the options of cuModuleLoadDataEx; returns 1 for options that cuda.h does not define. */
pool_cu_result sim_jit_read(
    struct sim_jit *jit, unsigned count, const pool_cu_enum *options, void **values);

/* Appends a line to the compiler's log. */
void sim_jit_error(const struct sim_jit *jit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sim_jit_info(const struct sim_jit *jit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Returns 0 with the ".version" line and the length for PTX, 209 for machine code (ELF, archive),
 * and 200 for anything else. Fat binaries are handled in fatbin.h.
 */
pool_cu_result sim_image_check(const void *image, const char **body, size_t *length);

/*
 * The PTX that machine code made with -lineinfo or -G carries (a section of the debugger, whose
 * lines end with zero bytes); free it with base_free. NULL: there is none, or no memory. `bytes` is
 * the length of the image, UINT64_MAX if that is not known: then the image has as many bytes as its
 * ELF header says. Everything within them may be hostile.
 */
char *sim_image_embedded_ptx(const void *image, uint64_t bytes);

/* Whether a device of that capability runs PTX for `target`: an "a" target only on that very chip,
 * an "f" target within its family (10x, 11x, 12x), other targets on newer chips too. */
bool sim_image_fits(const char *text, uint32_t target, uint32_t capability);

#endif
