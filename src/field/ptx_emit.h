/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files that write device text (ptx_*.c): a growing text, the operands of a PTX
 * instruction, and the frame of a device function around one asm statement.
 */
#ifndef DEVICEPOOL_FIELD_PTX_EMIT_H
#define DEVICEPOOL_FIELD_PTX_EMIT_H

#include "field/field.h"

/* Everything one generation needs. A failed allocation sticks in `failed`; later puts do nothing.
 */
struct ptx_writer {
    const pool_field *field;
    const char *prefix;  /* "fq" */
    uint32_t words;      /* 32-bit words of an element */
    uint32_t room;       /* the largest k <= 15 with k p < 2^(32 words) */
    bool lazy;           /* values in [0, 2p) may be multiplied: 4p < R */
    const char *linkage; /* of the next functions: inlined or called */
    char *data;
    size_t length;
    size_t capacity;
    bool failed;
};

/*
 * One operand of an instruction: an operand of the asm statement ('%'), an immediate ('$'), or a
 * local register of the bank named by a letter.
 */
struct ptx_arg {
    char bank;
    uint32_t value;
};

void ptx_put(struct ptx_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline struct ptx_arg ptx_local(char bank, uint32_t index)
{
    return (struct ptx_arg){bank, index};
}

static inline struct ptx_arg ptx_immediate(uint32_t value)
{
    return (struct ptx_arg){'$', value};
}

/* Word `index` of the function's result (which = 0) or of its argument a, b, c, d (1, 2, 3, 4). */
static inline struct ptx_arg ptx_word(
    const struct ptx_writer *writer, uint32_t which, uint32_t index)
{
    return (struct ptx_arg){'%', which * writer->words + index};
}

/* Word `index` of `multiple` * p, an immediate. The product must fit: multiple <= room. */
struct ptx_arg ptx_modulus(const struct ptx_writer *writer, uint32_t multiple, uint32_t index);

/* One instruction with two, three or four operands (the destination first). */
void ptx_move(struct ptx_writer *writer, struct ptx_arg to, struct ptx_arg from);
void ptx_two(struct ptx_writer *writer, const char *opcode, struct ptx_arg to, struct ptx_arg x,
    struct ptx_arg y);
void ptx_three(struct ptx_writer *writer, const char *opcode, struct ptx_arg to, struct ptx_arg x,
    struct ptx_arg y, struct ptx_arg z);

/* Declares `count` local registers of a bank. */
void ptx_declare(struct ptx_writer *writer, char bank, uint32_t count);

/* A function prefix_name of `arity` elements that is one asm statement: between the two calls
 * instructions are put. */
void ptx_begin(struct ptx_writer *writer, const char *name, uint32_t arity);
void ptx_end(struct ptx_writer *writer, uint32_t arity);

/*
 * Conditional subtraction (ptx_add.c): the value in `bank` less multiple p where it is at least
 * that; into the function's result when `is_last`, else back into `bank`. With `has_top`, word
 * bank[words] belongs to the value. Its registers u, v and q are declared by the first of the two.
 */
void ptx_declare_reduction(struct ptx_writer *writer);
void ptx_put_reduction(
    struct ptx_writer *writer, char bank, uint32_t multiple, bool has_top, bool is_last);

/* prefix_less: 1 when a < b as integers (ptx_add.c). */
void ptx_put_less(struct ptx_writer *writer);

/* mul_add and mul_sub, names ending in `suffix`, as two products and a sum, for fields where one
 * reduction is no gain (ptx.c). */
void ptx_put_separate_sums(struct ptx_writer *writer, const char *suffix);

/* Operations by file. */
void ptx_put_additions(struct ptx_writer *writer);       /* ptx_add.c: add, sub, neg, dbl, reduce */
void ptx_put_multiplications(struct ptx_writer *writer); /* ptx_mul.c: mul, mul_add, mul_sub */
void ptx_put_squarings(struct ptx_writer *writer);       /* ptx_sqr.c: sqr, from_mont */
void ptx_put_complex(struct ptx_writer *writer);         /* ptx_complex.c: mul_complex */
void ptx_put_one_word(struct ptx_writer *writer);        /* ptx_word.c: fields of one 32-bit word */
/* ptx_dot.c: dot<n> for each of the lengths */
void ptx_put_dots(struct ptx_writer *writer, const uint32_t *lengths, size_t count);
void ptx_put_goldilocks(struct ptx_writer *writer);      /* ptx_goldilocks.c */

#endif
