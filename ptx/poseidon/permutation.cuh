/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permutation of a state by one thread or two. Values are lazy throughout ([0, 2p) where the
 * field has room); the caller reduces what it stores.
 *
 * POSEIDON_UNROLLED 1: the state stays in registers. 0: full rounds keep it in local memory and
 * loop over lanes and rows, so that the code of 2 t^2 products does not outgrow the instruction
 * cache.
 */
#ifndef POSEIDON_PERMUTATION_CUH
#define POSEIDON_PERMUTATION_CUH

#include "poseidon/lanes.cuh"

#define T POSEIDON_WIDTH
#define N (POSEIDON_WIDTH - 1)

#if POSEIDON_UNROLLED
#define LANE_LOOP _Pragma("unroll")
#else
#define LANE_LOOP _Pragma("unroll 1")
#endif

#if !POSEIDON_IS_SECOND || POSEIDON_EXTERNAL == POSEIDON_DENSE
/* state = matrix * state + constants */
__device__ __forceinline__ void multiply(fr *state, const fr *matrix, const fr *constants)
{
    fr x[T];
#pragma unroll
    for (int i = 0; i < T; i++)
        x[i] = state[i];
    LANE_LOOP
    for (int i = 0; i < T; i += POSEIDON_THREADS)
        put_lanes(state, i, T, fr_dot<T>(constants[own(i, T)], x, matrix + own(i, T) * T));
}
#endif

#if POSEIDON_IS_SECOND
/* Four lanes by Poseidon2's 4 * 4 matrix, in additions. */
__device__ __forceinline__ void multiply_block(lane_sum *y, const fr *x)
{
    lane_sum ab = sum_plus(sum_of(x[0]), x[1]);
    lane_sum cd = sum_plus(sum_of(x[2]), x[3]);
#if POSEIDON_EXTERNAL == POSEIDON_BLOCKS_57
    lane_sum b2 = sum_add(sum_twice(sum_of(x[1])), cd);
    lane_sum d2 = sum_add(sum_twice(sum_of(x[3])), ab);
    y[3] = sum_add(sum_twice(sum_twice(cd)), d2);
    y[1] = sum_add(sum_twice(sum_twice(ab)), b2);
    y[0] = sum_add(d2, y[1]);
    y[2] = sum_add(b2, y[3]);
#else
    lane_sum all = sum_add(ab, cd);
    lane_sum all_b = sum_plus(all, x[1]);
    lane_sum all_d = sum_plus(all, x[3]);
    y[3] = sum_add(all_d, sum_twice(sum_of(x[0])));
    y[1] = sum_add(all_b, sum_twice(sum_of(x[2])));
    y[0] = sum_add(all_b, ab);
    y[2] = sum_add(all_d, cd);
#endif
}

/* state = matrix * state + constants */
__device__ __forceinline__ void multiply_external(fr *state, const fr *constants)
{
#if POSEIDON_EXTERNAL == POSEIDON_SUM
    lane_sum sum = sum_of(state[0]);
#pragma unroll
    for (int i = 1; i < T; i++)
        sum = sum_plus(sum, state[i]);
#pragma unroll
    for (int i = 0; i < T; i++)
        state[i] = sum_reduce(sum_plus(sum_plus(sum, state[i]), constants[i]));
#elif POSEIDON_EXTERNAL == POSEIDON_DENSE
    multiply(state, poseidon_matrix, constants);
#else
    lane_sum y[T];
#pragma unroll
    for (int i = 0; i < T; i += 4)
        multiply_block(y + i, state + i);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        lane_sum sum = y[k];
#pragma unroll
        for (int i = 4; i < T; i += 4)
            sum = sum_add(sum, y[i + k]);
#pragma unroll
        for (int i = 0; i < T; i += 4)
            state[i + k] = sum_reduce(
                sum_plus(T > 4 ? sum_add(y[i + k], sum) : y[i + k], constants[i + k]));
    }
#endif
}

__device__ __forceinline__ void multiply_internal(fr *state, fr constant)
{
    lane_sum sum = sum_of(state[0]);
#pragma unroll
    for (int i = 1; i < T; i++)
        sum = sum_plus(sum, state[i]);
    poseidon_internal(state, sum_plus(sum, constant), sum);
}

__device__ __forceinline__ void external_rounds(fr *state, const fr *constants)
{
#pragma unroll 1
    for (int round = 0; round < POSEIDON_HALF_ROUNDS; round++) {
#pragma unroll
        for (int i = 0; i < T; i++)
            state[i] = raised(state[i]);
        multiply_external(state, constants + round * T);
    }
}

/* Constants are added by the layer before the round that they belong to, whose reduction takes them
 * with it. */
__device__ __forceinline__ void permute(fr *state)
{
    multiply_external(state, poseidon_before);
    external_rounds(state, poseidon_before + T);
#pragma unroll 1
    for (int round = 0; round < POSEIDON_PARTIAL_ROUNDS; round++) {
        state[0] = raised(state[0]);
        multiply_internal(state, poseidon_lane[round]);
    }
#pragma unroll
    for (int i = 0; i < T; i++)
        state[i] = fr_add_lazy(state[i], poseidon_behind[i]);
    external_rounds(state, poseidon_behind + T);
}

#else

