/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions that write packs share. */
#ifndef MODULE_PACK_FILES_H
#define MODULE_PACK_FILES_H

#include <devicepool/module.h>

#include "pool/module/pack.h"

/* Checks the struct of the caller; NULL is valid. */
pool_status pack_info_check(const char *call, const pool_pack_info *info);

/* Writes the pack into the directory, which is created if it is missing, and fills `info`, unless
 * NULL. */
pool_status pack_finish(
    const char *call, struct pack_builder *builder, const char *directory, pool_pack_info *info);

#endif
