/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scalar field of BN254, written by hand for tests/bench/bench_custom: values in Montgomery
 * form, x 2^256 mod p. Unless stated otherwise a value is below 2p.
 *
 * Products add one row per word of the second factor. The products of a row's even words are in
 * `even`, those of its odd words in `odd`, one word higher, so that each 64-bit product is added to
 * an aligned pair. After a row the multiple of p that clears the lowest word is added, and the
 * value shifted down by that word. 2^256 is above 5p: while the first factors of the
 * products that share a reduction add up to at most 4p, nothing leaves the 256 bits.
 */
#define HAND_INLINE __device__ __forceinline__

struct __align__(16) fr {
    unsigned word[8];
};

__device__ constexpr unsigned hand_p[8] = {0xf0000001, 0x43e1f593, 0x79b97091, 0x2833e848,
    0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72};
__device__ constexpr unsigned hand_2p[8] = {0xe0000002, 0x87c3eb27, 0xf372e122, 0x5067d090,
    0x0302b0ba, 0x70a08b6d, 0xc2634053, 0x60c89ce5};
#define HAND_FACTOR 0xefffffffu /* -1 / p modulo 2^32 */

/* even + 2^32 odd + low */
struct hand_sum {
    unsigned even[8], odd[8], low;
};

/* The first row: pairs = x[0], x[2], x[4] and x[6] times y. */
HAND_INLINE void hand_start(unsigned *pairs, const unsigned *x, unsigned y)
{
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
        unsigned long long product = (unsigned long long)x[i] * y;

        pairs[i] = (unsigned)product;
        pairs[i + 1] = (unsigned)(product >> 32);
    }
}

#define HAND_PAIRS                                                                                 \
    "madc.hi.cc.u32 %1, %9, %13, %1;\n\t"                                                          \
    "madc.lo.cc.u32 %2, %10, %13, %2;\n\t"                                                         \
    "madc.hi.cc.u32 %3, %10, %13, %3;\n\t"                                                         \
    "madc.lo.cc.u32 %4, %11, %13, %4;\n\t"                                                         \
    "madc.hi.cc.u32 %5, %11, %13, %5;\n\t"                                                         \
    "madc.lo.cc.u32 %6, %12, %13, %6;\n\t"
#define HAND_OPERANDS(pairs, other, x, y)                                                          \
    "+r"(pairs[0]), "+r"(pairs[1]), "+r"(pairs[2]), "+r"(pairs[3]), "+r"(pairs[4]),                \
        "+r"(pairs[5]), "+r"(pairs[6]), "+r"(pairs[7]), "+r"(other)                                \
        : "r"(x[0]), "r"(x[2]), "r"(x[4]), "r"(x[6]), "r"(y)

/* pairs += x[0], x[2], x[4] and x[6] times y, with the carry to `top`. */
HAND_INLINE void hand_add_even(unsigned *pairs, unsigned &top, const unsigned *x, unsigned y)
{
    asm("mad.lo.cc.u32 %0, %9, %13, %0;\n\t" HAND_PAIRS "madc.hi.cc.u32 %7, %12, %13, %7;\n\t"
        "addc.u32 %8, %8, 0;"
        : HAND_OPERANDS(pairs, top, x, y));
}

/* The same without a carry to the top. */
HAND_INLINE void hand_add_odd(unsigned *pairs, const unsigned *x, unsigned y)
{
    unsigned unused = 0;

    asm("mad.lo.cc.u32 %0, %9, %13, %0;\n\t" HAND_PAIRS "madc.hi.u32 %7, %12, %13, %7;"
        : HAND_OPERANDS(pairs, unused, x, y));
}

/* `word`, one word below the pairs, += low; the carry goes to the pairs. */
HAND_INLINE void hand_add_odd_after(
    unsigned *pairs, unsigned &word, unsigned low, const unsigned *x, unsigned y)
{
    asm("add.cc.u32 %8, %8, %14;\n\tmadc.lo.cc.u32 %0, %9, %13, %0;\n\t" HAND_PAIRS
        "madc.hi.u32 %7, %12, %13, %7;"
        : HAND_OPERANDS(pairs, word, x, y), "r"(low));
}

