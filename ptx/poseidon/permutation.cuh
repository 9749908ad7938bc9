/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permutation of one state by one thread. Values are lazy throughout ([0, 2p) where the field
 * has room); the caller reduces what it stores.
 *
 * POSEIDON_UNROLLED 1: the state stays in registers. 0: full rounds keep it in local memory and
 * loop over lanes and rows, so that the code of 2 t^2 products does not outgrow the instruction
 * cache.
 */
#ifndef POSEIDON_PERMUTATION_CUH
#define POSEIDON_PERMUTATION_CUH

#include "poseidon/items.cuh"

#define T POSEIDON_WIDTH
#define N (POSEIDON_WIDTH - 1)

#if POSEIDON_UNROLLED
#define LANE_LOOP _Pragma("unroll")
#else
#define LANE_LOOP _Pragma("unroll 1")
#endif

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

/* The sum of COUNT products by constants, up to four with one reduction. */
template <int COUNT> __device__ __forceinline__ fr dot_part(const fr *x, const fr *c)
{
    if (COUNT == 4)
        return fr_dot4(x[0], c[0], x[1], c[1], x[2], c[2], x[3], c[3]);
    if (COUNT == 3)
        return fr_dot3(x[0], c[0], x[1], c[1], x[2], c[2]);
    if (COUNT == 2)
        return fr_mul_add_lazy(x[0], c[0], x[1], c[1]);
    return fr_mul_lazy(x[0], c[0]);
}

template <int COUNT> __device__ __forceinline__ fr dot(const fr *x, const fr *c)
{
    const int rest = COUNT % 4 == 0 ? 4 : COUNT % 4;
    fr sum = dot_part<rest>(x, c);
#pragma unroll
    for (int i = rest; i < COUNT; i += 4)
        sum = fr_add_lazy(sum, dot_part<4>(x + i, c + i));
    return sum;
}

#if POSEIDON_IS_SECOND
/* Four lanes by Poseidon2's 4 * 4 matrix, in additions. */
__device__ __forceinline__ void multiply_block(fr *x)
{
    fr ab = fr_add_lazy(x[0], x[1]);
    fr cd = fr_add_lazy(x[2], x[3]);
#if POSEIDON_EXTERNAL == POSEIDON_BLOCKS_57
    fr b2 = fr_add_lazy(fr_dbl_lazy(x[1]), cd);
    fr d2 = fr_add_lazy(fr_dbl_lazy(x[3]), ab);
    fr y3 = fr_add_lazy(fr_dbl_lazy(fr_dbl_lazy(cd)), d2);
    fr y1 = fr_add_lazy(fr_dbl_lazy(fr_dbl_lazy(ab)), b2);
    x[0] = fr_add_lazy(d2, y1);
    x[1] = y1;
    x[2] = fr_add_lazy(b2, y3);
    x[3] = y3;
#else
    fr all = fr_add_lazy(ab, cd);
    fr all_b = fr_add_lazy(all, x[1]);
    fr all_d = fr_add_lazy(all, x[3]);
    fr y3 = fr_add_lazy(all_d, fr_dbl_lazy(x[0]));
    fr y1 = fr_add_lazy(all_b, fr_dbl_lazy(x[2]));
    x[0] = fr_add_lazy(all_b, ab);
    x[1] = y1;
    x[2] = fr_add_lazy(all_d, cd);
    x[3] = y3;
#endif
}

__device__ __forceinline__ void multiply_external(fr *state)
{
#if POSEIDON_EXTERNAL == POSEIDON_SUM
    fr sum = state[0];
#pragma unroll
    for (int i = 1; i < T; i++)
        sum = fr_add_lazy(sum, state[i]);
#pragma unroll
    for (int i = 0; i < T; i++)
        state[i] = fr_add_lazy(state[i], sum);
#elif POSEIDON_EXTERNAL == POSEIDON_DENSE
    fr x[T];
#pragma unroll
    for (int i = 0; i < T; i++)
        x[i] = state[i];
    LANE_LOOP
    for (int i = 0; i < T; i++)
        state[i] = dot<T>(x, poseidon_matrix + i * T);
#else
#pragma unroll
    for (int i = 0; i < T; i += 4)
        multiply_block(state + i);
#if POSEIDON_WIDTH > 4
#pragma unroll
    for (int k = 0; k < 4; k++) {
        fr sum = state[k];
#pragma unroll
        for (int i = 4; i < T; i += 4)
            sum = fr_add_lazy(sum, state[i + k]);
#pragma unroll
        for (int i = 0; i < T; i += 4)
            state[i + k] = fr_add_lazy(state[i + k], sum);
    }
#endif
#endif
}

__device__ __forceinline__ void multiply_internal(fr *state)
{
    fr sum = state[0];
#pragma unroll
    for (int i = 1; i < T; i++)
        sum = fr_add_lazy(sum, state[i]);
    poseidon_internal(state, sum);
}

__device__ __forceinline__ void external_rounds(fr *state, const fr *constants)
{
#pragma unroll 1
    for (int round = 0; round < POSEIDON_HALF_ROUNDS; round++) {
#pragma unroll
        for (int i = 0; i < T; i++)
            state[i] = raised(fr_add_lazy(state[i], constants[round * T + i]));
        multiply_external(state);
    }
}

