/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels of a Poseidon set are launched with, and elements between memory and registers.
 * set.cuh (generated) has the set's numbers and constants and includes sum.cuh; fr.cuh and
 * fr_dot.cuh have the field's operations.
 */
#ifndef POSEIDON_ITEMS_CUH
#define POSEIDON_ITEMS_CUH

#include "fr.cuh"
#include "fr_dot.cuh"
#include "poseidon/halved.cuh"
#include "set.cuh"

#define ITEM_BLOCK 64
#define ITEM_MISSING_WORDS 64
#define ITEM_TAG_WORDS 24

/* As src/poseidon/launch.h has it. Strides are bytes; what a member means to one kernel only is
 * said there. */
struct items {
    const unsigned char *in;
    unsigned char *out;
    unsigned long long in_stride;
    unsigned long long out_stride;
    unsigned long long count;
    unsigned long long children; /* row: nodes of the row below that there are */
    unsigned in_convert;         /* 1: elements are not in the device's form */
    unsigned out_convert;
    unsigned in_aligned; /* 1: address and stride are multiples of 16 */
    unsigned out_aligned;
    unsigned elements; /* of an item of `in` */
    unsigned arity;    /* row */
    unsigned rate;     /* sponge */
    unsigned squeezed; /* sponge */
    unsigned overwrites;
    unsigned is_padded;
    unsigned tag[ITEM_TAG_WORDS];         /* sponge; device form */
    unsigned missing[ITEM_MISSING_WORDS]; /* row: the digest of a missing node; device form */
};

/* Threads that share a state: 1, or 2 neighbours where a launch does not fill the chip: pair.cu. */
#ifndef POSEIDON_THREADS
#define POSEIDON_THREADS 1
#define POSEIDON_KERNEL(name) poseidon_##name
#endif

__device__ __forceinline__ unsigned long long item_index(void)
{
    return ((unsigned long long)blockIdx.x * ITEM_BLOCK + threadIdx.x) / POSEIDON_THREADS;
}

/* This thread's place among those of its state. */
__device__ __forceinline__ unsigned place(void)
{
    return POSEIDON_THREADS == 1 ? 0 : threadIdx.x & 1;
}

/* Whether there is anything to compute. Threads that share states stay together, those behind the
 * last item with that one. */
__device__ __forceinline__ int item_begin(const items &run, unsigned long long *index)
{
    *index = item_index();
    if (POSEIDON_THREADS == 1)
        return *index < run.count;
    *index = min(*index, run.count - 1);
    return 1;
}

/* Whether this thread stores the result. */
__device__ __forceinline__ int item_is_stored(const items &run)
{
    return POSEIDON_THREADS == 1 || (place() == 0 && item_index() < run.count);
}

__device__ __forceinline__ fr element_load(const unsigned char *from, unsigned aligned)
{
    fr element;
    if (FR_WORDS % 4 == 0 && aligned)
        return *(const fr *)from;
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++)
        element.word[i] = ((const unsigned *)from)[i];
    return element;
}

__device__ __forceinline__ void element_store(unsigned char *to, fr element, unsigned aligned)
{
    if (FR_WORDS % 4 == 0 && aligned) {
        *(fr *)to = element;
        return;
    }
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++)
        ((unsigned *)to)[i] = element.word[i];
}

__device__ __forceinline__ fr element_in(
    const unsigned char *from, unsigned aligned, unsigned convert)
{
    fr element = element_load(from, aligned);
    return convert ? fr_mul(element, poseidon_into()) : element;
}

__device__ __forceinline__ void element_out(
    unsigned char *to, fr element, unsigned aligned, unsigned convert)
{
    element = fr_reduce(element);
    element_store(to, convert ? fr_mul(element, poseidon_out_of()) : element, aligned);
}

/* The lane inside that is the caller's lane `lane`: partial rounds raise lane 0. */
__host__ __device__ constexpr int inner(int lane)
{
    return lane == 0 ? POSEIDON_PARTIAL_LANE : lane == POSEIDON_PARTIAL_LANE ? 0 : lane;
}

/* Chosen lane of a state in registers, by comparison: lanes cannot be indexed there. */
__device__ __forceinline__ fr lane_get(const fr *state, unsigned lane)
{
    fr element = state[inner(0)];
#pragma unroll
    for (int i = 1; i < POSEIDON_WIDTH; i++)
        element = fr_select(lane == i, state[inner(i)], element);
    return element;
}

#endif
