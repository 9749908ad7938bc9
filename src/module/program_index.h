/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's loaded programs by what the operations know them by, so that a call need not write and
 * hash their texts again to find them.
 */
#ifndef MODULE_KNOWN_H
#define MODULE_KNOWN_H

#include <stdbool.h>

#include <devicepool/field.h>
#include <devicepool/module.h>

#include "pool/device.h"

enum { MODULE_TAG_NUMBERS = 4 };

struct module_tag {
    const char *file;                            /* static */
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES]; /* of the field or curve; zeros: of none */
    uint32_t numbers[MODULE_TAG_NUMBERS];        /* what else the text depends on */
};

/* *module is NULL when the device has none of that tag yet. */
pool_status module_known_find(
    pool_device *device, const struct module_tag *tag, pool_module **module);
/* Twice is possible, when two threads were first at once, and harmless. */
pool_status module_known_add(
    pool_device *device, const struct module_tag *tag, pool_module *module);

#endif
