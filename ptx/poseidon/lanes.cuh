/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes of a state: raised to the power of the S-box, and shared by the threads that permute it.
 */
#ifndef POSEIDON_LANES_CUH
#define POSEIDON_LANES_CUH

#include "poseidon/items.cuh"

__device__ __forceinline__ fr raised(fr x)
{
#if POSEIDON_ALPHA == 3
    return fr_mul_lazy(fr_sqr_lazy(x), x);
#elif POSEIDON_ALPHA == 5
    return fr_mul_lazy(fr_sqr_lazy(fr_sqr_lazy(x)), x);
#elif POSEIDON_ALPHA == 7
    fr square = fr_sqr_lazy(x);
    return fr_mul_lazy(fr_sqr_lazy(square), fr_mul_lazy(square, x));
#else
    fr power = x;
#pragma unroll 1
    for (int bit = POSEIDON_ALPHA_BITS - 2; bit >= 0; bit--) {
        power = fr_sqr_lazy(power);
        if ((POSEIDON_ALPHA >> bit) & 1)
            power = fr_mul_lazy(power, x);
    }
    return power;
#endif
}

/*
 * Threads that share a state hold all of it, each. Of two lanes or rows that can be computed at the
 * same time each computes one, and they tell each other: lane `i` or, in the second thread, the one
 * behind it.
 */
__device__ __forceinline__ int own(int i, int count)
{
    return min(i + (int)place(), count - 1);
}

__device__ __forceinline__ fr own_lane(const fr *lanes, int i, int count)
{
    if (POSEIDON_THREADS == 1)
        return lanes[i];
    return fr_select(place(), lanes[min(i + 1, count - 1)], lanes[i]);
}

__device__ __forceinline__ void put_lanes(fr *lanes, int i, int count, fr mine)
{
#if POSEIDON_THREADS == 1
    lanes[i] = mine;
#else
    fr other;
#pragma unroll
    for (int k = 0; k < FR_WORDS; k++)
        other.word[k] = __shfl_xor_sync(0xffffffff, mine.word[k], 1);
    lanes[min(i + 1, count - 1)] = fr_select(place(), mine, other);
    if (i + 1 < count)
        lanes[i] = fr_select(place(), other, mine);
#endif
}

#endif
