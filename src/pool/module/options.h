/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that NVRTC gets: the library's, the defines, the caller's, the toolkit's directories.
 * NVRTC before 13.0 refuses an option that is given twice ("defined more than once"); of options
 * that set one value the last one is passed, and one of the library only if the caller has none.
 */
#ifndef MODULE_OPTIONS_H
#define MODULE_OPTIONS_H

#include <stdbool.h>

#include "pool/module/image.h"

/* What is compiled for: "90" as PTX is compute_90, "90a" as machine code is sm_90a. */
struct module_target {
    char chip[16];
    enum module_form form;
};

/* The target that the caller's --gpu-architecture names; false: there is none. */
bool module_options_target(const pool_module_params *params, struct module_target *target);

/* All options, in one allocation that the caller frees with base_free; NULL: no memory. */
struct nvrtc;
const char **module_options_new(const struct nvrtc *nvrtc, const struct module_request *request,
    const struct module_target *target, int *count);

#endif
