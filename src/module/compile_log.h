/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source lines beside a compiler's log.
 */
#ifndef MODULE_LISTING_H
#define MODULE_LISTING_H

#include <devicepool/module.h>

/*
 * The source lines that the log names ("kernel.cu(12): error: …"), numbered, with a line before and
 * after each; from the source or from the header of that name. "" when it names none, NULL when
 * there is no memory. The caller frees it.
 */
char *module_listing(const char *log, const pool_module_params *params, const char *source_name);

#endif
