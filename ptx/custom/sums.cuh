/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For custom kernels: sums over a warp and a block, in prime fields and extensions. FF is the
 * field's prefix. It has no include guard: like ff/generic.cuh it is included once per field.
 */

/*
 * The sum of the values of a warp's 32 threads, in each of them; all of them must call. Reduced
 * values in and out.
 */
__device__ __forceinline__ FF FF_(warp_sum)(FF value)
{
#pragma unroll 1
    for (int distance = 16; distance > 0; distance /= 2) {
        FF other;
#pragma unroll
        for (unsigned i = 0; i < sizeof(FF) / sizeof(unsigned); i++)
            other.word[i] = __shfl_xor_sync(0xffffffffu, value.word[i], distance);
        value = FF_(add)(value, other);
    }
    return value;
}

/*
 * The sum of the values of a block's threads, in thread 0. All threads must call; the block is
 * one-dimensional and has a multiple of 32 threads, at most 1024. `scratch` is shared memory for 32
 * elements; the call begins and ends with a barrier for it. Reduced values in and out.
 */
__device__ __forceinline__ FF FF_(block_sum)(FF value, FF *scratch)
{
    value = FF_(warp_sum)(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? scratch[threadIdx.x] : FF_(zero)();
        value = FF_(warp_sum)(value);
    }
    __syncthreads();
    return value;
}
