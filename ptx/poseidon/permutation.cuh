/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permutation of a state by one thread or two. Values are reduced lazily (below 2p where the
 * field's words have a spare bit); the caller reduces the elements that it stores.
 *
 * With POSEIDON_IS_UNROLLED 1 the state stays in registers. With 0 full rounds keep it in local
 * memory and loop over state elements and matrix rows, so that the code of 2 t^2 products does not
 * exceed the instruction cache.
 */
#ifndef PTX_POSEIDON_PERMUTATION_CUH
#define PTX_POSEIDON_PERMUTATION_CUH

#include "poseidon/state.cuh"

#define T POSEIDON_WIDTH
#define N (POSEIDON_WIDTH - 1)

#if POSEIDON_HAS_CIRCULANT
#include "poseidon/circulant.cuh"
#else

#if !POSEIDON_IS_POSEIDON2 || POSEIDON_EXTERNAL == POSEIDON_EXTERNAL_DENSE
/* state = matrix * state + constants */
__device__ __forceinline__ void dense_layer(fr *state, const fr *matrix, const fr *constants)
{
    fr x[T];
#pragma unroll
    for (int i = 0; i < T; i++)
        x[i] = state[i];
    ELEMENT_LOOP
    for (int i = 0; i < T; i += POSEIDON_THREADS_PER_STATE)
        exchange_elements(state, i, T,
            fr_dot<T>(constants[index_of_thread(i, T)], x, matrix + index_of_thread(i, T) * T));
}
#endif

#if POSEIDON_IS_POSEIDON2
/* y = M4 x with Poseidon2's 4 * 4 matrix, by additions. */
__device__ __forceinline__ void m4_layer(wide_sum *y, const fr *x)
{
    wide_sum ab = wide_add_element(wide_from(x[0]), x[1]);
    wide_sum cd = wide_add_element(wide_from(x[2]), x[3]);
#if POSEIDON_EXTERNAL == POSEIDON_EXTERNAL_M4_5713
    wide_sum b2 = wide_add(wide_double(wide_from(x[1])), cd);
    wide_sum d2 = wide_add(wide_double(wide_from(x[3])), ab);
    y[3] = wide_add(wide_double(wide_double(cd)), d2);
    y[1] = wide_add(wide_double(wide_double(ab)), b2);
    y[0] = wide_add(d2, y[1]);
    y[2] = wide_add(b2, y[3]);
#else
    wide_sum all = wide_add(ab, cd);
    wide_sum all_b = wide_add_element(all, x[1]);
    wide_sum all_d = wide_add_element(all, x[3]);
    y[3] = wide_add(all_d, wide_double(wide_from(x[0])));
    y[1] = wide_add(all_b, wide_double(wide_from(x[2])));
    y[0] = wide_add(all_b, ab);
    y[2] = wide_add(all_d, cd);
#endif
}

/* Poseidon2's external layer, and the next round's constants. */
__device__ __forceinline__ void external_layer(fr *state, const fr *constants)
{
#if POSEIDON_EXTERNAL == POSEIDON_EXTERNAL_SUM
    wide_sum sum = wide_from(state[0]);
#pragma unroll
    for (int i = 1; i < T; i++)
        sum = wide_add_element(sum, state[i]);
#pragma unroll
    for (int i = 0; i < T; i++)
        state[i] = wide_reduce(wide_add_element(wide_add_element(sum, state[i]), constants[i]));
#elif POSEIDON_EXTERNAL == POSEIDON_EXTERNAL_DENSE
    dense_layer(state, poseidon_mds, constants);
#else
    wide_sum y[T];
#pragma unroll
    for (int i = 0; i < T; i += 4)
        m4_layer(y + i, state + i);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        wide_sum sum = y[k];
#pragma unroll
        for (int i = 4; i < T; i += 4)
            sum = wide_add(sum, y[i + k]);
#pragma unroll
        for (int i = 0; i < T; i += 4)
            state[i + k] = wide_reduce(
                wide_add_element(T > 4 ? wide_add(y[i + k], sum) : y[i + k], constants[i + k]));
    }
#endif
}

#if POSEIDON_SUM_PART
/* The sum of the state elements with one reduction per part: the integer sum s of a part is
 * congruent to s - (s >> 31) p, which is below 2^32 and is reduced by POSEIDON_SUM_REDUCTIONS
 * subtractions. */
