/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of curves: custom curves with other coefficients than the built-in ones, and other
 * coordinates of the same point.
 */
#ifndef TESTS_SUPPORT_CURVE_H
#define TESTS_SUPPORT_CURVE_H

#include <stdio.h>
#include <stdlib.h>

#include <devicepool/curve.h>

#include "zk/curve/curve.h"

struct custom_curve {
    const char *name;
    const char *modulus;
    const char *a, *b, *x, *y, *order;
};

/* a = -3 without a spare bit, a = 1, general a; SEC 2, StarkWare, RFC 5639. */
static const struct custom_curve custom_curves[] = {
    {"p256", "0xffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
        "0xffffffff00000001000000000000000000000000fffffffffffffffffffffffc",
        "0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
        "0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        "0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
        "0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"},
    {"stark", "0x800000000000011000000000000000000000000000000000000000000000001", "1",
        "0x6f21413efbe40de150e596d72f7a8c5609ad26c15c915c1f4cdfcb99cee9e89",
        "0x1ef15c18599971b7beced415a40f0c7deacfd9b0d1819e03d723d8bc943cfca",
        "0x5668060aa49730b7be4801df46ec62de53ecd11abe43a32873000c36e8dc1f",
        "0x800000000000010ffffffffffffffffb781126dcae7b2321e66a241adc64d2f"},
    {"brainpoolP384r1",
        "0x8cb91e82a3386d280f5d6f7e50e641df152f7109ed5456b412b1da197fb71123acd3a729901d1a7187470013"
        "3107ec53",
        "0x7bc382c63d8c150c3c72080ace05afa0c2bea28e4fb22787139165efba91f90f8aa5814a503ad4eb04a8c7dd"
        "22ce2826",
        "0x4a8c7dd22ce28268b39b55416f0447c2fb77de107dcd2a62e880ea53eeb62d57cb4390295dbc9943ab78696f"
        "a504c11",
        "0x1d1c64f068cf45ffa2a63a81b7c13f6b8847a3e77ef14fe3db7fcafe0cbd10e8e826e03436d646aaef87b2e2"
        "47d4af1e",
        "0x8abe1d7520f9c2a45cb1eb8e95cfd55262b70b29feec5864e19c054ff99129280e4646217791811142820341"
        "263c5315",
        "0x8cb91e82a3386d280f5d6f7e50e641df152f7109ed5456b31f166e6cac0425a7cf3ab6af6b7fc3103b883202"
        "e9046565"},
};

enum { CUSTOM_CURVES = sizeof(custom_curves) / sizeof(custom_curves[0]) };

static inline pool_curve *make_custom_curve(const struct custom_curve *custom)
{
    pool_field_params field_params = {.struct_size = sizeof(field_params)};
    pool_curve_params params = {.struct_size = sizeof(params)};
    pool_field *field = NULL;
    pool_curve *curve = NULL;

    field_params.modulus = custom->modulus;
    if (!pool_field_create(&field_params, &field)) {
        params.field = field;
        params.name = custom->name;
        params.a[0] = custom->a;
        params.b[0] = custom->b;
        params.generator_x[0] = custom->x;
        params.generator_y[0] = custom->y;
        params.order = custom->order;
        pool_curve_create(&params, &curve);
        pool_field_destroy(&field);
    }
    if (!curve) {
        fprintf(stderr, "%s: %s\n", custom->name, pool_last_error()->message);
        abort();
    }
    return curve;
}

static inline size_t tested_curve_count(void)
{
    return pool_curve_count() + CUSTOM_CURVES;
}

/* Built-in curves first, then custom ones; free with pool_curve_destroy. */
static inline pool_curve *tested_curve(size_t index)
{
    if (index < pool_curve_count())
        return pool_curve_retain(pool_curve_at(index));
    return make_custom_curve(&custom_curves[index - pool_curve_count()]);
}

/* The same point with all coordinates scaled by a factor that is not 0 or 1 if the field allows. */
static inline void rescale_jacobian(
    const pool_curve *curve, struct curve_jacobian *p, uint64_t seed)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t factor[CURVE_MAX_LIMBS], power[CURVE_MAX_LIMBS];

    do {
        for (uint32_t i = 0; i < f->degree; i++)
            field_random(f->field, seed++, i, factor + i * f->field->limbs);
    } while (field_extension_is_zero(f, factor));
    field_extension_mul(f, p->z, p->z, factor);
    field_extension_sqr(f, power, factor);
    field_extension_mul(f, p->x, p->x, power);
    field_extension_mul(f, power, power, factor);
    field_extension_mul(f, p->y, p->y, power);
}

#endif
