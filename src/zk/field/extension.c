/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinate field of points: a prime field or its quadratic extension Fp2 = F[u] / (u^2 -
 * nonresidue). Does not depend on curves.
 */
#include <string.h>

#include "base/status.h"
#include "zk/field/field.h"

pool_status field_extension_init(
    struct field_extension *extension, const pool_field *field, int32_t nonresidue)
{
    memset(extension, 0, sizeof(*extension));
    extension->field = field;
    extension->degree = nonresidue ? 2 : 1;
    extension->limbs = extension->degree * field->limbs;
    extension->bytes = extension->degree * field->bytes;
    extension->nonresidue = nonresidue;
    field_set_integer(field, extension->nonresidue_element, nonresidue);
    if (nonresidue && field_legendre(field, extension->nonresidue_element) != -1)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%d is no quadratic non-residue in the field %s", (int)nonresidue, field->name);
    return POOL_OK;
}

void field_extension_add(
    const struct field_extension *extension, uint64_t *sum, const uint64_t *x, const uint64_t *y)
{
    for (uint32_t at = 0; at < extension->limbs; at += extension->field->limbs)
        field_add(extension->field, sum + at, x + at, y + at);
}

void field_extension_sub(const struct field_extension *extension, uint64_t *difference,
    const uint64_t *x, const uint64_t *y)
{
    for (uint32_t at = 0; at < extension->limbs; at += extension->field->limbs)
        field_sub(extension->field, difference + at, x + at, y + at);
}

void field_extension_neg(
    const struct field_extension *extension, uint64_t *negative, const uint64_t *x)
{
    for (uint32_t at = 0; at < extension->limbs; at += extension->field->limbs)
        field_neg(extension->field, negative + at, x + at);
}

void field_extension_double(
    const struct field_extension *extension, uint64_t *twice, const uint64_t *x)
{
    field_extension_add(extension, twice, x, x);
}

static void multiply_nonresidue(
    const struct field_extension *extension, uint64_t *product, const uint64_t *x)
{
    if (extension->nonresidue == -1)
        field_neg(extension->field, product, x);
    else
        field_mul(extension->field, product, x, extension->nonresidue_element);
}

/* (x0 + x1 u)(y0 + y1 u) = x0 y0 + nonresidue x1 y1 + ((x0 + x1)(y0 + y1) - x0 y0 - x1 y1) u */
void field_extension_mul(const struct field_extension *extension, uint64_t *product,
    const uint64_t *x, const uint64_t *y)
{
    const pool_field *field = extension->field;
    uint32_t n = field->limbs;
    uint64_t low[FIELD_MAX_LIMBS];
    uint64_t high[FIELD_MAX_LIMBS];
    uint64_t x_sum[FIELD_MAX_LIMBS];
    uint64_t y_sum[FIELD_MAX_LIMBS];

    if (extension->degree == 1) {
        field_mul(field, product, x, y);
        return;
    }
    field_mul(field, low, x, y);
    field_mul(field, high, x + n, y + n);
    field_add(field, x_sum, x, x + n);
    field_add(field, y_sum, y, y + n);
    field_mul(field, x_sum, x_sum, y_sum);
    field_sub(field, x_sum, x_sum, low);
    field_sub(field, product + n, x_sum, high);
    multiply_nonresidue(extension, high, high);
    field_add(field, product, low, high);
}

/* (x0 + x1 u)^2 = (x0 + x1)(x0 - x1) + 2 x0 x1 u where u^2 = -1: two products instead of three. */
void field_extension_sqr(
    const struct field_extension *extension, uint64_t *square, const uint64_t *x)
{
    const pool_field *field = extension->field;
    uint32_t n = field->limbs;
    uint64_t sum[FIELD_MAX_LIMBS];
    uint64_t difference[FIELD_MAX_LIMBS];

    if (extension->nonresidue != -1) {
        field_extension_mul(extension, square, x, x);
        return;
    }
    field_add(field, sum, x, x + n);
    field_sub(field, difference, x, x + n);
    field_mul(field, square + n, x, x + n);
    field_double(field, square + n, square + n);
    field_mul(field, square, sum, difference);
}

/* x0^2 - nonresidue x1^2, in the prime field. */
static void norm(const struct field_extension *extension, uint64_t *result, const uint64_t *x)
{
    const pool_field *field = extension->field;
    uint64_t low[FIELD_MAX_LIMBS];
    uint64_t high[FIELD_MAX_LIMBS];

    field_sqr(field, low, x);
    field_sqr(field, high, x + field->limbs);
    multiply_nonresidue(extension, high, high);
    field_sub(field, result, low, high);
}

void field_extension_inverse(
    const struct field_extension *extension, uint64_t *inverse, const uint64_t *x)
{
    const pool_field *field = extension->field;
    uint64_t factor[FIELD_MAX_LIMBS];

    if (extension->degree == 1) {
        field_inverse(field, inverse, x);
        return;
    }
    norm(extension, factor, x);
    field_inverse(field, factor, factor);
    field_mul(field, inverse, x, factor);
    field_neg(field, factor, factor);
    field_mul(field, inverse + field->limbs, x + field->limbs, factor);
}