__device__ __forceinline__ fr sum_state(const fr *state)
{
    const unsigned p = fr_modulus().word[0];
    fr total;
#pragma unroll
    for (int first = 0; first < T; first += POSEIDON_SUM_PART) {
        unsigned long long sum = 0;
#pragma unroll
        for (int i = first; i < T && i < first + POSEIDON_SUM_PART; i++)
            sum += state[i].word[0];
        fr part = {{(unsigned)sum - (unsigned)(sum >> 31) * p}};
#pragma unroll
        for (int i = 0; i < POSEIDON_SUM_REDUCTIONS; i++)
            part = fr_reduce(part);
        total = first ? fr_add(total, part) : part;
    }
    return total;
}
#else
__device__ __forceinline__ wide_sum sum_state(const fr *state)
{
    wide_sum sum = wide_from(state[0]);
#pragma unroll
    for (int i = 1; i < T; i++)
        sum = wide_add_element(sum, state[i]);
    return sum;
}
#endif

/* Poseidon2's internal layer J + diag(d), and the next round's constant. */
__device__ __forceinline__ void internal_layer(fr *state, fr constant)
{
    wide_sum sum = sum_state(state);
    poseidon_diagonal_layer(state, wide_add_element(sum, constant), sum);
}

__device__ __forceinline__ void external_rounds(fr *state, const fr *constants)
{
#pragma unroll 1
    for (int round = 0; round < POSEIDON_HALF_FULL_ROUNDS; round++) {
#pragma unroll
        for (int i = 0; i < T; i++)
            state[i] = sbox(state[i]);
        external_layer(state, constants + round * T);
    }
}

__device__ __forceinline__ void internal_rounds(fr *state)
{
#pragma unroll 1
    for (int round = 0; round < POSEIDON_PARTIAL_ROUNDS; round++) {
        state[0] = sbox(state[0]);
        internal_layer(state, poseidon_partial_constants[round]);
    }
#pragma unroll
    for (int i = 0; i < T; i++)
        state[i] = fr_add_lazy(state[i], poseidon_last_constants[i]);
}

/* A round's constants are added by the linear layer before it, so that they need no reduction of
 * their own. Both halves of the full rounds are one loop, which halves the code that the
 * instruction cache has to hold. */
__device__ __forceinline__ void permute(fr *state)
{
    const fr *constants = poseidon_first_constants + T;
    external_layer(state, poseidon_first_constants);
#pragma unroll 1
    for (int half = 0; half < 2; half++) {
        external_rounds(state, constants);
        if (half == 0)
            internal_rounds(state);
        constants = poseidon_last_constants + T;
    }
}

#else

__device__ __forceinline__ void add_constants(fr *state, const fr *constants)
{
    ELEMENT_LOOP
    for (int i = 0; i < T; i++)
        state[i] = fr_add_lazy(state[i], constants[i]);
}

__device__ __forceinline__ void sbox_all(fr *state)
{
    ELEMENT_LOOP
    for (int i = 0; i < T; i += POSEIDON_THREADS_PER_STATE)
        exchange_elements(state, i, T, sbox(element_of_thread(state, i, T)));
}

#if POSEIDON_HAS_RECURRENCE
/*
 * The two dot products of a partial round (src/poseidon/partial_rounds.c): next[0] is the value
 * that enters the recurrence state, next[1] the next input of the S-box. Without scaling, the
 * coefficients of each begin with that of x[0], which is 1 for next[0].
 */
__device__ __forceinline__ void recurrence_round(fr *next, const fr *x, int round)
{
#if POSEIDON_IS_SCALED
    const fr *coefficients = poseidon_recurrence + round * 2 * N;
    fr sum = fr_add_lazy(x[0], poseidon_partial_constants[round]);
#if POSEIDON_THREADS_PER_STATE == 1
    next[0] = fr_dot<N>(x[0], x + 1, coefficients);
    next[1] = fr_dot<N>(sum, x + 1, coefficients + N);
#else
    exchange_elements(next, 0, 2,
        fr_dot<N>(
            fr_select(thread_of_state(), sum, x[0]), x + 1, coefficients + thread_of_state() * N));
#endif
#else
#if POSEIDON_THREADS_PER_STATE == 1
    next[0] = fr_dot<N>(x[0], x + 1, poseidon_recurrence + 1);
    next[1] = fr_dot<T>(poseidon_partial_constants[round], x, poseidon_recurrence + T);
#else
    exchange_elements(next, 0, 2,
        fr_dot<T>(fr_select(thread_of_state(), poseidon_partial_constants[round], fr_zero()), x,
            poseidon_recurrence + thread_of_state() * T));
#endif
#endif
}

