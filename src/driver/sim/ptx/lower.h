/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering translates parsed PTX instructions into operations over vector registers of 32 lanes. */
#ifndef SIM_PTX_LOWER_H
#define SIM_PTX_LOWER_H

#include "driver/sim/exec/program.h"
#include "driver/sim/ptx/opcodes.h"
#include "driver/sim/ptx/parser.h"

/* Vector registers with constant contents; each (kind, id, value, width) occurs once. */
struct ptx_vreg_table {
    struct sim_vreg *vregs;
    uint32_t count, capacity;
    uint32_t *slots; /* vreg index + 1 */
    uint32_t mask;
};

struct ptx_fixup {
    uint32_t op;
    uint32_t word; /* index of the word; it holds a basic block's index within the function until it
                      is replaced by the operation's index */
};

/* A reconvergence point at the function's return. */
#define PTX_RECONVERGE_AT_RETURN UINT32_MAX

/* The basic blocks of one function and the vector register of each of its PTX registers. */
struct ptx_flow {
    uint32_t *starts; /* first instruction of each block; one more entry at the end */
    uint32_t count;
    uint32_t *block_of_label;
    uint32_t *vregs;         /* of each register; for predicates, their word */
    uint32_t register_count; /* 32-bit registers that are live at once */
    uint32_t *reconvergence; /* of each block: the reconvergence point, + 1, of lanes that diverge
                        at its end; 0: not tracked */
    uint8_t *is_reconvergence;
    uint32_t area_base[SIM_VREG_CLASSES], area_count[SIM_VREG_CLASSES];
};

/* What an operation was emitted as; kind SIM_KIND_COUNT: words of the one before it. */
struct ptx_lowered {
    uint16_t kind; /* enum sim_kind */
    uint16_t type; /* enum ptx_type */
};

struct ptx_lowering {
    struct ptx_parser *parser;
    struct sim_program *program;
    const struct ptx_function *function;
    const struct ptx_instruction *instruction;
    const struct ptx_operand *operands; /* of the instruction; nested operands stand between them */
    struct ptx_flow flow;
    uint32_t frame_next;                /* first free byte of the frame */
    struct ptx_vreg_table *table;       /* table that receives new constants */
    struct ptx_vreg_table shared_table; /* constants of functions that are not kernels */
    uint32_t guard;
    uint32_t scratch; /* scratch vector registers used by the current instruction */
    enum sim_class counted;
    uint32_t op_capacity, line_capacity, lowered_capacity, block_capacity;
    struct ptx_lowered *lowered; /* by operation */
    struct ptx_fixup *fixups;
    uint32_t fixup_count, fixup_capacity;
    uint32_t *block_ops; /* index of each block's first operation */
    uint32_t block;      /* current block */
    /* What the carry flag holds; at the beginning of a block that is unknown. */
    enum { PTX_FLAG_UNKNOWN, PTX_FLAG_CARRY, PTX_FLAG_BORROW } flag;
    bool calls_sync;    /* called functions may contain warp-synchronising operations */
    bool *is_recursive; /* by function: it may be entered again before it returns */
    uint32_t transfer_bytes;
};

/* lower.c */
#define ptx_bad(lowering, result, ...)                                                             \
    ptx_fail((lowering)->parser, result, (lowering)->instruction->line, __VA_ARGS__)
__attribute__((noreturn)) void ptx_bad_type(struct ptx_lowering *lowering);
__attribute__((noreturn)) void ptx_bad_operands(struct ptx_lowering *lowering);
uint32_t ptx_emit(struct ptx_lowering *lowering, enum sim_kind kind, enum ptx_type type, uint32_t d,
    uint32_t a, uint32_t b, uint32_t c, uint32_t aux);
/* Appends eight more operand words to the previous operation. */
uint32_t ptx_emit_words(struct ptx_lowering *lowering);
void ptx_lower_function(struct ptx_lowering *lowering, const struct ptx_function *function);

/* fuse.c: the runs of operations from the first one on become operations of their own */
void ptx_fuse(struct ptx_lowering *lowering, uint32_t first);

/* registers.c */
uint32_t ptx_width(enum ptx_type type); /* bytes per lane in the vector register of that type */
uint32_t ptx_frame_allocate(struct ptx_lowering *lowering, uint32_t bytes);
uint32_t ptx_scratch(
    struct ptx_lowering *lowering); /* a vector register of up to 64-bit lanes, or a predicate */
uint32_t ptx_constant(struct ptx_lowering *lowering, uint64_t value, uint32_t width);
const struct ptx_operand *ptx_operand(struct ptx_lowering *lowering, uint32_t position);
enum ptx_type ptx_register_type(
    const struct ptx_lowering *lowering, const struct ptx_operand *operand);
/* The vector register of an operand that is read as a value of the type; widths must agree. */
uint32_t ptx_source(
    struct ptx_lowering *lowering, const struct ptx_operand *operand, enum ptx_type type);
/* The same for instructions that accept wider registers. */
uint32_t ptx_source_any_width(
    struct ptx_lowering *lowering, const struct ptx_operand *operand, enum ptx_type type);
uint32_t ptx_predicate(struct ptx_lowering *lowering, const struct ptx_operand *operand);
uint32_t ptx_target(
    struct ptx_lowering *lowering, const struct ptx_operand *operand, enum ptx_type type);
uint32_t ptx_target_predicate(struct ptx_lowering *lowering, const struct ptx_operand *operand);
enum ptx_type ptx_int_of_width(uint32_t width);

