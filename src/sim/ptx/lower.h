/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering: from instructions close to the text to operations over rows of lanes. */
#ifndef SIM_PTX_LOWER_H
#define SIM_PTX_LOWER_H

#include "sim/exec/ops.h"
#include "sim/exec/program.h"
#include "sim/ptx/opcodes.h"
#include "sim/ptx/parser.h"

/* Rows with fixed contents, each kind, id, value and width once. */
struct ptx_row_table {
    struct sim_row *rows;
    uint32_t count, room;
    uint32_t *slots; /* row + 1 */
    uint32_t mask;
};

struct ptx_fixup {
    uint32_t op;
    uint32_t word; /* of its words: holds a basic block's number in the function, becomes its
                      operation */
};

/* A join that is where the function returns to. */
#define PTX_JOIN_RETURN UINT32_MAX

/* Basic blocks of one function, and where each of its registers lives. */
struct ptx_flow {
    uint32_t *starts; /* first instruction of each block, one more at the end */
    uint32_t count;
    uint32_t *block_of_label;
    uint32_t *rows;          /* of each register; predicates: their word */
    uint32_t register_count; /* 32-bit registers live at once */
    uint32_t *joins;         /* of each block: where lanes that part at its end meet, + 1; 0: not
                                followed */
    uint8_t *is_join;
    uint32_t area_base[SIM_ROW_CLASSES], area_count[SIM_ROW_CLASSES];
};

struct ptx_lowering {
    struct ptx_parser *parser;
    struct sim_program *program;
    const struct ptx_function *function;
    const struct ptx_instruction *instruction;
    const struct ptx_operand *operands; /* of the instruction, nested ones between */
    struct ptx_flow flow;
    uint32_t frame_next;               /* first free byte of the frame */
    struct ptx_row_table *table;       /* where new constants go */
    struct ptx_row_table shared_table; /* of functions */
    uint32_t guard;
    uint32_t scratch; /* rows used by the instruction in hand */
    enum sim_class counted;
    uint32_t op_room, line_room, block_room;
    uint32_t block_limit; /* instructions since the last SIM_BLOCK */
    struct ptx_fixup *fixups;
    uint32_t fixup_count, fixup_room;
    uint32_t *block_ops; /* operation at which each block of the function starts */
    uint32_t block;      /* in hand */
    bool calls_sync;     /* lanes may wait for each other in called functions */
    bool *is_recursive;  /* by function: may be entered again before it returns */
    uint32_t transfer_bytes;
};

/* lower.c */
#define ptx_bad(l, result, ...) ptx_fail((l)->parser, result, (l)->instruction->line, __VA_ARGS__)
__attribute__((noreturn)) void ptx_bad_type(struct ptx_lowering *l);
__attribute__((noreturn)) void ptx_bad_operands(struct ptx_lowering *l);
uint32_t ptx_emit(struct ptx_lowering *l, enum sim_kind kind, enum ptx_type type, uint32_t d,
    uint32_t a, uint32_t b, uint32_t c, uint32_t aux);
/* Eight more words for the operation before. */
uint32_t ptx_emit_words(struct ptx_lowering *l);
void ptx_emit_block(struct ptx_lowering *l);
void ptx_lower_function(struct ptx_lowering *l, const struct ptx_function *f);

/* registers.c */
uint32_t ptx_width(enum ptx_type type); /* bytes of a lane in the row of a register of that type */
uint32_t ptx_frame_take(struct ptx_lowering *l, uint32_t bytes);
uint32_t ptx_scratch(struct ptx_lowering *l); /* a row of up to 64-bit lanes, or a predicate */
uint32_t ptx_fixed_row(
    struct ptx_lowering *l, enum sim_row_kind kind, uint32_t id, uint64_t value, uint32_t width);
uint32_t ptx_constant(struct ptx_lowering *l, uint64_t value, uint32_t width);
const struct ptx_operand *ptx_operand(struct ptx_lowering *l, uint32_t position);
enum ptx_type ptx_register_type(const struct ptx_lowering *l, const struct ptx_operand *o);
/* Row of an operand that is read as a value of the type; widths must agree. */
uint32_t ptx_source(struct ptx_lowering *l, const struct ptx_operand *o, enum ptx_type type);
/* The same for instructions that accept wider registers. */
uint32_t ptx_source_loose(struct ptx_lowering *l, const struct ptx_operand *o, enum ptx_type type);
uint32_t ptx_predicate(struct ptx_lowering *l, const struct ptx_operand *o);
uint32_t ptx_target(struct ptx_lowering *l, const struct ptx_operand *o, enum ptx_type type);
uint32_t ptx_target_predicate(struct ptx_lowering *l, const struct ptx_operand *o);
enum ptx_type ptx_int_of_width(uint32_t width);

