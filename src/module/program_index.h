/* SPDX-License-Identifier: Apache-2.0 */
/* Names of module/registry.h until src/msm uses them. */
#ifndef MODULE_PROGRAM_INDEX_H
#define MODULE_PROGRAM_INDEX_H

#include "module/registry.h"

#define module_tag module_program_key
#define module_known_find module_registry_find
#define module_known_add module_registry_alias

#endif
