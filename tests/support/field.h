/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of fields and curves: the fields to test, and conversion of elements to and from GMP.
 */
#ifndef TESTS_SUPPORT_FIELD_H
#define TESTS_SUPPORT_FIELD_H

#include <stdio.h> /* before gmp.h, which looks for it */
#include <stdlib.h>
#include <string.h>

#include <gmp.h>

#include <devicepool/field.h>

#include "zk/field/field.h"
#include "support/plain_products.h"

/* Moduli of every size class: tiny ones, none, one and more spare bits, 3 mod 4 and 1 mod 4, high
 * two-adicity. */
static const char *const custom_moduli[] = {
    "3", "5", "7", "13", "65537", "4294967291", "0x1fffffffffffffff", "18446744073709551557",
    "0x7fffffffffffffffffffffffffffffff",                                 /* 127 */
    "0xfffffffffffffffffffffffffffffffeffffffffffffffff",                 /* 192 */
    "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed", /* 255 */
    "0xffffffff00000001000000000000000000000000ffffffffffffffffffffffff", /* 256, no spare bit */
    "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff3b",
    /* 4 and 6 limbs: nearly 64 spare bits, one, low limbs of ones and of zeros */
    "0x1000000000000000000000000000000000000000000000085", /* 193 */
    "0x7ffffffffffffffeffffffffffffffffffffffffffffffffffffffffffffffe3",
    "0x3fffffffffffffffffffffffffffffd7ffffffffffffffffffffffffffffffff",
    "0x10000000000000000000000000000000000000000000000000000000000000000000000000000001b", /* 321 */
    "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "ffffe1", /* 383 */
    "0x7ffffffffffffffefffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "fffffd9",
    "0x10000000000000000000000000000000000000000000000000000000000000b0000000000000000000000000000"
    "00001",
    "0x1e53a1b5953f48f1a09f76b5a170b33839263059f28c105d1fb17c2390c192cfd3ac94af0f21ddb66cad4a26"
    "8d11704d", /* 381 */
    "0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000"
    "ffffffff", /* 384, no spare bit */
    "0x12e71cf6705c9047882e3dac35526dbc0d9d6858028d6826654360dbd9d732079d3bd7a38976503b6411d654"
    "c66175767727e06063a04624be40af48fc20904a2cbccc3171ff429a8e9141944c9c389a7834dfca9d37914b9ad1"
    "cc0000001", /* 753, two-adicity 30 */
    "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "fffffffffcc7", /* 768, no spare bit */
};

enum { CUSTOM_COUNT = sizeof(custom_moduli) / sizeof(custom_moduli[0]) };

static inline size_t tested_field_count(void)
{
    return pool_field_count() + CUSTOM_COUNT;
}

/* Built-in fields first, then the custom ones; free with pool_field_destroy. */
static inline pool_field *tested_field(size_t index)
{
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *field = NULL;

    if (index < pool_field_count())
        return pool_field_retain(pool_field_at(index));
    params.modulus = custom_moduli[index - pool_field_count()];
    if (pool_field_create(&params, &field)) {
        fprintf(stderr, "%s: %s\n", params.modulus, pool_last_error()->message);
        abort();
    }
    if (products_are_plain)
        make_product_plain(field);
    return field;
}

static inline void limbs_to_mpz(mpz_t value, const uint64_t *limbs, size_t count)
{
    mpz_import(value, count, -1, 8, 0, 0, limbs);
}

static inline void mpz_to_limbs(uint64_t *limbs, size_t count, const mpz_t value)
{
    memset(limbs, 0, count * sizeof(*limbs));
    mpz_export(limbs, NULL, -1, 8, 0, 0, value);
}

static inline void modulus_to_mpz(mpz_t p, const pool_field *field)
{
    limbs_to_mpz(p, field->modulus, field->limbs);
}

#endif
