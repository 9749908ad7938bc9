/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the generators of device code (emit_*.c): an output buffer, the operands of PTX
 * instructions, and device functions that consist of one asm statement.
 */
#ifndef FIELD_EMIT_H
#define FIELD_EMIT_H

#include "zk/field/field.h"

/* The state of one generation. After a failed allocation `failed` is set and all further output is
 * ignored. */
struct field_emit_writer {
    const pool_field *field;
    const char *prefix;  /* "fq" */
    const char *type;    /* the existing type of elements, or NULL: defined as `prefix` */
    uint32_t words;      /* 32-bit words of an element */
    uint32_t headroom;   /* the largest k <= 15 with k p < 2^(32 words) */
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
struct field_emit_arg {
    char bank;
    uint32_t value;
};

void field_emit(struct field_emit_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline struct field_emit_arg field_emit_local(char bank, uint32_t index)
{
    return (struct field_emit_arg){bank, index};
}

static inline struct field_emit_arg field_emit_immediate(uint32_t value)
{
    return (struct field_emit_arg){'$', value};
}

/* Word `index` of the function's result (which = 0) or of its argument a, b, c, d (1, 2, 3, 4). */
static inline struct field_emit_arg field_emit_word(
    const struct field_emit_writer *writer, uint32_t which, uint32_t index)
{
    return (struct field_emit_arg){'%', which * writer->words + index};
}

/* Word `index` of `multiple` * p, an immediate. The product must fit: multiple <= headroom. */
struct field_emit_arg field_emit_modulus(
    const struct field_emit_writer *writer, uint32_t multiple, uint32_t index);

/* One instruction with two, three or four operands (the destination first). */
void field_emit_move(
    struct field_emit_writer *writer, struct field_emit_arg to, struct field_emit_arg from);
void field_emit_two(struct field_emit_writer *writer, const char *opcode, struct field_emit_arg to,
    struct field_emit_arg x, struct field_emit_arg y);
void field_emit_three(struct field_emit_writer *writer, const char *opcode,
    struct field_emit_arg to, struct field_emit_arg x, struct field_emit_arg y,
    struct field_emit_arg z);

/* Declares `count` local registers of a bank. */
void field_emit_declare(struct field_emit_writer *writer, char bank, uint32_t count);

/* Begin and end a function prefix_name of `arity` elements that is one asm statement; its
 * instructions are emitted between the two calls. */
void field_emit_begin(struct field_emit_writer *writer, const char *name, uint32_t arity);
void field_emit_end(struct field_emit_writer *writer, uint32_t arity);

/*
 * Conditional subtraction (emit_add.c): subtracts multiple p from the value in `bank` if it is at
 * least that, and stores the function's result if `is_last`, or else `bank`. With `has_top`, word
 * bank[words] is part of the value. The first function declares the registers u, v and q.
 */
void field_emit_declare_reduction(struct field_emit_writer *writer);
void field_emit_reduction(
    struct field_emit_writer *writer, char bank, uint32_t multiple, bool has_top, bool is_last);

/* prefix_less: 1 when a < b as integers (emit_add.c). */
void field_emit_less(struct field_emit_writer *writer);

/* Emits mul_add and mul_sub with a name suffix as two products and an addition, for fields in which
 * a common reduction is not faster (emit_field.c). */
void field_emit_separate_sums(struct field_emit_writer *writer, const char *suffix);

/* The operations, by file. */
void field_emit_additions(
    struct field_emit_writer *writer); /* emit_add.c: add, sub, neg, dbl, reduce */
void field_emit_multiplications(
    struct field_emit_writer *writer);                       /* emit_mul.c: mul, mul_add, mul_sub */
void field_emit_squarings(struct field_emit_writer *writer); /* emit_sqr.c: sqr, from_mont */
void field_emit_complex(struct field_emit_writer *writer);   /* emit_complex.c: mul_complex */
void field_emit_one_word(
    struct field_emit_writer *writer); /* emit_word.c: fields of one 32-bit word */
/* emit_dot.c: dot<n> for each of the lengths */
void field_emit_dots(struct field_emit_writer *writer, const uint32_t *lengths, size_t count);
void field_emit_goldilocks(struct field_emit_writer *writer); /* emit_goldilocks.c */
/* emit_shoup.c: mul_shoup and what goes with it, for fields that have room for it */
bool field_emit_has_shoup(const struct field_emit_writer *writer);
void field_emit_shoup(struct field_emit_writer *writer);

#endif
