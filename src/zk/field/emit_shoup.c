/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates multiplication by constants with precomputed quotients (Shoup): with R = 2^(32 n),
 * w' = floor(w R / p) and q = floor(a w' / R), a w - q p is a w modulo p and below 2p, so that only
 * the high half of one product and the low halves of two are needed.
 *
 * Bounds. Of a w', the products below column n - 2 are left out, less than (n - 1) R / 2^32
 * together, so that with 0 <= w R / p - w' < 1
 *
 *   0 <= a w / p - q < 1 + a / R + (n - 1) / 2^32.
 *
 * For a below A, A + n R / 2^32 <= R, that is below 2, and 2p <= A < R makes the result exact
 * modulo R. A is 4p for lazy fields and 2p for others, whose results are reduced to [0, p).
 */
#include "zk/field/emit_wide.h"

/* A multiple of p that arguments are below. */
static uint32_t argument_multiple(const struct field_emit_writer *writer)
{
    return writer->lazy ? 4 : 2;
}

bool field_emit_has_shoup(const struct field_emit_writer *writer)
{
    const uint32_t multiple = argument_multiple(writer), words = writer->words;

    if (writer->field->kind == FIELD_KIND_MONTGOMERY_31)
        return true;
    if (writer->field->kind != FIELD_KIND_MONTGOMERY || words < 2 || writer->headroom < multiple)
        return false;
    return field_emit_modulus(writer, multiple, words - 1).value < UINT32_MAX - words;
}

/* ---- products modulo R ----------------------------------------------------------------------- */

/*
 * Adds x[j] y 2^(32 row) modulo R to e + 2^32 o, products of even weight to bank e and those of odd
 * weight to bank o. A chain ends at the highest word, whose carry is dropped. The first row of all,
 * row 0, initialises both banks.
 */
static void put_low_row(struct field_emit_writer *writer, field_emit_word_source *x, uint32_t which,
    struct field_emit_arg y, uint32_t row, bool is_first)
{
    const uint32_t words = writer->words;

    for (uint32_t parity = 0; parity < 2; parity++) {
        const char bank = parity ? 'o' : 'e';
        bool carry = false;

        for (uint32_t j = (row + parity) % 2; row + j < words; j += 2) {
            const uint32_t index = row + j - parity;
            const struct field_emit_arg low = field_emit_local(bank, index);
            const struct field_emit_arg high = field_emit_local(bank, index + 1);
            const struct field_emit_arg factor = x(writer, which, j);

            if (row + j + 1 == words && is_first)
                field_emit_two(writer, "mul.lo.u32", low, factor, y);
            else if (row + j + 1 == words)
                field_emit_three(writer, carry ? "madc.lo.u32" : "mad.lo.u32", low, factor, y, low);
            else if (is_first)
                field_emit_product(writer, bank, index, factor, y);
            else
                field_emit_wide_product(
                    writer, low, high, factor, y, low, high, carry, row + j + 2 < words);
            carry = !is_first;
        }
    }
}

/* Word `index` of the quotient q, the high half of bank h. */
static struct field_emit_arg quotient_word(
    const struct field_emit_writer *writer, uint32_t which, uint32_t index)
{
    (void)which;
    return field_emit_local('h', writer->words + index);
}

/* e += q 2^(32 row) modulo R, or -=. */
static void put_row_sum(struct field_emit_writer *writer, uint32_t row, bool is_negative)
{
    static const char *const opcodes[2][3] = {
        {"add.cc.u32", "addc.cc.u32", "addc.u32"}, {"sub.cc.u32", "subc.cc.u32", "subc.u32"}};
    const uint32_t count = writer->words - row;

    for (uint32_t j = 0; j < count; j++) {
        const struct field_emit_arg word = field_emit_local('e', row + j);
        const char *opcode = opcodes[is_negative][j + 1 == count ? 2 : j ? 1 : 0];

        if (count == 1)
            opcode = is_negative ? "sub.u32" : "add.u32";
        field_emit_two(writer, opcode, word, word, quotient_word(writer, 0, j));
    }
}

/*
 * e + 2^32 o -= q p modulo R, as q (R - p), so that q need not be negated. Words that are 0, 1 or
 * 2^32 - 1, as a high two-adicity makes them, take no products. Words that are sums of two powers
 * of two could take shifts; but such chains (shl, shf, sub.cc) gave wrong results on an H200 with
 * CUDA 13.0, where the same PTX is right on simulated devices.
 */
static void put_multiple_of_modulus(struct field_emit_writer *writer)
{
    uint32_t carry = 0;

    for (uint32_t row = 0; row < writer->words; row++) {
        const uint32_t word = field_emit_modulus(writer, 1, row).value;
        const uint64_t digit = (uint64_t)(row == 0 ? 0 - word : ~word) + carry;

        carry = digit >= UINT32_MAX;
        if (digit == 1 || digit == UINT32_MAX)
            put_row_sum(writer, row, digit != 1);
        else if ((uint32_t)digit)
            put_low_row(
                writer, quotient_word, 0, field_emit_immediate((uint32_t)digit), row, false);
    }
}

