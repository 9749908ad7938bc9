/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable form: operations of 32 bytes in source order. An operation refers to its handler
 * and, by byte offsets into the warp's frame, to its operands: a register is a vector register
 * (vreg) of 32 lanes, a predicate one word of 32 bits, and a constant a vector register like any
 * other. Lowering creates the operations; the handlers of exec/ execute them.
 */
#ifndef SIM_EXEC_OPS_H
#define SIM_EXEC_OPS_H

#include "driver/sim/exec/types.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIM_LANES = 32 };
#define SIM_ALL_LANES UINT32_C(0xffffffff)

struct sim_warp;
struct sim_op;

/* Executes one operation; returns the next, or NULL when the warp must stop (its state holds the
 * reason). */
typedef const struct sim_op *(*sim_handler)(struct sim_warp *warp, const struct sim_op *op);

/* Anonymous members: words[] is an operation that only carries further operands of the one before
 * it. */
struct sim_op {
    union {
        struct {
            sim_handler run;
            uint32_t d, a, b, c;
            uint32_t guard; /* offset of a predicate; bit 0: negated */
            uint32_t aux;
        };
        uint32_t words[8];
    };
};

/* Fixed offsets at the start of a frame; lowering allocates all further vector registers. */
enum {
    SIM_VREG_CARRY = 0,  /* carry flag of each lane, 0 or 1, 32 bits */
    SIM_VREG_TRUE = 128, /* predicate that always holds */
    SIM_VREG_FALSE = 132,
    SIM_VREG_UNUSED = 192, /* receives unused results: 512 bytes */
    SIM_VREG_LOCAL = 704,  /* offset of the lane's local frame, 32 bits */
    SIM_VREG_SYNC =
        832, /* values contributed by lanes that arrived at different operations: 256 bytes */
    SIM_VREG_SCRATCH = 1088, /* intermediate values of one instruction */
    SIM_SCRATCH_VREGS = 40,  /* of 256 bytes */
    SIM_VREG_TRANSFER = SIM_VREG_SCRATCH + SIM_SCRATCH_VREGS * 256
};