/* sum = (sum + m p) / 2^32 with the m that makes it exact. */
HAND_INLINE void hand_reduce_row(hand_sum &sum)
{
    unsigned m = sum.even[0] * HAND_FACTOR;
    unsigned even[8];

    hand_add_odd(sum.odd, hand_p + 1, m);
    hand_add_even(sum.even, sum.odd[7], hand_p, m);
    sum.low = sum.even[1];
#pragma unroll
    for (int i = 0; i < 8; i++)
        even[i] = sum.odd[i];
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum.odd[i] = i < 6 ? sum.even[i + 2] : 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum.even[i] = even[i];
}

/* sum += x y for a word y; `row` counts the words, and the rows of further products follow those
 * of the first. */
HAND_INLINE void hand_add_row(hand_sum &sum, const fr &x, unsigned y, int row, bool is_further)
{
    if (is_further) {
        hand_add_odd(sum.odd, x.word + 1, y);
        hand_add_even(sum.even, sum.odd[7], x.word, y);
    } else if (row == 0) {
        hand_start(sum.even, x.word, y);
        hand_start(sum.odd, x.word + 1, y);
    } else {
        hand_add_odd_after(sum.odd, sum.even[0], sum.low, x.word + 1, y);
        hand_add_even(sum.even, sum.odd[7], x.word, y);
    }
}

HAND_INLINE fr hand_merge(const hand_sum &sum)
{
    fr r;

    asm("add.cc.u32 %0, %8, %16;\n\taddc.cc.u32 %1, %9, %17;\n\t"
        "addc.cc.u32 %2, %10, %18;\n\taddc.cc.u32 %3, %11, %19;\n\t"
        "addc.cc.u32 %4, %12, %20;\n\taddc.cc.u32 %5, %13, %21;\n\t"
        "addc.cc.u32 %6, %14, %22;\n\taddc.u32 %7, %15, 0;"
        : "=r"(r.word[0]), "=r"(r.word[1]), "=r"(r.word[2]), "=r"(r.word[3]), "=r"(r.word[4]),
        "=r"(r.word[5]), "=r"(r.word[6]), "=r"(r.word[7])
        : "r"(sum.even[0]), "r"(sum.even[1]), "r"(sum.even[2]), "r"(sum.even[3]),
        "r"(sum.even[4]), "r"(sum.even[5]), "r"(sum.even[6]), "r"(sum.even[7]), "r"(sum.low),
        "r"(sum.odd[0]), "r"(sum.odd[1]), "r"(sum.odd[2]), "r"(sum.odd[3]), "r"(sum.odd[4]),
        "r"(sum.odd[5]));
    return r;
}

/* a b / 2^256 */
HAND_INLINE fr hand_mul(const fr &a, const fr &b)
{
    hand_sum sum;

#pragma unroll
    for (int i = 0; i < 8; i++) {
        hand_add_row(sum, a, b.word[i], i, false);
        hand_reduce_row(sum);
    }
    return hand_merge(sum);
}

/* (a b + c d) / 2^256 with one reduction, for b and d below p. */
HAND_INLINE fr hand_mul_add(const fr &a, const fr &b, const fr &c, const fr &d)
{
    hand_sum sum;

#pragma unroll
    for (int i = 0; i < 8; i++) {
        hand_add_row(sum, a, b.word[i], i, false);
        hand_add_row(sum, c, d.word[i], i, true);
        hand_reduce_row(sum);
    }
    return hand_merge(sum);
}