/* The result, or bank t, = e + 2^32 o modulo R. */
static void put_low_merge(struct field_emit_writer *writer, bool into_result)
{
    const uint32_t words = writer->words;

    for (uint32_t i = 0; i < words; i++) {
        const struct field_emit_arg to =
            into_result ? field_emit_word(writer, 0, i) : field_emit_local('t', i);

        if (i == 0)
            field_emit_move(writer, to, field_emit_local('e', 0));
        else
            field_emit_two(writer,
                words == 2      ? "add.u32"
                : i == 1        ? "add.cc.u32"
                : i + 1 < words ? "addc.cc.u32"
                                : "addc.u32",
                to, field_emit_local('e', i), field_emit_local('o', i - 1));
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

/* a b modulo p, c being the quotient of b. */
static void put_product(struct field_emit_writer *writer)
{
    const uint32_t words = writer->words;
    struct field_emit_wide wide = {
        .writer = writer, .x = field_emit_word, .y = field_emit_word, .which_x = 1, .which_y = 3};

    field_emit_begin(writer, "mul_shoup", 3);
    field_emit_wide_declare(writer);
    field_emit_declare(writer, 'h', 2 * words);
    field_emit_declare(writer, 't', words);
    field_emit_declare_reduction(writer);
    field_emit_wide_multiply_high(&wide, 'h');
    for (uint32_t i = 0; i < words; i++)
        put_low_row(writer, field_emit_word, 1, field_emit_word(writer, 2, i), i, i == 0);
    put_multiple_of_modulus(writer);
    put_low_merge(writer, writer->lazy);
    if (!writer->lazy)
        field_emit_reduction(writer, 't', 1, false, true);
    field_emit_end(writer, 3);
}

/* The quotient of the number with Montgomery form a, which is w R - w' p: -a / p modulo R. */
static void put_quotient(struct field_emit_writer *writer)
{
    const uint32_t words = writer->words;
    uint32_t inverse[FIELD_MAX_WORDS], rest[FIELD_MAX_WORDS] = {1};

    /* rest = 1 + inverse p becomes 0 modulo R. */
    for (uint32_t i = 0; i < words; i++) {
        uint64_t carry = 0;

        inverse[i] = rest[i] * writer->field->inverse32;
        for (uint32_t j = 0; i + j < words; j++) {
            carry += (uint64_t)inverse[i] * field_word(writer->field->modulus, j) + rest[i + j];
            rest[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    field_emit_begin(writer, "shoup_quotient", 1);
    field_emit_declare(writer, 'e', words);
    field_emit_declare(writer, 'o', words);
    for (uint32_t i = 0; i < words; i++)
        put_low_row(writer, field_emit_word, 1, field_emit_immediate(inverse[i]), i, i == 0);
    put_low_merge(writer, true);
    field_emit_end(writer, 1);
}

/* a - b + (A / 2), or a + b, without reduction, for reduced or lazy a and b: below A. */
static void put_unreduced(struct field_emit_writer *writer, bool is_sum)
{
    const uint32_t words = writer->words, multiple = argument_multiple(writer) / 2;

    field_emit_begin(writer, is_sum ? "add_unreduced" : "sub_unreduced", 2);
    for (uint32_t pass = 0; pass < (is_sum ? 1 : 2); pass++)
        for (uint32_t i = 0; i < words; i++) {
            const bool is_first = i == 0, is_last = i + 1 == words;
            const struct field_emit_arg to = field_emit_word(writer, 0, i);

            if (!is_sum && pass == 0)
                field_emit_two(writer,
                    is_first  ? "sub.cc.u32"
                    : is_last ? "subc.u32"
                              : "subc.cc.u32",
                    to, field_emit_word(writer, 1, i), field_emit_word(writer, 2, i));
            else
                field_emit_two(writer,
                    is_first  ? "add.cc.u32"
                    : is_last ? "addc.u32"
                              : "addc.cc.u32",
                    to, is_sum ? field_emit_word(writer, 1, i) : to,
                    is_sum ? field_emit_word(writer, 2, i)
                           : field_emit_modulus(writer, multiple, i));
        }
    field_emit_end(writer, 2);
}

/* Of one word, the whole of w' is multiplied, so that a w / p - q < 1 + a / R for any a below R. */
static void put_one_word(struct field_emit_writer *writer)
{
    const char *linkage = writer->linkage, *p = writer->prefix;
    const uint32_t modulus = field_word(writer->field->modulus, 0);

    field_emit(writer,
        "%s %s %s_mul_shoup(%s a, %s b, %s c)\n{\n"
        "    unsigned r = a.word[0] * b.word[0] - __umulhi(a.word[0], c.word[0]) * %uu;\n"
        "    %s result = {{min(r, r - %uu)}};\n    return result;\n}\n\n",
        linkage, p, p, p, p, p, modulus, p, modulus);
    field_emit(writer,
        "%s %s %s_shoup_quotient(%s a)\n{\n    %s result = {{a.word[0] * %uu}};\n"
        "    return result;\n}\n\n",
        linkage, p, p, p, p, writer->field->inverse32);
    field_emit(writer,
        "%s %s %s_sub_unreduced(%s a, %s b)\n{\n    %s result = {{a.word[0] - b.word[0] + %uu}};\n"
        "    return result;\n}\n\n",
        linkage, p, p, p, p, p, modulus);
    field_emit(writer,
        "%s %s %s_add_unreduced(%s a, %s b)\n{\n    %s result = {{a.word[0] + b.word[0]}};\n"
        "    return result;\n}\n\n",
        linkage, p, p, p, p, p);
}

void field_emit_shoup(struct field_emit_writer *writer)
{
    if (writer->words == 1) {
        put_one_word(writer);
        return;
    }
    put_product(writer);
    put_quotient(writer);
    put_unreduced(writer, false);
    put_unreduced(writer, true);
}
