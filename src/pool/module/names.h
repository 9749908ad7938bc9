/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Name expressions ("scale<float, 4>", "app::table") and the symbols that the compiler gave them.
 * They follow the image as lines of text, so that every copy of it, in the caches and in files, has
 * them: behind PTX they are comments, behind the sections of machine code they are not read.
 *
 *     //devicepool-name SYMBOL EXPRESSION
 */
#ifndef MODULE_NAMES_H
#define MODULE_NAMES_H

#include <stddef.h>

#include <devicepool/status.h>

#include "driver/nvrtc.h"
#include "pool/module/image.h"

/* POOL_ERR_INVALID_ARGUMENT for an expression that is NULL, empty or has a line break. */
pool_status module_names_check(const char *call, const pool_module_params *params);

/* A copy of `image` that the names of a compiled program follow; `image` is released. */
pool_status module_names_append(const struct nvrtc *nvrtc, nvrtc_program program,
    const pool_module_params *params, struct module_image **image);

/* The names behind an image, NULL for none: pairs of strings, the symbol first, then an empty one.
 * The caller frees *names with base_free. */
pool_status module_names_read(const char *image, size_t size, char **names);

/* The symbol of an expression, or NULL. White space counts. */
const char *module_names_find(const char *names, const char *expression);

#endif
