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
        sum[0] = hand_add(sum[0], hand_mul(a0, b0));
        sum[1] = hand_add(sum[1], hand_mul(a1, b1));
        sum[2] = hand_add(sum[2], hand_mul(hand_sub(a1, a0), hand_sub(b1, b0)));
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
    fr sum[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        sum[k] = hand_zero();
        for (unsigned i = threadIdx.x; i < blocks; i += 256)
            sum[k] = hand_add(sum[k], sums[i * 3 + k]);
        sum[k] = hand_block_sum(sum[k], scratch);
    }
    if (threadIdx.x == 0) {
        fr top = hand_add(sum[1], sum[2]);
        total[0] = hand_reduce(sum[0]);
        total[1] = hand_reduce(sum[1]);
        total[2] = hand_reduce(hand_sub(hand_add(top, top), sum[0]));
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
