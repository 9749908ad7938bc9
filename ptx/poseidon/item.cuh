/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which item a thread computes, and the transfer of elements between memory and registers. fr.cuh
 * and fr_dot.cuh (generated) define the field's operations; parameters.cuh (generated) defines the
 * parameter set's numbers, constants and internal layer, and includes div_pow2.cuh and
 * wide_sum.cuh.
 */
#ifndef PTX_POSEIDON_ITEM_CUH
#define PTX_POSEIDON_ITEM_CUH

#include "fr.cuh"
#include "fr_dot.cuh"
#include "parameters.cuh"
#include "poseidon/args.h"

/* Before loops over the elements of a state. Where the state of a wide set is in local memory they
 * are not unrolled. */
#if POSEIDON_IS_UNROLLED
#define ELEMENT_LOOP _Pragma("unroll")
#else
#define ELEMENT_LOOP _Pragma("unroll 1")
#endif

/* Before loops over the elements of an item that have a product each: the conversions of t = 17
 * would be two thirds of the code, which is compiled in 2.2 instead of 1.2 s and is 5 % slower. For
 * t = 5 the compiler moves more registers in the rounds when these loops are not unrolled (2 %). */
#if POSEIDON_IS_UNROLLED || POSEIDON_WIDTH <= 8
#define CONVERSION_LOOP _Pragma("unroll")
#else
#define CONVERSION_LOOP _Pragma("unroll 1")
#endif

/* 1, or 2 neighbouring threads of a warp where a launch does not fill the chip:
 * *_2thread.cu. */
#ifndef POSEIDON_THREADS_PER_STATE
#define POSEIDON_THREADS_PER_STATE 1
#define POSEIDON_KERNEL(name) poseidon_##name
#endif

__device__ __forceinline__ unsigned long long item_of_thread(unsigned first_block)
{
    return ((unsigned long long)(first_block + blockIdx.x) * POSEIDON_BLOCK + threadIdx.x) /
           POSEIDON_THREADS_PER_STATE;
}

/* This thread's index among the threads that share its state. */
__device__ __forceinline__ unsigned thread_of_state(void)
{
    return POSEIDON_THREADS_PER_STATE == 1 ? 0 : threadIdx.x & 1;
}

/* Whether this thread takes part in computing an item. With two threads per state every thread of a
 * warp does, because they exchange elements by shuffles; those beyond the last item recompute it.
 */
__device__ __forceinline__ int thread_has_item(const poseidon_args &args, unsigned long long *index)
{
    *index = item_of_thread(args.first_block);
    if (POSEIDON_THREADS_PER_STATE == 1)
        return *index < args.count;
    *index = min(*index, args.count - 1);
    return 1;
}

/* Whether this thread stores the result. */
__device__ __forceinline__ int thread_stores_item(const poseidon_args &args)
{
    return POSEIDON_THREADS_PER_STATE == 1 ||
           (thread_of_state() == 0 && item_of_thread(args.first_block) < args.count);
}

__device__ __forceinline__ fr load_words(const unsigned char *from, unsigned is_aligned)
{
    fr element;
    if (FR_WORDS % 4 == 0 && is_aligned)
        return *(const fr *)from;
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++)
        element.word[i] = ((const unsigned *)from)[i];
    return element;
}

__device__ __forceinline__ void store_words(unsigned char *to, fr element, unsigned is_aligned)
{
    if (FR_WORDS % 4 == 0 && is_aligned) {
        *(fr *)to = element;
        return;
    }
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++)
        ((unsigned *)to)[i] = element.word[i];
}

/* Loads an element, converted to the device's form where the caller uses the other one. */
__device__ __forceinline__ fr load_element(
    const unsigned char *from, unsigned is_aligned, unsigned is_converted)
{
    fr element = load_words(from, is_aligned);
    return is_converted ? fr_mul(element, poseidon_to_device_form()) : element;
}

__device__ __forceinline__ void store_element(
    unsigned char *to, fr element, unsigned is_aligned, unsigned is_converted)
{
    element = fr_reduce(element);
    store_words(
        to, is_converted ? fr_mul(element, poseidon_from_device_form()) : element, is_aligned);
}

/*
 * Loads neighbouring elements. Those of one word are read four at a time where their address
 * allows: the threads of a warp access different items, so that every load costs as many
 * transactions as there are threads.
 */
#define HAS_VECTORS(count) (FR_WORDS == 1 && (count) % 4 == 0)

template <int COUNT>
__device__ __forceinline__ void load_elements(
    fr *elements, const unsigned char *from, unsigned is_aligned, unsigned is_converted)
{
    if (HAS_VECTORS(COUNT) && is_aligned) {
#pragma unroll
        for (int i = 0; i < COUNT; i += 4) {
            const uint4 words = *(const uint4 *)(from + i * sizeof(fr));
            elements[i].word[0] = words.x;
            elements[i + 1].word[0] = words.y;
            elements[i + 2].word[0] = words.z;
            elements[i + 3].word[0] = words.w;
        }
        if (is_converted)
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                elements[i] = fr_mul(elements[i], poseidon_to_device_form());
        return;
    }
    /* All loads are issued before the first product. */
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        elements[i] = load_words(from + i * sizeof(fr), is_aligned);
    if (!is_converted)
        return;
    CONVERSION_LOOP
    for (int i = 0; i < COUNT; i++)
        elements[i] = fr_mul(elements[i], poseidon_to_device_form());
}

template <int COUNT>
__device__ __forceinline__ void store_elements(
    unsigned char *to, const fr *elements, unsigned is_aligned, unsigned is_converted)
{
    if (HAS_VECTORS(COUNT) && is_aligned) {
        fr stored[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            stored[i] = fr_reduce(elements[i]);
            if (is_converted)
                stored[i] = fr_mul(stored[i], poseidon_from_device_form());
        }
#pragma unroll
        for (int i = 0; i < COUNT; i += 4)
            *(uint4 *)(to + i * sizeof(fr)) = make_uint4(stored[i].word[0], stored[i + 1].word[0],
                stored[i + 2].word[0], stored[i + 3].word[0]);
        return;
    }
    CONVERSION_LOOP
    for (int i = 0; i < COUNT; i++)
        store_element(to + i * sizeof(fr), elements[i], is_aligned, is_converted);
}

/* The index within the kernels' state of the definition's state element `index`: the kernels
 * exchange element 0 and the one that has the S-box in partial rounds. */
__host__ __device__ constexpr int state_index(int index)
{
    return index == 0 ? POSEIDON_PARTIAL_INDEX : index == POSEIDON_PARTIAL_INDEX ? 0 : index;
}

/* From the definition's order of state elements to the kernels', and back. */
__device__ __forceinline__ void exchange_partial_element(fr *state)
{
    fr first = state[0];
    state[0] = state[POSEIDON_PARTIAL_INDEX];
    state[POSEIDON_PARTIAL_INDEX] = first;
}

/* The definition's state element `index`, which need not be known at compile time. Registers cannot
 * be indexed, so it is selected by comparisons. */
__device__ __forceinline__ fr select_element(const fr *state, unsigned index)
{
    fr element = state[state_index(0)];
#pragma unroll
    for (int i = 1; i < POSEIDON_WIDTH; i++)
        element = fr_select(index == i, state[state_index(i)], element);
    return element;
}

#endif
