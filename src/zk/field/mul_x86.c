/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Montgomery products of 4 and 6 limbs for x86-64 processors with mulx, adcx and adox (Intel's
 * since 2014, AMD's since 2017): mulx does not change the flags, and adcx and adox use different
 * carry flags, so that the low and high halves of a row of products are added in two independent
 * chains. Compilers generate only one chain of carries. Other processors and moduli use arith.c.
 */
#include "zk/field/field.h"

#if defined(__x86_64__)

#include <cpuid.h>

#include "zk/field/limb.h"

/* t += factor[at] * digit * 2^(64 at): the low half at that limb, the high half above it. */
#define PRODUCT(at, above)                                                                         \
    "mulxq 8*" #at "(%[factor]), %[low], %[high]\n\t"                                              \
    "adcxq %[low], %[t" #at "]\n\t"                                                                \
    "adoxq %[high], %[t" #above "]\n\t"

/*
 * t += factor * digit; the caller ensures that the sum fits. The limbs of t are in registers; the
 * digit is in rdx, the implicit operand of mulx. The carry of the high halves ends in the top limb,
 * to which that of the low halves is added.
 */
static inline __attribute__((always_inline)) void add_row_4(const uint64_t *factor, uint64_t digit,
    uint64_t *t0, uint64_t *t1, uint64_t *t2, uint64_t *t3, uint64_t *t4)
{
    uint64_t low, high;

    __asm__("xorl %k[low], %k[low]\n\t" /* both carries are 0 */
            PRODUCT(0, 1) PRODUCT(1, 2) PRODUCT(2, 3) PRODUCT(3, 4) "adcq $0, %[t4]"
            : [t0] "+&r"(*t0), [t1] "+&r"(*t1), [t2] "+&r"(*t2), [t3] "+&r"(*t3), [t4] "+&r"(*t4),
            [low] "=&r"(low), [high] "=&r"(high)
            : [factor] "r"(factor), "d"(digit)
            : "cc", "memory");
}

static inline __attribute__((always_inline)) void add_row_6(const uint64_t *factor, uint64_t digit,
    uint64_t *t0, uint64_t *t1, uint64_t *t2, uint64_t *t3, uint64_t *t4, uint64_t *t5,
    uint64_t *t6)
{
    uint64_t low, high;

    __asm__("xorl %k[low], %k[low]\n\t" /* both carries are 0 */
            PRODUCT(0, 1) PRODUCT(1, 2) PRODUCT(2, 3) PRODUCT(3, 4) PRODUCT(4, 5)
                PRODUCT(5, 6) "adcq $0, %[t6]"
            : [t0] "+&r"(*t0), [t1] "+&r"(*t1), [t2] "+&r"(*t2), [t3] "+&r"(*t3), [t4] "+&r"(*t4),
            [t5] "+&r"(*t5), [t6] "+&r"(*t6), [low] "=&r"(low), [high] "=&r"(high)
            : [factor] "r"(factor), "d"(digit)
            : "cc", "memory");
}

/*
 * t = (t + x digit + m p) / 2^64, with m such that the division is exact: t0 becomes 0, and is the
 * top limb of the next round. t < 2p implies that the result is below 2p, and the sum before the
 * division below 2p 2^64, which fits because 2p has no more limbs than p.
 */
static inline __attribute__((always_inline)) void round_4(const pool_field *field,
    const uint64_t *x, uint64_t digit, uint64_t *t0, uint64_t *t1, uint64_t *t2, uint64_t *t3,
    uint64_t *t4)
{
    add_row_4(x, digit, t0, t1, t2, t3, t4);
    add_row_4(field->modulus, *t0 * field->inverse64, t0, t1, t2, t3, t4);
}

static inline __attribute__((always_inline)) void round_6(const pool_field *field,
    const uint64_t *x, uint64_t digit, uint64_t *t0, uint64_t *t1, uint64_t *t2, uint64_t *t3,
    uint64_t *t4, uint64_t *t5, uint64_t *t6)
{
    add_row_6(x, digit, t0, t1, t2, t3, t4, t5, t6);
    add_row_6(field->modulus, *t0 * field->inverse64, t0, t1, t2, t3, t4, t5, t6);
}

static void mul_4(const pool_field *field, uint64_t *product, const uint64_t *x, const uint64_t *y)
{
    uint64_t a = 0, b = 0, c = 0, d = 0, e = 0;

    round_4(field, x, y[0], &a, &b, &c, &d, &e);
    round_4(field, x, y[1], &b, &c, &d, &e, &a);
    round_4(field, x, y[2], &c, &d, &e, &a, &b);
    round_4(field, x, y[3], &d, &e, &a, &b, &c);
    field_reduce_once(product, 0, (uint64_t[]){e, a, b, c}, field->modulus, 4);
}

static void mul_6(const pool_field *field, uint64_t *product, const uint64_t *x, const uint64_t *y)
{
    uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0;

    round_6(field, x, y[0], &a, &b, &c, &d, &e, &f, &g);
    round_6(field, x, y[1], &b, &c, &d, &e, &f, &g, &a);
    round_6(field, x, y[2], &c, &d, &e, &f, &g, &a, &b);
    round_6(field, x, y[3], &d, &e, &f, &g, &a, &b, &c);
    round_6(field, x, y[4], &e, &f, &g, &a, &b, &c, &d);
    round_6(field, x, y[5], &f, &g, &a, &b, &c, &d, &e);
    field_reduce_once(product, 0, (uint64_t[]){g, a, b, c, d, e}, field->modulus, 6);
}

/* BMI2 has mulx, ADX the other two; none of them needs the operating system. */
static bool processor_has_them(void)
{
    unsigned eax, ebx, ecx, edx;

    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & bit_BMI2) && (ebx & bit_ADX);
}

field_product *field_product_x86(const pool_field *field)
{
    bool has_room = field->modulus[field->limbs - 1] >> 63 == 0;

    if ((field->limbs != 4 && field->limbs != 6) || !has_room || !processor_has_them())
        return NULL;
    return field->limbs == 4 ? mul_4 : mul_6;
}

#else

field_product *field_product_x86(const pool_field *field)
{
    (void)field;
    return NULL;
}

#endif
