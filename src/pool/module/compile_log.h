/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source lines for the locations in a compiler's log.
 */
#ifndef MODULE_COMPILE_LOG_H
#define MODULE_COMPILE_LOG_H

#include <devicepool/module.h>

/*
 * The numbered source lines at the log's locations ("kernel.cu(12): error: …") with a line before
 * and after each, from the source or from the header of that name. "" without locations, NULL when
 * out of memory. The caller frees it with base_free.
 */
char *module_listing(const char *log, const pool_module_params *params, const char *source_name);

#endif
