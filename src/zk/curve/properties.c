/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public properties of a curve.
 */
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "zk/curve/curve.h"
#include "zk/field/integer.h"

const char *pool_curve_name(const pool_curve *curve)
{
    return curve ? curve->name : "";
}

const pool_field *pool_curve_base_field(const pool_curve *curve)
{
    return curve ? curve->coordinates.field : NULL;
}

const pool_field *pool_curve_scalar_field(const pool_curve *curve)
{
    return curve ? curve->scalar_field : NULL;
}

uint32_t pool_curve_degree(const pool_curve *curve)
{
    return curve ? curve->coordinates.degree : 0;
}

size_t pool_curve_coordinate_bytes(const pool_curve *curve)
{
    return curve ? curve->coordinates.bytes : 0;
}

pool_status pool_curve_fingerprint(
    const pool_curve *curve, uint8_t fingerprint[POOL_FINGERPRINT_BYTES])
{
    pool_status status = base_check_pointers(
        "pool_curve_fingerprint", {"curve", curve}, {"fingerprint", fingerprint});
    if (status)
        return status;
    memcpy(fingerprint, curve->fingerprint, POOL_FINGERPRINT_BYTES);
    return POOL_OK;
}

pool_status pool_curve_cofactor(const pool_curve *curve, size_t bytes, uint8_t *cofactor)
{
    uint32_t bits;

    pool_status status =
        base_check_pointers("pool_curve_cofactor", {"curve", curve}, {"cofactor", cofactor});
    if (status)
        return status;
    if (!curve->cofactor_known)
        return base_fail(POOL_ERR_NOT_FOUND, "the cofactor of %s is unknown", curve->name);
    bits = field_integer_bits(curve->cofactor, CURVE_MAX_LIMBS);
    if (bits > 8 * bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the cofactor of %s has %u bits and does not fit into %zu byte%s", curve->name, bits,
            bytes, base_plural(bytes));
    field_integer_to_bytes(cofactor, bytes, false, curve->cofactor, CURVE_MAX_LIMBS);
    return POOL_OK;
}