void field_extension_batch_inverse(
    const struct field_extension *extension, uint64_t *values, size_t count, uint64_t *scratch)
{
    size_t limbs = extension->limbs;
    uint64_t product[FIELD_EXTENSION_MAX_LIMBS];
    uint64_t inverse[FIELD_EXTENSION_MAX_LIMBS];

    if (extension->degree == 1) {
        field_batch_inverse(extension->field, values, count, scratch);
        return;
    }
    field_extension_set_one(extension, product);
    for (size_t i = 0; i < count; i++) {
        field_extension_copy(extension, scratch + i * limbs, product);
        if (!field_extension_is_zero(extension, values + i * limbs))
            field_extension_mul(extension, product, product, values + i * limbs);
    }
    field_extension_inverse(extension, product, product);
    for (size_t i = count; i-- > 0;) {
        uint64_t *value = values + i * limbs;

        if (field_extension_is_zero(extension, value))
            continue;
        field_extension_mul(extension, inverse, product, scratch + i * limbs);
        field_extension_mul(extension, product, product, value);
        field_extension_copy(extension, value, inverse);
    }
}

/* A root of x0 in the prime field: an element of it, or a multiple of u if x0 is not a square. */
static void sqrt_of_base(const struct field_extension *extension, uint64_t *root, const uint64_t *x)
{
    const pool_field *field = extension->field;
    uint64_t quotient[FIELD_MAX_LIMBS];
    uint64_t part[FIELD_MAX_LIMBS];

    if (field_sqrt(field, part, x)) {
        field_copy(field, root, part);
        field_set_zero(field, root + field->limbs);
        return;
    }
    field_inverse(field, quotient, extension->nonresidue_element);
    field_mul(field, quotient, quotient, x);
    field_sqrt(field, part, quotient);
    field_set_zero(field, root);
    field_copy(field, root + field->limbs, part);
}

/*
 * For (r0 + r1 u)^2 = x: r0^2 is (x0 + d) / 2 or (x0 - d) / 2 with d a root of the norm, and r1 =
 * x1 / (2 r0).
 */
bool field_extension_sqrt(
    const struct field_extension *extension, uint64_t *root, const uint64_t *x)
{
    const pool_field *field = extension->field;
    uint32_t n = field->limbs;
    uint64_t d[FIELD_MAX_LIMBS];
    uint64_t half[FIELD_MAX_LIMBS];
    uint64_t r0[FIELD_MAX_LIMBS];
    uint64_t r1[FIELD_MAX_LIMBS];

    if (extension->degree == 1)
        return field_sqrt(field, root, x);
    if (field_is_zero(field, x + n)) {
        sqrt_of_base(extension, root, x);
        return true;
    }
    norm(extension, d, x);
    if (!field_sqrt(field, d, d))
        return false;
    field_add(field, half, x, d);
    field_halve(field, half, half);
    if (!field_sqrt(field, r0, half)) {
        field_sub(field, half, half, d);
        if (!field_sqrt(field, r0, half))
            return false;
    }
    field_double(field, r1, r0);
    field_inverse(field, r1, r1);
    field_mul(field, r1, r1, x + n);
    field_copy(field, root, r0);
    field_copy(field, root + n, r1);
    return true;
}

void field_extension_copy(
    const struct field_extension *extension, uint64_t *to, const uint64_t *from)
{
    memmove(to, from, extension->limbs * sizeof(*to));
}

void field_extension_set_zero(const struct field_extension *extension, uint64_t *x)
{
    memset(x, 0, extension->limbs * sizeof(*x));
}

void field_extension_set_one(const struct field_extension *extension, uint64_t *x)
{
    field_extension_set_zero(extension, x);
    field_set_one(extension->field, x);
}

bool field_extension_is_zero(const struct field_extension *extension, const uint64_t *x)
{
    uint64_t any = 0;

    for (uint32_t i = 0; i < extension->limbs; i++)
        any |= x[i];
    return any == 0;
}

bool field_extension_equal(
    const struct field_extension *extension, const uint64_t *x, const uint64_t *y)
{
    return !memcmp(x, y, extension->limbs * sizeof(*x));
}

bool field_extension_is_larger_half(const struct field_extension *extension, const uint64_t *x)
{
    const pool_field *field = extension->field;

    if (extension->degree == 2 && !field_is_zero(field, x + field->limbs))
        return field_is_larger_half(field, x + field->limbs);
    return field_is_larger_half(field, x);
}

bool field_extension_load(
    const struct field_extension *extension, uint64_t *x, const void *packed, pool_form form)
{
    const pool_field *field = extension->field;

    for (uint32_t i = 0; i < extension->degree; i++) {
        uint64_t *part = x + i * field->limbs;

        field_load(field, part, (const uint8_t *)packed + i * field->bytes);
        if (!field_is_canonical(field, part))
            return false;
        if (form == POOL_FORM_STANDARD)
            field_to_montgomery(field, part, part);
    }
    return true;
}

void field_extension_store(
    const struct field_extension *extension, void *packed, pool_form form, const uint64_t *x)
{
    const pool_field *field = extension->field;
    uint64_t part[FIELD_MAX_LIMBS];

    for (uint32_t i = 0; i < extension->degree; i++) {
        if (form == POOL_FORM_STANDARD)
            field_from_montgomery(field, part, x + i * field->limbs);
        else
            field_copy(field, part, x + i * field->limbs);
        field_store(field, (uint8_t *)packed + i * field->bytes, part);
    }
}
