/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resident modules of a device: those that a warm-up loaded and those of the library's own
 * programs. They exist until the pool is destroyed and do not keep it from being destroyed. Where
 * the device has no memory left they are unloaded until their next use (resident.c).
 */
#ifndef MODULE_REGISTRY_H
#define MODULE_REGISTRY_H

#include <stdbool.h>

#include <devicepool/field.h>

#include "pool/module/image.h"
#include "pool/module/module.h"

enum { MODULE_KEY_PARAMETERS = 5 };

/*
 * What a program's sources are generated from. An operation finds a resident module by it without
 * generating and hashing the sources again.
 */
struct module_program_key {
    const struct module_program_type *type;      /* module/program.h; static */
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES]; /* of the subject; zeros: of none */
    uint32_t parameters[MODULE_KEY_PARAMETERS];  /* values of the type's defines */
};

/* The module with this program key; *module is NULL when there is none. */
pool_status module_registry_find(
    pool_device *device, const struct module_program_key *key, pool_module **module);
/* Registers a resident module under a program key as well. Any number of keys per module. */
pool_status module_registry_alias(
    pool_device *device, const struct module_program_key *key, pool_module *module);

/* The module with this digest of its sources; *module is NULL when there is none. */
pool_status module_registry_find_digest(
    pool_device *device, const struct module_key *digest, pool_module **module);

/*
 * Makes *module resident and takes it over. If another thread has registered the same digest
 * meanwhile, its module stays, the caller's is destroyed, and *module becomes the resident one. On
 * failure the caller still owns *module.
 */
pool_status module_registry_add(
    pool_device *device, const struct module_key *digest, pool_module **module);

#endif
