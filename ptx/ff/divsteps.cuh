/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inversion by division steps (D. J. Bernstein, B.-Y. Yang: Fast constant-time gcd computation and
 * modular inversion, 2019) over the operations that the generated source of a field defines. Some
 * 20 products' time on one thread, where the power in generic.cuh takes 1.5 products per bit. It
 * has no include guard: it is included once per field, after generic.cuh, with FF and FF_COUNT
 * defined as the field's prefix and number of words. FF = fq defines fq_inverse_by_divsteps.
 *
 * Integers are signed digits of 30 bits, of which all but the last one are not negative. Every
 * batch of 30 steps depends on the lowest digits of f and g alone and is a matrix [u v; q r] / 2^30
 * with entries of at most 2^30; it is applied to (f, g) and, modulo p, to (d, e), so that
 * f = d a and g = e a modulo p hold throughout. In the end g is 0, f is 1 or -1, and d the inverse.
 */
#define DIGIT_BITS 30
#define DIGIT_MASK 0x3fffffff
#define DIGITS ((32 * FF_COUNT + 1) / DIGIT_BITS + 1)

struct FF_(digits) {
    int digit[DIGITS];
};

/* The digits of an integer below 2^(32 FF_COUNT). */
__device__ __forceinline__ struct FF_(digits) FF_(to_digits)(FF a)
{
    struct FF_(digits) r;
#pragma unroll
    for (int i = 0; i < DIGITS; i++) {
        int bit = DIGIT_BITS * i, word = bit / 32;
        unsigned low = word < FF_COUNT ? a.word[word < FF_COUNT ? word : 0] : 0;
        unsigned high = word + 1 < FF_COUNT ? a.word[word + 1 < FF_COUNT ? word + 1 : 0] : 0;
        r.digit[i] = (int)(__funnelshift_r(low, high, bit % 32) & DIGIT_MASK);
    }
    return r;
}

/* 1 / p modulo 2^32. */
__device__ __forceinline__ unsigned FF_(inverse_of_word)(unsigned p)
{
    unsigned inverse = p; /* three bits are right, then 6, 12, 24, 48 */
#pragma unroll
    for (int i = 0; i < 4; i++)
        inverse *= 2 - p * inverse;
    return inverse;
}

/* 30 steps on the lowest digits: the matrix times 2^30. `delta` is minus (delta + 1/2) of the
 * paper's variant that begins with delta = 1/2. */
