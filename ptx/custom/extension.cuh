/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For custom kernels, in addition to the operations of an extension, ff/generic.cuh and
 * custom/sums.cuh: conversion of small integers. FF is the extension's prefix, whose base field's
 * operations have the prefix FF_c. It has no include guard: like ff/generic.cuh it is included once
 * per field.
 */

/* An integer in the device's form. */
__device__ __forceinline__ FF FF_(from_u64)(unsigned long long value)
{
    return FF_(from_c)(FF_(c_from_u64)(value));
}
