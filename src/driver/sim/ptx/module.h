/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The representation of a PTX module between the parser and lowering: symbols, functions, and
 * instructions with their operands as they stand in the source. It is allocated in the parser's
 * scratch arena.
 */
#ifndef SIM_PTX_MODULE_H
#define SIM_PTX_MODULE_H

#include "driver/sim/exec/program.h"
#include "driver/sim/ptx/mnemonic.h"

#include <stdbool.h>
#include <stdint.h>

enum ptx_symbol_kind {
    PTX_SYMBOL_REGISTER, /* id: register of the function */
    PTX_SYMBOL_RANGE,    /* %r<count>: ids[index] is the register + 1, 0 while unused */
    PTX_SYMBOL_VARIABLE,
    PTX_SYMBOL_FUNCTION, /* id: index of the function in the module */
    PTX_SYMBOL_LABEL,    /* id: index of the label in the function */
    PTX_SYMBOL_TARGETS,  /* .branchtargets: index of the list in the function */
    PTX_SYMBOL_PROTOTYPE /* .callprototype or .calltargets: recognised, contents unused */
};

enum ptx_space { PTX_SPACE_NONE, PTX_GLOBAL, PTX_CONST, PTX_SHARED, PTX_LOCAL, PTX_PARAM };

/* One value of an initialiser: a number of the variable's type, or an address. */
struct ptx_initial {
    uint64_t offset;
    uint64_t value;                  /* the number, or the offset added to the address */
    const struct ptx_symbol *symbol; /* NULL: a number */
    uint32_t size;
    uint32_t shift; /* mask() operators: selects a byte of the address */
    struct ptx_initial *next;
};

struct ptx_symbol {
    const char *name;
    uint32_t length;
    uint32_t hash;
    struct ptx_symbol *below;      /* older symbol in the same bucket */
    struct ptx_symbol *scope_next; /* newer-to-older list of one scope */
    enum ptx_symbol_kind kind;
    uint32_t depth; /* depth of its scope */
    uint32_t line;
    uint32_t id;
    /* variables and registers */
    enum ptx_type type;
    enum ptx_space space;
    bool is_extern;
    bool is_entry_parameter;
    bool is_register; /* a formal parameter declared .reg */
    uint32_t align;
    uint32_t elements; /* of a vector type; 1 otherwise */
    uint64_t size;
    uint64_t offset; /* entry parameter, local or shared variable */
    uint32_t vreg;   /* first 4-byte word of a .func or call parameter; assigned by lowering */
    struct ptx_initial *initial;
    struct ptx_initial **initial_end;
    /* register ranges */
    uint32_t count;
    uint32_t *ids;
    uint32_t owner; /* the function that declared it; UINT32_MAX: the module */
};

enum ptx_operand_kind {
    PTX_OPERAND_REGISTER, /* id */
    PTX_OPERAND_SPECIAL,  /* id: enum sim_special */
    PTX_OPERAND_INTEGER,  /* value */
    PTX_OPERAND_FLOAT32,  /* value: bits */
    PTX_OPERAND_FLOAT64,
    PTX_OPERAND_SYMBOL,           /* symbol + value */
    PTX_OPERAND_ADDRESS_REGISTER, /* [id + value] */
    PTX_OPERAND_ADDRESS_SYMBOL,   /* [symbol + value] */
    PTX_OPERAND_ADDRESS_INTEGER,  /* [value] */
    PTX_OPERAND_VECTOR,           /* count elements follow */
    PTX_OPERAND_LIST,             /* ( … ) of a call: count elements follow */
    PTX_OPERAND_LABEL,            /* index of the function's label reference */
    PTX_OPERAND_SINK              /* _ */
};

struct ptx_operand {
    uint8_t kind;
    bool is_negated; /* !%p */
    bool is_paired;  /* followed by |second */
    uint8_t count;
    uint32_t id;
    uint64_t value;
    const struct ptx_symbol *symbol;
};

struct ptx_instruction {
    const struct ptx_mnemonic *mnemonic;
    uint32_t line;
    uint32_t first; /* index of the first operand */
    uint16_t count; /* operands at the top level; elements of lists stand between them */
    bool has_guard;
    bool is_guard_negated;
    uint32_t guard; /* guard register */
};

struct ptx_label {
    uint32_t instruction; /* index of the instruction that follows the label */
    const char *name;
    uint32_t length;
    uint32_t scope;
};

struct ptx_reference {
    const char *name;
    uint32_t length;
    uint32_t scope;
    uint32_t line;
    uint32_t label; /* resolved at the end of the function */
};

struct ptx_targets {
    uint32_t first; /* index of the first reference */
    uint32_t count;
};

struct ptx_function {
    const char *name; /* NUL-terminated */
    uint32_t line;
    uint32_t index;
    bool is_entry;
    bool has_body;
    bool is_address_taken;
    struct ptx_symbol *
        *formals; /* stored by pointer because they are visible while the body is parsed */
    uint32_t formal_count;
    struct ptx_symbol **results;
    uint32_t result_count;

    struct ptx_instruction *instructions;
    uint32_t instruction_count, instruction_capacity;
    struct ptx_operand *operands;
    uint32_t operand_count, operand_capacity;
    uint8_t *register_types;
    uint32_t register_count, register_capacity;
    struct ptx_label *labels;
    uint32_t label_count, label_capacity;
    struct ptx_reference *references;
    uint32_t reference_count, reference_capacity;
    struct ptx_targets *targets;
    uint32_t targets_count, targets_capacity;
    struct ptx_symbol **call_parameters; /* .param variables declared in the body */
    uint32_t call_parameter_count, call_parameter_capacity;
    uint32_t local_bytes;
    uint32_t max_threads, bound_threads, min_blocks, required[3];
    uint32_t parameter_bytes;
};

#endif
