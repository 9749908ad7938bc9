/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throughput of field operations: each thread runs CHAINS independent chains x = op(x, y) of
 * `rounds` operations, so that neither memory nor latency is in the way.
 */
#include "fq.cuh"

#ifndef CHAINS
#define CHAINS 2
#endif

#define CHAIN_KERNEL(name, step)                                                                   \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        name(const fq *input, fq *output, unsigned rounds)                                         \
    {                                                                                              \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                        \
        fq y = input[i];                                                                           \
        fq x[CHAINS];                                                                              \
        for (int k = 0; k < CHAINS; k++)                                                           \
            x[k] = input[i + k + 1];                                                               \
        for (unsigned round = 0; round < rounds; round += 4) {                                     \
            _Pragma("unroll") for (int repeat = 0; repeat < 4; repeat++)                           \
                _Pragma("unroll") for (int k = 0; k < CHAINS; k++) x[k] = step;                    \
        }                                                                                          \
        fq sum = x[0];                                                                             \
        for (int k = 1; k < CHAINS; k++)                                                           \
            sum = fq_add_lazy(sum, x[k]);                                                          \
        output[i] = fq_reduce(sum);                                                                \
    }

CHAIN_KERNEL(chain_mul, fq_mul(x[k], y))
CHAIN_KERNEL(chain_mul_lazy, fq_mul_lazy(x[k], y))
CHAIN_KERNEL(chain_sqr, fq_sqr(x[k]))
CHAIN_KERNEL(chain_sqr_lazy, fq_sqr_lazy(x[k]))
CHAIN_KERNEL(chain_mul_sub_lazy, fq_mul_sub_lazy(x[k], y, y, x[k]))
CHAIN_KERNEL(chain_add, fq_add(x[k], y))
CHAIN_KERNEL(chain_add_lazy, fq_add_lazy(x[k], y))
CHAIN_KERNEL(chain_sub_lazy, fq_sub_lazy(x[k], y))
