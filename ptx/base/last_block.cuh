/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last of several blocks continues with what all of them have written.
 */
#ifndef PTX_BASE_LAST_BLOCK_CUH
#define PTX_BASE_LAST_BLOCK_CUH

/*
 * Whether all of `blocks` blocks have called this with the same counter, which begins at 0. What
 * they have written before is then visible. All threads of the block must call.
 */
__device__ __forceinline__ bool is_last_block(unsigned *blocks_done, unsigned blocks)
{
    __shared__ unsigned before;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        before = atomicAdd(blocks_done, 1);
        __threadfence();
    }
    __syncthreads();
    return before + 1 == blocks;
}

#endif
