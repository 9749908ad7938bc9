/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain C arithmetic modulo a prime of four 64-bit limbs, in Montgomery form: what the examples of
 * custom kernels compare their results with. Not constant-time, and not fast.
 */
#ifndef EXAMPLES_PLAIN_FIELD_H
#define EXAMPLES_PLAIN_FIELD_H

#include <devicepool.h>

#include <string.h>

#define LIMBS 4

/* An element x stored as x * 2^256 mod p, as POOL_FORM_MONTGOMERY has it. */
typedef struct element {
    uint64_t limb[LIMBS];
} element;

static uint64_t plain_modulus[LIMBS], plain_factor; /* -1 / p modulo 2^64 */

static inline void plain_set_field(const pool_field *field)
{
    uint64_t inverse = 1;

    pool_field_modulus(field, plain_modulus);
    for (int i = 0; i < 6; i++)
        inverse *= 2 - plain_modulus[0] * inverse;
    plain_factor = -inverse;
}

/* x - p if x, with its carry, is at least p. */
static inline element plain_reduce(const uint64_t *x, uint64_t carry)
{
    uint64_t borrow = 0;
    element less, same;

    for (int i = 0; i < LIMBS; i++) {
        unsigned __int128 difference = (unsigned __int128)x[i] - plain_modulus[i] - borrow;

        less.limb[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
        same.limb[i] = x[i];
    }
    return carry >= borrow ? less : same;
}

static inline element plain_add(element a, element b)
{
    uint64_t sum[LIMBS], carry = 0;

    for (int i = 0; i < LIMBS; i++) {
        unsigned __int128 limb = (unsigned __int128)a.limb[i] + b.limb[i] + carry;

        sum[i] = (uint64_t)limb;
        carry = (uint64_t)(limb >> 64);
    }
    return plain_reduce(sum, carry);
}

static inline element plain_sub(element a, element b)
{
    uint64_t negative[LIMBS], borrow = 0;
    element zero = {{0}}, minus;

    if (memcmp(&b, &zero, sizeof(b)) == 0)
        return a;
    for (int i = 0; i < LIMBS; i++) {
        unsigned __int128 limb = (unsigned __int128)plain_modulus[i] - b.limb[i] - borrow;

        negative[i] = (uint64_t)limb;
        borrow = (uint64_t)(limb >> 64) & 1;
    }
    memcpy(minus.limb, negative, sizeof(negative));
    return plain_add(a, minus);
}

/* The Montgomery product a b / 2^256. */
static inline element plain_mul(element a, element b)
{
    uint64_t sum[LIMBS + 2] = {0};

    for (int i = 0; i < LIMBS; i++) {
        unsigned __int128 carry = 0;
        uint64_t factor;

        for (int k = 0; k < LIMBS; k++) {
            carry += (unsigned __int128)a.limb[k] * b.limb[i] + sum[k];
            sum[k] = (uint64_t)carry;
            carry >>= 64;
        }
        carry += sum[LIMBS];
        sum[LIMBS] = (uint64_t)carry;
        sum[LIMBS + 1] = (uint64_t)(carry >> 64);
        factor = sum[0] * plain_factor;
        carry = (unsigned __int128)factor * plain_modulus[0] + sum[0];
        carry >>= 64;
        for (int k = 1; k < LIMBS; k++) {
            carry += (unsigned __int128)factor * plain_modulus[k] + sum[k];
            sum[k - 1] = (uint64_t)carry;
            carry >>= 64;
        }
        carry += sum[LIMBS];
        sum[LIMBS - 1] = (uint64_t)carry;
        sum[LIMBS] = sum[LIMBS + 1] + (uint64_t)(carry >> 64);
    }
    return plain_reduce(sum, sum[LIMBS]);
}

#endif
