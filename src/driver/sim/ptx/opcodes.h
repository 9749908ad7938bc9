/* SPDX-License-Identifier: Apache-2.0 */
/* The supported opcodes: how each is lowered, which modifiers it accepts and what it writes. */
#ifndef SIM_PTX_OPCODES_H
#define SIM_PTX_OPCODES_H

#include <stdbool.h>
#include <stdint.h>

struct ptx_lowering;

struct ptx_opcode {
    const char *name;
    void (*lower)(struct ptx_lowering *lowering);
    uint16_t kind;       /* enum sim_kind: the kind that lower() starts from */
    uint8_t counted;     /* enum sim_class: the class of the statistics */
    uint8_t writes;      /* 1: the first operand is written */
    bool is_elementwise; /* one operation per lane: the result may reuse the vreg of an operand that
                            dies here */
    bool ends_block;
    const char *shape; /* operands of simple instructions; lower_integer.c explains the letters */
    const char *modifiers; /* accepted modifiers, separated by spaces */
};

const struct ptx_opcode *ptx_opcode_find(const char *name, uint32_t length);

/* refused.c: whether PTX has the mnemonic, or the word in the mnemonic of an instruction, and
 * simulated devices do not execute it */
bool ptx_mnemonic_is_refused(const char *text, uint32_t length);
bool ptx_word_is_refused(const char *text, uint32_t length);
/* A function of the device runtime, of which dynamic parallelism consists. */
bool ptx_launches_kernels(const char *function);

#endif
