/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation of a generated field as a kernel over arrays: element i from elements i. */
#include "fq.cuh"
#define FF fq
#include "ff/generic.cuh"
#undef FF

#define KERNEL(name, result)                                                                       \
    extern "C" __global__ void name(const fq *a, const fq *b, const fq *c, const fq *d, fq *r,     \
        unsigned n)                                                                                \
    {                                                                                              \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                        \
        if (i < n)                                                                                 \
            r[i] = result;                                                                         \
    }

#define TEST_KERNEL(name, truth)                                                                   \
    KERNEL(name, fq_select(truth, fq_one(), fq_zero()))

KERNEL(add, fq_add(a[i], b[i]))
KERNEL(sub, fq_sub(a[i], b[i]))
KERNEL(neg, fq_neg(a[i]))
KERNEL(dbl, fq_dbl(a[i]))
KERNEL(mul, fq_mul(a[i], b[i]))
KERNEL(sqr, fq_sqr(a[i]))
KERNEL(mul_add, fq_mul_add(a[i], b[i], c[i], d[i]))
KERNEL(mul_sub, fq_mul_sub(a[i], b[i], c[i], d[i]))
KERNEL(add_lazy, fq_add_lazy(a[i], b[i]))
KERNEL(sub_lazy, fq_sub_lazy(a[i], b[i]))
KERNEL(neg_lazy, fq_neg_lazy(a[i]))
KERNEL(dbl_lazy, fq_dbl_lazy(a[i]))
KERNEL(mul_lazy, fq_mul_lazy(a[i], b[i]))
KERNEL(sqr_lazy, fq_sqr_lazy(a[i]))
#if FQ_SIGNED
KERNEL(mul_signed, fq_from_signed(-fq_mul_signed((int)a[i].word[0], -(int)b[i].word[0])))
#else
KERNEL(mul_signed, fq_mul(a[i], b[i]))
#endif
KERNEL(mul_add_lazy, fq_mul_add_lazy(a[i], b[i], c[i], d[i]))
KERNEL(mul_sub_lazy, fq_mul_sub_lazy(a[i], b[i], c[i], d[i]))
KERNEL(reduce, fq_reduce(a[i]))
KERNEL(to_mont, fq_to_mont(a[i]))
KERNEL(from_mont, fq_from_mont(a[i]))
KERNEL(cneg, fq_cneg(a[i], b[i].word[0] & 1))
KERNEL(inverse, fq_inverse(a[i]))
TEST_KERNEL(is_zero, fq_is_zero(a[i]))
TEST_KERNEL(is_zero_lazy, fq_is_zero_lazy(a[i]))
TEST_KERNEL(eq, fq_eq(a[i], b[i]))
TEST_KERNEL(less, fq_less(a[i], b[i]))

/* The header of products with precomputed quotients follows that of the field in fq.cuh. */
#if FQ_SHOUP
KERNEL(mul_shoup, fq_mul_shoup(a[i], b[i], c[i]))
KERNEL(shoup_quotient, fq_shoup_quotient(a[i]))
KERNEL(add_unreduced, fq_add_unreduced(a[i], b[i]))
KERNEL(sub_unreduced, fq_sub_unreduced(a[i], b[i]))
#endif

/* Values in place; thread t of T takes elements t, t + T, ...; n is a multiple of T. */
extern "C" __global__ void batch_inverse(fq *values, fq *scratch, unsigned n)
{
    unsigned threads = gridDim.x * blockDim.x;
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
    fq_batch_inverse(values + first, scratch + first, n / threads, threads);
}
