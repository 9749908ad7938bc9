/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For custom kernels, in addition to the operations of a prime field, ff/generic.cuh and
 * custom/sums.cuh: conversion of small integers. FF is the field's prefix. It has no include guard:
 * like ff/generic.cuh it is included once per field.
 */

/* An integer in the device's form. */
__device__ __forceinline__ FF FF_(from_u64)(unsigned long long value)
{
    FF r = FF_(zero)();
    if (sizeof(FF) == sizeof(unsigned)) {
        r.word[0] = (unsigned)(value % FF_(modulus)().word[0]);
        return FF_(to_mont)(r);
    }
    r.word[0] = (unsigned)value;
    r.word[sizeof(FF) / sizeof(unsigned) - 1 ? 1 : 0] = (unsigned)(value >> 32);
    return FF_(to_mont)(r);
}
