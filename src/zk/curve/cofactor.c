/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks cofactors by Hasse's bound; see cofactor.h.
 */
#include "zk/curve/cofactor.h"

#include <string.h>

#include "zk/field/integer.h"

enum {
    Q_LIMBS = CURVE_MAX_LIMBS,               /* q = p or p^2 */
    COUNT_LIMBS = Q_LIMBS + FIELD_MAX_LIMBS, /* cofactor times order */
    TRACE_LIMBS = FIELD_MAX_LIMBS + 1,       /* 2 sqrt(q) */
    SQUARE_LIMBS = 2 * TRACE_LIMBS,
};

static void field_size(const pool_curve *curve, uint64_t *q)
{
    const struct field_extension *f = &curve->coordinates;

    memset(q, 0, COUNT_LIMBS * sizeof(*q));
    memcpy(q, f->field->modulus, sizeof(f->field->modulus));
    if (f->degree == 2)
        field_integer_mul(
            q, f->field->modulus, FIELD_MAX_LIMBS, f->field->modulus, FIELD_MAX_LIMBS);
}

bool curve_cofactor_is_possible(const pool_curve *curve, const uint64_t *cofactor)
{
    uint64_t q[COUNT_LIMBS];
    uint64_t points[COUNT_LIMBS];
    uint64_t trace[COUNT_LIMBS];
    uint64_t square[SQUARE_LIMBS];
    uint64_t bound[SQUARE_LIMBS] = {0};

    field_size(curve, q);
    memcpy(bound, q, Q_LIMBS * sizeof(*q));
    field_integer_mul_small(bound, 4, 0, SQUARE_LIMBS);
    field_integer_add_small(q, 1, COUNT_LIMBS);
    field_integer_mul(
        points, cofactor, CURVE_MAX_LIMBS, curve->scalar_field->modulus, FIELD_MAX_LIMBS);
    if (field_integer_compare(points, q, COUNT_LIMBS) > 0)
        field_integer_sub(trace, points, q, COUNT_LIMBS);
    else
        field_integer_sub(trace, q, points, COUNT_LIMBS);
    if (field_integer_bits(trace, COUNT_LIMBS) > 64 * TRACE_LIMBS)
        return false;
    field_integer_mul(square, trace, TRACE_LIMBS, trace, TRACE_LIMBS);
    return field_integer_compare(square, bound, SQUARE_LIMBS) <= 0;
}

/* quotient = x / order by binary long division. */
static void divide_by_order(const pool_curve *curve, uint64_t *quotient, const uint64_t *x)
{
    uint64_t remainder[TRACE_LIMBS] = {0};
    uint64_t order[TRACE_LIMBS] = {0};

    memcpy(order, curve->scalar_field->modulus, sizeof(curve->scalar_field->modulus));
    memset(quotient, 0, CURVE_MAX_LIMBS * sizeof(*quotient));
    for (uint32_t bit = field_integer_bits(x, COUNT_LIMBS); bit-- > 0;) {
        field_integer_mul_small(remainder, 2, field_integer_bit(x, bit), TRACE_LIMBS);
        if (field_integer_compare(remainder, order, TRACE_LIMBS) < 0)
            continue;
        field_integer_sub(remainder, remainder, order, TRACE_LIMBS);
        quotient[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
}

/*
 * Possible cofactors are consecutive integers around (q + 1) / order. If there is one, it is the
 * quotient or its successor; if there are several, two of the four integers around it are possible.
 */
bool curve_find_cofactor(const pool_curve *curve, uint64_t *cofactor, const char **wrong)
{
    uint64_t q[COUNT_LIMBS];
    uint64_t candidate[CURVE_MAX_LIMBS];
    int found = 0;

    field_size(curve, q);
    field_integer_add_small(q, 1, COUNT_LIMBS);
    divide_by_order(curve, candidate, q);
    field_integer_sub_small(candidate, 1, CURVE_MAX_LIMBS);
    for (int i = 0; i < 4; i++) {
        if (!field_integer_is_zero(candidate, CURVE_MAX_LIMBS) &&
            curve_cofactor_is_possible(curve, candidate)) {
            memcpy(cofactor, candidate, sizeof(candidate));
            found++;
        }
        field_integer_add_small(candidate, 1, CURVE_MAX_LIMBS);
    }
    if (!found)
        *wrong = "divides no possible number of points";
    if (found != 1)
        memset(cofactor, 0, sizeof(candidate));
    return found == 1;
}