__device__ __forceinline__ void permute(fr *state)
{
    multiply_external(state);
    external_rounds(state, poseidon_before);
#pragma unroll 1
    for (int round = 0; round < POSEIDON_PARTIAL_ROUNDS; round++) {
        state[0] = raised(fr_add_lazy(state[0], poseidon_lane[round]));
        multiply_internal(state);
    }
    external_rounds(state, poseidon_behind);
}

#else

__device__ __forceinline__ void multiply(fr *state, const fr *matrix)
{
    fr x[T];
#pragma unroll
    for (int i = 0; i < T; i++)
        x[i] = state[i];
    LANE_LOOP
    for (int i = 0; i < T; i++)
        state[i] = dot<T>(x, matrix + i * T);
}

__device__ __forceinline__ void add_constants(fr *state, const fr *constants)
{
    LANE_LOOP
    for (int i = 0; i < T; i++)
        state[i] = fr_add_lazy(state[i], constants[i]);
}

__device__ __forceinline__ void raise_all(fr *state)
{
    LANE_LOOP
    for (int i = 0; i < T; i++)
        state[i] = raised(state[i]);
}

#if POSEIDON_HAS_WINDOW
/* src/poseidon/window.c: lane 0 and a window of the last n values of a recurrence. */
__device__ __forceinline__ void partial_rounds(fr *state)
{
    fr x[T]; /* the raised lane, then the window */
    fr lane = fr_add_lazy(state[0], poseidon_first[0]);
#pragma unroll
    for (int i = 1; i < T; i++)
        x[i] = state[i];
#pragma unroll 1
    for (int round = 0; round < POSEIDON_PARTIAL_ROUNDS; round++) {
#if POSEIDON_IS_SCALED
        const fr *sums = poseidon_sums + round * 2 * N;
#else
        const fr *sums = poseidon_sums;
#endif
        x[0] = raised(lane);
        fr born = fr_add_lazy(dot<N>(x + 1, sums), x[0]);
#if POSEIDON_IS_SCALED
        lane = fr_add_lazy(dot<N>(x + 1, sums + N), x[0]);
#else
        lane = dot<T>(x, sums + N); /* head, then h */
#endif
        lane = fr_add_lazy(lane, poseidon_lane[round]);
#pragma unroll
        for (int i = T - 1; i > 1; i--)
            x[i] = x[i - 1];
        x[1] = born;
    }
    state[0] = lane;
    LANE_LOOP
    for (int i = 0; i < N; i++)
        state[i + 1] = fr_add_lazy(dot<N>(x + 1, poseidon_exit + i * N), poseidon_after[i]);
}

#if POSEIDON_SMALL_MATRIX
/* The matrix where its entries are integers below 2^16 and lanes have two words (text.c): halves of
 * lanes times entries add up without carries. Any 64-bit values. */
__device__ __forceinline__ void multiply_small(fr *state)
{
    fr x[T];
#pragma unroll
    for (int i = 0; i < T; i++)
        x[i] = state[i];
#pragma unroll
    for (int i = 0; i < T; i++) {
        unsigned long long low = 0;
        unsigned long long high = 0;
#pragma unroll
        for (int j = 0; j < T; j++) {
            low += (unsigned long long)x[j].word[0] * poseidon_small[i * T + j];
            high += (unsigned long long)x[j].word[1] * poseidon_small[i * T + j];
        }
        high += low >> 32;
        /* (high >> 32) 2^64 + rest, and 2^64 is 2^32 - 1; a carry is worth the same. */
        unsigned long long rest = high << 32 | (unsigned)low;
        unsigned long long sum = rest + (high >> 32) * 0xffffffffull;
        sum += sum < rest ? 0xffffffffull : 0;
        state[i].word[0] = (unsigned)sum;
        state[i].word[1] = (unsigned)(sum >> 32);
    }
}
#endif

__device__ __forceinline__ void permute(fr *state)
{
#pragma unroll 1
    for (int round = 0; round < POSEIDON_HALF_ROUNDS; round++) {
        add_constants(state, poseidon_before + round * T);
        raise_all(state);
#if POSEIDON_SMALL_MATRIX
        if (round + 1 < POSEIDON_HALF_ROUNDS)
            multiply_small(state);
        else
            multiply(state, poseidon_entry);
#else
        multiply(state, round + 1 < POSEIDON_HALF_ROUNDS ? poseidon_matrix : poseidon_entry);
#endif
    }
    partial_rounds(state);
#pragma unroll 1
    for (int round = 0; round < POSEIDON_HALF_ROUNDS; round++) {
        if (round > 0)
            add_constants(state, poseidon_behind + round * T);
        raise_all(state);
#if POSEIDON_SMALL_MATRIX
        multiply_small(state);
#else
        multiply(state, round > 0 ? poseidon_matrix : poseidon_back);
#endif
    }
}
#else
/* As the definition has it. */
__device__ __forceinline__ void permute(fr *state)
{
#pragma unroll 1
    for (int round = 0; round < 2 * POSEIDON_HALF_ROUNDS + POSEIDON_PARTIAL_ROUNDS; round++) {
        add_constants(state, poseidon_before + round * T);
        if (round < POSEIDON_HALF_ROUNDS || round >= POSEIDON_HALF_ROUNDS + POSEIDON_PARTIAL_ROUNDS)
            raise_all(state);
        else
            state[0] = raised(state[0]);
        multiply(state, poseidon_matrix);
    }
}
#endif
#endif

#endif