enum sim_kind {
    SIM_MOV,
    SIM_ADD,
    SIM_SUB,
    SIM_ADD_SAT,
    SIM_SUB_SAT,
    SIM_ADD_CC,
    SIM_ADDC,
    SIM_ADDC_CC,
    SIM_SUB_CC,
    SIM_SUBC,
    SIM_SUBC_CC,
    SIM_MUL_LO,
    SIM_MUL_HI,
    SIM_MUL_WIDE,
    SIM_MAD_LO,
    SIM_MAD_HI,
    SIM_MAD_WIDE,
    SIM_MAD_HI_SAT,
    SIM_MAD_LO_CC,
    SIM_MADC_LO,
    SIM_MADC_LO_CC,
    SIM_MAD_HI_CC,
    SIM_MADC_HI,
    SIM_MADC_HI_CC,
    SIM_MUL24_LO,
    SIM_MUL24_HI,
    SIM_MAD24_LO,
    SIM_MAD24_HI,
    SIM_MAD24_HI_SAT,
    SIM_DIV,
    SIM_REM,
    SIM_ABS,
    SIM_NEG,
    SIM_MIN,
    SIM_MAX,
    SIM_SAD,
    SIM_MIN_RELU,
    SIM_MAX_RELU,
    SIM_AND,
    SIM_OR,
    SIM_XOR,
    SIM_NOT,
    SIM_CNOT,
    SIM_SHL,
    SIM_SHR,
    SIM_LOP3,
    SIM_SHF_L_CLAMP,
    SIM_SHF_R_CLAMP,
    SIM_SHF_L_WRAP,
    SIM_SHF_R_WRAP,
    SIM_POPC,
    SIM_CLZ,
    SIM_BFIND,
    SIM_BFIND_SHIFT,
    SIM_FNS,
    SIM_BREV,
    SIM_BFE,
    SIM_BFI,
    SIM_BMSK_CLAMP,
    SIM_BMSK_WRAP,
    SIM_SZEXT_CLAMP,
    SIM_SZEXT_WRAP,
    SIM_PRMT,
    SIM_PRMT_F4E,
    SIM_PRMT_B4E,
    SIM_PRMT_RC8,
    SIM_PRMT_ECL,
    SIM_PRMT_ECR,
    SIM_PRMT_RC16,
    SIM_DP4A_UU,
    SIM_DP4A_US,
    SIM_DP4A_SU,
    SIM_DP4A_SS,
    SIM_DP2A_LO_UU,
    SIM_DP2A_LO_US,
    SIM_DP2A_LO_SU,
    SIM_DP2A_LO_SS,
    SIM_DP2A_HI_UU,
    SIM_DP2A_HI_US,
    SIM_DP2A_HI_SU,
    SIM_DP2A_HI_SS,
    SIM_ABSDIFF2,
    SIM_ABSDIFF4, /* aux: 1 signed, 2 sum of all */
    SIM_SELP,
    SIM_SLCT,
    SIM_SLCT_F32,
    SIM_SET_BITS,
    SIM_SET_ONE,
    SIM_SET_FLOAT,
    SIM_CMP_EQ,
    SIM_CMP_NE,
    SIM_CMP_LT,
    SIM_CMP_LE,
    SIM_CMP_GT,
    SIM_CMP_GE,
    SIM_CMP_EQU,
    SIM_CMP_NEU,
    SIM_CMP_LTU,
    SIM_CMP_LEU,
    SIM_CMP_GTU,
    SIM_CMP_GEU,
    SIM_CMP_NUM,
    SIM_CMP_NAN,
    SIM_COMBINE, /* predicate logic of setp, set and xor.pred */
    SIM_TO16,
    SIM_TO32,
    SIM_TO64, /* from the operation's type, sign-extended where it is signed */
    SIM_CLAMP8,
    SIM_CLAMP16,
    SIM_CLAMP32,
    SIM_CLAMP64, /* clamps a 64-bit value to a type's range; aux: signed */
    SIM_CVT_FROM_INT,
    SIM_CVT_TO_INT,
    SIM_CVT_FLOAT,
    SIM_CVT_PACK,
    SIM_PACK,
    SIM_UNPACK,
    SIM_FMA,
    SIM_SQRT,
    SIM_RCP,
    SIM_RSQRT,
    SIM_SIN,
    SIM_COS,
    SIM_LG2,
    SIM_EX2,
    SIM_TANH,
    SIM_COPYSIGN,
    SIM_TESTP,
    SIM_MUL,
    SIM_DIV_APPROX,
    SIM_BLOCK, /* start of a basic block: counts, limits, reconvergence */
    SIM_BRA,
    SIM_BRX,
    SIM_CALL,
    SIM_CALL_INDIRECT,
    SIM_RET,
    SIM_EXIT,
    SIM_TRAP,
    SIM_BRKPT,
    SIM_NANOSLEEP,
    SIM_SAVE,
    SIM_RESTORE,
    SIM_COPY_VREGS,
    SIM_PRINT,
    SIM_ASSERT,
    SIM_ALLOCA,
    SIM_STACK_SAVE,
    SIM_STACK_RESTORE,
    SIM_BAR,
    SIM_BAR_ARRIVE,
    SIM_BAR_RED,
    SIM_BAR_RESULT,
    SIM_BAR_WARP,
    SIM_FENCE,
    SIM_SHFL,
    SIM_VOTE,
    SIM_MATCH,
    SIM_ACTIVEMASK,
    SIM_REDUX,
    SIM_ELECT,
    SIM_LD,
    SIM_ST,
    SIM_LD_PARAM,
    SIM_ATOM,
    SIM_CP_ASYNC,
    SIM_PREFETCH,
    SIM_LOCAL_ADDRESS,
    SIM_TO_GENERIC,
    SIM_FROM_GENERIC,
    SIM_IS_SPACE,
    SIM_CLOCK,
    SIM_LANEMASK,
    SIM_CONVERGE, /* before a warp-wide operation: waits for all lanes of the warp */
    SIM_MMA,
    SIM_LDMATRIX,
    SIM_STMATRIX,
    SIM_MBARRIER,
    SIM_CP_BULK,
    SIM_FUSED, /* a run of aux operations as a steps, which stand c operations on; b: whether the
                  carry is written */
    SIM_KIND_COUNT
};

