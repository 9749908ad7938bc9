/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes runs of unguarded 32-bit operations that cannot fault as one operation. Field arithmetic
 * is made of them: carry chains, whose carries stay in registers here, and pairs of low and high
 * halves of one product, which is computed once. ptx/fuse.c finds the runs. Included by lanes.h,
 * once per instruction set.
 */

#define OPERAND(TYPE, WORD) ((TYPE *)(void *)(frame + words[WORD]))
#define PUT(D, V)                                                                                  \
    do {                                                                                           \
        if (is_full)                                                                               \
            D[i] = (V);                                                                            \
        else                                                                                       \
            D[i] = ((V)&kept[i]) | (D[i] & ~kept[i]);                                              \
    } while (0)

#define FUSED_BINARY(CODE, VALUE)                                                                  \
    case CODE: {                                                                                   \
        vec *d = OPERAND(vec, 1);                                                                  \
        const vec *a = OPERAND(vec, 3), *b = OPERAND(vec, 4);                                      \
        EACH_VECTOR                                                                                \
        {                                                                                          \
            vec x = a[i], y = b[i], value = (VALUE);                                               \
            (void)y;                                                                               \
            PUT(d, value);                                                                         \
        }                                                                                          \
        break;                                                                                     \
    }

/* The four forms of an operation with a carry: whether it reads it, whether it writes it. */
#define FUSED_CHAIN(CODE, IN, OUT, X, Y)                                                           \
    case (CODE) + (IN) + 2 * (OUT): {                                                              \
        vec *d = OPERAND(vec, 1);                                                                  \
        const vec *a = OPERAND(vec, 3), *b = OPERAND(vec, 4), *c = OPERAND(vec, 5);                \
        (void)c;                                                                                   \
        EACH_VECTOR                                                                                \
        {                                                                                          \
            vec x = (X), y = (Y), total = x + y;                                                   \
            if (IN)                                                                                \
                total -= carry[i];                                                                 \
            if (OUT)                                                                               \
                carry[i] = carry_of(x, y, total);                                                  \
            PUT(d, total);                                                                         \
        }                                                                                          \
        break;                                                                                     \
    }

#define FUSED_BORROW(IN, OUT)                                                                      \
    case SIM_FUSED_SUB + (IN) + 2 * (OUT): {                                                       \
        vec *d = OPERAND(vec, 1);                                                                  \
        const vec *a = OPERAND(vec, 3), *b = OPERAND(vec, 4);                                      \
        EACH_VECTOR                                                                                \
        {                                                                                          \
            vec x = a[i], y = b[i], rest = x - y;                                                  \
            if (IN)                                                                                \
                rest += carry[i];                                                                  \
            if (OUT)                                                                               \
                carry[i] = borrow_of(x, y, rest);                                                  \
            PUT(d, rest);                                                                          \
        }                                                                                          \
        break;                                                                                     \
    }

/* mad.lo.cc and madc.hi of one product. When the second writes no carry, that of the first
 * remains. */
#define FUSED_PAIR(IN, OUT)                                                                        \
    case SIM_FUSED_MAD_PAIR + (IN) + 2 * (OUT): {                                                  \
        vec *d = OPERAND(vec, 1), *e = OPERAND(vec, 2);                                            \
        const vec *a = OPERAND(vec, 3), *b = OPERAND(vec, 4), *c = OPERAND(vec, 5),                \
                  *h = OPERAND(vec, 6);                                                            \
        EACH_VECTOR                                                                                \
        {                                                                                          \
            vec low, high, y = c[i], z = h[i], total;                                              \
            multiply_wide(a[i], b[i], &low, &high);                                                \
            total = low + y;                                                                       \
            if (IN)                                                                                \
                total -= carry[i];                                                                 \
            carry[i] = carry_of(low, y, total);                                                    \
            vec upper = high + z - carry[i];                                                       \
            if (OUT)                                                                               \
                carry[i] = carry_of(high, z, upper);                                               \
            PUT(d, total);                                                                         \
            PUT(e, upper);                                                                         \
        }                                                                                          \
        break;                                                                                     \
    }

