/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trial of a compiler: a trivial kernel is compiled and, for a device, loaded. A good verdict
 * is kept in the disk cache.
 */
#ifndef MODULE_TRIAL_H
#define MODULE_TRIAL_H

#include "pool/module/compiler.h"

#define MODULE_TRIAL_NAME "devicepool_trial.cu"

/* Whether the disk cache has a good verdict on the choice's present compiler. */
pool_status module_trial_look(const struct module_choice *choice, bool *is_stored);

/* The trial itself; with `scope` inside device_enter. POOL_ERR_NO_COMPILER: it has failed, with the
 * reason; no error is set. */
pool_status module_trial_run(
    struct module_choice *choice, struct device_scope *scope, char *reason, size_t size);

#endif
