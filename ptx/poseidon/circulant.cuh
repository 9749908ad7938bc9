/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poseidon over Goldilocks where the MDS matrix is a circulant of small integers
 * (src/poseidon/circulant.c). The elements are split into limbs of 22, 21 and 21 bits, so that sums
 * of matrix entries times limbs fit into a word and need no carries; a row is reduced once. The
 * linear layer then costs about as much as the two dot products of a partial round in the form with
 * fewest products (permutation.cuh), so the rounds are computed as they are defined.
 */
#ifndef PTX_POSEIDON_CIRCULANT_CUH
#define PTX_POSEIDON_CIRCULANT_CUH

#define LIMBS 3

__device__ __forceinline__ void split_limbs(unsigned *limbs, fr x)
{
    limbs[0] = x.word[0] & 0x3fffffu;
    limbs[1] = __funnelshift_r(x.word[0], x.word[1], 22) & 0x1fffffu;
    limbs[2] = x.word[1] >> 11;
}

/* limbs[0] + limbs[1] 2^22 + limbs[2] 2^43 reduced to any 64-bit value. The part above 64 bits is
 * small: t 2^64 = t 2^32 - t; a carry is 2^32 - 1 and cannot carry again. */
__device__ __forceinline__ fr join_limbs(const unsigned *limbs)
{
    unsigned long long low = (unsigned long long)limbs[1] * (1u << 22) + limbs[0];
    unsigned long long high = (unsigned long long)limbs[2] * (1u << 11) + (low >> 32);
    fr r;
    asm("{\n\t"
        ".reg .u32 s, t, m;\n\t"
        "sub.cc.u32 %0, %2, %4;\n\t"
        "subc.u32 t, %4, 0;\n\t"
        "add.cc.u32 s, %3, t;\n\t"
        "addc.u32 m, 0, 0;\n\t"
        "sub.cc.u32 %0, %0, m;\n\t"
        "subc.u32 s, s, 0;\n\t"
        "add.u32 %1, s, m;\n\t"
        "}"
        : "=&r"(r.word[0]), "=r"(r.word[1])
        : "r"((unsigned)low), "r"((unsigned)high), "r"((unsigned)(high >> 32)));
    return r;
}

/* state = mds * state + constants. Accepts and produces any 64-bit values. */
__device__ __forceinline__ void circulant_layer(fr *state, const fr *constants)
{
    unsigned x[LIMBS][T], y[LIMBS][T], limbs[LIMBS];
#pragma unroll
    for (int i = 0; i < T; i++) {
        split_limbs(limbs, state[i]);
#pragma unroll
        for (int k = 0; k < LIMBS; k++)
            x[k][i] = limbs[k];
    }
#pragma unroll
    for (int k = 0; k < LIMBS; k++)
        poseidon_circulant(y[k], x[k]);
#pragma unroll
    for (int i = 0; i < T; i++) {
        split_limbs(limbs, constants[i]);
#pragma unroll
        for (int k = 0; k < LIMBS; k++)
            limbs[k] += y[k][i];
        state[i] = join_limbs(limbs);
    }
}

__device__ __forceinline__ void permute(fr *state)
{
    const fr *constants = poseidon_round_constants + T;
#pragma unroll
    for (int i = 0; i < T; i++)
        state[i] = fr_add_lazy(state[i], poseidon_round_constants[i]);
#pragma unroll 1
    for (int half = 0; half < 2; half++) {
#pragma unroll 1
        for (int round = 0; round < POSEIDON_HALF_FULL_ROUNDS; round++, constants += T) {
#pragma unroll
            for (int i = 0; i < T; i++)
                state[i] = sbox(state[i]);
            circulant_layer(state, constants);
        }
        if (half == 1)
            break;
#pragma unroll 1
        for (int round = 0; round < POSEIDON_PARTIAL_ROUNDS; round++, constants += T) {
            state[0] = sbox(state[0]);
            circulant_layer(state, constants);
        }
    }
}

#endif
