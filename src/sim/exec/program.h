/* SPDX-License-Identifier: Apache-2.0 */
/* What a parsed program is made of: operations, the rows that must be filled before they run,
 * tables for reports. */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include "base/arena.h"
#include "sim/exec/executor.h"
#include "sim/exec/ops.h"

/* A row that lowering wants filled before the first operation runs. */
enum sim_row_kind {
    SIM_ROW_CONSTANT,  /* value in every lane */
    SIM_ROW_VARIABLE,  /* address of variable id + value */
    SIM_ROW_SHARED,    /* offset of shared variable id + value */
    SIM_ROW_PARAMETER, /* address of the parameter buffer + value */
    SIM_ROW_SPECIAL    /* special register id */
};

struct sim_row {
    uint32_t offset;
    uint8_t width; /* bytes of a lane */
    uint8_t kind;
    uint32_t id;
    uint64_t value;
};

/* A basic block: what its execution counts. */
struct sim_basic_block {
    uint32_t instructions;
    uint32_t op;                       /* where it starts */
    uint8_t by_class[SIM_CLASS_COUNT]; /* a block is cut before 255 instructions */
};

enum { SIM_ROW_CLASSES = 5 }; /* predicates, then lanes of 2, 4, 8 and 16 bytes */

struct sim_function_code {
    const char *name;
    uint32_t entry;       /* operation */
    uint32_t local_bytes; /* of its own frame */
    bool has_code;
    /* What a recursive call must keep: rows of each class, and the parameters' rows. */
    uint32_t area_base[SIM_ROW_CLASSES], area_count[SIM_ROW_CLASSES];
    uint32_t parameter_base, parameter_count;
    uint32_t saved_bytes; /* of one lane */
};

struct sim_kernel_code {
    uint32_t entry;
    uint32_t local_bytes;
    uint32_t frame_bytes; /* of a warp */
    uint32_t row_count;
    const struct sim_row *rows;
    uint32_t *shared_offsets; /* by shared variable; UINT32_MAX: not used by this kernel */
};

struct sim_program {
    struct sim_arena arena;
    uint32_t version, target;
    struct sim_kernel *kernels;
    struct sim_kernel_code *kernel_codes;
    uint32_t kernel_count;
    struct sim_variable *variables;
    uint32_t variable_count;
    struct sim_initial *initials;
    uint32_t initial_count;

    struct sim_op *ops;
    uint32_t *lines; /* of each operation */
    uint32_t op_count;
    struct sim_basic_block *blocks;
    uint32_t block_count;
    struct sim_function_code *functions;
    uint32_t function_count;
    const struct sim_row *rows; /* of functions: filled for every kernel */
    uint32_t row_count;
    uint32_t
        saved_stride; /* bytes of a lane that the largest function keeps across a recursive call */
};

struct sim_initial {
    uint32_t variable;
    uint32_t size;
    uint64_t offset;
    uint64_t value;
    uint32_t target; /* variable or function */
    uint8_t kind;    /* 0 number, 1 address of a variable, 2 of a function */
    uint8_t shift;
};

/* What a pointer to a function holds: its number in a range of addresses that no memory has. */
#define SIM_CODE_BASE UINT64_C(0x7fff000000000000)
enum { SIM_CODE_STEP = 16 };

#endif