/* The handler of a kind for a type, selected for the host's instruction set; NULL when there is
 * none. */
sim_handler sim_handler_find(enum sim_kind kind, enum ptx_type type);

struct sim_handlers {
    sim_handler run[SIM_KIND_COUNT][PTX_TYPE_COUNT];
};

/* Handlers that are compiled once per instruction set, and the others. */
void sim_lanes_fill_sse2(struct sim_handlers *handlers);
void sim_lanes_fill_avx2(struct sim_handlers *handlers);
void sim_lanes_fill_avx512(struct sim_handlers *handlers);
void sim_bits_fill(struct sim_handlers *handlers);
void sim_float_fill(struct sim_handlers *handlers);
void sim_convert_fill(struct sim_handlers *handlers);
void sim_atomic_fill(struct sim_handlers *handlers);
void sim_memory_fill(struct sim_handlers *handlers);
void sim_warp_fill(struct sim_handlers *handlers);
void sim_control_fill(struct sim_handlers *handlers);
void sim_call_fill(struct sim_handlers *handlers);
void sim_barrier_fill(struct sim_handlers *handlers);
void sim_mma_fill(struct sim_handlers *handlers);
void sim_mbarrier_fill(struct sim_handlers *handlers);

/* Word 0 of a step of SIM_FUSED; words 1 to 6 are d, the d of the second half of a pair, a, b, c
 * and the c of the second half. To the kinds with four forms 1 is added where the carry is read,
 * and 2 where it is written. */
enum sim_fused {
    SIM_FUSED_MAD_PAIR = 0,
    SIM_FUSED_ADD = 4,
    SIM_FUSED_SUB = 8,
    SIM_FUSED_MAD_LO = 12,
    SIM_FUSED_MAD_HI = 16,
    SIM_FUSED_MUL_PAIR = 20,
    SIM_FUSED_MUL_LO,
    SIM_FUSED_MUL_HI,
    SIM_FUSED_MOV,
    SIM_FUSED_AND,
    SIM_FUSED_OR,
    SIM_FUSED_XOR,
    SIM_FUSED_SHF_L_WRAP,
    SIM_FUSED_SELP
};

/* ---- operands packed into words -------------------------------------------------------------- */

/* Operand b of SIM_LD and SIM_ST; word 0 after SIM_ATOM. */
enum {
    SIM_ACCESS_SPACE_SHIFT = 0,  /* 3 bits: enum sim_access_space */
    SIM_ACCESS_WIDE_ADDRESS = 8, /* the address register has 64-bit lanes */
    SIM_ACCESS_SIZE_SHIFT = 4,   /* 3 bits: log2 of an element's bytes */
    SIM_ACCESS_SIGNED = 128,
    SIM_ACCESS_LANE_SHIFT = 8, /* 3 bits: log2 of a lane's bytes */
    SIM_ACCESS_STRONG = 2048,  /* volatile, relaxed, acquire: possibly polling for another thread */
    SIM_ACCESS_COUNT_SHIFT = 12, /* 4 bits: elements */
    SIM_ACCESS_ORDERED =
        65536 /* volatile, relaxed, acquire, release: no data race with another one */
};

enum sim_access_space { SIM_IN_GENERIC, SIM_IN_GLOBAL, SIM_IN_SHARED, SIM_IN_LOCAL, SIM_IN_PARAM };

enum sim_atomic {
    SIM_ATOMIC_ADD,
    SIM_ATOMIC_INC,
    SIM_ATOMIC_DEC,
    SIM_ATOMIC_MIN,
    SIM_ATOMIC_MAX,
    SIM_ATOMIC_AND,
    SIM_ATOMIC_OR,
    SIM_ATOMIC_XOR,
    SIM_ATOMIC_EXCH,
    SIM_ATOMIC_CAS
};

/* aux of SIM_MBARRIER */
enum sim_mbarrier {
    SIM_MBARRIER_INIT,
    SIM_MBARRIER_INVAL,
    SIM_MBARRIER_ARRIVE,
    SIM_MBARRIER_ARRIVE_DROP,
    SIM_MBARRIER_ARRIVE_EXPECT_TX,
    SIM_MBARRIER_ARRIVE_DROP_EXPECT_TX,
    SIM_MBARRIER_EXPECT_TX,
    SIM_MBARRIER_COMPLETE_TX,
    SIM_MBARRIER_WAIT,
    SIM_MBARRIER_WAIT_PARITY
};