#define FOUR_FORMS(FORM, ...)                                                                      \
    FORM(__VA_ARGS__ 0, 0) FORM(__VA_ARGS__ 1, 0) FORM(__VA_ARGS__ 0, 1) FORM(__VA_ARGS__ 1, 1)

VECTOR_INLINE vec low_product(vec a, vec b)
{
    return a * b;
}

VECTOR_INLINE vec high_product(vec a, vec b)
{
    vec low, high;
    multiply_wide(a, b, &low, &high);
    return high;
}

#define CHAIN_ADD(IN, OUT) FUSED_CHAIN(SIM_FUSED_ADD, IN, OUT, a[i], b[i])
#define CHAIN_MAD_LO(IN, OUT) FUSED_CHAIN(SIM_FUSED_MAD_LO, IN, OUT, low_product(a[i], b[i]), c[i])
#define CHAIN_MAD_HI(IN, OUT) FUSED_CHAIN(SIM_FUSED_MAD_HI, IN, OUT, high_product(a[i], b[i]), c[i])

VECTOR_INLINE void run_fused_steps(
    struct sim_warp *restrict warp, const struct sim_op *op, uint32_t lanes, const bool is_full)
{
    unsigned char *frame = __builtin_assume_aligned(warp->frame, 64);
    vec *flags = (vec *)(void *)(frame + SIM_VREG_CARRY), carry[VECTORS], kept[VECTORS];

    EACH_VECTOR
    {
        carry[i] = -flags[i];
        kept[i] = is_full ? (vec){0} : spread_mask(lanes, i);
    }
    for (const struct sim_op *step = op + op->c, *end = step + op->a; step < end; step++) {
        const uint32_t *words = step->words;
        switch (words[0]) {
            FOUR_FORMS(FUSED_PAIR)
            FOUR_FORMS(CHAIN_ADD)
            FOUR_FORMS(FUSED_BORROW)
            FOUR_FORMS(CHAIN_MAD_LO)
            FOUR_FORMS(CHAIN_MAD_HI)
            FUSED_BINARY(SIM_FUSED_MOV, x)
            FUSED_BINARY(SIM_FUSED_MUL_LO, x * y)
            FUSED_BINARY(SIM_FUSED_MUL_HI, high_product(x, y))
            FUSED_BINARY(SIM_FUSED_AND, x & y)
            FUSED_BINARY(SIM_FUSED_OR, x | y)
            FUSED_BINARY(SIM_FUSED_XOR, x ^ y)
        case SIM_FUSED_MUL_PAIR: {
            vec *d = OPERAND(vec, 1), *e = OPERAND(vec, 2);
            const vec *a = OPERAND(vec, 3), *b = OPERAND(vec, 4);
            EACH_VECTOR
            {
                vec low, high;
                multiply_wide(a[i], b[i], &low, &high);
                PUT(d, low);
                PUT(e, high);
            }
            break;
        }
        case SIM_FUSED_SHF_L_WRAP: {
            vec *d = OPERAND(vec, 1);
            const vec *a = OPERAND(vec, 3), *b = OPERAND(vec, 4), *c = OPERAND(vec, 5);
            EACH_VECTOR
            {
                vec by = c[i] & 31, value = b[i] << by | a[i] >> 1 >> (31 - by);
                PUT(d, value);
            }
            break;
        }
        case SIM_FUSED_SELP: {
            vec *d = OPERAND(vec, 1);
            const vec *a = OPERAND(vec, 3), *b = OPERAND(vec, 4);
            uint32_t chosen = *OPERAND(const uint32_t, 5);
            EACH_VECTOR
            {
                vec first = spread_mask(chosen, i), value = (a[i] & first) | (b[i] & ~first);
                PUT(d, value);
            }
            break;
        }
        default:
            break;
        }
    }
    if (op->b) {
        EACH_VECTOR
        {
            vec flag = carry[i] & 1;
            PUT(flags, flag);
        }
    }
}

HANDLER(fused)
{
    uint32_t lanes = warp->active;

    if (lanes == SIM_ALL_LANES)
        run_fused_steps(warp, op, lanes, true);
    else
        run_fused_steps(warp, op, lanes, false);
    return op + op->aux;
}