__device__ __forceinline__ void add_constants(fr *state, const fr *constants)
{
    LANE_LOOP
    for (int i = 0; i < T; i++)
        state[i] = fr_add_lazy(state[i], constants[i]);
}

__device__ __forceinline__ void raise_all(fr *state)
{
    LANE_LOOP
    for (int i = 0; i < T; i += POSEIDON_THREADS)
        put_lanes(state, i, T, raised(own_lane(state, i, T)));
}

#if POSEIDON_HAS_WINDOW
/* The two sums of a partial round (src/poseidon/window.c). Where they are not scaled the head
 * stands before h, and one before a. */
__device__ __forceinline__ void window_round(fr *both, const fr *x, int round)
{
#if POSEIDON_IS_SCALED
    const fr *sums = poseidon_sums + round * 2 * N;
    fr next = fr_add_lazy(x[0], poseidon_lane[round]);
#if POSEIDON_THREADS == 1
    both[0] = fr_dot<N>(x[0], x + 1, sums);
    both[1] = fr_dot<N>(next, x + 1, sums + N);
#else
    put_lanes(
        both, 0, 2, fr_dot<N>(fr_select(place(), next, x[0]), x + 1, sums + place() * N));
#endif
#else
#if POSEIDON_THREADS == 1
    both[0] = fr_dot<N>(x[0], x + 1, poseidon_sums + 1);
    both[1] = fr_dot<T>(poseidon_lane[round], x, poseidon_sums + T);
#else
    put_lanes(both, 0, 2,
        fr_dot<T>(fr_select(place(), poseidon_lane[round], fr_zero()), x,
            poseidon_sums + place() * T));
#endif
#endif
}

/* Lane 0 and a window of the last n values of a recurrence. */
__device__ __forceinline__ void partial_rounds(fr *state)
{
    fr x[T];    /* the raised lane, then the window */
    fr both[2]; /* the value that the window gets, and the next lane */
    both[1] = state[0];
#pragma unroll
    for (int i = 1; i < T; i++)
        x[i] = state[i];
#pragma unroll 1
    for (int round = 0; round < POSEIDON_PARTIAL_ROUNDS; round++) {
        x[0] = raised(both[1]);
        window_round(both, x, round);
#pragma unroll
        for (int i = T - 1; i > 1; i--)
            x[i] = x[i - 1];
        x[1] = both[0];
    }
    state[0] = both[1];
    LANE_LOOP
    for (int i = 0; i < N; i += POSEIDON_THREADS)
        put_lanes(state + 1, i, N,
            fr_dot<N>(poseidon_after[own(i, N)], x + 1, poseidon_exit + own(i, N) * N));
}

#if POSEIDON_SMALL_MATRIX
/* state = matrix * state + constants where the matrix has integers below 2^16 (text.c): halves of
 * lanes times entries add up without carries. Any 64-bit values. */
__device__ __forceinline__ void multiply_small(fr *state, const fr *constants)
{
    fr x[T];
#pragma unroll
    for (int i = 0; i < T; i++)
        x[i] = state[i];
#pragma unroll
    for (int i = 0; i < T; i++) {
        unsigned long long low = constants[i].word[0];
        unsigned long long high = constants[i].word[1];
#pragma unroll
        for (int j = 0; j < T; j++) {
            low += (unsigned long long)x[j].word[0] * poseidon_small[i * T + j];
            high += (unsigned long long)x[j].word[1] * poseidon_small[i * T + j];
        }
        high += low >> 32;
        lane_sum sum = {{(unsigned)low, (unsigned)high, (unsigned)(high >> 32)}};
        state[i] = sum_reduce(sum);
    }
}
#endif

/* A full round behind its constants, which the matrix before it has added; is_outer 0 at the two
 * rounds where the window's own matrices stand in for the definition's. */
__device__ __forceinline__ void full_round(
    fr *state, int is_outer, const fr *other, const fr *constants)
{
    raise_all(state);
#if POSEIDON_SMALL_MATRIX
    if (is_outer)
        multiply_small(state, constants);
    else
        multiply(state, other, constants);
#else
    multiply(state, is_outer ? poseidon_matrix : other, constants);
#endif
}

__device__ __forceinline__ void permute(fr *state)
{
    add_constants(state, poseidon_before);
#pragma unroll 1
    for (int round = 0; round < POSEIDON_HALF_ROUNDS; round++)
        full_round(state, round + 1 < POSEIDON_HALF_ROUNDS, poseidon_entry,
            poseidon_before + (round + 1) * T);
    partial_rounds(state);
#pragma unroll 1
    for (int round = 0; round < POSEIDON_HALF_ROUNDS; round++)
        full_round(state, POSEIDON_SMALL_MATRIX || round > 0, poseidon_back,
            poseidon_behind + round * T);
}
#else
/* As the definition has it. */
__device__ __forceinline__ void permute(fr *state)
{
    add_constants(state, poseidon_before);
#pragma unroll 1
    for (int round = 0; round < 2 * POSEIDON_HALF_ROUNDS + POSEIDON_PARTIAL_ROUNDS; round++) {
        if (round < POSEIDON_HALF_ROUNDS || round >= POSEIDON_HALF_ROUNDS + POSEIDON_PARTIAL_ROUNDS)
            raise_all(state);
        else
            state[0] = raised(state[0]);
        multiply(state, poseidon_matrix, poseidon_before + (round + 1) * T);
    }
}
#endif
#endif

#endif
