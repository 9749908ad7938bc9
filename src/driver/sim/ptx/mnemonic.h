/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mnemonics: "mad.lo.cc.u32" is split once into its opcode and modifiers. A module contains a few
 * hundred different mnemonics; instructions point to the split form.
 */
#ifndef SIM_PTX_MNEMONIC_H
#define SIM_PTX_MNEMONIC_H

#include "driver/sim/exec/program.h"

#include <stdbool.h>
#include <stdint.h>

/* Every word that may follow an opcode after a dot, except types. */
#define PTX_MODIFIERS(X)                                                                           \
    X(ABS, "abs")                                                                                  \
    X(ACQ_REL, "acq_rel")                                                                          \
    X(ACQUIRE, "acquire")                                                                          \
    X(ADD, "add")                                                                                  \
    X(ALIAS, "alias")                                                                              \
    X(ALIGNED, "aligned")                                                                          \
    X(ALL, "all")                                                                                  \
    X(ALLOC, "alloc")                                                                              \
    X(AND, "and")                                                                                  \
    X(ANY, "any")                                                                                  \
    X(APPROX, "approx")                                                                            \
    X(ARRIVE, "arrive")                                                                            \
    X(ASYNC, "async") X(B4E, "b4e") X(BALLOT, "ballot") X(BFLY, "bfly") X(CA, "ca") X(CAS,         \
        "cas") X(CC, "cc") X(CG, "cg") X(CLAMP, "clamp") X(CLUSTER, "cluster") X(COMMIT_GROUP,     \
        "commit_group") X(CONST, "const") X(CS, "cs") X(CTA, "cta") X(CV, "cv") X(DEC,             \
        "dec") X(DOWN, "down") X(ECL, "ecl") X(ECR, "ecr") X(EQ, "eq") X(EQU, "equ") X(EXCH,       \
        "exch") X(F4E, "f4e") X(FINITE, "finite") X(FTZ, "ftz") X(FULL, "full") X(GE, "ge") X(GEU, \
        "geu") X(GL, "gl") X(GLOBAL, "global") X(GPU, "gpu") X(GT, "gt") X(GTU, "gtu") X(HI, "hi") \
        X(HS, "hs") X(IDX, "idx") X(INC, "inc") X(INFINITE, "infinite") X(                         \
            L, "l") X(L1, "L1") X(L2, "L2") X(LE, "le") X(LEU, "leu") X(LO, "lo")                  \
            X(LOCAL, "local") X(LS, "ls") X(LT, "lt") X(LTU, "ltu") X(LU, "lu") X(                 \
                MATCH, "match") X(MAX, "max") X(MIN,                                               \
                "min") X(MMIO, "mmio") X(NAN, "nan") X(NAN_PROPAGATE,                              \
                "NaN") X(NC, "nc") X(NE, "ne") X(NEU, "neu") X(NORMAL, "normal") X(NOTANUMBER,     \
                "notanumber")                                                                      \
                X(NUM, "num") X(NUMBER, "number") X(OR, "or") X(PACK, "pack") X(PARAM, "param") X( \
                    PARAM_ENTRY, "param::entry") X(PARAM_FUNC, "param::func") X(POPC, "popc") X(R, \
                    "r") X(RC16, "rc16") X(RC8,                                                    \
                    "rc8") X(READ, "read") X(RED, "red") X(RELAXED, "relaxed")                     \
                    X(RELEASE, "release") X(RELU, "relu") X(RM, "rm") X(RMI, "rmi") X(RN, "rn") X( \
                        RNA, "rna") X(RNI,                                                         \
                        "rni") X(RP, "rp") X(RPI, "rpi") X(RZ, "rz") X(RZI,                        \
                        "rzi") X(SAT, "sat") X(SATFINITE, "satfinite") X(SC, "sc") X(SHARED,       \
                        "shared") X(SHARED_CTA, "shared::cta")                                     \
                        X(SHARED_CLUSTER, "shared::cluster") X(SHIFTAMT, "shiftamt") X(SUB, "sub") \
                            X(SUBNORMAL, "subnormal") X(SYNC, "sync") X(SYS, "sys") X(TO, "to")    \
                                X(UNI, "uni") X(UP, "up") X(V2, "v2") X(V4, "v4") X(V8, "v8") X(   \
                                    VOLATILE, "volatile") X(WAIT, "wait") X(WAIT_ALL, "wait_all")  \
                                    X(WAIT_GROUP, "wait_group") X(WARP, "warp") X(WB, "wb") X(     \
                                        WEAK, "weak") X(WIDE, "wide") X(WRAP, "wrap") X(WT, "wt")  \
                                        X(XOR, "xor") X(XORSIGN, "xorsign") X(UNIFIED, "unified")  \
                                            X(NOFTZ, "noftz") X(THREAD, "thread")                  \
                                                X(HINT, "(hint)") X(EXIT, "exit")                  \
                                                    X(FRACTIONAL, "fractional") X(RANGE, "range")  \
                                                        X(LAUNCH_DEPENDENTS, "launch_dependents")  \
    X(M8N8, "m8n8")                                                                                \
    X(M8N8K4, "m8n8k4")                                                                            \
    X(M8N8K16, "m8n8k16")                                                                          \
    X(M16N8K4, "m16n8k4")                                                                          \
    X(M16N8K8, "m16n8k8")                                                                          \
    X(M16N8K16, "m16n8k16")                                                                        \
    X(M16N8K32, "m16n8k32")                                                                        \
    X(ROW, "row")                                                                                  \
    X(COL, "col")                                                                                  \
    X(X1, "x1")                                                                                    \
    X(X2, "x2")                                                                                    \
    X(X4, "x4")                                                                                    \
    X(TF32, "tf32")                                                                                \
    X(TRANS, "trans")                                                                              \
    X(INIT, "init")                                                                                \
    X(INVAL, "inval")                                                                              \
    X(ARRIVE_DROP, "arrive_drop")                                                                  \
    X(NO_COMPLETE, "noComplete")                                                                   \
    X(EXPECT_TX, "expect_tx")                                                                      \
    X(COMPLETE_TX, "complete_tx")                                                                  \
    X(TEST_WAIT, "test_wait")                                                                      \
    X(TRY_WAIT, "try_wait")                                                                        \
    X(PARITY, "parity")                                                                            \
    X(PENDING_COUNT, "pending_count")                                                              \
    X(MBARRIER, "mbarrier")                                                                        \
    X(NOINC, "noinc")                                                                              \
    X(BULK, "bulk")                                                                                \
    X(BULK_GROUP, "bulk_group")                                                                    \
    X(COMPLETES_MBARRIER, "mbarrier::complete_tx::bytes")                                          \
    X(PROXY, "proxy")                                                                              \
    X(MBARRIER_INIT, "mbarrier_init")

