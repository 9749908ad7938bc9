/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of docs/examples/sparse_product.c, written by hand: see bench_custom.c. */
#include "hand_fr.cuh"

extern "C" __global__ void __launch_bounds__(256)
multiply(fr *y, const unsigned *row_start, const unsigned *column, const fr *value, const fr *w,
    unsigned rows)
{
    unsigned row = blockIdx.x * 256 + threadIdx.x;
    if (row >= rows)
        return;
    unsigned i = row_start[row], end = row_start[row + 1];
    fr sum = hand_zero();
    for (; i + 1 < end; i += 2)
        sum = hand_add(
            sum, hand_mul_add(value[i], w[column[i]], value[i + 1], w[column[i + 1]]));
    if (i < end)
        sum = hand_add(sum, hand_mul(value[i], w[column[i]]));
    y[row] = hand_reduce(sum);
}
