/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The performance-critical handlers: moves, arithmetic with and without carry, logic, shifts,
 * comparison, selection. They are plain loops over 32 lanes for the compiler to vectorise,
 * compiled once per instruction set: the including file sets the target and defines
 * SIM_LANES_FILL, and for a build with sanitizers SIM_LANES_CHECKED where every lane is to be
 * checked. No other file includes this one.
 */
#include "driver/sim/exec/machine.h"

#define LANES for (unsigned l = 0; l < SIM_LANES; l++)

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* A sanitizer's checks of each lane keep the loops scalar and take most of the time of a simulated
 * kernel. One instruction set has them, which the conformance tests run with every instruction; the
 * others check the first and the last byte of an operand, which AddressSanitizer needs. */
#if defined(SIM_LANES_CHECKED)
#define UNCHECKED
#else
#define UNCHECKED __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

#if defined(SIM_ADDRESS_SANITIZER) && !defined(SIM_LANES_CHECKED)
/* AddressSanitizer's: a byte of shadow for 8 bytes of memory, 0 where all of them can be accessed.
 */
extern uintptr_t __asan_shadow_memory_dynamic_address;

static __attribute__((noinline)) void check_vreg(const volatile unsigned char *vreg, size_t bytes)
{
    (void)vreg[0];
    (void)vreg[bytes - 1];
}

/* Where something cannot, the compiler's own checks decide and report. */
static inline UNCHECKED __attribute__((always_inline)) void *vreg_at(
    const struct sim_warp *warp, uint32_t offset, size_t bytes)
{
    unsigned char *vreg = warp->frame + offset;
    const unsigned char *shadow = (const unsigned char *)__asan_shadow_memory_dynamic_address;

    if (__builtin_expect(
            shadow[(uintptr_t)vreg >> 3] | shadow[(uintptr_t)(vreg + bytes - 1) >> 3], 0))
        check_vreg(vreg, bytes);
    return vreg;
}

#define VREG(T, OFFSET) __builtin_assume_aligned(vreg_at(warp, OFFSET, sizeof(T) * SIM_LANES), 64)
#else
#define VREG(T, OFFSET) sim_vreg_at(warp, OFFSET)
#endif

/* Vector registers never overlap partially: a result is one of the operands or disjoint from all
 * of them. */
#define STORE(T, VALUE)                                                                            \
    if (lanes == SIM_ALL_LANES) {                                                                  \
        INDEPENDENT LANES d[l] = (T)(VALUE);                                                       \
    } else {                                                                                       \
        INDEPENDENT LANES                                                                          \
        {                                                                                          \
            T value = (T)(VALUE);                                                                  \
            d[l] = (lanes >> l & 1) ? value : d[l];                                                \
        }                                                                                          \
    }

#define HANDLER(NAME)                                                                              \
    static UNCHECKED const struct sim_op *NAME(                                                    \
        struct sim_warp *restrict warp, const struct sim_op *op)

#define UNARY(NAME, D, A, VALUE)                                                                   \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        D *d = VREG(D, op->d);                                                                     \
        const A *a = VREG(A, op->a);                                                               \
        uint32_t lanes = sim_active_lanes(warp, op);                                               \
        STORE(D, VALUE)                                                                            \
        return op + 1;                                                                             \
    }

#define BINARY(NAME, D, A, B, VALUE)                                                               \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        D *d = VREG(D, op->d);                                                                     \
        const A *a = VREG(A, op->a);                                                               \
        const B *b = VREG(B, op->b);                                                               \
        uint32_t lanes = sim_active_lanes(warp, op);                                               \
        STORE(D, VALUE)                                                                            \
        return op + 1;                                                                             \
    }

#define TERNARY(NAME, D, A, B, C, VALUE)                                                           \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        D *d = VREG(D, op->d);                                                                     \
        const A *a = VREG(A, op->a);                                                               \
        const B *b = VREG(B, op->b);                                                               \
        const C *c = VREG(C, op->c);                                                               \
        uint32_t lanes = sim_active_lanes(warp, op);                                               \
        STORE(D, VALUE)                                                                            \
        return op + 1;                                                                             \
    }

typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef unsigned __int128 u128;
typedef __int128 s128;

#include "driver/sim/exec/vector.h"

/* ---- moves and widths ------------------------------------------------------------------------ */

UNARY(mov16, u16, u16, a[l])
UNARY(mov32, u32, u32, a[l])
UNARY(mov64, u64, u64, a[l])
UNARY(mov128, u128, u128, a[l])

UNARY(to16_u8, u16, u16, a[l] & 0xff)
UNARY(to16_s8, u16, u16, (s16)(int8_t)a[l])
UNARY(to16_u32, u16, u32, a[l])
UNARY(to16_u64, u16, u64, a[l])
UNARY(to32_u8, u32, u16, a[l] & 0xff)
UNARY(to32_s8, u32, u16, (s32)(int8_t)a[l])
UNARY(to32_u16, u32, u16, a[l])
UNARY(to32_s16, u32, s16, a[l])
UNARY(to32_u64, u32, u64, a[l])
UNARY(to64_u8, u64, u16, a[l] & 0xff)
UNARY(to64_s8, u64, u16, (s64)(int8_t)a[l])
UNARY(to64_u16, u64, u16, a[l])
UNARY(to64_s16, u64, s16, a[l])
UNARY(to64_u32, u64, u32, a[l])
UNARY(to64_s32, u64, s32, a[l])

/* ---- arithmetic ------------------------------------------------------------------------------ */

