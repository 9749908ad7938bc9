/* SPDX-License-Identifier: Apache-2.0 */
/* What PTX has and simulated devices do not execute, so that a message does not call it unknown. */
#include "driver/sim/ptx/opcodes.h"

#include <string.h>

/* Beginnings of mnemonics that end at a word. */
static const char *const mnemonics[] = {"clusterlaunchcontrol", "cp.async.bulk.prefetch",
    "cp.async.bulk.tensor", "cp.reduce", "discard", "getctarank", "istypep", "mapa", "mma.sp",
    "mma.sp::ordered_metadata", "multimem", "setmaxnreg", "st.async", "st.bulk", "suld", "suq",
    "sured", "sust", "tcgen05", "tensormap", "tex", "tld4", "txq", "vadd", "vadd2", "vadd4",
    "vavrg2", "vavrg4", "vmad", "vmax", "vmax2", "vmax4", "vmin", "vmin2", "vmin4", "vset", "vset2",
    "vset4", "vshl", "vshr", "vsub", "vsub2", "vsub4", "wgmma", "wmma"};

/* Types and qualifiers of instructions of which other forms are executed. */
static const char *const words[] = {"b1", "b1024", "b4", "b4x16_p64", "b6x16_p32", "b8x16", "e2m1",
    "e2m1x2", "e2m3", "e2m3x2", "e3m2", "e3m2x2", "e4m3", "e4m3x2", "e5m2", "e5m2x2", "m16n16",
    "m16n8k64", "m16n8k128", "m16n8k256", "m8n16", "m8n8k32", "m8n8k128", "multicast::cluster",
    "rs", "s2f6x2", "s4", "u4", "ue8m0", "ue8m0x2"};

static bool is_listed(
    const char *const *list, size_t count, const char *text, size_t length, bool is_prefix)
{
    for (size_t i = 0; i < count; i++) {
        size_t own = strlen(list[i]);
        bool ends = own == length || (is_prefix && own < length && text[own] == '.');
        if (ends && memcmp(text, list[i], own) == 0)
            return true;
    }
    return false;
}

bool ptx_mnemonic_is_refused(const char *text, uint32_t length)
{
    return is_listed(mnemonics, sizeof(mnemonics) / sizeof(mnemonics[0]), text, length, true);
}

bool ptx_word_is_refused(const char *text, uint32_t length)
{
    return is_listed(words, sizeof(words) / sizeof(words[0]), text, length, false);
}

bool ptx_launches_kernels(const char *function)
{
    static const char *const beginnings[] = {
        "cudaLaunchDevice", "cudaGetParameterBuffer", "cudaCDP2", "__cudaCDP2"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}
