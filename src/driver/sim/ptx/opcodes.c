/* SPDX-License-Identifier: Apache-2.0 */
/* The opcode table. Shapes are explained in lower_integer.c. */
#include "driver/sim/ptx/opcodes.h"

#include "base/math.h"
#include "driver/sim/ptx/lower.h"

#include <string.h>

#define ROUND "rn rz rm rp "
#define CACHE                                                                                      \
    "weak volatile relaxed acquire release acq_rel sc cta cluster gpu sys gl mmio global shared "  \
    "local param const shared::cta shared::cluster param::entry param::func nc ca cg cs lu cv wb " \
    "wt v2 v4 v8 (hint) unified "

enum {
    INT = SIM_CLASS_INTEGER,
    MUL = SIM_CLASS_MULTIPLY,
    FLT = SIM_CLASS_FLOAT,
    GLB = SIM_CLASS_GLOBAL,
    ATO = SIM_CLASS_ATOMIC,
    WRP = SIM_CLASS_WARP,
    BAR = SIM_CLASS_BARRIER,
    CTL = SIM_CLASS_CONTROL
};

/* name, lower, kind, class, writes, elementwise, ends block, shape, modifiers; sorted by name */
static const struct ptx_opcode opcodes[] = {
    {"abs", ptx_lower_simple, SIM_ABS, INT, 1, true, false, "tt", "ftz"},
    {"activemask", ptx_lower_activemask, SIM_ACTIVEMASK, WRP, 1, false, false, "", ""},
    {"add", ptx_lower_add, SIM_ADD, INT, 1, true, false, "ttt", ROUND "cc sat ftz"},
    {"addc", ptx_lower_add, SIM_ADDC, INT, 1, true, false, "ttt", "cc"},
    {"alloca", ptx_lower_alloca, SIM_ALLOCA, INT, 1, false, false, "", ""},
    {"and", ptx_lower_bitwise, SIM_AND, INT, 1, true, false, "ttt", ""},
    {"applypriority", ptx_lower_prefetch, 0, GLB, 0, false, false, "", "global (hint)"},
    {"atom", ptx_lower_atom, SIM_ATOM, ATO, 1, false, false, "",
        CACHE "add inc dec min max and or xor exch cas noftz"},
    {"bar", ptx_lower_bar, SIM_BAR, BAR, 1, false, false, "",
        "warp sync arrive red aligned cta popc and or"},
    {"barrier", ptx_lower_bar, SIM_BAR, BAR, 1, false, false, "",
        "sync arrive red aligned cta popc and or"},
    {"bfe", ptx_lower_simple, SIM_BFE, INT, 1, true, false, "ttuu", ""},
    {"bfi", ptx_lower_simple, SIM_BFI, INT, 1, true, false, "tttuu", ""},
    {"bfind", ptx_lower_bfind, SIM_BFIND, INT, 1, true, false, "ut", "shiftamt"},
    {"bmsk", ptx_lower_variant, SIM_BMSK_CLAMP, INT, 1, true, false, "tuu", "clamp wrap"},
    {"bra", ptx_lower_bra, SIM_BRA, CTL, 0, false, true, "", "uni"},
    {"brev", ptx_lower_simple, SIM_BREV, INT, 1, true, false, "tt", ""},
    {"brkpt", ptx_lower_no_result, SIM_BRKPT, CTL, 0, false, false, "", ""},
    {"brx", ptx_lower_brx, SIM_BRX, CTL, 0, false, true, "", "idx uni"},
    {"call", ptx_lower_call, SIM_CALL, CTL, 1, false, true, "", "uni"},
    {"clz", ptx_lower_simple, SIM_CLZ, INT, 1, true, false, "ut", ""},
    {"cnot", ptx_lower_simple, SIM_CNOT, INT, 1, true, false, "tt", ""},
    {"copysign", ptx_lower_simple, SIM_COPYSIGN, FLT, 1, true, false, "ttt", ""},
    {"cos", ptx_lower_float, SIM_COS, FLT, 1, true, false, "tt", "approx ftz"},
    {"cp", ptx_lower_cp_async, SIM_CP_ASYNC, GLB, 0, false, false, "",
        "async ca cg shared shared::cta global commit_group wait_group wait_all (hint) mbarrier "
        "arrive "
        "noinc bulk bulk_group shared::cluster mbarrier::complete_tx::bytes read"},
    {"createpolicy", ptx_lower_createpolicy, SIM_MOV, INT, 1, false, false, "",
        "(hint) fractional range"},
    {"cvt", ptx_lower_cvt, SIM_TO32, INT, 1, false, false, "",
        ROUND "rna rni rzi rmi rpi sat ftz relu satfinite pack"},
    {"cvta", ptx_lower_cvta, SIM_TO_GENERIC, INT, 1, false, false, "",
        "to global shared local const param shared::cta shared::cluster param::entry"},
    {"discard", ptx_lower_prefetch, 0, GLB, 0, false, false, "", "global (hint)"},
    {"div", ptx_lower_float, SIM_DIV, INT, 1, true, false, "ttt", ROUND "full approx ftz"},
    {"dp2a", ptx_lower_dp, SIM_DP2A_LO_UU, MUL, 1, true, false, "uuuu", "lo hi"},
    {"dp4a", ptx_lower_dp, SIM_DP4A_UU, MUL, 1, true, false, "uuuu", ""},
    {"elect", ptx_lower_elect, SIM_ELECT, WRP, 1, false, false, "", "sync"},
    {"ex2", ptx_lower_float, SIM_EX2, FLT, 1, true, false, "tt", "approx ftz"},
    {"exit", ptx_lower_no_result, SIM_EXIT, CTL, 0, false, true, "", ""},
    {"fence", ptx_lower_fence, SIM_FENCE, BAR, 0, false, false, "",
        "sc acq_rel acquire release cta cluster gpu sys proxy async global shared::cta "
        "shared::cluster mbarrier_init"},
    {"fma", ptx_lower_float, SIM_FMA, FLT, 1, true, false, "tttt", ROUND "ftz sat relu"},
    {"fns", ptx_lower_simple, SIM_FNS, INT, 1, true, false, "uuuu", ""},
    {"griddepcontrol", ptx_lower_fence, SIM_FENCE, BAR, 0, false, false, "",
        "launch_dependents wait"},
    {"isspacep", ptx_lower_isspacep, SIM_IS_SPACE, INT, 1, false, false, "",
        "global shared local const param shared::cta shared::cluster param::entry"},
    {"ld", ptx_lower_ld, SIM_LD, GLB, 1, false, false, "", CACHE},
    {"ldmatrix", ptx_lower_ldmatrix, SIM_LDMATRIX, GLB, 1, false, false, "",
        "sync aligned m8n8 x1 x2 x4 trans shared shared::cta"},
    {"ldu", ptx_lower_ld, SIM_LD, GLB, 1, false, false, "", "global v2 v4"},
    {"lg2", ptx_lower_float, SIM_LG2, FLT, 1, true, false, "tt", "approx ftz"},
    {"lop3", ptx_lower_lop3, SIM_LOP3, INT, 1, false, false, "", "and or"},
    {"mad", ptx_lower_mad, SIM_MAD_LO, MUL, 1, true, false, "tttt", ROUND "lo hi wide cc sat ftz"},
    {"mad24", ptx_lower_mad, SIM_MAD24_LO, MUL, 1, true, false, "tttt", "lo hi sat"},
    {"madc", ptx_lower_mad, SIM_MADC_LO, MUL, 1, true, false, "tttt", "lo hi cc"},
    {"match", ptx_lower_match, SIM_MATCH, WRP, 1, false, false, "", "any all sync"},
    {"max", ptx_lower_minmax, SIM_MAX, INT, 1, true, false, "ttt", "ftz NaN relu"},
    {"mbarrier", ptx_lower_mbarrier, SIM_MBARRIER, BAR, 1, false, false, "",
        "init inval arrive arrive_drop noComplete expect_tx complete_tx test_wait try_wait parity "
        "pending_count release acquire relaxed cta cluster shared shared::cta shared::cluster"},
    {"membar", ptx_lower_fence, SIM_FENCE, BAR, 0, false, false, "", "cta gl sys"},
    {"min", ptx_lower_minmax, SIM_MIN, INT, 1, true, false, "ttt", "ftz NaN relu"},
    {"mma", ptx_lower_mma, SIM_MMA, FLT, 1, false, false, "",
        "sync aligned m8n8k4 m8n8k16 m16n8k4 m16n8k8 m16n8k16 m16n8k32 row col tf32 satfinite"},
    {"mov", ptx_lower_mov, SIM_MOV, INT, 1, false, false, "", ""},
    {"mul", ptx_lower_mul, SIM_MUL_LO, MUL, 1, true, false, "ttt", ROUND "lo hi wide sat ftz"},
    {"mul24", ptx_lower_mul, SIM_MUL24_LO, MUL, 1, true, false, "ttt", "lo hi"},
    {"nanosleep", ptx_lower_no_result, SIM_NANOSLEEP, CTL, 0, false, true, "u", ""},
    {"neg", ptx_lower_simple, SIM_NEG, INT, 1, true, false, "tt", "ftz"},
    {"not", ptx_lower_bitwise, SIM_NOT, INT, 1, true, false, "tt", ""},
    {"or", ptx_lower_bitwise, SIM_OR, INT, 1, true, false, "ttt", ""},
    {"pmevent", ptx_lower_fence, SIM_FENCE, CTL, 0, false, false, "", ""},
    {"popc", ptx_lower_simple, SIM_POPC, INT, 1, true, false, "ut", ""},
    {"prefetch", ptx_lower_prefetch, 0, GLB, 0, false, false, "", "global local L1 L2 (hint)"},
    {"prefetchu", ptx_lower_prefetch, 0, GLB, 0, false, false, "", "L1"},
    {"prmt", ptx_lower_prmt, SIM_PRMT, INT, 1, true, false, "uuuu", "f4e b4e rc8 ecl ecr rc16"},
    {"rcp", ptx_lower_float, SIM_RCP, FLT, 1, true, false, "tt", ROUND "approx ftz"},
    {"red", ptx_lower_atom, SIM_ATOM, ATO, 0, false, false, "",
        CACHE "add inc dec min max and or xor noftz"},
    {"redux", ptx_lower_redux, SIM_REDUX, WRP, 1, false, false, "", "sync add min max and or xor"},
    {"rem", ptx_lower_simple, SIM_REM, INT, 1, true, false, "ttt", ""},
    {"ret", ptx_lower_no_result, SIM_RET, CTL, 0, false, true, "", "uni"},
    {"rsqrt", ptx_lower_float, SIM_RSQRT, FLT, 1, true, false, "tt", "approx ftz"},
    {"sad", ptx_lower_simple, SIM_SAD, INT, 1, true, false, "tttt", ""},
    {"selp", ptx_lower_selp, SIM_SELP, INT, 1, false, false, "", ""},
    {"set", ptx_lower_set, SIM_SET_BITS, INT, 1, false, false, "",
        "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz"},
    {"setp", ptx_lower_setp, SIM_CMP_EQ, INT, 1, false, false, "",
        "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz"},
    {"shf", ptx_lower_shf, SIM_SHF_L_CLAMP, INT, 1, true, false, "uuuu", "l r clamp wrap"},
    {"shfl", ptx_lower_shfl, SIM_SHFL, WRP, 1, false, false, "", "sync up down bfly idx"},
    {"shl", ptx_lower_simple, SIM_SHL, INT, 1, true, false, "ttu", ""},
    {"shr", ptx_lower_simple, SIM_SHR, INT, 1, true, false, "ttu", ""},
    {"sin", ptx_lower_float, SIM_SIN, FLT, 1, true, false, "tt", "approx ftz"},
    {"slct", ptx_lower_slct, SIM_SLCT, INT, 1, true, false, "", "ftz"},
    {"sqrt", ptx_lower_float, SIM_SQRT, FLT, 1, true, false, "tt", ROUND "approx ftz"},
    {"st", ptx_lower_st, SIM_ST, GLB, 0, false, false, "", CACHE},
    {"stackrestore", ptx_lower_alloca, SIM_STACK_RESTORE, INT, 0, false, false, "", ""},
    {"stacksave", ptx_lower_alloca, SIM_STACK_SAVE, INT, 1, false, false, "", ""},
    {"stmatrix", ptx_lower_stmatrix, SIM_STMATRIX, GLB, 0, false, false, "",
        "sync aligned m8n8 x1 x2 x4 trans shared shared::cta"},
    {"sub", ptx_lower_add, SIM_SUB, INT, 1, true, false, "ttt", ROUND "cc sat ftz"},
    {"subc", ptx_lower_add, SIM_SUBC, INT, 1, true, false, "ttt", "cc"},
    {"szext", ptx_lower_variant, SIM_SZEXT_CLAMP, INT, 1, true, false, "ttu", "clamp wrap"},
    {"tanh", ptx_lower_float, SIM_TANH, FLT, 1, true, false, "tt", "approx ftz"},
    {"testp", ptx_lower_testp, SIM_TESTP, FLT, 1, false, false, "",
        "finite infinite number notanumber normal subnormal"},
    {"trap", ptx_lower_no_result, SIM_TRAP, CTL, 0, false, false, "", ""},
    {"vabsdiff2", ptx_lower_absdiff, SIM_ABSDIFF2, INT, 1, true, false, "uuuu", "add"},
    {"vabsdiff4", ptx_lower_absdiff, SIM_ABSDIFF4, INT, 1, true, false, "uuuu", "add"},
    {"vote", ptx_lower_vote, SIM_VOTE, WRP, 1, false, false, "", "sync all any uni ballot"},
    {"xor", ptx_lower_bitwise, SIM_XOR, INT, 1, true, false, "ttt", ""},
};

const struct ptx_opcode *ptx_opcode_find(const char *name, uint32_t length)
{
    uint32_t low = 0, high = sizeof(opcodes) / sizeof(opcodes[0]);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const char *other = opcodes[middle].name;
        size_t other_length = strlen(other);
        int order = memcmp(name, other, base_min(length, other_length));
        if (order == 0)
            order = (length > other_length) - (length < other_length);
        if (order == 0)
            return &opcodes[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
