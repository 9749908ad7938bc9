/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of docs/examples/sumcheck.c, written by hand: see bench_custom.c. */
#include "hand_fr.cuh"

extern "C" __global__ void __launch_bounds__(256)
round_sums(fr *sums, const fr *a, const fr *b, unsigned half)
{
    __shared__ fr scratch[8];
    fr sum[3] = {hand_zero(), hand_zero(), hand_zero()};
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < half; i += gridDim.x * 256) {
        fr a0 = a[i], a1 = a[i + half], b0 = b[i], b1 = b[i + half];
        fr a2 = hand_sub(hand_plain_add(a1, a1), a0), b2 = hand_sub(hand_plain_add(b1, b1), b0);
        sum[0] = hand_add(sum[0], hand_mul(a0, b0));
        sum[1] = hand_add(sum[1], hand_mul(a1, b1));
        sum[2] = hand_add(sum[2], hand_mul(a2, b2));
    }
#pragma unroll
    for (int k = 0; k < 3; k++) {
        fr total = hand_block_sum(sum[k], scratch);
        if (threadIdx.x == 0)
            sums[blockIdx.x * 3 + k] = hand_reduce(total);
    }
}

extern "C" __global__ void __launch_bounds__(256)
add_sums(fr *total, const fr *sums, unsigned blocks)
{
    __shared__ fr scratch[8];
    for (int k = 0; k < 3; k++) {
        fr sum = hand_zero();
        for (unsigned i = threadIdx.x; i < blocks; i += 256)
            sum = hand_add(sum, sums[i * 3 + k]);
        sum = hand_block_sum(sum, scratch);
        if (threadIdx.x == 0)
            total[k] = hand_reduce(sum);
    }
}

extern "C" __global__ void __launch_bounds__(256)
fold(fr *table, fr r, unsigned half)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < half) {
        fr low = table[i];
        table[i] = hand_reduce(hand_add(low, hand_mul(hand_sub(table[i + half], low), r)));
    }
}
