/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Powers and inverses over the operations that the generated source of a field defines. It has no
 * include guard: it is included once per field, with FF defined as the field's prefix. FF = fr
 * defines fr_pow, fr_inverse and fr_batch_inverse.
 */
#undef FF_JOIN
#undef FF_NAME
#undef FF_
#define FF_JOIN(prefix, name) prefix##_##name
#define FF_NAME(prefix, name) FF_JOIN(prefix, name)
#define FF_(name) FF_NAME(FF, name)

/* base to the power of an integer of `words` 32-bit words, the same for all threads. */
__device__ __noinline__ FF FF_(pow)(FF base, const unsigned *exponent, unsigned words)
{
    FF power = FF_(one)();
#pragma unroll 1
    for (unsigned i = words; i-- > 0;) {
#pragma unroll 1
        for (unsigned bit = 32; bit-- > 0;) {
            power = FF_(sqr)(power);
            if (exponent[i] >> bit & 1)
                power = FF_(mul)(power, base);
        }
    }
    return power;
}

/* 1 / a, and 0 for 0: a^(p - 2). */
__device__ __forceinline__ FF FF_(inverse)(FF a)
{
    return FF_(pow)(a, FF_(minus_two), sizeof(FF_(minus_two)) / sizeof(unsigned));
}

/*
 * Inverts `count` values, values[0], values[stride], ..., by one inversion and 3 (count - 1)
 * products; zeros remain zeros. `scratch` has the same stride. Where the stride is the number of
 * threads and each thread starts at its own index, the threads of a warp access neighbouring
 * elements.
 */
__device__ void FF_(batch_inverse)(FF *values, FF *scratch, size_t count, size_t stride)
{
    FF product = FF_(one)();
#pragma unroll 1
    for (size_t i = 0; i < count; i++) {
        FF value = values[i * stride];
        scratch[i * stride] = product;
        if (!FF_(is_zero)(value))
            product = FF_(mul)(product, value);
    }
    product = FF_(inverse)(product);
#pragma unroll 1
    for (size_t i = count; i-- > 0;) {
        FF value = values[i * stride];
        if (FF_(is_zero)(value))
            continue;
        values[i * stride] = FF_(mul)(product, scratch[i * stride]);
        product = FF_(mul)(product, value);
    }
}