#define ARITHMETIC(W, U, S, WIDE, SWIDE, BITS)                                                     \
    BINARY(add##W, U, U, U, a[l] + b[l])                                                           \
    BINARY(sub##W, U, U, U, a[l] - b[l])                                                           \
    BINARY(mul_lo##W, U, U, U, (WIDE)a[l] * b[l])                                                  \
    BINARY(mul_hi_u##W, U, U, U, (WIDE)a[l] * b[l] >> BITS)                                        \
    BINARY(mul_hi_s##W, U, S, S, (SWIDE)a[l] * b[l] >> BITS)                                       \
    TERNARY(mad_lo##W, U, U, U, U, (WIDE)a[l] * b[l] + c[l])                                       \
    TERNARY(mad_hi_u##W, U, U, U, U, (U)((WIDE)a[l] * b[l] >> BITS) + c[l])                        \
    TERNARY(mad_hi_s##W, U, S, S, U, (U)((SWIDE)a[l] * b[l] >> BITS) + c[l])                       \
    UNARY(abs##W, U, U, (S)a[l] < 0 ? (U)(0 - a[l]) : a[l])                                        \
    UNARY(neg##W, U, U, 0 - a[l])                                                                  \
    BINARY(and##W, U, U, U, a[l] & b[l])                                                           \
    BINARY(or ##W, U, U, U, a[l] | b[l])                                                           \
    BINARY(xor##W, U, U, U, a[l] ^ b[l])                                                           \
    UNARY(not ##W, U, U, ~a[l])                                                                    \
    UNARY(cnot##W, U, U, a[l] == 0)                                                                \
    BINARY(shl##W, U, U, u32, b[l] < BITS ? (u64)a[l] << (b[l] & 63) : 0)                          \
    BINARY(shr_u##W, U, U, u32, b[l] < BITS ? (u64)a[l] >> (b[l] & 63) : 0)                        \
    BINARY(shr_s##W, U, S, u32, (s64)a[l] >> (b[l] < BITS ? b[l] & 63 : BITS - 1))

ARITHMETIC(16, u16, s16, u32, s32, 16)
ARITHMETIC(32, u32, s32, u64, s64, 32)
ARITHMETIC(64, u64, s64, u128, s128, 64)

/* The 16-bit handlers are in bits.c: GCC 12 has no instruction for their masked form. */
#define EXTREMES(W, U, S)                                                                          \
    BINARY(min_u##W, U, U, U, a[l] < b[l] ? a[l] : b[l])                                           \
    BINARY(max_u##W, U, U, U, a[l] > b[l] ? a[l] : b[l])                                           \
    BINARY(min_s##W, U, S, S, a[l] < b[l] ? a[l] : b[l])                                           \
    BINARY(max_s##W, U, S, S, a[l] > b[l] ? a[l] : b[l])

EXTREMES(32, u32, s32)
EXTREMES(64, u64, s64)

BINARY(mul_wide_u16, u32, u16, u16, (u32)a[l] * b[l])
BINARY(mul_wide_s16, u32, s16, s16, (s32)a[l] * b[l])
BINARY(mul_wide_u32, u64, u32, u32, (u64)a[l] * b[l])
BINARY(mul_wide_s32, u64, s32, s32, (s64)a[l] * b[l])
TERNARY(mad_wide_u16, u32, u16, u16, u32, (u32)a[l] * b[l] + c[l])
TERNARY(mad_wide_s16, u32, s16, s16, u32, (u32)((s32)a[l] * b[l]) + c[l])
TERNARY(mad_wide_u32, u64, u32, u32, u64, (u64)a[l] * b[l] + c[l])
TERNARY(mad_wide_s32, u64, s32, s32, u64, (u64)((s64)a[l] * b[l]) + c[l])

/* ---- carries --------------------------------------------------------------------------------- */

/* One step of a carry chain: the sum of two values and, if IN, the carry; OUT selects whether the
 * flag is written. */
#define CHAIN_STEP(U, X, Y, IN, OUT)                                                               \
    U x = (U)(X), y = (U)(Y), sum = (U)(x + y);                                                    \
    U total = IN ? (U)(sum + carry[l]) : sum;                                                      \
    u32 flag = (u32)(sum < x) | (u32)(IN && total < sum);

#define CHAIN(NAME, U, IN, OUT, X, Y)                                                              \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        U *d = VREG(U, op->d);                                                                     \
        const U *a = VREG(U, op->a), *b = VREG(U, op->b);                                          \
        const U *c = VREG(U, op->c);                                                               \
        u32 *carry = VREG(u32, SIM_VREG_CARRY);                                                    \
        uint32_t lanes = sim_active_lanes(warp, op);                                               \
        (void)c;                                                                                   \
        if (lanes == SIM_ALL_LANES) {                                                              \
            INDEPENDENT LANES                                                                      \
            {                                                                                      \
                CHAIN_STEP(U, X, Y, IN, OUT)                                                       \
                d[l] = total;                                                                      \
                if (OUT)                                                                           \
                    carry[l] = flag;                                                               \
            }                                                                                      \
        } else {                                                                                   \
            INDEPENDENT LANES                                                                      \
            {                                                                                      \
                CHAIN_STEP(U, X, Y, IN, OUT)                                                       \
                d[l] = (lanes >> l & 1) ? total : d[l];                                            \
                if (OUT)                                                                           \
                    carry[l] = (lanes >> l & 1) ? flag : carry[l];                                 \
            }                                                                                      \
        }                                                                                          \
        return op + 1;                                                                             \
    }

#define BORROW_STEP(U, IN)                                                                         \
    U x = a[l], y = b[l], rest = (U)(x - y);                                                       \
    U total = IN ? (U)(rest - carry[l]) : rest;                                                    \
    u32 flag = (u32)(x < y) | (u32)(IN && rest < carry[l]);

#define BORROW(NAME, U, IN, OUT)                                                                   \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        U *d = VREG(U, op->d);                                                                     \
        const U *a = VREG(U, op->a), *b = VREG(U, op->b);                                          \
        u32 *carry = VREG(u32, SIM_VREG_CARRY);                                                    \
        uint32_t lanes = sim_active_lanes(warp, op);                                               \
        if (lanes == SIM_ALL_LANES) {                                                              \
            INDEPENDENT LANES                                                                      \
            {                                                                                      \
                BORROW_STEP(U, IN)                                                                 \
                d[l] = total;                                                                      \
                if (OUT)                                                                           \
                    carry[l] = flag;                                                               \
            }                                                                                      \
        } else {                                                                                   \
            INDEPENDENT LANES                                                                      \
            {                                                                                      \
                BORROW_STEP(U, IN)                                                                 \
                d[l] = (lanes >> l & 1) ? total : d[l];                                            \
                if (OUT)                                                                           \
                    carry[l] = (lanes >> l & 1) ? flag : carry[l];                                 \
            }                                                                                      \
        }                                                                                          \
        return op + 1;                                                                             \
    }

#define LOW32 ((u64)a[l] * b[l])
#define HIGH32 ((u64)a[l] * b[l] >> 32)
#define HIGH32S ((s64)(s32)a[l] * (s32)b[l] >> 32)
#define LOW64 (a[l] * b[l])
#define HIGH64 ((u128)a[l] * b[l] >> 64)
#define HIGH64S ((s128)(s64)a[l] * (s64)b[l] >> 64)

#define CHAINS(W, U)                                                                               \
    CHAIN(add_cc##W, U, 0, 1, a[l], b[l])                                                          \
    CHAIN(addc##W, U, 1, 0, a[l], b[l])                                                            \
    CHAIN(addc_cc##W, U, 1, 1, a[l], b[l])                                                         \
    BORROW(sub_cc##W, U, 0, 1)                                                                     \
    BORROW(subc##W, U, 1, 0)                                                                       \
    BORROW(subc_cc##W, U, 1, 1)                                                                    \
    CHAIN(mad_lo_cc##W, U, 0, 1, LOW##W, c[l])                                                     \
    CHAIN(madc_lo##W, U, 1, 0, LOW##W, c[l])                                                       \
    CHAIN(madc_lo_cc##W, U, 1, 1, LOW##W, c[l])                                                    \
    CHAIN(mad_hi_cc_u##W, U, 0, 1, HIGH##W, c[l])                                                  \
    CHAIN(madc_hi_u##W, U, 1, 0, HIGH##W, c[l])                                                    \
    CHAIN(madc_hi_cc_u##W, U, 1, 1, HIGH##W, c[l])                                                 \
    CHAIN(mad_hi_cc_s##W, U, 0, 1, HIGH##W##S, c[l])                                               \
    CHAIN(madc_hi_s##W, U, 1, 0, HIGH##W##S, c[l])                                                 \
    CHAIN(madc_hi_cc_s##W, U, 1, 1, HIGH##W##S, c[l])

CHAINS(32, u32)
CHAINS(64, u64)

/* ---- funnel shifts, selection ---------------------------------------------------------------- */

#define PAIR ((u64)b[l] << 32 | a[l])
TERNARY(shf_l_clamp, u32, u32, u32, u32, PAIR << (c[l] < 32 ? c[l] : 32) >> 32)
TERNARY(shf_r_clamp, u32, u32, u32, u32, PAIR >> (c[l] < 32 ? c[l] : 32))
TERNARY(shf_l_wrap, u32, u32, u32, u32, PAIR << (c[l] & 31) >> 32)
TERNARY(shf_r_wrap, u32, u32, u32, u32, PAIR >> (c[l] & 31))

#define SELECT(W, U)                                                                               \
    HANDLER(selp##W)                                                                               \
    {                                                                                              \
        U *d = VREG(U, op->d);                                                                     \
        const U *a = VREG(U, op->a), *b = VREG(U, op->b);                                          \
        uint32_t lanes = sim_active_lanes(warp, op), p = *sim_word_at(warp, op->c);                \
        STORE(U, (p >> l & 1) ? a[l] : b[l])                                                       \
        return op + 1;                                                                             \
    }                                                                                              \
    TERNARY(slct##W, U, U, U, s32, c[l] >= 0 ? a[l] : b[l])

SELECT(16, u16)
SELECT(32, u32)
SELECT(64, u64)

/* Any function of three bits: the terms of its truth table, those with a first. */
HANDLER(lop3)
{
    u32 *d = VREG(u32, op->d);
    const u32 *a = VREG(u32, op->a), *b = VREG(u32, op->b), *c = VREG(u32, op->c);
    uint32_t lanes = sim_active_lanes(warp, op), term[8];
    for (unsigned i = 0; i < 8; i++)
        term[i] = op->aux >> i & 1 ? SIM_ALL_LANES : 0;
    STORE(u32, (a[l] & ((b[l] & ((c[l] & term[7]) | (~c[l] & term[6]))) |
                           (~b[l] & ((c[l] & term[5]) | (~c[l] & term[4]))))) |
                   (~a[l] & ((b[l] & ((c[l] & term[3]) | (~c[l] & term[2]))) |
                                (~b[l] & ((c[l] & term[1]) | (~c[l] & term[0]))))))
    return op + 1;
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* Converts lanes of 0 or 1 to bits: one multiplication gathers eight lanes. */
static inline uint32_t gather_bits(const uint8_t *flags)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < 4; i++) {
        u64 eight;
        __builtin_memcpy(&eight, flags + i * 8, 8);
        bits |= (uint32_t)(eight * UINT64_C(0x0102040810204080) >> 56) << (i * 8);
    }
    return bits;
}

#define COMPARE(NAME, T, TEST)                                                                     \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        const T *a = VREG(T, op->a), *b = VREG(T, op->b);                                          \
        uint32_t lanes = sim_active_lanes(warp, op), *d = sim_word_at(warp, op->d);                \
        uint8_t flags[SIM_LANES];                                                                  \
        INDEPENDENT LANES flags[l] = (uint8_t)(a[l] TEST b[l]);                                    \
        *d = (*d & ~lanes) | (gather_bits(flags) & lanes);                                         \
        return op + 1;                                                                             \
    }

/* The same for lanes of 32 and 64 bits, whose comparison the host does in one instruction. */
#define COMPARE_VECTORS(NAME, T, VEC, BITS_OF, TEST)                                               \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        const VEC *a = VREG(T, op->a), *b = VREG(T, op->b);                                        \
        uint32_t lanes = sim_active_lanes(warp, op), *d = sim_word_at(warp, op->d), bits = 0;      \
        _Pragma("GCC unroll 16") for (unsigned i = 0; i < sizeof(T) * SIM_LANES / sizeof(VEC);     \
                                      i++) bits |= BITS_OF((a[i] TEST b[i]))                       \
                                                   << (i * (uint32_t)(sizeof(VEC) / sizeof(T)));   \
        *d = (*d & ~lanes) | (bits & lanes);                                                       \
        return op + 1;                                                                             \
    }

#define COMPARISONS(FORM, T, ...)                                                                  \
    FORM(eq_##T, T, __VA_ARGS__ ==)                                                                \
    FORM(ne_##T, T, __VA_ARGS__ !=)                                                                \
    FORM(lt_##T, T, __VA_ARGS__ <)                                                                 \
    FORM(le_##T, T, __VA_ARGS__ <=)                                                                \
    FORM(gt_##T, T, __VA_ARGS__ >)                                                                 \
    FORM(ge_##T, T, __VA_ARGS__ >=)

#define FLAGS_32(FLAGS) bits_of((vec)(FLAGS))
#define FLAGS_64(FLAGS) bits_of_wide((vec_wide)(FLAGS))

COMPARISONS(COMPARE, u16, )
COMPARISONS(COMPARE, s16, )
COMPARISONS(COMPARE_VECTORS, u32, vec, FLAGS_32, )
COMPARISONS(COMPARE_VECTORS, s32, vec_signed, FLAGS_32, )
COMPARISONS(COMPARE_VECTORS, u64, vec_wide, FLAGS_64, )
COMPARISONS(COMPARE_VECTORS, s64, vec_wide_signed, FLAGS_64, )

#include "driver/sim/exec/fused.h"

#include "driver/sim/exec/access.h"

#include "driver/sim/exec/shuffle.h"

/* ---- the table ------------------------------------------------------------------------------- */

#define SET(KIND, TYPE, HANDLER_NAME) handlers->run[KIND][TYPE] = HANDLER_NAME;

#define SET_WIDTH(W)                                                                               \
    SET(SIM_MOV, PTX_U##W, mov##W)                                                                 \
    SET(SIM_ADD, PTX_U##W, add##W)                                                                 \
    SET(SIM_SUB, PTX_U##W, sub##W)                                                                 \
    SET(SIM_MUL_LO, PTX_U##W, mul_lo##W)                                                           \
    SET(SIM_MUL_HI, PTX_U##W, mul_hi_u##W)                                                         \
    SET(SIM_MUL_HI, PTX_S##W, mul_hi_s##W)                                                         \
    SET(SIM_MAD_LO, PTX_U##W, mad_lo##W)                                                           \
    SET(SIM_MAD_HI, PTX_U##W, mad_hi_u##W)                                                         \
    SET(SIM_MAD_HI, PTX_S##W, mad_hi_s##W)                                                         \
    SET(SIM_ABS, PTX_S##W, abs##W)                                                                 \
    SET(SIM_NEG, PTX_S##W, neg##W)                                                                 \
    SET(SIM_AND, PTX_U##W, and##W)                                                                 \
    SET(SIM_OR, PTX_U##W, or ##W)                                                                  \
    SET(SIM_XOR, PTX_U##W, xor##W)                                                                 \
    SET(SIM_NOT, PTX_U##W, not ##W)                                                                \
    SET(SIM_CNOT, PTX_B##W, cnot##W)                                                               \
    SET(SIM_SHL, PTX_B##W, shl##W)                                                                 \
    SET(SIM_SHR, PTX_B##W, shr_u##W)                                                               \
    SET(SIM_SHR, PTX_U##W, shr_u##W)                                                               \
    SET(SIM_SHR, PTX_S##W, shr_s##W)                                                               \
    SET(SIM_SELP, PTX_U##W, selp##W)                                                               \
    SET(SIM_SLCT, PTX_U##W, slct##W)                                                               \
    SET_COMPARISONS(PTX_U##W, u##W)                                                                \
    SET_COMPARISONS(PTX_S##W, s##W)

#define SET_EXTREMES(W)                                                                            \
    SET(SIM_MIN, PTX_U##W, min_u##W)                                                               \
    SET(SIM_MIN, PTX_S##W, min_s##W)                                                               \
    SET(SIM_MAX, PTX_U##W, max_u##W)                                                               \
    SET(SIM_MAX, PTX_S##W, max_s##W)

#define SET_COMPARISONS(TYPE, T)                                                                   \
    SET(SIM_CMP_EQ, TYPE, eq_##T)                                                                  \
    SET(SIM_CMP_NE, TYPE, ne_##T)                                                                  \
    SET(SIM_CMP_LT, TYPE, lt_##T)                                                                  \
    SET(SIM_CMP_LE, TYPE, le_##T)                                                                  \
    SET(SIM_CMP_GT, TYPE, gt_##T)                                                                  \
    SET(SIM_CMP_GE, TYPE, ge_##T)

#define SET_CHAINS(W)                                                                              \
    SET(SIM_ADD_CC, PTX_U##W, add_cc##W)                                                           \
    SET(SIM_ADDC, PTX_U##W, addc##W)                                                               \
    SET(SIM_ADDC_CC, PTX_U##W, addc_cc##W)                                                         \
    SET(SIM_SUB_CC, PTX_U##W, sub_cc##W)                                                           \
    SET(SIM_SUBC, PTX_U##W, subc##W)                                                               \
    SET(SIM_SUBC_CC, PTX_U##W, subc_cc##W)                                                         \
    SET(SIM_MAD_LO_CC, PTX_U##W, mad_lo_cc##W)                                                     \
    SET(SIM_MADC_LO, PTX_U##W, madc_lo##W)                                                         \
    SET(SIM_MADC_LO_CC, PTX_U##W, madc_lo_cc##W)                                                   \
    SET(SIM_MAD_HI_CC, PTX_U##W, mad_hi_cc_u##W)                                                   \
    SET(SIM_MADC_HI, PTX_U##W, madc_hi_u##W)                                                       \
    SET(SIM_MADC_HI_CC, PTX_U##W, madc_hi_cc_u##W)                                                 \
    SET(SIM_MAD_HI_CC, PTX_S##W, mad_hi_cc_s##W)                                                   \
    SET(SIM_MADC_HI, PTX_S##W, madc_hi_s##W)                                                       \
    SET(SIM_MADC_HI_CC, PTX_S##W, madc_hi_cc_s##W)

static void fill_widths(struct sim_handlers *handlers)
{
    SET(SIM_MOV, PTX_B128, mov128)
    SET(SIM_TO16, PTX_U8, to16_u8)
    SET(SIM_TO16, PTX_S8, to16_s8)
    SET(SIM_TO16, PTX_U32, to16_u32)
    SET(SIM_TO16, PTX_U64, to16_u64)
    SET(SIM_TO16, PTX_S32, to16_u32)
    SET(SIM_TO16, PTX_S64, to16_u64)
    SET(SIM_TO32, PTX_U8, to32_u8)
    SET(SIM_TO32, PTX_S8, to32_s8)
    SET(SIM_TO32, PTX_U16, to32_u16)
    SET(SIM_TO32, PTX_S16, to32_s16)
    SET(SIM_TO32, PTX_U64, to32_u64)
    SET(SIM_TO32, PTX_S64, to32_u64)
    SET(SIM_TO64, PTX_U8, to64_u8)
    SET(SIM_TO64, PTX_S8, to64_s8)
    SET(SIM_TO64, PTX_U16, to64_u16)
    SET(SIM_TO64, PTX_S16, to64_s16)
    SET(SIM_TO64, PTX_U32, to64_u32)
    SET(SIM_TO64, PTX_S32, to64_s32)
}

void SIM_LANES_FILL(struct sim_handlers *handlers)
{
    fill_widths(handlers);
    SET_WIDTH(16)
    SET_WIDTH(32)
    SET_WIDTH(64)
    SET_EXTREMES(32)
    SET_EXTREMES(64)
    SET_CHAINS(32)
    SET_CHAINS(64)
    SET(SIM_MUL_WIDE, PTX_U16, mul_wide_u16)
    SET(SIM_MUL_WIDE, PTX_S16, mul_wide_s16)
    SET(SIM_MUL_WIDE, PTX_U32, mul_wide_u32)
    SET(SIM_MUL_WIDE, PTX_S32, mul_wide_s32)
    SET(SIM_MAD_WIDE, PTX_U16, mad_wide_u16)
    SET(SIM_MAD_WIDE, PTX_S16, mad_wide_s16)
    SET(SIM_MAD_WIDE, PTX_U32, mad_wide_u32)
    SET(SIM_MAD_WIDE, PTX_S32, mad_wide_s32)
    SET(SIM_SHF_L_CLAMP, PTX_U32, shf_l_clamp)
    SET(SIM_SHF_R_CLAMP, PTX_U32, shf_r_clamp)
    SET(SIM_SHF_L_WRAP, PTX_U32, shf_l_wrap)
    SET(SIM_SHF_R_WRAP, PTX_U32, shf_r_wrap)
    SET(SIM_LOP3, PTX_U32, lop3)
    SET(SIM_FUSED, PTX_NONE, fused)
    SET(SIM_SHFL, PTX_U32, shfl)
    SET(SIM_LD, PTX_NONE, ld)
    SET(SIM_ST, PTX_NONE, st)
}