/* Operands of SIM_MMA follow it in three operations of words: at most 4 of d, 8 of a, 4 of b and 4
 * of c. */
enum { SIM_MMA_A = 4, SIM_MMA_B = 12, SIM_MMA_C = 16, SIM_MMA_WORDS = 3 };

/* aux of SIM_MMA: the shape and the types */
enum {
    SIM_MMA_ROWS_SHIFT = 0,  /* 8 or 16 */
    SIM_MMA_DEPTH_SHIFT = 5, /* k: 4 to 32 */
    SIM_MMA_SATURATES = 2048,
    SIM_MMA_FIRST_SHIFT = 12, /* enum ptx_type of a, b, c and d, 5 bits each */
    SIM_MMA_TYPE_BITS = 5
};

enum sim_boolean { SIM_BOOL_AND, SIM_BOOL_OR, SIM_BOOL_XOR, SIM_BOOL_FIRST };

enum sim_rounding { SIM_RN, SIM_RZ, SIM_RM, SIM_RP };

/* aux of floating-point operations */
enum {
    SIM_FLOAT_ROUNDING = 3,
    SIM_FLOAT_FTZ = 4,
    SIM_FLOAT_SAT = 8,
    SIM_FLOAT_INTEGRAL = 16,
    SIM_FLOAT_RELU = 32,
    SIM_FLOAT_NAN = 64,
    SIM_FLOAT_ABS = 128,
    SIM_FLOAT_XORSIGN = 256,
    SIM_FLOAT_FIRST_SHIFT = 16,
    SIM_FLOAT_SECOND_SHIFT = 24
};

enum { SIM_SHFL_UP, SIM_SHFL_DOWN, SIM_SHFL_BFLY, SIM_SHFL_IDX };
enum { SIM_VOTE_ALL, SIM_VOTE_ANY, SIM_VOTE_UNI, SIM_VOTE_BALLOT };
enum {
    SIM_TESTP_FINITE,
    SIM_TESTP_INFINITE,
    SIM_TESTP_NUMBER,
    SIM_TESTP_NAN,
    SIM_TESTP_NORMAL,
    SIM_TESTP_SUBNORMAL
};

/* Operand d of SIM_BRA and SIM_BRX instead of an operation: the lanes reconverge at the function's
 * return. */
#define SIM_RECONVERGE_AT_RETURN UINT32_MAX

/* ---- special registers ----------------------------------------------------------------------- */

enum sim_special {
    SIM_TID_X,
    SIM_TID_Y,
    SIM_TID_Z,
    SIM_NTID_X,
    SIM_NTID_Y,
    SIM_NTID_Z,
    SIM_CTAID_X,
    SIM_CTAID_Y,
    SIM_CTAID_Z,
    SIM_NCTAID_X,
    SIM_NCTAID_Y,
    SIM_NCTAID_Z,
    SIM_LANEID,
    SIM_WARPID,
    SIM_NWARPID,
    SIM_SMID,
    SIM_NSMID,
    SIM_GRIDID,
    SIM_LANEMASK_EQ,
    SIM_LANEMASK_LE,
    SIM_LANEMASK_LT,
    SIM_LANEMASK_GE,
    SIM_LANEMASK_GT,
    SIM_DYNAMIC_SMEM,
    SIM_TOTAL_SMEM,
    SIM_AGGR_SMEM,
    SIM_WORKSPACE_HIGH,
    SIM_WORKSPACE_LOW,
    SIM_ZERO,
    SIM_ONE,
    /* evaluated at each read */
    SIM_CLOCK_LO,
    SIM_CLOCK_HI,
    SIM_CLOCK64,
    SIM_GLOBALTIMER,
    SIM_GLOBALTIMER_LO,
    SIM_GLOBALTIMER_HI,
    SIM_SPECIAL_COUNT
};

bool sim_special_find(const char *name, uint32_t length, uint32_t *special);

#endif