/* lower_convert.c: converts a value of the type from a vector register of its width to another
 * width */
void ptx_emit_resize(
    struct ptx_lowering *lowering, uint32_t d, uint32_t width, uint32_t a, enum ptx_type type);

/* lower_memory.c: moves between a register's vreg and the 4-byte words of a parameter */
void ptx_vreg_from_words(struct ptx_lowering *lowering, uint32_t d, uint32_t width, uint32_t from,
    enum ptx_type type, uint32_t shift);
void ptx_words_from_vreg(
    struct ptx_lowering *lowering, uint32_t to, uint32_t a, enum ptx_type type, uint32_t shift);

/* lower_memory.c: an address operand; space: where the mnemonic says that it lies */
struct ptx_address {
    uint32_t vreg;
    uint32_t flags; /* state space and width, as in SIM_ACCESS_… */
    uint32_t offset;
};
struct ptx_address ptx_lower_address(
    struct ptx_lowering *lowering, const struct ptx_operand *operand, enum sim_access_space space);

/* lower.c: reports a target or a PTX version below the given ones; 0: any */
void ptx_require(struct ptx_lowering *lowering, uint32_t target, uint32_t version);

/* lower_control.c */
void ptx_emit_return(struct ptx_lowering *lowering, const struct ptx_function *function);

/* flow.c */
void ptx_flow_build(struct ptx_lowering *lowering, const struct ptx_function *function);

/* reconvergence.c: fills reconvergence and is_reconvergence of the flow */
void ptx_reconvergence_find(struct ptx_lowering *lowering, const struct ptx_function *function,
    const uint32_t *edges, const uint32_t *edge_start);
bool ptx_calls_sync(const struct ptx_parser *parser);

/* modifiers and types of the current instruction */
static inline bool ptx_current_has(const struct ptx_lowering *lowering, enum ptx_modifier modifier)
{
    return ptx_has(lowering->instruction->mnemonic, modifier);
}

static inline enum ptx_type ptx_current_type(const struct ptx_lowering *lowering, uint32_t index)
{
    const struct ptx_mnemonic *mnemonic = lowering->instruction->mnemonic;
    return index < mnemonic->type_count ? (enum ptx_type)mnemonic->types[index] : PTX_NONE;
}

/* One function per family of opcodes; the table in opcodes.c refers to them. */
void ptx_lower_simple(struct ptx_lowering *lowering);
void ptx_lower_add(struct ptx_lowering *lowering);
void ptx_lower_mul(struct ptx_lowering *lowering);
void ptx_lower_mad(struct ptx_lowering *lowering);
void ptx_lower_minmax(struct ptx_lowering *lowering);
void ptx_lower_bitwise(struct ptx_lowering *lowering);
void ptx_lower_bfind(struct ptx_lowering *lowering);
void ptx_lower_variant(struct ptx_lowering *lowering);
void ptx_lower_prmt(struct ptx_lowering *lowering);
void ptx_lower_shf(struct ptx_lowering *lowering);
void ptx_lower_dp(struct ptx_lowering *lowering);
void ptx_lower_absdiff(struct ptx_lowering *lowering);
void ptx_lower_lop3(struct ptx_lowering *lowering);
void ptx_lower_setp(struct ptx_lowering *lowering);
void ptx_lower_set(struct ptx_lowering *lowering);
void ptx_lower_selp(struct ptx_lowering *lowering);
void ptx_lower_slct(struct ptx_lowering *lowering);
void ptx_lower_mov(struct ptx_lowering *lowering);
void ptx_lower_cvt(struct ptx_lowering *lowering);
void ptx_lower_float(struct ptx_lowering *lowering);
void ptx_lower_testp(struct ptx_lowering *lowering);
void ptx_lower_cvta(struct ptx_lowering *lowering);
void ptx_lower_isspacep(struct ptx_lowering *lowering);
void ptx_lower_ld(struct ptx_lowering *lowering);
void ptx_lower_st(struct ptx_lowering *lowering);
void ptx_lower_atom(struct ptx_lowering *lowering);
void ptx_lower_prefetch(struct ptx_lowering *lowering);
void ptx_lower_cp_async(struct ptx_lowering *lowering);
void ptx_lower_cp_bulk(struct ptx_lowering *lowering);
void ptx_lower_mbarrier(struct ptx_lowering *lowering);
void ptx_lower_cp_async_arrive(struct ptx_lowering *lowering);
void ptx_lower_mma(struct ptx_lowering *lowering);
void ptx_lower_ldmatrix(struct ptx_lowering *lowering);
void ptx_lower_stmatrix(struct ptx_lowering *lowering);
void ptx_lower_createpolicy(struct ptx_lowering *lowering);
void ptx_lower_bra(struct ptx_lowering *lowering);
void ptx_lower_brx(struct ptx_lowering *lowering);
void ptx_lower_call(struct ptx_lowering *lowering);
void ptx_lower_no_result(struct ptx_lowering *lowering);
void ptx_lower_bar(struct ptx_lowering *lowering);
void ptx_lower_shfl(struct ptx_lowering *lowering);
void ptx_lower_vote(struct ptx_lowering *lowering);
void ptx_lower_match(struct ptx_lowering *lowering);
void ptx_lower_redux(struct ptx_lowering *lowering);
void ptx_lower_elect(struct ptx_lowering *lowering);
void ptx_lower_activemask(struct ptx_lowering *lowering);
void ptx_lower_fence(struct ptx_lowering *lowering);
void ptx_lower_alloca(struct ptx_lowering *lowering);

#endif