__device__ __forceinline__ int FF_(divsteps)(int delta, unsigned f, unsigned g, int *matrix)
{
    unsigned u = 1, v = 0, q = 0, r = 1;
#pragma unroll 2
    for (int i = 0; i < DIGIT_BITS; i++) {
        unsigned swaps = (unsigned)(delta >> 31);
        unsigned odd = 0u - (g & 1);
        g += ((f ^ swaps) - swaps) & odd;
        q += ((u ^ swaps) - swaps) & odd;
        r += ((v ^ swaps) - swaps) & odd;
        swaps &= odd;
        delta = (int)((unsigned)delta ^ swaps) - 1;
        f += g & swaps;
        u += q & swaps;
        v += r & swaps;
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    matrix[0] = (int)u;
    matrix[1] = (int)v;
    matrix[2] = (int)q;
    matrix[3] = (int)r;
    return delta;
}

/* (f, g) times the matrix: the lowest digits of both are 0 and are dropped. */
__device__ __forceinline__ void FF_(apply)(
    struct FF_(digits) * f, struct FF_(digits) * g, const int *m)
{
    long long cf = (long long)m[0] * f->digit[0] + (long long)m[1] * g->digit[0];
    long long cg = (long long)m[2] * f->digit[0] + (long long)m[3] * g->digit[0];
#pragma unroll
    for (int i = 1; i < DIGITS; i++) {
        int fi = f->digit[i], gi = g->digit[i];
        cf = (cf >> DIGIT_BITS) + (long long)m[0] * fi + (long long)m[1] * gi;
        cg = (cg >> DIGIT_BITS) + (long long)m[2] * fi + (long long)m[3] * gi;
        f->digit[i - 1] = (int)cf & DIGIT_MASK;
        g->digit[i - 1] = (int)cg & DIGIT_MASK;
    }
    f->digit[DIGITS - 1] = (int)(cf >> DIGIT_BITS);
    g->digit[DIGITS - 1] = (int)(cg >> DIGIT_BITS);
}

/* (d, e) times the matrix modulo p: multiples of p make the lowest digits 0, and keep both
 * in (-2 p, p). */
__device__ __forceinline__ void FF_(apply_modulo)(struct FF_(digits) * d, struct FF_(digits) * e,
    const int *m, const struct FF_(digits) * p, unsigned inverse)
{
    int sd = d->digit[DIGITS - 1] >> 31, se = e->digit[DIGITS - 1] >> 31;
    int md = (m[0] & sd) + (m[1] & se);
    int me = (m[2] & sd) + (m[3] & se);
    long long cd = (long long)m[0] * d->digit[0] + (long long)m[1] * e->digit[0];
    long long ce = (long long)m[2] * d->digit[0] + (long long)m[3] * e->digit[0];
    md -= (int)(((unsigned)md + inverse * (unsigned)cd) & DIGIT_MASK);
    me -= (int)(((unsigned)me + inverse * (unsigned)ce) & DIGIT_MASK);
    cd += (long long)p->digit[0] * md;
    ce += (long long)p->digit[0] * me;
#pragma unroll
    for (int i = 1; i < DIGITS; i++) {
        int di = d->digit[i], ei = e->digit[i];
        cd = (cd >> DIGIT_BITS) + (long long)m[0] * di + (long long)m[1] * ei;
        ce = (ce >> DIGIT_BITS) + (long long)m[2] * di + (long long)m[3] * ei;
        cd += (long long)p->digit[i] * md;
        ce += (long long)p->digit[i] * me;
        d->digit[i - 1] = (int)cd & DIGIT_MASK;
        e->digit[i - 1] = (int)ce & DIGIT_MASK;
    }
    d->digit[DIGITS - 1] = (int)(cd >> DIGIT_BITS);
    e->digit[DIGITS - 1] = (int)(ce >> DIGIT_BITS);
}

/* d + (p & mask), with digits that are not negative but the last one. */
__device__ __forceinline__ void FF_(add_masked)(
    struct FF_(digits) * d, const struct FF_(digits) * p, int mask)
{
    int carry = 0;
#pragma unroll
    for (int i = 0; i < DIGITS; i++) {
        carry += d->digit[i] + (p->digit[i] & mask);
        d->digit[i] = i + 1 < DIGITS ? carry & DIGIT_MASK : carry;
        carry >>= DIGIT_BITS;
    }
}

/* 1 / a for a reduced element, and 0 for 0; reduced. */
__device__ __noinline__ FF FF_(inverse_by_divsteps)(FF a)
{
    const struct FF_(digits) p = FF_(to_digits)(FF_(modulus)());
    const unsigned inverse = FF_(inverse_of_word)((unsigned)FF_(modulus)().word[0]);
    struct FF_(digits) f = p, g = FF_(to_digits)(a), d = {{0}};
    /* In Montgomery form a stands for a / R: R^2 / a stands for the inverse. */
    struct FF_(digits) e = FF_(to_digits)(FF_(r2)());
    int delta = -1, remains;
#pragma unroll 1
    do {
        int matrix[4];
        unsigned f0 = (unsigned)f.digit[0], g0 = (unsigned)g.digit[0];
        delta = FF_(divsteps)(delta, f0, g0, matrix);
        FF_(apply_modulo)(&d, &e, matrix, &p, inverse);
        FF_(apply)(&f, &g, matrix);
        remains = 0;
#pragma unroll
        for (int i = 0; i < DIGITS; i++)
            remains |= g.digit[i];
    } while (remains);
    /* d is in (-2 p, p), times the sign of f. */
    int sign = f.digit[DIGITS - 1] >> 31;
    FF_(add_masked)(&d, &p, d.digit[DIGITS - 1] >> 31);
#pragma unroll
    for (int i = 0; i < DIGITS; i++)
        d.digit[i] = (d.digit[i] ^ sign) - sign;
    FF_(add_masked)(&d, &p, 0);
    FF_(add_masked)(&d, &p, d.digit[DIGITS - 1] >> 31);
    FF r;
#pragma unroll
    for (int i = 0; i < FF_COUNT; i++) {
        int bit = 32 * i, digit = bit / DIGIT_BITS, shift = bit % DIGIT_BITS;
        unsigned word = (unsigned)d.digit[digit] >> shift;
        if (digit + 1 < DIGITS)
            word |= (unsigned)d.digit[digit + 1 < DIGITS ? digit + 1 : 0] << (DIGIT_BITS - shift);
        if (2 * DIGIT_BITS - shift < 32 && digit + 2 < DIGITS)
            word |= (unsigned)d.digit[digit + 2 < DIGITS ? digit + 2 : 0]
                    << (2 * DIGIT_BITS - shift);
        r.word[i] = word;
    }
    return r;
}

#undef DIGITS
#undef DIGIT_MASK
#undef DIGIT_BITS
