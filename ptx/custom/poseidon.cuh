/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Poseidon parameter set for custom kernels: the permutation of poseidon/permutation.cuh, which is
 * in the namespace CUSTOM_SPACE, and fixed-length hashes, with the prefix CUSTOM. It has no include
 * guard: it is included once per parameter set.
 */
#define CUSTOM_JOIN(prefix, name) prefix##_##name
#define CUSTOM_NAME(prefix, name) CUSTOM_JOIN(prefix, name)
#define CUSTOM_(name) CUSTOM_NAME(CUSTOM, name)

typedef CUSTOM_SPACE::fr CUSTOM_(element);

enum {
    CUSTOM_(width) = POSEIDON_WIDTH,
    CUSTOM_(max_inputs) = POSEIDON_MAX_INPUTS,
    CUSTOM_(digest_elements) = POSEIDON_DIGEST_ELEMENTS,
};

/* Permutes `width` state elements in the order of the definition. Lazy values in, reduced ones out.
 */
__device__ __forceinline__ void CUSTOM_(permute)(CUSTOM_(element) *state)
{
    CUSTOM_(element) mine[POSEIDON_WIDTH];
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        mine[CUSTOM_SPACE::state_index(i)] = state[i];
    CUSTOM_SPACE::permute(mine);
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        state[i] = CUSTOM_SPACE::fr_reduce(mine[CUSTOM_SPACE::state_index(i)]);
}

/* The fixed-length hash of `count` inputs, as pool_poseidon_hash computes it: digest_elements
 * reduced elements. Inputs are lazy values; `digest` and `inputs` may be the same array. */
template <int count>
__device__ __forceinline__ void CUSTOM_(hash)(
    CUSTOM_(element) *digest, const CUSTOM_(element) *inputs)
{
    static_assert(count > 0 && count <= POSEIDON_MAX_INPUTS, "the set has fewer inputs");
    CUSTOM_(element) state[POSEIDON_WIDTH];
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        state[i] = CUSTOM_SPACE::fr_zero();
    state[POSEIDON_DOMAIN_TAG_INDEX] = CUSTOM_SPACE::poseidon_domain_tag();
#pragma unroll
    for (int i = 0; i < count; i++)
        state[POSEIDON_INPUT_INDEX + i] = inputs[i];
#if POSEIDON_FEED_FORWARD
    CUSTOM_(element) before[POSEIDON_DIGEST_ELEMENTS];
#pragma unroll
    for (int i = 0; i < POSEIDON_DIGEST_ELEMENTS; i++)
        before[i] = CUSTOM_SPACE::fr_reduce(state[POSEIDON_OUTPUT_INDEX + i]);
#endif
    CUSTOM_(permute)(state);
#pragma unroll
    for (int i = 0; i < POSEIDON_DIGEST_ELEMENTS; i++) {
        CUSTOM_(element) element = state[POSEIDON_OUTPUT_INDEX + i];
#if POSEIDON_FEED_FORWARD
        element = CUSTOM_SPACE::fr_add(element, before[i]);
#endif
        digest[i] = element;
    }
}