enum ptx_modifier {
    PTX_M_NONE,
#define X(name, text) PTX_M_##name,
    PTX_MODIFIERS(X)
#undef X
        PTX_M_COUNT
};

enum { PTX_MAX_MODIFIERS = 20, PTX_MAX_TYPES = 4 };

struct ptx_mnemonic {
    const char *text; /* in the module's source */
    uint32_t length;
    uint32_t hash;
    struct ptx_mnemonic *next;
    const struct ptx_opcode *opcode;
    uint8_t modifiers[PTX_MAX_MODIFIERS]; /* in source order */
    uint8_t modifier_count;
    uint8_t types[PTX_MAX_TYPES];
    uint8_t type_count;
    uint64_t set[(PTX_M_COUNT + 63) / 64];
};

static inline bool ptx_has(const struct ptx_mnemonic *mnemonic, enum ptx_modifier modifier)
{
    return mnemonic->set[modifier / 64] >> (modifier % 64) & 1;
}

/* The name of a modifier, and the modifier or type of a name (PTX_M_NONE or PTX_NONE when there is
 * none). */
const char *ptx_modifier_name(enum ptx_modifier modifier);
enum ptx_modifier ptx_modifier_find(const char *text, uint32_t length);
enum ptx_type ptx_type_find(const char *text, uint32_t length);

#endif