/* The integer a + b, which is below 2^256. */
HAND_INLINE fr hand_plain_add(const fr &a, const fr &b)
{
    fr r;

    asm("add.cc.u32 %0, %8, %16;\n\taddc.cc.u32 %1, %9, %17;\n\t"
        "addc.cc.u32 %2, %10, %18;\n\taddc.cc.u32 %3, %11, %19;\n\t"
        "addc.cc.u32 %4, %12, %20;\n\taddc.cc.u32 %5, %13, %21;\n\t"
        "addc.cc.u32 %6, %14, %22;\n\taddc.u32 %7, %15, %23;"
        : "=r"(r.word[0]), "=r"(r.word[1]), "=r"(r.word[2]), "=r"(r.word[3]), "=r"(r.word[4]),
        "=r"(r.word[5]), "=r"(r.word[6]), "=r"(r.word[7])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(a.word[4]),
        "r"(a.word[5]), "r"(a.word[6]), "r"(a.word[7]), "r"(b.word[0]), "r"(b.word[1]),
        "r"(b.word[2]), "r"(b.word[3]), "r"(b.word[4]), "r"(b.word[5]), "r"(b.word[6]),
        "r"(b.word[7]));
    return r;
}

/* The integer a - b modulo 2^256; `borrow` becomes all ones if it is negative. */
HAND_INLINE fr hand_plain_sub(const fr &a, const unsigned *b, unsigned &borrow)
{
    fr r;

    asm("sub.cc.u32 %0, %9, %17;\n\tsubc.cc.u32 %1, %10, %18;\n\t"
        "subc.cc.u32 %2, %11, %19;\n\tsubc.cc.u32 %3, %12, %20;\n\t"
        "subc.cc.u32 %4, %13, %21;\n\tsubc.cc.u32 %5, %14, %22;\n\t"
        "subc.cc.u32 %6, %15, %23;\n\tsubc.cc.u32 %7, %16, %24;\n\tsubc.u32 %8, 0, 0;"
        : "=r"(r.word[0]), "=r"(r.word[1]), "=r"(r.word[2]), "=r"(r.word[3]), "=r"(r.word[4]),
        "=r"(r.word[5]), "=r"(r.word[6]), "=r"(r.word[7]), "=r"(borrow)
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(a.word[4]),
        "r"(a.word[5]), "r"(a.word[6]), "r"(a.word[7]), "r"(b[0]), "r"(b[1]), "r"(b[2]),
        "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
    return r;
}

/* a - b if that is not negative, else a. */
HAND_INLINE fr hand_subtract_once(const fr &a, const unsigned *b)
{
    unsigned borrow;
    fr r = hand_plain_sub(a, b, borrow);

#pragma unroll
    for (int i = 0; i < 8; i++)
        r.word[i] = borrow ? a.word[i] : r.word[i];
    return r;
}

HAND_INLINE fr hand_add(const fr &a, const fr &b)
{
    return hand_subtract_once(hand_plain_add(a, b), hand_2p);
}

HAND_INLINE fr hand_sub(const fr &a, const fr &b)
{
    unsigned borrow;
    fr r = hand_plain_sub(a, b.word, borrow), twice;

#pragma unroll
    for (int i = 0; i < 8; i++)
        twice.word[i] = borrow & hand_2p[i];
    return hand_plain_add(r, twice);
}

/* Below p. */
HAND_INLINE fr hand_reduce(const fr &a)
{
    return hand_subtract_once(a, hand_p);
}

HAND_INLINE fr hand_zero()
{
    fr r = {{0, 0, 0, 0, 0, 0, 0, 0}};

    return r;
}

/* The sum over a block of 256 threads, in thread 0; `scratch` is shared memory for 8 elements. */
HAND_INLINE fr hand_block_sum(fr a, fr *scratch)
{
    fr other;

    for (int distance = 16; distance > 0; distance /= 2) {
#pragma unroll
        for (int i = 0; i < 8; i++)
            other.word[i] = __shfl_down_sync(0xffffffffu, a.word[i], distance);
        a = hand_add(a, other);
    }
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = a;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 1; i < 8; i++)
            a = hand_add(a, scratch[i]);
    __syncthreads();
    return a;
}
