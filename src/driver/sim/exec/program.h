/* SPDX-License-Identifier: Apache-2.0 */
/* The representation of a parsed program: operations, constant vector registers, tables for
 * reports. */
#ifndef SIM_EXEC_PROGRAM_H
#define SIM_EXEC_PROGRAM_H

#include "base/arena.h"
#include "driver/sim/exec/executor.h"
#include "driver/sim/exec/ops.h"

/* A vector register that is filled before the first operation runs. */
enum sim_vreg_kind {
    SIM_VREG_CONSTANT,  /* value in every lane */
    SIM_VREG_VARIABLE,  /* address of variable id + value */
    SIM_VREG_SHARED,    /* offset of shared variable id + value */
    SIM_VREG_PARAMETER, /* address of the parameter buffer + value */
    SIM_VREG_SPECIAL    /* special register id */
};

struct sim_vreg {
    uint32_t offset;
    uint8_t width; /* bytes per lane */
    uint8_t kind;
    uint32_t id;
    uint64_t value;
};

/* A basic block and the instructions that its execution counts. */
struct sim_basic_block {
    uint32_t instructions;
    uint32_t op;                       /* its first operation */
    uint8_t by_class[SIM_CLASS_COUNT]; /* blocks are split before 255 instructions */
};

enum { SIM_VREG_CLASSES = 5 }; /* predicates, then lanes of 2, 4, 8 and 16 bytes */

struct sim_function_code {
    const char *name;
    uint32_t entry;       /* first operation */
    uint32_t local_bytes; /* of its own frame */
    bool has_code;
    /* State saved by a recursive call: vector registers of each class, and the parameters' words.
     */
    uint32_t area_base[SIM_VREG_CLASSES], area_count[SIM_VREG_CLASSES];
    uint32_t parameter_base, parameter_count;
    uint32_t saved_bytes; /* per lane */
};

struct sim_kernel_code {
    uint32_t entry;
    uint32_t local_bytes;
    uint32_t frame_bytes; /* per warp */
    uint32_t vreg_count;
    const struct sim_vreg *vregs;
    uint32_t *shared_offsets; /* by shared variable; UINT32_MAX: not used by this kernel */
};

/* .loc: from that line of the PTX on, up to the next one, the code is that of a line of a source
 * file; file 0: it is not known. */
struct sim_location {
    uint32_t ptx_line;
    uint32_t file; /* the number of a .file */
    uint32_t line;
};

struct sim_source_file {
    uint32_t number;
    const char *name;
};

struct sim_program {
    struct base_arena arena;
    uint32_t version, target;
    uint64_t digest; /* of the text */
    struct sim_kernel *kernels;
    struct sim_kernel_code *kernel_codes;
    uint32_t kernel_count;
    struct sim_variable *variables;
    uint32_t variable_count;
    struct sim_initial *initials;
    uint32_t initial_count;

    struct sim_op *ops;
    uint32_t *lines;                /* line of the PTX of each operation */
    struct sim_location *locations; /* by ptx_line */
    struct sim_source_file *files;
    uint32_t location_count, file_count;
    uint32_t op_count;
    struct sim_basic_block *blocks;
    uint32_t block_count;
    struct sim_function_code *functions;
    uint32_t function_count;
    const struct sim_vreg *vregs; /* constants of functions, filled for every kernel */
    uint32_t vreg_count;
    uint32_t
        saved_stride; /* bytes per lane that the largest function saves across a recursive call */
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

/* The value of a function pointer: the function's index in a range of addresses that no memory
 * has. */
#define SIM_CODE_BASE UINT64_C(0x7fff000000000000)
enum { SIM_CODE_STEP = 16 };

#endif
