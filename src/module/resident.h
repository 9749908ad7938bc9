/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules that stay loaded on a device until its pool goes: what warm-up loaded and the library's
 * own kernels. They are no reason to refuse pool_destroy.
 */
#ifndef MODULE_KEPT_H
#define MODULE_KEPT_H

#include "module/image.h"
#include "module/module.h"

/* The module kept under `id`, or NULL in *module. */
pool_status module_kept_find(
    pool_device *device, const struct module_key *id, pool_module **module);

/*
 * Takes over *module and keeps it under `id`. Where another thread was faster with the same id its
 * module stays, ours is destroyed, and *module becomes the one that is kept. On failure *module
 * stays the caller's.
 */
pool_status module_keep(pool_device *device, const struct module_key *id, pool_module **module);

#endif
