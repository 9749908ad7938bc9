/* SPDX-License-Identifier: Apache-2.0 */
/* Names of modifiers and types in mnemonics. */
#include "driver/sim/ptx/mnemonic.h"

#include <string.h>

static const char *const modifier_names[PTX_M_COUNT] = {[PTX_M_NONE] = "",
#define X(name, text) [PTX_M_##name] = text,
    PTX_MODIFIERS(X)
#undef X
};

const char *ptx_modifier_name(enum ptx_modifier modifier)
{
    return modifier_names[modifier];
}

static bool starts_with(const char *text, uint32_t length, const char *prefix)
{
    size_t n = strlen(prefix);
    return length >= n && memcmp(text, prefix, n) == 0;
}

enum ptx_modifier ptx_modifier_find(const char *text, uint32_t length)
{
    for (int i = 1; i < PTX_M_COUNT; i++)
        if (strlen(modifier_names[i]) == length && memcmp(modifier_names[i], text, length) == 0)
            return (enum ptx_modifier)i;
    /* Cache hints do not change results. */
    if (starts_with(text, length, "L1::") || starts_with(text, length, "L2::") ||
        starts_with(text, length, "level::"))
        return PTX_M_HINT;
    return PTX_M_NONE;
}

enum ptx_type ptx_type_find(const char *text, uint32_t length)
{
    for (int i = 1; i < PTX_TYPE_COUNT; i++) {
        const char *name = ptx_type_name((enum ptx_type)i);
        if (strlen(name) == length && memcmp(name, text, length) == 0)
            return (enum ptx_type)i;
    }
    return PTX_NONE;
}