/* lower_convert.c: a value of the type, in a row of its width, to a row of another width */
void ptx_emit_resize(
    struct ptx_lowering *l, uint32_t d, uint32_t width, uint32_t a, enum ptx_type type);

/* lower_memory.c: between a register's row and the 4-byte rows of a parameter */
void ptx_row_from_granules(struct ptx_lowering *l, uint32_t d, uint32_t width, uint32_t from,
    enum ptx_type type, uint32_t shift);
void ptx_granules_from_row(
    struct ptx_lowering *l, uint32_t to, uint32_t a, enum ptx_type type, uint32_t shift);

/* lower_control.c */
void ptx_emit_return(struct ptx_lowering *l, const struct ptx_function *f);

/* flow.c */
void ptx_flow_build(struct ptx_lowering *l, const struct ptx_function *f);

/* reconvergence.c: fills joins and is_join of the flow */
void ptx_joins_find(struct ptx_lowering *l, const struct ptx_function *f, const uint32_t *edges,
    const uint32_t *edge_start);
bool ptx_calls_sync(const struct ptx_parser *parser);

/* modifiers */
static inline bool ptx_l_has(const struct ptx_lowering *l, enum ptx_modifier modifier)
{
    return ptx_has(l->instruction->mnemonic, modifier);
}

static inline enum ptx_type ptx_l_type(const struct ptx_lowering *l, uint32_t index)
{
    const struct ptx_mnemonic *m = l->instruction->mnemonic;
    return index < m->type_count ? (enum ptx_type)m->types[index] : PTX_NONE;
}

/* One function for each family of opcodes; the table in opcodes.c names them. */
void ptx_lower_simple(struct ptx_lowering *l);
void ptx_lower_add(struct ptx_lowering *l);
void ptx_lower_mul(struct ptx_lowering *l);
void ptx_lower_mad(struct ptx_lowering *l);
void ptx_lower_minmax(struct ptx_lowering *l);
void ptx_lower_bitwise(struct ptx_lowering *l);
void ptx_lower_bfind(struct ptx_lowering *l);
void ptx_lower_variant(struct ptx_lowering *l);
void ptx_lower_prmt(struct ptx_lowering *l);
void ptx_lower_shf(struct ptx_lowering *l);
void ptx_lower_dp(struct ptx_lowering *l);
void ptx_lower_absdiff(struct ptx_lowering *l);
void ptx_lower_lop3(struct ptx_lowering *l);
void ptx_lower_setp(struct ptx_lowering *l);
void ptx_lower_set(struct ptx_lowering *l);
void ptx_lower_selp(struct ptx_lowering *l);
void ptx_lower_slct(struct ptx_lowering *l);
void ptx_lower_mov(struct ptx_lowering *l);
void ptx_lower_cvt(struct ptx_lowering *l);
void ptx_lower_float(struct ptx_lowering *l);
void ptx_lower_testp(struct ptx_lowering *l);
void ptx_lower_cvta(struct ptx_lowering *l);
void ptx_lower_isspacep(struct ptx_lowering *l);
void ptx_lower_ld(struct ptx_lowering *l);
void ptx_lower_st(struct ptx_lowering *l);
void ptx_lower_atom(struct ptx_lowering *l);
void ptx_lower_prefetch(struct ptx_lowering *l);
void ptx_lower_cp_async(struct ptx_lowering *l);
void ptx_lower_createpolicy(struct ptx_lowering *l);
void ptx_lower_bra(struct ptx_lowering *l);
void ptx_lower_brx(struct ptx_lowering *l);
void ptx_lower_call(struct ptx_lowering *l);
void ptx_lower_plain(struct ptx_lowering *l);
void ptx_lower_bar(struct ptx_lowering *l);
void ptx_lower_shfl(struct ptx_lowering *l);
void ptx_lower_vote(struct ptx_lowering *l);
void ptx_lower_match(struct ptx_lowering *l);
void ptx_lower_redux(struct ptx_lowering *l);
void ptx_lower_elect(struct ptx_lowering *l);
void ptx_lower_activemask(struct ptx_lowering *l);
void ptx_lower_nothing(struct ptx_lowering *l);
void ptx_lower_alloca(struct ptx_lowering *l);

#endif