/* The partial rounds on state element 0 and the recurrence state, which is the last n values of a
 * linear recurrence. */
__device__ __forceinline__ void partial_rounds(fr *state)
{
    fr x[T]; /* the output of the S-box, then the recurrence state */
    fr next[2];
    next[1] = state[0];
#pragma unroll
    for (int i = 1; i < T; i++)
        x[i] = state[i];
#pragma unroll 1
    for (int round = 0; round < POSEIDON_PARTIAL_ROUNDS; round++) {
        x[0] = sbox(next[1]);
        recurrence_round(next, x, round);
#pragma unroll
        for (int i = T - 1; i > 1; i--)
            x[i] = x[i - 1];
        x[1] = next[0];
    }
    state[0] = next[1];
    ELEMENT_LOOP
    for (int i = 0; i < N; i += POSEIDON_THREADS_PER_STATE)
        exchange_elements(state + 1, i, N,
            fr_dot<N>(poseidon_exit_constants[index_of_thread(i, N)], x + 1,
                poseidon_exit_matrix + index_of_thread(i, N) * N));
}

#if POSEIDON_HAS_SMALL_MDS
/* state = mds * state + constants in Goldilocks where the matrix consists of integers below 2^16:
 * the products of an element's 32-bit halves and matrix entries are summed without carries and
 * reduced once. Accepts and produces any 64-bit values. */
__device__ __forceinline__ void small_mds_layer(fr *state, const fr *constants)
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
            low += (unsigned long long)x[j].word[0] * poseidon_small_mds[i * T + j];
            high += (unsigned long long)x[j].word[1] * poseidon_small_mds[i * T + j];
        }
        high += low >> 32;
        wide_sum sum = {{(unsigned)low, (unsigned)high, (unsigned)(high >> 32)}};
        state[i] = wide_reduce(sum);
    }
}
#endif

/* A full round whose constants the linear layer before it has added; adds the constants of the next
 * one. The two full rounds next to the partial rounds use matrices that convert to and from the
 * recurrence state in place of the MDS matrix. */
__device__ __forceinline__ void full_round(
    fr *state, int uses_mds, const fr *other_matrix, const fr *constants)
{
    sbox_all(state);
#if POSEIDON_HAS_SMALL_MDS
    if (uses_mds)
        small_mds_layer(state, constants);
    else
        dense_layer(state, other_matrix, constants);
#else
    dense_layer(state, uses_mds ? poseidon_mds : other_matrix, constants);
#endif
}

__device__ __forceinline__ void permute(fr *state)
{
    const fr *constants = poseidon_first_constants + T;
    add_constants(state, poseidon_first_constants);
#pragma unroll 1
    for (int half = 0; half < 2; half++) {
#pragma unroll 1
        for (int round = 0; round < POSEIDON_HALF_FULL_ROUNDS; round++)
            full_round(state,
                half == 0 ? round + 1 < POSEIDON_HALF_FULL_ROUNDS
                          : POSEIDON_HAS_SMALL_MDS || round > 0,
                half == 0 ? poseidon_entry_mds : poseidon_exit_mds, constants + round * T);
        if (half == 0)
            partial_rounds(state);
        constants = poseidon_last_constants;
    }
}
#else
/* The rounds as they are defined. */
__device__ __forceinline__ void permute(fr *state)
{
    add_constants(state, poseidon_round_constants);
#pragma unroll 1
    for (int round = 0; round < 2 * POSEIDON_HALF_FULL_ROUNDS + POSEIDON_PARTIAL_ROUNDS; round++) {
        if (round < POSEIDON_HALF_FULL_ROUNDS ||
            round >= POSEIDON_HALF_FULL_ROUNDS + POSEIDON_PARTIAL_ROUNDS)
            sbox_all(state);
        else
            state[0] = sbox(state[0]);
        dense_layer(state, poseidon_mds, poseidon_round_constants + (round + 1) * T);
    }
}
#endif
#endif

#endif
#endif
